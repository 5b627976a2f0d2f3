"""Runs on p where claims about them are at risk: on the rim of a basin, with nothing to spare."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.losses import LOSSES
from attsvm.risk import risk_gap
from attsvm.strategies import arrays, sizes
from properties._support.adversarial_starts import starts_about, trapping_data
from properties._support.descent_runs import pulling_data
from properties.mm._support.prompt_descent import DECREASING, Prompting, prompt

FARTHEST, HALVINGS = 64.0, 40


def on_the_rim(case: Prompting, loss: str, share: float) -> Prompting:
    """The run from the multiple of p(alpha) at which the risk gap has that share of its bound.

    The bound is min_i [l(second) - l(best)]/n of the loss that is named. From zero where the gap is
    below that there; as it is where no multiple up to 64 will do, or there is no p(alpha).
    """
    p, used = prompt(case), LOSSES[loss]
    ordered = [sorted(set(row)) for row in case.scores.tolist()]
    tops = np.array([row[-2:] for row in ordered if len(row) > 1]).reshape(-1, 2)
    if p is None or not len(tops):
        return case
    direction = np.array([float(arb(x)) for x in p])
    drop = used.drop(tops[:, 1], tops[:, 1] - tops[:, 0])
    least = share * float(drop.min()) / len(case.keys)

    def at(multiple: float) -> Prompting:
        return replace(case, start=multiple * direction)

    low, high = 0.0, FARTHEST
    if not risk_gap(case.data, at(high).run.start, used) < least:
        return case
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        inside = risk_gap(case.data, at(middle).run.start, used) < least
        low, high = (low, middle) if inside else (middle, high)
    return at(high if low > 0.0 else 0.0)


@st.composite
def apart(draw: st.DrawFn) -> Prompting:
    """Two inputs that pull against each other, their scores levels apart, about the rim for -x.

    Losses weigh inputs by |l'| at their scores and differ in nothing else (see
    `properties.mm.loss_choice`, `amended-2`), so that inputs of other levels tell them apart, most
    of all where an input is nearly lost.
    """
    data, loss = draw(pulling_data()), draw(st.sampled_from(DECREASING[1:]))
    level = draw(st.sampled_from([4.0, 8.0, -4.0, 0.0]))
    scores = data.gamma + np.array([[0.0], [level]])
    case = Prompting(data.X, scores, np.zeros(data.d), loss)
    return on_the_rim(case, "correlation", draw(st.sampled_from([0.9375, 0.5, 0.125])))


@st.composite
def alone(draw: st.DrawFn) -> Prompting:
    """One input of two to four keys, whose rivals score the same."""
    T, d = draw(sizes(2, 4)), draw(sizes(1, 3))
    best, keys = draw(sizes(0, T - 1)), draw(arrays(1, T, d))
    scores = np.full((1, T), float(draw(arrays(1))[0]))
    scores[0, best] += 1.0 + abs(float(draw(arrays(1))[0]))
    case = Prompting(keys, scores, np.zeros(d), draw(st.sampled_from(DECREASING)))
    return replace(case, start=draw(starts_about(case.data, 0, 2, columns=1))[:, 0])


@st.composite
def trapping(draw: st.DrawFn) -> Prompting:
    """One or two inputs of three keys on lines of their own, misled to the second-best key.

    The worst key lies in the middle: along the way to the second-best one the risk gap of an input
    alone tends to the very bound of its basin, from above or below.
    """
    data = draw(trapping_data())
    case = Prompting(data.X, data.gamma, np.zeros(data.d), draw(st.sampled_from(DECREASING)))
    return replace(case, start=draw(starts_about(case.data, 0, 2, columns=1))[:, 0])

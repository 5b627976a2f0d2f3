"""The distance of W_k from the ray of W^mm after some steps, with constants, and instances."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import smoothness
from attsvm.exact.losses import loss_drop
from attsvm.primitives.att_svm import exact_att_svm, exact_constraints
from attsvm.primitives.descent_runs import tight_data
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS, SLOPED_LOSS
from attsvm.primitives.losses import CONVEX, LOSSES
from attsvm.primitives.steps import SHORT_STEPS
from attsvm.strategies import arrays, composite
from attsvm.strategies.adversarial_starts import towards
from attsvm.strategies.data import ragged
from attsvm.theory import Hypothesis, stated
from attsvm.theory.types import Namespace, Number, Numbers, Relation
from properties.tf._support.descent_steps import Step, advanced, attention


@dataclass(frozen=True, slots=True)
class Run(Step):
    """A data set, a loss, a start and the size of a step, with the number of steps."""

    steps: int

    def __post_init__(self) -> None:
        if not (0 < self.size < np.inf and 0 <= self.steps <= 4):
            raise DataError(
                "a step is not positive, or steps are not 0 to 4", value=(self.size, self.steps)
            )


def _leads(exact: ExactData) -> list[tuple[fmpq, fmpq]]:
    """Return the best score of each input with two scores, and its lead over the next lower one."""
    ordered = [sorted(set(gamma), reverse=True) for gamma in exact.gamma]
    return [(row[0], row[0] - row[1]) for row in ordered if len(row) > 1]


def _half_way(case: Run) -> bool:
    exact = ExactData.of(case.data)
    n = len(exact.gamma)
    drops = [loss_drop(case.loss, best, lead / 2) / n for best, lead in _leads(exact)]
    gap = risk_gap(exact, rationals(case.start), case.loss)
    return bool(drops) and all(bool(gap < drop) for drop in drops)


def _falls_convexly(case: Run) -> bool:
    return case.loss in CONVEX


def _short(case: Run) -> bool:
    return bool(arb(case.size) * smoothness(ExactData.of(case.data), case.loss) <= 1)


HALF_WAY = Hypothesis(
    "the start is in the basin of half-way scores",
    _half_way,
    says="some input has two different scores, and the risk of the start, the mean of the loss l "
    "over attended scores, is above the mean of l(b_i) by less than min_i [l((b_i + c_i)/2) - "
    "l(b_i)]/n over such inputs, with b_i the highest and c_i the next lower score of input i",
)
CONVEX_FALLING = Hypothesis(
    "l is convex, and l' < 0 everywhere and continuous",
    _falls_convexly,
    says="the loss l is convex, with a derivative l' that is continuous and below 0 everywhere",
    implies=(CONVEX_LOSS, SLOPED_LOSS),
)
SHORT_STEP = Hypothesis("eta is at most 1/L", _short, says=f"the step eta is {SHORT_STEPS}")


@stated(
    "$formula",
    r"D_k \le D_0 + 2 \eta G + $share \frac{8 (J - 1) M \Delta}{e q g} \langle W_k - W_0, W^{mm}"
    r"\rangle \text{ and } \frac{q g}{2} \left(\frac{1}{G} + \frac{\eta k}{8 \|W^{mm}\|^2}\right) "
    r"\le $most n \exp(m_k)",
    where="W_k are the iterates from W_0 with the step eta, k >= 0, D_k is the squared distance of "
    "W_k from the line through 0 and W^mm, m_k the least margin (x_opt - x_t)^T W_k z of a rival "
    "x_t, G the risk of W_0 minus the mean of l(b_i), n the number of inputs, J that of rivals in "
    "all of them, g the least b_i - c_i, Delta the largest b_i minus a score of input i, and q and "
    "M are -l' at the highest and at the lowest score of all",
)
def stays_near(m: Namespace, case: Run, share: Number = 1, most: Number = 1) -> Relation:
    """Return both bounds, the second one multiplied by G."""
    data, loss = case.data, LOSSES[case.loss]
    exact, n, eta = ExactData.of(data), data.n, m.values(case.size)
    solved = exact_att_svm(data)
    if solved is None or not solved.A:
        return m.below(m.exact(0), m.exact(0))  # W^mm does not exist, or is 0
    V, square = m.values(solved.W), m.values(solved.square)
    start = W = m.values(case.start)
    for _ in range(case.steps):
        W = advanced(m, case, W)
    gap = m.exact(0)
    for s, scores in zip(attention(m, case, start), exact.gamma, strict=True):
        lost = m.dot(s, m.values([max(scores) - x for x in scores]))
        gap = gap + loss.drop(m, m.values(max(scores)), lost) / n
    everything = [x for scores in exact.gamma for x in scores]
    q, M = (loss.fall(m, m.values(x)) for x in (max(everything), min(everything)))
    g = m.values(min(lead for _, lead in _leads(exact)))
    delta = m.values(max(max(scores) - min(scores) for scores in exact.gamma))
    rivals = exact_constraints(exact)
    K = share * (8 * (len(rivals) - 1)) * M * delta / (m.exp(m.exact(1)) * q * g)

    def inner(A: Any, B: Any) -> Number:
        return m.sum(A * B)

    def away(W: Numbers) -> Number:
        return inner(W, W) - inner(W, V) * inner(W, V) / square

    room = away(start) + 2 * eta * gap + K * (inner(W, V) - inner(start, V))
    far = q * g / 2 * (1 + gap * eta * case.steps / (8 * square))
    margins = [
        inner(W, m.values(np.reshape(A, (data.d, data.d)).tolist())) for A in rivals.values()
    ]
    return m.all_of(
        m.at_most(away(W), room),
        *(m.at_most(far, most * n * gap * m.exp(margin)) for margin in margins),
    )


@composite
def near_solution(draw: st.DrawFn) -> Run:
    """Draw runs from near a multiple of W^mm, with steps of at most 1/L."""
    data = draw(ragged(tight_data()))
    best = np.where(data.present, data.gamma, -np.inf).argmax(axis=1)
    W = towards(data, best)[0]
    power = draw(st.sampled_from([1, 2, 3, 0, -1]))
    aside = draw(arrays(data.d, data.d)) * draw(st.sampled_from([0.0, 0.125, 1.0]))
    loss = draw(st.sampled_from(CONVEX))
    share = draw(st.sampled_from([1.0, 0.25]))
    return started(data, 2.0**power * W + aside, loss, share, draw(st.integers(0, 3)))


def started(
    data: AttentionData, start: Array, loss: str = "correlation", share: float = 1.0, steps: int = 1
) -> Run:
    """Return a run whose step is a share of a power of 2 of at most 1/L, or 1 if L is 0."""
    L = smoothness(ExactData.of(data), loss)
    power = 0 if bool(L <= 0) else -int(np.frexp(float(L.upper()))[1])
    return Run(data, loss, start, share * 2.0**power, steps)

"""The head of the joint path: how near it is to v(alpha), and its limit for a fixed prompt.

Formulas, hypotheses, searches and instances of the readings about v.
"""

from types import SimpleNamespace

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.exact import rationals
from attsvm.exact.numbers import Vector, combine
from attsvm.strategies import composite, sizes
from attsvm.theory import Hypothesis, Records, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm._support import max_margin as svm
from properties.mm._support import selection_programs
from properties.mm._support.attended import PARALLEL, Attended, attended, mean_margin
from properties.mm._support.label_margins import label_margin, others
from properties.mm._support.token_selections import (
    ONE_TOKEN,
    SELECTED,
    WITH_Q,
    Rival,
    Selection,
    chosen,
    select,
)
from properties.mm.theorem_2 import letters


def total(case: Selection) -> Vector:
    """Return the sum of the selected tokens, each times its label."""
    rows = svm.v_rows(case)
    return combine([1] * len(rows), rows)


def positive(case: Attended | Rival | Selection) -> bool:
    """Return whether the nu that is proved to suffice for Assumption B is above 0."""
    gamma, most = mean_margin(chosen(case))
    return bool(most < gamma)


@stated(
    "$formula, as it must be if v_r/r tends to v(alpha)/||v(alpha)|| as r tends to infinity",
    r"(1 - s) (\|x\|^2 y - \langle x, y\rangle x) = 0",
    {"towards": {"selected": "selected", "other": "other"}},
    where="x and y are the $towards and the remaining token of the only input, times its label, "
    "and s is the attention to x at the best prompt of norm R = ||p||",
    checked=selection_programs.fixed_prompt,
)
def with_fixed_prompt(m: Namespace, case: Attended, towards: str = "selected") -> Comparison:
    """The best prompt is along the difference of the two keys.

    The length of the attended token is convex in attention, and largest at the longer token.
    """
    one, rows = case.chosen, svm.p_rows(case.chosen)
    best = svm.v_rows(one)[0]
    rival = svm.v_rows(next(others(one)))[0]
    if towards == "other":
        best, rival = rival, best
    side = 1 if towards == "selected" else -1
    share = m.logistic(-side * m.norm(m.values(case.p)) * m.norm(m.values(rows[0])))
    a, b = m.values(best), m.values(rival)
    return m.equal(share * ((a @ a) * b - (a @ b) * a), 0 * a)


@stated(
    "$formula for every choice beta that has a p(beta), as it must be if v_r/r "
    "tends to v(alpha)/||v(alpha)|| for the loss -x as r and R tend to infinity",
    r"\|\sum_i Y_i x_{i,\beta_i}\|^2 \|v\|^2 \le $share \left(\sum_i \max_t Y_i \langle v, "
    r"x_{it}\rangle\right)^2",
    where="v = v(alpha)",
    checked=selection_programs.linear_loss,
)
def for_linear_loss(m: Namespace, case: Selection, share: Number = 1) -> Relation:
    """At the best pair v_r/r is along the sum of the attended tokens, each times its label.

    The pair makes this sum as long as prompts allow. If v_r/r tends to v/||v||, the component along
    v of the longest sum tends to its length.
    """
    v = svm.v_svm(m, case).vector
    component = sum(
        (m.max(int(y) * (m.values(tokens) @ v)) for y, tokens in zip(case.y, case.X, strict=True)),
        m.exact(0),
    )
    sums = [m.values(total(b)) for b in (case, *others(case)) if svm.p_programme(b).exists]
    parts = [m.at_most((s @ s) * (v @ v), share * m.square(component)) for s in sums]
    return m.all_of(*parts) if parts else m.at_most(m.exact(0), m.exact(0))


def steered(m: Namespace, case: Attended, share: Number = 1, spread: Number = 1) -> Comparison:
    """Return that Gamma ||v|| - Gamma^2 <v, v(alpha)> <= (Gamma ||v|| - margin) (1 + D/nu)."""
    if not positive(case):
        return m.below(m.exact(0), m.exact(0))  # nu is not positive, and there is no such bound
    one, v = case.chosen, m.values(case.h)
    square, most = (m.values(x) for x in mean_margin(one))
    pairs = [(X[t], x) for X, t in zip(m.values(one.X), one.alpha, strict=True) for x in X]
    gaps = [m.norm(best - x) for best, x in pairs]
    far, nu = m.max(m.array(gaps)), m.sqrt(square) - m.sqrt(most)
    size = m.sqrt(square * (v @ v))  # one root, so that a head along v(alpha) leaves exactly 0
    along = square * (v @ m.values(svm.v_programme(one).vector))
    return turned(m, size, along, label_margin(m, case)[0], far, nu, share, spread)


def turned(
    m: Namespace,
    size: Number,
    along: Number,
    margin: Number,
    far: Number,
    nu: Number,
    share: Number = 1,
    spread: Number = 1,
) -> Comparison:
    """Return that Gamma ||v|| - Gamma^2 <v, v(alpha)> <= (Gamma ||v|| - margin) (1 + D/nu).

    Here `size` is Gamma ||v||, `along` the subtracted term, and `far` is D.
    """
    return m.at_most(size - along, share * (size - margin) * (1 + spread * far / nu))


def short(
    m: Namespace,
    margin: Number,
    size: Number,
    far: Number,
    others: Number,
    t: Number,
    share: Number = 1,
) -> Comparison:
    """Return that 1 - margin <= ||v(alpha)|| D (T - 1) exp(-t)."""
    return m.at_most(1 - margin, share * (size * far * others * m.exp(-t)))


@concludes(letters.turned_and_reached)
@stated(
    "nu > 0 and $formula",
    r"\Gamma \|v\| - \Gamma^2 \langle v, v(\alpha)\rangle \le $share (\Gamma \|v\| - m) "
    r"\left(1 + $spread \frac{D}{\nu}\right) \text{ and } 1 - m' \le $share \|v(\alpha)\| D "
    r"(T - 1) \exp(-t)",
    where="Gamma = 1/||v(alpha)||, v is any head and p any prompt, m is their label margin, m' is "
    "that of v(alpha) and t p(alpha) for t >= 0, and D is the largest distance of a token from "
    "the selected one",
)
def turned_and_reached(
    m: Namespace, case: Attended, share: Number = 1, spread: Number = 1
) -> Relation:
    """The bound holds for every t >= 0; here t is the sum of the |p_k| of the case's prompt."""
    one = case.chosen
    v, p = svm.v_programme(one).vector, svm.p_programme(one).vector
    if v is None or p is None:
        return m.below(m.exact(0), m.exact(0))  # there is no such pair
    t = sum((abs(x) for x in rationals(case.p)), fmpq(0))
    pair = SimpleNamespace(chosen=one, h=v, p=[t * x for x in p])
    X = m.values(one.X)
    gaps = [m.norm(best[t] - x) for best, t in zip(X, one.alpha, strict=True) for x in best]
    far, size, others = m.max(m.array(gaps)), m.norm(m.values(v)), one.X.shape[1] - 1
    reached = short(m, label_margin(m, pair)[0], size, far, others, m.values(t), share)
    return m.all_of(steered(m, case, share, spread), reached)


@stated(
    "p(alpha) exists and is not 0, and $formula for every choice beta that has a p(beta), as it "
    "must be if p_R/R tends to p(alpha)/||p(alpha)|| for the loss exp(-x) as R tends to infinity",
    r"\exp\left(-$share \|q\| \|\frac{1}{n} \sum_i Y_i x_{i,\alpha_i}\|\right) \le "
    r"\frac{1}{n} \sum_i \exp(-Y_i \langle q, x_{i,\beta_i}\rangle)",
    where="q is a head of norm r",
    checked=selection_programs.every_radius,
)
def for_every_radius(m: Namespace, case: Rival, share: Number = 1) -> Relation:
    """The left side bounds the risk of heads as long as q on the selected tokens.

    If p(beta) exists, the risk of q with long prompts along p(beta) tends to the right side.
    """
    one, q = case.chosen, m.values(case.q)
    if not any(svm.p_programme(one).vector or []):
        return m.below(m.exact(0), m.exact(0))  # there is no such direction
    n = len(one.y)
    least = m.exp(-share * m.norm(m.values(total(one))) * m.norm(q) / n)
    parts = [m.at_most(m.exact(0), least)]
    for beta in (one, *others(one)):
        if svm.p_programme(beta).exists:
            risk = sum((m.exp(-(m.values(row) @ q)) for row in svm.v_rows(beta)), m.exact(0)) / n
            parts.append(m.at_most(least, risk))
    return m.all_of(*parts)


@composite
def single(draw: st.DrawFn) -> Attended:
    """Draw one input of two tokens."""
    drawn = draw(attended(inputs=1))
    one = drawn.chosen
    keep = [int(one.alpha[0]), draw(sizes(0, one.X.shape[1] - 1))]
    return Attended(Selection(one.X[:, keep], one.y, np.array([0]), one.W), drawn.p, drawn.h)


SINGLE = Hypothesis(
    "there is one input of two tokens, and R > 0",
    lambda case: case.chosen.X.shape[:2] == (1, 2) and bool(case.p.any()),
    checked="fact(len(X) == 1 and len(X[0]) == 2 and any(prompt))",
)
POSITIVE = Hypothesis(
    "Assumption B holds, with nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 over all choices "
    "beta but alpha, w multipliers of v(alpha) of sum 1",
    positive,
    says="Assumption B holds, with nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 over all "
    "choices beta but alpha (nu = Gamma if T = 1), w multipliers of v(alpha) of sum 1",
    proposition=letters.positive,
    checked=selection_programs.positive_nu,
)

PAIRS = Records(Attended, attended(), lets=SELECTED)
OF_TWO_TOKENS = Records(Attended, single(), lets=SELECTED)
SELECTIONS = Records(Selection, attended().map(chosen), lets=SELECTED)
HEADS = Records(Rival, attended().map(lambda case: Rival(case.chosen, case.h)), lets=WITH_Q)

MIXED = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0])
UNBALANCED = select([[[1.0, 1.0], [0.0, 0.125]], [[1.0, -2.0], [0.0, 0.0]]], [1, 1], [0, 0])
"""v(alpha) is (1, 0), the sum of the labelled tokens (2, -1)."""
LOPSIDED = select([[[1.0, 1.0], [0.0, 2.0]], [[1.0, -2.0], [0.0, -4.0]]], [1, 1], [0, 0])
"""The same selected tokens; (1, 1) and (0, -4) have the smaller label margin, the longer sum."""
MIXED_FOR_EVER = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0], np.zeros((2, 2)))
"""Attention is 1/2 at each prompt: v_r/r tends to (2, 1)/sqrt 5."""

LONGER = Attended(PARALLEL, np.ones(1), np.ones(1))
"""One input, whose selected token is the longer one, on the same ray as the other token."""
TURNED = Attended(MIXED, np.ones(2), np.ones(2))
AWAY = Attended(MIXED, np.array([1.0, -1.0]), np.array([2.0, 1.0]))
FOR_EVER = Attended(MIXED_FOR_EVER, np.ones(2), np.ones(2))
SUMMED = (PARALLEL, UNBALANCED)
RADII = (
    Rival(PARALLEL, np.ones(1)),
    Rival(LOPSIDED, np.array([0.03125, -0.09375])),
    Rival(MIXED_FOR_EVER, np.ones(2)),
    Rival(ONE_TOKEN, np.ones(1)),
)

"""The prompt of the joint path: bounds of second order, p_tau, and its limit if r grows fast.

Formulas, hypotheses, searches and instances of the readings about p.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Vector, combine
from attsvm.primitives.att_svm import pythagoras
from attsvm.strategies import composite, sizes
from attsvm.theory import Hypothesis, Records, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation, Values
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.attended import PARALLEL, TANGENT, Attended, attended, doubted
from properties.mm._support.label_margins import label_margin, others
from properties.mm._support.token_selections import (
    ONE_TOKEN,
    PUBLISHED,
    SELECTED,
    WITH_Q,
    Rival,
    Selection,
    chosen,
    select,
)
from properties.mm.theorem_2 import letters, ratio_letters


@dataclass(frozen=True, slots=True)
class Tilted:
    """A selection with a prompt q, and tau, which grows with r/R."""

    rival: Rival
    tau: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tau) and self.tau >= 0):
            raise DataError("tau is below 0 or not finite", value=self.tau)

    @property
    def chosen(self) -> Selection:
        """The selection."""
        return self.rival.chosen


def _directed(m: Namespace, programme: svm.Programme) -> Comparison:
    """Return that there is a solution other than 0, so that it has a direction."""
    square = programme.margin_square
    return m.below(m.exact(0), m.exact(0) if square is None else m.values(square))


def to_second_order(m: Namespace, case: Attended, lead: Number = 1, bend: Number = 1) -> Relation:
    """Label margin <= ||h|| (Gamma - delta Q + D^2 Q^2/(2 Gamma)); other tokens score below 1.

    Scores are those under v(alpha), at most 1 - delta/Gamma; D is the largest distance of a token
    from the selected one. Q is the mean of 1 - s_i,alpha_i with the multipliers as weights.
    """
    one, v = case.chosen, svm.v_programme(case.chosen)
    if v.vector is None:
        return m.below(m.exact(0), m.exact(0))  # there is no v(alpha)
    square, gaps, scores = m.values(v.margin_square), [], []
    for y, tokens, a in zip(one.y, m.values(one.X), one.alpha, strict=True):
        others_of_one = [x for t, x in enumerate(tokens) if t != a]
        gaps += [m.square(m.norm(tokens[a] - x)) for x in others_of_one]
        scores += [int(y) * (x @ m.values(v.vector)) for x in others_of_one]
    margin, left = label_margin(m, case)
    h, q = m.values(case.h), m.values(v.shares) @ m.array(left)
    size = m.sqrt(square * (h @ h))
    if not scores:
        return m.at_most(margin, size)
    led, far = lead * (1 - m.max(m.array(scores))), m.max(m.array(gaps))
    bound = bent(m, margin, size, q, led, far, square, bend)
    return m.all_of(bound, *(m.below(s, m.exact(1)) for s in scores))


def bent(
    m: Namespace,
    margin: Number,
    size: Number,
    q: Number,
    lead: Number,
    far: Number,
    square: Number,
    bend: Number = 1,
) -> Comparison:
    """Return that margin <= ||h|| Gamma (1 - lead Q + D^2 Q^2/(2 Gamma^2)), lead = delta/Gamma.

    Here `size` is ||h|| Gamma, `far` is D^2 and `square` is Gamma^2.
    """
    return m.at_most(margin, size * (1 - lead * q + bend * far * q * q / (2 * square)))


@concludes(letters.to_second_order)
@stated(
    "p(alpha) is not 0, other tokens score below 1 under v(alpha), and $formula",
    r"m \le \|h\| \left(\Gamma - $lead \delta Q + $bend \frac{D^2 Q^2}{2 \Gamma}\right)",
    where="Gamma = 1/||v(alpha)||, m is the label margin of any head h and prompt, other tokens "
    "score at most 1 - delta/Gamma under v(alpha), Q is the mean of 1 - s_i,alpha_i with weights "
    "w, and D is the largest distance of a token from the selected one",
)
def to_second_order_along(
    m: Namespace, case: Attended, lead: Number = 1, bend: Number = 1
) -> Relation:
    direction = _directed(m, svm.p_programme(case.chosen))
    return m.all_of(to_second_order(m, case, lead, bend), direction)


def tilted(case: Values, tau: Any = None) -> Any:
    """Return p_tau, the least prompt of logit margins max(0, 1 - tau (m_i - 1))."""
    one = chosen(case.rival)
    v = svm.v_programme(one)
    t = rational(case.tau if tau is None else tau)
    margins = [dot(row, v.vector or [fmpq(0)] * len(row)) for row in v.rows]
    return svm.p_programme(one, [max(fmpq(0), 1 - t * (margin - 1)) for margin in margins])


def meets(case: Tilted) -> bool:
    """Return whether q meets the constraints of p_tau."""
    programme, q = tilted(case), rationals(case.rival.q)
    pairs = zip(programme.rows, programme.bound, strict=True)
    return all(bool(dot(row, q) >= b) for row, b in pairs)


def nearest(m: Namespace, case: Tilted, share: Number = 1, tau: Any = None) -> Comparison:
    """Return Pythagoras' inequality for q and p_tau; it is violated if v(alpha) does not exist."""
    if not svm.v_programme(case.chosen).exists:
        return m.below(m.exact(0), m.exact(0))  # there is no v(alpha), and no m_i
    return pythagoras(m, m.values(case.rival.q), svm.solved(m, tilted(case, tau)).vector, share)


def at_infinity(case: Selection, part: int = 2) -> svm.Programme:
    """Return p': the least prompt of logit margins 1, 1/part in tight idle inputs, else 0.

    In inputs that are not tight the margin is 0.
    """
    _, T, d = case.X.shape
    flags = zip(svm.v_programme(case).tight, margins.idle(case), strict=True)
    bounds = [int(tight) / (rational(part) if idle else fmpq(1)) for tight, idle in flags]
    programme: svm.Programme = svm.solve(
        svm.p_rows(case), d, [b for b in bounds for _ in range(T - 1)]
    )
    return programme


@concludes(letters.by_multipliers)
@stated(
    "p' exists and is not 0, and $formula",
    r"$share (m - \|h\| \gamma) \sum_i w_i q_i \le u \text{ and, for tight idle } i\text{, "
    r"} $share (m - \|h\| \gamma) q_i \le u + $root \|x_{i,\alpha_i}\| \sqrt{\frac{2 \|h\| "
    r"u}{\Gamma}} \text{ and, for all tight } i\text{, } \|g\| \Gamma - \left(a + a b + "
    r"\frac{b^2}{2}\right) \exp\left(-\frac{\|p\|}{\|p'\|}\right) \le Y_i \langle g, x_i'\rangle",
    {"part": {2: "1/2", 3: "1/3"}},
    where="Gamma = 1/||v(alpha)||, u = ||h|| Gamma - m, m is the label margin of any head h and "
    "prompt p, gamma is the largest one of another choice than alpha, w are multipliers of "
    "v(alpha) of sum 1, q_i = 1 - s_i,alpha_i, an input is idle if its multiplier is 0 in all "
    "multipliers, p' is the least prompt of logit margins 1, of $part in tight idle inputs and 0 "
    "in those that are not tight, x_i' is the attended token at the prompt ||p|| p'/||p'||, g = "
    "v(alpha) + a exp(-||p||/(2 ||p'||)) z, a = (T - 1) D ||v(alpha)||, b = (T - 1) D ||z||, D is "
    "the largest distance of a token from the selected one, and z adds up, for tight idle i, the "
    "shortest vectors orthogonal to v(alpha) that score at least 0 on the selected tokens of tight "
    "inputs and at least 1 on that of i",
)
def by_multipliers(
    m: Namespace, case: Attended, share: Number = 1, root: Number = 1, part: int = 2
) -> Relation:
    """Gamma is the largest margin of unit heads, gamma that of another choice than alpha."""
    one, v = case.chosen, svm.v_programme(case.chosen)
    squares, h = m.values([v.margin_square, margins.rival_square(one)]), m.values(case.h)
    size, rival = (m.sqrt(square * (h @ h)) for square in squares)
    margin, left = label_margin(m, case)
    short, lead, q = size - margin, share * (margin - rival), m.array(left)
    parts = [m.at_most(lead * (m.values(margins.multipliers(one)) @ q), short)]
    for i, (tight, idle) in enumerate(zip(v.tight, margins.idle(one), strict=True)):
        if tight and idle:
            best = m.values(one.X[i, one.alpha[i]])
            turned = m.sqrt(2 * (best @ best) * m.norm(h) * m.maximum(short, m.exact(0)))
            bound = short + root * turned / m.sqrt(m.sqrt(squares[0]))
            parts.append(m.at_most(lead * q[i], bound))
    return m.all_of(*parts, *_along_limit(m, case, at_infinity(one, part)))


def _along_limit(m: Namespace, case: Attended, limit: svm.Programme) -> Iterator[Relation]:
    """Yield relations: p' is not 0, and a head has almost the margin ||g|| Gamma at ||p|| p'."""
    one, v = case.chosen, svm.v_programme(case.chosen)
    if v.vector is None or not any(limit.vector or []):
        yield m.below(m.exact(0), m.exact(0))  # there is no such prompt
        return
    tilts = zip(v.tight, margins.tilts(one), strict=True)
    raised = [tilt.vector for tight, tilt in tilts if tight and tilt.vector is not None]
    head, z = m.values(v.vector), m.values(combine([1] * len(raised), raised) or 0 * one.X[0, 0])
    X, p = m.values(one.X), m.values(limit.vector)
    far = m.max(m.array([m.norm(x[t] - y) for x, t in zip(X, one.alpha, strict=True) for y in x]))
    length = m.norm(m.values(case.p)) / m.norm(p)
    a, b = ((one.X.shape[1] - 1) * far * m.norm(x) for x in (head, z))
    g = head + a * m.exp(-length / 2) * z
    lost = (a + a * b + b * b / 2) * m.exp(-length)
    least = m.norm(g) * m.sqrt(m.values(v.margin_square)) - lost
    reached, _ = margins.by_input(m, one, length * p, g)
    yield m.above(m.norm(p), m.exact(0))
    for tight, margin in zip(v.tight, reached, strict=True):
        if tight:
            yield m.at_most(least, margin)


def changes_support(case: Tilted) -> Iterator[Selection]:
    """Yield the selections that differ in an input that supports v(alpha)."""
    one = case.chosen
    tight = np.array(svm.v_programme(one).tight)
    return (other for other in others(one) if (tight & (other.alpha != one.alpha)).any())


@concludes(ratio_letters.nearest_along)
@stated(
    "v(alpha) exists, $tau is not 0, a choice beta that has a p(beta) and differs from alpha in a "
    "tight input has a smaller label margin, one that has a p(beta) and differs in other inputs "
    "alone, by tokens that score above 1 under v(alpha), has the same direction of the joint "
    "p-SVM, none that has a p(beta) has a larger label margin if inputs that are not tight have "
    "one key each and count by their means, and $formula",
    r"$share \|q - p_\tau\|^2 \le \|q\|^2 - \|p_\tau\|^2",
    {"tau": {None: "p_tau", "0": "p_tau = p(alpha)"}},
    where="p_tau is the least prompt of logit margins max(0, 1 - tau (m_i - 1)) in every input i, "
    "m_i are the label margins of v(alpha), 1 in a tight input, and tau >= 0",
)
def nearest_along(m: Namespace, case: Tilted, share: Number = 1, tau: Any = None) -> Relation:
    """Relations on choices that differ elsewhere: `of_same_head` and `with_means`."""
    v = svm.v_programme(case.chosen)
    parts = [nearest(m, case, share, tau), _directed(m, tilted(case, tau))]
    for other in changes_support(case):
        if svm.p_programme(other).exists:
            reached = m.values(svm.v_programme(other).margin_square)
            parts.append(m.below(reached, m.values(v.margin_square)))
    return m.all_of(*parts, *of_same_head(m, case.chosen), *with_means(m, case.chosen))


def of_same_head(m: Namespace, one: Selection) -> Iterator[Relation]:
    """Yield relations: choices in reach of head v(alpha) share the joint p-SVM's direction."""
    for _, p, q in risen(one):
        along, square = m.values(dot(p, q)), m.values(dot(p, p) * dot(q, q))
        yield m.at_most(m.sqrt(square), along)


def risen(one: Selection) -> Iterator[tuple[Selection, Vector, Vector]]:
    """Yield choices in reach of head v(alpha), with the joint p-SVM's solution and their own.

    Such choices differ from alpha in inputs that are not tight, by tokens that score above 1. There
    are none if other tokens score below 1.
    """
    v = svm.v_programme(one)
    tight = [fmpq(int(flag)) for flag in v.tight]
    p = svm.p_programme(one, tight).vector
    for beta in others(one):
        rows = zip(svm.v_rows(beta), v.tight, beta.alpha != one.alpha, strict=True)
        if p and all(not flag and dot(v.vector, row) > 1 for row, flag, moved in rows if moved):
            q = svm.p_programme(beta, tight).vector
            if q and svm.p_programme(beta).exists:
                yield beta, p, q


def with_means(m: Namespace, one: Selection) -> Iterator[Relation]:
    """Yield relations: no choice in reach in tight inputs has a larger label margin than alpha."""
    for own, other in blurred(one):
        yield m.at_most(m.values(other), m.values(own))


def blurred(one: Selection) -> Iterator[tuple[Any, Any]]:
    """Yield squared label margins of alpha, and of choices in reach in tight inputs.

    The other inputs enter by the means of their tokens, and only if each has one key for all of
    them. There are no such inputs if p(alpha) exists and T > 1, and all label margins are then
    below Gamma.
    """
    _, T, d = one.X.shape
    tight = svm.v_programme(one).tight
    labelled = zip(one.y, one.X, strict=True)
    means = [combine([fmpq(int(y), T)] * T, rationals(X)) for y, X in labelled]

    def ranked(beta: Selection, of_tight: bool) -> list[Vector]:
        pairs = zip(svm.p_rows(beta), np.repeat(tight, T - 1), strict=True)
        return [row for row, flag in pairs if flag == of_tight]

    def reached(beta: Selection) -> Any:
        rows = zip(svm.v_rows(beta), tight, means, strict=True)
        return svm.solve([x if t else mean for x, t, mean in rows], d).margin_square

    if not all(tight) and not any(any(row) for row in ranked(one, of_tight=False)):
        for beta in others(one):
            if svm.solve(ranked(beta, of_tight=True), d).exists:
                yield reached(one), reached(beta)


def below(case: Tilted) -> bool:
    """Return whether other tokens score below 1 under v(alpha)."""
    one, v = case.chosen, svm.v_programme(case.chosen).vector
    moved = ((o, o.alpha != one.alpha) for o in others(one))
    return v is not None and all(
        dot(v, row) < 1
        for other, where in moved
        if where.sum() == 1
        for row in [svm.v_rows(other)[int(where.argmax())]]
    )


def weighted(case: Tilted) -> bool:
    """Return whether the computed multipliers suffice.

    Data for which only other multipliers do are left out.
    """
    v = svm.v_programme(case.chosen)
    if v.vector is None or not all(w > 0 for w, t in zip(v.weights, v.tight, strict=True) if t):
        return False
    total_weight = sum(v.weights, fmpq(0))
    for other in changes_support(case):
        z = combine([w / total_weight for w in v.weights], svm.v_rows(other))
        if not dot(z, z) < v.margin_square:
            return False
    return True


@composite
def prompts(draw: st.DrawFn) -> Tilted:
    """Draw inputs, one of them with its selected token moved so that its label margin grows.

    The prompt q is p_tau, rounded, times 1.25 or more, or any vector if there is no p_tau.
    """
    drawn = draw(attended(3))
    one, X = drawn.chosen, drawn.chosen.X.copy()
    i = draw(sizes(0, len(one.y) - 1))
    X[i, one.alpha[i], 0] += one.y[i] * draw(st.sampled_from([1.0, 4.0, 16.0]))
    tau = draw(st.sampled_from([0.5, 0.125, 1.0, 0.0, 4.0]))
    case = Tilted(Rival(Selection(X, one.y, one.alpha, one.W), drawn.p), tau)
    p = tilted(case).vector
    if p is None:
        return case
    factor = draw(st.sampled_from([1.25, 2.0, 8.0]))
    q = np.array([factor * float(x.p) / float(x.q) for x in p])
    return Tilted(Rival(case.chosen, q), tau)


SEVERAL = Hypothesis("T > 1", lambda case: case.chosen.X.shape[1] > 1, proposition=letters.several)
BELOW = Hypothesis(
    "v(alpha) exists, and other tokens score below 1 under it",
    below,
    proposition=ratio_letters.below,
)
WEIGHTED = Hypothesis(
    "multipliers w of v(alpha) of sum 1 are positive on all tight inputs and have "
    "||sum_i w_i Y_i x_i,beta_i|| < Gamma for all beta that differ from alpha in a tight input",
    weighted,
    proposition=ratio_letters.weighted,
)
MEETS = Hypothesis(
    "q has logit margins of at least max(0, 1 - tau (m_i - 1)) in every input i",
    meets,
    proposition=ratio_letters.meets,
)
ALONE = Hypothesis(
    "every choice but alpha has a smaller label margin",
    lambda case: margins.alone(case.chosen),
    proposition=letters.alone,
)

TILTED = Records(Tilted, prompts(), lets=WITH_Q)
DOUBTED = Records(Attended, doubted().map(lambda c: Attended(c.chosen, c.p, c.h)), lets=SELECTED)

ACROSS = select([[[1.0, 0.0], [0.0, 0.5]]], [1], [0])
SLOW = Selection(TANGENT.X, TANGENT.y, TANGENT.alpha, np.array([[1.0, -0.75], [0.0, -1.0]]))
"""The keys of the tight idle input differ by (1/4, -1): p is (1, 1/4 - b) for a logit margin b."""
RIVALLED = select([[[1.0, 0.0], [0.0, 1.0]]], [1], [0])
"""Both tokens have the label margin 1."""
HIGHER = select(
    [[[1.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [2.0, 1.0]]], [1, 1], [0, 0], [[1.0, 2.0], [0.0, -1.0]]
)
"""The rows of the p-SVM are (1, 0) and (-1, 1). The second input does not support v(alpha) = (1,
0), under which its other token scores 2. If r is much larger than R a score of 2 suffices, and
nothing keeps p_R from turning to (1, 0), while p_tau is (1, 1) for tau >= 1/2."""
INDISTINCT = select(
    [[[1.0, 0.0], [-0.5, 0.5]], [[2.0, 0.0], [-4.0, 1.0]]],
    [1, 1],
    [0, 0],
    [[1.0, 6.0], [0.0, 0.0]],
)
"""The second input has two tokens of one key, and does not support v(alpha) = (1, 0). With their
mean, (-1, 1/2), the other token of the first input has the larger label margin."""

SHORTER = Attended(ACROSS, np.zeros(2), np.array([2.0, 1.0]))
AT_ONE = Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 1.0)
AT_HALF = Tilted(Rival(PUBLISHED[1], np.array([1.125, 0.125])), 0.5)
LONG = Attended(SLOW, np.array([16.0, 0.0]), np.array([1.0, 0.0]))
IDLE = (
    Attended(PARALLEL, np.array([2.0]), np.ones(1)),
    Attended(SLOW, np.array([4.0, -1.0]), np.array([1.0, 0.0])),
    Attended(TANGENT, np.array([64.0, -62.0]), np.array([1.0, 0.125])),
    LONG,
)
WITHOUT_PROMPT = Tilted(Rival(INDISTINCT, np.array([-1.0, 0.0])), 1.0)
OUTSIDE: dict[Hypothesis, list[object]] = {
    SEVERAL: [
        Attended(ONE_TOKEN, np.ones(1), np.ones(1)),
        Tilted(Rival(ONE_TOKEN, np.ones(1)), 1.0),
    ],
    BELOW: [Tilted(Rival(HIGHER, np.array([1.0, 1.0])), 0.5)],
    WEIGHTED: [Tilted(Rival(RIVALLED, np.array([0.5, -0.5])), 1.0)],
    MEETS: [Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 0.5)],
    ALONE: [Attended(select([[[1.0], [2.0]]], [1], [0]), np.zeros(1), np.ones(1))],
}
"""Instances that violate a hypothesis, by hypothesis."""

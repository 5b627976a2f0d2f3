"""Theorem 2: the joint regularisation path, of the head v and the prompt p in balls of their own.

"(v_r, p_R) = argmin of L(v, p) over ||v|| <= r, ||p|| <= R. Under Assumptions A and B lim v_r/r =
v(alpha)/||v(alpha)|| as r -> infinity and lim p_R/R = p(alpha)/||p(alpha)|| as R -> infinity."

The pair depends on both radii, and the sentence does not say how one moves while the other tends to
infinity. `literal-1` fixes R. With one input of two tokens attention keeps a share of the other
token, so that v_r points to a mixture of both, whatever r is. `literal-2` lets both radii tend to
infinity, in any way. The loss -x is one of Assumption A: its risk is -<v, sum_i Y_i x_i^p>/n, and
v_r turns to the sum of the labelled tokens, not to the max-margin head. Assumption B asks for "some
nu > 0", and print has neither a nu nor a way to find one. Here it is granted by one that is proved
to do in `mm/assumption-b`, where it is positive: nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i||
over all choices beta but alpha, w multipliers of v(alpha) of sum 1.

`amended` is what survives for v: a head is as near to v(alpha) as the pair's label margin is near
to Gamma, and v(alpha) with a long prompt along p(alpha) comes as near to Gamma as one likes. For
exp(-x) the label margin of (v_r, p_R) is at least that of the two SVM directions less (ln n)/r, so
that it tends to Gamma where r and R tend to infinity, in any way. Where W = 0 no prompt does
anything, there is no p(alpha), and v_r/r tends to the head of the mean tokens (`MIXED_FOR_EVER`).

What is evaluated of the limits of p_R/R are their bounds, that they are directions, and that no
other choice in reach has as large a label margin: then v_r and p_R would select it for large r. The
limits themselves are proved. In `sharp-2` the path, which knows no alpha, must not have two limits
either. Another choice with the same v(alpha), whose other tokens score above 1, has limits as well
as alpha, of the same data: in `HIGHER` (1, 1)/sqrt 2 and (1, 0), where r/R tends to infinity. And
tokens that no prompt tells apart count by their mean: where all inputs that are not tight have such
tokens only, no choice in the tight ones may have a larger label margin with these means, as one has
in `INDISTINCT`, where p(alpha) does not exist.

`literal-3` is the second limit as printed, for each r, where p(alpha) exists (with W = 0 there is
none, and Assumption B may hold). A short head prefers the tokens whose mean
is longest, which need not be those of the largest label margin: for small r the prompt selects
others. `sharp-1` asks for a large r: from some r_0 on attention
off the selected tokens is at most a constant times the least possible, and p_R/R converges as R
grows, whatever r does. Assumption B leaves nothing to relax in p(alpha) (`assumption-b:sharp`), so
that r against R does not matter. `sharp-2` is for data with inputs outside of S, where it does:
input i counts in the risk like exp(-r (Gamma_i - Gamma)), Gamma_i = m_i Gamma its label margin, and
its logit margins may be smaller by that exponent. The joint p-SVM as printed is the limit where r/R
is large, the p-SVM without relaxation the one where r/R tends to 0. `sharp-3` admits inputs of
tight margin that are idle, with multiplier 0 in all multipliers of v(alpha): a head turns to such
an input at a cost of second order in 1 - s_i,alpha_i. Where r grows exponentially in R it has half
the logit margin of the inputs that are not idle, and no printed programme is the limit:

| r and R | inputs that are not idle | tight and idle | m_i > 1 |
| --- | --- | --- | --- |
| r/R tends to tau ||v(alpha)||/||p_tau|| | 1 | 1 | max(0, 1 - tau (m_i - 1)) |
| r/R tends to infinity, (ln r)/R to 0 | 1 | 1 | 0 |
| (ln r)/R is at least 1/||p'|| in the limit, p' the solution | 1 | 1/2 | 0 |

Between the last two lines nothing is proved. On `SLOW` the idle input is seen there to have max(1 -
(ln r) ||p||/R, 1/2), p the solution with such margins.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Vector, combine
from attsvm.primitives.att_svm import pythagoras
from attsvm.primitives.torch_objectives import in_torch
from attsvm.strategies import composite, sizes
from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.label_margins import label_margin, others
from properties.mm._support.token_selections import (
    ONE_TOKEN,
    ORTHOGONAL,
    PUBLISHED,
    Rival,
    Selection,
    chosen,
    select,
)
from properties.mm.assumption_b import (
    PARALLEL,
    TANGENT,
    Attended,
    attended,
    doubted,
    mean_margin,
)

P_EXISTS = "p(alpha) exists"
POSITIVE = (
    "Assumption B holds, with nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 over all choices "
    "beta but alpha, w multipliers of v(alpha) of sum 1"
)
GRANTED = (
    "Assumption B holds: for some nu > 0, of which print says no more, all p leave a label margin "
    "of at most Gamma - nu max_i (1 - s_i,alpha_i); here nu = Gamma - max ||sum_i w_i Y_i "
    "x_i,beta_i|| over all choices beta but alpha, w multipliers of v(alpha) of sum 1, is positive "
    "and will do"
)
"""Assumption B as printed, and how instances are known to meet it."""
SINGLE, SEVERAL = "one input of two tokens, and R > 0", "T > 1"
BELOW = "v(alpha) exists, and other tokens score below 1 under it"
WEIGHTED = (
    "multipliers w of v(alpha) of sum 1 are positive on all tight inputs and have "
    "||sum_i w_i Y_i x_i,beta_i|| < Gamma for all beta that differ from alpha in a tight input"
)
MEETS = "q has logit margins of at least max(0, 1 - tau (m_i - 1)) in every input i"

MIXED = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0])
UNBALANCED = select([[[1.0, 1.0], [0.0, 0.125]], [[1.0, -2.0], [0.0, 0.0]]], [1, 1], [0, 0])
"""v(alpha) is (1, 0), the sum of the labelled tokens (2, -1)."""
LOPSIDED = select([[[1.0, 1.0], [0.0, 2.0]], [[1.0, -2.0], [0.0, -4.0]]], [1, 1], [0, 0])
"""The same selected tokens; (1, 1) and (0, -4) have the smaller label margin, the longer sum."""

ACROSS = select([[[1.0, 0.0], [0.0, 0.5]]], [1], [0])

ALONE = "every choice but alpha has a smaller label margin"
SLOW = Selection(TANGENT.X, TANGENT.y, TANGENT.alpha, np.array([[1.0, -0.75], [0.0, -1.0]]))
"""The keys of the tight idle input differ by (1/4, -1): p is (1, 1/4 - b) for a logit margin b."""


MIXED_FOR_EVER = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0], np.zeros((2, 2)))
"""Attention is 1/2 at each prompt: v_r/r tends to (2, 1)/sqrt 5."""
RIVALLED = select([[[1.0, 0.0], [0.0, 1.0]]], [1], [0])
"""Both tokens have the label margin 1."""
HIGHER = select(
    [[[1.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [2.0, 1.0]]], [1, 1], [0, 0], [[1.0, 2.0], [0.0, -1.0]]
)
"""Rows of the p-SVM are (1, 0) and (-1, 1). The second input does not support v(alpha) = (1, 0),
under which its other token scores 2: where r is much larger than R that is enough, and nothing
keeps p_R from turning to (1, 0), while p_tau is (1, 1) for tau >= 1/2."""
INDISTINCT = select(
    [[[1.0, 0.0], [-0.5, 0.5]], [[2.0, 0.0], [-4.0, 1.0]]],
    [1, 1],
    [0, 0],
    [[1.0, 6.0], [0.0, 0.0]],
)
"""The second input has two tokens of one key, and does not support v(alpha) = (1, 0): with their
mean, (-1, 1/2), the other token of the first input has the larger label margin."""


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


def total(case: Selection) -> Vector:
    """The sum of the selected tokens, each times its label."""
    rows = svm.v_rows(case)
    return combine([1] * len(rows), rows)


def positive(case: Any) -> bool:
    """Whether the nu that is proved to do for Assumption B is above 0."""
    gamma, most = mean_margin(chosen(case))
    return bool(most < gamma)


def with_fixed_prompt(m: Any, case: Attended, towards: str = "selected") -> Any:
    """The attended token of the only input, at the best prompt of norm ||p||, is along a token.

    That prompt is along the difference D of the two keys: the length of the attended token is
    convex in attention and largest at an end, that of the longer token.
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


def for_linear_loss(m: Any, case: Selection, share: Any = 1) -> Any:
    """||sum_i Y_i x_i,beta_i||^2 ||v||^2 <= (sum_i max_t Y_i <v, x_it>)^2 for beta in reach.

    v is v(alpha). At the best pair v_r/r is along the sum of the attended tokens, each times its
    label, and that is as long as any sum comes to be. Where v_r/r tends to v/||v||, the component
    along v of the longest sum tends to its length.
    """
    v = svm.v_svm(m, case).vector
    component = sum(
        (m.max(int(y) * (m.values(tokens) @ v)) for y, tokens in zip(case.y, case.X, strict=True)),
        m.exact(0),
    )
    sums = [m.values(total(b)) for b in (case, *others(case)) if svm.p_programme(b).exists]
    said = [m.at_most((s @ s) * (v @ v), share * m.square(component)) for s in sums]
    return m.all_of(*said) if said else m.at_most(m.exact(0), m.exact(0))


def steered(m: Any, case: Any, share: Any = 1, spread: Any = 1) -> Any:
    """Gamma times ||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) (1 + D/nu)."""
    if m.name != "tensors" and not positive(case):
        return m.below(m.exact(0), m.exact(0))  # there is no such bound
    one, v = case.chosen, m.values(case.h)
    square, most = (m.values(x) for x in mean_margin(one))
    pairs = [(X[t], x) for X, t in zip(m.values(one.X), one.alpha, strict=True) for x in X]
    gaps = [m.norm(best - x) for best, x in pairs]
    far, nu = m.max(m.array(gaps)), m.sqrt(square) - m.sqrt(most)
    size = m.sqrt(square * (v @ v))  # one root, so that a head along v(alpha) leaves exactly 0
    along = square * (v @ m.values(svm.v_programme(one).vector))
    return turned(m, size, along, label_margin(m, case)[0], far, nu, share, spread)


def turned(
    m: Any, size: Any, along: Any, margin: Any, far: Any, nu: Any, share: Any = 1, spread: Any = 1
) -> Any:
    """||v|| Gamma - Gamma^2 <v, v(alpha)> <= (||v|| Gamma - margin) (1 + D/nu)."""
    return m.at_most(size - along, share * (size - margin) * (1 + spread * far / nu))


def short(m: Any, margin: Any, size: Any, far: Any, others: Any, t: Any, share: Any = 1) -> Any:
    """1 - margin <= ||v(alpha)|| D (T - 1) exp(-t)."""
    return m.at_most(1 - margin, share * (size * far * others * m.exp(-t)))


def _directed(m: Any, programme: svm.Programme) -> Any:
    """There is a solution, and it has a direction."""
    square = programme.margin_square
    return m.below(m.exact(0), m.exact(0) if square is None else m.values(square))


def turned_and_reached(m: Any, case: Attended, share: Any = 1, spread: Any = 1) -> Any:
    """The same, and 1 - margin <= ||v(alpha)|| D (T - 1) exp(-t) at v(alpha) and t p(alpha).

    Any t >= 0 will do; it is read off the prompt.
    """
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


def for_every_radius(m: Any, case: Rival, share: Any = 1) -> Any:
    """exp(-||q|| ||mean of Y_i x_i,alpha_i||) <= mean of exp(-Y_i q^T x_i,beta_i), beta in reach.

    The left side bounds the risk of heads as long as q on the selected tokens; prompts come as near
    to the right side as one likes where p(beta) exists.
    """
    one, q = case.chosen, m.values(case.q)
    n = len(one.y)
    least = m.exp(-share * m.norm(m.values(total(one))) * m.norm(q) / n)
    said = [m.at_most(m.exact(0), least)]
    for beta in (one, *others(one)):
        if svm.p_programme(beta).exists:
            risk = sum((m.exp(-(m.values(row) @ q)) for row in svm.v_rows(beta)), m.exact(0)) / n
            said.append(m.at_most(least, risk))
    return m.all_of(*said)


def to_second_order(m: Any, case: Any, lead: Any = 1, bend: Any = 1) -> Any:
    """Label margin <= ||h|| (Gamma - delta Q + D^2 Q^2/(2 Gamma)); other tokens score below 1.

    Scores are those under v(alpha), at most 1 - delta/Gamma; D is the largest distance of a token
    from the selected one, and Q the mean of 1 - s_i,alpha_i with the multipliers as weights.
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
    m: Any, margin: Any, size: Any, q: Any, lead: Any, far: Any, square: Any, bend: Any = 1
) -> Any:
    """Margin <= ||h|| Gamma (1 - lead Q + D^2 Q^2/(2 Gamma^2)), lead being delta/Gamma."""
    return m.at_most(margin, size * (1 - lead * q + bend * far * q * q / (2 * square)))


def to_second_order_along(m: Any, case: Attended, lead: Any = 1, bend: Any = 1) -> Any:
    """The same, and p(alpha) has a direction."""
    direction = _directed(m, svm.p_programme(case.chosen))
    return m.all_of(to_second_order(m, case, lead, bend), direction)


def tilted(case: Any, tau: Any = None) -> Any:
    """p_tau: the least prompt of logit margins max(0, 1 - tau (m_i - 1)), m_i that of v(alpha)."""
    one = chosen(case.rival)
    v = svm.v_programme(one)
    if in_torch(one.X):
        t = case.tau[:, None] if tau is None else tau.value
        margins = (v.rows * v.vector[:, None]).sum(-1)
        return svm.p_programme(one, (1.0 - t * (margins - 1.0)).clamp(min=0.0))
    t = rational(case.tau if tau is None else tau)
    margins = [dot(row, v.vector or [fmpq(0)] * len(row)) for row in v.rows]
    return svm.p_programme(one, [max(fmpq(0), 1 - t * (margin - 1)) for margin in margins])


def meets(case: Tilted) -> bool:
    """Whether q meets the constraints of p_tau."""
    programme, q = tilted(case), rationals(case.rival.q)
    pairs = zip(programme.rows, programme.bound, strict=True)
    return all(bool(dot(row, q) >= b) for row, b in pairs)


def nearest(m: Any, case: Tilted, share: Any = 1, tau: Any = None) -> Any:
    """v(alpha) exists; Pythagoras' inequality for q and p_tau."""
    if m.name != "tensors" and not svm.v_programme(case.chosen).exists:
        return m.below(m.exact(0), m.exact(0))  # there is no v(alpha), and no m_i
    return pythagoras(m, m.values(case.rival.q), svm.solved(m, tilted(case, tau)).vector, share)


def at_infinity(case: Selection) -> svm.Programme:
    """p': the least prompt of logit margins 1, 1/2 in tight idle inputs, 0 where not tight."""
    _, T, d = case.X.shape
    flags = zip(svm.v_programme(case).tight, margins.idle(case), strict=True)
    bounds = [fmpq(int(tight), 2 if idle else 1) for tight, idle in flags]
    found: svm.Programme = svm.solve(svm.p_rows(case), d, [b for b in bounds for _ in range(T - 1)])
    return found


def by_multipliers(m: Any, case: Attended, share: Any = 1, root: Any = 1) -> Any:
    """Bounds of q_i = 1 - s_i,alpha_i by ||v|| Gamma less the label margin; p' exists and is not 0.

    With gamma the largest label margin of another choice, margin - ||v|| gamma times sum_i w_i q_i
    is at most that, and times q_i of a tight idle input at most that and ||x_i,alpha_i|| times the
    root of 2 ||v||/Gamma times that.
    """
    one, v = case.chosen, svm.v_programme(case.chosen)
    squares, h = m.values([v.margin_square, margins.rival_square(one)]), m.values(case.h)
    size, rival = (m.sqrt(square * (h @ h)) for square in squares)
    margin, left = label_margin(m, case)
    short, lead, q = size - margin, share * (margin - rival), m.array(left)
    said = [m.at_most(lead * (m.values(margins.multipliers(one)) @ q), short)]
    for i, (tight, idle) in enumerate(zip(v.tight, margins.idle(one), strict=True)):
        if tight and idle:
            best = m.values(one.X[i, one.alpha[i]])
            turned = m.sqrt(2 * (best @ best) * m.norm(h) * m.maximum(short, m.exact(0)))
            bound = short + root * turned / m.sqrt(m.sqrt(squares[0]))
            said.append(m.at_most(lead * q[i], bound))
    return m.all_of(*said, m.above(m.norm(svm.solved(m, at_infinity(one)).vector), m.exact(0)))


def changes_support(case: Tilted) -> Iterator[Selection]:
    """The selections that differ in an input that supports v(alpha)."""
    one = case.chosen
    tight = np.array(svm.v_programme(one).tight)
    return (other for other in others(one) if (tight & (other.alpha != one.alpha)).any())


def nearest_along(m: Any, case: Tilted, share: Any = 1, tau: Any = None) -> Any:
    """The same, p_tau has a direction, and no other choice is as good or has another limit.

    The label margin of choices in reach is below Gamma where they differ in an input that supports
    v(alpha). See `of_same_head` and `with_means`.
    """
    if m.name == "tensors":  # which choices are in reach is decided in rationals
        return nearest(m, case, share, tau)
    v = svm.v_programme(case.chosen)
    said = [nearest(m, case, share, tau), _directed(m, tilted(case, tau))]
    for other in changes_support(case):
        if svm.p_programme(other).exists:
            reached = m.values(svm.v_programme(other).margin_square)
            said.append(m.below(reached, m.values(v.margin_square)))
    return m.all_of(*said, *of_same_head(m, case.chosen), *with_means(m, case.chosen))


def of_same_head(m: Any, one: Selection) -> Iterator[Any]:
    """The joint p-SVM has one direction for all choices in reach with v(alpha) as their head.

    They differ from alpha in inputs that are not tight, by tokens that score above 1; there are
    none where other tokens score below 1.
    """
    v = svm.v_programme(one)
    tight = [fmpq(int(flag)) for flag in v.tight]
    p = svm.p_programme(one, tight).vector
    for beta in others(one):
        rows = zip(svm.v_rows(beta), v.tight, beta.alpha != one.alpha, strict=True)
        if p and all(not flag and dot(v.vector, row) > 1 for row, flag, moved in rows if moved):
            q = svm.p_programme(beta, tight).vector
            if q and svm.p_programme(beta).exists:
                along, square = m.values(dot(p, q)), m.values(dot(p, p) * dot(q, q))
                yield m.at_most(m.sqrt(square), along)


def with_means(m: Any, one: Selection) -> Iterator[Any]:
    """Where inputs that are not tight have tokens of one key alone, they count by their means.

    No choice in the tight inputs that is in reach has a larger label margin than alpha then. There
    are no such inputs where p(alpha) exists and T > 1, and all label margins are below Gamma.
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
        return m.values(svm.solve([x if t else mean for x, t, mean in rows], d).margin_square)

    if not all(tight) and not any(any(row) for row in ranked(one, of_tight=False)):
        for beta in others(one):
            if svm.solve(ranked(beta, of_tight=True), d).exists:
                yield m.at_most(reached(beta), reached(one))


def below(case: Tilted) -> bool:
    """Other tokens score below 1 under v(alpha)."""
    one, v = case.chosen, svm.v_programme(case.chosen).vector
    moved = ((o, o.alpha != one.alpha) for o in others(one))
    return v is not None and all(
        dot(v, row) < 1
        for other, where in moved
        if where.sum() == 1
        for row in [svm.v_rows(other)[int(where.argmax())]]
    )


def weighted(case: Tilted) -> bool:
    """The multipliers that are found do so; data for which only others do are left out."""
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
    """Inputs of which one's selected token is moved so that its label margin grows.

    The prompt q is nearly p_tau or longer, or any vector where there is no p_tau.
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


@composite
def single(draw: st.DrawFn) -> Attended:
    """One input of two tokens."""
    drawn = draw(attended(inputs=1))
    one = drawn.chosen
    keep = [int(one.alpha[0]), draw(sizes(0, one.X.shape[1] - 1))]
    return Attended(Selection(one.X[:, keep], one.y, np.array([0]), one.W), drawn.p, drawn.h)


PATH = Statement(
    "mm/theorem-2",
    rests_on=("mm/joint-svm", "mm/assumption-b"),
    source=SOURCE,
    place="Theorem II, convergence of RP",
    printed="Consider the regularized path solutions (v_r, p_R) of (ERM) defined as (v_r, p_R) = "
    "argmin_{||v|| <= r, ||p|| <= R} L(v, p). Under Assumptions A and B, we have lim_{r -> "
    "infinity} v_r/r = v(alpha)/||v(alpha)||; and lim_{R -> infinity} p_R/R = "
    "p(alpha)/||p(alpha)||",
    variables=Records(Attended, attended()),
    conclusion=steered,
    cost=3,
    readings={
        "literal-1": Reading(
            f"{GRANTED}: for each radius R > 0, here ||p||, and every decreasing loss v_r/r tends "
            "to v(alpha)/||v(alpha)|| as r -> infinity; seen with one input of two tokens",
            expected="refuted, certified",
            under=(SINGLE, POSITIVE),
            variables=Records(Attended, single()),
            conclusion=with_fixed_prompt,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(MIXED, np.ones(2), np.ones(2)),
            ),
            siblings={
                "towards the other token": changed(
                    towards="other", examples=[Attended(MIXED, np.ones(2), np.ones(2))]
                )
            },
        ),
        "literal-2": Reading(
            f"{GRANTED}: for every loss of Assumption A, such as -x, v_r/r tends to "
            "v(alpha)/||v(alpha)|| as r and R tend to infinity; so no sum of labelled tokens that "
            "attention can reach, one of each input, is longer than the largest component of such "
            "sums along v(alpha)",
            expected="refuted, certified",
            under=(POSITIVE,),
            variables=Records(Selection, attended().map(chosen)),
            conclusion=for_linear_loss,
            examples=(PARALLEL, UNBALANCED),
            siblings={"half of it": changed(share="0.5", examples=[PARALLEL])},
        ),
        "amended": Reading(
            "Assumption B holds with nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 over all "
            "choices beta but alpha, w multipliers of v(alpha) of sum 1, and p(alpha) exists: all "
            "heads v and prompts p have ||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) "
            "(1 + D/nu), margin = min_i Y_i v^T x_i^p and D the largest distance of a token from "
            "the selected one, and v(alpha) and t p(alpha), t >= 0, have a margin of at least 1 - "
            "||v(alpha)|| D (T - 1) exp(-t); so v_r/r tends to v(alpha)/||v(alpha)|| for exp(-x), "
            "however r and R tend to infinity",
            expected="proved",
            proof="symbolic.mm.theorem_2:prove",
            under=(POSITIVE, P_EXISTS),
            conclusion=turned_and_reached,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(MIXED, np.array([1.0, -1.0]), np.array([2.0, 1.0])),
            ),
            siblings={"half of it": changed(share="0.5"), "D counted as 0": changed(spread=0)},
        ),
        "literal-3": Reading(
            f"{GRANTED}. Where p(alpha) exists, for each radius r > 0 and every loss of "
            "Assumption A, such as exp(-x), p_R/R tends to p(alpha)/||p(alpha)|| as R -> infinity; "
            "so no head of norm r, here q, has less risk on other tokens that attention can reach "
            "than any has on alpha",
            expected="refuted, certified",
            under=(POSITIVE, P_EXISTS),
            variables=Records(Rival, attended().map(lambda case: Rival(case.chosen, case.h))),
            conclusion=for_every_radius,
            examples=(Rival(PARALLEL, np.ones(1)), Rival(LOPSIDED, np.array([0.03125, -0.09375]))),
            siblings={"half of the length": changed(share="0.5")},
        ),
        "sharp-1": Reading(
            "Assumption B holds with nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 over all "
            "choices beta but alpha, w multipliers of v(alpha) of sum 1; p(alpha) exists, T > 1: "
            "other tokens score at most 1 - delta/Gamma under v(alpha), a delta > 0, and every "
            "head v and prompt p have margin <= ||v|| (Gamma - delta Q + D^2 Q^2/(2 Gamma)), Q the "
            "mean of 1 - s_i,alpha_i with weights w; so for exp(-x) there "
            "are r_0 and C with 1 - s_i,alpha_i <= C exp(-R/||p(alpha)||) at (v_r, p_R) for all "
            "r >= r_0 and large R, and p_R/R tends to p(alpha)/||p(alpha)||, p(alpha) not 0, "
            "whatever r >= r_0 does",
            expected="proved",
            proof="symbolic.mm.joint_path:prove_prompt",
            under=(POSITIVE, P_EXISTS, SEVERAL),
            conclusion=to_second_order_along,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(ACROSS, np.zeros(2), np.array([2.0, 1.0])),
            ),
            siblings={"twice delta": changed(lead=2), "D counted as 0": changed(bend=0)},
        ),
        "sharp-2": Reading(
            "without Assumption B, where T > 1, v(alpha) and p(alpha) without relaxation exist, "
            "other tokens score below 1 under v(alpha), and some multipliers w of v(alpha) of sum "
            "1 are positive on all tight inputs and have ||sum_i w_i Y_i x_i,beta_i|| < Gamma for "
            "all beta that differ from alpha in a tight input, so that such beta in reach have "
            "label margins below Gamma: let m_i be the label margins of v(alpha), tau >= 0 and "
            "p_tau, not 0, the least prompt of logit margins max(0, 1 - tau (m_i - 1)); every q "
            "with margins of at least these has ||q - p_tau||^2 <= ||q||^2 - ||p_tau||^2. So for "
            "exp(-x) p_R/R tends to p_tau/||p_tau|| as r and R tend to infinity and r/R to tau "
            "||v(alpha)||/||p_tau||, and to p(alpha) of the joint p-SVM, over its norm, as R and "
            "r/R tend to infinity",
            expected="proved",
            proof="symbolic.mm.joint_path:prove_ratio",
            under=(P_EXISTS, SEVERAL, BELOW, WEIGHTED, MEETS),
            variables=Records(Tilted, prompts(), climbed=True),
            conclusion=nearest_along,
            examples=(
                Tilted(Rival(ORTHOGONAL, np.ones(2)), 1.0),
                Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 1.0),
                Tilted(Rival(PUBLISHED[1], np.array([1.125, 0.125])), 0.5),
            ),
            siblings={
                "twice the left side": changed(share=2),
                "p(alpha) without relaxation": changed(tau="0"),
            },
        ),
        "sharp-3": Reading(
            "without Assumption B, idle inputs being those whose multiplier is 0 in all "
            "multipliers of v(alpha): let every choice but alpha have a label margin of at most "
            "gamma < Gamma, w be multipliers of sum 1, q_i = 1 - s_i,alpha_i, and short = Gamma - "
            "margin for a head of norm 1. Then (margin - gamma) sum_i w_i q_i <= short, and "
            "(margin - gamma) q_i <= short + ||x_i,alpha_i|| sqrt(2 short/Gamma) for tight idle "
            "inputs. So for exp(-x) v_r/r tends to v(alpha)/||v(alpha)|| as r and R tend to "
            "infinity, where p(alpha) without relaxation exists and T > 1. Then p_R/R tends to "
            "p(alpha)/||p(alpha)|| if no input is idle, as where Assumption B holds and attention "
            "can reach every choice. If (ln r)/R tends to 0 it tends to the direction of the least "
            "prompt of logit margins max(0, 1 - tau (m_i - 1)), m_i the label margins of v(alpha), "
            "where r/R tends to tau ||v(alpha)|| over the norm of that prompt, and to that of the "
            "joint p-SVM where r/R tends to infinity. But it tends to p'/||p'||, p' the least "
            "prompt of logit margins 1, of 1/2 in tight idle inputs and 0 in those that are not "
            "tight, if lim inf (ln r)/R >= 1/||p'||",
            expected="proved",
            proof="symbolic.mm.zero_multipliers:prove",
            under=(ALONE, P_EXISTS, SEVERAL),
            variables=Records(Attended, doubted().map(lambda c: Attended(c.chosen, c.p, c.h))),
            conclusion=by_multipliers,
            examples=(
                Attended(PARALLEL, np.array([2.0]), np.ones(1)),
                Attended(SLOW, np.array([4.0, -1.0]), np.array([1.0, 0.0])),
                Attended(TANGENT, np.array([64.0, -62.0]), np.array([1.0, 0.125])),
            ),
            siblings={
                "twice as much attention": changed(share=2),
                "tight idle inputs at first order": changed(root=0),
            },
        ),
    },
    hypotheses={
        ALONE: lambda case: margins.alone(case.chosen),
        SINGLE: lambda case: case.chosen.X.shape[:2] == (1, 2) and bool(case.p.any()),
        POSITIVE: positive,
        P_EXISTS: lambda case: svm.p_programme(chosen(case)).exists,
        SEVERAL: lambda case: case.chosen.X.shape[1] > 1,
        BELOW: below,
        WEIGHTED: weighted,
        MEETS: meets,
    },
    violating={
        P_EXISTS: [
            Attended(MIXED_FOR_EVER, np.ones(2), np.ones(2)),
            Tilted(Rival(INDISTINCT, np.array([-1.0, 0.0])), 1.0),
        ],
        SEVERAL: [
            Attended(ONE_TOKEN, np.ones(1), np.ones(1)),
            Tilted(Rival(ONE_TOKEN, np.ones(1)), 1.0),
        ],
        BELOW: [Tilted(Rival(HIGHER, np.array([1.0, 1.0])), 0.5)],
        WEIGHTED: [Tilted(Rival(RIVALLED, np.array([0.5, -0.5])), 1.0)],
        MEETS: [Tilted(Rival(PUBLISHED[1], np.array([1.0, 0.0])), 0.5)],
        ALONE: [Attended(select([[[1.0], [2.0]]], [1], [0]), np.zeros(1), np.ones(1))],
    },
)

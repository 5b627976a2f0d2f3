"""A lower bound of the gradient along a matrix M, so that it is not 0 at any W: linked proofs.

<-grad L, M> = sum_j p_j <A_j, M> is the mean of -l'(u) s_o (gamma_o - u) if M = V and all margins
of V are 1. It is at least the mean of -l'(u) c_i s_o (gamma_o - u)^2 if <A_j, M> = c_i lead_j.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    GRADIENT,
    HIGH,
    LIFT,
    NUMBER,
    OWNER,
    SETTING,
    SIDE,
    A,
    M,
    V,
    X,
    bounded_below,
    i,
    j,
    lead,
    not_stationary,
    q,
    solvable,
    x,
)
from attsvm.primitives.hypotheses import ALL_TIGHT, LINEAR_HEAD, TWO_SCORES, UNIQUE
from attsvm.primitives.query_hypotheses import QUERIES
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, some
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    by_definition,
    cite,
    conclude,
    cut,
    decide,
    one_of_sum,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, NORM, Term, as_term, least, most, substituted, total
from properties._support.suppositions import FALLING
from symbolic.attention_facts import (
    HERE,
    OWN,
    THEIRS,
    Attention,
    Mixing,
    Slope,
    attends,
    gradient,
    mixing,
    r,
    slope,
)
from symbolic.divergence_facts import LEAD, gains_of_leads
from symbolic.facts import product

DOWN = -GRADIENT(HERE)


def attention() -> tuple[Attention, Fact]:
    """Return attention at W, and that no rival scores more than the optimal token."""
    lower = setting(SETTING, "no score is above the best of its input")
    return attends(lower), lower


def norm_above(M_: Term) -> tuple[Fact, Fact]:
    """Return that ||grad L|| ||M|| >= <-grad L, M>, and that ||M|| >= 0."""
    (above,) = cite(CAUCHY_SCHWARZ, (), DOWN, M_)
    (_, turned), (size, square_) = cite(LENGTH, (), DOWN), cite(LENGTH, (), GRADIENT(HERE))
    same = decide(ge(NORM(GRADIENT(HERE)), NORM(DOWN)), turned, size, square_)
    length, _ = cite(LENGTH, (), M_)
    return decide(ge(NORM(GRADIENT(HERE)) * NORM(M_), DOWN @ M_), above, same, length), length


def _tight(a: Attention | Mixing, down: Slope) -> tuple[Fact, Fact]:
    """Return that <-grad L, V> is the mean of its parts, and the sum of s_j lead_j of an input."""
    p, n, fall = down.p(j, K), INV(NUMBER), FALL(a.u(i, K))
    u, s_o = a.u(i, K), a.s_o(i, K)
    (tight,) = suppose(ALL_TIGHT)
    each = decide(eq(p * (A(j) @ V), p), scale(tight, p))
    part = fall * s_o * (BEST(i) - u)
    sums = decide(
        eq(total(p, j, THEIRS), n * part),
        *(add_up(down.p_is, j, THEIRS), scale(a.one, fall * n * u), scale(a.mean, fall * n)),
        degree=1,
    )
    moved = decide(
        eq(DOWN @ V, n * total(part, i)),
        *(at(down.along, {M: V}), add_up(each, j), regroup(p, j, OWNER), add_up(sums, i)),
    )
    return moved, decide(
        eq(BEST(i) - u, total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )


@linked
def prove_bound() -> str:
    """Prove that ||grad L|| ||V|| >= (1/n) sum_i (-l') s_o sum_j s_j (gamma_o - gamma_j)."""
    known = gradient()
    a = mixing()
    moved, below = _tight(a, slope(a, known))
    size, _ = norm_above(V)
    u, s_o = a.u(i, K), a.s_o(i, K)
    lost = total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)
    parts = add_up(scale(below, FALL(u) * s_o), i)
    bound = decide(
        ge(NORM(GRADIENT(HERE)) * NORM(V), INV(NUMBER) * total(FALL(u) * s_o * lost, i)),
        *(size, moved, scale(parts, INV(NUMBER))),
        degree=1,
    )
    (goal,) = present(bounded_below(), "what is shown").sequents
    first = at(bound, {K: as_term(0)})
    conclude(by_definition(goal.proposition, [*a.means], first), goal)
    return "for every differentiable loss and any n, T, d"


def loss_falls(a: Attention) -> Fact:
    """Return that -l'(u) > 0."""
    (falling,) = suppose(FALLING)
    highest = decide(ge(HIGH, a.u(i, K)), a.below_best, a.best_high)
    return cut(at(falling, {x: a.u(i, K)}), a.above_lowest, highest)


def _farthest(a: Attention, below: Fact, lower: Fact) -> tuple[Term, Fact]:
    """Return an input, and that gamma_o - u > 0 there, as some input has two scores."""
    some_lead, rival = suppose(TWO_SCORES)
    pick, reached = attained("farthest", most(lead(r.term), r), rival)
    up = add_up(beyond("most", LEAD, j), j)
    ahead = decide(gt(lead(pick()), 0), up, some_lead, rival, reached)
    term = one_of_sum(product(a.s_positive, decide(ge(LEAD, 0), lower)), j, OWNER)
    behind = BEST(OWNER(pick())) - a.u(OWNER(pick()), K)
    fact = decide(
        gt(behind, 0),
        *(at(below, {i: OWNER(pick())}), at(term, {j: pick()}), at(a.s_positive, {j: pick()})),
        ahead,
    )
    return OWNER(pick()), fact


def _moving(along: Term, moved: Fact, each: Fact, there: Fact, own: Term, over: Fact) -> Fact:
    """Return that the gradient at W(0) is not 0.

    Args:
        along: a matrix M.
        moved: <-grad L, M> is at least 1/n times the sum of the parts of all inputs.
        each: the part of the input i is at least 0.
        there: the part of one input is positive.
        own: this input.
        over: 1/n is positive.
    """
    size, length = norm_above(along)
    moving = decide(
        gt(NORM(GRADIENT(HERE)), 0),
        *(size, moved, over, at(one_of_sum(each, i), {i: own}), there, length),
    )
    return at(moving, {K: as_term(0)})


@linked
def prove() -> str:
    """Prove that the gradient at W is not 0 if some input has two different scores."""
    a, lower = attention()
    moved, below = _tight(a, slope(a, gradient()))
    falls, (_, over) = loss_falls(a), cite(RECIPROCAL, [a.input], NUMBER)
    own, behind = _farthest(a, below, lower)
    fall, s_o, apart = FALL(a.u(i, K)), a.s_o(i, K), BEST(i) - a.u(i, K)
    each = product(falls, a.s_o_positive, decide(ge(apart, 0), a.below_best))
    there = {i: own}
    weight = substituted(fall * s_o, there)
    some = decide(gt(weight, 0), at(falls, there), at(a.s_o_positive, there))
    some = decide(gt(substituted(fall * s_o * apart, there), 0), some, behind)
    conclude(_moving(V, moved, each, some, own, over), *not_stationary().sequents)
    return "for every loss with l' < 0 and any n, T, d: -<grad L(W), W^mm> is positive"


def moves_along_leads(along: Term, leads: Fact, side: Fact) -> Fact:
    """Return that the gradient at W(0) is not 0, as some input has two scores.

    Args:
        along: a matrix M.
        leads: <A_j, M> is c_i lead_j for the input i of j.
        side: c_i > 0.
    """
    a, lower = attention()
    down, falls = slope(a, gradient()), loss_falls(a)
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    below = decide(
        eq(BEST(i) - a.u(i, K), total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    c = side.proposition.term
    gained = gains_of_leads(a, down, (over, falls, side), below, leads, c)
    own, behind = _farthest(a, below, lower)
    fall, s_o, apart = FALL(a.u(i, K)), a.s_o(i, K), BEST(i) - a.u(i, K)
    part, there = fall * c * s_o * apart**2, {i: own}
    moved = decide(
        ge(DOWN @ along, INV(NUMBER) * total(part, i)), at(down.along, {M: along}), gained
    )
    each = product(falls, side, a.s_o_positive, square(apart))
    some = decide(gt(substituted(fall * c, there), 0), at(falls, there), at(side, there))
    some = decide(gt(substituted(fall * c * s_o, there), 0), some, at(a.s_o_positive, there))
    wide = decide(gt(substituted(apart**2, there), 0), behind)
    some = decide(gt(substituted(part, there), 0), some, wide)
    return _moving(along, moved, each, some, own, over)


@linked
def prove_linear() -> str:
    """Prove that the gradient is not 0 for a linear head, independent queries and two scores."""
    (lifted,), (side, _) = suppose(LINEAR_HEAD), suppose(QUERIES)
    moving = moves_along_leads(LIFT(SIDE), at(lifted, {q: SIDE}), side)
    conclude(moving, *not_stationary().sequents)
    return "for every loss with l' < 0, and any tokens"


@linked
def prove_solvable() -> str:
    """Prove that the Att-SVM of a linear head with unique optimal tokens has a solution.

    v q^T over its least margin, which is positive, has margins of at least 1.
    """
    stated = solvable()
    (reaches, goal), rivals = stated.sequents, assume(some(j))
    (lower,), (lifted,), (side, _) = suppose(UNIQUE), suppose(LINEAR_HEAD), suppose(QUERIES)
    along, leads = LIFT(SIDE), at(lifted, {q: SIDE})
    positive = decide(gt(A(j) @ along, 0), leads, at(side, {i: OWN}), lower)
    lowest = least(A(r) @ along, r)
    unit, inverse = cite(
        RECIPROCAL, [bounds(at(positive, {j: r}), "least", A(r) @ along, r, rivals)], lowest
    )
    reached = along * INV(lowest)
    each = decide(ge(A(j) @ reached, 1), inverse, beyond("least", A(j) @ along, j), unit)
    met = bounds(at(each, {j: r}), "least", A(r) @ reached, r, rivals)
    words = "V has margins of at least 1 if some matrix has"
    margins = cut(at(setting(stated.setting, words), {X: reached}), met)
    conclude(margins, reaches)
    (size,), (length, _) = cite(CAUCHY_SCHWARZ, (), A(j), V), cite(LENGTH, (), A(j))
    far = decide(gt(NORM(V), 0), size, margins, length, rivals)
    conclude(cite(RECIPROCAL, [far], NORM(V))[1], goal)
    return "for any n, T, d and any tokens, by v q^T over its least margin"

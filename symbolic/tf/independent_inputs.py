"""Inputs of independent queries: a solution for every choice, and no stationary point.

On `tf/benign-landscape`, readings amended-1 and amended-2. For a query z that is no combination of
the others some q has <q, z> = 1 and <q, z_k> = 0 for them, so that w q^T moves one input alone.
"""

from attsvm.primitives.descent_letters import (
    BEST,
    DUAL,
    FALL,
    GAMMA,
    NUMBER,
    OPTIMAL,
    OUTER,
    OWNER,
    SETTING,
    TOKEN,
    A,
    M,
    X,
    i,
    j,
    lead,
    not_stationary,
    peer,
    q,
    w,
    x,
)
from attsvm.primitives.query_hypotheses import QUERIES
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL, SIZE
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    conclude,
    cut,
    decide,
    one_of_sum,
    picked,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import ABS, INV, NORM, Term, as_term, same, substituted, total
from properties._support.token_letters import (
    CUT,
    DIFFERENCE,
    FIRST,
    OF,
    OTHER,
    OWN_QUERY,
    ROW,
    SEPARATOR,
    SPREAD,
    all_solvable,
    c,
    t,
)
from properties.tf.benign_landscape.instances import AFFINE, OWN, SCORES
from properties.tf.benign_landscape.stationary_points import APART
from symbolic.attention_facts import OWN as MINE
from symbolic.attention_facts import THEIRS, Attention, gradient, slope
from symbolic.facts import product
from symbolic.tf.all_support_no_stationary import DOWN, attention, loss_falls, norm_above


@linked
def prove_feasible() -> str:
    """Prove that sum_i w_i q_i^T has all margins 1, where <x_alpha - x, w_i> = 1."""
    stated = all_solvable()
    ((goal,), (either, lifted, exists)) = (
        stated.sequents,
        (setting(stated.setting, k) for k in stated.setting),
    )
    (_, dual), (spread,) = suppose(QUERIES), suppose(AFFINE)
    whole, other = total(OUTER(SPREAD(c, i), DUAL(i)), i), OTHER(c, t)
    part = DIFFERENCE(c, t) @ SPREAD(c, i)
    each = at(lifted, {w: SPREAD(c, i), q: DUAL(i)})
    alone = scale(at(dual, {peer: OF(t)}), part)
    margin = decide(
        eq(ROW(c, t) @ whole, other),
        *(add_up(each, i), add_up(alone, i), picked(part, i, OF(t)), spread),
    )
    apart = 1 - ROW(c, t) @ whole
    _, square_ = cite(SIZE, (), apart)
    none = decide(eq(other * apart, 0), scale(margin, other), either)
    gone = scale(none, other * apart)
    gone = decide(eq(other * ABS(apart), 0), scale(square_, other**2), gone)
    met = add_up(decide(eq(other * (ABS(apart) + apart), 0), none, gone), t)
    reached = cut(at(exists, {X: whole}), met)
    other_token = assume(gt(other, 0))
    one = decide(eq(other, 1), either, other_token)
    conclude(decide(goal.proposition, reached, one), goal)
    return "for any n, T and d; such data have d >= max(n, T - 1)"


def _behind(a: Attention, lower: Fact) -> Fact:
    """Return that the attended score of the first input is below the best, as two scores differ."""
    below = decide(
        eq(BEST(i) - a.u(i, K), total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    term = one_of_sum(product(a.s_positive, decide(ge(lead(j.term), 0), lower)), j, OWNER)
    goal = gt(BEST(i) - a.u(i, K), 0)
    none = assume(goal.denied().at({i: MINE}))
    level = decide(ge(0, lead(j.term)), at(below, {i: MINE}), term, none, a.s_positive)
    (differ,) = suppose(SCORES)
    there = {i: FIRST}
    sums = at(add_up(level, j, THEIRS), there)
    goal = goal.at(there)
    return cases(assume(goal), decide(goal, sums, differ), goal)


def _sides(a: Attention, u: Term, one: Fact) -> tuple[Fact, Fact]:
    """Return that sum_j s_j (gamma_j - u) (a_j - b) >= 0 in the first input, and a_o > b.

    a_j = <w, x_j> for the w that separates the tokens that score above u.
    """
    above, below, best = (at(fact, {x: u}) for fact in suppose(APART))
    condition = gt(GAMMA(j), u)
    side = TOKEN(j) @ SEPARATOR(u) - CUT(u)
    goal = ge((GAMMA(j) - u) * side, 0)
    yes, no = assume(condition), assume(condition.denied())
    term = cases(decide(goal, yes, above), decide(goal, no, below), condition)
    sums = at(add_up(product(a.s_positive, term), j, THEIRS), {i: FIRST})
    return cut(sums, one), best


@linked
def prove_no_stationary_point() -> str:
    """Prove that no W is stationary if some w separates tokens that score above u from the others.

    Along w q^T the risk has a slope that is not 0.
    """
    a, lower = attention()
    down, (_, over) = slope(a, gradient()), cite(RECIPROCAL, [a.input], NUMBER)
    own, own_one = suppose(OWN)
    fall = at(loss_falls(a), {i: FIRST})
    one = decide(eq(same(FIRST, FIRST), 1), at(own, {i: FIRST}), own_one)
    u, there = a.u(FIRST, K), {i: FIRST}
    behind = _behind(a, lower)
    sums, best = _sides(a, u, one)
    along = OUTER(SEPARATOR(u), OWN_QUERY)
    lead_of = (OPTIMAL(MINE) - TOKEN(j)) @ SEPARATOR(u)
    words = "A_j has the product <x_opt - x_j, w> <z, q> with w q^T"
    rows = at(setting(SETTING, words), {w: SEPARATOR(u), q: OWN_QUERY})
    p = down.p(j, K)
    each = decide(
        eq(p * (A(j) @ along), p * lead_of * same(MINE, FIRST)),
        *(scale(rows, p), scale(at(own, {i: MINE}), p * lead_of)),
        degree=1,
    )
    part = total(p * (OPTIMAL(i) - TOKEN(j)) @ SEPARATOR(u), j, THEIRS)
    moved = decide(
        eq(DOWN @ along, substituted(part, there)),
        *(at(down.along, {M: along}), add_up(each, j)),
        *(regroup(p * lead_of * same(MINE, FIRST), j, OWNER), picked(part, i, FIRST)),
    )
    n, s_o, f = INV(NUMBER), a.s_o(FIRST, K), FALL(u)
    ahead = OPTIMAL(FIRST) @ SEPARATOR(u) - CUT(u)
    spelled = at(
        add_up(scale(down.p_is, (OPTIMAL(MINE) - TOKEN(j)) @ SEPARATOR(u)), j, THEIRS), there
    )
    weights, mean = (at(fact, there) for fact in (a.one, a.mean))
    steep = decide(gt(f * n, 0), fall, over)
    best = cut(best, behind)
    first = decide(gt(s_o * (BEST(FIRST) - u), 0), at(a.s_o_positive, there), behind)
    some = decide(gt(s_o * (BEST(FIRST) - u) * ahead, 0), first, best)
    rising = decide(gt(some.proposition.term + sums.proposition.term, 0), some, sums)
    down_ = decide(
        gt(DOWN @ along, 0),
        *(steep, rising, moved, spelled, scale(weights, f * n * u * ahead)),
        scale(mean, f * n * ahead),
    )
    size, length = norm_above(along)
    moving = decide(gt(NORM(-DOWN), 0), size, down_, length)
    conclude(at(moving, {K: as_term(0)}), *not_stationary().sequents)
    return "for every loss with l' < 0 and any n, T and d: margins of the other inputs are 0"

"""Points of a ball that are as good as the SVM point are near it by a best constant: linked facts.

On `tf/theorem-2:sharp`; letters are those of `properties.tf.theorem_2.near_letters`. G is
n (L(rho W^mm) - L_*), and p_j is the share of the multiplier lambda_j in the sum of all.

1. Each input of W costs G at most, so its score is at most G/m_i below the best one, and
   s_o >= 1 - G/(m_i d_i). Hence G >= sum_j c_j exp(-m_j) (`costs`).
2. exp(y) >= 1 + y for y = ln(c_j/p_j) - m_j - ln G gives, times p_j and summed,
   sum_j p_j m_j >= sum_j p_j ln(c_j/p_j) - ln G = rho - kappa.
3. So <W^mm, W> = sum_j lambda_j m_j is at least (rho - kappa) ||W^mm||^2, and
   ||W - rho W^mm||^2 is at most 2 rho kappa ||W^mm||^2.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    FALLS,
    HIGH,
    LOSS,
    LOW,
    NUMBER,
    OWNER,
    A,
    V,
    W,
    X,
    i,
    j,
    lead,
    margin,
    risk,
    second,
    x,
)
from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
    RISES,
)
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    one_of_sum,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, LOG, NORM, as_term, total
from properties.tf.theorem_2 import near_letters as letters
from properties.tf.theorem_2 import near_optimal_points as points
from properties.tf.theorem_2.near_letters import (
    COST,
    FLAT,
    KAPPA,
    NEAR,
    POINT,
    RHO,
    SHARPER,
    WORST,
    least_part,
    weighted,
)
from symbolic.attention_facts import OWN, THEIRS, attends, of_second, over_own
from symbolic.facts import conclude_each, power, product

E = EXP(-margin(j.term, W(0)))
"""exp(-m_j) at W."""


def known(words: str) -> Fact:
    """Return a fact of the setting."""
    return setting(SHARPER, words)


def costs(rival: Fact, cheaper: Fact) -> tuple[Fact, Fact, Fact]:
    """Prove that G is positive, that all c_j are, and that G >= sum_j c_j exp(-m_j)."""
    (lower,), (falling,), (small,) = (
        suppose(h) for h in (UNIQUE, NEGATIVE_SLOPE, points.SMALL_COST)
    )
    worst = (known("no score is below the worst of its input"), known("nor is the best"))
    a = attends(lower, worst)
    slope = known("fall is the negative slope of the loss")
    flat_low, flat_high = known("it is not below the worst"), known("it is not above the best")
    low = known("no worst score is below the lowest")
    b, first, u, best = FALL(FLAT(i)), {K: as_term(0)}, a.u(i, 0), BEST(i)
    high = decide(ge(HIGH, FLAT(i)), flat_high, a.best_high)
    b_positive = cut(at(falling, {x: FLAT(i)}), decide(ge(FLAT(i), LOW), flat_low, low), high)
    # an input of W costs at least m times its deficit, and G at most
    flat = known("no |l'| between the scores of an input is less than at one score")
    above = decide(ge(x, WORST(i)), assume(ge(x, u)), at(a.above_lowest, first))
    below_best = at(a.below_best, first)
    (drop,) = cite(
        RISES, [slope, below_best, cut(flat, above)], -LOSS(x) - b * x.term, x, FALLS, u, best
    )
    part = LOSS(u) - LOSS(best)
    loses = decide(ge(part, 0), drop, b_positive, below_best)
    unit, _ = cite(RECIPROCAL, [a.input], NUMBER)
    mean = by_definition(eq(risk(W(0)), total(LOSS(u), i) * INV(NUMBER)), [a.means[0]])
    whole = decide(
        ge(COST, total(part, i)),
        *(known("G is n (L(rho W^mm) - L_*)"), product(cheaper, a.input), scale(mean, NUMBER)),
        scale(unit, total(part, i)),
        degree=1,
    )
    each = decide(ge(COST, part), whole, one_of_sum(loses, i))
    by_b, over_b = cite(RECIPROCAL, [b_positive], b)
    close = decide(
        ge(COST * INV(b), best - u),
        product(each, over_b),
        product(drop, over_b),
        scale(by_b, best - u),
    )
    # so it costs at least b_i times its deficit
    near, steep = (
        FALL(NEAR(i)),
        known("no |l'| within G/m below the best score is less than at one score"),
    )
    within = cut(steep, decide(ge(x, best - COST * INV(b)), assume(ge(x, u)), close))
    (drop_near,) = cite(
        RISES, [slope, below_best, within], -LOSS(x) - near * x.term, x, FALLS, u, best
    )
    behind = decide(
        eq(best - u, total(a.s(j, 0) * lead(j.term), j, THEIRS)),
        *(at(a.mean, first), scale(at(a.one, first), best)),
    )
    # attention to the optimal token
    largest, lowest, led = of_second(a, a.lower)
    gap, s_o, mine = BEST(OWN) - second(OWN), a.s_o(OWN, 0), {**first, i: OWN}
    short = at(over_own(product(a.s_positive, largest)), first)
    score = at(a.mean, mine), scale(at(a.one, mine), second(OWN))
    short = decide(ge(BEST(OWN) - a.u(OWN, 0), gap * (1 - s_o)), short, *score)
    own = {i: OWN}
    b_own = at(b_positive, own)
    heavy = decide(gt(least_part(OWN), 0), b_own, led)
    by_part, over_part = cite(RECIPROCAL, [heavy], least_part(OWN))
    lost = decide(
        ge(COST, least_part(OWN) * (1 - s_o)),
        at(each, own),
        at(drop, own),
        product(b_own, short),
        degree=1,
    )
    room = 1 - COST * INV(least_part(OWN))
    attended = decide(ge(s_o, room), product(lost, over_part), scale(by_part, 1 - s_o), degree=1)
    some_room = decide(gt(room, 0), small, over_part, by_part)
    # c_j is positive, as the score of least |l'| is at least the lowest
    limit, top = (
        known("this score is not further below the best"),
        known("it is not above the best one"),
    )
    deep = decide(
        ge(gap, COST * INV(FALL(FLAT(OWN)))),
        product(small, at(over_b, own)),
        scale(at(by_b, own), gap),
        degree=1,
    )
    low_own = decide(ge(NEAR(OWN), LOW), at(limit, own), deep, lowest, at(low, own))
    high_own = decide(ge(HIGH, NEAR(OWN)), at(top, own), at(a.best_high, own))
    near_own = cut(at(falling, {x: NEAR(OWN)}), low_own, high_own)
    some = decide(gt(FALL(NEAR(OWN)) * lead(j.term), 0), near_own, a.lower)
    c = weighted(j.term)
    some_c = decide(gt(c, 0), some, some_room)
    term = decide(
        ge(FALL(NEAR(OWN)) * a.s(j, 0) * lead(j.term), c * E),
        *(
            scale(at(a.means[2], first), FALL(NEAR(OWN)) * lead(j.term)),
            product(some, attended, power(-margin(j.term, W(0)))),
        ),
        degree=1,
    )
    sums = decide(
        ge(part, total(c * E, j, THEIRS)),
        drop_near,
        scale(behind, near),
        add_up(term, j, THEIRS),
        degree=1,
    )
    enough = decide(
        ge(COST, total(c * E, j)), whole, add_up(sums, i), regroup(c * E, j, OWNER), degree=1
    )
    heavy = decide(gt(c * E, 0), some_c, power(-margin(j.term, W(0))))
    return decide(gt(COST, 0), enough, add_up(heavy, j, None, rival)), some_c, enough


@linked
def prove() -> str:
    """Prove that ||W/R - U||^2 <= 2 kappa/rho, if G is below m_i d_i and L(W) <= L(V)."""
    claim = present(letters.closest(), "a claim")
    (rival,), (meets, *_) = suppose(SEVERAL_TOKENS), suppose(FEASIBLE)
    inside_, cheaper = suppose(points.GOOD)
    some_cost, some_c, enough = costs(rival, cheaper)
    weight, sums, tight = map(known, MULTIPLIERS)
    forward = known("rho is positive")
    (reach,), (size, _) = cite(CAUCHY_SCHWARZ, (), A(j), V), cite(LENGTH, (), A(j))
    exists = decide(gt(NORM(V), 0), meets, reach, size, rival)
    held = decide(eq(V @ V, total(WEIGHT(j), j)), at(sums, {X: V}), add_up(tight, j))
    all_, m = total(WEIGHT(j), j), margin(j.term, W(0))
    some = decide(gt(all_, 0), held, cite(LENGTH, (), V)[1], exists)
    unit, over = cite(RECIPROCAL, [some], all_)
    p, c = WEIGHT(j) * INV(all_), weighted(j.term)
    share = product(weight, over)
    # p_j (1 + ln(c_j/p_j) - m_j - ln G) is at most c_j exp(-m_j)/G
    log, log_G = LOG(c * INV(p)), LOG(COST)
    q = EXP(-log_G)
    (is_G,) = cite(LOGARITHM, [some_cost], COST)
    (one,) = cite(EXPONENTIAL_OF_SUM, (), log_G, -log_G)
    inverse = decide(eq(COST * q, 1), one, scale(is_G, q))
    condition = gt(p, 0)
    yes, no = assume(condition), assume(condition.denied())
    by_p, over_p = cite(RECIPROCAL, [yes], p)
    (is_log,) = cite(LOGARITHM, [decide(gt(c * INV(p), 0), some_c, over_p)], c * INV(p))
    _, line = cite(EXPONENTIAL, (), log - m - log_G)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), log, -m - log_G)
    (rest,) = cite(EXPONENTIAL_OF_SUM, (), -m, -log_G)
    goal = ge(c * E * q, p * (1 + log - m - log_G))
    there = decide(
        goal,
        *(product(yes, line), scale(law, p), scale(rest, p * EXP(log)), scale(is_log, p * E * q)),
        scale(by_p, c * E * q),
        degree=1,
    )
    none = decide(eq(p, 0), no, share)
    nothing = product(some_c, power(-m), power(-log_G))
    zero = decide(goal, nothing, scale(none, 1 + log - m - log_G), degree=1)
    each = add_up(cases(there, zero, condition), j)
    mean = decide(
        ge(total(WEIGHT(j) * m, j) * INV(all_), RHO - KAPPA),
        *(each, product(enough, power(-log_G)), inverse, scale(unit, 1 - log_G)),
        degree=1,
    )
    mean = decide(
        ge(total(WEIGHT(j) * m, j), all_ * (RHO - KAPPA)),
        *(product(mean, some), scale(unit, total(WEIGHT(j) * m, j))),
        degree=1,
    )
    near = decide(
        ge(2 * KAPPA * RHO * (V @ V), POINT @ POINT),
        *(
            product(mean, forward),
            scale(at(sums, {X: W(0)}), RHO),
            scale(held, RHO * (RHO - KAPPA)),
        ),
        inside_,
        degree=1,
    )
    conclude_each(claim, exists, some_cost, some_c, near)
    return "for every loss with l' < 0 continuous, any n, T, d, and any W and rho as supposed"

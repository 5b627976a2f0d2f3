"""Points of a ball that are as good as the SVM point rho W^mm are near it, by linked facts.

On `tf/theorem-2:amended-2`; letters are those of `properties.tf.theorem_2.near_letters`, and
docs/proofs/near_optimal_points.md has the proof.
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
    M,
    V,
    W,
    X,
    i,
    j,
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
    beyond,
    by_definition,
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
    FLAT,
    GAMMA_OF_SCORES,
    POINT,
    RHO,
    SETTING,
    STEEP,
    WHOLE,
    WORST,
    least_part,
)
from symbolic.attention_facts import OWN, attends, loses_little, of_second, over_own
from symbolic.facts import conclude_each, exponents_rise, power, product, tangent


@linked
def prove() -> str:
    """Prove that ||W/R - U||^2 <= 2 ln(2 Gamma)/rho, if rho >= ln(2 Gamma) and L(W) <= L(V)."""
    claim = present(letters.close(), "a claim")
    weight, sums, tight = (setting(SETTING, words) for words in MULTIPLIERS)
    moved, worst, worst_best, low, flat, flat_low, flat_high, steep = (
        setting(SETTING, words)
        for words in (
            "W(1) is rho W^mm",
            "no score is below the worst of its input",
            "nor is the best",
            "no worst score is below the lowest",
            "no |l'| between the scores of an input is less than at one score",
            "it is not below the worst",
            "it is not above the best",
            "none is more than at another score",
        )
    )
    (lower,), (rival,), (meets, *_) = suppose(UNIQUE), suppose(SEVERAL_TOKENS), suppose(FEASIBLE)
    (falling,), (large,) = suppose(NEGATIVE_SLOPE), suppose(points.LARGE)
    inside_, cheaper = suppose(points.GOOD)
    a = attends(lower, (worst, worst_best))
    slope = setting(SETTING, "fall is the negative slope of the loss")
    # bounds of |l'| and of score gaps, by input
    b, top, gap = FALL(FLAT(i)), FALL(STEEP(i)), BEST(OWN) - second(OWN)
    high = decide(ge(HIGH, FLAT(i)), flat_high, a.best_high)
    b_positive = cut(at(falling, {x: FLAT(i)}), decide(ge(FLAT(i), LOW), flat_low, low), high)
    steeper = cut(at(steep, {x: FLAT(i)}), flat_low, flat_high)
    top_positive = decide(ge(top, 0), b_positive, steeper)
    largest, below, led = of_second(a, a.lower)
    b_own, top_own, steeper = (at(f, {i: OWN}) for f in (b_positive, top_positive, steeper))
    part = decide(gt(least_part(OWN), 0), b_own, led)
    # Gamma m d is at least the sum of M D over rivals, and Gamma at least 1
    unit, _ = cite(RECIPROCAL, [part], least_part(OWN))
    enough = decide(
        ge(GAMMA_OF_SCORES * least_part(OWN), WHOLE),
        *(beyond("most", WHOLE * INV(least_part(OWN)), j), part, scale(unit, WHOLE)),
    )
    wide = at(worst_best, {i: OWN})
    parts = product(steeper, wide), product(b_own, below), one_of_sum(product(top_own, wide), j)
    own = decide(ge(WHOLE, least_part(OWN)), *parts, degree=1)
    one = decide(ge(GAMMA_OF_SCORES, 1), enough, own, part, rival)
    spread = LOG(2 * GAMMA_OF_SCORES)
    (is_log,) = cite(LOGARITHM, [decide(gt(2 * GAMMA_OF_SCORES, 0), one)], 2 * GAMMA_OF_SCORES)
    line = tangent(as_term(0), spread)
    forward = decide(ge(RHO, 0), large, is_log, one, line)
    # n (L(rho W^mm) - L_*) is at most that sum times exp(-rho)

    def within(fact: Fact, k: int) -> Fact:
        """Restrict a fact on -l' at the scores of an input to those from u to the best."""
        above = assume(ge(x, a.u(i, k))), at(a.above_lowest, {K: as_term(k)})
        return cut(fact, decide(ge(x, WORST(i)), *above))

    far = at(moved, {M: A(j)})
    far = decide(ge(margin(j.term, W(1)), RHO), far, forward, meets)
    costs = loses_little(a, slope, 1, far, worst, top_positive, within(steep, 1))
    body = FALL(STEEP(OWN)) * (BEST(OWN) - WORST(OWN))
    # an input of W loses at least m d (1 - s_o)
    first, u = {K: as_term(0)}, a.u(i, 0)
    rises, best = -LOSS(x) - b * x.term, at(a.below_best, first)
    (drop,) = cite(RISES, [slope, best, within(flat, 0)], rises, x, FALLS, u, BEST(i))
    loses = decide(ge(LOSS(u) - LOSS(BEST(i)), 0), drop, b_positive, best)
    loses = at(one_of_sum(loses, i), {i: OWN})
    s_o, E = a.s_o(OWN, 0), EXP(-margin(j.term, W(0)))
    mine = {**first, i: OWN}
    behind = at(over_own(product(a.s_positive, largest)), first)
    score = at(a.mean, mine), scale(at(a.one, mine), second(OWN))
    behind = decide(ge(BEST(OWN) - a.u(OWN, 0), gap * (1 - s_o)), behind, *score)
    behind = product(b_own, behind)
    unit, _ = cite(RECIPROCAL, [a.input], NUMBER)
    sums_ = [total(LOSS(a.u(i, k)), i) for k in (0, 1)]
    risks = [
        scale(by_definition(eq(risk(W(k)), sums_[k] / NUMBER), [a.means[0]]), NUMBER)
        for k in (0, 1)
    ]
    cheaper = decide(
        ge(sums_[1], sums_[0]), cheaper, a.input, *risks, *(scale(unit, y) for y in sums_)
    )
    lost = decide(
        ge(WHOLE * EXP(-RHO), least_part(OWN) * (1 - s_o)),
        *(add_up(costs, i), scale(regroup(body, j, OWNER), EXP(-RHO)), cheaper, loses),
        *(at(drop, {i: OWN}), behind),
        degree=1,
    )
    # so that exp(-m_j) is at most 2 Gamma exp(-rho)
    pw, term = power(-margin(j.term, W(0))), at(one_of_sum(a.s_positive, j, OWNER), first)
    left = decide(ge(1, s_o * (1 + E)), at(a.one, mine), term, at(a.means[2], first))
    whole = decide(ge(1 + E, 0), pw)
    parts = product(lost, whole), product(part, left), product(enough, power(-RHO), whole)
    goal = ge(GAMMA_OF_SCORES * least_part(OWN) * EXP(-RHO) * (1 + E), least_part(OWN) * E)
    odds = decide(ge(GAMMA_OF_SCORES * EXP(-RHO) * (1 + E), E), *parts, part)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), spread, -RHO)
    D = EXP(spread - RHO)
    twice = decide(eq(D, 2 * GAMMA_OF_SCORES * EXP(-RHO)), law, scale(is_log, EXP(-RHO)))
    small = decide(ge(1, D), tangent(as_term(0), spread - RHO), large)
    few = decide(ge(D, E), odds, scale(twice, 1 + E), small, pw)
    margins = exponents_rise(-margin(j.term, W(0)), spread - RHO, few)
    # <W^mm, W> is the sum of multipliers times margins
    along = add_up(product(weight, margins), j)
    held = decide(eq(V @ V, total(WEIGHT(j), j)), at(sums, {X: V}), add_up(tight, j))
    parts = along, at(sums, {X: W(0)}), scale(held, RHO - spread)
    goal = ge(2 * spread * RHO * (V @ V), POINT @ POINT)
    near = decide(goal, forward, *parts, inside_)
    (reach,), (size, _) = cite(CAUCHY_SCHWARZ, (), A(j), V), cite(LENGTH, (), A(j))
    exists = decide(gt(NORM(V), 0), meets, reach, size, rival)
    conclude_each(claim, exists, part, near)
    return "for every loss with l' < 0 continuous, any n, T, d and rho >= log(2 Gamma)"

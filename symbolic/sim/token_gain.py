"""A step on a falling loss raises <X, X^mm> under either part of assumption 3.10, by linked facts.

On `sim/token-separation`, readings amended-3 and sharp-1.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    NUMBER,
    OWNER,
    SETTING,
    M,
    V,
    gain,
    i,
    j,
    lead,
    slope_of_risk,
)
from attsvm.primitives.hypotheses import EITHER_PART, TWO_SCORES
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    by_definition,
    cite,
    conclude,
    decide,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import INV, most, substituted, total
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION
from symbolic.attention_facts import OWN, THEIRS, Attention, attends, moves, r, steepness
from symbolic.divergence_facts import LEAD, gains
from symbolic.facts import product


def _gain() -> tuple[Attention, tuple[Fact, Fact, Fact], Fact]:
    """Return attention, the signs of `gains`, and the bound of the derivative along V."""
    lower = setting(SETTING, "no score is above the best of its input")
    a = attends(lower)
    step, bent = moves(a), steepness(a, SMOOTH_SLOPE, FALLING)
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    falls = decide(gt(FALL(a.u(i, K)), 0), bent.at_output, bent.positive)
    signs = falls, over, decide(ge(LEAD, 0), lower)
    margins, _ = suppose(SOLUTION)
    moved = gains(a, step, signs, margins, *suppose(EITHER_PART))
    u = a.u(i, K)
    toward = total(FALL(u) * a.s_o(i, K) * (BEST(i) - u), i) * INV(NUMBER)
    along = -substituted(slope_of_risk(), {M: V})
    parts = at(step.descends, {M: V}), at(step.grown, {M: V}), moved, step.rate
    return a, signs, decide(ge(along, toward), *parts)


@linked
def prove_gain() -> str:
    """Prove that a step of size e raises <X, X^mm> by at least e times the right side."""
    a, _, reached = _gain()
    (sequent,) = present(gain(), "a claim").sequents
    conclude(by_definition(sequent.proposition, a.means[:2], reached), sequent)
    return "for any n, T, d and any step"


@linked
def prove_raised() -> str:
    """Prove that a step raises <X, X^mm> if some input has two different scores."""
    a, (falls, over, not_behind), reached = _gain()
    some_lead, rival = suppose(TWO_SCORES)
    pick, chosen = attained("farthest", most(lead(r.term), r), rival)
    ahead = decide(
        gt(lead(pick()), 0), add_up(beyond("most", LEAD, j), j), some_lead, rival, chosen
    )
    below = decide(
        eq(BEST(i) - a.u(i, K), total(a.s(j, K) * (BEST(i) - GAMMA(j)), j, THEIRS)),
        *(a.mean, scale(a.one, BEST(i))),
    )
    term = one_of_sum(product(a.s_positive, not_behind), j, OWNER)
    behind = decide(ge(BEST(OWN) - a.u(OWN, K), a.s(j, K) * LEAD), at(below, {i: OWN}), term)
    there = {i: OWNER(pick())}
    far = decide(
        gt(BEST(there[i]) - a.u(there[i], K), 0),
        *(at(behind, {j: pick()}), at(a.s_positive, {j: pick()}), ahead),
    )
    u = a.u(i, K)
    part = FALL(u) * a.s_o(i, K) * (BEST(i) - u)
    each = product(falls, a.s_o_positive, decide(ge(BEST(i) - u, 0), a.below_best))
    weight = decide(gt(FALL(u) * a.s_o(i, K), 0), falls, a.s_o_positive)
    some = decide(gt(total(part, i), 0), at(one_of_sum(each, i), there), at(weight, there), far)
    (sequent,) = present(gain(strict=True), "a claim").sequents
    conclude(decide(sequent.proposition, reached, some, over), sequent)
    return "for any n, T, d and any step"

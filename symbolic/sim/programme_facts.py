"""The Att-SVM by linked facts: convexity, bounds of X^mm, prices of slack, tokens left out.

docs/proofs/soft_margin.md has the proofs on prices of slack and on tokens that are left out.
"""

from collections.abc import Mapping

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import OWNER, A, V, X, i, j, margin
from attsvm.primitives.hypotheses import FEASIBLE, UNIQUE
from attsvm.primitives.programme_letters import (
    BESIDE,
    DROPPED,
    FIRST,
    GROUP,
    LAST,
    MOVED,
    OUTER,
    REST,
    SAME,
    SHARE,
    WEIGHT,
    XI,
    g,
    k,
)
from attsvm.theory.proof.facts import Fact, Sequent, eq, ge, gt, some
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    one_of_sum,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, INV, NORM, Term, least, total
from properties.sim.definition_3_8 import CLASSIFIES, MEET, SHARES
from properties.sim.definition_4_1 import POSITIVE
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, count, inward, no_shorter, no_sum, product


def _known(claim: Said | None) -> Mapping[str, Sequent]:
    """Return the facts that follow from the meaning of the letters of a claim."""
    return present(claim, "a claim").setting


@linked
def prove_convex() -> str:
    """Prove that half the sum of two feasible matrices is feasible and no longer in the mean."""
    claim = letters.convex()
    half = decide(ge(margin(j.term, (FIRST + LAST) / 2), 1), *suppose(MEET))
    apart = no_shorter(FIRST - LAST)
    mean = present(claim, "a claim").sequents[1].proposition
    conclude_each(claim, half, decide(mean, apart))
    return "in any dimension, for half the sum of any two feasible matrices"


@linked
def prove_hull() -> str:
    """Prove that 1/||X^mm|| is at most the distance of the hull of the A_j from 0."""
    claim = letters.hull()
    known = _known(claim)
    (positive,) = suppose(SHARES)
    ratio, met, unit = (setting(known, sentence) for sentence in known)
    combined = total(SHARE(j) * A(j), j)
    reached = add_up(product(positive, met), j)
    (within,) = cite(CAUCHY_SCHWARZ, (), combined, V)
    length, _ = cite(LENGTH, (), combined)
    goal = present(claim, "a claim").sequents[0].proposition
    conclude_each(claim, decide(goal, reached, ratio, within, length, unit))
    return "for any number of inputs, tokens and axes, by <sum_j s_j A_j, X^mm> >= sum_j s_j"


@linked
def prove_classified() -> str:
    """Prove that v u^T over its least margin meets all constraints, so that X^mm exists."""
    claim = present(letters.bounded(), "a claim")
    met, least_, margins, norm, ratio, unit = (setting(claim.setting, x) for x in claim.setting)
    (lead,), (along,) = suppose(UNIQUE), suppose(CLASSIFIES)
    lower = decide(gt(margin(j.term, OUTER), 0), margins, lead, at(along, {i: OWNER(j)}))
    rows, empty = assume(some(j)), assume(some(j).denied())
    body = margin(k.term, OUTER)
    lowest = least(body, k)
    positive = bounds(at(lower, {j: k}), "least", body, k, rows)
    one, inverse = cite(RECIPROCAL, [positive], lowest)
    point = OUTER * INV(lowest)
    reached = decide(
        ge(margin(j.term, point), 1), inverse, beyond("least", margin(j.term, OUTER), j), one
    )
    feasible = meets(reached, point)
    exists = cut(at(met, {X: point}), feasible)
    gap = margin(j.term, V) - 1
    none = decide(eq(total(1, j), 0), count(j), empty)
    gone = decide(ge(gap, 0), one_of_sum(square(gap), j), no_sum(gap**2, j, none))
    some_point = cases(exists, gone, some(j))
    longer = cut(at(least_, {X: point}), feasible)
    (_, size_square), (length, length_square) = cite(LENGTH, (), V), cite(LENGTH, (), OUTER)
    short = product(length, inverse)
    shorter = decide(
        ge(NORM(OUTER) * INV(lowest), NORM(V)),
        *(longer, size_square, scale(length_square, INV(lowest) ** 2), short),
    )
    shorter = product(positive, shorter)
    scaled = decide(ge(NORM(OUTER), lowest * NORM(V)), shorter, scale(one, NORM(OUTER)), degree=1)
    unit = cut(at(unit, {X: point}), feasible)
    goal = claim.sequents[1].proposition
    bound = decide(goal, ratio, scaled, scale(unit, lowest), scale(norm, letters.DISTANCE))
    conclude_each(claim, some_point, bound)
    return "in any dimension, by v u^T over its least margin"


@linked
def prove_price() -> str:
    """Prove that X^mm is worth its price: ||X^mm||^2 <= ||V|| ||X^mm|| + lambda sum_g xi_g."""
    claim = letters.at_least_price()
    known = _known(claim)
    weight, sums, tight, slack, enough, largest = (setting(known, s) for s in known)
    exists, _ = suppose(FEASIBLE)
    paid = WEIGHT(j) * XI(GROUP(j))
    each = add_up(product(weight, enough), j)
    priced = add_up(product(slack, largest), g)
    own = decide(eq(V @ V, total(WEIGHT(j), j)), at(sums, {X: V}), add_up(tight, j))
    (within,) = cite(CAUCHY_SCHWARZ, (), MOVED, V)
    goal = present(claim, "a claim").sequents[1].proposition
    conclude_each(
        claim,
        exists,
        decide(goal, at(sums, {X: MOVED}), each, priced, regroup(paid, j, GROUP), own, within),
    )
    return "in any dimension: ||X|| ||V|| + sum_j w_j xi_j >= ||X||^2, however slacks are shared"


@linked
def prove_growth() -> str:
    """Prove that C (J - sum_j xi_j) <= C ||sum_j A_j|| ||V||."""
    claim = letters.growth_from_zero()
    (enough,) = (setting(_known(claim), sentence) for sentence in _known(claim))
    (positive,) = suppose(POSITIVE)
    (within,) = cite(CAUCHY_SCHWARZ, (), total(A(j), j), MOVED)
    goal = present(claim, "a claim").sequents[0].proposition
    conclude_each(claim, decide(goal, positive, *(add_up(enough, j), within)))
    return "in any dimension, by 1 - <A_j, V> as a bound of the slack"


@linked
def prove_nearer() -> str:
    """Prove ||U - X^mm||^2 <= ||U||^2 - ||X^mm||^2 for U = U_1, which is feasible."""
    claim = letters.nearer()
    solves = _known(claim)
    one, _ = suppose(MEET)
    met, least = (setting(solves, sentence) for sentence in solves)
    point = FIRST
    feasible = meets(one, point)
    margins = cut(at(met, {X: point}), feasible)
    longer = cut(at(least, {X: point}), feasible)

    def stays(toward: Term, part: Fact, rest: Fact) -> Fact:
        spare = product(rest, margins), product(part, one)
        margin_ = decide(ge(margin(j.term, toward), 1), *spare)
        return cut(at(least, {X: toward}), meets(margin_, toward))

    right = inward(V, point, longer, stays)
    goal = present(claim, "a claim").sequents[0].proposition
    conclude_each(claim, decide(goal, right))
    return "in any dimension, by <X, U - X> >= 0"


@linked
def prove_at_most_lost() -> str:
    """Prove that without the rivals J ||X^mm||^2 falls by at most ||sum_J w_j A_j||^2."""
    claim = letters.at_most_lost()
    known = _known(claim)
    weight, sums, tight, kept_met = (setting(known, sentence) for sentence in known)
    exists, _ = suppose(FEASIBLE)
    kept_met = cut(kept_met, meets(exists, V))
    kept, w = 1 - DROPPED(j), WEIGHT(j)
    K, J = total(kept * w * A(j), j), total(DROPPED(j) * w * A(j), j)
    gained = add_up(product(weight, kept_met), j)
    whole = add_up(scale(tight, kept), j)
    of_kept = add_up(scale(at(sums, {X: A(k)}), (1 - DROPPED(k)) * WEIGHT(k)), k)
    parts = at(sums, {X: V}), at(sums, {X: J}), of_kept
    goal = present(claim, "a claim").sequents[1].proposition
    conclude_each(
        claim, exists, decide(goal, gained, whole, no_shorter(REST - K), *parts, degree=1)
    )
    return "in any dimension, for every X' that meets the constraints that are left"


@linked
def prove_at_least_lost() -> str:
    """Prove that without rival j ||X^mm||^2 falls by at least w_j^2 dist(A_j, span of others)^2.

    X^mm - w_j R_j meets the other constraints as X^mm does.
    """
    claim = letters.at_least_lost()
    known = _known(claim)
    signs = "no multiplier is negative", "a multiplier is 0 unless its margin is 1"
    chosen = (setting(known, sentence) for sentence in known if sentence not in signs)
    sums, alike, own, aside, least = chosen
    exists, _ = suppose(FEASIBLE)
    square_, same = BESIDE(j) @ BESIDE(j), SAME(j, k)
    moved = V - WEIGHT(j) * BESIDE(j)
    yes, no = assume(gt(same, 0)), assume(gt(same, 0).denied())
    itself = decide(eq(1 - same, 0), alike, yes)
    itself = scale(itself, letters.short_by(k.term, moved))
    other = scale(decide(eq(same, 0), alike, no), WEIGHT(j) * square_)
    m = margin(k.term, moved)
    size, size_square = cite(SIZE, (), 1 - m)
    short = scale(
        decide(
            eq(ABS(1 - m) + 1 - m, 0),
            *(at(exists, {j: k}), scale(aside, WEIGHT(j)), other, size, size_square),
        ),
        1 - same,
    )
    feasible = add_up(cases(itself, short, gt(same, 0)), k)
    longer = cut(at(least, {X: moved}), feasible)
    picked = add_up(scale(aside, WEIGHT(k)), k)
    parts = at(sums, {X: BESIDE(j)}), picked, scale(own, square_)
    inner = decide(eq(V @ BESIDE(j), WEIGHT(j) * square_), *parts, degree=1)
    end = present(claim, "a claim").sequents[1].proposition
    conclude_each(claim, exists, decide(end, longer, scale(inner, WEIGHT(j))))
    return "in any dimension, by X less w_j times the part of A_j that is orthogonal to the others"

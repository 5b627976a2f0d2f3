"""The lead of either token stays below a bound, if h rises from each of two tokens to the other.

On `tf/generalised-svm:sharp-5`. If s_2 <= g_1/beta, h does not rise along x_1 - x_2, so that m does
not grow. Else exp(m) = 1/s_2 - 1 is below beta/g_1 - 1, and a step adds at most
e ||A||^2 beta s_2^2 s_1, in which s_2^2 s_1 <= 4/27.
"""

from flint import fmpq

from attsvm.primitives.descent_letters import RATE, W, x, y
from attsvm.theory.proof.facts import Fact, K, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, LARGER, LOGARITHM, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    decide,
    induction,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, EXP, INV, LOG, MAXIMUM, Term, as_term
from properties.tf.generalised_svm import FORWARD
from properties.tf.generalised_svm import head_letters as letters
from properties.tf.generalised_svm.head_descent import BOTH, BOUNDED_CURVATURE, GENTLE
from properties.tf.generalised_svm.head_letters import (
    BEND,
    FIRST,
    INNER,
    OUTER,
    SECOND,
    STEEP,
    A,
    u,
)
from symbolic.facts import conclude_each, exponents_rise, no_shorter, power, product
from symbolic.tf.head_descent_facts import Step, step


class Bent:
    """Facts that follow from |phi''| <= c."""

    def __init__(self) -> None:
        self.near, self.positive = suppose(BOUNDED_CURVATURE)

    def slopes(self, one: Term, other: Term, point: Term, share: Term, *facts: Fact) -> Fact:
        """Return that beta times a share is at least g + the slope of h at a point.

        The point is one + share (other - one). The slope is that along one - other, and g is that
        of h at `one` towards the other one.

        Args:
            one: a token.
            other: the other one.
            point: the point.
            share: the share.
            facts: unless the point is the other token, that the share is above 0, and an equation
                for <a_u, point>.
        """
        sign, place = facts[:1], facts[1:]
        w, apart = INNER(u) @ (one - other), INNER(u) @ (one - point)
        lost = STEEP(INNER(u) @ point) - STEEP(INNER(u) @ one)
        near = at(self.near, {x: INNER(u) @ point, y: INNER(u) @ one})
        ends = [scale(fact, BEND**2 * (apart + share * w)) for fact in place]
        near = decide(ge(BEND**2 * share**2 * w**2, lost**2), near, *ends, degree=1)
        far = product(square(OUTER(u) * w), near)
        size, size_square = cite(SIZE, (), OUTER(u))
        bound = BEND * ABS(OUTER(u)) * share * w**2
        some = product(self.positive, size, *sign, square(w))
        whole = scale(size_square, BEND**2 * share**2 * w**4)
        return add_up(decide(ge(bound, -OUTER(u) * w * lost), some, far, whole), u)


def _cube(part: Term, rest: Term, sign: Fact, whole: Fact) -> Fact:
    """Return that s^2 (1 - s) <= 4/27 for a share s."""
    third = decide(ge(part + fmpq(1, 3), 0), sign)
    return decide(
        ge(fmpq(4, 27), rest * part**2),
        *(product(square(part - fmpq(2, 3)), third), scale(whole, part**2)),
        degree=1,
    )


class Pair:
    """One token that the head rises from, and the other one.

    Attributes:
        more: beta exceeds g.
        stays: its lead never exceeds the larger of that of the start and the bound.
    """

    def __init__(self, move: Step, bent: Bent, known: tuple[Fact, ...], turned: bool) -> None:
        sign, one, other = (-1, SECOND, FIRST) if turned else (1, FIRST, SECOND)
        forward, falls, less, *both = known
        rises, back = reversed(both) if turned else both
        end = bent.slopes(one, other, other, as_term(1))
        g, beta = letters.slope(one, other - one), letters.bending(FIRST - SECOND)
        self.more = decide(gt(beta, g), end, back)
        rest, part = reversed(move.shares) if turned else move.shares
        some_rest, some_part = reversed(move.positive) if turned else move.positive
        m, start, after = (sign * (A @ W(k)) for k in (K, 0, K.term + 1))
        bound, along = letters.highest(one, other), letters.slope(move.output, one - other)
        near = bent.slopes(
            one, other, move.output, part, some_part, scale(move.whole, INNER(u) @ one)
        )
        square_ = no_shorter(A)
        pull = product(square_, forward, falls, some_rest, some_part)
        above_start, above_bound, _ = cite(LARGER, (), start, bound)
        claim, condition = ge(MAXIMUM(start, bound), m), ge(g, beta * part)
        yes, no = assume(condition), assume(condition.denied())
        flat = product(pull, decide(ge(-along, 0), near, yes))
        unmoved = decide(claim.at({K: K.term + 1}), move.moved, flat, assume(claim))
        # a step adds at most 4/27 e ||A||^2 beta
        some = decide(ge(RATE * (A @ A) * beta, 0), product(square_, forward), self.more, rises)
        steep = product(pull, decide(ge(beta * part - along, 0), near, rises))
        few = product(some, product(less, some_rest, square(part)))
        most = product(some, _cube(part, rest, some_part, move.whole))
        added = decide(ge(m + bound - LOG(beta * INV(g) - 1), after), move.moved, steep, few, most)
        # and m < ln(beta/g - 1)
        laws = () if turned else cite(EXPONENTIAL_OF_SUM, (), m, -m)
        unit, inverse = cite(RECIPROCAL, [rises], g)
        few = decide(
            gt(beta - g - EXP(m) * g, 0),
            no,
            power(m),
            *(scale(x, rest * beta) for x in laws),
            scale(move.whole, beta),
        )
        ratio = beta * INV(g) - 1
        few = decide(gt(ratio - EXP(m), 0), few, inverse, scale(unit, EXP(m) + 1))
        (is_ratio,) = cite(LOGARITHM, [decide(gt(ratio, 0), few, power(m))], ratio)
        low = exponents_rise(m, LOG(ratio), decide(ge(EXP(LOG(ratio)), EXP(m)), is_ratio, few))
        moved = decide(claim.at({K: K.term + 1}), added, low, above_bound)
        first = decide(claim.at({K: as_term(0)}), above_start)
        self.stays = induction(claim, first, cases(unmoved, moved, condition))


@linked
def prove() -> str:
    """Prove that no lead exceeds the larger of that of the start and the bound."""
    (forward,), (falls, less), both = suppose(FORWARD), suppose(GENTLE), suppose(BOTH)
    move, bent = step(), Bent()
    falls, less = (at(fact, {x: letters.head(move.output)}) for fact in (falls, less))
    known = forward, falls, less, *both
    one, other = (Pair(move, bent, known, turned) for turned in (False, True))
    conclude_each(letters.stays(), *both, one.more, other.more, one.stays, other.stays)
    return "for every phi with |phi''| <= c, as those that run, any d and number of units"

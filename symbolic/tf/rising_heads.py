"""The lead grows like ln k, or half of that, if h rises from the mean of two tokens to the first.

On `tf/generalised-svm:sharp-3` and `sharp-4`. From m = 0 on, the mean o of the tokens by attention
is between their mean and x_1, and -l'(h(o)) between the values there. So is the slope of each
unit, if phi is convex. For squares and <a_u, x_1> = 0 the slope of h is 2 beta s_2.
"""

from dataclasses import dataclass

from flint import fmpq

from attsvm.primitives.descent_letters import FALL, RATE, M, x, y
from attsvm.primitives.descent_letters import W as MATRIX
from attsvm.primitives.hypotheses import ZERO_START
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS, FALLING_LOSS
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, LARGER
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    cut,
    decide,
    inside,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, MAXIMUM, Letter, Term, as_term, total
from properties.tf.generalised_svm import FORWARD
from properties.tf.generalised_svm import head_letters as letters
from properties.tf.generalised_svm.head_descent import BELOW, BENT_UP, CRITICAL, OF_SQUARES, RISES
from properties.tf.generalised_svm.head_letters import (
    APART,
    FIRST,
    FROM_ZERO,
    INNER,
    LEAST,
    LEVEL,
    MARGIN,
    MEAN,
    MOST,
    OUTER,
    PHI,
    SECOND,
    STEEP,
    A,
    u,
    unit_slope,
)
from symbolic.facts import conclude_each, product
from symbolic.tf.growth_steps import Growth
from symbolic.tf.head_descent_facts import Step, moves, step

HOLE, W = Letter("hole"), INNER(u) @ APART


def _halfway(move: Step) -> Fact:
    """Return that 1/2 - s_2 is at least 0, as exp(m) >= 1."""
    (law,) = cite(EXPONENTIAL_OF_SUM, (), MARGIN, -MARGIN)
    small = decide(ge(1, EXP(-MARGIN)), law, assume(ge(EXP(MARGIN), 1)))
    more = product(small, move.positive[0])
    return decide(ge(fmpq(1, 2) - move.shares[1], 0), more, move.whole)


@dataclass(frozen=True, slots=True)
class Rise:
    """How a step moves the lead: by e ||A||^2 (-l'(h(o))) g s_1 s_2^p, where g is a slope.

    Attributes:
        move: the step.
        moved: that it moves the lead by this.
        slopes: numbers below and above g, and g between them.
        some: that the first number is above 0.
        bounds: that it is at most g, and g at most the last one; none if all three are the same.
        moving: that ||A||^2 > 0.
        orders: that h(x_1) >= h(o), and that h(o) is at least h at the mean of the tokens.
        power: p.
    """

    move: Step
    moved: Fact
    slopes: tuple[Term, Term, Term]
    some: Fact
    bounds: tuple[Fact, ...]
    moving: Fact
    orders: tuple[Fact, Fact]
    power: int = 1

    def conclude(self, claim: Said | None) -> None:
        """Conclude how fast the lead grows."""
        (start,), (forward,), (convex,), (falling,) = map(
            suppose, (ZERO_START, FORWARD, CONVEX_LOSS, FALLING_LOSS)
        )
        values = [letters.head(point) for point in (FIRST, self.move.output, MEAN)]
        less, more = (
            cut(at(convex, {x: lower, y: higher}), order)
            for higher, lower, order in zip(values, values[1:], self.orders, strict=False)
        )
        low, g, high = self.slopes
        first, at_o, mean = map(FALL, values)
        below, above = ([*self.bounds[:k]] for k in (1, 2))
        if self.bounds:
            below.append(at(falling, {x: values[1]}))
            above.append(at(falling, {x: values[2]}))
        whole = decide(gt(RATE * (A @ A), 0), forward, self.moving)
        rates = (
            product(whole, decide(ge(at_o * g, first * low), less, self.some, *below)),
            product(whole, decide(ge(mean * high, at_o * g), more, self.some, *above)),
        )
        c, C = (letters.rate(*ends) for ends in ((low, FIRST), (high, MEAN)))
        some = decide(gt(low * first, 0), self.some, at(falling, {x: values[0]}))
        clock = [
            setting(FROM_ZERO, words)
            for words in ("the first step has the number 0", "the next step has the next number")
        ]
        growth = Growth(MARGIN, RATE * (A @ A) * g * at_o, c, C, self.power)
        facts = growth.bounds(
            decide(gt(c, 0), whole, some), self.moved, at(start, {M: A}), rates, clock
        )
        conclude_each(claim, *facts)


class Unit:
    """A unit of a convex phi, whose slopes at a point x are those along x_1 - x_2.

    Attributes:
        least: minus the lesser of its slopes at the mean of the tokens and at x_1.
        most: the larger one.
    """

    least = MAXIMUM(-unit_slope(MEAN), -unit_slope(FIRST))
    most = MAXIMUM(unit_slope(MEAN), unit_slope(FIRST))

    def __init__(self) -> None:
        (self.convex,) = suppose(BENT_UP)

    def turns(self, one: Term, other: Term, place: Fact, share: Fact) -> Fact:
        """Return that phi' times w does not fall from one place <a_u, x> to another.

        Args:
            one: a place.
            other: another one.
            place: that `other` - `one` is a share times w = <a_u, x_1 - x_2>.
            share: that the share is above 0.
        """
        bent = STEEP(one) - STEEP(other)
        both = (
            at(self.convex, dict(zip((x, y), ends, strict=True)))
            for ends in ((one, other), (other, one))
        )
        return decide(ge(W * bent, 0), *both, scale(place, bent), share)

    def gain(self, one: Term, other: Term, place: Fact, share: Fact, *low: Fact) -> Fact:
        """Return that the unit gains at least the share times its lesser slope.

        Args:
            one: a place.
            other: another one.
            place: as for `turns`.
            share: that the share is at least 0.
            low: that the slopes at both places are at least the lesser one.
        """
        s, rise = share.proposition.term, PHI(other) - PHI(one)
        above = at(self.convex, {x: one, y: other})
        above = decide(ge(rise + STEEP(one) * s * W, 0), above, scale(place, STEEP(one)))
        below = at(self.convex, {x: other, y: one})
        below = decide(ge(-STEEP(other) * s * W - rise, 0), below, scale(place, STEEP(other)))
        inner = product(square(OUTER(u)), product(above, below))
        each = (product(share, fact) for fact in low)
        return decide(ge(OUTER(u) * rise, -s * self.least), inner, *each)


@linked
def prove() -> str:
    """Prove that exp(m) - 1 lies between c k/4 and C k exp(C/4)."""
    move, unit, (rises,) = step(), Unit(), suppose(RISES)
    half = _halfway(move)
    o, (_, second) = move.output, move.shares
    last, attended, mid = (INNER(u) @ point for point in (FIRST, o, MEAN))
    on = decide(eq(last - attended, second * W), scale(move.whole, last))
    back = decide(eq(attended - mid, (fmpq(1, 2) - second) * W), on)
    # phi'(<a_u, o>) w is between the values at the mean and at x_1
    part = fmpq(1, 2) - second
    yes, no = assume(gt(part, 0)), assume(ge(-part, 0))
    none = decide(eq(part, 0), no, half)
    same = decide(eq(attended, mid), back, scale(none, W))
    same = inside(same, attended, mid, STEEP(HOLE), HOLE)
    same = decide(ge(W * (STEEP(mid) - STEEP(attended)), 0), scale(same, W))
    turned = cases(unit.turns(mid, attended, back, yes), same, gt(part, 0))
    turned = product(
        square(OUTER(u)), product(turned, unit.turns(attended, last, on, move.positive[1]))
    )
    below = cite(LARGER, (), -unit_slope(MEAN), -unit_slope(FIRST))[:2]
    above = cite(LARGER, (), unit_slope(MEAN), unit_slope(FIRST))[:2]
    low = decide(ge(unit_slope(o), -unit.least), turned, *below)
    high = decide(ge(unit.most, unit_slope(o)), turned, *above)
    # so h rises from the mean to o, and on to x_1
    positive = decide(ge(second, 0), move.positive[1])
    to_last = add_up(unit.gain(attended, last, on, positive, low, below[1]), u)
    to_here = add_up(unit.gain(mid, attended, back, half, below[0], low), u)
    best, at_o, least = (letters.head(point) for point in (FIRST, o, MEAN))
    orders = (
        decide(ge(best, at_o), to_last, positive, rises),
        decide(ge(at_o, least), to_here, half, rises),
    )
    own = -OUTER(u) * STEEP(mid)
    some = add_up(decide(ge(unit_slope(MEAN) + unit.least, 0), below[0]), u)
    moving = moves(own, decide(gt(letters.slope(MEAN, APART), 0), some, rises))
    slopes, bounds = (LEAST, letters.slope(o, APART), MOST), (add_up(low, u), add_up(high, u))
    rise = Rise(move, move.moved, slopes, rises, bounds, moving, orders)
    rise.conclude(letters.grows())
    return "for any d and number of units, every convex loss with l' < 0, and every convex phi"


def _height(value: Fact, point: Term, share: Term, place: Fact) -> Fact:
    """Return that h is -beta times the square of a share, for phi(t) = t^2.

    Args:
        value: what phi is.
        point: a point.
        share: the share.
        place: that <a_u, point> is the share times <a_u, x_2>.
    """
    own, far = INNER(u) @ point, INNER(u) @ SECOND
    return add_up(
        decide(
            eq(OUTER(u) * PHI(own), OUTER(u) * share**2 * far**2),
            *(scale(at(value, {x: own}), OUTER(u)), scale(place, OUTER(u) * (own + share * far))),
            degree=1,
        ),
        u,
    )


@linked
def prove_critical() -> str:
    """Prove that exp(2 m) - 1 lies between c k/4 and 2 C k exp(C/4)."""
    move, (level,), (flat,), (value, slope) = step(), *map(suppose, (BELOW, CRITICAL, OF_SQUARES))
    half, far, (first, second) = _halfway(move), INNER(u) @ SECOND, move.shares
    attended = INNER(u) @ move.output
    place = decide(eq(attended, second * far), scale(flat, first))
    turned = decide(
        eq(unit_slope(move.output), -2 * second * OUTER(u) * far**2),
        *(scale(at(slope, {x: attended}), OUTER(u) * W), scale(place, OUTER(u) * W)),
        scale(flat, OUTER(u) * second * far),
        degree=1,
    )
    moved = decide(
        eq(A @ MATRIX(K.term + 1), MARGIN + 2 * move.pull * LEVEL * second),
        *(move.moved, scale(add_up(turned, u), move.pull)),
        degree=1,
    )
    best = _height(value, FIRST, as_term(0), flat)
    at_o = _height(value, move.output, second, place)
    middle = decide(eq(INNER(u) @ MEAN, far / 2), flat)
    mean = _height(value, MEAN, as_term(1) / 2, middle)
    more = product(half, decide(ge(second + fmpq(1, 2), 0), move.positive[1]))
    heights = [letters.head(point) for point in (FIRST, move.output, MEAN)]
    orders = (
        decide(ge(heights[0], heights[1]), best, at_o, product(level, square(second))),
        decide(ge(heights[1], heights[2]), at_o, mean, product(level, more)),
    )
    own = OUTER(u) * far
    some = decide(gt(total(own * W, u), 0), add_up(scale(flat, own), u), level)
    slopes = 2 * LEVEL, 2 * LEVEL, 2 * LEVEL
    rise = Rise(move, moved, slopes, level, (), moves(own, some), orders, power=2)
    rise.conclude(letters.grows_by_half())
    return "for any d and number of units, and every convex loss with l' < 0"

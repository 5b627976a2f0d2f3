"""Sequences that grow like ln k: steps of a size that falls like the inverse of an exponential."""

from collections.abc import Iterable
from dataclasses import dataclass

from attsvm.primitives.descent_letters import COUNT
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.rules import assume, at, cite, cut, decide, inside, scale
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, as_term, substituted
from symbolic.facts import by_steps, power, powers_rise, product

HOLE = Letter("hole")


@dataclass(frozen=True, slots=True)
class Growth:
    """A sequence m(k) from 0 that grows like ln k, or like half of that.

    A step adds R s_1 s_2 to m, or R s_1 s_2^2 in the second case, with s_1 = 1/(1 + exp(-m)) and
    s_2 = 1 - s_1. While m >= 0, the number R is between c > 0 and C.

    Attributes:
        m: m(k).
        rate: R.
        low: c.
        high: C.
        power: the exponent of s_2, 1 or 2.
    """

    m: Term
    rate: Term
    low: Term
    high: Term
    power: int = 1

    def bounds(
        self,
        some: Fact,
        moved: Fact,
        start: Fact,
        between: tuple[Fact, Fact],
        clock: Iterable[Fact],
    ) -> tuple[Fact, Fact, Fact]:
        """Return bounds of x = exp(p m) - 1 at the step k + 1, where p is `power`.

        They are x > 0, x >= c k/4 and x <= p C k exp(C/4).

        Args:
            some: that c > 0.
            moved: how far m moves.
            start: that m(0) is 0.
            between: that R is at least c, and at most C, perhaps for exp(m) >= 1.
            clock: the numbers of steps.
        """
        m, p, C = self.m, self.power, self.high
        first, later = clock
        grown, after = EXP(p * m), substituted(EXP(p * m), {K: K.term + 1})
        claims = (
            ge(4 * (grown - 1), self.low * COUNT(K)),
            ge(p * C * COUNT(K) * EXP(C / 4), grown - 1),
        )
        count = by_steps(ge(COUNT(K), 0), [first], [later])
        zero = inside(start, substituted(m, {K: as_term(0)}), as_term(0), EXP(p * HOLE.term), HOLE)
        steps = self._steps(moved, between, some)
        one = decide(ge(grown, 1), assume(claims[0]), some, count)
        rise = cut(steps[0], one)
        below = by_steps(claims[0], [zero, scale(first, self.low)], [rise, scale(later, self.low)])
        one = decide(ge(grown, 1), below, some, count)
        fall = cut(steps[1], one)
        rate = p * C * EXP(C / 4)
        above = by_steps(claims[1], [zero, scale(first, rate)], [fall, scale(later, rate)])
        below, above = (at(fact, {K: K.term + 1}) for fact in (below, above))
        return decide(gt(after - 1, 0), below, some, later, count), below, above

    def _steps(self, moved: Fact, between: tuple[Fact, Fact], some: Fact) -> tuple[Fact, Fact]:
        """Return that x rises by at least c/4, and at most p C exp(C/4), if x >= 0."""
        m, p, R, C = self.m, self.power, self.rate, self.high
        E, over = EXP(-m), INV(1 + EXP(-m))
        grown, weight, top = EXP(p * m), E**p * over ** (p + 1), over ** (p + 1)
        after, D = substituted(grown, {K: K.term + 1}), p * R * weight
        unit, inverse = cite(RECIPROCAL, [decide(gt(1 + E, 0), power(-m))], 1 + E)
        (law,) = cite(EXPONENTIAL_OF_SUM, (), m, -m)
        laws = () if p == 1 else cite(EXPONENTIAL_OF_SUM, (), m, m)
        one = assume(ge(grown, 1))
        ahead = one if p == 1 else decide(ge(EXP(m), 1), *laws, one, power(m))
        low, high = (cut(fact, ahead) if fact.assumptions else fact for fact in between)
        rate = decide(gt(R, 0), low, some)
        # 1 <= 2^(p + 1) s_1^(p + 1), s_1 <= 1, and 4 p s_1 s_2^p <= 1
        balanced = decide(ge(over - E * over, 0), inverse, decide(ge(1, E), law, ahead))
        at_least = two = decide(ge(2 * over, 1), balanced, unit)
        at_most = whole = decide(ge(1, over), unit, product(power(-m), inverse))
        for k in range(2, p + 2):
            at_least = decide(ge(2**k * over**k, 1), at_least, *{two} - {at_least})
            at_most = decide(ge(1, over**k), at_most, *{whole} - {at_most}, inverse)
        few = decide(ge(1, 4 * E * over**2), balanced, scale(unit, (1 + E) * over + 1))
        if p == 2:
            half = decide(ge(1, 2 * E * over), balanced, unit)
            few = decide(ge(1, 8 * weight), half, product(few, power(-m), inverse))
        # exp(p m) D is between c/4 and p C, and D is at most C/4
        parts = (*(scale(x, p * R * weight) for x in laws), scale(law, p * R * top * self._odds()))
        rise = decide(eq(grown * D, p * R * top), *parts, degree=1)
        quick = decide(ge(4 * grown * D, self.low), rise, product(at_least, rate), low)
        slow = decide(ge(p * C, grown * D), rise, product(at_most, rate), high)
        short = decide(ge(C / 4, D), product(few, rate), high)
        # x rises by exp(p m) (exp(D) - 1)
        (sum_,), (back,) = (cite(EXPONENTIAL_OF_SUM, (), *x) for x in ((p * m, D), (D, -D)))
        to = substituted(m, {K: K.term + 1})
        moved = inside(moved, to, m + R * weight, EXP(p * HOLE.term), HOLE)
        moved = decide(eq(after, grown * EXP(D)), sum_, moved)
        low = decide(
            ge(4 * (after - grown), self.low),
            moved,
            power(p * m),
            cite(EXPONENTIAL, (), D)[1],
            quick,
        )
        tangent = decide(ge(1 + D * EXP(D), EXP(D)), back, power(D), cite(EXPONENTIAL, (), -D)[1])
        spare = product(decide(ge(C, 0), high, rate), powers_rise(D, C / 4, short))
        more = product(power(p * m), tangent), product(slow, power(D)), spare
        return low, decide(ge(p * C * EXP(C / 4), after - grown), moved, *more, degree=1)

    def _odds(self) -> Term:
        """Return 1, or exp(m) exp(-m) + 1 in the second case."""
        return as_term(1) if self.power == 1 else EXP(self.m) * EXP(-self.m) + 1

"""Smooth heads h(x) = sum_k b_k phi(<a_k, x>) are near their tangents: linked proofs.

phi is any function whose slope is Lipschitz with a constant c. A unit changes by its tangent, up to
c/2 times the square of the change of its argument.
"""

from collections.abc import Mapping
from typing import Any

from attsvm.primitives.heads import bend_of
from attsvm.theory.proof.arrays import LETTERS, falling
from attsvm.theory.proof.facts import Fact, Sequent, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, LARGER, RECIPROCAL, RISES, SIZE
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    by_definition,
    cases,
    cite,
    conclude,
    cut,
    decide,
    define,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    INV,
    IS_ZERO,
    MAXIMUM,
    Atom,
    Letter,
    Term,
    after_first,
    as_term,
    derivative,
    rebuilt,
    substituted,
    total,
)
from properties._support.risk_formulas import CONVEX_PHI, SMOOTH_PHI
from properties.tf.nonlinear_head_several import FALLING, STATEMENT
from properties.tf.nonlinear_head_several.conclusion import mean_of_some, moved
from symbolic.facts import formula_of, letters_in, product
from symbolic.tf.mixtures import FIRST, PHI, SLOPE, below_tangent, d, indicator, k, mixture, t

C, x, a, b = bend_of("phi"), Letter("x"), Letter("a"), Letter("b")
FALLS = {PHI: falling("phi")}
_, AFTER = after_first(t.sort)
first, second = Letter("first", t.sort), Letter("second", t.sort)


class Smooth:
    """The hypothesis that phi has a Lipschitz slope.

    Attributes:
        derivative: -falling is the derivative of phi.
        slope: phi' is this derivative.
        sides: phi'(b) - phi'(a) is at most c (b - a), and at least -c (b - a), if b >= a.
        positive: c >= 0.
    """

    def __init__(self, reading: str) -> None:
        known = suppose(SMOOTH_PHI, formula_of(STATEMENT, reading))
        self.derivative, self.slope, *self.sides = known
        order = decide(ge(1, 0))
        ends = (cut(at(one, {a: as_term(0), b: as_term(1)}), order) for one in self.sides)
        self.positive = decide(ge(C, 0), *ends)

    def near(self, start: Term, to: Term, sign: int) -> Fact:
        """Return that phi(to) is no further than c/2 (to - start)^2 below its tangent at start.

        With the sign -1, phi(to) is no further above the tangent.
        """
        apart = x.term - start
        room = C * apart**2 / 2 + sign * (PHI(x) - PHI(start) - SLOPE(start) * apart)
        slopes, condition = at(self.slope, {a: x.term}), ge(to, start)
        back = decide(ge(start, to), assume(condition.denied()))
        both: list[Fact] = []
        for turn, one, other, order, ends in (
            (1, start, x.term, assume(condition), (start, to)),
            (-1, x.term, start, back, (to, start)),
        ):
            side = at(self.sides[sign > 0], {a: one, b: other})
            rises = decide(ge(derivative(turn * room, x, FALLS), 0), side, slopes)
            both += cite(RISES, [self.derivative, order, rises], turn * room, x, FALLS, *ends)
        return cases(both[0], both[1], condition)

    def slopes_near(self, start: Term, seen: Term) -> Fact:
        """Return that (phi'(start + seen) - phi'(start))^2 <= c^2 seen^2."""
        to, condition, both = start + seen, ge(seen, 0), []
        lost = SLOPE(to) - SLOPE(start)
        back = decide(ge(start, to), assume(condition.denied()))
        for one, other, order in ((start, to, assume(condition)), (to, start, back)):
            sides = [cut(at(side, {a: one, b: other}), order) for side in self.sides]
            both.append(decide(ge(C**2 * seen**2, lost**2), *sides))
        return cases(both[0], both[1], condition)

    def unit(self, b: Term, start: Term, seen: Term) -> Fact:
        """Return that a unit gains at least b phi'(start) seen - |b| c seen^2/2.

        Units that do not change are left out.
        """
        gain, bent = PHI(start + seen) - PHI(start), C * seen**2 / 2
        rest = gain - SLOPE(start) * seen
        up, down = (self.near(start, start + seen, sign) for sign in (1, -1))
        minus, plus = (decide(ge(ABS(b), sign * b), *cite(SIZE, (), b)) for sign in (1, -1))
        bound = decide(ge(ABS(b) * bent + b * rest, 0), plus, up, minus, down)
        nothing, part = indicator(seen)
        return decide(
            ge(b * (1 - IS_ZERO(seen)) * gain, b * SLOPE(start) * seen - ABS(b) * bent),
            *(part, bound, scale(nothing, b * SLOPE(start)), scale(nothing, ABS(b) * C * seen / 2)),
        )

    def head(self, b: Term, start: Term, along: Term, e: Term) -> Fact:
        """Return that h gains at least e g - e^2/2 beta on a step e, g the slope and beta the bend.

        The argument of a unit is `start`, and the step adds e times `along` to it.
        """
        size = cite(SIZE, (), b)[0]
        bent = decide(ge(ABS(along**2), along**2), *cite(SIZE, (), along**2))
        spare = product(self.positive, size, bent, square(e))
        gain = b * (1 - IS_ZERO(e * along)) * (PHI(start + e * along) - PHI(start))
        each = decide(
            ge(gain, b * SLOPE(start) * e * along - C * ABS(b) * ABS(along**2) * e**2 / 2),
            *(self.unit(b, start, e * along), spare),
            degree=1,
        )
        return add_up(each, k)


class Goal:
    """The conclusion of a reading, with letters for the first token and for another one.

    Attributes:
        v: the letters of the reading.
        formula: its formula.
        sequents: the sequents of its conclusion.
        setting: facts on the axes.
    """

    def __init__(self, reading: str) -> None:
        self.v: Any = letters_in(STATEMENT, reading)
        self.formula = formula_of(STATEMENT, reading)
        stated = conclusion_of(self.formula)
        self.sequents, self.setting = stated.sequents, stated.setting

    def token(self, place: Letter) -> Term:
        """Return <a_k, x_t> for a token."""
        return total(
            self.v.A.entry((k.term,), (d.term,)) * self.v.X.entry((place.term,), (d.term,)), d
        )

    def end(self, sequent: Sequent, fact: Fact, *definitions: Fact) -> None:
        """Conclude a sequent by a fact on any two tokens in place of the first and another one."""
        goal = sequent.proposition
        places: dict[Term, Letter] = {FIRST: first}
        start = setting(self.setting, "the first index of the axis T has the position 0")
        evidence, values = [start], {first: FIRST}
        for other in (x for x in goal.letters if x.sort != t.sort):
            places[AFTER(other)], values[second] = second, AFTER(other)
            later = setting(self.setting, "the other indices of the axis T have later positions")
            evidence.append(at(later, {Letter("other", other.sort): other}))
        fact = by_definition(ge(general(goal.term, places), 0), definitions, fact)
        conclude(at(fact, values, *evidence), sequent)


def general(term: Term, places: Mapping[Term, Letter]) -> Term:
    """Return a term with letters in place of tokens."""

    def letter(atom: Atom) -> Term | None:
        return places[atom.term].term if atom.term in places else None

    return rebuilt(term, letter)


@linked
def prove_gains() -> str:
    """Prove that h is near its tangent at x_1 on the way to each other token."""
    goal = Goal("sharp-1")
    (stated,) = goal.sequents
    start, e = goal.token(first), goal.v.s.entry((second.term,))
    b_k, along = goal.v.b.entry((k.term,)), goal.token(second) - start
    goal.end(stated, Smooth("sharp-1").head(b_k, start, along, e))
    return "for every phi with a Lipschitz slope, any T, d and number of units"


@linked
def prove_returns() -> str:
    """Prove that the slope of h towards another token is near that at x_1."""
    goal, of = Goal("sharp-2"), Smooth("sharp-2")
    (stated,) = goal.sequents
    start, b_k = goal.token(first), goal.v.b.entry((k.term,))
    seen = (goal.v.A @ moved(LETTERS, goal.v)).entry((k.term,))
    along, o = goal.token(second) - start, general(seen, {FIRST: first})
    (size, size_square), (both, both_square) = cite(SIZE, (), b_k), cite(SIZE, (), along * o)
    bound = C * ABS(b_k) * ABS(along * o)
    each = decide(
        ge(bound, b_k * along * (SLOPE(start) - SLOPE(start + o))),
        *(product(of.positive, size, both), square(b_k * along), of.slopes_near(start, o)),
        *(scale(size_square, C**2 * ABS(along * o) ** 2), scale(both_square, C**2 * b_k**2)),
    )
    goal.end(stated, add_up(each, k))
    return "for every phi with a Lipschitz slope, any T, d and number of units"


def _share(beta: Term, positive: Fact, g: Term) -> tuple[Term, Fact, Fact]:
    """Return e = min(1, G/beta), with beta e <= G and e g = e G for G = max(0, g).

    Args:
        beta: the bend, a number.
        positive: it is at least 0.
        g: the slope.
    """
    raised, G = beta + IS_ZERO(beta), MAXIMUM(g, as_term(0))
    condition = gt(beta, 0)
    yes, no = assume(condition), assume(condition.denied())
    if_zero, _, _, flag, _ = cite(INDICATOR, (), beta)
    one = cut(if_zero, decide(eq(beta, 0), positive, no))
    some = gt(raised, 0)
    above = cases(decide(some, yes, flag), decide(some, one, positive), condition)
    unit, inverse = cite(RECIPROCAL, [above], raised)
    above_g, above_0, is_one = cite(LARGER, (), g, as_term(0))
    ratio = product(above_0, inverse)
    e = -MAXIMUM(-G * INV(raised), as_term(-1))
    below, _, either = cite(LARGER, (), -G * INV(raised), as_term(-1))
    sign = decide(ge(e, 0), ratio, either)
    bent = decide(
        ge(G, beta * e),
        *(positive, below, flag, ratio, scale(unit, G)),
    )
    spare = decide(ge(G - g, 0), above_g)
    same = decide(eq(e * (G - g), 0), spare, below, scale(is_one, INV(raised)), sign)
    return e, same, product(sign, bent)


@linked
def prove_exactly() -> str:
    """Prove that, for a concave smooth h, a mixture is best iff h rises from it to no token."""
    goal = Goal("sharp-3")
    (mixed, rises), m, of = goal.sequents, mixture("sharp-3"), Smooth("sharp-3")
    (above,), (falls,) = suppose(CONVEX_PHI, goal.formula), suppose(FALLING, goal.formula)
    sign = decide(ge(-m.b, 0), falls, beyond("most", m.b, k))
    at_x = (goal.v.A @ mean_of_some(LETTERS, goal.v)).entry((k.term,))
    mean, mean_is = define("<a_k, x>", (k, first), general(at_x, {FIRST: first}))
    start = mean(k, first)
    slope, below = below_tangent(m, sign, above, start)
    goal.end(mixed, below, mean_is)
    (token,) = rises.proposition.letters
    g, along = substituted(slope, {t: token.term}), substituted(m.token, {t: token.term}) - start
    size = product(of.positive, cite(SIZE, (), m.b)[0], cite(SIZE, (), along**2)[0])
    e, same, bent = _share(total(C * ABS(m.b) * ABS(along**2), k), add_up(size, k), g)
    gain = m.b * (1 - IS_ZERO(e * along)) * (PHI(start + e * along) - PHI(start))
    rise = of.head(m.b, start, along, e)
    half = e * MAXIMUM(g, as_term(0)) / 2
    goal.end(rises, decide(ge(total(gain, k), half), rise, same, bent, degree=1), mean_is)
    return "for every convex phi with a Lipschitz slope, any T, d and number of units"

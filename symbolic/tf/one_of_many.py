"""Three tokens with the scores of a linear head, two of which descent may select.

With E = e^<x, p>, F = e^<y, p> and D = 1 + E + F, D^2 <grad u, q> is <x, q> E (X + (X - Y) F) +
<y, q> F (Y - (X - Y) E), for every q.
"""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, INV, Term, total
from properties.tf.one_of_many import AHEAD, BEHIND, CLOSE, IN_BASIN, MANY, OBTUSE, OPPOSED, RANKED
from symbolic.facts import cauchy, formula_of, index, letters_in, power, product, squares

k = index("k", "d")


class Tokens:
    """The numbers of a reading: scores, exponentials, inner products, and facts on their signs."""

    def __init__(self, reading: str) -> None:
        self.reading, self.formula = reading, formula_of(MANY, reading)
        v = letters_in(MANY, reading)
        self.v, self.x, self.y, p = (one.entry((k.term,)) for one in (v.v, v.x, v.y, v.p))
        self.X, self.Y = total(self.v * self.x, k), total(self.v * self.y, k)
        self.a, self.b = total(self.x**2, k), total(self.y**2, k)
        self.r = total(self.x * self.y, k)
        self.first, self.second = total(self.x * p, k), total(self.y * p, k)
        self.E, self.F = EXP(self.first), EXP(self.second)
        self.whole = 1 + self.E + self.F
        self.powers = power(self.first), power(self.second)
        positive = decide(gt(self.whole, 0), *self.powers)
        self.unit, self.inverse = cite(RECIPROCAL, [positive], self.whole)
        self.low, self.gap = suppose(RANKED, self.formula)

    def output(self) -> Term:
        """Return u."""
        return (self.X * self.E + self.Y * self.F) * INV(self.whole)

    def positive(self, score: Fact, token: Term) -> Fact:
        """Return that a token is not 0, as its score is not."""
        return decide(
            gt(total(token**2, k), 0), cauchy(self.v, token, k), squares(self.v, k), score
        )

    def conclude(self, number: int, sign: Fact, on_x: Term, on_y: Term) -> None:
        """Conclude a sequent: D^2 times its left side is the number of which the sign is known."""
        goal = conclusion_of(self.formula).sequents[number]
        small = decide(gt(INV(self.whole) ** 2, 0), self.inverse)
        known = [
            scale(self.unit, INV(self.whole) * factor)
            for factor in (on_x * self.E * self.X, on_y * self.F * self.Y)
        ]
        conclude(decide(goal.proposition, sign, small, *known), goal)


@linked
def prove_first() -> str:
    """Prove that a step raises the margins of x, if the output is at least the score of y."""
    t = Tokens("literal-1")
    X, Y, E, F = t.X, t.Y, t.E, t.F
    (obtuse,), (basin,) = suppose(OBTUSE, t.formula), suppose(IN_BASIN, t.formula)
    ahead = decide(ge((X - Y) * E - Y, 0), basin, *t.powers, scale(t.unit, X * E + Y * F))
    best = decide(gt(X, 0), t.low, t.gap)
    reach = decide(gt(X + (X - Y) * F, 0), best, t.gap, t.powers[1])
    reach = decide(gt(E * (X + (X - Y) * F), 0), reach, t.powers[0])
    own = decide(gt(t.a * reach.proposition.term, 0), reach, t.positive(best, t.x))
    left = product(t.powers[1], ahead)
    pulled = product(obtuse, left)
    first = decide(gt(own.proposition.term + pulled.proposition.term, 0), own, pulled)
    t.conclude(0, first, t.a, t.r)
    other = product(obtuse, decide(ge(reach.proposition.term, 0), reach))
    back = product(squares(t.y, k), left)
    terms = [fact.proposition.term for fact in (first, other, back)]
    t.conclude(1, decide(gt(sum(terms[1:], terms[0]), 0), first, other, back), t.a - t.r, t.r - t.b)
    return "with u >= Y the terms of y do not pull, for any tokens and head"


def second(t: Tokens, sequents: tuple[int, int]) -> None:
    """Conclude that a step raises the logit of y and lowers that of x."""
    X, Y, E, F, c = t.X, t.Y, t.E, t.F, -t.r
    (opposed,), (above,) = suppose(OPPOSED, t.formula), suppose(AHEAD, t.formula)
    (behind,) = suppose(BEHIND, t.formula)
    best = decide(gt(X, 0), t.low, t.gap)
    a, b = t.positive(best, t.x), t.positive(t.low, t.y)
    near = decide(ge(2 * t.b, c), opposed, squares(t.y, k), cauchy(t.x, t.y, k))
    reach = decide(
        ge(F * (2 * X - Y), X + (X - Y) * F), above, cite(EXPONENTIAL, (), t.second)[1], best
    )
    reach = decide(ge(E * reach.proposition.term, 0), reach, t.powers[0])
    spare = decide(gt(F * behind.proposition.term, 0), behind, t.powers[1])
    wide = decide(ge(E * F * (2 * X - Y), 0), product(*t.powers), best, t.gap)
    left = decide(gt(F * (Y - (X - Y) * E), 0), spare, wide)
    up = decide(gt(t.b * spare.proposition.term, 0), spare, b)
    held = decide(ge((2 * t.b - c) * wide.proposition.term, 0), near, wide)
    rest = decide(ge(c * reach.proposition.term, 0), reach, opposed, a)
    terms = [fact.proposition.term for fact in (up, held, rest)]
    rises = decide(gt(sum(terms[1:], terms[0]), 0), up, held, rest)
    t.conclude(sequents[0], rises, t.r, t.b)
    down = decide(gt(t.a * spare.proposition.term / 2, 0), spare, a)
    more = decide(ge((c - t.a / 2) * left.proposition.term, 0), opposed, left)
    rest = decide(ge(t.a * reach.proposition.term, 0), reach, a)
    terms = [fact.proposition.term for fact in (down, more, rest)]
    falls = decide(gt(sum(terms[1:], terms[0]), 0), down, more, rest)
    t.conclude(sequents[1], falls, -t.a, -t.r)


@linked
def prove_second() -> str:
    """Prove that a step raises the logit of y and lowers that of x."""
    second(Tokens("literal-2"), (0, 1))
    return "<x, y>^2 <= ||x||^2 ||y||^2 and ||x||^2 <= -2 <x, y>, for any tokens and head"


@linked
def prove_threshold() -> str:
    """Prove that starts of the second kind have outputs arbitrarily near to Y."""
    t = Tokens("sharp")
    X, Y, E = t.X, t.Y, t.E
    delta = letters_in(MANY, "sharp").delta.term
    (close,) = suppose(CLOSE, t.formula)
    some = decide(gt(delta, 0), close, t.low, t.powers[1])
    lag = decide(
        ge(delta * t.whole, Y - (X - Y) * E),
        *(close, t.powers[0], some, t.gap),
    )
    goal = conclusion_of(t.formula).sequents[0]
    conclude(decide(goal.proposition, lag, t.inverse, scale(t.unit, delta - Y)), goal)
    second(t, (1, 2))
    return "Y - u <= Y/F, for any tokens and head"

"""Facts that several linked proofs use: sizes of numbers, exponentials, sums and softmax."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from attsvm.errors import present
from attsvm.theory import Statement
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof.facts import Fact, K, Proposition, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    DISCRIMINANT,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
    RISES,
    ROOT,
    SIZE,
    SPECTRAL,
)
from attsvm.theory.proof.linked import Said, conclusion_of, setting, values_of
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    conclude,
    decide,
    induction,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    LOG,
    NORM,
    SQRT,
    Letter,
    Operand,
    Sort,
    Term,
    as_term,
    derivative,
    substituted,
    total,
)
from attsvm.theory.types import Values


def formula_of(statement: Statement, reading: str) -> Formula:
    """Return the formula of a reading."""
    return present(statement.claim(reading).formula, "the formula of a reading")


def letters_in(statement: Statement, reading: str) -> Values:
    """Return the letters of the variables of a reading, by name."""
    return values_of(formula_of(statement, reading))


def index(name: str, axis: str) -> Letter:
    """Return a letter for an index of an axis."""
    return Letter(name, Sort(axis, index=True))


def some_of(statement: Statement, reading: str, axis: str) -> Fact:
    """Return that an axis has an index."""
    settings = conclusion_of(formula_of(statement, reading)).setting
    return setting(settings, f"there is an index of the axis {axis}")


def end(statement: Statement, *readings: str, by: Iterable[Fact]) -> None:
    """Conclude what readings say by facts, one for each sequent."""
    for reading in readings:
        sequents = conclusion_of(formula_of(statement, reading)).sequents
        for fact, sequent in zip(by, sequents, strict=True):
            conclude(fact, sequent)


def conclude_each(claim: Said | None, *facts: Fact) -> None:
    """Conclude the parts of a claim by facts, one for each."""
    for fact, sequent in zip(facts, present(claim, "a claim").sequents, strict=True):
        conclude(fact, sequent)


# numbers


def against(u: Term, v: Term) -> Fact:
    """Return that ||u|| ||v|| is at least -<u, v>."""
    (down,) = cite(CAUCHY_SCHWARZ, (), -u, v)
    size, square_, turned = *cite(LENGTH, (), u), cite(LENGTH, (), -u)[1]
    same, length = decide(ge(NORM(u), NORM(-u)), size, square_, turned), cite(LENGTH, (), v)[0]
    return decide(ge(NORM(u) * NORM(v), -(u @ v)), down, same, length)


def squares(x: Term, *indices: Letter) -> Fact:
    """Return that a sum of squares is at least 0, which is over one index after another."""
    fact = square(x)
    for one in indices:
        fact = add_up(fact, one)
    return fact


def length(x: Term, at: Letter) -> tuple[Fact, Fact]:
    """Return that a Euclidean norm is at least 0, and that its square is the sum of squares."""
    return root(total(x**2, at), squares(x, at))


def product(*facts: Fact) -> Fact:
    """Return that a product of terms is at least 0, as each is."""
    result, *more = facts
    for fact in more:
        term = result.proposition.term * fact.proposition.term
        result = decide(ge(term, 0), result, fact)
    return result


def root(x: Term, positive: Fact) -> tuple[Fact, Fact]:
    """Return that sqrt x >= 0, and (sqrt x)^2 = x, for a term x that is at least 0."""
    above, whole = cite(ROOT, [positive], x)
    return above, whole


def count(*indices: Letter) -> Fact:
    """Return that the number of indices is at least 0."""
    fact = decide(ge(1, 0))
    for one in indices:
        fact = add_up(fact, one)
    return fact


def size_by_squares(x: Term, large: Fact, small: Fact) -> Fact:
    """Return that |x| <= c, as c >= 0 and c^2 >= x^2."""
    c = large.proposition.term
    return decide(ge(c, ABS(x)), cite(SIZE, (), x)[1], large, small)


def root_at_most(large: Fact, root: tuple[Fact, Fact], small: Fact) -> Fact:
    """Return that c >= s, if c >= 0, s is a root, and c^2 >= s^2.

    Args:
        large: that c is at least 0.
        root: that s is at least 0, and the value of s^2.
        small: that c^2 is at least this square.
    """
    c, s = large.proposition.term, root[0].proposition.term
    return decide(ge(c, s), large, root[1], small)


def size_at_most(above: Fact, below: Fact, x: Term, bound: Operand) -> Fact:
    """Return that |x| is at most a bound, if x and -x are."""
    return decide(ge(bound, ABS(x)), cite(SIZE, (), x)[1], above, below)


def rises_at_most(
    f: Term, x: Letter, ends: tuple[Term, Term], order: Fact, slope: tuple[Fact, Fact]
) -> tuple[Fact, Fact]:
    """Return that f(b) - f(a) and f(a) - f(b) are at most c (b - a), by two functions that rise.

    Args:
        f: the function, a term in x.
        x: its argument.
        ends: a and b.
        order: that b is at least a.
        slope: that f' and -f' are at most c, for all x; so c x - f and c x + f rise.
    """
    line = (slope[0].proposition.term + derivative(f, x, {})) * x.term
    (one,) = cite(RISES, [order, slope[0]], line - f, x, {}, *ends)
    (other,) = cite(RISES, [order, slope[1]], line + f, x, {}, *ends)
    return one, other


def change_at_most(f: Term, x: Letter, a: Term, b: Term, slope: tuple[Fact, Fact]) -> Fact:
    """Return that |f(a) - f(b)| <= c |a - b|, as f' and -f' are at most c."""
    c, apart = slope[0].proposition.term + derivative(f, x, {}), a - b
    change = substituted(f, {x: a}) - substituted(f, {x: b})
    size, size_square = cite(SIZE, (), apart)
    condition = ge(apart, 0)

    def case(side: Fact, low: Term, high: Term) -> Fact:
        order = decide(ge(high, low), side)
        far = scale(decide(eq(ABS(apart), high - low), size, size_square, order), c)
        one, other = (
            decide(ge(fact.proposition.term + far.proposition.term, 0), fact, far)
            for fact in rises_at_most(f, x, (low, high), order, slope)
        )
        return size_at_most(one, other, change, c * ABS(apart))

    yes, no = assume(condition), assume(condition.denied())
    return cases(case(yes, b, a), case(no, a, b), condition)


def cauchy(x: Term, y: Term, *indices: Letter, weight: Fact | None = None) -> Fact:
    """Return that (sum w x y)^2 <= (sum w x^2) (sum w y^2), for weights w >= 0, 1 unless given."""
    t = Letter("t")
    fact = square(x * t.term + y)
    w: Operand = 1
    if weight is not None:
        w = weight.proposition.term
        fact = decide(ge(w * (x * t.term + y) ** 2, 0), fact, weight)
    parts = [w * x**2, w * x * y, w * y**2]
    for one in indices:
        fact = add_up(fact, one)
        parts = [total(part, one) for part in parts]
    (result,) = cite(DISCRIMINANT, [fact], t, *parts)
    return result


def no_sum(body: Term, index: Letter, none: Fact) -> Fact:
    """Return that a sum is 0, as there are no indices: their number is 0."""
    within = cauchy(body, as_term(1), index)
    return decide(eq(total(body, index), 0), within, scale(none, total(body**2, index)))


def entry_at_most(x: Term, at: Letter, bound: Fact) -> Fact:
    """Return that no entry exceeds c, if the norm is at most c."""
    c = bound.proposition.term + SQRT(total(x**2, at))
    return decide(ge(c, x), bound, *length(x, at), one_of_sum(square(x), at))


@dataclass(frozen=True, slots=True)
class Inverses:
    """Inverses of numbers a and b that are at least c > 0."""

    units: tuple[Fact, Fact]  # that a/a and b/b are 1
    positive: tuple[Fact, Fact]  # that 1/a and 1/b are above 0
    product: Fact  # that 1/c^2 is at least 1/(a b)


def inverses(c: Fact, a: Term, b: Term, a_least: Fact, b_least: Fact) -> Inverses:
    """Return facts on the inverses of two numbers that are at least c, which is above 0."""
    least = c.proposition.term
    over = INV(least)
    unit, above = cite(RECIPROCAL, [c], least)
    units, signs, below = [], [], []
    for x, fact in ((a, a_least), (b, b_least)):
        x_unit, x_above = cite(RECIPROCAL, [decide(gt(x, 0), c, fact)], x)
        spare = product(x_above, above, fact)
        below.append(decide(ge(over, INV(x)), spare, scale(x_unit, over), scale(unit, INV(x))))
        units.append(x_unit)
        signs.append(x_above)
    both = decide(ge(over**2, INV(a) * INV(b)), *below, signs[1])
    return Inverses((units[0], units[1]), (signs[0], signs[1]), both)


def image(A: Term, row: Letter, column: Letter, v: Term) -> tuple[Fact, Fact]:
    """Return that a spectral norm is at least 0, and ||A v||^2 at most its square ||v||^2."""
    positive, bound = cite(SPECTRAL, (), A, row, column, v)
    return positive, bound


def by_steps(claim: Proposition, start: Iterable[Fact], step: Iterable[Fact]) -> Fact:
    """Return a claim for all k, from facts that give it at 0, and at k + 1 if it holds at k."""
    first = decide(claim.at({K: as_term(0)}), *start)
    return induction(claim, first, decide(claim.at({K: K.term + 1}), assume(claim), *step))


# programmes


def no_shorter(vector: Term) -> Fact:
    """Return that <v, v> is at least 0."""
    norm, norm_square = cite(LENGTH, (), vector)
    return decide(ge(vector @ vector, 0), norm_square, square(norm.proposition.term))


def inward(V: Term, U: Term, longer: Fact, stays: Callable[[Term, Fact, Fact], Fact]) -> Fact:
    """Return that <V, U - V> >= 0, if no point between V and U is shorter than V.

    Were it c < 0, then V + t (U - V) with t = -c/||U - V||^2 <= 1 would be shorter than V.

    Args:
        V: the shorter vector.
        U: the other one.
        longer: that U is no shorter than V.
        stays: returns that V + t (U - V) is no shorter than V, from t > 0 and 1 - t >= 0.
    """
    shift = U - V
    c, q = V @ shift, shift @ shift
    goal, condition = ge(c, 0), ge(c, 0)
    no = assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [decide(gt(q, 0), longer, no)], q)
    t = -c * INV(q)
    part = decide(gt(t, 0), inverse, no)
    rest = decide(ge(1 - t, 0), longer, unit, no)
    some_gain = decide(gt(-t * c, 0), part, no)
    short = stays(V + t * shift, part, rest)
    refuted = decide(goal, short, scale(unit, t * c), some_gain, degree=1)
    return cases(assume(condition), refuted, condition)


# exponentials


def power(x: Term) -> Fact:
    """Return that exp(x) > 0."""
    return cite(EXPONENTIAL, (), x)[0]


def powers_rise(low: Term, high: Term, order: Fact) -> Fact:
    """Return that exp(high) >= exp(low), as high >= low."""
    (law,) = cite(EXPONENTIAL_OF_SUM, (), low, high - low)
    tangent = cite(EXPONENTIAL, (), high - low)[1]
    return decide(ge(EXP(high), EXP(low)), law, tangent, order, power(low))


def tangent(x: Term, at: Term) -> Fact:
    """Return that exp(x) >= exp(at) (1 + x - at)."""
    (law,) = cite(EXPONENTIAL_OF_SUM, (), at, x - at)
    line = cite(EXPONENTIAL, (), x - at)[1]
    return decide(ge(EXP(x), EXP(at) * (1 + x - at)), law, line, power(at))


def powers_apart(x: Term, y: Term, top: Term, x_top: Fact, y_top: Fact) -> Fact:
    """Return that E w (x - y) >= w^2 for w = exp(x) - exp(y), if E >= exp(x) and E >= exp(y)."""
    change, apart, up, down = EXP(x) - EXP(y), x - y, tangent(x, y), tangent(y, x)
    goal, condition = ge(top * change * apart, change**2), ge(apart, 0)
    yes, no = assume(condition), assume(condition.denied())
    rises = decide(ge(change, 0), up, yes, power(y))
    most = decide(ge(top * apart, change), down, yes, x_top)
    falls = decide(ge(-change, 0), down, no, power(x))
    least = decide(ge(change, top * apart), up, no, y_top)
    return cases(decide(goal, rises, most), decide(goal, falls, least), condition)


def powers_change(x: Term, y: Term, top: Term, x_top: Fact, y_top: Fact) -> Fact:
    """Return that (exp(x) - exp(y))^2 <= E^2 (x - y)^2, as E is at least exp(x) and exp(y)."""
    change, apart = EXP(x) - EXP(y), top * (x - y)
    near = powers_apart(x, y, top, x_top, y_top)
    return decide(ge(apart**2, change**2), near, square(apart - change))


def exponents_rise(low: Term, high: Term, order: Fact) -> Fact:
    """Return that b >= a, as exp(b) >= exp(a)."""
    return decide(ge(high, low), order, tangent(low, high), power(high))


def logs_rise(low: Term, high: Term, positive: Fact, order: Fact) -> Fact:
    """Return that log(high) >= log(low), as high >= low > 0."""
    above = decide(gt(high, 0), positive, order)
    is_low, is_high = (
        cite(LOGARITHM, [fact], x)[0] for fact, x in ((positive, low), (above, high))
    )
    more = decide(ge(EXP(LOG(high)), EXP(LOG(low))), order, is_low, is_high)
    return exponents_rise(LOG(low), LOG(high), more)


def outgrows(grows: Fact, b: Letter, factor: Fact, level: Fact) -> Fact:
    """Return that f x >= c in the end.

    Args:
        grows: that x > b in the end, for every b > 0.
        b: the letter of this bound.
        factor: that f > 0.
        level: that c > 0.
    """
    f, c = factor.proposition.term, level.proposition.term
    unit, inverse = cite(RECIPROCAL, [factor], f)
    far = at(grows, {b: c * INV(f)}, decide(gt(c * INV(f), 0), level, inverse))
    x = far.proposition.term + c * INV(f)
    return decide(ev(ge(f * x, c)), far, factor, scale(unit, c))


# softmax


@dataclass(frozen=True, slots=True)
class Softmax:
    """The softmax of logits."""

    weight: Term  # the weight at an index, a term in it
    sum: Term  # the sum of the exponentials
    sum_positive: Fact  # it is above 0
    positive: Fact  # each weight is above 0
    unit: Fact  # the sum times its reciprocal is 1
    inverse: Fact  # this reciprocal is above 0

    def one(self, at: Letter) -> Fact:
        """Return that the weights add up to 1."""
        return decide(eq(total(self.weight, at), 1), self.unit)


def softmax(logit: Term, at: Letter, some: Fact) -> Softmax:
    """Return the softmax of logits over an index set that is not empty."""
    whole = total(EXP(logit), at)
    sum_positive = add_up(power(logit), at, None, some)
    unit, inverse = cite(RECIPROCAL, [sum_positive], whole)
    weight = EXP(logit) * INV(whole)
    positive = decide(gt(weight, 0), power(logit), inverse)
    return Softmax(weight, whole, sum_positive, positive, unit, inverse)

"""Exact forms of numbers made of exponentials, logarithms and roots of rationals.

Balls alone never decide that irrational numbers are equal. A number of this arithmetic has a ball
and, if known, an exact form: a polynomial in letters, whose coefficients are quotients of sums of
c exp(r) with rational c and r. A letter is the logarithm of a prime or of such a sum, the root of a
prime or of another form, or the exponential of a form. A form without any term is the number 0.

Every step keeps the value, so a number whose form has no term is 0, whatever the letters are. The
converse is not used, but explains why the forms are good: exponentials of different rationals are
linearly independent over the rationals (Lindemann 1882, Weierstrass 1885; Baker, Transcendental
Number Theory, theorem 1.4). A step that cannot keep the form, or that exceeds the budget of work,
drops it. The budget counts products of terms, not seconds, so no verdict depends on the machine.

An algebraic number also has a separation bound (`attsvm.theory.arithmetic.algebraic`), by which a
small ball about 0 proves that it is 0.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any, Literal

from flint import arb, fmpq, fmpq_mat

from attsvm.theory.arithmetic import exponential_sums as sums
from attsvm.theory.arithmetic.algebraic import Bound, eigenvalues, rational
from attsvm.theory.arithmetic.balls import BALLS, Ball, whole_ball
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Numbers, Operation, Scalar, entries
from attsvm.theory.arithmetic.exponential_sums import (
    ONE,
    UNIT,
    WORK,
    Budget,
    Dropped,
    Factor,
    Quotient,
)
from attsvm.theory.arithmetic.traces import Untraceable

_NESTED = 16
"""Largest number of nested roots and exponentials of forms."""


_PARTS = 5040
"""Denominator of the exponents of letters that are exponentials."""


@dataclass(frozen=True, slots=True)
class Letter:
    """The logarithm, root or exponential of a number, which one of the next three fields gives.

    Attributes:
        kind: "log", "root" or "exp".
        prime: the number if it is a prime.
        factor: the number if it is a sum of exponentials, of which only logarithms are letters.
        form: the number if it is a form, of which only roots and exponentials are letters.
        depth: number of nested roots and exponentials of forms.
    """

    kind: Literal["log", "root", "exp"]
    prime: int = 0
    factor: Factor = frozenset()
    form: Key = frozenset()
    depth: int = 0


Monomial = frozenset[tuple[Letter, int]]
"""Letters with their powers."""

Key = frozenset[tuple[Monomial, Factor, frozenset[tuple[Factor, int]]]]
"""A form as a key of dictionaries."""

_PLAIN: Monomial = frozenset()
"""The monomial without letters."""


Form = dict[Monomial, Quotient]
"""A polynomial in letters; no coefficient is 0."""


def _constant(value: fmpq) -> Form:
    return {_PLAIN: Quotient({0: value}, {})} if value != 0 else {}


# forms


def _key(form: Form) -> Key:
    """Return a form as a key: equal for equal forms."""
    return frozenset(
        (monomial, frozenset(q.upper.items()), frozenset(q.lower.items()))
        for monomial, q in form.items()
    )


def _of_key(key: Key) -> Form:
    return {monomial: Quotient(dict(upper), dict(lower)) for monomial, upper, lower in key}


def _sum(one: Form, other: Form, budget: Budget) -> Form:
    total = dict(one)
    for monomial, quotient in other.items():
        known = total.get(monomial)
        total[monomial] = quotient if known is None else sums.plus(known, quotient, budget)
    return {monomial: q for monomial, q in total.items() if q.upper}


def _multiple(form: Form, c: fmpq) -> Form:
    return {m: Quotient(sums.scaled(q.upper, c, 0), q.lower) for m, q in form.items()}


def _form_product(one: Form, other: Form, budget: Budget) -> Form:
    total: Form = {}
    for m, a in one.items():
        for n, b in other.items():
            term = _reduced(m, n, budget)
            quotient = sums.times(a, b, budget)
            scaled = {k: sums.times(q, quotient, budget) for k, q in term.items()}
            total = _sum(total, scaled, budget)
    return total


def _reduced(one: Monomial, other: Monomial, budget: Budget) -> Form:
    """Return the product of two monomials; squares of roots are replaced by their radicands."""
    powers = dict(one)
    for letter, power in other:
        powers[letter] = powers.get(letter, 0) + power
    factors: list[Form] = []
    for letter, power in powers.items():
        if letter.kind == "root" and letter.prime and not 0 <= power <= 1:
            factors.append(_constant(fmpq(letter.prime) ** (power // 2)))
            powers[letter] = power % 2
        elif letter.kind == "root" and power >= 2:
            factors += [_of_key(letter.form)] * (power // 2)
            powers[letter] = power % 2
    monomial = frozenset((letter, power) for letter, power in powers.items() if power)
    result: Form = {monomial: Quotient({0: fmpq(1)}, {})}
    for factor in factors:
        result = _form_product(factor, result, budget)
    return result


def _reciprocal(form: Form, budget: Budget) -> Form:
    """Return 1 over a form of one term; of several terms without letters, over their sum."""
    if len(form) != 1:
        raise Dropped
    ((monomial, quotient),) = form.items()
    result: Form = {_PLAIN: sums.inverted(quotient, budget)}
    for letter, power in monomial:
        if letter.kind == "root" and letter.form:  # 1/s = s/F for s^2 = F
            over = _reciprocal(_of_key(letter.form), budget)
            one = _form_product(
                {frozenset({(letter, 1)}): Quotient({0: fmpq(1)}, {})}, over, budget
            )
        elif letter.kind == "root":
            one = _multiple(_letter(letter), 1 / fmpq(letter.prime))
        else:
            result = _form_product(result, _letter(letter, -power), budget)
            continue
        for _ in range(power):
            result = _form_product(result, one, budget)
    return result


def _letter(letter: Letter, power: int = 1) -> Form:
    return {frozenset({(letter, power)}): Quotient({0: fmpq(1)}, {})}


def _ratio(one: Form, other: Form, budget: Budget) -> Form:
    """Return the quotient of two forms: also of proportional ones, such as log 8 / log 2."""
    if len(other) > 1 and one.keys() == other.keys():
        monomial = next(iter(one))
        guess = sums.times(one[monomial], sums.inverted(other[monomial], budget), budget)
        if not _sum(
            one, _multiple(_form_product({_PLAIN: guess}, other, budget), fmpq(-1)), budget
        ):
            return {_PLAIN: guess}
    return _form_product(one, _reciprocal(other, budget), budget)


# functions


def _exponential(form: Form, budget: Budget) -> Form:
    """Return exp(r + sum k log(E)) = exp(r) times the product of E^k."""
    result = _constant(fmpq(1))
    for monomial, quotient in form.items():
        c = quotient.upper.get(0, fmpq(0))
        constant = not quotient.lower and quotient.upper.keys() == {0}  # the coefficient is c
        power = c * UNIT
        if constant and monomial == _PLAIN and power.q == 1:
            result = {
                m: Quotient(sums.scaled(q.upper, fmpq(1), int(power)), q.lower)
                for m, q in result.items()
            }
            continue
        logs = [letter for letter, times in monomial if letter.kind == "log" and times == 1]
        if constant and len(logs) == len(monomial) == 1 and (2 * c).q == 1 and abs(c) <= 64:
            result = _form_product(result, _power_of(logs[0], c, budget), budget)
            continue
        terms = (
            [quotient]
            if quotient.lower
            else [Quotient({r: a}, {}) for r, a in quotient.upper.items()]
        )
        for term in terms:
            result = _form_product(result, _exponential_letter(monomial, term), budget)
    return result


def _exponential_letter(monomial: Monomial, quotient: Quotient) -> Form:
    """Return exp(c T), where T has the leading coefficient 1, as a power of a letter exp(T / N).

    N is `_PARTS`, so that many rational c have the same letter; for others it is a multiple.

    Raises:
        Dropped: too many letters are nested.
    """
    c = quotient.upper[min(quotient.upper)]
    parts = math.lcm(int(c.q), _PARTS)
    inner = {monomial: Quotient(sums.scaled(quotient.upper, 1 / (c * parts), 0), quotient.lower)}
    return _letter(Letter("exp", form=_key(inner), depth=_depth(inner)), int(c * parts))


def _power_of(letter: Letter, c: fmpq, budget: Budget) -> Form:
    """Return exp(c L) for a letter L that is a logarithm, and 2 c an integer."""
    if letter.kind != "log":
        raise Dropped
    whole = int((c - fmpq(int((2 * c).p) % 2, 2)).p)  # the largest integer that is at most c
    half = (2 * c).p % 2 != 0
    if letter.prime:
        base = _constant(fmpq(letter.prime))
        root = _letter(Letter("root", prime=letter.prime))
    else:
        base = {_PLAIN: Quotient(dict(letter.factor), {})}
        root = _root_letter(base)
    one = base if whole >= 0 else _reciprocal(base, budget)
    result = root if half else _constant(fmpq(1))
    for _ in range(abs(whole)):
        result = _form_product(result, one, budget)
    return result


def _logarithm(form: Form, budget: Budget) -> Form:
    """Return the logarithm of a form of one term that is known to be positive."""
    if len(form) != 1:
        raise Dropped
    ((monomial, quotient),) = form.items()
    c, exponent, factor = sums.normal(quotient.upper)
    total: Form = {}
    for letter, power in monomial:
        if letter.kind == "log":
            raise Dropped
        if letter.kind == "exp":
            total = _sum(total, _multiple(_of_key(letter.form), fmpq(power)), budget)
            continue
        if letter.prime:
            one = _letter(Letter("log", prime=letter.prime))
        else:
            one = _logarithm(_of_key(letter.form), budget)
        one = _multiple(one, fmpq(power, 2))
        total = _sum(total, one, budget)
    if not c > 0:
        raise Dropped
    for prime, power in sums.primes(c).items():
        total = _sum(total, _multiple(_letter(Letter("log", prime=prime)), fmpq(power)), budget)
    total = _sum(total, _constant(fmpq(exponent, UNIT)), budget)
    for part, power in ((factor, 1), *((f, -k) for f, k in quotient.lower.items())):
        if part != ONE:
            total = _sum(total, _multiple(_letter(Letter("log", factor=part)), fmpq(power)), budget)
    return total


def _root(form: Form, budget: Budget) -> Form:
    """Return the root of a form that is known to be positive."""
    if len(form) != 1 or next(iter(form)) != _PLAIN:
        return _root_letter(form)
    quotient = form[_PLAIN]
    odd = {f: k % 2 for f, k in quotient.lower.items()}  # root of N/F = root of N F, over F
    upper = sums.product(quotient.upper, sums.expanded(odd, budget), budget)
    lower = {f: (k + 1) // 2 for f, k in quotient.lower.items()}
    c, exponent, factor = sums.normal(upper)
    if not c > 0:
        raise Dropped
    rational, squarefree = fmpq(1), list[int]()
    for prime, power in sums.primes(c).items():
        rational *= fmpq(prime) ** (power // 2)
        squarefree += [prime] * (power % 2)
    result: Form = {_PLAIN: Quotient({0: rational}, lower)}
    for prime in squarefree:
        result = _form_product(result, _letter(Letter("root", prime=prime)), budget)
    whole = sums.square_root(dict(factor), budget) if exponent % 2 == 0 else None
    if whole is not None:
        whole = sums.scaled(whole, fmpq(1), exponent // 2)
        return _form_product(result, {_PLAIN: Quotient(whole, {})}, budget)
    inner = sums.scaled(dict(factor), fmpq(1), exponent)
    other = _root_letter({_PLAIN: Quotient(inner, {})})
    return _form_product(result, other, budget)


def _root_letter(form: Form) -> Form:
    """Return the root of a form as a letter.

    Raises:
        Dropped: the form has too many nested roots; each takes a recursive call.
    """
    return _letter(Letter("root", form=_key(form), depth=_depth(form)))


def _depth(form: Form) -> int:
    """Return the number of nested roots and exponentials of a letter with this form.

    Raises:
        Dropped: there are too many.
    """
    depth = 1 + max((letter.depth for monomial in form for letter, _ in monomial), default=0)
    if depth > _NESTED:
        raise Dropped
    return depth


# numbers


class Exact(Scalar):
    """A number by a ball and, if known, its form and its separation bound."""

    __slots__ = ("_bound", "ball", "budget", "form")

    def __init__(
        self, ball: Ball, form: Form | None, budget: Budget, bound: Bound | None = None
    ) -> None:
        self.form, self.budget = form, budget
        self._bound = bound if bound is not None and bound.useful else None
        self.ball = ball
        if bound is not None and isinstance(ball, arb) and bound.vanishes(ball):
            self.ball = fmpq(0)
        if form is not None and not form:
            self.ball = fmpq(0)
        elif form is not None and form.keys() == {_PLAIN} and not form[_PLAIN].lower:
            upper = form[_PLAIN].upper
            self.ball = upper[0] if upper.keys() == {0} else ball

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = Exact(fmpq(other), _constant(fmpq(other)), self.budget)
        if not isinstance(other, Exact):
            return NotImplemented  # an array, or a number that carries its derivatives
        a, b = (other, self) if swapped else (self, other)
        try:
            ball = operation(a.ball, b.ball)
        except ZeroDivisionError as error:
            raise Untraceable("a division by 0") from error
        form: Form | None = None
        defined = operation is not truediv or b.ball > 0 or b.ball < 0
        if a.form is not None and b.form is not None and defined:
            with contextlib.suppress(Dropped):
                form = _JOINED[operation](a.form, b.form, self.budget)
        bound: Bound | None = None
        one, other = a.bound, b.bound
        if one is not None and other is not None and defined:
            bound = _BOUNDS[operation](one, other)
        return Exact(ball, form, self.budget, bound)

    def __neg__(self) -> Exact:
        form = None if self.form is None else _multiple(self.form, fmpq(-1))
        bound = None if self._bound is None else replace(self._bound, name=None)
        return Exact(-self.ball, form, self.budget, bound)

    @property
    def bound(self) -> Bound | None:
        """The separation bound, if the number is known to be algebraic."""
        return rational(self.ball) if isinstance(self.ball, fmpq) else self._bound

    @property
    def zero(self) -> bool:
        """Whether the number is proved to be 0."""
        return isinstance(self.ball, fmpq) and self.ball == 0

    def settled(self) -> Ball:
        """Return 0 if the number is proved to be 0, else its ball.

        A sum of logarithms is 0 if its exponential is 1. That covers products, such as
        log(exp(2) - 1) = log(exp(1) - 1) + log(exp(1) + 1).
        """
        if self.form is None or self.zero:
            return self.ball
        try:
            scale = _common_denominator(self.form)
            power = _exponential(_multiple(self.form, fmpq(scale)), self.budget)
            one = _sum(power, _constant(fmpq(-1)), self.budget)
        except Dropped:
            return self.ball
        return self.ball if one else fmpq(0)


def _common_denominator(form: Form) -> int:
    """Return the common denominator of rational coefficients of letters.

    Raises:
        Dropped: a coefficient is not rational.
    """
    denominators = [1]
    for monomial, quotient in form.items():
        if quotient.lower or quotient.upper.keys() != {0}:
            raise Dropped
        if monomial != _PLAIN:
            denominators.append(int(quotient.upper[0].q))
    return math.lcm(*denominators)


def _difference(one: Form, other: Form, budget: Budget) -> Form:
    return _sum(one, _multiple(other, fmpq(-1)), budget)


_JOINED: Mapping[Operation, Callable[[Form, Form, Budget], Form]] = {
    add: _sum,
    sub: _difference,
    mul: _form_product,
    truediv: _ratio,
}

_BOUNDS: Mapping[Operation, Callable[[Bound, Bound], Bound]] = {
    add: Bound.plus,
    sub: Bound.plus,
    mul: Bound.times,
    truediv: Bound.over,
}


def _applied(
    name: str, function: Callable[[Form, Budget], Form], positive: bool, x: Exact
) -> Exact:
    """Return a function of a number by the name that it has in the namespace.

    If the function needs a `positive` argument and the ball does not show that, the form is lost.
    """
    form: Form | None = None
    if x.form is not None and (not positive or x.ball > 0):
        with contextlib.suppress(Dropped):
            form = function(x.form, x.budget)
    return Exact(getattr(BALLS, name)(x.ball), form, x.budget)


def _sqrt(x: Exact) -> Exact:
    if x.zero:
        return x
    result = _applied("sqrt", _root, True, x)
    bound = x.bound if x.ball > 0 else None
    return Exact(result.ball, result.form, x.budget, None if bound is None else bound.root())


def _abs(x: Exact) -> Exact:
    if x.ball >= 0:
        return x
    if x.ball <= 0:
        return -x
    raise Untraceable("the ball does not decide the sign of a number")


def _is_zero(x: Exact) -> Exact:
    if x.zero:
        return Exact(fmpq(1), _constant(fmpq(1)), x.budget)
    if x.ball > 0 or x.ball < 0:
        return Exact(fmpq(0), {}, x.budget)
    raise Untraceable("neither form nor ball decides whether a number is 0")


def _known(ball: object, budget: Budget) -> Exact:
    """Return a rational number.

    Raises:
        Untraceable: the number is a ball.
    """
    if not isinstance(ball, fmpq):
        raise Untraceable("a function of integers of a number that is not known exactly")
    return Exact(ball, _constant(ball), budget)


class Exponentials(Arithmetic[Exact]):
    """Numbers with exact forms; one object serves one evaluation, as it has a budget of work."""

    name = "forms"
    numbers = Exact

    def __init__(self, work: int = WORK) -> None:
        self._budget = Budget(work)

    exp = elementary(functools.partial(_applied, "exp", _exponential, False))
    log = elementary(functools.partial(_applied, "log", _logarithm, True))
    sqrt = elementary(_sqrt)
    abs = elementary(_abs)
    is_zero = elementary(_is_zero)
    floor = elementary(lambda x: _known(BALLS.floor(x.ball), x.budget))

    def _whole(self, name: str, *numbers: object) -> Exact:
        value = whole_ball(name, *(self.exact(x).ball for x in numbers))
        return _known(value, self._budget)

    def of(self, value: fmpq) -> Exact:
        """Return a rational number."""
        return Exact(value, _constant(value), self._budget)

    def _rational(self, value: Fraction) -> Exact:
        return self.of(fmpq(value.numerator, value.denominator))

    def _literal(self, number: float | fmpq | arb) -> Exact:
        if isinstance(number, arb):
            raise Untraceable("a ball that is not known to be any one number")
        if isinstance(number, fmpq):
            return self.of(number)
        return self.of(fmpq(*number.as_integer_ratio()))

    def maximum(self, x: object, y: object) -> Exact:
        """Return the larger number, if the balls decide or both are equal."""
        x, y = (t if isinstance(t, Exact) else self.exact(t) for t in (x, y))
        gap = x - y
        if gap.ball >= 0:
            return x
        if gap.ball <= 0:
            return y
        raise Untraceable("a maximum of numbers that the balls do not tell apart")

    def spectral(self, A: Numbers) -> Exact:
        """Return the spectral norm: the root of the largest eigenvalue of a Gram matrix."""
        if 1 in A.shape:
            return self.norm(A)
        balls = entries([t.ball for t in A.ravel()], A.shape)
        if all(isinstance(ball, fmpq) for ball in balls.ravel()):
            return self.singular(A)[0]
        return Exact(BALLS.spectral(balls), None, self._budget)

    def _eigenvalues(self, S: Numbers) -> Numbers:
        """Return the eigenvalues of a symmetric matrix; rational ones have a form."""
        balls: Any = entries([t.ball for t in S.ravel()], S.shape)
        if not all(isinstance(ball, fmpq) for ball in balls.ravel()):
            values: list[tuple[Ball, Bound | None]] = [
                (ball, None) for ball in BALLS._eigenvalues(balls)
            ]
        else:
            values = eigenvalues(fmpq_mat(balls.tolist()))
        return entries(
            [
                self.of(ball) if isinstance(ball, fmpq) else Exact(ball, None, self._budget, bound)
                for ball, bound in values
            ]
        )

    def _level(self, s: Numbers) -> Exact:
        return max(s, key=lambda t: arb(t.ball).mid())

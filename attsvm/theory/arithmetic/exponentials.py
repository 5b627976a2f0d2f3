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
from dataclasses import replace
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

from flint import arb, fmpq, fmpq_mat

from attsvm.theory.arithmetic.algebraic import Bound, eigenvalues, rational
from attsvm.theory.arithmetic.balls import BALLS, Ball, whole_ball
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Numbers, Operation, Scalar, entries
from attsvm.theory.arithmetic.exponential_forms import (
    PLAIN,
    Form,
    constant_form,
    exponential_form,
    form_multiple,
    form_product,
    form_ratio,
    form_sum,
    logarithm_form,
    root_form,
)
from attsvm.theory.arithmetic.exponential_sums import (
    WORK,
    Budget,
    Dropped,
)
from attsvm.theory.arithmetic.traces import Untraceable

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
        elif form is not None and form.keys() == {PLAIN} and not form[PLAIN].lower:
            upper = form[PLAIN].upper
            self.ball = upper[0] if upper.keys() == {0} else ball

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        if isinstance(other, int):
            other = Exact(fmpq(other), constant_form(fmpq(other)), self.budget)
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
        form = None if self.form is None else form_multiple(self.form, fmpq(-1))
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
            power = exponential_form(form_multiple(self.form, fmpq(scale)), self.budget)
            one = form_sum(power, constant_form(fmpq(-1)), self.budget)
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
        if monomial != PLAIN:
            denominators.append(int(quotient.upper[0].q))
    return math.lcm(*denominators)


def _difference(one: Form, other: Form, budget: Budget) -> Form:
    return form_sum(one, form_multiple(other, fmpq(-1)), budget)


_JOINED: Mapping[Operation, Callable[[Form, Form, Budget], Form]] = {
    add: form_sum,
    sub: _difference,
    mul: form_product,
    truediv: form_ratio,
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
    result = _applied("sqrt", root_form, True, x)
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
        return Exact(fmpq(1), constant_form(fmpq(1)), x.budget)
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
    return Exact(ball, constant_form(ball), budget)


class Exponentials(Arithmetic[Exact]):
    """Numbers with exact forms; one object serves one evaluation, as it has a budget of work."""

    name = "forms"
    numbers = Exact

    def __init__(self, work: int = WORK) -> None:
        self._budget = Budget(work)

    exp = elementary(functools.partial(_applied, "exp", exponential_form, False))
    log = elementary(functools.partial(_applied, "log", logarithm_form, True))
    sqrt = elementary(_sqrt)
    abs = elementary(_abs)
    is_zero = elementary(_is_zero)
    floor = elementary(lambda x: _known(BALLS.floor(x.ball), x.budget))

    def _whole(self, name: str, *numbers: object) -> Exact:
        value = whole_ball(name, *(self.exact(x).ball for x in numbers))
        return _known(value, self._budget)

    def of(self, value: fmpq) -> Exact:
        """Return a rational number."""
        return Exact(value, constant_form(value), self._budget)

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

"""Forms of exact numbers with exponentials, logarithms and roots: sums of products of letters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from flint import fmpq

from attsvm.theory.arithmetic import exponential_sums as sums
from attsvm.theory.arithmetic.exponential_sums import (
    ONE,
    UNIT,
    Budget,
    Dropped,
    Factor,
    Quotient,
)

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


PLAIN: Monomial = frozenset()
"""The monomial without letters."""


Form = dict[Monomial, Quotient]
"""A polynomial in letters; no coefficient is 0."""


def constant_form(value: fmpq) -> Form:
    """Return a rational number as a form."""
    return {PLAIN: Quotient({0: value}, {})} if value != 0 else {}


# forms


def _key(form: Form) -> Key:
    """Return a form as a key: equal for equal forms."""
    return frozenset(
        (monomial, frozenset(q.upper.items()), frozenset(q.lower.items()))
        for monomial, q in form.items()
    )


def _of_key(key: Key) -> Form:
    return {monomial: Quotient(dict(upper), dict(lower)) for monomial, upper, lower in key}


def form_sum(one: Form, other: Form, budget: Budget) -> Form:
    """Return the sum of two forms."""
    total = dict(one)
    for monomial, quotient in other.items():
        known = total.get(monomial)
        total[monomial] = quotient if known is None else sums.plus(known, quotient, budget)
    return {monomial: q for monomial, q in total.items() if q.upper}


def form_multiple(form: Form, c: fmpq) -> Form:
    """Return a form times a rational number."""
    return {m: Quotient(sums.scaled(q.upper, c, 0), q.lower) for m, q in form.items()}


def form_product(one: Form, other: Form, budget: Budget) -> Form:
    """Return the product of two forms."""
    total: Form = {}
    for m, a in one.items():
        for n, b in other.items():
            term = _reduced(m, n, budget)
            quotient = sums.times(a, b, budget)
            scaled = {k: sums.times(q, quotient, budget) for k, q in term.items()}
            total = form_sum(total, scaled, budget)
    return total


def _reduced(one: Monomial, other: Monomial, budget: Budget) -> Form:
    """Return the product of two monomials; squares of roots are replaced by their radicands."""
    powers = dict(one)
    for letter, power in other:
        powers[letter] = powers.get(letter, 0) + power
    factors: list[Form] = []
    for letter, power in powers.items():
        if letter.kind == "root" and letter.prime and not 0 <= power <= 1:
            factors.append(constant_form(fmpq(letter.prime) ** (power // 2)))
            powers[letter] = power % 2
        elif letter.kind == "root" and power >= 2:
            factors += [_of_key(letter.form)] * (power // 2)
            powers[letter] = power % 2
    monomial = frozenset((letter, power) for letter, power in powers.items() if power)
    result: Form = {monomial: Quotient({0: fmpq(1)}, {})}
    for factor in factors:
        result = form_product(factor, result, budget)
    return result


def _reciprocal(form: Form, budget: Budget) -> Form:
    """Return 1 over a form of one term; of several terms without letters, over their sum."""
    if len(form) != 1:
        raise Dropped
    ((monomial, quotient),) = form.items()
    result: Form = {PLAIN: sums.inverted(quotient, budget)}
    for letter, power in monomial:
        if letter.kind == "root" and letter.form:  # 1/s = s/F for s^2 = F
            over = _reciprocal(_of_key(letter.form), budget)
            one = form_product({frozenset({(letter, 1)}): Quotient({0: fmpq(1)}, {})}, over, budget)
        elif letter.kind == "root":
            one = form_multiple(_letter(letter), 1 / fmpq(letter.prime))
        else:
            result = form_product(result, _letter(letter, -power), budget)
            continue
        for _ in range(power):
            result = form_product(result, one, budget)
    return result


def _letter(letter: Letter, power: int = 1) -> Form:
    return {frozenset({(letter, power)}): Quotient({0: fmpq(1)}, {})}


def form_ratio(one: Form, other: Form, budget: Budget) -> Form:
    """Return the quotient of two forms: also of proportional ones, such as log 8 / log 2."""
    if len(other) > 1 and one.keys() == other.keys():
        monomial = next(iter(one))
        guess = sums.times(one[monomial], sums.inverted(other[monomial], budget), budget)
        if not form_sum(
            one, form_multiple(form_product({PLAIN: guess}, other, budget), fmpq(-1)), budget
        ):
            return {PLAIN: guess}
    return form_product(one, _reciprocal(other, budget), budget)


# functions


def exponential_form(form: Form, budget: Budget) -> Form:
    """Return exp(r + sum k log(E)) = exp(r) times the product of E^k."""
    result = constant_form(fmpq(1))
    for monomial, quotient in form.items():
        c = quotient.upper.get(0, fmpq(0))
        constant = not quotient.lower and quotient.upper.keys() == {0}  # the coefficient is c
        power = c * UNIT
        if constant and monomial == PLAIN and power.q == 1:
            result = {
                m: Quotient(sums.scaled(q.upper, fmpq(1), int(power)), q.lower)
                for m, q in result.items()
            }
            continue
        logs = [letter for letter, times in monomial if letter.kind == "log" and times == 1]
        if constant and len(logs) == len(monomial) == 1 and (2 * c).q == 1 and abs(c) <= 64:
            result = form_product(result, _power_of(logs[0], c, budget), budget)
            continue
        terms = (
            [quotient]
            if quotient.lower
            else [Quotient({r: a}, {}) for r, a in quotient.upper.items()]
        )
        for term in terms:
            result = form_product(result, _exponential_letter(monomial, term), budget)
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
        base = constant_form(fmpq(letter.prime))
        root = _letter(Letter("root", prime=letter.prime))
    else:
        base = {PLAIN: Quotient(dict(letter.factor), {})}
        root = _root_letter(base)
    one = base if whole >= 0 else _reciprocal(base, budget)
    result = root if half else constant_form(fmpq(1))
    for _ in range(abs(whole)):
        result = form_product(result, one, budget)
    return result


def logarithm_form(form: Form, budget: Budget) -> Form:
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
            total = form_sum(total, form_multiple(_of_key(letter.form), fmpq(power)), budget)
            continue
        if letter.prime:
            one = _letter(Letter("log", prime=letter.prime))
        else:
            one = logarithm_form(_of_key(letter.form), budget)
        one = form_multiple(one, fmpq(power, 2))
        total = form_sum(total, one, budget)
    if not c > 0:
        raise Dropped
    for prime, power in sums.primes(c).items():
        total = form_sum(
            total, form_multiple(_letter(Letter("log", prime=prime)), fmpq(power)), budget
        )
    total = form_sum(total, constant_form(fmpq(exponent, UNIT)), budget)
    for part, power in ((factor, 1), *((f, -k) for f, k in quotient.lower.items())):
        if part != ONE:
            total = form_sum(
                total, form_multiple(_letter(Letter("log", factor=part)), fmpq(power)), budget
            )
    return total


def root_form(form: Form, budget: Budget) -> Form:
    """Return the root of a form that is known to be positive."""
    if len(form) != 1 or next(iter(form)) != PLAIN:
        return _root_letter(form)
    quotient = form[PLAIN]
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
    result: Form = {PLAIN: Quotient({0: rational}, lower)}
    for prime in squarefree:
        result = form_product(result, _letter(Letter("root", prime=prime)), budget)
    whole = sums.square_root(dict(factor), budget) if exponent % 2 == 0 else None
    if whole is not None:
        whole = sums.scaled(whole, fmpq(1), exponent // 2)
        return form_product(result, {PLAIN: Quotient(whole, {})}, budget)
    inner = sums.scaled(dict(factor), fmpq(1), exponent)
    other = _root_letter({PLAIN: Quotient(inner, {})})
    return form_product(result, other, budget)


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

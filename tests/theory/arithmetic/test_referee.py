"""Every function of the namespace means the same in every arithmetic, as the referee has it."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.arithmetic.script import DIGITS, Decimals, Scripts
from attsvm.theory.record import checker
from attsvm.theory.report.script import short_literal
from tests.theory.arithmetic.agreement import SIDES, UNITS, Side, agree, refereed
from tests.theory.arithmetic.cases import CASES, COMPARISONS
from tests.theory.arithmetic.referee import REFEREE, Referee, each, flat

NAMES = {name for name in dir(Namespace) if not name.startswith("_")} - COMPARISONS
NAMES -= {"name", "symbol", "values"}
"""What computes; `values` hands on the numbers of a record."""


class Written(Side):
    """Python that is written down: what stands beside a text is what the text comes to."""

    def check(self, case, arguments):
        m = self.arithmetic()
        space = {"np": np, "Decimal": Decimal}
        with np.errstate(all="ignore"):
            found = case.call(m, *(m.input_value(f"x{k}", x) for k, x in enumerate(arguments)))
            lines = [f"{name} = {text}" for name, text in m.lines.items()]
            exec("\n".join([*m.helpers.values(), *lines]), space)
            both = [self.numbers(found, lambda x: x.value)]
            both += [self.numbers(found, lambda x: eval(x.text, space))]
        raw = tuple((np.shape(x), np.asarray(x, dtype=float).tobytes()) for x in arguments)
        expected, rounding, _ = refereed(case, False, Fraction(0), raw)
        for numbers in both:
            assert getattr(numbers, "shape", ()) == getattr(expected, "shape", ())
            off = each(lambda x: REFEREE.exact(Fraction(x)), numbers) - expected
            room = self.room(rounding) + 0 * off
            assert all(abs(a) <= b for a, b in zip(flat(off), flat(room), strict=True))

    def numbers(self, found, value):
        return each(value, found)

    def room(self, rounding):
        return rounding * REFEREE.exact(Fraction(1, 2**150))


class WrittenForTheChecker(Side):
    """Programs of the checker: their enclosures hold the referee's value, and are narrow."""

    lacks = ("eigenvalues", "singular values", "integers")

    def check(self, case, arguments):
        if self.refuses(case, arguments):
            m = self.arithmetic()
            with pytest.raises(ClaimError):
                case.call(m, *(m.input_value(f"x{k}", x) for k, x in enumerate(arguments)))
            return
        m, space = self.arithmetic(), dict(vars(checker))
        checker.Real.bits = checker.PRECISIONS[2]
        found = case.call(m, *(m.input_value(f"x{k}", x) for k, x in enumerate(arguments)))
        exec("\n".join(f"{name} = {text}" for name, text in m.lines.items()), space)
        raw = tuple((np.shape(x), np.asarray(x, dtype=float).tobytes()) for x in arguments)
        expected, rounding, _ = refereed(case, False, Fraction(0), raw)
        assert getattr(found, "shape", ()) == getattr(expected, "shape", ())
        made = each(lambda x: checker.real(eval(x.text, space)), found)
        checker.Real.bits = checker.PRECISIONS[0]
        middle = each(lambda x: REFEREE.exact((x.low + x.high) / 2), made)
        radius = each(lambda x: REFEREE.exact((x.high - x.low) / 2), made)
        room = rounding * REFEREE.exact(Fraction(1, 2**40)) + 0 * middle
        for away, wide, most in zip(*map(flat, (middle - expected, radius, room)), strict=True):
            assert abs(away) <= wide + most * REFEREE.exact(Fraction(1, 2**110))
            assert wide <= most


class WrittenForNumpy(Written):
    def numbers(self, found, value):
        values = np.asarray(value(found), dtype=float)
        assert np.isfinite(values).all()
        return entries(values.ravel().tolist(), values.shape) if values.ndim else values.item()

    def room(self, rounding):
        return rounding * (UNITS * REFEREE.exact(Fraction(1, 2**53))) + Fraction(1, 2**1000)


class WrittenInDecimals(Written):
    unknown = ("log", "softplus", "expm1", "log1p", "is_zero")
    lacks = ("eigenvalues", "singular values", "logarithms", "zeros")

    def check(self, case, arguments):
        refused = case in [CASES[name] for name in self.unknown]
        refused |= case is CASES["spectral"] and min(arguments[0].shape) > 1
        refused |= self.refuses(case, arguments)
        with localcontext(Context(prec=DIGITS)):
            if not refused:
                super().check(case, arguments)
                return
            m = self.arithmetic()
            with pytest.raises((ClaimError, TypeError, ArithmeticError)):
                case.call(m, *(m.input_value(f"x{k}", x) for k, x in enumerate(arguments)))

    def numbers(self, found, value):
        values = np.asarray(value(found), dtype=object)
        assert all(isinstance(x, int | Decimal) for x in values.ravel())
        return entries(values.ravel().tolist(), values.shape) if values.ndim else values.item()


WITH_TEXTS = {
    **SIDES,
    "programs of the checker": WrittenForTheChecker(Programs),
    "scripts": WrittenForNumpy(lambda: Scripts(short_literal)),
    "scripts in decimals": WrittenInDecimals(lambda: Decimals(short_literal)),
}


def test_every_function_has_a_case_and_a_referee_of_its_own():
    assert set(CASES) == NAMES
    assert vars(Referee).keys() >= NAMES - {"exact"}  # constants are made by `_rational`


@pytest.mark.parametrize("name", CASES)
def test_all_arithmetics_agree_with_the_referee(name):
    sides = dict(WITH_TEXTS)
    if name in ("log", "inverse", "solve", "kl", "cross_entropy", "xlogx", "entropy"):
        del sides["wide balls"]  # the logarithm of one about 0 is no number, nor its reciprocal
    if name in ("indicator", "count"):
        del sides["balls"]  # a tie of irrational numbers stays open
    agree(sides, CASES[name])

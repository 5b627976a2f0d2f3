"""A check that an arithmetic agrees with the referee, used for the real ones and planted faults."""

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, ctx, fmpq
from hypothesis import HealthCheck, Phase, example, given, settings

from attsvm.theory.arithmetic import BALLS, FLOATS, Entries, Lane, Tensors, entries, lanes
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.traces import TRACES
from tests.searching import few
from tests.theory.arithmetic.cases import CASES, at_an_end, instances
from tests.theory.arithmetic.referee import BITS, REFEREE, enclosed, flat

UNITS = 64
"""The maximum number of roundings for one entry of a result from at most sixteen numbers."""


def array(number, values):
    """The array whose entries `number` makes from the fractions of `values`."""
    found = entries([number(Fraction(x)) for x in np.ravel(values).tolist()], np.shape(values))
    return found if np.shape(values) else found[()]


def rational(value):
    return fmpq(value.numerator, value.denominator)


def radii(first):
    """The radius of each argument: each is four times the one before."""
    return (first * 4**k for k in itertools.count())


@functools.lru_cache(maxsize=8)
def refereed(case, rooted, radius, raw):
    """The referee's value, the scale of its rounding, and the size of the arguments.

    The result is cached, as many sides ask for it.

    Args:
        case: the function and its arguments' shapes.
        rooted: whether arguments are multiplied by sqrt(2).
        radius: the radius of the first argument.
        raw: the shapes and bytes of the arguments.
    """
    arguments = [np.frombuffer(numbers).reshape(shape) for shape, numbers in raw]
    truth = [
        array(REFEREE.exact, x) + array(REFEREE.exact, s * float(r))
        for x, s, r in zip(arguments, shifts(arguments), radii(radius), strict=False)
    ]
    if rooted:
        truth = [x * REFEREE.sqrt(REFEREE.exact(2)) for x in truth]
    scale = (1 + max(abs(x) for argument in truth for x in flat(argument))) ** 4
    return case.call(REFEREE, *truth), case.rounding(*truth), scale


@dataclass(frozen=True)
class Side:
    """An arithmetic under test: `put` makes its numbers, and `compare` checks its results."""

    arithmetic: Any
    bits: int = 64
    rooted: bool = False  # arguments are multiplied by sqrt(2), so that they are not rational
    radius: Fraction = Fraction(0)  # the radius of the ball for the first argument
    lacks = ()  # values of `needs` that it refuses

    def refuses(self, case, arguments):
        """Whether it refuses this call, by an error of its own."""
        small = case.needs in ("eigenvalues", "singular values") and min(arguments[0].shape) < 3
        return case.needs in self.lacks and not small

    def check(self, case, arguments):
        with ctx.workprec(self.bits), np.errstate(all="ignore"):
            given_ = [self.put(x, r) for x, r in zip(arguments, radii(self.radius), strict=False)]
            if self.rooted:
                given_ = [x * self.arithmetic.sqrt(self.arithmetic.exact(2)) for x in given_]
            found = case.call(self.arithmetic, *given_)
        raw = tuple((np.shape(x), np.asarray(x, dtype=float).tobytes()) for x in arguments)
        expected, rounding, scale = refereed(case, self.rooted, self.radius, raw)
        assert getattr(found, "shape", ()) == getattr(expected, "shape", ())
        sizes = flat(rounding) if isinstance(rounding, Entries) else itertools.repeat(rounding)
        for one, other, size in zip(flat(found), flat(expected), sizes, strict=False):
            self.compare(one, other, size, enclosed(scale, 1), case)

    def compare(self, found, expected, rounding, scale, case):
        raise NotImplementedError


class BallSide(Side):
    def put(self, values, radius):
        def number(x):
            return arb(rational(x), rational(radius)) if radius else rational(x)

        return array(number, values)

    def compare(self, found, expected, rounding, scale, case):
        exact = not (self.rooted or self.radius)
        if case.exact and exact:
            assert isinstance(found, fmpq)
        with ctx.workprec(2 * BITS):
            ball = arb(found)
            assert ball.is_finite()
            assert ball.overlaps(enclosed(expected, scale))
            if not self.radius:
                room = enclosed(rounding, scale).upper() * arb(2) ** (16 - self.bits)
                assert ball.rad() <= room


class TraceSide(BallSide):
    def put(self, values, radius):
        return array(lambda x: TRACES.of(rational(x)), values)

    def compare(self, found, expected, rounding, scale, case):
        super().compare(found.ball, expected, rounding, scale, case)
        if isinstance(found.ball, fmpq):
            assert found.residue == TRACES.of(found.ball).residue


class FloatSide(Side):
    def put(self, values, radius):
        values = np.asarray(values, dtype=float)
        return lanes(np.stack([np.ones_like(values), values], axis=-1))

    def compare(self, found, expected, rounding, scale, case):
        assert isinstance(found, Lane)
        value = np.broadcast_to(np.asarray(found.value), (2,))[1]
        assert math.isfinite(value)
        assert abs(REFEREE.exact(Fraction(float(value))) - expected) <= self.room(rounding)

    def room(self, rounding):
        return UNITS * rounding * REFEREE.exact(Fraction(1, 2**53)) + Fraction(1, 2**1000)


class TensorSide(FloatSide):
    def put(self, values, radius):
        found = super().put(values, radius)
        for lane in flat(found):
            lane.value = self.arithmetic.library.tensor(lane.value)
        return found

    def room(self, rounding):
        """The tolerance; the square root of 0 is 1e-150 here, so that its gradient is finite."""
        return super().room(rounding) + REFEREE.exact(Fraction(2, 10**150))


class SymbolSide(Side):
    lacks = ("eigenvalues", "singular values")

    def put(self, values, radius):
        return array(lambda x: sp.Rational(x.numerator, x.denominator), values)

    def check(self, case, arguments):
        # the spectral norm of other matrices is a root of a polynomial, which sympy leaves as such
        known = case is not CASES["spectral"] or 1 in arguments[0].shape
        if known and not self.refuses(case, arguments):
            super().check(case, arguments)

    def compare(self, found, expected, rounding, scale, case):
        value = REFEREE.exact(Fraction(str(sp.Rational(str(sp.N(found, 60))))))
        assert abs(value - expected) <= rounding * REFEREE.exact(Fraction(1, 2**150))


SIDES = {
    "rationals": BallSide(BALLS),
    "rationals at 256 bits": BallSide(BALLS, bits=256),
    "balls": BallSide(BALLS, rooted=True),
    "wide balls": BallSide(BALLS, radius=Fraction(1, 2**8)),
    "traces": TraceSide(TRACES),
    "rooted traces": TraceSide(TRACES, rooted=True),
    "floats": FloatSide(FLOATS),
    "tensors": TensorSide(Tensors()),
    "symbols": SymbolSide(SYMBOLS),
}


EXAMPLES = few(16)
"""The number of drawn arguments; it suffices for every fault of `test_planted_faults.py`."""


def run(test, case):
    """Run a test on arguments at both ends of their scale, and on drawn ones from a fixed seed."""
    fixed = settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    checked = given(instances(case))(test)
    for end in (4.0, -4.0):
        checked = example(at_an_end(case, end))(checked)
    fixed(checked)()


def agree(sides, case):
    """Raise unless the arithmetics agree with the referee on drawn instances.

    Raises:
        AssertionError: an arithmetic differs; the note of the error is its name.
    """

    def compare(arguments):
        for title, side in sides.items():
            try:
                side.check(case, arguments)
            except AssertionError as error:
                error.add_note(title)
                raise

    run(compare, case)


def differing(sides, case):
    """The names of the arithmetics that differ from the referee on some drawn instance."""
    found = set()

    def compare(arguments):
        for title in [title for title in sides if title not in found]:
            try:
                sides[title].check(case, arguments)
            except AssertionError:
                found.add(title)
        assert len(found) < len(sides)  # all differ: stop drawing

    with contextlib.suppress(AssertionError):
        run(compare, case)
    return found


def shifts(arguments):
    """The positions of the true arguments in their balls, in units of the radius."""
    return [
        np.resize(np.roll([-1.0, 1.0, 0.0, -1.0, 0.5], -k), np.size(x)).reshape(np.shape(x))
        for k, x in enumerate(arguments)
    ]


__all__ = ["SIDES", "agree", "differing", "rational"]

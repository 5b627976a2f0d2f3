"""The check of an arithmetic against the referee can fail: it finds each of these faults."""

import dataclasses

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from attsvm.theory.arithmetic import BALLS, FLOATS, Balls, Floats, Lane, entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.traces import TRACES, Trace, hashed
from tests.theory.arithmetic.agreement import SIDES, agree, differing
from tests.theory.arithmetic.cases import CASES
from tests.theory.arithmetic.referee import each


def with_arithmetic(title, arithmetic):
    return {title: dataclasses.replace(SIDES[title], arithmetic=arithmetic)}


def off(arithmetic, name):
    """The arithmetic with one function whose values are a millionth too large."""
    right = getattr(arithmetic, name)

    def wrong(self, *arguments):
        value = right(*arguments)
        if isinstance(value, int):
            return value + 1
        return each(lambda t: t + t * arithmetic.exact("0.000001"), value)

    return type("Off", (type(arithmetic),), {name: wrong})()


@pytest.mark.parametrize("name", CASES)
def test_a_function_that_is_a_millionth_off_is_found(name):
    sides = {}
    for title in ("rationals", "floats", "tensors", "symbols", "traces"):
        sides |= with_arithmetic(title, off(SIDES[title].arithmetic, name))
    assert differing(sides, CASES[name]) == set(sides)


def rational_or(number, wrong):
    return lambda self, x: each(lambda t: t if isinstance(t, fmpq) else wrong(t), number(x))


def middles(function):
    """A function whose balls have lost their radius."""
    return rational_or(function, lambda ball: ball.mid())


def first_by_middle(self, x, y):
    return x if arb(x).mid() >= arb(y).mid() else y


def spectral_of_middles(self, A):
    return BALLS.spectral(each(lambda t: t if isinstance(t, fmpq) else arb(t).mid(), A))


def untold_maximum(self, x, y):
    return x if arb(x.ball).mid() >= arb(y.ball).mid() else Trace(y.ball, x.residue + 1)


def lane(function):
    return lambda self, x: each(lambda t: Lane(function(t.value)), x)


def spectral_is_nuclear(self, A):
    stacked = self.library.stack([t.value for t in A.ravel()], -1).reshape(-1, *A.shape)
    return Lane(self.library.linalg.svdvals(stacked).sum(-1))


def residue_of_its_own(self, x):
    return each(lambda t: Trace(BALLS.sqrt(t.ball), hashed("sqrt", t.residue)), x)


def exp_of_a_trace_without_radius(self, x):
    return each(lambda t: Trace(arb(t.ball).exp().mid(), TRACES.exp(t).residue), x)


def norm_of_all_lanes(self, x):
    return Lane(np.full(2, np.linalg.norm([t.value for t in x.ravel()])))


FAULTS = {
    "exp without radius": ("rationals", "exp", middles(BALLS.exp)),
    "log without radius": ("rationals", "log", middles(BALLS.log)),
    "sqrt without radius": ("rationals", "sqrt", middles(BALLS.sqrt)),
    "sqrt of a ball about 0 is none": ("wide balls", "sqrt", lambda s, x: each(arb.sqrt, x)),
    "abs is the number": ("rationals", "abs", lambda s, x: x),
    "abs of the middle": ("wide balls", "abs", lambda s, x: each(lambda t: abs(t.mid()), x)),
    "maximum is the minimum": ("rationals", "maximum", lambda s, x, y: min(x, y)),
    "maximum by the middles": ("wide balls", "maximum", first_by_middle),
    "max of the first": ("wide balls", "max", lambda s, x, y: x, "maximum"),
    "spectral is Frobenius": ("rationals", "spectral", Balls.norm),
    "spectral of the middles": ("balls", "spectral", spectral_of_middles),
    "spectral of wide middles": ("wide balls", "spectral", spectral_of_middles),
    "norm without root": ("rationals", "norm", lambda s, x: s.sum(s.square(x))),
    "sum without the last": ("rationals", "sum", lambda s, x: BALLS.sum(x) - x.ravel()[-1]),
    "softmax without level, floats": ("floats", "softmax", lambda s, x: Lane(0), "_level"),
    "softmax with the least level": ("floats", "softmax", Floats.min, "_level"),
    "slope by exp(-x)": ("floats", "logistic_slope", lambda s, x: s.exp(-x) / (1 + s.exp(-x)) ** 2),
    "softplus by its formula": ("floats", "softplus", lambda s, x: s.log(1 + s.exp(x))),
    "exp in single precision": (
        "floats",
        "exp",
        lane(lambda v: np.exp(v).astype("f4").astype(float)),
    ),
    "norm of all lanes": ("floats", "norm", norm_of_all_lanes),
    "spectral of two rows without the gap": (
        "floats",
        "spectral",
        lambda s, A: FLOATS.norm(A) / FLOATS.sqrt(FLOATS.exact(2)),
    ),
    "spectral of tensors is nuclear": ("tensors", "spectral", spectral_is_nuclear),
    "symbols: log is the root": ("symbols", "log", lambda s, x: each(sp.sqrt, x)),
    "symbols: maximum is the minimum": ("symbols", "maximum", lambda s, *x: sp.Min(*x)),
    "traces: the residue of a rational is not its own": ("traces", "sqrt", residue_of_its_own),
    "traces: maximum with the residue of the other": ("traces", "maximum", untold_maximum),
    "traces: exp without radius": ("traces", "exp", exp_of_a_trace_without_radius),
}
"""The side and the case that find it, and the function that is wrong: that of the case or other."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault):
    title, name, wrong, *other = FAULTS[fault]
    kind = type(SIDES[title].arithmetic)
    planted = type("Planted", (kind,), {(*other, name)[0]: wrong})()
    assert differing(with_arithmetic(title, planted), CASES[name]) == {title}


def test_the_unspoilt_copies_pass():
    for title, arithmetic in (("rationals", BALLS), ("symbols", SYMBOLS), ("floats", FLOATS)):
        same = type("Same", (type(arithmetic),), {})()
        agree(with_arithmetic(title, same), CASES["norm"])


def test_entries_of_a_planted_function_keep_their_shape():
    A = entries([[fmpq(1), fmpq(2)]])
    assert off(BALLS, "abs").abs(A).shape == A.shape

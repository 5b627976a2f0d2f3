"""The check of an arithmetic against the referee can fail: it finds each of these faults."""

import dataclasses

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from attsvm.theory.arithmetic import BALLS, FLOATS, Balls, Floats, Lane, Tensors, entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols
from attsvm.theory.arithmetic.traces import TRACES, Trace, Traces, _hashed
from tests.theory.arithmetic.agreement import SIDES, agrees
from tests.theory.arithmetic.cases import CASES
from tests.theory.arithmetic.referee import each


def detected(title, name, arithmetic, examples=60):
    side = dataclasses.replace(SIDES[title], arithmetic=arithmetic)
    with pytest.raises(AssertionError):
        agrees(side, name, CASES[name], examples)


def off(arithmetic, name):
    """The arithmetic with one function whose values are a millionth too large."""
    right = getattr(arithmetic, name)

    def wrong(self, *arguments):
        value = right(*arguments)
        if isinstance(value, int):
            return value + 1
        return each(lambda t: t + t * arithmetic.exact("0.000001"), value)

    return type("Off", (type(arithmetic),), {name: wrong})()


OFF = [(t, n) for t in ("rationals", "floats", "tensors", "symbols", "traces") for n in CASES]


@pytest.mark.parametrize(("title", "name"), OFF)
def test_a_function_that_is_a_millionth_off_is_found(title, name):
    detected(title, name, off(SIDES[title].arithmetic, name))


def planted(kind, name, wrong):
    return type("Planted", (kind,), {name: wrong})()


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


ROOTED, WIDE = "balls", "wide balls"
FAULTS = {
    "exp without radius": ("rationals", "exp", Balls, "exp", middles(BALLS.exp)),
    "log without radius": ("rationals", "log", Balls, "log", middles(BALLS.log)),
    "sqrt without radius": ("rationals", "sqrt", Balls, "sqrt", middles(BALLS.sqrt)),
    "sqrt of a ball about 0 is none": (WIDE, "sqrt", Balls, "sqrt", lambda s, x: each(arb.sqrt, x)),
    "abs is the number": ("rationals", "abs", Balls, "abs", lambda s, x: x),
    "abs of the middle": (WIDE, "abs", Balls, "abs", lambda s, x: each(lambda t: abs(t.mid()), x)),
    "maximum is the minimum": ("rationals", "maximum", Balls, "maximum", lambda s, x, y: min(x, y)),
    "maximum by the middles": (WIDE, "maximum", Balls, "maximum", first_by_middle),
    "max of the first": (WIDE, "max", Balls, "maximum", lambda s, x, y: x),
    "spectral is Frobenius": ("rationals", "spectral", Balls, "spectral", Balls.norm),
    "spectral of the middles": (ROOTED, "spectral", Balls, "spectral", spectral_of_middles),
    "spectral of wide middles": (WIDE, "spectral", Balls, "spectral", spectral_of_middles),
    "norm without root": ("rationals", "norm", Balls, "norm", lambda s, x: s.sum(s.square(x))),
    "sum without the last": (
        "rationals",
        "sum",
        Balls,
        "sum",
        lambda s, x: BALLS.sum(x) - x.ravel()[-1],
    ),
    "softmax without level, floats": ("floats", "softmax", Floats, "_level", lambda s, x: Lane(0)),
    "softmax with the least level": ("floats", "softmax", Floats, "_level", Floats.min),
    "slope by exp(-x)": (
        "floats",
        "logistic_slope",
        Floats,
        "logistic_slope",
        lambda s, x: s.exp(-x) / ((1 + s.exp(-x)) * (1 + s.exp(-x))),
    ),
    "softplus by its formula": (
        "floats",
        "softplus",
        Floats,
        "softplus",
        lambda s, x: s.log(1 + s.exp(x)),
    ),
    "exp in single precision": (
        "floats",
        "exp",
        Floats,
        "exp",
        lane(lambda v: np.exp(v).astype(np.float32).astype(float)),
    ),
    "norm of all lanes": (
        "floats",
        "norm",
        Floats,
        "norm",
        lambda s, x: Lane(np.full(2, np.linalg.norm([t.value for t in x.ravel()]))),
    ),
    "spectral of two rows without the gap": (
        "floats",
        "spectral",
        Floats,
        "spectral",
        lambda s, A: FLOATS.norm(A) / FLOATS.sqrt(FLOATS.exact(2)),
    ),
    "spectral of tensors is nuclear": (
        "tensors",
        "spectral",
        Tensors,
        "spectral",
        lambda s, A: Lane(
            s.torch.linalg.svdvals(
                s.torch.stack([t.value for t in A.ravel()], -1).reshape(-1, *A.shape)
            ).sum(-1)
        ),
    ),
    "symbols: log is exp": ("symbols", "log", Symbols, "log", lambda s, x: each(sp.exp, x)),
    "symbols: maximum is the minimum": (
        "symbols",
        "maximum",
        Symbols,
        "maximum",
        lambda s, *x: sp.Min(*x),
    ),
    "traces: the residue of a rational is not its own": (
        "traces",
        "sqrt",
        Traces,
        "sqrt",
        lambda s, x: each(lambda t: Trace(BALLS.sqrt(t.ball), _hashed("sqrt", t.residue)), x),
    ),
    "traces: maximum with the residue of the other": (
        "traces",
        "maximum",
        Traces,
        "maximum",
        untold_maximum,
    ),
    "traces: exp without radius": (
        "traces",
        "exp",
        Traces,
        "exp",
        lambda s, x: each(lambda t: Trace(arb(t.ball).exp().mid(), TRACES.exp(t).residue), x),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault):
    title, name, kind, function, wrong = FAULTS[fault]
    detected(title, name, planted(kind, function, wrong))


def test_the_unspoilt_copies_pass():
    for title, arithmetic in (("rationals", BALLS), ("symbols", SYMBOLS), ("floats", FLOATS)):
        same = type("Same", (type(arithmetic),), {})()
        agrees(dataclasses.replace(SIDES[title], arithmetic=same), "norm", CASES["norm"], 10)


def test_entries_of_a_planted_function_keep_their_shape():
    A = entries([[fmpq(1), fmpq(2)]])
    assert off(BALLS, "abs").abs(A).shape == A.shape

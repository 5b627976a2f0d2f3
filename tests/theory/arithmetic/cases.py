"""Cases for every function of the namespace: a call, shapes of arguments, and a scale of rounding.

The scale is a bound of the numbers that are added, at the referee's values. Floats may miss the
value by some units in the last place of the scale.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.strategies import arrays
from tests.theory.arithmetic.referee import REFEREE as R
from tests.theory.arithmetic.referee import each

COMPARISONS = {"at_most", "at_least", "below", "above", "equal", "all_of", "any_of"}
COMPARISONS |= {"differ", "psd", "pd"}
LOGITS, LARGE, WIDE, HUGE = (0, -3, 6), (0, -3, 9), (0, -20, 20), (0, -300, 300)
"""Exponents of the powers of two that scale the arguments. With `LARGE` an exponential may
overflow; with `HUGE` a square still does not."""


@dataclass(frozen=True)
class Case:
    """A call of (m, arguments...); `shapes` has the names of the axes of each argument."""

    call: Any
    shapes: tuple[str, ...]
    bound: Any = None
    powers: tuple[int, ...] = WIDE
    fold: Any = None  # maps the arguments into the domain of the function
    exact: bool = False  # the value at rationals is rational
    needs: str = ""  # what some arithmetics lack: logarithms, eigenvalues, or integers

    def rounding(self, *arguments):
        """The scale that rounding is relative to: `bound`, or the value if nothing cancels."""
        if self.bound is not None:
            return self.bound(*arguments)
        return each(abs, self.call(R, *arguments))


def unary(name, powers=LOGITS, **options):
    shapes = options.pop("shapes", ("n",))
    return Case(lambda m, x: getattr(m, name)(x), shapes, powers=powers, **options)


def above_zero(x):
    return abs(x) + (x == 0)


def slope(x):
    return R.logistic_slope(x)


def definite(m, A):
    """A matrix that is the identity and a positive semidefinite one."""
    return A @ A.T + m.identity(len(A))


def unsure(A):
    """The size of the rounding of an inverse by the adjugate."""
    B = definite(R, A)
    return (2 * R.norm(B)) ** len(B) * R.norm(B) / R.det(B)


def cube_of_norm(A):
    return R.norm(A) ** 3


def size_and_one(x):
    return 1 + R.abs(x)


def shares(m, f):
    """Positive weights of sum 1, made from any numbers f."""
    squares = f * f + m.exact(1)
    return squares / m.sum(squares)


def sum_of_sizes(x):
    return R.sum(R.abs(x))


CASES = {
    "exact": Case(lambda m, x: m.exact(3) * m.exact("0.75") * x, ("",), exact=True),
    "exp": unary("exp"),
    "log": unary("log", WIDE, fold=above_zero, bound=lambda x: 1 + R.abs(R.log(x))),
    "sqrt": unary("sqrt", HUGE, fold=abs),
    "abs": unary("abs", HUGE, exact=True),
    "maximum": Case(lambda m, x, y: m.maximum(x, y), ("", ""), powers=HUGE, exact=True),
    "minimum": Case(lambda m, x, y: m.minimum(x, y), ("", ""), powers=HUGE, exact=True),
    "power": Case(
        lambda m, x: m.array(
            [m.sum(y * m.exact(1)) for y in (*(m.power(x, k) for k in range(5)), x**0)]
        ),
        ("n",),
        bound=lambda x: R.array([sum_of_sizes(R.power(x, k)) for k in (*range(5), 0)]),
        exact=True,
    ),
    "square": unary("square", exact=True, powers=HUGE),
    "logistic": unary("logistic", LARGE),
    "logistic_slope": unary("logistic_slope", LARGE),
    "logistic_curvature": unary("logistic_curvature", LARGE, bound=slope),
    "softplus": unary("softplus", LARGE, bound=lambda x: 1 + R.abs(x)),
    "array": Case(lambda m, x, y: m.array([x, y]), ("", ""), powers=HUGE, exact=True),
    "size": Case(lambda m, A: m.exact(m.size(A)), ("nd",), exact=True),
    "sum": unary("sum", HUGE, shapes=("nd",), bound=sum_of_sizes, exact=True),
    "sums": unary("sums", HUGE, shapes=("nd",), exact=True, bound=lambda A: R.sums(R.abs(A))),
    "max": unary("max", HUGE, shapes=("nd",), exact=True),
    "min": unary("min", HUGE, shapes=("nd",), exact=True),
    "oscillation": unary("oscillation", HUGE, exact=True, bound=R.largest),
    "dot": Case(
        lambda m, x, y: m.dot(x, y),
        ("n", "n"),
        bound=lambda x, y: R.dot(R.abs(x), R.abs(y)),
        exact=True,
    ),
    "norm": unary("norm", HUGE, shapes=("nd",)),
    "largest": unary("largest", HUGE, shapes=("nd",), exact=True),
    "differences": Case(
        lambda m, x: m.differences(x), ("n",), bound=sum_of_sizes, powers=HUGE, exact=True
    ),
    "is_zero": Case(
        lambda m, x: m.is_zero(x), ("n",), bound=lambda x: each(lambda t: 1, x), exact=True
    ),
    "mat": Case(lambda m, A: m.mat(m.vec(A), len(A)), ("nd",), powers=HUGE, exact=True),
    "expm1": unary("expm1", bound=lambda x: 1 + R.exp(x)),
    "log1p": unary("log1p", WIDE, fold=abs, bound=lambda x: 1 + R.abs(R.log1p(x))),
    "trace": Case(lambda m, A: m.trace(A), ("nn",), bound=sum_of_sizes, powers=HUGE, exact=True),
    "outer": Case(lambda m, x, y: m.outer(x, y), ("n", "d"), powers=HUGE, exact=True),
    "diagonal": unary("diagonal", HUGE, exact=True),
    "identity": Case(lambda m, x: m.identity(len(x)) @ x, ("n",), exact=True),
    "vec": unary("vec", HUGE, shapes=("nd",), exact=True),
    "kron": Case(lambda m, A, B: m.kron(A, B), ("nd", "ab"), powers=HUGE, exact=True),
    "diameter": unary("diameter", shapes=("nd",), bound=lambda A: R.norm(A), powers=WIDE),
    "spread": unary("spread", shapes=("nd",), bound=lambda A: R.norm(A), powers=WIDE),
    "softmax": unary("softmax", LARGE, bound=lambda s: R.softmax(s) * (1 + 2 * R.oscillation(s))),
    "covariance": Case(
        lambda m, f, h: m.covariance(shares(m, f), h),
        ("n", "n"),
        powers=(0, -3, 3),
        bound=lambda f, h: shares(R, f) * (R.abs(h) + R.dot(shares(R, f), R.abs(h))),
        exact=True,
    ),
    "spectral": unary("spectral", HUGE, shapes=("nd",)),
    "matrix_power": Case(
        lambda m, A: m.matrix_power(A, 3), ("nn",), bound=cube_of_norm, powers=(0, -9), exact=True
    ),
    "det": unary("det", (0, -9), shapes=("nn",), bound=lambda A: R.norm(A) ** len(A), exact=True),
    "inverse": Case(lambda m, A: m.inverse(definite(m, A)), ("nn",), bound=unsure, powers=(0, -3)),
    "solve": Case(
        lambda m, A, b: m.solve(definite(m, A), b),
        ("nn", "n"),
        bound=lambda A, b: unsure(A) * (1 + R.norm(b)),
        powers=(0, -3),
    ),
    "symmetric_functions": unary(
        "symmetric_functions",
        (0, -9),
        shapes=("nn",),
        bound=lambda A: R.array([(2 * R.norm(A)) ** (k + 1) for k in range(len(A))]),
        exact=True,
    ),
    "eigenvalues": unary(
        "eigenvalues", shapes=("nn",), bound=lambda A: 4 * R.norm(A), needs="eigenvalues"
    ),
    "singular": unary(
        "singular", shapes=("nd",), bound=lambda A: 4 * R.norm(A), needs="singular values"
    ),
    "norm_1": unary("norm_1", HUGE, shapes=("nd",), exact=True),
    "norm_inf": unary("norm_inf", HUGE, shapes=("nd",), exact=True),
    "floor": unary("floor", bound=lambda x: 1 + R.abs(x), exact=True),
    "sigmoid": unary("sigmoid", LARGE),
    "tanh": unary("tanh", bound=lambda x: each(lambda t: 1, x)),
    "relu": unary("relu", HUGE, exact=True),
    "sign": unary("sign", HUGE, bound=lambda x: each(lambda t: 1, x), exact=True),
    "indicator": Case(
        lambda m, x, y: m.indicator(m.at_most(x, y)),
        ("", ""),
        bound=lambda x, y: R.exact(1),
        exact=True,
        needs="zeros",
    ),
    "count": Case(
        lambda m, x: m.count(lambda t: m.below(t, m.exact(2)), x),
        ("n",),
        bound=lambda x: R.exact(4),
        exact=True,
        needs="zeros",
    ),
    "xlogx": unary("xlogx", fold=abs, bound=lambda x: 1 + x * x, needs="logarithms"),
    "mean": unary("mean", HUGE, shapes=("nd",), bound=sum_of_sizes, exact=True),
    "logsumexp": unary("logsumexp", bound=lambda x: 4 + R.largest(x), needs="logarithms"),
    "entropy": unary("entropy", fold=abs, bound=lambda x: R.sum(1 + x * x), needs="logarithms"),
    "kl": Case(
        lambda m, p, q: m.kl(p, q),
        ("n", "n"),
        bound=lambda p, q: R.sum((1 + p) * (1 + p) * (8 + q)),
        powers=(0, -3, 3),
        fold=above_zero,
        needs="logarithms",
    ),
    "cross_entropy": Case(
        lambda m, p, q: m.cross_entropy(p, q),
        ("n", "n"),
        bound=lambda p, q: R.sum((1 + p) * (8 + q)),
        powers=(0, -3, 3),
        fold=above_zero,
        needs="logarithms",
    ),
    "mod": Case(
        lambda m, x: m.mod(m.floor(x), 3), ("n",), bound=size_and_one, powers=LOGITS, exact=True
    ),
    "gcd": Case(lambda m, x: m.gcd(12, 18) * x, ("",), exact=True, needs="integers"),
    "binomial": Case(lambda m, x: m.binomial(7, 3) * x, ("",), exact=True, needs="integers"),
    "factorial": Case(lambda m, x: m.factorial(5) * x, ("",), exact=True, needs="integers"),
    "sum_over": Case(
        lambda m, x: m.sum_over(1, 3, lambda k: x * k), ("n",), exact=True, powers=HUGE
    ),
    "product_over": Case(
        lambda m, x: m.product_over(0, len(x) - 1, lambda k: x[k] * 3), ("n",), exact=True
    ),
    "product": unary("product", WIDE, exact=True),
    "iterate": Case(
        lambda m, x: m.iterate(lambda t: t * t * m.exact("0.5") + x, x, 3),
        ("",),
        bound=lambda x: (1 + R.abs(x)) ** 8,
        powers=(0, -3),
        exact=True,
    ),
}

LENGTHS = {"n": 4, "d": 4, "a": 2, "b": 2}


@st.composite
def instances(draw, case, powers=None):
    """Dyadic arguments of all small sizes, with ties, zeros and rank 1; one scale per argument."""
    sizes = {axis: draw(st.integers(1, LENGTHS[axis])) for axis in "ndab"}
    found = []
    for axes in case.shapes:
        values = draw(arrays(*(sizes[axis] for axis in axes)))
        kind = draw(st.sampled_from(("as drawn", "as drawn", "tied", "rank 1")))
        if values.ndim and kind == "tied":
            values = values + 0 * values
            values[-1] = values[0]
        if values.ndim == 2 and kind == "rank 1":
            values = values[:, :1] * values[:1, :]
        values = values * 2.0 ** draw(st.sampled_from(powers or case.powers))
        found.append(values if case.fold is None else case.fold(values))
    return found


def at_an_end(case, value):
    """Arguments of size 2 on each axis whose entries are all `value` at the largest scale."""
    scaled = [np.full([2] * len(axes), value * 2.0 ** max(case.powers)) for axes in case.shapes]
    return scaled if case.fold is None else [case.fold(values) for values in scaled]

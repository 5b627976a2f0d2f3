"""Descent on l(u), u = b <f, h>: du = -l'(u) ||grad u||^2, and equal rivals tie u to a weight.

f = softmax(A x) enters through u_t = exp((A x)_t), which obeys d u_t / d x_i = A_ti u_t; l' as the
value of a symbol, whatever the loss. The gradient is the one the code runs on, A^T covariance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.risk import covariance

__all__ = [
    "drift_residual",
    "prove",
    "prove_equal_rivals",
    "rivals_residual",
    "structural_residual",
]


def _symbols(name: str, *shape: int) -> Any:
    entries = [sp.Symbol(name + "".join(map(str, i)), real=True) for i in np.ndindex(shape)]
    return np.array(entries, dtype=object).reshape(shape)


def _attention(n: int) -> tuple[Any, Any]:
    powers = np.array(sp.symbols(f"u0:{n}", positive=True), dtype=object)
    return powers, powers / sum(powers)


def _along(value: Any, powers: Any, A: Any) -> Any:
    """Gradient in x of a function of the powers, by the chain rule."""
    moved = [sp.diff(value, u) * u for u in powers]
    return np.array([sum(a * m for a, m in zip(column, moved, strict=True)) for column in A.T])


def drift_residual(n: int, D: int, *, sign: int = -1) -> Any:
    """d/ds u along -grad l(u), minus sign l'(u) ||A^T covariance(f, b h)||^2."""
    powers, f = _attention(n)
    A, h, b, slope = _symbols("a", n, D), _symbols("h", n), sp.Symbol("b"), sp.Symbol("slope")
    u = b * sum(f * h)
    gradient = _along(u, powers, A)
    pull = A.T @ covariance(f, b * h)
    moved = sum(-slope * g * g for g in gradient)
    return sp.cancel(sp.together(moved - sign * slope * sum(p * p for p in pull)))


def structural_residual() -> Any:
    """d/ds u along -grad l(u) plus l'(u) ||grad u||^2, for a symbolic number D of axes."""
    D = sp.Symbol("D", integer=True, positive=True)
    i = sp.Symbol("i", integer=True)
    p, slope = sp.IndexedBase("p", real=True), sp.Symbol("slope", real=True)
    moved = sp.Sum(p[i] * (-slope * p[i]), (i, 1, D))
    return sp.simplify(moved + slope * sp.Sum(p[i] ** 2, (i, 1, D)))


def rivals_residual(n: int, best: int, *, gap: Any = None) -> list[Any]:
    """covariance(f, b h) minus gap times covariance(f, 1_best), where rivals score the same.

    The first `best` tokens have score r + gap, all others r.
    """
    _, f = _attention(n)
    r, rise = sp.symbols("r rise", real=True)
    flags = np.array([sp.Integer(t < best) for t in range(n)], dtype=object)
    scores = r + rise * flags
    factor = rise if gap is None else gap
    return [sp.cancel(x) for x in covariance(f, scores) - factor * covariance(f, flags)]


def prove() -> str:
    """Prove the change of u along -grad l(u), and that g' as the code has it is positive.

    Raises:
        AssertionError: an identity fails, or holds with the other sign.
    """
    for n, D in ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2)):
        assert drift_residual(n, D) == 0
    assert structural_residual() == 0
    assert drift_residual(2, 1, sign=1) != 0
    assert slope_kernel(sp.Symbol("e", positive=True)).is_positive
    return "du/ds = -l'(u) ||grad u||^2 along -grad l(u): >= 0 for l = g(-u), <= 0 for l = g(u)"


def prove_equal_rivals() -> str:
    """Prove that with equal rivals grad u is a positive multiple of the gradient of the weight.

    `covariance` is linear in the scores and sends constants to 0, as sum f = 1; so u = r + gap F
    in each of its derivatives, for every number of tokens.

    Raises:
        AssertionError: an identity fails, or holds with another factor.
    """
    prove()
    for n in (1, 2, 3, 4):
        for best in range(1, n + 1):
            assert all(x == 0 for x in rivals_residual(n, best))
    assert any(x != 0 for x in rivals_residual(3, 1, gap=sp.Integer(1)))
    return "grad u = gap grad F where all rivals score gap less, so dF/ds = |l'| gap ||grad F||^2"

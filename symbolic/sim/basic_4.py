"""Softmax is 1/2-Lipschitz, and beta^2 ||f - g|| <= n exp(2 R) ||s - t|| for logits s and t.

The derivative at the weights f along s is `covariance`(f, s); for the indicator of a set S of
weight P its entries are f_t (1 - P) in S and -f_t P elsewhere. a and b are the sums of f_t^2 in and
out of S, at most P^2 and (1 - P)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.risk import covariance
from symbolic.sim import basic_1, basic_2

__all__ = [
    "P",
    "entry_residuals",
    "indicator",
    "laplacian_residual",
    "limit_ratio",
    "prove",
    "prove_published",
    "quadratic_residual",
    "swapped_exponents",
]

P = sp.Symbol("P", positive=True)


def indicator(n: int, size: int) -> tuple[Any, Any, Any, Any, Any]:
    """f, the derivative along the indicator of the first tokens, and P, a, b of these."""
    u = sp.symbols(f"u1:{n + 1}", positive=True)
    f = np.array([x / sum(u) for x in u], dtype=object)
    s = np.array([sp.Integer(int(t < size)) for t in range(n)], dtype=object)
    inside, outside = f[:size], f[size:]
    squares = [sum((x**2 for x in part), sp.Integer(0)) for part in (inside, outside)]
    return f, covariance(f, s), sum(inside, sp.Integer(0)), squares[0], squares[1]


def entry_residuals() -> list[Any]:
    """Entries for any n: one token of S, the rest of S, all others; the mean sees no more."""
    weight = sp.Symbol("f", positive=True)
    ones = np.array([sp.Integer(1), sp.Integer(1), sp.Integer(0)], dtype=object)
    within = covariance(np.array([weight, P - weight, 1 - P], dtype=object), ones)[0]
    without = covariance(np.array([P, 1 - P - weight, weight], dtype=object), ones[[0, 2, 2]])[2]
    return [sp.expand(within - weight * (1 - P)), sp.expand(without + weight * P)]


def square_residual(n: int, size: int) -> Any:
    """||Df[s]||^2 - ((1-P)^2 a + P^2 b)."""
    _, moved, weight, a, b = indicator(n, size)
    found = sum(x**2 for x in moved) - ((1 - weight) ** 2 * a + weight**2 * b)
    return sp.cancel(sp.together(found))


def limit_ratio() -> Any:
    """Limit of ||f(x) - f(y)|| / (spread(A)/2 |x - y|) for A = (1, -1), x = -y -> 0."""
    x = sp.Symbol("x", positive=True)
    f, g = (1 / (1 + sp.exp(-2 * z)) for z in (x, -x))
    return sp.limit(sp.sqrt(2) * (f - g) / (sp.sqrt(2) / 2 * 2 * x), x, 0)


def prove() -> str:
    """Prove the largest norm of the derivative, and that two tokens reach it.

    Raises:
        AssertionError: one of them fails.
    """
    q = sp.Symbol("q", real=True)
    for n in (2, 3, 4):
        assert all(square_residual(n, size) == 0 for size in range(n + 1))
    assert entry_residuals() == [0, 0]
    top = ((1 - P) ** 2 * P**2 + P**2 * (1 - P) ** 2).subs(P, (1 + q) / 2)
    # q^2 <= 1
    assert sp.expand(sp.Rational(1, 8) - top - q**2 * (2 - q**2) / 8) == 0
    assert limit_ratio() == 1
    return "||Df[s]|| <= (max s - min s) sqrt(2)/4, so f is spread(A)/2-Lipschitz, and no less"


def laplacian_residual(n: int) -> list[Any]:
    """Entries of alpha beta (f - g) minus the sum over r of v_r u_t - u_r v_t."""
    u, v = sp.symbols(f"u1:{n + 1}", positive=True), sp.symbols(f"v1:{n + 1}", positive=True)
    return [
        sp.cancel(
            sum(u) * sum(v) * (u[t] / sum(u) - v[t] / sum(v))
            - sum(v[r] * u[t] - u[r] * v[t] for r in range(n))
        )
        for t in range(n)
    ]


def swapped_exponents() -> list[Any]:
    """Zeros: the exponents' difference is that of the moves, and r, t swapped swap the two."""
    s_r, s_t, t_r, t_t = sp.symbols("s_r s_t t_r t_t", real=True)
    first, second = t_r + s_t, s_r + t_t
    swap = {s_r: s_t, s_t: s_r, t_r: t_t, t_t: t_r}
    return [
        sp.expand(first - second - ((s_t - t_t) - (s_r - t_r))),
        sp.expand(first.subs(swap, simultaneous=True) - second),
    ]


def quadratic_residual(n: int) -> Any:
    """m^T L m minus the sum over pairs of c_tr (m_t - m_r)^2, L the Laplacian of weights c."""
    m = sp.symbols(f"m1:{n + 1}", real=True)
    c = {(t, r): sp.Symbol(f"c{min(t, r)}{max(t, r)}") for t in range(n) for r in range(n)}
    applied = [sum(c[t, r] * (m[t] - m[r]) for r in range(n)) for t in range(n)]
    pairs = sum(c[t, r] * (m[t] - m[r]) ** 2 for t in range(n) for r in range(t))
    return sp.expand(sum(x * y for x, y in zip(m, applied, strict=True)) - pairs)


def prove_published() -> str:
    """Prove the steps to beta^-2 n exp(3 R^2), for every R > 0.

    A Laplacian of weights in [0, c] has eigenvalues in [0, n c], by the sum over pairs and the
    identity of `basic_2`; the weights are at most exp(2 R) by `basic_1`. log R <= R - 1 ends it.

    Raises:
        AssertionError: one of them fails.
    """
    R = sp.Symbol("R", positive=True)
    for n in (1, 2, 3, 4):
        assert all(x == 0 for x in laplacian_residual(n))
        assert quadratic_residual(n) == 0
        assert basic_2.pairs_residual(n) == 0
    assert swapped_exponents() == [0, 0]
    assert basic_1.secant_gap()[0] == 0
    assert sp.discriminant(3 * R**2 - 2 * R - (R - 1), R) < 0
    return "beta^2 ||f - g|| <= n R exp(2 R) ||x - y|| < n exp(3 R^2) ||x - y|| for every R > 0"

"""Rates of descent from the basin: of the norm, and of the share of a rival in the gradient.

The letters are those of `symbolic.basins`: N is the norm of V, the least matrix with margins of at
least 1, y is ||W||, and -grad L = sum_j p_j A_j with P = sum_j p_j. k counts steps.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import cancelled, simplified
from symbolic.basins import LESS, MORE, ensure_from_basin, ensure_margins
from symbolic.sums import ensure_at_least_each, ensure_mean, ensure_nonnegative_sum, entry, n, total
from symbolic.textbook import EXPONENTIAL


def _above_tangent(gap: sp.Expr) -> sp.Expr:
    """Expand an expression, with 1 + x + `LESS` in place of exp(x) if x is known to be >= 0."""
    return sp.expand(
        sp.expand(gap).replace(
            lambda x: isinstance(x, sp.exp) and x.args[0].is_nonnegative,
            lambda x: 1 + x.args[0] + LESS,
        )
    )


def ensure_between_powers() -> None:
    """Prove that P is at least a multiple of exp(-y/N), and at most one of exp(-b y), b < 1/N.

    The upper bound holds for every b < 1/N from some step on.
    """
    y, N, C, b = sp.symbols("y N C b", positive=True)
    p, c = entry("p"), sp.Symbol("c", positive=True)
    least = y / N - MORE
    ensure_at_least_each(c * sp.exp(-least) + LESS, "P is at least the p_j of the least margin")
    cite(EXPONENTIAL)
    ensure_nonnegative(
        c * sp.exp(-least) - c * sp.exp(-y / N),
        "the least margin is at most y/N, so that P is at least c exp(-y/N)",
        normal=_above_tangent,
    )
    ensure_margins()
    ensure_nonnegative_sum(
        n * C * sp.exp(-b * y) - total(p),
        C * sp.exp(-b * y) - p,
        "so P, a sum of p_j <= C exp(-b y), is at most a multiple of exp(-b y)",
        p=C * sp.exp(-b * y) / (1 + MORE),
    )


def ensure_rate() -> None:
    """Prove that ||W_k||/ln k tends to N, and the least margin over ln k to 1.

    f = <W, V>/N is at most y, and in the end at least y/(1 + apart), for every apart > 0.
    """
    y, N, b, A, B, apart, f = sp.symbols("y N b A B apart f", positive=True)
    k, first = sp.symbols("k first", positive=True)
    ensure_between_powers()
    cite(EXPONENTIAL)
    ensure_nonnegative(
        A * sp.exp(-((1 + apart) * f - MORE) / N) - A * sp.exp(-(1 + apart) / N * f),
        "f grows by e P/N at least, so by A exp(-y/N), and by A exp(-b f) with b = (1 + apart)/N, "
        "as y <= (1 + apart) f in the end; y grows by e P/N times what tends to 1 at most, so by "
        "B exp(-b y) for every b below 1/N",
        normal=_above_tangent,
    )
    ensure_equal(
        sp.exp(b * y) * (b * A * sp.exp(-b * y)),
        b * A,
        "exp(b f) grows by b A at least, so f is at least (ln k)/b up to a constant",
    )
    step = B * sp.exp(-b * y)
    ensure_equal(
        sp.exp(b * y) * (b * step * sp.exp(b * step)) - b * B,
        b * B * (sp.exp(b * step) - 1),
        "exp(b y) grows by at most b B exp(b B), so y is at most (ln k)/b up to a constant",
        normal=simplified,
    )
    ensure_equal(
        [
            sp.limit((sp.log(k) / b + first) / sp.log(k), k, sp.oo),
            sp.limit(N / (1 + apart), apart, 0),
            sp.limit(1 / b, b, 1 / N),
        ],
        [1 / b, N, N],
        "so y/ln k is in the end about between N/(1 + apart) and 1/b, for every apart > 0 and b < "
        "1/N: it tends to N; and as the least margin is between b y and y/N, over ln k it tends to "
        "N/N = 1",
    )


def prove_rate() -> str:
    """Prove that from the basin ||W_k||/ln k tends to N."""
    ensure_from_basin()
    ensure_rate()
    return "for every smooth loss with l' < 0 and any n, T and d"


def prove_shares() -> str:
    """Prove that from the basin a rival's share in the gradient falls like k^-(m - 1).

    m is the margin of the rival under V. Like means: the logarithms over ln k have the same limit.
    """
    ensure_from_basin()
    m, least = sp.symbols("m least", positive=True)
    c, C = sp.symbols("c C", positive=True)
    ensure_equal(
        sp.log(C * sp.exp(-m) / (c * sp.exp(-least))),
        least - m + sp.log(C / c),
        "the logarithm of p_j over the largest p is least - m_j up to a constant",
        normal=lambda x: sp.expand(sp.expand_log(x, force=True)),
    )
    ensure_at_least_each(
        c * sp.exp(-m) + MORE,
        "the sum of all |dL/d(x_t^T X z)|, p_j of rivals and their sum for the optimal token of "
        "each input, so twice the sum of the p_j, is at least the largest p",
    )
    largest = C * sp.exp(-least)
    twice = sp.Integer(2)
    ensure_mean(
        twice,
        largest - MORE,
        "twice the sum of the p_j is at most twice their number times the largest p",
        most=largest,
    )
    ensure_rate()
    y, N, log_k = sp.symbols("y N ln(k)", positive=True)
    ensure_equal(
        ((y / N - m * y / N) / log_k).subs(y, N * log_k),
        -(m - 1),
        "(least - m_j)/ln k tends to -(m - 1), as least/y tends to 1/N, m_j/y to m/N and "
        "y/ln k to N",
        normal=cancelled,
    )
    return "for every smooth loss with l' < 0 and any n, T and d"

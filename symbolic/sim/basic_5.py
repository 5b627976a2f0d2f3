"""A covariance is at most a quarter of the product of the ranges (Popoviciu, Bhatia and Davis)."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.risk import covariance
from symbolic.sim import basic_1, basic_4

__all__ = ["covariance_residual", "prove", "prove_published", "variance_residual"]


def variance_residual() -> Any:
    """(M-m)^2/4 - Var s - (mean - (M+m)/2)^2 - E (M-s)(s-m), in moments of s: for any n."""
    M, m, first, second = sp.symbols("M m first second", real=True)
    spare = (M + m) * first - second - M * m
    found = (M - m) ** 2 / 4 - (second - first**2) - (first - (M + m) / 2) ** 2 - spare
    return sp.expand(found)


def covariance_residual(n: int) -> Any:
    """<s, covariance(f, h)> minus the sum over pairs of f_t f_r (s_t - s_r)(h_t - h_r)."""
    u, s, h = (np.array(sp.symbols(f"{k}1:{n + 1}"), dtype=object) for k in "ush")
    f = u / sum(u)
    pairs = sum(f[t] * f[r] * (s[t] - s[r]) * (h[t] - h[r]) for t in range(n) for r in range(t))
    return sp.cancel(sp.together(sum(s * covariance(f, h)) - pairs))


def prove() -> str:
    """Prove the identities; the first shows that Cauchy and Schwarz apply.

    Raises:
        AssertionError: one of them fails.
    """
    assert all(covariance_residual(n) == 0 for n in (1, 2, 3, 4))
    assert variance_residual() == 0
    assert basic_4.limit_ratio() == 1
    return "|Cov(s, h)| <= (max s - min s)(max h - min h)/4, so sqrt(2)/4 osc(h) spread(A)"


def prove_published() -> str:
    """Prove the fourth bound, and that the factor R^2 >= R^2 / 16 and ||h|| <= R^2 are enough.

    Raises:
        AssertionError: one of them fails.
    """
    r = sp.Symbol("r", nonnegative=True)
    basic_4.prove_published()
    assert basic_1.never_negative((4 + r) ** 2 - 1, r)
    return "with ||h|| <= R^2, or c = f - z and R >= 4, the fourth bound gives the fifth"

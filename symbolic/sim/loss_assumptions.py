"""<f, h> lies between the lowest and the highest score, for any number of tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from symbolic.sums import entry, total

U, F, H = entry("u"), entry("f"), entry("h")


def prove() -> str:
    """Prove that <f, h> - low and high - <f, h> are sums of terms >= 0, as f > 0 has sum 1."""
    alpha, u = sp.Symbol("alpha", positive=True), sp.Symbol("u_t", positive=True)
    ensure_positive(u / alpha, "f_t = u_t / alpha is positive, as exponentials and their sum are")
    ensure_equal(
        alpha * total(U / alpha),
        total(U),
        "alpha times the sum of f_t = u_t/alpha is the sum of u_t, alpha: f has sum 1",
    )
    bound = sp.Symbol("bound", real=True)
    ensure_zero(
        total(F * (H - bound)) - (total(F * H) - bound * total(F)),
        "<f, h> - bound is the sum of f_t (h_t - bound) where f has sum 1",
    )
    above = sp.Symbol("above", nonnegative=True)
    ensure_nonnegative(
        u / alpha * above, "the terms f_t (h_t - bound) are not negative if each h_t >= bound"
    )
    ensure_nonnegative(
        -(u / alpha * -above), "the terms f_t (h_t - bound) are not positive if each h_t <= bound"
    )
    return "for any number of tokens"

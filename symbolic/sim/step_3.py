"""Section 3.4, step 3: the gradient in terms of v_1 = h o A_i, v_2 = h and v_3 = A_i.

    dL/dx_i = g'(<f, h>) b (<f, v_1> - <f, v_2> <f, v_3>),

the same function as step 2, with the same slip: the chain rule has g'(b <f, h>). Along x_i the
logits move with slopes a_t = A_ti, so u_t = exp(logit_t) obeys u_t' = a_t u_t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.risk import covariance
from attsvm.theory import ensure_nonzero, ensure_zero
from symbolic.sim.sums import entry, total, vector


def _symbols(n: int) -> tuple[Any, Any, Any, Any]:
    u = sp.symbols(f"u1:{n + 1}", positive=True)
    a, h = (np.array(sp.symbols(f"{k}1:{n + 1}", real=True), dtype=object) for k in "ah")
    return u, np.array([x / sum(u) for x in u], dtype=object), a, h


def _reformed(f: Any, a: Any, h: Any, sign: int = -1) -> Any:
    """<f, v_1> - <f, v_2><f, v_3>."""
    return sum(f * (h * a)) + sign * sum(f * h) * sum(f * a)


def reform_residual(n: int) -> list[Any]:
    """The bracket of step 3 minus that of step 2, and minus A_i^T covariance(f, h) of the code."""
    _, f, a, h = _symbols(n)
    second = sum((f * a) * h) - sum(f * h) * sum(f * a)
    found = (_reformed(f, a, h) - second, _reformed(f, a, h) - sum(a * covariance(f, h)))
    return [sp.cancel(sp.together(x)) for x in found]


def gradient_residual(n: int, *, b: Any = 1, inside: bool = True, sign: int = -1) -> Any:
    """dL/dx_i by the chain rule minus step 3, on symbols, where <f, h> is a symbol d in g'.

    g' is the code's kernel at e^(b d), or with inside false at e^d as printed.
    """
    u, f, a, h = _symbols(n)
    d = sum(f * h)
    moved = sum(sp.diff(d, x) * y * x for x, y in zip(u, a, strict=True))
    e = sp.Symbol("e", positive=True)  # exp(d), a number of its own
    true, printed = slope_kernel(e**b), slope_kernel(e**b if inside else e)
    return sp.cancel(sp.together(b * (true * moved - printed * _reformed(f, a, h, sign))))


def jacobian_residual() -> list[Any]:
    """Softmax's derivative for any n: f_t' = f_t (a_t - <f, a>), tokens but t merged.

    The others enter through sum u_r and sum a_r u_r alone, whose derivatives are the latter and
    what does not matter.
    """
    x, a, s = sp.symbols("x a s", real=True)
    rest = sp.Function("rest", positive=True)(x)
    u = sp.exp(s + a * x)
    f = u / (u + rest)
    mean = (a * u + sp.diff(rest, x)) / (u + rest)
    return [sp.simplify(sp.diff(f, x) - f * (a - mean))]


def structural(*, sign: int = -1) -> list[Any]:
    """The bracket of step 3 for n tokens, n a symbol, less what it should be: all of these are 0.

    That is step 2's bracket, <a, covariance(f, h)> by the code, and sum_t h_t f_t' with
    f_t' = f_t (a_t - <f, a>) of `jacobian_residual`.
    """
    f, a, h = (entry(name) for name in "fah")
    mean = total(f * a)
    v1, v2, v3 = h * a, h, a
    reformed = total(f * v1) + sign * total(f * v2) * total(f * v3)
    second = total((f * a) * h) - total(f * h) * mean
    code = (vector(a) * covariance(vector(f), vector(h))).sum()
    return [sp.expand(reformed - found) for found in (second, code, total(h * f * (a - mean)))]


def prove() -> str:
    """Prove the reform, and with b inside g' that it is the gradient; as printed it is not.

    For every n: the reform, the code's covariance, and the chain rule given softmax's derivative,
    which is proved with all tokens but one merged. Expanded from u_t' = a_t u_t: n = 2, 3, 4.

    Raises:
        ProofError: an identity fails, or the printed formula turns out to be one.
    """
    for n in (2, 3, 4):
        ensure_zero(reform_residual(n), f"step 3 is step 2 for n = {n}")
        for b in (1, 2):
            residual = gradient_residual(n, b=b)
            ensure_zero(residual, f"step 3 is the gradient for n = {n}, b = {b}")
    ensure_zero(jacobian_residual(), "f_t' = f_t (a_t - <f, a>) for every n")
    ensure_zero(structural(), "step 3 is step 2 and the gradient for every n")
    ensure_nonzero(structural(sign=1), "step 3 with the other sign is another one for every n")
    printed = gradient_residual(2, b=2, inside=False)
    ensure_nonzero(printed, "step 3 as printed is not the gradient for b = 2")
    printed = gradient_residual(2, b=-1, inside=False)
    ensure_zero(printed, "step 3 as printed is the gradient for b = -1")
    return "step 3 is step 2, and with g'(b <f, h>) the gradient, for every n; expanded for n <= 4"

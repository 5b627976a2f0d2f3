"""Section 3.4, step 3: the gradient in terms of v_1 = h o A_i, v_2 = h and v_3 = A_i.

    dL/dx_i = g'(<f, h>) b (<f, v_1> - <f, v_2> <f, v_3>),

the same function as step 2, which is lemma 3.11, with the same slip: the chain rule has
g'(b <f, h>).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import ensure_nonzero, ensure_zero
from symbolic import softmax
from symbolic.sim import lemma_3_11
from symbolic.sums import entry, total, vector


def structural(*, sign: int = -1) -> list[Any]:
    """The bracket of step 3 for n tokens, n a symbol, less what it should be: all of these are 0.

    That is step 2's bracket, <a, covariance(f, h)> by the code, and sum_t h_t f_t' with
    f_t' = f_t (a_t - <f, a>), which is the Jacobian of `symbolic.softmax` times a.
    """
    f, a, h = (entry(name) for name in "fah")
    mean = total(f * a)
    v1, v2, v3 = h * a, h, a
    reformed = total(f * v1) + sign * total(f * v2) * total(f * v3)
    second = total((f * a) * h) - total(f * h) * mean
    code = (vector(a) * covariance(vector(f), vector(h))).sum()
    return [sp.expand(reformed - found) for found in (second, code, total(h * f * (a - mean)))]


def prove() -> str:
    """Prove the reform, and with b inside g' that it is the gradient; as printed for |b| <= 1."""
    ensure_zero(softmax.jacobian_residual(), "f_t' = f_t (a_t - <f, a>) for every n")
    ensure_zero(structural(), "step 3 is step 2 and the gradient for every n")
    ensure_nonzero(structural(sign=1), "step 3 with the other sign is another one for every n")
    lemma_3_11.prove_labels()
    return "step 3 is step 2, and with g'(b <f, h>) the gradient, for every n"

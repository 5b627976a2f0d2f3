"""Descent on g(-u), u = b <f, h>: du = g'(u) ||grad u||^2, and equal rivals tie u to a weight.

The claim's own softmax, gradient and drift run on symbols and are held against derivatives taken by
sympy through the exponentials, for the sizes below. For every number of tokens: the sums behind
<f, h> are differentiated term by term (`lemma_3_11.structural_residual`), and tokens of one score
enter the covariance by their common weight (`merged_residuals`). The number of entries of x enters
nothing but the sum over them: du = sum_i (du/dx_i) (dx_i), which is the chain rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.risk import covariance
from properties.sim.drift import attend, drift, pull
from symbolic.sim import lemma_3_11
from symbolic.sim.formal import Formal, derivative, expressions, formal, symbols, vanishes

__all__ = [
    "drift_residual",
    "merged_residuals",
    "prove",
    "prove_equal_rivals",
    "rivals_residual",
]

SIZES = tuple((n, D) for n in (1, 2, 3) for D in (1, 2))
"""Tokens and entries of x."""


def _attention(n: int, D: int, largest: int) -> tuple[Any, Any, Any]:
    """A, x and the attention of the code, one token with the largest logit."""
    ranks = [[int(t == largest and i == 0) for i in range(D)] for t in range(n)]
    A, x = symbols("a", n, D, ranks=ranks), symbols("x", D, ranks=[1] * D)
    return A, x, attend(A @ x)


def drift_residual(
    n: int, D: int, best: int | None = None, *, largest: int = 0, sign: int = 1
) -> Any:
    """d/ds u along -grad of g(-sign u) minus the drift of the code; sign 1 on the left.

    Or of the weight of the first `best` tokens in place of u.
    """
    A, x, f = _attention(n, D, largest)
    h, b, slope = symbols("h", n), Formal(sp.Symbol("b", real=True)), sp.Symbol("slope")
    flags = np.array([formal(int(t < (best or 0))) for t in range(n)], dtype=object)
    scores = b * h
    u, F = (expressions(f @ values)[0] for values in (scores, flags))
    mine = pull(A, f, scores)
    other = mine if best is None else pull(A, f, flags)
    entries = expressions(x)
    gradient = [derivative(u, entry) for entry in entries]
    moved = gradient if best is None else [derivative(F, entry) for entry in entries]
    true = sum(slope * g * m for g, m in zip(gradient, moved, strict=True))
    return true - expressions(drift(sign, Formal(slope), mine, other))[0]


def rivals_residual(n: int, best: int, *, gap: Any = None) -> list[Any]:
    """covariance(f, b h) minus gap times covariance(f, 1_best), where rivals score the same.

    The first `best` tokens have score r + gap, all others r.
    """
    powers = np.array(sp.symbols(f"u0:{n}", positive=True), dtype=object)
    f = powers / sum(powers)
    r, rise = sp.symbols("r rise", real=True)
    flags = np.array([sp.Integer(t < best) for t in range(n)], dtype=object)
    scores = r + rise * flags
    factor = rise if gap is None else gap
    return [sp.cancel(x) for x in covariance(f, scores) - factor * covariance(f, flags)]


def merged_residuals(*, gap: Any = None) -> list[Any]:
    """The same for any number of tokens, at a best token and at a rival.

    Entry t of the covariance sees the others in <f, scores> alone. So those of one score are one
    token of their common weight: t itself, the rest of its kind, the other kind.
    """
    weight, P = sp.symbols("weight P", positive=True)
    r, rise = sp.symbols("r rise", real=True)
    factor = rise if gap is None else gap
    found = []
    for flag in (sp.Integer(1), sp.Integer(0)):
        f = np.array([weight, P - weight, 1 - P], dtype=object)
        flags = np.array([flag, flag, 1 - flag], dtype=object)
        moved = covariance(f, r + rise * flags) - factor * covariance(f, flags)
        found.append(sp.expand(moved[0]))
    return found


def prove() -> str:
    """Prove the change of u along -grad of g(-u), and that g' as the code has it is positive.

    Raises:
        AssertionError: an identity fails, or holds with the other sign.
    """
    assert slope_kernel(sp.Symbol("e", positive=True)).is_positive
    for n, D in SIZES:
        for largest in range(n if D == 1 else 1):
            assert vanishes(drift_residual(n, D, largest=largest))
    assert not vanishes(drift_residual(2, 1, sign=-1))
    assert lemma_3_11.structural_residual() == 0
    assert lemma_3_11.structural_residual(sign=1) != 0
    return (
        "du/ds = g'(u) ||grad u||^2 >= 0 along -grad g(-u), as the code runs on symbols for "
        "n <= 3 tokens and D <= 2; grad u for every n by sums of a symbolic number of terms"
    )


def prove_equal_rivals() -> str:
    """Prove that with equal rivals grad u is a positive multiple of the gradient of the weight.

    Raises:
        AssertionError: an identity fails, or holds with another factor or the other sign.
    """
    prove()
    assert vanishes(drift_residual(2, 2, 1))
    for n in (1, 2, 3):
        for best in range(1, n + 1):
            assert vanishes(drift_residual(n, 1, best))
            assert all(x == 0 for x in rivals_residual(n, best))
    assert merged_residuals() == [0, 0]
    assert not vanishes(drift_residual(2, 1, 1, sign=-1))
    assert any(x != 0 for x in rivals_residual(3, 1, gap=sp.Integer(1)))
    assert all(x != 0 for x in merged_residuals(gap=sp.Integer(1)))
    return (
        "grad u = gap grad F where all rivals score gap less, for every n by merged tokens, so "
        "dF/ds = g'(u) gap ||grad F||^2; as the code runs on symbols for n <= 3"
    )

"""Derivatives of softmax for any number of tokens: its Jacobian, and sums term by term."""

from __future__ import annotations

import functools

import sympy as sp

from attsvm.theory.declaration.proof import cancelled, simplified


@functools.cache
def jacobian_residual() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return entries of the softmax Jacobian minus those of diag(f) - f f^T, for any n.

    The sum of powers is split into the power of one logit and the rest. The entries are one on the
    diagonal, one beside it, and <f, h>' minus the covariance by the product of the Jacobian with h.
    `rest` stands for the other tokens' share of sum_s f_s h_s.
    """
    s, t, level, rest, h = sp.symbols("s t level rest h", real=True)
    f_t = sp.exp(t) / (level + sp.exp(t))
    diagonal = sp.diff(f_t, t) - (f_t - f_t * f_t)
    total = level + sp.exp(t) + sp.exp(s)
    beside = sp.diff(sp.exp(s) / total, t) + sp.exp(s) / total * sp.exp(t) / total
    mean = (rest + h * sp.exp(t)) / (level + sp.exp(t))
    moved = sp.diff(mean, t) - f_t * (h - mean)
    return simplified(diagonal), simplified(beside), simplified(moved)


@functools.cache
def structural_residual(*, sign: int = -1) -> sp.Expr:
    """Return the derivative for a symbolic number of tokens: sums are differentiated term by term.

    `sign` is that of the second term, -1 in the closed form.
    """
    n = sp.Symbol("n", integer=True, positive=True)
    t = sp.Symbol("t", integer=True)
    x = sp.Symbol("x", real=True)
    s, a, h = (sp.IndexedBase(name, real=True) for name in ("s", "a", "h"))
    power = sp.exp(s[t] + a[t] * x)

    def total(term: sp.Expr) -> sp.Expr:
        return sp.Sum(sp.expand(term * power), (t, 1, n))

    derivative = sp.diff(total(h[t]) / total(sp.Integer(1)), x)
    closed = total(a[t] * h[t]) / total(sp.Integer(1)) + sign * (
        total(h[t]) * total(a[t]) / total(sp.Integer(1)) ** 2
    )
    return cancelled(derivative - closed)

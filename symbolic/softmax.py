"""Derivatives of softmax for any number of tokens: its Jacobian, and sums term by term."""

import functools

import sympy as sp

from attsvm.theory.declaration.proof import cancelled, simplified


@functools.cache
def jacobian_residual() -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return three differences that are 0 if softmax has the Jacobian diag(f) - f f^T, for any n.

    The first is for an entry on the diagonal, d f_t/dt, and the second for one beside it, d f_s/dt.
    The third is the derivative of the mean <f, h> by the logit t, minus f_t (h_t - <f, h>).
    `level` is the sum of the exponentials of all other logits. `rest` is the sum of these
    exponentials, each times its h.
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
def structural_residual() -> sp.Expr:
    """Return the derivative of <f, h> along logits s + x a minus <f, a h> - <f, a> <f, h>: 0.

    f is the softmax of these logits. The number n of tokens is a symbol, and sums are
    differentiated term by term.
    """
    n = sp.Symbol("n", integer=True, positive=True)
    t = sp.Symbol("t", integer=True)
    x = sp.Symbol("x", real=True)
    s, a, h = (sp.IndexedBase(name, real=True) for name in ("s", "a", "h"))
    power = sp.exp(s[t] + a[t] * x)

    def total(term: sp.Expr) -> sp.Expr:
        return sp.Sum(sp.expand(term * power), (t, 1, n))

    derivative = sp.diff(total(h[t]) / total(sp.Integer(1)), x)
    power_sum = total(sp.Integer(1))
    closed = total(a[t] * h[t]) / power_sum - total(h[t]) * total(a[t]) / power_sum**2
    return cancelled(derivative - closed)

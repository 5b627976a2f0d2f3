"""The closed-form gradient, exactly: expanded for small sizes, by structure for all.

- In full (`loss_residual`): g itself, A = A_1 kron A_2 of definition 3.1, every entry of X; for 2,
  3 and 4 tokens in one and two dimensions.
- Along one direction (`expanded_residual`): logits move with slopes a_t = A_ti, so u_t =
  exp(logit_t) obeys u_t' = a_t u_t; g' is the value of a symbol.
- For every number of tokens (`jacobian_residual`, `structural_residual`): the Jacobian of softmax
  is diag(f) - f f^T, and sums are differentiated term by term.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from attsvm.attention import kron_block, vec
from attsvm.losses import slope_kernel
from attsvm.risk import covariance
from attsvm.theory import ensure_nonzero, ensure_zero

__all__ = [
    "Expanded",
    "expanded",
    "expanded_residual",
    "jacobian_residual",
    "loss_residual",
    "prove",
    "prove_labels",
    "structural_residual",
]

SIZES = tuple((n, d) for n in (2, 3, 4) for d in (1, 2))


def _symbols(name: str, rows: int, columns: int) -> Any:
    entries = [[sp.Symbol(f"{name}{r}{c}", real=True) for c in range(columns)] for r in range(rows)]
    return np.array(entries, dtype=object)


@dataclass(frozen=True, slots=True)
class Expanded:
    """Symbols of one entry of the loss, with sympy's derivatives in the entries of X.

    Attributes:
        A: the code's `kron_block` of one query and n keys, entries products of symbols.
        f: softmax(A vec(X)) as a rational function of u_t = exp(logit_t).
        h, b: as they are.
        e: exp(-b <f, h>), as a symbol that nothing else relates to the u_t.
        derivatives: of 1/(1 + exp(-b <softmax(A vec(X)), h>)), in these symbols.
    """

    A: Any
    f: Any
    h: Any
    b: Any
    e: Any
    derivatives: list[Any]


def expanded(n: int, d: int) -> Expanded:
    """The loss of n tokens in R^d, differentiated in full and then written in u_t and e."""
    query, keys, X = _symbols("q", 1, d), _symbols("k", n, d), _symbols("x", d, d)
    A = kron_block(query, keys, 0)
    h = np.array(sp.symbols(f"h0:{n}", real=True), dtype=object)
    b, e = sp.Symbol("b", real=True), sp.Symbol("e", positive=True)
    powers = [sp.exp(logit) for logit in A @ vec(X)]
    mean = sum(p * y for p, y in zip(powers, h, strict=True)) / sum(powers)
    loss = 1 / (1 + sp.exp(-b * mean))
    u = sp.symbols(f"u0:{n}", positive=True)
    names = {sp.exp(-b * mean): e, **dict(zip(powers, u, strict=True))}
    f = np.array([x / sum(u) for x in u], dtype=object)
    return Expanded(A, f, h, b, e, [sp.diff(loss, x).subs(names) for x in vec(X)])


def loss_residual(n: int, d: int, *, b_inside: bool = True) -> list[Any]:
    """Derivatives of g(b <softmax(A_j vec(X)), h>) in the entries of X minus the closed form.

    That is b g' A^T (diag(f) - f f^T) h by the code's `covariance` and `slope_kernel`, the latter
    at exp(-b <f, h>), or as printed at exp(-<f, h>), another symbol.
    """
    whole = expanded(n, d)
    slope = slope_kernel(whole.e if b_inside else sp.Symbol("printed", positive=True))
    closed = whole.b * slope * (whole.A.T @ covariance(whole.f, whole.h))
    return [sp.cancel(sp.together(x - c)) for x, c in zip(whole.derivatives, closed, strict=True)]


def expanded_residual(n: int, *, b_inside: bool = True) -> Any:
    """Derivative of g(b <f, h>) along x_i minus the closed form, as a rational function.

    The derivative is taken on the polynomial ring through u_t' = a_t u_t; the closed form runs
    the code's own `covariance` on symbols. g' enters as the value of a symbol at b <f, h>, or,
    with b_inside false, at <f, h> as printed.
    """
    u = sp.symbols(f"u1:{n + 1}", positive=True)
    a = sp.symbols(f"a1:{n + 1}", real=True)
    h = sp.symbols(f"h1:{n + 1}", real=True)
    b = sp.Symbol("b", real=True)
    slope = sp.Function("slope")
    total = sum(u)
    mean = sum(x * y for x, y in zip(u, h, strict=True)) / total
    moved = sum(
        sp.diff(mean, x) * y * x for x, y in zip(u, a, strict=True)
    )  # d<f, h>/dx_i by the chain rule
    f = np.array([x / total for x in u], dtype=object)
    pull = covariance(f, np.array(h, dtype=object))
    closed = sum(y * c for y, c in zip(a, pull, strict=True))
    if b_inside:
        return sp.cancel(sp.together(b * (moved - closed)))
    point = sp.Symbol("d", real=True)
    return sp.cancel(sp.together(b * moved)) * slope(b * point) - sp.cancel(
        sp.together(b * closed)
    ) * slope(point)


def jacobian_residual() -> tuple[Any, Any, Any]:
    """Entries of the softmax Jacobian minus those of diag(f) - f f^T, for any number of tokens.

    The sum of powers is split into what does not depend on the logit, and that logit's power: an
    entry on the diagonal, one beside it, and <f, h>' minus the covariance by the product of the
    Jacobian with h, where `rest` stands for the other tokens' share of sum_s f_s h_s.
    """
    s, t, level, rest, h = sp.symbols("s t level rest h", real=True)
    f_t = sp.exp(t) / (level + sp.exp(t))
    diagonal = sp.diff(f_t, t) - (f_t - f_t * f_t)
    total = level + sp.exp(t) + sp.exp(s)
    beside = sp.diff(sp.exp(s) / total, t) + sp.exp(s) / total * sp.exp(t) / total
    mean = (rest + h * sp.exp(t)) / (level + sp.exp(t))
    moved = sp.diff(mean, t) - f_t * (h - mean)
    return sp.simplify(diagonal), sp.simplify(beside), sp.simplify(moved)


def structural_residual(*, sign: int = -1) -> Any:
    """The derivative for a symbolic number of tokens: sums are differentiated term by term.

    `sign` is that of the second term, -1 in the closed form.
    """
    n = sp.Symbol("n", integer=True, positive=True)
    t = sp.Symbol("t", integer=True)
    x = sp.Symbol("x", real=True)
    s, a, h = (sp.IndexedBase(name, real=True) for name in ("s", "a", "h"))
    power = sp.exp(s[t] + a[t] * x)

    def total(term: Any) -> Any:
        return sp.Sum(sp.expand(term * power), (t, 1, n))

    derivative = sp.diff(total(h[t]) / total(sp.Integer(1)), x)
    closed = total(a[t] * h[t]) / total(sp.Integer(1)) + sign * (
        total(h[t]) * total(a[t]) / total(sp.Integer(1)) ** 2
    )
    return sp.simplify(sp.expand(derivative - closed))


def prove() -> str:
    """Prove the closed form with b inside g, and that the printed one is another function.

    Raises:
        ProofError: an identity fails, or the printed formula turns out to be one.
    """
    for n, d in SIZES:
        ensure_zero(loss_residual(n, d), f"the gradient in full for n = {n}, d = {d}")
    for n in range(1, 6):
        ensure_zero(expanded_residual(n), f"the derivative along a direction for n = {n}")
    ensure_zero(jacobian_residual(), "the Jacobian of softmax is diag(f) - f f^T for every n")
    ensure_zero(structural_residual(), "the derivative of <f, h> for every n")
    for sign in (1, 0):
        found = structural_residual(sign=sign)
        ensure_nonzero(found, f"with {sign} times its second term it is another one")
    printed = expanded_residual(2, b_inside=False)
    ensure_nonzero(printed, "the printed formula is another one along a direction")
    printed = loss_residual(2, 1, b_inside=False)
    ensure_nonzero(printed, "the printed formula is another one in full", some=True)
    return (
        "dL/dx_i = g'(b d) b sum_t a_t f_t (h_t - d) for every n; in full for n = 2, 3, 4 and "
        "d = 1, 2, along a direction for n <= 5"
    )


def prove_labels() -> str:
    """Prove that for labels -1, 0 and 1 the printed formula is the closed form of `prove`.

    With e = exp(-<f, h>) the code's `slope_kernel` is taken at e^b, and as printed at e: the same
    for b = 1, and for b = -1 as g' is even. For b = 0 both formulas have the factor b.

    Raises:
        ProofError: an identity fails, or holds for b = 2 as well.
    """
    e = sp.Symbol("e", positive=True)
    for b in (-1, 0, 1):
        gap = b * (slope_kernel(e**b) - slope_kernel(e))
        ensure_zero(gap, f"g'(b d) b = g'(d) b for b = {b}", normal=sp.cancel)
    gap = slope_kernel(e**2) - slope_kernel(e)
    ensure_nonzero(gap, "g'(b d) is not g'(d) for b = 2", normal=sp.cancel)
    return "g'(b d) b = g'(d) b for b in {-1, 0, 1}, as g' is even"

"""The closed form of the gradient of one entry of the loss.

- For small sizes (`loss_residual`): the claim's functions are evaluated on symbols, with
  A = A_1 kron A_2 of definition 3.1 and every entry of X. They are compared with derivatives that
  sympy takes, for 2, 3 and 4 tokens in one and two dimensions.
- For every number of tokens (`symbolic.softmax`): the Jacobian of softmax is diag(f) - f f^T,
  sums are differentiated term by term, and the chain rule leads from <f, h> to g(b <f, h>).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, simplified, suppose
from attsvm.theory.types import Values
from properties.sim._support.entry_loss import loss
from properties.sim.lemma_3_11 import LABELS, closed_form, derivative
from symbolic.softmax import jacobian_residual, structural_residual

SIZES = tuple((n, d) for n in (2, 3, 4) for d in (1, 2))


def entry_of(n: int, d: int) -> SimpleNamespace:
    """Return A, x = vec(X), h and b of one entry of the loss, with symbols as entries.

    There are n tokens in R^d, and A is a block of A_1 kron A_2.
    """
    query, tokens, X = symbols_of("q", 1, d), symbols_of("k", n, d), symbols_of("x", d, d)
    return SimpleNamespace(
        A=SYMBOLS.kron(query, tokens), x=SYMBOLS.vec(X), h=symbols_of("h", n), b=symbols_of("b")
    )


def in_powers(expression: sp.Expr, v: Values) -> sp.Expr:
    """Return the expression as a rational function of exp(logit_t) and of powers of exp(<f, h>).

    Each of these exponentials becomes a symbol of its own, and relations between them are lost. If
    the result is 0, so is the expression.
    """
    powers = [sp.exp(logit) for logit in v.A @ v.x]
    u = sp.symbols(f"u0:{len(powers)}", positive=True)
    mean = sum(p * y for p, y in zip(u, v.h, strict=True)) / sum(u)
    named = expression.xreplace(dict(zip(powers, u, strict=True)))
    names = {}
    for power in named.atoms(sp.exp):
        k, c = cancelled(power.args[0] / mean).as_coeff_Mul()
        names[power] = sp.Symbol(f"exp({c} <f, h>)", positive=True) ** k
    return named.xreplace(names)


def loss_residual(n: int, d: int, **formula: bool) -> list[sp.Expr]:
    """Return sympy's derivatives of the claim's loss minus its closed form.

    `formula` selects another formula in place of the closed form.
    """
    v = entry_of(n, d)
    value = loss(SYMBOLS, v.A, v.x, v.h, v.b)
    closed = closed_form(SYMBOLS, v, **formula)
    gaps = [sp.diff(value, x) - c for x, c in zip(v.x, closed, strict=True)]
    return [cancelled(in_powers(gap, v)) for gap in gaps]


def derivative_residual(n: int, d: int) -> list[sp.Expr]:
    """Return both sides of the equation that the claim checks, minus sympy's derivatives."""
    v = entry_of(n, d)
    value = loss(SYMBOLS, v.A, v.x, v.h, v.b)
    relation: Any = derivative(SYMBOLS, v)
    true = [sp.diff(value, x) for x in v.x]
    gaps = [
        y - t for side in (relation.left, relation.right) for y, t in zip(side, true, strict=True)
    ]
    return [cancelled(in_powers(gap, v)) for gap in gaps]


def chained_residual() -> sp.Expr:
    """Return the derivative of g(b d) minus g(b d) (1 - g(b d)) b d', for any function d."""
    x, b = sp.symbols("x b", real=True)
    d = sp.Function("d", real=True)(x)
    g = SYMBOLS.logistic(b * d)
    return simplified((sp.diff(g, x) - g * (1 - g) * b * sp.diff(d, x)).rewrite(sp.exp))


def prove() -> str:
    """Prove the closed form with b inside g', and that the printed one is another function."""
    for n, d in SIZES:
        ensure_zero(
            loss_residual(n, d),
            f"the claim's closed form is the gradient of the loss for n = {n}, d = {d}",
        )
    ensure_zero(
        derivative_residual(2, 2),
        "both sides of the equation that the claim checks are the gradient, for n = d = 2",
    )
    ensure_zero(jacobian_residual(), "the Jacobian of softmax is diag(f) - f f^T for every n")
    ensure_zero(
        structural_residual(),
        "the derivative of <f, h> along logits a_t is the sum of a_t f_t (h_t - <f, h>), for "
        "every n",
    )
    ensure_zero(
        chained_residual(),
        "the derivative of g(b d) is g(b d) (1 - g(b d)) b d', for any function d",
    )
    for sign in (1, 0):
        residual = structural_residual(sign=sign)
        ensure_nonzero(
            residual,
            f"the sum of a_t f_t h_t plus {sign} times <f, h> <f, a> is not this derivative",
        )
    printed = loss_residual(2, 1, inside=False)
    ensure_nonzero(
        printed, "the printed formula is not the gradient, for n = 2 and d = 1", some=True
    )
    return (
        "dL/dx_i = g'(b d) b sum_t a_t f_t (h_t - d) for every n; in full for n = 2, 3, 4 and "
        "d = 1, 2"
    )


def prove_labels() -> str:
    """Prove that for labels b of -1, 0 and 1 the printed formula is the gradient.

    The printed formula equals the closed form of `prove`, which has b inside g'. The reason is that
    g' is even, and that both have the factor b, which may be 0.
    """
    suppose(LABELS)
    for b in (-1, 0, 1, 2):
        x = sp.Symbol("x", real=True)
        values: list[sp.Expr] = [SYMBOLS.logistic(y) for y in (b * x, x)]
        slopes = [value * (1 - value) for value in values]
        gap = cancelled((b * (slopes[0] - slopes[1])).rewrite(sp.exp))
        if b != 2:
            ensure_zero(gap, f"g'(b d) b = g'(d) b for b = {b}")
        else:
            ensure_nonzero(gap, "g'(b d) is not g'(d) for b = 2")
        v = entry_of(2, 1)
        v.b = sp.Integer(b)
        printed = closed_form(SYMBOLS, v, inside=False) - closed_form(SYMBOLS, v)
        gaps = [cancelled(in_powers(value, v)) for value in printed]
        if b != 2:
            ensure_zero(gaps, f"the claim's two formulas agree for b = {b} and two tokens")
        else:
            ensure_nonzero(gaps, "the claim's two formulas differ for b = 2 and two tokens")
    return "g'(b d) b = g'(d) b for b in {-1, 0, 1}, as g' is even"

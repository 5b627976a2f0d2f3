"""Gradient flow on g(-u) for the attended score u = b <f, h>, with g the logistic function.

Along the flow u rises at the rate g'(u) ||grad u||^2. If all rivals have one score, u is an affine
function of F, the weight of the optimal tokens.

For `SIZES`, the claim's score, weight and gradients are evaluated on symbols and compared with
derivatives that sympy takes. Two facts are proved for all sizes: the chain rule,
grad g(-u) = -g'(u) grad u, and u = r + gap F if the optimal tokens score r + gap and all others r.
Tokens of one score enter u and F by their common weight (`merged_residual`).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import (
    ensure_equal,
    ensure_nonnegative,
    ensure_nonzero,
    ensure_positive,
    ensure_zero,
    gradient,
)
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, simplified, suppose
from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import note
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import square
from attsvm.theory.proof.terms import EXP, INV
from attsvm.theory.types import Values
from properties.sim.definition_3_6 import ALIKE, DECREASING, DEFINITION, INCREASING
from properties.sim.definition_3_6.conclusion import drift, gradients, score, weight
from symbolic.facts import end, index, letters_in, power, product, squares
from symbolic.sim.lemma_3_11 import in_powers
from symbolic.sums import entry, total

SIZES = tuple((n, D) for n in (1, 2, 3) for D in (1, 2))
"""Numbers (n, D) of tokens and of entries of x."""

R, GAP = sp.Symbol("r", real=True), sp.Symbol("gap", positive=True)
"""The score of all rivals, and the lead of the optimal tokens over it."""


def _entry(
    n: int, D: int, h: list[sp.Expr] | None = None, b: sp.Expr | None = None
) -> SimpleNamespace:
    return SimpleNamespace(
        A=symbols_of("a", n, D),
        x=symbols_of("x", D),
        h=symbols_of("h", n) if h is None else SYMBOLS.array(h),
        b=symbols_of("b") if b is None else b,
    )


def _with_scores(n: int, D: int, best: int) -> SimpleNamespace:
    """Return data in which the first `best` tokens have the score r + gap, all others r; b != 0."""
    b = sp.Symbol("b", real=True, nonzero=True)
    return _entry(n, D, [(R + GAP if t < best else R) / b for t in range(n)], b)


def _vanishing(expressions: list[sp.Expr], v: Values) -> list[sp.Expr]:
    return [cancelled(in_powers(value, v)) for value in expressions]


def chained_residual() -> sp.Expr:
    """Return the derivative of g(-u) along an entry of x, minus -g'(u) times that of any u."""
    x = sp.Symbol("x", real=True)
    u = sp.Function("u", real=True)(x)
    left = sp.diff(SYMBOLS.logistic(-u), x) + SYMBOLS.logistic_slope(u) * sp.diff(u, x)
    return simplified(left.rewrite(sp.exp))


def descent_residual(n: int, D: int, sign: int = DECREASING) -> list[sp.Expr]:
    """Return the claim's gradients of g(-u), and of u, minus -g'(u) du/dx and du/dx by sympy."""
    v = _entry(n, D)
    descended, other = gradients(SYMBOLS, v, sign, "score")
    u = score(SYMBOLS, v.A, v.x, v.h, v.b)
    slope = SYMBOLS.logistic_slope(u)
    moved = [sp.diff(u, x) for x in v.x]
    gaps = [g + slope * d for g, d in zip(descended, moved, strict=True)]
    return _vanishing([*gaps, *(o - d for o, d in zip(other, moved, strict=True))], v)


def weight_residual(n: int, D: int, best: int) -> list[sp.Expr]:
    """Return the claim's gradient of F minus sympy's derivatives of the first tokens' weight."""
    v = _with_scores(n, D, best)
    _, other = gradients(SYMBOLS, v, DECREASING, "weight")
    F = sum(SYMBOLS.softmax(v.A @ v.x)[:best].tolist())
    return _vanishing([o - sp.diff(F, x) for o, x in zip(other, v.x, strict=True)], v)


def affine_residual(n: int, best: int, gap: sp.Expr = GAP) -> sp.Expr:
    """Return u - (r + gap F) for u and F as the claim evaluates them."""
    v = _with_scores(n, 1, best)
    u, F = (q(SYMBOLS, v.A, v.x, v.h, v.b) for q in (score, weight))
    return _vanishing([u - R - gap * F], v)[0]


def merged_residual(gap: sp.Expr = GAP) -> sp.Expr:
    """Return u - (r + gap P) for any n, with P the total weight of the optimal tokens."""
    P = sp.Symbol("P", positive=True)
    return sp.expand(P * (R + GAP) + (1 - P) * R - (R + gap * P))


def ensure_chained() -> None:
    """Prove that u changes along -grad g(-u) at the rate g'(u) ||grad u||^2, and that g' > 0."""
    ensure_positive(SYMBOLS.logistic_slope(sp.Symbol("u", real=True)), "g' is positive")
    ensure_zero(chained_residual(), "d/dx g(-u(x)) = -g'(u) du/dx for any u, so for any n and D")
    ensure_nonnegative(
        total(entry("grad u") ** 2), "so <-grad g(-u), grad u> is g'(u) times a sum of squares"
    )
    for n, D in SIZES:
        at = f"for n = {n}, D = {D}"
        ensure_zero(descent_residual(n, D), f"grad g(-u) = -g'(u) grad u {at}")
        v = _entry(n, D)
        relation = drift(SYMBOLS, v, DECREASING, "score")
        left = SYMBOLS.dot(*gradients(SYMBOLS, v, DECREASING, "score"))
        ensure_equal(relation.left, left, f"the claim compares <grad g(-u), grad u> {at}")
        ensure_zero(relation.right, f"the claim compares this inner product with 0 {at}")
    other = descent_residual(2, 1, INCREASING)
    ensure_nonzero(other, "grad g(u) is not -g'(u) grad u", some=True)


@linked
def prove() -> str:
    """Prove that <grad g(-u), grad u> = -g'(u) ||grad u||^2 is at most 0, for every n and D."""
    v: Values = letters_in(DEFINITION, "amended-2")
    k = index("k", "D")

    def entry(m: Any, x: Any) -> Any:
        return score(m, v.A, x, v.h, v.b)

    u, moved = entry(LETTERS, v.x).term, gradient(LETTERS, entry, v.x)
    slope = note("g'(u) is positive", product(power(u), square(INV(1 + EXP(u)))))
    fact = product(slope, squares(number(moved).entry((k.term,)), k))
    end(DEFINITION, "amended-2", by=[fact])
    return "du/ds = g'(u) ||grad u||^2 >= 0 along -grad g(-u) by the chain rule, for any n and D"


def prove_equal_rivals() -> str:
    """Prove that with equal rivals u = r + gap F, so that grad u = gap grad F with gap > 0."""
    ensure_chained()
    suppose(ALIKE)
    for n, D in SIZES:
        for best in range(1, n + 1):
            at = f"for n = {n}, D = {D}, {best} best"
            ensure_zero(
                weight_residual(n, D, best),
                f"the claim's gradient of F, the optimal tokens' weight, is right {at}",
            )
            ensure_zero(affine_residual(n, best), f"u = r + gap F {at}")
    ensure_zero(merged_residual(), "u = r + gap F for every n, by merged tokens")
    all_tied = weight(SYMBOLS, symbols_of("a", 3, 1), symbols_of("x", 1), symbols_of("h", 3), 0)
    ensure_equal(simplified(all_tied), 1, "for b = 0 all tokens are optimal, and F = 1 stays")
    ensure_nonzero(
        affine_residual(3, 1, sp.Integer(1)), "u is not r + F, with 1 in place of gap, for n = 3"
    )
    ensure_nonzero(
        merged_residual(sp.Integer(1)),
        "u is not r + F, with 1 in place of gap, by merged tokens",
    )
    return (
        "u = r + gap F where all rivals score gap less, for every n by merged tokens, so "
        "dF/ds = g'(u) gap ||grad F||^2; as the claim runs on symbols for n <= 3"
    )

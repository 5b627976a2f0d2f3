"""What a matrix with given logits consists of: W = W_fin + V, and how V lies to W_svm.

E is the span of the (x_t - x_u) z_i^T with t and u kept in input i, A_j are those of a kept token
and one that is not. W_fin is the least matrix with the inner products of W on E: its projection on
E. So V = W - W_fin is orthogonal to E: it meets the equalities of Gen-SVM.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded
from symbolic.inner_products import inner, vector
from symbolic.least_points import (
    MORE,
    ensure_multipliers,
    ensure_scaled_meets,
)
from symbolic.textbook import CAUCHY_SCHWARZ, CLOSED, CONVEX, NEAREST_POINT, NOT_EMPTY

W, F, E, X, V = (vector(name) for name in ("W", "F", "E", "X", "V"))


def ensure_projection() -> None:
    """W_fin is the projection of W on E, and V is orthogonal to it and to E."""
    cite(
        NEAREST_POINT,
        given={
            CLOSED: "finitely many equalities",
            CONVEX: "finitely many equalities",
            NOT_EMPTY: "W meets them",
        },
    )
    step = sp.Symbol("step", real=True)
    moved = F + step * E
    ensure_equal(
        sp.diff(moved @ moved, step).subs(step, 0),
        2 * inner("F", "E"),
        "W_fin + E is admitted wherever E is orthogonal to the span, so W_fin is orthogonal to E: "
        "it lies in the span",
    )
    facts = {inner("F", "W"): inner("F", "F")}
    ensure_zero((F @ (W - F)).subs(facts), "<W_fin, V> = 0, as W_fin in the span sees W as itself")
    ensure_zero(
        ((W - F) @ (W - F) - (W @ W - F @ F)).subs(facts).expand(),
        "||W||^2 = ||W_fin||^2 + ||V||^2",
    )


def prove_finite() -> str:
    """Where all tokens are kept and W lies in their span it is its own projection."""
    ensure_projection()
    ensure_zero([E @ (0 * V), (0 * V) @ (0 * V)], "0 meets the equalities, all of Gen-SVM: W_svm")
    seen = ((W - F) @ (W - F)).subs(inner("W", "W"), inner("F", "W"))
    ensure_zero(
        seen.subs(inner("F", "W"), inner("F", "F")).expand(),
        "||V||^2 = 0, as <W, V> = 0 for W in the span and <W_fin, V> = 0",
    )
    return "for any n, T and d"


def prove_solvable() -> str:
    """V over its least margin meets Gen-SVM, whose solution is therefore no longer."""
    ensure_projection()
    ensure_scaled_meets()
    mu = sp.Symbol("mu", positive=True)
    ensure_zero((E @ (V / mu)).subs(inner("E", "V"), 0), "and its equalities, as <E, V> = 0")
    cite(
        NEAREST_POINT,
        given={
            CLOSED: "finitely many equalities and inequalities",
            CONVEX: "the same",
            NOT_EMPTY: "V/mu meets them",
        },
    )
    return "for any n, T, d and kept tokens"


def prove_correlation() -> str:
    """<V, W_svm> >= mu ||W_svm||^2, and W_svm is orthogonal to W_fin."""
    prove_solvable()
    ensure_multipliers()
    w, mu = sp.Symbol("w", nonnegative=True), sp.Symbol("mu", positive=True)
    ensure_nonnegative(
        w * (mu + MORE) - mu * w,
        "<V, W_svm> = sum_j w_j <A_j, V> >= mu sum_j w_j; equalities add 0 as V is orthogonal to E",
        normal=expanded,
    )
    ensure_equal(
        (w * inner("A", "X")).subs(inner("A", "X"), 1),
        w,
        "and sum_j w_j = sum_j w_j <A_j, W_svm> = ||W_svm||^2, as w_j = 0 where it is not tight",
    )
    ensure_zero(
        ((w * E) @ X).subs(inner("E", "X"), 0),
        "<W_fin, W_svm> = 0, term by term of W_fin in the span: W_svm meets the equalities",
    )
    c, size, along = sp.Symbol("c", real=True), sp.Symbol("size", positive=True), sp.Symbol("along")
    ensure_zero(
        sp.diff(
            along**2 / size - size * (c - along / size) ** 2 - (2 * c * along - c**2 * size), c
        ),
        "c = <V, W_svm>/||W_svm||^2 is the best one",
    )
    cite(CAUCHY_SCHWARZ)
    length, fin = sp.Symbol("length", positive=True), sp.Symbol("fin", nonnegative=True)
    ensure_nonnegative(
        (mu * length + MORE) ** 2 / length - mu**2 * length,
        "<V, W_svm>^2/||W_svm||^2 >= mu^2 ||W_svm||^2",
        normal=expanded,
    )
    ensure_positive(
        fin + mu**2 * length,
        "and ||W||^2 is no less than with ||W_fin||^2, so not 0: W_svm is not, with a margin of 1",
    )
    return "for any n, T, d and kept tokens"

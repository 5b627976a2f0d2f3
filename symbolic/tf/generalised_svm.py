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
    ensure_multipliers_suffice,
    ensure_scaled_meets,
)
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    CLOSED,
    CONVEX,
    EXPONENTIAL,
    MONOTONE,
    MONOTONE_SEQUENCE,
    NEAREST_POINT,
    NOT_EMPTY,
    SECOND_DERIVATIVE,
    TANGENT,
)

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
        fin + (mu * length + MORE) ** 2 / length,
        "and ||W||^2 = ||W_fin||^2 + ||V||^2 is not 0: W_svm is not, with a margin of 1",
    )
    return "for any n, T, d and kept tokens"


def prove_bounded() -> str:
    """Each margin of two-token inputs with orthogonal A_i keeps within a constant of ln k."""
    A, B = vector("A"), vector("B")
    m, e, c, k = sp.symbols("m e c k", positive=True)
    apart = {inner("A", "B"): 0}
    moved = (V + e * A + MORE * B - V) @ A
    ensure_equal(
        moved.subs(apart), e * inner("A", "A"), "a step moves the margin <A_i, W> by its own A_i"
    )
    best, low = sp.Symbol("best", real=True), sp.Symbol("gap", positive=True)
    share = 1 / (1 + sp.exp(-m))
    slope = sp.diff(share * best + (1 - share) * (best - low), m)
    ensure_equal(
        slope,
        low * share * (1 - share),
        "the score of an input rises with its margin by s_1 s_2 times the gap of the scores",
        normal=sp.simplify,
    )
    ensure_positive(
        [share * (1 - share)],
        "so the margin moves by -e l'(u) ||A_i||^2 gap/n s_1 s_2, which is positive, and lies "
        "between c s_1 s_2 and C s_1 s_2, as l' rises from gamma_2 to gamma_1",
        normal=_in_exponential,
    )
    ensure_nonnegative(
        [
            sp.exp(m) * share * (1 - share) - sp.Rational(1, 4),
            1 - sp.exp(m) * share * (1 - share),
            sp.Rational(1, 4) - share * (1 - share),
        ],
        "1/4 <= exp(m) s_1 s_2 <= 1, and s_1 s_2 <= 1/4, from m = 0 on",
        normal=_in_exponential,
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        sp.exp(m) * (1 + c + MORE) - sp.exp(m) - sp.exp(m) * c,
        "exp(m) grows by at least exp(m) times the move, so by c/4",
        normal=expanded,
    )
    ensure_equal(
        sp.exp(m) * c * sp.exp(c),
        sp.exp(m + c) * c,
        "and by at most exp(m) times the move times its exponential, so by C exp(C/4)",
        normal=sp.powsimp,
    )
    ensure_equal(
        sp.limit(sp.log(1 + c * k) - sp.log(k), k, sp.oo),
        sp.log(c),
        "ln(1 + c k) - ln k tends to ln c: both bounds, and m_i - ln k, are bounded from k = 1 on",
        normal=sp.simplify,
    )
    svm = A / inner("A", "A") + B / inner("B", "B")
    ensure_equal(
        [(svm @ A).subs(apart), (svm @ B).subs(apart)],
        [1, 1],
        "W_svm is the sum of the A_i/||A_i||^2, with multipliers 1/||A_i||^2, and W(k), in the "
        "span, that of the m_i A_i/||A_i||^2: W(k) - ln k W_svm has coefficients m_i - ln k",
        normal=sp.cancel,
    )
    return "for any n and d, and every convex loss with l' < 0"


def _in_exponential(x: sp.Expr) -> sp.Expr:
    """In y = exp(m) - 1, which is positive."""
    m, y = sp.Symbol("m", positive=True), sp.Symbol("y", positive=True)
    return sp.factor(sp.simplify(x.rewrite(sp.exp).subs(m, sp.log(1 + y))))


def prove_unbounded() -> str:
    """On the data with a multiplier 0 the second margin leaves the first one behind for ever."""
    w1, w2, to = sp.symbols("w_1 w_2 to", real=True)
    q = sp.Symbol("q", positive=True)
    logits = [sp.Integer(0), -w1, -w1 - w2]
    weights = [sp.exp(a) for a in logits]
    total = sum(weights)
    s = [w / total for w in weights]
    score = 2 * s[0] - s[1] - s[2]
    slopes = [sp.diff(score, w) for w in (w1, w2)]
    ensure_equal(
        slopes,
        [3 * s[0] * (s[1] + s[2]), 3 * s[0] * s[2]],
        "the score rises with w_1 by 3 s_1 (s_2 + s_3), and with w_2 by 3 s_1 s_3",
        normal=sp.simplify,
    )
    ensure_positive(
        [q * slopes[0], q * slopes[1]],
        "so both grow, as -l' and the step are positive",
        normal=sp.factor,
    )
    ensure_zero(
        sp.simplify(slopes[0] - (1 + sp.exp(w2)) * slopes[1]),
        "w_1 by 1 + exp(w_2) times as much as w_2",
    )
    convex = "f(x) = x + exp(x) is convex, with f'(x) = 1 + exp(x)"
    f = to + sp.exp(to)
    ensure_positive(sp.diff(f, to, 2), convex)
    ensure_equal(sp.diff(f, to), 1 + sp.exp(to), "its slope")
    cite(TANGENT, met={SECOND_DERIVATIVE: convex})
    cite(
        MONOTONE_SEQUENCE,
        given={
            MONOTONE: "w_1 and w_2 grow, and f(w_2) - w_1 never falls: if w_2 stays below a bound "
            "so does w_1"
        },
    )
    ensure_positive(
        slopes[0],
        "but at a limit the step of w_1 would be positive: w_2 is unbounded, and so is "
        "||W(k) - c W_svm||, which is at least |w_2|",
        normal=sp.factor,
    )
    differences, w, multipliers = sp.Matrix([[1, 0], [1, 1]]), sp.Matrix([1, 0]), sp.Matrix([1, 0])
    ensure_equal(
        [*(differences * w), *(differences.T * multipliers - w)],
        [1, 1, 0, 0],
        "w = (1, 0) has both margins 1, and is 1 times the first difference and 0 times the second",
    )
    ensure_multipliers_suffice()
    return "for every loss with l' < 0, every start and constant step"

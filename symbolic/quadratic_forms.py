"""Bounds of a quadratic form by the least eigenvalue, and of the square of a sum of n numbers."""

import sympy as sp

from attsvm.theory import cite, ensure_equal
from symbolic.inner_products import vector
from symbolic.sums import ensure_nonnegative_sum, entry, n, r, swapped, t, total
from symbolic.textbook import EIGENVECTORS, SYMMETRIC

EIGENVALUE, ALONG = entry("eigenvalue"), entry("along")
"""The t-th eigenvalue, and the coordinate of a vector x along the t-th unit eigenvector."""
MORE = sp.Symbol("more", nonnegative=True)


def ensure_form(form: sp.Expr, factor: sp.Expr, what: str, *, eigenvalue: sp.Expr) -> None:
    """Prove that a sum of squared coordinates, each times a function of its eigenvalue, is >= 0.

    Args:
        form: the sum, written with `EIGENVALUE` and `ALONG`.
        factor: the factor of `ALONG`^2, a function of `EIGENVALUE`.
        what: the name of the sum.
        eigenvalue: each eigenvalue, in symbols of known sign.

    Raises:
        ProofError: `form` is not the sum of `ALONG`^2 `factor`, or the signs do not imply that
            `factor` is at least 0.
    """
    values = {"eigenvalue": eigenvalue, "along": sp.Symbol("x", real=True)}
    ensure_nonnegative_sum(form, ALONG**2 * factor, what, **values)


def ensure_least_eigenvalue(least: sp.Expr, symmetric: str, what: str) -> None:
    """Prove that x^T G x is at least the least eigenvalue of G times ||x||^2.

    Args:
        least: the least eigenvalue of G, a symbol of known sign.
        symmetric: the sentence that G is symmetric. G is a Gram matrix of vectors A_t, or the
            inverse of one.
        what: the name of the inequality.
    """
    ensure_equal(vector("A_s") @ vector("A_t"), vector("A_t") @ vector("A_s"), symmetric)
    cite(EIGENVECTORS, met={SYMMETRIC: symmetric})
    form = total(EIGENVALUE * ALONG**2) - least * total(ALONG**2)
    ensure_form(form, EIGENVALUE - least, what, eigenvalue=least + MORE)


def ensure_square_of_sum(what: str) -> None:
    """Prove that (sum_t x_t)^2 is at most n sum_t x_t^2.

    Args:
        what: the name of the x_t.
    """
    x = entry("x")
    ensure_equal(
        n * total(x**2) - total(x) ** 2,
        total((x - swapped(x)) ** 2, t, r) / 2,
        f"n sum_t x_t^2 - (sum_t x_t)^2 is half the sum of all (x_t - x_r)^2: {what}",
    )

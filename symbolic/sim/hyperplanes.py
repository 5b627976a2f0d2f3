"""Different half-spaces of two problems that have the same tokens and different optimal tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import cancelled, expanded, suppose
from properties.sim import hyperplanes
from properties.sim.hyperplanes.conclusion import apart
from symbolic.inner_products import inner, vector
from symbolic.textbook import CAUCHY_SCHWARZ

P, Q, D = vector("w_i"), vector("w_j"), vector("D")
"""The normals w_i and w_j of the two half-spaces, and D = x_opt_i - x_opt_j."""
MORE, OTHER = sp.symbols("more other", nonnegative=True)
T = sp.Symbol("t", positive=True)
MARGINS = {inner("D", "w_i"): 1 + MORE, inner("D", "w_j"): -1 - OTHER}
"""x_opt_j is a rival of x_opt_i in problem i, and the other way round in problem j."""


def ensure_margins() -> None:
    """Prove that <w_i - w_j, D> is the sum of two margins, at least 2."""
    suppose(hyperplanes.WHOLE, FEASIBLE)
    sum_of_margins = ((P - Q) @ D).subs(MARGINS)
    ensure_nonnegative(
        sum_of_margins - 2, "<w_i - w_j, D> = <w_i, D> + <w_j, -D> >= 2", normal=expanded
    )


def prove_apart() -> str:
    """Prove that ||w_i - w_j|| ||D|| >= 2, attained."""
    ensure_margins()
    cite(CAUCHY_SCHWARZ)
    square = (MARGINS[inner("D", "w_i")] - MARGINS[inner("D", "w_j")]) ** 2
    ensure_nonnegative(square - 4, "so ||w_i - w_j||^2 ||D||^2 >= 4", normal=expanded)
    A = vector("D")
    w = A / (A @ A)  # the normal of X^mm for two tokens that differ by D, and queries z and -z
    ensure_equal(
        apart(w - (-1) * w, A),
        sp.Integer(4),
        "||w_i - w_j||^2 ||D||^2 is 4 for two tokens and opposite queries, w_i = -w_j = D/||D||^2",
        normal=cancelled,
    )
    return "for any number of tokens, sub-sequences and axes"


def prove_half_spaces() -> str:
    """Prove that w_j is no positive multiple of w_i, so that the half-spaces differ."""
    ensure_margins()
    ensure_positive(
        (T * P @ D).subs(MARGINS) - MARGINS[inner("D", "w_j")],
        "<t w_i, D> > 0 for t > 0, and <w_j, D> < 0, so that w_j is not t w_i",
        normal=expanded,
    )
    return "for any number of tokens, sub-sequences and axes"


def prove_queries() -> str:
    """Prove that z_j is no positive multiple of z_i, nor is a query 0."""
    prove_half_spaces()
    x, z = sp.symbols("X z", real=True)
    ensure_equal(x * (T * z), T * (x * z), "z_j = t z_i makes w_j = X z_j = t w_i")
    return "for any number of tokens, sub-sequences and axes"

"""Minimisers with a vanishing penalty are points of the regularisation path, of growing radius."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from symbolic.textbook import COMPACT, CONTINUOUS, WEIERSTRASS
from symbolic.tf import lemma_2, lemma_2_limit, theorem_2, theorem_3

LAMBDA, SQUARE, GAP = sp.symbols("lambda square gap", positive=True)
LESS, MORE = sp.symbols("less more", nonnegative=True)


def ensure_on_path() -> None:
    """A minimiser with penalty exists, and minimises the risk over the ball of its own norm."""
    ensure_nonnegative(
        GAP + LAMBDA * SQUARE / 2 - LAMBDA * SQUARE / 2,
        "the objective less L_* is at least the penalty, so large matrices are worse than 0",
    )
    cite(WEIERSTRASS, given={CONTINUOUS: "risk and penalty are", COMPACT: "a closed ball"})
    ensure_positive(
        sp.expand(GAP + LAMBDA * (SQUARE + LESS) / 2 - LAMBDA * SQUARE / 2),
        "a point of no larger norm whose risk is less by a gap has a lower objective",
    )


def ensure_norm_grows() -> None:
    """The norm tends to infinity as lambda falls to 0."""
    lemma_2_limit.prove()
    lemma_2.prove()
    ensure_zero(
        sp.limit(LAMBDA * SQUARE / 2, LAMBDA, 0),
        "the least objective less L_* is at most gap + lambda square/2 of any W, which tends to "
        "gap, and gaps have the infimum 0",
    )
    cite(WEIERSTRASS, given={CONTINUOUS: "the risk is", COMPACT: "a closed ball"})
    ensure_positive(GAP, "on every ball the risk gap is above a positive constant, so it is left")


def prove() -> str:
    """W_lambda/||W_lambda|| tends to W^mm/||W^mm||, at least as fast as the path at its norm."""
    ensure_on_path()
    ensure_norm_grows()
    theorem_2.prove_limit()
    return "for every strictly decreasing loss with l' < 0 at the best scores, any n, T and d"


def prove_factored() -> str:
    """The products approach the solutions of the nuclear-norm SVM over C_*."""
    ensure_on_path()
    ensure_norm_grows()
    k, q = sp.symbols("k q", real=True)
    ensure_equal(
        sp.expand((k**2 + q**2) / 2 - (k - q) ** 2 / 2),
        k * q,
        "the penalty is lambda R, R = (||K||^2 + ||Q||^2)/2, and ||W||_* <= R tends to infinity",
    )
    theorem_3.prove()
    return "for every strictly decreasing loss with l' < 0 at the best scores, inner dimension d"

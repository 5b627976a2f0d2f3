"""A lower bound of the gradient if all rivals have margin 1: it is nowhere 0.

At every W, -<grad L, W^mm> is positive.
"""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import ALL_TIGHT
from attsvm.theory import cite, ensure_equal, ensure_positive
from attsvm.theory.declaration.proof import simplified, suppose, supposed_number
from symbolic.alternatives import FALLING, TWO_SCORES
from symbolic.gains import ensure_gain, ensure_gain_of_support, ensure_positive_gain
from symbolic.inner_products import INNER, vector
from symbolic.textbook import CAUCHY_SCHWARZ


def prove_bound() -> str:
    """Prove that ||grad L|| ||W^mm|| >= (1/n) sum_i (-l') s_opt sum_t s_t (gamma_opt - gamma_t).

    One input of two tokens attains equality.
    """
    ensure_gain()
    suppose(ALL_TIGHT)
    ensure_gain_of_support()
    cite(CAUCHY_SCHWARZ)
    A, c = vector("A"), sp.Symbol("c", positive=True)
    W_mm = A / (A @ A)
    ensure_equal(
        (c * A) @ W_mm,
        INNER.norm(c * A) * INNER.norm(W_mm),
        "equality for one input of two tokens, where -grad L = c A and W^mm = A/||A||^2",
        normal=simplified,
    )
    return "for every differentiable loss and any n, T, d"


def prove() -> str:
    """Prove that the gradient at W is not 0 if some input has two different scores."""
    prove_bound()
    slope = supposed_number(FALLING, "|l'|", positive=True)
    ensure_positive(
        slope * ensure_positive_gain(TWO_SCORES),
        "-<grad L, W^mm>, of which this is an input's part, is above 0",
    )
    return "for every loss with l' < 0 and any n, T, d: -<grad L(W), W^mm> is positive"

"""The gradient for one input: that of a loss l is |l'(u)| times that of the loss -x.

u is the attended score.
"""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import ONE_INPUT
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS
from attsvm.theory import ensure_equal, ensure_nonzero, ensure_zero
from attsvm.theory.declaration.proof import suppose
from properties.mm._support.prompt_descent import logit_gradient
from symbolic.mm.w_p_equivalence import pairwise_residual
from symbolic.softmax import structural_residual
from symbolic.sums import LENGTHS, entry, entry_of, vector


def prove() -> str:
    """Prove that the two gradients have one direction at every p, for any number of tokens."""
    ensure_zero(
        pairwise_residual(), "the gradient in logit t that runs is l' s_t (gamma_t - u), for any T"
    )
    ensure_zero(
        structural_residual(),
        "the slope of <s, gamma> along logits a_t is the sum of s_t (gamma_t - u) a_t, so "
        "that this gradient is l' times it, for any T",
    )
    suppose(ONE_INPUT, SLOPED_LOSS)
    slope = sp.Symbol("slope", positive=True)
    s, gamma = vector(entry("s")), vector(entry("gamma"))
    of_l = entry_of(logit_gradient(LENGTHS, s, gamma, -slope))
    of_line = entry_of(logit_gradient(LENGTHS, s, gamma, sp.Integer(-1)))
    ensure_nonzero(of_line, "the logits' gradient of -x is not the zero function")
    ensure_equal(of_l, slope * of_line, "the logits' gradient of l is |l'(u)| times that of -x")
    return "for every loss with l' < 0, any T and d, at every p"

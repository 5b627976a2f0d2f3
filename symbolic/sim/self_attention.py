"""Self-attention as a set of inputs, one for each entry of the loss.

Proofs about inputs then apply to self-attention. Entry (l0, j0, i0) is the input with the query
a_{j0}, the tokens that it attends to, and the scores b A_{l0} y_{i0}. W is X^T. The loss is the sum
of N entries, while the risk is their mean.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import suppose
from properties.sim.printed_loss.conclusion import PAIRS
from symbolic import aligned_inputs, basins, growth_rates
from symbolic.sim.tensor_trick import ensure_transposed


def ensure_reduction() -> None:
    """Prove that descent on the sum over entries, in X, is descent on the mean, in W = X^T."""
    ensure_transposed()
    N, step, slope = sp.symbols("N e g", positive=True)
    ensure_equal(
        (step / N) * (N * slope),
        step * slope,
        "a step of e/N on the sum over N entries is a step of e on their mean, of which the "
        "sum has N times the gradient",
    )


def ensure_turned() -> None:
    """Prove that the printed loss g(u) is the decreasing loss g(-v) of the score v = -u."""
    u, v = sp.symbols("u v", real=True)
    decreasing: sp.Expr = SYMBOLS.logistic(-v)
    ensure_zero(
        decreasing.subs(v, -u) - SYMBOLS.logistic(u),
        "g(b <f, h>) is g(-v) with v = -b <f, h>",
    )
    ensure_positive(SYMBOLS.logistic_slope(u), "g(-v) has the slope -g'(-v), which is negative")


def prove_transposed() -> str:
    """Prove that, for the mean over inputs, X^T converges in direction to X^mm from the basin."""
    ensure_transposed()
    return basins.prove()


def prove() -> str:
    """Prove that, for the sum over entries, X^T converges in direction to X^mm from the basin."""
    ensure_reduction()
    return basins.prove()


def prove_aligned() -> str:
    """Prove the limit direction from any start if entries are aligned and rivals have one score."""
    ensure_reduction()
    return aligned_inputs.prove_equal_rivals()


def prove_printed() -> str:
    """Prove that descent on the printed loss converges in direction to X^low.

    The start is in the basin of the lowest tokens.
    """
    ensure_turned()
    prove()
    return "for any number of sequences, tokens and columns, and any d"


def prove_printed_pairs() -> str:
    """Prove that descent on the printed loss converges in direction to -X^mm.

    Each entry has two tokens, and entries are aligned. The start and the step are arbitrary.
    """
    ensure_turned()
    suppose(PAIRS)
    best, worst, x = sp.symbols("best worst x", real=True)
    ensure_zero(
        (worst - best) * (-x) - (best - worst) * x,
        "-X has the margins of X with best and worst exchanged, which are all tokens of an entry, "
        "so X^low is -X^mm",
    )
    A, B = sp.symbols("A B", real=True)
    ensure_equal(
        (-A) * (-B),
        A * B,
        "-A_j and -A_k have the inner product of A_j and A_k, so that inputs stay aligned",
    )
    prove_aligned()
    return "for any number of sequences and columns, any d and any constant step"


def prove_printed_rate() -> str:
    """Prove that ||X_k|| grows like ||X^low|| ln k on the printed loss, from the basin."""
    ensure_turned()
    ensure_reduction()
    growth_rates.prove_rate()
    return "for any number of sequences, tokens and columns, and any d"

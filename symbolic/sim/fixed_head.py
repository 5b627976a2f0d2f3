"""A head after attention is a head inside the values: (f^T M) H e_v = f^T (M H e_v), M = A_3 Y.

The claim's own functions run on symbols, for the sizes below: the score with the head after
attention is differentiated by sympy, and held against the closed form of lemma 3.11 at the values
that have absorbed the head. What the sizes enter is associativity of the product, and lemma 3.11,
which knows nothing of h but its entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.theory import ensure_equal, ensure_nonzero, ensure_positive, ensure_true, ensure_zero
from properties.sim.attentions import attend
from properties.sim.heads import Headed, closed_form, score, scores, values
from symbolic.sim import lemma_3_11
from symbolic.sim.formal import Formal, derivative, expressions, numerator, plain, symbols

__all__ = ["gradient_residual", "headed", "multiples", "prove", "prove_multiple"]

SIZES = ((1, 1, 1, 1), (2, 1, 1, 2), (2, 1, 2, 1), (3, 1, 1, 1), (3, 2, 2, 2))
"""(n, D, d, V): tokens, entries of x, columns of the values and of the head."""


def headed(n: int, D: int, d: int, V: int, *, largest: int = 0) -> Headed:
    """Symbols of these sizes, one token with the largest logit."""
    ranks = [[int(t == largest and i == 0) for i in range(D)] for t in range(n)]
    A, x = symbols("a", n, D, ranks=ranks), symbols("x", D, ranks=[1] * D)
    b: Any = Formal(sp.Symbol("b", real=True))
    return Headed(A, x, symbols("m", n, d), symbols("h", d, V), b)


def gradient_residual(case: Headed, taken: str = "column") -> list[Any]:
    """Gradient of the score with the head, times g', minus the closed form as the claim has it."""
    f = attend(case.A @ case.x)
    e = sp.Symbol("e", positive=True)  # exp(-|u|), a number of its own
    slope = slope_kernel(e)
    u = plain(score(case, f))
    closed = expressions(closed_form(values(case, taken), f, Formal(slope)))
    return [slope * derivative(u, x) - c for x, c in zip(expressions(case.x), closed, strict=True)]


def prove() -> str:
    """Prove that the head can be absorbed, in the gradients.

    Raises:
        ProofError: an entry differs, or leaving the head out, or its mean column, does as well.
    """
    for n, D, d, V in SIZES:
        for largest in range(n if D == 1 else 1):
            residual = gradient_residual(headed(n, D, d, V, largest=largest))
            what = f"the gradient with a head at (n, D, d, V) = {(n, D, d, V)}, largest {largest}"
            ensure_zero(residual, what, normal=numerator)
    ensure_zero(lemma_3_11.structural_residual(), "the gradient of <f, h> for every n")
    for case, taken in ((headed(2, 1, 1, 1), "ignored"), (headed(2, 1, 1, 2), "mean")):
        residual = gradient_residual(case, taken)
        ensure_nonzero(residual, f"with the head {taken} it is another one", normal=numerator)
    return (
        "the gradient with a head is the closed form with values Y H, as the code runs on symbols "
        f"for (n, D, d, V) in {SIZES}"
    )


def multiples(n: int, d: int, column: Any) -> list[Any]:
    """Differences of scores with that column of the head over those without a head."""
    case = headed(n, 1, d, 1)
    H = np.array([[Formal(entry)] for entry in column], dtype=object)
    case = Headed(case.A, case.x, case.M, H, case.b)
    mine, other = (expressions(scores(case, head=head)) for head in (True, False))
    return [sp.cancel((mine[t] - mine[0]) / (other[t] - other[0])) for t in range(1, n)]


def prove_multiple() -> str:
    """Prove that H e_v = c e_v multiplies every difference of scores by c.

    Raises:
        ProofError: one is multiplied by something else, or another head does so too.
    """
    c = sp.Symbol("c", positive=True)
    for n, d in ((2, 1), (2, 2), (3, 3)):
        rest = [sp.Integer(0)] * (d - 1)
        at = f"for n = {n}, d = {d}"
        found = multiples(n, d, [c, *rest])
        ensure_equal(found, [c] * (n - 1), f"the differences of scores are c times those {at}")
        reversed_order = [-ratio for ratio in multiples(n, d, [-c, *rest])]
        ensure_positive(reversed_order, f"a head -c e_v reverses the order of the scores {at}")
    tilted = multiples(3, 2, [c, sp.Integer(1)])
    ensure_true((r.is_positive is None for r in tilted), "a tilted head has either sign")
    apart = tilted[0] - tilted[1]
    ensure_nonzero(apart, "a tilted head is no multiple of e_v", normal=sp.cancel)
    return (
        "b M (c e_v) has the differences of b M e_v times c, so c > 0 leaves the order of the "
        "scores as it is; as the code runs on symbols for n, d <= 3"
    )

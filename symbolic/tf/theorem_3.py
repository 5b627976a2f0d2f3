"""When the regularisation path of (K, Q) approaches solutions of the nuclear-norm SVM.

That it does if some solution has a rank of at most r is linked in `symbolic.tf.path_limits`.

C_* is the least nuclear norm of a matrix with margins of at least 1. W = K Q^T minimises the risk
among products of inner dimension r with (||K||^2 + ||Q||^2)/2 <= R.

On `tf/theorem-3`, with instances of `properties/tf/theorem_3`:

The distance of W/R from the set of solutions over C_* tends to 0. If this set has several points,
the path need not have a limit in it. For the constraints W_11 >= 1 and W_22 >= 1 and a convex
decreasing loss, all R (1, a; a, 1)/2 with |a| <= 1 are minimisers at every R; they are products
K K^T. The reasons are three. The absolute values of the margins add up to at most R (sharp-2).
Attention rises with a nonnegative margin and is concave in it. So l(attention) is convex there and
falls, and margins R/2 and R/2 have the least risk. This argument is stated here and not checked by
code.

If W_R is unique for all large R and l is a formula in exp and log, W_R/R has a limit. It is then
definable in the o-minimal structure of the exponential (Wilkie, J. Amer. Math. Soc. 9, 1996), and
bounded definable functions of one variable have limits. This is cited and not checked by code.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded
from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import add_up, decide, square
from attsvm.theory.proof.terms import total
from properties.tf.theorem_3 import FACTORS as MARGINS
from symbolic.continuity import cite_extreme_value, ensure_continuous
from symbolic.facts import end, index, letters_in, size_at_most
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_least_point
from symbolic.sums import entry
from symbolic.textbook import (
    ACCUMULATION,
    BOUNDED_SEQUENCE,
    FACTORS,
    MINORS,
    RANK_OF_PRODUCT,
    SINGULAR_VALUES,
    TRIANGLE,
)
from symbolic.tf import path_limits

R = sp.Symbol("R", positive=True)


def cite_bounded_sequence() -> None:
    """Cite that matrices K Q^T/R of nuclear norm at most 1 have limits of subsequences."""
    bounded = "the nuclear norm of W/R, at most (||K||^2 + ||Q||^2)/(2 R), is at most 1"
    square = 2 * R - sp.Symbol("less", nonnegative=True)  # ||K||^2 + ||Q||^2
    ensure_nonnegative(1 - square / (2 * R), bounded, normal=expanded)
    cite(ACCUMULATION, met={BOUNDED_SEQUENCE: bounded})


def cite_only_there() -> None:
    """Cite that some solution has rank at most r if dist(W/R, solutions/C_*) tends to 0.

    Then a limit point of W/R has distance 0 from solutions/C_*, by the triangle inequality. The
    distance is attained, so that the limit point times C_* is a solution. Limits of matrices of
    rank at most r have rank at most r.
    """
    cite_bounded_sequence()
    cite(RANK_OF_PRODUCT)
    cite(TRIANGLE)
    W, V = entry("W"), entry("V")
    distance = "the squared distance from a matrix, a sum over entries, is continuous"
    ensure_continuous((W - V) ** 2, distance)
    cite_extreme_value(
        distance, "the least distance on the solutions, a closed part of a ball of nuclear norm"
    )
    cite(MINORS)


def ensure_rank_one() -> None:
    """Prove that W^mm is the only nuclear-norm solution if it has rank 1."""
    ensure_least_point()
    cite(SINGULAR_VALUES)


def ensure_solution_in_span() -> None:
    """Prove that some nuclear-norm solution has at most the rank of the queries or differences.

    Let W = K Q^T be a solution with ||K||^2 = ||Q||^2 = ||W||_*, and P the projection on the span
    of the queries. Then W P = K (P Q)^T is a solution too. For differences, project from the left.
    """
    row, lost, z = (vector(name) for name in ("p", "lost", "z"))
    across = {inner("lost", "p"): 0, inner("lost", "z"): 0}
    cite(FACTORS)
    ensure_equal(
        ((row + lost) @ (row + lost) - row @ row).subs(across),
        lost @ lost,
        "columns p + lost of Q are no shorter than those of P Q: ||W P||_* <= ||K|| ||P Q|| is at "
        "most ||W||_*",
    )
    ensure_equal(
        (z @ (row + lost)).subs(across),
        z @ row,
        "P leaves all margins as they are, as z is in the span",
    )
    cite(RANK_OF_PRODUCT)


def prove_rank() -> str:
    """Prove that dist(W/R, solutions/C_*) tends to 0 iff some solution has rank at most r."""
    path_limits.prove_factored()
    cite_only_there()
    ensure_rank_one()
    ensure_solution_in_span()
    return (
        "for every smooth decreasing loss with l' < 0 at the best scores, any n, T, d and inner "
        "dimension r: limit points of W/R have a rank of r at most"
    )


@linked
def prove_margins() -> str:
    """Prove that the sum of |(K Q^T)_ii| is at most (||K||^2 + ||Q||^2)/2."""
    v, row, column = letters_in(MARGINS, "sharp-2"), index("i", "d"), index("c", "r")
    k, q = (x.entry((row.term,), (column.term,)) for x in (v.K, v.Q))
    half = total(k**2 + q**2, column) / 2
    above, below = (
        add_up(decide(ge((k**2 + q**2) / 2, x), square(k - sign * q)), column)
        for sign, x in ((1, k * q), (-1, -k * q))
    )
    each = size_at_most(above, below, total(k * q, column), half)
    end(MARGINS, "sharp-2", by=[add_up(each, row)])
    return "k q and -k q are at most (k^2 + q^2)/2, entry by entry; any numbers of rows and columns"

"""W^mm is a sum of w_j D_j z_j^T: its rank is at most that of the factors that carry a weight."""

from __future__ import annotations

from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.theory import cite, ensure_equal
from attsvm.theory.declaration.proof import suppose
from properties.tf import svm_rank as statement
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_least_point, ensure_multipliers
from symbolic.textbook import FACTORS, RANK_OF_PRODUCT, SINGULAR_VALUES


def prove() -> str:
    """Prove the statement below.

    The rank of W^mm is at most that of the queries and of the differences of weight above 0.
    """
    suppose(FEASIBLE)
    ensure_multipliers()
    cite(RANK_OF_PRODUCT)
    return (
        "for any n, T, d: W^mm = B C with rows w_j D_j of B^T and z_j of C, n different z_j at most"
    )


def ensure_rank_one() -> None:
    """Prove that W^mm is the only nuclear-norm solution if it has rank 1."""
    ensure_least_point()
    cite(SINGULAR_VALUES)


def prove_rank_one() -> str:
    """Prove the uniqueness with rank 1 by hypothesis."""
    suppose(statement.RANK_ONE)
    ensure_rank_one()
    return (
        "for any n, T, d: ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_* for every feasible V, and "
        "equality makes V the one matrix of least Frobenius norm"
    )


def ensure_solution_in_span() -> None:
    """Prove that some nuclear-norm solution has at most the rank of the queries or differences.

    With W = K Q^T a solution, ||K||^2 = ||Q||^2 = ||W||_*, and P the projection on the span of the
    queries, W P = K (P Q)^T. Differences come from the other side.
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

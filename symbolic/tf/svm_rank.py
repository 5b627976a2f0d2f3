"""The rank of W^mm = sum_j w_j D_j z_j^T: at most that of the factors D_j or z_j with w_j > 0."""

from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.theory import cite, ensure_equal
from attsvm.theory.declaration.proof import suppose
from properties.tf import svm_rank as statement
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_least_point, ensure_multipliers
from symbolic.textbook import FACTORS, RANK_OF_PRODUCT, SINGULAR_VALUES


def prove() -> str:
    """Prove that the rank of W^mm is at most that of the queries, and that of the differences.

    Only queries and differences of positive weight count.
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
    """Prove that W^mm is the only nuclear-norm solution, with rank 1 as a hypothesis."""
    suppose(statement.RANK_ONE)
    ensure_rank_one()
    return (
        "for any n, T, d: ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_* for every feasible V, and "
        "equality makes V the one matrix of least Frobenius norm"
    )


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

"""W^mm is a sum of w_j D_j z_j^T: its rank is at most that of the factors that carry a weight."""

from __future__ import annotations

from attsvm.theory import cite
from symbolic.least_points import ensure_least_point, ensure_multipliers
from symbolic.textbook import RANK_OF_PRODUCT, SINGULAR_VALUES


def prove() -> str:
    """The rank of W^mm is at most that of the queries and of the differences of weight above 0."""
    ensure_multipliers()
    cite(RANK_OF_PRODUCT)
    return (
        "for any n, T, d: W^mm = B C with rows w_j D_j of B^T and z_j of C, n different z_j at most"
    )


def prove_rank_one() -> str:
    """Where W^mm has rank 1 it is the only nuclear-norm solution."""
    ensure_least_point()
    cite(SINGULAR_VALUES)
    return (
        "for any n, T, d: ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_* for every feasible V, and "
        "equality makes V the one matrix of least Frobenius norm"
    )

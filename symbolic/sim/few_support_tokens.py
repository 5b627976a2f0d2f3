"""The number of tokens that determine X^mm: at most as many as independent constraints.

On `sim/few-support-tokens`, readings amended and sharp. By Caratheodory's theorem X^mm is a
combination of linearly independent A_j with multipliers that are not negative. All other A_j can be
dropped. The A_j lie in the tensor product of R^d with the span of the queries. So few tokens are
needed if T is large against d, and all may be needed if d is large (`sim/large-dimension`).
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import expanded, suppose
from symbolic.alternatives import SOLUTION
from symbolic.least_points import ensure_multipliers, ensure_multipliers_suffice
from symbolic.textbook import CARATHEODORY, RANK_OF_PRODUCT


def prove_by_rank() -> str:
    """Prove that X^mm is the least matrix for linearly independent A_j of margin 1 alone."""
    suppose(SOLUTION)
    ensure_multipliers()
    cite(CARATHEODORY)  # for the A_j of positive multiplier, whose margins are all 1
    ensure_multipliers_suffice()
    return "in any dimension: X^mm is the least point of the independent constraints as well"


def prove_by_sizes() -> str:
    """Prove also that all A_j span at most d min(n, d) dimensions."""
    prove_by_rank()
    D, weight, basis = sp.symbols("D weight q", real=True)
    ensure_equal(
        D * (weight * basis),
        weight * (D * basis),
        "D (sum_r weight_r q_r)^T = sum_r weight_r D q_r^T, entry by entry, for a basis q_r of the "
        "queries: the A_j lie in a space of dimension d times that of the queries",
    )
    cite(RANK_OF_PRODUCT)  # the rank of the queries is at most n and at most d
    n, d, less, fewer = sp.symbols("n d less fewer", nonnegative=True)
    for size in (n, d):
        rank = size - less
        ensure_nonnegative(
            d * size - (d * rank - fewer),
            f"dim span A_j is at most d times the rank of the queries, so at most d {size}",
            normal=expanded,
        )
    return "in any dimension, for any number of inputs and tokens"

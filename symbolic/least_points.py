"""The least vector with given margins, in any dimension and for any number of constraints.

X is the vector of least norm with <A_j, X> >= b_j for all j, where b_j is 1 or 0. The Att-SVM, the
p-SVM and the v-SVM are such programmes. The proofs use inner products alone, so that they hold in
all dimensions. A statement about a sum over constraints is checked for one term, which stands for
all terms.
"""

from collections.abc import Callable, Sequence

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import Supposition, expanded, factored
from symbolic.inner_products import INNER, Vector, inner, vector
from symbolic.sums import ensure_nonnegative_sum, entry, r, t, total
from symbolic.textbook import (
    AFFINE,
    CLOSED,
    CONVEX,
    MULTIPLIERS,
    NEAREST_POINT,
    NOT_EMPTY,
    OBJECTIVE,
    POLYHEDRON,
)

A, U, V, X = (vector(name) for name in "AUVX")
AX, AV = inner("A", "X"), inner("A", "V")
BOUND = sp.Symbol("b", nonnegative=True)
SHARE, REST = sp.symbols("s t", nonnegative=True)
"""Weights of a mean, of sum 1."""
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""

Constraint = tuple[Callable[[Vector], sp.Expr], sp.Expr]
"""A linear function of a vector and its lower bound."""
OF_X: tuple[Constraint, ...] = ((A.__matmul__, BOUND),)
"""The constraints <A_j, X> >= b_j."""

SCALED = "V over its least margin has margins of 1 at least"
CONVEX_NORM = "||s U + t V||^2 = s ||U||^2 + t ||V||^2 - s t ||U - V||^2 where s + t = 1"
PYTHAGORAS = "||V||^2 - ||X||^2 - ||V - X||^2 = 2 <X, V - X>"


def ensure_mean_meets(constraints: Sequence[Constraint] = OF_X) -> tuple[str, str]:
    """Prove that a mean s U + t V meets the constraints if U and V do.

    Returns:
        The sentences that the constraints are affine, and that the set is convex.

    Raises:
        ProofError: the margin of a mean is not known to be at least the bound if the margins of
            both vectors are.
    """
    mean = SHARE * U + REST * V
    affine = "margins of s U + t V are s times those of U and t times those of V, for X"
    convex = "a mean of two vectors that meet the constraints of X meets them"
    ensure_equal(
        [margin(mean) for margin, _ in constraints],
        [SHARE * margin(U) + REST * margin(V) for margin, _ in constraints],
        affine,
    )
    ensure_nonnegative(
        [
            SHARE * (bound + MORE) + REST * (bound + LESS) - (SHARE + REST) * bound
            for _, bound in constraints
        ],
        convex,
        normal=expanded,
    )
    return affine, convex


def ensure_norm_convex() -> None:
    """Prove that the squared norm is strictly convex."""
    mean, apart = SHARE * U + REST * V, U - V
    gap = SHARE * (U @ U) + REST * (V @ V) - SHARE * REST * (apart @ apart) - mean @ mean
    ensure_zero(gap.subs(REST, 1 - SHARE), CONVEX_NORM)


def ensure_least_point() -> None:
    """Prove that X is unique if it exists, and <X, V - X> >= 0 for all V with its margins."""
    ensure_mean_meets()
    c, square = sp.symbols("c square", positive=True)
    share = c / (c + square)
    moved = X + share * U
    facts = {inner("U", "X"): -c, inner("U", "U"): square}
    ensure_positive(
        (X @ X - moved @ moved).subs(facts),
        "were <X, V - X> = -c < 0, the mean X + s (V - X), s = c/(c + ||V - X||^2), were shorter",
        normal=factored,
    )
    ensure_equal(V @ V - X @ X - (V - X) @ (V - X), 2 * (X @ (V - X)), PYTHAGORAS)


def ensure_existence(meets: str | Supposition) -> None:
    """Prove that X exists and is unique, and <X, V - X> >= 0 for all V that meet the constraints.

    Args:
        meets: the step or hypothesis that some vector meets the constraints.
    """
    ensure_least_point()
    affine, convex = ensure_mean_meets()
    closed = "the vectors that meet the constraints of X are a closed set"
    cite(POLYHEDRON, met={AFFINE: affine}, of=closed)
    cite(NEAREST_POINT, met={CLOSED: closed, CONVEX: convex, NOT_EMPTY: meets})


def ensure_multipliers() -> None:
    """Prove that X is the sum of w_j A_j with w_j >= 0, and w_j = 0 where <A_j, X> > b_j."""
    ensure_norm_convex()
    e = sp.Symbol("e", real=True)
    moved = X + e * V
    slope = sp.diff(moved @ moved / 2, e).subs(e, 0)
    ensure_equal(slope, X @ V, "the gradient of ||X||^2/2 is X")
    affine = "the gradient of <A_j, X> is A_j, whatever X is"
    ensure_equal(sp.diff(A @ moved, e), AV, affine)
    cite(MULTIPLIERS, met={OBJECTIVE: CONVEX_NORM, AFFINE: affine})


def ensure_sum_of_multipliers() -> None:
    """Prove that ||X||^2 is the sum of the w_j, if all bounds are 1."""
    w, over = entry("w"), entry("over")
    ensure_multipliers()
    ensure_equal(
        total(w * (1 + over)).subs(total(w * over), 0),
        total(w),
        "<X, X> = sum_j w_j <A_j, X> is the sum of the w_j, as w_j = 0 where <A_j, X> is above 1",
    )


def ensure_multipliers_suffice() -> None:
    """Prove that a vector X with such multipliers w_j that meets the constraints is the least one.

    No other vector that meets the constraints is as short.
    """
    w = sp.Symbol("w", nonnegative=True)
    ensure_equal(
        w * (AV - AX),
        w * (AV - BOUND) - w * (AX - BOUND),
        "w_j <A_j, V - X> = w_j (<A_j, V> - b_j) - w_j (<A_j, X> - b_j), whose last part is 0",
    )
    weight, slack = entry("w"), entry("slack")
    ensure_nonnegative_sum(
        total(weight * slack),
        weight * slack,
        "so <X, V - X> is the sum of w_j (<A_j, V> - b_j)",
        w=w,
        slack=MORE,
    )
    ensure_equal(V @ V - X @ X - (V - X) @ (V - X), 2 * (X @ (V - X)), PYTHAGORAS)


def ensure_product() -> None:
    """Prove that <D z^T, E y^T> = <D, E> <z, y> for vectors D, E, z and y."""
    ensure_equal(
        total(entry("D", t) * entry("z", r) * entry("E", t) * entry("y", r), t, r),
        total(entry("D", t) * entry("E", t)) * total(entry("z", r) * entry("y", r), r),
        "<D z^T, E y^T> = <D, E> <z, y>, which is 0 where the queries z and y are orthogonal",
    )


def ensure_inputs_apart() -> None:
    """Prove that X is the sum of one solution for each input if the queries are orthogonal.

    The solution for one input of query z != 0 is Y z^T/||z||^2. Here Y is the least vector with
    margins of at least 1 over the input's differences D_t.
    """
    ensure_product()
    own, other = sp.symbols("own other", nonnegative=True)
    ensure_equal(
        (A @ (own * A + other * U)).subs(inner("A", "U"), 0),
        A @ (own * A),
        "the margins of an input under a sum over inputs are those under its own part",
    )
    ensure_multipliers()
    ensure_multipliers_suffice()
    square = sp.Symbol("<z, z>", positive=True)
    ensure_equal(
        (own / square) * (inner("D", "E") * square),
        own * inner("D", "E"),
        "sum_t w_t D_t z^T/||z||^2 has the margins of sum_t w_t D_t: one has the multipliers "
        "w_t/||z||^2, the other w_t, of the same signs",
    )


def ensure_scaled_meets() -> None:
    """Prove that a vector of positive least margin, divided by it, has margins of at least 1."""
    least = sp.Symbol("least", positive=True)
    margin = (A @ (V / least)).subs(AV, least + MORE)
    ensure_nonnegative(margin - 1, SCALED, normal=expanded)
    norm = INNER.norm(V / least) * least
    ensure_equal(
        norm**2, INNER.norm(V) ** 2, "the norm of V over its least margin is ||V|| over that margin"
    )

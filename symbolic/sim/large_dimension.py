"""Nearly orthogonal data have all tokens as support vectors; equal scores are unlikely."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import (
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from properties.sim import large_dimension
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_multipliers, ensure_multipliers_suffice
from symbolic.suppositions import CONSTRAINTS, SIGNS
from symbolic.textbook import (
    BOOLE,
    BOUNDED,
    CONTRACTION,
    HOEFFDING,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    MEAN_OF_PRODUCT,
    NEUMANN,
    ROWS,
)

K, N = sp.Symbol("k", positive=True), sp.Symbol("n", positive=True)
E, MORE = sp.Symbol("e", nonnegative=True), sp.Symbol("more", nonnegative=True)


def ensure_exactly(independent: Supposed) -> None:
    """All margins are 1 exactly where G^-1 1 has no negative entry.

    Args:
        independent: what says that the A_j are independent.
    """
    ensure_multipliers()
    ensure_margins_of_sum()
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: independent})
    ensure_multipliers_suffice()


def prove_exactly() -> str:
    """The same of A_j that are independent by hypothesis."""
    ensure_exactly(CONSTRAINTS)
    return "in any dimension: G^-1 1 are the multipliers where all margins are 1"


def ensure_margins_of_sum() -> None:
    """The margins of sum_k w_k A_k are the entries of G w, so that margins of 1 say G w = 1."""
    weights = sp.symbols("w_j w_k", real=True)
    A = vector("A_j"), vector("A_k")
    ensure_equal(
        A[0] @ (weights[0] * A[0] + weights[1] * A[1]),
        weights[0] * inner("A_j", "A_j") + weights[1] * inner("A_j", "A_k"),
        "the margins of sum_k w_k A_k are the entries of G w: margins of 1 say G w = 1",
    )


def prove_incoherent() -> str:
    """Where (3k - 1) e + 4 (n - 1) k e^2 <= 1/4 the solution of G w = 1 is not negative."""
    o, t, s = vector("x_o"), vector("x_t"), vector("x_s")
    p, q = vector("y_o"), vector("y_s")  # of another input
    ensure_equal(
        [(o - t) @ (o - s), (o - t) @ (o - t), (o - t) @ (p - q)],
        [
            inner("x_o", "x_o") - inner("x_o", "x_s") - inner("x_o", "x_t") + inner("x_s", "x_t"),
            inner("x_o", "x_o") + inner("x_t", "x_t") - 2 * inner("x_o", "x_t"),
            o @ p - o @ q - t @ p + t @ q,
        ],
        "over the squared norm <x_o - x_t, x_o - x_s> is 1 and at most 3e beside it, or 2 and at "
        "most 2e for t = s; of two inputs it is at most 4e, times at most e for their queries",
    )
    less = sp.symbols("less_1:5", nonnegative=True)
    ensure_nonnegative(
        [k * E - sum(E - m for m in less[:k]) for k in (2, 3, 4)],
        "k numbers of absolute value at most e, signs turned or not, sum to at most k e",
        normal=sp.expand,
    )
    square = sp.Symbol("K", nonnegative=True)  # the matrix 1 1^T of k rows has the square k of it
    ensure_zero(
        square - square / (K + 1) - K * square / (K + 1),
        "(I + 1 1^T)(I - 1 1^T/(k + 1)) = I",
        normal=sp.cancel,
    )
    rows = (1 - 1 / (K + 1)) + (K - 1) / (K + 1)
    ensure_positive(
        sp.cancel(2 - rows), "rows of B^-1 have sums of absolute values below 2 for k >= 1"
    )
    ensure_equal(1 - K / (K + 1), 1 / (K + 1), "B^-1 1 = 1/(k + 1)", normal=sp.cancel)
    r = 2 * E + 3 * (K - 1) * E + (N - 1) * K * (4 * E) * E
    ensure_equal(
        r,
        large_dimension.disturbance(N, K, E),
        "rows of E sum to at most 2e + 3 (k - 1) e + (n - 1) k (4e) e, as inputs differ in queries",
    )
    quarter = sp.Rational(large_dimension.QUARTER)
    near = "||B^-1 E|| <= 2 r <= 1/2 in the largest row sum of absolute values"
    ensure_positive(1 - 2 * quarter, near)
    cite(NEUMANN, met={CONTRACTION: near})
    share = sp.Symbol("r", nonnegative=True)
    # w = B^-1 1 - B^-1 E w, so ||w|| <= (1/(k+1))/(1 - 2r), ||w - 1/(k+1)|| <= 2r ||w||
    away = 2 * share / (1 - 2 * share) / (K + 1)
    slack = sp.Symbol("slack", nonnegative=True)
    gap = (1 / (K + 1) - away).subs(share, quarter / (1 + slack))
    ensure_nonnegative(
        gap,
        "w is within (2r/(1 - 2r))/(k + 1) of 1/(k + 1), so not negative for r <= 1/4",
        normal=sp.factor,
    )
    ensure_margins_of_sum()
    ensure_multipliers_suffice()
    return "for any number of inputs, tokens and axes, and any choice of optimal tokens"


def ensure_likely() -> None:
    """Pairs whose products exceed e with probability 2 exp(-d e^2/2) each, e = 1/(16 n k)."""
    n, k, d = (1 + sp.Symbol(f"{x}-1", nonnegative=True) for x in "nkd")
    e = large_dimension.near_enough(n, k)
    ensure_nonnegative(
        sp.Rational(large_dimension.QUARTER) - large_dimension.disturbance(n, k, e),
        "e = 1/(16 n k) has (3k - 1) e + 4 (n - 1) k e^2 <= 1/4",
        normal=sp.factor,
    )
    ensure_equal(d * e**2 / 2, d / (512 * n**2 * k**2), "d e^2/2 = d/(512 n^2 k^2)")
    cite(BOOLE)
    T = k + 1
    pairs = n * T * (n * T - 1) / 2 + n * (n - 1) / 2
    ensure_nonnegative(
        (n * (T + 1)) ** 2 - 2 * pairs,
        "twice the pairs of tokens and of queries are at most N^2: probabilities add up",
        normal=sp.expand,
    )


def prove_likely() -> str:
    """For independent signs all inner products are below d/(16 n k) with that probability."""
    prove_incoherent()
    ensure_likely()
    sign, d = sp.Symbol("sign", real=True), 1 + sp.Symbol("d-1", nonnegative=True)
    ensure_equal(
        (sign**2 * d).subs(sign**2, 1), d, "squared norms are d, and products of signs are signs"
    )
    cite(HOEFFDING, met={BOUNDED: SIGNS})
    return "for any n, T >= 2 and d"


def prove_unlikely() -> str:
    """T sum_s p_s^(T - 1) P(S > s) <= (T/2) max p^(T - 2), max p <= (3d/2 + 1)^(-1/2)."""
    cite(BOOLE)  # of an input, over which of its T tokens is the best one
    cite(
        MEAN_OF_PRODUCT,
        met={ROWS: SIGNS},
        of="S > s and T - 1 other sums are s with probability p_s^(T - 1) P(S > s)",
    )
    tie = sp.Symbol("tie", nonnegative=True)  # P(S = S') for independent S, S'
    ensure_nonnegative(
        sp.Rational(1, 2) - (1 - tie) / 2,
        "sum_s p_s P(S > s) = P(S > S') = (1 - P(S = S'))/2 by symmetry, at most 1/2",
        normal=sp.expand,
    )
    top, less, power = sp.Symbol("max p", positive=True), MORE, sp.Symbol("q", nonnegative=True)
    ensure_nonnegative(
        top * power - (top / (1 + less)) * power,
        "each further factor p_s is at most max p, T - 2 of them",
        normal=sp.factor,
    )
    j, size = sp.symbols("j d", positive=True)
    next_one = (size - j) / (j + 1)
    ensure_zero(
        sp.combsimp(sp.binomial(size, j + 1) / sp.binomial(size, j)) - next_one,
        "C(d, j + 1) is (d - j)/(j + 1) of C(d, j)",
        normal=sp.simplify,
    )
    ensure_nonnegative(
        (1 - next_one).subs(j, (size - 1) / 2 + MORE),
        "(d - j)/(j + 1) is at most 1 from j = (d - 1)/2 on: as C(d, j) = C(d, d - j), the p "
        "in the middle are the largest",
        normal=sp.factor,
    )
    h = sp.Symbol("h", nonnegative=True, integer=True)
    ratio = sp.binomial(2 * h + 2, h + 1) / 4 / sp.binomial(2 * h, h)
    ensure_zero(
        sp.combsimp(ratio) - (2 * h + 1) / (2 * h + 2),
        "C(2h + 2, h + 1)/4^(h + 1) is (2h + 1)/(2h + 2) of C(2h, h)/4^h, the largest p for d = 2h",
        normal=sp.simplify,
    )
    gap = (2 * h + 2) ** 2 * (3 * h + 1) - (2 * h + 1) ** 2 * (3 * h + 4)
    ensure_nonnegative(
        gap,
        "so (3h + 1)^(-1/2) bounds it for every h by induction: the square of the ratio is at most "
        "(3h + 1)/(3h + 4), and at h = 0 it is 1",
        normal=sp.expand,
    )
    odd = sp.binomial(2 * h + 1, h) / 2 - sp.binomial(2 * h + 2, h + 1) / 4
    ensure_zero(
        odd / sp.binomial(2 * h, h),
        "for d = 2h + 1 the largest p, C(2h + 1, h)/2^d, is that of d + 1",
        normal=lambda x: sp.simplify(sp.combsimp(sp.expand(x))),
    )
    d = 2 * h + 1
    ensure_positive(
        (sp.Rational(3, 2) * (d + 1) + 1) - (sp.Rational(3, 2) * d + 1),
        "(3 (d + 1)/2 + 1)^(-1/2), which bounds it, is below (3d/2 + 1)^(-1/2)",
        normal=sp.expand,
    )
    cite(MEAN_OF_PRODUCT, met={ROWS: SIGNS}, of="probabilities of the inputs multiply")
    return "for any n, T >= 2 and d"

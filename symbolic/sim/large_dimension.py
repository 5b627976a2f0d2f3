"""Nearly orthogonal data have all tokens as support vectors; equal scores are unlikely.

On `sim/large-dimension`, with instances of `properties/sim/large_dimension`. Part 1 says that all
tokens are support vectors. It holds if each input has k rivals, all tokens and queries have norm 1,
different ones have inner products of at most e in size, and 4 k (e + (n - 1) e^2) <= 1. Part 2 says
that rivals have the same score. The proof is in docs/proofs/large_dimension.md.

The table has the exact probability of part 2 for independent signs. For part 1 it has 99% intervals
of Clopper and Pearson from 200 samples:

| d | 8 | 16 | 32 | 64 | 128 | 256 |
| --- | --- | --- | --- | --- | --- | --- |
| part 2: n = 1, T = 3 | 0.23 | 0.18 | 0.13 | 0.097 | 0.070 | 0.051 |
| n = 3, T = 4 | 0.03 to 0.12 | 0.29 to 0.47 | 0.67 to 0.83 | 0.92 to 0.99 | 0.97 to 1 | 0.97 to 1 |
| n = 6, T = 8 | 0 to 0.03 | 0 to 0.03 | 0 to 0.03 | 0 to 0.03 | 0.04 to 0.14 | 0.58 to 0.76 |

For the language of section 4 no d helps. If two problems over the whole vocabulary have one query
and ask for different tokens, X^mm does not exist, whatever the embeddings
(`sim/hyperplanes:sharp-2`). Of 1000 samples with the default sizes (m = 10, n = 5) none has one
successor for each token. So part 1 has a probability of at most 0.0053 there with 99% confidence,
for every d. With attention over the tokens of the sub-sequence, part 1 holds in none of 100 runs at
d = 100 (`sim/few-support-tokens`). `literal-2` is false for two sentences of three words over two
tokens that follow each other with equal chances: part 1 has the probability 7/32 there, in every
dimension.
"""

import sympy as sp

from attsvm.primitives.hypotheses import INDEPENDENT as CONSTRAINTS
from attsvm.theory import (
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    simplified,
    suppose,
)
from properties._support import laws
from properties._support.laws import SEVERAL
from properties.sim.large_dimension import INCOHERENT, LONG
from properties.sim.large_dimension.conclusion import COUNTED, ONE, disturbance, unlikely
from symbolic.inner_products import inner, vector
from symbolic.least_points import (
    ensure_existence,
    ensure_multipliers,
    ensure_multipliers_suffice,
    ensure_product,
)
from symbolic.sums import entry, total
from symbolic.sums import n as count
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

SIGNS = Supposed(
    "entries are independent fair signs, and so are their products",
    (COUNTED, unlikely),
)
K, N = sp.Symbol("k", positive=True), sp.Symbol("n", positive=True)
E, MORE, ALSO, LESS = sp.symbols("e more also less", nonnegative=True)
PHI = E + (N - 1) * E**2
PART = sp.Rational(ONE) - LESS
"""4 k phi, which is at most 1; phi is e + (n - 1) e^2."""


def ensure_exactly(independent: Supposition) -> None:
    """Prove that all margins of X^mm are 1 if and only if G^-1 1 has no negative entry.

    G is the Gram matrix of the A_j, and 1 the vector of ones.

    Args:
        independent: the hypothesis or step that the A_j are linearly independent.
    """
    ensure_multipliers()
    ensure_margins_of_sum()
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: independent})
    ensure_multipliers_suffice()


def prove_exactly() -> str:
    """Prove the equivalence for A_j that are independent by hypothesis."""
    ensure_exactly(CONSTRAINTS)
    return "in any dimension: G^-1 1 are the multipliers where all margins are 1"


def ensure_margins_of_sum() -> str:
    """Prove that the margins of sum_k w_k A_k are the entries of G w, so all are 1 if G w = 1.

    Returns:
        The step that says so.
    """
    statement = "the margins of sum_k w_k A_k are the entries of G w: margins of 1 say G w = 1"
    weights = sp.symbols("w_j w_k", real=True)
    A = vector("A_j"), vector("A_k")
    ensure_equal(
        A[0] @ (weights[0] * A[0] + weights[1] * A[1]),
        weights[0] * inner("A_j", "A_j") + weights[1] * inner("A_j", "A_k"),
        statement,
    )
    return statement


def prove_incoherent() -> str:
    """Prove that all margins of X^mm are 1 if tokens and queries are nearly orthogonal.

    All tokens have one norm, and all queries have one norm.
    """
    suppose(LONG, INCOHERENT)
    ensure_incoherent()
    return "for any number of inputs, tokens and axes, and any choice of optimal tokens"


def ensure_incoherent() -> None:
    """Prove that all margins are 1 if 4 k (e + (n - 1) e^2) <= 1, for k rivals and any optimum.

    W* = X^mm is the sum of c_j v_j, v_j = x_t z^T over its length: c_o is the sum of the w_t of the
    input, and c_t is -w_t. The v_j have the Gram matrix I + F, so that <W*, v_j> is c_j + (F c)_j.
    """
    ensure_product()
    ensure_nonnegative(
        [E - E / (1 + MORE), E**2 - E / (1 + MORE) * E / (1 + ALSO)],
        "entries of F are at most e in size within an input, where <z, z> = 1 over squared norms, "
        "and at most e^2 of two inputs, which differ in tokens and in queries",
        normal=factored,
    )
    ensure_equal(
        disturbance(N, K, E),
        4 * K * PHI,
        "what the code compares with 1 is 4 k phi, phi = e + (n - 1) e^2",
    )
    ensure_solution()
    ensure_no_larger_margin()


def ensure_solution() -> None:
    """Prove that the v_j are independent, so that W* exists and has multipliers."""
    k = 1 + sp.Symbol("k-1", nonnegative=True)
    ensure_equal(
        (k + 1) * PHI - (k * E + (N - 1) * (k + 1) * E**2),
        E,
        "rows of |F| sum to at most k e + (n - 1) (k + 1) e^2, which is at most (k + 1) phi",
    )
    near = (
        "the largest sum of a row of |F| is at most 1/2, as 4 k phi is at most 1 and k at least 1"
    )
    ensure_nonnegative(sp.Rational(1, 2) - (k + 1) * PART / (4 * k), near, normal=factored)
    cite(NEUMANN, met={CONTRACTION: near})
    a, b = sp.symbols("a b", real=True)
    v, other = vector("v"), vector("v'")
    ensure_equal(
        (a * v + b * other) @ v,
        a * inner("v", "v") + b * inner("v", "v'"),
        "where the sum of a_j v_j is 0, so is (I + F) a, and a: the v_j are independent",
    )
    o, t, s = vector("v_o"), vector("v_t"), vector("v_s")
    independent = "v_t is in A_t = v_o - v_t alone, so that the A_t are independent as the v_j are"
    ensure_zero(
        [x for _, x in (a * (o - t) + b * (o - s) - ((a + b) * o - a * t - b * s)).parts],
        independent,
    )
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: independent})
    ensure_existence(ensure_margins_of_sum())
    ensure_multipliers()


def ensure_no_larger_margin() -> None:
    """Prove that a token with w_t = 0 has a margin of at most 1, so that all margins are 1."""
    o, t, s = vector("v_o"), vector("v_t"), vector("v_s")
    w_t, w_s = sp.symbols("w_t w_s", nonnegative=True)
    at_o = -w_t * inner("v_o", "v_t") - w_s * inner("v_o", "v_s")
    at_t = (w_t + w_s) * inner("v_o", "v_t") - w_s * inner("v_s", "v_t")
    ensure_equal(
        ((o - t) @ ((w_t + w_s) * o - w_t * t - w_s * s)).subs(
            {inner(x, x): 1 for x in ("v_o", "v_t")}
        ),
        (w_t + w_s) + w_t + at_o - at_t,
        "the margin of t is c_o + w_t + (F c)_o - (F c)_t",
    )
    C, f = sp.symbols("C f", nonnegative=True)
    n = 1 + sp.Symbol("n-1", nonnegative=True)
    own, others = C / (1 + MORE), C / (1 + ALSO)  # c_o of an input, and of others
    ensure_nonnegative(
        2 * PHI.subs(N, n) * C - (2 * own * E + (n - 1) * 2 * others * E**2),
        "entries of F c are at most f = 2 phi C in size, C the largest c_o: sizes of the c_j of an "
        "input add up to 2 c_o, times e for its own input and e^2 for others",
        normal=factored,
    )
    up, over_o = sp.symbols("c_o (Fc)_o", real=True)
    w, over = entry("w"), entry("Fc")
    ensure_equal(
        total(up + w + over_o - over).subs(total(w), up),
        (count + 1) * up + count * over_o - total(over),
        "summed over the k' tokens with w_s > 0, 1 = c_o + w_s + (F c)_o - (F c)_s says that "
        "(k' + 1) c_o is k' - k' (F c)_o + the sum of the (F c)_s",
    )
    few = sp.Symbol("k'", nonnegative=True)
    below_o, below, above = sp.symbols("below_o below above", nonnegative=True)
    bound = (few - few * (below_o - f) + (few * f - below)) / (few + 1)
    ensure_nonnegative(
        few * (1 + 2 * f) / (few + 1) - bound,
        "so c_o is at most k' (1 + 2 f)/(k' + 1)",
        normal=factored,
    )
    k = sp.Symbol("k", positive=True)
    ensure_nonnegative(
        (few + MORE) / (few + MORE + 1) - few / (few + 1),
        "k'/(k' + 1) is at most k/(k + 1), and at most (k - 1)/k where k' is below k",
        normal=factored,
    )
    ensure_equal(
        (k + 1) * (k / (k + 1) * (1 + 4 * PHI * C) - C),
        k - C * (k + 1 - 4 * k * PHI),
        "so C (k + 1 - 4 k phi) is at most k",
        normal=cancelled,
    )
    ensure_nonnegative(
        1 / k - PART / (k + 1 - PART),
        "2 f, 4 phi C, is at most 4 k phi/(k + 1 - 4 k phi), and that at most 1/k",
        normal=factored,
    )
    bound = (few - few * (f - below_o) + (few * f - below)) / (few + 1)
    ensure_nonnegative(
        few / (few + 1) + 2 * f - (bound + (f - below_o) - (above - f)),
        "where w_t = 0 the margin c_o + (F c)_o - (F c)_t is at most k'/(k' + 1) + 2 f",
        normal=factored,
    )
    ensure_equal(
        (k - 1) / k + 1 / k,
        1,
        "that is at most (k - 1)/k + 1/k = 1: such a token is a support vector as well",
        normal=cancelled,
    )


def ensure_likely() -> None:
    """Prove that 4 k (e + (n - 1) e^2) = 1 for the e of the claim, and count the pairs.

    A union bound over all pairs then gives the probability of the claim.
    """
    n, T, root = sp.symbols("n T root", positive=True)
    square = 1 + (root**2 - K**2) / K  # n, where root^2 = k (k + n - 1)
    ensure_equal(
        disturbance(square, K, laws.near_enough(square, K)),
        1,
        "e = 1/(2 k + 2 sqrt(k (k + n - 1))) has 4 k (e + (n - 1) e^2) = 1",
        normal=simplified,
    )
    cite(BOOLE)
    pairs = n * T * (n * T - 1) / 2 + n * (n - 1) / 2
    ensure_equal(
        laws.twice_the_pairs(n, T),
        2 * pairs,
        "M is twice the number of pairs of tokens and of queries: probabilities add up",
    )


def prove_likely() -> str:
    """Prove that independent signs have all inner products within e d with the claimed probability.

    By Hoeffding's inequality a pair fails with probability at most 2 exp(-d e^2/2).
    """
    suppose(SEVERAL)  # k >= 1
    ensure_incoherent()
    ensure_likely()
    sign, d = sp.Symbol("sign", real=True), 1 + sp.Symbol("d-1", nonnegative=True)
    ensure_equal(
        (sign**2 * d).subs(sign**2, 1), d, "squared norms are d, and products of signs are signs"
    )
    cite(HOEFFDING, met={BOUNDED: SIGNS})
    return "for any n, T >= 2 and d"


def prove_unlikely() -> str:
    """Prove that T sum_s p_s^(T - 1) P(S > s) <= (T/2) (max p)^(T - 2).

    S is a sum of d signs, and p_s the probability of S = s. Also max p <= (3d/2 + 1)^(-1/2).
    """
    suppose(SEVERAL)  # a power T - 2 of at least 0
    cite(BOOLE)  # over the T tokens of an input, each of which may be the best one
    cite(
        MEAN_OF_PRODUCT,
        met={ROWS: SIGNS},
        of="S > s and T - 1 other sums are s with probability p_s^(T - 1) P(S > s)",
    )
    tie = sp.Symbol("tie", nonnegative=True)  # P(S = S') for independent S, S'
    ensure_nonnegative(
        sp.Rational(1, 2) - (1 - tie) / 2,
        "sum_s p_s P(S > s) = P(S > S') = (1 - P(S = S'))/2 by symmetry, at most 1/2",
        normal=expanded,
    )
    top, less, power = sp.Symbol("max p", positive=True), MORE, sp.Symbol("q", nonnegative=True)
    ensure_nonnegative(
        top * power - (top / (1 + less)) * power,
        "each further factor p_s is at most max p, T - 2 of them",
        normal=factored,
    )
    j, size = sp.symbols("j d", positive=True)
    next_one = (size - j) / (j + 1)
    ensure_zero(
        sp.combsimp(sp.binomial(size, j + 1) / sp.binomial(size, j)) - next_one,
        "C(d, j + 1) is (d - j)/(j + 1) of C(d, j)",
        normal=simplified,
    )
    ensure_nonnegative(
        (1 - next_one).subs(j, (size - 1) / 2 + MORE),
        "(d - j)/(j + 1) is at most 1 from j = (d - 1)/2 on: as C(d, j) = C(d, d - j), the p "
        "in the middle are the largest",
        normal=factored,
    )
    h = sp.Symbol("h", nonnegative=True, integer=True)
    ratio = sp.binomial(2 * h + 2, h + 1) / 4 / sp.binomial(2 * h, h)
    ensure_zero(
        sp.combsimp(ratio) - (2 * h + 1) / (2 * h + 2),
        "C(2h + 2, h + 1)/4^(h + 1) is (2h + 1)/(2h + 2) of C(2h, h)/4^h, the largest p for d = 2h",
        normal=simplified,
    )
    gap = (2 * h + 2) ** 2 * (3 * h + 1) - (2 * h + 1) ** 2 * (3 * h + 4)
    ensure_nonnegative(
        gap,
        "so (3h + 1)^(-1/2) bounds it for every h by induction: the square of the ratio is at most "
        "(3h + 1)/(3h + 4), and at h = 0 it is 1",
        normal=expanded,
    )
    odd = sp.binomial(2 * h + 1, h) / 2 - sp.binomial(2 * h + 2, h + 1) / 4
    ensure_zero(
        odd / sp.binomial(2 * h, h),
        "for d = 2h + 1 the largest p, C(2h + 1, h)/2^d, is that of d + 1",
        normal=lambda x: simplified(sp.combsimp(sp.expand(x))),
    )
    d = 2 * h + 1
    ensure_positive(
        (sp.Rational(3, 2) * (d + 1) + 1) - (sp.Rational(3, 2) * d + 1),
        "(3 (d + 1)/2 + 1)^(-1/2), which bounds it, is below (3d/2 + 1)^(-1/2)",
        normal=expanded,
    )
    cite(MEAN_OF_PRODUCT, met={ROWS: SIGNS}, of="probabilities of the inputs multiply")
    return "for any n, T >= 2 and d"

"""The limit of descent on (K, Q), a nuclear-norm solution that depends on the start.

The data depend on W = K Q^T by W_11 and W_22 alone. For i = 1, 2 let k and q be row i of K and Q,
a = k + q, b = k - q, A = |a|^2/4 and B = |b|^2/4, so that W_ii = A - B. g is minus the slope of the
risk in W_ii, and e > 0 the step size. The score of an input is the attention
S(W_ii) = 1/(1 + exp(-W_ii)) to its first token, and the loss is log(1 + exp(-score)).

A law of growth. Let w_j be the multipliers of the nuclear programme and S = sum_j w_j A_j. The
singular value s_i of K Q^T grows like s_1 to the power of the i-th singular value of S. That value
is 1 on the face of solutions and may be slightly less off it. Balanced factors obey this law if the
direction of -grad L tends to that of S.

Two readings are checked by counting cases instead of by a proof. Literal-4 lacks a bound of a
probability over Gaussian data and starts. It also lacks a statement on the iterate of normalised
descent on (K, Q) after 2000 steps, which is far from a limit. Sharp-2 lacks three facts. First,
from such starts the tokens of largest weight are selected for ever with a probability of 1/2.
Second, the direction of -grad L tends to that of S. Third, the singular vectors u_i and v_i of
K Q^T tend to those of S. With these facts the law follows from
d s_i = 2 s_i <u_i v_i^T, -grad L> dt, which holds for balanced factors.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import (
    cancelled,
    expanded,
    factored,
    simplified,
    suppose,
    supposed_number,
)
from properties.tf.parameterisation_bias.conclusion import MOVED, POSITIVE, SUMS, allowed, fall
from symbolic.divergence import ensure_passed
from symbolic.inner_products import vector
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL

MORE = sp.Symbol("more", nonnegative=True)
LESSER = sp.symbols("more_1 more_2", nonnegative=True)
"""Numbers z_i >= 0 with |b_i|/|a_i| = q_i/(1 + z_i), where q_i is this ratio at the start."""
STEP, G, LOW = sp.symbols("e g low", positive=True)
X, Y = sp.symbols("x y", positive=True)
"""x = e g, and y = exp(-W_ii)."""


def ensure_slope() -> None:
    """Prove that g is S'(W_ii)/(1 + exp(S(W_ii)))/2, which is above 0 and at most 1/16."""
    W = sp.Symbol("W", real=True)
    score = 1 / (1 + sp.exp(-W))
    slope = sp.exp(-W) / (1 + sp.exp(-W)) ** 2
    ensure_equal(
        [-sp.diff(sp.log(1 + sp.exp(-score)) / 2, W), fall(SYMBOLS, W)],
        [slope / (1 + sp.exp(score)) / 2] * 2,
        "g = S'(W_ii)/(1 + exp(S(W_ii)))/2, by differentiation and in the formula",
        normal=simplified,
    )
    ensure_nonnegative(
        factored(sp.Rational(1, 4) - Y / (1 + Y) ** 2),
        "S' = y/(1 + y)^2 with y = exp(-W_ii) is above 0 and at most 1/4",
    )
    ensure_nonnegative(
        sp.Rational(1, 16) - sp.Rational(1, 4) / (2 + MORE) / 2,
        "exp(S) is above 1, as S is above 0, so that g is at most 1/16",
        normal=factored,
    )


def ensure_rows() -> None:
    """Prove that a step takes a to (1 + e g) a and b to (1 - e g) b.

    So |a| grows, and |b|/|a| falls.
    """
    k, q = vector("k"), vector("q")
    for sign in (1, -1):
        moved = (k + STEP * G * q) + sign * (q + STEP * G * k)
        left = moved - (1 + sign * STEP * G) * (k + sign * q)
        ensure_zero([left @ vector("v")], "a step takes a to (1 + e g) a, and b to (1 - e g) b")
    ensure_positive(
        [factored((1 + X) ** 2 - 1), factored((1 + X) ** 2 - (1 - X) ** 2)],
        "|a| grows along its direction, and |b|/|a| falls, as |1 - e g| < 1 + e g",
    )


def ensure_room() -> None:
    """Prove that 4 (K Q^T)_12 is within the claim's distance of <a_1, a_2> = c |a_1| |a_2|."""
    a, b, c, d = (vector(name) for name in ("a_1", "b_1", "a_2", "b_2"))
    ensure_equal(
        4 * (((a + b) / 2) @ ((c - d) / 2)),
        a @ c + b @ c - a @ d - b @ d,
        "4 (K Q^T)_12 = <a_1, a_2> + <b_1, a_2> - <a_1, b_2> - <b_1, b_2>",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    first, lengths = (sp.symbols(names, positive=True) for names in ("a_1(0) a_2(0)", "a_1 a_2"))
    lost = sp.symbols("b_1(0) b_2(0)", nonnegative=True)
    ratios = [x / y for x, y in zip(lost, first, strict=True)]  # q_i
    less = [x * q / (1 + z) for x, q, z in zip(lengths, ratios, LESSER, strict=True)]  # |b_i|
    room = lengths[0] * lengths[1] * allowed(first, lost) / (first[0] * first[1])
    ensure_nonnegative(
        room - allowed(lengths, less),
        "the last three terms add up to at most |a_1| |b_2| + |b_1| |a_2| + |b_1| |b_2|, "
        "where |b_i| is at most q_i |a_i|",
        normal=factored,
    )
    ensure_equal(
        room,
        ((1 + ratios[0]) * (1 + ratios[1]) - 1) * lengths[0] * lengths[1],
        "that sum with |b_i| = q_i |a_i| is ((1 + q_1) (1 + q_2) - 1) |a_1| |a_2|, what the "
        "sentence allows",
    )


def ensure_growth() -> None:
    """Prove that A tends to infinity and B/A to 0, and that B is bounded.

    From some step on e g is at most 1, so that B does not grow.
    """
    bound, ratio, mu = sp.symbols("bound q^2 mu", positive=True)
    sums, forward = (
        SUMS,
        POSITIVE,
    )
    first = supposed_number(sums, "A_0", positive=True)
    step = supposed_number(forward, "e", positive=True)
    ensure_equal(
        Y / (1 + Y) ** 2, (1 / Y) / (1 + 1 / Y) ** 2, "S'(W_ii) is even in W_ii", normal=cancelled
    )
    ensure_nonnegative(
        factored((Y / (1 + Y) ** 2 - Y / 4).subs(Y, 1 / (1 + MORE))),
        "S'(W) is at least exp(-|W|)/4, and exp(S) is at most exp(1): g is at least a multiple of "
        "exp(-|W|)",
    )
    ensure_nonnegative(
        [
            (1 + ratio) * bound - (bound / (1 + MORE) - ratio * bound / (1 + LESSER[0])),
            (1 + ratio) * bound + (bound / (1 + MORE) - ratio * bound / (1 + LESSER[0])),
        ],
        "where A is at most a bound |W_ii| = |A - B| is at most (1 + q^2) times it, as B <= q^2 A",
        normal=factored,
    )
    ensure_nonnegative((1 + X) ** 2 - 1 - 2 * X, "A grows by 2 e g A at least", normal=expanded)
    ensure_passed(
        lambda bound: 2 * step * LOW * sp.exp(-(1 + ratio) * bound) * first,
        "so A, which is at least the first one, passes every bound: it tends to infinity",
        elsewhere=2 * step * G * first,
    )
    top = X * (1 + MORE)  # e/16, which e g is at most
    ensure_equal(
        ((1 - X) / (1 + X)) ** 2,
        1 - 4 * X / (1 + X) ** 2,
        "a step takes B/A to ((1 - e g)/(1 + e g))^2 times it, and with x = e g this is 1 - 4 x/(1 "
        "+ x)^2",
        normal=factored,
    )
    ensure_nonnegative(
        4 * X / (1 + X) ** 2 - 2 * (2 / (1 + top) ** 2) * X,
        "4 x/(1 + x)^2 is at least 2 mu x with mu = 2/(1 + e/16)^2, as x is at most e/16",
        normal=factored,
    )
    cite(EXPONENTIAL)  # 1 - y <= exp(-y), and (1 + x)^2 <= exp(2 x)
    ensure_zero(
        -2 * mu * X + mu * (2 * X),
        "so B/A falls by a factor exp(-2 mu x) at least, A^mu grows by exp(2 mu x) at most, and "
        "A^mu B/A does not grow",
    )
    A, C = sp.symbols("A C", positive=True)
    ensure_zero(
        [sp.limit(C * A**-mu, A, sp.oo), sp.limit(STEP * sp.exp(-A / 2), A, sp.oo)],
        "B/A tends to 0, so that W_ii is at least A/2 in the end, and g <= S' <= exp(-W_ii) tends "
        "to 0",
    )
    ensure_nonnegative(
        [1 - (1 - X).subs(X, 1 / (1 + MORE)), (1 - X).subs(X, 1 / (1 + MORE))],
        "once e g is at most 1 b never grows: B is bounded",
        normal=factored,
    )


def ensure_limit() -> None:
    """Prove that with B bounded A/ln k tends to 1, and K Q^T/ln k to (1, c; c, 1)."""
    ensure_nonnegative(
        Y - Y / (1 + MORE) ** 2,
        "S'(W) lies between exp(-W)/4, where W >= 0, and exp(-W), and 1 + exp(S) between 2 and 1 + "
        "exp(1): g is between two positive multiples of exp(-A), as B is bounded",
        normal=factored,
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        2 * STEP * LOW * (1 + MORE) - 2 * STEP * LOW,
        "with g >= low exp(-A), exp(A) grows by at least exp(A) 2 e g A >= 2 e low where A >= 1: A "
        ">= ln k - constant",
        normal=expanded,
    )
    slow = sp.Symbol("slow", positive=True)
    ensure_zero(
        sp.limit(X * sp.exp(-slow * X), X, sp.oo),
        "exp((1 - slow) A) grows by at most a constant times A exp(-slow A), which vanishes: A <= "
        "(ln k + constant)/(1 - slow), for every slow; so A/ln k tends to 1, for both rows",
    )
    ensure_zero(
        sp.limit(sp.sqrt(X) / X, X, sp.oo),
        "what b adds vanishes over ln k: W/ln k tends to the cosines of a_1 and a_2",
    )


def prove() -> str:
    """Prove that K Q^T/ln k tends to (1, c; c, 1) after k steps, with the claim's bounds."""
    suppose(MOVED)
    ensure_slope()
    ensure_rows()
    ensure_room()
    ensure_growth()
    ensure_limit()
    return "for every inner dimension, any constant step above 0, starts with no row of K + Q 0"

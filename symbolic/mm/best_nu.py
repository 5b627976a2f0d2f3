"""The best nu of Assumption B for given tokens, if no input is idle and gamma < Gamma.

Letters are those of `symbolic.mm.assumption_b`. Let z_i = Y_i x_i,alpha_i and v = Gamma v(alpha),
which has norm 1. As no input is idle, <v, z_i> = Gamma for all i. Fix an input i and another token
t of it: W is the largest multiplier of the input, z = Y_i x_it and u = z - z_i. For 0 < q <= 1 let
y = z_i + q u. m(q) is the label margin of alpha with y in place of z_i, that is the distance of 0
from the hull of y and the other z_j. Let r(q) = (Gamma - m(q))/q. B holds for a nu of at most
Gamma - gamma that is at most r(q) for all q, i and t.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored, suppose
from properties.mm._support.max_margin import V_EXISTS
from properties.mm.assumption_b import conclusion as statement
from symbolic.continuity import cite_extreme_value
from symbolic.least_points import MORE
from symbolic.mm.assumption_b import (
    LEAD,
    RIVAL,
    ensure_odds,
    ensure_rival_in_reach,
    ensure_slow_if_all_reached,
    ensure_slow_is_cheap,
)
from symbolic.sums import ensure_nonnegative_sum, entry, total
from symbolic.textbook import CAUCHY_SCHWARZ, DUALITY, LINEAR, TRIANGLE

SIZE, Q = sp.symbols("Gamma q", positive=True)
LEVEL = SIZE
"""The component of each z_j along v, Gamma."""


def ensure_one_token() -> None:
    """Prove that B holds for every nu that is at most Gamma - gamma and at most all r(q)."""
    share, nu = sp.symbols("share nu", nonnegative=True)
    gamma = RIVAL + nu + share  # Gamma, as nu is at most Gamma - gamma
    ensure_nonnegative(
        gamma - nu / (1 + MORE) - RIVAL,
        "a label margin of gamma at most is at most Gamma - nu (1 - s_i,alpha_i)",
        normal=factored,
    )
    s, score = entry("s"), entry("score")
    own, most = sp.symbols("own most", real=True)
    q = total(s)
    ensure_nonnegative_sum(
        (1 - q) * own + q * most - ((1 - q) * own + total(s * score)),
        s * (most - score),
        "what is attended in input i scores at most as (1 - q) z_i + q z does, z its best other "
        "token",
        s=sp.Symbol("s_t", nonnegative=True),
        score=most - MORE,
    )
    ensure_nonnegative(
        (RIVAL + LEAD + MORE) - (RIVAL + LEAD),
        "if the margin is above gamma no input attends to what scores more than z_j, so that it is "
        "at most the least of these scores, and so m(q) <= Gamma - nu q",
    )
    weight, k = sp.symbols("W k", positive=True)
    q = 1 / (1 + k)
    ensure_positive(
        factored(weight * LEAD * q / (1 - q)),
        "where m(q) is above gamma and q < 1 each z_j scores m(q) at least, and z_i more, by (m(q) "
        "- gamma) q/(1 - q) at least: their mean Gamma v with W > 0 does, and so m(q) < Gamma",
    )


def ensure_slope_at_0() -> None:
    """Prove that the limit of r(q), q to 0, is W (Gamma - <v, z>)."""
    weight, gap, length = sp.symbols("W gap length", positive=True)
    square = SIZE**2 - 2 * Q * weight * SIZE * gap + Q**2 * weight**2 * length
    ensure_equal(
        sp.limit((SIZE - sp.sqrt(square)) / Q, Q, 0, "+"),
        weight * gap,
        "m(q) is at most ||Gamma v + q W u||, the mean of y and the z_j with these multipliers, as "
        "<v, u> = -gap: r(q) is at least what tends to W gap",
    )
    w, z = sp.symbols("w_1 w_2"), sp.symbols("z_1 z_2")
    linear = "W is the largest w_i with sum_j w_j z_j = Gamma v, sum_j w_j = 1, w >= 0"
    parts = (w[0], w[0] + w[1], w[0] * z[0] + w[1] * z[1])
    ensure_zero([x for part in parts for x in sp.hessian(part, w)], linear)
    cite(
        DUALITY, met={LINEAR: linear}
    )  # <tau, z_j> + c >= 0, >= 1 for j = i, W = <tau, Gamma v> + c
    bend, size = sp.symbols("bend size", real=True)
    also = sp.Symbol("<tau, z_i> + c - 1", nonnegative=True)
    margins = [SIZE + Q * gap * MORE, SIZE + Q * gap * (1 + also) - Q * gap + Q**2 * bend]
    ensure_nonnegative(
        [margins[0] - SIZE, margins[1] - SIZE - Q**2 * bend],
        "with the head v + q gap (tau + (c/Gamma) v) each other z_j scores Gamma at least, and y "
        "at least Gamma + q^2 bend, bend = gap <tau + (c/Gamma) v, u>",
        normal=expanded,
    )
    head = sp.sqrt(1 + 2 * Q * gap * weight / SIZE + Q**2 * size)
    for lost in (0, bend):
        ensure_equal(
            sp.limit((SIZE - (SIZE + Q**2 * lost) / head) / Q, Q, 0, "+"),
            weight * gap,
            f"by the score of {'each z_j' if lost == 0 else 'y'} under this head, whose norm is "
            "sqrt(1 + 2 q gap W/Gamma + ...), r(q) is at most what tends to W gap",
        )


def ensure_no_least_between() -> None:
    """Prove that r(q) is nowhere below both its limit at 0 and r(1).

    Suppose that its least value r is that of a q < 1 with m = m(q) between 0 and Gamma, and m(q')
    <= Gamma - r q' for all q'.

    - c is the distance of y from the affine hull of the z_j that are tight under the head that
      attains m.
    - p is the nearest point of the hull of y and these z_j, and w the weight of y in it.
    - u is (-k, h, e) in the directions of p, of y from that affine hull, and of a third one,
      orthogonal to these and to the affine hull.
    """
    gap, near = sp.symbols("||u|| |q-q'|", nonnegative=True)
    moved = "a mean with y in place of y' differs by at most |q - q'| ||u||: m is continuous"
    cite(TRIANGLE)
    ensure_nonnegative(near * gap - near * gap / (1 + MORE), moved, normal=factored)
    cite_extreme_value(moved, "r on the q from one to 1, below which it is near its limit")
    ensure_nonnegative(
        SIZE / (1 / (1 + MORE)) - SIZE,
        "where m(q) = 0, r(q) is Gamma/q, which is at least r(1)",
        normal=factored,
    )
    w, level, index = entry("w"), sp.Symbol("level", real=True), entry("w")
    ensure_equal(
        total(w * level).subs(total(index), 1).subs(level, LEVEL),
        SIZE,
        "an affine combination of the z_j has the component Gamma along v",
    )
    cite(CAUCHY_SCHWARZ)  # and so at least the norm Gamma; so y has a weight in p, and c > 0
    m, c, k, weight = sp.symbols("m c k w", positive=True)
    h, e, t = sp.symbols("h e t", real=True)
    first = sp.Matrix([m, -weight * c, 0])  # the point of the affine hull that is nearest to y
    far = sp.Matrix([-t * k, c + t * h, t * e])  # the vector from this point to y at q + t
    square = first.dot(first) - first.dot(far) ** 2 / far.dot(far)
    ensure_equal(
        [square.subs(t, 0), sp.diff(square, t).subs(t, 0)],
        [m**2, -2 * m * weight * k],
        "m(q + t) is at least the distance of 0 from the affine hull, for small t, with equality "
        "at 0: as it is at most m - r t, its derivative -w k is -r",
        normal=cancelled,
    )
    bent = (weight * e) ** 2 + 2 * m * k * weight * h / c - (m * k / c) ** 2
    ensure_equal(
        sp.diff(square, t, 2).subs(t, 0) / 2 - (weight * k) ** 2,
        bent,
        "half the second derivative of the square of this distance, less r^2 = (w k)^2, is "
        "(w e)^2 + 2 m k w h/c - (m k/c)^2, which is at most 0",
        normal=cancelled,
    )
    rise, flat, H, B, s = sp.symbols("K E H B s", real=True)
    values = {rise: weight * Q * k, flat: weight * c, H: Q * weight * h, B: Q * weight * e}
    a = m * rise / flat
    bend = B**2 + 2 * a * H - a**2
    ensure_equal(
        Q**2 * bent,
        bend.subs(values),
        "with K = q w k, E = w c, H = q w h, B = q w e and a = m K/E: B^2 + 2 a H - a^2 <= 0",
        normal=cancelled,
    )
    there = (1 - weight * (1 - s)) * first + weight * (1 - s) * (first + far.subs(t, -Q))
    ensure_equal(
        list(there),
        [x.subs(values) for x in (m + (1 - s) * rise, -s * flat - (1 - s) * H, -(1 - s) * B)],
        "a mean of z_i = y - q u, with the weight (1 - s) w, and of a point of the affine "
        "hull has the components m + (1 - s) K, -s E - (1 - s) H and -(1 - s) B",
        normal=expanded,
    )
    square = (m + (1 - s) * rise) ** 2 + (s * flat + (1 - s) * H) ** 2 + ((1 - s) * B) ** 2
    lower, turned = s * rise * ((2 - s) * rise + 2 * s * m), (1 - s) * (H - a) + s * flat
    ensure_equal(
        square - (m + rise) ** 2,
        -lower + turned**2 + (1 - s) ** 2 * bend,
        "the square of this mean is (m + K)^2 - s K ((2 - s) K + 2 s m), plus the square of "
        "(1 - s)(H - a) + s E and (1 - s)^2 times B^2 + 2 a H - a^2",
        normal=cancelled,
    )
    E, A = sp.symbols("E a", positive=True)
    over = (A**2 + B**2 + MORE) / (2 * A)  # a - H, where B^2 + 2 a H - a^2 is -more
    ensure_zero(
        [
            (B**2 + 2 * A * (A - over) - A**2 + MORE),
            ((1 - s) * -over + s * E).subs(s, over / (over + E)),
        ],
        "a - H is (a^2 + B^2 + more)/(2 a), above 0, and (1 - s)(H - a) + s E is 0 for s = (a - "
        "H)/(a - H + E)",
        normal=cancelled,
    )
    between = over / (over + E)
    ensure_positive(
        [factored(between), factored(1 - between)],
        "s = (a - H)/(a - H + E) is between 0 and 1",
    )
    K, S = sp.Symbol("K", positive=True), 1 / (1 + sp.Symbol("k", positive=True))
    ensure_positive(
        factored(lower.subs({s: S, rise: K})),
        "s K ((2 - s) K + 2 s m) is positive, so that this mean of the z_j would be shorter "
        "than m + K = m + r q = Gamma, which it cannot be",
    )
    alone = (m - t * k) ** 2 + (t * h) ** 2 + (t * e) ** 2
    ensure_equal(
        [sp.diff(alone, t, 2) / 2 - k**2, alone.subs({t: -Q, h: 0, e: 0})],
        [h**2 + e**2, (m + Q * k) ** 2],
        "if no other input is tight m is ||y|| near q: then h = e = 0 in the same way, z_i = y - q "
        "u has the norm m + q r = Gamma and is Gamma v, W is 1, and r = k is the limit at 0",
    )


def ensure_single() -> None:
    """Prove that the best nu is Gamma - gamma for a single input: W (Gamma - <v, z>) is no less."""
    length = SIZE / (1 + MORE)
    cite(CAUCHY_SCHWARZ)
    ensure_nonnegative(
        (SIZE - (length - sp.Symbol("less", nonnegative=True))) - (SIZE - length),
        "W = 1, and <v, z> is at most ||z||, the label margin of that choice: Gamma - <v, z> is at "
        "least Gamma - gamma",
        normal=expanded,
    )


def ensure_any_attention() -> None:
    """Prove that B fails for a nu above some r(q) if differences of keys are linearly independent.

    Then some prompt has any given logits.
    """
    R, q, other = sp.symbols("R q T-1", positive=True)
    x = sp.exp(-R)
    ensure_equal(
        [
            sp.limit((1 - q) / (1 + (other - 1) * x), R, sp.oo),
            sp.limit(q / (1 + (other - 1) * x), R, sp.oo),
            sp.limit(1 / (1 + other * x), R, sp.oo),
        ],
        [1 - q, q, sp.Integer(1)],
        "some prompt has any logits: with ln((1 - q)/q) between alpha_i and t and R to all other "
        "tokens attention tends to 1 - q and q, and to 1 in other inputs, so that a label margin "
        "tends to m(q), above Gamma - nu q where nu > r(q)",
    )


def prove_exactly() -> str:
    """Prove that Assumption B holds if and only if gamma < Gamma and no input is idle.

    Attention is supposed to reach every choice. The best nu is above 0, as each W is, and as other
    tokens score at most gamma under the head v.
    """
    suppose(V_EXISTS, statement.REACHED)
    ensure_odds()
    ensure_one_token()
    ensure_slope_at_0()
    ensure_no_least_between()
    ensure_single()
    ensure_any_attention()
    ensure_rival_in_reach()
    ensure_slow_if_all_reached()
    ensure_slow_is_cheap()
    return "for any number of inputs, tokens and axes; T = 1 leaves 1 - s_i,alpha_i = 0"

"""A cone about W^mm(alpha) that descent never leaves, for any number of inputs and tokens.

The letters are those of `attsvm.exact.cones`. W* is W^mm(alpha) and N its norm. W = a u + E with
u = W*/N, <E, u> = 0 and y = ||E||. A pair j is an input with a token other than alpha_i, and A_j
its difference. Pair j has the margin 1 + g_j and the multiplier lambda_j under W*, m_j = <A_j, W>,
e_j = <A_j, E> and r_j = ||A_j - <A_j, u> u||. Good pairs have lead_j > 0: alpha_i scores more. All
pairs with lambda_j > 0 are good. A(mu) = sum_t mu_t A_t is a mean of good pairs with g_t = 0, and
r_j(mu) and kappa(mu) belong to it. I is the set of all W with a >= a_0 and
y^2 <= Q^2 + B (a - a_0); its tip is a = a_0, y = Q. G = -grad L is the sum of all p_j A_j, and
g = N <G, u>. A statement about a sum is checked for one term, which stands for all.

For starts at sigma W* + E the set I has a_0 = sigma N and Q = s' sigma/w, w = max r_j/c_j. Its
conditions hold from some sigma on (`ensure_radius`). If w = 0 there is no such Q, and none is
needed (`ensure_parallel`).

In `amended` q = min(1/w, N)/2, the angle is arctan(q/N), and the norm is sqrt(N^2 + q^2) times the
radius of s = 1/2. There is a radius if and only if l' < 0 at the scores of alpha.

In the sharp reading the width of the cone cannot be multiplied by a factor above 1 for all data.
With the third token at (-1 - g, 1) the start w = (R, (1 + g) R - 1) lies in (1 + g)/g times the
cone, and descent from it goes elsewhere. The radius is of the right order. For tokens 0, (-1, 0),
(-3, 2) and scores 0, -1, 4, descent from (21/8, 21/16) goes elsewhere; this start is at four fifths
of the radius, at the rim of half of the cone. For random choices with a better token descent from
some start at the rim goes elsewhere, at a tenth of the radius and for up to 63/64 of the cone.
"""

import sympy as sp

from attsvm.exact.cones import bend_room, sideways, widening
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose, supposed_number
from properties._support.cone_radius import WIDER, wider
from properties._support.cones import (
    BELOW_ONE,
    FALLING_AT_ALPHA,
    IN_CONE,
    LENGTH,
    NEAR,
    OPTIMAL,
    RADIUS,
)
from symbolic.alternatives import SMOOTH_SLOPE
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.divergence import ensure_passed
from symbolic.gains import ensure_gain
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_sum_of_multipliers
from symbolic.sums import ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPOSED,
    CONTINUOUS,
    EXPONENTIAL,
    JENSEN,
    SECOND_DERIVATIVE,
    TRIANGLE,
)

A0, N, Q, KAPPA, ROOM, GAIN = sp.symbols("a_0 N Q kappa room g", positive=True)
"""`room` is 1 - D; the cone's conditions ask that it is positive."""
B, H, C, R_J, Y = sp.symbols("B h c r y", nonnegative=True)
"""Here h is a - a_0, r an r_j, and c the rate of an exponential."""
MORE, ALSO, EXCESS = sp.symbols("more also D", nonnegative=True)
CONVEX_EXP, CONVEX_LOG = "exp is convex", "-log is convex"


def logarithms(expression: object) -> object:
    """Expand logarithms of products and of exponentials."""
    return sp.expand(sp.expand_log(expression, force=True))


def ensure_frame() -> None:
    """Prove that m_j = a (1 + g_j)/N + e_j and |e_j| <= r_j y.

    Also sum_j lambda_j e_j = 0 and sum_j lambda_j = N^2.
    """
    A, E, u = (vector(name) for name in "AEu")
    a, g = sp.Symbol("a", real=True), sp.Symbol("g_j", nonnegative=True)
    margin = {inner("A", "u"): (1 + g) / N, inner("E", "u"): 0, inner("u", "u"): 1}
    ensure_equal(
        (A @ (a * u + E)).subs(margin),
        a * (1 + g) / N + inner("A", "E"),
        "W = a u + E has the margins m_j = a (1 + g_j)/N + e_j",
    )
    ensure_equal(
        ((A - (A @ u) * u) @ E).subs(margin),
        inner("A", "E"),
        "e_j is the inner product of E with what A_j has across u, and <A_j - A(mu), E> that with "
        "what A_j - A(mu) has",
    )
    cite(CAUCHY_SCHWARZ)
    suppose(OPTIMAL)
    ensure_sum_of_multipliers()  # <W*, W*> = N^2
    ensure_zero((N * u @ E).subs(margin), "sum_j lambda_j e_j = <W*, E> = N <u, E> is 0")


def ensure_largest_at_tip() -> None:
    """Prove that exp(-a c + r y) and y exp(-a c + r y) on I are largest at a = a_0, y = Q.

    This needs r B <= 2 Q c, and (r + 1/Q) B <= 2 Q c for the second one.
    """
    wide = Q + B * H / (2 * Q)
    ensure_nonnegative(
        wide**2 - (Q**2 + B * H),
        "y <= Q + B h/(2 Q) on I, h = a - a_0",
        normal=expanded,
    )
    c = (R_J * B + MORE) / (2 * Q)
    ensure_equal(bend_room(R_J, B, Q, c), MORE, "r B <= 2 Q c, with more to spare")
    ensure_nonnegative(
        -A0 * c + R_J * Q - (-(A0 + H) * c + R_J * wide),
        "where r B <= 2 Q c the exponent -a c + r y is largest at the tip",
        normal=expanded,
    )
    cite(EXPONENTIAL)
    c = ((R_J + 1 / Q) * B + MORE) / (2 * Q)
    ensure_equal(bend_room(R_J + 1 / Q, B, Q, c), MORE, "(r + 1/Q) B <= 2 Q c, with more to spare")
    ensure_nonnegative(
        -A0 * c + R_J * Q - (-(A0 + H) * c + R_J * wide + (wide - Q) / Q),
        "where (r + 1/Q) B <= 2 Q c, y exp(-a c + r y) is largest at the tip as well, as y "
        "<= Q exp((y - Q)/Q)",
        normal=expanded,
    )


def ensure_coefficients() -> None:
    """Prove that c_j <= p_j exp(m_j) <= C_j for good pairs, with constants on I.

    For the other pairs |p_j| is bounded by an exponential that is largest at the tip, times
    exp(-a/N - <A(mu), E>).
    """
    e, t, a, g, far = sp.symbols("e t a g_j far", nonnegative=True)
    own_part, mean = sp.symbols("e_j A(mu)E", real=True)
    ensure_gain()
    s, lead, own, u = entry("s"), entry("lead"), sp.Symbol("lead_j", real=True), sp.Symbol("u")
    best = u + total(s * lead)  # gamma_a, where missing is gamma_a - u
    ensure_equal(
        [u - (best - own), total(s * (best - lead)).subs(total(s), 1)],
        [own - total(s * lead), u],
        "u - gamma_j is lead_j - missing, missing = sum_t s_t lead_t: so p_j = |l'| s_j (lead_j - "
        "missing)/n",
    )
    ensure_nonnegative(
        1 / (1 + t) - 1 / (1 + t + e),
        "s_a = 1/(1 + sum_t exp(-m_t)) is least where all margins are: exp(-m_t) has its bound at "
        "the tip, hence so have s_a, missing = sum_t s_t lead_t, |l'| and p_j exp(m_j)",
        normal=factored,
    )
    ensure_equal(
        -(a * (1 + g) / N + own_part) - (-a / N - mean),
        -a * (g / N) - (own_part - mean),
        "exp(-m_j) is exp(-a/N - <A(mu), E>) times an exponential that is largest at the tip, as "
        "<A_j - A(mu), E> is at least -r_j(mu) y",
    )
    ensure_equal(
        -a * (g / N) + R_J * Y - a * (1 + far) / N,
        -a * (g / N + (1 + far) / N) + R_J * Y,
        "where lead_j is 0 a term of missing brings in another exp(-m_t), bounded in the same way",
    )


def _least_gain(x: sp.Expr) -> sp.Expr:
    """Return kappa x (1 - D), a lower bound of g for x = exp(-a/N)."""
    return KAPPA * ROOM * x


def ensure_gain_along() -> None:
    """Prove that P >= kappa(mu) exp(-a/N - <A(mu), E>) and g >= P (1 - D).

    P is the sum over good j of p_j (1 + g_j). For mu = lambda/N^2 the first bound is
    kappa exp(-a/N).
    """
    mu, lam, c, x, d, P = sp.symbols("mu_t lambda_t c_t x d_j P", positive=True)
    e = sp.Symbol("e_t", real=True)
    ensure_positive(sp.diff(sp.exp(e), e, 2), CONVEX_EXP)
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_EXP})
    ensure_equal(
        c * sp.exp(-e),
        mu * sp.exp(sp.log(c / mu) - e),
        "P exp(a/N) >= sum_t c_t exp(-e_t), over t with mu_t > 0, is the mean of "
        "exp(ln(c_t/mu_t) - e_t) with weights mu_t, at least kappa(mu) exp(-<A(mu), E>)",
        normal=simplified,
    )
    ensure_equal(
        (mu * sp.log(c / mu)).subs(mu, lam / N**2),
        lam / N**2 * (sp.log(c / lam) + sp.log(N**2)),
        "of mu = lambda/N^2, for which <A(mu), E> = 0, kappa(mu) is kappa, N^2 times the "
        "exponential of the mean of the ln(c_t/lambda_t)",
        normal=logarithms,
    )
    p, minor, margin = entry("p"), entry("d"), entry("margin")
    ensure_nonnegative_sum(
        total(p * margin) + P * total(minor * margin),
        margin * (p + minor * P),
        "the sum of p_j (1 + g_j) over pairs that are not good is at least -D P, D the sum of "
        "their d_j (1 + g_j): g is at least P (1 - D)",
        p=MORE - d * P,
        d=d,
        margin=1 + ALSO,
    )
    ensure_nonnegative(
        (KAPPA * x + MORE) * ROOM - _least_gain(x),
        "P (1 - D) is at least kappa x (1 - D) for P = kappa x + more, x = exp(-a/N): a grows",
        normal=expanded,
    )
    ensure_positive(
        sp.diff(_least_gain(x), x),
        "kappa x (1 - D) grows with x: it is least where a is largest, at a bound of a",
    )
    ensure_nonnegative(
        (KAPPA * x + MORE) / KAPPA - x, "exp(-a/N) is at most P/kappa", normal=expanded
    )


def ensure_turn() -> None:
    """Prove that <G, E> <= g R/(1 - D), with R of the code.

    Pairs that are not good have |p_j e_j| <= d_j r_j Q P.
    """
    p, q, f, total, x, S = sp.symbols("p q f P_1 x S", positive=True)
    a, e = sp.symbols("a e_j", real=True)
    ensure_equal(
        sp.log(q * sp.exp(-a / N) / p).subs(p, f * total),
        sp.log(q / f) - sp.log(total * sp.exp(a / N)),
        "of good j with g_j = 0 p_j = q_j exp(-a/N - e_j): e_j = ln(q_j/f_j) - ln(P_1 exp(a/N)), "
        "f_j = p_j/P_1",
        normal=logarithms,
    )
    ensure_positive(sp.diff(-sp.log(x), x, 2), CONVEX_LOG)
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_LOG})
    ensure_nonnegative(
        sp.log(S) - sp.log(KAPPA) - (sp.log(S) - sp.log(KAPPA * (1 + MORE))),
        "sum_j f_j ln(q_j/f_j) <= ln sum_j q_j <= ln S, and P_1 exp(a/N) >= kappa: their sum of "
        "p_j e_j is at most P_1 ln(S/kappa) <= P L",
        normal=logarithms,
    )
    cite(EXPONENTIAL)  # 1 + (x - 1) <= exp(x - 1)
    ensure_equal(
        sp.exp(e) * sp.exp(-1) * sp.exp(-e),
        sp.exp(-1),
        "x exp(-x) <= 1/e: for other good j p_j e_j <= C_j exp(-a/N) exp(-a_0 g_j/N)/e, as for "
        "those with g_j = 0",
    )
    L, rest, back = sp.symbols("L rest back", nonnegative=True)
    most = GAIN / ROOM - MORE  # P
    ensure_nonnegative(
        GAIN * (L + rest / KAPPA + back) / ROOM - most * (L + back) - (most / KAPPA - ALSO) * rest,
        "<G, E> is at most g R/(1 - D), as P <= g/(1 - D) and exp(-a/N) <= P/kappa",
        normal=expanded,
    )


def ensure_kept() -> None:
    """Prove that a step from I ends in I, and a tends to infinity."""
    E, G = vector("E"), vector("G_E")
    e, turn, K = sp.symbols("e turn K", nonnegative=True)
    step, x = sp.symbols("step exp(-a/N)", positive=True)
    ratio, reach = sp.symbols("ratio reach", nonnegative=True)
    p, margin, r = entry("p"), entry("margin"), entry("r")
    cite(TRIANGLE)
    ensure_nonnegative_sum(
        ratio * total(p * margin) - total(p * r),
        p * (ratio * margin - r),
        "the sum of p_j r_j over good j is at most P max r_j/(1 + g_j)",
        p=KAPPA,
        margin=1 + MORE,
        r=ratio * (1 + MORE) - ALSO,
    )
    ensure_nonnegative(
        GAIN * sideways(ratio, reach, ROOM) - (GAIN / ROOM - ALSO) * (ratio + reach),
        "what G has across u is at most sum_j |p_j| r_j <= P max r_j/(1 + g_j) + P sum_j d_j r_j, "
        "which is at most g times K of the code",
        normal=expanded,
    )
    ensure_equal(
        (E + e * G) @ (E + e * G),
        E @ E + 2 * e * (G @ E) + e * e * (G @ G),
        "y^2 becomes y^2 + 2 e <G, E> + e^2 ||G_E||^2, G_E what G has across u",
    )
    moved = H  # the growth of a in a step, e <G, u> = e g/N
    ensure_nonnegative(
        moved * widening(N, turn, ROOM, K, moved + MORE)
        - 2 * (moved * N) * (turn / ROOM)
        - (moved * N * K) ** 2,
        "y^2 grows by at most e <G, u> times B of the code, where <G, E> <= g R/(1 - D), "
        "||G_E|| <= g K and a step moves a by rho at most",
        normal=expanded,
    )
    size, most, rate = entry("size"), entry("most"), entry("rate")
    ensure_nonnegative_sum(
        step * total(most * rate) - step * total(size * rate),
        step * rate * (most - size),
        "e <G, u> is at most rho, which is e sum_j |p_j| (1 + g_j)/N with all |p_j| at their "
        "bounds at the tip",
        size=x,
        most=x + MORE,
        rate=KAPPA,
    )
    ensure_passed(
        lambda bound: step * _least_gain(sp.exp(-bound / N)) / N,
        "where a is at most a bound a step adds a constant to it, as exp(-a/N) is above one: so a, "
        "which grows at each step, passes every bound",
        elsewhere=step * _least_gain(x) / N + MORE,
    )
    ensure_zero(
        sp.limit((Q**2 + B * H) / (A0 + H) ** 2, H, sp.oo),
        "y/a tends to 0, so that the direction of W tends to u",
    )


def ensure_cone() -> None:
    """Prove that from every point of I the direction converges to that of W*."""
    ensure_frame()
    ensure_largest_at_tip()
    ensure_coefficients()
    ensure_gain_along()
    ensure_turn()
    ensure_kept()


def ensure_radius() -> None:
    """Prove that with a_0 = sigma N and Q = s' sigma/w the conditions hold for all large sigma."""
    sigma, w, x, room, odds = sp.symbols("sigma w x c_j odds", positive=True)
    share = 1 / (1 + odds)  # s', below 1
    r = w * room - MORE
    ensure_positive(
        -(-sigma * (room + ALSO) + r * share * sigma / w),
        "as r_j(mu) <= r_j <= w c_j, and c_j is 1 + g_j for good j and g_j > 0 for the others "
        "(support tokens are good), every exponent at the tip is -x sigma with x > 0",
        normal=factored,
    )
    power = sp.exp(-x * sigma)
    ensure_positive(-sp.diff(power, sigma), "the bounds of all exp(-m_j) fall")
    ensure_nonnegative(
        -sp.diff(sigma * power, sigma).subs(sigma, (1 + MORE) / x),
        "d_j r_j Q, a multiple of sigma exp(-x sigma), falls where x sigma >= 1",
        normal=factored,
    )
    ensure_zero(
        [sp.limit(z, sigma, sp.oo) for z in (power, sigma * power)],
        "exp(-x sigma) and sigma exp(-x sigma) tend to 0",
    )
    ensure_least_coefficients()
    ensure_spread()
    c, spread = sp.Symbol("c", positive=True), B + ALSO
    ensure_nonnegative(
        bend_room(R_J + 1 / (Q + MORE), B, Q + MORE, c) - bend_room(R_J + 1 / Q, spread, Q, c),
        "as B falls and Q grows, r B <= 2 Q c and (r + 1/Q) B <= 2 Q c hold the more",
        normal=factored,
    )
    ensure_zero(
        sp.limit((R_J + 1 / Q) * B / (2 * Q * c), Q, sp.oo),
        "r B <= 2 Q c and (r + 1/Q) B <= 2 Q c hold from some sigma on, as B is bounded",
    )


def ensure_least_coefficients() -> None:
    """Prove how the constants depend on the bounds z_t of exp(-m_t), which fall to 0 with sigma.

    As the z_t fall, c_j, kappa and kappa(mu) grow to positive limits, and C_j and d_j fall. D and
    rho fall to 0.
    """
    size, z, less = entry("size"), entry("z"), entry("less")
    ensure_nonnegative_sum(
        total(size * z) - total(size * less),
        size * (z - less),
        "the bounds of missing, sums of |lead_t| z_t over lead_t > 0 and over lead_t < 0, fall "
        "with the z_t: so missing, and the score gamma_a - missing, are in smaller intervals",
        size=ALSO,
        z=KAPPA + MORE,
        less=KAPPA,
    )
    Z, lost, n = sp.symbols("Z lost n", positive=True)
    slope = supposed_number(FALLING_AT_ALPHA, "slope", positive=True)
    lead = supposed_number(OPTIMAL, "lead", positive=True)
    cite_extreme_value(SMOOTH_SLOPE, "|l'| on the interval of gamma_a - missing")
    before, after = lost + EXCESS, lost
    ensure_nonnegative(
        [
            coefficient(slope + MORE, 1 / (1 + Z), lead + before, after, n)
            - coefficient(slope, 1 / (1 + Z + ALSO), lead + before, before, n),
            coefficient(slope + MORE, 1, lead, -before, n) - coefficient(slope, 1, lead, -after, n),
        ],
        "c_j, which has the least |l'| there, the largest missing and s_a = 1/(1 + Z), Z the sum "
        "of the z_t, grows; C_j, which has the largest |l'|, the least missing and s_a = 1, falls, "
        "as does, with |lead_j| and |missing|, the bound of |p_j| exp(m_j) where lead_j < 0",
        normal=factored,
    )
    ensure_positive(
        sp.limit(coefficient(slope, 1 / (1 + Z), lead, Z * lost, n), Z, 0),
        "c_j and C_j of good j tend to |l'| lead_j/n > 0, l' < 0 the slope at the score of alpha_i",
    )
    cite(COMPOSED, met={CONTINUOUS: SMOOTH_SLOPE})  # l'
    c, others, mu, whole = sp.symbols("c_j others mu_j whole", positive=True)
    kappa = whole * sp.exp(mu * sp.log(c / mu) / whole) * others
    smooth = "kappa is smooth in the c_j > 0"
    ensure_smooth(kappa, smooth)
    cite(COMPOSED, met={CONTINUOUS: smooth})
    ensure_positive(
        [kappa, sp.diff(kappa, c)],
        "kappa and kappa(mu), products over j of exp(mu_j ln(c_j/mu_j)/whole), weights of sum "
        "whole, grow with each c_j, to positive limits",
    )
    most, less, rate, power = (entry(name) for name in ("most", "less", "rate", "power"))
    ensure_nonnegative(
        (slope + ALSO) / KAPPA - slope / (KAPPA + MORE),
        "a bound of |p_j| exp(m_j), or of |l'|, over kappa(mu) falls as the one falls and the "
        "other grows",
        normal=factored,
    )
    low = entry("low")
    ensure_nonnegative_sum(
        total(most * rate * power) - total(low * rate * less),
        rate * (most * power - low * less),
        "D and rho, sums of these or of bounds of |p_j| exp(m_j) times exp(-x sigma), fall with "
        "them",
        most=slope + ALSO,
        low=slope,
        rate=KAPPA,
        power=Z + MORE,
        less=Z,
    )
    ensure_positive(
        sp.limit(1 - ALSO * Z, Z, 0),
        "D and rho tend to 0, so that 1 - D is above 0 from some sigma on",
    )


def coefficient(
    slope: sp.Expr, share: sp.Expr, lead: sp.Expr, missing: sp.Expr, n: sp.Expr
) -> sp.Expr:
    """Return a bound of p_j exp(m_j), by bounds of |l'|, s_a and missing."""
    return slope * share * (lead - missing) / n


def ensure_spread() -> None:
    """Prove that B of the code falls as C_j, d_j, D and rho fall and kappa grows."""
    S, rest, back, turned, ratio, rho = sp.symbols("S rest back turned ratio rho", nonnegative=True)
    lam, c, C, picked = (entry(name) for name in ("lambda", "c", "C", "picked"))
    cite(EXPONENTIAL)  # ln x <= x - 1
    ensure_zero(
        total(lam * (c * N**2 / (lam * GAIN) - 1)).subs({total(lam): N**2, total(c): GAIN}),
        "ln(kappa/sum_j c_j), the mean of ln x_j, x_j = c_j N^2/(lambda_j sum_j c_j), with weights "
        "lambda_j/N^2 of sum 1, is at most that of x_j - 1, which is 0",
    )
    ensure_nonnegative_sum(
        total(C) - total(picked * c),
        C - picked * c,
        "S, the sum of the C_j >= c_j of these j and others, is at least sum_j c_j, and so "
        "at least kappa",
        c=KAPPA,
        C=KAPPA + MORE,
        picked=1 / (1 + ALSO),
    )
    spread = widening(
        *(N, sp.log(S / KAPPA) + rest / KAPPA + back, 1 - EXCESS),
        *(sideways(ratio, turned, 1 - EXCESS), rho),
    )
    signs = {S: 1, rest: 1, back: 1, turned: 1, rho: 1, EXCESS: 1, KAPPA: -1}
    ensure_nonnegative(
        [
            sign * sp.diff(spread, z).subs(S, KAPPA * (1 + MORE)).subs(EXCESS, 1 - 1 / (1 + ALSO))
            for z, sign in signs.items()
        ],
        "B of the code, with R = ln(S/kappa) + rest/kappa + back or, where L is replaced, R = "
        "rest/kappa + back, falls as S, rest, back = sum d_j r_j Q, sum d_j r_j, rho and D < 1 "
        "fall and kappa grows",
        normal=factored,
    )


def ensure_parallel() -> None:
    """Prove that the direction converges to u from any E, for large sigma, if w = 0.

    Then all r_j are 0.
    """
    E, u = vector("E"), vector("u")
    p, step, x = sp.symbols("p step exp(-a/N)", positive=True)
    a, g, far = sp.symbols("a g_j far", nonnegative=True)
    facts = {inner("E", "u"): 0, inner("u", "u"): 1}
    row = (1 + g) / N * u  # A_j
    ensure_equal(
        (row @ (a * u + E)).subs(facts),
        a * (1 + g) / N,
        "where r_j = 0, A_j is (1 + g_j) u/N: margins are a (1 + g_j)/N, whatever E is",
    )
    moved = (a * u + E + step * p * row) - ((a + step * p * (1 + g) / N) * u + E)
    ensure_zero([c for _, c in moved.parts], "a step leaves E as it is, term by term")
    ensure_nonnegative(
        (A0 + H) * (1 + g) / N - A0 * (1 + g) / N,
        "margins are least at a = a_0: so c_j, kappa and D are bounds for all a >= a_0",
        normal=expanded,
    )
    ensure_passed(
        lambda bound: step * _least_gain(sp.exp(-bound / N)) / N,
        "as g > 0 a step adds a constant to a where a is at most a bound, so that a passes "
        "every bound",
        elsewhere=step * _least_gain(x) / N + MORE,
    )
    ensure_zero(
        sp.limit(far / (A0 + H), H, sp.oo), "||E||/a tends to 0, as E stays and a tends to infinity"
    )


def prove_sharp() -> str:
    """Prove convergence in direction from sigma W* + E if ||E|| r_j <= s sigma c_j for all j.

    Here s < 1, and sigma is at least the radius of s.
    """
    sigma, w, least = sp.symbols("sigma w radius", positive=True)
    ensure_cone()
    ensure_radius()
    ensure_parallel()
    s = 1 / (1 + supposed_number(BELOW_ONE, "odds", positive=True))
    at_least = least + supposed_number(RADIUS, "beyond", nonnegative=True)
    x = sp.Symbol("x", positive=True)
    ensure_nonnegative(
        x * at_least - x * least,
        "at sigma, no less than the radius, bounds exp(-x sigma) are no larger than at the radius, "
        "where the conditions hold, with x radius >= 1: as they hold from there on, so at sigma",
        normal=expanded,
    )
    inside = supposed_number(IN_CONE, "inside", nonnegative=True)  # s sigma/w - ||E||
    for part in WIDER:
        share = wider(s, sp.Rational(int(part.p), int(part.q)))
        ensure_positive(1 - share, "s' is below 1, as s is", normal=factored)
        ensure_nonnegative(
            share * sigma / w - (s * sigma / w - inside),
            "||E|| <= s sigma/w is at most Q = s' sigma/w, s' >= s: the start is in I",
            normal=factored,
        )
    return "for every smooth loss with l' < 0 at the scores of alpha, any n, T, d and any step"


def prove() -> str:
    """Prove convergence in direction from starts of large norm within an angle of W*.

    The angle is arctan(q/N), and the norm at least sqrt(N^2 + q^2) times the radius of s = 1/2.
    """
    proved = prove_sharp()
    sigma, w, q, least = sp.symbols("sigma w q radius", positive=True)
    beyond = supposed_number(LENGTH, "beyond", nonnegative=True)
    far = least**2 * (N**2 + q**2) + beyond  # ||W_0||^2
    ensure_nonnegative(
        (far + ALSO) / (N**2 + q**2) - least**2,
        "sigma^2 (N^2 + q^2) >= sigma^2 N^2 + ||E||^2 = ||W_0||^2: sigma is at least the radius",
        normal=factored,
    )
    inside = supposed_number(NEAR, "inside", nonnegative=True)
    ensure_nonnegative(
        sigma / w / 2 - (sigma * q.subs(q, 1 / (2 * w + MORE)) - inside),
        "||E|| <= sigma q <= sigma/(2 w): the start is in half of the cone",
        normal=factored,
    )
    return proved

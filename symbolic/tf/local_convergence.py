"""The radius of a cone about W^mm(alpha), and starts near the ray of W^mm(alpha).

That descent never leaves a cone and converges in direction is linked in `symbolic.tf.cone_facts`.
The letters are those of `attsvm.exact.cones`. W* is W^mm(alpha) and N its norm. A pair j is an
input with a token other than alpha_i, and A_j its difference. Pair j has the margin 1 + g_j and the
multiplier lambda_j under W*, and r_j is the length of the part of A_j orthogonal to W*. Pairs are
good if alpha_i scores more; all pairs with lambda_j > 0 are. A(mu) = sum_t mu_t A_t is a mean of
good pairs with g_t = 0, and r_j(mu) and kappa(mu) belong to it.

For starts at sigma W* + E the set I has a_0 = sigma N and Q = s' sigma/w, w = max r_j/c_j. Its
conditions hold from some sigma on (`ensure_radius`).

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
from attsvm.theory import cite, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import factored, supposed_number
from attsvm.theory.proof.linked import linked
from properties._support.cones import FALLING_AT_ALPHA, OPTIMAL
from properties._support.suppositions import SMOOTH_SLOPE
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.sums import ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    COMPOSED,
    CONTINUOUS,
    EXPONENTIAL,
)
from symbolic.tf.cone_facts import conclude_limit

N, Q, KAPPA, GAIN = sp.symbols("N Q kappa g", positive=True)
B, R_J = sp.symbols("B r", nonnegative=True)
MORE, ALSO, EXCESS = sp.symbols("more also D", nonnegative=True)


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


@linked
def prove_sharp() -> str:
    """Prove convergence in direction from sigma W* + E if ||E|| r_j <= s sigma c_j for all j.

    Here s < 1, and sigma is at least the radius of s. That there is a radius is shown beside the
    facts.
    """
    conclude_limit()
    ensure_radius()
    return "for every smooth loss with l' < 0 at the scores of alpha, any n, T, d and any step"


@linked
def prove() -> str:
    """Prove convergence in direction from starts of large norm within an angle of W*.

    The angle is arctan(q/N), and the norm at least sqrt(N^2 + q^2) times the radius of s = 1/2.
    That there is a radius is shown beside the facts.
    """
    conclude_limit(nearby=True)
    ensure_radius()
    return "for every smooth loss with l' < 0 at the scores of alpha, any n, T, d and any step"

"""Where attention settles at one token of an input, all of whose tokens support: it is the best.

An input by itself, as inputs of orthogonal queries move no logit of each other. Let u tend to the
score of a token b and s_b to 1, and let t run over the other tokens. A_t = (x_b - x_t) z^T has the
margin m_t in W; sign_t is 1 where t scores less than b, -1 where it scores more. A step of size e
adds e sign_t c_t to the coefficient of A_t, c_t = |l'(u)| s_t |u - gamma_t|/n. M is the inverse of
the Gram matrix of the A_t, Q(x) = x^T M x, and w_t = |l'(gamma_b)| |gamma_b - gamma_t|/n. C is a
constant, another one in each place.

1. M has no entry above 0 off its diagonal, and no negative sum of a row: these are multipliers of
   Local-SVMs (`ensure_weights`).
2. Let the time be e times the number of steps, and margins move evenly within a step. Then (M m')_t
   = sign_t f_t (1 + off_t) with f_t = w_t exp(-m_t) and |off_t| at most C times the sum of the f_t
   (`ensure_flow`).
3. E, the integral of Q(m') from a time on, is finite. It is D, the sum of the (M m')_t, up to
   C (Q(m') + time^-2) (`ensure_energy`).

What comes now is done in rounds, for fewer tokens each time. Let tau be the time, v_t the margins
less multiples of times, f_t = w_t exp(-v_t), and some tokens be left, at first all with v = m, such
that with Q = Q(v'), E its integral from tau on and D the sum of the (M v')_t of those left

    (M v')_t = sign_t f_t (1 + off_t), |off_t| <= C/tau, if t is left;  |E - D| <= C (Q + tau^-2);
    v_t has a limit, and differs from it by at most C (sqrt(Q) + 1/tau), if t is not left.

Let theta be 1 at tokens that are left and 0 at others, rate = M theta, and rates be its sum over
those left, which is theta^T M theta: above 0, and no rate of a token that is left is negative.

4. E is at most rates/tau + C tau^(-3/2): E' = -Q, and D^2 <= rates Q (`ensure_decay`).
5. If t is left v_t is at least ln tau - C, and at most ln tau + C where its rate is above 0
   (`ensure_logarithms`).
6. Let r = ln tau and V = v - r theta. The integral of Q(dV/dr) over r is finite
   (`ensure_next_energy`).
7. So (M dV/dr)_t = sign_t tau f_t (1 + off_t) - rate_t is a square-integrable function of r. A
   token that scores more than b, with a rate above 0, would keep it below -rate_t: there is none.
   And tau f_t tends to rate_t (`ensure_signs`).
8. Tokens whose rate is above 0 are left no more, and V in place of v, r in place of tau, is as
   above (`ensure_next_round`).

Some rate is above 0, so each round leaves fewer tokens; in the end none is left, and none scored
more than b. A better token may have multiplier 0 in the Local-SVM of b: then its rate is above 0
only in a later round, once others have gone. Its margin is above theirs by a term of the order of
ln tau, or ln ln tau, and so on, so that runs may stay with b for all steps that can be computed.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.declaration.proof import expanded, suppose
from symbolic.basins import OF_SCORES, ensure_from_basin, ensure_gap_of_rest
from symbolic.continuity import cite_extreme_value
from symbolic.gains import ensure_gain, ensure_gain_of_support
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, n, r, swapped, t, total
from symbolic.suppositions import (
    ALL_SUPPORT,
    BENT_LOSS,
    EACH_SOLVED,
    LOSS,
    ORTHOGONAL_QUERIES,
    SCORES_DIFFER,
    SHORT_STEP,
    TWO_TOKENS,
)
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    DIFFERENTIABLE,
    EIGENVECTORS,
    EXPONENTIAL,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    MEAN_VALUE_ON_A_LINE,
    SECOND_DERIVATIVE,
    SYMMETRIC,
    TANGENT,
)
from symbolic.tf.global_conjecture import ensure_limit

MORE, LESS = sp.symbols("more less", nonnegative=True)
"""What is not negative by what has been said before."""
C, E, Q, TAU, RATES = sp.symbols("C E Q tau rates", positive=True)
D = sp.Symbol("D", real=True)
DIFFERENCES = (
    "the squared norm of sum_t c_t A_t, over all inputs, is the sum of those of the inputs, each "
    "above 0 unless its c_t are 0, as z is not 0 where margins are 1: the A_t of all inputs are "
    "independent"
)


def ensure_independence() -> None:
    """The A_t of all inputs are independent."""
    c, picked = entry("c"), entry("picked")
    level, c_b = sp.symbols("level c_b", real=True)
    suppose(ALL_SUPPORT, EACH_SOLVED, ORTHOGONAL_QUERIES, SCORES_DIFFER, TWO_TOKENS)
    ensure_equal(
        total(c * (level - (1 - picked))).subs({total(c): 0, total(c * picked): c_b}),
        c_b,
        "under the W of the choice b the logit of b is 1 above all others: where sum_t c_t x_t = 0 "
        "and sum_t c_t = 0, of all tokens of the input, c_b is 0, and so is each c_t, in its turn",
    )
    ensure_inputs_apart()
    one, other = vector("one"), vector("other")
    ensure_equal(
        ((one + other) @ (one + other)).subs(inner("one", "other"), 0),
        one @ one + other @ other,
        DIFFERENCES,
    )


def ensure_weights() -> None:
    """M_ts = -lambda_t of the Local-SVM of s, and the row sums of M are the lambda_t of that of b.

    A mean over the tokens that are left keeps the signs: their row sums in M are not negative.
    """
    x_b, x_s, x_t, W = (vector(name) for name in ("x_b", "x_s", "x_t", "W"))
    level, weight = sp.Symbol("level", real=True), sp.Symbol("lambda_t", nonnegative=True)
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: DIFFERENCES})
    one, other = vector("A_t"), vector("A_r")
    ensure_equal(
        one @ (weight * one + level * other),
        weight * inner("A_t", "A_t") + level * inner("A_r", "A_t"),
        "margins are the Gram matrix times the coefficients of W in the A_t, and so these "
        "coefficients are M times the margins",
    )
    facts = {inner("W", "x_s"): level, inner("W", "x_t"): level - 1, inner("W", "x_b"): level - 1}
    ensure_equal(
        [((x_b - x_t) @ W).subs(facts), ((x_b - x_s) @ W).subs(facts)],
        [0, -1],
        "the W of the choice s, all of whose margins are 1, has <A_t, W> = 0 for all t but s, and "
        "<A_s, W> = -1",
    )
    ensure_multipliers()
    ensure_zero(
        [part for _, part in ((x_s - x_t) - ((x_b - x_t) - (x_b - x_s))).parts],
        "it is the sum of lambda_t (x_s - x_t) z^T, which is that of lambda_t (A_t - A_s)",
    )
    ensure_nonnegative(
        dict((weight * (vector("A_t") - vector("A_s"))).parts)["A_t"],
        "so that M_ts = -lambda_t, of that choice, is at most 0 for t other than s; and for b "
        "itself, where all <A_t, W> are 1, the sum of row t is lambda_t",
    )
    taken, of_row = entry("taken"), entry("M_t")
    ensure_nonnegative_sum(
        0 - total(of_row * taken),
        -of_row * taken,
        "where tokens s other than t are taken out of a row sum that is 0, what is left is the sum "
        "of the -M_ts: no rate of a token that is left is negative",
        M_t=-weight,
        taken=MORE,
    )


def ensure_flow() -> None:
    """(M m')_t = sign_t f_t (1 + off_t), with |off_t| at most C times the sum of the f_t."""
    rest, least = sp.symbols("rest least", positive=True)
    bend, away = sp.symbols("max|l''|range/|l'(gamma_b)| range/least", positive=True)
    ensure_gain()  # -grad L is the sum of sign_t c_t A_t
    ensure_gain_of_support()  # |u - gamma_b| is at most the range of the scores times 1 - s_b
    cite_extreme_value(BENT_LOSS, f"|l''|, as well as {OF_SCORES}")
    cite_extreme_value(LOSS, OF_SCORES)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: BENT_LOSS})
    high = (1 + bend * rest) * (1 + away * rest)
    share = rest / (rest + MORE)  # 1 - s_b, and any number in (0, 1]
    ensure_nonnegative(
        (1 + (bend + away + bend * away) * share - high.subs(rest, share)),
        "c_t exp(m_t) over w_t is |l'(u)|/|l'(gamma_b)| times |u - gamma_t|/|gamma_b - gamma_t| "
        "times s_b, which is at most 1, and so at most 1 + C (1 - s_b)",
        normal=sp.factor,
    )
    x, y, z = (1 / (1 + sp.Symbol(f"far_{i}", nonnegative=True)) for i in range(3))
    ensure_nonnegative(
        (1 - x) * (1 - y) * (1 - z) - (1 - x - y - z),
        "and at least 1 - C (1 - s_b), (1 - x) (1 - y) (1 - z) being at least 1 - x - y - z for "
        "numbers in (0, 1]",
        normal=sp.factor,
    )
    ensure_mean(
        sp.Symbol("f_t", positive=True),
        1 / (least + MORE),
        "1 - s_b = sum_t s_t, at most sum_t exp(-m_t), is at most 1/(least w_t) times sum_t f_t",
        most=1 / least,
    )
    cite(EXPONENTIAL)
    y = sp.Symbol("y", nonnegative=True)
    ensure_nonnegative(
        ((1 + 2 * y) * (1 - y) - 1).subs(y, 1 / (2 + MORE)),
        "within a step m_t moves by at most e sum_r |<A_t, A_r>| c_r, which is y = C sum_r f_r at "
        "most, and f_t by a factor of at most exp(y) <= 1/(1 - y) <= 1 + 2 y for y <= 1/2, up or "
        "down",
        normal=sp.factor,
    )


def ensure_energy() -> None:
    """E is finite, and D up to C (Q(m') + time^-2)."""
    time, w, root, side = sp.symbols("time w sqrt(Q) sqrt(rates)", positive=True)
    margin = sp.Function("m")(time)
    f, sign, off, moved = entry("f"), entry("sign"), entry("off"), entry("m'")
    ensure_equal(
        sp.diff(w * sp.exp(-margin), time),
        -w * sp.exp(-margin) * sp.diff(margin, time),
        "G, the sum of the sign_t f_t, has the derivative -sum_t sign_t f_t m_t'",
    )
    pushed = sign * f * (1 + off)  # (M m')_t
    ensure_equal(
        total(-sign * f * moved),
        -total(pushed * moved) + total(sign * f * off * moved),
        "which is -Q(m') + sum_t sign_t f_t off_t m_t', as sum_t m_t' (M m')_t is Q(m')",
    )
    _ensure_norms()
    ensure_equal(
        n * total(f**2) - total(f) ** 2,
        total((f - swapped(f)) ** 2, t, r) / 2,
        "(sum_t f_t)^2 is at most the number of tokens times sum_t f_t^2, by half of all (f_t - "
        "f_r)^2",
    )
    a, b = sp.symbols("a b", real=True)
    ensure_nonnegative(
        (a**2 + b**2) / 2 - a * b,
        "f_t |m_t'| is at most (f_t^2 + m_t'^2)/2, and sum_t f_t^2, at most 4 ||M m'||^2 where all "
        "|off_t| are at most 1/2, at most C Q: so -G' is Q times a factor within C sum_t f_t of 1",
        normal=sp.factor,
    )
    ensure_mean(
        Q,
        sp.Rational(1, 2) + MORE,
        "G, which tends to 0 with the f_t, is the integral of -G': in the end at least E/2",
        least=sp.Rational(1, 2),
    )
    cite(CAUCHY_SCHWARZ)  # of x^T M y: D = 1^T M m' is at most sqrt(rates Q)
    ensure_nonnegative(
        (4 * side * root - 2 * (side * root + C * root**2)).subs(C, side / (root * (1 + MORE))),
        "and G is D up to C Q, as sum_t f_t off_t is at most C times sum_t f_t^2: E is at most "
        "4 sqrt(rates Q) in the end, where C sqrt(Q) is at most sqrt(rates)",
        normal=sp.factor,
    )
    ensure_nonnegative(
        (root**2 - E**2 / (16 * side**2)).subs(root, E / (4 * side) + MORE),
        "so that Q is at least E^2/(16 rates)",
        normal=expanded,
    )
    _ensure_reciprocal_grows(16 * RATES, time)
    ensure_slow()
    ensure_mean(
        Q,
        C / (time * (1 + MORE)),
        "so the f_t are at most C/time from a time on, and |G - E|, at most the integral of C Q "
        "sum_t f_t, is at most C/time times E, which is C/time^2",
        most=C / time,
    )


def _ensure_norms() -> None:
    """Q(x) is ||x||^2, and ||M x||^2 is Q(x), up to constant factors."""
    symmetric = "<A_s, A_t> = <A_t, A_s>: the Gram matrix of the A_t is symmetric, and so is M"
    ensure_equal(vector("A_s") @ vector("A_t"), vector("A_t") @ vector("A_s"), symmetric)
    cite(EIGENVECTORS, met={SYMMETRIC: symmetric})
    least, most = sp.symbols("least most", positive=True)
    eigenvalue, along, x = entry("eigenvalue"), entry("x"), sp.Symbol("x", real=True)
    ensure_nonnegative_sum(
        total(eigenvalue * along**2) - least * total(along**2),
        along**2 * (eigenvalue - least),
        "Q(x) is at least the least eigenvalue of M times ||x||^2, by coordinates along "
        "eigenvectors; it is above 0, as the A_t are independent, and so is theta^T M theta",
        eigenvalue=least + MORE,
        x=x,
    )
    ensure_nonnegative_sum(
        most * total(eigenvalue * along**2) - total(eigenvalue**2 * along**2),
        eigenvalue * along**2 * (most - eigenvalue),
        "and at least ||M x||^2 over the largest one",
        eigenvalue=most / (1 + MORE),
        x=x,
    )
    ensure_nonnegative_sum(
        total(eigenvalue**2 * along**2) / least - total(eigenvalue * along**2),
        eigenvalue * along**2 * (eigenvalue / least - 1),
        "and at most ||M x||^2 over the least one, so that Q(m') tends to 0 as the f_t do",
        eigenvalue=least + MORE,
        x=x,
    )


def _ensure_reciprocal_grows(factor: Any, time: Any) -> None:
    """Where -E' = Q >= E^2/factor E is at most factor/time, up to a constant time."""
    level = sp.Function("E")(time)
    slope = sp.diff(1 / level, time).subs(sp.diff(level, time), -(level**2 / factor + MORE))
    ensure_nonnegative(
        slope.subs(level, E) - 1 / factor,
        f"the derivative of 1/E is at least 1/({factor}), so that time times E is bounded",
        normal=sp.cancel,
    )


def ensure_slow() -> None:
    """Where E is at most C/tau, f_t is at most C/tau if t is left, and v_t at least ln tau - C."""
    K, w = sp.symbols("K w", positive=True)
    cite(CAUCHY_SCHWARZ)  # of functions on [tau, 2 tau]
    ensure_nonnegative(
        K**2 - TAU * (K**2 / (TAU * (1 + MORE))),
        "the integral of sqrt(Q) from tau to 2 tau, at most the root of tau E, is at most a "
        "constant K, and up to a factor so are those of all |v_t'| and, if t is left, of f_t",
        normal=sp.factor,
    )
    ensure_nonnegative(
        K * sp.exp(K) / TAU - K / (1 + MORE) / (TAU * sp.exp(-K)),
        "as v_t moves by at most K in that time, f_t is at least exp(-K) times what it is at tau, "
        "which is at most K exp(K)/tau",
        normal=sp.factor,
    )
    ensure_equal(
        w * sp.exp(-(sp.log(TAU) - sp.log(K * sp.exp(K) / w))),
        K * sp.exp(K) / TAU,
        "so that v_t is at least ln tau - ln(K exp(K)/w_t)",
        normal=sp.simplify,
    )


def ensure_decay() -> None:
    """E is at most rates/tau + C tau^(-3/2)."""
    root, side = sp.symbols("sqrt(Q) sqrt(rates)", positive=True)
    cite(CAUCHY_SCHWARZ)  # of x^T M y: D = theta^T M v' is at most sqrt(rates Q)
    ensure_nonnegative(
        (root**2 - E**2 / side**2).subs(root, 2 * E / side + MORE),
        "Q, and so E, is above 0, as some f_t is. It is at least E^2/rates where sqrt(Q) is at "
        "least 2 E/sqrt(rates)",
        normal=expanded,
    )
    ensure_nonnegative(
        (4 * C * E**2 / side**2 - C * root**2).subs(root, 2 * E / (side * (1 + MORE))),
        "elsewhere C Q is at most 4 C E^2/rates",
        normal=sp.factor,
    )
    three_halves = sp.Rational(3, 2)
    ensure_nonnegative(
        (E / sp.sqrt(TAU) - TAU**-2).subs(E, TAU**-three_halves + MORE),
        "and tau^-2 at most E/sqrt(tau), as long as E is at least tau^(-3/2)",
        normal=expanded,
    )
    ensure_equal(
        E - 4 * C * E**2 / RATES - C * E / sp.sqrt(TAU),
        E * (1 - (4 * C * E / RATES + C / sp.sqrt(TAU))),
        "so that sqrt(rates Q), at least E - C Q - C tau^-2, is at least E (1 - less) with less = "
        "4 C E/rates + C/sqrt(tau)",
    )
    less = 1 / (1 + MORE)
    ensure_nonnegative(
        (1 - less) ** 2 - (1 - 2 * less),
        "so that -E' = Q is at least E^2/rates times 1 - 2 less there, where less tends to 0",
        normal=sp.factor,
    )
    _ensure_reciprocal_grows(2 * RATES, TAU)  # and so less is at most k/(4 sqrt(tau))
    k = sp.Symbol("k", positive=True)
    ensure_zero(
        sp.diff((TAU - k * sp.sqrt(TAU)) / RATES, TAU) - (1 - k / (2 * sp.sqrt(TAU))) / RATES,
        "1/E grows by (tau - k sqrt(tau))/rates at least, with less at most k/(4 sqrt(tau)),",
    )
    late = (1 + MORE) / RATES  # sqrt(tau)
    ensure_nonnegative(
        late**3 - late**2 / RATES,
        "from the last time at which it is tau^(3/2) at least, and so tau/rates in the end; where "
        "there is no such time a constant is lost, which a larger k makes up for",
        normal=sp.factor,
    )
    share = 1 / (2 + MORE)  # k/sqrt(tau)
    ensure_nonnegative(
        1 + 2 * share - 1 / (1 - share),
        "so that E is at most rates/(tau - k sqrt(tau)) <= rates/tau + 2 k rates tau^(-3/2)",
        normal=sp.factor,
    )


def ensure_logarithms() -> None:
    """If t is left v_t is at least ln tau - C, and at most ln tau + C where its rate is above 0."""
    k, rate, others = sp.symbols("k rate others", positive=True)
    log = sp.Symbol("ln tau", real=True)
    ensure_slow()
    ensure_mean(
        rate,
        log - C + MORE,
        "J = theta^T M v is, up to parts that converge, the sum of rate_t v_t over tokens that are "
        "left, and so at least rates (ln tau - C)",
        least=log - C,
    )
    ensure_zero(
        sp.diff(RATES * sp.log(TAU) - 4 * k * RATES / sp.sqrt(TAU), TAU)
        - (RATES / TAU + 2 * k * RATES / TAU ** sp.Rational(3, 2)),
        "its derivative D is at most E + C (Q + tau^-2), where E is at most rates/tau + 2 k rates "
        "tau^(-3/2) and the integrals of Q and tau^-2 are finite: J is at most rates ln tau + C",
    )
    summed = (rate + others) * log + C - MORE
    ensure_nonnegative(
        log + C * (1 + others) / rate - (summed - (others * (log - C) + LESS)) / rate,
        "so v_t is at most ln tau + C (1 + others)/rate_t where rate_t is above 0, others the "
        "rates of the others",
        normal=expanded,
    )


def ensure_next_energy() -> None:
    """The integral of Q(dV/dr) over r = ln tau is finite, with V = v - r theta."""
    moved, theta = vector("v'"), vector("theta")
    known = {inner("v'", "v'"): Q, inner("theta", "v'"): D, inner("theta", "theta"): RATES}
    energy = sp.Function("E")
    along = TAU * moved - theta
    found = (along @ along).subs(known)
    y_slope = (
        (TAU * sp.diff(TAU * energy(TAU), TAU))
        .subs(sp.diff(energy(TAU), TAU), -Q)
        .subs(energy(TAU), E)
    )
    ensure_equal(
        found,
        -y_slope + (TAU * E - TAU * D) - (TAU * D - RATES),
        "Q(dV/dr), in the inner product x^T M y, is tau^2 Q - 2 tau D + rates, and so "
        "-d(tau E)/dr + tau (E - D) - (tau D - rates)",
    )
    J = sp.Function("J")
    slopes = {sp.diff(energy(TAU), TAU): -Q, sp.diff(J(TAU), TAU): D}
    ensure_equal(
        TAU * sp.diff(J(TAU) - RATES * sp.log(TAU), TAU).subs(slopes),
        TAU * D - RATES,
        "tau D - rates is the slope along r of J - rates r = theta^T M V, which is bounded; so is "
        "tau E, and the integral of tau |E - D| over r is that of |E - D| over tau, which is "
        "finite: so is that of Q(dV/dr)",
    )
    summed = TAU * energy(TAU) + J(TAU) - RATES * sp.log(TAU)
    ensure_equal(
        (TAU * sp.diff(summed, TAU)).subs(slopes).subs(energy(TAU), E),
        TAU * (E - D) - found,
        "tau E + J - rates r has the slope tau (E - D) - Q(dV/dr) along r, both integrable: the "
        "next E, the integral of Q(dV/dr) from r on, is it and the integral of tau (E - D) from r "
        "on, up to a constant",
    )


def ensure_signs() -> None:
    """No token that scores more than b has a rate above 0, and tau f_t tends to rate_t."""
    rate, f, off = sp.symbols("rate tau*f_t 1+off_t", positive=True)
    slope = sp.Symbol("dV/dr", real=True)
    _ensure_norms()
    ensure_nonnegative(
        (-f * off - rate) ** 2 - rate**2,
        "(M dV/dr)_t = sign_t tau f_t (1 + off_t) - rate_t is below -rate_t at all times where the "
        "sign is -1, while its square, at most C Q(dV/dr), has a finite integral over r",
        normal=expanded,
    )
    time = sp.Symbol("r", real=True)
    V = sp.Function("V")(time)
    w, apart = sp.symbols("w apart", real=True)
    ensure_equal(
        sp.diff((w * sp.exp(-V) - rate) ** 2, time),
        -2 * (w * sp.exp(-V) - rate) * w * sp.exp(-V) * sp.diff(V, time),
        "(tau f_t - rate_t)^2, and (tau f_t)^2 where the rate is 0, has the derivative -2 (tau "
        "f_t - rate_t) tau f_t dV_t/dr, as tau f_t = w_t exp(-V_t)",
    )
    ensure_nonnegative(
        f * (apart**2 + slope**2) - 2 * apart * f * slope,
        "which is at most tau f_t ((tau f_t - rate_t)^2 + (dV_t/dr)^2) in size: with its square "
        "and its slope integrable, and tau f_t off_t as well, tau f_t - rate_t has the limit 0",
        normal=sp.factor,
    )


def ensure_next_round() -> None:
    """Without the tokens of rates above 0, and with V and r, all is as it was.

    In what these steps say Q is Q(dV/dr), and x_t is V_t - ln(w_t/rate_t) where rate_t is above 0.
    """
    rate, w, most, r = sp.symbols("rate w most r", positive=True)
    x = sp.Symbol("x", real=True)
    V = sp.log(w / rate) + x
    ensure_equal(
        w * sp.exp(-V) + rate * V - rate * (1 + sp.log(w / rate)),
        rate * (sp.exp(-x) - 1 + x),
        "tau f_t + rate_t V_t is a constant and rate_t (exp(-x_t) - 1 + x_t) where the rate is "
        "above 0; the other sign_t tau f_t (1 + off_t) are (M dV/dr)_t and add up to the next D",
        normal=sp.simplify,
    )
    bent = "exp(most) x^2/2 - (exp(-x) - 1 + x) is convex for |x| <= most"
    above = sp.exp(most) * x**2 / 2 - (sp.exp(-x) - 1 + x)
    ensure_nonnegative(
        sp.diff(above, x, 2).subs(sp.exp(-x), sp.exp(most) / (1 + MORE)), bent, normal=sp.factor
    )
    ensure_zero([above.subs(x, 0), sp.diff(above, x).subs(x, 0)], "it and its slope are 0 at 0")
    cite(TANGENT, met={SECOND_DERIVATIVE: bent})
    cite(EXPONENTIAL)  # exp(-x) <= 1/(1 + x) where x > 0, and exp(-x) - 1 >= -x
    positive = most / (1 + MORE)
    ensure_nonnegative(
        (1 - 1 / (1 + positive)) - positive / (1 + most),
        "so that 0 <= exp(-x_t) - 1 + x_t <= exp(most) x_t^2/2, where |x_t|, which tends to 0, is "
        "at most (1 + most) |exp(-x_t) - 1|, and this is |(M dV/dr)_t| over the rate, up to a "
        "multiple of exp(-r): all is at most C (Q + exp(-r))",
        normal=sp.factor,
    )
    moved, theta = vector("dV/dr"), vector("theta")
    ensure_equal(
        2 * (moved @ moved) + 2 * (theta @ theta) - (moved + theta) @ (moved + theta),
        (moved - theta) @ (moved - theta),
        "the Q of before is Q(dV/dr + theta)/tau^2, at most 2 (Q + rates)/tau^2",
    )
    ensure_nonnegative(
        C * (2 * (Q + RATES) + 1) / TAU - TAU * C * (2 * (Q + RATES) / (1 + MORE) + 1) / TAU**2,
        "so that tau |E - D| of before is at most C (Q + 1)/tau = C (Q + 1) exp(-r), and so are "
        "its integral over r, as that of Q is finite, and the distance of v_t to its limit if t "
        "was not left, at most C (sqrt(Q) + 1)/tau",
        normal=sp.factor,
    )
    half = r / 2
    ensure_positive(
        4 / r**2 - 1 / (1 + half + MORE) ** 2,
        "and exp(-r) is at most 4/r^2, as exp(r/2) is at least 1 + r/2",
        normal=sp.factor,
    )
    c = sp.Symbol("c", positive=True)
    ensure_positive(
        (c - 3 * c / (4 + MORE)) / C,
        "so that the next E - D is a constant up to C (Q + exp(-r)), and the constant is 0: were "
        "it c in size, Q would in the end be at least (c - |E| - |D| - C exp(-r))/C, as both and "
        "exp(-r) tend to 0, and so above a constant, while its integral is finite",
        normal=sp.factor,
    )


def prove() -> str:
    """From every start descent converges in direction to W^mm.

    Raises:
        ProofError: a step fails.
    """
    ensure_independence()
    ensure_limit(DIFFERENCES, SHORT_STEP)
    ensure_weights()
    ensure_flow()
    ensure_energy()
    ensure_decay()
    ensure_logarithms()
    ensure_next_energy()
    ensure_signs()
    ensure_next_round()
    ensure_gap_of_rest()  # as all s_b tend to 1 the risk gap tends to 0, into the basin
    ensure_from_basin(SHORT_STEP)
    return "for every smooth loss with l' < 0, any n, T, d and start, and orthogonal queries"

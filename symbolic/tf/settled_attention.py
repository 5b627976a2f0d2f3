"""Where attention settles at one token of an input, all of whose tokens support: it is the best.

An input by itself, as inputs of orthogonal queries move no logit of each other. Let u tend to the
score of a token b and s_b to 1; t runs over the other tokens, T of them. A_t = (x_b - x_t) z^T has
margin m_t in W; sign_t is 1 where t scores less than b, -1 where it scores more. A step e adds
e sign_t c_t to the coefficient of A_t, c_t = |l'(u)| s_t |u - gamma_t|/n. L is the inverse of the
Gram matrix of the A_t, Q(x) = x^T L x, and w_t = |l'(gamma_b)| |gamma_b - gamma_t|/n. C is a
constant, another one in each place.

1. L has no entry above 0 off its diagonal, and no negative sum of a row: these are multipliers of
   Local-SVMs (`ensure_weights`).
2. Let time be e times the step, and margins move evenly within a step. Then (L m')_t = sign_t f_t
   (1 + off_t) with f_t = w_t exp(-m_t) and |off_t| at most C times the sum of the f_t
   (`ensure_flow`).
3. E, the integral of Q(m') from a time on, is finite, and D, the sum of the (L m')_t, up to
   C (Q(m') + time^-2) (`ensure_energy`).

What comes now is done again and again, for fewer tokens each time. Let s be the time, v_t the
margins up to multiples of times, f_t = w_t exp(-v_t), and some tokens be left, at first all with
v = m, such that with Q = Q(v'), E its integral from s on and D the sum of (L v')_t over those left

    (L v')_t = sign_t f_t (1 + off_t), |off_t| <= C/s, if t is left;  |E - D| <= C (Q + s^-2);
    v_t has a limit, which it is within C (sqrt(Q) + 1/s) of, if t is not left.

Let theta be 1 at tokens that are left and 0 at others, rate = L theta, and rates be its sum over
those left, which is theta^T L theta: above 0, and no rate of a token that is left is negative.

4. E is at most rates/s + C s^(-3/2): E' = -Q, and D^2 <= rates Q (`ensure_decay`).
5. If t is left v_t is at least ln s - C, and at most ln s + C where its rate is above 0
   (`ensure_logarithms`).
6. Let r = ln s and V = v - r theta. The integral of Q(dV/dr) over r is finite
   (`ensure_next_energy`).
7. So (L dV/dr)_t = sign_t s f_t (1 + off_t) - rate_t is a square-integrable function of r. A token
   that scores more than b, with a rate above 0, would keep it below -rate_t: there is none. And
   s f_t tends to rate_t (`ensure_signs`).
8. Tokens whose rate is above 0 are left no more, and V in place of v, r in place of s, is as above
   (`ensure_next_level`).

As some rate is above 0 no token is left in the end, and none of them scored more than b. No better
token has to have a positive multiplier in the Local-SVM of b: if it has none the rates of those
before it have. Numbers of the order of r, of ln r, and so on, are its margin's lead over theirs, so
that runs may linger with b for all steps that can be taken.
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
from symbolic.basins import OF_SCORES, ensure_from_basin
from symbolic.continuity import cite_extreme_value
from symbolic.gains import ensure_gain, ensure_gain_of_support
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, total
from symbolic.suppositions import (
    ALL_SUPPORT,
    BENT_LOSS,
    EACH_SOLVED,
    LOSS,
    ORTHOGONAL_QUERIES,
    SHORT_STEP,
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
C, E, Q, S, RATES = sp.symbols("C E Q s rates", positive=True)
D = sp.Symbol("D", real=True)
DIFFERENCES = (
    "the squared norm of sum_t c_t A_t, over all inputs, is the sum of those of the inputs, each "
    "above 0 unless its c_t are 0: the A_t of all inputs are independent"
)


def ensure_independence() -> None:
    """The A_t of all inputs are independent."""
    c, picked = entry("c"), entry("picked")
    level, c_b = sp.symbols("level c_b", real=True)
    suppose(ALL_SUPPORT, EACH_SOLVED, ORTHOGONAL_QUERIES)
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
    """L_ts = -lambda_t of the Local-SVM of s, and the row sums of L are the lambda_t of that of b.

    A mean over the tokens that are left keeps the signs: their row sums in L are not negative.
    """
    x_b, x_s, x_t, W = (vector(name) for name in ("x_b", "x_s", "x_t", "W"))
    level, weight = sp.Symbol("level", real=True), sp.Symbol("lambda_t", nonnegative=True)
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: DIFFERENCES})
    one, other = vector("A_t"), vector("A_r")
    ensure_equal(
        one @ (weight * one + level * other),
        weight * inner("A_t", "A_t") + level * inner("A_r", "A_t"),
        "margins are the Gram matrix times the coefficients of W, whose coefficients are L times "
        "its margins",
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
        "so that L_ts = -lambda_t, of that choice, is at most 0 for t other than s; and for b "
        "itself, where all <A_t, W> are 1, the sum of row t is lambda_t",
    )
    taken, of_row = entry("taken"), entry("L_t")
    ensure_nonnegative_sum(
        0 - total(of_row * taken),
        -of_row * taken,
        "where tokens s other than t are taken out of a row sum that is 0, what is left is the sum "
        "of the -L_ts: no rate of a token that is left is negative",
        L_t=-weight,
        taken=1 - 1 / (1 + MORE),
    )


def ensure_flow() -> None:
    """(L m')_t = sign_t f_t (1 + off_t), with |off_t| at most C times the sum of the f_t."""
    rest, least = sp.symbols("rest least", positive=True)
    bend, away = sp.symbols("max|l''|/|l'(gamma_b)| range/least", positive=True)
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
        "times s_b, at most 1 + C (1 - s_b)",
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
        "within a step margins move by at most y = C sum_t f_t, and f_t changes by a factor of at "
        "most exp(y) <= 1/(1 - y) <= 1 + 2 y for y <= 1/2, and as little downwards",
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
    pushed = sign * f * (1 + off)  # (L m')_t
    ensure_equal(
        total(-sign * f * moved),
        -total(pushed * moved) + total(sign * f * off * moved),
        "which is -Q(m') + sum_t sign_t f_t off_t m_t', as sum_t m_t' (L m')_t is Q(m')",
    )
    _ensure_norms()
    a, b = sp.symbols("a b", real=True)
    ensure_nonnegative(
        (a**2 + b**2) / 2 - a * b,
        "f_t |m_t'| is at most (f_t^2 + m_t'^2)/2, and sum_t f_t^2, at most 4 ||L m'||^2 where all "
        "|off_t| are at most 1/2, at most C Q: so -G' is Q times a factor within C sum_t f_t of 1",
        normal=sp.factor,
    )
    ensure_mean(
        Q,
        sp.Rational(1, 2) + MORE,
        "G, which tends to 0 with the f_t, is the integral of -G': in the end at least E/2",
        least=sp.Rational(1, 2),
    )
    cite(CAUCHY_SCHWARZ)  # of x^T L y: D = 1^T L m' is at most sqrt(rates Q)
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
    """Q(x) is ||x||^2, and ||L x||^2 is Q(x), up to constant factors."""
    symmetric = "<A_s, A_t> = <A_t, A_s>: the Gram matrix of the A_t is symmetric, and so is L"
    ensure_equal(vector("A_s") @ vector("A_t"), vector("A_t") @ vector("A_s"), symmetric)
    cite(EIGENVECTORS, met={SYMMETRIC: symmetric})
    least, most = sp.symbols("least most", positive=True)
    eigenvalue, along, x = entry("eigenvalue"), entry("x"), sp.Symbol("x", real=True)
    ensure_nonnegative_sum(
        total(eigenvalue * along**2) - least * total(along**2),
        along**2 * (eigenvalue - least),
        "Q(x) is at least the least eigenvalue of L times ||x||^2, by coordinates along "
        "eigenvectors; it is above 0, as the A_t are independent, and so is theta^T L theta",
        eigenvalue=least + MORE,
        x=x,
    )
    ensure_nonnegative_sum(
        most * total(eigenvalue * along**2) - total(eigenvalue**2 * along**2),
        eigenvalue * along**2 * (most - eigenvalue),
        "and at least ||L x||^2 over the largest one",
        eigenvalue=most / (1 + MORE),
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
    """Where E is at most C/s, f_t is at most C/s if t is left, and v_t at least ln s - C."""
    K, w = sp.symbols("K w", positive=True)
    cite(CAUCHY_SCHWARZ)  # of functions on [s, 2 s]
    ensure_nonnegative(
        K**2 - S * (K**2 / (S * (1 + MORE))),
        "the integral of sqrt(Q) from s to 2 s, at most the root of s E, is at most a constant K, "
        "and up to a factor so are those of all |v_t'| and, if t is left, of f_t",
        normal=sp.factor,
    )
    ensure_nonnegative(
        K * sp.exp(K) / S - K / (1 + MORE) / (S * sp.exp(-K)),
        "as v_t moves by at most K in that time, f_t is at least exp(-K) times what it is at s, "
        "which is at most K exp(K)/s",
        normal=sp.factor,
    )
    ensure_equal(
        w * sp.exp(-(sp.log(S) - sp.log(K * sp.exp(K) / w))),
        K * sp.exp(K) / S,
        "so that v_t is at least ln s - ln(K exp(K)/w_t)",
        normal=sp.simplify,
    )


def ensure_decay() -> None:
    """E is at most rates/s + C s^(-3/2)."""
    root, side = sp.symbols("sqrt(Q) sqrt(rates)", positive=True)
    cite(CAUCHY_SCHWARZ)  # of x^T L y: D = theta^T L v' is at most sqrt(rates Q)
    ensure_nonnegative(
        (root**2 - E**2 / side**2).subs(root, 2 * E / side + MORE),
        "Q is at least E^2/rates where sqrt(Q) is at least 2 E/sqrt(rates)",
        normal=expanded,
    )
    ensure_nonnegative(
        (4 * C * E**2 / side**2 - C * root**2).subs(root, 2 * E / (side * (1 + MORE))),
        "elsewhere C Q is at most 4 C E^2/rates",
        normal=sp.factor,
    )
    three_halves = sp.Rational(3, 2)
    ensure_nonnegative(
        (E / sp.sqrt(S) - S**-2).subs(E, S**-three_halves + MORE),
        "and s^-2 at most E/sqrt(s), as long as E is at least s^(-3/2)",
        normal=expanded,
    )
    ensure_equal(
        E - 4 * C * E**2 / RATES - C * E / sp.sqrt(S),
        E * (1 - (4 * C * E / RATES + C / sp.sqrt(S))),
        "so that sqrt(rates Q), at least E - C Q - C s^-2, is at least E (1 - less) with less = "
        "4 C E/rates + C/sqrt(s)",
    )
    less = 1 / (1 + MORE)
    ensure_nonnegative(
        (1 - less) ** 2 - (1 - 2 * less),
        "so that -E' = Q is at least E^2/rates times 1 - 2 less there, where less tends to 0",
        normal=sp.factor,
    )
    _ensure_reciprocal_grows(2 * RATES, S)  # and so less is at most k/(4 sqrt(s))
    k = sp.Symbol("k", positive=True)
    ensure_zero(
        sp.diff((S - k * sp.sqrt(S)) / RATES, S) - (1 - k / (2 * sp.sqrt(S))) / RATES,
        "1/E grows by (s - k sqrt(s))/rates at least, with less at most k/(4 sqrt(s)),",
    )
    late = (1 + MORE) / RATES  # sqrt(s)
    ensure_nonnegative(
        late**3 - late**2 / RATES,
        "from the last time at which it is s^(3/2) at least, which is at least s/rates in the end",
        normal=sp.factor,
    )
    share = 1 / (2 + MORE)  # k/sqrt(s)
    ensure_nonnegative(
        1 + 2 * share - 1 / (1 - share),
        "so that E is at most rates/(s - k sqrt(s)) <= rates/s + 2 k rates s^(-3/2)",
        normal=sp.factor,
    )


def ensure_logarithms() -> None:
    """If t is left v_t is at least ln s - C, and at most ln s + C where its rate is above 0."""
    k, rate, others = sp.symbols("k rate others", positive=True)
    log = sp.Symbol("ln s", real=True)
    ensure_slow()
    ensure_mean(
        rate,
        log - C + MORE,
        "J = theta^T L v is, up to parts that converge, the sum of rate_t v_t over tokens that are "
        "left, and so at least rates (ln s - C)",
        least=log - C,
    )
    ensure_zero(
        sp.diff(RATES * sp.log(S) - 4 * k * RATES / sp.sqrt(S), S)
        - (RATES / S + 2 * k * RATES / S ** sp.Rational(3, 2)),
        "its derivative D is at most E + C (Q + s^-2), where E is at most rates/s + 2 k rates "
        "s^(-3/2) and the integrals of Q and s^-2 are finite: J is at most rates ln s + C",
    )
    summed = (rate + others) * log + C - MORE
    ensure_nonnegative(
        log + C * (1 + others) / rate - (summed - (others * (log - C) + LESS)) / rate,
        "so v_t is at most ln s + C (1 + others)/rate_t where rate_t is above 0, others the rates "
        "of the others",
        normal=expanded,
    )


def ensure_next_energy() -> None:
    """The integral of Q(dV/dr) over r = ln s is finite, with V = v - r theta."""
    moved, theta = vector("v'"), vector("theta")
    known = {inner("v'", "v'"): Q, inner("theta", "v'"): D, inner("theta", "theta"): RATES}
    energy = sp.Function("E")
    ensure_equal(sp.diff(sp.log(S), S), 1 / S, "a function of s has s times its slope along r")
    along = S * moved - theta
    found = (along @ along).subs(known)
    y_slope = (S * sp.diff(S * energy(S), S)).subs(sp.diff(energy(S), S), -Q).subs(energy(S), E)
    ensure_equal(
        found,
        -y_slope + (S * E - S * D) - (S * D - RATES),
        "Q(dV/dr), in the inner product x^T L y, is s^2 Q - 2 s D + rates, and so -d(s E)/dr + "
        "s (E - D) - (s D - rates)",
    )
    J = sp.Function("J")
    ensure_equal(
        S * sp.diff(J(S) - RATES * sp.log(S), S).subs(sp.diff(J(S), S), D),
        S * D - RATES,
        "s D - rates is the slope along r of J - rates r, which is bounded; so is s E, and the "
        "integral of s |E - D| over r is that of |E - D| over s, which is finite: so is that of "
        "Q(dV/dr)",
    )


def ensure_signs() -> None:
    """No token that scores more than b has a rate above 0, and s f_t tends to rate_t."""
    rate, f, off = sp.symbols("rate s*f_t 1+off_t", positive=True)
    slope = sp.Symbol("dV/dr", real=True)
    _ensure_norms()
    ensure_nonnegative(
        (-f * off - rate) ** 2 - rate**2,
        "(L dV/dr)_t = sign_t s f_t (1 + off_t) - rate_t is below -rate_t at all times where the "
        "sign is -1, while its square, at most C Q(dV/dr), has a finite integral over r",
        normal=expanded,
    )
    time = sp.Symbol("r", real=True)
    V = sp.Function("V")(time)
    w, apart = sp.symbols("w apart", real=True)
    ensure_equal(
        sp.diff((w * sp.exp(-V) - rate) ** 2, time),
        -2 * (w * sp.exp(-V) - rate) * w * sp.exp(-V) * sp.diff(V, time),
        "(s f_t - rate_t)^2, and (s f_t)^2 where the rate is 0, has the derivative -2 (s f_t - "
        "rate_t) s f_t dV_t/dr, as s f_t = w_t exp(-V_t)",
    )
    ensure_nonnegative(
        f * (apart**2 + slope**2) - 2 * apart * f * slope,
        "which is at most s f_t ((s f_t - rate_t)^2 + (dV_t/dr)^2) in size: with its square and "
        "its slope integrable, and s f_t off_t as well, s f_t - rate_t has the limit 0",
        normal=sp.factor,
    )


def ensure_next_level() -> None:
    """Without the tokens of rates above 0, and with V and r, all is as it was.

    Let E be the integral of Q(dV/dr) from r on, x_t = V_t - ln(w_t/rate_t) where the rate is above
    0, and Q that of dV/dr. By `ensure_next_energy` it is s E + theta^T L V + the integral of
    s (E - D), with E and D of before, up to a constant.
    """
    rate, w, most, r = sp.symbols("rate w most r", positive=True)
    x = sp.Symbol("x", real=True)
    V = sp.log(w / rate) + x
    ensure_equal(
        w * sp.exp(-V) + rate * V - rate * (1 + sp.log(w / rate)),
        rate * (sp.exp(-x) - 1 + x),
        "s f_t + rate_t V_t is a constant and rate_t (exp(-x_t) - 1 + x_t) where the rate is above "
        "0; the other sign_t s f_t (1 + off_t) are (L dV/dr)_t and add up to the next D",
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
        "at most (1 + most) |exp(-x_t) - 1|, and this is |(L dV/dr)_t| over the rate, up to a "
        "multiple of exp(-r): all is at most C (Q + exp(-r))",
        normal=sp.factor,
    )
    moved, theta = vector("dV/dr"), vector("theta")
    ensure_equal(
        2 * (moved @ moved) + 2 * (theta @ theta) - (moved + theta) @ (moved + theta),
        (moved - theta) @ (moved - theta),
        "the Q of before is Q(dV/dr + theta)/s^2, at most 2 (Q + rates)/s^2",
    )
    ensure_nonnegative(
        C * (2 * (Q + RATES) + 1) / S - S * C * (2 * (Q + RATES) / (1 + MORE) + 1) / S**2,
        "so that s |E - D| of before is at most C (Q + 1)/s = C (Q + 1) exp(-r), and so are its "
        "integral over r, as that of Q is finite, and the distance of v_t to its limit if t was "
        "not left, at most C (sqrt(Q) + 1)/s",
        normal=sp.factor,
    )
    half = r / 2
    ensure_positive(
        4 / r**2 - 1 / (1 + half + MORE) ** 2,
        "and exp(-r) is at most 4/r^2, as exp(r/2) is at least 1 + r/2",
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
    ensure_next_level()
    ensure_from_basin(SHORT_STEP)  # all u tend to the best scores, and the risk gap to 0
    return "for every smooth loss with l' < 0 and any n, T, d and start"

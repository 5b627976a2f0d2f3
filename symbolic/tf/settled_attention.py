"""Attention that settles at one token of each input settles at the best one.

Letters and data are those of `symbolic.tf.margin_flow`, which has steps 1 to 3. Steps 4 to 8 are
here; all are in docs/proofs/settled_attention.md. They are repeated in rounds, with fewer tokens
left in each round. In the first round all tokens are left, tau is the time, and v_t = m_t. In later
rounds tau is the logarithm of the previous tau, and v_t is the margin less a multiple of each
earlier tau. Let f_t = w_t exp(-v_t), and v' the derivative in tau. Q is Q(v'), E its integral from
tau on, and D the sum of the (M v')_t over the tokens that are left. Suppose that

    (M v')_t = sign_t f_t (1 + off_t), |off_t| <= C/tau, if t is left;  |E - D| <= C (Q + tau^-2);
    v_t has a limit, and differs from it by at most C (sqrt(Q) + 1/tau), if t is not left.

Let theta be 1 at tokens that are left and 0 at others, and rate = M theta. Let rates be the sum of
rate over the tokens that are left, which is theta^T M theta and positive. By step 1 no token that
is left has a negative rate.

A round shows that no token that scores more than b has a positive rate, and drops the tokens of
positive rate. So in the end no token is left, and none scored more than b.
"""

from collections.abc import Callable

import sympy as sp

from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.primitives.steps import SHORT
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose
from symbolic.basins import ensure_from_basin, ensure_gap_of_rest
from symbolic.inner_products import inner, vector
from symbolic.sums import ensure_mean
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL, SECOND_DERIVATIVE, TANGENT
from symbolic.tf.global_conjecture import ensure_limit
from symbolic.tf.margin_flow import (
    DIFFERENCES,
    RATES,
    TAU,
    C,
    E,
    Q,
    ensure_energy,
    ensure_flow,
    ensure_independence,
    ensure_norms,
    ensure_reciprocal_grows,
    ensure_slow,
    ensure_weights,
    ensure_weights_of_few,
)

MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""
D = sp.Symbol("D", real=True)


def ensure_decay() -> None:
    """Prove step 4: E is at most rates/tau + C tau^(-3/2)."""
    root, side = sp.symbols("sqrt(Q) sqrt(rates)", positive=True)
    cite(CAUCHY_SCHWARZ)  # for the product x^T M y: D = theta^T M v' is at most sqrt(rates Q)
    ensure_nonnegative(
        (root**2 - E**2 / side**2).subs(root, 2 * E / side + MORE),
        "Q, and so E, is above 0, as some f_t is. It is at least E^2/rates where sqrt(Q) is at "
        "least 2 E/sqrt(rates)",
        normal=expanded,
    )
    ensure_nonnegative(
        (4 * C * E**2 / side**2 - C * root**2).subs(root, 2 * E / (side * (1 + MORE))),
        "where sqrt(Q) is at most 2 E/sqrt(rates), C Q is at most 4 C E^2/rates",
        normal=factored,
    )
    three_halves = sp.Rational(3, 2)
    ensure_nonnegative(
        (E / sp.sqrt(TAU) - TAU**-2).subs(E, TAU**-three_halves + MORE),
        "tau^-2 is at most E/sqrt(tau), as long as E is at least tau^(-3/2)",
        normal=expanded,
    )
    ensure_equal(
        E - 4 * C * E**2 / RATES - C * E / sp.sqrt(TAU),
        E * (1 - (4 * C * E / RATES + C / sp.sqrt(TAU))),
        "sqrt(rates Q), at least E - C Q - C tau^-2, is at least E (1 - less) with less = 4 "
        "C E/rates + C/sqrt(tau)",
    )
    less = 1 / (1 + MORE)
    ensure_nonnegative(
        (1 - less) ** 2 - (1 - 2 * less),
        "-E' = Q is at least E^2/rates times 1 - 2 less there, where less tends to 0",
        normal=factored,
    )
    ensure_reciprocal_grows(2 * RATES, TAU)  # and so less is at most k/(4 sqrt(tau))
    k = sp.Symbol("k", positive=True)
    ensure_zero(
        sp.diff((TAU - k * sp.sqrt(TAU)) / RATES, TAU) - (1 - k / (2 * sp.sqrt(TAU))) / RATES,
        "(tau - k sqrt(tau))/rates, by which 1/E grows at least, has the derivative (1 - "
        "k/(2 sqrt(tau)))/rates, with less at most k/(4 sqrt(tau))",
    )
    late = (1 + MORE) / RATES  # sqrt(tau)
    ensure_nonnegative(
        late**3 - late**2 / RATES,
        "1/E grows so from the last time at which it is at least tau^(3/2), and so at least "
        "tau/rates in the end; where there is no such time a constant is lost, which a "
        "larger k makes up for",
        normal=factored,
    )
    share = 1 / (2 + MORE)  # k/sqrt(tau)
    ensure_nonnegative(
        1 + 2 * share - 1 / (1 - share),
        "E is at most rates/(tau - k sqrt(tau)) <= rates/tau + 2 k rates tau^(-3/2)",
        normal=factored,
    )


def ensure_logarithms() -> None:
    """Prove step 5: v_t >= ln tau - C if t is left, v_t <= ln tau + C if its rate is positive."""
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
        "the derivative D of J is at most E + C (Q + tau^-2), where E is at most rates/tau + "
        "2 k rates tau^(-3/2) and the integrals of Q and tau^-2 are finite: J is at most "
        "rates ln tau + C",
    )
    summed = (rate + others) * log + C - MORE
    ensure_nonnegative(
        log + C * (1 + others) / rate - (summed - (others * (log - C) + LESS)) / rate,
        "so v_t is at most ln tau + C (1 + others)/rate_t where rate_t is above 0, others the "
        "rates of the others",
        normal=expanded,
    )


def ensure_next_energy() -> None:
    """Prove step 6: the integral of Q(dV/dr) over r = ln tau is finite, with V = v - r theta."""
    moved, theta = vector("v'"), vector("theta")
    known = {inner("v'", "v'"): Q, inner("theta", "v'"): D, inner("theta", "theta"): RATES}
    energy = sp.Function("E")
    along = TAU * moved - theta
    square = (along @ along).subs(known)
    y_slope = (
        (TAU * sp.diff(TAU * energy(TAU), TAU))
        .subs(sp.diff(energy(TAU), TAU), -Q)
        .subs(energy(TAU), E)
    )
    ensure_equal(
        square,
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
        TAU * (E - D) - square,
        "tau E + J - rates r has the slope tau (E - D) - Q(dV/dr) along r, both integrable: the "
        "next E, the integral of Q(dV/dr) from r on, is it and the integral of tau (E - D) from r "
        "on, up to a constant",
    )


def ensure_signs() -> None:
    """Prove step 7: no token that scores more than b has a positive rate, and tau f_t -> rate_t."""
    rate, f, off = sp.symbols("rate tau*f_t 1+off_t", positive=True)
    slope = sp.Symbol("dV/dr", real=True)
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
        "this derivative is at most tau f_t ((tau f_t - rate_t)^2 + (dV_t/dr)^2) in size: "
        "with its square and its slope integrable, and tau f_t off_t as well, tau f_t - "
        "rate_t has the limit 0",
        normal=factored,
    )


def ensure_next_round() -> None:
    """Prove step 8: the suppositions hold for V and r, without the tokens of positive rate.

    Here Q is Q(dV/dr), and x_t is V_t - ln(w_t/rate_t) if rate_t is positive.
    """
    rate, w, most, r = sp.symbols("rate w most r", positive=True)
    x = sp.Symbol("x", real=True)
    V = sp.log(w / rate) + x
    ensure_equal(
        w * sp.exp(-V) + rate * V - rate * (1 + sp.log(w / rate)),
        rate * (sp.exp(-x) - 1 + x),
        "tau f_t + rate_t V_t is a constant and rate_t (exp(-x_t) - 1 + x_t) where the rate is "
        "above 0; the other sign_t tau f_t (1 + off_t) are (M dV/dr)_t and add up to the next D",
        normal=simplified,
    )
    bent = "exp(most) x^2/2 - (exp(-x) - 1 + x) is convex for |x| <= most"
    above = sp.exp(most) * x**2 / 2 - (sp.exp(-x) - 1 + x)
    ensure_nonnegative(
        sp.diff(above, x, 2).subs(sp.exp(-x), sp.exp(most) / (1 + MORE)), bent, normal=factored
    )
    ensure_zero(
        [above.subs(x, 0), sp.diff(above, x).subs(x, 0)],
        "exp(most) x^2/2 - (exp(-x) - 1 + x) and its slope are 0 at x = 0",
    )
    cite(TANGENT, met={SECOND_DERIVATIVE: bent})
    cite(EXPONENTIAL)  # exp(-x) <= 1/(1 + x) where x > 0, and exp(-x) - 1 >= -x
    positive = most / (1 + MORE)
    ensure_nonnegative(
        (1 - 1 / (1 + positive)) - positive / (1 + most),
        "exp(-x_t) - 1 + x_t is between 0 and exp(most) x_t^2/2, where |x_t|, which tends to "
        "0, is at most (1 + most) |exp(-x_t) - 1|, and this is |(M dV/dr)_t| over the rate, "
        "up to a multiple of exp(-r): all is at most C (Q + exp(-r))",
        normal=factored,
    )
    moved, theta = vector("dV/dr"), vector("theta")
    ensure_equal(
        2 * (moved @ moved) + 2 * (theta @ theta) - (moved + theta) @ (moved + theta),
        (moved - theta) @ (moved - theta),
        "the Q of before is Q(dV/dr + theta)/tau^2, at most 2 (Q + rates)/tau^2",
    )
    ensure_nonnegative(
        C * (2 * (Q + RATES) + 1) / TAU - TAU * C * (2 * (Q + RATES) / (1 + MORE) + 1) / TAU**2,
        "tau |E - D| of before is at most C (Q + 1)/tau = C (Q + 1) exp(-r), and so are its "
        "integral over r, as that of Q is finite, and the distance of v_t to its limit if t "
        "was not left, at most C (sqrt(Q) + 1)/tau",
        normal=factored,
    )
    half = r / 2
    ensure_positive(
        4 / r**2 - 1 / (1 + half + MORE) ** 2,
        "exp(-r) is at most 4/r^2, as exp(r/2) is at least 1 + r/2",
        normal=factored,
    )
    c = sp.Symbol("c", positive=True)
    ensure_positive(
        (c - 3 * c / (4 + MORE)) / C,
        "the next E - D is a constant up to C (Q + exp(-r)), and the constant is 0: were it "
        "c in size, Q would in the end be at least (c - |E| - |D| - C exp(-r))/C, as both "
        "and exp(-r) tend to 0, and so above a constant, while its integral is finite",
        normal=factored,
    )


def _ensure_settled(weights: Callable[[], None]) -> None:
    """Prove that descent converges in direction to W^mm from every start.

    Args:
        weights: the function that proves step 1, that no rate of a remaining token is negative.
    """
    suppose(SEVERAL_TOKENS)
    ensure_independence()
    ensure_limit(DIFFERENCES, SHORT)
    weights()
    ensure_norms()
    ensure_flow()
    ensure_energy()
    ensure_decay()
    ensure_logarithms()
    ensure_next_energy()
    ensure_signs()
    ensure_next_round()
    ensure_gap_of_rest()  # as all s_b tend to 1 the risk gap tends to 0, into the basin
    ensure_from_basin(start=None, exists=None)


def prove() -> str:
    """Prove that descent converges in direction to W^mm, for inputs of orthogonal queries.

    Raises:
        ProofError: a step fails.
    """
    _ensure_settled(ensure_weights)
    return "for every smooth loss with l' < 0, any n, T, d and start, and orthogonal queries"


def prove_few() -> str:
    """Prove that descent converges in direction to W^mm, for inputs of few tokens.

    Queries are arbitrary; one input has at most three tokens, and the others have two.

    Raises:
        ProofError: a step fails.
    """
    _ensure_settled(ensure_weights_of_few)
    return "for every smooth loss with l' < 0, any n, d, queries and start"

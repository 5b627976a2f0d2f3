"""The flow of margins if attention settles at one token of each input.

For every choice of tokens the Local-SVM has a solution, and all tokens are support vectors. Suppose
that the output u of each input tends to the score gamma_b of one of its tokens b, and s_b to 1. Let
t run over the other tokens of all inputs. A_t = (x_b - x_t) z^T has the margin m_t in W. sign_t is
1 if t scores less than its b, and -1 if it scores more. A step of size e adds e sign_t c_t to the
coefficient of A_t in W, where c_t = |l'(u)| s_t |u - gamma_t|/n. M is the inverse of the Gram
matrix of the A_t, Q(x) = x^T M x, and w_t = |l'(gamma_b)| |gamma_b - gamma_t|/n. C is a constant
that may differ from place to place.

1. The sum of M_ts over any set of tokens s that contains t is not negative, as it is a sum of
   multipliers of Local-SVMs. If queries are orthogonal, M has no positive entry off its diagonal
   (`ensure_weights`). If at most one input has three tokens, and the others at most two, the sum is
   a mean of rows for choices (`ensure_weights_of_few`). For two inputs of two and of four tokens it
   may be negative, and runs fail (`OUTRUN` of `properties.tf.global_conjecture`).
2. Let the time be e times the number of steps, and let margins move evenly within a step. Then
   (M m')_t = sign_t f_t (1 + off_t), where f_t = w_t exp(-m_t) and |off_t| is at most C times the
   sum of the f_t (`ensure_flow`).
3. E, the integral of Q(m') from a time on, is finite. It differs from D, the sum of the (M m')_t,
   by at most C (Q(m') + time^-2) (`ensure_energy`).

Norms by M are equivalent to Euclidean norms (`ensure_norms`). `symbolic.tf.settled_attention`
continues from here.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_true, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from properties._support.suppositions import BENT_LOSS, SMOOTH_SLOPE
from properties._support.token_choices import EVERYWHERE, SOLVED
from properties.tf.global_conjecture.instances import FEW, ORTHOGONAL
from symbolic.basins import OF_SCORES
from symbolic.continuity import cite_extreme_value
from symbolic.gains import ensure_gain, ensure_gain_of_support
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.quadratic_forms import (
    ALONG,
    EIGENVALUE,
    ensure_form,
    ensure_least_eigenvalue,
    ensure_square_of_sum,
)
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, n, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    DIFFERENTIABLE,
    EXPONENTIAL,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    MEAN_VALUE_ON_A_LINE,
)

C, E, Q, TAU, RATES = sp.symbols("C E Q tau rates", positive=True)
MORE = sp.Symbol("more", nonnegative=True)
"""A number that earlier steps have shown to be nonnegative."""
MULTIPLIERS = sp.symbols("lambda_:4", nonnegative=True)
DIFFERENCES = (
    "as equal c_t that add up to 0 are all 0, sum_t c_t A_t, over all inputs, is 0 for "
    "no other c_t, so that the A_t of all inputs are independent"
)


def ensure_independence() -> None:
    """Prove that the A_t of all inputs are linearly independent."""
    c, picked, also = entry("c"), entry("picked"), entry("also")
    level, other, c_b, c_s = sp.symbols("level other c_b c_s", real=True)
    suppose(EVERYWHERE, SOLVED)
    known = {total(c): 0, total(c * picked): c_b, total(c * also): c_s}
    ensure_zero(
        total(c * (level - (1 - picked)) - c * (other - (1 - picked))).subs(known),
        "let sum_t c_t x_t z^T = 0, over all inputs, and sum_t c_t = 0 in each. Under the W of a "
        "choice the logits of chosen tokens are 1 above all others, so that of two choices that "
        "differ in one input the W differ by a matrix whose product with the part of another is 0",
    )
    ensure_equal(
        total(c * (level - (1 - picked)) - c * (other - (1 - also))).subs(known),
        c_b - c_s,
        "the product of this matrix with the part of its own input is c_b - c_s, b and s "
        "being its choices, so that all c_t of an input are equal",
    )
    ensure_equal(total(c_b), n * c_b, DIFFERENCES)


def _ensure_coefficients_of_choices() -> None:
    """Prove that the W of a choice has the coefficients M x in the A_t, where x are its margins.

    x is 1 at all tokens of an input in which the choice keeps b. In an input in which it takes s
    instead, x is -1 at s and 0 at the other tokens.
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
        "this W is the sum of lambda_t (x_s - x_t) z^T, which is that of lambda_t (A_t - A_s)",
    )
    coefficients = dict((weight * (vector("A_t") - vector("A_s"))).parts)
    ensure_nonnegative(
        [coefficients["A_t"], -coefficients["A_s"]],
        "the coefficient of A_t in this W is lambda_t for t other than s, and that of A_s is "
        "at most 0",
    )


def ensure_weights() -> None:
    """Prove step 1 for orthogonal queries.

    M_ts is -lambda_t for t other than s, with the multipliers lambda of the Local-SVM of s. The sum
    of row t of M is lambda_t of the Local-SVM of b. So the sum of M_ts over a set of tokens s that
    contains t is not negative.
    """
    weight = sp.Symbol("lambda_t", nonnegative=True)
    suppose(ORTHOGONAL)
    ensure_inputs_apart()
    _ensure_coefficients_of_choices()
    removed, of_row = entry("taken"), entry("M_t")
    ensure_nonnegative_sum(
        0 - total(of_row * removed),
        -of_row * removed,
        "M_ts = -lambda_t, of the choice s, is at most 0 for t other than s, and for b itself the "
        "sum of row t is lambda_t. Where tokens s other than t are taken out of a row sum that is "
        "0, what is left is the sum of the -M_ts: no rate of a token that is left is negative",
        M_t=-weight,
        taken=MORE,
    )


def ensure_weights_of_few() -> None:
    """Prove step 1 if one input has at most three tokens and the others two.

    (M x)_t is not negative if the choice of x does not take t, and not positive if it does. Let
    `two` be the sum of M_ts over the remaining tokens s, other than t, of inputs of two tokens. Let
    `gone` be the sum over the tokens that do not remain. A choice is given by the values of x at t,
    at all tokens of the first sum, at all tokens of the second sum, and at p and q. The tokens p
    and q belong to the input of three tokens; one of them may be t.
    """
    suppose(FEW)
    _ensure_coefficients_of_choices()
    own, two, gone, p, q = sp.symbols("M_tt two gone M_tp M_tq", real=True)

    def ensure_sum(
        left: sp.Expr, row: tuple[sp.Expr, ...], choices: dict[sp.Expr, int], what: str
    ) -> None:
        first, second = (3, 4) if len(row) == 5 else (0, 3)  # the places of p and q
        ensure_true(
            all(
                (x[first], x[second]) in {(1, 1), (-1, 0), (0, -1)}
                and all(x[k] in {1, -1} for k in {*range(len(x))} - {first, second})
                for x in choices
            ),
            f"{what}: of each choice x is 1 in an input that keeps b, and else -1 at its token",
            about=tuple(choices),
        )
        of_choices = {x: sum(a * value for a, value in zip(row, x, strict=True)) for x in choices}
        doubled = sum(weight * of_choices[x] for x, weight in choices.items())
        ensure_equal(2 * left, doubled, what)
        signs = [-weight if x[0] == -1 else weight for x, weight in choices.items()]
        ensure_nonnegative(
            sum(sign * multiplier for sign, multiplier in zip(signs, MULTIPLIERS, strict=False)),
            f"{what}: not negative, (M x)_t being a multiplier or at most 0",
        )

    row: tuple[sp.Expr, ...] = (own, two, gone, p, q)
    ensure_sum(
        own + two + p + q,
        row,
        {(1, 1, 1, 1, 1): 1, (1, 1, -1, 1, 1): 1},
        "with t of two tokens and p, q left, or no input of three tokens, twice the sum over what "
        "is left is (M x)_t of the choice b, and of that with the other token of all that is gone",
    )
    ensure_sum(
        own + two + p,
        row,
        {(-1, -1, 1, -1, 0): -1, (-1, -1, -1, -1, 0): -1},
        "with p left and q gone twice this sum is minus (M x)_t of two choices of t and p",
    )
    ensure_sum(
        own + two,
        row,
        {(1, 1, 1, 1, 1): 1, (-1, -1, 1, 1, 1): -1},
        "with p and q gone twice this sum is (M x)_t of the choice b less that of all that is left",
    )
    row = (own, two, gone, q)
    ensure_sum(
        own + two + q,
        row,
        {(1, 1, 1, 1): 1, (1, 1, -1, 1): 1},
        "with t = p of three tokens and q left twice this sum is (M x)_t of the choice b, "
        "and of that with the other token of all that is gone",
    )
    ensure_sum(
        own + two,
        row,
        {(1, 1, 1, 1): 1, (1, 1, -1, 1): 1, (0, 1, 1, -1): 1, (0, -1, -1, -1): 1},
        "with t = p of three tokens and q gone twice this sum is the sum of (M x)_t of these "
        "two choices and of two choices of q",
    )


def ensure_flow() -> None:
    """Prove step 2: (M m')_t = sign_t f_t (1 + off_t), with |off_t| at most C sum_r f_r."""
    rest, least = sp.symbols("rest least", positive=True)
    bend, away = sp.symbols("max|l''|range/|l'(gamma_b)| range/least", positive=True)
    ensure_gain()  # -grad L is the sum of sign_t c_t A_t
    ensure_gain_of_support()  # |u - gamma_b| is at most the range of the scores times 1 - s_b
    cite_extreme_value(BENT_LOSS, f"|l''|, as well as {OF_SCORES}")
    cite_extreme_value(SMOOTH_SLOPE, OF_SCORES)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: BENT_LOSS})
    high = (1 + bend * rest) * (1 + away * rest)
    share = rest / (rest + MORE)  # 1 - s_b, and any number in (0, 1]
    ensure_nonnegative(
        (1 + (bend + away + bend * away) * share - high.subs(rest, share)),
        "c_t exp(m_t) over w_t is |l'(u)|/|l'(gamma_b)| times |u - gamma_t|/|gamma_b - gamma_t| "
        "times s_b, which is at most 1, and so at most 1 + C (1 - s_b)",
        normal=factored,
    )
    x, y, z = (1 / (1 + sp.Symbol(f"far_{i}", nonnegative=True)) for i in range(3))
    ensure_nonnegative(
        (1 - x) * (1 - y) * (1 - z) - (1 - x - y - z),
        "this ratio is at least 1 - C (1 - s_b), as (1 - x) (1 - y) (1 - z) is at least 1 - "
        "x - y - z for numbers in (0, 1]",
        normal=factored,
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
        normal=factored,
    )


def ensure_energy() -> None:
    """Prove step 3: E is finite, and |E - D| is at most C (Q(m') + time^-2)."""
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
        "the derivative of G is -Q(m') + sum_t sign_t f_t off_t m_t', as sum_t m_t' (M m')_t "
        "is Q(m')",
    )
    ensure_square_of_sum("(sum_t f_t)^2 is at most the number of tokens times sum_t f_t^2")
    a, b = sp.symbols("a b", real=True)
    ensure_nonnegative(
        (a**2 + b**2) / 2 - a * b,
        "f_t |m_t'| is at most (f_t^2 + m_t'^2)/2, and sum_t f_t^2, at most 4 ||M m'||^2 where all "
        "|off_t| are at most 1/2, at most C Q: so -G' is Q times a factor within C sum_t f_t of 1",
        normal=factored,
    )
    ensure_mean(
        Q,
        sp.Rational(1, 2) + MORE,
        "G, which tends to 0 with the f_t, is the integral of -G': in the end at least E/2",
        least=sp.Rational(1, 2),
    )
    cite(CAUCHY_SCHWARZ)  # for the product x^T M y: D = 1^T M m' is at most sqrt(rates Q)
    ensure_nonnegative(
        (4 * side * root - 2 * (side * root + C * root**2)).subs(C, side / (root * (1 + MORE))),
        "G is D up to C Q, as sum_t f_t off_t is at most C times sum_t f_t^2: E is at most 4 "
        "sqrt(rates Q) in the end, where C sqrt(Q) is at most sqrt(rates)",
        normal=factored,
    )
    ensure_nonnegative(
        (root**2 - E**2 / (16 * side**2)).subs(root, E / (4 * side) + MORE),
        "Q is at least E^2/(16 rates), where E is at most 4 sqrt(rates Q)",
        normal=expanded,
    )
    ensure_reciprocal_grows(16 * RATES, time)
    ensure_slow()
    ensure_mean(
        Q,
        C / (time * (1 + MORE)),
        "so the f_t are at most C/time from a time on, and |G - E|, at most the integral of C Q "
        "sum_t f_t, is at most C/time times E, which is C/time^2",
        most=C / time,
    )


def ensure_norms() -> None:
    """Prove that Q(x), ||x||^2 and ||M x||^2 are equal up to constant factors."""
    least, most = sp.symbols("least most", positive=True)
    form = total(EIGENVALUE * ALONG**2)
    ensure_least_eigenvalue(
        least,
        "<A_s, A_t> = <A_t, A_s>: the Gram matrix of the A_t is symmetric, and so is M",
        "Q(x) is at least the least eigenvalue of M times ||x||^2, by coordinates along "
        "eigenvectors; it is above 0, as the A_t are independent, and so is theta^T M theta",
    )
    ensure_form(
        most * form - total(EIGENVALUE**2 * ALONG**2),
        EIGENVALUE * (most - EIGENVALUE),
        "Q(x) is at least ||M x||^2 over the largest eigenvalue of M",
        eigenvalue=most / (1 + MORE),
    )
    ensure_form(
        total(EIGENVALUE**2 * ALONG**2) / least - form,
        EIGENVALUE * (EIGENVALUE / least - 1),
        "Q(x) is at most ||M x||^2 over the least eigenvalue of M, so that Q(m') tends to 0 "
        "as the f_t do",
        eigenvalue=least + MORE,
    )


def ensure_reciprocal_grows(factor: sp.Expr, time: sp.Expr) -> None:
    """Prove that E is at most a constant over the time if -E' = Q >= E^2/factor.

    1/E grows at a rate of at least 1/factor.
    """
    level = sp.Function("E")(time)
    slope = sp.diff(1 / level, time).subs(sp.diff(level, time), -(level**2 / factor + MORE))
    ensure_nonnegative(
        slope.subs(level, E) - 1 / factor,
        f"the derivative of 1/E is at least 1/({factor}), so that time times E is bounded",
        normal=cancelled,
    )


def ensure_slow() -> None:
    """Prove that f_t <= C/tau and v_t >= ln tau - C for remaining t, if E is at most C/tau.

    The letters are those of `symbolic.tf.settled_attention`.
    """
    K, w = sp.symbols("K w", positive=True)
    cite(CAUCHY_SCHWARZ)  # for functions on [tau, 2 tau]
    ensure_nonnegative(
        K**2 - TAU * (K**2 / (TAU * (1 + MORE))),
        "the integral of sqrt(Q) from tau to 2 tau, at most the root of tau E, is at most a "
        "constant K, and up to a factor so are those of all |v_t'| and, if t is left, of f_t",
        normal=factored,
    )
    ensure_nonnegative(
        K * sp.exp(K) / TAU - K / (1 + MORE) / (TAU * sp.exp(-K)),
        "as v_t moves by at most K in that time, f_t is at least exp(-K) times what it is at tau, "
        "which is at most K exp(K)/tau",
        normal=factored,
    )
    ensure_equal(
        w * sp.exp(-(sp.log(TAU) - sp.log(K * sp.exp(K) / w))),
        K * sp.exp(K) / TAU,
        "v_t is at least ln tau - ln(K exp(K)/w_t)",
        normal=simplified,
    )

"""The rate at which descent from the basin of half-way scores turns to W^mm, with constants.

The argument is in docs/proofs/direction_rate.md, whose letters are used.
"""

import sympy as sp

from attsvm.primitives.hypotheses import UNIQUE
from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import cancelled, expanded, suppose
from properties.tf.convergence_rates.distance import CONVEX_FALLING, HALF_WAY, SHORT_STEP
from symbolic import textbook
from symbolic.curvature import RISK, ensure_smoothness
from symbolic.gains import ensure_gain, ensure_gain_of_support
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_sum_of_multipliers

b, c, s, m = sp.symbols("b c s m", real=True)
e, n, G, g, low, high, widest, square = sp.symbols("e n G g q M Delta ||V||^2", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Numbers that earlier steps have shown to be at least 0."""


def ensure_half_way() -> None:
    """Prove that u >= (b + c)/2 and s_o >= 1/2 at all steps, so that margins are above 0."""
    suppose(HALF_WAY, UNIQUE)
    ensure_smoothness(SHORT_STEP)
    cite(textbook.DESCENT, met={textbook.LIPSCHITZ: RISK, textbook.SHORT: SHORT_STEP})
    cite(textbook.TANGENT, met={textbook.SECOND_DERIVATIVE: CONVEX_FALLING})
    half = sp.Rational(1, 2)
    ensure_equal(
        b - (s * b + (1 - s) * c) - (1 - s) * (b - c),
        0,
        "b - u is at least (1 - s_o)(b - c), as rivals score at most c",
    )
    lost = half - LESS  # (b - u)/(b - c), at most 1/2
    ensure_nonnegative(
        1 - lost - half,
        "the part l(u) - l(b) of an input is at most n G, below l((b + c)/2) - l(b): so u is above "
        "(b + c)/2, (b - u)/(b - c) is at most 1/2, and s_o is at least 1 less this",
    )
    ensure_nonnegative(
        (half + MORE) - (1 - (half + MORE)),
        "s_o > 1/2 by the same steps, as G is below the bound: a rival has less attention than "
        "s_o, all margins are above 0, and the Att-SVM is feasible",
    )


def ensure_coefficients() -> None:
    """Prove that p_j <= (M Delta/n) exp(-m_j), and that (q g/(4 n)) exp(-m_j) <= p_j."""
    ensure_gain()
    slope, lead = low + MORE, g / 2 + LESS
    ensure_nonnegative(
        slope * (sp.Rational(1, 2) + MORE) * lead / n - low * g / (4 * n),
        "p_j exp(m_j) = |l'(u)| s_o (u - gamma_j)/n is at least q g/(4 n)",
        normal=expanded,
    )
    ensure_nonnegative(
        high * widest / n * (1 + MORE) - high / n * widest,
        "|l'(u)| s_o (u - gamma_j)/n is at most M Delta/n, as s_o <= 1 and u <= b",
        normal=expanded,
    )


def ensure_distance() -> None:
    """Prove D_{k+1} <= D_k + ||step||^2 + 2 e sum_j p_j (m_j - m), and sum it up."""
    r, S, V = vector("r"), vector("S"), vector("V")
    along = inner("S", "V") / inner("V", "V")
    across = S - along * V
    ensure_equal(
        ((r + across) @ (r + across)).subs(inner("r", "V"), 0),
        (r @ r + 2 * (r @ S) + S @ S - along**2 * (V @ V)).subs(inner("r", "V"), 0),
        "with r the part of W across V, the squared distance after a step S is ||r||^2 + 2 <r, S> "
        "+ ||S||^2 less a square",
        normal=cancelled,
    )
    ensure_sum_of_multipliers()
    over = sp.Symbol("mu_j - 1", nonnegative=True)
    ahead = sp.Symbol("tau - m", nonnegative=True)
    low_margin = sp.Symbol("m", nonnegative=True)
    ensure_nonnegative(
        (low_margin + ahead) * (1 + over) - low_margin,
        "tau = <W, V>/||V||^2 is a mean of margins, so at least the least one m >= 0, and so is "
        "tau mu_j: <r, A_j> = m_j - tau mu_j is at most m_j - m",
        normal=expanded,
    )
    cite(textbook.EXPONENTIAL)
    x = sp.Symbol("x", nonnegative=True)
    ensure_equal(
        1 + (x - 1),
        x,
        "exp(x - 1) is at least its tangent x, so (m_j - m) exp(-(m_j - m)) is at most 1/e",
    )
    J = sp.Symbol("J - 1", nonnegative=True)
    excess = J * high * widest / n / sp.E
    least = low * g / (4 * n)
    ensure_equal(
        2 * excess / least,
        8 * J * high * widest / (sp.E * low * g),
        "sum_j p_j (m_j - m) is at most (J - 1)(M Delta/n) exp(-m)/e, as the term of the least "
        "margin is 0, and sum_j p_j at least (q g/(4 n)) exp(-m): twice the quotient is K",
    )
    P = sp.Symbol("P", positive=True)
    ensure_nonnegative(
        e * P * (1 + over) - e * P,
        "<W, V> grows by e sum_j p_j mu_j, at least e sum_j p_j",
        normal=expanded,
    )
    gap, after, gradient = sp.symbols("G_k G_{k+1} ||grad||^2", nonnegative=True)
    ensure_equal(
        sp.solve(sp.Eq(gap - e / 2 * gradient, after), gradient)[0] * e**2,
        2 * e * (gap - after),
        "a squared step is at most 2 e (G_k - G_{k+1}) by the descent lemma; these add up to at "
        "most 2 e G",
    )


def ensure_margins() -> None:
    """Prove that n exp(m_k) is at least (q g/2)(1/G + e k/(8 ||V||^2))."""
    cite(textbook.CAUCHY_SCHWARZ)
    gap, after = sp.symbols("G_k G_{k+1}", positive=True)
    ensure_gain_of_support()
    half = gap / 2
    ensure_nonnegative(
        (sp.Rational(1, 2) + MORE) * gap - half,
        "<-grad L, V> is at least the mean of |l'(u)| s_o (b - u), and |l'(u)| (b - u) at least "
        "l(u) - l(b), as l is convex: so it is at least G_k/2",
        normal=expanded,
    )
    ensure_equal(
        e / 2 * (half / sp.sqrt(square)) ** 2,
        e * gap**2 / (8 * square),
        "||grad L|| is at least G_k/(2 ||V||), so G falls by at least e G_k^2/(8 ||V||^2)",
    )
    fall = sp.Symbol("e/(8 ||V||^2)", positive=True)
    ensure_equal(
        (fall * gap**2 / (gap * after) - fall).subs(gap, after + MORE),
        fall * MORE / after,
        "1/G_{k+1} - 1/G_k = (G_k - G_{k+1})/(G_k G_{k+1}) is at least e/(8 ||V||^2), as G does "
        "not rise",
        normal=cancelled,
    )
    ensure_equal(
        low * sp.Rational(1, 2) * sp.exp(-m) * g / n * n,
        low * g / 2 * sp.exp(-m),
        "n G_k is at least q s_t (b - gamma_t), at least (q g/2) exp(-m) for the least margin m",
    )


def prove() -> str:
    """Prove both bounds of the rate, for every k."""
    ensure_half_way()
    ensure_coefficients()
    ensure_distance()
    ensure_margins()
    return "for any data, start in this basin, step of at most 1/L and number of steps"

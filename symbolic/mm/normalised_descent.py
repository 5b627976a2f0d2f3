"""Normalised descent on p if rivals have equal scores: gain per step, and deviation from p*.

For one input let A_t = k_alpha - k_t. The step is along g = sum_t q_t A_t, where q_t is the softmin
of the margins m_t = <A_t, p>: q_t is exp(-m_t) over the sum of all exp(-m_r). p* is the p-SVM's
solution. Let a = ||p*||, N = ||p||, P = <p, p*>/a, B = max ||A_t||, and J the number of rivals.
"""

import sympy as sp

from attsvm.primitives.hypotheses import ONE_INPUT, ZERO_START
from attsvm.theory import cite, ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from symbolic.inner_products import vector
from symbolic.least_points import ensure_least_point, ensure_scaled_meets
from symbolic.mm import paced_descent
from symbolic.textbook import CAUCHY_SCHWARZ, ENTROPY


def prove_close() -> str:
    """Prove that N - P <= s + B a (a ln J + s/2) (1 + ln k) after k >= 1 steps from zero."""
    paced_descent.prove()
    suppose(ONE_INPUT, ZERO_START)
    m, total, low = sp.symbols("m total low", real=True)
    s, N, a, B, G, k = sp.symbols("s N a B G k", positive=True)  # G is ||g||
    log_J, more = sp.symbols("log_J more", nonnegative=True)
    ensure_equal(
        m, -sp.log(sp.exp(-m - total)) - total, "m_t = -ln q_t - ln sum_r exp(-m_r)", normal=_logs
    )
    cite(ENTROPY)
    ensure_nonnegative(
        low + sp.log(sp.exp(-low) * (1 + more)),
        "sum_t q_t m_t <= ln J + min m, as -ln sum_r exp(-m_r) <= min m, its own term of the sum",
        normal=_logs,
    )
    ensure_scaled_meets()
    ensure_least_point()
    cite(CAUCHY_SCHWARZ)
    p, g = vector("p"), vector("g")
    moved = p + g * (s / G)
    first = (g * (s / G)) @ (g * (s / G))
    ensure_equal(
        first.subs(sp.Symbol("<g, g>", nonnegative=True), G**2),
        s**2,
        "N is s after the first step from zero, and P positive, so N - P is at most s",
    )
    ensure_equal(
        (moved @ moved).subs(sp.Symbol("<g, g>", nonnegative=True), G**2),
        (p @ p) + 2 * (s / G) * (g @ p) + s**2,
        "a step makes N^2 to N^2 + 2 s <g, p>/||g|| + s^2",
    )
    rise = (2 * (s / G) * (N / a + log_J) + s**2) / (2 * N)
    ensure_nonnegative(
        (N + rise) ** 2 - (N**2 + 2 * (s / G) * (N / a + log_J) + s**2),
        "so N grows by at most (2 s (N/a + ln J)/||g|| + s^2)/(2 N), as <g, p> <= N/a + ln J",
        normal=_squared,
    )
    of_P = s / (G * a)  # <g, p*> >= 1
    apart = (rise - of_P).subs(G, 1 / (a - more))  # 1/||g|| <= a
    ensure_nonnegative(
        (s * a * log_J + s**2 / 2) / N - apart,
        "N - P grows by at most (s a ln J + s^2/2)/N, as 1/||g|| <= a",
        normal=expanded,
    )
    grown = ((s * a * log_J + s**2 / 2) / N).subs(N, k * s / (B * a))
    ensure_equal(
        grown,
        B * a * (a * log_J + s / 2) / k,
        "(s a ln J + s^2/2)/N is at most B a (a ln J + s/2)/k after k steps, as N >= P >= k "
        "s/(B a)",
    )
    top, back = sp.symbols("top back", positive=True)
    ensure_equal(
        1 / (top - back) - 1 / top,
        back / (top * (top - back)),
        "1/x >= 1/j for j - 1 <= x <= j, so 1/2 + ... + 1/k is at most the integral ln k",
        normal=cancelled,
    )
    return "for every loss with l' < 0, any T, d, s and k >= 1"


def _logs(expression: object) -> object:
    """Expand logarithms of products and of exponentials."""
    return simplified(sp.expand_log(simplified(expression), force=True))


def _squared(expression: object) -> object:
    """Factor an expression, so that sympy recognises a square."""
    return factored(expression)

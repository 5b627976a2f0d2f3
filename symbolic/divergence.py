"""Divergence of a run of descent: W_k leaves every ball for good.

Letters are those of `symbolic.gains`. Let M give every rival a margin of at least 1, as X^mm does.
Let all these margins be 1, or let the rivals of each input have the same score. Then a step of size
e moves <W, M> by at least e D(W), upwards if l' < 0 and downwards if l' > 0. Here D(W) = (1/n)
sum_i |l'| s_o sum_t s_t (gamma_o - gamma_t). On a closed ball D has a least value above 0, and |<W,
M>| is at most the radius times ||M||, so that W is in the ball finitely often.
"""

from collections.abc import Callable

import sympy as sp

from attsvm.primitives.hypotheses import MARGINS_ADD
from attsvm.theory import cite, ensure_positive
from attsvm.theory.declaration.proof import Supposition, cancelled, suppose, supposed_number
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION
from symbolic.continuity import cite_extreme_value, ensure_continuous
from symbolic.gains import (
    GAMMA,
    GAMMA_O,
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)
from symbolic.textbook import CAUCHY_SCHWARZ

PULL = "|l'| s_o s_t is continuous in the logits, which are linear in W"

FAR = (
    "where W is in the ball a step moves <W, M> by a constant at least, and all other steps move "
    "it the same way: so it passes radius ||M||, and W is there finitely often"
)


def ensure_passed(
    gain: Callable[[sp.Expr], sp.Expr] | sp.Expr, what: str, *, elsewhere: sp.Expr = 0
) -> None:
    """Prove that numbers pass a bound after finitely many steps that add a positive constant.

    At all other steps the numbers must not fall.

    Args:
        gain: the least growth at some steps while the numbers are at most a bound. It is a
            constant, in symbols of known sign, or a function that gives such a constant for a
            bound.
        what: the name of the numbers.
        elsewhere: the least growth at the other steps, likewise.

    Raises:
        ProofError: `gain` is not known to be positive, or `elsewhere` to be no less than 0.
    """
    first, bound = sp.symbols("first bound", real=True)
    others = sp.Symbol("others", nonnegative=True)
    gain = gain(bound) if callable(gain) else gain
    times = (bound - first) / gain + sp.Symbol("more", positive=True)
    ensure_positive(first + times * gain + others * elsewhere - bound, what, normal=cancelled)


def ensure_pull_continuous() -> None:
    """Prove that |l'| s_o s_t, for the attention to o and to a rival t, is continuous in W."""
    a, power = sp.Symbol("a", real=True), sp.Symbol("power", positive=True)
    share, slope = sp.exp(a) / (sp.exp(a) + power), sp.Function("l'")
    pull = sp.Abs(slope(GAMMA_O * share + GAMMA * (1 - share))) * share * (1 - share)
    ensure_continuous(pull, PULL, (slope, SMOOTH_SLOPE))


def ensure_divergence(lower: Supposition, rival: Supposition | None = None) -> None:
    """Prove that ||W_k|| tends to infinity from any start and with any step.

    Args:
        lower: the hypothesis that some input has two different scores, or all rivals score less.
        rival: the hypothesis that there is a rival, if `lower` does not imply it.
    """
    ensure_gain()
    suppose(MARGINS_ADD, SOLUTION)
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()
    slope = supposed_number(FALLING, "|l'|", positive=True)
    gain = slope * ensure_positive_gain(lower, rival)
    ensure_pull_continuous()
    cite_extreme_value(PULL, "the least D on a closed ball of matrices")
    cite(CAUCHY_SCHWARZ)
    step, least = sp.symbols("e D/|l'|", positive=True)
    ensure_passed(
        step * slope * least,
        FAR,
        elsewhere=step * gain,
    )

"""The Lipschitz constant of 1/a for a >= beta, and the least sum of n exponentials of logits."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded, simplified, suppose
from attsvm.theory.types import Comparison, Namespace, Number
from properties.sim._support.attention import LOGITS
from properties.sim.basic_3 import ABOVE, by_beta, by_radius
from symbolic.mean_value import ensure_no_less
from symbolic.sim import basic_2
from symbolic.sums import LENGTHS, entry, n, total
from symbolic.textbook import EXPONENTIAL

STEP = sp.Symbol("step", positive=True)


def sides(
    formula: Callable[..., Comparison],
    m: Namespace,
    A: Number,
    at: Callable[[sp.Expr], sp.Expr],
    **known: Any,
) -> Comparison:
    """Return the claim's inequality for x = at(0) and y = at(step).

    There is one token, or under `LENGTHS` there are n equal ones.
    """
    x, y = (entries([point]) for point in (at(0), at(STEP)))
    return formula(m, SimpleNamespace(A=entries([[sp.Integer(A)]]), x=x, y=y, **known))


def ratio(*case: Any, **known: Any) -> sp.Expr:
    """Return the limit of (left/right)^2 of the claim's inequality as y -> x."""
    comparison = sides(*case, **known)
    return simplified(sp.limit(simplified(comparison.left**2 / comparison.right**2), STEP, 0))


def least_sum() -> sp.Expr:
    """Return the sum over n tokens of e^m (1 + s_t - m), over e^m, for the mean m of the logits."""
    mean = total(entry("s")) / n
    return total(1 + entry("s") - mean)


def ensure_alpha() -> None:
    """Prove that alpha, the sum of the n exponentials, is at least n exp(-R / sqrt n).

    The vector of logits has a norm of at most R.
    """
    cite(EXPONENTIAL)
    ensure_equal(
        least_sum(), n, "alpha, a sum of e^s >= e^m (1 + s - m), is at least n e^m, m their mean"
    )
    basic_2.ensure_pairs()
    size, less, more = sp.symbols("|sum| less more", nonnegative=True)
    length = (size + less) / sp.sqrt(n)  # ||s||, as |sum s| <= sqrt(n) ||s||
    ensure_nonnegative(
        -size / n + (length + more) / sp.sqrt(n),
        "so m >= -|sum s|/n is at least -R / sqrt n where ||s|| <= R",
        normal=expanded,
    )


def ensure_product() -> None:
    """Prove that a b >= beta^2 for a, b >= beta >= 0."""
    beta, p, q = sp.symbols("beta p q", nonnegative=True)
    spare = (beta + p) * (beta + q) - beta**2
    ensure_nonnegative(spare, "a b >= beta^2 for a, b >= beta", normal=expanded)


def ensure_bound() -> None:
    """Prove that |1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta > 0."""
    a, b = sp.symbols("a b", positive=True)
    gap = simplified(1 / a - 1 / b - (b - a) / (a * b))
    ensure_zero(gap, "1/a - 1/b = (b - a)/(a b)")
    ensure_product()


def prove() -> str:
    """Prove that |1/a - 1/b| <= beta^-2 |a - b|, and that no smaller constant holds."""
    suppose(*ABOVE)
    ensure_bound()
    a, beta = sp.symbols("a beta", positive=True)
    comparison = sides(by_beta, SYMBOLS, 1, lambda step: sp.log(beta + step), beta=beta)
    ensure_equal(comparison.right, STEP / beta**2, "the readings with beta compare beta^-2 |a - b|")
    reached = ratio(by_beta, SYMBOLS, 1, lambda step: sp.log(beta + step), beta=beta)
    what = "|1/a - 1/b| over |a - b| tends to beta^-2 as a and b tend to beta"
    ensure_equal(reached, 1, what)
    ensure_no_less(what, 1 / a)
    return "|1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta > 0"


def prove_in_ball() -> str:
    """Prove the bound for logits of norm at most R: the least alpha is n exp(-R / sqrt n)."""
    ensure_bound()
    suppose(LOGITS)
    ensure_alpha()
    R, a = sp.symbols("R a", positive=True)
    # n equal logits -R / sqrt n, the least alpha in a ball of radius R
    lowest = by_radius, LENGTHS, -1, lambda step: R / sp.sqrt(n) - step
    comparison = sides(*lowest, n=n, R=R)
    change = n * sp.exp(-R / sp.sqrt(n)) * sp.Abs(sp.exp(STEP) - 1)
    ensure_equal(
        comparison.right,
        change / (n * sp.exp(-R / sp.sqrt(n))) ** 2,
        "the constant of sharp-2 is beta^-2 for beta = n exp(-R / sqrt n), which is the "
        "alpha of n equal logits -R / sqrt n",
        normal=simplified,
    )
    what = (
        "the difference quotients of 1/alpha at n equal logits -R / sqrt n tend to the "
        "constant of sharp-2"
    )
    ensure_equal(ratio(*lowest, n=n, R=R), 1, what)
    ensure_no_less(what, 1 / (sp.exp(sp.Symbol("x", real=True)) + a))
    return "beta = n exp(-R / sqrt n) is the least alpha in the ball"

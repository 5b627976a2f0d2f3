"""The loss of an input at attention s, compared with that at its best score, for any n tokens.

The formulas of the claims are evaluated on vectors of n tokens, where n is a symbol. Letters stand
for the largest and the least number of a vector. Each formula compares 0 with a sum over tokens,
and the proof shows the sign of one term, for an optimal token and for another one.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.proof import expanded, suppose
from attsvm.theory.types import Number, Numbers
from properties.tf.definition_1.conclusion import between, drop
from symbolic.alternatives import DECREASING
from symbolic.sums import Lengths, entry, total, vector

S, GAMMA, OPTIMAL = entry("s"), entry("gamma"), entry("optimal")
"""The attention to a token, its score, and 1 or 0 as it is optimal or not."""
BEST, NEXT, RANGE = sp.symbols("best next range", real=True)
"""The best score, its distance to the next lower score, and its distance to the worst score."""
ADDED = S * (BEST - GAMMA)
"""The summand of a token in best - <s, gamma>."""


class Tokens(Lengths):
    """The arithmetic of vectors of n tokens, with letters for maximum, minimum and range.

    The claims take the maximum of scores, the minimum of gaps and the oscillation of scores.
    """

    def max(self, x: Numbers) -> sp.Expr:
        """Return the best score."""
        return BEST

    def min(self, x: Numbers) -> sp.Expr:
        """Return the least gap."""
        return NEXT

    def oscillation(self, x: Numbers) -> sp.Expr:
        """Return the range."""
        return RANGE

    def is_zero(self, x: Number) -> Numbers:
        """Return the vector that is 1 at optimal tokens and 0 at others."""
        return vector(OPTIMAL)


def _case() -> SimpleNamespace:
    """Return an instance whose loss is represented by x in place of l(best - x) - l(best).

    Both grow with x, as l falls.
    """
    loss = SimpleNamespace(drop=lambda m, best, x: x)
    return SimpleNamespace(s=vector(S), gamma=vector(GAMMA), loss=loss)


def added(term: sp.Expr, s: sp.Expr, gamma: sp.Expr, optimal: int = 0) -> sp.Expr:
    """Return the term of a token with this attention and score."""
    return sp.expand(term.subs({S: s, GAMMA: gamma, OPTIMAL: optimal}))


def ensure_shortfall() -> None:
    """Prove that best - <s, gamma> is the sum of s_t (best - gamma_t)."""
    fall = drop(Tokens(), _case())
    ensure_equal(fall, total(ADDED), "l(<s, gamma>) is l at best less the sum of s_t gap_t")
    ensure_equal(
        fall.subs(total(S), 1),
        BEST - total(S * GAMMA),
        "the sum of s_t gap_t is best - <s, gamma>, as the s_t add up to 1",
    )


def ensure_between() -> None:
    """Prove that best - <s, gamma> lies between w next and w range.

    w is the weight off the optimal tokens.

    Raises:
        ProofError: a step fails.
    """
    s, more = sp.Symbol("s_t", nonnegative=True), sp.Symbol("more", nonnegative=True)
    ensure_shortfall()
    low, high = comparisons(between(Tokens(), _case(), 1))
    terms = ADDED - S * (1 - OPTIMAL) * NEXT, S * (1 - OPTIMAL) * RANGE - ADDED
    for comparison, term, what in (low, terms[0], "below"), (high, terms[1], "above"):
        name = f"the bound from {what} holds by a sum over tokens"
        ensure_equal(comparison.right - comparison.left, total(term), name)
        ensure_zero(added(term, s, BEST, 1), f"{name}, to which an optimal token adds 0")
    ensure_nonnegative(
        [added(terms[0], s, BEST - NEXT - more), added(terms[1], s, BEST - RANGE + more)],
        "a token that is not optimal, whose gap is at least next and at most range, adds no "
        "negative number to these sums",
        normal=expanded,
    )
    ensure_nonnegative(
        [added(ADDED, s, BEST), added(ADDED, s, BEST - more)],
        "no s_t gap_t is negative, so that <s, gamma> <= best, and l is at least l(best) there",
    )
    least = sp.Symbol("gap", positive=True)
    ensure_positive(
        added(ADDED, sp.Symbol("s_t", positive=True), BEST - least),
        "a token that is not optimal, with weight on it, makes <s, gamma> strictly less than best",
    )


def prove() -> str:
    """Prove that a falling loss lies between its values at best - w next and best - w range.

    Raises:
        ProofError: a step fails.
    """
    ensure_between()
    suppose(DECREASING)
    return "for every decreasing loss, strictly where the loss is so strictly, and any T and d"

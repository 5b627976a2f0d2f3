"""The output of attention against the tokens along a vector u, for any number of tokens.

The formulas of the claims run on a_t = <u, x_t> of n tokens, n a symbol, with letters for the
largest and the least a_t, or gap, and for softmax. What they compare is a sum over tokens, the
s_t > 0 being of sum 1, of which one term is signed.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.arithmetic.entries import entries
from properties.tf.convex_combination import inside, short_of, within
from symbolic.inner_products import INNER, vector
from symbolic.sums import total
from symbolic.textbook import CAUCHY_SCHWARZ
from symbolic.tf import definition_1
from symbolic.tf.definition_1 import BEST, GAMMA, NEXT, RANGE, Tokens, added
from symbolic.tf.definition_1 import S as WEIGHT
from symbolic.tf.softmax_range import ensure_mean_odds
from symbolic.tf.softmax_range import prove_inside as prove_softmax_inside

S = sp.Symbol("s_t", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)


class _Attended(Tokens):
    """With letters for softmax, and for the largest of several gaps."""

    def __init__(self, *weights: Any) -> None:
        self.weights = weights

    def softmax(self, s: Any) -> Any:
        """The attention."""
        return entries(list(self.weights))


def _along(*a: Any) -> SimpleNamespace:
    """Tokens with these a_t: numbers on a line, along which u points."""
    one = entries([sp.Integer(1)])
    W = entries([[sp.Symbol("W", real=True)]])
    return SimpleNamespace(T=len(a), X=entries([[x] for x in a]), W=W, z=one, u=one)


def prove_hull() -> str:
    """<u, x^att> is at most the largest a_t."""
    prove_softmax_inside()
    said = within(_Attended(WEIGHT), _along(GAMMA))
    ensure_equal(
        (said.right - said.left - RANGE + BEST - NEXT).subs(total(WEIGHT), 1),
        total(definition_1.ADDED).subs(total(WEIGHT), 1),
        "the largest a_t, which is the least plus the range, less <u, x^att> is a sum over tokens",
    )
    ensure_nonnegative(added(definition_1.ADDED, S, BEST - LESS), "of which no term is negative")
    return "for any T, d and W: softmax of one token is 1, and of more it is positive with sum 1"


def prove_inside() -> str:
    """<u, x^att> is below the largest a_t where two differ."""
    prove_softmax_inside()
    said = inside(_Attended(WEIGHT), _along(GAMMA), 0)
    ensure_equal(
        said.right - said.left,
        total(definition_1.ADDED),
        "what <u, x^att> lacks to it is a sum over tokens",
    )
    gap = sp.Symbol("gap", positive=True)
    ensure_nonnegative(added(definition_1.ADDED, S, BEST - LESS), "of which no term is negative")
    ensure_positive(
        added(definition_1.ADDED, S, BEST - gap), "and that of a token with a lower a_t is positive"
    )
    return "for any T, d and W"


def prove_short() -> str:
    """(1 - s_1) times the least gap <= <u, x_1 - x^att> <= (1 - s_1) times the largest."""
    prove_softmax_inside()
    first = sp.Symbol("s_1", positive=True)
    said = short_of(_Attended(first, WEIGHT), _along(BEST, GAMMA), 1)
    above, low, high = (part.right - part.left for part in said.parts)
    # in the formulas the largest gap has the letter of the largest a_t
    terms = (
        definition_1.ADDED,
        definition_1.ADDED - WEIGHT * NEXT,
        WEIGHT * RANGE - definition_1.ADDED,
    )
    high = high - BEST * total(WEIGHT) + RANGE * total(WEIGHT)
    for found, term, what in zip((above, low, high), terms, ("0", "least", "largest"), strict=True):
        ensure_equal(found, total(term), f"the comparison with {what} is a sum over other tokens")
    least = sp.Symbol("least", positive=True)
    ensure_positive(
        added(definition_1.ADDED, S, BEST - least - MORE), "each gap is positive, so is the first"
    )
    ensure_nonnegative(
        [added(terms[1], S, BEST - NEXT - MORE), added(terms[2], S, BEST - RANGE + MORE)],
        "a gap is no less than the least, and no more than the largest",
    )
    return "for any T >= 2, d and W"


def prove_far() -> str:
    """(1 - s_1)/s_1 >= (T - 1) exp(-||x_1 - mean|| ||z|| ||W||), and tokens on a line attain it."""
    ensure_mean_odds()
    y, z = vector("y"), vector("z")
    ensure_equal(
        INNER.norm(y) ** 2 * INNER.norm(z) ** 2,
        (y @ y) * (z @ z),
        "||y z^T|| is ||y|| ||z||, and the mean lead is <W, y z^T> with y = x_1 - mean of the x_t",
    )
    cite(CAUCHY_SCHWARZ)
    c = sp.Symbol("c", positive=True)
    ensure_equal(
        c * (y @ y) * (z @ z),
        INNER.norm(y) * INNER.norm(z) * (c * INNER.norm(y) * INNER.norm(z)),
        "x_t = x_1 - y for all t > 1 and W = c y z^T have leads of ||y|| ||z|| ||W||: attained",
    )
    return "for any T >= 2, d and W"

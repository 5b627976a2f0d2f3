"""The range of softmax: bounds of the odds (1 - S_1)/S_1 = sum_{u > 1} exp(v_u - v_1), for any T.

S is the softmax of T numbers v. The formulas of the claims are evaluated on v_1 and n = T - 1
others, where n is a symbol.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from attsvm.theory.proof.facts import gt
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import beyond, bounds, decide, one_of_sum
from attsvm.theory.proof.rules import suppose as suppose_linked
from attsvm.theory.proof.terms import least
from attsvm.theory.proof.terms import total as total_over
from attsvm.theory.types import Numbers
from properties._support.formulas import SEVERAL
from properties.tf.softmax_range import RANGE, by_lead, by_norm, odds
from symbolic.facts import end, formula_of, index, letters_in, softmax, some_of
from symbolic.inner_products import inner, vector
from symbolic.sums import (
    Lengths,
    ensure_at_least_each,
    ensure_nonnegative_sum,
    entry,
    n,
    total,
)
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL, JENSEN, SECOND_DERIVATIVE

_SEVERAL = (SEVERAL,)
t = index("t", "T")
FIRST, LARGEST = sp.symbols("v_1 largest", real=True)
"""The first number v_1, and the largest of the others."""
OTHER, POWERS = entry("v"), sp.Symbol("powers", positive=True)
"""Another number v_u, u > 1, and the sum of all exponentials."""


class _Others(Lengths):
    """The arithmetic for v_1 and n others, for which one entry stands."""

    def softmax(self, v: Numbers) -> Numbers:
        """Return the exponentials over the sum of all of them."""
        return entries([sp.exp(x) / POWERS for x in v])

    def sum(self, x: Numbers) -> sp.Expr:
        """Return the sum over all numbers, or over the others if `x` has no first one."""
        *first, other = x
        return sp.expand(sum(first, total(other)))

    def max(self, x: Numbers) -> sp.Expr:
        """Return the largest of the others."""
        return LARGEST


def _of(first: sp.Expr, other: sp.Expr) -> SimpleNamespace:
    """Return the vector of a first entry and n others."""
    return SimpleNamespace(T=n + 1, v=entries([first, other]))


def ensure_odds() -> None:
    """Prove that the odds are the sum over the others of exp(v_u - v_1)."""
    ensure_equal(
        odds(_Others(), _of(FIRST, OTHER)),
        total(sp.exp(OTHER - FIRST)),
        "the odds are the sum over the others of S_u/S_1 = exp(v_u - v_1)",
        normal=expanded,
    )
    first, rest = sp.symbols("first rest", positive=True)
    ensure_equal(
        1 - first / (first + rest),
        rest / (first + rest),
        "1 - S_1 is the others' part of the sum of exponentials, over all of it",
        normal=cancelled,
    )


def ensure_inside() -> None:
    """Prove that S_1 > 0, that S_1 < 1 if there is another entry, and that entries add up to 1."""
    first = sp.exp(sp.Symbol("v_1", real=True))
    other = sp.exp(sp.Symbol("v_2", real=True))
    rest = sp.Symbol("rest", nonnegative=True)
    total = first + other + rest
    ensure_positive(first / total, "S_1 is positive")
    ensure_positive((other + rest) / total, "1 - S_1 is positive where there is another entry")
    ensure_equal(
        first / total + (other + rest) / total,
        1,
        "S_1 and the other entries add up to 1",
        normal=simplified,
    )


@linked
def prove_inside() -> str:
    """Prove that entries are above 0, below 1, and add up to 1.

    Each is at least the least one, c > 0, so that 1 is at least any one plus (T - 1) c.
    """
    v = letters_in(RANGE, "amended-1")
    some = some_of(RANGE, "amended-1", "T")
    (several,) = suppose_linked(SEVERAL, formula_of(RANGE, "amended-1"))
    weights = softmax(v.v.entry((t.term,)), t, some)
    one, s = weights.one(t), weights.weight
    positive = bounds(weights.positive, "least", s, t, some)
    each = one_of_sum(beyond("least", s, t), t)
    rest = decide(gt((total_over(1, t) - 1) * least(s, t), 0), several, positive)
    below = bounds(decide(gt(1, s), each, rest, one), "most", s, t, some)
    end(RANGE, "amended-1", by=[one, positive, below])
    return "for any T >= 2 and all real v"


def prove_lead() -> str:
    """Prove that exp(-lead) <= (1 - S_1)/S_1 <= (T - 1) exp(-lead), lead = v_1 - max of others."""
    suppose(*_SEVERAL)
    ensure_odds()
    low, high = comparisons(by_lead(_Others(), _of(FIRST, OTHER)))
    ensure_equal(
        [low.left, low.right, high.left, high.right],
        [
            sp.exp(LARGEST - FIRST),
            *[total(sp.exp(OTHER - FIRST))] * 2,
            n * sp.exp(LARGEST - FIRST),
        ],
        "the claim compares the odds with exp(-lead) and with T - 1 times exp(-lead)",
        normal=expanded,
    )
    most, power = sp.Symbol("exp(-lead)", positive=True), entry("power")
    ensure_at_least_each(most, "the odds are at least what the largest other entry adds to them")
    cite(EXPONENTIAL)
    ensure_nonnegative_sum(
        n * most - total(power),
        most - power,
        "each of T - 1 tokens adds exp(-lead - more) <= exp(-lead)/(1 + more), which is at "
        "most exp(-lead), to the odds",
        power=most / (1 + sp.Symbol("more", nonnegative=True)),
    )
    return "for any T >= 2 and all real v"


CONVEX_EXP = "the second derivative of exp is positive"


def ensure_convex_exp() -> None:
    """Prove that the exponential is convex."""
    x = sp.Symbol("x", real=True)
    ensure_positive(sp.diff(sp.exp(x), x, 2), CONVEX_EXP)


def ensure_mean_odds() -> None:
    """Prove that the odds are at least T - 1 times exp of the mean of v_u - v_1 over the others."""
    ensure_odds()
    ensure_convex_exp()
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_EXP})


def ensure_largest_odds() -> None:
    """Prove that the odds are at most (T - 1) exp(sqrt 2 ||v||).

    For T = 2 vectors v of every norm attain equality; for T >= 3 v = 0 alone does.
    """
    v, first, u, w = (vector(name) for name in ("v", "e_1", "e_u", "e_w"))
    unit = {inner(e, e): 1 for e in ("e_1", "e_u", "e_w")}
    unit |= {inner(a, b): 0 for a, b in (("e_1", "e_u"), ("e_1", "e_w"), ("e_u", "e_w"))}
    ensure_equal(
        ((u - first) @ (u - first)).subs(unit), 2, "v_u - v_1 = <e_u - e_1, v>, ||e_u - e_1||^2 = 2"
    )
    cite(CAUCHY_SCHWARZ)
    cite(EXPONENTIAL)
    most, gap = sp.symbols("most gap", positive=True)
    more, rest = sp.symbols("more rest", nonnegative=True)
    ensure_nonnegative(
        most - most / (1 + more),
        "each of T - 1 terms exp(v_u - v_1) is at most exp(sqrt 2 ||v||), as exp(-more) is at most "
        "1/(1 + more): so is their sum at most T - 1 times it",
        normal=factored,
    )
    ensure_positive(
        most - most / (1 + gap) + rest,
        "the odds are less where one v_u - v_1 is, so that equality asks for v_u - v_1 = "
        "sqrt 2 ||v|| for all u",
        normal=factored,
    )
    s = sp.Symbol("s", nonnegative=True)  # ||v||/sqrt 2
    ensure_zero(
        ((v - s * (u - first)) @ (v - s * (u - first)))
        .subs(unit)
        .subs({inner("v", "v"): 2 * s**2, inner("e_u", "v"): 2 * s + inner("e_1", "v")}),
        "where v_u - v_1 = sqrt 2 ||v|| = 2 s, v is s (e_u - e_1)",
    )
    apart = s * (u - first) - s * (w - first)
    ensure_equal(
        (apart @ apart).subs(unit),
        2 * s**2,
        "v is s (e_u - e_1) for two different u only where s = 0: for T >= 3 equality leaves v = 0",
    )
    comparison = by_norm(_Others(), _of(FIRST, OTHER), "most")
    square = FIRST**2 + total(OTHER**2)
    ensure_equal(
        [comparison.left, comparison.right],
        [total(sp.exp(OTHER - FIRST)), n * sp.exp(sp.sqrt(2 * square))],
        "the claim compares the odds with (T - 1) exp(sqrt 2 ||v||)",
        normal=expanded,
    )
    comparison = by_norm(_Others(), _of(sp.Integer(0), sp.Integer(0)), "most")
    ensure_equal(comparison.left, comparison.right, "at v = 0 both sides are equal, for every T")
    a = sp.Symbol("a", nonnegative=True)
    comparison = by_norm(_Others(), _of(-a, a), "most")
    ensure_equal(
        [sp.sympify(side).subs(n, 1) for side in (comparison.left, comparison.right)],
        [sp.exp(2 * a)] * 2,
        "both sides are exp(2 a) for T = 2 at v = (-a, a), a >= 0, of every norm",
    )


def prove_norm() -> str:
    """Prove bounds of the odds by ||v||.

    They are at least (T - 1) exp(-||v|| sqrt(T/(T - 1))), which is attained if v_1 = (T - 1) a and
    the others are -a, a >= 0. They are at most (T - 1) exp(sqrt 2 ||v||). For T = 2 this is
    attained at every norm, for T >= 3 at 0 alone.
    """
    suppose(*_SEVERAL)
    ensure_mean_odds()
    ensure_equal(
        1 + total((1 / n) ** 2),
        (n + 1) / n,
        "the mean of the others less v_1 is <c, v>, c = (-1, 1/(T - 1), ...), ||c||^2 = T/(T - 1)",
    )
    cite(CAUCHY_SCHWARZ)
    comparison = by_norm(_Others(), _of(FIRST, OTHER), "least")
    square = (FIRST**2 + total(OTHER**2)) * (n + 1) / n
    ensure_equal(
        [comparison.left, comparison.right],
        [n * sp.exp(-sp.sqrt(square)), total(sp.exp(OTHER - FIRST))],
        "the claim compares (T - 1) exp(-||v|| sqrt(T/(T - 1))) with the odds",
        normal=expanded,
    )
    a = sp.Symbol("a", nonnegative=True)
    comparison = by_norm(_Others(), _of(n * a, -a), "least")
    ensure_equal(
        [comparison.left, comparison.right],
        [n * sp.exp(-a * (n + 1))] * 2,
        "at v = a (T - 1, -1, ..., -1), a >= 0, of every norm, both sides are (T - 1) exp(-a "
        "T): the bound is attained",
        normal=simplified,
    )
    ensure_largest_odds()
    return "for any T >= 2 and all real v"

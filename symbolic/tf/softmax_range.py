"""The range of softmax, by the odds (1 - S_1)/S_1 = sum_{u > 1} exp(v_u - v_1), for any length."""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from properties.tf.softmax_range import by_norm
from symbolic.inner_products import inner, vector
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL, JENSEN, SECOND_DERIVATIVE

K = sp.Symbol("k", positive=True, integer=True)
"""T - 1, the number of the others."""


def ensure_odds() -> None:
    """The odds are the sum over the others of exp(v_u - v_1)."""
    v = symbols_of("v", 2)
    S = SYMBOLS.softmax(v)
    ensure_equal(S[1] / S[0], sp.exp(v[1] - v[0]), "S_u/S_1 = exp(v_u - v_1)", normal=sp.simplify)
    first, rest = sp.symbols("first rest", positive=True)
    ensure_equal(
        rest / (first + rest) / (first / (first + rest)),
        rest / first,
        "as 1 - S_1 is the others' part of the sum, the odds are the sum of these",
        normal=sp.cancel,
    )


def prove_inside() -> str:
    """0 < S_1 < 1, and the sum is 1."""
    first = sp.exp(sp.Symbol("v_1", real=True))
    other = sp.exp(sp.Symbol("v_2", real=True))
    rest = sp.Symbol("rest", nonnegative=True)
    total = first + other + rest
    ensure_positive(first / total, "S_1 is positive")
    ensure_positive((other + rest) / total, "1 - S_1 is positive where there is another entry")
    ensure_equal(
        first / total + (other + rest) / total, 1, "the sum of all is 1", normal=sp.simplify
    )
    return "for any T >= 2 and all real v"


def prove_lead() -> str:
    """exp(-lead) <= (1 - S_1)/S_1 <= (T - 1) exp(-lead)."""
    ensure_odds()
    lead = sp.Symbol("lead", real=True)
    more, others = sp.symbols("more others", nonnegative=True)
    ensure_nonnegative(
        sp.exp(-lead) + others - sp.exp(-lead), "the largest other entry adds exp(-lead)"
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        sp.exp(-lead) * (1 - 1 / (1 + more)),
        "each of T - 1 adds exp(-lead - more) <= exp(-lead)/(1 + more), at most exp(-lead)",
        normal=sp.factor,
    )
    return "for any T >= 2 and all real v"


CONVEX_EXP = "exp'' is positive"


def ensure_convex_exp() -> None:
    """The exponential is convex."""
    x = sp.Symbol("x", real=True)
    ensure_positive(sp.diff(sp.exp(x), x, 2), CONVEX_EXP)


def ensure_mean_odds() -> None:
    """The odds are at least T - 1 times exp of the mean of v_u - v_1 over the others."""
    ensure_odds()
    ensure_convex_exp()
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_EXP})


def ensure_largest_odds() -> None:
    """The odds are at most (T - 1) exp(sqrt 2 ||v||), for T >= 3 with equality at v = 0 alone."""
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
        normal=sp.factor,
    )
    ensure_positive(
        most - most / (1 + gap) + rest,
        "and less where one v_u - v_1 is: equality asks for v_u - v_1 = sqrt 2 ||v|| for all u",
        normal=sp.factor,
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
        "it is that for two different u only where s = 0: for T >= 3 equality leaves v = 0",
    )
    for T in (2, 3):
        said = by_norm(SYMBOLS, SimpleNamespace(T=T, v=entries([sp.Integer(0)] * T)), "most")
        ensure_equal(said.left, said.right, f"at v = 0 both sides are equal, for T = {T}")
    a = sp.Symbol("a", positive=True)
    said = by_norm(SYMBOLS, SimpleNamespace(T=2, v=entries([-a, a])), "most")
    ensure_equal(
        said.left, said.right, "and for T = 2 at v = (-a, a), of every norm", normal=sp.simplify
    )


def prove_norm() -> str:
    """The odds are at least (T - 1) exp(-||v|| sqrt(T/(T - 1))), at most (T - 1) exp(sqrt 2 ||v||).

    The first is attained where v_1 = (T - 1) a and the others are -a, the second at every norm for
    T = 2, and at 0 alone for T >= 3.
    """
    ensure_mean_odds()
    ensure_equal(
        1 + K * (1 / K) ** 2,
        (K + 1) / K,
        "the mean of the others less v_1 is <c, v>, c = (-1, 1/(T - 1), ...), ||c||^2 = T/(T - 1)",
    )
    cite(CAUCHY_SCHWARZ)
    a = sp.Symbol("a", positive=True)
    ensure_equal(
        ((K * a) ** 2 + K * a**2) * (K + 1) / K,
        (a * (K + 1)) ** 2,
        "v = a (T - 1, -1, ..., -1) has ||v||^2 T/(T - 1) = (v_1 - v_u)^2: the bound is attained",
    )
    said = by_norm(SYMBOLS, SimpleNamespace(T=3, v=entries([2 * a, -a, -a])), "least")
    ensure_equal(said.left, said.right, "as in the formula for T = 3", normal=sp.simplify)
    ensure_largest_odds()
    return "for any T >= 2 and all real v"

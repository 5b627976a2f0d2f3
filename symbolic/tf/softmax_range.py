"""The range of softmax, by the odds (1 - S_1)/S_1 = sum_{u > 1} exp(v_u - v_1), for any length."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
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


def ensure_mean_odds() -> None:
    """The odds are at least T - 1 times exp of the mean of v_u - v_1 over the others."""
    ensure_odds()
    x = sp.Symbol("x", real=True)
    ensure_positive(sp.diff(sp.exp(x), x, 2), "exp'' is positive")
    cite(JENSEN, met={SECOND_DERIVATIVE: "exp'' is positive"})


def prove_norm() -> str:
    """The odds are at least (T - 1) exp(-||v|| sqrt(T/(T - 1))), at most (T - 1) exp(sqrt 2 ||v||).

    The first is attained where v_1 = (T - 1) a and the others are -a, the second for T = 2.
    """
    ensure_mean_odds()
    ensure_equal(
        1 + K * (1 / K) ** 2,
        (K + 1) / K,
        "the mean of the others less v_1 is <c, v>, c = (-1, 1/(T - 1), ...), ||c||^2 = T/(T - 1)",
    )
    cite(CAUCHY_SCHWARZ)
    ensure_equal(sp.Integer(1) + 1, 2, "v_u - v_1 = <e_u - e_1, v>, and ||e_u - e_1||^2 = 2")
    a = sp.Symbol("a", positive=True)
    ensure_equal(
        ((K * a) ** 2 + K * a**2) * (K + 1) / K,
        (a * (K + 1)) ** 2,
        "v = a (T - 1, -1, ..., -1) has ||v||^2 T/(T - 1) = (v_1 - v_u)^2: the bound is attained",
    )
    return "for any T >= 2 and all real v"

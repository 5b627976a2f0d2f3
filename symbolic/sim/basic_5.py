"""A covariance is at most a quarter of the product of the ranges (Popoviciu, Bhatia and Davis)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import ensure_equal, ensure_nonzero, ensure_true, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim._support.bounds import entry_constant
from properties.sim.basic_5 import BOUND, sharp
from symbolic.sim import basic_1, basic_4
from symbolic.sim.sums import entry, r, t, total, vector


def covariance_residual(share: int = 1) -> Any:
    """<s, covariance(f, h)> minus share times the sum over pairs of f_t f_r (s_t-s_r)(h_t-h_r).

    By the code's covariance on n tokens, n a symbol, with sum f = 1.
    """
    f, s, h = (entry(name) for name in "fsh")
    apart = [entry(name, t) - entry(name, r) for name in "sh"]
    pairs = share * total(entry("f", t) * entry("f", r) * apart[0] * apart[1], t, r) / 2
    found = (vector(s) * covariance(vector(f), vector(h))).sum() - pairs
    return sp.expand(found.subs(total(f), 1))


def prove() -> str:
    """Prove the identities; the first shows that Cauchy and Schwarz apply."""
    ensure_zero(covariance_residual(), "the covariance is the sum over pairs of tokens")
    ensure_nonzero(covariance_residual(share=2), "the covariance is not twice that sum")
    quarter = entry_constant(SYMBOLS) / sp.sqrt(2)  # as max A v - min A v <= sqrt 2 spread(A) ||v||
    M, m, first, second = sp.symbols("M m first second", real=True)  # and moments of s
    spare = (M + m) * first - second - M * m
    missed = quarter * (M - m) ** 2 - (second - first**2) - (first - (M + m) / 2) ** 2 - spare
    ensure_zero(sp.expand(missed), "(M-m)^2/4 - Var s is a square plus E (M-s)(s-m)")
    h, b = entries([sp.Integer(1), sp.Integer(0)]), sp.Symbol("b", real=True)
    limit = basic_4.limit_ratio(sharp, h=h, b=b)
    ensure_equal(limit, 1, "one weight, with h its indicator, reaches the constant")
    return "|Cov(s, h)| <= (max s - min s)(max h - min h)/4 for every n: sqrt(2)/4 osc(h) spread(A)"


def prove_published() -> str:
    """Prove the fourth bound, and that the factor R^2 >= 1, or ||h|| <= R^2, is enough."""
    r = sp.Symbol("r", nonnegative=True)
    basic_4.prove_published()
    R = sp.Symbol("R", positive=True)
    change = basic_4.WEIGHTS[0] - basic_4.WEIGHTS[1]
    basic_4.ensure_printed(BOUND, "amended-2", change.norm(), R**2)
    basic_4.ensure_printed(BOUND, "amended", abs(change.dot(sp.Matrix([5, 1]))), R**2)
    ensure_true(basic_1.never_negative((1 + r) ** 2 - 1, r), "R^2 >= 1 for R >= 1")
    return "with ||h|| <= R^2, or c = f - z and R >= 1, the fourth bound gives the fifth"

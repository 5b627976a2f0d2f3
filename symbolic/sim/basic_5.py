"""A covariance is at most a quarter of the product of the ranges (Popoviciu, Bhatia and Davis)."""

from __future__ import annotations

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded, factored, suppose
from properties.sim._support.attention import LARGE
from properties.sim._support.bounds import entry_constant
from properties.sim.basic_5 import BOUND, BOUNDED
from properties.sim.basic_5.conclusion import sharp
from symbolic.curvature import ensure_quarter
from symbolic.mean_value import SOFTMAX, ensure_lipschitz, ensure_no_less
from symbolic.sim import basic_4
from symbolic.sums import entry, r, t, total, vector
from symbolic.textbook import CAUCHY_SCHWARZ

RADIUS = sp.Symbol("R", positive=True)
CHANGE = basic_4.WEIGHTS[0] - basic_4.WEIGHTS[1]


def covariance_residual(share: int = 1) -> sp.Expr:
    """Return <s, covariance(f, h)> minus share times sum over pairs f_t f_r (s_t-s_r)(h_t-h_r).

    The covariance is the code's, for n tokens, where n is a symbol and the f_t have sum 1.
    """
    f, s, h = (entry(name) for name in "fsh")
    apart = [entry(name, t) - entry(name, r) for name in "sh"]
    pairs = share * total(entry("f", t) * entry("f", r) * apart[0] * apart[1], t, r) / 2
    difference = (vector(s) * covariance(vector(f), vector(h))).sum() - pairs
    return sp.expand(difference.subs(total(f), 1))


def prove() -> str:
    """Prove the bound of the slope of <f, h> in every direction, and that two tokens attain it."""
    f = entry("f")
    along = total(entry("h") * (basic_4.along(entry("s")))) - (
        (vector(entry("s")) * covariance(vector(f), vector(entry("h")))).sum()
    )
    basic_4.ensure_linear()
    ensure_zero(sp.expand(along), "the slope of <f, h> along s is <s, covariance(f, h)>")
    ensure_zero(
        covariance_residual(),
        "<s, covariance(f, h)> is the sum over pairs of tokens of f_t f_r (s_t - s_r) (h_t - h_r)",
    )
    ensure_nonzero(covariance_residual(share=2), "<s, covariance(f, h)> is not twice that sum")
    cite(CAUCHY_SCHWARZ)
    ensure_quarter(entry_constant(SYMBOLS) / sp.sqrt(2))
    basic_4.ensure_span()
    h, b = entries([sp.Integer(1), sp.Integer(0)]), sp.Symbol("b", real=True)
    constant = basic_4.constant_of(sharp, h=h, b=b)  # max h - min h is 1
    slope = "so |Cov(A z, h)| <= sqrt 2 spread(A) (max h - min h)/4, the constant of sharp"
    ensure_equal(constant, sp.sqrt(2) * basic_4.SPREAD / 4, slope)
    attended = (
        SOFTMAX[0] * sp.Symbol("h_1", real=True) + SOFTMAX[1] * sp.Symbol("h_2", real=True) - b
    )
    ensure_lipschitz(slope, attended)
    limit = basic_4.limit_ratio(sharp, h=h, b=b)
    reached = "the difference quotients of one weight, h being its indicator, tend to the constant"
    ensure_equal(limit, 1, reached)
    ensure_no_less(reached, attended)
    return "|Cov(s, h)| <= (max s - min s)(max h - min h)/4 for every n: sqrt(2)/4 osc(h) spread(A)"


def prove_published() -> str:
    """Prove the fifth bound for c = f - z from the fourth one, as R^2 >= 1."""
    basic_4.prove_published()
    rest = sp.Symbol("r", nonnegative=True)
    for reading in ("literal-3", "amended-2"):
        basic_4.ensure_printed(BOUND, reading, CHANGE.norm(), RADIUS**2)
    suppose(LARGE)
    ensure_nonnegative((1 + rest) ** 2 - 1, "R^2 >= 1 for R >= 1", normal=expanded)
    return "with c = f - z and R >= 1 the fourth bound gives the fifth"


def prove_published_of_values() -> str:
    """Prove the fifth bound for c = <f, h> - b from the fourth one, if ||h|| <= R^2."""
    basic_4.prove_published()
    basic_4.ensure_printed(BOUND, "amended", abs(CHANGE.dot(sp.Matrix([5, 1]))), RADIUS**2)
    cite(CAUCHY_SCHWARZ)  # |<f - g, h>| <= ||f - g|| ||h||
    suppose(BOUNDED)
    more, apart = sp.symbols("more ||f-g||", nonnegative=True)
    ensure_nonnegative(
        RADIUS**2 * apart - RADIUS**2 / (1 + more) * apart,
        "||f - g|| ||h|| is at most R^2 ||f - g||",
        normal=factored,
    )
    return "with ||h|| <= R^2 the fourth bound gives the fifth"

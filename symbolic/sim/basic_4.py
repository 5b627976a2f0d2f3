"""Softmax is 1/2-Lipschitz, and beta^2 ||f - g|| <= n exp(2 R) ||s - t|| for logits s and t.

The derivative at the weights f along s is `covariance`(f, s); for the indicator of a set S of
weight P its entries are f_t (1 - P) in S and -f_t P elsewhere. a and b are the sums of f_t^2 in and
out of S, at most P^2 and (1 - P)^2. The code's covariance runs on n tokens, n a symbol.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import Statement, ensure_equal, ensure_nonzero, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim._support.bounds import published, softmax_constant
from properties.sim.basic_4 import BOUND, sharp
from symbolic.mean_value import said_by
from symbolic.sim import basic_1, basic_2
from symbolic.sim.sums import entry, entry_of, r, reduced, swapped, t, total, vector

P, a, b = sp.symbols("P a b", positive=True)


def moved() -> Any:
    """The t-th entry of Df[s], s an indicator of weight P, by the code's covariance."""
    found = entry_of(covariance(vector(entry("f")), vector(entry("s"))))
    return found.subs(total(entry("f") * entry("s")), P)


def forms() -> dict[Any, Any]:
    """Sums over the tokens of the indicator s: its weight P, and a and b as sums of f_t^2."""
    inside = total(entry("f") ** 2 * entry("s"))
    return {P: total(entry("f") * entry("s")), a: inside, b: total(entry("f") ** 2) - inside}


def entry_residuals() -> list[Any]:
    """Entries of Df[s] minus f_t (1 - P) where s_t = 1, and minus -f_t P where s_t = 0."""
    f, s = entry("f"), entry("s")
    return [sp.expand(moved().subs(s, 1) - f * (1 - P)), sp.expand(moved().subs(s, 0) + f * P)]


def square_residual(square: Any = (1 - P) ** 2 * a + P**2 * b) -> Any:
    """||Df[s]||^2 minus that form, for every n."""
    found = total(reduced(moved() ** 2, "s"))
    return sp.expand(found - square.subs({a: forms()[a], b: forms()[b]}))


def largest() -> Any:
    """The largest ||Df[s]||^2 over max s - min s = 1 that the claim's constant leaves room for.

    max A v - min A v is at most sqrt 2 spread(A) ||v||.
    """
    return (softmax_constant(SYMBOLS) / sp.sqrt(2)) ** 2


def opposite(x: Any, **more: Any) -> SimpleNamespace:
    """A = (1, -1) and the points x and -x; `more` are values of further variables."""
    one = sp.Integer(1)
    return SimpleNamespace(A=entries([[one], [-one]]), x=entries([x]), y=entries([-x]), **more)


def limit_ratio(formula: Any, *constants: Any, **more: Any) -> Any:
    """Limit of a claim's sides, squared, for A = (1, -1) and x = -y -> 0."""
    x = sp.Symbol("x", positive=True)
    sides = formula(SYMBOLS, opposite(x, **more), *constants)
    return sp.limit(sp.simplify(sides.left**2) / sides.right**2, x, 0)


def prove() -> str:
    """Prove the largest norm of the derivative, and that two tokens reach it."""
    q = sp.Symbol("q", real=True)
    ensure_zero(square_residual(), "||Df[s]||^2 = (1-P)^2 a + P^2 b")
    exchanged = square_residual(P**2 * a + (1 - P) ** 2 * b)
    ensure_nonzero(exchanged, "||Df[s]||^2 is not that with a and b exchanged")
    ensure_zero(entry_residuals(), "the entries of Df[s] are f_t (1 - P) in S and -f_t P elsewhere")
    top = ((1 - P) ** 2 * P**2 + P**2 * (1 - P) ** 2).subs(P, (1 + q) / 2)
    # q^2 <= 1
    ensure_equal(largest() - top, q**2 * (2 - q**2) / 8, "||Df[s]||^2 is at most 1/8")
    ensure_equal(limit_ratio(sharp), 1, "two tokens reach the constant")
    # rows (1, 0), (-1, 0) and k times (0, -1) at (x, M) and (-x, M), weights exp(-M) sent to 0
    x, k, power = sp.symbols("x k exp(-M)", positive=True)
    f = sp.exp(x) / (sp.exp(x) + sp.exp(-x) + k * power)  # and the other one moves oppositely
    length = sp.sqrt(2) * sp.diff(f, x).subs(x, 0)
    reached = sp.limit(length / (softmax_constant(SYMBOLS) * sp.sqrt(2)), power, 0)
    ensure_equal(reached, 1, "two tokens beside any number of others reach the constant")
    return "||Df[s]|| <= (max s - min s) sqrt(2)/4 for every n, so f is spread(A)/2-Lipschitz"


def laplacian_residual(sign: int = -1) -> Any:
    """The t-th entry of alpha beta (f - g) minus the sum over r of v_r u_t - u_r v_t."""
    u, v = entry("u"), entry("v")
    alpha, beta = total(u), total(v)
    across = total(entry("v", r) * u + sign * entry("u", r) * v, r)
    return sp.expand(alpha * beta * (u / alpha - v / beta) - across)


def quadratic_residual(share: int = 1) -> Any:
    """m^T L m minus share times half the sum over t and r of c (m_t - m_r)^2, c = c_tr = c_rt.

    L is the Laplacian of the weights c. Terms of the double sum are averaged with those whose
    indices are exchanged.
    """
    c = sp.Symbol("c", positive=True)
    apart = entry("m", t) - entry("m", r)
    term = entry("m", t) * c * apart - share * c * apart**2 / 2
    return sp.expand((term + swapped(term)) / 2)


def log_published(power: int) -> Any:
    """The logarithm of the published constant but for its powers of n and beta."""
    n, R, beta = sp.symbols("n R beta", positive=True)
    constant = published(SYMBOLS, SimpleNamespace(n=n, R=R, beta=beta), power)
    rest = {2: n, 3: 2 * n**2}[power] / beta**power
    return sp.expand_log(sp.log(sp.simplify(constant / rest)))


WEIGHTS = sp.Matrix([3, 1]) / 4, sp.Matrix([27, 1]) / 28
"""softmax of (log 3, 0), and of three times as much."""


def ensure_printed(statement: Statement, reading: str, left: Any, factor: Any = 1) -> None:
    """Check that a reading compares what is printed: the formula that runs, on symbols.

    A = (log 3, 0), x = 1 and y = 3, so that the weights are `WEIGHTS` and ||x - y|| = 2; n, R and
    beta are symbols. The values of the tokens are 5 and 1.

    Args:
        statement: one of the bounds four to seven.
        reading: one of its readings with a printed constant.
        left: its left side at these points.
        factor: of the right side, beside n exp(3 R^2) / beta^2 ||x - y||.

    Raises:
        ProofError: a side is another one.
    """
    R, beta = sp.symbols("R beta", positive=True)
    count = sp.Symbol("n", positive=True)
    one = sp.Integer(1)
    v = SimpleNamespace(
        A=entries([[sp.log(3)], [0 * one]]),
        x=entries([one]),
        y=entries([3 * one]),
        h=entries([5 * one, one]),
        z=entries(list(sp.symbols("z0 z1", real=True))),
        b=sp.Symbol("b", real=True),
        n=count,
        R=R,
        beta=beta,
    )
    name = f"{statement.id}:{reading}"
    said = said_by(statement, reading, v)
    ensure_equal(said.left, left, f"the left side of {name}", normal=sp.simplify)
    right = 2 * factor * count * sp.exp(3 * R**2) / beta**2
    ensure_equal(said.right, right, f"the right side of {name} is as printed", normal=sp.simplify)


def prove_published() -> str:
    """Prove the steps to beta^-2 n exp(3 R^2), for every n and every R > 0.

    A Laplacian of weights in [0, c] has eigenvalues in [0, n c], by the sum over pairs and the
    identity of `basic_2`; the weights are at most exp(2 R) by `basic_1`. log R <= R - 1 ends it.
    """
    R = sp.Symbol("R", positive=True)
    ensure_zero(laplacian_residual(), "alpha beta (f - g)_t = sum over r of v_r u_t - u_r v_t")
    ensure_nonzero(laplacian_residual(sign=1), "it is not that with the other sign")
    ensure_zero(quadratic_residual(), "m^T L m is half the sum over t and r of c (m_t - m_r)^2")
    ensure_nonzero(quadratic_residual(share=2), "it is not twice that")
    s_r, s_t, t_r, t_t = sp.symbols("s_r s_t t_r t_t", real=True)
    first, second = t_r + s_t, s_r + t_t
    ensure_equal(first - second, (s_t - t_t) - (s_r - t_r), "exponents differ by the moves")
    swap = {s_r: s_t, s_t: s_r, t_r: t_t, t_t: t_r}
    ensure_equal(first.subs(swap, simultaneous=True), second, "the exponents swap with t and r")
    basic_1.prove()
    basic_2.prove()
    ensure_equal(log_published(2), 3 * R**2, "the printed constant is n exp(3 R^2) / beta^2")
    ensure_printed(BOUND, "literal", (WEIGHTS[0] - WEIGHTS[1]).norm())
    ensure_positive(
        -sp.discriminant(3 * R**2 - 2 * R - (R - 1), R), "3 R^2 - 2 R exceeds R - 1 for every R"
    )
    return "beta^2 ||f - g|| <= n R exp(2 R) ||x - y|| < n exp(3 R^2) ||x - y||, all n and R > 0"

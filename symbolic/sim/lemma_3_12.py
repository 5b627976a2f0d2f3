"""The supremum of |g''| for the logistic function g: 1/(6 sqrt 3).

With u = e^x, g = u/(1+u) and d/dx = u d/du, so that every derivative of g is a rational function
of u > 0.
"""

from typing import Any

import sympy as sp

from attsvm.errors import present
from attsvm.losses import curvature_constant, curvature_kernel, slope_kernel
from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.proof import cancelled
from attsvm.theory.proof.arrays import LETTERS, number, variable
from attsvm.theory.proof.facts import Fact, eq, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL, ROOT, SIZE
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import cite, conclude, decide, inside, scale, square
from attsvm.theory.proof.terms import EXP, INV, SQRT, Letter, Term, as_term, derivative, rebuilt
from properties.sim.lemma_3_12 import LEMMA
from symbolic.facts import change_at_most
from symbolic.mean_value import ensure_no_less

u = sp.Symbol("u", positive=True)


def derivatives(order: int) -> list[Any]:
    """Return g and its derivatives up to `order`, as rational functions of u = e^x."""
    orders: list[Any] = [u / (1 + u)]
    for _ in range(order):
        orders.append(cancelled(u * sp.diff(orders[-1], u)))
    return orders


def identities() -> list[Any]:
    """Return differences that must all be 0: formulas in g, and kernels, against derivatives.

    The formulas are g' = g (1 - g), g'' = g' (1 - 2 g), and g' (1 - 6 g (1 - g)) for the third
    derivative. Then follows g as the code evaluates it, with e = exp(-|x|): e is 1/u for x >= 0 and
    u for x < 0. Last are the code's kernels of g' and of g'' for both signs; the sign of g'' is
    that of -x.
    """
    g, first, second, third = derivatives(3)
    differences = [first - g * (1 - g), second - first * (1 - 2 * g)]
    differences += [third - first * (1 - 6 * g * (1 - g))]
    differences += [1 / (1 + 1 / u) - g, u / (1 + u) - g]
    differences += [slope_kernel(e) - first for e in (u, 1 / u)]
    differences += [-curvature_kernel(1 / u) - second, curvature_kernel(u) - second]
    return [cancelled(x) for x in differences]


def ensure_cubic() -> None:
    """Prove that a (1-a^2) is at most 2/(3 sqrt 3) for a >= 0, with equality at 1/sqrt 3."""
    k, root = sp.Symbol("a", nonnegative=True), 1 / sp.sqrt(3)
    rest = (k - root) ** 2 * (k + 2 * root)
    ensure_equal(
        2 * root / 3 - k * (1 - k**2),
        rest,
        "2/(3 sqrt 3) - a (1-a^2) is (a - 1/sqrt 3)^2 (a + 2/sqrt 3)",
    )
    ensure_nonnegative(rest, CUBIC)


CUBIC = (
    "(a - 1/sqrt 3)^2 (a + 2/sqrt 3) is not negative, so that a (1-a^2) is at most 2/(3 "
    "sqrt 3), for a >= 0"
)


def ensure_curvature() -> sp.Expr:
    """Prove that the supremum of |g''| is the constant of the code, and return it."""
    *_, second = derivatives(2)
    c = (1 - u) / (1 + u)
    ensure_equal(second, c * (1 - c**2) / 4, "g'' = c (1-c^2)/4 for c = 1 - 2 g", normal=cancelled)
    ensure_cubic()
    constant, root = curvature_constant(sp.sqrt), 1 / sp.sqrt(3)
    ensure_equal(constant, root / 6, "so |g''| <= 1/(6 sqrt 3), the code's constant")
    reached = second.subs(u, (1 - root) / (1 + root))
    reaches = "g'' reaches 1/(6 sqrt 3) at c = 1/sqrt 3"
    ensure_equal(reached, constant, reaches, normal=lambda x: sp.expand(sp.radsimp(x)))
    ensure_no_less(reaches, (u / (1 + u) ** 2).subs(u, sp.exp(sp.Symbol("x", real=True))))
    return constant


@linked
def prove() -> str:
    """Prove |g'(x) - g'(y)| <= |x - y|/(6 sqrt 3), from the formula of the readings.

    With r = 1/(1 + exp(-x)) the derivative of g' is w (w^2 - 1)/4, w = 2 r - 1 in [-1, 1]. For
    v = w and v = -w, 2 s/3 - v + v^3 = (v - s)^2 (v + 2 s) >= 0, where s = 1/sqrt 3.
    """
    ensure_zero(identities(), "the code evaluates g, g' and g'' as derivatives")
    x, hole, (a, b) = Letter("t"), Letter("hole"), (variable(name, ()).term for name in "xy")
    e, r = EXP(-x.term), INV(1 + EXP(-x.term))
    below = 1 + 2 * e + e * e
    q = INV(below)
    function = number(LETTERS.logistic_slope(number(x))).term
    slope = derivative(function, x, {})

    power, _ = cite(EXPONENTIAL, (), -x.term)
    one, r_positive = cite(RECIPROCAL, [decide(gt(1 + e, 0), power)], 1 + e)
    square_one, _ = cite(RECIPROCAL, [decide(gt(below, 0), power)], below)
    same = decide(eq(q, r * r), scale(one, q * (r + r * e + 1)), scale(square_one, r * r))
    by_q = rebuilt(slope, lambda atom: hole.term if atom.term == q else None)
    by_r = inside(same, q, r * r, by_q, hole)
    product = scale(one, r)
    formula = note(
        "g'' = r (1 - r) (1 - 2 r), where r = 1/(1 + exp(-x))",
        decide(
            eq(slope, r * (1 - r) * (1 - 2 * r)),
            *(by_r, product, scale(product, (1 + e) * (r * r * e + r - r * r))),
            scale(one, r * (1 - r) ** 2),
        ),
    )
    r_below = note("r lies between 0 and 1", decide(gt(1, r), one, power))

    root = SQRT(as_term(3))
    s = INV(root)
    root_known, root_square = cite(ROOT, [decide(ge(3, 0))], as_term(3))
    unit, s_positive = cite(RECIPROCAL, [decide(gt(root, 0), root_known, root_square)], root)
    third = decide(eq(3 * s * s, 1), scale(unit, root * s + 1), scale(root_square, s * s))
    half = decide(gt(2 * s, 1), third, s_positive)

    def bound(v: Term, end: Fact, what: Term) -> Fact:
        beyond = decide(gt(v + 2 * s, 0), half, end)
        factors = (scale(third, v), scale(third, s))
        return decide(ge(s / 6, what), formula, square(v - s), beyond, *factors)

    bounds = bound(1 - 2 * r, r_below, slope), bound(2 * r - 1, r_positive, -slope)
    note("|g''| is at most 1/(6 sqrt 3)", bounds[0])
    sharp = change_at_most(function, x, a, b, bounds)
    (printed,) = conclusion_of(_formula("literal")).sequents
    size, _ = cite(SIZE, (), a - b)
    conclude(sharp, *conclusion_of(_formula("sharp")).sequents)
    conclude(decide(printed.proposition, sharp, decide(ge(1, s / 6), third), size), printed)
    return "|g''| is at most 1/(6 sqrt 3), and so g' is Lipschitz with it, and with 1"


def _formula(reading: str) -> Formula:
    return present(LEMMA.claim(reading).formula, "the formula of a reading")

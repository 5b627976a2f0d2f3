"""The Lipschitz constant of exp(A x): e^M ||A||, where M is the largest logit at x and y.

Let E be the exponential of the largest logit at x and y. The change of each entry of exp(A x) is at
most E times that of its logit. So the change of all entries is at most E ||A (x - y)||.
"""

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.proof.arrays import LETTERS
from attsvm.theory.proof.facts import Fact, ge, note
from attsvm.theory.proof.lemmas import spectral
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import add_up, decide, one_of_sum, scale, square
from attsvm.theory.proof.terms import EXP, SQRT, Term, total
from attsvm.theory.types import Comparison
from properties.sim._support.entry import LARGE, LOGITS, MATRIX
from properties.sim.basic_1 import BOUND, POINTS_BOUNDED
from symbolic.facts import (
    end,
    entry_at_most,
    formula_of,
    image,
    index,
    length,
    letters_in,
    power,
    powers_change,
    powers_rise,
    product,
    root_at_most,
)
from symbolic.mean_value import ensure_no_less, said_by

R, SIZE = sp.symbols("R a", positive=True)
"""The radius, and ||A||."""
SHARP = formula_of(BOUND, "sharp-1")
V = letters_in(BOUND, "sharp-1")
RADIUS: Term = V.R.term
t, k = index("t", "n"), index("k", "D")
ENTRY: Term = V.A.entry((t.term,), (k.term,))
LOGIT_X, LOGIT_Y = (LETTERS.dot(V.A.row((t.term,)), point).term for point in (V.x, V.y))
LOGITS_AT = LOGIT_X, LOGIT_Y
X, Y = (point.entry((k.term,)) for point in (V.x, V.y))
APART: Term = X - Y
SPECTRAL_NORM, NORM = spectral(ENTRY, t, k), SQRT(total(APART**2, k))


def compared(A: sp.Expr, x: sp.Expr, y: sp.Expr, reading: str) -> Comparison:
    """Return the inequality of a reading for one token in one dimension, with the radius R."""
    v = SimpleNamespace(A=entries([[A]]), x=entries([x]), y=entries([y]), R=R)
    return said_by(BOUND, reading, v)


def limit_ratio(A: sp.Expr, x: sp.Expr, reading: str) -> sp.Expr:
    """Return the limit of (left/right)^2 of a reading as y -> x from below."""
    step = sp.Symbol("step", positive=True)
    sides = compared(A, x, x - step, reading)
    return sp.limit(sides.left**2 / sides.right**2, step, 0)


def ensure_reached(reading: str, A: sp.Expr, x: sp.Expr, what: str) -> None:
    """Prove that no constant below that of a reading suffices: difference quotients tend to it."""
    ensure_equal(limit_ratio(A, x, reading), 1, what)
    ensure_no_less(what, sp.exp(SIZE * sp.Symbol("x", real=True)))


def change(bound: Term, top: Fact, other: Fact) -> Fact:
    """Return that ||exp(A x) - exp(A y)|| <= E ||A|| ||x - y||.

    Args:
        bound: of the logits; E is its exponential.
        top: that it is at least each logit at x.
        other: that it is at least each logit at y.
    """
    E = EXP(bound)
    tops = (powers_rise(s, bound, fact) for s, fact in ((LOGIT_X, top), (LOGIT_Y, other)))
    each = powers_change(LOGIT_X, LOGIT_Y, E, *tops)
    each = note("(e^a - e^b)^2 <= E^2 (a - b)^2 for the logits a and b of each token", each)
    size, moved = image(ENTRY, t, k, APART)
    apart, apart_square = length(APART, k)
    left, A = EXP(LOGIT_X) - EXP(LOGIT_Y), SPECTRAL_NORM
    moved = decide(ge(E**2 * moved.proposition.term, 0), moved, square(E))
    factor = scale(apart_square, E**2 * A**2)
    whole = decide(ge((E * A * NORM) ** 2, total(left**2, t)), add_up(each, t), moved, factor)
    right = product(power(bound), size, apart)
    return root_at_most(right, length(left, t), whole)


def larger(sharp: Fact, matrix: Fact, more: Fact | None = None) -> Fact:
    """Return the bound with R in place of ||A||, and with a larger exponential if it is one."""
    left = SQRT(total((EXP(LOGIT_X) - EXP(LOGIT_Y)) ** 2, t))
    apart, _ = length(APART, k)
    spare = [product(power(RADIUS if more else RADIUS**2), matrix, apart)]
    if more:
        size, _ = image(ENTRY, t, k, APART)
        spare.append(product(decide(ge(RADIUS, 0), matrix, size), more, apart))
    return decide(ge(RADIUS * EXP(RADIUS**2) * NORM, left), sharp, *spare)


def logit_at_most(point_at: Fact, matrix: Fact, point: Term) -> Fact:
    """Return that no logit is above R^2, as ||A|| <= R and the norm of the point is at most R."""
    size, moved = image(ENTRY, t, k, point)
    root, root_square = length(point, k)
    A, norm = SPECTRAL_NORM, SQRT(total(point**2, k))
    more = decide(
        ge(RADIUS**2, A * norm),
        *(size, point_at, product(decide(ge(RADIUS, 0), matrix, size), matrix)),
    )
    positive = product(size, root)
    logit = total(ENTRY * point, k)
    each = one_of_sum(square(logit), t)
    below = decide(ge(RADIUS**4, logit**2), more, positive, moved, scale(root_square, A**2), each)
    return decide(ge(RADIUS**2, logit), below, square(RADIUS))


@linked
def prove() -> str:
    """Prove the bound with the largest logit, which is at most R where ||A x||, ||A y|| are."""
    reached = (
        "the difference quotients of exp(A x) tend to the constant of sharp-1 where A x = R, "
        "for any ||A||"
    )
    ensure_reached("sharp-1", SIZE, R / SIZE, reached)
    tops = (entry_at_most(s, t, f) for s, f in zip(LOGITS_AT, suppose(LOGITS, SHARP), strict=True))
    end(BOUND, "sharp-1", by=[change(RADIUS, *tops)])
    return "||exp(A x) - exp(A y)|| <= e^M ||A|| ||x - y|| for every n, M the largest logit"


@linked
def prove_published() -> str:
    """Prove that the printed constant is at least that of sharp-1 if R >= 1 and ||A|| <= R."""
    tops = (entry_at_most(s, t, f) for s, f in zip(LOGITS_AT, suppose(LOGITS, SHARP), strict=True))
    sharp = change(RADIUS, *tops)
    (large,) = suppose(LARGE, SHARP)
    (matrix,) = suppose(MATRIX, SHARP)
    more = powers_rise(RADIUS, RADIUS**2, decide(ge(RADIUS**2, RADIUS), large))
    end(BOUND, "literal-1", "amended", by=[larger(sharp, matrix, more)])
    return "||A|| e^R <= R exp(R^2) for ||A|| <= R and R >= 1"


@linked
def prove_in_ball() -> str:
    """Prove that logits are at most R^2 if ||x||, ||y|| and ||A|| are at most R."""
    reached = (
        "the difference quotients of exp(A x) tend to the constant of sharp-2 at x = R, for A = R"
    )
    ensure_reached("sharp-2", R, R, reached)
    (matrix,) = suppose(MATRIX, SHARP)
    tops = []
    for fact, point in zip(suppose(POINTS_BOUNDED, SHARP), (X, Y), strict=True):
        tops.append(logit_at_most(fact, matrix, point))
    sharp = change(RADIUS**2, *tops)
    end(BOUND, "sharp-2", by=[larger(sharp, matrix)])
    return "||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y|| where ||A||, ||x||, ||y|| <= R"

"""The output x^att of attention and the tokens x_t, compared along a vector u, for any n tokens.

The formulas of the claims are evaluated on a_t = <u, x_t>, where n is a symbol. Letters stand for
the softmax weights s_t and for the largest and the least a_t, or gap of two. Each formula compares
0 with a sum over tokens, and the proof shows the sign of one term. The s_t are positive with sum 1.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.proof import expanded, simplified, suppose
from attsvm.theory.proof.facts import gt
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import add_up, at, attained, decide, exchange, one_of_sum, scale
from attsvm.theory.proof.rules import suppose as suppose_linked
from attsvm.theory.proof.terms import EXP, INV, least, most, substituted
from attsvm.theory.proof.terms import total as total_over
from attsvm.theory.types import Numbers
from properties._support.formulas import SEVERAL
from properties.tf import convex_combination as statement
from properties.tf.convex_combination import COMBINATION
from properties.tf.convex_combination.conclusion import exposed, far, short_of
from symbolic.attended import best_gap, t
from symbolic.facts import end, formula_of, index, letters_in, product, softmax, some_of
from symbolic.inner_products import Vector, inner, vector
from symbolic.least_points import ensure_product
from symbolic.sums import Lengths, entry, n, total
from symbolic.textbook import CAUCHY_SCHWARZ, JENSEN, SECOND_DERIVATIVE
from symbolic.tf import definition_1
from symbolic.tf.definition_1 import BEST, GAMMA, NEXT, RANGE, Tokens, added
from symbolic.tf.definition_1 import S as WEIGHT
from symbolic.tf.softmax_range import CONVEX_EXP, ensure_convex_exp
from symbolic.tf.softmax_range import ensure_inside as ensure_softmax_inside

S = sp.Symbol("s_t", positive=True)
k = index("k", "d")
MORE, LESS = sp.symbols("more less", nonnegative=True)


class _Attended(Tokens):
    """The arithmetic of tokens in which softmax has letters as weights."""

    def __init__(self, *weights: sp.Expr) -> None:
        self.weights = weights

    def softmax(self, s: Numbers) -> Numbers:
        """Return the attention."""
        return entries(list(self.weights))


def _along(*a: sp.Expr) -> SimpleNamespace:
    """Return an instance whose tokens are the numbers a_t, with u = 1."""
    one = entries([sp.Integer(1)])
    W = entries([[sp.Symbol("W", real=True)]])
    return SimpleNamespace(T=len(a), X=entries([[x] for x in a]), W=W, z=one, u=one)


@linked
def prove_hull() -> str:
    """Prove that <u, x^att> is at most the largest a_t."""
    v = letters_in(COMBINATION, "literal-1")
    a, logit = (v.X @ v.u).entry((t.term,)), (v.X @ (v.W @ v.z)).entry((t.term,))
    weights = softmax(logit, t, some_of(COMBINATION, "literal-1", "T"))
    short = add_up(product(weights.positive, best_gap(a, t)), t)
    entry = v.X.entry((t.term,), (k.term,)) * v.u.entry((k.term,)) * EXP(logit)
    swapped = scale(exchange(entry, k, t), INV(weights.sum))
    (conclusion,) = conclusion_of(formula_of(COMBINATION, "literal-1")).sequents
    one = scale(weights.one(t), most(a, t))
    end(COMBINATION, "literal-1", by=[decide(conclusion.proposition, short, swapped, one)])
    return "for any T, d and W: softmax of one token is 1, and of more it is positive with sum 1"


@linked
def prove_inside() -> str:
    """Prove that <u, x^att> is below the largest a_t if two differ."""
    v, formula = letters_in(COMBINATION, "sharp-1"), formula_of(COMBINATION, "sharp-1")
    a, logit = (v.X @ v.u).entry((t.term,)), (v.X @ (v.W @ v.z)).entry((t.term,))
    (apart,) = suppose_linked(statement.APART, formula)
    some = some_of(COMBINATION, "sharp-1", "T")
    weights, gap = softmax(logit, t, some), best_gap(a, t)
    worst, is_worst = attained("worst", least(a, t), some)
    places = {t: worst()}
    each = at(one_of_sum(product(weights.positive, gap), t), places)
    far = decide(gt(most(a, t) - substituted(a, places), 0), apart, is_worst)
    part = decide(
        gt(substituted(weights.weight, places) * (most(a, t) - substituted(a, places)), 0),
        *(at(weights.positive, places), far),
    )
    end(
        COMBINATION,
        "sharp-1",
        by=[decide(gt(total_over(weights.weight * (most(a, t) - a), t), 0), each, part)],
    )
    return "for any T, d and W"


def prove_short() -> str:
    """Prove that <u, x_1 - x^att>/(1 - s_1) lies between the least gap and the largest one.

    A gap is <u, x_1 - x_t> for another token x_t.
    """
    ensure_softmax_inside()
    first = sp.Symbol("s_1", positive=True)
    comparison = short_of(_Attended(first, WEIGHT), _along(BEST, GAMMA), 1)
    above, low, high = (part.right - part.left for part in comparisons(comparison))
    # in the formulas the largest gap has the letter of the largest a_t
    terms = (
        definition_1.ADDED,
        definition_1.ADDED - WEIGHT * NEXT,
        WEIGHT * RANGE - definition_1.ADDED,
    )
    high = high - BEST * total(WEIGHT) + RANGE * total(WEIGHT)
    bounds = "0", "(1 - s_1) times the least gap", "(1 - s_1) times the largest gap"
    for difference, term, what in zip((above, low, high), terms, bounds, strict=True):
        ensure_equal(
            difference,
            total(term),
            f"the comparison of <u, x_1 - x^att> with {what} is a sum over the other tokens",
        )
    suppose(statement.EXPOSED, SEVERAL)
    asked = exposed(_Attended(first, WEIGHT), _along(BEST, GAMMA))
    ensure_equal(
        asked.right - asked.left,
        NEXT,
        "the hypothesis of the reading says that the least gap is above 0",
    )
    least = sp.Symbol("least", positive=True)
    ensure_positive(
        added(definition_1.ADDED, S, BEST - (asked.right - asked.left) - MORE).subs(NEXT, least),
        "a gap is at least the least one, so that each is positive, and so are the terms of "
        "the comparison with 0",
    )
    ensure_nonnegative(
        [added(terms[1], S, BEST - NEXT - MORE), added(terms[2], S, BEST - RANGE + MORE)],
        "a gap is at least the least one and at most the largest, so that no term of the "
        "other comparisons is negative",
    )
    return "for any T >= 2, d and W"


FIRST, OTHER = sp.Symbol("a_1", real=True), entry("a")
"""The logits <x_1, W z> and <x_t, W z>."""
POWERS = sp.Symbol("powers", positive=True)
"""The sum of the exponentials of all logits."""


class _Apart(Lengths):
    """The arithmetic for x_1 and n other tokens, which are vectors of any dimension."""

    def softmax(self, s: Numbers) -> Numbers:
        """Return the weight of x_1, and the weight of another token."""
        return entries([sp.exp(a) / POWERS for a in s])

    def sums(self, x: object) -> Any:
        """Return the sum of the other tokens, n (x_1 - y), where x_1 - y is their mean."""
        return n * (vector("x_1") - vector("y"))

    def square(self, x: Any) -> Any:
        """Return the squared norm of a vector or matrix, which is already a sum."""
        return x @ x

    def sum(self, x: Numbers) -> sp.Expr:
        """Return the sum over tokens; an expression is a sum already and is returned unchanged."""
        return x if isinstance(x, sp.Expr) else super().sum(x)


class _Keys:
    """The tokens: x_1, and the t-th of the others with its logit."""

    T = None

    def __init__(self, logit: sp.Expr) -> None:
        self.logit = logit

    def __getitem__(self, at: int) -> Vector | _Keys:
        return vector("x_1") if at == 0 else self

    def __matmul__(self, along: Vector) -> Numbers:
        return entries([FIRST, self.logit])


class _Weights:
    """The matrix W: `W @ W` is its squared norm, and `W @ z` a vector named W z."""

    def __matmul__(self, other: object) -> sp.Expr | Vector:
        return inner("W", "W") if other is self else vector("W z")


def prove_far() -> str:
    """Prove that (1 - s_1)/s_1 >= (T - 1) exp(-||x_1 - mean|| ||z|| ||W||).

    `mean` is the mean of the other tokens. Equality holds if these are all equal and W = c y z^T
    with y = x_1 - mean, c >= 0.
    """
    suppose(SEVERAL)  # so that the other tokens have a mean
    others = {"T": n + 1, "W": _Weights(), "z": vector("z")}
    comparison = far(_Apart(), SimpleNamespace(X=_Keys(OTHER), **others))
    ensure_equal(
        comparison.right,
        total(sp.exp(OTHER - FIRST)),
        "the odds are the sum over the other tokens of exp(a_t - a_1)",
        normal=expanded,
    )
    ensure_convex_exp()
    cite(JENSEN, met={SECOND_DERIVATIVE: CONVEX_EXP})
    y, z, p = (vector(name) for name in ("y", "z", "p"))
    ensure_equal(
        total(OTHER - FIRST).subs(total(OTHER), _Apart().sums(None) @ vector("W z")) / n,
        inner("W z", "x_1") - FIRST - y @ vector("W z"),
        "the odds are at least T - 1 times exp of the mean of a_t - a_1, which is -<y, W z> "
        "with y = x_1 - mean of the x_t, as a_1 = <W z, x_1>",
    )
    ensure_equal(
        y @ (inner("q", "z") * p),
        inner("p", "y") * inner("q", "z"),
        "<y, W z> is <p, y> <q, z> for W = p q^T, of which every W is a sum",
    )
    ensure_product()  # so that it is <W, y z^T>, and ||y z^T|| is ||y|| ||z||
    cite(CAUCHY_SCHWARZ)
    ensure_equal(
        comparison.left,
        n * sp.exp(-sp.sqrt((y @ y) * (z @ z) * inner("W", "W"))),
        "the exponent of the formula is ||y|| ||z|| ||W||, at least <y, W z>",
        normal=simplified,
    )
    c = sp.Symbol("c", nonnegative=True)
    size = c * (y @ y) * (z @ z)  # <y, W z> for W = c y z^T, where ||W||^2 is c times this number
    attained: Any = far(_Apart(), SimpleNamespace(X=_Keys(FIRST - size), **others))
    ensure_equal(
        [attained.left.subs(inner("W", "W"), c * size), attained.right],
        [n * sp.exp(-size)] * 2,
        "where W = c y z^T, c >= 0, and x_t = x_1 - y for all t > 1, so that a_1 - a_t is "
        "c ||y||^2 ||z||^2, both sides are T - 1 times its exponential: the bound is attained",
        normal=simplified,
    )
    return "for any T >= 2, d and W"

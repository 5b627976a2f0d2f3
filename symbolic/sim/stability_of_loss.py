"""Lipschitz constants of one entry of the loss, softmax against linear attention, for any n.

Let f = softmax(A x) and z be a unit vector. The slope of <f, h> along z is Cov_f(h, A z). Over all
A and h of given norms it is at most ||A|| ||h||/2, as softmax is 1/2-Lipschitz (`basic_4`). On
given data it is at most osc(h) osc(A z)/4, by the inequalities of Cauchy-Schwarz and Popoviciu, and
osc(A z) is at most diam(A). The slope of the loss is l' times the slope of <f, h>.

Linear attention's loss is l(<A x, h>), so that z^T Hess z = l'' <A z, h>^2. This gives the largest
constants of its gradient (`ensure_squared_linear`, `ensure_logistic_linear`).

The readings of `sim/stability-l2` and `sim/stability-logistic` that follow are in
docs/proofs/stability.md.
"""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols, numerator, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, simplified
from attsvm.theory.proof.linked import linked
from attsvm.theory.types import Namespace, Numbers
from properties.sim import stability_l2, stability_logistic
from properties.sim._support.entry_loss import loss, squared_loss
from symbolic import textbook
from symbolic.curvature import ensure_hessian
from symbolic.mean_value import ensure_lipschitz, ensure_no_less, of_two
from symbolic.sim import lemma_3_12, stability_facts, stability_gradients
from symbolic.sums import LENGTHS, entry, total, vector

SPREAD, HEAD, LABEL, EDGE = sp.symbols("spread h b R", nonnegative=True)
"""In order: ||A|| ||h|| or ||A^T h||, ||h||, |b|, and R."""


def constant_of(
    statement: ModuleType, share: sp.Expr, data: str, of: str = "loss", symbols: Namespace = SYMBOLS
) -> sp.Expr:
    """Return the factor of ||x - y|| in a reading, in `SPREAD`, `HEAD`, `LABEL` and `EDGE`.

    The reading is evaluated for one token in one dimension, for which ||A|| ||h|| and ||A^T h|| are
    both |A_0 h_0|.
    """
    A, h = (symbols_of(name, 1, positive=True) for name in "Ah")
    x, y = (symbols_of(name, 1) for name in "xy")
    b, R = sp.symbols("b R", nonnegative=True)
    v = SimpleNamespace(A=A.reshape(1, 1), h=h, x=x, y=y, b=b, R=R)
    right = statement.compared(symbols, v, of, data, share).right
    per_length = simplified(right / sp.Abs(x[0] - y[0]))
    return cancelled(per_length.subs({A[0]: SPREAD / HEAD, h[0]: HEAD}))


class _Spans(Symbols):
    """The arithmetic of symbols with letters for max h - min h, max |h - b| and diam(A)."""

    def __init__(self, w: sp.Expr, r: sp.Expr, diameter: sp.Expr) -> None:
        self.spans = w, r, diameter

    def oscillation(self, x: Numbers) -> sp.Expr:
        """Return the letter w."""
        return self.spans[0]

    def largest(self, x: Numbers) -> sp.Expr:
        """Return the letter r."""
        return self.spans[1]

    def diameter(self, A: Numbers) -> sp.Expr:
        """Return the letter of the diameter."""
        return self.spans[2]


def slope_at_zero(
    entry: Callable[..., sp.Expr], size: sp.Expr, head: sp.Expr, b: sp.Expr
) -> sp.Expr:
    """Return the entry's slope at x = 0 for two tokens, A = size (1, -1) and h = head (1, -1)."""
    x = sp.Symbol("x", real=True)
    A, h = entries([[size], [-size]]), entries([head, -head])
    value = entry(SYMBOLS, A, entries([x]), h, b)
    return simplified(sp.diff(value, x).subs(x, 0))


def norms_at_zero(size: sp.Expr, head: sp.Expr, b: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """Return the values of `SPREAD`, `HEAD` and `LABEL` for the tokens of `slope_at_zero`."""
    A, h = entries([[size], [-size]]), SYMBOLS.norm(entries([head, -head]))
    return {SPREAD: SYMBOLS.spectral(A) * h, HEAD: h, LABEL: b}


def ensure_linear_attains(
    statement: ModuleType, at: sp.Expr, entry: Callable[..., sp.Expr]
) -> None:
    """Prove that one token attains linear attention's constant, which bounds its slopes.

    Args:
        statement: the statement whose constant is compared.
        at: the logit A x of the token.
        entry: the loss of linear attention.
    """
    x, A, h = sp.symbols("x A h", positive=True)
    b = -LABEL
    value = entry(SYMBOLS, entries([[A]]), entries([x]), entries([h]), b)
    steepest = sp.Abs(sp.diff(value, x).subs(x, at / A))
    constant = constant_of(statement, 1, "norms").subs({SPREAD: A * h, HEAD: h})
    reached = "the slope of linear attention at one token is its constant"
    ensure_equal(steepest, constant, reached, normal=simplified)
    ensure_no_less(reached, value)


def linear_in_two(entry: Callable[..., sp.Expr]) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return linear attention's loss for two tokens in the plane, with x and A^T h, on symbols."""
    A, x, h = symbols_of("A", 2, 2), symbols_of("x", 2), symbols_of("h", 2)
    return entry(SYMBOLS, A, x, h, LABEL), x, A.T @ h


class _Rows:
    """A matrix of any size that maps the symbols x and z to vectors named A x and A z."""

    def __matmul__(self, point: sp.Expr) -> Numbers:
        return vector(point.subs({_X: entry("Ax"), _Z: entry("Az")}))


_X, _Z, _STEP = sp.symbols("x z step", real=True)
SCORE, RISE = sp.symbols("score rise", real=True)
"""<A x, h> and <A z, h>."""


def derivative_along(loss: Callable[..., sp.Expr], b: sp.Expr, order: int) -> sp.Expr:
    """Return a derivative of linear attention's loss along z at x, for any n and any dimension."""
    value = loss(LENGTHS, _Rows(), _X + _STEP * _Z, vector(entry("h")), b)
    derivative = sp.diff(value, _STEP, order).subs(_STEP, 0)
    inner = {total(entry(name) * entry("h")): d for name, d in (("Ax", SCORE), ("Az", RISE))}
    return derivative.subs(inner)


def ensure_linear_bounded(statement: ModuleType, data: str, slope: sp.Expr, most: sp.Expr) -> None:
    """Prove that no slope of linear attention's loss exceeds the constant of a statement.

    Args:
        statement: the statement whose constant is compared.
        data: "same" for the constant with ||A^T h||, "norms" for that with ||A|| ||h||.
        slope: l' at <A x, h>, for the label `_LABEL`.
        most: an upper bound of |l'|, in the letters of `constant_of`.
    """
    ensure_zero(
        derivative_along(statement.linear_loss, _LABEL, 1) - slope * RISE,
        "linear attention has the slope l' <A z, h> along z, for any n and D",
        normal=numerator,
    )
    cite(textbook.CAUCHY_SCHWARZ)  # |<A z, h>| <= ||A^T h|| for ||z|| = 1
    cite(textbook.SINGULAR_VALUES)  # and that is at most ||A|| ||h||
    size, more = sp.symbols("size more", nonnegative=True)
    bound = (
        "no slope of linear attention's loss exceeds the constant with which softmax is compared"
    )
    compared = constant_of(statement, 1, data).subs(SPREAD, size + more)
    ensure_nonnegative(compared - most * size, bound, normal=expanded)
    ensure_lipschitz(bound, of_two(statement.linear_loss))


def ensure_logistic_bounded(data: str) -> None:
    """Prove `ensure_linear_bounded` for the logistic loss, by |l'| = |b| g' and g' <= 1/4."""
    slope = _LABEL * SYMBOLS.logistic_slope(_LABEL * SCORE)
    ensure_linear_bounded(stability_logistic, data, slope, LABEL / 4)


def ensure_squared_bounded() -> None:
    """Prove `ensure_linear_bounded` for the squared loss and ||A x|| <= R.

    |l'| is 2 |<A x, h> - b|.
    """
    cite(textbook.TRIANGLE)
    score, less = sp.symbols("|score| less", nonnegative=True)
    ensure_nonnegative(
        2 * (score + less + LABEL) - 2 * (score + LABEL),
        "|l'| is at most 2 (|<A x, h>| + |b|), and |<A x, h>| <= ||A x|| ||h|| <= R ||h||",
    )
    ensure_linear_bounded(stability_l2, "norms", 2 * (SCORE - _LABEL), 2 * (EDGE * HEAD + LABEL))


def ensure_largest(
    statement: ModuleType, second: sp.Expr, most: sp.Expr, score: sp.Expr
) -> sp.Expr:
    """Prove that a statement has the largest Lipschitz constant of linear attention's gradient.

    The largest is over all A and h of given norms.

    Args:
        statement: the statement whose constant is compared.
        second: l'' at <A x, h>, for the label `_LABEL`.
        most: the largest |l''|.
        score: a value of <A x, h> for which |l''| is the largest.

    Returns:
        The constant, in the letters of `constant_of`.

    Raises:
        ProofError: the constant of the statement is another one, or z^T Hess z is not
            l'' <A z, h>^2.
    """
    bend = derivative_along(statement.linear_loss, _LABEL, 2)
    ensure_zero(
        bend - second * RISE**2,
        "linear attention has z^T Hess z = l'' <A z, h>^2, for any n and D",
        normal=numerator,
    )
    constant = constant_of(statement, 1, "norms", "gradient")
    cite(textbook.SINGULAR_VALUES)  # |<A z, h>| <= ||A|| ||h|| for ||z|| = 1, with equality
    size, more = sp.symbols("size more", nonnegative=True)
    bound = "no |z^T Hess z| of linear attention's loss exceeds the constant that is compared"
    ensure_nonnegative(constant.subs(SPREAD, size + more) - most * size**2, bound, normal=expanded)
    ensure_hessian(bound, of_two(statement.linear_loss))
    reached = (
        "z^T Hess z of linear attention's loss is that constant for h and z along singular vectors "
        "of ||A|| and x along z, so that <A x, h> is any number"
    )
    ensure_equal(
        bend.subs({RISE: SPREAD, SCORE: score}),
        constant.subs(LABEL, sp.Abs(_LABEL)),
        reached,
        normal=lambda x: sp.expand(sp.radsimp(x)),
    )
    ensure_no_less(reached, of_two(statement.linear_loss))
    return constant


_LABEL = sp.Symbol("b", real=True, nonzero=True)


def ensure_squared_linear() -> sp.Expr:
    """Prove that the gradient of (<A x, h> - b)^2 has the largest constant 2 ||A||^2 ||h||^2."""
    return ensure_largest(stability_l2, sp.Integer(2), sp.Integer(2), SCORE)


def ensure_logistic_linear() -> sp.Expr:
    """Prove that the gradient of g(b <A x, h>) has a largest constant over given norms.

    It is b^2 ||A||^2 ||h||^2 sup |g''|.
    """
    most = LABEL**2 * lemma_3_12.ensure_curvature()
    *_, second = lemma_3_12.derivatives(2)
    second = _LABEL**2 * second.subs(lemma_3_12.u, sp.exp(_LABEL * SCORE))
    root = 1 / sp.sqrt(3)  # g'' is largest where e^(b <A x, h>) is (1 - root)/(1 + root)
    return ensure_largest(
        stability_logistic, second, most, sp.log((1 - root) / (1 + root)) / _LABEL
    )


@linked
def prove_logistic_over_norms() -> str:
    """Prove that |L(x) - L(y)| <= |b| ||A|| ||h||/8 ||x - y||, attained."""
    stability_facts.logistic_over_norms()
    compared = constant_of(stability_logistic, sp.Rational(1, 2), "norms")
    ensure_logistic_bounded("norms")
    ensure_linear_attains(stability_logistic, sp.Integer(0), stability_logistic.linear_loss)
    two = sp.symbols("size head b", positive=True)
    reached = "the slope at x = 0 for A and h along (1, -1) is half of linear attention's constant"
    ensure_equal(slope_at_zero(loss, *two), compared.subs(norms_at_zero(*two)), reached)
    ensure_no_less(reached, of_two(loss))
    return "|b| ||A|| ||h||/8 is the best constant over all A and h of these norms, any n >= 2"


@linked
def prove_logistic_on_data() -> str:
    """Prove that |L(x) - L(y)| <= |b| ||A^T h||/4 ||x - y|| where ||A^T h|| >= osc(h) diam(A)/4."""
    stability_facts.logistic_on_data()
    ensure_logistic_bounded("same")
    linear, x, slope_x = linear_in_two(stability_logistic.linear_loss)
    ensure_equal(
        [sp.diff(linear, y).subs(dict.fromkeys(x, 0)) for y in x],
        [LABEL / 4 * p for p in slope_x],
        "the slope b g' A^T h of linear attention is b A^T h/4 at x = 0, so that |b| ||A^T "
        "h||/4 is its constant",
        normal=simplified,
    )
    return "on the same data, for any n, by a quarter of the product of oscillations"


@linked
def prove_squared_at_radius() -> str:
    """Prove the printed bound, which is at least twice as large for R >= 4."""
    stability_facts.squared_at_radius()
    ensure_squared_bounded()
    ensure_linear_attains(stability_l2, EDGE, stability_l2.linear_loss)
    return "half of linear attention's constant over all A and h of these norms, any n >= 2"


@linked
def prove_squared_over_norms() -> str:
    """Prove that |L(x) - L(y)| <= ||A|| ||h|| (R ||h|| + |b|) ||x - y|| for R >= 1.

    This is half of linear attention's constant.
    """
    stability_facts.squared_at_unit_radius()
    compared = constant_of(stability_l2, sp.Rational(1, 2), "norms")
    ensure_squared_bounded()
    ensure_linear_attains(stability_l2, EDGE, stability_l2.linear_loss)
    size, head, b = sp.symbols("size head b", positive=True)
    ratio = -slope_at_zero(squared_loss, size, head, b) / compared.subs(
        norms_at_zero(size, head, b)
    )
    reached = (
        "the slope at x = 0 for A and h along (1, -1), over half of linear attention's "
        "constant, tends to 1 as b grows"
    )
    ensure_equal(sp.limit(ratio, b, sp.oo), sp.Integer(1), reached)
    ensure_no_less(reached, of_two(squared_loss))
    return "half of linear attention's constant over all A and h of these norms, any n >= 2"


@linked
def prove_squared_on_data() -> str:
    """Prove that |L(x) - L(y)| <= 2 ||A^T h|| (max |h| + |b|) ||x - y|| on the same data.

    The hypothesis is ||A^T h|| >= osc(h) diam(A)/4. If also R ||A^T h|| >= ||A|| max |h|, linear
    attention has no smaller constant.
    """
    stability_facts.squared_on_data()
    less, most = sp.symbols("less max|h|", nonnegative=True)
    constant = constant_of(
        stability_l2, 1, "reached", symbols=_Spans(w=HEAD, r=most, diameter=HEAD)
    )
    weighted, norm = sp.symbols("||A^Th|| ||A||", positive=True)
    radius = (norm * most + less) / weighted  # R, as R ||A^T h|| >= ||A|| max |h|
    cite(textbook.SINGULAR_VALUES)  # so ||A x|| <= R for x of length R/||A||
    linear = derivative_along(stability_l2.linear_loss, -LABEL, 1)
    reached = (
        "linear attention has at least that slope along A^T h at x = R A^T h/(||A|| ||A^T h||), "
        "where ||A x|| <= R (for b > 0 at -x)"
    )
    ensure_nonnegative(
        linear.subs({RISE: weighted, SCORE: radius * weighted / norm})
        - constant.subs(SPREAD, weighted),
        reached,
        normal=expanded,
    )
    ensure_no_less(reached, of_two(stability_l2.linear_loss))
    return "on the same data, for any n, by a quarter of the product of oscillations"


@linked
def prove_squared_gradient_on_data() -> str:
    """Prove that the gradient changes by at most 2 ||A^T h||^2 ||x - y|| if ||A^T h|| is large.

    The hypothesis of the reading says how large.
    """
    stability_gradients.squared_on_data()
    linear, x, slope_x = linear_in_two(stability_l2.linear_loss)
    ensure_equal(
        [sp.diff(linear, y, z) for y in x for z in x],
        [2 * p * q for p in slope_x for q in slope_x],
        "linear attention's Hessian is 2 (A^T h) (A^T h)^T, of norm 2 ||A^T h||^2, at every x",
        normal=expanded,
    )
    return "on the same data, for any n, by the curvature of lemma 3.13's l2 form"

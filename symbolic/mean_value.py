"""Evaluation of readings on symbols, and Lipschitz constants from bounds of slopes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.errors import present
from attsvm.theory import (
    Statement,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import Supposition, cancelled, simplified
from attsvm.theory.types import Comparison, Numbers, Values
from symbolic.continuity import ensure_smooth
from symbolic.textbook import (
    DIFFERENCE_QUOTIENTS,
    DIFFERENTIABLE,
    MEAN_VALUE,
    REACHED,
    SLOPE,
)

SOFTMAX = [*SYMBOLS.softmax(entries(sp.symbols("x y", real=True)))]
"""The softmax weights of two logits x and y; more tokens add exponentials to the denominator."""


def of_two(entry: Callable[..., sp.Expr]) -> Numbers:
    """Return a loss of attention, by the code that runs, for two tokens in one dimension.

    The loss is examined for the functions that it is composed of. More tokens make longer sums of
    the same functions.

    Args:
        entry: the loss, a function of an arithmetic and of A, x, h and b.
    """
    A, x, h = symbols_of("A", 2, 1), symbols_of("x", 1), symbols_of("h", 2)
    return entry(SYMBOLS, A, x, h, symbols_of("b"))


def said_by(statement: Statement, reading: str, v: Values) -> Comparison:
    """Return the inequality of a reading at symbols v, by the formula that runs.

    Raises:
        ProofError: the conclusion of the reading is not an inequality.
    """
    formula = present(statement.claim(reading).formula, "the formula of a reading")
    comparison: Any = formula.relation(SYMBOLS, v, {})
    ensure_true(comparison.kind == "at most", f"{statement.id}:{reading} is an inequality")
    return comparison


def ensure_bound_of_slope(
    statement: Statement,
    reading: str,
    function: Callable[[sp.Expr], sp.Expr],
    constant: sp.Expr,
    supremum: sp.Expr,
) -> None:
    """Prove that a reading says |f(x) - f(y)| <= c |x - y|, and that it holds, as c >= sup |f'|.

    The formula that runs is evaluated on symbols, so that the proof is about the code.

    Args:
        statement: a statement with two real variables x and y.
        reading: the name of one of its readings.
        function: f(ln u) as a function of u > 0.
        constant: c, as the reading prints it.
        supremum: the supremum of |f'|, proved elsewhere.

    Raises:
        ProofError: the sides of the reading are not |f(x) - f(y)| and c |x - y|, or c is below
            `supremum`.
    """
    x, y = sp.symbols("x y", real=True)
    comparison = said_by(statement, reading, SimpleNamespace(x=x, y=y))
    change = function(sp.exp(x)) - function(sp.exp(y))
    left: sp.Expr = comparison.left
    ensure_true(left.func is sp.Abs, f"{reading}: the left side is an absolute value")
    squares = left.args[0] ** 2 - change**2  # sympy chooses the sign within |.|
    ensure_zero(_rational(squares), f"{reading}: the left side is |f(x) - f(y)|")
    ratio = cancelled(comparison.right / sp.Abs(x - y))
    ensure_equal(ratio, constant, f"{reading}: the constant is the printed one", normal=simplified)
    slope = f"{reading}: the constant is at least the supremum of |f'|"
    ensure_nonnegative(constant - supremum, slope)
    ensure_lipschitz(slope, function(sp.exp(x)))


def ensure_derivatives(
    function: object, text: str, *supposed: tuple[type[sp.Expr], Supposition]
) -> str:
    """Prove that the function of a step has derivatives, since its components have them.

    Args:
        function: the function, or a list of its entries, on symbols.
        text: the sentence of the step.
        supposed: functions that may occur in it, with the hypotheses on their derivatives.

    Returns:
        The name of this step.
    """
    smooth = f"{text}: the function has derivatives, as what it is composed of has them"
    ensure_smooth(function, smooth, *supposed)
    return smooth


def ensure_lipschitz(
    slope: str, function: object, *supposed: tuple[type[sp.Expr], Supposition], of: str = ""
) -> None:
    """Prove that a bound of the slope along every unit vector is a Lipschitz constant in R^D.

    Args:
        slope: the step that has shown the bound, or the instance of the lemma that was cited.
        function: the function, or a list of its entries, on symbols.
        supposed: functions that may occur in it, with the hypotheses that they are differentiable.
        of: the name of the function, in a sentence that can meet hypotheses.
    """
    smooth = ensure_derivatives(function, slope, *supposed)
    cite(MEAN_VALUE, met={SLOPE: slope, DIFFERENTIABLE: smooth}, of=of)


def ensure_no_less(
    reached: str, function: object, *supposed: tuple[type[sp.Expr], Supposition]
) -> None:
    """Prove that no Lipschitz constant is below a limit of slopes or difference quotients.

    Args:
        reached: the step that has shown the limit.
        function: the function, or a list of its entries, on symbols.
        supposed: functions that may occur in it, with the hypotheses that they are differentiable.
    """
    smooth = ensure_derivatives(function, reached, *supposed)
    cite(DIFFERENCE_QUOTIENTS, met={REACHED: reached, DIFFERENTIABLE: smooth})


def _rational(value: sp.Expr) -> sp.Expr:
    """Return an expression in exp(x) and exp(y) as a rational function of these two powers."""
    x, y = sp.symbols("x y", real=True)
    u, v = sp.symbols("u v", positive=True)
    return cancelled(value.subs({x: sp.log(u), y: sp.log(v)}))

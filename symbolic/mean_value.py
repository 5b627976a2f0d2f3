"""Evaluation of readings on symbols, and Lipschitz constants from bounds of slopes."""

from collections.abc import Callable
from typing import Any

import sympy as sp

from attsvm.errors import present
from attsvm.theory import Statement, cite, ensure_true
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.types import Comparison, Numbers, Values
from symbolic.continuity import ensure_smooth
from symbolic.textbook import DIFFERENCE_QUOTIENTS, DIFFERENTIABLE, MEAN_VALUE, REACHED, SLOPE

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

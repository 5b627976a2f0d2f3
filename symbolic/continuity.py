"""Checks that an expression is continuous or smooth, from the functions that it is composed of."""

from collections.abc import Collection

import sympy as sp

from attsvm.theory import cite, ensure_true
from attsvm.theory.declaration.proof import Supposition, suppose
from symbolic.textbook import COMPACT, CONTINUOUS, HEINE_BOREL, WEIERSTRASS

_SMOOTH = (sp.exp, sp.sin, sp.cos, sp.tanh)
_CONTINUOUS = (sp.Abs, sp.Min, sp.Max)


def ensure_smooth(
    expressions: object, what: str, *supposed: tuple[type[sp.Expr], Supposition]
) -> None:
    """Raise unless expressions have all derivatives at all real values of their letters.

    Expressions may be sums, products, natural powers, exp, sin, cos and tanh, and logarithms and
    other powers of arguments that sympy knows to be positive. Supposed functions have the supposed
    derivatives.

    Args:
        expressions: one expression, or a list or an array of expressions.
        what: the name of the expressions.
        supposed: functions that may occur as well, each with the hypothesis on its derivatives.

    Raises:
        ProofError: an expression contains another function.
    """
    functions = [function for function, _ in supposed]
    _ensure_made(expressions, what, functions)
    suppose(*(says for _, says in supposed))


def ensure_continuous(
    expressions: object, what: str, *supposed: tuple[type[sp.Expr], Supposition]
) -> None:
    """Raise unless expressions are composed of functions that are known to be continuous.

    These are the functions of `ensure_smooth`, absolute values, minima, maxima, and `supposed`.

    Args:
        expressions: one expression, or a list or an array of expressions.
        what: the name of the expressions.
        supposed: functions that may occur as well, each with the hypothesis of continuity.

    Raises:
        ProofError: an expression contains another function.
    """
    functions = (*_CONTINUOUS, *(function for function, _ in supposed))
    _ensure_made(expressions, what, functions)
    suppose(*(says for _, says in supposed))


def cite_extreme_value(continuous: str | Supposition, on: str) -> None:
    """Cite that a continuous function has a least and a largest value on a compact set.

    Args:
        continuous: the step or hypothesis of continuity.
        on: words for the function and for the set: a closed ball, sphere, box or interval, or a
            closed part of one of these that is not empty.
    """
    compact = f"{on}: the set is compact and not empty"
    cite(HEINE_BOREL, of=compact)
    cite(WEIERSTRASS, met={CONTINUOUS: continuous, COMPACT: compact}, of=on)


def _ensure_made(nested: object, what: str, functions: Collection[type[sp.Expr]]) -> None:
    expressions = [sp.sympify(x, strict=True) for x in sp.flatten([nested])]
    ensure_true([_made(x, functions) for x in expressions], what, about=tuple(expressions))


def _made(x: sp.Expr, more: Collection[type[sp.Expr]]) -> bool:
    """Return whether an expression consists of allowed operations and these functions."""
    if x.is_Symbol or isinstance(x, sp.Indexed):
        return True
    if x.is_number:
        return bool(x.is_finite)
    if x.is_Pow:
        natural = x.exp.is_integer and x.exp.is_nonnegative
        allowed = natural or x.base.is_positive
    elif isinstance(x, sp.log):
        allowed = x.args[0].is_positive
    else:
        allowed = x.is_Add or x.is_Mul or isinstance(x, (*_SMOOTH, *more))
    return bool(allowed) and all(_made(y, more) for y in x.args)

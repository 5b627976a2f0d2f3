"""Symbols: sympy expressions, for proofs about the same formula that runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import entries, misuse
from attsvm.theory.arithmetic.quantities import Numbers
from attsvm.theory.arithmetic.rational_functions import fraction


class Symbols(Arithmetic[sp.Expr]):
    """Expressions of sympy, also in arrays of fixed sizes."""

    name = "symbols"
    numbers = sp.Expr

    exp = elementary(sp.exp)
    log = elementary(sp.log)
    sqrt = elementary(sp.sqrt)
    abs = elementary(sp.Abs)
    is_zero = elementary(lambda x: sp.Piecewise((1, sp.Eq(x, 0)), (0, True)))  # or unevaluated

    def _rational(self, value: Fraction) -> sp.Expr:
        return sp.Rational(value.numerator, value.denominator)

    def maximum(self, x: sp.Expr, y: sp.Expr) -> sp.Expr:
        """Return the larger number, unevaluated if the sign of the difference is unknown."""
        more = x - y
        if more.is_nonnegative or more.is_nonpositive:
            return x if more.is_nonnegative else y
        return sp.Max(x, y, evaluate=False)  # evaluation would factor the difference: seconds

    def spectral(self, A: Numbers) -> sp.Expr:
        """Return the norm of a single row or column, and refuse other shapes."""
        if 1 not in A.shape:
            raise misuse(
                "takes the spectral norm of symbols", "Prove the bound on single rows instead."
            )
        return self.norm(A)


def symbols_of(name: str, *shape: int, **assumptions: bool) -> Any:
    """Return a symbol, or an array of symbols `name_0_1`, real by default."""
    assumptions = assumptions or {"real": True}
    if not shape:
        return sp.Symbol(name, **assumptions)
    names = ("_".join([name, *map(str, place)]) for place in np.ndindex(*shape))
    return entries([sp.Symbol(each, **assumptions) for each in names], shape)


def numerator(expression: sp.Expr) -> sp.Expr:
    """Return the expanded numerator of a rational function of symbols and exponentials.

    Exponentials of different monomials are independent. Therefore the function is 0 if and only if
    its numerator is 0, and a numerator 0 is a proof. A division by 0 gives NaN.
    """
    result = fraction(sp.sympify(expression))
    return sp.nan if result is None else result.written(result.reduced[0])


SYMBOLS = Symbols()
"""The arithmetic of symbols; it has no state."""

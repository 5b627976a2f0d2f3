"""Real numbers of symbols that the code itself runs on: numpy's max, exp, log and products.

A number is p + log q with p a polynomial or a rational function. exp(p) for a polynomial p is the
product of `E`(m) over its monomials m, so whatever comes out is a rational function of symbols and
of positive atoms E(m). Logits are compared by their values at a rational point, which the caller
picks: softmax takes the largest logit out first, and a proof runs it with each of them largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from attsvm.theory import ensure_equal

__all__ = ["E", "Formal", "derivative", "expressions", "formal", "plain", "symbols", "vanishes"]

E = sp.Function("E", positive=True)
"""E(m) is exp(m)."""


def power(exponent: Any) -> Any:
    """Its exponential, of a polynomial."""
    terms = sp.expand(exponent).as_coefficients_dict()
    return sp.prod([E(monomial) ** count for monomial, count in terms.items()])


@dataclass(frozen=True, slots=True, eq=False)
class Formal:
    """value + log(inside); rank is its value at the point, None where nothing compares it."""

    value: Any
    inside: Any = sp.S.One
    rank: Any = None

    def exp(self) -> Formal:
        """Its exponential, for np.exp."""
        return Formal(power(self.value) * self.inside)

    def log(self) -> Formal:
        """Its logarithm, for np.log."""
        return Formal(sp.Integer(0), plain(self))

    def __neg__(self) -> Formal:
        return Formal(-self.value, 1 / self.inside, None if self.rank is None else -self.rank)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        right = formal(other)
        inside = self.inside * right.inside
        return Formal(self.value + right.value, inside, _ranked(sp.Add, self, right))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        right = formal(other)
        return Formal(plain(self) * plain(right), rank=_ranked(sp.Mul, self, right))

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self * formal(other) ** -1

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -formal(other)

    def __pow__(self, exponent: int) -> Formal:
        return Formal(plain(self) ** exponent)

    def __ge__(self, other: Formal) -> bool:
        return bool(self.rank >= other.rank)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other


def formal(number: Any) -> Formal:
    """The number itself, or an exact one as a constant."""
    if isinstance(number, Formal):
        return number
    constant = sp.Integer(number) if isinstance(number, int) else sp.Rational(number)
    return Formal(constant, rank=constant)


def plain(number: Formal) -> Any:
    """Its expression.

    Raises:
        ProofError: there is a logarithm in it.
    """
    ensure_equal(number.inside, 1, "a number of symbols has no logarithm in it")
    return number.value


def _ranked(operation: Any, left: Formal, right: Formal) -> Any:
    both = left.rank is not None and right.rank is not None
    return operation(left.rank, right.rank) if both else None


def symbols(name: str, *shape: int, ranks: Any = None) -> Any:
    """An array of real symbols; `ranks` are their values at the point, 0 where there are none."""
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        rank = sp.Integer(0 if ranks is None else int(np.asarray(ranks)[place]))
        symbol = sp.Symbol(name + "_".join(map(str, place)), real=True)
        found[place] = Formal(symbol, rank=rank)
    return found


def expressions(numbers: Any) -> list[Any]:
    """The expressions of an array, row by row."""
    return [plain(formal(number)) for number in np.asarray(numbers, dtype=object).ravel()]


def derivative(expression: Any, symbol: Any) -> Any:
    """Its derivative in a symbol, through E(m)' = m' E(m)."""
    atoms = sorted(expression.atoms(AppliedUndef), key=str)
    names = {atom: sp.Dummy(positive=True) for atom in atoms}
    named = expression.xreplace(names)
    moved = sp.diff(named, symbol)
    for atom, name in names.items():
        moved += sp.diff(named, name) * name * sp.diff(atom.args[0], symbol)
    return moved.xreplace({name: atom for atom, name in names.items()})


def numerator(expression: Any) -> Any:
    """The numerator of a rational function, expanded: 0 where the function is."""
    return sp.expand(sp.numer(sp.together(expression)))


def vanishes(expression: Any) -> bool:
    """Whether a rational function is 0."""
    return bool(numerator(expression) == 0)

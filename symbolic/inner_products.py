"""Vectors of any dimension as letters: an identity of their inner products holds in every R^N.

A `Vector` is a linear combination of named vectors. Nothing is known about a named vector but its
inner products, which are symbols <U, V>, so that `U @ V` is a polynomial in these symbols. A
formula that uses `+ - * @` and the functions of `INNER` takes such vectors in place of numeric
ones. One identity then covers all dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from attsvm.theory.arithmetic.symbols import Symbols, multiplied_out
from attsvm.theory.types import Numbers


@dataclass(frozen=True, slots=True)
class Vector:
    """A linear combination of named vectors."""

    parts: tuple[tuple[str, sp.Expr], ...]  # names with their coefficients, sorted by name

    def __add__(self, other: Vector) -> Vector:
        """Return the sum."""
        total = dict(self.parts)
        for name, coefficient in other.parts:
            total[name] = total.get(name, sp.Integer(0)) + coefficient
        return Vector(tuple(sorted(total.items())))

    def __neg__(self) -> Vector:
        """Return the opposite vector."""
        return self.times(sp.Integer(-1))

    def __sub__(self, other: Vector) -> Vector:
        """Return the difference."""
        return self + -other

    def __rmul__(self, factor: sp.Expr) -> Vector:
        """Return the vector times a number."""
        return self.times(factor)

    def __mul__(self, factor: sp.Expr) -> Vector:
        """Return the vector times a number."""
        return self.times(factor)

    def times(self, factor: sp.Expr) -> Vector:
        """Return the vector times a number."""
        return Vector(tuple((name, factor * coefficient) for name, coefficient in self.parts))

    def __truediv__(self, factor: sp.Expr) -> Vector:
        """Return the vector divided by a number."""
        return self.times(1 / sp.sympify(factor))

    def __matmul__(self, other: Vector) -> sp.Expr:
        """Return the inner product, expanded."""
        return multiplied_out(
            sp.Add(*(a * b * inner(u, v) for u, a in self.parts for v, b in other.parts))
        )


def vector(name: str) -> Any:
    """Return a vector without known properties."""
    return Vector(((name, sp.Integer(1)),))


def inner(u: str, v: str) -> sp.Expr:
    """Return the inner product of two named vectors: a real symbol, not negative for u = v."""
    first, second = sorted((u, v))
    if first == second:
        return sp.Symbol(f"<{u}, {u}>", nonnegative=True)
    return sp.Symbol(f"<{first}, {second}>", real=True)


class _Inner(Symbols):
    """The arithmetic of symbols, extended to vectors of any dimension."""

    def norm(self, x: Numbers) -> sp.Expr:
        """Return sqrt(<x, x>) for a named vector, and the norm of an array of symbols."""
        return sp.sqrt(x @ x) if isinstance(x, Vector) else super().norm(x)

    def vec(self, x: Any) -> Any:
        """Flatten an array to a vector; return a named vector unchanged."""
        return x if isinstance(x, Vector) else super().vec(x)

    def values(self, x: object) -> sp.Expr:
        """Return a named vector or expression unchanged."""
        return x if isinstance(x, Vector | sp.Expr) else super().values(x)


INNER = _Inner()
"""The arithmetic of inner products; it has no state."""

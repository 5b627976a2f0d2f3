"""Structured variables: symmetric, orthogonal and other values, made exactly from free numbers.

Each map reaches every rational value of its domain, degenerate ones included. It is a formula of
the namespace `m`. Searchers move the free numbers, and all arithmetics agree on the value.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import fmpq

from attsvm.theory.declaration.arguments import called
from attsvm.theory.declaration.variables import Mapped, Matrix, Vector

if TYPE_CHECKING:
    from attsvm.theory.arithmetic.entries import Number, Numbers
    from attsvm.theory.arithmetic.namespace import Namespace


@called
def Symmetric(axis: str) -> Mapped:
    """Return a symmetric matrix."""
    return _square(axis, _symmetric, f"a symmetric {axis} x {axis} matrix")


@called
def PSD(axis: str) -> Mapped:
    """Return a positive semidefinite symmetric matrix, also a singular one: L D L^T with D >= 0."""
    return _square(axis, _definite, f"a positive semidefinite {axis} x {axis} matrix")


@called
def Orthogonal(axis: str) -> Mapped:
    """Return an orthogonal matrix, a product of reflections."""
    return _square(axis, _orthogonal, f"an orthogonal {axis} x {axis} matrix")


@called
def Permutation(axis: str) -> Mapped:
    """Return a permutation matrix P; entry i of P x is entry p(i) of x."""
    words = f"a permutation matrix of size {axis}"
    return Mapped(Vector(axis), _permutation, words, (axis, axis))


@called
def Unit(axis: str) -> Mapped:
    """Return a vector of Euclidean norm 1."""
    return Mapped(Vector(axis), _unit, f"a vector of norm 1 in R^{axis}", (axis,))


@called
def Simplex(axis: str) -> Mapped:
    """Return a vector of probabilities, which may be 0."""
    return Mapped(Vector(axis), _simplex, f"a vector of {axis} probabilities", (axis,))


@called
def Sorted(axis: str) -> Mapped:
    """Return a vector in ascending order, with ties."""
    return Mapped(Vector(axis), _sorted, f"a vector in R^{axis} in ascending order", (axis,))


@called
def Convex(axis: str = "pieces") -> Mapped:
    """Return a convex piecewise linear function of one number, or of each entry of an array.

    After the first two free numbers, each pair gives a kink; `axis` names the count of numbers.
    """
    return Mapped(Vector(axis), Bent, "a convex function")


def _square(axis: str, by: object, words: str) -> Mapped:
    return Mapped(Matrix(axis, axis), by, words, (axis, axis))  # type: ignore[arg-type]


def _symmetric(m: Namespace, A: Numbers) -> Numbers:
    n = range(len(A))
    return m.array([m.array([A[max(i, j), min(i, j)] for j in n]) for i in n])


def _definite(m: Namespace, A: Numbers) -> Numbers:
    n, zero, one = range(len(A)), m.exact(0), m.exact(1)
    L = m.array([m.array([A[i, j] if i > j else one if i == j else zero for j in n]) for i in n])
    D = m.diagonal(m.array([m.abs(A[i, i]) for i in n]))
    return L @ D @ L.T


def _orthogonal(m: Namespace, A: Numbers) -> Numbers:
    Q = m.identity(len(A))
    for i in range(len(A)):
        size = A[i] @ A[i]
        Q = Q - m.outer(Q @ A[i], A[i]) * (2 / (size + m.is_zero(size)))
    return Q


def _unit(m: Namespace, x: Numbers) -> Numbers:
    size = x @ x
    first = m.array([m.exact(int(i == 0)) for i in range(len(x))])
    share: Number = 2 * x[0] / (size + m.is_zero(size))
    return first - x * share


def _simplex(m: Namespace, x: Numbers) -> Numbers:
    size = m.abs(x)
    size = size + m.is_zero(m.sum(size))
    return size / m.sum(size)


def _sorted(m: Namespace, x: Numbers) -> Numbers:
    steps = [x[0], *(m.abs(x[k]) for k in range(1, len(x)))]
    return m.array([m.sum(m.array(steps[: k + 1])) for k in range(len(x))])


def _permutation(m: Namespace, x: Numbers) -> Numbers:
    n, ranks = range(len(x)), []
    for i in n:
        below = (
            m.indicator(m.at_most(x[k], x[i]) if k < i else m.below(x[k], x[i]))
            for k in n
            if k != i
        )
        ranks.append(m.sum(m.array([m.exact(0), *below])))
    return m.array([m.array([m.is_zero(rank - j) for j in n]) for rank in ranks])


class Bent:
    """A convex function: t -> a t + b + sum of |c_k| |t - d_k|.

    The numbers are a, b, c_1, d_1, c_2, d_2, ...; missing ones are 0.
    """

    def __init__(self, m: Namespace, numbers: Numbers) -> None:
        self._m, self._numbers = m, numbers

    def _at(self, k: int) -> Number:
        number: Number = self._numbers[k] if k < len(self._numbers) else self._m.exact(0)
        return number

    def _kinks(self) -> list[tuple[Number, Number]]:
        places = range(2, len(self._numbers), 2)
        return [(self._m.abs(self._at(k)), self._at(k + 1)) for k in places]

    def __call__(self, t: Number) -> Number:
        """Return the value at a number, or at each entry of an array."""
        result: Number = t * self._at(0) + self._at(1)
        for size, place in self._kinks():
            result = result + size * self._m.abs(t - place)
        return result

    def __str__(self) -> str:
        """Return the function as Python source with exact numbers."""
        parts = [f"{_rational(self._at(0))} * t", _rational(self._at(1))]
        parts += [f"{_rational(c)} * abs(t - {_rational(d)})" for c, d in self._kinks()]
        kept = [part for part in parts if part != "0" and not part.startswith("0 * ")]
        return f"lambda t: {' + '.join(kept) or '0'}"


def _rational(number: object) -> str:
    if not isinstance(number, fmpq):
        return str(number)
    value = Fraction(int(number.p), int(number.q))
    return str(value) if value >= 0 and value.denominator == 1 else f"({value})"

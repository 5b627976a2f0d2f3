"""Sums of squares: a search for a proof that a polynomial is never negative, and the exact check.

A polynomial p is a sum of squares if p = z^T Q z for a vector z of monomials and a positive
semidefinite Q. Floats propose Q by alternating projections. It is rounded to rationals and moved
onto the equations of p = z^T Q z; then elimination in rationals decides whether it is semidefinite.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from flint import fmpq

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.relations import flat
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.instances import FrozenValues, defined
from attsvm.theory.declaration.variables import Choice, Defined

if TYPE_CHECKING:
    from attsvm._types import Array
    from attsvm.theory.declaration.formula import Formula

_LETTERS, _MONOMIALS, _STEPS = 8, 16, 400
"""Maximum number of letters and of monomials in a square, and number of projections."""

_TERMS, _CANDIDATES, _LARGEST = 5000, 300, 1e100
"""Maximum number of products in an expansion and of candidates for monomials, and maximum size of a
coefficient. Beyond these, a search would outlast its turn or leave the range of floats."""

_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 2**10, 2**20)
"""Denominators of the rationals near to a proposed Q, in the order in which they are tried."""

Exponents = tuple[int, ...]
"""A monomial by its exponents."""

Polynomial = Mapping[Exponents, fmpq]
"""A polynomial by the coefficients of its monomials."""


def is_proved(formula: Formula, parameters: Mapping[str, object], shape: Mapping[str, int]) -> bool:
    """Return whether sums of squares prove a conclusion for these lengths of axes.

    For each inequality, right side - left side must be a sum of squares; for each equality, it must
    be 0. The proof assumes that quotients and roots are defined. Hypotheses are not used.
    """
    if any(isinstance(variable, Choice) for variable in formula.variables.values()):
        return False
    letters: list[sp.Symbol] = []
    known = {}
    for name, variable in formula.variables.items():
        if name not in shape and not isinstance(variable, Defined):
            known[name] = symbols_of(name, *(shape[axis] for axis in variable.axes))
            letters += flat(known[name])
    if len(letters) > _LETTERS:
        return False
    v = defined(formula.variables, SYMBOLS, FrozenValues(**shape, **known))
    try:
        parts = list(comparisons(formula.relation(SYMBOLS, v, parameters)))
        gaps = [(part.kind, gap) for part in parts for gap in flat(part.right - part.left)]
        if any(_terms(sp.sympify(gap)) > _TERMS for _, gap in gaps):
            return False
        known_gaps = [(kind, _read(sp.Poly(g, *letters, domain="QQ"))) for kind, g in gaps]
    except (ClaimError, sp.PolynomialError, sp.CoercionFailed):
        return False
    return all(
        not p if kind == "equal" else kind == "at most" and squares(p) is not None
        for kind, p in known_gaps
    )


def _terms(x: sp.Basic) -> int:
    """Return a bound of the number of terms of an expression that is multiplied out."""
    parts = [_terms(part) for part in x.args]
    if isinstance(x, sp.Add):
        return sum(parts)
    if isinstance(x, sp.Pow) and x.exp.is_Integer:
        return math.comb(parts[0] + abs(int(x.exp)) - 1, parts[0] - 1)
    return math.prod(parts)


def _read(polynomial: sp.Poly) -> dict[Exponents, fmpq]:
    return {k: fmpq(int(c.p), int(c.q)) for k, c in polynomial.terms() if c}


def squares(p: Polynomial) -> list[list[fmpq]] | None:
    """Return a semidefinite Q with p = z^T Q z for the monomials z of `basis`, or None.

    Both properties of Q are checked in rationals.
    """
    if any(abs(c) > fmpq(int(_LARGEST)) for c in p.values()):
        return None
    z = basis(p)
    if len(z) > _MONOMIALS:
        return None
    places: dict[Exponents, list[tuple[int, int]]] = {}
    for i, j in itertools.product(range(len(z)), repeat=2):
        places.setdefault(_sum(z[i], z[j]), []).append((i, j))
    if not p.keys() <= places.keys():
        return None
    proposed = _proposed(p, places, len(z))
    for denominator in _DENOMINATORS:
        Q = [[fmpq(round(float(x) * denominator), denominator) for x in row] for row in proposed]
        for monomial, pairs in places.items():
            missing = p.get(monomial, fmpq(0)) - sum((Q[i][j] for i, j in pairs), fmpq(0))
            for i, j in pairs:
                Q[i][j] += missing / len(pairs)
        if is_semidefinite(Q):
            return Q
    return None


def basis(p: Polynomial) -> list[Exponents]:
    """Return the monomials that can occur in the squares of a sum p; none if they are too many."""
    if not p:
        return []
    totals = [sum(k) for k in p]
    ends = [max(k[i] for k in p) // 2 for i in range(len(next(iter(p))))]
    low, high = (min(totals) + 1) // 2, max(totals) // 2
    z = list(itertools.islice(_exponents(ends, low, high), _CANDIDATES + 1))
    if len(z) > _CANDIDATES:
        return []
    while True:  # the square of a monomial must be cancelled by products of others, or occur in p
        mixed = {_sum(a, b) for a, b in itertools.combinations(z, 2)}
        kept = [k for k in z if _sum(k, k) in p or _sum(k, k) in mixed]
        if len(kept) == len(z):
            return z
        z = kept


def _exponents(ends: Sequence[int], low: int, high: int) -> Iterator[Exponents]:
    """Yield the exponents up to `ends` whose sum is from `low` to `high`, in ascending order."""
    if not ends:
        yield ()
        return
    rest = sum(ends[1:])
    for k in range(max(0, low - rest), min(ends[0], high) + 1):
        for others in _exponents(ends[1:], max(0, low - k), high - k):
            yield (k, *others)


def _sum(a: Exponents, b: Exponents) -> Exponents:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _proposed(
    p: Polynomial, places: Mapping[Exponents, Sequence[tuple[int, int]]], size: int
) -> Array:
    """Return a matrix near to a semidefinite Q with p = z^T Q z, if there is one.

    Each step projects Q onto the equations, then onto semidefinite matrices.
    """
    Q = np.zeros((size, size))
    wanted = {k: float(c.p) / float(c.q) for k, c in p.items()}
    for _ in range(_STEPS):
        for monomial, pairs in places.items():
            rows, columns = map(list, zip(*pairs, strict=True))
            missing = wanted.get(monomial, 0.0) - Q[rows, columns].sum()
            Q[rows, columns] += missing / len(pairs)
        values, vectors = np.linalg.eigh(Q)
        Q = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return (Q + Q.T) / 2  # the product may be asymmetric in its last digits


def is_semidefinite(Q: Sequence[Sequence[fmpq]]) -> bool:
    """Return whether a matrix of rationals is symmetric and semidefinite, by elimination.

    A pivot > 0 leaves its Schur complement; a pivot 0 needs a row of 0.
    """
    rows = [list(row) for row in Q]
    while rows:
        pivot, first = rows[0][0], rows[0]
        if first != [row[0] for row in rows]:
            return False
        if pivot < 0 or (pivot == 0 and any(x != 0 for x in first)):
            return False
        rest = [row[1:] for row in rows[1:]]
        if pivot != 0:
            for row, full in zip(rest, rows[1:], strict=True):
                share = full[0] / pivot
                for k in range(len(row)):
                    row[k] -= share * first[k + 1]
        rows = rest
    return True

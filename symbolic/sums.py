"""Sums over n tokens, where n is a symbol: an identity between such sums holds for every n.

A vector is represented by its t-th entry. Two rules are used: sums are linear, and the sum of
x_t y_r over t and r is the product of two sums. So only sums over one index remain. `Vector` is an
array, so that the package's own code, such as `covariance`, takes and returns such vectors.
`LENGTHS` is the arithmetic in which formulas of claims run on them.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from attsvm.errors import ProofError
from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.arithmetic.entries import Entries, Numbers, entries
from attsvm.theory.arithmetic.symbols import Symbols, multiplied_out
from attsvm.theory.declaration.proof import factored

n = sp.Symbol("n", integer=True, positive=True)
t, r, _k = sp.symbols("t r k", integer=True, positive=True)


def entry(name: str, index: sp.Expr = t) -> sp.Expr:
    """Return the entry of the named vector at an index, by default at t."""
    return sp.IndexedBase(name, real=True)[index]


def total(term: sp.Expr, *indices: sp.Symbol) -> sp.Expr:
    """Return the sum of a polynomial in entries over t, or over `indices`, each from 1 to n."""
    for index in indices or (t,):
        term = sp.Add(*(_summed(part, index) for part in sp.Add.make_args(multiplied_out(term))))
    return term


def _summed(part: sp.Expr, index: sp.Expr) -> sp.Expr:
    factor, rest = part.as_independent(index, as_Add=False)
    if rest.has(sp.Sum):  # the inner sum would get the bound index of the outer one
        raise ProofError("a sum over one index holds a sum that depends on it", value=repr(part))
    return factor * (n if rest == 1 else sp.Sum(rest.subs(index, _k), (_k, 1, n)))


def swapped(term: sp.Expr) -> sp.Expr:
    """Exchange the indices t and r in a term; a sum over both indices stays the same."""
    return term.subs({t: r, r: t}, simultaneous=True)


def reduced(polynomial: sp.Expr, name: str) -> sp.Expr:
    """Replace powers of the named entries by the entries, which are supposed to be 0 or 1."""
    base = sp.IndexedBase(name, real=True)
    return sp.expand(polynomial).replace(
        lambda part: part.is_Pow and part.base in (base[t], base[r]), lambda part: part.base
    )


class Vector(np.ndarray):
    """An array of one entry that stands for the t-th of n entries; `sum` sums over t."""

    def sum(self, axis: object = None, *, keepdims: bool = False, **_: object) -> Vector | sp.Expr:  # type: ignore[override]
        """Return the sum over t; with `keepdims`, as a vector of n equal entries."""
        added = total(self.item())
        return vector(added) if keepdims else added


def vector(term: sp.Expr) -> Vector:
    """Return the vector whose t-th entry is `term`."""
    return np.array([term], dtype=object).view(Vector)


def entry_of(numbers: Numbers) -> sp.Expr:
    """Return the t-th entry of a vector."""
    return sp.expand(_item(numbers))


def _item(x: Numbers) -> sp.Expr:
    """Return the entry of an array of one entry."""
    (item,) = x.ravel()
    return item


class Lengths(Symbols):
    """The arithmetic of symbols in which an array of one entry stands for a vector or matrix.

    The entry is the t-th one of a vector of n entries, or that at row t and column r of a matrix.
    """

    def sum(self, x: Numbers) -> sp.Expr:
        """Return the sum of a vector over t, or of a matrix over t and r."""
        return total(_item(x), *(t, r)[: x.ndim])

    def dot(self, x: Numbers, y: Numbers) -> sp.Expr:
        """Return the inner product: the sum over t of x_t y_t."""
        return self.sum(entries(x * y))

    def sums(self, A: Numbers) -> Entries:
        """Return the vector of row sums, by its t-th entry: a sum over r."""
        return entries([total(_item(A), r)])

    def outer(self, x: Numbers, y: Numbers) -> Entries:
        """Return the matrix x y^T, by its entry x_t y_r."""
        return entries([[_item(x) * swapped(_item(y))]])

    def differences(self, x: Numbers) -> Entries:
        """Return the matrix of differences, by its entry x_t - x_r."""
        return entries([[_item(x) - swapped(_item(x))]])


LENGTHS = Lengths()
"""The arithmetic of vectors of n entries; it has no state."""


def ensure_nonnegative_sum(
    expression: sp.Expr, term: sp.Expr, what: str, **entries_of: sp.Expr
) -> None:
    """Raise unless `expression` is the sum over t of a nonnegative term, for any number of t.

    Args:
        expression: the sum.
        term: a polynomial in entries of index t.
        what: the name of the sum.
        entries_of: for each name of an entry its value, as a symbol of known sign.

    Raises:
        ProofError: `expression` is not that sum, or the signs do not imply that the term is at
            least 0.
    """
    ensure_equal(expression, total(term), what)
    values = {entry(name): value for name, value in entries_of.items()}
    ensure_nonnegative(term.subs(values), f"{what}, no term of which is negative", normal=factored)


def ensure_mean(
    weight: sp.Expr,
    value: sp.Expr,
    what: str,
    *,
    least: sp.Expr | None = None,
    most: sp.Expr | None = None,
) -> None:
    """Prove that sum_t w_t x_t >= least sum_t w_t, or <= most sum_t w_t.

    Args:
        weight: w_t, in symbols whose signs imply that it is not negative.
        value: x_t, in symbols whose signs imply the bound.
        what: the name of the sum.
        least: a lower bound of every x_t.
        most: an upper bound of every x_t, in place of `least`.

    Raises:
        ProofError: some weight or value is not known to meet these conditions.
    """
    w, x = entry("w"), entry("x")
    sign, bound = (1, least) if most is None else (-1, most)
    difference = sign * (total(w * x) - bound * total(w))
    ensure_nonnegative_sum(difference, sign * w * (x - bound), what, w=weight, x=value)


def ensure_at_least_each(term: sp.Expr, what: str) -> None:
    """Prove that a sum of nonnegative terms is at least each of them, by weights 0 and 1.

    Args:
        term: a term, in symbols whose signs imply that it is not negative.
        what: the name of the sum.

    Raises:
        ProofError: the term is not known to be nonnegative.
    """
    x, picked = entry("x"), entry("picked")
    others = sp.Symbol("others", nonnegative=True)
    difference = total(x) - total(picked * x)
    ensure_nonnegative_sum(difference, x * (1 - picked), what, x=term, picked=1 - others)

"""Sums over tokens of which there are n, a symbol: an identity of these holds for every n.

A vector is known by its t-th entry. Sums are linear, and a product of entries with different
indices sums to a product of sums; nothing else is used, and what is left are sums of one index.
`Vector` is an array, so that the code itself runs on it: `covariance` of one is one. `LENGTHS` is
the arithmetic in which formulas of claims run on such vectors.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from attsvm.errors import ProofError
from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.arithmetic.entries import Entries, entries
from attsvm.theory.arithmetic.quantities import Numbers
from attsvm.theory.arithmetic.rational_functions import multiplied_out
from attsvm.theory.arithmetic.symbols import Symbols
from attsvm.theory.declaration.proof import factored

n = sp.Symbol("n", integer=True, positive=True)
t, r, _k = sp.symbols("t r k", integer=True, positive=True)


def entry(name: str, index: sp.Expr = t) -> sp.Expr:
    """Return the entry of a vector of that name."""
    return sp.IndexedBase(name, real=True)[index]


def total(term: sp.Expr, *indices: sp.Symbol) -> sp.Expr:
    """Return the sum of a polynomial in entries over t, or over the indices, each from 1 to n."""
    for index in indices or (t,):
        term = sp.Add(*(_summed(part, index) for part in sp.Add.make_args(multiplied_out(term))))
    return term


def _summed(part: sp.Expr, index: sp.Expr) -> sp.Expr:
    factor, rest = part.as_independent(index, as_Add=False)
    if rest.has(sp.Sum):  # it would get the bound index of the sum within
        raise ProofError("a sum over one index holds a sum that depends on it", value=repr(part))
    return factor * (n if rest == 1 else sp.Sum(rest.subs(index, _k), (_k, 1, n)))


def swapped(term: sp.Expr) -> sp.Expr:
    """Return the term with its indices t and r exchanged, which leaves a sum over both as it is."""
    return term.subs({t: r, r: t}, simultaneous=True)


def reduced(polynomial: sp.Expr, name: str) -> sp.Expr:
    """Return a polynomial in which the entries of that name are 0 or 1, hence their own powers."""
    base = sp.IndexedBase(name, real=True)
    return sp.expand(polynomial).replace(
        lambda part: part.is_Pow and part.base in (base[t], base[r]), lambda part: part.base
    )


class Vector(np.ndarray):
    """An array of one entry, which stands for the t-th of n; its sum is that over t."""

    def sum(self, axis: object = None, *, keepdims: bool = False, **_: object) -> Vector | sp.Expr:  # type: ignore[override]
        """Return the sum over t, as a vector of equal entries if dimensions are kept."""
        added = total(self.item())
        return vector(added) if keepdims else added


def vector(term: sp.Expr) -> Vector:
    """Return the vector with these entries."""
    return np.array([term], dtype=object).view(Vector)


def entry_of(numbers: Numbers) -> sp.Expr:
    """Return the t-th entry of a vector."""
    return sp.expand(_item(numbers))


def _item(x: Numbers) -> sp.Expr:
    """Return the entry of an array that has one."""
    (item,) = x.ravel()
    return item


class Lengths(Symbols):
    """Symbols, if an array of one entry stands for n: a vector's t-th, a matrix's at t, r."""

    def sum(self, x: Numbers) -> sp.Expr:
        """Return the sum over t, of a matrix over t and r."""
        return total(_item(x), *(t, r)[: x.ndim])

    def dot(self, x: Numbers, y: Numbers) -> sp.Expr:
        """Return the sum of products."""
        return self.sum(entries(x * y))

    def sums(self, A: Numbers) -> Entries:
        """Return the sum of each row, over r."""
        return entries([total(_item(A), r)])

    def outer(self, x: Numbers, y: Numbers) -> Entries:
        """Return the entry at t, r is x_t y_r."""
        return entries([[_item(x) * swapped(_item(y))]])

    def differences(self, x: Numbers) -> Entries:
        """Return the entry at t, r is x_t - x_r."""
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
        ProofError: it is not that sum, or a term is not known to be at least 0.
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
    """Prove that sum_t w_t x_t is at least `least` times sum_t w_t, or at most `most` times.

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
        term: one of them, in symbols whose signs imply that it is not negative.
        what: the name of the sum.

    Raises:
        ProofError: the term is not known to be nonnegative.
    """
    x, picked = entry("x"), entry("picked")
    others = sp.Symbol("others", nonnegative=True)
    difference = total(x) - total(picked * x)
    ensure_nonnegative_sum(difference, x * (1 - picked), what, x=term, picked=1 - others)

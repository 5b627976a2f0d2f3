"""The tensor trick, (A1 kron A2) vec(X) = vec(A1 X A2^T) with row-major vec, block by block.

For small sizes the formula of the claim is evaluated on symbols. For every size the proof uses the
rules that section 3.1 prints: the place of X_rc in vec(X), and that of A1_jr A2_tc in row (j, t) of
the Kronecker product.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_nonzero, ensure_true, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, simplified
from attsvm.theory.proof.facts import Fact, note
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import at, conclude, exchange
from attsvm.theory.proof.terms import Letter
from attsvm.theory.types import Comparison, Values
from properties.sim.orientation.conclusion import margins
from properties.sim.tensor_trick import TRICK
from symbolic.facts import formula_of, index, letters_in


def _gaps(relation: Comparison) -> list[sp.Expr]:
    """Return left minus right, entry by entry."""
    return [sp.expand(gap) for gap in (relation.left - relation.right).ravel()]


w, h = sp.symbols("w h", integer=True, positive=True)
"""Columns and rows of X."""


def structural_residual(*, transposed: bool = False, stacked: str = "rows") -> sp.Expr:
    """Return the difference of both sides at entry (j, t), for symbolic sizes.

    - By the printed rules place k of row (j, t) of the Kronecker product holds A1_jr A2_tc, where r
      and c are the quotient and the remainder of k by w.
    - Place k of vec(X) holds X_rc. If `stacked` is "columns", a false variant, it holds X_cr, where
      r and c are the quotient and the remainder of k by h.
    - The sum over k is split by rows: k = p w + q, 0 <= q < w.

    If `transposed`, a false variant, X^T stands in place of X on the right.
    """
    j, t, p, q = sp.symbols("j t p q", integer=True, nonnegative=True)
    A1, A2, X = (sp.IndexedBase(name) for name in ("A1", "A2", "X"))
    place = p * w + q
    row, column = divided(place, w, q)
    quotient, remainder = (row, column) if stacked == "rows" else divided(place, h, q)
    stored = X[quotient, remainder] if stacked == "rows" else X[remainder, quotient]
    flat = A1[j, row] * A2[t, column] * stored
    entry = A1[j, p] * (X[q, p] if transposed else X[p, q]) * A2[t, q]
    return simplified(sp.Sum(sp.expand(flat - entry), (q, 0, w - 1), (p, 0, h - 1)).doit())


def divided(place: sp.Expr, length: sp.Expr, q: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return the quotient and the remainder of `place` by `length`, if 0 <= q < w."""
    remainder = sp.Mod(place, length).subs(sp.Mod(q, w), q)
    return cancelled((place - remainder) / length), remainder


def margins_residual(n: int, d: int, *, transposed: bool = True) -> list[sp.Expr]:
    """Return logit differences of definition 3.3 at X minus definition 4.1's constraints at X^T.

    They are the claim's: (A_j vec(X))_o - (A_j vec(X))_t against (a_o - a_t)^T X^T a_j for all j
    and o, with A1 = A2 and the first token for t; with `transposed` false at X.
    """
    v = SimpleNamespace(n=n, A=symbols_of("a", n, d), X=symbols_of("x", d, d))
    return _gaps(margins(SYMBOLS, v, turned=transposed))


def turned(v: Values, j: Letter, t: Letter, r: Letter, c: Letter) -> Fact:
    """Return that entry t of block j of (A1 kron A2) vec(X) is entry (j, t) of A1 X A2^T.

    Args:
        v: letters for A1, A2 and X.
        j: a row of A1.
        t: a row of A2.
        r: a column of A1.
        c: a column of A2.
    """
    J, T, row, column = ((one.term,) for one in (j, t, r, c))
    body = v.A1.entry(J, row) * v.X.entry(row, column) * v.A2.entry(T, column)
    return note("both orders of summing over rows and columns of X agree", exchange(body, r, c))


def conclude_trick(reading: str, axes: str) -> None:
    """Conclude a reading: both sides sum over the entries of X, in two orders.

    Args:
        reading: a reading of the trick.
        axes: those of rows of A1 and A2, and of columns of A1 and A2.
    """
    fact = turned(letters_in(TRICK, reading), *map(index, "jtrc", axes))
    (conclusion,) = conclusion_of(formula_of(TRICK, reading)).sequents
    places = sorted(conclusion.proposition.letters, key=lambda x: x.name[1:])
    conclude(at(fact, dict(zip(map(index, "jt", axes), places, strict=False))), conclusion)


@linked
def prove() -> str:
    """Prove the trick for matrices of the same size, for all sizes."""
    conclude_trick("literal", "nndd")
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T) for all sizes, block j giving row j"


@linked
def prove_of_two_sizes() -> str:
    """Prove the trick for matrices of any two sizes."""
    conclude_trick("sharp", "nkdl")
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T) for all sizes, block j giving row j"


def ensure_transposed() -> None:
    """Prove that a_j^T X a_t = a_t^T W a_j for W = X^T: the query may stand on either side."""
    d = sp.Symbol("d", integer=True, positive=True)
    a, z, X = sp.MatrixSymbol("a", d, 1), sp.MatrixSymbol("z", d, 1), sp.MatrixSymbol("X", d, d)
    ensure_true(
        [(z.T * X * a).T.doit() == (a.T * X.T * z).doit()],
        "the logit a_j^T X a_t, a number, is a_t^T W a_j with W = X^T: one function of the same "
        "entries, so that its descent on X is, transposed, descent on W",
    )


def prove_orientation() -> str:
    """Prove that the logits of definition 3.3 at X are key-query features at X^T, not at X."""
    prove()
    ensure_transposed()
    for n, d in ((2, 1), (2, 2), (3, 2), (2, 3)):
        what = f"the logits at X are key-query features at X^T for n = {n}, d = {d}"
        ensure_zero(margins_residual(n, d), what)
    same = margins_residual(2, 2, transposed=False)
    ensure_nonzero(same, "the logits at X are not key-query features at X", some=True)
    return "(A_j vec(X))_o - (A_j vec(X))_t = (a_o - a_t)^T X^T a_j, by the trick for all sizes"

"""A fixed head H after attention can be absorbed in the values: (f^T M) H e_v = f^T (M H e_v).

M = A_3 Y are the values. For `SIZES`, the claim's formulas are evaluated on symbols. Sympy
differentiates the score with the head after attention. The derivative is compared with the closed
form of lemma 3.11 for the values M H e_v. For all sizes the proof needs only that the matrix
product is associative, and lemma 3.11, which holds for every h.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_positive, ensure_true, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols, numerator, symbols_of
from attsvm.theory.declaration.proof import cancelled, suppose
from attsvm.theory.types import Number, Values
from properties.sim.fixed_head import MULTIPLE, POSITIVE
from properties.sim.fixed_head.conclusion import closed_gradient, score, scores
from symbolic import softmax
from symbolic.inner_products import vector

SIZES = ((1, 1, 1, 1), (2, 1, 1, 2), (2, 1, 2, 1), (3, 1, 1, 1), (3, 2, 2, 2))
"""Numbers (n, D, d, V) of tokens, of entries of x, of columns of M and of columns of H."""


class _OneSlope(Symbols):
    """The arithmetic of symbols in which g' at the attended score is one symbol.

    `logistic_slope` raises `ProofError` at any other argument.
    """

    def __init__(self, at: sp.Expr) -> None:
        self.at = at
        self.slope = sp.Symbol("slope", positive=True)

    def logistic_slope(self, x: Number) -> sp.Expr:
        """Return the symbol for g'."""
        ensure_zero(x - self.at, "g' is taken at the score of the attention", normal=numerator)
        return self.slope


def headed(n: int, D: int, d: int, V: int) -> SimpleNamespace:
    """Return A, x, M, H and b of these sizes, with symbols as entries."""
    arrays = {"A": (n, D), "x": (D,), "M": (n, d), "H": (d, V), "b": ()}
    named = {name: symbols_of(name, *shape) for name, shape in arrays.items()}
    return SimpleNamespace(n=n, D=D, d=d, V=V, **named)


def gradient_residual(v: Values, head_use: str = "column") -> list[sp.Expr]:
    """Return the claim's gradient of g of the score with the head, minus the closed form.

    g' is one symbol in both. In the closed form g' must be taken at the score that `head_use`
    gives: "column" absorbs the head's column in the values, other words are false variants.
    """
    u = score(SYMBOLS, v, v.x)
    f = SYMBOLS.softmax(v.A @ v.x)
    m = _OneSlope(u if head_use == "column" else SYMBOLS.dot(f, scores(SYMBOLS, v, head_use)))
    closed = closed_gradient(m, v, head_use)
    return [m.slope * sp.diff(u, x) - c for x, c in zip(v.x, closed, strict=True)]


def absorbed_residual() -> sp.Expr:
    """Return an entry of (f^T M) H minus that of f^T (M H), for symbolic n and d."""
    t, c = sp.symbols("t c", integer=True)
    n, d = sp.symbols("n d", integer=True, positive=True)
    f, M, H = (sp.IndexedBase(name, real=True) for name in ("f", "M", "H"))
    left = sp.Sum(sp.Sum(f[t] * M[t, c], (t, 1, n)) * H[c], (c, 1, d))
    right = sp.Sum(f[t] * sp.Sum(M[t, c] * H[c], (c, 1, d)), (t, 1, n))
    return _expanded(left) - _expanded(right)


def _expanded(double: sp.Expr) -> sp.Expr:
    """Return a sum over one index, whose terms hold a sum over another, as one double sum.

    The indices are sorted by name.
    """
    (outer, *span), term = double.limits[0], double.function
    (inner,) = term.atoms(sp.Sum)
    rest = cancelled(term / inner)
    limits = sorted([(outer, *span), *inner.limits], key=str)
    return sp.Sum(sp.expand(inner.function * rest), *limits)


def prove() -> str:
    """Prove that the gradient with a head is the closed form with the values M H e_v.

    Without the head, or with the mean of its columns, it is not.
    """
    for size in SIZES:
        what = (
            f"the gradient with a head is the closed form with values Y H at (n, D, d, V) = {size}"
        )
        ensure_zero(gradient_residual(headed(*size)), what, normal=numerator)
    ensure_zero(absorbed_residual(), "(f^T M) H = f^T (M H) for any n, d and V, entry by entry")
    ensure_zero(
        softmax.structural_residual(),
        "the derivative of <f, h> along logits a_t is sum_t a_t f_t (h_t - <f, h>), for every n",
    )
    for v, head_use, other in (
        (headed(2, 1, 1, 1), "ignored", "no head"),
        (headed(2, 1, 1, 2), "mean", "the mean of the head's columns"),
    ):
        residual = gradient_residual(v, head_use)
        ensure_nonzero(
            residual, f"with {other} the closed form is not the gradient", normal=numerator
        )
    return (
        "the gradient with a head is the closed form with values Y H, for any sizes; as the claim "
        f"runs on symbols for (n, D, d, V) in {SIZES}"
    )


def multiples(n: int, d: int, column: list[sp.Expr]) -> list[sp.Expr]:
    """Return the differences of scores with a column of the head, over those without a head."""
    v = headed(n, 1, d, 1)
    v.H = entries([[entry] for entry in column])
    mine, other = (scores(SYMBOLS, v, head_use) for head_use in ("column", "ignored"))
    return [cancelled((mine[t] - mine[0]) / (other[t] - other[0])) for t in range(1, n)]


def prove_multiple() -> str:
    """Prove that H e_v = c e_v multiplies every difference of scores by c."""
    suppose(MULTIPLE, POSITIVE)
    c = sp.Symbol("c", positive=True)
    for n, d in ((2, 1), (2, 2), (3, 3)):
        rest = [sp.Integer(0)] * (d - 1)
        at = f"for n = {n}, d = {d}"
        ratios = multiples(n, d, [c, *rest])
        ensure_equal(ratios, [c] * (n - 1), f"the differences of scores are c times those {at}")
        reversed_order = [-ratio for ratio in multiples(n, d, [-c, *rest])]
        ensure_positive(reversed_order, f"a head -c e_v reverses the order of the scores {at}")
    row, unit = vector("row_t"), vector("e_v")
    ensure_equal(
        row @ (c * unit), c * (row @ unit), "row t of M sees c e_v as c times its entry v, any n, d"
    )
    tilted = multiples(3, 2, [c, sp.Integer(1)])
    ensure_true(
        (r.is_positive is None for r in tilted),
        "a head (c, 1) multiplies differences of scores by numbers of no known sign",
    )
    apart = tilted[0] - tilted[1]
    ensure_nonzero(
        apart,
        "a head (c, 1) multiplies two differences of scores by different numbers",
        normal=cancelled,
    )
    return (
        "b M (c e_v) has the differences of b M e_v times c, so c > 0 leaves the order of the "
        "scores as it is, for any n and d; on symbols as the claim runs for n, d <= 3"
    )

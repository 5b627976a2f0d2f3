"""Instances of the generalised SVM with their kept tokens, and the exact components of W."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.exact import dot, rationals
from attsvm.exact.numbers import Matrix, Vector, subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives.att_svm import flat
from attsvm.primitives.losses import CHECKER
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, literal, nested
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Relation
from properties.tf.generalised_svm import parts_letters as letters

ANYTHING = "tokens, queries, W, and sets O_i of kept tokens, none of them empty, be arbitrary"
"""Words that define data with kept tokens, for the sentence of a reading."""


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """Tokens X (n, T, d), queries Z (n, d), which tokens are kept (n, T), a head, and W (d, d).

    The head is h_i(x) = b_i <a, x>^2, the label being part of b_i.
    """

    X: Array
    Z: Array
    kept: Array
    a: Array
    b: Array
    W: Array

    def __post_init__(self) -> None:
        n, T, d = self.X.shape
        shapes = (self.Z.shape, self.kept.shape, self.a.shape, self.b.shape, self.W.shape)
        fits = shapes == ((n, d), (n, T), (d,), (n,), (d, d)) and 0 not in self.X.shape
        if not fits or not np.isin(self.kept, (0.0, 1.0)).all() or not self.kept.any(axis=1).all():
            raise DataError("the parts of an instance do not fit together", value=self.X.shape)


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a matrix W, in rationals and row by row.

    Attributes:
        W, fin: the matrix and W_fin.
        svm: the solution of Gen-SVM, None if Farkas multipliers prove that there is none.
        margins: the margins of V = W - W_fin to the tokens that are not kept.
        multipliers: those of W_fin, and those of W_svm or of the proof that there is none.
    """

    W: Vector
    fin: Vector
    svm: Vector | None
    margins: Vector
    multipliers: tuple[Vector, Vector]

    @property
    def rest(self) -> Vector:
        """V = W - W_fin."""
        return subtract(self.W, self.fin)


def _least(
    D: Matrix, Z: Matrix, bound: Vector, equal: list[bool], size: int
) -> tuple[Vector | None, Vector]:
    """Return the solution, or None, with its multipliers."""
    if not any(b != 0 for b in bound):
        return [fmpq(0)] * size, [fmpq(0)] * len(bound)
    answer = solve_exactly(ExactProgramme.of_rows(D, Z, bound, equal))
    return flat(answer.W) if answer.status == "solved" else None, answer.duals


def parts(case: KeptTokens) -> Parts:
    """Return W_fin, W_svm and the margins of the remainder.

    Raises:
        DataError: the logits of W contradict each other.
    """
    X, Z, W = rationals(case.X), rationals(case.Z), rationals(case.W)
    D, queries, equal, logits = [], [], [], []
    for tokens, z, kept in zip(X, Z, case.kept.tolist(), strict=True):
        first = kept.index(1.0)
        for t, x in enumerate(tokens):
            if t != first:
                D.append(subtract(tokens[first], x))
                queries.append(z)
                equal.append(kept[t] == 1.0)
                logits.append(dot(D[-1], [dot(row, z) for row in W]))
    size, within = len(flat(W)), [j for j, e in enumerate(equal) if e]
    fin, multipliers = _least(
        [D[j] for j in within],
        [queries[j] for j in within],
        [logits[j] for j in within],
        [True] * len(within),
        size,
    )
    if fin is None:
        raise DataError("the logits of W contradict each other", value=case.W.tolist())
    svm, duals = _least(D, queries, [fmpq(0 if e else 1) for e in equal], equal, size)
    outer = [[x * c for x in row for c in z] for row, z in zip(D, queries, strict=True)]
    rest = subtract(flat(W), fin)
    margins = [dot(A, rest) for A, e in zip(outer, equal, strict=True) if not e]
    return Parts(flat(W), fin, svm, margins, (multipliers, duals))


def rests(case: KeptTokens) -> bool:
    """Return whether the gradient at W is provably 0.

    In each input the risk does not depend on the tokens, or attention is uniform and <a, output> =
    0, so that h' = 0. This is decided in rationals.
    """
    X, Z, W, a = (rationals(part) for part in (case.X, case.Z, case.W, case.a))
    for tokens, z, b in zip(X, Z, rationals(case.b), strict=True):
        values = [dot(a, x) for x in tokens]
        logits = {dot(x, [dot(row, z) for row in W]) for x in tokens}
        best = len(logits) == 1 and sum(values, fmpq(0)) == 0
        if not (best or len(set(values)) == 1 or b == 0 or not any(z)):
            return False
    return True


def squares(m: Namespace, pieces: Parts) -> tuple[Number, Number, Number, Number, Number]:
    """Return ||W||^2, ||W_fin||^2, ||W_svm||^2, <V, W_svm> and the least margin of V."""
    svm = pieces.svm or [fmpq(0)] * len(pieces.W)
    pairs = (
        (pieces.W, pieces.W),
        (pieces.fin, pieces.fin),
        (svm, svm),
        (pieces.rest, svm),
    )
    W, fin, size, along = (m.values(dot(x, y)) for x, y in pairs)
    return W, fin, size, along, m.values(min(pieces.margins, default=fmpq(0)))


FINITE = (
    "W_fin is the least matrix with the logit differences of W within each set O_i of kept tokens, "
    "and W_svm the least one under which kept tokens of an input have equal logits, larger by at "
    "least 1 than those of its other tokens"
)


def _write(m: Programs, case: KeptTokens) -> None:
    """Add the values of an instance to a program, with W_svm."""
    m.lines["X"], m.lines["Z"], m.lines["kept"], m.lines["a"], m.lines["b"], m.lines["W"] = (
        nested(x.tolist()) for x in (case.X, case.Z, case.kept, case.a, case.b, case.W)
    )
    weights = parts(case).multipliers
    m.lines["fin"], m.lines["svm"] = (
        f"with_its_logits(X, Z, kept, flat(W), {nested(weights[0])})",
        f"generalised(X, Z, kept, {nested(weights[1])})",
    )


def _correlates(m: Programs, case: KeptTokens, share: int | str = "0.99") -> Proposition:
    """Return the claim of `correlates` for the checker."""
    _write(m, case)
    square = literal(Fraction(share) ** 2)
    text = f"below({square} * inner(flat(W), flat(W)), explained(flat(W), fin, svm))"
    return Proposition(text, CHECKER)


def _solvable(m: Programs, case: KeptTokens, share: int | str = 0) -> Proposition:
    """Return the claim of `solvable` for the checker."""
    _write(m, case)
    text = f"svm is not None and inner(svm, svm) >= {literal(Fraction(share))}"
    return Proposition(f"fact({text})", CHECKER)


@stated(
    "",
    r"\|P\|^2 > $share^2 \|W\|^2",
    where=f"P is the projection of W to W_fin + c W_svm, c >= 0, and {FINITE}",
    checked=_correlates,
)
def correlates(m: Namespace, case: KeptTokens, share: int | str = "0.99") -> Comparison:
    W, fin, size, along, _ = squares(m, parts(case))
    forward = m.maximum(along, m.exact(0))
    best = fin + forward * forward / (size + m.is_zero(size))
    return m.above(best, m.square(m.exact(share)) * W)


@stated(
    "W_svm exists for the sets O_i of kept tokens and $formula",
    r"\|W_{svm}\|^2 \ge $share",
    where="W_svm is the least matrix under which kept tokens of an input have equal logits, larger "
    "by at least 1 than those of its other tokens",
    checked=_solvable,
)
def solvable(m: Namespace, case: KeptTokens, share: Number = 0) -> Comparison:
    svm = parts(case).svm
    size = m.exact(-1) if svm is None else m.values(dot(svm, svm))
    return m.at_least(size, m.exact(share))


@concludes(letters.finite)
@stated("", r"W_{svm} = 0 \text{ and } W = $factor W_{fin}", where=FINITE)
def all_finite(m: Namespace, case: KeptTokens, factor: Number = 1) -> Relation:
    pieces = parts(case)
    finite = m.equal(m.values(pieces.W), factor * m.values(pieces.fin))
    return m.all_of(m.equal(m.exact(int(pieces.svm is None or any(pieces.svm))), 0), finite)


@concludes(letters.at_least)
@stated(
    "W_svm exists and $formula",
    r"$share \mu \|W_{svm}\| \le \|V\|",
    where=f"V = W - W_fin, mu is the least of its margins, and {FINITE}",
)
def reached(m: Namespace, case: KeptTokens, share: Number = 1) -> Relation:
    pieces = parts(case)
    W, fin, size, _, mu = squares(m, pieces)
    solved = m.exact(0 if pieces.svm is None else 1)
    return m.all_of(m.equal(solved, m.exact(1)), longer(m, W - fin, size, mu, share))


def longer(m: Namespace, rest: Number, size: Number, mu: Number, share: Number = 1) -> Comparison:
    """Return that share mu sqrt(size) <= sqrt(rest)."""
    return m.at_most(share * mu * m.sqrt(size), m.sqrt(rest))


@concludes(letters.splits)
@stated(
    "",
    r"0 < \|W\|^2 \text{ and } \|W_{fin}\|^2 + $share \mu^2 \|W_{svm}\|^2 \le \|W\|^2 r^2 \le "
    r"\|W\|^2",
    where=f"r is the correlation of W with W_fin + c W_svm at the best c, V = W - W_fin, mu is the "
    f"least of its margins, and {FINITE}",
)
def splits(m: Namespace, case: KeptTokens, share: Number = 1) -> Relation:
    """0 < ||W||^2, and ||W_fin||^2 + share mu^2 ||W_svm||^2 <= ||W||^2 corr^2 <= ||W||^2."""
    return split(m, *squares(m, parts(case)), share)


def split(
    m: Namespace, W: Number, fin: Number, size: Number, along: Number, mu: Number, share: Number = 1
) -> Relation:
    """Return 0 < W and fin + share mu^2 size <= best <= W for squared norms.

    Here `best` is the squared norm of the projection of W to W_fin + c W_svm.
    """
    best = fin + along * along / (size + m.is_zero(size))
    least = fin + share * m.square(mu) * size
    return m.all_of(m.below(m.exact(0), W), m.at_most(least, best), m.at_most(best, W))


def kept(
    X: Nested,
    Z: Nested,
    chosen: Nested,
    W: Nested,
    a: Nested | None = None,
    b: Nested | None = None,
) -> KeptTokens:
    """Return an instance from nested lists; its head is 0 by default."""
    tokens = np.array(X, dtype=np.float64)
    n, _, d = tokens.shape
    zero = np.zeros(d) if a is None else np.array(a, dtype=np.float64)
    signs = np.zeros(n) if b is None else np.array(b, dtype=np.float64)
    queries, flags, weights = (np.array(part, dtype=np.float64) for part in (Z, chosen, W))
    return KeptTokens(tokens, queries, flags, zero, signs, weights)


@composite
def drawn(draw: st.DrawFn, spread: bool = True, everything: bool = False) -> KeptTokens:
    """Draw data with kept tokens, and W: about a multiple of W_svm, plus a drawn part.

    With `spread` the drawn part is any matrix, else one in the span of the data; `everything` keeps
    all tokens.
    """
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 4)), draw(sizes(1, 3))
    X, Z, kept = draw(arrays(n, T, d)), draw(arrays(n, d)), draw(arrays(n, T)) > 0.0
    kept[:, 0] |= ~kept.any(axis=1)
    kept |= everything
    case = KeptTokens(X, Z, kept.astype(float), draw(arrays(d)), draw(arrays(n)), np.zeros((d, d)))
    solution = parts(case).svm
    scale = draw(st.sampled_from([1.0, 16.0, 4.0]))
    W = draw(arrays(d, d)) * draw(st.sampled_from([0.0625, 0.25, 1.0]))
    if not spread:
        W = np.einsum("ntd,nt,ne->de", X - X[:, :1], draw(arrays(n, T)), Z)
    if solution is not None:
        svm = np.array([float(x.p) / float(x.q) for x in solution]).reshape(d, d)
        W = W + np.round(scale * svm * 64.0) / 64.0
    return KeptTokens(X, Z, case.kept, case.a, case.b, W)


def leads(case: KeptTokens) -> bool:
    """Return whether some token is left out and all margins of V to such tokens are positive."""
    return min(parts(case).margins, default=fmpq(0)) > 0


def seen(case: KeptTokens) -> bool:
    """Return whether W lies in the span of the (x_t - x_u) z_i^T, as it always does from 0."""
    everything = KeptTokens(case.X, case.Z, np.ones_like(case.kept), case.a, case.b, case.W)
    pieces = parts(everything)
    return pieces.fin == pieces.W


UNSEEN = kept([[[1, 0], [-1, 0]]], [[1, 0]], [[1, 1]], [[0, 0], [1, 0]], [1, 0], [-1])
"""Attention is uniform, h(x) = -x_1^2 is at its best, and no logit depends on W."""
NOTHING = kept([[[1]]], [[1]], [[1]], [[0]])
"""One token, and W = 0: there is no correlation."""
BETWEEN = kept([[[1], [0], [-1]]], [[1]], [[1, 0, 1]], [[0]])
"""The second token lies between the two that are selected."""
APART = kept([[[1, 0], [0, 1], [0, 0]]], [[1, 0]], [[1, 1, 0]], [[3, 0], [2, 0]])
ALONG = kept([[[1], [0]]], [[1]], [[1, 0]], [[2]])
"""V is twice W_svm."""
RESTS = Hypothesis(
    "descent rests at W",
    rests,
    says="grad L(W) = 0",
    checked="fact(is_at_rest(X, Z, W, a, b))",
)
ALL = Hypothesis(
    "all tokens are kept",
    lambda case: bool(case.kept.all()),
    proposition=letters.all_kept,
    checked="fact(all(flat(kept)))",
)
SEEN = Hypothesis(
    "W is in the span of the data",
    seen,
    says="W is in the span of the (x_t - x_u) z_i^T",
    proposition=letters.in_span,
)
POSITIVE = Hypothesis(
    "a token is left out, and all margins of V are positive",
    leads,
    says="some token is left out, and all margins of V = W - W_fin are positive",
    proposition=letters.positive,
)

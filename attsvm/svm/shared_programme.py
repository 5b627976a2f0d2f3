"""The Att-SVM of queries that share tokens: its data, its margins, and fewer coordinates for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.svm.bounds import UP, gamma, length_up, size_up
from attsvm.svm.contradictions import Contradiction, contradictions, row_ids, without_copies
from attsvm.svm.programme import Programme, listed
from attsvm.svm.support import GramOperator
from attsvm.svm.tables import Tables


@dataclass(frozen=True, slots=True, eq=False)
class SharedProgramme:
    """Constraints of queries that share tokens.

    Attributes:
        X: tokens of each sequence.
        owners: the sequence of each query.
        Z: queries.
        seen: the tokens of its sequence that each query sees; none if the query is left out.
        targets: the token that each query selects.
        rivals: the constraints: token t of query i competes with its target. Equal constraints are
            listed once, and copies of a target are none.
        aside: pairs of queries that contradict each other. They have no constraints.
    """

    X: Float[Array, "B T d"]
    owners: Int[Array, " n"]
    Z: Float[Array, "n e"]
    seen: Bool[Array, "n T"]
    targets: Int[Array, " n"]
    rivals: Bool[Array, "n T"]
    aside: tuple[Contradiction, ...]

    @property
    def count(self) -> int:
        """The number of constraints."""
        return int(self.rivals.sum())

    @property
    def centred(self) -> Float[Array, "B T d"]:
        """Tokens without the mean of their sequence, which cancels in every constraint."""
        centred: Array = self.X - self.X.mean(axis=1, keepdims=True)
        return centred

    def tables(self, X: Array | None = None, scale: Array | None = None) -> Tables:
        """Return the constraints in tables, for other coordinates of the tokens if given."""
        X = self.centred if X is None else X
        return Tables.of(X, self.owners, self.targets, self.rivals, scale)

    def chosen(self, queries: Array) -> SharedProgramme:
        """Return the programme of some queries alone; the others are left out.

        Constraints are formed anew from these queries alone. A query may have been set aside for
        one that is now left out, or its constraints may be listed at an equal query.
        """
        keep = np.zeros(len(self.Z), dtype=np.bool_)
        keep[queries] = True
        return _programme(self.X, self.owners, self.Z, self.seen & keep[:, None], self.targets)


def shared_programme(
    X: Array, Z: Array, seen: Array, targets: Array, owners: Array | None = None
) -> SharedProgramme:
    """Return the constraints of queries on the tokens that they see.

    Queries that contradict each other are set aside, as few as a greedy choice needs.

    Args:
        X: tokens (T, d), or those of several sequences (B, T, d).
        Z: queries (n, e).
        seen: which tokens of its sequence each query sees (n, T).
        targets: the token of its sequence that each query selects (n,).
        owners: the sequence of each query (n,); by default all belong to the first one.

    Raises:
        DataError: shapes do not fit, entries are not finite, or a target is not seen.
    """
    X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64) + 0.0
    X = (X[None] if X.ndim == 2 else X) + 0.0
    seen, targets = np.asarray(seen), np.asarray(targets)
    owners = np.zeros(len(Z), dtype=np.int64) if owners is None else np.asarray(owners)
    fits = X.ndim == 3 and Z.ndim == 2 and seen.dtype == np.bool_
    whole = all(a.dtype.kind in "iu" and a.shape == (len(Z),) for a in (targets, owners))
    if not fits or not whole or seen.shape != (len(Z), X.shape[1]):
        raise DataError(
            "tokens (B, T, d), queries (n, e), a mask (n, T), targets and owners (n,) are needed",
            value=[array.shape for array in (X, Z, seen, targets, owners)],
        )
    if not (np.isfinite(X).all() and np.isfinite(Z).all()):
        raise DataError("tokens or queries are not finite")
    inside = (targets >= 0) & (targets < X.shape[1])
    if not inside.all() or not seen[np.arange(len(Z)), targets].all():
        raise DataError("a query selects a token that it does not see")
    if not ((owners >= 0) & (owners < len(X))).all():
        raise DataError("a query belongs to no sequence")
    return _programme(X, owners, Z, seen, targets)


def programme_of(data: AttentionData, targets: Int[Array, " n"]) -> SharedProgramme:
    """Return the constraints of a data set; tokens that inputs share are kept once."""
    X, n = data.X, data.n
    if X.strides[0] == 0:
        X, owners = X[:1], np.zeros(n, dtype=np.int64)
    else:
        first: dict[bytes, int] = {}
        keys = (hashlib.blake2b((each + 0.0).tobytes(), digest_size=32).digest() for each in X)
        owners = np.array([first.setdefault(key, len(first)) for key in keys])
        if len(first) < n:
            X = X[np.unique(owners, return_index=True)[1]]
    return shared_programme(X, data.Z, data.present, targets, owners)


def _programme(X: Array, owners: Array, Z: Array, seen: Array, targets: Array) -> SharedProgramme:
    """Return the constraints; a query that sees no token is left out."""
    ids = token_ids(X)
    aside = contradictions(Z, ids, owners, seen, targets)
    used = seen.copy()
    used[[pair.queries[-1] for pair in aside]] = False  # before equal constraints are merged
    rivals = without_copies(Z, ids, owners, used, targets)
    return SharedProgramme(X, owners, Z, seen, targets, rivals, aside)


def token_ids(X: Float[Array, "B T d"]) -> Int[Array, "B T"]:
    """Return for each token the index of the first equal one of all sequences."""
    return row_ids(X.reshape(-1, X.shape[2])).reshape(X.shape[:2])


def margins_of(programme: SharedProgramme, W: Array) -> Float[Array, "n T"]:
    """Return the margins of a matrix by query and token; infinite without a constraint."""
    tables = programme.tables()
    return tables.table(tables.pair(programme.Z @ W.T), np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A programme in coordinates of the spans of its tokens and queries, with rows of unit length.

    Attributes:
        operator: products with the Gram matrix.
        c: the bounds of the rows, which are 1 over their lengths; 0 without a constraint.
        left, right: bases of the spans; W is left W' right^T. None if they span everything.
    """

    operator: GramOperator
    c: Float[Array, " m"]
    left: Float[Array, "d r"] | None
    right: Float[Array, "e s"] | None

    @classmethod
    def of(cls, programme: SharedProgramme) -> Reduced:
        """Return a programme in coordinates."""
        X, left = _coordinates(programme.centred.reshape(-1, programme.X.shape[2]))
        X = X.reshape(*programme.X.shape[:2], -1)
        Z, right = _coordinates(programme.Z)
        scale = 1.0 / _lengths(X, programme)
        scale /= np.where(Z.any(axis=1), np.linalg.norm(Z, axis=1), 1.0)[:, None]
        tables = programme.tables(X, scale)
        return cls(GramOperator.over(tables, Z), tables.scale, left, right)

    @property
    def tables(self) -> Tables:
        """The left factors."""
        tables = self.operator.left
        if not isinstance(tables, Tables):
            raise TypeError("the rows are listed")
        return tables

    @property
    def is_whole(self) -> bool:
        """Whether the number of rows is at most that of the entries of W."""
        entries = int(self.tables.X.shape[2] * self.operator.Z.shape[1])
        return int((self.c > 0.0).sum()) <= entries

    def inside(self, W: Array) -> Array:
        """Return W in coordinates: its part on the spans."""
        W = W if self.left is None else self.left.T @ W
        return W if self.right is None else W @ self.right

    def outside(self, W: Array) -> Array:
        """Return the matrix that has these coordinates."""
        W = W if self.left is None else self.left @ W
        return W if self.right is None else W @ self.right.T

    def images(self, W: Array) -> Array:
        """Return the margins of a matrix in coordinates, times the scales of their rows."""
        return self.tables.pair(self.operator.Z @ W.T)

    def combine(self, u: Array) -> Array:
        """Return in coordinates the matrix of multipliers."""
        combined: Array = self.tables.sums(u).T @ self.operator.Z
        return combined


def _coordinates(rows: Array) -> tuple[Array, Array | None]:
    """Return rows in an orthonormal basis of their span, and the basis, if they are few."""
    if len(rows) >= rows.shape[1]:
        return np.ascontiguousarray(rows), None
    basis, factor = np.linalg.qr(rows.T)
    return np.ascontiguousarray(factor.T), basis


def _lengths(X: Array, programme: SharedProgramme) -> Array:
    """Return ||x_target - x_t|| by query and token; 1 without a constraint."""
    targets, owners = programme.targets, programme.owners
    squares, tables = np.einsum("btd,btd->bt", X, X), programme.tables(X)
    both = squares[owners, targets][:, None] + squares[owners]
    table = 2.0 * tables.table(tables.pair(tables.kept), 0.0)
    table += squares[owners] - squares[owners, targets][:, None]
    near = programme.rivals & (table <= 1e-6 * both)  # cancellation: compute these anew
    queries, tokens = np.nonzero(near)
    table[queries, tokens] = ((tables.kept[queries] - X[owners[queries], tokens]) ** 2).sum(axis=1)
    table[~programme.rivals | (table <= 0.0)] = 1.0
    lengths: Array = np.sqrt(table, out=table)
    return lengths


def least_margin(programme: SharedProgramme, W: Array) -> float:
    """Return a lower bound of the least margin of a matrix, which includes rounding."""
    sizes, queries = _sizes(programme), length_up(programme.Z)
    noise = gamma(sum(W.shape) + 8) * size_up(W) * UP
    own = sizes[programme.owners, programme.targets]
    margins = margins_of(programme, W)
    margins -= noise * queries[:, None] * (own[:, None] + sizes[programme.owners])
    return float(margins.min(initial=np.inf))


def _sizes(programme: SharedProgramme) -> Float[Array, "B T"]:
    """Return upper bounds of the lengths of the centred tokens."""
    B, T, d = programme.X.shape
    return length_up(programme.centred.reshape(-1, d)).reshape(B, T)


def combine(programme: SharedProgramme, weights: Array) -> Array:
    """Return sum_it weights_it (x_target - x_t) z_i^T."""
    tables = programme.tables()
    combined: Array = tables.sums(tables.flat(weights)).T @ programme.Z
    return combined


def combined_up(programme: SharedProgramme, weights: Array, combined: Array) -> float:
    """Return an upper bound of the norm of `combine`, from its computed value and its rounding."""
    sizes, queries, owners = _sizes(programme), length_up(programme.Z), programme.owners
    summed = weights.sum(axis=1) * sizes[owners, programme.targets]
    summed += np.einsum("nt,nt->n", weights, sizes[owners])
    return size_up(combined) + gamma(sum(weights.shape) + 8) * float(summed @ queries)


def listed_rows(programme: SharedProgramme, queries: Array, tokens: Array) -> Programme:
    """Return the Att-SVM of some constraints, with their rows written out."""
    owners = programme.owners[queries]
    kept, rival = programme.X[owners, programme.targets[queries]], programme.X[owners, tokens]
    sides = kept, rival, programme.Z[queries]
    return listed(sides, queries, tokens, programme.targets, programme.rivals.shape)

"""The Att-SVM of queries that share tokens, at the sizes of real attention heads.

  min ||W||_F   subject to   (x_target - x_t)^T W z_i >= 1   for every token t that query i sees

Tokens are given once a sequence, and a query sees those of its own sequence. Constraints stay in
tables (`attsvm.svm.tables`). Tokens and queries are replaced by R factors: the search then runs in
coordinates of their spans. Every figure of an answer is recomputed from the multipliers on the
tokens and queries as they were given, and its bracket includes rounding errors.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact.deadline import Deadline
from attsvm.svm.bounds import DOWN, TIGHT, TOLERANCE, UP, gamma, length_up, size_up
from attsvm.svm.contradictions import Contradiction, contradictions, row_ids, without_copies
from attsvm.svm.farkas import exists
from attsvm.svm.growing import grow
from attsvm.svm.methods import COLD, pivots
from attsvm.svm.programme import Programme, listed
from attsvm.svm.support import GramOperator
from attsvm.svm.tables import Tables

SEARCHES = 8
"""Round after which pivots on the rows of largest weight begin, if no W is known to separate."""

CERTIFIED = 1200
"""Maximum number of rows on which pivots look for a solution or a Farkas certificate."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a search: processor seconds so far, and the bracket of the least norm."""

    seconds: float
    bracket: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.bracket
        return f"{self.seconds:.1f} s: least norm in [{low:.6g}, {high:.6g}]"


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


@dataclass(frozen=True, slots=True, eq=False)
class SharedAnswer:
    """The least W of a shared programme, bounds of its norm, or a proof that there is none.

    Attributes:
        programme: the constraints.
        status: `solved` if residuals and gap are at most 1e-9. `bracketed` if W meets the
            constraints and the gap is wider. `unseparable` if `weights` are a proved Farkas
            certificate. `undecided` if there is neither.
        W: the solution; if bracketed, a matrix that meets the constraints; otherwise zero.
        weights: multipliers by query and token: those of the least norm, or the certificate.
        combined: sum_it weights_it (x_target - x_t) z_i^T.
        bracket: bounds of the least norm, moved outward for rounding; infinite if unseparable.
        primal_residual: the largest shortfall of a margin of W below 1.
        dual_residual: minus the least multiplier, if that is negative.
        stationarity: ||W - combined|| / ||W||, if solved; if unseparable, ||combined|| relative to
            the lengths of its summands.
        gap: 1 - (low / high)^2 of the bracket.
    """

    programme: SharedProgramme
    status: Literal["solved", "bracketed", "undecided", "unseparable"]
    W: Float[Array, "d e"]
    weights: Float[Array, "n S"]
    combined: Float[Array, "d e"]
    bracket: tuple[float, float]
    primal_residual: float
    dual_residual: float
    stationarity: float
    gap: float

    @property
    def solved(self) -> bool:
        """Whether W meets the constraints."""
        return self.status in ("solved", "bracketed")

    @property
    def value(self) -> float:
        """The norm of W; infinite if no W is known that meets the constraints.

        If rounding puts it outside the bracket, it is the nearest end of the bracket.
        """
        if not self.solved:
            return math.inf
        low, high = self.bracket
        return min(max(float(np.linalg.norm(self.W)), low), high)

    @property
    def margins(self) -> Float[Array, "n S"]:
        """The margins of W; infinite without a constraint."""
        return margins_of(self.programme, self.W)

    @property
    def is_support(self) -> Bool[Array, "n S"]:
        """Tight constraints, to 1e-7; if only bracketed, constraints with a multiplier."""
        if self.status == "solved":
            tight: Array = self.margins <= 1.0 + TIGHT
            return tight
        return self.weights > 0.0

    def __repr__(self) -> str:
        low, high = self.bracket
        count = f"{self.programme.count} constraints: {self.status}"
        if self.status == "unseparable":
            used = int((self.weights > 0.0).sum())
            return f"<Att-SVM of {count}, {used} of them cancel>"
        if self.status == "solved":
            return f"<Att-SVM of {count}, norm {self.value:.10g}>"
        return f"<Att-SVM of {count}, norm in [{low:.6g}, {high:.6g}]>"


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


def solve_shared(
    programme: SharedProgramme,
    own: Float[Array, "d e"] | None = None,
    deadline: Deadline | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> SharedAnswer:
    """Solve a shared programme, or bracket its least norm at the deadline.

    Args:
        programme: the constraints.
        own: a matrix that may meet them, up to a factor, such as the W of a head. If it does, there
            is an upper bound of the least norm from the start.
        deadline: the end of the search; None for no limit but that of rounds.
        watch: called after every round.
    """
    d, e = programme.X.shape[2], programme.Z.shape[1]
    if not programme.count:
        nothing = np.zeros((d, e))
        table = np.zeros(programme.rivals.shape)
        return SharedAnswer(
            programme, "solved", nothing, table, nothing, (0.0, 0.0), 0.0, 0.0, 0.0, 0.0
        )
    reduced = Reduced.of(programme)
    c, live = reduced.c, reduced.c > 0.0
    if programme.count <= COLD:
        settled = _pivoted(programme, reduced, np.flatnonzero(live), deadline)
        if settled is not None:
            return settled
    feasible, high, low = None, math.inf, 0.0
    if own is not None:
        feasible = reduced.inside(own)
        high = _length_at_margins(feasible, reduced.images(feasible), c, live)
    best, search = np.zeros(len(c)), SEARCHES
    clock = deadline or Deadline.after()
    begun = clock.left
    equal = np.zeros(len(c), dtype=np.bool_)
    for k, each in enumerate(
        grow(reduced.operator, c, equal, live, deadline, whole=reduced.is_whole)
    ):
        size = math.sqrt(max(float(each.u @ each.image), 0.0))
        below = float(c @ each.u) / size if size > 0.0 else 0.0
        above = _length_at_margins(size, each.image, c, live)
        if above < high:
            feasible, high = reduced.combine(each.u), above
        if below >= low or each.is_final:
            low, best = below, each.u
        if watch is not None:
            watch(Progress(begun - clock.left, (low, high)))
        if high == math.inf and k == search:
            search *= 2
            rows = np.sort(np.argsort(-each.u)[: min(CERTIFIED, int((each.u > 0.0).sum()))])
            settled = _pivoted(programme, reduced, rows, deadline)
            if settled is not None:
                return settled
    upper = None if feasible is None or high == math.inf else reduced.outside(feasible)
    return graded(programme, reduced, best, upper)


def _length_at_margins(W: Array | float, image: Array, c: Array, live: Array) -> float:
    """Return the norm that W has when its least margin is 1; infinite if that is not positive."""
    least = float((image[live] / c[live]).min())
    return float(np.linalg.norm(W)) / least if least > 0.0 else math.inf


def graded(
    programme: SharedProgramme, reduced: Reduced, u: Array, feasible: Array | None
) -> SharedAnswer:
    """Return the answer of multipliers, with all figures recomputed on the data as given."""
    tables = reduced.tables
    weights = tables.table(u * reduced.c, 0.0)
    combined = combine(programme, weights)
    # weak duality: sum_it weights_it / ||combined|| is at most the least norm
    gain = float(weights.sum()) * (1.0 - gamma(weights.size + 8)) * DOWN
    low = gain / combined_up(programme, weights, combined) * DOWN if gain > 0.0 else 0.0
    high, best, scaled = math.inf, None, 1.0
    for each in (combined, feasible):
        if each is None:
            continue
        # divided by its least margin, a matrix meets all constraints
        size, least = size_up(each), least_margin(programme, each)
        if least > 0.0 and size / least * UP < high:
            high, best, scaled = size / least * UP, each, least
    gap = max(0.0, 1.0 - (low / high) ** 2) if high < math.inf else math.inf
    W, primal = np.zeros_like(combined), math.inf
    if best is not None:
        is_solution = best is combined and max(gap, abs(1.0 - scaled)) <= TOLERANCE
        W = best if is_solution else best * ((1.0 + 4e-16) / scaled)
        primal = max(0.0, 1.0 - float(margins_of(programme, W).min()))
    solved = max(gap, primal) <= TOLERANCE
    norm = float(np.linalg.norm(W))
    return SharedAnswer(
        programme=programme,
        status="solved" if solved else "bracketed" if high < math.inf else "undecided",
        W=W,
        weights=weights,
        combined=combined,
        bracket=(low, high),
        primal_residual=primal,
        dual_residual=max(0.0, -float(weights.min(initial=0.0))),
        stationarity=float(np.linalg.norm(W - combined)) / norm if norm > 0.0 else math.inf,
        gap=gap,
    )


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


def _pivoted(
    programme: SharedProgramme, reduced: Reduced, rows: Array, deadline: Deadline | None
) -> SharedAnswer | None:
    """Return the solution, or a proof that none exists, by pivots on some rows; None on failure."""
    if not rows.size:
        return None
    queries, tokens = reduced.tables.places(rows)
    part = listed_rows(programme, queries, tokens)
    proposal = pivots(part, deadline.part(0.25) if deadline else None)
    if proposal is None:
        return None
    if proposal[1]:
        u = np.zeros(len(reduced.c))
        u[rows] = np.maximum(proposal[0], 0.0) / reduced.c[rows]
        answer = graded(programme, reduced, u, None)
        return answer if answer.status == "solved" else None
    if not exists(part, proposal[0], deadline):
        return None
    weights = np.zeros(programme.rivals.shape)
    weights[queries, tokens] = proposal[0] / proposal[0].sum()
    combined = part.combine(weights[queries, tokens])
    lengths = float((weights[queries, tokens] * part.norms).sum())
    return SharedAnswer(
        programme=programme,
        status="unseparable",
        W=np.zeros_like(combined),
        weights=weights,
        combined=combined,
        bracket=(math.inf, math.inf),
        primal_residual=math.inf,
        dual_residual=max(0.0, -float(weights.min())),
        stationarity=float(np.linalg.norm(combined)) / lengths,
        gap=math.inf,
    )


def listed_rows(programme: SharedProgramme, queries: Array, tokens: Array) -> Programme:
    """Return the Att-SVM of some constraints, with their rows written out."""
    owners = programme.owners[queries]
    kept, rival = programme.X[owners, programme.targets[queries]], programme.X[owners, tokens]
    sides = kept, rival, programme.Z[queries]
    return listed(sides, queries, tokens, programme.targets, programme.rivals.shape)


def cancelled(programme: SharedProgramme) -> Float[Array, "n T"] | None:
    """Return multipliers of sum 1 whose constraints cancel exactly, if queries contradict."""
    if not programme.aside:
        return None
    pair, weights = programme.aside[0], np.zeros(programme.rivals.shape)
    ids = token_ids(programme.X)
    for i, token in zip(pair.queries, pair.tokens[::-1], strict=False):
        same = programme.seen[i] & (ids[programme.owners[i]] == ids.flat[token])
        weights[i, same.argmax()] = 1.0 / len(pair.queries)
    return weights

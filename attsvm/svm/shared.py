"""The Att-SVM of queries that share tokens, at the sizes of real attention heads.

  min ||W||_F   subject to   (x_target - x_t)^T W z_i >= 1   for every token t that query i sees

Tokens are given once a sequence, and a query sees those of its own sequence. Constraints stay in
tables (`attsvm.svm.tables`). Tokens and queries are replaced by R factors: the search then runs in
coordinates of their spans. Every figure of an answer is recomputed from the multipliers on the
tokens and queries as they were given, and its bracket includes rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.exact.deadline import Deadline
from attsvm.svm.bounds import DOWN, TIGHT, TOLERANCE, UP, gamma, size_up
from attsvm.svm.farkas import exists
from attsvm.svm.growing import grow
from attsvm.svm.methods import COLD, pivots
from attsvm.svm.shared_programme import (
    Reduced,
    SharedProgramme,
    combine,
    combined_up,
    least_margin,
    listed_rows,
    margins_of,
    token_ids,
)

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

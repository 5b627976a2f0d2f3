"""A comparison of a head with the Att-SVM that selects the tokens to which it attends most."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float, Int, JsonObject
from attsvm._words import counted
from attsvm.errors import DataError, UsageError
from attsvm.exact.deadline import Deadline
from attsvm.heads.arrays import HeadArrays
from attsvm.heads.figures import Figures, averages, prices
from attsvm.svm.active import Active, active_part
from attsvm.svm.answer import warm
from attsvm.svm.bounds import TIGHT
from attsvm.svm.certified import finite
from attsvm.svm.frobenius import FrobeniusAnswer
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.svm.programme import att_svm_programme, subset
from attsvm.svm.shared import Progress, SharedAnswer, solve_shared
from attsvm.svm.shared_programme import SharedProgramme, margins_of, shared_programme
from attsvm.svm.shared_soft import repeated, solve_soft_shared

SECONDS = 60.0
"""Default time limit of a comparison, in processor seconds."""

SELECTING = 0.5
"""Least weight of the selected token of a query that selects."""

SHARE = 0.5
"""Share of the remaining time for the queries asked for, and then for those that select."""

HARD = 0.7
"""Share of the time for the hard margin, if the head's own W does not separate."""

Watcher = Callable[[str, Progress], None]
"""A function that is called with the name of the problem and the state of its solution."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Figures):
    """A comparison of a head with the Att-SVM that selects the same tokens; see `Figures`."""

    @property
    def needed(self) -> Bool[Array, "L T"]:
        """Tokens on which the Att-SVM depends: selected ones, their copies, and support tokens.

        Copies of a support token count as well. Queries without constraints need all tokens. This
        is exact for a solved Att-SVM. A bracketed one counts tokens with a multiplier so far.
        """
        seen, answer = self.programme.seen, self.answer
        if not answer.solved:
            return seen
        if isinstance(answer, SharedAnswer) and answer.status != "solved":
            needed = answer.is_support | ~self.programme.rivals & seen
            needed[np.arange(len(needed)), self.programme.targets] = True
        else:
            every = replace(self.programme, rivals=seen)
            needed = seen & (margins_of(every, self._W) <= 1.0 + TIGHT)
        needed[~self.programme.rivals.any(axis=1)] = True
        return needed & seen

    @property
    def droppable(self) -> Bool[Array, "L T"]:
        """The visible tokens that are not needed: without them a solved Att-SVM is the same.

        Queries that are not compared have none.
        """
        return self.programme.seen & ~self.needed

    @property
    def price(self) -> Float[Array, " L"]:
        """The relative change of each output if all droppable tokens are dropped.

        The softmax is recomputed over the remaining tokens.
        """
        kept = self.attention * ~self.droppable
        kept /= kept.sum(axis=1, keepdims=True)
        whole, less = (averages(self.head, weights) for weights in (self.attention, kept))
        moved = np.linalg.norm(whole - less, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative: Array = np.where(moved > 0.0, moved / np.linalg.norm(whole, axis=1), 0.0)
        return relative

    @property
    def cheapest(self) -> list[tuple[int, int, float]]:
        """Query, index and price of each droppable token if it alone is dropped, cheapest first."""
        each = np.where(self.droppable, prices(self.head), np.inf)
        order = np.argsort(each, axis=None, kind="stable")[: int(self.droppable.sum())]
        places = zip(*np.unravel_index(order, each.shape), strict=True)
        return [(int(i), int(t), float(each[i, t])) for i, t in places]

    def json(self) -> JsonObject:
        """Return the figures as in `attsvm solve --json`; infinite and NaN ones are null."""
        margins, support = self.margins, np.isfinite(self.margins) & self.needed
        document = {
            "selected": self.head.targets.tolist(),
            "margins": margins.tolist(),
            "margin": self.margin,
            "best_margin": self.best_margin,
            "cosine": self.cosine,
            "residual": self.residual,
            "norm": self._norm,
            "active_norm": self.active.norm,
            "entropy": self.head.entropy.tolist(),
            "support": [np.flatnonzero(row).tolist() for row in support],
            "droppable": [{"input": i, "token": t, "price": p} for i, t, p in self.cheapest],
            "price": self.price.tolist(),
            "status": self.answer.status,
            "bracket": list(self.answer.bracket),
            "primal_residual": self.answer.primal_residual,
            "gap": self.answer.gap,
            "decided_by": list(self.decided_by or ()),
            "aside": [str(pair) for pair in self.programme.aside],
            "baseline": self.baseline,
            "share": self.share,
            "selecting": None
            if self.selecting is None
            else {
                "queries": _queries_of(self.selecting).tolist(),
                "share": self.selecting.share,
                "cosine": self.selecting.cosine,
                "bracket": list(self.selecting.answer.bracket),
            },
            "shortfalls": None if self.soft is None else self.soft.shortfalls.tolist(),
        }
        plain: JsonObject = finite(document)
        return plain

    def facts(self) -> Mapping[str, str]:
        """Return the figures of the comparison by name."""
        drop, seen = int(self.droppable.sum()), int(self.programme.seen.sum())
        support = int((np.isfinite(self.margins) & self.needed).sum())
        entropy = self.head.entropy[self.programme.seen.any(axis=1)]
        facts = {"Att-SVM": repr(self.answer).strip("<>")}
        if self.programme.aside:
            pairs = "; ".join(map(str, self.programme.aside[:_SHOWN]))
            facts["aside"] = f"{counted(len(self.programme.aside), 'contradiction')}: {pairs}"
        if self.soft is not None:
            facts["soft"] = repr(self.soft).strip("<>")
        if self.head.weights is None:
            facts["margin"] = f"no single W has one; {self.best_margin:.6g} is possible"
        else:
            facts["margin"] = f"{self.margin:.6g} of {self.best_margin:.6g} that is possible"
        if self.decided_by is not None:
            query, token, rival = self.decided_by
            facts["closest"] = f"query {query}: token {token} against token {rival}"
        random = "" if math.isnan(self.baseline) else f"; a random W has cosine {self.baseline:.4g}"
        if self.head.weights is not None:
            facts["direction"] = (
                f"cosine {self.cosine:.6g}, residual {round(self.residual, 12):.6g}{random}"
            )
            most = self.active.most
            sure = "" if self.active.residual <= 1e-6 else f" (between that and {most:.6g})"
            facts["in sight"] = (
                f"{self.active.norm:.6g}{sure} of the norm {self._norm:.6g} of W acts on "
                "these queries"
            )
        is_open = self.answer.status == "bracketed"
        tokens = counted(seen, "token")
        unneeded = f"{drop} of {tokens}" + (
            " without a multiplier so far, which the Att-SVM may need" if is_open else ""
        )
        facts |= {
            "entropy": f"{entropy.mean():.6g} on average, {entropy.max():.6g} at most",
            "support": f"{counted(support, 'token')} with a multiplier so far"
            if is_open
            else counted(support, "support token"),
            "droppable": f"{unneeded}; dropping all of them moves an "
            f"output by {self.price.max():.3g} of its length at most",
        }
        if self.selecting is not None:
            part = self.selecting
            queries = counted(len(_queries_of(part)), "query").replace("querys", "queries")
            facts["selecting"] = f"{queries} of weight 1/2 or more: " + (
                f"a margin of {part.best_margin:.6g} is possible"
                if self.head.weights is None
                else f"share {part.share:.4g} of the best margin, cosine {part.cosine:.4g}"
            )
        return facts

    def __repr__(self) -> str:
        lines = (f"{name:<9} {value}" for name, value in self.facts().items())
        return "\n".join(["; ".join([self.head.name, *self.head.notes]), *lines])


_SHOWN = 4
"""Maximum number of contradictions in a text."""


def compare(
    head: HeadArrays,
    norm: Literal["fro", "nuc"] = "fro",
    answer: FrobeniusAnswer | NuclearAnswer | None = None,
    *,
    seconds: float | None = SECONDS,
    queries: Literal["all", "selecting"] | Int[Array, " k"] = "all",
    baseline: bool = True,
    watch: Watcher | None = None,
) -> Comparison:
    """Compare W with the Att-SVM that selects the same tokens.

    If time runs out, the Att-SVM has bounds of its norm in place of a solution. By default the
    selecting queries alone and a random W are compared as well.

    Args:
        head: the head.
        norm: the norm that the Att-SVM minimises: the Frobenius norm, which descent on W
            favours, or the nuclear norm, which descent on (K, Q) favours.
        answer: the answer of that Att-SVM, if known; otherwise it is solved.
        seconds: budget of processor time in seconds; None for no limit.
        queries: all queries; those whose selected token has at least half of the attention; or
            their indices.
        baseline: whether to solve for a random W and for the selecting queries as well.
        watch: called while the Att-SVM is solved.

    Raises:
        SolverError: the nuclear norm has no bracket.
        UsageError: an unknown norm, or unknown queries.
        DataError: the head is too large for the nuclear norm, or no query selects.
    """
    if norm not in ("fro", "nuc"):
        raise UsageError("no such norm", value=norm, remedy="Use fro or nuc.")
    warm(("least_norm", "ascent"))
    deadline = Deadline.after(seconds) if seconds is not None else None
    attention, targets, owners = head.own(head.attention), head.targets, head.owners
    selects = attention[np.arange(len(targets)), targets] >= SELECTING
    X = head.tokens.reshape(len(head.sequences), head.width, -1)
    whole = shared_programme(X, head.queries, head.own(head.seen), targets, owners)
    programme = whole
    if isinstance(queries, str) and queries == "selecting":
        programme = whole.chosen(np.flatnonzero(selects))
        if not programme.count:
            raise DataError(
                "no query with several tokens gives one of them half of its attention",
                remedy="Compare queries='all'.",
            )
    elif not isinstance(queries, str):
        programme = whole.chosen(_indices(queries, len(targets)))
    elif queries != "all":
        raise UsageError("no such queries", value=queries, remedy="Use all, selecting, or indices.")
    beside = baseline and norm == "fro" and answer is None
    first = _part(deadline, SHARE if beside else 1.0)
    compared = _compared(head, programme, attention, norm, answer, first, _to(watch, "all queries"))
    if not beside:
        return compared
    selecting = None
    if isinstance(queries, str) and queries == "all" and selects.any() and not selects.all():
        part = whole.chosen(np.flatnonzero(selects))
        part_of = _part(deadline, SHARE)
        watched = _to(watch, "queries that select")
        selecting = _compared(head, part, attention, norm, None, part_of, watched)
    random = _baseline(head, programme, deadline, _to(watch, "a random W"))
    return replace(compared, selecting=selecting, baseline=random)


def _part(deadline: Deadline | None, share: float) -> Deadline | None:
    return None if deadline is None else deadline.part(share)


def _to(watch: Watcher | None, name: str) -> Callable[[Progress], None] | None:
    return None if watch is None else lambda progress: watch(name, progress)


def _indices(queries: object, count: int) -> Array:
    """Return indices of queries.

    Raises:
        UsageError: they are not integers below their number, or there is none.
    """
    indices = np.asarray(queries)
    fits = indices.dtype.kind in "iu" and indices.ndim == 1 and indices.size > 0
    if not fits or not ((indices >= 0) & (indices < count)).all():
        raise UsageError(f"queries are integers from 0 to {count - 1}", value=queries)
    return indices


def _queries_of(compared: Figures) -> Array:
    """Return the queries of a comparison that have a constraint."""
    return np.flatnonzero(repeated(compared.programme).rivals.any(axis=1))


def _compared(
    head: HeadArrays,
    programme: SharedProgramme,
    attention: Array,
    norm: Literal["fro", "nuc"],
    answer: SharedAnswer | FrobeniusAnswer | NuclearAnswer | None,
    deadline: Deadline | None,
    watch: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Return the comparison of the queries that have constraints in the programme."""
    W = head.weights
    if W is None:
        shape = programme.X.shape[2], programme.Z.shape[1]
        active, reached = Active(np.zeros(shape), 0.0, 0.0, 0.0), _differences(head, programme)
    else:
        active = active_part(programme, W, _part(deadline, 0.25))
        reached = margins_of(programme, W)
    if answer is None and norm == "nuc":
        every = att_svm_programme(head.data, head.targets)
        kept = np.asarray(programme.rivals.any(axis=1))[every.input]
        answer = solve_nuclear(subset(every, kept), deadline=deadline, bracketed=True)
    soft = None
    if answer is None:
        separates = W is not None and bool(reached.min(initial=np.inf) > 0.0)
        answer = solve_shared(programme, W, deadline if separates else _part(deadline, HARD), watch)
        if not answer.solved:
            soft = solve_soft_shared(programme, deadline=deadline)
    return Comparison(head, programme, attention, answer, reached, active, soft)


def _differences(head: HeadArrays, programme: SharedProgramme) -> Array:
    """Return the margins of the logits that attention got; infinite without a constraint."""
    logits = head.own(head.logits)
    own = np.take_along_axis(logits, programme.targets[:, None], axis=1)
    margins: Array = np.where(programme.rivals, own - logits, np.inf)
    return margins


def _baseline(
    head: HeadArrays,
    programme: SharedProgramme,
    deadline: Deadline | None,
    watch: Callable[[Progress], None] | None,
) -> float:
    """Return the cosine of a random W of the same rank and the Att-SVM of what it selects."""
    if head.weights is None:
        return math.nan
    generator = np.random.default_rng(0)
    rank = max(1, int(np.linalg.matrix_rank(head.weights, rtol=1e-6)))
    d, e = head.weights.shape
    W = generator.normal(size=(d, rank)) @ generator.normal(size=(rank, e))
    X, Z, owners, seen = programme.X, programme.Z, programme.owners, head.own(head.seen)
    logits = np.concatenate([Z[owners == b] @ W.T @ own.T for b, own in enumerate(X)])
    logits[~seen] = -np.inf
    random = shared_programme(X, Z, seen, logits.argmax(axis=1), owners)
    random = random.chosen(np.flatnonzero(programme.rivals.any(axis=1)))
    active = active_part(random, W, _part(deadline, 0.25))
    answer = solve_shared(random, W, deadline, watch)
    sizes = active.norm * float(np.linalg.norm(answer.combined))
    if not answer.solved or not sizes > 0.0:
        return math.nan
    return float((active.W * answer.combined).sum() / sizes)

"""Methods that propose multipliers of least-norm programmes; callers check every proposal."""

from collections.abc import Callable

import numpy as np

from attsvm._types import Array
from attsvm.exact.deadline import Deadline, is_over
from attsvm.exact.svm import decide, nearest
from attsvm.kernels.least_norm import FAILED, SOLVED, least_norm, pivot, scale_rows
from attsvm.svm.growing import grow, solve_on
from attsvm.svm.programme import Programme, subset
from attsvm.svm.support import GramOperator, guess_by_blocks

COLD, DENSE = 256, 3000
"""Maximum numbers of constraints for pivots from an empty active set, and for a Gram matrix."""

NARROW = 1000
"""Maximum number of entries of W for trying a working set before accelerated steps."""

EXACT = 150
"""Maximum number of constraints for which the exact method proposes multipliers."""

FLOPS = 2e9
"""Maximum number of floating-point operations of pivots between checks of the deadline."""

Proposal = tuple[Array, bool] | None
"""Multipliers, and whether they belong to a solution (otherwise to a Farkas certificate)."""

Method = Callable[[Programme, Deadline | None], Proposal]
"""A method; at the deadline it ends with the multipliers that it has, or with None."""


def propose(programme: Programme) -> Proposal:
    """Return the proposal of the first method that has one, without grading it."""
    with np.errstate(all="ignore"):
        for method in METHODS.values():
            proposal = method(programme, None)
            if proposal is not None:
                return proposal
    return None


def zero_rows(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Solve programmes for which W = 0 is feasible, or that have a constraint 0 >= 1.

    From other programmes, zero rows are dropped; the rest is solved by another method. None if
    there is no zero row.

    A zero row comes from a zero query or from a repeated target.
    """
    bound, equal = programme.bound, programme.equal
    if not (bound > 0.0).any() and not (equal & (bound != 0.0)).any():
        return np.zeros(len(bound)), True
    empty: Array = np.asarray(~(programme.D.any(axis=1) & programme.Z.any(axis=1)))
    if not empty.any():
        return None
    unmet = empty & ((bound > 0.0) | (equal & (bound != 0.0)))
    weights = np.zeros(len(bound))
    if unmet.any():
        worst = int(unmet.argmax())
        weights[worst] = np.sign(bound[worst])
        return weights, False
    rest = subset(programme, ~empty)
    several = working_set if _is_narrow(programme) else accelerated
    inner = (pivots if len(rest.bound) <= DENSE else several)(rest, deadline)
    if inner is None:
        return None
    weights[~empty] = inner[0]
    return weights, inner[1]


def pivots(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Pivot from an empty active set.

    With a deadline, the pivots of a large programme are done in parts; each part starts from the
    active set of the previous one.
    """
    m = len(programme.bound)
    if m > DENSE:
        return None
    limit, part = 20 * m + 100, int(FLOPS / m**2)
    if deadline is None or part >= limit:
        weights, status, _ = least_norm(
            programme.D, programme.Z, programme.bound, programme.equal, limit
        )
        return None if status == FAILED else (weights, status == SOLVED)
    D, Z, norms = scale_rows(programme.D, programme.Z)
    gram, c = (D @ D.T) * (Z @ Z.T), programme.bound / norms
    largest = float(np.abs(c).max())
    active, factor = np.empty(0, dtype=np.int64), np.empty((0, 0))
    for _ in range(0, limit, part):
        w, status, _ = pivot(gram, c / largest, programme.equal, active, factor, part)
        if status != FAILED:
            scale = largest if status == SOLVED else 1.0
            return w / norms * scale, status == SOLVED
        if deadline.left <= 0.0:
            return w / norms * largest, True
        active = np.flatnonzero(w)
        try:
            factor = np.linalg.cholesky(gram[np.ix_(active, active)])
        except np.linalg.LinAlgError:
            return None
    return None


def blocks(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Exchange blocks of the active set on the scaled rows, then solve one system accurately."""
    D, Z, norms = scale_rows(programme.D, programme.Z)
    rank = min(D.shape) * min(Z.shape)
    if len(norms) > rank or not (norms > 0.0).all():
        return None  # dependent rows make block exchanges cycle
    c = programme.bound / norms
    largest = float(np.abs(c).max())
    operator = GramOperator.of(D, Z, programme.input)
    inside, w = guess_by_blocks(operator, c / largest, programme.equal, deadline)
    refined = solve_on(operator, inside, c / largest, w, deadline)
    return np.where(programme.equal, refined, np.maximum(refined, 0.0)) / norms * largest, True


def accelerated(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Let a working set grow by accelerated steps, then solve the system of the support.

    If it ends before that, the last multipliers whose W separates are returned, or the last ones.
    """
    D, Z, norms = scale_rows(programme.D, programme.Z)
    if not (norms > 0.0).all():
        return None
    c = programme.bound / norms
    largest = float(np.abs(c).max())
    c, equal, m = c / largest, programme.equal, len(c)
    operator = GramOperator.of(D, Z, programme.input)
    whole = m <= min(D.shape) * min(len(operator.Z), Z.shape[1])
    u, separated = np.zeros(m), False
    for each in grow(operator, c, equal, np.ones(m, dtype=np.bool_), deadline, whole=whole):
        separates = bool((each.image[c > 0.0] > 0.0).all())
        if separates or not separated:
            u, separated = each.u, separates
    return np.where(equal, u, np.maximum(u, 0.0)) / norms * largest, True


def working_set(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Pivot on a working set of rows, to which the most violated rows are added repeatedly."""
    m = len(programme.bound)
    _, _, norms = scale_rows(programme.D, programme.Z)
    inside = programme.equal.copy()
    inside[np.argsort(norms * np.where(programme.bound > 0, 1.0, np.inf))[:COLD]] = True
    weights, value = np.zeros(m), 0.0
    for _ in range(200):
        chosen = np.flatnonzero(inside)
        if len(chosen) > DENSE:
            return None
        inner = pivots(subset(programme, inside), deadline)
        if inner is None:
            return None
        weights = np.zeros(m)
        weights[chosen] = inner[0]
        if not inner[1]:
            return weights, False
        missing = (programme.bound - programme.margins(programme.combine(weights))) / norms
        missing[inside] = -np.inf
        violated = np.flatnonzero(missing > 1e-12 * float(np.abs(weights * norms).sum()))
        before, value = value, float(programme.bound @ weights)
        if violated.size == 0 or not value > before or is_over(deadline):
            # stop if the value does not grow beyond rounding: the loop would never end
            return weights, True
        # Drop rows of weight 0. They may return, but the dual value grows at every pass and there
        # are finitely many sets, so the loop ends.
        inside = programme.equal | (weights != 0.0)
        worst = violated[np.argsort(-missing[violated])]
        inside[worst[: max(COLD, int(inside.sum()))]] = True
    return None


def rationals(programme: Programme, deadline: Deadline | None = None) -> Proposal:
    """Return the multipliers of the exact answer, rounded to floats."""
    if len(programme.bound) > EXACT:
        return None
    exact = decide(programme, None, deadline)
    solved = exact.status == "solved"
    scale = 1 if solved else max(map(abs, exact.duals))
    return np.array([nearest(w / scale) for w in exact.duals]), solved


def _is_narrow(programme: Programme) -> bool:
    """Return whether W has so few entries that a working set stays small."""
    return bool(programme.D.shape[1] * programme.Z.shape[1] <= NARROW)


METHODS: dict[str, Method] = {
    "empty rows": zero_rows,
    "pivots from nothing": lambda p, d: pivots(p, d) if len(p.bound) <= COLD else None,
    "block exchanges": blocks,
    "working set": lambda p, d: working_set(p, d) if _is_narrow(p) else None,
    "accelerated steps": lambda p, d: (
        accelerated(p, d) if len(p.bound) > COLD and not _is_narrow(p) else None
    ),
    "pivots": pivots,
    "wide working set": lambda p, d: None if _is_narrow(p) else working_set(p, d),
    "rationals": rationals,
}
"""Methods by name, in the order in which they are tried."""

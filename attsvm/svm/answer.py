"""`solve`: the Att-SVM of a user's data, in floats and in rationals, with its certificate."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact.deadline import Deadline, is_over
from attsvm.exact.numbers import Vector
from attsvm.exact.svm import decide
from attsvm.kernels.least_norm import pivot
from attsvm.svm.certified import Answer
from attsvm.svm.frobenius import Search, searched, solve_programme
from attsvm.svm.handed import LARGEST_EVALUATED, best_bracket, evaluated, evaluated_soft, handed_out
from attsvm.svm.methods import COLD, DENSE, accelerated
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import Programme, att_svm_programme
from attsvm.svm.soft import solve_soft
from attsvm.svm.soft_ascent import ascended

LARGEST_EXACT = 250
"""Maximum number of constraints for which a Frobenius answer is always certified in rationals."""

SECONDS = 60.0
"""Default time limit of a solve, in processor seconds."""

FLOATS = 0.4
"""Share of the time limit for float methods if rational arithmetic may be needed afterwards."""


def solve(
    data: AttentionData,
    targets: object = None,
    *,
    norm: str = "fro",
    soft: float | None = None,
    slack: object = "constraint",
    seconds: float | None = SECONDS,
    wall: float | None = None,
) -> Answer:
    """Solve the Att-SVM of a data set and certify the answer as far as possible.

    Frobenius answers and Farkas certificates are computed in rationals if there are at most
    `LARGEST_EXACT` constraints, or if floats do not settle the problem. W is the exact solution
    rounded to floats, with the residual and the gap of these floats. If they miss a margin by more
    than 1e-9, the status is `solved in rationals`, and `exact.W` is the solution. Nuclear-norm and
    soft-margin answers carry a bracket that accounts for rounding. If the time ends before there is
    a solution, the status is `bracketed`.

    Args:
        data: tokens, queries and scores.
        targets: one token per input, or None for the optimal ones.
        norm: `fro` or `nuc`.
        soft: the price C of slack, for the soft margin (Frobenius norm only).
        slack: which constraints share a slack, as in `soft_att_svm`.
        seconds: budget of processor time in seconds, counted once the kernels are compiled; None
            for no limit.
        wall: budget of wall-clock time in seconds, counted from the same moment; None for no limit.
            With this budget a busy machine may change the answer.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`; an unknown norm; a soft margin with the
            nuclear norm; a time limit that is not positive.
        SolverError: there is neither an answer with a proof nor a bracket.
    """
    for limit in (seconds, wall):
        if limit is not None and not limit > 0.0:
            raise DataError(
                "the time limit must be positive", value=limit, remedy="Give more seconds."
            )
    if norm not in ("fro", "nuc"):
        raise DataError("norm must be `fro` or `nuc`", value=norm)
    programme = att_svm_programme(data, targets)
    warm(kernels_for(len(programme.bound), norm=norm, soft=soft is not None))
    deadline = None
    if seconds is not None or wall is not None:
        deadline = Deadline.after(seconds or math.inf, wall or math.inf)
    if soft is None and not (isinstance(slack, str) and slack == "constraint"):
        raise DataError(
            "slack is given, but the margin is hard",
            value=slack,
            remedy="Give the price of slack (soft).",
        )
    if soft is not None:
        if norm == "nuc":
            raise DataError(
                "the soft margin is defined with the Frobenius norm",
                value=norm,
                remedy="Leave out the norm or the price of slack.",
            )
        softened = solve_soft(programme, soft, slack, deadline, bracketed=True)
        if programme.entries > LARGEST_EVALUATED:
            return Answer(softened, None)
        return Answer(evaluated_soft(softened), None, evaluated=True)
    half = deadline.part(0.5) if deadline is not None and norm == "nuc" else deadline
    hard = _certified(programme, half)
    if norm == "fro":
        return hard
    if not hard.solved:
        return replace(hard, norm="nuc")
    start = hard.W if hard.status in ("solved", "bracketed") else None
    nuclear = solve_nuclear(programme, start, deadline, bracketed=True)
    late = nuclear.status == "bracketed" and is_over(deadline)
    words = deadline.words if deadline is not None and late else None
    return Answer(evaluated(nuclear), None, "nuc", unfinished=words)


def _certified(programme: Programme, deadline: Deadline | None) -> Answer:
    """Return the Frobenius answer: exact if small or needed, else in floats, else bracketed."""
    m, entries = len(programme.bound), programme.entries
    search = Search(None)
    if m > SMALL:
        part = deadline.part(FLOATS) if deadline and entries <= LARGEST_EVALUATED else deadline
        search = searched(programme, part, rationals=False)
        if search.answer is not None and m > LARGEST_EXACT:
            return Answer(evaluated(search.answer), None)
    return settle(programme, search, deadline)


def settle(programme: Programme, search: Search, deadline: Deadline | None) -> Answer:
    """Return the answer by rationals from proposals of floats, else by floats, else a bracket.

    Raises:
        SolverError: there is neither an answer with a proof nor a bracket.
    """
    m, noted = len(programme.bound), list[Vector]()
    if programme.entries <= LARGEST_EVALUATED:
        guess = _guess(search, m)
        try:
            exact = decide(programme, guess, deadline, noted.append)
            return Answer(handed_out(programme, exact), exact)
        except SolverError:  # no proof in time: fall back to floats with brackets
            pass
    words = None if deadline is None else deadline.words
    if m <= SMALL:
        search = searched(programme, rationals=False)
    if search.answer is not None:
        return Answer(evaluated(search.answer), None, unfinished=words)
    result = search.bracketed
    if search.weights or noted:
        other = best_bracket(programme, search.weights, noted)
        result = min((a for a in (result, other) if a), key=lambda a: a.gap, default=None)
    if result is None:
        ended = "did not end in the time given" if is_over(deadline) else "did not settle it"
        raise SolverError(
            f"floats reached no answer with residuals up to 1e-9, and rational arithmetic {ended}",
            value=words,
            remedy="Give more seconds, rescale, or drop nearly parallel tokens.",
        )
    return Answer(evaluated(result), None, unfinished=words)


def _guess(search: Search, m: int) -> Array | None:
    """Return multipliers whose support rational arithmetic tries first.

    Without a proposal of floats they are 0 for a small programme, and None for a larger one.
    """
    if search.answer is not None:
        return search.answer.weights
    last = search.weights[-1] if search.weights else None
    if last is not None and np.isfinite(last).all():
        return last
    return np.zeros(m) if m <= SMALL else None


SMALL = 12
"""Maximum number of constraints for which rationals need no guess by compiled kernels."""


def kernels_for(constraints: int, *, norm: str, soft: bool) -> tuple[str, ...]:
    """Return the names of the kernel modules that a solve of this size calls; often none."""
    needed = {
        "least_norm": constraints > SMALL or soft,
        "ascent": constraints > COLD,
        "nuclear": norm == "nuc",
        "soft": soft and constraints <= DENSE,
    }
    return tuple(name for name, is_needed in needed.items() if is_needed)


def warm(names: Iterable[str]) -> None:
    """Call the kernels of these modules on two constraints, so that they are compiled."""
    chosen = set(names)
    if not chosen:
        return
    tiny = att_svm_programme(
        AttentionData(
            np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
            np.ones((2, 2)),
            scores=np.array([[1.0, 0.0], [1.0, 0.0]]),
        )
    )
    if "least_norm" in chosen:
        solve_programme(tiny)
    if "ascent" in chosen:
        accelerated(tiny)
        nothing = np.empty(0, dtype=np.int64), np.empty((0, 0))
        pivot(tiny.gram, tiny.bound, tiny.equal, *nothing, 1)
        for _ in ascended(tiny, np.arange(len(tiny.bound)), np.ones(len(tiny.bound))):
            pass
    if "nuclear" in chosen:
        solve_nuclear(tiny)
    if "soft" in chosen:
        solve_soft(tiny, 1.0)

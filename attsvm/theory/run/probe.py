"""Evaluation of made-up instances, that is those of guided searchers; they are counted apart."""

from __future__ import annotations

import functools

from attsvm._types import Case
from attsvm.errors import DataError
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.tally import Tally

_TOUCHING = 12
"""Maximum number of exact evaluations per turn for instances that floats accept."""


def admits(tally: Tally, case: Case, searcher: str, *, reshaped: bool) -> bool:
    """Return whether a made-up instance meets every hypothesis; False if a hypothesis raises.

    The exception is counted as broken. If the searcher kept the form of the instance, only a
    `DataError` is excused in this way: another exception is a mistake of the claim, and passes
    through.
    """
    excused = Exception if reshaped else DataError
    for each in tally.part.hypotheses:
        decided = functools.partial(tally.evaluation.decided, each)
        if not tally.answer(decided, case, f"hypothesis {each.name!r}", searcher, excused):
            return False
    return True


def probe(
    tally: Tally, case: Case, searcher: str, *, reshaped: bool, progress: float = 1.0
) -> tuple[float | None, Refuted | None]:
    """Evaluate a made-up instance; return its height and, if confirmed, a refutation.

    Such instances go beyond the author's strategy. An undecided one is counted as open and leaves
    the verdict unchanged, unless floats see a violation. One on which the exact evaluation raises
    is counted as broken.

    Args:
        tally: the tally of the part; it counts the instance.
        case: the instance.
        searcher: the name of the searcher.
        reshaped: whether the searcher changed the form of the instance; then an exception is not
            held against the claim.
        progress: the share of the searcher's turn that has passed. Exact evaluations of instances
            that floats cannot decide are limited, and spread over the turn.

    Returns:
        The height, None if the instance is not admissible or was not evaluated; and the confirmed
        refutation, if any.

    Raises:
        TooLong: the evaluation of a record takes too many steps.
    """
    case = frozen(case)
    try:
        return _probed(tally, case, searcher, reshaped=reshaped, progress=progress)
    except TooLong:
        tally.give_up(in_words(case, {}))
        return None, None


def _probed(
    tally: Tally, case: Case, searcher: str, *, reshaped: bool, progress: float
) -> tuple[float | None, Refuted | None]:
    seen, evaluation = tally.seen, tally.evaluation
    broke = seen.broke
    if not admits(tally, case, searcher, reshaped=reshaped):
        seen.refused += seen.broke == broke
        return None, None
    excused = Exception if reshaped else DataError
    slack = tally.answer(evaluation.slack, case, "the conclusion", searcher, excused)
    if slack is None:
        return None, None
    answer, document = None, None
    if slack.violated or (not slack.holds and _touches(tally, searcher, progress)):
        confirmed = functools.partial(evaluation.confirmed, slack=slack)
        settled = tally.answer(confirmed, case, "the certificate", searcher, Exception)
        if settled is None:
            return None, None
        answer, document = settled
    seen.probed += 1
    tally.count(case, slack)
    tally.variety.see(case)
    refuted = answer is not None and answer.refuted is True
    contradicted = answer is not None and answer.refuted is False and slack.violated
    if not contradicted:  # its height would attract the search to float errors
        tally.record(slack, case, searcher, refuted=refuted, made_up=True)
    height = None if slack.kind == "unknown" or contradicted else slack.height
    if answer is not None and refuted:
        return height, tally.refutation(document, slack, answer, searcher)
    if answer is not None and slack.violated:
        tally.leave_undecided(case, slack, answer)
    elif not slack.holds and (answer is None or answer.refuted is None):
        seen.open += 1
    return height, None


def _touches(tally: Tally, searcher: str, progress: float) -> bool:
    """Count an instance that floats leave open; return whether to evaluate it exactly.

    The budget of exact evaluations grows with the progress of the turn.
    """
    touched = tally.touched.get(searcher, 0)
    if touched >= _TOUCHING * progress:
        tally.seen.unexamined += 1
        return False
    tally.touched[searcher] = touched + 1
    return True

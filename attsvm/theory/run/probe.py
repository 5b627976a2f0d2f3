"""Instances that guided searchers make up: they are counted apart from ordinary ones."""

from __future__ import annotations

import functools

from attsvm._types import Case
from attsvm.errors import DataError
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.refuted import Refuted
from attsvm.theory.run.tally import Tally

_TOUCHING = 12
"""How many made-up instances a searcher's turn has evaluated exactly though floats see no fault."""


def admits(tally: Tally, case: Case, searcher: str, *, reshaped: bool) -> bool:
    """Return whether a made-up instance meets every hypothesis; False if a hypothesis raises.

    Those are counted as broken: what a claim does not decide was not looked at.
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
    """Examine an instance that a guided searcher made up: its height, and a refutation.

    Such instances leave what the claim's author prepared. One that no evaluation settles is
    counted as open and leaves the verdict alone, unless floats see a violation in it. One on
    which exact evaluation raises is counted as broken.

    Args:
        tally: of the part, which counts the instance.
        case: the instance.
        searcher: what the searcher is called.
        reshaped: whether the searcher changed the form of the instance, so that an exception is
            no fault of the claim.
        progress: the share of the searcher's turn that has passed. Where floats see no
            violation but cannot rule one out, exact evaluation is rationed, and the ration is
            spread over the turn.

    Returns:
        How close it comes to violation, None where it is not admissible or not evaluated; and
        the confirmed refutation.

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
        settled = tally.answer(confirmed, case, "what confirms it", searcher, Exception)
        if settled is None:
            return None, None
        answer, document = settled
    seen.probed += 1
    tally.count(case, slack)
    tally.variety.see(case)
    refuted = answer is not None and answer.refuted is True
    contradicted = answer is not None and answer.refuted is False and slack.violated
    if not contradicted:  # its height would lead the search to where floats are wrong
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
    """Return whether one more instance that floats cannot settle is evaluated exactly."""
    touched = tally.touched.get(searcher, 0)
    if touched >= _TOUCHING * progress:
        tally.seen.unexamined += 1
        return False
    tally.touched[searcher] = touched + 1
    return True

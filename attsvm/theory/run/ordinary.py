"""Evaluation of ordinary instances, that is of the author's strategy, ensemble and examples.

They decide whether a check was thorough, and any of them may refute the claim.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable

from attsvm._types import Case, Json
from attsvm.theory.declaration.judge import PRECISIONS
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import agree, frozen
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.sampling import DRAWN, EXPLICIT
from attsvm.theory.run.tally import Tally

_WATCHED = 16
"""Re-evaluated instances are drawn from the first 16 accepted ones (number of instances)."""

_AUDIT = PRECISIONS[1]
"""Maximum number of bits for the exact evaluation of an instance that floats accept, unless floats
follow a stand-in."""


def examine_case(tally: Tally, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
    """Return whether an ordinary instance was accepted, and a confirmed refutation.

    An instance that takes too many steps is counted as skipped.
    """
    case = frozen(case)
    try:
        return _examined(tally, case, searcher)
    except TooLong:
        tally.give_up(in_words(case, {}))
        return False, None


def _examined(tally: Tally, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
    seen, evaluation = tally.seen, tally.evaluation
    tally.likeness.see(case, searcher)
    # The first instances are encoded before and after each call, to detect code that changes its
    # instance, and their conclusions are evaluated again later. For all instances this would take
    # longer than the evaluation itself.
    watched = len(tally.first) < tally.repeats and seen.examples < _WATCHED
    before = codec.encode(case) if watched else None
    accepted = _accepts(tally, case)
    if watched:
        evaluation.ensure_unchanged("a hypothesis", case, before)
    if not accepted:
        return False, None
    tally.variety.see(case)
    slack = evaluation.slack(case)
    if searcher != EXPLICIT:
        tally.count(case, slack)
    seen.drawn += searcher == DRAWN
    seen.describe(case)
    if searcher != EXPLICIT:  # explicit instances say nothing about how the strategy varies
        tally.variety.see_drawn(case)
    if watched:
        evaluation.ensure_unchanged("the conclusion", case, before)
        if all(slack.value != other.value for _, _, other in tally.first):
            tally.first.append((case, before, slack))
    if slack.holds:
        tally.record(slack, case, searcher, refuted=False)
        if not (_stands_in(tally) or tally.audits > 0):
            return True, None
        tally.audits -= 1
        audited = seen.audited
        try:
            refutation = _audited(case, tally, slack, searcher)
        finally:
            if watched:
                evaluation.ensure_unchanged("the certificate", case, before)
        seen.decided += refutation is not None or seen.audited > audited
        return True, refutation
    answer, document = evaluation.confirmed(case, slack)
    if tally.part.formula.measured is not None:
        seen.decided += answer.evidence is Evidence.CERTIFIED
    # if the exact evaluation contradicts the floats, the float height must not attract the search
    if answer.refuted is not False or not slack.violated:
        tally.record(slack, case, searcher, refuted=answer.refuted is True)
    if answer.refuted:
        return True, tally.refutation(document, slack, answer, searcher)
    if answer.refuted is None or slack.violated:
        tally.leave_undecided(case, slack, answer)
    return True, None


def _accepts(tally: Tally, case: Case) -> bool:
    """Return whether the instance meets every hypothesis; count each by name.

    Raises:
        ClaimError: a hypothesis is not decided, or raised.
    """
    verdicts = {h.name: tally.evaluation.named(h, case) for h in tally.part.hypotheses}
    accepted = all(verdicts.values())
    for name, answer in verdicts.items():
        tally.seen.hypotheses[name] += answer
    tally.seen.examples += accepted
    tally.seen.rejected += not accepted
    return accepted


def _stands_in(tally: Tally) -> bool:
    """Return whether floats follow a stand-in, so that each instance is evaluated exactly."""
    measured = tally.part.formula.measured
    return bool(tally.part.name == "" and measured is not None and measured.stand_in)


def _audited(case: Case, tally: Tally, slack: Slack, searcher: str) -> Refuted | None:
    """Evaluate exactly an instance that floats accept; return the refutation, if any."""
    measured = tally.part.formula.measured
    if measured is None or measured.balls is None:
        return None
    bits = PRECISIONS[-1] if _stands_in(tally) else _AUDIT
    answer, document = tally.evaluation.confirmed(case, slack, bits)
    tally.seen.audited += answer.refuted is False
    return tally.refutation(document, slack, answer, searcher) if answer.refuted else None


def audit_closest(tally: Tally) -> Refuted | None:
    """Evaluate exactly the instance with the largest height; return its refutation, if any.

    An instance on which floats already do not accept the conclusion was evaluated exactly before.
    """
    if tally.best is None or not tally.best[2].holds:
        return None
    _, case, slack = tally.best
    audited = functools.partial(_audited, tally=tally, slack=slack, searcher=tally.best_by)
    excused = Exception if tally.best_made_up else ()
    return tally.answer(audited, case, "the certificate", tally.best_by, excused)


def repeat(tally: Tally) -> None:
    """Raise unless repeated evaluations of the conclusion return the same slacks.

    The conclusion is evaluated again on the first instances with different slacks, and several
    times on the last of them, to detect a conclusion that alternates.

    Raises:
        ClaimError: the conclusion returns another slack, or changes an instance.
    """
    for case, before, slack in (*tally.first, *tally.first[-1:] * (2 * tally.repeats - 1)):
        agree(tally.claim.id, slack, tally.evaluation.slack(case), exactly=True)
        tally.evaluation.ensure_unchanged("the conclusion", case, before)


def see_dropped(tally: Tally, documents: Iterable[Json]) -> None:
    """Record which hypotheses dropped by the part are violated by some of the encoded instances.

    Instances that violate a remaining hypothesis do not count. Every hypothesis is decided exactly.
    """
    missed, decided = tally.seen.missed, tally.evaluation.decided
    for document in documents:
        if all(missed.values()):
            return
        case = frozen(codec.decode(document, tally.claim.instance_type))
        with contextlib.suppress(TooLong):
            if all(decided(h, case) for h in tally.part.hypotheses):
                for hypothesis in tally.part.dropped:
                    missed[hypothesis.name] |= not decided(hypothesis, case)

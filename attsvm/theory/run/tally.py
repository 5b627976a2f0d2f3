"""The tally of one part of a claim: the counts of a search, and functions that update them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

from attsvm._types import Case, Entry, Json
from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Confirmation
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.evaluation import Evaluation
from attsvm.theory.run.likeness import Likeness
from attsvm.theory.run.pool import Pool
from attsvm.theory.run.refuted import Refuted
from attsvm.theory.run.variety import Variety

_Answer = TypeVar("_Answer")


def _key(values: Entry) -> str:
    """Return a short text that identifies the values of an instance."""
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


class Tally:
    """A count of the instances of one part of a claim that a search handles.

    Attributes:
        claim, part: the claim and the part that is searched.
        evaluation: the evaluator of the part.
        audits: number of instances to evaluate exactly although floats accept them.
        repeats: maximum number of accepted instances whose conclusion is evaluated again.
        seen: the counts.
        variety: which variables differed.
        likeness: the test for made-up instances.
        pool: the instances that came closest to a violation.
        best: the closest instance, with its height and slack; `best_by` names its searcher and
            `best_made_up` says whether it is made up.
        first: the first accepted instances with different slacks: instance, encoded form, slack.
        touched: by searcher, the number of made-up instances evaluated exactly although floats
            accept them.
        latest: the violation confirmed last.
    """

    def __init__(self, claim: Claim, part: Part, audits: int) -> None:
        self.claim = claim
        self.part = part
        self.evaluation = Evaluation(claim, part)
        self.audits = audits
        self.repeats = 0
        self.seen = Counts(
            hypotheses={h.name: 0 for h in part.hypotheses},
            missed={h.name: 0 for h in part.dropped},
        )
        self.variety = Variety(part, self.seen)
        self.likeness = Likeness(claim, part)
        self.pool = Pool()
        self.best: tuple[float, Case, Slack] | None = None
        self.best_by = ""
        self.best_made_up = False
        self.first: list[tuple[Case, Json, Slack]] = []
        self.touched: dict[str, int] = {}
        self.latest: Refuted | None = None
        self._known: set[str] = set()

    def knows(self, case: Case) -> bool:
        """Return whether an instance was counted as distinct before."""
        return _key(self.part.formula.values_of(case)) in self._known

    def count(self, case: Case, slack: Slack) -> None:
        """Count an instance of a formula that met the hypotheses, if it is decided and new."""
        formula = self.part.formula
        if formula.batches and slack.kind != "unknown":
            self._known.add(_key(formula.values_of(case)))
            self.seen.distinct = len(self._known)

    def record(
        self, slack: Slack, case: Case, by: str, *, refuted: bool, made_up: bool = False
    ) -> None:
        """Record the slack of an instance, and offer the instance to the pool."""
        if slack.kind == "unknown":
            return
        ratio = slack.ratio
        if ratio is not None and not refuted:
            # A ratio above 1 is a violation. It was not confirmed, so the excess is rounding, and a
            # tightness above 1 would claim what the judge did not find.
            ratio = min(ratio, 1.0)
        self.seen.record(slack.value, ratio)
        height = slack.height
        self.pool.offer(height, case)
        if self.best is None or height > self.best[0]:
            self.best, self.best_by, self.best_made_up = (height, case, slack), by, made_up

    def refutation(
        self, document: Json, slack: Slack, answer: Confirmation, searcher: str
    ) -> Refuted:
        """Return a confirmed violation, and keep it as the latest."""
        self.latest = Refuted(
            instance=document,
            slack=slack.document,
            evidence=str(answer.evidence),
            enclosure=answer.enclosure,
            method=answer.method,
            found_by=searcher,
        )
        return self.latest

    def answer(
        self,
        ask: Callable[[Case], _Answer],
        case: Case,
        what: str,
        searcher: str,
        excused: type[Exception] | tuple[()],
    ) -> _Answer | None:
        """Return the answer of a claim's function on a made-up instance.

        None if the function raises one of the `excused` exceptions, which is counted as broken.
        Other exceptions pass through.
        """
        try:
            return ask(case)
        except ClaimError:
            raise
        except excused as problem:
            self.leave_broken(what, case, problem, searcher)
            return None

    def give_up(self, where: str) -> None:
        """Count an evaluation of a formula that took too many steps.

        Raises:
            TooLong: the claim is not a formula of variables.
        """
        if not self.part.formula.batches:
            raise TooLong
        self.seen.given_up += 1
        self.seen.given_up_note = self.seen.given_up_note or where

    def leave_undecided(self, case: Case, slack: Slack, answer: Confirmation) -> None:
        """Count an undecided instance, or one on which floats and exact values disagree.

        The reason of the first one is kept, with the instance.
        """
        self.seen.undecided += 1
        reason = slack.note or f"slack {slack.value!r}: {answer.method}"
        if answer.refuted is False:
            reason = (
                f"the float slack {slack.value!r} with error {slack.error!r} is contradicted by "
                f"{answer.method}"
            )
        where = in_words(case, {})
        self.seen.undecided_note = self.seen.undecided_note or f"{reason}; first at {where}"

    def leave_broken(
        self, what: str, case: Case, problem: Exception, searcher: str | None = None
    ) -> None:
        """Count an exception of the claim on a made-up instance.

        `case` is None if there is no instance.
        """
        self.seen.broke += 1
        where = "" if case is None else f"; first at {in_words(case, {})}"
        where += "" if searcher is None else f", proposed by {searcher}"
        note = f"{type(problem).__name__}: {problem} in {what}{where}"
        self.seen.broke_note = self.seen.broke_note or note

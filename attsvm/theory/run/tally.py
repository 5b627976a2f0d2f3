"""The tally of one part of a claim: examines instances and counts what it sees."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Case, Entry, Json, JsonObject
from attsvm.errors import ClaimError, DataError
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.judge import PRECISIONS
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import rebuilt
from attsvm.theory.instance.domain import Domain
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import agree, frozen
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Confirmation
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.evaluation import Evaluation
from attsvm.theory.run.pool import Pool
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EXPLICIT, sample
from attsvm.theory.run.variety import Variety

_Answer = TypeVar("_Answer")

_TOUCHING = 12
"""How many made-up instances a searcher's turn has evaluated exactly though floats see no fault."""

_WATCHED = 16
"""Among how many accepted instances those are chosen whose conclusion is evaluated again."""

_AUDIT = PRECISIONS[1]
"""The bits that may be spent on an instance on which floats see no fault, unless they follow a
stand-in."""

_SAMPLES = 16
"""How many draws of the strategy tell what an instance looks like: how far its integers and lengths
go, which members there are and which axes belong together."""

_ENSEMBLE = 4
"""How many of the ensemble do, where the check has drawn none."""

_AUTHORS = frozenset((EXPLICIT, ENSEMBLE, DRAWN))
"""Whose instances are as the claim's author meant them."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """A confirmed violation of a part, with the values that confirm it."""

    instance: Any
    slack: dict[str, str]
    evidence: str
    enclosure: tuple[str, str] | None
    method: str
    found_by: str

    @classmethod
    def read(cls, document: JsonObject) -> Refuted:
        """From plain data."""
        bounds = document["enclosure"]
        return cls(**{**document, "enclosure": bounds and tuple(bounds)})


def _key(values: Entry) -> str:
    """Return a short text for the values of an instance, by which equal ones are known."""
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


class Tally:
    """Examines instances of one part and counts what it sees.

    Ordinary instances (`examine`) are drawn as the claim's author meant them and carry the verdict;
    guided searchers make up others (`probe`).
    """

    def __init__(self, claim: Claim, part: Part, audits: int) -> None:
        self.claim = claim
        self.part = part
        self.evaluation = Evaluation(claim, part)
        self.audits = audits
        self.seen = Counts(
            hypotheses={h.name: 0 for h in part.hypotheses},
            missed={h.name: 0 for h in part.dropped},
        )
        self.variety = Variety(part, self.seen)
        self._touched: dict[str, int] = {}
        self._known: set[str] = set()
        self.best: tuple[float, Any, Slack] | None = None
        self.best_by = ""
        self.best_made_up = False
        self._domain = Domain()
        self._drawn: list[Any] = []
        self._learnt = False
        self.pool = Pool()
        self.latest: Refuted | None = None
        self.counting = True
        self.exactly = False  # whether instances that floats see hold are confirmed all the same
        self.repeats = 0
        measured = part.formula.measured
        self._each = bool(part.name == "" and measured is not None and measured.stand_in)
        self._first: list[tuple[Any, Any, Slack]] = []

    def knows(self, case: Case) -> bool:
        """Return whether an instance is one of those that were counted as distinct."""
        return _key(self.part.formula.values_of(case)) in self._known

    def _count(self, case: Case, slack: Slack) -> None:
        """Count an instance of a formula that met the hypotheses, if it is decided and new."""
        formula = self.part.formula
        if self.counting and formula.batches and slack.kind != "unknown":
            self._known.add(_key(formula.values_of(case)))
            self.seen.distinct = len(self._known)

    def made_up(self, document: Json) -> Any | None:
        """The instance of an encoded one that a searcher made up; None where it is none.

        It is one if it is of the claim's type, as `replay` would read it, and looks like what the
        claim's author draws.
        """
        case = rebuilt(self.claim, document)
        return None if case is None else self.like_drawn(frozen(case))

    def like_drawn(self, case: Case) -> Any | None:
        """An instance of the claim's type; None where it does not look like what is drawn."""
        if not self._learnt:
            self._learnt = True
            for ordinary in self._ordinary():
                self._domain.see(ordinary)
        return case if self._domain.holds(case) else None

    def samples(self) -> tuple[Any, ...]:
        """Some encoded instances of the strategy: those that were examined first, and others.

        Those that miss a hypothesis are among them.
        """
        drawn = [codec.encode(case) for case in self._drawn]
        return (*drawn, *sample(self.part.data, _SAMPLES - len(drawn))[0])

    def learn(self, found: Refuted) -> None:
        """Learn what instances look like from a find, if it is not made up.

        Where floats do not see that it refutes, changes of it are confirmed without them.
        """
        case = codec.decode(found.instance, self.claim.instance_type)
        if found.found_by in _AUTHORS:
            self._domain.see(case)
        self.exactly = self.evaluation.slack(frozen(case)).holds

    def _ordinary(self) -> Iterator[Any]:
        """Instances as their author means them; draws only where few were examined."""
        yield from (*self.part.examples, *self.claim.examples)
        if len(self._drawn) == _SAMPLES:
            return
        for document in sample(self.part.data, _SAMPLES - len(self._drawn))[0]:
            yield codec.decode(document, self.claim.instance_type)
        if self.claim.ensemble is not None:
            generator = np.random.default_rng(0)
            yield from (self.claim.ensemble(generator) for _ in range(_ENSEMBLE))

    def see_dropped(self, documents: Iterable[Json]) -> None:
        """See which hypotheses that the part drops some encoded instances violate.

        Instances that miss another hypothesis do not count. Everything is decided exactly.
        """
        missed = self.seen.missed
        for document in documents:
            if all(missed.values()):
                return
            case = frozen(codec.decode(document, self.claim.instance_type))
            with contextlib.suppress(TooLong):
                if all(self.evaluation.decided(h, case) for h in self.part.hypotheses):
                    for hypothesis in self.part.dropped:
                        missed[hypothesis.name] |= not self.evaluation.decided(hypothesis, case)

    def accepts(self, case: Case) -> bool:
        """Whether the instance meets every hypothesis; counts each by name.

        Raises:
            ClaimError: a hypothesis is not decided, or raised on what is no change of a find.
        """
        decided = self.evaluation.named if self.counting else self.evaluation.decided
        verdicts = {h.name: decided(h, case) for h in self.part.hypotheses}
        accepted = all(verdicts.values())
        if self.counting:
            for name, answer in verdicts.items():
                self.seen.hypotheses[name] += answer
            self.seen.examples += accepted
            self.seen.rejected += not accepted
        return accepted

    def admits(self, case: Case, searcher: str, *, reshaped: bool) -> bool:
        """Whether a made-up instance meets every hypothesis; False where one of them raises.

        Those are counted as broken: what a claim does not decide was not looked at.
        """
        excused = Exception if reshaped else DataError
        for each in self.part.hypotheses:
            what = f"hypothesis {each.name!r}"
            if not self._excused(
                functools.partial(self.evaluation.decided, each), case, what, searcher, excused
            ):
                return False
        return True

    def _excused(
        self,
        ask: Callable[[Any], _Answer],
        case: Case,
        what: str,
        searcher: str,
        excused: type[Exception] | tuple[()],
    ) -> _Answer | None:
        """What the claim says of a made-up instance; None where it raises, counted as broken."""
        try:
            return ask(case)
        except ClaimError:
            raise
        except excused as problem:
            self.leave_broken(what, case, problem, searcher)
            return None

    def examine(self, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
        """Examine an ordinary instance: whether it was accepted, and a confirmed refutation.

        One whose evaluation takes too many steps is given up.
        """
        case = frozen(case)
        try:
            return self._examined(case, searcher)
        except TooLong:
            self.give_up(in_words(case, {}))
            return False, None

    def give_up(self, where: str) -> None:
        """Count an evaluation of a formula that took too many steps.

        Raises:
            TooLong: it was no formula of variables.
        """
        if not self.part.formula.batches:
            raise TooLong
        self.seen.given_up += 1
        self.seen.given_up_note = self.seen.given_up_note or where

    def _examined(self, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
        if self.counting and searcher in _AUTHORS:
            self._domain.see(case)
            if searcher == DRAWN and len(self._drawn) < _SAMPLES:
                self._drawn.append(case)
        few = len(self._first) < self.repeats and self.seen.examples < _WATCHED
        watched = self.counting and few
        before = codec.encode(case) if watched else None
        accepted = self.accepts(case)
        if watched:
            self.evaluation.ensure_unchanged("a hypothesis", case, before)
        if not accepted:
            return False, None
        if self.counting:
            self.variety.see(case)
        slack = self.evaluation.slack(case)
        if searcher != EXPLICIT:
            self._count(case, slack)
        if self.counting:
            self.seen.drawn += searcher == DRAWN
            self.seen.describe(case)
            if searcher != EXPLICIT:  # an author's instance does not vary what he draws
                self.variety.see_drawn(case)
        if watched:
            self.evaluation.ensure_unchanged("the conclusion", case, before)
            if all(slack.value != other.value for _, _, other in self._first):
                self._first.append((case, before, slack))
        if slack.holds and not self.exactly:
            self._record(slack, case, searcher, refuted=False)
            if not (self.counting and (self._each or self.audits > 0)):
                return True, None
            self.audits -= 1
            audited = self.seen.audited
            try:
                found = self._audited(case, slack, searcher)
            finally:
                if watched:
                    self.evaluation.ensure_unchanged("the certificate", case, before)
            self.seen.decided += found is not None or self.seen.audited > audited
            return True, found
        answer, document = self.evaluation.confirmed(case, slack, anew=self.counting)
        if self.counting and self.part.formula.measured is not None:
            self.seen.decided += answer.evidence is Evidence.CERTIFIED
        if answer.refuted is not False or not slack.violated:  # else floats are wrong
            self._record(slack, case, searcher, refuted=answer.refuted is True)
        if answer.refuted:
            return True, self._refutation(document, slack, answer, searcher)
        if answer.refuted is None or slack.violated:
            self._leave_undecided(case, slack, answer)
        return True, None

    def probe(
        self, case: Case, searcher: str, *, reshaped: bool, progress: float = 1.0
    ) -> tuple[float | None, Refuted | None]:
        """Examine an instance that a guided searcher made up: its height, and a refutation.

        Such instances leave what the claim's author prepared. One that no evaluation settles is
        counted as open and leaves the verdict alone, unless floats see a violation in it. One on
        which exact evaluation raises is counted as broken.

        Args:
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
            return self._probed(case, searcher, reshaped=reshaped, progress=progress)
        except TooLong:
            self.give_up(in_words(case, {}))
            return None, None

    def _probed(
        self, case: Case, searcher: str, *, reshaped: bool, progress: float
    ) -> tuple[float | None, Refuted | None]:
        broke = self.seen.broke
        if not self.admits(case, searcher, reshaped=reshaped):
            self.seen.refused += self.seen.broke == broke
            return None, None
        excused = Exception if reshaped else DataError
        slack = self._excused(self.evaluation.slack, case, "the conclusion", searcher, excused)
        if slack is None:
            return None, None
        answer, document = None, None
        if slack.violated or (not slack.holds and self._touches(searcher, progress)):
            confirmed = functools.partial(
                self.evaluation.confirmed, slack=slack, anew=self.counting
            )
            settled = self._excused(confirmed, case, "what confirms it", searcher, Exception)
            if settled is None:
                return None, None
            answer, document = settled
        self.seen.probed += 1
        self._count(case, slack)
        if self.counting:
            self.variety.see(case)
        refuted = answer is not None and answer.refuted is True
        contradicted = answer is not None and answer.refuted is False and slack.violated
        if not contradicted:  # its height would lead the search to where floats are wrong
            self._record(slack, case, searcher, refuted=refuted, made_up=True)
        height = None if slack.kind == "unknown" or contradicted else slack.height
        if answer is not None and refuted:
            return height, self._refutation(document, slack, answer, searcher)
        if answer is not None and slack.violated:
            self._leave_undecided(case, slack, answer)
        elif not slack.holds and (answer is None or answer.refuted is None):
            self.seen.open += 1
        return height, None

    def _touches(self, searcher: str, progress: float) -> bool:
        """Whether one more instance that floats cannot settle is evaluated exactly."""
        touched = self._touched.get(searcher, 0)
        if touched >= _TOUCHING * progress:
            self.seen.unexamined += 1
            return False
        self._touched[searcher] = touched + 1
        return True

    def height(self, case: Case) -> float | None:
        """How close an instance comes to violation, as floats see it; None if not admissible."""
        case = frozen(case)
        try:
            if not all(self.evaluation.decided(h, case) for h in self.part.hypotheses):
                return None
            slack = self.evaluation.slack(case)
        except TooLong:
            self.give_up(in_words(case, {}))
            return None
        return None if slack.kind == "unknown" else slack.height

    def audit_closest(self) -> Refuted | None:
        """Ask exactly about the instance that came closest, whichever searcher found it."""
        if self.best is None or not self.best[2].holds:
            return None
        _, case, slack = self.best
        audited = functools.partial(self._audited, slack=slack, searcher=self.best_by)
        excused = Exception if self.best_made_up else ()
        return self._excused(audited, case, "what confirms it", self.best_by, excused)

    def _audited(self, case: Case, slack: Slack, searcher: str) -> Refuted | None:
        """Ask exactly about an instance on which floats see no fault; what is refuted after all."""
        measured = self.part.formula.measured
        if measured is None or measured.balls is None:
            return None
        bits = PRECISIONS[-1] if self._each else _AUDIT
        answer, document = self.evaluation.confirmed(case, slack, bits, anew=self.counting)
        self.seen.audited += answer.refuted is False
        return self._refutation(document, slack, answer, searcher) if answer.refuted else None

    def repeat(self) -> None:
        """Evaluate the conclusion again on the first instances of different slacks.

        On the last of them it is evaluated several times, which finds out one that alternates.

        Raises:
            ClaimError: it comes to another slack, or changes an instance.
        """
        for case, before, slack in (*self._first, *self._first[-1:] * (2 * self.repeats - 1)):
            agree(self.claim.id, slack, self.evaluation.slack(case), exactly=True)
            self.evaluation.ensure_unchanged("the conclusion", case, before)

    def ensure_stands(self, found: Refuted) -> None:
        """Evaluate the instance of a find anew, from the values that its file holds.

        Raises:
            ClaimError: it comes to something else than when it was found.
        """
        case = frozen(codec.decode(found.instance, self.claim.instance_type))
        value, error, kind = found.slack["value"], found.slack["error"], found.slack["kind"]
        slack = Slack(float(value), float(error), kind)  # type: ignore[arg-type]
        self.latest = None
        answer, _ = self.evaluation.confirmed(case, slack)
        if not answer.refuted:
            agree(self.claim.id, slack, self.evaluation.slack(case), exactly=False)
            raise ClaimError(
                f"what confirms a violation of {self.claim.id} gives two answers on one instance",
                value=answer.method,
                remedy="It must depend on nothing but the instance: seed every random generator.",
            )
        self.latest = found

    def _refutation(
        self, document: Json, slack: Slack, answer: Confirmation, searcher: str
    ) -> Refuted:
        self.latest = Refuted(
            instance=document,
            slack=slack.document,
            evidence=str(answer.evidence),
            enclosure=answer.enclosure,
            method=answer.method,
            found_by=searcher,
        )
        return self.latest

    def _leave_undecided(self, case: Case, slack: Slack, answer: Confirmation) -> None:
        if not self.counting:
            return
        self.seen.undecided += 1
        said = slack.note or f"slack {slack.value!r}: {answer.method}"
        if answer.refuted is False:
            said = (
                f"floats see a slack of {slack.value!r} within {slack.error!r}, contradicted by "
                f"{answer.method}"
            )
        where = in_words(case, {})
        self.seen.undecided_note = self.seen.undecided_note or f"{said}; first at {where}"

    def leave_broken(
        self, what: str, case: Case, problem: Exception, searcher: str | None = None
    ) -> None:
        """Count an exception of the claim on a made-up instance, None where it has none to show."""
        self.seen.broke += 1
        where = "" if case is None else f"; first at {in_words(case, {})}"
        where += "" if searcher is None else f", proposed by {searcher}"
        said = f"{type(problem).__name__}: {problem} in {what}{where}"
        self.seen.broke_note = self.seen.broke_note or said

    def _record(
        self, slack: Slack, case: Case, by: str, *, refuted: bool, made_up: bool = False
    ) -> None:
        if not self.counting or slack.kind == "unknown":
            return
        ratio = slack.ratio
        if ratio is not None and not refuted:
            ratio = min(ratio, 1.0)  # above 1 without a refutation is within its own error
        self.seen.record(slack.value, ratio)
        height = slack.height
        self.pool.offer(height, case)
        if self.best is None or height > self.best[0]:
            self.best, self.best_by, self.best_made_up = (height, case, slack), by, made_up

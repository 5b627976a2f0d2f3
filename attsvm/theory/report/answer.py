"""The answer to a question: refuted, not refuted with an account, or undecided."""

import contextlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from attsvm._types import Case, Json, JsonObject
from attsvm._words import counted
from attsvm.errors import ClaimError, UsageError
from attsvm.theory.declaration.judge import sides
from attsvm.theory.declaration.question import OPEN, Question
from attsvm.theory.instance import codec
from attsvm.theory.instance.letters import letters_of
from attsvm.theory.packs.questions import questions_in
from attsvm.theory.run.asking import rehearse
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.coverage import FOR_QUESTIONS
from attsvm.theory.search.account import Hunt
from attsvm.theory.search.hunt import hunt

_ENTRY = re.compile(r"IndexError: index (\d+) is out of bounds for axis \d+ with size \d+")
"""The start of the error that an array has no entry with an index."""

_MORE = 6
"""Factor from the seconds of a hunt to the seconds that its answer recommends."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question.

    Attributes:
        question: the question.
        account: the hunt for a counterexample.
        seconds: the time limit of the hunt in seconds.
    """

    question: Question
    account: Hunt
    seconds: float

    @property
    def verdict(self) -> Literal["refuted", "not refuted", "undecided"]:
        """The answer in a word.

        "undecided" means that the judge could not settle some instance.
        """
        if self.account.smallest is not None:
            return "refuted"
        return "undecided" if self.account.seen.undecided else "not refuted"

    @property
    def refuted(self) -> bool:
        """Whether a counterexample was confirmed."""
        return self.account.smallest is not None

    @property
    def as_expected(self) -> bool:
        """Whether the answer does not contradict what the author of the question expects."""
        wanted = self.question.expected
        return wanted == OPEN or self.refuted == (wanted == "refuted")

    @property
    def instance(self) -> dict[str, str]:
        """The smallest counterexample, or else the closest instance; empty if there is none.

        It maps each letter of the question to a Python expression. The expression is exact if the
        value is rational, else "about" and a decimal number.
        """
        smallest, closest = self.account.smallest, self.account.closest
        if smallest is not None:
            return letters_of(self.question.claim.formula, self._decoded(smallest.instance))
        if closest is None:
            return {}
        return letters_of(self.question.claim.formula, self._decoded(closest.document))

    def _decoded(self, document: Json) -> Case:
        return codec.decode(document, self.question.claim.instance_type)

    def json(self) -> JsonObject:
        """Return the answer as plain data, with the account of the hunt."""
        return {
            "question": self.question.text,
            "file": self.question.claim.file,
            "line": self.question.claim.line,
            "answer": self.verdict,
            "expected": self.question.expected,
            "as_expected": self.as_expected,
            "instance": self.instance,
            "account": {
                **self.account.json(),
                "warnings": self.account.warnings_with(FOR_QUESTIONS),
            },
        }

    def lines(self, option: str = "seconds=") -> Iterator[str]:
        """Yield the answer as lines of text; `option` is how the time is given."""
        yield self.question.text
        if self.account.smallest is not None:
            yield from self._refutation(self.account.smallest)
        elif self.account.seen.settled:
            yield from self._exhausted()
        else:
            yield from self._account(option)

    def _refutation(self, refuted: Refuted) -> Iterator[str]:
        unfinished = self.account.unfinished(self.seconds)
        least = f"perhaps not minimal: {unfinished}" if unfinished else "minimal"
        yield f"refuted, by {refuted.method}; the instance is {least}:"
        yield from self._shown()
        formula = self.question.claim.formula
        yield f"  {sides(formula, {}, self._decoded(refuted.instance))} is false"

    def _shown(self) -> Iterator[str]:
        yield from (f"  {name} = {value}" for name, value in self.instance.items())

    def _exhausted(self) -> Iterator[str]:
        settled = self.account.seen.settled
        yield f"holds within its domain: all {settled} instances were evaluated exactly"

    def _account(self, option: str) -> Iterator[str]:
        account, seen = self.account, self.account.seen
        yield f"{self.verdict} in {account.seconds:.0f} s; that is no proof"
        looked = f"  {counted(account.examples, 'instance')} evaluated exactly"
        yield looked + (f", {seen.screened} more screened in floats" if seen.screened else "")
        if seen.undecided:
            count = counted(seen.undecided, "instance")
            yield f"  {count} settled neither way: {seen.undecided_note}"
        if seen.unjudged:
            count = counted(seen.unjudged, "screened instance")
            yield f"  {count} not judged: rounding may hide a violation"
        if seen.solver_note:
            yield f"  {seen.solver_note}"
        yield from self._closest()
        for warning in account.warnings_with(FOR_QUESTIONS):
            yield f"  warning: {warning}"
        if account.no_turn:
            yield f"  not tried for lack of time: {', '.join(account.no_turn)}"
        yield f"  to search longer: {option}{_MORE * self.seconds:g}"

    def _closest(self) -> Iterator[str]:
        closest = self.account.closest
        if closest is None or closest.slack is None:
            return
        gap = f"right side - left side = {closest.slack:.6g}"
        if closest.ratio:
            yield f"  closest: left side / right side = {closest.ratio:.9g}, at"
        elif closest.ratio == 0.0:  # the largest ratio, of all instances
            yield f"  closest: no instance, as every left side is 0; one has {gap}, at"
        elif closest.slack == 0.0:
            yield "  closest: both sides are equal, at"
        else:
            yield f"  closest: {gap}, at"
        yield from (f"  {line}" for line in self._shown())

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def answered(
    asked: Question,
    seconds: float,
    progress: Callable[[Hunt], None] | None = None,
    *,
    seed: int = 0,
    rounds: int | None = None,
) -> Answer:
    """Return the answer to a question, after a hunt in this process of at most these seconds.

    `rounds` is the maximum number of rounds of the hunt. If it ends by them, and not by the
    clock, the answer is the same on every machine.

    Raises:
        ClaimError: a formula of the question cannot be evaluated.
        UsageError: the time limit is not positive.
    """
    if not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
        raise UsageError(
            "seconds must be positive and finite", value=seconds, remedy="Give a positive number."
        )
    if not isinstance(seed, int):
        raise UsageError("seed must be an integer", value=repr(seed), remedy="Write seed=1.")
    with contextlib.suppress(TooLong):  # the hunt leaves such evaluations out, and counts them
        rehearse(asked.claim.id, asked.claim.formula, {})
    account = hunt(asked.claim, seconds=seconds, rounds=rounds, seed=seed, progress=progress)
    if account.error is not None and account.smallest is None:
        entry = _ENTRY.match(account.error)
        remedy = f"Limit the length, as by n=Integer({int(entry[1]) + 1})." if entry else ""
        raise ClaimError(account.error.rstrip("."), remedy=remedy)
    return Answer(asked, account, seconds)


def answer_job(order: str) -> str:
    """Answer a question of a file in this process, and return the answer as text.

    The order is JSON with `file`, `name`, `seconds`, `rounds` and `seed`. The result is JSON: the
    answer's `json` with `name` and `lines`; the answer is "broken" if the question cannot be
    evaluated.
    """
    asked = json.loads(order)
    one = questions_in(asked["file"])[asked["name"]]
    try:
        answer = answered(one, asked["seconds"], seed=asked["seed"], rounds=asked["rounds"])
    except ClaimError as error:
        broken = {"answer": "broken", "as_expected": False, "expected": one.expected}
        text = {"question": one.text, "lines": [one.text, f"broken: {error}"]}
        return json.dumps({"name": asked["name"], **broken, **text})
    return json.dumps(
        {"name": asked["name"], **answer.json(), "lines": [*answer.lines("--seconds ")]}
    )

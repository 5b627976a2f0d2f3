"""Evaluation of one instance by a part of a claim: hypotheses, conclusion, exact confirmation."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hypothesis.errors import UnsatisfiedAssumption

from attsvm._types import Case, Json
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.arithmetic.entries import COPY_FIRST
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.judge import PRECISIONS
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import agree, ask, describe, ensure_unchanged, frozen
from attsvm.theory.run.bounded import within_bound
from attsvm.theory.run.confirm import Confirmation, confirm

_ASKED = 8
"""Number of repetitions of a hypothesis that suddenly fails, to see whether its answers differ."""


_ANEW = 4
"""Number of repeated evaluations of the conclusion on a refuting instance. One repetition is not
enough: two random answers may agree by chance."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluator of a part of a claim that also compares repeated answers."""

    claim: Claim
    part: Part

    def named(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Return whether a hypothesis holds on an ordinary instance.

        Raises:
            ClaimError: the hypothesis raised, or returned neither True nor False; the message names
                the hypothesis.
        """
        try:
            return self.decided(hypothesis, case)
        except (ClaimError, UnsatisfiedAssumption):
            raise
        except (Exception, SystemExit) as problem:
            formula = self.part.formula
            values = formula.values_of(case)
            at = ", ".join(f"{axis} = {values[axis]}" for axis in formula.axes)
            raise ClaimError(
                f"hypothesis {hypothesis.name!r} of {self.claim.id} raised {describe(problem)}"
                f"{at and f' at {at}'}",
                remedy="State it so that it is defined at every size, or exclude sizes by the "
                "bounds of their variables, such as Integer(2, 4)."
                if formula.batches
                else "Return True or False on every instance.",
            ) from problem

    def decided(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Return whether a hypothesis holds.

        Raises:
            ClaimError: it returned neither True nor False.
        """
        name = f"hypothesis {hypothesis.name!r}"
        answer = within_bound(lambda: ask(self.claim.id, name, hypothesis.holds, case))
        if not isinstance(answer, bool):
            raise ClaimError(
                f"hypothesis {hypothesis.name!r} of {self.claim.id} is not decided",
                value=repr(answer),
                remedy="Return True or False.",
            )
        return answer

    def slack(self, case: Case) -> Slack:
        """Return the slack of the conclusion in floats.

        Raises:
            ClaimError: the conclusion returned no slack, or a slack that is NaN. Other exceptions
                of the conclusion get a note with the instance.
        """
        id, conclusion, parameters = self.claim.id, self.claim.conclusion, self.part.parameters
        try:
            slack = within_bound(lambda: ask(id, "the conclusion", conclusion, case, **parameters))
        except (AttsvmError, UnsatisfiedAssumption):
            raise
        except Exception as problem:
            problem.add_note(f"on {in_words(case, {})}")
            raise
        if not isinstance(slack, Slack) or slack.broken:
            raise ClaimError(
                f"the conclusion of {self.claim.id} returned no usable slack",
                value=repr(slack),
                remedy="Return a Slack whose value and error are numbers.",
            )
        return slack

    def ensure_unchanged(self, what: str, case: Case, document: Json) -> None:
        """Raise unless an instance still equals its encoded form.

        Raises:
            ClaimError: the instance has changed; `what` names the function that was called.
        """
        ensure_unchanged(self.claim.id, what, case, document)

    def confirmed(
        self, case: Case, slack: Slack, bits: int = PRECISIONS[-1], *, anew: bool = True
    ) -> tuple[Confirmation, Json]:
        """Return the exact decision on an instance whose conclusion floats do not confirm.

        The instance is first encoded and decoded, as its file would give it back. A refutation is
        kept only if hypotheses and conclusion give the same answers on that copy. `anew=False`
        skips the conclusion: use it while shrinking a counterexample that was already checked this
        way. The number of steps is not limited if floats see a violation.

        Returns:
            The decision, and the encoded instance to which it applies.
        """
        again = frozen(codec.canonical(case, self.claim.instance_type))
        document = codec.encode(again)
        parameters = self.part.parameters
        confirming = functools.partial(confirm, self.claim, parameters, again, slack.kind, bits)
        answer = confirming() if slack.violated else within_bound(confirming)
        self.ensure_unchanged("the certificate", again, document)
        if answer.refuted:
            self._decide_again(again, document, slack if anew else None)
        return answer, document

    def _decide_again(self, again: Case, document: Json, slack: Slack | None) -> None:
        """Raise unless the copy of a refuting instance gets the same answers as the instance."""
        for hypothesis in self.part.hypotheses:
            what = f"hypothesis {hypothesis.name!r}"
            holds = self.decided(hypothesis, again)
            self.ensure_unchanged(what, again, document)
            # It held when the instance was accepted. If it holds in some repetition, its answers
            # are random; else the instance that it accepted was another one than its encoded form.
            if not holds and any(self.decided(hypothesis, again) for _ in range(_ASKED)):
                raise ClaimError(
                    f"{what} of {self.claim.id} gave two answers on one instance",
                    remedy="Let it depend on the instance alone, not on chance or on the number "
                    "of calls.",
                )
            if not holds:
                raise ClaimError(
                    f"a hypothesis or the conclusion of {self.claim.id} changed its instance, "
                    f"on which {what} held before",
                    remedy=COPY_FIRST,
                )
        if slack is None:
            return
        for _ in range(_ANEW):
            agree(self.claim.id, slack, self.slack(again), exactly=False)
            self.ensure_unchanged("the conclusion", again, document)

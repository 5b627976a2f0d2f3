"""What a part of a claim says of one instance: its hypotheses, its conclusion, what confirms it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

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
"""How often a hypothesis is asked about one instance to see whether its answers differ."""


_ANEW = 4
"""How often the conclusion is asked again about an instance that refutes: two random answers may
agree by chance."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Asks a part of a claim about instances, and holds its answers against one another."""

    claim: Claim
    part: Part

    def named(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Decide a hypothesis; what it raises on an ordinary instance is told with its name."""
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
                remedy="Let it be a comparison at every size, or leave sizes out by the bounds of "
                "their variables, such as Integer(2, 4)."
                if formula.batches
                else "Return True or False on every instance.",
            ) from problem

    def decided(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Whether a hypothesis holds.

        Raises:
            ClaimError: it says neither.
        """
        said = f"hypothesis {hypothesis.name!r}"
        answer = within_bound(lambda: ask(self.claim.id, said, hypothesis.holds, case))
        if not isinstance(answer, bool):
            raise ClaimError(
                f"hypothesis {hypothesis.name!r} of {self.claim.id} is not decided",
                value=repr(answer),
                remedy="Return True or False.",
            )
        return answer

    def slack(self, case: Case) -> Slack:
        """What the conclusion comes to in floats.

        Raises:
            ClaimError: that is no slack, or no number. What else the conclusion raises has a note
                of the instance.
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
        """Nothing where an instance still is what it was, as a document."""
        ensure_unchanged(self.claim.id, what, case, document)

    def confirmed(
        self, case: Case, slack: Slack, bits: int = PRECISIONS[-1], *, anew: bool = True
    ) -> tuple[Confirmation, Any]:
        """What exact evaluation says where floats do not see the conclusion hold.

        It is asked about the instance as its file would give it back, and a refutation stands only
        if the hypotheses and the conclusion say the same of that one; of a find that is made
        smaller, which was evaluated anew when it was found, the conclusion is not asked `anew`.
        Where floats see a violation it takes as many steps as it needs.

        Returns:
            The answer, and the encoded instance that it is about.
        """
        again = frozen(codec.canonical(case, self.claim.instance_type))
        document = codec.encode(again)
        parameters = self.part.parameters
        confirming = functools.partial(confirm, self.claim, parameters, again, slack.kind, bits)
        answer = confirming() if slack.violated else within_bound(confirming)
        self.ensure_unchanged("what confirms a violation", again, document)
        if answer.refuted:
            self._decide_again(again, document, slack if anew else None)
        return answer, document

    def _decide_again(self, again: Any, document: Json, slack: Slack | None) -> None:
        """Hold what was said of a refuting instance against what is said of its copy."""
        for hypothesis in self.part.hypotheses:
            what = f"hypothesis {hypothesis.name!r}"
            holds = self.decided(hypothesis, again)
            self.ensure_unchanged(what, again, document)
            if not holds and any(self.decided(hypothesis, again) for _ in range(_ASKED)):
                raise ClaimError(
                    f"{what} of {self.claim.id} gives two answers on one instance",
                    remedy="It must depend on nothing but the instance, not on chance nor on how "
                    "often it is called.",
                )
            if not holds:  # it held when the instance was accepted
                raise ClaimError(
                    f"a hypothesis or the conclusion of {self.claim.id} changed its instance, "
                    f"of which {what} held before",
                    remedy=COPY_FIRST,
                )
        if slack is None:
            return
        for _ in range(_ANEW):
            agree(self.claim.id, slack, self.slack(again), exactly=False)
            self.ensure_unchanged("the conclusion", again, document)

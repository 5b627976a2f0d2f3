"""Claims: the readings of statements, ready to be checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attsvm._types import Case, Hint, JsonObject, Tensor
from attsvm._words import nearest
from attsvm.errors import ClaimError
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Expected, Fairness, Strength, Truth

if TYPE_CHECKING:
    import numpy as np
    from hypothesis.strategies import SearchStrategy

    from attsvm.theory.declaration.formula import Formula

_ID = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*/[a-z0-9]+(?:[-.][a-z0-9]+)*:[a-z]+(?:-[0-9]+)?")
_READINGS = ("literal", "amended", "sharp")

_MADE: ContextVar[list[Claim] | None] = ContextVar("made", default=None)
"""List that collects new claims inside `declared`; None outside."""

_REFUSED: ContextVar[list[ClaimError] | None] = ContextVar("refused", default=None)
"""List that collects errors of statements inside `declared`; None outside: they are raised."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """A deliberately false variant of the claim, which the same check must refute.

    If the reading is expected to be refuted and the sibling only drops hypotheses, its
    counterexample must miss a dropped hypothesis. Any other instance refutes the reading itself,
    and shows nothing about the dropped hypotheses.

    Attributes:
        name: the change, in words.
        parameters: keyword arguments of the conclusion (and its certificate) that differ.
        drop: hypotheses that are left out.
        data: the strategy that draws its instances.
        examples: its own explicit instances, checked before the claim's.
        automatic: whether the engine made it by leaving out a hypothesis. If it survives, the
            hypothesis was not shown to be needed, but the check is not at fault.
        formula: its formula.
        added: hypotheses of its own, such as a looser form of a dropped hypothesis.
    """

    name: str
    parameters: Mapping[str, object]
    drop: tuple[str, ...]
    data: SearchStrategy[Case] = field(repr=False)
    examples: tuple[Case, ...] = field(repr=False)
    automatic: bool
    formula: Formula = field(repr=False)
    added: tuple[Hypothesis, ...] = ()

    @property
    def only_drops(self) -> bool:
        """Whether it only leaves out hypotheses, and perhaps has other instances."""
        return bool(self.drop) and not self.parameters and not self.added


@dataclass(frozen=True, slots=True)
class Part:
    """The subject of one check: the reading itself (name "") or one of its siblings."""

    name: str
    parameters: Mapping[str, object]
    hypotheses: tuple[Hypothesis, ...]
    data: SearchStrategy[Case]
    examples: tuple[Case, ...]
    formula: Formula
    automatic: bool = False
    dropped: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A reading that can be run, made by `Statement`.

    Attributes:
        id: `source/statement:reading`; the reading is literal, amended or sharp, numbered if there
            are several.
        source: the paper or talk.
        place: the place in the source.
        compose: returns the claim as sentences; called only when needed, because it runs the
            conclusion on letters.
        hypotheses: named conditions, decided exactly.
        data: strategy of instances; an instance is a number, an array, a tuple, or a frozen
            dataclass of these.
        conclusion: the slack of an instance, and of named constants that siblings change.
        expected: the reviewed verdict.
        siblings: deliberately false variants.
        examples: explicit instances, checked first.
        ensemble: draws one larger instance from a generator.
        relaxed: returns how close many instances come to violation, in torch; None without torch.
        proof: `package.module:function` of a symbolic proof; the function returns the proved
            sentence or raises.
        depends_on: ids of claims that this claim depends on.
        cost: divisor of the profile's budgets.
        file, line: the place of its declaration.
        formula: its formula of variables or records.
        printed: the sentence as printed, or our words if the source has no such sentence.
        rests_on: ids of the statements that its statement uses or is derived from in print.
        read_off: the part of the source behind `printed` if the source has no such sentence.
        fairness: how fairly it takes the source; None unless it is a literal reading.
        strength: its strength, see `Strength`; None if none is declared.
    """

    id: str
    source: str
    place: str
    compose: Callable[[], str] = field(repr=False)
    hypotheses: tuple[Hypothesis, ...]
    data: SearchStrategy[Case] = field(repr=False)
    conclusion: Callable[..., Slack] = field(repr=False)
    expected: Expected
    siblings: tuple[Sibling, ...]
    examples: tuple[Case, ...] = field(repr=False)
    ensemble: Callable[[np.random.Generator], Case] | None = field(repr=False)
    relaxed: Callable[..., Tensor] | None = field(repr=False)
    proof: str | None
    depends_on: tuple[str, ...]
    cost: int
    file: str
    line: int
    formula: Formula = field(repr=False)
    printed: str
    rests_on: tuple[str, ...]
    read_off: str = ""
    fairness: Fairness | None = None
    strength: Strength | None = None

    @property
    def statement(self) -> str:
        """The claim, in sentences."""
        return self.compose()

    @property
    def quoted(self) -> str:
        """The printed sentence, in quotation marks unless the source has no such sentence."""
        return self.printed if self.read_off else f'"{self.printed}"'

    @property
    def origin(self) -> str:
        """The origin of `printed`: a printed sentence, or another part of the source."""
        return (
            f"read off {self.read_off}, no sentence of the source" if self.read_off else "printed"
        )

    @property
    def statement_id(self) -> str:
        """The id without the reading, such as sim/lemma-3.11."""
        return self.id.rpartition(":")[0]

    @property
    def reading(self) -> str:
        """The reading, such as literal or amended-2."""
        return self.id.rpartition(":")[2]

    @property
    def instance_type(self) -> Hint:
        """The type of an instance."""
        return self.formula.instance

    def parts(self) -> tuple[Part, ...]:
        """Return the reading first, then its siblings in order."""
        own = Part("", {}, self.hypotheses, self.data, self.examples, self.formula)
        return (own, *(self._sibling_part(s) for s in self.siblings))

    def part(self, name: str) -> Part:
        """Return the part of that name.

        Raises:
            ClaimError: no part has that name.
        """
        for part in self.parts():
            if part.name == name:
                return part
        names = [s.name for s in self.siblings]
        raise ClaimError(
            f"claim {self.id} has no sibling of that name",
            value=name,
            remedy=nearest(name, names) or f"There are: {'; '.join(names)}.",
        )

    def _sibling_part(self, s: Sibling) -> Part:
        kept = (*(h for h in self.hypotheses if h.name not in s.drop), *s.added)
        fixed = dict(s.formula.fixed)
        records: tuple[Any, ...] = self.examples  # only records have fields that are fixed
        shared = tuple(replace(record, **fixed) if fixed else record for record in records)
        # The reading's counterexamples satisfy all its hypotheses. They would refute a sibling
        # that only drops hypotheses, and show nothing about the dropped ones. So the sibling gets
        # none of them, and its own instances must miss a dropped hypothesis.
        if self.expected.truth is Truth.REFUTED:
            shared = ()
            if not s.parameters:
                kept += (_missed([h for h in self.hypotheses if h.name in s.drop]),)
        examples = (*s.examples, *shared)
        dropped = tuple(h for h in self.hypotheses if h.name in s.drop)
        return Part(s.name, s.parameters, kept, s.data, examples, s.formula, s.automatic, dropped)

    @property
    def in_prose(self) -> bool:
        """Whether it names a proof in prose: it has a proof and does not expect to be proved."""
        return self.proof is not None and self.expected.truth is Truth.HOLDS

    def json(self) -> JsonObject:
        """Return the entry of `attsvm claims --json`."""
        return {
            "id": self.id,
            "reading": self.reading,
            "source": self.source,
            "place": self.place,
            "statement": self.statement,
            "hypotheses": [h.name for h in self.hypotheses],
            "siblings": [s.name for s in self.siblings],
            "expected": self.expected.verdict.json(),
            "in_prose": self.in_prose,
            "depends_on": list(self.depends_on),
            "file": self.file,
            "line": self.line,
        }


def _missed(dropped: Sequence[Hypothesis]) -> Hypothesis:
    """Return the hypothesis that an instance misses at least one of these."""

    def holds(case: Case) -> object:
        for hypothesis in dropped:
            answer = hypothesis.holds(case)
            if answer is not True:
                # an answer that is no boolean goes through unchanged: whoever calls a hypothesis
                # refuses such answers, and `not answer` would turn them into a boolean
                return not answer if isinstance(answer, bool) else answer
        return False

    return Hypothesis(f"not: {'; '.join(h.name for h in dropped)}", holds)


def is_id(text: str) -> bool:
    """Return whether a text has the form source/statement:reading."""
    reading = text.rpartition(":")[2]
    return bool(_ID.fullmatch(text)) and reading.split("-")[0] in _READINGS


@contextmanager
def declared() -> Iterator[tuple[list[Claim], list[ClaimError]]]:
    """Yield two lists that fill inside this context: new claims, and errors of statements.

    If the claims of one statement cannot be made, the next statements are still read.
    """
    made: list[Claim] = []
    refused: list[ClaimError] = []
    tokens = _MADE.set(made), _REFUSED.set(refused)
    try:
        yield made, refused
    finally:
        _MADE.reset(tokens[0])
        _REFUSED.reset(tokens[1])


def refuse(error: ClaimError, statement: str, place: tuple[str, int]) -> None:
    """Note for `declared` an error of the statement at this file and line.

    Raises:
        ClaimError: the error itself, outside `declared`.
    """
    noted = _REFUSED.get()
    if noted is None:
        raise error
    where = f"{Path(place[0]).name}, line {place[1]}"
    named = error.cause if statement in error.cause else f"{statement}: {error.cause}"
    noted.append(ClaimError(f"{where}: {named}", value=error.value, remedy=error.remedy))


def ensure_checkable(made: Claim) -> None:
    """Raise unless a claim can be checked honestly; note the claim for `declared`.

    Raises:
        ClaimError: the id has another form, siblings are missing or change nothing, a proof does
            not fit the expected verdict, or the cost is below 1.
    """
    noted = _MADE.get()
    if noted is not None:
        noted.append(made)
    if not is_id(made.id):
        raise ClaimError(
            "a claim's id is source/statement:reading",
            value=made.id,
            remedy="Source and statement are lower-case letters and digits, joined by - or a full "
            f"stop; readings are {', '.join(_READINGS)}, with -1, -2 if there are several.",
        )
    if not made.siblings:
        raise ClaimError(
            f"claim {made.id} needs at least one false sibling",
            remedy="Write siblings={'a name': changed(constant=another)}; "
            + (
                "the engine makes no siblings of a reading that is expected to be refuted."
                if made.expected.truth is Truth.REFUTED
                else "or set tight=True, or list a hypothesis: the engine makes siblings of both."
            ),
        )
    if made.expected.truth is Truth.REFUTED:
        for sibling in made.siblings:
            if not (sibling.parameters or sibling.drop):
                raise ClaimError(
                    f"sibling {sibling.name!r} of {made.id} changes neither a constant nor a "
                    "hypothesis, and the reading is expected to be refuted: each counterexample of "
                    "the sibling would also refute the reading",
                    remedy="Give it another constant, or drop a hypothesis.",
                )
    allowed = (
        (Truth.HOLDS, Truth.UNDECIDED, Truth.REFUTED)
        if made.proof is None
        else (Truth.PROVED, Truth.HOLDS)
    )
    if made.expected.truth not in allowed:
        raise ClaimError(
            f"claim {made.id} expects {made.expected.truth} "
            f"{'without' if made.proof is None else 'with'} a proof",
            remedy="Expect proved if the claim names a linked proof, such as "
            "proof='module:function', and holds if text connects the steps of that proof.",
        )
    if made.cost < 1:
        raise ClaimError(
            f"claim {made.id} has a cost below 1",
            value=made.cost,
            remedy="Give the integer by which the budgets of the profile are divided, at least 1.",
        )

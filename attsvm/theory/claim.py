"""Claims: a reading of a statement, declared where its conclusion is written."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from attsvm.errors import ClaimError
from attsvm.theory.provenance import fingerprint
from attsvm.theory.slack import Slack
from attsvm.theory.verdict import Expected, Truth

if TYPE_CHECKING:
    import numpy as np
    from hypothesis.strategies import SearchStrategy

    from attsvm.theory.declaration.formula import Formula

__all__ = [
    "Claim",
    "Hypothesis",
    "Part",
    "Sibling",
    "claim",
    "declared",
    "ensure_checkable",
    "is_id",
    "sibling",
]

_ID = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*/[a-z0-9]+(?:[-.][a-z0-9]+)*:[a-z]+(?:-\d+)?")
_READINGS = ("literal", "amended", "sharp")

_MADE: ContextVar[list[Claim] | None] = ContextVar("made", default=None)
"""Where claims are noted that are made; nowhere unless somebody asks by `declared`."""

Predicate = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A named condition on an instance; decides exactly, because refutations rest on it."""

    name: str
    holds: Predicate = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sibling:
    """A neighbour of the claim that is false on purpose and must be refuted by the same check.

    One of a refuted reading that only drops hypotheses must fall by an instance that misses one of
    them: another one refutes the reading and says nothing about what was dropped.

    Attributes:
        name: what was changed.
        parameters: keyword arguments of the conclusion (and its certificate) that differ.
        drop: hypotheses that are left out.
        data: its own strategy, where dropping a hypothesis needs instances that violate it.
        examples: its own explicit instances, checked before the claim's.
        automatic: whether the engine made it by leaving out a hypothesis; one that survives says
            that the hypothesis was not shown to be needed, and nothing about the check.
        formula: what it says, where the claim is written as a formula.
        added: hypotheses of its own, such as a looser form of one that is left out.
    """

    name: str
    parameters: Mapping[str, Any]
    drop: tuple[str, ...] = ()
    data: SearchStrategy[Any] | None = field(default=None, repr=False)
    examples: tuple[Any, ...] = field(default=(), repr=False)
    automatic: bool = False
    formula: Formula | None = field(default=None, repr=False)
    added: tuple[Hypothesis, ...] = ()


def sibling(
    *,
    drop: Iterable[str] = (),
    data: SearchStrategy[Any] | None = None,
    examples: Iterable[Any] = (),
    **parameters: Any,
) -> Sibling:
    """Describe a sibling; its name is the key under which it is listed."""
    return Sibling("", parameters, tuple(drop), data, tuple(examples))


@dataclass(frozen=True, slots=True)
class Part:
    """What one check runs: the reading itself (name "") or one of its siblings."""

    name: str
    parameters: Mapping[str, Any]
    hypotheses: tuple[Hypothesis, ...]
    data: SearchStrategy[Any]
    examples: tuple[Any, ...]
    formula: Formula | None = None
    automatic: bool = False
    dropped: tuple[Hypothesis, ...] = ()


@functools.lru_cache(maxsize=1024)
def _first_argument(function: Callable[..., Any]) -> Any:
    """The type of a function's first argument; evaluating annotations is dear."""
    first = next(iter(inspect.signature(function).parameters))
    return typing.get_type_hints(function)[first]


@dataclass(frozen=True, slots=True)
class Claim:
    """A reading that can be run. Made by `claim`; see there for the attributes."""

    id: str
    source: str
    place: str
    statement: str
    hypotheses: tuple[Hypothesis, ...]
    data: SearchStrategy[Any] = field(repr=False)
    conclusion: Callable[..., Slack] = field(repr=False)
    expected: Expected
    siblings: tuple[Sibling, ...]
    certify: Callable[..., Any] | None = field(repr=False)
    rerun: Callable[..., Slack] | None = field(repr=False)
    examples: tuple[Any, ...] = field(repr=False)
    ensemble: Callable[[np.random.Generator], Any] | None = field(repr=False)
    relaxed: Callable[..., Any] | None = field(repr=False)
    proof: str | None
    depends_on: tuple[str, ...]
    cost: int
    same_slack: bool
    file: str
    line: int
    formula: Formula | None = field(default=None, repr=False)
    printed: str = ""

    @property
    def fingerprint(self) -> str:
        """Hash of the id, the statement, and the code of the pack that the claim rests on."""
        return fingerprint(self.id, self.statement, self.file)

    @property
    def statement_id(self) -> str:
        """The id without the reading, such as sim/lemma-3.11."""
        return self.id.rpartition(":")[0]

    @property
    def reading(self) -> str:
        """The reading, such as literal or amended-2."""
        return self.id.rpartition(":")[2]

    @property
    def instance_type(self) -> Any:
        """The type of an instance, from the conclusion's annotation."""
        if self.formula is not None:
            return self.formula.instance
        return _first_argument(self.conclusion)

    def parts(self) -> tuple[Part, ...]:
        """The reading first, then its siblings in order."""
        own = Part("", {}, self.hypotheses, self.data, self.examples, self.formula)
        return (own, *(self._sibling_part(s) for s in self.siblings))

    def part(self, name: str) -> Part:
        """The part of that name.

        Raises:
            ClaimError: there is none.
        """
        for part in self.parts():
            if part.name == name:
                return part
        raise ClaimError(f"claim {self.id} has no sibling of that name", value=name)

    def _sibling_part(self, s: Sibling) -> Part:
        kept = (*(h for h in self.hypotheses if h.name not in s.drop), *s.added)
        data = self.data if s.data is None else s.data
        shared = self.examples
        if self.expected.truth is Truth.REFUTED:  # it must fall by other instances than the reading
            shared = ()
            if not s.parameters:
                kept += (_missed([h for h in self.hypotheses if h.name in s.drop]),)
        examples = (*s.examples, *shared)
        formal = s.formula is not None
        dropped = tuple(h for h in self.hypotheses if formal and h.name in s.drop)
        return Part(s.name, s.parameters, kept, data, examples, s.formula, s.automatic, dropped)

    def json(self) -> dict[str, Any]:
        """What `attsvm claims --json` lists."""
        return {
            "id": self.id,
            "reading": self.reading,
            "source": self.source,
            "place": self.place,
            "statement": self.statement,
            "hypotheses": [h.name for h in self.hypotheses],
            "siblings": [s.name for s in self.siblings],
            "expected": self.expected.verdict.json(),
            "depends_on": list(self.depends_on),
            "file": self.file,
            "line": self.line,
        }


def claim(
    id: str,
    *,
    source: str,
    place: str,
    statement: str,
    data: SearchStrategy[Any],
    expected: str,
    siblings: Mapping[str, Any] | None = None,
    hypotheses: Mapping[str, Predicate] | None = None,
    certify: Callable[..., Any] | None = None,
    rerun: Callable[..., Slack] | None = None,
    examples: Iterable[Any] = (),
    ensemble: Callable[[np.random.Generator], Any] | None = None,
    relaxed: Callable[..., Any] | None = None,
    proof: str | None = None,
    depends_on: Iterable[str] = (),
    cost: int = 1,
    same_slack: bool = True,
) -> Callable[[Callable[..., Slack]], Claim]:
    """Declare the decorated conclusion a claim.

    The conclusion takes an instance (annotate its type) and returns a `Slack`; keyword
    parameters with defaults are what siblings change.

    Args:
        id: `source/statement:reading`; the reading is literal, amended or sharp, numbered where
            there are several.
        source: the paper or talk.
        place: where in it.
        statement: what is claimed, in one sentence.
        data: strategy of instances; an instance is a number, an array, a tuple, or a frozen
            dataclass of these.
        expected: `proved`, `holds`, `undecided` or `refuted`, and after a comma the evidence.
        siblings: at least two false neighbours by name, each made by `sibling`.
        hypotheses: named conditions, decided exactly.
        certify: with the conclusion's parameters, the slack from the exact values and by other
            code: a ball (`flint.arb`) at the working precision, `attsvm.theory.OPEN` where more
            bits are needed to say anything, a rational (`flint.fmpq`), or None where it cannot
            say at any precision.
        rerun: where no enclosure exists, the slack once more by other code in higher precision.
        examples: explicit instances, checked first: degenerate sizes, published instances.
        ensemble: draws one larger instance from a generator.
        relaxed: with the conclusion's parameters, a differentiable stand-in for how close instances
            come to violation (the ratio of left to right side, or minus the slack). It sees many
            instances at once: torch tensors with a leading batch axis in place of floats and float
            arrays, namespaces in place of records; it returns a tensor (batch,). It says where to
            look and decides nothing.
        proof: `package.module:function` of a symbolic proof; it returns what was proved or raises.
        depends_on: ids of claims that this one rests on.
        cost: divides the profile's budgets.
        same_slack: whether `certify` encloses the very slack that the conclusion returns, so that
            the two are compared on a sample of instances; False where it decides by other means.

    Raises:
        ClaimError: an id, parameter or combination that could not be checked honestly.
    """
    conditions = tuple(Hypothesis(n, p) for n, p in (hypotheses or {}).items())

    def declare(conclusion: Callable[..., Slack]) -> Claim:
        file = inspect.getsourcefile(conclusion) or "?"
        made = Claim(
            id=id,
            source=source,
            place=place,
            statement=" ".join(statement.split()),
            hypotheses=conditions,
            data=data,
            conclusion=conclusion,
            expected=Expected.parse(expected),
            siblings=tuple(
                Sibling(
                    n,
                    s.parameters if isinstance(s, Sibling) else s.constants,
                    s.drop,
                    s.data if isinstance(s, Sibling) else getattr(s.variables, "drawn", None),
                    s.examples,
                )
                for n, s in (siblings or {}).items()
            ),
            certify=certify,
            rerun=rerun,
            examples=tuple(examples),
            ensemble=ensemble,
            relaxed=relaxed,
            proof=proof,
            depends_on=tuple(depends_on),
            cost=cost,
            same_slack=same_slack,
            file=file,
            line=inspect.getsourcelines(conclusion)[1],
        )
        ensure_checkable(made)
        return made

    return declare


def _missed(dropped: Sequence[Hypothesis]) -> Hypothesis:
    """That an instance does not satisfy all of these."""

    def holds(case: Any) -> bool:
        for hypothesis in dropped:
            answer = hypothesis.holds(case)
            if answer is not True:
                return not answer if isinstance(answer, bool) else answer  # told of where counted
        return False

    return Hypothesis(f"not: {'; '.join(h.name for h in dropped)}", holds)


def is_id(text: str) -> bool:
    """Whether a text has the form source/statement:reading."""
    reading = text.rpartition(":")[2]
    return bool(_ID.fullmatch(text)) and reading.split("-")[0] in _READINGS


@contextmanager
def declared() -> Iterator[list[Claim]]:
    """The claims that are made inside, in order."""
    made: list[Claim] = []
    token = _MADE.set(made)
    try:
        yield made
    finally:
        _MADE.reset(token)


def ensure_checkable(made: Claim) -> None:
    """Nothing, where the claim can be checked honestly; it is noted for `declared`.

    Raises:
        ClaimError: it cannot.
    """
    noted = _MADE.get()
    if noted is not None:
        noted.append(made)
    if not is_id(made.id):
        raise ClaimError(
            "a claim's id is source/statement:reading",
            value=made.id,
            remedy="Source and statement are lower-case letters and digits, joined by - or a full "
            f"stop; readings are {', '.join(_READINGS)}, with -1, -2 where there are several.",
        )
    least = 1 if made.formula is not None else 2
    if len(made.siblings) < least:
        raise ClaimError(
            f"claim {made.id} needs at least {'one' if least == 1 else 'two'} false "
            f"sibling{'s' * (least > 1)}",
            value=len(made.siblings),
            remedy="Change a constant, flip a sign, drop a hypothesis.",
        )
    if made.certify is None and made.rerun is None and made.formula is None:
        raise ClaimError(
            f"claim {made.id} has nothing that could confirm a refutation",
            remedy="Give certify (balls or rationals) or rerun (higher precision).",
        )
    if (made.expected.truth is Truth.PROVED) != (made.proof is not None):
        raise ClaimError(
            f"claim {made.id} expects {made.expected.truth} "
            f"{'without' if made.proof is None else 'with'} a proof",
            remedy="Expect proved exactly where a proof is named.",
        )
    if made.cost < 1:
        raise ClaimError(f"claim {made.id} has a cost below 1", value=made.cost)
    if made.formula is not None:
        return
    parameters = inspect.signature(made.conclusion).parameters
    if not parameters or next(iter(parameters.values())).annotation is inspect.Parameter.empty:
        raise ClaimError(
            f"the conclusion of {made.id} does not say what an instance is",
            remedy="Annotate its first argument with the instance's type.",
        )
    known = {h.name for h in made.hypotheses}
    for s in made.siblings:
        wrong = sorted(set(s.parameters) - set(parameters))
        if wrong:
            raise ClaimError(
                f"sibling {s.name!r} of {made.id} sets parameters that the conclusion lacks",
                value=", ".join(wrong),
                remedy=f"It has {', '.join(parameters)}.",
            )
        missing = sorted(set(s.drop) - known)
        if missing:
            raise ClaimError(
                f"sibling {s.name!r} of {made.id} drops hypotheses that are not there",
                value=", ".join(missing),
                remedy=f"There are {', '.join(sorted(known))}.",
            )
        if not s.parameters and not s.drop:
            raise ClaimError(f"sibling {s.name!r} of {made.id} changes nothing")
        _ensure_guided(made, s)


def _ensure_guided(made: Claim, s: Sibling) -> None:
    if made.relaxed is None:
        return
    try:
        inspect.signature(made.relaxed).bind(None, **s.parameters)
    except TypeError as problem:
        raise ClaimError(
            f"the relaxed objective of {made.id} does not take what sibling {s.name!r} changes: "
            f"{problem}",
            remedy="Give it the parameters of the conclusion.",
        ) from problem

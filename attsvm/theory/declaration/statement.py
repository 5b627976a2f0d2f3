"""Statements: a numbered result of a source, written once, and its readings as data.

    SLOPE = Statement(
        "sim/lemma-3.12", source="...", place="Lemma 3.12", printed="g' is 1-Lipschitz",
        variables={"x": Real(), "y": Near("x", ())},
        conclusion=lambda m, v, c: m.at_most(..., c * m.abs(v.x - v.y)),
        readings={"literal": Reading("...", expected="proved", constants={"c": 1}, ...)},
    )

Each reading says what differs: constants, hypotheses, variables, the expected verdict. The engine
makes a claim of each, and its siblings: every hypothesis dropped and, where the constant is sharp,
the right side tightened.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.relations import Relation
from attsvm.theory.claim import Claim, Hypothesis, Sibling, ensure_checkable
from attsvm.theory.declaration.formula import TIGHTENED, Formula, Hypotheses, instance_type
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.judge import judge, meets
from attsvm.theory.slack import Slack
from attsvm.theory.verdict import Expected, Truth

__all__ = ["Changed", "Reading", "Statement", "changed"]

_SHARES = ("0.95", "0.999")
"""The shares of its right side that a sharp reading must not survive."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A false neighbour that only the author knows; made by `changed`."""

    constants: Mapping[str, Any]
    drop: tuple[str, ...] = ()
    under: Hypotheses = field(default_factory=dict)
    variables: Mapping[str, Variable] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()


def changed(
    *,
    drop: Iterable[str] = (),
    under: Hypotheses | None = None,
    variables: Mapping[str, Variable] | None = None,
    examples: Iterable[Mapping[str, Any]] = (),
    **constants: Any,
) -> Changed:
    """Describe a false neighbour: other constants, hypotheses left out, other variables.

    `under` has hypotheses of its own, such as a looser form of one that is left out.
    """
    return Changed(constants, tuple(drop), under or {}, variables or {}, tuple(examples))


@dataclass(frozen=True, slots=True)
class Reading:
    """What one exact version of a statement says that others do not.

    Attributes:
        says: the claim, in one sentence.
        expected: `proved`, `holds`, `undecided` or `refuted`, and after a comma the evidence.
        constants: arguments of the conclusion.
        under: names of the hypotheses that it has; all of the statement's where None.
        variables: those that differ from the statement's; None takes one away.
        conclusion: its own, where its form differs.
        tight: whether no smaller right side will do; sharp readings of inequalities are.
        examples: explicit instances by values, checked first.
        siblings: false neighbours that only the author knows, by name.
        proof: `package.module:function` of a symbolic proof.
        depends_on: ids of claims that this one rests on.
        cost: divides the profile's budgets.
    """

    says: str
    expected: str
    constants: Mapping[str, Any] = field(default_factory=dict)
    under: tuple[str, ...] | None = None
    variables: Mapping[str, Variable | None] = field(default_factory=dict)
    conclusion: Callable[..., Relation] | None = None
    tight: bool = False
    examples: tuple[Mapping[str, Any], ...] = ()
    siblings: Mapping[str, Changed] = field(default_factory=dict)
    proof: str | None = None
    depends_on: tuple[str, ...] = ()
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Statement:
    """A numbered result of a source with its readings; its claims are made when it is declared.

    Attributes:
        id: `source/statement`, such as sim/lemma-3.12.
        source: the paper or talk.
        place: where in it.
        printed: the sentence as printed.
        variables: what it quantifies over.
        conclusion: a function of (m, v) and of named constants that returns a comparison.
        readings: by name: literal, amended, sharp, numbered where there are several.
        hypotheses: conditions by name, of which each reading has all or some.
        claims: one for each reading.
    """

    id: str
    source: str
    place: str
    printed: str
    variables: Mapping[str, Variable]
    conclusion: Callable[..., Relation]
    readings: Mapping[str, Reading]
    hypotheses: Hypotheses = field(default_factory=dict)
    claims: tuple[Claim, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Make the claims.

        Raises:
            ClaimError: a reading that could not be checked honestly.
        """
        caller = sys._getframe(2)
        place = caller.f_code.co_filename, caller.f_lineno
        made = tuple(_made(self, name, reading, place) for name, reading in self.readings.items())
        object.__setattr__(self, "claims", made)

    def claim(self, reading: str) -> Claim:
        """The claim of a reading.

        Raises:
            ClaimError: it has no such reading.
        """
        for claim in self.claims:
            if claim.reading == reading:
                return claim
        raise ClaimError(
            f"{self.id} has no such reading",
            value=reading,
            remedy=f"It has {', '.join(self.readings)}.",
        )


def _made(statement: Statement, name: str, reading: Reading, place: tuple[str, int]) -> Claim:
    id = f"{statement.id}:{name}"
    unknown = sorted(set(reading.under or ()) - set(statement.hypotheses))
    if unknown:
        raise ClaimError(
            f"{id} names hypotheses that its statement does not have",
            value=", ".join(unknown),
            remedy=f"It has {', '.join(statement.hypotheses)}.",
        )
    under = (
        statement.hypotheses
        if reading.under is None
        else {key: statement.hypotheses[key] for key in reading.under}
    )
    variables = _overridden(statement.variables, reading.variables)
    conclusion = reading.conclusion or statement.conclusion
    formula = Formula(variables, under, conclusion, reading.constants, instance_type(variables))
    expected = Expected.parse(reading.expected)
    claim = Claim(
        id=id,
        source=statement.source,
        place=statement.place,
        statement=" ".join(reading.says.split()),
        hypotheses=tuple(_hypothesis(formula, key) for key in under),
        data=formula.strategy(),
        conclusion=_Judged(formula),
        expected=expected,
        siblings=tuple(_siblings(formula, reading, expected, name)),
        certify=None,
        rerun=None,
        examples=tuple(formula.build(**example) for example in reading.examples),
        ensemble=None,
        relaxed=formula.relaxed,
        proof=reading.proof,
        depends_on=reading.depends_on,
        cost=reading.cost,
        same_slack=True,
        file=place[0],
        line=place[1],
        formula=formula,
        printed=" ".join(statement.printed.split()),
    )
    ensure_checkable(claim)
    return claim


def _overridden(
    variables: Mapping[str, Variable], other: Mapping[str, Variable | None]
) -> dict[str, Variable]:
    merged = {**variables, **other}
    return {name: variable for name, variable in merged.items() if variable is not None}


@dataclass(frozen=True, slots=True)
class _Judged:
    """A formula as a conclusion: the slack by the judge."""

    formula: Formula

    def __call__(self, case: Any, **parameters: Any) -> Slack:
        return judge(self.formula, parameters, case).as_slack


@dataclass(frozen=True, slots=True)
class _Met:
    """A condition of a formula as a predicate of instances."""

    formula: Formula
    name: str

    def __call__(self, case: Any) -> bool:
        return meets(self.formula.hypotheses[self.name], self.formula, case)


def _hypothesis(formula: Formula, name: str) -> Hypothesis:
    return Hypothesis(name, _Met(formula, name))


def _siblings(
    formula: Formula, reading: Reading, expected: Expected, name: str
) -> Iterable[Sibling]:
    """Hypotheses dropped and constants tightened, where the reading stands; then the author's.

    Where the author gives a sibling that only drops a hypothesis, with instances of his, it takes
    the place of the automatic one.
    """
    if expected.truth is not Truth.REFUTED:
        alone = len(formula.hypotheses) == 1
        given = {o.drop for o in reading.siblings.values() if not o.constants}
        for key in formula.hypotheses:
            if (key,) in given:
                continue
            words = "without its hypothesis" if alone else f"without {key}"
            yield _sibling(formula, words, changed(drop=[key]), automatic=True)
        if reading.tight:
            for share in _SHARES:
                words = f"{float(share):.1%} of the right side".replace(".0%", "%")
                yield _sibling(formula, words, Changed({TIGHTENED: share}))
    for words, other in reading.siblings.items():
        yield _sibling(formula, words, other)


def _sibling(formula: Formula, name: str, other: Changed, *, automatic: bool = False) -> Sibling:
    wrong = sorted(set(other.constants) - set(formula.named_constants) - {TIGHTENED})
    if wrong:
        raise ClaimError(
            f"sibling {name!r} sets constants that the conclusion lacks",
            value=", ".join(wrong),
            remedy=f"It has {', '.join(formula.named_constants)}.",
        )
    missing = sorted(set(other.drop) - set(formula.hypotheses))
    if missing:
        raise ClaimError(
            f"sibling {name!r} drops hypotheses that its reading does not have",
            value=", ".join(missing),
            remedy=f"It has {', '.join(formula.hypotheses) or 'none'}.",
        )
    kept = {k: h for k, h in formula.hypotheses.items() if k not in other.drop}
    variables = _overridden(formula.variables, other.variables)
    own = replace(formula, hypotheses={**kept, **other.under}, variables=variables)
    return Sibling(
        name,
        other.constants,
        other.drop,
        own.strategy(),
        tuple(formula.build(**example) for example in other.examples),
        automatic,
        own,
        tuple(_hypothesis(own, key) for key in other.under),
    )

"""Statements: a numbered result of a source, written once, and its readings as data.

For example::

    SLOPE = Statement(
        "sim/lemma-3.12", source="...", place="Lemma 3.12", printed="g' is 1-Lipschitz",
        variables={"x": Real(), "y": Near("x", ())},
        conclusion=lambda m, v, c: m.at_most(..., c * m.abs(v.x - v.y)),
        readings={"literal": Reading("proved", constants={"c": 1}, ...)},
    )

Each reading has its own constants, hypotheses, variables and expected verdict. The engine makes a
claim and siblings of each reading. Each sibling drops one hypothesis or, if the constant is sharp,
tightens the right side.
"""

import functools
import sys
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from attsvm._types import Case
from attsvm.errors import ClaimError, present
from attsvm.theory.declaration.arguments import ensure_takes
from attsvm.theory.declaration.batches import relaxed, strategy
from attsvm.theory.declaration.claim import Claim, ensure_checkable, refuse
from attsvm.theory.declaration.conclusions import Conclusion, Measured
from attsvm.theory.declaration.formula import REQUIRED, Formula
from attsvm.theory.declaration.hypotheses import Hypothesis, by_name, ensure_same
from attsvm.theory.declaration.instances import domains, instance_type
from attsvm.theory.declaration.judge import slack_of
from attsvm.theory.declaration.records import RecordFormula, Records
from attsvm.theory.declaration.siblings import (
    Changed,
    Quantified,
    ensure_among,
    explicit,
    hypothesis_of,
    overridden,
    siblings,
)
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.typesetting import sentence
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.declaration.verdict import Expected, Fairness, Strength, Truth


@dataclass(frozen=True, slots=True)
class Reading:
    """One exact version of a statement: the parts that distinguish it from other readings.

    `sentence` composes its sentence from these parts.

    Attributes:
        expected: `proved`, `holds`, `undecided` or `refuted`, and after a comma the evidence.
        constants: arguments of the conclusion.
        fixed: fields of its records that have one value in this reading.
        under: the hypotheses of this reading; None for the hypotheses of the statement.
        variables: variables that differ from the statement's, None to remove one; or other records.
        conclusion: its own conclusion, if the form differs.
        tight: whether every smaller right side must be refuted, as for sharp inequalities.
        strength: `exact`, `least`, `best known` or `better`; a tight reading is `least`.
        fairness: `plain`, `strained` or `degenerate`, of a literal reading.
        read: the sense in which the reading takes a word of the printed sentence, by the word.
        examples: explicit instances, checked first: by values, or records.
        siblings: the author's own deliberately false variants, by name.
        proof: `package.module:function` of a symbolic proof.
        depends_on: ids of claims that this claim depends on.
        cost: divisor of the profile's budgets; None for the statement's divisor.
        says: the whole sentence, in place of the composed one.
    """

    expected: str
    _: KW_ONLY
    constants: Mapping[str, object] = field(default_factory=dict)
    under: tuple[Hypothesis, ...] | None = None
    variables: Mapping[str, Variable | None] | Records = field(default_factory=dict)
    conclusion: Conclusion | None = None
    tight: bool = False
    read: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Case, ...] = ()
    siblings: Mapping[str, Changed] = field(default_factory=dict)
    proof: str | None = None
    depends_on: tuple[str, ...] = ()
    cost: int | None = None
    says: str = ""
    fixed: Mapping[str, object] = field(default_factory=dict)
    strength: str = ""
    fairness: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A numbered result of a source with its readings; its claims are made when it is declared.

    Attributes:
        id: `source/statement`, such as sim/lemma-3.12.
        source: the paper or talk.
        place: the place in the source.
        printed: the sentence as printed, or our words if the source has no such sentence.
        variables: the variables or records over which it quantifies.
        conclusion: a function of (m, v) and of named constants that returns a comparison, or
            `Measured`.
        readings: readings by name: literal, amended, sharp, numbered if there are several.
        hypotheses: the hypotheses of each reading whose `under` is None.
        cost: divisor of the profile's budgets.
        violating: by hypothesis, records that violate it or a strategy of such records, for the
            automatic sibling without it. Each reading takes the records of its own type.
        rests_on: ids of the statements that its sentence uses or is derived from in print.
        read_off: the part of the source behind `printed`, such as "experiments", if the source has
            no such sentence; else empty.
        claims: the claims, one for each reading.
    """

    id: str
    source: str
    place: str
    printed: str
    variables: Quantified
    conclusion: Conclusion
    readings: Mapping[str, Reading]
    hypotheses: tuple[Hypothesis, ...] = ()
    cost: int = 1
    violating: Mapping[Hypothesis, Records | Iterable[Case]] = field(default_factory=dict)
    rests_on: tuple[str, ...] = ()
    read_off: str = ""
    claims: tuple[Claim, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        """Make the claims.

        Raises:
            ClaimError: a reading could not be checked honestly. Inside `declared`, as while a pack
                is loaded, the error is noted and not raised.
        """
        caller = sys._getframe(2)  # past the generated __init__, to the code that declares
        place = caller.f_code.co_filename, caller.f_lineno
        try:
            object.__setattr__(self, "claims", _claims(self, place))
        except ClaimError as error:
            refuse(error, self.id, place)

    def __repr__(self) -> str:
        lines = (f"{c.reading}: {c.expected.truth}" for c in self.claims)
        return f"Statement({self.id}; {', '.join(lines)})"

    def claim(self, reading: str) -> Claim:
        """Return the claim of a reading.

        Raises:
            ClaimError: there is no such reading.
        """
        for claim in self.claims:
            if claim.reading == reading:
                return claim
        raise ClaimError(
            f"{self.id} has no such reading",
            value=reading,
            remedy=f"It has {', '.join(self.readings)}.",
        )


def _claims(statement: Statement, place: tuple[str, int]) -> tuple[Claim, ...]:
    """Return the claim of each reading of a statement that is declared at this file and line.

    Raises:
        ClaimError: a reading could not be checked honestly.
    """
    _ensure_form(statement)
    readings = statement.readings.items()
    made = tuple(_made(statement, name, reading, place) for name, reading in readings)
    _ensure_used(statement)
    return made


_VARIABLES = 'Write variables={"n": Integer(1, 4), "x": Vector("n")}, or Records(...).'
_READINGS = 'Write readings={"literal": Reading("holds", ...)}.'


def _ensure_form(statement: Statement) -> None:
    """Raise unless the parts of a statement have the right types.

    Raises:
        ClaimError: a part has another type.
    """
    id, readings = statement.id, statement.readings
    if not isinstance(readings, Mapping) or not readings:
        raise ClaimError(f"{id} has no readings by name", value=repr(readings), remedy=_READINGS)
    _ensure_variables(id, statement.variables)
    of_records = isinstance(statement.variables, Records)
    takes = "record" if of_records else "m, v"
    _ensure_hypotheses(id, statement.hypotheses, takes)
    for name, reading in readings.items():
        whose = f"{id}:{name}"
        if not isinstance(reading, Reading):
            text = f"the reading {whose} is no Reading"
            raise ClaimError(text, value=repr(reading), remedy=_READINGS)
        if not isinstance(reading.proof, str | None):
            raise ClaimError(
                f"the proof of {whose} is no text",
                value=repr(reading.proof),
                remedy='Write proof="module:function", with a module that Python can import.',
            )
        _ensure_variables(whose, reading.variables, removed=True)
        _ensure_hypotheses(whose, reading.under or (), takes)
        conclusion = reading.conclusion or statement.conclusion
        if not isinstance(conclusion, Measured):
            ensure_takes(f"the conclusion of {whose}", conclusion, "m, v", more=True)
        for title, sibling in reading.siblings.items():
            if not isinstance(sibling, Changed):
                raise ClaimError(
                    f"sibling {title!r} of {whose} does not say what it changes",
                    value=repr(sibling),
                    remedy=f"Write siblings={{{title!r}: changed(constant=another)}}.",
                )
            _ensure_variables(f"sibling {title!r} of {whose}", sibling.variables, removed=True)
            _ensure_hypotheses(f"sibling {title!r} of {whose}", sibling.under, takes)


def _ensure_hypotheses(whose: str, hypotheses: object, takes: str) -> None:
    """Raise unless these are hypotheses whose predicates take the named arguments."""
    if not isinstance(hypotheses, tuple) or not all(
        isinstance(one, Hypothesis) for one in hypotheses
    ):
        raise ClaimError(
            f"the hypotheses of {whose} are no tuple of Hypothesis",
            value=repr(hypotheses),
            remedy='Write hypotheses=(Hypothesis("a name", lambda m, v: m.at_most(...)),).',
        )
    for hypothesis in hypotheses:
        ensure_takes(f"hypothesis {hypothesis.name!r} of {whose}", hypothesis.holds, takes)


def _ensure_variables(whose: str, variables: object, *, removed: bool = False) -> None:
    """Raise unless these are variables by name, or records; if `removed`, None is allowed."""
    if isinstance(variables, Records):
        return
    if not isinstance(variables, Mapping):
        text = f"the variables of {whose} have no names"
        raise ClaimError(text, value=repr(variables), remedy=_VARIABLES)
    for name, variable in variables.items():
        if not isinstance(variable, Variable) and not (removed and variable is None):
            text = f"the variable {name} of {whose} has no domain"
            raise ClaimError(text, value=repr(variable), remedy=_VARIABLES)


def _made(statement: Statement, name: str, reading: Reading, place: tuple[str, int]) -> Claim:
    id = f"{statement.id}:{name}"
    under = by_name(statement.hypotheses if reading.under is None else reading.under, id)
    conclusion = reading.conclusion or statement.conclusion
    formula = _formula(statement, reading, under, conclusion)
    _ensure_constants(id, formula)
    expected = Expected.parse(reading.expected, measured=formula.measured is not None)
    stands = expected.truth is not Truth.REFUTED
    strength, fairness = _strength(id, reading), _fairness(id, reading)
    tight = reading.tight and stands
    shown = strength if stands else None
    compose = functools.partial(sentence, formula, reading.read, tight=tight, strength=shown)
    claim = Claim(
        id=id,
        source=statement.source,
        place=statement.place,
        compose=functools.cache(lambda: f"{reading.says}." if reading.says else compose()),
        hypotheses=tuple(hypothesis_of(formula, key) for key in formula.hypotheses),
        data=strategy(formula),
        conclusion=functools.partial(_measured if formula.measured else slack_of, formula),
        expected=expected,
        siblings=tuple(
            siblings(
                formula,
                reading.siblings,
                id,
                statement.violating,
                stands=stands,
                tight=reading.tight,
            )
        ),
        examples=explicit(formula, reading.examples, id),
        ensemble=formula.ensemble,
        relaxed=functools.partial(relaxed, formula) if formula.continuous else None,
        proof=reading.proof,
        depends_on=reading.depends_on,
        cost=statement.cost if reading.cost is None else reading.cost,
        file=place[0],
        line=place[1],
        formula=formula,
        printed=" ".join(statement.printed.split()),
        rests_on=statement.rests_on,
        read_off=statement.read_off,
        fairness=fairness,
        strength=strength,
    )
    ensure_checkable(claim)
    return claim


def _strength(id: str, reading: Reading) -> Strength | None:
    """Return the strength that the author declares for a reading; a tight one is `least`.

    Raises:
        ClaimError: the word is unknown, or the siblings do not fit it.
    """
    word = reading.strength or ("least" if reading.tight else "")
    if not word:
        return None
    try:
        strength = Strength.read(word)
    except ValueError as error:
        raise ClaimError(
            f"{id} has an unknown strength",
            value=word,
            remedy=f"Known: {', '.join(map(str, Strength))}.",
        ) from error
    if reading.tight and strength is not Strength.LEAST:
        raise ClaimError(
            f"{id} is tight, and of another strength than least",
            value=word,
            remedy="Leave out one of the two.",
        )
    changes = any(one.constants or one.under for one in reading.siblings.values())
    if not reading.tight and strength in (Strength.LEAST, Strength.KNOWN) and not changes:
        raise ClaimError(
            f"{id} has no sibling that would be better than it",
            value=word,
            remedy="Write siblings={...: changed(constant=a better one)}, which has to fall.",
        )
    return strength


def _fairness(id: str, reading: Reading) -> Fairness | None:
    """Return how fairly a reading takes its source; a literal one is `plain` by default.

    Raises:
        ClaimError: there is no such word, or the reading is not literal.
    """
    if not id.rpartition(":")[2].startswith("literal"):
        if reading.fairness:
            raise ClaimError(
                f"{id} is no literal reading, so that it has no fairness",
                value=reading.fairness,
                remedy="Leave it out.",
            )
        return None
    try:
        return Fairness.read(reading.fairness or "plain")
    except ValueError as error:
        raise ClaimError(
            f"{id} has an unknown fairness",
            value=reading.fairness,
            remedy=f"Known: {', '.join(map(str, Fairness))}.",
        ) from error


def _ensure_used(statement: Statement) -> None:
    """Raise unless each hypothesis of the statement is used by a reading."""
    lists = [r.under for r in statement.readings.values() if r.under is not None]
    if len(lists) < len(statement.readings):
        lists.append(statement.hypotheses)
    used = {hypothesis for listed in lists for hypothesis in listed}
    for what, values in (
        ("has hypotheses", statement.hypotheses),
        ("gives records that violate hypotheses", statement.violating),
    ):
        ensure_same(f"{statement.id} {what}, for which a reading has", values, used)
        unused = [str(getattr(one, "name", one)) for one in values if one not in used]
        if unused:
            raise ClaimError(
                f"{statement.id} {what} that no reading of it has",
                value=", ".join(unused),
                remedy="List them in `under` of a reading, or delete them.",
            )


def _ensure_constants(id: str, formula: Formula) -> None:
    """Raise unless the reading sets all constants that its conclusion needs, and no others."""
    if formula.measured is not None:
        formula.measured.ensure_takes(id, formula.named_constants)
    chosen = formula.named_constants
    text = f"{id} sets constants that its conclusion lacks"
    ensure_among(text, formula.constants, chosen)
    needed = [
        name
        for name, default in chosen.items()
        if default is REQUIRED and name not in formula.constants
    ]
    if needed:
        raise ClaimError(
            f"{id} does not set the constants of its conclusion",
            value=", ".join(needed),
            remedy="Give them in `constants`, or give them defaults.",
        )


def _formula(
    statement: Statement, reading: Reading, under: Mapping[str, Hypothesis], conclusion: Conclusion
) -> Formula:
    """Return the formula of a reading, of variables or of records."""
    own = reading.variables
    records = own if isinstance(own, Records) else statement.variables
    if isinstance(records, Records):
        records = records.at(reading.fixed)
        under = {**under, **records.settings}
        return RecordFormula({}, under, conclusion, reading.constants, records.type, records)
    if isinstance(own, Records):
        raise ClaimError(
            f"{statement.id} quantifies over variables and a reading of it over records",
            remedy="Give the statement Records as well, or the reading other variables.",
        )
    if isinstance(conclusion, Measured):
        raise ClaimError(
            f"a conclusion of {statement.id} is measured, but the reading has no records",
            value=conclusion.says,
            remedy="Let the statement quantify over Records, or write a formula of (m, v).",
        )
    variables = overridden(records, own)
    under = {**domains(variables), **under}
    return Formula(variables, under, conclusion, reading.constants, instance_type(variables))


def _measured(formula: Formula, case: Case, **parameters: object) -> Slack:
    """Return the slack of a measured conclusion on an instance, by floats."""
    measured: Measured = present(formula.measured, "a measured conclusion")
    return measured.floats(case, **{**formula.constants, **parameters})

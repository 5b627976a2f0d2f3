"""Siblings: deliberately false variants of a reading, which its check must refute as well."""

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from attsvm._types import Case
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.declaration.batches import strategy
from attsvm.theory.declaration.claim import Sibling
from attsvm.theory.declaration.formula import REQUIRED, TIGHTENED, Formula
from attsvm.theory.declaration.hypotheses import Hypothesis, by_name, ensure_same
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.judge import meets
from attsvm.theory.declaration.records import RecordFormula, Records
from attsvm.theory.declaration.variables import Meeting, Variable, ordered

Quantified = Mapping[str, Variable] | Records
"""The subject of a statement: variables by name, or the fields of a record."""

_SHARES = ("0.95", "0.999")
"""Shares of the right side: a sharp reading must be refuted with each of them."""


_CHANGES = "Give it another constant, drop a hypothesis, or redraw a variable."
"""Remedy for a sibling that changes nothing."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A deliberately false variant that the author describes; made by `changed`."""

    constants: Mapping[str, object]
    drop: tuple[str, ...] = ()
    dropped: tuple[Hypothesis, ...] = ()
    under: tuple[Hypothesis, ...] = ()
    variables: Quantified = field(default_factory=dict)
    examples: tuple[Case, ...] = ()
    fixed: Mapping[str, object] = field(default_factory=dict)


def changed(
    *,
    drop: Iterable[Hypothesis | str] = (),
    under: Iterable[Hypothesis] = (),
    variables: Quantified | None = None,
    examples: Iterable[Case] = (),
    fixed: Mapping[str, object] | None = None,
    **constants: object,
) -> Changed:
    """Return the description of a deliberately false variant of a reading.

    Args:
        drop: hypotheses that it leaves out, and ends of domains by name.
        under: hypotheses of its own, such as a looser form of a dropped hypothesis.
        variables: variables that replace those of the reading, or other records.
        examples: explicit instances, checked first.
        fixed: other values of fields that the reading fixes.
        constants: other constants of the conclusion.
    """
    drop = tuple(drop)
    objects = tuple(one for one in drop if isinstance(one, Hypothesis))
    names = tuple(one.name if isinstance(one, Hypothesis) else one for one in drop)
    records = variables or {}
    return Changed(constants, names, objects, tuple(under), records, tuple(examples), fixed or {})


def siblings(
    formula: Formula,
    changes: Mapping[str, Changed],
    id: str,
    violating: Mapping[Hypothesis, Records | Iterable[Case]],
    *,
    stands: bool,
    tight: bool,
) -> Iterable[Sibling]:
    """Yield the siblings of a reading: automatic ones if it stands, then the author's.

    Automatic siblings each drop a hypothesis or, if the reading is sharp, tighten the right side.
    If the author's own sibling only drops a hypothesis, it replaces the automatic one.
    """
    if stands:
        of_domains = domains(formula.variables)
        declared = [
            key for key, h in formula.hypotheses.items() if key not in of_domains and not h.setting
        ]
        alone = len(declared) == 1
        own = {o.drop for o in changes.values() if not o.constants}
        for key in declared:
            if (key,) in own:
                continue
            words = "without its hypothesis" if alone else f"without {key}"
            other = _without(formula, key, violating.get(formula.hypotheses[key], ()))
            yield _sibling(formula, words, other, id, automatic=True)
        if tight:
            for share in _SHARES:
                words = f"{float(share):.1%} of the right side".replace(".0%", "%")
                yield _sibling(formula, words, Changed({TIGHTENED: share}), id)
    for words, other in changes.items():
        if not stands:  # a reading that falls refutes any sibling with the same constants
            _ensure_other(formula, other, f"sibling {words!r} of {id}")
        yield _sibling(formula, words, other, id)


def _without(formula: Formula, key: str, violating: Records | Iterable[Case]) -> Changed:
    """Return the change that drops a hypothesis, with violating records of the reading's type."""
    if not isinstance(formula, RecordFormula):
        return changed(drop=[key], examples=() if isinstance(violating, Records) else violating)
    own = formula.records
    if isinstance(violating, Records):
        alike = violating.type is own.type and violating.kinds == own.kinds
        return changed(drop=[key], variables=violating if alike else None)
    return changed(drop=[key], examples=filter(own.takes, violating))


def _sibling(
    formula: Formula, name: str, other: Changed, id: str, *, automatic: bool = False
) -> Sibling:
    whose = f"sibling {name!r} of {id}"
    if isinstance(other.variables, Records) and not isinstance(formula, RecordFormula):
        raise ClaimError(
            f"{whose} gives records, but its statement has variables",
            remedy="Give it other variables by their names.",
        )
    constants = set(other.constants) - (set() if formula.measured else {TIGHTENED})
    text = f"{whose} sets constants that the conclusion lacks"
    ensure_among(text, constants, formula.named_constants)
    redrawn = () if isinstance(other.variables, Records) else other.variables
    for what, values, there in (
        ("drops hypotheses", other.drop, formula.hypotheses),
        ("redraws variables", redrawn, formula.variables),
    ):
        ensure_among(f"{whose} {what} that are not there", values, there, "There are")
    ensure_same(f"{whose} drops", other.dropped, formula.hypotheses.values())
    if not (other.constants or other.drop or other.variables or other.examples or other.fixed):
        raise ClaimError(f"{whose} changes nothing", remedy=_CHANGES)
    own = _neighbour(formula, other)
    added = [key for key in own.hypotheses if key not in formula.hypotheses]
    left = [key for key in formula.hypotheses if key not in own.hypotheses]
    return Sibling(
        name,
        other.constants,
        (*other.drop, *(key for key in left if key not in other.drop)),
        strategy(own),
        explicit(own if isinstance(own, RecordFormula) else formula, other.examples, whose),
        automatic,
        own,
        tuple(hypothesis_of(own, key) for key in added),
    )


def _ensure_other(formula: Formula, other: Changed, whose: str) -> None:
    """Raise if a sibling has nothing but constants that its reading has as well.

    Raises:
        ClaimError: it changes nothing.
    """
    chosen: dict[str, object] = {**other.constants, **other.fixed}
    kept = {k for k, v in chosen.items() if _alike(v, formula.known_constants.get(k, REQUIRED))}
    if kept and kept == chosen.keys() and not (other.drop or other.variables):
        text = ", ".join(f"{name}={chosen[name]}" for name in sorted(kept))
        raise ClaimError(f"{whose} changes nothing", value=text, remedy=_CHANGES)


def _alike(one: object, other: object) -> bool:
    """Return whether two constants are one number or one text."""
    numbers = isinstance(one, int | float | Fraction) and isinstance(other, int | float | Fraction)
    return one == other if numbers else str(one) == str(other)


def _neighbour(formula: Formula, other: Changed) -> Formula:
    """Return the formula of a sibling, with its own hypotheses and variables."""
    own = by_name(other.under, "a sibling")
    if isinstance(formula, RecordFormula):
        kept = {k: h for k, h in formula.hypotheses.items() if k not in other.drop}
        records = formula.records
        if isinstance(other.variables, Records):
            records = other.variables.at(records.values)
        records = records.at(other.fixed)
        kept = {k: h for k, h in kept.items() if k not in formula.records.settings}
        hypotheses = {**kept, **own, **records.settings}
        return replace(formula, hypotheses=hypotheses, records=records)
    free = {
        key: v.without(other.drop) if isinstance(v, Meeting) else v
        for key, v in formula.variables.items()
    }
    variables = overridden(free, {} if isinstance(other.variables, Records) else other.variables)
    before, after = domains(formula.variables), domains(variables)
    # if a variable has another domain, the ends of the old domain are no hypotheses any more
    drop = {*other.drop, *(before.keys() - after.keys())}
    kept = {k: h for k, h in formula.hypotheses.items() if k not in drop}
    new = {k: h for k, h in after.items() if k not in formula.hypotheses}
    return replace(formula, hypotheses={**kept, **new, **own}, variables=variables)


def ensure_among(
    message: str, names: Iterable[str], there: Collection[str], lead: str = "It has"
) -> None:
    """Raise unless each name is in the collection `there`.

    Raises:
        ClaimError: a name is unknown. The remedy begins with `lead` and lists the known names.
    """
    unknown = sorted(set(names) - set(there))
    if unknown:
        remedy = f"{lead} {', '.join(there) or 'none'}."
        raise ClaimError(message, value=", ".join(unknown), remedy=remedy)


def explicit(formula: Formula, examples: Iterable[Any], whose: str) -> tuple[Case, ...]:
    """Return explicit instances from their values.

    Raises:
        ClaimError: a value does not fit; the error names the place of the instance.
    """
    made = []
    for k, example in enumerate(examples, 1):
        try:
            if isinstance(formula, RecordFormula):
                made.append(formula.ensure_instance(example))
            else:
                made.append(formula.build(**example))
        except AttsvmError as error:
            raise ClaimError(
                f"example {k} of {whose}: {error.cause}", value=error.value, remedy=error.remedy
            ) from error
    return tuple(made)


def overridden(
    variables: Mapping[str, Variable], other: Mapping[str, Variable | None]
) -> dict[str, Variable]:
    """Return the variables with the other ones in their place, in an order for drawing.

    A variable whose replacement is None is removed.
    """
    merged = {**variables, **other}
    return ordered({name: variable for name, variable in merged.items() if variable is not None})


def hypothesis_of(formula: Formula, name: str) -> Hypothesis:
    """Return a hypothesis of a formula with a predicate of instances in place of one of (m, v)."""
    hypothesis = formula.hypotheses[name]
    if isinstance(formula, RecordFormula):
        return hypothesis
    return replace(hypothesis, holds=functools.partial(meets, hypothesis.holds, formula))

"""Formulas as a reader sees them: written down by running them on letters."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

from attsvm.theory.arithmetic.naming import in_short
from attsvm.theory.arithmetic.text import Term, Text, Word, escaped, letter, letters, written
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import Values
from attsvm.theory.declaration.notation import Written
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.variables import Defined


@dataclass(frozen=True, slots=True)
class Typeset:
    """A formula as it runs.

    Attributes:
        conclusion: the comparison.
        hypotheses: the conditions, by the names that the statement gives them.
        where: what each name in these lines stands for.
    """

    conclusion: Written
    hypotheses: Mapping[str, Written]
    where: tuple[Written, ...]

    def json(self) -> dict[str, Any]:
        """As plain data, the same as what is read back from a file."""
        return {**asdict(self), "where": [asdict(line) for line in self.where]}


def typeset(formula: Formula) -> Typeset:
    """A formula as it runs, each name spelled out; code that is no expression by its docstring."""
    if isinstance(formula, RecordFormula):
        return _of_records(formula)
    m = Text()
    v = Values(**letters(formula.variables))
    conclusion = _declared(formula) or _one(
        lambda: written(formula.relation(m, v, {})), formula.conclusion, _with(formula)
    )
    hypotheses = {
        name: _one(
            lambda condition=condition: written(condition.holds(m, v)), condition.holds, "", name
        )
        for name, condition in formula.hypotheses.items()
    }
    lines = {
        definition.left.plain: _equation(definition.left, definition.right)
        for definition in m.definitions.values()
    }
    for name, variable in formula.variables.items():
        if isinstance(variable, Defined):
            lines[name] = _defined(getattr(v, name), variable, m, v)
    shown = [conclusion, *hypotheses.values()]
    return Typeset(conclusion, hypotheses, tuple(_used(lines, shown)))


def _of_records(formula: RecordFormula) -> Typeset:
    """A formula over records: what is measured in its own line, conditions by their names."""
    m = Text()
    conclusion = _declared(formula) or _one(
        lambda: _on_letters(m, formula), formula.conclusion, _with(formula)
    )
    hypotheses = {name: Written.in_words(name) for name in formula.hypotheses}
    lines = {name: _equation(d.left, d.right) for name, d in m.definitions.items()}
    return Typeset(conclusion, hypotheses, tuple(_used(lines, [conclusion])))


def _on_letters(m: Text, formula: RecordFormula) -> Term | None:
    """The conclusion, where all that it does with its record can be written down."""
    try:
        return written(formula.relation(m, _fields(formula.records.type, "record"), {}))
    except Exception:
        return None


def _fields(kind: Any, name: str) -> Any:
    """Letters for the numbers of a record, in place of what it holds otherwise a `Word`.

    A field of several types is written as its first one.
    """
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kind = typing.get_args(kind)[0]
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        known = {f.name: _fields(hints[f.name], f.name) for f in dataclasses.fields(kind)}
        return SimpleNamespace(**known)
    return Word() if kind in (str, bool) else letter(name)


def _declared(formula: Formula) -> Written | None:
    """The conclusion as its author writes it down, if so."""
    stated = getattr(formula.measured or formula.conclusion, "stated", None)
    return None if stated is None else stated.written(formula.known_constants)


def _defined(left: Term, variable: Defined, m: Text, v: Any) -> Written:
    try:
        return _equation(left, variable.by(m, v))
    except Exception:  # whatever code raises that meets letters in place of numbers
        return _equation(left, in_short(variable.by, "determined by the others"))


def _with(formula: Formula) -> str:
    """The constants of a conclusion, which its words do not hold."""
    return ", ".join(f"{name} = {value}" for name, value in formula.known_constants.items())


def _one(write: Any, function: Any, constants: str, otherwise: str = "see its code") -> Written:
    """What a function of the formula writes; in words where it is no single expression.

    Numbers alone, such as 0 = 1, are what it decided about a letter, and not what it says.
    """
    try:
        found = write()
    except Exception:  # whatever code raises that meets letters in place of numbers
        found = None
    if found is None or not any(c.isalpha() for c in found.plain):
        said = in_short(function, otherwise)
        return Written.in_words(f"{said} ({constants})" if constants else said)
    return Written(found.latex, found.plain)


def _equation(left: Term, right: Any) -> Written:
    if isinstance(right, str):
        return Written(rf"{left.latex} \text{{ is {escaped(right)}}}", f"{left.plain} is {right}")
    return Written(f"{left.latex} = {right.latex}", f"{left.plain} = {right.plain}")


def _used(lines: Mapping[str, Written], shown: Iterable[Written]) -> Iterator[Written]:
    """The definitions whose name occurs in what is shown, or in a definition that does.

    A name is without arguments, or whole where in brackets.
    """
    text = " ".join(line.plain for line in shown)
    left = dict(lines)
    while found := next(
        (k for k in left if (k.partition("(")[0].split(".")[-1] or k) in text), None
    ):
        line = left.pop(found)
        text += " " + line.plain
        yield line

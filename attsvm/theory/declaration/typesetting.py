"""Formulas as a reader sees them: written down by running them on letters."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

from attsvm._types import JsonObject
from attsvm.theory.arithmetic.naming import in_short
from attsvm.theory.arithmetic.text import Term, Text, Word, escaped, letter, letters, written
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import Values
from attsvm.theory.declaration.notation import Notation, Written
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

    def json(self) -> JsonObject:
        """As plain data, the same as what is read back from a file."""
        return {**asdict(self), "where": [asdict(line) for line in self.where]}


def typeset(formula: Formula) -> Typeset:
    """A formula as it runs, each name spelled out; code that is no expression by its docstring."""
    conclusion, hypotheses, lines = _spelled(formula)
    of_records = isinstance(formula, RecordFormula)  # they name their hypotheses
    shown = [conclusion, *(() if of_records else hypotheses.values())]
    letters = _letters(formula)
    told = (Written.in_words(letters),) if letters else ()
    return Typeset(conclusion, hypotheses, (*told, *_used(lines, shown)))


def concluded(formula: Formula, clauses: Iterable[str]) -> tuple[str, list[str]]:
    """Return the conclusion as a clause, and what letters of it and of other clauses mean."""
    declared = _notation(formula)
    conclusion, _, lines = _spelled(formula)
    if declared is not None and declared.says:
        conclusion = declared.written(formula.known_constants, conclusion)
    letters = _letters(formula)
    lead = [letters] if letters else []
    text = [conclusion, *map(Written.in_words, (*lead, *clauses))]
    told = re.findall(r"(?:^|, |; |and )([^,;]+?)(?:\([^()]*\))? (?:is|are|=) ", letters)
    own = {name: line for name, line in lines.items() if name.partition("(")[0] not in told}
    return conclusion.plain, [*lead, *(line.plain for line in _used(own, text))]


def _letters(formula: Formula) -> str:
    """Return what the author says that letters of the conclusion mean."""
    declared = _notation(formula)
    return "" if declared is None else declared.letters(formula.known_constants)


def _spelled(formula: Formula) -> tuple[Written, dict[str, Written], dict[str, Written]]:
    """Return the conclusion, the hypotheses by name, and by name all definitions they use."""
    m = Text()
    if isinstance(formula, RecordFormula):
        conclusion = _concluded(formula, lambda: _on_letters(m, formula))
        hypotheses = {name: Written.in_words(name) for name in formula.hypotheses}
        lines = {name: _equation(d.left, d.right) for name, d in m.definitions.items()}
        return conclusion, hypotheses, lines
    v = Values(**letters(formula.variables))
    conclusion = _concluded(formula, lambda: written(formula.relation(m, v, {})))
    hypotheses = {
        name: _on(functools.partial(lambda one: written(one.holds(m, v)), condition))
        or Written.in_words(in_short(condition.holds, name))
        for name, condition in formula.hypotheses.items()
    }
    lines = {d.left.plain: _equation(d.left, d.right) for d in m.definitions.values()}
    for name, variable in formula.variables.items():
        if isinstance(variable, Defined):
            lines[name] = _defined(getattr(v, name), variable, m, v)
    return conclusion, hypotheses, lines


def _on_letters(m: Text, formula: RecordFormula) -> Term | None:
    """The conclusion, where all that it does with its record can be written down."""
    try:
        return written(formula.relation(m, _fields(formula.records.type, "record"), {}))
    except Exception:
        return None


class _AnyShape:
    """Stands for jaxtyping's kinds where annotations are read for their classes alone."""

    def __getitem__(self, shape: object) -> type:
        return object


_KINDS: dict[str, Any] = dict.fromkeys(("Bool", "Float", "Int", "Shaped"), _AnyShape())
"""Names of `attsvm._types` whose reading would import jaxtyping."""


def _fields(kind: Any, name: str) -> Any:
    """Letters for the numbers of a record, in place of what it holds otherwise a `Word`.

    A field of several types is written as its first one.
    """
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kind = typing.get_args(kind)[0]
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns=_KINDS)
        known = {f.name: _fields(hints[f.name], f.name) for f in dataclasses.fields(kind)}
        return SimpleNamespace(**known)
    return Word() if kind in (str, bool) else letter(name)


def _notation(formula: Formula) -> Notation | None:
    """Return how the author writes the conclusion down, if so."""
    found: Notation | None = getattr(formula.measured or formula.conclusion, "stated", None)
    return found


def _concluded(formula: Formula, write: Callable[[], Term | None]) -> Written:
    """Return the conclusion as its author writes it, on letters, or in words, in this order."""
    declared = _notation(formula)
    if declared is not None and declared.formula:
        return declared.written(formula.known_constants)
    run = _on(write)
    if run is None and declared is not None and declared.says:
        return declared.written(formula.known_constants)
    return run or Written.in_words(_short(formula.conclusion, _with(formula)))


def _defined(left: Term, variable: Defined, m: Text, v: Values) -> Written:
    try:
        return _equation(left, variable.by(m, v))
    except Exception:  # whatever code raises that meets letters in place of numbers
        return _equation(left, in_short(variable.by, "determined by the others"))


def _with(formula: Formula) -> str:
    """Return the constants of a conclusion."""
    return ", ".join(f"{name} = {value}" for name, value in formula.known_constants.items())


def _on(write: Callable[[], Term | None]) -> Written | None:
    """Return what a formula writes on letters; None if it is no single expression.

    Numbers alone, such as 0 = 1, are what it decided about a letter, and not what it says.
    """
    try:
        found = write()
    except Exception:  # whatever code raises that meets letters in place of numbers
        return None
    if found is None or not any(c.isalpha() for c in found.plain):
        return None
    return Written(found.latex, found.plain)


def _short(function: Any, constants: str, otherwise: str = "see its code") -> str:
    """Return the first line of a docstring, with the constants that its words do not hold."""
    said = in_short(function, otherwise)
    return f"{said} ({constants})" if constants else said


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

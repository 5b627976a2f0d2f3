"""Formulas in mathematical notation, obtained by running their code on letters.

The sentence of a reading is composed from its variables, hypotheses and conclusion.

    Let x and y be in R^n. Suppose that ||y|| <= ||x||. Then <x, y> <= ||x||^2. No smaller constant
    will do. Here "short" is read as of no larger norm.

The engine composes the sentence, so that it says exactly what is checked.
"""

import dataclasses
import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import SimpleNamespace

from attsvm._types import Hint, JsonObject
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.naming import body_of, in_short
from attsvm.theory.arithmetic.notation import GREEK, Term, Word, escaped, letter, letters, written
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.declaration.conclusions import Conclusion, Notation, Written
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, domains
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.variables import (
    Choice,
    Defined,
    Integer,
    Meeting,
    Variable,
    axes_of,
    shown,
)
from attsvm.theory.declaration.verdict import SHARP, Strength


@dataclass(frozen=True, slots=True)
class Typeset:
    """A formula in notation, exactly as it runs.

    Attributes:
        conclusion: the comparison.
        hypotheses: the conditions, by their names in the statement.
        where: the meaning of each name in these lines.
    """

    conclusion: Written
    hypotheses: Mapping[str, Written]
    where: tuple[Written, ...]

    def json(self) -> JsonObject:
        """Return the formula as plain data, in the form that a file gives back."""
        return {**asdict(self), "where": [asdict(line) for line in self.where]}


def typeset(formula: Formula) -> Typeset:
    """Return a formula as it runs, with all definitions.

    Code that is no single expression is shown by its docstring.
    """
    conclusion, hypotheses, lines = _spelled(formula)
    of_records = isinstance(formula, RecordFormula)  # they name their hypotheses
    shown = [conclusion, *(() if of_records else hypotheses.values())]
    letters = _letters(formula)
    reported = (Written.in_words(letters),) if letters else ()
    return Typeset(conclusion, hypotheses, (*reported, *_used(lines, shown)))


def concluded(formula: Formula, clauses: Iterable[str]) -> tuple[str, list[str]]:
    """Return the conclusion as a clause, and the meaning of letters in it and in other clauses."""
    declared = _notation(formula)
    conclusion, _, lines = _spelled(formula)
    if declared is not None and declared.says:
        conclusion = declared.written(formula.known_constants, conclusion)
    letters = _letters(formula)
    lead = [letters] if letters else []
    text = [conclusion, *map(Written.in_words, (*lead, *clauses))]
    shown = re.findall(r"(?:^|, |; |and )([^,;]+?)(?:\([^()]*\))? (?:is|are|=) ", letters)
    own = {name: line for name, line in lines.items() if name.partition("(")[0] not in shown}
    return conclusion.plain, [*lead, *(line.plain for line in _used(own, text))]


def _letters(formula: Formula) -> str:
    """Return the author's explanation of letters of the conclusion."""
    declared = _notation(formula)
    return "" if declared is None else declared.letters(formula.known_constants)


def _spelled(formula: Formula) -> tuple[Written, dict[str, Written], dict[str, Written]]:
    """Return the conclusion, the hypotheses by name, and all their definitions by name."""
    m = Text(letters=formula.variables)
    if isinstance(formula, RecordFormula):
        conclusion = _concluded(formula, lambda: _on_letters(m, formula))
        hypotheses = {name: Written.in_words(name) for name in formula.hypotheses}
        lines = {name: _equation(d.left, d.right) for name, d in m.definitions.items()}
        return conclusion, hypotheses, lines
    v = FrozenValues(**letters(formula.variables))
    conclusion = _concluded(
        formula,
        lambda: written(formula.relation(m, v, {})),
        lambda: _for_instance(m, formula),
    )
    hypotheses = {
        name: _on(functools.partial(lambda one: written(one.holds(m, v)), condition))
        or Written.in_words(in_short(condition.holds, name))
        for name, condition in formula.hypotheses.items()
    }
    lines = {d.left.plain: _equation(d.left, d.right) for d in m.definitions.values()}
    for name, variable in formula.variables.items():
        if isinstance(variable, Defined) and not variable.says:
            lines[name] = _defined(getattr(v, name), variable, m, v)
    return conclusion, hypotheses, lines


def _on_letters(m: Text, formula: RecordFormula) -> Term | None:
    """Return the conclusion on letters, None if its code cannot run on letters."""
    try:
        return written(formula.relation(m, _fields(formula.records.type, "record"), {}))
    except Exception:
        return None


class _AnyShape:
    """A stand-in for kinds of jaxtyping in annotations, so that jaxtyping is not imported."""

    def __getitem__(self, shape: object) -> type:
        return object


_KINDS: dict[str, _AnyShape] = dict.fromkeys(("Bool", "Float", "Int", "Shaped"), _AnyShape())
"""Names of `attsvm._types` whose evaluation would import jaxtyping."""


def _fields(kind: Hint, name: str) -> SimpleNamespace | Word | Term:
    """Return a letter for a number, a `Word` for a text or boolean, a namespace for a record.

    A field of several types is written as its first type.
    """
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kind = typing.get_args(kind)[0]
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns=_KINDS)
        known = {f.name: _fields(hints[f.name], f.name) for f in dataclasses.fields(kind)}
        return SimpleNamespace(**known)
    return Word() if kind in (str, bool) else letter(name)


def _notation(formula: Formula) -> Notation | None:
    """Return the author's notation of the conclusion, if any."""
    result: Notation | None = getattr(formula.measured or formula.conclusion, "stated", None)
    return result


def _for_instance(m: Text, formula: Formula) -> Term | None:
    """Return the conclusion on letters, with a small number for each integer."""
    sizes = {
        name: max(one.low, min(2, one.drawn_to))
        for name, one in formula.variables.items()
        if isinstance(one, Integer)
    }
    v = FrozenValues(**{**letters(formula.variables), **sizes})
    run = written(formula.relation(m, v, {}))
    if run is None or not sizes or not any(c.isalpha() for c in run.plain):
        return run  # without letters it is no formula
    chosen = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    return Term(rf"{run.latex} \text{{ for }} {chosen}", f"{run.plain} (for {chosen})")


def _concluded(
    formula: Formula,
    write: Callable[[], Term | None],
    instead: Callable[[], Term | None] = lambda: None,
) -> Written:
    """Return the conclusion in the author's notation, else on letters, else in words.

    The words are those of its docstring. Without one, `instead` writes an instance of it.
    """
    declared = _notation(formula)
    if declared is not None and declared.formula:
        return declared.written(formula.known_constants)
    run = _on(write)
    if run is None and declared is not None and declared.says:
        return declared.written(formula.known_constants)
    if run is None and not inspect.getdoc(formula.conclusion):
        run = _on(instead)
    return run or Written.in_words(_short(formula.conclusion, _with(formula)))


def _defined(left: Term, variable: Defined, m: Text, v: Values) -> Written:
    try:
        return _equation(left, variable.by(m, v))
    except Exception:  # whatever code raises that meets letters in place of numbers
        return _equation(left, in_short(variable.by, "determined by the others"))


def _with(formula: Formula) -> str:
    """Return the constants of a conclusion as text, such as "c = 1, k = 2"."""
    return ", ".join(f"{name} = {value}" for name, value in formula.known_constants.items())


def _on(write: Callable[[], Term | None]) -> Written | None:
    """Return the formula that `write` gives on letters; None if it is no single expression.

    A result without letters, such as 0 = 1, comes from a branch on a letter and is no formula.
    """
    try:
        result = write()
    except Exception:  # whatever code raises that meets letters in place of numbers
        return None
    if result is None or not any(c.isalpha() for c in result.plain):
        return None
    return Written(result.latex, result.plain)


def _short(function: Conclusion, constants: str) -> str:
    """Return the first line of a docstring, or a lambda's code, with the constants in brackets."""
    text = in_short(function, body_of(function) or "the comparison in its code holds")
    return f"{text} ({constants})" if constants else text


def _equation(left: Term, right: object) -> Written:
    """Return the line "left = right" for a formula, or "left is right" for words.

    Raises:
        TypeError: the right side is neither a formula nor words.
    """
    if isinstance(right, Term):
        return Written(f"{left.latex} = {right.latex}", f"{left.plain} = {right.plain}")
    if not isinstance(right, str):
        raise TypeError(f"{right!r} is no text")
    return Written(rf"{left.latex} \text{{ is {escaped(right)}}}", f"{left.plain} is {right}")


def _used(lines: Mapping[str, Written], shown: Iterable[Written]) -> Iterator[Written]:
    """Yield the definitions whose names occur in the shown lines, or in a yielded definition.

    Names are compared without arguments, unless they begin with a bracket. The name of a sequence
    occurs if it occurs with any index.
    """
    text = " ".join(line.plain for line in shown)
    left = dict(lines)
    while results := next(
        (k for k in left if (_STEP.sub("", k).partition("(")[0].split(".")[-1] or k) in text),
        None,
    ):
        line = left.pop(results)
        text += " " + line.plain
        yield line


_STEP = re.compile(r"\w+\+1\]$")
"""The end of the name of a sequence, such as x[k+1]."""

_STANDARD = re.compile(r"\|\|\.\|\| is |vec\(x\) is |.* is determined by the others$")
"""Definitions of standard notation, and definitions that say nothing: sentences omit them."""

_OPERATOR_NORM = "||.||_op is the largest singular value"

_STRENGTHS = {
    None: "",
    Strength.EXACT: "",
    Strength.LEAST: "this bound cannot be improved",
    Strength.KNOWN: "no better bound is known",
    Strength.BETTER: "whether this is best is open",
}
"""The clause of a reading that is not tight, by its strength."""

_BRACKETS = re.compile(r"[({\[][^(){}\[\]]*[)}\]]")
"""A bracket of mathematics, whose commas end no clause."""


def sentence(
    formula: Formula, read: Mapping[str, str], *, tight: bool, strength: Strength | None = None
) -> str:
    """Return the sentence of a reading.

    Args:
        formula: its variables or records, hypotheses and conclusion.
        read: the sense of each ambiguous word of the printed sentence.
        tight: whether the check refutes every smaller right side that it tries.
        strength: the strength of the reading; None if none is declared.
    """
    shown = {*domains(formula.variables), *_named_settings(formula)}
    clauses = [one.says for name, one in formula.hypotheses.items() if name not in shown]
    values = lets(formula)
    conclusion, letters = concluded(formula, clauses)
    letters = [line for line in letters if not _STANDARD.match(line)]
    used = any("||_op" in part for part in (conclusion, *clauses))
    if used and _OPERATOR_NORM not in letters:  # a formula or clause that its author wrote
        letters.append(_OPERATOR_NORM)
    if values or clauses:
        conclusion = f"then {conclusion}"
    if letters:
        conclusion += f", where {_listed(letters)}"
    senses = [_sense(word, sense) for word, sense in read.items()]
    parts = [
        f"let {_listed(values)}" if values else "",
        f"suppose that {_listed(clauses)}" if clauses else "",
        conclusion,
        SHARP if tight else _STRENGTHS[strength],
        f"here {_listed(senses)}" if senses else "",
    ]
    return " ".join(f"{_capital(part)}." for part in parts if part)


def _named_settings(formula: Formula) -> set[str]:
    """Return the hypotheses on fixed fields that the words of the conclusion already name."""
    stated = getattr(formula.measured or formula.conclusion, "stated", None)
    settings = zip(formula.fixed, formula.settings, strict=True)
    return {
        name for fixed, name in settings if stated and f"${fixed}" in stated.says + stated.where
    }


def _sense(word: str, sense: str) -> str:
    """Return a clause that says how an ambiguous word of the printed sentence is understood."""
    return f'"{word}" is {"taken to say" if sense.startswith("that ") else "read as"} {sense}'


def _capital(clause: str) -> str:
    """Return a clause with a capital, unless it begins with a letter of mathematics."""
    word = clause.split()[0]
    return clause[:1].upper() + clause[1:] if len(word) > 1 and word.isalpha() else clause


def _listed(clauses: Sequence[str]) -> str:
    """Return clauses as a list, with semicolons if one of them has a comma itself."""
    *most, last = clauses
    if not most:
        return last
    if any("," in _BRACKETS.sub("", clause) for clause in clauses):
        return f"{'; '.join(most)}; and {last}"
    comma = "," if len(most) > 1 or any(" and " in clause for clause in clauses) else ""
    return f"{', '.join(most)}{comma} and {last}"


def lets(formula: Formula) -> list[str]:
    """Return the clauses after "Let": variables of one domain together, or the records."""
    if isinstance(formula, RecordFormula):
        return [formula.records.lets] if formula.records.lets else []
    axes = axes_of(formula.variables)
    variables = shown(formula.variables)
    domain_of = {name: _domain(name, one, axes) for name, one in variables.items()}
    named = {
        domain: [n for n in variables if domain_of[n] == domain] for domain in domain_of.values()
    }
    called = {n: f"the {n}" if len(n) > 3 and n not in GREEK else n for n in variables}
    groups = [
        (_listed([called[n] for n in names]), domain, len(names))
        for domain, names in named.items()
        if domain
    ]
    return [
        f"{'each of ' if count > 1 and domain.startswith(('a ', 'an ')) else ''}{names} "
        f"{'' if k else 'be '}{domain}"
        for k, (names, domain, count) in enumerate(groups)
    ]


def _domain(name: str, variable: Variable, axes: Sequence[str]) -> str:
    """Return the domain of a variable, "" if there is nothing to say.

    There is nothing to say if other variables determine it, or if it is a length of at least 1.
    """
    while isinstance(variable, Meeting):
        variable = variable.of
    if isinstance(variable, Choice):
        return f"one of {_listed(list(variable.members))}"
    if isinstance(variable, Integer):
        least, most = variable.low, variable.ends[1]
        if most is None or (name in axes and not variable.closed):
            return "" if name in axes and least == 1 else f"in {{{least}, {least + 1}, ...}}"
        between = {least: "", least + 1: f", {most}"}.get(most, f", ..., {most}")
        return f"in {{{least}{between}}}" if variable.closed else f"in {{{least}, ..., {most}}}"
    if isinstance(variable, Defined):
        return variable.says
    low = variable.ends[0]
    if not variable.axes:
        return "real" if low is None else f"real and at least {low}"
    space = variable.axes[0] if len(variable.axes) == 1 else f"{{{' x '.join(variable.axes)}}}"
    return f"in R^{space}" + ("" if low is None else f" with entries of at least {low}")

"""The sentence of a reading, composed from its variables, hypotheses and conclusion.

    Let x and y be in R^n. Suppose that ||y|| <= ||x||. Then <x, y> <= ||x||^2. No smaller constant
    will do. Here "short" is read as of no larger norm.

The engine composes the sentence, so that it says exactly what is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attsvm.theory.arithmetic.text import GREEK
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.typesetting import concluded
from attsvm.theory.declaration.variables import (
    Choice,
    Defined,
    Integer,
    Meeting,
    Variable,
    axes_of,
)

_STANDARD = re.compile(r"\|\|\.\|\| is |vec\(x\) is |.* is determined by the others$")
"""Definitions of standard notation, and definitions that say nothing: sentences omit them."""

_OPERATOR_NORM = "||.||_op is the largest singular value"

_BRACKETS = re.compile(r"[({\[][^(){}\[\]]*[)}\]]")
"""A bracket of mathematics, whose commas end no clause."""


def sentence(formula: Formula, read: Mapping[str, str], *, tight: bool) -> str:
    """Return the sentence of a reading.

    Args:
        formula: its variables or records, hypotheses and conclusion.
        read: the sense of each ambiguous word of the printed sentence.
        tight: whether the check refutes every smaller right side that it tries.
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
        "no smaller constant will do" if tight else "",
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
    variables = formula.variables
    axes = axes_of(variables)
    domain_of = {name: _domain(name, one, axes) for name, one in variables.items()}
    named = {
        domain: [n for n in variables if domain_of[n] == domain] for domain in domain_of.values()
    }
    called = {n: f"the {n}" if len(n) > 3 and n not in GREEK else n for n in variables}
    groups = [
        (_listed([called[n] for n in names]), domain) for domain, names in named.items() if domain
    ]
    return [f"{names} {'' if k else 'be '}{domain}" for k, (names, domain) in enumerate(groups)]


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
        last = f"{least + 1}, ..." if most is None or name in axes else f"..., {most}"
        return "" if name in axes and least == 1 else f"in {{{least}, {last}}}"
    if isinstance(variable, Defined):
        return ""
    low = variable.ends[0]
    if not variable.axes:
        return "real" if low is None else f"real and at least {low}"
    space = variable.axes[0] if len(variable.axes) == 1 else f"{{{' x '.join(variable.axes)}}}"
    return f"in R^{space}" + ("" if low is None else f" with entries of at least {low}")

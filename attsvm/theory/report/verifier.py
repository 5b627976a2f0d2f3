"""Verifiers: programs of Python's standard library that check one stored counterexample.

A verifier is the part of `attsvm/theory/record/checker.py` that the statement needs, followed by
its words, the instance and the statement. The engine writes the statement by running
its own formula, hypotheses included. So a changed formula gives a changed program.
"""

import keyword
import re

from attsvm._types import Case, JsonObject
from attsvm.errors import ClaimError, NotExpressible
from attsvm.theory.arithmetic.programs import Length, Programs
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, defined, member, shape_of
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.record import checker
from attsvm.theory.report.definitions import imports, joined, needed_modules, used_definitions
from attsvm.theory.report.script import needed, title
from attsvm.theory.types import Values

_ENDING = """

if __name__ == "__main__":
    raise SystemExit(0 if check(statement) else 1)
"""


def verifier(claim: Claim, case: Case) -> str:
    """Return the program that checks whether an instance violates a claim.

    Raises:
        NotExpressible: a part of the statement has no form for the checker.
    """
    m = Programs()
    body = "\n".join(statement(claim, case, m)) + _ENDING
    used = used_definitions(body, [checker, *needed_modules(m.sources)])
    head = f'"""{checker.__doc__}"""\n\nfrom __future__ import annotations\n\n{imports(used)}'
    parts = [one for one in used if not one.imported]
    words = [one.text for one in parts if one.module in m.sources]
    others = [one.text for one in parts if one.module not in m.sources]
    return joined([head, *others, "\n".join(title(claim)), *words, body])


def verifier_or_reason(claim: Claim, case: Case) -> tuple[str | None, str]:
    """Return the verifier, or None and the reason why there is none."""
    try:
        return verifier(claim, case), ""
    except NotExpressible as error:
        return None, error.cause


def statement(claim: Claim, case: Case, m: Programs) -> list[str]:
    """Return the function `statement` of a verifier, line by line.

    Raises:
        NotExpressible: a part of the statement has no form for the checker.
    """
    try:
        answers = answers_of(claim, case, m)
    except NotExpressible:
        raise
    except (ClaimError, TypeError, AttributeError) as error:  # an operation that programs lack
        raise NotExpressible(str(error)) from error
    used = needed(m.lines, " ".join(answers.values()))
    lines = [f"{name} = {text}" for name, text in m.lines.items() if name in used]
    lines += [f"yield {name!r}, {text}" for name, text in answers.items()]
    return ["def statement() -> Iterator[tuple[str, Answer]]:", *(f"    {one}" for one in lines)]


def answers_of(claim: Claim, case: Case, m: Programs) -> dict[str, str]:
    """Return each hypothesis and the conclusion, as expressions, by name."""
    formula = claim.formula
    if checker.CLAIM in [hypothesis.name for hypothesis in claim.hypotheses]:
        raise NotExpressible("a hypothesis with the name of the conclusion")
    if not getattr(formula.instance, "BUILT", False):
        return _of_record(claim, case, m)
    values = _values(formula, m, case)
    answers = {
        name: m.answer(hypothesis.holds(m, values))  # type: ignore[arg-type]
        for name, hypothesis in formula.hypotheses.items()
    }
    return {**answers, checker.CLAIM: m.answer(formula.relation(m, values, {}))}


def _of_record(claim: Claim, case: Case, m: Programs) -> dict[str, str]:
    """Return the same of a record, whose conditions are in the words of the checker."""
    write = getattr(claim.formula.conclusion, "checked", None)
    if write is None:
        raise NotExpressible(f"the conclusion, about a record of the type {type(case).__name__}")
    conclusion = write(m, case, **claim.formula.constants)
    answers = {}
    for hypothesis in claim.hypotheses:
        if not hypothesis.checked:
            raise NotExpressible(f"the hypothesis that {hypothesis.says}")
        written = hypothesis.checked
        answers[hypothesis.name] = written if isinstance(written, str) else written(m, case)
    return {**answers, checker.CLAIM: m.answer(conclusion)}


def _values(formula: Formula, m: Programs, case: Case) -> Values:
    """Return the values of an instance as names of the program."""
    known: JsonObject = {
        name: Length(length) for name, length in shape_of(formula.variables, case).items()
    }
    for name, variable in formula.variables.items():
        if name in known or variable.stored is None:
            continue
        value = getattr(case, name)
        if isinstance(variable, Choice):
            known[name] = _member(variable, name, value)
        elif isinstance(variable, Integer):
            known[name] = Length(value)
        else:
            _ensure_free(name)
            known[name] = m.input_value(name, value)
    return defined(formula.variables, m, FrozenValues(**known))


def _ensure_free(name: str) -> None:
    """Raise if a letter has another meaning in the program.

    Raises:
        NotExpressible: a letter has the name of a function or variable of the program.
    """
    if hasattr(checker, name) or keyword.iskeyword(name) or re.fullmatch(r"t\d+", name):
        raise NotExpressible(f"the letter {name}, which has a meaning in the program")


def _member(variable: Choice, name: str, value: str) -> object:
    """Return a member of a family, with properties that the checker decides if it knows any."""
    chosen = member(variable, name, value)
    return chosen.known(value) if hasattr(chosen, "known") else chosen

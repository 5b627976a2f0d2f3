"""Counterexamples as scripts that need numpy alone.

A script prints both sides of the claim. It computes them in floats, or in Python's decimals if
floats have too few digits. Programs that check a counterexample are in `report.verifier`.
"""

import contextlib
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Context, localcontext
from typing import Any

import numpy as np

from attsvm._types import Array, Case, JsonObject
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.namespace import All, AnyOf, Relation, comparisons
from attsvm.theory.arithmetic.script import DIGITS, Decimals, Scripts
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, defined, member, shape_of
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.instance.in_python import literal
from attsvm.theory.instance.in_words import leaves
from attsvm.theory.instance.letters import letters_in_words
from attsvm.theory.packs.packs import Pack, members

LINES = 25
"""Maximum number of lines of a script if another form of it is shorter."""

_SIGNS = {"at most": "<=", "below": "<", "equal": "="}
_NOISE, _SMALL = 1e-9, 50
_WIDTH = 240
"""Maximum number of characters of a line that prints two sides and whether they compare so."""


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and whether its output shows what exact arithmetic proves.

    Attributes:
        text: Python code; each printed line is a comparison of the claim or, for a run, the state
            after some number of steps.
        shows: whether the printed comparisons are violated.
    """

    text: str
    shows: bool


@dataclass(frozen=True, slots=True)
class Writer:
    """A function that writes scripts of measured claims or of loops; at module level of a pack.

    Attributes:
        write: returns the script of a claim's instance, or None for an unknown kind of claim.
    """

    write: Callable[[Claim, Any], str | None]


def writers(packs: Iterable[Pack]) -> tuple[Writer, ...]:
    """Return the writers of these packs."""
    return members(packs, Writer)


def script(claim: Claim, case: Case, others: Iterable[Writer] = ()) -> Script | None:
    """Return a script that shows that an instance refutes a claim; None if none can be written.

    Args:
        claim: the refuted claim.
        case: the instance.
        others: writers for measured conclusions, and for formulas that need too many lines.
    """
    made = None
    if claim.formula.measured is None:
        made = _shortest(Scripts, claim, case)
        if made is not None and not made.shows:
            with contextlib.suppress(TypeError, AttributeError, ArithmeticError):  # of decimals
                precise = _shortest(Decimals, claim, case)
                made = precise if precise is not None and precise.shows else made
        if made is None or made.text.count("\n") <= LINES:
            return made
    texts = (writer.write(claim, case) for writer in others)
    return next((Script(text, True) for text in texts if text), made)


def _shortest(kind: type[Scripts], claim: Claim, case: Case) -> Script | None:
    made = None
    for longest in (56, 76, 96):  # longer expressions need fewer lines, but are harder to read
        with np.errstate(all="ignore"), localcontext(Context(prec=DIGITS)):
            made = _written(kind(short_literal, longest), claim, case)
        if made is None or made.text.count("\n") <= LINES:
            break
    return made


def _written(m: Scripts, claim: Claim, case: Case) -> Script | None:
    try:
        values = values_of(claim.formula, m, case, dict(fields_of(case)))
        relation = claim.formula.relation(m, values, {})
    except ClaimError:  # the formula uses more than the functions of m
        return None
    sides = [(c.kind, m.printed(c.left), m.printed(c.right)) for c in comparisons(relation)]
    message = title(claim)
    shows = not _holds(m, relation)
    printed = [_printed(_SIGNS[kind], a.text, b.text, shows=shows) for kind, a, b in sides]
    used = needed(m.lines, " ".join(printed))
    lines = [f"{name} = {text}" for name, text in m.lines.items() if name in used]
    body = "\n".join([*lines, *printed])
    helpers = [text for name, text in m.helpers.items() if f"{name}(" in body]
    if len(printed) > 1:
        joined = "any" if isinstance(relation, AnyOf) else "all"
        printed.insert(0, f"# the claim: {joined} of these")
        body = "\n".join([*lines, *printed])
    text = "\n".join([*m.header, *helpers, body, ""])
    shown = _comment(f"at {letters_in_words(claim.formula, case)}")
    if len(message) + len(shown) + text.count("\n") <= LINES:
        message += shown
    return Script("\n".join([*message, text]), shows)


def _printed(sign: str, left: str, right: str, *, shows: bool) -> str:
    """Return the line that prints two sides and, if they are short, whether the inequality holds.

    If the script does not show the violation, floats would call the inequality true.
    """
    one, other = (side if side.isidentifier() else f"({side})" for side in (left, right))
    truth = f", {one} {sign} {other}" if shows and sign != "=" else ""
    line = f"print({left}, {sign!r}, {right}{truth})"
    return line if len(line) <= _WIDTH else f"print({left}, {sign!r}, {right})"


def values_of(formula: Formula, m: Scripts, case: Case, named: Mapping[str, Array]) -> Any:
    """Return the values of an instance for a script; `named` are the arrays of a record."""
    for name, array in named.items():
        m.input_value(name, array)
    if not getattr(formula.instance, "BUILT", False):
        return case
    known: JsonObject = dict(shape_of(formula.variables, case))
    for name, variable in formula.variables.items():
        if name not in known and variable.stored is not None:
            value = getattr(case, name)
            if isinstance(variable, Choice):
                known[name] = member(variable, name, value)
            else:
                exact = isinstance(variable, Integer)
                known[name] = int(value) if exact else m.input_value(name, value)
    return defined(formula.variables, m, FrozenValues(**known))


def title(claim: Claim) -> list[str]:
    """Return the refuted claim as a comment: the start of its sentence, in at most two lines."""
    return _comment(f"{claim.id}: {claim.statement}", most=2)


def _comment(text: str, most: int | None = None) -> list[str]:
    """Return a text as lines of a comment, at most `most` lines."""
    return textwrap.wrap(
        f"# {text}", 96, subsequent_indent="#   ", max_lines=most, placeholder=" ..."
    )


def fields_of(case: Case) -> Any:
    """Yield the arrays of a record, each with the last of the names that lead to it."""
    if not getattr(type(case), "BUILT", False):
        yield from ((path[-1], x) for path, x in leaves(case) if isinstance(x, np.ndarray))


def short_literal(value: Any) -> str:
    """Return an expression for a value; small integers stay integers: their powers fit 64 bits."""
    text = literal(value)
    return text if np.max(np.abs(value), initial=0) > _SMALL else text.replace(", dtype=float", "")


def needed(lines: dict[str, str], text: str) -> set[str]:
    """Return the names of the lines that a text uses, directly or through other lines."""
    results: set[str] = set()
    left = [text]
    while left:
        for name in re.findall(r"[A-Za-z_]\w*", left.pop()):
            if name in lines and name not in results:
                results.add(name)
                left.append(lines[name])
    return results


def _holds(m: Scripts, relation: Relation) -> bool:
    """Return whether the printed sides show no violation; NaN shows none."""
    if isinstance(relation, All | AnyOf):
        return (all if isinstance(relation, All) else any)(_holds(m, p) for p in relation.parts)
    left, right = m.printed(relation.left).value, m.printed(relation.right).value
    if relation.kind == "equal":
        far = np.abs(left - right) > _NOISE * np.maximum(1.0, np.abs(right))
        return not bool(np.any(far))
    return not bool(left > right if relation.kind == "at most" else left >= right)

"""A counterexample as a short script that needs numpy alone and prints both sides of the claim."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.relations import All, AnyOf, Relation
from attsvm.theory.arithmetic.script import Scripts
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.packs import Pack, modules
from attsvm.theory.report.snippets import leaves, literal

LINES = 25
"""Lines of a script at most, where longer ones can do with fewer."""

_SIGNS = {"at most": "<=", "below": "<", "equal": "="}
_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and whether floats see in it what exact arithmetic proves.

    Attributes:
        text: Python; each line that it prints is a comparison that the claim makes, or, of a run,
            where it is after so many steps.
        shows: whether the printed comparisons are violated.
    """

    text: str
    shows: bool


@dataclass(frozen=True, slots=True)
class Writer:
    """How a pack writes what is measured as scripts, such as runs; at module level of the pack.

    Attributes:
        write: the script of a claim's instance, None for what it does not know.
    """

    write: Callable[[Claim, Any], str | None]


def writers(packs: Iterable[Pack]) -> tuple[Writer, ...]:
    """Those of the packs."""
    values = [v for pack in packs for module in modules(pack) for v in vars(module).values()]
    return tuple({id(v): v for v in values if isinstance(v, Writer)}.values())


def script(claim: Claim, case: Any, others: Iterable[Writer] = ()) -> Script | None:
    """The script of an instance that refutes a claim; None where nobody can write it.

    Args:
        claim: what it refutes.
        case: the instance.
        others: who writes what is measured.
    """
    if claim.formula.measured is not None:
        texts = (writer.write(claim, case) for writer in others)
        return next((Script(text, True) for text in texts if text), None)
    made = None
    for longest in (56, 76, 96):
        with np.errstate(all="ignore"):
            made = _written(claim, case, longest)
        if made is None or made.text.count("\n") <= LINES:
            break
    return made


def _written(claim: Claim, case: Any, longest: int) -> Script | None:
    m = Scripts(_literal, longest)
    try:
        relation = claim.formula.written(m, case, dict(_fields(case)))
    except ClaimError:  # it leaves the namespace m
        return None
    sides = [(c.kind, m.code(c.left), m.code(c.right)) for c in _comparisons(relation)]
    said = textwrap.wrap(f"# {claim.id}: {claim.statement}", 96, subsequent_indent="#   ")
    printed = [f"print({a.text}, {_SIGNS[kind]!r}, {b.text})" for kind, a, b in sides]
    needed = _needed(m.lines, " ".join(printed))
    lines = [f"{name} = {text}" for name, text in m.lines.items() if name in needed]
    body = "\n".join([*lines, *printed])
    helpers = [text for name, text in m.helpers.items() if f"{name}(" in body]
    if len(printed) > 1:
        joined = "any" if isinstance(relation, AnyOf) else "all"
        printed.insert(0, f"# the claim: {joined} of these")
        body = "\n".join([*lines, *printed])
    text = "\n".join([*said, "import numpy as np", *helpers, body, ""])
    return Script(text, not _holds(m, relation))


def _fields(case: Any) -> Any:
    """The arrays of a record by the last of the names that lead to them."""
    if not getattr(type(case), "BUILT", False):
        yield from ((path[-1], x) for path, x in leaves(case) if isinstance(x, np.ndarray))


def _literal(value: Any) -> str:
    return literal(value).replace(", dtype=float", "")


def _comparisons(relation: Relation) -> list[Any]:
    if isinstance(relation, All | AnyOf):
        return [c for part in relation.parts for c in _comparisons(part)]
    return [relation]


def _needed(lines: dict[str, str], text: str) -> set[str]:
    """The names among the lines that a text uses, directly or through others."""
    found: set[str] = set()
    left = [text]
    while left:
        for name in re.findall(r"[A-Za-z_]\w*", left.pop()):
            if name in lines and name not in found:
                found.add(name)
                left.append(lines[name])
    return found


def _holds(m: Scripts, relation: Relation) -> bool:
    """Whether floats see the relation hold, as the naked eye would."""
    if isinstance(relation, All | AnyOf):
        return (all if isinstance(relation, All) else any)(_holds(m, p) for p in relation.parts)
    left, right = m.code(relation.left).value, m.code(relation.right).value
    if relation.kind == "equal":
        return bool(np.all(np.abs(left - right) <= _NOISE * np.maximum(1.0, np.abs(right))))
    return bool(left <= right) if relation.kind == "at most" else bool(left < right)

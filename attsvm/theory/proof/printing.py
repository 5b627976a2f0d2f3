"""Terms and propositions as text, in the names of their letters and functions."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Call: TypeAlias = tuple[str, tuple[object, ...], Mapping[str, object]]
"""The name of a rule, and the arguments of a call by place and by name; for notes of a proof."""


def written(term: Any) -> str:
    """Return a term as text; the order of its monomials does not matter."""
    parts = []
    for monomial, coefficient in term.parts.items():
        factors = sorted(_power(atom, exponent) for atom, exponent in monomial)
        if coefficient != 1 or not factors:
            factors.insert(0, f"{coefficient}")
        text = "*".join(factors)
        parts.append(f"-{text[3:]}" if text.startswith("-1*") else text)
    return " + ".join(sorted(parts)).replace("+ -", "- ") or "0"


def _power(atom: Any, exponent: int) -> str:
    if hasattr(atom, "function"):
        name, arguments = atom.function.name, ", ".join(map(written, atom.inside))
        text = f"<{arguments}>" if name == "inner" else f"{name}({arguments})"
        text = text if arguments else name
    elif hasattr(atom, "body"):
        where = f" of {written(atom.over.of)}" if atom.over else ""
        text = f"{atom.kind}({_power(atom.index, 1)}{where}: {written(atom.body)})"
    else:
        text = atom.name if hasattr(atom, "name") else f"{atom.sort.name}{atom.level}"
    return text if exponent == 1 else f"{text}^{exponent}"


def as_text(proposition: Any) -> str:
    """Return a proposition as text, with the negative terms on the right."""
    sides: list[dict[Any, Any]] = [{}, {}]
    for monomial, coefficient in proposition.term.parts.items():
        sides[coefficient < 0][monomial] = abs(coefficient)
    left, right = (written(type(proposition.term)(side)) for side in sides)
    text = f"{left} {proposition.relation} {right}"
    return f"in the end {text}" if proposition.eventually else text

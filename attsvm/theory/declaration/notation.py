"""How a conclusion is written down that cannot be run on letters: in words and as a formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any, TypeVar

from attsvm.theory.arithmetic.plain import in_plain
from attsvm.theory.arithmetic.text import escaped

Symbols = Mapping[str, Mapping[Any, str]]
"""How values of constants are written in LaTeX, by name and value."""

_F = TypeVar("_F", bound=Callable[..., Any])
_FACTOR = r"\${name} (?=[\w\\(|\[$])"
_IDLE = {
    "1": [(_FACTOR, ""), (r"\^\${name}\b", "")],
    "0": [
        (rf" [+-] (?!{_FACTOR})\${{name}}\b", ""),
        (rf"((?:[<>=]|\\[gl]e) ){_FACTOR}(?:(?!\\text|[<>=]|\\[gl]e).)*$", r"\g<1>0"),
    ],
}
"""What a factor 1, a power 1, a summand 0 and a right side with a factor 0 leave of a formula."""


@dataclass(frozen=True, slots=True)
class Written:
    """A line of mathematics, in LaTeX and in plain characters."""

    latex: str
    plain: str

    @classmethod
    def in_words(cls, said: str) -> Written:
        """A line of words."""
        return cls(rf"\text{{{escaped(said)}}}", said)


@dataclass(frozen=True, slots=True)
class Notation:
    """A conclusion as its author writes it down.

    Attributes:
        says: what its formula leaves to be said, constants in braces; may be empty.
        formula: it in LaTeX, or empty; constants are written `$name`, and not at all where they
            change nothing, such as a factor 1 or a summand 0.
        symbols: how values of a constant are written, in LaTeX, by its name and the value; others
            are written as they are.
    """

    says: str
    formula: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)

    def written(self, constants: Mapping[str, Any]) -> Written:
        """It with these constants, in LaTeX and in plain characters."""
        known = {
            k: self.symbols[k][v] for k, v in constants.items() if v in self.symbols.get(k, {})
        }
        words = {**constants, **{name: in_plain(symbol) for name, symbol in known.items()}}
        said = " ".join(self.says.format(**words).split())
        if not self.formula:
            return Written.in_words(said)
        line = Template(self.formula).safe_substitute(known)  # a symbol may name other constants
        for name, value in constants.items():
            for pattern, kept in _IDLE.get(str(value), ()):
                line = re.sub(pattern.format(name=name), kept, line)
        line = " ".join(Template(line).substitute({**constants, **known}).split())
        lead = Written.in_words(f"{said}: ") if said else Written("", "")
        return Written(lead.latex + line, lead.plain + in_plain(line))


def stated(says: str, formula: str = "", symbols: Symbols | None = None) -> Callable[[_F], _F]:
    """Declare how a conclusion of (m, v) and of constants is written; see `Notation`.

    For one that loops, or that looks at its record, of which no single expression can be written
    down by running it on letters.
    """

    def mark(function: _F) -> _F:
        function.stated = Notation(says, formula, symbols or {})  # type: ignore[attr-defined]
        return function

    return mark

"""The notation of a conclusion: words, a formula, and the meaning of letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any, TypeVar

from attsvm._words import in_plain
from attsvm.theory.arithmetic.text import escaped

Symbols = Mapping[str, Mapping[Any, str]]
"""LaTeX for values of constants, by name and value."""

_F = TypeVar("_F", bound=Callable[..., object])
_PLACE = "$formula"
_FACTOR = r"\${name} (?=[\w\\(|\[$])"
_IDLE = {
    "1": [(_FACTOR, ""), (r"\^\${name}\b", "")],
    "0": [
        (rf" [+-] (?!{_FACTOR})\${{name}}\b", ""),
        (rf"((?:[<>=]|\\[gl]e) ){_FACTOR}(?:(?!\\text|[<>=]|\\[gl]e).)*$", r"\g<1>0"),
    ],
}
"""Simplifications of a formula's LaTeX for a constant 1 or 0: pairs of pattern and replacement.

A factor 1, a power 1 and a summand 0 go; a right side with a factor 0 becomes 0.
"""


@dataclass(frozen=True, slots=True)
class Written:
    """A line of mathematics, in LaTeX and in plain characters."""

    latex: str
    plain: str

    @classmethod
    def in_words(cls, words: str) -> Written:
        """Return a line of words."""
        return cls(rf"\text{{{escaped(words)}}}", words)

    def __add__(self, other: Written) -> Written:
        """Return both lines as one."""
        return Written(self.latex + other.latex, self.plain + other.plain)


@dataclass(frozen=True, slots=True)
class Notation:
    """The author's notation of a conclusion; constants are written `$name`.

    Attributes:
        says: a clause that reads well after "Then"; may be empty. The formula stands at
            `$formula`, by default after a colon.
        formula: LaTeX, or empty if the conclusion can be run on letters; constants without effect,
            such as a factor 1 or a summand 0, are left out.
        symbols: LaTeX for values of a constant, by its name and the value; other values are
            written as they are.
        where: the meaning of letters of the conclusion, a clause that reads well after "where".
    """

    says: str
    formula: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)
    where: str = ""

    def written(self, constants: Mapping[str, object], run: Written | None = None) -> Written:
        """Return the conclusion with these constants, in LaTeX and in plain characters.

        Args:
            constants: the constants of a reading or a sibling.
            run: the formula as it runs on letters, for a notation without a formula.
        """
        says = self.says
        if self.formula and _PLACE not in says:
            says = f"{says}: {_PLACE}" if says else _PLACE
        before, place, after = says.partition(_PLACE)
        line = self._line(constants) if self.formula or run is None else run
        words = [Written.in_words(self._in_words(part, constants)) for part in (before, after)]
        parts = [words[0], line, words[1]] if place else words
        return sum((part for part in parts if part.plain), Written("", ""))

    def letters(self, constants: Mapping[str, object]) -> str:
        """Return the meaning of its letters, in plain characters."""
        return " ".join(self._in_words(self.where, constants).split())

    def _known(self, constants: Mapping[str, object]) -> dict[str, str]:
        """Return the constants that have a symbol, in LaTeX."""
        return {k: self.symbols[k][v] for k, v in constants.items() if v in self.symbols.get(k, {})}

    def _in_words(self, words: str, constants: Mapping[str, object]) -> str:
        """Return words with these constants in plain characters."""
        known = {name: in_plain(symbol) for name, symbol in self._known(constants).items()}
        return re.sub(r"\s+", " ", Template(words).substitute({**constants, **known}))

    def _line(self, constants: Mapping[str, object]) -> Written:
        """Return the formula with these constants."""
        known = self._known(constants)
        line = Template(self.formula).safe_substitute(known)  # a symbol may name other constants
        for name, value in constants.items():
            for pattern, kept in _IDLE.get(str(value), ()):
                line = re.sub(pattern.format(name=name), kept, line)
        line = " ".join(Template(line).substitute({**constants, **known}).split())
        return Written(line, in_plain(line))


def stated(
    says: str, formula: str = "", symbols: Symbols | None = None, *, where: str = ""
) -> Callable[[_F], _F]:
    """Return a decorator that gives a conclusion of (m, v) its notation; see `Notation`.

    A conclusion that loops, or that looks at its record, needs words or a formula: running it on
    letters gives no single expression.
    """

    def mark(function: _F) -> _F:
        notation = Notation(says, formula, symbols or {}, where)
        function.stated = notation  # type: ignore[attr-defined]
        return function

    return mark

"""Conclusions: their notation, and conclusions without a closed form, such as limits of runs.

A notation has words, a formula, and the meaning of letters. A conclusion without a closed form has
code for each arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any, Required, TypedDict, TypeVar

from flint import arb, fmpq

from attsvm._words import in_plain
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.namespace import Relation
from attsvm.theory.arithmetic.notation import escaped
from attsvm.theory.declaration.arguments import signature
from attsvm.theory.declaration.slack import Slack

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
    says: str,
    formula: str = "",
    symbols: Symbols | None = None,
    *,
    where: str = "",
    checked: Callable[..., Any] | None = None,
) -> Callable[[_F], _F]:
    """Return a decorator that gives a conclusion of (m, v) its notation; see `Notation`.

    A conclusion that loops, or that looks at its record, needs words or a formula: running it on
    letters gives no single expression. For `checked` of a conclusion about records see `Measured`.
    """

    def mark(function: _F) -> _F:
        notation = Notation(says, formula, symbols or {}, where)
        function.stated = notation  # type: ignore[attr-defined]
        function.checked = checked  # type: ignore[attr-defined]
        return function

    return mark


def concludes(proposition: Callable[..., Any]) -> Callable[[_F], _F]:
    """Return a decorator that gives a conclusion about records its proposition in linked proofs.

    A formula that looks at its record cannot run on letters. For `proposition` see `Measured`.
    """

    def mark(function: _F) -> _F:
        function.proposition = proposition  # type: ignore[attr-defined]
        return function

    return mark


class Forms(TypedDict, total=False):
    """Keyword arguments that a function passes on to `Measured`, which explains them."""

    floats: Required[Callable[..., Slack]]
    balls: Callable[..., arb | fmpq | None] | None
    again: Callable[..., Slack] | None
    strict: bool
    symbols: Symbols
    constants: Mapping[str, object] | None
    proposition: Callable[..., Any] | None
    checked: Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A conclusion without a closed form, with one implementation for each arithmetic.

    Floats measure it and bound their error, for instance by the rate of a run. Balls or
    rationals decide it, for instance by a basin that the run cannot leave. They are evaluated
    whenever floats see a violation, and on some instances without one. If floats follow a
    stand-in, balls are evaluated on every ordinary instance. Each implementation takes an
    instance and the named constants of a reading.

    Attributes:
        says, notation, symbols, where: the notation; see `Notation`.
        floats: the slack of an instance.
        balls: the slack from exact values: a ball at the working precision, `OPEN` if more bits are
            needed, a rational, or None if no precision decides.
        again: the slack by other code in higher precision, if there is no enclosure.
        stand_in: the dynamics that floats follow in place of the claim's own, such as gradient flow
            in place of descent; empty if floats follow the claim's own.
        strict: whether a slack of exactly 0 violates the conclusion, as for `<`.
        constants: the named constants with their defaults; by default the constants of the floats.
        proposition: takes the constants of a reading and returns the conclusion in the letters of
            linked proofs, a `Said` of `attsvm.theory.proof.linked`; None if no linked proof
            concludes it.
        checked: takes a program of the checker, an instance and the named constants, and returns
            the conclusion in the words of the checker; None if it has no such form.
    """

    says: str
    floats: Callable[..., Slack]
    balls: Callable[..., arb | fmpq | None] | None = None
    again: Callable[..., Slack] | None = None
    stand_in: str = ""
    strict: bool = False
    notation: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)
    constants: Mapping[str, object] | None = field(default=None, hash=False)
    where: str = ""
    proposition: Callable[..., Any] | None = field(default=None, repr=False)
    checked: Callable[..., Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a conclusion whose refutations could not be confirmed.

        Raises:
            ClaimError: the forms that would confirm a refutation are missing.
        """
        shown = self.says or self.notation
        if self.balls is None and self.again is None:
            raise ClaimError(
                f"no form could confirm a refutation of this: {shown}",
                remedy="Give balls (an enclosure) or again (higher precision).",
            )
        if self.stand_in and self.balls is None:
            raise ClaimError(
                f"the floats follow {self.stand_in}, and no form follows the claim's own dynamics: "
                f"{shown}",
                remedy="Give balls=; they are evaluated on every ordinary instance.",
            )

    @property
    def stated(self) -> Notation:
        """The notation of the conclusion."""
        return Notation(self.says, self.notation, self.symbols, self.where)

    def ensure_takes(self, whose: str, names: Iterable[str]) -> None:
        """Raise unless all forms accept the named constants that the floats take.

        Raises:
            ClaimError: a form does not take them.
        """
        for form in ("balls", "again"):
            function = getattr(self, form)
            try:
                if function is not None:
                    signature(function).bind(None, **dict.fromkeys(names))
            except TypeError as problem:
                raise ClaimError(
                    f"the form for {form} of the conclusion of {whose} does not take its "
                    f"constants: {problem}",
                    remedy="Give every form the same named constants.",
                ) from problem


Conclusion = Callable[..., Relation] | Measured
"""A function of (m, v) and of named constants that returns a comparison; or `Measured`."""

"""Notation: pieces of formulas in LaTeX and in plain characters.

A letter stands for a number or for an array of any size; operations on letters write notation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn, Protocol

from attsvm._words import in_plain
from attsvm.theory.arithmetic.entries import Operation, misuse
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Relation, Unequal

SUM, QUOTIENT, ENTRYWISE, PRODUCT, POWER, ATOM = range(6)

_LONGEST = 2**13
"""Maximum number of characters of a formula. Each step of a loop x -> x - x^2 doubles them."""

GREEK = ("alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "nu", "sigma", "tau", "theta")
"""Names that are written as Greek letters."""


def _reflected(operation: Operation) -> Operation:
    """Return the operator of a term with the other operand on the left."""
    return lambda self, other: operation(as_term(other), self)


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A piece of a formula in LaTeX and in plain characters, with its precedence.

    Attributes:
        latex: LaTeX.
        plain: plain characters.
        binds: the precedence, from sums, the loosest, to letters and brackets.
        factors: the factors of a product, so that equal neighbours become a power.
        axes: the number of axes, 0 for a number; None if it is not known.
    """

    latex: str
    plain: str
    binds: int = ATOM
    factors: tuple[tuple[Term, int], ...] = ()
    axes: int | None = None

    def __post_init__(self) -> None:
        """Raise if the piece is too long for a person to read.

        Raises:
            ClaimError: it has too many characters.
        """
        if len(self.latex) > _LONGEST:
            raise misuse("is too long to be written down", "Name its parts by `definition`.")

    def within(self, least: int) -> Term:
        """Return the piece, in brackets if its precedence is below `least`."""
        if self.binds >= least:
            return self
        fraction = self.binds == QUOTIENT and least == PRODUCT  # LaTeX's needs no brackets
        latex = self.latex if fraction else rf"\left({self.latex}\right)"
        return Term(latex, f"({self.plain})", axes=self.axes)

    def of(self, axes: int | None) -> Term:
        """Return the piece with this number of axes."""
        return self if self.axes == axes else replace(self, axes=axes)

    def __add__(self, other: object) -> Term:
        a, b = self, as_term(other)
        if a.plain == "0" or b.plain == "0":
            return b if a.plain == "0" else a
        axes = _wider(a, b)
        if b.plain.startswith("-"):
            return Term(f"{a.latex} - {b.latex[1:]}", f"{a.plain} - {b.plain[1:]}", SUM, axes=axes)
        return Term(f"{a.latex} + {b.latex}", f"{a.plain} + {b.plain}", SUM, axes=axes)

    def __sub__(self, other: object) -> Term:
        a, b = self, as_term(other).within(QUOTIENT)
        if a.plain == "0" or b.plain == "0":
            return -b if a.plain == "0" else a
        plain = f"{a.plain} - {b.plain}"
        return Term(f"{a.latex} - {b.latex}", plain, SUM, axes=_wider(a, b))

    def __mul__(self, other: object) -> Term:
        a, b = self.within(PRODUCT), as_term(other).within(PRODUCT)
        if a.plain == "1" or b.plain == "1":
            return b if a.plain == "1" else a
        if a.plain == "0" or b.plain == "0":
            return a if a.plain == "0" else b
        if a.plain == "(-1)":
            return -b
        axes = _wider(a, b)
        if a.axes and b.axes and a.plain != b.plain:
            return Term(
                rf"{a.latex} \circ {b.latex}", f"{a.plain} o {b.plain}", ENTRYWISE, (), axes
            )
        factors = list(a.factors or ((a, 1),))
        for factor, count in b.factors or ((b, 1),):
            last, times = factors[-1]
            if factor.plain == last.plain:
                factors[-1] = last, times + count
            else:
                factors.append((factor, count))
        return _product(tuple(factors)).of(axes)

    def __matmul__(self, other: object) -> Term:
        a, b = self.within(PRODUCT), as_term(other).within(PRODUCT)
        axes = a.axes + b.axes - 2 if a.axes and b.axes else None
        return Term(rf"{a.latex} \, {b.latex}", f"{a.plain} {b.plain}", PRODUCT, axes=axes)

    def __truediv__(self, other: object) -> Term:
        a, b = self, as_term(other)
        if b.plain == "1":
            return a
        latex = rf"\frac{{{a.latex}}}{{{b.latex}}}"
        plain = f"{a.within(PRODUCT).plain}/{b.within(POWER).plain}"
        return Term(latex, plain, QUOTIENT, axes=_wider(a, b))

    __radd__, __rsub__ = _reflected(operator.add), _reflected(operator.sub)
    __rmul__, __rmatmul__ = _reflected(operator.mul), _reflected(operator.matmul)
    __rtruediv__, __rpow__ = _reflected(operator.truediv), _reflected(operator.pow)

    def __neg__(self) -> Term:
        inner = self.within(QUOTIENT)
        return Term(f"-{inner.latex}", f"-{inner.plain}", SUM, axes=self.axes)

    def __pow__(self, k: object) -> Term:
        return entrywise_power(self, k)

    def __getitem__(self, key: Any) -> Term:
        keys = key if isinstance(key, tuple) else (key,)
        place, plain = (", ".join(_place(k, form) for k in keys) for form in ("latex", "plain"))
        base = self.within(ATOM)
        latex = f"{{{base.latex}}}" if "_{" in base.latex else base.latex  # no double subscript
        return Term(f"{latex}_{{{place}}}", f"{base.plain}[{plain}]")

    def __call__(self, *arguments: object) -> Term:
        """Return the value of a letter that is a function."""
        inner = [as_term(x) for x in arguments]
        latex = ", ".join(x.latex for x in inner)
        base = self.within(ATOM)
        plain = ", ".join(x.plain for x in inner)
        return Term(rf"{base.latex}\left({latex}\right)", f"{base.plain}({plain})")

    @property
    def T(self) -> Term:
        """The transpose."""
        base = self.within(ATOM)
        return Term(rf"{base.latex}^\top", f"{base.plain}^T", POWER, axes=self.axes)

    def reshape(self, *shape: int) -> Term:
        """Return a vector as one row, its transpose, or as one column, the vector itself."""
        if shape == (-1, 1):
            return self
        if shape == (1, -1):
            return self.T
        return self._refuse()

    def _refuse(self, *_: Any) -> Any:
        raise misuse(
            "compares values, counts them or asks for the truth of one while it is written down",
            "Mark the function with `definition`, which writes it by its name.",
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __iter__ = __int__ = _refuse
    __float__ = __index__ = _refuse
    ravel = _refuse
    shape = size = ndim = property(_refuse)


class Rows(Term):
    """A matrix in notation that counts as having a row, for formulas that ask for its length."""

    def __len__(self) -> int:
        return 1


class Word:
    """A field that is no number: a formula may pass it on, but not inspect it."""

    def _refuse(self, *_: object) -> NoReturn:
        raise misuse(
            "asks for a word or a choice of its record while it is written down",
            "Its docstring is printed in place of the formula.",
        )

    __eq__ = __bool__ = __hash__ = __getattr__ = _refuse


def power(base: Term, k: object) -> Term:
    """Return a power; that of a matrix is a product of matrices."""
    base, exponent = base.within(ATOM), as_term(k)
    latex = f"{base.latex}^{{{exponent.latex}}}"
    return Term(latex, f"{base.plain}^{exponent.within(ATOM).plain}", POWER, axes=base.axes)


def entrywise_power(base: Term, k: object) -> Term:
    """Return a power entry by entry, which for a matrix has a sign of its own."""
    base, exponent = base.within(ATOM), as_term(k)
    result = power(base, k)
    if base.axes == 2:
        latex = rf"{base.latex}^{{\circ {exponent.latex}}}"
        result = replace(result, latex=latex, plain=f"{base.plain}^(o {exponent.plain})")
    return replace(result, factors=((base, k),)) if isinstance(k, int) else result


def _place(key: object, form: str) -> str:
    """Return an index in the form "latex" or "plain", or a range as Python writes it."""
    if isinstance(key, Term):
        return str(getattr(key, form))
    if not isinstance(key, slice):
        return str(key)
    ends = [key.start, key.stop, *([key.step] if key.step is not None else [])]
    return ":".join("" if end is None else str(end) for end in ends)


def _product(factors: tuple[tuple[Term, int], ...]) -> Term:
    """Return factors side by side, with a sign between them if a number comes second."""
    terms = [base if count == 1 else base**count for base, count in factors]
    if len(terms) == 1:
        return replace(terms[0], factors=factors)
    latex, plain = terms[0].latex, terms[0].plain
    for term in terms[1:]:
        number = term.plain[0].isdigit()
        latex += (r" \cdot " if number else r" \, ") + term.latex
        plain += (" * " if number else " ") + term.plain
    return Term(latex, plain, PRODUCT, factors)


def _wider(a: Term, b: Term) -> int | None:
    """Return the number of axes of an entry-by-entry operation on two terms."""
    return None if a.axes is None or b.axes is None else max(a.axes, b.axes)


def letter(name: str, axes: int | None = None) -> Term:
    """Return a letter by its name, such as A, x or beta, with this number of axes."""
    base, _, index = name.partition("_")
    latex = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    if len(base) == 2 and base[1].isdigit():
        latex = f"{base[0]}_{{{base[1]}}}"
    if len(index) > 1 and index.isalpha():
        index = rf"\mathrm{{{index}}}"
    return Term(f"{latex}_{{{index}}}" if index else latex, name, axes=axes)


def as_term(value: object) -> Term:
    """Return a term, an integer or a fraction as a term.

    Raises:
        ClaimError: the value is something else.
    """
    if isinstance(value, Term):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Term(str(value), str(value), ATOM if value >= 0 else SUM, axes=0)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return as_term(value.numerator)
        decimals = format(float(value), ".10g")
        if Fraction(decimals) == value and len(decimals) < 9:
            return Term(decimals, decimals, axes=0)
        return as_term(value.numerator) / value.denominator
    raise misuse(
        f"mixes a value of type {type(value).__name__} with text",
        "Write constants as integers, or as m.exact('0.95').",
    )


def filled(latex: str, *arguments: object) -> Term:
    """Return a term from a LaTeX template, whose fields are numbers of arguments."""
    terms = [as_term(a) for a in arguments]
    plain = in_plain(latex.format(*(t.plain for t in terms)))
    return Term(latex.format(*(t.latex for t in terms)), plain)


class Defining(Protocol):
    """An arithmetic that collects definitions."""

    definitions: dict[str, Definition]


def call(
    latex: str, meaning: tuple[str, Term | str] | None = None, axes: int | None = None
) -> Callable[..., Term]:
    """Return a function that writes a call in notation; a `meaning` is added to the definitions.

    The result has the given number of axes, by default that of its first argument.
    """

    def write(self: Defining, *arguments: object) -> Term:
        if meaning is not None:
            left = filled(meaning[0])
            self.definitions.setdefault(left.plain, Definition(left, meaning[1]))
        return filled(latex, *arguments).of(as_term(arguments[0]).axes if axes is None else axes)

    return write


def named_call(name: str, words: str = "", axes: int | None = None) -> Callable[..., Term]:
    """Return a function that writes name(x); `words` define name(x)."""
    latex = rf"\mathrm{{{{{name}}}}}"
    meaning = (rf"{latex}(x)", words) if words else None
    return call(rf"{latex}\left({{0}}\right)", meaning, axes)


@dataclass(slots=True)
class Definition:
    """A name and its meaning, a formula or words."""

    left: Term
    right: Term | str | None


_SIGNS = {"at most": (r"\le", "<="), "below": ("<", "<"), "equal": ("=", "=")}


def written(relation: Relation) -> Term:
    """Return a comparison or combination of comparisons as text.

    Raises:
        ClaimError: the value is no relation.
    """
    if isinstance(relation, Comparison):
        latex, plain = _SIGNS[relation.kind]
        left, right = as_term(relation.left), as_term(relation.right)
        if _is_number(left) and not _is_number(right) and relation.kind != "equal":
            left, right = right, left
            latex, plain = (r"\ge", ">=") if relation.kind == "at most" else (">", ">")
        return Term(f"{left.latex} {latex} {right.latex}", f"{left.plain} {plain} {right.plain}")
    if isinstance(relation, Unequal) and isinstance(relation.parts[0], Comparison):
        left, right = as_term(relation.parts[0].left), as_term(relation.parts[0].right)
        return Term(rf"{left.latex} \ne {right.latex}", f"{left.plain} != {right.plain}")
    if isinstance(relation, All | AnyOf):
        parts = [_part(part) for part in relation.parts]
        word = "and" if isinstance(relation, All) else "or"
        return Term(
            rf" \;\text{{{word}}}\; ".join(p.latex for p in parts),
            f" {word} ".join(p.plain for p in parts),
        )
    raise misuse(f"returned a {type(relation).__name__}", "Return m.at_most, m.below or m.equal.")


def _is_number(term: Term) -> bool:
    return term.plain.lstrip("-").replace(".", "", 1).replace("/", "", 1).isdigit()


def _part(relation: Relation) -> Term:
    """Return a part of a relation, in brackets if the part itself has several parts."""
    result = written(relation)
    several = isinstance(relation, All | AnyOf) and len(relation.parts) > 1
    return Term(result.latex, result.plain, SUM).within(ATOM) if several else result


def _axes_of(variable: Any) -> int | None:
    """Return the number of axes of a variable, None if it is not known."""
    return len(getattr(variable, "shape", ()) or variable.axes) or (
        None if variable.stored is None else 0
    )


def letters(variables: Mapping[str, Any]) -> dict[str, Term]:
    """Return a letter for each variable; axes of `Defined` variables are not known."""
    return {name: letter(name, _axes_of(variable)) for name, variable in variables.items()}


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
}


def escaped(text: str) -> str:
    """Return a text in LaTeX, letter by letter; a letter outside ASCII by its code point."""
    return "".join(
        _SPECIAL.get(c, c) if " " <= c <= "~" else " " if c.isspace() else f"[U+{ord(c):04X}]"
        for c in text
    )

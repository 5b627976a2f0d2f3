"""Text: the notation of a formula, in LaTeX and in plain characters.

A value is a letter for an array of any size, and each operation writes its notation. Functions
marked with `definition` are written by their name, and spelled out once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NoReturn

from attsvm._words import in_plain
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Number, Numbers, Operation, misuse
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Namespace, Relation

_SUM, _QUOTIENT, _ENTRYWISE, _PRODUCT, _POWER, _ATOM = range(6)
GREEK = ("alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "nu", "sigma", "tau", "theta")
"""Names that are written as Greek letters."""


def _reflected(operation: Operation) -> Operation:
    """Return the operator of a term with the other operand on the left."""
    return lambda self, other: operation(_term(other), self)


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
    binds: int = _ATOM
    factors: tuple[tuple[Term, int], ...] = ()
    axes: int | None = None

    def within(self, least: int) -> Term:
        """Return the piece, in brackets if its precedence is below `least`."""
        if self.binds >= least:
            return self
        fraction = self.binds == _QUOTIENT and least == _PRODUCT  # LaTeX's needs no brackets
        latex = self.latex if fraction else rf"\left({self.latex}\right)"
        return Term(latex, f"({self.plain})", axes=self.axes)

    def of(self, axes: int | None) -> Term:
        """Return the piece with this number of axes."""
        return self if self.axes == axes else replace(self, axes=axes)

    def __add__(self, other: object) -> Term:
        a, b = self, _term(other)
        if a.plain == "0" or b.plain == "0":
            return b if a.plain == "0" else a
        axes = _wider(a, b)
        if b.plain.startswith("-"):
            return Term(f"{a.latex} - {b.latex[1:]}", f"{a.plain} - {b.plain[1:]}", _SUM, axes=axes)
        return Term(f"{a.latex} + {b.latex}", f"{a.plain} + {b.plain}", _SUM, axes=axes)

    def __sub__(self, other: object) -> Term:
        a, b = self, _term(other).within(_QUOTIENT)
        if a.plain == "0" or b.plain == "0":
            return -b if a.plain == "0" else a
        plain = f"{a.plain} - {b.plain}"
        return Term(f"{a.latex} - {b.latex}", plain, _SUM, axes=_wider(a, b))

    def __mul__(self, other: object) -> Term:
        a, b = self.within(_PRODUCT), _term(other).within(_PRODUCT)
        if a.plain == "1" or b.plain == "1":
            return b if a.plain == "1" else a
        if a.plain == "0" or b.plain == "0":
            return a if a.plain == "0" else b
        if a.plain == "(-1)":
            return -b
        axes = _wider(a, b)
        if a.axes and b.axes and a.plain != b.plain:
            return Term(
                rf"{a.latex} \circ {b.latex}", f"{a.plain} o {b.plain}", _ENTRYWISE, (), axes
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
        a, b = self.within(_PRODUCT), _term(other).within(_PRODUCT)
        axes = a.axes + b.axes - 2 if a.axes and b.axes else None
        return Term(rf"{a.latex} \, {b.latex}", f"{a.plain} {b.plain}", _PRODUCT, axes=axes)

    def __truediv__(self, other: object) -> Term:
        a, b = self, _term(other)
        if b.plain == "1":
            return a
        latex = rf"\frac{{{a.latex}}}{{{b.latex}}}"
        plain = f"{a.within(_PRODUCT).plain}/{b.within(_POWER).plain}"
        return Term(latex, plain, _QUOTIENT, axes=_wider(a, b))

    __radd__, __rsub__ = _reflected(operator.add), _reflected(operator.sub)
    __rmul__, __rmatmul__ = _reflected(operator.mul), _reflected(operator.matmul)
    __rtruediv__ = _reflected(operator.truediv)

    def __neg__(self) -> Term:
        inner = self.within(_QUOTIENT)
        return Term(f"-{inner.latex}", f"-{inner.plain}", _SUM, axes=self.axes)

    def __pow__(self, k: object) -> Term:
        base = self.within(_ATOM)
        exponent = _term(k)
        plain = exponent.within(_ATOM).plain
        factors = ((base, k),) if isinstance(k, int) else ()
        latex = f"{base.latex}^{{{exponent.latex}}}"
        return Term(latex, f"{base.plain}^{plain}", _POWER, factors, self.axes)

    def __getitem__(self, key: Any) -> Term:
        keys = key if isinstance(key, tuple) else (key,)
        place = ", ".join(map(_place, keys))
        base = self.within(_ATOM)
        latex = f"{{{base.latex}}}" if "_{" in base.latex else base.latex  # no double subscript
        return Term(f"{latex}_{{{place}}}", f"{base.plain}[{place}]")

    @property
    def T(self) -> Term:
        """The transpose."""
        base = self.within(_ATOM)
        return Term(rf"{base.latex}^\top", f"{base.plain}^T", _POWER, axes=self.axes)

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


class _Rows(Term):
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


def _place(key: object) -> str:
    """Return an index, or a range as Python writes it."""
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
    return Term(latex, plain, _PRODUCT, factors)


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


def _term(value: object) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Term(str(value), str(value), _ATOM if value >= 0 else _SUM, axes=0)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return _term(value.numerator)
        decimals = format(float(value), ".10g")
        if Fraction(decimals) == value and len(decimals) < 9:
            return Term(decimals, decimals, axes=0)
        return _term(value.numerator) / value.denominator
    raise misuse(
        f"mixes a value of type {type(value).__name__} with text",
        "Write constants as integers, or as m.exact('0.95').",
    )


def filled(latex: str, *arguments: object) -> Term:
    """Return a term from a LaTeX template, whose fields are numbers of arguments."""
    terms = [_term(a) for a in arguments]
    plain = in_plain(latex.format(*(t.plain for t in terms)))
    return Term(latex.format(*(t.latex for t in terms)), plain)


def _call(
    latex: str, meaning: tuple[str, Term | str] | None = None, axes: int | None = None
) -> Callable[..., Term]:
    """Return a function that writes a call in notation; a `meaning` is added to the definitions.

    The result has the given number of axes, by default that of its first argument.
    """

    def write(self: Text, *arguments: object) -> Term:
        if meaning is not None:
            left = filled(meaning[0])
            self.definitions.setdefault(left.plain, Definition(left, meaning[1]))
        return filled(latex, *arguments).of(_term(arguments[0]).axes if axes is None else axes)

    return write


def _function(name: str, words: str = "", axes: int | None = None) -> Callable[..., Term]:
    latex = rf"\mathrm{{{{{name}}}}}"
    meaning = (rf"{latex}(x)", words) if words else None
    return _call(rf"{latex}\left({{0}}\right)", meaning, axes)


@dataclass(slots=True)
class Definition:
    """A name and its meaning, a formula or words."""

    left: Term
    right: Term | str | None


_LOGISTIC = r"g\left(t\right)", filled(r"\frac{{1}}{{1 + \exp\left(-t\right)}}")


@dataclass(slots=True)
class Text(Arithmetic[Term]):
    """Formulas as text, with the definitions that they used, in order."""

    name = "text"
    numbers = Term
    definitions: dict[str, Definition] = field(default_factory=dict)

    def _rational(self, value: Fraction) -> Term:
        return _term(value)

    def values(self, x: object) -> Any:
        """Return a field, which is a letter already."""
        return x

    def symbol(self, latex: str, says: str, *, rows: bool = False) -> Term:
        """Return the notation of a primitive, and note the sentence that defines it.

        With `rows`, the symbol is a matrix that has a row.
        """
        result = (_Rows if rows else Term)(latex, in_plain(latex))
        self.definitions.setdefault(result.plain, Definition(result, says))
        return result

    exp = _call(r"\exp\left({0}\right)")
    log = _call(r"\ln\left({0}\right)")
    sqrt = _call(r"\sqrt{{{0}}}")
    abs = _call(r"\left|{0}\right|")
    is_zero = _call(r"\left[{0} = 0\right]")
    maximum = _call(r"\max\left({0}, {1}\right)")
    minimum = _call(r"\min\left({0}, {1}\right)")
    spectral = _call(
        r"\left\|{0}\right\|_{{\mathrm{{op}}}}",
        (r"\left\|.\right\|_{{\mathrm{{op}}}}", "the largest singular value"),
        0,
    )
    norm = _call(
        r"\left\|{0}\right\|",
        (r"\left\|.\right\|", "the root of the sum of the squares of all entries"),
        0,
    )
    largest = _call(
        r"\left\|{0}\right\|_\infty",
        (r"\left\|.\right\|_\infty", "the largest absolute value of an entry"),
        0,
    )
    logistic = _call(r"g\left({0}\right)", _LOGISTIC)
    logistic_slope = _call(r"g'\left({0}\right)", _LOGISTIC)
    logistic_curvature = _call(r"g''\left({0}\right)", _LOGISTIC)
    softplus = _call(r"\ln\left(1 + \exp\left({0}\right)\right)")
    softmax = _function("softmax")
    oscillation = _function("osc", "the largest entry minus the smallest", 0)
    diameter = _function("diam", "the largest distance of two rows", 0)
    spread = _function("spread", "the largest distance of two rows, over the root of 2", 0)
    size = _call(r"\#\left({0}\right)", axes=0)
    sum = _function("sum", axes=0)
    sums = _function("rowsums", "the sum of each row", 1)
    max = _call(r"\max\left({0}\right)", axes=0)
    min = _call(r"\min\left({0}\right)", axes=0)
    trace = _function("tr", axes=0)
    dot = _call(r"\left\langle {0}, {1}\right\rangle", axes=0)
    diagonal = _function("diag", axes=2)
    identity = _call(r"I_{{{0}}}", axes=2)
    vec = _function("vec", "the entries of a matrix row by row", 1)

    def mat(self, x: Numbers, rows: object = None) -> Term:
        """Return the notation of mat, the inverse of vec."""
        return filled(r"\mathrm{{mat}}\left({0}\right)", x).of(2)

    def outer(self, x: Numbers, y: Numbers) -> Term:
        """Return the notation of the matrix x y^T."""
        return (_term(x) @ _term(y).T).of(2)

    def kron(self, A: Numbers, B: Numbers) -> Term:
        """Return the notation of the Kronecker product."""
        a, b = _term(A).within(_POWER), _term(B).within(_POWER)
        return Term(rf"{a.latex} \otimes {b.latex}", f"{a.plain} kron {b.plain}", _SUM, axes=a.axes)

    def differences(self, x: Numbers) -> Term:
        """Return the notation of the matrix of all differences x_i - x_j."""
        a = _term(x).within(_ATOM)
        return filled(r"\left({0}_i - {0}_j\right)_{{ij}}", a).of(2)

    def covariance(self, f: Numbers, h: Numbers) -> Term:
        """Return the notation of (diag(f) - f f^T) h."""
        return (_term(self.diagonal(f) - self.outer(f, f)) @ _term(h)).of(_term(h).axes)

    def array(self, values: Iterable[Number]) -> Term:
        """Return the notation of a vector of numbers."""
        terms = [_term(v) for v in values]
        inner = ", ".join(t.latex for t in terms)
        return Term(rf"\left({inner}\right)", f"({', '.join(t.plain for t in terms)})", axes=1)

    def power(self, x: Number, k: int) -> Term:
        """Return the notation of a power."""
        return _term(x) ** k

    def square(self, x: Number) -> Term:
        """Return the notation of a square."""
        return _term(x) ** 2

    def gradient(self, f: Callable[[Namespace, Numbers], object], x: Numbers) -> Term:
        """Return the notation of the gradient of a formula in x."""
        value = _term(f(self, x)).within(_PRODUCT)
        return filled(r"\nabla_{{{0}}} {1}", x, value).of(_term(x).axes)


_SIGNS = {"at most": (r"\le", "<="), "below": ("<", "<"), "equal": ("=", "=")}


def written(relation: Relation) -> Term:
    """Return a comparison or combination of comparisons as text.

    Raises:
        ClaimError: the value is no relation.
    """
    if isinstance(relation, Comparison):
        latex, plain = _SIGNS[relation.kind]
        left, right = _term(relation.left), _term(relation.right)
        if _is_number(left) and not _is_number(right) and relation.kind != "equal":
            left, right = right, left
            latex, plain = (r"\ge", ">=") if relation.kind == "at most" else (">", ">")
        return Term(f"{left.latex} {latex} {right.latex}", f"{left.plain} {plain} {right.plain}")
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
    return Term(result.latex, result.plain, _SUM).within(_ATOM) if several else result


def letters(variables: Mapping[str, Any]) -> dict[str, Term]:
    """Return a letter for each variable; axes of `Defined` variables are not known."""
    return {
        name: letter(name, None if variable.stored is None else len(variable.axes))
        for name, variable in variables.items()
    }


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

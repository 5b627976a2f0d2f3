"""Text: the formula as a reader sees it, in LaTeX and in plain characters.

A value is a letter that stands for an array of any size; what the formula does with it is written
down. Functions marked with `definition` are written by their name and spelled out once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.misuse import misuse
from attsvm.theory.arithmetic.relations import All, AnyOf, Comparison, Relation

__all__ = ["Term", "Text", "letter", "written"]

_SUM, _PRODUCT, _ATOM = range(3)
_GREEK = ("alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "nu", "sigma", "tau", "theta")


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A piece of a formula: in LaTeX, in plain characters, and how tightly it binds."""

    latex: str
    plain: str
    binds: int = _ATOM

    def within(self, least: int) -> Term:
        """The piece, in brackets where it binds less tightly than asked for."""
        if self.binds >= least:
            return self
        return Term(rf"\left({self.latex}\right)", f"({self.plain})")

    def __add__(self, other: Any) -> Term:
        a, b = self, _term(other)
        return Term(f"{a.latex} + {b.latex}", f"{a.plain} + {b.plain}", _SUM)

    def __radd__(self, other: Any) -> Term:
        return _term(other) + self

    def __sub__(self, other: Any) -> Term:
        a, b = self, _term(other).within(_PRODUCT)
        return Term(f"{a.latex} - {b.latex}", f"{a.plain} - {b.plain}", _SUM)

    def __rsub__(self, other: Any) -> Term:
        return _term(other) - self

    def __mul__(self, other: Any) -> Term:
        a, b = self.within(_PRODUCT), _term(other).within(_PRODUCT)
        if a.plain == "1" or b.plain == "1":
            return b if a.plain == "1" else a
        if a.plain == b.plain:
            return a**2
        return Term(rf"{a.latex} \, {b.latex}", f"{a.plain} {b.plain}", _PRODUCT)

    def __rmul__(self, other: Any) -> Term:
        return _term(other) * self

    def __matmul__(self, other: Any) -> Term:
        a, b = self.within(_PRODUCT), _term(other).within(_PRODUCT)
        return Term(rf"{a.latex} \, {b.latex}", f"{a.plain} {b.plain}", _PRODUCT)

    def __rmatmul__(self, other: Any) -> Term:
        return _term(other) @ self

    def __truediv__(self, other: Any) -> Term:
        a, b = self, _term(other)
        above, below = a.within(_PRODUCT).plain, b.within(_ATOM).plain
        return Term(rf"\frac{{{a.latex}}}{{{b.latex}}}", f"{above}/{below}", _PRODUCT)

    def __rtruediv__(self, other: Any) -> Term:
        return _term(other) / self

    def __neg__(self) -> Term:
        inner = self.within(_PRODUCT)
        return Term(f"-{inner.latex}", f"-{inner.plain}", _SUM)

    def __pow__(self, k: Any) -> Term:
        base = self.within(_ATOM)
        return Term(f"{base.latex}^{{{k}}}", f"{base.plain}^{k}")

    def __getitem__(self, key: Any) -> Term:
        keys = key if isinstance(key, tuple) else (key,)
        place = ", ".join(_place(k) for k in keys)
        base = self.within(_ATOM)
        return Term(f"{base.latex}_{{{place}}}", f"{base.plain}[{place}]")

    @property
    def T(self) -> Term:
        """The transpose."""
        base = self.within(_ATOM)
        return Term(rf"{base.latex}^\top", f"{base.plain}^T")

    def _refuse(self, *_: Any) -> Any:
        raise misuse(
            "compares values, counts them or asks for the truth of one while it is written down",
            "Mark the function with `definition`, which writes it by its name.",
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __iter__ = __int__ = _refuse
    __float__ = _refuse


def _place(key: Any) -> str:
    """An index, or a range of them."""
    if not isinstance(key, slice):
        return str(key)
    return ":".join("" if end is None else str(end) for end in (key.start, key.stop))


def letter(name: str) -> Term:
    """A value by its name, such as A, x or beta."""
    base, _, index = name.partition("_")
    latex = f"\\{base}" if base in _GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    if len(base) == 2 and base[1].isdigit():
        latex = f"{base[0]}_{{{base[1]}}}"
    return Term(f"{latex}_{{{index}}}" if index else latex, name)


def _term(value: Any) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Term(str(value), str(value), _ATOM if value >= 0 else _SUM)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return _term(value.numerator)
        decimals = format(float(value), ".10g")
        if Fraction(decimals) == value and len(decimals) < 9:
            return Term(decimals, decimals)
        return _term(value.numerator) / value.denominator
    raise misuse(
        f"mixes a value of type {type(value).__name__} with text",
        "Write constants as integers, or as m.exact('0.95').",
    )


def _filled(latex: str, plain: str, terms: list[Term]) -> Term:
    return Term(latex.format(*(t.latex for t in terms)), plain.format(*(t.plain for t in terms)))


def _call(latex: str, plain: str) -> Callable[..., Term]:
    def write(self: Text, *arguments: Any) -> Term:
        terms = [_term(a) for a in arguments]
        return Term(
            latex.format(*(t.latex for t in terms)), plain.format(*(t.plain for t in terms))
        )

    return write


def _function(name: str) -> Callable[..., Term]:
    return _call(rf"\mathrm{{{{{name}}}}}\left({{0}}\right)", f"{name}({{0}})")


@dataclass(slots=True)
class Definition:
    """A name with what it stands for."""

    left: Term
    right: Any


@dataclass(slots=True)
class Text(Arithmetic):
    """Formulas as text; remembers the definitions that it has met, in their order."""

    name = "text"
    definitions: dict[str, Definition] = field(default_factory=dict)

    def _rational(self, value: Fraction) -> Term:
        return _term(value)

    def exact(self, value: Any) -> Term:
        """A constant, or a length, which stands here as a letter."""
        return value if isinstance(value, Term) else _term(Arithmetic.exact(self, value))

    exp = _call(r"\exp\left({0}\right)", "exp({0})")
    log = _call(r"\ln\left({0}\right)", "ln({0})")
    sqrt = _call(r"\sqrt{{{0}}}", "sqrt({0})")
    abs = _call(r"\left|{0}\right|", "|{0}|")
    is_zero = _call(r"\left[{0} = 0\right]", "[{0} = 0]")
    maximum = _call(r"\max\left({0}, {1}\right)", "max({0}, {1})")
    minimum = _call(r"\min\left({0}, {1}\right)", "min({0}, {1})")
    spectral = _call(r"\left\|{0}\right\|", "||{0}||")
    norm = _call(r"\left\|{0}\right\|_2", "||{0}||")
    frobenius = _call(r"\left\|{0}\right\|_F", "||{0}||_F")
    largest = _call(r"\left\|{0}\right\|_\infty", "||{0}||_inf")
    logistic = _call(r"g\left({0}\right)", "g({0})")
    logistic_slope = _call(r"g'\left({0}\right)", "g'({0})")
    logistic_curvature = _call(r"g''\left({0}\right)", "g''({0})")
    softplus = _call(r"\ln\left(1 + \exp\left({0}\right)\right)", "ln(1 + exp({0}))")
    softmax = _function("softmax")
    oscillation = _function("osc")
    diameter = _function("diam")
    spread = _function("spread")
    size = _call(r"\#{0}", "#{0}")
    sum = _call(r"\left\langle \mathbf{{1}}, {0}\right\rangle", "sum({0})")
    max = _call(r"\max\left({0}\right)", "max({0})")
    min = _call(r"\min\left({0}\right)", "min({0})")
    dot = _call(r"\left\langle {0}, {1}\right\rangle", "<{0}, {1}>")
    outer = _call(r"\left({0}\right)\left({1}\right)^\top", "({0}) ({1})^T")
    differences = _call(r"\left(({0})_i - ({0})_j\right)_{{ij}}", "(({0})_i - ({0})_j)_ij")
    diagonal = _function("diag")
    identity = _call(r"I_{{{0}}}", "I_{0}")
    vec = _function("vec")
    mat = _function("mat")
    kron = _call(r"\left({0}\right) \otimes \left({1}\right)", "({0} kron {1})")
    covariance = _call(
        r"\left(\mathrm{{diag}}({0}) - {0} \, {0}^\top\right) {1}", "(diag({0}) - {0} {0}^T) {1}"
    )

    def array(self, values: Any) -> Term:
        """A vector of numbers."""
        terms = [_term(v) for v in values]
        inner = ", ".join(t.latex for t in terms)
        return Term(rf"\left({inner}\right)", f"({', '.join(t.plain for t in terms)})")

    def sums(self, A: Any) -> Term:
        """The row sums of a matrix."""
        return _term(A) @ Term(r"\mathbf{1}", "1")

    def power(self, x: Any, k: int) -> Term:
        """A power."""
        return _term(x) ** k

    def square(self, x: Any) -> Term:
        """A square."""
        return _term(x) ** 2

    def gradient(self, f: Callable[..., Any], x: Any) -> Term:
        """The gradient of a formula in x."""
        value, at = _term(f(self, x)).within(_PRODUCT), _term(x)
        return Term(rf"\nabla_{{{at.latex}}} {value.latex}", f"grad_{at.plain} {value.plain}")


_SIGNS = {"at most": (r"\le", "<="), "below": ("<", "<"), "equal": ("=", "=")}


def written(relation: Relation) -> Term:
    """A comparison or combination of comparisons as text."""
    if isinstance(relation, Comparison):
        latex, plain = _SIGNS[relation.kind]
        left, right = _term(relation.left), _term(relation.right)
        return Term(f"{left.latex} {latex} {right.latex}", f"{left.plain} {plain} {right.plain}")
    if isinstance(relation, All | AnyOf):
        parts = [written(part) for part in relation.parts]
        word = "and" if isinstance(relation, All) else "or"
        return Term(
            rf" \text{{ {word} }} ".join(p.latex for p in parts),
            f" {word} ".join(p.plain for p in parts),
        )
    raise misuse(f"returned a {type(relation).__name__}", "Return m.at_most, m.below or m.equal.")


def letters(names: Mapping[str, Any]) -> dict[str, Term]:
    """A letter for each name."""
    return {name: letter(name) for name in names}

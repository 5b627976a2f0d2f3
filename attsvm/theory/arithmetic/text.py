"""Text: the notation of a formula, in LaTeX and in plain characters.

Functions marked with `definition` are written by their name, and spelled out once.
"""

import contextlib
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from attsvm._words import in_plain
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Number, Numbers
from attsvm.theory.arithmetic.namespace import Namespace, Relation, Unequal
from attsvm.theory.arithmetic.notation import (
    ATOM,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Definition,
    Rows,
    Term,
    as_term,
    call,
    filled,
    letter,
    named_call,
    power,
    written,
)

Index = Any
"""An index or an element of a sequence: here a term, in other arithmetics a number."""

_LOGISTIC = r"g\left(t\right)", filled(r"\frac{{1}}{{1 + \exp\left(-t\right)}}")


class Calls(Arithmetic[Term]):
    """The functions whose notation is a name or a bracket around their arguments."""

    definitions: dict[str, Definition]

    exp = call(r"\exp\left({0}\right)")
    log = call(r"\ln\left({0}\right)")
    sqrt = call(r"\sqrt{{{0}}}")
    abs = call(r"\left|{0}\right|")
    is_zero = call(r"\left[{0} = 0\right]")
    maximum = call(r"\max\left({0}, {1}\right)")
    minimum = call(r"\min\left({0}, {1}\right)")
    spectral = call(
        r"\left\|{0}\right\|_{{\mathrm{{op}}}}",
        (r"\left\|.\right\|_{{\mathrm{{op}}}}", "the largest singular value"),
        0,
    )
    norm = call(
        r"\left\|{0}\right\|",
        (r"\left\|.\right\|", "the root of the sum of the squares of all entries"),
        0,
    )
    largest = call(
        r"\left\|{0}\right\|_\infty",
        (r"\left\|.\right\|_\infty", "the largest absolute value of an entry"),
        0,
    )
    logistic = call(r"g\left({0}\right)", _LOGISTIC)
    logistic_slope = call(r"g'\left({0}\right)", _LOGISTIC)
    logistic_curvature = call(r"g''\left({0}\right)", _LOGISTIC)
    softplus = call(r"\ln\left(1 + \exp\left({0}\right)\right)")
    softmax = named_call("softmax")
    oscillation = named_call("osc", "the largest entry minus the smallest", 0)
    diameter = named_call("diam", "the largest distance of two rows", 0)
    spread = named_call("spread", "the largest distance of two rows, over the root of 2", 0)
    size = call(r"\#\left({0}\right)", axes=0)
    sum = named_call("sum", axes=0)
    sums = named_call("rowsums", "the sum of each row", 1)
    max = call(r"\max\left({0}\right)", axes=0)
    min = call(r"\min\left({0}\right)", axes=0)
    trace = named_call("tr", axes=0)
    dot = call(r"\left\langle {0}, {1}\right\rangle", axes=0)
    diagonal = named_call("diag", axes=2)
    identity = call(r"I_{{{0}}}", axes=2)
    vec = named_call("vec", "the entries of a matrix row by row", 1)

    gcd = call(r"\gcd\left({0}, {1}\right)")
    binomial = call(r"\mathrm{{binomial}}\left({0}, {1}\right)")
    relu, sign, tanh = named_call("relu"), named_call("sign"), named_call("tanh")
    xlogx = named_call("xlogx", "x ln(x), and 0 at 0")
    mean = named_call("mean", axes=0)
    product = named_call("prod", axes=0)
    logsumexp = named_call("logsumexp", axes=0)
    entropy = named_call("H", "the entropy -sum of x_i ln(x_i), with 0 ln(0) = 0", 0)
    kl = call(
        r"\mathrm{{KL}}\left({0}, {1}\right)",
        (r"\mathrm{{KL}}(p, q)", "the sum of p_i ln(p_i/q_i), with 0 ln(0) = 0"),
        0,
    )
    cross_entropy = call(
        r"\mathrm{{CE}}\left({0}, {1}\right)",
        (r"\mathrm{{CE}}(p, q)", "the cross-entropy -sum of p_i ln(q_i), with 0 ln(0) = 0"),
        0,
    )
    det = call(r"\det\left({0}\right)", axes=0)
    eigenvalues = named_call("eigenvalues", "the eigenvalues of (x + x^T)/2 in ascending order", 1)
    singular = named_call("singular", "the singular values in descending order", 1)
    symmetric_functions = named_call(
        "e", "the elementary symmetric functions of the eigenvalues", 1
    )
    norm_1 = call(
        r"\left\|{0}\right\|_1",
        (r"\left\|.\right\|_1", "the sum of absolute values, of a matrix the largest of a column"),
        0,
    )
    norm_inf = call(
        r"\left\|{0}\right\|_{{\mathrm{{row}}}}",
        (
            r"\left\|.\right\|_{{\mathrm{{row}}}}",
            "the operator norm for infinity norms, the largest sum of absolute values of a row",
        ),
        0,
    )

    def floor(self, x: Number) -> Term:
        """Return the notation of the largest integer below."""
        inner = as_term(x)
        latex = rf"\left\lfloor {inner.latex} \right\rfloor"
        return Term(latex, f"floor({inner.plain})", axes=inner.axes)

    def inverse(self, A: Numbers) -> Term:
        """Return the notation of the inverse."""
        return power(as_term(A), -1)

    def solve(self, A: Numbers, b: Numbers) -> Term:
        """Return the notation of the inverse times a vector or a matrix."""
        return (self.inverse(A) @ as_term(b)).of(as_term(b).axes)

    def matrix_power(self, A: Numbers, k: int) -> Term:
        """Return the notation of a power."""
        return power(as_term(A), k)

    def factorial(self, n: Number) -> Term:
        """Return the notation of a factorial."""
        base = as_term(n).within(ATOM)
        return Term(f"{base.latex}!", f"{base.plain}!", axes=0)

    def mod(self, a: Number, b: Number) -> Term:
        """Return the notation of a remainder."""
        left, right = (as_term(x).within(POWER) for x in (a, b))
        return Term(
            rf"{left.latex} \,\mathrm{{mod}}\, {right.latex}",
            f"{left.plain} mod {right.plain}",
            SUM,
        )


def _place(name: Term, index: str, axes: int | None) -> Term:
    """Return the notation of an entry of a sequence."""
    return Term(f"{name.latex}_{{{index}}}", f"{name.plain}[{index}]", axes=axes)


@dataclass(slots=True)
class Text(Calls):
    """Formulas as text, with the definitions that they used, in order.

    Attributes:
        letters: the letters of the formula, which no index and no sequence may have.
    """

    name = "text"
    numbers = Term
    definitions: dict[str, Definition] = field(default_factory=dict)
    depth: int = 0
    letters: Container[str] = ()

    def _rational(self, value: Fraction) -> Term:
        return as_term(value)

    def values(self, x: object) -> Any:
        """Return a field, which is a letter already."""
        return x

    def symbol(self, latex: str, says: str, *, rows: bool = False) -> Term:
        """Return the notation of a primitive, and note the sentence that defines it.

        With `rows`, the symbol is a matrix that has a row.
        """
        result = (Rows if rows else Term)(latex, in_plain(latex))
        self.definitions.setdefault(result.plain, Definition(result, says))
        return result

    def psd(self, A: Numbers) -> Relation:
        """Return the notation that the least eigenvalue is at least 0."""
        return self.at_least(self._least(A), 0)

    def pd(self, A: Numbers) -> Relation:
        """Return the notation that the least eigenvalue is positive."""
        return self.above(self._least(A), 0)

    def _least(self, A: Numbers) -> Term:
        name = r"\lambda_{{\min}}"
        left = filled(rf"{name}(.)")
        words = "the least eigenvalue of the symmetric part of a matrix"
        self.definitions.setdefault(left.plain, Definition(left, words))
        return filled(rf"{name}\left({{0}}\right)", A).of(0)

    def differ(self, left: Number, right: Number) -> Relation:
        """Return the relation, which is written as left != right."""
        return Unequal((self.below(left, right), self.below(right, left)))

    def indicator(self, relation: Relation) -> Term:
        """Return the relation in square brackets."""
        inner = written(relation)
        return Term(rf"\left[{inner.latex}\right]", f"[{inner.plain}]", axes=0)

    def count(self, condition: Callable[[Term], Relation], x: Numbers) -> Term:
        """Return the notation of the number of entries that meet a condition."""
        with self._index() as i:
            inner = written(condition(as_term(x)[i]))
        return Term(
            rf"\#\{{{i.latex} : {inner.latex}\}}", f"#{{{i.plain} : {inner.plain}}}", axes=0
        )

    def sum_over(self, first: object, last: object, term: Callable[[Index], Number]) -> Term:
        """Return the notation of a sum with an index."""
        return self._over("sum", first, last, term)

    def product_over(self, first: object, last: object, factor: Callable[[Index], Number]) -> Term:
        """Return the notation of a product with an index."""
        return self._over("prod", first, last, factor)

    def _over(
        self, name: str, first: object, last: object, term: Callable[[Index], Number]
    ) -> Term:
        with self._index() as k:
            inner, a, b = as_term(term(k)).within(QUOTIENT), as_term(first), as_term(last)
        latex = rf"\{name}_{{{k.latex}={a.latex}}}^{{{b.latex}}} {inner.latex}"
        plain = f"{name}({inner.plain} for {k.plain} = {a.plain}..{b.plain})"
        return Term(latex, plain, PRODUCT, axes=0)

    @contextlib.contextmanager
    def _index(self) -> Iterator[Term]:
        """Yield a letter for an index; within this context no other index gets it."""
        free = [name for name in "kijl" if name not in self.letters]
        name = free[self.depth] if self.depth < len(free) else f"k_{self.depth}"
        self.depth += 1
        try:
            yield letter(name, 0)
        finally:
            self.depth -= 1

    def iterate(self, step: Callable[[Index], Index], start: Index, steps: object) -> Index:
        """Return x_N, and record the definition of x_(k+1) by x_k."""
        first, count = as_term(start), as_term(steps)
        number = sum(name.endswith("+1]") for name in self.definitions)
        free = [name for name in "xyzstw" if name not in self.letters] or ["x"]
        with self._index() as k:
            named = first.plain.isalpha() and first.plain != k.plain
            name = first if named else letter(free[number % len(free)])
            now, after = (_place(name, at, first.axes) for at in (k.plain, f"{k.plain}+1"))
            by = as_term(step(now))
        left = Term(f"{name.latex}_0 = {first.latex}", f"{name.plain}[0] = {first.plain}")
        right = Term(rf"{by.latex} \text{{ and }} {left.latex}", f"{by.plain} and {left.plain}")
        self.definitions[after.plain] = Definition(after, right)
        return Term(
            f"{name.latex}_{{{count.latex}}}", f"{name.plain}[{count.plain}]", axes=first.axes
        )

    def mat(self, x: Numbers, rows: object = None) -> Term:
        """Return the notation of mat, the inverse of vec."""
        return filled(r"\mathrm{{mat}}\left({0}\right)", x).of(2)

    def outer(self, x: Numbers, y: Numbers) -> Term:
        """Return the notation of the matrix x y^T."""
        return (as_term(x) @ as_term(y).T).of(2)

    def kron(self, A: Numbers, B: Numbers) -> Term:
        """Return the notation of the Kronecker product."""
        a, b = as_term(A).within(POWER), as_term(B).within(POWER)
        return Term(rf"{a.latex} \otimes {b.latex}", f"{a.plain} kron {b.plain}", SUM, axes=a.axes)

    def differences(self, x: Numbers) -> Term:
        """Return the notation of the matrix of all differences x_i - x_j."""
        a = as_term(x).within(ATOM)
        return filled(r"\left({0}_i - {0}_j\right)_{{ij}}", a).of(2)

    def covariance(self, f: Numbers, h: Numbers) -> Term:
        """Return the notation of (diag(f) - f f^T) h."""
        return (as_term(self.diagonal(f) - self.outer(f, f)) @ as_term(h)).of(as_term(h).axes)

    def array(self, values: Iterable[Number]) -> Term:
        """Return the notation of a vector of numbers, or of rows."""
        terms = [self.array(v) if isinstance(v, list | tuple) else as_term(v) for v in values]
        inner = ", ".join(t.latex for t in terms)
        axes = 1 + max((t.axes or 0 for t in terms), default=0)
        plain = ", ".join(t.plain for t in terms)
        return Term(rf"\left({inner}\right)", f"({plain})", axes=axes)

    def power(self, x: Number, k: int) -> Term:
        """Return the notation of a power."""
        return as_term(x) ** k

    def square(self, x: Number) -> Term:
        """Return the notation of a square."""
        return as_term(x) ** 2

    def gradient(self, f: Callable[[Namespace, Numbers], object], x: Numbers) -> Term:
        """Return the notation of the gradient of a formula in x."""
        value = as_term(f(self, x)).within(PRODUCT)
        return filled(r"\nabla_{{{0}}} {1}", x, value).of(as_term(x).axes)

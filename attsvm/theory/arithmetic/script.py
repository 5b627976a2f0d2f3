"""Scripts: the evaluation of a formula on one instance, as Python that needs only numpy.

A value has an expression and numpy's value of the expression. Loops and shapes of a script
therefore are those of the instance. Long expressions get a name of their own.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from attsvm._types import Array
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Number, Numbers, misuse
from attsvm.theory.arithmetic.namespace import Namespace, Relation

SUM, PRODUCT, ATOM = range(3)
"""Precedence of an expression, from loose to tight."""

_LONG = 56
"""Maximum number of characters of an expression inside another; a longer one gets a name."""

DIGITS = 400
"""Number of digits of the decimals in a script for which floats have too few digits."""


def softmax(s):  # type: ignore[no-untyped-def]  # noqa: D103  # written into scripts as it is
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gradient(f, x, h=1e-6):  # type: ignore[no-untyped-def]  # noqa: D103  # the same
    steps = h * np.eye(len(x))
    return np.array([(f(x + step) - f(x - step)) / (2 * h) for step in steps])


def _text_of(function: Callable[..., object]) -> str:
    """Return the source of a helper, without comments for type checkers and linters."""
    return re.sub(r"  # (type|noqa).*", "", inspect.getsource(function)).rstrip()


class Expression:
    """A value, the text that computes it, and the precedence of the text."""

    __slots__ = ("binds", "m", "text", "value")

    def __init__(self, m: Any, text: str, value: Any, binds: int = ATOM) -> None:
        self.m, self.text, self.value, self.binds = m, text, value, binds

    def within(self, least: int) -> str:
        """Return the text, in brackets if its precedence is lower."""
        return self.text if self.binds >= least else f"({self.text})"


_E = TypeVar("_E", bound=Expression)


class Lines(Generic[_E]):
    """The lines and the helpers of a script, with a limit for the length of expressions."""

    numbers: Any

    def __init__(self, longest: float) -> None:
        self.longest = longest
        self.lines: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self._given_names: dict[int, Any] = {}

    def named(self, text: str, value: Any, binds: int = ATOM) -> _E:
        """Return a value, with a name of its own if its expression is long."""
        if len(text) > self.longest:
            known = (name for name, line in self.lines.items() if line == text)
            name = next(known, f"t{len(self.lines)}")
            self.lines[name] = text
            text, binds = name, ATOM
        made: _E = self.numbers(self, text, value, binds)
        return made


_SIGNS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "@": operator.matmul,
}


def _operators(sign: str) -> tuple[Callable[[Code, Number], Code], Callable[[Code, Number], Code]]:
    """Return the operator with the other operand on the right, and on the left."""
    return (
        lambda self, other: self._with(other, sign),
        lambda self, other: self._with(other, sign, swapped=True),
    )


class Code(Expression):
    """A number or an array of numpy."""

    __slots__ = ()
    m: Scripts

    __add__, __radd__ = _operators("+")
    __sub__, __rsub__ = _operators("-")
    __mul__, __rmul__ = _operators("*")
    __truediv__, __rtruediv__ = _operators("/")
    __matmul__, __rmatmul__ = _operators("@")

    def _with(self, other: object, sign: str, *, swapped: bool = False) -> Code:
        a, b = (self.m.code(other), self) if swapped else (self, self.m.code(other))
        if (a.text, sign) in (("0", "+"), ("1", "*")):
            return b
        if (b.text, sign) in (("0", "+"), ("0", "-"), ("1", "*"), ("1", "/")):
            return a
        binds = SUM if sign in "+-" else PRODUCT
        right = binds if sign == "+" else binds + 1
        tight = "*" if sign == "*" else f" {sign} "
        text = f"{a.within(binds)}{tight}{b.within(right)}"
        # inside the lambda of a gradient, no part is named outside of it: the part may contain z
        m = max(a.m, b.m, key=lambda one: one.longest)
        return m.named(text, _SIGNS[sign](a.value, b.value), binds)

    def __neg__(self) -> Code:
        return self.m.named(f"-{self.within(ATOM)}", -self.value, SUM)

    def __pow__(self, k: int) -> Code:
        if k == 0:  # decimals have no 0**0
            return self * 0 + 1
        return self.m.named(f"{self.within(ATOM)}**{k}", self.value**k, PRODUCT)

    def __getitem__(self, key: Any) -> Code:
        keys = key if isinstance(key, tuple) else (key,)
        text = f"{self.within(ATOM)}[{', '.join(map(_place, keys))}]"
        return Code(self.m, text, self.value[key])

    def __iter__(self) -> Iterator[Code]:
        return (self[k] for k in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    @property
    def T(self) -> Code:
        """The transpose."""
        return Code(self.m, f"{self.within(ATOM)}.T", self.value.T)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return np.ndim(self.value)

    @property
    def size(self) -> int:
        """The number of entries."""
        return np.size(self.value)

    def reshape(self, *shape: int) -> Code:
        """Return the entries in another shape."""
        text = f"{self.within(ATOM)}.reshape({', '.join(map(str, shape))})"
        return Code(self.m, text, self.value.reshape(*shape))

    def ravel(self) -> Code:
        """Return all entries, row by row."""
        return self.reshape(-1)

    def _refuse(self, *_: object) -> NoReturn:
        raise misuse("compares values while it is written down", "Return a comparison.")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __index__ = _refuse


def _place(key: object) -> str:
    if not isinstance(key, slice):
        return "None" if key is None else str(key)
    return ":".join("" if end is None else str(end) for end in (key.start, key.stop))


def _numpy(name: str, *words: object, **named: object) -> Callable[..., Code]:
    """Return a function of numpy by its name there, with options after its operands."""
    function = operator.attrgetter(name)(np)
    options = [*words, *(f"{key}={value}" for key, value in named.items())]
    more = "".join(f", {'np.inf' if option == np.inf else option}" for option in options)

    def written(m: _Functions, *operands: object) -> Code:
        if not more:
            return m._of(f"np.{name}", function, *operands)
        x = m.code(operands[0])
        return m.named(f"np.{name}({x.text}{more})", function(x.value, *words, **named))

    return written


class _Functions(Lines[Code], Arithmetic[Code]):
    """The functions of numbers and arrays in numpy."""

    def code(self, value: object) -> Code:
        """Return a value or a number as an expression.

        Raises:
            ClaimError: the value is neither.
        """
        if isinstance(value, Code):
            return value
        if isinstance(value, int):
            return self._rational(Fraction(value))
        if isinstance(value, np.ndarray | list | tuple):
            return self.array(value)
        if isinstance(value, float) or hasattr(value, "as_integer_ratio"):
            return self._literal(value)
        raise misuse(f"computes with a {type(value).__name__}", "Use the functions of m.")

    # functions of numpy

    exp, log, sqrt = _numpy("exp"), _numpy("log"), _numpy("sqrt")
    expm1, log1p = _numpy("expm1"), _numpy("log1p")
    maximum, minimum = _numpy("maximum"), _numpy("minimum")
    sum, trace, max, min = _numpy("sum"), _numpy("trace"), _numpy("max"), _numpy("min")
    oscillation, norm, diagonal = _numpy("ptp"), _numpy("linalg.norm"), _numpy("diag")
    outer, kron = _numpy("outer"), _numpy("kron")
    floor, sign, tanh, mean = _numpy("floor"), _numpy("sign"), _numpy("tanh"), _numpy("mean")
    product, det, inverse = _numpy("prod"), _numpy("linalg.det"), _numpy("linalg.inv")
    solve = _numpy("linalg.solve")
    spectral, norm_1 = _numpy("linalg.norm", 2), _numpy("linalg.norm", 1)
    norm_inf = _numpy("linalg.norm", np.inf)
    singular = _numpy("linalg.svd", compute_uv=False)

    # functions of numbers and of entries

    def abs(self, x: Number) -> Code:
        return self._of("abs", np.abs, x)

    def softplus(self, x: Number) -> Code:
        x = self.code(x)
        return self.named(f"np.logaddexp(0, {x.text})", np.logaddexp(0.0, x.value))

    def logistic_slope(self, x: Number) -> Numbers:
        return super().logistic_slope(self.abs(x))  # no exponential overflows

    def logistic_curvature(self, x: Number) -> Numbers:
        return -self.logistic_slope(x) * self.tanh(self.code(x)._with(2, "/"))

    def relu(self, x: Number) -> Code:
        return self.maximum(x, 0)

    def eigenvalues(self, A: Numbers) -> Code:
        return self._of("np.linalg.eigvalsh", np.linalg.eigvalsh, (A + A.T) / 2)

    def psd(self, A: Numbers) -> Relation:
        return self.at_least(self.eigenvalues(A)[0], self.exact(0))

    def pd(self, A: Numbers) -> Relation:
        return self.above(self.eigenvalues(A)[0], self.exact(0))

    def square(self, x: Number) -> Code:
        return self.code(x) ** 2

    def power(self, x: Number, k: int) -> Code:
        return self.code(x) ** k

    def is_zero(self, x: Number) -> Code:
        x = self.code(x)
        return self.named(f"1.0*({x.text} == 0)", 1.0 * (x.value == 0), PRODUCT)

    def _of(self, name: str, function: Callable[..., object], *operands: object) -> Code:
        codes = [self.code(x) for x in operands]
        text = f"{name}({', '.join(c.text for c in codes)})"
        return self.named(text, function(*(c.value for c in codes)))

    # arrays

    def array(self, values: Iterable[Number]) -> Code:
        parts = [self.code(value) for value in values]
        text = f"np.array([{', '.join(p.text for p in parts)}])"
        return self.named(text, np.array([p.value for p in parts]))

    def sums(self, A: Numbers) -> Code:
        A = self.code(A)
        return self.named(f"{A.within(ATOM)}.sum(1)", A.value.sum(1))

    def dot(self, x: Numbers, y: Numbers) -> Code:
        return self.code(x)._with(y, "@")

    def differences(self, x: Numbers) -> Code:
        return self._of("np.subtract.outer", np.subtract.outer, x, x)

    def identity(self, n: int) -> Code:
        return Code(self, f"np.eye({n})", np.eye(n))

    def vec(self, X: Numbers) -> Code:
        return self.code(X).reshape(-1)

    def mat(self, x: Numbers, rows: int) -> Code:
        return self.code(x).reshape(rows, -1)

    def diameter(self, A: Numbers) -> Code:
        A = self.code(A)
        text = f"np.linalg.norm({A.within(ATOM)}[:, None] - {A.within(ATOM)}, axis=2).max()"
        return self.named(text, np.linalg.norm(A.value[:, None] - A.value, axis=2).max())

    def softmax(self, s: Numbers) -> Code:
        self.helpers["softmax"] = _text_of(softmax)
        return self._of("softmax", softmax, s)


class Scripts(_Functions):
    """Expressions in numpy, with the lines and the helpers of one script."""

    name = "script"
    numbers = Code
    header: tuple[str, ...] = ("import numpy as np",)

    def __init__(self, literal: Callable[[float | Array], str], longest: float = _LONG) -> None:
        super().__init__(longest)
        self.literal = literal

    # values

    def input_value(self, name: str, value: Any) -> Code:
        """Return a value of the instance, by its name."""
        array = np.asarray(value, dtype=float)
        self.lines[name], numbers = self._read(array if array.ndim else float(array))
        made = Code(self, name, numbers)
        self._given_names[id(value)] = made
        return made

    def values(self, x: object) -> Code:
        """Return the numbers of a field of a record."""
        known: Code | None = self._given_names.get(id(x))
        if known is not None:
            return known
        if isinstance(x, np.ndarray | list | tuple):
            array = np.array(x, dtype=object)
            flat = np.array([float(number) for number in array.ravel()]).reshape(array.shape)
            return self.named(*self._read(flat))
        return self._literal(x)

    def _read(self, floats: Any) -> tuple[str, Any]:
        """Return the text for numbers of the instance, and its value."""
        return self.literal(floats), floats

    def printed(self, side: object) -> Code:
        """Return a side of a comparison in the form that the script prints."""
        return self.code(side)

    def _literal(self, number: Any) -> Code:
        value = float(number)
        text = self.literal(value)
        return Code(self, text, value, ATOM if re.fullmatch(r"[\w.]+", text) else SUM)

    def _rational(self, value: Fraction) -> Code:
        binds = ATOM if value.denominator == 1 and value >= 0 else SUM
        return Code(self, str(value), float(value), binds)

    def gradient(self, f: Callable[[Namespace, Code], object], x: Numbers) -> Code:
        """Return the gradient of a formula at a vector, by finite differences."""
        return _gradient(self, f, x)


def _gradient(m: Scripts, f: Callable[[Namespace, Code], object], x: Numbers) -> Code:
    """Return the gradient of a formula at a vector, by finite differences."""
    m.helpers["gradient"] = _text_of(gradient)
    x = m.code(x)
    inner = Scripts(m.literal, np.inf)
    inner._given_names, inner.helpers = m._given_names, m.helpers

    def at(z: Array) -> Code:
        return inner.code(f(inner, Code(inner, "z", z)))

    text = f"gradient(lambda z: {at(x.value).text}, {x.text})"
    slopes = gradient(lambda z: at(z).value, x.value)  # type: ignore[no-untyped-call]
    return m.named(text, slopes)


_decimals = np.frompyfunc(Decimal, 1, 1)


class Decimals(Scripts):
    """Expressions in decimals of many digits, in arrays of objects.

    Only integers of Python and arrays of objects are accepted, because floats are rounded and
    integers of numpy overflow.
    """

    header = (
        "from decimal import Decimal, getcontext",
        "import numpy as np",
        f"getcontext().prec = {DIGITS}  # decimals of {DIGITS} digits, where floats have too few",
    )

    def __init__(self, literal: Callable[[float | Array], str], longest: float = _LONG) -> None:
        super().__init__(literal, longest)
        self.helpers["decimals"] = "decimals = np.frompyfunc(Decimal, 1, 1)"

    def floor(self, x: Number) -> Code:
        text = 'floor = np.frompyfunc(lambda x: x.to_integral_value("ROUND_FLOOR"), 1, 1)'
        self.helpers["floor"] = text
        floor = np.frompyfunc(lambda x: x.to_integral_value("ROUND_FLOOR"), 1, 1)
        return self._of("floor", floor, x)

    def named(self, text: str, value: Any, binds: int = ATOM) -> Code:
        if not isinstance(value, int) and np.asarray(value).dtype != object:
            raise misuse(
                "computes with floats in a script of decimals", "Use the script in floats."
            )
        return super().named(text, value, binds)

    def _read(self, floats: Any) -> tuple[str, Any]:
        return f"decimals({self.literal(floats)})", _decimals(floats)  # exactly

    def _literal(self, number: Any) -> Code:
        return self._rational(Fraction(*number.as_integer_ratio()))

    def _rational(self, value: Fraction) -> Code:
        p, q = value.as_integer_ratio()
        if q == 1:
            return Code(self, str(p), p, ATOM if p >= 0 else SUM)
        return Code(self, f"Decimal({p})/{q}", Decimal(p) / q, SUM)

    def printed(self, side: object) -> Code:
        side = self.code(side)
        return Code(self, f"np.float64({side.text})", np.float64(side.value))

    def tanh(self, x: Number) -> Code:
        e = self.exp(-self.abs(x))  # this exponential does not overflow
        return self._of("np.sign", np.sign, x) * ((1 - e * e) / (1 + e * e))

    def _of(self, name: str, function: Callable[..., object], *operands: object) -> Code:
        return super()._of(name, function, *map(self._no_integer, operands))

    def _no_integer(self, x: object) -> Code:
        """Return the value; an integer becomes a decimal, because numpy would make it a float."""
        x = self.code(x)
        integer = isinstance(x.value, int)
        return Code(self, f"Decimal({x.text})", Decimal(x.value)) if integer else x

    def array(self, values: Iterable[Number]) -> Code:
        parts = [self.code(value) for value in values]
        text = f"decimals([{', '.join(p.text for p in parts)}])"
        return self.named(text, _decimals([p.value for p in parts]))

    def identity(self, n: int) -> Code:
        return Code(self, f"decimals(np.eye({n}))", _decimals(np.eye(n)))

    def spectral(self, A: Numbers) -> Code:
        A = self.code(A)
        if min(A.shape) > 1:
            raise misuse("takes a spectral norm in decimals", "Use the script in floats.")
        return self.norm(A)


# numpy cannot decompose matrices of decimals
for _name in "det inverse solve eigenvalues singular psd pd relu norm_1 norm_inf".split():  # noqa: SIM905
    setattr(Decimals, _name, getattr(Arithmetic, _name))

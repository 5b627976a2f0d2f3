"""Functions with a name of their own: definitions, and primitives without a closed form."""

import ast
import functools
import inspect
import linecache
import re
import string
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, TypeVar, cast

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm._words import in_plain
from attsvm.errors import ClaimError, NotExpressible
from attsvm.theory.arithmetic.bounds import Unbounded
from attsvm.theory.arithmetic.entries import Number
from attsvm.theory.arithmetic.lanes import Lane
from attsvm.theory.arithmetic.magnitudes import Magnitude, enclosed
from attsvm.theory.arithmetic.namespace import Comparison, Namespace
from attsvm.theory.arithmetic.notation import Definition, Term, as_term, filled, letter
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES, Trace, hashed

_F = TypeVar("_F", bound=Callable[..., object])


def definition(latex: str) -> Callable[[_F], _F]:
    r"""Return a decorator of a function of (m, ...) that gives it a notation.

    Text writes calls of the function in this notation, and spells it out once below the formula.

    Args:
        latex: such as ``\nabla L({x})``; fields are arguments by name.

    A function that is no single expression, such as a loop, is described by the first line of its
    docstring.

    Raises:
        ClaimError: a field is no argument, or a brace of LaTeX is not doubled.
    """

    def mark(function: _F) -> _F:
        signature = inspect.signature(function)
        _ensure_fields(latex, function.__name__, [k for k in signature.parameters if k != "m"])

        @functools.wraps(function)
        def named(m: Namespace, *args: object, **kwargs: object) -> object:
            if not isinstance(m, Text):
                return function(m, *args, **kwargs)
            bound = signature.bind(m, *args, **kwargs)
            bound.apply_defaults()
            inputs = {k: v for k, v in bound.arguments.items() if k != "m"}
            if function.__name__ not in m.definitions:
                own = {
                    k: letter(k, v.axes) if isinstance(v, Term) else v for k, v in inputs.items()
                }
                m.definitions[function.__name__] = Definition(fill(own), None)
                m.definitions[function.__name__].right = _spelled(function, m, own)
            return fill(inputs)

        def fill(values: dict[str, object]) -> Term:
            terms = {k: as_term(v) if isinstance(v, Term | int) else v for k, v in values.items()}
            return Term(
                latex.format(**{k: getattr(t, "latex", t) for k, t in terms.items()}),
                in_plain(latex.format(**{k: getattr(t, "plain", t) for k, t in terms.items()})),
            )

        return cast(_F, named)

    return mark


def _ensure_fields(latex: str, name: str, arguments: list[str]) -> None:
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(latex) if field is not None]
    except ValueError:  # a brace alone
        fields = [latex]
    wrong = [field for field in fields if field not in arguments]
    if wrong:
        raise ClaimError(
            f"the LaTeX of the definition {name} has braces around a text that is no argument",
            value=wrong[0],
            remedy=f"Its arguments are {', '.join(arguments) or 'none'}; braces of LaTeX itself "
            "are written twice, {{ and }}.",
        )


def in_short(function: object, otherwise: str) -> str:
    """Return the first line of a docstring without "Return", as a phrase to follow "is"."""
    line = (inspect.getdoc(function) or otherwise).partition("\n")[0].rstrip(".")
    words = re.sub("^Return (whether |that )?", "", line)
    return words[:1].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def body_of(function: object) -> str:
    """Return the expression of a lambda as Python writes it; "" if its source is not at hand."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or code.co_name != "<lambda>":
        return ""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return ""
    places = set(code.co_positions())
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            body = node.body
            if (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset) in places:
                return ast.unparse(body)
    return ""


def _spelled(function: Callable[..., Any], m: Text, values: dict[str, object]) -> Term | str:
    """Return the body of a definition as text, or its docstring if it is no single expression."""
    try:
        return function(m, **values)
    except (ClaimError, AttributeError):  # a loop over tokens or steps, or a loss by its name
        return in_short(function, "see its code")


class Primitive:
    r"""A function of numbers without a closed form, with one implementation for each arithmetic.

    Args:
        latex: its notation, such as ``K\left({0}\right)``.
        says: one sentence that defines it.
        of: the letters that the sentence uses for its arguments.
        balls: an enclosure, for rationals or balls.
        floats: the values for arrays of floats, entry by entry.
        largest: a formula over m of the arguments and of further numbers; the value is its maximum
            over further numbers in [0, 1]. Linked proofs read it.
        pieces: a function of m and the arguments that returns pairs: a condition, and the value
            under it. Linked proofs read them.
    """

    def __init__(
        self,
        latex: str,
        says: str,
        *,
        of: tuple[str, ...] = (),
        balls: Callable[..., arb | fmpq],
        floats: Callable[..., Array],
        largest: Callable[..., Number] | None = None,
        pieces: Callable[..., Iterable[tuple[Comparison, Number]]] | None = None,
    ) -> None:
        self.latex, self.plain, self.says, self.of = latex, in_plain(latex), says, of
        self.balls, self.floats = balls, floats
        self.largest, self.pieces = largest, pieces

    def __call__(self, m: Any, *numbers: Any) -> Any:
        """Return its value in the arithmetic m."""
        if m.name == "balls":
            return self.balls(*numbers)
        if m.name == "floats":
            return Lane(np.asarray(self.floats(*(n.value for n in numbers))))
        if m.name == "bounds":  # the error of an author's floats has no proved bound
            return Unbounded()
        if m.name == "magnitudes":
            return Magnitude(None)
        if m.name == "bit lengths":
            return enclosed(*numbers)
        if m.name == "tensors":
            results = self.floats(*(n.value.detach().numpy() for n in numbers))
            return Lane(m.library.as_tensor(np.asarray(results)))
        if m.name == "traces":
            return self._trace(numbers)
        if m.name == "text":
            left = filled(self.latex, *(map(letter, self.of) if self.of else numbers))
            m.definitions.setdefault(self.plain, Definition(left, self.says))
            return filled(self.latex, *numbers)
        if m.name == "letters":
            return m.primitive(self, *numbers)
        if m.name == "coq":
            raise NotExpressible(f"the primitive {self.plain}")
        import sympy as sp

        return sp.Function(self.plain.partition("(")[0])(*numbers)

    def _trace(self, numbers: tuple[Trace, ...]) -> Trace:
        ball = self.balls(*(n.ball for n in numbers))
        if isinstance(ball, fmpq):
            return TRACES.of(ball)
        if isinstance(ball, arb) and ball.is_zero():
            return TRACES.of(fmpq(0))
        residue = hashed(self.plain, *(n.residue for n in numbers))
        return Trace(ball, residue, steep=any(n.steep for n in numbers))

"""Functions with a name of their own: definitions, and primitives without a closed form."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.theory.arithmetic.lanes import Lane
from attsvm.theory.arithmetic.text import Definition, Term, Text, _filled, _term, letter
from attsvm.theory.arithmetic.traces import TRACES, Trace, _hashed

__all__ = ["Primitive", "definition"]


def definition(latex: str, plain: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    r"""Write a function of (m, ...) by its name, and spell it out once below the formula.

    Args:
        latex: such as ``\nabla L({x})``; fields are arguments by name.
        plain: the same in plain characters, such as ``grad L({x})``.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def named(m: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(m, Text):
                return function(m, *args, **kwargs)
            bound = signature.bind(m, *args, **kwargs)
            bound.apply_defaults()
            given = {k: v for k, v in bound.arguments.items() if k != "m"}
            if function.__name__ not in m.definitions:
                own = {k: letter(k) if isinstance(v, Term) else v for k, v in given.items()}
                m.definitions[function.__name__] = Definition(fill(own), None)
                m.definitions[function.__name__].right = function(m, **own)
            return fill(given)

        def fill(values: dict[str, Any]) -> Term:
            terms = {k: _term(v) if isinstance(v, Term | int) else v for k, v in values.items()}
            return Term(
                latex.format(**{k: getattr(t, "latex", t) for k, t in terms.items()}),
                plain.format(**{k: getattr(t, "plain", t) for k, t in terms.items()}),
            )

        return named

    return mark


class Primitive:
    r"""A function of numbers without a closed form, with one implementation an arithmetic.

    Args:
        latex: how it is written, such as ``K\left({0}\right)``.
        plain: the same in plain characters.
        says: one sentence that defines it.
        balls: of rationals or balls, an enclosure.
        floats: of arrays of floats, entry by entry.
        tensors: of tensors; where None, its value without a gradient.
    """

    def __init__(
        self,
        latex: str,
        plain: str,
        says: str,
        *,
        balls: Callable[..., Any],
        floats: Callable[..., Any],
        tensors: Callable[..., Any] | None = None,
    ) -> None:
        self.latex, self.plain, self.says = latex, plain, says
        self.balls, self.floats, self.tensors = balls, floats, tensors

    def __call__(self, m: Any, *numbers: Any) -> Any:
        """Its value in the arithmetic m."""
        if m.name == "balls":
            return self.balls(*numbers)
        if m.name == "floats":
            return Lane(np.asarray(self.floats(*(n.value for n in numbers))))
        if m.name == "tensors":
            values = [n.value for n in numbers]
            if self.tensors is not None:
                return Lane(self.tensors(*values))
            found = self.floats(*(v.detach().numpy() for v in values))
            return Lane(m.torch.as_tensor(np.asarray(found)))
        if m.name == "traces":
            return self._trace(numbers)
        if m.name == "text":
            terms = [_term(n) for n in numbers]
            left = _filled(self.latex, self.plain, terms)
            m.definitions.setdefault(self.plain, Definition(left, self.says))
            return left
        import sympy as sp

        return sp.Function(self.plain.partition("(")[0])(*numbers)

    def _trace(self, numbers: tuple[Any, ...]) -> Trace:
        ball = self.balls(*(n.ball for n in numbers))
        if isinstance(ball, fmpq):
            return TRACES.of(ball)
        if isinstance(ball, arb) and ball.is_zero():
            return TRACES.of(fmpq(0))
        return Trace(ball, _hashed(self.plain, *(n.residue for n in numbers)))

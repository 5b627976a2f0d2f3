"""An instance in LaTeX, with the claim that it refutes, to paste into a paper."""

import math
from collections.abc import Iterator
from decimal import MAX_EMAX, ROUND_CEILING, ROUND_FLOOR, Context, InvalidOperation
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from attsvm._types import Case
from attsvm.theory.arithmetic.notation import escaped
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance.in_python import LONG, rounded
from attsvm.theory.instance.in_words import ODD_BITS, leaves, scaled, short

_DIGITS = 8
"""Significant digits of an enclosure, which is rounded outwards."""

_ROUNDING = Context(prec=17, rounding=ROUND_FLOOR, Emax=MAX_EMAX)
"""Context for integers with too many digits: they are rounded down to 17 digits."""

_COLUMNS = 10
"""Maximum number of columns of amsmath's matrices."""

_NAMED = {"scores": r"\gamma", "alpha": r"\alpha", "eta": r"\eta", "lam": r"\lambda"}
_BY_ROWS = {"Z": "z", "scores": r"\gamma"}
"""Names of matrices that are shown row by row, one row for each input, with the row's letter."""


def latex(
    claim: Claim, part: str, case: Case, *, kind: str, enclosure: tuple[str, str] | None, known: str
) -> str:
    """Return an instance as mathematics with the claim that it refutes; it needs amsmath.

    Args:
        claim: the claim.
        part: the sibling that the instance refutes instead, or "".
        case: the instance.
        kind: the kind of the slack, such as strict.
        enclosure: bounds of the slack in decimals, None if it has none.
        known: the evidence and the method.
    """
    parts = list(leaves(case))
    last = [path[-1] for path, _ in parts]
    shown: list[str] = []
    for path, value in parts:
        name = path[-1]
        over = "" if len(path) < 2 or last.count(name) == 1 else f"^{{({_symbol(path[-2])})}}"
        shown.append(", \\quad ".join(_equations(name, over, value)))
    inexact = any(r"\approx" in line for line in shown)
    sibling = f", sibling ``{escaped(part)}''" if part else ""
    needed = "above 0" if kind == "strict" else "at least 0"
    bounds = "is not enclosed"
    if enclosure is not None:
        low = _decimal(enclosure[0], ROUND_FLOOR)
        high = _decimal(enclosure[1], ROUND_CEILING)
        bounds = f"lies in $[{low}, {high}]$"
    return "\n".join(
        [
            r"% needs \usepackage{amsmath}",
            rf"\noindent\textbf{{Counterexample}} to \texttt{{{escaped(claim.id)}}}{sibling} "
            rf"(\emph{{{escaped(claim.source)}}}, {escaped(claim.place)}): "
            rf"``{escaped(claim.statement)}''.",
            r"\begin{gather*}",
            " \\\\\n".join(shown),
            r"\end{gather*}",
            *(["Entries after $\\approx$ are rounded; the file holds them exactly."] * inexact),
            f"Its slack, {needed} where the conclusion holds, {bounds} ({escaped(known)}).",
            "",
        ]
    )


def _symbol(name: str) -> str:
    """Return a field's name in mathematics; a number after a space becomes an index."""
    word, _, index = name.partition(" ")
    letter = len(word) == 1 and word.isascii()
    shown = _NAMED.get(word) or (word if letter else rf"\mathrm{{{escaped(word)}}}")
    return f"{shown}_{{{index}}}" if index else shown


def _equations(name: str, over: str, value: Case) -> Iterator[str]:
    if isinstance(value, np.ndarray):
        if value.size == 0:
            size = r" \times ".join(map(str, value.shape))
            yield rf"{_symbol(name)}{over} \in \mathbb{{R}}^{{{size}}}"
            return
        rows = value.ndim == 2 and name in _BY_ROWS
        leading = value.shape[:1] if rows else value.shape[:-2]
        symbol = _BY_ROWS[name] if rows else _symbol(name)
        for index in product(*(range(size) for size in leading)):
            under = ",".join(str(k + 1) for k in index)
            yield _equal(symbol + over + (f"_{{{under}}}" if under else ""), value[index])
    elif isinstance(value, str | bool):
        word = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        yield rf"{_symbol(name)}{over} = \text{{{escaped(str(word))}}}"
    else:
        yield _equal(_symbol(name) + over, value)


def _equal(symbol: str, value: Any) -> str:
    """Return an equation of a number, a vector or a matrix."""
    if np.ndim(value) == 0:
        text = _number(value)
    elif np.ndim(value) == 1:
        text = "(" + ", ".join(map(_number, value.tolist())) + ")"
    else:
        rows = r" \\ ".join(" & ".join(map(_number, row)) for row in value.tolist())
        text = rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
        if value.shape[1] > _COLUMNS:
            columns = "r" * value.shape[1]
            text = rf"\left(\begin{{array}}{{{columns}}} {rows} \end{{array}}\right)"
    every = value.ravel().tolist() if isinstance(value, np.ndarray) else [value]
    exact = all(map(_exact, every))
    return f"{symbol} {'=' if exact else chr(92) + 'approx'} {text}"


def _number(value: Any) -> str:
    if isinstance(value, float) and not short(value):
        if _exact(value):
            odd, power = scaled(value)
            factor = {1: "", -1: "-"}.get(odd, rf"{odd} \cdot ")
            return f"{factor}2^{{{power}}}"
        return _decimal(repr(value), ROUND_FLOOR, 17)
    if isinstance(value, float) and not math.isfinite(value):
        return _decimal(repr(value), ROUND_FLOOR)
    exact = Fraction(value if isinstance(value, Fraction | float) else int(value))
    sign = "-" if exact < 0 else ""
    above, below = _integer(abs(exact.numerator)), _integer(exact.denominator)
    return sign + (above if below == "1" else rf"\frac{{{above}}}{{{below}}}")


def _integer(value: int) -> str:
    """Return a natural number, rounded if it has more digits than Python writes."""
    if value < LONG:
        return str(value)
    near = _ROUNDING.create_decimal(value).normalize(_ROUNDING)
    mantissa, _, exponent = f"{near:e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _decimal(text: str, rounding: str, digits: int = _DIGITS) -> str:
    """Return a number in LaTeX as a decimal with `digits` digits."""
    try:
        value = rounded(text, rounding, digits)
    except InvalidOperation:
        return rf"\text{{{escaped(text)}}}"
    if not value.is_finite():
        return r"\text{NaN}" if value.is_nan() else ("-" if value < 0 else "") + r"\infty"
    if -6 < value.adjusted() < 16:
        return f"{value:f}"
    mantissa, _, exponent = f"{value:e}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _exact(value: float | Fraction) -> bool:
    """Return whether LaTeX writes a value exactly."""
    if isinstance(value, float):
        return short(value) or scaled(value)[0].bit_length() <= ODD_BITS
    exact = Fraction(value)
    return max(abs(exact.numerator), exact.denominator) < LONG

"""Texts for people: counts with nouns, near matches, escaped text, numbers, durations, formulas."""

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 claim`, `2 claims`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def nearest(word: str, known: Iterable[str], most: int = 3, *, least: float = 0.3) -> str:
    """Return `Nearest: a, b.` with the known words closest to `word`; empty if none is close.

    Case is ignored.

    Args:
        word: the word that is not known.
        known: the known words.
        most: maximum number of words to name.
        least: smallest similarity, from 0 to 1, of a word that is named.
    """
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.casefold(), each)
    near = difflib.get_close_matches(word.casefold(), folded, n=most, cutoff=least)
    return f"Nearest: {', '.join(folded[each] for each in near)}." if near else ""


def printable(text: str) -> str:
    """Return the text in one line with control characters as escapes.

    These include line ends, control sequences of terminals, and marks that reverse the direction of
    writing.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text
    )


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def rising(value: float) -> str:
    """Return a number as text such as `3.1e-16`: two digits, rounded up so that a bound holds."""
    if not math.isfinite(value):
        return str(value)
    digits = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(value)
    return f"{float(digits):.1e}"


def duration(seconds: float) -> str:
    """Return a time as text: in seconds below 90 s, in minutes from there on."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


_GROUPS = (
    (r"_\\infty", "_inf"),
    (r"\\(?:text|mathrm)\{([^{}]*)\}", r"\1"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"(?<=[_^])\{(-?[\w\\,*]*)\}", r"\1"),
    (r"(?<=[_^])\{([^{}]*)\}", r"(\1)"),
)
_FRACTION = r"\\frac\{([^{}]*)\}\{([^{}]*)\}"
_INNER = r"\([^()]*\)|\[[^\[\]]*\]|\\\|.*?\\\||\\ln "
_SIGNS = {
    "le": "<=", "ge": ">=", "ne": "!=", "to": "->", "infty": "infinity", "top": "T",
    "nabla": "grad", "cdot": "*", "otimes": "kron", "circ": "o", "left": "", "right": "", "|": "||",
    ",": " ", ";": " ",
}  # fmt: skip


def in_plain(latex: str) -> str:
    """Return a formula in this package's LaTeX in plain characters."""
    line = latex.replace(r"\{", "\\\0").replace(r"\}", "\\\1")  # printed braces group nothing
    line, before = line.replace(r"\langle ", "<").replace(r" \rangle", ">"), ""
    line = line.replace(r"\left\lfloor ", "floor(").replace(r" \right\rfloor", ")")
    while line != before:  # the innermost groups first
        before = line
        for pattern, kept in _GROUPS:
            line = re.sub(pattern, kept, line)
        line = re.sub(_FRACTION, _quotient, line)
    line = line.replace(r"\langle", "<").replace(r"\rangle", ">")
    line = re.sub(r"\\([A-Za-z]+|.)", lambda match: _SIGNS.get(match[1], match[1]), line)
    return " ".join(line.replace("^*", "*").replace("\0", "{").replace("\1", "}").split())


def _quotient(match: re.Match[str]) -> str:
    """Return a fraction in one line, with brackets if it would be ambiguous."""
    above, below = match.groups()
    above = f"({above})" if re.search(" [+-] ", re.sub(_INNER, "", above)) else above
    return f"{above}/({below})" if " " in re.sub(_INNER, "", below) else f"{above}/{below}"


KEPT = "\0"
"""The character that replaces a space at which no line may end."""

_TOGETHER = re.compile(r"`[^`]+`|\|\|[^|]{1,16}\|\||<[^<>]{1,16}, [^<>]{1,16}>|R\^\{[^{}]{1,24}\}")
"""Quoted commands, and short norms, inner products and spaces of arrays."""


def kept(text: str) -> str:
    """Return a text with `KEPT` for spaces within quoted commands and short pieces of formulas."""
    return _TOGETHER.sub(lambda piece: piece[0].replace(" ", KEPT), text)

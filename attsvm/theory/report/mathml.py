"""Formulas for a browser: MathML from LaTeX, which needs neither a script nor the network.

The LaTeX is that of `attsvm.theory.arithmetic.notation`, or that which
`attsvm.theory.report.notation` reads in a sentence. It has letters, numbers, fences, fractions,
roots, indices, powers and text. Anything else is rejected, such as a formula in an edited file.
Browsers do not break lines within MathML. A formula is therefore cut before each relation, summand
and factor, to fit on a phone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from attsvm.errors import AttsvmError
from attsvm.theory.report.notation import pieces
from attsvm.theory.report.rendering import LETTERS, sentence, text

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_LETTERS = {
    **LETTERS, "varphi": "φ", "ell": "ℓ", "infty": "∞", "top": "⊤",
}  # fmt: skip
_NAMES = {
    "cos", "det", "dim", "exp", "gcd", "inf", "lim", "ln", "log", "max", "min", "sin", "sup",
}  # fmt: skip
_SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "cdot": "·", "otimes": "⊗", "circ": "∘",
    "nabla": "∇", "|": "‖", "#": "#", "_": "_", "langle": "⟨", "rangle": "⟩", "{": "{", "}": "}",
    "lfloor": "⌊", "rfloor": "⌋",
    "in": "∈", "to": "→", "sum": "∑", "prod": "∏", "times": "×", "ast": "*", "dots": "…",
    "lt": "<", "gt": ">", "vert": "|", "Vert": "‖", "lbrace": "{", "rbrace": "}",
}  # fmt: skip
_BARS = {"|", r"\|", r"\vert", r"\Vert"}
_RELATIONS = {
    "=", "<", ">", r"\lt", r"\gt", r"\le", r"\ge", r"\ne", r"\in", r"\to", r"\,", r"\thinspace",
}  # fmt: skip
"""Tokens before which a line may end, as it may before + and - between operands."""

_SPACES = {
    ",": "0.17em", ";": "0.28em", ":": "0.22em", "quad": "1em", "thinspace": "0.17em",
    "enspace": "0.5em",
}  # fmt: skip
_ESCAPES: Mapping[str, str] = {
    r"\textbackslash": "\\", r"\textasciicircum": "^", r"\textasciitilde": "~",
    r"\textless": "<", r"\textgreater": ">", r"\textbar": "|",
}  # fmt: skip
_DOUBLE = {"R": "ℝ"}
_OPEN, _CLOSE = "([", ")]"
_FENCES = {*"()[]|.", r"\|", r"\langle", r"\rangle", r"\lfloor", r"\rfloor", r"\{", r"\}"}


class UnreadableError(AttsvmError):
    """LaTeX that the formula language does not write."""


def mathml(latex: str, *, block: bool = True) -> Markup:
    """Return a formula as pieces of MathML with words between; a block has a line of its own.

    Raises:
        UnreadableError: the formula language does not write that text.
    """
    reader = _Reader(_TOKEN.findall(latex))
    pieces: list[Markup] = []
    piece: list[Markup] = []
    operand, depth, norms = False, 0, 0
    while token := reader.ahead():
        if token == r"\text":
            reader.take()
            pieces += [_piece(piece, block), _tag("span", sentence(_words(reader)))]
            piece, operand = [], False
            continue
        # a line may end only outside brackets and norms; bars come in pairs, so an odd number of
        # them means that one is open
        depth += (token in _OPEN) - (token in _CLOSE)
        norms += token in _BARS
        outside = depth == 0 and norms % 2 == 0
        cut = outside and operand and token in ("+", "-")
        if cut or (outside and token in _RELATIONS):
            pieces.append(_piece(piece, block))
            piece = []
        part = reader.scripted()
        if token in ("+", "-"):
            form = "infix" if cut else None if operand else "prefix"
            part = _tag("mo", "−" if token == "-" else "+", form=form)
        piece.append(part)
        operand = token not in _RELATIONS
    shown = filter(None, [*pieces, _piece(piece, block)])
    return Markup('<{0} class="formula">{1}</{0}>').format(
        "div" if block else "span", Markup().join(shown)
    )


def _piece(parts: list[Markup], block: bool) -> Markup:
    return _tag("math", *parts, displaystyle="true" if block else None) if parts else Markup()


def _tag(name: str, *children: object, **attributes: str | None) -> Markup:
    """Return an element of MathML with these children; an attribute that is None is left out."""
    values = (f' {key}="{escape(value)}"' for key, value in attributes.items() if value is not None)
    inner = "".join(escape(text(child)) for child in children)
    return Markup(f"<{name}{''.join(values)}>{inner}</{name}>")


@dataclass(slots=True)
class _Reader:
    tokens: list[str]
    at: int = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            raise UnreadableError(f"a formula has {token or 'its end'!r} in a wrong place")
        self.at += 1
        return token

    def spaces(self) -> None:
        while self.peek().isspace():
            self.at += 1

    def ahead(self) -> str:
        """Return the next token, without spaces before it."""
        self.spaces()
        return self.peek()

    def row(self, ends: tuple[str, ...]) -> Markup:
        """Return the pieces up to one of the tokens `ends`, or to the end of the formula.

        Raises:
            UnreadableError: none of these tokens follows.
        """
        parts: list[Markup] = []
        self.spaces()
        while self.peek() and self.peek() not in ends:
            parts.append(self.scripted())
            self.spaces()
        if ends and not self.peek():
            raise UnreadableError("a formula ends within brackets")
        return parts[0] if len(parts) == 1 else _tag("mrow", *parts)

    def scripted(self) -> Markup:
        """Return a piece with its indices and powers.

        Raises:
            UnreadableError: the piece has two powers.
        """
        word = self.peek() == r"\mathrm"
        base = self.piece()
        below = above = None
        primes = ""
        while self.peek() in ("_", "^", "'"):
            mark = self.take()
            if mark == "'":
                primes += "′"
            elif mark == "_" and above is None:  # an entry of an indexed letter has two indices
                base = base if below is None else _tag("msub", base, below)
                below = self.argument()
            elif mark == "^" and above is None:
                above = self.argument()
            else:
                raise UnreadableError("a formula has two powers on one piece")
        if primes:
            prime = _tag("mo", primes.replace("′′", "″"), lspace="0", rspace="0")
            above = prime if above is None else _tag("mrow", prime, above)
        if below is not None and above is not None:
            return _tag("msubsup", base, below, above)
        if below is not None:
            return _tag("msub", base, below)
        if above is not None:
            return _tag("msup", base, above)
        apart = word and self.ahead().isalpha()  # rank W, not rankW
        return base + _tag("mspace", width="0.17em") if apart else base

    def argument(self) -> Markup:
        """Return the argument of a command or an index: a group in braces, or one piece."""
        self.spaces()
        if self.peek() != "{":
            return self.piece()
        self.take("{")
        inner = self.row(("}",))
        self.take("}")
        return inner

    def piece(self) -> Markup:
        """Return a letter, a number, a sign, or a command with its arguments.

        Raises:
            UnreadableError: the token begins nothing of this kind.
        """
        token = self.take()
        if token.startswith("\\") and len(token) > 1:
            return self.command(token[1:])
        if token == "{":
            inner = self.row(("}",))
            self.take("}")
            return inner
        if token[0].isdigit():
            return _tag("mn", token)
        if token.isalpha():
            return _tag("mi", token)
        if token in _OPEN + _CLOSE + "|":
            return _tag("mo", token, stretchy="false")
        if token == "-":
            return _tag("mo", "−")
        if token in "}_^'\\&":
            raise UnreadableError(f"a formula has {token!r} in a wrong place")
        return _tag("mo", token)

    def command(self, name: str) -> Markup:
        if name == "left":
            return self.fenced()
        if name == "frac":
            return _tag("mfrac", self.argument(), self.argument())
        if name == "sqrt":
            return _tag("msqrt", self.argument())
        if name == "hat":
            return _tag("mover", self.argument(), _tag("mo", "^", stretchy="false"), accent="true")
        if name == "mathbb":
            self.take("{")
            letter = _DOUBLE.get(self.take())
            self.take("}")
            if letter is None:
                raise UnreadableError("a formula has an unknown letter in double strokes")
            return _tag("mi", letter)
        if name in ("text", "mathrm"):
            tag = "mtext" if name == "text" else "mi"
            return _tag(tag, _kept(_words(self)), mathvariant=None if tag == "mtext" else "normal")
        if name in _LETTERS:
            return _tag("mi", _LETTERS[name])
        if name in _NAMES:
            return _tag("mi", name)
        if name in _SIGNS:
            return _tag("mo", _SIGNS[name], stretchy="false" if f"\\{name}" in _BARS else None)
        if name in _SPACES:
            return _tag("mspace", width=_SPACES[name])
        raise UnreadableError(f"a formula has the unknown command {name!r}")

    def fenced(self) -> Markup:
        r"""Return the pieces between \left and \right, with fences of their height."""
        left = self.fence()
        inner = self.row((r"\right",))
        self.take(r"\right")
        right = self.fence()
        return _tag("mrow", left, inner, right)

    def fence(self) -> Markup:
        self.spaces()
        token = self.take()
        if token not in _FENCES:
            raise UnreadableError(f"a formula has the fence {token!r}")
        return _tag("mo", _SIGNS.get(token[1:], token), stretchy="true", fence="true")


def _words(reader: _Reader) -> str:
    """Return the letters of a text, up to the brace that closes it.

    Raises:
        UnreadableError: the text has an unknown command.
    """
    reader.take("{")
    message, depth = "", 0
    while (token := reader.take()) != "}" or depth:
        depth += (token == "{") - (token == "}")
        if token in _ESCAPES:
            message += _ESCAPES[token]
        elif token.startswith("\\") and len(token) == 2 and not token[1].isalpha():
            message += token[1]
        elif token.startswith("\\"):
            raise UnreadableError(f"a text has the unknown command {token!r}")
        elif token not in "{}":
            message += token
    return message.replace("''", '"')


def _kept(words: str) -> str:
    """Return words with non-breaking spaces at both ends, because browsers drop plain ones."""
    left, right = len(words) - len(words.lstrip(" ")), len(words) - len(words.rstrip(" "))
    return "\u00a0" * left + words.strip(" ") + "\u00a0" * right if words.strip(" ") else words


def formula(line: Mapping[str, str], *, block: bool = True) -> Markup:
    """Return a line of mathematics, in MathML if it can be read, else in plain characters."""
    try:
        return mathml(line["latex"], block=block)
    except (KeyError, AttsvmError, RecursionError):
        return _tag("code", line.get("plain", ""))


def typeset_sentence(value: object) -> Markup:
    """Return a sentence in HTML: its formulas in MathML, its words as they are.

    Markup stays as it is.
    """
    if isinstance(value, Markup):
        return value
    return Markup().join(
        _typeset(part) if latex else sentence(part) for latex, part in pieces(text(value))
    )


def _typeset(latex: str) -> Markup:
    """Return a formula of a sentence in MathML; one that cannot be read stays LaTeX."""
    try:
        return mathml(latex, block=False)
    except UnreadableError:
        return _tag("code", latex)

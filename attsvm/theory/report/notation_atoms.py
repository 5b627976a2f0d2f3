"""Letters, functions, norms and brackets of plain notation, with their indices, in LaTeX.

The LaTeX has no character with a meaning in Markdown but braces, `_` and `^`: bars, angles and
spaces are commands. So it can stand between dollars, also in a table.
"""

import abc
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attsvm.theory.report.rendering import LETTERS

_SYMBOLS = {**{name: f"\\{name}" for name in (*LETTERS, "ell")}, "infinity": r"\infty"}
_OPERATORS = (
    "exp", "ln", "log", "cos", "sin", "min", "max", "inf", "sup", "det", "dim", "lim", "sum",
    "sqrt",
)  # fmt: skip
_NAMES = (
    "softmax", "diag", "conv", "cone", "dist", "rank", "span", "tr", "vec", "mat", "osc", "spread",
    "diam", "rowsums", "Att", "Hess", "relu", "sign", "argmin", "argmax",
)  # fmt: skip
_FUNCTIONS = {
    **{name: f"\\{name}" for name in _OPERATORS},
    **{name: rf"\mathrm{{{name}}}" for name in _NAMES},
    "grad": r"\nabla",
}
"""LaTeX of functions, whose argument needs no brackets."""

_INDEX = re.compile(r"[A-Za-z][ijklnrstuv\d]?$|\d+$|[ijkst]{3}$")
"""Subscripts in italics; all other words in a subscript are upright."""

_NO_VALUE = {"and", "or", "in", "is", "are", "of", "for", "with", "to", "if", "that", "the"}
"""Words that cannot begin a value within brackets."""

_DEEPEST = 10
"""Maximum nesting depth of brackets and bars; deeper text stays words."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a sentence: its kind, and its characters."""

    kind: str
    text: str


class UnreadError(Exception):
    """The tokens are no formula."""


def is_word(text: str) -> bool:
    """Return whether a text is a word of English: no letter and no function."""
    letters = text[1:].replace("-", "").isalpha()
    return letters and text not in (*_SYMBOLS, *_FUNCTIONS)


@dataclass(slots=True)
class Cursor(abc.ABC):
    """A place in the tokens of a sentence. A method that can read nothing raises `UnreadError`.

    Attributes:
        tokens: the tokens of the sentence.
        at: the place of the next token.
        depth: the number of open brackets and bars.
        bar: the innermost open bar, which the same bar closes; "" within brackets.
    """

    tokens: Sequence[Token]
    at: int
    depth: int = 0
    bar: str = ""

    def ahead(self, k: int = 0) -> Token:
        """Return a token by its distance from the next one."""
        place = self.at + k
        return self.tokens[place] if place < len(self.tokens) else Token("end", "")

    def spaces(self) -> bool:
        """Take a space if there is one, and return whether there was."""
        spaced = self.ahead().kind == "space"
        self.at += spaced
        return spaced

    def takes(self, text: str) -> bool:
        """Take a token if it is the next one, and return whether it was."""
        same = self.ahead().text == text
        self.at += same
        return same

    def take(self, text: str) -> None:
        """Take a token if it is the next one; raise `UnreadError` otherwise."""
        if not self.takes(text):
            raise UnreadError

    def attempt(self, read: Callable[[], str]) -> str:
        """Return what a method reads, or "" at the same place if it reads nothing."""
        at, depth, bar = self.at, self.depth, self.bar
        try:
            return read()
        except UnreadError:
            self.at, self.depth, self.bar = at, depth, bar
            return ""

    def enclosed(
        self, opening: str, closing: str, bar: str = "", read: Callable[[], str] | None = None
    ) -> str:
        """Return what stands between brackets or bars, by default relations with commas."""
        self.take(opening)
        if self.depth == _DEEPEST:
            raise UnreadError
        outer, self.bar = self.bar, bar
        self.depth += 1
        latex = (read or self.arguments)()
        self.spaces()
        self.take(closing)
        self.bar = outer
        self.depth -= 1
        return latex

    @abc.abstractmethod
    def arguments(self) -> str:
        """Return relations with commas between them."""

    @abc.abstractmethod
    def factor(self) -> str:
        """Return an atom with its indices, powers, primes and arguments."""


class Marks(Cursor):
    """A reader of what follows an atom: indices, powers, primes and arguments."""

    __slots__ = ()

    def mark(self) -> str:
        """Return what follows an atom directly."""
        last, sign, after = self.ahead(-1), self.ahead().text, self.ahead(1)
        if sign == "(" and last.text != ")" and last.kind != "number":
            return self.brackets()
        if sign == "[" and last.text != "]":
            return f"_{{{self.entry()}}}"
        if self.takes("_"):
            return f"_{{{self.index()}}}"
        if sign == "^" and after.text in (")", "|", "||", ",", '"') and last.kind == "word":
            self.take("^")
            return r"\hat"
        if self.takes("^"):
            return f"^{{{self.power()}}}"
        if after.kind != "word" and self.takes("'"):
            return "'"
        if after.text in (*" ,.;)>|", "||", "") and self.takes("*"):
            return r"^\ast"
        raise UnreadError

    def entry(self) -> str:
        """Return the index of an entry, or a range of entries, as Python writes it."""
        self.take("[")
        latex = ""
        while not self.takes("]"):
            token = self.ahead()
            if token.kind not in ("number", "word", "space") and token.text not in (":", ","):
                raise UnreadError
            if is_word(token.text):
                raise UnreadError
            latex += token.text
            self.at += 1
        return latex

    def index(self) -> str:
        """Return an index: names with commas, or a group in brackets."""
        if latex := self.group():
            return latex
        lead = self.ahead().text if self.ahead().text in ("+", "-") else ""
        self.at += len(lead)
        if lead and self.ahead().kind not in ("word", "number"):
            return lead
        latex = lead + self.name()
        while self.ahead().text == "," and self.ahead(1).kind in ("word", "number"):
            self.take(",")
            latex += f", {self.name()}"
            if self.takes("_"):
                latex += f"_{{{self.name()}}}"
        return latex

    def name(self) -> str:
        """Return the letters of an index, or a word in upright letters."""
        token = self.ahead()
        if token.kind not in ("word", "number") or "-" in token.text:
            raise UnreadError
        self.at += 1
        if token.kind == "number" and self.ahead().kind == "word":
            self.at += 1
            return token.text + self.ahead(-1).text
        if token.text in _SYMBOLS:
            return _SYMBOLS[token.text]
        if token.text == "inf":
            return r"\infty"
        return token.text if _INDEX.match(token.text) else rf"\mathrm{{{token.text}}}"

    def power(self) -> str:
        """Return a power: a number, a letter, a name, or a group in brackets."""
        if self.ahead(1).text == "o" and self.takes("("):  # entry by entry
            self.take("o")
            self.spaces()
            latex = rf"\circ {self.power()}"
            self.take(")")
            return latex
        if latex := self.group():
            return latex
        if self.takes("-"):
            return f"-{self.power()}"
        return r"\top" if self.takes("T") else self.name()

    def group(self) -> str:
        """Return an index or power in brackets, or a star; "" if it is neither."""
        for opening, closing in ("{}", "()"):
            if self.ahead().text == opening:
                return self.enclosed(opening, closing)
        return r"\ast" if self.takes("*") else ""

    def brackets(self) -> str:
        """Return brackets with what they hold."""
        opening = self.ahead().text
        closing = ")" if opening == "(" else "]"
        return f"{opening}{self.enclosed(opening, closing)}{closing}"


class Atoms(Marks):
    """A reader of letters, numbers, functions, norms and brackets."""

    __slots__ = ()

    def atom(self) -> str:
        """Return a letter, a number, a function with its argument, a norm, or brackets."""
        token = self.ahead()
        if token.text == "R" and re.fullmatch(
            r"\^[A-Za-z{]", self.ahead(1).text + self.ahead(2).text
        ):
            return self.space()
        if token.kind == "number":
            self.at += 1
            return token.text
        if token.kind == "norm":
            return rf"\Vert {self.enclosed('||', '||', '||')}\Vert"
        if token.text == "|":
            return rf"\vert {self.enclosed('|', '|', '|')}\vert"
        if token.text == "<":
            inner = self.enclosed("<", ">")
            if ", " not in inner:
                raise UnreadError
            return rf"\langle {inner}\rangle"
        if token.text == "{":
            return rf"\lbrace {self.enclosed('{', '}')}\rbrace"
        return self.brackets() if token.text in ("(", "[") else self.word()

    def space(self) -> str:
        """Return a space of arrays, such as R^{n x d}."""
        self.at += 2
        if self.ahead().text != "{":
            self.at += 1
            return rf"\mathbb{{R}}^{self.ahead(-1).text}"
        shape = self.enclosed("{", "}", read=self.shape)
        return rf"\mathbb{{R}}^{{{shape}}}"

    def shape(self) -> str:
        """Return sizes with an x between them."""
        latex = self.factor()
        while self.ahead(1).text == "x":
            self.at += 2
            self.spaces()
            latex += rf" \times {self.factor()}"
        return latex

    def word(self) -> str:
        """Return a letter, a name or a function; within brackets also words."""
        token = self.ahead()
        text = token.text
        if token.kind != "word":
            raise UnreadError
        self.at += 1
        if text in _SYMBOLS:
            return _SYMBOLS[text]
        if text == "inf" and self.ahead().text not in ("_", " ", "("):
            return r"\infty"
        if text in _FUNCTIONS:
            return self.function(text)
        if len(text) == 1 or text == "dL":
            return text
        if len(text) == 2 and text[1].isdigit():
            return f"{text[0]}_{{{text[1]}}}"
        if self.ahead().text in ("(", "_", "^") and text.isalpha():
            return rf"\mathrm{{{text}}}"
        if not self.depth or not text.isalpha() or text in _NO_VALUE:
            raise UnreadError
        while self.ahead().kind == "space" and is_word(self.ahead(1).text):
            if self.ahead(1).text in ("and", "or"):
                raise UnreadError
            if self.ahead(2).text in ("(", "_", "^") or self.ahead(1).text == "in":
                break
            text += f" {self.ahead(1).text}"
            self.at += 2
        if " " not in text:
            return rf"\mathrm{{{text}}}"
        return rf"\text{{{text}{' ' * (self.ahead().kind == 'space')}}}"

    def function(self, name: str) -> str:
        """Return a function with its index, power and argument."""
        latex = _FUNCTIONS[name]
        if name == "sqrt" and self.ahead().text == "(":
            return rf"\sqrt{{{self.enclosed('(', ')')}}}"
        if self.takes("_"):
            latex += f"_{{{self.index()}}}"
        if self.takes("^"):
            latex += f"^{{{self.power()}}}"
        if self.ahead().text in ("(", "{"):
            return latex + self.atom()
        if not self.spaces() or (name == "sum" and self.ahead().kind == "number"):
            raise UnreadError
        if is_word(self.ahead().text) and self.ahead(1).text not in ("_", "("):
            raise UnreadError
        argument = self.minus() + self.factor()
        if name == "sqrt":
            return rf"\sqrt{{{argument}}}"
        return f"{latex} {self.beside(Token('word', name), argument)}"

    def minus(self) -> str:
        """Return a sign directly before a value, or ""."""
        sign = self.ahead().text
        signed = sign in ("-", "+") and self.ahead(1).kind != "space"
        self.at += signed
        return sign * signed

    def beside(self, last: Token, latex: str) -> str:
        """Return a factor after another one, with a space beside a name, a bracket or a bar."""
        apart = latex.startswith((r"\mathrm", r"\text", r"\Vert", r"\vert", "(", "["))
        apart = apart or is_word(last.text) or last.text in _NAMES
        return rf"\thinspace {latex}" if apart else latex

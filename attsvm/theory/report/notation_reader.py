"""A reader of plain notation, such as ||x|| <= R^2, that writes LaTeX.

Its grammar, from the loosest to the tightest:

    relation := sum (sign sum)*            sum  := product ((+ | -) product)*
    product  := factor (operator? factor)*         factor := atom mark*
    atom     := letter | function | number | norm | <a, b> | brackets
    mark     := _i | ^2 | ' | * | [0] | (x)
"""

import re

from attsvm.theory.report.notation_atoms import Atoms, Token, UnreadError, is_word

_SIGNS = {
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "=": "=", "<": r"\lt", ">": r"\gt",
    ":=": ":=",
}  # fmt: skip
_INFIX = {"*": r" \cdot ", "/": "/", "o": r" \circ ", "kron": r" \otimes "}


class Reader(Atoms):
    """A reader of one formula."""

    __slots__ = ()

    def formula(self) -> str:
        """Return a relation, also without its left side, such as >= 1."""
        lead = self.attempt(self.sign)
        return f"{lead}{self.relation()}"

    def sign(self) -> str:
        """Return a sign of relation with a space."""
        token = self.ahead()
        if token.text not in _SIGNS:
            raise UnreadError
        spaced = self.at == 0 or self.ahead(-1).kind == "space"
        self.at += 1
        if not (self.spaces() and spaced) and token.text in "<>":
            raise UnreadError  # the bracket of an inner product
        return f"{_SIGNS[token.text]} "

    def relation(self) -> str:
        """Return sums with signs of relation between them."""
        latex = self.values()
        while more := self.attempt(self.compared):
            latex += more
        return latex

    def values(self) -> str:
        """Return a sum, or several around three dots: 1, ..., T."""
        return self.sum() + self.attempt(self.continued)

    def continued(self) -> str:
        """Return the rest of values around three dots."""
        self.take(",")
        self.spaces()
        second = ""
        if self.ahead(1).text == "," and self.ahead(3).kind == "dots":
            second = f", {self.factor()}"
            self.take(",")
            self.spaces()
        self.take("...")
        self.take(",")
        self.spaces()
        return rf"{second}, \dots, {self.sum()}"

    def compared(self) -> str:
        """Return a sign with the values after it, or the set that values lie in."""
        self.spaces()
        if not self.takes("in"):
            return f" {self.sign()}{self.values()}"
        self.spaces()
        return rf" \in {self.set()}"

    def set(self) -> str:
        """Return a space of arrays, values in braces, an interval, or a capital letter."""
        if not re.fullmatch(r"[A-Z{\[]", self.ahead().text):
            raise UnreadError
        return self.factor()

    def sum(self) -> str:
        """Return products with + and - between them."""
        latex = self.minus() + self.product()
        while more := self.attempt(self.added):
            latex += more
        return latex

    def added(self) -> str:
        """Return + or - with the product after it; spaces are on both sides or on none."""
        spaced = self.spaces()
        sign = self.ahead().text
        if sign not in ("+", "-") or not (spaced or self.depth):
            raise UnreadError  # b-2 is a name
        self.at += 1
        if self.spaces() != spaced:
            raise UnreadError
        return f" {sign} {self.product()}"

    def product(self) -> str:
        """Return factors side by side, or with an operator between them."""
        latex = self.factor()
        while more := self.attempt(self.multiplied):
            latex += more
        return latex

    def multiplied(self) -> str:
        """Return the next factor of a product, with its operator if there is one."""
        last = self.ahead(-1)
        spaced = self.spaces()
        sign = self.ahead().text
        if sign in _INFIX and (spaced or sign == "/"):
            self.at += 1
            if self.spaces() != spaced:
                raise UnreadError
            return f"{_INFIX[sign]}{self.factor()}"
        token, following = self.ahead(), self.ahead(1)
        if not spaced and not self.adjacent(last, token):
            raise UnreadError
        if token.text == self.bar or (token.kind == "number" and not self.depth):
            raise UnreadError
        if token.text in ("a", "A") and following.kind == "space" and is_word(self.ahead(2).text):
            raise UnreadError  # an article
        start = self.at
        latex = self.factor()
        if token.text == "(" and all(
            t.kind != "word" or is_word(t.text) for t in self.tokens[start : self.at]
        ):
            raise UnreadError  # a remark in brackets
        return f" {self.beside(last, latex)}"

    def adjacent(self, last: Token, token: Token) -> bool:
        """Return whether two factors need no space between them, such as 3a and (1 - a)(1 + a)."""
        if last.kind == "number":
            return token.text == "(" or (len(token.text) == 1 and token.text.isalpha())
        return last.text == ")" and token.text == "("

    def factor(self) -> str:
        """Return an atom with its indices, powers, primes and arguments."""
        latex, above_or_below = self.atom(), ""
        while more := self.attempt(self.mark):
            if more == r"\hat":
                latex = rf"\hat{{{latex}}}"
                continue
            sign = "^" if more[0] in "^'" else more[0]
            if sign in above_or_below and more != "'":  # LaTeX has one index and one power each
                latex, above_or_below = f"{{{latex}}}", ""
            latex += more
            above_or_below += sign
        return latex

    def arguments(self) -> str:
        """Return relations with commas between them."""
        latex = self.argument()
        while self.takes(","):
            self.spaces()
            latex += f", {self.argument()}"
        return latex

    def argument(self) -> str:
        """Return a relation, three dots, or the dot or colon that stands for any argument."""
        self.spaces()
        if self.takes("..."):
            return r"\dots"
        if self.ahead().text == "." and self.ahead(1).text in (",", ">", "|", "||", ")"):
            self.take(".")
            return r"\cdot "
        if self.takes(":"):
            return ":"
        return self.relation()

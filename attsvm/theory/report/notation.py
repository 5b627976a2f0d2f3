"""Sentences with mathematics, for Markdown: formulas between dollars, and words.

Sentences are written in plain characters. A formula is the longest text that `Reader` can read
from a word on. Everything else stays words, with the signs and raised letters of `rendering`. The
LaTeX must suit every renderer of dollars. It has no backslash before a sign, because some renderers
take it for an escape.
"""

import re
from collections.abc import Iterable, Iterator

from attsvm._words import printable
from attsvm.theory.declaration.conclusions import Written
from attsvm.theory.report.notation_atoms import Token, UnreadError, is_word
from attsvm.theory.report.notation_reader import Reader
from attsvm.theory.report.rendering import Marked, in_signs

_TOKEN = re.compile(
    r"""(?P<code>`[^`]*`|\b[a-z]+/[a-z]+-[\w.:-]*\w|\b(?:e\.g|i\.e|s\.t)\.)
    |(?P<space>\s+)
    |(?P<dots>\.\.\.)
    |(?P<number>\d+(?:\.\d+)?(?![\d%]|\.\d))
    |(?P<sign><=|>=|!=|->|:=)
    |(?P<norm>\|\|)
    |(?P<word>[A-Za-z]+
        (?:-[A-Za-z]{2,}|(?<=[A-Za-z]{2})-(?:[A-Za-z]|\d+)|-[A-Za-z]+(?=-))*
        \d?(?:'(?=s\b|t\b)[a-z]+)?)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_AFTER_LETTER = {
    "and", "or", "is", "are", "be", "in", "of", "for", "with", "to", "if", "that", "on", "at",
    "from", "as", "has", "have", "then", "the", "when", "where", "may", "does", "exists",
}  # fmt: skip
"""Words that follow a letter and no article: "a and b are" names letters, "a step" does not."""

_NAMING = {"appendix", "assumption", "case", "figure", "lemma", "part", "theorem"}
"""Words whose next letter is a name and no mathematics: assumption A."""

_APPLIED = re.compile(r"\s*(?:[-=+/_^'(<]|\\(?:le|ge|lt|gt|in|to|ne|ast)\b)")
"""The LaTeX after an "a" which shows that the "a" is a letter and no article."""

_LONG = 60
"""Maximum length of LaTeX, in characters, that is not cut before its signs."""

_SIGN = re.compile(r" (?:[=+-]|\\(?:le|ge|lt|gt|to))(?![A-Za-z])")
_PIECE = re.compile(
    r"\\(?:left|right|[vV]ert|langle|rangle|\|)|\||[(){}\[\]]|"
    rf"{_SIGN.pattern}|.[^\\(){{}}\[\] ]*",
    re.DOTALL,
)
"""Brackets, signs at which a line may end, and what is between them."""

_PORTABLE = {
    r"\,": r"\thinspace ", r"\;": r"\enspace ", r"\|": r"\Vert ", r"\{": r"\lbrace ",
    r"\}": r"\rbrace ", "<": r"\lt ", ">": r"\gt ", "|": r"\vert ",
}  # fmt: skip
_WORDS = re.compile(r"\\text\{((?:[^{}\\]|\\[{}]|\\[a-z]+\{\}|\\.)*)\}")
"""Words within LaTeX."""

_UNESCAPED = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", "''": '"',
}  # fmt: skip


def pieces(sentence: str) -> Iterator[tuple[bool, str]]:
    """Yield a sentence as words and formulas, in order: pairs of "is LaTeX" and text."""
    tokens = [Token(str(m.lastgroup), m[0]) for m in _TOKEN.finditer(sentence)]
    words, at = "", 0
    while at < len(tokens):
        latex, end = _formula(tokens, at)
        if not latex:
            words += tokens[at].text
        else:
            if words:
                yield False, words
            yield True, latex
            words = ""
        at = end
    if words:
        yield False, words


def _formula(tokens: list[Token], at: int) -> tuple[str, int]:
    """Return the formula that begins at a token, "" if none does, and the place after it."""
    nothing = "", at + 1
    before = tokens[at - 1].text if at else " "
    if tokens[at].kind in ("space", "code", "dots") or re.search(r"[\w\\^_'.]$", before):
        return nothing
    if at > 1 and before == " " and tokens[at - 2].text.lower() in _NAMING:
        return nothing
    reader = Reader(tokens, at)
    try:
        latex = reader.formula()
    except UnreadError:
        return nothing
    following = reader.ahead()
    if following.kind in ("word", "number") or following.text in ("_", "^", "'", "(", "-"):
        return nothing
    if not any(map(_is_mathematical, tokens[at : reader.at])):
        return nothing  # numbers alone are words, and so are words in brackets
    return nothing if _is_article(latex, reader) else (latex, reader.at)


def _is_mathematical(token: Token) -> bool:
    """Return whether a token shows that a text is a formula."""
    if token.kind == "word":
        return not is_word(token.text)
    return token.kind in ("sign", "norm", "dots") or token.text in "=<>|^_*"


def _is_article(latex: str, reader: Reader) -> bool:
    """Return whether the "a", "A" or "I" at the start of a formula is a word of English."""
    if not re.match(r"[aAI]\b", latex):
        return False
    if len(latex) > 1:
        return not _APPLIED.match(latex[1:])
    space, word = reader.ahead(), reader.ahead(1).text
    if latex == "I" or space.text == "-":
        return True
    return space.kind == "space" and (word == '"' or is_word(word)) and word not in _AFTER_LETTER


def prose(value: object, formulas: Iterable[Written] = ()) -> Marked:
    """Return a sentence in one line of Markdown, with its formulas as mathematics.

    Markdown stays as it is.

    Args:
        value: the sentence.
        formulas: formulas that it contains.
    """
    if isinstance(value, Marked):
        return value
    plain = printable(" ".join(str(value).split()))
    known = {line.plain: line.latex for line in formulas if not line.latex.startswith(r"\text")}
    if not known:
        return _worded(plain)
    any_known = "|".join(re.escape(p) for p in sorted(known, key=len, reverse=True))
    parts = re.split(rf"(?<![\w^_(])({any_known})(?![\w^_(])", plain)
    shown = (inline(known[p], portable=True) if k % 2 else _worded(p) for k, p in enumerate(parts))
    return Marked("".join(shown))


def _worded(plain: str) -> Marked:
    """Return a text in Markdown, with mathematics if `Reader` reads it."""
    parts = (_dollars(p) if latex else in_signs(p) for latex, p in pieces(plain))
    return Marked("".join(parts))


def inline(latex: str, *, portable: bool = False) -> str:
    """Return LaTeX within a line: its words as prose, all else as mathematics."""
    text = ""
    for k, part in enumerate(_WORDS.split(latex)):
        text += _words(part) if k % 2 else _math(part, portable)
    return re.sub(r"\$ +(?=[,;])", "$", re.sub(" {2,}", " ", text)).strip()


def _words(latex: str) -> str:
    for escape, sign in _UNESCAPED.items():
        latex = latex.replace(escape, sign)
    plain = re.sub(r"\\([{}$&#_%])", r"\1", latex)
    left, right = " " * plain.startswith(" "), " " * plain.endswith(" ")
    return f"{left}{prose(plain)}{right}"


def _math(latex: str, portable: bool) -> str:
    match = re.fullmatch(r"((?:\\[,;:]|\s)*)(.*?)((?:\\[,;:]|\s)*)", latex, re.DOTALL)
    left, bare, right = match.groups() if match else ("", latex, "")
    if portable:
        bare = re.sub(r"\\[,;|{}]|[<>|]", lambda sign: _PORTABLE[sign[0]], bare)
    return f"{' ' * bool(left)}{_dollars(bare)}{' ' * bool(right)}" if bare else ""


def _dollars(latex: str) -> str:
    """Return LaTeX as mathematics; a long formula may end a line before a sign."""
    if len(latex) <= _LONG:
        return f"${latex}$"
    depth, bars, parts = 0, 0, [""]
    for piece in _PIECE.findall(latex):
        depth += piece in (r"\left", r"\langle", *"({[")
        depth -= piece in (r"\right", r"\rangle", *")}]")
        bars += piece in (r"\vert", r"\Vert", r"\|", "|")  # an odd number of them: one is open
        if bars % 2 == 0 and _SIGN.fullmatch(piece) and not depth and parts[-1].strip():
            # a + that begins a line keeps the spaces of a + between two sides
            parts.append("{}" if piece.strip() in "+-" else "")
        parts[-1] += piece
    return " ".join(f"${part.strip()}$" for part in parts)

"""HTML by elements: text becomes markup in one place, which escapes it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any

from attsvm._words import printable

_VOID = {"meta", "input", "br", "img"}


class Markup(str):
    """Text that is HTML already; everything else is escaped where it is put into an element."""

    __slots__ = ()


def text(value: object) -> Markup:
    """A value as text: escaped, without characters that control anything but ends of lines."""
    if isinstance(value, Markup):
        return value
    return Markup(escape("\n".join(map(printable, str(value).split("\n")))))


_SIGNS = (
    ("<=", "≤"), (">=", "≥"), ("->", "→"), ("||", "‖"), (" - ", " − "), ("infinity", "∞"),
    ("grad L", "∇L"),
)  # fmt: skip
_PRODUCT = re.compile(r"<(?=\S)([^<>]*, [^<>]*)(?<=\S)>")
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "Gamma": "Γ", "Delta": "Δ",
}  # fmt: skip
_LETTER = re.compile(rf"(?<![^\W_])({'|'.join(LETTERS)})(?![^\W_])")
_RAISED = re.compile(
    r"(?<=[\w)|‖\]>⟩])(\^|_)(\{[^{}]*\}|\([^()]*\)|[^\W_]+,[^\W_]+_[^\W_]+|-?[^\W_]+|\*)"
)


def sentence(value: object) -> Markup:
    """A sentence with formulas as plain text has them: `R^7`, `x_t`, `<=` as print has them.

    Markup stays as it is.
    """
    if isinstance(value, Markup):
        return value
    plain = str(value)
    for written, sign in _SIGNS:
        plain = plain.replace(written, sign)
    plain = _PRODUCT.sub(r"⟨\1⟩", plain)
    plain = _LETTER.sub(lambda found: LETTERS[found[1]], plain)

    def raised(found: re.Match[str]) -> str:
        inner = found[2][1:-1] if found[2][0] in "{(" else found[2]
        again = Markup(_RAISED.sub(raised, inner))
        return str(element("sup" if found[1] == "^" else "sub", again))

    return Markup(_RAISED.sub(raised, text(plain)))


def joined(*children: Any) -> Markup:
    """Children side by side: markup as it is, text escaped, iterables in order, None left out."""
    parts = []
    for child in children:
        if isinstance(child, str) or not isinstance(child, Iterable):
            parts.append("" if child is None else text(child))
        else:
            parts.append(joined(*child))
    return Markup("".join(parts))


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element.

    Args:
        name: its tag.
        children: as for `joined`.
        attributes: by name, in which `_` stands for `-` and one at the end is dropped; True stands
            for an attribute without a value, None and False for none.
    """
    given = []
    for key, value in attributes.items():
        if value is True:
            given.append(f" {_attribute(key)}")
        elif value is not None and value is not False:
            given.append(f' {_attribute(key)}="{text(value)}"')
    opened = f"<{name}{''.join(given)}>"
    return Markup(opened if name in _VOID else f"{opened}{joined(*children)}</{name}>")


def _attribute(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


def table(titles: Iterable[Any], rows: Iterable[Iterable[Any]], **attributes: Any) -> Markup:
    """A table that scrolls by itself where it is wider than the page; nothing without rows."""
    body = [element("tr", (element("td", cell) for cell in row)) for row in rows]
    if not body:
        return Markup("")
    head = element("tr", (element("th", title, scope="col") for title in titles))
    inner = element("table", element("thead", head), element("tbody", body), **attributes)
    return scrolled("table", inner)


def scrolled(name: str, *children: Any) -> Markup:
    """What scrolls by itself, with the keyboard too, where it is wider than the page."""
    return element("div", children, class_="wide", tabindex=0, role="group", aria_label=name)


def folded(title: Any, *children: Any, **attributes: Any) -> Markup:
    """What is shown when its title is opened."""
    return element("details", element("summary", title), *children, **attributes)


def anchor(name: str) -> str:
    """An id within the page: that of a claim as it is, other characters by their code."""
    return re.sub(r"[^A-Za-z0-9/:._-]", lambda found: f"~{ord(found[0]):x}~", name)


def link(name: str, shown: Any = None, **attributes: Any) -> Markup:
    """A link to what has this name on the page."""
    return element("a", name if shown is None else shown, href=f"#{anchor(name)}", **attributes)

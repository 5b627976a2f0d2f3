"""Jinja2 templates of the pages, which escape every value."""

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from attsvm._words import printable

FOLDER = Path(__file__).parent / "templates"
"""The templates, and the style sheet and script of the page."""

_SIGNS = (
    ("<=", "≤"), (">=", "≥"), ("->", "→"), ("||", "‖"), (" - ", " − "), ("infinity", "∞"),
    ("grad L", "∇L"),
)  # fmt: skip
_PRODUCT = re.compile(r"<(?=\S)([^<>]*, [^<>]*)(?<=\S)>")
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "iota": "ι", "Gamma": "Γ", "Delta": "Δ",
}  # fmt: skip
_LETTER = re.compile(rf"(?<![^\W_])({'|'.join(LETTERS)})(?![^\W_])")
_RAISED = re.compile(
    r"(?<=[\w)|‖\]>⟩])(\^|_)(\{[^{}]*\}|\([^()]*\)|[^\W_]+,[^\W_]+_[^\W_]+|-?[^\W_]+|\*)"
)


class Marked(str):
    """Text that is Markdown already."""

    __slots__ = ()


def render(
    name: str, filters: Mapping[str, Callable[..., Any]] | None = None, /, **values: Any
) -> Markup:
    """Return a rendered template, with each value escaped for HTML or Markdown.

    Args:
        name: the name of its file.
        filters: functions that the template applies to values, by name.
        values: the values for the template and the templates that it imports.
    """
    templates = _environment(markdown=name.endswith(".md.j2"))
    if filters is not None:  # macros that a page imports use its filters and values as well
        templates = templates.overlay()
        templates.filters = {**templates.filters, **filters}
        templates.globals = {**templates.globals, **values}
    return Markup(templates.get_template(name).render(values))


class _Compiled(BytecodeCache):
    """The code of templates by name and content, which overlays of their reader share."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Give a template its code if there is any."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if bucket.code is not None:
            self._codes[bucket.key, bucket.checksum] = bucket.code


@functools.cache
def _environment(*, markdown: bool) -> Environment:
    """Return the reader of templates, which caches compiled templates; do not change it."""
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        bytecode_cache=_Compiled(),
        autoescape=not markdown,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.do"],
        finalize=safe if markdown else text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"anchor": anchor, "sentence": sentence}
    return templates


def text(value: object) -> str:
    """Return a value as text; control characters other than line ends become escapes.

    Markup stays as it is.
    """
    if isinstance(value, Markup):
        return value
    return "\n".join(map(printable, str(value).split("\n")))


def safe(value: object) -> str:
    """Return text in one line, escaped for Markdown; `Marked` text stays unchanged.

    An underscore within a word needs no escape.
    """
    if isinstance(value, Marked):
        return value
    plain = printable(" ".join(str(value).split()))
    return re.sub(r"([\\`*\[\]~$&]|<(?=[A-Za-z/!?])|(?<![A-Za-z0-9])_)", r"\\\1", plain)


def in_signs(text: str) -> str:
    """Return a text as Markdown, with mathematics as `sentence` writes it; spaces stay."""
    message = str(sentence(text)).replace("&#34;", '"').replace("&#39;", "'")
    return re.sub(r"([\\`*\[\]~$]|(?<![A-Za-z0-9])_)", r"\\\1", message)


def sentence(value: object) -> Markup:
    """Return a sentence with mathematics in HTML: plain `R^7`, `x_t` and `<=` become signs.

    Markup stays as it is.
    """
    if isinstance(value, Markup):
        return value
    plain = str(value)
    for written, sign in _SIGNS:
        plain = plain.replace(written, sign)
    plain = _PRODUCT.sub(r"⟨\1⟩", plain)
    plain = _LETTER.sub(lambda match: LETTERS[match[1]], plain)

    def raised(match: re.Match[str]) -> str:
        inner = match[2][1:-1] if match[2][0] in "{(" else match[2]
        tag = "sup" if match[1] == "^" else "sub"
        return f"<{tag}>{_RAISED.sub(raised, inner)}</{tag}>"

    return Markup(_RAISED.sub(raised, escape(text(plain))))


def anchor(name: str) -> str:
    """Return an id for a part of the page; characters that ids of claims lack become codes."""
    return re.sub(r"[^A-Za-z0-9/:._-]", lambda match: f"~{ord(match[0]):x}~", name)

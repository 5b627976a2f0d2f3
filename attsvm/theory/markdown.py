"""Text as Markdown that shows it as it is: tables, fences, anchors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["code", "counted", "lines", "safe", "slug", "table"]

_PIPE = r"\|"


def counted(count: int, of: str) -> str:
    """A number of things, in the plural where there is not one."""
    return f"{count} {of}{'s' * (count != 1)}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    every = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', _PIPE) for c in cells)} |" for cells in every)


def lines(cells: Iterable[str]) -> str:
    """Lines within a cell."""
    return "<br>".join(cells)


def code(text: Iterable[str]) -> str:
    """Lines that are shown letter by letter."""
    return "\n".join(["```text", *text, "```"])


def safe(text: object) -> str:
    """Text that Markdown sets as it is; within words an underscore is no mark."""
    plain = " ".join(str(text).split())
    return re.sub(r"([\\`*\[\]~$&]|<(?=[A-Za-z/!?])|(?<![A-Za-z0-9])_)", r"\\\1", plain)


def slug(heading: str) -> str:
    """The anchor that readers of Markdown give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")

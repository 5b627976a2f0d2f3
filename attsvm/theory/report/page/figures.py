"""Redrawn figures of the sources, each with what it concludes and how it is made again."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attsvm.theory.report.markup import Markup, anchor, element, folded, joined


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure that was redrawn.

    Attributes:
        id: source and name.
        place: where the original stands.
        shows: what a reader sees, in a sentence.
        concludes: what its numbers say, a sentence each.
        again: the command that makes it.
        pictures: PNG files, by name.
    """

    id: str
    place: str
    shows: str
    concludes: tuple[str, ...]
    again: str
    pictures: tuple[tuple[str, bytes], ...]


def figures_section(figures: Sequence[ShownFigure]) -> Iterator[Markup]:
    """Each figure folded, its pictures within the page; nothing without figures."""
    if figures:
        yield element(
            "section",
            element("h2", "Figures", id="figures"),
            element("p", "Experiments of the sources, run again.", class_="soft"),
            (_figure(figure) for figure in figures),
        )


def _figure(figure: ShownFigure) -> Markup:
    title = joined(element("b", figure.id), element("span", f" ({figure.place})", class_="soft"))
    return folded(
        title,
        element("p", f"{figure.shows[:1].upper()}{figure.shows[1:]}."),
        element("ul", (element("li", said) for said in figure.concludes)),
        (_picture(figure, name, content) for name, content in figure.pictures),
        element("p", "Again: ", element("code", figure.again)),
        id=anchor(f"figure:{figure.id}"),
        class_="redrawn",
    )


def _picture(figure: ShownFigure, name: str, content: bytes) -> Markup:
    shown = f"{figure.id}, {name}" if name else figure.id
    data = f"data:image/png;base64,{b64encode(content).decode('ascii')}"
    return element("figure", element("img", src=data, alt=f"{shown}: {figure.shows}"))

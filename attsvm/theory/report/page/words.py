"""Verdicts as colour, letter and word, so that none of the three is needed to read them."""

from __future__ import annotations

from attsvm.theory.declaration.verdict import Evidence, Truth, Validity
from attsvm.theory.report.markup import Markup, anchor, element, table
from attsvm.theory.report.page.contents import ShownReading
from attsvm.theory.report.page.style import WORDS
from attsvm.theory.report.terminal import NOT_SHOWN_MEANING

KINDS = {
    "reading": "One exact form of a statement: hypotheses, data and conclusion.",
    "literal": "Exactly what is printed; numbered where the words admit several forms.",
    "amended": "A repair, meant to change as little as possible; the first ones may fall.",
    "sharp": "The strongest version that we know, with the best constant or rate where it has one.",
    "sibling": "A false neighbour of a reading, which the same check has to refute.",
    "tightness": "The largest ratio of left to right side that the run reached.",
    "sizes": "Shapes of the variables in the first instances of a check, and how many had them.",
    "equal entries": "Whether two entries of an array other than 0 are equal in size.",
    "support tokens": "How many tokens of each input have margin 1 in the Att-SVM.",
    "slack": "What the conclusion has to spare at an instance; below 0 it is violated, and a "
    "strict one also at 0.",
}


def colour(truth: object) -> str:
    """The class of a word on truth."""
    return str(truth) if truth in WORDS else "none"


def badge(word: object, *, plain: bool = False) -> Markup:
    """A word of a verdict; on truth with its colour."""
    return element("span", word, class_=f"badge {'plain' if plain else colour(word)}")


def letter(truth: str) -> str:
    """The letter that stands for a truth."""
    return truth[0].upper() if truth in WORDS else "?"


def cell(reading: ShownReading, *, linked: bool = True) -> Markup:
    """A cell: colour and letter of a truth; a dashed frame where there is a doubt."""
    said = ", ".join(str(reading.entry.get(axis, "")) for axis in ("truth", "evidence", "validity"))
    doubt = reading.entry.get("validity", "exercised") != "exercised" or not reading.as_expected
    said = f"{reading.id}: {said if reading.entry else 'not run'}"
    if not reading.as_expected:
        said += ", not as expected"
    return element(
        "a" if linked else "span",
        letter(reading.truth) + ("!" if not reading.as_expected else ""),
        href=f"#{anchor(reading.id)}" if linked else None,
        class_=f"cell {colour(reading.truth)}{' doubt' if doubt else ''}",
        title=said,
        aria_label=said if linked else None,
    )


def legend() -> Markup:
    """What the cells of the strip mean."""
    shown = [
        element("span", element("span", letter(w), class_=f"cell {w}"), w) for w in map(str, Truth)
    ]
    frame = element("span", element("span", "?", class_="cell none doubt"), "not run; dashed: the "
                    "check is thin, weak, vacuous or broke; ! not as expected")  # fmt: skip
    return element("div", shown, frame, class_="legend", aria_hidden="true")


def meanings() -> Markup:
    """How to read a verdict: every word with its sentence."""
    groups: dict[str, dict[str, str]] = {
        axis.__name__: {str(word): word.meaning for word in axis}
        for axis in (Truth, Evidence, Validity)
    }
    listed = (
        table((name, "means"), ((element("b", word), told) for word, told in words.items()))
        for name, words in {**groups, "Other words": KINDS}.items()
    )
    return element(
        "section",
        element("h2", "How to read a verdict", id="words"),
        element("p", "A verdict has three words: on its truth, its evidence, its validity."),
        listed,
        element("p", NOT_SHOWN_MEANING),
        class_="meanings",
    )

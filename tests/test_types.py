"""Signatures say what they take: each room has at most so many uses of `Any`."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

MOST = {
    "attsvm/theory/arithmetic": 123,
    "attsvm/theory/declaration": 41,
    "attsvm/theory/run": 10,
    "attsvm/theory/search": 10,
    "attsvm/theory": 88,
    "attsvm/primitives": 16,
    "attsvm": 108,
    "properties": 66,
    "symbolic": 38,
}
"""Maximum number of uses of `Any` in each room, without those in the rooms named before it."""


MOST_IN_ALL = 500
"""Maximum number of uses of `Any` in all rooms together."""


def uses(text):
    """The number of times that code names `Any`, imports left out."""
    if "Any" not in text:  # and so in most files, of which none is parsed
        return 0
    nodes = ast.walk(ast.parse(text))
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes)


@functools.cache
def uses_in(room):
    """The uses in each file, without rooms that lie within this one and have their own number."""
    inner = [ROOT / other for other in MOST if other.startswith(f"{room}/")]
    files = (ROOT / room).rglob("*.py")
    own = [file for file in files if not any(file.is_relative_to(folder) for folder in inner)]
    return {file: uses(file.read_text(encoding="utf-8")) for file in own}


@pytest.mark.parametrize(("room", "most"), MOST.items())
def test_a_room_uses_any_at_most_so_often(room, most):
    found = uses_in(room)
    worst = sorted(found, key=found.get)[-5:]
    listed = ", ".join(f"{file.relative_to(ROOT)}: {found[file]}" for file in reversed(worst))
    assert sum(found.values()) <= most, f"name the type, such as Namespace or Json; see {listed}"


def test_all_rooms_together_use_any_at_most_500_times():
    assert sum(count for room in MOST for count in uses_in(room).values()) <= MOST_IN_ALL


def test_imports_and_words_are_no_uses():
    assert uses("from typing import Any\ndef f(x: Any) -> list[Any]: 'Any'  # Any") == 2

"""Mutators: byte by byte for any file, node by node for JSON, member by member for .npz files."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

PAYLOADS = (
    "<script>alert(1)</script>",
    "'\"><img src=x onerror=alert(1)>",
    "x' onmouseover='alert(1)",
    "<!-- ",
    "&lt;b&gt; &amp;",
    "[x](javascript:alert(1)) ![x](http://x.invalid/x.png)",
    "`` ``` ~~~ # * _ | \\",
    "a\n\n# heading\n\n```\n<script>alert(1)</script>",
    "$\\input{x}$ \\write18{x} %",
    "\x1b[31mred\x1b]0;title\x07\x1b[2J\x9b1m",
    "a\rCONFIRMED: b\x08\x00\x7f\x85\u2028",
    "\u202etxt.exe\u2066\ufeff",
    "../../../../etc/passwd",
    "__class__",
)
"""Texts that a page, a terminal or a shell may interpret as markup, code or control characters."""


class Literal(str):
    """Text that is written into a JSON document unchanged."""


def _quoted(text: str) -> Literal:
    return Literal(json.dumps(text))


HUGE = (
    Literal("9" * 1_000_000),
    Literal('"' + "9" * 1_000_000 + '"'),
    Literal('"1/' + "3" * 1_000_000 + '"'),
    Literal('"' + "A" * 1_000_000 + '"'),
    Literal("[" * 100_000 + "]" * 100_000),
    Literal('{"tuple":[' * 100_000 + "]}" * 100_000),
    Literal("[" + ",".join(["9" * 4000] * 400) + "]"),
    Literal("[" + ",".join(["1"] * 100_000) + "]"),
)
"""Huge nodes ("bombs"), which keep a careless reader busy for long."""

_BOMBS = 0.01
"""Share of replacements that are a node of `HUGE`."""

_NUMBERS = (
    *("null", "true", "false", "0", "-0", "-1", "0.5", "1e308", "1e999999999", "-1e999999999"),
    *("1e-999999999", "NaN", "Infinity", "-Infinity", "18446744073709551616", "9" * 4300),
    *("9" * 5000, "9007199254740993", "1E400", "2", "64", "1000000000000"),
)
_TEXTS = (
    *("", "0", "-0", "1/0", "0/0", "-1/3", "0x1p1024", "0x1p-99999999999", "0x.8p+2", "nan", "inf"),
    *("-inf", "1e999999999", "1e5", " 1", "1_0", "\u0663", "9" * 4300, "1/" + "7" * 4300, "\x00"),
    *("proved", "holds", "refuted", "CONFIRMED", "certified", "quick", "run", "inequality"),
    *("Station", "AttentionData", "Popen", "2026-01-01", "99999-99-99"),
    *PAYLOADS,
)
_SHAPES = (
    *("[0]", "[]", "[1, 1]", "[-1]", "[4611686018427387904, 0]", "[9223372036854775807, 2]"),
    *("[1.0]", "[true]", "[null]", "[1000000000, 1000000000]", "[" + ", ".join(["1"] * 70) + "]"),
)
_DEEP = tuple(
    Literal(opened * depth + "0" + closed * depth)
    for depth in (60, 250, 400, 480, 900)
    for opened, closed in (("[", "]"), ('{"a":', "}"), ('{"tuple":[', "]}"))
)
EXTREMES = (
    *map(Literal, _NUMBERS),
    *map(_quoted, _TEXTS),
    *map(Literal, ('"\\ud800"', '"\\udfff\\ud800"', "[]", "{}", "[[]]", '{"a": 1, "a": 2}')),
    *map(Literal, _SHAPES),
    *_DEEP,
)
"""Replacements of a node."""


class _Object(list[list[Any]]):
    """The [key, value] pairs of a JSON object; a key may occur twice."""


def _tree(value: Any) -> Any:
    if isinstance(value, dict):
        return _Object([key, _tree(inner)] for key, inner in value.items())
    return [_tree(inner) for inner in value] if isinstance(value, list) else value


def _text(node: Any) -> str:
    if isinstance(node, Literal):
        return node
    if isinstance(node, _Object):
        return "{" + ", ".join(f"{json.dumps(k)}: {_text(v)}" for k, v in node) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(map(_text, node)) + "]"
    return json.dumps(node)


def _slots(node: Any) -> list[tuple[Any, int]]:
    """Return the place of each node below the root: its container and its index in it.

    The container of a value of an object is its [key, value] pair.
    """
    results: list[tuple[Any, int]] = []
    left = [node]
    while left:
        inner = left.pop()
        if isinstance(inner, _Object):
            results += [(pair, 1) for pair in inner]
            left += [pair[1] for pair in inner]
        elif isinstance(inner, list):
            results += [(inner, k) for k in range(len(inner))]
            left += inner
    return results


def everywhere(sample: Any, literal: str) -> Iterator[str]:
    """Yield the document once for each node, with this node replaced by that JSON."""
    tree = _tree(sample)
    for place, k in _slots(tree):
        node, place[k] = place[k], Literal(literal)
        yield _text(tree)
        place[k] = node


def _changed(tree: Any, chance: random.Random, others: Sequence[Any]) -> Any:
    """Return the tree after one random change, made in place."""
    slots = _slots(tree)
    if not slots:
        return chance.choice(EXTREMES)
    (place, k), (other, j) = chance.choice(slots), chance.choice(slots)
    change = chance.choice(("extreme", "extreme", "retype", "swap", "splice", "some"))
    if change == "extreme":
        place[k] = chance.choice(HUGE if chance.random() < _BOMBS else EXTREMES)
    elif change == "retype":
        node, text = place[k], _text(place[k])
        kinds = (text[:10_000], None, True, 1, 0.5, [], _Object(), [node], [node, node])
        place[k] = chance.choice((*kinds, _Object([["a", node]])))
    elif change == "swap":  # as text, as one may hold the other
        place[k], other[j] = Literal(_text(other[j])), Literal(_text(place[k]))
    elif change == "splice":
        there = _slots(chance.choice(others))
        if there:
            source, j = chance.choice(there)
            place[k] = Literal(_text(source[j]))
    else:
        _resize(chance.choice([tree, *(p[i] for p, i in slots)]), chance)
    return tree


def _resize(container: Any, chance: random.Random) -> None:
    """Delete, repeat, shuffle or rename items of a container; leave a leaf unchanged."""
    if not isinstance(container, list) or not container:
        return
    k = chance.randrange(len(container))
    change = chance.choice(("delete", "repeat", "shuffle", "cut", "rename"))
    if change == "delete":
        del container[k]
    elif change == "repeat":
        container.insert(chance.randrange(len(container) + 1), container[k])
    elif change == "shuffle":
        chance.shuffle(container)
    elif change == "cut":
        del container[k:]
    elif isinstance(container, _Object):
        names = [pair[0] for pair in container]
        container[k] = [chance.choice([*names, *_TEXTS]), container[k][1]]


def _times(chance: random.Random) -> int:
    """Return the number of changes: mostly 1, sometimes 2 or 3."""
    return chance.choice((1, 1, 1, 2, 3))


def json_text(samples: Sequence[Any], chance: random.Random) -> bytes:
    """Return a document changed in some of its nodes."""
    tree = _tree(chance.choice(samples))
    for _ in range(_times(chance)):
        tree = _changed(tree, chance, [_tree(chance.choice(samples))])
    return _odd(_text(tree), chance)


def json_lines(
    samples: Sequence[Sequence[Any]],
    chance: random.Random,
    chained: Callable[[list[Any]], list[Any]],
) -> bytes:
    """Return events, one per line, some of them changed.

    In four of five cases `chained` computes the digests again, if the events allow it.
    """
    events = [_tree(event) for event in chance.choice(samples)]
    for _ in range(_times(chance)):
        change = chance.choice(("node", "node", "node", "node", "drop", "repeat", "move"))
        k = chance.randrange(len(events))
        if change == "node":
            events[k] = _changed(events[k], chance, events)
        elif change == "drop" and len(events) > 1:
            del events[k]
        elif change == "repeat":
            events.insert(chance.randrange(len(events) + 1), events[k])
        else:
            events.insert(chance.randrange(len(events)), events.pop(k))
    lines = [_text(event) for event in events]
    if chance.random() < 0.8:
        # changed lines may not be events any more
        with contextlib.suppress(ValueError, RecursionError, TypeError, AttributeError):
            lines = [json.dumps(event) for event in chained([json.loads(x) for x in lines])]
    return _odd("\n".join(lines) + "\n", chance)


def words(samples: Sequence[str], chance: random.Random) -> bytes:
    """Return a text of lines of words, such as TOML and INI, with some words or lines changed."""
    lines = chance.choice(samples).splitlines()
    for _ in range(_times(chance)):
        k = chance.randrange(len(lines))
        parts = lines[k].split(" ")
        extreme = chance.choice(
            (*map(str, EXTREMES), *_TEXTS, "=", "[", "[[", "x = 1", "{}", '"""')
        )
        change = chance.choice(("word", "line", "drop", "repeat", "join"))
        if change == "word":
            parts[chance.randrange(len(parts))] = extreme
            lines[k] = " ".join(parts)
        elif change == "line":
            lines.insert(k, extreme)
        elif change == "drop" and len(lines) > 1:
            del lines[k]
        elif change == "repeat":
            lines.insert(chance.randrange(len(lines)), lines[k])
        else:
            lines[k] = lines[k].replace(" ", "").replace('"', "")
    return _odd("\n".join(lines) + "\n", chance)


def _odd(text: str, chance: random.Random) -> bytes:
    """Return the text as bytes; one time in twenty in another encoding and with added text."""
    if chance.random() < 0.95:
        return text.encode("utf-8", "surrogatepass")
    encoding = chance.choice(("utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-7", "cp500"))
    before = chance.choice(("", " \n", "\0", "["))
    after = chance.choice(("", "\0", "}", "1", "\r\n"))
    return f"{before}{text}{after}".encode(encoding, "replace")


def raw(content: bytes, chance: random.Random) -> bytes:
    """Return the bytes with some of them changed, repeated, removed or added."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        k = chance.randrange(len(made) + 1)
        some = chance.randrange(1, 1 + chance.choice((1, 4, 64)))
        change = chance.choice(("flip", "flip", "set", "set", "cut", "drop", "repeat", "noise"))
        if change == "flip" and k < len(made):
            made[k] ^= 1 << chance.randrange(8)
        elif change == "set" and k < len(made):
            made[k] = chance.choice(b'\0\xff\x7f\x80"\\{}[],:019-e\n')
        elif change == "cut":
            del made[k:]
        elif change == "drop":
            del made[k : k + some]
        elif change == "repeat":
            made[k:k] = made[max(k - some, 0) : k]
        elif change == "noise":
            made[k:k] = chance.randbytes(some)
    return bytes(made)


class Plant:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that unpickling makes."""
        return os.mkdir, (str(self.path),)


_HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': '|u1', 'fortran_order': True, 'shape': (SHAPE), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (SHAPE), }",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': (SHAPE), }",
    "{'descr': '<f8', 'shape': (SHAPE)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': [SHAPE], 'more': 1}",
    "__import__('os').mkdir('planted')",
    "{[]: 1}",
    "(" * 9000,
    "-" * 9000 + "1",
    "'''(",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0L, 1L)}",
    "",
    "\xff\x00",
)
_DIMENSIONS = (
    *("2, 2, 1", "", "0", "-1", "2, 2, 0", "1000000000", "4611686018427387904, 4", "True, 2, 2"),
    *("10**30", "1" * 40, "1000000000, 0", "2.0, 2, 1", "None", "(2, 2), 1", "1, " * 65),
    *("9" * 5000, "16777216, 16, 1", "268435456,", "2, 2, 100000000"),
)
_TYPES = (
    *("f4", "f2", ">f8", "i1", "u8", "?", "c16", "U3", "S2", "M8[s]", "m8[D]", "V4", "O", "g"),
    "f8,i4",
)
_NAMES = ("X", "Z", "y", "v", "scores", "mask", "W", "\x1b[1m", "a/b")
_ENTRIES = ("X", "X.npy", "../X.npy", "/X.npy", "a/X.npy", "X.NPY", "\x1b[1m.npy", "a/")


def npz(samples: Sequence[dict[str, Any]], chance: random.Random, plant: Path) -> bytes:
    """Return an `.npz` archive with a changed value, array, header or container.

    Args:
        samples: arrays by name.
        chance: the source of the changes.
        plant: the folder that appears if an array of objects is unpickled.
    """
    arrays = dict(chance.choice(samples))
    change = chance.choice(("array", "array", "array", "member", "header", "header", "archive"))
    if change == "array":
        for _ in range(_times(chance)):
            name = chance.choice(sorted(arrays))
            arrays[name] = _another(arrays[name], chance, plant)
    elif change == "member":
        _exchange(arrays, chance)
    members = [(f"{name}.npy", _member(array)) for name, array in arrays.items()]
    if change == "header":
        k = chance.randrange(len(members))
        members[k] = (members[k][0], _headed(members[k][1], chance))
    packing = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    if change == "archive" and chance.random() < 0.2:
        packing = chance.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    memory = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(memory, "w", packing) as archive:
        warnings.simplefilter("ignore")  # two entries may have one name
        for name, content in members:
            other = change == "archive" and chance.random() < 0.3
            entry = zipfile.ZipInfo(chance.choice(_ENTRIES) if other else name)
            archive.writestr(entry, content, packing)
        archive.comment = chance.choice((b"", b"", b"PK\x05\x06" * 5))
    made = memory.getvalue()
    return raw(made, chance) if change == "archive" else made


def _member(array: Any) -> bytes:
    """Return an array in numpy's format; objects are pickled."""
    memory = io.BytesIO()
    np.save(memory, array, allow_pickle=True)
    return memory.getvalue()


def _another(array: Any, chance: random.Random, plant: Path) -> Any:
    """Return an array with other values, of another type or of another shape."""
    array = np.array(array)
    change = chance.choice(("value", "value", "type", "shape", "order", "object"))
    if change == "object":
        return np.array([Plant(plant)], dtype=object)
    if change == "value" and array.size and array.dtype.kind == "f":
        odd = (np.nan, np.inf, -np.inf, 1e308, -1.7e308, 5e-324, -0.0, 1e200, 2.0, 1.0)
        with np.errstate(over="ignore"):  # for arrays that are not float64
            array.flat[chance.randrange(array.size)] = chance.choice(odd)
    elif change == "type" and array.dtype.kind in "fb":
        with np.errstate(all="ignore"):
            return array.astype(float).astype("i8").astype(chance.choice(_TYPES))
    elif change == "shape":
        shapes: tuple[Any, ...] = ((-1,), (1, -1), (*array.shape, 1), (array.size, 1, 1), (0, -1))
        shape = chance.choice(shapes if array.size else shapes[:1])
        return array.reshape(shape) if 0 not in shape else array[:0]
    elif change == "order":
        return np.asfortranarray(array.T)
    return array


def _exchange(arrays: dict[str, Any], chance: random.Random) -> None:
    """Remove, rename, exchange or repeat arrays, or make one larger."""
    name, other = chance.choice(sorted(arrays)), chance.choice(sorted(arrays))
    change = chance.choice(("drop", "rename", "exchange", "add", "large"))
    if change == "drop":
        del arrays[name]
    elif change == "rename":
        arrays[chance.choice(_NAMES)] = arrays.pop(name)
    elif change == "exchange":
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif change == "add":
        arrays[chance.choice(_NAMES)] = arrays[name]
    else:
        arrays[name] = np.zeros(1 << chance.randrange(12, 18))


def _headed(content: bytes, chance: random.Random) -> bytes:
    """Return the last 64 bytes of an array in a file, after another header."""
    header = chance.choice(_HEADERS).replace("SHAPE", chance.choice(_DIMENSIONS)) + "\n"
    version = chance.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\x09\0"))
    text = header.encode("latin-1")
    length = len(text) if chance.random() < 0.9 else chance.randrange(1 << 16)
    width = 2 if version[0] == 1 else 4
    return b"\x93NUMPY" + version + length.to_bytes(width, "little") + text + content[-64:]

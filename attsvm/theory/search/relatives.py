"""Relatives: what is known of other claims about the same kind of data, fitted and changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from attsvm.theory.search.document import array_key, shapes
from attsvm.theory.search.families import varied
from attsvm.theory.search.known_instances import relatives as known_relatives
from attsvm.theory.search.scout import Scout

__all__ = ["fitted", "relatives"]

_AS_THEY_ARE = 0.6
"""The part of the budget that goes to relatives as they are, or fitted; the rest changes them."""

_CLOSE = 6
"""How many of the closest relatives are changed."""


def relatives(scout: Scout, generator: np.random.Generator) -> None:
    """Try instances of other claims in random order, then change those that come closest.

    An instance of another type is fitted: what it has in common with a template is put in there.
    """
    documents = known_relatives(scout.tally.claim)
    templates = [elite.document for elite in scout.pool.elites()]
    reached: list[tuple[float, int, Any]] = []
    for k in generator.permutation(len(documents)):
        if scout.spent >= _AS_THEY_ARE * scout.budget:
            break
        for trial in _adapted(documents[k], templates, generator):
            height = scout.look_at(trial, reshaped=True)
            if height is not None:
                reached.append((-height, len(reached), trial))
                break
    for _ in range(20 * scout.budget if reached else 0):
        reached = sorted(reached)[:_CLOSE]
        trial = varied(reached[int(generator.integers(len(reached)))][2], generator)
        if trial is not None:
            height = scout.look_at(trial, reshaped=True)
            if height is not None and all(trial != each for *_, each in reached):
                reached.append((-height, scout.proposed + len(documents), trial))


def _adapted(document: Any, templates: list[Any], generator: np.random.Generator) -> Iterator[Any]:
    """The instance itself, and what a few templates become with the parts that it has."""
    if not templates or _form(document) == _form(templates[0]):
        yield document
        return
    for k in generator.permutation(len(templates))[:3]:
        trial = fitted(document, templates[k])
        if trial is not None and trial != templates[k]:
            yield trial


def fitted(document: Any, template: Any) -> Any | None:
    """A template with the parts that an instance of another type has in common with it.

    Parts match where they are fields of one name or records of one type. The other arrays of the
    template follow the sizes that their axes had in common with what was replaced: they are
    cropped, or padded with zeros.

    Returns:
        None where there is nothing in common.
    """
    there = dict(_fields(document))
    replaced = [
        (name, part, there[name])
        for name, part in _fields(template)
        if name in there and _form(part) == _form(there[name])
    ]
    if not replaced:
        return None
    sizes: dict[int, int] = {}
    for _, old, new in replaced:
        for before, after in zip(shapes(old), shapes(new), strict=False):
            for size, other in zip(reversed(before), reversed(after), strict=False):
                sizes.setdefault(size, other)  # a last axis is the one that others share most
    return _grafted(template, {name: new for name, _, new in replaced}, sizes)


def _fields(document: Any) -> Iterator[tuple[str, Any]]:
    """Parts of an instance by what identifies them: records by type, other fields by name."""
    if isinstance(document, dict) and set(document) == {"record", "fields"}:
        yield f"record {document['record']}", document
        for name in sorted(document["fields"]):
            part = document["fields"][name]
            inner = dict(_fields(part))
            yield from inner.items() if inner else [(name, part)]
    elif isinstance(document, dict) and set(document) == {"tuple"}:
        for part in document["tuple"]:
            yield from _fields(part)


def _form(document: Any) -> Any:
    """The kind of a part: records by type and fields, arrays by kind and number of axes."""
    if isinstance(document, list):
        return [_form(part) for part in document]
    if not isinstance(document, dict):
        return type(document).__name__
    key = array_key(document)
    if key is not None:
        return key, len(document[key])
    if set(document) == {"record", "fields"}:
        return document["record"], sorted(document["fields"])
    return [(name, _form(part)) for name, part in sorted(document.items())]


def _grafted(template: Any, parts: dict[str, Any], sizes: dict[int, int]) -> Any:
    if not isinstance(template, dict):
        return template
    key = array_key(template)
    if key is not None:
        return _resized(template, key, [sizes.get(size, size) for size in template[key]])
    if set(template) == {"tuple"}:
        return {"tuple": [_grafted(part, parts, sizes) for part in template["tuple"]]}
    if set(template) != {"record", "fields"}:
        return template
    whole = parts.get(f"record {template['record']}")
    if whole is not None:
        return whole
    fields = {
        name: _grafted(part, parts, sizes)
        if (isinstance(part, dict) and "record" in part) or name not in parts
        else parts[name]
        for name, part in template["fields"].items()
    }
    return {"record": template["record"], "fields": fields}


def _resized(array: Any, key: str, shape: list[int]) -> Any:
    """The array cropped, or padded with zeros, to a shape."""
    values = np.array(array["values"], dtype=object).reshape(array[key])
    result = np.full(shape, "0", dtype=object)
    common = tuple(slice(0, min(pair)) for pair in zip(values.shape, shape, strict=True))
    result[common] = values[common]
    return {key: shape, "values": result.ravel().tolist()}

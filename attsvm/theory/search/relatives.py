"""Relatives: what is known of other claims about the same kind of data, fitted and changed.

Members of families, flags and absent parts of a claim's own instances are exchanged as well.

What is known is a function of the claim and of what is installed, the same in every process: the
explicit instances and stored counterexamples of claims in installed packs and in the claim's own
module.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from attsvm._types import Json, JsonObject
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import array_key, shapes
from attsvm.theory.packs.packs import beside as lies_in
from attsvm.theory.packs.packs import declared_in, load_packs
from attsvm.theory.record import files
from attsvm.theory.search.discrete import switched
from attsvm.theory.search.families import varied
from attsvm.theory.search.scout import Scout

FOLDER = "counterexamples"
"""The folder beside a pack's modules where counterexamples are stored."""

_AS_THEY_ARE = 0.6
"""The part of the budget that goes to relatives as they are, or fitted; the rest changes them."""

_SWITCHED = 0.25
"""The part of the budget that goes to other members of families, flags and absent parts."""

_CLOSE = 6
"""How many of the closest relatives are changed."""


def relatives(scout: Scout, generator: np.random.Generator) -> None:
    """Try instances of other claims in random order, then change those that come closest.

    An instance of another type is fitted: what it has in common with a template is put in there.
    Before that, what is no number in the claim's own instances is changed for what others of it
    have there.
    """
    left = False  # whether there is more than was proposed
    for trial in switched(scout, generator):
        left = True
        if scout.spent >= _SWITCHED * scout.budget:
            break
        with scout.bounded(trial):
            scout.look_at(trial, reshaped=True)
    documents = known_relatives(scout.tally.claim)
    templates = [elite.document for elite in scout.pool.elites()]
    reached: list[tuple[float, int, Any]] = []
    for k in generator.permutation(len(documents)):
        if scout.spent >= _AS_THEY_ARE * scout.budget:
            left = True
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
            left = True
            height = scout.look_at(trial, reshaped=True)
            if height is not None and all(trial != each for *_, each in reached):
                reached.append((-height, scout.proposed + len(documents), trial))
    scout.idle = not left


def _adapted(document: Json, templates: list[Any], generator: np.random.Generator) -> Iterator[Any]:
    """The instance itself, or what up to three templates become with the parts that it has."""
    if not templates or _form(document) == _form(templates[0]):
        yield document
        return
    for k in generator.permutation(len(templates))[:3]:
        trial = fitted(document, templates[k])
        if trial is not None and trial != templates[k]:
            yield trial


def fitted(document: Json, template: Any) -> Any | None:
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


def _fields(document: Json) -> Iterator[tuple[str, Any]]:
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


def _form(document: Json) -> Any:
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


def _grafted(template: Any, parts: JsonObject, sizes: dict[int, int]) -> Any:
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


def known_relatives(claim: Claim) -> list[Any]:
    """Encoded instances of other claims that share a record type with this one, each once.

    The claim's own instances, those of its siblings and its stored counterexamples are left out,
    even where another claim lists them as well. Instances of the very same type come first.
    """
    file, loaded = claim.file, list(sys.modules.values())
    homes = [m for m in loaded if isinstance(m, ModuleType) and m.__dict__.get("__file__") == file]
    beside = {c.id: c for m in homes for c in declared_in(m) if isinstance(c, Claim)}
    known = beside | _installed()

    def of(name: str) -> JsonObject:
        return _of_installed(name) if name in _installed() else _instances(known[name])

    kind, records = claim.instance_type, _records(claim.instance_type)
    own = {*_instances(claim), *(of(claim.id) if claim.id in known else ())}
    near: JsonObject = {}
    far: JsonObject = {}
    for name in sorted(set(known) - {claim.id}):
        other = known[name].instance_type
        if other == kind:
            near |= of(name)
        elif _records(other) & records:
            far |= of(name)
    return [document for key, document in (near | far).items() if key not in own]


@functools.cache
def _installed() -> dict[str, Claim]:
    return {claim.id: claim for pack in load_packs() for claim in pack.claims}


@functools.cache
def _of_installed(name: str) -> JsonObject:
    return _instances(_installed()[name])


def _records(kind: Any) -> frozenset[type]:
    """The types of the records within an instance."""
    return frozenset(codec.records(kind).values())


def _instances(claim: Claim) -> JsonObject:
    """The encoded instances that are known of a claim, by their texts."""
    documents = [codec.encode(case) for part in claim.parts() for case in part.examples]
    folder = lies_in(Path(claim.file)) / FOLDER
    stored = _stored(folder, _changed(folder)) if folder.is_dir() else {}
    documents += _decodable(stored.get(claim.id, ()), claim.instance_type)
    return {json.dumps(document, sort_keys=True): document for document in documents}


def _decodable(documents: Iterable[Json], hint: Any) -> Iterator[Any]:
    """Those that are instances of the type, with fields that a file leaves to their defaults."""
    for document in documents:
        with contextlib.suppress(AttsvmError):  # replaying the file says what is wrong
            yield codec.encode(codec.decode_exactly(document, hint))


def _changed(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The names, times and sizes of the counterexample files of a folder."""
    states = ((path.name, path.stat()) for path in sorted(folder.glob("*.json")))
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


@functools.lru_cache(maxsize=64)
def _stored(folder: Path, changed: object) -> dict[str, list[Any]]:
    """Instances of the counterexample files of a folder by claim, in the order of their names.

    Args:
        folder: where the files lie.
        changed: their times and sizes, so that an edited one is read again.
    """
    found: dict[str, list[Any]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            entry = files.read_json(path)
            found.setdefault(str(entry["claim"]), []).append(entry["instance"])
        except (AttsvmError, KeyError, TypeError):  # replaying the file says what is wrong
            continue
    return found

"""Expectations brought up to date with the claims that are checked out."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from attsvm._files import dump
from attsvm._types import Entry, JsonObject
from attsvm._words import printable
from attsvm.theory.gate.expectations import UNREVIEWED, Expectation
from attsvm.theory.gate.gate import changed_rest
from attsvm.theory.gate.reviewed import Reviewed, differences
from attsvm.theory.gate.scope import Checkout
from attsvm.theory.record.runs import Run


def renewed(
    document: Entry,
    checkout: Checkout,
    run: Run | None,
    owners: Mapping[str, str] = MappingProxyType({}),
    left: Collection[str] = (),
    packs: Collection[str] = (),
) -> tuple[JsonObject, tuple[str, ...]]:
    """Return an expectations file updated to the checked-out claims, and a line for each change.

    Verdicts and reasons stay as they are. A new claim gets its expected verdict with a reason that
    the gate refuses. Entries that are `left` alone stay as they are; other entries name the file
    of their claim if `owners` has it. Counts of instances are taken from the run if it ran the
    code that is checked out with the profile quick.

    Args:
        document: the file as it is.
        checkout: the claims and code that are checked out.
        run: the last run, if any.
        owners: by claim, the file of its pack.
        left: claims whose entries stay as they are.
        packs: the names of the packs of the file.
    """
    fresh = run is not None and run.finished and run.profile == "quick"
    fresh = fresh and run is not None and run.code == checkout.code
    verdicts = run.verdicts if fresh and run is not None else {}
    claims = dict(document["claims"])
    lines: list[str] = []
    for name in sorted(set(claims) - set(checkout.reviewed) - set(left)):
        lines.append(f"{name}: removed, there is no such claim")
        del claims[name]
    for name, now in checkout.reviewed.items():
        expected = checkout.claims[name].expected.verdict
        entry = dict(claims.get(name) or {**expected.json(), "reason": UNREVIEWED})
        old = Reviewed.read(entry["reviewed"]) if "reviewed" in entry else None
        changes = list(differences(old, now)) if old else ["its review is recorded"]
        if name not in claims:
            changes = [f"new: {expected}; replace its reason, which says {UNREVIEWED!r}"]
        seen = verdicts[name].get("examples", 0) if name in verdicts else None
        count = old.examples if old else 0
        if seen is not None and (changes or count < 1 or (old and seen < old.required)):
            if old and seen != count:
                changes.append(f"instances evaluated: {count} -> {seen}")
            count = seen
        pack = owners.get(name, "")
        if pack and pack != entry.get("pack"):
            if name in claims:
                changes.append(f"its pack is now {pack}")
            entry["pack"] = pack
        if changes or old is None:
            entry["reviewed"] = replace(now, examples=count).json()
            lines += (printable(f"{name}: {change}") for change in changes)
        claims[name] = entry
    rest = dict(document.get("packs", {}))
    fresh_rest = {name: checkout.rest[name] for name in packs if name in checkout.rest}
    lines += changed_rest({name: rest.pop(name) for name in packs if name in rest}, fresh_rest)
    rest |= fresh_rest
    other = {key: value for key, value in document.items() if key not in ("packs", "claims")}
    renewed = {**other, **({"packs": rest} if rest else {})}
    return {**renewed, "claims": {name: claims[name] for name in sorted(claims)}}, tuple(lines)


def by_hand(
    expectations: Mapping[str, Expectation], checkout: Checkout, file: str
) -> Iterator[str]:
    """Yield a line for each reviewed verdict that differs from the one that its claim declares.

    Args:
        expectations: the reviewed verdicts by claim.
        checkout: the claims that are checked out.
        file: the expectations file, as it is printed.
    """
    for name in sorted(expectations.keys() & checkout.reviewed.keys()):
        old, new = expectations[name].verdict, checkout.claims[name].expected.verdict
        words = ", ".join(
            f"`{axis}`" for axis, word in new.json().items() if old.json()[axis] != word
        )
        if words:
            yield (
                f"{name}: its file declares {new}; reviewed is {old}. --update never changes a "
                f"verdict: edit {words} and `reason` of its entry in {file}"
            )


def spelt(document: Entry) -> str:
    """Return an expectations file as text, with the review of each claim on one line."""
    # a placeholder stands for each review in the indented text, and is replaced afterwards
    claims = document["claims"]
    short = {
        name: {**entry, "reviewed": f"reviewed {name}"} if "reviewed" in entry else entry
        for name, entry in claims.items()
    }
    text = dump({**document, "claims": short}) + "\n"
    for name, entry in claims.items():
        if "reviewed" in entry:
            line = json.dumps(entry["reviewed"])
            text = text.replace(f": {json.dumps(f'reviewed {name}')}", f": {line}", 1)
    return text

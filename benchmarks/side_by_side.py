"""Two runs of `attsvm verify --json`, side by side: what a change of the code did to them.

    python -m benchmarks.side_by_side before.json after.json

Prints, as Markdown, totals of both runs and every claim of which something changed: its verdict,
its tightness by more than a thousandth, or the siblings that were refuted.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Entry = Mapping[str, Any]

_CLOSE = 1e-3
"""Tightness that differs by less is not told."""


def verdict(entry: Entry) -> str:
    """The three words."""
    return ", ".join(str(entry[axis]) for axis in ("truth", "evidence", "validity"))


def fallen(entry: Entry) -> set[str]:
    """The siblings that were refuted."""
    return {s["name"] for s in entry["siblings"] if s["refuted"]}


def changes(before: Entry, after: Entry) -> Iterator[str]:
    """What changed of a claim, in words."""
    if verdict(before) != verdict(after):
        yield f"{verdict(before)} -> {verdict(after)}"
    old, new = before["tightness"], after["tightness"]
    if (old is None) != (new is None) or (old is not None and not abs(old - new) <= _CLOSE):
        yield f"tightness {_shown(old)} -> {_shown(new)}"
    gone, come = fallen(before) - fallen(after), fallen(after) - fallen(before)
    if gone:
        yield f"refuted siblings gone: {'; '.join(sorted(gone))}"
    if come:
        yield f"new: {'; '.join(sorted(come))}"


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def totals(run: Mapping[str, Entry]) -> list[str]:
    """Claims, instances, siblings and seconds of a run."""
    entries = run.values()
    return [
        str(len(run)),
        str(sum(e["examples"] for e in entries)),
        str(sum(e.get("screened", 0) for e in entries)),
        f"{sum(len(fallen(e)) for e in entries)} of {sum(len(e['siblings']) for e in entries)}",
        str(sum(len(e.get("not_shown_to_be_needed", [])) for e in entries)),
        f"{sum(e['seconds'] for e in entries):.0f}",
    ]


def table(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[str]:
    """The page, line by line."""
    yield "| | before | after |"
    yield "| --- | --- | --- |"
    words = ("claims", "instances", "screened", "siblings refuted")
    words += ("hypotheses not shown to be needed", "seconds of work")
    for word, old, new in zip(words, totals(before), totals(after), strict=True):
        yield f"| {word} | {old} | {new} |"
    yield ""
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            yield f"- {name}: only {'after' if name in after else 'before'}"
            continue
        said = list(changes(before[name], after[name]))
        if said:
            yield f"- {name}: {' · '.join(said)}"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    runs = [
        {entry["id"]: entry for entry in json.loads(path.read_text())["claims"]}
        for path in (options.before, options.after)
    ]
    print("\n".join(table(*runs)))


if __name__ == "__main__":
    main()

"""A run as one self-contained HTML page, drawn from its ledger alone: no script, no other file."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from attsvm._words import counted, printable
from attsvm.theory.declaration.verdict import Evidence, Truth, Validity
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.terminal import (
    NOT_SHOWN,
    NOT_SHOWN_MEANING,
    outcome,
    ranked,
    verdict_rows,
)

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
code, pre { font: 13px/1.4 ui-monospace, monospace }
details { border-top: 1px solid #ddd; padding: .4rem 0 }
summary { cursor: pointer }
.proved, .holds { color: #1a6b2f } .undecided { color: #8a6100 } .refuted { color: #a3211b }
.off { background: #fdecea }
.warning { color: #8a6100 }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 } details { border-color: #444 } .off { background: #411 }
  .proved, .holds { color: #7ccf90 } .undecided, .warning { color: #e0b050 }
  .refuted { color: #f09088 }
}
"""


def page(run: Run) -> str:
    """The page of a run: what it came to, a row a claim, and for each what was looked at."""
    entries = [run.verdicts[name] for name in sorted(run.verdicts)]
    off = [entry for entry in entries if not entry.get("as_expected")]
    missing = [name for name in run.claims if name not in run.verdicts]
    examples = sum(int(entry.get("examples", 0)) for entry in entries)
    lines = [
        f"<p>{len(entries)} claims on {examples} instances, profile {_text(run.profile)}, "
        f"seed {run.seed}: {_outcome(run, off, missing)}</p>"
    ]
    if missing:
        lines.append(f"<p class='off'>Without a verdict: {_text(', '.join(missing))}</p>")
    lines += [f"<p class='off'>{_text(r)}: {_text(f)} {_text(w)}</p>" for f, r, w in run.fallen]
    lines += [_table(entries), *map(_details, entries), _words()]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'><title>attsvm: verdicts</title>"
        f"<style>{_STYLE}</style></head><body><h1>Verdicts</h1>\n" + "\n".join(lines) + "\n"
        "</body></html>\n"
    )


def _outcome(run: Run, off: list[Any], missing: list[str]) -> str:
    said = outcome(len(off), len(run.fallen))
    if not run.finished or missing:
        said += "; the run did not finish"
    if run.damaged:
        said += f"; {counted(run.damaged, 'damaged line')} in its record"
    return said


def _table(entries: list[Any]) -> str:
    titles = ("claim", "truth", "evidence", "validity", "siblings", "instances", "tight", "seconds")
    rows = []
    for e, (mark, name, truth, *words) in zip(entries, verdict_rows(entries), strict=True):
        cells = [f"<td class=number>{_text(n)}</td>" for n in words[2:]]
        rows.append(
            f"<tr{' class=off' if mark else ''}><td><a href='#{_anchor(e)}'>{_text(name)}</a></td>"
            f"<td class='{_text(truth)}'>{_text(truth)}</td>"
            f"<td>{_text(words[0])}</td><td>{_text(words[1])}</td>{''.join(cells)}"
            f"<td class=number>{e.get('seconds', 0):.2f}</td></tr>"
        )
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _necessity(shown: Mapping[str, Any] | None) -> str:
    """How a hypothesis is known to be needed, if it is."""
    if shown is None:
        return ""
    return f" (needed: without it refuted by {shown['found_by']}, {shown['evidence']})"


def _details(entry: Mapping[str, Any]) -> str:
    looked = int(entry.get("examples", 0)) + int(entry.get("rejected", 0))
    parts = [
        f"<p>{_text(entry.get('statement', ''))}</p>",
        *_formula(entry.get("formula")),
        f"<p>{_text(entry.get('place', ''))}. {_text(entry.get('reason', ''))}</p>",
    ]
    if not entry.get("as_expected"):
        parts.append(f"<p class=off>expected: {_text(_words_of(entry.get('expected')))}</p>")
    needed = entry.get("needed", {})
    facts = [
        (f"satisfied by {n} of {looked}", f"{h}{_necessity(needed.get(h))}")
        for h, n in entry.get("hypotheses", {}).items()
    ]
    facts += [(kind, ranked(words, 12)) for kind, words in entry.get("coverage", {}).items()]
    for sibling in entry.get("siblings", []):
        fate = f"refuted by {sibling.get('found_by')}" if sibling.get("refuted") else "survived"
        facts.append(("false sibling", f"{sibling.get('name')}: {fate}"))
    if entry.get("broke"):
        facts.append((f"raised on {entry['broke']} made-up", entry.get("broke_note", "")))
    facts += [(NOT_SHOWN, name) for name in entry.get("not_shown_to_be_needed", [])]
    if entry.get("counterexample"):
        facts.append(("counterexample", entry["counterexample"]))
    rows = "".join(f"<tr><th>{_text(a)}</th><td>{_text(b)}</td></tr>" for a, b in facts)
    warnings = "".join(f"<p class=warning>{_text(w)}</p>" for w in entry.get("warnings", []))
    return (
        f"<details id='{_anchor(entry)}'><summary><b>{_text(entry['id'])}</b> "
        f"<span class='{_text(entry.get('truth'))}'>{_text(_words_of(entry))}</span></summary>"
        f"{''.join(parts)}<table>{rows}</table>{warnings}</details>"
    )


def _formula(formula: Mapping[str, Any] | None) -> list[str]:
    """The formula that ran and what its names stand for, under the sentence."""
    if not formula:
        return []
    lines = [formula["conclusion"]["plain"], *(f"where {w['plain']}" for w in formula["where"])]
    return [f"<pre>{chr(10).join(map(_text, lines))}</pre>"]


def _words() -> str:
    rows = "".join(
        f"<tr><td>{axis.__name__.lower()}</td><td><b>{word}</b></td><td>{word.meaning}</td></tr>"
        for axis in (Truth, Evidence, Validity)
        for word in axis
    )
    return f"<h2>How to read a verdict</h2><table>{rows}</table><p>{_text(NOT_SHOWN_MEANING)}</p>"


def _words_of(verdict: Any) -> str:
    axes = ("truth", "evidence", "validity")
    return ", ".join(str(verdict.get(axis)) for axis in axes) if verdict else "?"


def _anchor(entry: Mapping[str, Any]) -> str:
    return _text(entry["id"]).replace("/", "-").replace(":", "-")


def _text(value: object) -> str:
    return escape(printable(str(value)))

"""Text of a hunt for a terminal: its progress, and the account of its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from attsvm._types import Entry
from attsvm._words import counted

if TYPE_CHECKING:
    from attsvm.theory.search.account import Hunt
from attsvm.theory.report.terminal import ranked


def hunt_line(account: Hunt, elapsed: float, seconds: float | None) -> str:
    """Return one line: seconds left, instances, the closest, rounds, instances a second."""
    left = [] if seconds is None else [f"{max(seconds - elapsed, 0.0):.0f} s left"]
    words = [
        *left,
        f"{account.claim.id}{account.part and ' '}{account.part}: "
        f"{counted(account.examples, 'instance')}",
    ]
    if account.smallest is not None:
        words.append("refuted, making it smaller and worse")
    elif account.seen.tightness is not None:
        words.append(f"closest {_ratio(account.seen.tightness)} of the bound")
    elif account.seen.min_slack is not None:
        words.append(f"closest slack {account.seen.min_slack:.6g}")
    words += [f"round {account.rounds}", f"{account.examples / max(elapsed, 1e-3):.3g}/s"]
    return ", ".join(words)


def _ratio(value: float, digits: int = 6) -> str:
    """Return a ratio of both sides; a ratio below 1 that rounds to 1 is written as 1 - x."""
    text = f"{value:.{digits}g}"
    return f"1 - {1.0 - value:.2g}" if text == "1" and value < 1.0 else text


_KNOWN = ("stored counterexample", "explicit instance")
"""Names of searchers for instances that were known before the hunt."""


def hunt_text(
    document: Entry,
    replay: str = "attsvm replay",
    shown: Iterable[str] = (),
    kept: Iterable[str] = (),
) -> Iterator[str]:
    """Yield the lines of a report on a hunt.

    Args:
        document: the document of `hunt --json`.
        replay: the command that replays a file, with the packs that the user named.
        shown: lines that show the counterexample, or the closest instance.
        kept: lines that show another counterexample, no larger, that the file keeps.
    """
    name = document["claim"] + (f", {document['sibling']}" if document["sibling"] else "")
    looked = counted(document["examined"], "instance")
    if document["screened"]:
        looked += f" examined and {document['screened']} screened"
    looked += f" in {counted(document['rounds'], 'round')}"
    if document["interrupted"] and document["examined"] == document["rejected"] == 0:
        yield f"interrupted before any instance was examined: {name}"
        return
    if document["interrupted"]:
        yield "interrupted; results so far are kept"
    if document["found"]:
        by = document["found_by"]
        yield f"refuted, {document['evidence']}: {name} after {looked}, by {by}"
        if by in _KNOWN:
            yield "(known before this hunt; --fresh ignores known counterexamples)"
        yield from _find_text(document, replay, shown, kept)
        yield from _searchers_text(document)
        return
    if document["error"] is not None:
        yield f"no answer: {name}, the hunt broke after {looked}"
    elif document["settled"]:
        met = document["searchers"]["every"]["accepted"]
        yield f"holds within its domain: {name} after {looked}"
        yield (
            f"all {document['settled']} instances of the domain were evaluated exactly; on all of "
            f"the {met} that are proved to meet the hypotheses the claim holds"
        )
    else:
        yield f"not refuted: {name} after {looked}; that is no proof"
    closest = document["closest"]
    ratio, slack = document["tightness"], document["min_slack"]
    if closest:  # numbers beside an instance are those of the instance
        ratio, slack = closest["ratio"], closest["slack"]
    if ratio:
        yield f"closest: left side over right side reached {_ratio(ratio)}"
    elif slack is not None and closest and ratio == 0.0:
        yield f"closest: no instance, as every left side is 0; one has slack {slack:.6g}"
    elif slack is not None:
        yield f"closest: slack {slack:.6g}"
    if closest:
        yield f"  by {closest['by']}, at"
    yield from (f"    {line}" for line in shown)
    yield from _growth_text(document["growth"])
    if document["undecided"]:
        text = f"open: {counted(document['undecided'], 'instance')} could be settled neither way"
        yield f"{text}: {document['note']}"
    if document["open"]:
        yield f"open: {_left_open(document['open'], document['unexamined'])}"
    if document["solver_note"]:
        yield f"solver: {document['solver_note']}"
    if document["unjudged"]:
        yield (
            f"not judged: {counted(document['unjudged'], 'screened instance')}, in which rounding "
            "may hide a violation"
        )
    if document["given_up"] and document.get("given_up_note"):
        yield (
            f"skipped: {counted(document['given_up'], 'evaluation')} of too many steps of Python, "
            f"first {document['given_up_note']}; larger values were not tried"
        )
    elif document["given_up"]:
        yield (
            f"skipped: {counted(document['given_up'], 'evaluation')} of made-up records, with "
            "other integers, lengths or members, took too many steps of Python; larger values were "
            "not tried"
        )
    if document["broke"]:
        yield (
            f"raised: on {counted(document['broke'], 'made-up instance')} a hypothesis, the "
            f"conclusion or the certificate raised an exception; first {document['broke_note']}"
        )
    yield from _searchers_text(document)
    by_searchers: dict[str, list[str]] = {}
    for variable, who in document["moved"].items():
        by_searchers.setdefault(", ".join(who) or "no searcher", []).append(variable)
    yield from (f"  {', '.join(v)}: varied by {who}" for who, v in by_searchers.items())
    if document["exhausted"]:
        reported = (
            f"{low} <= {name} <= {high}" for name, (low, high) in document["exhausted"].items()
        )
        yield f"  every choice of {', '.join(reported)} was screened"
    looked = document["ordinary"]
    for hypothesis, count in document["hypotheses"].items():
        yield f"  satisfied by {count} of {looked} drawn: {hypothesis}"
    yield from (f"  {kind}: {ranked(words, 6)}" for kind, words in document["coverage"].items())
    yield from (f"warning: {warning}" for warning in document["warnings"])


_STEPS = 6
"""Maximum number of steps towards violation that are printed, first and last included."""


def _growth_text(steps: Sequence[Entry]) -> Iterator[str]:
    """Yield how a hunt came closer over time."""
    shown = [s for s in steps if s["height"] is not None]
    if not shown:
        return
    last = len(shown) - 1
    chosen = sorted({round(k * last / (_STEPS - 1)) for k in range(_STEPS)})
    yield "  over time (ratio of the sides, or minus the slack):"
    for step in (shown[k] for k in chosen):
        looked = f"{step['examined']} examined"
        looked += f", {step['screened']} screened" if step["screened"] else ""
        yield f"    {_ratio(step['height'], 10):<14} {step['seconds']:6.1f} s, {looked}"


def _left_open(number: int, unexamined: int) -> str:
    """Return how many made-up instances are not settled, and how many were not checked exactly."""
    made = counted(number, "made-up instance")
    was, them = ("was", "it") if number == 1 else ("were", "them")
    if unexamined == number:
        text = f"{made} {was} not checked exactly"
    else:
        text = f"{made} {was} not settled"
        text += f", {unexamined} of {them} not checked exactly" if unexamined else ""
    return f"{text}; floats see no violation in {them}"


_MINIMAL = (
    "minimal: no move that makes it smaller leaves a counterexample; docs/hunting.md lists "
    "the moves"
)


def _find_text(
    document: Entry, replay: str, shown: Iterable[str], kept: Iterable[str]
) -> Iterator[str]:
    """Yield the counterexample, and the command that replays its file, if there is one."""
    yield from (f"  {line}" for line in shown)
    least = document["unfinished"]
    yield f"  ({f'not made minimal: {least}' if least else _MINIMAL})"
    if document["counterexample"] is None:
        return
    if document["kept"]:
        yield "the file keeps another one, no larger, that was there:"
        yield from (f"  {line}" for line in kept)
    yield f"replay it: {replay} {document['counterexample']}"
    yield "  (the file holds a Python script and LaTeX to paste)"
    if document["worst"]:
        yield f"the worst found: {document['worst']}"


_NEEDS = {
    "gradient": "PyTorch is missing: pip install 'attsvm[reference]'",
    "solver": "z3 is missing: pip install 'attsvm[smt]'",
}
"""The library that a searcher lacks, and the command that installs it."""


def _searchers_text(document: Entry) -> Iterator[str]:
    """Yield the lines on searchers that worked, and on searchers that could not work."""
    for name, effort in document["searchers"].items():
        screened = f", {effort['screened']} screened" if effort["screened"] else ""
        took = "" if effort["seconds"] is None else f", {effort['seconds']:.1f} s"
        yield (
            f"  {name:10} {counted(effort['turns'], 'turn'):>8}, "
            f"{effort['accepted']:6} instances, "
            f"{effort['rejected']:5} refused, {effort['closer']:2} times closer{screened}{took}"
        )
    if document["no_turn"] and not document["found"]:
        yield f"  no turn in this hunt, give more time: {', '.join(document['no_turn'])}"
    if document["nothing_to_move"] and not document["found"]:
        text = ", ".join(document["nothing_to_move"])
        yield f"  not run, as no instance has a variable that they can change: {text}"
    if document["done"] and not document["found"]:
        text = ", ".join(document["done"])
        yield f"  no further turn, as they had nothing more to propose: {text}"
    if document["repeated"]:
        yield f"  {document['repeated']} drawn instances equal one that was drawn before"
    for name in document["absent"]:
        yield f"  {name} is not available: {_NEEDS.get(name, 'a library is missing')}"

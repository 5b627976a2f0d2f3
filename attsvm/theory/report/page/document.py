"""The page: what was found on top, then sources, statements, the words, the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from attsvm._words import counted
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.ledger import Run
from attsvm.theory.report.dependencies import dependencies, svg
from attsvm.theory.report.errata import Weight, standing
from attsvm.theory.report.markup import (
    Markup,
    anchor,
    element,
    folded,
    joined,
    link,
    sentence,
    table,
)
from attsvm.theory.report.page.cards import statement_card
from attsvm.theory.report.page.change import changes_section
from attsvm.theory.report.page.contents import (
    ShownReading,
    ShownSource,
    contents,
    counts,
)
from attsvm.theory.report.page.figures import ShownFigure, figures_section
from attsvm.theory.report.page.findings import findings, strip
from attsvm.theory.report.page.script import SCRIPT
from attsvm.theory.report.page.style import style
from attsvm.theory.report.page.words import badge, colour, meanings
from attsvm.theory.report.terminal import outcome

_EXPLAINED = (
    "Each statement is read in one or more exact forms, its readings. attsvm tries to refute each, "
    "proves it where a proof is known, and has to refute false neighbours of it in the same run."
)


def page(
    run: Run,
    packs: Sequence[Pack] = (),
    *,
    only: str | None = None,
    folder: Path | None = None,
    before: Run | None = None,
    figures: Sequence[ShownFigure] = (),
) -> str:
    """The page of a run.

    Args:
        run: whose verdicts it shows.
        packs: where claims are known, they add what is printed, errata and counterexamples.
        only: the one source that it is about.
        folder: where the page will lie, for links to files; the current folder where None.
        before: an earlier run that it is compared with.
        figures: those of the sources that were redrawn.

    Raises:
        ClaimError: errata that fit no reading, or an instance of one that refutes nothing.
    """
    sources = contents(run, packs, only)
    readings = [r for s in sources for r in s.readings]
    known = [s.id for source in sources for s in source.statements]
    where = folder or Path()
    title = f"attsvm: {only}" if only else "attsvm: what was found"
    body = (
        element("a", "Skip to the statements", href="#statements", class_="skip"),
        _head(run, sources, readings, before, figures),
        element(
            "main",
            *_wrong(run, readings),
            *([changes_section(before, run, {r.id for r in readings}, only)] if before else []),
            *findings(sources),
            strip(sources),
            *(_about(source) for source in sources),
            _statements(sources, known, where),
            *figures_section(figures),
            meanings(),
            _run(run, readings, {c.id for pack in packs for c in pack.claims}),
        ),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(style())),
    )
    script = element("script", Markup(SCRIPT))
    whole = element("html", head, element("body", body, script), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _head(
    run: Run,
    sources: Sequence[ShownSource],
    readings: Sequence[ShownReading],
    before: Run | None,
    figures: Sequence[ShownFigure],
) -> Markup:
    found = counts(readings)
    instances = sum(int(r.entry.get("examples", 0)) for r in readings)
    statements = sum(len(s.statements) for s in sources)
    told = [
        element("span", element("b", number), " ", badge(word), class_="tally")
        for word, number in found.items()
    ]
    title = sources[0].title if len(sources) == 1 else "What was found"
    of = "" if len(sources) == 1 else f" of {counted(len(sources), 'source')}"
    return element(
        "header",
        element("p", "attsvm", class_="brand"),
        element("h1", title),
        element(
            "p",
            f"{counted(statements, 'statement')}{of} in {counted(len(readings), 'reading')}, "
            f"checked on {counted(instances, 'instance')} with profile {run.profile} and seed "
            f"{run.seed}: {_outcome(run, readings)}.",
            class_="lead",
        ),
        element("p", told, class_="tallies"),
        _bar(found),
        element("p", _EXPLAINED, class_="soft"),
        element(
            "nav",
            element("button", "Search statements", element("kbd", "/"), type="button",
                    data_search=True, hidden=True),
            link("changes", "What changed") if before else None,
            link("findings", "Findings"),
            link("strip", "All readings"),
            link("statements", "Statements"),
            link("figures", "Figures") if figures else None,
            link("words", "How to read a verdict"),
            link("run", "The run"),
            (_listed(source, open=len(sources) == 1) for source in sources),
            class_="top",
            aria_label="Contents",
        ),
    )  # fmt: skip


def _listed(source: ShownSource, *, open: bool) -> Markup:
    """A source in the table of contents: all its statements, each with how it stands."""
    name = source.source.name
    listed = [element("li", link(f"source:{name}", "about this source"))]
    for s in source.statements:
        dot = element("span", class_=f"dot {colour(s.standing)}", title=s.standing)
        listed.append(element("li", link(s.id, joined(dot, s.id.removeprefix(f"{name}/")))))
    return folded(
        joined(
            element("b", name),
            element("span", f" {len(source.statements)}", class_="soft"),
            element("span", source.title, class_="soft title") if source.title != name else None,
        ),
        element("ul", listed),
        open=open,
        name="contents",
    )


def _bar(found: Mapping[str, int]) -> Markup:
    """Each word on truth as a part of a bar; its number is said elsewhere."""
    parts, left = [], 0
    for word, number in found.items():
        parts.append(element("rect", x=left, width=number, height=1, class_=colour(word)))
        left += number
    return element("svg", parts, viewBox=f"0 0 {left} 1", preserveAspectRatio="none",
                   class_="bar", aria_hidden="true")  # fmt: skip


def _outcome(run: Run, readings: Sequence[ShownReading]) -> str:
    missing = [r for r in readings if not r.entry]
    off = [r for r in readings if r.entry and not r.as_expected]
    said = outcome(len(off), len(run.fallen))
    if not run.finished or missing:
        said += "; the run did not finish"
    if run.damaged:
        said += f"; {counted(run.damaged, 'damaged line')} in its record"
    return said


def _wrong(run: Run, readings: Sequence[ShownReading]) -> Iterator[Markup]:
    """What is not as it should be, first."""
    lines: list[Any] = []
    for r in readings:
        if not r.entry:
            lines.append(joined("Without a verdict: ", link(r.id)))
        elif not r.as_expected:
            want = r.entry.get("expected") or {}
            lines.append(joined("Not as expected: ", link(r.id), f", {r.truth} where ",
                                f"{want.get('truth', '?')} was expected"))  # fmt: skip
    lines += [f"{result}: {file} {reason}" for file, result, reason in run.fallen]
    lines += [f"{fault[:1].upper()}{fault[1:]}" for fault in run.faults]
    if lines:
        yield element("ul", (element("li", line) for line in lines), class_="off")


def _about(source: ShownSource) -> Markup:
    """A source: what it came to, notes for its authors, its notation, what rests on what."""
    words = source.source
    printed = [s for s in source.statements if any(r.literal for r in s.readings)]
    stands = {str(Truth.PROVED), str(Truth.HOLDS)}
    whole = [s for s in printed if all(r.truth in stands for r in s.readings if r.literal)]
    fallen = sum(s.refuted for s in printed)
    rests = dependencies(r.claim for r in source.readings if r.claim)
    parts = [
        element("h2", source.title, id=anchor(f"source:{words.name}")),
        element(
            "p",
            f"{counted(len(source.statements), 'statement')} in "
            f"{counted(len(source.readings), 'reading')}. "
            + standing(len(printed), fallen, len(whole)),
        ),
        *(element("p", sentence(note)) for note in words.notes),
    ]
    if words.notation:
        rows = (
            (element("b", sentence(word)), sentence(means))
            for word, means in words.notation.items()
        )
        parts.append(folded("Words and symbols", table(("word", "means"), rows)))
    if any(needed in rests for s in rests for needed in rests[s]):
        parts.append(folded("What rests on what", _drawing(source, rests)))
    return element("section", parts)


def _drawing(source: ShownSource, rests: Any) -> Markup:
    states = {
        s.id: "turned" if s.told is not None and s.told.weight is Weight.CLAIM else "refuted"
        for s in source.statements
        if s.refuted
    }
    shown = svg(rests, states, {s.id for s in source.statements})
    sized = re.sub(r"viewBox='0 0 (\d+) (\d+)'", r"\g<0> width='\1' height='\2'", shown, count=1)
    return element("figure", element("div", Markup(sized), class_="drawing", tabindex=0))


def _statements(sources: Sequence[ShownSource], known: Sequence[str], folder: Path) -> Markup:
    return element(
        "section",
        element("h2", "Statements", id="statements"),
        _tools(sources),
        element("div", id="sorted"),
        (
            element(
                "section",
                element("h3", source.title) if len(sources) > 1 else None,
                element(
                    "div",
                    (statement_card(s, source, known, folder) for s in source.statements),
                    data_list=source.source.name,
                ),
                class_="of-source",
            )
            for source in sources
        ),
    )


def _tools(sources: Sequence[ShownSource]) -> Markup:
    """What filters and sorts; it shows where JavaScript runs."""
    truths = [str(word) for word in Truth]
    marks = {
        "off": "not as expected", "printed-falls": "refuted as printed", "unneeded":
        "a hypothesis not shown to be needed", "doubt": "thin, weak, vacuous or broken",
    }  # fmt: skip
    sorts = {
        "place": "by place", "weight": "by weight", "id": "by id", "tight": "by tightness",
        "seconds": "by time taken",
    }  # fmt: skip

    def choice(by: str, label: str, options: dict[str, str], every: str | None) -> Markup:
        shown = [element("option", every, value="")] if every else []
        shown += [element("option", said, value=value) for value, said in options.items()]
        return element("select", shown, data_by=by, aria_label=label)

    return element(
        "form",
        element("input", type="search", data_by="text", placeholder="search words (key: /)",
                autocomplete="off", aria_label="Search"),
        choice("truth", "Truth", {t: t for t in truths}, "any truth"),
        choice("source", "Source", {s.source.name: s.source.name for s in sources}, "all sources"),
        choice("mark", "Only", marks, "all marks"),
        choice("sort", "Sort", sorts, None),
        element("button", "open all", type="button", data_open="all"),
        element("button", "close all", type="button", data_open=""),
        element("span", class_="shown soft", role="status"),
        class_="tools",
        hidden=True,
        role="search",
    )  # fmt: skip


def _named(ran: Set[str], known: Set[str]) -> list[str]:
    """The prefixes and ids that name the claims of a run; none where all that are known ran."""

    def shortest(id: str) -> str:
        for end in "/:":
            prefix = id.partition(end)[0] + end
            if all(other in ran for other in known if other.startswith(prefix)):
                return prefix.removesuffix(":")
        return id

    return [] if known <= ran else list(dict.fromkeys(map(shortest, sorted(ran))))


def _run(run: Run, readings: Sequence[ShownReading], known: Set[str]) -> Markup:
    seconds = sum(float(r.entry.get("seconds") or 0) for r in readings)
    rows = [
        ("profile", run.profile),
        ("seed", run.seed),
        *run.about.items(),
        ("seconds of computing", f"{seconds:.0f}"),
        (
            "curated counterexamples",
            f"{len(run.replays)} replayed, {len(run.fallen)} not confirmed",
        ),
        ("finished", "yes" if run.finished else "no"),
        *(("record", fault) for fault in run.faults),
    ]
    named = " ".join(("", *_named({*run.claims}, known)))
    again = f"attsvm verify --profile {run.profile} --seed {run.seed}{named}"
    return element(
        "section",
        element("h2", "The run", id="run"),
        table(("what", "is"), rows),
        element("p", "Again: ", element("code", again)),
    )

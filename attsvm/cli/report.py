"""`attsvm report` writes the last run as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attsvm._files import write_text
from attsvm._live import Live
from attsvm._words import counted
from attsvm.cli.arguments import LEDGER, Parsers, recorded_run, tell, warn_of_faults
from attsvm.cli.running import ensure_apart, ensure_json
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm._types import JsonObject
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.record.runs import Run

PAGE = "attsvm-report.html"


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "report",
        parsers.packs,
        parsers.only,
        help="write the last run as one HTML page, or one source as Markdown with its errata",
    )
    parser.add_argument(
        "--ledger", metavar="FILE", default=LEDGER, help=f"record of the run (default {LEDGER})"
    )
    parser.add_argument(
        "--source",
        metavar="NAME",
        help="write the page of this source, the first part of its claims' ids",
    )
    parser.add_argument(
        "--graph", metavar="FILE", help="also draw which statement rests on which, as an SVG file"
    )
    parser.add_argument(
        "--figures",
        metavar="DIR",
        help="show the figures that `attsvm reproduce --out DIR` wrote to this folder",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=f"the page (default {PAGE}, or attsvm-NAME.md for a source); .html gives HTML",
    )


def run(options: argparse.Namespace) -> int:
    """Write the page; return 0."""
    from attsvm.theory.record.runs import last_run

    ensure_json(options.json)
    with Live(line="reading the last run"):  # it ends before anything is printed
        run, packs = recorded_run(options)
    warn_of_faults(run)
    out = options.out or (f"attsvm-{options.source}.md" if options.source else PAGE)
    ensure_apart(ledger=options.ledger, json=options.json, graph=options.graph, out=out)
    with Live(line=f"writing {out}"):
        entries = _write(options, run, packs, out)
    of = " on it" if options.source else ""
    document = {"profile": run.profile, "seed": run.seed, "claims": entries}
    last = last_run(options.ledger).verdicts if Path(options.ledger).is_file() else run.verdicts
    earlier = sum(entry["id"] not in last for entry in entries)
    lines = [f"{counted(len(entries) - earlier, 'verdict')} of the last run{of}: {out}"]
    if not run.finished:
        lines.append("the run was interrupted: what it had not checked is not on the page")
    if earlier:
        lines.append(
            f"{earlier} more on the page, of earlier runs of the same code, profile and seed"
        )
    tell(options, {**document, "source": options.source, "page": out}, lines)
    return 0


def _write(
    options: argparse.Namespace, run: Run, packs: tuple[Pack, ...], out: str
) -> list[JsonObject]:
    """Write the page and the graph; return the verdicts on the page, in order of their ids.

    Raises:
        FileError: a file cannot be written, or the folder of figures has none.
        UsageError: there is no such source, the name of the page ends otherwise than in .html or
            .md, or figures are asked for in Markdown.
    """
    entries = [run.verdicts[name] for name in sorted(run.verdicts)]
    as_html = Path(out).suffix.lower() in (".html", ".htm")
    if not as_html and (options.source is None or Path(out).suffix.lower() != ".md"):
        raise UsageError(
            "a page is HTML, or Markdown if it is about one source (--source)",
            value=out,
            remedy="Name it like page.html with --out.",
        )
    if options.source is not None:
        from attsvm.theory.record.errata import claims_of

        claims_of(packs, options.source)
        entries = [e for e in entries if e["id"].startswith(f"{options.source}/")]
    if as_html:
        from attsvm.theory.report.html import page

        drawn: tuple[Any, ...] = ()
        if options.figures is not None:
            from attsvm.reproduce import read

            drawn = read(Path(options.figures), options.source)
        folder = Path(out).parent
        text = page(run, packs, only=options.source, folder=folder, figures=drawn)
    else:
        from attsvm.theory.report.markdown import source_page

        if options.figures is not None:
            raise UsageError(
                "only a page in HTML has figures",
                value=out,
                remedy="Name it like page.html with --out.",
            )
        text = source_page(options.source, packs, run, Path(out))
    write_text(out, text)
    if options.graph:
        from attsvm.theory.report.drawings import drawing
        from attsvm.theory.report.source_view import source_view

        sources = dict.fromkeys(entry["id"].partition("/")[0] for entry in entries)
        write_text(options.graph, drawing(source_view(name, packs, run) for name in sources))
    return entries

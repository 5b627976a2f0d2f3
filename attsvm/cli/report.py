"""`attsvm report` writes the last run as a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from attsvm.cli.arguments import LEDGER, Parsers, split_packs, tell
from attsvm.cli.places import ensure_json

PAGE = "attsvm-report.html"


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "report",
        parsers.packs,
        parsers.only,
        help="the last run as one self-contained HTML page, or a source as Markdown with errata",
    )
    parser.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")
    parser.add_argument(
        "--source", metavar="NAME", help="a page of this source: what its claims' ids begin with"
    )
    parser.add_argument(
        "--graph", metavar="FILE", help="also draw which statement rests on which, as SVG"
    )
    parser.add_argument("--out", metavar="FILE", help=f"default {PAGE}, of a source attsvm-NAME.md")


def run(options: argparse.Namespace) -> int:
    """Write the page; 0."""
    from attsvm._files import write_text
    from attsvm.theory.record.ledger import last_run

    ensure_json(options.json)
    run = last_run(options.ledger)
    if options.only_pack:
        from attsvm.theory.record.gate import only_of

        run = only_of(run, *split_packs(options, run))
    entries = [run.verdicts[name] for name in sorted(run.verdicts)]
    if options.source is None:
        from attsvm.theory.report.run_page import page

        out = options.out or PAGE
        text, of = page(run), ""
    else:
        from attsvm.theory.declaration.packs import load_packs
        from attsvm.theory.report.source_page import source_page

        out = options.out or f"attsvm-{options.source}.md"
        packs = load_packs(options.pack, options.only_pack)
        text, of = source_page(options.source, packs, run, Path(out)), " on it"
        entries = [e for e in entries if e["id"].startswith(f"{options.source}/")]
    write_text(out, text)
    if options.graph:
        from attsvm.theory.declaration.packs import load_packs
        from attsvm.theory.report.dependencies import drawing

        packs = load_packs(options.pack, options.only_pack)
        sources = dict.fromkeys(entry["id"].partition("/")[0] for entry in entries)
        write_text(options.graph, drawing(packs, sources, run))
    document = {"profile": run.profile, "seed": run.seed, "claims": entries}
    lines = [f"{len(entries)} verdicts of the last run{of}: {out}"]
    tell(options, {**document, "source": options.source, "page": out}, lines)
    return 0

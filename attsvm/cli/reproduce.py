"""`attsvm reproduce` redraws a figure of the sources."""

import argparse
import sys
from pathlib import Path

from attsvm._live import Live
from attsvm.cli.arguments import Parsers, natural, positive_integer, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("reproduce", parsers.packs, help="redraw a figure of the sources")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the figure (default: list all figures)"
    )
    parser.add_argument(
        "--out", metavar="DIR", default=".", help="folder for the files (default: this folder)"
    )
    parser.add_argument("--seed", type=natural, default=0, help="seed of the data (default 0)")
    parser.add_argument("--sets", type=positive_integer, help="number of data sets")
    parser.add_argument("--svg", action="store_true", help="write SVG files as well as PNG")


def run(options: argparse.Namespace) -> int:
    """Draw a figure, or list the available figures; return 0."""
    from attsvm.reproduce import conclusions, find_figures, named, write
    from attsvm.theory.packs.packs import NO_CLAIMS, load_packs

    packs = load_packs(options.pack)
    figures = find_figures(packs)
    if options.name is None:
        lines = [f"{f.id}: {f.shows} ({f.place})" for f in figures]
        if not figures:
            why = "No pack that is loaded declares one." if packs else NO_CLAIMS
            lines = [f"There is no figure to redraw. {why}"]
        tell(options, {"figures": [f.json() for f in figures]}, lines)
        return 0
    figure = named(figures, options.name)
    formats = ("png", "svg") if options.svg else ("png",)
    with Live(line=f"computing the numbers of {figure.id}, then drawing"):
        document = write(
            figure, Path(options.out), seed=options.seed, sets=options.sets, formats=formats
        )
    lines = [f"{k}: {fact}" for k, fact in conclusions(document).items()]
    tell(options, document, [*lines, *document["files"]])
    if document["no_pictures"]:
        print(f"attsvm: there are no pictures: {document['no_pictures']}", file=sys.stderr)
    return 0

"""`attsvm heads` tells which heads of a file select tokens, and which tokens they select."""

import argparse
from pathlib import Path

from attsvm._files import make_parents, write_whole
from attsvm._live import Live
from attsvm._threads import single_threaded
from attsvm.cli.arguments import Parsers, tell
from attsvm.cli.running import ensure_file, ensure_json
from attsvm.errors import UsageError


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("heads", help="tell which attention heads of a file select tokens")
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a .npz or .safetensors file of arrays NAME.q and NAME.k (..., head, token, feature); "
        "optionally NAME.v, NAME.mask, NAME.scale, NAME.causal",
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw layers by heads to this file (png, svg, pdf)"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write an HTML page with the table and pictures"
    )


def run(options: argparse.Namespace) -> int:
    """Print a table of all heads, write a picture and a page if asked to, and return 0."""
    single_threaded()
    from attsvm.heads.page import page
    from attsvm.heads.pictures import model
    from attsvm.heads.qk import read_heads
    from attsvm.plots.style import ensure_drawable

    ensure_json(options.json)
    plot, out = (Path(name) if name else None for name in (options.plot, options.out))
    for file, option in ((plot, "--plot"), (out, "--out")):
        if file:
            ensure_drawable(file if option == "--plot" else Path("picture.png"), option)
            ensure_file(str(file), option)
    if out and out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            "--out writes an HTML page",
            value=str(out),
            remedy="Name it like page.html. --plot FILE draws a picture, --json FILE.json has the "
            "table.",
        )
    with Live(line="reading heads"):
        heads = read_heads(options.file)
        table = heads.table()
    if plot:
        figure = model(table)
        make_parents(plot)
        write_whole(plot, lambda file: figure.savefig(file, format=plot.suffix[1:], dpi=150))
    if out:
        text = page(heads, table)
        make_parents(out)
        write_whole(out, lambda file: file.write(text.encode()))
    tell(options, table.json(), [table], code=True)
    return 0

"""`attsvm claims` lists claims."""

import argparse

from attsvm.cli.arguments import Parsers, needed, tell


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add("claims", parsers.packs, parsers.only, help="list claims")
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="claims, statements or prefixes of ids to list (default: all)",
    )


def run(options: argparse.Namespace) -> int:
    """List the claims; return 0."""
    from attsvm.theory.packs.packs import NO_CLAIMS, find_claims, load_packs
    from attsvm.theory.report.terminal import claims_text

    packs = load_packs(options.pack, options.only_pack, needed(options))
    entries = [c.json() for c in find_claims(packs, options.ids)]
    lines = claims_text(entries) if entries else [f"There is no claim to list. {NO_CLAIMS}"]
    tell(options, {"claims": entries}, lines)
    return 0

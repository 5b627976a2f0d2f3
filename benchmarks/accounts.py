"""Results of hunts without prior knowledge: `python -m benchmarks.accounts`.

Every literal reading is hunted without its own instances and stored counterexamples, until one is
found or the time ends. `--write docs/tables/hunts.md` renews the page. If ids are named, the rows
of other readings are kept.
"""

import argparse
import os
import re
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from attsvm._files import write_text
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.workers import processes
from attsvm.theory.search.hunt import Hunt, hunt

HEAD = """# What hunts find without stored counterexamples

Every literal reading was hunted for up to {seconds:g} s, {workers} workers, seed {seed}, without
its own instances and stored counterexamples:
`python -m benchmarks.accounts --seconds {seconds:g} -n {workers} --write docs/tables/hunts.md`. A
find is confirmed; if nothing was found, that is no proof, and the table says how near it came.

| reading | verdict | the hunt | instances | open | seconds |
| --- | --- | --- | --- | --- | --- |
"""


def row(account: Hunt) -> str:
    """Return the row of the page for one hunt."""
    if account.smallest is not None:
        by = account.smallest.found_by
        text = f"found by {by}, {account.smallest.evidence}"
        text += ", minimal" if account.minimal else ""
    elif account.error is not None:
        text = f"broke: {account.error}"
    elif account.seen.tightness is not None:
        text = f"not found; left over right side up to {account.seen.tightness:.4g}"
    elif account.seen.min_slack is not None:
        text = f"not found; slack at least {account.seen.min_slack:.4g}"
    else:
        text = "not found; nothing was evaluated"
    claim = account.claim
    unsettled = account.seen.undecided + account.seen.open
    text = text.replace("|", "\\|")
    return (
        f"| {claim.id} | {claim.expected.verdict.truth} | {text} | {account.examples} | "
        f"{unsettled} | {account.seconds:.1f} |\n"
    )


def rows_of(page: str) -> dict[str, str]:
    """Return the rows of a page by the ids of their readings."""
    return {m[1]: m[0] for m in re.finditer(r"^\| (\S+:\S+) \|.*\n", page, re.M)}


def main() -> None:
    """Hunt all literal readings and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="prefixes of ids; all literal readings by default")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-n", "--workers", type=int, default=1)
    parser.add_argument("--write", metavar="FILE", help="where to write the page")
    options = parser.parse_args()
    claims = [c for c in find_claims(load_packs(), options.ids) if c.reading.startswith("literal")]
    head = HEAD.format(seconds=options.seconds, workers=options.workers, seed=options.seed)
    page = Path(options.write) if options.write else None
    rows = rows_of(page.read_text()) if page and page.is_file() and options.ids else {}
    with processes(options.workers) as crew:
        for done, claim in enumerate(claims, start=1):
            account = hunt(
                claim, seconds=options.seconds, seed=options.seed, crew=crew, known=False
            )
            rows[claim.id] = row(account)
            print(f"[{done}/{len(claims)}] {row(account)}", end="", file=sys.stderr, flush=True)
    results = sum("| found by " in shown for shown in rows.values())
    text = f"{head}{''.join(rows[id] for id in sorted(rows))}\n{results} of {len(rows)} fell.\n"
    if page:
        write_text(page, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

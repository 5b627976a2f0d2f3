"""`attsvm kernel` has Coq check proofs for all sizes, counterexamples and linked proofs."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._live import Live
from attsvm.cli.arguments import Parsers, positive_integer, tell
from attsvm.errors import UsageError

if TYPE_CHECKING:
    from attsvm.theory.coq.kernel import Checked
    from attsvm.theory.declaration.claim import Claim

_LISTED = 24
"""Maximum number of readings without a theorem that are listed."""


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "kernel",
        parsers.packs,
        parsers.only,
        help="have Coq check proofs for all sizes, stored counterexamples or linked proofs",
    )
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="claims, statements or prefixes of ids to check (default: all)",
    )
    parser.add_argument(
        "--proofs",
        action="store_true",
        help="check linked proofs instead: Coq proves each fact as a lemma from its premises; "
        "the last theorem is the statement of the reading",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="with --proofs: write the files for Coq to this folder and keep them",
    )
    parser.add_argument(
        "-n", "--workers", type=positive_integer, default=1, help="number of processes (default 1)"
    )
    parser.add_argument(
        "--coqc", metavar="PROGRAM", default="coqc", help="the compiler of Coq (default coqc)"
    )


def run(options: argparse.Namespace) -> int:
    """Check the theorems; return 1 if Coq rejects one or fails on one, else 0.

    Raises:
        UsageError: there is no Coq, or a folder is named but no linked proofs are asked for.
    """
    if options.out is not None and not options.proofs:
        raise UsageError(
            "--out keeps the files of linked proofs", value=str(options.out), remedy="Add --proofs."
        )
    from attsvm.theory.coq.kernel import Proofs, check, check_linked, ensure_coq
    from attsvm.theory.coq.linked import linked_jobs
    from attsvm.theory.packs.packs import find_claims, load_packs
    from attsvm.theory.record.curated import known

    version = ensure_coq(options.coqc)
    results: list[Checked] = []
    with Live(line="loading claims") as live:
        packs = load_packs(options.pack, options.only_pack, options.ids)
        chosen = {claim.id for claim in find_claims(packs, options.ids)}
        coqc, count = options.coqc, options.workers

        def show_line(line: str) -> None:
            live.update(line.__str__, worth=False)

        with contextlib.ExitStack() as stack:
            folder = options.out
            if folder is None:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attsvm-")))
            folder.mkdir(parents=True, exist_ok=True)
            for pack in packs:
                claims = [claim for claim in pack.claims if claim.id in chosen]
                if options.proofs:
                    results += check_linked(linked_jobs(claims), coqc, show_line, count, folder)
                    continue
                proofs = Proofs.of(pack.folder.parent / "symbolic/coq")
                results += check(claims, known, proofs, coqc, show_line, count, beside=pack.claims)
        judged = {r.claim for r in results}
        without = {
            claim.id: _why_none(claim, proofs=options.proofs)
            for claim in find_claims(packs, options.ids)
            if options.ids and claim.id not in judged
        }
    fell = [r for r in results if r.result in ("rejected", "failed")]
    document = {
        "coq": version,
        "theorems": [
            {
                "claim": r.claim,
                "kind": r.kind,
                "result": r.result,
                "reason": r.reason,
                "axioms": list(r.axioms),
                "facts": r.facts,
                "checked": r.checked,
            }
            for r in results
        ],
        "without": without,
        "accepted": not fell,
    }
    tell(options, document, _lines(results, without, version))
    return 1 if fell else 0


def _why_none(claim: Claim, *, proofs: bool) -> str:
    """Return why a reading has no theorem to check, or no linked proof with `proofs`."""
    from attsvm.theory.report.proofs import LINKED, connection

    kind = connection(claim)
    if proofs:
        return "its proof is in prose, so that it has no facts to check" if kind else "no proof"
    text = "no theorem: it has no proof in Coq for all sizes, and no stored counterexample"
    return f"{text}; --proofs checks its linked proof" if kind == LINKED else text


def _lines(results: Sequence[Checked], without: Mapping[str, str], version: str) -> Iterator[str]:
    """Yield a line for each theorem, and for each named reading without one, and the counts."""
    shown = [r for r in results if r.result != "not expressible"]
    width = max((len(r.claim) for r in shown), default=0)
    for r in shown:
        yield f"{r.claim:<{width}}  {r.result:<8}  {r.kind}" + (f": {r.reason}" if r.reason else "")
    yield from (f"{id}: {reason}" for id, reason in [*without.items()][:_LISTED])
    if len(without) > _LISTED:
        yield f"{len(without) - _LISTED} more without one; --json lists them"
    counts = Counter(r.result for r in results)
    yield version
    yield ", ".join(
        f"{counts[word]} {word}" for word in ("accepted", "rejected", "failed", "not expressible")
    )
    if counts["in part"] or any(r.facts for r in results):
        yield f"{counts['in part']} in part; facts checked: " + " of ".join(
            str(sum(getattr(r, name) for r in results)) for name in ("checked", "facts")
        )
    reasons = Counter(r.reason for r in results if r.result in ("not expressible", "in part"))
    for reason, count in reasons.most_common():
        yield f"  {count} not expressible: {reason}"
    axioms = sorted({axiom for r in results for axiom in r.axioms})
    if axioms:
        yield "axioms used, by module:"
    for module, names in itertools.groupby(axioms, lambda axiom: axiom.partition(".")[0]):
        yield f"  {module}: {', '.join(name.partition('.')[2] for name in names)}"

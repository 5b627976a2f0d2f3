"""The command `attsvm show` prints one statement: its sentence, its formula, its readings."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from attsvm.cli.arguments import Parsers, command, recorded_run, tell, warn_of_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.report.view import ReadingView


_T = TypeVar("_T")
_SMALLEST = "# Of the smallest counterexample known; the one on the screen has none."
_NO_WORDS = "not expressible: "


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "show", parsers.packs, parsers.only, help="print one statement with its readings"
    )
    parser.add_argument("id", metavar="ID", help="the statement, or one of its claims")
    parser.add_argument(
        "--all", action="store_true", help="print everything, even more than one screen"
    )
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        help="show the verdicts of this run instead of the expected ones",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--latex", action="store_true", help="print the formulas as LaTeX")
    form.add_argument(
        "--script",
        action="store_true",
        help="print the stored counterexamples as scripts that need numpy alone",
    )
    form.add_argument(
        "--verifier",
        action="store_true",
        help="print the counterexamples as programs of Python's standard library that check them",
    )
    form.add_argument(
        "--coq",
        action="store_true",
        help="print each reading and its counterexample as propositions for Coq",
    )
    form.add_argument(
        "--proof",
        action="store_true",
        help="run the proofs and print their facts or steps; with --all, small steps too",
    )


def run(options: argparse.Namespace) -> int:
    """Print the statement; return 0."""
    from attsvm.theory.packs.packs import find_claims, load_packs, premises
    from attsvm.theory.record.errata import find_source
    from attsvm.theory.report.screen import screen
    from attsvm.theory.report.view import statement_of, statement_view

    run = None
    if options.ledger:
        run, packs = recorded_run(options)
        warn_of_faults(run)
    else:
        ids = (
            [] if options.script else [options.id]
        )  # all modules of a pack are loaded, as any may define how scripts are written
        packs = load_packs(options.pack, options.only_pack, ids)
    statement = statement_of(find_claims(packs, [options.id]), options.id)
    source = find_source(packs, statement.partition("/")[0])
    rests = premises(options.pack, options.only_pack)
    view = statement_view(statement, find_claims(packs), source, run, rests)
    readings = [r for r in view.readings if r.claim]
    asked = [r for r in readings if options.id in (r.id, statement)] or readings
    if options.script or options.verifier:
        scripts = _scripts(asked, packs, options) if options.script else _verifiers(asked, options)
        tell(options, view.json(), scripts, code=True)
        return 0
    if options.proof:
        tell(options, view.json(), _proofs(asked, options))
        return 0
    if options.coq:
        tell(options, view.json(), _propositions(r.claim for r in asked if r.claim), code=True)
        return 0
    if options.latex:
        lines: Iterable[str] = _latex(asked)
    else:
        lines = screen(view, whole=options.all, asked=options.id.partition(":")[2])
    tell(options, view.json(), lines, code=options.latex)
    return 0


def _latex(readings: Iterable[ReadingView]) -> Iterator[str]:
    """Yield the formulas of each reading, after a comment with its name if there are several."""
    from attsvm.theory.report.screen import formula_lines

    names: dict[tuple[str, ...], list[str]] = {}
    for reading in readings:
        names.setdefault(tuple(formula_lines([reading], latex=True)), []).append(reading.name)
    for lines, alike in names.items():
        yield from [f"% {', '.join(alike)}"] if len(names) > 1 else []
        yield from lines


def _proofs(readings: Iterable[ReadingView], options: argparse.Namespace) -> Iterator[str]:
    """Yield the proof of each proved reading, or that there is none."""
    from attsvm.theory.report.proofs import proof_lines

    for reading in readings:
        if reading.claim is not None and reading.claim.proof is not None:
            yield from proof_lines(reading.claim, whole=options.all)
        else:
            yield f"{reading.id} has no proof"
        yield ""


def _scripts(
    readings: Iterable[ReadingView], packs: Iterable[Pack], options: argparse.Namespace
) -> Iterator[str]:
    """Yield the script of each refuted reading, or why it has none."""
    from attsvm.theory.report.script import script, writers

    own = writers(packs)
    for claim, cases in _refuted(readings):
        k, results = _first(script(claim, case, own) for case in cases)
        if not cases:
            yield _none(claim, options)
        elif results is None:
            yield f"# {claim.id}: no short script; the one in its file needs attsvm"
        else:
            if k:
                yield _SMALLEST
            if not results.shows:
                yield "# The two sides differ by less than floats tell; exact arithmetic decides."
            yield results.text.rstrip()


def _verifiers(readings: Iterable[ReadingView], options: argparse.Namespace) -> Iterator[str]:
    """Yield the verifier of each refuted reading, or why it has none."""
    from attsvm.theory.report.verifier import verifier_or_reason

    printed = []
    for claim, cases in _refuted(readings):
        made = [verifier_or_reason(claim, case) for case in cases]
        k, results = _first(text for text, _ in made)
        if not cases:
            yield _none(claim, options)
        elif results is None:
            yield f"# {claim.id} has no verifier: the checker has no words for {made[-1][1]}"
        else:
            if k:
                yield _SMALLEST
            printed.append(claim.id)
            yield results.rstrip()
    if len(printed) > 1:
        print(
            f"attsvm: {len(printed)} programs, one after another; to run one, name its reading: "
            f"attsvm show --verifier {printed[0]}",
            file=sys.stderr,
        )


def _propositions(claims: Iterable[Claim]) -> Iterator[str]:
    """Yield the propositions for Coq of each reading, or why it has none.

    A reading is stated for all sizes; its refutation and the tightness of its constant follow if
    they are claimed, and its counterexamples.
    """
    from attsvm.theory.coq import theorems
    from attsvm.theory.coq.kernel import decided
    from attsvm.theory.declaration.formula import TIGHTENED
    from attsvm.theory.declaration.verdict import Truth
    from attsvm.theory.record.curated import known

    yield "Require Import Prelude."
    for claim in claims:
        theorem, reason = theorems.expressible(theorems.statement, claim)
        yield theorem.text if theorem else f"(* {claim.id}, for all sizes: {_NO_WORDS}{reason} *)"
        if theorem and claim.expected.truth is Truth.REFUTED:
            yield f"Definition {theorem.name}_refuted : Prop := ~ {theorem.name}.\n"
        if any(TIGHTENED in sibling.parameters for sibling in claim.siblings):
            tight, reason = theorems.expressible(theorems.tightness, claim)
            yield (
                tight.text
                if tight
                else f"(* {claim.id}, no smaller constant: {_NO_WORDS}{reason} *)"
            )
        for case in known(claim):
            refuted, reason = theorems.expressible(theorems.refutation, claim, case)
            listing = refuted and f"{decided(refuted)}Print Assumptions {refuted.name}.holds.\n"
            yield listing or f"(* its counterexample: {_NO_WORDS}{reason} *)"


def _refuted(readings: Iterable[ReadingView]) -> Iterator[tuple[Claim, tuple[Any, ...]]]:
    """Yield each claim with the instances that refute it."""
    yield from ((r.claim, r.cases) for r in readings if r.claim)


def _none(claim: Claim, options: argparse.Namespace) -> str:
    """Return a line for a reading without a stored counterexample, and how to get one."""
    from attsvm.theory.declaration.verdict import Truth

    if claim.expected.truth is not Truth.REFUTED:
        return f"# {claim.id} is expected to stand and has no stored counterexample"
    return (
        f"# {claim.id} has no stored counterexample: copy the file that "
        f"`{command(options, 'hunt', claim.id)}` writes into a folder `counterexamples` beside the "
        "claim"
    )


def _first(made: Iterable[_T | None]) -> tuple[int, _T | None]:
    """Return the index of the first item that is not None, and the item; (0, None) if all are."""
    return next(((k, one) for k, one in enumerate(made) if one is not None), (0, None))

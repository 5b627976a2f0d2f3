"""The command line: claims, verify, hunt, replay, gate, report, solve, reproduce.

Exit codes: 0 as hoped for, 1 not, 2 usage or bad input, 3 an internal error, 130 interrupted.
Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attsvm._files import write_whole
from attsvm._threads import single_threaded
from attsvm.errors import AttsvmError, FileError, UsageError

if TYPE_CHECKING:
    from attsvm.theory.account import Hunt
    from attsvm.theory.ledger import Ledger
    from attsvm.theory.workers import Workers

__all__ = ["main"]

BEGUN = time.time()
"""When the command began: what starting takes is part of the time that a hunt is given."""

LEDGER = ".attsvm/ledger.jsonl"
HUNTED = ".attsvm/hunted"
PAGE = "attsvm-report.html"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(message, remedy=f"See `{self.prog} --help`.")


def positive_integer(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{value} is below 0")
    return value


def seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no positive number of seconds below 1e9")
    return value


def price(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no positive finite price")
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("attsvm")
    except PackageNotFoundError:
        return "(not installed)"


def _parser() -> _Parser:
    shared = _Parser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show tracebacks")
    shared.add_argument("--json", metavar="FILE", help="write one JSON document; - is stdout")
    packs = _Parser(add_help=False)
    packs.add_argument(
        "--pack",
        action="append",
        default=[],
        metavar="PACK",
        help="a claim pack beside the installed ones: module, package or .py file",
    )
    run = _Parser(add_help=False)
    run.add_argument("--seed", type=int, default=0, help="base seed (default 0)")
    where = run.add_mutually_exclusive_group()
    where.add_argument(
        "-n", "--workers", type=positive_integer, default=1, help="processes (default 1)"
    )
    where.add_argument(
        "--cluster", metavar="ADDRESS", help="the scheduler of a dask cluster that does the work"
    )

    parser = _Parser(
        prog="attsvm",
        description="Executable theory of softmax attention as a support vector machine.",
        epilog="Exit codes: 0 as hoped for, 1 not, 2 usage or bad input, 3 internal error, "
        "130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"attsvm {_version()}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=_Parser
    )

    claims = commands.add_parser("claims", parents=[shared, packs], help="list claims")
    claims.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")

    verify = commands.add_parser(
        "verify", parents=[shared, packs, run], help="check claims and their siblings"
    )
    verify.add_argument("ids", nargs="*", metavar="ID", help="claim, statement or prefix")
    verify.add_argument("--profile", choices=["quick", "ci", "deep"], default="quick")
    verify.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")

    hunt = commands.add_parser(
        "hunt", parents=[shared, packs, run], help="search a counterexample to one claim"
    )
    hunt.add_argument("id", metavar="ID")
    hunt.add_argument("--seconds", type=seconds, help="wall time (default 60)")
    hunt.add_argument(
        "--rounds", type=positive_integer, help="rounds of search; the same for any -n"
    )
    hunt.add_argument("--sibling", default="", metavar="NAME", help="hunt a sibling instead")
    hunt.add_argument("--searchers", metavar="A,B,...", help="default: all that fit the claim")
    hunt.add_argument(
        "--fresh",
        action="store_true",
        help="do not look at the claim's own explicit instances and stored counterexample",
    )
    hunt.add_argument(
        "--out",
        metavar="DIR",
        default=HUNTED,
        help=f"where finds go, each with a Python script and LaTeX (default {HUNTED})",
    )

    replay = commands.add_parser(
        "replay", parents=[shared, packs], help="re-execute stored counterexamples"
    )
    replay.add_argument(
        "files", nargs="+", metavar="FILE", help="a stored file, or a folder of them"
    )

    gate = commands.add_parser(
        "gate", parents=[shared, packs], help="hold a run against the reviewed expectations"
    )
    gate.add_argument(
        "--expect",
        metavar="FILE",
        help="default: the expectations.json of every pack; with --pack, of those named and of "
        "others that the run checked",
    )
    gate.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")

    report = commands.add_parser(
        "report",
        parents=[shared, packs],
        help="the last run as one self-contained HTML page, or a source as Markdown with errata",
    )
    report.add_argument("--ledger", metavar="FILE", default=LEDGER, help=f"default {LEDGER}")
    report.add_argument(
        "--source", metavar="NAME", help="a page of this source: what its claims' ids begin with"
    )
    report.add_argument("--out", metavar="FILE", help=f"default {PAGE}, of a source attsvm-NAME.md")

    solve = commands.add_parser(
        "solve", parents=[shared], help="solve the Att-SVM of your own data"
    )
    solve.add_argument("data", metavar="DATA.npz")
    solve.add_argument(
        "--norm", choices=["fro", "nuc"], default="fro", help="norm to minimise (default fro)"
    )
    solve.add_argument(
        "--targets",
        default="opt",
        metavar="opt|I,J,...",
        help="tokens to select: the optimal ones, or an index per input",
    )
    solve.add_argument("--soft", type=price, metavar="C", help="soft margin with this price")
    solve.add_argument(
        "--slack",
        choices=["constraint", "input"],
        help="what has a slack of its own in the soft margin (default constraint)",
    )
    solve.add_argument("--plot", metavar="FILE", help="draw the margins (png, svg, pdf)")

    reproduce = commands.add_parser(
        "reproduce", parents=[shared, packs], help="redraw a figure of the sources"
    )
    reproduce.add_argument("name", nargs="?", metavar="NAME", help="default: list what there is")
    reproduce.add_argument("--out", metavar="DIR", default=".", help="default: the current folder")
    reproduce.add_argument("--seed", type=natural, default=0, help="of the data (default 0)")
    reproduce.add_argument("--sets", type=positive_integer, help="number of data sets")
    reproduce.add_argument("--svg", action="store_true", help="write SVG beside PNG")
    return parser


def _claims(options: argparse.Namespace) -> int:
    from attsvm.theory.files import write_json
    from attsvm.theory.packs import find_claims, load_packs
    from attsvm.theory.report import print_claims

    entries = [c.json() for c in find_claims(load_packs(options.pack), options.ids)]
    if options.json:
        write_json(options.json, {"schema": 1, "claims": entries})
    if options.json != "-":
        print_claims(entries)
    return 0


def _open_ledger(path: str) -> Ledger:
    from attsvm.theory.ledger import Ledger

    ledger = Ledger(path)
    _keep_from_git(Path(path))
    return ledger


def _keep_from_git(path: Path) -> None:
    """Have git ignore the folder of our own that this was written to."""
    if path.parent == Path(LEDGER).parent:
        ignore = path.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")


def _ensure_writable(folder: Path, option: str) -> None:
    """Tell before the work, not after it, that its results cannot be written.

    Raises:
        FileError: the folder is not there and cannot be made, or cannot be written to.
    """
    why = ""
    for place in (folder, *folder.parents):
        try:
            there = stat.S_ISDIR(place.stat().st_mode)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # a file on the way, or no name at all
            why = getattr(error, "strerror", None) or str(error)
            break
        if not there:
            why = f"{place} is no folder"
        elif not os.access(place, os.W_OK | os.X_OK):
            why = "it may not be written to"
        break
    if why:
        raise FileError(
            f"cannot write into {folder}: {why}", remedy=f"Name another place with {option}."
        )


def _ensure_json(path: str | None) -> None:
    if path and path != "-":
        _ensure_writable(Path(path).parent, "--json")
        if Path(path).is_dir():
            raise FileError(f"cannot write {path}: it is a folder", remedy="Name a file.")


@contextlib.contextmanager
def _crew(options: argparse.Namespace) -> Iterator[Workers]:
    """The workers asked for. SIGTERM ends them as Ctrl-C does; `options.stopped` says so.

    The exception alone would not do: what runs as it strikes may swallow it.
    """
    options.stopped = False

    def stop(*_: object) -> None:
        options.stopped = True
        raise KeyboardInterrupt

    single_threaded()
    ours = threading.current_thread() is threading.main_thread()
    blows = (signal.SIGINT, signal.SIGTERM) if ours else ()
    before = {blow: signal.signal(blow, stop) for blow in blows}
    try:
        if options.cluster:
            from attsvm.theory.cluster import cluster

            # workers may run in other folders
            options.pack = [os.path.abspath(p) if p.endswith(".py") else p for p in options.pack]
            with cluster(options.cluster, options.pack) as crew:
                yield crew
        else:
            from attsvm.theory.workers import processes

            with processes(options.workers, options.pack) as crew:
                yield crew
    finally:
        for blow, handler in before.items():
            signal.signal(blow, handler)


def _verify(options: argparse.Namespace) -> int:
    with _crew(options) as crew:
        return _verify_with(crew, options)


def _verify_with(crew: Workers, options: argparse.Namespace) -> int:
    from attsvm.theory.curated import summary
    from attsvm.theory.files import write_json
    from attsvm.theory.packs import find_claims, load_packs
    from attsvm.theory.profiles import profile_named
    from attsvm.theory.report import Live, outcome, table_text
    from attsvm.theory.verify import Checked, plan, verify

    _ensure_json(options.json)
    packs = load_packs(options.pack)
    total = len(plan(find_claims(packs, options.ids), profile_named(options.profile)))
    with _open_ledger(options.ledger) as ledger, Live(total) as live:

        def progress(done: int, _: int, checked: Checked | None) -> None:
            if options.stopped:
                raise KeyboardInterrupt
            live.update(done, None if checked is None else f"{checked.claim.id}: {checked.verdict}")

        report = verify(
            packs,
            options.ids,
            profile=options.profile,
            seed=options.seed,
            crew=crew,
            named=options.pack,
            ledger=ledger,
            examples_folder=Path(options.ledger).parent / "counterexamples",
            progress=progress,
        )
    document = report.json()
    if options.json:
        write_json(options.json, document)
    if options.json != "-":
        table_text(document["claims"])
        for line in summary(report.replayed):
            print(line)
        examples = sum(c.reading.examples for c in report.checked)
        wrong = sum(not c.as_expected for c in report.checked)
        print(
            f"{len(report.checked)} claims on {examples} instances, profile {report.profile}, "
            f"seed {report.seed}: " + outcome(wrong, sum(not r.confirmed for r in report.replayed))
        )
        stored = [c.counterexample for c in report.checked if c.counterexample]
        if stored:
            with_pack = "".join(f" --pack {pack}" for pack in options.pack)
            print(
                f"{len(stored)} counterexample(s) in {Path(stored[0]).parent}; "
                f"replay them: attsvm replay{with_pack} FILE"
            )
    return 0 if report.matched else 1


def _hunt(options: argparse.Namespace) -> int:
    options.account, options.stored, options.told = None, {}, False
    try:
        with _crew(options) as crew:
            return _hunt_with(crew, options)
    except KeyboardInterrupt:
        if not options.told:
            _tell_of_nothing(options)
        return 130


def _tell_of_nothing(options: argparse.Namespace) -> None:
    """Say that a hunt was interrupted outside its search; nothing is imported for that."""
    document: dict[str, Any] = {"schema": 1, "claim": options.id, "found": False}
    document |= {"rounds": 0, "examples": 0, "rejected": 0, "error": None}
    if options.account is not None:
        document = options.account.json()
    document |= {
        "sibling": options.sibling or None,
        "interrupted": True,
        "counterexample": options.stored.get("smallest"),
        "worst": options.stored.get("worst"),
    }
    text = json.dumps(document, indent=1)
    if options.json == "-":
        print(text)
        return
    if options.json:
        Path(options.json).parent.mkdir(parents=True, exist_ok=True)
        write_whole(options.json, lambda file: file.write(f"{text}\n".encode()))
    seen = document["examples"] + document["rejected"]
    when = f"after {document['examples']} instances" if seen else "before anything was looked at"
    print(f"interrupted {when}: {document['claim']}")
    for path in options.stored.values():
        print(f"counterexample: {path}")


def _searchers(text: str | None) -> list[str] | None:
    """The searchers asked for, None where none are named."""
    if text is None:
        return None
    chosen = [word.strip() for word in text.split(",")]
    if not all(chosen):
        raise UsageError(
            "a searcher without a name", value=repr(text), remedy="Name some, or leave it out."
        )
    if not {"explicit", "ensemble", "drawn"} & set(chosen):
        raise UsageError(
            "guided searchers start from instances that others draw",
            value=text,
            remedy="Add drawn.",
        )
    return chosen


def _unfinished(account: Hunt, seconds: float | None) -> str | None:
    """Why a find is not known to be minimal."""
    if account.smallest is None or account.minimal:
        return None
    if account.interrupted:
        return "interrupted"
    if seconds is not None and account.seconds >= 0.9 * seconds:  # hunts end a little early
        return "the time ran out, go on with more --seconds"
    return f"shrinking broke ({account.error or 'it found no way on'})"


def _hunt_with(crew: Workers, options: argparse.Namespace) -> int:
    """Hunt; 1 where a counterexample is found, 0 where not, 130 where not as it was interrupted."""
    from attsvm.theory import counterexample, files
    from attsvm.theory.hunt import Hunt, hunt
    from attsvm.theory.packs import find_claims, load_packs
    from attsvm.theory.report import tell_hunt
    from attsvm.theory.verdict import Truth
    from attsvm.theory.watch import Watch

    chosen = _searchers(options.searchers)
    folder = Path(options.out)
    _ensure_writable(folder, "--out")
    _ensure_json(options.json)
    claims = find_claims(load_packs(options.pack), [options.id])
    if len(claims) != 1:
        raise UsageError(
            "a hunt is for one claim",
            value=options.id,
            remedy=f"Choose among {', '.join(c.id for c in claims)}.",
        )
    claim = claims[0]
    claim.part(options.sibling)
    options.account = Hunt(claim, options.sibling)
    if claim.expected.truth is Truth.PROVED and not options.sibling:
        print(
            f"attsvm: {claim.id} is expected to be proved; `attsvm verify {claim.id}` executes the "
            "proof, and a hunt can only question it",
            file=sys.stderr,
        )
    stored: dict[str, str] = options.stored
    seconds = None if options.rounds and options.seconds is None else options.seconds or 60.0
    if seconds is not None:  # starting took some of it
        seconds = max(seconds - (time.time() - BEGUN), 0.5 * seconds)
    with Watch(seconds) as watch:

        def progress(account: Hunt) -> None:
            options.account = account
            if options.stopped:
                raise KeyboardInterrupt
            if account.smallest is not None and not stored:
                stored.update(counterexample.store(folder, account))
            watch.update(account)

        result = hunt(
            claim,
            part=options.sibling,
            seconds=seconds,
            rounds=options.rounds,
            seed=options.seed,
            crew=crew,
            searchers=chosen,
            known=not options.fresh,
            named=options.pack,
            progress=progress,
        )
    options.account = result
    document = result.json()
    shown: list[str] = []
    document["kept"] = False
    if result.smallest is not None:
        stored.update(counterexample.store(folder, result))
        _keep_from_git(folder)
        there = counterexample.read(stored["smallest"])
        document["kept"] = there["instance"] != result.smallest.instance
        shown = counterexample.shown(claim, options.sibling, result.smallest)
    document["unfinished"] = _unfinished(result, seconds)
    document["counterexample"] = stored.get("smallest")
    document["worst"] = stored.get("worst")
    if options.json:
        files.write_json(options.json, document)
    if options.json != "-":
        tell_hunt(document, options.pack, shown)
    options.told = True
    if result.error is not None:
        print(f"attsvm: the hunt of {claim.id} broke: {result.error}", file=sys.stderr)
    if result.smallest is not None:
        return 1
    if result.interrupted:
        return 130
    return 3 if result.error is not None else 0


def _replay(options: argparse.Namespace) -> int:
    from attsvm.theory.counterexample import gathered, replay
    from attsvm.theory.files import write_json
    from attsvm.theory.packs import load_packs

    packs = load_packs(options.pack)
    results = [replay(path, packs) for path in gathered(options.files)]
    confirmed = all(r.confirmed for r in results)
    if options.json:
        write_json(
            options.json,
            {"schema": 1, "files": [r.json() for r in results], "confirmed": confirmed},
        )
    if options.json != "-":
        for result in results:
            print(result)
    return 0 if confirmed else 1


def _gate(options: argparse.Namespace) -> int:
    from attsvm.theory.files import write_json
    from attsvm.theory.gate import concerned, hold, read_expectations
    from attsvm.theory.ledger import last_run
    from attsvm.theory.packs import load_packs

    run = last_run(options.ledger)
    left_out: list[str] = []
    if options.expect:
        expectations = read_expectations(options.expect)
    else:
        expectations = {}
        packs = load_packs(options.pack)
        held = concerned(packs, options.pack, run)
        left_out = [pack.name for pack in packs if pack not in held]
        for pack in held:
            if not pack.expectations.is_file():
                raise UsageError(
                    f"pack {pack.name} has no expectations.json beside it",
                    remedy="Write one like properties/expectations.json, or name it (--expect).",
                )
            expectations.update(read_expectations(pack.expectations))
    reasons = hold(run, expectations, datetime.date.today())
    if options.json:
        document = {"schema": 1, "passed": not reasons, "reasons": list(reasons)}
        write_json(options.json, {**document, "left_out": left_out})
    if options.json != "-":
        for reason in reasons:
            print(reason)
        print(
            f"gate: {len(reasons)} reason(s) to stop"
            if reasons
            else f"gate: {len(run.verdicts)} verdicts as reviewed"
        )
        for name in left_out:
            print(f"the run checked nothing of the installed pack {name}, nor was it held to it")
    return 1 if reasons else 0


def _report(options: argparse.Namespace) -> int:
    from attsvm.theory.files import write_json, write_text
    from attsvm.theory.ledger import last_run

    _ensure_json(options.json)
    run = last_run(options.ledger)
    entries = [run.verdicts[name] for name in sorted(run.verdicts)]
    if options.source is None:
        from attsvm.theory.run_page import page

        out = options.out or PAGE
        text, of = page(run), ""
    else:
        from attsvm.theory.packs import load_packs
        from attsvm.theory.source_page import source_page

        out = options.out or f"attsvm-{options.source}.md"
        text, of = source_page(options.source, load_packs(options.pack), run, Path(out)), " on it"
        entries = [e for e in entries if e["id"].startswith(f"{options.source}/")]
    write_text(out, text)
    if options.json:
        document = {"schema": 1, "profile": run.profile, "seed": run.seed, "claims": entries}
        write_json(options.json, {**document, "source": options.source, "page": out})
    if options.json != "-":
        print(f"{len(entries)} verdicts of the last run{of}: {out}")
    return 0


def _tell_of_compiling(special: str) -> None:
    """Say that the first run takes longer, where no machine code is cached yet."""
    from attsvm import kernels

    cache = Path(kernels.__file__).parent / "__pycache__"
    if not all(any(cache.glob(f"{name}.*.nbi")) for name in ("least_norm", special) if name):
        print("attsvm: compiling the solver once, some seconds", file=sys.stderr)


def _solve(options: argparse.Namespace) -> int:
    from attsvm.data import AttentionData
    from attsvm.svm.answer import solve
    from attsvm.svm.page import ensure_drawable
    from attsvm.theory.files import write_json

    targets: list[int] | None = None
    if options.targets != "opt":
        try:
            targets = [int(word) for word in options.targets.split(",")]
        except ValueError as error:
            raise UsageError(
                "targets are `opt` or integers separated by commas", value=options.targets
            ) from error
    if options.soft is not None and options.norm == "nuc":
        raise UsageError(
            "the soft margin is defined with the Frobenius norm",
            value="--norm nuc --soft",
            remedy="Leave one of the two out.",
        )
    if options.slack is not None and options.soft is None:
        raise UsageError("--slack is about the soft margin", remedy="Give --soft C as well.")
    if options.plot:
        ensure_drawable(Path(options.plot))
    _tell_of_compiling("soft" if options.soft else "nuclear" if options.norm == "nuc" else "")
    answer = solve(
        AttentionData.load(options.data),
        targets,
        norm=options.norm,
        soft=options.soft,
        slack=options.slack or "constraint",
    )
    if options.json:
        write_json(options.json, answer.json())
    if options.json != "-":
        print(answer)
    if options.plot and answer.solved:
        answer.plot(options.plot)
    elif options.plot:
        print("attsvm: no plot: there are no margins to draw", file=sys.stderr)
    return 0 if answer.solved else 1


def _reproduce(options: argparse.Namespace) -> int:
    from attsvm.reproduce import find_figures, named, write
    from attsvm.theory.files import write_json
    from attsvm.theory.packs import load_packs

    figures = find_figures(load_packs(options.pack))
    if options.name is None:
        if options.json:
            write_json(options.json, {"schema": 1, "figures": [f.json() for f in figures]})
        if options.json != "-":
            for f in figures:
                print(f"{f.id}: {f.shows} ({f.place})")
        return 0
    figure = named(figures, options.name)
    _tell_of_compiling("descent")
    formats = ("png", "svg") if options.svg else ("png",)
    document = write(
        figure, Path(options.out), seed=options.seed, sets=options.sets, formats=formats
    )
    if options.json:
        write_json(options.json, document)
    if options.json != "-":
        print("\n".join(document["files"]))
    if document["no_pictures"]:
        print(f"attsvm: numbers, but no picture: {document['no_pictures']}", file=sys.stderr)
    return 0


_COMMANDS = {
    "claims": _claims,
    "verify": _verify,
    "hunt": _hunt,
    "replay": _replay,
    "gate": _gate,
    "report": _report,
    "solve": _solve,
    "reproduce": _reproduce,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every error becomes a message and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    try:
        options = _parser().parse_args(words)
        return _COMMANDS[options.command](options)
    except AttsvmError as error:
        if debug:
            raise
        print(f"attsvm: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        kept = "; the ledger holds what was done" if words[:1] == ["verify"] else ""
        print(f"attsvm: interrupted{kept}", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        print(
            f"attsvm: internal error ({type(error).__name__}: {error}). "
            "Run again with --debug and report it.",
            file=sys.stderr,
        )
        return 3


if __name__ == "__main__":
    sys.exit(main())

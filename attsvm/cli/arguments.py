"""The common part of all commands: the parser, types of arguments, shared options, output."""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from attsvm._files import write_json
from attsvm._words import counted
from attsvm.errors import LedgerError, UsageError

if TYPE_CHECKING:
    from attsvm._types import Entry
    from attsvm.theory.packs.packs import Pack
    from attsvm.theory.record.runs import Run

LEDGER = ".attsvm/ledger.jsonl"
DEFAULTS = {"profile": "quick", "seed": 0}
"""Default values of the options that name the run to compare or repeat."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are attsvm errors.

    Attributes:
        remedies: by option, the advice in an error instead of a reference to the help.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "allow_abbrev": False})
        self.remedies: dict[str, str] = {}

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an argument that a command does not know is an error of that command."""
        result, left = self.parse_known_args(args, namespace)
        if left:
            below = {n: p for a in self._actions for n, p in parsers_below(a).items()}
            asked = below.get(getattr(result, "command", ""), self)
            asked.error(f"unrecognized arguments: {' '.join(left)}")
        return result

    def error(self, message: str) -> Any:
        """Raise UsageError, with the remedy of the option or a hint at the help."""
        help = f"See `{self.prog} --help`."
        wrong = re.match(r"argument \S+: invalid choice: '(.*?)' \(choose from (.*)\)$", message)
        known = re.findall(r"[\w-]+", wrong[2]) if wrong else self.options()
        wrong = wrong or re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        near = wrong and difflib.get_close_matches(wrong[1], known, n=1)
        if near:
            help = f"Did you mean {near[0]}? {help}"
        option = message.partition("argument ")[2].partition(":")[0]
        raise UsageError(message, remedy=self.remedies.get(option, help))

    def options(self) -> list[str]:
        """Return the options of this parser and of its commands."""
        below = [p for a in self._actions for p in parsers_below(a).values()]
        return sorted(
            {*self._option_string_actions, *(name for p in below for name in p.options())}
        )

    def words(self) -> list[str]:
        """Return the words that may follow this command: its options and its choices."""
        bare = (a.choices or () for a in self._actions if not a.option_strings)
        return [*self.options(), *(word for choices in bare for word in choices)]


def parsers_below(action: argparse.Action) -> dict[str, Parser]:
    """Return the parsers of the commands that an action chooses among, by name."""
    choices = action.choices if isinstance(action.choices, dict) else {}
    return {name: parser for name, parser in choices.items() if isinstance(parser, Parser)}


def _integer(least: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is below {least}")
        return value

    return integer


def _number(most: float, what: str) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = float(text)
        if not 0 < value < most:
            raise argparse.ArgumentTypeError(f"{text} is not a positive {what}")
        return value

    return number


positive_integer, natural = _integer(1), _integer(0)
seconds = _number(1e9, "number of seconds below 1e9")
price = _number(math.inf, "finite price")


@dataclass(frozen=True, slots=True)
class Parsers:
    """The subparsers to which commands are added, with the options that they may share.

    Attributes:
        commands: the subparsers.
        shared: --debug and --json.
        packs: --pack.
        only: --only-pack.
        run: --seed, and the options for workers.
    """

    commands: Any
    shared: Parser
    packs: Parser
    only: Parser
    run: Parser

    @classmethod
    def of(cls, parser: Parser) -> Parsers:
        """Return the subparsers of a parser, ready for the commands."""
        shared = Parser(add_help=False)
        shared.add_argument("--debug", action="store_true", help="show tracebacks")
        shared.add_argument(
            "--json",
            metavar="FILE",
            help="write one JSON document to FILE; - is stdout",
        )
        packs = Parser(add_help=False)
        packs.add_argument(
            "--pack",
            action="append",
            default=[],
            metavar="PACK",
            help="also load this claim pack: a module, a package or a .py file",
        )
        only = Parser(add_help=False)
        only.add_argument(
            "--only-pack",
            action="append",
            default=[],
            metavar="PACK",
            help="load only this claim pack, and others named so: a module, a package, a .py file, "
            "or the entry point of an installed pack",
        )
        run = Parser(add_help=False)
        run.add_argument(
            "--seed", type=int, default=0, help="seed of all random choices (default 0)"
        )
        where = run.add_mutually_exclusive_group()
        where.add_argument(
            "-n",
            "--workers",
            type=positive_integer,
            default=1,
            help="number of processes (default 1)",
        )
        where.add_argument(
            "--cluster",
            metavar="ADDRESS",
            help="address of the scheduler of a dask cluster to use instead",
        )
        commands = parser.add_subparsers(
            dest="command", required=True, metavar="COMMAND", parser_class=Parser
        )
        return cls(commands, shared, packs, only, run)

    def add(self, name: str, *parents: Parser, help: str) -> Parser:
        """Return a command with the shared options and those of `parents`."""
        made: Parser = self.commands.add_parser(name, parents=[self.shared, *parents], help=help)
        return made


def load_alone(options: argparse.Namespace) -> None:
    """Add the packs of --only-pack to those that workers and printed commands load."""
    if options.only_pack:
        from attsvm.theory.packs.known_packs import sources_of

        options.pack = [*options.pack, *sources_of(options.only_pack)]


def needed(options: argparse.Namespace) -> list[str]:
    """Return the ids that a command needs; empty if it needs all claims.

    It needs all claims to reuse earlier outcomes, as their digests cover whole packs.
    """
    if getattr(options, "reuse", False):
        return []
    return list(getattr(options, "ids", None) or filter(None, [getattr(options, "id", "")]))


def command(options: argparse.Namespace, name: str, *more: str) -> str:
    """Return a command line to paste with the packs, profile, seed and ledger of this one."""
    from attsvm.theory.packs.known_packs import sources_of

    alone = getattr(options, "only_pack", [])
    loaded = sources_of(alone) if alone else []  # `load_alone` has made packs of them
    loaded += [
        os.path.abspath(pack) for pack in loaded
    ]  # absolute, as `crew` makes them for a cluster
    words = ["attsvm", name]
    words += [w for pack in options.pack if pack not in loaded for w in ("--pack", pack)]
    words += [w for pack in alone for w in ("--only-pack", pack)]
    for option, usual in DEFAULTS.items() if name in ("verify", "gate") else ():
        value = getattr(options, option, usual)
        words += [f"--{option}", str(value)] if name == "verify" or value != usual else []
    ledger = getattr(options, "ledger", LEDGER)
    if name in ("verify", "gate") and ledger != LEDGER:
        words += ["--ledger", ledger]
    return shlex.join([*words, *more])


def recorded(options: argparse.Namespace, read: Callable[[str], Run]) -> Run:
    """Return the run that `read` finds in the ledger of the options.

    Raises:
        LedgerError: there is none. The remedy is the command that records a run of these packs.
    """
    try:
        return read(options.ledger)
    except LedgerError as error:
        remedy = error.remedy.replace("attsvm verify", command(options, "verify"))
        raise LedgerError(error.cause, value=error.value, remedy=remedy) from error


def split_packs(options: argparse.Namespace, run: Run) -> tuple[tuple[Pack, ...], tuple[Pack, ...]]:
    """Return the packs to compare, and with --only-pack also other packs that the run checked."""
    from attsvm.theory.gate.expectations import files_beside
    from attsvm.theory.packs.known_packs import sources_of
    from attsvm.theory.packs.packs import load_packs

    packs = load_packs(options.pack, options.only_pack)
    if not options.only_pack or set(run.claims) <= {c.id for p in packs for c in p.claims}:
        return packs, ()
    names = {pack.name for pack in packs}
    named = [*sources_of(options.only_pack), *files_beside(packs, run.claims)]
    every = load_packs([*options.pack, *named])
    return packs, tuple(pack for pack in every if pack.name not in names)


def not_yours(options: argparse.Namespace, packs: Iterable[Pack], verb: str) -> str:
    """Return a remark on the packs that neither the project nor --pack names; "" for none."""
    from attsvm.theory.packs.known_packs import listed

    own = [*dict.fromkeys([*listed(Path.cwd()), *options.pack])]
    ids = {c.id for pack in packs if pack.name not in own for c in pack.claims}
    if options.only_pack or not own or not ids:
        return ""
    sources = ", ".join(sorted({id.partition("/")[0] for id in ids}))
    alone = shlex.join(word for pack in own for word in ("--only-pack", pack))
    return f"also {verb} {sources} ({counted(len(ids), 'claim')}); add `{alone}` for yours alone"


def recorded_run(options: argparse.Namespace) -> tuple[Run, tuple[Pack, ...]]:
    """Return the last run and the packs to compare it with; `run.faults` is completed.

    A fault added here is, for example, that other code is checked out than the run had.
    """
    from attsvm.theory.gate.gate import stale
    from attsvm.theory.gate.scope import only_of
    from attsvm.theory.packs.checkout import checked_packs, code_of
    from attsvm.theory.record.runs import joined_run

    whole = recorded(options, joined_run)
    packs, others = split_packs(options, whole)
    every = [*packs, *others]
    code = code_of(checked_packs(every, whole.claims))
    run = only_of(whole, packs, others)
    ran = whole
    if not set(whole.claims) <= {c.id for pack in every for c in pack.claims}:
        # files of packs that are not loaded cannot be compared
        ran = replace(whole, code={n: d for n, d in whole.code.items() if n in code})
    return replace(run, faults=(*run.faults, *stale(ran, code))), packs


def warn_of_faults(run: Run) -> None:
    """Print what is wrong with the record of a run."""
    for fault in run.faults:
        say(f"attsvm: {fault}", file=sys.stderr)


def say(*lines: object, file: TextIO | None = None) -> None:
    """Print lines; on a terminal, break those that are too long at spaces."""
    stream = sys.stdout if file is None else file
    if stream.isatty():
        from attsvm.theory.report.terminal import columns, fitted

        lines = tuple(fitted(lines, columns(stream)))
    for line in lines:
        print(line, file=stream)


def tell(
    options: argparse.Namespace, document: Entry, lines: Iterable[object], *, code: bool = False
) -> None:
    """Print the lines and write the document of --json, which replaces the lines on stdout.

    Lines of `code` are not broken on a terminal.
    """
    if options.json != "-":
        for line in lines:
            print(line) if code else say(line)
    if options.json:
        write_document(options.json, {"schema": 1, **document})


def write_document(path: str, document: Entry) -> None:
    """Write the document of --json; tell on standard error of a folder that is made for it."""
    new = path != "-" and not Path(path).parent.is_dir()
    write_json(path, document)
    if new:
        say(f"attsvm: wrote {path}, in a new folder", file=sys.stderr)

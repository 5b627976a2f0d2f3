"""The command line.

A command is a module of its name: `add` declares its options, `run` runs it. Exit codes: 0 success,
1 a negative result, 2 usage, bad input or unwritable output, 3 an internal error, 130 interrupted,
141 if the output pipe was closed. Expensive modules are imported only if a command needs them.
"""

import argparse
import contextlib
import functools
import importlib
import io
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

from attsvm.cli.arguments import Parser, Parsers, say
from attsvm.errors import AttsvmError, FileError

_COMMANDS = (
    *("claims", "show", "verify", "ask", "hunt", "replay", "gate", "kernel"),
    *("report", "new", "solve", "heads", "reproduce", "compile", "completion"),
)


class _Version(argparse.Action):
    """An action that looks up the version and prints it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print the version and exit."""
        from attsvm._distribution import version

        print("attsvm", version())
        parser.exit()


@functools.cache
def parser_of(command: str) -> Parser:
    """Return a parser of one command; of all commands for `completion` and for unknown words."""
    parser = Parser(
        prog="attsvm",
        description="Executable theory of softmax attention as a support vector machine.",
        epilog="Exit codes: 0 success, 1 a negative result, 2 usage or bad input, 3 internal "
        "error, "
        "130 interrupted. To begin: attsvm verify sim/lemma-3.13; attsvm show sim/lemma-3.13.",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    parsers = Parsers.of(parser)
    alone = command in _COMMANDS and command != "completion"
    for name in (command,) if alone else _COMMANDS:
        _module(name).add(parsers)
    return parser


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"attsvm.cli.{command}")


class _Output(io.FileIO):
    """Standard output whose failure is an attsvm error, reported once."""

    _failed = False

    def write(self, content: Any, /) -> int:
        """Write bytes and return how many were written.

        Raises:
            FileError: standard output cannot be written.
            BrokenPipeError: the reader of the pipe has closed it.
        """
        if self._failed:  # the interpreter must not write the buffers again at exit
            return len(content)
        try:
            return super().write(content)
        except OSError as error:
            self._failed = True
            if isinstance(error, BrokenPipeError):
                raise
            raise FileError(
                f"cannot write to standard output: {error.strerror or error}",
                remedy="Redirect it to a place that can be written.",
            ) from error


@contextlib.contextmanager
def _output() -> Iterator[None]:
    """Redirect standard output inside the context to a stream that reports failures once.

    Raises:
        FileError: standard output is closed, or cannot be written.
        BrokenPipeError: the reader of the pipe has closed it.
    """
    if sys.stdout is None:
        remedy = f"Redirect it, to {os.devnull} if need be."
        raise FileError("standard output is closed", remedy=remedy)
    stream, own = sys.stdout, sys.stdout is sys.__stdout__
    if own:  # a replaced stdout, as in notebooks, is not ours to close
        raw = _Output(stream.fileno(), "w", closefd=False)
        stream.flush()
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.isatty(),
        )
    with contextlib.redirect_stdout(stream):
        try:
            yield
            stream.flush()
        except ValueError as error:
            if not stream.closed:
                raise
            raise FileError(
                "standard output was closed by code of a claim pack",
                remedy="A pack may print, but must leave standard output open.",
            ) from error
        finally:
            if not stream.closed:
                stream.flush()


_LIBRARIES = ("numba", "scipy", "sympy")
"""Libraries that no check of a formula in balls needs, so that an installation may lack them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every error becomes a message and an exit code."""
    if sys.stderr is None:  # closed: the next opened file would get its descriptor
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    options = None
    try:
        with _output():
            parser = parser_of(words[0] if words else "")
            if not words:
                parser.print_help(sys.stderr)
                return 2
            options = parser.parse_args(words)
            return int(_module(options.command).run(options))
    except AttsvmError as error:
        if debug:
            raise
        say(f"attsvm: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        kept = "; the ledger holds what was done" if words[:1] == ["verify"] else ""
        print(f"attsvm: interrupted{kept}", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        library = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0]
        if library in _LIBRARIES:
            text = f"attsvm: this command needs {library}, which is not installed"
            say(f"{text}. pip install {library}", file=sys.stderr)
            return 2
        say(
            f"attsvm: internal error ({type(error).__name__}: {error}). "
            f"Report what `attsvm {shlex.join([*words, '--debug'])}` says.",
            file=sys.stderr,
        )
        return 3
    except BaseException as error:
        if options is None:  # the parser exits by SystemExit, with usage or help
            raise
        say(
            f"attsvm: {options.command} did not finish: code of a claim pack left it by "
            f"{_leaving(error)}",
            file=sys.stderr,
        )
        return 3


def _leaving(error: BaseException) -> str:
    """Return a text with the error of a claim pack and the place that raised it."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}({error}) in {last.filename}:{last.lineno}"

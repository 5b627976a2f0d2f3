"""Gives damaged and hostile files to every reader: `python -m benchmarks.fuzz --count 100000`.

A reader must refuse such a file by an error of `attsvm.errors`, or accept it and show it
harmlessly, in bounded time and memory. Input k of a reader depends on the reader's name, the seed
and k alone: `--reader NAME --seed S --only K` reads one again, and `--write FILE` keeps it.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from attsvm.errors import AttsvmError
from attsvm.theory.run.sampling import derive_seed
from benchmarks.fuzz.readers import Reader, in_one_line, readers

SECONDS = 5.0
"""Maximum processor time for reading one file, in seconds."""

BYTES = 2 << 30
"""Maximum memory for reading one file, in bytes beyond the memory used before."""


@dataclass(slots=True)
class Account:
    """The results of a reader's inputs.

    Attributes:
        reader: its name.
        accepted, refused: number of accepted and of refused inputs.
        faults: the first input of every kind of fault, with a description.
        errors: number of faults of each kind.
        slowest: maximum processor seconds of an input.
    """

    reader: str
    accepted: int = 0
    refused: int = 0
    faults: dict[str, tuple[int, str]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0

    def line(self, seed: int) -> Iterator[str]:
        """Yield lines with the counts, and for each fault the command that repeats it."""
        yield (
            f"{self.reader:24}{self.accepted + self.refused + self.errors.total():8} inputs"
            f"{self.accepted:8} accepted{self.refused:8} refused{self.errors.total():6} faults"
            f"{self.slowest:8.2f} s at most"
        )
        for kind, (k, text) in self.faults.items():
            yield f"  {kind}, {self.errors[kind]} times; first by"
            yield f"  python -m benchmarks.fuzz --reader {self.reader!r} --seed {seed} --only {k}"
            yield "    " + text.replace("\n", "\n    ")


class TooLong(KeyboardInterrupt):
    """Reading takes too long; code that catches errors of claims does not catch this."""


def mutated(reader: Reader, seed: int, k: int) -> bytes:
    """Return input k of a reader, which depends on the reader's name, the seed and k alone."""
    return reader.mutated(random.Random(derive_seed(f"fuzz {reader.name}", k, seed)))


def feed(
    reader: Reader, seed: int, numbers: Sequence[int], folder: Path, *, seconds: float = SECONDS
) -> Account:
    """Give the reader these inputs, one after the other, and return the results.

    Args:
        reader: the reader.
        seed: the base seed.
        numbers: the numbers of the inputs.
        folder: the folder of the file that each input overwrites.
        seconds: maximum processor time for reading one input.
    """
    account = Account(reader.name)
    path = folder / "input"
    with _bounded():
        for k in numbers:
            path.write_bytes(mutated(reader, seed, k))
            started = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            try:
                reader.read(path)
                account.accepted += 1
            except AttsvmError as error:
                account.refused += 1
                if not in_one_line(str(error)):
                    _blame(account, k, ValueError(f"a message is {str(error)!r}"))
            except (Exception, TooLong) as error:
                _blame(account, k, error)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            account.slowest = max(account.slowest, time.process_time() - started)
    return account


def _blame(account: Account, k: int, error: BaseException) -> None:
    """Count a fault by the type of its error and the line of attsvm that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "attsvm" in f.filename.split("/")] or frames
    where = f" in {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    kind = f"{type(error).__name__}{where}"
    account.errors[kind] += 1
    account.faults.setdefault(kind, (k, f"{type(error).__name__}: {str(error)[:300]}"))


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Make it an error inside the context to take too much processor time or memory."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong("it takes too much of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if (
        sys.platform == "linux"
    ):  # other systems do not report the memory used, or do not enforce the limit
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGVTALRM, before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Feed the readers and print the results; return 1 if a fault was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs of all readers together")
    parser.add_argument("--seed", type=int, default=0, help="base seed (default 0)")
    parser.add_argument("--reader", action="append", default=[], help="this one only")
    parser.add_argument("--only", type=int, metavar="K", help="input K alone")
    parser.add_argument("--write", metavar="FILE", help="with --reader and --only: keep the input")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        every = readers(Path(name))
        chosen = [r for r in every if not options.reader or r.name in options.reader]
        if not chosen:
            parser.error(f"the readers are {', '.join(r.name for r in every)}")
        started, faults, total = time.process_time(), 0, 0
        for reader in chosen:
            numbers = range(-(-options.count // len(chosen)))
            if options.only is not None:
                numbers = range(options.only, options.only + 1)
                if options.write:
                    Path(options.write).write_bytes(mutated(reader, options.seed, options.only))
            account = feed(reader, options.seed, numbers, Path(name))
            print("\n".join(account.line(options.seed)), flush=True)
            faults += account.errors.total()
            total += len(numbers)
    seconds = time.process_time() - started
    print(
        f"{total} inputs, seed {options.seed}: {faults} faults in {seconds:.0f} s of the processor"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""Count killed mutants: `python -m benchmarks.mutants [--count 400] [--rooms exact svm/bounds]`.

A mutant is one small change of one file of attsvm/ (`mutations.py`). It is made in a private copy
of the tree. The tests of its room that reach the changed lines run first; then `attsvm verify` runs
on the claims whose code the mutant changes. Mutants that change nothing that can be observed are
listed by hand in equivalent.toml, each with its reason, and are not run.
"""

import argparse
import contextlib
import functools
import itertools
import json
import queue
import shutil
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.code_bases import files_of
from attsvm.theory.packs.code_digests import homes, module_of
from attsvm.theory.packs.packs import find_claims, load_packs
from benchmarks.mutants.copies import PYTEST, SHOWN, Copy, uncompiled
from benchmarks.mutants.mutations import Mutant, uses, watched
from benchmarks.mutants.rooms import CERTIFYING, ROOMS, ROOT, room_of, sample

LISTED = Path(__file__).with_name("equivalent.toml")

_LONGEST, _PATIENCE, _LEAST, _COMPILING, _ALL = 20, 6.0, 30.0, 300.0, 1e5
"""Limits of time, in this order:

- seconds of one test;
- factor by which the tests of a mutant may take longer than without the change;
- seconds added to that product;
- seconds to compile kernels;
- seconds of the unchanged code.
"""


@dataclass(slots=True)
class Tried:
    """A mutant with its results.

    Attributes:
        room: its room.
        mutant: the mutant.
        tests: result of the tests: killed, survived, unreached, or equivalent.
        by: the test that killed it, or the reason why it is equivalent.
        verify: result of `attsvm verify`: killed, survived, or not tried.
        claims: the claims that were checked.
        seconds: wall-clock seconds.
    """

    room: str
    mutant: Mutant
    tests: str = ""
    by: str = ""
    verify: str = "not tried"
    claims: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def alive(self) -> bool:
        """Return whether neither a test nor a claim killed the mutant."""
        return "killed" not in (self.tests, self.verify) and self.tests != "equivalent"


def listed() -> dict[tuple[str, str, str, str], str]:
    """Return the reasons for which mutants are equivalent, by the keys of the mutants."""
    rows = tomllib.loads(LISTED.read_text(encoding="utf-8")).get("mutant", [])
    return {(r["file"], r["scope"], r["before"], r["after"]): r["why"] for r in rows}


@dataclass(slots=True)
class Reach:
    """The tests of a room that pass within `_LONGEST`.

    Attributes:
        seconds: seconds by test.
        lines: the tests that reach a line, by file and line number.
    """

    seconds: dict[str, float]
    lines: dict[tuple[str, int], set[str]]

    def of(self, lines: set[tuple[str, int]]) -> list[str]:
        """Return the tests that reach one of the lines, shortest first; all for no lines."""
        tests = set().union(*(self.lines.get(at, ()) for at in lines)) if lines else {""}
        tests = (
            set(self.seconds) if "" in tests else tests
        )  # lines that an import runs concern all tests
        return sorted(tests & self.seconds.keys(), key=lambda test: (self.seconds[test], test))


def reach(copy: Copy, tests: Sequence[str], files: set[str], **own: str) -> Reach:
    """Run tests once and return which of them reach which lines of some files."""
    with tempfile.TemporaryDirectory(dir=copy.folder.parent) as folder:
        starter = "from benchmarks.mutants import reach\nreach.start()\n"
        (Path(folder) / "sitecustomize.py").write_text(starter)
        result = Path(folder) / "found"
        words = [*PYTEST, "-p", "benchmarks.mutants.reach", *tests]
        probed = copy.folder / "attsvm"
        names = {"PROBED": str(probed), "FOUND": str(result), "SECONDS": str(_LONGEST)}
        environment = {f"MUTANTS_{name}": value for name, value in names.items()}
        code, text = copy.run(words, _ALL, PYTHONPATH=folder, **environment, **own)
        copy.close()
        if code not in (0, 1):
            raise RuntimeError(f"{tests} do not run: {text[-2000:]}")
        rows = [row.split("\t") for row in result.read_text().splitlines() if row.count("\t") > 2]
    bad = {row[1] for row in rows if row[0] == "test" and row[3] != "passed"}
    print(f"left out, as they fail or last: {', '.join(sorted(bad)) or 'none'}", file=sys.stderr)
    reached = Reach(defaultdict(float), defaultdict(set))
    for kind, test, *rest in rows:
        if test in bad:
            continue
        if kind == "test":
            reached.seconds[test] += float(rest[2])
        elif f"attsvm/{rest[0]}" in files:
            for line in range(int(rest[1]), int(rest[2]) + 1):
                reached.lines[f"attsvm/{rest[0]}", line].add(test)
    return reached


def tested(copy: Copy, tried: Tried, reached: Reach, lines: set[tuple[str, int]]) -> None:
    """Run the tests that reach one of the lines on a mutant; `tried` gets the result and the test.

    The changed file stays in the copy.
    """
    mutant, room = tried.mutant, ROOMS[room_of(tried.mutant.file)]
    tests, path = reached.of(lines), copy.folder / mutant.file
    copy.put(mutant.file, mutant.applied(path.read_bytes()))
    if not tests:
        tried.tests = "unreached"
        return
    chosen = copy.folder.parent / "chosen"
    chosen.write_text("\n".join(tests))
    limit = _PATIENCE * sum(reached.seconds[test] for test in tests) + _LEAST
    code, text = copy.run([*PYTEST, *SHOWN, f"@{chosen}"], limit, **uncompiled(room))
    if code == 5:
        raise RuntimeError(f"no test was collected: {text[-2000:]}")
    rows = [line.partition(" ") for line in text.splitlines()]
    by = [test.partition(" - ")[0] for how, _, test in rows if how in ("FAILED", "ERROR")]
    tried.tests = "killed" if code else "survived"
    tried.by = "time" if code == -1 else by[0][:200] if code and by else ""


def users(chosen: Iterable[Mutant], claims: Iterable[Claim]) -> dict[Mutant, list[str]]:
    """Return for each mutant the claims whose modules import the file that it changes.

    Claims that import it through the fewest other modules come first, as they depend on it most.
    """
    paths = {claim.id: _distances(homes(claim.file, claim.proof)) for claim in claims}
    results = {}
    for mutant in chosen:
        file = ROOT / mutant.file
        near = {id: distances[file] for id, distances in paths.items() if file in distances}
        results[mutant] = sorted(near, key=lambda id: (near[id], id))
    return results


def _distances(files: Iterable[Path]) -> dict[Path, int]:
    """Return the modules of this repository that files import, with the number of steps to them."""
    results: dict[Path, int] = {}
    left = [(0, file) for file in files]
    for steps, file in left:  # the list grows: a breadth-first search
        if file not in results:
            results[file] = steps
            left += ((steps + 1, inner) for inner in _inner(file))
    return results


@functools.cache
def _inner(file: Path) -> tuple[Path, ...]:
    """Return the modules of this repository that a module imports.

    A name imported from a package leads to the module that defines it. Packages themselves are left
    out, as they import too much.
    """
    dotted = set(module_of(file, ROOT).imported)
    for name in tuple(dotted):
        for package in files_of(ROOT, name[:-1]):
            if package.name == "__init__.py":
                dotted |= {one for one in module_of(package, ROOT).imported if one[-1] == name[-1]}
    results = (files_of(ROOT, name[:k]) for name in sorted(dotted) for k in range(1, len(name) + 1))
    return tuple(inner for files in results for inner in files if inner.name != "__init__.py")


def _verify(copy: Copy, ids: Iterable[str], limit: float, **own: str) -> tuple[int, Any]:
    kept = copy.folder.parent / "verified.json"
    kept.unlink(missing_ok=True)
    ledger = copy.folder.parent / "ledger" / "ledger.jsonl"
    shutil.rmtree(ledger.parent, ignore_errors=True)
    words = ["attsvm.cli", "verify", *ids, "--ledger", str(ledger), "--json", str(kept)]
    code, text = copy.run(words, limit, **own)
    return code, json.loads(kept.read_text()) if kept.is_file() else text


def verified(copy: Copy, tried: Tried, seconds: dict[str, float]) -> None:
    """Check the claims chosen for a mutant, which is in the copy."""
    limit = _PATIENCE * sum(seconds[id] for id in tried.claims) + _LEAST
    own = {}
    if tried.mutant.file.startswith("attsvm/kernels/"):  # machine code of the mutant is kept apart
        own["NUMBA_CACHE_DIR"] = str(copy.folder.parent / "compiled")
        shutil.rmtree(own["NUMBA_CACHE_DIR"], ignore_errors=True)
        limit += _COMPILING
    tried.verify = "killed" if _verify(copy, tried.claims, limit, **own)[0] else "survived"


def study(chosen: Sequence[tuple[str, Mutant]], claims: int, workers: int) -> list[Tried]:
    """Try all mutants in the copies of workers; certifying and small rooms come first."""
    reasons, known = listed(), uses(ROOT)
    table = [Tried(room, mutant) for room, mutant in chosen]
    groups: dict[tuple[str, ...], list[Tried]] = defaultdict(list)
    for tried in table:
        if tried.mutant.key in reasons:
            tried.tests, tried.by = "equivalent", reasons[tried.mutant.key]
        else:
            groups[ROOMS[room_of(tried.mutant.file)]].append(tried)
    run = [tried for group in groups.values() for tried in group]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.ExitStack() as stack,
        ThreadPoolExecutor(workers) as pool,
    ):
        copies: queue.Queue[Copy] = queue.Queue()
        for k in range(workers):
            copies.put(stack.enter_context(contextlib.closing(Copy(Path(folder) / str(k)))))

        def with_copy(work: Any, *arguments: Any, **own: Any) -> Any:
            copy = copies.get()
            try:
                return work(copy, *arguments, **own)
            finally:
                copies.put(copy)

        seconds = with_copy(_choose, run, claims) if claims else {}
        done = itertools.count(1)

        def try_one(copy: Copy, tried: Tried, reached: Reach) -> None:
            m, start = tried.mutant, time.monotonic()
            original = (copy.folder / m.file).read_bytes()
            try:
                tested(copy, tried, reached, watched(m, known))
                if tried.claims:
                    verified(copy, tried, seconds)
            finally:
                copy.put(m.file, original)
            tried.seconds = round(time.monotonic() - start, 1)
            text = f"{tried.tests:>9} {tried.verify:>9} {tried.seconds:6} s {m.file}:{m.line}"
            print(f"[{next(done)}/{len(run)}] {text}", flush=True)

        def ask(group: list[Tried]) -> Future[Reach]:
            files = {file for tried in group for file, _ in watched(tried.mutant, known)}
            tests = ROOMS[room_of(group[0].mutant.file)]
            return pool.submit(with_copy, reach, tests, files, **uncompiled(tests))

        order = sorted(groups.values(), key=_rank)
        soon = 1 + workers // 2  # number of rooms that are mapped ahead
        maps, jobs = [ask(group) for group in order[:soon]], []
        for k, group in enumerate(order):
            reached = maps[k].result()
            jobs += [pool.submit(with_copy, try_one, tried, reached) for tried in group]
            maps += [ask(later) for later in order[k + soon : k + soon + 1]]
        for job in jobs:
            job.result()
    return table


def _rank(group: Sequence[Tried]) -> tuple[bool, int]:
    return all(tried.room not in CERTIFYING for tried in group), len(group)


def _choose(copy: Copy, run: Sequence[Tried], most: int) -> dict[str, float]:
    """Choose claims for every mutant; return the seconds of each claim on the unchanged code."""
    using = users([tried.mutant for tried in run], find_claims(load_packs()))
    for tried in run:
        tried.claims = tuple(sorted(using[tried.mutant][:most]))
    wanted = sorted({id for tried in run for id in tried.claims})
    if not wanted:
        return {}
    _, result = _verify(copy, wanted, _ALL)
    if isinstance(result, str):
        raise RuntimeError(f"the claims are not checked: {result[-2000:]}")
    seconds = {c["id"]: c["seconds"] for c in result["claims"] if c["as_expected"]}
    for tried in run:
        tried.claims = tuple(id for id in tried.claims if id in seconds)
    return seconds


def report(table: Sequence[Tried]) -> str:
    """Return a text with the counts by room, and every surviving mutant with its change."""
    rows = [
        f"{'room':<20} mutants equivalent  killed by tests  by verify alone  by none  unreached"
    ]
    rooms: dict[str, list[Tried]] = defaultdict(list)
    for tried in table:
        rooms[tried.room or "(own files)"].append(tried)
    for room, others in [*rooms.items(), ("all", list(table))]:
        equal = sum(t.tests == "equivalent" for t in others)
        by_tests, by_verify = (
            sum(getattr(t, by) == "killed" for t in others) for by in ("tests", "verify")
        )
        verify = f"{by_verify} of {sum(t.verify in ('killed', 'survived') for t in others)}"
        alive, missed = sum(t.alive for t in others), sum(t.tests == "unreached" for t in others)
        rows.append(
            f"{room:<20} {len(others):>7} {equal:>10} {by_tests:>14} {verify:>17} {alive:>6} "
            f"{missed:>10}"
        )
    for t in table:
        m = t.mutant
        if t.tests in ("survived", "unreached"):
            rows.append(f"{m.file}:{m.line} in {m.scope}: {m.kind}, {t.tests}, verify {t.verify}")
            rows += [f"  - {line}" for line in m.before.splitlines()]
            rows += [f"  + {line}" for line in m.after.splitlines()]
    return "\n".join(rows)


def main() -> int:
    """Try a sample of mutants and print the report; return 1 if one survived everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=400, help="mutants of all rooms together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--rooms", nargs="+", help="starts of paths in attsvm/ (default: all rooms)"
    )
    parser.add_argument(
        "--claims", type=int, default=8, help="maximum number of claims for each mutant; 0 for none"
    )
    parser.add_argument("-n", "--workers", type=int, default=1)
    options = parser.parse_args()
    rooms = [f"{r}/" if f"{r}/" in ROOMS else r for r in options.rooms or ROOMS]
    chosen = sample(rooms, options.count, options.seed)
    table = study(chosen, options.claims, options.workers)
    print(report(table))
    return int(any(tried.alive for tried in table))


if __name__ == "__main__":
    sys.exit(main())

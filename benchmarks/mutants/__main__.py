"""How many mutants die: `python -m benchmarks.mutants [--count 400] [--rooms exact svm/bounds]`.

A mutant is one small change of one file of attsvm/ (`mutations.py`). It is made in a private copy
of the tree, and is shown first to the tests of its room that reach the changed lines, and then,
alone, to `attsvm verify` of claims whose code it changes. Mutants that change nothing that can be
observed are listed by hand in equivalent.toml, each with its reason, and are not run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import queue
import random
import shutil
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.code_bases import base_of, followed, home_of
from attsvm.theory.declaration.code_digests import Definitions, Start, module_of
from attsvm.theory.declaration.packs import find_claims, load_packs
from benchmarks.mutants.copies import PYTEST, Copy, uncompiled
from benchmarks.mutants.mutations import Mutant, drawn, mutants
from benchmarks.mutants.rooms import CERTIFYING, ROOMS, ROOT, room_of
from benchmarks.mutants.warm import STALE

LISTED = Path(__file__).with_name("equivalent.toml")

_FEWEST = 8
"""So many mutants at least of every room."""
_LONGEST, _PATIENCE, _LEAST, _COMPILING, _ALL = 20, 6.0, 30.0, 300.0, 1e5
"""Seconds that a test may take; how many times as long as without the change all may take, and how
much longer than that; how long kernels are compiled; how long what is not changed may take."""


@dataclass(slots=True)
class Tried:
    """A mutant, and what the tests and the claims said: killed, survived, unreached, ..."""

    room: str
    mutant: Mutant
    tests: str = ""
    by: str = ""
    verify: str = "not tried"
    claims: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        """Whether nothing killed it."""
        return "killed" not in (self.tests, self.verify) and self.tests != "equivalent"


def sample(rooms: Sequence[str], count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Mutants of each room in proportion to its lines, those of `CERTIFYING` threefold.

    A room is one of `ROOMS`, or the start of a path in it.
    """
    found: list[tuple[str, Mutant]] = []
    texts = {p.relative_to(ROOT).as_posix(): p for p in sorted(ROOT.glob("attsvm/**/*.py"))}
    texts = {file: path.read_bytes() for file, path in texts.items()}
    own = {
        r: [f for f in texts if f.startswith(f"attsvm/{r}") and (r not in ROOMS or room_of(f) == r)]
        for r in rooms
    }
    lines = {
        room: sum(texts[f].count(b"\n") for f in files) * (3 if room in CERTIFYING else 1)
        for room, files in own.items()
    }
    for room, files in own.items():
        share = max(-(-count * lines[room] // sum(lines.values())), min(count, _FEWEST))
        pool = [m for f in files for m in mutants(f, texts[f])]
        found += [(room, m) for m in drawn(pool, share, f"{seed}/{room}")]
    return found


def listed() -> dict[tuple[str, str, str, str], str]:
    """The reasons for which mutants are equivalent, by what tells the mutants apart."""
    rows = tomllib.loads(LISTED.read_text(encoding="utf-8")).get("mutant", [])
    return {(r["file"], r["scope"], r["before"], r["after"]): r["why"] for r in rows}


def uses(root: Path = ROOT) -> dict[str, set[tuple[str, int]] | None]:
    """The lines of functions that load a name, by name; None where other code does as well."""
    found: dict[str, set[tuple[str, int]] | None] = {}

    def visit(node: ast.AST, file: str, inside: bool) -> None:
        name = getattr(node, "id", getattr(node, "attr", None))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            lines = found.setdefault(str(name), set())
            if not inside:
                found[str(name)] = None
            elif lines is not None:
                lines.add((file, node.lineno))
        for part, value in ast.iter_fields(node):
            body = isinstance(node, ast.FunctionDef) and part == "body"
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    visit(inner, file, inside or body)

    for path in root.glob("attsvm/**/*.py"):
        visit(ast.parse(path.read_bytes()), path.relative_to(root).as_posix(), False)
    return found


def watched(mutant: Mutant, known: dict[str, set[tuple[str, int]] | None]) -> set[tuple[str, int]]:
    """The lines of which one has to run for a test to reach the mutant; none where all tests do."""
    if mutant.runs:
        return {(mutant.file, n) for n in range(mutant.lines[0], mutant.lines[1] + 1)}
    lines = [known.get(name) for name in mutant.bound]
    return set() if None in lines else {place for where in lines for place in where or ()}


@dataclass(slots=True)
class Reach:
    """The tests of a room that pass within `_LONGEST`: their seconds, and the lines they reach."""

    seconds: dict[str, float]
    lines: dict[tuple[str, int], set[str]]

    def of(self, lines: set[tuple[str, int]]) -> list[str]:
        """The tests that reach one of the lines, or all for none; the shortest come first."""
        tests = set().union(*(self.lines[at] for at in lines)) if lines else {""}
        tests = set(self.seconds) if "" in tests else tests  # what an import runs is in all of them
        return sorted(tests & self.seconds.keys(), key=lambda test: (self.seconds[test], test))


def reach(copy: Copy, tests: Sequence[str], lines: set[tuple[str, int]]) -> Reach:
    """Run the tests of a room once, and note which of them reach which of the lines."""
    asked: dict[str, list[int]] = defaultdict(list)
    for file, line in lines:
        asked[str(copy.folder / file)].append(line)
    with tempfile.TemporaryDirectory(dir=copy.folder.parent) as own:
        (Path(own) / "watched").write_text(json.dumps(asked))
        starter = "from benchmarks.mutants import reach\nreach.start()\n"
        (Path(own) / "sitecustomize.py").write_text(starter)
        found = Path(own) / "found"
        words = [*PYTEST, "-p", "benchmarks.mutants.reach", *tests]
        names = {"WATCHED": f"{own}/watched", "FOUND": str(found), "SECONDS": str(_LONGEST)}
        environment = {f"MUTANTS_{name}": value for name, value in names.items()}
        code, said = copy.run(words, _ALL, PYTHONPATH=own, **environment, **uncompiled(tests))
        copy.close()
        if code not in (0, 1):
            raise RuntimeError(f"{tests} do not run: {said[-2000:]}")
        rows = [row.split("\t") for row in found.read_text().splitlines() if row.count("\t") > 2]
    bad = {row[1] for row in rows if row[0] == "test" and row[3] != "passed"}
    seconds: dict[str, float] = defaultdict(float)
    reached: dict[tuple[str, int], set[str]] = defaultdict(set)
    for kind, test, *rest in rows:
        if kind == "test" and test not in bad:
            seconds[test] += float(rest[2])
        elif kind == "line":
            place = Path(rest[0]).relative_to(copy.folder.resolve()).as_posix()
            reached[place, int(rest[1])].add(test)
    if bad:
        print(f"left out, as they fail or last: {', '.join(sorted(bad))}", file=sys.stderr)
    return Reach(dict(seconds), reached)


def tested(copy: Copy, tried: Tried, reached: Reach, lines: set[tuple[str, int]]) -> None:
    """Show a mutant to the tests of its room that reach one of the lines; it stays in the copy."""
    mutant, room = tried.mutant, ROOMS[room_of(tried.mutant.file)]
    tests, path = reached.of(lines), copy.folder / mutant.file
    original = path.read_bytes()
    texts = original, mutant.applied(original)
    late = mutant.runs and not any("" in reached.lines[at] for at in lines)
    ask = copy.warm(room) if tests and late else None
    copy.put(mutant.file, texts[1])
    if not tests:
        tried.tests = "unreached"
        return
    code, *by = STALE, ""
    if ask is not None:
        old, new = (text.decode() for text in texts)
        limits = {test: int(_PATIENCE * reached.seconds[test] + _LEAST) for test in tests}
        code, *by = ask(file=str(path), texts=[old, new], limits=limits)
    if code == STALE:
        chosen = copy.folder.parent / "chosen"
        chosen.write_text("\n".join(tests))
        words = [*PYTEST, "-x", "--tb=no", f"@{chosen}"]
        limit = _PATIENCE * sum(reached.seconds[test] for test in tests) + _LEAST
        code, said = copy.run(words, limit, **uncompiled(room))
        if code == 5:
            raise RuntimeError(f"no test was collected: {said[-2000:]}")
        failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        by = failed or [said[-200:]]
    tried.tests = "killed" if code else "survived"
    tried.by = "time" if code == -1 else by[0][:200] if code and by else ""


class _Everywhere(Definitions):
    """Definitions of claims together with the engine's, which a claim's own digest leaves out."""

    def __init__(self) -> None:
        super().__init__()
        self._home = lambda base, own, top: ROOT if top == "attsvm" else followed(base, own, top)

    def rests_on(self, *starts: Start) -> frozenset[tuple[Path, int]]:
        """The statements that a digest of these starts rests on: their files and ranks."""
        passed = self.reached(starts)
        return frozenset((module.file, at) for module, at in passed if isinstance(at, int))


def users(chosen: Iterable[Mutant], claims: Iterable[Claim]) -> dict[Mutant, list[str]]:
    """The claims that use what a mutant changes; all of them where only what checks them does."""
    known = _Everywhere()
    checks = known.rests_on(Start(ROOT / "attsvm/cli/verify.py", "run"))
    own = {}
    for claim in claims:
        file = Path(claim.file).resolve()
        starts = [Start(file, node=known.declaration(file, claim.line))]
        if claim.proof is not None:
            module, _, function = claim.proof.partition(":")
            home = home_of(module, base_of(file))
            starts += [Start(home, function)] if home is not None else []
        own[claim.id] = known.rests_on(*starts)
    found = {}
    for mutant in chosen:
        file = ROOT / mutant.file
        changed = known.declaration(file, mutant.line)
        place = file, module_of(file).statements.index(changed)
        found[mutant] = [id for id in own if place in own[id]]
        if not found[mutant] and place in checks:
            found[mutant] = list(own)
    return found


def _verify(copy: Copy, ids: Iterable[str], limit: float, **own: str) -> tuple[int, Any]:
    kept = copy.folder.parent / "verified.json"
    kept.unlink(missing_ok=True)
    ledger = copy.folder.parent / "ledger" / "ledger.jsonl"
    shutil.rmtree(ledger.parent, ignore_errors=True)
    words = ["attsvm.cli", "verify", *ids, "--ledger", str(ledger), "--json", str(kept)]
    code, said = copy.run(words, limit, **own)
    return code, json.loads(kept.read_text()) if kept.is_file() else said


def verified(copy: Copy, tried: Tried, seconds: dict[str, float]) -> None:
    """Show a mutant, which stands in the copy, to the claims chosen for it."""
    limit = _PATIENCE * sum(seconds[id] for id in tried.claims) + _LEAST
    own = {}
    if tried.mutant.file.startswith("attsvm/kernels/"):  # what is compiled anew is kept apart
        own["NUMBA_CACHE_DIR"] = str(copy.folder.parent / "compiled")
        shutil.rmtree(own["NUMBA_CACHE_DIR"], ignore_errors=True)
        limit += _COMPILING
    tried.verify = "killed" if _verify(copy, tried.claims, limit, **own)[0] else "survived"


def study(
    chosen: Sequence[tuple[str, Mutant]], claims: int, seed: int, workers: int
) -> list[Tried]:
    """Try all mutants, each in the copy of a worker."""
    reasons, known = listed(), uses()
    sources = {m.file: (ROOT / m.file).read_bytes() for _, m in chosen}
    table = [Tried(room, mutant) for room, mutant in chosen]
    for tried in table:
        if tried.mutant.key in reasons:
            tried.tests, tried.by = "equivalent", reasons[tried.mutant.key]
    run = [tried for tried in table if not tried.tests]
    asked: dict[tuple[str, ...], set[tuple[str, int]]] = defaultdict(set)
    for tried in run:
        asked[ROOMS[room_of(tried.mutant.file)]] |= watched(tried.mutant, known)
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.ExitStack() as stack,
        ThreadPoolExecutor(workers) as pool,
    ):
        copies: queue.Queue[Copy] = queue.Queue()
        for k in range(workers):
            copies.put(stack.enter_context(contextlib.closing(Copy(Path(folder) / str(k)))))

        def with_copy(work: Any, *given: Any) -> Any:
            copy = copies.get()
            try:
                return work(copy, *given)
            finally:
                copies.put(copy)

        found = pool.map(lambda tests: with_copy(reach, tests, asked[tests]), asked)
        maps = dict(zip(asked, found, strict=True))
        seconds = with_copy(_choose, run, claims, seed) if claims else {}

        def try_one(copy: Copy, tried: Tried) -> None:
            mutant, original = tried.mutant, sources[tried.mutant.file]
            reached = maps[ROOMS[room_of(mutant.file)]]
            try:
                tested(copy, tried, reached, watched(mutant, known))
                if tried.claims:
                    verified(copy, tried, seconds)
            finally:
                copy.put(mutant.file, original)

        for k, tried in enumerate(pool.map(lambda t: (with_copy(try_one, t), t)[1], run), 1):
            m = tried.mutant
            print(f"[{k}/{len(run)}] {tried.tests:>9} {tried.verify:>9} {m.file}:{m.line}")
            sys.stdout.flush()
    return table


def _choose(copy: Copy, run: Sequence[Tried], most: int, seed: int) -> dict[str, float]:
    """Choose claims for every mutant, and time them all once without a change."""
    using = users([tried.mutant for tried in run], find_claims(load_packs()))
    for tried in run:
        ids = using[tried.mutant]
        rng = random.Random(f"{seed}/{tried.mutant.key}")
        tried.claims = tuple(sorted(rng.sample(ids, min(most, len(ids)))))
    wanted = sorted({id for tried in run for id in tried.claims})
    if not wanted:
        return {}
    _, found = _verify(copy, wanted, _ALL)
    if isinstance(found, str):
        raise RuntimeError(f"the claims are not checked: {found[-2000:]}")
    seconds = {c["id"]: c["seconds"] for c in found["claims"] if c["as_expected"]}
    for tried in run:
        tried.claims = tuple(id for id in tried.claims if id in seconds)
    return seconds


def report(table: Sequence[Tried]) -> str:
    """The counts by room, and every mutant that is alive, with what it changes."""
    rows = [
        f"{'room':<20} mutants equivalent  killed by tests  by verify alone  by none  unreached"
    ]
    rooms: dict[str, list[Tried]] = defaultdict(list)
    for tried in table:
        rooms[tried.room or "(own files)"].append(tried)
    for room, those in [*rooms.items(), ("all", list(table))]:
        equal = sum(t.tests == "equivalent" for t in those)
        by_tests, by_verify = (
            sum(getattr(t, by) == "killed" for t in those) for by in ("tests", "verify")
        )
        verify = f"{by_verify} of {sum(t.verify in ('killed', 'survived') for t in those)}"
        alive, missed = sum(t.alive for t in those), sum(t.tests == "unreached" for t in those)
        rows.append(
            f"{room:<20} {len(those):>7} {equal:>10} {by_tests:>14} {verify:>17} {alive:>6} "
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
    """Try a sample of mutants and report; 1 where one is alive."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=400, help="mutants of all rooms together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", help="starts of paths in attsvm/; all rooms if none")
    parser.add_argument("--claims", type=int, default=8, help="at most so many for each; 0 for no")
    parser.add_argument("-n", "--workers", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    rooms = [f"{r}/" if f"{r}/" in ROOMS else r for r in options.rooms or ROOMS]
    chosen = sample(rooms, options.count, options.seed)
    table = study(chosen, options.claims, options.seed, options.workers)
    print(report(table))
    if options.json:
        rows = [
            {
                **{name: getattr(t, name) for name in ("room", "tests", "by", "verify", "claims")},
                **{name: getattr(t.mutant, name) for name in ("file", "line", "scope", "kind")},
                **{name: getattr(t.mutant, name) for name in ("before", "after")},
            }
            for t in table
        ]
        document = {"schema": 1, "seed": options.seed, "mutants": rows}
        Path(options.json).write_text(json.dumps(document, indent=1), encoding="utf-8")
    return int(any(tried.alive for tried in table))


if __name__ == "__main__":
    sys.exit(main())

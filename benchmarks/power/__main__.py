"""A count of refuted planted claims: `python -m benchmarks.power [--seconds S] [--json FILE]`.

Each claim is given to the quick check, to a hunt with all searchers, to each searcher alone, and,
for comparison, to plain Hypothesis. A claim counts as refuted if the certificate of the refutation
confirms it. With --true N, N instances of each reading that is expected to hold are examined
instead, for at most S seconds. A refutation is then a discovery or a false alarm, and the command
exits with 1. For every night:

    python -m benchmarks.power --true 1000000 --seconds 600 -n 2 --json night.json

The next night `--resume night.json` continues with readings that have not had N instances yet; the
file is written after each reading, so that a night may be cut short. For planted claims, `--resume`
keeps the attempts in these files and makes those that are missing.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import dataclasses
import fnmatch
import json
import math
import statistics
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attsvm._files import write_text
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.packs.code_digests import Imports, digest_of_claim
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.workers import processes
from attsvm.theory.search import GUIDED
from benchmarks.power.measure import PACK, Attempt, attempt_job, searchers_alone, true_job
from benchmarks.power.planting import KINDS, PLANTED

METHODS = ("quick", "hunt", "alone", "rival")

_GOOD_AT = """
What each searcher is good at:

- `ensemble`: instances as the author meant them, larger and more varied than drawn ones; quick.
- `drawn`: claims of any kind, by Hypothesis, which climbs towards small slack.
- `screen`: wrong constants, violations far out, small regions and exact relations, in batches.
- `sizes`: claims that fail only for many tokens, inputs, dimensions or steps.
- `integers`: violations by few integers, rare or at equal sides; boxes that are decided whole.
- `gradient`: narrow curved valleys in many dimensions, on conclusions that are differentiable.
- `solver`, which is z3: polynomial claims in small shapes, also small regions and exact relations.
- `every`, which is not in the table, settles claims that have few instances.
"""

_WHOLE = {"break_long_words": False, "break_on_hyphens": False}
"""Options of `textwrap` that keep ids and commands in one line."""

_LOOKS = {True: "in batches", False: "one by one: no form for batches, or nothing that moves"}
"""Words for the way in which instances were examined, by whether they were screened."""


def true_claims() -> list[Claim]:
    """Return all shipped readings that are expected to hold."""
    held = (Truth.HOLDS, Truth.PROVED)
    return [c for c in find_claims(load_packs()) if c.expected.truth in held]


def _wanted(id: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(id, pattern) for pattern in patterns)


def _tell(done: int, total: int, what: str) -> None:
    print(f"\r[{done}/{total}] {what:<76.76}", end="", file=sys.stderr, flush=True)


Table = dict[str, dict[str, Attempt]]
"""Attempts by claim and method."""


def attempts(
    ids: Sequence[str],
    methods: Sequence[str],
    seconds: float,
    seed: int,
    workers: int,
    rounds: int | None = None,
    before: Table | None = None,
) -> Table:
    """Make all attempts in parallel; return them by claim and method.

    Attempts of earlier runs, `before`, are not made again.
    """
    table: Table = {id: {} for id in ids}
    known = {} if before is None else before
    pairs = []
    for id in ids:
        alone = searchers_alone(PLANTED[id].claim)
        own = [m for m in methods if m in METHODS and m != "alone"]
        pairs += [(id, m) for m in own]
        pairs += [(id, m) for m in alone if "alone" in methods or m in methods]
    for id, method in pairs:
        if method in known.get(id, {}):
            table[id][method] = known[id][method]
    pairs = [(id, method) for id, method in pairs if method not in table[id]]
    with processes(workers, [PACK]) as crew:
        jobs = {
            crew.submit(
                attempt_job, id, method, str(seconds), str(seed), str(rounds or ""), PACK
            ): (id, method)
            for id, method in pairs
        }
        for done, job in enumerate(crew.completed(jobs), start=1):
            id, method = jobs[job]
            table[id][method] = Attempt(**json.loads(job.result()))
            _tell(done, len(jobs), f"{method} {id}")
    print(file=sys.stderr)
    return table


def _methods(table: Table) -> list[str]:
    """Return the methods: the quick check, the hunt, the rival, then searchers alone."""
    order = ["quick", "hunt", "rival", "ensemble", "drawn", *GUIDED]
    return sorted({m for row in table.values() for m in row}, key=order.index)


def page(table: Table, seconds: float, command: str, rounds: int | None = None) -> str:
    """Return a page: a table by kind of mistake, and lists of claims that stand."""
    methods = _methods(table)
    together = any(m in METHODS for m in methods)
    single = any(m not in METHODS for m in methods)
    budget = f"{seconds:g} s" if rounds is None else f"{rounds} rounds"
    limits = [f"a hunt has {budget}"] * ("hunt" in methods)
    limits += [
        f"a searcher alone {'' if limits else 'has '}{seconds:g} s of processor time, from drawn "
        "instances that refute nothing"
    ] * single
    about = [
        "; ".join(["A claim falls by a refutation that is certified", *limits]) + ".",
    ]
    about += ["`rival` is plain Hypothesis with the same strategies."] * ("rival" in methods)
    about += ["A searcher is tried on the claims that it can work on."] * single
    lines = [
        "# Which planted false claims fall" + ("" if together else " to one searcher alone"),
        "",
        " ".join([f"Written by `{command}`.", *about]),
        "",
        "| mistake | planted | " + " | ".join(methods) + " |",
        "| --- |" + " --- |" * (1 + len(methods)),
    ]

    def fell(id: str, method: str) -> bool:
        results = table[id].get(method)
        counted = method == "quick" or (method == "hunt" and rounds is not None)
        limit = math.inf if counted else seconds
        return results is not None and results.refuted and results.seconds <= limit

    for kind in (*KINDS, "all"):
        ids = [id for id in table if kind in ("all", PLANTED[id].kind)]
        tried = {m: [id for id in ids if m in table[id]] for m in methods}
        cells = [f"{sum(fell(id, m) for id in own)} of {len(own)}" for m, own in tried.items()]
        if ids:
            lines.append(f"| {kind} | {len(ids)} | " + " | ".join(cells) + " |")
    for m in ("quick", "hunt"):
        times = sorted(r[m].seconds for id, r in table.items() if fell(id, m))
        if times:
            middle = statistics.median(times)
            lines += ["", f"`{m}` took {middle:.2g} s in the median, {times[-1]:.2g} s at most."]
    results = Counter(r["hunt"].by for r in table.values() if "hunt" in r and r["hunt"].refuted)
    if results:
        shown = ", ".join(f"{by} {n}" for by, n in results.most_common())
        lines += ["", f"In the hunts the first to find was: {shown}."]
    alone = [m for m in methods if m not in METHODS]
    for m in alone if len(alone) > 1 else ():
        own = [id for id in table if [n for n in alone if fell(id, n)] == [m]]
        if own:
            lines += ["", f"`{m}` alone of the searchers found: {', '.join(map(_short, own))}."]
    for m, words in (("quick", "The quick check left"), ("hunt", "No hunt refuted")):
        left = [id for id, r in table.items() if m in r and not fell(id, m)]
        if left:
            shown = "; ".join(f"{_short(id)} ({table[id][m].closest})" for id in left)
            lines += ["", f"{words}: {shown}."]
    wrapped = [x if x.startswith("|") else textwrap.fill(x, 100, **_WHOLE) for x in lines]
    return "\n".join(wrapped) + "\n" + ("" if together else _GOOD_AT)


def _short(id: str) -> str:
    return id.removeprefix("planted/").removesuffix(":literal")


def show_true(
    instances: int,
    only: Sequence[str],
    seconds: float,
    seed: int,
    workers: int,
    before: Sequence[dict[str, Any]] = (),
    keep: Callable[[list[dict[str, Any]]], None] = lambda rows: None,
) -> list[dict[str, Any]]:
    """Give each reading that is expected to hold to the searchers; print and return the results.

    Rows of earlier nights, `before`, count for readings whose code is unchanged. A reading that has
    had enough instances keeps its row; every other reading gets more instances, with another seed.
    The rows so far are given to `keep` after each reading, so that a night may be cut short.
    """
    claims = {c.id: c for c in true_claims() if _wanted(c.id, only)}
    imports = Imports()
    prints = {id: digest_of_claim(claim, imports) for id, claim in claims.items()}
    known = {r["claim"]: r for r in before if prints.get(r["claim"]) == r["fingerprint"]}
    rows = [r for r in known.values() if r["refuted"] or _looked(r) >= instances]
    left = set(claims) - {r["claim"] for r in rows}
    with processes(workers) as crew:
        jobs = []
        for id in sorted(left):
            nights = known[id]["nights"] if id in known else 0
            missing = instances - (_looked(known[id]) if id in known else 0)
            jobs.append(crew.submit(true_job, id, str(missing), str(seed + nights), str(seconds)))
        for job in crew.completed(jobs):
            row = json.loads(job.result())
            print(_line(row), flush=True)  # printed at once, as the night may be cut short
            rows.append(_added(known.pop(row["claim"], None), row, prints[row["claim"]]))
            keep(list({r["claim"]: r for r in (*known.values(), *rows)}.values()))
    rows.sort(key=lambda row: str(row["claim"]))
    lost = [r for r in rows if r["refuted"]]
    few = [r for r in rows if _looked(r) < instances and not r["refuted"]]
    screened, examined = (sum(r[name] for r in rows) for name in ("screened", "examined"))
    print(
        f"{len(rows)} readings that stand, {len(lost)} refuted: {screened} instances screened, "
        f"{examined} examined; {len(few)} readings were looked at less than {instances} times"
    )
    for how, text in _LOOKS.items():
        own = [r for r in rows if r["batches"] is how]
        reached = sum(r not in few for r in own)
        if own:
            print(f"  {text}: {len(own)} readings, {reached} of them looked at as often as asked")
    for r in lost:
        print(f"  refuted: {r['claim']} by {json.dumps(r['found'])}")
    return rows


def _looked(row: dict[str, Any]) -> int:
    return int(row["screened" if row["batches"] else "examined"])


def _added(old: dict[str, Any] | None, new: dict[str, Any], fingerprint: str) -> dict[str, Any]:
    """Return the row of a night with the counts of earlier nights added."""
    counts = ("screened", "examined", "seconds", "undecided")
    sums = {name: new[name] + (old[name] if old else 0) for name in counts}
    nights = 1 + (old["nights"] if old else 0)
    return {**new, **sums, "fingerprint": fingerprint, "nights": nights}


def _line(row: dict[str, Any]) -> str:
    """Return a line with the counts and the result of one reading."""
    result = "REFUTED" if row["refuted"] else row["error"] or "nothing found"
    open_ones = f"; {row['undecided']} undecided: {row['note']}" if row["undecided"] else ""
    return (
        f"{row['claim']}: {row['screened']} screened, {row['examined']} examined in "
        f"{row['seconds']:.0f} s ({_LOOKS[row['batches']]}): {result}{open_ones}"
    )


def main() -> int:
    """Measure and print; return 1 if a true claim was refuted, or if none was evaluated."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__)
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="time limit of each hunt in seconds (default 60)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        metavar="N",
        help="rounds of each hunt, in place of its seconds: what it finds depends on no other load",
    )
    parser.add_argument(
        "--only", nargs="+", default=["*"], metavar="PATTERN", help="ids, with wildcards"
    )
    parser.add_argument(
        "--searchers",
        default=",".join(METHODS),
        metavar="A,B,C",
        help="quick, hunt (all together), alone (each of them), rival, or names of searchers",
    )
    parser.add_argument(
        "--true", type=int, default=0, metavar="N", help="instances of each true claim"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-n", "--workers", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="also write the results to this file")
    parser.add_argument(
        "--resume",
        nargs="+",
        default=(),
        metavar="FILE",
        help="continue with the results of earlier --json files",
    )
    parser.add_argument("--write", metavar="FILE", help="write the table as a page to this file")
    options = parser.parse_args()
    load_packs([PACK])
    document: dict[str, Any] = {"schema": 1, "seconds": options.seconds, "seed": options.seed}
    failed = False
    earlier = [json.loads(Path(file).read_text()) for file in options.resume]
    if options.true:

        def keep(rows: list[dict[str, Any]]) -> None:
            document["true"] = rows
            _write(options.json, document)

        document["true"] = show_true(
            options.true,
            options.only,
            options.seconds,
            options.seed,
            options.workers,
            [row for document in earlier for row in document.get("true", ())],
            keep=keep,
        )
        failed = not document["true"] or any(row["refuted"] for row in document["true"])
    else:
        ids = [id for id in sorted(PLANTED) if _wanted(id, options.only)]
        methods = options.searchers.split(",")
        strange = set(methods) - {*METHODS, "ensemble", "drawn", *GUIDED}
        if strange:
            parser.error(f"no such searcher: {', '.join(sorted(strange))}")
        how = options.seconds, options.seed, options.workers, options.rounds
        rows = [row for document in earlier for row in document.get("planted", ())]
        table = attempts(ids, methods, *how, before=_table(rows))
        document["planted"] = [_as_data(id, row) for id, row in table.items()]
        command = f"python -m benchmarks.power --searchers {options.searchers}"
        command += f" --seconds {options.seconds:g}"
        command += f" --rounds {options.rounds}" if options.rounds else ""
        command += f" --seed {options.seed}" if options.seed else ""
        command += f" --write {options.write}" if options.write else ""
        text = page(table, options.seconds, command, options.rounds)
        print(text)
        if options.write:
            Path(options.write).write_text(text, encoding="utf-8")
    _write(options.json, document)
    return int(failed)


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return the attempts of earlier runs, which `_as_data` wrote."""
    table: Table = {}
    for row in rows:
        made = {m: Attempt(**attempt) for m, attempt in row["attempts"].items()}
        table.setdefault(row["id"], {}).update(made)
    return table


def _as_data(id: str, row: dict[str, Attempt]) -> dict[str, Any]:
    """Return the attempts at one claim as plain data."""
    planted = PLANTED[id]
    return {
        "id": id,
        "kind": planted.kind,
        "family": planted.family,
        "why": planted.why,
        "attempts": {m: dataclasses.asdict(attempt) for m, attempt in row.items()},
    }


def _write(path: str | None, document: dict[str, Any]) -> None:
    """Write a document as JSON if a path is given, whole or not at all."""
    if path is not None:
        write_text(Path(path), json.dumps(document, indent=1))


if __name__ == "__main__":
    sys.exit(main())

"""A comparison of results on machines: `python -m benchmarks.machines [MACHINE ...] [--parts ...]`.

It runs replays, `verify`, the gate and the tests as on another processor or with other versions of
libraries. A machine is emulated by environment variables: kernels of OpenBLAS, numpy
without optional instructions, machine code of numba for any processor, two BLAS threads. With
`--python` and `--versions`, uv makes an environment for each interpreter and resolution. A machine
that this processor cannot emulate is reported as "not possible here", never as green.
The exit code is 1 if a part is red or if no machine was possible.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.timers.timing import Row, keep

ROOT = Path(__file__).parents[1]
PARTS = ("replays", "verify", "gate", "suite")
AXES = ("truth", "evidence", "validity")
WITHOUT_TORCH = "No module named 'torch'"


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine to emulate.

    Attributes:
        kernels: value of OPENBLAS_CORETYPE; empty for the kernels of this machine.
        scalar: whether numpy uses no optional instructions.
        generic: whether numba compiles for a generic processor of this architecture.
        threads: number of BLAS threads.
    """

    kernels: str = ""
    scalar: bool = False
    generic: bool = False
    threads: int = 1


MACHINES = {
    "here": Machine(),
    "two-threads": Machine(threads=2),
    "generic": Machine(generic=True),
    "prescott": Machine("Prescott", scalar=True),
    "prescott-generic": Machine("Prescott", scalar=True, generic=True),
    "nehalem": Machine("Nehalem", scalar=True),
    "sandybridge": Machine("Sandybridge", threads=2),
    "haswell": Machine("Haswell"),
    "zen": Machine("Zen"),
    "skylakex": Machine("SkylakeX"),
}

_PROBE = """
import ctypes, importlib.util, json, sys
import numpy, scipy.linalg
from numba.core.registry import cpu_target
from numpy._core import _multiarray_umath as core

numpy.ones((99, 99)) @ numpy.ones((99, 99))
kernels, threads = set(), set()
maps = open("/proc/self/maps").read() if sys.platform == "linux" else ""
for path in {line.split()[-1] for line in maps.splitlines() if "openblas" in line}:
    library = ctypes.CDLL(path)
    for name in ("scipy_openblas_get_{}64_", "scipy_openblas_get_{}", "openblas_get_{}"):
        if hasattr(library, name.format("corename")):
            asked = getattr(library, name.format("corename"))
            asked.restype = ctypes.c_char_p
            kernels.add(asked().decode())
            threads.add(getattr(library, name.format("num_threads"))())
print(json.dumps({
    "kernels": sorted(kernels),
    "threads": sorted(threads),
    "vectors": [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]],
    "processor": cpu_target.target_context.codegen().magic_tuple()[1],
    "torch": importlib.util.find_spec("torch") is not None,
}))
"""
"""Program that prints which kernels, threads and instructions the libraries use."""

_PRELOADED = """
import runpy, sys
import numpy, scipy.linalg

runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Program that starts BLAS with its own number of threads before a command asks for one thread."""


def environment(
    machine: Machine, vectors: Sequence[str], folder: Path | None = None
) -> dict[str, str]:
    """Return the variables that emulate a machine.

    `vectors` are the optional instructions that numpy uses here. numba keeps machine code in
    `folder`.
    """
    made = {
        "OPENBLAS_NUM_THREADS": str(machine.threads),
        "OPENBLAS_CORETYPE": machine.kernels,
        "NPY_DISABLE_CPU_FEATURES": " ".join(vectors) if machine.scalar else "",
        "NUMBA_CPU_NAME": "generic" if machine.generic else "",
        "NUMBA_CACHE_DIR": str(folder or ""),
    }
    return {name: value for name, value in made.items() if value}


def probed(python: str, variables: Mapping[str, str]) -> dict[str, Any] | int:
    """Return what `_PROBE` prints, or the exit code if the interpreter failed."""
    environ = {**os.environ, **variables}
    done = subprocess.run([python, "-c", _PROBE], env=environ, capture_output=True, text=True)
    return done.returncode or json.loads(done.stdout)


def impossible(
    machine: Machine, bare: Mapping[str, Any], there: Mapping[str, Any] | int
) -> str | None:
    """Return why a machine is not emulated; None if it is.

    `bare` is the result of the probe without settings, `there` that with the settings.
    """
    if isinstance(there, int):
        return f"the probe ended with {there}; the processor may lack an instruction"
    kernels = [name.lower() for name in there["kernels"]]
    same = not kernels or there["kernels"] == bare["kernels"]
    if machine.kernels and same and machine.kernels.lower() not in kernels:
        return f"kernels of OpenBLAS in use: {', '.join(kernels) or 'none'}"
    if machine.scalar and there["vectors"]:
        return f"numpy still uses {', '.join(there['vectors'])}"
    if machine.generic and there["processor"] != "generic":
        return f"numba compiles for {there['processor']}"
    if machine.threads > 1 and there["threads"] != [machine.threads]:
        return f"OpenBLAS has {there['threads']} threads"
    return None


@dataclass(frozen=True, slots=True)
class Run:
    """An interpreter on a machine; its methods named in `PARTS` return the faults of that part."""

    python: str
    machine: Machine
    variables: Mapping[str, str]
    folder: Path
    torch: bool
    options: argparse.Namespace

    def replays(self) -> list[str]:
        """Return the stored counterexamples whose replay fails or gives another enclosure."""
        folders = sorted(str(place) for place in ROOT.glob("properties/*/counterexamples"))
        failed, document = self._command("replay", *folders)
        return [r for r in map(replay_fault, document.get("files", [])) if r] or failed

    def verify(self) -> list[str]:
        """Return the claims whose verdict is not the reviewed one, and replays that fail."""
        ids = chosen(self.options.claims)
        failed, document = self._command("verify", "-n", self._workers, *self._ledger, *ids)
        return verdict_faults(document, ids or reviewed()) or failed

    def gate(self) -> list[str]:
        """Return the gate's reasons to stop the run of `verify`."""
        failed, document = self._command("gate", *self._ledger)
        return document.get("reasons") or failed

    def suite(self) -> list[str]:
        """Return the tests that fail."""
        workers = [] if self._workers == "1" else ["-n", self._workers]
        words = ["-q", "-p", "no:cacheprovider", *workers, *self.options.rooms]
        junit = self.folder / "suite.xml"
        failed = self._start("pytest", junit, "--junitxml", str(junit), *words)
        failing = failures(junit) if junit.is_file() else {}
        missing = [name for name, why in failing.items() if not self.torch and WITHOUT_TORCH in why]
        if missing:
            print(f"left out, as there is no torch: {len(missing)} tests")
        usual = missing and failed[0].startswith("exit code 1:")  # the run ended, with failures
        return [name for name in failing if name not in missing] or ([] if usual else failed)

    @property
    def _workers(self) -> str:
        """The number of processes: 1 for two BLAS threads, as workers have one thread each."""
        return "1" if self.machine.threads > 1 else str(self.options.n)

    @property
    def _ledger(self) -> tuple[str, str]:
        return "--ledger", str(self.folder / "ledger.jsonl")

    def _command(self, command: str, *words: str) -> tuple[list[str], dict[str, Any]]:
        """Run a command of attsvm; return why it failed, and the document that it writes."""
        document = self.folder / f"{command}.json"
        failed = self._start("attsvm", document, command, "--json", str(document), *words)
        return failed, json.loads(document.read_text()) if document.is_file() else {}

    def _start(self, module: str, written: Path, *words: str) -> list[str]:
        """Run a module that writes a file; return why it failed, or an empty list."""
        written.unlink(missing_ok=True)
        how = ["-c", _PRELOADED] if self.machine.threads > 1 else ["-m"]
        environ, log = {**os.environ, **self.variables}, written.with_suffix(".log")
        with log.open("w") as out:
            command = [self.python, *how, module, *words]
            done = subprocess.run(command, cwd=ROOT, env=environ, stdout=out, stderr=out)
        last = log.read_text().strip().rpartition("\n")[2]
        return [f"exit code {done.returncode}: {last}"] if done.returncode else []


def reviewed() -> dict[str, dict[str, str]]:
    """Return the reviewed verdicts by claim."""
    text = (ROOT / "properties/expectations.json").read_text()
    claims: dict[str, dict[str, str]] = json.loads(text)["claims"]
    return claims


def chosen(count: int) -> list[str]:
    """Return the ids of `count` claims, evenly spread over the sorted ids of all claims."""
    names = sorted(reviewed())
    return [names[k * len(names) // count] for k in range(count)]


def replay_fault(replayed: Mapping[str, Any]) -> str:
    """Return what is wrong with a replay: not confirmed, or another enclosure."""
    name, reason = Path(replayed["file"]).name, replayed["reason"]
    if replayed["result"] != "CONFIRMED":
        return f"{name}: {reason}"
    stored = json.loads((ROOT / replayed["file"]).read_text())["certificate"]["enclosure"]
    ends = re.search(r"slack in \[(\S+), (\S+)\]", reason)
    if ends and [*map(Fraction, ends.groups())] == [*map(Fraction, stored)]:
        return ""
    return f"{name}: {reason}; stored: {stored}"


def verdict_faults(report: Mapping[str, Any], wanted: Iterable[str]) -> list[str]:
    """Return the claims whose verdict is not the reviewed one, and the replays that fail."""
    expected, results = reviewed(), {c["id"]: c for c in report.get("claims", [])}
    faults = [f"{name}: not checked" for name in wanted if name not in results]
    for name, claim in results.items():
        words = [claim[axis] for axis in AXES]
        if name not in expected or words != [expected[name][axis] for axis in AXES]:
            faults.append(f"{name}: {', '.join(words)}: {claim['reason']}")
    return faults + list(filter(None, map(replay_fault, report.get("replayed", []))))


def failures(junit: Path) -> dict[str, str]:
    """Return the tests of a JUnit file that fail or break, and why."""
    results = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        for fault in (*case.iter("failure"), *case.iter("error")):
            results[f"{case.get('classname')}::{case.get('name')}"] = fault.text or ""
    return results


def other_figures(first: Path, second: Path) -> str:
    """Return for how many claims each figure beside the verdict differs between two runs.

    Such figures may differ, as searches run in floats.
    """
    one, other = (
        {c["id"]: c for c in json.loads(f.read_text())["claims"]} for f in (first, second)
    )
    pairs = [(one[name], other[name]) for name in one.keys() & other.keys()]
    keys = {key for claim, _ in pairs for key in claim} - {*AXES, "seconds", "counterexample"}
    counts = {key: sum(a.get(key) != b.get(key) for a, b in pairs) for key in sorted(keys)}
    return ", ".join(f"{key} of {count}" for key, count in counts.items() if count)


def installed(python: str, versions: str, torch: str, folder: Path) -> str:
    """Make an environment with the lowest or newest requirements; return its interpreter.

    `torch` replaces the project's own requirement of torch. An existing environment is used again.
    """
    path = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if path.is_file():
        return str(path)
    folder.mkdir(parents=True, exist_ok=True)
    pins, torches = str(folder / "pins.txt"), folder / "torch.txt"
    torches.write_text(torch or "torch; python_version < '3'")
    resolution = {"lowest": "lowest-direct", "newest": "highest"}[versions]
    how = ["--resolution", resolution, "--only-binary", ":all:", "--override", str(torches)]
    there = ["--python", str(path)]
    for words in (  # --seed: tests build a wheel with the pip of the environment
        ["venv", "--seed", "--python", python, str(folder / "venv")],
        ["pip", "compile", *there, "pyproject.toml", "--extra", "test", *how, "-o", pins],
        ["pip", "install", *there, "-r", pins],
        ["pip", "install", *there, "--no-deps", "-e", "."],
    ):
        subprocess.run(["uv", "-q", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return str(path)


def rows(options: argparse.Namespace, folder: Path, red: dict[str, list[str]]) -> Iterator[Row]:
    """Yield a row for each machine of each environment; `red` collects the names of faults."""
    first: Path | None = None
    for python, versions in product(options.python or [sys.executable], options.versions or [""]):
        name = f"{Path(python).name} {versions}".strip()
        own = folder / name.replace(" ", "-")
        path = installed(python, versions, options.torch, own) if versions else python
        present = probed(path, {})
        if isinstance(present, int):
            raise SystemExit(f"{path} lacks what attsvm needs: its probe ended with {present}")
        for each in options.machines:
            row: Row = {"environment": name, "machine": each}
            machine, place = MACHINES[each], own / each
            compiled = own / ("generic" if machine.generic else "usual")
            kept = compiled if versions or machine.generic else None
            variables = environment(machine, present["vectors"], kept)
            if why := impossible(machine, present, probed(path, variables)):
                yield row | {"other_figures": f"not possible here: {why}"}
                continue
            place.mkdir(parents=True, exist_ok=True)
            run = Run(path, machine, variables, place, present["torch"], options)
            for part in options.parts:
                faults = getattr(run, part)()
                row[part] = f"red: {len(faults)}" if faults else "green"
                red |= {f"{name}, {each}, {part}": faults} if faults else {}
            verified = place / "verify.json"
            if "verify" in options.parts and verified.is_file():
                first = first or verified
                row["other_figures"] = other_figures(first, verified)
            yield row


def printed(table: Iterable[Row], parts: Sequence[str]) -> list[Row]:
    """Print rows as they come, and return them."""
    widths = {"environment": 20, "machine": 16, **dict.fromkeys(parts, 9), "other_figures": 0}
    print(" ".join(f"{name.replace('_', ' '):{width}}" for name, width in widths.items()))
    kept = []
    for row in table:
        kept.append(row)
        print(" ".join(f"{row.get(n, ''):{w}}" for n, w in widths.items()), flush=True)
    return kept


def main() -> int:
    """Run the parts on the machines; 1 if a part is red or no machine was possible."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add = parser.add_argument
    add("machines", nargs="*", metavar="MACHINE", help=f"of {', '.join(MACHINES)}; default: all")
    add("--parts", default=",".join(PARTS[:3]), help=f"of {','.join(PARTS)}")
    add("--claims", type=int, default=0, help="number of claims that `verify` checks; 0 for all")
    add("--rooms", nargs="+", default=[], help="files and folders of tests; default: all")
    add("--python", nargs="+", help="interpreters by name or path; default: this one")
    add("--versions", nargs="+", choices=["lowest", "newest"], help="environments made by uv")
    add("--torch", default="torch>=2.4,<3", help="requirement of torch; '' leaves torch out")
    add("--folder", help="keeps environments and records; default: a temporary folder")
    add("-n", type=int, default=1, help="number of worker processes")
    add("--json", metavar="FILE", help="also writes the table and the faults there")
    options = parser.parse_args()
    options.machines, options.parts = options.machines or [*MACHINES], options.parts.split(",")
    if unknown := {*options.machines} - {*MACHINES} | {*options.parts} - {*PARTS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    red: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary).resolve()
        table = printed(rows(options, folder, red), options.parts)
    for place, faults in red.items():
        print(f"\nred: {place}", *faults, sep="\n  ")
    keep(options.json, rows=table, red=red)
    return int(bool(red) or not any(row.keys() & {*PARTS} for row in table))


if __name__ == "__main__":
    sys.exit(main())

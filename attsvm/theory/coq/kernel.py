"""Coq as an independent check: it compiles proofs of readings and refutations of readings.

A proof for all sizes is a theorem in a file of the pack, such as `Theorem sharp` in
`symbolic/coq/sim_lemma_3_12.v`. Its proposition is generated from the reading, so that a changed
formula needs another proof. A refutation of one instance is proved by the tactic of `Decide.v`.
"""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path

from attsvm._types import Case
from attsvm.errors import UsageError
from attsvm.theory.coq.theorems import (
    Theorem,
    coq_name,
    expressible,
    refutation,
    statement,
    tightness,
)
from attsvm.theory.declaration.claim import Claim

LIBRARY = {
    **dict.fromkeys(("Prelude", "Decide"), "attsvm.theory.coq"),
    **dict.fromkeys(("Words", "Solutions", "Losses", "Records"), "attsvm.primitives"),
}
"""The files of definitions and tactics in the order of their compilation, with their packages."""

SECONDS = 300
"""Maximum number of seconds of processor time for a file of one theorem."""

PACKAGES = "coq libcoq-coquelicot libcoq-interval"
"""The Debian packages that the proofs need."""

_AXIOMS = re.compile(
    r"(ClassicalDedekindReals\.sig_(forall_dec|not_dec)|Classical_Prop\.classic"
    r"|FunctionalExtensionality\.functional_extensionality_dep"
    r"|(PrimInt63|Uint63|PrimFloat|FloatAxioms)\.\w+)"
)
"""Axioms that a theorem may use: those of the real numbers, of classical logic, of equal functions,
and of the processor's integers and floats, with which `interval` computes. A theorem that uses any
other axiom, such as an admitted lemma, is rejected."""

_OF_LINKED = re.compile(
    r"(ClassicalDedekindReals\.sig_(forall_dec|not_dec)|Classical_Prop\.classic"
    r"|FunctionalExtensionality\.functional_extensionality_dep"
    r"|ClassicalEpsilon\.constructive_indefinite_description)"
)
"""Axioms that a linked proof may use. The last one chooses an element with a given property."""

_LISTS = re.compile(r"^(?=Axioms:|Closed under the global context)", re.MULTILINE)
LINKED = "linked proof"

_BATCH = 30
"""Maximum number of theorems in one file. A file loads the libraries and lists axioms once, which
takes longer than most proofs."""

_TIGHT, _REFUTED = "_tight", "_refuted"
_BY_INSTANCE = "refutation by an instance"


@dataclass(frozen=True, slots=True)
class Checked:
    """The verdict of Coq on one theorem.

    Attributes:
        claim: the id of the reading.
        kind: "proof" for all sizes, "tightness" of the constant, "refutation" for all sizes,
            "refutation by an instance" or "linked proof".
        result: "accepted", "rejected", "failed" or "not expressible"; "in part" if Coq accepts
            those facts of a linked proof that have a form in Coq.
        reason: the error of Coq, or the part of the formula without a Coq term; else empty.
        axioms: the axioms that the theorems of its file use together.
        facts: the number of facts of a linked proof.
        checked: the number of those facts that Coq has checked.
    """

    claim: str
    kind: str
    result: str
    reason: str = ""
    axioms: tuple[str, ...] = ()
    facts: int = 0
    checked: int = 0


@dataclass(frozen=True, slots=True)
class Proofs:
    """The files with proofs of one pack.

    Attributes:
        files: each file by its name in Coq.
    """

    files: Mapping[str, Path]

    @classmethod
    def of(cls, folder: Path) -> Proofs:
        """Return the proofs in a folder, which may not exist.

        Raises:
            UsageError: a file has the name of one that attsvm writes, which it would replace.
        """
        proofs = {file.stem: file for file in sorted(folder.glob("*.v"))}
        for name in (*LIBRARY, "Statements"):
            if name in proofs:
                raise UsageError(
                    "a file of proofs has the name of a file that attsvm writes",
                    value=str(proofs[name]),
                    remedy="Give it another name.",
                )
        return cls(proofs)

    def theorems(self, claim: Claim) -> Iterator[tuple[str, str]]:
        """Yield the theorems about a reading: file and name, in the order of the file."""
        file = coq_name(claim.statement_id)
        reading = coq_name(claim.reading)
        if file in self.files:
            text = self.files[file].read_text(encoding="utf-8")
            for name in re.findall(r"^Theorem (\w+) ", text, re.MULTILINE):
                if name in (reading, reading + _TIGHT, reading + _REFUTED):
                    yield file, name

    def needed(self, file: str) -> list[str]:
        """Return a file and all files that it requires, in an order for their compilation."""
        graph: dict[str, set[str]] = {}
        waiting = [file]
        while waiting:
            name = waiting.pop()
            if name not in graph:
                text = self.files[name].read_text(encoding="utf-8")
                named = re.findall(r"^Require (?:Import )?([\w ]+)\.", text, re.MULTILINE)
                graph[name] = {word for line in named for word in line.split()} & self.files.keys()
                waiting += graph[name]
        return list(TopologicalSorter(graph).static_order())


class Compiler:
    """A folder in which Coq compiles files, each once."""

    def __init__(self, folder: Path, coqc: str, library: Mapping[str, str] = LIBRARY) -> None:
        self.folder, self.coqc = folder, coqc
        self._outcomes: dict[str, tuple[bool, str]] = {}
        for name, package in library.items():
            self.write(name, files(package).joinpath(f"{name}.v").read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> None:
        """Write the file of a module."""
        (self.folder / f"{name}.v").write_text(text, encoding="utf-8")

    def compiled(self, name: str, theorems: int = 1) -> tuple[bool, str]:
        """Return whether Coq accepts a file, and its output; compiled at the first call only."""
        if name not in self._outcomes:
            self._outcomes[name] = self._compile(name, SECONDS * theorems)
        return self._outcomes[name]

    def _compile(self, name: str, seconds: int) -> tuple[bool, str]:
        limited = f'ulimit -t {seconds}; exec "$0" -q "$1"'
        done = subprocess.run(
            ["/bin/sh", "-c", limited, self.coqc, f"{name}.v"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode == 0, done.stdout + done.stderr


def ensure_coq(coqc: str) -> str:
    """Return the version of Coq.

    Raises:
        UsageError: there is no Coq by this name.
    """
    try:
        done = subprocess.run([coqc, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(
            "Coq cannot be run, so that no theorem can be checked",
            value=coqc,
            remedy=f"On Debian or Ubuntu: apt-get install {PACKAGES}.",
        ) from error
    return done.stdout.splitlines()[0]


def compile_library(compiler: Compiler, names: Iterable[str], tell: Callable[[str], None]) -> None:
    """Compile files of attsvm, in this order.

    Raises:
        UsageError: Coq does not compile one.
    """
    for name in names:
        tell(f"compiling {name}")
        accepted, output = compiler.compiled(name)
        if not accepted:
            raise UsageError(
                f"Coq does not compile {name}.v of attsvm",
                value=_error(output),
                remedy=f"Install Coq 8.16 with its libraries: {PACKAGES}.",
            )


def _batches(jobs: Sequence[_Job]) -> Iterator[Sequence[_Job]]:
    """Yield the jobs in order, in groups of at most `_BATCH`; instances form their own groups.

    The tactic for instances uses more axioms than proofs for all sizes do.
    """
    for _, akin in itertools.groupby(jobs, lambda job: job.kind == _BY_INSTANCE):
        group = [*akin]
        yield from (group[k : k + _BATCH] for k in range(0, len(group), _BATCH))


def check(
    claims: Sequence[Claim],
    instances: Callable[[Claim], Iterable[Case]],
    proofs: Proofs,
    coqc: str,
    tell: Callable[[str], None],
    workers: int = 1,
    beside: Sequence[Claim] = (),
) -> Iterator[Checked]:
    """Yield the verdict of Coq on each theorem about these readings.

    Args:
        claims: the readings.
        instances: returns the stored counterexamples of a reading, the most instructive first.
        proofs: the proofs of their pack.
        coqc: the compiler.
        tell: called with a message before each step.
        workers: number of files that Coq compiles at once; the verdicts do not depend on it.
        beside: all readings of their statements, as a file of proofs uses every one of them.

    Raises:
        UsageError: there is no Coq by this name, or it does not compile the definitions.
    """
    ensure_coq(coqc)
    with tempfile.TemporaryDirectory(prefix="attsvm-coq-") as folder:
        compiler = Compiler(Path(folder), coqc)
        jobs: list[Checked | _Job] = [*_refuted(claims, instances)]
        names = LIBRARY if any(isinstance(job, _Job) for job in jobs) else ["Prelude"]
        compile_library(compiler, names, tell)
        compiler.write("Statements", statements(beside or claims, proofs))
        compiler.compiled("Statements")
        jobs = [*_proved(claims, proofs, compiler, tell), *jobs]
        yield from (job for job in jobs if isinstance(job, Checked))
        left = [job for job in jobs if isinstance(job, _Job)]

        def answers(batch: Sequence[_Job]) -> list[Checked]:
            tell(f"checking {len(batch)} theorems, from the {batch[0].kind} of {batch[0].claim} on")
            return _judged(batch, compiler)

        with ThreadPoolExecutor(workers) as pool:
            for result in pool.map(answers, _batches(left)):
                yield from result


@dataclass(frozen=True, slots=True)
class _Job:
    """A theorem to be checked, with its text for Coq.

    Attributes:
        claim: the id of the reading.
        kind: as in `Checked`.
        text: the text; several jobs are compiled as one file.
        theorem: the name of the theorem.
    """

    claim: str
    kind: str
    text: str
    theorem: str


def _proved(
    claims: Sequence[Claim], proofs: Proofs, compiler: Compiler, tell: Callable[[str], None]
) -> Iterator[Checked | _Job]:
    """Compile the proofs for all sizes; yield a job for each, or the verdict if Coq rejects it."""
    for claim in claims:
        for file, name in proofs.theorems(claim):
            kind = "tightness" if name.endswith(_TIGHT) else "proof"
            kind = "refutation" if name.endswith(_REFUTED) else kind
            accepted, output = True, ""
            for needed in proofs.needed(file):
                tell(f"compiling {needed}.v")
                compiler.write(needed, proofs.files[needed].read_text(encoding="utf-8"))
                accepted, output = compiler.compiled(needed)
                if not accepted:
                    break
            if accepted:
                yield _Job(claim.id, kind, *_conclusion(claim, file, name))
            else:
                yield Checked(claim.id, kind, _result(output), _error(output))


def _refuted(
    claims: Sequence[Claim], instances: Callable[[Claim], Iterable[Case]]
) -> Iterator[Checked | _Job]:
    """Yield a job for each counterexample with a theorem; if none has one, the last reason."""
    for claim in claims:
        reason, count = "", 0
        for case in instances(claim):
            theorem, reason = expressible(refutation, claim, case)
            if theorem:
                count += 1
                named = replace(theorem, name=f"{theorem.name}_{count}")
                yield _Job(claim.id, _BY_INSTANCE, decided(named), f"{named.name}.holds")
        if reason and not count:
            yield Checked(claim.id, _BY_INSTANCE, "not expressible", reason)


def statements(claims: Sequence[Claim], proofs: Proofs) -> str:
    """Return a Coq file with the propositions of these readings for which there are proofs.

    The claims must contain all readings of a statement, because its file of proofs uses them all.
    """
    lines = ["Require Import Prelude.\n"]
    for claim in claims:
        for _, name in proofs.theorems(claim):
            write = tightness if name.endswith(_TIGHT) else statement
            theorem, reason = expressible(write, claim)
            text = theorem.text if theorem else f"(* {claim.id}: {reason} *)\n"
            if text not in lines:
                lines.append(text)
    return "\n".join(lines)


def _conclusion(claim: Claim, file: str, name: str) -> tuple[str, str]:
    """Return a text in which Coq compares a theorem with the proposition, and the new theorem.

    The definition is accepted only if the theorem's type is the generated proposition. So a proof
    of another proposition is rejected, such as one that was written for an older formula.
    """
    text = f"Statements.{coq_name(claim.id)}"
    if name.endswith(_TIGHT):
        text += _TIGHT
    elif name.endswith(_REFUTED):
        text = f"~ {text}"
    concluded = f"{coq_name(claim.id)}_{name}"
    definition = f"Definition {concluded} : {text} := {file}.{name}.\n"
    return f"Require Statements {file}.\n{definition}", concluded


def decided(theorem: Theorem) -> str:
    """Return a text in which the tactic of Decide.v proves a theorem about numbers."""
    head = "From Interval Require Import Tactic.\nRequire Import Prelude Decide Records.\n\n"
    return f"{head}{theorem.decided}\n"


def _judged(jobs: Sequence[_Job], compiler: Compiler) -> list[Checked]:
    """Return the verdicts of Coq on these theorems.

    They are compiled as one file, which lists the axioms that all of them use. A list for each
    theorem would take seconds, as Coq walks through the libraries each time. If Coq rejects the
    file, or it uses an axiom that is not allowed, each half is tried, down to single theorems.
    """
    first = jobs[0]
    name = f"Check_{coq_name(first.claim)}_{first.kind.replace(' ', '_')}_{len(jobs)}"
    every = functools.reduce(
        lambda left, right: f"(conj {left} {right})", (j.theorem for j in jobs)
    )
    listing = f"Definition every_theorem := {every}.\nPrint Assumptions every_theorem.\n"
    compiler.write(name, "\n".join([*(job.text for job in jobs), listing]))
    accepted, output = compiler.compiled(name, len(jobs))
    parts = _LISTS.split(output)
    # without a list of axioms, a theorem that uses a wrong one would go unnoticed
    results = [_accepted(job, parts[1]) for job in jobs] if accepted and len(parts) == 2 else []
    if results and all(result.result == "accepted" for result in results):
        return results
    if len(jobs) > 1:
        half = len(jobs) // 2
        return [*_judged(jobs[:half], compiler), *_judged(jobs[half:], compiler)]
    if accepted:
        return results or [
            Checked(first.claim, first.kind, "rejected", "Coq did not list its axioms")
        ]
    return [Checked(first.claim, first.kind, _result(output), _error(output))]


@dataclass(frozen=True, slots=True)
class LinkedJob:
    """A linked proof to be checked.

    Attributes:
        claim: the id of the reading.
        text: the file for Coq, which ends with `checked`: the theorem of a whole proof, or what
            uses all facts that the file proves.
        facts: the number of facts.
        checked: the number of facts that the file proves.
        reason: the part of the proof without a form in Coq; empty for a whole proof.
    """

    claim: str
    text: str
    facts: int
    checked: int
    reason: str = ""


def check_linked(
    jobs: Iterable[LinkedJob],
    coqc: str,
    tell: Callable[[str], None],
    workers: int,
    folder: Path,
) -> Iterator[Checked]:
    """Yield the verdict of Coq on linked proofs.

    Args:
        jobs: the proofs.
        coqc: the compiler.
        tell: called with a message before each step.
        workers: number of files that Coq compiles at once.
        folder: the folder for the files.
    """
    ensure_coq(coqc)
    compiler = Compiler(folder, coqc, {"Facts": "attsvm.theory.coq"})
    compile_library(compiler, ["Facts"], tell)

    def answer(job: LinkedJob) -> Checked:
        tell(f"checking {job.checked} facts of {job.claim}")
        name = coq_name(job.claim)
        compiler.write(name, f"{job.text}Print Assumptions checked.\n")
        accepted, output = compiler.compiled(name)
        known = functools.partial(Checked, job.claim, LINKED, facts=job.facts)
        if not accepted:
            return known(_result(output), _error(output))
        parts = _LISTS.split(output)
        if len(parts) != 2:
            return known("rejected", "Coq did not list its axioms")
        verdict = _accepted(_Job(job.claim, LINKED, "", ""), parts[1])
        if job.reason and verdict.result == "accepted":
            verdict = replace(verdict, result="in part", reason=job.reason)
        return replace(verdict, facts=job.facts, checked=job.checked)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(answer, jobs)


def _accepted(job: _Job, listed: str) -> Checked:
    """Return the verdict on a theorem that Coq accepts; an axiom that is not allowed rejects it."""
    # each line without indentation names an axiom; an axiom of the file itself has no module name
    named = re.findall(r"^([\w.']+)(?= *(?::|$))", listed, re.MULTILINE)
    axioms = tuple(name for name in named if name != "Axioms")
    allowed = _OF_LINKED if job.kind == LINKED else _AXIOMS
    others = [axiom for axiom in axioms if not allowed.fullmatch(axiom)]
    if others:
        return Checked(job.claim, job.kind, "rejected", f"uses {', '.join(others)}", axioms)
    return Checked(job.claim, job.kind, "accepted", "", axioms)


def _result(output: str) -> str:
    """Return "rejected" if Coq gives an error, else "failed": it ended without an answer."""
    return "rejected" if "Error:" in output else "failed"


def _error(output: str) -> str:
    """Return the error of Coq in one line, at most 200 characters."""
    result = output.partition("Error:")[2] or output or "no output: it ran out of time or memory"
    return " ".join(result.split())[:200]

"""Curated counterexamples: files beside the claims, which every run replays first."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._types import Case, Entry
from attsvm._witness import Witness
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.code_digests import Imports
from attsvm.theory.packs.packs import Pack, beside

if TYPE_CHECKING:
    from attsvm.theory.record.counterexample import Replay

STORED = "stored counterexample"
"""Name of the searcher for counterexamples that were known before the search."""


_WORDS = 60
"""Maximum number of characters of a sibling's name in a file name."""


def file_name(claim_id: str, part: str = "", role: str = "") -> str:
    """Return the name of the file for a counterexample to a claim, or to its sibling.

    With a `role`, such as smallest, it is the name of a second file beside that one.

    The name for a sibling ends in a hash of the sibling's name. Siblings with the same words, such
    as `2 x` and `2/x`, can therefore be stored in one folder.
    """
    name = claim_id.replace("/", "--").replace(":", "--")
    if part:
        words = re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:_WORDS].rstrip("-")
        digest = hashlib.sha256(part.encode()).hexdigest()[:8]
        name = "--".join([name, *([words] if words else []), digest])
    return f"{name}--{role}.json" if role else f"{name}.json"


def place(claim: Claim) -> Path:
    """Return the path of the curated counterexample of a claim; the file may not exist."""
    return beside(Path(claim.file)) / "counterexamples" / file_name(claim.id)


def smallest_place(claim: Claim) -> Path:
    """Return the path of the smallest counterexample, used if the curated one tells more."""
    return beside(Path(claim.file)) / "counterexamples" / file_name(claim.id, role="smallest")


def places(claim: Claim) -> tuple[Path, ...]:
    """Return the paths of the curated files of a claim, the most telling one first."""
    return place(claim), smallest_place(claim)


def _readable(paths: Iterable[Path]) -> Iterator[Entry]:
    """Yield the documents of the files that exist and can be read, in this order."""
    for path in filter(Path.is_file, paths):
        from attsvm.theory.record.counterexample import read

        with contextlib.suppress(AttsvmError):  # `replay_curated` reports the error
            yield read(path)


def known(claim: Claim, part: str = "") -> tuple[Case, ...]:
    """Return the instances of the readable curated files of a claim for this part.

    The smallest one is first, as a search may end there.
    """
    cases = []
    for stored in _readable(reversed(places(claim))):
        with contextlib.suppress(AttsvmError):  # `replay_curated` reports the error
            if stored.get("claim") == claim.id and (stored.get("sibling") or "") == part:
                cases.append(codec.decode_exactly(stored.get("instance"), claim.instance_type))
    return tuple(cases)


def known_witness(claim: Claim, case: Case) -> Witness | None:
    """Return the witness of the claim's curated file of this instance; None without one."""
    for stored in _readable(places(claim)):
        if codec.encode(case) == stored["instance"]:
            from attsvm.theory.record.counterexample import witness_of

            with contextlib.suppress(AttsvmError):  # `replay_curated` reports the error
                return witness_of(stored)
    return None


def python_files(folder: Path) -> list[Path]:
    """Return the Python files in a folder, without folders, dangling links and hidden files."""
    results = sorted(folder.glob("*.py"))
    return [file for file in results if file.is_file() and not file.name.startswith(".")]


def unloaded(folder: Path, packs: Sequence[Pack]) -> tuple[Path, ...]:
    """Return the files of a folder that belong to no loaded pack and may hold claims."""
    own = {p.file for p in packs if p.folder == folder}
    if not own or "" in own:  # a package has its folder for itself
        return ()
    # a file that may hold claims is not imported to find out: that would run its code
    files = (file for file in python_files(folder) if file.name not in own)
    return tuple(f for f in files if f.name == "__init__.py" or b"Statement" in f.read_bytes())


def chosen(packs: Sequence[Pack], claims: Iterable[Claim]) -> dict[Path, Pack]:
    """Return the curated files that a run on these claims replays, in order, with their packs.

    Files are named after their claims. A stray file, named after no claim of the folder's packs, is
    replayed in every run on them, so that the run reports it. It is left out if a file of the
    folder that is not loaded may have its claim.
    """
    wanted = {c.id for c in claims}
    results: dict[Path, Pack] = {}
    for pack in packs:
        owners = {path.name: c.id for c in pack.claims for path in places(c)}
        if wanted.isdisjoint(owners.values()):
            continue
        sharing = [other for other in packs if other.folder == pack.folder]
        theirs = {path.name for other in sharing for c in other.claims for path in places(c)}
        whole = pack.whole and not unloaded(pack.folder, sharing)
        for path in pack.counterexamples:
            stray = whole and path.name not in theirs and path.is_relative_to(pack.folder)
            if stray or owners.get(path.name) in wanted:
                results.setdefault(path, pack)
    return results


def replay_curated(
    path: Path, pack: Pack, packs: tuple[Pack, ...], imports: Imports | None = None
) -> Replay:
    """Return the replay of a curated file, which must refute a reading expected to be refuted.

    `packs` and `imports` are as for `replay`.
    """
    from attsvm.theory.record.counterexample import read, replay

    result = replace(replay(path, packs, imports), file=shown(path, pack))
    wrong = ""
    claim = next((c for c in pack.claims if c.id == result.claim), None)
    if result.confirmed and (claim is None or path.resolve() not in places(claim)):
        wrong = "the file is not in the folder of its claim, or has another name"
    elif result.confirmed and claim is not None:
        if read(path).get("sibling"):
            wrong = "it refutes a sibling, but a curated file must refute a reading"
        elif claim.expected.truth is not Truth.REFUTED:
            wrong = f"the claim is expected to be {claim.expected.truth}, but this refutes it"
    return replace(result, result="NOT CONFIRMED", reason=wrong) if wrong else result


def replays(
    packs: Sequence[Pack],
    claims: Iterable[Claim],
    tell: Callable[[Path], None] = lambda file: None,
) -> Iterator[Replay]:
    """Replay the curated files of these claims in order; call `tell` before each file."""
    loaded, imports = tuple(packs), Imports()
    for path, pack in chosen(packs, claims).items():
        tell(path)
        yield replay_curated(path, pack, loaded, imports)


def shown(path: Path, pack: Pack) -> str:
    """Return the name of a curated file in reports: its path from the folder above its pack.

    The name does not depend on the place of the pack.
    """
    present = pack.folder.parent
    return (path.relative_to(present) if path.is_relative_to(present) else path).as_posix()


def summary(replayed: Sequence[Replay]) -> list[str]:
    """Return lines of a report: the number of replayed files, and each file not confirmed."""
    if not replayed:
        return []
    wrong = [r for r in replayed if not r.confirmed]
    stale = sum(r.stale for r in replayed if r.confirmed)
    text = "all confirmed" if not wrong else f"{len(wrong)} not confirmed"
    since = f" ({stale} of them although the code has changed since they were stored)"
    several = "s" if len(replayed) > 1 else ""
    return [
        f"{len(replayed)} curated counterexample{several} replayed: {text}{since if stale else ''}",
        *(f"! {r}" for r in wrong),
    ]

"""What is checked out: the digest of every file that the verdicts of a run hang on."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attsvm.theory.declaration.code_digests import base_of, belongs, home_of, module_of, whole
from attsvm.theory.declaration.packs import Pack, modules

_PACKAGES = ("numpy", "python-flint", "hypothesis")


def versions() -> dict[str, str]:
    """What else a run depends on, by name; it is recorded and binds nothing."""
    return {"python": platform.python_version(), **{name: version_of(name) for name in _PACKAGES}}


def circumstances(folder: Path) -> dict[str, str]:
    """When and on what a run was made, and of which commit the folder is; it binds nothing."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(folder),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _commit(folder: Path) -> str:
    """What git calls the state of a folder, "none" where it does not know it."""
    words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        told = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return "none"
    return told.stdout.strip() or "none"


def version_of(package: str) -> str:
    """The version of a package, "none" where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def checked_packs(packs: Sequence[Pack], ids: Collection[str]) -> tuple[Pack, ...]:
    """The packs that have a claim of one of these ids."""
    return tuple(p for p in packs if any(c.id in ids for c in p.claims))


def engine_digests() -> dict[str, str]:
    """The digest of every file of attsvm, by the hash of its text."""
    return {_text_hash(file): whole(file) for file in _engine()}


def code_of(packs: Sequence[Pack], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """The digest of every file that verdicts may hang on, by its path from where it is imported.

    These are the Python files of attsvm, of the packs, and of all packages and modules of their
    code bases that they import or that a claim names as its proof, and the curated
    counterexamples. Comments, docstrings and layout do not count. Files of attsvm whose digests are
    `known`, as by `engine_digests`, are not parsed.
    """
    found: dict[str, str] = {}
    told = known or {}
    files = [(base_of(f), f, told.get(_text_hash(f)) or whole(f)) for f in _engine()]
    for base, file, digest in sorted([*files, *_files(packs)]):
        name = file.relative_to(base).as_posix()
        if name in found:  # two code bases have a file of that name
            digest = hashlib.sha256(f"{found[name]} {digest}".encode()).hexdigest()[: len(digest)]
        found[name] = digest
    return found


def _engine() -> list[Path]:
    return list(Path(__file__).resolve().parents[2].rglob("*.py"))


def _text_hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _files(packs: Sequence[Pack]) -> Iterator[tuple[Path, Path, str]]:
    """The files of packs and of what they import, each with its base and its digest."""
    left = {_root(Path(m.__file__).resolve()) for p in packs for m in modules(p) if m.__file__}
    for claim in (c for pack in packs for c in pack.claims):
        left.add(_root(Path(claim.file).resolve()))
        if claim.proof is not None:
            proof = home_of(claim.proof.partition(":")[0], base_of(Path(claim.file).resolve()))
            left |= set() if proof is None else {_root(proof.resolve())}
    seen: set[Path] = set()
    while left:
        root = left.pop()
        seen.add(root)
        base = root.parent
        files = [root] if root.is_file() else list(root.rglob("*.py"))
        tops: set[str] = set()
        for file in files:
            module = module_of(file)
            tops.update(dotted[0] for dotted in module.imported if dotted)
            yield base, file, module.digest
        left |= {_place(base, top) for top in tops if belongs(files[0], top)} - seen
    for file in {f for pack in packs for f in pack.counterexamples}:
        yield base_of(file.parent), file, whole(file)


def _root(file: Path) -> Path:
    """The outermost package of a file, or the file where it is in none."""
    base = base_of(file)
    return base / file.relative_to(base).parts[0]


def _place(base: Path, top: str) -> Path:
    return base / top if (base / top).is_dir() else base / f"{top}.py"

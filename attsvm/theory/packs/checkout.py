"""The checkout: the digest of every file that a run's verdicts may depend on."""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attsvm._files import parse, read_whole, write_whole
from attsvm.errors import FileError
from attsvm.sources import holds
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs import code_digests
from attsvm.theory.packs.code_bases import (
    ENGINE,
    base_of,
    followed,
    installed,
    is_installed,
    located,
)
from attsvm.theory.packs.code_digests import (
    CONTENTS,
    Content,
    Imports,
    Module,
    digest_of,
    homes,
    module_of,
    whole,
)
from attsvm.theory.packs.packs import Pack, modules

_PACKAGES = ("numpy", "python-flint", "hypothesis", "scipy", "sympy", "numba", "torch")

_HASHED = 1 << 28
"""Maximum number of bytes of a data file that are hashed; its size is hashed as well."""

_BEGINNING = 64
"""Number of bytes of a data file that determine its kind."""

_COMPILED = frozenset((".so", ".pyd", ".dylib", ".dll"))
"""Endings of extension modules: they differ between machines."""

_EVENT = re.compile(rb'\{"schema": 1, "event": ')
"""Beginning of a ledger."""

_FIND = re.compile(rb'\{\n "schema": \d,\n "kind": "attsvm-counterexample",')
"""Beginning of a counterexample, as runs write them to folders called finds."""

_KEPT_BYTES = 1 << 26
"""Maximum number of bytes of the file of kept contents; see `kept_contents`."""

_KEPT_CONTENTS = 4096
"""Maximum number of contents in that file; older ones are dropped first."""


def versions() -> dict[str, str]:
    """Return the versions of Python and of libraries, by name; the gate does not compare them."""
    return {"python": platform.python_version(), **{name: version_of(name) for name in _PACKAGES}}


def circumstances(folder: Path) -> dict[str, str]:
    """Return the date, commit and machine of a run; the gate does not compare them."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(folder),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _commit(folder: Path) -> str:
    """Return git's description of the state of a folder, "none" if git does not know it."""
    words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        shown = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return "none"
    return shown.stdout.strip() or "none"


def version_of(package: str) -> str:
    """Return the version of a package, "none" if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def checked_packs(packs: Sequence[Pack], ids: Collection[str]) -> tuple[Pack, ...]:
    """Return the packs that have a claim of one of these ids."""
    return tuple(p for p in packs if any(c.id in ids for c in p.claims))


def code_of(packs: Sequence[Pack], ledger: Path | None = None) -> dict[str, str]:
    """Return the digest of every file that verdicts may depend on, by its path from its base.

    The digests bind a run to the code that it ran: the gate refuses a run if one of them differs.
    They cover:

    - the Python files of attsvm and of the packs;
    - Python files outside installed distributions that a pack imports, or that hold a proof;
    - the data files within the packages of these files;
    - the curated counterexamples;
    - the versions of installed distributions, unless attsvm itself requires them.

    Comments, docstrings and layout of Python do not count, because they change no verdict. Files of
    an installed attsvm count by their bytes: nobody edits them, and parsing them takes longer than
    the rest of a gate. The ledger of the run itself does not count, even if it is still empty
    and looks like data.
    """
    results: dict[str, str] = {}
    engine = Path(__file__).resolve().parents[2]
    shown = _raw if is_installed(engine) else whole
    base = str(engine.parent)
    modules = (file for file in python_files(engine) if not holds(Path(file)))  # sources are packs
    files = [(base, _inner(base, file), shown(file)) for file in modules]
    for base, name, digest in sorted([*files, *_files(packs)]):
        own = ledger is not None and name.rpartition("/")[2] == ledger.name
        if ledger is not None and own and Path(base, name).resolve() == ledger.resolve():
            continue
        if name in results:  # two code bases have a file of this name: one digest for both
            digest = hashlib.sha256(f"{results[name]} {digest}".encode()).hexdigest()[: len(digest)]
        results[name] = digest
    return results


def data_of(claims: Iterable[Claim]) -> str:
    """Return the digest of the data files beside the code of claims, "" if there are none."""
    roots, _ = _roots(_homes(claims))
    files = ((str(base), file) for base, root in roots for file in _data(root))
    lines = [f"{_inner(base, file)} {_raw(file)}" for base, file in files]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:12] if lines else ""


def key_of(pack: Pack) -> str:
    """Return the name of a pack in expectations: the name of its file, else of its package."""
    return pack.file or pack.name


def rest_of(packs: Iterable[Pack]) -> dict[str, str]:
    """Return for each pack the digest of its files that no claim imports.

    These are data files, and modules that are loaded with the pack and may change other modules.
    A pack without such files has no entry.

    Returns:
        Digests by `key_of` the packs.
    """
    results: dict[str, str] = {}
    imports = Imports()
    for pack in packs:
        starts = {home for claim in pack.claims for home in homes(claim.file, claim.proof)}
        bound, _ = imports.reached(starts)
        files = {located(module.__file__) for module in modules(pack) if module.__file__}
        others = [module_of(file) for file in sorted(files - bound.keys())]
        lines = [f"{other.shown} {other.digest}" for other in others]
        lines += [f"data {data}" for data in [data_of(pack.claims)] if data]
        if lines:
            results[key_of(pack)] = digest_of("\n".join(lines))
    return results


def _homes(claims: Iterable[Claim]) -> Iterator[Path]:
    """Yield the files of claims and of their proofs."""
    for file, proof in {(claim.file, claim.proof) for claim in claims}:
        yield from homes(file, proof)


def _files(packs: Sequence[Pack]) -> Iterator[tuple[str, str, str]]:
    """Yield the files of packs and of their imports: base, path from the base, and digest."""
    starts = [located(m.__file__) for p in packs for m in modules(p) if m.__file__]
    roots, distributions = _roots([*starts, *_homes(c for p in packs for c in p.claims)])
    for place, root in roots:
        base = str(place)
        for file in python_files(root):
            yield base, _inner(base, file), module_of(Path(file), place).digest
        yield from ((base, _inner(base, file), _raw(file)) for file in _data(root))
    for name, version in distributions:
        yield "", f"{name} (installed)", version
    for stored in {f for pack in packs for f in pack.counterexamples}:
        base = str(base_of(stored.parent))
        yield base, _inner(base, str(stored)), whole(stored)


def _inner(base: str, file: str) -> str:
    """Return the path of a file relative to a folder above it."""
    return file[len(os.path.join(base, "")) :].replace(os.sep, "/")


def _roots(starts: Iterable[Path]) -> tuple[set[tuple[Path, Path]], set[tuple[str, str]]]:
    """Return the outermost packages of files and of all their imports, and distributions.

    A file in no package stands for itself. Each package comes with the folder from which it is
    imported, each distribution with its version.
    """
    bases = {(base_of(file), file) for file in starts}
    left = {(base, base / file.relative_to(base).parts[0]) for base, file in bases}
    seen: set[tuple[Path, Path]] = set()
    distributions: set[tuple[str, str]] = set()
    while left:
        base, root = left.pop()
        seen.add((base, root))
        own = root.name.removesuffix(".py")
        files = map(Path, python_files(root))
        results = (dotted for file in files for dotted in module_of(file, base).imported)
        # attsvm is no part of a pack: the record of a run has the digests of all its modules
        for dotted in {dotted[:2] for dotted in results if dotted and dotted[0] != ENGINE}:
            top = dotted[0]
            home = followed(base, own, dotted)
            if home is not None:
                place = home / top if (home / top).is_dir() else home / f"{top}.py"
                left |= {(home, place)} - seen
            elif installed(top)[0]:
                distributions.add(installed(top))
    return seen, distributions


def python_files(root: Path) -> list[str]:
    """Return the modules of a package, without editors' hidden files; or the module itself."""
    if root.is_file():
        return [str(root)]
    return [f for f in files_within(root, ".py") if not os.path.basename(f).startswith(".")]


def files_within(folder: str | Path, ending: str = "") -> Iterator[str]:
    """Yield the files in a folder whose names have the ending, also behind links to folders.

    Each folder is entered once, and no folder above the given one, so that links have an end.
    """
    entered = set(map(str, Path(os.path.realpath(folder)).parents))
    for place, folders, names in os.walk(folder, followlinks=True):
        folders.sort()
        own = os.path.realpath(place)
        if own in entered:
            folders.clear()
            continue
        entered.add(own)
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(ending))


def _data(root: Path) -> Iterator[str]:
    """Yield data files that code may read: all files in a package; for a file, files that it names.

    Hidden files, bytecode, extension modules, expectations, counterexamples, finds of runs, and
    ledgers are left out.
    """
    if root.is_file():
        beside = (str(root.parent / text) for text in _names_in(module_of(root)))
        yield from filter(os.path.isfile, beside)
        return
    for file in files_within(root):
        *folders, name = _inner(str(root), file).split("/")
        if any(part.startswith(".") or part == "__pycache__" for part in (*folders, name)):
            continue
        ending = os.path.splitext(name)[1]
        stored = folders[-1:] == ["counterexamples"] and ending == ".json"
        own = name == "expectations.json" or stored
        if own or ending in (".py", ".pyc", *_COMPILED) or not os.path.isfile(file):
            continue
        result = folders[-1:] == ["finds"] and ending == ".json" and _begins(file, _FIND)
        if not result and not _begins(file, _EVENT):
            yield file


def _names_in(module: Module) -> tuple[str, ...]:
    """Return the strings in the code of a module that may name data files beside it."""
    return tuple(sorted(filter(_is_name, module.texts)))


def _is_name(value: str) -> bool:
    """Return whether a string in code may be the path of a data file below its folder."""
    if not 0 < len(value) < 200 or "\0" in value:
        return False
    path = Path(value)
    inside = not path.is_absolute() and ".." not in path.parts
    return inside and path.suffix != ".py" and path.name != "expectations.json"


def _begins(file: str, words: re.Pattern[bytes]) -> bool:
    with open(file, "rb") as opened:
        return words.match(opened.read(_BEGINNING)) is not None


def _raw(file: str) -> str:
    """Return the digest of the size and of the first bytes of a file."""
    with open(file, "rb") as opened:
        digest = hashlib.sha256(f"{os.fstat(opened.fileno()).st_size} ".encode())
        for _ in range(0, _HASHED, 1 << 20):
            digest.update(opened.read(1 << 20))
    return digest.hexdigest()[:12]


def file_beside(ledger: Path) -> Path:
    """Return the file for the runs of a ledger; it is hidden, so no pack takes it for data."""
    return ledger.with_name(f".{ledger.name}.modules")


@contextlib.contextmanager
def kept_contents(path: Path) -> Iterator[None]:
    """Read contents of parsed files from a file; if more are parsed within, store all at the end.

    Parsing all modules takes seconds. An entry is found by a hash of all bytes of a file, so an
    edited file has no entry. All entries are dropped if Python or the code that parses differs, or
    if the file is damaged. The gate does not read the file: it parses every module anew. A file
    that cannot be read or written is no error.
    """
    earlier = read_contents(path)
    for key, content in earlier.items():
        CONTENTS.setdefault(key, content)
    before = len(CONTENTS)
    yield
    if len(CONTENTS) > before:
        with contextlib.suppress(FileError):
            write_whole(path, lambda file: file.write(_written({**earlier, **CONTENTS})))


def read_contents(path: Path) -> dict[str, Content]:
    """Return the contents in a file; empty if it is missing, damaged or of another `_parser`."""
    try:
        checksum, _, body = read_whole(path, _KEPT_BYTES).partition(b"\n")
        if checksum != _checksum(body):
            return {}
        document = parse(body)
        if document["parser"] != _parser():
            return {}
        return {
            key: Content(digest, frozenset(map(tuple, imported)), frozenset(texts), asserts)
            for key, (digest, imported, texts, asserts) in document["contents"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _written(contents: Mapping[str, Content]) -> bytes:
    """Return the bytes of a file with the last of these contents."""
    entries = {
        key: [c.digest, sorted(map(list, c.imported)), sorted(c.texts), c.asserts]
        for key, c in list(contents.items())[-_KEPT_CONTENTS:]
        if not any("\ud800" <= letter <= "\udfff" for text in c.texts for letter in text)
    }
    body = json.dumps({"parser": _parser(), "contents": entries}).encode()
    return _checksum(body) + b"\n" + body


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _parser() -> str:
    """Return the version of Python, and a hash of the parsing code.

    Raises:
        OSError: the code cannot be read.
    """
    own = Path(code_digests.__file__).read_bytes()
    return f"{sys.version} {hashlib.sha256(own).hexdigest()}"

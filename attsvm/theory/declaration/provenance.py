"""Where a claim's code lies: the hash of everything in its pack that its file rests on."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from attsvm.theory.declaration.code_digests import base_of, bindings


def fingerprint(claim: str, statement: str, file: str | os.PathLike[str]) -> str:
    """SHA-256 of a claim's id, its statement, and all `sources` of its file.

    The same in every folder that the pack may be installed in; line ends do not count.
    """
    digest = hashlib.sha256(f"{claim}\x1f{statement}".encode())
    path = Path(file)
    base = base_of(path)
    for source in sources(path):
        digest.update(f"\x1f{source.relative_to(base).as_posix()}\x1f{_read(source)[0]}".encode())
    return digest.hexdigest()


def sources(file: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The file and the modules of its pack that it imports, directly or not, in order of paths.

    The pack of a file within a package is the outermost package; of a loose file, its folder.
    """
    path = Path(file)
    base = base_of(path)
    pack = path.relative_to(base).parts[:1] if path.parent != base else ()
    found, left = {path}, [path]
    while left:
        for parts in _read(left.pop())[1]:
            place = str(base)
            for part in parts if parts[: len(pack)] == pack else ():
                place = os.path.join(place, part)
                for module in (f"{place}.py", os.path.join(place, "__init__.py")):
                    if os.path.isfile(module) and Path(module) not in found:
                        found.add(Path(module))
                        left.append(Path(module))
    return tuple(sorted(found))


def _read(path: Path) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """The hash of a source file, and the dotted names that it imports as their parts."""
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except OSError:
        return "", ()


@functools.lru_cache(maxsize=4096)
def _parsed(path: Path, changed: int) -> tuple[str, tuple[tuple[str, ...], ...]]:
    text = path.read_bytes().replace(b"\r\n", b"\n")
    digest = hashlib.sha256(text).hexdigest()
    try:
        found = (bindings(node, path) for node in _statements(ast.parse(text)))
        return digest, tuple({parts: None for names in found for parts in names.values()})
    except (SyntaxError, ValueError):
        return digest, ()


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within, wherever they are nested; expressions import nothing."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from _statements(inner)

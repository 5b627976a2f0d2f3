"""Where a claim's code lies: the hash of everything in its pack that its file rests on."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["fingerprint", "sources"]


def fingerprint(claim: str, statement: str, file: str | os.PathLike[str]) -> str:
    """SHA-256 of a claim's id, its statement, and all `sources` of its file.

    The same in every folder that the pack may be installed in; line ends do not count.
    """
    digest = hashlib.sha256(f"{claim}\x1f{statement}".encode())
    path = Path(file)
    base = _base(path)
    for source in sources(path):
        digest.update(f"\x1f{source.relative_to(base).as_posix()}\x1f{_read(source)[0]}".encode())
    return digest.hexdigest()


def sources(file: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The file and the modules of its pack that it imports, directly or not, in order of paths.

    The pack of a file within a package is the outermost package; of a loose file, its folder.
    """
    path = Path(file)
    base = _base(path)
    pack = path.relative_to(base).parts[0] if path.parent != base else None
    found, left = {path}, [path]
    while left:
        current = left.pop()
        for name in _read(current)[1]:
            for module in _modules(name, current, base, pack):
                if module not in found:
                    found.add(module)
                    left.append(module)
    return tuple(sorted(found))


def _base(path: Path) -> Path:
    """The folder from which the file is imported."""
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _modules(name: str, current: Path, base: Path, pack: str | None) -> Iterator[Path]:
    """The files that importing a dotted name runs, as far as they belong to the pack."""
    words = name.lstrip(".")
    dots = len(name) - len(words)
    parts = words.split(".") if words else []
    if dots:
        if not current.is_relative_to(base) or len(current.relative_to(base).parts) <= dots:
            return
        parts = [*current.parents[dots - 1].relative_to(base).parts, *parts]
    if pack is not None and parts[:1] != [pack]:
        return
    place = str(base)
    for part in parts:
        place = os.path.join(place, part)
        for module in (f"{place}.py", os.path.join(place, "__init__.py")):
            if os.path.isfile(module):
                yield Path(module)


def _read(path: Path) -> tuple[str, tuple[str, ...]]:
    """The hash of a source file and the names that it imports."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _parsed(path, changed)


@functools.lru_cache(maxsize=4096)
def _parsed(path: Path, changed: int) -> tuple[str, tuple[str, ...]]:
    try:
        text = path.read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return "", ()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return hashlib.sha256(text).hexdigest(), ()
    return hashlib.sha256(text).hexdigest(), tuple(dict.fromkeys(_imports(tree)))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within, wherever they are nested; expressions import nothing."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from _statements(inner)


def _imports(tree: ast.Module) -> Iterator[str]:
    """Dotted names of what a module imports; `from a import b` may name a module a.b."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            link = "." if node.module else ""
            yield from (f"{origin}{link}{alias.name}" for alias in node.names)

"""Modules by their files: the digest of the syntax tree, and the imported names.

Comments, docstrings, layout and line numbers do not change the digest.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attsvm.theory.packs.code_bases import Dotted, base_of

_DIGITS = 12
"""Number of hexadecimal digits of a digest."""

_SKIPPED = frozenset(("ctx", "kind", "type_comment"))
_IMPORTS = (ast.Import, ast.ImportFrom)
_NOTED = (*_IMPORTS, ast.Call, ast.Constant, ast.Assert)
_LONG = 1 << 2000
"""Least integer that is spelt in base 16."""


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A file, and its imports if it is Python.

    Attributes:
        file: its path.
        base: the folder from which it is imported.
        digest: the digest of its syntax tree if it is Python, else of its text.
        imported: the dotted names that it imports anywhere, in parts.
        texts: the strings in its code; a module may read files of these names.
        asserts: the line of its first `assert` statement outside tests, 0 if there is none.
    """

    file: Path
    base: Path
    digest: str = ""
    imported: frozenset[Dotted] = frozenset()
    texts: frozenset[str] = frozenset()
    asserts: int = 0

    @property
    def top(self) -> str:
        """The top-level name of the module or of its package."""
        return self.file.relative_to(self.base).parts[0].removesuffix(".py")

    @property
    def shown(self) -> str:
        """The path of its file from its base."""
        return self.file.relative_to(self.base).as_posix()


def whole(path: str | os.PathLike[str]) -> str:
    """Return the digest of a file: of its syntax tree if it is Python, else of its text.

    Raises:
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    return _parsed(name, os.fspath(base_of(Path(name))), _state(name)).digest


def _state(file: str) -> tuple[int, int, int]:
    """Return numbers that change with a file, even if its time is set back after an edit.

    The second is the time of change of the file's entry, which a program cannot set.
    """
    status = os.stat(file)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _text(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _tree(path: Path, text: bytes) -> ast.Module | None:
    """Return the syntax tree of a file, None if it is not Python."""
    try:
        return ast.parse(text) if path.suffix == ".py" else None
    except (SyntaxError, ValueError):
        return None


def _whole(tree: ast.Module, statements: Iterable[str]) -> str:
    """Return the digest of a syntax tree whose statements are spelt as words."""
    body = ["body", "[", *statements, "]"] if tree.body else []
    return digest_of("\x1f".join(["(Module", *body, ")"]))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def module_of(file: Path, base: Path | None = None) -> Module:
    """Return the present module of a file, imported from `base`; a missing file has no digest."""
    base = base or base_of(file)
    try:
        name = os.fspath(file)
        return _parsed(name, os.fspath(base), _state(name))
    except OSError:
        return Module(file, base)


@functools.lru_cache(maxsize=8192)
def _parsed(name: str, imported_from: str, known: tuple[int, int, int]) -> Module:
    file, base = Path(name), Path(imported_from)
    text = _text(file)
    tree = _tree(file, text)
    if tree is None:
        return Module(file, base, _hash(text))
    package = file.relative_to(base).parts
    every: list[str] = []
    imported: set[Dotted] = set()
    texts: set[str] = set()
    asserts = 0
    for statement in tree.body:
        if is_text(statement):
            continue
        words, noted = spelt(statement)
        every.append("\x1f".join(words))
        for node in noted:
            if isinstance(node, ast.Assert):
                is_test = getattr(statement, "name", "").lower().startswith("test")
                asserts = asserts or (0 if is_test else node.lineno)
            elif isinstance(node, ast.Constant):
                texts |= {node.value} if isinstance(node.value, str) else set()
            else:
                imported.update(_imported_by(node, package))
    digest = _whole(tree, every)
    return Module(file, base, digest, frozenset(imported), frozenset(texts), asserts)


def digest_of(words: str) -> str:
    """Return the digest of a text."""
    return _hash(words.encode(errors="surrogatepass"))


def spelt(statement: ast.stmt) -> tuple[list[str], list[ast.AST]]:
    """Return the words of a syntax tree, with its imports, calls, constants and assertions.

    The words are the same under every version of Python that can read the code. Fields without
    content are left out, so that fields that new versions add do not change a digest.
    """
    words: list[str] = []
    noted: list[ast.AST] = []

    def spell(value: object) -> None:
        if isinstance(value, list):
            words.append("[")
            for each in value:
                if not is_text(each):
                    spell(each)
            words.append("]")
        elif isinstance(value, ast.AST):
            if isinstance(value, _NOTED):
                noted.append(value)
            words.append(f"({type(value).__name__}")
            for name in value._fields:
                inner = getattr(value, name, None)
                if isinstance(value, ast.JoinedStr):  # some versions of Python add empty parts
                    inner = [part for part in value.values if getattr(part, "value", "x") != ""]
                if name not in _SKIPPED and inner not in (None, []):
                    words.append(name)
                    spell(inner)
            words.append(")")
        else:
            words.append(constant(value))

    spell(statement)
    return words, noted


def constant(value: object) -> str:
    """Return a constant as text; Python writes very long integers only in base 16."""
    return hex(value) if isinstance(value, int) and abs(value) >= _LONG else repr(value)


def is_text(node: object) -> bool:
    """Return whether a statement is a bare string: a docstring, or a note on a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imported_by(node: ast.AST, package: Dotted) -> Iterator[Dotted]:
    """Yield the dotted names that a statement imports, or a call with a literal name.

    Args:
        node: an import or a call.
        package: the path of the module from its base, for relative imports.
    """
    if isinstance(node, ast.Import):
        yield from (tuple(alias.name.split(".")) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        origin: Dotted = tuple(node.module.split(".")) if node.module else ()
        if node.level:
            origin = (*package[: max(len(package) - node.level, 0)], *origin)
        yield from (origin if a.name == "*" else (*origin, a.name) for a in node.names)
    elif isinstance(node, ast.Call):
        values = node.args[0] if node.args else None
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in ("import_module", "__import__") and isinstance(values, ast.Constant):
            yield tuple(str(values.value).split("."))

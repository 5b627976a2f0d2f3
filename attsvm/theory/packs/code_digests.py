"""Digests of a claim's code: all modules that its statement and its proof import.

The digest of a module is that of its syntax tree. Comments, docstrings, layout and line numbers do
not change it.
"""

import ast
import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.code_bases import (
    Dotted,
    base_of,
    files_of,
    followed,
    home_of,
    installed,
    located,
)

_DIGITS = 12
"""Number of hexadecimal digits of a digest."""

_SKIPPED = frozenset(("ctx", "kind", "type_comment"))
_IMPORTS = (ast.Import, ast.ImportFrom)
_NOTED = (*_IMPORTS, ast.Call, ast.Constant, ast.Assert)
_LONG = 1 << 2000
"""Least integer that is written in base 16."""


class Content(NamedTuple):
    """The content of a file, and its imports if it is Python.

    Attributes:
        digest: the digest of its syntax tree if it is Python, else of its text.
        imported: the dotted names that it imports anywhere, in parts.
        texts: the strings in its code; a module may read files of these names.
        asserts: the line of its first `assert` statement outside tests, 0 if there is none.
    """

    digest: str = ""
    imported: frozenset[Dotted] = frozenset()
    texts: frozenset[str] = frozenset()
    asserts: int = 0


CONTENTS: dict[str, Content] = {}
"""The contents of all files that this process has parsed, by `key_of_content`. A key holds a hash
of all bytes of the file, so an entry never becomes stale."""


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A file with its content.

    Attributes:
        file: its path.
        base: the folder from which it is imported.
        digest, imported, texts, asserts: as for `Content`.
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
    """Return numbers that change if a file is edited; they are the key of the cache of its digest.

    A program can set back the time of modification after an edit, but not the second number: the
    time at which the file's entry in the file system changed.
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
    """Return the digest of a module from the words of its statements."""
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
    place = file.relative_to(base)
    key = key_of_content(place.as_posix(), text)
    content = CONTENTS.get(key)
    if content is None:
        content = CONTENTS[key] = _content(file, place.parts, text)
    return Module(file, base, *content)


def key_of_content(shown: str, text: bytes) -> str:
    """Return the key of a file's content: a hash of its path from its base and of all its bytes."""
    return hashlib.sha256(f"{shown}\0".encode(errors="surrogatepass") + text).hexdigest()


def _content(file: Path, package: Dotted, text: bytes) -> Content:
    """Return the content of a file from its text; `package` is its path from its base."""
    tree = _tree(file, text)
    if tree is None:
        return Content(_hash(text))
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
    return Content(_whole(tree, every), frozenset(imported), frozenset(texts), asserts)


def digest_of(words: str) -> str:
    """Return the digest of a text."""
    return _hash(words.encode(errors="surrogatepass"))


def spelt(statement: ast.stmt) -> tuple[list[str], list[ast.AST]]:
    """Return a syntax tree as words for a digest, and its imports, calls, constants and assertions.

    The words are the same under every version of Python that can read the code. Fields without
    content are left out, so that fields that new versions add do not change a digest. `ast.dump`
    does not promise this.
    """
    words: list[str] = []
    noted: list[ast.AST] = []

    def spell(node: ast.AST) -> None:
        kind: type = type(node)
        start, fields, is_noted = _layout(kind)
        if is_noted:
            noted.append(node)
        words.append(start)
        for name in fields:
            inner = getattr(node, name, None)
            if isinstance(node, ast.JoinedStr):  # some versions of Python add empty parts
                inner = [part for part in node.values if getattr(part, "value", "x") != ""]
            if inner is None or inner == []:
                continue
            words.append(name)
            if isinstance(inner, list):
                words.append("[")
                for each in inner:
                    if not is_text(each):
                        spell_value(each)
                words.append("]")
            else:
                spell_value(inner)
        words.append(")")

    def spell_value(value: object) -> None:
        if isinstance(value, ast.AST):
            spell(value)
        else:
            words.append(constant(value))

    spell(statement)
    return words, noted


@functools.cache
def _layout(kind: type[ast.AST]) -> tuple[str, tuple[str, ...], bool]:
    """Return a node type's first word, its fields that count, and whether `spelt` collects it."""
    fields = tuple(name for name in kind._fields if name not in _SKIPPED)
    return f"({kind.__name__}", fields, issubclass(kind, _NOTED)


def constant(value: object) -> str:
    """Return a constant as text; Python writes very long integers only in base 16."""
    return hex(value) if isinstance(value, int) and value >= _LONG else repr(value)


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


def homes(file: str | os.PathLike[str], proof: str | None) -> tuple[Path, ...]:
    """Return the file of a claim and, if it can be found, the file of its proof.

    Args:
        file: the file that declares the claim.
        proof: `package.module:function`, or None.
    """
    own = located(file)
    home = home_of(proof.partition(":")[0], base_of(own)) if proof else None
    return (own,) if home is None else (own, located(home))


class Imports:
    """The imports of modules as their files are now; make a new object if files may have changed.

    Imports count anywhere in a module. The packages around a module count as well, since Python
    runs them first. Modules of Python, those of attsvm outside `attsvm.primitives`, and
    distributions that attsvm requires, are left out: the record of a run has their digests or
    versions.
    """

    def __init__(self) -> None:
        # most modules are reached from many claims, and import the same modules
        places = functools.cache(followed), functools.cache(files_of)
        self._after = functools.cache(functools.partial(_imported, *places))
        self._line = functools.cache(lambda module: f"{module.shown} {module.digest}")

    def reached(self, files: Iterable[Path]) -> tuple[dict[Path, Module], set[tuple[str, str]]]:
        """Return all modules that files import, directly or not, and installed distributions.

        Returns:
            The modules by their files, those in `files` included; name and version of
            distributions.
        """
        results: dict[Path, Module] = {}
        distributions: set[tuple[str, str]] = set()
        left = [(base_of(file), file) for file in files]
        while left:
            base, file = left.pop()
            if file not in results:
                results[file], inner, others = self._after(base, file)
                left += inner
                distributions |= others
        return results, distributions

    def digest(self, files: Iterable[Path], *words: str) -> str:
        """Return the digest of all modules that files import, and of some words.

        The digest does not depend on the folder of the code, nor on comments, docstrings, layout
        and line ends. So only an edit that may change a verdict needs a new review.
        """
        # Every module counts as a whole, even if a claim uses one function of it: which code runs
        # cannot be seen without running it. The lines are sorted, so that the order of imports does
        # not matter, and the separator cannot occur in them, so that no two lists give one text.
        modules, distributions = self.reached(files)
        lines = [self._line(module) for module in modules.values()]
        lines += [f"{name} (installed) {version}" for name, version in distributions]
        return digest_of("\x1f".join([*words, *sorted(lines)]))


def _imported(
    followed: Callable[[Path, str, Dotted], Path | None],
    files_of: Callable[[Path, Dotted], list[Path]],
    base: Path,
    file: Path,
) -> tuple[Module, tuple[tuple[Path, Path], ...], frozenset[tuple[str, str]]]:
    """Return a module, the modules that it imports with their bases, and distributions."""
    module = module_of(file, base)
    top = module.top
    inner: dict[tuple[Path, Path], None] = {}
    distributions: set[tuple[str, str]] = set()
    # the packages around the module count as imports, because Python runs them before it
    for dotted in (*module.imported, file.relative_to(base).parts[:-1]):
        home = followed(base, top, dotted[:2]) if dotted else None
        if home is not None:
            # `import a.b.c` runs a, then a.b, then a.b.c; a name c that is no module has no file
            prefixes = (dotted[:k] for k in range(1, len(dotted) + 1))
            inner |= {(home, f): None for parts in prefixes for f in files_of(home, parts)}
        elif dotted and installed(dotted[0])[0]:
            distributions.add(installed(dotted[0]))
    return module, tuple(inner), frozenset(distributions)


def digest_of_claim(claim: Claim, imports: Imports | None = None) -> str:
    """Return the digest of a claim's id, its statement, and all modules that it imports.

    Args:
        claim: the claim.
        imports: a cache of modules shared by many claims; None reads the modules now.
    """
    files = homes(claim.file, claim.proof)
    return (imports or Imports()).digest(files, claim.id, claim.statement)


def ensure_no_assert(claim: Claim) -> None:
    """Raise if code that a claim imports has an `assert` statement, which `python -O` would drop.

    Statements within functions and classes whose names begin with "test" do not count.

    Raises:
        ClaimError: a module that the statement or the proof imports has one.
    """
    modules, _ = Imports().reached(homes(claim.file, claim.proof))
    for module in modules.values():
        if module.asserts:
            raise ClaimError(
                f"{claim.id} rests on a module with an assert statement, which python -O drops",
                value=f"{module.shown}, line {module.asserts}",
                remedy="Raise an error in its place; a proof takes its steps by ensure_true and "
                "its relatives.",
            )

"""Digests of code by what it says: comments, docstrings, layout and line numbers do not count.

`whole` is the digest of a file. `Definitions.resting` is the digest of expressions and names
together with every definition of their own code base that they reach by name, directly or not,
through imports at any depth. Names are followed as written: a local variable that is called like a
definition counts as a use of it, and what is looked up by a name that is computed at run time is
not followed. `fingerprint` is the hash of the text of all modules that a file imports in its pack.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_DIGITS = 12
"""Hexadecimal digits that digests are cut to."""

_Dotted = tuple[str, ...]

_ENGINE = "attsvm"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
_SKIPPED = frozenset(("ctx", "kind", "type_comment"))
_NOTED = (ast.Import, ast.ImportFrom, ast.Call, ast.Name, ast.Attribute)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a digest starts: a name of a module, or an expression or statement within it."""

    file: Path
    name: str = ""
    node: ast.AST | None = None


@dataclass(slots=True, eq=False)
class Module:
    """A file, and the top level of its module where it is Python.

    Attributes:
        file: where it lies.
        base: the folder from which it is imported.
        text: the hash of its text.
        digest: that of its syntax tree where it is Python, else of its text.
        imported: the dotted names that it imports, wherever in it, as their parts.
        statements: all but imports and bare strings.
        spelt: the digests of the statements.
        noted: the nodes of each that say what it uses.
        bound: the indices of the statements that bind a name.
        effects: the indices of those that may change things without binding a name.
        imports: what an imported name stands for, as the parts of a dotted name.
        stars: the modules of which everything is imported.
    """

    file: Path
    base: Path
    text: str = ""
    digest: str = ""
    imported: frozenset[_Dotted] = frozenset()
    statements: list[ast.stmt] = field(default_factory=list)
    spelt: list[str] = field(default_factory=list)
    noted: list[list[ast.AST]] = field(default_factory=list)
    bound: dict[str, list[int]] = field(default_factory=dict)
    effects: list[int] = field(default_factory=list)
    imports: dict[str, _Dotted] = field(default_factory=dict)
    stars: list[_Dotted] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The file by its path from where it is imported."""
        return self.file.relative_to(self.base).as_posix()

    def knows(self, name: str) -> bool:
        """Whether the module says what a name stands for."""
        return name in self.bound or name in self.imports


_Node = tuple[Module, "int | _Dotted | None"]
"""What a digest passes through: a statement, a name with its attributes, or the import itself."""


def whole(path: Path) -> str:
    """The digest of a file: of its syntax tree where it is Python, else of its text."""
    status = path.stat()
    return _digested(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=8192)
def _digested(path: Path, changed: int, size: int) -> str:
    return _parsed.__wrapped__(path, (changed, size)).digest  # whose tree is not kept


def imports(path: Path) -> frozenset[str]:
    """The top-level modules that a file imports, wherever in it, by their names."""
    return frozenset(dotted[0] for dotted in module_of(path).imported if dotted)


def fingerprint(claim: str, statement: str, file: str | os.PathLike[str]) -> str:
    """SHA-256 of a claim's id, its statement, and all `sources` of its file.

    The same in every folder that the pack may be installed in; line ends do not count.
    """
    digest = hashlib.sha256(f"{claim}\x1f{statement}".encode())
    for source in map(module_of, sources(file)):
        digest.update(f"\x1f{source.shown}\x1f{source.text}".encode())
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
        for parts in module_of(left.pop()).imported:
            inside = range(1, len(parts) + 1) if parts[: len(pack)] == pack else ()
            new = {p for k in inside for p in _files(base, parts[:k])} - found
            found |= new
            left += new
    return tuple(sorted(found))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def module_of(file: Path) -> Module:
    """A file as it is now."""
    try:
        status = file.stat()
    except OSError:
        return Module(file, base_of(file))
    return _parsed(file, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=1024)
def _parsed(file: Path, known: tuple[int, int]) -> Module:
    text = file.read_bytes().replace(b"\r\n", b"\n")
    module = Module(file, base_of(file), hashlib.sha256(text).hexdigest(), _hash(text))
    if file.suffix != ".py":
        return module
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return module
    every: list[str] = []
    imported: set[_Dotted] = set()
    for node in tree.body:
        names = set(_bound(node, module))
        if _is_text(node):
            continue
        words, noted = _spelt(node)
        every.append(words)
        for inner in noted:
            imported.update(_imported(inner, module))
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in names:
            module.bound.setdefault(name, []).append(len(module.statements))
        if not names or isinstance(node, _COMPOUND):
            module.effects.append(len(module.statements))
        module.statements.append(node)
        module.spelt.append(_digest(words))
        module.noted.append(noted)
    body = ["body", "[", *every, "]"] if tree.body else []
    module.digest = _digest("\x1f".join(["(Module", *body, ")"]))
    module.imported = frozenset(imported)
    return module


def _digest(words: str) -> str:
    return _hash(words.encode(errors="surrogatepass"))


def _spelt(node: ast.AST) -> tuple[str, list[ast.AST]]:
    """The words of a syntax tree, the same under every version of Python that can read it.

    With them, outer ones first, the nodes that say what it uses.
    """
    words: list[str] = []
    noted: list[ast.AST] = []
    _spell(node, words, noted)
    return "\x1f".join(words), noted


def _spell(node: ast.AST, words: list[str], noted: list[ast.AST]) -> None:
    opening, names = _form(type(node))  # type: ignore[arg-type]
    words.append(opening)
    if isinstance(node, _NOTED):
        noted.append(node)
    for name in names:
        inner = getattr(node, name, None)
        if inner is None or inner == []:
            continue
        words.append(name)
        if isinstance(inner, ast.AST):
            _spell(inner, words, noted)
        elif isinstance(inner, list):
            words.append("[")
            for each in inner:
                if not isinstance(each, ast.AST):
                    words.append(repr(each))
                elif not _is_text(each) and not _is_empty(node, each):
                    _spell(each, words, noted)
            words.append("]")
        else:
            words.append(repr(inner))
    words.append(")")


@functools.cache
def _form(kind: type[ast.AST]) -> tuple[str, tuple[str, ...]]:
    return f"({kind.__name__}", tuple(name for name in kind._fields if name not in _SKIPPED)


def _is_text(node: object) -> bool:
    """Whether a statement is a bare string: a docstring, or a note on a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_empty(node: ast.AST, part: ast.AST) -> bool:
    """Whether a part of a format is an empty text, with which some versions end it."""
    return isinstance(node, ast.JoinedStr) and getattr(part, "value", None) == ""


def _imported(node: ast.AST, module: Module) -> Iterator[_Dotted]:
    """What a statement imports, or a call by a name that is written out."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _bindings(node, module).values()
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = node.args[0] if node.args else None
        if name in ("import_module", "__import__") and isinstance(given, ast.Constant):
            yield tuple(str(given.value).split("."))


class Definitions:
    """The definitions of modules as their files are now; made anew where these may have changed."""

    def __init__(self) -> None:
        self._module = functools.cache(module_of)
        self._files = functools.cache(_files)
        self._own = functools.cache(_own)
        self._from = functools.cache(self._step)

    def declaration(self, file: Path, line: int) -> ast.stmt | None:
        """The statement at the top level of a file that a line belongs to."""
        for node in self._module(file).statements:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or node.lineno):
                return node
        return None

    def resting(self, starts: Iterable[Start]) -> str:
        """The digest of what the starts say and of all definitions that they reach."""
        return _hash("\n".join(sorted(self.reached(starts)[0])).encode())

    def reached(self, starts: Iterable[Start]) -> tuple[set[str], set[_Node]]:
        """The lines of that digest, and all that it passes through."""
        found: set[str] = set()
        left: list[_Node] = []
        for start in starts:
            module = self._module(start.file)
            if start.node is None:
                found.add(f"name {start.name}")
                left.append((module, (start.name,)))
            elif not _is_text(start.node):
                words, noted = _spelt(start.node)
                found.add(f"start {_digest(words)}")
                left += self._uses(module, noted)
        seen = set(left)
        while left:
            lines, more = self._from(left.pop())
            found.update(lines)
            new = more - seen
            seen |= new
            left += new
        return found, seen

    def _step(self, node: _Node) -> tuple[list[str], frozenset[_Node]]:
        """What a digest takes in at a node, and where it goes on from there."""
        module, what = node
        if isinstance(what, int):  # its rank among the statements that bind its name
            rank = max((b.index(what) for b in module.bound.values() if what in b), default=0)
            line = f"{module.shown} {rank} {module.spelt[what]}"
            return [line], frozenset(self._uses(module, module.noted[what]))
        if what is None:  # what happens whenever the module is imported
            followed = (n for star in module.stars for n in self._followed(module, star))
            return [], frozenset([*((module, k) for k in module.effects), *followed])
        on: list[_Node] = [(module, None), *((module, k) for k in module.bound.get(what[0], ()))]
        if what[0] not in module.imports:
            return [], frozenset(on)
        origin = module.imports[what[0]]
        on += self._followed(module, (*origin, *what[1:]))
        return [f"{module.shown} {what[0]} = {'.'.join(origin)}"], frozenset(on)

    def _uses(self, module: Module, noted: Iterable[ast.AST]) -> Iterator[_Node]:
        """The names of its module that a statement uses, and what it imports itself."""
        owned: dict[ast.AST, str] = {}
        for inner in noted:
            if isinstance(inner, ast.Name):
                if module.knows(inner.id):
                    yield module, (inner.id, owned[inner]) if inner in owned else (inner.id,)
            elif isinstance(inner, ast.Attribute):  # it comes before what it is an attribute of
                owned[inner.value] = inner.attr
            else:
                for dotted in _imported(inner, module):
                    yield from self._followed(module, dotted)

    def _followed(self, module: Module, dotted: _Dotted) -> Iterator[_Node]:
        """What a dotted name means that a module imports, where it is of the same code base."""
        last: Module | None = None
        own = module.file.relative_to(module.base).parts[0].removesuffix(".py")
        if not dotted or not self._own(module.base, own, dotted[0]):
            return
        for k in range(1, len(dotted) + 1):
            files, rest = self._files(module.base, dotted[:k]), dotted[k:]
            if not files:
                continue
            last = found = self._module(files[0])
            yield found, None
            if rest and found.knows(rest[0]):
                origin = found.imports.get(rest[0], ())
                # `from a.b import b` in a: what follows a.b is looked up in the module a.b itself
                inner = len(origin) > k + 1 and origin[: k + 1] == dotted[: k + 1]
                yield found, rest[:1] if inner else rest
                last = None
        if last is not None:  # a module is used as a whole
            yield from ((last, k) for k in range(len(last.statements)))


def _bound(node: ast.AST, module: Module) -> Iterator[str]:
    """The names that a statement at the top level binds; learns what it imports."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for name, origin in _bindings(node, module).items():
            if name.startswith("*"):
                module.stars.append(origin)
            else:
                module.imports[name] = origin
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
        for inner in ast.iter_child_nodes(node):
            yield from _bound(inner, module)


def _bindings(node: ast.Import | ast.ImportFrom, module: Module) -> dict[str, _Dotted]:
    """What an import statement binds, with the parts of the dotted name that each stands for."""
    if isinstance(node, ast.Import):
        return {  # `import a.b` binds a, of which all of a.b may be used
            alias.asname or (f"*{alias.name}" if "." in alias.name else alias.name): tuple(
                alias.name.split(".")
            )
            for alias in node.names
        }
    origin: _Dotted = tuple(node.module.split(".")) if node.module else ()
    if node.level:
        package = module.file.relative_to(module.base).parts
        origin = (*package[: max(len(package) - node.level, 0)], *origin)
    return {
        (f"*{'.'.join(origin)}" if alias.name == "*" else alias.asname or alias.name): (
            origin if alias.name == "*" else (*origin, alias.name)
        )
        for alias in node.names
    }


def base_of(file: Path) -> Path:
    """The folder from which a file is imported."""
    folder = file.parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def _files(base: Path, parts: _Dotted) -> list[Path]:
    """The file of a module, and the `__init__.py` of a package of its name."""
    place = os.path.join(base, *parts)
    found = (f"{place}.py", os.path.join(place, "__init__.py"))
    return [Path(file) for file in found if os.path.isfile(file)]


def belongs(file: Path, top: str) -> bool:
    """Whether a top-level module is of the code base of a file, and not of the engine.

    Where the code base is installed, only what was installed with the file is.
    """
    base = base_of(file)
    return _own(base, file.relative_to(base).parts[0].removesuffix(".py"), top)


def _own(base: Path, own: str, top: str) -> bool:
    if top == _ENGINE or not ((base / top).is_dir() or (base / f"{top}.py").is_file()):
        return False
    if top == own or str(base) not in map(sysconfig.get_path, ("purelib", "platlib")):
        return True
    shared = _distributions()
    return not set(shared.get(top, ())).isdisjoint(shared.get(own, ()))


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def home_of(module: str, base: Path) -> Path | None:
    """The file of a module that is looked up by its dotted name: from a base, else on the path."""
    parts = tuple(module.split("."))
    found = _files(base, parts)
    if not found:
        try:
            spec = importlib.util.find_spec(parts[0])  # it imports nothing
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin is not None and spec.has_location:
            found = _files(base_of(Path(spec.origin)), parts)
    return found[0] if found else None

"""Digests of code by what it says: comments, docstrings, layout and line numbers do not count.

`whole` is the digest of a file. `Definitions.resting` is the digest of expressions and names
together with every definition of their own code base that they reach by name, directly or not,
through imports at any depth. Names are followed as written: a local variable that is called like a
definition counts as a use of it, and what is looked up by a name that is computed at run time is
not followed.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_DIGITS = 12
"""Hexadecimal digits that digests are cut to."""

_Dotted = tuple[str, ...]
_Names = tuple[_Dotted, ...]

_ENGINE = "attsvm"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
_SKIPPED = frozenset(("ctx", "kind", "type_comment"))


@dataclass(frozen=True, slots=True)
class Start:
    """Where a digest starts: a name of a module, or an expression or statement within it."""

    file: Path
    name: str = ""
    node: ast.AST | None = None


@dataclass(frozen=True, slots=True)
class _Module:
    """The top level of a module.

    Attributes:
        statements: all but imports and bare strings.
        bound: the indices of the statements that bind a name.
        effects: the indices of those that may change things without binding a name.
        imports: what an imported name stands for, as the parts of a dotted name.
        stars: the modules of which everything is imported.
        spelt: digests of statements by index, as far as they were asked for.
        used: the same of the names that they use.
    """

    statements: list[ast.stmt] = field(default_factory=list)
    bound: dict[str, list[int]] = field(default_factory=dict)
    effects: list[int] = field(default_factory=list)
    imports: dict[str, _Dotted] = field(default_factory=dict)
    stars: list[_Dotted] = field(default_factory=list)
    spelt: dict[int, str] = field(default_factory=dict)
    used: dict[int, tuple[_Names, _Names]] = field(default_factory=dict)

    def knows(self, name: str) -> bool:
        """Whether the module says what a name stands for."""
        return name in self.bound or name in self.imports


def whole(path: Path) -> str:
    """The digest of a file: of its syntax tree where it is Python, else of its text."""
    return _read(path)[0]


def imports(path: Path) -> frozenset[str]:
    """The top-level modules that a file imports, wherever in it, by their names."""
    return _read(path)[1]


def _read(path: Path) -> tuple[str, frozenset[str]]:
    status = path.stat()
    return _read_at(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=8192)
def _read_at(path: Path, changed: int, size: int) -> tuple[str, frozenset[str]]:
    text = path.read_bytes().replace(b"\r\n", b"\n")
    if path.suffix == ".py":
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            pass
        else:
            importing: list[ast.AST] = []
            return _digest(tree, importing), frozenset(_tops(importing))
    return _hash(text), frozenset()


def _tops(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call):
            yield from (name.partition(".")[0] for name in _looked_up(node))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def _digest(node: ast.AST, importing: list[ast.AST] | None = None) -> str:
    """The digest of a syntax tree; notes what may import something."""
    words: list[str] = []
    _spell(node, words, [] if importing is None else importing)
    return _hash("\x1f".join(words).encode(errors="surrogatepass"))


def _spell(value: object, words: list[str], importing: list[ast.AST]) -> None:
    """The words of a syntax tree, the same under every version of Python that can read it."""
    if isinstance(value, ast.AST):
        words.append(f"({type(value).__name__}")
        if isinstance(value, ast.Import | ast.ImportFrom | ast.Call):
            importing.append(value)
        for name in value._fields:
            inner = getattr(value, name, None)
            if isinstance(value, ast.JoinedStr):  # some versions end formats with an empty text
                inner = [p for p in value.values if getattr(p, "value", None) != ""]
            if inner is not None and inner != [] and name not in _SKIPPED:
                words.append(name)
                _spell(inner, words, importing)
        words.append(")")
    elif isinstance(value, list):
        words.append("[")
        for inner in value:
            if not _is_text(inner):
                _spell(inner, words, importing)
        words.append("]")
    else:
        words.append(repr(value))


def _is_text(node: object) -> bool:
    """Whether a statement is a bare string: a docstring, or a note on a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _looked_up(node: ast.Call) -> Iterator[str]:
    """The module that a call imports by a name that is written out."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    given = node.args[0] if node.args else None
    if name in ("import_module", "__import__") and isinstance(given, ast.Constant):
        yield str(given.value)


class Definitions:
    """The definitions of modules as their files are now; made anew where these may have changed."""

    def __init__(self) -> None:
        self.base = functools.cache(base_of)
        self.module = functools.cache(_current)
        self._file = functools.cache(_file)
        self._own = functools.cache(belongs)

    def declaration(self, file: Path, line: int) -> ast.stmt | None:
        """The statement at the top level of a file that a line belongs to."""
        for node in self.module(file).statements:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or node.lineno):
                return node
        return None

    def resting(self, starts: Iterable[Start]) -> str:
        """The digest of what the starts say and of all definitions that they reach."""
        walk = _Walk(self)
        for start in starts:
            if start.node is None:
                walk.found.add(f"name {start.name}")
                walk.reach(start.file, (start.name,))
            elif not _is_text(start.node):
                walk.found.add(f"start {_digest(start.node)}")
                walk.visit(start.file, *self._uses(start.file, start.node))
        while walk.left:
            file, index = walk.left.pop()
            walk.visit(file, *self.uses(file, index))
        return _hash("\n".join(sorted(walk.found)).encode())

    def spelt(self, file: Path, index: int) -> str:
        """A statement, as a line: where it is, its rank among those that bind its name, digest."""
        module = self.module(file)
        if index not in module.spelt:
            rank = max((b.index(index) for b in module.bound.values() if index in b), default=0)
            digest = _digest(module.statements[index])
            module.spelt[index] = f"{self.shown(file)} {rank} {digest}"
        return module.spelt[index]

    def shown(self, file: Path) -> str:
        """A file by its path from where it is imported."""
        return file.relative_to(self.base(file)).as_posix()

    def located(self, file: Path, dotted: _Dotted) -> Path | None:
        """The module of that name as a file imports it, where it is of the same code base."""
        return self._file(self.base(file), dotted) if self._own(file, dotted[0]) else None

    def uses(self, file: Path, index: int) -> tuple[_Names, _Names]:
        """What a statement uses."""
        module = self.module(file)
        if index not in module.used:
            module.used[index] = self._uses(file, module.statements[index])
        return module.used[index]

    def _uses(self, file: Path, node: ast.AST) -> tuple[_Names, _Names]:
        """The names of the module that a statement uses, and what it imports itself."""
        owned: dict[int, str] = {}
        imported: list[_Dotted] = []
        names: list[ast.Name] = []
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                names.append(inner)
            elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                owned[id(inner.value)] = inner.attr
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                imported += bindings(inner, file).values()
            elif isinstance(inner, ast.Call):
                imported += (tuple(name.split(".")) for name in _looked_up(inner))
        module = self.module(file)
        known = {
            (n.id, owned[id(n)]) if id(n) in owned else (n.id,) for n in names if module.knows(n.id)
        }
        return tuple(sorted(known)), tuple(imported)


class _Walk:
    """What one digest rests on so far, and the statements whose uses are still to be followed."""

    def __init__(self, definitions: Definitions) -> None:
        self.found: set[str] = set()
        self.left: list[tuple[Path, int]] = []
        self._all = definitions
        self._seen: set[object] = set()

    def _new(self, *what: object) -> bool:
        known = what in self._seen
        self._seen.add(what)
        return not known

    def _take(self, file: Path, indices: Iterable[int]) -> None:
        for index in indices:
            if self._new(file, index):
                self.found.add(self._all.spelt(file, index))
                self.left.append((file, index))

    def _enter(self, file: Path) -> None:
        """Add what happens whenever a module is imported."""
        if self._new("entered", file):
            self._take(file, self._all.module(file).effects)
            for star in self._all.module(file).stars:
                self.follow(file, star)

    def reach(self, file: Path, names: _Dotted) -> None:
        """Add what a name, or an attribute of it, means in a module."""
        if not self._new("reached", file, names):
            return
        self._enter(file)
        module = self._all.module(file)
        self._take(file, module.bound.get(names[0], ()))
        if names[0] in module.imports:
            origin = module.imports[names[0]]
            self.found.add(f"{self._all.shown(file)} {names[0]} = {'.'.join(origin)}")
            self.follow(file, (*origin, *names[1:]))

    def follow(self, file: Path, dotted: _Dotted) -> None:
        """Add what a dotted name means that a file imports, where it is of the same code base."""
        last: Path | None = None
        for k in range(1, len(dotted) + 1):
            found, rest = self._all.located(file, dotted[:k]), dotted[k:]
            if found is None:
                continue
            last = found
            self._enter(found)
            if rest and self._all.module(found).knows(rest[0]):
                origin = self._all.module(found).imports.get(rest[0], ())
                # `from a.b import b` in a: what follows a.b is looked up in the module a.b itself
                inner = len(origin) > k + 1 and origin[: k + 1] == dotted[: k + 1]
                self.reach(found, rest[:1] if inner else rest)
                last = None
        if last is not None and self._new("all of", last):  # a module is used as a whole
            self._take(last, range(len(self._all.module(last).statements)))

    def visit(self, file: Path, names: _Names, imported: _Names) -> None:
        """Follow what a statement of a file uses."""
        for name in names:
            self.reach(file, name)
        for dotted in imported:
            self.follow(file, dotted)


def _current(file: Path) -> _Module:
    """The top level of a module as its file is now."""
    status = file.stat() if file.is_file() else None
    return _parsed(file, status and (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=1024)
def _parsed(file: Path, known: tuple[int, int] | None) -> _Module:
    module = _Module()
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return module
    for node in tree.body:
        names = set(_bound(node, file, module))
        if _is_text(node) or isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in names:
            module.bound.setdefault(name, []).append(len(module.statements))
        if not names or isinstance(node, _COMPOUND):
            module.effects.append(len(module.statements))
        module.statements.append(node)
    return module


def _bound(node: ast.AST, file: Path, module: _Module) -> Iterator[str]:
    """The names that a statement at the top level binds; learns what it imports."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for name, origin in bindings(node, file).items():
            if name.startswith("*"):
                module.stars.append(origin)
            else:
                module.imports[name] = origin
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
        for inner in ast.iter_child_nodes(node):
            yield from _bound(inner, file, module)


def bindings(node: ast.AST, file: Path) -> dict[str, _Dotted]:
    """What an import statement binds, with the parts of the dotted name that each stands for."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return {}
    if isinstance(node, ast.Import):
        return {  # `import a.b` binds a, of which all of a.b may be used
            alias.asname or (f"*{alias.name}" if "." in alias.name else alias.name): tuple(
                alias.name.split(".")
            )
            for alias in node.names
        }
    origin: _Dotted = tuple(node.module.split(".")) if node.module else ()
    if node.level:
        package = file.relative_to(base_of(file)).parts
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


def _file(base: Path, parts: tuple[str, ...]) -> Path | None:
    """The file of a module, or the `__init__.py` of a package."""
    place = base.joinpath(*parts)
    module = place.parent / f"{place.name}.py"
    if module.is_file():
        return module
    return place / "__init__.py" if (place / "__init__.py").is_file() else None


def belongs(file: Path, top: str) -> bool:
    """Whether a top-level module is of the code base of a file, and not of the engine.

    Where the code base is installed, only what was installed with the file is.
    """
    base = base_of(file)
    if top == _ENGINE or not ((base / top).is_dir() or (base / f"{top}.py").is_file()):
        return False
    own = file.relative_to(base).parts[0].removesuffix(".py")
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
    found = _file(base, parts)
    if found is None:
        try:
            spec = importlib.util.find_spec(parts[0])  # it imports nothing
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin is not None and spec.has_location:
            found = _file(base_of(Path(spec.origin)), parts)
    return found

"""Digests of code by what it says: comments, docstrings, layout and line numbers do not count.

`whole` is the digest of a file. `Definitions.resting` is the digest of expressions and names
together with every definition that they reach by name, directly or not, through imports at any
depth. It does not depend on the modules that definitions lie in: a name counts by what it stands
for. What is followed is the code base of a file and every module that is imported from elsewhere
and is not installed; of an installed distribution its version counts, unless attsvm itself requires
it. Names are followed as written: a local variable that is called like a definition counts as a use
of it, and what is looked up by a name that is computed at run time is not followed. `fingerprint`
is the hash of the text of all modules that a file imports in its pack.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attsvm.theory.declaration.code_bases import Dotted, base_of, files_of, followed, installed

_DIGITS = 12
"""Hexadecimal digits that digests are cut to."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
_SKIPPED = frozenset(("ctx", "kind", "type_comment"))
_IMPORTS = (ast.Import, ast.ImportFrom)
_NOTED = (*_IMPORTS, ast.Call, ast.Name, ast.Attribute)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SETTING = frozenset(("setattr", "delattr", "exec", "eval"))
"""Functions that change things when they are called while a name is bound."""
_KEEPING = frozenset(("add", "append", "extend", "insert", "register", "setdefault", "update"))
"""Methods by which a decorator may keep what it decorates."""


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
        top: the top-level name that it is imported by.
        text: the hash of its text.
        digest: that of its syntax tree where it is Python, else of its text.
        imported: the dotted names that it imports, wherever in it, as their parts.
        statements: all but imports and bare strings.
        spelt: the digests of the statements.
        noted: the nodes of each that say what it uses.
        bound: the indices of the statements that bind a name.
        effects: the indices of those that may change things beyond the names that they bind.
        decorated: the indices of decorated functions and classes.
        opened: the dotted names that the module imports while it is imported itself.
        imports: what an imported name stands for, as the parts of a dotted name.
        stars: the modules of which everything may be used, each with the name that says so, which
            is empty where all their names are imported.
    """

    file: Path
    base: Path
    top: str = ""
    text: str = ""
    digest: str = ""
    imported: frozenset[Dotted] = frozenset()
    statements: list[ast.stmt] = field(default_factory=list)
    spelt: list[str] = field(default_factory=list)
    noted: list[list[ast.AST]] = field(default_factory=list)
    bound: dict[str, list[int]] = field(default_factory=dict)
    effects: list[int] = field(default_factory=list)
    decorated: list[int] = field(default_factory=list)
    opened: list[Dotted] = field(default_factory=list)
    imports: dict[str, Dotted] = field(default_factory=dict)
    stars: list[tuple[str, Dotted]] = field(default_factory=list)

    @property
    def needs(self) -> frozenset[str]:
        """The top-level modules that it imports, wherever in it, by their names."""
        return frozenset(dotted[0] for dotted in self.imported if dotted)

    @property
    def shown(self) -> str:
        """The file by its path from where it is imported."""
        return self.file.relative_to(self.base).as_posix()

    def knows(self, name: str) -> bool:
        """Whether the module says what a name stands for."""
        return name in self.bound or name in self.imports


_Node = tuple[Module, "int | Dotted | None"]
"""What a digest passes through: a statement, a name with its attributes, or the import itself."""

_Edges = tuple[tuple[str, _Node], ...]
"""Where a digest goes on, and what for."""


def whole(path: Path) -> str:
    """The digest of a file: of its syntax tree where it is Python, else of its text."""
    return _digested(path, _state(path))


def _state(file: Path) -> tuple[int, int, int]:
    """What changes with a file, also where its time is set back after an edit."""
    status = file.stat()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


@functools.lru_cache(maxsize=8192)
def _digested(path: Path, known: tuple[int, int, int]) -> str:
    return _parsed.__wrapped__(path, path.parent, known).digest  # whose tree is not kept


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
            new = {p for k in inside for p in files_of(base, parts[:k])} - found
            found |= new
            left += new
    return tuple(sorted(found))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def module_of(file: Path, base: Path | None = None) -> Module:
    """A file as it is now, which is imported from `base`."""
    base = base or base_of(file)
    try:
        return _parsed(file, base, _state(file))
    except OSError:
        return Module(file, base, _top(file, base))


def _top(file: Path, base: Path) -> str:
    return file.relative_to(base).parts[0].removesuffix(".py")


@functools.lru_cache(maxsize=1024)
def _parsed(file: Path, base: Path, known: tuple[int, int, int]) -> Module:
    text = file.read_bytes().replace(b"\r\n", b"\n")
    module = Module(file, base, _top(file, base), hashlib.sha256(text).hexdigest(), _hash(text))
    if file.suffix != ".py":
        return module
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return module
    every: list[str] = []
    imported: set[Dotted] = set()
    for node in tree.body:
        names = set(_bound(node, module))
        if _is_text(node):
            continue
        words, noted = _spelt(node)
        every.append("\x1f".join(words))
        for inner in noted:
            imported.update(dotted for _, dotted in _imported(inner, module))
        if isinstance(node, _IMPORTS):
            module.opened += _bindings(node, module).values()
            continue
        for name in names:
            module.bound.setdefault(name, []).append(len(module.statements))
        if _acts(node, names):
            module.effects.append(len(module.statements))
        elif getattr(node, "decorator_list", ()):
            module.decorated.append(len(module.statements))
        module.statements.append(node)
        module.spelt.append(_said(words))
        module.noted.append(noted)
    body = ["body", "[", *every, "]"] if tree.body else []
    module.digest = _digest("\x1f".join(["(Module", *body, ")"]))
    module.imported = frozenset(imported)
    return module


def _acts(node: ast.stmt, names: set[str]) -> bool:
    """Whether a statement at the top level may change things beyond the names that it binds."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return False
    if isinstance(node, _FUNCTIONS):
        return False
    return not names or isinstance(node, _COMPOUND) or any(map(_sets, _executed(node)))


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes within a statement, without those of functions, which are not called with it."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, _FUNCTIONS):
            yield inner
            yield from _executed(inner)


def _sets(node: ast.AST) -> bool:
    """Whether a node changes an attribute or an item, or may change anything."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Call) and _called(node) in _SETTING


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _is_plain(node: ast.stmt) -> bool:
    """Whether a statement defines a function that keeps nothing beyond its call, as far as seen."""
    return isinstance(node, ast.FunctionDef) and not any(
        _sets(inner)
        or isinstance(inner, ast.Global | ast.Nonlocal)
        or (isinstance(inner, ast.Call) and _called(inner) in _KEEPING)
        for inner in ast.walk(node)
    )


def _digest(words: str) -> str:
    return _hash(words.encode(errors="surrogatepass"))


def _summed(said: str, on: Iterable[str]) -> str:
    """The digest of what is said somewhere and of all that it leads to."""
    return _digest("\n".join((said, *sorted(on))))


def _said(words: Iterable[str]) -> str:
    """The digest of words without what is imported from where: what names stand for counts."""
    return _digest("\x1f".join("import" if w.startswith("(Import") else w for w in words))


def _spelt(node: ast.AST) -> tuple[list[str], list[ast.AST]]:
    """The words of a syntax tree, the same under every version of Python that can read it.

    With them, outer ones first, the nodes that say what it uses. An import is one word.
    """
    words: list[str] = []
    noted: list[ast.AST] = []
    _spell(node, words, noted)
    return words, noted


def _spell(node: ast.AST, words: list[str], noted: list[ast.AST]) -> None:
    if isinstance(node, _IMPORTS) and words:
        own = _spelt(node)[0]
        words.append("\x1f".join(own))
        noted.append(node)
        return
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


def _imported(node: ast.AST, module: Module) -> Iterator[tuple[str, Dotted]]:
    """What a statement imports by the name that it binds, or a call by a name written out."""
    if isinstance(node, _IMPORTS):
        yield from _bindings(node, module).items()
    elif isinstance(node, ast.Call):
        given = node.args[0] if node.args else None
        if _called(node) in ("import_module", "__import__") and isinstance(given, ast.Constant):
            yield "", tuple(str(given.value).split("."))


class Definitions:
    """The definitions of modules as their files are now; made anew where these may have changed."""

    def __init__(self) -> None:
        self._module = functools.cache(module_of)
        self._files = functools.cache(files_of)
        self._home = functools.cache(followed)
        self._from = functools.cache(self._step)
        self._acting = functools.cache(self._effects)
        self._opened = functools.cache(self._imports)
        self._own = functools.cache(self._changes)
        self._digests: dict[_Node, str] = {}

    def declaration(self, file: Path, line: int) -> ast.stmt | None:
        """The statement at the top level of a file that a line belongs to."""
        for node in self._module(file).statements:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or node.lineno):
                return node
        return None

    def resting(self, starts: Iterable[Start]) -> str:
        """The digest of what the starts say and of all definitions that they reach."""
        found = (_summed(said, self._settled(edges)) for said, edges in map(self._begun, starts))
        return _summed("", found)

    def acting(self, files: Iterable[Path]) -> str:
        """The digest of what these modules do beyond defining things as they are imported.

        It counts for everything that is loaded with them, and is empty where they do nothing.
        """
        nodes = self._effects(*{self._module(file) for file in files})
        found = self._settled(tuple(("", node) for node in nodes))
        return _summed("", found) if found else ""

    def reached(self, starts: Iterable[Start]) -> set[_Node]:
        """All that the digest of these starts passes through."""
        left = [node for _, edges in map(self._begun, starts) for _, node in edges]
        seen = set(left)
        while left:
            new = {node for _, node in self._from(left.pop())[1]} - seen
            seen |= new
            left += new
        return seen

    def _begun(self, start: Start) -> tuple[str, _Edges]:
        """What a start says itself, and where its digest goes on from there."""
        module = self._module(start.file)
        if start.node is None:
            return f"name {start.name}", (("", (module, (start.name,))),)
        if _is_text(start.node):
            return "", ()
        words, noted = _spelt(start.node)
        said, edges = self._uses(module, noted)
        return f"start {_said(words)} {said}", self._telling(edges)

    def _telling(self, edges: Iterable[tuple[str, _Node]]) -> _Edges:
        """The edges without those to imports that do nothing but define things."""
        return tuple(e for e in edges if e[1][1] is not None or self._acting(e[1][0]))

    def _settled(self, edges: _Edges) -> list[str]:
        """What edges lead to, by digests."""
        for _, node in edges:
            self._settle(node)
        return [f"{label} -> {self._digests[node]}" for label, node in edges]

    def _settle(self, start: _Node) -> None:
        """Find the digest of a node after those of all that it leads to (Tarjan's algorithm).

        Definitions that use one another have digests that are refined together, as often as it
        takes to tell any two of them apart.
        """
        rank: dict[_Node, int] = {}
        low: dict[_Node, int] = {}
        stack: list[_Node] = []
        path: list[tuple[_Node, Iterator[tuple[str, _Node]]]] = []

        def enter(node: _Node) -> None:
            rank[node] = low[node] = len(rank)
            stack.append(node)
            path.append((node, iter(self._from(node)[1])))

        if start not in self._digests:
            enter(start)
        while path:
            node, edges = path[-1]
            for _, after in edges:
                if after in self._digests:
                    continue
                if after not in rank:
                    enter(after)
                    break
                low[node] = min(low[node], rank[after])  # it is on the stack
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == rank[node]:
                    at = stack.index(node)
                    self._refine(stack[at:])
                    del stack[at:]

    def _refine(self, nodes: list[_Node]) -> None:
        """The digests of nodes that all lead to one another, or of one alone."""
        known: dict[_Node, str] = dict.fromkeys(nodes, "")
        for _ in range(2 * len(nodes) if len(nodes) > 1 else 1):
            before, known = known, {}
            for node in nodes:
                said, edges = self._from(node)
                on = (f"{x} -> {before.get(n) or self._digests.get(n, '')}" for x, n in edges)
                known[node] = _summed(said, on)
        self._digests |= known

    def _step(self, node: _Node) -> tuple[str, _Edges]:
        """What a digest takes in at a node, and where it goes on from there."""
        module, what = node
        if isinstance(what, int):
            said, edges = self._uses(module, module.noted[what])
            return f"{module.spelt[what]} {said}", self._telling(edges)
        if what is None:  # what happens whenever the module is imported
            return "", tuple(("", effect) for effect in self._acting(module))
        on: list[tuple[str, _Node]] = [("", (module, None))]
        on += ((f"{k}", (module, at)) for k, at in enumerate(module.bound.get(what[0], ())))
        said = ""
        if what[0] in module.imports:
            said, found = self._followed(module, (*module.imports[what[0]], *what[1:]))
            on += ((f"from {label}", after) for label, after in found)
        return said, self._telling(on)

    def _uses(self, module: Module, noted: Iterable[ast.AST]) -> tuple[str, _Edges]:
        """The names of its module that a statement uses, and what it imports itself."""
        owned: dict[ast.AST, str] = {}
        words: set[str] = set()
        edges: set[tuple[str, _Node]] = set()
        strange: set[str] = set()
        for inner in noted:
            if isinstance(inner, ast.Name):
                if module.knows(inner.id):
                    used = (inner.id, owned[inner]) if inner in owned else (inner.id,)
                    edges.add((".".join(used), (module, used)))
                else:
                    strange.add(inner.id)
            elif isinstance(inner, ast.Attribute):  # it comes before what it is an attribute of
                owned[inner.value] = inner.attr
            else:
                for name, dotted in _imported(inner, module):
                    said, found = self._followed(module, dotted)
                    words.add(f"{'' if name.startswith('*') else name}: {said}")
                    own = name.partition("*")[0]
                    edges.update((f"{own} {label}", after) for label, after in found)
        edges.update(self._starred(module, strange))
        return " ".join(sorted(words)), tuple(edges)

    def _starred(self, module: Module, names: Iterable[str]) -> Iterator[tuple[str, _Node]]:
        """What names may stand for that a module does not say by itself."""
        unknown = set(names)
        for name, origin in module.stars:
            if name in unknown or (unknown and not name):
                found = self._followed(module, origin)[1]
                yield from ((f"* {label}", node) for label, node in found)

    def _followed(self, module: Module, dotted: Dotted) -> tuple[str, _Edges]:
        """What a dotted name that a module imports means: definitions, or words where it has none.

        Those of an installed distribution are its name and, where that counts, its version.
        """
        base = self._home(module.base, module.top, dotted[0]) if dotted else None
        if base is None:
            version = installed(dotted[0])[1] if dotted else ""
            return " ".join((".".join(dotted), version)), ()
        last: Module | None = None
        rest: Dotted = ()
        found: list[_Node] = []
        for k in range(1, len(dotted) + 1):
            files, after = self._files(base, dotted[:k]), dotted[k:]
            if not files:
                continue
            last, rest = self._module(files[0], base), after
            found.append((last, None))
            if rest and last.knows(rest[0]):
                origin = last.imports.get(rest[0], ())
                # `from a.b import b` in a: what follows a.b is looked up in the module a.b itself
                inner = len(origin) > k + 1 and origin[: k + 1] == dotted[: k + 1]
                found.append((last, rest[:1] if inner else rest))
                last = None
        edges = tuple(("", node) for node in found)
        if last is None:
            return "" if found else ".".join(dotted), edges
        whole = last.bound.values()  # of a module that is used as a whole, everything counts
        ranks = {at: rank for places in whole for rank, at in enumerate(places)}
        all = ((f"{ranks.get(at, '')}", (last, at)) for at in range(len(last.statements)))
        stars = self._starred(last, [name for name, _ in last.stars] or rest)
        return ".".join(rest), (*edges, *all, *stars)

    def _effects(self, *modules: Module) -> tuple[_Node, ...]:
        """The statements that change things as modules and all that they import are imported."""
        seen, left = set(modules), list(modules)
        while left:
            new = self._opened(left.pop()) - seen
            seen |= new
            left += new
        return tuple(node for module in seen for node in self._own(module))

    def _changes(self, module: Module) -> list[_Node]:
        """The statements of a module itself that change things as it is imported."""
        registered = (at for at in module.decorated if self._registers(module, at))
        return [(module, at) for at in (*module.effects, *registered)]

    def _imports(self, module: Module) -> set[Module]:
        """The modules that are imported as a module is, and are followed."""
        found: set[Module] = set()
        for dotted in module.opened:
            base = self._home(module.base, module.top, dotted[0]) if dotted else None
            parts = range(1, len(dotted) + 1) if base is not None else ()
            found |= {self._module(f, base) for k in parts for f in self._files(base, dotted[:k])}
        return found

    def _registers(self, module: Module, at: int) -> bool:
        """Whether a decorator of the code base may keep what it decorates."""
        for decorator in getattr(module.statements[at], "decorator_list", ()):
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if getattr(call, "attr", "") in _KEEPING:
                return True
            left = [node for _, node in self._uses(module, _spelt(call)[1])[1]]
            seen = set(left)
            while left:
                one, what = left.pop()
                if isinstance(what, int):
                    if not _is_plain(one.statements[what]):
                        return True
                    continue
                if what is None:
                    continue
                if what[0] in one.bound:
                    if len(what) > 1:  # it is a method
                        return True
                    found: list[_Node] = [(one, k) for k in one.bound[what[0]]]
                else:
                    origin = (*one.imports.get(what[0], ()), *what[1:])
                    found = [node for _, node in self._followed(one, origin)[1]]
                left += {*found} - seen
                seen.update(found)
        return False


def _bound(node: ast.AST, module: Module) -> Iterator[str]:
    """The names that a statement at the top level binds; learns what it imports."""
    if isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for name, origin in _bindings(node, module).items():
            if name.startswith("*"):
                module.stars.append((origin[0] if isinstance(node, ast.Import) else "", origin))
            else:
                module.imports[name] = origin
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
    elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
        for inner in ast.iter_child_nodes(node):
            yield from _bound(inner, module)


def _bindings(node: ast.Import | ast.ImportFrom, module: Module) -> dict[str, Dotted]:
    """What an import statement binds, with the parts of the dotted name that each stands for."""
    if isinstance(node, ast.Import):
        return {  # `import a.b` binds a, of which all of a.b may be used
            alias.asname or (f"*{alias.name}" if "." in alias.name else alias.name): tuple(
                alias.name.split(".")
            )
            for alias in node.names
        }
    origin: Dotted = tuple(node.module.split(".")) if node.module else ()
    if node.level:
        package = module.file.relative_to(module.base).parts
        origin = (*package[: max(len(package) - node.level, 0)], *origin)
    return {
        (f"*{'.'.join(origin)}" if alias.name == "*" else alias.asname or alias.name): (
            origin if alias.name == "*" else (*origin, alias.name)
        )
        for alias in node.names
    }

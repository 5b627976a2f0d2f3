"""A module as its file says it: what each statement at its top level says, binds and imports.

Comments, docstrings, layout and line numbers do not count.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attsvm.theory.declaration.code_bases import Dotted, base_of

_DIGITS = 12
"""Hexadecimal digits that digests are cut to."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPOUND = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
_SKIPPED = frozenset(("ctx", "kind", "type_comment"))
_IMPORTS = (ast.Import, ast.ImportFrom)
_NOTED = (*_IMPORTS, ast.Call, ast.Name, ast.Attribute)
_ANNOTATING = frozenset(("annotation", "returns"))
_LONG = 1 << 2000
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SETTING = frozenset(("setattr", "delattr", "exec", "eval"))
"""Functions that change things when they are called while a name is bound."""
KEEPING = frozenset(("add", "append", "extend", "insert", "register", "setdefault", "update"))
"""Methods by which a decorator may keep what it decorates."""


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
        decorated: the indices of functions and classes that are decorated or derived from others.
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


def whole(path: str | os.PathLike[str]) -> str:
    """The digest of a file: of its syntax tree where it is Python, else of its text."""
    file = os.fspath(path)
    return _digested(file, _state(file))


def _state(file: str) -> tuple[int, int, int]:
    """What changes with a file, also where its time is set back after an edit."""
    status = os.stat(file)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


@functools.lru_cache(maxsize=8192)  # texts are told apart faster than paths
def _digested(file: str, known: tuple[int, int, int]) -> str:
    path = Path(file)
    text = _text(path)
    tree = _tree(path, text)
    if tree is None:
        return _hash(text)
    return _whole(tree, ("\x1f".join(spelt(node)[0]) for node in tree.body if not is_text(node)))


def _text(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _tree(path: Path, text: bytes) -> ast.Module | None:
    """The syntax tree of a file, None where it is no Python."""
    try:
        return ast.parse(text) if path.suffix == ".py" else None
    except (SyntaxError, ValueError):
        return None


def _whole(tree: ast.Module, statements: Iterable[str]) -> str:
    """The digest of a syntax tree by what its statements say."""
    body = ["body", "[", *statements, "]"] if tree.body else []
    return digest_of("\x1f".join(["(Module", *body, ")"]))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def module_of(file: Path, base: Path | None = None) -> Module:
    """A file as it is now, which is imported from `base`."""
    base = base or base_of(file)
    try:
        name = os.fspath(file)
        return _parsed(name, os.fspath(base), _state(name))
    except OSError:
        return Module(file, base, _top(file, base))


def _top(file: Path, base: Path) -> str:
    return file.relative_to(base).parts[0].removesuffix(".py")


@functools.lru_cache(maxsize=1024)
def _parsed(name: str, imported_from: str, known: tuple[int, int, int]) -> Module:
    file, base = Path(name), Path(imported_from)
    text = _text(file)
    module = Module(file, base, _top(file, base), hashlib.sha256(text).hexdigest(), _hash(text))
    tree = _tree(file, text)
    if tree is None:
        return module
    every: list[str] = []
    imported: set[Dotted] = set()
    for node in tree.body:
        names = set(_bound(node, module))
        if is_text(node):
            continue
        words, noted = spelt(node)
        every.append("\x1f".join(words))
        for inner in noted:
            imported.update(dotted for _, dotted in imported_by(inner, module))
        if isinstance(node, _IMPORTS):
            module.opened += _bindings(node, module).values()
            continue
        for name in names:
            module.bound.setdefault(name, []).append(len(module.statements))
        if _acts(node, names):
            module.effects.append(len(module.statements))
        elif any(getattr(node, part, ()) for part in ("decorator_list", "bases", "keywords")):
            module.decorated.append(len(module.statements))
        module.statements.append(node)
        module.spelt.append(worded(words))
        module.noted.append(noted)
    module.digest = _whole(tree, every)
    module.imported = frozenset(imported)
    return module


def _acts(node: ast.stmt, names: set[str]) -> bool:
    """Whether a statement at the top level may change things beyond the names that it binds."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return False
    if isinstance(node, _FUNCTIONS):
        return False
    acting = (*_COMPOUND, ast.AugAssign)  # `+=` may change a list that another name stands for too
    return not names or isinstance(node, acting) or any(map(_keeps, _executed(node)))


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


def _keeps(node: ast.AST) -> bool:
    """Whether a node may change what it is not: it sets something, or adds to what is kept."""
    return _sets(node) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in KEEPING
    )


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def is_plain(node: ast.stmt) -> bool:
    """Whether a statement defines a function that keeps nothing beyond its call, as far as seen."""
    return isinstance(node, ast.FunctionDef) and not any(
        _sets(inner)
        or isinstance(inner, ast.Global | ast.Nonlocal)
        or (isinstance(inner, ast.Call) and _called(inner) in KEEPING)
        for inner in ast.walk(node)
    )


def digest_of(words: str) -> str:
    """The digest of what is said somewhere."""
    return _hash(words.encode(errors="surrogatepass"))


def worded(words: Sequence[str]) -> str:
    """The digest of words without what is imported from where: what names stand for counts."""
    said = "\x1f".join(words)
    if "(Import" in said:
        said = "\x1f".join("import" if w.startswith("(Import") else w for w in words)
    return digest_of(said)


def spelt(node: ast.AST) -> tuple[list[str], list[ast.AST]]:
    """The words of a syntax tree, the same under every version of Python that can read it.

    With them, outer ones first, the nodes that say what it uses. An import is one word.
    """
    words: list[str] = []
    noted: list[ast.AST] = []
    say, note, known = words.append, noted.append, _FORMS.get

    def spell(node: ast.AST) -> None:
        kind = type(node)
        opening, names, counts = known(kind) or _form(kind)
        if counts:
            note(node)
            if kind in _IMPORTS and words:
                say("\x1f".join(spelt(node)[0]))
                return
        say(opening)
        held = node.__dict__.get
        for name in names:
            inner = held(name)
            if inner is None:
                continue
            of = type(inner)
            if of is str:  # most are names
                say(name)
                say(repr(inner))
                continue
            if name in _ANNOTATING:
                inner = _unquoted(inner)
            if of is list:
                if not inner:
                    continue
                say(name)
                say("[")
                for each in inner:
                    if not isinstance(each, ast.AST):
                        say(repr(each))
                    elif type(each) is ast.Expr and is_text(each):
                        continue
                    elif kind is not ast.JoinedStr or not _is_empty(each):
                        spell(each)
                say("]")
            elif isinstance(inner, ast.AST):
                say(name)
                spell(inner)
            else:
                say(name)
                say(constant(inner))
        say(")")

    spell(node)
    return words, noted


def _unquoted(annotation: Any) -> Any:
    """An annotation, also where it is written as a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(annotation.value, mode="eval").body
    return annotation


def constant(value: object) -> str:
    """A constant as it is written; Python writes integers of so many digits only in base 16."""
    return hex(value) if isinstance(value, int) and abs(value) >= _LONG else repr(value)


_FORMS: dict[type[ast.AST], tuple[str, tuple[str, ...], bool]] = {}
"""How each kind of node is spelt: its first word, its parts, and whether it is noted."""


def _form(kind: type[ast.AST]) -> tuple[str, tuple[str, ...], bool]:
    names = tuple(name for name in kind._fields if name not in _SKIPPED)
    _FORMS[kind] = form = (f"({kind.__name__}", names, issubclass(kind, _NOTED))
    return form


def is_text(node: object) -> bool:
    """Whether a statement is a bare string: a docstring, or a note on a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_empty(part: ast.AST) -> bool:
    """Whether a part of a format is an empty text, with which some versions end it."""
    return getattr(part, "value", None) == ""


def imported_by(node: ast.AST, module: Module) -> Iterator[tuple[str, Dotted]]:
    """What a statement imports by the name that it binds, or a call by a name written out."""
    if isinstance(node, _IMPORTS):
        yield from _bindings(node, module).items()
    elif isinstance(node, ast.Call):
        given = node.args[0] if node.args else None
        if _called(node) in ("import_module", "__import__") and isinstance(given, ast.Constant):
            yield "", tuple(str(given.value).split("."))


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

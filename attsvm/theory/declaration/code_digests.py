"""Digests of code: of what a definition says together with everything that it uses.

`Definitions.resting` is the digest of expressions and names together with every definition that
they reach by name, directly or not, through imports at any depth. It does not depend on the modules
that definitions lie in: a name counts by what it stands for. What is followed is the code base of a
file and every module that is imported from elsewhere and is not installed; of an installed
distribution its version counts, unless attsvm itself requires it. Names are followed as written: a
local variable that is called like a definition counts as a use of it, and what is looked up by a
name that is computed at run time is not followed. `fingerprint` is the hash of the text of all
modules that a file imports in its pack.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attsvm.theory.declaration.code_bases import Dotted, base_of, files_of, followed, installed
from attsvm.theory.declaration.syntax import (
    KEEPING,
    Module,
    digest_of,
    imported_by,
    is_plain,
    is_text,
    module_of,
    spelt,
    worded,
)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a digest starts: a name of a module, or an expression or statement within it."""

    file: Path
    name: str = ""
    node: ast.AST | None = None


_Node = tuple[Module, "int | Dotted | None"]
"""What a digest passes through: a statement, a name with its attributes, or the import itself."""

_Edges = tuple[tuple[str, _Node], ...]
"""Where a digest goes on, and what for."""


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
    names: set[Dotted] = set()
    while left:
        imported = module_of(left.pop()).imported
        inside = (parts for parts in imported if parts[: len(pack)] == pack)
        fresh = {parts[:k] for parts in inside for k in range(1, len(parts) + 1)} - names
        names |= fresh
        new = {file for parts in fresh for file in files_of(base, parts)} - found
        found |= new
        left += new
    return tuple(sorted(found))


def _summed(said: str, on: Iterable[str]) -> str:
    """The digest of what is said somewhere and of all that it leads to."""
    return digest_of("\n".join((said, *sorted(on))))


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
        if is_text(start.node):
            return "", ()
        words, noted = spelt(start.node)
        said, edges = self._uses(module, noted)
        return f"start {worded(words)} {said}", self._telling(edges)

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
                for name, dotted in imported_by(inner, module):
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
        base = self._home(module.base, module.top, dotted[:2]) if dotted else None
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
            base = self._home(module.base, module.top, dotted[:2]) if dotted else None
            parts = range(1, len(dotted) + 1) if base is not None else ()
            found |= {self._module(f, base) for k in parts for f in self._files(base, dotted[:k])}
        return found

    def _registers(self, module: Module, at: int) -> bool:
        """Whether the code base may keep what is defined: a decorator, a base or a metaclass."""
        node = module.statements[at]
        for decorator in getattr(node, "decorator_list", ()):
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            # what is looked up in a value of the code base is a method
            meant = self._meant(module, call)
            if getattr(call, "attr", "") in KEEPING or any(
                rest or not is_plain(found) for _, found, rest in meant
            ):
                return True
        left = [(module, node)] if isinstance(node, ast.ClassDef) else []
        seen = {node}
        while left:
            where, derived = left.pop()
            if any([*self._meant(where, keyword.value)] for keyword in derived.keywords):
                return True
            for one, found, _ in (meant for b in derived.bases for meant in self._meant(where, b)):
                if isinstance(found, ast.ClassDef) and found not in seen:
                    if any(getattr(n, "name", "") == "__init_subclass__" for n in found.body):
                        return True
                    seen.add(found)
                    left.append((one, found))
        return False

    def _meant(
        self, module: Module, expression: ast.AST
    ) -> Iterator[tuple[Module, ast.stmt, Dotted]]:
        """The statements of the code base that names of an expression stand for.

        Each comes with its module, and with the attributes of what it binds that are meant.
        """
        left = [node for _, node in self._uses(module, spelt(expression)[1])[1]]
        seen = set(left)
        while left:
            one, what = left.pop()
            if isinstance(what, int):
                yield one, one.statements[what], ()
            elif what is not None and what[0] in one.bound:
                yield from ((one, one.statements[k], what[1:]) for k in one.bound[what[0]])
            elif what is not None:
                origin = (*one.imports.get(what[0], ()), *what[1:])
                found = {node for _, node in self._followed(one, origin)[1]} - seen
                left += found
                seen |= found

"""A search for `assert` statements in code that decides a claim; `python -O` would drop them.

The search reads syntax trees, so that a claim is refused in every mode of Python. It covers a
function and all code of its own pack that the function reaches by name. It does not follow
functions that are computed at run time.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeGuard

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.code_bases import base_of, files_of
from attsvm.theory.packs.code_digests import Imports

_WRITTEN = re.compile(rb"(?:^|[:;])[ \t]*assert\b|__debug__", re.MULTILINE)
"""Text of code that `python -O` drops or inverts; a docstring may contain it as well."""


def ensure_no_assert(whose: str, function: Callable[..., Any]) -> None:
    """Raise if a function, or code of its own pack that it calls, has an `assert` statement.

    Args:
        whose: the name of the function in the message.
        function: the function; a function without a Python file passes.

    Raises:
        ClaimError: there is an `assert` statement.
    """
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(inspect.unwrap(function), "__code__", None)
    file = Path(getattr(code, "co_filename", ""))
    if code is None or not file.is_file():
        return
    pack = _pack(file, file.stat().st_mtime_ns)
    if pack:
        for place, line in _asserts(file, code.co_firstlineno, pack):
            raise ClaimError(
                f"{whose} rests on an assert statement, which python -O drops",
                value=f"{place.name}, line {line}",
                remedy="Raise an error in its place; a proof takes its steps by ensure_true and "
                "its relatives.",
            )


def ensure_checks_assert_nothing(claim: Claim) -> None:
    """Raise if a hypothesis or the conclusion of a claim rests on `assert`.

    Raises:
        ClaimError: a hypothesis or the conclusion does.
    """
    formula = claim.formula
    for name, condition in formula.hypotheses.items():
        ensure_no_assert(f"hypothesis {name!r} of {claim.id}", condition.holds)
    measured = formula.measured
    forms = [formula.conclusion] if measured is None else [measured.floats, measured.balls]
    for form in (*forms, getattr(measured, "again", None)):
        if form is not None:
            ensure_no_assert(f"the conclusion of {claim.id}", form)


@functools.lru_cache(maxsize=1024)
def _pack(file: Path, changed: int) -> frozenset[Path]:
    """Return the modules of its own pack that a file imports; none if no module there asserts.

    A search of the texts of a folder takes far less time than reading all imports.
    """
    base = base_of(file)
    top = base / file.relative_to(base).parts[0]
    found = os.walk(top) if top.is_dir() else [next(os.walk(base))]
    texts = (os.path.join(at, n) for at, _, names in found for n in names if n.endswith(".py"))
    if not any(_is_asserting(text, os.stat(text).st_mtime_ns) for text in texts):
        return frozenset()
    reached, _ = Imports().reached([file])
    place = top if top.is_dir() else base  # a file that is a pack has its helpers beside it
    return frozenset(inner for inner in reached if inner.is_relative_to(place)) | {file}


@functools.lru_cache(maxsize=8192)
def _is_asserting(text: str, changed: int) -> bool:
    """Return whether a file, which was changed at that time, has an `assert` statement."""
    content = Path(text).read_bytes()
    if not _WRITTEN.search(content):  # most files have none, and parsing is slow
        return False
    return any(map(_is_dropped, ast.walk(ast.parse(content))))


def _asserts(file: Path, line: int, pack: frozenset[Path]) -> Iterator[tuple[Path, int]]:
    """Yield file and line of each `assert` that functions on a line reach.

    A name reaches every top-level statement of the same module, or of a module of the pack that an
    import binds, which binds that name. This may find too much, but does not miss a call by name.
    """
    statements = functools.cache(lambda place: ast.parse(place.read_bytes()).body)
    left = [(file, node) for whole in statements(file) for node in _functions(whole, line)]
    seen: list[ast.AST] = []
    while left:
        place, node = left.pop()
        if any(node is other for other in seen):
            continue
        seen.append(node)
        yield from ((place, found) for found in _lines(node))
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        left += ((place, other) for other in statements(place) if names & _bound(other))
        attributes = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        for name, dotted in _imports([node, *statements(place)], place):
            for module, wanted in ((dotted, attributes), (dotted[:-1], {dotted[-1]})):
                for other in files_of(base_of(place), module) if name in names and module else ():
                    found = statements(other) if other in pack else ()
                    left += ((other, each) for each in found if wanted & _bound(each))


def _imports(nodes: Iterable[ast.AST], file: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield names that imports within these nodes bind, with the dotted names that they mean."""
    package = file.relative_to(base_of(file)).parts
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            yield from ((a.asname or a.name, tuple(a.name.split("."))) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: max(len(package) - node.level, 0)] if node.level else ()
            origin = (*above, *(node.module.split(".") if node.module else ()))
            yield from ((a.asname or a.name, (*origin, a.name)) for a in node.names)


def _bound(node: ast.AST) -> set[str]:
    """Return the names that a top-level statement of a module binds, except by an import."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    if isinstance(node, _SCOPES):  # their names are local
        return set()
    return set().union(*map(_bound, ast.iter_child_nodes(node)))


_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _functions(whole: ast.stmt, line: int) -> Iterator[ast.AST]:
    """Yield the functions within a statement that begin, with their decorators, on this line."""
    for node in ast.walk(whole):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", ())
            if line == min([node.lineno, *(each.lineno for each in decorators)]):
                yield node


def _lines(node: ast.AST) -> list[int]:
    """Return the lines within a node that python -O drops."""
    return [inner.lineno for inner in ast.walk(node) if _is_dropped(inner)]


def _is_dropped(node: ast.AST) -> TypeGuard[ast.Assert | ast.Name]:
    """Return whether a node is an `assert` statement, or `__debug__`, which -O makes False."""
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Name) and node.id == "__debug__")

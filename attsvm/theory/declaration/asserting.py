"""A search for `assert` in code that decides: `python -O` drops it, and with it what was asserted.

The search reads syntax trees, so that a claim is refused in every mode of Python. It looks at a
function, at all that it reaches by name in its module, and at the modules of its pack that the
module imports, but for functions that are tests by their names.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.code_bases import base_of
from attsvm.theory.declaration.code_digests import Imports

_WRITTEN = re.compile(rb"(?:^|[:;])[ \t]*assert\b", re.MULTILINE)
"""An `assert` statement as it is written; a line of a docstring may look like one."""


def ensure_no_assert(whose: str, function: Callable[..., Any]) -> None:
    """Raise if a function, or what it calls in its own pack, has an `assert` statement.

    Args:
        whose: what the function is, for the message.
        function: the function; one that is written in no file of Python passes.

    Raises:
        ClaimError: it has one.
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
        ClaimError: one of them does.
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
    """Return the modules of its pack that a file imports; none if none looks as if it asserts.

    To search the texts of a folder takes far less time than to read what imports what.
    """
    base = base_of(file)
    top = base / file.relative_to(base).parts[0]
    texts = top.rglob("*.py") if top.is_dir() else base.glob("*.py")
    if not any(_looks(text, text.stat().st_mtime_ns) for text in texts):
        return frozenset()
    found, _ = Imports().reached([file])
    return frozenset(inner for inner in found if inner == top or inner.is_relative_to(top)) | {file}


@functools.lru_cache(maxsize=8192)
def _looks(text: Path, changed: int) -> bool:
    """Return whether a file, which was changed at that time, looks as if it asserts."""
    return bool(_WRITTEN.search(text.read_bytes()))


def _asserts(file: Path, line: int, pack: frozenset[Path]) -> Iterator[tuple[Path, int]]:
    """Yield file and line of each `assert` that the functions which begin at a line rest on."""
    statements = ast.parse(file.read_bytes()).body
    left = [node for whole in statements for node in _functions(whole, line)]
    seen: list[ast.AST] = []
    for node in left:  # it grows
        if node in seen:
            continue
        seen.append(node)
        yield from ((file, found) for found in _lines(node))
        names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        left += (other for other in statements if names & _bound(other))
    for other in sorted(pack - {file}):
        for statement in ast.parse(other.read_bytes()).body:
            if not getattr(statement, "name", "").startswith("test"):
                yield from ((other, found) for found in _lines(statement))


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement at the top level of a module binds."""
    nodes = list(ast.walk(statement)) if not hasattr(statement, "name") else []
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {str(getattr(statement, "name", ""))}


def _functions(whole: ast.stmt, line: int) -> Iterator[ast.AST]:
    """Yield the functions within a statement whose first line, or first decorator's, is this."""
    for node in ast.walk(whole):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", ())
            if line == min([node.lineno, *(each.lineno for each in decorators)]):
                yield node


def _lines(node: ast.AST) -> list[int]:
    """Return the lines of the `assert` statements within a node."""
    return [inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.Assert)]

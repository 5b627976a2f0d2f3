"""A search for `assert` in code that decides: `python -O` drops it, and with it what was asserted.

The search reads syntax trees, so that a claim is refused in every mode of Python. It looks at a
function, at all that the function reaches by name in its own pack, and not at what is computed.
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
from attsvm.theory.declaration.code_digests import Definitions, Start, sources
from attsvm.theory.declaration.syntax import module_of

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
    for place, line in _asserts(file, code.co_firstlineno) if pack else ():
        if place in pack:
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
        ensure_no_assert(f"hypothesis {name!r} of {claim.id}", condition)
    measured = formula.measured
    forms = [formula.conclusion] if measured is None else [measured.floats, measured.balls]
    for form in (*forms, getattr(measured, "again", None)):
        if form is not None:
            ensure_no_assert(f"the conclusion of {claim.id}", form)


@functools.lru_cache(maxsize=1024)
def _pack(file: Path, changed: int) -> frozenset[Path]:
    """Return the files of a pack, as its modules are loaded; none if none looks as if it asserts.

    To search the texts of a folder takes far less time than to read what imports what.
    """
    base = base_of(file)
    top = base / file.relative_to(base).parts[0]
    texts = top.rglob("*.py") if top.is_dir() else base.glob("*.py")
    asserts = any(_looks(text, text.stat().st_mtime_ns) for text in texts)
    return frozenset(sources(file)) if asserts else frozenset()


@functools.lru_cache(maxsize=8192)
def _looks(text: Path, changed: int) -> bool:
    """Return whether a file, which was changed at that time, looks as if it asserts."""
    return bool(_WRITTEN.search(text.read_bytes()))


def _asserts(file: Path, line: int) -> Iterator[tuple[Path, int]]:
    """Yield file and line of each `assert` that the functions which begin at a line rest on."""
    module, definitions = module_of(file), Definitions()
    starts = [node for whole in module.statements for node in _functions(whole, line)]
    yield from ((file, found) for node in starts for found in _lines(node))
    for one, at in definitions.reached(Start(file, node=node) for node in starts):
        if isinstance(at, int):
            yield from ((one.file, found) for found in _lines(one.statements[at]))


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

"""The definitions of the checker that a verifier needs, with their sources."""

import ast
import functools
import importlib
import inspect
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType

from attsvm.theory.record import checker


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition or an import of the checker.

    Attributes:
        module: the name of its module.
        text: its source, or that of an import without its name.
        uses: the names that it uses.
        imported: the name that is imported, if it is an import.
    """

    module: str
    text: str
    uses: frozenset[str] = frozenset()
    imported: str = ""


def needed_modules(names: Iterable[str]) -> list[ModuleType]:
    """Return modules by name, each after the parts of the checker that it imports."""
    modules: dict[str, ModuleType] = {}
    for name in sorted(names):
        module = importlib.import_module(name)
        others = needed_modules(_parts_imported(module))
        modules |= {part.__name__: part for part in others} | {name: module}
    return [*modules.values()]


@functools.cache
def _parts_imported(module: ModuleType) -> tuple[str, ...]:
    """Return the names of the other parts of the checker that a module imports."""
    body = ast.parse(inspect.getsource(module)).body
    imported = (str(node.module) for node in body if isinstance(node, ast.ImportFrom))
    left_out = ("__future__", checker.__name__)
    return tuple(name for name in imported if _is_ours(name) and name not in left_out)


def used_definitions(body: str, modules: Iterable[ModuleType]) -> list[Definition]:
    """Return the definitions of modules that a program uses, and the imports of these."""
    known: dict[str, Definition] = {}
    for module in modules:
        known |= _definitions(module)
    used, left = set[str](), _names(ast.parse(body)) & set(known)
    while left:
        used |= left
        left = {name for n in left for name in known[n].uses if name in known} - used
    return [one for name, one in known.items() if name in used]


def imports(definitions: Iterable[Definition]) -> str:
    """Return the imports among definitions, a line for each module."""
    names: dict[str, list[str]] = {}
    for one in definitions:
        if one.imported:
            names.setdefault(one.text, []).append(one.imported)
    return "\n".join(f"{text} {', '.join(sorted(names[text]))}" for text in sorted(names))


def joined(parts: Sequence[str]) -> str:
    """Join the parts of a program, with empty lines between them."""
    text = parts[0]
    for before, part in itertools.pairwise(parts):
        text += _lines_between(before, part) + part
    return text


def _lines_between(before: str, after: str) -> str:
    """Return two empty lines around functions and classes, none between values of one line."""
    if before.startswith("#") or re.match("def|class|@|#", after) or re.match("def|class", before):
        return "\n\n\n"
    return "\n\n" if "\n" in before + after else "\n"


@functools.cache
def _definitions(module: ModuleType) -> dict[str, Definition]:
    """Return the definitions of a module by name, without imports of other parts of the checker."""
    source = inspect.getsource(module)
    lines, results = source.splitlines(), dict[str, Definition]()
    of = functools.partial(Definition, module.__name__)
    for node, after in itertools.pairwise([*ast.parse(source).body, ast.Pass()]):
        if isinstance(node, ast.Import | ast.ImportFrom):
            text = f"from {node.module} import" if isinstance(node, ast.ImportFrom) else "import"
            for alias in () if _is_ours(getattr(node, "module", "")) else node.names:
                results[alias.asname or alias.name] = of(text, imported=ast.unparse(alias))
        elif not isinstance(node, ast.Expr):
            last = after if isinstance(after, ast.Expr) else node  # include the docstring of a name
            text = "\n".join(lines[node.lineno - 1 : last.end_lineno])
            results |= dict.fromkeys(_bound(node), of(text, frozenset(_names(node))))
    return results


def _is_ours(module: str | None) -> bool:
    return module == "__future__" or str(module).partition(".")[0] == "attsvm"


def _bound(node: ast.stmt) -> list[str]:
    """Return the names that a definition binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    names = (one for one in ast.walk(node) if isinstance(one, ast.Name))
    return [one.id for one in names if isinstance(one.ctx, ast.Store)]


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

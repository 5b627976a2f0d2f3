"""Mutants of a source file: each is one small change of its syntax tree.

Unchanged are annotations, decorators, f-strings, docstrings, the arguments of raised errors, unions
of types, and `strict` of zip, which is only a check.
"""

import ast
import copy
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_STRICTNESS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_DIRECTION = {
    **dict([(ast.Lt, ast.Gt), (ast.Gt, ast.Lt), (ast.LtE, ast.GtE), (ast.GtE, ast.LtE)]),
    **dict([(ast.Eq, ast.NotEq), (ast.NotEq, ast.Eq), (ast.Is, ast.IsNot), (ast.IsNot, ast.Is)]),
    **dict([(ast.In, ast.NotIn), (ast.NotIn, ast.In)]),
}
_ARITHMETIC = {
    **dict([(ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult)]),
    **dict([(ast.FloorDiv, ast.Mult), (ast.Mod, ast.FloorDiv), (ast.Pow, ast.Mult)]),
    **dict([(ast.BitAnd, ast.BitOr), (ast.BitOr, ast.BitAnd), (ast.BitXor, ast.BitOr)]),
    ast.LShift: ast.RShift,
}
_PAIRS = "min max|any all|lower upper|minimum maximum|argmin argmax|floor ceil|abs_lower abs_upper"
_OPPOSITE = {a: b for p in _PAIRS.split("|") for a, b in (p.split(), reversed(p.split()))}
_LEFT = (
    *(ast.JoinedStr, ast.Import, ast.ImportFrom),
    *(ast.Name, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop),
)
"""Nodes without a mutant; names and their contexts are most of a tree."""

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.Tuple, ast.stmt)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file.

    Attributes:
        file: its path from the root of the repository.
        scope: the definition that the change lies in, "" at the top level.
        kind: the kind of the change.
        before, after: the lines that it changes, without their indentation.
        line: the line number of the change.
        lines: first and last line of the statement; of its head if it is a compound statement.
        runs: whether these lines run when a function is called, not when the module is imported.
        span: the bytes of the file that are replaced.
        text: what replaces them.
        bound: names that the statement binds at the top level; tests reach the mutant by their
            uses.
        cached: whether it lies in a cached function, which a test may use without running it.
    """

    file: str
    scope: str
    kind: str
    before: str
    after: str
    line: int
    lines: tuple[int, int]
    runs: bool
    span: tuple[int, int]
    text: bytes
    bound: tuple[str, ...] = ()
    cached: bool = False

    @property
    def key(self) -> tuple[str, str, str, str]:
        """A key of this mutant that does not change if lines move."""
        return self.file, self.scope, self.before, self.after

    def applied(self, source: bytes) -> bytes:
        """Return the mutated source."""
        return source[: self.span[0]] + self.text + source[self.span[1] :]


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in order of their place."""
    results = {m.key: m for m in _Finder(file, source).visited(ast.parse(source))}
    return sorted(results.values(), key=lambda m: (m.span, m.kind, m.text))


def drawn(pool: Iterable[Mutant], count: int, seed: str) -> list[Mutant]:
    """Return a sample without repetition that takes the kinds in turn, the rarest kind first.

    The order within a kind depends on the seed and on the mutant, not on other code.
    """
    kinds = defaultdict(list)
    for mutant in pool:
        kinds[mutant.kind].append(mutant)
    rows = [
        sorted(row, key=lambda mutant: hashlib.sha256(f"{seed}/{mutant.key}".encode()).digest())
        for row in sorted(kinds.values(), key=lambda row: (len(row), row[0].kind))
    ]
    longest = max(map(len, rows), default=0)
    return [row[k] for k in range(longest) for row in rows if k < len(row)][:count]


def uses(root: Path) -> dict[str, set[tuple[str, int]] | None]:
    """Return by name the lines of functions that load it; None if a module does, too."""
    results: dict[str, set[tuple[str, int]] | None] = {}

    def visit(node: ast.AST, file: str, inside: bool) -> None:
        name = getattr(node, "id", getattr(node, "attr", None))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            lines = results.setdefault(str(name), set())
            if not inside:
                results[str(name)] = None
            elif lines is not None:
                lines.add((file, node.lineno))
        for part, value in ast.iter_fields(node):
            body = isinstance(node, ast.FunctionDef) and part == "body"
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST):
                    visit(inner, file, inside or body)

    for path in root.glob("attsvm/**/*.py"):
        visit(ast.parse(path.read_bytes()), path.relative_to(root).as_posix(), False)
    return results


def watched(mutant: Mutant, known: dict[str, set[tuple[str, int]] | None]) -> set[tuple[str, int]]:
    """Return the lines of which a test must run one to reach the mutant; none for all tests."""
    if mutant.cached:
        return set()
    if mutant.runs:
        return {(mutant.file, n) for n in range(mutant.lines[0], mutant.lines[1] + 1)}
    lines = [known.get(name) for name in mutant.bound]
    return set() if None in lines else {place for where in lines for place in where or ()}


class _Finder:
    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.cached: set[str] = set()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def visited(
        self,
        node: ast.AST,
        scope: str = "",
        head: ast.stmt | None = None,
        runs: bool = False,
        index: bool = False,
    ) -> Iterator[Mutant]:
        """Yield the mutants of a node and of all nodes below it.

        Args:
            node: the node.
            scope: dotted name of the definition that contains it.
            head: the innermost statement that contains it.
            runs: whether it lies in a function.
            index: whether it is an index of a subscript.
        """
        if isinstance(node, _LEFT):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            head, scope = node, f"{scope}.{node.name}".lstrip(".")
            if any("cache" in ast.dump(decorator) for decorator in node.decorator_list):
                self.cached.add(scope)
        elif isinstance(node, ast.stmt):
            head = node
        for kind, old, new in _changes(node, index):
            yield from self._made(kind, old, new, scope, head, runs)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and _is_text(node)):
            return
        for name, value in ast.iter_fields(node):
            if name in ("decorator_list", "annotation", "returns", "type_params"):
                continue
            within = isinstance(node, ast.Subscript) and name == "slice"
            runs = runs or isinstance(
                node, ast.FunctionDef
            )  # default values of arguments are treated like the body
            for inner in value if isinstance(value, list) else [value]:
                if isinstance(inner, ast.AST) and not (_is_type(inner) or _is_strict(inner)):
                    indices = within or (index and _deep(node))
                    yield from self.visited(inner, scope, head, runs, indices)

    def _made(
        self, kind: str, old: ast.AST, new: ast.AST, scope: str, head: ast.stmt, runs: bool
    ) -> Iterator[Mutant]:
        text = ast.unparse(new).encode()
        text = text if isinstance(new, _ATOMS) else b"(" + text + b")"
        start = self.starts[old.lineno - 1] + old.col_offset
        end = self.starts[old.end_lineno - 1] + old.end_col_offset
        left, right = self.starts[old.lineno - 1], self.starts[old.end_lineno]
        before = self.source[left:right].decode()
        after = (self.source[left:start] + text + self.source[end:right]).decode()
        body = () if isinstance(head, ast.FunctionDef) else getattr(head, "body", ())
        last = max(body[0].lineno - 1, head.lineno) if body else head.end_lineno
        bound = ()
        if not scope and isinstance(head, ast.Assign | ast.AnnAssign):
            targets = head.targets if isinstance(head, ast.Assign) else [head.target]
            bound = tuple(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        if "__all__" not in bound and not _same(new, old):
            shown = ["\n".join(map(str.strip, t.strip().splitlines())) for t in (before, after)]
            where = old.lineno, (head.lineno, last), runs, (start, end)
            yield Mutant(self.file, scope, kind, *shown, *where, text, bound, scope in self.cached)


def _same(new: object, old: object) -> bool:
    """Return whether two pieces of syntax are equal.

    Mutants share most nodes with the original, so identity is tested first.
    """
    if new is old or type(new) is not type(old):
        return new is old
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(map(_same, new, old))
    if not isinstance(new, ast.AST):
        return new == old
    return all(_same(getattr(new, f, None), getattr(old, f, None)) for f in new._fields)


def _deep(node: ast.AST) -> bool:
    return isinstance(node, ast.Slice | ast.Tuple | ast.UnaryOp)


def _is_text(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_type(node: ast.AST) -> bool:
    """Return whether a node is a union of types, as in `isinstance(x, int | None)`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)):
        return False
    return all(
        _is_type(n) or isinstance(n, ast.Attribute | ast.Name | ast.Constant)
        for n in (node.left, node.right)
    )


def _is_strict(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _plus(node: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def _changes(node: ast.AST, index: bool) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield the kind of each change, the replaced node, and its replacement."""
    match node:
        case ast.Compare():
            for k, op in enumerate(node.ops):
                for kind, table in (("strictness", _STRICTNESS), ("direction", _DIRECTION)):
                    if type(op) in table:
                        ops = [*node.ops[:k], table[type(op)](), *node.ops[k + 1 :]]
                        yield kind, node, _with(node, ops=ops)
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _ARITHMETIC:
            yield "arithmetic", node, _with(node, op=_ARITHMETIC[type(node.op)]())
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "junction", node, _with(node, op=other)
            for k in range(len(node.values)):
                rest = [*node.values[:k], *node.values[k + 1 :]]
                kept = rest[0] if len(rest) == 1 else _with(node, values=rest)
                yield "dropped condition", node, kept
        case ast.UnaryOp(op=ast.Not()):
            yield "negation", node, node.operand
        case ast.UnaryOp(op=ast.USub()) if not isinstance(node.operand, ast.Constant):
            yield "sign", node, node.operand
        case ast.Constant(value=bool()):
            yield "constant", node, ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield "index" if index else "constant", node, ast.Constant(node.value + 1)
        case ast.Constant(value=float()):
            yield "constant", node, ast.Constant(2.0 * node.value or 1.0)
        case ast.comprehension():
            for test in node.ifs:
                yield "dropped condition", test, ast.Constant(True)
        case ast.Slice():
            for bound in (node.lower, node.upper):
                if bound is not None and not isinstance(bound, ast.Constant | ast.UnaryOp):
                    yield "index", bound, _plus(bound, 1)
        case ast.Return(value=ast.BinOp(op=ast.Sub() | ast.Div()) as value):
            yield "swap", value, _with(value, left=value.right, right=value.left)
        case ast.Return(value=ast.Tuple(elts=[first, second, *rest]) as value):
            yield "swap", value, ast.Tuple([second, first, *rest], ast.Load())
        case ast.Call():
            yield from _of_call(node)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "negation", node.test, ast.UnaryOp(ast.Not(), node.test)
    stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or stored or isinstance(node, ast.AugAssign | ast.Raise | ast.Break | ast.Continue):
        yield "dropped statement", node, ast.Pass()


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if name in _OPPOSITE:
        field = "id" if isinstance(node.func, ast.Name) else "attr"
        yield "extreme", node, _with(node, func=_with(node.func, **{field: _OPPOSITE[name]}))
    if name in ("abs", "fabs") and len(node.args) == 1:
        yield "abs", node, node.args[0]
    if name == "range":
        for k, bound in enumerate(node.args[:2]):
            first = len(node.args) > 1 and k == 0
            args = [*node.args[:k], _plus(bound, 1 if first else -1), *node.args[k + 1 :]]
            yield "range", node, _with(node, args=args)
    for k, keyword in enumerate(node.keywords):
        if keyword.arg is not None and not _is_strict(keyword):
            rest = [*node.keywords[:k], *node.keywords[k + 1 :]]
            yield "keyword", node, _with(node, keywords=rest)

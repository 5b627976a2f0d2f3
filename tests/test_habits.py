"""Tests are plain: each asserts something on every path, and few reach into what they test."""

import ast
import functools
from collections import defaultdict
from pathlib import Path

from tests.parsed import parsed

TESTS = Path(__file__).parent
PROTOCOLS = {"_repr_html_", "_mpf_", "_exit"}
"""Names with an underscore that notebooks, mpmath and Python call."""
OWN = {"self", "cls"}
PRIVATE, PATCHES, EARLY = 52, 466, 0
"""Maximum numbers of private names that tests use of others, of lines with `monkeypatch`, and of
tests that return before their last assertion."""
CHECKS = {"raises", "warns", "fail"} | {"assert_allclose", "assert_array_equal"}
"""Functions of pytest and numpy that make a test fail."""


@functools.cache
def trees():
    """The syntax trees of all files of tests, by their paths."""
    files = sorted(TESTS.rglob("*.py"))
    return {str(f.relative_to(TESTS)): parsed(f) for f in files}


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in {"_", *PROTOCOLS}


def private_names(tree):
    """Private names that code takes of other modules and objects, or patches there."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner)) if owner in OWN:
                pass
            case ast.Attribute(attr=name) if is_private(name):
                yield name
            case ast.ImportFrom(names=names):
                yield from (alias.name for alias in names if is_private(alias.name))
            case ast.Call(func=ast.Attribute(attr="setattr" | "setitem"), args=args):
                words = [a.value for a in args[:2] if isinstance(a, ast.Constant)]
                dotted = [word.rpartition(".")[2] for word in words if isinstance(word, str)]
                yield from filter(is_private, dotted)


def told(found):
    """The files with most finds, for the message of a test that fails."""
    counted = {file: len(finds) for file, finds in found.items() if finds}
    worst = sorted(counted, key=counted.get, reverse=True)[:5]
    return ", ".join(f"{file}: {counted[file]}" for file in worst)


def test_tests_use_few_private_names():
    found = {file: [*private_names(tree)] for file, tree in trees().items()}
    assert sum(map(len, found.values())) <= PRIVATE, (
        f"test through a public function or an argument; see {told(found)}"
    )


def test_tests_patch_little():
    found = {
        file: [line for line in (TESTS / file).read_text().splitlines() if "monkeypatch" in line]
        for file in trees()
        if file != "test_habits.py"
    }
    assert sum(map(len, found.values())) <= PATCHES, (
        f"give the function an argument, or share a fixture; see {told(found)}"
    )


def test_no_two_files_of_tests_have_one_name():
    """Pytest imports all of them by their names alone, and refuses the second one."""
    names = [Path(file).name for file in trees() if Path(file).name.startswith("test_")]
    assert [name for name in {*names} if names.count(name) > 1] == []


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def called(node):
    """The last names of all functions that code calls, and of contexts that it enters."""
    for inner in ast.walk(node):
        match inner:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                yield name
            case ast.withitem(context_expr=ast.Name(id=name)):
                yield name


def checking(all_trees):
    """Names of functions that assert something, themselves or by others that they call."""
    known, calls = set(CHECKS), defaultdict(set)
    for node in (node for tree in all_trees for node in tree.body):
        match node:  # such as refused = pytest.raises(ValueError)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
                calls[name] |= {*called(value)}
    for node in (node for tree in all_trees for node in functions(tree)):
        calls[node.name] |= {*called(node)}
        if any(isinstance(inner, ast.Assert | ast.Raise) for inner in ast.walk(node)):
            known.add(node.name)
    while more := {name for name, others in calls.items() if others & known} - known:
        known |= more
    return known


def named_tests(tree):
    return [node for node in functions(tree) if node.name.startswith("test_")]


def test_every_test_asserts_something():
    known = checking([*trees().values()])
    for file, tree in trees().items():
        assert [node.name for node in named_tests(tree) if node.name not in known] == [], file


def returns(node):
    """Whether a test returns; functions within it may."""
    inner = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
    return any(
        isinstance(child, ast.Return) or (not isinstance(child, inner) and returns(child))
        for child in ast.iter_child_nodes(node)
    )


def test_no_test_returns_early():
    """A case that a test leaves before its assertions is a test of its own."""
    found = {file: [*filter(returns, named_tests(tree))] for file, tree in trees().items()}
    assert sum(map(len, found.values())) <= EARLY, f"split the test; see {told(found)}"


CODE = """
from module import _one, two
import pytest
class Case:
    def test_own(self): self._field = 1
def test_silent(): print(two)
def test_by_another(): check(two)
def check(x): assert x
def test_early(x):
    if x: return
    assert other._field
def test_patches(monkeypatch):
    monkeypatch.setattr("module._three", 3)
    assert two._repr_html_() and two.__doc__
"""


def test_what_these_tests_look_for_is_found():
    tree = ast.parse(CODE)
    assert [*private_names(tree)] == ["_one", "_field", "_three"]
    assert [node.name for node in named_tests(tree) if returns(node)] == ["test_early"]
    silent = {node.name for node in functions(tree)} - checking([tree])
    assert silent == {"test_own", "test_silent"}

"""Mutants change one thing each, reach the tests that run them, and never touch the checkout."""

import ast
import functools
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from attsvm.theory.packs.packs import find_claims, load_packs
from benchmarks.mutants import __main__ as command
from benchmarks.mutants import copies, forks, rooms
from benchmarks.mutants.__main__ import Reach, Tried, reach, report
from benchmarks.mutants.copies import Copy
from benchmarks.mutants.mutations import drawn, mutants, uses, watched
from benchmarks.mutants.rooms import CERTIFYING, ROOMS, ROOT, room_of, sample

CHANGED = [
    ("strictness", "a < b", "a <= b"),
    ("direction", "a < b", "a > b"),
    ("direction", "a is b", "a is not b"),
    ("arithmetic", "a + b", "a - b"),
    ("arithmetic", "a * (b - 1)", "a / (b - 1)"),
    ("constant", "a + 1", "a + 2"),
    ("constant", "a + 0.5", "a + 1.0"),
    ("constant", "f(True)", "f(False)"),
    ("extreme", "min(a, b)", "max(a, b)"),
    ("extreme", "a.lower()", "a.upper()"),
    ("junction", "a and b", "a or b"),
    ("dropped condition", "a and b and c", "a and c"),
    ("dropped condition", "[a for b in c if b]", "[a for b in c if True]"),
    ("negation", "a if b else c", "a if not b else c"),
    ("negation", "not a", "a"),
    ("sign", "-a", "a"),
    ("range", "range(a)", "range(a - 1)"),
    ("range", "range(a, b)", "range(a + 1, b)"),
    ("index", "a[0]", "a[1]"),
    ("index", "a[:b]", "a[:b + 1]"),
    ("swap", "a - b", "b - a"),
    ("swap", "a, b", "b, a"),
    ("keyword", "f(a, b=c, strict=d)", "f(a, strict=d)"),
    ("abs", "abs(a)", "a"),
    ("abs", "np.abs(a)", "a"),
]


def changed(source):
    """Kinds and syntax trees of all mutants of a source."""
    text = source.encode()
    return [(m.kind, ast.dump(ast.parse(m.applied(text)))) for m in mutants("a.py", text)]


def test_every_kind_of_change_is_made():
    source = "def f(é, a, b, c):\n    return {}\n"
    for kind, before, after in CHANGED:
        made = changed(source.format(before))
        assert (kind, ast.dump(ast.parse(source.format(after)))) in made, before


def test_statements_are_dropped():
    source = "while a:\n    {}\n    b = 2\n"
    dropped = ("dropped statement", ast.dump(ast.parse(source.format("pass"))))
    for statement in ("a.append(1)", "a += 1", "a[0] = b", "raise E(1)", "break"):
        assert dropped in changed(source.format(statement)), statement


def test_what_says_nothing_to_a_computer_is_left_as_it_is():
    source = (
        '"""1 < 2"""\nfrom a import b\n@c(slots=True)\nclass D:\n    e: F[1]\n\n'
        'def f(x: G[1]) -> H[2]:\n    raise I(f"{1}", 2, j=3)\n\n__all__ = [1]\n'
    )
    assert [m.kind for m in mutants("a.py", source.encode())] == ["dropped statement"]


@functools.cache
def outermost(file):
    """The bytes of the outermost statements of a file, from the first decorator on."""
    source = (ROOT / file).read_bytes()
    starts = [0, *(k + 1 for k, byte in enumerate(source) if byte == ord("\n"))]
    return [
        (starts[min(n.lineno for n in (node, *decorators)) - 1], starts[node.end_lineno])
        for node in ast.parse(source).body
        for decorators in [getattr(node, "decorator_list", ())]
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_mutants_of_rooms_parse_and_differ(room):
    """Of the first file that has some of most kinds."""
    assert all((ROOT / tests).exists() for tests in ROOMS[room])
    files = [p.relative_to(ROOT).as_posix() for p in sorted(ROOT.glob("attsvm/**/*.py"))]
    every = (
        drawn(mutants(f, (ROOT / f).read_bytes()), 12, "7") for f in files if room_of(f) == room
    )
    many = (some for some in every if len(some) == 12)
    found = next(some for some in many if len({m.kind for m in some}) >= 8)
    assert len({m.key for m in found}) == len(found) == 12
    for m in found:
        source = (ROOT / m.file).read_bytes()
        mutated = m.applied(source)
        assert source.count(b"\n", 0, m.span[0]) + 1 == m.line
        start, end = next(at for at in outermost(m.file) if m.span[1] <= at[1])
        assert start <= m.span[0]
        longer = len(mutated) - len(source)
        new, old = ast.parse(mutated[start : end + longer]).body, ast.parse(source[start:end]).body
        assert len(new) == len(old) == 1
        assert ast.dump(new[0]) != ast.dump(old[0])


def test_a_full_count_has_all_rooms_of_which_those_that_certify_count_threefold(monkeypatch):
    """A mutant a line stands in for those that are made of a file."""

    @functools.cache
    def one_a_line(file, text):
        (one, *_) = mutants(file, b"a = 1\n")
        return [replace(one, before=str(k)) for k in range(text.count(b"\n"))]

    monkeypatch.setattr(rooms, "mutants", one_a_line)
    found = sample(list(ROOMS), 400, 0)
    assert all(room_of(m.file) == room for room, m in found)
    assert len({m.key for _, m in found}) == len(found)
    counts = Counter(room for room, _ in found)
    assert counts.total() >= 400
    assert counts.keys() == set(ROOMS)
    assert set(CERTIFYING) < set(ROOMS)
    assert min(counts.values()) == 8
    assert counts["exact/"] > counts["svm/"]


def test_the_seed_draws_the_sample(monkeypatch):
    monkeypatch.setattr(rooms, "mutants", functools.cache(mutants))
    found = sample(["limits/"], 20, 7)
    assert found == sample(["limits/"], 20, 7) != sample(["limits/"], 20, 8)


def test_kinds_take_turns_and_places_do_not_depend_on_other_code():
    pool = mutants("a.py", b"x = [" + b"a + b, c + d, a + c, min(a, b)]\n")
    assert sorted(m.kind for m in drawn(pool, 2, "0")) == ["arithmetic", "extreme"]
    for gone in pool:
        others = [m for m in pool if m != gone]
        for kind in ("arithmetic", "extreme"):
            left = [m for m in drawn(pool, 9, "0") if m.kind == kind and m != gone]
            assert [m for m in drawn(others, 9, "0") if m.kind == kind] == left


def test_equivalents_are_mutants_that_exist_each_with_a_sentence():
    keys = {
        m.key
        for file in {row[0] for row in command.listed()}
        for m in mutants(file, (ROOT / file).read_bytes())
    }
    for key, why in command.listed().items():
        assert key in keys
        assert why[0].isupper()
        assert why.endswith(".")
        assert len(why.split()) >= 6


def test_claims_use_the_code_that_they_reach_and_no_other():
    chosen = {
        place: mutants(place, (ROOT / place).read_bytes())[0]
        for place in (
            "attsvm/lipschitz.py",
            "attsvm/theory/declaration/judge.py",
            "attsvm/plots/draw.py",
            "attsvm/limits/direction.py",  # by a name that a package hands on
        )
    }
    ids = ["sim/stability-logistic:sharp-2", "sim/kq-bias:amended-1", "sim/lemma-3.12:sharp"]
    claims = find_claims(load_packs(), ids)
    by_file = command.users(chosen.values(), claims)
    lipschitz, judge, draw, direction = (by_file[m] for m in chosen.values())
    assert draw == []
    assert "sim/kq-bias:amended-1" in direction
    assert "sim/lemma-3.12:sharp" not in direction
    assert sorted(judge) == sorted(ids)
    assert "sim/stability-logistic:sharp-2" in lipschitz


MODULE = """\
LEAST = 1


def f(a):
    if a > LEAST:
        return a + 2
    return a


def g(a):
    return a * 3
"""
TESTS = """\
import subprocess, sys, time
from attsvm.m import f, g


def test_f():
    assert f(5) == 7


def test_little():
    assert f(0) == 0


def test_g():
    assert subprocess.run([sys.executable, "-c", "from attsvm.m import g; g(1)"]).returncode == 0


def test_wrong():
    assert g(1) == 4


def test_long():
    time.sleep(60)
    f(5)
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small repository, and a private copy of it."""
    root = tmp_path / "root"
    files = {"attsvm/m.py": MODULE, "tests/test_m.py": TESTS}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("__init__.py", "forks.py", "reach.py", "unshrunk.py"):
        target = root / "benchmarks/mutants" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((ROOT / "benchmarks/mutants" / name).read_text())
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".gitignore").write_text("kept\n__pycache__/\n")
    (root / "kept").write_text("private")
    loads_less = Path(forks.__file__).read_text().replace(forks._LOADED, "")  # which takes seconds
    (root / "benchmarks/mutants/forks.py").write_text(loads_less)
    monkeypatch.setattr(copies, "FORKS", root / "benchmarks/mutants/forks.py")
    monkeypatch.setattr(command, "_LONGEST", 1)
    monkeypatch.setitem(ROOMS, "", ("tests",))
    return root, Copy(tmp_path / "copy", root)


def test_a_mutant_meets_the_tests_that_reach_it_in_a_copy(tree):
    root, copy = tree
    assert not (copy.folder / "kept").exists()
    source = (root / "attsvm/m.py").read_bytes()
    found = mutants("attsvm/m.py", source)
    known = uses(root)
    reached = reach(copy, ["tests"], {"attsvm/m.py"})
    tests = {name: f"tests/test_m.py::test_{name}" for name in ("f", "little", "g")}
    assert set(reached.seconds) == set(tests.values())  # the others fail or last
    at = {line: set(reached.of({("attsvm/m.py", line)})) for line in (5, 6, 11)}
    assert at == {5: {tests["f"], tests["little"]}, 6: {tests["f"]}, 11: {tests["g"]}}
    said = {}
    for m in found:
        if m.kind in ("strictness", "arithmetic"):
            tried = said[m.kind, m.line] = Tried("", m)
            command.tested(copy, tried, reached, watched(m, known))
            copy.put(m.file, source)
    copy.close()
    assert {key: tried.tests for key, tried in said.items()} == {
        ("strictness", 5): "survived",
        ("arithmetic", 6): "killed",
        ("arithmetic", 11): "survived",
    }
    assert said["arithmetic", 6].by == tests["f"]
    assert (root / "attsvm/m.py").read_bytes() == source


@pytest.mark.parametrize("decorator", ["@functools.cache", "@lru_cache(maxsize=8)"])
def test_a_mutant_in_a_cached_function_is_tried_on_all_tests(decorator):
    # only the first caller runs a cached function, so coverage misses the tests that depend on it
    source = f"{decorator}\ndef f(a):\n    return a + 1\n\ndef g(a):\n    return a + 1\n"
    for m in mutants("attsvm/m.py", source.encode()):
        assert watched(m, {}) == (set() if m.scope == "f" else {("attsvm/m.py", 6)})


@pytest.mark.parametrize("imported", [False, True])
def test_what_runs_for_ever_is_killed(tree, monkeypatch, imported):
    _, copy = tree
    monkeypatch.setattr(command, "_LEAST", 0.5)  # a quarter of the wait
    (copy.folder / "tests/test_m.py").write_text(
        "import time\nfrom attsvm.m import f\n\ndef test_it():\n    f(5)\n    time.sleep(60)\n"
    )
    m = next(m for m in mutants("attsvm/m.py", MODULE.encode()) if m.runs)
    place, test = (m.file, m.line), "tests/test_m.py::test_it"
    reached = Reach({test: 0.0}, {place: {test, ""} if imported else {test}})
    tried = Tried("", m)
    command.tested(copy, tried, reached, {place})
    copy.close()
    assert (tried.tests, tried.by) == ("killed", "time")


def test_the_report_counts_and_shows_what_is_alive():
    found = mutants("attsvm/m.py", MODULE.encode())
    table = [Tried("exact/", m, "killed", verify="survived") for m in found[:3]]
    table += [
        Tried("exact/", found[3], "survived", verify="killed"),
        Tried("limits/", found[4], "unreached"),
        Tried("limits/", found[5], "equivalent"),
    ]
    said = report(table)
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines()[:4]}
    assert rows["exact/"] == ["4", "0", "3", "1", "of", "4", "0", "0"]
    assert rows["limits/"] == ["2", "1", "0", "0", "of", "0", "1", "1"]
    assert rows["all"] == ["6", "1", "3", "1", "of", "4", "1", "1"]
    assert f"attsvm/m.py:{found[4].line} in f:" in said
    assert f"+ {found[4].after}" in said
    assert found[0].after not in said

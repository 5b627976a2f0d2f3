"""Which module may import which: read from the sources, lazy imports and annotations included."""

import ast
import functools
import graphlib
from pathlib import Path

import pytest

from tests.parsed import parsed

ROOT = Path(__file__).parents[1]
TOPS = ("attsvm", "properties", "symbolic", "tests", "benchmarks")
LEAVES = {f"attsvm.{name}" for name in ("errors", "_dyadic", "_files", "_threads")}
LEAVES |= {f"attsvm.{name}" for name in ("_distribution", "_live", "sources")}
LEAVES |= {"attsvm._types", "attsvm._witness", "attsvm._words"}
"""What knows neither attention nor the engine."""
PRIMITIVES = "attsvm.primitives"
"""What claims on attention are made of: it knows both."""
FRONT = ("attsvm.cli", "attsvm.reproduce", "attsvm.__main__")
"""What stands before both: commands, and pictures of packs with their page."""


def modules_of(root):
    """The modules of the folder `root` with their files."""
    files = {
        f.relative_to(root).with_suffix("").parts: f for t in TOPS for f in (root / t).rglob("*.py")
    }
    return {".".join(p[:-1] if p[-1] == "__init__" else p): f for p, f in files.items()}


def statements(node):
    """All statements within a node; expressions, in which nothing is imported, are left out."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt | ast.excepthandler | ast.match_case):
            yield inner
            yield from statements(inner)


@functools.cache
def imports(root=ROOT):
    """The modules of the folder `root`, each with the modules that it names anywhere."""
    modules, found = modules_of(root), {}
    for module, file in modules.items():
        named = set()
        for node in statements(parsed(file)):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}, line {node.lineno}: import by the full name"
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {name if name in modules else node.module for name in whole}
        found[module] = named & modules.keys()
    return found


def within(module, *rooms):
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def against(sources, refused):
    """The arrows that begin in one of the rooms `sources` and whose end is refused."""
    return [
        (m, end)
        for m, ends in sorted(imports().items())
        if within(m, *sources)
        for end in ends
        if refused(end)
    ]


def test_no_modules_form_a_circle():
    graphlib.TopologicalSorter(imports()).prepare()


@pytest.mark.parametrize(
    "planted",
    [
        "import attsvm.b",
        "def late():\n    from attsvm import b",
        "if X:\n    from attsvm.b import y",
        "from attsvm.b import (\n    x,  # as y\n    y,\n)",
    ],
)
def test_a_planted_circle_is_found(tmp_path, planted):
    (tmp_path / "attsvm").mkdir()
    for name, text in {"__init__": "", "a": planted, "b": "from attsvm.a import x"}.items():
        (tmp_path / "attsvm" / f"{name}.py").write_text(text, encoding="utf-8")
    with pytest.raises(graphlib.CycleError, match=r"attsvm\.a.*attsvm\.b|attsvm\.b.*attsvm\.a"):
        graphlib.TopologicalSorter(imports(tmp_path)).prepare()


@pytest.mark.parametrize(
    ("room", "below"),
    [
        ("attsvm", ("attsvm",)),
        ("properties", ("attsvm", "properties")),
        ("symbolic", ("attsvm", "properties", "symbolic")),
        ("benchmarks", ("attsvm", "properties", "symbolic", "benchmarks")),
        ("attsvm.theory.arithmetic", ("attsvm.theory.arithmetic", *LEAVES)),
        (
            "attsvm.theory.declaration",
            ("attsvm.theory.declaration", "attsvm.theory.arithmetic", *LEAVES),
        ),
        ("attsvm.theory", ("attsvm.theory", *LEAVES)),
    ],
)
def test_a_room_imports_what_is_below_it(room, below):
    assert against([room], lambda end: not within(end, *below)) == []


def rooms(found, parent):
    """The arrows between what lies directly in the folder `parent`, files and folders."""
    deep = parent.count(".") + 2
    inside = {m: ".".join(m.split(".")[:deep]) for m in found if m.startswith(f"{parent}.")}
    arrows = {room: set() for room in inside.values()}
    for module, room in inside.items():
        arrows[room] |= {inside[end] for end in found[module] if end in inside} - {room}
    return arrows


OURS = [m for m in modules_of(ROOT) if within(m, "attsvm", "properties", "symbolic")]
FOLDERS = {module.rpartition(".")[0] for module in OURS}


@pytest.mark.parametrize("folder", sorted(FOLDERS - {""}))
def test_no_rooms_of_a_folder_form_a_circle(folder):
    graphlib.TopologicalSorter(rooms(imports(), folder)).prepare()


def test_a_planted_circle_of_rooms_is_found(tmp_path):
    """Each of two rooms imports a file of the other, and no file takes part in a circle."""
    arrows = {"a/two": "from attsvm.b.one import x", "b/two": "from attsvm.a.one import y"}
    for name, text in {"a/one": "", "b/one": "", **arrows}.items():
        file = tmp_path / "attsvm" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    found = imports(tmp_path)
    graphlib.TopologicalSorter(found).prepare()
    with pytest.raises(graphlib.CycleError, match=r"attsvm\.a.*attsvm\.b|attsvm\.b.*attsvm\.a"):
        graphlib.TopologicalSorter(rooms(found, "attsvm")).prepare()


def test_mathematics_knows_the_engine_by_its_slack_alone():
    above = ("attsvm.theory", PRIMITIVES, *FRONT)
    mathematics = {m for m in OURS if within(m, "attsvm") and not within(m, *above)}
    slack = "attsvm.theory.declaration.slack"
    arrows = against(mathematics - {"attsvm"}, lambda end: within(end, *above) and end != slack)
    assert arrows == []


def test_primitives_of_claims_stand_below_commands():
    assert against([PRIMITIVES], lambda end: within(end, *FRONT)) == []


def test_no_class_has_more_than_150_lines():
    nodes = (
        node
        for module, file in modules_of(ROOT).items()
        if within(module, "attsvm")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ClassDef) and node.end_lineno - node.lineno >= 150
    )
    assert [node.name for node in nodes] == []


def test_no_statement_imports_another():
    """A submodule of a package counts as its statement, which its import runs."""
    files = modules_of(ROOT)
    claims = {
        module
        for module, file in files.items()
        if within(module, "properties") and " = Statement(\n" in file.read_text("utf-8")
    }
    assert claims
    figures = {m for m in files if within(m, "properties") and "figures" in m.split(".")}
    assert [
        (module, end)
        for module, end in against(["properties"], lambda end: within(end, *claims))
        if module not in figures
        and not any(within(module, claim) and within(end, claim) for claim in claims)
    ] == []

"""Digests follow every definition that is used by name, and nothing that only looks different."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from attsvm.theory.declaration.code_bases import base_of, followed, home_of, installed, learn
from attsvm.theory.declaration.code_digests import Definitions, Start
from attsvm.theory.declaration.syntax import module_of, whole

PACK = {
    "pack/__init__.py": "from pack.inner import value as exported\n",
    "pack/inner.py": "from pack import deep as far\nvalue = far.LEAST\nother = 1\n",
    "pack/deep.py": "LEAST = 3\nMOST = 4\n",
    "pack/star.py": "from pack.deep import *\n",
    "pack/cycle.py": "from pack.circle import f as g\n\ndef f():\n    return g()\n",
    "pack/circle.py": "from pack.cycle import f as h\n\ndef f():\n    return h()\n",
    "pack/effects.py": "TABLE = {}\nTABLE['a'] = 1\n\ndef f():\n    return 2\n",
    "pack/twin/__init__.py": "from pack.twin.twin import twin\n",
    "pack/twin/twin.py": "from pack import deep\n\ndef twin():\n    return deep.LEAST\n",
    "pack/start.py": "",
}


@pytest.fixture
def root(tmp_path):
    for name, text in PACK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def digest(root, text, name="f"):
    (root / "pack/start.py").write_text(text)
    return Definitions().resting([Start(root / "pack/start.py", name)])


USES = {
    "from import": "from pack.deep import LEAST\ndef f():\n    return LEAST\n",
    "renamed": "from pack.deep import LEAST as x\ndef f():\n    return x\n",
    "module": "from pack import deep\ndef f():\n    return deep.LEAST\n",
    "module renamed": "import pack.deep as d\ndef f():\n    return d.LEAST\n",
    "module whole": "import pack.deep\ndef f():\n    return pack.deep.LEAST\n",
    "relative": "from .deep import LEAST\ndef f():\n    return LEAST\n",
    "relative module": "from . import deep\ndef f():\n    return deep.LEAST\n",
    "through another": "from pack.inner import value\ndef f():\n    return value\n",
    "exported": "from pack import exported\ndef f():\n    return exported\n",
    "star": "from pack.deep import *\ndef f():\n    return LEAST\n",
    "star of a star": "from pack.star import *\ndef f():\n    return LEAST\n",
    "named like its module": "from pack.twin import twin\ndef f():\n    return twin()\n",
    "late": "def f():\n    from pack.deep import LEAST\n    return LEAST\n",
    "late module": "def f():\n    import pack.deep\n    return pack.deep\n",
    "looked up": "from importlib import import_module\ndef f():\n    import_module('pack.deep')\n",
    "guarded": "try:\n    from pack.deep import LEAST\nexcept ImportError:\n    pass\nf = LEAST\n",
    "default": "from pack.deep import LEAST\ndef f(x=LEAST):\n    return x\n",
    "constant": "from pack.deep import LEAST\nN = [LEAST]\ndef f():\n    return N[0]\n",
    "annotation": "from pack.deep import LEAST\ndef f() -> LEAST: ...\n",
    "annotation in quotes": "from pack.deep import LEAST\ndef f() -> 'LEAST': ...\n",
    "base class": "from pack import deep\nclass C:\n    a = deep.LEAST\nclass f(C):\n    pass\n",
}


@pytest.mark.parametrize("use", USES)
def test_a_definition_counts_however_it_is_imported(root, use):
    before = digest(root, USES[use])
    (root / "pack/deep.py").write_text("LEAST = 5\nMOST = 4\n")
    assert digest(root, USES[use]) != before


@pytest.mark.parametrize("use", ["from import", "module", "relative module", "through another"])
def test_a_definition_that_is_not_used_does_not_count(root, use):
    before = digest(root, USES[use])
    (root / "pack/deep.py").write_text("LEAST = 3\nMOST = 7\n")
    assert digest(root, USES[use]) == before


def test_of_a_module_that_its_package_imports_only_what_is_used_counts(root):
    (root / "pack/__init__.py").write_text("from pack import deep\n")
    text = USES["module"]
    before = digest(root, text)
    (root / "pack/deep.py").write_text("LEAST = 3\nMOST = 7\n")
    assert digest(root, text) == before
    (root / "pack/deep.py").write_text("LEAST = 5\nMOST = 7\n")
    assert digest(root, text) != before


def test_two_names_exchanged_are_another_thing(root):
    text = "from pack.deep import LEAST as {}, MOST as {}\ndef f():\n    return a - b\n"
    assert digest(root, text.format("a", "b")) != digest(root, text.format("b", "a"))


def test_the_last_of_two_definitions_of_a_name_counts(root):
    assert digest(root, "f = 1\nf = 2\n") != digest(root, "f = 2\nf = 1\n")


def test_what_a_module_does_when_it_is_imported_counts(root):
    text = "from pack.effects import f as g\ndef f():\n    return g()\n"
    before = digest(root, text)
    changed = PACK["pack/effects.py"].replace("['a'] = 1", "['a'] = 2")
    (root / "pack/effects.py").write_text(changed)
    assert digest(root, text) != before


def test_what_a_package_does_when_a_module_of_it_is_imported_counts(root):
    (root / "beside").mkdir()
    (root / "beside/deep.py").write_text("LEAST = 3\n")
    text, found = "import beside.deep\ndef f():\n    return 1\n", set()
    for value in (1, 2):
        (root / "beside/__init__.py").write_text(f"TABLE = {{}}\nTABLE['a'] = {value}\n")
        found.add(digest(root, text))
    assert len(found) == 2


def test_modules_that_import_one_another_come_to_an_end(root):
    text = "from pack.cycle import f as g\ndef f():\n    return g()\n"
    before = digest(root, text)
    (root / "pack/circle.py").write_text(PACK["pack/circle.py"].replace("h()", "-h()"))
    assert digest(root, text) != before


BARE = "from pack import impl\nfrom pack.registry import go\ndef f():\n    return go(1)\n"
OF_A_MODULE = "from pack import registry\n@registry.{}\ndef g():\n    return {{}}\n"
SIDES = {
    "a registry": ("@kept\ndef g():\n    return {}\n", True),
    "a registry of a module": (OF_A_MODULE.format("kept"), True),
    "a decorator of a module": (OF_A_MODULE.format("plain"), False),
    "a method of a registry": ("@TABLE.setdefault\ndef g():\n    return {}\n", True),
    "a generic function": ("@go.register\ndef g(x: float):\n    return {}\n", True),
    "a decorator that keeps nothing": ("@plain\ndef g():\n    return {}\n", False),
    "a decorator of the standard library": ("@functools.cache\ndef g():\n    return {}\n", False),
    "an item": ("TABLE[0] = {}\n", True),
    "an attribute": ("go.least = {}\n", True),
    "an attribute that is set while a name is bound": ("x = go.least = {}\n", True),
    "an attribute that is set by its name": ("x = setattr(go, 'least', {})\n", True),
    "an attribute in the body of a class": ("class C:\n    go.least = {}\n", True),
    "an attribute in a method": ("class C:\n    def f(self):\n        self.least = {}\n", False),
    "a function": ("def g():\n    return {}\n", False),
}
REGISTRY = """
import functools
TABLE = {}
def kept(f):
    TABLE[f.__name__] = f
    return f
def plain(f):
    @functools.wraps(f)
    def g(*x):
        return f(*x)
    return g
@functools.singledispatch
def go(x):
    return x
"""


@pytest.mark.parametrize("side", SIDES)
def test_what_an_imported_module_changes_counts_and_what_it_defines_does_not(root, side):
    text, counts = SIDES[side]
    (root / "pack/registry.py").write_text(REGISTRY)
    told = []
    for value in (1, 2):
        head = "import functools\nfrom pack.registry import TABLE, go, kept, plain\n"
        (root / "pack/impl.py").write_text(head + text.format(value))
        told.append((digest(root, BARE), Definitions().acting([root / "pack/impl.py"])))
    assert (told[0][0] != told[1][0], told[0][1] != told[1][1]) == (counts, counts)
    assert bool(told[0][1]) == counts


MOVES = {
    "from import": ("from pack.{} import value\ndef f():\n    return value\n"),
    "module": ("from pack import {} as m\ndef f():\n    return m.value\n"),
    "late": ("def f():\n    from pack.{} import value\n    return value\n"),
    "a chain": ("from pack.{} import value as v\nother = v\ndef f():\n    return other\n"),
}


@pytest.mark.parametrize("way", MOVES)
def test_where_a_definition_lies_does_not_count_and_what_it_says_does(root, way):
    for name, least in (("one", 3), ("two", 3), ("three", 4)):
        (root / f"pack/{name}.py").write_text(f"import math\nvalue = math.sqrt({least})\n")
    one, two, three = (digest(root, MOVES[way].format(n)) for n in ("one", "two", "three"))
    assert one == two != three


def test_two_modules_that_exchange_what_they_import_are_another_thing(root):
    def told(*names):
        for module, name in zip(("left", "right"), names, strict=True):
            text = f"from pack.deep import {name} as bound\ndef f():\n    return bound\n"
            (root / f"pack/{module}.py").write_text(text)
        text = "from pack import left, right\ndef f():\n    return left.f() - right.f()\n"
        return digest(root, text)

    assert told("LEAST", "MOST") != told("MOST", "LEAST")


def test_definitions_that_use_one_another_count_with_what_they_use(root):
    text = "def f(n):\n    return g(n)\ndef g(n):\n    return h(n)\ndef h(n):\n    return f({})\n"
    assert digest(root, text.format("n")) != digest(root, text.format("n - 1"))
    assert digest(root, text.format("n")) == digest(root, "\n" + text.format("n"))
    assert digest(root, text.format("n")) != digest(root, text.format("n"), "g")


def test_what_is_imported_from_elsewhere_counts_by_its_name(root):
    text = "from math import {} as x\ndef f():\n    return x\n"
    assert digest(root, text.format("sqrt")) != digest(root, text.format("cbrt"))


def test_a_module_in_another_folder_on_the_path_counts_and_so_does_what_it_imports(
    tmp_path, root, monkeypatch
):
    libs = tmp_path / "libs"
    libs.mkdir()
    monkeypatch.syspath_prepend(str(libs))
    (libs / "outside_a.py").write_text("import outside_b\ndef k():\n    return outside_b.LEAST\n")
    (libs / "outside_b.py").write_text("LEAST = 0\nMOST = 1\n")
    text = "import outside_a\ndef f():\n    return outside_a.k()\n"
    before = digest(root, text)
    (libs / "outside_b.py").write_text("LEAST = 0\nMOST = 2\n")
    assert digest(root, text) == before
    (libs / "outside_b.py").write_text("LEAST = 5\nMOST = 2\n")
    assert digest(root, text) != before


@pytest.mark.parametrize("way", ["hides one of Python's own", "lies where modules are installed"])
def test_a_module_that_no_distribution_has_installed_counts(tmp_path, root, monkeypatch, way):
    libs = tmp_path / ("libs" if way.startswith("hides") else "site-packages")
    name = "tabnanny" if way.startswith("hides") else "outside_c"
    libs.mkdir()
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(libs))
    (libs / f"{name}.py").write_text("LEAST = 0\n")
    text = f"import {name} as m\ndef f():\n    return m.LEAST\n"
    before = digest(root, text)
    (libs / f"{name}.py").write_text("LEAST = 1\n")
    assert digest(root, text) != before


def test_a_proof_is_found_where_python_finds_it(tmp_path, root, monkeypatch):
    (tmp_path / "libs/lemmas").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "libs"))
    (tmp_path / "libs/lemmas/squares.py").write_text("")
    (root / "lemmas").mkdir()
    assert home_of("lemmas.squares", root) == tmp_path / "libs/lemmas/squares.py"
    assert home_of("lemmas.none", root) is None
    assert home_of("pack.deep", root) == root / "pack/deep.py"


def test_integers_of_any_length_count(root):
    before = digest(root, f"f = 0x1{5000 * '0'}\n")
    assert digest(root, f"f = 0x2{5000 * '0'}\n") != before


def test_of_an_installed_distribution_the_version_counts(root, monkeypatch):
    text = "import {} as m\ndef f():\n    return m.x\n"
    told = []
    for version in ("1.0", "2.0"):
        monkeypatch.setattr(importlib.metadata, "version", lambda _, v=version: v)
        installed.cache_clear()
        told.append([digest(root, text.format(name)) for name in ("pluggy", "numpy")])
    installed.cache_clear()
    assert told[0][0] != told[1][0]
    assert told[0][1] == told[1][1]  # attsvm requires it


def test_modules_in_folders_without_an_init_file_are_found_by_their_names(root):
    for name, text in {
        "space/claims.py": "from space.sub.helper import h\ndef f():\n    return h()\n",
        "space/sub/helper.py": "from space import deep\ndef h():\n    return deep.LEAST\n",
        "space/deep.py": "LEAST = 1\n",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    file = root / "space/claims.py"
    learn({"space.claims": file})
    assert base_of(file) == base_of(root / "space/sub/helper.py") == root
    before = Definitions().resting([Start(file, "f")])
    (root / "space/deep.py").write_text("LEAST = 2\n")
    assert Definitions().resting([Start(file, "f")]) != before


SAME = [
    "def f(x):\n    return x + 1\n",
    '"""A module."""\n\n\ndef f(x):\n    """Add."""\n    # one\n    return (x +\n            1)\n',
    "N = 3\n'''About N.'''\ndef f(x): return x + 1\n",
]


def test_comments_docstrings_layout_and_what_lies_beside_do_not_count(root):
    assert len({digest(root, text) for text in SAME}) == 1
    assert digest(root, SAME[0]) != digest(root, SAME[0].replace("1", "1.0"))
    assert digest(root, SAME[0]) != digest(root, SAME[0].replace("1", "True"))


def test_the_digest_of_a_file_is_that_of_what_it_says(tmp_path):
    def of(text, name="a.py"):
        (tmp_path / name).write_text(text)
        return whole(tmp_path / name)

    assert of(SAME[0]) == of('"""Words."""\n' + SAME[0])
    assert of(SAME[0]) != of("x = 1\n" + SAME[0])
    assert of("(") != of("((")  # what does not parse counts as text
    assert of("{}", "a.json") != of("{ }", "a.json")


def test_the_base_of_what_is_typed_within_a_package_is_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    assert base_of(Path("<stdin>")) == Path()


def test_the_code_base_of_a_file_ends_at_what_is_installed(root):
    start = root / "pack/start.py"
    start.write_text(
        "import os\nfrom attsvm import theory\nfrom pack import deep\nimport b.c\n"
        "from importlib import import_module\nimport_module('looked.up')\n"
    )
    needs = module_of(start).needs
    assert needs == {"os", "attsvm", "pack", "b", "importlib", "looked"}
    assert [top for top in sorted(needs) if followed(root, "pack", (top,))] == ["pack"]
    import numpy

    installed = Path(numpy.__file__).parents[1]
    assert followed(installed, "numpy", ("numpy",)) == installed
    assert followed(installed, "numpy", ("scipy",)) is None


def test_a_statement_is_found_by_any_of_its_lines(root):
    file = root / "pack/start.py"
    file.write_text("x = 1\n\n@wrap(\n    1,\n)\ndef f():\n    return 2\n")
    definitions = Definitions()
    assert {definitions.declaration(file, k) for k in (3, 4, 6, 7)} == {
        definitions.declaration(file, 5)
    }
    assert definitions.declaration(file, 2) is None
    assert definitions.declaration(file, 1) is not definitions.declaration(file, 3)

"""Digests follow every definition that is used by name, and nothing that only looks different."""

from pathlib import Path

import pytest

from attsvm.theory.declaration.code_bases import followed
from attsvm.theory.declaration.code_digests import Definitions, Start, module_of, whole

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


def test_modules_that_import_one_another_come_to_an_end(root):
    text = "from pack.cycle import f as g\ndef f():\n    return g()\n"
    before = digest(root, text)
    (root / "pack/circle.py").write_text(PACK["pack/circle.py"].replace("h()", "-h()"))
    assert digest(root, text) != before


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


def test_the_code_base_of_a_file_ends_at_what_is_installed(root):
    start = root / "pack/start.py"
    start.write_text(
        "import os\nfrom attsvm import theory\nfrom pack import deep\nimport b.c\n"
        "from importlib import import_module\nimport_module('looked.up')\n"
    )
    needs = module_of(start).needs
    assert needs == {"os", "attsvm", "pack", "b", "importlib", "looked"}
    assert [top for top in sorted(needs) if followed(root, "pack", top)] == ["pack"]
    import numpy

    installed = Path(numpy.__file__).parents[1]
    assert followed(installed, "numpy", "numpy") == installed
    assert followed(installed, "numpy", "scipy") is None


def test_a_statement_is_found_by_any_of_its_lines(root):
    file = root / "pack/start.py"
    file.write_text("x = 1\n\n@wrap(\n    1,\n)\ndef f():\n    return 2\n")
    definitions = Definitions()
    assert {definitions.declaration(file, k) for k in (3, 4, 6, 7)} == {
        definitions.declaration(file, 5)
    }
    assert definitions.declaration(file, 2) is None
    assert definitions.declaration(file, 1) is not definitions.declaration(file, 3)

"""Digests follow every module that is imported, and nothing that only looks different."""

import importlib.metadata
import shutil
import sys
from pathlib import Path

import pytest

from attsvm.theory import load_packs
from attsvm.theory.packs.code_bases import base_of, followed, home_of, installed
from attsvm.theory.packs.code_digests import Imports, digest_of_claim, homes, module_of, whole

PACK = {
    "pack/__init__.py": "",
    "pack/inner.py": "from pack import deep as far\nvalue = far.LEAST\n",
    "pack/deep.py": "LEAST = 3\n",
    "pack/star.py": "from pack.deep import *\n",
    "pack/cycle.py": "from pack import start, circle\n",
    "pack/circle.py": "from pack.cycle import f\nfrom pack.deep import LEAST\n",
    "pack/sub/__init__.py": "from pack import deep\n",
    "pack/sub/leaf.py": "",
    "pack/other.py": "import pack.deep\n",
    "pack/start.py": "",
}


@pytest.fixture
def root(tmp_path):
    for name, text in PACK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def digest(root, text=None):
    if text is not None:
        (root / "pack/start.py").write_text(text)
    return Imports().digest([root / "pack/start.py"])


USES = {
    "from import": "from pack.deep import LEAST\n",
    "renamed": "from pack.deep import LEAST as x\n",
    "module": "from pack import deep\n",
    "module renamed": "import pack.deep as d\n",
    "relative": "from .deep import LEAST\n",
    "relative module": "from . import deep\n",
    "through another": "from pack.inner import value\n",
    "star": "from pack.deep import *\n",
    "star of a star": "from pack.star import *\n",
    "in a circle": "import pack.cycle\n",
    "by the package of a module": "import pack.sub.leaf\n",
    "late": "def f():\n    from pack.deep import LEAST\n",
    "looked up": "from importlib import import_module\ndef f():\n    import_module('pack.deep')\n",
    "guarded": "try:\n    import pack.deep\nexcept ImportError:\n    pass\n",
    "in an else": "for x in ():\n    pass\nelse:\n    import pack.deep\n",
    "in a finally": "try:\n    pass\nfinally:\n    import pack.deep\n",
    "in a case": "match 1:\n    case 1:\n        import pack.deep\n",
}


@pytest.mark.parametrize("use", USES)
def test_a_module_counts_however_it_is_imported(root, use):
    before = digest(root, USES[use])
    (root / "pack/deep.py").write_text("LEAST = 5\n")
    assert digest(root) != before


def test_what_a_module_looks_up_at_run_time_counts_with_it(root):
    text = "import pack.inner\ndef f(name):\n    return getattr(pack.inner, name)\n"
    before = digest(root, text)
    (root / "pack/inner.py").write_text(PACK["pack/inner.py"] + "other = 1\n")
    assert digest(root) != before


def test_a_module_that_is_not_imported_does_not_count(root):
    before = digest(root, "from pack import inner\n")
    (root / "pack/other.py").write_text("import pack.deep\nx = 1\n")
    assert digest(root) == before


def test_a_package_counts_whose_module_is_imported(root):
    before = digest(root, "import pack.sub.leaf\n")
    (root / "pack/sub/__init__.py").write_text("from pack import deep\nx = 1\n")
    assert digest(root) != before
    before = digest(root)
    (root / "pack/__init__.py").write_text("x = 1\n")
    assert digest(root) != before


def test_it_is_the_same_in_another_folder_and_another_with_other_words(root):
    before = digest(root, USES["through another"])
    shutil.copytree(root, root / "there")
    assert digest(root / "there") == before
    files = [root / "pack/start.py"]
    assert len({Imports().digest(files, *w) for w in ((), ("a",), ("a", "b"), ("a", "c"))}) == 4


SAME = [
    "def f(x):\n    return x + 1\n",
    '"""A module."""\n\n\ndef f(x):\n    """Add."""\n    # one\n    return (x +\n            1)\n',
    "'''About f.'''\r\ndef f(x): return x + 1\r\n",
]
OTHER = ["1.0", "True", "2", "-1", "x", "0x1" + 5000 * "0", "0x2" + 5000 * "0"]


def test_comments_docstrings_layout_and_line_ends_do_not_count(root):
    told = {digest(root, text) for text in SAME}
    assert len(told) == 1
    others = {digest(root, SAME[0].replace("1", word)) for word in OTHER}
    assert len(others | told) == len(OTHER) + 1


def test_the_digest_of_a_file_is_that_of_what_it_says(tmp_path):
    def of(text, name="a.py"):
        (tmp_path / name).write_text(text)
        return whole(tmp_path / name)

    assert of(SAME[0]) == of('"""Words."""\n' + SAME[0])
    assert of(SAME[0]) != of("x = 1\n" + SAME[0])
    assert of("(") != of("((")  # what does not parse counts as text
    assert of("{}", "a.json") != of("{ }", "a.json")


@pytest.fixture
def libs(tmp_path, monkeypatch):
    """Another folder on the path."""
    (tmp_path / "libs").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "libs"))
    return tmp_path / "libs"


def test_a_module_in_another_folder_on_the_path_counts_and_so_does_what_it_imports(root, libs):
    (libs / "outside_a.py").write_text("import outside_b\n")
    (libs / "outside_b.py").write_text("LEAST = 0\n")
    before = digest(root, "import outside_a\n")
    (libs / "outside_b.py").write_text("LEAST = 5\n")
    assert digest(root) != before


@pytest.mark.parametrize("way", ["hides one of Python's own", "lies where modules are installed"])
def test_a_module_that_no_distribution_has_installed_counts(tmp_path, root, monkeypatch, way):
    libs = tmp_path / ("libs" if way.startswith("hides") else "site-packages")
    name = "tabnanny" if way.startswith("hides") else "outside_c"
    libs.mkdir()
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(libs))
    (libs / f"{name}.py").write_text("LEAST = 0\n")
    before = digest(root, f"import {name}\n")
    (libs / f"{name}.py").write_text("LEAST = 1\n")
    assert digest(root) != before


def test_a_proof_is_found_where_python_finds_it_and_counts(root, libs):
    (libs / "lemmas").mkdir()
    proof = libs / "lemmas/squares.py"
    proof.write_text("")
    (root / "lemmas").mkdir()
    assert home_of("lemmas.squares", root) == proof
    assert home_of("lemmas.none", root) is None
    assert home_of("pack.deep", root) == root / "pack/deep.py"
    files = homes(root / "pack/start.py", "lemmas.squares:prove")
    before = Imports().digest(files)
    proof.write_text("x = 1\n")
    assert Imports().digest(files) != before
    assert homes(root / "pack/start.py", None) == files[:1]


def test_of_an_installed_distribution_the_version_counts(root, monkeypatch):
    told = []
    for version in ("1.0", "2.0"):
        monkeypatch.setattr(importlib.metadata, "version", lambda _, v=version: v)
        installed.cache_clear()
        told.append([digest(root, f"import {name}\n") for name in ("pluggy", "numpy")])
    installed.cache_clear()
    assert told[0][0] != told[1][0]
    assert told[0][1] == told[1][1]  # attsvm requires it


def test_modules_in_folders_without_an_init_file_count(root, monkeypatch):
    monkeypatch.syspath_prepend(root)
    for name, text in {
        "space/claims.py": "from space.sub.helper import h\n",
        "space/sub/helper.py": "from space import deep\n",
        "space/deep.py": "LEAST = 1\n",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    file = root / "space/claims.py"
    before = Imports().digest([file])
    (root / "space/deep.py").write_text("LEAST = 2\n")
    assert Imports().digest([file]) != before


def test_the_base_of_what_is_typed_within_a_package_is_the_working_folder(here):
    (here / "__init__.py").touch()
    assert base_of(Path("<stdin>")) == Path()
    assert Imports().digest([Path("<stdin>")]) == Imports().digest([Path("<stdin>")])


def test_the_code_base_of_a_file_ends_at_what_is_installed(root):
    start = root / "pack/start.py"
    start.write_text(
        "import os\nfrom attsvm import theory\nfrom pack import deep\nimport b.c\n"
        "from importlib import import_module\nimport_module('looked.up')\n"
    )
    needs = {dotted[0] for dotted in module_of(start).imported}
    assert needs == {"os", "attsvm", "pack", "b", "importlib", "looked"}
    assert [top for top in sorted(needs) if followed(root, "pack", (top,))] == ["pack"]
    import numpy

    base = Path(numpy.__file__).parents[1]
    assert followed(base, "numpy", ("numpy",)) == base
    assert followed(base, "numpy", ("scipy",)) is None


def test_of_attsvm_the_modules_of_hypotheses_count_and_no_others(root):
    (root / "pack/start.py").write_text(
        "from attsvm.exact import rational\nfrom attsvm.primitives.descent import Descent\n"
    )
    modules, _ = Imports().reached([root / "pack/start.py"])
    shown = {module.shown for module in modules.values() if module.top == "attsvm"}
    assert {"attsvm/primitives/descent.py", "attsvm/primitives/steps.py"} <= shown
    assert {name.rpartition("/")[0] for name in shown} == {"attsvm", "attsvm/primitives"}


def test_shipped_claims_rest_on_what_their_statements_and_proofs_import():
    (pack,) = load_packs()
    claim = next(c for c in pack.claims if c.statement_id == "sim/lemma-3.11" and c.proof)
    names = {file.name for file in Imports().reached(homes(claim.file, claim.proof))[0]}
    assert {"entry_loss.py", "lemma_3_11.py"} <= names
    assert claim.proof is not None
    assert claim.proof.partition(":")[0].rpartition(".")[2] + ".py" in names
    imports = Imports()
    prints = [digest_of_claim(c, imports) for c in pack.claims]
    assert len(set(prints)) == len(prints)
    assert prints[0] == digest_of_claim(pack.claims[0])

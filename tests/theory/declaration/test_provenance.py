"""The fingerprint follows the code that a claim rests on, in its own pack, and nothing else."""

import shutil

import pytest

from attsvm.theory import load_packs
from attsvm.theory.declaration.code_digests import fingerprint, sources

FILES = {
    "pack/__init__.py": "",
    "pack/base.py": "x = 1\n",
    "pack/deep/__init__.py": "",
    "pack/deep/claims.py": "import numpy\nfrom attsvm.theory import Statement\n"
    "from pack.helper import h\nfrom . import near\nfrom ..far import f\nimport beside\n",
    "pack/deep/near.py": "def lazy():\n    from pack.deep import claims, later\n",
    "pack/deep/later.py": "this is no Python",
    "pack/far.py": "from pack import base\n",
    "pack/helper.py": "from ... import nothing\nfrom pack.helper import h\n",
    "pack/other.py": "import pack.base\n",
    "beside.py": "",
}
USED = [
    *("pack/__init__.py", "pack/base.py", "pack/deep/__init__.py", "pack/deep/claims.py"),
    *("pack/deep/later.py", "pack/deep/near.py", "pack/far.py", "pack/helper.py"),
]


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "a" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / name).write_text(text)
    return tmp_path / "a"


def of(root, statement="s"):
    return fingerprint("toy/a:literal", statement, root / "pack/deep/claims.py")


def test_the_sources_are_all_modules_of_the_pack_that_are_imported_anywhere(root):
    found = sources(root / "pack/deep/claims.py")
    assert [f.relative_to(root).as_posix() for f in found] == USED


@pytest.mark.parametrize("name", FILES)
def test_the_fingerprint_changes_with_every_source_and_with_nothing_else(root, name):
    before = of(root)
    (root / name).write_text(FILES[name] + "# changed\n")
    assert (of(root) != before) == (name in USED)
    (root / name).write_text(FILES[name])
    assert of(root) == before


@pytest.mark.parametrize(
    "text",
    [
        "if x:\n    pass\nelif y:\n    pass\nelse:\n    {}\n",
        "try:\n    {}\nfinally:\n    pass\n",
        "try:\n    pass\nexcept OSError:\n    {}\n",
        "try:\n    pass\nexcept* OSError:\n    pass\nelse:\n    {}\nfinally:\n    pass\n",
        "try:\n    pass\nfinally:\n    {}\n",
        "class A:\n    async def f(self):\n        async with a:\n            {}\n",
        "for x in y:\n    while x:\n        {}\n",
        "for x in y:\n    pass\nelse:\n    {}\n",
        "match x:\n    case 1:\n        pass\n    case _:\n        {}\n",
        "with x: {}\n",
    ],
)
def test_an_import_is_found_wherever_a_statement_may_be(root, text):
    (root / "beside.py").write_text("x = 1\n")
    (root / "loose.py").write_text(text.format("import beside"))
    assert [f.name for f in sources(root / "loose.py")] == ["beside.py", "loose.py"]


def test_the_fingerprint_is_the_same_in_another_folder_and_with_other_line_ends(root):
    before = of(root)
    shutil.copytree(root, root.parent / "b" / "c")
    moved = root.parent / "b" / "c"
    assert of(moved) == before
    (moved / "pack/far.py").write_bytes(b"from pack import base\r\n")
    assert of(moved) == before
    assert of(moved, "t") != before


def test_a_loose_file_rests_on_the_files_beside_it(root):
    (root / "loose.py").write_text("import beside\nimport json\n")
    assert [f.name for f in sources(root / "loose.py")] == ["beside.py", "loose.py"]
    assert sources(root / "beside.py") == (root / "beside.py",)


def test_a_file_that_is_gone_has_a_fingerprint(root):
    assert fingerprint("toy/a:literal", "s", "?") == fingerprint("toy/a:literal", "s", "?")


def test_shipped_claims_rest_on_their_helpers():
    (pack,) = load_packs()
    (file,) = {c.file for c in pack.claims if c.statement_id == "sim/lemma-3.11"}
    names = {f.name for f in sources(file)}
    assert {"entry_loss.py", "lemma_3_11.py"} <= names
    assert "theorem_3_15.py" not in names
    prints = [c.fingerprint for c in pack.claims]
    assert len(set(prints)) == len(prints)

"""Packs are found and named, and ids are unique across them."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import setuptools
import toy_pack

from attsvm.errors import ClaimError, UnknownClaimError
from attsvm.sources import CLAIMS, PACKAGES, full_name
from attsvm.theory import load_packs
from attsvm.theory.packs import known_packs
from attsvm.theory.packs.known_packs import known_sources
from attsvm.theory.packs.packs import find_claims

PACK = str(Path(toy_pack.__file__))
ROOT = Path(__file__).parents[3]
CLAIM = """
from flint import arb
from hypothesis import strategies as st
from attsvm.theory import Measured, Reading, Records, Slack, Statement, changed

def slack(x: float, k: float = 0.0) -> Slack:
    return Slack(-k, 0.0)

CLAIM = Statement(
    "{statement}", source="s", place="p", printed="t", variables=Records(float, st.just(0.0)),
    conclusion=Measured("t", floats=slack, balls=lambda x, k=0.0: arb(1)),
    readings={{"literal": Reading("holds", depends_on={needs!r},
        siblings={{"a": changed(k=1.0), "b": changed(k=2.0)}})}})
"""


def pack(tmp_path, name, id, needs=()):
    path = tmp_path / f"{name}.py"
    path.write_text(CLAIM.format(statement=id.removesuffix(":literal"), needs=tuple(needs)))
    return str(path)


def ids(packs):
    return [c.id for c in find_claims(packs)]


def test_the_repository_is_a_pack_of_its_own():
    (shipped,) = load_packs()
    assert shipped.name == "properties"
    assert shipped.expectations == ROOT / "properties" / "expectations.json"
    assert [c.id for c in shipped.claims] == sorted(c.id for c in shipped.claims)


def test_a_pack_is_named_by_path_beside_the_installed_ones(tmp_path):
    path = pack(tmp_path, "mine", "mine/a:literal")
    shipped, mine = load_packs([path])
    assert shipped == load_packs()[0]
    assert [c.id for c in mine.claims] == ["mine/a:literal"]
    assert mine.expectations == tmp_path / "expectations.json"


def test_a_pack_is_named_by_module(on_path):
    pack(on_path, "named_by_module", "mine/b:literal")
    assert "mine/b:literal" in ids(load_packs(["named_by_module"]))


def test_every_module_of_a_package_is_looked_through(on_path):
    (on_path / "packaged" / "inner").mkdir(parents=True)
    for folder in ("packaged", "packaged/inner"):
        (on_path / folder / "__init__.py").write_text("")
    pack(on_path / "packaged" / "inner", "deep", "mine/c:literal")
    assert "mine/c:literal" in ids(load_packs(["packaged"]))


def test_a_pack_that_is_named_twice_counts_once(tmp_path):
    path = pack(tmp_path, "twice", "mine/d:literal")
    assert ids(load_packs([path, path])).count("mine/d:literal") == 1
    assert ids(load_packs(["properties"])) == ids(load_packs())


def test_a_file_of_an_installed_pack_that_is_named_counts_once():
    named = load_packs([str(ROOT / "properties" / "sim" / "lemma_3_12.py")])
    assert ids(named) == ids(load_packs())


def test_an_id_of_two_files_is_refused_with_both(tmp_path):
    paths = [pack(tmp_path, name, "mine/e:literal") for name in ("left", "right")]
    with pytest.raises(ClaimError, match="two claims have the id mine/e:literal") as caught:
        load_packs(paths)
    assert "right.py" in str(caught.value)
    assert "left.py" in str(caught.value)


def test_an_id_that_one_function_gives_in_two_packs_is_refused(on_path):
    """Both are made in the same line; one of them would go unchecked."""
    head, body = CLAIM.format(statement="mine/made", needs=()).split("CLAIM = ")
    body = body.strip().replace("\n", "\n    ").replace("Reading(", "Reading(says=said, expected=")
    text = f"{head}\ndef made(said):\n    return {body}\n"
    assert "says=said" in text
    (on_path / "factory.py").write_text(text)
    for name in ("one", "other"):
        (on_path / f"{name}.py").write_text(f"from factory import made\nCLAIM = made({name!r})\n")
    paths = [str(on_path / f"{name}.py") for name in ("one", "other")]
    assert ids(load_packs([paths[0], paths[0]])).count("mine/made:literal") == 1
    with pytest.raises(ClaimError, match="two claims have the id mine/made:literal"):
        load_packs(paths)


def test_an_id_twice_in_one_pack_is_refused(tmp_path):
    path = tmp_path / "double.py"
    one = CLAIM.format(statement="mine/f", needs=())
    path.write_text(one + one.replace("CLAIM =", "OTHER ="))
    with pytest.raises(ClaimError, match="two claims have the id mine/f:literal"):
        load_packs([str(path)])


def test_a_claim_may_depend_on_one_of_another_pack(tmp_path):
    path = pack(tmp_path, "needy", "mine/g:literal", ["sim/lemma-3.12:sharp"])
    assert "mine/g:literal" in ids(load_packs([path]))


@pytest.mark.parametrize("content", ["1 / 0", "def broken(:", "raise SystemError"])
def test_a_file_that_cannot_be_loaded_is_a_claim_error_every_time(tmp_path, content):
    path = tmp_path / "broken.py"
    path.write_text(content)
    for _ in range(2):
        with pytest.raises(ClaimError, match="cannot be loaded"):
            load_packs([str(path)])


@pytest.mark.parametrize(
    ("content", "said", "line"),
    [
        ("import math\nx = Tru\n", "NameError: name 'Tru' is not defined", 2),
        ("import math\n\nmath.sqrt(-1)\n", "ValueError: ", 3),
        ("x = 1\ndef broken(:\n", "SyntaxError: ", 2),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", 1),
    ],
)
def test_an_error_in_a_module_of_a_package_names_its_line(here, on_path, content, said, line):
    package = here / f"bounds_{len(content)}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "entropy.py").write_text(content)
    with pytest.raises(ClaimError) as caught:
        load_packs([package.name])
    text, module = str(caught.value), f"{package.name}.entropy"
    assert text.startswith(f"claim pack {module} cannot be imported: {said}")
    assert text.endswith(
        f" ({package.name}/entropy.py, line {line}). Correct that line; "
        f"`python -c 'import {module}'` shows the whole traceback."
    )


def test_a_file_without_claims_is_no_pack(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n")
    with pytest.raises(ClaimError, match="holds no claim"):
        load_packs([str(path)])


@pytest.mark.parametrize("name", ["nowhere.py", "no_such_module", "no.such.module", ""])
def test_a_pack_that_is_not_there_is_a_claim_error(name):
    with pytest.raises(ClaimError):
        load_packs([name])


def test_claims_that_several_words_name_are_found_once_and_in_order():
    found = find_claims(load_packs([PACK]), ["toy/true", "toy/tie:literal", "toy/tie:"])
    assert [c.id for c in found] == ["toy/tie:literal", "toy/true:literal"]


def test_a_source_names_all_its_claims():
    packs = load_packs([PACK])
    toys = [c for c in find_claims(packs) if c.id.startswith("toy/")]
    assert len(toys) > 2
    assert list(find_claims(packs, ["toy/"])) == list(find_claims(packs, ["toy"])) == toys


def test_a_word_that_is_near_to_no_id_leads_to_the_list():
    with pytest.raises(UnknownClaimError, match="`attsvm claims` lists them"):
        find_claims(load_packs([PACK]), ["@@@@"])


LISTED = """
[tool.attsvm]
packs = ["own_claims"]
"""


def test_a_project_lists_its_own_packs(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(LISTED)
    pack(tmp_path, "own_claims", "mine/own:literal")
    assert "mine/own:literal" not in {c.id for p in load_packs() for c in p.claims}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert "mine/own:literal" in {c.id for p in load_packs() for c in p.claims}


@pytest.mark.parametrize("start", [["-m", "attsvm"], ["-P", "-m", "attsvm"]], ids=["-m", "script"])
@pytest.mark.parametrize("words", [[], ["--only-pack", "properties"]], ids=["all", "only"])
def test_a_project_at_hand_goes_before_a_checkout_whose_pack_has_the_same_name(
    tmp_path, start, words
):
    """Python's -P leaves the current folder out of the path, as the script `attsvm` does."""
    (tmp_path / "pyproject.toml").write_text(LISTED.replace("own_claims", "properties"))
    (tmp_path / "properties").mkdir()
    pack(tmp_path, "properties/__init__", "mine/own:literal")
    done = subprocess.run(
        [sys.executable, *start, "claims", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "mine/own:literal" in done.stdout
    assert "sim/lemma-3.12" not in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        *("[tool.attsvm", "[tool.attsvm]\npacks = 3", "tool = 3", "tool = [{attsvm = 1}]"),
        "x = " + "[" * 10_000 + "]" * 10_000,
    ],
    ids=["cut", "a number", "no table", "a list", "deep"],
)
def test_a_project_that_lists_something_else_is_an_error(here, text):
    (here / "pyproject.toml").write_text(text)
    with pytest.raises(ClaimError, match=r"pyproject\.toml"):
        load_packs()


@pytest.mark.parametrize("name", ["a\0.py", "", ".", "a..b", "../a", "a b", "one:CLAIM", "\x1b[2J"])
def test_what_can_name_no_pack_is_refused_before_anything_is_imported(name):
    with pytest.raises(ClaimError, match="no claim pack can have that name") as caught:
        load_packs([name])
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("content", [b"[attsvm.claims]\none\n", b"[attsvm.claims]\none = \xff\n"])
def test_entry_points_that_cannot_be_read_are_an_error_that_names_them(on_path, content):
    folder = on_path / "damaged-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: damaged\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_bytes(content)
    with pytest.raises(ClaimError, match="the entry points of the distribution damaged"):
        load_packs()


def test_a_wheel_holds_the_package_alone():
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    names = setuptools.find_packages(str(ROOT), include=found["find"]["include"])
    assert {name.partition(".")[0] for name in names} == {"attsvm"}
    assert "attsvm.theory.arithmetic" in names


def test_carried_claims_are_known_everywhere_but_in_a_checkout_of_attsvm(monkeypatch, here):
    assert CLAIMS not in known_sources()  # this one carries none
    monkeypatch.setattr(known_packs, "is_carried", lambda: True)
    assert CLAIMS in known_sources()
    (here / "pyproject.toml").write_text('[project]\nname = "mine"\nversion = "1"\n')
    assert CLAIMS in known_sources()
    monkeypatch.chdir(ROOT)
    assert CLAIMS not in known_sources()


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_those_of_carried_packages_in_their_files_alone(package):
    carried, own = ROOT / "attsvm/sources/properties/sim/a.py", ROOT / "properties/sim/a.py"
    assert full_name(f"{package}.sim.a", carried) == f"attsvm.sources.{package}.sim.a"
    assert full_name(f"{package}.sim.a", own) == f"{package}.sim.a"
    assert full_name(f"{package}_of_others", carried) == f"{package}_of_others"


def test_a_package_of_the_current_folder_can_be_named(monkeypatch, here):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (here / "not_on_the_path").mkdir()
    claim = pack(here, "not_on_the_path/__init__", "own/one:literal")
    (found,) = load_packs(only=["not_on_the_path"])
    assert ([c.id for c in found.claims], found.folder) == (["own/one:literal"], Path(claim).parent)
    del sys.modules["not_on_the_path"]

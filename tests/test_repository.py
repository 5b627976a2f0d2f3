"""The example of a repository: built and installed as its users would, its gate is green, then red.

Both wheels are installed away from the checkout, and commands run there: the libraries are those of
this environment, attsvm and the pack are not.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_examples import PACKS

ROOT = Path(__file__).parents[1]
PACK = ROOT / "examples/repository"
PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "1.0.0"

[project.entry-points."attsvm.claims"]
{name} = "{name}"

[tool.setuptools]
py-modules = ["{name}"]
"""
IGNORED = shutil.ignore_patterns("__pycache__", ".attsvm", "build", "*.egg-info")


def pip(*words):
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", *words[:1], *quiet, *words[1:]], check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folders with attsvm and the examples, and with the pack, each from its own wheel."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(PACK, folder / "pack", ignore=IGNORED)
    (folder / "engine").mkdir()
    shutil.copytree(ROOT / "attsvm", folder / "engine/attsvm", ignore=IGNORED)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, folder / "engine")
    for name in PACKS:
        (folder / name).mkdir()
        shutil.copy2(ROOT / f"examples/{name}.py", folder / name)
        (folder / name / "pyproject.toml").write_text(PROJECT.format(name=name))
    sources = [str(folder / name) for name in ("engine", "pack", *PACKS)]
    pip("wheel", "--no-build-isolation", "-w", str(folder / "wheels"), *sources)
    (pack,) = (folder / "wheels").glob("softmax_bounds-*")
    others = [str(wheel) for wheel in (folder / "wheels").iterdir() if wheel != pack]
    pip("install", "--no-compile", "--target", str(folder / "site"), *others)
    pip("install", "--no-compile", "--target", str(folder / "claims"), str(pack))
    return folder / "site", folder / "claims"


@pytest.fixture
def attsvm(installed, tmp_path):
    """Run a command with both of them installed, the pack in a copy that a test may edit."""
    site, claims = installed
    own = shutil.copytree(claims, tmp_path / "claims")
    (tmp_path / "empty").mkdir()

    def run(*words, at="empty"):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "attsvm", *words],  # like the script, it skips the folder
            cwd=tmp_path / at,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(own), str(site)))},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    run.pack = own / "softmax_bounds"
    return run


def edit(name, old, new):
    """A change of one file of the pack."""

    def change(pack):
        text = (pack / name).read_text()
        assert text.count(old) == 1
        (pack / name).write_text(text.replace(old, new))

    return change


def vanish(pack):
    """The curated counterexample is gone."""
    (pack / "counterexamples/bounds--lemma-1--literal.json").unlink()


def test_the_gate_of_the_repository_is_green(attsvm):
    code, out, error = attsvm("verify", "--only-pack", "softmax_bounds")
    assert code == 0, error
    assert "1 curated counterexample replayed: all confirmed\n3 claims on " in out
    assert attsvm("gate", "--only-pack", "softmax_bounds") == (
        0,
        "gate: 3 verdicts as reviewed\n",
        "",
    )
    _, out, _ = attsvm("claims", "bounds/")  # found by its entry point
    assert out.count("\nbounds/lemma-") == 3


@pytest.mark.parametrize("name", PACKS)
def test_an_example_pack_that_is_installed_is_found_by_its_entry_point(attsvm, name):
    prefix, number, _ = PACKS[name]
    code, out, error = attsvm("claims", prefix)
    assert (code, out.count(f"\n{prefix}")) == (0, number), error
    code, out, error = attsvm("verify", "--only-pack", name)
    assert code == 0, error
    assert f"\n{number} claim{'s' * (number > 1)} on " in out
    assert "every verdict as expected" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            edit("lemma_1.py", 'constants={"k": 2}', 'constants={"k": 3}'),
            "bounds/lemma-1:amended: holds -> refuted",
        ),
        (
            edit("lemma_1.py", '"softmax is 1/4-Lipschitz"', '"softmax is Lipschitz"'),
            "bounds/lemma-1:literal: statement edited",
        ),
        (
            lambda pack: (pack / "lemma_2.py").write_text('"""Nothing."""\n'),
            "bounds: 1 of 3 reviewed claims is not part of the run, the first "
            "bounds/lemma-2:literal\n"
            "bounds/lemma-2:literal: reviewed, but the claim is not there any more\n",
        ),
        (edit("proofs.py", "t * (1 - t)", "t * (2 - t)"), "bounds/lemma-2:literal: proved ->"),
        (vanish, "bounds/lemma-1:literal: curated counterexample deleted"),
    ],
    ids=["verdict", "text", "claim", "proof", "counterexample"],
)
def test_the_gate_is_red(attsvm, change, said):
    change(attsvm.pack)
    attsvm("verify", "--only-pack", "softmax_bounds")
    code, out, error = attsvm("gate", "--only-pack", "softmax_bounds")
    assert code == 1
    assert said in out + error


@pytest.mark.parametrize("lists", [True, False], ids=["lists its pack", "lists none"])
def test_in_its_folder_the_files_of_a_repository_count_and_not_the_installed_ones(
    attsvm, tmp_path, lists
):
    here = shutil.copytree(PACK, tmp_path / "here", ignore=IGNORED)
    listed = ("claims", "--only-pack", "softmax_bounds", "bounds/lemma-1:literal")
    if not lists:
        (here / "pyproject.toml").write_text("")
        assert attsvm(*listed, at=here)[0] == 0  # both are the same
    edit("lemma_1.py", '"softmax is 1/4-Lipschitz"', '"softmax is Lipschitz"')(attsvm.pack)
    code, out, error = attsvm(*listed, at=here)
    if lists:
        assert (code, "softmax is 1/4-Lipschitz" in out) == (0, True), error
    else:
        assert code == 2
        assert "the pack softmax_bounds that is installed differs from the one in this" in error


def test_what_the_readme_and_the_workflow_run_are_these_commands():
    for name in ("README.md", ".github/workflows/theory.yml"):
        text = (PACK / name).read_text()
        for command in ("pip install .", "verify --only-pack", "gate --only-pack softmax_bounds"):
            assert command in text

"""The example repository, built and installed as users do: its gate passes, then fails.

Commands run away from the checkout, on its wheel and a copy of attsvm. Only the other libraries are
those of this environment.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
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
name = "examples-of-attsvm"
version = "1.0.0"

[project.entry-points."attsvm.claims"]
{points}

[tool.setuptools]
py-modules = {names}
"""
IGNORED = shutil.ignore_patterns("__pycache__", ".attsvm", "build", "*.egg-info")


COPIES = """
import json, os, sys
import scipy.optimize, sympy
import attsvm._live, attsvm.cli.gate, attsvm.cli.verify
import attsvm.theory.search, attsvm.theory.verification.verify, attsvm.theory.gate.gate
from attsvm.cli.__main__ import run
attsvm._live._SILENT = float("inf")  # how fast a machine is changes no output
for line in sys.stdin:
    place, at, words = json.loads(line)
    if (child := os.fork()) == 0:
        sys.path.insert(0, place)
        with open("out", "w") as sys.stdout, open("err", "w") as sys.stderr:
            os.chdir(at)
            sys.argv[1:] = words
            run()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that runs commands in copies of itself, each with one more place of packs."""


BUILD = """
import os, sys
import setuptools.build_meta
for name in sys.argv[1:]:
    if (child := os.fork()) == 0:
        os.chdir(name)
        sys.stdout = open(os.devnull, "w")
        setuptools.build_meta.build_wheel("../wheels")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""
"""What pip has done for every folder that it builds a wheel of, in a copy of one process each."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Folders with attsvm and the examples, and with the pack, both packs from their wheels."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(PACK, folder / "pack", ignore=IGNORED)
    compiled = shutil.ignore_patterns("*.nb[ci]")  # kernels, which no pack here needs
    shutil.copytree(ROOT / "attsvm", folder / "site-packages/attsvm", ignore=compiled)
    (folder / "examples").mkdir()
    for name in PACKS:
        shutil.copy2(ROOT / f"examples/{name}.py", folder / "examples")
    points = "\n".join(f'{name} = "{name}"' for name in PACKS)
    project = PROJECT.format(points=points, names=json.dumps([*PACKS]))
    (folder / "examples/pyproject.toml").write_text(project)
    subprocess.run([sys.executable, "-c", BUILD, "pack", "examples"], cwd=folder, check=True)
    wheels = sorted((folder / "wheels").iterdir())
    assert len(wheels) == 2
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            name = "claims" if wheel.name.startswith("softmax_bounds-") else "site-packages"
            archive.extractall(folder / name)
    return folder / "site-packages", folder / "claims"


@pytest.fixture(scope="module")
def copies(installed, tmp_path_factory):
    """A process with attsvm installed, which imports it once; and the folder that it runs in."""
    folder = tmp_path_factory.mktemp("empty")
    with subprocess.Popen(
        [sys.executable, "-P", "-c", COPIES],  # like the script, it skips the folder
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed[0])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process, folder
        process.stdin.close()


@pytest.fixture
def attsvm(installed, copies, tmp_path):
    """Run a command with both of them installed, the pack in a copy that a test may edit."""
    own = shutil.copytree(installed[1], tmp_path / "claims")
    process, folder = copies
    shutil.rmtree(folder / ".attsvm", ignore_errors=True)

    def run(*words, at="."):
        process.stdin.write(json.dumps([str(own), str(at), words]) + "\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        return code, (folder / "out").read_text(), (folder / "err").read_text()

    run.pack = own / "softmax_bounds"
    return run


@pytest.fixture
def anew(installed, tmp_path):
    """The same in a process that begins with the command."""
    own = shutil.copytree(installed[1], tmp_path / "anew")

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "attsvm", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(own), str(installed[0])))},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

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


def test_the_gate_of_the_repository_is_green(attsvm, anew):
    code, out, error = attsvm("verify", "--only-pack", "softmax_bounds")
    assert code == 0, error
    assert "1 curated counterexample replayed: all confirmed\n3 claims on " in out
    assert attsvm("gate", "--only-pack", "softmax_bounds") == (
        0,
        "gate: 3 verdicts as reviewed\n",
        "",
    )
    _, out, _ = anew("claims", "bounds/")  # found by its entry point
    assert out.count("\nbounds/lemma-") == 3


def test_example_packs_that_are_installed_are_found_by_their_entry_points(attsvm):
    code, out, error = attsvm("claims", *(prefix for prefix, _, _ in PACKS.values()))
    found = {prefix: out.count(f"\n{prefix}") for prefix, _, _ in PACKS.values()}
    assert code == 0, error
    assert found == {prefix: number for prefix, number, _ in PACKS.values()}


RED = {
    "a claim is gone, a verdict and a text are others, a counterexample is deleted": (
        ["bounds/lemma-1"],
        [
            edit("lemma_1.py", 'constants={"k": 2}', 'constants={"k": 3}'),
            edit("lemma_1.py", 'constants={"k": 4}', 'constants={"k": 3}'),
            lambda pack: (pack / "lemma_2.py").write_text('"""Nothing."""\n'),
            vanish,
        ],
        [
            "bounds/lemma-1:amended: holds -> refuted",
            "bounds/lemma-1:literal: statement edited",
            "bounds: 1 of 3 reviewed claims is not part of the run, the first "
            "bounds/lemma-2:literal\n"
            "bounds/lemma-2:literal: reviewed, but the claim no longer exists\n",
            "bounds/lemma-1:literal: curated counterexample deleted",
        ],
    ),
    "a proof is wrong": (
        ["bounds/lemma-2"],
        [edit("proofs.py", "(1 - e) ** 2", "(2 - e) ** 2")],
        ["bounds/lemma-2:literal: proved ->"],
    ),
}


@pytest.mark.parametrize("name", RED)
def test_the_gate_is_red_for_each_reason(attsvm, name):
    checked, changes, reasons = RED[name]
    for change in changes:
        change(attsvm.pack)
    attsvm("verify", "--only-pack", "softmax_bounds", *checked)
    code, out, error = attsvm("gate", "--only-pack", "softmax_bounds")
    assert code == 1
    for said in reasons:
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
    edit("lemma_1.py", 'constants={"k": 4}', 'constants={"k": 3}')(attsvm.pack)
    code, out, error = attsvm(*listed, at=here)
    if lists:
        assert (code, "||s - t||/4" in out) == (0, True), error
    else:
        assert code == 2
        assert "the pack softmax_bounds that is installed differs from the one in this" in error


def test_what_the_readme_and_the_workflow_run_are_these_commands():
    for name in ("README.md", ".github/workflows/theory.yml"):
        text = (PACK / name).read_text()
        for command in ("pip install .", "verify --only-pack", "gate --only-pack softmax_bounds"):
            assert command in text

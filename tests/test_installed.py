"""Distributions contain the claims of the three sources, and only attsvm at the top level.

A source distribution is built from a copy of the checkout and installed by pip. Commands run in an
empty folder, and beside a user's own packages called `properties` and `symbolic`.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attsvm import sources
from attsvm.theory.packs.code_digests import digest_of_claim
from attsvm.theory.packs.packs import find_claims, load_packs

ROOT = Path(__file__).parents[1]
IGNORED = shutil.ignore_patterns("__pycache__", ".attsvm")
FILES = ("LICENSE", "MANIFEST.in", "README.md", "constraints.txt", "pyproject.toml", "setup.py")
CLAIM = "sim/lemma-3.12:sharp"  # proved, and checked in a moment
FALSE = "tf/softmax-range:literal-2"  # and this one falls in a moment

BUILD = """
import setuptools.build_meta
setuptools.build_meta.build_sdist("..")
"""

RUN = """
import contextlib, io, json, sys
from attsvm.cli import main
from attsvm.theory.packs.code_digests import digest_of_claim
from attsvm.theory.packs.packs import find_claims, load_packs
told = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(words)
    told.append((code, out.getvalue()))
(claim,) = find_claims(load_packs(), [sys.argv[2]])
top = sorted({"properties", "symbolic"} & sys.modules.keys())
print(json.dumps([told, digest_of_claim(claim), top]))
"""
"""Commands in one process, then the fingerprint of a claim, and names at the top level."""


def done(*words, cwd):
    ran = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def lend_bytecode(own, installed):
    """Copy the bytecode of files to equal files with its date, so that nobody compiles it anew."""
    for code in own.rglob(f"__pycache__/*.{sys.implementation.cache_tag}.pyc"):
        source = code.parent.parent / f"{code.name.partition('.')[0]}.py"
        copy = installed / source.relative_to(own)
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            shutil.copystat(source, copy)
            (copy.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(code, copy.parent / "__pycache__")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with attsvm, and the libraries of this one."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "checkout").mkdir()
    for name in ("attsvm", *sources.PACKAGES):
        shutil.copytree(ROOT / name, folder / "checkout" / name, ignore=IGNORED)
    for name in FILES:
        shutil.copy2(ROOT / name, folder / "checkout")
    left = folder / "checkout/build/lib/attsvm/sources/properties/left.py"  # by an earlier build
    left.parent.mkdir(parents=True)
    left.touch()
    done(sys.executable, "-c", BUILD, cwd=folder / "checkout")
    (sdist,) = folder.glob("*.tar.gz")
    done(sys.executable, "-m", "venv", "--without-pip", "environment", cwd=folder)
    (site,) = folder.glob("environment/lib/python*/site-packages")
    libraries = [place for place in sys.path if place.endswith("site-packages")]
    (site / "libraries.pth").write_text("\n".join(libraries))
    python = folder / "environment/bin/python"
    pip = sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install"
    offline = "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile"
    done(*pip, *offline, "--ignore-installed", sdist, cwd=folder)
    for name, place in (
        ("attsvm", "attsvm"),
        *((n, f"attsvm/sources/{n}") for n in sources.PACKAGES),
    ):
        lend_bytecode(ROOT / name, site / place)
    return folder / "environment/bin", site


def files_below(folder):
    found = (f for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    hidden = (f for f in found if not f.name.startswith(".") and ".attsvm" not in f.parts)
    return {f.relative_to(folder): f.read_bytes() for f in hidden}


def test_the_environment_holds_attsvm_alone_with_the_sources_as_they_are(environment):
    _, site = environment
    top = {place.name.partition("-")[0] for place in site.iterdir()} - {"libraries.pth"}
    assert top == {"attsvm"}
    for name in sources.PACKAGES:
        assert files_below(site / "attsvm/sources" / name) == files_below(ROOT / name)


def test_in_an_empty_folder_all_commands_know_the_claims(environment, tmp_path):
    binaries, site = environment
    stored = site / "attsvm/sources/properties/sim/counterexamples/sim--lemma-3.13--literal.json"
    commands = [
        ["claims", "--json", "-"],
        ["show", "sim/lemma-3.13:sharp-2"],
        ["verify", CLAIM],
        ["report", "--out", "page.html"],
        ["gate", "--update"],
        ["replay", str(stored)],
        ["hunt", FALSE, "--rounds", "1"],
        ["reproduce"],
    ]
    out = done(binaries / "python", "-P", "-c", RUN, json.dumps(commands), CLAIM, cwd=tmp_path)
    told, fingerprint, top = json.loads(out.splitlines()[-1])
    claims, show, verify, report, gate, replay, hunt, reproduce = (text for _, text in told)
    ours = {c.id: c for c in find_claims(load_packs()) if c.id.startswith(("mm/", "sim/", "tf/"))}
    assert {entry["id"] for entry in json.loads(claims)["claims"]} == ours.keys()
    assert "attsvm/sources/properties/sim/lemma_3_13.py" in "".join(show.split())
    assert re.search("1 claim on .*, profile quick, seed 0: every verdict as expected", verify)
    assert "for want of a bound on b and h" in " ".join(show.split())  # of the errata
    assert "1 verdict of the last run: page.html" in report
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert f"\n{CLAIM}" not in f"\n{gate}"  # its digests are those of the checkout
    assert "CONFIRMED" in replay
    assert f"refuted, certified: {FALSE}" in hunt
    assert {line.partition("/")[0] for line in reproduce.splitlines()} == {"mm", "sim", "tf"}
    assert [code for code, _ in told if code != 0] in ([1], [1, 1])  # a find, and changes to review
    assert (fingerprint, top) == (digest_of_claim(ours[CLAIM]), [])


@pytest.mark.parametrize("lists", [True, False], ids=["lists its pack", "names it"])
def test_packages_of_the_same_names_are_the_users_own(environment, tmp_path, lists):
    for name in sources.PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('"""Mine."""\n')
    text = (ROOT / "examples/my_claim.py").read_text()
    text = text.replace("variables={", "cost=12,\n    variables={")  # few instances
    (tmp_path / "properties/my_claim.py").write_text(text)
    if lists:
        (tmp_path / "pyproject.toml").write_text('[tool.attsvm]\npacks = ["properties"]\n')
    attsvm = environment[0] / "attsvm"
    named = [] if lists else ["--pack", "properties"]
    out = done(attsvm, "claims", *named, "mine", CLAIM, cwd=tmp_path)
    assert [line.partition("/")[0] for line in out.splitlines()[1:]] == ["mine", "sim"]
    if lists:  # in workers as well
        assert "1 claim on " in done(attsvm, "verify", "mine", "-n", "2", cwd=tmp_path)

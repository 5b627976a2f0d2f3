"""Profiles of Hypothesis, and fixtures for all tests.

Property tests draw the same 20 instances in every run. With `--hypothesis-profile=anew`, which runs
every night, they draw 100 other ones. A test sets a number of its own only if an instance is slow.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest

from attsvm import cli
from attsvm.theory import PROFILES
from attsvm.theory.declaration.proof import recorded

hypothesis.settings.register_profile(
    "fixed", max_examples=20, derandomize=True, database=None, deadline=None
)
hypothesis.settings.register_profile("anew", max_examples=100, database=None, deadline=None)
hypothesis.settings.load_profile("fixed")
os.environ["COLUMNS"] = "80"  # the width of the terminal for which commands print


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder of the test, made the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """The folder of the test, put first on the path on which Python looks for modules."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def attsvm(here, capsys):
    """A function that runs a command in the folder of the test.

    It returns the exit code, standard output and standard error.
    """

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


@pytest.fixture
def brief(monkeypatch):
    """Checks of few instances, and hunts that look once for worse ones; whole ones do more."""
    monkeypatch.setitem(PROFILES, "quick", replace(PROFILES["quick"], examples=20, guided=25))
    monkeypatch.setattr("attsvm.theory.search.polish._WORSE", 1)


@pytest.fixture
def steps():
    """The steps of the proofs that a test runs; citations refer to these steps."""
    with recorded() as found:
        yield found


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with a copy of attsvm outside of its checkout, where it loads only named packs."""
    folder = tmp_path_factory.mktemp("site")
    kept = shutil.ignore_patterns("*.nb[ci]")  # compiled kernels: no test needs them there
    shutil.copytree(Path(cli.__file__).parents[1], folder / "attsvm", ignore=kept)
    return folder


@pytest.fixture
def only_named_packs(site, monkeypatch):
    """Make workers load only the packs that are named, and no claims of the sources."""
    monkeypatch.syspath_prepend(site)

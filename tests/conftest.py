"""Property tests draw the same 20 instances in every run; `--hypothesis-profile=anew` draws others.

That one, which runs every night, draws 100. A test says how many only where one costs much.
"""

import os
import shutil
from pathlib import Path

import hypothesis
import pytest

from attsvm import cli
from attsvm.theory.declaration.proof import recorded

hypothesis.settings.register_profile(
    "fixed", max_examples=20, derandomize=True, database=None, deadline=None
)
hypothesis.settings.register_profile("anew", max_examples=100, database=None, deadline=None)
hypothesis.settings.load_profile("fixed")
os.environ["COLUMNS"] = "80"  # output is that of a terminal of this width on every machine


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder of the test, as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """The folder of the test, as the first in which Python looks for modules."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def attsvm(here, capsys):
    """Run a command in the folder of the test; returns exit code, standard output and error."""

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


@pytest.fixture
def steps():
    """The steps of the proofs that a test runs, which citations refer to."""
    with recorded() as found:
        yield found


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with attsvm as outside of its checkout, where it loads named packs alone."""
    folder = tmp_path_factory.mktemp("site")
    kept = shutil.ignore_patterns("*.nb[ci]")  # no machine code, which no test needs there
    shutil.copytree(Path(cli.__file__).parents[1], folder / "attsvm", ignore=kept)
    return folder


@pytest.fixture
def only_named_packs(site, monkeypatch):
    """Workers load the packs that are named, and no shipped claims."""
    monkeypatch.syspath_prepend(site)

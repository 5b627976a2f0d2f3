"""Fixtures that run commands in this process, each test in a folder of its own."""

import json
import math
import shutil
from pathlib import Path

import pytest
from commands import PACK, TOYS

from attsvm import _live, cli


@pytest.fixture(autouse=True)
def _own_folder(here, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(PACK).parent))  # where the pack's proofs are looked up
    monkeypatch.setattr(_live, "_SILENT", math.inf)  # how fast a machine is changes no output


@pytest.fixture(scope="session")
def verified(tmp_path_factory):
    """A folder in which toy/true was verified."""
    folder = tmp_path_factory.mktemp("verified")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(["verify", *TOYS, "toy/true"]) == 0
    return folder


@pytest.fixture
def ran(verified, tmp_path):
    """The test's own folder, with a copy of the files of `verified`."""
    shutil.copytree(verified, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def document(attsvm):
    """A function that runs a command with --json -; it returns the exit code and the document."""

    def run(*words):
        code, out, _ = attsvm(*words, "--json", "-")
        found = json.loads(out)
        assert found["schema"] == 1
        return code, found

    return run

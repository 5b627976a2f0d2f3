"""Processes may load no claims but those that they are given."""

import os
import shutil
from pathlib import Path

import pytest

import attsvm


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with attsvm as outside of its checkout, where it loads named packs alone."""
    folder = tmp_path_factory.mktemp("site")
    kept = shutil.ignore_patterns("*.nb[ci]")  # no machine code, which no test needs there
    shutil.copytree(Path(attsvm.__file__).parent, folder / "attsvm", ignore=kept)
    return folder


@pytest.fixture(scope="session")
def outside(site):
    """The environment of processes that are to run that copy, and find the toys."""
    path = os.pathsep.join([str(site), str(Path(__file__).parent)])
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture(scope="module")
def elsewhere(site):
    """Processes that are started run that copy, and no project is at hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.chdir(site)
        yield

"""Processes may load no claims but those that they are given."""

import os
from pathlib import Path

import pytest


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

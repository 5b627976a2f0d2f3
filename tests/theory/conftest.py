"""Fixtures for processes that must load no claims but those named for them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def outside(site):
    """The environment of processes that run the copy of `site` and find the toy claims."""
    path = os.pathsep.join([str(site), str(Path(__file__).parent)])
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture(scope="module")
def elsewhere(site):
    """Make processes run the copy of `site`, in a folder without a project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.chdir(site)
        yield

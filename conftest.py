"""Load the plug-in, and check shapes and types of the mathematics in every test."""

import functools
import gc
import re
from pathlib import Path

import pytest

from attsvm._threads import single_threaded

single_threaded()  # before anything numeric is loaded: threads spin, which small tensors pay for

from tests.shape_checks import install, sparingly  # noqa: E402

# AttentionData checks its own arguments and must see bad ones, so `attsvm.data` stays out
_CHECKED = [
    f"attsvm.{name}"
    for name in (
        "tokens",
        "training",
        "attention",
        "losses",
        "heads",
        "risk",
        "paths",
        "plots",
        "lipschitz",
        "svm",
    )
]
install(_CHECKED)

pytest_plugins = ["attsvm.theory.plugin"]


def pytest_collection_finish():
    """Leave the libraries and the tests themselves out of every search for garbage from here on."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Check shapes in every call of a test, and in one of so many that a claim makes."""
    if isinstance(item, pytest.Function):
        return (yield)
    with sparingly():
        return (yield)


_OF_TORCH = re.compile(r"^torch = Late|import autograd$|agreement import", re.MULTILINE)


@functools.cache
def _scope(file):
    """Files that use torch, which takes seconds to import, go to one worker."""
    text = (Path(__file__).parent / file).read_text()
    return "torch" if _OF_TORCH.search(text) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests run on one worker, so that what they share is set up once.

    Files keep their order, in which claims that take minutes come first: no worker waits long for
    another at the end.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _scope(super()._split_scope(nodeid))

    if config.getoption("dist") != "load":  # another way is asked for
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)

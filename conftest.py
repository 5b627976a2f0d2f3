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

_REPLAYS = re.compile(r"^properties/.*/counterexamples/")
_WITHOUT_KERNELS = re.compile(r"^tests/(symbolic|theory)/")


@functools.cache
def _scope(file):
    """Files that use torch, which takes seconds to import, go to one worker.

    So do the stored counterexamples, which between them have most kernels compiled.
    """
    if _REPLAYS.match(file):
        return "counterexamples"
    text = (Path(__file__).parent / file).read_text()
    return "torch" if _OF_TORCH.search(text) else file


def _turn(item):
    """Stored counterexamples first, then what needs no kernels while these are compiled."""
    return 0 if _REPLAYS.match(item.nodeid) else 1 if _WITHOUT_KERNELS.match(item.nodeid) else 2


def pytest_collection_modifyitems(items):
    """Have no worker wait for a kernel that another one compiles, where they are new."""
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file's tests run on one worker, so that what they share is set up once.

    Files keep the order of `_turn`.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _scope(super()._split_scope(nodeid))

    if config.getoption("dist") != "load":  # another way is asked for
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)

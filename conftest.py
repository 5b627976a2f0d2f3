"""Load the plug-in, check shapes and types in every test, and share tests among workers.

Everything that schedules workers is at the end of this file: `_scope` says which tests run on one
worker, `_turn` which tests come first, and the last hook gives both to xdist.
"""

import compileall
import functools
import gc
import re
import sys
from pathlib import Path

import pytest

from attsvm._threads import single_threaded

if sys.flags.optimize:
    pytest.exit("python -O drops assert statements, so tests could not fail: leave out -O", 4)

single_threaded()  # before anything numeric is loaded: threads spin, which small tensors pay for

from tests.shape_checks import install  # noqa: E402

# AttentionData checks its own arguments and must see bad ones, so `attsvm.data` stays out
_CHECKED = [
    f"attsvm.{name}"
    for name in (
        "tokens",
        "training",
        "attention",
        "losses",
        "prediction",
        "risk",
        "paths",
        "plots",
        "lipschitz",
        "svm",
    )
]
install(_CHECKED)

pytest_plugins = ["attsvm.theory.plugin"]


def pytest_configure(config):
    """Compile our modules once, even if Python keeps no bytecode: tests start a hundred processes.

    Otherwise each process would compile them again. Python reads bytecode that is there, whatever
    it writes. Packs are left out, as attsvm reads only bytecode of its own for them.
    """
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parent / "attsvm", quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without searches for garbage, which took a third of the time.

    Later searches leave out the libraries and the tests themselves.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


# How workers share the tests. Four things cost seconds and are paid once a process: importing
# torch, compiling kernels (once a clone, while others wait for the lock), running the proofs of
# claims, and what a module's fixtures set up. So
# - a file's tests run on one worker, and all files that use torch on the same one;
# - so do files that read the syntax trees of our code, and files that run the proofs of claims;
# - with two or three workers, this worker also checks the claims with proofs, so that each proof
#   runs once; with more workers, the others would be idle at the end;
# - the stored counterexamples run first, and tests that need no kernels next: other processes that
#   are under way at first, such as those of `.ci/run`, have some kernels compiled meanwhile.

_GROUPS = {
    "torch": re.compile(r"^torch = Late|import autograd$|agreement import", re.MULTILINE),
    "proofs": re.compile(
        r"^from attsvm.theory.declaration.proof import executed|^from tests.*readings import",
        re.MULTILINE,
    ),
    "syntax trees": re.compile(r"^from tests.parsed import|^from tests.test_arrows", re.MULTILINE),
}
"""Text that the files of each group contain, except for counterexamples and claims."""
_PROVED = re.compile(r"^ +proof=", re.MULTILINE)
"""Text that files of claims with proofs contain."""
_REPLAYS = re.compile(r"^properties/.*/counterexamples/")
_WITHOUT_KERNELS = re.compile(r"^tests/(symbolic|theory)/")


@functools.cache
def _scope(file, workers):
    """Return the name of the group of files that run on one worker."""
    if _REPLAYS.match(file):
        return "counterexamples"
    text = (Path(__file__).parent / file).read_text()
    if file.startswith("properties/"):
        return "proofs" if workers < 4 and _PROVED.search(text) else file
    return next((name for name, uses in _GROUPS.items() if uses.search(text)), file)


def _turn(item):
    """Return the rank of a test in the order of all tests."""
    return 0 if _REPLAYS.match(item.nodeid) else 1 if _WITHOUT_KERNELS.match(item.nodeid) else 2


def pytest_collection_modifyitems(items):
    """Sort the tests by their rank."""
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Return a scheduler that keeps groups together and in order, unless `--dist` is given."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return _scope(super()._split_scope(nodeid), self.numnodes)

    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False
    return Scheduling(config, log)

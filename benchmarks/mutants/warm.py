"""A plug-in of pytest that collects tests once, and runs some of them for every mutant in a fork.

Each line of the pipe is a request `{"file": FILE, "texts": [OLD, NEW], "limits": {TEST: SECONDS}}`;
the new text stands in the file. In the fork, functions that are loaded get their new code in place.
The answer is a line `[code, test]`: 0 where all tests pass, 1 and the test that fails, -1 where one
outlasts its limit (see `forks.py`), and `STALE` where a fork cannot tell, as what is changed has
run already.
"""

import gc
import inspect
import json
import math
import os
import signal
import sys
import types
from importlib.machinery import SourceFileLoader

import hypothesis
import pytest
from _pytest.main import pytest_runtestloop as run_items

from benchmarks.mutants.forks import limited, waited

STALE = 77
_failed: list = []
_limits: dict = {}


def _alike(old, new):
    """Whether two pieces of code do the same themselves, whatever the functions inside them do."""
    plain = [
        [c for c in code.co_consts if not isinstance(c, types.CodeType)] for code in (old, new)
    ]
    own = [(c.co_code, c.co_names, c.co_varnames, c.co_freevars) for c in (old, new)]
    return repr(plain[0]) == repr(plain[1]) and own[0] == own[1]


def _changed(old, new):
    """Pairs of old and new code of functions that differ; None for what is no function."""
    functions = "<" not in old.co_name and old.co_flags & inspect.CO_NEWLOCALS
    if functions and old != new:
        yield old, new
    elif not functions and not _alike(old, new):
        yield None
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (old, new)]
    for pair in zip(*inner, strict=False):
        yield from (found for found in _changed(*pair) if found or not functions)


def _put(file, texts):
    """Give every live function of a file its new code; whether that can be done."""
    loaded = [m for m in list(sys.modules.values()) if vars(m).get("__file__") == file]
    if not loaded:
        return True  # it will be imported from the new text
    loader = loaded[0].__spec__.loader
    if not isinstance(loader, SourceFileLoader):
        return False
    functions = {}
    gc.unfreeze()  # what is frozen after the collection of tests is not among the objects
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType and thing.__code__.co_filename == file:
            functions.setdefault(thing.__code__, []).append(thing)
    pairs = list(_changed(*(loader.source_to_code(text.encode(), file) for text in texts)))
    if None in pairs or not any(old in functions for old, _ in pairs):
        return False
    for old, new in pairs:
        for function in functions.get(old, []):
            function.__code__ = new
    return True


def _child(session, items, request, answer):
    os.setsid()
    code = STALE
    try:
        if _put(request["file"], request["texts"]):
            _limits.update(request["limits"])
            session.items = [items[name] for name in _limits]
            run_items(session)
            code = int(session.testsfailed > 0)
    except session.Failed:
        code = 1
    except BaseException as error:
        _failed.append(f"{type(error).__name__}: {error}")
    finally:
        os.write(answer, json.dumps(_failed[:1]).encode())
        os._exit(code)


def pytest_runtest_logstart(nodeid):
    """End the fork where a test outlasts its limit, whatever it is in; each test there has one."""
    if _limits:
        limited(_limits[nodeid])
        signal.alarm(4 * _limits[nodeid])


def pytest_runtest_logreport(report):
    """Note what fails."""
    if report.failed:
        _failed.append(report.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """An example that fails is enough: to make it small takes longer than all that passes."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    own = hypothesis.settings(hypothesis.settings(), phases=phases)
    hypothesis.settings.register_profile("unshrunk", own)
    hypothesis.settings.load_profile("unshrunk")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Answer requests until the pipe ends; without a pipe, tests run as they do everywhere."""
    if "MUTANTS_PIPES" not in os.environ:
        return None
    items = {item.nodeid: item for item in session.items}
    asked, answers = (int(n) for n in os.environ["MUTANTS_PIPES"].split())
    with open(asked) as requests:
        for line in requests:
            request = json.loads(line)
            if not request:
                os.write(answers, b"[]\n")  # all is collected
                continue
            ours, theirs = os.pipe()
            child = os.fork()
            if child == 0:
                _child(session, items, request, theirs)
            os.close(theirs)
            code = waited(child, math.inf)
            with open(ours) as said:
                failed = json.loads(said.read() or "[]")
            os.write(answers, (json.dumps([code, *failed]) + "\n").encode())
    return True

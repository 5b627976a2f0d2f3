"""A plug-in of pytest for runs with a mutant: each test has a limit, and examples stay as large.

The limits are seconds of processor time by test, in `limits.json` beside the private copy; a test
that outlasts its own ends the run (see `forks.py`).
"""

import json
import signal
from pathlib import Path

import hypothesis
import pytest

from benchmarks.mutants.forks import limited

_file = Path.cwd().parent / "limits.json"
_limits: dict = json.loads(_file.read_text()) if _file.is_file() else {}


def pytest_runtest_logstart(nodeid):
    """Give the test its own limit, in place of that of the one before."""
    limited(_limits[nodeid])
    signal.alarm(4 * _limits[nodeid])


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """An example that fails is enough: to make it small takes longer than all that passes."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    own = hypothesis.settings(hypothesis.settings(), phases=phases)
    hypothesis.settings.register_profile("unshrunk", own)
    hypothesis.settings.load_profile("unshrunk")

"""Which tests reach which lines: a plug-in of pytest that traces the lines that it is asked for.

It runs in the private copy, is imported before everything else and imports the standard library
alone. Every process that a test starts traces too and adds to the same file, a line a finding.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading

_WATCHED, _FOUND, _LIMIT = "MUTANTS_WATCHED", "MUTANTS_FOUND", "MUTANTS_SECONDS"
_test: str = ""
_tracing: list = []
_left: dict = {}  # watched lines that the current test has not reached, by code object


def _write(*words):
    line = "\n" + "\t".join(words) + "\n"  # what was cut off before it is a line of its own
    found = os.open(os.environ[_FOUND], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with contextlib.suppress(OSError):  # under a test's limit of size; tracing would end
        os.write(found, line.encode())
    os.close(found)


def start() -> None:
    """Trace the watched lines from now on; a process that a test starts belongs to that test.

    What runs before the first test, as modules are imported, belongs to the test "".
    """
    global _test
    _test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    with open(os.environ[_WATCHED], encoding="utf-8") as file:
        watched = {os.path.realpath(name): set(lines) for name, lines in json.load(file).items()}
    within: dict = {}

    def local(frame, event, _):
        left = _left.get(frame.f_code)
        if not left:
            frame.f_trace_lines = False  # a line once in a test is enough, and tracing is slow
        elif event == "line" and frame.f_lineno in left:
            left.discard(frame.f_lineno)
            _write("line", _test, frame.f_code.co_filename, str(frame.f_lineno))
        return local

    def called(frame, _event, _):
        code = frame.f_code
        if code not in within:
            lines = watched.get(code.co_filename)
            within[code] = lines & {n for *_, n in code.co_lines()} if lines else ()
        if code not in _left:
            _left[code] = set(within[code])
        return local if _left[code] else None

    _tracing[:] = [called]
    threading.settrace(called)
    sys.settrace(called)


def pytest_runtest_logstart(nodeid):
    """What is traced from now on is reached by this test."""
    global _test
    _test = nodeid
    _left.clear()
    sys.settrace(*_tracing)  # it ended where a test went to the limit of recursion


def _overdue(*_):
    raise TimeoutError("the test takes too long to be run for every mutant")


def pytest_runtest_call(item):
    """Give the test its limit."""
    signal.signal(signal.SIGALRM, _overdue)
    signal.alarm(int(os.environ[_LIMIT]))


def pytest_runtest_makereport():
    """End the limit before a failure is put into words, which takes its own time."""
    signal.alarm(0)


def pytest_runtest_logreport(report):
    """Note how a test ended, and how long it took."""
    _write("test", report.nodeid, report.when, report.outcome, f"{report.duration:.3f}")

"""A pytest plug-in that records which tests reach which statements, by probes in imported modules.

It runs in the private copy, is imported before everything else, and imports only the standard
library. Every process that a test starts has probes too and appends to the same file, one line per
result. A probe is a call in front of a statement, which costs far less than tracing.
"""

import ast
import builtins
import contextlib
import os
import signal
from importlib.machinery import SourceFileLoader

_PROBED, _FOUND, _LIMIT = "MUTANTS_PROBED", "MUTANTS_FOUND", "MUTANTS_SECONDS"
_PROBE = "__mutants_reached__"
_test: str = ""
_seen: set = set()  # places that the current test has reached
_places: list = []
_plain = SourceFileLoader.get_code


def _write(*words):
    line = "\n" + "\t".join(words) + "\n"  # a line that was cut off before it stays apart
    result = os.open(os.environ[_FOUND], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with contextlib.suppress(OSError):  # under a test's limit of size
        os.write(result, line.encode())
    os.close(result)


def _reached(place):
    if place not in _seen:
        _seen.add(place)
        _write("line", _test, *_places[place])


class _Probes(ast.NodeTransformer):
    """A transformer that puts a call in front of statements of functions and in lambdas."""

    def __init__(self, file):
        self.file, self.inside = file, False

    def _probe(self, node, last):
        _places.append((self.file, str(node.lineno), str(last)))
        called = ast.Name(_PROBE, ast.Load())
        return ast.copy_location(ast.Call(called, [ast.Constant(len(_places) - 1)], []), node)

    def visit_FunctionDef(self, node):
        outer, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = outer
        return node

    def visit_Lambda(self, node):
        self.generic_visit(node)
        probe = self._probe(node.body, node.body.end_lineno)
        node.body = ast.copy_location(ast.BoolOp(ast.Or(), [probe, node.body]), node.body)
        return node

    def generic_visit(self, node):
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if self.inside and isinstance(body, list):
                setattr(node, name, [new for one in body for new in self._with_probe(one)])
        return node

    def _with_probe(self, node):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return [node]  # a docstring has to stay the first statement
        body = () if isinstance(node, ast.FunctionDef) else getattr(node, "body", ())
        last = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno
        return [ast.copy_location(ast.Expr(self._probe(node, last)), node), node]


def start() -> None:
    """Put probes into modules that are imported from the probed folder from now on.

    Code that runs before the first test, while modules are imported, counts for the test "". A
    process that a test starts counts for this test. Compiled kernels have no probes.
    """
    global _test
    _test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    setattr(builtins, _PROBE, _reached)
    folder = os.path.join(os.path.realpath(os.environ[_PROBED]), "")
    compiled = "NUMBA_DISABLE_JIT" not in os.environ

    def get_code(loader, name):
        file = loader.get_filename(name)
        place = os.path.realpath(file)
        if not place.startswith(folder) or (compiled and ".kernels" in name):
            return _plain(loader, name)
        tree = _Probes(place.removeprefix(folder)).visit(ast.parse(loader.get_data(file)))
        return loader.source_to_code(ast.fix_missing_locations(tree), file)

    SourceFileLoader.get_code = get_code


def pytest_runtest_logstart(nodeid):
    """Count the statements that run from now on for this test."""
    global _test
    _test = nodeid
    _seen.clear()


def _overdue(*_):
    raise TimeoutError("the test takes too long to be run for every mutant")


def _limited(seconds):
    """Limit the processor time, and the wall-clock time to four times as much."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(4 * seconds)


def pytest_runtest_call(item):
    """Start the time limit of a test."""
    signal.signal(signal.SIGPROF, _overdue)
    signal.signal(signal.SIGALRM, _overdue)
    _limited(int(os.environ[_LIMIT]))


def pytest_runtest_makereport():
    """End the time limit before a report of a failure is made, which takes time of its own."""
    _limited(0)


def pytest_runtest_logreport(report):
    """Record the outcome and the seconds of a test."""
    _write("test", report.nodeid, report.when, report.outcome, f"{report.duration:.3f}")

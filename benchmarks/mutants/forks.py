"""A process that runs modules in forks of itself, after it has loaded the libraries they import.

Loading takes seconds. No module of the tested tree is loaded before the fork. Each line of standard
input is a request `{"words": [...], "seconds": s, "output": FILE}`. The answer is one line with the
exit code, or -1 if time ran out and the fork was killed with all processes that it started. Seconds
are processor time, so that other work does not matter. The limit of wall-clock time is four times
as long.
"""

import contextlib
import json
import math
import os
import resource
import runpy
import signal
import sys
import time

_LOADED = "beartype hypothesis jaxtyping mpmath numba numpy scipy.linalg scipy.optimize sympy flint"


def _child(words, output, seconds):
    os.setsid()
    soft = math.ceil(
        time.process_time() + seconds
    )  # the limit of this process, and of each that it starts
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    for place, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        os.dup2(os.open(output if place else os.devnull, mode | os.O_CREAT | os.O_APPEND), place)
    code = 1
    try:
        sys.argv = ["", *words[1:]]
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _answer(words, seconds, output):
    child = os.fork()
    if child == 0:
        _child(words, output, seconds)
    end = time.monotonic() + 4 * seconds
    done, status = 0, 0
    while not done and time.monotonic() < end:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
        return -1
    code = os.waitstatus_to_exitcode(status)
    return -1 if code == -signal.SIGXCPU else code


def main():
    """Answer requests until standard input ends."""
    for name in [*_LOADED.split(), "pytest", "_pytest.assertion.rewrite", "xdist"]:
        with contextlib.suppress(ImportError):
            __import__(name)
    for line in sys.stdin:
        print(_answer(**json.loads(line)), flush=True)


if __name__ == "__main__":
    main()

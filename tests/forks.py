"""Commands run in forks of this process, for tests that are not about how a process starts."""

import io
import os
import resource
import sys
import tempfile
import traceback
import warnings
from types import SimpleNamespace

from attsvm.cli.__main__ import run


class Forked:
    """A command in a fork of this process, which has already imported what commands need.

    Args:
        words: the arguments of the command.
        run: the command, or any other function that returns an exit code.
        stdout: a path or a descriptor for standard output; None keeps the output.
        closed: the numbers of streams that are closed.
        unbuffered: whether output is written at once.
        room: the maximum size of a file in bytes; None for no limit.
    """

    def __init__(self, *words, run=run, stdout=None, closed=(), unbuffered=False, room=None):
        kept = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about threads, which the fork does not have
            self.pid = os.fork()
        if self.pid:
            self._kept = kept
            return
        try:
            given = os.open(stdout, os.O_WRONLY | os.O_CREAT) if isinstance(stdout, str) else stdout
            for number, name in enumerate(("stdout", "stderr"), 1):
                first = number == 1 and given is not None
                os.dup2(given if first else kept[number - 1].fileno(), number)
                raw = os.fdopen(number, "wb", 0 if unbuffered else -1, closefd=False)
                line = number == 2 or (not unbuffered and raw.isatty())
                stream = io.TextIOWrapper(raw, line_buffering=line, write_through=unbuffered)
                if number in closed:
                    stream = os.close(number)
                setattr(sys, name, stream)
                setattr(sys, f"__{name}__", stream)
            if room is not None:
                sys.dont_write_bytecode = True  # the limit would truncate bytecode files
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            sys.argv = ["attsvm", *map(str, words)]
            code = run()
            sys.stdout.flush()
            os._exit(code)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(70)  # an exit code that no command uses

    def runs(self):
        return os.waitpid(self.pid, os.WNOHANG) == (0, 0)

    def error_so_far(self):
        return os.pread(self._kept[1].fileno(), 1 << 20, 0)

    def done(self):
        """Wait for the end; return the exit code and what was printed."""
        _, status = os.waitpid(self.pid, 0)
        for file in self._kept:
            file.seek(0)
        out, err = (file.read().decode() for file in self._kept)
        code = os.waitstatus_to_exitcode(status)
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)


def in_a_fork(*words, **rest):
    return Forked(*words, **rest).done()

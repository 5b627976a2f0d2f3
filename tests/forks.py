"""Commands in copies of this process, where how a process starts is not what is tested."""

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
    """A command in a copy of this process, which has imported already what commands need.

    The command line does its work in a copy of the process that it was started as, too. Instead of
    a command `run` may be any function that returns an exit code. Standard output goes to `stdout`,
    a path or a descriptor, or is kept; streams in `closed` are closed, and no file grows beyond
    `room` bytes.
    """

    def __init__(self, *words, run=run, stdout=None, closed=(), unbuffered=False, room=None):
        kept = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115
        sys.stdout.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, which the copy does not have
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
                sys.dont_write_bytecode = True  # of which half would be written
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            sys.argv = ["attsvm", *map(str, words)]
            code = run()
            sys.stdout.flush()
            os._exit(code)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(70)  # no command leaves with it

    def runs(self):
        return os.waitpid(self.pid, os.WNOHANG) == (0, 0)

    def error_so_far(self):
        return os.pread(self._kept[1].fileno(), 1 << 20, 0)

    def done(self):
        """How it ended, and what it printed."""
        _, status = os.waitpid(self.pid, 0)
        for file in self._kept:
            file.seek(0)
        out, err = (file.read().decode() for file in self._kept)
        code = os.waitstatus_to_exitcode(status)
        return SimpleNamespace(returncode=code, stdout=out, stderr=err)


def in_a_fork(*words, **rest):
    return Forked(*words, **rest).done()

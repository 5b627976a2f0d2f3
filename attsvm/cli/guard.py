"""A command in a process of its own; its exit code counts only if the command also reported it.

Code of a claim pack can end a process with any exit code (`os._exit(0)`), at any time. Therefore
the command also sends its exit code through a pipe at its end, and a process that ended without
that is an error. Signals are passed on, and the command ends with this process.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

UNSAID = 2
"""Exit code of a command that ended without reporting one."""


def run_guarded(command: Callable[[], int]) -> NoReturn:
    """Run the command in a child process and exit with its code.

    If the system lacks the needed functions, the command runs in this process.
    """
    if sys.platform != "linux":
        os._exit(command())
    readable, writable = os.pipe()
    alive, living = os.pipe()
    passed = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*passed, signal.SIGCHLD})
    child = os.fork()
    if child == 0:
        os.close(readable)
        os.close(living)
        _end_with(alive)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            code = command()
        except BaseException as error:  # with --debug
            sys.excepthook(type(error), error, error.__traceback__)
            code = 1
        os.write(writable, bytes([code]))
        os._exit(code)
    os.close(writable)
    os.close(alive)
    os.set_blocking(readable, False)
    status = _waited(child, passed)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    code = os.waitstatus_to_exitcode(status)
    try:
        word = os.read(readable, 1)
    except BlockingIOError:  # nothing was reported, and a worker still holds the pipe open
        word = b""
    if word != bytes([code]):
        print(
            "attsvm: the command was cut short: code of a claim pack ended its process "
            f"with exit code {code}",
            file=sys.stderr,
            flush=True,
        )
        os._exit(UNSAID)
    os._exit(code)


def _end_with(alive: int) -> None:
    """Let the system end this process as soon as the other end of a pipe is closed."""
    import fcntl

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alive, fcntl.F_SETFL, fcntl.fcntl(alive, fcntl.F_GETFL) | os.O_ASYNC)


def _waited(child: int, passed: set[signal.Signals]) -> int:
    """Return how a child ended; pass on signals of other processes until then.

    Signals of a terminal have reached the child already.
    """
    while True:
        shown = signal.sigwaitinfo({*passed, signal.SIGCHLD})
        if shown.si_signo == signal.SIGCHLD:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status
        elif shown.si_code <= 0:
            os.kill(child, shown.si_signo)

"""Workers: this process, fresh processes or a cluster; the results are the same.

A job is a module-level function that takes and returns strings, so that only text is sent.
Exceptions travel as text as well.
"""

import concurrent.futures
import contextlib
import gc
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from attsvm import errors
from attsvm._live import Watcher, watched, watcher
from attsvm._threads import SINGLE
from attsvm.errors import AttsvmError, UnknownClaimError, WorkerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.packs import load_packs

Job = Callable[..., str]

_ATTEMPTS = 3
"""Maximum number of attempts at a job, each in a fresh process, if the process dies."""

_LAST_WORDS = 1.0
"""Seconds that a process with a closed connection gets to exit by itself."""

_claims: dict[tuple[str, ...], dict[str, Claim]] = {}
"""Claims loaded in this process: by the packs that the user named, then by id."""


def known_claim(claim: str, named: Sequence[str]) -> Claim:
    """Return the claim of this id, without loading the rest of its package.

    Raises:
        UnknownClaimError: no pack holds the claim.
        ClaimError: a pack cannot be loaded.
    """
    there = _claims.setdefault(tuple(named), {})
    if claim not in there:
        there |= known_claims(named, [claim])
    if claim not in there:
        raise UnknownClaimError(
            "no pack of this worker holds the claim", value=claim, remedy="Name its pack (--pack)."
        )
    return there[claim]


def known_claims(named: Sequence[str], ids: Sequence[str] = ()) -> dict[str, Claim]:
    """Return claims by id: all claims, or at least the given ids.

    Raises:
        ClaimError: a pack cannot be loaded.
    """
    return {c.id: c for pack in load_packs(named, ids=ids) for c in pack.claims}


class Asked(Protocol):
    """A handle of a submitted job."""

    def result(self, timeout: float | None = None) -> str:
        """Wait for the job, and return its result or raise its exception."""

    def done(self) -> bool:
        """Return whether the job is done."""

    def cancel(self) -> object:
        """Withdraw the job unless it has begun."""


class Workers(Protocol):
    """A pool that works on up to `count` jobs at a time."""

    @property
    def count(self) -> int:
        """The number of jobs worked on at a time; on a cluster it may change."""

    def submit(self, job: Job, *arguments: str) -> Asked:
        """Submit a job, and return its handle."""

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        """Yield submitted jobs as they finish."""


class _Now:
    """A job that runs in this process when its result is requested."""

    def __init__(self, job: Job, arguments: Sequence[str]) -> None:
        self._job, self._arguments = job, arguments
        self._text: str | None = None

    def result(self, timeout: float | None = None) -> str:
        if self._text is None:
            self._text = self._job(*self._arguments)
        return self._text

    def done(self) -> bool:
        return self._text is not None

    def cancel(self) -> object:
        return None


class _Here:
    count = 1

    def submit(self, job: Job, *arguments: str) -> Asked:
        return _Now(job, arguments)

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        yield from jobs


HERE: Workers = _Here()
"""The current process as a worker."""


class _Asked(Future[str]):
    """A submitted job.

    Attributes:
        died: the exit code of the last process that died while running it.
        watcher: called when a worker compiles a kernel for this job.
    """

    died: int | None = None
    watcher: Watcher | None = None


_Job = tuple[_Asked, Job, tuple[str, ...]]


class Jobs:
    """FIFO queue; jobs of one statement go to one worker while other work remains.

    Readings of a statement share proofs and draws, which a worker process caches.
    """

    def __init__(self) -> None:
        self._left: list[_Job] = []
        self._changed = threading.Condition()
        self._ended = False
        self._at: dict[int, str] = {}

    def put(self, job: _Job) -> None:
        """Append a job."""
        with self._changed:
            self._left.append(job)
            self._changed.notify()

    def end(self) -> None:
        """Close the queue: no jobs follow."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self) -> _Job | None:
        """Wait for a job and return it; None if the queue is closed and empty.

        A thread first gets jobs of the statement that it worked on last, then of statements that no
        other thread works on, then the oldest job.
        """
        me = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: self._left or self._ended)
            if not self._left:
                return None
            others = {kin for who, kin in self._at.items() if who != me}
            kinds = [_kin(job) for job in self._left]
            own = (k for k, kin in enumerate(kinds) if kin == self._at.get(me))
            free = (k for k, kin in enumerate(kinds) if kin not in others)
            chosen = self._left.pop(next(own, next(free, 0)))
            self._at[me] = _kin(chosen)
            return chosen


def _kin(job: _Job) -> str:
    """Return the statement of a job's claim; jobs of one statement share cached work."""
    return job[2][0].partition(":")[0] if job[2] else ""


class _Processes:
    """Worker processes, each watched by a thread that replaces it if it dies."""

    def __init__(self, count: int, named: Sequence[str], ids: Sequence[str] | None) -> None:
        self.count = count
        self._needed = tuple(named), None if ids is None else tuple(ids)
        self._context = multiprocessing.get_context("spawn")
        self._asked = Jobs()
        self._starting = threading.Lock()
        self._ending = False
        self._workers: set[BaseProcess] = set()
        self._threads: list[threading.Thread] = []
        self._begin()  # it loads the packs while jobs are made; others start when jobs come

    def submit(self, job: Job, *arguments: str) -> Asked:
        if len(self._threads) < self.count:
            self._begin()
        future = _Asked()
        future.watcher = watcher()
        self._asked.put((future, job, arguments))
        return future

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        futures: Iterable[Any] = jobs  # `submit` returned them, so they are futures
        yield from concurrent.futures.as_completed(futures)

    def end(self) -> None:
        """Terminate the processes at once."""
        with self._starting:
            self._ending = True
            for worker in self._workers:
                worker.terminate()
        self._asked.end()
        for thread in self._threads:
            thread.join()

    def _begin(self) -> None:
        """Start a thread that looks after one more process."""
        self._threads.append(threading.Thread(target=self._serve, daemon=True))
        self._threads[-1].start()

    def _serve(self) -> None:
        """Send jobs to one process, one at a time, and start a new process if it dies."""
        if hasattr(signal, "pthread_sigmask"):  # inherited: Ctrl-C is for the controlling process
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        worker: tuple[BaseProcess, Connection] | None = None
        try:
            with contextlib.suppress(Exception):  # if the start fails, the first job reports it
                worker = self._start()
            while (asked := self._asked.take()) is not None:
                future, job, arguments = asked
                if not future.set_running_or_notify_cancel():
                    continue
                for _ in range(_ATTEMPTS):
                    try:
                        worker = worker or self._start()
                        worker[1].send((job, arguments))
                        done, answer = worker[1].recv()
                        while done is None:  # a message about a kernel that is being compiled
                            if future.watcher is not None:
                                future.watcher(*answer)
                            done, answer = worker[1].recv()
                    except (EOFError, OSError):
                        future.died = self._bury(worker)
                        worker = None
                    except BaseException as problem:
                        self._bury(worker)
                        worker = None
                        future.set_exception(problem)
                        break
                    else:
                        if done:
                            future.set_result(answer)
                        else:
                            future.set_exception(_raised(answer))
                        break
                else:
                    future.set_exception(
                        WorkerError(
                            f"{_ATTEMPTS} worker processes died or were killed while running one "
                            "job",
                            value=f"{job.__name__} {arguments[0] if arguments else ''}",
                            remedy="Check the free memory, or use fewer workers; a "
                            "script must start them below `if __name__ == '__main__':`.",
                        )
                    )
        finally:
            self._bury(worker)

    def _start(self) -> tuple[BaseProcess, Connection]:
        ours, theirs = self._context.Pipe()
        worker = self._context.Process(
            target=_work, args=(theirs, *self._needed), name="attsvm worker", daemon=True
        )
        with self._starting:
            if self._ending:
                raise EOFError
            # The new process inherits the environment. It must see single-threaded libraries before
            # it imports numpy; the variables of this process are restored afterwards.
            before = {name: os.environ.get(name) for name in SINGLE}
            os.environ.update(SINGLE)
            try:
                worker.start()
            finally:
                for name, value in before.items():
                    if value is None:
                        del os.environ[name]
                    else:
                        os.environ[name] = value
            self._workers.add(worker)
        theirs.close()
        return worker, ours

    def _bury(self, worker: tuple[BaseProcess, Connection] | None) -> int | None:
        """End a process; return its exit code, None if there is no process."""
        if worker is None:
            return None
        process, ours = worker
        ours.close()
        process.join(_LAST_WORDS)  # let it exit by itself if it is about to
        process.terminate()
        process.join()
        with self._starting:
            self._workers.discard(process)
            code = process.exitcode
            process.close()
        return code


def _end_with(controller: BaseProcess) -> None:
    """Exit this process as soon as the controlling one has ended, even during a job."""
    controller.join()
    os._exit(1)


def _work(controller: Connection, named: tuple[str, ...], ids: tuple[str, ...] | None) -> None:
    """Run incoming jobs until the controlling process closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controlling process ends its workers
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(Exception):  # if a pack is broken, the job that needs it reports it
        if ids is not None:
            _claims[named] = known_claims(named, ids)
    gc.freeze()  # packs and libraries live on; rescanning them costs a twentieth of the time
    gc.set_threshold(100_000)

    def tell(name: str, seconds: float | None) -> None:
        controller.send((None, (name, seconds)))

    with contextlib.suppress(EOFError, OSError), watched(tell):
        while True:
            job, arguments = controller.recv()
            answer: tuple[bool, str]
            try:
                answer = True, job(*arguments)
            except BaseException as problem:
                answer = False, _written(problem)
            controller.send(answer)


_OURS: dict[str, type[AttsvmError]] = {name: getattr(errors, name) for name in errors.__all__}
"""Error classes that are rebuilt with their own type."""


def _written(problem: BaseException) -> str:
    """Return an exception as text: our errors by name and parts, others by name and message."""
    if isinstance(problem, AttsvmError):
        kind = next(k.__name__ for k in type(problem).__mro__ if _OURS.get(k.__name__) is k)
        value = problem.value
        text = value if value is None or isinstance(value, str) else repr(value)
        return json.dumps([kind, problem.cause, text, problem.remedy])
    try:
        message = str(problem)
    except Exception:
        message = "no message"
    return json.dumps([None, f"{type(problem).__name__}: {message}", None, ""])


def _raised(text: str) -> Exception:
    """Return the exception that `_written` wrote; a foreign one becomes a RuntimeError."""
    kind, cause, value, remedy = json.loads(text)
    return RuntimeError(cause) if kind is None else _OURS[kind](cause, value=value, remedy=remedy)


@contextlib.contextmanager
def processes(
    count: int, named: Sequence[str] = (), ids: Sequence[str] | None = ()
) -> Iterator[Workers]:
    """Yield a pool of fresh processes, or this process if `count` is 1; end them on exit.

    A process that dies is replaced and its job starts again; other jobs are not affected.

    Args:
        count: number of processes.
        named: packs that the user named, for the processes to load as they start.
        ids: the claims that are needed; all if empty, none if None.

    Raises:
        WorkerError: several processes died of one job; raised when its result is requested.
    """
    if count == 1:
        yield HERE
        return
    crew = _Processes(count, named, ids)
    try:
        yield crew
    finally:
        crew.end()

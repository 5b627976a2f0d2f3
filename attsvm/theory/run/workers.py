"""Workers: this process, fresh processes or a cluster; the results are the same.

A job is a module-level function that takes and returns strings, so that only text is sent.
Exceptions travel as text as well.
"""

from __future__ import annotations

import contextlib
import gc
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Protocol

from attsvm import errors
from attsvm._live import Watcher, watched, watcher
from attsvm._threads import SINGLE
from attsvm.errors import AttsvmError, UnknownClaimError, WorkerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.packs import load_packs

if TYPE_CHECKING:
    from pebble import ProcessPool

Job = Callable[..., str]

ATTEMPTS = 3
"""Maximum number of attempts at a job, each in a fresh process, if the process dies."""

_GLANCE = 0.1
"""Seconds between two checks for news from a process while it does a job."""

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
    """A pool that works on some jobs at a time."""

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
    def submit(self, job: Job, *arguments: str) -> Asked:
        return _Now(job, arguments)

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        yield from jobs


HERE: Workers = _Here()
"""The current process as a worker."""


class _Process(SpawnProcess):
    """A fresh process whose numeric libraries have one thread.

    Attributes:
        exitcode: as usual, but 256 for 0: pebble takes 0 for the regular end of a worker, and waits
            for ever for a job that calls `os._exit(0)`.
    """

    def start(self) -> None:
        # The process inherits the environment. It must see the variables before it imports numpy;
        # those of this process are restored afterwards.
        with _starting:
            before = {name: os.environ[name] for name in SINGLE if name in os.environ}
            os.environ.update(SINGLE)
            try:
                super().start()
            finally:
                for name in SINGLE.keys() - before.keys():
                    del os.environ[name]
                os.environ.update(before)

    @property
    def exitcode(self) -> int | None:
        code = super().exitcode
        return _ZERO if code == 0 else code


class _Spawn(SpawnContext):
    Process = _Process


_SPAWN, _starting = _Spawn(), threading.Lock()
_ZERO = 256
"""Exit code 0 of a worker, as pebble sees it."""


class _Worker:
    """One process, started when it is needed, and again after its death.

    Each worker is a pebble pool of one process. In a pool of several, the death of an idle process
    would end the whole pool. A process killed while it sends would leave a lock that the other
    processes wait for.
    """

    def __init__(self, needed: Sequence[object], ended: threading.Event) -> None:
        self._needed, self._ended = needed, ended
        self._pool: ProcessPool | None = None
        self._news, self._sender = _SPAWN.Pipe(duplex=False)

    def start(self) -> ProcessPool:
        """Return the pool, started; a new one if its process died."""
        from pebble import ProcessPool  # not needed if this process does the work

        if self._pool is None or not self._pool.active:
            self.stop()
            arguments = (self._sender, *self._needed)
            self._pool = ProcessPool(1, initializer=_begin, initargs=arguments, context=_SPAWN)
            _ = self._pool.active  # this starts it
        return self._pool

    def answer(self, tell: Watcher | None, job: Job, *arguments: str) -> tuple[bool, str]:
        """Return what `_answer` returns in the process; meanwhile pass on news of kernels.

        Raises:
            OSError, RuntimeError: the process died, does not start, or the workers have ended.
        """
        pool = self.start()
        asked = pool.schedule(_answer, (job, *arguments))
        over = False
        while not over:
            over = bool(wait([asked], _GLANCE).done) or self._ended.is_set() or not pool.active
            while self._news.poll():
                news = self._news.recv()
                if tell is not None:
                    tell(*news)
        return asked.result(0)

    def stop(self) -> None:
        """End the process at once."""
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None


class _Processes:
    """Threads that each wait for a process of their own."""

    def __init__(self, count: int, *needed: object) -> None:
        self._needed = needed
        self._ended, self._own = threading.Event(), threading.local()
        self._workers: list[_Worker] = []
        self._threads = ThreadPoolExecutor(count, initializer=self._prepare)
        self._threads.submit(str)  # one process starts now and loads packs; others start later

    def _prepare(self) -> None:
        """Start the process of this thread; if that fails, the first job reports it."""
        if hasattr(signal, "pthread_sigmask"):  # inherited: Ctrl-C is for the controlling process
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._own.worker = _Worker(self._needed, self._ended)
        self._workers.append(self._own.worker)
        with contextlib.suppress(OSError, RuntimeError):
            self._own.worker.start()

    def submit(self, job: Job, *arguments: str) -> Asked:
        deaths: list[str] = []
        asked = self._threads.submit(self._do, deaths, watcher(), job, *arguments)
        asked.deaths = deaths  # type: ignore[attr-defined]  # read if a hunt ends first
        return asked

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        futures: Iterable[Any] = jobs  # `submit` returned them, so they are futures
        yield from as_completed(futures)

    def end(self) -> None:
        """End the processes at once, and cancel the jobs that have not begun."""
        self._ended.set()
        self._threads.shutdown(cancel_futures=True)
        with ThreadPoolExecutor() as threads:
            threads.map(_Worker.stop, self._workers)

    def _do(self, deaths: list[str], tell: Watcher | None, job: Job, *arguments: str) -> str:
        """Return the result of a job, or raise its exception; add dead processes to `deaths`."""
        worker: _Worker = self._own.worker
        death: Exception | None = None
        for _ in range(ATTEMPTS):
            if self._ended.is_set():
                break
            try:
                done, answer = worker.answer(tell, job, *arguments)
            except (OSError, RuntimeError) as problem:
                death = problem
                deaths.append(_fate(problem))
                worker.stop()
            else:
                if done:
                    return answer
                raise _raised(answer)
        raise WorkerError(
            f"{ATTEMPTS} worker processes died or were killed while running one job",
            value=f"{job.__name__} {arguments[0] if arguments else ''}",
            remedy="Check the free memory, or use fewer workers; a script must start them below "
            "`if __name__ == '__main__':`.",
        ) from death


def _fate(death: Exception) -> str:
    """Return how a process ended, as the rest of a sentence."""
    code = getattr(death, "exitcode", None)
    if code is None:  # it died between two jobs, or before the first
        return f"failed ({death})"
    return f"ended with exit code {0 if code == _ZERO else code}"


def _end_with(controller: BaseProcess) -> None:
    """Exit this process as soon as the controlling one has ended, even during a job."""
    controller.join()
    os._exit(1)


_senders: list[Connection] = []
"""In a worker process: the connection for news of kernels."""


def _begin(sender: Connection, named: tuple[str, ...], ids: tuple[str, ...] | None) -> None:
    """Prepare this process for jobs."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # at once, even in compiled code
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _senders.append(sender)
    with contextlib.suppress(Exception):  # if a pack is broken, the job that needs it reports it
        if ids is not None:
            _claims[named] = known_claims(named, ids)
    gc.freeze()  # packs and libraries live on; rescanning them costs a twentieth of the time
    gc.set_threshold(100_000)


def _answer(job: Job, *arguments: str) -> tuple[bool, str]:
    """Return whether a job succeeds, and its result or its exception as text."""
    with watched(lambda name, seconds: _senders[0].send((name, seconds))):
        try:
            return True, job(*arguments)
        except BaseException as problem:
            return False, _written(problem)


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
    crew = _Processes(count, tuple(named), None if ids is None else tuple(ids))
    try:
        yield crew
    finally:
        crew.end()

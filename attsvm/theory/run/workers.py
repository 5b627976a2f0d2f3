"""Who does the work: this process, fresh ones, or a cluster; the results are the same.

A job is a module-level function of strings that returns a string, so nothing but text travels;
what it raises travels as text as well.
"""

from __future__ import annotations

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
from attsvm._compiling import Watcher, watched, watcher
from attsvm._threads import SINGLE
from attsvm.errors import AttsvmError, UnknownClaimError, WorkerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.packs import load_packs

Job = Callable[..., str]

_ATTEMPTS = 3
"""How often a job is begun, each time by a fresh process, if the process dies of it."""

_LAST_WORDS = 1.0
"""Seconds that a process which hung up is given to end with an exit code of its own."""

_claims: dict[tuple[str, ...], dict[str, Claim]] = {}
"""The claims that this process has loaded, by the packs that the user named, and by id."""


def known_claim(claim: str, named: Sequence[str]) -> Claim:
    """Return the claim of that id; nothing else of its package is loaded for it.

    Raises:
        UnknownClaimError: no pack here holds it. ClaimError: a pack cannot be loaded.
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
    """Return claims by id: those of all packs, or at least these.

    Raises:
        ClaimError: a pack cannot be loaded.
    """
    return {c.id: c for pack in load_packs(named, ids=ids) for c in pack.claims}


class Workers(Protocol):
    """Takes jobs; `count` of them are worked on at a time."""

    @property
    def count(self) -> int:
        """How many jobs are worked on at a time; it may change on a cluster."""

    def submit(self, job: Job, *arguments: str) -> Any:
        """Have the job done; what it returns has `result`, `done` and `cancel` as a Future."""

    def completed(self, jobs: Iterable[Any]) -> Iterator[Any]:
        """The submitted jobs, each as soon as it is done."""


class _Now:
    """A job that is done in this process when its result is asked for."""

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

    def submit(self, job: Job, *arguments: str) -> Any:
        return _Now(job, arguments)

    def completed(self, jobs: Iterable[Any]) -> Iterator[Any]:
        yield from jobs


HERE: Workers = _Here()
"""This process."""


class _Asked(Future[str]):
    """A job that was asked for.

    Attributes:
        died: the exit code of the last process that died of it.
        watcher: who is told of kernels that a worker compiles for it.
    """

    died: int | None = None
    watcher: Watcher | None = None


_Job = tuple[_Asked, Job, tuple[str, ...]]


class _Jobs:
    """Jobs in their order, but akin ones to one process, as far as there are others for the rest.

    What readings of one statement share, such as a proof or draws, a process remembers.
    """

    def __init__(self) -> None:
        self._left: list[_Job] = []
        self._changed = threading.Condition()
        self._ended = False
        self._at: dict[int, str] = {}

    def put(self, job: _Job) -> None:
        """Add one."""
        with self._changed:
            self._left.append(job)
            self._changed.notify()

    def end(self) -> None:
        """There will be no more."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def take(self) -> _Job | None:
        """The next one for this thread, as soon as there is one; None where there will be none."""
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
    """What a job has in common with those that are akin: the statement of its claim."""
    return job[2][0].partition(":")[0] if job[2] else ""


class _Processes:
    """Processes that are replaced where they die; a thread of this process looks after each."""

    def __init__(self, count: int, named: Sequence[str], ids: Sequence[str]) -> None:
        self.count = count
        self._needed = tuple(named), tuple(ids)
        self._context = multiprocessing.get_context("spawn")
        self._asked = _Jobs()
        self._starting = threading.Lock()
        self._ending = False
        self._workers: set[BaseProcess] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job, *arguments: str) -> Any:
        future = _Asked()
        future.watcher = watcher()
        self._asked.put((future, job, arguments))
        return future

    def completed(self, jobs: Iterable[Any]) -> Iterator[Any]:
        yield from concurrent.futures.as_completed(jobs)

    def end(self) -> None:
        """End the processes at once, whatever they are at."""
        with self._starting:
            self._ending = True
            for worker in self._workers:
                worker.terminate()
        self._asked.end()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """Have one process do jobs, one at a time, and start another where it dies."""
        if hasattr(signal, "pthread_sigmask"):  # inherited: Ctrl-C is for the controlling process
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        worker: tuple[BaseProcess, Connection] | None = None
        try:
            with contextlib.suppress(Exception):  # if it cannot start, the first job says so
                worker = self._start()  # it loads the packs while jobs are made
            while (asked := self._asked.take()) is not None:
                future, job, arguments = asked
                if not future.set_running_or_notify_cancel():
                    continue
                for _ in range(_ATTEMPTS):
                    try:
                        worker = worker or self._start()
                        worker[1].send((job, arguments))
                        done, answer = worker[1].recv()
                        while done is None:  # news of a kernel
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
                            f"{_ATTEMPTS} worker processes died of one job or were killed",
                            value=f"{job.__name__} {arguments[0] if arguments else ''}",
                            remedy="Look at the memory of the machine, or take fewer workers; a "
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
        """End a process; the exit code with which it ended."""
        if worker is None:
            return None
        process, ours = worker
        ours.close()
        process.join(_LAST_WORDS)  # where it is ending already, as it says
        process.terminate()
        process.join()
        with self._starting:
            self._workers.discard(process)
            code = process.exitcode
            process.close()
        return code


def _end_with(controller: BaseProcess) -> None:
    """End this process as soon as the controlling one has ended, even within a job."""
    controller.join()
    os._exit(1)


def _work(controller: Connection, named: tuple[str, ...], ids: tuple[str, ...]) -> None:
    """Do the jobs that come in until the controlling process hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controlling process ends its workers
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(Exception):  # if a pack is broken, the job that needs it says so
        _claims[named] = known_claims(named, ids)
    gc.freeze()  # packs and libraries stay; to search them again and again takes a twentieth longer
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
"""The errors that are rebuilt as what they were."""


def _written(problem: BaseException) -> str:
    """What is raised, as text: our errors by name and parts, others by name and message."""
    if isinstance(problem, AttsvmError):
        kind = next(k.__name__ for k in type(problem).__mro__ if _OURS.get(k.__name__) is k)
        value = problem.value
        said = value if value is None or isinstance(value, str) else repr(value)
        return json.dumps([kind, problem.cause, said, problem.remedy])
    try:
        message = str(problem)
    except Exception:
        message = "it cannot say why"
    return json.dumps([None, f"{type(problem).__name__}: {message}", None, ""])


def _raised(text: str) -> Exception:
    """What `_written` wrote; another's exception as a RuntimeError that says the same."""
    kind, cause, value, remedy = json.loads(text)
    return RuntimeError(cause) if kind is None else _OURS[kind](cause, value=value, remedy=remedy)


@contextlib.contextmanager
def processes(count: int, named: Sequence[str] = (), ids: Sequence[str] = ()) -> Iterator[Workers]:
    """Fresh processes of this machine, or this one where `count` is 1; in the end, they are ended.

    A process that dies is replaced and its job is begun again; the other jobs notice nothing.

    Args:
        count: how many.
        named: packs that the user named, for the processes to load as they start.
        ids: the claims that are needed; all if empty.

    Raises:
        WorkerError: where the result of a job is asked for, that several processes died of.
    """
    if count == 1:
        yield HERE
        return
    crew = _Processes(count, named, ids)
    try:
        yield crew
    finally:
        crew.end()

"""Workers of the user's own dask.distributed cluster: SLURM, Kubernetes, SSH, local.

A worker process does one job at a time, even with several threads: the precision of exact
arithmetic is a setting of the process. Workers may come and go. If a worker is lost, the scheduler
repeats its job; the result is the same, since it depends on the job's text alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from attsvm._types import JsonObject
from attsvm.errors import AttsvmError, UsageError, WorkerError
from attsvm.theory.packs.checkout import version_of
from attsvm.theory.packs.code_digests import Imports, digest_of_claim
from attsvm.theory.run.workers import Asked, Job, Workers, known_claims

if TYPE_CHECKING:
    from distributed import Client, Future

_ANSWER = 5.0
"""Maximum time for the scheduler to answer, in seconds."""

_LOADED = 120.0
"""Maximum time for a worker to load the packs, in seconds."""

_SKEW = 1.0
"""Maximum error of a worker's clock, in seconds; turns end at a time of day."""

_PACKAGES = ("attsvm", "hypothesis", "numpy", "scipy", "python-flint", "torch")
"""Packages that instances and their slacks depend on; workers must have the same versions."""

_one = threading.Lock()


def identity(*named: str) -> str:
    """Return versions and a digest of the claims, which every worker must share, and the `clock`.

    This is a job: workers run it too, and it returns JSON.
    """
    imports = Imports()
    prints = sorted(
        f"{claim.id} {digest_of_claim(claim, imports)}" for claim in known_claims(named).values()
    )
    return json.dumps(
        {
            "Python": ".".join(platform.python_version_tuple()[:2]),
            # a local build label (after "+") is not part of the version
            **{name: version_of(name).split("+")[0] for name in _PACKAGES},
            "claims": hashlib.sha256("\n".join(prints).encode()).hexdigest()[:12],
            "clock": time.time(),
        }
    )


def _alone(job: Job, *arguments: str) -> str:
    """Return the result of a job, which runs while no other job runs in this process."""
    with _one:
        return job(*arguments)


class _Remote:
    """A job on the cluster."""

    def __init__(self, future: Future[str]) -> None:
        self.future = future

    def result(self, timeout: float | None = None) -> str:
        from distributed import CancelledError, KilledWorker

        try:
            return str(self.future.result(timeout))
        except (TimeoutError, AttsvmError):
            raise
        except KilledWorker as lost:
            raise WorkerError(
                "several workers of the cluster died or were killed while running one job",
                remedy="Check their memory and their logs.",
            ) from lost
        except (CancelledError, OSError) as lost:
            raise WorkerError(
                "the cluster has gone away", remedy="Check the scheduler, then run it again."
            ) from lost

    def done(self) -> bool:
        return bool(self.future.done())

    def cancel(self) -> None:
        with contextlib.suppress(Exception):  # the cluster may have gone away
            self.future.cancel()


class _Cluster:
    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, job: Job, *arguments: str) -> Asked:
        return _Remote(self._client.submit(_alone, job, *arguments, pure=False))

    def completed(self, jobs: Iterable[Asked]) -> Iterator[Asked]:
        from distributed import as_completed

        submitted = (job for job in jobs if isinstance(job, _Remote))
        by_key = {job.future.key: job for job in submitted}
        futures = [job.future for job in by_key.values()]
        for future in as_completed(futures, loop=self._client.loop):
            yield by_key[future.key]


@contextlib.contextmanager
def cluster(address: str, named: Sequence[str] = ()) -> Iterator[Workers]:
    """Yield the workers of a running cluster, with the same claims and versions as this process.

    Args:
        address: the scheduler's address, such as tcp://10.0.0.1:8786.
        named: packs that the user named; every worker must find them under that name.

    Raises:
        UsageError: dask.distributed is not installed.
        WorkerError: no scheduler answers, there is no worker, or a worker does not match.
        ClaimError: a pack cannot be loaded here.
    """
    try:
        from distributed import Client

        class Quiet(Client):
            """A client whose deletion does not wait for a scheduler that it never reached."""

            def __del__(self) -> None:
                return None

    except ImportError as error:
        raise UsageError(
            "a cluster needs dask.distributed, which is not installed",
            remedy="pip install 'attsvm[cluster]'",
        ) from error
    try:
        client = Quiet(address, timeout=_ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise WorkerError(
            "no dask scheduler answers at the address",
            value=address,
            remedy="Start one (`dask scheduler`), or correct the address.",
        ) from error
    try:
        _ensure_same(client, named)
        yield _Cluster(client)
    finally:
        with contextlib.suppress(Exception):  # it may have gone away
            client.close(_ANSWER)


def _ensure_same(client: Client, named: Sequence[str]) -> None:
    workers = sorted(client.nthreads())
    if not workers:
        raise WorkerError(
            "the cluster has no worker yet", remedy="Start some (`dask worker ADDRESS`)."
        )
    present = json.loads(identity(*named))
    asked = time.time()
    answers = {
        worker: client.submit(_alone, identity, *named, workers=[worker], pure=False)
        for worker in workers
    }
    for worker, answer in answers.items():
        there = _answer(worker, answer)
        clock = there.pop("clock")
        for name, version in there.items():
            if version != present[name]:
                raise WorkerError(
                    f"{name} differs: {present[name]} here and {version} on worker {worker}",
                    remedy="Install the same versions and the same packs everywhere.",
                )
        if not asked - _SKEW < clock < time.time() + _SKEW:
            raise WorkerError(
                f"the clock of worker {worker} is wrong",
                value=f"{clock - time.time():+.0f} s",
                remedy="Synchronise the clocks of the machines.",
            )


def _answer(worker: str, answer: Future[str]) -> JsonObject:
    try:
        return dict(json.loads(answer.result(_LOADED)))
    except Exception as error:
        raise WorkerError(
            f"worker {worker} cannot load the claims ({type(error).__name__}: {error})",
            remedy="Install attsvm there, and name packs by a module or path that it knows.",
        ) from error

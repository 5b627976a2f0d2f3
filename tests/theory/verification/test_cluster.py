"""A dask cluster comes to what one process comes to, and says what is wrong with it."""

import functools
import itertools
import json
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import toy_jobs

from attsvm.cli import main
from attsvm.errors import DataError, UsageError, WorkerError
from attsvm.theory import load_packs
from attsvm.theory.verification import cluster as clusters
from attsvm.theory.verification.cluster import cluster
from tests.late import Late
from tests.theory.search.test_hunt import PACK, account, chase, toy

distributed = Late("distributed")


@pytest.fixture(scope="module")
def threads():
    """A cluster of two workers that are threads of this process."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as running:
        yield running.scheduler_address


@pytest.fixture(scope="module")
def apart(elsewhere):
    """A cluster of a worker that is a process of its own, and loads named packs alone."""
    with pytest.MonkeyPatch.context() as patch:
        here = {c.id: c for pack in load_packs(only=[PACK]) for c in pack.claims}
        patch.setattr(clusters, "known_claims", lambda named: here)
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as running:
            yield running.scheduler_address


@pytest.fixture(scope="module")
def identity():
    """What a process without claims says of itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "known_claims", lambda named: {})
        return json.loads(clusters.identity())


@pytest.fixture
def alike(identity, monkeypatch):
    """Workers say at once what this process says."""
    monkeypatch.setattr(
        clusters, "identity", lambda *_: json.dumps({**identity, "clock": time.time()})
    )


@pytest.mark.usefixtures("alike")
def test_jobs_are_done_with_their_results_and_errors(threads):
    with cluster(threads) as crew:
        jobs = {crew.submit(toy_jobs.echo, str(k)): str(k) for k in range(9)}
        assert [job.result() == jobs[job] for job in crew.completed(jobs)] == [True] * 9
        assert all(job.done() for job in jobs)
        with pytest.raises(DataError, match="no"):
            crew.submit(toy_jobs.refuse).result()
        slow = crew.submit(toy_jobs.sleep, "0.4")
        with pytest.raises(TimeoutError):
            slow.result(0.05)
        assert slow.result() == "0.4"


@pytest.mark.usefixtures("alike")
def test_a_process_does_one_job_at_a_time(threads):
    """The precision of exact arithmetic belongs to the process."""
    with cluster(threads) as crew:
        jobs = [crew.submit(toy_jobs.busy) for _ in range(4)]
        spans = sorted(tuple(map(float, job.result().split())) for job in jobs)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


def test_a_pack_that_only_this_process_can_load(apart, tmp_path):
    pack = Path(tmp_path / "here.py")
    text = f"import os\nassert os.getpid() == {os.getpid()}, 'another process'\n"
    pack.write_text(text + "from toy_pack import true\n")
    with pytest.raises(WorkerError, match=r"cannot load the claims .*another process"):
        cluster(apart, [str(pack)]).__enter__()


def test_a_worker_that_is_killed_half_way_changes_no_find_and_loses_nothing(apart):
    few = functools.partial(chase, toy("rarer"), 20, named=[PACK], searchers=["drawn", "ensemble"])
    alone = account(few())
    told = json.loads(alone)[0]
    assert told["found"]
    assert told["examined"] >= 100
    killed = []

    def one_dies(so_far):
        if not killed and so_far.examples >= told["examined"] // 2:
            assert so_far.smallest is None
            victim = next(p for p in multiprocessing.active_children() if "Dask" in p.name)
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    with cluster(apart, [PACK]) as crew:
        result = few(crew=crew, progress=one_dies)
    assert killed
    assert account(result) == alone


@pytest.mark.usefixtures("alike")
def test_a_hunt_whose_scheduler_goes_away_ends_with_what_it_has(monkeypatch):
    running = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )

    def leave(account):
        if account.examples:
            monkeypatch.setattr(clusters, "_ANSWER", 0.2)  # the scheduler is about to close
            running.close()

    with running, cluster(running.scheduler_address, [PACK]) as crew:
        result = chase(
            toy("true"),
            rounds=50,
            searchers=["drawn"],
            crew=crew,
            named=[PACK],
            progress=leave,
        )
    assert result.error.startswith("the cluster has gone away")
    assert 0 < result.rounds < 50
    assert result.examples > 0


def timeless(document):
    """A document without what differs between two runs of one command."""
    if isinstance(document, list):
        return [timeless(part) for part in document]
    if not isinstance(document, dict):
        return document
    return {k: timeless(v) for k, v in document.items() if "second" not in k and k != "growth"}


@pytest.mark.usefixtures("alike")
def test_the_commands_take_a_cluster(threads, here, capsys):
    for command in (["verify"], ["hunt", "--rounds", "1", "--searchers", "drawn,ensemble"]):
        words = [*command, "toy/sampled:literal", "--only-pack", PACK, "--json", "-"]
        codes, documents = [], []
        for where in (["--cluster", threads], []):
            codes.append(main([*words, *where]))
            documents.append(json.loads(capsys.readouterr().out))
        assert codes == 2 * [int(command[0] == "hunt")]
        there, here = map(timeless, documents)
        assert there == here
    assert main(["verify", "--cluster", threads, "-n", "2"]) == 2


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(clusters, "_ANSWER", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x", "no address"):
        with pytest.raises(WorkerError, match="no dask scheduler answers") as caught:
            cluster(address).__enter__()
        assert caught.value.value == address


def test_no_worker():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as running,
        pytest.raises(WorkerError, match="the cluster has no worker yet"),
    ):
        cluster(running.scheduler_address).__enter__()


def test_dask_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        cluster("tcp://127.0.0.1:9").__enter__()
    assert caught.value.remedy == "pip install 'attsvm[cluster]'"


def answers(monkeypatch, here, **other):
    """Have every worker answer as this process would, but for what is another there."""
    monkeypatch.setattr(clusters, "identity", lambda *_: json.dumps(here))
    monkeypatch.setattr(
        clusters, "_answer", lambda _, answer: {**json.loads(answer.result()), **other}
    )


@pytest.mark.parametrize("name", ["Python", "attsvm", "numpy", "claims"])
def test_a_worker_of_another_version_or_with_other_claims(threads, identity, monkeypatch, name):
    answers(monkeypatch, identity, **{name: "0.0.1"})
    with pytest.raises(WorkerError, match=rf"{name} differs: {identity[name]} here and 0.0.1 on"):
        cluster(threads).__enter__()


def test_a_patch_release_of_python_is_the_same(monkeypatch):
    monkeypatch.setattr(clusters, "known_claims", lambda named: {})
    told = []
    for patch in ("0", "9"):
        monkeypatch.setattr("platform.python_version_tuple", lambda p=patch: ("3", "13", p))
        told.append(json.loads(clusters.identity())["Python"])
    assert told == ["3.13", "3.13"]


def test_a_worker_whose_clock_is_wrong(threads, identity, monkeypatch):
    answers(monkeypatch, identity, clock=time.time() - 60)
    with pytest.raises(WorkerError, match=r"the clock of worker .* is wrong \(got -6"):
        cluster(threads).__enter__()


QUESTIONS = """
from attsvm import Integer, Vector, question

TRUE = question(lambda m, v: m.at_most(v.k, 3), k=Integer(1, 3))
FALSE = question(lambda m, v: m.at_most(m.sum(m.abs(v.x)), 2 * m.norm(v.x)), x=Vector("n"))
"""


def test_a_cluster_answers_questions(threads, alike, here):
    Path("questions.py").write_text(QUESTIONS)
    options = ["--rounds", "1", "--cluster", threads, "--json", "answers.json"]
    assert main(["ask", "questions.py", *options]) == 0
    entries = json.loads(Path("answers.json").read_text())["questions"]
    assert [(e["name"], e["answer"]) for e in entries] == [
        ("TRUE", "not refuted"),
        ("FALSE", "refuted"),
    ]
    assert entries[1]["instance"] == {"n": "5", "x": "[1, 1, 1, 1, 1]"}

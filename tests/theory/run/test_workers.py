"""Jobs are done whatever happens to the processes that do them."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import toy_jobs
import toy_pack

from attsvm._live import watched
from attsvm._threads import SINGLE
from attsvm.errors import DataError, UnknownClaimError, WorkerError
from attsvm.theory.run.workers import HERE, known_claim, processes

PACK = str(Path(toy_pack.__file__))


pytestmark = pytest.mark.usefixtures("elsewhere")  # where workers load no claims


@pytest.fixture(scope="module")
def two():
    with pytest.MonkeyPatch.context() as patch:
        for name in SINGLE:  # the tests have one as well
            patch.setenv(name, "2")
        with processes(2) as crew:
            yield crew


@pytest.fixture(params=["here", "processes"])
def crew(request):
    return HERE if request.param == "here" else request.getfixturevalue("two")


def test_every_job_is_done_once_and_yields_its_own_result(crew):
    jobs = {crew.submit(toy_jobs.echo, "job", str(k)): f"job {k}" for k in range(20)}
    assert [job.result() == jobs[job] for job in crew.completed(jobs)] == [True] * 20


def test_who_asks_for_a_job_is_told_of_kernels_that_are_compiled_for_it(crew):
    told = []
    with watched(lambda *news: told.append(news)):
        job = crew.submit(toy_jobs.compiles, "toy.kernel")
        assert job.result() == "toy.kernel"
    (begun, nothing), (ended, seconds) = told
    assert (begun, nothing, ended, seconds >= 0) == ("toy.kernel", None, "toy.kernel", True)
    assert crew.submit(toy_jobs.compiles, "toy.kernel").result() == "toy.kernel"
    assert len(told) == 2


def test_an_error_keeps_its_cause_value_and_remedy(crew):
    with pytest.raises(DataError) as caught:
        crew.submit(toy_jobs.refuse).result()
    assert (caught.value.cause, caught.value.value, caught.value.remedy) == ("no", "x", "Try y.")


def test_an_error_of_ours_of_a_kind_unknown_to_others_comes_as_the_nearest_kind(two):
    with pytest.raises(UnknownClaimError) as caught:
        two.submit(toy_jobs.raise_far_off).result()
    assert type(caught.value) is UnknownClaimError
    assert str(caught.value) == "no such thing (got [1, 2]). Look nearer."
    assert (caught.value.cause, caught.value.remedy) == ("no such thing", "Look nearer.")


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (toy_jobs.puzzle, "UnportableError: this and that"),
        (toy_jobs.raise_mute, "MuteError: no message"),
        (toy_jobs.exit_at_once, "SystemExit: 3"),
        (toy_jobs.raise_on_unpickling, "ValueError: a trap"),
    ],
)
def test_what_others_raise_comes_as_text(two, job, said):
    with pytest.raises(RuntimeError) as caught:
        two.submit(job).result()
    assert (type(caught.value), str(caught.value)) == (RuntimeError, said)
    assert two.submit(toy_jobs.echo, "on").result() == "on"


def test_one_worker_is_this_process():
    with processes(1) as crew:
        assert crew is HERE
        assert crew.submit(toy_jobs.process).result() == str(os.getpid())


def test_two_processes_work_side_by_side_and_neither_is_this_one(two):
    waits = [two.submit(toy_jobs.sleep, "0.4") for _ in range(2)]
    workers = [two.submit(toy_jobs.process) for _ in range(6)]
    assert all(wait.result() == "0.4" for wait in waits)
    assert str(os.getpid()) not in {job.result() for job in workers}


def test_numeric_libraries_of_a_worker_have_one_thread_and_ours_what_they_had(two):
    before = {name: os.environ.get(name) for name in SINGLE}
    assert two.submit(toy_jobs.threads).result().split() == ["1"] * len(SINGLE)
    assert {name: os.environ.get(name) for name in SINGLE} == before


def test_ctrl_c_in_a_worker_is_for_the_process_that_controls_it(two):
    assert two.submit(toy_jobs.shrug_off_interrupt).result() == "went on"


def test_a_job_whose_process_is_killed_is_done_by_another_and_the_rest_go_on(two, tmp_path):
    lost = two.submit(toy_jobs.die_once, str(tmp_path / "marker"))
    rest = [two.submit(toy_jobs.echo, str(k)) for k in range(10)]
    assert lost.result() == "done at last"
    assert [job.result() for job in rest] == [str(k) for k in range(10)]


def test_a_job_that_kills_every_process_is_given_up_and_the_rest_go_on(two, tmp_path, monkeypatch):
    """After as many processes as are tried."""
    marker = tmp_path / "marker"
    monkeypatch.setattr("attsvm.theory.run.workers.ATTEMPTS", 2)
    deadly = two.submit(toy_jobs.leave_then_die, str(marker))
    rest = two.submit(toy_jobs.echo, "alive")
    with pytest.raises(WorkerError, match="2 worker processes died or were killed"):
        deadly.result()
    ends = ["ended with exit code 0", f"ended with exit code {-signal.SIGKILL}"]
    assert (marker.read_text(), deadly.deaths) == ("left\ndied\n", ends)
    assert rest.result() == "alive"


def test_a_result_is_waited_for_no_longer_than_asked(two):
    slow = two.submit(toy_jobs.sleep, "0.5")
    with pytest.raises(TimeoutError):
        slow.result(0.05)
    assert slow.result() == "0.5"


def test_who_leaves_waits_for_nobody_and_leaves_no_process_behind():
    before = set(multiprocessing.active_children())
    with processes(2) as crew:
        crew.submit(toy_jobs.process).result()
        waiting = [crew.submit(toy_jobs.sleep, "600") for _ in range(5)]
        left = time.monotonic()
    assert time.monotonic() - left < 60.0  # each job sleeps for ten minutes
    assert all(job.done() for job in waiting)
    assert set(multiprocessing.active_children()) <= before


def alive(number):
    """Whether a process runs; one that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_workers_end_within_their_jobs_where_the_controlling_process_is_killed(tmp_path, outside):
    script = tmp_path / "controller.py"
    script.write_text(
        "import toy_jobs\n"
        "from attsvm.theory.run.workers import processes\n"
        "if __name__ == '__main__':\n"
        "    with processes(2) as crew:\n"
        "        jobs = [crew.submit(toy_jobs.tell_and_sleep, '60') for _ in range(2)]\n"
        "        jobs[0].result()\n"
    )
    controller = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=outside)
    workers = [int(controller.stdout.readline()) for _ in range(2)]
    assert all(map(alive, workers))
    controller.kill()
    controller.wait()
    controller.stdout.close()
    deadline = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    left = [number for number in workers if alive(number)]
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert left == []


def test_a_script_that_starts_workers_wherever_it_is_imported_is_told_so(tmp_path, outside):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from attsvm.theory.run import workers\n"
        "workers.ATTEMPTS = 1\n"
        "with workers.processes(2) as crew:\n"
        "    print(crew.submit(len, 'three').result())\n"
    )
    command = [sys.executable, script]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=outside
    )
    assert done.returncode == 1
    assert "__name__ == '__main__'" in done.stderr.splitlines()[-1]


def test_a_claim_is_known_by_its_id_and_pack():
    assert known_claim("toy/true:literal", [PACK]).statement == "True."
    with pytest.raises(UnknownClaimError, match="no pack of this worker"):
        known_claim("toy/true:literal", [])

"""The command that emulates machines can turn red; what is not emulated is never green."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import machines
from benchmarks.machines import MACHINES, Machine, Run

HERE = {"kernels": ["Haswell"], "threads": [1], "vectors": ["X86_V3"], "processor": "znver3"}
STORED = machines.ROOT / "properties/mm/counterexamples/mm--joint-svm--literal-2--smallest.json"


@pytest.mark.parametrize(
    ("machine", "there", "why"),
    [
        (Machine("Haswell"), HERE, None),
        (Machine("Prescott"), HERE | {"kernels": ["Katmai"]}, None),
        (Machine("Zen"), HERE, "kernels of OpenBLAS in use: haswell"),
        (Machine("Zen"), HERE | {"kernels": []}, "kernels of OpenBLAS in use: none"),
        (Machine("SkylakeX"), -4, "the probe ended with -4; the processor may lack an instruction"),
        (Machine(scalar=True), HERE, "numpy still uses X86_V3"),
        (Machine(scalar=True), HERE | {"vectors": []}, None),
        (Machine(generic=True), HERE, "numba compiles for znver3"),
        (Machine(generic=True), HERE | {"processor": "generic"}, None),
        (Machine(threads=2), HERE, "OpenBLAS has [1] threads"),
        (Machine(threads=2), HERE | {"threads": [2]}, None),
    ],
)
def test_a_setting_without_effect_is_not_possible(machine, there, why):
    assert machines.impossible(machine, HERE, there) == why


def test_the_probe_sees_what_the_settings_change(tmp_path, monkeypatch):
    usual = machines.Machine("?", scalar=True, generic=True, threads=2)
    for name in machines.environment(usual, ["?"], tmp_path):  # this may be an emulated machine
        monkeypatch.delenv(name, raising=False)
    here = machines.probed(sys.executable, {})
    machine = MACHINES["prescott-generic"]
    there = machines.probed(
        sys.executable, machines.environment(machine, here["vectors"], tmp_path)
    )
    assert there["vectors"] == []
    assert there["processor"] == "generic"
    assert here["processor"]  # an old LLVM calls a new processor generic, too
    if here["kernels"]:  # numpy and scipy use OpenBLAS
        assert there["kernels"] != here["kernels"]


def replayed(**changes):
    """The replay of a stored counterexample, as the command writes it."""
    place = str(STORED.relative_to(machines.ROOT))
    reason = "slack in [-1, -1], rationals"
    return {"file": place, "result": "CONFIRMED", "reason": reason, **changes}


def test_a_replay_with_other_digits_is_red():
    assert machines.replay_fault(replayed()) == ""
    for changes in (
        {"result": "NOT CONFIRMED"},
        {"reason": "slack in [-1.0000000000000002, -1], rationals"},
        {"reason": "slack in [-1, -0.99999999999999999], rationals"},
        {"reason": "slack <= 0"},
    ):
        assert STORED.name in machines.replay_fault(replayed(**changes))


def claims(names, **changes):
    """Verdicts as `verify` writes them, for each claim the reviewed one but for the changes."""
    return [{"id": n, "reason": "why", **machines.reviewed()[n], **changes} for n in names]


def test_verdicts_are_held_against_the_reviewed_ones():
    names = machines.chosen(3)
    assert machines.verdict_faults({"claims": claims(names)}, names) == []
    for changes in ({"truth": "undecided"}, {"evidence": "none"}, {"validity": "thin"}):
        report = {"claims": claims(names[:1], **changes) + claims(names[1:])}
        (fault,) = machines.verdict_faults(report, names)
        assert fault.startswith(f"{names[0]}: ")
    assert machines.verdict_faults({}, names) == [f"{name}: not checked" for name in names]
    (fault,) = machines.verdict_faults({"replayed": [replayed(result="ERROR")]}, [])
    assert STORED.name in fault


def test_chosen_claims_are_of_all_sources():
    names = machines.chosen(40)
    assert len({*names}) == 40
    assert {name.partition("/")[0] for name in names} == {"mm", "sim", "tf"}
    assert machines.chosen(len(machines.reviewed())) == sorted(machines.reviewed())


SUITE = """
def test_that_passes():
    pass

def test_that_fails():
    assert 1 + 1 == 3

def test_of_torch():
    raise ModuleNotFoundError("No module named 'torch'")
"""


@pytest.mark.parametrize(
    ("threads", "torch", "text", "red"),
    [
        (1, False, SUITE, ["test_toys::test_that_fails"]),
        (2, True, SUITE, ["test_toys::test_that_fails", "test_toys::test_of_torch"]),
        (1, False, "raise OSError", ["::test_toys"]),
    ],
)
def test_a_failing_test_turns_the_command_red(tmp_path, threads, torch, text, red, capsys):
    (tmp_path / "test_toys.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]")
    options = Namespace(rooms=[str(tmp_path)], n=1)
    variables = machines.environment(Machine(threads=threads), [])
    run = Run(sys.executable, Machine(threads=threads), variables, tmp_path, torch, options)
    assert run.suite() == red
    told = "left out, as there is no torch: 1 test" in capsys.readouterr().out
    assert told is (not torch and text is SUITE)


def test_a_red_part_and_an_impossible_machine_decide_the_exit_code(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(machines, "probed", lambda *_: HERE | {"torch": True})

    def ended(*words):
        monkeypatch.setattr(sys, "argv", ["machines", "--parts", "replays", *words])
        return machines.main(), capsys.readouterr().out

    monkeypatch.setattr(Run, "replays", lambda _: [])
    assert ended("here")[0] == 0
    code, said = ended("zen")
    assert code == 1
    assert "not possible here: kernels of OpenBLAS in use: haswell" in said
    assert "green" not in said
    monkeypatch.setattr(Run, "replays", lambda _: ["this one"])
    table = tmp_path / "table.json"
    code, said = ended("here", "zen", "--json", str(table))
    assert code == 1
    assert "red: this, here, replays\n  this one\n" in said.replace(
        Path(sys.executable).name, "this"
    )
    assert [*json.loads(table.read_text())["red"].values()] == [["this one"]]
    with pytest.raises(SystemExit):
        ended("nowhere")


def test_figures_beside_verdicts_are_counted(tmp_path):
    for name, slack in (("one", 0.1), ("other", 0.2)):
        document = {"claims": claims(machines.chosen(2), min_slack=slack, seconds=slack)}
        (tmp_path / name).write_text(json.dumps(document))
    assert machines.other_figures(tmp_path / "one", tmp_path / "other") == "min_slack of 2"
    assert machines.other_figures(tmp_path / "one", tmp_path / "one") == ""

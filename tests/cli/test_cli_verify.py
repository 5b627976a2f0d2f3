"""`attsvm verify`: exit codes, one document, what is shown of what fell."""

import re
from pathlib import Path

import pytest
from commands import PACK, TOYS

from attsvm._live import Live, compiling
from attsvm.cli import verify
from attsvm.theory.verification import verify as verification


def test_verify_of_sound_claims_exits_with_zero(attsvm, tmp_path):
    code, out, error = attsvm("verify", *TOYS, "toy/true", "toy/false", "toy/short")
    assert code == 0
    assert re.search(r"toy/false:literal +refuted +certified +exercised +2/2", out)
    assert out.splitlines()[-2].endswith("every verdict as expected")
    assert re.fullmatch(
        r"1 counterexample of this run in \S+; replay one: attsvm replay --only-pack \S+ FILE",
        out.splitlines()[-1],
    )
    assert error == ""
    assert (tmp_path / ".attsvm" / "ledger.jsonl").exists()
    assert (tmp_path / ".attsvm" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".attsvm/counterexamples/toy--false--literal.json").exists()


def test_of_many_claims_those_are_listed_that_are_not_as_expected(attsvm, monkeypatch):
    words = ["verify", *TOYS, "toy/true", "toy/false", "toy/blunt", "--durations", "2"]
    code, whole, _ = attsvm(*words)
    assert (code, "toy/true:literal  " in whole) == (1, True)
    assert len(re.findall(r"^ +\d+\.\d\d  toy/\S+$", whole, re.M)) == 2
    assert "source" not in whole
    monkeypatch.setattr(verify, "_FEW", 2)
    assert attsvm(*words, "--all")[1].splitlines()[:4] == whole.splitlines()[:4]
    code, brief, _ = attsvm(*words)
    assert code == 1
    shown, _, below = brief.partition("source  readings  proved  holds")
    assert re.findall(r"^!? +(toy\S+)  ", shown, re.M) == ["toy/blunt:literal"]
    assert below.splitlines()[1].split()[:7] == ["toy", "3", "0", "2", "0", "0", "1"]


def test_what_was_not_as_expected_or_not_finished_is_checked_again(attsvm):
    words = [*TOYS, "toy/true", "toy/blunt", "toy/short"]
    assert attsvm("verify", *words, "--lf")[0] == 2  # no run was recorded
    code, out, _ = attsvm("verify", *words, "--seed", "4")
    assert code == 1
    again = f"attsvm verify --only-pack {PACK} --profile quick --seed 4 toy/blunt:literal"
    assert out.splitlines()[-1] == f"check again: {again}"
    code, out, _ = attsvm("verify", *words, "--lf")
    assert (code, "1 claim on " in out) == (1, True)
    assert attsvm("verify", *TOYS, "toy/true", "toy/false")[0] == 0
    code, out, error = attsvm("verify", *TOYS, "toy/true", "toy/false", "--lf")
    assert (code, "2 claims on " in out) == (0, True)
    assert "unfinished or not as expected: checking all 2 claims" in error


def test_more_claims_than_a_line_holds_are_checked_again_by_lf(attsvm, monkeypatch):
    monkeypatch.setattr(verify, "_LISTED", 0)
    out = attsvm("verify", "--pack", PACK, "toy/blunt", "--ledger", "own")[1]
    assert out.splitlines()[-1] == (
        f"check again: attsvm verify --pack {PACK} --profile quick --seed 0 --ledger own --lf"
    )


def test_what_is_compiled_is_told_and_nothing_else(attsvm, monkeypatch):
    assert "compil" not in attsvm("verify", *TOYS, "toy/short")[2]

    def compiles(*of, check=verification.check_part):
        with compiling("descent.run"):
            return check(*of)

    monkeypatch.setattr(verification, "check_part", compiles)
    first, *_, last = attsvm("verify", *TOYS, "toy/short")[2].splitlines()
    assert first.startswith("compiling descent.run and perhaps others: once for each installation")
    assert re.fullmatch(r"compiled 1 kernel in \d+ s: descent\.run", last)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("blunt", "holds +numeric +weak +0/2"),
        ("raises", "undecided +none +error"),
    ],
)
def test_verify_of_an_unsound_claim_exits_with_one(attsvm, name, words):
    code, out, _ = attsvm("verify", *TOYS, f"toy/{name}", "toy/tie")
    assert code == 1
    assert re.search(rf"^! +toy/{name}:literal +{words}", out, re.MULTILINE)
    assert re.search(r"^ +toy/tie:literal +refuted", out, re.MULTILINE)
    assert "1 not as expected" in out


def test_verify_shows_what_refutes_a_claim_against_expectation(attsvm):
    code, out, _ = attsvm("verify", *TOYS, "toy/proof-contradicted", "toy/false")
    assert code == 1
    _, _, below = out.partition("toy/proof-contradicted:literal is refuted by\n")
    lines = below.splitlines()
    assert lines[0].startswith("  case = ")
    assert lines[1].startswith("  slack")
    stored = ".attsvm/counterexamples/toy--proof-contradicted--literal.json"
    assert lines[2] == f"replay it: attsvm replay --only-pack {PACK} {stored}"
    assert "toy/false:literal is refuted by" not in out  # as expected


@pytest.mark.parametrize("json", [[], ["--json", "-"]])
def test_an_interrupted_verify_tells_what_is_done_and_what_is_left(attsvm, monkeypatch, json):
    told = Live.update

    def stop(self, line, worth):
        told(self, line, worth)
        if line().endswith("toy/true:literal"):  # the first claim that is not decided yet
            raise KeyboardInterrupt

    monkeypatch.setattr(Live, "update", stop)
    words = ["toy/false", "toy/short", "toy/true"]
    code, out, error = attsvm("verify", *TOYS, *words, "--seed", "3", *json)
    assert code == 130
    assert error.splitlines()[-1] == "attsvm: interrupted; the ledger holds what was done"
    said = error if json else out
    assert "2 of 3 claims: every verdict as expected" in said.splitlines()
    command = f"attsvm verify --only-pack {PACK} --profile quick --seed 3 toy/true:literal"
    rest = f"check the rest: {command}"
    assert rest in said.splitlines()
    assert bool(re.search(r"^ +toy/false:literal +refuted", out, re.MULTILINE)) is not bool(json)
    assert not json or out == ""


def test_a_run_of_a_project_says_how_to_leave_out_other_packs(attsvm, monkeypatch, tmp_path):
    def stop(self, line, worth):
        raise KeyboardInterrupt

    (tmp_path / "pyproject.toml").write_text('[tool.attsvm]\npacks = ["mine"]\n')
    (tmp_path / "mine.py").write_text("from toy_pack import true\n")
    alone = "add `--only-pack mine` for yours alone"
    said = rf"^(attsvm: )?also \w+ mm, sim, tf \(\d+ claims\); {alone}$"
    with monkeypatch.context() as patch:
        patch.setattr(Live, "update", stop)
        code, _, error = attsvm("verify")
    assert (code, bool(re.search(said, error, re.MULTILINE))) == (130, True)
    assert attsvm("verify", "toy/")[2] == ""
    alone = ["--only-pack", "mine"]
    assert attsvm("verify", *alone)[2] == ""
    assert attsvm("gate", *alone, "--update", "--yes")[0] == 0
    assert "also compares" not in attsvm("gate", *alone)[1]
    code, out, _ = attsvm("gate")
    assert (code, bool(re.search(said, out, re.MULTILINE))) == (1, True)


def test_verify_prints_one_document_that_matches_its_exit_code(document):
    code, found = document("verify", *TOYS, "toy/true", "toy/blunt", "toy/false", "--seed", "3")
    assert (code, found["matched"], found["profile"], found["seed"]) == (1, False, "quick", 3)
    blunt, false, true = found["claims"]
    assert [s["refuted"] for s in blunt["siblings"]] == [False, False]
    assert (blunt["counterexample"], true["counterexample"]) == (None, None)
    assert Path(false["counterexample"]).exists()
    assert true["hypotheses"] == {}
    assert true["tightness"] is None
    code, found = document("verify", *TOYS, "toy/true")
    assert (code, found["matched"]) == (0, True)


def test_a_new_folder_for_a_file_is_told(attsvm):
    words = ["verify", *TOYS, "toy/true", "--ledger", "runs/l.jsonl", "--json", "out/run.json"]
    assert attsvm(*words)[2].splitlines() == [
        "attsvm: the ledger is runs/l.jsonl, in a new folder",
        "attsvm: wrote out/run.json, in a new folder",
    ]
    assert attsvm(*words)[2] == ""


def test_verify_looks_first_whether_its_json_can_be_written(attsvm, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, error = attsvm("verify", *TOYS, "toy/true", "--json", "file/x.json")
    assert (code, error.startswith("attsvm: cannot write")) == (2, True)
    assert not (tmp_path / ".attsvm").exists()

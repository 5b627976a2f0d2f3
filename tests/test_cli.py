"""The command line keeps its contract: exit codes, one JSON document, and never a traceback."""

import json
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attsvm import cli
from attsvm.cli.hunt import unfinished
from attsvm.data import AttentionData
from attsvm.errors import AttsvmError, UsageError
from attsvm.theory import counterexample, load_packs
from attsvm.theory.account import Hunt
from attsvm.theory.packs import find_claims
from attsvm.theory.tally import Refuted

PACK = str(Path(__file__).parent / "theory" / "toy_pack.py")
EXPECTED = load_packs()[0].expectations
TOYS = ["--pack", PACK]
HEAVY = ["numpy", "scipy", "numba", "matplotlib", "torch", "cvxpy", "sympy"]
HEAVY += ["hypothesis", "rich", "flint", "jaxtyping"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(PACK).parent))  # where the pack's proofs are looked up


@pytest.fixture
def attsvm(capsys):
    """Run a command in this process; returns exit code, standard output and error."""

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


@pytest.fixture
def document(attsvm):
    """Run a command with --json -; returns exit code and the one document that it printed."""

    def run(*words):
        code, out, _ = attsvm(*words, "--json", "-")
        found = json.loads(out)
        assert found["schema"] == 1
        return code, found

    return run


def in_a_process(*words, **rest):
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **rest)


# starting


@pytest.mark.parametrize("words", [[], ["--help"], ["verify", "--help"], ["nonsense"]])
def test_starting_imports_nothing_heavy(words):
    code = f"""
import sys
import attsvm, attsvm.cli
try:
    {words!r} and attsvm.cli.main({words!r})
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = in_a_process("-c", code)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_names_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Exit codes: 0 as hoped for, 1 not, 2 usage or bad input, 3 internal error, " in text
    assert re.search(r"130\s+interrupted\.", text)
    for command in ("claims", "verify", "hunt", "replay", "gate", "solve", "reproduce"):
        assert re.search(rf"^ +{command}\s", text, re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["verify", "--profile", "fast"],
        ["verify", "--seed", "x"],
        ["verify", "-n", "0"],
        ["verify", "-n", "two"],
        ["verify", "--unheard-of"],
        ["hunt"],
        ["hunt", "toy/true", "--seconds", "0"],
        ["hunt", "toy/true", "--seconds", "nan"],
        ["hunt", "toy/true", "--seconds", "inf"],
        ["hunt", "toy/true", "--seconds", "1e9"],
        ["hunt", "toy/true", "--searchers", ""],
        ["hunt", "toy/true", "--searchers", "drawn,"],
        ["replay"],
        ["solve"],
        ["solve", "a.npz", "--norm", "l7"],
        ["claims", "--pack", "nowhere.py"],
        ["claims", "--pack", "no.such.module"],
        ["gate", "--ledger", "nowhere.jsonl"],
        ["verify", "tf/lemma-2", "--seed"],
    ],
)
def test_a_usage_error_exits_with_two_and_one_line(attsvm, words):
    code, out, error = attsvm(*words)
    assert (code, out) == (2, "")
    assert error.startswith("attsvm: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("command", ["verify", "hunt"])
def test_an_unknown_id_names_the_nearest(attsvm, command):
    code, _, error = attsvm(command, "sim/lema-3.12:sharp")
    assert code == 2
    assert "sim/lemma-3.12:sharp" in error.partition("Nearest:")[2]


# errors


def breaks(*_):
    raise ZeroDivisionError("a slip of ours")


def test_an_internal_error_exits_with_three_and_points_to_debug(attsvm, monkeypatch):
    monkeypatch.setitem(cli._COMMANDS, "claims", breaks)
    code, out, error = attsvm("claims")
    assert (code, out) == (3, "")
    assert error == (
        "attsvm: internal error (ZeroDivisionError: a slip of ours). "
        "Run again with --debug and report it.\n"
    )


def test_debug_lets_every_error_through(monkeypatch):
    with pytest.raises(UsageError):
        cli.main(["verify", "--profile", "fast", "--debug"])
    with pytest.raises(AttsvmError):
        cli.main(["solve", "none.npz", "--debug"])
    monkeypatch.setitem(cli._COMMANDS, "claims", breaks)
    with pytest.raises(ZeroDivisionError):
        cli.main(["claims", "--debug"])


def test_the_traceback_is_shown_with_debug_and_never_without(tmp_path):
    words = ["-m", "attsvm.cli", "solve", "none.npz"]
    plain, debug = in_a_process(*words), in_a_process(*words, "--debug")
    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr == "attsvm: there is no file none.npz. Check the path.\n"
    assert "Traceback (most recent call last)" in debug.stderr


def test_an_interrupt_exits_with_130(attsvm, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    for command, said in (("claims", ""), ("verify", "; the ledger holds what was done")):
        monkeypatch.setitem(cli._COMMANDS, command, interrupted)
        code, _, error = attsvm(command)
        assert (code, error) == (130, f"attsvm: interrupted{said}\n")


def test_a_reader_that_leaves_early_is_no_error():
    done = in_a_process(
        "-c",
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'attsvm.cli', 'claims', '--json', '-'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "p.stdout.close()\n"
        "print(p.stderr.read().decode(), p.wait())",
    )
    assert "Traceback" not in done.stdout
    assert "internal error" not in done.stdout


def test_a_cluster_that_is_not_there_is_told_of_in_one_line_at_once():
    started = time.monotonic()
    done = in_a_process("-m", "attsvm.cli", "verify", "sim/lemma-3.12", "--cluster", "garbage")
    assert done.returncode == 2
    assert re.fullmatch(r"attsvm: no dask scheduler answers .*\(got garbage\).*\n", done.stderr)
    assert time.monotonic() - started < 9  # saying goodbye to nobody took ten seconds


# claims


def test_claims_lists_every_claim_with_the_promised_keys(document):
    code, found = document("claims")
    assert code == 0
    (pack,) = load_packs()
    assert [c["id"] for c in found["claims"]] == [c.id for c in pack.claims]
    for entry in found["claims"]:
        assert set(entry) >= {
            *("id", "reading", "source", "place", "statement", "hypotheses"),
            *("expected", "depends_on", "file", "line"),
        }
        line = Path(entry["file"]).read_text().splitlines()[entry["line"] - 1]
        assert line.startswith(("@claim(", "def "))


def test_claims_prints_every_id_and_a_named_pack(attsvm):
    code, out, _ = attsvm("claims", *TOYS)
    assert code == 0
    for pack in load_packs([PACK]):
        for claim in pack.claims:
            assert claim.id in out


def test_claims_are_chosen_by_id_statement_or_prefix(attsvm, document):
    ids = [c["id"] for c in document("claims", "sim/lemma-3.12:sharp", "tf/lemma-2")[1]["claims"]]
    assert "tf/lemma-2:literal" in ids
    assert "sim/lemma-3.12:sharp" in ids
    assert all(i.startswith(("sim/lemma-3.12:sharp", "tf/lemma-2:")) for i in ids)
    code, _, error = attsvm("claims", "sim/lema-3.12")
    assert (code, "Nearest: " in error) == (2, True)


def test_json_goes_to_a_file_beside_the_table(attsvm, tmp_path):
    code, out, _ = attsvm("claims", "--json", tmp_path / "deep" / "claims.json")
    assert code == 0
    assert "sim/lemma-3.12:sharp" in out
    assert json.loads((tmp_path / "deep" / "claims.json").read_text())["schema"] == 1


def test_json_that_cannot_be_written_is_bad_input(attsvm, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, error = attsvm("claims", "--json", tmp_path / "file" / "claims.json")
    assert (code, error.startswith("attsvm: cannot write")) == (2, True)


# verify


def test_verify_of_sound_claims_exits_with_zero(attsvm, tmp_path):
    code, out, error = attsvm("verify", *TOYS, "toy/true", "toy/rare", "toy/short")
    assert code == 0
    assert re.search(r"toy/rare:literal +refuted +certified +exercised +2/2", out)
    assert out.splitlines()[-2].endswith("every verdict as expected")
    assert re.fullmatch(
        r"1 counterexample\(s\) in \S+; replay them: attsvm replay --pack \S+ FILE",
        out.splitlines()[-1],
    )
    assert "toy/true:literal: holds, numeric, exercised" in error
    assert (tmp_path / ".attsvm" / "ledger.jsonl").exists()
    assert (tmp_path / ".attsvm" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".attsvm/counterexamples/toy--rare--literal.json").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("blunt", "holds +numeric +weak +0/2"),
        ("vacuous", "undecided +none +vacuous"),
        ("raises", "undecided +none +error"),
        ("exits", "undecided +none +error"),
        ("thin", "holds +numeric +thin"),
        ("proof-contradicted", "refuted +certified +exercised"),
    ],
)
def test_verify_of_an_unsound_claim_exits_with_one(attsvm, name, words):
    code, out, _ = attsvm("verify", *TOYS, f"toy/{name}", "toy/tie")
    assert code == 1
    assert re.search(rf"^! +toy/{name}:literal +{words}", out, re.MULTILINE)
    assert re.search(r"^ +toy/tie:literal +refuted", out, re.MULTILINE)
    assert "1 not as expected" in out


def test_verify_prints_one_document_that_matches_its_exit_code(document):
    code, found = document("verify", *TOYS, "toy/true", "toy/blunt", "toy/rare", "--seed", "3")
    assert (code, found["matched"], found["profile"], found["seed"]) == (1, False, "quick", 3)
    blunt, rare, true = found["claims"]
    assert [s["refuted"] for s in blunt["siblings"]] == [False, False]
    assert (blunt["counterexample"], true["counterexample"]) == (None, None)
    assert Path(rare["counterexample"]).exists()
    assert true["hypotheses"] == {}
    assert true["tightness"] is None
    code, found = document("verify", *TOYS, "toy/true")
    assert (code, found["matched"]) == (0, True)


def test_a_damaged_curated_file_is_in_the_summary(attsvm, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    pack = tmp_path / "mine.py"
    pack.write_text("from toy_pack import true\n")
    (tmp_path / "counterexamples").mkdir()
    (tmp_path / "counterexamples" / "odd.json").write_text("{")
    code, out, _ = attsvm("verify", "--pack", pack, "toy/true")
    assert code == 1
    assert out.splitlines()[-1].endswith(
        "every verdict as expected, but 1 curated counterexample was not confirmed"
    )


def test_a_ledger_that_cannot_be_written_is_bad_input(attsvm, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, error = attsvm("verify", "sim/lemma-3.12", "--ledger", tmp_path / "file" / "l")
    assert (code, out) == (2, "")
    assert "cannot be written" in error
    assert "--ledger" in error


def test_a_kill_within_a_line_does_not_spoil_the_next_run(attsvm, tmp_path):
    ledger = tmp_path / "l"
    assert attsvm("verify", *TOYS, "toy/true", "--ledger", ledger)[0] == 0
    ledger.write_bytes(ledger.read_bytes()[:-9])
    code, out, _ = attsvm("gate", "--ledger", ledger, "--expect", expect(tmp_path))
    assert code == 1
    assert "the run did not finish" in out
    assert attsvm("verify", *TOYS, "toy/true", "--ledger", ledger)[0] == 0
    assert attsvm("gate", "--ledger", ledger, "--expect", expect(tmp_path))[0] == 0


# gate


def expect(folder, **changes):
    words = {"truth": "holds", "evidence": "numeric", "validity": "exercised", "reason": "true"}
    path = folder / "expect.json"
    path.write_text(json.dumps({"schema": 1, "claims": {"toy/true:literal": {**words, **changes}}}))
    return path


def test_the_gate_passes_a_run_as_reviewed_and_stops_every_other(attsvm, document, tmp_path):
    attsvm("verify", *TOYS, "toy/true")
    code, out, _ = attsvm("gate", "--expect", expect(tmp_path))
    assert (code, out) == (0, "gate: 1 verdicts as reviewed\n")
    code, found = document("gate", "--expect", expect(tmp_path, truth="refuted"))
    assert (code, found["passed"]) == (1, False)
    assert found["reasons"][0].startswith("toy/true:literal: truth is holds, expected refuted")
    code, found = document("gate", "--expect", expect(tmp_path, until="2020-01-01"))
    assert (code, len(found["reasons"])) == (1, 1)
    assert "lapsed on 2020-01-01" in found["reasons"][0]


def test_the_gate_holds_a_run_against_the_shipped_expectations_by_default(attsvm):
    attsvm("verify", "sim/lemma-3.12")
    code, out, _ = attsvm("gate")
    assert code == 1
    assert "tf/lemma-2:literal: expected refuted, certified, exercised, not part of the run" in out
    assert not re.search(r"^sim/lemma-3\.12:", out, re.MULTILINE)


def test_the_gate_of_a_named_pack_leaves_out_what_the_run_did_not_check(attsvm, tmp_path):
    pack = tmp_path / "mine.py"
    pack.write_text("from toy_pack import true\n")
    expect(tmp_path).rename(tmp_path / "expectations.json")
    attsvm("verify", "--pack", pack, "toy/true")
    code, out, _ = attsvm("gate", "--pack", pack)
    assert code == 0
    assert out.startswith("gate: 1 verdicts as reviewed\nthe run checked nothing of the installed")
    assert attsvm("gate")[0] == 1
    attsvm("verify", "--pack", pack, "toy/true", "sim/lemma-3.12")
    code, out, _ = attsvm("gate", "--pack", pack)
    assert code == 1
    assert "tf/lemma-2:literal: expected refuted, certified, exercised, not part of the run" in out


def test_the_gate_takes_no_surviving_sibling(attsvm, tmp_path):
    attsvm("verify", *TOYS, "toy/blunt")
    words = {"truth": "holds", "evidence": "numeric", "validity": "weak", "reason": "no"}
    path = tmp_path / "e.json"
    path.write_text(json.dumps({"schema": 1, "claims": {"toy/blunt:literal": words}}))
    code, out, _ = attsvm("gate", "--expect", path)
    assert code == 1
    assert "siblings not refuted: ['shift 100', 'shift 1000']" in out


@pytest.mark.parametrize(
    "changes", [{"reason": ""}, {"truth": "true"}, {"unheard-of": 1}, {"until": "soon"}]
)
def test_bad_expectations_are_bad_input(attsvm, tmp_path, changes):
    attsvm("verify", *TOYS, "toy/true")
    code, out, error = attsvm("gate", "--expect", expect(tmp_path, **changes))
    assert (code, out) == (2, "")
    assert "toy/true:literal" in error


def test_expectations_or_a_ledger_of_another_kind_are_bad_input(attsvm, tmp_path):
    attsvm("verify", *TOYS, "toy/true")
    (tmp_path / "odd").write_text("{")
    assert attsvm("gate", "--expect", "odd")[0] == 2
    assert attsvm("gate", "--expect", "none")[0] == 2
    assert attsvm("gate", "--ledger", "odd", "--expect", EXPECTED)[0] == 2


# hunt and replay


def test_a_hunt_that_finds_stores_a_file_that_replays(attsvm, document, tmp_path):
    code, out, _ = attsvm("hunt", *TOYS, "toy/rare:literal", "--rounds", "4")
    assert code == 1
    path = tmp_path / ".attsvm/hunted/toy--rare--literal.json"
    assert (tmp_path / ".attsvm/.gitignore").read_text() == "*\n"
    assert "\n  case = Point(\n      at=np.array([" in out
    assert "  slack in [-" in out
    assert re.search(r"^  drawn +\d+ turns", out, re.MULTILINE)
    assert re.search(rf"replay it: attsvm replay --pack \S+ {path.relative_to(tmp_path)}", out)
    code, out, _ = attsvm("replay", *TOYS, path)
    assert (code, out.startswith("CONFIRMED: ")) == (0, True)
    code, found = document("replay", *TOYS, path)
    assert (code, found["confirmed"]) == (0, True)
    assert found["files"][0]["evidence"] == "certified"


def test_a_hunt_that_finds_nothing_says_that_this_is_no_proof(attsvm, document):
    code, out, _ = attsvm("hunt", *TOYS, "toy/true:literal", "--rounds", "1")
    assert code == 0
    assert "that is no proof" in out
    code, found = document("hunt", *TOYS, "toy/true:literal", "--rounds", "1")
    assert (code, found["found"], found["counterexample"]) == (0, False, None)
    assert (found["rounds"], found["examples"] > 0) == (1, True)


def test_a_hunt_is_over_in_time(attsvm):
    started = time.monotonic()
    code, out, _ = attsvm("hunt", *TOYS, "toy/true:literal", "--seconds", "0.01")
    assert time.monotonic() - started < 10
    assert out.startswith({0: "not refuted", 3: "no answer"}[code])  # 3 where it saw nothing


def test_guided_searchers_alone_are_refused_as_they_have_nothing_to_start_from(attsvm):
    code, _, error = attsvm("hunt", *TOYS, "toy/true:literal", "--searchers", "climb,grid")
    assert code == 2
    assert "Add drawn" in error


def test_open_instances_of_a_hunt_are_told(attsvm):
    code, out, _ = attsvm("hunt", *TOYS, "toy/short:literal", "--rounds", "1")
    assert code == 0
    assert re.search(r"open: \d\d+ instances could be settled neither way", out)


def test_a_hunt_puts_its_find_where_it_is_told(document, tmp_path):
    code, found = document(
        "hunt", *TOYS, "toy/false:literal", "--rounds", "2", "--out", tmp_path / "here"
    )
    assert (code, found["found"]) == (1, True)
    assert Path(found["counterexample"]) == tmp_path / "here" / "toy--false--literal.json"
    stored = json.loads(Path(found["counterexample"]).read_text())
    assert stored["instance"] == {"float": "6"}


def test_a_hunt_keeps_a_smaller_find_that_is_there(attsvm, document, tmp_path, monkeypatch):
    words = ["hunt", *TOYS, "toy/false:literal", "--rounds", "2", "--out", "."]
    code, found = document(*words)
    assert (code, found["kept"], found["unfinished"]) == (1, False, None)
    path = tmp_path / "toy--false--literal.json"
    seven = {**json.loads(path.read_text()), "instance": {"float": "7"}}
    path.write_text(json.dumps(seven))
    assert document(*words)[1]["kept"] is False
    assert json.loads(path.read_text())["instance"] == {"float": "6"}
    path.write_text(json.dumps(seven))
    monkeypatch.setattr(counterexample, "smallness", lambda x: -Fraction(x["float"]))
    code, out, _ = attsvm(*words)
    assert (code, "which keeps the smaller one that was there" in out) == (1, True)
    assert json.loads(path.read_text()) == seven


def no_hunt(*_, **__):
    raise AssertionError("it began to search")


@pytest.mark.parametrize("option", ["--out", "--json"])
@pytest.mark.parametrize("place", ["file/x", "file", "x" * 300 + "/x", "folder"])
def test_a_hunt_whose_results_cannot_be_written_does_not_begin(
    attsvm, tmp_path, monkeypatch, option, place
):
    monkeypatch.setattr("attsvm.theory.hunt.hunt", no_hunt)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    if (option, place) in (("--out", "folder"), ("--json", "file")):
        assert attsvm("hunt", *TOYS, "toy/true:literal", option, place)[0] == 3
        return
    code, out, error = attsvm("hunt", *TOYS, "toy/true:literal", option, place)
    assert (code, out) == (2, "")
    assert error.startswith("attsvm: cannot write")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_verify_looks_first_whether_its_json_can_be_written(attsvm, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, error = attsvm("verify", *TOYS, "toy/true", "--json", "file/x.json")
    assert (code, error.startswith("attsvm: cannot write")) == (2, True)
    assert not (tmp_path / ".attsvm").exists()


@pytest.mark.parametrize("early", ["attsvm.theory.packs.load_packs", "attsvm.theory.hunt.hunt"])
def test_a_hunt_that_is_interrupted_before_it_searches_says_so(
    attsvm, document, monkeypatch, early
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(early, interrupted)
    words = ["hunt", *TOYS, "toy/true:literal", "--json", "deep/out.json"]
    code, out, error = attsvm(*words)
    assert code == 130
    assert out == "interrupted before anything was looked at: toy/true:literal\n"
    assert "ledger" not in error
    code, found = document(*words[:-2])
    assert (code, found) == (130, json.loads(Path("deep/out.json").read_text()))
    assert (found["found"], found["interrupted"], found["examples"]) == (False, True, 0)


@pytest.mark.parametrize(
    ("account", "limit", "said"),
    [
        ({"minimal": True}, 9.0, None),
        ({"interrupted": True}, 9.0, "interrupted"),
        ({"seconds": 9.0}, 9.0, "the time ran out, go on with more --seconds"),
        ({"seconds": 1.0}, 9.0, "shrinking broke (it found no way on)"),
        ({"seconds": 9.0, "error": "a slip"}, None, "shrinking broke (a slip)"),
    ],
)
def test_why_a_find_is_not_minimal(account, limit, said):
    (claim,) = find_claims(load_packs([PACK]), ["toy/false:literal"])
    found = Refuted({"float": "6"}, {}, "certified", None, "", "")
    assert unfinished(Hunt(claim, smallest=found, **account), limit) == said
    assert unfinished(Hunt(claim, **account), limit) is None


def test_a_hunt_for_what_is_proved_says_so(attsvm):
    (claim,) = find_claims(load_packs([PACK]), ["toy/proof-contradicted:literal"])
    assert str(claim.expected.truth) == "proved"
    _, _, error = attsvm("hunt", *TOYS, claim.id, "--rounds", "1")
    assert f"{claim.id} is expected to be proved" in error
    assert "proved" not in attsvm("hunt", *TOYS, "toy/true:literal", "--rounds", "1")[2]


def test_a_hunt_for_several_claims_or_a_broken_one_is_refused(attsvm):
    code, _, error = attsvm("hunt", "sim/lemma-3.12")
    assert code == 2
    assert "sim/lemma-3.12:literal, sim/lemma-3.12:sharp" in error
    code, out, error = attsvm("hunt", *TOYS, "toy/raises:literal", "--rounds", "4")
    assert code == 3
    assert out.startswith("no answer: toy/raises:literal, the hunt broke")
    assert "not refuted" not in out
    assert "the hunt of toy/raises:literal broke: ArithmeticError" in error


def test_replay_tells_confirmed_from_tampered_from_foreign(attsvm, document, tmp_path):
    attsvm("hunt", *TOYS, "toy/false:literal", "--rounds", "2", "--out", "found")
    good = tmp_path / "found" / "toy--false--literal.json"
    stored = json.loads(good.read_text())
    (tmp_path / "empty").mkdir()
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({**stored, "instance": {"float": "1"}}))
    (tmp_path / "foreign.json").write_text("{}")
    (tmp_path / "cut.json").write_text(good.read_text()[:100])
    (tmp_path / "future.json").write_text(json.dumps({**stored, "schema": 99}))
    files = [good, bad, "foreign.json", "cut.json", "future.json", "none.json", tmp_path / "empty"]
    code, found = document("replay", *TOYS, *files)
    assert (code, found["confirmed"]) == (1, False)
    assert [f["result"] for f in found["files"]] == ["CONFIRMED", "NOT CONFIRMED", *["ERROR"] * 5]
    for k, file in enumerate(files):
        assert attsvm("replay", *TOYS, file)[0] == (0 if k == 0 else 1)
    assert attsvm("replay", good)[0] == 1


def test_replay_of_a_folder_is_of_all_its_files_in_order(attsvm, document, tmp_path):
    attsvm("hunt", *TOYS, "toy/false:literal", "--rounds", "2", "--out", "found")
    stored = (tmp_path / "found" / "toy--false--literal.json").read_text()
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).write_text(stored)
    code, found = document("replay", *TOYS, tmp_path)
    assert (code, found["confirmed"]) == (0, True)
    assert [f["file"] for f in found["files"]] == [str(tmp_path / n) for n in ("a.json", "b.json")]
    (tmp_path / "b.json").write_text("{")
    assert attsvm("replay", *TOYS, tmp_path)[0] == 1


# solve


@pytest.fixture
def data(tmp_path):
    """Files of data sets by name."""
    X, Z = [[[2.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [1.0, 0.0]]], [[1.0, 0.0], [0.0, 1.0]]
    sets = {
        "good": AttentionData.of(X, Z, scores=[[1, 0], [1, 0]]),
        "tied": AttentionData.of(X, Z, scores=[[1, 0], [1, 1]]),
        "unseparable": AttentionData.of(
            [[[1.0], [0.0]], [[0.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
        ),
    }
    for name, made in sets.items():
        made.save(tmp_path / f"{name}.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "foreign.npz").write_bytes(b"hello")
    np.savez(tmp_path / "empty.npz", x=np.zeros(1))
    with (tmp_path / "array.npz").open("wb") as handle:
        np.save(handle, np.zeros(3))
    return sets


@pytest.mark.usefixtures("data")
def test_solve_answers_with_the_promised_keys(document, attsvm):
    code, found = document("solve", "good.npz")
    assert (code, found["status"], found["norm"], found["targets"]) == (0, "solved", "fro", [0, 0])
    assert set(found) >= {"value", "W", "margins", "support", "gap", "bracket", "certificate"}
    assert found["value"] == pytest.approx(np.linalg.norm(found["W"]), rel=1e-12)
    low, high = found["bracket"]
    assert low <= found["value"] <= high
    code, out, _ = attsvm("solve", "good.npz")
    assert code == 0
    assert "input 0   selects token 0" in out


@pytest.mark.usefixtures("data")
def test_unseparable_is_an_answer_with_a_certificate(document, attsvm):
    code, found = document("solve", "unseparable.npz")
    assert (code, found["status"]) == (1, "unseparable")
    assert found["certificate"]["type"] == "farkas"
    code, out, _ = attsvm("solve", "unseparable.npz")
    assert code == 1
    assert "unseparable" in out


@pytest.mark.usefixtures("data")
def test_targets_may_be_named(document):
    code, found = document("solve", "tied.npz", "--targets", "0,1")
    assert (code, found["targets"]) == (0, [0, 1])
    code, found = document("solve", "good.npz", "--targets", "1, 0")
    assert (code, found["targets"]) == (0, [1, 0])


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["tied.npz"], "optimal tokens"),
        (["good.npz", "--targets", "one"], "targets are `opt` or integers"),
        (["good.npz", "--targets", ""], "targets are `opt` or integers"),
        (["good.npz", "--targets", "0,"], "targets are `opt` or integers"),
        (["good.npz", "--targets", "0"], "must be 2 integers"),
        (["good.npz", "--targets", "0,2"], "is not a token index"),
        (["good.npz", "--targets=-1,0"], "is not a token index"),
        (["cut.npz"], "not a readable .npz file"),
        (["foreign.npz"], "not a readable .npz file"),
        (["array.npz"], "not a readable .npz file"),
        (["empty.npz"], "arrays that are not known"),
        (["none.npz"], "there is no file"),
        (["."], "is a folder"),
    ],
)
def test_bad_data_and_targets_are_bad_input(attsvm, words, cause):
    code, out, error = attsvm("solve", *words)
    assert (code, out) == (2, "")
    assert cause in error


@pytest.mark.usefixtures("data")
def test_the_nuclear_norm_comes_with_a_bracket_and_the_size_of_the_solution_set(document, attsvm):
    code, found = document("solve", "good.npz", "--norm", "nuc")
    assert (code, found["status"], found["norm"]) == (0, "solved", "nuc")
    low, high = found["bracket"]
    assert low <= found["value"] <= high <= low * (1 + 1e-9)
    assert found["value"] == pytest.approx(np.linalg.norm(found["W"], "nuc"), rel=1e-12)
    assert found["certificate"]["kind"] == "enclosed"
    assert found["dimension"] >= 0
    assert "the solution set is" in attsvm("solve", "good.npz", "--norm", "nuc")[1]
    code, found = document("solve", "unseparable.npz", "--norm", "nuc")
    assert (code, found["status"], found["norm"]) == (1, "unseparable", "nuc")
    assert found["certificate"]["kind"] == "exact"


@pytest.mark.usefixtures("data")
def test_the_soft_margin_solves_what_is_unseparable(document, attsvm):
    code, found = document("solve", "unseparable.npz", "--soft", "10")
    assert (code, found["status"], found["soft"]["C"]) == (0, "solved", 10.0)
    low, high = found["bracket"]
    # opposed constraints of equal size: both slacks sum to 2 whatever W does, and W = 0 is best
    assert low <= 20.0 <= high
    assert found["soft"]["kind"] == "zero"
    hard = document("solve", "good.npz")[1]
    for slack in ("constraint", "input"):
        code, found = document("solve", "good.npz", "--soft", "1e3", "--slack", slack)
        assert (code, found["soft"]["kind"]) == (0, "hard")
        assert found["value"] == pytest.approx(hard["value"], rel=1e-12)
    assert "objective" in attsvm("solve", "good.npz", "--soft", "0.1")[1]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_margins_are_drawn_on_request(attsvm, tmp_path, ending):
    code, out, _ = attsvm("solve", "good.npz", "--plot", f"margins.{ending}")
    assert code == 0
    assert "input 0" in out
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert (tmp_path / f"margins.{ending}").read_bytes().startswith(start)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["good.npz", "--soft", "0"], "no positive finite price"),
        (["good.npz", "--soft", "nan"], "no positive finite price"),
        (["good.npz", "--soft", "inf"], "no positive finite price"),
        (["good.npz", "--soft", "1", "--norm", "nuc"], "defined with the Frobenius norm"),
        (["good.npz", "--slack", "input"], "is about the soft margin"),
        (["good.npz", "--plot", "margins.xyz"], "no ending that can be written"),
        (["good.npz", "--plot", "nowhere/margins.png"], "cannot write"),
    ],
)
def test_options_of_solve_that_do_not_fit_are_refused(attsvm, tmp_path, words, cause):
    code, _, error = attsvm("solve", *words)
    assert code == 2
    assert cause in error
    assert not list(tmp_path.glob("margins*"))

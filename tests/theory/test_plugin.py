"""Under pytest claims, siblings and stored counterexamples are items that can turn the run red."""

import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest

from attsvm.theory import PROFILES, load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.record.counterexample import document
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import last_run
from attsvm.theory.verification.check import check_part
from attsvm.theory.verification.verify import verify

PACK = """
from flint import arb
from hypothesis import strategies as st
from attsvm.exact import rational
from attsvm.theory import Measured, Reading, Records, Slack, Statement, changed

SHIFTED = {"shift 100": changed(shift=100.0), "shift 1000": changed(shift=1000.0)}


def made(name, says, floats, balls, expected="holds"):
    return Statement(
        f"mine/{name}",
        source="toys",
        place="here",
        printed=says,
        variables=Records(float, st.integers(-1000, 1000).map(float)),
        conclusion=Measured(says, floats=floats, balls=balls),
        readings={"literal": Reading(expected, siblings=SHIFTED, cost=40)},
    )


def ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


def square(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - shift, 1e-9)


def blunt(x: float, shift: float = 0.0) -> Slack:
    return Slack(1.0, 0.0)


def wrong(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - 1.0 - shift, 1e-9)


def raises(x: float, shift: float = 0.0) -> Slack:
    raise ArithmeticError("no value")


def false(x: float, shift: float = 0.0) -> Slack:
    return Slack(-x - shift, 0.0)


def false_ball(x: float, shift: float = 0.0) -> arb:
    return arb(-rational(x) - rational(shift))


SQUARE = made("square", "x^2 >= 0", square, ball)
BLUNT = made("blunt", "1 >= 0", blunt, lambda x, shift=0.0: arb(1))
WRONG = made("wrong", "x^2 >= 1", wrong, lambda x, shift=0.0: ball(x, 1.0 + shift))
RAISES = made("raises", "nothing", raises, ball)
FALSE = made("false", "x <= 0", false, false_ball, "refuted")
"""
QUIET = ["-p", "no:cacheprovider", "-p", "no:unraisableexception", "--color=no"]
"""The last but one looks for garbage five times at the end of a run."""
FAILED = {
    "replay[mine--wrong--literal]",
    "replay[stray]",
    "mine/blunt:literal[shift 100]",
    "mine/blunt:literal[shift 1000]",
    "mine/wrong:literal",
    "mine/raises:literal",
    "mine/raises:literal[shift 100]",
    "mine/raises:literal[shift 1000]",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Someone else's project that uses the plug-in for a pack of its own."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "conftest.py").write_text('pytest_plugins = ["attsvm.theory.plugin"]\n')
    (folder / "pytest.ini").write_text("[pytest]\nattsvm_packs = claims/mine.py\n")
    (folder / "claims").mkdir()
    (folder / "claims" / "mine.py").write_text(PACK)
    (folder / "claims" / "no_claims.py").write_text("x = 1\n")
    (folder / "elsewhere").mkdir()
    store(folder / "claims")
    return folder


def store(claims):
    """Three counterexamples: one that stands, one that does not, and what is none."""
    folder = claims / "counterexamples"
    folder.mkdir()
    (found,) = find_claims(load_packs(only=[str(claims / "mine.py")]), ["mine/false:literal"])
    refuted = check_part(found, found.part(""), PROFILES["quick"], 0).refuted
    stored = document(found, refuted)
    (folder / "mine--false--literal.json").write_text(json.dumps({**stored, "fingerprint": "0"}))
    spoiled = {**stored, "claim": "mine/wrong:literal", "instance": {"float": "-3"}}
    (folder / "mine--wrong--literal.json").write_text(json.dumps(spoiled))
    (folder / "stray.json").write_text("{")
    (claims / "other.json").write_text("{")


def run(project, *words, folder="", workers=("-p", "no:xdist")):
    """A run of pytest within this process; the modules of the project are forgotten after it."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(project / folder)
        patch.setattr(sys, "path", [*sys.path])
        patch.delitem(sys.modules, "conftest", raising=False)
        code = pytest.main([*QUIET, *workers, *words])
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(project)):
                del sys.modules[name]
    return SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue(), returncode=code)


@pytest.fixture(scope="module")
def alone(project):
    """The whole run in one process."""
    return run(project, "-rA", "-v", "--ledger=alone.jsonl", "claims")


@pytest.fixture(scope="module")
def together(project, outside):
    """The same on two workers, which run a copy of attsvm that has no claims of its own."""
    with pytest.MonkeyPatch.context() as patch:
        path = [*outside["PYTHONPATH"].split(os.pathsep), *sys.path]
        patch.setattr("xdist.workermanage._sys_path", path)
        return run(project, "-rA", "--ledger=together.jsonl", "claims", workers=("-n", "2"))


def outcomes(done):
    """The outcome of every item by its id, from the short summary."""
    found = re.findall(r"^(PASSED|FAILED) \S+?::(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return {name: word for word, name in found}


def table(done):
    """The rows of the table of verdicts."""
    assert "verdicts (quick)" in done.stdout
    rows = re.findall(r"^[!= ]\s+(mine/\S+) +(.*\S) *$", done.stdout, re.MULTILINE)
    return {name: re.split(r"\s+", rest) for name, rest in rows if not rest.startswith("expected")}


def test_readings_and_siblings_are_items_with_readable_ids(alone):
    words = outcomes(alone)
    assert len(words) == 18
    assert {name for name, word in words.items() if word == "FAILED"} == FAILED
    assert alone.returncode == 1


def test_counterexamples_are_replayed_before_anything_else(alone):
    order = re.findall(r"^\S+::(.+) (?:PASSED|FAILED) ", alone.stdout, re.MULTILINE)
    names = ["mine--false--literal", "mine--wrong--literal", "stray"]
    assert order[:3] == [f"replay[{name}]" for name in names]
    assert len(order) == 18


@pytest.mark.parametrize(
    "said",
    [
        "3 curated counterexamples replayed: 2 not confirmed (1 of them although the code has",
        "! NOT CONFIRMED: claims/counterexamples/mine--wrong--literal.json: ",
        "! ERROR: claims/counterexamples/stray.json: ",
        "mine/blunt:literal[shift 100]: this false sibling survived 8 instances, so the check "
        "of the claim is too weak",
        "mine/wrong:literal: refuted, certified, exercised; expected holds, numeric, exercised",
        "\nx^2 >= 1.\n",
    ],
)
def test_what_fails_is_told_without_a_traceback(alone, said):
    assert said in alone.stdout
    assert re.search(r"mine\.py:\d+$", alone.stdout, re.MULTILINE)
    assert "other.json" not in alone.stdout
    told = alone.stdout.partition("short test summary")[0]
    assert "ReplayFailure" not in told
    assert "ClaimFailure" not in told


def test_the_summary_ends_in_the_table_of_verdicts(alone):
    assert {name: row[:3] for name, row in table(alone).items()} == {
        "mine/blunt:literal": ["holds", "numeric", "weak"],
        "mine/false:literal": ["refuted", "certified", "exercised"],
        "mine/raises:literal": ["undecided", "none", "error"],
        "mine/square:literal": ["holds", "numeric", "exercised"],
        "mine/wrong:literal": ["refuted", "certified", "exercised"],
    }


def test_two_workers_collect_and_conclude_the_same(alone, together):
    assert "Different tests were collected" not in together.stdout
    assert outcomes(together) == outcomes(alone)
    assert table(together) == table(alone)
    assert together.returncode == 1


def told(run):
    """What a gate judges of a run: its claims, verdicts, parts, replays, code and end."""
    timeless = [{**v, "seconds": 0, "counterexample": None} for v in run.verdicts.values()]
    parts = {(p["claim"], p["part"]): {**p, "seconds": 0} for p in run.parts}
    known = (run.profile, run.seed, run.claims, run.curated, run.replays, run.code, run.matched)
    return sorted(timeless, key=lambda v: v["id"]), parts, known


def test_the_ledger_records_what_verify_records(project, alone, together):
    pack = str(project / "claims" / "mine.py")
    with Ledger(project / "verify.jsonl") as ledger:
        verify(load_packs([pack], [pack]), ledger=ledger)
    expected = told(last_run(project / "verify.jsonl"))
    assert len(expected[0]) == 5
    for name in ("alone", "together"):
        recorded = last_run(project / f"{name}.jsonl")
        assert recorded.faults == ()
        assert told(recorded) == expected


def test_claims_that_are_not_checked_whole_are_not_recorded(project):
    done = run(project, "--ledger=some.jsonl", "-k", "square or wrong and not 1000", "claims")
    assert "1 claim recorded in some.jsonl" in done.stdout
    assert last_run(project / "some.jsonl").claims == ("mine/square:literal",)


def test_outcomes_of_the_same_code_are_taken_over_where_that_is_asked_for(project):
    words = ("--ledger=twice.jsonl", "-rA", "-k", "mine/square or mine/wrong", "claims")
    before = run(project, *words)
    first = last_run(project / "twice.jsonl")
    assert set(first.origins) == {""}
    after = run(project, "--reuse", *words)
    assert (outcomes(after), table(after)) == (outcomes(before), table(before))
    second = last_run(project / "twice.jsonl")
    assert set(second.origins) == {first.id}
    assert sorted(map(str, second.parts)) == sorted(map(str, first.parts))  # with their seconds


def test_a_ledger_that_cannot_be_written_stops_the_run_before_it_begins(project):
    done = run(project, "--ledger=claims", "claims")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "cannot be written" in done.stderr


def test_code_that_changes_meanwhile_is_not_recorded(project, monkeypatch):
    codes = iter([{"a.py": "1"}, {"a.py": "2"}])
    for module in ("plugin", "verification.verify"):
        monkeypatch.setattr(f"attsvm.theory.{module}.code_of", lambda *_: next(codes))
    done = run(project, "--ledger=late.jsonl", "-k", "mine/square", "claims")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "the code was changed during the run" in done.stdout + done.stderr
    assert (project / "late.jsonl").read_bytes() == b""


def test_an_item_is_selected_by_its_id_under_another_profile_from_another_folder(project):
    done = run(
        project, "-rA", "--profile=deep", "-k", "mine/square", "--claim-seed=5", "../claims",
        folder="elsewhere",
    )  # fmt: skip
    assert outcomes(done) == dict.fromkeys(
        [
            "mine/square:literal",
            "mine/square:literal[shift 100]",
            "mine/square:literal[shift 1000]",
        ],
        "PASSED",
    )
    assert "verdicts (deep)" in done.stdout
    assert re.search(r"mine/square:literal +holds +numeric +exercised +2/2 +24", done.stdout)
    assert done.returncode == 0


def test_a_profile_that_is_none_is_a_usage_error(project):
    done = run(project, "--profile=fast", "claims")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "quick" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pack_that_cannot_be_loaded_stops_the_run_with_its_name(project):
    done = run(project, "-o", "attsvm_packs=claims/none.py", "claims")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert re.search(r"there is no claim file of that name .*none\.py", done.stdout)

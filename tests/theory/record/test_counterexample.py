"""A stored counterexample is confirmed by its values alone, and by nothing else in its file."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_pack
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory import PROFILES, load_packs
from attsvm.theory.instance import codec
from attsvm.theory.record.counterexample import (
    document,
    gathered,
    read,
    replay,
    shown,
    sizes_of,
    standing,
)
from attsvm.theory.record.curated import file_name
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import account
from attsvm.theory.search.account import Hunt, store
from attsvm.theory.verification.check import check_part

PACK = str(Path(toy_pack.__file__))
NAMES = ["false", "unequal", "tie", "rare", "numeric"]


@pytest.fixture(scope="module")
def packs():
    return load_packs(only=[PACK])


@pytest.fixture(scope="module")
def documents(packs):
    """The stored counterexample of each toy, and of a sibling."""
    claims = {c.id: c for pack in packs for c in pack.claims}
    made = {}
    for name in NAMES:
        made[name] = stored_of(claims[f"toy/{name}:literal"], "")
    made["sibling"] = stored_of(claims["toy/true:literal"], "shift 100")
    return made


def stored_of(claim, part):
    """The document of the refutation that a quick check finds."""
    outcome = check_part(claim, claim.part(part), PROFILES["quick"], 0)
    return document(claim, outcome.refuted, part=part)


def replayed(tmp_path, packs, stored):
    path = tmp_path / "stored.json"
    path.write_text(stored if isinstance(stored, str) else json.dumps(stored))
    return replay(path, packs)


@pytest.mark.parametrize("name", [*NAMES, "sibling"])
def test_a_counterexample_is_confirmed_from_its_file_alone(tmp_path, packs, documents, name):
    result = replayed(tmp_path, packs, documents[name])
    assert (result.result, result.stale) == ("CONFIRMED", False)
    assert result.evidence == ("numeric" if name == "numeric" else "certified")
    assert result.claim == documents[name]["claim"]


def test_the_file_says_what_it_refutes_and_how(documents):
    stored = documents["false"]
    assert stored["instance"] == {"float": "6"}
    assert stored["slack"] == {"value": "-1.0", "error": "0.0", "kind": "inequality"}
    assert stored["certificate"]["evidence"] == "certified"
    assert [float(x) for x in stored["certificate"]["enclosure"]] == [-1.0, -1.0]
    assert (stored["schema"], stored["kind"]) == (2, "attsvm-counterexample")
    assert stored["witness"] == {}
    assert documents["sibling"]["sibling"] == "shift 100"
    assert documents["false"]["sibling"] is None


def test_slack_zero_of_a_strict_inequality_is_said_to_violate_it(tmp_path, packs, documents):
    said = "slack <= 0 violates a strict inequality: slack in [0, 0], ball arithmetic at 64 bits"
    assert replayed(tmp_path, packs, documents["tie"]).reason == said
    assert "strict" not in replayed(tmp_path, packs, documents["false"]).reason


@pytest.mark.parametrize(
    "key", ["slack", "certificate", "found_by", "statement", "python", "latex", "role", "minimal"]
)
@pytest.mark.parametrize("value", [None, {"value": "-1000", "error": "0"}, "certified"])
def test_what_the_file_claims_about_itself_changes_nothing(tmp_path, packs, documents, key, value):
    true = replayed(tmp_path, packs, documents["false"])
    assert replayed(tmp_path, packs, {**documents["false"], key: value}) == true
    wrong = {**documents["false"], "instance": {"float": "1"}, key: value}
    assert replayed(tmp_path, packs, wrong).result == "NOT CONFIRMED"


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("false", {"instance": {"float": "5"}}, "the conclusion holds on this instance"),
        ("sibling", {"claim": "toy/vacuous:literal"}, "does not satisfy: x above itself"),
        ("false", {"claim": "toy/rounding-open:literal"}, "the sign stays open"),
    ],
)
def test_an_instance_that_refutes_nothing_is_not_confirmed(
    tmp_path, packs, documents, name, changes, reason
):
    result = replayed(tmp_path, packs, {**documents[name], **changes})
    assert (result.result, result.evidence) == ("NOT CONFIRMED", "none")
    assert reason in result.reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": 3}, "unknown schema (got 3)"),
        ({"witness": None}, "the witness in the file is no object of lists"),
        ({"witness": [1]}, "the witness in the file is no object of lists (got [1])"),
        ({"witness": {"a": 1}}, "the witness in the file is no object of lists"),
        ({"schema": None}, "unknown schema"),
        ({"kind": "other"}, "is no counterexample file"),
        ({"claim": "toy/unheard-of:literal"}, "no claim has that id"),
        ({"claim": "toy/false"}, "no claim has that id (got toy/false)"),
        ({"claim": "toy/"}, "no claim has that id"),
        ({"claim": ""}, "no claim has that id"),
        ({"claim": None}, "not installed, name it with --pack."),
        ({"claim": ["toy/false:literal"]}, "no claim has that id"),
        ({"sibling": "unheard of"}, "has no sibling of that name"),
        ({"instance": {"float": "x"}}, "cannot be read"),
        ({"instance": {"record": "Popen", "fields": {}}}, "does not use"),
        ({"instance": None}, "stored.json holds no instance. `hunt` writes complete files."),
        ({"claim": "toy/rare:literal"}, "is of another type than its claim asks for (got float)"),
        ({"instance": "text"}, "is of another type than its claim asks for (got str)"),
        (
            {"claim": "toy/odd-certificate:literal"},
            "returned neither a ball nor a rational (got float)",
        ),
    ],
)
def test_a_file_that_cannot_be_executed_is_an_error(tmp_path, packs, documents, changes, reason):
    result = replayed(tmp_path, packs, {**documents["false"], **changes})
    assert (result.result, result.claim) == ("ERROR", None)
    assert reason in result.reason


def test_a_file_cut_at_any_byte_is_an_error(tmp_path, packs, documents):
    text = json.dumps(documents["false"])
    for size in range(len(text)):
        assert replayed(tmp_path, packs, text[:size]).result == "ERROR"


HOSTILE = "\x1b[2J\nCONFIRMED: all is well\u202e"


def test_the_name_of_a_file_writes_no_line_of_its_own(tmp_path, packs, documents):
    path = tmp_path / HOSTILE.replace("\n", "\r")
    path.write_text(json.dumps(documents["false"]))
    assert str(replay(path, packs)).isprintable()


@pytest.mark.parametrize("key", ["schema", "claim", "sibling", "kind", "instance"])
def test_depth_is_an_error_of_our_own_wherever_it_stands(tmp_path, packs, documents, key):
    for depth in (400, 900):
        deep = "[" * depth + "]" * depth
        text = json.dumps({**documents["false"], key: "HERE"}).replace('"HERE"', deep)
        result = replayed(tmp_path, packs, text)
        assert result.result == "ERROR"
        assert "RecursionError" not in result.reason


def test_a_missing_file_and_a_folder_are_errors(tmp_path, packs):
    assert replay(tmp_path / "none.json", packs).result == "ERROR"
    folder = replay(tmp_path, packs)
    assert (folder.result, folder.claim) == ("ERROR", None)
    assert "is a folder without .json files" in folder.reason


def test_a_folder_stands_for_all_its_json_files_in_order(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("b.json", "a.json", "c.txt"):
        (tmp_path / name).write_text("")
    a, b, other = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "none.json"
    assert gathered([str(tmp_path)]) == [a, b]
    assert gathered([other, tmp_path / "empty", tmp_path, b]) == [
        *(other, tmp_path / "empty", a, b, b)
    ]


def test_a_replay_is_told_in_one_line(tmp_path, packs, documents):
    line = str(replayed(tmp_path, packs, {**documents["false"], "fingerprint": "0"}))
    assert line.startswith(
        f"CONFIRMED: {tmp_path}/stored.json: toy/false:literal: slack in [-1, -1]"
    )
    assert line.endswith("(the code of the claim has changed since)")


def test_an_error_names_its_file_once(tmp_path, packs):
    for text in (
        "[]",
        "{",
        "null",
        "7",
        "",
        None,
        '{"kind": "attsvm-counterexample", "schema": 1}',
    ):
        path = tmp_path / "list.json"
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
        line = str(replay(path, packs))
        assert line.startswith("ERROR: ")
        assert line.count("list.json") == 1


def refutation(claim, part, x):
    """The confirmed refutation at one instance, and the account of a hunt that ended with it."""
    found = examine_case(Tally(claim, claim.part(part), 0), x, "here")[1]
    assert found is not None
    return Hunt(claim, part, smallest=found, worst=found)


@given(st.integers(6, 60), st.integers(6, 60))
def test_a_smaller_counterexample_is_never_replaced_by_a_larger_one(tmp_path_factory, x, y):
    folder = tmp_path_factory.mktemp("found")
    for k in (x, y):
        stored = store(folder, refutation(toy_pack.false, "", float(k)))
        assert stored == {"smallest": (folder / file_name(toy_pack.false.id)).as_posix()}
    assert read(stored["smallest"])["instance"] == {"float": str(min(x, y))}


def test_of_two_counterexamples_of_one_size_the_first_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(account, "smallness", lambda instance: 0)
    for k in (7.0, 6.0):
        store(tmp_path, refutation(toy_pack.false, "", k))
    path = tmp_path / file_name(toy_pack.false.id)
    assert read(path)["instance"] == {"float": "7"}
    python, slack = standing(path, toy_pack.false, "")
    assert python == "case = 7.0"
    assert slack.startswith("slack in [-2, -2], ")
    least = refutation(toy_pack.false, "", 7.0)
    least.minimal = True
    store(tmp_path, least)
    assert read(path)["minimal"] is True  # the same one, known to be minimal now


@pytest.mark.parametrize(
    "changes",
    [
        {"fingerprint": "0"},
        {"sibling": "shift 100"},
        {"claim": "toy/true:literal"},
        {"instance": {"float": "5"}},
        {"instance": {"float": "x"}},
        {"instance": None},
        {"kind": "other"},
    ],
)
def test_what_is_no_smaller_counterexample_of_the_same_claim_is_replaced(tmp_path, changes):
    path = tmp_path / file_name(toy_pack.false.id)
    store(tmp_path, refutation(toy_pack.false, "", 6.0))
    path.write_text(json.dumps({**read(path), **changes}))
    store(tmp_path, refutation(toy_pack.false, "", 7.0))
    assert read(path)["instance"] == {"float": "7"}


def test_a_short_find_is_shown_as_python_and_a_long_one_by_its_sizes():
    rare = refutation(toy_pack.rare, "", toy_pack.Point(np.array([37.0, -22.0]))).smallest
    python = ["case = Point(", "    at=np.array([37, -22], dtype=float),", ")"]
    slack = "slack in [-0.125, -0.125], ball arithmetic at 64 bits"
    assert shown(toy_pack.rare, "", rare) == [*python, slack]
    assert shown(toy_pack.rare, "", rare, most=2) == ["case of at 2", slack]
    parts = {"a": None, "b": True, "c": {"tuple": [codec.encode(np.ones((2, 3))), "word"]}}
    assert list(sizes_of({"record": "R", "fields": parts})) == ["c[0] 2 x 3"]
    for bound, plain in (("-1.50", "-1.5"), ("-1.0e-10", "-1.0e-10"), ("-10", "-10")):
        said = shown(toy_pack.rare, "", replace(rare, enclosure=(bound, bound)))[-1]
        assert said.startswith(f"slack in [{plain}, {plain}], ")
    assert shown(toy_pack.rare, "", replace(rare, enclosure=None))[-1].startswith("slack about -0.")
    tie = refutation(toy_pack.tie, "", 0.0).smallest
    assert shown(toy_pack.tie, "", tie)[-1].startswith("slack <= 0 violates a strict inequality")


@given(st.integers(-8000, 8000))
def test_confirmed_is_said_exactly_of_instances_that_violate(tmp_path_factory, packs, documents, k):
    stored = {**documents["false"], "instance": codec.encode(k / 1024)}
    result = replayed(tmp_path_factory.getbasetemp(), packs, stored)
    assert result.result == ("CONFIRMED" if k / 1024 > 5 else "NOT CONFIRMED")


@given(st.text(), st.text())
def test_siblings_of_different_names_have_files_of_different_names(one, other):
    first, second = (file_name("toy/false:literal", part) for part in (one, other))
    assert (first == second) is (one == other)
    for name in (first, first.replace(".json", "--worst.json")):
        assert re.fullmatch(r"toy--false--literal[a-z0-9-]{0,80}\.json", name)


@pytest.mark.parametrize("part", ["2/x", "2 x", "2 X", "≥", "-", "worst", "a" * 300])
def test_the_files_of_a_sibling_are_nobody_elses(part):
    others = {"", "2/x", "2 x", "2 X", "≤", "≥", "-", "worst", "a" * 300, "a" * 301} - {part}
    taken = {file_name("toy/false:literal", other) for other in others}
    taken |= {name.replace(".json", "--worst.json") for name in taken}
    assert file_name("toy/false:literal", part) not in taken
    assert len(file_name("toy/false:literal", part)) < 110


def test_the_name_of_a_file_stays_what_it_was():
    assert file_name("toy/false:literal", "2/x") == "toy--false--literal--2-x--6fe1404f.json"


def test_a_worst_one_lies_beside_the_smallest_whatever_the_id(tmp_path):
    claim = replace(toy_pack.false, id="toy/an.json:literal")
    account = refutation(claim, "", 6.0)
    account.worst = refutation(claim, "", 7.0).smallest
    names = {Path(path).name for path in store(tmp_path, account).values()}
    assert names == {"toy--an.json--literal.json", "toy--an.json--literal--worst.json"}

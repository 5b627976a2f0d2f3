"""`attsvm hunt`: what it finds, keeps and says, however it ends."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from commands import PACK, TOYS

from attsvm.theory import load_packs
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.search import account
from attsvm.theory.search.account import Hunt


def test_a_hunt_that_finds_stores_a_file_that_replays(attsvm, document, tmp_path):
    code, out, _ = attsvm(
        "hunt", *TOYS, "toy/rare:literal", "--rounds", "4", "--searchers", "drawn,ensemble"
    )
    assert code == 1
    path = tmp_path / ".attsvm/hunted/toy--rare--literal.json"
    assert (tmp_path / ".attsvm/.gitignore").read_text() == "*\n"
    assert "\n  case = Point(\n      at=np.array([" in out
    assert "  slack in [-" in out
    assert re.search(r"^  ensemble +\d+ turns?", out, re.MULTILINE)
    assert re.search(rf"replay it: attsvm replay --only-pack \S+ {path.relative_to(tmp_path)}", out)
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
    assert (found["rounds"], found["examined"] > 0) == (1, True)
    assert not set(found["no_turn"]) & set(found["searchers"])
    assert {*found["no_turn"], *found["searchers"]} >= {"explicit", "drawn", "sizes"}
    assert found["no_turn"]
    assert f"  no turn in this hunt, give more time: {', '.join(found['no_turn'])}" in out


OWN = """
from flint import arb
from toy_pack import build, constant, says

mine = build("mine", constant(1.0, 0.0), says(arb(1)))
"""

FALSE = "constant(-1.0, 0.0), says(arb(-1)), expected='refuted'"


def test_a_pack_beside_the_only_one_is_hunted_in_as_well(attsvm, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    packs = ["--only-pack", "own.py", "--pack", PACK]
    assert attsvm("hunt", *packs, "toy/true:literal", "--rounds", "1")[0] == 0


def test_the_replay_line_names_the_only_pack_as_that_and_works(attsvm, tmp_path):
    (tmp_path / "own.py").write_text(OWN.replace("constant(1.0, 0.0), says(arb(1))", FALSE))
    packs = ["--only-pack", "own.py", "--pack", PACK]
    _, out, _ = attsvm("hunt", *packs, "toy/mine:literal", "--rounds", "1")
    line = re.search("^replay it: attsvm (.*)$", out, re.MULTILINE)[1]
    assert line.startswith(f"replay --pack {PACK} --only-pack own.py .attsvm/hunted/")
    assert attsvm(*shlex.split(line))[0] == 0


def test_a_hunt_of_many_claims_counts_them_and_says_what_lists_them(attsvm):
    code, _, err = attsvm("hunt", *TOYS, "toy/")
    assert code == 2
    found = re.search(r"\(got toy/\)\. It names (\d+): `attsvm (.*)` lists them\.$", err.strip())
    code, out, _ = attsvm(*shlex.split(found[2]))
    assert (code, len(re.findall(r"^ *toy/\S+:", out, re.M))) == (0, int(found[1]))


def test_the_documents_name_every_key_of_the_account(document):
    text = (Path(__file__).parents[2] / "docs" / "hunting.md").read_text()
    table = text[text.index("| key | holds |") :].split("\n\n")[0]
    named = [
        key for row in table.splitlines()[2:] for key in re.findall("`(.*?)`", row.split("|")[1])
    ]
    _, found = document("hunt", *TOYS, "toy/true:literal", "--rounds", "1")
    assert sorted(named) == sorted(found)


def test_what_an_earlier_hunt_left_is_told_where_nothing_is_found(attsvm):
    Path("left").mkdir()
    Path("left/toy--true--literal.json").write_text("{}")
    words = ["hunt", *TOYS, "toy/true:literal", "--rounds", "1", "--out"]
    assert "an earlier find is in left/" in attsvm(*words, "left")[1]
    assert "an earlier find" not in attsvm(*words, "other")[1]


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
    monkeypatch.setattr(account, "smallness", lambda x: -Fraction(x["float"]))
    code, out, _ = attsvm(*words)
    lines = out.splitlines()
    at = lines.index("the file keeps another one, no larger, that was there:")
    assert (code, lines[1], lines[at + 1]) == (1, "  case = 6.0", "  case = 7.0")
    assert json.loads(path.read_text()) == seven


def test_the_search_gets_all_the_time_that_was_given(attsvm, monkeypatch):
    """However long it took to start and to load the claims."""
    asked = []

    def asks(*_, seconds, **__):
        asked.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr("attsvm.theory.search.hunt.hunt", asks)
    attsvm("hunt", *TOYS, "toy/true:literal", "--seconds", "100")
    assert asked == [100.0]


def no_hunt(*_, **__):
    raise AssertionError("it began to search")


@pytest.fixture
def begun(attsvm, tmp_path, monkeypatch):
    """Begin a hunt that breaks as soon as it searches, beside a file and a folder."""
    monkeypatch.setattr("attsvm.theory.search.hunt.hunt", no_hunt)
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    return lambda *words: attsvm("hunt", *TOYS, "toy/true:literal", *words)


@pytest.mark.parametrize("words", [("--out", "folder"), ("--json", "file")])
def test_a_hunt_whose_results_can_be_written_begins(begun, words):
    assert begun(*words)[0] == 3


NOWHERE = ["file/x", "x" * 300 + "/x", "/proc/x"]


@pytest.mark.parametrize(
    ("option", "place"),
    [
        *(("--out", place) for place in [*NOWHERE, "file"]),
        *(("--json", place) for place in [*NOWHERE, "folder"]),
    ],
)
def test_a_hunt_whose_results_cannot_be_written_does_not_begin(begun, tmp_path, option, place):
    code, out, error = begun(option, place)
    assert (code, out) == (2, "")
    assert error.startswith("attsvm: cannot write")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    "early", ["attsvm.theory.packs.packs.load_packs", "attsvm.theory.search.hunt.hunt"]
)
def test_a_hunt_that_is_interrupted_before_it_searches_says_so(
    attsvm, document, monkeypatch, early
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(early, interrupted)
    words = ["hunt", *TOYS, "toy/true:literal", "--json", "deep/out.json"]
    code, out, error = attsvm(*words)
    assert code == 130
    assert out == "interrupted before any instance was examined: toy/true:literal\n"
    assert "ledger" not in error
    code, found = document(*words[:-2])
    assert (code, found) == (130, json.loads(Path("deep/out.json").read_text()))
    assert (found["found"], found["interrupted"], found["examined"]) == (False, True, 0)


@pytest.mark.parametrize(
    ("account", "limit", "said"),
    [
        ({"minimal": True}, 9.0, None),
        ({"interrupted": True}, 9.0, "interrupted"),
        ({"seconds": 9.0}, 9.0, "the time ran out: run again with more seconds"),
        ({"seconds": 8.2}, 9.0, "the time ran out: run again with more seconds"),
        ({"seconds": 8.0}, 9.0, "shrinking failed (no reason was recorded)"),
        ({"seconds": 9.0, "error": "a slip"}, None, "shrinking failed (a slip)"),
    ],
)
def test_why_a_find_is_not_minimal(account, limit, said):
    (claim,) = find_claims(load_packs(only=[PACK]), ["toy/false:literal"])
    found = Refuted({"float": "6"}, {}, "certified", None, "", "")
    assert Hunt(claim, smallest=found, **account).unfinished(limit) == said
    assert Hunt(claim, **account).unfinished(limit) is None


def test_a_hunt_for_what_is_proved_says_so(attsvm):
    (claim,) = find_claims(load_packs(only=[PACK]), ["toy/proof-contradicted:literal"])
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


def test_a_hunt_that_looked_at_nothing_asks_for_more_seconds(attsvm, monkeypatch):
    def busy(claim, **_):
        return Hunt(claim, error="no instance was examined", idle=True)

    monkeypatch.setattr("attsvm.theory.search.hunt.hunt", busy)
    code, out, error = attsvm("hunt", *TOYS, "toy/true:literal", "--seconds", "2")
    assert (code, out) == (2, "")
    assert error == (
        "attsvm: the hunt of toy/true:literal ended before it looked at an instance "
        "(got --seconds 2). Give more seconds; if searchers are named, name one that draws.\n"
    )
    code, _, error = attsvm("hunt", *TOYS, "toy/true:literal", "--searchers", "explicit")
    assert (code, "name one that draws" in error) == (2, True)

"""The shipped counterexamples stand, and one that does not turns every kind of run red."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from flint import arb
from latex import faults
from searching import nightly

from attsvm.cli import main
from attsvm.theory import Truth, load_packs
from attsvm.theory.gate.expectations import of_others
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.record.curated import (
    chosen,
    known,
    place,
    places,
    replays,
    shown,
    smallest_place,
    summary,
    unloaded,
)
from attsvm.theory.record.errata import find_source
from attsvm.theory.record.runs import last_run, read_events
from attsvm.theory.search.curate import main as curate
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.shrink import Polished
from attsvm.theory.verification.verify import verify

PACK = """
from flint import arb
from hypothesis import strategies as st
from attsvm.exact import rational
from attsvm.theory import Measured, Reading, Records, Slack, Statement, changed

NUMBERS = Records(float, st.integers(-1000, 0).map(float))
FIXED = dict(source="toys", place="here", variables=NUMBERS, cost=12)
SHIFTED = {"shift 100": changed(shift=100.0), "shift 1000": changed(shift=1000.0)}
LARGE = {"shift 1e8": changed(shift=1e8), "shift 1e9": changed(shift=1e9)}


def below(x: float, shift: float = 0.0) -> Slack:
    return Slack.at_most(x + shift, 5.0, 0.0)


def ball(x: float, shift: float = 0.0) -> arb:
    return arb(5 - rational(x) - rational(shift))


def square(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - shift, 1e-6)


def square_ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


BELOW = Measured("x <= 5", floats=below, balls=ball)
FALSE = Statement(
    "mine/false", **FIXED, printed="x <= 5", conclusion=BELOW,
    readings={
        "literal": Reading("refuted", siblings=SHIFTED, examples=(1.0, 7.0, 100.0))
    },
)
TRUE = Statement(
    "mine/true", **FIXED, printed="x^2 >= 0",
    conclusion=Measured("x^2 >= 0", floats=square, balls=square_ball),
    readings={"literal": Reading("holds", siblings=LARGE)},
)
WRONG = Statement(
    "odd/wrong", **FIXED, printed="x <= 5", conclusion=BELOW,
    readings={"literal": Reading("holds", siblings=SHIFTED)},
)
"""
FALSE = "mine--false--literal.json"
WRONG = "odd--wrong--literal.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A pack of someone else, with the file that curating makes for it."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "mine.py").write_text(PACK)
    assert curate(["--pack", str(folder / "mine.py"), "mine/"]) == 0
    assert [f.name for f in (folder / "counterexamples").iterdir()] == [FALSE]
    return folder


@pytest.fixture
def pack(made, tmp_path):
    """A copy of it that may be spoiled: the folder of its files."""
    shutil.copytree(made, tmp_path / "pack")
    return tmp_path / "pack" / "counterexamples"


def loaded(folder):
    packs = load_packs([str(folder.parent / "mine.py")])
    return packs, find_claims(packs, ["mine/"])


def changed(folder, name=FALSE, **changes):
    stored = json.loads((folder / FALSE).read_text())
    (folder / name).write_text(json.dumps({**stored, **changes}))


def only(folder):
    (result,) = replays(*loaded(folder))
    return result


FIVE = {"float": "5"}
SPOILED = {
    "a value": (lambda f: changed(f, instance=FIVE), "NOT CONFIRMED", "the conclusion holds"),
    "half of it": (lambda f: (f / FALSE).write_text("{"), "ERROR", "is not a readable JSON file"),
    "its claim": (
        lambda f: changed(f, claim="odd/wrong:literal"),
        "NOT CONFIRMED",
        "not in the folder of its claim",
    ),
    "no claim": (lambda f: changed(f, claim="mine/gone:literal"), "ERROR", "no claim has that id"),
    "a sibling": (lambda f: changed(f, sibling="shift 100"), "NOT CONFIRMED", "refutes a sibling"),
}


WORDS = ["mine/", "--pack", "pack/mine.py"]
GATE = ["gate", *WORDS[1:], "--expect", "expect.json"]


@pytest.fixture(scope="module")
def gated(made, tmp_path_factory):
    """A folder with the pack and a run of it that passes the gate."""
    folder = tmp_path_factory.mktemp("gated")
    shutil.copytree(made, folder / "pack")
    (folder / "expect.json").write_text(json.dumps({"schema": 1, "claims": expectations()}))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["verify", *WORDS]) == 0
        assert main([*GATE, "--update", "--yes"]) == 0
        assert main(GATE) == 0
    return folder


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_file_that_does_not_stand_is_told_with_its_reason(pack, spoil):
    do, result, reason = SPOILED[spoil]
    do(pack)
    found = only(pack)
    assert found.result == result
    assert reason in found.reason


@pytest.mark.parametrize("spoil", ["a value", "half of it"])
def test_a_file_that_does_not_stand_is_told_by_name_and_turns_verify_and_the_gate_red(
    gated, here, capsys, spoil
):
    shutil.copytree(gated, here, dirs_exist_ok=True)
    do, result, reason = SPOILED[spoil]
    do(here / "pack" / "counterexamples")
    assert main(["verify", *WORDS, "--json", "report.json"]) == 1
    said = capsys.readouterr().out
    assert "1 curated counterexample replayed: 1 not confirmed" in said
    assert f"! {result}: pack/counterexamples/{FALSE}: " in said
    assert "every verdict as expected" in said
    report = json.loads(Path("report.json").read_text())
    assert (report["matched"], [c["as_expected"] for c in report["claims"]]) == (False, [True] * 2)
    (replay,) = report["replayed"]
    assert (replay["file"], replay["result"]) == (f"pack/counterexamples/{FALSE}", result)
    assert reason in replay["reason"]

    assert main(GATE) == 1
    name = f"pack/counterexamples/{FALSE}: the curated counterexample no longer"
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith(name))
    assert result in line


def expectations():
    words = {"validity": "exercised", "reason": "why"}
    return {
        "mine/false:literal": {"truth": "refuted", "evidence": "certified", **words},
        "mine/true:literal": {"truth": "holds", "evidence": "numeric", **words},
    }


def test_a_file_named_after_no_claim_or_after_one_that_holds_turns_the_run_red(pack):
    shutil.copy(pack / FALSE, pack / "mine--gone--literal.json")
    packs, claims = loaded(pack)
    false, gone = replays(packs, claims)
    assert false.confirmed
    assert (gone.result, gone.claim) == ("NOT CONFIRMED", "mine/false:literal")
    (pack / "mine--gone--literal.json").unlink()

    (wrong,) = find_claims(packs, ["odd/"])
    changed(pack, WRONG, claim=wrong.id)
    (result,) = replays(packs, [wrong])
    assert (result.result, result.claim) == ("NOT CONFIRMED", wrong.id)
    assert result.reason == "the claim is expected to be holds, but this refutes it"
    changed(pack, WRONG, claim=wrong.id, instance=FIVE)
    assert next(replays(packs, [wrong])).result == "NOT CONFIRMED"


def test_the_file_of_another_pack_of_the_folder_is_no_stray(pack):
    other = pack.with_name("other.py")
    other.write_text(PACK.replace("mine/", "theirs/").replace("odd/", "theirs/"))
    for names in (["other.py"], ["other.py", "mine.py"], ["mine.py", "other.py"]):
        packs = load_packs(only=[str(other.with_name(name)) for name in names])
        found = [(r.claim, r.confirmed) for r in replays(packs, find_claims(packs))]
        assert found == [("mine/false:literal", True)] * (len(names) - 1)
    shutil.copy(pack / FALSE, pack / "stray.json")
    assert [r.confirmed for r in replays(packs, find_claims(packs))] == [True, False]


def test_what_editors_leave_beside_a_pack_is_no_pack(pack):
    folder, (packs, _) = pack.parent, loaded(pack)
    before = unloaded(folder, packs)
    (folder / ".#mine.py").symlink_to("somebody@nowhere")
    (folder / "lost.py").symlink_to("nowhere")
    (folder / ".hidden.py").write_text("Statement")
    (folder / "folder.py").mkdir()
    assert unloaded(folder, packs) == before
    names = ("lost.py", ".hidden.py", "folder.py")
    entries = {name: SimpleNamespace(pack=name) for name in names}
    theirs, _ = of_others(folder / "expectations.json", entries, packs)
    assert not theirs


def test_only_the_wanted_claims_are_replayed_and_files_named_after_none_always(pack):
    shutil.copy(pack / FALSE, pack / "stray.json")
    packs, claims = loaded(pack)
    false, true = claims
    assert [f.name for f in chosen(packs, [false])] == [FALSE, "stray.json"]
    assert [f.name for f in chosen(packs, [true])] == ["stray.json"]
    (sharp,) = find_claims(packs, ["sim/lemma-3.12:sharp"])
    assert chosen(packs, [sharp]) == {}


def test_a_change_of_the_code_alone_is_told_but_not_red(pack):
    changed(pack, fingerprint="0" * 64)
    result = only(pack)
    assert (result.confirmed, result.stale) == (True, True)
    assert summary([result]) == [
        "1 curated counterexample replayed: all confirmed (1 of them although the code has "
        "changed since they were stored)"
    ]
    assert verify(loaded(pack)[0], ["mine/"]).matched
    assert summary([]) == []


def test_replays_are_recorded_before_anything_is_checked(pack, here, capsys):
    assert main(["verify", *WORDS, "--ledger", "l"]) == 0
    assert "1 curated counterexample replayed: all confirmed" in capsys.readouterr().out
    events = [e["event"] for e in read_events("l")]
    assert events[:3] == ["run", "replay", "part"]
    run = last_run("l")
    assert run.curated == (f"pack/counterexamples/{FALSE}",)
    assert run.replays[run.curated[0]]["result"] == "CONFIRMED"


def test_a_hunt_knows_the_stored_counterexample_unless_it_starts_afresh(pack):
    changed(pack, instance={"float": "23/4"})
    false, true = loaded(pack)[1]
    assert known(false) == (5.75,)
    assert known(false, "shift 100") == ()
    assert known(true) == ()
    found = hunt(false, seconds=None, rounds=1)
    assert found.efforts["explicit"].accepted == 1
    assert found.smallest.found_by == "stored counterexample"
    assert hunt(false, seconds=None, rounds=1, known=False, searchers=["drawn"]).smallest is None
    for text in ("{", "[]", json.dumps({"kind": "attsvm-counterexample", "schema": 1})):
        (pack / FALSE).write_text(text)
        assert known(false) == ()


def test_curating_keeps_the_smallest_and_mends_what_fell(pack, capsys):
    words = ["--pack", str(pack.parent / "mine.py"), "mine/"]
    path = pack / FALSE

    def curated():
        assert curate(words) == 0
        return capsys.readouterr().out.split()[1], json.loads(path.read_text())

    word, first = curated()
    assert word == "renewed,"  # the script names the place of the pack
    assert (first["instance"], first["minimal"]) == ({"float": "6"}, True)
    assert faults(first["latex"]) == []
    assert curated() == ("kept,", first)
    changed(pack, fingerprint="0")
    assert curated() == ("renewed,", first)
    words += ["--budget", "0"]
    changed(pack, fingerprint="0")
    assert curated() == ("renewed,", first)
    changed(pack, instance={"float": "100"})
    word, unshrunk = curated()
    assert (word, unshrunk["instance"], unshrunk["minimal"]) == ("replaced,", {"float": "7"}, False)
    words[-1] = "100"
    assert curated() == ("replaced,", first)
    for instance in ({"float": "100"}, FIVE, {"float": "x"}):
        changed(pack, instance=instance)
        assert curated() == ("replaced,", first)
    path.write_text("{")
    assert curated() == ("replaced,", first)
    path.unlink()
    assert curated() == ("made,", first)


@pytest.mark.parametrize(("stored", "left"), [("6", "6"), ("50", "7"), ("7", "7"), ("4", "7")])
def test_a_larger_counterexample_never_replaces_a_smaller(pack, monkeypatch, stored, left):
    monkeypatch.setattr(
        "attsvm.theory.search.curate.shrink", lambda _, f, budget: Polished(f, False, 0)
    )
    changed(pack, instance={"float": stored})
    assert curate(["--pack", str(pack.parent / "mine.py"), "mine/"]) == 0
    assert json.loads((pack / FALSE).read_text())["instance"] == {"float": left}


TELLING = """
source = "mine"
[[errata]]
statement = "mine/false"
weight = "claim"
gist = "It is larger."
fails = "100 is larger than 5."
telling = {{ literal = {example} }}
"""


@pytest.mark.parametrize("budget", ["0", "200"])
def test_a_telling_instance_is_stored_first_and_what_is_smaller_beside_it(pack, budget):
    second = pack / FALSE.replace(".json", "--smallest.json")
    renew = ["--pack", str(pack.parent / "mine.py"), "mine/", "--budget", budget]
    words = pack.parent / "errata" / "mine.toml"
    words.parent.mkdir()
    for _ in range(2):
        words.write_text(TELLING.format(example=2))
        assert curate(renew) == 0
        assert json.loads(second.read_text())["instance"] == {"float": "6"}
        told = json.loads((pack / FALSE).read_text())
        assert (told["role"], told["instance"], told["minimal"]) == (
            "telling",
            {"float": "100"},
            False,
        )
        packs, claims = loaded(pack)
        assert known(claims[0])[-1] == 100.0
        assert [result.confirmed for result in replays(packs, claims)] == [True, True]
        words.unlink()
        assert curate(renew) == 0
        assert json.loads((pack / FALSE).read_text())["role"] == "smallest"
        assert not second.exists()


def test_a_telling_instance_that_refutes_nothing_is_an_error(pack, capsys):
    words = pack.parent / "errata" / "mine.toml"
    words.parent.mkdir()
    words.write_text(TELLING.format(example=0))
    assert curate(["--pack", str(pack.parent / "mine.py"), "mine/", "--budget", "0"]) == 2
    assert "the instance that tells most of mine/false:literal does not" in capsys.readouterr().err


@pytest.fixture(scope="module")
def shipped():
    (pack,) = load_packs()
    return pack


@pytest.fixture(scope="module")
def stored(shipped):
    return {f: json.loads(f.read_text()) for f in shipped.counterexamples}


def test_every_refuted_reading_has_a_file_and_no_other_claim_has(shipped, stored):
    refuted = [c for c in shipped.claims if c.expected.truth is Truth.REFUTED]
    assert len(refuted) >= 54
    first = {place(c): c.id for c in refuted}
    second = {smallest_place(c): c.id for c in refuted}
    assert set(first) <= set(stored) <= {*first, *second}
    assert {f: d["claim"] for f, d in stored.items()} == {
        f: id for f, id in {**first, **second}.items() if f in stored
    }


def test_shipped_files_are_told_by_their_relative_names(shipped):
    found = chosen((shipped,), shipped.claims)
    assert list(found) == list(shipped.counterexamples)
    assert all(shown(f, p).startswith("properties/") for f, p in found.items())


def test_the_telling_instance_is_stored_first_and_a_smaller_one_beside_it(shipped, stored):
    errata = [e for name in ("sim", "tf", "mm") for e in find_source([shipped], name).errata]
    telling = {id: codec.encode(case) for e in errata for id, case in e.telling.items()}
    assert len(telling) > 80
    for claim in (c for c in shipped.claims if c.expected.truth is Truth.REFUTED):
        first, second = (stored.get(path) for path in places(claim))
        if claim.id in telling:
            assert first["instance"] == telling[claim.id], claim.id
        assert first["role"] == ("smallest" if second is None else "telling")
        assert second is None or second["role"] == "smallest"
        assert second is None or second["instance"] != first["instance"]


def test_no_shipped_file_is_of_a_sibling_or_names_a_machine(stored):
    for path, document in stored.items():
        assert document["sibling"] is None
        assert str(Path.home()) not in path.read_text()
        assert "load_packs([" not in document["python"]  # which would name a place


def test_the_latex_of_every_shipped_file_is_well_formed(stored):
    assert {f.name: faults(d["latex"]) for f, d in stored.items() if faults(d["latex"])} == {}


def test_the_script_of_every_shipped_file_prints_a_violated_slack(
    shipped, stored, monkeypatch, capsys
):
    """A quarter of them runs, and all of them every night."""
    monkeypatch.setattr("attsvm.theory.load_packs", lambda: (shipped,))
    for document in list(stored.values())[:: 1 if nightly() else 4]:
        names = {}
        exec(document["python"], names)
        assert "\nconfirmed: " in capsys.readouterr().out
        claim, part, case, answer = (names[x] for x in ("claim", "part", "case", "answer"))
        assert (claim.id, answer.refuted) == (document["claim"], True)
        assert answer.evidence is claim.expected.verdict.evidence
        assert all(h.holds(case) is True for h in part.hypotheses)
        slack, was = names["slack"], document["slack"]
        assert slack.kind == was["kind"]
        known = abs(slack.value - float(was["value"])) <= 2 * slack.error + 1e-300
        assert slack.kind == "unknown" or known
        low, high = map(float, answer.enclosure)
        assert high < 0 or (slack.kind == "strict" and high <= 0)
        before = arb(*map(float, document["certificate"]["enclosure"][:1]))
        assert abs(float(before) - low) <= 1e-9 * max(1.0, abs(low))

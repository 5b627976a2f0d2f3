"""Toy claims of known truth get the verdict that they deserve, whatever the number of workers."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import toy_pack
from toy_pack import build, constant, says

from attsvm.errors import UnknownClaimError, UsageError
from attsvm.theory import PROFILES, Evidence, Truth, Validity, Verdict, load_packs
from attsvm.theory.record.counterexample import replay
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import last_run, read_events
from attsvm.theory.run.workers import processes
from attsvm.theory.verification.check import Outcome, check_part
from attsvm.theory.verification.verdicts import Report, assess, plan
from attsvm.theory.verification.verify import run_tasks, verify

PACK = str(Path(toy_pack.__file__))
SHARED = ["toy/", "a/formula:literal"]
FEW = [f"toy/{name}:literal" for name in ("outward", "sampled")]
MANY = ["a/formula:literal", *FEW]
MANY += [f"toy/{n}:literal" for n in ("rare", "exits", "numeric", "proved")]
ERROR = "undecided, none, error"
KNOWN = {
    "true": "holds, numeric, exercised",
    "false": "refuted, certified, exercised",
    "sampled": "refuted, certified, exercised",
    "rare": "refuted, certified, exercised",
    "rarer": "holds, numeric, exercised",  # it is false: only a hunt comes near
    "equality": "holds, numeric, exercised",
    "unequal": "refuted, certified, exercised",
    "tie": "refuted, certified, exercised",
    "tie-open": "undecided, numeric, exercised",
    "rounding": "holds, numeric, exercised",
    "rounding-open": "undecided, numeric, exercised",
    "endless": "holds, numeric, exercised",
    "endless-open": "undecided, numeric, exercised",
    "short": "undecided, numeric, exercised",
    "numeric": "refuted, numeric, exercised",
    "proved": "proved, symbolic, exercised",
    "prose": "holds, numeric, exercised",
    "overstated": "holds, numeric, exercised",
    "proof-contradicted": "refuted, certified, exercised",
    "guarded": "holds, numeric, exercised",
    "audited-near": "holds, numeric, exercised",
    "audited-away": "refuted, certified, exercised",
    "overruled": "undecided, numeric, exercised",
    "outward": "holds, numeric, exercised",
    "blunt": "holds, numeric, weak",
    "vacuous": "undecided, none, vacuous",
    "thin": "holds, numeric, thin",
    "sibling-breaks": "holds, numeric, error",
    "raises": ERROR,
    "exits": ERROR,
    "assuming": ERROR,
    "odd-hypothesis": ERROR,
    "odd-certificate": ERROR,
    "no-slack": ERROR,
    "nan-slack": ERROR,
    "nan-error": ERROR,
    "negative-error": ERROR,
    "mislabelled": ERROR,
    "proof-raises": ERROR,
    "proof-empty": ERROR,
    "proof-missing": ERROR,
}
REASONS = {
    "false": "counterexample found by Hypothesis, decided by ball arithmetic at 64 bits",
    "sampled": "counterexample found by seeded ensemble",
    "rare": "counterexample found by seeded ensemble",
    "numeric": "counterexample found by Hypothesis, decided by second evaluation in higher "
    "precision",
    "short": "12 instances open: the run was too short",
    "rounding-open": "12 instances open: slack -1e-17: no certificate on this instance",
    "proved": "proved: x^2 >= 0 for real x",
    "prose": "12 instances, 3 of them decided by a certificate as well; proof in prose, 1 step "
    "executed and connected by text: x^2 >= 0 for real x",
    "mislabelled": "the proof of toy/mislabelled:literal is declared to be linked, but it recorded "
    "no facts",
    "blunt": "survived: shift 100; shift 1000",
    "vacuous": "hypotheses never satisfied: x above itself",
    "thin": "0 instances drawn met the hypotheses, 12 were planned",
    "sibling-breaks": "sibling 'shift 1': ZeroDivisionError: float division by zero (toy_pack.py:",
    "raises": "ArithmeticError: no value above 50 (toy_pack.py:",
    "exits": "SystemExit: 0 (toy_pack.py:",
    "assuming": "toy/assuming:literal calls `assume` or `reject` while it evaluates an instance",
    "odd-hypothesis": "hypothesis 'numpy' of toy/odd-hypothesis:literal is not decided",
    "odd-certificate": "the certificate of toy/odd-certificate:literal returned neither a ball nor "
    "a rational (got float)",
    "nan-slack": "the conclusion of toy/nan-slack:literal returned no usable slack",
    "audited-away": "counterexample found by Hypothesis, decided by ball arithmetic at 64 bits",
    "overruled": "12 instances open: the float slack -1.0 with error 1e-09 is contradicted by ball",
    "proof-raises": "ArithmeticError: the remainder is not zero (toy_pack.py:",
    "proof-empty": "the proof of toy/proof-empty:literal returned no sentence on what it proved",
    "proof-missing": "the proof of toy/proof-missing:literal cannot be found",
    "true": "12 instances, 3 of them decided by a certificate as well",  # 0 is open for floats
}


FORMULA = """
from attsvm.theory import Integer, Reading, Statement, Vector, changed

FORMULA = Statement(
    "a/formula", source="toys", place="here", printed="<x, y> <= |x| |y|", cost=12,
    variables={"n": Integer(1, 3), "x": Vector("n"), "y": Vector("n")},
    conclusion=lambda m, v, k: m.at_most(k * m.dot(v.x, v.y), m.norm(v.x) * m.norm(v.y)),
    readings={
        "literal": Reading(
            "holds", constants={"k": 1}, siblings={"twice": changed(k=2)}
        )
    },
)
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The toys, and a claim that is a formula, whose id comes first."""
    written = tmp_path_factory.mktemp("packs") / "formula.py"
    written.write_text(FORMULA)
    return PACK, str(written)


@pytest.fixture(scope="module")
def packs(named):
    return load_packs(only=named)


@pytest.fixture(scope="module")
def recorded(packs, tmp_path_factory):
    """The run on one worker with its ledger, folder of counterexamples and progress."""
    folder = tmp_path_factory.mktemp("run")
    calls = []
    with Ledger(folder / "ledger.jsonl") as ledger:
        report = verify(
            packs,
            SHARED,
            ledger=ledger,
            examples_folder=folder / "found",
            progress=lambda *call: calls.append(call),
        )
    return report, folder, calls


@pytest.fixture(scope="module")
def checked(recorded):
    return {c.claim.id: c for c in recorded[0].checked}


def toy(checked, name):
    return checked[f"toy/{name}:literal"]


def test_every_toy_claim_gets_the_verdict_that_it_deserves(checked):
    verdicts = {id: str(found.verdict) for id, found in checked.items() if id.startswith("toy/")}
    assert verdicts == {f"toy/{name}:literal": verdict for name, verdict in KNOWN.items()}


def test_the_reason_of_a_verdict_says_what_was_seen(checked):
    said = {name: toy(checked, name).reason[: len(reason)] for name, reason in REASONS.items()}
    assert said == REASONS


def test_a_proof_that_an_instance_contradicts_is_overruled(checked):
    found = toy(checked, "proof-contradicted")
    assert found.reading.proof == "x^2 >= 0 for real x"
    assert (found.verdict.truth, found.as_expected) == (Truth.REFUTED, False)


def test_exactly_the_sound_toys_are_as_expected(checked):
    wrong = {name for name in KNOWN if not toy(checked, name).as_expected}
    unsound = {n for n, v in KNOWN.items() if not v.endswith("exercised")}
    assert wrong == unsound | {"proof-contradicted", "overstated", "rarer"}


def test_all_siblings_of_an_exercised_claim_fell(checked):
    for name, verdict in KNOWN.items():
        if verdict.endswith("exercised"):
            found = toy(checked, name)
            automatic = {s.name for s in found.claim.siblings if s.automatic}
            by_hand = [s for s in found.siblings if s.part not in automatic]
            assert len(by_hand) >= 2
            assert all(s.refuted is not None for s in by_hand)


def test_claims_are_reported_in_the_order_of_their_ids(recorded):
    ids = [c.claim.id for c in recorded[0].checked]
    assert ids == sorted(ids)
    assert ids[0] == "a/formula:literal"


def test_the_document_has_the_promised_keys_and_is_plain_json(recorded):
    document = recorded[0].json()
    json.dumps(document, allow_nan=False)
    assert set(document) >= {"schema", "profile", "seed", "claims", "matched"}
    assert (document["schema"], document["matched"]) == (1, False)
    for entry in document["claims"]:
        assert set(entry) >= {
            *("id", "expected", "truth", "evidence", "validity", "examples", "rejected"),
            *("hypotheses", "min_slack", "tightness", "counterexample", "siblings", "seconds"),
        }
        for s in entry["siblings"]:
            assert set(s) >= {"name", "refuted", "examples"}


def test_a_counterexample_is_stored_for_every_refuted_reading_and_is_confirmed(recorded, packs):
    report, folder, _ = recorded
    refuted = [c for c in report.checked if c.verdict.truth is Truth.REFUTED]
    stored = sorted(p.as_posix() for p in (folder / "found").iterdir())
    assert stored == sorted(c.counterexample for c in refuted)
    assert {replay(path, packs).result for path in stored} == {"CONFIRMED"}
    assert all(c.counterexample is None for c in report.checked if c not in refuted)


def test_the_ledger_holds_the_whole_run(recorded, packs):
    report, folder, _ = recorded
    run = last_run(folder / "ledger.jsonl")
    assert run.claims == tuple(c.claim.id for c in report.checked)
    assert run.verdicts == {c.claim.id: c.json() for c in report.checked}
    assert (run.finished, run.damaged, run.profile, run.seed) == (True, 0, "quick", 0)
    events = [e["event"] for e in read_events(folder / "ledger.jsonl")]
    tasks = plan([c.claim for c in report.checked])
    assert (events[0], events[-1]) == ("run", "finished")
    assert events.count("part") == len(tasks)
    assert events.count("verdict") == len(report.checked)
    assert {(o["claim"], o["part"]) for o in run.parts} == {(t.claim, t.part) for t in tasks}


def test_progress_counts_every_task_and_names_every_claim_once(recorded):
    report, _, calls = recorded
    total = len(calls) - 1
    assert [call[:2] for call in calls] == [(k, total) for k in range(total + 1)]
    assert [call[2] for call in calls if call[2]] == list(report.checked)


def test_the_verdict_bytes_hold_everything_but_the_times(recorded):
    document = json.loads(recorded[0].verdict_bytes())
    whole = recorded[0].json()
    for entry in whole["claims"]:
        del entry["seconds"]
    assert document == json.loads(json.dumps(whole))


def unstored(report, ids):
    """The report of these claims, as if no counterexample had been stored."""
    chosen = [c for c in report.checked if c.claim.id in ids]
    assert len(chosen) == len(ids)
    return replace(report, checked=tuple(replace(c, counterexample=None) for c in chosen))


@pytest.mark.usefixtures("elsewhere")  # where workers load no other claims
def test_the_number_of_workers_changes_no_byte(packs, named, recorded):
    alone = unstored(recorded[0], MANY).verdict_bytes()
    with processes(2, named) as crew:
        assert verify(packs, MANY, crew=crew, named=named).verdict_bytes() == alone


def test_claims_that_cost_most_are_given_out_first():
    costs = [3, 1, 12, 7]
    claims = [replace(toy_pack.true, id=f"toy/{cost}:literal", cost=cost) for cost in costs]
    asked = []

    class Crew:
        def submit(self, job, *arguments):
            asked.append(arguments[0])

        def completed(self, jobs):
            return iter(())

    assert not list(run_tasks(claims, PROFILES["quick"], 0, Crew()))
    assert asked == [f"toy/{cost}:literal" for cost in sorted(costs, reverse=True)]


FRESH = """
import hashlib, sys
sys.path[:0] = [{plain!r}]
import unrelated_constants
from attsvm.theory import load_packs
from attsvm.theory.verification.verify import verify
report = verify(load_packs([{pack!r}]), {few!r})
print(hashlib.sha256(report.verdict_bytes()).hexdigest())
"""


def test_a_fresh_process_with_other_modules_loaded_changes_no_byte(
    tmp_path_factory, recorded, outside
):
    plain = tmp_path_factory.mktemp("plain")
    constants = [k + 0.125 for k in range(300)] + list(range(100, 400))
    (plain / "unrelated_constants.py").write_text(f"ODD = {constants!r}\n")
    command = [sys.executable, "-c", FRESH.format(plain=str(plain), pack=PACK, few=FEW)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=plain, check=True, env=outside
    )
    expected = unstored(recorded[0], FEW)
    assert done.stdout.strip() == hashlib.sha256(expected.verdict_bytes()).hexdigest()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(packs):
    wanted = ["toy/sampled", "toy/true"]
    first, again, other = (verify(packs, wanted, seed=s) for s in (3, 3, 4))
    assert first.verdict_bytes() == again.verdict_bytes()
    assert first.verdict_bytes() != other.verdict_bytes()
    assert [c.verdict for c in first.checked] == [c.verdict for c in other.checked]


def test_more_shards_look_at_more_instances(packs):
    dear = replace(toy_pack.true, cost=40)
    (deep,) = verify([replace(packs[0], claims=(dear,))], profile="deep").checked
    assert deep.reading.examples == 2 * PROFILES["deep"].scaled(40).examples
    assert str(deep.verdict) == KNOWN["true"]


def test_a_run_of_nothing_known_is_refused(packs):
    with pytest.raises(UnknownClaimError):
        verify(packs, ["toy/nothing"])
    with pytest.raises(UsageError, match="quick, deep"):
        verify(packs, profile="fast")


def outcome(**changes):
    return Outcome("c", "", **{"examples": 75, "drawn": 75, "hypotheses": {}, **changes})


def test_thin_begins_below_a_fifth_of_the_planned_instances():
    claim = build("assessed", constant(1.0, 0.0), says(None))
    for shards, least in ((1, 15), (4, 60)):
        profile = replace(PROFILES["quick"], shards=shards)
        for drawn, validity in ((least - 1, Validity.THIN), (least, Validity.EXERCISED)):
            verdict, _ = assess(claim, outcome(drawn=drawn), (), profile)
            assert verdict == Verdict(Truth.HOLDS, Evidence.NUMERIC, validity)


@pytest.mark.parametrize("confirmed", [(), (True,), (False,), (True, False), (False, True)])
def test_a_run_matches_only_if_every_counterexample_stands(confirmed):
    replayed = tuple(SimpleNamespace(confirmed=one) for one in confirmed)
    assert Report("quick", 0, (), replayed).matched is (False not in confirmed)


def test_hypotheses_that_are_never_met_together_are_vacuous():
    claim = build(
        "contradictory",
        constant(1.0, 0.0),
        says(None),
        hypotheses={"low": lambda x: x < 0, "high": lambda x: x > 0},
        cost=12,
    )
    reading = check_part(claim, claim.part(""), PROFILES["quick"], 0)
    verdict, reason = assess(claim, reading, (), PROFILES["quick"])
    assert str(verdict) == "undecided, none, vacuous"
    assert reason.startswith("hypotheses no instance met all of them")


def test_an_error_outranks_every_other_validity():
    claim = build("broken", constant(1.0, 0.0), says(None))
    for reading in (outcome(error="bad"), outcome(examples=0, error="bad")):
        verdict, reason = assess(claim, reading, [outcome()], PROFILES["quick"])
        assert (str(verdict), reason) == (ERROR, "bad")

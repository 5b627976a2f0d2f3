"""The gate passes a run that is exactly as reviewed and names every difference."""

import datetime
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import toy_pack
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import FileError
from attsvm.theory import Evidence, Truth, Validity, Verdict, load_packs
from attsvm.theory.gate.expectations import Expectation, owners_of, read_expectations
from attsvm.theory.gate.gate import Rank, Reason, brief
from attsvm.theory.gate.gate import hold as reasons_of
from attsvm.theory.gate.reviewed import CODE, Reviewed
from attsvm.theory.gate.scope import concerned, only_of
from attsvm.theory.record.runs import Run

TODAY = datetime.date(2026, 6, 1)
TOYS = str(Path(toy_pack.__file__))
A, B = "toy/a:literal", "toy/b:literal"


def hold(*seen):
    return tuple(map(str, reasons_of(*seen)))


def entry(claim, truth="holds", evidence="numeric", validity="exercised", **changes):
    words = {"truth": truth, "evidence": evidence, "validity": validity}
    siblings = [{"name": "s", "refuted": True}, {"name": "t", "refuted": True}]
    return {
        "id": claim,
        "expected": words,
        **words,
        "siblings": siblings,
        "reason": "seen",
        **changes,
    }


def run(**changes):
    verdicts = {A: entry(A), B: entry(B, "refuted", "certified")}
    return replace(Run("quick", 0, (A, B), verdicts, True, 0), **changes)


def expected(until=None):
    holds = Verdict(Truth.HOLDS, Evidence.NUMERIC, Validity.EXERCISED)
    refuted = Verdict(Truth.REFUTED, Evidence.CERTIFIED, Validity.EXERCISED)
    return {A: Expectation(holds, "why", until), B: Expectation(refuted, "why")}


def with_a(**changes):
    return run(verdicts={A: entry(A, **changes), B: run().verdicts[B]})


def test_a_run_that_is_as_reviewed_passes():
    assert hold(run(), expected(), TODAY) == ()
    stands = {"file": "f.json", "result": "CONFIRMED", "stale": True}
    assert hold(run(curated=("f.json",), replays={"f.json": stands}), expected(), TODAY) == ()


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (with_a(truth=None), "holds -> None: seen"),
        (with_a(expected=None), "its file declares None; reviewed is holds, numeric, exercised"),
        (
            with_a(expected={"truth": "proved", "evidence": "symbolic", "validity": "exercised"}),
            "its file declares proved, symbolic, exercised; reviewed is holds",
        ),
        (with_a(siblings=[]), "it has no false sibling that was refuted"),
        (
            with_a(siblings=[{"name": "s", "refuted": False}]),
            "false siblings that were not refuted: s",
        ),
        (
            with_a(siblings=[{"name": "s", "refuted": True}, {"name": "t", "refuted": False}]),
            "false siblings that were not refuted: t",
        ),
        (with_a(siblings=[{"name": "s", "refuted": 1}, {"name": "t", "refuted": True}]), ": s"),
    ],
)
def test_every_difference_of_a_verdict_is_named_with_its_claim(seen, reason):
    reasons = hold(seen, expected(), TODAY)
    assert any(r.startswith(f"{A}: ") and reason in r for r in reasons)
    assert not any(r.startswith(B) for r in reasons)


def test_what_is_not_part_of_the_run_is_counted_by_source():
    known = expected() | {f"{s}/{k}:literal": expected()[A] for s in ("sim", "tf") for k in "cd"}
    seen = run(verdicts={A: entry(A)}, claims=(A, B))
    reasons = reasons_of(seen, known, TODAY)
    assert len(reasons) == 1 + 4
    assert tuple(map(str, brief(seen, known, reasons))) == (
        "sim: 2 of 2 reviewed claims are not part of the run, the first sim/c:literal",
        "tf: 2 of 2 reviewed claims are not part of the run, the first tf/c:literal",
        f"{B}: expected refuted, certified, exercised, skipped by the run",
    )
    other = Reason(Rank.RUN, "", "a reason")
    assert brief(run(), expected(), (other,)) == (other,)


def test_an_interrupted_run_is_one_reason_and_the_verdicts_that_differ():
    known = expected() | {f"sim/{k}:literal": expected()[A] for k in "cdefghijkl"}
    words = {"truth": "undecided", "expected": entry(A)["expected"]}
    seen = run(verdicts={A: {**entry(A), **words}}, claims=(A, B), finished=False)
    reasons = reasons_of(seen, known, TODAY)
    assert tuple(map(str, brief(seen, known, reasons))) == (
        "the run did not finish: 1 of 2 claims came to a verdict",
        f"{A}: holds -> undecided: seen",
    )


def test_of_many_reasons_of_one_rank_the_first_are_shown():
    many = [Reason(Rank.VERDICT, f"sim/{k}:literal", "differs") for k in range(100, 130)]
    shown = brief(run(), expected(), many)
    assert len(shown) == 21
    assert str(shown[-1]) == "10 more such reasons; --json lists them"
    assert brief(run(), expected(), many[:20]) == tuple(many[:20])


def test_code_that_changed_under_many_claims_is_one_reason():
    many = [Reason(Rank.REVIEW, f"sim/{k}:literal", f"{CODE} (a -> b)") for k in range(10, 31)]
    assert brief(run(), expected(), many[:20]) == tuple(many[:20])
    named = ", ".join(reason.about for reason in many[:5])
    (one,) = brief(run(), expected(), many)
    assert str(one) == f"{CODE}: 21 claims, the first {named}"


def test_a_sibling_that_a_reason_names_already_is_not_named_again():
    siblings = [{"name": "s", "refuted": False}, {"name": "t", "refuted": False}]
    declared = entry(A)["expected"]
    seen = with_a(validity="weak", reason="survived: s", siblings=siblings, expected=declared)
    assert hold(seen, expected(), TODAY) == (
        f"{A}: validity exercised -> weak: survived: s",
        f"{A}: false siblings that were not refuted: t",
    )


def test_a_proof_that_fails_is_one_line_with_its_step():
    proved = Verdict(Truth.PROVED, Evidence.SYMBOLIC, Validity.EXERCISED)
    words = {"truth": "undecided", "evidence": "none", "validity": "error"}
    seen = with_a(**words, expected=proved.json(), reason="the proof failed at step 2: x = y; no")
    assert hold(seen, {**expected(), A: Expectation(proved, "why")}, TODAY) == (
        f"{A}: proved -> undecided, validity exercised -> error: "
        "the proof failed at step 2: x = y; no",
    )


def test_a_refutation_whose_instance_is_not_known_is_told_by_its_file_or_reason():
    fallen = {"truth": "refuted", "evidence": "certified"}
    (said,) = hold(with_a(**fallen, counterexample="f.json"), expected(), TODAY)[:1]
    assert said == f"{A}: holds -> refuted by f.json"
    (said,) = hold(with_a(**fallen, counterexample=None), expected(), TODAY)[:1]
    assert said == f"{A}: holds -> refuted: seen"
    weak = with_a(**fallen, counterexample="f.json", validity="weak")
    (said,) = hold(weak, expected(), TODAY)[:1]
    assert said == f"{A}: holds -> refuted, validity exercised -> weak: seen"


def test_an_expectation_lapses_after_its_day():
    day = datetime.timedelta(days=1)
    assert hold(run(), expected(until=TODAY), TODAY) == ()
    (reason,) = hold(run(), expected(until=TODAY), TODAY + day)
    assert reason == f"{A}: the expectation lapsed on {TODAY}; review it"


def test_a_run_of_nothing_never_passes():
    assert hold(Run("quick", 0, (), {}, True, 0), {}, TODAY) == ("the run checked no claim",)


@given(
    st.sampled_from(list(Truth)), st.sampled_from(list(Evidence)), st.sampled_from(list(Validity))
)
def test_only_the_reviewed_words_pass(truth, evidence, validity):
    words = (str(truth), str(evidence), str(validity))
    seen = with_a(truth=words[0], evidence=words[1], validity=words[2])
    seen.verdicts[A]["expected"] = expected()[A].verdict.json()
    reasons = hold(seen, expected(), TODAY)
    differ = [w for w in words if w not in ("holds", "numeric", "exercised")]
    assert len(reasons) == bool(differ)
    told = [w for w in differ if w != words[1] or words[0] == "holds"]
    assert all(f" -> {word}" in reasons[0] for word in told)


def test_with_named_packs_others_count_only_where_the_run_checked_them():
    packs = load_packs([TOYS])
    installed, toys = packs
    of_toys = run(claims=(toys.claims[0].id,), verdicts={})
    of_both = run(claims=(installed.claims[0].id,), verdicts={toys.claims[0].id: entry("x")})
    assert concerned(packs, [TOYS], of_toys) == (toys,)
    assert concerned(packs, [TOYS], of_both) == packs
    turned = run(claims=(), verdicts={installed.claims[0].id: entry("x")})
    assert concerned(packs, [TOYS], turned) == packs
    assert concerned(packs, [TOYS], run(claims=(), verdicts={})) == (toys,)
    assert concerned(packs, [TOYS, installed.name], of_toys) == packs
    assert concerned(packs, [], of_toys) == packs


def write(path, claims, schema=1):
    path.write_text(json.dumps({"schema": schema, "claims": claims}))
    return path


GOOD = {"truth": "holds", "evidence": "numeric", "validity": "exercised", "reason": "because"}


def test_expectations_are_read_with_reason_and_day(tmp_path):
    path = write(tmp_path / "e.json", {A: GOOD, B: {**GOOD, "until": "2026-06-01"}})
    holds = Verdict(Truth.HOLDS, Evidence.NUMERIC, Validity.EXERCISED)
    assert read_expectations(path) == {
        A: Expectation(holds, "because"),
        B: Expectation(holds, "because", TODAY),
    }


def without(key):
    return {k: v for k, v in GOOD.items() if k != key}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (without("reason"), "expected without a reason"),
        ({**GOOD, "reason": "  "}, "expected without a reason"),
        ({**GOOD, "reason": 1}, "expected without a reason"),
        ({**GOOD, "truth": "true"}, "cannot be read"),
        ({**GOOD, "evidence": "strong"}, "cannot be read"),
        ({**GOOD, "validity": ""}, "cannot be read"),
        (without("validity"), "cannot be read"),
        ({**GOOD, "until": "tomorrow"}, "cannot be read"),
        ({**GOOD, "until": 5}, "cannot be read"),
        ({**GOOD, "note": "x"}, "unknown keys"),
        ("holds", "is no object"),
        (None, "is no object"),
    ],
)
def test_an_entry_of_another_form_is_refused_by_its_claim(tmp_path, wrong, message):
    path = write(tmp_path / "e.json", {B: GOOD, A: wrong})
    with pytest.raises(FileError, match=message) as caught:
        read_expectations(path)
    assert A in str(caught.value)
    assert str(path) in str(caught.value)


REVIEWED = Reviewed("x", "x >= 0", "0").json()


@pytest.mark.parametrize(
    "changes",
    [
        {"formula": ["text"]},
        {"digest": None},
        *({"examples": x} for x in (True, 1.0, "1", 10**400)),
        {"more": 1},
    ],
)
def test_a_review_of_another_form_is_refused(tmp_path, changes):
    read_expectations(write(tmp_path / "e.json", {A: {**GOOD, "reviewed": REVIEWED}}))
    path = write(tmp_path / "e.json", {A: {**GOOD, "reviewed": {**REVIEWED, **changes}}})
    with pytest.raises(FileError, match="is of another form"):
        read_expectations(path)


@pytest.mark.parametrize(
    "name", ["", "toy", "toy/a", "a:literal", "toy/a:literal ", "\x1b[2J/a:sharp"]
)
def test_what_is_no_id_of_a_claim_is_refused(tmp_path, name):
    with pytest.raises(FileError, match="no id of a claim") as caught:
        read_expectations(write(tmp_path / "e.json", {name: GOOD}))
    assert str(caught.value).isprintable()


def test_a_reason_writes_no_line_of_its_own():
    assert str(Reason(Rank.RUN, "f\x1b[2J", "a\nb")) == r"f\x1b[2J: a\nb"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"schema": 1}', '{"schema": 2, "claims": {}}']
)
def test_a_file_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(FileError):
        read_expectations(tmp_path / "e.json")


def test_the_shipped_expectations_are_those_of_the_shipped_claims():
    (pack,) = load_packs()
    reviewed = read_expectations(pack.expectations)
    assert sorted(reviewed) == [c.id for c in pack.claims]
    for c in pack.claims:
        assert reviewed[c.id].verdict == c.expected.verdict


def test_all_claims_of_a_file_belong_to_it():
    folder = Path("lemmas").resolve()
    claims = [SimpleNamespace(id=name, file=str(folder / "a.py")) for name in (A, B)]
    pack = SimpleNamespace(claims=claims, file="a.py", folder=folder)
    assert owners_of(claims, [pack], {}) == {A: "a.py", B: "a.py"}


@pytest.mark.parametrize("recorded", [(A,), (A, B)])
def test_a_claim_of_another_pack_is_left_out_whether_or_not_anything_is_recorded_of_it(recorded):
    own, other = (
        SimpleNamespace(
            claims=[SimpleNamespace(id=name, file="")],
            counterexamples=(Path(name) / "stray.json",),
            folder=Path(name),
            file="",
            whole=True,
        )
        for name in (A, B)
    )
    stray = f"{other.folder.name}/stray.json"
    whole = run(verdicts={name: entry(name) for name in recorded}, curated=(stray, "kept.json"))
    found = only_of(whole, [own], [other])
    assert found.claims == tuple(found.verdicts) == (A,)
    assert found.curated == ("kept.json",)

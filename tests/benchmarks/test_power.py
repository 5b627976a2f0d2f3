"""The planted set is well-formed, is found again by its pack, and a sample of it falls."""

import json
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.theory import (
    PROFILES,
    Hypothesis,
    Measured,
    Reading,
    Records,
    Slack,
    Statement,
    changed,
)
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.confirm import confirm
from attsvm.theory.verification.check import check_part
from benchmarks.power import __main__ as power
from benchmarks.power.__main__ import page, show_true, true_claims
from benchmarks.power.measure import PACK, Attempt, alone, examine, hunt_one, looked, quick, rival
from benchmarks.power.planting import KINDS, PLANTED, flipped, in_balls, plant, strictly
from properties._support.cones import Local
from properties.mm._support.prompt_descent import prompting
from properties.sim.theorem_3_15.nearly_equal_scores import OUTRUN
from properties.tf._support.regularisation_paths import TURNING

PACKS = load_packs([PACK])
FOUND = find_claims(PACKS, ["planted/"])
IDS = sorted(PLANTED)
SHIPPED = [c for c in find_claims(PACKS) if not c.id.startswith("planted/")]


def test_there_are_enough_of_every_kind_and_of_every_statement():
    assert len(PLANTED) >= 150
    assert sum(bool(p.source) for p in PLANTED.values()) >= 15
    kinds = Counter(p.kind for p in PLANTED.values())
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 6
    spoilt = {p.family for p in PLANTED.values()}
    assert {"plain/softmax", "plain/att-svm"} <= spoilt
    named = {f.split("/")[0] for f in spoilt}
    assert named == {"sim", "tf", "mm", "plain"}


FAMILIES = {
    "sim": "lemma-3.11 lemma-3.12 lemma-3.13 stability-logistic definition-3.8 definition-4.1 "
    "token-separation token-sparsity theorem-3.14-part-1 theorem-3.14-part-2 theorem-3.15",
    "tf": "svm-rank definition-2 lemma-2 theorem-2 theorem-3 global-equal-scores "
    "global-initial-gradient all-support-divergence all-support-no-stationary local-convergence",
    "mm": "p-svm v-svm joint-svm theorem-1-norm theorem-1-direction w-p-equivalence "
    "normalised-descent loss-choice",
}


def test_every_family_is_spoilt():
    named = {f"{source}/{name}" for source, names in FAMILIES.items() for name in names.split()}
    assert len(named) == 29
    assert named - {p.family for p in PLANTED.values()} == set()


def test_the_pack_finds_each_planted_claim_again():
    assert [c.id for c in FOUND] == IDS
    assert all(PLANTED[c.id].claim is c for c in FOUND)


@pytest.mark.parametrize("id", IDS)
def test_a_planted_claim_can_be_checked_and_does_not_help_the_search(id):
    planted = PLANTED[id]
    made = planted.claim
    assert re.fullmatch(rf"planted/[a-z0-9.-]+-{planted.kind}-[a-z0-9-]+:literal", id)
    assert (made.examples, made.siblings, made.proof, made.depends_on) == ((), (), None, ())
    assert made.instance_type is not None
    assert planted.why
    assert made.statement
    if planted.witness is not None:
        case = made.formula.build(**planted.witness)
        assert all(h.holds(case) for h in made.hypotheses)
        assert confirm(made, {}, case, made.conclusion(case).kind).refuted is True


def test_no_planted_claim_is_a_shipped_one_or_a_sibling():
    said = {c.statement for c in SHIPPED}
    assert not said & {p.claim.statement for p in PLANTED.values()}
    assert len({p.claim.statement for p in PLANTED.values()}) == len(PLANTED)
    siblings = [
        (s.formula.conclusion, {**s.formula.constants, **s.parameters}, set(s.formula.hypotheses))
        for c in SHIPPED
        for s in c.siblings
        if not s.automatic  # those drop each hypothesis in turn
    ]
    for planted in PLANTED.values():
        formula = planted.claim.formula
        form = formula.conclusion, dict(formula.constants), set(formula.hypotheses)
        assert form not in siblings, planted.claim.id


EASY = [
    "planted/sim-lemma-3.11-sign-slope:literal",
    "planted/sim-lemma-3.12-strict-equal-points:literal",
    "planted/sim-definition-3.8-sign-hull:literal",
    "planted/sim-token-sparsity-constant-two-percent:literal",
    "planted/mm-p-svm-sign-reversed:literal",
    "planted/mm-v-svm-constant-two-percent:literal",
    "planted/plain-softmax-norm-lipschitz:literal",
    "planted/plain-tensor-trick-role-tensor-trick:literal",
]


@pytest.mark.parametrize("id", EASY)
def test_a_sample_falls_within_the_quick_budget(id):
    attempt = quick(PLANTED[id].claim, 0)
    assert not attempt.error
    assert attempt.refuted  # which takes hypotheses that hold and a certificate


def test_the_quick_attempt_finds_what_the_check_finds():
    for id in (EASY[0], EASY[1], "planted/sim-lemma-3.12-sign-monotone:literal"):
        made = PLANTED[id].claim
        outcome = check_part(made, made.part(""), PROFILES["quick"], 0)
        case = codec.decode(outcome.refuted.instance, made.instance_type)
        assert all(h.holds(case) for h in made.hypotheses)
        assert confirm(made, {}, case, outcome.refuted.slack["kind"]).refuted is True
        assert quick(made, 0).refuted
    spared = check_part(base, base.part(""), PROFILES["quick"], 0)
    held = quick(base, 0)
    assert (held.refuted, held.examples) == (False, spared.examples)
    assert (held.tightness, held.min_slack) == (spared.tightness, spared.min_slack)


def _local(reach, R):
    tokens = [[0.0, 0.0], [-1.0, 0.0], [-float(reach), 1.0]]
    data = AttentionData.of([tokens], [[1.0, 0.0]], scores=[[0.0, -1.0, 1.0]])
    start = np.array([[R, 0.0], [reach * R - 1.0, 0.0]])
    return Local(data, np.array([0]), start, "correlation")


APART = [[[1.0, 0.0], [0.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]]
OPPOSED = AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0], [-1.0]], y=[1.0, 1.0], v=[1.0])
NOT_ALIGNED = AttentionData.of(APART, [[1.0, 0.0]] * 2, scores=[[1.0, 0.0]] * 2)
THRESHOLD = PLANTED["planted/sim-stability-logistic-constant-threshold:literal"].claim
BALANCED = THRESHOLD.formula.build(A=[[1], [-1]], x=[0.65], y=[0.6578125], h=[0.5, -0.5], b=1)
WITNESSES = {  # that the hard ones are false; no searcher sees these
    "mm-loss-choice-hypothesis-one-basin": prompting(
        APART, [[1, 0], [9, 8]], [0, 1], "exponential"
    ),
    "mm-theorem-1-direction-hypothesis-one-nth": prompting(APART, [[1, 0], [1, 0]], [5, 0]),
    "sim-definition-3.8-hypothesis-shared-query": OPPOSED,
    "sim-stability-logistic-constant-threshold": BALANCED,
    "sim-theorem-3.14-part-1-hypothesis-one-nth": Descent(NOT_ALIGNED, np.diag([5.0, 0.0])),
    "sim-theorem-3.15-constant-attention": OUTRUN,
    "tf-global-equal-scores-hypothesis-equal-scores": Descent(
        AttentionData.of([[[-1.0], [2.0], [1.0]]], [[1.0]], scores=[[2.0, 0.0, -1.0]]),
        np.array([[20.0]]),
        "log-loss",
    ),
    "tf-local-convergence-constant-width": _local(22, 8.0),
    "tf-local-convergence-index-margin-less-one": _local(2, 8.0),
    "tf-theorem-3-index-columns": TURNING,
}


@pytest.mark.parametrize("name", sorted(WITNESSES))
def test_a_hard_mistake_is_one_and_its_certificate_sees_it(name):
    made, case = PLANTED[f"planted/{name}:literal"].claim, WITNESSES[name]
    if isinstance(case, dict):
        case = made.formula.build(**case)
    assert all(h.holds(case) for h in made.hypotheses)
    slack = made.conclusion(case)
    assert not slack.holds
    assert confirm(made, {}, case, slack.kind).refuted is True


def _ball(a: np.ndarray, factor: float = 1.0) -> arb:
    return arb(float(a[0])) ** 2 - arb(factor) * arb(float(a[0]))


def squared(m: Any, a: Any, factor: Any = 1) -> Any:
    """x <= x^2; equal at 0 and 1."""
    x = m.values(a)[0]
    return m.at_most(factor * x, m.square(x))


base = Statement(
    "toy/square",
    source="none",
    place="none",
    printed="x <= x^2",
    variables=Records(np.ndarray, st.integers(0, 9).map(lambda k: np.array([float(k)]))),
    hypotheses=(
        Hypothesis("x is natural", lambda a: bool(a.shape == (1,) and a[0] >= 0 and a[0] % 1 == 0)),
        Hypothesis("x is not 3", lambda a: bool(a[0] != 3)),
    ),
    conclusion=squared,
    readings={
        "literal": Reading(
            "holds",
            siblings={"twice": changed(factor=2), "thrice": changed(factor=3)},
        )
    },
).claim("literal")


def sow(kind, name, **rest):
    made = plant(base, f"{kind} {name}", statement=name, why="for the test", **rest)
    del PLANTED[made.id]
    return made


def test_planting_binds_constants():
    made = sow("constant", "one-half", factor=Fraction(3, 2))
    case = np.array([1.0])
    assert made.conclusion(case).value == -0.5
    assert confirm(made, {}, case, "inequality").refuted is True
    assert made.instance_type is np.ndarray
    assert base.conclusion(case).value == 0.0


def test_planting_drops_and_adds_hypotheses():
    made = sow("hypothesis", "no-three", drop=["x is not 3"], hypotheses={"x > 1": bool})
    assert [h.name for h in made.hypotheses] == ["x is natural", "x > 1"]
    with pytest.raises(ValueError, match="drops"):
        sow("hypothesis", "nothing", drop=["x is not 4"])


def test_strict_and_flipped_conclusions_say_what_they_should():
    one, two = np.array([1.0]), np.array([2.0])
    strict = sow("strict", "below", conclusion=strictly(base)).conclusion
    assert strict(one).kind == "strict"
    assert not strict(one).holds
    assert strict(two).holds
    turned = sow("sign", "reversed", **flipped(base)).conclusion
    assert turned(two).value == -2.0
    assert turned(one).holds


@pytest.mark.parametrize(("kind", "at_one"), [("inequality", True), ("strict", False)])
def test_a_conclusion_in_balls_follows_its_certificate(kind, at_one):
    floats = in_balls(_ball, kind).floats
    assert floats(np.array([1.0])).holds is at_one
    assert floats(np.array([0.5])).violated
    assert floats(np.array([2.0])).holds


def test_an_equality_in_balls_is_violated_away_from_zero():
    floats = in_balls(lambda case: -abs(_ball(case)), "equality").floats
    assert floats(np.array([1.0])).holds
    assert floats(np.array([2.0])).violated
    silent = in_balls(lambda case: None, "equality").floats
    assert silent(np.array([2.0])).kind == "unknown"


ATTEMPTS = {
    "quick": lambda c, seconds: quick(c, 0),
    "hunt": lambda c, seconds: hunt_one(c, seconds, 0),
    "drawn": lambda c, seconds: alone(c, "drawn", seconds, 0),
    "rival": lambda c, seconds: rival(c, seconds, 0),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_every_attempt_finds_a_plain_mistake_and_spares_the_truth(name):
    fallen = ATTEMPTS[name](sow("constant", "one-half", factor=Fraction(3, 2)), 9.0)
    assert fallen.refuted
    assert fallen.by
    assert not fallen.error
    spared = ATTEMPTS[name](base, 0.1)
    assert not spared.refuted
    assert spared.examples > 0
    if name == "rival":  # it tells how close it came
        assert (spared.tightness, spared.min_slack) == (1.0, 0.0)


@pytest.mark.parametrize("attempt", [quick, lambda c, s: rival(c, 0.1, s)])
def test_what_floats_see_counts_for_nobody_without_a_certificate(attempt):
    made = sow(
        "constant",
        "unconfirmed",
        conclusion=Measured("x", floats=lambda a: Slack(-0.5, 0.0), balls=lambda a: arb(1)),
    )
    assert made.conclusion(np.array([1.0])).violated
    assert not attempt(made, 0).refuted


def test_a_strict_mistake_counts_for_the_rival_too():
    made = sow("strict", "below", conclusion=strictly(base))
    assert rival(made, 2.0, 0).refuted


def test_true_claims_are_looked_at_as_often_as_asked():
    hunts = examine(base, 200, 0, 60.0)
    assert all(account.smallest is None for account in hunts)
    examined, screened = (sum(looked(h, by) for h in hunts) for by in (False, base.formula.batches))
    assert max(examined, screened) >= 200
    assert examined < 2_000


def test_a_night_over_true_claims_tells_what_was_looked_at(capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.power.measure._ROUNDS", 1)  # before batches are screened
    dear = "sim/often-unsolvable:sharp"
    ids = ["sim/lemma-3.12:*", dear]
    rows = show_true(100, ids, 30.0, 0, 1)  # seconds at most: so many instances take less
    standing = {c.id for c in SHIPPED if str(c.expected.truth) in ("holds", "proved")}
    assert {c.id for c in true_claims()} == standing
    assert [row["claim"] for row in rows] == sorted(
        id for id in standing if id.startswith("sim/lemma-3.12:") or id == dear
    )
    said = capsys.readouterr().out
    assert f"{len(rows)} readings that stand, 0 refuted" in said
    for row in rows:
        assert not row["refuted"]
        assert row["found"] is None
        counts = f"{row['claim']}: {row['screened']} screened, {row['examined']} examined"
        assert counts in said
        assert row["batches"] == (row["claim"] != dear)


def test_the_next_night_goes_on_where_too_little_was_seen(monkeypatch):
    asked = []

    def job(id, missing, seed, seconds):
        asked.append((id, int(missing), int(seed)))
        row = {"claim": id, "screened": 400, "examined": 3, "seconds": 1.0, "batches": True}
        return json.dumps({**row, "refuted": False, "found": None, "undecided": 0, "error": ""})

    monkeypatch.setattr(power, "true_job", job)
    ids = ["sim/lemma-3.12:literal", "sim/lemma-3.12:sharp"]
    first = show_true(1000, ids, 1.0, 5, 1)
    assert asked == [(id, 1000, 5) for id in ids]
    first[0]["screened"] = 1000
    asked.clear()
    second = show_true(1000, ids, 1.0, 5, 1, first)
    assert asked == [(ids[1], 600, 6)]
    assert [(r["screened"], r["nights"]) for r in second] == [(1000, 1), (800, 2)]
    asked.clear()
    changed = [{**row, "fingerprint": "of other code"} for row in second]
    third = show_true(1000, ids, 1.0, 5, 1, changed)
    assert asked == [(id, 1000, 5) for id in ids]
    assert [r["screened"] for r in third] == [400, 400]


def test_a_false_alarm_would_be_told(capsys, monkeypatch):
    false = next(c for c in SHIPPED if str(c.expected.truth) == "refuted" and c.examples)
    monkeypatch.setattr(power, "true_claims", lambda: [false])
    (row,) = show_true(300, ["*"], 30.0, 0, 1)
    assert row["refuted"]
    assert row["found"]["claim"] == false.id
    said = capsys.readouterr().out
    assert "1 readings that stand, 1 refuted" in said
    assert f"refuted: {false.id} by " in said
    assert "): REFUTED" in said


def test_attempts_of_earlier_runs_are_not_made_again(monkeypatch):
    monkeypatch.setattr(power, "attempt_job", None)  # no attempt can be made
    id = EASY[0]
    before = {id: {"quick": Attempt(True, 1.0, 10, by="quick check")}}
    assert power.attempts([id], ["quick"], 1.0, 0, 1, before=before) == before


def test_the_page_counts_a_find_after_the_time_as_survival():
    id = EASY[0]
    late, soon = Attempt(True, 61.0, 10, by="x"), Attempt(True, 1.0, 10, by="x")
    said = page({id: {"hunt": late, "rival": soon}}, 60.0, "command")
    assert "| all | 1 | 0 of 1 | 1 of 1 |" in said
    assert f"No hunt refuted: {id.removeprefix('planted/').removesuffix(':literal')}" in said

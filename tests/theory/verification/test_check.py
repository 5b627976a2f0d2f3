"""One part on one shard: what is counted, what is audited, and that nothing escapes."""

import json
import math
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
import toy_pack
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from toy_pack import constant, says, square, square_ball
from toy_pack import toy as build

from attsvm.errors import ClaimError, DataError
from attsvm.exact import rational
from attsvm.theory import PROFILES, Records, Slack, changed
from attsvm.theory.run.confirm import Refuted, confirm
from attsvm.theory.run.examining import audit_closest, examine_case, height, probe
from attsvm.theory.run.sampling import Profile, derive_seed
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import Scout
from attsvm.theory.verification.check import Outcome, check_part, check_shard, execute_proof

QUICK = replace(PROFILES["quick"], examples=50, guided=100)
SPACE = st.integers(-(10**6), 10**6).map(float)


def check(claim, part="", profile=QUICK, shard=0, seed=0):
    return check_shard(claim, claim.part(part), profile, shard, seed)


def recording(seen, **rest):
    return toy_pack.recording(seen, data=SPACE, **rest)


def test_every_accepted_instance_is_counted_once():
    seen = []
    outcome = check(recording(seen))
    assert outcome.examples == QUICK.examples
    assert outcome.rejected == 0
    assert len(seen) >= outcome.examples


def test_explicit_instances_come_first_and_on_the_first_shard_alone():
    seen = []
    claim = recording(seen, examples=[7.5, -3.25])
    check(claim)
    assert seen[:2] == [7.5, -3.25]
    seen.clear()
    check(claim, shard=1)
    assert 7.5 not in seen


def test_the_examples_of_a_sibling_come_before_those_of_the_claim():
    seen = []
    own = {"shift": changed(shift=-1.0, examples=[9.5]), "other": changed(shift=1e15)}
    check(recording(seen, examples=[7.5], siblings=own), "shift")
    assert seen[:2] == [9.5, 7.5]


def test_hypotheses_are_counted_by_name_over_all_instances():
    claim = recording(
        [], hypotheses={"even": lambda x: x % 2 == 0, "any": lambda x: True}, examples=[1.0, 2.0]
    )
    outcome = check(claim)
    assert outcome.hypotheses["any"] == outcome.examples + outcome.rejected
    assert outcome.hypotheses["even"] == outcome.examples
    assert outcome.rejected > 0


def test_a_dropped_hypothesis_rejects_nothing():
    claim = build(
        "dropping",
        constant(1.0, 0.0),
        says(arb(1)),
        hypotheses={"never": lambda x: False},
        siblings={"free": changed(drop=["never"]), "shift": changed(shift=1.0)},
        cost=12,
    )
    assert check(claim).examples == 0
    free = check(claim, "free")
    assert free.rejected == 0
    assert free.hypotheses == {}


def below_zero(x: float, shift: float = 0.0) -> Slack:
    return Slack(-x - shift, 0.0)


def free_of_evenness(data):
    """A reading that falls at every positive x, with a sibling that drops a hypothesis."""
    return build(
        "free-of-evenness",
        below_zero,
        lambda x, shift=0.0: arb(-rational(x) - rational(shift)),
        hypotheses={"x is even": lambda x: x % 2 == 0, "x > 0": lambda x: x > 0},
        examples=[2.0],
        expected="refuted",
        siblings={
            "any x": changed(drop=["x is even"], variables=Records(float, data), examples=[2.0]),
            "shift": changed(shift=1.0),
        },
        cost=12,
    )


def test_a_counterexample_to_the_reading_itself_does_not_refute_what_drops_a_hypothesis():
    claim = free_of_evenness(st.integers(1, 100).map(lambda k: 2.0 * k))
    assert check(claim).refuted is not None
    found = check(replace(claim, ensemble=lambda generator: 4.0), "any x").refuted
    assert found is None or float(found.instance["float"]) % 2 != 0
    beyond = check(free_of_evenness(st.integers(1, 100).map(float)), "any x")
    assert float(beyond.refuted.instance["float"]) % 2 == 1
    assert beyond.hypotheses["not: x is even"] == 1


def test_shrinking_is_not_counted():
    seen = []

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        seen.append(x)
        return Slack(1000.5 - abs(x), 0.0)

    claim = build(
        "shrinking", conclusion, lambda x, shift=0.0: arb(rational(1000.5) - abs(rational(x)))
    )
    outcome = check(replace(claim, data=SPACE))
    assert outcome.refuted is not None
    assert outcome.examples < len(set(seen))
    assert outcome.examples <= QUICK.examples
    assert outcome.refuted.instance == {"float": "1001"}


def test_a_broken_check_is_not_shrunk():
    seen = []

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        seen.append(x)
        if abs(x) > 1000.0:
            raise ArithmeticError(f"at {x}")
        return Slack(1.0, 0.0)

    outcome = check(replace(build("breaking", conclusion, says(arb(1))), data=SPACE))
    said, _, on = str(outcome.error).partition(", on x = ")
    assert said == f"ArithmeticError: at {seen[-1]} (test_check.py:{LINE})"
    assert float(on) == seen[-1]
    assert len(seen) == outcome.examples


LINE = test_a_broken_check_is_not_shrunk.__code__.co_firstlineno + 6


@pytest.mark.parametrize("kind", [ValueError, SystemExit, RecursionError, GeneratorExit])
@pytest.mark.parametrize("explicit", [(), (0.0,)])
def test_whatever_a_claim_raises_becomes_its_error(kind, explicit):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        raise kind("no more")

    outcome = check(build("raising", conclusion, says(arb(1)), examples=explicit))
    assert outcome.error.startswith(f"{kind.__name__}: no more (test_check.py:")


def test_a_user_who_interrupts_is_obeyed():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(build("interrupted", conclusion, says(arb(1))))


def test_a_strategy_or_hypothesis_that_raises_becomes_the_error():
    def divide(x):
        return 1 / (x - x)

    wrong_data = build("data", square, square_ball, data=SPACE.map(divide))
    wrong_hypothesis = build("hypothesis", square, square_ball, hypotheses={"h": divide})
    for claim in (wrong_data, wrong_hypothesis):
        assert "ZeroDivisionError: float division by zero (" in check(claim).error


@pytest.mark.parametrize("answer", [None, 1, 0.0, "yes", np.True_, ()])
def test_a_hypothesis_must_answer_true_or_false(answer):
    claim = build("answer", square, square_ball, hypotheses={"odd": lambda x: answer})
    assert "hypothesis 'odd' of toy/answer:literal is not decided" in check(claim).error


def test_as_many_instances_are_audited_as_the_profile_says():
    assert check(recording([])).audited == QUICK.audits


def test_every_instance_is_decided_where_floats_follow_a_stand_in():
    asked = []

    def certify(x, shift=0.0):
        asked.append(x)
        return square_ball(x, shift)

    claim = build(
        "stand-in", square, certify, data=SPACE, examples=[1.0], stand_in="a curve", cost=1
    )
    outcome = check(claim)
    assert outcome.decided == outcome.examples == QUICK.examples + 1
    assert {1.0} < set(asked)
    asked.clear()
    assert check(claim, "shift 100").refuted is not None
    assert len(asked) < QUICK.examples


def test_what_the_stand_in_says_counts_where_no_certificate_decides():
    def certify(x, shift=0.0):
        return arb(-rational(shift)) if shift else arb(1) if x > 0 else None

    claim = build("half", constant(1.0, 0.0), certify, data=SPACE, stand_in="a curve", cost=1)
    outcome = check(claim)
    assert 0 < outcome.decided < outcome.examples == QUICK.examples
    assert (outcome.undecided, outcome.refuted, outcome.error) == (0, None, None)


def test_a_certificate_overrules_what_the_stand_in_says():
    def certify(x, shift=0.0):
        return arb(-1) if x > 0 else arb(1)

    claim = build("overrules", constant(1.0, 1e-9), certify, data=SPACE, stand_in="a curve")
    outcome = check(claim)
    assert outcome.refuted is not None
    assert outcome.refuted.evidence == "certified"


@pytest.mark.parametrize("ball", [None, arb("nan"), arb(0, 1e6)])
def test_what_no_certificate_could_compare_is_not_called_audited(ball):
    outcome = check(build("unaudited", constant(1.0, 0.0), says(ball), cost=1))
    assert (outcome.audited, outcome.error, outcome.examples) == (0, None, QUICK.examples)


def test_a_claim_with_a_second_evaluation_alone_is_never_audited():
    outcome = check(build("rerun", constant(1.0, 0.0), rerun=constant(1.0, 0.0)))
    assert (outcome.audited, outcome.error) == (0, None)


def test_the_search_keeps_the_least_slack_and_the_largest_ratio():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack.at_most(abs(x), 2e6, 0.0)

    claim = build("tight", conclusion, lambda x, shift=0.0: arb(2 * 10**6 - abs(rational(x))))
    outcome = check(replace(claim, data=st.just(1.0), examples=(1.5e6, 3.0)), seed=1)
    assert outcome.min_slack <= 5e5
    assert outcome.tightness == (2e6 - outcome.min_slack) / 2e6


def test_no_slack_is_recorded_of_an_unknown():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack.unknown("too short")

    outcome = check(build("unknown", conclusion, says(None), cost=1))
    assert (outcome.min_slack, outcome.undecided) == (None, QUICK.examples)
    assert re.fullmatch(r"too short; first at x = \S+", outcome.undecided_note)


@pytest.mark.parametrize(
    ("ball", "kind", "refuted"),
    [
        (arb(0), "inequality", False),
        (arb(0), "strict", True),
        (arb(0), "equality", False),
        (arb(-1), "equality", True),
        (arb(-1), "inequality", True),
        (arb(1), "strict", False),
        (arb(0, 1), "inequality", None),
        (arb(0, 1).nonnegative_part(), "inequality", False),
        (arb(0, 1).nonnegative_part(), "strict", None),
        (arb("nan"), "inequality", None),
        (arb("nan"), "strict", None),
    ],
)
def test_an_exact_ball_decides_by_the_kind_of_the_slack(ball, kind, refuted):
    assert confirm(build("ball", square, lambda x: ball), {}, 1.0, kind).refuted is refuted


@pytest.mark.parametrize(
    ("slack", "refuted"),
    [
        (Slack(-1.0, 0.5), True),
        (Slack(-0.25, 0.5), None),
        (Slack(0.25, 0.5), None),
        (Slack(1.0, 0.5), False),
        (Slack(0.0, 0.0, "strict"), True),
        (Slack(-1.0, math.inf), None),
        (Slack.unknown("short"), None),
    ],
)
def test_a_second_evaluation_decides_within_its_own_error(slack, refuted):
    answer = confirm(build("again", square, rerun=lambda x: slack), {}, 1.0, slack.kind)
    assert answer.refuted is refuted
    assert tuple(map(float, answer.enclosure)) == slack.range


def test_a_second_evaluation_without_a_number_is_an_error():
    claim = build("nan", constant(-1.0, 0.0), rerun=lambda x, shift=0.0: Slack(math.nan, 0.0))
    assert "evaluation of toy/nan:literal in higher precision returned NaN" in check(claim).error


def test_seeds_depend_on_claim_shard_and_base_alone():
    keys = [(c, s, b) for c in ("a/b:literal", "a/c:literal") for s in (0, 1) for b in (0, 1, -1)]
    assert len({derive_seed(*key) for key in keys}) == len(keys)
    assert derive_seed("sim/lemma-3.11:literal", 0, 0) == 18399593610483010501


@given(st.text(), st.integers(0, 100), st.integers())
def test_a_seed_fits_into_64_bits(claim, shard, base):
    assert 0 <= derive_seed(claim, shard, base) < 1 << 64


def test_the_same_seed_draws_the_same_instances_and_another_seed_others():
    drawn = []
    for seed, shard in ((0, 0), (0, 0), (1, 0), (0, 1)):
        seen = []
        check(recording(seen, cost=6), shard=shard, seed=seed)
        drawn.append(seen)
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert drawn[0] != drawn[3]


def test_a_costly_claim_gets_its_share_of_every_budget_and_at_least_a_few():
    assert QUICK.scaled(1) == QUICK
    assert QUICK.scaled(4).examples == QUICK.examples // 4
    least = QUICK.scaled(10**6)
    assert (least.examples, least.guided, least.audits) == (8, 16, 2)
    assert check(recording([], cost=10)).examples == QUICK.scaled(10).examples


def test_an_outcome_survives_json():
    claim = build("far", constant(-1.0, 0.0), says(arb(-1)), expected="refuted")
    outcome = check(claim)
    assert outcome.refuted is not None
    assert Outcome.read(json.loads(json.dumps(outcome.json()))) == outcome


FOUND = Refuted({"float": "1"}, {"value": "-1"}, "certified", ("-1", "-1"), "balls", "ensemble")


@pytest.mark.parametrize(
    "changes",
    [
        *({"claim": x} for x in (None, 7, [])),
        *({"examples": x} for x in (True, 1.5, "1", None, 10**400)),
        *({"seconds": x} for x in (10**400, float("inf"), "1", None)),
        *({"hypotheses": x} for x in ([], {"h": "1"}, {"h": None})),
        *({"min_slack": x} for x in ("1", [], 10**400)),
        *({"coverage": x} for x in ({"a": 1}, [], {"a": {"b": "c"}})),
        *({"steps": x} for x in ("ab", [1], None)),
        *({"refuted": x} for x in (7, [], {}, {**asdict(FOUND), "evidence": "sworn"})),
        *({"refuted": {**asdict(FOUND), "enclosure": x}} for x in ("12", ["1"], [1, 2], {})),
        {"more": 1},
    ],
)
def test_an_outcome_of_another_form_is_told_from_one(changes):
    whole = Outcome("toy/a:literal", "", refuted=FOUND).json()
    assert Outcome.read(json.loads(json.dumps(whole))).refuted == FOUND
    with pytest.raises(TypeError):
        Outcome.read({**whole, **changes})


def test_shards_merge_in_their_order():
    names = ("examples", "rejected", "hypotheses", "min_slack", "tightness", "undecided")
    names += ("undecided_note", "audited", "error", "seconds")
    rows = (
        (3, 1, {"h": 2}, 0.5, None, 0, "", 1, None, 1.0),
        (4, 0, {"h": 4}, -0.5, 0.9, 2, "open", 1, "bad", 2.0),
        (0, 0, {"h": 0}, None, 0.2, 1, "later", 0, "worse", 0.0),
    )
    merged = Outcome("c", "")
    for row in rows:
        merged.add(Outcome("c", "", **dict(zip(names, row, strict=True))))
    assert (merged.examples, merged.rejected, merged.hypotheses) == (7, 1, {"h": 6})
    assert (merged.min_slack, merged.tightness) == (-0.5, 0.9)
    assert (merged.undecided, merged.undecided_note, merged.audited) == (3, "open", 2)
    assert (merged.error, merged.seconds) == ("bad", 3.0)


@pytest.mark.parametrize("said", ["", None, 1])
def test_a_proof_has_to_say_what_it_proved(said, monkeypatch):
    monkeypatch.setattr(toy_pack, "prove", lambda: said)
    with pytest.raises(ClaimError, match="returned no sentence on what it proved"):
        execute_proof(toy_pack.prose)


def test_heights_rank_instances_and_refuse_inadmissible_ones():
    claim = build("height", square, square_ball, hypotheses={"small": lambda x: x < 10}, data=SPACE)
    tally = Tally(claim, claim.part(""), 0)
    assert height(tally, 20.0) is None
    assert height(tally, 1.0) > height(tally, 2.0)
    without = build("height", square, square_ball, data=SPACE)
    assert height(Tally(without, without.part(""), 0), 20.0) is not None
    both = {"small": lambda x: x < 10, "positive": lambda x: x > 0}
    two = build("height", square, square_ball, hypotheses=both, data=SPACE)
    assert height(Tally(two, two.part(""), 0), 20.0) is None


def test_the_deep_profile_looks_at_more_of_everything():
    quick, deep = PROFILES.values()
    assert (quick.name, deep.name) == tuple(PROFILES) == ("quick", "deep")
    for field in Profile.__dataclass_fields__:
        if field != "name":
            assert getattr(quick, field) < getattr(deep, field)


def test_a_nan_that_only_a_guided_searcher_meets_is_an_error():
    def slack(x: int, shift: float = 0.0) -> Slack:
        return Slack(math.nan if x > 1 else 2.0 - x, 0.0)

    claim = build("nan-beyond", slack, says(None), data=st.sampled_from([0, 1]), cost=9)
    outcome = check(claim)
    assert outcome.error is not None
    assert "no usable slack" in outcome.error


def test_a_slack_within_its_own_error_that_nothing_settles_is_undecided():
    outcome = check(build("hazy", constant(0.0, 0.25), says(None)))
    assert outcome.undecided == outcome.examples > 0
    assert outcome.open == outcome.probed


def test_floats_that_a_certificate_contradicts_leave_the_instance_open():
    """A certificate by a theorem does not silence floats that see the conclusion violated."""
    overruled = build("overruled", constant(-1e6, 0.0), says(arb(1)))
    outcome = check(overruled)
    assert outcome.refuted is None
    assert outcome.undecided == outcome.examples + outcome.probed > 0
    assert "the float slack -1000000.0" in outcome.undecided_note
    within = build("within", constant(-1.0, 2.0), says(arb(1)))
    assert check(within).undecided == 0


def probing(hypothesis=lambda x: True, conclusion=square):
    claim = build("probing", conclusion, square_ball, hypotheses={"of its own": hypothesis})
    return Tally(claim, claim.part(""), 0)


def test_a_hypothesis_that_raises_on_a_made_up_instance_is_counted_and_told_of():
    def fails(x: float) -> bool:
        raise KeyError("no such row")

    tally = probing(fails)
    assert probe(tally, 2.0, "sizes", reshaped=True) == (None, None)
    assert (tally.seen.broke, tally.seen.refused, tally.seen.probed) == (1, 0, 0)
    assert tally.seen.broke_note.startswith(
        "KeyError: 'no such row' in hypothesis 'of its own'; first"
    )
    with pytest.raises(KeyError):
        probe(tally, 2.0, "gradient", reshaped=False)


@pytest.mark.parametrize("way", ["certify", "rerun"])
@pytest.mark.parametrize("reshaped", [True, False])
def test_what_confirms_may_raise_on_a_made_up_instance_and_nowhere_else(way, reshaped):
    def fails(x: float, shift: float = 0.0) -> Slack:
        raise ValueError("too many values to unpack")

    claim = build("two-only", constant(-1.0, 0.0), **{way: fails})
    tally = Tally(claim, claim.part(""), 0)
    assert probe(tally, 2.0, "integers", reshaped=reshaped) == (None, None)
    assert (tally.seen.broke, tally.seen.refused, tally.seen.probed, tally.seen.undecided) == (
        1,
        0,
        0,
        0,
    )
    assert tally.seen.broke_note == (
        "ValueError: too many values to unpack in the certificate; "
        "first at x = 2, proposed by integers"
    )
    with pytest.raises(ValueError, match="too many values"):
        examine_case(tally, 2.0, "explicit instance")


def test_the_audit_of_a_made_up_instance_may_raise_and_of_no_other():
    def fails_at_2(x: float, shift: float = 0.0) -> arb:
        if x == 2.0:
            raise ValueError("two")
        return square_ball(x, shift)

    claim = build("no-two", square, fails_at_2)
    tally = Tally(claim, claim.part(""), 0)
    probe(tally, 2.0, "sizes", reshaped=True)
    audit_closest(tally)
    assert (tally.seen.audited, tally.seen.broke) == (0, 1)
    assert tally.seen.broke_note.endswith("first at x = 2, proposed by sizes")
    tally = Tally(claim, claim.part(""), 0)
    examine_case(tally, 2.0, "Hypothesis")
    with pytest.raises(ValueError, match="two"):
        audit_closest(tally)


def test_data_that_a_hypothesis_refuses_are_counted_wherever_they_come_from():
    def refuses(x: float) -> bool:
        raise DataError("tied tokens")

    tally = probing(refuses)
    assert probe(tally, 2.0, "gradient", reshaped=False) == (None, None)
    assert (tally.seen.broke, tally.seen.refused) == (1, 0)


def test_an_instance_that_misses_a_hypothesis_is_refused_and_nothing_broke():
    tally = probing(lambda x: False)
    assert probe(tally, 2.0, "sizes", reshaped=True) == (None, None)
    assert (tally.seen.broke, tally.seen.refused) == (0, 1)


def test_a_made_up_instance_does_not_pass_a_hypothesis_that_is_not_decided():
    with pytest.raises(ClaimError, match="'of its own' of toy/probing:literal is not decided"):
        probe(probing(lambda x: np.bool_(True)), 2.0, "sizes", reshaped=True)


def touching(asked):
    """A claim that floats never settle; notes what exact evaluation was asked about."""

    def certify(x: float, shift: float = 0.0) -> None:
        asked.append(x)

    claim = build("touching", constant(0.0, 1.0), certify, cost=1)
    return Tally(claim, claim.part(""), 0)


def test_what_floats_cannot_settle_is_examined_all_over_a_turn_and_the_rest_is_counted():
    asked = []
    tally = touching(asked)
    scout = Scout(tally, "gradient", 96)
    for k in range(96):
        scout.look(float(k))
    assert len(asked) == 12
    assert max(np.diff([0.0, *asked, 95.0])) <= 8.0
    assert (tally.seen.probed, tally.seen.open, tally.seen.unexamined) == (96, 96, 84)


def test_every_turn_of_a_searcher_examines_some_that_floats_cannot_settle():
    asked = []
    tally = touching(asked)
    for name in ("sizes", "gradient"):
        scout = Scout(tally, name, 3)
        for k in range(3):
            scout.look(float(k))
    assert asked == [0.0, 1.0, 2.0] * 2
    assert tally.seen.unexamined == 0


def test_shards_come_one_after_the_other_until_one_refutes_or_breaks():
    """As many as the profile has where none does."""
    for claim, last in ((toy_pack.true, 4), (toy_pack.false, 1), (toy_pack.raises, 1)):
        shards = [check(claim, shard=k) for k in range(last)]
        total = check_part(claim, claim.part(""), replace(QUICK, shards=4), 0)
        assert total.ordinary == sum(o.ordinary for o in shards)
        assert (total.refuted, total.error) == (shards[-1].refuted, shards[-1].error)
        assert last == 4 or total.refuted or total.error

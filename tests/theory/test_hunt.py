"""A hunt goes on with fresh seeds until it finds, breaks, or runs out of time."""

import json
import math
from pathlib import Path

import pytest
import toy_pack
from flint import arb
from toy_pack import build, constant, says, square, square_ball

from attsvm.theory import PROFILES, Slack, codec, load_packs
from attsvm.theory.confirm import confirm
from attsvm.theory.hunt import PROFILE, hunt
from attsvm.theory.packs import find_claims

PACK = str(Path(__file__).parent / "toy_pack.py")


def chase(claim, seconds=0.001, seed=0, **rest):
    return hunt(claim, seconds=seconds, seed=seed, workers=1, **rest)


@pytest.mark.parametrize("name", ["false", "sampled", "rare", "unequal"])
def test_a_false_claim_is_hunted_down_and_its_find_is_confirmed(name):
    claim = getattr(toy_pack, name)
    result = chase(claim)
    case = codec.decode(result.found.refuted.instance, claim.instance_type)
    kind = result.found.refuted.slack["kind"]
    assert confirm(claim, {}, case, kind).refuted is True
    assert (result.rounds, result.error) == (1, None)


def test_a_true_claim_survives_every_round_until_the_time_is_up():
    calls = []
    claim = build("long", square, square_ball, cost=50)
    result = chase(claim, seconds=0.5, progress=lambda *call: calls.append(call))
    assert result.found is None
    assert result.rounds > 1
    share = PROFILES[PROFILE].scaled(50).examples
    assert calls == [(k + 1, (k + 1) * share) for k in range(result.rounds)]
    assert result.examples == calls[-1][1]
    assert result.seconds >= 0.5


def test_one_round_is_run_however_short_the_time():
    result = chase(toy_pack.true, seconds=1e-9)
    assert (result.rounds, result.examples) == (1, PROFILES[PROFILE].examples)


def test_a_check_that_breaks_ends_the_hunt_without_a_find():
    result = chase(toy_pack.raises, seconds=60.0)
    assert (result.found, result.rounds) == (None, 1)
    assert result.error.startswith("ArithmeticError: no value above 50")


def test_open_instances_are_counted_but_are_no_find():
    result = chase(toy_pack.rounding_open)
    assert (result.found, result.undecided) == (None, PROFILES[PROFILE].examples)


def test_every_round_draws_other_instances():
    rounds = []

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        rounds[-1].append(x)
        return square(x, shift)

    claim = build("rounds", conclusion, square_ball, examples=[2000.0], cost=50)
    rounds.append([])
    chase(claim, seconds=0.5, progress=lambda *_: rounds.append([]))
    assert rounds[0][0] == 2000.0
    assert 2000.0 not in rounds[1]
    assert rounds[0][1:] != rounds[1]


def test_the_same_seed_hunts_the_same_way():
    first, again, other = (chase(toy_pack.rare, seed=s) for s in (1, 1, 2))
    assert first.found.refuted == again.found.refuted
    assert first.examples == again.examples
    assert other.found is not None


def test_the_closest_that_a_search_came_is_kept():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack.at_most(abs(x), 2e6, 0.0)

    claim = build("close", conclusion, says(None), examples=[1e6])
    result = chase(claim)
    assert result.tightness >= 0.5
    assert result.min_slack <= 1e6


@pytest.mark.parametrize("value", [math.inf, 1.0])
def test_the_document_is_plain_json(value):
    result = chase(build("plain", constant(value, 0.0), says(arb(1)), same_slack=False))
    document = json.loads(json.dumps(result.json(), allow_nan=False))
    assert document["min_slack"] == (None if value == math.inf else value)
    assert (document["schema"], document["found"], document["claim"]) == (
        1,
        False,
        "toy/plain:literal",
    )


def test_two_workers_find_what_one_finds():
    (claim,) = find_claims(load_packs([PACK]), ["toy/rare:literal"])
    alone = hunt(claim, seconds=0.001, seed=0, workers=1)
    together = hunt(claim, seconds=0.001, seed=0, workers=2, named=[PACK])
    assert together.found.refuted == alone.found.refuted
    assert (together.rounds, together.examples) == (alone.rounds, alone.examples)

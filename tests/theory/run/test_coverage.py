"""What a search saw is told in words, and what it was blind to in sentences with a remedy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb
from toy_pack import build, constant, says, square, square_ball, true

from attsvm import AttentionData
from attsvm.primitives import att_svm as att_svm
from attsvm.theory import PROFILES, Slack, changed
from attsvm.theory.packs.packs import Pack
from attsvm.theory.run.coverage import Counts, describe_instance, warnings_of
from attsvm.theory.search.account import Effort, Hunt, Step
from attsvm.theory.verification.check import check_part
from attsvm.theory.verification.verify import verify


@dataclass(frozen=True, slots=True)
class Inner:
    """Data beside a number."""

    data: AttentionData
    step: float


@dataclass(frozen=True, slots=True)
class Named:
    """An array and a number."""

    A: np.ndarray
    radius: float


def data(X, Z, scores):
    return AttentionData(np.array(X, float), np.array(Z, float), scores=np.array(scores, float))


SEPARABLE = data([[[1, 0], [0, 1], [-3, 0.5]]], [[1, 2]], [[2, 1, 0]])


def test_data_is_described_wherever_it_lies_in_an_instance():
    words = describe_instance((Inner(SEPARABLE, 0.5), "log-loss"))
    assert words == {
        "sizes": "n=1 T=3 d=2",
        "equal entries": "some",
        "optimal tokens": "unique",
        "support tokens": "1",
    }


def test_the_pattern_of_support_tokens_tells_instances_apart():
    both = data([[[0, 0], [1, 0], [1, 0.5]]], [[1, 0]], [[2, 1, 0]])
    hidden = data([[[0.0], [1.0], [-1.0]]], [[1.0]], [[2.0, 1.0, 0.0]])
    tied = data([[[0.0], [1.0]]], [[1.0]], [[1.0, 1.0]])
    assert describe_instance(both)["support tokens"] == "2"
    assert describe_instance(hidden)["support tokens"] == "unseparable"
    assert describe_instance(tied)["support tokens"] == "no Att-SVM: tied"
    assert describe_instance(tied)["optimal tokens"] == "tied"


def test_plain_arrays_are_described_by_their_shapes_and_ties():
    assert describe_instance((np.ones((2, 3)), np.array([1.0, 2.0]))) == {
        "sizes": "0[2x3] 1[2]",
        "equal entries": "some",
    }
    assert describe_instance(Named(np.ones((2, 3)), 3.0))["sizes"] == "A[2x3]"
    assert describe_instance(np.array([0.0, 0.0, 1.0]))["equal entries"] == "none"
    assert describe_instance(np.array([1.0, -1.0]))["equal entries"] == "some"
    assert describe_instance(3.5) == {"sizes": "no array", "equal entries": "none"}


def test_a_search_describes_its_first_instances_and_shards_add_up():
    seen = Counts()
    for k in range(200):
        seen.examples += 1
        seen.describe(np.ones(1 + k % 2))
    assert seen.coverage["sizes"] == {"[1]": 30, "[2]": 30}
    seen.add(Counts(coverage={"sizes": {"[2]": 5, "[0]": 1}}))
    seen.add(Counts())
    assert seen.coverage["sizes"] == {"[0]": 1, "[1]": 30, "[2]": 35}


def test_drawn_instances_are_covered_and_made_up_ones_are_not():
    claim = build("square", square, square_ball)
    outcome = check_part(claim, claim.part(""), PROFILES["quick"], 0)
    assert sum(outcome.coverage["sizes"].values()) == 60


def about(undropped: frozenset[str] = frozenset(), **changes: Any) -> list[str]:
    usual: dict[str, Any] = {"examples": 60, "rejected": 40, "hypotheses": {"small": 60}}
    usual |= {"tightness": 0.9, "min_slack": 0.1, "max_slack": 2.0}
    return warnings_of(Counts(**{**usual, **changes}), undropped=undropped)


def test_a_search_with_nothing_to_complain_of_is_not_complained_of():
    assert about() == []
    assert about(tightness=None) == []
    assert about(examples=5, rejected=0, tightness=1e-9, hypotheses={"small": 0}) == []


def test_what_still_came_nearer_asks_for_more_time():
    seen = Counts(examples=60, rejected=40, tightness=1e-5, min_slack=0.1, max_slack=2.0)
    assert (
        "is only 1e-05: the bound may be far from sharp, or the search may have missed"
        in (warnings_of(seen)[0])
    )
    (said,) = warnings_of(seen, stepped=True)
    assert "the sides jump" in said
    assert "far from sharp" not in said
    (said,) = warnings_of(seen, growing=True)
    assert said.endswith("it still grew at the end of the search: give more time")
    for examined, grew in ((50, True), (30, False)):
        account = Hunt(true, efforts={"drawn": Effort(accepted=60)}, seen=seen)
        account.growth.append(Step(1e-5, examined, 0, 5.0))
        assert account.warnings[0].endswith("give more time") is grew


def test_every_blindness_has_its_sentence():
    assert "only 2 of 100 instances satisfy 'small'" in about(hypotheses={"small": 2})[0]
    assert about(hypotheses={"small": 100}) == []
    idle = about(hypotheses={"small": 100}, undropped=frozenset({"small"}))
    assert "nothing shows that it matters" in idle[0]
    assert "the largest ratio of left to right side is only 1e-05" in about(tightness=1e-5)[0]
    flat = about(tightness=None, min_slack=1.0, max_slack=1.0)
    assert "the slack is 1 on every instance" in flat[0]


def packed(claim):
    return [Pack("toys", (claim,), Path("."))]


def test_warnings_reach_the_report_and_spare_what_was_refuted():
    def tiny(x: float, shift: float = 0.0) -> Slack:
        return Slack.at_most(1e-9 + shift, 1.0, 1e-12)

    claim = build("loose", tiny, lambda x, shift=0.0: arb(1) - arb("1e-9") - arb(shift))
    report = verify(packed(claim), ["toy/loose:literal"])
    assert (
        "the largest ratio of left to right side is only 1e-09"
        in report.json()["claims"][0]["warnings"][0]
    )
    refuted = build("off", constant(-1.0, 0.0), says(arb(-1)), expected="refuted")
    assert verify(packed(refuted)).json()["claims"][0]["warnings"] == []


def test_a_hypothesis_that_a_sibling_drops_is_not_idle():
    """Of these an automatic one drops the first."""
    hypotheses = {"any": lambda x: True, "other": lambda x: True}
    claim = build(
        "idle",
        square,
        square_ball,
        hypotheses=hypotheses,
        siblings={
            "shift": changed(shift=100.0),
            "without": changed(shift=50.0, drop=["other"]),
        },
        cost=3,
    )
    (entry,) = verify(packed(claim)).json()["claims"]
    assert entry["examples"] >= 20  # below that nobody is warned
    assert [w for w in entry["warnings"] if "matters" in w] == []

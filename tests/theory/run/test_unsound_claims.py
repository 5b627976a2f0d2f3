"""A claim that changes an instance, answers at random or raises is an error, never a refutation."""

import itertools
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st
from toy_pack import Point, build, constant, says, square, square_ball

from attsvm import AttentionData
from attsvm._files import dump
from attsvm.errors import ClaimError, DataError
from attsvm.theory import PROFILES, Slack
from attsvm.theory.declaration.packs import Pack
from attsvm.theory.record import codec
from attsvm.theory.record.counterexample import KIND, SCHEMA, replay
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.check import check_part
from attsvm.theory.search.turn import Turn, take

QUICK = PROFILES["quick"]
POINTS = st.tuples(*[st.integers(1, 8)] * 2).map(lambda p: Point(np.array(p, dtype=float)))
MEANT = Point(np.array([1.0, 1.0]))


def check(claim, part=""):
    return check_part(claim, claim.part(part), QUICK, 0)


# changed instances


def by_array(p):
    p.at[0] = -1.0


def by_assignment(p):
    p.at = np.array([-1.0, 1.0])


def by_flags(p):
    p.at.setflags(write=True)
    p.at[0] = -1.0


def by_field(p):
    object.__setattr__(p, "at", np.array([-1.0, 1.0]))


def by_list(p):
    object.__setattr__(p, "at", [-1.0, 1.0])


STOPPED = {
    by_array: r"tried to change its instance.*ValueError: assignment.*\(test_unchanged\.py:\d+\)",
    by_assignment: r"tried to change its instance.*FrozenInstanceError",
}
"""What is said of changes that are stopped where they are made."""

FOUND_OUT = dict.fromkeys((by_flags, by_field, by_list), "changed its instance")
"""What is said of others."""

ROLES = {
    "a hypothesis": "(a hypothesis|hypothesis 'x > 0') of toy/changing:literal ",
    "the conclusion": "the conclusion of toy/changing:literal ",
    "the certificate": "(the certificate|what confirms a violation) of toy/changing:literal ",
    "the second evaluation": "(the second evaluation|what confirms a violation) of toy/changing:li",
}
"""Who changes the instance, and how messages begin."""

CHANGES = STOPPED | FOUND_OUT

LATE = (
    "toy/changing:literal (tried to change|changed) its instance"
    "|of toy/changing:literal holds of an instance and not of its copy, or the conclusion changed"
    r"|an instance holds a value of this type \(got list\)"
)
"""What is said of a change that shows where a violation is to be confirmed."""


def changing(role, change, spared=0):
    """x >= 0 of points with x > 0, which holds unless somebody changes a point to x = -1.

    Who does spares the first instances that it is asked about.
    """
    calls = itertools.count()

    def act(who, p):
        if who == role and next(calls) >= spared:
            change(p)

    def positive(p):
        answer = bool(p.at[0] > 0.0)
        act("a hypothesis", p)
        return answer

    def conclusion(p: Point, shift: float = 0.0) -> Slack:
        act("the conclusion", p)
        return Slack(float(p.at[0]) - shift, 0.0)

    def certify(p: Point, shift: float = 0.0) -> arb:
        act("the certificate", p)
        return arb(float(p.at[0]) - shift)

    def rerun(p: Point, shift: float = 0.0) -> Slack:
        act("the second evaluation", p)
        return Slack(float(p.at[0]) - shift, 0.0)

    confirms = {"rerun": rerun} if role == "the second evaluation" else {"certify": certify}
    hypotheses = {"x > 0": positive}
    return build("changing", conclusion, data=POINTS, hypotheses=hypotheses, **confirms)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_of_an_instance_is_the_error_of_who_made_it(role, change):
    part = "shift 100" if role == "the second evaluation" else ""  # asked of violations alone
    outcome = check(changing(role, change), part)
    assert outcome.refuted is None
    assert re.match(ROLES[role], outcome.error)
    assert re.search(CHANGES[change], outcome.error)
    assert "copy an array before changing it" in outcome.error


@pytest.mark.parametrize("role", ["a hypothesis", "the conclusion"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_after_many_instances_refutes_nothing(role, change):
    outcome = check(changing(role, change, spared=40))
    assert outcome.examples >= 40
    assert outcome.refuted is None
    assert re.search(LATE, outcome.error)


@pytest.mark.parametrize("role", ["a hypothesis", "the conclusion"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_hunt_finds_nothing_in_a_changed_instance(role, change):
    claim = changing(role, change)
    gain = take(claim, Turn(claim.id, "", "drawn", 0, 0, 20))
    assert gain.found is None
    assert re.search(LATE, gain.error)


@pytest.mark.parametrize("role", ["a hypothesis", "the conclusion", "the certificate"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_file_is_confirmed_on_a_changed_instance(role, change, tmp_path):
    claim = changing(role, change)
    stored = {"schema": SCHEMA, "kind": KIND, "claim": claim.id, "instance": codec.encode(MEANT)}
    path = tmp_path / "file.json"
    path.write_text(dump(stored))
    result = replay(path, (Pack("toys", (claim,), tmp_path),))
    assert result.result == "ERROR"
    assert re.match(ROLES[role], result.reason)
    assert re.search(CHANGES[change], result.reason)


# what instances are made of


@dataclass
class Loose:
    """A point that can be changed."""

    at: float


CONTAINERS = {
    "list": (Point([1.0, 2.0]), r"a value of this type \(got list\)"),
    "dictionary": ({"x": 1.0}, r"a value of this type \(got dict\)"),
    "list in a tuple": ((1.0, [2.0]), r"a value of this type \(got list\)"),
    "dataclass": (Loose(1.0), r"a dataclass that can be changed \(got Loose\).*frozen=True"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("source", ["data", "examples", "ensemble"])
def test_an_instance_that_can_be_changed_is_refused_when_it_is_first_seen(kind, source):
    case, said = CONTAINERS[kind]
    asked = []

    def conclusion(x: Any, shift: float = 0.0) -> Slack:
        asked.append(x)
        return Slack(1.0 - shift, 0.0)

    given = {"data": st.just(case), "examples": [case], "ensemble": lambda generator: case}
    outcome = check(build("loose", conclusion, says(arb(1)), **{source: given[source]}))
    assert re.search(said, outcome.error)
    assert case not in asked


def test_a_read_only_instance_leaves_writeable_bases_behind():
    base = np.arange(6.0)
    case = (Point(base[2:4]), base, 3.0)
    kept = frozen(case)
    base[:] = 7.0
    assert kept[0].at.tolist() == [2.0, 3.0]
    assert kept[1].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for array in (kept[0].at, kept[1]):
        assert not array.flags.writeable
        assert array.flags.owndata
    assert case[0].at.tolist() == [7.0, 7.0]
    assert base.flags.writeable


def test_what_is_read_only_is_not_copied():
    case = (AttentionData.of([[[1.0], [2.0]]], [[1.0]], scores=[[1.0, 2.0]]), frozen(MEANT))
    assert frozen(case) is case


def test_a_type_is_no_instance():
    with pytest.raises(ClaimError, match="holds a value of this type"):
        frozen(Point)


# random conclusions


def drifting(*values):
    """A conclusion that comes to these slacks in turn, whatever the instance."""
    turns = itertools.cycle(values)

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(next(turns), 0.0)

    return conclusion


def test_a_random_conclusion_is_found_out_though_it_holds():
    generator = np.random.default_rng(0)

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 + generator.random() - shift, 0.0)

    outcome = check(build("random", conclusion, rerun=constant(1.0, 0.0)))
    assert outcome.error.startswith(
        "the conclusion of toy/random:literal came to two different slacks on one instance"
    )
    assert "seed every random generator" in outcome.error


@pytest.mark.parametrize("kind", ["inequality", "strict", "equality"])
def test_a_violation_that_is_gone_when_it_is_looked_at_again_refutes_nothing(kind):
    claim = build("random", drifting(-1.0, 1.0), rerun=constant(-1.0, 0.0, kind))
    outcome = check(claim)
    assert outcome.refuted is None
    assert "came to two different slacks on one instance (got -1.0 within" in outcome.error
    gain = take(claim, Turn(claim.id, "", "drawn", 0, 0, 20))
    assert gain.found is None


def test_a_hypothesis_that_says_something_else_of_a_copy_refutes_nothing():
    answers = itertools.cycle([True, False])
    claim = build(
        "fickle", constant(-1.0, 0.0), says(arb(-1)), hypotheses={"odd": lambda x: next(answers)}
    )
    outcome = check(claim)
    assert outcome.refuted is None
    assert "hypothesis 'odd' of toy/fickle:literal holds of an instance and not" in outcome.error


def test_a_copy_in_another_order_of_memory_may_come_to_another_rounding():
    def conclusion(p: Point, shift: float = 0.0) -> Slack:
        return Slack(-1.0 - 1e-12 * p.at.flags.f_contiguous, 1e-11)

    grid = Point(np.asfortranarray(np.arange(4.0).reshape(2, 2)))
    claim = build("order", conclusion, lambda p, shift=0.0: arb(-1), data=st.just(grid))
    assert check(claim).error is None
    assert check(claim).refuted is not None


# raising hypotheses


@pytest.mark.parametrize("kind", [ZeroDivisionError, ValueError, DataError, SystemExit])
@pytest.mark.parametrize("explicit", [(), (1.0,)])
def test_a_hypothesis_that_raises_is_named_with_its_claim(kind, explicit):
    def raising(x):
        raise kind("no answer")

    claim = build("raising", square, square_ball, hypotheses={"h": raising}, examples=explicit)
    error = check(claim).error
    assert error.startswith("hypothesis 'h' of toy/raising:literal raised ")
    assert "no answer" in error
    assert kind is DataError or f"{kind.__name__}: no answer (test_unchanged.py:" in error
    assert check(replace(claim, hypotheses=())).error is None

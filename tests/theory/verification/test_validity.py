"""Declarations whose check could hardly fail: each is told, and is never exercised."""

import functools
from dataclasses import replace

import pytest
from flint import arb
from toy_pack import build, constant, says, stated

from attsvm.theory import Integer, Real, Vector, changed
from attsvm.theory.run.profiles import profile_named
from attsvm.theory.verification.check import check_part
from attsvm.theory.verification.verify import Task, conclude

PROFILE = replace(profile_named("quick"), examples=20, guided=30)


declared = functools.partial(stated, "dull")


def checked(claim):
    outcomes = {
        Task(claim.id, part.name): check_part(claim, part, PROFILE, 0) for part in claim.parts()
    }
    return conclude(claim, outcomes, PROFILE)


def said(claim):
    found = checked(claim)
    return str(found.verdict.validity), found.reason


def bounded(m, v, c):
    return m.at_most(v.x, c * (1 + m.square(v.x)))


HALF = {"constants": {"c": "0.5"}, "siblings": {"0.4": changed(c="0.4")}}


def test_a_sound_toy_is_exercised():
    assert said(declared({"x": Real()}, bounded, **HALF))[0] == "exercised"


@pytest.mark.parametrize(
    "conclusion",
    [
        lambda m, v, c: m.at_most(m.exact("0.45"), c),
        lambda m, v, c: m.equal(0 * v.x, m.maximum(0 * v.x, m.exact("0.45") - c)),
        lambda m, v, c: m.all_of(m.at_most(m.exact("0.45"), c), m.at_most(m.exact(0), c)),
    ],
)
def test_sides_that_no_instance_moves_are_weak_though_the_sibling_falls(conclusion):
    validity, reason = said(declared({"x": Real()}, conclusion, **HALF))
    assert validity == "weak"
    assert "both sides of the conclusion are the same" in reason


def test_a_hypothesis_that_no_instance_can_violate_is_thin():
    always = {"x <= x + 1": lambda m, v: m.at_most(v.x, v.x + 1)}
    validity, reason = said(declared({"x": Real()}, bounded, always, **HALF))
    assert validity == "thin"
    assert "never violated" in reason
    assert "x <= x + 1" in reason


def test_neither_does_it_count_as_violated_where_another_one_is():
    conditions = {
        "x <= 1": lambda m, v: m.at_most(v.x, m.exact(1)),
        "x <= x + 1": lambda m, v: m.at_most(v.x, v.x + 1),
    }
    siblings = {"both": changed(drop=list(conditions), examples=[{"x": 2}])}
    claim = declared(
        {"x": Real()}, lambda m, v: m.at_most(v.x, m.exact(1)), conditions, siblings=siblings
    )
    found = checked(claim)
    assert [o.refuted is not None for o in found.siblings] == [True, False, True]
    assert found.reason.endswith(": x <= x + 1")
    assert str(found.verdict.validity) == "thin"


def test_a_hypothesis_that_is_not_needed_but_violated_is_no_fault():
    positive = {"x >= 0": lambda m, v: m.at_least(v.x, m.exact(0))}
    found = checked(declared({"x": Real()}, bounded, positive, **HALF))
    assert str(found.verdict.validity) == "exercised"
    assert found.json()["not_shown_to_be_needed"] == ["x >= 0"]


def test_explicit_instances_do_not_vary_what_is_never_drawn():
    def largest(m, v, c):
        return m.at_most(m.max(v.x), c * (1 + m.sum(m.square(v.x))))

    variables = {"n": Integer(2, 2), "x": Vector("n")}
    examples = ({"x": [1, 0]}, {"x": [1, 0, 0]})
    validity, reason = said(declared(variables, largest, examples=examples, **HALF))
    assert (validity, reason) == ("thin", "never varied: n")


def test_a_variable_with_two_values_is_varied():
    def largest(m, v, c):
        return m.at_most(v.x, c * (1 + v.n * m.square(v.x)))

    claim = declared({"n": Integer(1, 2), "x": Real()}, largest, **HALF)
    assert checked(claim).reading.varied["n"] == 2
    assert said(claim)[0] == "exercised"


@pytest.mark.parametrize(
    ("ball", "validity", "reason"),
    [
        (None, "thin", "20 of 20 instances decided by a curve alone"),
        (arb(1), "exercised", "20 instances, 20 of them decided by a certificate as well, 0 by"),
    ],
)
def test_a_check_that_a_stand_in_carries_is_thin(ball, validity, reason):
    claim = build("followed", constant(1.0, 0.0), says(ball), stand_in="a curve")
    found = checked(claim)
    assert str(found.verdict.validity) == validity
    assert found.reason.startswith(reason)
    told = found.json()
    assert told["stand_in"] == "a curve"
    assert told["decided"] + told["by_stand_in"] == told["examples"] == 20


def test_without_a_stand_in_floats_may_carry_a_check():
    found = checked(build("measured", constant(1.0, 0.0), says(None)))
    assert str(found.verdict.validity) == "exercised"
    assert (found.json()["stand_in"], found.json()["by_stand_in"]) == ("", 0)

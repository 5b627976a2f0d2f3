"""Declarations whose check could hardly fail: each is told, and is never exercised."""

import functools
import json
from dataclasses import replace

import pytest
from flint import arb
from toy_pack import build, constant, says, stated

from attsvm.theory import Integer, Real, Vector, changed
from attsvm.theory.declaration.judge import judge
from attsvm.theory.instance import codec
from attsvm.theory.run.bounded import JUDGED_STEPS, SCREENED_STEPS
from attsvm.theory.run.examining import examine_case, probe, see_dropped
from attsvm.theory.run.sampling import profile_named
from attsvm.theory.run.tally import Tally
from attsvm.theory.verification.check import Outcome, check_part, with_siblings
from attsvm.theory.verification.verdicts import Task, conclude

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


TWICE = {"siblings": {"2": changed(c=2)}}
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


def test_a_reading_whose_only_sibling_may_survive_is_weak():
    small = {"x <= 5": lambda m, v: m.at_most(v.x, 5)}
    validity, reason = said(declared({"x": Real()}, bounded, small, constants={"c": "0.5"}))
    assert (validity, reason) == (
        "weak",
        "no sibling was refuted, as it has none that must fall: write "
        "siblings={'a name': changed(constant=another)}, or tight=True",
    )


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


def test_only_instances_that_no_search_chose_show_that_a_hypothesis_is_ever_violated():
    apart = {"x != y": lambda m, v: m.above(m.abs(v.x - v.y), m.exact(0))}
    claim = declared({"x": Real(), "y": Real()}, bounded, apart, **HALF)
    (dropped,) = (part for part in claim.parts() if part.dropped)
    equal, different = (claim.formula.build(x=1.0, y=y) for y in (1.0, 2.0))
    tally = Tally(claim, dropped, 0)
    probe(tally, equal, "screen", reshaped=False)
    examine_case(tally, equal, "Hypothesis")
    assert tally.seen.missed == {"x != y": 0}
    see_dropped(tally, [codec.encode(different)])
    assert tally.seen.missed == {"x != y": 0}
    see_dropped(tally, [codec.encode(different), codec.encode(equal)])
    assert tally.seen.missed == {"x != y": 1}


def test_a_hypothesis_that_is_not_needed_but_violated_is_no_fault():
    positive = {"x >= 0": lambda m, v: m.at_least(v.x, m.exact(0))}
    found = checked(declared({"x": Real()}, bounded, positive, **HALF))
    assert str(found.verdict.validity) == "exercised"
    assert found.json()["not_shown_to_be_needed"] == ["x >= 0"]


def test_a_bound_far_from_all_integers_is_warned_of_in_words_for_integers():
    small = {"constants": {"c": 10**9}, "siblings": {"1": changed(c=1)}}
    found = checked(declared({"k": Integer(1, 900)}, lambda m, v, c: m.at_most(v.k, c), **small))
    assert ["the sides jump" in warning for warning in found.warnings] == [True]


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


@pytest.fixture
def impatient(monkeypatch):
    """Searches in floats give up after a sixteenth of their steps, which take seconds."""
    monkeypatch.setattr("attsvm.theory.run.bounded.SCREENED_STEPS", SCREENED_STEPS // 16)


@pytest.mark.usefixtures("impatient")
def test_a_true_claim_about_one_unbounded_integer_is_exercised():
    def square(m, v, c=1):
        return m.at_most(c * v.n, v.n * v.n)

    def fibonacci(m, v, c=1):
        a, b = m.exact(0), m.exact(1)
        for _ in range(v.k):
            a, b = b, a + b
        return m.at_most(c * a, m.power(m.exact(2), v.k))

    twice = {"siblings": {"3": changed(c=3)}}
    for variables, conclusion in (({"n": Integer(1)}, square), ({"k": Integer(0)}, fibonacci)):
        found = checked(declared(variables, conclusion, **twice))
        assert str(found.verdict) == "holds, certified, exercised", found.reason
        assert found.reason.startswith("20 instances, each decided in rationals or balls")
        assert found.json()["distinct"] >= found.reading.examples
        assert not found.warnings


def test_a_claim_about_few_integers_is_exercised_once_all_are_examined():
    found = checked(
        declared({"n": Integer(1, 3)}, lambda m, v, c=1: m.at_most(c * v.n, 3), **TWICE)
    )
    assert str(found.verdict) == "holds, certified, exercised"
    assert found.reason == "all 3 instances that there are, each decided in rationals or balls"


def test_a_claim_whose_hypotheses_few_instances_meet_is_thin():
    rare = {"n = 2": lambda m, v: m.equal(v.n, 2)}
    found = checked(
        declared({"n": Integer(1)}, lambda m, v, c=1: m.at_most(c * v.n, 2), rare, **TWICE)
    )
    assert str(found.verdict.validity) == "thin"
    assert found.reason.startswith("1 different instance met the hypotheses and were judged")


def test_what_the_siblings_show_of_the_reading_counts_for_its_tightness():
    def near(m, v, c=1):
        return m.at_most(c * m.abs(v.x), 1)

    inside = {"|x| <= 1": lambda m, v: m.at_most(m.abs(v.x), 1)}
    claim = declared({"x": Real()}, near, inside, tight=True)
    found = checked(claim)
    shown = [s.reading_ratio for s in found.siblings if s.reading_ratio is not None]
    assert shown
    assert found.json()["tightness"] >= max(shown) > 0.999
    outcome = replace(found.reading, tightness=0.5)
    assert with_siblings(outcome, found.siblings).tightness == max(shown)


def test_an_instance_of_a_sibling_that_refutes_the_reading_as_well_refutes_it():
    claim = declared(
        {"x": Real()},
        lambda m, v, c=1: m.at_most(c * v.x, 1),
        siblings={"2": changed(c=2, examples=[{"x": 2}])},
    )
    sibling = check_part(claim, claim.part("2"), PROFILE, 0)
    seen = Outcome(claim.id, "", examples=20, tightness=0.5)
    read = [Outcome.read(json.loads(json.dumps(o.json()))) for o in (seen, sibling)]
    found = with_siblings(read[0], read[1:])
    assert found.refuted.found_by == "sibling '2'"
    assert with_siblings(seen, []) == seen


@pytest.mark.usefixtures("impatient")
def test_a_formula_that_takes_too_many_steps_is_left_out_and_told():
    def loop(m, v, c=1):
        x = v.x
        for _ in range(v.k):
            x = x - x / 2
        return m.at_most(c * m.abs(x), m.abs(v.x))

    variables = {"k": Integer(0, 10**5, beyond=True), "x": Real()}
    twice = {"siblings": {"2": changed(c=2, examples=[{"k": 0, "x": 1}])}}
    found = checked(declared(variables, loop, **twice))
    told = found.json()
    assert told["given_up"] > 0
    assert "k" in told["given_up_note"]
    said = f"left out, of more than {JUDGED_STEPS} steps of Python ({SCREENED_STEPS} in all"
    assert said in found.reason


def test_a_loop_that_never_ends_is_an_error_of_that_claim():
    def endless(m, v, c=1):
        while v.n:
            c = c + 0
        return m.at_most(v.x, c)

    found = checked(declared({"n": Integer(1, 2), "x": Vector("n")}, endless, **TWICE))
    assert str(found.verdict.validity) == "error"
    assert "steps of Python at small sizes. Make sure that its loops end" in found.reason


def test_instances_whose_hypothesis_stays_open_are_not_all_that_there_are():
    """log(xy) <= log x + log y is true for all nine, and decided only if a factor is 1."""
    claim = stated(
        "open",
        {name: Integer(1, 3) for name in "xy"},
        lambda m, v, most: m.at_most(v.x * v.y, most),
        {"equal": lambda m, v: m.at_most(m.log(v.x * v.y), m.log(v.x) + m.log(v.y))},
        constants={"most": 3},
        siblings={"2": changed(most=2)},
    )
    _, reason = said(claim)
    assert "that there are" not in reason


def test_a_formula_of_rationals_that_grow_is_decided_in_balls():
    """Thirty times x - x^2 of a float has 2^30 times as many digits as the float."""

    def iterated(m, v, c=1):
        x = v.x
        for _ in range(30):
            x = x - x * x
        return m.at_most(c * x, m.exact("0.05"))

    claim = declared({"x": Real((0, 1))}, iterated, **TWICE)
    found = checked(claim)
    assert (str(found.verdict.truth), str(found.verdict.validity)) == ("holds", "exercised")
    judged = judge(claim.formula, {}, claim.formula.build(x=0.5))
    assert judged.holds
    assert "ball arithmetic" in judged.method
    hypothesis = {"x_30 <= 1": lambda m, v: m.at_most(iterated(m, v).left, m.exact(1))}
    found = checked(declared({"x": Real()}, bounded, hypothesis, **HALF))
    assert str(found.verdict.truth) == "holds"

"""A claim that could not be checked honestly is refused where it is declared."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st
from toy_pack import SHIFTED, build, constant, says, square, square_ball, stated

from attsvm.errors import ClaimError
from attsvm.theory import Hypothesis, Measured, Reading, Real, Records, Slack, Statement, changed
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.claim import ensure_checkable
from attsvm.theory.instance import codec
from attsvm.theory.packs.code_digests import digest_of_claim
from attsvm.theory.run.examining import audit_closest, examine_case
from attsvm.theory.run.sampling import profile_named, sample
from attsvm.theory.run.tally import Tally
from attsvm.theory.verification.check import check_part

HERE = {"source": "toys", "place": "here", "printed": "x^2 >= 0"}
SQUARE = Measured("x^2 >= $shift", floats=square, balls=square_ball)
NUMBERS = Records(float, st.just(0.0))


def declare(
    id="toy/declared:literal",
    conclusion=SQUARE,
    records=NUMBERS,
    hypotheses=None,
    violating=None,
    **rest,
):
    statement, _, name = id.rpartition(":")
    named = {said: Hypothesis(said, holds) for said, holds in (hypotheses or {}).items()}
    reading = {"expected": "holds", "siblings": SHIFTED, **rest}
    made = Statement(
        statement,
        **HERE,
        variables=records,
        conclusion=conclusion,
        readings={name: Reading(**reading)},
        hypotheses=tuple(named.values()),
        violating={named.get(name, name): found for name, found in (violating or {}).items()},
    )
    return made.claim(name)


def test_a_claim_knows_its_statement_and_its_reading():
    made = declare("mm/theorem-1.2:amended-2")
    assert (made.statement_id, made.reading) == ("mm/theorem-1.2", "amended-2")


@pytest.mark.parametrize(
    "id",
    [
        *("toy:literal", "toy/a:", "toy/A:literal", "toy/a:strong", "toy/a:literal-", ":sharp"),
        *("/a:sharp", "toy/a b:literal", "toy/a/b:literal", "toy/a:literal-1-2", "../a:literal"),
    ],
)
def test_an_id_of_another_form_is_refused(id):
    with pytest.raises(ClaimError, match="source/statement:reading"):
        declare(id)


@pytest.mark.parametrize("form", ["balls", "again"])
def test_every_form_of_a_conclusion_takes_its_constants(form):
    short = replace(SQUARE, **{form: lambda x: None})
    with pytest.raises(ClaimError, match=rf"form for {form} of the conclusion of toy/declared"):
        declare(conclusion=short)


@pytest.mark.parametrize(
    "changes",
    [
        {"expected": "proved"},
        {"expected": "undecided", "proof": "toy_pack:prove"},
        {"expected": "refuted", "proof": "toy_pack:prove"},
    ],
)
def test_a_proof_is_named_by_a_claim_that_stands(changes):
    with pytest.raises(ClaimError, match="Expect proved if the claim names a linked proof"):
        declare(**changes)


@pytest.mark.parametrize(
    ("words", "proof", "prose"),
    [
        ("holds", "toy_pack:prove", True),
        ("proved", "toy_pack:prove", False),
        ("holds", None, False),
    ],
)
def test_a_claim_that_holds_with_a_proof_has_it_in_prose(words, proof, prose):
    made = declare(expected=words, proof=proof)
    assert made.in_prose is made.json()["in_prose"] is prose


@dataclass(frozen=True)
class Number:
    """A number."""

    x: float


def test_the_instance_type_is_that_of_the_records():
    assert declare(records=Records(Number, st.just(Number(0.0)))).instance_type is Number
    with pytest.raises(ClaimError, match=r"no record of its statement.*Give a Number"):
        declare(records=Records(Number, st.just(Number(0.0))), examples=(1.0,))


def test_the_reading_comes_first_and_then_its_siblings_in_order():
    made = declare(
        hypotheses={"h": lambda x: True, "k": lambda x: True},
        examples=(1.0,),
        siblings={
            "b": changed(shift=1.0, examples=[2.0]),
            "a": changed(drop=["h"], variables=Records(float, st.just(3.0))),
        },
    )
    reading, automatic, b, a = made.parts()
    assert [part.name for part in made.parts()] == ["", "without k", "b", "a"]
    assert (reading.parameters, reading.examples, reading.data) == ({}, (1.0,), made.data)
    assert automatic.automatic
    assert (b.parameters, b.examples, b.data) == ({"shift": 1.0}, (2.0, 1.0), made.data)
    assert [h.name for h in b.hypotheses] == ["h", "k"]
    assert [h.name for h in a.hypotheses] == ["k"]
    assert a.data is not made.data
    assert made.part("a").name == "a"
    with pytest.raises(ClaimError, match="no sibling of that name"):
        made.part("c")


def dropping(drop, **changes):
    return declare(
        hypotheses={"x != 1": lambda x: x != 1.0, "x != 2": lambda x: x != 2.0},
        siblings={"freer": changed(drop=drop, **changes), "shift": changed(shift=1.0)},
        expected="refuted",
    ).part("freer")


def holds_all(part, x):
    return all(h.holds(x) is True for h in part.hypotheses)


def test_a_sibling_of_a_refuted_reading_that_only_drops_must_miss_what_it_drops():
    one = dropping(["x != 1"])
    assert [h.name for h in one.hypotheses] == ["x != 2", "not: x != 1"]
    assert [x for x in (0.0, 1.0, 2.0) if holds_all(one, x)] == [1.0]
    both = dropping(["x != 1", "x != 2"])
    assert [x for x in (0.0, 1.0, 2.0) if holds_all(both, x)] == [1.0, 2.0]


def test_a_sibling_that_changes_constants_as_well_need_not_miss_what_it_drops():
    other = dropping(["x != 1"], shift=1.0)
    assert [x for x in (0.0, 1.0, 2.0) if holds_all(other, x)] == [0.0, 1.0]


@pytest.mark.parametrize("answer", [None, "yes"])
def test_a_dropped_hypothesis_that_is_not_decided_is_neither_missed_nor_met(answer):
    made = declare(
        hypotheses={"odd": lambda x: answer},
        siblings={"freer": changed(drop=["odd"]), "shift": changed(shift=1.0)},
        expected="refuted",
    )
    assert made.part("freer").hypotheses[0].holds(0.0) is answer


def test_the_fingerprint_follows_id_statement_and_file():
    made = declare()
    assert digest_of_claim(declare()) == digest_of_claim(made)
    assert digest_of_claim(declare(says="x^2 > 0")) != digest_of_claim(made)
    assert digest_of_claim(declare("toy/other:literal")) != digest_of_claim(made)
    assert digest_of_claim(replace(made, file=square.__code__.co_filename)) != digest_of_claim(made)


def test_a_claim_says_where_it_is_declared():
    made = declare()
    assert made.file == __file__
    with open(__file__) as handle:
        assert "made = Statement(" in handle.read().splitlines()[made.line - 1]


def test_the_listing_holds_what_the_command_line_promises():
    entry = declare(says="x^2 >= 0", depends_on=("toy/true:literal",)).json()
    assert entry["statement"] == "x^2 >= 0."
    assert entry["depends_on"] == ["toy/true:literal"]
    assert set(entry) >= {
        *("id", "reading", "source", "place", "statement", "hypotheses"),
        *("expected", "depends_on", "file", "line"),
    }


# formulas over records


@dataclass(frozen=True, slots=True)
class Pair:
    """A vector and a number."""

    x: Any
    y: float


def length(m, pair, share=1):
    """|x| <= share y."""
    return m.at_most(m.norm(m.values(pair.x)), share * m.values(pair.y))


def shorter(m, pair, share=1):
    """|x| <= share (|x| + |y|)."""
    size = m.norm(m.values(pair.x))
    return m.at_most(size, share * (size + m.abs(m.values(pair.y))))


THREE = np.array([3.0, 4.0])
PAIRS = Records(Pair, st.sampled_from([Pair(THREE, 5.0), Pair(2 * THREE, 10.0)]))


@pytest.mark.parametrize(("y", "holds"), [(5.0, True), (np.nextafter(5.0, 0.0), False)])
def test_a_formula_over_records_is_judged_in_exact_numbers(y, holds):
    made = declare(conclusion=length, records=PAIRS, siblings={"half": changed(share="0.5")})
    assert (made.conclusion(Pair(THREE, float(y))).value >= 0) is holds


@pytest.mark.parametrize(
    ("fixed", "still"), [((), ["y"]), (("y",), [])], ids=["free", "fixed by the sentence"]
)
def test_a_field_that_is_never_varied_is_seen_unless_the_sentence_fixes_it(fixed, still):
    pairs = st.integers(0, 8).map(lambda k: Pair(THREE * k / 8, 5.0))
    made = declare(
        conclusion=shorter,
        records=Records(Pair, pairs, fixed=fixed),
        siblings={"half": changed(share="0.5")},
    )
    found = check_part(made, made.part(""), profile_named("quick"), 0)
    assert [name for name, count in found.varied.items() if count < 2] == still
    assert found.refuted is None


def test_a_reading_fixes_a_field_of_all_its_records_and_a_sibling_may_fix_another_value():
    made = declare(
        conclusion=length,
        records=replace(PAIRS, ensemble=lambda _: Pair(THREE, 1.0)),
        examples=(Pair(THREE, 0.0),),
        fixed={"y": 10.0},
        siblings={"y is 1": changed(fixed={"y": 1.0})},
    )
    _, sibling = made.parts()  # no automatic one leaves the setting out
    drawn = [codec.decode(document, Pair) for document in sample(made.data, 4)[0]]
    drawn += [made.ensemble(np.random.default_rng(0)), *made.examples]
    assert {case.y for case in drawn} == {10.0}
    assert {case.y for case in sibling.examples} == {1.0}
    (setting,) = made.hypotheses
    assert (setting.name, setting.holds(Pair(THREE, 5.0))) == ("the y is 10.0", False)
    found = [check_part(made, part, profile_named("quick"), 0) for part in made.parts()]
    assert [outcome.refuted is None for outcome in found] == [True, False]


@pytest.mark.parametrize("tight", [True, False])
def test_a_tight_formula_over_records_gets_its_tightened_siblings(tight):
    made = declare(
        conclusion=length, records=PAIRS, siblings={"half": changed(share="0.5")}, tight=tight
    )
    automatic = ["95% of the right side", "99.9% of the right side"] if tight else []
    assert [s.name for s in made.siblings] == [*automatic, "half"]
    for part in made.parts()[1:]:
        assert check_part(made, part, profile_named("quick"), 0).refuted is not None


def test_numbers_of_a_record_are_exact():
    assert BALLS.values(0.1) == (0.1).as_integer_ratio()[0] / BALLS.exact(2**55)
    matrix = BALLS.values(np.array([[0.5, 2.0]]))
    assert matrix.shape == (1, 2)
    assert BALLS.sum(matrix) * 2 == 5


def test_a_violating_record_shows_that_a_hypothesis_is_needed():
    below = {"x <= 1": lambda x: x <= 1.0}

    def at_most_one(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 - x - shift, 0.0)

    made = build(
        "needed",
        at_most_one,
        lambda x, shift=0.0: arb(1) - arb(x) - arb(shift),
        data=st.just(0.0),
        hypotheses=below,
        violating={"x <= 1": [2.0]},
    )
    (automatic,) = [part for part in made.parts() if part.automatic]
    assert check_part(made, automatic, profile_named("quick"), 0).refuted is not None


def of_a_variable(**changes):
    at_most_one = lambda m, v: m.at_most(v.x, m.exact(1))  # noqa: E731
    hypotheses = {"x <= 1": at_most_one}
    declare(records={"x": Real()}, conclusion=at_most_one, hypotheses=hypotheses, **changes)


UNCHECKABLE = {
    "no certificate": (
        lambda: Measured("x^2 >= 0", floats=square),
        "no form could confirm",
    ),
    "nothing but a stand-in": (
        lambda: Measured("x^2 >= 0", floats=square, again=square, stand_in="a curve"),
        "the floats follow a curve, and no form follows the claim's own dynamics",
    ),
    "made by hand": (
        lambda: ensure_checkable(replace(declare(), cost=0)),
        "cost below 1",
    ),
    "records that violate what is not there": (
        lambda: declare(hypotheses={"x >= 0": lambda x: x >= 0}, violating={"x > 0": [-1.0]}),
        "violate hypotheses that no reading of it has",
    ),
    "measured of variables": (
        lambda: declare(records={"x": Real()}),
        "measured, but the reading has no records",
    ),
    "measured without a right side": (
        lambda: declare(tight=True),
        "sets constants that the conclusion lacks",
    ),
    "records for variables": (
        lambda: of_a_variable(siblings={"a": changed(drop=["x <= 1"], variables=NUMBERS)}),
        "gives records, but its statement has variables",
    ),
}


@pytest.mark.parametrize("what", UNCHECKABLE)
def test_a_declaration_that_could_not_mean_what_it_says_is_refused(what):
    declared, said = UNCHECKABLE[what]
    with pytest.raises(ClaimError, match=said):
        declared()


def test_the_closest_instance_is_put_down_to_who_brought_it():
    made = build("blind", constant(1.0, 0.0), says(arb(-1)), examples=[3.0])
    tally = Tally(made, made.part(""), 0)
    examine_case(tally, 3.0, "explicit instance")
    assert audit_closest(tally).found_by == "explicit instance"


ABOVE_ONE = stated(
    "above-one",
    {"x": Real()},
    lambda m, v: m.at_most(v.x, v.x * v.x),
    {"x >= 1": lambda m, v: m.at_least(v.x, m.exact(1))},
    siblings={
        "from 7/8 on": changed(
            drop=["x >= 1"],
            under=(Hypothesis("x >= 7/8", lambda m, v: m.at_least(v.x, m.exact("0.875"))),),
            examples=[{"x": 0.875}],
        )
    },
)


def test_a_sibling_is_checked_under_its_own_hypotheses_in_place_of_what_it_drops():
    claim = ABOVE_ONE
    part = claim.part("from 7/8 on")
    assert [h.name for h in part.hypotheses] == ["x >= 7/8"]
    assert list(part.formula.hypotheses) == ["x >= 7/8"]
    inside, outside = (claim.formula.build(x=x) for x in (0.9375, 0.5))
    assert part.hypotheses[0].holds(inside)
    assert not part.hypotheses[0].holds(outside)
    assert claim.conclusion(inside).violated


# records that violate a hypothesis go to the siblings of readings over their own type


def drawn(*most):
    return st.tuples(*(st.integers(0, k).map(float) for k in most))


def positive(violating):
    above = Hypothesis("x is no less than 0", lambda case: case.x >= 0)
    numbers = Records(Number, drawn(4).map(lambda xs: Number(*xs)))
    pairs = Records(Pair, drawn(4, 4).map(lambda xs: Pair(*xs)))
    return Statement(
        "toy/positive",
        **HERE,
        variables=numbers,
        conclusion=lambda m, case: m.at_least(m.values(case.x), m.exact(0)),
        hypotheses=(above,),
        violating={above: violating},
        readings={
            "literal": Reading("holds"),
            "amended": Reading("holds", variables=pairs),
        },
    )


def without(made, reading):
    (sibling,) = made.claim(reading).siblings
    return sibling


def test_each_reading_takes_the_instances_of_its_own_type():
    made = positive([Number(-1.0), Pair(-1.0, 0.0), Pair(-2.0, 0.0)])
    assert without(made, "literal").examples == (Number(-1.0),)
    assert without(made, "amended").examples == (Pair(-1.0, 0.0), Pair(-2.0, 0.0))


def test_a_strategy_of_another_type_leaves_a_reading_as_it_is_drawn():
    below = Records(Pair, st.just(Pair(-1.0, 0.0)))
    made = positive(below)
    assert without(made, "amended").formula.records is below
    assert without(made, "literal").formula.records is made.variables

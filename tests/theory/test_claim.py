"""A claim that could not be checked honestly is refused where it is declared."""

from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from toy_pack import SHIFTED, build, square, square_ball

from attsvm.errors import ClaimError
from attsvm.theory import Slack, claim, sibling


def declare(id="toy/declared:literal", conclusion=square, **changes):
    settings = {
        "source": "toys",
        "place": "here",
        "statement": "x^2 >= 0",
        "data": st.just(0.0),
        "expected": "holds",
        "siblings": SHIFTED,
        "certify": square_ball,
        **changes,
    }
    return claim(id, **settings)(conclusion)


def test_a_claim_knows_its_statement_and_its_reading():
    made = declare("mm/theorem-1.2:amended-2")
    assert (made.statement_id, made.reading) == ("mm/theorem-1.2", "amended-2")


@pytest.mark.parametrize(
    "id",
    [
        *("toy:literal", "toy/a", "toy/a:", "toy/A:literal", "toy/a:strong", "toy/a:literal-"),
        *("/a:sharp", "toy/a b:literal", "toy/a/b:literal", "toy/a:literal-1-2", "../a:literal"),
        "",
    ],
)
def test_an_id_of_another_form_is_refused(id):
    with pytest.raises(ClaimError, match="source/statement:reading"):
        declare(id)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_siblings_are_refused(count):
    with pytest.raises(ClaimError, match="at least two false siblings"):
        declare(siblings=dict(list(SHIFTED.items())[:count]))


def test_a_claim_that_nothing_could_confirm_is_refused():
    with pytest.raises(ClaimError, match="nothing that could confirm"):
        declare(certify=None)


@pytest.mark.parametrize("changes", [{"expected": "proved"}, {"proof": "toy_pack:prove"}])
def test_proved_is_expected_exactly_where_a_proof_is_named(changes):
    with pytest.raises(ClaimError, match="Expect proved exactly where a proof is named"):
        declare(**changes)


def test_a_cost_below_one_is_refused():
    with pytest.raises(ClaimError, match="cost below 1"):
        declare(cost=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (sibling(shft=1.0), "sets parameters that the conclusion lacks"),
        (sibling(drop=["x is small"]), "drops hypotheses that are not there"),
        (sibling(), "changes nothing"),
        (sibling(examples=[1.0]), "changes nothing"),
    ],
)
def test_a_sibling_that_changes_nothing_known_is_refused(wrong, message):
    with pytest.raises(ClaimError, match=message):
        declare(siblings={"good": sibling(shift=1.0), "wrong": wrong})


def test_a_conclusion_that_does_not_say_what_an_instance_is_is_refused():
    with pytest.raises(ClaimError, match="Annotate its first argument"):
        declare(conclusion=lambda x, shift=0.0: Slack(1.0, 0.0))
    with pytest.raises(ClaimError, match="Annotate its first argument"):
        declare(conclusion=lambda: Slack(1.0, 0.0))


@dataclass(frozen=True)
class Number:
    """A number."""

    x: float


def holds(case: Number, shift: float = 0.0) -> Slack:
    return Slack(case.x - shift, 0.0)


def test_the_instance_type_is_the_annotation_of_the_conclusion():
    assert declare(conclusion=holds).instance_type is Number


def test_the_reading_comes_first_and_then_its_siblings_in_order():
    made = declare(
        hypotheses={"h": lambda x: True, "k": lambda x: True},
        examples=[1.0],
        siblings={
            "b": sibling(shift=1.0, examples=[2.0]),
            "a": sibling(drop=["h"], data=st.just(3.0)),
        },
    )
    reading, b, a = made.parts()
    assert [part.name for part in made.parts()] == ["", "b", "a"]
    assert (reading.parameters, reading.examples, reading.data) == ({}, (1.0,), made.data)
    assert (b.parameters, b.examples, b.data) == ({"shift": 1.0}, (2.0, 1.0), made.data)
    assert [h.name for h in b.hypotheses] == ["h", "k"]
    assert [h.name for h in a.hypotheses] == ["k"]
    assert a.data is not made.data
    assert made.part("a") == a
    with pytest.raises(ClaimError, match="no sibling of that name"):
        made.part("c")


def dropping(drop, **changes):
    return declare(
        hypotheses={"x != 1": lambda x: x != 1.0, "x != 2": lambda x: x != 2.0},
        siblings={"freer": sibling(drop=drop, **changes), "shift": sibling(shift=1.0)},
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


def test_a_sibling_that_changes_parameters_as_well_need_not_miss_what_it_drops():
    other = dropping(["x != 1"], shift=1.0)
    assert [x for x in (0.0, 1.0, 2.0) if holds_all(other, x)] == [0.0, 1.0]


@pytest.mark.parametrize("answer", [None, "yes"])
def test_a_dropped_hypothesis_that_is_not_decided_is_neither_missed_nor_met(answer):
    made = declare(
        hypotheses={"odd": lambda x: answer},
        siblings={"freer": sibling(drop=["odd"]), "shift": sibling(shift=1.0)},
        expected="refuted",
    )
    assert made.part("freer").hypotheses[0].holds(0.0) is answer


def test_the_fingerprint_follows_id_statement_and_file():
    made = declare()
    assert declare().fingerprint == made.fingerprint
    assert declare(statement="x^2 > 0").fingerprint != made.fingerprint
    assert declare("toy/other:literal").fingerprint != made.fingerprint
    assert declare(conclusion=holds).fingerprint != made.fingerprint


def test_a_claim_says_where_it_is_declared():
    made = build("placed", holds, square_ball)
    assert made.file == __file__
    with open(__file__) as handle:
        assert handle.read().splitlines()[made.line - 1].startswith("def holds(")


def test_the_listing_holds_what_the_command_line_promises():
    entry = declare(statement="x^2\n   >= 0", depends_on=["toy/true:literal"]).json()
    assert entry["statement"] == "x^2 >= 0"
    assert entry["depends_on"] == ["toy/true:literal"]
    assert set(entry) >= {
        *("id", "reading", "source", "place", "statement", "hypotheses"),
        *("expected", "depends_on", "file", "line"),
    }

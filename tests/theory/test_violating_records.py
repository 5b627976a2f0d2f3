"""Records that violate a hypothesis go to the siblings of readings over their own type."""

from dataclasses import dataclass

from hypothesis import strategies as st

from attsvm.theory import Reading, Records, Statement


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    x: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two numbers, of which the first counts."""

    x: float
    y: float


def drawn(*most):
    return st.tuples(*(st.integers(0, k).map(float) for k in most))


def statement(violating):
    numbers = Records(Number, drawn(4).map(lambda xs: Number(*xs)))
    pairs = Records(Pair, drawn(4, 4).map(lambda xs: Pair(*xs)))
    return Statement(
        "toy/positive",
        source="a toy",
        place="line 1",
        printed="x >= 0",
        variables=numbers,
        conclusion=lambda m, case: m.at_least(m.values(case.x), m.exact(0)),
        hypotheses={"x is no less than 0": lambda case: case.x >= 0},
        violating={"x is no less than 0": violating},
        readings={
            "literal": Reading("of a number", expected="holds"),
            "amended": Reading("of a pair", expected="holds", variables=pairs),
        },
    )


def without(made, reading):
    (sibling,) = made.claim(reading).siblings
    return sibling


def test_each_reading_takes_the_instances_of_its_own_type():
    made = statement([Number(-1.0), Pair(-1.0, 0.0), Pair(-2.0, 0.0)])
    assert without(made, "literal").examples == (Number(-1.0),)
    assert without(made, "amended").examples == (Pair(-1.0, 0.0), Pair(-2.0, 0.0))


def test_a_strategy_of_another_type_leaves_a_reading_as_it_is_drawn():
    below = Records(Pair, st.just(Pair(-1.0, 0.0)))
    made = statement(below)
    assert without(made, "amended").formula.records is below
    assert without(made, "literal").formula.records is made.variables

"""The sentence of a reading is composed of what its check uses."""

import dataclasses

import pytest
from hypothesis import strategies as st

from attsvm.theory import (
    Choice,
    Hypothesis,
    Integer,
    Labels,
    Matrix,
    Near,
    Reading,
    Real,
    Records,
    Statement,
    Vector,
    changed,
    stated,
)


@dataclasses.dataclass(frozen=True)
class Pair:
    x: float
    y: float


LOWER = Hypothesis("y is lower", lambda m, v: m.at_most(v.y, v.x), says="y <= x")
BOTH = Hypothesis("both signs", lambda m, v: m.at_least(v.x, v.x), says="x >= 0, y >= 0")
POSITIVE = Hypothesis("x > 0", lambda case: case.x > 0)


def said(variables, conclusion, expected="holds", under=(), **reading):
    """Return the sentence of one reading of a statement."""
    made = Statement(
        "toy/a",
        "toys",
        "here",
        'few "large" ones',
        variables=variables,
        conclusion=conclusion,
        readings={"literal": Reading(expected, under=under, **reading)},
    )
    return made.claim("literal").statement


def below(m, v, k):
    return m.at_most(k * v.y, v.x)


NUMBERS = {"x": Real(), "y": Real()}
OTHER = {"constants": {"k": 2}, "siblings": {"3": changed(k=3)}}


@pytest.mark.parametrize(
    ("reading", "sentence"),
    [
        ({}, "Let x and y be real. Then 2 y <= x."),
        ({"under": (LOWER,)}, "Let x and y be real. Suppose that y <= x. Then 2 y <= x."),
        (
            {"under": (LOWER, BOTH)},
            "Let x and y be real. Suppose that y <= x; and x >= 0, y >= 0. Then 2 y <= x.",
        ),
        ({"tight": True}, "Let x and y be real. Then 2 y <= x. No smaller constant will do."),
        (
            {"read": {"few": "at most half", "large": "above 1"}},
            'Let x and y be real. Then 2 y <= x. Here "few" is read as at most half and "large" '
            "is read as above 1.",
        ),
        ({"constants": {"k": "0.1"}}, "Let x and y be real. Then 0.1 y <= x."),
        ({"says": "by hand"}, "by hand."),
    ],
)
def test_a_sentence_has_each_part_of_its_reading(reading, sentence):
    assert said(NUMBERS, below, **{**OTHER, **reading}) == sentence


def test_nothing_is_called_sharp_that_is_refuted():
    """The engine tightens no right side of a reading that is to fall."""
    told = said(NUMBERS, below, "refuted", tight=True, **OTHER)
    assert told == "Let x and y be real. Then 2 y <= x."


@pytest.mark.parametrize(
    ("variables", "lets"),
    [
        ({"n": Integer(1, 4), "x": Vector("n")}, "x be in R^n"),
        ({"n": Integer(2, 4), "x": Vector("n")}, "n be in {2, 3, ...} and x in R^n"),
        ({"x": Integer(1)}, "x be in {1, 2, ...}"),
        ({"x": Integer(1, 4)}, "x be in {1, ..., 4}"),
        ({"x": Integer(1, 4, beyond=True)}, "x be in {1, 2, ...}"),
        ({"x": Real(least=0)}, "x be real and at least 0"),
        ({"n": Integer(), "x": Vector("n", least=0)}, "x be in R^n with entries of at least 0"),
        ({"n": Integer(), "x": Labels("n")}, "x be in R^n"),
        (
            {"n": Integer(), "d": Integer(), "A": Matrix("n", "d"), "x": Vector("n")},
            "A be in R^{n x d} and x in R^n",
        ),
        ({"x": Real(), "y": Near("x", ()), "z": Real()}, "x, y, and z be real"),
        (
            {"x": Real(), "f": Choice({"first": abs, "last": abs})},
            "x be real, and f one of first and last",
        ),
    ],
)
def test_the_domain_of_each_variable_is_said_once(variables, lets):
    """Ends of domains are hypotheses, but no sentence repeats them."""
    told = said(
        variables, lambda m, v, k: m.at_most(m.sum(v.x) if "n" in variables else v.x, k), **OTHER
    )
    assert told.startswith(f"Let {lets}. Then ")


def test_definitions_of_the_letters_in_words_or_formula_follow():
    conclusion = stated(
        "no $what rises: $formula", symbols={"what": {"a": "x_1"}}, where="y is low"
    )

    def falls(m, v, what):
        return m.at_most(m.softmax(v.x), m.norm(v.x))

    told = said(
        {"n": Integer(1, 4), "x": Vector("n")},
        conclusion(falls),
        constants={"what": "a"},
        siblings={"b": changed(what="b")},
    )
    assert told == "Let x be in R^n. Then no x_1 rises: softmax(x) <= ||x||, where y is low."


def test_records_are_spoken_of_in_the_words_of_their_conclusion():
    @stated("y is small, that is $formula", r"\|y\| \le $k")
    def small(m, case, k):
        return m.at_most(m.values(case.y), k)

    records = Records(Pair, st.just(Pair(1.0, 2.0)))
    assert said(records, small, **OTHER) == "y is small, that is ||y|| <= 2."
    told = said(records, small, under=(POSITIVE,), **OTHER)
    assert told == "Suppose that x > 0. Then y is small, that is ||y|| <= 2."

"""Questions are answered by a counterexample, by an account, or as undecided."""

import json
import math
from fractions import Fraction

import pytest

from attsvm import Defined, Integer, Matrix, Near, Real, Vector, ask, question
from attsvm.errors import ClaimError, UsageError
from attsvm.theory.report.answer import answered

LONG = 120.0
"""Seconds for a question that an instance refutes within one or two on an idle machine."""

FALSE = {
    "three letters, out of order": (
        lambda: ask(
            lambda m, v: m.at_most(m.norm(v.s - v.t), m.norm(v.s)),
            t=Near("s"),
            s=Vector("n"),
            seconds=LONG,
        ),
        {"n": "1", "s": "[0]", "t": "[1]"},
    ),
    "a size beyond the drawn ones": (
        lambda: ask(
            lambda m, v: m.at_most(m.sum(m.abs(v.x)), 2 * m.norm(v.x)), x=Vector("n"), seconds=LONG
        ),
        {"n": "5", "x": "[1, 1, 1, 1, 1]"},
    ),
    "with a hypothesis": (
        lambda: ask(
            lambda m, v: m.at_most(v.a + v.b, m.sqrt(3)),
            lambda m, v: m.at_most(v.a**2 + v.b**2, 2),
            a=Real(),
            b=Real(),
            seconds=LONG,
        ),
        {"a": "1", "b": "1"},
    ),
    "whole numbers": (
        lambda: ask(
            lambda m, v: m.below(0, m.abs(v.x**2 - 13 * v.y**2 - 1)),
            x=Integer(1),
            y=Integer(1),
            seconds=LONG,
        ),
        {"x": "649", "y": "180"},
    ),
    "equal sides of a strict inequality": (
        lambda: ask(
            lambda m, v: m.below(m.exp(v.x) * m.exp(v.y), m.exp(v.x + v.y)),
            x=Real(),
            y=Real(),
            seconds=LONG,
        ),
        {"x": "0", "y": "0"},
    ),
    "a defined letter is shown": (
        lambda: ask(
            lambda m, v: m.at_most(v.p, m.exact("1/2")),
            x=Real(),
            p=Defined(lambda m, v: v.x * v.x / 3),
            seconds=LONG,
        ),
        {"x": "2", "p": "4/3"},
    ),
}
"""False questions, each with its smallest counterexample."""


@pytest.mark.parametrize("name", FALSE)
def test_a_false_question_falls_by_its_smallest_instance(name):
    asked, instance = FALSE[name]
    answer = asked()
    assert (answer.verdict, answer.refuted) == ("refuted", True)
    assert answer.instance == instance
    text = repr(answer)
    assert "minimal" in text
    assert all(f"  {letter} = {value}\n" in text for letter, value in instance.items())
    assert text.endswith(" is false")


def test_the_instance_can_be_pasted():
    answer = ask(
        lambda m, v: m.at_most(m.norm(v.A), m.spectral(v.A)), A=Matrix("n", "k"), seconds=LONG
    )
    assert answer.refuted
    A = eval(answer.instance["A"], {}, {})
    squares = sum(Fraction(entry) ** 2 for row in A for entry in row)
    (a, b), (c, d) = A
    # of a matrix with two rows and columns, squares is s1^2 + s2^2, and |det| is s1 s2
    largest = (squares + math.sqrt(squares**2 - 4 * Fraction(a * d - b * c) ** 2)) / 2
    assert largest < squares


def test_a_true_question_is_answered_with_an_account():
    answer = ask(
        lambda m, v: m.at_most(2 * v.a * v.b, v.a**2 + v.b**2), a=Real(), b=Real(), seconds=2
    )
    assert (answer.verdict, answer.refuted) == ("not refuted", False)
    text = repr(answer)
    assert "that is no proof" in text
    assert "left side / right side = 1, at\n" in text
    assert "to search longer: seconds=12" in text


def test_a_finite_domain_is_settled():
    answer = ask(lambda m, v: m.at_most(v.k, 3), k=Integer(1, 3), seconds=LONG)
    assert "all 3 instances were evaluated exactly" in repr(answer)


def test_a_finite_domain_is_not_settled_if_a_hypothesis_stays_open():
    def root(m, v, k):
        return m.sqrt(m.exact(k * (v.a - 1)))

    answer = ask(
        lambda m, v: m.at_most(v.a, 1),
        # true for each a, as equal sides, but decided only for a = 1
        lambda m, v: m.at_most(
            m.exp(root(m, v, 1) + root(m, v, 2)), m.exp(root(m, v, 1)) * m.exp(root(m, v, 2))
        ),
        a=Integer(1, 3),
        seconds=2,
    )
    assert answer.verdict == "not refuted"
    assert "that is no proof" in repr(answer)
    assert answer.account.seen.settled == 0


FLOATS = {
    "of an exponential": lambda m, v: m.equal(m.exp(v.a / 3) * m.exp(v.a / 3), m.exp(v.a)),
    "times a ball": lambda m, v: m.equal(v.a / 3 * m.exp(v.b), m.exact(v.a) / 3 * m.exp(v.b)),
    "plus a ball": lambda m, v: m.at_most(m.exp(v.b) + v.a / 3, m.exp(v.b) + m.exact(v.a) / 3),
    "a maximum": lambda m, v: m.at_most(m.maximum(v.a / 3, 0), m.exact(v.a) / 3),
    "a root": lambda m, v: m.at_most(m.sqrt(v.a / 4), m.exact(v.a) / 2),
    "entries": lambda m, v: m.at_most(m.sum(m.exp(m.array([v.a / 3]))), m.exp(m.exact(v.a) / 3)),
    "a constant": lambda m, v: m.at_most(0.1 * m.exp(v.b), m.exact("0.1") * m.exp(v.b)),
}
"""Formulas with floats, most of them the rounded quotients of Python's integers."""


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_refutes_nothing(name):
    with pytest.raises(ClaimError, match="of type float with numbers of its arithmetic"):
        ask(FLOATS[name], a=Integer(1, 9), b=Integer(1, 3), seconds=LONG)


def test_a_power_beyond_floats_is_an_integer():
    answer = ask(lambda m, v: m.at_most(v.n, 2**v.n), n=Integer(1), seconds=2)
    assert answer.verdict == "not refuted"


def test_equal_sides_of_0_are_written_as_0():
    answer = ask(
        lambda m, v: m.below(m.softplus(v.x) - m.softplus(-v.x), v.x), x=Real(), seconds=LONG
    )
    assert repr(answer).endswith("\n  0 < 0 is false")


def test_an_open_sign_is_undecided_and_gives_the_reason():
    answer = ask(
        lambda m, v: m.below(
            m.exp(m.exp(v.x)) * m.exp(m.exp(v.x)), m.exp(2 * m.exp(v.x)) + 0 * v.y
        ),
        x=Real(least=1),
        y=Real(),
        seconds=4,
    )
    assert answer.verdict == "undecided"
    assert "settled neither way" in repr(answer)


def test_texts_of_hypotheses_are_their_names():
    asked = question(
        lambda m, v: m.at_most(v.a, 1),
        lambda m, v: m.at_most(v.a**2, 1),
        lambda m, v: m.at_most(v.a**2, 1),
        a=Real(),
    )
    names = [hypothesis.name for hypothesis in asked.claim.hypotheses]
    assert names == ["a^2 <= 1", "a^2 <= 1 (again)"]
    assert asked.text.startswith("Let a be real. Suppose that a^2 <= 1 and a^2 <= 1 (again). Then")


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda: question(lambda m, v: m.at_most(0, 1)), "no variable"),
        (lambda: question(lambda m, v: m.at_most(0, 1), x=3), "variable x of a question has no"),
        (lambda: question(7, x=Real()), "the conclusion of a question is no function"),
        (lambda: question(lambda m, v: 0, 7, x=Real()), "the hypothesis of a question is no"),
        (lambda: question(lambda m, v: 0, x=Real(), expected="yes"), "no such answer"),
        (lambda: question(lambda m, v: 0, x=Near("z")), "does not have"),
        (lambda: question(lambda m, v: 0, x=Near("y"), y=Near("x")), "each drawn near another"),
        (lambda: ask(lambda m, v: m.at_most(m.nothing(v.x), 1), x=Real(), seconds=5), "nothing"),
        (lambda: ask(lambda m, v: v.x, x=Real(), seconds=5), "returned no comparison"),
        (lambda: ask(lambda m, v: m.at_most(v.x, "0.5"), x=Real(), seconds=5), "of type str"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(make, cause):
    with pytest.raises(ClaimError, match=cause):
        make()


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_search_needs_a_finite_time(seconds):
    with pytest.raises(UsageError, match="seconds"):
        ask(lambda m, v: m.at_most(v.x, v.x), x=Real(), seconds=seconds)


@pytest.mark.parametrize(
    ("expected", "as_expected"), [(None, True), ("open", True), ("refuted", True), ("holds", False)]
)
def test_an_expected_answer_is_compared(expected, as_expected):
    asked = question(lambda m, v: m.at_most(v.x, 1), x=Real(), expected=expected)
    answer = answered(asked, LONG)
    assert answer.as_expected is as_expected
    document = json.loads(json.dumps(answer.json()))
    assert (document["answer"], document["as_expected"]) == ("refuted", as_expected)

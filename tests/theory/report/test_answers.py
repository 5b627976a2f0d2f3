"""Questions are answered by a counterexample, by an account, or as undecided."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from attsvm import Defined, Integer, Matrix, Near, Real, Simplex, Vector, ask, question
from attsvm.errors import ClaimError, UsageError
from attsvm.theory.report.answer import Answer, answered
from attsvm.theory.search.hunt import hunt

LONG = 120.0
"""Seconds for a question that an instance refutes within one or two on an idle machine."""

FALSE = {
    "three letters, out of order": (
        question(
            lambda m, v: m.at_most(m.norm(v.s - v.t), m.norm(v.s)), t=Near("s"), s=Vector("n")
        ),
        {"n": "1", "s": "[0]", "t": "[1]"},
    ),
    "a size beyond the drawn ones": (
        question(lambda m, v: m.at_most(m.sum(m.abs(v.x)), 2 * m.norm(v.x)), x=Vector("n")),
        {"n": "5", "x": "[1, 1, 1, 1, 1]"},
    ),
    "with a hypothesis": (
        question(
            lambda m, v: m.at_most(v.a + v.b, m.sqrt(3)),
            lambda m, v: m.at_most(v.a**2 + v.b**2, 2),
            a=Real(),
            b=Real(),
        ),
        {"a": "1", "b": "1"},
    ),
    "whole numbers": (
        question(
            lambda m, v: m.below(0, m.abs(v.x**2 - 13 * v.y**2 - 1)), x=Integer(1), y=Integer(1)
        ),
        {"x": "649", "y": "180"},
    ),
    "equal sides of a strict inequality": (
        question(
            lambda m, v: m.below(m.exp(v.x) * m.exp(v.y), m.exp(v.x + v.y)), x=Real(), y=Real()
        ),
        {"x": "0", "y": "0"},
    ),
    "a late term of a sequence": (
        question(
            lambda m, v: m.at_least(
                m.iterate(lambda x: x - x * x, m.exact("0.5"), v.N), m.exact("0.01")
            ),
            N=Integer(1),
        ),
        {"N": "94"},
    ),
    "a remainder of a large power": (  # 341 = 11 * 31 passes Fermat's test to base 2
        question(
            lambda m, v: m.differ(m.mod(2 ** (v.a * v.b - 1), v.a * v.b), 1),
            a=Integer(2),
            b=Integer(2),
        ),
        {"a": "31", "b": "11"},
    ),
    "a late partial sum": (
        question(
            lambda m, v: m.at_most(m.sum_over(1, v.n, lambda k: m.exact(1) / k), 4), n=Integer(1)
        ),
        {"n": "31"},
    ),
    "a defined letter is shown": (
        question(
            lambda m, v: m.at_most(v.p, m.exact("1/2")),
            x=Real(),
            p=Defined(lambda m, v: v.x * v.x / 3),
        ),
        {"x": "2", "p": "4/3"},
    ),
}
"""False questions, each with its smallest counterexample."""


def after(asked, *searchers):
    """The answer after one round of these searchers, or of draws alone."""
    account = hunt(asked.claim, seconds=None, rounds=1, searchers=searchers or ("drawn",))
    return Answer(asked, account, LONG)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", FALSE)
def test_a_false_question_falls_by_its_smallest_instance(name):
    asked, instance = FALSE[name]
    answer = answered(asked, LONG)
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
    asked = question(lambda m, v: m.at_most(2 * v.a * v.b, v.a**2 + v.b**2), a=Real(), b=Real())
    answer = answered(asked, LONG, rounds=1)
    assert (answer.verdict, answer.refuted) == ("not refuted", False)
    assert answer.account.rounds == 1
    text = repr(answer)
    assert "that is no proof" in text
    assert "left side / right side = 1, at\n" in text
    assert "to search longer: seconds=720" in text


@pytest.mark.parametrize(
    "positive", [lambda m, v: m.at_least(1 + v.x**2, 0), lambda m, v: m.at_least(m.exp(v.x), 0)]
)
def test_of_a_left_side_of_0_the_difference_at_the_instance_is_shown(positive):
    answer = answered(question(positive, x=Real()), LONG, rounds=1)
    closest = answer.json()["account"]["closest"]
    assert (answer.instance, closest["ratio"], closest["slack"]) == ({"x": "0"}, 0.0, 1.0)
    line = "  closest: no instance, as every left side is 0; one has right side - left side"
    assert f"{line} = 1, at" in answer.lines()
    left = answer.account.seen.unjudged
    said = f"  {left} screened instances not judged: rounding may hide a violation"
    assert (said in answer.lines()) is (left > 0)
    assert answer.json()["account"]["warnings"] == []


def test_a_finite_domain_is_settled():
    answer = ask(lambda m, v: m.at_most(v.k, 3), k=Integer(1, 3), seconds=LONG)
    assert "all 3 instances were evaluated exactly" in repr(answer)


def test_a_finite_domain_is_not_settled_if_a_hypothesis_stays_open():
    def inner(m, v):
        return m.exp(m.exact(1)) + v.a - 1

    asked = question(
        lambda m, v: m.at_most(v.a, 1),
        # true for each a, as equal sides, but decided only for a = 1
        lambda m, v: m.at_most(m.log(inner(m, v)) ** 2, m.exp(2 * m.log(m.log(inner(m, v))))),
        a=Integer(1, 3),
    )
    answer = after(asked, "drawn", "every")
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
    asked = question(lambda m, v: m.at_most(v.n, 2**v.n), n=Integer(1))
    answer = after(asked, "drawn", "integers")
    assert answer.verdict == "not refuted"


def test_equal_sides_of_0_are_written_as_0():
    answer = ask(
        lambda m, v: m.below(m.softplus(v.x) - m.softplus(-v.x), v.x), x=Real(), seconds=LONG
    )
    assert repr(answer).endswith("\n  0 < 0 is false")


def test_an_open_sign_is_undecided_and_gives_the_reason():
    asked = question(
        lambda m, v: m.below(
            m.log(2 + m.exp(v.x)) ** 2, m.exp(2 * m.log(m.log(2 + m.exp(v.x)))) + 0 * v.y
        ),
        x=Real(least=1),
        y=Real(),
    )
    answer = after(asked)
    assert answer.verdict == "undecided"
    assert "settled neither way" in repr(answer)


def repeated(m, x):
    """Thirty steps, each of which doubles the digits of a rational."""
    for _ in range(30):
        x = (x - x * x) / 2
    return x


LONG_RATIONALS = {
    "decided by balls": (lambda m, v: m.at_most(repeated(m, v.x), 1 + v.x), "not refuted"),
    "left open by balls": (
        lambda m, v: m.at_most(repeated(m, v.x) - repeated(m, v.x), 0),
        "undecided",
    ),
}


@pytest.mark.parametrize("name", LONG_RATIONALS)
def test_a_formula_of_ever_longer_rationals_is_answered_by_balls(name):
    relation, verdict = LONG_RATIONALS[name]
    asked = question(relation, x=Real(least=0))
    assert len(asked.text) < 100
    answer = after(asked, "drawn", "screen")
    assert answer.verdict == verdict
    said = "rationals were not tried, as one may have more than 1048576 bits"
    assert (said in repr(answer)) == (verdict == "undecided")


BLIND = {
    "ask for a smaller right side": lambda: question(
        lambda m, v: m.at_most(1, 10**6 * (1 + v.x * v.x)), x=Real()
    ),
    "compute one of them by `Defined`": lambda: question(
        lambda m, v: m.at_most(v.x, v.x + 1), lambda m, v: m.equal(v.y**2, v.x), x=Real(), y=Real()
    ),
}
"""Remedies, each with a question that needs it."""


@pytest.mark.parametrize("remedy", BLIND)
def test_a_search_with_blind_spots_speaks_of_questions(remedy):
    answer = after(BLIND[remedy](), "drawn", "screen")
    text = repr(answer)
    assert remedy in text
    assert "ensemble" not in text
    assert "reading" not in text
    assert any(remedy in warning for warning in answer.json()["account"]["warnings"])


@pytest.mark.parametrize("name", ["seconds", "seed", "progress"])
def test_names_of_arguments_are_refused_for_variables(name):
    with pytest.raises(ClaimError, match=f"a variable cannot be called {name}"):
        ask(lambda m, v: m.at_most(v.x, 1), x=Real(), **{name: Real()})
    with pytest.raises(ClaimError, match="a variable cannot be called expected"):
        question(lambda m, v: m.at_most(v.x, 1), x=Real(), expected=Real())


def test_a_variable_may_be_called_conclusion():
    answer = ask(lambda m, v: m.at_most(v.conclusion, 1), conclusion=Real(), seconds=LONG)
    assert answer.instance == {"conclusion": "2"}


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


def test_a_domain_is_said_once_and_a_remainder_of_python_is_shown_as_its_code():
    asked = question(
        lambda m, v: m.at_most(m.sum(v.x), v.k % 2), x=Vector("n", least=0), k=Integer(1)
    )
    assert "at least 0" in asked.text
    assert "Suppose" not in asked.text
    assert "v.k % 2" in question(lambda m, v: m.at_most(v.k % 2, 0), k=Integer(1)).text


def test_a_loop_over_a_length_is_shown_as_its_code():
    asked = question(
        lambda m, v: m.at_most(m.sum(m.array([v.x[i] for i in range(v.n)])), m.norm(v.x)),
        lambda m, v: m.at_most(m.max(m.array([v.x[i] for i in range(v.n)])), 1),
        x=Vector("n"),
    )
    assert asked.text == (
        "Let x be in R^n. Suppose that m.at_most(m.max(m.array([v.x[i] for i in range(v.n)])), 1). "
        "Then sum((x[0], x[1])) <= ||x|| (for n = 2)."
    )
    assert answered(asked, LONG).instance == {"n": "2", "x": "[1, 1]"}


def test_a_number_in_an_exponent_is_shrunk_within_its_domain():
    """Below 0 the power would be a float."""
    answer = ask(
        lambda m, v: m.equal(m.mod(2**v.p, v.p), 2),
        lambda m, v: m.equal(m.mod(3**v.p, v.p), 3),
        p=Integer(5, 3000),
        seconds=LONG,
    )
    assert answer.instance == {"p": "6"}
    assert "the instance is minimal" in str(answer)


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda: question(lambda m, v: m.at_most(0, 1)), "no variable"),
        (lambda: question(lambda m, v: m.at_most(0, 1), x=3), "variable x of a question has no"),
        (lambda: question(7, x=Real()), "the conclusion of a question is no function"),
        (lambda: question(lambda m, v: 0, 7, x=Real()), "the hypothesis of a question is no"),
        (lambda: question(lambda m, v: 0, x=Real(), expected="yes"), "no such answer"),
        (lambda: question(x=Real()), "the conclusion of a question is no function"),
        (lambda: question(lambda v, m: 0, x=Real()), "does not take"),
        (lambda: question(lambda m: 0, x=Real()), "does not take"),
        (lambda: question(lambda m, v: 0, lambda v: 0, x=Real()), "hypothesis of a question does"),
        (lambda: question(lambda m, v: 0, x=Near("z")), "does not have"),
        (lambda: question(lambda m, v: 0, x=Simplex("n"), x_of=Real()), "the name x_of is taken"),
        (lambda: question(lambda m, v: 0, x=Vector("x")), "the variable x is no length"),
        (lambda: question(lambda m, v: 0, x=Vector("n"), n=Integer(0, 3)), "would be empty"),
        (lambda: question(lambda m, v: 0, x=Vector("n"), n=Integer(9, 9**9)), "cannot be drawn"),
        (lambda: question(lambda m, v: 0, x=Near("y"), y=Near("x")), "each drawn near another"),
        (lambda: ask(lambda m, v: m.at_most(m.nothing(v.x), 1), x=Real(), seconds=5), "nothing"),
        (
            lambda: ask(lambda m, v: v.x, x=Real(), seconds=5),
            r"\(test_answers.py, line \d+\) returned no comparison",
        ),
        (
            lambda: ask(lambda m, v: m.at_most(1 if v.x > 9 else 0, 1), x=Real(), seconds=5),
            r"\(test_answers.py, line \d+\) compares numbers or asks for the truth of one",
        ),
        (
            lambda: ask(lambda m, v: m.at_most(v.x, 1), x=Real(), timeout=2),
            "timeout of a question has no domain .* options of ask are seconds=, seed= and",
        ),
        (
            lambda: question(lambda m, v: m.at_most(v.x, 1), x=Real(), seconds=2),
            "seconds of a question has no domain .* `attsvm ask` has --seconds and --seed",
        ),
        (
            lambda: ask(lambda m, v: m.at_most(v.x[1], v.x[1] ** 2 + 1), x=Vector("n")),
            r"index 1 is out of bounds .* on x = \[0\]. Limit the length, as by n=Integer\(2\)",
        ),
        (lambda: ask(lambda m, v: m.at_most(m.log(v.x, 2), 1), x=Real(), seconds=5), "m.log.x.: "),
        (
            lambda: ask(lambda m, v: m.at_most(m.power(v.x, 0.5), 1), x=Real(), seconds=5),
            "power 0.5, which",
        ),
        (lambda: ask(lambda m, v: m.at_most(v.x[7], 1), x=Vector("n"), seconds=5), "as by n="),
        (lambda: ask(lambda m, v: m.at_most(np.exp(v.x), 1), x=Real(), seconds=5), "line .* m.exp"),
        (lambda: ask(lambda m, v: m.at_most(v.x, "0.5"), x=Real(), seconds=5), "of type str"),
        (lambda: ask(lambda m, v: m.equal(2 ** m.abs(v.x), 1), x=Real(), seconds=5), "is computed"),
    ],
)
def test_a_question_that_cannot_be_asked_says_why(make, cause):
    with pytest.raises(ClaimError, match=cause):
        make()


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_a_search_needs_a_finite_time(seconds):
    with pytest.raises(UsageError, match="seconds"):
        ask(lambda m, v: m.at_most(v.x, v.x), x=Real(), seconds=seconds)


def test_an_expected_answer_is_compared():
    account = None
    for expected, matches in {None: True, "open": True, "refuted": True, "holds": False}.items():
        asked = question(lambda m, v: m.at_most(v.x, 1), x=Real(), expected=expected)
        account = account or answered(asked, LONG).account
        answer = Answer(asked, account, LONG)
        assert answer.as_expected is matches, expected
        document = json.loads(json.dumps(answer.json()))
        assert (document["answer"], document["as_expected"]) == ("refuted", matches), expected


def test_the_lengths_of_a_question_are_those_of_its_author():
    asked = question(
        lambda m, v: m.at_most(m.square(m.sum(v.x)), 2 * m.sum(v.x * v.x)),
        x=Vector("n"),
        n=Integer(1, 2),
    )
    assert asked.text == "Let n be in {1, 2} and x in R^n. Then sum(x)^2 <= 2 sum(x^2)."
    assert not after(asked, "drawn", "screen", "solver").refuted
    longer = question(
        lambda m, v: m.at_most(m.square(m.sum(v.x)), 2 * m.sum(v.x * v.x)),
        x=Vector("n"),
        n=Integer(1, 3),
    )
    assert answered(longer, LONG).instance["n"] == "3"


def test_an_undecided_instance_has_the_letters_of_the_question():
    asked = question(
        lambda m, v: m.at_least(m.kl(v.p, v.q), 0),
        p=Simplex("n"),
        q=Simplex("n"),
        n=Integer(2, 2),
    )
    answer = after(asked)
    assert answer.verdict == "undecided"
    assert "first at n = 2, p = [" in str(answer)
    assert "p_of" not in str(answer)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: 1 + m.sqrt(1 - m.exp(x)),
        lambda m, x: 1 + m.xlogx(1 - m.exp(x)),
        lambda m, x: 1 + m.sqrt(-m.exp(-x)) * 0,
    ],
)
def test_an_undefined_side_refutes_nothing(call):
    asked = question(
        lambda m, v: m.at_most(call(m, v.x), m.exact("0.5")),
        lambda m, v: m.above(v.x, 0),
        x=Real(),
    )
    answer = after(asked, "drawn", "screen")
    assert answer.verdict == "undecided"


def test_a_sequence_is_defined_in_the_answer():
    asked = question(
        lambda m, v: m.at_most(m.iterate(lambda x: x - x * x, v.x, v.N), 1), x=Real(), N=Integer(1)
    )
    assert asked.text.endswith("Then x[N] <= 1, where x[k+1] = x[k] - x[k]^2 and x[0] = x.")


def test_a_sequence_of_whole_numbers_has_quotients_and_a_letter_of_its_own():
    answer = ask(
        lambda m, v: m.below(m.iterate(lambda x: x / 2 + m.mod(x, 2) * (x / 2 + 1), v.k, 3), 3),
        k=Integer(1, 60),
        seconds=LONG,
    )
    assert "Then k[3] < 3, where k[i+1] = k[i]/2 + (k[i] mod 2) (k[i]/2 + 1) and k[0] = k." in str(
        answer.question.text
    )
    assert answer.instance == {"k": "5"}


def test_equal_sides_are_shown_where_they_should_differ():
    answer = ask(lambda m, v: m.differ(m.det(v.A), 0), A=Matrix("n", "n"), seconds=LONG)
    assert str(answer).endswith("left side - right side != 0 is false")


def test_a_costly_function_of_integers_has_an_account():
    asked = question(lambda m, v: m.at_least(m.factorial(v.k), v.k), k=Integer(0, 40))
    answer = after(asked, "drawn", "screen")
    assert answer.verdict == "not refuted"
    assert "more screened in floats" in str(answer)


@pytest.mark.parametrize(
    ("call", "variables", "cause"),
    [
        (lambda m, v: m.power(m.exact(2), v.k), {"k": Integer(-3, -1)}, "the power -"),
        (lambda m, v: m.det(m.matrix_power(v.A, -1)), {"A": Matrix("n", "n")}, "the power -1"),
        (lambda m, v: m.iterate(m.abs, m.exact(2), v.k), {"k": Integer(-3, -1)}, "of steps -"),
        (lambda m, v: m.trace(v.A), {"A": Matrix("n", "k")}, "square matrices"),
        (lambda m, v: m.indicator(m.psd(v.A)), {"A": Matrix("n", "k")}, "square matrices"),
        (lambda m, v: m.sum(m.singular(v.x)), {"x": Vector("n")}, "no matrix"),
        (lambda m, v: m.spectral(v.x), {"x": Vector("n")}, "no matrix"),
    ],
)
def test_an_argument_that_a_function_does_not_take_is_named(call, variables, cause):
    with pytest.raises(ClaimError, match=cause):
        ask(lambda m, v: m.at_most(-m.abs(call(m, v)), 1), seconds=1, **variables)

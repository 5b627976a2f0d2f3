"""Exact programmes from exact rows, and the judge of their answers."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from attsvm.exact import ExactData, decide, separate
from attsvm.exact.svm import ExactProgramme, _proved, nearest, solve_exactly
from attsvm.svm import att_svm_programme
from tests.svm.conditions import check_exactly, exact_rows, exactly
from tests.svm.problems import blocks, problems, two_tokens


def solution(exact):
    return [[exactly(x) for x in row] for row in exact.W]


@settings(max_examples=60, deadline=None)
@given(problems())
def test_exact_data_are_separated_as_the_programme_is(problem):
    data, targets = problem
    exact = ExactData.of(data)
    chosen = [kept.index(t) for kept, t in zip(exact.kept, targets.tolist(), strict=True)]
    answer = separate(exact, chosen)
    if data.present.sum() == data.n:
        assert answer is None
        return
    programme = att_svm_programme(data, targets)
    check_exactly(programme, answer)
    assert solution(answer) == solution(decide(programme))
    assert answer.status == decide(programme).status


@settings(max_examples=60, deadline=None)
@given(blocks(4, 2), blocks(4, 2), blocks(4), st.integers(1, 7), st.integers(1, 5))
def test_rows_of_rationals_are_decided_as_they_are(D, Z, bound, p, q):
    """Denominators 3 and 7 no float holds; W scales against them."""
    assume(bound.any())
    rows = [[fmpq(int(x), 3 * p) for x in row] for row in D]
    queries = [[fmpq(int(x), 7 * q) for x in row] for row in Z]
    bounds = [fmpq(int(b), 5) for b in bound]
    equal = [False, True, False, False]
    answer = solve_exactly(ExactProgramme.of_rows(rows, queries, bounds, equal))
    whole = solve_exactly(
        ExactProgramme.of_rows(
            [[fmpq(int(x)) for x in row] for row in D],
            [[fmpq(int(x)) for x in row] for row in Z],
            [fmpq(int(b)) for b in bound],
            equal,
        )
    )
    assert answer.status == whole.status
    factor = Fraction(3 * p * 7 * q, 5)
    assert solution(answer) == [[x * factor for x in row] for row in solution(whole)]


@settings(max_examples=100, deadline=None)
@given(st.fractions())
@example(Fraction(2**53 + 1))
@example(Fraction(1, 3))
@example(Fraction(2) ** -1074 / 2)
def test_nearest_rounds_correctly(value):
    near_ = nearest(fmpq(value.numerator, value.denominator))
    assert near_ == float(value)


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_floats_nearest_is_infinite(sign):
    assert nearest(fmpq(sign * 10**400, 3)) == sign * np.inf


def test_exact_rows_come_from_the_tokens_not_from_their_rounded_difference():
    """1e16 + 1 is no float, so D is rounded; in rationals 1 - (-1e16) is what it is."""
    data = two_tokens([(1.0,)], [[1.0]])
    shifted = replace(data, X=np.array([[[1.0], [-1e16]]]))
    programme = att_svm_programme(shifted)
    assert programme.D[0, 0] == 1e16
    assert exact_rows(programme) == [[10**16 + 1]]
    assert solution(decide(programme)) == [[Fraction(1, 10**16 + 1)]]


# the judge


def one_column(rows, bound, equal):
    """Rows in one dimension."""
    return ExactProgramme.of_rows(
        [[fmpq(a)] for a in rows], [[fmpq(1)]] * len(rows), [fmpq(b) for b in bound], equal
    )


TWO = one_column([1, 2], [1, 1], [False, False])
SAME = one_column([1, 1], [1, 1], [False, False])
OPPOSED = one_column([1, -1], [1, 0], [False, False])
FREE = one_column([1, 2], [1, 1], [True, True])
MIXED = one_column([1, 2], [1, 1], [False, True])


@pytest.mark.parametrize(
    ("programme", "weights", "status", "right"),
    [
        pytest.param(TWO, [1, 0], "solved", True, id="margins 1 and 2"),
        pytest.param(TWO, [0, 0], "solved", False, id="margins 0"),
        pytest.param(TWO, [0, fmpq(1, 4)], "solved", False, id="margin 1/2 for 1"),
        pytest.param(TWO, [2, 0], "solved", False, id="weight on a margin of 2"),
        pytest.param(SAME, [2, -1], "solved", False, id="tight, of wrong sign"),
        pytest.param(SAME, [fmpq(1, 3), fmpq(2, 3)], "solved", True, id="shared weight"),
        pytest.param(FREE, [3, -1], "solved", False, id="equality overshot"),
        pytest.param(MIXED, [1, 0], "solved", False, id="equality overshot without weight"),
        pytest.param(MIXED, [0, fmpq(1, 4)], "solved", False, id="inequality missed"),
        pytest.param(OPPOSED, [1, 0], "solved", False, id="margin -1 for 0"),
        pytest.param(OPPOSED, [1, 1], "unseparable", True, id="cancels and gains 1"),
        pytest.param(OPPOSED, [1, 2], "unseparable", False, id="cancels not"),
        pytest.param(OPPOSED, [0, 0], "unseparable", False, id="gains nothing"),
        pytest.param(OPPOSED, [-1, -1], "unseparable", False, id="cancels, of wrong sign"),
        pytest.param(FREE, [2, -1], "unseparable", True, id="free signs"),
        pytest.param(FREE, [-2, 1], "unseparable", False, id="loses"),
        pytest.param(TWO, [2, -1], "unseparable", False, id="inequalities are not free"),
    ],
)
def test_the_judge_lets_only_proofs_pass(programme, weights, status, right):
    answer = _proved(programme, [fmpq(w) for w in weights], status)
    assert (answer is not None) == right

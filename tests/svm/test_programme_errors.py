"""Every documented error of the constructors, with the value that it names."""

import inspect
import math

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError
from attsvm.svm import (
    att_svm,
    att_svm_programme,
    finite_part,
    generalised_svm,
    joint_svm,
    local_svm,
    p_svm,
    v_svm,
)
from attsvm.svm.programme import (
    LARGEST,
    SMALLEST,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    v_svm_programme,
)

X = np.array([[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]])
Z = np.array([[1.0, 2.0], [0.0, 1.0]])
MASK = np.array([[True, True, False], [True, True, True]])
LABELLED = AttentionData(X, Z, y=[1, -1], v=[1.0, 0.5], mask=MASK)
SCORED = AttentionData(X, Z, scores=np.eye(2, 3), mask=MASK)
TIED = AttentionData(X, Z, y=[1, 1], v=[0.0, 0.0])
SINGLE = AttentionData(X, Z, y=[1, 1], v=[1.0, 0.0], mask=np.eye(3, dtype=bool)[:2])
BOTH = np.array([[True, True, False], [True, True, False]])
ONE = np.eye(2, 3, dtype=bool)
HALVES = np.full((2, 3), 0.5)


def selected(*places):
    table = np.zeros((2, 3), dtype=bool)
    for i, t in places:
        table[i, t] = True
    return table


@pytest.mark.parametrize("solve", [att_svm_programme, p_svm_programme, v_svm_programme, joint_svm])
@pytest.mark.parametrize(
    ("targets", "message", "value"),
    [
        ([2, 0], "mask removes", 2),
        ([3, 0], "not a token index", 3),
        ([0, -1], "not a token index", -1),
        ([0], "2 integers", [0]),
        ([0.0, 1.0], "2 integers", [0.0, 1.0]),
        ([[0, 1]], "2 integers", [[0, 1]]),
    ],
)
def test_targets_that_name_no_present_token_are_refused(solve, targets, message, value):
    with pytest.raises(DataError, match=message) as caught:
        solve(LABELLED, targets)
    assert caught.value.value == value


@pytest.mark.parametrize("solve", [att_svm, p_svm, v_svm, joint_svm])
def test_ties_need_targets(solve):
    with pytest.raises(TiedTokensError, match="3 optimal tokens") as caught:
        solve(TIED)
    assert caught.value.value == [0, 1, 2]
    solve(TIED, [0, 1])


@pytest.mark.parametrize(
    "make",
    [
        att_svm_programme,
        p_svm_programme,
        lambda data: joint_programme(data, np.ones(2, dtype=bool)),
        lambda data: generalised_programme(data, data.present),
        lambda data: finite_part_programme(data, data.present, HALVES),
    ],
)
def test_inputs_of_a_single_token_leave_nothing_to_separate(make):
    with pytest.raises(DataError, match="single token") as caught:
        make(SINGLE)
    assert caught.value.value == "T = 3"
    v_svm_programme(SINGLE)  # but their labels do


def test_a_local_svm_needs_tokens():
    with pytest.raises(DataError, match="needs the tokens"):
        local_svm(LABELLED, None)
    assert (local_svm(LABELLED, [0, 1]).W == att_svm(LABELLED, [0, 1]).W).all()


def test_a_v_svm_needs_labels():
    with pytest.raises(DataError, match="separates labels") as caught:
        v_svm_programme(SCORED)
    assert "labels y" in caught.value.remedy
    with pytest.raises(DataError, match="separates labels"):
        joint_svm(SCORED)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((2, 3)), "W has d = 3 where the other arrays have d = 2"),
        (np.full((2, 2), np.nan), r"W\[0, 0\] is not finite"),
        (np.full((1, 2), -np.inf), r"W\[0, 0\] is not finite"),
        (np.ones((0, 2)), "W is empty along k"),
    ],
)
def test_matrices_of_keys_must_fit(W, message):
    for make in (p_svm_programme, lambda *a: joint_programme(a[0], np.ones(2, bool), *a[1:])):
        with pytest.raises(DataError, match=message):
            make(LABELLED, [0, 1], W)


@pytest.mark.parametrize(
    "supporting",
    [np.ones(3, bool), np.ones((2, 1), bool), np.ones(2), np.ones(2, int), None, [True], [1, 0]],
)
def test_support_is_one_bool_an_input(supporting):
    """Called beneath the hook of the tests, as users call it."""
    with pytest.raises(DataError, match="supporting must be 2 booleans"):
        inspect.unwrap(joint_programme)(LABELLED, supporting, [0, 1])


@pytest.mark.parametrize("make", [generalised_programme, finite_part_programme])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((2, 2), bool), r"selected must have shape \(2, 3\)"),
        (np.ones((2, 3)), "selected must be boolean"),
        (selected((0, 0)), "selected leaves input 1 without any token"),
        (selected((0, 2), (1, 0)), "selected names a token that the mask removes"),
        ([[True], [True, True]], "not a rectangular array"),
    ],
)
def test_selections_hold_a_present_token_of_every_input(make, table, message):
    rest = () if make is generalised_programme else (HALVES,)
    with pytest.raises(DataError, match=message):
        inspect.unwrap(make)(LABELLED, table, *rest)


@pytest.mark.parametrize("p", [0.0, -0.5, -1e-300])
def test_selected_tokens_need_positive_probability(p):
    probabilities = HALVES.copy()
    probabilities[1, 1] = p
    with pytest.raises(DataError, match="no positive probability") as caught:
        finite_part_programme(LABELLED, BOTH, probabilities)
    assert caught.value.value == p


@pytest.mark.parametrize("p", [0.0, -0.0, 5e-324, 1e308])
def test_probabilities_off_the_selection_do_not_matter(p):
    probabilities = HALVES.copy()
    probabilities[1, 2] = p
    assert finite_part_programme(LABELLED, BOTH, probabilities).bound.tolist() == [0.0, 0.0]


def test_negative_numbers_off_the_selection_do_not_warn():
    probabilities = HALVES.copy()
    probabilities[1, 2] = -0.5
    assert finite_part_programme(LABELLED, BOTH, probabilities).bound.tolist() == [0.0, 0.0]


def test_least_and_largest_probabilities_have_finite_ratios():
    probabilities = np.array([[5e-324, 1.7e308, 1.0]] * 2)
    bound = finite_part_programme(LABELLED, BOTH, probabilities).bound
    assert abs(bound[0] - (math.log(5e-324) - math.log(1.7e308))) <= 1e-12


@pytest.mark.parametrize("p", [math.nan, math.inf])
def test_probabilities_are_finite_and_of_the_shape_of_the_tokens(p):
    with pytest.raises(DataError, match=r"probabilities\[0, 0\] is not finite"):
        finite_part_programme(LABELLED, BOTH, np.full((2, 3), p))
    with pytest.raises(DataError, match="probabilities has T = 2"):
        inspect.unwrap(finite_part_programme)(LABELLED, BOTH, np.ones((2, 2)))


def test_single_selections_have_no_finite_part():
    with pytest.raises(DataError, match="nothing to balance"):
        finite_part(LABELLED, ONE, HALVES)
    assert generalised_svm(LABELLED, ONE).programme.bound.tolist() == [1.0] * 3


def one_row(difference, query):
    return AttentionData.of([[[difference], [0.0]]], [[query]], y=[1], v=[1.0])


def test_rows_reach_up_to_the_stated_sizes_and_no_further():
    """Either factor alone; v-SVM rows are tokens."""
    inside, outside = math.nextafter(LARGEST, 0.0), LARGEST
    for difference, query in ((inside, 1.0), (1.0, inside), (SMALLEST, 1.0), (1.0, SMALLEST)):
        att_svm_programme(one_row(difference, query))
    for difference, query in ((outside, 1.0), (1.0, outside), (-outside, 1.0)):
        with pytest.raises(DataError, match="overflow float64"):
            att_svm_programme(one_row(difference, query), [0])
    below = math.nextafter(SMALLEST, 0.0)
    for difference, query in ((below, 1.0), (1.0, below), (5e-324, 1.0)):
        with pytest.raises(DataError, match="underflow float64") as caught:
            att_svm_programme(one_row(difference, query), [0])
        assert caught.value.value == min(difference, query)
    with pytest.raises(DataError, match="overflow"):
        v_svm_programme(one_row(outside, 1.0))
    with pytest.raises(DataError, match="underflow"):
        v_svm_programme(one_row(below, 1.0))


def test_zero_rows_are_no_underflow():
    assert att_svm_programme(one_row(0.0, 1.0), [0]).D.tolist() == [[0.0]]
    assert att_svm_programme(one_row(1.0, 0.0), [0]).Z.tolist() == [[0.0]]


@pytest.mark.parametrize("W", [[[1e200]], [[1e308]]])
def test_keys_that_overflow_are_refused_without_a_warning(W):
    for make in (p_svm_programme, lambda *a: joint_programme(a[0], np.ones(1, bool), *a[1:])):
        with pytest.raises(DataError, match="overflow float64"):
            make(one_row(1e120, 1.0), None, np.array(W))


def test_keys_that_are_no_numbers_are_refused():
    """Inf minus inf in one input, moderate keys in the next."""
    tokens = np.zeros((2, 2, 4))
    tokens[0, 0], tokens[1, 0, 0] = 1e100, 1e-200
    data = AttentionData(tokens, np.ones((2, 4)), scores=[[1, 0]] * 2)
    W = np.array([[1e300, 1e300, -1e300, -1e300]])
    with pytest.raises(DataError, match="overflow float64"):
        p_svm_programme(data, None, W)

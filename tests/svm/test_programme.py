"""Rows, bounds and equalities of every programme, what it computes from them, and its errors."""

import inspect
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError
from attsvm.exact.svm import ExactProgramme
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
from tests.svm.conditions import EPS, exact_rows, exactly, matrices
from tests.svm.problems import blocks, problems, programmes, selections, two_tokens

LOG2 = math.log(2.0)


def rivals(data, targets, within=None):
    """(i, t) of every row: present tokens beside the target, in order."""
    present = data.present if within is None else data.present & within
    return [
        (i, t) for i in range(data.n) for t in range(data.T) if present[i, t] and t != targets[i]
    ]


def difference(data, targets, i, t):
    return [float(data.X[i, targets[i], k]) - float(data.X[i, t, k]) for k in range(data.d)]


def describes(programme, pairs, D, Z, bound, equal):
    """Whether the programme has these rows, entry by entry, and knows where they come from."""
    assert programme.input.tolist() == [i for i, _ in pairs]
    assert programme.token.tolist() == [t for _, t in pairs]
    assert programme.D.tolist() == D
    assert programme.Z.tolist() == Z
    assert programme.bound.tolist() == bound
    assert programme.equal.tolist() == equal


@given(problems())
def test_att_svm_rows_are_target_minus_rival_and_the_query(problem):
    data, targets = problem
    pairs = rivals(data, targets)
    assume(pairs)
    programme = att_svm_programme(data, targets)
    D = [difference(data, targets, i, t) for i, t in pairs]
    Z = [data.Z[i].tolist() for i, _ in pairs]
    describes(programme, pairs, D, Z, [1.0] * len(pairs), [False] * len(pairs))
    assert programme.name == "Att-SVM"
    assert programme.targets.tolist() == targets.tolist()
    assert programme.shape == (data.n, data.T)
    assert programme.kept.tolist() == [data.X[i, targets[i]].tolist() for i, _ in pairs]
    assert programme.rival.tolist() == [data.X[i, t].tolist() for i, t in pairs]
    assert programme.keys is None
    assert programme.is_vector == (data.d == 1 and bool((np.array(Z) == 1.0).all()))


@given(problems(), st.integers(1, 3), st.data())
def test_p_svm_rows_are_differences_of_keys(problem, k, draw):
    data, targets = problem
    pairs = rivals(data, targets)
    assume(pairs)
    W = draw.draw(blocks(k, data.d))
    plain, mapped = p_svm_programme(data, targets), p_svm_programme(data, targets, W)
    ones, bound, equal = [[1.0]] * len(pairs), [1.0] * len(pairs), [False] * len(pairs)
    D = [difference(data, targets, i, t) for i, t in pairs]
    describes(plain, pairs, D, ones, bound, equal)
    keys = [
        [[sum(W[r, c] * data.X[i, t, c] for c in range(data.d)) for r in range(k)] for t in ts]
        for i, ts in enumerate([range(data.T)] * data.n)
    ]
    D = [[a - b for a, b in zip(keys[i][targets[i]], keys[i][t], strict=True)] for i, t in pairs]
    describes(mapped, pairs, D, ones, bound, equal)
    for programme in (plain, mapped):
        assert programme.name == "p-SVM"
        assert programme.is_vector
        assert programme.kept.tolist() == [data.X[i, targets[i]].tolist() for i, _ in pairs]
    assert plain.keys is None
    assert mapped.keys.tolist() == W.tolist()


@given(problems())
def test_v_svm_rows_are_labelled_targets(problem):
    data, targets = problem
    programme = v_svm_programme(data, targets)
    D = [
        [float(data.y[i]) * float(x) for x in data.X[i, t]] for i, t in enumerate(targets.tolist())
    ]
    n = data.n
    describes(programme, list(enumerate(targets)), D, [[1.0]] * n, [1.0] * n, [False] * n)
    assert programme.name == "v-SVM"
    assert programme.is_vector


@given(problems(), st.data())
def test_joint_bounds_are_zero_off_the_support(problem, draw):
    data, targets = problem
    pairs = rivals(data, targets)
    assume(pairs)
    W = draw.draw(st.none() | blocks(2, data.d))
    supporting = draw.draw(blocks(data.n)) >= 0
    programme, plain = (
        joint_programme(data, supporting, targets, W),
        p_svm_programme(data, targets, W),
    )
    bound = [1.0 if supporting[i] else 0.0 for i, _ in pairs]
    describes(programme, pairs, plain.D.tolist(), [[1.0]] * len(pairs), bound, [False] * len(pairs))
    assert programme.name == "joint p-SVM"


@given(problems(), st.data())
def test_generalised_rows_refer_to_the_first_selected_token(problem, draw):
    data, targets = problem
    selected, _ = draw.draw(selections(data, targets))
    first = [min(t for t in range(data.T) if selected[i, t]) for i in range(data.n)]
    pairs = rivals(data, first)
    assume(pairs)
    programme = generalised_programme(data, selected)
    equal = [bool(selected[i, t]) for i, t in pairs]
    D = [difference(data, first, i, t) for i, t in pairs]
    Z = [data.Z[i].tolist() for i, _ in pairs]
    describes(programme, pairs, D, Z, [0.0 if e else 1.0 for e in equal], equal)
    assert programme.targets.tolist() == first
    assert programme.name == "Gen-SVM"


@given(problems(), st.data())
def test_finite_part_bounds_are_log_ratios_within_the_selection(problem, draw):
    """Only there: probabilities of other tokens do not enter, and neither does their scale."""
    data, targets = problem
    selected, p = draw.draw(selections(data, targets))
    first = [min(t for t in range(data.T) if selected[i, t]) for i in range(data.n)]
    pairs = rivals(data, first, selected)
    assume(pairs)
    programme = finite_part_programme(data, selected, p)
    bound = [LOG2 * (float(p[i, first[i]] == 2.0) - float(p[i, t] == 2.0)) for i, t in pairs]
    D = [difference(data, first, i, t) for i, t in pairs]
    Z = [data.Z[i].tolist() for i, _ in pairs]
    describes(programme, pairs, D, Z, bound, [True] * len(pairs))
    assert programme.name == "W_fin"
    elsewhere = finite_part_programme(data, selected, np.where(selected, 4.0 * p, 0.0))
    assert np.abs(elsewhere.bound - programme.bound).max() <= 4 * EPS


@given(programmes(), st.data())
def test_margins_combinations_norms_and_the_gram_are_sums_over_entries(programme, draw):
    A = matrices(programme)
    W = draw.draw(blocks(programme.D.shape[1], programme.Z.shape[1]))
    w = draw.draw(blocks(len(A)))
    assert (programme.margins(W) == A @ W.ravel()).all()
    assert (programme.combine(w).ravel() == w @ A).all()
    assert (programme.gram == A @ A.T).all()
    assert np.abs(programme.norms - np.sqrt((A**2).sum(axis=1))).max() <= 8 * EPS * (
        1.0 + np.abs(A).max() * A.shape[1]
    )


@given(programmes())
def test_duplicates_are_the_groups_of_equal_rows(programme):
    """In order of first appearance; 0 and -0 are the same, an equality is no inequality."""
    p, groups = programme, []
    rows = list(zip(p.D.tolist(), p.Z.tolist(), p.bound.tolist(), p.equal.tolist(), strict=True))
    for j, row in enumerate(rows):
        if row not in rows[:j]:
            groups.append([k for k in range(len(rows)) if rows[k] == row])
    pairs = list(zip(p.input.tolist(), p.token.tolist(), strict=True))
    expected = tuple(tuple(pairs[k] for k in group) for group in groups if len(group) > 1)
    assert p.duplicates == expected


def test_rows_of_other_bound_or_kind_are_no_duplicates():
    """Two inputs alike, asked for margins 1 and 0, at least or exactly."""
    data = two_tokens([(1, 2), (1, 2), (1, -0.0), (1, 0.0)], np.ones((4, 2)))
    programme = att_svm_programme(data)
    assert programme.duplicates == (((0, 1), (1, 1)), ((2, 1), (3, 1)))
    other = replace(programme, bound=np.array([1.0, 0.0, 1.0, 1.0]))
    assert other.duplicates == (((2, 1), (3, 1)),)
    kind = replace(programme, equal=np.array([False, True, False, False]))
    assert kind.duplicates == (((2, 1), (3, 1)),)


def exact_matrices(exact):
    """The rows of an ExactProgramme as fractions."""
    unit = exactly(exact.unit_left) * exactly(exact.unit_right)
    sides = zip(exact.D.tolist(), exact.Z.tolist(), strict=True)
    return [[exactly(x) * exactly(z) / unit for x in D for z in Z] for D, Z in sides]


@given(problems(), st.sampled_from([0.1, 1e-17, 1e9 / 3]), st.booleans())
def test_exact_rows_take_differences_anew_where_floats_round(problem, shift, mapped):
    """x + shift - x is not shift in floats; nor is a key the sum of its products."""
    data, targets = problem
    moved = AttentionData(data.X + shift, data.Z / 3.0, scores=data.gamma, mask=data.mask)
    assume(moved.present.sum() > moved.n)
    W = np.full((2, data.d), 0.1) if mapped else None
    programme = p_svm_programme(moved, targets, W) if mapped else att_svm_programme(moved, targets)
    assert exact_matrices(ExactProgramme.of(programme)) == exact_rows(programme)


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


def test_an_array_in_place_of_data_is_refused():
    code = "import attsvm, numpy; attsvm.solve(numpy.ones((1, 2, 2)))"  # without checks of types
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "attsvm.errors.DataError: an Att-SVM is solved for an AttentionData (got ndarray). "
        "Write AttentionData(X, Z, scores=...), with tokens X and queries Z."
    )


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
        (np.ones((2, 3)), "W has d = 3 but the other arrays have d = 2"),
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


@pytest.mark.parametrize("p", [0.0, -0.5, 5e-324, 1e308])
def test_probabilities_off_the_selection_do_not_matter(p):
    probabilities = HALVES.copy()
    probabilities[1, 2] = p
    assert finite_part_programme(LABELLED, BOTH, probabilities).bound.tolist() == [0.0, 0.0]


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


@pytest.mark.parametrize("W", [[[1e200]], [[1e308]]])
def test_keys_that_overflow_are_refused_without_a_warning(W):
    for make in (p_svm_programme, lambda *a: joint_programme(a[0], np.ones(1, bool), *a[1:])):
        with pytest.raises(DataError, match="overflow float64"):
            make(one_row(1e120, 1.0), None, np.array(W))

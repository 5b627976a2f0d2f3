"""Rows, bounds and equalities of every programme, against definitions written entry by entry."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm_programme
from attsvm.svm.programme import (
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    v_svm_programme,
)
from tests.svm.conditions import EPS
from tests.svm.problems import blocks, problems, selections

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


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=50, deadline=None)
@given(attention_data(T=(2, 4)))
def test_the_optimal_tokens_are_the_targets_unless_others_are_named(data):
    best = data.gamma.max(axis=1)
    gaps = np.sort(best[:, None] - data.gamma, axis=1)[:, 1]
    assume((gaps > 1e-9).all())
    programme = att_svm_programme(data)
    assert programme.targets.tolist() == data.gamma.argmax(axis=1).tolist()
    assert len(programme.bound) == data.n * (data.T - 1)


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


def test_a_finite_part_by_hand():
    """Softmax (1/2, 1/3, 1/6): W has margins log 3/2 and log 3 against tokens 1 and 2."""
    data = AttentionData.of([[[1, 0], [0, 1], [0, 0]]], [[1, 2]], scores=[[0, 0, 0]])
    programme = finite_part_programme(data, np.ones((1, 3), bool), np.array([[3.0, 2.0, 1.0]]) / 6)
    assert np.abs(programme.bound - [math.log(1.5), math.log(3.0)]).max() <= 4 * EPS
    assert programme.D.tolist() == [[1.0, -1.0], [1.0, 0.0]]

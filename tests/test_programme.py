"""Rows, bounds and equalities of every programme, against definitions written entry by entry."""

import math

import numpy as np
from conditions import EPS, exact_rows, exactly, matrices
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import blocks, problems, programmes, selections

from attsvm.data import AttentionData
from attsvm.exact.svm import ExactProgramme
from attsvm.svm import att_svm_programme
from attsvm.svm.programme import (
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    subset,
    v_svm_programme,
)
from properties.strategies import attention_data

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


# what a programme computes from its rows


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
@given(programmes(), st.data())
def test_a_subset_has_the_rows_kept_and_no_others(programme, draw):
    m = len(programme.bound)
    keep = draw.draw(blocks(m)) >= 0
    part, rows = subset(programme, keep), [j for j in range(m) if keep[j]]
    for name in ("D", "Z", "bound", "equal", "input", "token", "kept", "rival"):
        whole = getattr(programme, name).tolist()
        assert getattr(part, name).tolist() == [whole[j] for j in rows]
    assert (part.name, part.shape) == (programme.name, programme.shape)
    assert part.targets is programme.targets
    assert part.keys is programme.keys


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=60, deadline=None)
@given(programmes(), st.data())
def test_a_table_holds_one_value_a_row_and_else_the_filling(programme, draw):
    values = draw.draw(blocks(len(programme.bound)))
    table = programme.table(values, math.inf)
    assert table.shape == programme.shape
    expected = {}
    for i, t, x in zip(programme.input, programme.token, values, strict=True):
        expected[int(i), int(t)] = x
    n, T = programme.shape
    assert all(table[i, t] == expected.get((i, t), math.inf) for i in range(n) for t in range(T))


# exact values


def exact_matrices(exact):
    """The rows of an ExactProgramme as fractions."""
    unit = exactly(exact.unit_left) * exactly(exact.unit_right)
    sides = zip(exact.D.tolist(), exact.Z.tolist(), strict=True)
    return [[exactly(x) * exactly(z) / unit for x in D for z in Z] for D, Z in sides]


@settings(max_examples=80, deadline=None)
@given(programmes())
def test_exact_rows_and_bounds_are_those_of_the_tokens(programme):
    exact = ExactProgramme.of(programme)
    assert exact_matrices(exact) == exact_rows(programme)
    assert [exactly(b) for b in exact.bound] == [exactly(b) for b in programme.bound.tolist()]
    assert exact.equal == programme.equal.tolist()


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.1, 1e-17, 1e9 / 3]), st.booleans())
def test_exact_rows_take_differences_anew_where_floats_round(problem, shift, mapped):
    """x + shift - x is not shift in floats; nor is a key the sum of its products."""
    data, targets = problem
    moved = AttentionData(data.X + shift, data.Z / 3.0, scores=data.gamma, mask=data.mask)
    assume(rivals(moved, targets))
    W = np.full((2, data.d), 0.1) if mapped else None
    programme = p_svm_programme(moved, targets, W) if mapped else att_svm_programme(moved, targets)
    assert exact_matrices(ExactProgramme.of(programme)) == exact_rows(programme)

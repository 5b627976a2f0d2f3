"""What a programme computes from its rows, in floats and exactly."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact.svm import ExactProgramme
from attsvm.svm import att_svm_programme
from attsvm.svm.programme import (
    p_svm_programme,
    subset,
)
from tests.svm.conditions import EPS, exact_rows, exactly, matrices
from tests.svm.problems import blocks, problems, programmes, two_tokens


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


def test_rows_of_other_bound_or_kind_are_no_duplicates():
    """Two inputs alike, asked for margins 1 and 0, at least or exactly."""
    data = two_tokens([(1, 2), (1, 2), (1, -0.0), (1, 0.0)], np.ones((4, 2)))
    programme = att_svm_programme(data)
    assert programme.duplicates == (((0, 1), (1, 1)), ((2, 1), (3, 1)))
    other = replace(programme, bound=np.array([1.0, 0.0, 1.0, 1.0]))
    assert other.duplicates == (((2, 1), (3, 1)),)
    kind = replace(programme, equal=np.array([False, True, False, False]))
    assert kind.duplicates == (((2, 1), (3, 1)),)


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
    assume(moved.present.sum() > moved.n)
    W = np.full((2, data.d), 0.1) if mapped else None
    programme = p_svm_programme(moved, targets, W) if mapped else att_svm_programme(moved, targets)
    assert exact_matrices(ExactProgramme.of(programme)) == exact_rows(programme)

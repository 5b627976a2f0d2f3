"""Decided programmes, proved anew in fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import decide
from attsvm.svm import att_svm, att_svm_programme
from tests.exact.digits import fractions


@st.composite
def programmes(draw, top=3):
    n, T, d = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 3))

    def block(*shape):
        size = int(np.prod(shape))
        entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
        return np.array(entries, dtype=float).reshape(shape)

    scores = np.zeros((n, T))
    scores[:, 0] = 1.0
    return AttentionData(block(n, T, d), block(n, d), scores=scores)


def proves(programme, answer):
    """The conditions of `ExactAnswer` in fractions, from the constraint matrices."""
    A = [
        [Fraction(a) * Fraction(b) for a in D for b in z]
        for D, z in zip(programme.D, programme.Z, strict=True)
    ]
    duals = fractions(answer.duals)
    W = [x for row in fractions(answer.W) for x in row]
    summed = [
        sum(w * a for w, a in zip(duals, column, strict=True)) for column in zip(*A, strict=True)
    ]
    margins = [sum(a * x for a, x in zip(row, W, strict=True)) for row in A]
    assert min(duals) >= 0
    assert summed == W
    assert fractions(answer.margins) == margins
    if answer.status == "unseparable":
        assert sum(duals) > 0
        assert not any(summed)
        assert not answer.all_tight
    else:
        assert min(margins) >= 1
        assert all(m == 1 for m, w in zip(margins, duals, strict=True) if w > 0)
        assert answer.all_tight == all(m == 1 for m in margins)


@settings(max_examples=150, deadline=None)
@given(programmes(), st.data())
def test_decisions_are_proved_in_fractions_and_agree_with_floats(data, draw):
    programme = att_svm_programme(data)
    answer = decide(programme)
    proves(programme, answer)
    floats = att_svm(data)
    assert floats.status == answer.status
    m = len(programme.D)
    guess = np.array(draw.draw(st.lists(st.integers(-1, 2), min_size=m, max_size=m)), dtype=float)
    for start in (guess, floats.duals[programme.input, programme.token], np.ones(m)):
        again = decide(programme, start)
        proves(programme, again)
        assert again.status == answer.status
        assert again.status == "unseparable" or again.W == answer.W  # the minimiser is unique


def test_a_separation_finer_than_rounding_is_decided():
    """D = 1 and D = -1 with queries that differ in the last bit only, in one more direction."""
    fine = np.array([[1.0, 0.0], [-1.0, 2.0**-200]])
    data = AttentionData(
        np.stack([fine, np.zeros((2, 2))], axis=1),
        np.ones((2, 2)),
        scores=np.eye(1, 2).repeat(2, 0),
    )
    programme = att_svm_programme(data)
    answer = decide(programme)
    proves(programme, answer)
    assert answer.status == "solved"
    opposed = AttentionData(data.X * [[[1.0, 0.0]]], data.Z, scores=data.scores)
    answer = decide(att_svm_programme(opposed))
    proves(att_svm_programme(opposed), answer)
    assert answer.status == "unseparable"

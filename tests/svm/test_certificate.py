"""Exact answers of every programme, whatever the guess; conditions held in fractions."""

import inspect
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.errors import SolverError
from attsvm.exact import decide
from attsvm.svm import att_svm, att_svm_programme, certify, solve_programme
from attsvm.svm.farkas import coprime
from attsvm.svm.programme import generalised_programme, joint_programme, subset
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import check_exactly, exactly
from tests.svm.problems import SPOILT, programmes, spoilt, two_tokens


def solution(exact):
    return [[exactly(x) for x in row] for row in exact.W]


@given(st.lists(st.fractions(0, 9, max_denominator=60), min_size=1, max_size=5), st.integers(1, 9))
def test_coprime_weights_keep_their_proportions(weights, factor):
    weights = [*weights, Fraction(factor)]
    found = [exactly(w) for w in coprime([fmpq(w.numerator, w.denominator) for w in weights])]
    assert [w * found[-1] for w in weights] == [factor * w for w in found]
    assert all(w.denominator == 1 for w in found)
    assert math.gcd(*(w.numerator for w in found)) == 1


@pytest.mark.parametrize("seed", range(4))
def test_random_answers_are_certified(seed):
    """Nothing is integer, and every difference was rounded."""
    data = gaussian_protocol(np.random.default_rng(seed), n=3, T=4, d=3 + seed % 2)
    answer = att_svm(data)
    check_exactly(answer.programme, certify(answer))


@settings(max_examples=100, deadline=None)
@given(programmes())
def test_what_an_exact_answer_says_of_itself(programme):
    exact = decide(programme)
    W, duals = solution(exact), [exactly(w) for w in exact.duals]
    margins, bound = [exactly(m) for m in exact.margins], programme.bound.tolist()
    assert sympy.Matrix(W).rank() == exact.rank
    if exact.status == "unseparable":
        assert (exactly(exact.square), exact.rank, exact.all_tight) == (0, 0, False)
        return
    assert exactly(exact.square) == sum(x * x for row in W for x in row)
    tight = [j for j, m in enumerate(margins) if m == Fraction(bound[j])]
    assert exact.tight == tight
    assert exact.all_tight == (len(tight) == len(bound))
    assert exact.degenerate == [j for j in tight if duals[j] == 0 and not programme.equal[j]]


def test_tight_without_weight_is_degenerate_unless_an_equality():
    """Margins (1, 1) by (1, 0); then (1, 1) again through a sum that W = (1, 0) meets alone."""
    data = two_tokens([(1, 0), (1, 1), (1, -1), (2, 0)], np.tile([1.0, 0.0], (4, 1)))
    exact = decide(att_svm_programme(data))
    assert solution(exact) == [[1, 0], [0, 0]]
    assert exact.tight == [0, 1, 2]
    assert not exact.all_tight
    assert len(exact.degenerate) == sum(1 for j in exact.tight if exactly(exact.duals[j]) == 0)
    assert exact.degenerate
    everything = generalised_programme(data, np.ones((4, 2), dtype=bool))
    assert decide(everything).degenerate == []


@settings(max_examples=150, deadline=None)
@given(programmes(), st.sampled_from(list(SPOILT)))
def test_no_guess_changes_the_answer(programme, kind):
    """The solution is unique; a certificate need not be, but every one is checked."""
    exact = decide(programme)
    check_exactly(programme, exact)
    start = np.array([float(exactly(w)) for w in exact.duals])
    other = decide(programme, spoilt(kind, start))
    check_exactly(programme, other)
    assert other.status == exact.status
    assert solution(other) == solution(exact)


@settings(max_examples=50, deadline=None)
@given(programmes())
def test_duplicates_change_no_exact_solution(programme):
    """Rows given twice make the active block singular wherever both are guessed."""
    m = len(programme.bound)
    twice = inspect.unwrap(subset)(programme, np.arange(m).repeat(2))
    exact = decide(programme)
    for duals in (None, np.ones(2 * m), solve_programme(twice).weights):
        other = decide(twice, duals)
        check_exactly(twice, other)
        assert other.status == exact.status
        assert solution(other) == solution(exact)


@pytest.mark.parametrize("bounds", [[True, True], [True, False]])
def test_disagreement_raises_and_says_whom_to_trust(bounds):
    """An answer of the other status, as floats might give it by a hair."""
    programme = joint_programme(two_tokens([(1, 0), (0, 1)], np.eye(2)), np.array(bounds))
    answer = solve_programme(programme)
    for status in ("solved", "unseparable"):
        claimed = replace(answer, status=status)
        if status == answer.status:
            certify(claimed)
            continue
        with pytest.raises(SolverError, match="`solved` where floats said `unseparable`") as caught:
            certify(claimed)
        assert "decide" in caught.value.remedy
    opposed = att_svm(two_tokens([(1, 0), (-1, 0)], np.ones((2, 2))))
    with pytest.raises(SolverError, match="`unseparable` where floats said `solved`"):
        certify(replace(opposed, status="solved"))

"""Certificates with free signs, programmes without demands, and vectors that are none."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.exact import decide
from attsvm.svm import (
    att_svm,
    att_svm_programme,
    finite_part,
    frobenius,
    generalised_svm,
    joint_svm,
    p_svm,
    solve_programme,
    v_svm,
)
from attsvm.svm.programme import joint_programme, p_svm_programme
from tests.svm.conditions import EPS, check, check_exactly, exactly, right
from tests.svm.problems import two_tokens

PAIR = np.ones((1, 2), dtype=bool)
LOG2 = math.log(2.0)


@pytest.mark.parametrize(("p", "sign"), [([2.0, 1.0], 1.0), ([1.0, 2.0], -1.0)])
def test_equal_tokens_of_unequal_weight_have_a_certificate_of_either_sign(p, sign):
    """0 = log 2 times a multiplier of the sign of the bound gains 1."""
    data = AttentionData.of([[[1.0, 2.0], [1.0, 2.0]]], [[1.0, 1.0]], scores=[[0, 0]])
    answer = finite_part(data, PAIR, np.array([p]))
    check(answer.programme, answer)
    assert answer.status == "unseparable"
    assert abs(answer.weights[0] - sign / LOG2) <= 4 * EPS
    assert answer.dual_residual == 0.0


def test_contradicting_ratios_cancel_with_opposite_signs():
    """One token pair and query, asked for ratios 2 and 3: (A - A) with gain log 3/2."""
    data = AttentionData.of([[[1.0], [0.0]]] * 2, [[2.0]] * 2, scores=[[0, 0]] * 2)
    answer = finite_part(data, np.ones((2, 2), bool), np.array([[2.0, 1.0], [3.0, 1.0]]))
    check(answer.programme, answer)
    assert answer.status == "unseparable"
    expected = np.array([-1.0, 1.0]) / math.log(1.5)
    assert np.abs(answer.weights - expected).max() <= 16 * EPS * expected[1]
    exact = decide(answer.programme)
    check_exactly(answer.programme, exact)
    assert exactly(exact.duals[0]) == -exactly(exact.duals[1]) < 0


def test_an_equality_may_hold_a_token_down_from_above():
    """x_0 = x_1 in logits forces W = 0 along it, and token 2 lies between: no margin."""
    data = AttentionData.of([[[1.0], [-1.0], [0.0]]], [[1.0]], scores=[[0, 0, 0]])
    answer = generalised_svm(data, np.array([[True, True, False]]))
    check(answer.programme, answer)
    assert answer.status == "unseparable"
    assert np.abs(answer.weights - [-0.5, 1.0]).max() <= 4 * EPS  # A = (2, 1): -1/2 2 + 1 = 0
    turned = AttentionData.of([[[-1.0], [1.0], [0.0]]], [[-1.0]], scores=[[0, 0, 0]])
    assert generalised_svm(turned, np.array([[True, True, False]])).status == "unseparable"


def test_equalities_push_from_either_side():
    """Multipliers of equalities are free: ratios 2 and 1/2 give W of either sign."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[0, 0]])
    for p, sign in (([2.0, 1.0], 1.0), ([1.0, 2.0], -1.0)):
        answer = finite_part(data, PAIR, np.array([p]))
        check(answer.programme, answer)
        assert abs(answer.W[0, 0] - sign * LOG2) <= 2 * EPS
        assert answer.weights[0] == answer.W[0, 0]
        assert answer.degenerate == ((),)
        assert answer.support == ((1,),)


def test_implied_equalities_are_met_without_weight_or_with():
    """Three collinear tokens: the ratios 2 and 4 say the same."""
    data = AttentionData.of([[[2.0], [1.0], [0.0]]], [[1.0]], scores=[[0, 0, 0]])
    answer = finite_part(data, np.ones((1, 3), bool), np.array([[4.0, 2.0, 1.0]]))
    right(answer.programme, answer, decide(answer.programme))
    assert abs(answer.W[0, 0] - LOG2) <= 2 * EPS


# nothing to meet


def nothing_asked():
    data = AttentionData.of(
        [[[1, 2], [3, 4]], [[0, 0], [0, 0]]], [[1, 1], [0, 0]], y=[1, 1], v=[1, 0]
    )
    everything = np.ones((2, 2), dtype=bool)
    relaxed = joint_programme(data, np.zeros(2, dtype=bool), [0, 0])
    yield generalised_svm(data, everything)
    yield finite_part(data, everything, np.ones((2, 2)))
    yield solve_programme(relaxed)


@pytest.mark.parametrize("answer", list(nothing_asked()), ids=lambda answer: answer.programme.name)
def test_programmes_that_ask_for_nothing_are_solved_by_zero(answer):
    check(answer.programme, answer)
    right(answer.programme, answer, decide(answer.programme))
    assert answer.solved
    assert answer.value == answer.gap == answer.primal_residual == 0.0
    assert not answer.W.any()
    assert answer.rank == 0
    assert answer.is_tight.all()
    inequalities = answer.programme.table(~answer.programme.equal, False).sum(axis=1)
    assert [len(tokens) for tokens in answer.degenerate] == inequalities.tolist()


def test_zero_bounds_beside_others_may_be_tight():
    """p on (1, 0) at 1, and (-1, 1) at 0: p = (1, 1), where the relaxed margin holds it back."""
    data = two_tokens([(1, 0), (-1, 1)], np.ones((2, 2)))
    answer = solve_programme(joint_programme(data, np.array([True, False])))
    right(answer.programme, answer, decide(answer.programme))
    assert np.abs(answer.vector - 1.0).max() <= 4 * EPS
    assert np.abs(answer.weights - [2.0, 1.0]).max() <= 8 * EPS


def test_zero_rows_at_bound_zero_ask_for_nothing():
    data = two_tokens([(1, 0), (0, 0)], np.ones((2, 2)))
    answer = solve_programme(joint_programme(data, np.array([True, False])))
    right(answer.programme, answer, decide(answer.programme))
    assert np.abs(answer.vector - [1.0, 0.0]).max() <= 2 * EPS
    assert p_svm(data).status == "unseparable"


def test_a_zero_query_among_many_is_found_whatever_the_sign_of_its_bound():
    """More rows than rationals propose for; a row of zeros is its own certificate."""
    generator = np.random.default_rng(0)
    X, Z = generator.normal(size=(60, 5, 20)), generator.normal(size=(60, 20))
    Z[7] = 0.0
    data = AttentionData(X, Z, scores=np.zeros((60, 5)))
    for p in (np.arange(5.0, 0.0, -1.0), np.arange(1.0, 6.0)):
        answer = finite_part(data, np.ones((60, 5), bool), np.tile(p, (60, 1)))
        check(answer.programme, answer)
        assert answer.status == "unseparable"


# signs, as `solve_programme` judges what its methods propose


def asked(rows, bounds, *, equal):
    """A programme in one dimension with these rows and bounds."""
    data = two_tokens([(a,) for a in rows], np.ones((len(rows), 1)))
    bound = np.array(bounds, dtype=float)
    return replace(att_svm_programme(data), bound=bound, equal=np.full(len(rows), equal))


def propose(monkeypatch, weights, solved):
    """Let every method return the same."""
    for name in frobenius._METHODS:
        monkeypatch.setitem(frobenius._METHODS, name, lambda _: (np.array(weights), solved))


@pytest.mark.parametrize(
    ("rows", "bounds", "weights", "solved"),
    [
        ([1.0, 1.0], [1.0, 1.0], [2.0, -1.0], True),  # the same row twice: W = 1 either way
        ([1.0, 1.0], [1.0, 1.0], [1.0 + 2.0**-40, -(2.0**-40)], True),
        ([1.0, 2.0], [1.0, 1.0], [2.0, -1.0], False),  # 2 A_1 - A_2 = 0 gains 1
    ],
)
def test_negative_multipliers_prove_something_on_equalities_alone(
    monkeypatch, rows, bounds, weights, solved
):
    """All figures but the sign are right."""
    free, signed = (asked(rows, bounds, equal=equal) for equal in (True, False))
    propose(monkeypatch, weights, solved)
    answer = solve_programme(free)
    right(free, answer, decide(free))
    assert answer.weights.tolist() == weights
    with pytest.raises(SolverError, match="no method reached a proof"):
        solve_programme(signed)


@pytest.mark.parametrize("weights", [[-2.0, -1.0], [2.0, -1.0], [0.0, 0.0], [-1.0, 3.0]])
def test_certificates_of_a_wrong_sign_or_without_gain_have_no_residual(weights):
    """Rows 1 and -2 cancel with (2, 1) alone; what else is claimed is NaN, not small."""
    programme = asked([1.0, -2.0], [1.0, 1.0], equal=False)
    assert frobenius.grade(programme, np.array([2.0, 1.0]), solved=False).dual_residual == 0.0
    with np.errstate(all="ignore"):
        answer = frobenius.grade(programme, np.array(weights), solved=False)
    assert np.isnan(answer.dual_residual)


def test_equalities_that_are_overshot_are_not_met(monkeypatch):
    """W = 1 has margins (1, 1) for bounds (1, 1/2), and no gap: only the second misses."""
    programme = asked([1.0, 1.0], [1.0, 0.5], equal=True)
    propose(monkeypatch, [1.0, 0.0], True)
    with pytest.raises(SolverError, match="no method reached a proof") as caught:
        solve_programme(programme)
    assert caught.value.value == 0.5


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1.0, 1e6, 1e30])
def test_residuals_are_relative_to_the_bound(monkeypatch, scale):
    """A shortfall of one in 10^10 passes, one in 10^8 does not, whatever the bounds."""
    programme = asked([1.0, 1.0], [scale, -scale], equal=False)
    for missing, passes in ((1e-10, True), (1e-8, False)):
        propose(monkeypatch, [scale * (1.0 - missing), 0.0], True)
        if passes:
            answer = solve_programme(programme)
            assert -1e-15 <= answer.primal_residual - missing <= 1e-14  # rounding is part of it
            assert abs(answer.gap / (2.0 * missing) - 1.0) <= 1e-5
            continue
        with pytest.raises(SolverError) as caught:
            solve_programme(programme)
        assert abs(caught.value.value / (2.0 * missing) - 1.0) <= 1e-5


def test_small_bounds_beside_large_ones_are_met_as_closely(monkeypatch):
    """p = (1, 10^-6 (1 - 10^-8)) is 10^-14 off, which is 10^-8 of the second bound."""
    plain = p_svm_programme(two_tokens(np.eye(2), np.eye(2)))
    programme = replace(plain, bound=np.array([1.0, 1e-6]))
    propose(monkeypatch, [1.0, 1e-6 * (1.0 - 1e-8)], True)
    with pytest.raises(SolverError, match="no method reached a proof") as caught:
        solve_programme(programme)
    assert abs(caught.value.value / 1e-8 - 1.0) <= 1e-6


# shapes of the unknown


def test_vectors_are_columns_and_matrices_are_no_vectors():
    data = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 2.0]], y=[1], v=[1.0, 0.0])
    for answer in (p_svm(data), v_svm(data), p_svm(data, None, np.eye(3, 2))):
        assert answer.W.shape == (answer.programme.D.shape[1], 1)
        assert answer.vector.tolist() == answer.W[:, 0].tolist()
        assert answer.rank == 1
    with pytest.raises(SolverError, match="is a matrix") as caught:
        _ = att_svm(data).vector
    assert caught.value.value == "Att-SVM"


def test_an_unseparable_v_svm_leaves_no_p():
    data = AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0]] * 2, y=[1, -1], v=[1.0])
    joint = joint_svm(data, [0, 0])
    assert np.abs(joint.v.weights - 0.5).max() <= 2 * EPS
    assert (joint.p, joint.solved, joint.supporting.tolist()) == (None, False, [False, False])


def test_what_an_answer_says_of_itself():
    data = two_tokens([(1, 0), (0, 1)], np.eye(2))
    answer = att_svm(data)
    assert repr(answer).startswith(
        "<Att-SVM of 2 inputs, 2 tokens: solved, norm 1.414213562, 2 of 2"
    )
    opposed = att_svm(two_tokens([(1, 0), (-1, 0)], np.ones((2, 2))))
    assert repr(opposed) == "<Att-SVM of 2 inputs, 2 tokens: unseparable, Farkas residual 0.0e+00>"
    assert opposed.margins.tolist() == [[math.inf] * 2] * 2

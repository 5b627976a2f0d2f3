"""Every programme of the sources: proved from scratch, as cvxpy has it, as rationals have it."""

import cvxpy
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import decide
from attsvm.svm import (
    att_svm,
    finite_part,
    generalised_svm,
    joint_svm,
    p_svm,
    solve_programme,
)
from attsvm.svm.programme import (
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    v_svm_programme,
)
from properties._support.published_data import joint_inputs
from tests.svm.conditions import EPS, check, matrices, right
from tests.svm.problems import KINDS, blocks, problems, programmes, selections


@pytest.mark.parametrize("kind", KINDS)
def test_answers_on_integers_are_proved_and_those_of_rationals(kind):
    """Nothing hangs by a hair on small integers, so that the statuses agree too."""
    found = set()

    @settings(max_examples=80, deadline=None)
    @given(programmes(kinds=(kind,)))
    def agrees(programme):
        answer, exact = solve_programme(programme), decide(programme)
        right(programme, answer, exact)
        assert answer.status == exact.status
        found.add(answer.status)

    agrees()
    assert found == {"solved", "unseparable"}


def random_programmes(seed):
    """One programme of each kind on Gaussian tokens, of sizes that allow both answers."""
    generator = np.random.default_rng(seed)
    n, T, d = (int(generator.integers(low, top + 1)) for low, top in ((1, 4), (2, 4), (2, 4)))
    X, Z = generator.normal(size=(n, T, d)), generator.normal(size=(n, d))
    y = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    data = AttentionData(X, Z, y=y, v=generator.normal(size=d))
    chosen = generator.integers(0, T, size=n)
    selected = generator.random((n, T)) < 0.4
    selected[np.arange(n), chosen] = True
    selected[0, :2] = True
    yield p_svm_programme(data, chosen)
    yield p_svm_programme(data, chosen, generator.normal(size=(3, d)))
    yield v_svm_programme(data, chosen)
    yield joint_programme(data, np.arange(n) % 2 == 0, chosen)
    yield generalised_programme(data, selected)
    yield finite_part_programme(data, selected, generator.uniform(0.1, 1.0, size=(n, T)))


def by_cvxpy(programme):
    """The solution of Clarabel at a gap of 1e-12, or None where it finds none."""
    W = cvxpy.Variable((programme.D.shape[1], programme.Z.shape[1]))
    margins = [D @ W @ z for D, z in zip(programme.D, programme.Z, strict=True)]
    rows = zip(margins, programme.bound, programme.equal, strict=True)
    problem = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(W)), [m == b if e else m >= b for m, b, e in rows]
    )
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert problem.status in ("optimal", "infeasible")
    return W.value


@pytest.mark.parametrize("seed", range(8))
def test_random_answers_are_proved_and_those_of_cvxpy(seed):
    """A gap of 1e-12 leaves 1.5e-6 of W by strong convexity."""
    for programme in random_programmes(seed):
        answer, W = solve_programme(programme), by_cvxpy(programme)
        right(programme, answer, decide(programme))
        assert answer.solved == (W is not None)
        if answer.solved:
            assert np.abs(W - answer.W).max() <= 1.5e-6 * max(1.0, answer.value)


# published instances


def test_joint_training_at_height_one_has_three_supporting_labels():
    """v = (0, 1) touches all three where two would hold it; p = (4/3, 1/3) serves all."""
    joint = joint_svm(joint_inputs(1.0), [1, 1, 1])
    assert joint.solved
    assert joint.supporting.tolist() == [True] * 3
    assert np.abs(joint.v.vector - [0.0, 1.0]).max() <= 4 * EPS
    assert joint.v.support == ((1,), (1,), (1,))
    assert np.abs(joint.p.vector - [4 / 3, 1 / 3]).max() <= 8 * EPS
    assert np.abs(joint.p.weights - [0.0, 7 / 9, 10 / 9]).max() <= 16 * EPS
    assert joint.p.support == ((), (0,), (0,))


def test_joint_training_at_height_three_halves_relaxes_the_third_input():
    """The third label margin is 1.5, so the third token margin need not be 1: p = (1, 0)."""
    joint = joint_svm(joint_inputs(1.5), [1, 1, 1])
    assert joint.supporting.tolist() == [True, True, False]
    assert np.abs(joint.v.vector - [0.0, 1.0]).max() <= 4 * EPS
    assert np.abs(joint.p.vector - [1.0, 0.0]).max() <= 4 * EPS
    assert np.abs(joint.p.reached - [1.0, 1.0, 0.5]).max() <= 4 * EPS
    plain = p_svm(joint_inputs(1.5), [1, 1, 1])
    assert plain.value > joint.p.value + 0.1  # all three at 1 cost more


# relations between the programmes


@settings(max_examples=80, deadline=None)
@given(problems())
def test_singletons_make_the_generalised_svm_an_att_svm(problem):
    data, targets = problem
    selected = np.zeros((data.n, data.T), dtype=bool)
    selected[np.arange(data.n), targets] = True
    try:
        one = att_svm(data, targets)
    except DataError:
        with pytest.raises(DataError, match="single token"):
            generalised_svm(data, selected)
        return
    other = generalised_svm(data, selected)
    assert other.status == one.status
    assert (other.W == one.W).all()
    assert (other.weights == one.weights).all()


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_one_query_for_all_makes_the_att_svm_a_p_svm(problem, draw):
    """W = p z^T / |z|^2: margins D^T W z = D^T p, and the norm is that of p over |z|."""
    data, targets = problem
    z = draw.draw(blocks(data.d))
    assume(z.any() and data.present.sum(axis=1).max() > 1)
    same = AttentionData(data.X, np.tile(z, (data.n, 1)), scores=data.gamma, mask=data.mask)
    matrix, vector = att_svm(same, targets), p_svm(same, targets)
    assert matrix.status == vector.status
    if matrix.solved:
        expected = np.outer(vector.vector, z) / (z @ z)
        condition = vector.value * np.linalg.norm(vector.programme.D, axis=1).max()
        assert np.abs(matrix.W - expected).max() <= 1e3 * EPS * condition**2 * matrix.value


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_keys_are_tokens_of_their_own(problem, draw):
    """The p-SVM through W is the p-SVM of the mapped tokens; on integers to the last bit."""
    data, targets = problem
    assume(data.present.sum(axis=1).max() > 1)
    W = draw.draw(blocks(2, data.d))
    mapped = AttentionData(data.X @ W.T, np.ones((data.n, 2)), scores=data.gamma, mask=data.mask)
    through, own = p_svm(data, targets, W), p_svm(mapped, targets)
    assert through.status == own.status
    assert (through.W == own.W).all()


@settings(max_examples=80, deadline=None)
@given(problems(), st.data())
def test_support_of_joint_training_is_what_is_exactly_tight(problem, draw):
    data, targets = problem
    assume(data.present.sum(axis=1).max() > 1)
    W = draw.draw(st.none() | blocks(2, data.d))
    joint, exact = joint_svm(data, targets, W), decide(v_svm_programme(data, targets))
    right(joint.v.programme, joint.v, exact)
    if exact.status == "unseparable":
        assert joint.p is None
        assert not joint.solved
        assert not joint.supporting.any()
        return
    assert np.flatnonzero(joint.supporting).tolist() == exact.tight
    programme = joint_programme(data, joint.supporting, targets, W)
    assert joint.p.programme.bound.tolist() == programme.bound.tolist()
    assert joint.p.programme.D.tolist() == programme.D.tolist()
    right(joint.p.programme, joint.p, decide(programme))
    assert joint.solved == joint.p.solved


# what the generalised programmes are for


@settings(max_examples=80, deadline=None)
@given(problems(), st.data())
def test_selected_logits_are_equal_and_lead_the_rest_by_one(problem, draw):
    """Between all pairs of tokens, though only those with the reference are constrained."""
    data, targets = problem
    assume(data.present.sum(axis=1).max() > 1)
    selected, _ = draw.draw(selections(data, targets))
    answer = generalised_svm(data, selected)
    assume(answer.solved)
    rounding = 64 * EPS * (1.0 + np.abs(data.X).max() * answer.value * np.abs(data.Z).max())
    for i in range(data.n):
        logits = data.X[i] @ answer.W @ data.Z[i]
        inside, rest = logits[selected[i]], logits[data.present[i] & ~selected[i]]
        assert np.ptp(inside) <= 2e-9 + rounding
        assert rest.size == 0 or rest.max() <= inside.min() - 1.0 + 2e-9 + rounding


@settings(max_examples=80, deadline=None)
@given(problems(), st.data())
def test_softmax_of_the_finite_part_is_the_probabilities(problem, draw):
    """Within each selection; log ratios hold to 1e-9 of the largest, so probabilities do."""
    data, targets = problem
    selected, p = draw.draw(selections(data, targets))
    assume((selected.sum(axis=1) > 1).any())
    answer = finite_part(data, selected, p)
    assume(answer.solved)
    logits = np.einsum("ntd,de,ne->nt", data.X, answer.W, data.Z)
    inside = np.where(selected, p, 0.0)
    expected = inside / inside.sum(axis=1, keepdims=True)
    rounding = 64 * EPS * (1.0 + np.abs(data.X).max() * answer.value * np.abs(data.Z).max())
    assert np.abs(softmax(logits, selected) - expected).max() <= 2e-9 + rounding


@pytest.mark.parametrize("seed", range(5))
def test_a_finite_part_is_the_least_of_all_matrices_with_its_probabilities(seed):
    """Probabilities of a random W0: the answer is W0 without what no constraint sees."""
    generator = np.random.default_rng(seed)
    X, Z, W = generator.normal(size=(4, 4, 4)), generator.normal(size=(4, 4)), np.eye(4)
    logits = np.einsum("ntd,de,ne->nt", X, W, Z)
    everything = np.ones((4, 4), dtype=bool)
    data = AttentionData(X, Z, scores=np.zeros((4, 4)))
    answer = finite_part(data, everything, softmax(logits, everything))
    check(answer.programme, answer)
    A = matrices(answer.programme)
    projected = np.linalg.lstsq(A, A @ W.ravel(), rcond=None)[0]
    condition = np.linalg.cond(A)
    assert np.abs(answer.W.ravel() - projected).max() <= 1e3 * EPS * condition**2
    assert answer.value <= np.linalg.norm(W)

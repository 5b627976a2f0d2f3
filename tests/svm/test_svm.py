"""The Att-SVM against two solvers that share nothing with it, and against a lying one."""

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, TiedTokensError
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm, att_svm_programme, frobenius, solve_programme
from attsvm.svm.programme import generalised_programme
from attsvm.svm.reference import frobenius_reference
from attsvm.tokens import optimal_tokens
from properties._support.published_data import gaussian_protocol, joint_inputs, one_input

EPS = np.finfo(float).eps


@st.composite
def small_integers(draw, top=3):
    """Integer tokens and queries with one optimal token per input; often unseparable."""
    n, T, d = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 3))

    def block(*shape):
        size = int(np.prod(shape))
        entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
        return np.array(entries, dtype=float).reshape(shape)

    scores = np.zeros((n, T))
    scores[np.arange(n), [draw(st.integers(0, T - 1)) for _ in range(n)]] = 1.0
    return AttentionData(block(n, T, d), block(n, d), scores=scores)


def constraints(programme):
    """The constraint matrices A_j as rows, one at a time."""
    return np.array([np.outer(D, z).ravel() for D, z in zip(programme.D, programme.Z, strict=True)])


def separable(programme):
    """Whether some W has margins at least 1, by HiGHS; and how it words its answer."""
    A = constraints(programme)
    reply = scipy.optimize.linprog(
        np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None), method="highs"
    )
    assert reply.status in (0, 2)
    return reply.status == 0


def check(programme, answer):
    """Every condition that makes the answer right, from the constraint matrices themselves."""
    A = constraints(programme)
    at = programme.input, programme.token
    duals, sizes = answer.duals[at], np.linalg.norm(A, axis=1)
    others = np.ones(programme.shape, dtype=bool)
    others[at] = False
    assert (duals >= 0).all()
    assert (answer.duals[others] == 0).all()
    assert (answer.margins[others] == np.inf).all()
    assert answer.targets.tolist() == programme.targets.tolist()
    if answer.status == "unseparable":
        assert abs(duals.sum() - 1.0) <= len(duals) * EPS
        assert np.linalg.norm(duals @ A) <= 1e-9 * (duals @ sizes)
        assert answer.value == np.inf
        assert not answer.W.any()
        assert not answer.solved
        return
    assert answer.solved
    W = answer.W.ravel()
    rounding = 8 * len(A) * EPS * (duals @ sizes)  # of a sum of the duals times the A_j
    assert np.abs(W - duals @ A).max() <= rounding
    margins = A @ W
    assert (margins >= 1.0 - 1e-9 - rounding * sizes).all()
    assert np.abs(answer.margins[at] - margins).max() <= rounding * sizes.max()
    assert abs(answer.value - np.linalg.norm(W)) <= 4 * EPS * answer.value
    # slackness and gap say the same: sum_j duals_j (margin_j - 1) = ||W||^2 - sum_j duals_j
    half = 0.5 * answer.value**2
    allowance = 1e-9 * half + rounding * answer.value
    assert abs(duals @ (margins - 1.0)) <= 2 * allowance
    assert (duals * (margins - 1.0) <= 2 * allowance).all()
    assert abs(answer.gap * half - abs(2 * half - duals.sum())) <= 8 * allowance
    assert max(answer.primal_residual, answer.gap) <= 1e-9
    for i, tight in enumerate(answer.support):
        assert all(abs(answer.margins[i, t] - 1.0) <= 1e-7 for t in tight)
        assert all(t in tight for t in range(programme.shape[1]) if answer.duals[i, t] > 1e-6)


# separable, with an active block whose first eigenvector has entries of sum exactly zero
BALANCED = AttentionData.of(
    [[[0, 1], [1, -1], [0, -2]], [[0, 0], [0, -3], [0, -3]]],
    [[-3, 3], [-3, 1]],
    scores=[[1, 0, 0], [1, 0, 0]],
)


@settings(max_examples=200, deadline=None)
@given(small_integers())
@example(BALANCED)
def test_answers_on_small_integers_are_proved_and_agree_with_highs(data):
    programme = att_svm_programme(data)
    answer = att_svm(data)
    check(programme, answer)
    assert answer.solved == separable(programme)


@settings(max_examples=100, deadline=None)
@given(attention_data(n=(1, 4), T=(2, 5), d=(1, 4)))
def test_answers_on_dyadic_data_are_proved(data):
    assume(optimal_tokens(data).unique)
    check(att_svm_programme(data), att_svm(data))


def random_problem(seed):
    """The protocol of a random size; in dimension one its unit tokens would be tied."""
    generator = np.random.default_rng(seed)
    n, T, d = (int(generator.integers(1, top + 1)) for top in (6, 6, 5))
    return gaussian_protocol(generator, n=n, T=T + 1, d=d + 1)


@pytest.mark.parametrize("seed", range(20))
def test_random_answers_are_those_of_cvxpy_and_highs(seed):
    """Clarabel stops at a gap of 1e-12: strong convexity makes that 1.5e-6 in W at most."""
    data = random_problem(seed)
    programme, answer = att_svm_programme(data), att_svm(data)
    check(programme, answer)
    assert answer.solved == separable(programme)
    reference = frobenius_reference(programme)
    assert (reference.W is not None) == answer.solved
    if answer.solved:
        assert np.abs(reference.W - answer.W).max() <= 1.5e-6 * max(1.0, answer.value)
        assert abs(reference.value - answer.value) <= 1.5e-6 * answer.value
        assert reference.status == "optimal"


def test_both_answers_occur_among_those_seeds():
    kinds = set()
    for seed in range(20):
        kinds.add(att_svm(random_problem(seed)).status)
    assert kinds == {"solved", "unseparable"}


def test_the_programme_has_a_row_for_every_rival():
    data = one_input()
    programme = att_svm_programme(data)
    assert programme.token.tolist() == [1, 2]
    assert programme.D.tolist() == [[-1.1, 1.0], [-0.1, 1.0]]
    assert programme.Z.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    A = constraints(programme)
    assert np.abs(programme.gram - A @ A.T).max() <= 4 * EPS
    W = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.abs(programme.margins(W) - A @ W.ravel()).max() <= 8 * EPS
    weights = np.array([2.0, 3.0])
    assert np.abs(programme.combine(weights).ravel() - weights @ A).max() <= 8 * EPS


def test_the_published_instance_has_its_solution():
    """Tight at the nearest rival: W = D z^T / |D|^2 for D = (-1.1, 1) alone."""
    answer = att_svm(AttentionData.of([[[-0.1, 1.0], [1.0, 0.0]]], [[1.0, 0.0]], scores=[[1, 0]]))
    expected = np.array([[-1.1, 0.0], [1.0, 0.0]]) / 2.21
    assert np.abs(answer.W - expected).max() <= 4 * EPS
    assert answer.support == ((1,),)
    assert abs(answer.value - 1.0 / math.sqrt(2.21)) <= 4 * EPS


@settings(max_examples=60, deadline=None)
@given(small_integers(), st.data())
def test_other_targets_than_the_optimal_ones_are_separated_too(data, draw):
    targets = [draw.draw(st.integers(0, data.T - 1)) for _ in range(data.n)]
    programme = att_svm_programme(data, targets)
    answer = att_svm(data, targets)
    check(programme, answer)
    assert answer.targets.tolist() == targets
    assert answer.solved == separable(programme)


# degenerate data


@settings(max_examples=60, deadline=None)
@given(small_integers())
def test_duplicated_inputs_and_tokens_change_nothing(data):
    """Doubling constraints leaves the solution; the duals may be shared in any way."""
    once = att_svm(data)
    rival = [int(row.argmin()) for row in data.scores]
    twice = AttentionData(
        np.repeat(np.concatenate([data.X, data.X[np.arange(data.n), rival][:, None]], 1), 2, 0),
        np.repeat(data.Z, 2, axis=0),
        scores=np.repeat(np.pad(data.scores, ((0, 0), (0, 1))), 2, axis=0),
    )
    again = att_svm(twice)
    check(att_svm_programme(twice), again)
    assert again.status == once.status
    if once.solved:
        # both gaps are at most 1e-9, so W is off by at most sqrt(2e-9) of its norm, and by
        # rounding times the condition where the active set is right, which it is
        condition = once.value * np.linalg.norm(constraints(att_svm_programme(data)), axis=1).max()
        assert np.abs(again.W - once.W).max() <= 1e3 * EPS * condition**2 * max(once.value, 1.0)


def test_a_zero_query_and_a_repeated_target_are_unseparable():
    rows = [[1.0, 0.0], [0.0, 1.0]]
    zero = AttentionData.of([rows, rows], [[1.0, 1.0], [0.0, 0.0]], scores=[[1, 0], [1, 0]])
    same = AttentionData.of([rows, rows[:1] * 2], np.ones((2, 2)), scores=[[1, 0], [1, 0]])
    both = AttentionData.of([rows[:1] * 2], [[1.0, 1.0]], scores=[[1, 0]])
    for data in (zero, same, both):
        answer = att_svm(data)
        check(att_svm_programme(data), answer)
        assert answer.status == "unseparable"
        assert answer.duals[-1, 1] == 1.0
        assert answer.dual_residual == 0.0


def test_single_tokens_leave_nothing_to_separate():
    with pytest.raises(DataError, match="single token") as caught:
        att_svm(AttentionData.of(np.ones((3, 1, 2)), np.ones((3, 2)), scores=np.ones((3, 1))))
    assert caught.value.value == "T = 1"
    alone = [[True, False], [True, False]]
    with pytest.raises(DataError, match="single token"):
        att_svm(
            AttentionData.of(
                np.ones((2, 2, 1)), np.ones((2, 1)), scores=np.ones((2, 2)), mask=alone
            )
        )


def test_tied_tokens_need_targets():
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    with pytest.raises(TiedTokensError):
        att_svm(data)
    assert att_svm(data, [0]).W.tolist() == [[1.0]]
    assert att_svm(data, [1]).W.tolist() == [[-1.0]]
    with pytest.raises(DataError, match="not a token index"):
        att_svm(data, [2])


@pytest.mark.parametrize("entries", [(1e200, -1e200), (1.5e308, -1.5e308), (1e160, 0.0)])
def test_entries_whose_products_overflow_are_refused(entries):
    data = AttentionData.of([[[x] for x in entries]], [[1.0]], scores=[[1.0, 0.0]])
    with pytest.raises(DataError, match="overflow float64") as caught:
        att_svm(data)
    assert caught.value.value == max(entries)
    assert "Rescale" in caught.value.remedy


@pytest.mark.parametrize("entry", [1e-150, 1e-170, 5e-324])
def test_entries_whose_products_underflow_are_refused(entry):
    data = AttentionData.of([[[entry], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    with pytest.raises(DataError, match="underflow float64") as caught:
        att_svm(data)
    assert caught.value.value == entry
    assert "Rescale" in caught.value.remedy


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("seed", range(6))
def test_scaling_tokens_scales_the_solution_inversely(scale, seed):
    """To the rounding of the scaled data, times the condition of the active constraints."""
    data = gaussian_protocol(np.random.default_rng(seed), n=3, T=4, d=6)
    answer = att_svm(data)
    for tokens, queries in ((scale, 1.0), (1.0, scale), (scale, scale)):
        scaled = AttentionData(data.X * tokens, data.Z * queries, scores=data.gamma)
        other = att_svm(scaled)
        check(att_svm_programme(scaled), other)
        assert other.status == answer.status == "solved"
        assert np.abs(other.W * tokens * queries - answer.W).max() <= 1e-12 * answer.value


@pytest.mark.parametrize("ratio", [1e-2, 1e-5, 1e-9, 1e-12, 1e-30, 1e-100])
def test_constraints_of_very_different_size_are_kept_apart(ratio):
    """A small constraint alone is separable, however small it is beside the others."""
    data = AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]],
        [[1.0, 0.0], [0.0, ratio]],
        scores=[[1, 0], [1, 0]],
    )
    answer = att_svm(data)
    check(att_svm_programme(data), answer)
    assert np.abs(answer.W - np.diag([1.0, 1.0 / ratio])).max() <= 4 * EPS / ratio


@settings(max_examples=60, deadline=None)
@given(small_integers(), st.data())
def test_masked_tokens_make_no_constraints(data, draw):
    """The same as leaving them out, even where they are large and score best."""
    more = draw.draw(st.integers(1, 2))
    mask = np.repeat([[True] * data.T + [False] * more], data.n, axis=0)
    padded = AttentionData(
        np.concatenate([data.X, np.full((data.n, more, data.d), 1e300)], axis=1),
        data.Z,
        scores=np.concatenate([data.scores, np.full((data.n, more), 9.0)], axis=1),
        mask=mask,
    )
    with_mask, without = att_svm(padded), att_svm(data)
    assert with_mask.status == without.status
    assert np.array_equal(with_mask.W, without.W)
    assert np.array_equal(with_mask.duals[:, : data.T], without.duals)
    assert (with_mask.duals[:, data.T :] == 0).all()
    assert (with_mask.margins[:, data.T :] == np.inf).all()


# a solver that lies


def lies():
    """Weights that a broken method may return, with its own word for what they are."""
    generator = np.random.default_rng(7)
    shapes = {
        "zeros": lambda w: np.zeros_like(w),
        "ones": lambda w: np.ones_like(w),
        "random": lambda w: generator.random(w.shape),
        "nan": lambda w: np.full_like(w, np.nan),
        "one nan": lambda w: np.where(np.arange(w.size) == 0, np.nan, w),
        "infinite": lambda w: np.full_like(w, np.inf),
        "negative": lambda w: -w,
        "one negative": lambda w: np.where(np.arange(w.size) == w.argmax(), -w, w),
        "tiny negative": lambda w: w - 1e-12,
        "one entry lost": lambda w: np.where(np.arange(w.size) == w.argmax(), 0.0, w),
        "scaled": lambda w: w * 1.001,
        "shuffled": lambda w: generator.permutation(w),
        "perturbed": lambda w: w * (1 + 1e-6 * generator.normal(size=w.shape)),
        "huge": lambda w: w * 1e150,
    }
    words = {
        "its own word": lambda solved: solved,
        "the opposite": lambda solved: not solved,
        "always solved": lambda solved: True,
        "always unseparable": lambda solved: False,
    }
    return [
        pytest.param(weights, word, id=f"{name}-{other}")
        for name, weights in shapes.items()
        for other, word in words.items()
    ]


def plant(monkeypatch, lie):
    """Let every method return what `lie` makes of its proposal (weights, solved)."""
    for name, method in frobenius._METHODS.items():

        def lying(programme, method=method):
            proposal = method(programme)
            return None if proposal is None else lie(*proposal)

        monkeypatch.setitem(frobenius._METHODS, name, lying)


HONEST = [
    one_input(),
    joint_inputs(),
    gaussian_protocol(np.random.default_rng(1), n=3, T=4, d=6),
    gaussian_protocol(np.random.default_rng(2), n=5, T=5, d=2),
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1, 0], [1, 0]]),
]


def test_the_data_for_the_lies_have_both_answers():
    kinds = {att_svm(data, _targets(data)).status for data in HONEST}
    assert kinds == {"solved", "unseparable"}


def _targets(data):
    return optimal_tokens(data).index


def _answer_or_none(programme):
    try:
        return solve_programme(programme)
    except SolverError:
        return None


@pytest.mark.parametrize(("weights", "word"), lies())
def test_a_lying_solver_is_never_believed(monkeypatch, weights, word):
    """Either the answer is right, by conditions checked here, or none is given."""
    programmes = [att_svm_programme(data, _targets(data)) for data in HONEST]
    truths = [solve_programme(programme) for programme in programmes]
    plant(monkeypatch, lambda w, solved: (weights(w), word(solved)))
    for programme, truth in zip(programmes, truths, strict=True):
        answer = _answer_or_none(programme)
        if answer is not None:
            check(programme, answer)
            assert answer.status == truth.status
            # both have gaps below 1e-9: within sqrt(2e-9) of the unique minimiser
            assert np.abs(answer.W - truth.W).max() <= 5e-5 * max(np.abs(truth.W).max(), 1.0)


def test_weights_of_the_wrong_sign_certify_nothing(monkeypatch):
    """A_2 = 2 A_1, so 2 A_1 - A_2 = 0 with weights of sum one: all but their sign is right."""
    data = AttentionData.of([[[0.0], [-1.0], [-2.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0]])
    assert att_svm(data).W.tolist() == [[1.0]]
    plant(monkeypatch, lambda *_: (np.array([2.0, -1.0]), False))
    with pytest.raises(SolverError, match="no method reached a proof"):
        att_svm(data)


def test_a_certificate_that_gains_nothing_certifies_nothing(monkeypatch):
    """A_1 = -A_2 cancel, but an equality at 0 and one at 0 have W = 0 for a solution."""
    X = [[[1.0], [0.0]], [[0.0], [1.0]]]
    data = AttentionData.of(X, np.ones((2, 1)), scores=[[1, 0], [1, 0]])
    programme = generalised_programme(data, np.ones((2, 2), dtype=bool))
    assert solve_programme(programme).value == 0.0
    plant(monkeypatch, lambda *_: (np.array([1.0, 1.0]), False))
    with pytest.raises(SolverError, match="no method reached a proof"):
        solve_programme(programme)


def test_methods_that_give_up_are_named(monkeypatch):
    for name in frobenius._METHODS:
        monkeypatch.setitem(frobenius._METHODS, name, lambda programme: None)
    with pytest.raises(SolverError, match="tried none"):
        att_svm(one_input())


@pytest.mark.parametrize("method", ["pivots from nothing", "working set", "pivots", "rationals"])
def test_each_method_alone_solves_or_refuses_the_honest_problems(monkeypatch, method):
    chosen = frobenius._METHODS[method]
    truths = [att_svm(data, _targets(data)) for data in HONEST]
    for name in frobenius._METHODS:
        if name != method:
            monkeypatch.setitem(frobenius._METHODS, name, lambda programme: None)
    assert frobenius._METHODS[method] is chosen
    for truth in truths:
        answer = solve_programme(truth.programme)
        check(truth.programme, answer)
        assert answer.status == truth.status

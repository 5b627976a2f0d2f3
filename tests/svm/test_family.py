"""Every programme of the sources: proved from scratch, as rationals have it; and lies."""

import contextlib
import inspect
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.exact import decide
from attsvm.exact.svm import nearest
from attsvm.svm import (
    att_svm,
    att_svm_programme,
    certify,
    finite_part,
    frobenius,
    generalised_svm,
    joint_svm,
    methods,
    p_svm,
    solve_programme,
    v_svm,
)
from attsvm.svm.farkas import coprime_integers
from attsvm.svm.programme import (
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    subset,
    v_svm_programme,
)
from properties._support.published_data import gaussian_protocol, one_input
from tests.svm.conditions import EPS, check, check_exactly, exactly, right
from tests.svm.problems import (
    KINDS,
    SPOILT,
    blocks,
    problems,
    programmes,
    selections,
    spoilt,
    two_tokens,
)


@pytest.mark.parametrize("programme", [p_svm, v_svm])
@pytest.mark.parametrize("draw", range(3))
def test_measurements_of_very_different_sizes_are_answered(programme, draw):
    """250 points with 20 correlated features from 1e-3 to 1e3, like those of medical data."""
    rng = np.random.default_rng(draw)
    latent, noise = rng.normal(size=(250, 4)), rng.normal(size=(250, 20))
    points = np.exp(0.3 * latent @ rng.normal(size=(4, 20)) + 0.1 * noise)
    points *= 10.0 ** np.linspace(-3, 3, 20)
    scores = points @ (rng.normal(size=20) / points.std(axis=0))
    labels = np.sign(scores - np.median(scores))
    points = np.round(np.hstack([points, np.ones((250, 1))]), 6)
    tokens = np.stack([labels[:, None] * points, 0 * points], axis=1)
    if programme is v_svm:
        data = AttentionData(points[:, None], np.ones((250, 21)), labels, np.ones(21))
    else:
        scored = np.tile([1.0, 0.0], (250, 1))
        data = AttentionData(tokens, np.ones((250, 21)), scores=scored)
    answer = programme(data)
    assert answer.status in ("solved", "solved in rationals")
    low, high = answer.bracket
    assert 0 < high - low <= 1e-9 * low


@pytest.mark.parametrize("kind", KINDS)
def test_answers_on_integers_are_proved_and_those_of_rationals(kind):
    """Nothing hangs by a hair on small integers, so that the statuses agree too."""
    found = set()

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
    yield att_svm_programme(data, chosen)
    yield p_svm_programme(data, chosen, generator.normal(size=(3, d)))
    yield v_svm_programme(data, chosen)
    yield joint_programme(data, np.arange(n) % 2 == 0, chosen)
    yield generalised_programme(data, selected)
    yield finite_part_programme(data, selected, generator.uniform(0.1, 1.0, size=(n, T)))


@pytest.mark.parametrize("seed", range(5))
def test_random_answers_are_proved_and_those_of_rationals(seed):
    for programme in [*random_programmes(seed), *([att_svm_programme(BALANCED)] * (not seed))]:
        right(programme, solve_programme(programme), decide(programme))


@given(problems(), st.data())
def test_support_of_joint_training_is_what_is_exactly_tight(problem, draw):
    data, targets = problem
    assume(data.present.sum(axis=1).max() > 1)
    W = draw.draw(st.none() | blocks(2, data.d))
    joint, exact = joint_svm(data, targets, W), decide(v_svm_programme(data, targets))
    right(joint.v.programme, joint.v, exact)
    assume(exact.status == "solved")
    assert np.flatnonzero(joint.supporting).tolist() == exact.tight
    programme = joint_programme(data, joint.supporting, targets, W)
    assert joint.p.programme.bound.tolist() == programme.bound.tolist()
    assert joint.p.programme.D.tolist() == programme.D.tolist()
    right(joint.p.programme, joint.p, decide(programme))
    assert joint.solved == joint.p.solved


OPPOSED = AttentionData.of([[[1.0], [0.0]]] * 2, np.ones((2, 1)), y=[1.0, -1.0], v=[1.0])
"""One token with opposite labels."""


def test_without_a_solution_for_v_joint_training_has_none_for_p():
    joint = joint_svm(OPPOSED, [0, 0])
    assert np.abs(joint.v.weights - 0.5).max() <= 2 * EPS
    assert joint.p is None
    assert not joint.solved
    assert not joint.supporting.any()


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


@pytest.mark.parametrize(
    "solved",
    [
        generalised_svm,
        lambda data, every: finite_part(data, every, np.ones((2, 2))),
        lambda data, every: solve_programme(joint_programme(data, ~every[0], [0, 0])),
    ],
)
def test_programmes_that_ask_for_nothing_are_solved_by_zero(solved):
    data = AttentionData.of(
        [[[1, 2], [3, 4]], [[0, 0], [0, 0]]], [[1, 1], [0, 0]], y=[1, 1], v=[1, 0]
    )
    answer = solved(data, np.ones((2, 2), dtype=bool))
    check(answer.programme, answer)
    right(answer.programme, answer, decide(answer.programme))
    assert answer.solved
    assert answer.value == answer.gap == answer.primal_residual == 0.0
    assert not answer.W.any()
    assert answer.rank == 0
    assert answer.is_tight.all()
    inequalities = answer.programme.table(~answer.programme.equal, False).sum(axis=1)
    assert [len(tokens) for tokens in answer.degenerate] == inequalities.tolist()


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


def asked(rows, bounds, *, equal):
    """A programme in one dimension with these rows and bounds."""
    data = two_tokens([(a,) for a in rows], np.ones((len(rows), 1)))
    bound = np.array(bounds, dtype=float)
    return replace(att_svm_programme(data), bound=bound, equal=np.full(len(rows), equal))


def propose(monkeypatch, weights, solved):
    """Let every method return the same."""
    for name in methods.METHODS:
        monkeypatch.setitem(methods.METHODS, name, lambda *_: (np.array(weights), solved))


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


def test_vectors_are_columns_and_matrices_are_no_vectors():
    data = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 2.0]], y=[1], v=[1.0, 0.0])
    for answer in (p_svm(data), v_svm(data), p_svm(data, None, np.eye(3, 2))):
        assert answer.W.shape == (answer.programme.D.shape[1], 1)
        assert answer.vector.tolist() == answer.W[:, 0].tolist()
        assert answer.rank == 1
    with pytest.raises(SolverError, match="is a matrix") as caught:
        _ = att_svm(data).vector
    assert caught.value.value == "Att-SVM"


def test_what_an_answer_says_of_itself():
    data = two_tokens([(1, 0), (0, 1)], np.eye(2))
    answer = att_svm(data)
    assert repr(answer).startswith(
        "<Att-SVM of 2 inputs, 2 tokens: solved, norm 1.414213562, 2 of 2"
    )
    opposed = att_svm(two_tokens([(1, 0), (-1, 0)], np.ones((2, 2))))
    assert repr(opposed) == "<Att-SVM of 2 inputs, 2 tokens: unseparable, Farkas residual 0.0e+00>"
    assert opposed.margins.tolist() == [[math.inf] * 2] * 2


# separable, with an active block whose first eigenvector has entries of sum exactly zero
BALANCED = AttentionData.of(
    [[[0, 1], [1, -1], [0, -2]], [[0, 0], [0, -3], [0, -3]]],
    [[-3, 3], [-3, 1]],
    scores=[[1, 0, 0], [1, 0, 0]],
)


@pytest.mark.parametrize("ratio", [1e-2, 1e-5, 1e-9, 1e-12, 1e-30, 1e-100])
def test_constraints_of_very_different_size_are_kept_apart(ratio):
    """A small constraint alone is separable, however small it is beside the others."""
    data = AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]],
        [[1.0, 0.0], [0.0, ratio]],
        scores=[[1, 0], [1, 0]],
    )
    answer = att_svm(data)
    check(answer.programme, answer)
    assert np.abs(answer.W - np.diag([1.0, 1.0 / ratio])).max() <= 4 * EPS / ratio


HONEST = [
    one_input(),
    BALANCED,
    gaussian_protocol(np.random.default_rng(1), n=3, T=4, d=6),
    gaussian_protocol(np.random.default_rng(2), n=5, T=5, d=2),
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1, 0], [1, 0]]),
]


@pytest.fixture(scope="module")
def decided():
    """Programmes, and what is exactly true of each."""
    truths = [att_svm(data) for data in HONEST]
    assert {truth.status for truth in truths} == {"solved", "unseparable"}
    return [(truth.programme, decide(truth.programme)) for truth in truths]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", SPOILT)
def test_a_lying_solver_is_never_believed(monkeypatch, decided, kind, turned):
    """Either the answer is right, by conditions checked here, or none is given."""
    for name, method in methods.METHODS.items():

        def lying(programme, deadline, method=method):
            proposal = method(programme, deadline)
            return proposal and (spoilt(kind, proposal[0]), proposal[1] != turned)

        monkeypatch.setitem(methods.METHODS, name, lying)
    for programme, exact in decided:
        with contextlib.suppress(SolverError):
            right(programme, solve_programme(programme), exact)


def test_methods_that_give_up_are_named(monkeypatch):
    for name in methods.METHODS:
        monkeypatch.setitem(methods.METHODS, name, lambda *_: None)
    with pytest.raises(SolverError, match="tried none"):
        att_svm(one_input())


def solution(exact):
    return [[exactly(x) for x in row] for row in exact.W]


@given(st.lists(st.fractions(0, 9, max_denominator=60), min_size=1, max_size=5), st.integers(1, 9))
def test_coprime_weights_keep_their_proportions(weights, factor):
    weights = [*weights, Fraction(factor)]
    found = [
        exactly(w) for w in coprime_integers([fmpq(w.numerator, w.denominator) for w in weights])
    ]
    assert [w * found[-1] for w in weights] == [factor * w for w in found]
    assert all(w.denominator == 1 for w in found)
    assert math.gcd(*(w.numerator for w in found)) == 1


@given(programmes())
def test_what_an_exact_answer_says_of_itself(programme):
    exact = decide(programme)
    W, duals = solution(exact), [exactly(w) for w in exact.duals]
    margins, bound = [exactly(m) for m in exact.margins], programme.bound.tolist()
    assert sympy.Matrix(W).rank() == exact.rank
    assume(exact.status == "solved")
    assert exactly(exact.square) == sum(x * x for row in W for x in row)
    tight = [j for j, m in enumerate(margins) if m == Fraction(bound[j])]
    assert exact.tight == tight
    assert exact.all_tight == (len(tight) == len(bound))
    assert exact.degenerate == [j for j in tight if duals[j] == 0 and not programme.equal[j]]


def test_an_exact_answer_without_a_solution_is_zero_and_tight_nowhere():
    exact = decide(v_svm_programme(OPPOSED, [0, 0]))
    assert exact.status == "unseparable"
    assert (exactly(exact.square), exact.rank, exact.all_tight) == (0, 0, False)


@given(programmes(), st.sampled_from(list(SPOILT)))
def test_no_guess_changes_the_answer(programme, kind):
    """The solution is unique; a certificate need not be, but every one is checked."""
    exact = decide(programme)
    check_exactly(programme, exact)
    start = np.array([nearest(w) for w in exact.duals])
    other = decide(programme, spoilt(kind, start))
    check_exactly(programme, other)
    assert other.status == exact.status
    assert solution(other) == solution(exact)


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
        with pytest.raises(SolverError, match="`solved`, but floats gave `unseparable`") as caught:
            certify(claimed)
        assert "decide" in caught.value.remedy
    opposed = att_svm(two_tokens([(1, 0), (-1, 0)], np.ones((2, 2))))
    with pytest.raises(SolverError, match="`unseparable`, but floats gave `solved`"):
        certify(replace(opposed, status="solved"))

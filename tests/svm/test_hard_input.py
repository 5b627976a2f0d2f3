"""Input at the edge of float64: a proved answer, or an error that is due and names what failed."""

import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import decide
from attsvm.svm import att_svm_programme, finite_part, generalised_svm, solve_programme
from attsvm.svm.programme import LARGEST, SMALLEST
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import EPS, GAP, check, exactly, length, matrices, right
from tests.svm.problems import blocks, problems, two_tokens

FEW = 40
"""Up to so many constraints rationals say what is right."""


def due(programme, exact):
    """Whether floats cannot show the exact solution to 1e-9.

    Each margin is a sum of w_k <A_j, A_k>, off by EPS sum_k w_k ||A_j|| ||A_k|| a term; or the
    squares of W leave float64.
    """
    if exact.status != "solved":
        return False
    sizes = length(matrices(programme))
    weighted = [abs(exactly(w)) for w in exact.duals]
    total = float(sum(w * exactly(float(x)) for w, x in zip(weighted, sizes, strict=True)))
    terms = 4 * (len(sizes) + programme.D.shape[1] * programme.Z.shape[1])
    square = exactly(exact.square)
    return terms * EPS * total * sizes.max() > GAP or not SMALLEST**2 < square < LARGEST**2


def attempt(function, programme):
    """What a function returns, or the error that it raises on purpose."""
    try:
        return function(programme)
    except (DataError, SolverError) as error:
        return error


def settle(programme):
    """The answer, held against conditions and rationals; or None where a refusal was due."""
    exact = decide(programme) if len(programme.bound) <= FEW else None
    answer = attempt(solve_programme, programme)
    if isinstance(answer, SolverError):
        assert "no method reached a proof to 1e-9 (tried " in answer.cause
        assert "tried none" not in answer.cause
        assert "attsvm.exact.decide" in answer.remedy
        assert exact is not None
        assert due(programme, exact)
        return None
    if exact is None:
        check(programme, answer)
    else:
        right(programme, answer, exact)
    return answer


# entries of every size


@pytest.mark.parametrize(("low", "high"), [(-4, 4), (-8, 8), (-100, 8), (-100, 100), (-140, 140)])
@pytest.mark.parametrize("seed", range(6))
def test_entries_of_mixed_size_are_settled(low, high, seed):
    """Every entry has a magnitude of its own."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(3, 3, 3)) * 10 ** generator.uniform(low, high, size=(3, 3, 3))
    Z = generator.normal(size=(3, 3)) * 10 ** generator.uniform(low, high, size=(3, 3))
    data = AttentionData(X, Z, scores=np.eye(3))
    programme = attempt(att_svm_programme, data)
    if isinstance(programme, DataError):
        assert "flow float64" in programme.cause
        assert (low, high) == (-140, 140)
        return
    settle(programme)


@settings(max_examples=80, deadline=None)
@given(problems(), st.data())
def test_inputs_of_very_different_scale_are_settled(problem, draw):
    """Powers of two change no bit of the integers, only how margins compare."""
    data, targets = problem
    assume(data.present.sum() > data.n)
    powers = 2.0 ** (20 * draw.draw(blocks(2, data.n)))
    scaled = AttentionData(
        data.X * powers[0][:, None, None],
        data.Z * powers[1][:, None],
        scores=data.gamma,
        mask=data.mask,
    )
    answer = settle(att_svm_programme(scaled, targets))
    if answer is not None:
        plain = decide(att_svm_programme(data, targets))
        assert answer.status == plain.status


@pytest.mark.parametrize("size", [1e-120, 1e-70, 1e-8, 1e8, 1e70, 1e120])
def test_a_common_scale_is_no_difficulty_within_the_range_of_squares(size):
    """W scales inversely; where its square leaves float64, that is an error."""
    data = gaussian_protocol(np.random.default_rng(0), n=3, T=4, d=4)
    base = solve_programme(att_svm_programme(data))
    answer = settle(att_svm_programme(AttentionData(data.X * size, data.Z, scores=data.gamma)))
    assert answer.solved
    assert np.abs(answer.W * size - base.W).max() <= 1e-12 * base.value


# nearly dependent rows


@pytest.mark.parametrize("exponent", range(1, 13))
def test_nearly_parallel_constraints_are_solved(exponent):
    """Whichever is the tighter one; the other adds nothing, or next to nothing."""
    angle = 10.0**-exponent
    rows = [(1.0, 0.0), (np.cos(angle), np.sin(angle)), (0.0, 1.0)]
    answer = settle(att_svm_programme(two_tokens(rows, np.tile([0.7, 0.3], (3, 1)))))
    assert answer.solved


@pytest.mark.parametrize("k", range(1, 61))
def test_nearly_opposed_constraints_are_never_called_solved_wrongly(k):
    """(1, 0) and (-1, 2^-k) have a solution of norm 2^{k+1}; to 2^-25 it must be found."""
    answer = settle(att_svm_programme(two_tokens([(1, 0), (-1, 2.0**-k)], np.ones((2, 2)))))
    if k <= 25:
        assert answer.solved
    if answer is not None and answer.solved:
        assert abs(answer.W[1, 0] / 2.0**k - 1.0) <= 1e-9  # W = (1, 2^{k+1}) z^T / 2


@pytest.mark.parametrize("exponent", range(0, 13, 3))
@pytest.mark.parametrize("seed", range(3))
def test_tokens_of_bad_condition_are_settled(exponent, seed):
    """Singular values of the tokens down to 10^-exponent, in a rotated basis."""
    generator = np.random.default_rng(seed)
    turn = np.linalg.qr(generator.normal(size=(4, 4)))[0]
    spread = 10.0 ** np.linspace(0.0, -exponent, 4)
    X = generator.normal(size=(4, 4, 4)) * spread @ turn
    data = AttentionData(X, generator.normal(size=(4, 4)), scores=np.eye(4))
    answer = settle(att_svm_programme(data))
    if exponent <= 3:
        assert answer is not None


@pytest.mark.parametrize("seed", range(4))
def test_tokens_in_a_subspace_are_settled(seed):
    """Rank 2 up to rounding: what rounding adds is separable by 1e-16, and no answer."""
    generator = np.random.default_rng(seed)
    basis = generator.normal(size=(2, 6))
    for n in (2, 5):
        X, Z = generator.normal(size=(n, 3, 2)) @ basis, generator.normal(size=(n, 2)) @ basis
        settle(att_svm_programme(AttentionData(X, Z, scores=np.eye(1, 3).repeat(n, 0))))


# many


@pytest.mark.parametrize("copies", [100, 1500])
@pytest.mark.parametrize("third", [(1.0, 1.0), (-1.0, -1.0)])
def test_duplicates_by_the_hundred_change_nothing(copies, third):
    rows = np.array([(1.0, 0.0), (0.0, 1.0), third])
    once = settle(att_svm_programme(two_tokens(rows, np.ones((3, 2)))))
    many = att_svm_programme(two_tokens(np.repeat(rows, copies, axis=0), np.ones((3 * copies, 2))))
    answer = settle(many)
    assert answer.status == once.status
    assert np.abs(answer.W - once.W).max() <= 8 * EPS
    assert len(many.duplicates) == 3


@pytest.fixture
def warm():
    """Compiled code, so that a clock sees the solver alone."""
    solve_programme(att_svm_programme(two_tokens([(1, 0)], [[1, 1]])))


def crowd(seed, n, T, d, aligned):
    """Gaussian tokens; aligned, the best of each input by some W are selected, so that it works."""
    generator = np.random.default_rng(seed)
    X, Z = generator.normal(size=(n, T, d)), generator.normal(size=(n, d))
    W = generator.normal(size=(d, d))
    scores = np.einsum("ntd,de,ne->nt", X, W, Z) if aligned else generator.normal(size=(n, T))
    return AttentionData(X, Z, scores=scores)


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("size", [(300, 60, 3), (300, 60, 2), (1, 20001, 4)])
def test_tens_of_thousands_in_low_dimension_are_proved_within_seconds(size, aligned):
    programme = att_svm_programme(crowd(0, *size, aligned))
    assert len(programme.bound) >= 17700
    start = time.perf_counter()
    answer = solve_programme(programme)
    assert time.perf_counter() - start < 5.0  # it takes tenths
    check(programme, answer)
    assert answer.solved == aligned or size[0] == 1


@pytest.mark.parametrize("seed", [0, 4])
def test_twenty_thousand_with_a_margin_of_one_in_ten_thousand_are_refused_with_a_reason(seed):
    """Norms of 3000 and 4000, rows up to 25: rounded multipliers lose the square of the norm."""
    programme = att_svm_programme(crowd(seed, 4000, 6, 3, aligned=True))
    with pytest.raises(SolverError, match=r"tried .*working set") as caught:
        solve_programme(programme)
    assert 1e-9 < caught.value.value < 1e-3


@pytest.mark.parametrize("size", [(100, 31, 40), (500, 7, 30)])
def test_thousands_in_high_dimension_are_proved(size):
    """More entries of W than constraints, and fewer."""
    programme = att_svm_programme(crowd(0, *size, aligned=True))
    assert len(programme.bound) == 3000
    answer = solve_programme(programme)
    check(programme, answer)
    assert answer.solved


@pytest.mark.parametrize("seed", [1, 4])
def test_a_thousand_random_rows_in_dimension_400_are_proved_unseparable_or_refused(seed):
    """Rows of condition about 100: nothing here is by a hair."""
    generator = np.random.default_rng(seed)
    data = AttentionData(
        generator.normal(size=(1000, 2, 20)),
        generator.normal(size=(1000, 20)),
        scores=np.eye(1, 2).repeat(1000, axis=0),
    )
    try:
        answer = solve_programme(att_svm_programme(data))
    except SolverError:  # rays may end on rows that are only nearly dependent
        return
    check(answer.programme, answer)
    assert not answer.solved


def test_four_thousand_equalities_in_dimension_nine_are_too_many():
    """Probabilities of some W: nine equalities hold it, all others follow."""
    data = crowd(0, 200, 21, 3, aligned=True)
    powers = np.exp(data.scores - data.scores.max(axis=1, keepdims=True))
    with pytest.raises(SolverError, match="no method reached a proof"):
        finite_part(data, np.ones((200, 21), bool), powers)


def test_hundreds_of_equalities_beside_thousands_of_inequalities():
    selected = np.zeros((60, 41), dtype=bool)
    selected[:, :4] = True
    answer = generalised_svm(crowd(1, 60, 41, 30, aligned=False), selected)
    check(answer.programme, answer)
    assert answer.solved

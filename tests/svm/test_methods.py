"""Each method alone, the compiled loops and guesses behind it, and input at the edge of float64."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import decide
from attsvm.kernels.least_norm import SOLVED, UNBOUNDED, figures, pivot
from attsvm.svm import att_svm_programme, finite_part, frobenius, generalised_svm, methods
from attsvm.svm.bounds import certain_margins
from attsvm.svm.frobenius import grade, solve_programme
from attsvm.svm.programme import LARGEST, SMALLEST
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import EPS, GAP, check, exact_rows, exactly, length, matrices, right
from tests.svm.problems import blocks, problems, programmes, two_tokens, without_zero_rows


@pytest.fixture
def alone(monkeypatch):
    """Leave one method of the solver, with other limits; it returns None where it gives up."""

    def left(method, **limits):
        for name, value in limits.items():
            monkeypatch.setattr(methods, name, value)

        def solve(programme):
            with np.errstate(all="ignore"):
                proposal = methods.METHODS[method](programme, None)
            if proposal is None:
                return None
            return frobenius.grade(programme, proposal[0], solved=proposal[1])

        return solve

    return left


@pytest.mark.parametrize(
    ("method", "limits"),
    [
        ("pivots", {}),
        ("working set", {"COLD": 1}),
        ("rationals", {}),
    ],
    ids=str,
)
def test_each_method_alone_is_right_on_integers_of_every_kind(alone, method, limits):
    """Free signs on equalities, dependent rows, rays: pivots need no help with any."""
    solve = alone(method, **limits)

    @given(programmes())
    def holds(programme):
        programme = without_zero_rows(programme)
        answer, exact = solve(programme), decide(programme)
        right(programme, answer, exact)
        assert answer.status == exact.status

    holds()


@given(programmes(kinds=("Att-SVM",)), st.data())
def test_bounds_and_equalities_of_any_kind_are_met_by_every_method(programme, draw):
    """Of either sign and mixed, beyond what the family asks for."""
    programme = without_zero_rows(programme)
    bound = draw.draw(blocks(len(programme.bound), top=2))
    mixed = replace(programme, bound=bound, equal=draw.draw(blocks(len(bound))) > 0)
    exact = decide(mixed)
    for method in ("pivots", "working set", "rationals"):
        weights, solved = methods.METHODS[method](mixed, None)
        answer = frobenius.grade(mixed, weights, solved=solved)
        right(mixed, answer, exact)
        assert answer.status == exact.status


@pytest.mark.parametrize("limits", [{}, {"DENSE": 3}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_blocks_alone_are_right_on_independent_rows(alone, limits, seed):
    """By Cholesky, and by conjugate gradients where the active block is too large for it."""
    data = gaussian_protocol(np.random.default_rng(seed), n=4, T=5, d=8)
    programme = att_svm_programme(data)
    answer = alone("block exchanges", **limits)(programme)
    right(programme, answer, decide(programme))
    assert answer.solved


def test_blocks_decline_dependent_and_zero_rows(alone):
    solve = alone("block exchanges")
    assert solve(att_svm_programme(two_tokens([(1, 0), (0, 1)] * 3, np.ones((6, 2))))) is None
    assert solve(att_svm_programme(two_tokens([(0, 0)], [[1, 1]]))) is None
    assert solve(att_svm_programme(two_tokens([(1, 0), (0, 0)], np.eye(2)))) is None


@pytest.mark.parametrize("size", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("rows", [1, 3, 4])
def test_blocks_take_as_many_independent_rows_as_there_can_be(alone, rows, size):
    """Of 2 x 2 matrices up to 4 are independent."""
    D, Z = [(1, 0), (0, 1), (1, 0), (0, 1)], [(1, 0), (0, 1), (1, 1), (1, 1)]
    programme = att_svm_programme(two_tokens(size * np.array(D[:rows]), Z[:rows]))
    answer = alone("block exchanges")(programme)
    right(programme, answer, decide(programme))
    assert answer.solved


@given(programmes(), st.data())
def test_rows_that_are_zero_are_met_or_refute_at_once(programme, draw):
    """Beside others: their multipliers are those of the rest alone."""
    zero = np.array(draw.draw(st.lists(st.booleans(), **_lengths(programme))))
    assume(zero.any())
    cleared = np.where(zero[:, None], 0.0, programme.D)
    bound = np.where(zero, np.minimum(programme.bound, draw.draw(blocks(1))[0]), programme.bound)
    bound = np.where(zero & programme.equal & (draw.draw(blocks(1))[0] < 2), 0.0, bound)
    changed = replace(
        programme, D=cleared, kept=cleared, rival=0.0 * cleared, keys=None, bound=bound
    )
    weights, solved = methods.zero_rows(changed)
    answer = frobenius.grade(changed, weights, solved=solved)
    right(changed, answer, decide(changed))
    assert solved == (decide(changed).status == "solved")


def _lengths(programme):
    return {"min_size": len(programme.bound), "max_size": len(programme.bound)}


def test_methods_decline_what_is_too_large_for_them(alone):
    programme = att_svm_programme(two_tokens(np.eye(4), np.ones((4, 4))))
    for method, limit in (
        ("pivots", "DENSE"),
        ("rationals", "EXACT"),
        ("pivots from nothing", "COLD"),
    ):
        assert alone(method, **{limit: 3})(programme) is None
        assert alone(method, **{limit: 4})(programme).solved
    all_equal = replace(programme, equal=np.ones(4, dtype=bool))
    assert alone("working set", DENSE=3)(all_equal) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_working_set_grows_until_nothing_is_violated(alone, seed):
    """Hundreds of rows through a set that starts with 5."""
    data = gaussian_protocol(np.random.default_rng(seed), n=20, T=11, d=4 + 6 * (seed % 2))
    programme = att_svm_programme(data)
    answer = alone("working set", COLD=5)(programme)
    truth = alone("pivots")(programme)
    assert answer.status == truth.status == ("solved" if seed % 2 else "unseparable")
    assert np.abs(answer.W - truth.W).max() <= 1e-9


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


@pytest.mark.parametrize(("low", "high"), [(-4, 4), (-8, 8), (-100, 8), (-100, 100), (-140, 140)])
@pytest.mark.parametrize("seed", range(6))
def test_entries_of_mixed_size_are_settled(low, high, seed):
    """Every entry has a magnitude of its own."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(3, 3, 3)) * 10 ** generator.uniform(low, high, size=(3, 3, 3))
    Z = generator.normal(size=(3, 3)) * 10 ** generator.uniform(low, high, size=(3, 3))
    data = AttentionData(X, Z, scores=np.eye(3))
    settle(att_svm_programme(data))


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


@pytest.mark.parametrize("k", range(1, 61))
def test_nearly_opposed_constraints_are_never_called_solved_wrongly(k):
    """(1, 0) and (-1, 2^-k) have a solution of norm 2^{k+1}; to 2^-25 it must be found."""
    answer = settle(att_svm_programme(two_tokens([(1, 0), (-1, 2.0**-k)], np.ones((2, 2)))))
    if k <= 25:
        assert answer.solved
    if answer is not None and answer.solved:
        assert abs(answer.W[1, 0] / 2.0**k - 1.0) <= 1e-9  # W = (1, 2^{k+1}) z^T / 2


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


def with_redundant_tokens(seed, n, T, d, aligned):
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
    programme = att_svm_programme(with_redundant_tokens(0, *size, aligned))
    assert len(programme.bound) >= 17700
    start = time.process_time()
    answer = solve_programme(programme)
    assert time.process_time() - start < 5.0  # it takes tenths
    check(programme, answer)
    assert answer.solved == aligned or size[0] == 1


@pytest.mark.parametrize("seed", [0, 4])
def test_twenty_thousand_with_a_margin_of_one_in_ten_thousand_are_refused_with_a_reason(seed):
    """Norms of 3000 and 4000, rows up to 25: rounded multipliers lose the square of the norm."""
    programme = att_svm_programme(with_redundant_tokens(seed, 4000, 6, 3, aligned=True))
    with pytest.raises(SolverError, match=r"tried .*working set") as caught:
        solve_programme(programme)
    assert 1e-9 < caught.value.value < 1e-3


@pytest.mark.parametrize("size", [(50, 31, 40), (250, 7, 30)])
def test_thousands_in_high_dimension_are_proved(size):
    """More entries of W than constraints, and fewer."""
    programme = att_svm_programme(with_redundant_tokens(0, *size, aligned=True))
    assert len(programme.bound) == 1500
    answer = solve_programme(programme)
    check(programme, answer)
    assert answer.solved


def test_four_thousand_equalities_in_dimension_nine_are_too_many():
    """Probabilities of some W: nine equalities hold it, all others follow."""
    data = with_redundant_tokens(0, 200, 21, 3, aligned=True)
    powers = np.exp(data.scores - data.scores.max(axis=1, keepdims=True))
    with pytest.raises(SolverError, match="no method reached a proof"):
        finite_part(data, np.ones((200, 21), bool), powers)


def test_hundreds_of_equalities_beside_thousands_of_inequalities():
    selected = np.zeros((40, 41), dtype=bool)
    selected[:, :4] = True
    answer = generalised_svm(with_redundant_tokens(1, 40, 41, 30, aligned=False), selected)
    check(answer.programme, answer)
    assert answer.solved


NOTHING = np.empty(0, dtype=np.int64), np.empty((0, 0))


def gram(programme):
    A = matrices(programme)
    return A @ A.T


@given(programmes(), st.data())
def test_a_warm_start_ends_where_a_cold_one_does(programme, draw):
    """From any rows whose own system has positive weights; the solution is unique."""
    programme = without_zero_rows(programme)
    G, c = gram(programme), programme.bound
    active = np.flatnonzero(draw.draw(blocks(len(c), top=1)) > 0)
    block = G[np.ix_(active, active)]
    assume(active.size and np.linalg.matrix_rank(block) == active.size)
    assume((np.linalg.solve(block, c[active]) > 1e-9)[~programme.equal[active]].all())
    cold = pivot(G, c, programme.equal, *NOTHING, 1000)
    warm = pivot(G, c, programme.equal, active, np.linalg.cholesky(block), 1000)
    assert warm[1] == cold[1] in (SOLVED, UNBOUNDED)
    if cold[1] == SOLVED:
        W, expected = (programme.combine(w) for w in (warm[0], cold[0]))
        assert np.abs(W - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("start", [[], [0], [1]])
def test_opposite_constraints_of_any_length_have_a_ray(start):
    """Opposite rows, whose curvature is rounding in units of their squares, 45 and 125."""
    A = np.array([[-3.0, -6.0], [5.0, 10.0]])
    G, c, equal = A @ A.T, np.ones(2), np.zeros(2, dtype=bool)
    start = np.array(start, dtype=np.int64)
    ray, status, _ = pivot(G, c, equal, start, np.linalg.cholesky(G[np.ix_(start, start)]), 1000)
    assert status == UNBOUNDED
    assert (ray >= 0).all()
    assert np.abs(ray @ A).max() <= 1e-12 * ray.max()
    assert c @ ray > 0


@pytest.mark.parametrize(
    ("c", "status"), [((1, 2), UNBOUNDED), ((2, 1), UNBOUNDED), ((2, 2), SOLVED)]
)
def test_an_equality_that_contradicts_another_is_not_skipped(c, status):
    """w = c_1 and w = c_2, with c_2 on either side of c_1."""
    G, equal = np.ones((2, 2)), np.ones(2, dtype=bool)
    w, told, _ = pivot(G, np.array(c, dtype=float), equal, *NOTHING, 1000)
    assert told == status
    assert (c @ w > 0 and np.abs(G @ w).max() == 0.0) or (G @ w == c).all()


@given(programmes(), st.data())
def test_figures_are_what_the_conditions_come_to(programme, draw):
    """On integers to the last bit but for the roots."""
    p, A = programme, matrices(programme)
    bound = draw.draw(blocks(len(A)))
    w = draw.draw(blocks(len(A)))
    W, margins, square, linear, summed, shortfall, least, _ = figures(p.D, p.Z, bound, p.equal, w)
    assert (W.ravel() == w @ A).all()
    assert (margins == A @ (w @ A)).all()
    assert square == ((w @ A) ** 2).sum()
    assert linear == w @ bound
    sizes = np.abs(w) @ np.sqrt((A**2).sum(axis=1))
    assert abs(summed - sizes) <= 16 * EPS * sizes
    missing = bound - A @ (w @ A)
    missing[p.equal] = np.abs(missing[p.equal])
    own = np.sqrt((A**2).sum(axis=1)) * np.linalg.norm(w @ A)
    unit = np.where(~p.equal & (bound > 0), bound, own)
    relative = np.where(unit > 0, missing / np.where(unit > 0, unit, 1.0), missing)
    assert abs(shortfall - max([0.0, *relative])) <= 16 * EPS * max(1.0, shortfall)
    assert least == min([np.inf, *w[~p.equal]])


@pytest.mark.parametrize("place", range(3))
def test_figures_show_every_nan(place):
    D, bound, equal = np.eye(3), np.ones(3), np.zeros(3, dtype=bool)
    w = np.where(np.arange(3) == place, np.nan, 1.0)
    _, _, square, linear, summed, shortfall, _, certain = figures(
        D, np.ones((3, 1)), bound, equal, w
    )
    assert np.isnan([square, linear, summed, shortfall, certain]).all()


@given(st.data(), st.sampled_from([0.1, 1 / 3, 1e-9, 3e8]), st.integers(0, 1000))
def test_certain_margins_are_below_the_exact_ones_and_near(draw, factor, seed):
    """With rounded differences; the distance is a few units of the sum of sizes."""
    programme = draw.draw(programmes())
    assume(programme.keys is None)
    margins_are_close(programme, factor, seed)


def test_certain_margins_of_a_row_that_cancels_are_close():
    margins_are_close(att_svm_programme(two_tokens([(1.0, -1.0)], [[1.0, 1.0]])), 0.1, 0)


def margins_are_close(programme, factor, seed):
    p = replace(programme, kept=programme.kept * factor, Z=programme.Z * factor)
    p = replace(p, D=p.kept - p.rival)
    W = np.random.default_rng(seed).normal(size=(p.D.shape[1], p.Z.shape[1]))
    lower, A = certain_margins(p.D, p.Z, W), exact_rows(p)
    for j, row in enumerate(A):
        terms = [a * Fraction(x) for a, x in zip(row, W.ravel().tolist(), strict=True)]
        exact, size = sum(terms), sum(abs(x) for x in terms)
        assert Fraction(lower[j]) <= exact
        assert exact - Fraction(lower[j]) <= (
            2 * (len(W.ravel()) + 8) * Fraction(EPS)
        ) * size + Fraction(2e-150)


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_a_negative_multiplier_is_told_relative_to_the_largest_one(scale):
    programme = att_svm_programme(two_tokens(np.eye(3), np.ones((3, 3))))
    weights = scale * np.array([1.0, -0.5, 0.0])
    assert grade(programme, weights, solved=True).dual_residual == 0.5

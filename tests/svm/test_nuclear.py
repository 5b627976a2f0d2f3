"""The nuclear-norm Att-SVM against cvxpy, exact arithmetic, closed forms and lying solvers."""

import functools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact.deadline import Deadline
from attsvm.svm import att_svm, att_svm_programme, nuclear, nuclear_search, solve_programme
from attsvm.svm.nuclear import distance, grade_nuclear, solve_nuclear
from attsvm.svm.programme import generalised_programme
from attsvm.svm.solution_set import Slice, pack, unpack
from properties._support.published_data import gaussian_protocol
from tests.late import Late
from tests.svm.conditions import EPS, exact_margins, exact_sum, is_norm_at_most, nuclear_norm
from tests.svm.problems import SPOILT, programmes, spoilt

cvxpy = Late("cvxpy")


def random_problem(seed):
    generator = np.random.default_rng(seed)
    n, T, d = (int(generator.integers(1, top + 1)) for top in (6, 6, 5))
    return gaussian_protocol(generator, n=n, T=T + 1, d=d + 1)


def separable(count, make=random_problem):
    """The first separable problems of a family, with their programmes."""
    found, seed = [], 0
    while len(found) < count:
        data = make(seed)
        if att_svm(data).solved:
            found.append((data, att_svm_programme(data)))
        seed += 1
    return found


def units(d, *, together=False):
    """Queries and tokens e_i: margins W_ii, so the solutions are the B >= 0 of unit diagonal.

    `together` adds the margin sum_jk W_jk.
    """
    sides = np.vstack([np.eye(d), np.ones((1, d))]) if together else np.eye(d)
    X = np.stack([sides, np.zeros_like(sides)], axis=1)
    return AttentionData(X, sides, scores=np.tile([1.0, 0.0], (len(sides), 1)))


# a solution of rank 1 on a face of dimension 2: the other singular value of S is 1 as well
BOUNDARY = AttentionData.of(
    [[[0, 0], [1, -1]], [[0, 0], [1, 2]], [[0, 0], [1, 0]]],
    [[0, 1], [1, 0], [1, 0]],
    scores=[[1, 0]] * 3,
)


def check_bracket(programme, answer):
    """Both bounds from the exact rows of the data: by weak duality, and by a feasible multiple."""
    low, high = answer.bracket
    assert 0.0 < low <= high < math.inf
    assert answer.weights.min() >= 0.0
    total = sum(map(Fraction, answer.weights))  # ||S||_op <= total / low: least norm >= low
    assert is_norm_at_most(exact_sum(programme, answer.weights), total / Fraction(low))
    least = min(exact_margins(programme, answer.W))
    assert least > 0
    assert nuclear_norm(answer.W) * int(least.denominator) <= high * mpmath.mpf(
        int(least.numerator)
    )


def check(programme, answer):
    """Every condition that makes the answer right, from W, the weights and the rows."""
    at = programme.input, programme.token
    others = np.ones(programme.shape, dtype=bool)
    others[at] = False
    weights, W, S = answer.weights, answer.W, answer.certificate
    A = np.array([np.outer(x, z) for x, z in zip(programme.D, programme.Z, strict=True)])
    loads = weights @ programme.norms
    rounding = 64 * EPS * (len(A) + sum(W.shape))
    assert answer.solved
    assert answer.status == "solved"
    assert (weights >= 0).all()
    assert np.array_equal(answer.duals[at], weights)
    assert (answer.duals[others] == 0).all()
    assert (answer.margins[others] == np.inf).all()
    margins = np.einsum("jab,ab->j", A, W)
    slop = rounding * programme.norms * np.linalg.norm(W)
    assert (np.abs(answer.reached - margins) <= slop).all()
    assert np.array_equal(answer.margins[at], answer.reached)
    assert abs(answer.primal_residual - max(0.0, 1.0 - margins.min())) <= slop.max()
    assert np.abs(S - np.einsum("j,jab->ab", weights, A)).max() <= rounding * loads
    top = np.linalg.norm(S, 2)
    assert abs(answer.dual_residual - max(0.0, top - 1.0)) <= rounding * loads
    values = np.linalg.svd(W, compute_uv=False)
    value = values.sum()
    assert abs(answer.value - value) <= rounding * value
    assert abs(answer.gap - (value - weights.sum()) / value) <= 2 * rounding
    assert max(answer.primal_residual, answer.dual_residual, abs(answer.gap)) <= 1e-9
    low, high = answer.bracket
    assert low <= value * (1 + 1e-9)
    assert value <= high * (1 + 1e-9)
    assert answer.width <= 1e-9
    assert answer.width == high / low - 1.0
    # slackness: a multiplier lives on tight constraints, W on the face
    assert abs(weights @ (margins - 1.0)) <= 1e-8 * value
    U, V = answer.face
    r = U.shape[1]
    assert np.abs(U.T @ U - np.eye(r)).max() <= 1e-12
    assert np.abs(V.T @ V - np.eye(r)).max() <= 1e-12
    assert np.abs(S @ V - U).max() <= 2e-7
    assert np.abs(S.T @ U - V).max() <= 2e-7
    B = U.T @ W @ V
    assert np.abs(U @ B @ V.T - W).max() <= 1e-5 * value
    assert np.abs(B - B.T).max() <= 1e-5 * value
    assert np.linalg.eigvalsh((B + B.T) / 2)[0] >= -1e-5 * value
    assert 1 <= answer.rank <= r
    assert answer.rank == (values > 1e-7 * values[0]).sum()
    assert 0 <= answer.dimension <= r * (r + 1) // 2
    assert answer.unique == (answer.dimension == 0)
    loaded = weights * programme.norms > 1e-7 * (weights * programme.norms).max()
    for i in range(programme.shape[0]):
        for t in range(programme.shape[1]):
            tight = abs(answer.margins[i, t] - 1.0) <= 1e-7
            assert (t in answer.support[i]) == tight
            idle = not loaded[(programme.input == i) & (programme.token == t)].any()
            assert (t in answer.degenerate[i]) == (tight and idle)
    away, same = distance(answer, W)
    assert away <= same
    assert same <= 1e-6 * value


# the answer


@given(programmes(kinds=("Att-SVM", "p-SVM")))
@example(att_svm_programme(units(2)))
@example(att_svm_programme(units(3, together=True)))
@example(att_svm_programme(BOUNDARY))
@example(att_svm_programme(gaussian_protocol(np.random.default_rng(0), n=8, T=8, d=3)))
def test_answers_on_small_integers_are_proved(programme):
    assume(solve_programme(programme).solved)
    answer = solve_nuclear(programme)
    check(programme, answer)
    check_bracket(programme, answer)
    assert answer.width <= 1e-11


@given(programmes(kinds=("Att-SVM", "p-SVM")))
def test_programmes_without_a_solution_are_refused(programme):
    assume(not solve_programme(programme).solved)
    with pytest.raises(SolverError, match="no solution"):
        solve_nuclear(programme)


@pytest.mark.parametrize("seed", range(4))
def test_the_transposed_programme_has_the_transposed_solution(seed):
    """Queries in more dimensions than tokens, which no data set has."""
    generator = np.random.default_rng(seed)
    plain = att_svm_programme(gaussian_protocol(generator, n=4, T=3, d=7))
    wide = replace(plain, Z=generator.normal(size=(8, 2)))
    turned = replace(wide, D=wide.Z, Z=wide.D, kept=wide.Z, rival=np.zeros_like(wide.Z))
    one, two = solve_nuclear(wide), solve_nuclear(turned)
    check(wide, one)
    check(turned, two)
    check_bracket(wide, one)
    assert max(one.width, two.width) <= 1e-12
    assert np.abs(one.W - two.W.T).max() <= 1e-12 * one.value


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("index", range(3))
def test_scale_does_not_matter(size, index):
    data, programme = separable(4)[index]
    answer = solve_nuclear(programme)
    for tokens, queries in ((size, 1.0), (1.0, size), (size, size), (size, 1.0 / size)):
        scaled = AttentionData(data.X * tokens, data.Z * queries, scores=data.gamma)
        other = solve_nuclear(att_svm_programme(scaled))
        assert other.width <= 1e-11
        assert abs(other.value * tokens * queries / answer.value - 1.0) <= 1e-12
        assert (other.rank, other.dimension) == (answer.rank, answer.dimension)
        assert other.support == answer.support
        check_bracket(att_svm_programme(scaled), other)


def test_hundreds_of_constraints():
    data = gaussian_protocol(np.random.default_rng(0), n=12, T=20, d=30)
    programme = att_svm_programme(data)
    answer = solve_nuclear(programme)
    check(programme, answer)
    assert len(programme.D) == 228
    assert answer.width <= 1e-10


# the derivatives that the search is made of


# refusals


def test_steps_for_large_programmes_reach_the_solution_of_the_path(monkeypatch):
    """Programmes of any size are given to the steps; this has more queries than dimensions."""
    generator = np.random.default_rng(0)
    n, T, d = 8, 4, 4
    sizes = (n, T, d), (n, d), (d, d)
    X, Z, W = (np.round(64.0 * generator.normal(size=size)) / 64.0 for size in sizes)
    best = np.einsum("ntd,de,ne->nt", X, W, Z).argmax(axis=1)
    programme = att_svm_programme(AttentionData(X, Z, scores=np.eye(T)[best]))
    usual = solve_nuclear(programme)
    monkeypatch.setattr(nuclear_search, "DENSE", 0)
    answer = solve_nuclear(programme)
    assert max(answer.width, answer.gap, answer.primal_residual, answer.dual_residual) <= 1e-9
    assert answer.bracket[0] <= usual.bracket[1]
    assert usual.bracket[0] <= answer.bracket[1]
    cut = solve_nuclear(programme, None, Deadline.after(1e-3), bracketed=True)
    assert cut.bracket[0] <= usual.value <= cut.bracket[1]
    X[0, 1:3] = X[0, 0] + np.array([[1.0], [-1.0]])  # no W selects the middle of three tokens
    best[0] = 0
    with pytest.raises(SolverError, match="no solution"):
        solve_nuclear(att_svm_programme(AttentionData(X, Z, scores=np.eye(T)[best])))


def test_unseparable_programmes_are_refused():
    opposite = AttentionData.of(
        [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1, 0], [1, 0]]
    )
    zero = AttentionData.of([[[1.0, 0.0], [0.0, 1.0]]], [[0.0, 0.0]], scores=[[1, 0]])
    same = AttentionData.of([[[1.0, 0.0], [1.0, 0.0]]], [[1.0, 0.0]], scores=[[1, 0]])
    for data in (opposite, zero, same):
        with pytest.raises(SolverError, match="no solution") as caught:
            solve_nuclear(att_svm_programme(data))
        assert "separability" in caught.value.remedy


def test_other_bounds_and_equalities_are_refused():
    data = gaussian_protocol(np.random.default_rng(1), n=3, T=4, d=9)
    selected = np.zeros((3, 4), dtype=bool)
    selected[:, :2] = True
    programme = generalised_programme(data, selected)
    with pytest.raises(DataError, match="alone") as caught:
        solve_nuclear(programme)
    assert caught.value.value == "Gen-SVM"
    assert "Frobenius" in caught.value.remedy
    with pytest.raises(DataError, match="alone"):
        grade_nuclear(programme, (np.ones((9, 1)), np.ones((9, 1))), np.ones(len(programme.D)))


def test_a_known_start_changes_the_words_alone(monkeypatch):
    data, programme = separable(1)[0]
    least = att_svm(data).W
    assert np.array_equal(solve_nuclear(programme, start=least).W, solve_nuclear(programme).W)

    def stuck(a, b, c, w, s, T, stop, limit):
        return w, s, T, nuclear_search.STUCK, limit

    monkeypatch.setattr(nuclear_search, "interior", stuck)
    with pytest.raises(SolverError, match="no solution"):
        solve_nuclear(programme)
    with pytest.raises(SolverError, match="separable, but the central path"):
        solve_nuclear(programme, start=least)
    with pytest.raises(SolverError, match="no solution"):
        solve_nuclear(programme, start=-least)


# the solution set


def elliptope(answer, generator):
    """A random positive semidefinite matrix of unit diagonal."""
    root = generator.normal(size=(answer.W.shape[0],) * 2)
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    return root @ root.T


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_solution_set_that_is_not_a_point(d):
    """All B >= 0 of unit diagonal: distance 0 to each member, more than 0 to what is none."""
    answer = solve_nuclear(att_svm_programme(units(d)))
    check(att_svm_programme(units(d)), answer)
    assert abs(answer.value - d) <= 1e-12
    assert answer.dimension == d * (d - 1) // 2
    assert not answer.unique
    assert answer.rank == d
    generator = np.random.default_rng(d)
    members = [elliptope(answer, generator) for _ in range(5)]
    members += [np.eye(d), np.ones((d, d)), answer.W]
    for G in members:
        assert np.linalg.svd(G, compute_uv=False).sum() <= d + 1e-12
        low, high = distance(answer, G)
        assert 0.0 <= low <= high <= 1e-7
    for _ in range(3):
        away = generator.normal(size=(d, d))
        G = elliptope(answer, generator) + (away - away.T)  # antisymmetric: off the face
        low, high = distance(answer, G)
        assert low <= np.linalg.norm(away - away.T) * (1 + 1e-9)
        assert abs(high - np.linalg.norm(away - away.T)) <= 1e-7 * high
        assert low >= high * (1 - 1e-6)


def test_distances_to_a_segment():
    """[[1, b], [b, 1]] with |b| <= 1, and with 2 + 2 b >= 1 where the fourth margin asks it."""
    for together, least in ((False, -1.0), (True, -0.5)):
        answer = solve_nuclear(att_svm_programme(units(2, together=together)))
        assert answer.dimension == 1
        for b in (-3.0, -1.0, -0.75, -0.5, 0.0, 0.5, 1.0, 1.5):
            low, high = distance(answer, np.array([[1.0, b], [b, 1.0]]))
            true = math.sqrt(2.0) * max(b - 1.0, least - b, 0.0)
            assert low <= true + 1e-7
            assert true - 1e-7 <= high
            assert high - low <= 2e-6
        low, high = distance(answer, np.array([[2.0, 0.25], [0.75, -1.0]]))
        assert abs(high - math.sqrt(1.0 + 4.0 + 2 * 0.25**2)) <= 1e-7
        assert low >= high - 1e-6


def test_equalities_that_rounding_sets_apart_fix_nothing():
    """Solutions are U (1/2, h; h, sqrt(257)/4) V^T: some margins agree in all, up to rounding."""
    X = np.zeros((3, 4, 3))
    X[:, 1:] = [np.diag(x) for x in ([1 / 8, 2, 1], [1, 1 / 8, 2], [1, 1, 1])]
    data = AttentionData.of(X, -2 * np.eye(3), scores=np.eye(4)[[2, 2, 1]])
    answer = solve_nuclear(att_svm_programme(data))
    end = np.array([[0, 0, -1 / 2], [-1 / 4, -4, 0], [0, 0, 0]])  # h = 0
    assert np.linalg.norm(end, "nuc") == pytest.approx(answer.value, rel=1e-12)
    assert np.linalg.norm(end - answer.W) > 1
    low, high = distance(answer, end)
    assert low <= high < 1e-5
    assert distance(answer, 1.5 * end)[0] > 1


def test_distances_to_a_set_that_inequalities_hold_on_a_line():
    """-(b, 1, 0; 0, 0, 1; 1, b, 0) with 0 <= b <= 1: pairs of inequalities force two zeros."""
    X = np.zeros((3, 4, 3))
    X[:, 1:] = [np.diag(e) for e in ([-0.125, -2.0, 1.0], [1.0, -0.125, -2.0], [1.0, 1.0, 1.0])]
    data = AttentionData(X, -np.eye(3), scores=np.eye(4)[[3, 1, 2]])
    answer = solve_nuclear(att_svm_programme(data))
    assert abs(answer.value - 3.0) <= 1e-9

    def member(b):
        return -np.array([[b, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, b, 0.0]])

    for b in (-0.5, 0.0, 0.25, 1.0, 1.5):
        nearest = min(max(b, 0.0), 1.0)
        for shift in (0.0, 1e-3):
            G = member(b)
            G[1, 1] += shift  # off the line, into what the inequalities exclude
            low, high = distance(answer, G)
            true = float(np.linalg.norm(G - member(nearest)))
            assert low <= true + 1e-7
            assert true - 1e-7 <= high <= true + 2e-6


def test_a_member_is_one_even_where_the_projection_went_wrong():
    """From a point far off, the way to its projection on the equalities is cut short."""
    for together, least in ((False, -1.0), (True, -0.5)):
        programme = att_svm_programme(units(2, together=together))
        answer = solve_nuclear(programme)
        equal = answer.weights > 1e-6
        slice_ = Slice.of(programme.D, programme.Z, *answer.face, equal)
        U, V = answer.face

        def packed(G, U=U, V=V):
            B = U.T @ G @ V
            return pack((B + B.T) / 2)

        for b, nearest in ((-3.0, least), (5.0, 1.0), (0.25, 0.25)):
            x = packed(np.array([[7.0, b], [b, -2.0]]))
            member = slice_.nearest_member(x, packed(answer.W), slice_.c)
            G = U @ unpack(member) @ V.T
            assert np.abs(G - [[1.0, nearest], [nearest, 1.0]]).max() <= 1e-9


def test_distance_to_a_point_is_that_of_the_solution():
    _, programme = next(pair for pair in separable(8) if solve_nuclear(pair[1]).unique)
    answer = solve_nuclear(programme)
    G = answer.W + 0.5
    low, high = distance(answer, G)
    assert low == high == np.linalg.norm(G - answer.W)
    with pytest.raises(DataError):
        distance(answer, G[:, :1] if G.shape[1] > 1 else np.ones((3, 3)))
    with pytest.raises(DataError):
        distance(answer, np.full_like(G, np.nan))


@pytest.mark.parametrize("index", range(3))
def test_where_the_answer_says_unique_other_objectives_do_not_move_it(index):
    """Among matrices of nearly the least norm, none is far from a unique solution."""
    _, programme = separable(3)[index]
    answer = solve_nuclear(programme)
    assert answer.unique
    generator = np.random.default_rng(index)
    W = cvxpy.Variable(answer.W.shape)
    rows = [D @ W @ z >= 1 for D, z in zip(programme.D, programme.Z, strict=True)]
    rows.append(cvxpy.norm(W, "nuc") <= answer.value * (1 + 1e-6))
    C = generator.normal(size=answer.W.shape)
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(cvxpy.multiply(C, W))), rows)
    problem.solve(solver=cvxpy.SCS, eps=1e-7, max_iters=100_000)  # the set is thin for others
    assert np.abs(W.value - answer.W).max() <= 0.02 * answer.value


# solvers that lie


def _true(L, R, weights):
    return L, R, weights


def lies():
    """The factors, the multipliers, or both of a solution, spoilt in every way."""
    shapes = {
        "none": _true,
        "one column lost": lambda L, R, w: (L[:, 1:], R[:, 1:], w),
        "needless columns": lambda L, R, w: (np.hstack([L, L, -L]), np.hstack([R, R, R]), w),
    }
    for kind in SPOILT:
        shapes[f"left {kind}"] = lambda L, R, w, k=kind: (spoilt(k, L), R, w)
        shapes[f"weights {kind}"] = lambda L, R, w, k=kind: (L, R, spoilt(k, w))
        shapes[f"both {kind}"] = lambda L, R, w, k=kind: (spoilt(k, L), R, spoilt(k, w))
    return [pytest.param(shape, id=name) for name, shape in shapes.items()]


@functools.cache
def lied_to():
    return [*(programme for _, programme in separable(2)), att_svm_programme(units(2))]


@pytest.fixture(scope="module")
def truths():
    return [solve_nuclear(programme) for programme in lied_to()]


@pytest.mark.parametrize("lie", lies())
def test_a_lying_search_is_never_believed(monkeypatch, truths, lie):
    """Either the answer is right, by conditions checked here, or none is given."""
    true = nuclear.propose

    def lying(programme, *rest):
        for proposal in true(programme, *rest):
            yield lie(*proposal)

    monkeypatch.setattr(nuclear, "propose", lying)
    for programme, truth in zip(lied_to(), truths, strict=True):
        try:
            answer = solve_nuclear(programme)
        except SolverError:
            assert lie is not _true, "a true proposal is believed"
            continue
        check(programme, answer)
        check_bracket(programme, answer)
        assert abs(answer.value - truth.value) <= 1e-8 * truth.value


def test_nothing_proposed_is_an_error(monkeypatch):
    monkeypatch.setattr(nuclear, "propose", lambda *_: iter(()))
    with pytest.raises(SolverError, match="1e-9") as caught:
        solve_nuclear(lied_to()[0])
    assert caught.value.value is None
    assert "barely separable" in caught.value.remedy


def test_without_newton_steps_the_path_alone_reaches_the_tolerance(monkeypatch):
    monkeypatch.setattr(nuclear_search, "polish", lambda *arguments: None)
    for _, programme in separable(6):
        answer = solve_nuclear(programme)
        check_bracket(programme, answer)
        assert answer.width <= 1e-9


def test_grades_of_the_truth_and_of_a_near_miss():
    programme = lied_to()[0]
    answer = solve_nuclear(programme)
    left, values, right = np.linalg.svd(answer.W)
    r = answer.rank
    factors = left[:, :r] * values[:r], right[:r].T
    again = grade_nuclear(programme, factors, answer.weights)
    check(programme, again)
    assert abs(again.value - answer.value) <= 1e-13 * answer.value
    short = grade_nuclear(programme, (0.5 * factors[0], factors[1]), answer.weights)
    assert abs(short.primal_residual - 0.5) <= 1e-12
    assert short.bracket[1] >= answer.value * (1 - 1e-12)  # scaled back to feasibility
    long = grade_nuclear(programme, factors, 2.0 * answer.weights)
    assert abs(long.dual_residual - 1.0) <= 1e-12
    assert abs(long.bracket[0] - answer.bracket[0]) <= 1e-12 * answer.value
    signed = np.where(answer.weights > 0.0, answer.weights, -1e-20)
    assert (signed < 0.0).any()
    assert np.array_equal(grade_nuclear(programme, factors, signed).weights, answer.weights)
    assert grade_nuclear(programme, factors, signed).width <= 1e-11
    weak = grade_nuclear(programme, factors, 0.9 * answer.weights)
    assert weak.dimension == -1  # no singular value is 1, so no face
    assert not weak.unique


@pytest.mark.parametrize(
    ("figures", "width", "settled"),
    [
        ((0.0, 0.0, 0.0), 5e-10, True),
        ((0.0, 0.0, 0.0), 2e-9, False),
        ((1e-12, 1e-12, 1e-12), 5e-12, True),
        ((1e-12, 0.0, 0.0), 5e-10, False),
        ((0.0, 1e-12, 0.0), 5e-10, False),
        ((0.0, 0.0, -1e-12), 5e-10, False),
        ((0.0, math.nan, 0.0), 5e-12, False),
    ],
)
def test_a_wide_bracket_will_do_only_where_every_figure_is_at_rounding(figures, width, settled):
    data = AttentionData(np.eye(2)[None], np.ones((1, 2)), scores=np.array([[1.0, 0.0]]))
    answer = solve_nuclear(att_svm_programme(data))
    primal, dual, gap = figures
    given = {"primal_residual": primal, "dual_residual": dual, "gap": gap}
    graded = replace(answer, **given, bracket=(1.0, 1.0 + width))
    assert nuclear.is_settled(graded) is settled

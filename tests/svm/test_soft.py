"""The soft margin: every condition from scratch, what it is by hand, a lying kernel."""

import contextlib
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given
from hypothesis import strategies as st

import attsvm.svm.soft_path as path
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, TiedTokensError
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.programme import finite_part_programme, generalised_programme, p_svm_programme
from attsvm.svm.soft import soft_att_svm, soft_thresholds, solve_soft
from attsvm.svm.soft_path import merge
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import EPS, matrices
from tests.svm.problems import SPOILT, of_rows, programmes, spoilt

att_svms = programmes(kinds=("Att-SVM", "p-SVM", "v-SVM"))


@st.composite
def groupings(draw, programme):
    """Any of the groupings, with labels of any sign and size."""
    m = len(programme.D)
    labels = st.lists(st.sampled_from([-7, 0, 3, 10**9]), min_size=m, max_size=m)
    return draw(st.one_of(st.sampled_from(["constraint", "input"]), labels.map(np.array)))


def members(programme, slack):
    """The constraints of each group, in the order of their least index."""
    m = len(programme.D)
    named = {"constraint": np.arange(m), "input": programme.input}
    ids = (named[slack] if isinstance(slack, str) else np.asarray(slack)).tolist()
    return [[j for j in range(m) if ids[j] == label] for label in dict.fromkeys(ids)]


def scalars(*values):
    """One input a value, whose one constraint has that value as its 1 by 1 matrix."""
    X = np.array([[[value], [0.0]] for value in values])
    data = AttentionData(X, np.ones((len(values), 1)), scores=np.zeros((len(values), 2)))
    return att_svm_programme(data, [0] * len(values))


def check(programme, C, slack, answer):
    """All conditions of optimality and every figure, from the constraint matrices themselves."""
    A, groups = matrices(programme), members(programme, slack)
    at = programme.input, programme.token
    W, w = answer.W.ravel(), answer.duals[at]
    size, sizes = np.linalg.norm(W), np.linalg.norm(A, axis=1)
    unit = 8 * sum(A.shape) * EPS
    each = np.broadcast_to(C, len(A)).astype(float)
    prices, top = np.array([each[group[0]] for group in groups]), float(each.max())
    margins = A @ W
    slacks = np.array([max(0.0, *(1.0 - margins[group])) for group in groups])
    sums = np.array([w[group].sum() for group in groups])
    S = w @ A
    # feasible
    assert np.isfinite(W).all()
    assert (w >= 0.0).all()
    assert (sums <= prices * (1 + unit)).all()
    assert np.linalg.norm(S) <= 1.0 + unit * (1.0 + w @ sizes)
    # what rounding of margins may come to in the objective
    longest = np.array([sizes[group].max() for group in groups])
    rounding = unit * (size + prices @ (1.0 + size * longest))
    objective = size + prices @ slacks
    allowed = 1e-9 * objective + rounding
    assert objective - w.sum() <= allowed
    # the gap is a sum of terms that are not negative, each of them a condition of its own
    parts = [size - S @ W]
    for group, xi, total, price in zip(groups, slacks, sums, prices, strict=True):
        parts += [(price - total) * xi, *(w[j] * (margins[j] - 1.0 + xi) for j in group)]
    slip = unit * (top + w.sum()) * (1.0 + size * sizes.max())
    assert min(parts) >= -slip - unit * (1.0 + w @ sizes) * size
    assert sum(parts) <= allowed + len(parts) * slip
    # figures
    assert answer.status == "solved"
    assert answer.solved
    assert top == answer.C
    assert np.array_equal(answer.prices[answer.groups], each)
    assert abs(answer.value - size) <= unit * size
    assert abs(answer.objective - objective) <= rounding
    assert np.abs(answer.margins[at] - margins).max() <= unit * size * sizes.max()
    for group, xi in zip(groups, slacks, strict=True):
        shown = answer.slacks[at][group]
        assert np.abs(shown - xi).max() <= unit * (1.0 + size * sizes.max())
        labels = set(answer.groups[group].tolist())
        assert len(labels) == 1
    assert len(set(answer.groups.tolist())) == len(groups)
    others = np.ones(programme.shape, dtype=bool)
    others[at] = False
    assert (answer.margins[others] == np.inf).all()
    assert (answer.duals[others] == 0.0).all()
    assert (answer.slacks[others] == 0.0).all()
    assert abs(answer.gap) <= 1e-9
    assert abs(answer.gap - (objective - w.sum()) / objective) <= rounding / objective + unit
    assert answer.bracket[0] <= min(w.sum(), objective)
    assert max(w.sum(), objective) <= answer.bracket[1] + rounding
    missing = 1.0 - answer.slacks[at] - answer.margins[at]
    assert answer.primal_residual == max(0.0, *missing)
    assert max(answer.primal_residual, answer.dual_residual) <= 1e-9
    assert answer.kind in ("zero", "between", "hard")
    assert (answer.kind == "zero") == (size == 0.0)
    if size > 0.0:
        assert (answer.kind == "hard") == (slacks.max() <= 1e-9)
    low, high = answer.segment
    assert 0.0 <= low <= high == answer.value
    for t in (low, 0.5 * (low + high)):  # the whole segment is as good
        if size > 0.0:
            scaled = t / size * margins
            hinge = np.array([max(0.0, *(1.0 - scaled[group])) for group in groups])
            assert abs(t + prices @ hinge - objective) <= allowed
    first, second = answer.thresholds
    assert first > 0.0 or math.isnan(first)
    assert first <= second * (1 + 1e-12) or math.isnan(first + second)


@given(st.data())
def test_the_zero_matrix_is_the_answer_up_to_the_first_threshold(data):
    programme = data.draw(att_svms)
    slack = data.draw(groupings(programme))
    first, _ = soft_thresholds(programme, slack)
    always = first == math.inf  # whatever errors cost
    for C, zero in ((1e6, True),) if always else ((0.9999 * first, True), (1.0001 * first, False)):
        answer = solve_soft(programme, C, slack)
        check(programme, C, slack, answer)
        assert (answer.value == 0.0) == zero


@given(st.data())
def test_the_hard_margin_is_the_answer_from_the_second_threshold_on(data):
    programme = data.draw(att_svms)
    slack = data.draw(groupings(programme))
    hard = solve_programme(programme)
    first, second = soft_thresholds(programme, slack)
    assert math.isfinite(second) == hard.solved
    assume(hard.solved)
    alone = first < (1 - 1e-12) * second  # else W = 0 is as good where both thresholds are one
    for C in (second if alone else 1.0001 * second, 1.001 * second, 50 * second):
        answer = solve_soft(programme, C, slack)
        check(programme, C, slack, answer)
        assert answer.kind == "hard"
        assert np.abs(answer.W - hard.W).max() <= 1e-9 * hard.value
    answer = solve_soft(programme, 0.9999 * second, slack)
    check(programme, 0.9999 * second, slack, answer)
    assert answer.kind == ("zero" if 0.9999 * second < first else "between")
    assert answer.slacks.max() > 0.0


# prices and repetitions


@st.composite
def priced(draw, programme, slack):
    """A price a constraint, over many orders of magnitude, equal where slack is shared."""
    prices = np.empty(len(programme.D))
    for group in members(programme, slack):
        prices[group] = draw(st.sampled_from([1e-4, 0.05, 0.125, 0.5, 1.0, 3.0, 70.0]))
    return prices


@given(st.data())
def test_answers_for_any_prices_are_proved(data):
    programme = data.draw(att_svms)
    slack = data.draw(groupings(programme))
    one = st.sampled_from([1e-6, 0.05, 0.125, 0.25, 0.5, 1.0, 3.0, 10.0, 1e3, 1e6])
    prices = data.draw(priced(programme, slack) | one)
    answer = solve_soft(programme, prices, slack)
    check(programme, prices, slack, answer)
    top = float(np.max(prices))
    first, second = soft_thresholds(programme, slack, prices / top)
    assert answer.thresholds == (first, second)
    if first * (1 - 1e-9) > top:
        assert answer.kind == "zero"
    elif first * (1 + 1e-9) < top < second * (1 - 1e-9):
        assert answer.kind == "between"
    elif max(second, first) * (1 + 1e-9) < top:
        assert answer.kind == "hard"


@given(st.data())
def test_merged_programmes_hold_each_group_once_at_its_whole_price(data):
    programme = data.draw(att_svms)
    slack = data.draw(groupings(programme))
    prices = data.draw(priced(programme, slack))
    groups = members(programme, slack)
    labels = np.empty(len(programme.D), dtype=int)
    for g, group in enumerate(groups):
        labels[group] = g
    merged = merge(programme, labels, np.array([prices[group[0]] for group in groups]))

    def content(part, own):
        sides = np.hstack([part.D, part.Z]) + 0.0
        return frozenset(sides[j].tobytes() for j in own)

    total = {}
    for group in groups:
        key = content(programme, group)
        total[key] = total.get(key, 0.0) + prices[group[0]]
    left = [np.flatnonzero(merged.groups == h) for h in range(len(merged.prices))]
    assert sum(len(content(merged.programme, own)) for own in left) == len(merged.programme.D)
    found = {content(merged.programme, own): merged.prices[h] for h, own in enumerate(left)}
    assert len(found) == len(left)
    assert found == pytest.approx(total)
    duals = 1.0 + np.arange(len(merged.programme.D))
    duals /= merged.prices[merged.groups]  # any that is no multiple of the prices
    spread = merged.spread(duals)
    np.testing.assert_allclose(
        programme.combine(spread), merged.programme.combine(duals), atol=1e-10
    )
    sums = np.bincount(merged.groups, duals) / merged.prices
    for group in groups:  # as full as the group that it was merged into
        h = list(found).index(content(programme, group))
        assert spread[group].sum() == pytest.approx(sums[h] * prices[group[0]])


def test_nothing_is_merged_that_differs():
    """Zero and its negative are the same; so are groups in another order, not parts of them."""
    programme = scalars(2.0, -0.0, 0.0, 2.0, 1.0)
    ones = np.ones(5)
    assert merge(programme, np.arange(5), ones).programme.D.ravel().tolist() == [2.0, 0.0, 1.0]
    assert merge(programme, np.arange(5), ones).prices.tolist() == [2.0, 2.0, 1.0]
    merged = merge(programme, np.array([0, 0, 1, 1, 1]), np.array([1.0, 2.0]))
    assert merged.programme.D.ravel().tolist() == [2.0, 0.0, 0.0, 2.0, 1.0]
    merged = merge(programme, np.array([0, 0, 1, 1, 2]), np.array([1.0, 2.0, 4.0]))
    assert merged.prices.tolist() == [3.0, 4.0]


# solved by hand


@pytest.mark.parametrize("norm", [0.5, 1.0, 4.0, 2.0**-20, 2.0**20])
def test_one_constraint_jumps_from_zero_to_the_hard_margin(norm):
    """min |W| + C max(0, 1 - norm W): zero below C = 1/norm, 1/norm above, all between at it."""
    programme = scalars(norm)
    for slack in ("constraint", "input", [5]):
        assert soft_thresholds(programme, slack) == (1.0 / norm, 1.0 / norm)
        below, at, above = (solve_soft(programme, C / norm, slack) for C in (0.75, 1.0, 1.5))
        assert (below.kind, below.value, below.segment) == ("zero", 0.0, (0.0, 0.0))
        assert below.objective == 0.75 / norm
        assert below.slacks.tolist() == [[0.0, 1.0]]
        assert below.duals.tolist() == [[0.0, 0.75 / norm]]
        assert (at.kind, at.value, at.segment) == ("hard", 1.0 / norm, (0.0, 1.0 / norm))
        assert (above.kind, above.segment) == ("hard", (1.0 / norm, 1.0 / norm))
        assert above.W.tolist() == [[1.0 / norm]]
        assert above.duals.tolist() == [[0.0, 1.0 / norm]]
        assert above.slacks.max() == above.gap == 0.0


# scale, size and other programmes


@pytest.mark.parametrize("price", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4])
def test_data_of_any_scale_and_price(scale, price):
    """Separable or not; A to s A is C to s C and W to W / s."""
    for seed, size in ((3, (4, 4, 6)), (5, (8, 5, 2))):
        data = gaussian_protocol(np.random.default_rng(seed), *size)
        scaled = AttentionData(data.X * scale, data.Z, scores=data.gamma)
        for slack in ("constraint", "input"):
            answer = soft_att_svm(scaled, price, slack=slack)
            check(att_svm_programme(scaled), price, slack, answer)
            assert (answer.thresholds[1] == math.inf) == (seed == 5)
            other = soft_att_svm(data, price * scale, slack=slack)
            assert other.kind == answer.kind
            assert seed == 5 or np.abs(answer.W * scale - other.W).max() <= 1e-12 * max(
                1.0, other.value
            )


@pytest.mark.parametrize("C", [1e20, 1e300, 1.7e308])
def test_a_price_beyond_float64_is_refused(C):
    """Duals would have to cancel to 1 / C of their size, and the penalty overflows at last."""
    data = gaussian_protocol(np.random.default_rng(5), n=8, T=5, d=2)
    with pytest.raises(SolverError, match="gap above 1e-9") as caught:
        soft_att_svm(data, C)
    assert not caught.value.value <= 1e-9
    assert "smaller C" in caught.value.remedy


@given(st.data(), st.sampled_from([0.05, 0.3, 1.0, 10.0]))
def test_support_is_where_margin_and_slack_add_up_to_one(data, C):
    programme = data.draw(att_svms)
    slack = data.draw(groupings(programme))
    answer = solve_soft(programme, C, slack)
    tight = np.zeros(programme.shape, dtype=bool)
    for i, tokens in enumerate(answer.support):
        tight[i, list(tokens)] = True
    total = answer.margins + answer.slacks
    assert (total[tight] <= 1.0 + 1e-6 * (1.0 + answer.slacks[tight])).all()
    assert tight[total <= 1.0].all()
    assert tight[answer.duals > 1e-3 * answer.duals.max()].all()
    for group in members(programme, slack):
        at = programme.input[group], programme.token[group]
        if (answer.slacks[at] > 0.0).any():
            assert tight[at].any()


def test_a_shared_slack_leaves_the_larger_margin_loose():
    """||W|| + C (1 - W) + C (1 - 4 W)_+ is least at 1/4: margins 1/4 and 1/2 share a slack."""
    data = AttentionData.of(
        [[[2.0], [1.0], [0.0]], [[4.0], [0.0], [-1.0]]], [[1.0], [1.0]], scores=[[1, 0, 0]] * 2
    )
    answer = soft_att_svm(data, 0.5, slack="input")
    assert answer.W[0, 0] == pytest.approx(0.25, rel=1e-9)
    assert (answer.support, answer.degenerate) == (((1,), (1,)), ((), ()))
    assert answer.slack_per == "input"
    assert soft_att_svm(data, 0.5).support == ((1, 2), ())
    assert soft_att_svm(data, 0.5).slack_per == "constraint"
    assert soft_att_svm(data, 0.5, slack=[0, 1, 1, 1]).slack_per == "group"


# a kernel that lies


PLANTED = [
    att_svm_programme(gaussian_protocol(np.random.default_rng(1), n=3, T=4, d=6)),
    att_svm_programme(gaussian_protocol(np.random.default_rng(5), n=6, T=4, d=2)),
    scalars(1.0, 2.0, 2.0, -1.0),
]


@pytest.fixture(scope="module")
def with_prices():
    """Programmes with a price at which the honest answer is right."""
    found = []
    for programme in PLANTED:
        first, second = soft_thresholds(programme)
        found.append((programme, math.sqrt(first * min(second, 30.0))))
        programme, C = found[-1]
        check(programme, C, "constraint", solve_soft(programme, C))
    return found


@pytest.fixture(scope="module")
def thresholds():
    """Those of the same programmes with one slack an input."""
    return [soft_thresholds(programme, "input") for programme in PLANTED]


@pytest.mark.parametrize("what", ["matrix", "duals", "both", "rate"])
@pytest.mark.parametrize("kind", SPOILT)
def test_a_lying_path_is_never_believed(monkeypatch, with_prices, kind, what):
    """Either the answer is right, by conditions checked here, or none is given."""
    truth = path.follow

    def lying(*arguments):
        S, tau, rate, gain, steps = truth(*arguments)
        u = arguments[5]
        if what in ("duals", "both"):
            u[:] = spoilt(kind, u)
        if what in ("matrix", "both"):
            S = spoilt(kind, S)
        if what == "rate":
            rate, gain = spoilt(kind, rate), 1.0
        return S, tau, rate, gain, steps

    monkeypatch.setattr(path, "follow", lying)
    for programme, C in with_prices:
        with contextlib.suppress(SolverError):
            check(programme, C, "constraint", solve_soft(programme, C))


@pytest.mark.parametrize("kind", SPOILT)
def test_a_lying_start_is_never_believed(monkeypatch, thresholds, kind):
    """The first threshold is right or refused, and answers are proved or refused."""
    truth = path.fill

    def lying(*arguments):
        free = truth(*arguments)
        arguments[5][:] = spoilt(kind, arguments[5])
        return free

    monkeypatch.setattr(path, "fill", lying)
    for programme, (first, second) in zip(PLANTED, thresholds, strict=True):
        with contextlib.suppress(SolverError):
            assert abs(soft_thresholds(programme, "input")[0] - first) <= 1e-9 * first
        for C in (0.5 * first, math.sqrt(first * min(second, 30.0)), 1.5 * min(second, 30.0)):
            try:
                answer = solve_soft(programme, C, "input")
            except SolverError:
                continue
            check(programme, C, "input", answer)
            assert math.isnan(answer.thresholds[0]) or abs(answer.thresholds[0] - first) <= 1e-9


@pytest.mark.parametrize(
    "lie",
    [
        lambda x, prices: (None, prices),
        lambda x, prices: (np.zeros_like(x), prices),
        lambda x, prices: (np.full_like(x, np.nan), prices),
        lambda x, prices: (1.5 * x + 1.0, prices),
        lambda x, prices: (x, np.zeros_like(prices)),
        lambda x, prices: (x, np.full_like(prices, np.nan)),
        lambda x, prices: (x, prices[::-1].copy()),
    ],
)
def test_a_lying_linear_programme_is_never_believed(monkeypatch, lie):
    rows = [[[2.0, side], [0.0, 0.0]] for side in (2.0, -2.0, 0.0)]  # W = (1/2, 0), three tight
    data = AttentionData.of(rows, [[1.0, 0.0]] * 3, scores=[[1, 0]] * 3)
    programme, truth, called = p_svm_programme(data), scipy.optimize.linprog, []

    def lying(*arguments, **options):
        called.append(True)
        reply = truth(*arguments, **options)
        x, prices = lie(reply.x, reply.ineqlin.marginals)
        return SimpleNamespace(x=x, ineqlin=SimpleNamespace(marginals=prices), status=0)

    monkeypatch.setattr(scipy.optimize, "linprog", lying)
    with contextlib.suppress(SolverError):
        assert abs(soft_thresholds(programme)[1] - 1 / 6) <= 1e-9
    assert called
    for C in (0.1, 0.2, 1.0):
        answer = solve_soft(programme, C)
        check(programme, C, "constraint", answer)
        assert math.isnan(answer.thresholds[1]) or abs(answer.thresholds[1] - 1 / 6) <= 1e-9


def test_an_undecided_hard_programme_leaves_the_soft_one_solvable(monkeypatch):
    def stuck(programme, *_):
        raise SolverError("neither solved nor unseparable")

    honest = [solve_soft(programme, 0.3) for programme in PLANTED]
    monkeypatch.setattr(path, "solve_programme", stuck)
    for programme, truth in zip(PLANTED, honest, strict=True):
        answer = solve_soft(programme, 0.3)
        check(programme, 0.3, "constraint", answer)
        assert math.isnan(answer.thresholds[1])
        assert abs(answer.objective - truth.objective) <= 1e-9 * truth.objective
        with pytest.raises(SolverError, match="threshold could not be proved") as caught:
            soft_thresholds(programme)
        assert "exact" in caught.value.remedy


# bad input


@pytest.mark.parametrize("C", [0, 0.0, -1.0, math.nan, math.inf, "1", None, True, 1j, [1.0]])
def test_a_price_must_be_positive_and_finite(C):
    with pytest.raises(DataError, match="positive finite number"):
        solve_soft(scalars(1.0, 2.0), C)


@pytest.mark.parametrize(
    "C",
    [
        [1.0, 0.0], [1.0, -1.0], [math.nan, 1.0], [1.0, math.inf], [1.0], [1.0] * 3, [[1.0, 1.0]],
        [], ["1", "2"], [True, True], [1.0, None], np.array([1.0, 2.0]) * 1j, {1.0, 2.0},
        [[1.0], [1.0, 2.0]], 10**400, Fraction(-1, 2),
    ],
)  # fmt: skip
def test_prices_must_be_one_a_constraint(C):
    for call in (lambda p: solve_soft(p, C), lambda p: soft_thresholds(p, prices=C)):
        with pytest.raises(DataError, match="positive finite number, or 2 of them"):
            call(scalars(1.0, 2.0))


@pytest.mark.parametrize("C", [[1.0, 2.0], np.array([3, 1])])
def test_constraints_that_share_a_slack_have_one_price(C):
    with pytest.raises(DataError, match="have one price"):
        solve_soft(scalars(1.0, 2.0), C, [0, 0])
    assert solve_soft(scalars(1.0, 2.0), [2.0, 2.0], [0, 0]).prices.tolist() == [2.0]


@pytest.mark.parametrize(
    "C", [1, np.float32(1.0), np.int64(1), np.float64(1.0), Fraction(1), [1.0], [1]]
)
def test_any_kind_of_real_number_is_a_price(C):
    assert solve_soft(scalars(4.0), C).W.tolist() == [[0.25]]


@pytest.mark.parametrize(
    "slack",
    ["inputs", "", None, [0], [0, 1, 2], [0.0, 1.0], [True, False], [[0, 1]], 3, ["a", "b"]],
)
def test_groups_must_be_one_integer_a_constraint(slack):
    for call in (lambda p: solve_soft(p, 1.0, slack), lambda p: soft_thresholds(p, slack)):
        with pytest.raises(DataError, match="2 integers, one group per constraint"):
            call(scalars(1.0, 2.0))


def test_programmes_with_other_bounds_are_refused():
    data = gaussian_protocol(np.random.default_rng(0), n=2, T=3, d=4)
    selected = np.array([[True, True, False]] * 2)
    others = [
        generalised_programme(data, selected),
        finite_part_programme(data, selected, np.full((2, 3), 1 / 3)),
    ]
    for programme in others:
        for call in (lambda p: solve_soft(p, 1.0), soft_thresholds):
            with pytest.raises(DataError, match="margin at least 1") as caught:
                call(programme)
            assert caught.value.value == programme.name


def test_tied_tokens_need_targets():
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    with pytest.raises(TiedTokensError):
        soft_att_svm(data, 2.0)
    assert soft_att_svm(data, 2.0, [0]).W.tolist() == att_svm(data, [0]).W.tolist() == [[1.0]]
    assert soft_att_svm(data, 2.0, [1]).W.tolist() == [[-1.0]]


@pytest.mark.parametrize("far", [False, True])
def test_the_first_threshold_is_told_only_where_the_least_point_was_found(monkeypatch, far):
    """Of one group with the rows (1, 0) and (0, 2): the least point of the hull is (4, 2)/5."""
    rows = of_rows([[1.0, 0.0], [0.0, 2.0]], np.zeros((2, 2)), np.ones((2, 1)), [1, 1], False)
    if far:
        monkeypatch.setattr(path, "fill", lambda *_: np.zeros(3, dtype=bool))
    first, _ = path.trace(rows, np.zeros(2, dtype=int), np.ones(1)).thresholds
    assert math.isnan(first) if far else first == pytest.approx(np.sqrt(1.25))

"""What any matrix and multipliers prove, against exact answers, floats and many digits."""

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import decide, rational, rationals
from attsvm.exact.optimality import conditions, norm_bracket, soft_bracket
from attsvm.exact.programme import ExactProgramme
from attsvm.svm import att_svm_programme
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.soft import solve_soft
from tests.exact.digits import EPS, fractions


def block(draw, *shape, top=3):
    size = int(np.prod(shape))
    entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
    return np.array(entries, dtype=float).reshape(shape)


@st.composite
def programmes(draw):
    n, T, d = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 3))
    scores = np.zeros((n, T))
    scores[:, 0] = 1.0
    data = AttentionData(block(draw, n, T, d), block(draw, n, d), scores=scores)
    return att_svm_programme(data)


def one_column(rows, bound, equal):
    """Rows in one dimension."""
    return ExactProgramme.of_rows(
        [[fmpq(a)] for a in rows], [[fmpq(1)]] * len(rows), [fmpq(b) for b in bound], equal
    )


def is_(ball, value):
    """Whether the ball holds a value and no other that differs by more than a rounding."""
    return bool(ball.contains(value)) and bool(ball.rad() <= 1e-15 * (1 + abs(ball)))


def nuclear_in_digits(W):
    with mpmath.workdps(60):
        values = mpmath.svd_r(mpmath.matrix(W.tolist()), compute_uv=False)
        return arb(mpmath.nstr(mpmath.fsum(values), 50))


# conditions


@settings(max_examples=80, deadline=None)
@given(programmes())
def test_exact_answers_meet_all_conditions_and_floats_nearly(programme):
    """Floats miss them by 1e-9 of the solution, of its multipliers and of the constraints."""
    exact, rows = decide(programme), ExactProgramme.of(programme)
    assume(exact.status == "solved")
    assert conditions(rows, exact.W, exact.duals).hold
    mine = solve_programme(programme)
    found = conditions(rows, rationals(mine.W), rationals(mine.weights))
    loads = 1.0 + float(np.abs(mine.weights) @ programme.norms) + mine.value
    size = (1.0 + float(programme.norms.max())) * loads * loads
    assert arb(found.shortfall) <= 1e-9 * size
    assert arb(found.complementarity) <= 1e-9 * size
    assert arb(found.stationarity) <= (1e-9 * size) ** 2
    assert found.sign == 0


@settings(max_examples=80, deadline=None)
@given(programmes(), st.data())
def test_whatever_is_changed_in_an_answer_breaks_a_condition(programme, draw):
    """The minimiser is unique, and multipliers that give another sum do not give it."""
    exact, rows = decide(programme), ExactProgramme.of(programme)
    assume(exact.status == "solved")
    W = exact.W
    r, c = (draw.draw(st.integers(0, len(axis) - 1)) for axis in (W, W[0]))
    tiny = draw.draw(st.sampled_from([fmpq(1, 2**80), fmpq(-1, 2**80), fmpq(-1)]))
    moved = [list(row) for row in W]
    moved[r][c] += tiny
    broken = conditions(rows, moved, exact.duals)
    assert not broken.hold
    assert broken.stationarity == tiny * tiny
    j = draw.draw(st.integers(0, len(exact.duals) - 1))
    duals = list(exact.duals)
    duals[j] += tiny
    if programme.norms[j] > 0.0:
        assert conditions(rows, W, duals).stationarity > 0


@pytest.mark.parametrize(
    ("W", "duals", "equal", "figures"),
    [
        # rows 1 and 2 with bound 1: W = 1 is the solution, its multiplier 1 on the first
        (1, [1, 0], [False, False], (0, 0, 0, 0)),
        (fmpq(1, 2), [fmpq(1, 2), 0], [False, False], (fmpq(1, 2), 0, 0, fmpq(1, 4))),
        (2, [2, 0], [False, False], (0, 0, 0, 2)),
        (1, [-1, 1], [False, False], (0, 1, 0, 1)),
        (1, [-1, 1], [True, False], (0, 0, 0, 1)),
        (1, [3, 0], [False, False], (0, 0, 4, 0)),
        (1, [1, 0], [False, True], (1, 0, 0, 0)),  # a margin of 2 for an equality
    ],
)
def test_conditions_by_hand(W, duals, equal, figures):
    found = conditions(one_column([1, 2], [1, 1], equal), [[fmpq(W)]], [fmpq(w) for w in duals])
    assert (found.shortfall, found.sign, found.stationarity, found.complementarity) == figures
    assert found.hold == (not any(figures))


@settings(max_examples=60, deadline=None)
@given(programmes(), st.data())
def test_margins_and_sums_are_those_of_fractions(programme, draw):
    rows = ExactProgramme.of(programme)
    W = block(draw.draw, programme.D.shape[1], programme.Z.shape[1]) / 7
    weights = block(draw.draw, len(programme.D)) / 3
    A = [
        np.outer(D, z)
        for D, z in zip(fractional(programme.D), fractional(programme.Z), strict=True)
    ]
    exact = fractional(W)
    assert fractions(rows.margins(rationals(W))) == [(a * exact).sum() for a in A]
    total = sum(w * a for w, a in zip(fractional(weights), A, strict=True))
    assert fractions(rows.matrix(rationals(weights))) == total.tolist()


def fractional(array):
    """Arrays of fractions."""
    return np.array(fractions(rationals(array)), dtype=object)


# brackets


@settings(max_examples=80, deadline=None)
@given(programmes(), st.data())
def test_frobenius_brackets_hold_the_least_norm_whatever_proposes_them(programme, draw):
    exact, rows = decide(programme), ExactProgramme.of(programme)
    if exact.status == "unseparable":
        low, high = norm_bracket(rows, rationals(np.ones((len(programme.D[0]),) * 2)), exact.duals)
        assert not low.is_finite()  # the certificate itself: nothing is feasible
        assert low > 0
        assert not high.is_finite()
        return
    least = arb(exact.square).sqrt()
    low, high = norm_bracket(rows, exact.W, exact.duals)
    assert low.overlaps(least)
    assert high.overlaps(least)
    assert high - low <= 1e-13 * least
    noise = block(draw.draw, *programme.D.shape[:1]) / 16
    W = np.array([[float(arb(x)) for x in row] for row in exact.W])
    W += block(draw.draw, *W.shape) / 64
    duals = [w + rational(x) for w, x in zip(exact.duals, noise, strict=True)]
    low, high = norm_bracket(rows, rationals(W), duals)
    assert not low > least
    assert not high < least


@settings(max_examples=60, deadline=None)
@given(programmes())
def test_frobenius_brackets_of_floats_hold_their_norm(programme):
    mine = solve_programme(programme)
    assume(mine.solved)
    low, high = norm_bracket(
        ExactProgramme.of(programme), rationals(mine.W), rationals(mine.weights)
    )
    assert not low > arb(mine.value) * (1 + arb("1e-9"))
    assert not high < arb(mine.value) * (1 - arb("1e-9"))
    assert high - low <= 1e-8 * high


@settings(max_examples=60, deadline=None)
@given(programmes())
def test_nuclear_brackets_of_floats_hold_theirs(programme):
    """The bracket that floats prove and the exact one both hold the least nuclear norm."""
    assume(decide(programme).status == "solved")
    try:
        mine = solve_nuclear(programme)
    except SolverError:
        assume(False)
    rows = ExactProgramme.of(programme)
    low, high = norm_bracket(rows, rationals(mine.W), rationals(mine.weights), "nuc")
    assert high - low <= 1e-8 * high
    assert not low > arb(rational(mine.bracket[1]))
    assert not high < arb(rational(mine.bracket[0]))
    # no bound of rounding in the exact ones: they lie inside
    assert low >= arb(rational(mine.bracket[0])) * (1 - arb("1e-14"))
    assert high <= arb(rational(mine.bracket[1])) * (1 + arb("1e-14"))
    multiple = max(fmpq(1) / m for m in rows.margins(rationals(mine.W)))
    assert abs(high - multiple * nuclear_in_digits(mine.W)) <= 1e-13 * high


@settings(max_examples=60, deadline=None)
@given(programmes(), st.data())
def test_nuclear_brackets_hold_between_frobenius_and_rank_times_it(programme, draw):
    """||V||_F <= ||V||_* <= sqrt(rank) ||V||_F, for the solution in either norm."""
    exact, rows = decide(programme), ExactProgramme.of(programme)
    assume(exact.status == "solved")
    least = arb(exact.square).sqrt()
    low, high = norm_bracket(rows, exact.W, exact.duals, "nuc")
    assert not high < least
    assert not low > least * arb(exact.rank).sqrt()
    assert not low > high
    assert exact.rank > 1 or high.overlaps(least)
    assert exact.rank > 1 or low.overlaps(least)


@pytest.mark.parametrize(
    ("bound", "equal", "W", "above"),
    [
        ([1, 1], [False, False], 5, 1),
        ([1, 4], [False, False], 5, 2),
        ([1, 2], [True, True], 5, 1),
        ([1, 3], [True, True], 5, None),
        ([1, -3], [False, False], -5, None),
        ([-1, -3], [False, False], -5, 0),
        ([0, 0], [True, False], 0, 0),
        ([1, 0], [False, False], 0, None),
        ([0, 0], [False, True], 5, 0),
        ([-2, 0], [True, False], -1, None),
        ([2, 3], [True, False], 1, 2),
    ],
)
def test_the_least_feasible_multiple_by_hand(bound, equal, W, above):
    """Rows 1 and 2 in one dimension."""
    rows = one_column([1, 2], bound, equal)
    _, high = norm_bracket(rows, [[fmpq(W)]], [fmpq(0)] * 2)
    assert not high.is_finite() if above is None else is_(high, above)


def test_multipliers_of_wrong_sign_prove_nothing():
    rows = one_column([1, -1], [1, -3], [False, False])  # 1 <= W <= 3
    assert norm_bracket(rows, [[fmpq(1)]], [fmpq(2), fmpq(0)])[0] == 1
    assert is_(norm_bracket(rows, [[fmpq(1)]], [fmpq(4), fmpq(1)])[0], fmpq(1, 3))
    assert norm_bracket(rows, [[fmpq(1)]], [fmpq(0), fmpq(-1)])[0] == 0
    assert norm_bracket(rows, [[fmpq(1)]], [fmpq(-1), fmpq(-1)])[0] == 0
    free = one_column([1, 2], [-1, -2], [True, True])
    assert norm_bracket(free, [[fmpq(-1)]], [fmpq(-1), fmpq(0)]) == (arb(1), arb(1))


# the soft margin


@settings(max_examples=80, deadline=None)
@given(programmes(), st.sampled_from([0.03125, 0.25, 1.0, 8.0]), st.booleans(), st.data())
def test_soft_brackets_of_floats_hold_their_objective(programme, C, shared, draw):
    slack = "input" if shared else "constraint"
    try:
        mine = solve_soft(programme, C, slack)
    except SolverError:
        assume(False)
    rows = ExactProgramme.of(programme)
    duals = mine.duals[programme.input, programme.token]
    groups = mine.groups.tolist()
    low, high = soft_bracket(rows, groups, rational(C), rationals(mine.W), rationals(duals))
    assert high - low <= 1e-8 * high
    size = 64 * EPS * (1.0 + C * float(programme.norms.sum()) * (1.0 + mine.value))
    assert abs(high - arb(mine.objective)) <= size + 1e-11 * mine.objective
    assert not low > arb(rational(mine.bracket[1])) + size
    assert not high < arb(rational(mine.bracket[0])) - size
    # any other point costs no less, any other multipliers prove no more
    W = mine.W + block(draw.draw, *mine.W.shape) / 8
    other = duals + np.abs(block(draw.draw, len(duals))) / 8
    below, above = soft_bracket(rows, groups, rational(C), rationals(W), rationals(other))
    assert not above < low
    assert not below > high


@pytest.mark.parametrize(
    ("C", "W", "duals", "bracket"),
    [
        # one row of size 2: min |W| + C max(0, 1 - 2 W) is min(C, 1/2)
        (fmpq(1, 4), 0, [fmpq(1, 4)], (fmpq(1, 4), fmpq(1, 4))),
        (fmpq(1, 4), 0, [fmpq(7)], (fmpq(1, 4), fmpq(1, 4))),  # scaled down to C
        (fmpq(2), fmpq(1, 2), [fmpq(1, 2)], (fmpq(1, 2), fmpq(1, 2))),
        (fmpq(2), fmpq(1, 2), [fmpq(7)], (fmpq(1, 2), fmpq(1, 2))),  # scaled down to ||S|| = 1
        (fmpq(2), fmpq(1, 2), [fmpq(1, 9)], (fmpq(1, 2), fmpq(1, 2))),  # and up
        (fmpq(2), fmpq(1, 4), [fmpq(-1)], (0, fmpq(5, 4))),
        (fmpq(2), fmpq(-1), [fmpq(0)], (0, fmpq(7))),
    ],
)
def test_soft_brackets_by_hand(C, W, duals, bracket):
    rows = one_column([2], [1], [False])
    low, high = soft_bracket(rows, [0], C, [[fmpq(W)]], duals)
    assert is_(low, bracket[0])
    assert is_(high, bracket[1])


def test_a_shared_slack_is_paid_once():
    rows = one_column([1, -1], [1, 1], [False, False])  # W and -W at least 1
    W, duals = [[fmpq(0)]], [fmpq(1), fmpq(1)]
    assert soft_bracket(rows, [0, 1], fmpq(1), W, duals) == (arb(2), arb(2))
    assert soft_bracket(rows, [0, 0], fmpq(1), W, duals) == (arb(1), arb(1))
    assert soft_bracket(rows, [0, 0], fmpq(1), [[fmpq(1)]], duals)[1] == 3


@pytest.mark.parametrize(("C", "equal"), [(fmpq(0), False), (fmpq(-1), False), (fmpq(1), True)])
def test_what_has_no_soft_margin_is_refused(C, equal):
    with pytest.raises(DataError, match="soft margin"):
        soft_bracket(one_column([1], [1], [equal]), [0], C, [[fmpq(1)]], [fmpq(1)])

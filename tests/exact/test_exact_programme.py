"""Exact programmes from exact rows, the judge of their answers, and brackets of any matrix."""

from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb, fmpq, fmpz, fmpz_mat
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, OutOfTimeError, SolverError
from attsvm.exact import ExactData, decide, rational, rationals, separate
from attsvm.exact import svm as exact_svm
from attsvm.exact.active_set import TRIED, exchange, pivot, solve
from attsvm.exact.deadline import Deadline
from attsvm.exact.optimality import norm_bracket, soft_bracket
from attsvm.exact.svm import ExactProgramme, float_guess, nearest, proved, solve_exactly
from attsvm.svm import att_svm_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.soft import solve_soft
from tests.exact.digits import EPS, fractions
from tests.svm.conditions import check_exactly, exact_margins, exact_sum, exactly, nuclear_norm
from tests.svm.problems import blocks, problems, programmes, two_tokens


def solution(exact):
    return [[exactly(x) for x in row] for row in exact.W]


@given(problems())
def test_exact_data_are_separated_as_the_programme_is(problem):
    data, targets = problem
    exact = ExactData.of(data)
    chosen = [kept.index(t) for kept, t in zip(exact.kept, targets.tolist(), strict=True)]
    assume(data.present.sum() > data.n)
    answer = separate(exact, chosen)
    programme = att_svm_programme(data, targets)
    check_exactly(programme, answer)
    assert solution(answer) == solution(decide(programme))
    assert answer.status == decide(programme).status


def test_inputs_of_one_token_each_ask_for_nothing():
    data = AttentionData.of([[[1.0]], [[2.0]]], [[1.0], [1.0]], scores=[[1.0], [1.0]])
    assert separate(ExactData.of(data), [0, 0]) is None


@given(blocks(4, 2), blocks(4, 2), blocks(4), st.integers(1, 7), st.integers(1, 5))
def test_rows_of_rationals_are_decided_as_they_are(D, Z, bound, p, q):
    """Denominators 3 and 7 no float holds; W scales against them."""
    assume(bound.any())
    rows = [[fmpq(int(x), 3 * p) for x in row] for row in D]
    queries = [[fmpq(int(x), 7 * q) for x in row] for row in Z]
    bounds = [fmpq(int(b), 5) for b in bound]
    equal = [False, True, False, False]
    answer = solve_exactly(ExactProgramme.of_rows(rows, queries, bounds, equal))
    whole = solve_exactly(
        ExactProgramme.of_rows(
            [[fmpq(int(x)) for x in row] for row in D],
            [[fmpq(int(x)) for x in row] for row in Z],
            [fmpq(int(b)) for b in bound],
            equal,
        )
    )
    assert answer.status == whole.status
    factor = Fraction(3 * p * 7 * q, 5)
    assert solution(answer) == [[x * factor for x in row] for row in solution(whole)]


ANY_GUESS = st.lists(st.integers(0, 4), unique=True)


def integer(D, Z, bound, equal):
    """A programme of integer rows."""
    rows, queries = ([[fmpq(int(x)) for x in row] for row in table] for table in (D, Z))
    return ExactProgramme.of_rows(rows, queries, [fmpq(int(b)) for b in bound], equal)


@given(blocks(5, 2), blocks(5, 2), blocks(5), st.tuples(*[st.booleans()] * 5), ANY_GUESS)
def test_pivots_end_with_the_same_answer_whatever_is_tried_first(D, Z, bound, equal, guess):
    programme = integer(D, Z, bound, list(equal))
    answers = [proved(programme, *pivot(programme, tried)) for tried in (guess, [])]
    assert answers[0].status == answers[1].status
    assert solution(answers[0]) == solution(answers[1])


@given(blocks(5, 3), blocks(5, 2), blocks(5), st.tuples(*[st.booleans()] * 5), ANY_GUESS)
def test_exchanges_end_with_the_support_where_rows_are_independent(D, Z, bound, equal, guess):
    """With equalities, and multipliers and margins that have a sign, it is the only one."""
    programme = integer(D, Z, bound, list(equal))
    gram = programme.gram(range(5), range(5))
    assume(fmpz_mat(gram).det() != 0)
    answer = proved(programme, *pivot(programme, []))
    assume(not answer.degenerate)
    held = [j for j in range(5) if equal[j] or answer.duals[j] != 0]
    assert exchange(gram, programme.bound, list(equal), guess)[0] == held


@given(
    *[blocks(5, 3), blocks(5, 2), blocks(5), st.tuples(*[st.booleans()] * 5)],
    st.lists(st.sampled_from([-8, 0, 3, 8]), min_size=5, max_size=5),
)
def test_the_float_guess_is_the_support_whatever_the_sizes_of_rows(D, Z, bound, equal, powers):
    """Where rows are independent, and multipliers and margins have a sign: nothing is pivoted."""
    rows, queries = ([[fmpq(int(x)) for x in row] for row in table] for table in (D, Z))
    scaled = [[fmpq(2) ** p * x for x in row] for p, row in zip(powers, rows, strict=True)]
    programme = ExactProgramme.of_rows(scaled, queries, [fmpq(int(b)) for b in bound], list(equal))
    assume(fmpz_mat(programme.gram(range(5), range(5))).det() != 0)
    answer = proved(programme, *pivot(programme, []))
    assume(all(answer.duals[j] != 0 for j in answer.tight))
    assert [w != 0.0 for w in float_guess(programme)] == [w != 0 for w in answer.duals]


SLOW = np.array(
    [
        *[[-3, 3, -3, 0, -1, 1], [3, 1, -3, 0, -1, -2], [1, -1, -1, -1, -2, -1]],
        *[[-1, -3, -3, -1, -1, 0], [-2, 2, -2, 3, 2, -2], [2, 1, 2, -3, -3, 2]],
    ]
).tolist()
"""Rows on which exchanges one at a time go on for more rounds than there may be."""
SLOW_BOUND = [fmpq(b) for b in (2, 2, 1, 2, 1, 3)]


def slow():
    return ExactProgramme.of_rows(
        [[fmpq(x) for x in row] for row in SLOW], [[fmpq(1)]] * 6, SLOW_BOUND, [False] * 6
    )


def test_exchanges_are_all_at_once_as_long_as_they_get_fewer():
    gram, rounds = slow().gram(range(6), range(6)), []
    counting = SimpleNamespace(ensure=lambda: rounds.append(1))
    assert exchange(gram, SLOW_BOUND, [False] * 6, [], counting)[0] == [3, 4, 5]
    assert len(rounds) > 10


def test_a_large_programme_is_solved_by_exchanges_before_anything_is_pivoted(monkeypatch):
    monkeypatch.setattr(exact_svm, "MANY", 6)
    monkeypatch.setattr(exact_svm, "pivot", None)
    answer = solve_exactly(slow(), np.zeros(6))
    assert [j for j, w in enumerate(answer.duals) if w != 0] == [3, 4, 5]


@given(blocks(24, 3), blocks(24))
def test_what_long_floats_propose_for_many_dependent_rows_is_proved_at_once(D, bound):
    """Rows of rank 3 at most, all violated by 0 and all met far along the first axis."""
    D[:, 0], events, proposals = 1.0 + np.abs(D[:, 0]), [], []
    programme = integer(D, np.ones((24, 1)), 1.0 + np.abs(bound), [False] * 24)
    watched = SimpleNamespace(ensure=lambda *seconds: events.append("system"))

    def note(weights):
        events.append("proposal")
        proposals.append([float(exactly(w)) for w in weights])

    answer = solve_exactly(programme, np.zeros(24), watched, note)
    assert solution(answer) == solution(proved(programme, *pivot(programme, [])))
    assert events.count("proposal") == 1
    assert events[-2:] == ["proposal", "system"]
    assert [float(exactly(w)) for w in answer.duals] == pytest.approx(proposals[0])


@pytest.mark.parametrize("k", range(3, 12))
def test_rows_that_a_support_makes_tight_do_not_join_it(k):
    """1/k is no float: the margin of the second row is off by roundings of 256 bits."""
    gram = [[fmpz(k), fmpz(k)], [fmpz(k), fmpz(k)]]
    assert exchange(gram, [fmpq(1), fmpq(1)], [False, False], [0])[0] == [0]


@given(st.fractions())
@example(Fraction(2**53 + 1))
@example(Fraction(1, 3))
@example(Fraction(2) ** -1074 / 2)
def test_nearest_rounds_correctly(value):
    assert nearest(fmpq(value.numerator, value.denominator)) == float(value)


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_floats_nearest_is_infinite(sign):
    assert nearest(fmpq(sign * 10**400, 3)) == sign * np.inf


def one_column(rows, bound, equal):
    """Rows in one dimension."""
    return ExactProgramme.of_rows(
        [[fmpq(a)] for a in rows], [[fmpq(1)]] * len(rows), [fmpq(b) for b in bound], equal
    )


TWO = one_column([1, 2], [1, 1], [False, False])
SAME = one_column([1, 1], [1, 1], [False, False])
OPPOSED = one_column([1, -1], [1, 0], [False, False])
FREE = one_column([1, 2], [1, 1], [True, True])
MIXED = one_column([1, 2], [1, 1], [False, True])


@pytest.mark.parametrize(
    ("programme", "weights", "status", "right"),
    [
        pytest.param(TWO, [1, 0], "solved", True, id="margins 1 and 2"),
        pytest.param(TWO, [0, 0], "solved", False, id="margins 0"),
        pytest.param(TWO, [0, fmpq(1, 4)], "solved", False, id="margin 1/2 for 1"),
        pytest.param(TWO, [2, 0], "solved", False, id="weight on a margin of 2"),
        pytest.param(SAME, [2, -1], "solved", False, id="tight, of wrong sign"),
        pytest.param(SAME, [fmpq(1, 3), fmpq(2, 3)], "solved", True, id="shared weight"),
        pytest.param(FREE, [3, -1], "solved", False, id="equality overshot"),
        pytest.param(MIXED, [1, 0], "solved", False, id="equality overshot without weight"),
        pytest.param(MIXED, [0, fmpq(1, 4)], "solved", False, id="inequality missed"),
        pytest.param(OPPOSED, [1, 0], "solved", False, id="margin -1 for 0"),
        pytest.param(OPPOSED, [1, 1], "unseparable", True, id="cancels and gains 1"),
        pytest.param(OPPOSED, [1, 2], "unseparable", False, id="cancels not"),
        pytest.param(OPPOSED, [0, 0], "unseparable", False, id="gains nothing"),
        pytest.param(OPPOSED, [-1, -1], "unseparable", False, id="cancels, of wrong sign"),
        pytest.param(FREE, [2, -1], "unseparable", True, id="free signs"),
        pytest.param(FREE, [-2, 1], "unseparable", False, id="loses"),
        pytest.param(TWO, [2, -1], "unseparable", False, id="inequalities are not free"),
    ],
)
def test_the_judge_lets_only_proofs_pass(programme, weights, status, right):
    answer = proved(programme, [fmpq(w) for w in weights], status)
    assert (answer is not None) == right


SEPARABLE = programmes(kinds=("Att-SVM", "p-SVM", "v-SVM"))


def is_(ball, value):
    """Whether the ball holds a value and no other that differs by more than a rounding."""
    return bool(ball.contains(value)) and bool(ball.rad() <= 1e-15 * (1 + abs(ball)))


def nuclear_in_digits(W):
    return arb(mpmath.nstr(nuclear_norm(W), 50))


@given(programmes(), st.data())
def test_margins_and_sums_are_those_of_fractions(programme, draw):
    rows = ExactProgramme.of(programme)
    W = draw.draw(blocks(programme.D.shape[1], programme.Z.shape[1])) / 7
    weights = draw.draw(blocks(len(programme.D))) / 3
    assert fractions(rows.margins(rationals(W))) == exact_margins(programme, W)
    assert rows.float_margins(W) == rows.margins(rationals(W))
    assert fractions(rows.matrix(rationals(weights))) == exact_sum(programme, weights)


@given(SEPARABLE, st.data())
def test_frobenius_brackets_hold_the_least_norm_whatever_proposes_them(programme, draw):
    exact, rows = decide(programme), ExactProgramme.of(programme)
    assume(exact.status == "solved")
    least = arb(exact.square).sqrt()
    low, high = norm_bracket(rows, exact.W, exact.duals)
    assert low.overlaps(least)
    assert high.overlaps(least)
    assert high - low <= 1e-13 * least
    noise = draw.draw(blocks(len(programme.D))) / 16
    W = np.array([[float(arb(x)) for x in row] for row in exact.W])
    W += draw.draw(blocks(*W.shape)) / 64
    duals = [w + rational(x) for w, x in zip(exact.duals, noise, strict=True)]
    low, high = norm_bracket(rows, rationals(W), duals)
    assert not low > least
    assert not high < least


@given(SEPARABLE)
def test_brackets_of_programmes_without_a_solution_are_infinite(programme):
    exact, rows = decide(programme), ExactProgramme.of(programme)
    assume(exact.status == "unseparable")
    ones = np.ones((programme.D.shape[1], programme.Z.shape[1]))
    low, high = norm_bracket(rows, rationals(ones), exact.duals)
    assert not low.is_finite()  # the multipliers themselves prove it
    assert low > 0
    assert not high.is_finite()


@given(SEPARABLE)
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
    least = nuclear_in_digits(mine.W) / min(rows.margins(rationals(mine.W)))
    assert abs(high - least) <= 1e-13 * high


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


@given(SEPARABLE, st.sampled_from([0.03125, 0.25, 1.0, 8.0]), st.booleans(), st.data())
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
    W = mine.W + draw.draw(blocks(*mine.W.shape)) / 8
    other = duals + np.abs(draw.draw(blocks(len(duals)))) / 8
    below, above = soft_bracket(rows, groups, rational(C), rationals(W), rationals(other))
    assert not above < low
    assert not below > high


def test_a_shared_slack_is_paid_once():
    rows = one_column([1, -1], [1, 1], [False, False])  # W and -W at least 1
    W, duals = [[fmpq(0)]], [fmpq(1), fmpq(1)]
    assert soft_bracket(rows, [0, 1], fmpq(1), W, duals) == (arb(2), arb(2))
    assert soft_bracket(rows, [0, 0], fmpq(1), W, duals) == (arb(1), arb(1))
    assert soft_bracket(rows, [0, 0], fmpq(1), [[fmpq(1)]], duals)[1] == 3
    assert soft_bracket(rows, [0, 1], fmpq(1), W, [fmpq(0)] * 2) == (arb(0), arb(2))
    assert soft_bracket(rows, [0, 1], fmpq(1), W, [fmpq(4), fmpq(-3)]) == (arb(0), arb(2))


@pytest.mark.parametrize(
    ("C", "equal"), [(0, [False]), (-1, [False]), (1, [True]), (1, [False, True])]
)
def test_what_has_no_soft_margin_is_refused(C, equal):
    ones = [1] * len(equal)
    with pytest.raises(DataError, match="soft margin"):
        soft_bracket(
            one_column(ones, ones, equal), ones, fmpq(C), [[fmpq(1)]], [fmpq(1)] * len(equal)
        )


def test_a_deadline_that_fits_changes_no_solution():
    """Systems of more than TRIED rows are first solved in part, to estimate the time."""
    rows = range(TRIED + 1)
    gram = [[fmpz(3 * (j == k)) for k in rows] for j in rows]
    right = [fmpq(k) for k in rows]
    assert solve(gram, [*rows], right, Deadline.after(1e6)) == [k / 3 for k in right]


def test_a_deadline_refuses_what_does_not_fit():
    Deadline.after(100.0).ensure(1.0)
    assert 0.0 < Deadline.after(100.0).left <= 100.0
    with pytest.raises(OutOfTimeError, match="got 100 s"):
        Deadline.after(100.0).ensure(101.0)
    with pytest.raises(OutOfTimeError):
        exchange([[fmpz(1)]], [fmpq(1)], [False], [], Deadline.after(-1.0))
    with pytest.raises(OutOfTimeError):
        decide(att_svm_programme(two_tokens([(1, 0)], [(1, 0)])), None, Deadline.after(1e-9))

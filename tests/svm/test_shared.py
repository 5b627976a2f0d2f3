"""Att-SVMs of shared tokens: against `att_svm`, against explicit rows, out of time, degenerate."""

import copy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm import AttentionData, att_svm, solve
from attsvm.errors import DataError
from attsvm.exact.deadline import Deadline
from attsvm.svm import answer as answers
from attsvm.svm import programme as programmes
from attsvm.svm.active import active_part
from attsvm.svm.shared import graded, solve_shared
from attsvm.svm.shared_programme import Reduced, margins_of, shared_programme
from attsvm.svm.shared_soft import solve_soft_shared
from attsvm.svm.soft import soft_att_svm
from attsvm.svm.tables import divided

OVER = Deadline.after(-1.0)


def head(T, d, seed=0, sequences=1):
    """A causal head that selects by a random W; its tokens, multiples of 1/64, are its queries."""
    generator = np.random.default_rng(seed)
    X = np.round(64.0 * generator.normal(size=(sequences * T, d))) / 64.0
    W = generator.normal(size=(d, d))
    seen = np.kron(np.eye(sequences, dtype=bool), np.tri(T, dtype=bool)).astype(bool)
    targets = np.where(seen, X @ W.T @ X.T, -np.inf).argmax(axis=1)
    return X, X, seen, targets, W


def copied(X, Z, seen, targets, programme):
    """The same constraints as a data set with all tokens for each query."""
    mask = programme.rivals.copy()
    mask[np.arange(len(Z)), targets] = True
    scores = np.eye(len(X))[targets]
    tokens = np.broadcast_to(X, (len(Z), *X.shape))
    return AttentionData(tokens, Z, scores=scores, mask=mask)


def tables_of(X, programme, scale):
    return programme.tables(X[None], scale)


@pytest.mark.parametrize(
    ("T", "d", "sequences"), [(2, 1, 1), (8, 3, 1), (12, 4, 2), (16, 8, 1), (9, 30, 1), (40, 3, 1)]
)
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_those_with_a_copy_of_the_tokens_for_each_query(T, d, sequences, seed):
    X, Z, seen, targets, W = head(T, d, seed, sequences)
    programme = shared_programme(X, Z, seen, targets)
    answer, usual = solve_shared(programme, W), att_svm(copied(X, Z, seen, targets, programme))
    assert answer.status == "solved"
    assert answer.value == pytest.approx(usual.value, rel=1e-13)
    assert np.allclose(answer.W, usual.W, rtol=0.0, atol=1e-11 * usual.value)
    assert answer.bracket[0] <= usual.value <= answer.bracket[1]
    assert max(answer.primal_residual, answer.gap, answer.stationarity) <= 1e-9
    assert answer.dual_residual == 0.0
    assert (answer.is_support == (answer.margins <= 1.0 + 1e-7)).all()
    assert answer.margins[programme.rivals].min() >= 1.0 - 1e-9
    assert np.isinf(answer.margins[~programme.rivals]).all()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("own", [False, True])
def test_every_bracket_on_the_way_contains_the_least_norm(seed, own):
    X, Z, seen, targets, W = head(60, 5, seed)
    programme, told = shared_programme(X, Z, seen, targets), []
    answer = solve_shared(programme, W if own else None, watch=told.append)
    assert answer.status == "solved"
    lows, highs = zip(*(each.bracket for each in told), strict=True)
    assert max(lows) <= answer.value * (1.0 + 1e-12)
    assert answer.value <= min(highs) * (1.0 + 1e-12)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs, reverse=True)
    assert own <= (highs[0] < np.inf)
    assert len(told) > 2
    assert "least norm in [" in str(told[-1])


def test_a_matrix_that_separates_gives_a_bracket_without_any_time():
    X, Z, seen, targets, W = head(30, 6)
    programme = shared_programme(X, Z, seen, targets)
    answer = solve_shared(programme, W, OVER)
    assert answer.status == "bracketed"
    assert answer.bracket[0] <= solve_shared(programme).value <= answer.bracket[1]
    assert solve_shared(programme, -W, OVER).status == "undecided"


@pytest.mark.parametrize("lengths", [(1,) * 6, (4, 2, 3), (9, 9, 9)])
def test_tokens_once_a_sequence_give_the_answer_of_stacked_tokens(lengths):
    """The stacked tokens are those of one sequence, in which a mask hides all other sequences."""
    generator, owners = np.random.default_rng(0), np.repeat(np.arange(len(lengths)), lengths)
    X, Z = generator.normal(size=(len(lengths), 9, 7)), generator.normal(size=(sum(lengths), 7))
    seen = generator.random((len(Z), 9)) < 0.7
    seen[:, :2] = True
    targets = np.where(seen, (X[owners] @ Z[:, :, None])[:, :, 0], -np.inf).argmax(axis=1)
    apart = shared_programme(X, Z, seen, targets, owners)
    own = owners[:, None] == np.repeat(np.arange(len(X)), 9)
    stacked = shared_programme(
        X.reshape(-1, 7), Z, np.tile(seen, len(X)) & own, 9 * owners + targets
    )
    answers = [solve_shared(programme) for programme in (apart, stacked)]
    assert [answer.status for answer in answers] == ["solved"] * 2
    assert np.allclose(*(a.W for a in answers), rtol=0.0, atol=1e-11 * answers[0].value)
    assert answers[0].weights.shape == (len(Z), 9)
    soft = [solve_soft_shared(programme, 0.1).objective for programme in (apart, stacked)]
    assert soft[0] == pytest.approx(soft[1], rel=1e-9)


# equal tokens and queries


@given(st.data())
def test_repeated_tokens_and_queries_change_no_answer(data):
    """Tokens and queries of small integers, so that many are equal and some queries are zero."""
    T, n = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    numbers = st.integers(-1, 1)
    X = np.array(data.draw(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=T, max_size=T)), float)  # fmt: skip  # noqa: E501
    Z = np.array(data.draw(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=n, max_size=n)), float)  # fmt: skip  # noqa: E501
    seen = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=T, max_size=T), min_size=n, max_size=n)))  # fmt: skip  # noqa: E501
    targets = np.array(data.draw(st.lists(st.integers(0, T - 1), min_size=n, max_size=n)))
    seen[np.arange(n), targets] = True
    programme = shared_programme(X, Z, seen, targets)
    aside = {pair.queries[-1] for pair in programme.aside}
    answer = solve_shared(programme)
    for pair in programme.aside:
        total = sum(np.outer(D, z) for D, z in pair.rows(X, Z))
        assert not total.any()
        for i in pair.queries:
            assert seen[i, targets[i]]
    rows = {
        tuple(np.outer(X[targets[i]] - X[t], Z[i]).ravel())
        for i in range(n)
        for t in range(T)
        if i not in aside and seen[i, t] and (X[t] != X[targets[i]]).any()
    }
    kept = [
        tuple(np.outer(X[targets[i]] - X[t], Z[i]).ravel())
        for i, t in np.argwhere(programme.rivals)
    ]
    assert set(kept) == rows
    assume(rows)
    usual = att_svm(copied(X, Z, seen, targets, programme))
    assert answer.status in (usual.status, "undecided", "bracketed")
    if usual.solved:
        assert answer.bracket[0] <= usual.value * (1.0 + 1e-12)
        assert usual.value <= answer.bracket[1] * (1.0 + 1e-12)
        assert answer.status != "undecided"
    else:
        assert answer.bracket[1] == np.inf


def planted():
    """A separable head, to which two equal queries are added that select different tokens."""
    X, Z, seen, targets, W = head(20, 8)
    Z = np.vstack([Z, Z[7], Z[7]])
    seen = np.vstack([seen, np.ones((2, 20), dtype=bool)])
    return X, Z, seen, np.append(targets, [3, 4]), W


def test_planted_contradictions_are_named_and_the_rest_is_solved():
    X, Z, seen, targets, _ = planted()
    own = targets[7]
    programme = shared_programme(X, Z, seen, targets)
    aside = {pair.queries[-1] for pair in programme.aside}
    assert aside <= {7, 20, 21}
    assert len(aside) == 3 - 1
    assert all({i for i in pair.queries} <= {7, 20, 21} for pair in programme.aside)
    assert "are equal, but select the tokens" in str(programme.aside[0])
    for pair in programme.aside:
        for rows in pair.rows(X, Z):
            assert rows[0].any()
        exact = [[Fraction(a) * Fraction(b) for a in D for b in z] for D, z in pair.rows(X, Z)]
        assert not any(map(sum, zip(*exact, strict=True)))
    assert solve_shared(programme).status == "solved"
    assert own not in (3, 4)
    assert programme.chosen(np.arange(7)).aside == ()


def test_constraints_of_a_query_stay_if_an_equal_query_is_left_out():
    """Query 0 contradicts two others, and query 1 equals it but contradicts none."""
    X, Z = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [-1.0, 3.0]]), np.ones((4, 2))
    seen = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]], dtype=bool)
    programme = shared_programme(X, Z, seen, np.array([0, 0, 1, 3]))
    assert [pair.queries[-1] for pair in programme.aside] == [0]
    assert programme.rivals[1].tolist() == [False, False, True, False]


@pytest.mark.parametrize("targets", [[0, 0], [0, 1]])
def test_a_chosen_query_has_its_constraints_whatever_is_left_out(targets):
    X, Z, targets = np.eye(2), np.ones((2, 2)), np.array(targets)
    every = shared_programme(X, Z, np.ones((2, 2), dtype=bool), targets)
    alone = shared_programme(X, Z[1:], np.ones((1, 2), dtype=bool), targets[1:])
    chosen = every.chosen(np.array([1]))
    assert (chosen.count, chosen.aside) == (1, ())
    assert np.allclose(solve_shared(chosen).W, solve_shared(alone).W, rtol=0.0, atol=1e-15)


def test_an_unseparable_head_gets_a_certificate():
    """The middle one of three tokens on a line, and other queries that do not matter."""
    X, Z, seen, targets, _ = head(20, 8)
    X = np.vstack([X, [X[2] + 1.0, X[2] - 1.0]])
    seen = np.pad(seen, ((0, 0), (0, 2)))
    seen[5, 20:], targets[5] = True, 2
    programme = shared_programme(X, Z, seen, targets)
    answer = solve_shared(programme)
    assert answer.status == "unseparable"
    assert answer.bracket == (np.inf, np.inf)
    assert answer.stationarity <= 1e-12
    assert 5 in np.argwhere(answer.weights)[:, 0]  # without it the others are separable
    assert att_svm(copied(X, Z, seen, targets, programme), targets).status == "unseparable"
    assert "cancel" in repr(answer)


@pytest.mark.parametrize(
    ("X", "Z", "seen", "targets"),
    [
        ([[1.0, 2.0]], [[1.0, 0.0]], [[True]], [0]),
        ([[1.0], [1.0], [1.0]], [[1.0]], [[True] * 3], [1]),
        ([[1.0], [2.0]], [[0.0]], [[True] * 2], [1]),
        ([[1.0], [2.0]], [[3.0]], [[False, True]], [1]),
    ],
    ids=["one token", "equal tokens", "a zero query", "one token in sight"],
)
def test_heads_without_constraints_have_the_matrix_0(X, Z, seen, targets):
    programme = shared_programme(*map(np.array, (X, Z, seen, targets)))
    answer = solve_shared(programme, np.ones((len(X[0]), len(Z[0]))))
    assert (answer.status, answer.value, programme.count) == ("solved", 0.0, 0)
    assert len(programme.aside) == (Z == [[0.0]])
    assert active_part(programme, np.ones(answer.W.shape)).norm == 0.0


def test_a_query_that_is_nearly_zero_does_not_stop_the_search():
    X = 1e6 + np.array([[-2.0, 0.0], [-2.0, -1.0], [2.0, 0.0], [0.0, 2.0]])
    Z = np.array([[-1.0, 1.0], [1.00000001, 0.0], [-0.99999999, -1.0], [0.0, 1e-08]])
    seen = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1], [1, 0, 1, 1]], dtype=bool)
    programme = shared_programme(X, Z, seen, np.array([1, 3, 1, 2]))
    answer = solve_shared(programme)
    assert answer.status == "bracketed"
    low, high = answer.bracket
    assert 0.0 < low <= high
    assert answer.value == pytest.approx(high, rel=2e-9)
    for i, t in np.argwhere(programme.rivals):
        rows = [(X[programme.targets[i]] - X[t]).tolist(), Z[i].tolist()]
        D, z = ([*map(Fraction, row)] for row in rows)
        margin = sum(D[a] * Fraction(float(answer.W[a, b])) * z[b] for a in (0, 1) for b in (0, 1))
        assert margin >= 1 - Fraction(1, 10**6)


def test_tokens_that_overflow_leave_the_answer_open():
    X, Z = (
        1e300 * np.array([[1.0, 0.3], [0.2, 1.0], [0.1, 0.1]]),
        np.array([[1.0, 2.0], [3.0, -1.0]]),
    )
    programme = shared_programme(X, Z, np.ones((2, 3), dtype=bool), np.array([0, 1]))
    with np.errstate(all="ignore"):
        answer = solve_shared(programme)
    assert (answer.status, answer.bracket) == ("undecided", (0.0, np.inf))


def test_one_query_of_another_dimension_is_solved_in_closed_form():
    seen, targets = np.ones((1, 2), dtype=bool), np.array([0])
    programme = shared_programme(np.diag([2.0, 0.0]), np.array([[3.0]]), seen, targets)
    assert np.allclose(solve_shared(programme).W, [[1.0 / 6.0], [0.0]], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.ones(2)},
        {"X": np.array([[np.nan], [0.0]])},
        {"targets": np.array([2])},
        {"targets": np.array([-1])},
        {"seen": np.array([[False, True]])},
        {"seen": np.ones((1, 2))},
    ],
    ids=["flat", "not finite", "no such token", "negative", "not seen", "no truth values"],
)
def test_arrays_that_do_not_fit_are_refused(change):
    arrays = {"X": np.eye(2), "Z": np.ones((1, 2)), "seen": np.ones((1, 2), bool)}
    with pytest.raises(DataError):
        shared_programme(**(arrays | {"targets": np.array([0])} | change))


# soft margins


@pytest.mark.parametrize("price", [0.001, 0.1, None])
@pytest.mark.parametrize("separable", [True, False])
def test_soft_margins_are_those_with_a_slack_for_each_query(price, separable):
    X, Z, seen, targets, _ = head(12, 4)
    if not separable:
        targets = np.arange(12) // 2
    programme = shared_programme(X, Z, seen, targets)
    answer = solve_soft_shared(programme, price)
    data = copied(X, Z, seen, targets, programme)
    usual = soft_att_svm(data, answer.C, targets, slack="input")
    low, high = answer.bracket
    assert low * (1.0 - 1e-12) <= usual.objective <= high * (1.0 + 1e-12)
    assert answer.gap <= 1e-6
    missing = np.maximum(1.0 - margins_of(programme, answer.W).min(axis=1), 0.0)
    assert answer.shortfalls == pytest.approx(missing, abs=1e-12)
    total = np.linalg.norm(answer.W) + answer.C * missing.sum()
    assert answer.objective == pytest.approx(total, rel=1e-12)
    assert "queries stay below their margin" in repr(answer)


def test_each_of_several_equal_queries_has_a_shortfall():
    X, Z, seen, _, _ = head(12, 4)
    targets = np.arange(12) // 2
    one = solve_soft_shared(shared_programme(X, Z, seen, targets), 0.1)
    rows = np.repeat(np.arange(12), 2)
    twice = shared_programme(X, Z[rows], seen[rows], targets[rows])
    two = solve_soft_shared(twice, 0.05)
    assert two.shortfalls[::2] == pytest.approx(two.shortfalls[1::2], abs=1e-12)
    least = margins_of(two.programme, two.W).min(axis=1)
    total = np.linalg.norm(two.W) + two.C * np.maximum(1.0 - least, 0.0).sum()
    assert two.objective == pytest.approx(total, rel=1e-12)
    assert pytest.approx(one.C / 2, rel=1e-5) == two.C
    assert two.objective == pytest.approx(one.objective, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("seconds", [-1.0, 0.002, 0.01, 0.05])
def test_the_value_of_an_answer_lies_in_its_bracket(seed, seconds):
    X, Z, seen, targets, W = head(60, 5, seed)
    programme = shared_programme(X, Z, seen, targets)
    answer = solve_shared(programme, W, Deadline.after(seconds))
    low, high = answer.bracket
    assert answer.solved
    assert low <= answer.value <= high
    assert np.linalg.norm(answer.W) <= high * (1.0 + 1e-9 * (answer.status == "solved") + 1e-14)


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.0 + 5e-10, 1.0 + 1e-6, 2.0])
@pytest.mark.parametrize("more", [0.0, 1e-3])
def test_multipliers_of_any_length_give_a_value_in_the_bracket(factor, more):
    X, Z, seen, targets, W = head(20, 3)
    programme = shared_programme(X, Z, seen, targets)
    reduced, exact = Reduced.of(programme), solve_shared(programme, W)
    c = reduced.c
    u = reduced.tables.flat(exact.weights) / np.where(c > 0.0, c, 1.0)
    answer = graded(programme, reduced, factor * (u + more * (c > 0.0)), None)
    low, high = answer.bracket
    assert answer.status == ("solved" if more == 0.0 else "bracketed")
    assert low <= answer.value <= high
    assert np.linalg.norm(answer.W) == pytest.approx(answer.value, rel=2e-9)


def test_a_head_without_constraints_has_a_soft_margin_of_0():
    X = np.ones((3, 2))
    programme = shared_programme(X, X, np.tri(3, dtype=bool), np.arange(3))
    answer = solve_soft_shared(programme)
    assert (answer.objective, answer.gap) == (0.0, 0.0)


# products


@pytest.mark.parametrize("sequences", [1, 3])
@pytest.mark.parametrize("T", [1, 2, 7, 40])
def test_tables_are_the_rows_they_stand_for(T, sequences):
    X, Z, seen, targets, _ = head(T, 5, sequences=sequences)
    programme = shared_programme(X, Z, seen, targets)
    generator = np.random.default_rng(1)
    scale = generator.uniform(0.5, 2.0, size=seen.shape)
    tables = tables_of(X, programme, scale)
    live = np.flatnonzero(tables.scale)
    queries, tokens = tables.places(live)
    assert (np.argwhere(programme.rivals) == np.column_stack([queries, tokens])).all()
    D = (X[targets[queries]] - X[tokens]) * scale[queries, tokens][:, None]
    w, V = generator.normal(size=len(tables)), generator.normal(size=Z.shape)
    sums = np.zeros_like(X)
    np.add.at(sums, queries, w[live][:, None] * D)
    assert tables.sums(w) == pytest.approx(sums, abs=1e-12)
    paired = tables.pair(V)
    assert paired[live] == pytest.approx((D * V[queries]).sum(axis=1), abs=1e-12)
    assert not np.delete(paired, live).any()
    rows = tables.restricted(live[::2])
    assert np.allclose(rows.D, D[::2])
    assert (rows.owners() == queries[::2]).all()
    back = tables.table(w, np.nan)
    assert (np.isfinite(back) == programme.rivals).all()
    assert (tables.flat(np.nan_to_num(back))[live] == w[live]).all()


def test_a_causal_mask_and_several_sequences_take_less_than_a_table():
    one = divided(np.tri(256, k=-1, dtype=bool), np.zeros(256, int))
    assert sum(np.prod(block.shape) for block in one) <= 0.62 * 256**2
    owners = np.repeat(np.arange(8), 40)
    several = divided(np.ones((320, 32), dtype=bool), owners)
    assert [np.prod(block.shape) for block in several] == [40 * 32] * 8
    (short,) = divided(np.ones((24, 32), dtype=bool), np.repeat(np.arange(8), 3))
    assert short.shape == (8, 3, 32)
    assert divided(np.zeros((3, 3), dtype=bool), np.arange(3)) == ()


# data sets


def scored(X, Z, seen, targets):
    """A data set in which these tokens are optimal."""
    return AttentionData(X, Z, scores=np.eye(X.shape[1])[targets], mask=seen)


@pytest.fixture
def unlisted(monkeypatch):
    """No rows are written out, whatever the size of the data."""
    monkeypatch.setattr(programmes, "LARGEST_LISTED", 0)
    monkeypatch.setattr(answers, "LARGEST_EXACT", 0)
    monkeypatch.setattr(programmes.Unlisted, "_written", lambda self: pytest.fail("rows"))


@pytest.mark.parametrize("sequences", [1, 2, 30])
def test_data_of_any_kind_are_solved_without_writing_rows_out(unlisted, sequences):
    generator, owners = np.random.default_rng(0), np.sort(np.arange(30) % sequences)
    X, Z = generator.normal(size=(sequences, 12, 9)), generator.normal(size=(30, 9))
    seen = generator.random((30, 12)) < 0.7
    seen[:, 0] = True
    W = generator.normal(size=(9, 9))
    targets = np.where(seen, np.einsum("ntd,de,ne->nt", X[owners], W, Z), -np.inf).argmax(axis=1)
    tokens = X[owners] if sequences > 1 else np.broadcast_to(X, (30, 12, 9))
    data = scored(tokens, Z, seen, targets)
    assert (data.X.strides[0] == 0) == (sequences == 1)
    answer = solve(data)
    assert (answer.status, answer.kind) == ("solved", "float")
    shared = shared_programme(X, Z, seen, targets, owners)
    expected = solve_shared(shared)
    assert np.allclose(answer.W, expected.W, rtol=0.0, atol=1e-11 * expected.value)
    assert np.allclose(answer.margins, margins_of(shared, answer.W), rtol=0.0, atol=1e-12)
    assert (answer.margins == np.inf).sum() == (~shared.rivals).sum()
    assert answer.primal_residual >= 1.0 - answer.margins.min()
    assert answer.json()["duplicates"] == []
    assert np.allclose(answer.programme.combine(answer.weights), answer.W, atol=1e-9)
    assert "solved, graded in floating point" in str(answer)
    again = copy.copy(answer.programme)
    assert (again.token == answer.programme.token).all()


def test_large_data_that_no_matrix_separates_have_multipliers_that_cancel(unlisted):
    X = np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]], [[0.0, 1.0], [3.0, 1.0], [1.0, 0.0]]])
    seen = np.ones((2, 3), dtype=bool)
    for targets in ([0, 0], [2, 0]):  # both queries are equal; the first pair contradicts itself
        data = scored(X, np.ones((2, 2)), seen, np.array(targets))
        answer = att_svm(data)
        rows = [
            w * np.outer(X[i, targets[i]] - X[i, t], [1.0, 1.0])
            for (i, t), w in np.ndenumerate(answer.duals)
        ]
        if targets == [0, 0]:
            assert answer.status == "unseparable"
            assert not sum(rows).any()
            assert answer.duals.sum() == pytest.approx(1.0, rel=1e-15)
        else:
            assert answer.status == "solved"


# the part of a matrix on which margins depend


@pytest.mark.parametrize(("T", "d"), [(6, 4), (12, 3), (5, 9)])
def test_the_active_part_is_the_least_matrix_of_the_same_margins(T, d):
    X, Z, seen, targets, W = head(T, d)
    programme = shared_programme(X, Z, seen, targets)
    active = active_part(programme, W)
    queries, tokens = np.nonzero(programme.rivals)
    D = X[targets[queries]] - X[tokens]
    rows = np.einsum("md,me->mde", D, Z[queries]).reshape(len(D), -1)
    reached = margins_of(programme, W)[queries, tokens]
    least = np.linalg.lstsq(rows, reached, rcond=1e-10)[0].reshape(W.shape)
    assert np.allclose(active.W, least, rtol=0.0, atol=1e-7)
    assert active.norm == pytest.approx(np.linalg.norm(least), rel=1e-9)
    assert active.norm <= np.linalg.norm(least) * (1.0 + 1e-12)
    assert np.linalg.norm(least) <= active.most * (1.0 + 1e-12)
    assert active.residual <= 1e-8
    cut = active_part(programme, W, steps=2)
    assert cut.norm <= active.norm * (1.0 + 1e-12)

"""The answer of `solve`: its document follows the contract, its bracket holds the exact norm."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import attsvm.svm.answer as answers
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, TiedTokensError
from attsvm.strategies.data import attention_data
from attsvm.svm.answer import LARGEST_EXACT, describe, solve
from attsvm.svm.frobenius import grade
from attsvm.tokens import optimal_tokens
from properties._support.published_data import gaussian_protocol, joint_inputs

EPS = np.finfo(float).eps
KEYS = [
    "schema",
    "status",
    "norm",
    "value",
    "W",
    "targets",
    "margins",
    "support",
    "gap",
    "bracket",
    "certificate",
    "degenerate",
    "duplicates",
    "rank",
    "exact_W",
]
SEPARABLE = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[2.0, 0.0]], scores=[[1.0, 0.0]])
OPPOSED = AttentionData.of(
    [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-3.0]], scores=[[1.0, 0.0], [1.0, 0.0]]
)
UNEQUAL = AttentionData.of(
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]],
    [[1.0, 0.0], [0.0, 1e-12]],
    scores=[[1, 0], [1, 0]],
)


@st.composite
def solvable(draw):
    """Small data with unique optimal tokens and a rival somewhere, sometimes with a mask."""
    data = draw(attention_data(n=(1, 3), T=(2, 4)))
    best = data.gamma.max(axis=1, keepdims=True)
    assume(((data.gamma == best).sum(axis=1) == 1).all())
    if draw(st.booleans()):
        mask = np.ones((data.n, data.T), dtype=bool)
        worst = data.gamma.argmin(axis=1)
        mask[0, worst[0]] = False
        assume(mask.sum(axis=1).max() > 1)
        return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)
    return data


def squared_norm(answer):
    """||W||_F^2 of the exact solution, from its entries."""
    return sum((x * x for row in answer.exact.W for x in row), fmpq(0))


def exactly(x):
    value = Fraction(x)
    return fmpq(value.numerator, value.denominator)


@settings(max_examples=120, deadline=None)
@given(solvable())
def test_the_document_follows_the_contract(data):
    answer = solve(data)
    document = answer.json()
    assert list(document) == KEYS
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema"] == 1
    assert document["norm"] == "fro"
    assert document["targets"] == optimal_tokens(data).index.tolist()
    certificate = document["certificate"]
    assert certificate["kind"] == answer.kind == "exact"
    duals, exact = np.array(certificate["duals"]), certificate["exact_duals"]
    assert duals.shape == (data.n, data.T)
    assert (duals >= 0).all()
    table = np.array([[Fraction(w) for w in row] for row in exact])
    assert table.shape == (data.n, data.T)
    if document["status"] == "unseparable":
        assert certificate["type"] == "farkas"
        for key in ("value", "W", "margins", "support", "bracket"):
            assert document[key] is None
        assert abs(duals.sum() - 1.0) <= 1e-12
        assert min(w for row in table for w in row) >= 0
        assert {w.denominator for row in table for w in row} == {1}
        assert math.gcd(*(w.numerator for row in table for w in row)) == 1
        assert certificate["dual_residual"] <= 1e-9
        return
    assert document["status"] == "solved"
    assert certificate["type"] == "optimality"
    W = np.array(document["W"])
    assert W.shape == (data.d, data.d)
    assert abs(document["value"] - np.linalg.norm(W)) <= 1e-14 * document["value"]
    assert 0 <= document["gap"] <= 1e-9
    assert 0 <= certificate["primal_residual"] <= 1e-9
    assert certificate["least_dual"] == duals.min()
    for i, (row, tight) in enumerate(zip(document["margins"], document["support"], strict=True)):
        for t, margin in enumerate(row):
            rival = bool(data.present[i, t]) and t != document["targets"][i]
            assert (margin is not None) == rival
            assert (t in tight) == (rival and abs(margin - 1.0) <= 1e-7)


@settings(max_examples=120, deadline=None)
@given(solvable())
def test_the_bracket_holds_the_exact_norm_tightly(data):
    answer = solve(data)
    low, high = answer.bracket
    if not answer.float_answer.solved:
        assert (low, high) == (math.inf, math.inf)
        return
    assert exactly(low) ** 2 <= squared_norm(answer) <= exactly(high) ** 2
    assert high - low <= 8 * EPS * high  # the ball of a root, and one unit on either side
    # the float solution is proved to within its gap of 1e-9
    assert low * (1 - 1e-9) <= answer.float_answer.value <= high * (1 + 1e-9)


@settings(max_examples=100, deadline=None)
@given(solvable())
def test_the_bracket_without_the_exact_answer_holds_the_norm_too(data):
    answer = solve(data)
    assume(answer.float_answer.solved)
    plain = answers.Answer(answer.float_answer, None)
    assert plain.kind == "float"
    low, high = plain.bracket
    assert exactly(low) ** 2 <= squared_norm(answer) <= exactly(high) ** 2
    assert high - low <= 1e-8 * high  # the gap of 1e-9 and the allowance at this condition


@pytest.mark.parametrize("angle", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
def test_the_bracket_holds_the_norm_of_nearly_opposed_constraints(angle):
    """D_1 = (1, 0), D_2 = (-1, a): the norm is sqrt(1 + 4/a^2), the condition as large."""
    data = AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[-1.0, angle], [0.0, 0.0]]],
        np.tile([0.7, 0.3], (2, 1)),
        scores=[[1, 0], [1, 0]],
    )
    answer = solve(data)
    assert answer.float_answer.solved
    for kind in (answer, answers.Answer(answer.float_answer, None)):
        low, high = kind.bracket
        assert exactly(low) ** 2 <= squared_norm(answer) <= exactly(high) ** 2
    expected = math.sqrt((1.0 + 4.0 / angle**2) / (0.7**2 + 0.3**2))
    assert abs(answer.bracket[0] / expected - 1.0) <= 1e-14


@settings(max_examples=100, deadline=None)
@given(solvable())
def test_the_exact_answer_and_the_float_one_agree(data):
    answer = solve(data)
    assert answer.exact.status == answer.float_answer.status
    if answer.float_answer.solved:
        W = np.array([[float(arb(x)) for x in row] for row in answer.exact.W])
        # strong convexity: a gap of 1e-9 leaves sqrt(2e-9) of the norm
        assert np.linalg.norm(W - answer.float_answer.W) <= 5e-5 * answer.float_answer.value


def test_the_smallest_answer_reads_as_expected():
    document = solve(SEPARABLE).json()
    assert document["W"] == [[0.5, 0.0], [0.0, 0.0]]
    assert document["value"] == 0.5
    assert document["margins"] == [[None, 1.0]]
    assert document["support"] == [[1]]
    assert document["certificate"]["exact_duals"] == [["0", "1/4"]]
    low, high = document["bracket"]
    assert low <= 0.5 <= high


def test_an_unseparable_answer_reads_as_expected():
    document = solve(OPPOSED).json()
    assert document["status"] == "unseparable"
    duals = [[Fraction(w) for w in row] for row in document["certificate"]["exact_duals"]]
    assert (duals[0][1], duals[1][1]) == (3, 1)
    assert np.abs(np.array(document["certificate"]["duals"]) - [[0, 0.75], [0, 0.25]]).max() < 1e-15


def test_the_description_names_what_each_input_selects():
    answer = solve(joint_inputs(), [1, 0, 1])
    page = describe(answer)
    assert page.startswith("Frobenius Att-SVM: 3 inputs, up to 2 tokens, 3 constraints")
    document = answer.json()
    assert document["targets"] == [1, 0, 1]
    assert "solved, certified: residual and gap of this W are proved in rational arithmetic" in page
    for i, token in enumerate(document["targets"]):
        assert f"input {i}   selects token {token}; margins" in page
        for t in document["support"][i]:
            assert f"{t}*:1" in page
    low, high = document["bracket"]
    assert f"bracket [{low:.12g}, {high:.12g}]" in page


def test_the_description_of_an_unseparable_answer_gives_the_certificate():
    page = describe(solve(OPPOSED))
    assert "unseparable: no W gives every target a positive margin" in page
    assert "the combination is exactly zero in rational arithmetic" in page
    assert "input 0, token 1: 0.75" in page
    assert "input 1, token 1: 0.25" in page
    assert "selects" not in page


def test_large_programmes_are_graded_in_floats():
    """Beyond LARGEST_EXACT constraints no rational answer is made, and the page says so."""
    data = gaussian_protocol(np.random.default_rng(4), n=6, T=44, d=10)
    answer = solve(data)
    assert len(answer.programme.D) == 258 > LARGEST_EXACT
    assert answer.kind == "float"
    assert answer.exact is None
    document = answer.json()
    assert document["certificate"]["exact_duals"] is None
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    low, high = document["bracket"]
    assert low <= document["value"] <= high
    assert "graded in floating point" in describe(answer)


def test_rationals_decide_where_floats_refuse():
    answer = solve(UNEQUAL)
    assert answer.exact.status == answer.float_answer.status == "solved"
    assert answer.exact.W[1][1] == 1 / exactly(1e-12)
    assert abs(answer.float_answer.W[1, 1] * 1e-12 - 1.0) <= 1e-15
    json.dumps(answer.json(), allow_nan=False)


def test_rationals_win_over_a_wrong_float_answer(monkeypatch):
    """The float solver is made to claim the opposite; figures follow the exact multipliers."""
    for data, other in ((SEPARABLE, "unseparable"), (OPPOSED, "solved")):
        monkeypatch.undo()
        truth = solve(data)

        def wrong(programme, *_, other=other, **__):
            return grade(programme, np.ones(len(programme.D)), solved=other == "solved")

        monkeypatch.setattr(answers, "solve_programme", wrong)
        answer = solve(data)
        assert answer.float_answer.status == truth.float_answer.status != other
        assert np.abs(answer.float_answer.W - truth.float_answer.W).max() <= 1e-15
        assert np.abs(answer.float_answer.duals - truth.float_answer.duals).max() <= 1e-15
        if other == "solved":
            assert abs(answer.float_answer.duals.sum() - 1.0) <= 1e-15


def test_a_float_failure_is_an_error_only_where_rationals_are_not_tried(monkeypatch):
    def broken(programme, *_, **__):
        raise SolverError("planted")

    monkeypatch.setattr(answers, "solve_programme", broken)
    assert solve(SEPARABLE).float_answer.W.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    monkeypatch.setattr(answers, "LARGEST_EXACT", 0)
    with pytest.raises(SolverError, match="planted"):
        solve(SEPARABLE)


def test_a_norm_whose_square_exceeds_float64_is_no_obstacle():
    """||A_j|| is 1e-139 and the two constraints are opposed up to 1e-16: ||W||^2 is 1e310."""
    angle = 2.0**-53
    tokens = [[[1.0, 0.0], [0.0, 0.0]], [[-1.0, angle], [0.0, 0.0]]]
    data = AttentionData.of(tokens, np.tile([1e-139, 0.0], (2, 1)), scores=[[1, 0], [1, 0]])
    answer = solve(data)
    assert answer.status == "solved"
    low, high = answer.bracket
    assert low <= answer.value <= high
    assert exactly(low) ** 2 <= squared_norm(answer) <= exactly(high) ** 2
    assert answer.value > 1e154
    json.dumps(answer.json(), allow_nan=False)


def test_bad_input_is_refused_as_by_the_programme():
    tied = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    with pytest.raises(TiedTokensError):
        solve(tied)
    assert solve(tied, [1]).json()["targets"] == [1]
    with pytest.raises(DataError):
        solve(tied, [5])

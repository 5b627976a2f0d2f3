"""What the claims about definitions rest on: changes of scores, factors K and Q, heads, sizes."""

from dataclasses import replace
from functools import reduce
from itertools import product

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.attention import softmax
from attsvm.errors import DataError, ProofError
from attsvm.exact.attention import gradient
from attsvm.losses import LOSSES, logistic
from attsvm.primitives.descent_runs import runs, tight_data
from attsvm.primitives.hypotheses import starts_in_basin
from attsvm.risk import gradient_kq, gradient_w, risk
from attsvm.strategies import arrays
from attsvm.svm import att_svm
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.batches import strategy
from attsvm.theory.declaration.judge import judge
from attsvm.training import descend_kq, follow_kq
from properties._support import factor_descent
from properties._support.factor_descent import (
    FAR_APART,
    certificate,
    crossed_data,
    factored,
    follows,
    leans,
    one_pair,
    pair_data,
    starting,
    symmetric,
)
from properties._support.token_choices import Choice
from properties.sim import (
    attention_shape,
    definition_3_6,
    fixed_head,
    kq_bias,
    l2_objective,
    orientation,
)
from properties.sim._support.attention import attention, block_attention
from properties.sim.definition_3_6 import conclusion as drifts
from properties.sim.definition_3_8.instances import Classified, Shared
from properties.sim.fixed_head.conclusion import absorbed
from properties.sim.orientation.conclusion import SIDEWAYS, turned
from properties.tf import parameterisation_bias
from properties.tf.parameterisation_bias.conclusion import factor_rows, rows_after

LOSS = LOSSES["logistic-loss"]


def by_differences(f, X, h):
    """The gradient of a function of an array, by central differences of step h."""
    steps = h * np.eye(X.size).reshape(X.size, *X.shape)
    return np.array([(f(X + s) - f(X - s)) / (2 * h) for s in steps]).reshape(X.shape)


# the drift of definition 3.6 ----------------------------------------------------------------------

REPAIRED = definition_3_6.DEFINITION.claim("amended-2")
EQUAL_RIVALS = definition_3_6.DEFINITION.claim("amended-3")
SIGNS = st.sampled_from([definition_3_6.INCREASING, definition_3_6.DECREASING])


def drift(case, sign, quantity):
    """The change of the score or the weight along minus the gradient of g(sign u), as a ball."""
    relation = drifts.drift(BALLS, REPAIRED.formula.exact(case), sign, quantity)
    return relation.right - relation.left


def attended(case, x):
    """The expected score and the weight of the best tokens at another point."""
    f, scores = softmax(case.A @ x), case.b * case.h
    return {"score": float(f @ scores), "weight": float(f[scores == scores.max()].sum())}


@given(REPAIRED.data, SIGNS)
def test_the_drift_is_the_change_along_a_small_step(case, sign):
    """Steps along -grad of g(sign u), by central differences throughout."""
    assume(float(np.abs(case.A).max()) <= 4 and abs(case.b) <= 4)
    h = 1e-4

    def loss(x):
        return float(logistic(np.array([sign * attended(case, x)["score"]]))[0])

    grad = by_differences(loss, case.x, h)
    for of in ("score", "weight"):
        ahead, behind = (attended(case, case.x - s * h * grad)[of] for s in (1, -1))
        moved = (ahead - behind) / (2 * h)
        assert abs(float(arb(drift(case, sign, of))) - moved) <= 1e-4 * (1 + float(grad @ grad))


def is_nothing(slack):
    """Whether it is 0 and known to be; a ball about 0 is not."""
    return bool(slack == 0)


@given(EQUAL_RIVALS.data)
def test_equal_rivals_tie_the_score_to_the_weight(case):
    assert all(h.holds(case) for h in EQUAL_RIVALS.hypotheses)
    score, weight = (judge(claim.formula, {}, case) for claim in (REPAIRED, EQUAL_RIVALS))
    assert score.holds
    assert weight.holds
    assert is_nothing(score.slack) == is_nothing(weight.slack)
    assert is_nothing(weight.slack) or weight.slack > 0


def test_a_drift_that_cancels_is_known_to_be_zero():
    """Tokens 1, 0, -1 with scores 1, 0, 1 at x = 0 have opposite gradients."""
    case = {"A": [[1], [0], [-1]], "x": [0], "h": [1, 0, 1], "b": 1}
    there, beside = (REPAIRED.formula.build(**{**case, "x": [x]}) for x in (0, 1))
    assert is_nothing(judge(REPAIRED.formula, {}, there).slack)
    assert judge(REPAIRED.formula, {}, beside).slack > 0


# key and query weights ----------------------------------------------------------------------------

FACTORED = starting(st.one_of(pair_data(), crossed_data()))


@given(FACTORED, st.sampled_from(["logistic-loss", "logistic", "log-loss"]))
def test_a_step_keeps_what_the_proofs_keep(case, loss):
    """Rank; semidefiniteness from K = +-Q on symmetric data; the direction of s for one pair."""
    G, H = gradient_kq(case.data, *case.start, LOSSES[loss])
    K, Q = case.start[0] - 0.125 * G, case.start[1] - 0.125 * H
    start = np.linalg.matrix_rank(np.vstack(case.start), tol=1e-9)
    assert np.linalg.matrix_rank(np.vstack([K, Q]), tol=1e-9) <= start
    for sign in (1, -1):
        if symmetric(case.data) and (sign * case.start[1] == case.start[0]).all():
            assert np.allclose(K, sign * Q, rtol=1e-12, atol=1e-12)
    if one_pair(case):
        before, after = (leaning(case.data, *pair) for pair in (case.start, (K, Q)))
        size = np.linalg.norm(before) * np.linalg.norm(after)
        assert abs(before @ after - size) <= 1e-9 * (1 + size)
        growth = np.linalg.norm(after) - np.linalg.norm(before)
        assert growth >= -1e-12 if loss != "logistic" else growth <= 1e-12


def leaning(data, K, Q):
    """K^T D / ||D|| + Q^T z / ||z|| of the first input, which has its best token first."""
    D, z = data.X[0, 0] - data.X[0, 1], data.Z[0]
    return K.T @ D / np.linalg.norm(D) + Q.T @ z / np.linalg.norm(z)


@given(starting(pair_data()))
def test_leaning_is_decided_as_floats_see_it(case):
    sizes = sum(float(np.abs(M).max()) for M in case.start)
    seen = float(np.abs(leaning(case.data, *case.start)).max()) > 1e-9 * sizes
    assert leans(case) == seen


@given(crossed_data(), arrays(2, 2))
def test_symmetric_data_have_a_symmetric_risk(data, W):
    assert symmetric(data)
    assert abs(risk(data, W, LOSS) - risk(data, W.T, LOSS)) <= 1e-12


def test_data_without_the_transpose_are_not_symmetric():
    E = np.eye(2)
    alone = AttentionData.of([[E[0], [0, 0]]], [E[1]], scores=[[1, 0]])
    assert not symmetric(alone)
    scored = AttentionData.of(
        [[E[0], [0, 0]], [E[1], [0, 0]]], [E[1], E[0]], scores=[[1, 0], [2, 0]]
    )
    assert not symmetric(scored)
    three = AttentionData.of([[[1.0], [0.0], [2.0]]], [[1.0]], scores=[[1, 0, 0]])
    assert not symmetric(three)


@given(starting(pair_data()))
def test_one_pair_goes_where_it_is_proved_to_go(case):
    """What W has beside X^mm along the curve of descent, against the proof.

    With k = K^T D / ||D|| and q = Q^T z / ||z||, what K and Q have beside D and z stays, k - q
    shrinks, and W has <k, q> along X^mm. So the rest is of the order of its root.
    """
    proved = certificate(case, "optimal")
    assert (proved > 0) == leans(case)
    (run,) = follow_kq(case.data, *case.start, "logistic-loss", [1e3, 1e5])
    target = att_svm(case.data).W
    if run.norms.shape[1] > 2 and leans(case):
        W = run.W[0, -1]
        unit = target / np.linalg.norm(target)
        along = float((W * unit).sum())
        size = sum(float(np.linalg.norm(M)) for M in case.start)
        assert along > 0
        rest = float(np.linalg.norm(W - along * unit))
        assert rest <= 1.01 * (size * np.sqrt(2 * along + size**2) + size**2)
    if not leans(case):
        assert all((W * target).sum() <= 1e-9 * (1 + np.abs(W).max()) for W in run.W[0])


def test_semidefinite_weights_never_turn_to_the_frobenius_solution():
    case = kq_bias.SEMIDEFINITE
    assert np.allclose(att_svm(case.data).W, [[1, 1], [1, 0]], atol=1e-9)
    assert np.linalg.det(case.start[0]) != 0
    margins_of = [1, 1, 1] * (case.W)[[0, 0, 1], [0, 1, 0]]
    assert (margins_of > 0).all()
    assert starts_in_basin(case)
    assert certificate(case, "optimal") < 0
    assert follows(case, "optimal").violated
    (run,) = follow_kq(case.data, *case.start, "logistic-loss", [1e3, 1e5])
    near, far = (np.abs(W / W[0, 1] - 1.0).max() for W in run.W[0, -2:])
    assert far <= near / 10  # to equal entries, at least like the root of the norm
    disturbed = factored(case.data, case.start[0], np.array([[2.0, 1.0], [1.0, 2.5]]))
    assert certificate(disturbed, "optimal") is None


def test_narrow_weights_have_too_small_a_rank_and_wide_ones_no_proof():
    case = kq_bias.NARROW
    assert certificate(case, "optimal") < 0
    wide = factored(case.data, np.array([[1.0, 0.0], [1.0, 1.0]]), case.start[1])
    assert certificate(wide, "optimal") is None


@given(starting(pair_data()), st.sampled_from([1.0, 16.0, 512.0]))
def test_any_step_turns_the_factors_of_one_pair_to_the_solution(case, step):
    (D,), (z,) = case.data.X[:, 0] - case.data.X[:, 1], case.data.Z
    assume(leans(case) and (D @ D) * (z @ z) > 1e-2)
    run = descend_kq(case.data, *case.start, "logistic-loss", step=step, steps=50, record="all")
    p, q = (
        np.einsum("kdr,d->kr", factor[0], along / np.linalg.norm(along))
        for factor, along in ((run.K, D), (run.Q, z))
    )
    sums, rest = np.linalg.norm(p + q, axis=1), np.linalg.norm(p - q, axis=1)
    assume(sums[0] > 1e-6)
    assert (np.diff(sums) >= -1e-12 * sums[1:]).all()
    ratios = rest / sums
    assert (np.diff(ratios) <= 1e-12 * (1.0 + ratios[1:])).all()


PLANE = AttentionData.of([[[1, 2], [0, 0]]], [[1, -1]], scores=[[1, 0]])
APART = AttentionData.of(
    [[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [[1, 0], [0, 1]], scores=[[1, 0], [1, 0]]
)
"""The data of `tf/parameterisation-bias:sharp`, of which the risk sees W_11 and W_22."""


@given(factor_rows())
def test_sums_and_differences_of_the_rows_are_those_of_descent(case):
    a, b = (np.array([[float(x) for x in row] for row in rows]) for rows in rows_after(BALLS, case))
    run = descend_kq(
        APART, case.K, case.Q, "log-loss", step=case.step, steps=case.steps, record="all"
    )
    K, Q = run.K[0, -1], run.Q[0, -1]
    assert np.allclose(a, K + Q, rtol=1e-9, atol=1e-12)
    assert np.allclose(b, K - Q, rtol=1e-9, atol=1e-12)


@given(factor_rows(), st.sampled_from([[0], [1], [0, 1]]))
def test_balls_decide_where_rows_of_the_factors_are_equal(case, same):
    assume((case.K[same] != 0).any(axis=1).all() and (case.K + case.Q).any(axis=1).all())
    case.Q[same] = case.K[same]
    assert judge(parameterisation_bias.BIAS.claim("sharp").formula, {}, case).holds


@pytest.mark.parametrize("step", FAR_APART)
def test_a_step_that_does_not_turn_to_the_solution_is_an_error_of_the_proof(step, monkeypatch):
    case = replace(
        kq_bias.pair([[2.0, 0.0], [1.0, 1.0]], [[-1.0, 3.0], [0.0, 0.5]], PLANE), step=step
    )
    assert certificate(case) == 1
    monkeypatch.setattr(
        factor_descent, "gradient", lambda *given: [[g, g] for g, _ in gradient(*given)]
    )
    with pytest.raises(ProofError, match="does not turn"):
        certificate(case)


def test_weights_that_do_not_fit_are_refused():
    data = kq_bias.NOWHERE.data
    for shape in ((2, 1), (1, 0)):
        with pytest.raises(DataError, match="does not fit"):
            factored(data, np.zeros(shape), np.zeros(shape))


# the query on the left ----------------------------------------------------------------------------


def left_risk(data, X):
    """The risk with the logits z^T X x_t of definition 3.3, input by input."""
    total = 0.0
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        f = softmax(np.array([z @ X @ x for x in tokens]))
        total += float(LOSS.value(np.array([f @ gamma]))[0]) / data.n
    return total


@given(runs(tight_data(), 0))
def test_descent_with_the_query_left_is_descent_transposed(run):
    data, X = run.data, run.start
    grad = by_differences(lambda X: left_risk(data, X), X, 1e-5)
    scale = 1 + float(np.abs(data.X).max() * np.abs(data.Z).max() * np.abs(data.gamma).max())
    assert np.allclose(grad, gradient_w(data, X.T, LOSS).T, atol=1e-6 * scale**2)


def test_turning_a_start_twice_changes_nothing():
    run = replace(SIDEWAYS, start=np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert (turned(turned(run)).start == run.start).all()
    assert (turned(run).start == [[1, 3], [2, 4]]).all()


def judged(claim, case, **parameters):
    """What the judge says of an instance by its values."""
    return judge(claim.formula, parameters, claim.formula.build(**case))


def test_the_cost_of_turning_is_attained_by_singular_vectors():
    """S = X - X^T has the singular vectors (1, 0, 0) and (0, 3, 4)/5 of value 5."""
    sharp = orientation.MARGINS.claim("sharp")
    case = {"X": [[1, 3, 4], [0, 2, 7], [0, 7, 1]], "z": [1, 0, 0], "D": [0, 3, 4]}
    assert judged(sharp, case).slack == 0
    assert judged(sharp, case, tightened="0.999999").holds is False
    assert judged(sharp, {**case, "D": [0, 4, 3]}).slack > 0


def test_equality_is_decided_where_no_factor_of_the_cost_is_rational():
    """||S|| = ||z|| = sqrt 2 and ||D|| = 1, with z and D at right angles to each other."""
    case = {"X": [[0, 0, 1], [0, 0, -1], [0, 0, 0]], "z": [1, -1, 0], "D": [0, 0, 1]}
    found = judged(orientation.MARGINS.claim("sharp"), case)
    assert found.holds
    assert found.slack == 0


# heads --------------------------------------------------------------------------------------------

HEADED = fixed_head.HEAD.claim("amended-1")


@given(strategy(HEADED.formula))
def test_the_gradient_with_a_head_by_differences(case):
    """That of the claim, by the rules of calculus, and its closed form with Y H for Y."""

    def loss(x):
        output = softmax(case.A @ x) @ case.M
        return float(logistic(np.array([case.b * (output @ case.H)[0]]))[0])

    grad = by_differences(loss, case.x, 1e-5)
    scale = 1 + abs(case.b) * float((np.abs(case.M) @ np.abs(case.H)).max())
    size = (1 + float(np.abs(case.A).max())) ** 3
    relation = absorbed(BALLS, HEADED.formula.exact(case))
    for side in (relation.left, relation.right):
        assert np.allclose([float(arb(x)) for x in side], grad, atol=1e-8 * scale**3 * size)


def test_tied_tokens_count_by_the_worst_or_by_the_best():
    some = fixed_head.HEAD.claim("literal-2")
    flat = {"A": [[0], [0]], "x": [0], "M": [[1], [0]], "H": [[0]], "b": 1}
    assert judged(some, flat, each=True).holds is False
    assert judged(some, flat, each=False).holds
    last = {**flat, "A": [[0]] * 3, "M": [[2], [1], [0]], "H": [[-1]]}
    assert judged(some, last, rank=2).holds is False
    assert judged(some, {**last, "M": [[2], [2], [0]]}, rank=2).holds is False
    assert judged(some, {**last, "M": [[2], [0], [0]]}, rank=2).holds


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="length"):
        HEADED.formula.build(A=[[0], [0]], x=[0], M=[[0, 0], [0, 0]], H=[[0]], b=1)


# sizes and sentences ------------------------------------------------------------------------------


def as_floats(values):
    """The middles of balls, as an array."""
    return np.array([float(arb(x)) for x in values.ravel()]).reshape(values.shape)


@given(strategy(l2_objective.OBJECTIVE.claim("amended").formula))
def test_attention_by_blocks_and_by_products(case):
    """Every form of the attention against floats, its other readings against loops."""
    v = l2_objective.OBJECTIVE.claim("amended").formula.exact(case)
    logits = case.A1 @ case.X @ case.A2.T
    weights, values = softmax(logits), case.A3 @ case.Y
    assert np.allclose(as_floats(block_attention(BALLS, v.n, v.A1, v.A2, v.X)), weights, atol=1e-9)
    whole = softmax(logits.ravel()).reshape(logits.shape)
    forms = {
        ("rows", "rows"): weights @ values,
        ("columns", "rows"): weights.T @ values,
        ("max", "rows"): weights.max() * values,
        ("rows", "whole"): whole @ values,
    }
    direct = attention(BALLS, v.A1, v.A2, v.X, v.A3, v.Y)
    assert np.allclose(as_floats(direct), forms["rows", "rows"], atol=1e-7)
    for (read, divided), expected in forms.items():
        found = l2_objective.rewritten(BALLS, v, read, divided)
        assert np.allclose(as_floats(found), expected, atol=1e-7)


def arrays_fit(n, d, rows, columns, of, values):
    """Whether arrays of the printed sizes fit, as numpy multiplies them."""
    A1, A2, X, Y = np.ones((n, d)), np.ones((n, d)), np.ones((d, d)), np.ones((d, d))
    powers = np.exp(A1 @ X @ A2.T)
    D = np.diag((powers if of == "logits" else np.exp(X)).sum(axis=1))
    stated = np.ones(({"n": n, "d": d}[rows], {"n": n, "d": d}[columns]))
    between = {"A2": [A2], "A2^T": [A2.T], "none": []}[values]
    try:
        result = reduce(np.matmul, [stated.T, powers, *between, Y])
    except ValueError:
        return False
    return result.shape == (n, d) and D.shape == stated.shape


@pytest.mark.parametrize(("n", "d"), [*product((1, 2, 3), repeat=2)])
def test_the_sizes_that_are_counted_are_those_of_arrays(n, d):
    shape = attention_shape.SHAPE.claim("amended-1")
    for rows, columns in product(("n", "d"), repeat=2):
        for of, values in product(("logits", "X"), ("A2", "A2^T", "none")):
            parameters = {"rows": rows, "columns": columns, "of": of, "values": values}
            holds = judged(shape, {"n": n, "d": d}, **parameters).holds
            assert holds == arrays_fit(n, d, **parameters)
    block = np.kron(np.ones((n, d)), np.ones((n, d)))[:n]
    lengths = {"d": d, "n": n, "d^2": d * d, "n d": n * d}
    for length, size in lengths.items():
        claim = attention_shape.SHAPE.claim("literal-2")
        fits = judged(claim, {"n": n, "d": d}, length=length).holds
        assert fits == (block.shape[1] == size)
    divisor = l2_objective.OBJECTIVE.claim("literal-2")
    powers = np.kron(np.ones((n, d)), np.ones((n, d))) @ np.ones(d * d)
    assert judged(divisor, {"n": n, "d": d}).holds == (powers.size == n)


# parts that do not fit together -------------------------------------------------------------------

SCORED = AttentionData.of([[[1], [0]]], [[1]], scores=[[1, 0]], mask=[[True, False]])
LABELLED = AttentionData.of([[[1], [0]]], [[1]], y=[1], v=[1])


@pytest.mark.parametrize(
    ("record", "data", "part"),
    [
        (Shared, SCORED, [[1.0]]),
        (Classified, SCORED, [1.0]),
        (Classified, LABELLED, [1.0, 0.0]),
        (Choice, LABELLED, [0]),
        (Choice, SCORED, [1]),  # masked
        (Choice, SCORED, [2]),
        (Choice, SCORED, [0, 0]),
    ],
)
def test_records_whose_parts_do_not_fit_are_refused(record, data, part):
    with pytest.raises(DataError):
        record(data, np.array(part))


def test_records_whose_parts_fit_are_not():
    Shared(SCORED, np.ones((1, 2)))
    Classified(LABELLED, np.ones(1))
    assert Choice(SCORED, np.array([0])).alpha.tolist() == [0]

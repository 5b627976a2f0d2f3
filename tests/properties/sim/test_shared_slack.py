"""Definition 4.1 with the slack that queries share, against the solver of soft margins."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import assume, given

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.primitives.att_svm import constraints, exact_att_svm, flat
from attsvm.primitives.hypotheses import unique_optimum
from attsvm.svm import att_svm_programme
from attsvm.svm.soft import soft_thresholds, solve_soft
from attsvm.svm.soft_path import trace
from attsvm.theory.arithmetic import BALLS
from properties.sim.definition_4_1 import DEFINITION
from properties.sim.definition_4_1.conclusion import largest_multiplier, slack_sum
from properties.sim.definition_4_1.instances import OWN_QUERIES, queried, shares, whole_sequences
from properties.sim.definition_4_1.prices import price

SHARING = DEFINITION.claim("amended-2")


def meets_hypotheses(case):
    return all(h.holds(case) for h in SHARING.hypotheses)


def least_price(case, together):
    found = exact_att_svm(case.soft.data)
    C = largest_multiplier(case, found.duals, together)
    return float(arb(C) / arb(found.square).sqrt())


def groups_of(case):
    names = shares(case)
    return np.array([names.index(name) for name in names])


def objective(case, W):
    """f_C(W), one slack a token of a sequence."""
    A, V = constraints(BALLS, case.soft.data), BALLS.vec(BALLS.values(W))
    slack = slack_sum(BALLS, A, V, shares(case))
    return float(arb(BALLS.norm(V) + BALLS.values(case.soft.C) * slack))


@given(queried(whichever=True))
def test_the_exact_price_is_that_of_the_linear_programme_in_floats(case):
    """Also where constraints depend on each other, so that X^mm has many multipliers."""
    svm = exact_att_svm(case.data)
    assume(svm is not None and svm.A and unique_optimum(case))
    slacks = dict(zip(svm.A, shares(case), strict=True))
    found = price(svm, slacks)
    _, enough = soft_thresholds(att_svm_programme(case.data), groups_of(case))
    assert float(found.least) / float(arb(svm.square).sqrt()) == pytest.approx(enough, rel=1e-7)
    tight = {token: dot(svm.A[token], found.rival) for token, m in svm.margins.items() if m == 1}
    highest = {slacks[token]: fmpq(0) for token in tight}
    for token, value in tight.items():
        highest[slacks[token]] = max(highest[slacks[token]], value)
    assert sum(highest.values()) == 1
    assert dot(flat(svm.W), found.rival) == found.least


def first_best(data):
    """The first token of the highest score of each input, as the statement takes it."""
    return [rows[0] for rows in ExactData.of(data).optimal]


@given(queried())
def test_the_solver_needs_no_higher_price(case):
    assume(meets_hypotheses(case))
    programme = att_svm_programme(case.soft.data, first_best(case.soft.data))
    groups = groups_of(case)
    _, enough = soft_thresholds(programme, groups)
    assert enough <= least_price(case, True) * (1 + 1e-7)
    assert least_price(case, False) <= least_price(case, True) * (1 + 1e-12)


@given(queried())
def test_the_objective_is_the_solvers(case):
    assume(meets_hypotheses(case))
    soft = case.soft
    answer = solve_soft(
        att_svm_programme(soft.data, first_best(soft.data)), soft.C, groups_of(case)
    )
    assert objective(case, answer.W) == pytest.approx(answer.objective, rel=1e-9)
    assert answer.bracket[0] <= objective(case, soft.move) * (1 + 1e-12)


def test_two_queries_need_twice_the_price_of_one():
    programme = att_svm_programme(OWN_QUERIES.soft.data)
    assert shares(OWN_QUERIES) == [(0, 0), (0, 0)]
    assert soft_thresholds(programme, groups_of(OWN_QUERIES))[1] == pytest.approx(1.0)
    assert soft_thresholds(programme)[1] == pytest.approx(0.5)
    assert least_price(OWN_QUERIES, True) == 1.0
    assert least_price(OWN_QUERIES, False) == 0.5
    assert SHARING.conclusion(OWN_QUERIES).value == pytest.approx(-0.5)
    apart = replace(OWN_QUERIES, sequence=np.array([0, 1]))
    assert least_price(apart, True) == 0.5
    assert SHARING.conclusion(apart).value == pytest.approx(0.0, abs=1e-9)


def test_a_sequence_has_one_set_of_tokens():
    data = OWN_QUERIES.soft.data
    X = data.X.copy()
    X[1, 0, 0] = 2.0
    moved = replace(OWN_QUERIES, soft=replace(OWN_QUERIES.soft, data=replace(data, X=X)))
    assert whole_sequences(OWN_QUERIES)
    assert not whole_sequences(moved)
    assert whole_sequences(replace(moved, sequence=np.array([0, 1])))


def test_matrices_that_repeat_in_several_groups_are_held_once():
    """Groups that share matrices and cannot be merged, against one copy each moved by a hair."""
    data = AttentionData.of(
        [[[3.0, 0.0], [0.0, 1.0], [0.0, -3.0]]] * 3, [[1.0, 0.0]] * 3, scores=[[1.0, 0.0, 0.0]] * 3
    )
    programme = att_svm_programme(data)
    groups = np.array([0, 1, 2, 2, 0, 1])  # one token, the other, both
    path = trace(programme, groups, np.ones(3))
    assert path.gram.shape == (3, 3)
    whole = solve_soft(programme, 0.117, groups)
    assert whole.kind == "between"
    apart = replace(programme, D=programme.D * (1 + 1e-9 * np.arange(6))[:, None])
    assert trace(apart, groups, np.ones(3)).gram.shape == (7, 7)
    assert solve_soft(apart, 0.117, groups).objective == pytest.approx(whole.objective, rel=1e-8)

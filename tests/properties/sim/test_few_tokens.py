"""How many tokens contribute and support: counted on figure 1, and reduced by Caratheodory."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given

from attsvm import AttentionData
from attsvm.primitives.att_svm import ExactAttSVM, exact_att_svm
from attsvm.primitives.gradients import log_coefficients
from attsvm.primitives.hypotheses import exists
from attsvm.svm.frobenius import solve_programme
from properties._support.small_runs import TWO_TOKENS
from properties.sim._support import causal_language as causal
from properties.sim._support.causal_language import Setting, best, draw
from properties.sim._support.redundant_tokens import EQUAL
from properties.sim.few_support_tokens import FEW
from properties.sim.few_support_tokens.conclusion import (
    BOTH,
    PROGRAMMES,
    SEPARABLE,
    Default,
    carriers,
)
from tests.searching import few

SUPPORT = {
    "prefix": ([52, 41, 52, 55, 46], [59, 60, 58, 57, 52]),
    "vocabulary": ([303, 311, 334, 352, 425], [760] * 5),
}
TASKS = [draw(0, run, Setting()) for run in range(5)]


@pytest.mark.parametrize("tokens", SUPPORT)
def test_support_vectors_on_the_default_of_figure_1_are_as_many_as_the_docstring_says(tokens):
    counts, of = [], []
    for task in TASKS:
        data = task.data[tokens]
        programme = causal.programme(data, best(data))
        assert solve_programme(programme).status == "unseparable"
        W = causal.solve(task, tokens).W
        margins = np.einsum("jd,de,je->j", programme.D, W, programme.Z)
        assert np.abs(margins - 1.0)[np.abs(margins - 1.0) > 1e-6].min() > 1e-4  # no close calls
        counts.append(int((margins <= 1.0 + 1e-6).sum()))
        of.append(len(margins))
    assert (counts, of) == SUPPORT[tokens]


def carrying(data, W):
    """How many tokens make 90% of the sum of |c_it|, and how many contribute."""
    sizes = np.sort(np.exp(log_coefficients(data, W, "logistic-loss")[data.present]))[::-1]
    return int((sizes.cumsum() < 0.9 * sizes.sum()).sum()) + 1, int((sizes > 0.0).sum())


CARRYING = {
    "prefix": ([(62, 90), (50, 90), (53, 90), (43, 90), (48, 81)], [7, 53, 56, 53, 46]),
    "vocabulary": ([(480, 800), (475, 800)], [12, 8]),
}
"""At the starts of runs, and of those that carry after 10,000 steps; the docstring tells ranges."""


@pytest.mark.parametrize("tokens", CARRYING)
def test_gradients_on_the_default_come_from_as_many_tokens_as_the_docstring_says(tokens):
    first, last = CARRYING[tokens]
    tasks = TASKS[: len(first)]
    assert [carrying(task.data[tokens], task.start) for task in tasks] == first
    tasks = tasks[: few(len(first))]
    ends = causal.train(tasks, tokens, 10_000, [10_000])[:, -1]
    found = [carrying(task.data[tokens], W)[0] for task, W in zip(tasks, ends, strict=True)]
    assert found == last[: len(tasks)]


def test_in_eight_of_a_hundred_runs_of_figure_1_most_tokens_are_support_vectors():
    found = {}
    for run in range(100):
        data = draw(0, run, Setting()).data["prefix"]
        answer = solve_programme(causal.programme(data, best(data)))
        if answer.status != "unseparable":
            exact = exact_att_svm(Default(run, False).data)
            found[run] = [margin == 1 for margin in exact.margins.values()]
    assert len(found) == 8
    assert min(found) == SEPARABLE.run
    assert not any(all(tight) for tight in found.values())  # part 1 of assumption 3.10
    counts = [(sum(tight), len(tight)) for tight in found.values()]
    assert [f(tight for tight, _ in counts) for f in (min, max)] == [42, 55]
    assert [f(of for _, of in counts) for f in (min, max)] == [52, 59]
    assert [round(100 * f(t / of for t, of in counts)) for f in (min, max)] == [76, 93]


def test_one_place_of_each_optimal_token_is_kept():
    case = Default(4, False)
    data = case.data
    assert data.present.sum() < case.start.data.present.sum()
    kept = best(data)
    same = (data.X[np.arange(data.n), kept][:, None] == data.X).all(axis=2) & data.present
    assert (same.sum(axis=1) == 1).all()


def test_equal_constraints_with_shared_weight_are_reduced_to_one():
    one = [fmpq(1)]
    A = {(0, 1): one, (0, 2): one}
    halves = dict.fromkeys(A, fmpq(1, 2))
    shared = ExactAttSVM([[fmpq(1)]], A, halves, dict.fromkeys(A, fmpq(1)))
    assert len(carriers(shared)) == 1
    assert len(carriers(exact_att_svm(EQUAL))) == 1


@given(PROGRAMMES.filter(exists))
def test_carriers_are_independent(data):
    found = exact_att_svm(data)
    tokens = carriers(found)
    assert tokens
    assert found.gram(tokens).rank() == len(tokens)


def test_a_token_that_is_zero_adds_nothing_to_the_gradient():
    literal = FEW.claim("literal-1").conclusion
    assert literal(BOTH).ratio == 2.0  # two of two, twice what is read as few
    assert literal(TWO_TOKENS).ratio == 1.0  # the tokens 1 and 0


def test_a_programme_of_one_token_has_no_carriers():
    assert carriers(exact_att_svm(AttentionData.of([[[1]]], [[1]], scores=[[0]]))) == []

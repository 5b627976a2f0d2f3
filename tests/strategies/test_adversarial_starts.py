"""Misled starts go along solutions of worse choices; the data about them are what they say."""

import numpy as np
import pytest
from flint import ctx
from hypothesis import assume, find, given
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.exact import ExactData, separate
from attsvm.exact.svm import nearest
from attsvm.primitives.aligned_inputs import inputs_aligned
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import (
    LOCAL_TRAP,
    certified_limit,
    opposed_data,
    rival_data,
    tight_data,
)
from attsvm.primitives.hypotheses import lower_scores_equal
from attsvm.strategies.adversarial_starts import (
    adversarial_start,
    choices,
    starts_about,
    towards,
    trapping_data,
)
from attsvm.strategies.data import attention_data
from tests.searching import drawn, few

MIXED = st.one_of(tight_data(), rival_data(), attention_data())
OPPOSED = AttentionData.of(
    [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2
)


@given(MIXED)
def test_choices_are_optimal_but_for_one_input_and_the_last_one_is_second_best(data):
    gamma, rows = data.gamma, np.arange(data.n)
    found = choices(data)
    assert len(found) == 1 + data.n * (data.T - 1)
    for chosen in found[:-1]:
        lost = gamma.max(axis=1) - gamma[rows, chosen]
        assert (chosen != gamma.argmax(axis=1)).sum() == 1
        assert (lost > 0).sum() <= 1
    second = np.sort(gamma, axis=1)[:, -min(2, data.T)]
    assert (gamma[rows, found[-1]] == second).all()
    assert len({tuple(chosen) for chosen in found[:-1]}) == len(found) - 1


def test_choices_are_of_tokens_that_are_there_better_ones_first():
    data = AttentionData.of(
        [[[1.0], [2.0], [3.0], [4.0]], [[1.0], [2.0], [3.0], [4.0]]],
        [[1.0], [1.0]],
        scores=[[0.0, 3.0, 1.0, 2.0], [5.0, 9.0, 9.0, 4.0]],
        mask=[[True] * 4, [True, False, False, True]],
    )
    assert choices(data).tolist() == [[3, 0], [1, 3], [2, 0], [0, 0], [3, 3]]


@given(st.one_of(tight_data(), rival_data()), st.integers(0, 7))
def test_towards_is_the_exact_solution_in_few_bits_and_local_as_definition_2_says(data, which):
    chosen = choices(data)[which % len(choices(data))]
    W, local = towards(data, chosen)
    answer = separate(ExactData.of(data), chosen.tolist())
    assume(answer is not None and answer.status == "solved")
    exact = np.array([[nearest(w) for w in row] for row in answer.W])
    top = np.abs(exact).max()
    assert np.abs(W - exact).max() <= top / 64 + 1e-9 * top
    units = W / 2.0 ** (np.frexp(np.abs(W).max())[1] - 8)  # rounding up may reach a power of 2
    assert (units == np.round(units)).all()
    pairs = [(i, t) for i in range(data.n) for t in range(data.T) if t != chosen[i]]
    near = [pair for pair, m in zip(pairs, answer.margins, strict=True) if m == 1]
    assert local is all(data.gamma[i, chosen[i]] > data.gamma[i, t] for i, t in near)


def test_without_a_solution_chosen_tokens_are_raised_over_the_mean():
    W, local = towards(OPPOSED, np.array([0, 1]))
    assert W.tolist() == [[1.0]]  # 1/2 * 1 + (-1/2) * (-1)
    assert not local
    alone = AttentionData.of([[[3.0]]], [[1.0]], scores=[[1.0]])
    assert towards(alone, np.array([0]))[0].tolist() == [[0.0]]


def test_the_local_solution_of_the_trap_comes_first():
    data = LOCAL_TRAP.data
    W, local = towards(data, np.array([1]))
    assert local
    assert W.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert adversarial_start(data, 0, 2, np.zeros((2, 2))).tolist() == (4 * W).tolist()
    with ctx.workprec(128):
        assert certified_limit(Descent(data, 4 * W, "log-loss"), "optimal") < 0


@pytest.mark.parametrize("columns", [1, 2])
def test_starts_shrink_to_zero_and_every_third_keeps_to_a_worse_token(columns):
    data, kept = LOCAL_TRAP.data, []
    for start in drawn(starts_about(data, 0, columns=columns), few(200), start=1):
        assert start.shape == (2, columns)
        assert (start * 2.0**20 == np.round(start * 2.0**20)).all()
        logits = data.X[0] @ start[:, 0]
        kept.append(logits.argmax() != 0 and logits.max() - logits[0] > 3.0)
    assert 0.2 < np.mean(kept) < 0.7
    assert not find(starts_about(data, 0, columns=columns), lambda W: True).any()


def test_two_kinds_of_starts_in_six_are_adversarial(monkeypatch):
    module, integers = "attsvm.strategies.adversarial_starts", st.integers
    monkeypatch.setattr(f"{module}.adversarial_start", lambda *_: "adversarial")
    for kind in range(6):
        monkeypatch.setattr(
            f"{module}.st.integers", lambda low, high, k=kind: integers(min(k, high), min(k, high))
        )
        (start,) = drawn(starts_about(LOCAL_TRAP.data), 1)
        assert isinstance(start, str) is (kind > 3)


@given(opposed_data())
def test_opposed_data_are_tight_and_of_equal_rivals(data):
    assert lower_scores_equal(Descent(data, np.zeros((2, 2))))
    answer = separate(ExactData.of(data), [0, 0])
    assert answer.status == "solved"
    assert answer.all_tight


@given(trapping_data(), st.sampled_from([2.0, 1.0]))
def test_trapping_data_have_a_worst_token_between_two_better_ones_in_accord(data, far):
    assert inputs_aligned(data)
    assert (data.gamma.argmax(axis=1) == 0).all()
    spread = (data.gamma[:, 2] - data.gamma[:, 1]) / (data.gamma[:, 0] - data.gamma[:, 2])
    assert ((spread >= 1 / 8) & (spread <= 8)).all()
    for i, tokens in enumerate(data.X):
        assert tokens[0, i] > tokens[1, i] > tokens[2, i]
    W, local = towards(data, np.full(data.n, 2))
    assert local
    with ctx.workprec(128):
        kept = certified_limit(Descent(data, 16 * far * W, "log-loss"), "optimal")
        assert kept is not None
        assert kept < 0

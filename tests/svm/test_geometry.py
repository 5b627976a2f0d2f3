"""Locally-optimal choices against their definition choice by choice."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError
from attsvm.exact import decide
from attsvm.svm import att_svm_programme, local_svm
from attsvm.svm.geometry import is_locally_optimal, locally_optimal, margins
from properties._support.published_data import gaussian_protocol, one_input
from tests.svm.conditions import EPS
from tests.svm.problems import blocks, problems, two_tokens


def by_definition(data, targets):
    """Support of the choice where it is locally optimal (tf, definition 2), else None."""
    programme = att_svm_programme(data, targets)
    exact = decide(programme)
    if exact.status == "unseparable":
        return None
    rows = zip(programme.input.tolist(), programme.token.tolist(), exact.margins, strict=True)
    tight = [(i, t) for i, t, m in rows if m == 1]
    if any(data.gamma[i, t] >= data.gamma[i, targets[i]] for i, t in tight):
        return None
    return tuple(tuple(t for k, t in tight if k == i) for i in range(data.n))


@st.composite
def scored(draw, n=2, T=3, d=2):
    """Integer data whose scores often tie, a few constraints in all."""
    data, _ = draw(problems(n=n, T=T, d=d))
    assume(data.present.sum() > data.n)
    scores = draw(blocks(data.n, data.T, top=2))
    return AttentionData(data.X, data.Z, scores=scores, mask=data.mask)


def choices(data):
    tokens = [np.flatnonzero(row).tolist() for row in data.present]
    return list(itertools.product(*tokens))


@given(scored(n=3, d=3))
def test_choices_and_their_enumeration_are_those_of_the_definition(data):
    """In order of the choices; on small integers nothing is within 1e-7 of tight but tight."""
    truth = {targets: by_definition(data, targets) for targets in choices(data)}
    for targets, support in truth.items():
        assert is_locally_optimal(data, list(targets)) == (support is not None)
    found = locally_optimal(data)
    told = [(targets, support) for targets, support in truth.items() if support is not None]
    assert [(optimum.targets, optimum.support) for optimum in found] == told
    assert all(o.norm == local_svm(data, list(o.targets)).value for o in found)


def test_the_score_of_the_third_token_says_whether_the_second_is_an_optimum():
    """Both published variants: the third token is its only support, of equal score or below."""
    assert [o.targets for o in locally_optimal(one_input((0.0, 0.0, 0.9)))] == [(0,)]
    found = locally_optimal(one_input((0.0, 0.0, 0.0)))
    assert [(o.targets, o.support) for o in found] == [((0,), ((2,),)), ((1,), ((2,),))]
    assert abs(found[0].norm - 1.0 / np.sqrt(1.01)) <= 4 * EPS  # D = (-0.1, 1)
    assert abs(found[1].norm - 1.0) <= 4 * EPS  # D = (1, 0)


def test_tight_by_a_hair_is_decided_exactly_by_one_and_to_1e_7_by_the_other():
    """Token 2 scores more and has margin 1 + hair: in its support to 1e-7, exactly not."""
    for hair, tight in ((2.0**-30, True), (2.0**-20, False)):
        tokens = [[[1.0, 0.0], [0.0, 0.0], [-hair, 0.0]]]
        data = AttentionData.of(tokens, [[1.0, 0.0]], scores=[[1, 0, 2]])
        assert is_locally_optimal(data, [0])
        assert ((0,) in {optimum.targets for optimum in locally_optimal(data)}) != tight


# margins


@given(problems(), st.data())
def test_margins_are_sums_over_entries(problem, draw):
    data, targets = problem
    W = draw.draw(blocks(data.d, data.d))
    table = margins(data, W, targets)
    for i, t in itertools.product(range(data.n), range(data.T)):
        D = data.X[i, targets[i]] - data.X[i, t]
        expected = sum(D[a] * W[a, b] * data.Z[i, b] for a in range(data.d) for b in range(data.d))
        hidden = t == targets[i] or not data.present[i, t]
        assert table[i, t] == (np.inf if hidden else expected)


def test_absent_tokens_of_any_size_make_no_noise():
    data = AttentionData.of(
        [[[1.0], [0.0], [1e300]]], [[1e10]], scores=[[1, 0, 0]], mask=[[True, True, False]]
    )
    assert margins(data, np.array([[1.0]])).tolist() == [[np.inf, 1e10, np.inf]]


# errors


def test_margins_need_a_matrix_and_targets_that_fit():
    data = two_tokens([(1, 0)], [[1, 1]])
    for W in (np.ones((3, 3)), np.ones((2, 3)), np.ones(2)):
        with pytest.raises(DataError, match=r"W (has|must have)"):
            inspect.unwrap(margins)(data, W)
    with pytest.raises(DataError, match="not finite"):
        margins(data, np.full((2, 2), np.nan))
    with pytest.raises(DataError, match="not a token index"):
        margins(data, np.eye(2), [2])
    with pytest.raises(TiedTokensError):
        margins(two_tokens([(1, 0)], [[1, 1]], scores=(1, 1)), np.eye(2))


def test_too_many_choices_are_refused_and_counted():
    data = gaussian_protocol(np.random.default_rng(0), n=3, T=4, d=2)
    with pytest.raises(DataError, match="more than 63 choices") as caught:
        locally_optimal(data, limit=63)
    assert caught.value.value == 64
    assert locally_optimal(data, limit=64) == locally_optimal(data)


def test_nothing_to_choose_between_is_an_error():
    single = AttentionData.of(np.ones((2, 1, 1)), np.ones((2, 1)), scores=np.ones((2, 1)))
    for search in (
        locally_optimal,
        lambda data: is_locally_optimal(data, [0, 0]),
    ):
        with pytest.raises(DataError, match="single token"):
            search(single)
    with pytest.raises(DataError, match="not a token index"):
        is_locally_optimal(one_input(), [3])

"""Each method of the solver alone, without another to fall back on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.exact import decide
from attsvm.svm import att_svm_programme, frobenius
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import right
from tests.svm.problems import blocks, programmes, two_tokens, without_zero_rows


def alone(monkeypatch, method, **limits):
    """One method of the solver is left, with other limits; None where it gives up."""
    chosen = frobenius._METHODS[method]
    for name, value in limits.items():
        monkeypatch.setattr(frobenius, name, value)

    def solve(programme):
        with np.errstate(all="ignore"):
            proposal = chosen(programme)
        return (
            None
            if proposal is None
            else frobenius.grade(programme, *proposal[:1], solved=proposal[1])
        )

    return solve


@pytest.mark.parametrize(
    ("method", "limits"),
    [
        ("pivots", {}),
        ("pivots from nothing", {}),
        ("working set", {}),
        ("working set", {"COLD": 1}),
        ("rationals", {}),
    ],
    ids=str,
)
def test_each_method_alone_is_right_on_integers_of_every_kind(monkeypatch, method, limits):
    """Free signs on equalities, dependent rows, rays: pivots need no help with any."""
    solve = alone(monkeypatch, method, **limits)

    @settings(max_examples=120, deadline=None)
    @given(programmes())
    def holds(programme):
        programme = without_zero_rows(programme)
        answer, exact = solve(programme), decide(programme)
        right(programme, answer, exact)
        assert answer.status == exact.status

    holds()


@settings(max_examples=150, deadline=None)
@given(programmes(kinds=("Att-SVM",)), st.data())
def test_bounds_and_equalities_of_any_kind_are_met_by_every_method(programme, draw):
    """Of either sign and mixed, beyond what the family asks for."""
    programme = without_zero_rows(programme)
    bound = draw.draw(blocks(len(programme.bound), top=2))
    mixed = replace(programme, bound=bound, equal=draw.draw(blocks(len(bound))) > 0)
    exact = decide(mixed)
    for method in ("pivots", "working set", "rationals"):
        weights, solved = frobenius._METHODS[method](mixed)
        answer = frobenius.grade(mixed, weights, solved=solved)
        right(mixed, answer, exact)
        assert answer.status == exact.status


@pytest.mark.parametrize("limits", [{}, {"DENSE": 3}], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_blocks_alone_are_right_on_independent_rows(monkeypatch, limits, seed):
    """By Cholesky, and by conjugate gradients where the active block is too large for it."""
    data = gaussian_protocol(np.random.default_rng(seed), n=4, T=5, d=8)
    programme = att_svm_programme(data)
    answer = alone(monkeypatch, "block exchanges", **limits)(programme)
    right(programme, answer, decide(programme))
    assert answer.solved


def test_blocks_decline_dependent_and_zero_rows(monkeypatch):
    solve = alone(monkeypatch, "block exchanges")
    assert solve(att_svm_programme(two_tokens([(1, 0), (0, 1)] * 3, np.ones((6, 2))))) is None
    assert solve(att_svm_programme(two_tokens([(0, 0)], [[1, 1]]))) is None


def test_methods_decline_what_is_too_large_for_them(monkeypatch):
    programme = att_svm_programme(two_tokens(np.eye(4), np.ones((4, 4))))
    for method, limit in (
        ("pivots", "DENSE"),
        ("rationals", "EXACT"),
        ("pivots from nothing", "COLD"),
    ):
        with monkeypatch.context() as patch:
            assert alone(patch, method, **{limit: 3})(programme) is None
            assert alone(patch, method, **{limit: 4})(programme).solved
    all_equal = replace(programme, equal=np.ones(4, dtype=bool))
    assert alone(monkeypatch, "working set", DENSE=3)(all_equal) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_working_set_grows_until_nothing_is_violated(monkeypatch, seed):
    """Hundreds of rows through a set that starts with 5."""
    data = gaussian_protocol(np.random.default_rng(seed), n=20, T=11, d=4 + 6 * (seed % 2))
    programme = att_svm_programme(data)
    answer = alone(monkeypatch, "working set", COLD=5)(programme)
    truth = alone(monkeypatch, "pivots")(programme)
    assert answer.status == truth.status == ("solved" if seed % 2 else "unseparable")
    assert np.abs(answer.W - truth.W).max() <= 1e-9

"""Yes and no, each proved again in fractions here, whatever the float method proposes."""

import importlib

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings

from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import decide
from attsvm.svm.programme import (
    att_svm_programme,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    subset,
)
from attsvm.svm.separability import Separability, separability
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import matrices, proved
from tests.svm.problems import programmes, two_tokens

MODULE = importlib.import_module("attsvm.svm.separability")
SEPARABLE_KINDS = ("Att-SVM", "p-SVM", "keys", "v-SVM")


def by_highs(programme):
    """Whether some W has margins at least 1."""
    A = matrices(programme)
    reply = scipy.optimize.linprog(
        np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None), method="highs"
    )
    assert reply.status in (0, 2)
    return reply.status == 0


@pytest.mark.parametrize("kind", SEPARABLE_KINDS)
def test_answers_on_integers_are_proved_and_those_of_highs(kind):
    found = set()

    @settings(max_examples=80, deadline=None)
    @given(programmes(kinds=(kind,)))
    def holds(programme):
        reply = separability(programme)
        proved(programme, reply)
        assert reply.separable == by_highs(programme)
        found.add(reply.separable)

    holds()
    assert found == {True, False}


@pytest.mark.parametrize("seed", range(10))
def test_random_answers_are_proved_and_those_of_highs(seed):
    """Rounded differences, both answers among the seeds."""
    n, d = 3 + seed, 2 + seed % 2
    data = gaussian_protocol(np.random.default_rng(seed), n=n, T=4, d=d)
    programme = att_svm_programme(data)
    reply = separability(programme)
    proved(programme, reply)
    assert reply.separable == by_highs(programme)


def test_large_ones_are_proved_without_rationals(monkeypatch):
    """Ten thousand constraints in dimension 9; fractions see the 10 rows that cancel."""

    def never(*arguments):
        raise AssertionError("rationals were asked")

    generator = np.random.default_rng(0)
    X, Z, W = (generator.normal(size=s) for s in ((200, 51, 3), (200, 3), (3, 3)))
    aligned = np.einsum("ntd,de,ne->nt", X, W, Z)
    yes = att_svm_programme(AttentionData(X, Z, scores=aligned))
    no = att_svm_programme(AttentionData(X, Z, scores=generator.normal(size=(200, 51))))
    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "decide", never)
        replies = [separability(programme) for programme in (yes, no)]
    assert [reply.separable for reply in replies] == [True, False]
    assert len(replies[1].weights) == 10
    proved(subset(no, np.isin(no.input, replies[1].rows.input)), replies[1])
    margins = yes.margins(replies[0].W)
    assert (margins > 0.0).all()


# errors and words


def test_programmes_with_other_demands_are_refused():
    data = two_tokens([(1, 0), (0, 1)], np.eye(2))
    both = np.array([[True, True], [True, False]])
    for programme in (
        generalised_programme(data, both),
        finite_part_programme(data, both, np.array([[2.0, 1.0], [1.0, 1.0]])),
        joint_programme(data, np.array([True, False])),
    ):
        with pytest.raises(DataError, match="must all be positive") as caught:
            separability(programme)
        assert caught.value.value == programme.name
        assert "decide" in caught.value.remedy


def test_a_separator_beyond_floats_is_an_error_that_points_to_the_exact_one():
    """||A|| = 1e-139 and an angle of 1e-200 ask for an entry of 2e339."""
    data = two_tokens([(1.0, 0.0), (-1.0, 1e-200)], np.tile([1e-139, 0.0], (2, 1)))
    programme = att_svm_programme(data)
    with pytest.raises(SolverError, match="by less than a float64 matrix can show") as caught:
        separability(programme)
    assert "decide" in caught.value.remedy
    assert decide(programme).status == "solved"


@pytest.mark.parametrize("k", [50, 51, 52, 53, 54])
def test_cones_between_two_floats_hold_no_float_matrix(k):
    """0 < w_1 + w_2 < 2^-k w_2: the least distance of w_2 from a float below is 2^-53 of it."""
    data = two_tokens([(1.0, 1.0), (-1.0, -1.0 + 2.0**-k)], [[1.0, 0.0]] * 2)
    tokens = np.array(data.X)
    tokens[1] = [[-1.0, -1.0], [0.0, -(2.0**-k)]]
    programme = att_svm_programme(AttentionData(tokens, data.Z, scores=data.gamma))
    if k >= 53:
        with pytest.raises(SolverError, match="by less than a float64 matrix can show"):
            separability(programme)
        return
    proved(programme, reply := separability(programme))
    assert reply.separable


def test_an_answer_says_what_proves_it():
    yes = separability(att_svm_programme(two_tokens([(1, 0)], [[1, 1]])))
    no = separability(att_svm_programme(two_tokens([(1, 0), (-2, 0)], np.ones((2, 2)))))
    assert repr(yes) == "<separable: a W whose margins are proved positive>"
    assert repr(no) == "<unseparable: 2 constraints cancel with positive weights>"
    assert [(i, t) for i, t, _ in no.farkas] == [(0, 1), (1, 1)]
    loose = att_svm_programme(two_tokens([(1, 0), (0, 1), (-2, 0)], np.ones((3, 2))))
    spare = Separability(False, None, loose, np.array([2.0, 0.0, 1.0]))
    assert [(i, t) for i, t, _ in spare.farkas] == [(0, 1), (2, 1)]
    broken = Separability(
        False, None, att_svm_programme(two_tokens([(1, 0)], [[1, 1]])), np.ones(1)
    )
    with pytest.raises(SolverError, match="rationals find the rows separable"):
        _ = broken.farkas

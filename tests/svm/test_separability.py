"""Yes and no, each proved again in fractions, whatever the float method proposes."""

import contextlib
import importlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, OutOfTimeError, SolverError
from attsvm.exact import decide
from attsvm.svm import farkas
from attsvm.svm.farkas import cancelling_multipliers
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.programme import (
    att_svm_programme,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    subset,
    v_svm_programme,
)
from attsvm.svm.separability import Separability, separability
from benchmarks.hard_margins import KINDS, hard_data
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import proved
from tests.svm.problems import SPOILT, blocks, of_rows, problems, programmes, spoilt, two_tokens

MODULE = importlib.import_module("attsvm.svm.separability")


SEPARABLE_KINDS = ("Att-SVM", "p-SVM", "keys", "v-SVM")


@pytest.mark.parametrize("kind", SEPARABLE_KINDS)
def test_answers_on_integers_are_proved(kind):
    found = set()

    @given(programmes(kinds=(kind,)))
    def holds(programme):
        reply = separability(programme)
        proved(programme, reply)
        found.add(reply.separable)

    holds()
    assert found == {True, False}


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


def test_programmes_with_other_demands_are_refused():
    data = two_tokens([(1, 0), (0, 1)], np.eye(2))
    both = np.array([[True, True], [True, False]])
    for programme in (
        generalised_programme(data, both),
        finite_part_programme(data, both, np.array([[2.0, 1.0], [1.0, 1.0]])),
        joint_programme(data, np.array([True, False])),
    ):
        with pytest.raises(DataError, match="ask for positive margins alone") as caught:
            separability(programme)
        assert caught.value.value == programme.name
        assert "attsvm.exact.decide" in caught.value.remedy


def test_a_separator_beyond_floats_is_given_in_rationals():
    """||A|| = 1e-139 and an angle of 1e-200 ask for an entry of 2e339."""
    data = two_tokens([(1.0, 0.0), (-1.0, 1e-200)], np.tile([1e-139, 0.0], (2, 1)))
    programme = att_svm_programme(data)
    proved(programme, reply := separability(programme))
    assert reply.separable
    assert reply.W is None
    assert (
        repr(reply)
        == "<separable: by an exact W; rounded to float64, it has a margin of at most 0>"
    )


HARD = 656


def test_hard_instances_are_all_decided():
    """Nearly dependent, hair-thin, of very different size, copies: some by an exact W alone."""
    exact, verdicts = 0, set()
    for number in range(HARD):
        draw = np.random.default_rng((number, 1))
        kind = [kind for kind in KINDS if kind != "many"][number % 9]
        small, scale = 10.0 ** -draw.uniform(3, 15), float(draw.choice([5, 20, 60, 150]))
        try:
            programme = att_svm_programme(hard_data(kind, number, small, scale))
        except DataError:  # a single token an input, or sizes beyond float64
            continue
        reply = separability(programme)
        verdicts.add(reply.separable)
        exact += reply.exact is not None
        if reply.exact is not None or number % 8 == 0:
            proved(programme, reply)
    assert verdicts == {True, False}
    assert exact > 10


def test_rationals_that_run_out_of_time_leave_it_undecided():
    programme = att_svm_programme(hard_data("queries", 0, 1e-12, shape=(4, 4, 3)))
    with pytest.raises(OutOfTimeError, match="did"):
        separability(programme, seconds=1e-9)
    assert separability(programme, seconds=None).separable


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
    with pytest.raises(SolverError, match="rational arithmetic finds the rows separable"):
        _ = broken.farkas


@pytest.mark.parametrize("k", [1, 25, 27, 30, 50, 53, 60])
@pytest.mark.parametrize("query", [[1.0, 1.0], [0.7, 0.3]])
def test_nearly_opposed_rows_are_separable_and_opposed_ones_are_not(k, query):
    """(1, 0) and (-1, 2^-k) have W = (1, 2^{k+1}) z^T; with (0, -1) beside them, they cancel."""
    rows = [(1.0, 0.0), (-1.0, 2.0**-k)]
    near = att_svm_programme(two_tokens(rows, np.tile(query, (2, 1))))
    proved(near, reply := separability(near))
    assert reply.separable
    closed = att_svm_programme(two_tokens([*rows, (0.0, -1.0)], np.tile(query, (3, 1))))
    proved(closed, reply := separability(closed))
    assert not reply.separable
    opposed = att_svm_programme(two_tokens([(1.0, 0.0), (-1.0, 0.0)], np.tile(query, (2, 1))))
    proved(opposed, reply := separability(opposed))
    assert not reply.separable


@given(problems(), st.integers(-60, 0), st.data())
def test_integers_moved_by_a_hair_are_decided_as_rationals_decide(problem, power, draw):
    data, targets = problem
    noise = draw.draw(blocks(data.n, data.T, data.d)) * 2.0**power
    moved = AttentionData(data.X + noise, data.Z, scores=data.gamma, mask=data.mask)
    assume(moved.present.sum() > moved.n)
    programme = att_svm_programme(moved, targets)
    exact = decide(programme)
    reply = separability(programme)
    proved(programme, reply)
    assert reply.separable == (exact.status == "solved")


def lost_row(rounded):
    """The row 2^60 + 1 - 2^60, which is 1; in floats 0 or 1, by the order in which they add up."""
    data = AttentionData.of([[[2.0**60, 1.0, -(2.0**60)], [0, 0, 0]]], [[1, 0, 0]], scores=[[1, 0]])
    return replace(p_svm_programme(data, None, np.ones((1, 3))), D=np.array([[rounded]]))


@pytest.mark.parametrize("rounded", [0.0, 1.0])
def test_keys_are_judged_by_exact_products(rounded):
    programme = lost_row(rounded)
    reply = separability(programme)
    proved(programme, reply)
    assert reply.separable


def test_keys_of_the_wrong_sign_in_floats_are_not_believed():
    """The row is -1/2 in fractions; the programme is given +1/2, as sums in some order come to."""
    X = np.zeros((2, 2, 5))
    X[0, 0], X[1, 0, 0] = [2.0**54, 3.0, -(2.0**54) - 4.0, 0.5, 0.0], 1.0
    data = AttentionData(X, np.ones((2, 5)), scores=np.eye(1, 2).repeat(2, axis=0))
    programme = p_svm_programme(data, None, np.ones((1, 5)))
    wrong = replace(programme, D=np.array([[0.5], [1.0]]))
    proved(wrong, reply := separability(wrong))
    assert not reply.separable


@pytest.mark.parametrize("rounded", [0.0, 1.0])
def test_a_p_svm_is_not_called_unseparable_for_a_row_that_rounding_lost(rounded):
    """The solution is 1; where floats lost the row, the solver may give up, but not say no."""
    programme = lost_row(rounded)
    assert decide(programme).status == "solved"
    with contextlib.suppress(*[SolverError] * (rounded == 0.0)):
        answer = solve_programme(programme)
        assert answer.solved
        np.testing.assert_allclose(answer.W, 1.0, rtol=1e-9)


def test_margins_that_only_rounding_makes_positive_prove_nothing(monkeypatch):
    """D = (2^53 + 3, -2^53 - 2, -3/2) sums to -1/2, rounded to +1/2; W = (1, 1, 1) is proposed."""
    X = np.zeros((2, 2, 3))
    X[0, 0], X[0, 1] = (2.0**53, -(2.0**53) - 2.0, -1.5), (-3.0, 0.0, 0.0)
    X[1, 0] = 1.0
    data = AttentionData(X, np.ones((2, 3)), scores=np.eye(1, 2).repeat(2, axis=0))
    programme = p_svm_programme(data)
    assert (programme.margins(np.ones((3, 1))) > 0.0).all()
    monkeypatch.setattr(MODULE, "propose", lambda _: (np.array([0.0, 1.0]), True))
    proved(programme, reply := separability(programme))
    assert reply.separable


LIES = {
    "none": lambda w, solved: None,
    "three rows": lambda w, solved: ((np.arange(w.size) < 3) / 3, solved),
    "five rows": lambda w, solved: ((np.arange(w.size) < 5) / 5, solved),
    **{kind: lambda w, solved, k=kind: (spoilt(k, w), solved) for kind in SPOILT},
}


@pytest.fixture(scope="module")
def decided():
    """Programmes, and whether each is separable."""
    datasets = [gaussian_protocol(np.random.default_rng(s), n=8, T=4, d=2) for s in range(2)]
    cases = [att_svm_programme(data) for data in datasets]
    cases += [v_svm_programme(data, [0] * 8) for data in datasets]
    cases += [att_svm_programme(two_tokens([(1, 0), (-1, a)], np.ones((2, 2)))) for a in (0, 1e-9)]
    truths = [separability(programme).separable for programme in cases]
    assert set(truths) == {True, False}
    return list(zip(cases, truths, strict=True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", LIES)
def test_wrong_guesses_change_no_answer(monkeypatch, decided, name, reverse):
    honest = MODULE.propose

    def lying(programme):
        weights, solved = honest(programme)
        return LIES[name](weights, solved != reverse)

    monkeypatch.setattr(MODULE, "propose", lying)
    for programme, truth in decided:
        reply = separability(programme)
        proved(programme, reply)
        assert reply.separable == truth


def test_multipliers_within_rounding_of_zero_are_not_enclosed():
    """(0, -1), (-1, e - 1) and (1, 1) cancel with the weights e, 1 and 1."""
    for power, near in ((20, True), (52, False)):
        e = 2.0**-power
        rows = of_rows(
            [[0, -1], [-1, e - 1], [1, 1]], np.zeros((3, 2)), np.ones((3, 1)), [1] * 3, False
        )
        assert (cancelling_multipliers(rows, np.array([e, 1.0, 1.0])) is not None) is near


def test_rationals_look_for_multipliers_up_to_a_number(monkeypatch):
    opposed = of_rows([[1, 0], [-1, 0]], np.zeros((2, 2)), np.ones((2, 1)), [1, 1], False)
    for largest, found in ((2, True), (1, False)):
        monkeypatch.setattr(farkas, "LARGEST", largest)
        assert farkas.exists(opposed, np.ones(2)) is found


def test_multipliers_of_bounds_of_zero_are_enclosed(monkeypatch):
    """W >= 1 and W <= 0, for which no rationals are asked."""
    rows = of_rows([[1], [-1]], np.zeros((2, 1)), np.ones((2, 1)), [1, 0], False)
    monkeypatch.setattr(farkas, "LARGEST", 0)
    assert farkas.exists(rows, np.ones(2))

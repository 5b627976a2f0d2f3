"""Programmes beyond pivots on a Gram matrix, hair-thin ones, and budgets of time."""

import itertools
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import attsvm.svm.answer as answers
from attsvm import solve
from attsvm.errors import SolverError
from attsvm.exact import deadline
from attsvm.exact.deadline import Deadline, is_over, rounds
from attsvm.svm import att_svm, att_svm_programme, growing, methods
from attsvm.svm.answer import LARGEST_EXACT, SMALL, kernels_for
from attsvm.svm.bounds import certain_margins, frobenius_bracket
from attsvm.svm.frobenius import bracketed
from attsvm.svm.soft import solve_soft
from benchmarks.hard_margins import hair_thin, separable
from tests.svm.problems import two_tokens


def answer_or_error(data, **options):
    """What `solve` returns; its error where the time ends before there is any bracket."""
    try:
        return solve(data, **options)
    except SolverError as error:
        assert "time" in str(error) or "bracket" in str(error)  # noqa: PT017
        return error


def test_far_more_constraints_than_entries_of_w_are_solved():
    """24,500 constraints on 4,096 entries, separable by construction, of which 2,327 are tight."""
    data = separable(500, 50, 64)
    answer = solve(data)
    programme = answer.programme
    assert len(programme.bound) == 24_500
    assert answer.status == "solved"
    assert int(answer.float_answer.is_tight.sum()) == 2_327
    assert (certain_margins(programme.D, programme.Z, answer.W) >= 1.0 - 1e-9).all()
    low, high = answer.bracket
    assert low <= answer.value <= high <= low * (1.0 + 1e-9)
    assert low <= np.linalg.norm(answer.W)


@pytest.mark.parametrize("steps", [8.0, 10.0])
def test_a_solve_that_runs_out_of_time_meets_the_margins_within_its_bracket(monkeypatch, steps):
    """Each look at the clock counts as one second, so the cut is at the same step everywhere."""
    data = separable(120, 40, 32)
    whole = att_svm(data)
    looks = map(float, itertools.count())
    clock = SimpleNamespace(process_time=lambda: next(looks), monotonic=lambda: 0.0)
    monkeypatch.setattr(deadline, "time", clock)
    cut = solve(data, seconds=steps)
    assert cut.status == "bracketed"
    low, high = cut.bracket
    assert low < whole.value < high
    assert cut.margins.min() >= 1.0 - 1e-9
    assert cut.solved


def test_an_answer_that_is_bracketed_says_so(monkeypatch):
    """The float methods end after a few steps, and rationals are out of time."""
    data = separable(30, 12, 8)
    whole = att_svm(data)
    monkeypatch.setattr(growing, "ROUNDS", 4)
    monkeypatch.setattr(growing, "EXCHANGES", 0)
    monkeypatch.setattr(methods, "METHODS", {"accelerated steps": methods.accelerated})
    monkeypatch.setattr("attsvm.svm.frobenius.METHODS", methods.METHODS)
    monkeypatch.setattr(answers, "LARGEST_EVALUATED", 0)
    answer = solve(data, seconds=None)
    assert answer.status == "bracketed"
    assert answer.kind == "float"
    low, high = answer.bracket
    assert low < whole.value < high
    assert answer.gap == pytest.approx(1.0 - (low / high) ** 2, rel=1e-6)
    assert answer.json()["status"] == "bracketed"
    assert "bracketed, not solved to 1e-9" in str(answer)
    assert min(answer.margins.min(), 1.0) >= 1.0 - answer.primal_residual


def test_no_bracket_is_made_of_multipliers_that_prove_nothing():
    programme = att_svm_programme(two_tokens([(1, 0), (0, 1)], np.eye(2)))
    assert bracketed(programme, [np.zeros(2)]) is None
    assert bracketed(programme, [np.array([1.0, 0.0])]) is None  # W misses the second margin
    assert bracketed(programme, [np.array([np.inf, 0.0])]) is None
    found = bracketed(programme, [np.array([1.0, 0.0]), np.array([1.0, 2.0])])
    low, high = found.bracket
    assert low <= np.sqrt(2.0) <= high
    assert high == pytest.approx(np.sqrt(5.0))
    assert low == pytest.approx(3.0 / np.sqrt(5.0))
    assert (found.reached >= 1.0 - 1e-15).all()


def test_data_that_are_separable_by_a_hair_are_solved_in_rationals():
    """569 constraints on 31 features of very different size, as in tables of measurements."""
    answer = solve(hair_thin(scaled=False))
    assert len(answer.programme.bound) == 569 > LARGEST_EXACT
    assert answer.exact is not None
    assert answer.exact.status == answer.status == "solved"
    assert min(answer.exact.margins) == 1


def test_the_same_data_in_columns_of_one_size_are_solved():
    answer = solve(hair_thin(scaled=True))
    assert answer.status == "solved"
    assert answer.primal_residual <= 1e-9


def test_processor_time_is_counted_and_time_on_the_wall_apart(monkeypatch):
    used = passed = 0.0
    clocks = SimpleNamespace(process_time=lambda: 5.0 + used, monotonic=lambda: 7.0 + passed)
    monkeypatch.setattr(deadline, "time", clocks)
    processor, wall = Deadline.after(2.0), Deadline.after(wall=2.0)
    assert is_over(None) is False
    assert len(list(rounds(None, 3))) == 3
    assert len(list(itertools.islice(rounds(processor, 3), 99))) == 99
    passed = 3.0
    assert (is_over(processor), is_over(wall)) == (False, True)
    assert wall.words == "2 s of wall time"
    used = 3.0
    assert is_over(processor)
    assert processor.words == "2 s"
    part = Deadline.after(10.0, 20.0).part(0.25)
    assert (part.seconds, part.wall) == (2.5, 2.5)
    assert Deadline.after(10.0).part(0.5).wall == np.inf


@pytest.mark.parametrize("options", [{}, {"norm": "nuc"}, {"soft": 1.0}], ids=str)
def test_the_budget_holds_for_every_path(options):
    """A few tenths more are left for grading; unbounded, these take 2 to 20 s."""
    data = separable(40, 12, 40) if options else separable(300, 40, 48)
    solve(separable(3, 10, 3), **options)
    start = time.process_time()
    answer = answer_or_error(data, seconds=0.3, **options)
    if not isinstance(answer, SolverError):
        low, high = answer.bracket
        assert low <= high
    assert time.process_time() - start < 6.0


def test_small_solves_compile_nothing():
    code = (
        "import sys, numpy as np; from attsvm import AttentionData, solve;"
        "X = np.random.default_rng(0).normal(size=(4, 4, 3));"
        "print(solve(AttentionData(X, X[:, 0], scores=X[:, :, 0])).kind, 'numba' in sys.modules)"
    )
    reply = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert reply.stdout.split() == ["exact", "False"]


def test_kernels_are_named_that_a_solve_calls():
    assert kernels_for(SMALL, norm="fro", soft=False) == ()
    assert kernels_for(SMALL + 1, norm="fro", soft=False) == ("least_norm",)
    assert kernels_for(1000, norm="nuc", soft=False) == ("least_norm", "ascent", "nuclear")
    assert kernels_for(2, norm="fro", soft=True) == ("least_norm", "soft")
    assert kernels_for(5000, norm="fro", soft=True) == ("least_norm", "ascent")


@pytest.mark.parametrize("power", [-300, -200, -154, 154, 200, 250, 300])
def test_brackets_hold_for_norms_whose_squares_leave_float64(power):
    """One constraint a W = b in one dimension, so that W = b / a."""
    size = 10.0 ** (power / 2.0)
    X, Z, bound = 1.0 / size, 1.0 / size, 1.0
    if abs(power) > 250:
        X, Z, bound = 10.0 ** -(power / 2.5), 1.0, 10.0 ** (power - power / 2.5)
    programme = replace(att_svm_programme(two_tokens([(X,)], [[Z]])), bound=np.array([bound]))
    W = np.array([[bound / (X * Z)]])
    low, high = frobenius_bracket(programme, W, np.ones(1))
    assert 0.0 < low <= high < np.inf
    assert low <= W[0, 0] * (1.0 + 1e-12)
    assert W[0, 0] <= high * (1.0 + 1e-12)
    assert high <= low * (1.0 + 1e-12)


@pytest.mark.parametrize("power", [-139, -100, -78, 78, 100, 139])
def test_float_answers_know_the_bracket_of_extreme_norms(power):
    """Rows of 10^power times queries of 10^power: norms of 10^278 to 10^-278."""
    size = 10.0**power
    answer = solve(two_tokens([(size, 0.0), (0.0, size)], size * np.ones((2, 2))))
    low, high = answer.float_answer.bracket
    assert answer.status == "solved"
    assert low <= answer.value <= high <= low * (1.0 + 1e-12)
    assert answer.bracket == (low, high)


def test_soft_answers_that_miss_the_gap_are_bracketed_on_request(monkeypatch):
    programme = att_svm_programme(separable(3, 4, 3))
    monkeypatch.setattr("attsvm.svm.soft.TOLERANCE", -1.0)
    with pytest.raises(SolverError, match="gap above 1e-9"):
        solve_soft(programme, 1.0)
    assert solve_soft(programme, 1.0, bracketed=True).status == "bracketed"

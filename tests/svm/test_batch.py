"""A batch is its problems one at a time, however they are put together and whatever lies."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.kernels import batch as kernel
from attsvm.kernels.least_norm import FAILED, SOLVED, UNBOUNDED
from attsvm.svm import att_svm, batch
from attsvm.svm.batch import att_svm_batch, solve_choices
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import EPS, check
from tests.svm.problems import SPOILT, problems, spoilt, two_tokens

FIELDS = ("W", "targets", "margins", "duals")
FIGURES = ("value", "primal_residual", "gap")


def same(answers, b, single):
    """To rounding: a library product may sum in another order where arrays lie elsewhere."""
    assert answers.solved[b] == single.solved
    for name in FIELDS:
        mine, theirs = getattr(answers, name)[b], getattr(single, name)
        assert mine.shape == theirs.shape
        finite = np.isfinite(theirs)
        assert np.array_equal(finite, np.isfinite(mine)), name
        size = np.abs(np.where(finite, theirs, 0.0)).max(initial=0.0)
        assert np.abs(mine[finite] - theirs[finite]).max(initial=0.0) <= 1e-11 * size, name
    for name in FIGURES:
        mine, theirs = getattr(answers, name)[b], getattr(single, name)
        assert mine == theirs or abs(mine - theirs) <= 1e-11 * max(1.0, abs(theirs)), name
    if single.solved:
        assert answers.dual_residual[b] == single.dual_residual == 0.0
    else:
        assert abs(answers.dual_residual[b] - single.dual_residual) <= 64 * EPS


def ensemble(seed, count, n=3, T=4, d=3, masked=False):
    """Protocols of one shape; in dimension 3 both answers occur."""
    generator, sets = np.random.default_rng(seed), []
    for _ in range(count):
        data = gaussian_protocol(generator, n=n, T=T, d=d)
        mask = generator.random((n, T)) < 0.7
        mask[:, :2] = True
        sets.append(AttentionData(data.X, data.Z, scores=data.gamma, mask=mask if masked else None))
    return sets


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("size", [(1, 2, 2), (6, 5, 3), (2, 8, 4)])
def test_random_batches_are_their_problems_one_at_a_time(size, masked):
    n, T, d = size
    sets = ensemble(n + d, 20, n, T, d, masked)
    answers = att_svm_batch(sets)
    assert len(answers) == 20
    for b, data in enumerate(sets):
        same(answers, b, att_svm(data))


@given(st.lists(problems(n=2, T=2, d=2), min_size=1, max_size=4))
def test_integer_batches_are_their_problems_one_at_a_time(drawn):
    """Zero queries, repeated tokens and masks included, in groups of one shape."""
    groups = {}
    for data, targets in drawn:
        if data.present.sum() > data.n:
            groups.setdefault(data.X.shape, []).append((data, targets))
    for group in groups.values():
        sets, targets = [d for d, _ in group], np.stack([t for _, t in group])
        answers = att_svm_batch(sets, targets)
        for b, data in enumerate(sets):
            single = att_svm(data, targets[b])
            same(answers, b, single)
            check(single.programme, single)


def test_well_conditioned_problems_are_settled_together(monkeypatch):
    """None is solved anew by itself."""
    monkeypatch.setattr(batch, "solve_programme", None)
    sets = ensemble(3, 12, 3, 4, 6)
    assert att_svm_batch(sets).solved.all()


def test_margins_that_rounding_leaves_uncertain_are_settled_one_at_a_time():
    """Tokens that differ by (1, h) and (-1, h): the norm 1/h multiplies what may be rounded."""
    sizes = 2.0 ** -np.arange(20.0, 25.0)
    answers = att_svm_batch([two_tokens([(1, h), (-1, h)], [(1, 0)] * 2) for h in sizes])
    assert answers.solved.all()
    assert (answers.primal_residual <= 1e-9).all()


def test_company_changes_nothing():
    """Order, other problems, hopeless ones among them, and repetition: to the last bit."""
    sets = ensemble(4, 12, 9, 6, 3)
    whole, order = att_svm_batch(sets), np.random.default_rng(0).permutation(12)
    mixed = att_svm_batch([sets[b] for b in order])
    repeated = att_svm_batch(sets[:3] * 4)
    for name in ("solved", *FIELDS, *FIGURES, "dual_residual"):
        table = getattr(whole, name)
        assert np.array_equal(getattr(mixed, name), table[order]), name
        assert np.array_equal(getattr(repeated, name), np.concatenate([table[:3]] * 4)), name
        for b in (0, 5, 11):
            assert np.array_equal(getattr(att_svm_batch([sets[b]]), name), table[b : b + 1]), name


# liars


def lying(least_norm, lie):
    """The loop as it stands in Python, around a method that lies about weights and status."""

    def method(D, Z, bound, equal, limit):
        return lie(*least_norm(D, Z, bound, equal, limit))

    return method


LIES = {
    "claimed solved": lambda w, s, c: (w, SOLVED, c),
    "claimed unseparable": lambda w, s, c: (w, UNBOUNDED, c),
    "reversed": lambda w, s, c: (w, UNBOUNDED if s == SOLVED else SOLVED, c),
    "failed": lambda w, s, c: (w, FAILED, c),
    "unknown": lambda w, s, c: (w, 7, c),
    **{kind: lambda w, s, c, k=kind: (spoilt(k, w), s, c) for kind in SPOILT},
}


@pytest.fixture(scope="module")
def honest():
    """Data sets, their batch, and each of them by itself."""
    sets = ensemble(5, 6, 9, 6, 3)
    truth = att_svm_batch(sets)
    assert truth.solved.any()
    assert not truth.solved.all()
    return sets, truth, [att_svm(data) for data in sets]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lying_method_changes_no_answer(monkeypatch, honest, lie):
    """What its figures do not prove is solved again, one at a time."""
    sets, truth, singles = honest
    monkeypatch.setattr(kernel, "least_norm", lying(kernel.least_norm, lie))
    monkeypatch.setattr(batch, "solve_many", kernel.solve_many.py_func)
    answers = att_svm_batch(sets)
    assert np.array_equal(answers.solved, truth.solved)
    for b, single in enumerate(singles):
        at = single.programme.input, single.programme.token
        claimed = replace(
            single, W=answers.W[b], value=answers.value[b], weights=answers.duals[b][at],
            primal_residual=answers.primal_residual[b], dual_residual=answers.dual_residual[b],
            gap=answers.gap[b],
            reached=answers.margins[b][at] if single.solved else single.reached,
        )  # fmt: skip
        check(single.programme, claimed)
        assert single.solved or (answers.margins[b] == np.inf).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, 0.0])
@pytest.mark.parametrize("status", [SOLVED, UNBOUNDED, FAILED])
def test_a_kernel_that_returns_nothing_of_use_is_not_believed(monkeypatch, honest, value, status):
    """Every number it returns is `value`, figures included."""
    (sets, truth, _), solve_many = honest, batch.solve_many

    def broken(*arguments):
        arrays = [np.full_like(a, value) for a in solve_many(*arguments)[:3]]
        return *arrays, np.full(6, status), np.full((6, 6), value)

    monkeypatch.setattr(batch, "solve_many", broken)
    answers = att_svm_batch(sets)
    for name in ("solved", "W", "value", "margins"):
        assert np.array_equal(getattr(answers, name), getattr(truth, name)), name
    assert np.abs(answers.duals - truth.duals).max() <= 64 * EPS


# what is refused


def test_shapes_must_agree_and_targets_must_fit():
    one, other = ensemble(0, 1, 3, 4, 3)[0], ensemble(0, 1, 3, 3, 3)[0]
    with pytest.raises(DataError, match="one shape"):
        att_svm_batch([one, other])
    with pytest.raises(DataError, match="one shape"):
        att_svm_batch([])
    with pytest.raises(DataError, match="one row per data set") as caught:
        att_svm_batch([one, one], np.zeros((1, 3), dtype=int))
    assert caught.value.value == 1
    with pytest.raises(DataError, match="not a token index"):
        att_svm_batch([one], np.array([[0, 0, 4]]))
    with pytest.raises(DataError, match="not a token index"):
        solve_choices(one, np.array([[0, 0, 0], [0, -1, 0]]))


def test_a_batch_says_what_is_in_it():
    sets = [two_tokens([(1, 0), (sign, 0)], np.ones((2, 2))) for sign in (1, -1, 1)]
    answers = att_svm_batch(sets)
    assert repr(answers) == "<3 Att-SVMs of 2 inputs, 2 tokens: 2 solved, 1 unseparable>"

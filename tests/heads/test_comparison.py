"""Comparisons of heads with their Att-SVMs: exact ones, ones out of time, contradicting queries."""

from dataclasses import replace

import numpy as np
import pytest

from attsvm import att_svm
from attsvm.errors import DataError, UsageError
from attsvm.heads.arrays import Arrays
from attsvm.heads.head import head_of_arrays


def head(T=12, d=4, seed=0, sequences=1, scale=1.0):
    """A causal head with Gaussian tokens, which are its queries, and a Gaussian W."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(sequences, T, d))
    W = scale * generator.normal(size=(d, d))
    seen = np.broadcast_to(np.tri(T, dtype=bool), (sequences, T, T))
    return head_of_arrays("a head", Arrays(X, X, W, X, seen))


@pytest.mark.parametrize("sequences", [1, 2])
def test_figures_are_those_of_their_definitions(sequences):
    each = head(sequences=sequences)
    found = each.compare(baseline=False)
    usual = att_svm(each.data, each.targets)
    queries, tokens = np.nonzero(np.isfinite(found.margins))
    D = each.tokens[each.selected[queries]] - each.tokens[12 * each.owners[queries] + tokens]
    rows = np.einsum("md,me->mde", D, each.queries[queries]).reshape(len(D), -1)
    reached = rows @ each.weights.ravel()
    active = np.linalg.lstsq(rows, reached, rcond=1e-10)[0].reshape(each.weights.shape)
    size = np.linalg.norm(active)
    assert found.answer.status == "solved"
    assert found.answer.value == pytest.approx(usual.value, rel=1e-12)
    assert found.active.norm == pytest.approx(size, rel=1e-9)
    assert found.cosine == pytest.approx((active * usual.W).sum() / size / usual.value, rel=1e-8)
    assert found.margin == pytest.approx(reached.min() / size, rel=1e-9)
    assert found.share == pytest.approx(reached.min() / size * usual.value, rel=1e-9)
    query, token, rival = found.decided_by
    assert token == each.targets[query]
    assert found.margins[query, rival] == found.margins.min() == pytest.approx(reached.min())
    tight = [list(tokens) for tokens in usual.support]
    assert found.json()["support"] == tight


def test_a_comparison_without_time_has_a_bracket():
    each = head(T=40)
    exact, cut = each.compare(baseline=False).answer.value, each.compare(seconds=1e-9)
    assert cut.answer.status == "bracketed"
    low, high = cut.answer.bracket
    assert low <= exact <= high < np.inf
    assert "norm in [" in repr(cut)
    assert cut.json()["status"] == "bracketed"


def test_queries_that_select_and_a_random_matrix_stand_beside_all():
    each, told = head(T=20, scale=3.0), []
    found = each.compare(watch=lambda name, progress: told.append((name, progress.bracket)))
    most = each.attention.max(axis=1)
    assert 0 < (most >= 0.5).sum() < each.count
    part = found.selecting
    assert (np.isfinite(part.margins).any(axis=1) <= (most >= 0.5)).all()
    assert part.answer.value < found.answer.value
    chosen = each.compare(queries="selecting", baseline=False)
    assert chosen.answer.value == pytest.approx(part.answer.value, rel=1e-12)
    indices = each.compare(queries=np.flatnonzero(most >= 0.5), baseline=False)
    assert indices.answer.value == pytest.approx(part.answer.value, rel=1e-12)
    assert part.share > found.share
    assert 0.0 < found.baseline < 1.0
    assert found.baseline == each.compare().baseline
    assert {name for name, _ in told} <= {"all queries", "queries that select", "a random W"}
    assert "selecting" in found.facts()
    inside = found.json()["selecting"]
    assert inside["cosine"] == part.cosine
    assert set(inside["queries"]) <= set(np.flatnonzero(most >= 0.5))


def test_queries_that_are_left_out_have_no_droppable_token():
    each = head(T=20, scale=3.0)
    one = each.compare(queries=np.array([19]), baseline=False)
    assert one.droppable.any()
    assert not one.droppable[:19].any()
    assert one.price[:19].max() < 1e-12 < one.price[19]
    assert f"{one.droppable.sum()} of 20 tokens" in one.facts()["droppable"]
    assert one.facts()["entropy"].startswith(f"{each.entropy[19]:.6g} on average")


def test_a_head_without_a_query_that_selects_says_so():
    X, seen = head().tokens[None], np.ones((1, 12, 12), dtype=bool)
    seen[0, 0, 1:] = False  # a query that sees one token selects nothing
    even = head_of_arrays("even", Arrays(X, X, np.zeros((4, 4)), X, seen))
    with pytest.raises(DataError, match="half of its attention"):
        even.compare(queries="selecting")


@pytest.mark.parametrize("queries", ["some", [20], [0.5], [[0]], np.array([], dtype=int)])
def test_unknown_queries_are_refused(queries):
    with pytest.raises(UsageError, match="queries"):
        head().compare(queries=queries if isinstance(queries, str) else np.array(queries))


class Elsewhere(Arrays):
    """A source whose logits are not x^T W z."""

    @property
    def weights(self):
        return None

    def logits(self, sequence, *, exact=False):
        table = np.zeros(self.seen.shape[1:])
        table[5, 1] = table[6, 2] = 1.0  # two equal queries select different tokens
        return table + 1e-3 * np.arange(len(table))


def test_contradicting_queries_of_a_head_without_a_single_matrix_are_named():
    each = head()
    X = each.source.X.copy()
    X[0, 6] = X[0, 5]
    source = Elsewhere(X, X, each.source.W, X, each.source.seen)
    found = replace(each, source=source).compare()
    (pair,) = found.programme.aside
    assert pair.queries == (5, 6)
    assert pair.tokens == (1, 2)
    assert "queries 5 and 6 are equal" in found.facts()["aside"]
    assert np.isnan(found.cosine)
    assert not np.isfinite(found.margins[6]).any()
    assert found.answer.solved or found.answer.status == "unseparable"


class Middle(Arrays):
    """A source whose last query selects a token between two others."""

    def logits(self, sequence, *, exact=False):
        table = np.array(super().logits(sequence, exact=exact))
        table[-1, 1] = 1e3
        return table


def test_a_head_that_no_matrix_separates_has_a_certificate_and_a_soft_margin():
    each = head()
    X = np.round(64.0 * each.source.X) / 64.0  # so that differences are exact
    X[0, 2], X[0, 3] = X[0, 1] + 1.0, X[0, 1] - 1.0
    source = Middle(X, X, each.source.W, X, each.source.seen)
    found = replace(each, source=source).compare(baseline=False)
    assert found.answer.status == "unseparable"
    assert found.soft.gap <= 1e-6
    assert 0 < (found.soft.shortfalls > 1e-9).sum() < each.count
    assert found.soft.shortfalls[-1] >= 1.0 - 1e-9
    assert "queries stay below their margin" in found.facts()["soft"]
    assert not found.droppable.any()
    assert found.json()["shortfalls"] == found.soft.shortfalls.tolist()
    assert head().compare(baseline=False).soft is None


def test_tokens_that_a_bracketed_answer_may_need_are_not_said_to_be_droppable():
    each = head(T=40)
    solved, cut = each.compare(baseline=False), each.compare(seconds=1e-9, baseline=False)
    assert (solved.answer.status, cut.answer.status) == ("solved", "bracketed")
    assert "may need" in cut.facts()["droppable"]
    assert "so far" in cut.facts()["support"]
    assert "may need" not in solved.facts()["droppable"]
    assert "support token" in solved.facts()["support"]


def test_equal_queries_are_counted_once_for_each():
    each = head(T=20, scale=3.0)
    X, seen = each.source.X, each.source.seen
    twice = Arrays(X, np.repeat(X, 2, axis=1), each.source.W, X, np.repeat(seen, 2, axis=1))
    one, two = each.compare(), head_of_arrays("two", twice).compare()
    assert two.answer.value == pytest.approx(one.answer.value, rel=1e-9)
    queries, repeated = (found.json()["selecting"]["queries"] for found in (one, two))
    assert repeated == [2 * i + k for i in queries for k in (0, 1)]
    assert f"{len(repeated)} queries of weight" in two.facts()["selecting"]

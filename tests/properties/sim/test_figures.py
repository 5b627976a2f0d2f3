"""Figures 1 and 2 on the causal language: short coordinates, rivals, what they conclude."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import attsvm.svm.soft as soft_margin
from attsvm.data import AttentionData
from attsvm.exact import rationals
from attsvm.language import Language, prefix_data, random_language, vocabulary_data
from attsvm.lipschitz import risk_smoothness
from attsvm.plots import Table, heading
from attsvm.primitives.att_svm import ExactAttSVM, flat
from attsvm.primitives.descent import Descent
from attsvm.risk import gradient_w
from attsvm.svm import att_svm_programme
from attsvm.svm.soft import solve_soft
from attsvm.svm.soft_path import Merged, merge
from attsvm.training import descend_w
from properties.sim._support import telling_sentences as sentences
from properties.sim._support import token_sequences
from properties.sim._support.causal_language import (
    APART,
    DEVIATION,
    LOSS,
    SETS,
    SUCCESSORS,
    VOCABULARY,
    Setting,
    Task,
    best,
    draw,
    programme,
    rivals,
    solve,
    train,
)
from properties.sim._support.telling_sentences import (
    OUTVOTED,
    SHORTEST,
    C,
    drawn_sequences,
    sentence_run,
    soft,
)
from properties.sim._support.token_sequences import limit, moves_soft, on_soft_ray, outvoted
from properties.sim.figure_1.conclusion import certified_end
from properties.sim.figures import figure_1, figure_2, pictures
from properties.sim.figures.conclusions import growth, rising

SMALL = Setting(m=4, n=4, d=30)


@pytest.fixture(scope="module")
def first():
    return figure_1.numbers(0, 2, {"m": (2, 4), "d": (10, 30)}, 60, (3.0, 9.0, 30.0), SMALL)


@pytest.fixture(scope="module")
def second():
    return figure_2.numbers(0, 2, (0, 10, 60), SMALL)


def unshortened(size):
    """The run 0 of seed 0 in R^d: data sets by reading, and the start."""
    generator = np.random.default_rng([0, 0, size.m, size.n, size.d])
    language = random_language(generator, VOCABULARY, size.d, SUCCESSORS)
    sentences = language.sample(generator, size.m, size.n)
    start = DEVIATION * generator.normal(size=(size.d, size.d))
    whole = prefix_data(language, sentences), vocabulary_data(language, sentences)
    return dict(zip(SETS, whole, strict=True)), start


@pytest.mark.parametrize("tokens", SETS)
@pytest.mark.parametrize("d", [10, 30])
def test_short_coordinates_change_no_norm_and_no_cosine(tokens, d):
    size = Setting(m=4, n=4, d=d)
    task, (sets, start) = draw(0, 0, size), unshortened(size)
    data = sets[tokens]
    long = descend_w(
        data, start, LOSS, step=1.0 / risk_smoothness(data, LOSS), steps=40, record=[0, 7, 40]
    )
    (short,) = train([task], tokens, 40, [0, 7, 40])
    whole = Task(sets, task.sentence, start, 0.0)
    expected = heading(long.W[0], solve(whole, tokens).W)
    found = figure_1.towards(task, short, solve(task, tokens).W)
    for name in ("norm", "cosine", "gap", "residual"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-8)


def test_every_configuration_has_curves_under_both_readings(first):
    curves, runs = first.tables["curves"], first.tables["runs"]
    assert {(p, v) for p, v in zip(curves["panel"], curves["value"], strict=True)} == {
        ("m", 2), ("m", 4), ("d", 10), ("d", 30)
    }  # fmt: skip
    for tokens in SETS:
        line = curves.where(panel="m", value=2, tokens=tokens)
        own = runs.where(m=2, n=4, d=30, tokens=tokens).stack("run", "cosine")[0]
        assert len(own) == 2
        np.testing.assert_allclose(line["mean"], own.mean(axis=0))
        np.testing.assert_allclose(line["error"], own.std(axis=0, ddof=1) / np.sqrt(2.0))
        assert line["step"][0] == 0
        assert line["step"][-1] == 60


@pytest.mark.parametrize("tokens", SETS)
@pytest.mark.parametrize("m", [4, 40])
def test_merged_problems_have_the_soft_solution_of_all(tokens, m):
    """The same by hand: each problem once, at as many times the price as it occurs."""
    task = draw(0, 0, Setting(m=m, n=4, d=30))
    data = task.data[tokens]
    own = solve(task, tokens, shared=False)
    targets = best(data)
    seen = {}
    for i in range(data.n):
        key = data.X[i].tobytes(), data.Z[i].tobytes(), targets[i], data.present[i].tobytes()
        seen.setdefault(key, []).append(i)
    first = np.array([copies[0] for copies in seen.values()])
    counts = np.array([len(copies) for copies in seen.values()])
    assert len(first) < data.n
    once = AttentionData(
        data.X[first], data.Z[first], scores=data.gamma[first], mask=data.present[first]
    )
    merged = programme(once, targets[first])
    with patch.object(soft_margin, "merge", every_constraint_for_itself):
        by_hand = solve_soft(merged, C * counts[merged.input])
        if m == 4:
            whole = solve(task, tokens, shared=False)
            np.testing.assert_allclose(own.W, whole.W, atol=1e-9 * own.value)
            assert own.objective == pytest.approx(whole.objective, rel=1e-10)
            np.testing.assert_allclose(own.thresholds, whole.thresholds, rtol=1e-9)
    assert own.objective == pytest.approx(by_hand.objective, rel=1e-10)
    np.testing.assert_allclose(own.W, by_hand.W, atol=1e-9 * own.value)
    assert abs(own.gap) <= 1e-12


def printed_objective(task, tokens, W):
    """||X|| + C sum of xi_{l,t}, each the largest that a query of sentence l asks of token t."""
    data, slacks = task.data[tokens], {}
    for i, t in enumerate(best(data)):
        for other in np.flatnonzero(data.present[i]):
            gap = data.X[i, t] - data.X[i, other]
            if gap.any():
                key = task.sentence[i], other
                slacks[key] = max(slacks.get(key, 0.0), 1.0 - gap @ W @ data.Z[i])
    return np.linalg.norm(W) + C * sum(slacks.values())


@pytest.mark.parametrize("tokens", SETS)
@pytest.mark.parametrize("run", [0, 1])
def test_queries_of_a_sentence_share_the_slack_of_a_token(tokens, run):
    task = draw(0, run, SMALL)
    own, apart = solve(task, tokens), solve(task, tokens, shared=False)
    assert list(task.sentence) == [i // 3 for i in range(12)]
    assert own.objective == pytest.approx(printed_objective(task, tokens, own.W), rel=1e-9)
    assert abs(own.gap) <= 1e-12
    assert own.objective <= printed_objective(task, tokens, apart.W) * (1.0 + 1e-9)
    if tokens == "vocabulary":
        assert own.objective < apart.objective
        assert len(set(own.groups.tolist())) == SMALL.m * VOCABULARY


def test_counterexamples_have_one_query_a_sentence_so_that_slacks_are_not_shared():
    named = [one for one in vars(sentences).values() if isinstance(one, Descent)]
    assert any(one is OUTVOTED for one in named)
    assert all(one.inputs.sentences.shape[1] == 2 for one in [*named, SHORTEST])


REPEATS = Language(np.ones(2, np.int64), np.ones((2, 2), np.int64), np.eye(2))


def test_repetitions_of_the_chosen_token_ask_for_nothing():
    """Of the sentence "a b b b": "a b b" holds b twice, and 0 >= 1 would separate nothing."""
    data = {"prefix": prefix_data(REPEATS, np.array([[0, 1, 1, 1]]))}
    task = Task(data, np.zeros(3, np.int64), np.zeros((2, 2)), 0.0)
    plain = solve_soft(att_svm_programme(data["prefix"], best(data["prefix"])), C)
    assert np.isinf(plain.thresholds[1])
    for shared in (True, False):
        found = solve(task, "prefix", shared=shared)
        assert found.kind == "hard"
        np.testing.assert_allclose(found.W, [[0.0, -0.5], [0.0, 0.5]], atol=1e-12)
        np.testing.assert_allclose(found.W, plain.W, atol=1e-12)


@given(st.integers(0, 50), st.sampled_from(list(SETS)))
def test_every_constraint_compares_two_tokens(run, tokens):
    data = draw(1, run, Setting(m=5, n=6, d=20)).data[tokens]
    targets = best(data)
    kept = programme(data, targets)
    assert kept.D.any(axis=1).all()
    pairs = [
        (i, t)
        for i, j in enumerate(targets)
        for t in np.flatnonzero(data.present[i])
        if not np.array_equal(data.X[i, t], data.X[i, j])
    ]
    assert list(zip(kept.input.tolist(), kept.token.tolist(), strict=True)) == pairs


def every_constraint_for_itself(programme, groups, prices):
    every = np.arange(len(groups))
    return Merged(programme, groups, prices, len(groups), every, every, np.ones(len(groups)))


def test_constraints_are_no_more_than_the_language_can_say():
    """20 queries with 3 successors each and 19 rivals, whatever the number of sentences."""
    for m in (10, 160):
        whole = att_svm_programme(data := draw(0, 0, Setting(m=m)).data["vocabulary"])
        left = merge(whole, np.arange(len(whole.D)), np.ones(len(whole.D)))
        assert len(left.programme.D) <= 20 * 3 * 19
        assert left.prices.sum() == len(whole.D) == data.n * 19


@pytest.mark.parametrize("tokens", SETS)
def test_rivals_are_what_they_are_called(tokens):
    task = draw(0, 1, SMALL)
    data = task.data[tokens]
    (path,) = train([task], tokens, 1, [1])
    found = rivals(task, tokens, path[-1], np.random.default_rng(0))
    step = (path[1] - path[0]) * risk_smoothness(data, LOSS)
    np.testing.assert_allclose(found["first step"], step, atol=1e-9)
    np.testing.assert_allclose(found["first step"], -gradient_w(data, task.start, LOSS))
    total = np.zeros_like(task.start)
    for i, t in enumerate(best(data)):
        for token in data.X[i][data.present[i]]:
            total += np.outer(data.X[i, t] - token, data.Z[i])
    np.testing.assert_allclose(found["mean difference"], total, atol=1e-10)
    chosen = rivals(task, tokens, solve(task, tokens).W, np.random.default_rng(0))
    assert chosen["selected tokens"].shape == task.start.shape
    np.testing.assert_array_equal(chosen[APART], solve(task, tokens, shared=False).W)


def test_the_printed_loss_moves_away(first):
    printed, trained = first.tables["printed"], first.tables["directions"]
    for tokens in SETS:
        (away,) = printed.where(tokens=tokens).stack("run", "cosine")
        (towards,) = trained.where(tokens=tokens, direction="X_soft").stack("run", "cosine")
        assert (away[:, -1] < 0.0).all()
        assert (towards[:, -1] > 0.0).all()


@given(st.floats(0.0, 1.0), st.floats(0.1, 10.0))
def test_growth_is_the_exponent_also_where_a_run_ended_early(power, scale):
    norm = np.array([[1.0, 10.0, 100.0, 1000.0], [1.0, 10.0, 100.0, np.nan]])
    residual = scale * norm**power
    np.testing.assert_allclose(growth(norm, residual, 1), power, atol=1e-9)
    np.testing.assert_allclose(growth(norm, residual, 2), power, atol=1e-9)


def test_a_curve_rises_that_does_so_from_each_record_to_the_next():
    curves = [
        [0.0, 1.0, 2.0],
        [0.0, 1.0, 0.5],
        [1.0, 0.0, 2.0],
        [0.0, 0.0, 1.0],
        [0.0, np.nan, 1.0],
    ]
    assert rising(np.array(curves)) == 1


def test_words_are_made_from_the_numbers(first):
    facts, alike = first.facts, first.tables["alike"]
    for tokens in SETS:
        rows = alike.where(tokens=tokens, direction="mean difference")
        mean = float(rows["cosine_to_soft"].mean())
        last = first.tables["directions"].where(tokens=tokens, direction="X_soft", step=60)
        assert f"{mean:.3f}" in facts[f"{tokens}_concluded"]
        assert f"{float(last['cosine'].mean()):.3f}" in facts[f"{tokens}_concluded"]
        assert len(facts[f"{tokens}_residual_exponents"]) == 2
        final = last["cosine"].mean()
        assert facts[f"{tokens}_final_cosine"] == pytest.approx(final)
        apart = first.tables["directions"].where(tokens=tokens, direction=APART, step=60)
        to_apart = facts[f"{tokens}_final_cosine_to_one_slack_a_constraint"]
        assert to_apart == pytest.approx(apart["cosine"].mean())
        assert f"X(k) ends at {to_apart:.3f}" in facts[f"{tokens}_concluded"]
        rows = first.tables["directions"].where(tokens=tokens, direction="X_soft")
        (curves,) = rows.stack("run", "cosine")
        up = sum(all(a < b for a, b in itertools.pairwise(curve)) for curve in curves)
        assert facts[f"{tokens}_runs_rising_from_each_record_to_the_next"] == up
        hard = first.tables["problems"].where(tokens=tokens)["C_2"]
        counts = {"exist": np.isfinite(hard).sum(), "unknown": np.isnan(hard).sum()}
        assert facts[f"{tokens}_hard_margins"] == {**counts, "of": len(hard)}
    assert "shared by its queries" in facts["slack"]
    assert "2 of 2 runs were followed to the norm 30" in facts["far_concluded"]


def test_margins_are_those_of_the_definition(second):
    data = draw(0, 0, SMALL).data["prefix"]
    W = np.random.default_rng(0).normal(size=(2, *np.shape(data.X[0, 0]), data.d))
    optimal, expected = best(data), []
    for i in range(data.n):
        for token in data.X[i][data.present[i]]:
            gap = data.X[i, optimal[i]] - token
            if gap.any():
                expected.append([gap @ one @ data.Z[i] for one in W])
    np.testing.assert_allclose(figure_2.margins(data, W), np.transpose(expected), atol=1e-12)


def test_histograms_hold_every_margin(second):
    summary, histogram = second.tables["summary"], second.tables["histogram"]
    for tokens in SETS:
        rows = summary.where(tokens=tokens)
        for step, count in zip(rows["step"], rows["margins"], strict=True):
            assert histogram.where(tokens=tokens, step=int(step))["count"].sum() == count
        assert rows["mean"][-1] > rows["mean"][0]
        lost = second.tables["printed"].where(tokens=tokens)
        assert lost["mean"][-1] < lost["mean"][0]


def test_every_line_is_a_column_of_the_tables_or_a_mean_over_runs(first, second):
    for numbers, make in (
        (first, pictures.cosines),
        (first, pictures.evidence),
        (second, pictures.margins),
    ):
        known = {v for t in numbers.tables.values() for c in t.columns.values() for v in c.tolist()}
        for line in (line for axes in make(numbers).axes for line in axes.get_lines()):
            x, y = (np.asarray(values, dtype=float) for values in line.get_data())
            if len(x) < 3:
                continue  # single points, and straight lines that guide the eye
            assert set(x[np.isfinite(x)]) <= known
            assert set(y[np.isfinite(y)]) <= known or is_mean(numbers.tables["directions"], y)


def is_mean(rows: Table, y) -> bool:
    """Whether a curve is the mean over the runs of the cosine to some direction."""
    for tokens in SETS:
        for name in rows.distinct("direction"):
            (values,) = rows.where(tokens=tokens, direction=name).stack("run", "cosine")
            if values.shape[1] == len(y) and np.array_equal(values.mean(axis=0), y):
                return True
    return False


def test_an_outvoted_successor_bends_the_limit_as_proved():
    """In floats: what descent gains over a decade of steps points along the proved limit."""
    target = np.array([[float(x) for x in limit(OUTVOTED)]]).reshape(3, 3)
    np.testing.assert_allclose(target[:, 0], [2 / 3, -1 / 3, -1 / 3])
    run = descend_w(OUTVOTED.data, OUTVOTED.start, LOSS, step=4.0, steps=40_000, record=[400, 4000])
    early, late = np.diff(run.W[0, 1:], axis=0)
    assert float(heading(late, target).gap) < 1e-4
    off = [float((target * W).sum() / (target**2).sum() - np.log(10.0)) for W in (early, late)]
    assert abs(off[1]) <= abs(off[0]) / 5  # log k up to terms of the order log k / k
    assert certified_end(OUTVOTED, "soft") < 0
    assert certified_end(OUTVOTED, "mean") < 0
    wide = heading(target, soft(OUTVOTED.data).W)
    assert float(wide.cosine) == pytest.approx(np.sqrt(3.0) / 2.0)


@pytest.mark.parametrize(
    ("votes", "others", "proved"), [(1, 1, 0), (2, 1, 1), (5, 4, 0), (4, 3, 1)]
)
def test_successors_are_outvoted_from_a_ratio_on(votes, others, proved):
    """n_a g'(1) > n_t g'(0), that is n_a > 1.27 n_t."""
    sentences = [[0, 0]] * votes + [[0, 1]] * others
    start = [[6.0, 0.0], [0.0, 0.0]]  # where attention is near 1
    assert (outvoted(sentence_run(np.eye(2), sentences, start)) is not None) == proved
    assert outvoted(sentence_run([[2.0, 0.0], [0.0, 1.0]], sentences, start)) is None
    assert outvoted(sentence_run(np.eye(2), [[0, 1, 0]] * votes, start, whole=False)) is None


def test_the_ray_of_the_soft_solution_is_told_from_others():
    assert on_soft_ray(SHORTEST.data, limit(SHORTEST)) > 0
    assert on_soft_ray(SHORTEST.data, [-x for x in limit(SHORTEST)]) < 0
    own = flat(rationals(np.array([[1.0, 0, 0], [0, 0, 0], [-1.0, 0, 0]])))
    assert on_soft_ray(OUTVOTED.data, own) is None  # it is, and nothing here proves it
    aside = flat(rationals(np.array([[1.0, 0, 0], [0, 0, 0], [-1.0, 0, 0.03125]])))
    assert on_soft_ray(OUTVOTED.data, aside) < 0


@given(drawn_sequences())
def test_the_soft_solution_is_zero_up_to_the_first_threshold(case):
    found = soft(case.data)
    assert found is not None
    first = found.thresholds[0]
    if abs(first - C) > 1e-6 * C:
        assert moves_soft(case) == (first < C)
        assert moves_soft(case) == bool(found.W.any())


def test_at_the_least_price_of_one_constraint_x_soft_is_not_x_mm_alone(monkeypatch):
    A, token = fmpq(1, 10), (0, 1)  # f_10(t X^mm) is 10 for every t in [0, 1]
    hard = ExactAttSVM([[1 / A]], {token: [A]}, {token: 1 / A**2}, {token: fmpq(1)})
    monkeypatch.setattr(token_sequences, "exact_att_svm", lambda _: hard)
    assert not token_sequences.enough(sentences.IDLE)

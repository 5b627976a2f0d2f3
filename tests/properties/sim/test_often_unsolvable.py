"""Sentences that no X^mm can satisfy: circles, exact probabilities, their intervals, the figure."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given

from attsvm.errors import DataError
from attsvm.language import Language, random_language
from attsvm.plots import Table as Figures
from attsvm.primitives.counts import interval
from attsvm.primitives.hypotheses import feasible
from properties._support.small_runs import NO_QUERY, NOT_ALIGNED, TWO_TOKENS
from properties.sim._support.causal_language import Setting
from properties.sim._support.telling_sentences import sentence_run
from properties.sim.figures import failing_data
from properties.sim.figures import often_unsolvable as frequencies
from properties.sim.often_unsolvable import contradictions
from properties.sim.often_unsolvable.conclusion import REPEATED, gap, tables
from properties.sim.often_unsolvable.contradictions import Table, consistent, contradicts
from symbolic.sim import repeated_tokens


def test_a_circle_may_pass_through_three_tokens():
    # with the query c: a before b and c, b before c and a, c before a and b
    sentences = [[0, 1, 2, 0], [0, 1, 2, 1]]
    assert not consistent(sentence_run(np.eye(3), sentences, whole=False))
    around = [[0, 1, 3, 0], [1, 2, 3, 1], [2, 0, 3, 2]]
    assert not consistent(sentence_run(np.eye(4), around, whole=False))
    assert consistent(sentence_run(np.eye(4), around[:2], whole=False))
    assert feasible(sentence_run(np.eye(4), around[:2], whole=False))
    assert not feasible(sentence_run(np.eye(4), around, whole=False))


def test_repetitions_of_the_token_asked_for_count_by_places_only():
    case = REPEATED
    assert not consistent(case)
    assert not contradicts(
        case.inputs.sentences[:1],
        sentence_run(np.eye(2), [[0, 1, 0, 1]], whole=False).data,
        False,
        repeats=False,
    )


@given(tables())
def test_the_formula_is_what_all_sentences_add_up_to(case):
    assert gap(case) == 0


def test_probabilities_by_hand():
    fair = Table(np.array([1, 1]), np.array([[1, 1], [1, 1]]), 2)
    assert contradictions.probability(fair) == fmpq(3, 4)
    third = Table(np.ones(3, int), np.ones((3, 3), int), 3)
    assert contradictions.probability(third) == contradictions.enumerated(third)
    sure = Table(np.array([1, 2]), np.array([[0, 1], [1, 0]]), 4)
    assert contradictions.probability(sure) == 1


@pytest.mark.parametrize(("V", "successors", "heaviest", "m"), [(2, 2, 2, 3), (2, 1, 2, 4)])
def test_the_mean_over_languages_is_that_of_all_of_them(V, successors, heaviest, m):
    """Any choice of successors has the same probability: the first words are as good as others."""
    rows = list(itertools.product(range(1, heaviest + 1), repeat=successors))
    padded = [[*row, *[0] * (V - successors)] for row in rows]
    languages = list(itertools.product(padded, repeat=V))
    chances = [contradictions.enumerated(Table(np.ones(V, int), np.array(x), m)) for x in languages]
    mean = sum(chances, fmpq(0)) / len(languages)
    assert contradictions.mean_probability(m, V, successors, heaviest) == mean
    assert (mean == 1) is (successors == 1)


def test_the_formula_agrees_with_draws_of_a_language():
    generator = np.random.default_rng(5)
    language = random_language(generator, 6, 6, 3)
    table, runs = Table(language.first, language.follow, 3), 2000
    kept = 0
    for _ in range(runs):
        words = language.sample(generator, 3, 2).tolist()
        kept += len({a for a, _ in words}) == len({(a, b) for a, b in words})
    low, high = interval(kept, runs, 1e-6)
    exact = contradictions.probability(table)
    assert low < int(exact.p) / int(exact.q) < high


@pytest.mark.parametrize("k", [0, 3, 20])
def test_an_interval_ends_where_the_count_is_just_not_surprising(k):
    from scipy.stats import binom  # takes a second to import

    low, high = interval(k, 20, 0.01)
    assert low <= k / 20 <= high
    assert (k == 0 and low == 0.0) or abs(binom.sf(k - 1, 20, low) - 0.01) < 1e-9
    assert (k == 20 and high == 1.0) or abs(binom.cdf(k, 20, high) - 0.01) < 1e-9


def test_what_is_often_and_what_is_not():
    for over in ("vocabulary", "sub-sequence"):
        assert contradictions.often(contradictions.Draws(3), over).holds
    for seldom in (contradictions.often, contradictions.often_again):
        assert seldom(contradictions.Draws(0), "vocabulary", m=1, n=2).violated


@pytest.mark.parametrize(
    "change", [{"m": 0}, {"first": np.zeros(2, int)}, {"first": np.ones(3, int)}]
)
def test_tables_that_draw_nothing_are_refused(change):
    parts = {"first": np.ones(2, int), "follow": np.ones((2, 2), int), "m": 1, **change}
    with pytest.raises(DataError):
        Table(**parts)


def test_the_figure_counts_circles_where_embeddings_are_independent():
    sizes = [Setting(1, 2, 100), Setting(3, 3, 2), Setting(5, 3, 20), Setting(10, 5, 100)]
    numbers = frequencies.numbers(0, 6, sizes)
    table = numbers.tables["frequencies"]
    assert isinstance(table, Figures)
    assert not table["unknown"].any()
    wide = table["d"] >= 20
    assert (table["unsolvable"] == table["by_a_circle"])[wide].all()
    assert (table["unsolvable"] > table["by_a_circle"])[~wide].any()
    assert table["unsolvable"][table["m"] == 1].sum() == 0
    assert (table["unsolvable"][table["m"] == 10] == 6).all()
    assert (table["low"] <= table["unsolvable"] / 6).all()
    for draw in frequencies.figure.pictures.values():
        assert len(draw(numbers).axes) == 3


def test_coordinates_of_the_span_keep_inner_products():
    size = Setting(2, 3, 50)
    language, sentences = contradictions.drawn(np.random.default_rng(1), size)
    other = random_language(np.random.default_rng(1), 20, 50, 3)
    assert isinstance(language, Language)
    assert sentences.shape == (2, 3)
    assert language.embeddings.shape == (20, 20)
    products = language.embeddings @ language.embeddings.T
    assert np.allclose(products, other.embeddings @ other.embeddings.T)


def test_failing_data_are_told_by_their_certificates():
    cases = (NOT_ALIGNED, 9, "fails"), (NOT_ALIGNED, 0.01, "astray"), (TWO_TOKENS, 9, "converges")
    for run, size, expected in cases:
        end = size * np.eye(run.data.d)[:, :1] * np.eye(1, run.data.d)
        assert failing_data.outcome(run.data, [run.start, end]) == expected
    assert failing_data.outcome(NO_QUERY.data, [NO_QUERY.start] * 2) == "no_solution"


def test_findings_count_failing_data_as_the_figure_does():
    numbers = failing_data.numbers(0, 50, [(2, 4, 2)])
    row = {name: column[0] for name, column in numbers.tables["frequencies"].columns.items()}
    counts = f"{row['fails']} + {row['astray']} of {50 - row['no_solution']}"
    assert row["unsettled"] == 0
    told = (Path(__file__).parents[3] / "docs/findings.md").read_text()
    assert f"\n| 2 | 4 | {counts}: {row['low']:.2f} to {row['high']:.2f} | " in told
    assert len(failing_data.figure.pictures[""](numbers).axes) == 1


def test_patterns_of_words_have_the_probabilities_of_a_random_language():
    assert sum(map(repeated_tokens.chance, ([one] for one in repeated_tokens.patterns(5)))) == 1
    pairs = ([x[:3], x[3:]] for x in repeated_tokens.patterns(6))
    assert sum(map(repeated_tokens.chance, pairs)) == 1


@pytest.mark.parametrize(
    ("sentence", "chance"),
    [
        ((0, 1, 0, 2, 3), fmpq(1, 3)),  # of three words that may be optimal one is repeated
        ((0, 1, 0, 1, 2), fmpq(1)),
        ((0, 1, 0, 2, 0), fmpq(1)),  # the next word is optimal, and repeated
        ((0, 1, 0, 2, 1), fmpq(0)),
        ((0, 1, 2, 3, 4), fmpq(0)),
    ],
)
def test_how_likely_the_optimal_word_is_a_repeated_one(sentence, chance):
    assert repeated_tokens.repeated(sentence) == chance


def test_draws_repeat_their_optimal_words_as_often_as_the_sums_say():
    generator, runs, found = np.random.default_rng(7), 1500, [0, 0]
    for _ in range(runs):
        language = random_language(generator, 20, 30, 3)
        events = []
        for *prefix, following in language.sample(generator, 2, 5).tolist():
            scores = language.embeddings[prefix] @ language.embeddings[following]
            events.append(prefix.count(prefix[int(scores.argmax())]) > 1)
        found[0] += events[0]
        found[1] += all(events)
    once, twice = repeated_tokens.once(5), repeated_tokens.twice(5)
    low, high = interval(found[0], runs, 1e-6)
    assert low < int(once.p) / int(once.q) < high
    assert interval(found[1], runs, 1e-6)[0] < int(twice.p) / int(twice.q)
    assert once**2 < twice < once / 4
    page = (Path(__file__).parents[3] / "docs/proofs/repeated_tokens.md").read_text()
    below, above = (once * 10**5).floor(), (twice * 10**5).ceil()
    assert f"$E r = 0.{below}\\ldots$ and $E r^2 \\le 0.{int(above):05d}$" in page

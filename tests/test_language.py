"""The language samples what it says, and its data sets are the problems of section 4."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.language import Language, next_tokens, prefix_data, random_language, vocabulary_data
from attsvm.tokens import optimal_tokens

THREE = Language(np.array([1, 2, 0]), np.array([[0, 1, 1], [3, 0, 1], [1, 0, 0]]), np.eye(3))


@st.composite
def languages(draw):
    V, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    return random_language(np.random.default_rng(seed), V, d, draw(st.integers(1, V)))


@st.composite
def drawn_sequences(draw):
    """A language and sentences of it."""
    language, seed = draw(languages()), draw(st.integers(0, 2**32 - 1))
    m, n = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    return language, language.sample(np.random.default_rng(seed), m, n)


@given(languages(), st.integers(1, 3))
def test_probabilities_of_all_sentences_sum_to_one(language, n):
    sentences = itertools.product(range(language.size), repeat=n)
    assert sum(language.probability(s) for s in sentences) == 1


@given(drawn_sequences())
def test_samples_have_positive_probability_and_the_table_is_its_ratio(case):
    language, sentences = case
    for row in sentences:
        whole, shorter = language.probability(row), language.probability(row[:-1])
        assert whole > 0
        weights = language.follow[row[-2]]
        assert whole / shorter == Fraction(int(weights[row[-1]]), int(weights.sum()))


def test_samples_have_the_frequencies_of_the_table():
    """And probabilities are as by hand; plain lists are sentences; a seed fixes what is drawn."""
    assert THREE.probability([1, 0, 2]) == Fraction(2, 3) * Fraction(3, 4) * Fraction(1, 2)
    assert THREE.probability([2]) == 0
    assert next_tokens([[0, 1, 2], [2, 0, 1]]).tolist() == [1, 2, 0, 1]
    assert vocabulary_data(THREE, [[0, 1], [1, 2]]).n == 2
    m, counts = 40_000, {}
    drawn, again = (THREE.sample(np.random.default_rng(0), m, 3).tolist() for _ in range(2))
    assert drawn == again
    for row in drawn:
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    for sentence in itertools.product(range(3), repeat=3):
        p = float(THREE.probability(sentence))
        assert abs(counts.get(sentence, 0) - m * p) <= 5.0 * np.sqrt(m * p)


@given(languages())
def test_random_languages_have_unit_embeddings_and_small_weights(language):
    assert np.linalg.norm(language.embeddings, axis=1) == pytest.approx(1.0)
    assert len(set((language.follow > 0).sum(axis=1).tolist())) == 1
    assert language.follow.max() <= 9
    assert not language.follow.flags.writeable


def test_a_token_may_follow_itself():
    """Any of the V tokens is drawn as a successor, itself with the chance of each other one."""
    one = random_language(np.random.default_rng(0), 1, 2, 1)
    assert one.follow.shape == (1, 1)
    assert one.probability([0, 0, 0]) == 1
    made = [random_language(np.random.default_rng(k), 5, 2, 2).follow > 0 for k in range(400)]
    drawn = [random_language(np.random.default_rng(k), 5, 2, 2).follow for k in range(9)]
    assert {w for table in drawn for w in table.ravel().tolist()} == set(range(10))
    own = sum(int(np.trace(table)) for table in made)
    assert abs(own - 400 * 5 * 2 / 5) <= 5.0 * np.sqrt(400 * 5 * 0.4 * 0.6)


@given(drawn_sequences())
def test_problems_are_sub_sequences_with_the_last_token_as_query(case):
    language, sentences = case
    prefix, whole = prefix_data(language, sentences), vocabulary_data(language, sentences)
    E, i = language.embeddings, 0
    for row in sentences:
        for j in range(1, len(row)):
            for data in (prefix, whole):
                assert np.array_equal(data.Z[i], E[row[j - 1]])
            assert prefix.present[i].sum() == j
            assert np.array_equal(prefix.X[i][prefix.present[i]], E[row[:j]])
            assert np.array_equal(whole.X[i], E)
            scores = prefix.gamma[i][prefix.present[i]]
            np.testing.assert_allclose(scores, E[row[:j]] @ E[row[j]], atol=1e-14)
            assert next_tokens(sentences)[i] == row[j]
            i += 1
    assert prefix.n == whole.n == i


@given(drawn_sequences())
def test_the_next_token_is_optimal_where_it_is_present(case):
    language, sentences = case
    wanted = next_tokens(sentences)
    whole = optimal_tokens(vocabulary_data(language, sentences))
    if language.d > 1:  # in dimension 1 unit embeddings coincide
        assert np.array_equal(whole.index, wanted)
    prefix = prefix_data(language, sentences)
    chosen = prefix.X[np.arange(prefix.n), optimal_tokens(prefix).index]
    for i, token in enumerate(wanted):
        own = language.embeddings[token]
        if (prefix.X[i][prefix.present[i]] == own).all(axis=1).any():
            np.testing.assert_allclose(chosen[i], own, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Language([1, 1], [[1, 0], [0, 0]], np.eye(2)), "row of zeros"),
        (lambda: Language([0, 0], [[1, 0], [0, 1]], np.eye(2)), "row of zeros"),
        (lambda: Language([1, -1], [[1, 0], [0, 1]], np.eye(2)), "negative"),
        (lambda: Language([1, 2**40], [[1, 0], [0, 1]], np.eye(2)), "above 2"),
        (lambda: Language([0.5, 0.5], [[1, 0], [0, 1]], np.eye(2)), "integers of shape"),
        (lambda: Language([1, 1], [[1, 0]], np.eye(2)), "integers of shape"),
        (lambda: Language([1, 1], [[1, 0], [0, 1]], [[1.0, 0.0], [0.0, np.nan]]), "not finite"),
        (lambda: THREE.sample(np.random.default_rng(0), 0, 3), "below 1"),
        (lambda: THREE.sample(np.random.default_rng(0), 1, True), "not an integer"),
        (lambda: THREE.probability([0, 3]), "one of 0..2"),
        (lambda: THREE.probability([]), "rows of at least 1"),
        (lambda: prefix_data(THREE, np.array([[0]])), "rows of at least 2"),
        (lambda: vocabulary_data(THREE, np.array([[0, -1]])), "one of 0..2"),
        (lambda: random_language(np.random.default_rng(0), 3, 2, 4), "no more than 3"),
        (lambda: random_language(np.random.default_rng(0), 0, 2, 1), "below 1"),
        (lambda: random_language(5, 3, 2, 1), "numpy generator"),
        (lambda: THREE.sample(None, 1, 3), "numpy generator"),
        (lambda: prefix_data(THREE, [[0, 1], [0, 1, 2]]), "all of one length"),
        (lambda: vocabulary_data(THREE, [[0, 1], [0]]), "all of one length"),
        (lambda: THREE.probability([0, [1]]), "all of one length"),
        (lambda: THREE.probability([[0, 1], [1, 0]]), "all of one length"),
        (lambda: THREE.probability(None), "all of one length"),
        (lambda: next_tokens(np.array([0, 1])), "rows of at least 2"),
        (lambda: next_tokens([[0], [1]]), "rows of at least 2"),
        (lambda: next_tokens([[0.0, 1.0]]), "rows of at least 2"),
        (lambda: prefix_data(THREE, np.array([[0, 2**64 - 1]], np.uint64)), str(2**64 - 1)),
        (
            lambda: Language(np.array([1, 2**64 - 1], np.uint64), np.eye(2, dtype=int), np.eye(2)),
            f"above 2.*{2**64 - 1}",
        ),
        (lambda: Language([1, [1]], [[1, 0], [0, 1]], np.eye(2)), "integers of shape"),
        (lambda: Language([1, 1], [[1, 0], [0]], np.eye(2)), "integers of shape"),
        (lambda: Language([1, 1], [[1, 0], [0, 1]], 1e200 * np.eye(2)), "overflow"),
        (lambda: Language([1, 1], [[1, 0], [0, 1]], [[1e200, 1e200], [1e200, -1e200]]), "overflow"),
    ],
)
def test_bad_input_is_named(make, words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=words):
            make()

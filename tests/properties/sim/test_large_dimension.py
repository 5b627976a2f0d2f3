"""Probabilities of assumption 3.10: exact ones against enumeration, tables against their counts."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from attsvm import AttentionData
from attsvm.errors import DataError, ProofError
from attsvm.language import random_language
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.counts import interval
from attsvm.primitives.hypotheses import lower_scores_equal
from attsvm.theory.declaration.proof import recorded
from properties._support import laws
from properties._support.laws import RandomSentences, Signs
from properties.sim import large_dimension
from properties.sim._support.causal_language import SUCCESSORS, VOCABULARY, Setting
from properties.sim.large_dimension.conclusion import (
    BESIDE,
    EVEN,
    THREE_TOKENS,
    coherence,
    disturbance,
    incoherent,
    long,
)
from symbolic.sim import large_dimension as proofs

WORDS = (large_dimension.__doc__ or "") + (proofs.__doc__ or "")


@pytest.mark.parametrize(("n", "T", "d"), [(1, 1, 2), (1, 2, 3), (1, 3, 3), (2, 2, 2), (1, 4, 2)])
def test_the_probability_of_equal_scores_is_that_of_all_signs(n, T, d):
    hits = 0
    for signs in itertools.product((-1.0, 1.0), repeat=n * T * d):
        X = np.array(signs).reshape(n, T, d)
        data = AttentionData(X, np.ones((n, d)), y=np.ones(n), v=np.ones(d))
        hits += lower_scores_equal(data)
    assert laws.equal_scores(Signs(n, T, d)) == Fraction(hits, 2 ** (n * T * d))


def test_the_probability_at_a_thousand_is_what_the_docstring_says():
    assert f"{float(laws.equal_scores(THREE_TOKENS)):.4f} at d = 1000" in WORDS
    (row,) = re.findall(r"^\| part 2: n = 1, T = 3 \|(.*)\|$", WORDS, re.MULTILINE)
    for d, said in zip([8, 16, 32, 64, 128, 256], row.split("|"), strict=True):
        assert float(said) == float(f"{float(laws.equal_scores(Signs(1, 3, d))):.2g}")


@pytest.mark.parametrize(
    ("n", "T", "dimensions"), [(3, 4, [8, 16, 32, 64, 128, 256]), (6, 8, [128, 256])]
)
def test_the_table_is_what_is_counted(n, T, dimensions):
    (row,) = re.findall(rf"^\| n = {n}, T = {T} \|(.*)\|$", WORDS, re.MULTILINE)
    table = dict(zip([8, 16, 32, 64, 128, 256], row.split("|"), strict=True))
    for d in dimensions:
        low, high = interval(laws.counted(Signs(n, T, d), 200), 200, 0.005)
        said = [float(x) for x in table[d].split(" to ")]
        assert said == [round(low, 2), round(high, 2)]


def one_successor(sentences):
    after = {}
    pairs = zip(sentences[:, :-1].flat, sentences[:, 1:].flat, strict=True)
    return all(after.setdefault(int(a), int(b)) == int(b) for a, b in pairs)


def test_of_a_thousand_samples_of_the_default_of_figure_1_none_has_one_successor_a_token():
    size, hits = Setting(), 0
    for run in range(1000):
        generator = np.random.default_rng([0, run])
        language = random_language(generator, VOCABULARY, 1, SUCCESSORS)
        hits += one_successor(language.sample(generator, size.m, size.n))
    assert hits == 0
    assert f"at most {interval(hits, 1000, 0.005)[1]:.4f} there" in WORDS


def test_part_1_on_a_language_is_as_likely_as_one_successor_for_each_token():
    rare = RandomSentences(np.array([[3, 1], [1, 0]]), 2, 3, 2)
    for law, chance in ((EVEN, Fraction(7, 32)), (rare, None)):
        total = Fraction(0)
        for words in itertools.product(range(2), repeat=law.m * law.n):
            sentences = np.array(words).reshape(law.m, law.n)
            chances = [law.language.probability(s) for s in sentences]
            total += chances[0] * chances[1] * one_successor(sentences)
        assert laws.part_1_probability(law) == total
        assert chance is None or total == chance


@pytest.mark.parametrize(
    "law", [lambda: Signs(1, 0, 3), lambda: RandomSentences(np.eye(3, dtype=int), 1, 2, 2)]
)
def test_laws_that_draw_nothing_are_refused(law):
    with pytest.raises(DataError):
        law()


@pytest.mark.parametrize(
    ("name", "other"),
    [("disturbance", lambda n, k, e: 4 * k * e), ("disturbance", lambda n, k, e: k * e)],
)
def test_the_proof_fails_for_a_weaker_condition(monkeypatch, name, other):
    monkeypatch.setattr(proofs, name, other)
    with pytest.raises(ProofError), recorded():
        proofs.prove_incoherent()


def test_the_proof_fails_for_data_that_are_less_near_to_orthogonal(monkeypatch):
    monkeypatch.setattr(laws, "near_enough", lambda n, k: 1 / (3 * k * n))
    with pytest.raises(ProofError), recorded():
        proofs.prove_likely()


def gram_matrix(k, e):
    """Inner products of x_opt and k rivals, the last one at e to the others and at -e to x_opt."""
    last, sign = k, [[fmpq(1) for _ in range(k + 1)] for _ in range(k + 1)]
    for t in range(1, last):
        for s in range(1, last):
            sign[t][s] = fmpq(-1)
    sign[0][last] = sign[last][0] = fmpq(-1)
    return [[fmpq(1) if s == t else e * x for s, x in enumerate(row)] for t, row in enumerate(sign)]


def minors(gram):
    return [fmpq_mat([row[:j] for row in gram[:j]]).det() for j in range(1, len(gram) + 1)]


def inverse_row_sums(k, e):
    """G^-1 1 of those tokens."""
    gram, rivals = gram_matrix(k, e), range(1, k + 1)
    G = [[gram[0][0] - gram[0][s] - gram[t][0] + gram[t][s] for s in rivals] for t in rivals]
    assert all(minor > 0 for minor in minors(gram))
    return fmpq_mat(G).solve(fmpq_mat([[1]] * k)).entries()


@pytest.mark.parametrize("k", [2, 3, 4, 8, 16, 32])
def test_no_factor_below_4_in_the_coherence_will_do_for_all_numbers_of_rivals(k):
    at, near = fmpq(1, 4 * k - 5), fmpq(1, 1000)
    assert inverse_row_sums(k, at)[-1] == 0
    assert min(inverse_row_sums(k, at * (1 - near))) > 0
    assert inverse_row_sums(k, at * (1 + near))[-1] < 0
    assert inverse_row_sums(k, fmpq(1, k) * (1 - near))[-1] < 0


@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_there_are_such_vectors_up_to_one_over_the_number_of_rivals_and_no_further(k):
    most, near = fmpq(1, k), fmpq(1, 1000)
    assert minors(gram_matrix(k, most))[-1] == 0
    assert all(minor > 0 for minor in minors(gram_matrix(k, most))[:-1])
    assert minors(gram_matrix(k, most * (1 + near)))[-1] < 0


def test_of_three_tokens_that_are_hardly_less_orthogonal_the_last_is_beyond_the_margin():
    assert long(BESIDE)
    assert coherence(BESIDE) == fmpq(17, 50)
    assert incoherent(BESIDE, Fraction(11, 4))
    margins = exact_att_svm(BESIDE).margins
    assert margins[0, 1] == 1
    assert margins[0, 2] > 1


def test_the_coherence_of_the_bound_is_the_largest_that_the_condition_allows():
    for n, k in ((1, 1), (1, 7), (3, 2), (40, 5)):
        e = laws.near_enough(float(n), k)
        assert disturbance(n, k, e) == pytest.approx(1.0)
    assert laws.near_enough(1.0, 7) == pytest.approx(1 / 28)
    assert laws.twice_the_pairs(1, 3) == 6
    assert laws.twice_the_pairs(2, 3) == 32

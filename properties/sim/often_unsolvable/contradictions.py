"""Constraints of sentences on X, their contradictions, and the frequency of contradictions.

A problem asks that for its query the logit of its optimal token exceed that of every other token by
1. Draw these demands of one query as edges from the better to the worse token. Around a cycle the
constraint matrices (e_a - e_b) z^T add up to 0, while the margins they ask for add up to the length
of the cycle. So no X meets them, whatever the embeddings.

If the embeddings are independent and there is no cycle, number the tokens of each query along its
edges. As E X E^T can be any matrix, some X has these numbers for logits, with margins of at least
1. A token that stands twice in a sub-sequence is a cycle of length 1, because definition 3.8 counts
constraints by places. The counts of random data leave such cycles out, as the soft programmes of
figure 1 do.

Over a whole vocabulary of at least two tokens, a query that asks for a and for b, a != b, has the
cycle a, b. If it always asks for one token, all its edges leave that token. So, for independent
embeddings, X^mm exists exactly if each query asks for one token.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from flint import fmpq, fmpq_poly

from attsvm._types import Array, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.language import Language, prefix_data, random_language, vocabulary_data
from attsvm.primitives.counts import at_least
from attsvm.primitives.descent import Descent
from attsvm.theory import Slack
from properties.sim._support.causal_language import SUCCESSORS, VOCABULARY, Setting
from properties.sim._support.telling_sentences import sentences_of

RUNS, AGAIN = 60, 240
"""Number of languages drawn, with one set of sentences each, at first and on repetition."""


def contradicts(
    sentences: Int[Array, "m n"], data: AttentionData, whole: bool, *, repeats: bool = True
) -> bool:
    """Return whether the problems of some query have a cycle, so that there is no X^mm.

    Copies of an optimal token count as cycles, unless `repeats` is false.
    """
    edges: dict[int, dict[int, int]] = {}  # by query and better token: the worse ones, as bits
    best = np.where(data.present, data.gamma, -np.inf).argmax(axis=1).tolist()
    problems, rows = sentences.shape[1] - 1, sentences.tolist()
    for i, (present, place) in enumerate(zip(data.present.tolist(), best, strict=True)):
        sentence = rows[i // problems]
        tokens = range(len(present)) if whole else sentence
        better, worse = tokens[place], 0
        for at, token in enumerate(tokens[: len(present)]):
            if present[at] and at != place:
                worse |= 1 << token
        asked = edges.setdefault(sentence[i % problems], {})
        asked[better] = asked.get(better, 0) | (worse if repeats else worse & ~(1 << better))
    return any(map(_has_cycle, edges.values()))


def _has_cycle(edges: dict[int, int]) -> bool:
    """Return whether the edges contain a cycle.

    Tokens that are worse than no other one are removed, with their edges, until none is left to
    remove.
    """
    while edges:
        worse = functools.reduce(operator.or_, edges.values())
        left = {a: tokens for a, tokens in edges.items() if worse >> a & 1 and tokens}
        if len(left) == len(edges):
            return True
        edges = left
    return False


def consistent(case: Descent) -> bool:
    """Return whether the problems of no query have a cycle."""
    return not contradicts(sentences_of(case).sentences, case.data, sentences_of(case).whole)


# how often


@dataclass(frozen=True, slots=True)
class Draws:
    """A seed of random languages."""

    seed: int


def drawn(generator: np.random.Generator, size: Setting) -> tuple[Language, Int[Array, "m n"]]:
    """Return a random language, with embeddings in coordinates of their span, and sentences."""
    language = random_language(generator, VOCABULARY, size.d, SUCCESSORS)
    sentences = language.sample(generator, size.m, size.n)
    coordinates = np.linalg.qr(language.embeddings.T)[1].T
    return Language(language.first, language.follow, coordinates), sentences


@functools.lru_cache(maxsize=256)
def count(case: Draws, over: str, size: Setting, runs: int, stream: int) -> int:
    """Return the number of drawn sets of sentences that contradict themselves.

    Attention is over the whole vocabulary or over the sub-sequence, as `over` says.
    """
    whole = over == "vocabulary"
    make = vocabulary_data if whole else prefix_data
    total = 0
    for run in range(runs):
        entropy = [case.seed, stream, run, size.m, size.n, size.d]
        language, sentences = drawn(np.random.default_rng(entropy), size)
        data = make(language, sentences)
        total += contradicts(sentences, data, whole, repeats=False)
    return total


def _often(case: Draws, over: str, m: int, n: int, d: int, runs: int, stream: int) -> Slack:
    return at_least(0.5, count(case, over, Setting(m, n, d), runs, stream), runs)


def often(case: Draws, over: str, m: int = 10, n: int = 5, d: int = 100) -> Slack:
    """Return the slack of "sentences contradict themselves with a probability of at least 1/2"."""
    return _often(case, over, m, n, d, RUNS, 0)


def often_again(case: Draws, over: str, m: int = 10, n: int = 5, d: int = 100) -> Slack:
    """Return the slack of `often`, from four times as many other draws."""
    return _often(case, over, m, n, d, AGAIN, 1)


# how often exactly, for sentences of two words


@dataclass(frozen=True, slots=True)
class Table:
    """Weights of first words and of successors, and a number of sentences of two words.

    Raises:
        DataError: weights that are negative or all zero, no square table, no sentence.
    """

    first: Int[Array, " V"]
    follow: Int[Array, "V V"]
    m: int

    def __post_init__(self) -> None:
        V = len(self.first)
        fits = self.follow.shape == (V, V) and self.m >= 1
        if not fits or min(self.first.min(), self.follow.min()) < 0:
            raise DataError("no table of weights, or no sentence", value=self.follow.shape)
        if not (self.first.any() and self.follow.any(axis=1).all()):
            raise DataError("a row of weights is zero, so nothing can be drawn")

    @property
    def chances(self) -> list[list[Fraction]]:
        """The probability of each sentence of two words."""
        whole = int(self.first.sum())
        return [
            [Fraction(int(a), whole) * Fraction(int(b), int(row.sum())) for b in row]
            for a, row in zip(self.first, self.follow, strict=True)
        ]


def probability(case: Table) -> fmpq:
    """Return m! times the coefficient of z^m in the product over q of 1 + sum_s (exp(p_qs z) - 1).

    This is the probability that no word has two successors, where p_qs is the probability of the
    sentence q s. Sequences of sentences that all begin with q and all end alike have the
    exponential series 1 + sum_s (exp(p_qs z) - 1). The product is the series of sequences of all
    beginnings.
    """
    return _coefficient([_powers([row], case.m) for row in case.chances], case.m)


def mean_probability(m: int, V: int, successors: int, heaviest: int) -> fmpq:
    """Return the mean of `probability` over random languages, as `random_language` draws them.

    Rows of a language are independent, so each factor is replaced by its mean. Each word is the
    first one with probability 1/V, and each successor has a uniform weight in 1..heaviest.
    """
    weights = product(range(1, heaviest + 1), repeat=successors)
    rows = [[Fraction(w, V * sum(row)) for w in row] for row in weights]
    return _coefficient([_powers(rows, m)] * V, m)


def _powers(rows: list[list[Fraction]], m: int) -> list[fmpq]:
    """Return the mean over rows of the sum of p^k over a row, for k = 1, ..., m."""
    return [
        sum((fmpq(p.numerator, p.denominator) ** k for row in rows for p in row), fmpq(0))
        / len(rows)
        for k in range(1, m + 1)
    ]


def _coefficient(powers: list[list[fmpq]], m: int) -> fmpq:
    """Return m! [z^m] of the product over words of 1 + sum_k powers_k z^k / k!."""
    total = fmpq_poly([1])
    for row in powers:
        series = [x / math.factorial(k) for k, x in enumerate(row, 1)]
        total = fmpq_poly((total * fmpq_poly([1, *series])).coeffs()[: m + 1])
    coefficients = total.coeffs()
    return coefficients[m] * math.factorial(m) if len(coefficients) > m else fmpq(0)


def enumerated(case: Table, strict: bool = True) -> fmpq:
    """Return the probability that no word has two successors, summed over all lists of sentences.

    If not `strict`, only neighbours in the list must agree: equal first words have equal last
    words.
    """
    V, total = len(case.first), fmpq(0)
    chance = case.chances
    for words in product(product(range(V), repeat=2), repeat=case.m):
        pairs = list(product(words, repeat=2)) if strict else list(pairwise(words))
        if all(s == t for (q, s), (r, t) in pairs if q == r):
            p = math.prod((chance[q][s] for q, s in words), start=Fraction(1))
            total += fmpq(p.numerator, p.denominator)
    return total

"""Probability that the last sub-sequence of one or of two sentences holds its optimal token twice.

A pattern of words says which words are equal: each is the number of the first word equal to it.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from flint import fmpq

from attsvm.language import HEAVIEST
from properties.sim._support.causal_language import SUCCESSORS, VOCABULARY

Words = tuple[int, ...]


def patterns(length: int, before: Words = ()) -> Iterator[Words]:
    """Yield the patterns of `length` further words that continue the pattern `before`."""
    if length == 0:
        yield ()
        return
    for word in range(max(before, default=-1) + 2):
        for rest in patterns(length - 1, (*before, word)):
            yield (word, *rest)


def repeated(sentence: Words) -> fmpq:
    """Return the probability that all words but the last hold their optimal one twice.

    The optimal word has the largest inner product with the last one. The embeddings are random.
    """
    *prefix, following = sentence
    counts = Counter(prefix)
    if following in counts:
        return fmpq(int(counts[following] > 1))
    return fmpq(sum(count > 1 for count in counts.values()), len(counts))


def chance(sentences: Sequence[Words]) -> fmpq:
    """Return the probability that sentences of a random language have this pattern."""
    after: dict[int, Counter[int]] = {}
    for sentence in sentences:
        for word, following in pairwise(sentence):
            after.setdefault(word, Counter())[following] += 1
    words = len({word for sentence in sentences for word in sentence})
    result = fmpq(math.perm(VOCABULARY, words), VOCABULARY ** len(sentences))
    for row in after.values():
        result *= _successors(tuple(sorted(row.values())))
    return result


@functools.lru_cache(maxsize=256)
def _successors(counts: Words) -> fmpq:
    """Return the mean probability that a word has the successors counted by `counts`."""
    kinds = len(counts)
    chosen = fmpq(math.perm(SUCCESSORS, kinds), math.perm(VOCABULARY, kinds))
    total = fmpq(0)
    for weights in product(range(1, HEAVIEST + 1), repeat=SUCCESSORS):
        powers = math.prod(w**k for w, k in zip(weights, counts, strict=False))
        total += fmpq(powers, sum(weights) ** sum(counts))
    return chosen * total / HEAVIEST**SUCCESSORS


def once(length: int) -> fmpq:
    """Return the probability that the prefix of a sentence holds its optimal word twice."""
    return sum((chance([one]) * repeated(one) for one in patterns(length)), fmpq(0))


def twice(length: int) -> fmpq:
    """Return a bound of the probability that the prefixes of two sentences do so.

    If sentences have at most one common word, these events are independent. For other sentences the
    bound is the smaller one of both probabilities.
    """
    total = fmpq(0)
    for one in patterns(length):
        first = repeated(one)
        if first == 0:
            continue
        for other in patterns(length, one):
            second = repeated(other)
            if second != 0:
                apart = len({*one} & {*other}) < 2
                both = first * second if apart else min(first, second)
                total += chance([one, other]) * both
    return total

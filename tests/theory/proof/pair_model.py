"""Sentences of two words as a model of the letters of sets of pairs, in floats."""

import itertools
import math

from attsvm.theory.proof.terms import REAL
from properties.sim.often_unsolvable import pair_letters as letters
from tests.theory.proof.evaluation import Model

STEPS = 5
"""Number of steps: up to four sentences are drawn."""


def model_of_table(case):
    """The model of a table: pairs are (word, successor), and sets are frozen sets of pairs."""
    words = range(len(case.first))
    chance = {(a, b): float(p) for a, row in enumerate(case.chances) for b, p in enumerate(row)}
    choices = itertools.product((None, *words), repeat=len(words))
    sets = [frozenset((a, b) for a, b in enumerate(c) if b is not None) for c in choices]
    drawn = [{} for _ in range(STEPS)]
    for k in range(STEPS):
        for pairs in itertools.product(chance, repeat=k):
            of = frozenset(pairs)
            drawn[k][of] = drawn[k].get(of, 0.0) + math.prod(chance[x] for x in pairs)

    def product(k, z):
        rows = (sum(math.expm1(chance[a, b] * z) for b in words) for a in words[:k])
        return math.prod(1 + x for x in rows)

    functions = {
        letters.P: chance.__getitem__,
        letters.IN: lambda s, q: float(q in s),
        letters.LESS: lambda s, q: s - {q},
        letters.SIGN: lambda s, t: (-1.0) ** len(s - t) if t <= s else 0.0,
        letters.EMPTY: lambda s: float(not s),
        letters.CHANCE: lambda k, s: drawn[k].get(s, 0.0),
        letters.POWER: lambda k, t: sum(chance[x] for x in t) ** k,
        letters.NEW: lambda k, q: float(q[0] == k),
        letters.EARLY: lambda k, s: float(all(a < k for a, _ in s)),
        letters.PRODUCT: product,
    }
    (number,) = letters.WORDS.atoms
    functions[number.function] = lambda: len(words)
    samples = {REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]}
    return Model(
        functions, {letters.PAIR: [*chance], letters.SET: sets}, STEPS, samples, floor=1e-12
    )

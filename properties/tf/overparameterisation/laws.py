"""Laws of data in any dimension, and counts of samples with all tokens as support vectors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array, Bool, Float
from attsvm.errors import DataError
from attsvm.primitives.counts import interval
from attsvm.strategies import composite, sizes
from properties._support.laws import RISK, supports

CHUNK = 64
"""Maximum number of choices, and of samples, in one batch."""


@dataclass(frozen=True, slots=True)
class Law:
    """n inputs of T tokens in R^d, and queries; `seed` is the seed of samples.

    Raises:
        DataError: a size below 1, or fewer dimensions than inputs.
    """

    n: int
    T: int
    d: int
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.n, self.T, self.d) < 1 or self.d < self.n:
            raise DataError("the law is not known", value=(self.n, self.T, self.d))


def gaussian(law: Law, generator: np.random.Generator) -> tuple[Array, Array]:
    """Return independent standard Gaussian tokens, and orthonormal queries."""
    return generator.normal(size=(law.n, law.T, law.d)), np.eye(law.n, law.d)


def spherical(law: Law, generator: np.random.Generator) -> tuple[Array, Array]:
    """Return independent tokens and queries, uniform on the unit sphere."""
    X, Z = (generator.normal(size=s) for s in ((law.n, law.T, law.d), (law.n, law.d)))
    X, Z = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (X, Z))
    return X, Z


LAWS = {"gaussian": gaussian, "spherical": spherical}


def everywhere(X: Float[Array, "s n T d"], Z: Float[Array, "s n d"]) -> Bool[Array, " s"]:
    """Return for each data set whether every Local-SVM has a solution that all tokens support.

    Inputs of orthogonal queries are independent problems. Then it is enough to choose the token of
    the same place in all inputs.
    """
    (count, n, T, _), places = X.shape, range(X.shape[2])
    if T == 1:
        return np.ones(count, dtype=bool)
    apart = np.count_nonzero(Z @ Z.mT) == n * count
    choices = [(t,) * n for t in places] if apart else itertools.product(places, repeat=n)
    left = np.arange(count)
    for chunk in _chunks(iter(choices)):
        left = left[supports(X[left], Z[left], chunk).all(axis=1)]
    return np.isin(np.arange(count), left)


@functools.lru_cache(maxsize=256)
def counted(law: Law, of: str, samples: int) -> int:
    """Return the number of samples in which all tokens are support vectors in every Local-SVM."""
    generator, count = np.random.default_rng([law.seed, law.n, law.T, law.d]), 0
    for first in range(0, samples, CHUNK):
        sets = [LAWS[of](law, generator) for _ in range(first, min(first + CHUNK, samples))]
        X, Z = map(np.array, zip(*sets, strict=True))
        count += int(everywhere(X, Z).sum())
    return count


def bracket(law: Law, of: str, samples: int) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of the probability that `counted` counts."""
    return interval(counted(law, of, samples), samples, RISK)


def pairs(T: int) -> int:
    """Return the number of pairs of tokens of an input: the dihedral angles of its simplex."""
    return comb(T, 2)


@composite
def drawn(draw: st.DrawFn, n: int, T: tuple[int, int], d: tuple[int, int]) -> Law:
    """Draw up to n inputs, with sizes in the ranges T and d, and no fewer than T - 1 dimensions."""
    count, tokens = draw(sizes(1, n)), draw(sizes(*T))
    low = max(d[0], tokens - 1, count)
    return Law(count, tokens, draw(sizes(low, max(low, d[1]))), draw(sizes(0, 99)))


def _chunks(choices: Iterator[tuple[int, ...]]) -> Iterator[Array]:
    while chunk := list(itertools.islice(choices, CHUNK)):
        yield np.array(chunk)

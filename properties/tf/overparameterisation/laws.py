"""Laws of data in any dimension, and how many samples have all tokens as support vectors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.primitives.counts import interval
from attsvm.strategies import composite, sizes
from properties.sim.large_dimension.laws import RISK, support

CHUNK = 64
"""How many choices are looked at together."""


@dataclass(frozen=True, slots=True)
class Law:
    """n inputs of T tokens in R^d, and queries; `seed` is that of samples.

    Raises:
        DataError: a size below 1, or fewer dimensions than inputs.
    """

    n: int
    T: int
    d: int
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.n, self.T, self.d) < 1 or self.d < self.n:
            raise DataError("no such law", value=(self.n, self.T, self.d))


def gaussian(law: Law, generator: np.random.Generator) -> AttentionData:
    """Independent standard Gaussian tokens, and orthonormal queries."""
    X = generator.normal(size=(law.n, law.T, law.d))
    return AttentionData(X, np.eye(law.n, law.d), scores=_first_best(law))


def spherical(law: Law, generator: np.random.Generator) -> AttentionData:
    """Independent tokens and queries, uniform on the unit sphere."""
    X, Z = (generator.normal(size=s) for s in ((law.n, law.T, law.d), (law.n, law.d)))
    X, Z = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (X, Z))
    return AttentionData(X, Z, scores=_first_best(law))


LAWS = {"gaussian": gaussian, "spherical": spherical}


def everywhere(data: AttentionData) -> bool:
    """All tokens are support vectors in every Local-SVM, and each has a solution.

    Inputs of orthogonal queries are independent problems: each choice of each is among the choices
    of one place for all.
    """
    if data.T == 1:
        return True
    apart = np.count_nonzero(data.Z @ data.Z.T) == data.n
    places = range(data.T)
    choices = [(t,) * data.n for t in places] if apart else itertools.product(places, repeat=data.n)
    return all(support(data, chunk).all() for chunk in _chunks(iter(choices)))


@functools.lru_cache(maxsize=256)
def counted(law: Law, of: str, samples: int) -> int:
    """In how many samples all tokens are support vectors in every Local-SVM."""
    generator = np.random.default_rng([law.seed, law.n, law.T, law.d])
    return sum(everywhere(LAWS[of](law, generator)) for _ in range(samples))


def bracket(law: Law, of: str, samples: int) -> tuple[float, float]:
    """Clopper and Pearson's interval of that probability."""
    return interval(counted(law, of, samples), samples, RISK)


def pairs(T: int) -> int:
    """How many pairs of tokens an input has: the dihedral angles of its simplex."""
    return comb(T, 2)


@composite
def drawn(draw: st.DrawFn, n: int, T: tuple[int, int], d: tuple[int, int]) -> Law:
    """Up to n inputs of so many tokens in so many dimensions, and no fewer than T - 1."""
    count, tokens = draw(sizes(1, n)), draw(sizes(*T))
    low = max(d[0], tokens - 1, count)
    return Law(count, tokens, draw(sizes(low, max(low, d[1]))), draw(sizes(0, 99)))


def _first_best(law: Law) -> Array:
    scores: Array = np.eye(1, law.T) * np.ones((law.n, 1))
    return scores


def _chunks(choices: Iterator[tuple[int, ...]]) -> Iterator[Array]:
    while chunk := list(itertools.islice(choices, CHUNK)):
        yield np.array(chunk)

"""Mistakes that show only beyond the sizes that are drawn, or at a coincidence of integers."""

from __future__ import annotations

from typing import Any

from attsvm.theory import Integer, Real, Vector
from benchmarks.power.formulas import plant

COUNT = Integer(1, 20, beyond=True)


def cubes(m: Any, v: Any) -> Any:
    """a^3 + b^3 - c^3 - d^3."""
    return v.a * v.a * v.a + v.b * v.b * v.b - v.c * v.c * v.c - v.d * v.d * v.d


def halved(m: Any, v: Any) -> Any:
    """X after k halvings."""
    x = v.x
    for _ in range(v.k):
        x = x / 2
    return x


def harmonic(m: Any, v: Any) -> Any:
    """1 + 1/2 + ... + 1/k."""
    total = m.exact(0)
    for j in range(1, v.k + 1):
        total = total + m.exact(1) / j
    return total


few = plant(
    "plain/integers",
    "size",
    "hundreds",
    {"k": COUNT},
    lambda m, v: m.at_most(v.k, 500),
    says="a positive integer is at most 500",
    why="501",
)
taxicab = plant(
    "plain/integers",
    "size",
    "taxicab",
    dict.fromkeys("abcd", COUNT),
    lambda m, v: m.any_of(
        m.at_least(m.abs(cubes(m, v)), m.exact(1)), m.equal(v.a, v.c), m.equal(v.a, v.d)
    ),
    says="two sums of two cubes are different, unless they are of the same cubes",
    why="1 + 12^3 = 9^3 + 10^3",
)
triple = plant(
    "plain/integers",
    "size",
    "pythagoras",
    dict.fromkeys("abc", COUNT),
    lambda m, v: m.any_of(
        m.at_least(m.abs(v.a * v.a + v.b * v.b - v.c * v.c), m.exact(1)), m.at_most(v.c, 40)
    ),
    says="no right triangle with integer sides has a hypotenuse beyond 40",
    why="9, 40, 41",
)
late = plant(
    "plain/iterations",
    "size",
    "halvings",
    {"k": Integer(0, 10, beyond=True), "x": Real(least=1)},
    lambda m, v: m.at_least(halved(m, v), m.exact("1/1000000")),
    says="halving a number x >= 1 never leads below a millionth",
    why="20 halvings of 1 do",
)
slow = plant(
    "plain/iterations",
    "size",
    "harmonic-sum",
    {"k": COUNT},
    lambda m, v: m.at_most(harmonic(m, v), 6),
    says="no partial sum of the harmonic series is above 6",
    why="that of 227 terms is",
)
tokens = plant(
    "plain/softmax",
    "size",
    "thousands-of-tokens",
    {"T": Integer(1, 4), "a": Vector("T")},
    lambda m, v: m.at_most(1, 45 * m.norm(m.softmax(v.a))),
    says="the norm of a softmax is at least 1/45",
    why="that of T equal logits is 1/sqrt T, smaller from 2,026 tokens on",
)

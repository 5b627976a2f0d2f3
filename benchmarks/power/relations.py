"""Planted mistakes at an exact relation between variables, to which no slope leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from attsvm._dyadic import arrays
from attsvm._types import Array, Float
from attsvm.theory import Choice, Integer, Matrix, Real, Records, Vector
from benchmarks.power.formulas import plant
from benchmarks.power.regions import not_0, not_all_different, spike

COUNT = Integer(1, 20, beyond=True)
PAIR = {"d": Integer(3, 3), "a": Vector("d"), "b": Vector("d")}


def none_0(m: Any, *arrays: Any) -> Any:
    """Return the condition that no entry is 0."""
    return m.all_of(*(m.above(m.min(m.abs(a)), m.exact(0)) for a in arrays))


legs_and_root = plant(
    "plain/numbers relation legs-and-root",
    {"a": COUNT, "b": COUNT, "x": Real()},
    lambda m, v: not_0(m, v.a * v.a + v.b * v.b - v.x * v.x, m.at_most(v.a, 8), m.at_most(v.b, 8)),
    says="a^2 + b^2 = x^2 for no integers a and b beyond 8 and no number x that floats hold",
    why="20, 21 and 29",
    witness={"a": 20, "b": 21, "x": 29},
)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder of whole length that leans: the foot and the top of each of two walls."""

    length: int
    foot: Float[Array, " 2"]
    top: Float[Array, " 2"]


LADDERS = st.builds(Ladder, st.integers(1, 20), arrays(2), arrays(2))


def leaning(m: Any, case: Ladder) -> Any:
    """Return the conclusion that the ladder misses a wall, unless it stands, lies or is short."""
    foot, top = m.values(case.foot), m.values(case.top)
    length = m.exact(case.length)
    missed = [m.abs(x * x + y * y - length * length) for x, y in zip(foot, top, strict=True)]
    return not_0(
        m,
        m.sum(m.array(missed)),
        m.at_most(length, m.exact(8)),
        m.equal(m.abs(foot[0]), m.abs(foot[1])),
        *(m.equal(x, 0) for x in (*foot, *top)),
    )


ladders = plant(
    "plain/numbers relation ladders",
    Records(Ladder, LADDERS),
    leaning,
    says="a ladder of whole length beyond 8 leans on no two walls from feet at different distances "
    "that are not 0, if all distances are floats and no top is at 0",
    why="15 with feet at 9 and 12",
)
small_triangles = plant(
    "plain/matrices relation small-triangles",
    {"n": Integer(2, 2), "A": Matrix("n", "n"), "x": Vector("n")},
    lambda m, v: not_0(
        m,
        m.sum(m.abs(m.array([a * a + b * b - x * x for (a, b), x in zip(v.A, v.x, strict=True)]))),
        *not_all_different(m, v.A),
    ),
    says="||A_1|| = x_1 and ||A_2|| = x_2 together for no rows of two numbers of four different "
    "sizes, none of them 0, where |x_i| < 1",
    why="(3, 4)/8 of length 5/8 and (5, 12)/16 of length 13/16",
    hypotheses={"|x_i| < 1": lambda m, v: m.below(m.largest(v.x), m.exact(1))},
    witness={"A": [[0.375, 0.5], [0.3125, 0.75]], "x": [0.625, 0.8125]},
)
diagonal = plant(
    "plain/numbers relation box-diagonal",
    {"d": Integer(2, 2), "k": COUNT, "a": Vector("d"), "x": Real()},
    lambda m, v: not_0(
        m,
        v.k * v.k + m.dot(v.a, v.a) - v.x * v.x,
        m.at_most(v.k, 2),
        *not_all_different(m, v.a),
    ),
    says="a box of sides k, |a_1| and |a_2| has no diagonal that floats hold, k > 2 whole, a_1 and "
    "a_2 of different sizes that are not 0",
    why="3, 4, 12 and 13",
    witness={"k": 3, "a": [4, 12], "x": 13},
)
factors = plant(
    "plain/numbers relation factors",
    {"k": COUNT, "x": Real(), "y": Real()},
    lambda m, v: not_0(
        m,
        v.x * v.y - v.k,
        m.at_most(v.k, 20),
        m.at_most(m.abs(v.x), 1),
        m.at_most(m.abs(v.y), 1),
    ),
    says="x y = k for no integer k > 20 and no floats x and y beyond 1 in size",
    why="21 = 14 * 1.5",
    witness={"k": 21, "x": 14, "y": 1.5},
)


def minors(m: Any, a: Any, b: Any) -> Any:
    """Return the sum of |a_i b_j - a_j b_i|."""
    pairs = ((0, 1), (0, 2), (1, 2))
    return m.sum(m.array([m.abs(a[i] * b[j] - a[j] * b[i]) for i, j in pairs]))


parallel = plant(
    "plain/numbers relation parallel",
    PAIR,
    lambda m, v: not_0(
        m,
        minors(m, v.a, v.b),
        m.equal(m.dot(v.a, v.a), m.dot(v.b, v.b)),
        *not_all_different(m, v.a),
    ),
    says="a vector of three numbers of different sizes, none of them 0, is parallel to none of "
    "another length",
    why="b = 2 a, and b = 0",
    hypotheses={"b_i is not 0": lambda m, v: none_0(m, v.b)},
    witness={"a": [1, 2, 3], "b": [2, 4, 6]},
)
lens = plant(
    "plain/numbers relation lens",
    {"p": COUNT, "q": COUNT, "r": Real(least=1)},
    lambda m, v: not_0(
        m,
        v.r * (v.p + v.q) - v.p * v.q,
        m.equal(v.p, v.q),
        m.at_most(v.p, 20),
        m.at_most(v.q, 20),
    ),
    says="1/p + 1/q = 1/r for no two different integers p and q beyond 20 and no float r",
    why="24, 40 and 15",
    witness={"p": 24, "q": 40, "r": 15},
)
square_sum = plant(
    "plain/numbers relation square-sum",
    {"d": Integer(4, 4), "k": COUNT, "a": Vector("d")},
    lambda m, v: not_0(m, m.sum(v.a) - v.k * v.k, m.at_most(v.k, 8), *not_all_different(m, v.a)),
    says="four numbers of different sizes, none of them 0, have no sum k^2 for an integer k > 8",
    why="81 = 1 + 2 + 3 + 75",
    witness={"k": 9, "a": [1, 2, 3, 75]},
)

# matrices with an exact property

SQUARE = {"n": Integer(2, 2), "A": Matrix("n", "n")}

nilpotent = plant(
    "plain/matrices relation nilpotent",
    SQUARE,
    lambda m, v: not_0(
        m,
        m.sum(m.abs(v.A @ v.A)),
        m.equal(m.abs(v.A[0, 1]), m.abs(v.A[1, 0])),
        m.equal(m.min(m.abs(v.A)), 0),
    ),
    says="A^2 = 0 for no 2 x 2 matrix without entry 0 and with |A_12| different from |A_21|",
    why="((2, -1), (4, -2))",
    witness={"A": [[2, -1], [4, -2]]},
)


def from_scaled_orthogonal(m: Any, A: Any) -> Any:
    """Return a number that is 0 exactly if the rows of A are orthogonal and of equal length."""
    G = A @ A.T
    pairs = ((0, 1), (0, 2), (1, 2))
    across = [m.abs(G[i, j]) for i, j in pairs]
    return m.sum(m.array([*across, m.abs(G[0, 0] - G[1, 1]), m.abs(G[0, 0] - G[2, 2])]))


conformal = plant(
    "plain/matrices relation conformal",
    {"n": Integer(3, 3), "A": Matrix("n", "n")},
    lambda m, v: not_0(m, from_scaled_orthogonal(m, v.A), m.equal(m.min(m.abs(v.A)), 0)),
    says="a 3 x 3 matrix with orthogonal rows of one length has an entry 0",
    why="((1, 2, 2), (2, 1, -2), (2, -2, 1))",
    witness={"A": [[1, 2, 2], [2, 1, -2], [2, -2, 1]]},
)
commuting = plant(
    "plain/matrices relation commuting",
    {**SQUARE, "B": Matrix("n", "n")},
    lambda m, v: not_0(
        m,
        m.sum(m.abs(v.A @ v.B - v.B @ v.A)),
        m.equal(v.A[0, 1] * v.B[0, 0], v.A[0, 0] * v.B[0, 1]),
        *not_all_different(m, v.A),
    ),
    says="A B = B A for no 2 x 2 matrices, that of A with entries of four sizes that are not 0, "
    "that of B without entry 0, and different ratios of their first two entries",
    why="B = A + I",
    hypotheses={"B has no entry 0": lambda m, v: none_0(m, v.B)},
    witness={"A": [[1, 2], [3, 4]], "B": [[2, 2], [3, 5]]},
)

# a window far out, and a member, a residue and a window at once

window = plant(
    "plain/functions needle far-window",
    {"x": Real()},
    lambda m, v: m.at_most(spike(m, m.square(v.x - m.exact("1001.7")), 16), m.exact("1/2")),
    says="max(0, 1 - 16 (x - 1001.7)^2) <= 1/2",
    why="0 but for |x - 1001.7| < 1/4, where nothing leads",
    witness={"x": 1001.75},
)
SHAPES: Mapping[str, Any] = {
    "square": lambda m, x: x * x,
    "size": lambda m, x: m.abs(x),
    "logistic": lambda m, x: m.softplus(x),
    "exponential": lambda m, x: m.exp(-m.abs(x)),
    "bell": lambda m, x: m.exp(-x * x),
}


def seventh(m: Any, v: Any) -> Any:
    """Return 1 if k > 20 and k leaves 5 when divided by 7, else 0."""
    return m.exact(int(v.k % 7 == 5 and v.k > 20))


conjunction = plant(
    "plain/functions needle conjunction",
    {"k": COUNT, "x": Real(), "f": Choice(SHAPES)},
    lambda m, v: m.at_most(
        seventh(m, v) * spike(m, m.square(v.f(m, v.x) - m.exact("1.09")), 2**12), m.exact("1/2")
    ),
    says="max(0, 1 - 4096 (f(x) - 1.09)^2) <= 1/2 for the square, the size, the logistic function, "
    "e^-|x| and e^(-x^2), where k > 20 leaves 5 when divided by 7",
    why="softplus, the square and the size take 1.09",
    witness={"k": 26, "x": 1.09375, "f": "size"},
)

"""Planted mistakes that appear only in a small region, or at a discontinuity."""

import itertools
from typing import Any

from attsvm.theory import Integer, Matrix, Real, Vector
from benchmarks.power.formulas import plant

POINT = {"x": Real(), "y": Real()}
LEAST = "1/10000"


def moved(m: Any, v: Any) -> Any:
    """Return Rosenbrock's function of four variables, with its minimum moved by 5/16."""
    a = v.a - m.exact("5/16")
    bends = [100 * m.square(a[i + 1] - a[i] * a[i]) + m.square(1 - a[i]) for i in range(3)]
    return m.sum(m.array(bends))


rosenbrock = plant(
    "plain/functions needle rosenbrock",
    {"d": Integer(4, 4), "a": Vector("d")},
    lambda m, v: m.at_least(moved(m, v), m.exact(LEAST)),
    says="Rosenbrock's function of four variables moved by 5/16 is at least 1/10000",
    why="0 at 1 + 5/16",
    witness={"a": [1.3125] * 4},
    source="Rosenbrock (1960)",
)


def cyclic(m: Any, v: Any) -> Any:
    """Return the cyclic sum of |a_i| / (|a_(i+1)| + |a_(i+2)|)."""
    a = [m.abs(x) for x in v.a]
    return m.sum(m.array([a[i] / (a[(i + 1) % v.d] + a[(i + 2) % v.d]) for i in range(v.d)]))


shapiro = plant(
    "plain/inequalities needle cyclic-sum",
    {"d": Integer(14, 14), "a": Vector("d")},
    lambda m, v: m.at_least(cyclic(m, v), m.exact(7)),
    says="sum_i a_i / (a_(i+1) + a_(i+2)) >= 14/2 for 14 positive numbers, places going round",
    why="6.9998 at (1, 605, 1, 607, 2, 608, 5, 606, 6, 602, 4, 601, 1, 603)",
    hypotheses={"a_i > 0": lambda m, v: m.below(m.exact(0), m.min(m.abs(v.a)))},
    witness={"a": [1, 605, 1, 607, 2, 608, 5, 606, 6, 602, 4, 601, 1, 603]},
    source="Shapiro's inequality; Zulauf (1958), d = 14",
)
himmelblau = plant(
    "plain/functions needle himmelblau",
    POINT,
    lambda m, v: m.at_least(
        m.square(v.x * v.x + v.y - 11) + m.square(v.x + v.y * v.y - 7), m.exact(LEAST)
    ),
    says="(x^2 + y - 11)^2 + (x + y^2 - 7)^2 >= 1/10000",
    why="0 at (3, 2) and three other points",
    witness={"x": 3, "y": 2},
    source="Himmelblau (1972)",
)
beale = plant(
    "plain/functions needle beale",
    POINT,
    lambda m, v: m.at_least(
        m.square(m.exact("1.5") - v.x + v.x * v.y)
        + m.square(m.exact("2.25") - v.x + v.x * v.y * v.y)
        + m.square(m.exact("2.625") - v.x + v.x * v.y * v.y * v.y),
        m.exact(LEAST),
    ),
    says="Beale's function is at least 1/10000",
    why="0 at (3, 1/2)",
    witness={"x": 3, "y": 0.5},
    source="Beale (1958)",
)


def goldstein_price(m: Any, v: Any) -> Any:
    """Return the Goldstein-Price function of two variables, whose least value is 3."""
    x, y = v.x, v.y
    first = 1 + m.square(x + y + 1) * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)
    second = 30 + m.square(2 * x - 3 * y) * (
        18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y
    )
    return first * second


goldstein_price_needle = plant(
    "plain/functions needle goldstein-price",
    POINT,
    lambda m, v: m.at_least(goldstein_price(m, v), m.exact("3.001")),
    says="the function of Goldstein and Price is at least 3.001",
    why="3 at (0, -1)",
    witness={"x": 0, "y": -1},
    source="Goldstein and Price (1971)",
)


def triangle(sides: Any) -> Any:
    """Return a^2 + b^2 - c^2."""
    a, b, c = sides
    return a * a + b * b - c * c


def spike(m: Any, squares: Any, sharp: int) -> Any:
    """Return max(0, 1 - sharp * squares): 1 at the middle, and 0 except near it."""
    return m.maximum(m.exact(0), 1 - sharp * squares)


plateau = plant(
    "plain/functions needle plateau",
    {"x": Real()},
    lambda m, v: m.at_most(spike(m, m.square(v.x - m.exact("0.7")), 2**18), m.exact("1/2")),
    says="max(0, 1 - 2^18 (x - 0.7)^2) <= 1/2",
    why="0 but for |x - 0.7| < 0.002, where nothing leads",
    witness={"x": 0.69999},
)
plateau_in_the_plane = plant(
    "plain/functions needle plateau-in-the-plane",
    POINT,
    lambda m, v: m.at_most(
        spike(m, m.square(v.x - m.exact("1.1")) + m.square(v.y + m.exact("0.6")), 2**8),
        m.exact("1/2"),
    ),
    says="max(0, 1 - 2^8 ((x - 1.1)^2 + (y + 0.6)^2)) <= 1/2",
    why="0 but for a disc of radius 1/16, where nothing leads",
    witness={"x": 1.1, "y": -0.6},
)


def deceiving(m: Any, v: Any) -> Any:
    """Return a function with a wide slope, and a narrow spike in another place."""
    squares = m.sum(m.square(v.a - m.exact("2.3")))
    return m.norm(v.a) / 100 + spike(m, squares, 64)


deceiving_slope = plant(
    "plain/functions needle deceiving-slope",
    {"d": Integer(2, 2), "a": Vector("d")},
    lambda m, v: m.at_most(deceiving(m, v), 1 + m.norm(v.a) / 200),
    says="||a||/100 + max(0, 1 - 64 ||a - 2.3||^2) <= 1 + ||a||/200 for two numbers, where "
    "||a|| <= 100",
    why="close to (2.3, 2.3)",
    hypotheses={"||a|| <= 100": lambda m, v: m.at_most(m.norm(v.a), m.exact(100))},
    witness={"a": [2.3, 2.3]},
)

# discontinuous conclusions


def unless(m: Any, value: Any, *besides: Any) -> Any:
    """Return the conclusion that a number is not 0 or one of `besides` holds."""
    return m.any_of(m.above(m.abs(value), m.exact(0)), *besides)


product_one = plant(
    "plain/functions jump product-one",
    POINT,
    lambda m, v: unless(m, v.x * v.y - 1, m.equal(v.x, v.y)),
    says="x y = 1 for x = y alone",
    why="2 * 1/2",
    witness={"x": 2, "y": 0.5},
)
sixty_five = plant(
    "plain/functions jump sixty-five",
    POINT,
    lambda m, v: unless(m, v.x * v.x + v.y * v.y - 65),
    says="x^2 + y^2 is never 65",
    why="64 + 1",
    witness={"x": 8, "y": 1},
)
cubic_root = plant(
    "plain/functions jump cubic-root",
    {"x": Real()},
    lambda m, v: unless(m, v.x * v.x * v.x - v.x - 990),
    says="x^3 - x is never 990",
    why="1000 - 10",
    witness={"x": 10},
)
double_root = plant(
    "plain/functions jump double-root",
    dict.fromkeys("abc", Real()),
    lambda m, v: unless(
        m, v.b * v.b - 4 * v.a * v.c, m.equal(v.a * v.c, 0), m.equal(v.a, v.c), m.equal(v.a, -v.c)
    ),
    says="b^2 = 4 a c for no a and c of different size that are not 0",
    why="a = 1, b = 4, c = 4",
    witness={"a": 1, "b": 4, "c": 4},
)
orthogonal = plant(
    "plain/functions jump orthogonal",
    {"d": Integer(3, 3), "a": Vector("d"), "b": Vector("d")},
    lambda m, v: unless(
        m, m.dot(v.a, v.b), m.equal(m.min(m.abs(v.a)), 0), m.equal(m.min(m.abs(v.b)), 0)
    ),
    says="vectors of three numbers that are not 0 are not orthogonal",
    why="(1, 1, -2) and (1, 1, 1)",
    witness={"a": [1, 1, -2], "b": [1, 1, 1]},
)


def not_0(m: Any, value: Any, *besides: Any) -> Any:
    """Return the conclusion of `unless` by an indicator, which can be evaluated in batches."""
    return m.any_of(m.at_most(2 * m.is_zero(value), 1), *besides)


def minors(m: Any, v: Any) -> Any:
    """Return the determinant of A A^T, the sum of the squares of the minors of two rows."""
    (a, b), (_, c) = v.A @ v.A.T
    return a * c - b * b


def not_all_different(m: Any, x: Any) -> tuple[Any, ...]:
    """Return the alternatives that some number is 0, or that two have the same absolute value."""
    sizes = [m.abs(number) for number in x.ravel()]
    pairs = itertools.combinations(sizes, 2)
    return m.equal(m.min(sizes), 0), *(m.equal(a, b) for a, b in pairs)


proportional = plant(
    "plain/matrices jump proportional-rows",
    {"n": Integer(2, 2), "d": Integer(4, 4), "A": Matrix("n", "d")},
    lambda m, v: not_0(m, minors(m, v), *not_all_different(m, v.A)),
    says="two rows of four numbers of eight different sizes, none of them 0, are independent",
    why="one row may be 3 times the other",
    witness={"A": [[1, 4, 5, 7], [3, 12, 15, 21]]},
)
right_triangles = plant(
    "plain/functions jump right-triangles",
    {"d": Integer(6, 6), "a": Vector("d")},
    lambda m, v: not_0(
        m,
        m.abs(triangle(v.a[:3])) + m.abs(triangle(v.a[3:])),
        m.equal(m.min(m.abs(v.a)), 0),
    ),
    says="a^2 + b^2 = c^2 and d^2 + e^2 = f^2 together for no six numbers that are not 0",
    why="3, 4, 5 and 5, 12, 13",
    witness={"a": [3, 4, 5, 5, 12, 13]},
)
zero_indicator = plant(
    "plain/functions jump zero-indicator",
    POINT,
    lambda m, v: m.at_most(m.is_zero(v.x - 3 * v.y - 7) + v.x * v.x / 10**6, m.exact(1)),
    says="the indicator of x = 3 y + 7 plus x^2/10^6 is at most 1, where |x| <= 100",
    why="on the line, but for x = 0",
    hypotheses={"|x| <= 100": lambda m, v: m.at_most(m.abs(v.x), m.exact(100))},
    witness={"x": 10, "y": 1},
)

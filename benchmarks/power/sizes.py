"""Planted mistakes that appear only beyond the drawn sizes, or at a coincidence of integers."""

from typing import Any

from attsvm.theory import Integer, Real, Vector
from benchmarks.power.formulas import plant

COUNT = Integer(1, 20, beyond=True)


def cubes(m: Any, v: Any) -> Any:
    """Return a^3 + b^3 - c^3 - d^3."""
    return v.a * v.a * v.a + v.b * v.b * v.b - v.c * v.c * v.c - v.d * v.d * v.d


def halved(m: Any, v: Any) -> Any:
    """Return x after k halvings."""
    x = v.x
    for _ in range(v.k):
        x = x / 2
    return x


def harmonic(m: Any, v: Any) -> Any:
    """Return 1 + 1/2 + ... + 1/k."""
    total = m.exact(0)
    for j in range(1, v.k + 1):
        total = total + m.exact(1) / j
    return total


few = plant(
    "plain/integers size hundreds",
    {"k": COUNT},
    lambda m, v: m.at_most(v.k, 500),
    says="a positive integer is at most 500",
    why="501",
)
taxicab = plant(
    "plain/integers size taxicab",
    dict.fromkeys("abcd", COUNT),
    lambda m, v: m.any_of(
        m.at_least(m.abs(cubes(m, v)), m.exact(1)), m.equal(v.a, v.c), m.equal(v.a, v.d)
    ),
    says="two sums of two cubes are different, unless they are of the same cubes",
    why="1 + 12^3 = 9^3 + 10^3",
)
triple = plant(
    "plain/integers size pythagoras",
    dict.fromkeys("abc", COUNT),
    lambda m, v: m.any_of(
        m.at_least(m.abs(v.a * v.a + v.b * v.b - v.c * v.c), m.exact(1)), m.at_most(v.c, 40)
    ),
    says="no right triangle with integer sides has a hypotenuse beyond 40",
    why="9, 40, 41",
)
late = plant(
    "plain/iterations size halvings",
    {"k": Integer(0, 10, beyond=True), "x": Real(least=1)},
    lambda m, v: m.at_least(halved(m, v), m.exact("1/1000000")),
    says="halving a number x >= 1 never leads below a millionth",
    why="20 halvings of 1 do",
)
slow = plant(
    "plain/iterations size harmonic-sum",
    {"k": COUNT},
    lambda m, v: m.at_most(harmonic(m, v), 6),
    says="no partial sum of the harmonic series is above 6",
    why="that of 227 terms is",
)
tokens = plant(
    "plain/softmax size thousands-of-tokens",
    {"T": Integer(1, 4), "a": Vector("T")},
    lambda m, v: m.at_most(1, 45 * m.norm(m.softmax(v.a))),
    says="the norm of a softmax is at least 1/45",
    why="that of T equal logits is 1/sqrt T, smaller from 2,026 tokens on",
)

# coincidences of integers


def apart(m: Any, difference: Any, *besides: Any) -> Any:
    """Return the conclusion that an integer is not 0, or that one of `besides` holds."""
    return m.any_of(m.at_least(m.abs(difference), m.exact(1)), *besides)


prime_values = plant(
    "plain/integers integer prime-values",
    dict.fromkeys("nab", COUNT),
    lambda m, v: apart(m, v.n * v.n + v.n + 41 - v.a * v.b, m.at_most(v.a, 1), m.at_most(v.b, 1)),
    says="n^2 + n + 41 is no product of two integers above 1, n >= 1",
    why="n = 40 gives 41^2",
    witness={"n": 40, "a": 41, "b": 41},
    source="Euler (1772): prime for n < 40",
)
pell = plant(
    "plain/integers integer pell",
    dict.fromkeys("xy", COUNT),
    lambda m, v: apart(m, v.x * v.x - 2 * v.y * v.y - 1, m.at_most(v.x, 20)),
    says="x^2 - 2 y^2 = 1 has no solution in integers with x > 20",
    why="99^2 - 2 * 70^2 = 1",
    witness={"x": 99, "y": 70},
    source="Pell's equation has infinitely many solutions",
)
cannonballs = plant(
    "plain/integers integer cannonballs",
    dict.fromkeys("kn", COUNT),
    lambda m, v: apart(m, v.k * (v.k + 1) * (2 * v.k + 1) - 6 * v.n * v.n, m.at_most(v.k, 1)),
    says="1 + 4 + ... + k^2 is no square for k > 1",
    why="1 + 4 + ... + 24^2 = 70^2",
    witness={"k": 24, "n": 70},
    source="Lucas (1875), Watson (1918): k = 24 alone",
)
mordell = plant(
    "plain/integers integer mordell",
    dict.fromkeys("xy", COUNT),
    lambda m, v: apart(m, v.y * v.y - v.x * v.x * v.x - 17, m.at_most(v.y, 25)),
    says="y^2 = x^3 + 17 has no positive solution with y > 25",
    why="282^2 = 43^3 + 17",
    witness={"x": 43, "y": 282},
    source="Mordell's equation for 17",
)
four_cubes = plant(
    "plain/integers integer four-cubes",
    dict.fromkeys("abcd", COUNT),
    lambda m, v: apart(m, v.a * v.a * v.a + v.b * v.b * v.b + v.c * v.c * v.c - v.d * v.d * v.d),
    says="a cube is no sum of three positive cubes",
    why="3^3 + 4^3 + 5^3 = 6^3",
    witness={"a": 3, "b": 4, "c": 5, "d": 6},
    source="Euler: 3^3 + 4^3 + 5^3 = 6^3",
)
fourth_powers = plant(
    "plain/integers integer fourth-powers",
    dict.fromkeys("abcd", COUNT),
    lambda m, v: apart(
        m,
        m.power(v.a, 4) + m.power(v.b, 4) - m.power(v.c, 4) - m.power(v.d, 4),
        m.equal(v.a, v.c),
        m.equal(v.a, v.d),
    ),
    says="two sums of two fourth powers are different, unless they are of the same ones",
    why="59^4 + 158^4 = 133^4 + 134^4",
    witness={"a": 59, "b": 158, "c": 133, "d": 134},
    source="Euler (1772)",
)


def factorial(m: Any, n: int) -> Any:
    """Return n!."""
    product = m.exact(1)
    for j in range(2, n + 1):
        product = product * j
    return product


brocard = plant(
    "plain/integers integer brocard",
    {"n": Integer(1, 9), "k": COUNT},
    lambda m, v: apart(m, factorial(m, v.n) + 1 - v.k * v.k, m.at_most(v.n, 5)),
    says="n! + 1 is no square for n > 5",
    why="7! + 1 = 71^2",
    witness={"n": 7, "k": 71},
    source="Brocard (1876): n = 4, 5, 7",
)

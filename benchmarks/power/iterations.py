"""Planted mistakes that appear only late in a run, or for some loss or step."""

from typing import Any

from attsvm.theory import Choice, Integer, Matrix, Real, Vector
from benchmarks.power.formulas import plant

COUNT = Integer(1, 20, beyond=True)
TERMS = Integer(1, 10, beyond=True)


def total(m: Any, terms: Any) -> Any:
    """Return the sum of some numbers."""
    return sum(terms, m.exact(0))


decay = plant(
    "plain/iterations late decay",
    {"k": TERMS, "x": Real(least=1)},
    lambda m, v: m.at_least(m.power(m.exact("0.9"), v.k) * v.x, m.exact("1/1000")),
    says="k steps of length 1/10 on x^2/2 from a start x >= 1 stay above 1/1000",
    why="0.9^66 < 1/1000",
    witness={"k": 70, "x": 1},
)
compound = plant(
    "plain/iterations late compound",
    {"k": COUNT},
    lambda m, v: m.at_most(m.power(1 + m.exact(1) / v.k, v.k), m.exact("2.7")),
    says="(1 + 1/k)^k <= 2.7",
    why="it tends to e = 2.718; 2.7 is passed at k = 75",
    witness={"k": 80},
)
inverse_squares = plant(
    "plain/iterations late inverse-squares",
    {"k": COUNT},
    lambda m, v: m.at_most(
        total(m, [m.exact(1) / (j * j) for j in range(1, v.k + 1)]), m.exact("1.64")
    ),
    says="1 + 1/4 + ... + 1/k^2 <= 1.64",
    why="it tends to pi^2/6 = 1.645; 1.64 is passed at k = 203",
    witness={"k": 210},
    source="Euler: the sum is pi^2/6",
)
interest = plant(
    "plain/iterations late interest",
    {"k": TERMS},
    lambda m, v: m.at_most(m.power(m.exact("1.01"), v.k), m.exact(10)),
    says="growth by 1 % a step never leads above tenfold",
    why="1.01^232 > 10",
    witness={"k": 232},
)


def powers_over_factorial(m: Any, k: int) -> Any:
    """Return 50^k / k!."""
    product = m.exact(1)
    for j in range(1, k + 1):
        product = product * 50 / j
    return product


factorial_late = plant(
    "plain/iterations late factorial",
    {"k": TERMS},
    lambda m, v: m.at_least(powers_over_factorial(m, v.k), m.exact(1)),
    says="50^k >= k!",
    why="false from k = 133 on",
    witness={"k": 140},
)


def averaged(m: Any, v: Any) -> Any:
    """Return x after k steps towards 0, step j of length x/(j + 1)."""
    x = v.x
    for j in range(1, v.k + 1):
        x = x - x / (j + 1)
    return x


conditional_gradient = plant(
    "plain/iterations late conditional-gradient",
    {"k": TERMS, "x": Real(least=1)},
    lambda m, v: m.at_least(averaged(m, v), m.exact("1/100")),
    says="k averaging steps x - x/(j + 1) from x >= 1 stay above 1/100",
    why="they lead to x/(k + 1): below from k = 100 on",
    witness={"k": 120, "x": 1},
    source="the step rule of the conditional gradient method (Frank and Wolfe, 1956)",
)

# losses and steps


def huber(m: Any, x: Any, width: Any) -> Any:
    """Return the Huber function of this width at x."""
    inside = m.minimum(m.abs(x), width)
    return inside * (m.abs(x) - inside / 2)


def descended(m: Any, v: Any) -> Any:
    """Return the point after N unit steps of descent on the Huber function of width w from 1."""
    x = m.exact(1)
    for _ in range(v.N):
        x = x - m.maximum(-v.w, m.minimum(v.w, x))
    return x


worst_case = plant(
    "plain/descent loss worst-case",
    {"N": Integer(1, 6), "w": Real(least=0)},
    lambda m, v: m.at_most((4 * v.N + 3) * huber(m, descended(m, v), v.w), m.exact(1)),
    says="N steps 1/L of descent on a Huber function of slope 1 from distance R leave at most "
    "L R^2/(4N + 3)",
    why="L R^2/(4N + 2) is tight, by a width of 1/(2N + 1)",
    witness={"N": 1, "w": 0.3125},
    source="Drori and Teboulle (2014), theorem 3.1",
)


def bowl(m: Any, x: Any) -> Any:
    """Return a loss of curvature 1/2 at 0, less elsewhere."""
    return m.softplus(x) + m.softplus(-x)


def bowl_stepped(m: Any, x: Any, step: str) -> Any:
    """Return the point after a step of descent on `bowl`."""
    return x - m.exact(step) * (m.logistic(x) - m.logistic(-x))


step_four = plant(
    "plain/descent loss step-four",
    {"x": Real()},
    lambda m, v: m.at_most(bowl(m, bowl_stepped(m, v.x, "4.02")), bowl(m, v.x)),
    says="a step of length 4.02 never raises ln(1 + e^x) + ln(1 + e^-x)",
    why="2/L = 4 at the curvature 1/2 of the minimum; false in |x| < 0.35 alone",
    witness={"x": 2**-5},
)


def overshot(m: Any, v: Any) -> Any:
    """Return ||B (x - eta B^T B x)|| for eta = 2.02/||B||^2."""
    size = m.spectral(v.B)
    g = v.B.T @ (v.B @ v.x)
    return m.norm(v.B @ (size * size * v.x - m.exact("2.02") * g))


quadratic_step = plant(
    "plain/descent loss quadratic-step",
    {"n": Integer(1, 3), "d": Integer(1, 3), "B": Matrix("n", "d"), "x": Vector("d")},
    lambda m, v: m.at_most(overshot(m, v), m.square(m.spectral(v.B)) * m.norm(v.B @ v.x)),
    says="a step of 2.02/L does not raise ||B x||^2/2",
    why="2/L is the longest such step; false near the largest eigenvector",
    witness={"B": [[1]], "x": [1]},
)


def heavy_ball(m: Any, v: Any) -> Any:
    """Return the first four points of the heavy ball on h x^2/2, from 1, step 1, momentum 0.9."""
    points = [m.exact(1), 1 - v.h]
    for _ in range(2):
        x, before = points[-1], points[-2]
        points.append(x - v.h * x + m.exact("0.9") * (x - before))
    return points


heavy_ball_loss = plant(
    "plain/descent loss heavy-ball",
    {"h": Real(least=0)},
    lambda m, v: m.at_most(m.abs(heavy_ball(m, v)[3]), m.abs(heavy_ball(m, v)[2])),
    hypotheses={"h <= 1": lambda m, v: m.at_most(v.h, m.exact(1))},
    says="the third step of the heavy ball with step 1/L and momentum 0.9 does not raise a "
    "quadratic of curvature h <= L",
    why="momentum overshoots: no descent method",
    witness={"h": 0.5},
    source="Polyak (1964): the heavy ball is no descent method",
)
FAMILY = Choice(
    {
        "logistic": lambda m, x: m.softplus(-x),
        "hinge": lambda m, x: m.maximum(m.exact(0), 1 - x),
        "squared hinge": lambda m, x: m.square(m.maximum(m.exact(0), 1 - x)) / 4,
    }
)
one_lipschitz = plant(
    "plain/losses loss one-lipschitz",
    {"loss": FAMILY, "x": Real(), "y": Real()},
    lambda m, v: m.at_most(m.abs(v.loss(m, v.x) - v.loss(m, v.y)), 3 * m.abs(v.x - v.y)),
    says="logistic loss, hinge and a quarter of the squared hinge are 3-Lipschitz",
    why="the squared hinge has slope (1 - x)/2, more than 3 below -5",
    witness={"loss": "squared hinge", "x": -7, "y": -8},
)
same_at_one = plant(
    "plain/losses loss same-at-one",
    {"loss": FAMILY, "x": Real(least=0)},
    lambda m, v: m.at_least(v.loss(m, v.x), m.exact("1/1000")),
    hypotheses={"x <= 2": lambda m, v: m.at_most(v.x, m.exact(2))},
    says="logistic loss, hinge and a quarter of the squared hinge are at least 1/1000 at margins "
    "between 0 and 2",
    why="hinges are 0 from margin 1 on",
    witness={"loss": "hinge", "x": 1},
)

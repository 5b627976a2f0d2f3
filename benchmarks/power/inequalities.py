"""Planted mistakes in other inequalities: constants, hypotheses, sizes, far points."""

from typing import Any

from attsvm.theory import Integer, Matrix, Near, Real, Vector
from attsvm.theory.declaration.claim import Claim
from benchmarks.power.formulas import LOGITS, SEVERAL, plant, softmax_moves

PLAIN_LIPSCHITZ = "arXiv 2510.23012: softmax is 1/2-Lipschitz in every l_p norm"
DOT_PRODUCT = "arXiv 2006.04710: dot-product self-attention is not Lipschitz"
TWO = {"T": Integer(2, 4), "a": Vector("T"), "b": Vector("T")}
POINTS = {"x": Real(), "y": Real()}


def _lipschitz(name: str, factor: str) -> Claim:
    """Plant ||s(a) - s(b)|| <= factor/2 ||a - b|| for the softmax s."""
    return plant(
        f"plain/softmax constant {name}",
        LOGITS,
        lambda m, v: m.at_most(
            m.norm(softmax_moves(m, v)), m.exact(factor) / 2 * m.norm(v.a - v.b)
        ),
        says=f"||s(a) - s(b)||_2 <= {factor}/2 ||a - b||_2 for the softmax s",
        why="1/2 is the least constant, approached by two tokens near equal logits",
        witness={"a": [2**-8, -(2**-8)], "b": [-(2**-8), 2**-8]},
    )


twenty_percent = _lipschitz("twenty-percent", "0.8")
one_percent = _lipschitz("one-percent", "0.99")
one_per_mille = _lipschitz("one-per-mille", "0.999")
one_in_ten_thousand = _lipschitz("one-in-ten-thousand", "0.9999")
sum_of_sizes = plant(
    "plain/softmax constant sum-of-sizes",
    LOGITS,
    lambda m, v: m.at_most(
        m.sum(m.abs(softmax_moves(m, v))), m.exact("0.4995") * m.sum(m.abs(v.a - v.b))
    ),
    says="||s(a) - s(b)||_1 <= 0.4995 ||a - b||_1 for the softmax s",
    why="1/2 is the least constant, approached where one token has half of the attention",
    witness={"a": [2**-8, 0], "b": [-(2**-8), 0]},
    source=PLAIN_LIPSCHITZ,
)
cocoercive = plant(
    "plain/softmax constant cocoercive",
    LOGITS,
    lambda m, v: m.at_least(
        m.dot(softmax_moves(m, v), v.a - v.b),
        m.exact("2.002") * m.dot(softmax_moves(m, v), softmax_moves(m, v)),
    ),
    says="<s(a) - s(b), a - b> >= 2.002 ||s(a) - s(b)||^2 for the softmax s",
    why="2 is the largest constant",
    witness={"a": [2**-8, -(2**-8)], "b": [-(2**-8), 2**-8]},
    source=PLAIN_LIPSCHITZ,
)


def level(m: Any, a: Any) -> Any:
    """Return the logarithm of the sum of exponentials."""
    top = m.max(a)
    return top + m.log(m.sum(m.exp(a - top)))


def bregman(m: Any, v: Any) -> Any:
    """Return lse(b) - lse(a) - <s(a), b - a>."""
    return level(m, v.b) - level(m, v.a) - m.dot(m.softmax(v.a), v.b - v.a)


smooth_constant = plant(
    "plain/softmax constant smooth",
    LOGITS,
    lambda m, v: m.at_most(bregman(m, v), m.exact("0.249") * m.dot(v.b - v.a, v.b - v.a)),
    says="lse(b) <= lse(a) + <s(a), b - a> + 0.249 ||b - a||_2^2",
    why="1/4 is the least constant: the Hessian has norm 1/2 at two equal logits",
    witness={"a": [0, 0], "b": [2**-6, -(2**-6)]},
)
smooth_in_the_maximum = plant(
    "plain/softmax constant smooth-in-the-maximum",
    LOGITS,
    lambda m, v: m.at_most(bregman(m, v), m.exact("0.499") * m.square(m.largest(v.b - v.a))),
    says="lse(b) <= lse(a) + <s(a), b - a> + 0.499 ||b - a||_inf^2",
    why="1/2 is the least constant",
    witness={"a": [0, 0], "b": [2**-6, -(2**-6)]},
    source="Nesterov, Smooth minimization of non-smooth functions (2005), section 4.1",
)
cocoercive_slope = plant(
    "plain/losses constant cocoercive-slope",
    {"x": Real(), "y": Near("x", ())},
    lambda m, v: m.at_least(
        (m.logistic(v.x) - m.logistic(v.y)) * (v.x - v.y),
        m.exact("4.01") * m.square(m.logistic(v.x) - m.logistic(v.y)),
    ),
    says="(g(x) - g(y)) (x - y) >= 4.01 (g(x) - g(y))^2 for the logistic function g",
    why="4 is the largest constant, approached near 0",
    witness={"x": 2**-8, "y": -(2**-8)},
    source="Nesterov, Introductory lectures (2004), theorem 2.1.5: 1/L is sharp",
)
four_per_ten_thousand = plant(
    "plain/losses constant four-per-ten-thousand",
    {"x": Real(), "y": Near("x", ())},
    lambda m, v: m.at_most(
        m.abs(m.logistic(v.x) - m.logistic(v.y)), m.exact("0.2499") * m.abs(v.x - v.y)
    ),
    says="|g(x) - g(y)| <= 0.2499 |x - y| for the logistic function g",
    why="1/4 is the least constant, approached near 0",
    witness={"x": 2**-7, "y": -(2**-7)},
)
exponential_below = plant(
    "plain/losses constant exponential-below",
    {"x": Real()},
    lambda m, v: m.at_most(m.softplus(-v.x), m.exact("0.9999") * m.exp(-v.x)),
    says="ln(1 + e^-x) <= 0.9999 e^-x",
    why="the ratio tends to 1 for large x",
    witness={"x": 12},
)
kantorovich = plant(
    "plain/inequalities constant kantorovich",
    {"a": Real()},
    lambda m, v: m.at_most((1 + m.logistic(v.a)) * (1 - m.logistic(v.a) / 2), m.exact("1.1249")),
    says="for weights on the numbers 1 and 2: mean times mean of inverses <= 1.1249",
    why="(1 + 2)^2/(4 * 2) = 1.125 at equal weights",
    witness={"a": 0},
    source="Kantorovich's inequality (1948)",
)
pinsker = plant(
    "plain/inequalities constant pinsker",
    TWO,
    lambda m, v: m.at_least(
        m.dot(m.softmax(v.a), v.a - v.b) - level(m, v.a) + level(m, v.b),
        m.exact("0.5005") * m.square(m.sum(m.abs(m.softmax(v.a) - m.softmax(v.b)))),
    ),
    says="KL(p, q) >= 0.5005 ||p - q||_1^2 for positive distributions p and q",
    why="1/2 is the largest constant, approached near two equal weights",
    witness={"a": [2**-8, -(2**-8)], "b": [0, 0]},
    source="Pinsker's inequality",
)
hoeffding = plant(
    "plain/inequalities constant hoeffding",
    {"x": Real()},
    lambda m, v: m.at_most(
        m.softplus(v.x) - m.log(m.exact(2)) - v.x / 2, m.exact("0.999") * v.x * v.x / 8
    ),
    says="the logarithm of the moment generating function of a fair coin minus 1/2 is at most "
    "0.999 x^2/8",
    why="1/8 is approached near 0",
    witness={"x": 2**-6},
    source="Hoeffding's lemma (1963)",
)
frobenius = plant(
    "plain/matrices constant frobenius",
    {"n": Integer(1, 3), "A": Matrix("n", "n")},
    lambda m, v: m.at_most(m.norm(v.A), m.exact("0.9999") * m.sqrt(m.exact(v.n)) * m.spectral(v.A)),
    says="||A||_F <= 0.9999 sqrt(n) ||A||_2 for n x n matrices",
    why="equal for multiples of orthogonal matrices",
    witness={"A": [[1, 0], [0, 1]]},
)
cauchy_schwarz = plant(
    "plain/inequalities constant cauchy-schwarz",
    {"d": Integer(1, 4), "a": Vector("d"), "b": Vector("d")},
    lambda m, v: m.at_most(m.dot(v.a, v.b), m.exact("0.9999") * m.norm(v.a) * m.norm(v.b)),
    says="<a, b> <= 0.9999 ||a|| ||b||",
    why="equal for parallel vectors",
    witness={"a": [1, 1], "b": [1, 1]},
)


def covariance(m: Any, v: Any) -> Any:
    """Return d sum_i a_i b_i - sum_i a_i sum_i b_i."""
    return v.d * m.dot(v.a, v.b) - m.sum(v.a) * m.sum(v.b)


VECTORS = {"d": Integer(2, 4), "a": Vector("d"), "b": Vector("d")}
chebyshev = plant(
    "plain/inequalities hypothesis chebyshev",
    VECTORS,
    lambda m, v: m.at_least(covariance(m, v), m.exact(0)),
    says="d sum_i a_i b_i >= sum_i a_i sum_i b_i, for a alone in increasing order",
    why="both must be in the same order",
    hypotheses={
        "a increases": lambda m, v: m.at_least(
            m.min(m.array([y - x for x, y in zip(v.a[:-1], v.a[1:], strict=True)])), m.exact(0)
        )
    },
    witness={"a": [0, 1], "b": [1, 0]},
    source="Chebyshev's sum inequality",
)
bernoulli = plant(
    "plain/inequalities hypothesis bernoulli",
    {"x": Real(), "n": Integer(1, 7)},
    lambda m, v: m.at_least(m.power(1 + v.x, v.n), 1 + v.n * v.x),
    says="(1 + x)^n >= 1 + n x for real x and n >= 1",
    why="x >= -1 is left out; false below -2 for odd n >= 3",
    witness={"x": -4, "n": 3},
    source="Bernoulli's inequality",
)
convex_everywhere = plant(
    "plain/losses hypothesis convex-everywhere",
    POINTS,
    lambda m, v: m.at_most(2 * m.logistic((v.x + v.y) / 2), m.logistic(v.x) + m.logistic(v.y)),
    says="the logistic function is midpoint convex",
    why="for x, y <= 0 alone",
    witness={"x": 1, "y": 3},
)
commuting = plant(
    "plain/matrices hypothesis commuting",
    {"n": Integer(1, 3), **dict.fromkeys(("A", "B", "C"), Matrix("n", "n"))},
    lambda m, v: m.equal(
        m.trace((v.A + v.A.T) @ (v.B + v.B.T) @ (v.C + v.C.T) @ v.A),
        m.trace((v.B + v.B.T) @ (v.A + v.A.T) @ (v.C + v.C.T) @ v.A),
    ),
    says="tr(S T U A) = tr(T S U A) for the symmetric S = A + A^T, T = B + B^T, U = C + C^T",
    why="three symmetric factors may change places under the trace, four may not",
    witness={"A": [[1, 0], [0, 0]], "B": [[0, 1], [0, 0]], "C": [[0, 1], [0, 0]]},
    source="classical; tr(STU) = tr(TSU) for three",
)

# only from a dimension or size on

loewner_size = plant(
    "plain/matrices size loewner",
    {"n": Integer(1, 3), "g": Vector("n"), "h": Vector("n"), "x": Vector("n")},
    lambda m, v: m.at_least(loewner(m, v), m.exact(0)),
    says="A <= B implies A^2 <= B^2, for A = g g^T and B = A + h h^T",
    why="squaring is not monotone from 2 x 2 on",
    witness={"g": [1, 1], "h": [1, 0], "x": [1, -2]},
    source="Loewner (1934): squaring is not operator monotone",
)


def loewner(m: Any, v: Any) -> Any:
    """Return x^T (B^2 - A^2) x."""
    A = m.outer(v.g, v.g)
    Ax = A @ v.x
    Bx = Ax + v.h * m.dot(v.h, v.x)
    return m.dot(Bx, Bx) - m.dot(Ax, Ax)


entropy = plant(
    "plain/softmax size entropy",
    {"T": Integer(1, 4), "a": Vector("T")},
    lambda m, v: m.at_most(level(m, v.a) - m.dot(m.softmax(v.a), v.a), m.exact(5)),
    says="the entropy of a softmax is at most 5",
    why="that of 149 equal logits is ln 149 > 5",
    witness={"a": [0] * 149},
)
sum_of_sizes_size = plant(
    "plain/inequalities size sum-of-sizes",
    {"d": Integer(1, 4), "a": Vector("d")},
    lambda m, v: m.at_most(m.sum(m.abs(v.a)), 4 * m.norm(v.a)),
    says="||a||_1 <= 4 ||a||_2",
    why="sqrt(d) for equal entries: false from d = 17 on",
    witness={"a": [1] * 17},
)
spectral = plant(
    "plain/matrices size spectral",
    {"n": Integer(1, 3), "A": Matrix("n", "n")},
    lambda m, v: m.at_most(m.norm(v.A), 2 * m.spectral(v.A)),
    says="||A||_F <= 2 ||A||_2",
    why="the identity of size 5",
    witness={"A": [[float(i == j) for j in range(5)] for i in range(5)]},
)
largest_entry = plant(
    "plain/inequalities size largest-entry",
    {"d": Integer(1, 4), "a": Vector("d")},
    lambda m, v: m.at_most(m.norm(v.a), 3 * m.largest(v.a)),
    says="||a||_2 <= 3 max |a_i|",
    why="ten equal entries",
    witness={"a": [1] * 10},
)

# only at a large norm

top_share = plant(
    "plain/softmax far top-share",
    SEVERAL,
    lambda m, v: m.at_least(1 - m.max(m.softmax(v.a)), m.exact("1/1000000000000")),
    says="no token of T >= 2 gets all but 10^-12 of the attention",
    why="one does where its logit is larger by 28",
    witness={"a": [40, 0], "b": [0, 0]},
)
logistic = plant(
    "plain/losses far logistic",
    {"x": Real()},
    lambda m, v: m.at_least(m.softplus(-v.x), m.exact("1/1000000000")),
    says="the logistic loss is at least 10^-9",
    why="it is e^-x nearly: smaller from x = 21 on",
    witness={"x": 32},
)
slow_logarithm = plant(
    "plain/functions far slow-logarithm",
    {"x": Real()},
    lambda m, v: m.at_most(m.log(1 + v.x * v.x), m.exact(20)),
    says="ln(1 + x^2) <= 20",
    why="x = 32768",
    witness={"x": 32768},
)
cubic = plant(
    "plain/functions far cubic",
    {"x": Real()},
    lambda m, v: m.at_most(m.power(v.x, 3), 1000 * v.x * v.x + 1000),
    says="x^3 <= 1000 x^2 + 1000",
    why="x = 1002",
    witness={"x": 1002},
)
two_variables = plant(
    "plain/functions far two-variables",
    POINTS,
    lambda m, v: m.at_most(v.x * v.y, 50 * (m.abs(v.x) + m.abs(v.y)) + 10000),
    says="x y <= 50 (|x| + |y|) + 10000",
    why="x = y = 256: both must be large and of one sign",
    witness={"x": 256, "y": 256},
)
frobenius_far = plant(
    "plain/matrices far frobenius",
    {"n": Integer(1, 3), "A": Matrix("n", "n")},
    lambda m, v: m.at_most(m.norm(v.A), m.largest(v.A) + 100),
    says="||A||_F <= max |A_ij| + 100",
    why="a diagonal of two entries 256",
    witness={"A": [[256, 0], [0, 256]]},
)


def attended(m: Any, x: Any) -> Any:
    """Return the output of dot-product self-attention in one dimension at the first token."""
    return m.dot(m.softmax(x[0] * x), x)


lipschitz = plant(
    "plain/self-attention far lipschitz",
    {"T": Integer(2, 4), "x": Vector("T"), "y": Near("x", ("T",))},
    lambda m, v: m.at_most(m.abs(attended(m, v.x) - attended(m, v.y)), 50 * m.norm(v.x - v.y)),
    says="dot-product self-attention of numbers is 50-Lipschitz in the tokens",
    why="its slope at tokens 0 and c is c^2/4 + 1/2",
    witness={"x": [0, 32], "y": [2**-8, 32]},
    source=DOT_PRODUCT,
)

"""A hundred identities, and how many of them the judge decides.

Each is judged twice on one instance: as left = right, which must hold, and as left < right, which
must fall. `python -m benchmarks.identities` prints the numbers, and the identities that stay open.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attsvm import Matrix, Real, Vector, question
from attsvm.theory.declaration.judge import judge

if TYPE_CHECKING:
    from attsvm.theory.types import Namespace, Values

Sides = Callable[["Namespace", "Values"], tuple[Any, Any]]
"""Both sides of an identity, as functions of m and of the letters below."""

LETTERS = {
    **dict.fromkeys("xyzst", Real()),
    "u": Vector("n"),
    "w": Vector("n"),
    "A": Matrix("n", "n"),
    "B": Matrix("n", "n"),
}
"""Numbers of either sign, positive s and t, vectors u and w, and matrices A and B of size 3."""

INSTANCE = {
    "x": 0.75,
    "y": -2.5,
    "z": 1.25,
    "s": 3.0,
    "t": 0.5,
    "u": [1.0, -2.0, 0.5],
    "w": [0.25, 3.0, -1.0],
    "A": [[2.0, 1.0, 0.0], [-1.0, 0.5, 3.0], [0.0, 1.0, 1.0]],
    "B": [[1.0, 0.0, -1.0], [2.0, 1.0, 0.0], [0.5, 0.0, 1.0]],
}


def _p(m: Namespace, v: Values) -> Any:
    return m.softmax(v.u)


def _outer(m: Namespace, v: Values) -> Any:
    return m.outer(v.u, v.w)


EXPONENTIALS: dict[str, Sides] = {
    "e^x e^y = e^(x+y)": lambda m, v: (m.exp(v.x) * m.exp(v.y), m.exp(v.x + v.y)),
    "e^x / e^y = e^(x-y)": lambda m, v: (m.exp(v.x) / m.exp(v.y), m.exp(v.x - v.y)),
    "(e^x)^2 = e^2x": lambda m, v: (m.exp(v.x) ** 2, m.exp(2 * v.x)),
    "(e^(1/2))^2 = e": lambda m, v: (m.exp(m.exact("0.5")) ** 2, m.exp(m.exact(1))),
    "sqrt(e^x) = e^(x/2)": lambda m, v: (m.sqrt(m.exp(v.x)), m.exp(v.x / 2)),
    "e^x e^-x = 1": lambda m, v: (m.exp(v.x) * m.exp(-v.x), m.exact(1)),
    "log e^x = x": lambda m, v: (m.log(m.exp(v.x)), v.x),
    "e^log s = s": lambda m, v: (m.exp(m.log(v.s)), v.s),
    "e^(2 log s) = s^2": lambda m, v: (m.exp(2 * m.log(v.s)), v.s**2),
    "e^(log(s)/2) = sqrt s": lambda m, v: (m.exp(m.log(v.s) / 2), m.sqrt(v.s)),
    "e^(x + log s) = s e^x": lambda m, v: (m.exp(v.x + m.log(v.s)), v.s * m.exp(v.x)),
    "(e^x-1)(e^x+1) = e^2x-1": lambda m, v: (
        (m.exp(v.x) - 1) * (m.exp(v.x) + 1),
        m.exp(2 * v.x) - 1,
    ),
    "cosh^2 - sinh^2 = 1": lambda m, v: (
        ((m.exp(v.x) + m.exp(-v.x)) / 2) ** 2 - ((m.exp(v.x) - m.exp(-v.x)) / 2) ** 2,
        m.exact(1),
    ),
    "sinh 2x = 2 sinh cosh": lambda m, v: (
        (m.exp(2 * v.x) - m.exp(-2 * v.x)) / 2,
        (m.exp(v.x) - m.exp(-v.x)) * (m.exp(v.x) + m.exp(-v.x)) / 2,
    ),
    "sqrt(1+2e^x+e^2x) = 1+e^x": lambda m, v: (
        m.sqrt(1 + 2 * m.exp(v.x) + m.exp(2 * v.x)),
        1 + m.exp(v.x),
    ),
    "|e^x - e^y| of y < x": lambda m, v: (
        m.abs(m.exp(v.y) - m.exp(v.x)),
        m.exp(v.x) - m.exp(v.y),
    ),
    "max(e^x, e^y) = e^max(x,y)": lambda m, v: (
        m.maximum(m.exp(v.x), m.exp(v.y)),
        m.exp(m.maximum(v.x, v.y)),
    ),
    "expm1 = exp - 1": lambda m, v: (m.expm1(v.x), m.exp(v.x) - 1),
    "e^x^4 of fourth powers": lambda m, v: (m.power(m.exp(v.x / 4), 4), m.exp(v.x)),
    "1/(1+e^-x) = e^x/(1+e^x)": lambda m, v: (
        1 / (1 + m.exp(-v.x)),
        m.exp(v.x) / (1 + m.exp(v.x)),
    ),
    "e^(xy) twice": lambda m, v: (m.exp(v.x * v.y) * m.exp(v.x * v.y), m.exp(2 * v.x * v.y)),
    "(e^x + e^y)^2": lambda m, v: (
        (m.exp(v.x) + m.exp(v.y)) ** 2,
        m.exp(2 * v.x) + 2 * m.exp(v.x + v.y) + m.exp(2 * v.y),
    ),
    "geometric sum": lambda m, v: (
        m.sum_over(0, 4, lambda k: m.exp(v.x * k)) * (m.exp(v.x) - 1),
        m.exp(5 * v.x) - 1,
    ),
    "difference of cubes": lambda m, v: (
        m.exp(3 * v.x) - 1,
        (m.exp(v.x) - 1) * (m.exp(2 * v.x) + m.exp(v.x) + 1),
    ),
    "e^(e^x) e^(e^x)": lambda m, v: (m.exp(m.exp(v.x)) ** 2, m.exp(2 * m.exp(v.x))),
}

LOGARITHMS: dict[str, Sides] = {
    "log st = log s + log t": lambda m, v: (m.log(v.s * v.t), m.log(v.s) + m.log(v.t)),
    "log s/t": lambda m, v: (m.log(v.s / v.t), m.log(v.s) - m.log(v.t)),
    "log 1/s = -log s": lambda m, v: (m.log(1 / v.s), -m.log(v.s)),
    "log s^2 = 2 log s": lambda m, v: (m.log(v.s**2), 2 * m.log(v.s)),
    "log sqrt s": lambda m, v: (m.log(m.sqrt(v.s)), m.log(v.s) / 2),
    "log 4 = 2 log 2": lambda m, v: (m.log(m.exact(4)), 2 * m.log(m.exact(2))),
    "log 8 / log 2 = 3": lambda m, v: (m.log(m.exact(8)) / m.log(m.exact(2)), m.exact(3)),
    "log 6 = log 2 + log 3": lambda m, v: (
        m.log(m.exact(6)),
        m.log(m.exact(2)) + m.log(m.exact(3)),
    ),
    "log1p = log of 1 + s": lambda m, v: (m.log1p(v.s), m.log(1 + v.s)),
    "log(e^2x - 1)": lambda m, v: (
        m.log(m.exp(2 * v.x) - 1),
        m.log(m.exp(v.x) - 1) + m.log(m.exp(v.x) + 1),
    ),
    "log s log t / log t": lambda m, v: (m.log(v.s) * m.log(v.t) / m.log(v.t), m.log(v.s)),
    "(log s)^2 - (log t)^2": lambda m, v: (
        m.log(v.s) ** 2 - m.log(v.t) ** 2,
        m.log(v.s * v.t) * m.log(v.s / v.t),
    ),
    "softplus(x) - softplus(-x) = x": lambda m, v: (m.softplus(v.x) - m.softplus(-v.x), v.x),
    "softplus = -log g(-x)": lambda m, v: (m.softplus(v.x), -m.log(m.logistic(-v.x))),
    "log(1+e^x) - x": lambda m, v: (m.log(1 + m.exp(v.x)) - v.x, m.log(1 + m.exp(-v.x))),
    "logit of the logistic": lambda m, v: (m.log(m.logistic(v.x) / (1 - m.logistic(v.x))), v.x),
    "logsumexp of equal entries": lambda m, v: (
        m.logsumexp(0 * v.u + v.x),
        v.x + m.log(m.exact(3)),
    ),
    "logsumexp shifted": lambda m, v: (m.logsumexp(v.u + v.x), m.logsumexp(v.u) + v.x),
    "log-softmax sums": lambda m, v: (m.log(_p(m, v))[0], v.u[0] - m.logsumexp(v.u)),
    "log of a geometric mean": lambda m, v: (
        m.log(m.sqrt(v.s * v.t)),
        (m.log(v.s) + m.log(v.t)) / 2,
    ),
    "telescoping logarithms": lambda m, v: (
        m.sum_over(1, 9, lambda k: m.log(m.exact(k + 1) / k)),
        m.log(m.exact(10)),
    ),
    "log of a factorial": lambda m, v: (
        m.sum_over(1, 8, lambda k: m.log(m.exact(k))),
        m.log(m.factorial(8)),
    ),
    "x log x of a product": lambda m, v: (
        m.xlogx(v.s * v.t),
        v.s * m.xlogx(v.t) + v.t * m.xlogx(v.s),
    ),
    "change of base": lambda m, v: (
        m.log(m.exact(9)) / m.log(m.exact(27)),
        m.exact("2/3"),
    ),
}

PROBABILITIES: dict[str, Sides] = {
    "g(x) + g(-x) = 1": lambda m, v: (m.logistic(v.x) + m.logistic(-v.x), m.exact(1)),
    "g' = g (1 - g)": lambda m, v: (
        m.logistic_slope(v.x),
        m.logistic(v.x) * (1 - m.logistic(v.x)),
    ),
    "tanh = 2 g(2x) - 1": lambda m, v: (m.tanh(v.x), 2 * m.logistic(2 * v.x) - 1),
    "tanh is odd": lambda m, v: (m.tanh(-v.x), -m.tanh(v.x)),
    "softmax sums to 1": lambda m, v: (m.sum(_p(m, v)), m.exact(1)),
    "softmax shifted": lambda m, v: (m.softmax(v.u + v.x), _p(m, v)),
    "softmax of two is logistic": lambda m, v: (
        m.softmax(m.array([v.x, v.y]))[0],
        m.logistic(v.x - v.y),
    ),
    "a ratio of softmax": lambda m, v: (_p(m, v)[0] / _p(m, v)[1], m.exp(v.u[0] - v.u[1])),
    "entropy of the uniform": lambda m, v: (
        m.entropy(m.softmax(0 * v.u)),
        m.log(m.exact(3)),
    ),
    "entropy of a corner is 0": lambda m, v: (
        m.entropy(m.array([m.exact(1), m.exact(0)])),
        m.exact(0),
    ),
    "entropy of softmax": lambda m, v: (
        m.entropy(_p(m, v)),
        m.logsumexp(v.u) - m.dot(_p(m, v), v.u),
    ),
    "KL of equal is 0": lambda m, v: (m.kl(_p(m, v), _p(m, v)), m.exact(0)),
    "KL against the uniform": lambda m, v: (
        m.kl(_p(m, v), m.softmax(0 * v.u)),
        m.log(m.exact(3)) - m.entropy(_p(m, v)),
    ),
    "cross-entropy = H + KL": lambda m, v: (
        m.cross_entropy(_p(m, v), m.softmax(v.w)),
        m.entropy(_p(m, v)) + m.kl(_p(m, v), m.softmax(v.w)),
    ),
    "cross-entropy with softmax": lambda m, v: (
        m.cross_entropy(_p(m, v), m.softmax(v.w)),
        m.logsumexp(v.w) - m.dot(_p(m, v), v.w),
    ),
    "covariance of softmax": lambda m, v: (
        m.sum(m.covariance(_p(m, v), v.w)),
        m.exact(0),
    ),
    "variance": lambda m, v: (
        m.dot(_p(m, v), v.w * v.w) - m.dot(_p(m, v), v.w) ** 2,
        m.dot(v.w, m.covariance(_p(m, v), v.w)),
    ),
    "Bernoulli variance": lambda m, v: (
        m.logistic(v.x) - m.logistic(v.x) ** 2,
        m.logistic_slope(v.x),
    ),
    "g'' = g' (1 - 2g)": lambda m, v: (
        m.logistic_curvature(v.x),
        m.logistic_slope(v.x) * (1 - 2 * m.logistic(v.x)),
    ),
    "log loss of a flip": lambda m, v: (
        -m.log(1 - m.logistic(v.x)),
        m.softplus(v.x),
    ),
    "mean of a softmax": lambda m, v: (m.mean(_p(m, v)), m.exact("1/3")),
}

ROOTS: dict[str, Sides] = {
    "sqrt 8 = 2 sqrt 2": lambda m, v: (m.sqrt(m.exact(8)), 2 * m.sqrt(m.exact(2))),
    "sqrt(5+2 sqrt 6)": lambda m, v: (
        m.sqrt(5 + 2 * m.sqrt(m.exact(6))),
        m.sqrt(m.exact(2)) + m.sqrt(m.exact(3)),
    ),
    "1/(sqrt 2 - 1) = sqrt 2 + 1": lambda m, v: (
        1 / (m.sqrt(m.exact(2)) - 1),
        m.sqrt(m.exact(2)) + 1,
    ),
    "sqrt s sqrt t = sqrt st": lambda m, v: (m.sqrt(v.s) * m.sqrt(v.t), m.sqrt(v.s * v.t)),
    "golden ratio": lambda m, v: (
        ((1 + m.sqrt(m.exact(5))) / 2) ** 2,
        (1 + m.sqrt(m.exact(5))) / 2 + 1,
    ),
    "|x| = sqrt x^2": lambda m, v: (m.abs(v.y), m.sqrt(v.y**2)),
    "norm of a multiple": lambda m, v: (m.norm(v.y * v.u), m.abs(v.y) * m.norm(v.u)),
    "parallelogram": lambda m, v: (
        m.norm(v.u + v.w) ** 2 + m.norm(v.u - v.w) ** 2,
        2 * m.norm(v.u) ** 2 + 2 * m.norm(v.w) ** 2,
    ),
    "unit vector": lambda m, v: (m.norm(v.u / m.norm(v.u)), m.exact(1)),
    "max = (x+y+|x-y|)/2": lambda m, v: (
        m.maximum(v.x, v.y),
        (v.x + v.y + m.abs(v.x - v.y)) / 2,
    ),
    "nested roots": lambda m, v: (m.sqrt(m.sqrt(m.exact(16) * 81)), m.exact(6)),
    "three roots": lambda m, v: (
        (m.sqrt(m.exact(2)) + m.sqrt(m.exact(3)) + m.sqrt(m.exact(5))) ** 2,
        10 + 2 * m.sqrt(m.exact(6)) + 2 * m.sqrt(m.exact(10)) + 2 * m.sqrt(m.exact(15)),
    ),
}

MATRICES: dict[str, Sides] = {
    "det AB = det A det B": lambda m, v: (m.det(v.A @ v.B), m.det(v.A) * m.det(v.B)),
    "tr AB = tr BA": lambda m, v: (m.trace(v.A @ v.B), m.trace(v.B @ v.A)),
    "A A^-1 = I": lambda m, v: (v.A @ m.inverse(v.A), m.identity(3)),
    "(AB)^-1 = B^-1 A^-1": lambda m, v: (
        m.inverse(v.A @ v.B),
        m.inverse(v.B) @ m.inverse(v.A),
    ),
    "det A^-1 = 1/det A": lambda m, v: (m.det(m.inverse(v.A)), 1 / m.det(v.A)),
    "solve": lambda m, v: (v.A @ m.solve(v.A, v.u), v.u),
    "||uw^T|| = ||u|| ||w||": lambda m, v: (
        m.spectral(_outer(m, v)),
        m.norm(v.u) * m.norm(v.w),
    ),
    "op = F for rank one": lambda m, v: (m.spectral(_outer(m, v)), m.norm(_outer(m, v))),
    "det(I + uw^T)": lambda m, v: (
        m.det(m.identity(3) + _outer(m, v)),
        1 + m.dot(v.u, v.w),
    ),
    "A^3 = A A A": lambda m, v: (m.matrix_power(v.A, 3), v.A @ v.A @ v.A),
    "Frobenius = trace": lambda m, v: (m.norm(v.A) ** 2, m.trace(v.A.T @ v.A)),
    "singular values squared sum": lambda m, v: (
        m.sum(m.square(m.singular(v.A[:2]))),
        m.norm(v.A[:2]) ** 2,
    ),
    "eigenvalues sum to the trace": lambda m, v: (
        m.sum(m.eigenvalues(v.A + v.A.T)),
        m.trace(v.A + v.A.T),
    ),
    "eigenvalues of 2A": lambda m, v: (
        m.eigenvalues(2 * (v.A + v.A.T)),
        2 * m.eigenvalues(v.A + v.A.T),
    ),
    "product of singular values": lambda m, v: (
        m.product(m.singular(v.A)),
        m.abs(m.det(v.A)),
    ),
    "binomial sum": lambda m, v: (
        m.sum_over(0, 9, lambda k: m.binomial(9, k)),
        m.exact(2**9),
    ),
    "mixed Kronecker": lambda m, v: (
        m.kron(v.A, v.B) @ m.kron(v.B, v.A),
        m.kron(v.A @ v.B, v.B @ v.A),
    ),
    "Gauss sum": lambda m, v: (m.sum_over(1, 100, lambda k: m.exact(k)), m.exact(5050)),
}

IDENTITIES = EXPONENTIALS | LOGARITHMS | PROBABILITIES | ROOTS | MATRICES
"""A hundred identities by name."""


def decisions() -> dict[str, tuple[bool | None, bool | None]]:
    """Return for each identity the answers on left = right and on left < right; None if open.

    Arrays are compared by their first entries in the second relation.
    """

    def first(side: Any) -> Any:
        return side.ravel()[0] if getattr(side, "ndim", 0) else side

    answers = {}
    for name, sides in IDENTITIES.items():
        equal = question(lambda m, v, f=sides: m.equal(*f(m, v)), **LETTERS)
        below = question(lambda m, v, f=sides: m.below(*map(first, f(m, v))), **LETTERS)
        case = equal.claim.formula.build(**INSTANCE)
        answers[name] = (
            judge(equal.claim.formula, {}, case).holds,
            judge(below.claim.formula, {}, case).holds,
        )
    return answers


def main() -> None:
    """Print how many identities are decided, and which are not."""
    start = time.perf_counter()
    answers = decisions()
    seconds = time.perf_counter() - start
    for place, word in enumerate(("as equal", "as below, which must fall")):
        right = sum(answer[place] is (place == 0) for answer in answers.values())
        print(f"{right} of {len(answers)} decided {word}")
    for name, answer in answers.items():
        if answer != (True, False):
            print(f"  {name}: {answer[0]}, {answer[1]}")
    print(f"{seconds:.1f} s")


if __name__ == "__main__":
    main()

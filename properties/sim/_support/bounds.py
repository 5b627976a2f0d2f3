r"""The seven bounds of section 3.3: two points x and y, their domain, and constants of softmax.

exp(A x) has the sum alpha(x), and f(x) = exp(A x) / alpha(x) are the attention weights; A has n
rows, the tokens that one query attends to. The paper's A is a block A_{l0,j0} of A_1 kron A_2, of
d^2 columns. Readings that stand do so for any matrix; printed ones that fall do so for such a block
(`BLOCK`).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attsvm.theory import (
    Defined,
    Fitted,
    Hypothesis,
    Integer,
    Matrix,
    Near,
    Reading,
    Vector,
    changed,
    definition,
)
from attsvm.theory.declaration.siblings import Changed
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support.entry import LOGITS, MATRIX, on_line

POINTS = {
    "n": Integer(1, 4),
    "D": Integer(1, 3),
    "A": Matrix("n", "D", (0, -1, -2, 1)),
    "x": Vector("D"),
    "y": Near("x", ("D",)),
}
"""A matrix and two points, far apart and close together."""

BLOCK = {
    "d": Integer(1, 2),
    "D": None,
    "a": Vector("d"),
    "tokens": Matrix("n", "d", (0, -1, -2)),
    "X": Matrix("d", "d"),
    "Y": Near("X", ("d", "d")),
    "A": Defined(lambda m, v: m.kron(v.a.reshape(1, -1), v.tokens)),
    "x": Defined(lambda m, v: m.vec(v.X)),
    "y": Defined(lambda m, v: m.vec(v.Y)),
}
"""A is a block of A_1 kron A_2 (a is a row of A_1, `tokens` is A_2), x = vec(X)."""

BLOCKS = {
    "n": Integer(1, 3),
    "d": Integer(1, 2),
    "D": None,
    "A_1": Matrix("n", "d"),
    "A_2": Matrix("n", "d"),
    "X": Matrix("d", "d", (0, -1)),
    "Y": Near("X", ("d", "d")),
    "whole": Defined(lambda m, v: m.kron(v.A_1, v.A_2)),
    "A": Defined(lambda m, v: m.kron(v.A_1[:1], v.A_2)),
    "x": Defined(lambda m, v: m.vec(v.X)),
    "y": Defined(lambda m, v: m.vec(v.Y)),
}
"""The whole matrix A_1 kron A_2 of n^2 rows; A is its first block, which stands for any other."""


@definition(r"\alpha({x})")
def alpha(m: Namespace, A: Numbers, x: Numbers) -> Number:
    """Return the sum of the exponentials of the logits."""
    return m.sum(m.exp(A @ x))


@definition("f({x})")
def f(m: Namespace, A: Numbers, x: Numbers) -> Numbers:
    """Return the attention weights."""
    return m.softmax(A @ x)


BETA = Hypothesis(
    "0 < beta <= alpha(x), alpha(y)",
    lambda m, v: m.all_of(
        m.above(v.beta, m.exact(0)),
        m.at_most(v.beta, alpha(m, v.A, v.x)),
        m.at_most(v.beta, alpha(m, v.A, v.y)),
    ),
)
LISTED = (LOGITS, MATRIX, BETA)
"""The domain of lemma 3.13 without R >= 4, which section 3.3 does not ask for; and beta."""

BOUNDS = {"R": Fitted(), "beta": Fitted()}
WHOLE_SPACE: Mapping[str, Any] = {
    "expected": "proved",
    "under": (),
    "variables": {"R": None, "beta": None},
    "tight": True,
}
"""Arguments of the sharp readings: proved on the whole space, with the best constant."""


def published(m: Namespace, v: Values, power: int = 2, *, exponential: bool = True) -> Numbers:
    """Return beta^-2 n exp(3 R^2) for power 2, 2 beta^-3 n^2 exp(5 R^2) for power 3.

    Without `exponential` the factor exp is 1.
    """
    factor, rate = (v.n, 3) if power == 2 else (2 * v.n**2, 5)
    growth = m.exp(rate * m.square(v.R)) if exponential else m.exact(1)
    return factor * growth / m.power(v.beta, power)


def softmax_constant(m: Namespace) -> Number:
    """Return the best constant of softmax against spread(A), and of f f^T in the Frobenius norm."""
    return m.exact(1) / 2


def entry_constant(m: Namespace) -> Numbers:
    """Return the best constant of one entry of softmax, hence of diag f in the spectral norm."""
    return m.sqrt(m.exact(2)) / 4


def outer_constant(m: Namespace) -> Numbers:
    """Return the best constant of f f^T in the spectral norm, 3^(-3/4)."""
    return 1 / m.sqrt(m.sqrt(m.exact(27)))


def distance(m: Namespace, v: Values) -> Number:
    """Return ||x - y||."""
    return m.norm(v.x - v.y)


# instances; those with an underscore violate a published bound

ONE_TOKEN = on_line([1], x=0, y=1)
TWO_TOKENS = on_line([2, -2], x=0, y=Fraction(1, 8))
BALANCED = on_line([1, -1], x=Fraction(-1, 2**14), y=Fraction(1, 2**14))
"""Two tokens of equal weight: softmax is steepest."""

RAISED = {
    "A": [[Fraction(1, 8), 1], [Fraction(-1, 8), 1]],
    "x": [0, Fraction(11, 4)],
    "y": [Fraction(1, 8), Fraction(11, 4)],
    "R": 4,
    "beta": 31,
}
"""Both logits are near 11/4 and change little, but alpha is large, and so is beta."""

_SHIFTED = {"A": [[1, 1], [-1, 1]], "x": [0, 28], "y": [1, 28], "R": 4, "beta": 2**41}
_LONG = on_line([2**130, -(2**130)], x=0, y=Fraction(1, 2**130), R=4, beta=2)
_LOW = on_line([1, -1], x=0, y=1, R=4, beta=2**44)


def examples(**more: object) -> tuple[dict[str, object], ...]:
    """Return an instance of one token and one of two in the domain, with `more` variables."""
    return {**ONE_TOKEN, "R": 4, "beta": 1, **more}, {**TWO_TOKENS, "R": 4, "beta": 2, **more}


def within(m: Namespace, v: Values, change: Number, constant: Number) -> Comparison:
    """Return that a change is at most a constant times ||x - y||."""
    return m.at_most(change, constant * distance(m, v))


def published_in_both_norms(proof: str) -> dict[str, Reading]:
    """Return the readings of a published bound of matrices whose norm is not named: both norms."""
    return {
        f"literal-{k}": Reading(
            "proved",
            proof=proof,
            constants={"norm": norm},
            examples=examples(),
            siblings=beyond(),
        )
        for k, norm in enumerate(("spectral", "frobenius"), start=1)
    }


def beyond(**more: object) -> dict[str, Changed]:
    """Return siblings of a published bound; `more` are further variables for two tokens."""
    return {
        "logits beyond R": changed(drop=[LOGITS], examples=[{**_SHIFTED, **more}]),
        "||A|| beyond R": changed(drop=[MATRIX], examples=[{**_LONG, **more}]),
        "beta above alpha": changed(drop=[BETA], examples=[{**_LOW, **more}]),
        "the exponential left out": changed(exponential=False, examples=[{**RAISED, **more}]),
    }

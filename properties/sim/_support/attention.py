"""The attention of section 1 in matrices, and in the blocks of definitions 3.1 and 3.3."""

from collections.abc import Sequence
from fractions import Fraction

from attsvm.theory import Hypothesis, Integer, Matrix, definition
from attsvm.theory.types import Namespace, Numbers

SENTENCE = {
    "n": Integer(1, 3),
    "d": Integer(1, 3),
    "A1": Matrix("n", "d"),
    "A2": Matrix("n", "d"),
    "A3": Matrix("n", "d"),
    "X": Matrix("d", "d"),
    "Y": Matrix("d", "d"),
}
"""A sentence of n tokens in R^d, as queries A1, keys A2 and values A3, with weights X and Y."""


def on_line(tokens: Sequence[Fraction | int], **known: object) -> dict[str, object]:
    """Return values of variables: tokens in R^1 as A, numbers x and y as points, and others."""
    points: dict[str, object] = {name: [known.pop(name)] for name in ("x", "y") if name in known}
    return {"A": [[token] for token in tokens], **points, **known}


@definition(r"\mathrm{{Att}}({X}, {values} \, {Y})")
def attention(
    m: Namespace, A1: Numbers, A2: Numbers, X: Numbers, values: Numbers, Y: Numbers
) -> Numbers:
    """Return D(X)^-1 exp(A1 X A2^T) V Y for values V, with D(X) = diag(exp(A1 X A2^T) 1_n)."""
    powers = m.exp(A1 @ X @ A2.T)
    return m.diagonal(1 / m.sums(powers)) @ powers @ values @ Y


@definition(r"\mathrm{{A}} \, \mathrm{{vec}}({X})")
def block_logits(m: Namespace, n: int, A1: Numbers, A2: Numbers, X: Numbers) -> Numbers:
    """Return A_{j0} vec(X), a row for each block A_{j0} of A1 kron A2 (definition 3.1)."""
    return m.mat(m.kron(A1, A2) @ m.vec(X), n)


@definition("f")
def block_attention(m: Namespace, n: int, A1: Numbers, A2: Numbers, X: Numbers) -> Numbers:
    """Return f(x)_{j0} = softmax(A_{j0} vec(X)), row by row (definition 3.3)."""
    return m.softmax(block_logits(m, n, A1, A2, X))


LARGE = Hypothesis("R >= 1", lambda m, v: m.at_least(v.R, m.exact(1)))
LISTED_RADIUS = Hypothesis("R >= 4", lambda m, v: m.at_least(v.R, m.exact(4)), implies=(LARGE,))
LOGITS = Hypothesis(
    "||A x||, ||A y|| <= R",
    lambda m, v: m.all_of(m.at_most(m.norm(v.A @ v.x), v.R), m.at_most(m.norm(v.A @ v.y), v.R)),
)
LOGITS_OF_X = Hypothesis("||A x|| <= R", lambda m, v: m.at_most(m.norm(v.A @ v.x), v.R))
LOGITS_OF_Y = Hypothesis("||A y|| <= R", lambda m, v: m.at_most(m.norm(v.A @ v.y), v.R))
MATRIX = Hypothesis(
    "||A|| <= R", lambda m, v: m.at_most(m.spectral(v.A), v.R), says="||A||_op <= R"
)
LABEL = Hypothesis("|b| <= R", lambda m, v: m.at_most(m.abs(v.b), v.R))
HEAD = Hypothesis("||h|| <= R", lambda m, v: m.at_most(m.norm(v.h), v.R))

DOMAIN = (LISTED_RADIUS, LOGITS_OF_X, LOGITS_OF_Y, MATRIX)
"""The hypotheses that lemma 3.13 lists."""

SIZES = (LABEL, HEAD)
"""The sizes that the proof of lemma 3.13 uses in addition."""

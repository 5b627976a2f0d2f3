"""The attention of section 1 in matrices, and in the blocks of definitions 3.1 and 3.3."""

from attsvm.theory import Integer, Matrix, definition
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

"""Heads and tokens on which the readings are checked first."""

from typing import Any

from attsvm.theory.types import Nested


def example(X: Nested, A: Nested, b: Nested, phi: str, a: Any = None) -> dict[str, Any]:
    """Tokens X, a head, and logits, 0 where they are not given."""
    return {"X": X, "A": A, "b": b, "phi": phi, "a": [0] * len(X) if a is None else a}


TIED = example([[1], [0]], [[0]], [1], "identity")
BENT_UP = example([[1], [0]], [[1]], [1], "relu")
APART = example([[1], [-1]], [[1]], [-1], "square")
"""h(x) = -x^2: the mean of both tokens is the best point."""
THREE = {
    **example([[2, -1], [-1, 2], [-1, -1], [0, 0]], [[1, 0], [0, 1]], [-1, -1], "square"),
    "w": [1, 1, 1, 0],
}
"""h(x) = -|x|^2: the mean of the corners of a triangle is best, as is the token 0 alone."""
LOW = example([[0], [1]], [[1], [0]], [1, 0], "square")

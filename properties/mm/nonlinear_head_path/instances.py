"""Heads and tokens on which the readings are checked first."""

from attsvm.theory.types import Nested


def example(X: Nested, A: Nested, b: Nested, phi: str, p: Nested) -> dict[str, object]:
    """Return an instance for the correlation loss whose keys are the tokens."""
    d = len(p)
    W = [[int(r == c) for c in range(d)] for r in range(d)]
    return {"X": X, "A": A, "b": b, "phi": phi, "p": p, "W": W, "loss": "correlation"}


INSIDE = example([[[1], [-2]]], [[1]], [[-1]], "square", [0])
"""-x^2 has the values -1 and -4 at the tokens; its largest value is at 0, between them."""
LEVEL = example([[[0], [1]]], [[1]], [[-1]], "square", [0])
"""The best token 0 of -x^2 is left with slope 0."""
TIED = example([[[1, 0], [1, 1]]], [[1, 0]], [[1]], "identity", [0, 0])
"""Both tokens have the value 1, and so have their means: no prompt is worse than another."""
ONE_SIDED = example([[[2], [1], [-1]]], [[1]], [[1]], "relu", [1])
BOTH_LABELS = example(
    [[[1, 0], [0, 0]], [[-1, 1], [0, 0]]], [[1, 0]], [[1], [-1]], "identity", [1, 2]
)
"""A linear head, and labels 1 and -1."""
BENT = example([[[4, 0], [0, 3]]], [[1, 0], [0, 1]], [[1, 1]], "logistic", [0, 0])
"""For this sum of logistic functions the mean of both tokens is better than either."""
BOTH_BENT = example([[[2], [1]], [[1], [2]]], [[1]], [[1], [-1]], "square", [0])
"""The head x^2 with labels 1 and -1: h_1 is convex, and h_2 concave."""
TURNING = ONE_SIDED | {"loss": "squared"}
"""(1 - u)^2 is less at the value 1 of the second token than at the best one, 2."""
SADDLE = example([[[0, 1], [1, 0], [-1, 0]]], [[1, 0], [0, 1]], [[-1, 1]], "square", [0, -8])
"""The mean of the other tokens is nearer to the best one than they are."""
SIGMOID = example([[[8], [-8]]], [[1]], [[1]], "logistic", [-0.03125])
ONE_TOKEN = example([[[1]]], [[1]], [[1]], "identity", [0])
"""An input of one token: there is no other one to attend to."""

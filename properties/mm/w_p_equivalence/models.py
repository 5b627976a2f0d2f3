"""Models of tokens, weights W and a prompt p, given and drawn."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.losses import LOSSES
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import ANY
from attsvm.strategies import arrays, composite, sizes

ANY_LOSS = (*SLOPED, *(name for name in LOSSES if name not in SLOPED))


@dataclass(frozen=True, slots=True)
class Weighted:
    """Tokens X (n, T, d), scores (n, T), weights W (d, d), a prompt p (d,), a step and a loss."""

    X: Array
    scores: Array
    W: Array
    p: Array
    step: float
    loss: str

    def __post_init__(self) -> None:
        n, T, d = self.X.shape
        fits = self.scores.shape == (n, T) and self.W.shape == (d, d) and self.p.shape == (d,)
        if not fits or 0 in self.X.shape or not self.step > 0.0 or self.loss not in LOSSES:
            raise DataError("the parts of a model do not fit together", value=self.X.shape)


def weighting(X: object, scores: object, W: object, p: object) -> Weighted:
    """Return a model of nested lists, with step 1 and the correlation loss."""
    tokens, gamma, weights, prompt = (np.array(a, dtype=np.float64) for a in (X, scores, W, p))
    return Weighted(tokens, gamma, weights, prompt, 1.0, "correlation")


SKEWED = weighting([[[1, 0], [0, 1], [0, 0]]], [[1, 1, 0]], [[1, 0], [0, 2]], [1, 0])
NO_PROMPT = weighting([[[1], [0]]], [[1, 0]], [[1]], [0])


@composite
def weighted(draw: st.DrawFn) -> Weighted:
    """Draw models of all small sizes; p and W may be zero."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 3))
    X, scores, W, p = (draw(arrays(*shape)) for shape in ((n, T, d), (n, T), (d, d), (d,)))
    step, loss = st.sampled_from(ANY), st.sampled_from(ANY_LOSS)
    return Weighted(X, scores, W, p, draw(step), draw(loss))


@composite
def isotropically(draw: st.DrawFn) -> Weighted:
    """Draw models whose W is a multiple of a signed permutation, possibly of two rotated columns.

    The rotation is by the angle of (3, 4).
    """
    case = draw(weighted())
    d = len(case.p)
    W = np.eye(d)[draw(st.permutations(range(d)))] * np.where(draw(arrays(d)) < 0, -1.0, 1.0)
    if d > 1 and draw(st.booleans()):
        W[:, :2] = W[:, :2] @ np.array([[3.0, -4.0], [4.0, 3.0]])
        W[:, 2:] = 5.0 * W[:, 2:]
    return replace(case, W=draw(st.sampled_from([1.0, 2.0, 0.5])) * W)


def larger(generator: np.random.Generator) -> Weighted:
    """Return a model of sizes up to (4, 5, 5), entries to 1/8."""
    n, T, d = (int(generator.integers(1, top + 1)) for top in (4, 5, 5))

    def part(*shape: int) -> Array:
        return generator.integers(-8, 9, size=shape) / 8.0

    loss, step = str(generator.choice(ANY_LOSS)), float(generator.choice(ANY))
    return Weighted(part(n, T, d), part(n, T), part(d, d), part(d), step, loss)

"""Training W with p fixed beside training a prompt: both runs in floats and in balls."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.descent import descend_p, descend_w
from attsvm.errors import DataError
from attsvm.exact import ExactData, descend, dot, rational, rationals
from attsvm.exact.numbers import Matrix
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.strategies import arrays, sizes
from properties.mm._support.prompt_descent import DECREASING, descend_prompt

__all__ = [
    "Weighted",
    "balls",
    "isotropic_square",
    "isotropically",
    "larger",
    "prompts_of",
    "weighted",
    "weighting",
]

EPS = float(np.finfo(np.float64).eps)


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

    @property
    def data(self) -> AttentionData:
        """Every query is p."""
        return AttentionData(self.X, np.tile(self.p, (len(self.X), 1)), scores=self.scores)


def weighting(
    X: object, scores: object, W: object, p: object, loss: str = "correlation"
) -> Weighted:
    """A model from anything that numpy reads, with step 1."""
    tokens, gamma, weights, prompt = (np.array(a, dtype=np.float64) for a in (X, scores, W, p))
    return Weighted(tokens, gamma, weights, prompt, 1.0, loss)


def isotropic_square(case: Weighted) -> fmpq | None:
    """The c > 0 with W W^T = c I, in rationals; None without."""
    W = rationals(case.W)
    gram = [[dot(a, b) for b in W] for a in W]
    c = gram[0][0]
    same = all(x == (c if r == k else 0) for r, row in enumerate(gram) for k, x in enumerate(row))
    return c if same and c > 0 else None


def prompts_of(
    case: Weighted, steps: int, factor: float, fixed: bool
) -> tuple[Array, Array, float]:
    """The prompts W_k p and q_k, k = 0..steps, and a bound on the rounding of their differences.

    W descends with p fixed. q descends from W p on the tokens with step * factor or, if `fixed`,
    is W p_k, p descending with W fixed.

    The bound: each step errs by its length times the relative error of the gradient, which is a
    multiple of the logits', and by the rounding of the iterate; it is carried on by a factor of
    1 + (step in the prompt) * L at most.
    """
    loss, (n, _, d) = LOSSES[case.loss], case.X.shape
    left = descend_w([case.data], case.W, loss, step=case.step, steps=steps).W[0] @ case.p
    step = case.step * factor
    keys, start = (case.X @ case.W, case.p) if fixed else (case.X, case.W @ case.p)
    data = AttentionData(keys, np.repeat(np.eye(1, d), n, axis=0), scores=case.scores)
    run = descend_p([data], start, loss, step=step, steps=steps).W[0]
    right = run @ case.W.T if fixed else run
    weights = float(np.linalg.norm(case.W))
    curved = risk_smoothness(data, loss) * step
    plain = replace(data, X=case.X) if fixed else data
    curved = max(curved, risk_smoothness(plain, loss) * case.step * float(case.p @ case.p))
    size = weights * float(np.linalg.norm(run if fixed else case.p, axis=-1).max())
    size += float(np.abs(left).max() + np.abs(right).max())
    logit = float(np.linalg.norm(case.X, axis=2).max()) * size
    moved = float(np.abs(np.diff(left, axis=0)).sum() + np.abs(np.diff(right, axis=0)).sum())
    relative = (8 + 2 * float(np.ptp(case.scores))) * (d + 4) * (1 + logit) + sum(case.X.shape)
    error = 8 * EPS * (1.0 + curved) ** steps * (moved * relative + steps * (d + 4) * size)
    return left, right, error


def balls(case: Weighted, steps: int, factor: arb, fixed: bool) -> tuple[Matrix, Matrix] | None:
    """The same prompts in balls, from the exact values."""
    X, W, p = rationals(case.X), rationals(case.W), rationals(case.p)
    data, step = ExactData.of(case.data), rational(case.step)
    left = [[dot(row, p) for row in descend(data, W, case.loss, step, k)] for k in range(steps + 1)]
    if fixed:
        columns = [list(column) for column in zip(*W, strict=True)]
        data = replace(data, X=[[[dot(x, c) for c in columns] for x in rows] for rows in X])
    start = p if fixed else [dot(row, p) for row in W]
    run = descend_prompt(data, start, case.loss, arb(step) * factor, steps)
    if run is None:
        return None
    return left, [[dot(row, x) for row in W] for x in run] if fixed else run


@st.composite
def weighted(draw: st.DrawFn) -> Weighted:
    """Models of all small sizes; p and W may be zero."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 3))
    return Weighted(
        draw(arrays(n, T, d)),
        draw(arrays(n, T)),
        draw(arrays(d, d)),
        draw(arrays(d)),
        draw(st.sampled_from([1.0, 0.5, 0.25])),
        draw(st.sampled_from(DECREASING)),
    )


@st.composite
def isotropically(draw: st.DrawFn) -> Weighted:
    """The same with W a multiple of a signed permutation, or of a rotation by (3, 4)."""
    case = draw(weighted())
    d = len(case.p)
    W = np.eye(d)[draw(st.permutations(range(d)))] * np.where(draw(arrays(d)) < 0, -1.0, 1.0)
    if d > 1 and draw(st.booleans()):
        W[:, :2] = W[:, :2] @ np.array([[3.0, -4.0], [4.0, 3.0]])
        W[:, 2:] = 5.0 * W[:, 2:]
    return replace(case, W=draw(st.sampled_from([1.0, 2.0, 0.5])) * W)


def larger(generator: np.random.Generator) -> Weighted:
    """Up to (4, 5, 5), entries to 1/8."""
    n, T, d = (int(generator.integers(1, top + 1)) for top in (4, 5, 5))

    def part(*shape: int) -> Array:
        return generator.integers(-8, 9, size=shape) / 8.0

    loss = str(generator.choice(DECREASING))
    return Weighted(part(n, T, d), part(n, T), part(d, d), part(d), 0.5, loss)

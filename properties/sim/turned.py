"""Weights X with the query left of X, as definition 3.3 trains them, against the programme's.

Descent on X with logits z^T X x_t is, transposed, descent on W = X^T with logits x_t^T W z, which
the rest of the package follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq, fmpq_mat
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import kron_block, vec
from attsvm.errors import DataError
from attsvm.exact import dot, norm, rational, rationals, spectral_norm
from attsvm.exact.numbers import (
    Matrix,
    is_positive_semidefinite,
    product,
    subtract,
    transpose,
)
from attsvm.losses import LOSSES
from attsvm.strategies import arrays, sizes
from attsvm.theory import Slack
from attsvm.theory.limits import direction_converges
from properties._support.descent_runs import Run, in_basin, max_margin, unique_optimum
from properties._support.growth_rates import arrives
from properties._support.limit_certificates import certified_direction

__all__ = [
    "Margin",
    "Sentence",
    "arrives_turned",
    "cost_of_turning",
    "exact_cost_of_turning",
    "exact_mismatch",
    "margins",
    "mismatch",
    "sentences",
    "starts_in_turned_basin",
    "trained",
    "turned",
]

EPS = float(np.finfo(np.float64).eps)
LOSS = "logistic-loss"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens A of a sentence, and weights X."""

    A: Float[Array, "n d"]
    X: Float[Array, "d d"]

    def __post_init__(self) -> None:
        if self.X.shape != (self.A.shape[1],) * 2 or not self.A.size:
            raise DataError("tokens and weights do not fit each other", value=self.A.shape)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """Sentences of one to four tokens in up to three dimensions."""
    n, d = draw(sizes(1, 4)), draw(sizes(1, 3))
    return Sentence(draw(arrays(n, d)), draw(arrays(d, d)))


def mismatch(case: Sentence, turned: bool, sign: float) -> Slack:
    """Largest difference of a logit gap of definition 3.3 and a constraint of definition 4.1."""
    x, W = vec(case.X), case.X.T if turned else case.X
    worst = 0.0
    for j, query in enumerate(case.A):
        logits = kron_block(case.A, case.A, j) @ x
        features = sign * (case.A @ W @ query)
        gaps = (logits[:, None] - logits) - (features[:, None] - features)
        worst = float(np.maximum(worst, np.abs(gaps).max()))
    size = float((np.abs(case.A) @ np.abs(case.X) @ np.abs(case.A).T).max())
    return Slack.equal(worst, 8 * EPS * (case.X.size + 2 * len(case.X) + 4) * size + 1e-300)


def exact_mismatch(case: Sentence, turned: bool, sign: float) -> fmpq:
    """Minus the same, in rationals."""
    A, X = rationals(case.A), rationals(case.X)
    W = transpose(X) if turned else X
    logits = product(product(A, X), transpose(A))
    features = transpose(product(product(A, W), transpose(A)))
    worst = fmpq(0)
    for mine, other in zip(logits, features, strict=True):
        for o in range(len(A)):
            for t in range(len(A)):
                gap = mine[o] - mine[t] - rational(sign) * (other[o] - other[t])
                worst = max(worst, abs(gap))
    return -worst


def turned(run: Run) -> Run:
    """The same data from the transposed start."""
    return Run(run.data, run.start.T)


def starts_in_turned_basin(run: Run) -> bool:
    """The risk gap of the start, its query on the left, is below the threshold."""
    return in_basin(turned(run), LOSS)


def _goal(run: Run, towards: str, transposed: bool) -> Matrix | None:
    """Where W = X^T has to go so that X, or its transpose, goes to the programme's target."""
    target = max_margin(run.data, towards)
    return target if target is None or transposed else transpose(target)


def trained(run: Run, towards: str, transposed: bool) -> Slack:
    """X(k), or its transpose, converges in direction to the target, by its rate."""
    goal = _goal(run, towards, transposed)
    if goal is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in goal])
    return direction_converges(run.data, run.start.T, LOSSES[LOSS], W)


def arrives_turned(run: Run, towards: str, transposed: bool) -> arb | None:
    """The same by proof: 1 where it does, negative where it does not, None without one."""
    goal = _goal(run, towards, transposed)
    if goal is not None and not unique_optimum(run):
        return arrives(run.data, run.start.T, LOSS, goal)
    return certified_direction(run.data, transpose(rationals(run.start)), LOSS, goal)


@dataclass(frozen=True, slots=True)
class Margin:
    """Weights X, a query z, and a difference D of tokens."""

    X: Float[Array, "d d"]
    z: Float[Array, " d"]
    D: Float[Array, " d"]

    def __post_init__(self) -> None:
        if not self.z.size or self.X.shape != self.z.shape * 2 or self.z.shape != self.D.shape:
            raise DataError("a query and tokens do not fit the weights", value=self.X.shape)


@st.composite
def margins(draw: st.DrawFn) -> Margin:
    """Margins in one to three dimensions, symmetric weights among them."""
    d = draw(sizes(1, 3))
    X = draw(arrays(d, d))
    return Margin(X + X.T if draw(st.booleans()) else X, draw(arrays(d)), draw(arrays(d)))


def _weights(case: Margin, of: str) -> Array:
    result: Array = case.X - case.X.T if of == "difference" else case.X
    return result


def cost_of_turning(case: Margin, share: float, of: str) -> Slack:
    """|z^T X D - D^T X z| <= share ||X - X^T||_2 ||z|| ||D||, or with ||X||_2."""
    left = abs(float(case.z @ case.X @ case.D - case.D @ case.X @ case.z))
    lengths = float(np.linalg.norm(case.z) * np.linalg.norm(case.D))
    right = share * float(np.linalg.norm(_weights(case, of), 2)) * lengths
    size = float(np.abs(case.z) @ np.abs(case.X) @ np.abs(case.D)) * 2 + right
    size += float(np.abs(case.D) @ np.abs(case.X) @ np.abs(case.z))
    return Slack.at_most(left, right, 32 * EPS * len(case.z) * size + 1e-300)


def exact_cost_of_turning(case: Margin, share: float, of: str) -> arb | fmpq:
    """The slack; a rational 0 where both sides are equal, which is decided by their squares."""
    X, z, D = rationals(case.X), rationals(case.z), rationals(case.D)
    left = abs(dot(z, [dot(row, D) for row in X]) - dot(D, [dot(row, z) for row in X]))
    S = X if of == "X" else [subtract(a, b) for a, b in zip(X, transpose(X), strict=True)]
    lengths = rational(share) ** 2 * dot(z, z) * dot(D, D)
    if lengths == 0 or all(x == 0 for row in S for x in row):
        return fmpq(-left)
    level = left * left / lengths
    gap = [
        [(level if i == k else fmpq(0)) - dot(a, b) for k, b in enumerate(S)]
        for i, a in enumerate(S)
    ]
    if is_positive_semidefinite(gap) and fmpq_mat(gap).det() == 0:
        return fmpq(0)
    return arb(rational(share) * spectral_norm(S) * norm(z) * norm(D) - left)

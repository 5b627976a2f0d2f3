"""The decision in balls whether a point is a local minimum: by its gradient, then its curvature."""

import functools
from collections.abc import Callable

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm._witness import Plain, floats, proposed
from attsvm.exact import ExactData, dot, rational, rationals, softmax
from attsvm.exact.attention import logits
from attsvm.exact.losses import loss_curvature, loss_slope
from attsvm.exact.minima import is_positive_definite
from attsvm.exact.numbers import Matrix, Vector
from attsvm.primitives.att_svm import exact_constraints
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.theory import Measured, Slack
from attsvm.theory.arithmetic import BALLS

DOWN = "direction in which the risk bends least"
"""The proposal that `descends` asks for at a stationary point."""


def descends(case: Descent) -> arb | None:
    """Return a positive number if the risk falls from the point, a negative one at a minimum.

    - The norm of the gradient, if it is not 0.
    - Minus a negative curvature, if the gradient is exactly 0.
    - -1 if the Hessian on the span of the (x_o - x_t) z^T is positive definite; the risk is
      constant outside of this span. Also -1 if the risk is constant everywhere.
    - None if this is not decided.
    """
    slope = negative_gradient(BALLS, case.data, case.start, case.loss).matrix.ravel()
    if any(entry != 0 for entry in slope):
        return sum((arb(x) * x for x in slope), arb(0)).sqrt()
    if not all(arb(x).is_exact() for x in slope):
        return None
    H = hessian(case)
    if not H:
        return arb(-1)

    def find() -> Plain:
        values = np.array([[float(arb(x).mid()) for x in row] for row in H])
        return np.linalg.eigh(values)[1][:, 0].tolist()

    vector = [rational(x) for x in floats(proposed(DOWN, find), len(H))]
    least = dot(vector, [dot(row, vector) for row in H])
    if least < 0:
        return -arb(least)
    return arb(-1) if is_positive_definite(H) else None


def rounded(decided: Callable[..., arb | None]) -> Callable[..., Slack]:
    """Return a function for floats that gives the decision of balls; unknown if there is none."""

    @functools.wraps(decided)
    def in_floats(case: Descent, **constants: object) -> Slack:
        ball = decided(case, **constants)
        if ball is None or not ball.is_finite():
            return Slack.unknown("neither slope nor curvature is decided")
        return Slack.below(0.0, float(ball.mid()), float(ball.rad()))

    return in_floats


def hessian(case: Descent) -> Matrix:
    """Return the second derivatives of the risk along independent (x_o - x_t) z^T.

    Inputs whose tokens all score the same are left out.
    """
    exact, W = ExactData.of(case.data), rationals(case.start)
    unequal = [len(set(gamma)) > 1 for gamma in exact.gamma]
    rows = [A for (i, _), A in exact_constraints(exact).items() if unequal[i]]
    basis: list[Vector] = []
    for row in rows:
        if fmpq_mat([*basis, row]).rank() > len(basis):
            basis.append(row)
    total: Matrix = [[arb(0)] * len(basis) for _ in basis]
    for tokens, z, gamma, counted in zip(exact.X, exact.Z, exact.gamma, unequal, strict=True):
        if not counted:
            continue
        values = logits(tokens, W, z)
        even: Vector = [fmpq(1, len(gamma))] * len(gamma)
        weights = even if len(set(values)) == 1 else softmax(values)
        u = dot(weights, gamma)
        c = [s * (g - u) for s, g in zip(weights, gamma, strict=True)]
        d = len(z)
        moved = [logits(tokens, [B[k : k + d] for k in range(0, d * d, d)], z) for B in basis]
        means, slopes = ([dot(part, a) for a in moved] for part in (weights, c))
        first, second = loss_slope(case.loss, u), loss_curvature(case.loss, u)
        for k, a in enumerate(moved):
            for j, b in enumerate(moved):
                bent = dot(c, [x * y for x, y in zip(a, b, strict=True)])
                bent = bent - slopes[k] * means[j] - slopes[j] * means[k]
                total[k][j] += (second * slopes[k] * slopes[j] + first * bent) / len(exact.X)
    return total


MINIMUM = Measured(
    "W is no local minimum of L, as $formula",
    rounded(descends),
    descends,
    strict=True,
    notation=r"\left\|\nabla L(W)\right\| > 0 \text{ or } \lambda_{\min}(\nabla^2 L(W)) < 0",
)

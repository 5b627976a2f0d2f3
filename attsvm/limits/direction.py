"""The limit direction of a run, judged by the growth of residuals and gains."""

from __future__ import annotations

import math

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.exact import ExactAnswer, ExactData, separate
from attsvm.exact.svm import nearest
from attsvm.limits.growth import stays_bounded
from attsvm.limits.settled import three_iterates
from attsvm.losses import Loss
from attsvm.theory.declaration.slack import Slack
from attsvm.training import follow_w

FLOOR = 1e-7
"""Threshold in radians: smaller angles are below the resolution of a curve and count as this."""

GAIN = 1e-3
"""Maximum angle in radians between the gain of a decade and the target that errors explain."""

_MORE = 3
"""Maximum number of further decades for which an undecided run is continued."""

_FADED = 8.0
"""Exponent threshold: a part of the gradient below exp(-8) times the others turns no run."""


def _ray(target: Array) -> Array | Slack:
    """Return the target scaled to norm 1; a slack if it is 0 or not finite."""
    if not np.isfinite(target).all():
        return Slack.unknown("the target is not finite")
    if not target.any():
        return Slack(-1.0, 0.0)  # the zero matrix has no direction
    unit: Array = target / np.linalg.norm(target)
    return unit


def angle_between(W: Array, unit: Array) -> float:
    """Return 2 sin of half the angle of a matrix and a unit matrix, accurate for small angles."""
    return float(np.linalg.norm(W / np.linalg.norm(W) - unit))


def _residual(W: Array, unit: Array) -> float:
    """Return the distance of W from the ray {c * unit : c >= 0}."""
    along = max(float((W * unit).sum()), 0.0)
    return float(np.linalg.norm(W - along * unit))


def residual_stays_bounded(
    data: AttentionData,
    iterates: Float[Array, "k d d"],
    loss: Loss,
    target: Float[Array, "d d"],
    *,
    degenerate: bool = False,
) -> Slack:
    """Judge whether the direction of recorded iterates converges to that of `target`.

    Let r be the distance of W from the ray of `target`. For the right direction r stays bounded
    while the norm grows tenfold twice; for a wrong one r grows in proportion to the norm. The gain
    of W in a decade points along the target up to an angle that decreases like 1/norm. For a wrong
    target this angle stays constant, even if an old residual still hides it. (Angles below 1/1000
    are left to the residual.) The slack is 1/2 minus the larger of the two exponents. A pass
    resolves angles down to residual/norm.

    With `degenerate` the residual may grow like the logarithm of the norm, as it does if a tight
    constraint has multiplier zero. Then a refutation needs gains whose angle has become constant.
    Iterates of any descent are accepted: W, products K Q^T, or prompts as first columns of W, with
    queries e_1. The result is unknown if the norm grew less, or the run has not settled
    (`unsettled`).
    """
    unit = _ray(target)
    if isinstance(unit, Slack):
        return unit
    prepared = three_iterates(data, iterates, loss)
    if isinstance(prepared, Slack):
        return prepared
    result, (first, middle, last) = prepared
    residuals = np.array([_residual(W, unit) for W in (first, middle, last)])
    if degenerate:
        residuals = residuals / np.log(math.e + np.array(result.norms) / result.norms[0])
    bounded = stays_bounded(residuals, result.norms, FLOOR * result.norms[2])
    turned = np.array([angle_between(middle - first, unit), angle_between(last - middle, unit)])
    if bounded.kind == "unknown":
        return bounded
    steady = turned[1] > GAIN and abs(turned[1] / turned[0] - 1.0) <= 0.02
    if degenerate and not steady and not bounded.holds:
        return Slack.unknown("its support is degenerate and its gains still turn")
    if turned[1] <= GAIN:
        return bounded
    ratio = np.log(turned[1] / max(turned[0], GAIN))
    exponent = float(ratio / np.log(result.norms[2] / result.norms[1]))
    if exponent > 0.5:
        return Slack.unknown("its gains began to turn away from the target")
    return Slack(min(bounded.value, -0.5 - exponent), bounded.error)


def direction_converges(
    data: AttentionData, W0: Float[Array, "d d"], loss: Loss, target: Float[Array, "d d"]
) -> Slack:
    """Judge whether the direction of descent from W0 converges to that of `target`.

    The curve of descent is followed by arc length through two decades of the norm, up to a hundred
    times the larger of ||target|| and ||W0||, and judged by `residual_stays_bounded`. A run passes
    at that point only if its gain is along the target, to 1/1000. Otherwise it is judged again a
    decade later, and up to three decades later while it stays undecided. The result is unknown if a
    norm is not reached, or the run has not settled by then.
    """
    unit = _ray(target)
    if isinstance(unit, Slack):
        return unit
    low = float(max(np.linalg.norm(target), np.linalg.norm(W0)))
    goals = [low, 10.0 * low, 100.0 * low]
    iterates = np.empty((0, *W0.shape))
    slack, drift = Slack.unknown("the curve was not followed"), None
    for decade in range(1 + _MORE):
        run = follow_w(data, W0, loss, goals)
        if run.W.shape[1] <= len(goals):
            passed = float(run.norms.max())
            return Slack.unknown(f"the norm did not reach {goals[-1]:.3g} (passed {passed:.3g})")
        iterates = np.concatenate([iterates, run.W[0, 1:]])
        if drift is None:
            drift = drift_of(data, iterates[-1])
        slack = residual_stays_bounded(data, iterates, loss, target, degenerate=drift > 0.0)
        if slack.violated and goals[-1] < 100.0 * drift * np.log(goals[-1]):
            slack = Slack.unknown("its support is degenerate and still drifts like a logarithm")
        if slack.violated and _undecayed(data, iterates[-1]):
            slack = Slack.unknown(
                "a token slightly beyond the margin still matters for the gradient"
            )
        along = angle_between(iterates[-1] - iterates[-2], unit) <= GAIN
        # A slack well above or below 0 ends the run; before the first extra decade it must also
        # agree with the direction of the last gain, which an old residual cannot hide.
        if slack.value - slack.error >= 0.2 and (along or decade):
            break
        if slack.value + slack.error <= -0.2 and decade:
            break
        W0, goals = iterates[-1], [10.0 * goals[-1]]
    return slack


def exact_solution(data: AttentionData, W: Array) -> tuple[ExactData, ExactAnswer] | None:
    """Return the exact answer for the tokens that W selects; None without constraints."""
    exact = ExactData.of(data)
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)
    chosen = [
        max(range(len(kept)), key=lambda t: logits[i, kept[t]]) for i, kept in enumerate(exact.kept)
    ]
    answer = separate(exact, chosen)
    return None if answer is None else (exact, answer)


def _undecayed(data: AttentionData, W: Array) -> bool:
    """Return whether a token that is not a support vector still matters for the gradient at W.

    Support vectors are those of the Local-SVM of the tokens that W selects. The share of a token of
    margin m, relative to the support vectors, is exp(-(m - 1) ||W|| / ||W^mm||).
    """
    result = exact_solution(data, W)
    if result is None:
        return False
    loose = min((nearest(m - 1) for m in result[1].margins if m > 1), default=np.inf)
    return bool(loose * np.linalg.norm(W) < _FADED * nearest(result[1].square) ** 0.5)


def drift_of(data: AttentionData, W: Array) -> float:
    """Return the factor of ln(norm) in the drift of a run; 0 without degenerate support.

    Let A_j be a tight constraint with multiplier zero, decided exactly. W grows like the logarithm
    along the component of A_j orthogonal to the constraints with multipliers. The size is ||A_j||
    ||W^mm|| over the norm of that component.
    """
    result = exact_solution(data, W)
    if result is None or not result[1].degenerate:
        return 0.0
    exact, answer = result
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)
    rows = []
    for i, kept in enumerate(exact.kept):
        best = max(kept, key=lambda t, i=i: logits[i, t])  # type: ignore[misc]
        rows += [
            np.outer(data.X[i, best] - data.X[i, t], data.Z[i]).ravel() for t in kept if t != best
        ]
    A = np.array(rows)
    held = [j for j, w in enumerate(answer.duals) if w != 0]
    basis = np.linalg.qr(A[held].T)[0]
    others = A[answer.degenerate]
    across = np.linalg.norm(others - (others @ basis) @ basis.T, axis=1)
    size = np.linalg.norm(others, axis=1) * float(answer.square) ** 0.5
    with np.errstate(divide="ignore"):
        return float((size / across).max())

"""Gradient descent in balls: the true iterates are enclosed, so what they prove is proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flint import arb, fmpq

from attsvm.exact.attention import deficit, logits, loss_drop, loss_slope, risk_gap, softmax
from attsvm.exact.numbers import ExactData, Matrix, dot
from attsvm.exact.svm import separate
from attsvm.exact.traps import trapped_at

__all__ = ["Fate", "certified_fate", "descend", "gradient", "threshold"]


def gradient(data: ExactData, W: Matrix, loss: str) -> Matrix:
    """Gradient of the risk in W, from differences to the optimal token's score."""
    rows, columns = len(W), len(data.Z[0])
    total: Matrix = [[arb(0)] * columns for _ in range(rows)]
    n = len(data.X)
    for i, tokens in enumerate(data.X):
        z, best = data.Z[i], max(data.gamma[i])
        s = softmax(logits(tokens, W, z))
        missing = deficit(data, i, s)
        slope = loss_slope(loss, arb(best) - missing) / n
        weights = [slope * s[t] * (missing - (best - g)) for t, g in enumerate(data.gamma[i])]
        pulled = [dot(weights, [x[r] for x in tokens]) for r in range(rows)]
        for r in range(rows):
            for c in range(columns):
                total[r][c] = total[r][c] + pulled[r] * z[c]
    return total


def descend(data: ExactData, W0: Matrix, loss: str, step: fmpq, steps: int) -> Matrix:
    """Enclosure of the iterate after `steps` steps of size `step` from the exact start W0."""
    W = W0
    for _ in range(steps):
        W = _advance(data, W, loss, step)
    return W


def _advance(data: ExactData, W: Matrix, loss: str, step: fmpq) -> Matrix:
    G = gradient(data, W, loss)
    return [
        [arb(w) - arb(step) * g for w, g in zip(row, other, strict=True)]
        for row, other in zip(W, G, strict=True)
    ]


def threshold(data: ExactData, loss: str) -> arb | None:
    """Min over inputs of (1/n) [l(second-best score) - l(best score)].

    Below this risk gap every input's attended score exceeds its second-best one. None where
    no input has two scores.
    """
    least: arb | None = None
    for gamma in data.gamma:
        best = max(gamma)
        others = [g for g in gamma if g != best]
        if not others:
            continue
        drop = loss_drop(loss, best, best - max(others)) / len(data.gamma)
        least = drop if least is None else least.min(drop)
    return least


@dataclass(frozen=True, slots=True)
class Fate:
    """What is proved of a run of descent for all time.

    Attributes:
        step: the step at which the proof was closed.
        selected: rows of the tokens that the inputs select for ever.
        converges: whether the direction is proved to converge to the Frobenius solution for the
            optimal tokens.
        reason: `basin` or `trap`.
    """

    step: int
    selected: list[int]
    converges: bool
    reason: Literal["basin", "trap"]


def certified_fate(data: ExactData, W0: Matrix, loss: str, step: fmpq, steps: int) -> Fate | None:
    """Run descent on a decreasing loss in balls until its fate is proved.

    Basin: for a smooth decreasing loss, unique optimal tokens, a feasible Att-SVM (both decided
    here) and a step of at most 1/smoothness (the caller's part) the risk decreases for ever; once
    its gap is below the threshold every input keeps <s, gamma> above its second-best score. There
    -<grad L, W^mm> > 0, so no stationary point is near, the norm diverges and the direction
    converges to that of W^mm.
    Trap: see `attsvm.exact.traps.trapped_at`. Both are tried at steps 0, 1, 2, 4, 8, ...; None
    where neither closed, or where the enclosures grew too wide for the working precision.
    """
    bound = threshold(data, loss)
    if bound is None:
        return None
    best = [rows[0] for rows in data.optimal]
    solved = separate(data, best) if data.unique else None
    separable = solved is not None and solved.status == "solved"
    W, next_check = W0, 0
    for k in range(steps + 1):
        if k == next_check or k == steps:
            gap = risk_gap(data, W, loss)
            if not gap.is_finite() or gap.rad() > bound:
                return None
            if separable and gap < bound:
                return Fate(k, best, True, "basin")
            chosen = trapped_at(data, W, loss)
            if chosen is not None:
                return Fate(k, chosen, False, "trap")
            next_check = max(1, 2 * k)
        if k < steps:
            W = _advance(data, W, loss, step)
    return None

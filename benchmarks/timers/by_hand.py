"""Claims with their conclusions as one would write them by hand, for numpy and for torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Sides = tuple[Any, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A claim whose conclusion is a closed form.

    Attributes:
        claim: its id.
        shape: of the instances, by axis.
        sides: left and right side by hand, from numpy or torch and the variables (batch, ...).
    """

    claim: str
    shape: Mapping[str, int]
    sides: Callable[[Any, Values], Sides]

    @property
    def sizes(self) -> str:
        """Return the shape in words."""
        return ", ".join(f"{name} = {size}" for name, size in self.shape.items())


def _norm(xp: Any, x: Any) -> Any:
    return xp.sqrt(xp.sum(x * x, -1))


def _attention(xp: Any, A: Any, x: Any) -> Any:
    logits = xp.einsum("...nd,...d->...n", A, x)
    powers = xp.exp(logits - xp.amax(logits, -1)[..., None])
    return powers / xp.sum(powers, -1)[..., None]


def _slope(xp: Any, x: Any) -> Any:
    e = xp.exp(-xp.abs(x))
    return e / ((1 + e) * (1 + e))


def _lemma_12(xp: Any, v: Values) -> Sides:
    left = xp.abs(_slope(xp, v["x"]) - _slope(xp, v["y"]))
    return left, xp.abs(v["x"] - v["y"]) / (6 * math.sqrt(3))


def _gradient(xp: Any, v: Values, x: Any) -> Any:
    f, h, b = _attention(xp, v["A"], x), v["h"], v["b"]
    mean = xp.sum(f * h, -1)
    along = xp.einsum("...nd,...n->...d", v["A"], f * (h - mean[..., None]))
    return (b * _slope(xp, b * mean))[..., None] * along


def _lemma_13(xp: Any, v: Values) -> Sides:
    left = _norm(xp, _gradient(xp, v, v["x"]) - _gradient(xp, v, v["y"]))
    n, R = v["A"].shape[-2], v["R"]
    return left, 3 * n**3 * R**7 * xp.exp(13 * R * R) * _norm(xp, v["x"] - v["y"])


def _stability(xp: Any, v: Values) -> Sides:
    h, b = v["h"], v["b"]

    def loss(x: Any) -> Any:
        return (xp.sum(_attention(xp, v["A"], x) * h, -1) - b) ** 2

    size = _norm(xp, h)
    bound = xp.linalg.svd(v["A"], False)[1][..., 0] * size * (size + xp.abs(b))
    return xp.abs(loss(v["x"]) - loss(v["y"])), bound * _norm(xp, v["x"] - v["y"])


def _bound_4(xp: Any, v: Values) -> Sides:
    A = v["A"]
    left = _norm(xp, _attention(xp, A, v["x"]) - _attention(xp, A, v["y"]))
    apart = _norm(xp, A[..., :, None, :] - A[..., None, :, :])
    spread = xp.amax(apart, (-2, -1)) / math.sqrt(2)
    return left, spread / 2 * _norm(xp, v["x"] - v["y"])


CASES = (
    Case("sim/lemma-3.12:sharp", {}, _lemma_12),
    Case("sim/lemma-3.13:amended", {"n": 2, "D": 1}, _lemma_13),
    Case("sim/lemma-3.13:amended", {"n": 4, "D": 3}, _lemma_13),
    Case("sim/stability-l2:sharp-1", {"n": 2, "D": 2}, _stability),
    Case("sim/stability-l2:sharp-1", {"n": 4, "D": 3}, _stability),
    Case("sim/basic-4:sharp", {"n": 2, "D": 2}, _bound_4),
    Case("sim/basic-4:sharp", {"n": 4, "D": 3}, _bound_4),
)


def heights(xp: Any, case: Case, values: Values) -> Any:
    """Return the ratio of the sides."""
    left, right = case.sides(xp, values)
    return left / right


def step_by_hand(xp: Any, W: Any, X: Any, Z: Any, scores: Any) -> Any:
    """Return W after a normalised step of 0.1 on the log-loss of runs (..., d, d)."""
    logits = xp.einsum("...ntd,...de,...ne->...nt", X, W, Z)
    powers = xp.exp(logits - xp.amax(logits, -1)[..., None])
    f = powers / xp.sum(powers, -1)[..., None]
    mean = xp.sum(f * scores, -1)[..., None]
    along = f * (scores - mean) / (1 + xp.exp(mean))
    slope = xp.einsum("...nt,...ntd,...ne->...de", along, X, Z)
    size = xp.sqrt(xp.sum(slope * slope, (-2, -1)))[..., None, None]
    return W + 0.1 * slope / size

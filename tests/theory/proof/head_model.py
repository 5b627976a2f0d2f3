"""Steps of descent under a head as a model of the letters of `head_letters`."""

from typing import Any

import numpy as np
from flint import arb
from scipy.special import expit

from attsvm._types import Array
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as runs
from attsvm.primitives.heads import ACTIVATIONS
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.proof.terms import REAL, VECTOR
from properties.tf.generalised_svm import head_letters as letters
from properties.tf.generalised_svm.head_descent import HeadSteps
from tests.theory.proof.evaluation import Model

STEPS = 5


def _value(part: Any, *numbers: float) -> float:
    return float(arb(part(BALLS, *map(BALLS.values, numbers))).mid())


def _direction(case: HeadSteps) -> Array:
    """Return A = (x_1 - x_2) z^T."""
    return np.outer(case.X[0] - case.X[1], case.z).ravel()


def _run(case: HeadSteps) -> list[Array]:
    """Return the matrices of descent on W, from the multiple of A with the lead of the case."""
    loss, phi, A = LOSSES[case.loss], ACTIVATIONS[case.phi], _direction(case)
    W = [A * (case.start / (A @ A) if A.any() else 0.0)]
    for _ in range(STEPS):
        s = expit(A @ W[-1])
        seen = case.A @ (s * case.X[0] + (1 - s) * case.X[1])
        h = case.b @ [_value(phi.value, x) for x in seen]
        slopes = case.b * [_value(phi.slope, x) for x in seen]
        rise = slopes @ (case.A @ (case.X[0] - case.X[1]))
        W.append(W[-1] - case.size * loss.slope(np.array([h])).item() * rise * s * (1 - s) * A)
    return W


def leads(case: HeadSteps) -> Array:
    """Return the sizes of the leads."""
    return np.abs([_direction(case) @ W for W in _run(case)])


def model_of(case: HeadSteps) -> Model:
    """Return the model of descent on W."""
    loss, phi, A, W = LOSSES[case.loss], ACTIVATIONS[case.phi], _direction(case), _run(case)
    scores = [case.b @ [_value(phi.value, x) for x in case.A @ token] for token in case.X]
    values = {
        runs.LOW: min(scores),
        runs.HIGH: max(scores),
        runs.RATE: float(case.size),
        letters.BEND: 0.0 if phi.bend is None else _value(phi.bend),
        letters.A: A,
        letters.FIRST: case.X[0],
        letters.SECOND: case.X[1],
        letters.QUERY: case.z,
    }
    functions: dict[Any, Any] = {
        runs.LOSS: lambda u: loss.value(np.array([u])).item(),
        runs.FALL: lambda u: -loss.slope(np.array([u])).item(),
        runs.W: W.__getitem__,
        runs.COUNT: float,
        letters.PHI: lambda x: _value(phi.value, x),
        letters.STEEP: lambda x: -_value(phi.slope, x),
        letters.INNER: case.A.__getitem__,
        letters.OUTER: case.b.__getitem__,
    }
    for term, value in values.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    vectors = [*np.random.default_rng(0).normal(size=(3, len(A))), A, *W[1:3]]
    samples = {REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0], VECTOR: vectors}
    return Model(functions, {letters.UNIT: range(len(case.b))}, STEPS, samples, floor=1e-12)

"""A matrix on data with a loss as a model of the letters of `properties/tf/lemma_2_limit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from attsvm.exact import ExactData
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as runs
from attsvm.primitives.att_svm import flat
from attsvm.theory.proof.terms import REAL, VECTOR
from properties.tf.lemma_2_limit import letters
from properties.tf.lemma_2_limit.points import Point, separation
from tests.theory.proof.evaluation import Model

FLOOR = 1e-9
"""A share by which rounding may change the logits of M."""


def largest_logit(case: Point) -> float:
    """Return a bound of the logits at W and at y M."""
    answer, n = separation(case.data), range(case.data.n)
    norm = 0.0 if answer is None else float(answer.square) ** 0.5
    keys = (np.linalg.norm(np.outer(x, case.data.Z[i])) for i in n for x in case.data.X[i])
    return float(max(keys) * max(np.linalg.norm(case.W), np.abs(case.W).max() * norm))


def model_of_point(case: Point) -> Model:
    """Return the model of an instance; rivals are the tokens of lower score, and M may be 0."""
    data, exact, loss = case.data, ExactData.of(case.data), LOSSES[case.loss]
    tied = [{kept[k] for k in best} for kept, best in zip(exact.kept, exact.optimal, strict=True)]
    tokens = [(i, t) for i, kept in enumerate(exact.kept) for t in kept]
    answer = separation(data)
    M = np.zeros(data.d**2)
    if answer is not None:
        M = np.array([float(x.p) / float(x.q) for x in flat(answer.W)])
    W, scores = np.asarray(case.W, dtype=float).ravel(), data.gamma
    keys = {(i, t): np.outer(data.X[i, t], data.Z[i]).ravel() for i, t in tokens}
    known = [float(scores[t]) for t in tokens]
    functions: dict[Any, Any] = {
        runs.OWNER: lambda j: j[0],
        runs.GAMMA: lambda j: float(scores[j]),
        runs.BEST: lambda i: max(float(scores[i, t]) for t in tied[i]),
        runs.LOSS: lambda u: loss.value(np.array([float(u)])).item(),
        runs.W: lambda _: W,
        letters.OF: lambda o: o[0],
        letters.BEST_KEY: keys.__getitem__,
        letters.KEY: keys.__getitem__,
    }
    constants = {
        runs.LOW: min(known),
        runs.HIGH: max(known),
        letters.M: M,
        letters.SIZE: float(np.abs(W).max()),
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    sets: dict[Any, Any] = {
        runs.INPUT: range(data.n),
        runs.RIVAL: [(i, t) for i, t in tokens if t not in tied[i]],
        letters.OPTIMAL: [(i, t) for i, t in tokens if t in tied[i]],
    }
    vectors = [*np.random.default_rng(0).normal(size=(3, M.size)), W, M * (1 + FLOOR), 2 * M]
    levels = [min(known) - 1, *np.linspace(min(known), max(known), 5), max(known) + 1]
    samples = {REAL: levels, VECTOR: vectors}
    return Model(functions, sets, 2, samples, floor=1e-12)

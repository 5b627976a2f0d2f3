"""A run of descent as a model of the letters of linked proofs, in floats.

Facts of a proof are evaluated in this model. A fact that is false there reveals a fault; see
`attsvm.theory.proof.evaluation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.exact import ExactData
from attsvm.exact.descent import smoothness
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.svm import att_svm
from attsvm.theory.proof.evaluation import Model
from attsvm.theory.proof.terms import POSITIVE, REAL, VECTOR

_SLACK = 1e-3
"""Relative distance of the bounds of |l'| to its extreme values on a grid."""


def model_of(run: Descent, steps: int = 40, seed: int = 0) -> Model:
    """Return the model of a run with unique optimal tokens and a feasible Att-SVM.

    Args:
        run: the run; its loss is one of `attsvm.losses`.
        steps: number of steps.
        seed: seed of the generator that draws vectors.

    Returns:
        The model. Its rivals are pairs of input and token, and its matrices are flattened.
    """
    data, loss = run.data, LOSSES[run.loss]
    gamma = np.where(data.present, data.gamma, -np.inf)
    best = gamma.argmax(axis=1)
    rivals = [
        (i, t) for i in range(data.n) for t in range(data.T) if data.present[i, t] and t != best[i]
    ]
    A = {(i, t): np.outer(data.X[i, best[i]] - data.X[i, t], data.Z[i]).ravel() for i, t in rivals}
    L = float(smoothness(ExactData.of(data), run.loss))
    rate = run.step / L if L > 0 else run.step
    iterates, sums = _iterates(run, gamma, best, A, rate, steps)
    known = gamma[data.present]
    low, high = float(known.min()), float(known.max())
    grid = -loss.slope(np.linspace(low, high, 2001))
    V = att_svm(data).W.ravel() if rivals else np.zeros(data.d**2)
    generator = np.random.default_rng(seed)
    margins = [min(a @ W for a in A.values()) for W in iterates if A]
    vectors = [
        *generator.normal(size=(4, V.size)),
        *(V, 2 * V, *iterates[:2]),
        *(W / m for W, m in zip(iterates, margins, strict=False) if m > 0),
    ]

    def settled(off: float) -> float:
        """Return a bound of ||W|| - (1 + off) S along the run."""
        N, S, largest = float(np.linalg.norm(V)), 0.0, 0.0
        for present, P in zip(iterates, sums, strict=True):
            largest = max(largest, float(np.linalg.norm(present)) - (1 + off) * S)
            S += rate * P / N
        return largest

    functions: dict[Any, Any] = {
        letters.OWNER: lambda j: j[0],
        letters.A: A.__getitem__,
        letters.GAMMA: lambda j: float(gamma[j]),
        letters.BEST: lambda i: float(gamma[i].max()),
        letters.LOSS: lambda u: loss.value(np.array([u])).item(),
        letters.FALL: lambda u: -loss.slope(np.array([u])).item(),
        letters.W: iterates.__getitem__,
        "least fall": lambda: float(grid.min()) * (1 - _SLACK),
        "most fall": lambda: float(grid.max()) * (1 + _SLACK),
        "slack": settled,
    }
    constants = {"lowest": low, "highest": high, "e": rate, "L": max(L, 0.0), "V": V}
    named = {f"{one}": one for one in (letters.LOW, letters.HIGH, letters.RATE)}
    named |= {f"{one}": one for one in (letters.SMOOTHNESS, letters.V)}
    for name, term in named.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda name=name: constants[name]  # type: ignore[attr-defined]
    return Model(
        functions=functions,
        sets={letters.INPUT: range(data.n), letters.RIVAL: rivals},
        steps=steps,
        samples={
            REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0],
            POSITIVE: [0.125, 0.5, 1.0, 4.0],
            VECTOR: vectors,
        },
        letters={"x": [*np.linspace(low, high, 9), low - 1.0, high + 1.0]},
    )


def _iterates(
    run: Descent,
    gamma: Array,
    best: Array,
    A: dict[tuple[int, int], Array],
    rate: float,
    steps: int,
) -> tuple[list[Array], list[float]]:
    """Return W at each step, by softmax over the margins of rivals, and the sum of the p_j."""
    loss, n = LOSSES[run.loss], run.data.n
    W = np.asarray(run.W, dtype=float).ravel().copy()
    result, sums = [], []
    for _ in range(steps):
        result.append(W)
        move, whole = np.zeros_like(W), 0.0
        for i in range(n):
            own = [j for j in A if j[0] == i]
            powers = np.array([1.0, *(np.exp(-A[j] @ W) for j in own)])
            shares = powers / powers.sum()
            scores = np.array([gamma[i, best[i]], *(gamma[j] for j in own)])
            u = float(shares @ scores)
            for j, s in zip(own, shares[1:], strict=True):
                p = -loss.slope(np.array([u])).item() * s * (u - gamma[j]) / n
                move, whole = move + p * A[j], whole + p
        W = W + rate * move
        sums.append(whole)
    return result, sums

"""A run of descent on K and Q as a model of the letters of linked proofs, in floats."""

from dataclasses import replace
from typing import Any

import numpy as np

from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.theory.proof.terms import VECTOR
from properties._support import factor_letters as factors
from tests.theory.proof.descent_model import model_of
from tests.theory.proof.evaluation import Model


def model_of_factors(run: Descent, steps: int) -> Model:
    """Return the model of a run on K and Q; see `properties._support.factor_letters`."""
    model, data = model_of(replace(run, inputs=run.data, start=run.W), steps=2), run.data
    gradient = model.functions[letters.GRADIENT]
    (atom,) = letters.RATE.atoms
    rate = model.functions[atom.function]()  # type: ignore[attr-defined]
    pairs = [(np.asarray(run.start[0], dtype=float), np.asarray(run.start[1], dtype=float))]
    for _ in range(steps):
        K, Q = pairs[-1]
        G = gradient((K @ Q.T).ravel()).reshape(data.d, data.d)
        pairs.append((K - rate * G @ Q, Q - rate * G.T @ K))
    best, unit = np.where(data.present, data.gamma, -np.inf).argmax(axis=1), np.eye(data.d)

    def apart(j: tuple[int, int]) -> np.ndarray:
        D: np.ndarray = data.X[j[0], best[j[0]]] - data.X[j]
        return D

    functions: dict[Any, Any] = {
        **model.functions,
        letters.W: lambda k: (pairs[k][0] @ pairs[k][1].T).ravel(),
        factors.KEYS: lambda r, k: pairs[k][0][r],
        factors.QUERIES: lambda c, k: pairs[k][1][c],
        factors.APART: lambda j, r: float(apart(j)[r]),
        factors.ASKED: lambda i, c: float(data.Z[i, c]),
        factors.KEYED: lambda j, k: pairs[k][0].T @ apart(j),
        factors.TURNED: lambda j, k: pairs[k][1].T @ data.Z[j[0]],
        factors.KEY_MOVED: lambda r, y, k: np.outer(unit[r], pairs[k][1] @ y).ravel(),
        factors.QUERY_MOVED: lambda c, y, k: np.outer(pairs[k][0] @ y, unit[c]).ravel(),
    }
    drawn = np.random.default_rng(0).normal(size=(4, run.start.shape[2]))
    vectors = [*model.samples[VECTOR], *(functions[letters.W](k) for k in range(2))]
    return replace(
        model,
        functions=functions,
        sets={**model.sets, factors.ROW: range(data.d), factors.COLUMN: range(data.d)},
        steps=steps,
        samples={**model.samples, VECTOR: vectors},
        letters={
            **model.letters,
            "y": [*drawn, pairs[0][0][0]],
            "b": [x * _squares(run)[0] for x in (0.5, 1.0, 1.25, 3.0)],
        },
    )


def _squares(run: Descent) -> tuple[float, float, float]:
    """Return ||S||^2 and ||R||^2 at the start, and 4 ||D|| ||z||, for the first two tokens.

    See `symbolic.sim.kq_bias`.
    """
    order = np.argsort(-run.data.gamma[0, :2])
    D, z = run.data.X[0, order[0]] - run.data.X[0, order[1]], run.data.Z[0]
    a, b = np.linalg.norm(D), np.linalg.norm(z)
    P, U = (M.T @ x for M, x in zip(run.start, (D, z), strict=True))
    S, R = b * P + a * U, b * P - a * U
    return float(S @ S), float(R @ R), float(4 * a * b)


def gentle(run: Descent) -> bool:
    """Return whether the exponents of the proof stay within floats."""
    s, q, lengths = _squares(run)
    return s > 0 and q <= 16 * s and s <= 16 * lengths

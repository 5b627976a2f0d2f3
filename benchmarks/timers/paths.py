"""Regularisation paths beside general solvers.

min L(W) over ||W||_F <= R, and over (K, Q), on the sources' protocol (n, T, d) = (6, 8, 10), with
log-loss. The alternatives are the two obvious ones. One is scipy's SLSQP on L(W) with the
constraint and our gradient. The other is projected descent in torch (autograd, 500 steps along the
normalised gradient, of sizes from R / 2 on a cosine down to 0); its best iterate counts. Both have
`STARTS` Gaussian starts, ours has its usual ones, and all are graded by the same code: log(L - L_*)
and the first-order residual, in the log domain, from the point alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize

from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.paths import path_kq, path_w
from attsvm.paths.grades import stationarity
from attsvm.paths.objective import GapObjective, differences
from attsvm.risk import gradient_w, normalised_gradient, risk
from benchmarks.timers.svm import data_sets
from benchmarks.timers.timing import Timer, Way

torch.set_num_threads(1)
RADII, SETS, STARTS = (1.0, 10.0, 100.0, 1e3, 1e4), 3, 10


def slsqp(data: AttentionData, R: float, start: Any) -> Any:
    """Return the end of one start of scipy's SLSQP."""
    d = data.d
    answer = minimize(
        lambda x: risk(data, x.reshape(d, d), LOG_LOSS),
        (start * R / np.linalg.norm(start)).ravel(),
        jac=lambda x: gradient_w(data, x.reshape(d, d), LOG_LOSS).ravel(),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda x: R * R - x @ x, "jac": lambda x: -2.0 * x}],
        options={"maxiter": 200, "ftol": 1e-15},
    )
    W = answer.x.reshape(d, d)
    return W * min(1.0, R / np.linalg.norm(W))


def projected(data: AttentionData, R: float, start: Any) -> Any:
    """Return the best iterate of one start of projected descent through autograd."""
    W = torch.tensor(start * R / np.linalg.norm(start), requires_grad=True)
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    best, value = W.detach().clone(), np.inf
    for k in range(500):
        W.grad = None
        s = torch.softmax((X @ (W @ Z.T).T[..., None])[..., 0], dim=1)
        loss = torch.nn.functional.softplus(-(s * gamma).sum(dim=1)).mean()
        if loss.item() < value:
            best, value = W.detach().clone(), loss.item()
        loss.backward()
        with torch.no_grad():
            step = 0.25 * R * (1.0 + np.cos(np.pi * k / 500))
            W -= step * W.grad / torch.linalg.norm(W.grad).clamp(min=1e-300)
            W *= torch.clamp(R / torch.linalg.norm(W), max=1.0)
    return best.numpy()


def grade(data: AttentionData, R: float, W: Any) -> tuple[float, float]:
    """Return log(L - L_*) and the residual of a point."""
    D, Z = differences(data, objective := GapObjective.of(data, LOG_LOSS))
    value = objective.value(((D @ W) * Z).sum(axis=1))
    result = normalised_gradient(data.X, data.Z, data.gamma, W, LOG_LOSS)
    return value, stationarity(W, result.matrix, R)


def best(method: Callable[..., Any], data: AttentionData) -> list[tuple[float, float]]:
    """Return the grade of the best of several starts of an alternative at each radius."""
    results = []
    with np.errstate(all="ignore"):
        for R in RADII:
            draw = np.random.default_rng(0)
            points = [method(data, R, draw.normal(size=(data.d, data.d))) for _ in range(STARTS)]
            results.append(min(grade(data, R, W) for W in points))
    return results


def _grades(cases: Sequence[Any], ours: Sequence[Any], others: Mapping[str, list[Any]]) -> str:
    """Return a text: how far above our value each alternative ends, and the largest residuals."""
    gaps = np.array([[m.log_gap for m in path] for path in ours])
    words = [f"residual {max(m.residual for path in ours for m in path):.1e}"]
    for name, result in others.items():
        grades = np.array(result)
        above = np.median(grades[..., 0] - gaps, axis=0)
        by_radius = ", ".join(f"{x:.3g}" for x in above)
        words.append(
            f"{name}: log gap above ours by {by_radius}, residual {grades[..., 1].max():.1e}"
        )
    return "; ".join(words)


def paths() -> Iterator[Timer]:
    """Yield timers of whole paths over W and over (K, Q)."""
    methods = {"SLSQP": slsqp, "torch": projected}
    rivals = {name: Way(partial(best, method), runs=1) for name, method in methods.items()}
    for what, path, others in (("W", path_w, rivals), ("(K, Q)", path_kq, {})):
        ours = Way(lambda data, path=path: path(data, LOG_LOSS, list(RADII)), runs=1)
        name, sizes = f"path over {what}", f"(6, 8, 10), {len(RADII)} radii"
        yield Timer(name, sizes, partial(data_sets, (6, 8, 10), SETS), ours, others, _grades)

"""Regularisation paths against general solvers: `python -m benchmarks.paths [--json FILE]`.

min L(W) over ||W||_F <= R, and over (K, Q), on the sources' protocol (n, T, d) = (6, 8, 10), with
log-loss. The rivals are what one would write: scipy's SLSQP on L(W) with the constraint and our
gradient, and projected descent in torch (autograd, 500 steps along the normalised gradient, from
R / 2 on a cosine down to 0, the best iterate). Both have ten Gaussian starts unless `--starts` says
otherwise, and all are graded by the same code: log(L - L_*) and the first-order residual, in the
log domain, from the point alone. Ours has the starts that it has by default; its seconds are those
of the whole path over the number of radii. One thread.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

import statistics
import time
from collections.abc import Callable, Iterator
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
from benchmarks.timing import Row, asked, keep, shown
from properties._support.published_data import gaussian_protocol

torch.set_num_threads(1)
Cell = tuple[float, float, float, int, int]
"""Seconds, log gap, residual, starts that agree, and starts."""


def slsqp(data: AttentionData, R: float, start: Any) -> Any:
    """One start of scipy's SLSQP."""
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
    """One start of projected normalised gradient descent through autograd."""
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
    """log(L - L_*) and the residual of a point."""
    D, Z = differences(data, objective := GapObjective.of(data, LOG_LOSS))
    value = objective.value(((D @ W) * Z).sum(axis=1))
    found = normalised_gradient(data.X, data.Z, data.gamma, W, LOG_LOSS)
    return value, stationarity(W, found.matrix, R)


def row(name: str, R: float, cells: list[Cell]) -> Row:
    """Medians, and how many starts agree."""
    seconds, gaps, residuals, agreeing, starts = zip(*cells, strict=True)
    return {
        "what": name,
        "R": R,
        "seconds": statistics.median(seconds),
        "log_gap": statistics.median(gaps),
        "residual": max(residuals),
        "agree": f"{sum(agreeing)}/{sum(starts)}",
    }


def rival(method: Callable[..., Any], data: AttentionData, R: float, starts: int) -> Cell:
    """The best of several starts of a rival."""
    generator = np.random.default_rng(0)
    begun = time.perf_counter()
    points = [method(data, R, generator.normal(size=(data.d, data.d))) for _ in range(starts)]
    taken = time.perf_counter() - begun
    grades = [grade(data, R, W) for W in points]
    best = min(grades)
    agreeing = sum(g[0] <= best[0] + 1e-6 * max(1.0, abs(best[0])) for g in grades)
    return taken, best[0], best[1], agreeing, starts


def rows(options: Any) -> Iterator[Row]:
    """Paths of ours and of the rivals, radius by radius."""
    sets = [gaussian_protocol(np.random.default_rng(s)) for s in range(options.sets)]
    radii = [1.0, 10.0, 100.0, 1e3, 1e4]
    path_w(sets[0], LOG_LOSS, [1.0])
    path_kq(sets[0], LOG_LOSS, [1.0])
    ours: dict[str, Callable[..., Any]] = {"ours, W": path_w, "ours, (K, Q)": path_kq}
    for name, path in ours.items():
        cells: dict[float, list[Cell]] = {R: [] for R in radii}
        excess = dict.fromkeys(radii, 0.0)
        for data in sets:
            begun = time.perf_counter()
            found = path(data, LOG_LOSS, radii)
            each = (time.perf_counter() - begun) / len(radii)
            for m in found:
                cells[m.radius].append((each, m.log_gap, m.residual, m.agreeing, len(m.attempts)))
                excess[m.radius] = max(excess[m.radius], m.excess)
        yield from (row(name, R, cells[R]) | {"excess": excess[R]} for R in radii)
    for name, method in (("SLSQP, W", slsqp), ("torch, W", projected)):
        for R in radii:
            with np.errstate(all="ignore"):
                yield row(name, R, [rival(method, x, R, options.starts) for x in sets])


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    options = asked(__doc__, sets=3, starts=10)
    columns = {"what": "<14", "R": ">8.0f", "seconds": ">10.3f", "log_gap": ">12.3f"}
    columns |= {"residual": ">10.1e", "agree": ">9", "excess": ">10.1e"}
    keep(options.json, rows=shown(columns, rows(options)))


if __name__ == "__main__":
    main()

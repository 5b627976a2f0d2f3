"""Ensembles of descent against a plain PyTorch loop: `python benchmarks/descent.py [--json FILE]`.

The rival is what everyone writes: a module, softmax, autograd and SGD on one data set at a time,
here with the gradient divided by its norm. Data are those of the sources' protocol (n, T, d) =
(6, 8, 10), float64, log-loss, normalised steps of 0.1 from zero, or from one Gaussian (K, Q).
Ours runs `--sets` data sets for `--steps` steps in one call. The rival runs `--rival-sets` of
them for as many steps, and its time is scaled by the number of sets. Everything runs on one
thread but for the row that says two.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attsvm.data import AttentionData
from attsvm.descent import descend_kq, descend_w, follow
from attsvm.losses import LOG_LOSS
from properties.instances import gaussian_protocol

torch.set_num_threads(1)


def loop(data: AttentionData, parameters: list[Any], steps: int, step: float) -> Any:
    """One data set through autograd: W alone, or W = K Q^T."""
    leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    for _ in range(steps):
        for leaf in leaves:
            leaf.grad = None
        W = leaves[0] if len(leaves) == 1 else leaves[0] @ leaves[1].T
        s = torch.softmax((X @ (W @ Z.T).T[..., None])[..., 0], dim=1)
        torch.nn.functional.softplus(-(s * gamma).sum(dim=1)).mean().backward()
        with torch.no_grad():
            size = torch.sqrt(sum((leaf.grad**2).sum() for leaf in leaves))  # type: ignore[misc]
            for leaf in leaves:
                leaf -= step * leaf.grad / size
    return (leaves[0] if len(leaves) == 1 else leaves[0] @ leaves[1].T).detach().numpy()


def seconds(action: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """Median time, and the last result."""
    times, result = [], None
    for _ in range(runs):
        start = time.perf_counter()
        result = action()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rival-sets", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    sets = [gaussian_protocol(np.random.default_rng(s)) for s in range(options.sets)]
    d = sets[0].d
    zero = np.zeros((d, d))
    K, Q = np.random.default_rng(0).normal(size=(2, d, d)) / d
    common = {"step": 0.1, "steps": options.steps, "normalised": True}
    early = min(100, options.steps)  # later the rival's gradient loses its digits
    kept = [early, options.steps]
    kinds: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "W": (lambda s, **o: descend_w(s, zero, LOG_LOSS, record=kept, **common, **o), [zero]),
        "(K, Q)": (
            lambda s, **o: descend_kq(s, K, Q, LOG_LOSS, record=kept, **common, **o),
            [K, Q],
        ),
    }
    rows: list[dict[str, Any]] = []
    for name, (ours, start) in kinds.items():
        ours(sets[:1])
        one, run = seconds(lambda ours=ours: ours(sets), options.runs)
        two, _ = seconds(lambda ours=ours: ours(sets, threads=2), options.runs)
        alone, _ = seconds(lambda ours=ours: ours(sets[:1]), options.runs)
        some = sets[: options.rival_sets]
        rival, _ = seconds(
            lambda s=start, some=some: [loop(x, s, options.steps, 0.1) for x in some], 1
        )
        per_set = rival / len(some)
        off = max(
            float(np.abs(loop(x, start, early, 0.1) - run.W[b, 1]).max())
            for b, x in enumerate(some)
        )
        rows += [
            {
                "what": f"{name}, {len(sets)} sets in one call",
                "seconds": one,
                "rival": per_set * len(sets),
                "ratio": per_set * len(sets) / one,
                "note": f"apart after {early} steps {off:.1e}",
            },
            {
                "what": f"{name}, one set",
                "seconds": alone,
                "rival": per_set,
                "ratio": per_set / alone,
                "note": "",
            },
            {
                "what": f"{name}, two threads against one",
                "seconds": two,
                "rival": one,
                "ratio": one / two,
                "note": "",
            },
        ]
    follow(sets[:1], zero, LOG_LOSS, [10.0])
    reached, curves = seconds(lambda: follow(sets, zero, LOG_LOSS, [1e4]), 1)
    done = sum(len(curve.steps) == 2 for curve in curves)
    rows.append(
        {
            "what": f"{len(sets)} sets to norm 1e4",
            "seconds": reached,
            "rival": float("nan"),
            "ratio": float("nan"),
            "note": f"{done} reached it",
        }
    )
    print(f"{'what':<34}{'ours s':>9}{'rival s':>10}{'ratio':>8}")
    for row in rows:
        print(
            f"{row['what']:<34}{row['seconds']:>9.3f}{row['rival']:>10.3f}{row['ratio']:>8.3g}"
            f"  {row['note']}"
        )
    if options.json:
        Path(options.json).write_text(json.dumps({"schema": 1, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()

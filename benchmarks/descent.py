"""Ensembles of descent against a PyTorch loop: `python -m benchmarks.descent [TABLE ...]`.

The rival is what everyone writes: a module, `torch.optim.SGD`, autograd, one data set at a time,
the gradient divided by its norm before each step. Data are those of the sources' protocol
(n, T, d) = (6, 8, 10), float64, log-loss, normalised steps of 0.1 from zero, or from one Gaussian
(K, Q). Ours runs `--sets` data sets for `--steps` steps in one call; the rival runs
`--rival-sets` of them for as many steps, and its time is scaled by the number of sets. Everything
runs on one thread but for the row that says two.

Tables: `rival`; `growth`, the cost against n, T, d and the number of sets; `machine`, the count of
multiplications and exponentials beside what the processor does of each in a second.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.training import descend_kq, descend_w, follow
from benchmarks.screening.rates import processor
from benchmarks.timing import Row, asked, keep, seconds, shown
from properties._support.published_data import gaussian_protocol

torch.set_num_threads(1)
STEP = 0.1


class Attention(torch.nn.Module):
    """The risk of one attention layer, of W or of K and Q."""

    def __init__(self, *starts: Array) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.tensor(start) for start in starts])

    def forward(self, X: torch.Tensor, Z: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        """The log-loss of the attended scores."""
        W = self.weights[0] if len(self.weights) == 1 else self.weights[0] @ self.weights[1].T
        logits = torch.einsum("ntd,de,ne->nt", X, W, Z)
        attended = (torch.softmax(logits, dim=1) * gamma).sum(dim=1)
        return torch.nn.functional.softplus(-attended).mean()


def loop(data: AttentionData, starts: list[Array], steps: int) -> Array:
    """One data set, normalised steps; the last W."""
    model = Attention(*starts)
    optimiser = torch.optim.SGD(model.parameters(), lr=STEP)
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    for _ in range(steps):
        optimiser.zero_grad()
        model(X, Z, gamma).backward()
        slopes = [weight.grad for weight in model.parameters() if weight.grad is not None]
        size = torch.sqrt(sum((slope**2).sum() for slope in slopes))  # type: ignore[arg-type]
        for slope in slopes:
            slope /= size
        optimiser.step()
    ends = [weight.detach().numpy() for weight in model.parameters()]
    return ends[0] if len(ends) == 1 else ends[0] @ ends[1].T


def ensembles(d: int = 10) -> dict[str, tuple[Callable[..., Any], list[Array]]]:
    """Ours on W and on (K, Q) by name, with their starts."""
    zero = np.zeros((d, d))
    K, Q = np.random.default_rng(0).normal(size=(2, d, d)) / d
    common: dict[str, Any] = {"step": STEP, "normalised": True}
    return {
        "W": (lambda s, **o: descend_w(s, zero, LOG_LOSS, **common, **o), [zero]),
        "(K, Q)": (lambda s, **o: descend_kq(s, K, Q, LOG_LOSS, **common, **o), [K, Q]),
    }


def rival(options: argparse.Namespace) -> list[Row]:
    """Ours against the loop."""
    sets = [gaussian_protocol(np.random.default_rng(s)) for s in range(options.sets)]
    early = min(100, options.steps)  # later the rival's gradient loses its digits
    kept = [early, options.steps]
    rows: list[Row] = []
    for name, (run, start) in ensembles().items():
        ours = partial(run, steps=options.steps, record=kept)
        ours(sets[:1])
        loop(sets[0], start, 20)
        some = sets[: options.rival_sets]
        slow, _ = seconds(lambda a=start, s=some: [loop(x, a, options.steps) for x in s], 1)  # type: ignore[misc]
        slow /= len(some)
        one, last = seconds(partial(ours, sets), options.runs)
        two, _ = seconds(partial(ours, sets, threads=2), options.runs)
        alone, _ = seconds(partial(ours, sets[:1]), options.runs)
        off = max(
            float(np.abs(loop(x, start, early) - last.W[b, 1]).max()) for b, x in enumerate(some)
        )
        rows += [
            row(f"{name}, {len(sets)} sets in one call", one, slow * len(sets), f"{off:.0e} apart"),
            row(f"{name}, one set", alone, slow),
            row(f"{name}, two threads against one", two, one),
        ]
    zero = np.zeros((10, 10))
    follow(sets[:1], zero, LOG_LOSS, [10.0])
    for norm in (1e4, 1e6):
        reached, curves = seconds(partial(follow, sets, zero, LOG_LOSS, [norm]), 1)
        done = sum(len(curve.steps) == 2 for curve in curves)
        rows.append(
            row(f"{len(sets)} sets along the curve to {norm:g}", reached, None, f"{done} arrived")
        )
    return rows


def row(what: str, ours: float, rival: float | None = None, note: str = "") -> Row:
    """One line of a table."""
    ratio = None if rival is None else rival / ours
    return {"what": what, "seconds": ours, "rival": rival, "ratio": ratio, "note": note}


def growth(options: argparse.Namespace) -> list[Row]:
    """The cost of a step against each size, the others as in the protocol."""
    rows = []
    for axis, values in {
        "n": (3, 6, 12, 24),
        "T": (4, 8, 16, 32),
        "d": (5, 10, 20, 100, 300),
        "sets": (1, 10, 100, 1000),
    }.items():
        for value in values:
            sizes: dict[str, int] = {"n": 6, "T": 8, "d": 10, "sets": 20, axis: value}
            count = sizes.pop("sets")
            sets = [gaussian_protocol(np.random.default_rng(s), **sizes) for s in range(count)]
            for name, (run, _) in ensembles(sizes["d"]).items():
                if name == "(K, Q)" and sizes["d"] > 100:
                    continue
                run(sets, steps=1)
                once, _ = seconds(partial(run, sets, steps=1, record=[1]), 3)
                many, _ = seconds(partial(run, sets, steps=201, record=[201]), 3)
                each = (many - once) / 200 / count
                rows.append(
                    row(f"{name}, {axis} = {value}", each, None, "seconds a step and data set")
                )
    return rows


def machine(options: argparse.Namespace) -> list[Row]:
    """What the loops compute, and how long the processor needs for that alone."""
    n, T, d = 6, 8, 10
    rates = processor(1.0)
    work = options.sets * options.steps
    # coordinates of query i are i + 1: W z, logits, their gradient, outer product, and moving W
    half = n * (n + 1) // 2
    counts = {
        "W": 2 * half * d + 2 * n * T * d + 2 * n * d,
        "(K, Q)": 2 * half * d + 3 * n * d * d + 2 * n * T * d + 2 * (n + d) * d,
    }
    sets = [gaussian_protocol(np.random.default_rng(s)) for s in range(options.sets)]
    rows = []
    for name, (run, _) in ensembles().items():
        run(sets[:1], steps=1)
        spent, _ = seconds(
            partial(run, sets, steps=options.steps, record=[options.steps]), options.runs
        )
        least = work * (counts[name] / rates["multiply"] + 2 * n * T / rates["exp"])
        rows.append(
            row(
                f"{name}: {counts[name]} multiplications, {2 * n * T} exponentials a step",
                spent,
                least,
                f"{rates['multiply'] / 1e9:.1f} and {rates['exp'] / 1e9:.2f} a nanosecond alone",
            )
        )
    return rows


TABLES = {"rival": rival, "growth": growth, "machine": machine}


def main() -> None:
    """Measure, print tables, write JSON where asked."""
    options = asked(__doc__, TABLES, sets=100, rival_sets=3, steps=2000, runs=5)
    columns = {
        "what": "<64",
        "seconds": ">11.3g",
        "rival": ">10.3g",
        "ratio": ">8.3g",
        "note": "<2",
    }
    names = options.parts or TABLES
    keep(options.json, tables={name: shown(columns, TABLES[name](options)) for name in names})


if __name__ == "__main__":
    main()

"""Ensembles of descent, as called by default, beside PyTorch.

The loop is the usual code: a module, `torch.optim.SGD`, autograd, one data set at a time, the
gradient divided by its norm before each step. The batch has the same steps by `torch.func`, with
`vmap` over all data sets; it keeps the last W. Ours keeps powers of two. From a norm of W of 15 on,
plain gradients, as both alternatives take them, lose the direction: after 2000 steps the norms are
196 and 141.

Data are those of the sources' protocol (n, T, d) = (6, 8, 10), float64, log-loss, normalised steps
of 0.1 from zero, or from one Gaussian (K, Q). The loop runs `FEW` of the data sets for as many
steps. Everything runs on one thread but for the rows that say two.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.training import descend_kq, descend_w, follow
from benchmarks.timers.svm import data_sets
from benchmarks.timers.timing import Timer, Way
from properties._support.published_data import gaussian_protocol

torch.set_num_threads(1)
STEP, STEPS, SETS, FEW = 0.1, 2000, 100, 3
EARLY = 128
"""Step number at which both are compared: later the loop's gradient loses its digits."""


class Attention(torch.nn.Module):
    """The risk of one attention layer, of W or of K and Q."""

    def __init__(self, *starts: Array) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.tensor(start) for start in starts])

    def forward(self, X: torch.Tensor, Z: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        """Return the log-loss of the attended scores."""
        W = self.weights[0] if len(self.weights) == 1 else self.weights[0] @ self.weights[1].T
        logits = torch.einsum("ntd,de,ne->nt", X, W, Z)
        attended = (torch.softmax(logits, dim=1) * gamma).sum(dim=1)
        return torch.nn.functional.softplus(-attended).mean()


def loop(data: AttentionData, starts: list[Array], steps: int) -> Array:
    """Return the last W of normalised steps on one data set."""
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


def batch(sets: Sequence[AttentionData], starts: list[Array], steps: int) -> list[Array]:
    """Return the last W of normalised steps on all data sets together."""
    X, Z, gamma = (
        torch.tensor(np.stack([getattr(s, n) for s in sets])) for n in ("X", "Z", "gamma")
    )
    weights = [torch.tensor(np.stack([start] * len(sets))) for start in starts]

    def risk(parts: Sequence[torch.Tensor], x: Any, z: Any, scores: Any) -> torch.Tensor:
        W = parts[0] if len(parts) == 1 else parts[0] @ parts[1].T
        logits = torch.einsum("ntd,de,ne->nt", x, W, z)
        attended = (torch.softmax(logits, dim=1) * scores).sum(dim=1)
        return torch.nn.functional.softplus(-attended).mean()

    slopes = torch.func.vmap(torch.func.grad(risk))
    for _ in range(steps):
        gradients = slopes(weights, X, Z, gamma)
        size = torch.sqrt(sum((slope**2).sum(dim=(1, 2), keepdim=True) for slope in gradients))
        weights = [w - STEP * slope / size for w, slope in zip(weights, gradients, strict=True)]
    ends = [weight.numpy() for weight in weights]
    return list(ends[0] if len(ends) == 1 else ends[0] @ ends[1].swapaxes(1, 2))


def ensembles(d: int = 10) -> dict[str, tuple[Callable[..., Any], list[Array]]]:
    """Return our runs on W and on (K, Q) by name, with their starts."""
    zero = np.zeros((d, d))
    K, Q = np.random.default_rng(0).normal(size=(2, d, d)) / d
    common: dict[str, Any] = {"step": STEP, "normalised": True}
    return {
        "W": (lambda s, **o: descend_w(s, zero, LOG_LOSS, **common, **o), [zero]),
        "(K, Q)": (lambda s, **o: descend_kq(s, K, Q, LOG_LOSS, **common, **o), [K, Q]),
    }


def descent() -> Iterator[Timer]:
    """Yield timers of many data sets in one call, one data set, two threads, and long curves."""
    shape = (6, 8, 10)
    sizes = f"{shape}, {STEPS} steps"
    sets = data_sets(shape, SETS)
    for name, (run, start) in ensembles().items():
        ours = partial(run, steps=STEPS)

        def looped(some: Sequence[AttentionData], start: list[Array] = start) -> list[Array]:
            return [loop(data, start, STEPS) for data in some[:FEW]]

        def apart(cases: Any, runs: Any, others: Any, start: list[Array] = start) -> str:
            early = [
                (loop(x, start, EARLY), W[list(runs[0].steps).index(EARLY)])
                for x, W in zip(cases[0], runs[0].W, strict=False)
            ]
            return f"{max(float(np.abs(a - b).max()) for a, b in early[:FEW]):.0e} apart"

        def batched(some: Sequence[AttentionData], start: list[Array] = start) -> list[Array]:
            return batch(some, start, STEPS)

        many = {"loop": Way(looped, share=FEW / SETS, runs=1), "batch": Way(batched, runs=1)}
        yield Timer(f"{name}, {SETS} sets in one call", sizes, lambda: [sets], Way(ours), many)
        one = {"loop": Way(looped, runs=1)}
        yield Timer(f"{name}, one set", sizes, lambda: [sets[:1]], Way(ours), one, apart)
        two, alone = Way(partial(ours, threads=2)), {"one thread": Way(ours)}
        yield Timer(f"{name}, two threads", sizes, lambda: [sets], two, alone)
    for norm in (1e4, 1e6):

        def curves(case: Any, norm: float = norm) -> Any:
            return follow(case, np.zeros((10, 10)), LOG_LOSS, [norm])

        def arrived(cases: Any, runs: Any, others: Any) -> str:
            return f"{sum(len(curve.steps) == 2 for curve in runs[0])} arrived"

        name = f"{SETS} sets along the curve to {norm:g}"
        yield Timer(name, str(shape), lambda: [sets], Way(curves, runs=1), note=arrived)


def descent_growth() -> Iterator[Timer]:
    """Yield timers of 200 steps as one size grows; the other sizes are those of the protocol."""
    for axis, values in {
        "n": (3, 6, 12, 24),
        "T": (4, 8, 16, 32),
        "d": (5, 10, 20, 100, 300),
        "sets": (1, 10, 100, 1000),
    }.items():
        for value in values:
            sizes: dict[str, int] = {"n": 6, "T": 8, "d": 10, "sets": 20, axis: value}
            count = sizes.pop("sets")
            draws = (np.random.default_rng(seed) for seed in range(count))
            case = [gaussian_protocol(draw, **sizes) for draw in draws]
            for name, (run, _) in ensembles(sizes["d"]).items():
                if name == "W" or sizes["d"] <= 100:
                    ours = Way(partial(run, steps=200, record=[200]))
                    yield Timer(
                        f"{name}, 200 steps", f"{axis} = {value}", partial(list, [case]), ours
                    )

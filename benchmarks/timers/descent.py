"""Ensembles of descent, as called by default, beside PyTorch, jax and numpy.

The loop is the usual code: a module, `torch.optim.SGD`, autograd, one data set at a time, the
gradient divided by its norm before each step. The batch has the same steps by `torch.func`, with
`vmap` over all data sets; `compiled` is its step after `torch.compile`. `jax` has them by `vmap`
and `scan` under `jit` (left out unless jax is installed), and `numpy` by a formula of the gradient.
These keep the last W, and compilation is not timed; ours keeps powers of two. Alternatives take
plain gradients. These have the direction to 1e-14 up to a norm of W of 65, and lose it from 115
on. Then the norms at one step differ: notes have the mean norm of the last W.

Data are those of the sources' protocol (n, T, d) = (6, 8, 10), float64, log-loss, normalised steps
of 0.1 from zero, or from one Gaussian (K, Q). The loop runs `FEW` of the data sets for as many
steps. Everything runs on one thread but for the rows that say two.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
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


def batch(
    sets: Sequence[AttentionData],
    starts: list[Array],
    steps: int,
    wrap: Callable[[Any], Any] = lambda step: step,
) -> list[Array]:
    """Return the last W of normalised steps on all data sets together; `wrap` changes the step."""
    X, Z, gamma = (
        torch.tensor(np.stack([getattr(s, n) for s in sets])) for n in ("X", "Z", "gamma")
    )
    weights = [torch.tensor(np.stack([start] * len(sets))) for start in starts]

    def risk(parts: Sequence[torch.Tensor], x: Any, z: Any, scores: Any) -> torch.Tensor:
        W = parts[0] if len(parts) == 1 else parts[0] @ parts[1].T
        logits = torch.einsum("ntd,de,ne->nt", x, W, z)
        attended = (torch.softmax(logits, dim=1) * scores).sum(dim=1)
        return torch.nn.functional.softplus(-attended).mean()

    def step(parts: list[torch.Tensor]) -> list[torch.Tensor]:
        slopes = torch.func.vmap(torch.func.grad(risk))(parts, X, Z, gamma)
        size = torch.sqrt(sum((slope**2).sum(dim=(1, 2), keepdim=True) for slope in slopes))
        return [w - STEP * slope / size for w, slope in zip(parts, slopes, strict=True)]

    step = wrap(step)
    for _ in range(steps):
        weights = step(weights)
    ends = [weight.numpy() for weight in weights]
    return list(ends[0] if len(ends) == 1 else ends[0] @ ends[1].swapaxes(1, 2))


def compiled(sets: Sequence[AttentionData], starts: list[Array], steps: int) -> list[Array]:
    """Return the last W of `batch`, with its step compiled."""
    return batch(sets, starts, steps, wrap=lambda step: torch.compile(step, dynamic=False))


def by_numpy(sets: Sequence[AttentionData], starts: list[Array], steps: int) -> list[Array]:
    """Return the last W of normalised steps on all data sets together, by a formula."""
    X, Z, gamma = (np.stack([getattr(s, n) for s in sets]) for n in ("X", "Z", "gamma"))
    parts = [np.stack([start] * len(sets)) for start in starts]
    for _ in range(steps):
        W = parts[0] if len(parts) == 1 else parts[0] @ parts[1].swapaxes(1, 2)
        logits = (X @ (W @ Z.swapaxes(1, 2)).swapaxes(1, 2)[..., None])[..., 0]
        odds = np.exp(logits - logits.max(axis=2, keepdims=True))
        shares = odds / odds.sum(axis=2, keepdims=True)
        attended = (shares * gamma).sum(axis=2, keepdims=True)
        slopes = -shares * (gamma - attended) / (1.0 + np.exp(attended)) / Z.shape[1]
        G = (slopes[:, :, None] @ X)[:, :, 0].swapaxes(1, 2) @ Z
        gradients = [G] if len(parts) == 1 else [G @ parts[1], G.swapaxes(1, 2) @ parts[0]]
        size = np.sqrt(sum((g**2).sum(axis=(1, 2), keepdims=True) for g in gradients))
        parts = [part - STEP * g / size for part, g in zip(parts, gradients, strict=True)]
    return list(parts[0] if len(parts) == 1 else parts[0] @ parts[1].swapaxes(1, 2))


@cache
def scanned(steps: int) -> Callable[..., Any]:
    """Return the steps in jax, by `scan` for one data set and `vmap` over all of them."""
    import jax
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def risk(parts: Sequence[Any], X: Any, Z: Any, gamma: Any) -> Any:
        W = parts[0] if len(parts) == 1 else parts[0] @ parts[1].T
        shares = jax.nn.softmax(jnp.einsum("ntd,de,ne->nt", X, W, Z), axis=1)
        return jax.nn.softplus(-(shares * gamma).sum(axis=1)).mean()

    def run(starts: Any, *arrays: Any) -> Any:
        def step(parts: Any, _: None) -> tuple[Any, None]:
            slopes = jax.grad(risk)(parts, *arrays)
            size = jnp.sqrt(sum((slope**2).sum() for slope in slopes))
            return [p - STEP * g / size for p, g in zip(parts, slopes, strict=True)], None

        return jax.lax.scan(step, starts, None, length=steps)[0]

    return jax.jit(jax.vmap(run, in_axes=(None, 0, 0, 0)))


def by_jax(sets: Sequence[AttentionData], starts: list[Array], steps: int) -> list[Array]:
    """Return the last W of normalised steps on all data sets together."""
    arrays = [np.stack([getattr(s, n) for s in sets]) for n in ("X", "Z", "gamma")]
    ends = [np.asarray(end) for end in scanned(steps)(starts, *arrays)]
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


def rivals() -> dict[str, Callable[..., list[Array]]]:
    """Return alternatives that take all data sets at once; jax only if it is installed."""
    always = {"batch": batch, "compiled": compiled, "numpy": by_numpy}
    return always | ({"jax": by_jax} if find_spec("jax") else {})


def norms(cases: Any, runs: Any, others: Any) -> str:
    """Return the mean norm of the last W of each way."""
    ends = {"ours": [W[-1] for W in runs[0].W]} | {n: a[0] for n, a in others.items()}
    return "norms " + ", ".join(
        f"{n} {np.mean([np.linalg.norm(W) for W in Ws]):.4g}" for n, Ws in ends.items()
    )


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

        many = {"loop": Way(looped, share=FEW / SETS, runs=1)}
        for other, all_at_once in rivals().items():
            many[other] = Way(partial(all_at_once, starts=start, steps=STEPS), runs=2)
        words = f"{name}, {SETS} sets in one call"
        yield Timer(words, sizes, lambda: [sets], Way(ours), many, norms)
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

"""A search for long steps that keep descent away from the best tokens, if no theorem decides it.

    python -m benchmarks.long_steps [--sets N] [--seed S]

Such a run would show that `tf/global-conjecture:sharp`, or `sharp-2` and `sharp-3`, need their
bound of the step. For every shape, N data sets of one query are drawn that meet the hypotheses;
this is decided in exact arithmetic. Four runs of each on the loss -u are followed in floats. Their
steps are constant, of size 1 to 10^4 over the largest score, and their starts have norms from 0.1
to 100.

A step that moves the difference of two logits by more than 1/4 is taken as it is. Shorter steps
follow a curve, so the run takes as many of them at once as move a difference by 1/4. A run can then
be long enough to show that attention leaves a worse token near which it stays for many steps. A run
has settled when each input selects its best token and no step has leapt for 15,000 such moves.
Floats prove nothing: a run that does not settle is a hint, and one that settles is no theorem.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from properties._support.token_choices import all_solved, all_support_everywhere, better_support

SHAPES = {
    "sharp": ((1, 4), (1, 5), (1, 6), (2, 2), (2, 3), (3, 2)),
    "sharp-2 or sharp-3": ((1, 4), (2, 2), (2, 3), (3, 2), (4, 2)),
    "no hypothesis": ((1, 4), (2, 2)),
}
"""Shapes (n, T) by reading; without hypotheses, some runs must fail to settle."""
NEAR, ROUNDS, MOVES, QUIET = 0.25, 12, 20_000, 15_000
"""Limits of a run, in this order:

- largest change of a logit difference in a move that follows a curve;
- maximum number of rounds;
- number of moves of a round;
- number of moves at the end of a round in which a settled run takes no longer step.
"""


def simplex(generator: np.random.Generator, n: int, T: int) -> Array:
    """Return tokens (n, T, n T): a regular simplex with small or large noise."""
    noise, shape = generator.choice([0.05, 0.2, 0.4, 0.6]), (n, T, n * T)
    result: Array = np.eye(n * T).reshape(shape)
    return result + noise * generator.normal(size=shape) / np.sqrt(n * T)


def gaussian(generator: np.random.Generator, n: int, T: int) -> Array:
    """Return Gaussian tokens (n, T, d) of length about 1.

    Often the last is opposed to the first.
    """
    X = generator.normal(size=(n, T, int(generator.integers(n * (T - 1), 6 * n * (T - 1) + 2))))
    X /= np.sqrt(X.shape[2])
    if n > 1 and generator.random() < 0.5:
        X[-1, 0] -= generator.uniform(0.3, 1.0) * (X[0, 0] - X[0, 1])
    return X


def everywhere(data: AttentionData) -> bool:
    """Return whether all tokens are support vectors in all Local-SVMs, which have solutions."""
    return all_solved(data) and all_support_everywhere(data)


MET: dict[str, tuple[Callable[..., Array], Callable[[AttentionData], bool]]] = {
    "sharp": (simplex, better_support),
    "sharp-2 or sharp-3": (gaussian, everywhere),
    "no hypothesis": (gaussian, lambda data: True),
}


def data_sets(
    reading: str, shape: tuple[int, int], generator: np.random.Generator
) -> Iterator[AttentionData]:
    """Yield data of that shape that meet the hypotheses, in multiples of 1/256, without end."""
    tokens, meets = MET[reading]
    n, T = shape
    while True:
        X = np.round(256.0 * tokens(generator, n, T)) / 256.0
        scale = 10.0 ** generator.uniform(-1.0, 1.0, size=(n, 1))
        scores = np.round(256.0 * scale * generator.normal(size=(n, T))) / 256.0
        if all(len(set(row)) == T for row in scores):
            data = AttentionData(X, np.eye(1, X.shape[2]).repeat(n, axis=0), scores=scores)
            if meets(data):
                yield data


def moved(X: Array, scores: Array, w: Array, step: Array) -> tuple[Array, Array, Array]:
    """Return runs (m, d) after a move, which were whole long steps, and selected tokens."""
    logits = np.einsum("mntd,md->mnt", X, w)
    log_s = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    pairs = log_s[..., :, None] + log_s[..., None, :]
    pairs[..., np.eye(X.shape[2], dtype=bool)] = -np.inf
    largest = pairs.max(
        axis=(1, 2, 3)
    )  # gradients are divided by exp of it, so that none underflows
    weights = np.exp(pairs - largest[:, None, None, None])
    along = (weights * (scores[..., :, None] - scores[..., None, :])).sum(axis=3)
    gradient = np.einsum("mnt,mntd->md", along, X)
    change = np.ptp(np.einsum("mntd,md->mnt", X, gradient), axis=2).max(axis=1)
    true = step / X.shape[1] * np.exp(largest)
    leaps = true * change > NEAR
    chosen = np.where(leaps, true, NEAR / change)
    return w + chosen[:, None] * gradient, leaps, logits.argmax(axis=2)


def unsettled(sets: list[AttentionData], generator: np.random.Generator) -> tuple[int, int, int]:
    """Return the numbers of runs, of runs with a long step, and of runs that do not settle."""
    d = max(data.d for data in sets)
    X = np.stack([np.pad(s.X, ((0, 0), (0, 0), (0, d - s.d))) for s in sets]).repeat(4, axis=0)
    scores = np.stack([s.gamma for s in sets]).repeat(4, axis=0)
    m = len(X)
    step = 10.0 ** generator.uniform(0.0, 4.0, size=m) / np.abs(scores).max(axis=(1, 2))
    w = generator.normal(size=(m, d)) / np.sqrt(d) * 10.0 ** generator.uniform(-1, 2, size=(m, 1))
    left, leapt = np.arange(m), np.zeros(m, dtype=bool)
    for _ in range(ROUNDS):
        recent = np.zeros(len(left), dtype=bool)
        for k in range(MOVES):
            w[left], leaps, chosen = moved(X[left], scores[left], w[left], step[left])
            leapt[left] |= leaps
            recent |= leaps & (k >= MOVES - QUIET)
        left = left[(chosen != scores[left].argmax(axis=2)).any(axis=1) | recent]
        if not len(left):
            break
    return m, int(leapt.sum()), len(left)


def main() -> None:
    """Print a row for each reading and shape."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    values = parser.parse_args()
    print("| reading | n | T | data sets | runs | runs that leap | not settled |\n|" + " --- |" * 7)
    for reading, shapes in SHAPES.items():
        for n, T in shapes:
            generator = np.random.default_rng([values.seed, n, T])
            result = data_sets(reading, (n, T), generator)
            sets = [next(result) for _ in range(values.sets)]
            row = (reading, n, T, values.sets, *unsettled(sets, generator))
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()

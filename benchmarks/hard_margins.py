"""Exact checks of `solve` on hard data: `python -m benchmarks.hard_margins [--count 10000]`.

The data have nearly dependent constraints, tiny margins, very different scales, copies, masks or
single tokens. The margins of each returned matrix are evaluated again in Python's fractions and
compared with the residual that the answer states. The command exits with 1 if an answer understates
its residual.
"""

import argparse
import json
import sys
import time
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from attsvm import AttentionData, solve
from attsvm.errors import DataError, SolverError
from attsvm.svm.certified import Answer

KINDS = (
    *("queries", "tokens", "thin", "token scales", "query scales", "integers", "both", "opposed"),
    *("copies", "many"),
)
MANY = (60, 25, 30)
"""Shape (n, T, d) of the data of kind `many`, 1440 constraints: too many for rationals."""


def hard_data(
    kind: str,
    seed: int,
    small: float = 1e-8,
    scale: float = 50.0,
    shape: tuple[int, int, int] | None = None,
) -> AttentionData:
    """Return data with constraints that are nearly dependent, of very different size, or repeated.

    Args:
        kind: one of `KINDS`.
        seed: seed of all random numbers.
        small: relative difference of constraints that are nearly equal.
        scale: sizes lie between 10^-scale and 10^scale.
        shape: (n, T, d); random if None, each at least 1.
    """
    draw = np.random.default_rng(seed)
    drawn = int(draw.integers(1, 6)), int(draw.integers(1, 5)), int(draw.integers(1, 6))
    n, T, d = shape or (MANY if kind == "many" else drawn)
    X, Z = draw.standard_normal((n, T, d)), draw.standard_normal((n, d))
    mask = draw.random((n, T)) < 0.8
    mask[:, 0] = True
    if kind in ("queries", "both", "opposed"):
        Z = Z[:1] + small * Z
    if kind in ("tokens", "both"):
        X = X[:1] + small * X
    if kind in ("thin", "many"):
        X[:, 1:] = X[:, :1] - small * X[:, 1:]
    if kind == "token scales":
        X *= 10.0 ** draw.uniform(-scale, scale, (n, 1, 1))
    if kind == "query scales":
        Z *= 10.0 ** draw.uniform(-scale, scale, (n, 1))
    if kind == "integers":
        X = draw.integers(-2, 3, (n, T, d)).astype(float)
        Z = draw.integers(-1, 2, (n, d)) + small * draw.integers(-1, 2, (n, d))
    if kind == "opposed":
        X[1:] = -X[:1] + small * X[1:]
    if kind == "copies":
        X[n // 2 :], Z[n // 2 :] = X[: n - n // 2], Z[: n - n // 2] * (1.0 + small)
    scores = np.tile(-np.arange(float(T)), (n, 1))
    return AttentionData(X, Z, scores=scores, mask=mask if seed % 3 else None)


def separable(n: int, T: int, d: int, seed: int = 0) -> AttentionData:
    """Return Gaussian tokens and queries, scored by the logits of a Gaussian W."""
    draw = np.random.default_rng(seed)
    X, Z, W = (draw.standard_normal(shape) for shape in ((n, T, d), (n, d), (d, d)))
    return AttentionData(X, Z, scores=np.einsum("ntd,de,ne->nt", X, W, Z))


def hair_thin(scaled: bool, n: int = 569, d: int = 31) -> AttentionData:
    """Return labelled measurements that nearly depend on each other, separable by a narrow margin.

    Columns have sizes from 1e-3 to 1e3, or at most 1 if scaled, and one is constant. A label y of
    features f is an input with the tokens y f and 0 and one query for all inputs.
    """
    draw = np.random.default_rng(0)
    latent = draw.standard_normal((n, 6)) @ draw.standard_normal((6, d - 1))
    F = np.exp(0.3 * (latent + 0.002 * draw.standard_normal((n, d - 1))))
    y = np.where((F - F.mean(axis=0)) @ draw.standard_normal(d - 1) > 0.0, 1.0, -1.0)
    F = F / F.max(axis=0) if scaled else F * 10.0 ** draw.uniform(-3, 3, d - 1)
    X, Z = np.zeros((n, 2, d)), np.zeros((n, d))
    X[:, 0], Z[:, 0] = y[:, None] * np.column_stack([F, np.ones(n)]), 1.0
    return AttentionData(X, Z, scores=np.tile([1.0, 0.0], (n, 1)))


def understated(data: AttentionData, answer: Answer) -> bool:
    """Return whether a margin (x_i0 - x_it)^T W z_i is below 1 by more than the stated residual."""
    W = [[Fraction(x) for x in row] for row in answer.W.tolist()]
    least = []
    for i, z in enumerate(data.Z.tolist()):
        Wz = [sum(w * Fraction(x) for w, x in zip(row, z, strict=True)) for row in W]
        tokens = data.X[i] if data.mask is None else data.X[i, data.mask[i]]
        first, *rivals = (
            sum(Fraction(x) * y for x, y in zip(token, Wz, strict=True))
            for token in tokens.tolist()
        )
        least += [first - value for value in rivals]
    return not 1 - min(least) <= Fraction(answer.float_answer.primal_residual)


def examined(kind: str, seed: int) -> tuple[str, float]:
    """Return the answer of `solve` in words, and its wall-clock seconds."""
    draw = np.random.default_rng((seed, 1))
    data = hard_data(kind, seed, 10.0 ** -draw.uniform(3, 15), float(draw.choice([5, 20, 60, 150])))
    start = time.perf_counter()
    try:
        answer = solve(data)
    except (DataError, SolverError) as error:
        return f"{type(error).__name__}: {error.cause}", time.perf_counter() - start
    seconds = time.perf_counter() - start
    if answer.solved and understated(data, answer):
        return "UNDERSTATED", seconds
    return f"{answer.status}, {answer.kind}", seconds


def main() -> int:
    """Solve, count by kind and answer, write JSON if asked; return 1 if a residual is too small."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hard_margins", description=__doc__)
    parser.add_argument(
        "--count", type=int, default=10_000, help="number of instances (default 10000)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first instance; each further one adds 1"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the counts to this file")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    slowest = dict.fromkeys(KINDS, 0.0)
    wrong: list[dict[str, Any]] = []
    for number in range(options.count):
        kind, seed = KINDS[number % len(KINDS)], options.seed + number
        if kind == "many" and number % (20 * len(KINDS)) != len(KINDS) - 1:  # one in twenty
            kind = KINDS[number // len(KINDS) % (len(KINDS) - 1)]
        text, chosen = examined(kind, seed)
        counts[kind][text] += 1
        slowest[kind] = max(slowest[kind], chosen)
        if text == "UNDERSTATED":
            wrong.append({"kind": kind, "seed": seed})
    for kind, result in counts.items():
        shown = "; ".join(f"{text} {many}" for text, many in result.most_common())
        print(f"{kind:<14}{slowest[kind]:>7.2f} s at most   {shown}")
    print(f"{options.count} instances: {len(wrong)} residuals understated")
    if options.json:
        document = {"schema": 1, "counts": counts, "slowest": slowest, "understated": wrong}
        Path(options.json).write_text(json.dumps(document, indent=1))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

"""Small data sets with exact solutions for random tokens, and starts near the rays of these."""

import numpy as np
from flint import arb

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.exact import ExactData, separate
from attsvm.losses import LOSSES

LOG = LOSSES["log-loss"]


def floats(matrix):
    return np.array([[float(arb(x)) for x in row] for row in matrix])


def selected(data, points):
    return [logits_of_w(data.X, data.Z, W).argmax(axis=-1).tolist() for W in points]


def drawn(limit):
    """Data sets of half integers, with the exact solutions for randomly selected tokens.

    Every third data set has random scores. In the others, tokens on the margin score below the
    selected one, and tokens beyond the margin have random scores, some of them higher.
    """
    for seed in range(limit):
        generator = np.random.default_rng(seed)
        n, T, d = (int(generator.integers(low, 4)) for low in (1, 2, 2))
        X, Z = (generator.integers(-4, 5, size=s) / 2 for s in ((n, T, d), (n, d)))
        scores = generator.integers(-8, 9, size=(n, T)) / 4
        tokens = generator.integers(0, T, size=n).tolist()
        answer = separate(ExactData.of(AttentionData(X, Z, scores=scores)), tokens)
        if answer is None or answer.status != "solved":
            continue
        if seed % 3:
            pairs = [(i, t) for i in range(n) for t in range(T) if t != tokens[i]]
            scores[np.arange(n), tokens] = 0.0
            for (i, t), m in zip(pairs, answer.margins, strict=True):
                if m == 1:
                    scores[i, t] = -0.25 - abs(scores[i, t])
        yield seed, AttentionData(X, Z, scores=scores), tokens, answer, generator


def starts(limit: int):
    """Random points about 4, 64 and 1024 times the local solution, for many data sets."""
    for _, data, _, answer, generator in drawn(limit):
        W = floats(answer.W)
        noise = generator.normal(size=W.shape) * np.linalg.norm(W)
        for factor in (4.0, 64.0, 1024.0):
            point = np.round((factor * W + noise) * 64) / 64
            yield data, ExactData.of(data), point, generator


STEPS = [(0.125, False), (8.0, False), (0.5, True)]


def one_dimension(*inputs, scores):
    X = [[[x] for x in row] for row in inputs]
    return AttentionData.of(X, [[1.0]] * len(X), scores=scores)


THREE = one_dimension([1.0, 0.0, -1.0], scores=[[2.0, 0.0, 1.0]])


def plane(*inputs, scores):
    """Inputs whose first token is 0 and whose rivals are minus the listed gaps; z = e_1."""
    X = [[[0.0, 0.0], *[[-a for a in gap] for gap in gaps]] for gaps in inputs]
    return AttentionData.of(X, [[1.0, 0.0]] * len(X), scores=scores)


def column(*entries):
    return np.array([[x, 0.0] for x in entries])

"""Data, starts and directions for the tests of limits."""

import numpy as np

from attsvm.data import AttentionData
from properties._support.published_data import joint_inputs


def two_inputs():
    """Two inputs along different axes, so that both rivals are support vectors."""
    X = [[[0, 0, 0], [-1, 0, 0.5]], [[0, 0, 0], [0, -2, 0]]]
    return AttentionData.of(X, [[1, 0, 0], [0, 1, 0]], scores=[[1, 0], [2, 0]])


def three_inputs():
    """The tokens of the published joint instance; the second of each input has the better score."""
    published = joint_inputs(1.5)
    return AttentionData(published.X, published.Z, scores=np.array([[0.0, 1.0]] * 3))


def start(data, size=0.25):
    return size * np.cos(np.arange(data.d**2, dtype=float)).reshape(data.d, data.d)


def tilted(target, cosine):
    """A matrix with the norm of the target and the given cosine to it."""
    size = np.linalg.norm(target)
    other = np.sin(1.0 + np.arange(target.size, dtype=float)).reshape(target.shape)
    other -= (other * target).sum() / size**2 * target
    return cosine * target + np.sqrt(1 - cosine**2) * size * other / np.linalg.norm(other)

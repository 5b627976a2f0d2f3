"""Published instances and protocols of the sources, as data sets."""

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData


def one_input(third: tuple[float, float, float] = (0.0, 0.0, 0.9)) -> AttentionData:
    """Return the published input of three tokens, as keys in the plane with scores.

    Published are tokens in R^3 with head (0, 0, 1), and a W that acts on two coordinates. The third
    coordinate becomes the score, the first two the key. The other published variant has `third` =
    (0, 0, 0).
    """
    tokens = np.array([(-0.1, 1.0, 1.0), (1.0, 0.0, 0.9), third])
    return AttentionData(tokens[None, :, :2], np.array([[1.0, 0.0]]), scores=tokens[None, :, 2])


def joint_inputs(height: float = 1.0) -> AttentionData:
    """Return three inputs {0, (1,1)}, {0, (1,-1)}, {0, (0.5, height)} with labels 1, -1, 1.

    Heights 1 and 1.5 are published for joint training. Here the head is fixed at (1, 1).
    """
    X = np.array([[(0, 0), (1, 1)], [(0, 0), (1, -1)], [(0, 0), (0.5, height)]], dtype=float)
    return AttentionData.of(X, np.tile([1.0, 0.0], (3, 1)), y=[1, -1, 1], v=[1.0, 1.0])


def gaussian_protocol(
    generator: np.random.Generator, n: int = 6, T: int = 8, d: int = 10
) -> AttentionData:
    """Return normalised Gaussian tokens, queries and head, with random labels, as in tf."""

    def unit(*shape: int) -> Array:
        a = generator.normal(size=shape)
        return a / np.linalg.norm(a, axis=-1, keepdims=True)

    y = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    return AttentionData(unit(n, T, d), unit(n, d), y=y, v=unit(d))

"""Write data sets to solve: `python examples/make_data.py FOLDER`.

- one_input.npz: the published input of three tokens in the plane, scores given.
- gaussian.npz: n=6, T=8, d=10 unit-norm Gaussian tokens, queries and head, random labels, seed 0.
- opposed.npz: two inputs that no W can serve at once.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from attsvm import AttentionData

ONE_INPUT = AttentionData.of([[[-0.1, 1], [1, 0], [0, 0]]], [[1, 0]], scores=[[1, 0.9, 0.9]])
OPPOSED = AttentionData.of(
    [[[1, 0], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [-1, 0]], scores=[[1, 0], [1, 0]]
)


def gaussian(n: int = 6, T: int = 8, d: int = 10) -> AttentionData:
    """Return Gaussian tokens, queries and head, scaled to norm 1, with random labels."""
    generator = np.random.default_rng(0)
    y = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    X, Z, v = (generator.normal(size=shape) for shape in ((n, T, d), (n, d), (d,)))
    X, Z, v = (a / np.linalg.norm(a, axis=-1, keepdims=True) for a in (X, Z, v))
    return AttentionData(X, Z, y=y, v=v)


def main(folder: str) -> None:
    """Write all data sets to the folder, which is made if it does not exist."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    ONE_INPUT.save(place / "one_input.npz")
    gaussian().save(place / "gaussian.npz")
    OPPOSED.save(place / "opposed.npz")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/make_data.py FOLDER")
    main(sys.argv[1])

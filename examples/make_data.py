"""Write the data sets that the README solves: `python examples/make_data.py FOLDER`.

- one_input.npz: the published input of three tokens in the plane, scores given.
- gaussian.npz: n=6, T=8, d=10 unit-norm Gaussian tokens, queries and head, random labels, seed 0.
- opposed.npz: two inputs that no W can serve at once.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from attsvm import AttentionData
from properties._support.published_data import gaussian_protocol, one_input


def main(folder: str) -> None:
    """Write all data sets into the folder, which is made if need be."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    opposed = AttentionData.of(
        [[[1, 0], [0, 0]], [[1, 0], [0, 0]]], [[1, 0], [-1, 0]], scores=[[1, 0], [1, 0]]
    )
    one_input().save(place / "one_input.npz")
    gaussian_protocol(np.random.default_rng(0)).save(place / "gaussian.npz")
    opposed.save(place / "opposed.npz")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/make_data.py FOLDER")
    main(sys.argv[1])

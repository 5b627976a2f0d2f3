"""Instances of the statement on a fixed head, and functions that make a head meet a hypothesis."""

import numpy as np

from attsvm._types import Array
from attsvm.theory.declaration.variables import Known


def multiple(H: Array, known: Known) -> Array:
    """Return the head with a multiple of e_0 as its column 0."""
    first = np.zeros_like(H)
    first[0] = H[0]
    return np.concatenate([first[:, :1], H[:, 1:]], axis=1)


def raised(H: Array, known: Known) -> Array:
    """Return the head with a positive entry in place (0, 0)."""
    H = H.copy()
    H[0, 0] = np.where(H[0, 0] == 0.0, 0.5, np.abs(H[0, 0]))
    return H


POINT = {"x": [0], "b": 1}
COLUMN, EYE = [[1], [0]], [[1, 0], [0, 1]]
FLIPPED = {"A": COLUMN, "M": COLUMN, "H": [[-1]], **POINT}
SWAPPED = {"A": COLUMN, "M": EYE, "H": [[0, 1], [1, 0]], **POINT}
"""Two tokens whose values change places behind the head."""
WIDE = {"A": [[1]], "M": [[1]], "H": [[1, 1]], **POINT}

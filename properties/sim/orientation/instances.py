"""Matrices and runs that tell X from its transpose."""

from attsvm.primitives.descent import Descent

TOLD_APART = {"A": [[1, 0], [0, 1]], "X": [[0, 1], [0, 0]]}
ACROSS = {"X": [[0, 1], [0, 0]], "z": [1, 0], "D": [0, 1]}


SIDEWAYS = Descent.of([[[1, 1], [1, 0]]], [[1, 0]], scores=[[1, 0]])
"""The second token is the query, and differs from the first across it."""

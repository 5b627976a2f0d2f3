"""Hypothesis strategies for claims: dyadic numbers and arrays here, data sets in `data`."""

from attsvm._dyadic import GRID, arrays, composite, numbers, scaled, sizes

__all__ = ["GRID", "arrays", "composite", "numbers", "scaled", "sizes"]

"""Hypothesis strategies for your own claims: dyadic numbers and arrays; data sets are in `data`."""

from attsvm._dyadic import GRID, arrays, composite, numbers, scaled, sizes

__all__ = ["GRID", "arrays", "composite", "numbers", "scaled", "sizes"]

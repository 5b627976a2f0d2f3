"""The types used in the signatures of formulas."""

from collections.abc import Sequence

from attsvm.theory.arithmetic.entries import Number, Numbers, Values
from attsvm.theory.arithmetic.namespace import Comparison, Namespace, Relation

Nested = Sequence[object]
"""Numbers in nested lists, row by row."""

__all__ = ["Comparison", "Namespace", "Nested", "Number", "Numbers", "Relation", "Values"]

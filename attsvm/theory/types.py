"""The types that the signatures of formulas speak of."""

from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.quantities import Number, Numbers, Values
from attsvm.theory.arithmetic.relations import Comparison, Relation

__all__ = ["Comparison", "Namespace", "Number", "Numbers", "Relation", "Values"]

"""One namespace `m`, several arithmetics: a formula is written once and runs in all of them.

Balls judge, floats screen many instances at once, tensors have gradients, symbols serve proofs, and
text is for readers. See `namespace` for the functions of a formula.
"""

from attsvm.theory.arithmetic.balls import BALLS, ENCLOSURES, TAILS, Balls
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Entries, entries
from attsvm.theory.arithmetic.lanes import FLOATS, Floats, Lane, Tensors, lanes
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Relation

__all__ = [
    "BALLS",
    "ENCLOSURES",
    "FLOATS",
    "TAILS",
    "All",
    "AnyOf",
    "Arithmetic",
    "Balls",
    "Comparison",
    "Entries",
    "Floats",
    "Lane",
    "Relation",
    "Tensors",
    "entries",
    "lanes",
]

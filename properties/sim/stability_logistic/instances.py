"""Instances of the statement on the logistic loss that tell its readings apart."""

from collections.abc import Mapping
from fractions import Fraction

from properties.sim._support.entry import on_line
from properties.sim._support.stability import NEAR, around

CONSTANT_LINEAR = on_line([1, 0], x=0, y=1, h=[0, 1], b=1)
"""A^T h = 0: linear attention is constant."""

BALANCED = on_line([1, -1], **NEAR, h=[1, -1], b=Fraction(1, 4))
"""Two tokens of nearly equal attention, at which the loss is steepest."""

BENT_AT = Fraction(325, 512)
"""Point at which the gradient of the tokens 1 and -1 with the head (1, -1) has its largest
curvature for small labels."""


def bent(b: Fraction) -> Mapping[str, object]:
    """Return an instance of these tokens and this head, around `BENT_AT`, with the label b."""
    return on_line([1, -1], **around(BENT_AT), h=[1, -1], b=b)


def wide(low: Fraction) -> Mapping[str, object]:
    """Return tokens 1 and 3 and the head (7, low): ||A^T h|| = osc(h) diam(A)/4 at low = -1."""
    return on_line([1, 3], **NEAR, h=[7, low], b=Fraction(1, 64))

"""The relaxed programme: its solution exists if and only if 0 is not in C, and the distance of C.

C is the convex hull of the rows of bound 1 plus the cone of the rows of bound 0. The comparison is
the one that the claim evaluates. Without constraints X is 0 and C is empty, and there is nothing to
compare.
"""

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal
from attsvm.theory.declaration.proof import suppose
from properties.mm._support.max_margin import V_EXISTS, Solved, is_distance
from symbolic.inner_products import INNER
from symbolic.least_points import X, ensure_distance_of_hull, ensure_some_margin_is_tight

SQUARE = sp.Symbol("<X, X>", positive=True)


def prove() -> str:
    """Prove that X exists if and only if 0 is not in C, and that ||X|| dist(0, C) = 1.

    Some margin of v(alpha) is tight.
    """
    suppose(V_EXISTS)
    ensure_some_margin_is_tight()
    ensure_distance_of_hull()
    for margin, square in ((1 / sp.sqrt(SQUARE), 1 / SQUARE), (sp.Integer(0), sp.Integer(0))):
        programme = SimpleNamespace(hull_square=square)
        comparison = is_distance(INNER, Solved(None, X, margin, programme))
        ensure_equal(
            comparison.left, comparison.right, f"what is compared agrees where ||Z||^2 is {square}"
        )
    return "for any number of inputs, tokens and axes, by the point of C that is nearest to 0"

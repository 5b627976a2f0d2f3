"""The v-SVM, the p-SVM and the joint one: existence, distance, uniqueness, support.

The solution of each programme is the least vector X with <A_j, X> >= b_j for all j. So
`symbolic.least_points` proves the statements for any number of inputs and tokens, in any dimension.
The comparisons are those that the claims evaluate. Without constraints X is 0 and C is empty, and
there is nothing to compare.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from attsvm.primitives.att_svm import pythagoras
from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.proof import cancelled, expanded, suppose
from attsvm.theory.types import Comparison
from properties.mm import joint_svm, p_svm, v_svm
from properties.mm._support.max_margin import V_EXISTS, Solved, is_distance
from properties.mm._support.token_selections import ORTHOGONAL, SEPARATED, Rival
from properties.mm.joint_svm.conclusion import shorter
from properties.mm.p_svm.conclusion import led
from symbolic.alternatives import MEETS
from symbolic.inner_products import INNER
from symbolic.least_points import (
    MORE,
    SCALED,
    X,
    ensure_distance_of_hull,
    ensure_existence,
    ensure_existence_of_relaxed,
    ensure_least_point,
    ensure_pythagoras,
    ensure_scaled_meets,
    ensure_some_margin_is_tight,
)

SQUARE = sp.Symbol("<X, X>", positive=True)


def ensure_attained(comparison: Comparison) -> None:
    """Prove that both sides of a comparison of rational numbers are equal, and not 0."""
    left, right = (sp.Rational(str(side)) for side in (comparison.left, comparison.right))
    ensure_equal(left, right, "the two sides of the claim are equal at one instance")
    ensure_positive(left, "these sides are not 0, so that no other constant will do")


def prove_distance() -> str:
    """Prove that X exists, and is unique, if and only if 0 is not in C.

    Then ||X|| dist(0, C) = 1.
    """
    ensure_distance_of_hull()
    for margin, square in ((1 / sp.sqrt(SQUARE), 1 / SQUARE), (sp.Integer(0), sp.Integer(0))):
        programme = SimpleNamespace(hull_square=square)
        comparison = is_distance(INNER, Solved(None, X, margin, programme))
        ensure_equal(
            comparison.left, comparison.right, f"what is compared agrees where ||Z||^2 is {square}"
        )
    return "for any number of inputs, tokens and axes, by the point of C that is nearest to 0"


def prove_joint_distance() -> str:
    """Prove the same for the joint programme, and that some margin of v(alpha) is tight."""
    suppose(V_EXISTS)
    ensure_some_margin_is_tight()
    return prove_distance()


def prove_nearer() -> str:
    """Prove that ||V - X||^2 <= ||V||^2 - ||X||^2 for feasible V, with the best constant."""
    ensure_existence(MEETS)
    ensure_pythagoras()
    far = sp.Symbol("far", positive=True)
    comparison = pythagoras(INNER, (1 + far) * X, X)
    ensure_nonnegative(
        (1 + far) * (1 + MORE) - 1, "(1 + far) X meets constraints that X meets", normal=expanded
    )
    ratio = sp.limit(cancelled(comparison.left / comparison.right), far, sp.oo)
    ensure_equal(
        ratio,
        sp.Integer(1),
        "for V = (1 + far) X the ratio of the two sides tends to 1 as far tends to infinity",
    )
    return "in any dimension, by <X, V - X> >= 0; far multiples of X approach the constant"


def prove_shorter() -> str:
    """Prove ||p - p'||^2 <= ||p||^2 - ||p'||^2 for p = p(alpha) and the relaxed solution p'.

    Orthogonal keys attain the constant.
    """
    suppose(V_EXISTS, joint_svm.P_EXISTS)
    ensure_existence_of_relaxed()
    ensure_pythagoras()
    ensure_attained(shorter(BALLS, ORTHOGONAL))
    return "in any dimension, by <p', p - p'> >= 0; orthogonal keys attain the constant"


def prove_of_support() -> str:
    """Prove that the least vector for some constraints is the least for all if it meets all."""
    suppose(V_EXISTS, joint_svm.RANKS)
    ensure_least_point()
    ensure_pythagoras()
    return "in any dimension: what meets all constraints meets those of S, and p_S is nearest there"


def prove_led() -> str:
    """Prove that, if all labels are y, ||p(alpha)|| is at most ||q|| over the least lead under q.

    The lead is that of a selected token in score, under the head W^T q.
    """
    suppose(p_svm.ALONE, p_svm.ONE_LABEL)
    ensure_scaled_meets()
    ensure_existence(SCALED)
    ensure_some_margin_is_tight()
    conjunction: Any = led(BALLS, Rival(SEPARATED, np.ones(1)))
    ensure_attained(conjunction.parts[1])
    return "in any dimension, by y q over its least lead; y p(alpha) attains the bound"


def prove_largest_margin() -> str:
    """Prove that the least margin of a head h is at most ||h||/||v(alpha)||.

    It is at most 0 if v(alpha) does not exist.
    """
    ensure_scaled_meets()
    ensure_existence(SCALED)
    ensure_some_margin_is_tight()
    ensure_attained(v_svm.best(BALLS, Rival(SEPARATED, np.ones(1))))
    return "in any dimension, by h over its least margin; h = v(alpha) attains the bound"

"""Locally optimal token choices, and the Att-SVM's solution without the rivals of a choice."""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.theory import ensure_positive
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import suppose
from properties.tf import definition_2 as statement
from properties.tf.definition_2.conclusion import led
from symbolic.alternatives import UNIQUE_OPTIMUM, WITHOUT_RIVALS
from symbolic.least_points import (
    ensure_existence,
    ensure_multipliers,
    ensure_multipliers_suffice,
)


def prove() -> str:
    """Prove `ensure_by_others` if there are rivals; without any there is no least margin."""
    suppose(statement.RIVALLED)
    ensure_by_others()
    return (
        "for any n, T, d: where the solution W' without rivals gives them margins of 1 it is "
        "W^mm(alpha), being nearest in a larger set; else some rival is tight, or multipliers of "
        "the others alone would prove W^mm(alpha) to be W'"
    )


def ensure_by_others() -> None:
    """Prove that the rivals' least margin under W^mm(alpha) is the larger of 1 and another margin.

    The other margin is their least margin under the solution without them.
    """
    ensure_existence(WITHOUT_RIVALS)
    ensure_multipliers()
    ensure_multipliers_suffice()


def prove_optimal() -> str:
    """Prove that unique optimal tokens are locally optimal if W^mm exists.

    They score above all other tokens.
    """
    best = sp.Symbol("best", real=True)
    apart = sp.Symbol("apart", nonnegative=True, nonzero=True)
    ensure_existence(FEASIBLE)
    suppose(UNIQUE_OPTIMUM)
    (comparison,) = comparisons(
        led(SYMBOLS, best, best - apart, sp.Symbol("margin", real=True), "all")
    )
    ensure_positive(
        comparison.right - comparison.left,
        "no score is above the best one, and that of another token, which is not optimal, differs "
        "from it: what is compared holds, for every t and so for those in T_i",
    )
    return "for any n, T, d: by the definition of an optimum and of feasibility"

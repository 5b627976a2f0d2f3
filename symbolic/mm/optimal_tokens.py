"""If an input's other tokens share one score, its risk falls as they lose attention.

The claim's formulas run on one input of n tokens, n a symbol, as in `symbolic.tf.definition_1`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.proof import expanded, suppose
from attsvm.theory.types import Numbers
from properties._support.risk_formulas import DECREASES
from properties.mm import optimal_tokens as statement
from properties.mm.optimal_tokens.conclusion import attends_more, lower
from symbolic.sums import entry, total, vector
from symbolic.tf.definition_1 import BEST, GAMMA, OPTIMAL, Tokens


class _Attended(Tokens):
    """The arithmetic in which the softmax of a prompt is a vector of letters named after it."""

    def softmax(self, s: Numbers) -> Numbers:
        """Return the attention of a prompt, as a vector with the prompt's name."""
        return vector(entry(str(s.ravel()[0])))

    def array(self, x: Any) -> Any:
        """Return the only input of a list."""
        return x[0]

    def sum(self, x: Numbers) -> sp.Expr:
        """Return the sum over tokens; an expression is a sum already and is returned unchanged."""
        return x if isinstance(x, sp.Expr) else super().sum(x)


def prove() -> str:
    """Prove that a prompt with no more weight off the optimal tokens has no higher loss.

    Let the other tokens of an input have one score. Then the attended score is the best one less
    the gap times the weight off the optimal tokens.
    """
    one = np.array([[sp.Integer(1)]], dtype=object)
    p, q = (np.array([sp.Symbol(name)], dtype=object) for name in "pq")
    loss = SimpleNamespace(drop=lambda m, best, x: x)  # grows with x as l falls
    v = SimpleNamespace(X=[one], W=one, p=p, q=q, gamma=[vector(GAMMA)], loss=loss, n=1)
    comparison, (asked,) = lower(_Attended(), v, 1), comparisons(attends_more(_Attended(), v))
    gap, more = sp.symbols("gap more", nonnegative=True)
    apart = (entry("p") - entry("q")) * (BEST - GAMMA)
    ensure_equal(
        comparison.right - comparison.left,
        total(apart),
        "<s_q, gamma> - <s_p, gamma>, which is compared, is a sum over tokens of (p_t - q_t) "
        "(best - gamma_t)",
    )
    suppose(statement.ONE_RIVAL)
    alike = apart.subs(GAMMA, BEST - gap * (1 - OPTIMAL))
    ensure_equal(
        total(alike),
        gap * (asked.right - asked.left),
        "where other tokens have one score this sum is the gap times how much less weight q "
        "has off the optimal tokens than p",
    )
    suppose(statement.MORE, DECREASES)
    whole = asked.left + more + total(entry("p") * OPTIMAL)  # by the hypothesis
    ensure_nonnegative(
        total(alike).subs(total(entry("p")), whole),
        "prompt q, which has no more weight off the optimal tokens, attends to a score that "
        "is no lower",
        normal=expanded,
    )
    return "for every decreasing loss, where l is no higher, in each input, any n, T and d"

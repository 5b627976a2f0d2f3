"""Data for which only the optimal choice is locally optimal."""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import FEASIBLE, ONE_INPUT
from attsvm.theory import ensure_equal, ensure_true
from attsvm.theory.declaration.proof import suppose
from properties._support.token_choices import EVERYWHERE, allowed
from properties.tf import all_local_unique as statement
from symbolic.alternatives import UNIQUE_OPTIMUM
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_existence, ensure_some_margin_is_tight
from symbolic.tf import definition_2


def prove() -> str:
    """Prove that the optimal tokens are the only locally optimal choice if they are unique.

    The hypothesis is that every other choice has a better token on its margin.

    Raises:
        ProofError: a step fails.
    """
    best, lead = sp.Symbol("gamma_opt", real=True), sp.Symbol("lead", positive=True)
    margin = sp.Symbol("margin", real=True)
    ensure_existence(FEASIBLE)
    suppose(UNIQUE_OPTIMUM)
    ensure_true(
        allowed(best, best - lead, margin),
        "unique optimal tokens score more than each other token, whatever its margin is",
    )
    suppose(EVERYWHERE)
    ensure_true(
        not allowed(best - lead, best, sp.Integer(1)),
        "where alpha_i is another token and has a solution, opt_i is a token of margin 1 that does "
        "not score less: alpha is not locally optimal",
    )
    return "for any n, T and d"


def prove_three() -> str:
    """Prove that, for tokens a, b and 0 of falling scores, b is locally optimal iff <a, b> < 0.

    Raises:
        ProofError: a step fails.
    """
    suppose(UNIQUE_OPTIMUM, ONE_INPUT, statement.FEW)
    definition_2.ensure_by_others()
    a, b = vector("a"), vector("b")
    ensure_equal(
        (a - b) @ a - a @ a,
        -inner("a", "b"),
        "the solution a/||a||^2 of a against 0 gives b a margin above 1 where <a, b> < 0: there b "
        "is no support vector of the Att-SVM, else its margin is 1",
    )
    ensure_equal(
        (b - a) @ b - b @ b,
        -inner("a", "b"),
        "the solution b/||b||^2 of b against 0, which b has without its rival a, keeps a beyond "
        "the margin where <a, b> < 0, and nowhere else is b locally optimal",
    )
    ensure_some_margin_is_tight()
    return (
        "for any d: a token of the lowest score has rivals alone, of which one is tight, as has b "
        "where it scores no more than 0; of two tokens of the second-best score one is tight; "
        "without an Att-SVM solution the optimal choice is not local, and no token supports it"
    )

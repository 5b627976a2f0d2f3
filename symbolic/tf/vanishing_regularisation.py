"""Minimisers W_lambda of the risk with a penalty lambda ||W||^2/2, as lambda falls to 0.

Each is a point of the regularisation path, of radius ||W_lambda||, which tends to infinity.

On `tf/vanishing-regularisation`, with instances of `properties/tf/vanishing_regularisation`:

The proofs use the limits of theorem 2 (amended-1) and theorem 3 (amended-2) along the radii
R = ||W_lambda||. For the nuclear norm it is proved only that the path approaches a set of
solutions. If this set has several points, it is open whether the path has a limit in it.
"""

import sympy as sp

from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import Supposition, expanded, factored
from properties._support.suppositions import SMOOTH_SLOPE, UNIQUE_OPTIMUM
from symbolic.continuity import cite_extreme_value, ensure_continuous
from symbolic.gains import GAMMA, GAMMA_O
from symbolic.textbook import COMPOSED, CONTINUOUS, EXPONENTIAL
from symbolic.tf import lemma_2, path_limits, theorem_2

LAMBDA, SQUARE, GAP, START = sp.symbols("lambda square gap gap_0", positive=True)
"""`square` is ||W||^2 or ||K||^2 + ||Q||^2, and the penalty lambda times half of it. `gap` is the
risk gap of a point, and `gap_0` that of the point 0."""
LESS, MORE = sp.symbols("less more", nonnegative=True)
R, POWER = sp.symbols("r power", positive=True)
"""The number of other tokens of an input, and exp(x)."""


def ensure_least_objective(weight: sp.Expr, what: str) -> None:
    """Prove that the risk and the weighted penalty have a least value on a closed ball.

    Args:
        weight: the weight of the penalty.
        what: the name of the objective.
    """
    a, entry_of_w = sp.symbols("a w", real=True)
    loss, power = sp.Function("l"), sp.Symbol("power", positive=True)
    share = sp.exp(a) / (sp.exp(a) + power)
    objective = loss(GAMMA_O * share + GAMMA * (1 - share)) + weight * entry_of_w**2 / 2
    continuous = f"{what}, of which this is an input's part, is continuous in logits and entries"
    ensure_continuous(objective, continuous, (loss, SMOOTH_SLOPE))
    cite_extreme_value(continuous, f"the least value of {what} on a closed ball")


def ensure_on_path() -> None:
    """Prove that a minimiser with penalty exists, with the least risk in the ball of its norm."""
    ensure_positive(
        (GAP + LAMBDA * SQUARE / 2 - START).subs(SQUARE, 2 * START / LAMBDA + LESS),
        "a penalty of at least the risk gap at 0 makes the objective larger than at 0",
        normal=expanded,
    )
    ensure_least_objective(LAMBDA, "the risk with a penalty")
    ensure_positive(
        sp.expand(GAP + LAMBDA * (SQUARE + LESS) / 2 - LAMBDA * SQUARE / 2),
        "a point of no larger norm whose risk is less by a gap has a lower objective",
    )


def ensure_above(continuous: Supposition) -> None:
    """Prove that at W = x M the weight off the optimal tokens is at most r/(r + exp(x)).

    This holds in each input; r is the number of its other tokens. So the risk tends to L_* as x
    grows.

    Args:
        continuous: the hypothesis that the loss is continuous, so that L_* is the infimum.
    """
    odds = sp.Symbol("odds", nonnegative=True)
    cite(EXPONENTIAL)
    ensure_nonnegative(
        1 / POWER * (1 - 1 / (1 + MORE)),
        "a token with a margin of at least x has odds of at most exp(-x)",
        normal=factored,
    )
    ensure_nonnegative(
        (R / (R + POWER) - odds / (1 + LESS + odds)).subs(POWER, R / (odds + MORE)),
        "the weight off the optimal tokens is at most r/(r + exp(x)) where odds of other "
        "tokens add up to at most r exp(-x) and those of the optimal ones to at least 1",
        normal=factored,
    )
    whole = sp.Symbol("range", positive=True)
    ensure_nonnegative(
        (odds + LESS) * whole - odds * whole,
        "best - <s, gamma>, at most the weight times the range, is at most the bound times "
        "the range",
        normal=expanded,
    )
    ensure_equal(
        sp.limit(R / (R + sp.exp(sp.Symbol("x"))), sp.Symbol("x"), sp.oo),
        0,
        "r/(r + exp(x)) tends to 0 as x tends to infinity",
    )
    cite(COMPOSED, met={CONTINUOUS: continuous})  # l at the best scores


def ensure_norm_grows() -> None:
    """Prove that the norm of the minimiser tends to infinity as lambda falls to 0."""
    ensure_above(SMOOTH_SLOPE)  # this needs only that l decreases and is continuous
    lemma_2.ensure_missed(UNIQUE_OPTIMUM, SEVERAL_TOKENS)  # attended scores are below the best ones
    theorem_2.ensure_secants()  # l(best - x) > l(best) for x > 0, strictly decreasing or not
    ensure_least_objective(sp.Integer(0), "the risk")
    on_ball, more = 2 * GAP + MORE, sp.Symbol("beyond", positive=True)
    ensure_positive(
        (on_ball - (GAP + LAMBDA * SQUARE / 2)).subs(LAMBDA, 2 * GAP / (SQUARE * (1 + more))),
        "a ball on which the risk gap is positive, so that its least is at least twice that of "
        "some W, is left as lambda falls below 2 gap/square of this W: W has a lower objective",
        normal=factored,
    )


def prove() -> str:
    """Prove that W_lambda/||W_lambda|| tends to W^mm/||W^mm||, with the path's rate at its norm."""
    ensure_on_path()
    ensure_norm_grows()
    path_limits.prove()
    return "for every smooth decreasing loss with l' < 0 at the best scores, any n, T and d"


def prove_factored() -> str:
    """Prove that the products K Q^T/R approach the solutions of the nuclear-norm SVM over C_*."""
    ensure_on_path()
    ensure_norm_grows()
    path_limits.prove_factored()
    return "for every such loss, any n, T and d, and inner dimension d"

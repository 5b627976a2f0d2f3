"""Lower and upper bounds of the risk gap of a matrix W of given norm.

Letters are those of `properties.tf.lemma_2_limit`: M is the least matrix with margins of at least 1
for some choice among tied optimal tokens, N is ||M||, and x is ||W||/N. The odds of a token are its
weight over that of the optimal token with the largest weight.
"""

import sympy as sp

from attsvm.primitives.loss_hypotheses import STRICTLY_DECREASING
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import (
    Supposed,
    Supposition,
    cancelled,
    expanded,
    factored,
    suppose,
)
from symbolic.alternatives import SCORES_OR_SEPARATED
from symbolic.least_points import SCALED, ensure_existence, ensure_scaled_meets
from symbolic.textbook import COMPOSED, CONTINUOUS, EXPONENTIAL
from symbolic.tf import definition_1

K, R, POWER = sp.symbols("k r power", positive=True)
"""The numbers of optimal and of other tokens of an input, and exp(x)."""
MORE, LESS, ALSO = sp.symbols("more less also", nonnegative=True)


def ensure_margin() -> None:
    """Prove that some margin of W is at most ||W||/N, and at most 0 if no matrix separates."""
    ensure_scaled_meets()
    ensure_existence(SCALED)
    norm, N, margin = sp.symbols("norm N margin", positive=True)
    ensure_nonnegative(
        (norm / N - margin).subs(norm, margin * (N + MORE)),
        "where all margins are at least margin > 0, W/margin meets the constraints of a "
        "choice, so ||W||/margin >= N: margin <= ||W||/N",
        normal=cancelled,
    )


def ensure_below() -> None:
    """Prove that some input has a weight off its k optimal tokens of at least 1/(1 + k exp(x)).

    So the risk gap is bounded below.
    """
    # the sums of odds of other tokens, and of optimal tokens
    odd, tied = 1 / POWER + MORE, 1 + ALSO
    bound = 1 / (1 + K * POWER)
    ensure_nonnegative(
        (odd / (tied + odd) - bound).subs(K, tied + LESS),
        "the weight off k optimal tokens of odds at most 1 is at least 1/(1 + k exp(x)) "
        "where other tokens have odds of at least exp(-x)",
        normal=factored,
    )
    least = sp.Symbol("next", positive=True)
    ensure_nonnegative(
        (bound + LESS) * least - bound * least,
        "best - <s, gamma>, at least the weight times next, is at least the bound times next "
        "in that input",
        normal=expanded,
    )
    ensure_positive(
        [bound * least, -sp.diff(bound, POWER)],
        "this bound times next is above 0, so that l(best) is not attained there, and it "
        "falls as x grows, so that it is above a constant in every ball",
    )
    n, low = sp.symbols("n low", positive=True)
    ensure_nonnegative(
        ((low + MORE) + LESS) / n - low / n,
        "the loss of that input grows by at least the least such growth, and those of others "
        "do not fall, so that their mean grows by at least 1/n of it",
        normal=expanded,
    )


STRICT = Supposed(
    "l is one of the strictly decreasing losses, all of which are continuous",
    (STRICTLY_DECREASING,),
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


def prove() -> str:
    """Prove both bounds of L(W) - L_*, which are one for an input of two tokens at W = x M."""
    definition_1.ensure_drop()
    suppose(SCORES_OR_SEPARATED)
    ensure_margin()
    ensure_below()
    ensure_above(STRICT)
    ensure_equal(
        (1 / (1 + K * POWER)).subs(K, 1),
        (R / (R + POWER)).subs(R, 1),
        "the bounds 1/(1 + k exp(x)) and r/(r + exp(x)) are equal for k = r = 1, an input of "
        "two tokens",
    )
    return (
        "for every strictly decreasing loss, any n, T and d, ties included; the infimum is L_* "
        "where l is continuous"
    )

"""The loss of an input at attention s, compared with that at its best score, for any n tokens.

The formulas of the claims are evaluated on vectors of n tokens, where n is a symbol. Letters stand
for the largest and the least number of a vector. Each formula compares 0 with a sum over tokens,
and the proof shows the sign of one term, for an optimal token and for another one.
"""

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.proof import expanded
from attsvm.theory.declaration.proof import suppose as suppose_in_prose
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import assume, at, beyond, cases, cite, cut, decide, scale, square
from attsvm.theory.proof.terms import IS_ZERO, REAL, Function, Letter, least, most
from attsvm.theory.proof.terms import total as total_over
from attsvm.theory.types import Number, Numbers
from properties._support.risk_formulas import DECREASES
from properties._support.risk_formulas import DECREASING as DECREASING_STRICTLY
from properties._support.suppositions import DECREASING
from properties.tf.definition_1 import DEFINITION
from properties.tf.definition_1.conclusion import between, drop
from symbolic.attended import (
    best_gap,
    deficit_positive,
    falls,
    next_below,
    next_positive,
    off_bound,
)
from symbolic.facts import count, end, formula_of, index, letters_in, product, some_of, squares
from symbolic.sums import Lengths, entry, total, vector

S, GAMMA, OPTIMAL = entry("s"), entry("gamma"), entry("optimal")
"""The attention to a token, its score, and 1 or 0 as it is optimal or not."""
BEST, NEXT, RANGE = sp.symbols("best next range", real=True)
"""The best score, its distance to the next lower score, and its distance to the worst score."""
ADDED = S * (BEST - GAMMA)
"""The summand of a token in best - <s, gamma>."""


class Tokens(Lengths):
    """The arithmetic of vectors of n tokens, with letters for maximum, minimum and range.

    The claims take the maximum of scores, the minimum of gaps and the oscillation of scores.
    """

    def max(self, x: Numbers) -> sp.Expr:
        """Return the best score."""
        return BEST

    def min(self, x: Numbers) -> sp.Expr:
        """Return the least gap."""
        return NEXT

    def oscillation(self, x: Numbers) -> sp.Expr:
        """Return the range."""
        return RANGE

    def is_zero(self, x: Number) -> Numbers:
        """Return the vector that is 1 at optimal tokens and 0 at others."""
        return vector(OPTIMAL)


def _case() -> SimpleNamespace:
    """Return an instance whose loss is represented by x in place of l(best - x) - l(best).

    Both grow with x, as l falls.
    """
    loss = SimpleNamespace(drop=lambda m, best, x: x)
    return SimpleNamespace(s=vector(S), gamma=vector(GAMMA), loss=loss)


def added(term: sp.Expr, s: sp.Expr, gamma: sp.Expr, optimal: int = 0) -> sp.Expr:
    """Return the term of a token with this attention and score."""
    return sp.expand(term.subs({S: s, GAMMA: gamma, OPTIMAL: optimal}))


def ensure_shortfall() -> None:
    """Prove that best - <s, gamma> is the sum of s_t (best - gamma_t)."""
    fall = drop(Tokens(), _case())
    ensure_equal(fall, total(ADDED), "l(<s, gamma>) is l at best less the sum of s_t gap_t")
    ensure_equal(
        fall.subs(total(S), 1),
        BEST - total(S * GAMMA),
        "the sum of s_t gap_t is best - <s, gamma>, as the s_t add up to 1",
    )


def ensure_between() -> None:
    """Prove that best - <s, gamma> lies between w next and w range.

    w is the weight off the optimal tokens.

    Raises:
        ProofError: a step fails.
    """
    s, more = sp.Symbol("s_t", nonnegative=True), sp.Symbol("more", nonnegative=True)
    ensure_shortfall()
    low, high = comparisons(between(Tokens(), _case(), 1))
    terms = ADDED - S * (1 - OPTIMAL) * NEXT, S * (1 - OPTIMAL) * RANGE - ADDED
    for comparison, term, what in (low, terms[0], "below"), (high, terms[1], "above"):
        name = f"the bound from {what} holds by a sum over tokens"
        ensure_equal(comparison.right - comparison.left, total(term), name)
        ensure_zero(added(term, s, BEST, 1), f"{name}, to which an optimal token adds 0")
    ensure_nonnegative(
        [added(terms[0], s, BEST - NEXT - more), added(terms[1], s, BEST - RANGE + more)],
        "a token that is not optimal, whose gap is at least next and at most range, adds no "
        "negative number to these sums",
        normal=expanded,
    )
    ensure_nonnegative(
        [added(ADDED, s, BEST), added(ADDED, s, BEST - more)],
        "no s_t gap_t is negative, so that <s, gamma> <= best, and l is at least l(best) there",
    )
    least = sp.Symbol("gap", positive=True)
    ensure_positive(
        added(ADDED, sp.Symbol("s_t", positive=True), BEST - least),
        "a token that is not optimal, with weight on it, makes <s, gamma> strictly less than best",
    )


def ensure_drop() -> None:
    """Prove that the falling loss lies between its values at best - w next and best - w range."""
    ensure_between()
    suppose_in_prose(DECREASING)


V = letters_in(DEFINITION, "sharp")
t = index("t", "T")
LOSS = Function("loss", (REAL,))
SCORE, WEIGHT = (x.entry((t.term,)) for x in (V.gamma, V.s))
BEST_SCORE = most(SCORE, t)
GAP = BEST_SCORE - SCORE
DEFICIT = total_over(WEIGHT * GAP, t)
OFF = total_over(WEIGHT * (1 - IS_ZERO(GAP)), t)
NEXT_GAP = least(GAP + (most(GAP, t) + 1) * IS_ZERO(GAP), t)


def weights(some: Fact) -> Fact:
    """Return that the weights are at least 0: squares over their sum, or all equal."""
    square_, whole = V.w.entry((t.term,)) ** 2, total_over(V.w.entry((t.term,)) ** 2, t)
    at_zero, *_, indicator, _ = cite(INDICATOR, (), whole)
    shares = total_over(square_ + IS_ZERO(whole), t)
    condition = gt(whole, 0)
    yes, no = assume(condition), assume(condition.denied())
    at_least = squares(V.w.entry((t.term,)), t)
    one = cut(at_zero, decide(eq(whole, 0), at_least, no))
    far = decide(gt(shares, 0), yes, count(t), indicator)
    near = decide(gt(shares, 0), at_least, some, scale(one, total_over(1, t)))
    _, inverse = cite(RECIPROCAL, [cases(far, near, condition)], shares)
    share = decide(ge(square_ + IS_ZERO(whole), 0), square(V.w.entry((t.term,))), indicator)
    return product(share, inverse)


@linked
def prove() -> str:
    """Prove that the falling loss lies between its values at best - w next and best - w range."""
    some = some_of(DEFINITION, "sharp", "T")
    (decreases,) = suppose(DECREASES, formula_of(DEFINITION, "sharp"))
    gap, weight = best_gap(SCORE, t), weights(some)
    deficit = deficit_positive(gap, weight, t)
    end(
        DEFINITION,
        "literal-2",
        by=[falls(decreases, LOSS, BEST_SCORE - DEFICIT, BEST_SCORE, deficit)],
    )
    low = off_bound(gap, weight, t, next_below(gap, t, most(GAP, t) + 1), 1)
    wide = decide(ge(BEST_SCORE - least(SCORE, t), GAP), beyond("least", SCORE, t))
    high = off_bound(gap, weight, t, wide, -1)
    range_ = BEST_SCORE - least(SCORE, t)
    facts = (
        falls(decreases, LOSS, BEST_SCORE - DEFICIT, BEST_SCORE - OFF * NEXT_GAP, low),
        falls(decreases, LOSS, BEST_SCORE - OFF * range_, BEST_SCORE - DEFICIT, high),
    )
    end(DEFINITION, "sharp", by=facts)
    return "for every decreasing loss and any T and d"


@linked
def prove_only() -> str:
    """Prove that weight off the best tokens costs something, for a strictly decreasing loss."""
    some = some_of(DEFINITION, "amended", "T")
    (decreases,) = suppose(DECREASING_STRICTLY, formula_of(DEFINITION, "amended"))
    gap, weight = best_gap(SCORE, t), weights(some)
    widest = decide(gt(most(GAP, t) + 1, 0), beyond("most", GAP, t), gap, some)
    positive = next_positive(gap, t, widest, some)
    low = off_bound(gap, weight, t, next_below(gap, t, most(GAP, t) + 1), 1)
    off = assume(gt(OFF, 0))
    short = decide(gt(DEFICIT, 0), low, off, positive)
    values = {Letter("a"): BEST_SCORE - DEFICIT, Letter("b"): BEST_SCORE}
    end(DEFINITION, "amended", by=[cut(at(decreases, values), short)])
    return "for every strictly decreasing loss and any T and d"

"""Gradient flow on g(-u) for the attended score u = b <f, h>, with g the logistic function.

Along the flow u rises at the rate g'(u) ||grad u||^2. Let all rivals have the same score. Then the
score of a token is the least score, plus `gap` if the token is optimal. So u is an affine function
of F, the weight of the optimal tokens.
"""

from typing import Any

from attsvm.theory import gradient
from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, eq, ge, gt, note
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    cases,
    cite,
    cut,
    decide,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, Term, least, most, substituted, total
from attsvm.theory.types import Values
from properties.sim.definition_3_6 import ALIKE, DEFINITION
from properties.sim.definition_3_6.conclusion import optimal, score
from symbolic.facts import end, formula_of, index, letters_in, power, product, some_of, squares


@linked
def prove() -> str:
    """Prove that <grad g(-u), grad u> = -g'(u) ||grad u||^2 is at most 0, for every n and D."""
    v: Values = letters_in(DEFINITION, "amended-2")
    k = index("k", "D")

    def entry(m: Any, x: Any) -> Any:
        return score(m, v.A, x, v.h, v.b)

    u, moved = entry(LETTERS, v.x).term, gradient(LETTERS, entry, v.x)
    slope = note("g'(u) is positive", product(power(u), square(INV(1 + EXP(u)))))
    fact = product(slope, squares(number(moved).entry((k.term,)), k))
    end(DEFINITION, "amended-2", by=[fact])
    return "du/ds = g'(u) ||grad u||^2 >= 0 along -grad g(-u) by the chain rule, for any n and D"


def two_scores(score: Term, o: Term, some: Fact, alike: Fact) -> tuple[Fact, Fact]:
    """Return that a score is low + (top - low) o, and that top - low >= 0.

    Args:
        score: the score of token t.
        o: 1 if it is the largest one, else 0.
        some: that there is a token.
        alike: that two tokens with o = 0 have the same score.
    """
    t = index("t", "n")
    top, low = most(score, t), least(score, t)
    above, below = beyond("most", score, t), beyond("least", score, t)
    gap = decide(ge(top - low, 0), above, below, some)
    _, zero, *_ = cite(INDICATOR, (), top - score)
    far = gt(top - score, 0)
    flat = decide(eq(top - score, 0), above, assume(far.denied()))
    # o (top - score) = 0 and (1 - o) (score - low) = 0
    best = cases(scale(zero, top - score), scale(flat, o), far)
    # (1 - o) (score - low) = 0, by a token of the least score
    pick, chosen = attained("lowest", low, some)
    there, wide = {t: pick()}, gt(top - low, 0)
    yes, no = assume(wide), assume(wide.denied())
    ahead = decide(gt(top - substituted(score, there), 0), chosen, yes)
    none = cut(at(zero, there), ahead)
    pair = at(alike, {index("n", "n"): t, index("n1", "n"): pick()})
    factor = (1 - o) * (score - substituted(score, there))
    goal = eq((1 - o) * (score - low), 0)
    rival = cases(
        decide(goal, pair, scale(none, factor), scale(chosen, 1 - o), degree=1),
        decide(goal, scale(decide(eq(score, low), above, below, no), 1 - o)),
        wide,
    )
    return decide(eq(score, low + o * (top - low)), rival, best, degree=1), gap


@linked
def prove_equal_rivals() -> str:
    """Prove that with equal rivals u = low + gap F, so that grad u = gap grad F with gap >= 0."""
    reading = "amended-3"
    v: Values = letters_in(DEFINITION, reading)
    t, k = index("t", "n"), index("k", "D")
    (alike,) = suppose(ALIKE, formula_of(DEFINITION, reading))
    some, score_ = some_of(DEFINITION, reading, "n"), v.b.term * v.h.entry((t.term,))
    o = number(optimal(LETTERS, v.h, v.b)).entry((t.term,))
    affine, gap = two_scores(score_, o, some, alike)
    logit, A = (v.A @ v.x).entry((t.term,)), v.A.entry((t.term,), (k.term,))
    whole, low = total(EXP(logit), t), least(score_, t)
    f = EXP(logit) * INV(whole)
    one, _ = cite(RECIPROCAL, [add_up(power(logit), t, None, some)], whole)

    def slope(x: Term) -> Term:
        return total(A * f * x, t) - total(f * x, t) * total(A * f, t)

    parts = (
        *(add_up(scale(affine, A * f), t), scale(one, low * total(A * f, t))),
        scale(add_up(scale(affine, f), t), total(A * f, t)),
    )
    rise = gap.proposition.term
    same = decide(eq(slope(score_), rise * slope(o)), *parts, degree=1)
    along = add_up(scale(same, slope(o)), k)
    both = decide(
        ge(total(slope(score_) * slope(o), k), 0), along, gap, add_up(square(slope(o)), k)
    )
    u = total(f * score_, t)
    end(DEFINITION, reading, by=[product(power(u), square(INV(1 + EXP(u))), both)])
    return "with equal rivals u = low + gap F, so dF/ds = g'(u) gap ||grad F||^2, for any n and D"

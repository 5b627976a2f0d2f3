"""No prompt has a risk below that of the first tokens, if these are best for heads that are convex.

A head is h(x) = sum_k b_k phi(<a_k, x>) with a convex phi and b_k >= 0, or phi is linear.
"""

from __future__ import annotations

from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    cases,
    cite,
    decide,
    exchange,
    inside,
    scale,
    split,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    IS_ZERO,
    Letter,
    Term,
    after_first,
    as_term,
    first_of,
    least,
    substituted,
    total,
)
from properties._support.risk_formulas import CONVEX_PHI, DECREASES
from properties.mm.nonlinear_head_path import PATH
from properties.mm.nonlinear_head_path.conclusion import BEST, RISING
from symbolic.attended import LOSS, falls, i, t
from symbolic.facts import end, formula_of, index, letters_in, product, softmax, some_of
from symbolic.tf.mixtures import PHI, SLOPE, tangent

k, d = index("k", "K"), index("l", "d")


def unmoved(start: Term, y: Term) -> Fact:
    """Return that the indicator of y = 0 times phi(start + y) - phi(start) is 0."""
    _, if_above, if_below, *_ = cite(INDICATOR, (), y)
    moved = PHI(start + y) - PHI(start)
    goal, up, down = eq(IS_ZERO(y) * moved, 0), gt(y, 0), gt(-y, 0)
    zero = decide(eq(y, 0), assume(up.denied()), assume(down.denied()))
    hole = Letter("hole")
    same = inside(zero, y, as_term(0), PHI(start + hole), hole)
    rest = decide(goal, scale(same, IS_ZERO(y)))
    return cases(
        decide(goal, scale(if_above, moved)),
        cases(decide(goal, scale(if_below, moved)), rest, down),
        up,
    )


@linked
def prove() -> str:
    """Prove that every prompt has at least the risk of the best tokens."""
    formula, v = formula_of(PATH, "amended-1"), letters_in(PATH, "amended-1")
    (above,), (sign,), (best,), (decreases,) = (
        suppose(one, formula) for one in (CONVEX_PHI, RISING, BEST, DECREASES)
    )
    X, start_ = v.X.row((i.term,)), first_of(t.sort)
    b, token = v.b.entry((i.term,), (k.term,)), (X @ v.A.T).entry((t.term,), (k.term,))
    logit = (X @ (v.W.T @ v.p)).entry((t.term,))
    weights = softmax(logit, t, some_of(PATH, "amended-1", "T"))
    s, one = weights.weight, weights.one(t)
    start = substituted(token, {t: start_})
    seen = (v.A @ (v.s.row((i.term,)) @ (X - X[0]))).entry((k.term,))
    output = start + seen
    each = v.A.entry((k.term,), (d.term,)) * X.entry((t.term,), (d.term,))
    swapped = scale(exchange(each * EXP(logit), t, d), INV(weights.sum))
    mean = decide(eq(total(s * token, t), output), swapped, scale(one, start), degree=1)
    # a unit at the output is at most its mean over tokens, if b >= 0 or phi is linear
    goal = ge(b * (total(s * PHI(token), t) - PHI(output)), 0)
    low = least(least(b, k), i)
    condition = ge(low, 0)
    bound = beyond("least", b, k), beyond("least", least(b, k), i)
    rises = decide(ge(b, 0), assume(condition), *bound)
    tangents = add_up(product(weights.positive, tangent(above, token, output)), t)
    level = scale(one, PHI(output) - SLOPE(output) * output)
    parts = tangents, scale(mean, SLOPE(output)), level
    convex = product(rises, decide(ge(total(s * PHI(token), t), PHI(output)), *parts, degree=1))
    a = Letter("a")
    at_tokens = scale(add_up(scale(at(sign, {a: token}), s), t), b)
    parts = at_tokens, scale(at(sign, {a: output}), b), scale(mean, b)
    units = add_up(cases(convex, decide(goal, *parts, degree=1), condition), k)
    # no token is better than the first one
    value = total(b * PHI(token), k)
    largest = substituted(value, {t: start_})
    settings = conclusion_of(formula).setting
    place, later = (
        setting(settings, f"the {words} of the axis T {what}")
        for words, what in (
            ("first index", "has the position 0"),
            ("other indices", "have later positions"),
        )
    )
    others, after = after_first(t.sort)
    other = Letter("other", others)
    to_other = substituted(token, {t: after(other)}) - start
    known = {one.sort.name: one for one in best.letters}
    better = at(best, {known["n"]: i.term, known[others.name]: other.term})
    level = add_up(scale(unmoved(start, to_other), b), k)
    theirs = substituted(value, {t: after(other)})
    behind = decide(ge(largest, theirs), better, level, degree=1)
    positive_ = at(weights.positive, {t: after(other)}, later)
    lost = add_up(product(positive_, behind), other)
    parted = split(s * (value - largest), t, place, later)
    # so the output is no better, and the loss decreases
    swapped = scale(exchange(b * EXP(logit) * PHI(token), k, t), INV(weights.sum))
    change = total(b * (1 - IS_ZERO(seen)) * (PHI(output) - PHI(start)), k)
    level = add_up(scale(unmoved(start, seen), b), k)
    whole = units, swapped, parted, lost, scale(one, largest), level
    order = decide(ge(-change, 0), *whole, degree=1)
    drop = falls(decreases, LOSS, largest + change, largest, order)
    end(PATH, "amended-1", by=[add_up(drop, i)])
    return "for every decreasing loss, any n, T, d, number of units, and any convex phi"

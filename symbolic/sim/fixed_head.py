"""A fixed head H after attention can be absorbed in the values: (f^T M) H e_v = f^T (M H e_v).

M = A_3 Y are the values. The gradient with the head is the closed form of lemma 3.11 for the values
M H e_v, as sums over tokens and over columns change places.
"""

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    conclude,
    decide,
    exchange,
    inside,
    scale,
    split,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    Letter,
    after_first,
    first_of,
    most,
    rebuilt,
    substituted,
    total,
)
from properties.sim.fixed_head import HEAD, MULTIPLE, POSITIVE
from properties.sim.fixed_head.conclusion import scores
from symbolic.facts import formula_of, index, letters_in
from symbolic.facts import power as power_of


@linked
def prove() -> str:
    """Prove that the gradient with a head is the closed form with the values M H e_v."""
    v = letters_in(HEAD, "amended-1")
    t, c, k, e_v = index("t", "n"), index("c", "d"), index("k", "D"), index("v", "V")
    T, C = (t.term,), (c.term,)
    power, key, b = EXP((v.A @ v.x).entry(T)), v.A.entry(T, (k.term,)), v.b.term
    value, over = power * v.M.entry(T, C) * v.H.entry(C, (e_v.term,)), INV(total(power, t))
    # both orders of summing over tokens and columns agree
    scores, keyed = exchange(value, t, c), exchange(key * value, t, c)
    mean, mean_key = total(total(value, c), t) * over, total(key * power, t) * over
    headed, u, hole = b * over * total(total(value, t), c), b * mean, Letter("u")
    slope = EXP(-hole.term) * INV(1 + EXP(-hole.term)) ** 2
    same = inside(scale(scores, b * over), u, headed, slope, hole)
    # the closed form divides by (1 + e)^2, the derivative twice by 1 + e
    e = EXP(-u)
    above = decide(gt(1 + e, 0), power_of(-u))
    once, _ = cite(RECIPROCAL, [above], 1 + e)
    twice, _ = cite(RECIPROCAL, [decide(gt((1 + e) ** 2, 0), above)], (1 + e) ** 2)
    g, q = INV(1 + e), INV((1 + e) ** 2)
    squared = decide(eq(g**2, q), scale(once, q * (1 + g * (1 + e))), scale(twice, g**2))
    spread = total(key * total(value, c), t) * over - mean * mean_key
    weight = substituted(slope, {hole: headed}) * b * over
    claim = conclusion_of(formula_of(HEAD, "amended-1"))
    (conclusion,) = claim.sequents
    (place,), column = conclusion.proposition.letters, first_of(e_v.sort)
    goal = rebuilt(conclusion.proposition.term, lambda x: e_v.term if x.term == column else None)
    fact = decide(
        eq(substituted(goal, {place: k.term}), 0),
        *(scale(same, b * spread), scale(squared, b * e * spread)),
        *(scale(keyed, weight), scale(scores, weight * mean_key)),
        degree=1,
    )
    first = setting(claim.setting, "the first index of the axis V has the position 0")
    conclude(at(fact, {k: place, e_v: column}, first), conclusion)
    return "the gradient with a head is the closed form with values Y H, for any sizes"


@linked
def prove_multiple() -> str:
    """Prove that H e_v = c e_v, c > 0, multiplies every score by c, and so keeps the best ones."""
    formula = formula_of(HEAD, "amended-2")
    claim, v = conclusion_of(formula), letters_in(HEAD, "amended-2")
    (rest,), (positive,) = suppose(MULTIPLE, formula), suppose(POSITIVE, formula)
    t, s, c = index("t", "n"), index("s", "n"), index("c", "d")
    first, later = (
        setting(claim.setting, f"{words} of the axis d {have}")
        for words, have in (
            ("the first index", "has the position 0"),
            ("the other indices", "have later positions"),
        )
    )
    mine, other = (
        number(scores(LETTERS, v, head)).entry((t.term,)) for head in ("column", "ignored")
    )
    factor = positive.proposition.term
    (letter,) = rest.letters
    value = v.M.entry((t.term,), (c.term,)) * v.H[:, 0].entry((c.term,))
    others, after = after_first(c.sort)
    o = Letter("o", others)
    zero = add_up(scale(at(rest, {letter: o}), v.M.entry((t.term,), (after(o),))), o)
    both = split(value, c, first, later)
    same = decide(eq(mine, factor * other), scale(both, v.b.term), scale(zero, v.b.term), degree=1)
    best, level = most(mine, t), most(other, t)
    gap = best - mine
    _, none, _, some, _ = cite(INDICATOR, (), gap)
    ahead = gt(gap, 0)
    no = assume(ahead.denied())
    (conclusion,) = claim.sequents
    (place,) = conclusion.proposition.letters
    goal = conclusion.proposition.at({place: t.term})
    lost = decide(goal, scale(none, other - level))
    up = beyond("most", substituted(mine, {t: s.term}), s)
    theirs = at(same, {t: s})
    each = decide(ge(other, substituted(other, {t: s.term})), up, theirs, same, no, positive)
    exists = setting(claim.setting, "there is an index of the axis n")
    top = bounds(each, "most", substituted(other, {t: s.term}), s, exists)
    kept = decide(goal, top, some)
    conclude(at(cases(lost, kept, ahead), {t: place}), conclusion)
    return (
        "b M (c e_v) is c times b M e_v, so c > 0 leaves the order of the scores as it is, for any "
        "n and d"
    )

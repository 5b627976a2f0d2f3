"""The margins of descent grow like ln k, for inputs of two tokens whose A_i are orthogonal."""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    COUNT,
    FALL,
    LOW,
    NUMBER,
    RATE,
    M,
    W,
    i,
    peer,
    x,
    y,
)
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS, NEGATIVE_SLOPE
from attsvm.theory.proof.facts import K, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cite,
    conclude,
    cut,
    decide,
    inside,
    picked,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, Letter, as_term, substituted, total
from properties.tf.generalised_svm import FORWARD
from properties.tf.generalised_svm import growth_letters as letters
from properties.tf.generalised_svm.growth_letters import LOWER, SETTING, A, factor, output
from properties.tf.generalised_svm.log_growth import BETTER, ORTHOGONAL
from symbolic.facts import by_steps, power, powers_rise, product

HOLE = Letter("hole")


@linked
def prove_bounded() -> str:
    """Prove that exp(m_i) - 1 lies between c_i k/4 and C_i k exp(C_i/4)."""
    claim = present(letters.logarithmic(), "a claim").sequents
    step, start, some_input, lowest, highest, first, later = (setting(SETTING, w) for w in SETTING)
    (forward,), (better,), (apart, long) = suppose(FORWARD), suppose(BETTER), suppose(ORTHOGONAL)
    (convex,), (falling,) = suppose(CONVEX_LOSS), suppose(NEGATIVE_SLOPE)
    m, gap, square_ = A(i) @ W(K), BEST(i) - LOWER(i), A(i) @ A(i)
    E, over = EXP(-m), INV(1 + EXP(-m))
    u = output(m, i.term)
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + E, 0), power(-m))], 1 + E)
    # a step moves m by e |l'| ||A||^2 gap/n s_1 s_2
    pull = FALL(u) * gap * E * over**2 * INV(NUMBER)
    of_other = {i: peer.term}
    aside = FALL(u) * E * over * LOWER(i) * INV(NUMBER)
    body, aside = (substituted(z, of_other) for z in (pull, aside))
    along = A(peer) @ A(i)
    moved = add_up(scale(at(unit, of_other), aside * along), peer)
    moved = decide(
        eq(A(i) @ W(K.term + 1), m + RATE * total(body * along, peer)),
        *(at(step, {M: A(i)}), scale(moved, RATE)),
        degree=1,
    )
    alone = add_up(scale(apart, body), peer), picked(body * along, peer, i)
    D = RATE * pull * square_
    moved = decide(eq(A(i) @ W(K.term + 1), m + D), moved, *(scale(z, RATE) for z in alone))
    # |l'(u)| is between the |l'| of the two scores
    behind = decide(ge(BEST(i) - u, 0), product(better, power(-m), inverse), scale(unit, BEST(i)))
    ahead = decide(ge(u - LOWER(i), 0), better, inverse, scale(unit, LOWER(i)))
    low = cut(at(convex, {x: u, y: BEST(i)}), behind)
    high = cut(at(convex, {x: LOWER(i), y: u}), ahead)
    above = decide(ge(BEST(i), LOW), better, lowest)
    positive = cut(at(falling, {x: BEST(i)}), above, highest)
    _, number = cite(RECIPROCAL, [some_input], NUMBER)
    q = RATE * square_ * gap * INV(NUMBER)
    some = decide(gt(RATE * square_, 0), forward, long)
    some = decide(gt(RATE * square_ * gap, 0), some, better)
    some = decide(gt(q, 0), some, number)
    c, C = factor(BEST(i), i.term), factor(LOWER(i), i.term)
    some_c = decide(gt(c, 0), some, positive)
    # exp(m) grows by at least exp(m) D, and by at most exp(m) D exp(D)
    grown, power_ = EXP(m), EXP(D)
    (law,), (law_,) = (cite(EXPONENTIAL_OF_SUM, (), *z) for z in ((m, -m), (m, D)))
    (back,) = cite(EXPONENTIAL_OF_SUM, (), D, -D)
    after = EXP(A(i) @ W(K.term + 1))
    step_ = decide(
        eq(after, grown * power_), law_, inside(moved, A(i) @ W(K.term + 1), m + D, EXP(HOLE), HOLE)
    )
    rise = decide(eq(grown * D, q * FALL(u) * over**2), scale(law, q * FALL(u) * over**2))
    claims = ge(4 * (grown - 1), c * COUNT(K)), ge(C * COUNT(K) * EXP(C / 4), grown - 1)
    count = by_steps(ge(COUNT(K), 0), [first], [later])
    # below
    one = decide(ge(grown, 1), assume(claims[0]), some_c, count)
    small = decide(ge(1, E), law, one)
    half = decide(ge(2 * over, 1), unit, inverse, small)
    quarter = decide(ge(4 * over**2, 1), half)
    at_least = product(some, quarter, decide(ge(FALL(u), 0), low, positive))
    at_least = decide(ge(4 * grown * D, c), rise, at_least, some, low)
    next_ = step_, power(m), cite(EXPONENTIAL, (), D)[1], at_least, scale(later, c)
    start_ = at(start, {M: A(i)})
    zero = inside(start_, A(i) @ W(0), as_term(0), EXP(HOLE), HOLE)
    below = by_steps(claims[0], [zero, scale(first, c)], next_)
    # above
    steep = product(some, decide(ge(FALL(u), 0), low, positive))
    parts = square((1 - E) * over), scale(unit, (1 + E) * over + 1)
    few = decide(ge(C / 4, D), steep, *parts, some, high)
    few = powers_rise(D, C / 4, few)
    most = product(
        power(m), decide(ge(1 + D * power_, power_), back, power(D), cite(EXPONENTIAL, (), -D)[1])
    )
    whole = product(steep, decide(ge(1, over**2), unit, power(-m), inverse), power(D))
    some_C = decide(ge(C, 0), steep, some, high)
    terms = whole, product(some, high, power(D)), product(some_C, few), scale(rise, power_)
    more = decide(ge(grown + C * EXP(C / 4), after), step_, most, *terms, degree=1)
    rate = C * EXP(C / 4)
    above = by_steps(claims[1], [zero, scale(first, rate)], [more, scale(later, rate)])
    below, above = (at(fact, {K: K.term + 1}) for fact in (below, above))
    rising = decide(gt(after - 1, 0), below, some_c, later, count)
    for fact, sequent in zip((rising, below, above), claim, strict=True):
        conclude(fact, sequent)
    return "for any n and d, and every convex loss with l' < 0"

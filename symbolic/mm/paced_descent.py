"""Each step of normalised descent gains at least s/B along p*, if rivals have the same score.

B is the largest ||A_j||; docs/proofs/normalised_descent.md has the proof.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    FALL,
    GAMMA,
    GRADIENT,
    HIGH,
    NUMBER,
    A,
    M,
    V,
    W,
    i,
    j,
    second,
    x,
)
from attsvm.primitives.hypotheses import EQUAL_RIVALS, FEASIBLE, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE
from attsvm.theory.proof.facts import K, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    cite,
    conclude,
    cut,
    decide,
    scale,
)
from attsvm.theory.proof.terms import INV, NORM, total
from properties.mm.normalised_descent.paced_letters import LONGEST, PACE, PACED, advanced
from symbolic.attention_facts import OWN, attends, gradient, over_own, slope
from symbolic.facts import by_steps, product


@linked
def prove() -> str:
    """Prove that <p(k) - p(0), p*> >= k s / max ||k_alpha - k_t|| for every k.

    s is the length of a step.
    """
    (lower,), (level,), (several,) = suppose(UNIQUE), suppose(EQUAL_RIVALS), suppose(SEVERAL_TOKENS)
    (falling,), (margins, *_) = suppose(NEGATIVE_SLOPE), suppose(FEASIBLE)
    *_, moves, forward, first, later = (setting(PACED, words) for words in [*PACED][-4:])
    a = attends(lower)
    pull = slope(a, gradient())
    p, u, s = pull.p(j, K), a.u(OWN, K), a.s(j, K)
    # -grad L is a sum of the A_j with coefficients p_j > 0
    wide = decide(
        gt(u - GAMMA(j), 0),
        *(at(a.mean, {i: OWN}), over_own(scale(level, s)), level),
        *(scale(at(a.one, {i: OWN}), second(OWN)), at(a.s_o_positive, {i: OWN}), lower),
    )
    highest = decide(ge(HIGH, a.u(i, K)), a.below_best, a.best_high)
    falls = at(cut(at(falling, {x: a.u(i, K)}), a.above_lowest, highest), {i: OWN})
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    weight = decide(gt(s * INV(NUMBER), 0), a.s_positive, over)
    weight = decide(gt(FALL(u) * s * INV(NUMBER), 0), falls, weight)
    weight = decide(gt(p, 0), pull.p_is, weight, wide)
    P, G = total(p, j), GRADIENT(W(K))
    some = add_up(weight, j, None, several)
    # <-grad L, p*> is at least their sum, and ||grad L|| at most B times it
    gain = add_up(product(weight, margins), j)
    gain = decide(ge(-G @ V, P), at(pull.along, {M: V}), gain)
    (within,), (each,) = cite(CAUCHY_SCHWARZ, (), -G, V), cite(CAUCHY_SCHWARZ, (), A(j), -G)
    (length, square), (turned, square_), (size, _) = (cite(LENGTH, (), v) for v in (G, -G, V))
    same = decide(eq(NORM(-G), NORM(G)), length, square, turned, square_)
    moving = decide(gt(NORM(-G), 0), within, gain, some, size)
    longest = beyond("most", NORM(A(j)), j)
    each = product(weight, decide(ge(LONGEST * NORM(-G), A(j) @ -G), each, longest, turned))
    short = decide(
        ge(P * LONGEST, NORM(-G)), add_up(each, j), at(pull.along, {M: -G}), square_, moving
    )
    # so that a step gains at least s/B
    some_length = decide(gt(LONGEST, 0), short, moving, some)
    unit, inverse = cite(RECIPROCAL, [some_length], LONGEST)
    unit_, inverse_ = cite(RECIPROCAL, [decide(gt(NORM(G), 0), moving, same)], NORM(G))
    pace, under = INV(NORM(G)), INV(LONGEST)
    short = decide(ge(P * LONGEST, NORM(G)), short, same)
    parts = product(short, inverse, inverse_), scale(unit, P * pace), scale(unit_, under)
    along = at(moves, {M: V}), product(gain, inverse_, forward)
    rises = decide(ge((W(K.term + 1) - W(K)) @ V, PACE * under), forward, *parts, *along)
    exists, sized, end = present(advanced(), "a claim").sequents
    start, step = [scale(first, PACE * under)], [rises, scale(later, PACE * under)]
    conclude(margins, exists)
    conclude(some_length, sized)
    conclude(by_steps(end.proposition, start, step), end)
    return "for every loss with l' < 0, any n, T, d and k: each step gains s / max ||A_it||"

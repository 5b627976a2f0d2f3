"""Each step of normalised descent gains at least s/B along p*, if rivals have the same score.

B is the largest ||A_j||; docs/proofs/normalised_descent.md has the proof.
"""

from dataclasses import dataclass

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
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    cite,
    cut,
    decide,
    scale,
)
from attsvm.theory.proof.terms import INV, NORM, total
from properties.mm.normalised_descent.paced_letters import LONGEST, PACE, PACED, advanced
from symbolic.attention_facts import OWN, Attention, Slope, attends, gradient, over_own, slope
from symbolic.facts import by_steps, conclude_each, product


@dataclass(frozen=True, slots=True)
class Pace:
    """Facts about the steps; p_j are the coefficients of -grad L, and P is their sum."""

    attention: Attention
    pull: Slope
    level: Fact  # the rivals of an input score the same
    several: Fact  # there is a rival
    margins: Fact  # p* has margins of at least 1
    shortest: Fact  # no prompt that has them is shorter than p*
    weight: Fact  # p_j > 0
    some: Fact  # P > 0
    gain: Fact  # <-grad L, p*> >= P
    moves: Fact  # a step has the length s, along the negative gradient
    forward: Fact  # s > 0
    unit: Fact  # ||grad L|| Inv(||grad L||) = 1
    inverse: Fact  # Inv(||grad L||) > 0
    moving: Fact  # ||-grad L|| > 0
    size: tuple[Fact, Fact]  # ||p*|| >= 0, and its square
    length: Fact  # ||grad L||^2
    within: Fact  # ||-grad L|| ||p*|| >= <-grad L, p*>
    turned: Fact  # ||-grad L|| = ||grad L||
    some_length: Fact  # B > 0
    start: Fact  # step 0 has the number 0
    later: Fact  # the next step has the next number
    progress: Fact  # <p(k) - p(0), p*> >= k s/B


def steps() -> Pace:
    """Prove that <p(k) - p(0), p*> >= k s/B, as the rivals of an input have the same score."""
    (lower,), (level,), (several,) = suppose(UNIQUE), suppose(EQUAL_RIVALS), suppose(SEVERAL_TOKENS)
    (falling,), (margins, shortest) = suppose(NEGATIVE_SLOPE), suppose(FEASIBLE)
    moves, forward, first, later = (
        setting(PACED, words)
        for words in (
            "a step has the length s, along the negative gradient of the risk",
            "s is positive",
            "the first step has the number 0",
            "the next step has the next number",
        )
    )
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
    (length, square), (turned, square_), of_V = (cite(LENGTH, (), v) for v in (G, -G, V))
    same = decide(eq(NORM(-G), NORM(G)), length, square, turned, square_)
    moving = decide(gt(NORM(-G), 0), within, gain, some, of_V[0])
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
    end = present(advanced(), "a claim").sequents[-1]
    start, step = [scale(first, PACE * under)], [rises, scale(later, PACE * under)]
    progress = by_steps(end.proposition, start, step)
    return Pace(
        *(a, pull, level, several, margins, shortest, weight, some, gain, moves, forward),
        *(unit_, inverse_, moving, (of_V[0], of_V[1]), square, within, same, some_length),
        *(first, later, progress),
    )


@linked
def prove() -> str:
    """Prove that <p(k) - p(0), p*> >= k s / max ||k_alpha - k_t|| for every k.

    s is the length of a step.
    """
    descent = steps()
    conclude_each(advanced(), descent.margins, descent.some_length, descent.progress)
    return "for every loss with l' < 0, any n, T, d and k: each step gains s / max ||A_it||"

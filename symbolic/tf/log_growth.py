"""The margins of descent grow like ln k, for inputs of two tokens whose A_i are orthogonal."""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    NUMBER,
    RATE,
    M,
    W,
    i,
    peer,
    x,
    y,
)
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS, FALLING_LOSS
from attsvm.theory.proof.facts import K, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    cite,
    conclude,
    cut,
    decide,
    picked,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, substituted, total
from properties.tf.generalised_svm import FORWARD
from properties.tf.generalised_svm import growth_letters as letters
from properties.tf.generalised_svm.growth_letters import LOWER, SETTING, A, factor, output
from properties.tf.generalised_svm.log_growth import BETTER, ORTHOGONAL
from symbolic.facts import power, product
from symbolic.tf.growth_steps import Growth


@linked
def prove_bounded() -> str:
    """Prove that exp(m_i) - 1 lies between c_i k/4 and C_i k exp(C_i/4)."""
    claim = present(letters.logarithmic(), "a claim").sequents
    step, start, some_input, *clock = (setting(SETTING, w) for w in SETTING)
    (forward,), (better,), (apart, long) = suppose(FORWARD), suppose(BETTER), suppose(ORTHOGONAL)
    (convex,), (falling,) = suppose(CONVEX_LOSS), suppose(FALLING_LOSS)
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
    positive = at(falling, {x: BEST(i)})
    _, number = cite(RECIPROCAL, [some_input], NUMBER)
    q = RATE * square_ * gap * INV(NUMBER)
    some = decide(gt(RATE * square_, 0), forward, long)
    some = decide(gt(RATE * square_ * gap, 0), some, better)
    some = decide(gt(q, 0), some, number)
    c, C = (factor(score(i), i.term) for score in (BEST, LOWER))
    rate = decide(ge(q * FALL(u), c), low, some), decide(ge(C, q * FALL(u)), high, some)
    grown = Growth(m, q * FALL(u), c, C)
    facts = grown.bounds(decide(gt(c, 0), some, positive), moved, at(start, {M: A(i)}), rate, clock)
    for fact, sequent in zip(facts, claim, strict=True):
        conclude(fact, sequent)
    return "for any n and d, and every convex loss with l' < 0"

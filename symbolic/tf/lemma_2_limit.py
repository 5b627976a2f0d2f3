"""Lower and upper bounds of the risk gap of a matrix W of given norm, by linked facts.

On `tf/lemma-2-limit`, whose statement has the argument. Letters are those of
`properties.tf.lemma_2_limit.letters`: rivals are the tokens of lower score, and M is the shortest
matrix that separates.
"""

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    GAMMA,
    HIGH,
    LOSS,
    LOW,
    NUMBER,
    OWNER,
    W,
    X,
    i,
    j,
    x,
    y,
)
from attsvm.primitives.hypotheses import TWO_SCORES
from attsvm.primitives.loss_hypotheses import DECREASING_LOSS
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    inside,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    LOG,
    NORM,
    Letter,
    Over,
    Term,
    as_term,
    least,
    most,
    substituted,
    total,
)
from properties.tf.lemma_2_limit import SEPARATED, letters
from properties.tf.lemma_2_limit.letters import (
    BEST_KEY,
    KEY,
    OF,
    SCORES,
    SETTING,
    SIZE,
    M,
    ahead,
    best_powers,
    drop,
    lower,
    o,
    optimal,
    output,
    shortfall_below,
    whole,
)
from symbolic.facts import against, conclude_each, exponents_rise, power, powers_rise, product

OWN, TIED, THEIRS = OWNER(j), Over(OF, i.term), Over(OWNER, i.term)
"""The input of rival j; the optimal tokens of input i, and its rivals."""
r, o_ = Letter("r", j.sort), Letter("o'", o.sort)
"""Letters that sums and extremes run over."""
U, E = output(i.term, X.term), EXP(KEY(j) @ X.term)
"""The score that an input attends to at X, and the exponential of a rival's logit."""
P, ALL = best_powers(i.term, X.term), whole(i.term, X.term)
OF_M = "M separates, if a matrix does", "no matrix that separates is shorter"
FORWARD = "y is not negative"


@dataclass(frozen=True, slots=True)
class Attends:
    """Attention at any X."""

    tied: Fact  # each input has an optimal token
    lead: Fact  # rivals score less than the best
    low: Fact  # no rival scores less than the lowest score
    best_low: Fact  # nor does an optimal token
    high: Fact  # no best score is above the highest
    best: Fact  # the sum of the exponentials of optimal tokens is above 0
    each: Fact  # so is the exponential of a rival
    unit: Fact  # the sum of all exponentials times its reciprocal is 1
    inverse: Fact  # the reciprocal is above 0
    behind: Fact  # best - u is the sum of the rivals' exponentials times leads, over the whole
    below_best: Fact  # u is at most the best score
    mine: Fact  # the input of a rival has a rival
    count: Fact  # 1/n is above 0
    falls: Fact  # l(x) >= l(y) if y >= x, between the lowest and the highest score


def attends() -> Attends:
    """Prove how far the score that an input attends to is below its best one."""
    some, low, best_low, high = (setting(SETTING, words) for words in SCORES)
    tied = setting(SETTING, "each input has an optimal token")
    lead = setting(SETTING, "rivals score less than the best")
    (falls,) = suppose(DECREASING_LOSS)
    best, each = add_up(power(BEST_KEY(o) @ X.term), o, TIED, tied), power(KEY(j) @ X.term)
    positive = decide(gt(ALL, 0), best, add_up(each, j, THEIRS))
    unit, inverse = cite(RECIPROCAL, [positive], ALL)
    lost = total(E * (BEST(OWN) - GAMMA(j)), j, THEIRS)
    behind = decide(eq(BEST(i) - U, INV(ALL) * lost), scale(unit, BEST(i)))
    below = decide(ge(BEST(i), U), behind, product(inverse, add_up(product(each, lead), j, THEIRS)))
    mine = decide(gt(lower(OWN), 0), one_of_sum(decide(gt(1, 0)), j, OWNER))
    _, count = cite(RECIPROCAL, [some], NUMBER)
    return Attends(
        *(tied, lead, low, best_low, high, best, each, unit, inverse),
        *(behind, below, mine, count, falls),
    )


def above_lowest(a: Attends) -> Fact:
    """Return that the score that an input attends to is at least the lowest score."""
    spare = add_up(product(a.each, a.low), j, THEIRS)
    goal = ge(spare.proposition.term + P * (BEST(i) - LOW), 0)
    spare = product(a.inverse, decide(goal, spare, a.best, a.best_low))
    return decide(ge(U, LOW), scale(a.unit, LOW), spare)


def ordered(a: Attends, low: Term, high: Term, *known: Fact) -> Fact:
    """Return that l(low) >= l(high), as low <= high, and both are scores from LOW to HIGH."""
    return cut(at(a.falls, {x: low, y: high}), *known)


def not_led_by_more(a: Attends, some: Fact, solved: Fact, shorter: Fact) -> Fact:
    """Prove that the least lead of W(0) over a rival is at most x = ||W||/||M||, or 0 without M.

    Otherwise W over its least lead would separate, and be shorter than M.

    Args:
        a: attention.
        some: there is a rival.
        solved: M separates if a matrix does.
        shorter: no matrix that separates is shorter.
    """
    V, N = W(0), NORM(M)
    m, (size, size_square) = least(ahead(r.term, V), r), cite(LENGTH, (), V)
    norm, norm_square = cite(LENGTH, (), M)
    goal, forward, exists = ge(NORM(V) * INV(N), m), gt(m, 0), gt(N, 0)
    yes, no, there, zero = (assume(p) for x in (forward, exists) for p in (x, x.denied()))
    # W/m separates
    unit, _ = cite(RECIPROCAL, [yes], m)
    over = INV(m) * V
    top, logit = most(BEST_KEY(o_) @ over, o_, Over(OF, OF(o))), BEST_KEY(o) @ V
    highest = beyond("most", BEST_KEY(o) @ over, o, OF)
    top_ = bounds(
        decide(ge(m * top, logit), highest, yes, scale(unit, logit)),
        *("most", logit, o, a.tied, TIED),
    )
    parts = at(top_, {i: OWN}), beyond("least", ahead(j.term, V), j), scale(unit, KEY(j) @ V)
    far = decide(ge(ahead(j.term, over), 1), *parts, yes)
    far = bounds(far, "least", ahead(j.term, over), j, some)
    solved, shorter = (cut(at(fact, {X: over}), far) for fact in (solved, shorter))
    # so M is not 0, and ||W|| >= m ||M||
    (reach,), (long, _) = cite(CAUCHY_SCHWARZ, (), BEST_KEY(o), M), cite(LENGTH, (), BEST_KEY(o))
    flat = decide(ge(0, BEST_KEY(o) @ M), reach, zero, long)
    flat = at(bounds(flat, "most", BEST_KEY(o) @ M, o, a.tied, TIED), {i: OWN})
    back = decide(ge(KEY(j) @ M, 0), against(KEY(j), M), zero, cite(LENGTH, (), KEY(j))[0])
    positive = cases(there, decide(exists, flat, back, solved, some), exists)
    whole_ = scale(unit, (m * INV(m) + 1) * (V @ V))
    wide = decide(
        ge(V @ V, m**2 * N**2), product(shorter, square(m)), scale(norm_square, m**2), whole_
    )
    wide = decide(ge(NORM(V), m * N), wide, size, size_square)
    unit, inverse = cite(RECIPROCAL, [positive], N)
    far = decide(goal, product(wide, inverse), scale(unit, m))
    # 1/||M|| is not negative, also if M is 0
    hole, sign = Letter("hole"), ge(INV(N), 0)
    none = inside(decide(eq(N, 0), norm, zero), N, as_term(0), INV(hole), hole)
    one = cases(decide(sign, cite(RECIPROCAL, [there], N)[1]), decide(sign, none), exists)
    return cases(far, decide(goal, product(size, one), no), forward)


def bound_below(a: Attends, some: Fact, solved: Fact, shorter: Fact) -> Fact:
    """Prove the bound of L(W) - L_* from below, at a rival that W leads by at most x."""
    V, ratio, first = W(0), NORM(W(0)) * INV(NORM(M)), {X: W(0)}
    closest, is_closest = attained("closest", least(ahead(r.term, V), r), some)
    c, logit, e = OWNER(closest()), KEY(closest()) @ V, EXP(ratio)
    at_best = {**first, i: c}
    led = not_led_by_more(a, some, solved, shorter)
    led = decide(ge(ratio, ahead(closest(), V)), led, is_closest)
    # the exponentials of optimal tokens add up to at most k exp(x) times that of this rival
    k, Q = optimal(c), total(EXP(KEY(r) @ V), r, Over(OWNER, c))
    top, top_ = (most(BEST_KEY(o_) @ V, o_, Over(OF, of)) for of in (c, OF(o)))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), ratio, logit)
    near = decide(ge(e * EXP(logit), EXP(top)), law, powers_rise(top, ratio + logit, led))
    own = at(one_of_sum(at(a.each, first), j, OWNER), {j: closest()})
    near = decide(ge(e * Q, EXP(top)), near, own, power(ratio))
    tied = at(a.tied, {i: c})
    rises = powers_rise(BEST_KEY(o) @ V, top_, beyond("most", BEST_KEY(o) @ V, o, OF))
    few = decide(ge(k * e * Q, best_powers(c, V)), at(add_up(rises, o, TIED), {i: c}), near, tied)
    # so the score that its input attends to is short by the bound
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + k * e, 0), tied, power(ratio))], 1 + k * e)
    B, J = INV(1 + k * e), INV(whole(c, V))
    share = product(decide(ge((1 + k * e) * Q, whole(c, V)), few), at(a.inverse, at_best), inverse)
    share = decide(ge(J * Q, B), share, scale(at(a.unit, at_best), B), scale(unit, J * Q))
    G = BEST(c) - most(GAMMA(r), r, Over(OWNER, c))
    above = bounds(at(a.lead, {j: r}), "most", GAMMA(r), r, a.mine, Over(OWNER, OWN))
    above = at(above, {j: closest()})
    behind = at(add_up(product(a.each, beyond("most", GAMMA(j), j, OWNER)), j, THEIRS), at_best)
    parts = at(a.behind, at_best), product(at(a.inverse, at_best), behind), product(above, share)
    u, best, low = output(c, V), BEST(c) - G * B, above_lowest(a)
    short = decide(ge(best, u), *parts)
    high = decide(ge(HIGH, best), at(a.high, {i: c}), product(above, inverse))
    costs = ordered(a, u, best, short, at(low, at_best), high)
    # the other inputs lose something or nothing
    each = ordered(a, U, BEST(i), a.below_best, low, a.high)
    lost = at(one_of_sum(at(each, first), i), {i: c})
    dropped = drop(OWN, shortfall_below(OWN))
    least_ = at(beyond("least", dropped, j), {j: closest()})
    losses = total(LOSS(output(i.term, V)) - LOSS(BEST(i)), i)
    whole_ = decide(ge(losses, least(dropped, j)), lost, costs, least_)
    return decide(letters.BELOW, product(whole_, a.count))


def tied_outweigh(a: Attends, forward: Fact, met: Fact) -> Fact:
    """Prove that, at y M, optimal tokens outweigh each rival of their input exp(y) times.

    Args:
        a: attention.
        forward: y is not negative.
        met: M leads by at least 1 at each rival.
    """
    point, key = {X: SIZE * M}, BEST_KEY(o) @ M
    condition, lead = gt(SIZE, 0), SIZE * (1 + KEY(j) @ M)
    selected, mine, theirs = (best_powers(of, SIZE * M) for of in (i.term, OWN, OF(o)))
    sum_ = at(a.best, point)
    (is_log,) = cite(LOGARITHM, [sum_], selected)
    own = {i: OF(o)}
    part = one_of_sum(power(SIZE * key), o, OF)
    part = decide(ge(EXP(LOG(theirs)), EXP(SIZE * key)), part, at(is_log, own))
    log = exponents_rise(SIZE * key, LOG(theirs), part)
    yes, no = assume(condition), assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [yes], SIZE)
    over = INV(SIZE) * LOG(theirs)
    far = decide(ge(over, key), product(log, inverse), scale(unit, key))
    far = at(bounds(far, "most", key, o, a.tied, TIED), {i: OWN})
    far = decide(ge(LOG(mine), lead), far, met, yes, scale(unit, LOG(mine)))
    flat = decide(eq(SIZE, 0), forward, no)
    near = add_up(decide(ge(LOG(theirs), 0), log, scale(flat, key)), o, TIED)
    near = at(decide(ge(LOG(selected), 0), near, a.tied), {i: OWN})
    near = decide(ge(LOG(mine), lead), near, scale(flat, 1 + KEY(j) @ M))
    rises = powers_rise(lead, LOG(mine), cases(far, near, condition))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), SIZE, SIZE * (KEY(j) @ M))
    goal = ge(mine, EXP(SIZE) * EXP(SIZE * (KEY(j) @ M)))
    return decide(goal, rises, law, at(is_log, {i: OWN}))


def bound_above(a: Attends, forward: Fact, met: Fact) -> Fact:
    """Prove the bound of L(y M) - L_* from above, by the sum of the losses of all inputs."""
    point, e = {X: SIZE * M}, EXP(SIZE)
    each, inverse = (at(fact, point) for fact in (a.each, a.inverse))
    worst, number = least(GAMMA(r), r, THEIRS), lower(i.term)
    lowest = beyond("least", GAMMA(j), j, OWNER)
    wide = decide(ge(BEST(OWN) - least(GAMMA(r), r, Over(OWNER, OWN)), 0), lowest, a.lead)
    more = add_up(product(wide, tied_outweigh(a, forward, met)), j, THEIRS)
    less = add_up(product(each, lowest), j, THEIRS)
    positive = decide(gt(number + e, 0), add_up(decide(ge(1, 0)), j, THEIRS), power(SIZE))
    unit, over = cite(RECIPROCAL, [positive], number + e)
    lost = substituted(total(E * (BEST(i) - GAMMA(j)), j, THEIRS), point)
    D, B, J = BEST(i) - worst, INV(number + e), INV(substituted(ALL, point))
    goal = ge(number * D * substituted(ALL, point), (number + e) * lost)
    parts = product(decide(goal, more, product(positive, less)), inverse, over)
    short, u = number * D * B, substituted(U, point)
    ahead_ = decide(
        ge(u, BEST(i) - short),
        *(parts, at(a.behind, point), scale(at(a.unit, point), short), scale(unit, J * lost)),
    )
    low = bounds(at(a.low, {j: r}), "least", GAMMA(r), r, a.mine, Over(OWNER, OWN))
    low = decide(
        ge(BEST(i) - short, LOW),
        *(product(add_up(low, j, THEIRS), over), product(a.best_low, power(SIZE), over)),
        scale(unit, BEST(i) - LOW),
    )
    high = decide(ge(HIGH, u), at(a.below_best, point), a.high)
    costs = ordered(a, BEST(i) - short, u, ahead_, low, high)
    return decide(letters.ABOVE, product(add_up(costs, i), a.count))


@linked
def prove_below() -> str:
    """Prove the bound of L(W) - L_* from below, if some input has two different scores."""
    claim, a = present(letters.from_below(), "a claim"), attends()
    solved, shorter = (setting(SETTING, words) for words in OF_M)
    _, some = suppose(TWO_SCORES)
    conclude_each(claim, some, bound_below(a, some, solved, shorter))
    return "for every decreasing loss, any n, T and d, ties included"


@linked
def prove_above() -> str:
    """Prove the bound of L(y M) - L_* from above, if some W separates."""
    claim, a = present(letters.from_above(), "a claim"), attends()
    some, met = suppose(SEPARATED)
    conclude_each(claim, some, met, bound_above(a, setting(SETTING, FORWARD), met))
    return "for every decreasing loss, any n, T and d, ties included"


@linked
def prove() -> str:
    """Prove both bounds, that from above if some W separates."""
    claim, a = present(letters.approached(), "a claim"), attends()
    solved, shorter = (setting(SETTING, words) for words in OF_M)
    _, some = suppose(TWO_SCORES)
    above = bound_above(a, setting(SETTING, FORWARD), solved)
    conclude_each(claim, some, bound_below(a, some, solved, shorter), above)
    return "for every decreasing loss, any n, T and d, ties included"

"""Two inputs of two tokens with the same two scores, from zero: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. Let o be
the rival with the larger ||A_j||, and t the other one. Let a = ||A_o||^2 >= b = ||A_t||^2 and
c = -<A_o, A_t>. If c <= 0 the inputs are aligned. Let c be positive, and H = A_o - A_t.

1. At a matrix P at which both margins are equal, -grad L is a multiple of A_o + A_t by a number
   that is at least 0. So <P - e grad L(P), H> >= <P, H> = 0, as <A_o + A_t, H> = a - b.
2. Let P = W - s H with <P, H> = 0. Then <grad L(W) - grad L(P), H> is at most L s ||H||^2, which is
   L <W, H>. So <W, H> = m_o - m_t stays at least 0, as e L <= 1 (`ordered`).
3. c m_o + a m_t stays at least 0, as a b >= c^2, and a > c. If m_t is below some constant, then
   m_o + m_t is so large that a step does not lower m_t. No step lowers m_t by more than another
   constant. So m_t, and with it m_o, stays above a constant (`deep`).

Then the limit direction follows as for aligned inputs.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    GRADIENT,
    HIGH,
    LOW,
    NUMBER,
    OWNER,
    PRIME,
    RATE,
    SETTING,
    TWIN,
    A,
    M,
    V,
    X,
    attention,
    i,
    j,
    other,
    output,
    peer,
    second,
    x,
)
from attsvm.primitives.hypotheses import EQUAL_RIVALS, ZERO_START
from attsvm.primitives.steps import SHORT
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    DISCRIMINANT,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LARGER,
    LENGTH,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting, suppose
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
    define,
    induction,
    inside,
    picked,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    MAXIMUM,
    NORM,
    Letter,
    Over,
    Term,
    as_term,
    most,
    same,
    substituted,
    total,
)
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION
from properties.sim.theorem_3_14_part_2.instances import PAIRS, SAME
from symbolic.aligned_facts import Pace, end_direction, keeps, paces, reaches, stays
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MARGIN,
    MINE,
    OWN,
    POWER,
    Attention,
    Moves,
    Slopes,
    Steepness,
    attends,
    moves,
    r,
    slopes,
    steepness,
)
from symbolic.basin_facts import from_kept
from symbolic.facts import by_steps, no_shorter, power, powers_rise, product


@dataclass(frozen=True, slots=True)
class Two:
    """Two rivals: the one with the larger ||A_j||, and its twin.

    Attributes:
        o, t: both rivals.
        whole: same(j, o) + same(j, t) = 1.
        sign: same(other, j) >= 0.
        part: same(other, j) <= 1.
        alone: rivals of one input are the same.
        longer: ||A_o||^2 >= ||A_t||^2.
    """

    o: Term
    t: Term
    whole: Fact
    sign: Fact
    part: Fact
    alone: Fact
    longer: Fact

    def both(self, body: Term) -> tuple[Fact, Fact, Fact]:
        """Return three facts from which a sum over rivals j is the sum of two terms."""
        picks = picked(body, j, self.o), picked(body, j, self.t)
        return add_up(scale(self.whole, body), j), *picks

    def own(self, body: Term) -> Fact:
        """Return that a sum over the rivals of the input of j has one term, that of j."""
        term = substituted(body, {j: other.term})
        shares = add_up(scale(self.alone, term), other)
        groups = regroup(same(OWNER(other), OWN) * term, other, OWNER)
        group = picked(total(term, other, Over(OWNER, i.term)), i, OWN)
        whole = total(substituted(body, {j: r.term}), r, MINE)
        return decide(eq(whole, body), shares, groups, group, picked(term, other, j), degree=1)

    def each(self, letter: Letter, body: Term, of_o: Fact, of_t: Fact) -> Fact:
        """Return that a term in a rival is at least 0, as it is for both rivals."""
        every, parts = Letter("k", letter.sort), list[Fact]()
        there = substituted(body, {letter: every.term})
        for one, fact in ((self.o, of_o), (self.t, of_t)):
            mine = same(every, one)
            turned = picked(there * mine, every, letter)
            back = picked(there * same(every, letter), every, one)
            sign = at(self.sign, {other: one, j: letter.term})
            parts += [turned, back, product(fact, sign)]
        whole = scale(at(self.whole, {j: letter.term}), body)
        return decide(ge(body, 0), *parts, whole, degree=1)


def two() -> tuple[Two, Fact]:
    """Prove that there are two rivals, the one with the larger ||A_j|| and another one.

    Returns:
        Facts on both, and the fact that there is a rival.
    """
    twins, alone, rival = suppose(PAIRS)
    binary = setting(SETTING, "rivals are the same or not")
    squared = A(r) @ A(r)
    pick, reached = attained("longest", most(squared, r), rival)
    o, t = pick(), TWIN(pick())
    up = beyond("most", A(j) @ A(j), j)
    one = same(other, j)
    pair = Two(
        *(o, t, at(twins, {other: o})),
        decide(ge(one, 0), binary),
        decide(ge(1, one), binary),
        alone,
        decide(ge(A(o) @ A(o), A(t) @ A(t)), at(up, {j: t}), reached),
    )
    return pair, rival


def replaced(term: Term, *values: tuple[Letter, Term, Term, Fact]) -> Fact:
    """Return that a term keeps its value if letters in it take other values that are equal.

    Args:
        term: the term.
        values: for each letter its value, an equal one, and the fact that they are equal.
    """
    facts, first, last = [], term, term
    for k, (hole, before, after, equal) in enumerate(values):
        rest = {one: old for one, old, _, _ in values[k + 1 :]}
        done = {one: new for one, _, new, _ in values[:k]}
        facts.append(inside(equal, before, after, substituted(term, {**rest, **done}), hole))
    first = substituted(term, {hole: before for hole, before, _, _ in values})
    last = substituted(term, {hole: after for hole, _, after, _ in values})
    return decide(eq(first, last), *facts, degree=1)


@dataclass(frozen=True, slots=True)
class Run:
    """A run of descent on two inputs, and the facts that both parts of the proof use.

    Attributes:
        pair: the two rivals.
        attention, step, bent, slopes, pace: the facts on the run.
        lead: that the lead of the optimal tokens, one number, is positive.
        single: the sum of exp(-m_r) over the rivals of the input of j is exp(-m_j).
        bests, gammas: optimal tokens have one score, and rivals have one.
        opposed: <A_o, A_t> is negative; the facts on opposed inputs assume it.
        start: the start is zero.
    """

    pair: Two
    attention: Attention
    step: Moves
    bent: Steepness
    slopes: Slopes
    pace: Pace
    lead: Fact
    single: Fact
    bests: Fact
    gammas: Fact
    opposed: Fact
    start: Fact

    @property
    def scores(self) -> tuple[Term, Term]:
        """The score of the optimal tokens, and that of the rivals."""
        return BEST(OWNER(self.pair.o)), GAMMA(self.pair.o)

    @property
    def products(self) -> tuple[Term, Term, Term]:
        """The products a, b and c of the module."""
        o, t = A(self.pair.o), A(self.pair.t)
        return o @ o, t @ t, -(o @ t)


# the order of margins


def push(e: Term, scores: tuple[Term, Term]) -> Term:
    """Return the coefficient of A_j in -grad L if exp(-m_j) is e, for an input of one rival."""
    best, low = scores
    u = (best + e * low) * INV(1 + e)
    return FALL(u) * INV(1 + e) * e * (u - low) * INV(NUMBER)


def pushed(run: Run, everywhere: Fact) -> Fact:
    """Prove that -grad L(X) is the sum of push(exp(-m_j)) A_j over both rivals."""
    pair, (best, low) = run.pair, run.scores
    e, u, s_o = EXP(-(A(j) @ X.term)), output(OWN, X.term), attention(OWN, X.term)
    raw = FALL(u) * s_o * e * (u - GAMMA(j)) * INV(NUMBER)
    along = -(GRADIENT(X) @ M.term)
    spelled = decide(
        eq(along, total(raw * (A(j) @ M.term), j)),
        *(everywhere, regroup(raw * (A(j) @ M.term), j, OWNER)),
        degree=1,
    )
    g, h, b, c = map(Letter, ("g", "h", "best", "low"))
    theirs = [total(substituted(y, {j: r.term}), r, MINE) for y in (e, e * GAMMA(j))]
    gamma = at(run.gammas, {other: pair.o})
    scores = decide(eq(theirs[1], e * low), pair.own(e * GAMMA(j)), scale(gamma, e))
    mean = (b.term + h.term) * INV(1 + g.term)
    text = FALL(mean) * INV(1 + g.term) * e * (mean - c.term) * INV(NUMBER)
    own_best = at(run.bests, {i: OWN, peer: OWNER(pair.o)})
    equal = replaced(
        text,
        (g, theirs[0], e, pair.own(e)),
        (h, theirs[1], e * low, scores),
        (b, BEST(OWN), best, own_best),
        (c, GAMMA(j), low, gamma),
    )
    each = push(e, run.scores) * (A(j) @ M.term)
    goal = sum((substituted(each, {j: one}) for one in (pair.o, pair.t)), as_term(0))
    parts = add_up(scale(equal, A(j) @ M.term), j), *pair.both(each)
    return decide(eq(along, goal), spelled, *parts, degree=1)


def push_positive(run: Run) -> Fact:
    """Prove that push(exp(x)) is at least 0 for every x."""
    a, (best, low), o = run.attention, run.scores, run.pair.o
    e, some = EXP(x.term), power(x.term)
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + e, 0), some)], 1 + e)
    u = (best + e * low) * INV(1 + e)
    above = decide(ge(u - low, 0), scale(unit, low), inverse, run.lead)
    rest = product(inverse, some, run.lead)
    below = decide(ge(best, u), scale(unit, best), rest)
    within = (
        decide(ge(u, LOW), above, at(a.low_rival, {j: o})),
        decide(ge(HIGH, u), below, at(a.best_high, {i: OWNER(o)})),
    )
    steep = cut(at(run.bent.between[0], {x: u}), *within)
    falls = decide(gt(FALL(u), 0), steep, run.bent.positive)
    return product(falls, inverse, some, above, run.pace.over)


def ordered(run: Run) -> Fact:
    """Prove that m_o >= m_t stays true."""
    o, t = A(run.pair.o), A(run.pair.t)
    H, claim = o - t, ge(HERE @ (o - t), 0)
    q, along = H @ H, HERE @ H
    wide = decide(gt(q, 0), run.opposed, no_shorter(o), no_shorter(t))
    unit, inverse = cite(RECIPROCAL, [wide], q)
    s, up = along * INV(q), assume(claim)
    some = decide(ge(s, 0), up, inverse)
    P = HERE - s * H
    # at P both margins are equal
    level = decide(eq(o @ P, t @ P), scale(unit, along))
    hole = Letter("hole")
    e_o, e_t = EXP(-(o @ P)), EXP(-(t @ P))
    same_power = inside(level, o @ P, t @ P, EXP(-hole.term), hole)
    same_push = inside(same_power, e_o, e_t, push(hole.term, run.scores), hole)
    everywhere = setting(SETTING, "the gradient has the slope of the risk along every matrix")
    there = at(pushed(run, everywhere), {X: P, M: H})
    positive_ = product(at(push_positive(run), {x: -(o @ P)}), run.pair.longer)
    turned = decide(ge(-(GRADIENT(P) @ H), 0), there, scale(same_push, t @ H), positive_, degree=1)
    turned = note("where both margins are equal, -grad L does not lower their difference", turned)
    # the gradient at W differs little from that at P
    _, at_most, flat = suppose(SHORT)
    near = at(flat, {X: HERE, PRIME: P})
    H_norm, H_square = cite(LENGTH, (), H)
    far, far_square = cite(LENGTH, (), s * H)
    large = decide(ge(s * NORM(H), 0), some, H_norm)
    short = scale(H_square, s**2)
    length = decide(ge(s * NORM(H), NORM(s * H)), large, far_square, short)
    apart = GRADIENT(HERE) - GRADIENT(P)
    (bound,) = cite(CAUCHY_SCHWARZ, (), apart, H)
    rate = run.step.rate
    steep = decide(ge(s * NORM(H), RATE * NORM(apart)), *(near, at_most, length, rate, far))
    little = decide(
        ge(s * q, RATE * (apart @ H)), *(bound, product(steep, H_norm), rate, scale(H_square, s))
    )
    falling = decide(
        eq(AFTER @ M.term, HERE @ M.term - RATE * (GRADIENT(HERE) @ M.term)),
        *(run.step.descends, scale(at(everywhere, {X: HERE}), RATE)),
    )
    kept = decide(
        claim.at({K: K.term + 1}),
        *(at(falling, {M: H}), little, scale(unit, along), product(turned, rate)),
    )
    zero = decide(claim.at({K: as_term(0)}), at(run.start, {M: H}))
    return note("m_o >= m_t stays true", induction(claim, zero, kept))


# lower bounds of margins


def some_square(y: Term, V_: Term, above: Fact) -> Fact:
    """Return that <y, y> > 0, as <y, V> is at least a positive number."""
    t = Letter("t")
    whole = no_shorter(t.term * y + V_)
    (bound,) = cite(DISCRIMINANT, [whole], t, y @ y, y @ V_, V_ @ V_)
    return decide(gt(y @ y, 0), bound, above, no_shorter(V_))


@dataclass(frozen=True, slots=True)
class Pushes:
    """Bounds of what a step adds along A_j, pace exp(-m_j), for every rival.

    Attributes:
        moved: a step adds the pace times exp(-m_j) along A_j, for both rivals.
        positive: this is at least 0.
        most: it is at most C.
        small: it is at most C exp(-m_j).
        large: it is at least c exp(m_j)/4, if exp(-m_j) is at least 1.
        top: C.
        least: c.
        signs: C and c are positive.
    """

    moved: Fact
    positive: Fact
    most: Fact
    small: Fact
    large: Fact
    top: Term
    least: Term
    signs: tuple[Fact, Fact]


def pushes(run: Run, ahead: Fact) -> Pushes:
    """Prove bounds of the pace times exp(-m_j), as the input of j has no other rival.

    Args:
        run: the run.
        ahead: the lead of an optimal token over the second-best score is one number.
    """
    a, pace, bent, pair = run.attention, run.pace, run.slopes, run.pair
    lead = run.lead.proposition.term
    s_o, fall = a.s_o(OWN, K), FALL(a.u(OWN, K))
    weight = pace.pace(OWN, K) * POWER
    each = weight * (A(j) @ M.term)
    goal = sum((substituted(each, {j: one}) for one in (pair.o, pair.t)), HERE @ M.term)
    parts = add_up(scale(pace.moved, A(j) @ M.term), j), *pair.both(each)
    moved = decide(eq(AFTER @ M.term, goal), run.step.grown, *parts, degree=1)
    # the pace is e |l'| s_o^2 lead/n
    scaled = RATE * INV(NUMBER) * lead
    some = decide(
        gt(scaled, 0), decide(gt(RATE * INV(NUMBER), 0), run.step.rate, pace.over), run.lead
    )
    steady = decide(
        eq(weight, scaled * fall * s_o**2 * POWER),
        scale(at(pace.pace_is, {i: OWN}), POWER),
        scale(ahead, RATE * INV(NUMBER) * fall * s_o**2 * POWER),
    )
    low, high = (at(f, {i: OWN}) for f in bent.at_output)
    falls = decide(gt(fall, 0), low, bent.least_positive)
    odds = decide(eq(s_o * (1 + POWER), 1), pace.odds, scale(run.single, s_o))
    mine = at(a.s_o_positive, {i: OWN})
    both = decide(gt(s_o * POWER, 0), mine, a.power)
    part = decide(ge(1, s_o), odds, both)
    share = decide(ge(1, s_o * POWER), odds, mine)
    flat = decide(ge(1, s_o**2), part, mine)
    narrow = decide(ge(1, s_o**2 * POWER), share, part, both)
    steep = decide(ge(bent.most, fall * s_o**2), high, product(falls, flat))
    bound = decide(ge(bent.most, fall * s_o**2 * POWER), high, product(falls, narrow))
    top, least = scaled * bent.most, scaled * bent.least
    heavy = assume(ge(POWER, 1))
    twice = decide(ge(2 * s_o * POWER, 1), odds, heavy)
    square_ = decide(ge(4 * s_o**2 * POWER**2, 1), twice)
    large = decide(ge(4 * s_o**2 * POWER**2 * fall, bent.least), low, product(falls, square_))
    return Pushes(
        moved,
        product(pace.some, a.power),
        decide(ge(top, weight), steady, product(some, bound)),
        decide(ge(top * POWER, weight), steady, product(some, steep, a.power)),
        decide(ge(4 * weight * POWER, least), scale(steady, POWER), product(some, large)),
        top,
        least,
        (
            decide(gt(top, 0), some, bent.most_positive),
            decide(gt(least, 0), some, bent.least_positive),
        ),
    )


def deep(run: Run, go: Pushes, margins: Fact) -> tuple[Term, Fact]:
    """Prove that m_t stays at least -depth, a constant."""
    pair, (a, b, c) = run.pair, run.products
    o, t = A(pair.o), A(pair.t)
    of_o, of_t = ({j: one} for one in (pair.o, pair.t))
    m_o, m_t = HERE @ o, HERE @ t
    p_o, p_t = (substituted(go.positive.proposition.term, one) for one in (of_o, of_t))
    e_o, e_t = (substituted(POWER, one) for one in (of_o, of_t))
    some_t = at(go.positive, of_t)
    opposed = decide(gt(c, 0), run.opposed)
    # a >= b > 0, a > c and a b >= c^2
    two_margins = decide(ge((o + t) @ V, 2), at(margins, of_o), at(margins, of_t))
    apart = some_square(o + t, V, two_margins)
    some_b = some_square(t, V, at(margins, of_t))
    above = decide(gt(a - c, 0), apart, pair.longer)
    dependent = decide(ge(a * b - c**2, 0), no_shorter(b * o + c * t), some_b)
    # c m_o + a m_t does not fall
    moved_o, moved_t = (at(go.moved, {M: one}) for one in (o, t))
    zero_o, zero_t = (at(run.start, {M: one}) for one in (o, t))
    balance = by_steps(
        ge(c * m_o + a * m_t, 0),
        [scale(zero_o, c), scale(zero_t, a)],
        [scale(moved_o, c), scale(moved_t, a), product(dependent, some_t)],
    )
    balance = note("c m_o + a m_t stays at least 0", balance)
    # where m_t <= -far, m_o + m_t is large
    top, least, both = go.top, go.least, m_o + m_t
    whole = b * least * (a - c)
    some_whole = decide(gt(b * least, 0), some_b, go.signs[1])
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), some_whole, above)], whole)
    far = 4 * c**2 * top * INV(whole)
    weight = decide(gt(4 * c**2 * top, 0), decide(gt(c**2, 0), opposed), go.signs[0])
    some_far = decide(ge(far, 0), weight, inverse)
    condition = ge(-far, m_t)
    yes, no = assume(condition), assume(condition.denied())
    large = decide(ge(c * both, (a - c) * far), balance, product(yes, above))
    large = decide(
        ge(b * least * c * both, 4 * c**2 * top),
        product(some_whole, large),
        scale(unit, 4 * c**2 * top),
    )
    large = decide(ge(b * least * both, 4 * c * top), large, opposed)
    # so exp(-m_o - m_t) is small
    _, line = cite(EXPONENTIAL, (), both)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -m_o, -m_t)
    (one,) = cite(EXPONENTIAL_OF_SUM, (), both, -both)
    powers = decide(gt(e_o * e_t, 0), power(-m_o), power(-m_t))
    small = decide(ge(1, e_o * e_t * (1 + both)), scale(law, EXP(both)), one, product(powers, line))
    small = decide(
        ge(b * least, 4 * c * top * e_o * e_t),
        *(product(some_whole, small), product(some_whole, powers)),
        product(powers, large),
    )
    under = decide(ge(e_t, 1), cite(EXPONENTIAL, (), -m_t)[1], yes, some_far)
    heavy = cut(at(go.large, of_t), under)
    little = at(go.small, of_o)
    rises = decide(
        ge(e_t * (b * p_t - c * p_o), 0),
        *(small, product(some_b, heavy)),
        product(little, opposed, power(-m_t)),
    )
    rises = decide(ge(b * p_t, c * p_o), rises, power(-m_t))
    # no step lowers m_t by more than a constant
    jump = decide(ge(c * top, c * p_o), at(go.most, of_o), opposed)
    depth_, depth_is = define("depth", (), far + c * top)
    depth = depth_()
    some_depth = decide(
        ge(depth, 0), depth_is, some_far, decide(gt(c * top, 0), opposed, go.signs[0])
    )
    claim = ge(m_t, -depth)
    goal = claim.at({K: K.term + 1})
    kept = cases(
        decide(goal, moved_t, rises, assume(claim)),
        decide(goal, moved_t, no, jump, depth_is, product(some_b, some_t)),
        condition,
    )
    start = decide(claim.at({K: as_term(0)}), zero_t, some_depth)
    return depth, note("m_t stays above a constant", induction(claim, start, kept))


@linked
def prove_pair() -> str:
    """Prove the limit direction for two inputs of two tokens with two scores in all, from zero."""
    bests, gammas, lower = suppose(SAME)
    (level,) = suppose(EQUAL_RIVALS)
    pair, rival = two()
    a = attends(lower)
    step = moves(a)
    steep = steepness(a, SMOOTH_SLOPE, FALLING)
    bent = slopes(a, steep)
    o, t = pair.o, pair.t
    # either inputs are aligned
    condition = ge(A(o) @ A(t), 0)
    yes, no = assume(condition), assume(condition.denied())
    apart = (1 - same(other, j)) * (A(other) @ A(j))
    part = decide(ge(1 - same(other, j), 0), pair.part)
    alike = {one: no_shorter(A(one)) for one in (o, t)}
    within = [
        pair.each(
            other,
            substituted(apart, {j: last}),
            *(
                product(at(part, {other: first, j: last}), alike[first] if first == last else yes)
                for first in (o, t)
            ),
        )
        for last in (o, t)
    ]
    aligned = decide(
        ge((1 - same(OWNER(other), OWN)) * (A(other) @ A(j)), 0),
        *(pair.each(j, apart, *within), scale(pair.alone, A(other) @ A(j))),
    )
    pace = paces(a, step, bent, level, aligned, rival)
    B, below = stays(a, pace, reaches(a, pace))
    # or both margins are bounded below
    lead = BEST(OWNER(o)) - GAMMA(o)
    single = decide(
        eq(pace.G(OWN, K), POWER),
        at(pace.G_is, {i: OWN}),
        at(pair.own(EXP(-(A(j) @ X.term))), {X: HERE}),
    )
    run = Run(
        *(pair, a, step, steep, bent, pace, decide(gt(lead, 0), at(lower, {j: o})), single),
        *(bests, gammas, no, suppose(ZERO_START)[0]),
    )
    exists = suppose(SOLUTION)
    ahead = decide(
        eq(BEST(OWN) - second(OWN), lead),
        *(level, at(gammas, {other: o}), at(bests, {i: OWN, peer: OWNER(o)})),
    )
    order = ordered(run)
    depth, first = deep(run, pushes(run, ahead), exists[0])
    last = decide(ge(HERE @ A(o) + depth, 0), first, order)
    every = pair.each(j, MARGIN + depth, last, decide(ge(HERE @ A(t) + depth, 0), first))
    bound = decide(ge(EXP(depth), pace.G(OWN, K)), single, powers_rise(-MARGIN, depth, every))
    top, top_is = define("cap", (i,), MAXIMUM(B(i), EXP(depth)))
    over, too, _ = cite(LARGER, (), B(OWN), EXP(depth))
    own = at(top_is, {i: OWN})
    claim = ge(top(OWN), pace.G(OWN, K))
    kept = cases(decide(claim, own, over, below), decide(claim, own, too, bound), condition)
    end_direction(from_kept(a, step, bent, keeps(a, pace, top, kept, level), rival, exists))
    return "for every smooth loss with l' < 0 and any d"

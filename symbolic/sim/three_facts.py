"""One input of at most three tokens, from any start and with any step: facts of linked proofs.

Letters are those of `attsvm.primitives.descent_letters` and of `symbolic.attention_facts`. Let o be
a second-best token that is a support vector, and t the other rival. If t scores as much as o, or
there is no other rival, rivals have equal scores. Else let `lead` and `drop` be positive: the score
of o is below that of the optimal token by the first, and above that of t by the second. Let
x = exp(-m_o), y = exp(-m_t), a = ||A_o||^2, q = ||A_t||^2 and d = <A_o, A_t>. A step adds
phi (x (lead - drop y) A_o + y (lead + drop + drop x) A_t) to W. Here phi, and its products with x,
with y and with x y, are bounded.

1. d <= q: else A_t/q would have margins of at least 1, and V would be A_t/q, whose margin at o
   is above 1 (`no_more_than_square`).
2. If d >= 0, then m_t does not fall. While drop y <= lead, m_o does not fall. Else m_o falls by at
   most a multiple of the fall of y. So m_o less a multiple of y does not fall (`acute`).
3. If d = -c < 0, then m_t does not fall while drop y >= lead. So it stays above a constant. As
   (q + c) m_o + (a + c) m_t does not fall, m_t is large if m_o is small, and then m_o does not fall
   (`obtuse`).

So both margins, and s_o, stay above constants, and the limit follows as in
`symbolic.attending_facts`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    MATE,
    NUMBER,
    OWNER,
    RATE,
    RUNNER_UP,
    SETTING,
    A,
    M,
    V,
    W,
    X,
    i,
    j,
    other,
    peer,
    second,
)
from attsvm.primitives.hypotheses import ONE_INPUT, SECOND_SUPPORTS, SEVERAL_TOKENS
from attsvm.theory.declaration.proof import Supposition
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import (
    DISCRIMINANT,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LARGER,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, of_case, setting, suppose
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
    define,
    induction,
    one_of_sum,
    picked,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    MAXIMUM,
    Letter,
    Over,
    Term,
    as_term,
    most,
    same,
    substituted,
    total,
)
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, UNIQUE_OPTIMUM
from properties.sim.theorem_3_14_part_1 import THREE
from symbolic.aligned_facts import paces, reaches, stays
from symbolic.attending_facts import end_attending, from_attention
from symbolic.attention_facts import (
    AFTER,
    HERE,
    MINE,
    OWN,
    POWER,
    THEIRS,
    Attention,
    Moves,
    Slopes,
    attends,
    moves,
    over_own,
    r,
    slopes,
    steepness,
)
from symbolic.facts import by_steps, no_shorter, power, powers_rise, product
from symbolic.growth_facts import Growth
from symbolic.sim.pair_facts import some_square


def turned(body: Term, index: Letter, one: Term, another: Term) -> tuple[Fact, Fact]:
    """Return facts from which f(i) same(i, k) = f(k) same(k, i) for two elements i and k."""
    every = Letter("k", index.sort)
    there = substituted(body, {index: every.term})
    first = picked(there * same(every, one), every, another)
    return first, picked(there * same(every, another), every, one)


@dataclass(frozen=True, slots=True)
class Rivals:
    """The rivals o and t of the only input.

    Attributes:
        o, t: a second-best token that is a support vector, and the other rival, if there is one.
        single: all inputs are the same.
        either: each rival is o or t.
        sign: same(other, j) >= 0.
        part: same(other, j) <= 1.
        best: no rival scores more than o.
        tight: the margin of o under V is 1.
        several: there is a rival.
    """

    o: Term
    t: Term
    single: Fact
    either: Fact
    sign: Fact
    part: Fact
    best: Fact
    tight: Fact
    several: Fact

    def each(self, body: Term, of_o: Fact | None, of_t: Fact | None) -> Fact:
        """Return that a term in j is at least 0, as it is for both rivals; None if it is 0."""
        parts = list[Fact]()
        for one, fact in ((self.o, of_o), (self.t, of_t)):
            facts: tuple[Fact, ...] = turned(body, j, one, j.term)
            if fact is not None:
                facts = *facts, product(fact, at(self.sign, {other: one}))
            parts.append(decide(ge(body * same(j, one), 0), *facts, degree=1))
        rest = product(parts[1], at(self.part, {other: j.term, j: self.o}))
        return decide(ge(body, 0), scale(self.either, body), parts[0], rest, degree=1)

    def own(self, body: Term) -> Fact:
        """Return that the sum over the rivals of the input of j is the sum over all rivals."""
        there = total(body, j, Over(OWNER, i.term))
        one = add_up(scale(at(self.single, {peer: OWN}), there), i)
        whole = total(substituted(body, {j: r.term}), r, MINE)
        facts = regroup(body, j, OWNER), one, picked(there, i, OWN)
        return decide(eq(whole, total(body, j)), *facts, degree=1)

    def input(self, body: Term) -> Fact:
        """Return that a term in i is the same for the inputs of t and of o."""
        one, another = OWNER(self.o), OWNER(self.t)
        facts = turned(body, i, one, another)
        values = (substituted(body, {i: x}) for x in (one, another))
        ones = (at(self.single, {i: x, peer: y}) for x, y in ((one, another), (another, one)))
        units = [scale(fact, value) for fact, value in zip(ones, values, strict=True)]
        of_one, there = (substituted(body, {i: x}) for x in (one, another))
        return decide(eq(there, of_one), *facts, *units, degree=1)


Taken = Callable[[Supposition], tuple[Fact, ...]]
"""A function that returns what a hypothesis says."""


def rivals(exists: tuple[Fact, ...], take: Taken) -> Rivals:
    """Prove that there are two rivals at most."""
    (single,), (three,), (several,) = (take(x) for x in (ONE_INPUT, THREE, SEVERAL_TOKENS))
    binary = setting(SETTING, "rivals are the same or not")
    pick, reached = attained("best rival", most(GAMMA(r), r), several)
    o = RUNNER_UP(pick())
    t = MATE(o)
    best = decide(
        ge(GAMMA(o), GAMMA(j)), *(at(exists[3], {j: pick()}), reached, beyond("most", GAMMA(j), j))
    )
    one = same(other, j)
    mine = at(single, {i: OWN, peer: OWNER(o)})
    others = (1 - same(j, o)) * (1 - same(j, t))
    return Rivals(
        *(o, t, single),
        decide(eq(others, 0), at(three, {other: o}), scale(mine, others)),
        decide(ge(one, 0), binary),
        decide(ge(1, one), binary),
        *(best, at(exists[4], {j: pick()}), several),
    )


@dataclass(frozen=True, slots=True)
class Run:
    """A run with two rivals, o and t, of different scores; most facts assume the latter.

    Attributes:
        o, t: A_o and A_t.
        x, y: exp(-m_o) and exp(-m_t).
        lead, drop: the leads of the optimal token over o, and of o over t, with their signs.
        phi: the pace of a step.
        moved: a step adds phi (x (lead - drop y) A_o + y (lead + drop + drop x) A_t) to W.
        pace: phi is positive.
        cap: a constant, with its sign.
        capped: the products of phi with x, y and x y are at most the constant.
        products: a, q and d.
        squares: a and q are positive.
    """

    o: Term
    t: Term
    x: Term
    y: Term
    lead: Fact
    drop: Fact
    phi: Term
    moved: Fact
    pace: Fact
    cap: Fact
    capped: tuple[Fact, Fact, Fact]
    squares: tuple[Fact, Fact]

    @property
    def products(self) -> tuple[Term, Term, Term]:
        """The products a, q and d of the module."""
        return self.o @ self.o, self.t @ self.t, self.o @ self.t

    @property
    def signs(self) -> tuple[Fact, Fact]:
        """That x and y are positive."""
        return power(-(HERE @ self.o)), power(-(HERE @ self.t))


def two_scores(
    of: Rivals, a: Attention, step: Moves, bent: Slopes, drop: Fact, margins: Fact
) -> tuple[Run, Fact]:
    """Prove what a step does if o scores more than t.

    Returns:
        The facts on the run, and that the sum of exp(-m_j) over the rivals of an input is x + y.
    """
    one, D, L = OWNER(of.o), drop.proposition.term, BEST(OWNER(of.o)) - GAMMA(of.o)
    lead = at(a.lower, {j: of.o})
    # each rival is one of both, and these are not the same
    scores = turned(GAMMA(j), j, of.o, of.t)
    alike = decide(eq(same(of.t, of.o), same(of.o, of.t)), *turned(as_term(1), j, of.o, of.t))
    apart = decide(eq(D * same(of.o, of.t), 0), *scores, scale(alike, GAMMA(of.t)), degree=1)
    apart = decide(eq(same(of.o, of.t), 0), apart, drop)
    never = turned(same(j, of.t), j, of.o, j.term)
    whole = decide(
        eq(same(j, of.o) + same(j, of.t), 1),
        *(of.either, *never, scale(apart, same(of.o, j))),
        degree=1,
    )

    def both(body: Term) -> Fact:
        value = sum((substituted(body, {j: x}) for x in (of.o, of.t)), as_term(0))
        parts = add_up(scale(whole, body), j), *(picked(body, j, x) for x in (of.o, of.t))
        return decide(eq(total(body, j), value), *parts, degree=1)

    A_o, A_t = A(of.o), A(of.t)
    x, y = EXP(-(A_o @ HERE)), EXP(-(A_t @ HERE))
    S, u, fall, n = a.s_o(one, K), a.u(one, K), FALL(a.u(one, K)), INV(NUMBER)
    at_o, at_t = {j: of.o}, {j: of.t}
    s_t = a.s(of.t, K)
    is_o = at(a.means[2], at_o)
    mine = of.input(a.s_o(i, K))
    is_t = decide(eq(s_t, S * y), at(a.means[2], at_t), scale(mine, y))
    sums, scores_ = at(of.own(a.s(j, K)), at_o), at(of.own(a.s(j, K) * GAMMA(j)), at_o)
    odds = decide(
        eq(S * (1 + x + y), 1), at(a.one, {i: one}), sums, both(a.s(j, K)), is_o, is_t, degree=1
    )
    mean = decide(
        eq(u - GAMMA(of.o), S * (L - D * y)),
        *(at(a.mean, {i: one}), scores_, both(a.s(j, K) * GAMMA(j))),
        *(scale(is_o, GAMMA(of.o)), scale(is_t, GAMMA(of.t)), scale(odds, GAMMA(of.o))),
        degree=1,
    )
    behind = decide(eq(u - GAMMA(of.t), S * (L + D + D * x)), mean, scale(odds, D), degree=1)
    # a step adds e p_o A_o + e p_t A_t
    phi_, phi_is = define("phi", (K,), RATE * n * fall * S**2)
    phi = phi_(K)
    p = step.p(j, K)
    p_o, p_t = step.p(of.o, K), step.p(of.t, K)
    of_o = decide(
        eq(RATE * p_o, phi * x * (L - D * y)),
        *(scale(at(step.p_is, at_o), RATE), scale(is_o, RATE * fall * (u - GAMMA(of.o)) * n)),
        *(scale(mean, RATE * fall * S * x * n), scale(phi_is, x * (L - D * y))),
        degree=1,
    )
    like = of.input(FALL(a.u(i, K)) * (a.u(i, K) - GAMMA(of.t)))
    of_t = decide(
        eq(RATE * p_t, phi * y * (L + D + D * x)),
        *(scale(at(step.p_is, at_t), RATE), scale(like, RATE * s_t * n)),
        scale(is_t, RATE * fall * (u - GAMMA(of.t)) * n),
        *(scale(behind, RATE * fall * S * y * n), scale(phi_is, y * (L + D + D * x))),
        degree=1,
    )
    added = phi * (x * (L - D * y) * (A_o @ M.term) + y * (L + D + D * x) * (A_t @ M.term))
    moved = decide(
        eq(AFTER @ M.term, HERE @ M.term + added),
        *(step.grown, scale(both(p * (A(j) @ M.term)), RATE)),
        *(scale(of_o, A_o @ M.term), scale(of_t, A_t @ M.term)),
        degree=1,
    )
    # phi, phi x, phi y and phi x y are bounded
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    low, high = (at(f, {i: one}) for f in bent.at_output)
    falls = decide(gt(fall, 0), low, bent.least_positive)
    some, up_x, up_y = at(a.s_o_positive, {i: one}), power(-(A_o @ HERE)), power(-(A_t @ HERE))
    rate = decide(gt(RATE * n, 0), step.rate, over)
    square_ = decide(gt(S**2, 0), some)
    pace = decide(gt(phi, 0), phi_is, product_positive(rate, falls, square_))
    cap = RATE * n * bent.most
    some_x, some_y = product(some, up_x), product(some, up_y)
    flat = decide(ge(1, S), odds, some_x, some_y)
    flat_x, flat_y = (
        decide(ge(1, S * x), odds, some, some_y),
        decide(ge(1, S * y), odds, some, some_x),
    )
    shares = (
        (x, decide(ge(1, S**2 * x), flat_x, product(flat, some_x)), product(square_, up_x)),
        (y, decide(ge(1, S**2 * y), flat_y, product(flat, some_y)), product(square_, up_y)),
        (
            x * y,
            decide(ge(1, S**2 * x * y), flat_x, product(flat_y, some_x)),
            product(square_, up_x, up_y),
        ),
    )
    most_rate = decide(gt(cap, 0), rate, bent.most_positive)
    capped = [
        decide(
            ge(cap, phi * z),
            *(scale(phi_is, z), product(rate, high, sign), product(most_rate, share)),
            degree=1,
        )
        for z, share, sign in shares
    ]
    squares_ = [some_square(v, V, at(margins, w)) for v, w in ((A_o, at_o), (A_t, at_t))]
    count = of.own(POWER), both(POWER)
    pair = decide(eq(total(EXP(-(A(r) @ HERE)), r, MINE), x + y), *count, degree=1)
    run = Run(
        *(A_o, A_t, x, y, lead, drop, phi, note("a step adds this to W", moved), pace, most_rate),
        (capped[0], capped[1], capped[2]),
        (squares_[0], squares_[1]),
    )
    return run, pair


def product_positive(*facts: Fact) -> Fact:
    """Return that a product of terms is positive, as each is."""
    result, *more = facts
    for fact in more:
        term = result.proposition.term * fact.proposition.term
        result = decide(gt(term, 0), result, fact)
    return result


def no_more_than_square(of: Rivals, run: Run, exists: tuple[Fact, ...]) -> Fact:
    """Prove that <A_o, A_t> is at most ||A_t||^2."""
    (a, q, d), (o, t), (_, some_q) = run.products, (run.o, run.t), run.squares
    condition = ge(q, d)
    no = assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [some_q], q)
    Z = INV(q) * t
    of_o = decide(ge(o @ Z, 1), unit, inverse, no)
    meets = of.each(A(j) @ Z - 1, of_o, decide(ge(t @ Z, 1), unit))
    short = at(decide(ge(A(j) @ Z, 1), meets), {j: r})
    longer = cut(at(exists[1], {X: Z}), bounds(short, "least", A(r) @ Z, r, of.several))
    longer = decide(ge(1, q * (V @ V)), product(longer, some_q), scale(unit, q * INV(q) + 1))
    w = q * V - t
    none = decide(ge(0, w @ w), product(longer, some_q), product(at(exists[0], {j: of.t}), some_q))
    s = Letter("t")
    (within,) = cite(DISCRIMINANT, [no_shorter(s.term * o + w)], s, a, o @ w, w @ w)
    turned_ = scale(of.tight, q * (o @ w + q - d))
    wrong = decide(ge(0, (q - d) ** 2), within, turned_, product(run.squares[0], none))
    fact = cases(assume(condition), decide(condition, wrong), condition)
    return note("<A_o, A_t> is at most ||A_t||^2, as o is a support vector", fact)


def acute(run: Run, sign: Fact, below: Fact) -> Fact:
    """Prove that x + y stays at most a constant if <A_o, A_t> is at least 0.

    Args:
        run: the run.
        sign: <A_o, A_t> is at least 0.
        below: it is at most ||A_t||^2.
    """
    (a, q, d), (some_a, some_q), (some_x, some_y) = run.products, run.squares, run.signs
    x, y, L, D = run.x, run.y, run.lead.proposition.term, run.drop.proposition.term
    o, t, phi, cap = run.o, run.t, run.phi, run.cap.proposition.term
    moved_o, moved_t = (at(run.moved, {M: one}) for one in (o, t))
    both = decide(gt(L + D, 0), run.lead, run.drop)
    rise = AFTER @ t - HERE @ t
    parts = (
        product(run.pace, some_x, run.lead, sign),
        product(run.pace, some_y, both, some_q),
        product(run.pace, some_x, some_y, run.drop, below),
    )
    rises = decide(ge(rise, 0), moved_t, *parts, degree=1)
    least = note("m_t does not fall", by_steps(ge(HERE @ t, W(0) @ t), [], [rises]))
    y_0 = EXP(-(W(0) @ t))
    top = powers_rise(-(HERE @ t), -(W(0) @ t), least)
    by_x, by_y, by_both = run.capped
    jump_, jump_is = define("jump", (), cap * (d * L + q * (L + D) + (q - d) * D))
    jump = jump_()
    most_ = decide(
        ge(jump, rise),
        *(moved_t, jump_is, product(by_x, run.lead, sign), product(by_y, both, some_q)),
        product(by_both, run.drop, below),
        degree=1,
    )
    # y falls by at least y rise/(1 + jump)
    later = EXP(-(AFTER @ t))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -(AFTER @ t), rise)
    line, some_later = cite(EXPONENTIAL, (), rise)[1], power(-(AFTER @ t))
    first = decide(ge(y, later * (1 + rise)), law, product(some_later, line))
    falls = decide(ge(y, later), first, product(some_later, rises))
    part = decide(ge((y - later) * (1 + jump), y * rise), first, product(falls, most_), degree=1)
    # the fall of m_o, where drop y > lead
    low = decide(
        ge(AFTER @ o - HERE @ o, phi * a * x * (L - D * y)),
        *(moved_o, product(run.pace, some_y, both, sign)),
        product(run.pace, some_x, some_y, run.drop, sign),
        degree=1,
    )
    unit, inverse = cite(RECIPROCAL, [product_positive(some_q, run.lead, run.lead)], q * L**2)
    some_0 = power(-(W(0) @ t))
    far_, far_is = define("factor", (), a * D**2 * y_0 * (1 + jump) * INV(q * L**2))
    far = far_()
    some_jump = decide(ge(1 + jump, 0), most_, rises)
    weight = product(some_a, run.drop, run.drop, some_0, some_jump, inverse)
    some_far = decide(ge(far, 0), far_is, weight)
    condition = ge(L, D * y)
    yes, no = assume(condition), assume(condition.denied())
    claim = ge(HERE @ o - far * y, W(0) @ o - far * y_0)
    goal = claim.at({K: K.term + 1})
    kept = product(some_far, falls)
    below_one = decide(
        goal, low, kept, product(run.pace, some_a, some_x, yes), assume(claim), degree=1
    )
    above = decide(ge(D * y_0, L), product(run.drop, top), no)
    gain = decide(
        ge(y_0 * rise, phi * q * L * x * y),
        *(scale(moved_t, y_0), product(run.pace, some_x, run.lead, sign, top)),
        product(run.pace, some_y, both, some_q, some_0),
        product(run.pace, some_x, some_y, below, above),
        degree=1,
    )
    gain = decide(
        ge(D * y_0 * (1 + jump) * (y - later), phi * q * L**2 * x * y),
        *(product(part, run.drop, some_0), product(gain, run.drop, some_y)),
        product(run.pace, some_q, run.lead, some_x, some_y, no),
        degree=1,
    )
    gain = decide(
        ge(far * (y - later), a * D * phi * x * y),
        *(product(gain, some_a, run.drop, inverse), scale(far_is, y - later)),
        scale(unit, a * D * phi * x * y),
        degree=1,
    )
    there = decide(
        goal, low, gain, product(run.pace, some_a, some_x, run.lead), assume(claim), degree=1
    )
    start = decide(claim.at({K: as_term(0)}))
    stays_ = induction(claim, start, cases(below_one, there, condition))
    stays_ = decide(ge(HERE @ o, W(0) @ o - far * y_0), stays_, product(some_far, some_y))
    stays_ = note("m_o stays above a constant", stays_)
    x_top = powers_rise(-(HERE @ o), far * y_0 - W(0) @ o, stays_)
    return decide(ge(EXP(far * y_0 - W(0) @ o) + y_0, x + y), x_top, top)


def obtuse(run: Run, opposed: Fact) -> Fact:
    """Prove that x + y stays at most a constant if <A_o, A_t> is below 0."""
    (a, q, d), (some_a, some_q), (some_x, some_y) = run.products, run.squares, run.signs
    x, y, L, D = run.x, run.y, run.lead.proposition.term, run.drop.proposition.term
    o, t, c, cap = run.o, run.t, -d, run.cap.proposition.term
    m_o, m_t, pace = HERE @ o, HERE @ t, run.pace
    some_c = decide(gt(c, 0), opposed)
    moved_o, moved_t = (at(run.moved, {M: one}) for one in (o, t))
    both = decide(gt(L + D, 0), run.lead, run.drop)
    by_x, by_y, by_both = run.capped
    # m_t stays above a constant
    some_t = product(pace, some_x, some_y, run.drop)
    condition = ge(D * y, L)
    yes, no = assume(condition), assume(condition.denied())
    rises = decide(
        ge(AFTER @ t, m_t),
        *(moved_t, product(pace, some_x, some_c, yes), product(pace, some_y, both, some_q)),
        product(some_t, some_q),
        degree=1,
    )
    drops = decide(
        ge(AFTER @ t, m_t - cap * c * L),
        *(moved_t, product(by_x, some_c, run.lead), product(some_t, some_c)),
        *(product(pace, some_y, both, some_q), product(some_t, some_q)),
        degree=1,
    )
    unit, inverse = cite(RECIPROCAL, [run.drop], D)
    below = product(no, inverse), scale(unit, y)
    high = decide(ge(m_t, 1 - L * INV(D)), _tangent(-m_t), *below)
    y_0, x_0 = EXP(-(W(0) @ t)), EXP(-(W(0) @ o))
    depth_, depth_is = define("depth of t", (), y_0 + L * INV(D) + cap * c * L)
    depth = depth_()
    claim = ge(m_t, -depth)
    goal = claim.at({K: K.term + 1})
    some = product(run.lead, inverse), product(run.cap, some_c, run.lead)
    start = decide(claim.at({K: as_term(0)}), depth_is, _tangent(-(W(0) @ t)), *some)
    kept = cases(
        decide(goal, rises, assume(claim)),
        decide(goal, drops, high, depth_is, power(-(W(0) @ t))),
        condition,
    )
    low_t = note("m_t stays above a constant", induction(claim, start, kept))
    # (q + c) m_o + (a + c) m_t does not fall
    dependent = decide(ge(a * q - c**2, 0), no_shorter(q * o + c * t), some_q)
    f = (q + c) * m_o + (a + c) * m_t
    f_0 = (q + c) * (W(0) @ o) + (a + c) * (W(0) @ t)
    parts = (
        *(scale(moved_o, q + c), scale(moved_t, a + c)),
        *(product(dependent, pace, some_x, run.lead), product(dependent, pace, some_y, both)),
    )
    grows = decide(ge((q + c) * (AFTER @ o) + (a + c) * (AFTER @ t), f), *parts, degree=1)
    balance = by_steps(ge(f, f_0), [], [grows])
    # where m_o <= -far, m_t is so large that m_o does not fall
    Z = c * (L + D) + (a + c) * D
    some_qc, some_ac = decide(gt(q + c, 0), some_q, some_c), decide(gt(a + c, 0), some_a, some_c)
    some_Z = decide(gt(Z, 0), product_positive(some_c, both), product_positive(some_ac, run.drop))
    some_aL = product_positive(some_a, run.lead)
    by_aL, over_aL = cite(RECIPROCAL, [some_aL], a * L)
    by_qc, over_qc = cite(RECIPROCAL, [some_qc], q + c)
    whole = (a + c) * Z * INV(a * L) + f_0**2 + 1
    some_whole = decide(gt(whole, 0), product(some_ac, some_Z, over_aL), square(f_0))
    far_, far_is = define("far", (), whole * INV(q + c))
    far = far_()
    some_far = decide(ge(far, 0), far_is, product(some_whole, over_qc))
    condition = ge(-far, m_o)
    yes, no = assume(condition), assume(condition.denied())
    under = decide(ge(x, 1), _tangent(-m_o), yes, some_far)
    wide = decide(
        ge(-(q + c) * m_o, whole),
        *(product(yes, some_qc), scale(far_is, q + c), scale(by_qc, whole)),
        degree=1,
    )
    large = decide(
        ge((a + c) * m_t, (a + c) * Z * INV(a * L)), wide, balance, square(2 * f_0 + 1), degree=1
    )
    large = decide(ge(m_t, Z * INV(a * L)), large, some_ac)
    large = decide(ge(a * L * m_t, Z), product(large, some_aL), scale(by_aL, Z), degree=1)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), -m_t, m_t)
    small = decide(ge(1, y * (1 + m_t)), law, product(some_y, _tangent(m_t)))
    small = decide(
        ge(a * L, y * Z),
        product(large, some_y),
        product(small, some_aL),
        product(some_y, some_aL),
        degree=1,
    )
    rises = decide(
        ge(AFTER @ o, m_o),
        *(moved_o, product(pace, some_x, small), product(pace, some_y, some_c, both, under)),
        degree=1,
    )
    drops = decide(
        ge(AFTER @ o, m_o - cap * Z),
        *(moved_o, product(by_y, some_c, both), product(by_both, some_ac, run.drop)),
        product(pace, some_a, some_x, run.lead),
        degree=1,
    )
    floor_, floor_is = define("depth of o", (), x_0 + far + cap * Z)
    floor_o = floor_()
    claim = ge(m_o, -floor_o)
    goal = claim.at({K: K.term + 1})
    kept = cases(
        decide(goal, rises, assume(claim)),
        decide(goal, drops, no, floor_is, power(-(W(0) @ o))),
        condition,
    )
    some_drop = product(run.cap, some_Z)
    start = decide(claim.at({K: as_term(0)}), floor_is, _tangent(-(W(0) @ o)), some_far, some_drop)
    low_o = note("m_o stays above a constant", induction(claim, start, kept))
    x_top, y_top = powers_rise(-m_o, floor_o, low_o), powers_rise(-m_t, depth, low_t)
    return decide(ge(EXP(floor_o) + EXP(depth), x + y), x_top, y_top)


def _tangent(x: Term) -> Fact:
    """Return that exp(x) is at least 1 + x."""
    return cite(EXPONENTIAL, (), x)[1]


def of_equal(of: Rivals, lowest: Fact, yes: Fact) -> Fact:
    """Return that the second-best score is that of each rival, if t scores as much as o."""
    mine = decide(gt(total(1, r, MINE), 0), one_of_sum(decide(gt(1, 0)), j, OWNER))
    top = bounds(at(of.best, {j: r}), "most", GAMMA(r), r, mine, MINE)
    equal = decide(ge(GAMMA(j), GAMMA(of.o)), lowest, yes)
    return decide(eq(second(OWN), GAMMA(j)), beyond("most", GAMMA(j), j, OWNER), top, equal)


def ahead(of: Rivals, a: Attention, step: Moves, bent: Slopes, lowest: Fact, margins: Fact) -> Fact:
    """Prove that sum_j p_j <A_j, V> is at least sum_j p_j.

    The margin of o is 1, and p_t is at least 0, as no token scores less than t.
    """
    there, at_t, low = {i: OWNER(of.t)}, {j: of.t}, GAMMA(of.t)
    behind = add_up(product(a.s_positive, lowest), j, THEIRS)
    above = decide(
        ge(a.u(OWNER(of.t), K), low),
        *(at(behind, there), at(a.mean, there), scale(at(a.one, there), low)),
        product(at(a.s_o_positive, there), at(a.lower, at_t)),
        degree=1,
    )
    falls = decide(gt(FALL(a.u(i, K)), 0), bent.at_output[0], bent.least_positive)
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    some = product(at(falls, there), at(a.s_positive, at_t), above, over)
    of_t = decide(ge(step.p(of.t, K), 0), at(step.p_is, at_t), some)
    p = step.p(j, K)
    of_o = scale(of.tight, step.p(of.o, K))
    of_o = decide(ge(of_o.proposition.term, 0), of_o)
    return add_up(of.each(p * (A(j) @ V - 1), of_o, product(of_t, at(margins, at_t))), j)


def of_three(take: Taken = suppose) -> tuple[Growth, Fact]:
    """Prove that W/||W|| tends to V/||V|| for one input of at most three tokens."""
    exists = take(SECOND_SUPPORTS)
    a = attends(suppose(UNIQUE_OPTIMUM)[0])
    step = moves(a)
    bent = slopes(a, steepness(a, SMOOTH_SLOPE, FALLING))
    of = rivals(exists, take)
    condition = ge(GAMMA(of.t), GAMMA(of.o))
    yes, no = assume(condition), assume(condition.denied())
    lowest = of.each(GAMMA(j) - GAMMA(of.t), at(of.best, {j: of.t}), None)
    # either rivals have one score
    alone = at(of.single, {i: OWNER(other), peer: OWN})
    apart = (1 - same(OWNER(other), OWN)) * (A(other) @ A(j))
    aligned = decide(ge(apart, 0), scale(alone, A(other) @ A(j)))
    pace = paces(a, step, bent, of_equal(of, lowest, yes), aligned, of.several)
    B, equal = stays(a, pace, reaches(a, pace))
    # or they have two
    run, pair = two_scores(of, a, step, bent, no, exists[0])
    angle = ge(run.products[2], 0)
    sharp = acute(run, assume(angle), no_more_than_square(of, run, exists))
    wide = obtuse(run, assume(angle.denied()))
    first, last = (fact.proposition.term + run.x + run.y for fact in (sharp, wide))
    one, other_, _ = cite(LARGER, (), first, last)
    most_ = ge(MAXIMUM(first, last), run.x + run.y)
    differ = cases(decide(most_, sharp, one), decide(most_, wide, other_), angle)
    # in both cases s_o stays above a constant
    cap_, cap_is = define("cap", (i,), MAXIMUM(B(i), MAXIMUM(first, last)))
    cap, own = cap_(OWN), at(cap_is, {i: OWN})
    over, too, _ = cite(LARGER, (), B(OWN), MAXIMUM(first, last))
    G_own, claim = at(pace.G_is, {i: OWN}), ge(cap_(OWN), pace.G(OWN, K))
    bound = cases(
        decide(claim, own, over, equal), decide(claim, own, too, differ, pair, G_own), condition
    )
    s_o, mine = a.s_o(OWN, K), at(a.s_o_positive, {i: OWN})
    some = decide(gt(1 + cap, 0), bound, over_own(a.power), G_own)
    unit, share = cite(RECIPROCAL, [some], 1 + cap)
    enough = decide(ge(s_o * (1 + cap), 1), pace.odds, bound, mine)
    attended = decide(ge(s_o, INV(1 + cap)), enough, share, scale(unit, s_o))
    along = ahead(of, a, step, bent, lowest, exists[0])
    return from_attention(a, step, bent, (attended, share), along, of.several, exists[:2])


@linked
def prove_three() -> str:
    """Prove the limit direction for one input of at most three tokens, for any start and step."""
    end_attending(*of_three())
    return "for every loss with continuous l' < 0, any d and start, and any constant step"


@linked
def prove_in_a_case() -> str:
    """Prove the same if a case of a longer proof, or its steps, give the hypotheses."""
    end_attending(*of_three(of_case))
    return "for every loss with continuous l' < 0, any d and start, and any constant step"

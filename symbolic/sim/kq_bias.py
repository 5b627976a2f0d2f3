"""The limit direction of descent on key and query weights, for one input of two tokens.

D = x_opt - x_j and the query z are not 0; a = ||D|| and b = ||z||. Let P = K^T D and U = Q^T z,
and let S = b P + a U and R = b P - a U. With the size of steps e, the attention s_o and s_j to both
tokens, and c = |l'(u)| s_o s_j (gamma_o - gamma_j) > 0, the gradient of the risk in W = K Q^T is
-c D z^T. The number x = e c a b lies between 0 and a constant X.

1. A step takes S to (1 + x) S and R to (1 - x) R. The margin of W is <P, U>, and 4 a b <P, U> =
   ||S||^2 - ||R||^2.
2. ||R||^2 (1 + h log(||S||^2/||S_0||^2)) is at most ||R_0||^2/||S_0||^2 times ||S||^2, by induction
   with h = 4/(2 + X)^3: log ||S||^2 grows by at most 2 x + x^2.
3. While ||S|| is bounded, so is the margin, by 1 and 2. Then c is above a constant, and ||S||^2
   grows by a constant at least. So ||S|| tends to infinity, and 2 ||R||^2 <= ||S||^2 in the end.
4. Steps change K by D v^T and Q by z v^T for some v. So a^2 b^2 W is <P, U> D z^T plus a matrix.
   The square of the norm of this matrix is at most a constant times 1 + ||S||^2, but that of
   <P, U> D z^T grows like ||S||^4.
5. V = D z^T/(a b)^2: no other matrix with a margin of at least 1 is as short.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    FALL,
    GAMMA,
    GRADIENT,
    NUMBER,
    OWNER,
    RATE,
    A,
    M,
    V,
    W,
    X,
    bound,
    i,
    j,
    lead,
    margin,
    off,
    other,
    peer,
)
from attsvm.primitives.hypotheses import ONE_PAIR, UNIQUE
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt, note
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    DISCRIMINANT,
    FINITELY_OFTEN,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    bounds,
    by_definition,
    cite,
    cut,
    decide,
    define,
    induction,
    picked,
    positive,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    LOG,
    NORM,
    SQRT,
    Function,
    Letter,
    Over,
    Term,
    as_term,
    substituted,
    total,
)
from properties._support.factor_descent import LEANS
from properties._support.factor_letters import (
    KEY_MOVED,
    KEYS,
    LENGTH_OF_D,
    LENGTH_OF_Z,
    QUERIES,
    QUERY_MOVED,
    SETTING,
    D,
    Z,
    asked,
    c,
    direction,
    keyed,
    r,
    y,
)
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from symbolic.attention_facts import (
    MINE,
    OWN,
    Attention,
    Slopes,
    attends,
    gradient,
    slope,
    slopes,
    steepness,
)
from symbolic.attention_facts import r as rival
from symbolic.facts import (
    by_steps,
    conclude_each,
    logs_rise,
    no_shorter,
    power,
    powers_rise,
    product,
    root,
    tangent,
)

a, b = LENGTH_OF_D, LENGTH_OF_Z
NEXT = K.term + 1
LEAD = lead(j.term)


def of_step(setting_: str) -> Fact:
    """Return a fact of the setting of a run on K and Q."""
    return setting(SETTING, setting_)


@dataclass(frozen=True, slots=True)
class Pair:
    """The only input and its only rival."""

    inputs: Fact  # any two inputs are the same
    rivals: Fact  # any two rivals are the same
    some: Fact  # there is a rival

    def whole(self, body: Term) -> Fact:
        """Return that the sum of a term over all rivals is the term of rival j."""
        moved = substituted(body, {j: rival.term})
        same = add_up(scale(at(self.rivals, {other: rival}), moved), rival)
        return decide(eq(total(moved, rival), body), same, picked(moved, rival, j))

    def mine(self, body: Term) -> Fact:
        """Return that the sum of a term over the rivals of the input of j is the term of j."""
        moved = substituted(body, {j: rival.term})
        parts = total(moved, rival, Over(OWNER, peer.term))
        same = add_up(scale(at(self.inputs, {i: peer, peer: OWN}), parts), peer)
        own = decide(
            eq(total(parts, peer), total(moved, rival, MINE)), same, picked(parts, peer, OWN)
        )
        return decide(
            eq(total(moved, rival, MINE), body), own, regroup(moved, rival, OWNER), self.whole(body)
        )


def above(*facts: Fact) -> Fact:
    """Return that a product of terms is positive, as each is."""
    result, *more = facts
    for fact in more:
        term = result.proposition.term * fact.proposition.term
        result = decide(gt(term, 0), result, fact)
    return result


@dataclass(frozen=True, slots=True)
class Sizes:
    """The lengths a and b of D and z."""

    roots: tuple[Fact, Fact]  # a^2 and b^2 are the sums of squares
    positive: tuple[Fact, Fact]  # a > 0 and b > 0


def sizes(some_D: Fact, some_z: Fact) -> Sizes:
    """Prove that a and b are positive."""
    roots, signs = [], []
    for some in (some_D, some_z):
        inside = some.proposition.term
        at_least, whole = root(inside, decide(ge(inside, 0), some))
        roots.append(whole)
        signs.append(decide(gt(SQRT(inside), 0), at_least, whole, some))
    return Sizes((roots[0], roots[1]), (signs[0], signs[1]))


@dataclass(frozen=True, slots=True)
class Pull:
    """The step of the run, and its size x."""

    run: Attention
    steep: Slopes
    x: Term  # x, p: x = e p a b, and p is the coefficient of A_j in the negative gradient
    p: Term
    x_is: Fact  # this definition of x
    positive: Fact  # x > 0
    top: Term  # top, most: a constant X, and x <= X
    most: Fact
    top_positive: Fact  # X > 0
    one: Fact  # s_o + s_j = 1
    p_is: Fact  # x = |l'(u)| s_j s_o e a b (gamma_o - gamma_j) / n
    factor: Fact  # e a b (gamma_o - gamma_j) / n > 0
    moved: tuple[Fact, Fact]  # what a step adds to K_r and Q_c, in products with any y


def pulled(pair: Pair, lower: Fact, size: Sizes) -> Pull:
    """Prove what a step does to the rows of K and Q, and bounds of its size."""
    run = attends(lower)
    steep = slopes(run, steepness(run, SMOOTH_SLOPE, FALLING))
    grad = slope(run, gradient())
    p, s_o, s, fall = grad.p(j, K), run.s_o(OWN, K), run.s(j, K), FALL(run.u(OWN, K))

    def moved(by: str, along: str, move: Term, row: Term, more: Term) -> Fact:
        """Return what a step does to a row, from the step and the product of A_j with the move."""
        step = of_step(f"descent takes the step e along the negative gradient by {by}")
        sums = at(grad.along, {M: move}), pair.whole(p * (A(j) @ move))
        pull = decide(eq(-(GRADIENT(W(K)) @ move), p * more), *sums, scale(of_step(along), p))
        after = substituted(row, {K: NEXT})
        claim = eq(after @ y.term, row @ y.term + RATE * p * more)
        return decide(claim, step, scale(pull, RATE))

    along = "A_j has the product D_r <Q^T z, y> with e_r y^T Q^T"
    keys = moved("K", along, KEY_MOVED(r, y, K), KEYS(r, K), D * (asked() @ y.term))
    along = "A_j has the product z_c <K^T D, y> with K y e_c^T"
    queries = moved("Q", along, QUERY_MOVED(c, y, K), QUERIES(c, K), Z * (keyed() @ y.term))
    mine = {i: OWN}
    one = decide(eq(s_o + s, 1), at(run.one, mine), pair.mine(s))
    mean = at(run.mean, mine), pair.mine(s * GAMMA(j)), scale(one, GAMMA(j))
    behind = decide(eq(run.u(OWN, K) - GAMMA(j), s_o * LEAD), *mean)
    value = fall * s * s_o * LEAD * INV(NUMBER)
    p_is = decide(eq(p, value), grad.p_is, scale(behind, fall * s * INV(NUMBER)))
    x, x_is = define("x", (j, K), RATE * p * a * b)
    _, over = cite(RECIPROCAL, [run.input], NUMBER)
    ahead = decide(gt(LEAD, 0), lower)
    factor = above(ahead, over, of_step("the step is positive"), *size.positive)
    attended = at(run.s_o_positive, mine)
    shares = above(run.s_positive, attended)
    low, high = (at(fact, mine) for fact in steep.at_output)
    falls = decide(gt(fall, 0), low, steep.least_positive)
    x_value = decide(
        eq(x(j, K), fall * s * s_o * factor.proposition.term), x_is, scale(p_is, RATE * a * b)
    )
    few = decide(ge(1, 4 * s * s_o), scale(one, 4 * s), square(2 * s - 1))
    few = decide(ge(steep.most / 4, fall * s * s_o), few, high, shares, steep.most_positive)
    known = above(steep.most_positive, factor)
    top, top_is = define("X", (j,), known.proposition.term / 4)
    most = decide(ge(top(j), x(j, K)), x_value, few, factor, top_is)
    return Pull(
        *(
            run,
            steep,
            x(j, K),
            p,
            x_is,
            decide(gt(x(j, K), 0), x_value, above(falls, shares), factor),
        ),
        *(top(j), most, decide(gt(top(j), 0), top_is, known), one, x_value, factor),
        (keys, queries),
    )


@dataclass(frozen=True, slots=True)
class Turned:
    """The squares of ||S|| and ||R||, as functions of the rival and the step."""

    s: Function
    q: Function
    means: tuple[Fact, Fact]  # their definitions
    after: tuple[Fact, Fact]  # a step multiplies them by (1 + x)^2 and (1 - x)^2
    sums: tuple[Fact, Fact]  # P' = P + g a^2 U and U' = U + g b^2 P, in products with any y
    some: Fact  # ||S_0||^2 > 0
    squares: tuple[Fact, Fact]  # both are at least 0
    rises: Fact  # ||S||^2 grows by x ||S||^2 at least
    least: Fact  # ||S||^2 >= ||S_0||^2


def turned(pull: Pull, size: Sizes, some_S: Fact) -> Turned:
    """Prove that a step takes S to (1 + x) S and R to (1 - x) R."""
    P, U, g, x = keyed(), asked(), RATE * pull.p, pull.x
    by_rows = "K^T D is the sum of D_r K_r", "Q^T z is the sum of z_c Q_c"
    sums = []
    for says, moved, entry, at_, of, with_ in (
        (by_rows[0], pull.moved[0], D, r, keyed, U),
        (by_rows[1], pull.moved[1], Z, c, asked, P),
    ):
        rows = of_step(says)
        more = g * total(entry**2, at_) * (with_ @ y.term)
        claim = eq(of(NEXT) @ y.term, of(K) @ y.term + more)
        sums.append(decide(claim, rows, at(rows, {K: NEXT}), add_up(scale(moved, entry), at_)))
    roots = scale(size.roots[0], g * b * (U @ y.term)), scale(size.roots[1], g * a * (P @ y.term))
    parts = scale(sums[0], b), scale(sums[1], a), *roots
    names, means, after, signs = [], [], [], []
    for name, sign in (("S^2", 1), ("R^2", -1)):
        v, w = (b * keyed(k) + sign * a * asked(k) for k in (K, NEXT))
        factor = 1 + sign * x
        turn = decide(eq(w @ y.term, factor * (v @ y.term)), *parts, scale(pull.x_is, v @ y.term))
        twice = at(turn, {y: w}), scale(at(turn, {y: v}), factor)
        squared = decide(eq(w @ w, factor**2 * (v @ v)), *twice)
        one, is_ = define(name, (j, K), v @ v)
        names.append(one)
        means.append(is_)
        claim = eq(one(j, NEXT), factor**2 * one(j, K))
        after.append(by_definition(claim, [is_], squared))
        signs.append(by_definition(ge(one(j, K), 0), [is_], no_shorter(v)))
    s = names[0]
    some = by_definition(gt(s(j, 0), 0), [means[0]], some_S)
    rise = product(pull.positive, signs[0])
    rises = decide(
        ge(s(j, NEXT), s(j, K) + x * s(j, K)), after[0], rise, product(pull.positive, rise)
    )
    least = by_steps(ge(s(j, K), s(j, 0)), [], [rises, rise])
    return Turned(
        *(s, names[1], (means[0], means[1]), (after[0], after[1]), (sums[0], sums[1]), some),
        *((signs[0], signs[1]), rises, least),
    )


@dataclass(frozen=True, slots=True)
class Ratio:
    """The bound of ||R||/||S|| by the logarithm of ||S||."""

    positive: Fact  # ||S||^2 > 0
    log: Fact  # exp(log ||S||^2) = ||S||^2
    h: Term  # h, h_positive: a positive constant
    h_positive: Fact
    more: Term  # log ||S||^2 - log ||S_0||^2
    more_least: Fact  # it is at least 0
    bound: Fact  # ||R||^2 ||S_0||^2 (1 + h more) <= ||R_0||^2 ||S||^2


def ratio(pull: Pull, t: Turned) -> Ratio:
    """Prove step 2: ||R||^2 (1 + h more) is at most a constant times ||S||^2."""
    s, q, s_0, q_0, x, X = t.s(j, K), t.q(j, K), t.s(j, 0), t.q(j, 0), pull.x, pull.top
    more, now, then = LOG(s) - LOG(s_0), LOG(s), LOG(t.s(j, NEXT))
    positive_ = decide(gt(s, 0), t.least, t.some)
    (log,) = cite(LOGARITHM, [positive_], s)
    more_least = logs_rise(s_0, s, t.some, t.least)
    # log ||S||^2 grows by 2 x + x^2 at most
    grown = 2 * x + x**2 - then + now
    line = tangent(then, now), scale(log, 1 + then - now), at(log, {K: NEXT}), t.after[0]
    slow = decide(ge(grown, 0), decide(ge(s * grown, 0), *line), positive_)
    # h (1 - x)^2 (2 + x) <= 4
    top = 2 + X
    some = decide(gt(top**3, 0), pull.top_positive, degree=3)
    unit, inverse = cite(RECIPROCAL, [some], top**3)
    h = 4 * INV(top**3)
    some_h = decide(gt(h, 0), inverse)
    wide = decide(ge(top**2, (1 - x) ** 2), pull.positive, pull.most)
    wide = decide(
        ge(top**3, (1 - x) ** 2 * (2 + x)),
        *(product(square(top), pull.most), product(wide, decide(ge(2 + x, 0), pull.positive))),
    )
    wide = decide(ge(4, h * (1 - x) ** 2 * (2 + x)), product(inverse, wide), unit)
    claim = ge(q_0 * s, q * s_0 * (1 + h * more))
    room = (1 + x) ** 2 * (1 + h * more) - (1 - x) ** 2 * (1 + h * (more + then - now))
    spare = (
        product(pull.positive, wide),
        product(some_h, square(1 - x), slow),
        product(pull.positive, some_h, more_least),
    )
    room_ = product(t.squares[1], t.some, decide(ge(room, 0), *spare, degree=1))
    end = claim.at({K: NEXT})
    before = product(assume(claim), square(1 + x))
    after = scale(t.after[0], q_0), scale(t.after[1], s_0 * (1 + h * (more + then - now)))
    step = decide(end, before, room_, *after, degree=1)
    bound_ = induction(claim, decide(claim.at({K: as_term(0)})), step)
    return Ratio(positive_, log, h, some_h, more, more_least, bound_)


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of ||S||."""

    margin: Fact  # 4 a b <P, U> = ||S||^2 - ||R||^2
    four: Fact  # 4 a b > 0
    far: Fact  # ||S||^2 exceeds every number in the end
    half: Fact  # ||S||^2 >= 2 ||R||^2 in the end


def grows(pull: Pull, t: Turned, share: Ratio, size: Sizes) -> Growth:
    """Prove step 3: ||S|| tends to infinity, and 2 ||R||^2 <= ||S||^2 in the end."""
    s, q, s_0, q_0, x = t.s(j, K), t.q(j, K), t.s(j, 0), t.q(j, 0), pull.x
    first = at(t.squares[1], {K: 0})
    logs = product(t.squares[1], t.some, share.h_positive, share.more_least)
    order = decide(ge(q_0 * s, q * s_0), share.bound, logs)
    margin_ = by_definition(eq(4 * a * b * (keyed() @ asked()), s - q), t.means)
    # the margin is between -m and m while ||S||^2 <= bound
    near = assume(ge(bound, s))
    four = decide(gt(4 * a * b, 0), above(*size.positive))
    unit, over = cite(RECIPROCAL, [four], 4 * a * b)
    start, over_start = cite(RECIPROCAL, [t.some], s_0)
    logit = margin(j.term, W(K))
    is_ = of_step("A_j has the product <K^T D, Q^T z> with K Q^T")
    is_ = decide(
        eq(logit, (s - q) * INV(4 * a * b)),
        is_,
        scale(margin_, INV(4 * a * b)),
        scale(unit, keyed() @ asked()),
    )
    q_few = decide(ge(q_0 * bound, q * s_0), order, product(first, near))
    q_few = product(over_start, q_few)
    q_few = decide(ge(q_0 * bound * INV(s_0), q), q_few, scale(start, q))
    # q <= kept, so that s - q <= top and q - s <= top
    kept, top = q_0 * bound * INV(s_0), bound + q_0 * bound * INV(s_0)
    kept_least = decide(ge(kept, 0), q_few, t.squares[1])
    up = decide(ge(top, s - q), near, kept_least, t.squares[1])
    down = decide(ge(top, q - s), q_few, near, t.squares[0])
    m = top * INV(4 * a * b)
    powers = [
        powers_rise(low, high, decide(ge(high, low), is_, product(over, fact)))
        for low, high, fact in ((-m, -logit, up), (-logit, m, down))
    ]
    # so s_o >= 1/(1 + exp(m)), and s_j = s_o exp(-margin) is above a constant as well
    s_o, s_j = pull.run.s_o(OWN, K), pull.run.s(j, K)
    attended = at(pull.run.s_o_positive, {i: OWN})
    whole = decide(gt(1 + EXP(m), 0), power(m))
    unit, inverse = cite(RECIPROCAL, [whole], 1 + EXP(m))
    part = product(attended, powers[1])
    enough = decide(ge(s_o * (1 + EXP(m)), 1), pull.one, pull.run.means[2], part)
    held = decide(ge(s_o, INV(1 + EXP(m))), product(inverse, enough), scale(unit, s_o))
    parts = product(attended, powers[0]), product(power(-m), held)
    other_held = decide(ge(s_j, INV(1 + EXP(m)) * EXP(-m)), pull.run.means[2], *parts)
    fall, least = FALL(pull.run.u(OWN, K)), pull.steep.least
    low = at(pull.steep.at_output[0], {i: OWN})
    parts = product(other_held, attended), product(held, inverse, power(-m))
    both = INV(1 + EXP(m)) ** 2 * EXP(-m)
    shares = decide(ge(s_j * s_o, both), *parts)
    some = above(pull.run.s_positive, attended)
    parts = product(low, some), product(pull.steep.least_positive, shares)
    steep = decide(ge(fall * s_j * s_o, least * both), *parts)
    factor = pull.factor.proposition.term
    x_least = decide(ge(x, least * both * factor), pull.p_is, product(steep, pull.factor))
    gain = above(pull.steep.least_positive, inverse, inverse, power(-m), pull.factor, t.some)
    g = gain.proposition.term
    some = decide(gt(least * both * factor, 0), gain, t.some)
    parts = product(x_least, share.positive), product(t.least, some)
    grown = decide(ge(t.s(j, NEXT), s + g), t.rises, *parts)
    rises = decide(ge(t.s(j, NEXT), s), t.rises, product(pull.positive, t.squares[0]))
    (far,) = cite(FINITELY_OFTEN, [rises, gain, grown, near], s, g, bound.term, ge(bound, s))
    # log ||S||^2 - log ||S_0||^2 >= B with h ||S_0||^2 B = 2 ||R_0||^2
    size_ = share.h * s_0
    unit, _ = cite(RECIPROCAL, [above(share.h_positive, t.some)], size_)
    B = 2 * q_0 * INV(size_)
    level = LOG(s_0) + B
    late = at(far, {bound: EXP(level)}, power(level))
    late = decide(ev(ge(share.more, B)), late, share.log, tangent(level, LOG(s)), power(LOG(s)))
    weight = product(t.squares[1], share.h_positive, t.some)
    late = decide(ev(ge(size_ * q * (share.more - B), 0)), weight, late)
    late = decide(ev(ge(q_0 * s, q * s_0 + 2 * q_0 * q)), late, share.bound, scale(unit, q_0 * q))
    half = decide(ev(ge(s, 2 * q)), late, first, t.some, share.positive)
    return Growth(margin_, four, note("||S|| tends to infinity", far), half)


def crossed(u: Term, v: Term) -> Fact:
    """Return that <u, v>^2 is at most ||u||^2 ||v||^2."""
    t = Letter("t")
    (result,) = cite(DISCRIMINANT, [no_shorter(u * t.term + v)], t, u @ u, u @ v, v @ v)
    return result


@dataclass(frozen=True, slots=True)
class Rest:
    """The matrix a^2 b^2 W, which is <P, U> D z^T and a rest."""

    kk: Term  # kk, ll: sums of squares of the parts of K and Q that never change
    ll: Term
    signs: tuple[Fact, Fact]  # both are at least 0
    # off a^4 b^4 ||W||^2 is at most off (1 + off) a^2 b^2 <P, U>^2 and 3 (1 + off) times the bound
    # kk ll + b^2 kk ||U||^2 + a^2 ll ||P||^2 of the square of the rest
    bound: Fact


def rest(pull: Pull, t: Turned) -> Rest:
    """Prove the bound of ||W|| by <P, U> and by a rest: step 4."""
    P, U, o = keyed(), asked(), off.term
    aa, bb = total(D**2, r), total(Z**2, c)
    kept, parts = [], []
    for row, at_, one, whole, of, moved, sum_ in (
        (KEYS, r, D, aa, keyed, pull.moved[0], t.sums[0]),
        (QUERIES, c, Z, bb, asked, pull.moved[1], t.sums[1]),
    ):
        now, start = (whole * row(at_, n) - one * of(n) for n in (K, 0))
        claim = eq(now @ y.term, start @ y.term)
        kept.append(by_steps(claim, [], [scale(moved, whole), scale(sum_, one)]))
        parts.append((now, start))
    (_, k_0), (last, l_0) = parts
    entry = aa * bb * (KEYS(r, K) @ QUERIES(c, K))
    kl_, kl_is = define("k.l", (j, r, c), k_0 @ l_0)
    kU_, kU_is = define("k.U", (j, r, K), k_0 @ U)
    Pl_, Pl_is = define("P.l", (j, c, K), P @ l_0)
    kk_, kk_is = define("k.k", (j, r), k_0 @ k_0)
    ll_, ll_is = define("l.l", (j, c), l_0 @ l_0)
    w_, w_is = define("w", (j, r, c, K), entry)
    kl, kU, Pl, kk, ll = kl_(j, r, c), kU_(j, r, K), Pl_(j, c, K), kk_(j, r), ll_(j, c)
    three = kl, Z * kU, D * Pl
    E_, E_is = define("E", (j, r, c, K), sum(three[1:], kl))
    E, w, main, uu, pp = E_(j, r, c, K), w_(j, r, c, K), D * Z * (P @ U), U @ U, P @ P
    kept_ = (
        *(at(kept[0], {y: last}), at(kept[1], {y: k_0})),
        *(scale(at(kept[0], {y: U}), Z), scale(at(kept[1], {y: P}), D)),
    )
    spelled = decide(eq(entry, main + k_0 @ l_0 + Z * (k_0 @ U) + D * (P @ l_0)), *kept_)
    split = by_definition(eq(w, main + E), [w_is, E_is, kl_is, kU_is, Pl_is], spelled)
    few = (
        by_definition(ge(kk * ll, kl**2), [kl_is, kk_is, ll_is], crossed(k_0, l_0)),
        by_definition(ge(kk * uu, kU**2), [kU_is, kk_is], crossed(k_0, U)),
        by_definition(ge(pp * ll, Pl**2), [Pl_is, ll_is], crossed(P, l_0)),
    )
    few = few[0], product(square(Z), few[1]), product(square(D), few[2])
    bound_ = kk * ll + Z**2 * kk * uu + D**2 * pp * ll
    mixed = square(kl - Z * kU), square(Z * kU - D * Pl)
    small = decide(ge(3 * bound_, E**2), *few, *mixed, scale(E_is, E + sum(three[1:], kl)))
    both = scale(split, o * (w + main + E)), square(o * main - E)
    large = decide(ge(o * (1 + o) * main**2 + (1 + o) * E**2, o * w**2), *both)
    each = product(decide(ge(1 + o, 0), positive(off)), small)
    each = decide(ge(o * (1 + o) * main**2 + 3 * (1 + o) * bound_, o * w**2), large, each)
    kk_all, ll_all = total(kk, r), total(ll, c)
    whole_bound = kk_all * ll_all + bb * kk_all * uu + aa * ll_all * pp
    top = o * (1 + o) * aa * bb * (P @ U) ** 2 + 3 * (1 + o) * whole_bound
    squares_ = total(total((KEYS(r, K) @ QUERIES(c, K)) ** 2, c), r)
    result = add_up(add_up(each, c), r)
    result = by_definition(ge(top, o * aa**2 * bb**2 * squares_), [w_is], result)
    of_W = scale(of_step("the entries of K Q^T are products of rows"), o * aa**2 * bb**2)
    result = decide(ge(top, o * aa**2 * bb**2 * (W(K) @ W(K))), result, of_W)
    kk_least = add_up(by_definition(ge(kk, 0), [kk_is], no_shorter(k_0)), r)
    ll_least = add_up(by_definition(ge(ll, 0), [ll_is], no_shorter(l_0)), c)
    return Rest(kk_all, ll_all, (kk_least, ll_least), result)


def settled(t: Turned, growth: Growth, left: Rest, size: Sizes, some: tuple[Fact, Fact]) -> Fact:
    """Prove that a b ||W|| <= (1 + off) <P, U> in the end, as squares."""
    P, U, o, s, q = keyed(), asked(), off.term, t.s(j, K), t.q(j, K)
    aa, bb, m, uu, pp = total(D**2, r), total(Z**2, c), P @ U, U @ U, P @ P
    both = by_definition(eq(s + q, 2 * b**2 * pp + 2 * a**2 * uu), t.means)
    p_less, u_less = (
        decide(ev(ge(s, less)), both, *parts, growth.half, t.squares[0])
        for less, *parts in (
            (bb * pp, scale(size.roots[1], pp), product(square(a), no_shorter(U))),
            (aa * uu, scale(size.roots[0], uu), product(square(b), no_shorter(P))),
        )
    )
    # so 64 (a b <P, U>)^2 >= ||S||^4, as 2 (||S||^2 - ||R||^2) >= ||S||^2
    large = scale(growth.margin, 4 * a * b * m + s - q)
    ab = scale(size.roots[0], 64 * b**2 * m**2), scale(size.roots[1], 64 * aa * m**2)
    large = decide(eq(64 * aa * bb * m**2, 4 * (s - q) ** 2), large, *ab)
    large = decide(ev(ge(64 * aa * bb * m**2, s**2)), large, growth.half, t.squares[0])
    # a^2 b^2 times the bound of the rest is at most fixed + slope ||S||^2
    aabb = above(*some)
    whole = left.kk * left.ll + bb * left.kk * uu + aa * left.ll * pp
    fixed = product(aabb, *left.signs)
    with_u, with_p = (product(square(x), y) for x, y in ((bb, left.signs[0]), (aa, left.signs[1])))
    slope_ = decide(ge(with_u.proposition.term + with_p.proposition.term, 0), with_u, with_p)
    f, g = fixed.proposition.term, slope_.proposition.term
    few = decide(ev(ge(f + g * s, aa * bb * whole)), u_less, p_less, with_u, with_p)
    # this is at most off^2 (a b <P, U>)^2 times 64/192, if ||S||^2 is large
    weight = above(positive(off), aabb, positive(off))
    o_ab, many = weight.proposition.term, 192 * (f + g)
    unit, inverse = cite(RECIPROCAL, [weight], o_ab)
    room = product(inverse, decide(ge(many, 0), fixed, slope_))
    level = 1 + many * INV(o_ab)
    far = at(growth.far, {bound: level}, decide(gt(level, 0), room))
    one = decide(ev(ge(s, 1)), far, room)
    far = decide(ev(ge(o_ab * s, o_ab + many)), far, weight, scale(unit, many))
    far = decide(ev(ge(o_ab * s**2, 192 * (f + g * s))), far, one, fixed, weight)
    far = decide(ev(ge(aa * bb * (o_ab * m**2 - 3 * whole), 0)), far, few, large, weight)
    far = decide(ev(ge(o_ab * m**2, 3 * whole)), far, aabb)
    more = (1 + o) ** 2 * m**2 - aa * bb * (W(K) @ W(K))
    far = decide(ev(ge(o * aa * bb * more, 0)), far, left.bound, positive(off))
    return decide(ev(ge(more, 0)), far, above(positive(off), aabb))


@dataclass(frozen=True, slots=True)
class Solution:
    """The shortest matrix V with margins of at least 1."""

    margin: Fact  # <A, V> >= 1
    short: Fact  # ||A||^2 ||V||^2 <= 1
    along: Fact  # ||A||^2 <V, W> = <A, W>


def solved(pair: Pair, AA: Fact) -> Solution:
    """Prove that ||A||^2 V = A, in products with W, as ||A||^2 > 0: step 5."""
    square_ = A(j) @ A(j)
    unit, _ = cite(RECIPROCAL, [AA], square_)
    point = A(j) * INV(square_)
    same = pair.whole(A(j) @ A(other))
    same = decide(
        eq(A(other) @ A(j), square_), at(same, {other: j}), at(same, {j: other, other: j})
    )
    met = decide(ge(margin(other.term, point), 1), scale(same, INV(square_)), unit)
    met = bounds(met, "least", margin(other.term, point), other, pair.some)
    held, short = (
        cut(at(of_step(sentence), {X: point}), met)
        for sentence in (
            "V has margins of at least 1 if some matrix has",
            "no matrix with margins of at least 1 is shorter than V",
        )
    )
    small = decide(ge(INV(square_), V @ V), short, scale(unit, INV(square_)))
    less = decide(ge(1, square_ * (V @ V)), small, AA, unit)
    d = square_ * V - A(j)
    none = decide(ge(0, d @ d), less, held, AA)
    along = decide(eq(d @ W(K), 0), crossed(d, W(K)), none, no_shorter(W(K)))
    return Solution(held, less, along)


@linked
def prove() -> str:
    """Prove that K Q^T converges in direction to the Frobenius solution if S_0 is not 0."""
    (lower,), pair = suppose(UNIQUE), Pair(*suppose(ONE_PAIR))
    some_D, some_z, some_S = suppose(LEANS)
    size = sizes(some_D, some_z)
    pull = pulled(pair, lower, size)
    t = turned(pull, size, some_S)
    share = ratio(pull, t)
    growth = grows(pull, t, share, size)
    near = settled(t, growth, rest(pull, t), size, (some_D, some_z))
    AA_is = of_step("||A_j|| is ||D|| ||z||")
    some = decide(gt(A(j) @ A(j), 0), AA_is, above(some_D, some_z))
    v = solved(pair, some)
    # ||A||^2 <V, W> = <A, W> > 0
    is_ = of_step("A_j has the product <K^T D, Q^T z> with K Q^T")
    four, m, along = growth.four.proposition.term, keyed() @ asked(), A(j) @ W(K)
    ahead = decide(ev(gt(four * m, 0)), growth.margin, growth.half, share.positive)
    ahead = decide(ev(gt(along, 0)), is_, decide(ev(gt(m, 0)), ahead, growth.four))
    o, AA, WV, WW = off.term, A(j) @ A(j), W(K) @ V, W(K) @ W(K)
    more = (1 + o) ** 2
    parts = scale(is_, more * (along + m)), scale(AA_is, WW)
    near = decide(ev(ge(more * along**2, AA * WW)), near, *parts)
    parts = scale(v.along, more * (AA * WV + along)), product(some, v.short, no_shorter(W(K)))
    near = decide(ev(ge(more * (AA * WV) ** 2, AA**2 * (V @ V) * WW)), near, *parts)
    some_square = decide(gt(AA**2, 0), some)
    near = decide(ev(ge(more * WV**2, (V @ V) * WW)), near, some_square, pair.some)
    (_, V_is), (_, W_is) = (cite(LENGTH, (), one) for one in (V, W(K)))
    lengths = scale(V_is, WW), scale(W_is, NORM(V) ** 2)
    near = decide(ev(ge(more * WV**2, (NORM(V) * NORM(W(K))) ** 2)), near, *lengths)
    end = decide(ev(gt(WV, 0)), ahead, v.along, some, pair.some)
    end = decide(ev(gt((1 + o) * WV, 0)), end, positive(off))
    end = decide(ev(ge((1 + o) * WV, NORM(V) * NORM(W(K)))), near, end)
    norm_A = cite(LENGTH, (), A(j))[0]
    (of_V,), (of_W,) = (cite(CAUCHY_SCHWARZ, (), A(j), one) for one in (V, W(K)))
    V_some = decide(gt(NORM(V), 0), of_V, v.margin, norm_A, pair.some)
    W_some = decide(ev(gt(NORM(W(K)), 0)), of_W, ahead, norm_A, pair.some)
    conclude_each(direction(), V_some, W_some, end)
    return (
        "for every smooth loss with l' < 0, tokens of any dimension, K and Q of any width, every "
        "start with S_0 != 0 and any constant step"
    )

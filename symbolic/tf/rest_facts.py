"""Facts on dependencies, and on the scores at which parts rest.

Letters are those of `properties/tf/benign_landscape/rest_letters.py`. At a score u let a token t
with the logit a_t have the force c_t = m_t exp(a_t) (gamma_t - u).

1. If c_t = size * b_t with size > 0, then h(u) = sum_t b_t ln(b_t/(m_t (gamma_t - u))) is 0.
   A dependency has sum_t b_t = 0 and, as logits are products with the tokens, sum_t b_t a_t = 0.
2. If b_t has the sign of gamma_t - u, then c_t = b_t for the logits ln(b_t/(m_t (gamma_t - u))).
3. For tokens x_P + k_t v, sum_t c_t k_t times sum_t m_t exp(a_t) is half of a sum over pairs, if u
   is the mean score.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import (
    DUAL,
    FALL,
    GRADIENT,
    INPUT,
    NUMBER,
    OUTER,
    M,
    X,
    i,
    peer,
    q,
    w,
    x,
)
from attsvm.primitives.loss_hypotheses import FALLING_LOSS
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL_OF_SUM,
    INDICATOR,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
    SIZE,
)
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    define,
    inside,
    one_of_sum,
    picked,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    LOG,
    NORM,
    Function,
    Letter,
    Over,
    Term,
    members,
    substituted,
    total,
)
from properties.tf.benign_landscape.rest_letters import (
    AXIS,
    BASE,
    FACTOR,
    GAMMA,
    INPUT_OF,
    KEY,
    MEANING,
    PART_OF,
    PARTS,
    PLACE,
    SETTING,
    UNIT,
    X_OF,
    B,
    P,
    c,
    in_input,
    in_part,
    mass,
    number,
    output,
    own,
    r,
    rooted,
    sided,
    sums,
    t,
)
from symbolic.facts import exponents_rise, no_shorter, power

HERE, THERE = Over(PART_OF, P.term), Over(INPUT_OF, i.term)
MINE = {P: PART_OF(t)}
"""The tokens of a part, the parts of an input, and the part of a token."""


def part_fact(words: str) -> Fact:
    """Return a fact about the parts of every input."""
    return setting(PARTS, words)


def meaning(words: str, score: Term) -> Fact:
    """Return a fact of the setting that says when a part rests at a score."""
    return at(setting(MEANING, words), {x: score})


def at_token(number_: Term) -> Term:
    """Return a number of the part P with the part of token t in the place of P."""
    return substituted(number_, MINE)


def over_part(fact: Fact) -> Fact:
    """Return the sum of a fact over the tokens of a part."""
    return add_up(fact, t, HERE)


def over_input(fact: Fact) -> Fact:
    """Return the sum of a fact over the tokens of an input."""
    return add_up(over_part(fact), P, THERE)


def in_its_part(number_: Term) -> Term:
    """Return a number of the part of token t, a token of P, with P in the place of this part."""
    return members(number_, t, HERE)


def by_inputs(body: Term) -> tuple[Fact, Fact]:
    """Return that a sum over tokens is a sum over parts, and that this is a sum over inputs."""
    return regroup(body, t, PART_OF), regroup(in_part(body), P, INPUT_OF)


def nothing(none: Fact, v: Term, w: Term) -> Fact:
    """Return that <v, w> = 0, as <v, v> = 0."""
    zero = decide(eq(NORM(v), 0), cite(LENGTH, (), v)[1], none)
    sides = [cite(CAUCHY_SCHWARZ, (), v, one)[0] for one in (w, -w)]
    return decide(eq(v @ w, 0), *sides, *(scale(zero, NORM(one)) for one in (w, -w)), degree=1)


# dependencies


def alone(force: Term, rest: Fact, lifted: Fact, dual: Fact) -> Fact:
    """Return that the square of sum_t c_t x_t over an input is 0, as <sum_t c_t x_t z^T, M> = 0.

    The proof takes M = sum_i v_i q_i^T. Here v_i is the sum of c_t x_t over input i, and q_i has
    the product 1 with the query of input i, and 0 with all other queries.

    Args:
        force: c_t.
        rest: that the sum of c_t <x_t z^T, M> over all tokens is 0 for every M.
        lifted: that x z^T has the product <x, w> <z, q> with w q^T.
        dual: the products of the q_i with queries.
    """
    one = Letter("one", INPUT)
    v = in_input(force * X_OF(t), one)
    whole, part = total(OUTER(v, DUAL(one)), one), X_OF(t) @ v
    each = add_up(at(lifted, {w: v, q: DUAL(one)}), one)
    chosen = add_up(scale(at(dual, {i: one, peer: own}), part), one), picked(part, one, own)
    turned = decide(eq(KEY(t) @ whole, substituted(part, {one: own})), each, *chosen)
    square_ = substituted(v @ v, {one: i.term})
    parts = at(rest, {M: whole}), add_up(over_input(scale(turned, force)), i)
    positive = no_shorter(substituted(v, {one: i.term}))
    return decide(eq(square_, 0), *parts, one_of_sum(positive, i), positive)


@dataclass(frozen=True, slots=True)
class Dependency:
    """Facts on numbers c_t with sum_t c_t = 0 and sum_t c_t x_t = 0 over the tokens of each input.

    Attributes:
        factor: the factor f with c_t = f b_t, for a part with one dependency b.
        none: the c_t of a part add up to 0.
        rows: the c_t <x_t, w> of a part add up to 0, for every w.
        multiple: c_t = f b_t in a part with one dependency.
    """

    force: Term
    factor: Term
    none: Fact
    rows: Fact
    multiple: Fact


def dependency(force: Term, none: Fact, square_: Fact) -> Dependency:
    """Prove that a dependency of every input is a dependency of each part.

    Args:
        force: c_t.
        none: that the c_t of an input add up to 0.
        square_: that the square of the sum of c_t x_t over an input is 0.
    """
    general = substituted(force, {t: r.term})
    vector = total(general * UNIT(r), r)
    orthonormal = add_up(scale(setting(PARTS, "the e_t are orthonormal"), general), r)
    coordinate = decide(eq(vector @ UNIT(t), force), orthonormal, picked(general, r, t))
    row = scale(coordinate, X_OF(t) @ w.term)
    one, other = sums(vector, i.term)
    first = decide(eq(one, 0), over_input(coordinate), none)
    like, mine = over_input(row), in_input(force * X_OF(t))
    gone = nothing(square_, mine, other)
    second = decide(eq(other @ other, 0), at(like, {w: other}), gone)
    met = [at(fact, {i: INPUT_OF(P)}) for fact in (first, second)]
    within = [
        cut(at(setting(PARTS, words), {c: vector}), *met)
        for words in (
            "dependencies of an input have the sum 0 in each part",
            "dependencies of an input are dependencies in each part",
        )
    ]
    one, other = sums(vector)
    none_ = decide(eq(in_part(force), 0), over_part(coordinate), within[0])
    rows = eq(in_part(force * (X_OF(t) @ w.term)), 0)
    rows_ = decide(rows, over_part(row), nothing(within[1], other, w.term))
    multiple = at(
        setting(PARTS, "dependencies of a part of one dependency are multiples of b"), {c: vector}
    )
    multiple = cut(multiple, *(at(fact, MINE) for fact in within))
    factor = FACTOR(vector, PART_OF(t))
    multiple = decide(eq(force, factor * B(t)), coordinate, multiple)
    return Dependency(force, factor, none_, rows_, multiple)


def along_line(of: Dependency, line: Fact) -> Fact:
    """Return that the c_t k_t of a dependency add up to 0 in a part on a line."""
    axis = {w: AXIS(P)}
    there = over_part(scale(at(line, {w: AXIS(PART_OF(t))}), of.force))
    length = setting(PARTS, "v is not 0")
    places = in_part(of.force * PLACE(t))
    sums_ = at(of.rows, axis), scale(of.none, BASE(P) @ AXIS(P))
    whole = decide(eq(places * (AXIS(P) @ AXIS(P)), 0), there, *sums_)
    return decide(eq(places, 0), whole, length)


# parts of one dependency


def apart(y: Term, positive: Fact) -> Fact:
    """Return that |y| - y, plus 1 if y is 0, is 0, as y > 0."""
    (_, size_square), indicator = cite(SIZE, (), y), cite(INDICATOR, (), y)
    size = cite(SIZE, (), y)[0]
    same_ = decide(eq(ABS(y), y), size, size_square, positive)
    return decide(eq(sided(y), 0), same_, cut(indicator[1], positive))


def above(y: Term, sided_: Fact) -> Fact:
    """Return that y > 0, as |y| - y, plus 1 if y is 0, is 0."""
    size = cite(SIZE, (), y)[0]
    one, low = (cite(INDICATOR, (), y)[k] for k in (0, 3))
    goal = gt(y, 0)
    no = assume(goal.denied())
    zero = decide(eq(y, 0), no, size, low, sided_)
    wrong = decide(goal, cut(one, zero), sided_, size)
    return cases(assume(goal), wrong, goal)


def signs(y: Term, none: Fact) -> Fact:
    """Return that y > 0 at each token of a part, as the sum of `sided(y)` is 0."""
    size, size_square = cite(SIZE, (), y)
    low = cite(INDICATOR, (), y)[3]
    least = decide(ge(sided(y), 0), decide(ge(ABS(y), y), size, size_square), low)
    each = decide(eq(sided(y), 0), one_of_sum(least, t, PART_OF), least, at(none, MINE))
    return above(y, each)


def quotient(b: Term, d: Term, count: Fact, alike: Fact) -> tuple[Fact, Fact]:
    """Return that b_t/(m_t d_t) is positive, and that m_t d_t times it is b_t.

    Args:
        b: b_t.
        d: d_t, a value of a function.
        count: m_t is positive.
        alike: b_t d_t is positive.
    """
    unit, inverse = cite(RECIPROCAL, [count], number)
    condition, whole = gt(d, 0), b * INV(number) * INV(d)
    yes, no = assume(condition), assume(condition.denied())
    apart_, both = decide(gt(d**2, 0), alike, square(b)), []
    for sign, side in ((1, yes), (-1, no)):
        gap = decide(gt(-d, 0), side, apart_) if sign < 0 else side
        one, over = cite(RECIPROCAL, [gap], sign * d)
        mine = decide(gt(sign * b, 0), alike, gap)
        part = decide(gt(sign * b * INV(number), 0), mine, inverse)
        first = decide(gt(whole, 0), part, over)
        parts = scale(unit, b * d * INV(d)), scale(one, b)
        both.append((first, decide(eq(number * d * whole, b), *parts, degree=1)))
    (one, other), (also, last) = both
    return cases(one, also, condition), cases(other, last, condition)


@dataclass(frozen=True, slots=True)
class Forces:
    """Tokens of a part whose forces are the b_t times a number, the size.

    Attributes:
        b, d, logit: b_t, gamma_t - u as a value of a function, and a_t.
        size: the size of the part of token t.
        count: m_t is positive.
        positive: the size is positive.
        forces: m_t exp(a_t) (gamma_t - u) is the size times b_t.
    """

    b: Term
    d: Term
    logit: Term
    size: Term
    count: Fact
    positive: Fact
    forces: Fact

    def alike(self, some: Fact) -> Fact:
        """Return that b_t (gamma_t - u) > 0, as no b_t is 0."""
        push = decide(gt(number * EXP(self.logit), 0), self.count, power(self.logit))
        heavy = decide(gt(self.size * self.b**2, 0), self.positive, some)
        return decide(gt(self.b * self.d, 0), scale(self.forces, self.b), push, heavy)

    def balance(self, alike: Fact, none: Fact, logits: Fact) -> Fact:
        """Return that h(u) = 0, as the b_t and the b_t a_t add up to 0."""
        b, size, moved = self.b, self.size, number * self.d
        whole = b * INV(number) * INV(self.d)
        positive, unit = quotient(b, self.d, self.count, alike)
        (is_log,) = cite(LOGARITHM, [positive], whole)
        (is_size,) = cite(LOGARITHM, [self.positive], size)
        shift = self.logit - LOG(size)
        (law,) = cite(EXPONENTIAL_OF_SUM, (), shift, LOG(size))
        # the quotient is exp(a_t)/size
        e = EXP(shift)
        parts = [scale(law, moved), scale(is_size, moved * e), self.forces]
        forced = decide(eq(size * moved * e, size * b), *parts, degree=1)
        forced = decide(eq(moved * e, b), forced, self.positive)
        parts = [scale(forced, b), scale(unit, b), scale(is_log, moved * b)]
        equal = decide(eq(number * (b * self.d) * (EXP(LOG(whole)) - e), 0), *parts, degree=1)
        more = decide(gt(number * (b * self.d), 0), self.count, alike)
        equal = decide(eq(EXP(LOG(whole)), e), equal, more)
        up = exponents_rise(shift, LOG(whole), decide(ge(EXP(LOG(whole)), e), equal))
        down = exponents_rise(LOG(whole), shift, decide(ge(e, EXP(LOG(whole))), equal))
        log = decide(eq(LOG(whole), shift), up, down)
        sums_ = over_part(scale(log, b)), logits, scale(none, in_its_part(LOG(size)))
        return decide(eq(in_part(b * LOG(whole)), 0), *sums_)


def forced(b: Term, d: Term, logit: Term, count: Fact, alike: Fact, is_logit: Fact) -> Fact:
    """Return that m_t exp(a_t) d_t is b_t for a_t = ln(b_t/(m_t d_t)), as b_t d_t > 0."""
    whole, moved, hole = b * INV(number) * INV(d), number * d, Letter("x")
    positive, unit = quotient(b, d, count, alike)
    (is_log,) = cite(LOGARITHM, [positive], whole)
    power_ = inside(is_logit, logit, LOG(whole), EXP(hole.term), hole)
    parts = scale(power_, moved), scale(is_log, moved), unit
    return decide(eq(number * EXP(logit) * d, b), *parts, degree=1)


# parts on a line


def pairs(s: Term, u: Term, mean: Fact) -> Fact:
    """Return that sum_t w_t times sum_t w_t (gamma_t - u) k_t is half of the sum over pairs.

    Args:
        s: ln y, a number of the part P.
        u: the score, a number of the part P.
        mean: that the w_t (gamma_t - u) add up to 0, for w_t = m_t exp(k_t s).
    """
    weight, place = number * EXP(PLACE(t) * s), PLACE(r)
    n, gamma = (substituted(y, {t: r.term}) for y in (number, GAMMA(t)))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), PLACE(t) * s, place * s)
    law = scale(law, number * n * (PLACE(t) - place) * (GAMMA(t) - gamma))
    twice = rooted(s, u)[1].term
    moved = in_part(weight) * in_part(weight * (GAMMA(t) - u) * PLACE(t))
    sums_ = over_part(add_up(law, r, HERE)), scale(mean, in_part(weight * PLACE(t)))
    return decide(eq(2 * moved, twice), *sums_)


# attention


@dataclass(frozen=True, slots=True)
class Inputs:
    """Attention of the inputs at a matrix X, and the gradient of the risk there.

    Attributes:
        u: the score of an input, a function of it and X.
        count: m_t is positive.
        push: m_t exp(<x_t, X z>) is positive.
        heavy, whole: the sums of m_t exp(<x_t, X z>) over a part and over an input are positive.
        mean: the m_t exp(<x_t, X z>) (gamma_t - u) of an input add up to 0.
        fall: -l'(u) is positive, and so is its quotient by the sum over the input.
        slope: the gradient has the product -1/n sum_t `steep` c_t <x_t z^T, M> with M.
        rows: x z^T has the product <x, M z> with M.
    """

    u: Function
    count: Fact
    push: Fact
    heavy: Fact
    whole: Fact
    mean: Fact
    steep: Term
    fall: Fact
    slope: Fact
    rows: Fact


WEIGHT = number * EXP(KEY(t) @ X.term)


def inputs() -> Inputs:
    """Prove the facts on attention and the gradient at a matrix X."""
    slope = setting(SETTING, "the gradient has the slope of the risk along every matrix")
    u, u_is = define("u", (i, X), output(i, X))
    mine = u(own, X)
    count = part_fact("each distinct token occurs")
    push = decide(gt(WEIGHT, 0), count, power(KEY(t) @ X.term))
    heavy = add_up(push, t, HERE, part_fact("each part has a token"))
    whole = add_up(heavy, P, THERE, part_fact("each input has a part"))
    unit, inverse = cite(RECIPROCAL, [whole], mass(i, X))
    equal = part_fact("gamma_t is the mean score of these")
    scores = -equal.proposition.term + number * GAMMA(t)
    e = EXP(KEY(t) @ X.term)
    mean = decide(
        eq(in_input(WEIGHT * (GAMMA(t) - mine)), 0),
        *(over_input(scale(equal, e)), scale(u_is, mass(i, X))),
        scale(unit, in_input(scores * e)),
        degree=1,
    )
    (falling,) = suppose(FALLING_LOSS)
    fall = decide(gt(FALL(u(i, X)) * INV(mass(i, X)), 0), at(falling, {x: u(i, X)}), inverse)
    steep = FALL(mine) * INV(mass(own, X))
    product = KEY(t) @ M.term
    along = GRADIENT(X) @ M.term
    spelled = steep * e * product * (scores - number * mine)
    slope = by_definition(eq(along, -INV(NUMBER) * total(in_input(spelled), i)), [u_is], slope)
    equal = scale(add_up(over_input(scale(equal, steep * e * product)), i), INV(NUMBER))
    force = steep * WEIGHT * (GAMMA(t) - mine)
    slope = decide(eq(along, -INV(NUMBER) * total(in_input(force * product), i)), slope, equal)
    rows = setting(SETTING, "x z^T has the product <x, M z> with M")
    return Inputs(u, count, push, heavy, whole, mean, steep, fall, slope, rows)

"""Facts for `where_stationary`: if parts rest at one score in each input, some W is stationary.

If all parts of each input rest at a score, each token has a logit a_t with which its part rests.
Every dependency c of an input has sum_t c_t a_t = 0. Let the logits of W differ least from the a_t,
up to a number for each input (least squares). The residuals are a dependency, so they are 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attsvm.primitives.descent_letters import FALL, GRADIENT, NUMBER, M, X, i, w, x
from attsvm.theory.proof.facts import Fact, current, eq, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, LEAST_SQUARES, RECIPROCAL
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
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    LOG,
    Function,
    Letter,
    Term,
    as_term,
    substituted,
    total,
)
from properties.tf.benign_landscape.rest_letters import (
    AXIS,
    BASE,
    BY_B,
    BY_MINUS_B,
    BY_ROOT,
    BY_SCORE,
    GAMMA,
    IMAGE,
    INPUT_OF,
    KEY,
    LEVEL,
    PART_OF,
    PLACE,
    RESTS,
    ROOT,
    WAYS,
    X_OF,
    B,
    P,
    all_rest,
    in_input,
    in_part,
    mass,
    number,
    own,
    t,
)
from symbolic.facts import power
from symbolic.tf.rest_facts import (
    HERE,
    MINE,
    THERE,
    Dependency,
    Inputs,
    alone,
    along_line,
    at_token,
    by_inputs,
    dependency,
    forced,
    in_its_part,
    meaning,
    nothing,
    over_input,
    over_part,
    pairs,
    part_fact,
    signs,
)

HOLE = Letter("hole")
NAMES = {1: "b", -1: "-b"}
BY = {1: BY_B, -1: BY_MINUS_B}


# from parts that rest to a stationary matrix

HIGH = LEVEL(INPUT_OF(P))
"""The score at which the parts of the input of P rest."""


def all_at_rest() -> Fact:
    """Return that each part P rests at its input's level, if all parts of each input rest there."""
    either = meaning("a part rests at a score or not", HIGH)
    apart_ = 1 - RESTS(P, HIGH)
    most = decide(ge(apart_, 0), either)
    none = assume(eq(total(all_rest(i, LEVEL(i)).term, i), 0))
    own_ = at(one_of_sum(add_up(most, P, THERE), i), {i: INPUT_OF(P)})
    return decide(eq(RESTS(P, HIGH), 1), none, own_, one_of_sum(most, P, INPUT_OF), most)


def logits(d: Function) -> dict[Function, Term]:
    """Return the logit of a token for each way to rest, except for the way with the logit 0."""
    b = B(t) * INV(number) * INV(d(t, at_token(HIGH)))
    return {BY_B: LOG(b), BY_MINUS_B: LOG(-b), BY_ROOT: PLACE(t) * at_token(ROOT(P, HIGH))}


@dataclass(frozen=True, slots=True)
class Rested:
    """Logits with which a part rests at the level of its input, and their residuals.

    Attributes:
        count: m_t is positive.
        logit, logit_is: a_t as a function of a token, and its definition.
        d, d_is: gamma_t - x, and its definition.
        left: facts on the residuals of the logits, which are a dependency.
        ways, least: for each way to rest, that its number for P is 0 or 1, and at least 0.
        one: a part rests in one of these ways.
    """

    count: Fact
    logit: Term
    logit_is: Fact
    d: Function
    d_is: Fact
    left: Dependency
    ways: Mapping[Function, Fact]
    least: Mapping[Function, Fact]
    one: Fact

    def by(self, mode: Function) -> tuple[Fact, ...]:
        """Return that a way has the number 1 if this is above 0, and that other ways have 0.

        The other ways are those of `logits`: a part that rests at its only score has the logits 0.
        """
        one = decide(eq(mode(P, HIGH), 1), self.ways[mode], assume(gt(mode(P, HIGH), 0)))
        more = [fact for other, fact in self.least.items() if other is not mode]
        others = (other for other in (BY_B, BY_MINUS_B, BY_ROOT) if other is not mode)
        return one, *(decide(eq(f(P, HIGH), 0), self.one, one, *more) for f in others)

    def logit_by(self, mode: Function, one: Fact, *others: Fact) -> Fact:
        """Return the value of a_t, from facts that the part rests in this way and in no other."""
        known = logits(self.d)
        goal = eq(self.logit, known.get(mode, 0))
        facts = [one] * (mode in known) + [f for f in others if _mode(f) in known]
        parts = (scale(at(fact, MINE), known[_mode(fact)]) for fact in facts)
        return decide(goal, self.logit_is, *parts)

    def by_score(self) -> tuple[Fact, Fact, Fact]:
        """Return `results` for a part that rests at its only score."""
        one, *others = self.by(BY_SCORE)
        none = self.logit_by(BY_SCORE, one, *others)
        gap, weight = GAMMA(t) - at_token(HIGH), number * EXP(self.logit)
        same_ = cut(meaning("its tokens have the score x, if it rests by one score", HIGH), one)
        gone = decide(eq(gap, 0), at(same_, MINE), one_of_sum(square(gap), t, PART_OF))
        rows = over_part(scale(gone, weight * (X_OF(t) @ w.term)))
        return over_part(scale(gone, weight)), rows, over_part(scale(none, self.left.force))

    def by_dependency(self, sign: int) -> tuple[Fact, Fact, Fact]:
        """Return `results` for a part that rests as h is 0 for b or -b."""
        one, *others = self.by(BY[sign])
        is_logit = self.logit_by(BY[sign], one, *others)
        kind, sides, h = (
            cut(meaning(f"{words}, if it rests by {NAMES[sign]}", HIGH), one)
            for words in ("it has one dependency", "b_t have the signs", "h is 0")
        )
        score, b = at_token(HIGH), sign * B(t)
        gap, d, d_is = GAMMA(t) - score, self.d(t, score), at(self.d_is, {x: score})
        alike = decide(gt(b * d, 0), signs(b * gap, sides), scale(d_is, b))
        weight, row = number * EXP(self.logit), X_OF(t) @ w.term
        force = forced(b, d, self.logit, self.count, alike, is_logit)
        force = decide(eq(weight * gap, b), force, scale(d_is, weight))
        none, rows = (
            cut(part_fact(words), kind)
            for words in ("b is a dependency, of sum 0", "b is a dependency")
        )
        mean = decide(eq(in_part(weight * gap), 0), over_part(force), none)
        rows = decide(eq(in_part(weight * gap * row), 0), over_part(scale(force, row)), rows)
        multiple, factor = cut(self.left.multiple, at(kind, MINE)), self.left.factor
        h = by_definition(eq(in_part(b * logits(self.d)[BY[sign]]), 0), [self.d_is], h)
        left = over_part(scale(multiple, self.logit)), over_part(scale(is_logit, factor * B(t)))
        goal = eq(in_part(self.left.force * self.logit), 0)
        return mean, rows, decide(goal, *left, scale(h, in_its_part(factor)))

    def by_root(self) -> tuple[Fact, Fact, Fact]:
        """Return `results` for a part that rests on a line, at a root."""
        one, *others = self.by(BY_ROOT)
        is_logit = self.logit_by(BY_ROOT, one, *others)
        kind, mean, root = (
            cut(meaning(f"{words}, if it rests by a root", HIGH), one)
            for words in ("it is on a line", "the score is the mean", "y is a root")
        )
        s, logit = ROOT(P, HIGH), logits(self.d)[BY_ROOT]
        line = cut(part_fact("tokens on a line are x_P + k_t v"), at(kind, MINE))
        weight, gap, row = number * EXP(logit), GAMMA(t) - at_token(HIGH), X_OF(t) @ w.term
        push = decide(gt(weight, 0), self.count, power(logit))
        heavy = add_up(push, t, HERE, part_fact("each part has a token"))
        place = in_part(weight * gap * PLACE(t))
        place_ = decide(eq(in_part(weight) * place, 0), pairs(s, HIGH, mean), root)
        place_ = decide(eq(place, 0), place_, heavy)
        moved = scale(inside(is_logit, self.logit, logit, EXP(HOLE.term), HOLE), number * gap)
        own_weight = number * EXP(self.logit)
        first = decide(eq(in_part(own_weight * gap), 0), over_part(moved), mean)
        second = decide(
            eq(in_part(own_weight * gap * row), 0),
            *(over_part(scale(moved, row)), over_part(scale(line, weight * gap))),
            *(scale(mean, BASE(P) @ w.term), scale(place_, AXIS(P) @ w.term)),
        )
        places = cut(along_line(self.left, line), kind)
        left = over_part(scale(is_logit, self.left.force)), scale(places, s)
        return first, second, decide(eq(in_part(self.left.force * self.logit), 0), *left)

    def results(self) -> tuple[Fact, ...]:
        """Return three facts about a part that rests at the level of its input, for the logits a_t.

        The m_t exp(a_t) (gamma_t - u) add up to 0, and so do their products with <x_t, w>, for
        every w. The products of a dependency's numbers with the a_t add up to 0.
        """
        ways = self.by_score(), self.by_dependency(1), self.by_dependency(-1), self.by_root()
        conditions = [gt(mode(P, HIGH), 0) for mode in WAYS]
        denied = (assume(condition.denied()) for condition in conditions[:-1])
        last = decide(conditions[-1], self.one, *denied)
        facts = []
        for score, b, minus_b, root in zip(*ways, strict=True):
            fact = cut(root, last)
            for case, condition in zip((minus_b, b, score), conditions[2::-1], strict=True):
                fact = cases(case, fact, condition)
            facts.append(fact)
        return tuple(facts)


def _mode(fact: Fact) -> Function:
    """Return the way to rest that the proposition of a fact contains; it contains only one."""
    (mode,) = (f for f in WAYS if f(P, HIGH).atoms <= fact.proposition.term.atoms)
    return mode


def reached(on: Inputs, lifted: Fact, dual: Fact) -> Fact:
    """Return that some matrix is stationary, if in each input all parts rest at one score."""
    d, d_is = define("d'", (t, x), GAMMA(t) - x)
    rest_ = all_at_rest()
    one = cut(meaning("a part rests in one of these ways", HIGH), rest_)
    ways = {one: meaning(f"it {one.name} or not", HIGH) for one in WAYS}
    least = {f: decide(ge(f(P, HIGH), 0), ways[f]) for f in WAYS}
    terms = (mode(PART_OF(t), at_token(HIGH)) * one for mode, one in logits(d).items())
    a, a_is = define("a", (t,), sum(terms, as_term(0)))
    some = add_up(part_fact("each part has a token"), P, THERE, part_fact("each input has a part"))
    fit = best_fit(a(t), on, lifted, dual, some)
    rested = Rested(on.count, a(t), a_is, d, d_is, fit.left, ways, least, one)
    mean, rows, left = rested.results()
    matrix, product = fit.matrix, KEY(t) @ fit.matrix
    shift = fit.shift
    logit = fit.reaches(left, on, some)
    power_ = inside(logit, product, a(t) + at_own(shift), EXP(HOLE.term), HOLE)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), a(t), at_own(shift))
    level, u, e = LEVEL(own), on.u(i, matrix), EXP(shift)
    there = at(on.mean, {X: matrix})
    weight, gap, row = number * EXP(product), GAMMA(t) - level, KEY(t) @ M.term
    factor = number * gap
    at_level = decide(
        eq(in_input(weight * gap), 0),
        *(over_input(scale(power_, factor)), over_input(scale(law, factor))),
        scale(add_up(mean, P, THERE), e),
    )
    whole = at(on.whole, {X: matrix})
    score = decide(eq((u - LEVEL(i)) * mass(i, matrix), 0), there, at_level)
    score = decide(eq(u, LEVEL(i)), score, whole)
    forces = decide(
        eq(in_input(weight * gap * row), 0),
        *(over_input(scale(power_, factor * row)), over_input(scale(law, factor * row))),
        over_input(scale(on.rows, factor * EXP(a(t)) * EXP(at_own(shift)))),
        scale(add_up(at(rows, {w: IMAGE(M, INPUT_OF(P))}), P, THERE), e),
    )
    steep = FALL(u) * INV(mass(i, matrix))
    none = decide(
        eq(in_input(weight * (GAMMA(t) - on.u(own, matrix)) * row), 0),
        *(forces, scale(score, in_input(weight * row))),
    )
    spelled = scale(add_up(scale(none, steep), i), INV(NUMBER))
    gone = decide(eq(GRADIENT(matrix) @ M.term, 0), at(on.slope, {X: matrix}), spelled)
    return at(gone, {M: GRADIENT(matrix)})


def at_own(number_: Term) -> Term:
    """Return a number of the input i with the input of token t in the place of i."""
    return substituted(number_, {i: own})


@dataclass(frozen=True, slots=True)
class Fit:
    """The matrix whose logits differ least from given ones, up to a number for each input.

    Attributes:
        matrix: the matrix W.
        logit: a_t.
        size: the number of the different tokens of input i.
        r, r_is: size times the residual of a_t, less the mean of this over the input.
        square: the square of the sum of r_t x_t over an input is 0.
        left: facts on the r_t, which are a dependency.
        none: the r_t of an input add up to 0.
    """

    matrix: Term
    logit: Term
    size: Term
    r: Term
    r_is: Fact
    square: Fact
    left: Dependency
    none: Fact

    @property
    def shift(self) -> Term:
        """The number of input i by which the logits of W exceed the a_t."""
        return INV(self.size) * in_input(KEY(t) @ self.matrix - self.logit)

    def reaches(self, left: Fact, on: Inputs, some: Fact) -> Fact:
        """Return that W has the logits a_t up to a number for each input.

        Args:
            left: that the r_t a_t of a part add up to 0.
            on: facts on attention.
            some: that an input has a token.
        """
        r, product = self.r, KEY(t) @ self.matrix
        rows = over_input(scale(at(on.rows, {M: self.matrix}), r))
        gone = nothing(self.square, in_input(r * X_OF(t)), IMAGE(self.matrix, i))
        squares = decide(
            eq(in_input(r**2), 0),
            *(over_input(scale(self.r_is, r)), scale(add_up(left, P, THERE), self.size)),
            scale(self.none, in_input(product - self.logit)),
            *(scale(rows, self.size), scale(gone, self.size)),
            degree=1,
        )
        part = over_part(square(r))
        each = at(one_of_sum(part, P, INPUT_OF), MINE), one_of_sum(square(r), t, PART_OF)
        none = decide(eq(r, 0), at(squares, {i: own}), *each)
        unit, _ = cite(RECIPROCAL, [some], self.size)
        over = at_own(INV(self.size))
        return decide(
            eq(product, self.logit + at_own(self.shift)),
            *(scale(self.r_is, over), scale(none, over)),
            scale(at(unit, {i: own}), product - self.logit),
            degree=1,
        )


def best_fit(logit: Term, on: Inputs, lifted: Fact, dual: Fact, some: Fact) -> Fit:
    """Prove that the residuals of least squares are a dependency, for any logits."""
    size = in_input(1)
    key = at_own(size) * KEY(t) - in_input(KEY(t), own)
    value = at_own(size) * logit - in_input(logit, own)
    (fit,) = cite(LEAST_SQUARES, (), "W*", key, value, t)
    matrix = current().names["W*"]()
    note("some W differs least from the logits, up to a number for each input", fit)
    r, r_is = define("r", (t,), value - key @ matrix)
    none = decide(eq(in_input(r(t)), 0), over_input(r_is))
    gone = nothing(fit, total((value - key @ matrix) * key, t), M.term)
    spelled = add_up(scale(r_is, key @ M.term), t)
    force = at_own(size) * r(t)
    rest = decide(
        eq(total(in_input(force * (KEY(t) @ M.term)), i), 0),
        *(gone, spelled, *by_inputs(r(t) * (key @ M.term))),
        add_up(scale(none, in_input(KEY(t) @ M.term)), i),
    )
    alone_ = alone(force, rest, lifted, dual)
    v = in_input(r(t) * X_OF(t))
    square_ = decide(eq(v @ v, 0), alone_, decide(gt(size**2, 0), some))
    left = dependency(r(t), none, square_)
    return Fit(matrix, logit, size, r(t), r_is, square_, left, none)

"""The risk has a stationary point exactly if in each input all parts rest at one score.

The proof of `tf/benign-landscape:sharp-2`, in the letters of
`properties/tf/benign_landscape/rest_letters`.

Let u be the attended score of an input, and c_t = m_t exp(<x_t, W z>) (gamma_t - u). If W is
stationary, the c_t are a dependency of the tokens of the input, as the queries are independent. So
the c_t of each part are a dependency, and the part rests at u. The converse is in
`symbolic.tf.logits_at_rest`.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import GRADIENT, NUMBER, M, X, i, w, x
from attsvm.primitives.query_hypotheses import QUERIES
from attsvm.theory.proof.facts import Fact, current, eq, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cases,
    cite,
    conclude,
    cut,
    decide,
    define,
    inside,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, Function, Letter, Term, total
from properties.tf.benign_landscape.rest_letters import (
    AXIS,
    BASE,
    FLAT,
    GAMMA,
    IMAGE,
    INPUT_OF,
    KEY,
    LINE,
    ONE,
    ONLY,
    PLACE,
    RESTS,
    SETTING,
    STILL,
    X_OF,
    B,
    P,
    balanced,
    existence,
    in_input,
    in_part,
    number,
    own,
    rooted,
    stationary,
    t,
)
from properties.tf.benign_landscape.stationary_points import KNOWN
from symbolic.facts import power
from symbolic.tf.logits_at_rest import NAMES, reached
from symbolic.tf.rest_facts import (
    MINE,
    THERE,
    WEIGHT,
    Dependency,
    Forces,
    Inputs,
    alone,
    along_line,
    apart,
    at_token,
    dependency,
    in_its_part,
    inputs,
    meaning,
    nothing,
    over_input,
    over_part,
    pairs,
    part_fact,
)

HOLE, s_ = Letter("hole"), Letter("s")
# from a stationary matrix to parts that rest


@dataclass(frozen=True, slots=True)
class Still:
    """Parts at a stationary matrix X.

    Attributes:
        on: attention at X.
        u: the attended score of the part P, as a term.
        d, d_is: gamma_t - x, and its definition.
        force_is: the definition of c_t.
        of: facts on c_t as a dependency.
    """

    on: Inputs
    u: Term
    d: Function
    d_is: Fact
    force_is: Fact
    of: Dependency

    def rests(self, gap: Fact) -> Fact:
        """Return that a part rests at u, from the fact that gamma_t - u = 0 for its tokens."""
        there = over_part(scale(gap, GAMMA(t) - at_token(self.u)))
        return cut(meaning("a part rests at its only score", self.u), there)

    def flat(self) -> Fact:
        """Return that a part of one score rests at u, as the c_t add up to 0."""
        level = part_fact("each token of a part of one score has this score")
        weighed = over_part(scale(level, WEIGHT)), over_part(self.force_is)
        apart_, heavy = ONLY(P) - self.u, self.on.heavy
        whole = decide(eq(apart_ * heavy.proposition.term, 0), *weighed, self.of.none)
        same_ = decide(eq(apart_, 0), whole, heavy)
        return self.rests(decide(eq(GAMMA(t) - at_token(self.u), 0), level, at(same_, MINE)))

    def one_dependency(self) -> Fact:
        """Return that a part of one dependency rests at u, as the c_t are multiples of b_t."""
        factor = self.of.factor
        (none, some), of_part = (gt(factor, 0), gt(-factor, 0)), in_its_part(factor)
        zero = decide(eq(factor, 0), assume(none.denied()), assume(some.denied()))
        force = decide(eq(self.of.force, 0), self.of.multiple, scale(zero, B(t)))
        gap = GAMMA(t) - at_token(self.u)
        gone = decide(eq(WEIGHT * gap, 0), force, self.force_is)
        idle = self.rests(decide(eq(gap, 0), gone, self.on.push))
        low = cases(self.balanced(-1), idle, gt(-of_part, 0))
        return cases(self.balanced(1), low, gt(of_part, 0))

    def balanced(self, sign: int) -> Fact:
        """Return that a part rests at u, if the c_t are b_t times a factor > 0, or < 0."""
        score, b, size = at_token(self.u), sign * B(t), sign * self.of.factor
        d, d_is = self.d(t, score), at(self.d_is, {x: score})
        positive, logit = assume(gt(size, 0)), KEY(t) @ X.term
        forces = decide(
            eq(number * EXP(logit) * d, size * b),
            *(self.force_is, self.of.multiple, scale(d_is, number * EXP(logit))),
        )
        parts = Forces(b, d, logit, size, self.on.count, positive, forces)
        alike = parts.alike(part_fact("no b_t is 0"))
        image = IMAGE(X, INPUT_OF(P))
        rows = over_part(scale(at(self.on.rows, {M: X}), B(t)))
        logits = at(part_fact("b is a dependency"), {w: image})
        logits = decide(eq(in_part(B(t) * logit), 0), rows, logits)
        h = parts.balance(alike, part_fact("b is a dependency, of sum 0"), logits)
        h = by_definition(balanced(sign, self.u)[1], [self.d_is], h)
        same_side = decide(gt(b * (GAMMA(t) - score), 0), alike, scale(d_is, b))
        signs_ = over_part(apart(b * (GAMMA(t) - score), same_side))
        words = f"a part of one dependency rests where h is 0 for {NAMES[sign]}"
        return cut(meaning(words, self.u), signs_, h)

    def on_line(self) -> Fact:
        """Return that a part on a line rests at u, as the c_t and the c_t k_t add up to 0."""
        line, image = part_fact("tokens on a line are x_P + k_t v"), IMAGE(X, INPUT_OF(P))
        s, base = AXIS(P) @ image, BASE(P) @ image
        place = along_line(self.of, line)
        mine = at_token(base) + PLACE(t) * at_token(s)
        logit = decide(
            eq(KEY(t) @ X.term, mine),
            *(at(self.on.rows, {M: X}), at(line, {w: at_token(image)})),
        )
        power_ = inside(logit, KEY(t) @ X.term, mine, EXP(HOLE.term), HOLE)
        (law,) = cite(EXPONENTIAL_OF_SUM, (), at_token(base), PLACE(t) * at_token(s))
        weight, gap = number * EXP(PLACE(t) * at_token(s)), GAMMA(t) - at_token(self.u)
        factor = number * gap
        force = decide(
            eq(self.of.force, EXP(at_token(base)) * weight * gap),
            *(self.force_is, scale(power_, factor), scale(law, factor)),
            degree=1,
        )
        mean, root = rooted(s, self.u)
        whole, heavy = over_part(force), power(base)
        first = decide(eq(EXP(base) * mean.term, 0), whole, self.of.none)
        first = decide(mean, first, heavy)
        moved = in_part(weight * gap * PLACE(t))
        second = decide(eq(EXP(base) * moved, 0), over_part(scale(force, PLACE(t))), place)
        second = decide(eq(moved, 0), second, heavy)
        half = pairs(s, self.u, first)
        half = decide(root, half, scale(second, in_part(weight)))
        words = "a part on a line rests at the mean score for a root"
        return cut(at(meaning(words, self.u), {s_: s}), first, half)


def part_rests(on: Inputs, lifted: Fact, dual: Fact, known: Fact) -> Fact:
    """Return that each part rests at the attended score, if the gradient is 0."""
    gradient, unit = GRADIENT(X), cite(RECIPROCAL, [setting(SETTING, "there is an input")], NUMBER)
    none = nothing(assume(stationary(X)), gradient, M.term)
    steep, force = on.steep, WEIGHT * (GAMMA(t) - on.u(own, X))
    c, force_is = define("c", (t, X), force)
    sums_ = total(in_input(steep * c(t, X) * (KEY(t) @ M.term)), i)
    spelled = add_up(over_input(scale(force_is, steep * (KEY(t) @ M.term))), i)
    parts = on.slope, none, scale(spelled, INV(NUMBER))
    over = decide(eq(INV(NUMBER) * sums_, 0), *parts)
    rest = decide(eq(sums_, 0), over, unit[1])
    alone_ = alone(steep * c(t, X), rest, lifted, dual)
    square_ = in_input(c(t, X) * X_OF(t)) @ in_input(c(t, X) * X_OF(t))
    fall = on.fall.proposition.term
    positive = decide(gt(fall**2, 0), on.fall)
    square_fact = decide(eq(square_, 0), alone_, positive)
    mean = decide(eq(in_input(c(t, X)), 0), over_input(force_is), on.mean)
    d, d_is = define("d", (t, x), GAMMA(t) - x)
    of = dependency(c(t, X), mean, square_fact)
    still = Still(on, on.u(INPUT_OF(P), X), d, d_is, force_is, of)
    return by_kind(still.flat(), still.one_dependency(), still.on_line(), known)


def by_kind(flat: Fact, one: Fact, line: Fact, known: Fact) -> Fact:
    """Return a fact about a part of any kind, from that fact for each of the three kinds."""
    first, second = gt(FLAT(P), 0), gt(ONE(P), 0)
    denied = (assume(kind.denied()) for kind in (first, second))
    line = cut(line, decide(gt(LINE(P), 0), known, *denied))
    return cases(flat, cases(one, line, second), first)


@linked
def prove() -> str:
    """Prove that some W is stationary if and only if, in each input, all parts rest at one score.

    Raises:
        ProofError: a step fails.
    """
    on, claim = inputs(), existence()
    lifted = setting(SETTING, "x z^T has the product <x, w> <z, q> with w q^T")
    (_, dual), (known,) = suppose(QUERIES), suppose(KNOWN)
    still, u = part_rests(on, lifted, dual, known), on.u(i, STILL)
    each = add_up(decide(eq(1 - RESTS(P, on.u(INPUT_OF(P), X)), 0), still), P, THERE)
    level, stands = (
        setting(claim.setting, words)
        for words in (
            "all parts of an input rest at its level if they do at some score",
            "W_0 is stationary if some matrix is",
        )
    )
    conclude(add_up(cut(at(level, {x: u}), at(each, {X: STILL})), i), claim.sequents[0])
    gradient = reached(on, lifted, dual)
    matrix = current().names["W*"]()
    conclude(cut(at(stands, {X: matrix}), gradient), claim.sequents[1])
    return "for every loss with l' < 0 and any n, T and d"

"""Conditions for softmax attention's gradient to change no more than linear attention's: facts.

The change of the gradient is at most a bound of the heights times ||A||^2, or times half of the
square of the diameter of A: see `symbolic.sim.lemma_3_13_l2_facts`. It remains to bound the heights

    H(a, w) = w (r - w/2) P + w^2 Q,  P = a (1-a^2),  Q = (1-a^2)(1-3a^2)/4

for a from 0 to 1. Here w = max h - min h, and r = max |h - b|.
"""

from dataclasses import dataclass

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL, ROOT, SIZE
from attsvm.theory.proof.linked import conclusion_of, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    decide,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, INV, SQRT, Term, as_term, least, most, total
from attsvm.theory.types import Values
from properties.sim import stability_l2, stability_logistic
from properties.sim._support import entry_loss
from symbolic.curvature_facts import a
from symbolic.facts import (
    end,
    formula_of,
    length,
    letters_in,
    product,
    size_at_most,
    some_of,
)
from symbolic.sim.gradient_change import gradient_change
from symbolic.sim.lemma_3_13_facts import Largest as Bound
from symbolic.sim.lemma_3_13_facts import Scores, logistic, on_the_way, scores
from symbolic.sim.lemma_3_13_l2_facts import Ends, Largest, gradients_apart, height
from symbolic.sim.sharp import ROOT_2, apart_by, oscillation, root_of_2
from symbolic.sim.stability_facts import span_by_norm
from symbolic.softmax_change import at_r, k, r, span, t

BEND = as_term(77) / 400
"""0.1925, which is above 1/(3 sqrt 3)."""
P, Q = a.term * (1 - a.term**2), (1 - a.term**2) * (1 - 3 * a.term**2) / 4
SHARE = as_term(3532) / 1000
"""The largest |b| over ||h||."""


def largest_factors() -> tuple[Fact, Fact]:
    """Return that P <= 0.385 and 4 Q <= 1 for a from 0 to 1.

    a^3 - a + 0.385 is nearly (a - q)^2 (a + 2 q) with q = 0.5774.
    """
    x, q = a.term, as_term(5774) / 10_000
    positive, small = assume(ge(a, 0)), assume(ge(1, a))
    cube = product(square(x - q), decide(ge(x + 2 * q, 0), positive))
    steep = decide(ge(4 - 3 * x**2, 0), positive, small)
    return decide(ge(2 * BEND, P), cube, positive), product(square(x), steep)


def squared_on_data() -> None:
    """Prove the bound by 2 ||A^T h||^2 if ||A^T h|| is large, as P <= 0.385 and Q <= 1/4."""
    statement, reading = stability_l2.STABILITY, "amended-2"
    formula = formula_of(statement, reading)
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (steep,) = suppose(stability_l2.STEEP, formula)
    w, reach = LETTERS.oscillation(v.h).term, LETTERS.largest(v.h - v.b).term
    kappa = w**2 / 4 + BEND * (2 * reach - w) * w

    def largest(e: Ends) -> tuple[Term, Fact]:
        (P_most, Q_most), own = largest_factors(), e.w**2 / 4 + 2 * BEND * e.far * e.w
        parts = product(square(e.w), Q_most), product(e.wide, e.reach, P_most)
        fact = decide(ge(own, height(e)), *parts, degree=1)
        return kappa, by_definition(ge(kappa, height(e)), e.means, fact)

    entry, apart = v.A.entry((t.term,), (k.term,)), (v.x - v.y).entry((k.term,))
    rows = entry - at_r(entry)
    diameter = most(most(SQRT(total(rows**2, k)), r), t)
    fact = gradients_apart(v, some, largest, diameter, lambda z: span(v, z))
    weighted = total(entry * v.h.entry((t.term,)), t)
    _, size_square = length(weighted, k)
    distance, _ = length(apart, k)
    (goal,) = conclusion_of(formula).sequents
    parts = product(steep, distance), scale(size_square, distance.proposition.term)
    end(statement, reading, by=[decide(goal.proposition, fact, *parts, degree=1)])


@dataclass(frozen=True, slots=True)
class Parts:
    """The norms p and q of the positive and of the negative parts of the values."""

    whole: Fact  # p^2 + q^2 is the square of the norm of the values
    # that p and q are at least 0, and at most the norm
    positive: tuple[Fact, Fact]
    short: tuple[Fact, Fact]
    above: tuple[Fact, Fact]  # that p is at least the largest value, and q minus the least one


def parts_of(h: Term, some: Fact) -> Parts:
    """Return facts on the parts (|h| + h)/2 and (|h| - h)/2 of the values."""
    size, size_square = cite(SIZE, (), h)
    norm, norm_square = length(h, t)
    signs, squares_, ends = [], [], []
    for sign, kind in ((1, "most"), (-1, "least")):
        part = (ABS(h) + sign * h) / 2
        positive, square_ = length(part, t)
        N = positive.proposition.term
        own = decide(ge(N, part), one_of_sum(square(part), t), positive, square_)
        own = decide(ge(N, sign * h), own, size, size_square)
        signs.append(positive)
        squares_.append(square_)
        ends.append(bounds(own, kind, h, t, some))
    p, q = (fact.proposition.term for fact in signs)
    H = norm.proposition.term
    whole = decide(eq(H**2, p**2 + q**2), norm_square, *squares_, add_up(size_square, t))
    short = [decide(ge(H, x), whole, norm, square(y)) for x, y in ((p, q), (q, p))]
    return Parts(whole, (signs[0], signs[1]), (short[0], short[1]), (ends[0], ends[1]))


def by_norm(h: Term, b: Term, label: Fact, some: Fact) -> Largest:
    """Return 2 ||h||^2 as the bound of the heights, for |b| <= 3.532 ||h||.

    Let mu be the middle of the values. Then r - w/2 is at most |mu| + |b|. If the values have both
    signs, w^2/2 + 2 mu^2, the sum of the squares of the extreme values, is at most ||h||^2.
    Otherwise |mu| + w/2 is at most ||h||, and so is w.
    """
    lowest, top, (norm, norm_square) = least(h, t), most(h, t), length(h, t)
    H, mu = norm.proposition.term, (lowest + top) / 2
    m, W, place = ABS(mu), as_term(43) / 40, as_term(25_404) / 100_000

    def largest(e: Ends) -> tuple[Term, Fact]:
        part, w, (w_is, _), x = parts_of(h, some), e.w, e.means, a.term
        (P_most, Q_most), positive = largest_factors(), assume(ge(a, 0))
        flat = decide(ge(1 - x**2, 0), positive, assume(ge(1, a)))
        (up, down), (size, size_square) = _both(mu), cite(SIZE, (), mu)
        b_up, b_down = _both(b)
        bound = w / 2 + m + ABS(b)
        ends = (
            decide(ge(bound, h - b), beyond("most", h, t), w_is, up, b_down),
            decide(ge(bound, b - h), beyond("least", h, t), w_is, down, b_up),
        )
        reach = bounds(size_at_most(*ends, h - b, bound), "most", ABS(h - b), t, some)
        far = decide(ge(m + SHARE * H - e.far, 0), reach, label, *e.means)
        far = product(e.wide, positive, flat, far)
        goal, over, under = ge(2 * H**2, height(e)), ge(top, 0), ge(-lowest, 0)
        # both signs
        squares_ = []
        for assumed, p, above in zip((over, under), part.positive, part.above, strict=True):
            N, value = p.proposition.term, assumed.term
            squares_.append(decide(ge(N**2, value**2), assume(assumed), above))
        same = scale(w_is, w + top - lowest)
        round_ = decide(ge(H**2, w**2 / 2 + 2 * m**2), part.whole, *squares_, same, size_square)
        rest = (2 - W) * (2 * W - 4 * Q - P**2 / (2 * W)) - SHARE**2 * P**2
        cubes = product(square(x**2 - place), flat), square(x)
        rest_ = product(square(w), decide(ge(rest, 0), *cubes))
        forms = square(2 * (2 - W) * H - SHARE * w * P), square(4 * W * m - w * P)
        both = decide(goal, far, round_, *forms, rest_, degree=1)
        # one sign
        bent = product(square(w), Q_most)
        one = []
        for assumed, above, short in zip((under, over), part.above, part.short, strict=True):
            other = assume(assumed.denied())
            less = decide(ge(H, w), above, short, w_is, other)
            sign = 1 if assumed is under else -1
            middle = decide(ge(sign * mu, 0), other, w_is, e.wide)
            size_is = decide(eq(m, sign * mu), size, size_square, middle)
            near = decide(ge(H, w / 2 + m), above, short, w_is, size_is)
            level = decide(ge(m + SHARE * H, 0), size, norm)
            parts = product(e.wide, level, P_most), product(e.wide, near)
            more = bent, product(e.wide, less), square(H)
            one.append(decide(goal, far, *parts, *more))
        fact = cases(cases(both, one[0], under), one[1], over)
        kappa = 2 * total(h**2, t)
        return kappa, decide(ge(kappa, height(e)), fact, norm_square)

    return largest


def _both(x: Term) -> tuple[Fact, Fact]:
    """Return that |x| is at least x, and at least -x."""
    size, size_square = cite(SIZE, (), x)
    up, down = (decide(ge(ABS(x), y), size, size_square) for y in (x, -x))
    return up, down


def squared_over_norms() -> None:
    """Prove the bound by 2 ||A||^2 ||h||^2 for labels of at most 3.532 ||h||."""
    statement, reading = stability_l2.STABILITY, "sharp-2"
    formula, root_2 = formula_of(statement, reading), root_of_2()
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (label,) = suppose(stability_l2.SMALL_LABEL, formula)
    h, size = v.h.entry((t.term,)), LETTERS.spectral(v.A).term
    largest = by_norm(h, v.b.term, label, some)
    fact = gradients_apart(v, some, largest, ROOT_2 * size, lambda z: span_by_norm(v, z, root_2))
    apart = SQRT(total((v.x - v.y).entry((k.term,)) ** 2, k))
    kappa, norm_square = 2 * total(h**2, t), length(h, t)[1]
    parts = scale(root_2[1], size**2 * kappa * apart), scale(norm_square, 2 * size**2 * apart)
    (goal,) = conclusion_of(formula).sequents
    end(statement, reading, by=[decide(goal.proposition, fact, *parts, degree=1)])


# the logistic loss

STEEPEST, TOP, BENT_AT = (as_term(x) / 1_000_000 for x in (1_956_580, 96_225, 146_300))
"""At least sqrt 2/0.7228, at most 1/(6 sqrt 3), and nearly the c of the largest height."""
START, FLAT_AT = as_term(1) / 20, as_term(5605) / 10_000
"""A number from which on a is not small; nearly the a of the largest height."""


def bent(size: Fact, positive: Fact, flat: Fact) -> Fact:
    """Return that (1-a^2)/8 (1-c^2) (k a + c (1-a^2)/2) is at most `TOP`, for a >= `START`.

    k is `STEEPEST`. With d = `BENT_AT` c^3 is at least 3 d^2 c - 2 d^3, and what is left is
    quadratic in c. So a times the difference is at least a polynomial in a, which is positive: it
    is nearly (a - `FLAT_AT`)^2 times another one.

    Args:
        size: that c is at least 0.
        positive: that a is at least 0.
        flat: that 1 - a^2 is at least 0.
    """
    x, c, d, n = a.term, size.proposition.term, BENT_AT, flat.proposition.term
    late = assume(ge(a, START))
    gap = TOP - n / 8 * (1 - c**2) * (STEEPEST * x + c * n / 2)
    tangent = product(square(c - d), decide(ge(c + 2 * d, 0), size))
    near = x - FLAT_AT
    parts = (
        *(product(square(n), positive, tangent), positive, square(x * near)),
        product(flat, square(4 * STEEPEST * x * c - n * (1 - 3 * d**2))),
        product(square(near), decide(ge(x - START, 0), late)),
    )
    whole = decide(ge(x * gap, 0), *parts)
    return decide(ge(gap, 0), whole, late)


def low(size: Fact, small: Fact, short: Fact, flat: Fact) -> Fact:
    """Return the bound of `bent` for a < `START`, where 1 - c^2 and 1 - a^2 are at most 1."""
    x, c, n = a.term, size.proposition.term, flat.proposition.term
    early = assume(ge(a, START).denied())
    gap = TOP - n / 8 * (1 - c**2) * (STEEPEST * x + c * n / 2)
    share = product(flat, short)
    most_ = decide(ge(1 - share.proposition.term, 0), product(flat, square(c)), square(x))
    level = STEEPEST * START + as_term(1) / 2
    wide = product(size, square(x))
    rest = decide(ge(level - STEEPEST * x - c * n / 2, 0), early, small, wide)
    return decide(ge(gap, 0), most_, product(share, rest), degree=1)


def logistic_by_norm(v: Values, label: Fact, some: Fact, root_2: tuple[Fact, Fact]) -> Bound:
    """Return beta^2/(6 sqrt 3) as the bound of the heights, for beta = |b| ||h|| >= 0.7228."""
    h, (above, whole) = v.h.entry((t.term,)), root_2
    B = ABS(v.b.term) * SQRT(total(h**2, t))
    root, square_ = cite(ROOT, [decide(ge(3, 0))], as_term(3))
    R = root.proposition.term
    kappa = B**2 * INV(R) / 6

    def largest(s: Scores, rises: Fact, size: Fact, small: Fact, flat: Fact) -> tuple[Term, Fact]:
        x, c, p, n = a.term, size.proposition.term, rises.proposition.term, 1 - a.term**2
        positive, below = assume(ge(a, 0)), assume(ge(1, a))
        narrow, short = decide(ge(n, 0), positive, below), decide(ge(1 - c**2, 0), flat, rises)
        ends = bent(size, positive, narrow), low(size, small, short, narrow)
        gap = cases(*ends, ge(a, START))
        own = TOP - n / 2 * p * (STEEPEST * x + c * n / 2)
        gap = decide(ge(own, 0), gap, scale(flat, n / 8 * (STEEPEST * x + c * n / 2)), degree=1)
        # 1/(6 sqrt 3) is at least TOP
        unit, over = cite(RECIPROCAL, [decide(gt(R, 0), root, square_)], R)
        third = decide(
            eq(3 * INV(R) ** 2, 1), scale(square_, INV(R) ** 2), scale(unit, R * INV(R) + 1)
        )
        level = decide(ge(INV(R) / 6 - TOP, 0), third, over)
        # w is at most sqrt 2 beta
        size_b, _ = cite(SIZE, (), v.b.term)
        range_ = oscillation(apart_by(h, above, whole), h, some)
        D = ROOT_2 * B
        wide = decide(ge(D - s.w, 0), s.means, product(range_, size_b))
        wider = decide(ge(D**2 - s.w**2, 0), wide, s.wide)
        beta = decide(ge(B, 0), label)
        steep = decide(ge(STEEPEST * B - ROOT_2, 0), label, whole)
        parts = (
            *(product(narrow, rises, positive, wide), product(square(B), gap)),
            product(square(n), rises, size, wider),
            *(product(narrow, rises, positive, beta, steep), product(square(B), level)),
            scale(whole, n**2 * p * c * B**2),
        )
        goal = ge(kappa, n / 2 * p * (s.w * x + s.w**2 * c * n / 4))
        return kappa, decide(goal, *parts, degree=1)

    return largest


def logistic_over_norms() -> None:
    """Prove the bound by beta^2 ||A||^2/(6 sqrt 3) for beta = |b| ||h|| >= 0.7228."""
    statement, reading = stability_logistic.STABILITY, "sharp-2"
    formula, root_2 = formula_of(statement, reading), root_of_2()
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (label,) = suppose(stability_logistic.LARGE_LABEL, formula)
    w, s, size = on_the_way(v, some), scores(v, some), LETTERS.spectral(v.A).term
    loss = logistic(w, s, logistic_by_norm(v, label, some, root_2))
    gradients = [number(entry_loss.gradient(LETTERS, v.A, x, v.h, v.b)) for x in (v.x, v.y)]
    spans = [(ROOT_2 * size, lambda z: span_by_norm(v, z, root_2))]
    (fact,) = gradient_change(v, (gradients[0], gradients[1]), w, loss, spans)
    apart = SQRT(total((v.x - v.y).entry((k.term,)) ** 2, k))
    (goal,) = conclusion_of(formula).sequents
    part = scale(root_2[1], size**2 * loss.heights.kappa * apart)
    end(statement, reading, by=[decide(goal.proposition, fact, part, degree=1)])

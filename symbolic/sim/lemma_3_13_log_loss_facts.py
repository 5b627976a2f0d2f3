"""Lemma 3.13 for the log-loss by linked facts, with K in closed form.

With E = exp(-b <f, h>) and p = E/(1+E), l(u) = log(1 + exp(-u)) has the derivative -p and the
second derivative p (1-p). With y = w (1-a^2)/4 the heights are 2 y p (a + (1-p) y).
"""

from collections.abc import Mapping

from attsvm.theory import gradient
from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, Sequent, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL, ROOT
from attsvm.theory.proof.linked import conclusion_of, setting
from attsvm.theory.proof.rules import assume, by_definition, cases, cite, decide, scale, square
from attsvm.theory.proof.terms import INV, SQRT, Term, as_term, total
from attsvm.theory.types import Namespace, Numbers, Values
from properties.sim import lemma_3_13_log_loss
from properties.sim._support import entry_loss
from symbolic.curvature_facts import Heights, Slopes, a, named
from symbolic.facts import end, formula_of, letters_in, power, product, some_of
from symbolic.sim.gradient_change import Loss, Weights, gradient_change
from symbolic.sim.lemma_3_13_facts import Scores, on_the_way, scores
from symbolic.sim.sharp import ROOT_2, root_of_2
from symbolic.sim.stability_facts import span_by_norm
from symbolic.softmax_change import k, t

N = 1 - a.term**2


def below(w: Term, p: Fact, rest: Fact, wide: Fact, r: tuple[Fact, Fact], least: Fact) -> Fact:
    """Return that no height exceeds w r/3, if w <= 6 r and 3 r^2 = 1.

    Args:
        w: the range of the scores.
        p: that p is at least 0.
        rest: that 1 - p is at least 0.
        wide: that w is at least 0.
        r: that r is above 0, and that 3 r^2 is 1.
        least: that 6 r - w is at least 0.
    """
    positive, small = assume(ge(a, 0)), assume(ge(1, a))
    x, p_, (above, third) = a.term, p.proposition.term, r
    R = above.proposition.term
    n = decide(ge(N, 0), positive, small)
    y = w * N / 4
    area = product(wide, n)
    goal, condition = ge(w * R / 3, 2 * y * p_ * (x + (1 - p_) * y)), ge(x - y, 0)
    yes, no = assume(condition), assume(condition.denied())
    # a (1-a^2) is at most 2 r/3
    top = decide(
        ge(2 * R / 3 - x * N, 0), square(x - R), positive, above, scale(third, x), scale(third, R)
    )
    # for a >= y the height grows with p
    grows = product(area, rest, decide(ge(x - y * p_, 0), yes, area, rest))
    first = decide(goal, wide, top, grows)
    # else it is at most (a + y)^2/2, and (y - a)^2 <= w (a - r)^2 (a + 2 r)
    flat = square(x + y - 2 * p_ * y)
    # let e be the y - a of w = 6 r; y - a is between 0 and e, and at most w r e/2
    z, e = y - x, 3 * R * N / 2 - x
    gap = decide(ge(z, 0), no)
    more = decide(ge(e - z, 0), n, least)
    share = decide(ge(w * e * R / 2 - z, 0), product(positive, above, least), scale(third, z))
    steep = product(decide(ge(e, 0), more, gap), share)
    squares_ = decide(ge(w * e**2 * R / 2, z**2), gap, more, steep)
    rest_ = decide(
        ge(x / 4 + 7 * R / 8 - 3 * R * x**2 / 8, 0),
        *(positive, product(above, small), above),
    )
    factor = 7 * x**2 * R / 8 - 3 * x**4 * R / 8 - 3 * x**3 / 4
    inner = (x - R) ** 2 * (x + 2 * R)
    near = decide(
        ge(inner - R * e**2 / 2, 0),
        *(square(x - R), rest_, scale(third, factor)),
    )
    whole = scale(third, w * x), scale(third, w * R)
    second = decide(goal, flat, squares_, product(wide, near), *whole, degree=1)
    return cases(first, second, condition)


def beyond(w: Term, p: Fact, wide: Fact, unit: Fact, inverse: Fact) -> Fact:
    """Return that no height exceeds (w/4 + 1/w)^2/2, for w > 0."""
    positive, small = assume(ge(a, 0)), assume(ge(1, a))
    x, p_, over = a.term, p.proposition.term, INV(w)
    y, top = w * N / 4, w / 4 + over
    n = decide(ge(N, 0), positive, small)
    parts = product(wide, square(x - 2 * over)), scale(unit, x), scale(unit, over)
    less = decide(ge(top - x - y, 0), *parts, degree=1)
    sum_ = decide(ge(top + x + y, 0), inverse, wide, positive, n)
    last = product(less, sum_), square(x + y - 2 * p_ * y)
    return decide(ge(top**2 / 2, 2 * y * p_ * (x + (1 - p_) * y)), *last, degree=1)


def log_loss(v: Values, w: Weights, s: Scores, settings: Mapping[str, Sequent]) -> Loss:
    """Return the log-loss of <f, e>."""
    power_ = power(-total(w.f * s.e, t))
    E = power_.proposition.term
    unit, over = cite(RECIPROCAL, [decide(gt(1 + E, 0), power_)], 1 + E)
    slope = E * INV(1 + E)
    p, p_means = named("slope", slope)
    rises = by_definition(gt(p, 0), [p_means], decide(gt(slope, 0), power_, over))
    rest = by_definition(ge(1 - p, 0), [p_means], decide(ge(1 - slope, 0), over, unit))
    (P, P_means), (Q, Q_means) = named("p", s.w * p), named("q", s.w**2 * p * (1 - p))
    D = LETTERS.abs(v.b) * LETTERS.oscillation(v.h)
    kappa = entry_loss.log_loss_constant(LETTERS, D).term
    height = N / 2 * (P * a.term + Q * N / 4)
    bound = ge(kappa, height)
    narrow, broad = (setting(settings, x) for x in settings if ": piece " in x)
    (condition,), (denial,) = narrow.assumptions, broad.assumptions
    # D <= 2 sqrt 3
    root, whole = cite(ROOT, [decide(ge(3, 0))], as_term(3))
    R = root.proposition.term
    one, r = cite(RECIPROCAL, [decide(gt(R, 0), root, whole)], R)
    third = decide(eq(3 * INV(R) ** 2, 1), scale(whole, INV(R) ** 2), scale(one, R * INV(R) + 1))
    least = decide(
        ge(6 * INV(R) - s.w, 0), assume(condition), s.means, scale(whole, INV(R)), scale(one, R)
    )
    means = s.means, P_means, Q_means
    fact = below(s.w, rises, rest, s.wide, (r, third), least)
    value = kappa - narrow.proposition.term
    first = decide(bound, narrow, by_definition(ge(value, height), means, fact))
    # D > 2 sqrt 3
    positive = decide(gt(s.w, 0), assume(denial), s.means, root)
    unit_w, inverse = cite(RECIPROCAL, [positive], s.w)
    fact = beyond(s.w, rises, s.wide, unit_w, inverse)
    value = kappa - broad.proposition.term
    second = decide(bound, broad, by_definition(ge(value, height), means, fact))
    above = cases(first, second, condition)
    heights = Heights(
        kappa,
        decide(ge(P, 0), P_means, s.wide, rises),
        decide(ge(Q, 0), Q_means, product(square(s.w), rises, rest)),
        above,
    )
    bends = None, product(rises, rest)
    slopes = Slopes(p, p * (1 - p), P_means, Q_means)
    return Loss(heights, slopes, -1, s.e, s.low, s.high, p * (1 - p), bends, (p_means,))


def largest_change() -> None:
    """Prove ||grad L(x) - grad L(y)|| <= ||A||^2 K ||x - y||."""
    statement, reading = lemma_3_13_log_loss.LEMMA, "sharp"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    settings, root_2 = conclusion_of(formula_of(statement, reading)).setting, root_of_2()

    def loss(m: Namespace, x: Numbers) -> Numbers:
        return entry_loss.log_loss(m, v.A, x, v.h, v.b)

    first, second = (number(gradient(LETTERS, loss, x)) for x in (v.x, v.y))
    w, size = on_the_way(v, some), LETTERS.spectral(v.A).term
    known = log_loss(v, w, scores(v, some), settings)
    spans = [(ROOT_2 * size, lambda z: span_by_norm(v, z, root_2))]
    (fact,) = gradient_change(v, (first, second), w, known, spans)
    (goal,) = conclusion_of(formula_of(statement, reading)).sequents
    apart = SQRT(total((v.x - v.y).entry((k.term,)) ** 2, k))
    half = scale(root_2[1], size**2 * known.heights.kappa * apart)
    end(statement, reading, by=[decide(goal.proposition, fact, half)])

"""Bounds of the change of losses of softmax attention, for the statements on stability.

u and w are the scores <f(x), h> and <f(y), h>.
"""

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, ge
from attsvm.theory.proof.lemmas import SIZE
from attsvm.theory.proof.linked import conclusion_of, suppose
from attsvm.theory.proof.rules import add_up, beyond, cite, decide, one_of_sum, scale, square
from attsvm.theory.proof.terms import ABS, SQRT, Term, as_term, most, total
from attsvm.theory.types import Values
from properties.sim import stability_l2, stability_logistic
from properties.sim._support.entry import LISTED_RADIUS
from properties.sim._support.stability import SPREAD
from symbolic.facts import (
    cauchy,
    end,
    formula_of,
    image,
    length,
    letters_in,
    product,
    root_at_most,
    size_at_most,
    size_by_squares,
    softmax,
    some_of,
)
from symbolic.sim.logistic_lipschitz import change
from symbolic.sim.sharp import ROOT_2, apart_by, oscillation, root_of_2
from symbolic.softmax_change import Way, at_r, k, mean_change, on_way, path, t


def squared_bound(d: Term, bound: Fact | None) -> tuple[Term, Fact, Fact]:
    """Return c >= |d|, that c >= 0 and that c^2 >= d^2; c is |d| itself without a bound."""
    size, whole = cite(SIZE, (), d)
    if bound is None:
        return ABS(d), size, decide(ge(ABS(d) ** 2, d**2), whole)
    c = bound.proposition.term + ABS(d)
    return c, decide(ge(c, 0), bound, size), decide(ge(c**2, d**2), bound, size, whole)


def product_at_most(d: Term, q: Term, d_bound: Fact | None, q_bound: Fact) -> Fact:
    """Return that |d q| <= c e, as |d| <= c and |q| <= e; c is |d| itself without a bound."""
    c, c_positive, c_more = squared_bound(d, d_bound)
    e, e_positive, e_more = squared_bound(q, q_bound)
    parts = product(c_more, square(e)), product(square(d), e_more)
    small = decide(ge((c * e) ** 2, (d * q) ** 2), *parts, degree=1)
    return size_by_squares(d * q, product(c_positive, e_positive), small)


def scores(w: Way, h: Term) -> tuple[Term, Term]:
    """Return the scores u and w."""
    return total(w.end_x * h, t), total(w.end_y * h, t)


def span_by_norm(v: Values, apart: Term, root_2: tuple[Fact, Fact]) -> Fact:
    """Return that s_t - s_r <= D for s = A z, and D = sqrt 2 ||A|| ||z||."""
    entry = v.A.entry((t.term,), (k.term,))
    s = total(entry * apart, k)
    size, turned = image(entry, t, k, apart)
    distance, distance_square = length(apart, k)
    S, D = size.proposition.term, distance.proposition.term
    small = decide(ge((S * D) ** 2, total(s**2, t)), turned, scale(distance_square, S**2))
    short = root_at_most(product(size, distance), length(s, t), small)
    above, whole = root_2
    far = apart_by(s, above, whole)
    return decide(ge(ROOT_2 * S * D, s - at_r(s)), far, above, short)


def change_by_norms(v: Values, some: Fact, root_2: tuple[Fact, Fact]) -> tuple[Way, Fact]:
    """Return that |u - w| <= ||A|| ||h|| ||x - y||/2."""
    h, (above, whole) = v.h.entry((t.term,)), root_2
    apart = (v.x - v.y).entry((k.term,))
    w = on_way(v, span_by_norm(v, apart, root_2), some)
    wide = oscillation(apart_by(h, above, whole), h, some)
    size = SQRT(total(h**2, t)) * LETTERS.spectral(v.A).term * SQRT(total(apart**2, k))
    first, second = scores(w, h)
    fact = decide(
        ge(size / 2, ABS(first - second)),
        *(mean_change(w, h), wide, w.positive, scale(whole, size)),
    )
    return w, fact


def change_on_data(v: Values, some: Fact, spread: Fact) -> tuple[Way, Fact]:
    """Return that |u - w| <= ||A^T h|| ||x - y||, as ||A^T h|| is at least osc(h) diam(A)/4."""
    w, h = path(v, some), v.h.entry((t.term,))
    distance, _ = length((v.x - v.y).entry((k.term,)), k)
    size = SQRT(total(total(v.A.entry((t.term,), (k.term,)) * h, t) ** 2, k))
    first, second = scores(w, h)
    goal = ge(size * distance.proposition.term, ABS(first - second))
    return w, decide(goal, mean_change(w, h), spread, distance)


def logistic_change(v: Values, w: Way, fact: Fact) -> Fact:
    """Return the fact |g(b u) - g(b w)| <= |b| c/4, if |u - w| <= c."""
    return logistic_of(v.b.term, *scores(w, v.h.entry((t.term,))), fact)


def logistic_of(b: Term, first: Term, second: Term, fact: Fact) -> Fact:
    """Return the fact |g(b u) - g(b w)| <= |b| c/4 for two numbers with |u - w| <= c."""
    part = product_at_most(b, first - second, None, fact)
    c = fact.proposition.term + ABS(first - second)
    slope = change(b * first, b * second)
    left = slope.proposition.term - ABS(b * (first - second)) / 4
    return decide(ge(ABS(b) * c / 4, -left), slope, part)


def squared_change(v: Values, w: Way, fact: Fact, tops: tuple[Fact, Fact], top: Term) -> Fact:
    """Return the fact |(u - b)^2 - (w - b)^2| <= 2 c (m + |b|).

    It is taken from |u - w| <= c and |u|, |w| <= m.
    """
    first, second = scores(w, v.h.entry((t.term,)))
    b = v.b.term
    size, whole = cite(SIZE, (), b)
    up, down = (decide(ge(ABS(b), x), size, whole) for x in (b, -b))
    d, q, e = first - second, first + second - 2 * b, 2 * (top + ABS(b))
    ends = []
    for x, fact_ in ((first, tops[0]), (second, tops[1])):
        x_size, x_whole = cite(SIZE, (), x)
        ends.append([decide(ge(top, y), fact_, x_size, x_whole) for y in (x, -x)])
    sum_ = size_at_most(
        decide(ge(e, q), ends[0][0], ends[1][0], down),
        decide(ge(e, -q), ends[0][1], ends[1][1], up),
        *(q, e),
    )
    return product_at_most(d, q, fact, sum_)


def score_by_largest(logit: Term, h: Term, some: Fact) -> Fact:
    """Return that |<f, h>| is at most max |h|."""
    weights, top = softmax(logit, t, some), most(ABS(h), t)
    u = total(weights.weight * h, t)
    size, whole = cite(SIZE, (), h)
    largest, one = beyond("most", ABS(h), t), scale(weights.one(t), top)
    sides = []
    for x in (h, -h):
        each = decide(ge(top, x), largest, size, whole)
        sides.append(
            decide(
                ge(top, total(weights.weight * x, t)),
                *(add_up(product(weights.positive, each), t), one),
            )
        )
    return size_at_most(sides[0], sides[1], u, top)


def score_by_norm(logit: Term, h: Term, some: Fact) -> Fact:
    """Return that |<f, h>| is at most ||h||."""
    weights = softmax(logit, t, some)
    f, one = weights.weight, weights.one(t)
    u = total(f * h, t)
    norm, norm_square = length(h, t)
    below = decide(ge(1, f), one_of_sum(weights.positive, t), one)
    short = add_up(product(below, square(h)), t)
    inner = cauchy(h, as_term(1), t, weight=weights.positive)
    small = decide(
        ge(norm.proposition.term**2, u**2),
        *(inner, short, norm_square, scale(one, total(f * h**2, t))),
        degree=1,
    )
    return size_by_squares(u, norm, small)


def logits(v: Values) -> tuple[Term, Term]:
    """Return the logits at x and at y."""
    at_x, at_y = ((v.A @ point).entry((t.term,)) for point in (v.x, v.y))
    return at_x, at_y


def logistic_over_norms() -> None:
    """Prove |L(x) - L(y)| <= |b| ||A|| ||h||/8 ||x - y||, half of the printed bound."""
    statement = stability_logistic.STABILITY
    v, some = letters_in(statement, "sharp"), some_of(statement, "sharp", "n")
    w, fact = change_by_norms(v, some, root_of_2())
    half = logistic_change(v, w, fact)
    end(statement, "sharp", by=[half])
    first, second = scores(w, v.h.entry((t.term,)))
    values = (number(LETTERS.logistic(number(v.b.term * x))).term for x in (first, second))
    size, _ = cite(SIZE, (), next(values) - next(values))
    (printed,) = conclusion_of(formula_of(statement, "literal-3")).sequents
    end(statement, "literal-3", by=[decide(printed.proposition, half, size)])


def logistic_on_data() -> None:
    """Prove |L(x) - L(y)| <= |b| ||A^T h||/4 ||x - y||, as ||A^T h|| >= osc(h) diam(A)/4."""
    statement, reading = stability_logistic.STABILITY, "amended-2"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (spread,) = suppose(SPREAD, formula_of(statement, reading))
    end(statement, reading, by=[logistic_change(v, *change_on_data(v, some, spread))])


def squared_on_data() -> None:
    """Prove the bound by 2 ||A^T h|| (max |h| + |b|), as ||A^T h|| >= osc(h) diam(A)/4."""
    statement, reading = stability_l2.STABILITY, "amended-1"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    (spread,) = suppose(SPREAD, formula_of(statement, reading))
    w, fact = change_on_data(v, some, spread)
    h = v.h.entry((t.term,))
    first, second = (score_by_largest(s, h, some) for s in logits(v))
    top = most(ABS(h), t)
    end(statement, reading, by=[squared_change(v, w, fact, (first, second), top)])


def squared_over_norms(reading: str) -> Fact:
    """Return the bound by ||A|| ||h|| (||h|| + |b|), in the letters of a reading."""
    statement = stability_l2.STABILITY
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    w, fact = change_by_norms(v, some, root_of_2())
    h = v.h.entry((t.term,))
    first, second = (score_by_norm(s, h, some) for s in logits(v))
    return squared_change(v, w, fact, (first, second), SQRT(total(h**2, t)))


def squared_at_unit_radius() -> None:
    """Prove the bound by half of linear attention's constant for R = 1."""
    end(stability_l2.STABILITY, "sharp-1", by=[squared_over_norms("sharp-1")])


def squared_at_radius() -> None:
    """Prove the printed bound for R >= 4, at least twice as large."""
    statement, reading = stability_l2.STABILITY, "literal-3"
    (large,) = suppose(LISTED_RADIUS, formula_of(statement, reading))
    fact, v = squared_over_norms(reading), letters_in(statement, reading)
    entry, apart = v.A.entry((t.term,), (k.term,)), (v.x - v.y).entry((k.term,))
    size, _ = image(entry, t, k, apart)
    head, _ = length(v.h.entry((t.term,)), t)
    distance, _ = length(apart, k)
    label, _ = cite(SIZE, (), v.b.term)
    more = decide(ge(2 * v.R.term, 1), large)
    parts = product(size, head, distance, head, more), product(size, head, distance, label)
    (conclusion,) = conclusion_of(formula_of(statement, reading)).sequents
    end(statement, reading, by=[decide(conclusion.proposition, fact, *parts)])

"""Bounds of the change of means by softmax: |<f(x) - f(y), h>| <= osc(h) D/4, any number of tokens.

D is the diameter of the rows of A times ||x - y||. On the way from y to x, which tau in [0, 1]
measures, the mean has the slope Cov_f(h, s), s being the change of the logits. A covariance is at
most a quarter of the product of the ranges, and the range of s is at most D.
"""

from dataclasses import dataclass

from attsvm.theory.proof.facts import Fact, ge, note
from attsvm.theory.proof.lemmas import DISCRIMINANT
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    bounds,
    cite,
    decide,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    SQRT,
    Letter,
    Term,
    as_term,
    derivative,
    least,
    most,
    substituted,
    total,
)
from attsvm.theory.types import Values
from symbolic.facts import (
    Softmax,
    cauchy,
    index,
    length,
    product,
    rises_at_most,
    size_at_most,
    softmax,
)

t, r, k = index("t", "n"), index("r", "n"), index("k", "D")
TAU = Letter("tau")


def at_r(term: Term, t: Letter = t, r: Letter = r) -> Term:
    """Return the term at the token r, or at another letter for another index."""
    return substituted(term, {t: r.term})


@dataclass(frozen=True, slots=True)
class Way:
    """The way from y to x."""

    change: Term  # the change of logit t
    weights: Softmax  # attention at tau
    span: Term  # D
    spans: Fact  # that no two changes differ by more than D
    positive: Fact  # that D is at least 0
    some: Fact  # that there is a token
    end_x: Term  # end_x, end_y: attention at x and at y, as terms
    end_y: Term
    t: Letter = t  # t, r: letters for the index
    r: Letter = r


def path(v: Values, some: Fact) -> Way:
    """Return the way from y to x for letters A, x and y."""
    return on_way(v, span(v, (v.x - v.y).entry((k.term,))), some)


def span(v: Values, apart: Term) -> Fact:
    """Return that s_t - s_r <= D for s = A z, and D the diameter of A times ||z||."""
    entry = v.A.entry((t.term,), (k.term,))
    rows = entry - at_r(entry)
    distance, span_ = SQRT(total(rows**2, k)), most(most(SQRT(total(rows**2, k)), r), t)
    norm, norm_square = length(apart, k)
    row, row_square = length(rows, k)
    inner = total(rows * apart, k)
    factors = scale(row_square, total(apart**2, k)), scale(norm_square, distance**2)
    D = norm.proposition.term
    wide = beyond("most", distance, r), beyond("most", most(distance, r), t)
    wide_ = decide(ge(span_, distance), *wide)
    return note(
        "s_t - s_r <= D",
        decide(
            ge(span_ * D, inner),
            *(product(row, norm), cauchy(rows, apart, k), *factors, product(norm, wide_)),
        ),
    )


def on_way(v: Values, spans: Fact, some: Fact) -> Way:
    """Return the way from y to x, with a bound D of the differences of the changes of logits."""
    at_x, at_y = ((v.A @ point).entry((t.term,)) for point in (v.x, v.y))
    bound = spans.proposition.term + at_x - at_y - at_r(at_x - at_y)
    positive = decide(ge(bound, 0), spans, at(spans, {t: r, r: t}), some)
    return between(at_x, at_y, spans, positive, some)


def between(
    at_x: Term, at_y: Term, spans: Fact, positive: Fact, some: Fact, t: Letter = t, r: Letter = r
) -> Way:
    """Return the way from one vector of logits to another, with a bound D of differences.

    Args:
        at_x: the logit at the end.
        at_y: the logit at the beginning.
        spans: that D is at least the difference of the changes of two logits.
        positive: that D is at least 0.
        some: that there is an index.
        t: a letter for the index.
        r: another letter for the index.
    """
    change = at_x - at_y
    span = spans.proposition.term + change - at_r(change, t, r)
    weights = softmax(at_y + TAU.term * change, t, some)
    end_x, end_y = (EXP(s) * INV(total(EXP(s), t)) for s in (at_x, at_y))
    return Way(change, weights, span, spans, positive, some, end_x, end_y, t, r)


def moved(slope: Term, function: Term, above: Fact, below: Fact) -> Fact:
    """Return that a function changes by at most a bound of its slope along the way."""
    bound, ends = above.proposition.term + slope, (as_term(0), as_term(1))
    both = rises_at_most(function, TAU, ends, decide(ge(1, 0)), (above, below))
    start, end = (substituted(function, {TAU: at}) for at in ends)
    return size_at_most(*both, end - start, bound)


def variance(weights: Softmax, one: Fact, h: Term, low: Fact, high: Fact, t: Letter = t) -> Fact:
    """Return that H^2 >= 4 (mean of h^2 - mean^2), as h is from a to a + H."""
    a = h - low.proposition.term
    H = high.proposition.term + h - a
    f, mean = weights.weight, total(weights.weight * h, t)
    inside = add_up(product(weights.positive, low, high), t)
    goal = ge(H**2, 4 * (total(f * h**2, t) - mean**2))
    return decide(goal, inside, scale(one, a * (a + H)), square(2 * mean - 2 * a - H), degree=1)


def covariance(w: Way, h: Term) -> tuple[Fact, Fact]:
    """Return that |Cov_f(h, s)| is at most (max h - min h) D/4, from above and from below."""
    weights, f, s, t, r = w.weights, w.weights.weight, w.change, w.t, w.r
    one = weights.one(t)
    H, a = most(h, t) - least(h, t), least(h, t)
    h_low, h_high = beyond("least", h, t), beyond("most", h, t)
    h_wide = decide(ge(a + H, h), h_high)
    s_low = beyond("least", s, t)
    s_high = bounds(w.spans, "least", at_r(s, t, r), r, w.some)
    V_h = variance(weights, one, h, h_low, h_wide, t)
    V_s = variance(weights, one, s, s_low, s_high, t)
    m, n = total(f * h, t), total(f * s, t)
    var_h, var_s = total(f * h**2, t) - m**2, total(f * s**2, t) - n**2
    cov = total(f * h * s, t) - m * n
    x = Letter("x")
    whole = add_up(product(weights.positive, square((h - m) * x.term + s - n)), t)
    nowhere = decide(
        ge(var_h * x.term**2 + 2 * cov * x.term + var_s, 0),
        *(whole, scale(one, (m * x.term + n) ** 2)),
        degree=1,
    )
    (short,) = cite(DISCRIMINANT, [nowhere], x, var_h, cov, var_s)
    positive_h = add_up(product(weights.positive, square(h - m)), t)
    positive_h = decide(ge(var_h, 0), positive_h, scale(one, m**2), degree=1)
    parts = product(V_h, square(w.span)), product(positive_h, V_s)
    squares_ = decide(ge((H * w.span) ** 2, (4 * cov) ** 2), short, *parts, degree=1)
    wide = decide(ge(H, 0), h_low, h_high, w.some)
    right = product(wide, w.positive)
    above = decide(ge(H * w.span / 4, cov), right, squares_)
    return above, decide(ge(H * w.span / 4, -cov), right, squares_)


def mean_change(w: Way, h: Term) -> Fact:
    """Return that |<f(x) - f(y), h>| <= (max h - min h) D/4."""
    above, below = covariance(w, h)
    function = total(w.weights.weight * h, w.t)
    slope = derivative(function, TAU, {})
    return note("|<f(x) - f(y), h>| <= osc(h) D/4", moved(slope, function, above, below))


def weight_change(w: Way) -> Fact:
    """Return that no weight moves by more than D/4: its slope is f_r (s_r - mean of s)."""
    weights, f, s = w.weights, w.weights.weight, w.change
    one = weights.one(t)
    own, mean = at_r(f), total(f * s, t)
    share = at(weights.positive, {t: r})
    quarter = product(w.positive, square(own - as_term(1) / 2))
    results = []
    for sign, spans in ((1, at(w.spans, {t: r, r: t})), (-1, w.spans)):
        # f_t (D - sign (s_r - s_t)) is at least 0, so their sum is at least that at r, f_r D
        each = at(one_of_sum(product(weights.positive, spans), t), {t: r})
        results.append(
            decide(
                ge(w.span / 4, sign * own * (at_r(s) - mean)),
                *(share, each, scale(one, w.span), scale(one, at_r(s)), quarter),
            )
        )
    function = own
    return moved(derivative(function, TAU, {}), function, results[0], results[1])

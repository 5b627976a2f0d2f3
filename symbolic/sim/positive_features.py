"""Linear attention with the positive features phi = elu + 1: bounds of its loss.

ln phi is 1-Lipschitz. With p_j = phi(x_j) and c_j = (phi(A)^T 1)_j the score is the mean of v_j =
(phi(A)^T h)_j/c_j by the weights softmax(ln p_j + ln c_j), and v_j is the mean of h by the weights
softmax(ln phi(A)_tj) over tokens t. A mean by softmax moves by at most a quarter of the range of
the averaged values, times the range of the change of the logits. The latter is at most sqrt 2
diam(A) from one column to another, and sqrt 2 ||x - y|| from y to x. So v has a range of at most
osc(h) sqrt 2 diam(A)/4, and the score changes by at most osc(h) diam(A) ||x - y||/8.
"""

from dataclasses import dataclass
from typing import cast

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, eq, ge, gt, note
from attsvm.theory.proof.lemmas import (
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LOGARITHM,
    RECIPROCAL,
    SIZE,
    spectral,
)
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    define,
    exchange,
    inside,
    scale,
)
from attsvm.theory.proof.terms import ABS, EXP, INV, LOG, Function, Letter, Term, least, most, total
from attsvm.theory.types import Numbers, Values
from properties.sim.normalised_linear import LINEAR, feature
from symbolic.facts import (
    end,
    exponents_rise,
    formula_of,
    image,
    index,
    length,
    letters_in,
    power,
    powers_rise,
    product,
    root_at_most,
    size_by_squares,
    some_of,
)
from symbolic.sim.sharp import ROOT_2, apart_by, oscillation, root_of_2
from symbolic.sim.stability_facts import logistic_of
from symbolic.softmax_change import at_r, between, k, mean_change, r, t

j = index("j", "D")
P, Q = Letter("p"), Letter("q")


def phi(s: Term) -> Term:
    """Return phi at a number."""
    return number(feature(LETTERS, cast(Numbers, number(s)))).term


def above(s: Term) -> Fact:
    """Return that |s| >= s."""
    return decide(ge(ABS(s), s), *cite(SIZE, (), s))


def below(s: Term) -> Fact:
    """Return that |s| >= -s."""
    return decide(ge(ABS(s), -s), *cite(SIZE, (), s))


def at_most_apart(x: Term, y: Term, order: Fact, side: Fact) -> Fact:
    """Return that |y| <= |x| + d, as y is x + d or x - d with d >= 0.

    Args:
        x: a number.
        y: the other one.
        order: that d is at least 0.
        side: that |x| is at least x, or at least -x for x - d.
    """
    size, whole = cite(SIZE, (), x)
    right = ABS(x) + order.proposition.term
    large = decide(ge(right, 0), size, order)
    square = decide(ge(right**2, y**2), side, order, whole)
    return size_by_squares(y, large, square)


def grows(low: Term, high: Term, order: Fact) -> tuple[Fact, Fact]:
    """Return that phi(low) <= phi(high) <= exp(high - low) phi(low), as high >= low.

    phi(s) is max(s, 0) + exp(min(s, 0)), and both the maximum and the minimum increase with s.
    """
    up_low, down_low, down = (low + ABS(low)) / 2, (low - ABS(low)) / 2, (high - ABS(high)) / 2
    low_below, high_above = below(low), above(high)
    lifted = at_most_apart(high, low, order, below(high))
    lifted = decide(ge((high + ABS(high)) / 2, up_low), lifted)
    risen = decide(ge(down, down_low), at_most_apart(low, high, order, above(low)))
    more = decide(ge(phi(high), phi(low)), lifted, powers_rise(down_low, down, risen))
    lift, rise = lifted.proposition.term, risen.proposition.term
    (law,) = cite(EXPONENTIAL_OF_SUM, (), lift, rise)
    (fall,) = cite(EXPONENTIAL_OF_SUM, (), down_low, rise)
    up_positive = decide(ge(up_low, 0), low_below)
    grown = decide(ge(EXP(rise), 1), cite(EXPONENTIAL, (), rise)[1], risen)
    part = EXP(rise) * up_low + EXP(down)
    part_positive = decide(ge(part, 0), power(rise), up_positive, power(down))
    parts = [
        product(cite(EXPONENTIAL, (), lift)[1], part_positive),
        product(decide(ge(1 + lift, 0), lifted), product(up_positive, grown)),
        product(lifted, cite(EXPONENTIAL, (), down)[1]),
        product(up_positive, decide(ge(-down, 0), high_above)),
        product(up_positive, lifted),
    ]
    less = decide(
        ge(EXP(high - low) * phi(low), phi(high)),
        *(scale(law, phi(low)), scale(fall, EXP(lift)), *parts, cite(SIZE, (), high)[1]),
        degree=1,
    )
    return more, less


@dataclass(frozen=True, slots=True)
class Features:
    """The logarithm of phi."""

    log: Function  # the function psi = ln phi
    known: Fact  # that exp(psi(p)) = phi(p)
    steady: Fact  # that (psi(p) - psi(q))^2 <= (p - q)^2

    def power(self, s: Term) -> Fact:
        """Return that exp(psi(s)) = phi(s)."""
        return at(self.known, {P: s})

    def change(self, a: Term, b: Term) -> Fact:
        """Return that (psi(a) - psi(b))^2 <= (a - b)^2."""
        return at(self.steady, {P: a, Q: b})


def features() -> Features:
    """Return facts on ln phi."""
    p, q, hole = P.term, Q.term, Letter("hole")
    log, meaning = define("ln phi", [P], LOG(phi(p)))
    positive = decide(gt(phi(p), 0), below(p), power((p - ABS(p)) / 2))
    (whole,) = cite(LOGARITHM, [positive], phi(p))
    same = inside(meaning, log(p), LOG(phi(p)), EXP(hole.term), hole)
    known = decide(eq(EXP(log(p)), phi(p)), same, whole)
    condition, goal = ge(p, q), ge((p - q) ** 2, (log(p) - log(q)) ** 2)
    powers = {s: at(known, {P: s}) for s in (p, q)}

    def side(low: Term, high: Term, order: Fact) -> Fact:
        more, less = grows(low, high, order)
        up = decide(ge(EXP(log(high)), EXP(log(low))), more, *powers.values())
        (law,) = cite(EXPONENTIAL_OF_SUM, (), log(low), high - low)
        down = decide(
            ge(EXP(log(low) + high - low), EXP(log(high))),
            *(law, less, powers[high], scale(powers[low], EXP(high - low))),
        )
        return decide(
            goal,
            exponents_rise(log(low), log(high), up),
            exponents_rise(log(high), log(low) + high - low, down),
        )

    other = assume(condition.denied())
    steady = cases(side(q, p, assume(condition)), side(p, q, decide(ge(q, p), other)), condition)
    return Features(log, known, note("|ln phi(p) - ln phi(q)| <= |p - q|", steady))


def key(v: Values, token: Letter, feature_: Letter) -> Term:
    """Return an entry of the keys."""
    return v.A.entry((token.term,), (feature_.term,))


SAID = LINEAR, "sharp-1"
"""The reading that gives the letters of all facts; `sharp-2` has the same letters."""


def columns(
    v: Values, one: Features, wide: Fact, positive: Fact, unit: tuple[Fact, Fact]
) -> tuple[Term, Fact]:
    """Return the mean of h in column k, and a bound of the range of these means.

    Args:
        v: the letters.
        one: facts on ln phi.
        wide: that K is at least the distance of the rows t and r of the keys.
        positive: that K is at least 0.
        unit: that sqrt 2 is at least 0, and that its square is 2.
    """
    entry, other = key(v, t, k), key(v, r, k)
    logs, K = one.log(entry) - one.log(other), positive.proposition.term
    distance, whole = length(entry - other, k)
    less = add_up(one.change(entry, other), k)
    small = decide(ge(distance.proposition.term**2, total(logs**2, k)), less, whole)
    near = root_at_most(distance, length(logs, k), small)
    spans = decide(
        ge(ROOT_2 * K, logs - at_r(logs, k, j)),
        *(apart_by(logs, *unit, k, j), unit[0], near, wide),
    )
    at_x, at_y = (one.log(key(v, t, feature_)) for feature_ in (k, j))
    w = between(at_x, at_y, spans, product(unit[0], positive), some_of(*SAID, "n"))
    h = v.h.entry((t.term,))
    change = mean_change(w, h)
    first, second = (total(x * h, t) for x in (w.end_x, w.end_y))
    bound = change.proposition.term + ABS(first - second)
    rise = decide(ge(bound, first - second), change, above(first - second))
    return first, oscillation(rise, first, some_of(*SAID, "D"), k, j)


def score(v: Values, one: Features, point: Term) -> tuple[Term, Term, Fact]:
    """Return the logits of features at a point, the score of the formula, and how they agree.

    The fact says that the score is the mean, by softmax over features, of the means of columns.
    """
    h, entry, log = v.h.entry((t.term,)), key(v, t, k), one.log(point)
    powers, weight = EXP(one.log(entry)), phi(entry) * phi(point)
    column, mean = total(powers, t), total(powers * h, t)
    positive = add_up(power(one.log(entry)), t, None, some_of(*SAID, "n"))
    inverse, _ = cite(RECIPROCAL, [positive], column)
    (log_column,) = cite(LOGARITHM, [positive], column)
    logit = log + LOG(column)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), log, LOG(column))
    of_h, of_one = (add_up(scale(one.power(entry), x), t) for x in (h, 1))
    at_point = one.power(point)
    factor = decide(
        eq(EXP(logit), phi(point) * column),
        *(law, scale(at_point, EXP(LOG(column))), scale(log_column, phi(point))),
    )
    of_score = decide(
        eq(EXP(logit) * INV(column) * mean, total(weight * h, t)),
        *(scale(factor, INV(column) * mean), scale(inverse, phi(point) * mean)),
        scale(of_h, phi(point)),
    )
    of_weight = decide(eq(EXP(logit), total(weight, t)), factor, scale(of_one, phi(point)))
    averaged, top = EXP(logit) * INV(column) * mean, total(total(weight, k) * h, t)
    whole, divisor = total(EXP(logit), k), total(total(weight, k), t)
    upper = decide(eq(total(averaged, k), top), add_up(of_score, k), exchange(weight * h, k, t))
    lower = decide(eq(whole, divisor), add_up(of_weight, k), exchange(weight, k, t))
    hole = Letter("hole")
    under = inside(lower, whole, divisor, INV(hole.term), hole)
    same = decide(
        eq(total(averaged, k) * INV(whole), top * INV(divisor)),
        *(scale(upper, INV(whole)), scale(under, top)),
    )
    return logit, top * INV(divisor), same


def score_change(
    v: Values, wide: Fact, positive: Fact, unit: tuple[Fact, Fact]
) -> tuple[tuple[Term, Term], Fact]:
    """Return the scores at x and y, and that they are at most osc(h) K ||x - y||/8 apart."""
    x, y = (point.entry((k.term,)) for point in (v.x, v.y))
    one = features()
    value, range_ = columns(v, one, wide, positive, unit)
    at_x, at_y = (score(v, one, point) for point in (x, y))
    apart, (distance, whole) = one.log(x) - one.log(y), length(x - y, k)
    D = distance.proposition.term
    small = decide(ge(D**2, total(apart**2, k)), add_up(one.change(x, y), k), whole)
    near = root_at_most(distance, length(apart, k), small)
    spans = decide(
        ge(ROOT_2 * D, apart - at_r(apart, k, j)),
        *(apart_by(apart, *unit, k, j), unit[0], near),
    )
    step = product(unit[0], distance)
    w = between(at_x[0], at_y[0], spans, step, some_of(*SAID, "D"), k, j)
    means = total(w.end_x * value, k) - total(w.end_y * value, k)
    scores, hole = at_x[1] - at_y[1], Letter("hole")
    sizes = inside(decide(eq(means, scores), at_x[2], at_y[2]), means, scores, ABS(hole.term), hole)
    h = v.h.entry((t.term,))
    bound = (most(h, t) - least(h, t)) * positive.proposition.term * D
    parts = mean_change(w, value), sizes, product(range_, step), scale(unit[1], bound)
    return (at_x[1], at_y[1]), decide(ge(bound / 8, ABS(scores)), *parts)


def loss_change(b: Term, scores: tuple[Term, Term], fact: Fact) -> Fact:
    """Return that |g(b u) - g(b w)| <= |b| c/4 for scores u and w, as |u - w| <= c."""
    label, u, w, c = (Letter(name) for name in ("label", "u", "w", "c"))
    first, second = scores
    close = assume(ge(c.term, ABS(u.term - w.term)))
    general = logistic_of(label.term, u.term, w.term, close)
    bound = fact.proposition.term + ABS(first - second)
    return cut(at(general, {label: b, u: first, w: second, c: bound}), fact)


def diameter_by_norm(v: Values, unit: tuple[Fact, Fact]) -> Fact:
    """Return that no distance of two rows is above sqrt 2 ||A||.

    z = a_t - a_r has ||z||^2 = (A z)_t - (A z)_r <= sqrt 2 ||A z|| <= sqrt 2 ||A|| ||z||.
    """
    s, q = index("s", "n"), index("q", "n")
    z, row = key(v, t, k) - key(v, r, k), key(v, s, k)
    moved = total(row * z, k)
    size, turned = image(row, s, k, z)
    rows, square = length(z, k)
    S, d = size.proposition.term, rows.proposition.term
    small = decide(ge((S * d) ** 2, total(moved**2, s)), turned, scale(square, S**2))
    short = root_at_most(product(size, rows), length(moved, s), small)
    apart = at(apart_by(moved, *unit, s, q), {s: t, q: r})
    return decide(ge(ROOT_2 * S, d), apart, unit[0], short, square, product(unit[0], size))


@linked
def prove() -> str:
    """Prove the bounds by osc(h) diam(A)/32, and by ||A|| ||h||/16, which is no less."""
    v, unit, some = letters_in(*SAID), root_of_2(), some_of(*SAID, "n")
    rows, _ = length(key(v, t, k) - key(v, r, k), k)
    d, h, b = rows.proposition.term, v.h.entry((t.term,)), v.b.term
    inner = most(d, r)
    diameter = most(inner, t)
    wide = decide(ge(diameter, d), beyond("most", d, r), beyond("most", inner, t))
    positive = decide(ge(diameter, 0), wide, rows, some)
    fact = loss_change(b, *score_change(v, wide, positive, unit))
    end(*SAID, by=[note("the loss changes by at most |b| osc(h) diam(A)/32 ||x - y||", fact)])
    by_norm = diameter_by_norm(v, unit)
    by_norm = bounds(bounds(by_norm, "most", d, r, some), "most", inner, t, some)
    S = spectral(key(v, t, k), t, k)
    norm, _ = length(h, t)
    spread = oscillation(apart_by(h, *unit), h, some)
    size, _ = cite(SIZE, (), b)
    distance, _ = length((v.x - v.y).entry((k.term,)), k)
    head = product(unit[0], norm)
    both = product(spread, positive), product(head, by_norm)
    H = norm.proposition.term
    larger = decide(
        ge(2 * H * S, (most(h, t) - least(h, t)) * diameter), *both, scale(unit[1], H * S)
    )
    (conclusion,) = conclusion_of(formula_of(LINEAR, "sharp-2")).sequents
    more = product(size, distance, larger)
    end(LINEAR, "sharp-2", by=[decide(conclusion.proposition, fact, more, degree=1)])
    return "ln phi is 1-Lipschitz, and means by softmax move by a quarter of the ranges"

"""Lemma 3.13 for the squared loss by linked facts: the curvature of (<f, h> - b)^2 in the logits.

Let w = max h - min h and r = max |h - b|. The height of two tokens is

    H(a, W) = (1-a^2) W ((r - W/2) a + W (1-3a^2)/4)

if their values are W apart and one of them is r from b. The curvature is at most osc(u)^2/2 times
the largest H(a, w): docs/proofs/squared_loss.md has the proof.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attsvm.theory import gradient
from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, Sequent, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL, ROOT, SIZE
from attsvm.theory.proof.linked import conclusion_of, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    inside,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    INV,
    SQRT,
    Letter,
    Term,
    as_term,
    least,
    most,
    substituted,
    total,
)
from attsvm.theory.types import Namespace, Numbers, Values
from properties.sim import lemma_3_13_l2
from properties.sim._support import entry_loss
from symbolic.curvature_facts import (
    SIDE,
    Direction,
    Limits,
    Shares,
    a,
    bound_of,
    named,
    of_shares,
    shares,
)
from symbolic.facts import end, formula_of, letters_in, product, size_at_most, some_of
from symbolic.sim.gradient_change import Weights, direction, forms, gradient_change
from symbolic.sim.lemma_3_13_facts import on_the_way
from symbolic.sim.sharp import ROOT_2, root_of_2
from symbolic.sim.stability_facts import span_by_norm
from symbolic.softmax_change import k, t

SIGN, WIDTH = Letter("sign"), Letter("width")
"""1 for a bound of the curvature from above, -1 for one from below; the W of H(a, W)."""
T, SHARE, MIDDLE = Letter("T"), Letter("m"), Letter("g")
"""T, the mean of the shares; m, a part of T; g, the middle of the interval minus b, or its
negative."""
N = 1 - a.term**2


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval of the values h."""

    h: Term  # the value of a token
    b: Term  # the label
    w: Term  # a name for max h - min h
    far: Term  # a name for r - w/2
    kappa: Term  # the bound of the curvature
    low: Fact  # that h is at least the least h
    high: Fact  # that h is at most w more
    wide: Fact  # that w is at least 0
    near: tuple[Fact, Fact]  # that r is at least h - b, and at least b - h
    # that r - w/2 is at least the middle of the interval less b, and at least b less it
    middle: tuple[Fact, Fact]
    height: Fact  # that kappa is at least H(a, w)

    reach: Fact  # that r - w/2 is at least 0

    def at(self, place: Term) -> Fact:
        """Return the bound H(a, w) at a rational number a from 0 to 1."""
        return cut(at(self.height, {a: place}), decide(ge(place, 0)), decide(ge(1, place)))


@dataclass(frozen=True, slots=True)
class Ends:
    """The numbers w and r - w/2."""

    w: Term  # w, far: names for them
    far: Term
    means: tuple[Fact, Fact]  # the definitions of these names
    wide: Fact  # that w is at least 0
    reach: Fact  # that r - w/2 is at least 0


Largest = Callable[[Ends], tuple[Term, Fact]]
"""A function that returns a number kappa, and that it is at least H(a, w) for all a from 0 to 1."""


def height(e: Ends) -> Term:
    """Return H(a, w)."""
    return N * e.w * (e.far * a.term + e.w * (1 - 3 * a.term**2) / 4)


def by_setting(v: Values, settings: Mapping[str, Sequent]) -> Largest:
    """Return k(w, r), by the setting of its reading, as the bound of the heights."""

    def largest(e: Ends) -> tuple[Term, Fact]:
        sizes = LETTERS.oscillation(v.h), LETTERS.largest(v.h - v.b)
        kappa = entry_loss.squared_constant(LETTERS, *sizes).term
        (above,) = (setting(settings, x) for x in settings if x.endswith("at least each height"))
        return kappa, by_definition(ge(kappa, height(e)), e.means, above)

    return largest


def middle_bound(e: Ends, h: Term, b: Term, some: Fact) -> tuple[Term, Fact]:
    """Return m = |mu| for the middle mu of the values, and that r - w/2 is at most m + |b|."""
    mu = (least(h, t) + most(h, t)) / 2
    m, bound = ABS(mu), e.w / 2 + ABS(mu) + ABS(b)
    (up, down), (b_up, b_down) = both_signs(mu), both_signs(b)
    ends = (
        decide(ge(bound, h - b), beyond("most", h, t), e.means[0], up, b_down),
        decide(ge(bound, b - h), beyond("least", h, t), e.means[0], down, b_up),
    )
    reach = bounds(size_at_most(*ends, h - b, bound), "most", ABS(h - b), t, some)
    return m, decide(ge(m + ABS(b) - e.far, 0), reach, *e.means)


def both_signs(x: Term) -> tuple[Fact, Fact]:
    """Return that |x| is at least x, and at least -x."""
    size, size_square = cite(SIZE, (), x)
    up, down = (decide(ge(ABS(x), y), size, size_square) for y in (x, -x))
    return up, down


def extremes(h: Term, some: Fact, wide: Fact) -> Fact:
    """Return that sum h^2 >= (max h)^2 + (min h)^2, as max h > min h.

    With the share I = (h - min h)/(max h - min h) h^2 is at least (h I)^2 + (h (1-I))^2. The first
    square is (max h)^2 at the largest value, and the second one is (min h)^2 at the least.
    """
    low, top, hole = least(h, t), most(h, t), Letter("hole")
    W, over = top - low, INV(top - low)
    unit, _ = cite(RECIPROCAL, [wide], W)
    rise = decide(ge(h - low, 0), beyond("least", h, t))
    fall = decide(ge(top - h, 0), beyond("most", h, t))
    spread = product(square(h * over), rise, fall)
    u, v = h * (h - low) * over, h * (top - h) * over
    each = decide(ge(h**2, u**2 + v**2), spread, scale(unit, h**2 * (W * over + 1)), degree=1)
    ends = []
    for name, value, part in (("top", top, u), ("bottom", low, v)):
        place, reached = attained(name, value, some)
        x = hole.term
        form = (x * ((x - low) if name == "top" else (top - x)) * over) ** 2
        same = inside(reached, substituted(h, {t: place()}), value, form, hole)
        own = at(one_of_sum(square(part), t), {t: place()})
        whole = scale(unit, value**2 * (W * over + 1))
        ends.append(decide(ge(total(part**2, t), value**2), own, same, whole, degree=1))
    return decide(ge(total(h**2, t), top**2 + low**2), add_up(each, t), *ends)


def by_norms(v: Values, settings: Mapping[str, Sequent], some: Fact) -> Largest:
    """Return ||h||^2 c(|b|/||h||), by the setting of its reading, as the bound of the heights.

    For w > 0 it is at least the height at a and w/(sqrt 2 ||h||).
    """
    h, b = v.h.entry((t.term,)), v.b.term
    s = total(h**2, t)
    kappa = entry_loss.normed_constant(LETTERS, LETTERS.dot(v.h, v.h), LETTERS.abs(v.b)).term
    (above,) = (setting(settings, x) for x in settings if x.endswith("at least each height"))

    def largest(e: Ends) -> tuple[Term, Fact]:
        w, x, c, low, top = e.w, a.term, Letter("c"), least(h, t), most(h, t)
        goal, condition = ge(kappa, height(e)), gt(w, 0)
        yes, no = assume(condition), assume(condition.denied())
        m, far = middle_bound(e, h, b, some)
        around = extremes(h, some, decide(gt(top - low, 0), yes, e.means[0]))
        size_square = cite(SIZE, (), (low + top) / 2)[1]
        round_ = decide(
            ge(s, w**2 / 2 + 2 * m**2),
            *(around, size_square, scale(e.means[0], w + top - low)),
        )
        full = decide(gt(2 * s, 0), round_, yes, square(m))
        root, whole = cite(ROOT, [decide(ge(2 * s, 0), full)], 2 * s)
        S = root.proposition.term
        unit, over = cite(RECIPROCAL, [decide(gt(S, 0), root, whole, full)], S)
        place = w * INV(S)
        short = decide(ge(S, w), root, whole, round_, square(m))
        ends = product(e.wide, over), decide(ge(1, place), product(over, short), unit)
        own = cut(at(above, {c: place}), *ends)
        flat = decide(ge(1 - place**2, 0), *ends)
        side, side_square = cite(ROOT, [flat], 1 - place**2)
        T_ = side.proposition.term
        # S T/2 is at least m
        z = S * T_ / 2
        units = scale(unit, w**2 * (S * INV(S) + 1))
        long = decide(ge(z**2, m**2), round_, scale(side_square, S**2), whole, units)
        long = decide(ge(z, m), product(root, side), long)
        # the height
        positive, small = assume(ge(a, 0)), assume(ge(1, a))
        n = decide(ge(N, 0), positive, small)
        part = product(n, positive, e.wide)
        q = N * x * w
        values = (
            scale(unit, q * ABS(b)),
            scale(whole, INV(S) * q * T_ / 2 + N * (1 - 3 * x**2) * place**2 / 4),
            scale(unit, S * q * T_ / 2 + N * (1 - 3 * x**2) * w**2 * (S * INV(S) + 1) / 4),
        )
        spare = product(part, far), product(part, decide(ge(z - m, 0), long))
        first = decide(goal, own, *spare, *values, degree=1)
        nothing = decide(ge(0, 0)), decide(ge(1, 0))
        zero = cut(at(above, {c: as_term(0)}), *nothing)
        none = decide(eq(w, 0), e.wide, no)
        second = decide(goal, zero, scale(none, N * (e.far * x + w * (1 - 3 * x**2) / 4)), degree=1)
        return kappa, cases(first, second, condition)

    return largest


def interval(v: Values, some: Fact, largest: Largest) -> Interval:
    """Return the interval of the values h."""
    h, b = v.h.entry((t.term,)), v.b.term
    range_, reach = LETTERS.oscillation(v.h), LETTERS.largest(v.h - v.b)
    r, lowest = reach.term, least(h, t)
    (w, w_means), (far, far_means) = named("w", range_.term), named("far", r - range_.term / 2)
    low, top = beyond("least", h, t), beyond("most", h, t)
    high = decide(ge(lowest + w - h, 0), top, w_means)
    size, size_square = cite(SIZE, (), h - b)
    most_ = beyond("most", ABS(h - b), t)
    near = [decide(ge(r, x), most_, size, size_square) for x in (h - b, b - h)]
    above = bounds(near[0], "most", h, t, some)
    below = bounds(near[1], "least", h, t, some)
    middle = lowest + w / 2 - b
    parts = w_means, far_means
    reached = [
        decide(ge(far + w / 2, x), fact, *parts)
        for x, fact in zip((h - b, b - h), near, strict=True)
    ]
    wide = decide(ge(w, 0), low, high, some)
    ends = (
        decide(ge(far, middle), above, *parts),
        decide(ge(far, -middle), below, *parts),
    )
    e = Ends(w, far, parts, wide, decide(ge(far, 0), *ends))
    kappa, own = largest(e)
    return Interval(
        *(h, b, w, far, kappa, low, high, wide),
        *((reached[0], reached[1]), ends, own, e.reach),
    )


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions of the bounds of H(a, W): a is from 0 to 1, and W from 0 to w."""

    a: tuple[Fact, Fact]  # that a is at least 0, and at most 1
    width: tuple[Fact, Fact]  # that W is at least 0, and at most w
    flat: Fact  # that 1 - a^2 is at least 0


def assumed(s: Interval) -> Assumed:
    """Return the assumptions of the bounds of H(a, W)."""
    in_a = assume(ge(a, 0)), assume(ge(1, a))
    width = assume(ge(WIDTH, 0)), assume(ge(s.w, WIDTH))
    return Assumed(in_a, width, decide(ge(N, 0), *in_a))


def third(s: Interval) -> Fact:
    """Return that kappa is at least 8 w r/27, which is H(1/3, w)."""
    return s.at(as_term(1) / 3)


def shorter(s: Interval, known: Assumed) -> Fact:
    """Return that kappa is at least H(a, W) = (1-a^2) (r a W - c W^2), c = (1+a)(3a-1)/4.

    H(a, w) - H(a, W) is (1-a^2)(w-W)(r a - (w+W) c). If r a < (w+W) c, then r a < 2 w c, and
    r a W - c W^2 is at most r a w/2. This is enough: a (1-a^2) <= 16/27.
    """
    x, W, w, r = a.term, WIDTH.term, s.w, s.far + s.w / 2
    (positive, _), (some, less), n = known.a, known.width, known.flat
    c = (1 + x) * (3 * x - 1) / 4
    goal = ge(s.kappa, N * W * ((r - W / 2) * x + W * (1 - 3 * x**2) / 4))
    condition = ge(r * x - (w + W) * c, 0)
    yes, no = assume(condition), assume(condition.denied())
    first = decide(goal, s.height, product(n, less, yes), degree=1)
    reach = decide(ge(r, 0), s.reach, s.wide)
    level = product(reach, positive)
    bent = decide(gt(c, 0), no, level, s.wide, some)
    steep = decide(gt(2 * w * c - r * x, 0), no, bent, less)
    wide = decide(gt(w, 0), steep, level, bent)
    room = r * x * w / 2 - r * x * W + c * W**2
    scaled = product(square(W), steep), product(level, square(w - W))
    rest = decide(ge(room, 0), *scaled, wide)
    cube = product(square(x - as_term(1) / 2), positive)
    low = decide(ge(as_term(16) / 27 - x * N, 0), cube, square(x - as_term(5) / 8), degree=1)
    second = decide(goal, third(s), product(s.wide, reach, low), n, rest)
    return cases(first, second, condition)


def reflected(s: Interval, known: Assumed, within: Fact) -> Fact:
    """Return that kappa is at least (1-a^2) W ((r - W/2) a + W (3a^2-1)/4).

    Up to a = 1/sqrt 3 this is at most H(a, W), and beyond at most H(2/sqrt 3 - a, W).
    """
    x, W, rho = a.term, WIDTH.term, s.far + s.w / 2 - WIDTH.term / 2
    (positive, small), (some, less), n = known.a, known.width, known.flat
    root, whole = cite(ROOT, [decide(ge(3, 0))], as_term(3))
    R = root.proposition.term
    unit, above = cite(RECIPROCAL, [decide(gt(R, 0), root, whole)], R)
    o = INV(R)
    of_third = decide(eq(3 * o**2, 1), scale(whole, o**2), scale(unit, R * o + 1))
    goal = ge(s.kappa, N * W * (rho * x + W * (3 * x**2 - 1) / 4))
    condition = ge(o - x, 0)
    yes, no = assume(condition), assume(condition.denied())
    spare = decide(
        ge(1 - 3 * x**2, 0), product(yes, decide(ge(o + x, 0), positive, above)), of_third
    )
    first = decide(goal, within, product(n, square(W), spare), degree=1)
    far, place = x - o, 2 * o - x
    ends = (
        decide(ge(place, 0), of_third, above, small),
        decide(ge(1, place), of_third, no),
    )
    other = cut(at(within, {a: place}), *ends)
    rho_ = decide(ge(rho, 0), s.reach, less)
    cube = product(some, rho_, no, square(far))
    change = 2 * far * W * rho + W**2 * (6 * far**2 + o**2 - 1) / 2
    second = decide(
        goal,
        *(other, cube, product(square(W), square(far)), product(square(W), square(far**2))),
        scale(of_third, change),
        degree=1,
    )
    return cases(first, second, condition)


@dataclass(frozen=True, slots=True)
class Placed:
    """Assumptions of `of_mean`."""

    rest: Fact  # that 1 - T is at least 0
    part: Fact  # that m is at least 0
    below: Fact  # that T - m is at least 0
    middle: Fact  # that r - w/2 - g is at least 0
    signs: tuple[Fact, Fact]  # that 1 + sign and 1 - sign are at least 0
    above: Fact  # that the residual g + sign w (T - 1/2) is at least 0


def of_mean(s: Interval) -> Fact:
    """Prove that kappa bounds 4 w (1-T) m (M (1-2m) + sign w (1-T) m).

    This holds if 0 <= m <= T <= 1 and M >= 0, where M = g + sign w (T - 1/2) for some g of at most
    r - w/2, and the sign is from -1 to 1. With a = 1 - 2m and W = w (1-T)/(1-m) the bounded term is
    that of `shorter` or, for the sign -1, of `reflected`, if a is at least 0.
    """
    T_, m, g, sign, w = T.term, SHARE.term, MIDDLE.term, SIGN.term, s.w
    half, x = as_term(1) / 2, 1 - 2 * m
    M = g + sign * w * (T_ - half)
    u = Placed(
        assume(ge(1 - T_, 0)),
        assume(ge(m, 0)),
        assume(ge(T_ - m, 0)),
        assume(ge(s.far - g, 0)),
        (assume(ge(1 + sign, 0)), assume(ge(1 - sign, 0))),
        assume(ge(M, 0)),
    )
    goal = ge(s.kappa, 4 * w * (1 - T_) * m * (M * x + sign * w * (1 - T_) * m))
    condition = ge(x, 0)
    yes, no = assume(condition), assume(condition.denied())
    ends = _ahead(s, u, yes)
    first = decide(
        goal, *(product(z, end_) for z, end_ in zip(u.signs, ends, strict=True)), degree=1
    )
    # the second part alone, if a < 0
    back, low = decide(ge(-x, 0), no), (1 - T_) * m
    some = product(u.rest, u.part)
    short = product(u.rest, u.below), square(T_ - half)
    small = decide(ge(half / 8 - low**2, 0), some, *short)
    parts = (
        *(s.at(as_term(0)), product(square(w), small), product(u.signs[1], square(w * low))),
        product(u.above, s.wide, some, back),
    )
    return cases(first, decide(goal, *parts, degree=1), condition)


def _ahead(s: Interval, u: Placed, ahead: Fact) -> tuple[Fact, Fact]:
    """Return `of_mean` for the signs 1 and -1, if a = 1 - 2m is at least 0."""
    T_, m, g, w = T.term, SHARE.term, MIDDLE.term, s.w
    half, x = as_term(1) / 2, 1 - 2 * m
    known = assumed(s)
    within = shorter(s, known)
    bounds_ = within, reflected(s, known, within)
    condition = gt(1 - m, 0)
    open_, shut = assume(condition), assume(condition.denied())
    unit, over = cite(RECIPROCAL, [open_], 1 - m)
    W, meaning = named("width", w * (1 - T_) * INV(1 - m))
    some = decide(ge(W, 0), product(s.wide, u.rest, over), meaning)
    parts = product(s.wide, u.below, over), scale(unit, w), meaning
    less = decide(ge(w, W), *parts, degree=1)
    same = decide(eq(W * (1 - m), w * (1 - T_)), scale(meaning, 1 - m), scale(unit, w * (1 - T_)))
    small, left = decide(ge(1, x), u.part), decide(ge(1 - m, 0), open_)
    near, gap = (
        product(u.part, left, some, ahead, u.middle),
        product(u.part, left, some, ahead, less),
    )
    gone = decide(eq(1 - T_, 0), u.rest, u.below, shut)
    y, z, ends = W * (1 - m), w * (1 - T_), []
    for sign, bound, spare in zip((1, -1), bounds_, ((near,), (near, gap)), strict=True):
        inner = (g + sign * w * (T_ - half)) * x + sign * w * (1 - T_) * m
        goal = ge(s.kappa, 4 * w * (1 - T_) * m * inner)
        own = cut(at(bound, {a: x, WIDTH: W}), ahead, small, some, less)
        change = 4 * m * ((g + sign * w / 2) * x + sign * (m - x) * (y + z))
        open_end = decide(goal, own, *spare, scale(same, change), degree=1)
        shut_end = decide(goal, s.at(as_term(1)), scale(gone, 4 * w * m * inner), degree=1)
        ends.append(cases(open_end, shut_end, condition))
    return ends[0], ends[1]


@dataclass(frozen=True, slots=True)
class SquaredLoss:
    """The loss (<f, h> - b)^2 on the way from y to x, a `Curved` one."""

    interval: Interval  # the interval of the values h
    residual: Term  # <f, h> - b, with a name for attention
    means: tuple[Fact, ...] = ()  # empty, as no name stands for a derivative

    @property
    def e(self) -> Term:
        """The values."""
        return self.interval.h

    @property
    def kappa(self) -> Term:
        """The bound of the curvature."""
        return self.interval.kappa

    @property
    def slope(self) -> Term:
        """The derivative."""
        return 2 * self.residual

    @property
    def bend(self) -> Term:
        """The second derivative."""
        return as_term(2)

    def positive(self) -> Fact:
        """Return that kappa is at least 0."""
        return self.interval.at(as_term(1))

    def curved(self, w: Weights, u: Term) -> list[Fact]:
        """Return kappa (max u - min u)^2 >= 2 sign (phi' X + phi'' Y^2), for both signs."""
        course, means = direction(w, u)
        f, e, mean, e_mean = w.f, self.e, total(w.f * u, t), total(w.f * self.e, t)
        third, cov = forms(f, e, u, u)
        spread, own = total(f * (u - mean) ** 2, t), total(f * e * (u - mean), t)
        X, whole = total(f * e * (u - mean) ** 2, t) - spread * e_mean, most(u, t) - least(u, t)
        left, results = self.kappa * whole**2, []
        for sign, end_ in zip((1, -1), of_residual(self, w, course), strict=True):
            claim = ge(left, 4 * sign * (self.residual * X + own**2))
            fact = by_definition(claim, means, end_)
            goal = ge(left, 2 * sign * (self.slope * third + self.bend * cov**2))
            more = scale(w.one, self.residual * mean**2 * e_mean)
            results.append(decide(goal, fact, more, degree=1))
        return results


@dataclass(frozen=True, slots=True)
class Turned:
    """The residual M = sign side (<f, h> - b), which is assumed to be at least 0."""

    g: Term  # the middle of the interval less b, times sign and side
    signs: tuple[Fact, Fact]  # that 1 + sign and 1 - sign are at least 0
    within: Fact  # that r - w/2 is at least g
    above: Fact  # that M, as g + sign w (T - 1/2), is at least 0. T is the mean of I, or of 1 - I.
    same: Fact  # that both forms of M are equal
    below: Fact  # that r is at least M


def turned(loss: SquaredLoss, w: Weights, part: Shares) -> Turned:
    """Return the residual M, as `SIGN` and `SIDE` are from -1 to 1."""
    s, sign, side, half, f = loss.interval, SIGN.term, SIDE.term, as_term(1) / 2, w.f
    turn, lowest, (up, down) = sign * side, least(s.h, t), part.sides
    plus, minus = assume(ge(1 + sign, 0)), assume(ge(1 - sign, 0))
    to = decide(ge(1 + turn, 0), product(plus, up), product(minus, down), degree=1)
    away = decide(ge(1 - turn, 0), product(plus, down), product(minus, up), degree=1)
    g, r = turn * (lowest + s.w / 2 - s.b), s.far + s.w / 2
    middle = product(to, s.middle[0]), product(away, s.middle[1])
    means = [
        decide(ge(r, z), add_up(product(w.positive, fact), t), scale(w.one, r + x), degree=1)
        for z, x, fact in zip((loss.residual, -loss.residual), (s.b, -s.b), s.near, strict=True)
    ]
    near = product(to, means[0]), product(away, means[1])
    share = total(f * part.low.proposition.term, t)
    M = turn * loss.residual
    sums = (
        scale(add_up(scale(part.meaning, f), t), sign * s.w),
        scale(add_up(scale(part.whole, f), t), turn),
    )
    one = scale(w.one, turn * (s.w / 2 + lowest) - sign * s.w / 2)
    same = decide(eq(M, g + sign * s.w * (share - half)), *sums, one, degree=1)
    return Turned(
        g,
        (plus, minus),
        decide(ge(s.far, g), *middle, degree=1),
        decide(ge(g + sign * s.w * (share - half), 0), assume(ge(M, 0)), same),
        same,
        decide(ge(r, M), *near, degree=1),
    )


def limits(loss: SquaredLoss, w: Weights, part: Shares) -> tuple[Limits, Fact]:
    """Return p = 2 w M and q = 2 sign w^2 with their bounds, and the definition of p."""
    s, sign, u, lemma = loss.interval, SIGN.term, turned(loss, w, part), of_mean(loss.interval)
    M = sign * SIDE.term * loss.residual
    p, p_means = named("p", 2 * s.w * M)
    q = 2 * sign * s.w**2

    def eighth() -> Fact:
        reach = decide(ge(s.far + s.w / 2, 0), s.reach, s.wide)
        parts = product(s.wide, u.below), product(s.wide, reach), p_means
        return decide(ge(s.kappa, p / 8), third(s), *parts, degree=1)

    def mean(share: Fact, rest: Fact, m: Fact, below: Fact) -> Fact:
        T_, m_ = share.proposition.term, m.proposition.term
        own = at(lemma, {T: T_, SHARE: m_, MIDDLE: u.g})
        fact = cut(own, rest, m, below, u.within, *u.signs, u.above)
        factor, x = 2 * (1 - T_) * m_, 1 - 2 * m_
        parts = scale(u.same, 2 * s.w * factor * x), scale(p_means, factor * x)
        goal = ge(s.kappa, factor * (p * x + q * (1 - T_) * m_))
        return decide(goal, fact, *parts, degree=1)

    parts = p_means, scale(u.same, s.w), product(s.wide, u.above)
    positive = decide(ge(p, 0), *parts, degree=1)
    return Limits(s.kappa, positive, q, loss.positive, eighth, mean), p_means


def of_residual(loss: SquaredLoss, w: Weights, u: Direction) -> list[Fact]:
    """Return kappa U^2 >= 4 sign ((<f, h> - b) X + Y^2) for the signs 1 and -1.

    X = E[h (v^2 - E v^2)] and Y = E[h v] for the direction v = u - E u.
    """
    s, f, v, over = loss.interval, w.f, u.v, INV(loss.interval.w)
    part = shares(s.low, s.high)
    known, p_means = limits(loss, w, part)
    both = of_shares(known, u, part.low, part.high)
    both = by_definition(bound_of(known, u, part.turned), [part.meaning], both)
    rise, m, width, lo = s.low.proposition.term, loss.residual, s.w, least(s.h, t)
    first, second, third_ = (total(f * rise * x, t) for x in (as_term(1), v, v**2))
    sums = [add_up(scale(part.whole, f * x), t) for x in (as_term(1), v, v**2)]
    mean, spread, Y = total(f * v, t), total(f * v**2, t), total(f * s.h * v, t)
    X = total(f * s.h * v**2, t) - spread * total(f * s.h, t)
    condition, results = ge(m, 0), []
    numbers = decide(ge(2, 0)), decide(ge(0, 0))
    for sign in (1, -1):
        goal, ends = ge(s.kappa * u.U**2, 4 * sign * (m * X + Y**2)), []
        for turn in (1, -1):
            side, half = sign * turn, (1 - as_term(sign * turn)) / 2
            there = {SIGN: as_term(sign), SIDE: as_term(side)}
            fact = cut(at(both, there), *numbers)
            if turn < 0:
                fact = cut(fact, decide(ge(-m, 0), assume(condition.denied())))
            A = side * over * (third_ - spread * first) + half * spread * (1 - total(f, t))
            moved = 2 * side * over * second + half * mean
            one = 4 * m * spread * (sign * lo - turn * width * half)
            middle = width**2 * half * moved - lo * (2 * Y - lo * mean)
            values = (
                *(scale(at(p_means, there), 2 * A), scale(sums[2], m), scale(sums[0], m * spread)),
                *(scale(sums[1], second + width * over * second), scale(u.one, one)),
                scale(u.centred, middle),
            )
            ends.append(decide(goal, fact, *values, degree=1))
        results.append(cases(ends[0], ends[1], condition))
    return results


def gradients_apart(
    v: Values, some: Fact, largest: Largest, size: Term, span: Callable[[Term], Fact]
) -> Fact:
    """Return ||grad L(x) - grad L(y)|| <= kappa size^2/2 ||x - y|| with a bound kappa of heights.

    Args:
        v: the letters of the reading.
        some: that there is a token.
        largest: the bound.
        size: a number.
        span: for a vector z: that no two entries of A z are further apart than size ||z||.
    """

    def squared(m: Namespace, x: Numbers) -> Numbers:
        return entry_loss.squared_loss(m, v.A, x, v.h, v.b)

    first, second = (number(gradient(LETTERS, squared, x)) for x in (v.x, v.y))
    w, s = on_the_way(v, some), interval(v, some, largest)
    loss = SquaredLoss(s, total(w.f * s.h, t) - s.b)
    (fact,) = gradient_change(v, (first, second), w, loss, [(size, span)])
    return fact


def largest_change() -> None:
    """Prove ||grad L(x) - grad L(y)|| <= ||A||^2 k ||x - y||."""
    statement, reading = lemma_3_13_l2.LEMMA, "sharp"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    settings, root_2 = conclusion_of(formula_of(statement, reading)).setting, root_of_2()
    size, largest = LETTERS.spectral(v.A).term, by_setting(v, settings)
    kappa = entry_loss.squared_constant(
        LETTERS, LETTERS.oscillation(v.h), LETTERS.largest(v.h - v.b)
    ).term
    fact = gradients_apart(v, some, largest, ROOT_2 * size, lambda z: span_by_norm(v, z, root_2))
    (goal,) = conclusion_of(formula_of(statement, reading)).sequents
    apart = SQRT(total((v.x - v.y).entry((k.term,)) ** 2, k))
    half = scale(root_2[1], size**2 * kappa * apart)
    end(statement, reading, by=[decide(goal.proposition, fact, half)])


def normed_change() -> None:
    """Prove ||grad L(x) - grad L(y)|| <= ||A||^2 ||h||^2 c(|b|/||h||) ||x - y||."""
    statement, reading = lemma_3_13_l2.LEMMA, "sharp-2"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    settings, root_2 = conclusion_of(formula_of(statement, reading)).setting, root_of_2()
    size, largest = LETTERS.spectral(v.A).term, by_norms(v, settings, some)
    kappa = entry_loss.normed_constant(LETTERS, LETTERS.dot(v.h, v.h), LETTERS.abs(v.b)).term
    fact = gradients_apart(v, some, largest, ROOT_2 * size, lambda z: span_by_norm(v, z, root_2))
    (goal,) = conclusion_of(formula_of(statement, reading)).sequents
    apart = SQRT(total((v.x - v.y).entry((k.term,)) ** 2, k))
    half = scale(root_2[1], size**2 * kappa * apart)
    end(statement, reading, by=[decide(goal.proposition, fact, half)])

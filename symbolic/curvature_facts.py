"""The bound of the curvature of phi(<softmax(s), h>) in the logits, for any number of tokens.

Let f be weights, E their mean, v = u - E u for a direction u, and e values from lo to lo + w. The
curvature along u is p X + q Y^2 with X = E[e (v^2 - E v^2)] and Y = E[e v]. Let U be at least the
range of u. If kappa >= (1-a^2)/2 (p w a + q w^2 (1-a^2)/4) for all a in [0, 1], the curvature is at
most kappa U^2/2. In docs/proofs/curvature_in_logits.md convexity reduces I = (e - lo)/w to an
indicator. Here I is any number from 0 to 1.

With T = E I, d = E[I v]/(T (1-T)) and v = r - rho, r in [0, U], the mean of r under the weights
f I/T is x = rho + (1-T) d, and under f (1-I)/(1-T) it is y = rho - T d.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from attsvm.theory.proof.facts import Fact, Proposition, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
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
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, Letter, Term, as_term, total
from symbolic.facts import cauchy, product
from symbolic.softmax_change import t

a = Letter("a")


@dataclass(frozen=True, slots=True)
class Heights:
    """A number kappa that is at least (1-a^2)/2 (p a + q (1-a^2)/4) for a from 0 to 1."""

    kappa: Term  # the number
    p: Fact  # that the slope p is at least 0
    q: Fact  # that q is at least 0
    above: Fact  # the bound, under the assumptions a >= 0 and 1 >= a

    def at(self, value: Term, positive: Fact, small: Fact) -> Fact:
        """Return the bound at a value that is from 0 to 1."""
        return cut(at(self.above, {a: value}), positive, small)

    def known(self, share: int) -> Fact:
        """Return the bound at 1 over an integer."""
        place = as_term(1) / share
        return self.at(place, decide(ge(place, 0)), decide(ge(1, place)))

    def limits(self) -> Limits:
        """Return p, q and kappa with the facts about them that `of_shares` needs."""
        q = self.q.proposition.term
        return Limits(
            self.kappa,
            self.p,
            q,
            lambda: self.known(1),
            lambda: decide(
                ge(self.kappa, self.p.proposition.term / 8), self.known(2), self.p, self.q
            ),
            functools.partial(of_mean, self),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """Two numbers p >= 0 and q, and a number kappa that bounds the curvature for them."""

    kappa: Term  # the number
    p: Fact  # that p is at least 0
    q: Term  # the number q
    positive: Callable[[], Fact]  # returns that kappa is at least 0
    eighth: Callable[[], Fact]  # returns that kappa is at least p/8
    # returns the bound of `of_mean` from facts on T and m
    of_mean: Callable[[Fact, Fact, Fact, Fact], Fact]


def of_mean(h: Heights, T: Fact, rest: Fact, m: Fact, below: Fact) -> Fact:
    """Return 2 (1-T) m (p (1-2m) + q (1-T) m) <= kappa for 0 <= m <= T <= 1."""
    x, p, q, T_ = (fact.proposition.term for fact in (m, h.p, h.q, T))
    bracket = p * (1 - 2 * x) + q * (1 - T_) * x
    goal, condition = ge(h.kappa, 2 * (1 - T_) * x * bracket), ge(bracket, 0)
    yes, no = assume(condition), assume(condition.denied())
    one = decide(ge(1 - x, 0), below, rest)
    most = x * (1 - x) * (p * (1 - 2 * x) + q * x * (1 - x))
    less = product(m, yes, below), product(square(x), one, h.q, below)
    low = ge(1 - 2 * x, 0)
    left, right = assume(low), assume(low.denied())
    back = decide(ge(2 * x - 1, 0), right)
    first = h.at(1 - 2 * x, left, decide(ge(1, 1 - 2 * x), m))
    second = h.at(2 * x - 1, back, decide(ge(1, 2 * x - 1), one))
    upper = ge(h.kappa, 2 * most)
    spare = product(h.p, m, one, back)
    upper_ = cases(decide(upper, first), decide(upper, second, spare, degree=1), low)
    never = product(rest, m, decide(ge(-bracket, 0), no))
    last = decide(goal, h.known(1), never, degree=1)
    return cases(decide(goal, upper_, *less), last, condition)


def claim_of_means(p: Term, q: Term, T: Term, U: Term, x: Term, y: Term) -> Term:
    """Return the right side in `of_means`."""
    P = T * (1 - T)
    return 2 * P * (p * x * (U - x) + (p * (1 - 2 * T) + q * P) * (x - y) ** 2)


def of_means(
    h: Limits, T: Fact, rest: Fact, U: Term, x: tuple[Fact, Fact], y: tuple[Fact, Fact]
) -> Fact:
    """Return 2 P (p x (U-x) + B (x-y)^2) <= kappa U^2, P = T (1-T) and B = p (1-2T) + q P.

    Args:
        h: kappa, p and q.
        T: that T is at least 0.
        rest: that 1 - T is at least 0.
        U: a number.
        x: that x and U - x are at least 0.
        y: that y and U - y are at least 0.
    """
    p, q, T_ = h.p.proposition.term, h.q, T.proposition.term
    x_, y_ = x[0].proposition.term, y[0].proposition.term
    P, d = T_ * (1 - T_), x_ - y_
    B = p * (1 - 2 * T_) + q * P
    goal = ge(h.kappa * U**2, claim_of_means(p, q, T_, U, x_, y_))
    condition, area = ge(B, 0), product(T, rest)
    yes, no = assume(condition), assume(condition.denied())
    # if B is negative, its term is at most 0
    parts = (
        product(area, square(d), decide(ge(-B, 0), no)),
        product(h.p, *x, square(as_term(1) / 2 - T_)),
        product(h.p, square(2 * x_ - U)),
        product(square(U), h.eighth()),
    )
    negative = decide(goal, *parts, degree=1)
    # with the larger one of x and U - x in place of x and of |d|
    far = ge(2 * x_ - U, 0)
    right, left = assume(far), assume(far.denied())
    ends = []
    for name, w, spans in (
        ("m", x, ((y[0],), (right, y[1]))),
        ("1-m", x[::-1], ((left, y[0]), (y[1],))),
    ):
        w_ = w[0].proposition.term
        gaps = (decide(ge(w_ - sign * d, 0), *s) for sign, s in zip((1, -1), spans, strict=True))
        level = product(area, yes, decide(ge(w_**2, d**2), *gaps))
        ends.append(decide(goal, level, larger_mean(h, T, rest, U, w, name), degree=1))
    return cases(cases(ends[0], ends[1], far), negative, condition)


def larger_mean(h: Limits, T: Fact, rest: Fact, U: Term, w: tuple[Fact, Fact], name: str) -> Fact:
    """Return 2 P (p w (U-w) + B w^2) <= kappa U^2 for 0 <= w <= U, by m = w T/U."""
    p, q, T_, w_ = h.p.proposition.term, h.q, T.proposition.term, w[0].proposition.term
    P = T_ * (1 - T_)
    left = claim_of_means(p, q, T_, U, w_, as_term(0))
    goal, condition = ge(h.kappa * U**2, left), gt(U, 0)
    yes, no = assume(condition), assume(condition.denied())
    unit, over = cite(RECIPROCAL, [yes], U)
    m, meaning = named(name, w_ * T_ * INV(U))
    positive = decide(ge(m, 0), meaning, product(w[0], T, over))
    parts = product(T, w[1], over), scale(unit, T_), meaning
    small = decide(ge(T_ - m, 0), *parts, degree=1)
    z = w_ * T_
    same = decide(eq(m * U, z), scale(meaning, U), scale(unit, z), degree=1)
    change = 2 * (1 - T_) * (p * U + (q * (1 - T_) - 2 * p) * (z + m * U))
    inside = decide(goal, square(U), h.of_mean(T, rest, positive, small), scale(same, change))
    flat = decide(eq(w_, 0), *w, no)
    none = scale(flat, 2 * P * (p * (U - w_) + (p * (1 - 2 * T_) + q * P) * w_))
    nowhere = decide(goal, square(U), h.positive(), none)
    return cases(inside, nowhere, condition)


def named(name: str, meaning: Term) -> tuple[Term, Fact]:
    """Return a new name for a term, in the letters of the term, and that it equals the term."""
    letters = sorted(meaning.letters, key=repr)
    function, fact = define(name, letters, meaning)
    return function(*letters), fact


def divided(inverse: Fact, unit: Fact, fact: Fact, term: Term) -> Fact:
    """Return that a term is at least 0, as c times it is, for c > 0."""
    return decide(ge(term, 0), inverse, fact, scale(unit, term))


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction u of logits under weights f > 0 of sum 1."""

    f: Fact  # that each weight is above 0
    one: Fact  # that they add up to 1
    v: Term  # u less its mean, a term in t
    centred: Fact  # that the mean of v is 0
    low: Fact  # that v + rho is at least 0
    high: Fact  # that U - v - rho is at least 0
    U: Term  # at least the range of u
    rho: Term  # the mean of u less the least u


def bound_of(h: Limits, u: Direction, share: Term) -> Proposition:
    """Return the claim of `of_shares`."""
    f, p, q = u.f.proposition.term, h.p.proposition.term, h.q
    T, N, Q, V = (total(f * x, t) for x in (share, share * u.v, share * u.v**2, u.v**2))
    whole = h.kappa * u.U**2
    return ge(whole, 2 * (p * (Q - T * V) + q * N**2))


def of_shares(h: Limits, u: Direction, low: Fact, high: Fact) -> Fact:
    """Return 2 (p (Q - T V) + q N^2) <= kappa U^2 for shares I from 0 to 1.

    Here T = E I, N = E[I v], Q = E[I v^2] and V = E v^2.

    Args:
        h: kappa, p and q.
        u: the direction v.
        low: that I is at least 0.
        high: that 1 - I is at least 0.
    """
    I_, f, v, rho = low.proposition.term, u.f.proposition.term, u.v, u.rho
    p, q, U = h.p.proposition.term, h.q, u.U
    T, N, Q, V = (total(f * x, t) for x in (I_, I_ * v, I_ * v**2, v**2))
    inside, outside = product(u.f, low), product(u.f, high)
    some = add_up(inside, t)
    rest = decide(ge(1 - T, 0), add_up(outside, t), u.one)
    first = [add_up(product(inside, x), t) for x in (u.low, u.high)]
    others = [add_up(product(outside, x), t) for x in (u.low, u.high)]
    second = [
        decide(ge(x, 0), fact, u.centred, scale(u.one, factor))
        for x, fact, factor in (
            (rho * (1 - T) - N, others[0], rho),
            (U * (1 - T) + N - rho * (1 - T), others[1], U - rho),
        )
    ]
    within = add_up(product(inside, u.low, u.high), t)
    more = add_up(product(outside, square(v)), t)
    short = decide(
        ge((1 - T) * (V - Q), N**2),
        *(cauchy(v, as_term(1), t, weight=outside), scale(u.one, V - Q)),
        scale(u.centred, total(f * v, t) - 2 * N),
        degree=1,
    )
    goal, condition = bound_of(h, u, I_), gt(T, 0)
    yes, no, full = assume(condition), assume(condition.denied()), gt(1 - T, 0)
    open_, shut = assume(full), assume(full.denied())
    nothing = product(square(U), h.positive())
    # T = 1 or T = 0: I is 1 at every token, or 0 at every token
    gone = decide(eq(1 - T, 0), rest, shut)
    still = decide(eq(N, 0), second[0], second[1], scale(gone, rho), scale(gone, U - rho))
    parts = product(h.p, more), scale(gone, 2 * p * V), scale(still, 2 * q * N)
    all_ = decide(goal, nothing, *parts, degree=1)
    gone = decide(eq(T, 0), some, no)
    still = decide(eq(N, 0), *first, scale(gone, rho), scale(gone, U - rho))
    parts = (
        *(product(h.p, within), scale(gone, 2 * p * (V - U * rho + rho**2))),
        scale(still, 2 * (q * N + p * (U - 2 * rho))),
    )
    none = decide(goal, nothing, *parts, degree=1)
    # the means x and y of v + rho in and outside of I
    (unit, over), (unit_, over_) = cite(RECIPROCAL, [yes], T), cite(RECIPROCAL, [open_], 1 - T)
    d_, gap = named("d", N * INV(T) * INV(1 - T))
    both = scale(unit, N * (1 - T) * INV(1 - T)), scale(unit_, N), scale(gap, T * (1 - T))
    moved = decide(eq(N, T * (1 - T) * d_), *both, degree=1)
    means, ends = [], []
    for name, mean, inverse, one, size, sums in (
        ("x", rho + (1 - T) * d_, over, unit, T, first),
        ("y", rho - T * d_, over_, unit_, 1 - T, second),
    ):
        low_, high_ = (
            divided(inverse, one, decide(ge(size * z, 0), fact, moved), z)
            for z, fact in zip((mean, U - mean), sums, strict=True)
        )
        z, meaning = named(name, mean)
        means.append(meaning)
        ends.append((decide(ge(z, 0), low_, meaning), decide(ge(U - z, 0), high_, meaning)))
    reached = of_means(h, some, rest, u.U, *ends)
    x, y = rho + (1 - T) * d_, rho - T * d_
    claim = ge(h.kappa * U**2, claim_of_means(p, q, T, U, x, y))
    reached = by_definition(claim, means, reached)
    apart = decide(
        ge(V - Q, T**2 * (1 - T) * d_**2),
        *(over_, short, scale(unit_, V - Q), scale(unit_, T**2 * (1 - T) * d_**2)),
        scale(moved, (N + T * (1 - T) * d_) * INV(1 - T)),
    )
    between = decide(
        *(goal, reached, product(h.p, rest, within), product(h.p, some, apart)),
        scale(moved, p * (1 - T) * (U - 2 * rho)),
        scale(moved, q * (N + T * (1 - T) * d_)),
        degree=1,
    )
    return cases(cases(between, all_, full), none, condition)


SIDE = Letter("side")
"""1 or -1: the curvature is bounded from above and from below."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares I = (e - lo)/w of values from lo to lo + w, turned into 1 - I if `SIDE` is -1."""

    w: Term  # the range w
    whole: Fact  # that e - lo is w I
    turned: Term  # 1/2 + side (I - 1/2)
    meaning: Fact  # the definition of a name for it
    low: Fact  # that this name is at least 0
    high: Fact  # that it is at most 1
    sides: tuple[Fact, Fact]  # that 1 + side and 1 - side are at least 0, which both bounds assume


def shares(low: Fact, high: Fact) -> Shares:
    """Return the shares of values, from facts that they are at least lo and at most lo + w."""
    rise = low.proposition.term
    w = rise + high.proposition.term
    condition = gt(w, 0)
    yes, no = assume(condition), assume(condition.denied())
    unit, over = cite(RECIPROCAL, [yes], w)
    zero = decide(eq(rise, 0), low, high, no)
    share = rise * INV(w)
    least = cases(product(low, over), decide(ge(share, 0), scale(zero, INV(w))), condition)
    most = cases(
        decide(ge(1 - share, 0), high, over, unit),
        decide(ge(1 - share, 0), scale(zero, INV(w))),
        condition,
    )
    whole = cases(
        decide(eq(rise, w * share), scale(unit, rise)),
        decide(eq(rise, w * share), scale(zero, 1 - w * INV(w))),
        condition,
    )
    # either I or 1 - I
    side, half = SIDE.term, as_term(1) / 2
    up, down = assume(ge(side + 1, 0)), assume(ge(1 - side, 0))
    turned = half + side * (share - half)
    I_, meaning = named("I", turned)
    parts = product(up, least), product(down, most)
    at_least = decide(ge(I_, 0), meaning, *parts, degree=1)
    parts = product(up, most), product(down, least)
    at_most = decide(ge(1 - I_, 0), meaning, *parts, degree=1)
    return Shares(w, whole, turned, meaning, at_least, at_most, (up, down))


@dataclass(frozen=True, slots=True)
class Slopes:
    """Bounds p and q of two derivatives; the p and q of `Heights` are w p and w^2 q."""

    p: Term  # the absolute value of the first derivative
    q: Term  # at least the absolute value of the second one
    p_scaled: Fact  # that the p of the heights is w p
    q_scaled: Fact  # that the q of the heights is w^2 q


def of_values(
    h: Heights, slopes: Slopes, u: Direction, e: Term, low: Fact, high: Fact
) -> list[Fact]:
    """Return kappa U^2 >= 2 (sign p X + q Y^2) for values e, with the signs 1 and -1.

    X and Y are those of the module's docstring, and U is the range of the direction.

    Args:
        h: kappa, and p and q for values from 0 to 1.
        slopes: p and q for the values e.
        u: the direction v.
        e: the value of a token.
        low: that e is at least lo, as e - lo >= 0.
        high: that lo + w - e is at least 0.
    """
    f, v, rise = u.f.proposition.term, u.v, low.proposition.term
    part = shares(low, high)
    w, turned = part.w, part.turned
    both = of_shares(h.limits(), u, part.low, part.high)
    both = by_definition(bound_of(h.limits(), u, turned), [part.meaning], both)
    # in terms of e
    lo, over_ = e - rise, INV(w)
    mean, spread = total(f * v, t), total(f * v**2, t)
    first, second, third = (total(f * rise * x, t) for x in (as_term(1), v, v**2))
    sums = [add_up(scale(part.whole, f * x), t) for x in (as_term(1), v, v**2)]
    X, Y, p, q = (
        total(f * e * v**2, t) - spread * total(f * e, t),
        total(f * e * v, t),
        slopes.p,
        slopes.q,
    )
    results = []
    for sign in (1, -1):
        ends = decide(ge(1 + sign, 0)), decide(ge(1 - sign, 0))
        fact = cut(at(both, {SIDE: as_term(sign)}), *ends)
        values = [
            scale(slopes.p_scaled, sign * over_ * (third - spread * first)),
            scale(slopes.q_scaled, over_**2 * second**2),
            *(scale(sums[2], sign * p), scale(sums[0], sign * p * spread)),
            scale(sums[1], q * (second + w * over_ * second)),
        ]
        one = sign * p * lo * spread
        middle = q * lo * (2 * Y - lo * mean)
        if sign < 0:
            one = one - h.p.proposition.term * spread
            middle = middle - h.q.proposition.term * (mean - 2 * over_ * second)
        goal = ge(h.kappa * u.U**2, 2 * (sign * p * X + q * Y**2))
        more = scale(u.one, one), scale(u.centred, middle)
        results.append(decide(goal, fact, *values, *more, degree=1))
    return results

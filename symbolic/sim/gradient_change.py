"""From the curvature in the logits to the change of a gradient, for a loss phi(<softmax(A x), h>).

With g the change of the gradient between y and x, <g, grad> along the way from y to x has the slope
B(x - y, g), and B is the symmetric form of the curvature Q: 4 s B(z, g) = Q(z + s g) - Q(z - s g).
If Q(z) <= C ||z||^2 and -Q(z) as well, 2 s ||g||^2 <= C (||x - y||^2 + s^2 ||g||^2) for all s, so
that ||g|| <= C ||x - y||.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from attsvm.theory.proof.arrays import Sized
from attsvm.theory.proof.facts import Fact, current, eq, ge, gt
from attsvm.theory.proof.lemmas import DISCRIMINANT, SIZE, STRETCHED, spectral
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    by_definition,
    cases,
    cite,
    decide,
    exchange,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
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
    unfolded,
)
from attsvm.theory.types import Values
from symbolic.curvature_facts import Direction, Heights, Slopes, named, of_values
from symbolic.facts import Softmax, index, length, product, softmax
from symbolic.sim.sharp import oscillation
from symbolic.softmax_change import TAU, k, moved, t

S, j = Letter("s"), index("j", "D")
Span = Callable[[Term], Fact]
"""For a vector z: that a number D is at least all s_t - s_r for s = A z."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Attention on the way from y to x."""

    f: Term  # the weight of token t, a name in t and tau
    meaning: Fact  # the definition of this name
    positive: Fact  # that each weight is above 0
    one: Fact  # that they add up to 1
    some: Fact  # that there is a token


def weights_at(logit: Term, some: Fact) -> Weights:
    """Return attention for logits."""
    return named_weights(softmax(logit, t, some), some)


def named_weights(soft: Softmax, some: Fact) -> Weights:
    """Return attention with a name."""
    f, meaning = named("f", soft.weight)
    positive = by_definition(gt(f, 0), [meaning], soft.positive)
    one = by_definition(eq(total(f, t), 1), [meaning], soft.one(t))
    return Weights(f, meaning, positive, one, some)


def direction(w: Weights, u: Term) -> tuple[Direction, list[Fact]]:
    """Return a direction u less its mean, and the definitions of the names v and U (the range)."""
    mean, lowest, highest = total(w.f * u, t), least(u, t), most(u, t)
    v, v_means = named("v", u - mean)
    rho, rho_means = named("rho", mean - lowest)
    U, U_means = named("U", highest - lowest)
    below, above = beyond("least", u, t), beyond("most", u, t)
    centred = decide(eq(total(w.f * v, t), 0), add_up(scale(v_means, w.f), t), scale(w.one, mean))
    low = decide(ge(v + rho, 0), below, v_means, rho_means)
    high = decide(ge(U - v - rho, 0), above, v_means, rho_means, U_means)
    return Direction(w.positive, w.one, v, centred, low, high, U, rho), [v_means, U_means]


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss phi(<f, e>) on the way from y to x."""

    heights: Heights  # kappa, and p and q for values from 0 to 1
    slopes: Slopes  # p = sign phi' and q >= |phi''| for the values e
    sign: int  # 1 or -1
    e: Term  # the values, a term in t
    low: Fact  # that e is at least lo
    high: Fact  # that e is at most lo + w
    bend: Term  # phi'', a term in tau
    # that q - phi'' and q + phi'' are at least 0; None if phi'' is 0
    bends: tuple[Fact | None, Fact | None]
    means: tuple[Fact, ...]  # the definitions of the names in phi' and phi''

    @property
    def kappa(self) -> Term:
        """The bound of the curvature."""
        return self.heights.kappa

    @property
    def slope(self) -> Term:
        """The derivative phi'."""
        return self.sign * self.slopes.p

    def positive(self) -> Fact:
        """Return that kappa is at least 0."""
        return self.heights.known(1)

    def curved(self, w: Weights, u: Term) -> list[Fact]:
        """Return kappa (max u - min u)^2 >= 2 sign (phi' X + phi'' Y^2), for both signs."""
        return curved(w, self, u)


class Curved(Protocol):
    """A loss phi(<f, e>) with a bound kappa of its curvature, such as a `Loss`."""

    @property
    def e(self) -> Term:
        """The values."""

    @property
    def kappa(self) -> Term:
        """The bound of the curvature."""

    @property
    def slope(self) -> Term:
        """The derivative phi'."""

    @property
    def bend(self) -> Term:
        """The second derivative phi''."""

    @property
    def means(self) -> tuple[Fact, ...]:
        """The definitions of the names in phi' and phi''."""

    def positive(self) -> Fact:
        """Return that kappa is at least 0."""

    def curved(self, w: Weights, u: Term) -> list[Fact]:
        """Return kappa (max u - min u)^2 >= 2 sign (phi' X + phi'' Y^2), for both signs."""


def forms(f: Term, e: Term, y: Term, z: Term) -> tuple[Term, Term]:
    """Return the third moment of e, y and z about their means, and the covariance of e and z."""
    E, Y, Z = (total(f * x, t) for x in (e, y, z))
    third = total(f * e * y * z, t) - Y * total(f * e * z, t) - Z * total(f * e * y, t)
    return third + 2 * Y * Z * E - total(f * y * z, t) * E, total(f * e * z, t) - E * Z


def curved(w: Weights, loss: Loss, u: Term) -> list[Fact]:
    """Return kappa (max u - min u)^2 >= 2 sign (phi' X + phi'' Y^2), for both signs."""
    course, means = direction(w, u)
    ends = of_values(loss.heights, loss.slopes, course, loss.e, loss.low, loss.high)
    mean, e_mean = total(w.f * u, t), total(w.f * loss.e, t)
    third, cov = forms(w.f, loss.e, u, u)
    slope, kappa, q = loss.sign * loss.slopes.p, loss.heights.kappa, loss.slopes.q
    spread = total(w.f * (u - mean) ** 2, t)
    own = total(w.f * loss.e * (u - mean), t)
    X = total(w.f * loss.e * (u - mean) ** 2, t) - spread * e_mean
    whole, results = kappa * (most(u, t) - least(u, t)) ** 2, []
    for sign, bend in zip((1, -1), loss.bends, strict=True):
        fact = ends[0 if sign == loss.sign else 1]
        fact = by_definition(ge(whole, 2 * (sign * slope * X + q * own**2)), means, fact)
        parts = [scale(w.one, slope * mean**2 * e_mean)]
        if bend is not None:
            parts.append(product(bend, square(own)))
        goal = ge(whole, 2 * sign * (slope * third + loss.bend * cov**2))
        results.append(decide(goal, fact, *parts, degree=1))
    return results


def curved_within(
    known: list[Fact], positive: Fact, w: Weights, u: Term, z: Term, size: Term, spans: Fact
) -> list[Fact]:
    """Return the facts of `curved` with (size ||z||)^2 for (max u - min u)^2, by `spans`.

    Args:
        known: the facts of `curved`.
        positive: that kappa is at least 0.
        w: attention.
        u: A z.
        z: the vector.
        size: the factor.
        spans: u_t - u_r <= size ||z||.
    """
    wide, kappa = most(u, t) - least(u, t), positive.proposition.term
    norm, norm_square = length(z, k)
    n = norm.proposition.term
    below = decide(ge(wide, 0), beyond("least", u, t), beyond("most", u, t), w.some)
    more = decide(ge((size * n) ** 2, wide**2), oscillation(spans, u, w.some), below)
    spare = product(positive, more), scale(norm_square, kappa * size**2)
    return [
        decide(
            ge(kappa * size**2 * total(z**2, k), kappa * wide**2 - fact.proposition.term),
            *(fact, *spare),
            degree=1,
        )
        for fact in known
    ]


def gradient_change(
    v: Values,
    gradients: tuple[Sized, Sized],
    w: Weights,
    loss: Curved,
    spans: Sequence[tuple[Term, Span]],
) -> list[Fact]:
    """Return ||grad(x) - grad(y)|| <= kappa size^2/2 ||x - y|| for several sizes.

    Args:
        v: the letters A, x and y.
        gradients: those at x and at y.
        w: attention on the way from y to x.
        loss: the loss.
        spans: numbers D = size ||z||, each with its size.
    """
    g, g_means = named("g", (gradients[0] - gradients[1]).entry((k.term,)))
    A, apart, s = v.A.entry((t.term,), (k.term,)), (v.x - v.y).entry((k.term,)), S.term
    y, z = total(A * apart, k), total(A * g, k)
    known, slope, moves = loss.curved(w, y + s * z), loss.slope, apart + s * g
    N2, D2, kappa = total(g**2, k), total(apart**2, k), loss.kappa
    third, cov = forms(w.f, loss.e, y, z)
    form = slope * third + loss.bend * forms(w.f, loss.e, y, y)[1] * cov
    # along the way from y to x
    means = [w.meaning, *loss.means]
    meanings = dict(current().meanings[one] for one in means)
    along = unfolded(slope * cov, meanings)
    rate = derivative(s * along, TAU, {})
    same = by_definition(eq(rate, s * form), means)
    # at both ends
    summed, parts = add_up(scale(g_means, g), k), []
    for end, point in ((1, v.x), (0, v.y)):
        power = EXP((v.A @ point).entry((t.term,)))
        there = {TAU: as_term(end)}
        factor, mean = (
            substituted(unfolded(x, meanings), there) for x in (slope, total(w.f * loss.e, t))
        )
        factor = factor * INV(total(power, t))
        parts.append(scale(exchange(A * g * power * loss.e, k, t), factor))
        parts.append(scale(exchange(A * g * power, k, t), factor * mean))
    ends = [substituted(along, {TAU: as_term(end)}) for end in (1, 0)]
    moved_by = decide(eq(N2, ends[0] - ends[1]), summed, *parts, degree=1)
    far = s * (ends[0] - ends[1])
    size_, size_square = cite(SIZE, (), far)
    below = decide(ge(ABS(far), far), size_, size_square)
    positive, results = loss.positive(), []
    change = (gradients[0] - gradients[1]).entry((k.term,))
    for size, span in spans:
        inside = curved_within(known, positive, w, y + s * z, moves, size, span(moves))
        bound = kappa * size**2 * (D2 + s**2 * N2) / 4
        sides = [
            decide(
                ge(bound, sign * rate),
                *(fact, at(other, {S: -s}), same),
                degree=1,
            )
            for sign, fact, other in zip((1, -1), inside, inside[::-1], strict=True)
        ]
        most_ = moved(rate, s * along, *sides)
        all_ = decide(ge(bound - s * N2, 0), most_, below, scale(moved_by, s), degree=1)
        half = decide(ge(kappa * size**2 / 2, 0), positive, square(size))
        (N, N_square), (D, D_square) = length(g, k), length(apart, k)
        step = D.proposition.term, D_square
        C = half.proposition.term
        short = shortened(all_, C, product(half, D), (N.proposition.term, N_square), step)
        goal = ge(kappa * size**2 / 2 * SQRT(D2), SQRT(total(change**2, k)))
        results.append(by_definition(goal, [g_means], short))
    return results


def shortened(
    fact: Fact, C: Term, above: Fact, change: tuple[Term, Fact], step: tuple[Term, Fact]
) -> Fact:
    """Return n <= C d from C (d^2 + s^2 n^2)/2 >= s n^2 for every s.

    Args:
        fact: the bound, in which sums stand for n^2 and d^2.
        C: the constant.
        above: that C d is at least 0.
        change: n, and the sum that its square is.
        step: d, and the sum that its square is.
    """
    (n, N_square), (d, D_square), half = change, step, as_term(1) / 2
    N2, D2 = n**2 - N_square.proposition.term, d**2 - D_square.proposition.term
    (short,) = cite(DISCRIMINANT, [fact], S, C * N2 * half, -N2 * half, C * D2 * half)
    parts = scale(D_square, C**2 * N2), scale(N_square, C**2 * d**2), scale(N_square, n**2 + N2)
    goal = ge(C * d, n)
    yes, no = assume(goal), assume(goal.denied())
    long = decide(gt(n**2, 0), no, above)
    gap = decide(gt(n**2, C**2 * d**2), no, above)
    return cases(yes, decide(goal, gap, long, short, *parts), goal)


@dataclass(frozen=True, slots=True)
class Hessian:
    """The Hessian of a loss phi(<f, e>) with values e = b h."""

    at: Callable[[Sized], Sized]  # the Hessian as a function of attention
    slope: Term  # b phi', with a name for attention
    bend: Term  # b^2 phi'', with it
    bent: Fact  # that this is b^2 times phi'' of the loss


def hessian_size(
    v: Values, own: Hessian, w: Weights, loss: Loss, size: Term, span: Span, some: Fact
) -> Fact:
    """Return that the spectral norm of the Hessian is at most kappa size^2/2.

    With v of length 1 such that q = Hess v has the length ||Hess||, <q, q> is B(v, q).

    Args:
        v: the letters A, h and b.
        own: the Hessian.
        w: attention.
        loss: the loss.
        size: the factor of D.
        span: the number D = size ||z||.
        some: that A has a column.
    """
    A, h, f, s = v.A.entry((t.term,), (k.term,)), v.h.entry((t.term,)), w.f, S.term
    soft = unfolded(f, dict([current().meanings[w.meaning]]))
    raw, named_ = (
        own.at(Sized((v.A.axes[0],), lambda i, x=x: substituted(x, {t: i[0]}))).entry(
            (k.term,), (j.term,)
        )
        for x in (soft, f)
    )
    unit, reached = cite(STRETCHED, [some], "top", raw, k, j)
    top = current().names["top"](k)
    q, q_means = named("g", total(named_ * substituted(top, {k: j.term}), j))
    N2, D2, n = total(q**2, k), total(top**2, k), spectral(raw, k, j)
    whole = by_definition(eq(n**2, N2), [q_means, w.meaning], reached)
    # <q, Hess v> with sums over tokens outside
    y, z, mean = total(A * top, k), total(A * q, k), total(f * h, t)
    one = as_term(1)
    (qh, q1), (vh, v1) = ([exchange(A * x * f * u, k, t) for u in (h, one)] for x in (q, top))
    QH, Q1, VH, V1 = (total(f * u * x, t) for x in (z, y) for u in (h, one))
    VH_, V1_ = (total(top * total(A * f * u, t), k) for u in (h, one))
    parts = [
        scale(qh, own.bend * (VH_ - mean * V1_) - own.slope * V1_),
        scale(q1, own.slope * (2 * mean * V1_ - VH_) - mean * own.bend * (VH_ - mean * V1_)),
        scale(vh, own.bend * (QH - mean * Q1) - own.slope * Q1),
        scale(v1, own.slope * (2 * mean * Q1 - QH) - mean * own.bend * (QH - mean * Q1)),
    ]
    there = {k: j.term}
    for u, factor in ((h, own.slope), (one, -mean * own.slope)):
        inner = exchange(A * substituted(A * top, there) * f * u, j, t)
        parts.append(scale(add_up(scale(inner, q), k), factor))
        parts.append(scale(exchange(A * q * f * u * y, k, t), factor))
    third, cov = forms(f, loss.e, y, z)
    other = forms(f, loss.e, y, y)[1]
    meanings = dict(current().meanings[one_] for one_ in loss.means)
    slope, bend = (unfolded(x, meanings) for x in (loss.sign * loss.slopes.p, loss.bend))
    summed = add_up(scale(q_means, q), k)
    spare = scale(own.bent, (QH - mean * Q1) * (VH - mean * V1))
    raw_form = eq(N2, slope * third + bend * other * cov)
    form = loss.sign * loss.slopes.p * third + loss.bend * other * cov
    same = by_definition(
        eq(N2, form), loss.means, decide(raw_form, summed, *parts, spare, degree=1)
    )
    u, moves, positive = y + s * z, top + s * q, loss.heights.known(1)
    inside = curved_within(curved(w, loss, u), positive, w, u, moves, size, span(moves))
    kappa = loss.heights.kappa
    bound = kappa * size**2 * (D2 + s**2 * N2) / 4
    all_ = decide(
        ge(bound - s * N2, 0), inside[0], at(inside[1], {S: -s}), scale(same, s), degree=1
    )
    half = decide(ge(kappa * size**2 / 2, 0), positive, square(size))
    step = as_term(1), decide(eq(1, D2), unit)
    return shortened(all_, half.proposition.term, half, (n, whole), step)

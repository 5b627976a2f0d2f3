"""The seventh bound in the Frobenius norm: ||f f^T - g g^T|| <= spread(A)/2 ||x - y||.

With z = f(x) f(x)^T - f(y) f(y)^T, <z, f f^T> has the slope 2 Cov(s, zeta) along the way from y to
x, zeta = z f. For s from 0 to D it is at most 2 D B, B = Cov(o, zeta) for the indicator o of the
tokens at which zeta is above its mean. With w = f (o - T), T = E o, 2 B is <z, w f^T + f w^T>.
"""

from attsvm.theory.proof.facts import Fact, current, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, SIZE
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    cut,
    decide,
    exchange,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    INV,
    IS_ZERO,
    SQRT,
    Term,
    as_term,
    derivative,
    least,
    substituted,
    total,
    unfolded,
)
from properties.sim import basic_7
from symbolic.curvature_facts import named
from symbolic.facts import cauchy, end, letters_in, product, root, some_of, squares
from symbolic.sim.gradient_change import Weights, named_weights
from symbolic.sim.sharp import ROOT_2, unit_of_root
from symbolic.softmax_change import TAU, at_r, moved, path, r, t


def two_parts(w: Weights, o: Term, alike: Fact, low: Fact, high: Fact) -> tuple[Term, Fact]:
    """Return w f^T + f w^T for w = f (o - T), and that the sum of its squares is at most 1/8.

    Args:
        w: attention f.
        o: an indicator.
        alike: that o^2 is o.
        low: that o is at least 0.
        high: that 1 - o is at least 0.
    """
    f = w.f
    T, a, F = total(f * o, t), total(f**2 * o, t), total(f**2, t)
    b, Q = F - a, 1 - T
    inside, outside = product(w.positive, low), product(w.positive, high)
    some, rest = add_up(inside, t), decide(ge(Q, 0), add_up(outside, t), w.one)
    # a <= T^2 and b <= Q^2
    first = add_up(
        decide(ge(T * f * o - f**2 * o, 0), inside, one_of_sum(inside, t), scale(alike, f**2)), t
    )
    total_ = scale(w.one, f * (1 - o))
    second = decide(
        ge(Q * f * (1 - o) - f**2 * (1 - o), 0),
        *(outside, one_of_sum(outside, t), total_, scale(alike, f**2)),
    )
    second = decide(ge(Q**2 - b, 0), add_up(second, t), scale(w.one, Q))
    first = decide(ge(T**2 - a, 0), first)
    a_low = add_up(product(w.positive, inside), t)
    z = T * Q
    own = f * (o - T)
    M = own * at_r(f) + f * at_r(own)
    summed = add_up(scale(alike, f**2), t)
    parts = (
        product(square(z - as_term(1) / 4), decide(ge(16 * z + 2, 0), some, rest)),
        product(square(Q), first, decide(ge(T**2 + a, 0), a_low, square(T))),
        product(
            square(T),
            second,
            decide(ge(Q**2 + b, 0), add_up(product(w.positive, outside), t), square(Q)),
        ),
        product(square(1 - 2 * T), first, square(Q)),
        product(square(1 - 2 * T), second, a_low),
        scale(summed, F),
    )
    return M, decide(ge(as_term(1) / 8, total(total(M**2, r), t)), *parts, degree=1)


def turned(z: Term, same: Fact, x: Term, y: Term) -> Fact:
    """Return sum_tr z_tr x_t y_r = sum_tr z_tr y_t x_r, as z is symmetric."""
    inner = add_up(scale(add_up(scale(same, at_r(x)), r), y), t)
    left, right = (total(total(z * a * at_r(b), r), t) for a, b in ((x, y), (y, x)))
    return decide(eq(left, right), exchange(z * x * at_r(y), t, r), inner)


def indicated(g: Term, name: str) -> tuple[Fact, Fact, Fact, tuple[Fact, Fact]]:
    """Return facts of the indicator o of g >= 0: o^2 = o, 0 <= o <= 1, and its two values."""
    o, means = named(name, IS_ZERO(ABS(g) - g))
    size, size_square = cite(SIZE, (), g)
    condition = ge(g, 0)
    yes, no = assume(condition), assume(condition.denied())
    at_zero, above, _, low, high = cite(INDICATOR, (), ABS(g) - g)
    first = cut(at_zero, decide(eq(ABS(g) - g, 0), yes, size, size_square))
    second = cut(above, decide(gt(ABS(g) - g, 0), no, size))
    one, none = decide(eq(o, 1), means, first), decide(eq(o, 0), means, second)
    alike = cases(
        decide(eq(o**2, o), scale(one, o)), decide(eq(o**2, o), scale(none, o - 1)), condition
    )
    return alike, decide(ge(o, 0), means, low), decide(ge(1 - o, 0), means, high), (one, none)


def frobenius() -> None:
    """Prove the bound."""
    statement, reading = basic_7.BOUND, "sharp-2"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    course = path(v, some)
    s, D, low = course.change, course.span, least(course.change, t)
    w = named_weights(course.weights, some)
    f, F, G = w.f, course.end_x, course.end_y
    z, z_means = named("z", F * at_r(F) - G * at_r(G))
    swap = {t: r.term, r: t.term}
    same = decide(eq(z, substituted(z, swap)), z_means, at(z_means, swap))
    zeta = total(z * at_r(f), r)
    mean, m = total(f * zeta, t), total(f * s, t)
    along = unfolded(mean, dict([current().meanings[w.meaning]]))
    rate = derivative(along, TAU, {})
    parts = total(f * s * zeta, t) + total(total(z * f * at_r(f * s), r), t)
    raw = by_definition(eq(rate, parts - 2 * m * mean), [w.meaning])
    cov = total(f * s * zeta, t) - m * mean
    slope = decide(eq(rate, 2 * cov), raw, turned(z, same, f, f * s))
    positive = squares(z, r, t)
    norm, norm_square = root(positive.proposition.term, positive)
    N = norm.proposition.term
    above, whole, unit = unit_of_root()
    lowest, highest = beyond("least", s, t), bounds(course.spans, "least", at_r(s), r, some)
    c, sides = ROOT_2 * N / 4, []
    for sign in (1, -1):
        g = sign * (zeta - mean)
        alike, least_, most_, (one, none) = indicated(g, f"o {sign}")
        o = least_.proposition.term
        condition, goal = ge(g, 0), ge(D * o * g - (s - low) * g, 0)
        room = decide(ge(D - s + low, 0), highest), decide(ge(s - low, 0), lowest)
        each = cases(
            decide(goal, room[0], assume(condition), scale(one, D * g)),
            decide(goal, room[1], assume(condition.denied()), scale(none, D * g)),
            condition,
        )
        T = total(f * o, t)
        B = total(f * o * zeta, t) - T * mean
        M, small = two_parts(w, o, alike, least_, most_)
        summed = add_up(product(w.positive, each), t)
        E = total(total(z * M, r), t)
        double = decide(eq(E, 2 * B), turned(z, same, f, f * (o - T)))
        near = decide(
            ge(c, sign * E),
            *(product(above, norm), cauchy(z, M, r, t), positive, small, scale(whole, N**2)),
            norm_square,
        )
        sides.append(
            decide(
                ge(D * c, sign * rate),
                *(slope, summed, scale(w.one, low * mean), scale(double, D), course.positive, near),
            )
        )
    change = moved(rate, along, *sides)
    ends = [substituted(along, {TAU: as_term(end_)}) for end_ in (1, 0)]
    far = ends[0] - ends[1]
    size, size_square = cite(SIZE, (), far)
    all_ = add_up(add_up(scale(z_means, z), r), t)
    short = decide(ge(D * c, N**2), change, size, size_square, all_, norm_square)
    half = decide(eq(ROOT_2, 2 * INV(ROOT_2)), scale(unit, ROOT_2), scale(whole, INV(ROOT_2)))
    fact = decide(
        ge(INV(ROOT_2) * D / 2, N), short, product(above, course.positive), scale(half, D)
    )
    matrix = F * at_r(F) - G * at_r(G)
    goal = ge(INV(ROOT_2) * D / 2, SQRT(total(total(matrix**2, r), t)))
    end(statement, reading, by=[by_definition(goal, [z_means], fact)])

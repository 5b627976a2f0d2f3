"""The seventh bound in both norms, with f = f(x), g = f(y) and D = sqrt 2 spread(A) ||x - y||.

Frobenius norm: ||f f^T - g g^T|| <= spread(A)/2 ||x - y||. With z = f f^T - g g^T, <z, f f^T> has
the slope 2 Cov(s, zeta) along the way from y to x, zeta = z f. For s from 0 to D it is at most
2 D B, B = Cov(o, zeta) for the indicator o of the tokens at which zeta is above its mean. With
w = f (o - T), T = E o, 2 B is <z, w f^T + f w^T>.

Operator norm: the same with 3^(-3/4) in place of 1/2. For a vector m, <f, m>^2 has the slope
2 E m Cov(s, m). With kappa = 3^(-3/4)/sqrt 2 and Q = 1 - T, 2 E m Cov(o, m) is at most
kappa ||m||^2, as kappa^2 - 2 kappa P q - P^2 >= 0 for P = T Q and q = T - Q.
"""

from dataclasses import dataclass

from attsvm.theory.proof.facts import Fact, current, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL, ROOT, SIZE
from attsvm.theory.proof.linked import conclusion_of
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
from symbolic.facts import (
    cauchy,
    end,
    formula_of,
    length,
    letters_in,
    product,
    root,
    some_of,
    squares,
)
from symbolic.sim.gradient_change import Weights, named_weights
from symbolic.sim.sharp import ROOT_2, unit_of_root
from symbolic.softmax_change import TAU, Way, at_r, moved, path, r, t


def parts_at_most(
    w: Weights, o: Term, alike: Fact, inside: Fact, outside: Fact
) -> tuple[Fact, Fact, Fact, Fact]:
    """Return that T and Q = 1 - T are at least 0, and T^2 >= E[f o] and Q^2 >= E[f (1 - o)].

    Args:
        w: attention f.
        o: an indicator.
        alike: that o^2 is o.
        inside: that f o is at least 0.
        outside: that f (1 - o) is at least 0.
    """
    f = w.f
    T, a, F = total(f * o, t), total(f**2 * o, t), total(f**2, t)
    b, Q = F - a, 1 - T
    some, rest = add_up(inside, t), decide(ge(Q, 0), add_up(outside, t), w.one)
    first = add_up(
        decide(ge(T * f * o - f**2 * o, 0), inside, one_of_sum(inside, t), scale(alike, f**2)), t
    )
    total_ = scale(w.one, f * (1 - o))
    second = decide(
        ge(Q * f * (1 - o) - f**2 * (1 - o), 0),
        *(outside, one_of_sum(outside, t), total_, scale(alike, f**2)),
    )
    second = decide(ge(Q**2 - b, 0), add_up(second, t), scale(w.one, Q))
    return some, rest, decide(ge(T**2 - a, 0), first), second


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
    some, rest, first, second = parts_at_most(w, o, alike, inside, outside)
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


@dataclass(frozen=True, slots=True)
class Roots:
    """The numbers R = sqrt 3, kappa = 3^(-3/4)/sqrt 2, s = kappa (3 - R) and e = kappa (1 + R)."""

    kappa: Term
    s: Term
    positive: Fact  # kappa > 0
    e_least: Fact  # e is at least 0
    spare: Fact  # (4 + 2 R)/48 - e/8 is at least 0
    # e + s = 4 kappa, e s = 1/3, s^2 = (2 R - 3)/3, s (3 + R) = 6 kappa and kappa^2 = R/18
    equal: tuple[Fact, Fact, Fact, Fact, Fact]
    R: Term
    R_square: Fact  # R^2 = 3


def roots(kappa: Term, positive: Fact, square_: Fact, R: Term, three: Fact, above: Fact) -> Roots:
    """Return facts on kappa, as kappa^2 = R/18, R^2 = 3 and R >= 0."""
    (s, s_is), (e, e_is) = named("s", kappa * (3 - R)), named("e", kappa * (1 + R))
    low, high = decide(ge(R, as_term(3) / 2), three, above), decide(ge(2, R), three)
    third = decide(ge(as_term(1) / 3, kappa), square_, high)
    e_least = decide(ge(e, 0), e_is, product(positive, above), positive)
    most_ = decide(ge(1, e), e_is, product(positive, decide(ge(2 - R, 0), high)), third)
    cubes = scale(three, kappa**2), scale(square_, 2 * R), scale(three, as_term(1) / 9)
    both = decide(
        eq(e * s, kappa**2 * (1 + R) * (3 - R)), scale(e_is, s), scale(s_is, kappa * (1 + R))
    )
    fourth = scale(square_, 12 - 6 * R), scale(three, kappa**2), scale(three, as_term(1) / 3)
    return Roots(
        *(kappa, s, positive, e_least, decide(ge((4 + 2 * R) / 48 - e / 8, 0), low, most_)),
        (
            decide(eq(e + s, 4 * kappa), e_is, s_is),
            decide(eq(e * s, as_term(1) / 3), both, *cubes),
            decide(
                eq(s**2, (2 * R - 3) / 3),
                *(scale(s_is, s + kappa * (3 - R)), *fourth),
            ),
            decide(eq(s * (3 + R), 6 * kappa), scale(s_is, 3 + R), scale(three, kappa)),
            square_,
        ),
        R,
        three,
    )


def discriminant(n: Roots, T: Fact, Q: Fact, sign: int) -> Fact:
    """Return kappa^2 - 2 sign kappa P q - P^2 >= 0, for q = T - Q and P = T Q.

    It is (q - sign s)^2 times a positive number.
    """
    T_, Q_ = T.proposition.term, Q.proposition.term
    P, q, s = T_ * Q_, sign * (T_ - Q_), n.s
    near = square(q - s)
    side = product(n.e_least, T if sign > 0 else Q)
    parts = product(near, T, Q), product(near, side), product(near, n.spare)
    one, two, three, four, five = n.equal
    values = (
        *(scale(one, q**3), scale(two, q**2), scale(two, s * q), scale(three, q**2)),
        *(scale(three, n.R), three, scale(four, q), five, n.R_square),
    )
    return decide(ge(n.kappa**2 - 2 * n.kappa * P * q - P**2, 0), *parts, *values, degree=1)


def of_two_parts(
    n: Roots, w: Weights, m: Term, o: Term, alike: Fact, low: Fact, high: Fact
) -> list[Fact]:
    """Return kappa sum m^2 >= 2 sign E m Cov(o, m) for an indicator o and both signs.

    With X = E[o m], Y = E[(1 - o) m], T = E o and Q = 1 - T the covariance is Q X - T Y. For x =
    Q X and y = T Y the right side times T^2 Q^2 is 2 T Q (T x + Q y)(x - y).
    """
    f, kappa = w.f, n.kappa
    inside, outside = product(w.positive, low), product(w.positive, high)
    some, rest, first, second = parts_at_most(w, o, alike, inside, outside)
    T, X, E, M = total(f * o, t), total(f * o * m, t), total(f * m, t), total(m**2, t)
    Q, Y, M_in = 1 - T, E - X, total(o * m**2, t)
    part = add_up(product(low, square(m)), t), add_up(product(high, square(m)), t)
    X_most = decide(
        ge(T**2 * M_in, X**2), cauchy(f, m, t, weight=low), product(first, part[0]), degree=1
    )
    Y_most = decide(
        ge(Q**2 * (M - M_in), Y**2),
        *(cauchy(f, m, t, weight=high), product(second, part[1])),
        degree=1,
    )
    x, y, P, whole, results = Q * X, T * Y, T * Q, add_up(square(m), t), []
    yes, no, full = assume(gt(T, 0)), assume(gt(T, 0).denied()), gt(Q, 0)
    open_, shut = assume(full), assume(full.denied())
    for sign in (1, -1):
        goal = kappa * M - 2 * sign * E * (Q * X - T * Y)
        form = kappa * (x**2 + y**2) - 2 * sign * P * (T * x + Q * y) * (x - y)
        A, C, side = kappa - 2 * sign * P * T, kappa + 2 * sign * P * Q, -sign * P * (Q - T)
        large, own, other = (C, y, x) if sign > 0 else (A, x, y)
        steep = decide(gt(large, 0), n.positive, product(some, rest, rest if sign > 0 else some))
        level = product(square(other), discriminant(n, some, rest, sign))
        form_ = decide(ge(large * form, 0), square(large * own + side * other), level, degree=1)
        form_ = decide(ge(form, 0), form_, steep)
        near = product(n.positive, square(Q), X_most), product(n.positive, square(T), Y_most)
        scaled = decide(ge((T * Q) ** 2 * goal, 0), form_, *near, degree=1)
        both = decide(gt((T * Q) ** 2, 0), decide(gt(T * Q, 0), yes, open_))
        inner = decide(ge(goal, 0), scaled, both)
        least_ = product(n.positive, whole)
        ends = []
        for none, size, bound_, z in ((shut, Q, Y_most, Y), (no, T, X_most, X)):
            zero = decide(eq(size, 0), rest if z is Y else some, none)
            flat = decide(eq(z, 0), bound_, scale(zero, size * (M - M_in if z is Y else M_in)))
            parts = scale(zero, E * (X if z is Y else Y)), scale(flat, E * (T if z is Y else Q))
            ends.append(decide(ge(goal, 0), least_, *parts, degree=1))
        results.append(cases(cases(inner, ends[0], full), ends[1], gt(T, 0)))
    return results


def constant(above: Fact, whole: Fact, unit: Fact) -> Roots:
    """Return facts on kappa = 27^(-1/4)/sqrt 2, as those on sqrt 2 and its reciprocal say."""
    inner, inner_square = cite(ROOT, [decide(ge(27, 0))], as_term(27))
    S = inner.proposition.term
    outer, outer_square = cite(ROOT, [inner], S)
    U = outer.proposition.term
    some = decide(gt(S, 0), inner, inner_square)
    over_unit, over = cite(RECIPROCAL, [decide(gt(U, 0), outer, outer_square, some)], U)
    half, R = INV(ROOT_2), S / 3
    two = decide(eq(2 * half**2, 1), scale(whole, half**2), scale(unit, ROOT_2 * half + 1))
    power_ = decide(
        eq(27 * INV(U) ** 2, S),
        *(scale(inner_square, INV(U) ** 2), scale(outer_square, S * INV(U) ** 2)),
        scale(over_unit, S * (U * INV(U) + 1)),
    )
    kappa = INV(U) * half
    positive_ = decide(gt(half, 0), unit, above)
    square_ = decide(eq(kappa**2, R / 18), scale(two, INV(U) ** 2), power_)
    three = decide(eq(R**2, 3), inner_square)
    kappa_positive = decide(gt(kappa, 0), over, positive_)
    return roots(kappa, kappa_positive, square_, R, three, decide(ge(R, 0), inner))


def square_change(course: Way, w: Weights, n: Roots, m: Term, name: str) -> Fact:
    """Return that |<f(x), m>^2 - <f(y), m>^2| <= kappa D ||m||^2.

    The slope is 2 E m Cov(s, m), and Cov(s, m) is at most D Cov(o, m) for an indicator o.
    """
    s, D, low, f = course.change, course.span, least(course.change, t), w.f
    E, M, mean = total(f * m, t), total(m**2, t), total(f * s, t)
    along = unfolded(E**2, dict([current().meanings[w.meaning]]))
    cov, rate = total(f * s * m, t) - mean * E, derivative(along, TAU, {})
    slope = by_definition(eq(rate, 2 * E * cov), [w.meaning])
    lowest, highest = beyond("least", s, t), bounds(course.spans, "least", at_r(s), r, course.some)
    room = decide(ge(D - s + low, 0), highest), decide(ge(s - low, 0), lowest)
    spans, most_ = {}, {}
    for sign in (1, -1):
        g = sign * (m - E)
        alike, least_, rest, (one, none) = indicated(g, f"o {name} {sign}")
        o = least_.proposition.term
        condition, goal = ge(g, 0), ge(D * o * g - (s - low) * g, 0)
        each = cases(
            decide(goal, room[0], assume(condition), scale(one, D * g)),
            decide(goal, room[1], assume(condition.denied()), scale(none, D * g)),
            condition,
        )
        B = total(f * o * m, t) - total(f * o, t) * E
        summed = add_up(product(w.positive, each), t)
        spans[sign] = decide(
            ge(D * sign * B, sign * cov), summed, scale(w.one, sign * low * E), degree=1
        )
        most_[sign] = of_two_parts(n, w, m, o, alike, least_, rest)
    sides = []
    for place, sign in enumerate((1, -1)):
        goal, condition, ends = ge(D * n.kappa * M, sign * rate), ge(sign * E, 0), []
        for turn in (1, -1):
            known = assume(condition if turn > 0 else condition.denied())
            turned_ = decide(ge(turn * sign * E, 0), known)
            parts = product(turned_, spans[turn]), product(course.positive, most_[turn][place])
            ends.append(decide(goal, slope, *parts, degree=1))
        sides.append(cases(ends[0], ends[1], condition))
    return moved(rate, along, *sides)


def operator() -> None:
    """Prove the bound in the operator norm, by m = ||d|| c + sign ||c|| d.

    Here c = f(x) - f(y) and d = f(x) + f(y). For both signs <c, m> <d, m> is sign ||c|| ||d|| N^2,
    and ||m||^2 is 2 ||c|| ||d|| N, with N = ||c|| ||d|| + sign <c, d>.
    """
    statement, reading = basic_7.BOUND, "sharp-1"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    course = path(v, some)
    w = named_weights(course.weights, some)
    F, G, D = course.end_x, course.end_y, course.span
    n = constant(*unit_of_root())
    (c, c_is), (d, d_is) = named("c", F - G), named("d", F + G)
    (c_norm, c_square), (d_norm, d_square) = length(c, t), length(d, t)
    C, L, inner = c_norm.proposition.term, d_norm.proposition.term, total(c * d, t)
    p = C * L
    p_least = product(c_norm, d_norm)
    short = decide(
        ge(p**2, inner**2), cauchy(c, d, t), scale(c_square, L**2), scale(d_square, total(c**2, t))
    )
    wide = decide(ge(D * n.kappa, 0), product(course.positive, n.positive))
    ends = []
    for sign in (1, -1):
        m, m_is = named(f"m {sign}", L * c + sign * C * d)
        change = square_change(course, w, n, m, f"{sign}")
        far = total(F * m, t) ** 2 - total(G * m, t) ** 2
        N = p + sign * inner
        of_c, of_d = (add_up(scale(m_is, x), t) for x in (c, d))
        of_c = decide(eq(total(c * m, t), C * N), of_c, scale(c_square, L))
        of_d = decide(eq(total(d * m, t), sign * L * N), of_d, scale(d_square, sign * C))
        size = add_up(scale(m_is, m), t)
        size = decide(eq(total(m**2, t), 2 * p * N), size, scale(of_c, L), scale(of_d, sign * C))
        apart = add_up(scale(c_is, m), t), add_up(scale(d_is, m), t)
        both = scale(apart[0], total(F * m, t) + total(G * m, t)), scale(apart[1], total(c * m, t))
        value = decide(
            eq(far, sign * p * N**2),
            *(*both, scale(of_c, total(d * m, t)), scale(of_d, C * N)),
            degree=1,
        )
        size_, size_square = cite(SIZE, (), far)
        above = decide(ge(ABS(far), sign * far), size_, size_square)
        fact = decide(
            ge(2 * D * n.kappa * p * N, p * N**2),
            *(change, above, scale(value, sign), scale(size, D * n.kappa)),
            degree=1,
        )
        goal, condition = ge(2 * D * n.kappa, N), gt(p, 0)
        yes, no, back = assume(condition), assume(condition.denied()), assume(goal.denied())
        positive = decide(gt(p * N, 0), decide(gt(N, 0), back, wide), yes)
        inside = cases(assume(goal), decide(goal, fact, positive), goal)
        none = decide(eq(p, 0), p_least, no)
        flat = decide(eq(inner, 0), short, scale(none, p))
        ends.append(cases(inside, decide(goal, wide, none, flat), condition))
    fact = decide(ge(D * n.kappa, (ABS(inner) + p) / 2), *ends, cite(SIZE, (), inner)[1])
    (sequent,) = conclusion_of(formula_of(statement, reading)).sequents
    end(statement, reading, by=[by_definition(sequent.proposition, [c_is, d_is], fact)])

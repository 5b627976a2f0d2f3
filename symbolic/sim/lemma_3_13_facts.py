"""Lemma 3.13 by linked facts: the change of the gradient of g(b <softmax(A x), h>).

With e = b h, w = |b| (max h - min h) and c = |1 - 2 g| the slope g' is (1-c^2)/4 and |g''| = c g'.
So the heights of `symbolic.curvature_facts` are those of K.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attsvm.theory import Statement
from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, Sequent, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import conclusion_of, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    by_definition,
    cite,
    cut,
    decide,
    scale,
    split,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    SQRT,
    Letter,
    Term,
    after_first,
    as_term,
    least,
    most,
    total,
)
from attsvm.theory.types import Values
from properties.sim import lemma_3_13, lemma_3_13_hessian
from properties.sim._support import entry_loss
from properties.sim._support.entry import HEAD, LABEL, LISTED_RADIUS, MATRIX
from symbolic.curvature_facts import Heights, Slopes, a, named
from symbolic.facts import end, formula_of, image, length, letters_in, power, product, some_of
from symbolic.sim.gradient_change import (
    Hessian,
    Loss,
    Weights,
    gradient_change,
    hessian_size,
    weights_at,
)
from symbolic.sim.sharp import ROOT_2, apart_by, oscillation, root_of_2, unit_of_root
from symbolic.sim.stability_facts import span_by_norm
from symbolic.softmax_change import TAU, at_r, k, r, span, t

C = Letter("c")
_N = 1 - a.term**2


@dataclass(frozen=True, slots=True)
class Scores:
    """The values e = b h."""

    e: Term  # the value of a token
    w: Term  # a name for |b| (max h - min h)
    means: Fact  # the definition of this name
    low: Fact  # that e is at least the least e
    high: Fact  # that e is at most w more
    wide: Fact  # that w is at least 0


def scores(v: Values, some: Fact) -> Scores:
    """Return the values e = b h and their range."""
    h, b = v.h.entry((t.term,)), v.b.term
    e, range_ = b * h, most(h, t) - least(h, t)
    w, means = named("w", ABS(b) * range_)
    size, size_square = cite(SIZE, (), b)
    gaps = [decide(ge(ABS(b) - x, 0), size, size_square) for x in (b, -b)]
    low, high = beyond("least", h, t), beyond("most", h, t)
    each = decide(ge(range_, h - at_r(h)), high, at(low, {t: r}))
    other = decide(ge(range_, at_r(h) - h), at(high, {t: r}), low)
    parts = product(gaps[0], other), product(gaps[1], each)
    spans = decide(ge(w, e - at_r(e)), means, *parts, degree=1)
    above = decide(ge(e - least(e, t), 0), beyond("least", e, t))
    below = decide(ge(least(e, t) + w - e, 0), bounds(spans, "least", at_r(e), r, some))
    return Scores(e, w, means, above, below, decide(ge(w, 0), above, below, some))


Largest = Callable[[Scores, Fact, Fact, Fact, Fact], tuple[Term, Fact]]
"""A function that bounds the heights by the scores, g' > 0, c >= 0, c <= 1 and 1 - c^2 = 4 g'."""


def logistic(w: Weights, s: Scores, largest: Largest) -> Loss:
    """Return the logistic function of <f, e>."""
    power_ = power(-total(w.f * s.e, t))
    E = power_.proposition.term
    whole = (1 + E) * (1 + E)
    unit, over = cite(RECIPROCAL, [decide(gt(whole, 0), power_)], whole)
    slope, level = E * INV(whole), 1 - 2 * E * (1 + E) * INV(whole)
    (p, p_means), (c, c_means) = named("slope", slope), named("level", level)
    rises = by_definition(gt(p, 0), [p_means], decide(gt(slope, 0), power_, over))
    raw = decide(eq(1 - level**2, 4 * slope), scale(unit, 4 * E**2 * INV(whole)))
    signed = by_definition(eq(1 - c**2, 4 * p), [p_means, c_means], raw)
    size, size_square = cite(SIZE, (), c)
    small = decide(ge(1, ABS(c)), size_square, signed, rises)
    flat = decide(eq(1 - ABS(c) ** 2, 4 * p), size_square, signed)
    (P, P_means), (Q, Q_means) = named("p", s.w * p), named("q", s.w**2 * ABS(c) * p)
    kappa, above = largest(s, rises, size, small, flat)
    goal = ge(kappa, _N / 2 * (P * a.term + Q * _N / 4))
    heights = Heights(
        kappa,
        decide(ge(P, 0), P_means, s.wide, rises),
        decide(ge(Q, 0), Q_means, product(size, rises, square(s.w))),
        by_definition(goal, [P_means, Q_means], above),
    )
    bends = [product(decide(ge(ABS(c) - y, 0), size, size_square), rises) for y in (-c, c)]
    slopes = Slopes(p, ABS(c) * p, P_means, Q_means)
    both, means = (bends[0], bends[1]), (p_means, c_means)
    return Loss(heights, slopes, 1, s.e, s.low, s.high, -c * p, both, means)


def _height(s: Scores, rises: Fact, size: Fact) -> Term:
    """Return (1-a^2)/2 g' (w a + w^2 c (1-a^2)/4)."""
    p, c = rises.proposition.term, size.proposition.term
    return _N / 2 * p * (s.w * a.term + s.w**2 * c * _N / 4)


def by_setting(v: Values, settings: Mapping[str, Sequent]) -> Largest:
    """Return K(w), by the setting of its reading, as the bound of the heights."""

    def largest(s: Scores, rises: Fact, size: Fact, small: Fact, flat: Fact) -> tuple[Term, Fact]:
        D = LETTERS.abs(v.b) * LETTERS.oscillation(v.h)
        kappa, c = entry_loss.K(LETTERS, D).term, size.proposition.term
        (height,) = (setting(settings, x) for x in settings if x.endswith("at least each height"))
        height = cut(at(height, {C: c}), size, small)
        x = D.term
        part = _N * (a.term + x * c * _N / 4)
        p = rises.proposition.term
        exact = decide(ge(kappa, x / 2 * p * part), height, scale(flat, x / 8 * part), degree=1)
        return kappa, by_definition(ge(kappa, _height(s, rises, size)), [s.means], exact)

    return largest


def by_sizes(s: Scores, rises: Fact, size: Fact, small: Fact, flat: Fact) -> tuple[Term, Fact]:
    """Return w/8 + w^2/32 as a bound of the heights, as a, c and 4 g' are at most 1."""
    p, c, x = rises.proposition.term, size.proposition.term, a.term
    positive, below = assume(ge(x, 0)), assume(ge(1, x))
    quarter = decide(ge(1 - 4 * p, 0), flat, square(c))
    less, near = decide(ge(1 - x, 0), below), decide(ge(1 - c, 0), small)
    n = decide(ge(_N, 0), positive, below)
    kappa = s.w / 8 + s.w**2 / 32
    parts = (
        *(product(s.wide, quarter), product(s.wide, rises, less)),
        *(product(s.wide, rises, positive, square(x)), product(square(s.w), quarter)),
        product(square(s.w), rises, near),
        product(square(s.w), rises, size, square(x)),
        product(square(s.w), rises, size, square(x), n),
    )
    return kappa, decide(ge(kappa, _height(s, rises, size)), *parts, degree=1)


def largest_change() -> None:
    """Prove both bounds with K, by sqrt 2 ||A|| and by the diameter of A as ranges of A z."""
    statement, reading = lemma_3_13.LEMMA, "sharp"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    settings = conclusion_of(formula_of(statement, reading)).setting
    above, whole, unit = unit_of_root()
    size, diameter = LETTERS.spectral(v.A).term, LETTERS.diameter(v.A).term
    spans = (
        (ROOT_2 * size, lambda z: span_by_norm(v, z, (above, whole))),
        (diameter, lambda z: span(v, z)),
    )
    w = on_the_way(v, some)
    loss = logistic(w, scores(v, some), by_setting(v, settings))
    gradients = [number(entry_loss.gradient(LETTERS, v.A, x, v.h, v.b)) for x in (v.x, v.y)]
    by_norm, by_diameter = gradient_change(v, (gradients[0], gradients[1]), w, loss, spans)
    apart = (v.x - v.y).entry((k.term,))
    most_ = loss.heights.kappa * SQRT(total(apart**2, k))
    over = INV(ROOT_2)
    half = decide(eq(2 * over**2, 1), scale(whole, over**2), scale(unit, ROOT_2 * over + 1))
    factors = scale(whole, size**2 * most_), scale(half, diameter**2 * most_)
    for name, fact, factor in zip(
        ("sharp", "sharp-2"), (by_norm, by_diameter), factors, strict=True
    ):
        (goal,) = conclusion_of(formula_of(statement, name)).sequents
        end(statement, name, by=[decide(goal.proposition, fact, factor)])


def on_the_way(v: Values, some: Fact) -> Weights:
    """Return attention on the way from y to x."""
    apart = total(v.A.entry((t.term,), (k.term,)) * (v.x - v.y).entry((k.term,)), k)
    return weights_at((v.A @ v.y).entry((t.term,)) + TAU.term * apart, some)


def printed_constant(
    statement: Statement, reading: str, s: Scores, some: Fact, root_2: tuple[Fact, Fact]
) -> Fact:
    """Return (w/8 + w^2/32) ||A||^2 <= 3 n^3 R^7 exp(13 R^2), as R >= 4 bounds the sizes."""
    formula, v = formula_of(statement, reading), letters_in(statement, reading)
    (large,), (matrix,), (label,), (head,) = (
        suppose(x, formula) for x in (LISTED_RADIUS, MATRIX, LABEL, HEAD)
    )
    h, R, S = v.h.entry((t.term,)), v.R.term, LETTERS.spectral(v.A).term
    above, whole = root_2
    range_ = oscillation(apart_by(h, above, whole), h, some)
    osc = most(h, t) - least(h, t)
    two = decide(ge(2 - ROOT_2, 0), whole)
    positive = decide(ge(R, 0), large)
    norm, _ = length(h, t)
    near = decide(ge(2 * R, osc), range_, two, norm, head)
    size, _ = cite(SIZE, (), v.b.term)
    small = decide(ge(2 * R**2, s.w), s.means, size, near, product(positive, label))
    kappa = s.w / 8 + s.w**2 / 32
    below = decide(ge(R**2 / 4 + R**4 / 8, kappa), small, s.wide)
    wide, _ = image(v.A.entry((t.term,), (k.term,)), t, k, v.x.entry((k.term,)))
    turned = decide(ge(R**2 - S**2, 0), matrix, wide)
    powers = square(R**2), square(R**3)
    more = decide(ge(R**2 - 1, 0), large)
    sizes = decide(ge(R**2 / 4 + R**4 / 8, 0), square(R))
    parts = (
        *(product(square(S), below), product(sizes, turned), powers[1]),
        *(product(powers[1], large), product(powers[0], more)),
    )
    sized = decide(ge(3 * R**7, kappa * S**2), *parts, degree=1)
    # n^3 exp(13 R^2) >= 1
    n, line = least_count(statement, reading), cite(EXPONENTIAL, (), 13 * R**2)[1]
    N, E = total(1, t), EXP(13 * R**2)
    cube = decide(ge(N**3 - 1, 0), n, degree=3)
    factor = decide(ge(N**3 * E - 1, 0), cube, line, square(R))
    spare = product(powers[1], positive, factor)
    return decide(ge(3 * N**3 * R**7 * E, kappa * S**2), sized, spare)


def least_count(statement: Statement, reading: str) -> Fact:
    """Return that there is at least one token."""
    settings = conclusion_of(formula_of(statement, reading)).setting
    first = setting(settings, "the first index of the axis n has the position 0")
    later = setting(settings, "the other indices of the axis n have later positions")
    others, _ = after_first(t.sort)
    none = add_up(decide(ge(1, 0)), Letter("other", others))
    return decide(ge(total(1, t), 1), split(as_term(1), t, first, later), none)


def printed_change() -> None:
    """Prove the printed bound of the change, for sizes of at most R >= 4."""
    statement, reading = lemma_3_13.LEMMA, "amended"
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    root_2 = root_of_2()
    w, s = on_the_way(v, some), scores(v, some)
    spans = [(ROOT_2 * LETTERS.spectral(v.A).term, lambda z: span_by_norm(v, z, root_2))]
    gradients = [number(entry_loss.gradient(LETTERS, v.A, x, v.h, v.b)) for x in (v.x, v.y)]
    loss = logistic(w, s, by_sizes)
    (fact,) = gradient_change(v, (gradients[0], gradients[1]), w, loss, spans)
    constant = printed_constant(statement, reading, s, some, root_2)
    apart, _ = length((v.x - v.y).entry((k.term,)), k)
    factor = loss.heights.kappa * LETTERS.spectral(v.A).term ** 2 * apart.proposition.term
    (goal,) = conclusion_of(formula_of(statement, reading)).sequents
    parts = fact, scale(root_2[1], factor), product(apart, constant)
    end(statement, reading, by=[decide(goal.proposition, *parts, degree=1)])


def hessian_bound(reading: str) -> tuple[Fact, Scores, Fact, tuple[Fact, Fact]]:
    """Return ||Hess L|| <= kappa (sqrt 2 ||A||)^2/2, the scores, a token, and the root of 2."""
    statement = lemma_3_13_hessian.LEMMA
    v, some = letters_in(statement, reading), some_of(statement, reading, "n")
    settings = conclusion_of(formula_of(statement, reading)).setting
    root_2, s = root_of_2(), scores(v, some)
    w = weights_at((v.A @ v.x).entry((t.term,)), some)
    loss = logistic(w, s, by_setting(v, settings) if reading == "sharp" else by_sizes)
    b, u = v.b.term, number(total(w.f * s.e, t))
    slope, bend = (number(x(u)).term for x in (LETTERS.logistic_slope, LETTERS.logistic_curvature))
    # g'' as a fraction over (1 + E)^3 and over (1 + E)^4
    power_ = power(-total(w.f * s.e, t))
    E = power_.proposition.term
    two, three = (1 + E) * (1 + E), (1 + E) * (1 + E) * (1 + E)
    (one, _), (cube, _) = (
        cite(RECIPROCAL, [decide(gt(x, 0), power_, degree=n)], x) for n, x in ((2, two), (3, three))
    )
    L, J = INV(two), INV(three)
    same = decide(eq(L, (1 + E) * J), scale(one, (1 + E) * J), scale(cube, L), degree=1)
    below = -E * L * (1 - 2 * E * (1 + E) * L)
    change = -E + 2 * E**2 * (1 + E) * (L + (1 + E) * J)
    parts = scale(same, change), scale(cube, 2 * E**2 * J)
    bent = decide(eq(bend, below), *parts, degree=1)
    own = Hessian(
        lambda f: number(entry_loss.hessian_at(LETTERS, v.A, f, v.h, v.b)),  # type: ignore[arg-type]
        b * slope,
        b**2 * bend,
        scale(bent, b**2),
    )
    size = ROOT_2 * LETTERS.spectral(v.A).term
    column = some_of(statement, reading, "D")
    fact = hessian_size(v, own, w, loss, size, lambda z: span_by_norm(v, z, root_2), column)
    return fact, s, some, root_2


def largest_hessian() -> None:
    """Prove ||Hess L|| <= ||A||^2 K."""
    statement = lemma_3_13_hessian.LEMMA
    fact, _, _, (_, whole) = hessian_bound("sharp")
    (goal,) = conclusion_of(formula_of(statement, "sharp")).sequents
    v = letters_in(statement, "sharp")
    D = LETTERS.abs(v.b) * LETTERS.oscillation(v.h)
    factor = entry_loss.K(LETTERS, D).term * LETTERS.spectral(v.A).term ** 2
    end(statement, "sharp", by=[decide(goal.proposition, fact, scale(whole, factor))])


def printed_hessian() -> None:
    """Prove the printed bound of ||Hess L||, for sizes of at most R >= 4."""
    statement, reading = lemma_3_13_hessian.LEMMA, "amended"
    fact, s, some, root_2 = hessian_bound(reading)
    constant = printed_constant(statement, reading, s, some, root_2)
    v = letters_in(statement, reading)
    factor = (s.w / 8 + s.w**2 / 32) * LETTERS.spectral(v.A).term ** 2
    (goal,) = conclusion_of(formula_of(statement, reading)).sequents
    parts = fact, scale(root_2[1], factor), constant
    end(statement, reading, by=[decide(goal.proposition, *parts, degree=1)])

"""The printed bounds of softmax attention: ||f(x) - f(y)|| <= beta^-2 n R exp(2 R) ||x - y||.

With a_t = exp(s_t) and b_t = exp(u_t) for the logits s = A x and u = A y, alpha(x) alpha(y) (f_t -
g_t) is D_t = sum_r z_tr, z_tr = a_t b_r - a_r b_t. Each z_tr is between 0 and E ((s_t - u_t) -
(s_r - u_r)), E = exp(2 R), so that z^2 <= E z times this. Summed over t and r, this and the squares
of D_t - D_r - n z_tr and D_t - n E (s_t - u_t) give sum D_t^2 <= (n E)^2 ||s - u||^2.
"""

from dataclasses import dataclass

from flint import fmpq

from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof.facts import Fact, eq, ge, note
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    bounds,
    cite,
    decide,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, EXP, INV, SQRT, Term, most, substituted, total
from properties.sim import basic_4, basic_5, basic_6, basic_7
from properties.sim._support.bounds import BETA
from properties.sim._support.entry import LARGE, LOGITS, MATRIX
from symbolic.facts import (
    cauchy,
    count,
    end,
    entry_at_most,
    formula_of,
    image,
    index,
    inverses,
    length,
    letters_in,
    power,
    powers_apart,
    powers_rise,
    product,
    root,
    root_at_most,
    size_by_squares,
    softmax,
    some_of,
    squares,
    tangent,
)

V = letters_in(basic_4.BOUND, "literal")
t, r, k = index("t", "n"), index("r", "n"), index("k", "D")
N, R, BETA_ = total(1, t), V.R.term, V.beta.term
X, U = (((V.A @ point).entry((t.term,))) for point in (V.x, V.y))
"""The logits at x and at y."""
APART: Term = (V.x - V.y).entry((k.term,))
DISTANCE = SQRT(total(APART**2, k))
ALPHA_X, ALPHA_Y = (total(EXP(s), t) for s in (X, U))
F, G = EXP(X) * INV(ALPHA_X), EXP(U) * INV(ALPHA_Y)
"""The attention to a token at x and at y."""
CHANGE = SQRT(total((F - G) ** 2, t))
RATE = EXP(2 * R)


@dataclass(frozen=True, slots=True)
class Domain:
    """The facts that the listed hypotheses state."""

    tops: tuple[Fact, Fact]  # that no logit at x, and none at y, is above R
    radius: Fact  # that R is at least 0
    matrix: Fact  # that ||A|| is at most R
    beta: Fact  # that beta is above 0
    alphas: tuple[Fact, Fact]  # that alpha is at least beta at x, and at y


def domain(formula: Formula) -> Domain:
    """Return what the listed hypotheses of a formula say."""
    shorts, (matrix,) = suppose(LOGITS, formula), suppose(MATRIX, formula)
    beta, *alphas = suppose(BETA, formula)
    x_top, u_top = (entry_at_most(s, t, fact) for s, fact in zip((X, U), shorts, strict=True))
    size, _ = image(V.A.entry((t.term,), (k.term,)), t, k, APART)
    radius = decide(ge(R, 0), matrix, size)
    return Domain((x_top, u_top), radius, matrix, beta, (alphas[0], alphas[1]))


def at_r(term: Term) -> Term:
    """Return the term at the token r."""
    return substituted(term, {t: r.term})


Z = EXP(X) * at_r(EXP(U)) - at_r(EXP(X)) * EXP(U)
D = EXP(X) * ALPHA_Y - EXP(U) * ALPHA_X


def moved_between(known: Domain) -> Fact:
    """Return that z^2 <= E z m, for z = a_t b_r - a_r b_t and m = (s_t - u_t) - (s_r - u_r)."""
    x_top, u_top = known.tops
    p, q, to_r = X + at_r(U), at_r(X) + U, {t: r}
    p_law, q_law = (cite(EXPONENTIAL_OF_SUM, (), *s)[0] for s in ((X, at_r(U)), (at_r(X), U)))
    p_top = powers_rise(p, 2 * R, decide(ge(2 * R, p), x_top, at(u_top, to_r)))
    q_top = powers_rise(q, 2 * R, decide(ge(2 * R, q), at(x_top, to_r), u_top))
    w, m, fact = EXP(p) - EXP(q), p - q, powers_apart(p, q, RATE, p_top, q_top)
    same = decide(eq(w, Z), p_law, q_law)
    return decide(ge(RATE * Z * m, Z**2), fact, scale(same, w + Z), scale(same, RATE * m))


def squares_moved(known: Domain, some: Fact) -> Fact:
    """Return that sum D_t^2 <= (n E)^2 ||s - u||^2."""
    m = X - U
    x, q, y = total(D**2, t), total(D * m, t), total(m**2, t)
    between = add_up(add_up(moved_between(known), r), t)
    apart = squares(D - at_r(D) - N * Z, r, t)
    part = decide(ge(N * (N * RATE * q - x), 0), apart, square(N), between)
    unit, inverse = cite(RECIPROCAL, [some], N)
    part = product(inverse, part)
    part = decide(ge(N * RATE * q, x), part, scale(unit, N * RATE * q - x), degree=1)
    return decide(ge((N * RATE) ** 2 * y, x), part, squares(D - N * RATE * m, t), degree=1)


def change(known: Domain, some: Fact) -> tuple[Fact, Fact]:
    """Return that ||f - g|| <= beta^-2 n R E ||x - y||, and that this is at least 0."""
    over, both = INV(BETA_), INV(ALPHA_X) * INV(ALPHA_Y)
    inverse = inverses(known.beta, ALPHA_X, ALPHA_Y, *known.alphas)
    x_unit, u_unit = inverse.units
    units = scale(u_unit, EXP(X) * INV(ALPHA_X)), scale(x_unit, EXP(U) * INV(ALPHA_Y))
    same = note("f - g = D/(alpha(x) alpha(y))", decide(eq(F - G, both * D), *units))
    whole = add_up(scale(same, F - G + both * D), t)
    most = decide(ge(over**4, both**2), inverse.product, product(*inverse.positive))
    moved = note("sum D^2 <= (n E)^2 ||s - u||^2", squares_moved(known, some))
    size, turned = image(V.A.entry((t.term,), (k.term,)), t, k, APART)
    apart, apart_square = length(APART, k)
    A = size.proposition.term
    shorter = product(decide(ge(R**2, A**2), known.matrix, size), squares(APART, k))
    parts = (
        *(whole, product(most, squares(D, t)), product(square(over**2), moved)),
        *(
            product(square(over**2 * N * RATE), turned),
            product(square(over**2 * N * RATE), shorter),
        ),
        scale(apart_square, (over**2 * N * RATE * R) ** 2),
    )
    right = product(square(over), count(t), known.radius, power(2 * R), apart)
    goal = ge((over**2 * N * R * RATE * DISTANCE) ** 2, total((F - G) ** 2, t))
    small = decide(goal, *parts, degree=1)
    return root_at_most(right, length(F - G, t), small), right


def exceeds(rate: int, above: int) -> Fact:
    """Return that exp(rate R^2) >= R exp(above R), as rate R^2 - above R >= R - 1."""
    shift = fmpq(above + 1, 2 * rate)  # where the square below is 0
    rest = decide(ge(1 + rate * R**2 - above * R, R), square(R - shift))
    rest = product(power(above * R), rest)
    return decide(ge(EXP(rate * R**2), R * EXP(above * R)), tangent(rate * R**2, above * R), rest)


CONSTANT = N * EXP(3 * R**2) * INV(BETA_) ** 2


def fourth(known: Domain, some: Fact) -> Fact:
    """Return that ||f - g|| <= beta^-2 n exp(3 R^2) ||x - y||."""
    fact, _ = change(known, some)
    apart, _ = length(APART, k)
    spare = product(square(INV(BETA_)), count(t), apart, exceeds(3, 2))
    return decide(ge(CONSTANT * DISTANCE, SQRT(total((F - G) ** 2, t))), fact, spare)


def right_positive() -> Fact:
    """Return that beta^-2 n exp(3 R^2) ||x - y|| is at least 0."""
    return product(square(INV(BETA_)), count(t), power(3 * R**2), length(APART, k)[0])


def entry_of_change() -> Fact:
    """Return that ||f - g|| is at least each |f_t - g_t|."""
    norm, norm_square = length(F - G, t)
    each = one_of_sum(square(F - G), t)
    small = decide(ge(norm.proposition.term**2, (F - G) ** 2), each, norm_square)
    return size_by_squares(F - G, norm, small)


@linked
def prove_fourth() -> str:
    """Prove the fourth bound, for every n and every R."""
    known = domain(formula_of(basic_4.BOUND, "literal"))
    end(basic_4.BOUND, "literal", by=[fourth(known, some_of(basic_4.BOUND, "literal", "n"))])
    return "beta^2 ||f - g|| <= n R exp(2 R) ||x - y|| <= n exp(3 R^2) ||x - y||, any n and R"


@linked
def prove_fifth() -> str:
    """Prove the fourth bound, and that the factor R^2 >= 1 is enough for c = f - z."""
    formula = formula_of(basic_5.BOUND, "amended-2")
    fact = fourth(domain(formula), some_of(basic_5.BOUND, "amended-2", "n"))
    (large,) = suppose(LARGE, formula)
    end(
        *(basic_5.BOUND, "literal-3", "amended-2"),
        by=[
            decide(
                ge(R**2 * CONSTANT * DISTANCE, CHANGE),
                *(fact, decide(ge(R**2, 1), large), right_positive()),
            )
        ],
    )
    return "with c = f - z and R >= 1 the fourth bound gives the fifth"


@linked
def prove_fifth_of_values() -> str:
    """Prove the fourth bound, and that ||h|| <= R^2 is enough for c = <f, h> - b."""
    formula = formula_of(basic_5.BOUND, "amended")
    fact = fourth(domain(formula), some_of(basic_5.BOUND, "amended", "n"))
    (values,) = suppose(basic_5.BOUNDED, formula)
    h = letters_in(basic_5.BOUND, "amended").h.entry((t.term,))
    root_h, h_square = length(h, t)
    norm, norm_square = length(F - G, t)
    size, C, whole = root_h.proposition.term, CONSTANT * DISTANCE, total((F - G) * h, t)
    factors = scale(norm_square, size**2), scale(h_square, total((F - G) ** 2, t))
    small = decide(ge((CHANGE * size) ** 2, whole**2), cauchy(F - G, h, t), *factors, degree=1)
    # |<f - g, h>| <= ||f - g|| ||h|| <= R^2 ||f - g||
    below = size_by_squares(whole, product(norm, root_h), small)
    end(
        basic_5.BOUND,
        "amended",
        by=[decide(ge(R**2 * C, ABS(whole)), below, norm, values, square(R), fact)],
    )
    return "with ||h|| <= R^2 the fourth bound gives the fifth"


@linked
def prove_sixth() -> str:
    """Prove the fourth bound in both norms, as max |f_t - g_t| <= ||f - g||."""
    formula, some = formula_of(basic_6.BOUND, "literal-2"), some_of(basic_6.BOUND, "literal-2", "n")
    fact = fourth(domain(formula), some)
    end(basic_6.BOUND, "literal-2", by=[fact])
    largest = bounds(entry_of_change(), "most", ABS(F - G), t, some)
    fact = decide(ge(CONSTANT * DISTANCE, most(ABS(F - G), t)), fact, largest)
    end(basic_6.BOUND, "literal-1", by=[fact])
    return "max |f_t - g_t| <= ||f - g|| <= beta^-2 n exp(3 R^2) ||x - y||, any n and R"


def shorter_sum(some: Fact) -> Fact:
    """Return that ||f + g||^2 <= 4, as no norm of weights of sum 1 is above 1."""
    parts = []
    for logit in (X, U):
        weights = softmax(logit, t, some)
        one = weights.one(t)
        below = decide(ge(1, weights.weight), one_of_sum(weights.positive, t), one)
        parts += [add_up(product(weights.positive, below), t), one]
    return decide(ge(4, total((F + G) ** 2, t)), *parts, squares(F - G, t))


def larger_constant(known: Domain) -> Fact:
    """Return that beta^-2 n R E ||x - y|| <= beta^-3 n^2 exp(5 R^2) ||x - y||, E = exp(2 R)."""
    over = INV(BETA_)
    top = add_up(powers_rise(X, R, known.tops[0]), t)
    alpha = decide(ge(N * EXP(R), BETA_), top, known.alphas[0])
    (law,) = cite(EXPONENTIAL_OF_SUM, (), 2 * R, R)
    more = product(known.radius, power(2 * R), alpha)
    more = decide(
        ge(N * EXP(5 * R**2), R * RATE * BETA_),
        *(count(t), exceeds(5, 3), more, scale(law, N * R)),
    )
    unit, inverse = cite(RECIPROCAL, [known.beta], BETA_)
    more = product(inverse, square(over), count(t), length(APART, k)[0], more)
    left = over**2 * N * R * RATE * DISTANCE
    return decide(ge(over**3 * N**2 * EXP(5 * R**2) * DISTANCE, left), more, scale(unit, left))


@linked
def prove_seventh() -> str:
    """Prove the fourth bound, what the norms add to it, and R exp(3 R) <= exp(5 R^2)."""
    bound = basic_7.BOUND
    known, some = domain(formula_of(bound, "literal-1")), some_of(bound, "literal-1", "n")
    fact, _ = change(known, some)
    apart, apart_square = length(F - G, t)
    sum_, sum_square = length(F + G, t)
    A, S, C = CHANGE, sum_.proposition.term, INV(BETA_) ** 3 * N**2 * EXP(5 * R**2) * DISTANCE
    small = decide(ge(2, S), sum_square, shorter_sum(some))
    both = decide(ge(2 * C, A * S), apart, small, fact, larger_constant(known))
    # <f - g, f + g>^2 <= ||f - g||^2 ||f + g||^2
    whole, matrix = total((F - G) * (F + G), t), F * at_r(F) - G * at_r(G)
    factors = scale(apart_square, S**2), scale(sum_square, total((F - G) ** 2, t))
    inner = decide(ge((A * S) ** 2, whole**2), cauchy(F - G, F + G, t), *factors, degree=1)
    along = size_by_squares(whole, product(apart, sum_), inner)
    end(bound, "literal-1", by=[decide(ge(2 * C, (ABS(whole) + A * S) / 2), along, both)])
    # ||f f^T - g g^T||^2 = (||f - g||^2 ||f + g||^2 + <f - g, f + g>^2)/2
    sides = squares(matrix, r, t)
    norm = root(sides.proposition.term, sides)
    short = decide(ge((A * S) ** 2, sides.proposition.term), inner, *factors, degree=1)
    short = root_at_most(product(apart, sum_), norm, short)
    end(bound, "literal-2", by=[decide(ge(2 * C, norm[0].proposition.term), short, both)])
    return "beta^3 ||f f^T - g g^T|| <= 2 n^2 R exp(3 R) ||x - y|| <= 2 n^2 exp(5 R^2) ||x - y||"

"""The Lipschitz constant of 1/a for a >= beta, and the least sum of n exponentials of logits."""

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import simplified
from attsvm.theory.proof.facts import Fact, eq, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import add_up, cite, decide, scale, square
from attsvm.theory.proof.terms import ABS, EXP, INV, SQRT, Term, as_term, total
from properties.sim._support.entry import LOGITS
from properties.sim.basic_3 import ABOVE, BOUND, by_beta
from symbolic.facts import (
    cauchy,
    count,
    end,
    formula_of,
    index,
    inverses,
    length,
    letters_in,
    power,
    product,
    root,
    size_by_squares,
    some_of,
    tangent,
)
from symbolic.mean_value import ensure_no_less

t = index("t", "n")
V = letters_in(BOUND, "sharp-2")
LOGITS_AT = tuple((V.A @ point).entry((t.term,)) for point in (V.x, V.y))
ALPHAS = tuple(total(EXP(s), t) for s in LOGITS_AT)

N, R = total(1, t), V.R.term
ROOT_N, LOW = SQRT(N), -R * INV(SQRT(N))
"""sqrt n, and the least mean of the logits in the ball."""


def ensure_reached() -> None:
    """Prove that |1/a - 1/b| over |a - b| tends to beta^-2 as a and b tend to beta."""
    a, beta, step = sp.symbols("a beta step", positive=True)
    x, y = (entries([sp.log(beta + more)]) for more in (0, step))
    v = SimpleNamespace(A=entries([[sp.Integer(1)]]), x=x, y=y, beta=beta)
    comparison = by_beta(SYMBOLS, v)
    ratio = sp.limit(simplified(comparison.left**2 / comparison.right**2), step, 0)
    what = "|1/a - 1/b| over |a - b| tends to beta^-2 as a and b tend to beta"
    ensure_equal(ratio, 1, what)
    ensure_no_less(what, 1 / a)


def inverse_change(least: Fact, at_least: tuple[Fact, Fact]) -> Fact:
    """Return that |1/a - 1/b| <= c^-2 |a - b| for the sums a and b of the exponentials.

    Args:
        least: that c is above 0.
        at_least: that a and b are at least c.
    """
    c, (a, b) = least.proposition.term, ALPHAS
    over, by_a, by_b, known = INV(c), INV(a), INV(b), inverses(least, a, b, *at_least)
    change, both = by_a - by_b, by_a * by_b
    units = scale(known.units[0], by_b), scale(known.units[1], by_a)
    same = note("1/a - 1/b = (b - a)/(a b)", decide(eq(change, both * (b - a)), *units))
    most = note("1/(a b) is at most c^-2", known.product)
    most = decide(ge(over**4, both**2), most, product(*known.positive))
    most = product(most, square(a - b))
    size, size_square = cite(SIZE, (), a - b)
    small = decide(
        ge((over**2 * ABS(a - b)) ** 2, change**2),
        *(most, scale(same, change + both * (b - a)), scale(size_square, over**4)),
    )
    return size_by_squares(change, product(square(over), size), small)


@linked
def prove() -> str:
    """Prove the bound from beta <= a, b."""
    ensure_reached()
    formula = formula_of(BOUND, "sharp-1")
    (positive, first), (_, second) = (suppose(one, formula) for one in ABOVE)
    end(BOUND, "literal-1", "sharp-1", by=[inverse_change(positive, (first, second))])
    return "|1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta > 0"


def least_sum(logit: Term, short: Fact, root_n: tuple[Fact, Fact], low: Fact) -> Fact:
    """Return that the sum of exponentials is at least n exp(-R/sqrt n), as ||s|| <= R.

    Args:
        logit: the logit s at t.
        short: that its norm is at most R.
        root_n: that sqrt n is at least 0, and that its square is n.
        low: that n times the exponent is -R sqrt n.
    """
    norm, whole = length(logit, t), total(logit, t)
    radius = decide(ge(R, 0), short, norm[0])
    most = decide(ge(R**2, total(logit**2, t)), short, *norm)
    lines = add_up(tangent(logit, LOW), t)
    return decide(
        ge(total(EXP(logit), t), N * EXP(LOW)),
        lines,
        power(LOW),
        decide(
            ge(whole, N * LOW),
            *(count(t), most, cauchy(logit, as_term(1), t), scale(root_n[1], R**2)),
            *(product(root_n[0], radius), low),
        ),
    )


@linked
def prove_in_ball() -> str:
    """Prove the bound in the ball of radius R with beta = n exp(-R / sqrt n), the least alpha."""
    some = some_of(BOUND, "sharp-2", "n")
    root_n = root(N, count(t))
    unit, _ = cite(RECIPROCAL, [decide(gt(ROOT_N, 0), some, *root_n)], ROOT_N)
    low = decide(
        eq(N * LOW, -R * ROOT_N), scale(root_n[1], R * INV(ROOT_N)), scale(unit, R * ROOT_N)
    )
    shorts = suppose(LOGITS, formula_of(BOUND, "sharp-2"))
    first, second = (
        note("alpha >= n exp(-R/sqrt n)", least_sum(logit, short, root_n, low))
        for logit, short in zip(LOGITS_AT, shorts, strict=True)
    )
    fact = inverse_change(decide(gt(N * EXP(LOW), 0), some, power(LOW)), (first, second))
    # exp(-R/sqrt n)^-2 = exp(2 R/sqrt n)
    E, over, F = EXP(LOW), INV(EXP(LOW)), EXP(-2 * LOW)
    (double,), (whole,) = (
        cite(EXPONENTIAL_OF_SUM, (), *x) for x in ((LOW, LOW), (2 * LOW, -2 * LOW))
    )
    inverse, _ = cite(RECIPROCAL, [power(LOW)], E)
    squares_ = scale(scale(inverse, E * over + 1), F)
    same = decide(eq(over**2, F), squares_, scale(whole, over**2), scale(double, F * over**2))
    a, b = ALPHAS
    factor = scale(same, INV(N) ** 2 * ABS(a - b))
    goal = ge(F * INV(N) ** 2 * ABS(a - b), ABS(INV(a) - INV(b)))
    end(BOUND, "sharp-2", by=[decide(goal, fact, factor)])
    return "beta = n exp(-R / sqrt n) is the least alpha in the ball"

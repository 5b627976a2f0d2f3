"""The letters of proofs on descent under a head, on one input of two tokens x_1 and x_2.

The head is h(x) = sum_u b_u phi(<a_u, x>), and A is (x_1 - x_2) z^T, so that m = <A, W> is the lead
of x_1.
"""

from flint import fmpq

from attsvm.primitives.descent_letters import COUNT, FALL, LOSS, RATE, M, W, t, x, y
from attsvm.primitives.heads import bend_of
from attsvm.theory.proof.arrays import falling
from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    LOG,
    MAXIMUM,
    REAL,
    VECTOR,
    Function,
    Letter,
    Sort,
    Term,
    as_term,
    derivative,
    substituted,
    total,
)

UNIT = Sort("unit", index=True)
u = Letter("u", UNIT)
A, FIRST, SECOND = (Function(name, (), VECTOR)() for name in ("A", "x_1", "x_2"))
INNER, OUTER = Function("a", (UNIT,), VECTOR), Function("b", (UNIT,))
PHI, STEEP, BEND = Function("phi", (REAL,)), falling("phi"), bend_of("phi")
"""The activation phi, -phi', and c."""
APART, MEAN, QUERY = FIRST - SECOND, (FIRST + SECOND) / 2, Function("z", (), VECTOR)()
MARGIN = A @ W(K)
"""The lead m after k steps."""


def shares(m: Term) -> tuple[Term, Term]:
    """Return the attention to both tokens."""
    return INV(1 + EXP(-m)), EXP(-m) * INV(1 + EXP(-m))


def output(m: Term) -> Term:
    """Return the mean of the tokens by attention."""
    first, second = shares(m)
    return first * FIRST + second * SECOND


def head(x: Term) -> Term:
    """Return h(x)."""
    return total(OUTER(u) * PHI(INNER(u) @ x), u)


def slope(x: Term, along: Term) -> Term:
    """Return the derivative of h at x along a vector."""
    return total(-OUTER(u) * STEEP(INNER(u) @ x) * (INNER(u) @ along), u)


def bending(along: Term) -> Term:
    """Return beta = c sum_u |b_u| <a_u, along>^2."""
    return BEND * total(ABS(OUTER(u)) * (INNER(u) @ along) ** 2, u)


def slope_of_loss() -> Term:
    """Return the derivative of the loss at W(k) along M."""
    moved = head(output(MARGIN + t.term * (A @ M.term)))
    return substituted(derivative(LOSS(moved), t, {LOSS: FALL, PHI: STEEP}), {t: as_term(0)})


STEP = "descent on W takes the step e"
SETTING = {STEP: Sequent(eq(W(K.term + 1) @ M.term, W(K) @ M.term - RATE * slope_of_loss()))}


def curvature() -> list[Sequent]:
    """Return the facts that phi' changes by at most c times as much as its argument, and c >= 0."""
    change = ge(BEND**2 * (x.term - y.term) ** 2, (STEEP(x) - STEEP(y)) ** 2)
    return [Sequent(change), Sequent(ge(BEND, 0))]


def gentle() -> list[Sequent]:
    """Return the facts that -1 <= l' < 0."""
    return [Sequent(gt(FALL(x), 0)), Sequent(ge(1, FALL(x)))]


def both() -> list[Sequent]:
    """Return the facts that h rises from each token towards the other."""
    ends = (FIRST, SECOND), (SECOND, FIRST)
    return [Sequent(gt(slope(one, other - one), 0)) for one, other in ends]


def highest(one: Term, other: Term) -> Term:
    """Return ln(beta/g - 1) + 4/27 e ||A||^2 beta for one token."""
    g, beta = slope(one, other - one), bending(APART)
    return LOG(beta * INV(g) - 1) + fmpq(4, 27) * RATE * (A @ A) * beta


def stays(share: object = 1) -> Said | None:
    """Return the claim that a lead stays below that of the start, or below `highest`.

    It also says that beta > g > 0, so that the logarithm exists.
    """
    start, beta = A @ W(0), bending(APART)
    ends = (1, FIRST, SECOND), (-1, SECOND, FIRST)
    says = [
        *(sequent.proposition for sequent in both()),
        *(gt(beta, slope(one, other - one)) for _, one, other in ends),
        *(ge(MAXIMUM(sign * start, highest(*at)), sign * MARGIN) for sign, *at in ends),
    ]
    return Said(tuple(map(Sequent, says)), SETTING) if share == 1 else None


def unit_slope(x: Term) -> Term:
    """Return the derivative of a unit at x along x_1 - x_2."""
    return -OUTER(u) * STEEP(INNER(u) @ x) * (INNER(u) @ APART)


LEAST = total(-MAXIMUM(-unit_slope(MEAN), -unit_slope(FIRST)), u)
MOST = total(MAXIMUM(unit_slope(MEAN), unit_slope(FIRST)), u)
"""p and P, the sums of the lesser and of the larger derivatives at the mean and at x_1."""
LEVEL = -total(OUTER(u) * (INNER(u) @ SECOND) ** 2, u)
"""beta of the head of squares."""
FROM_ZERO = {
    **SETTING,
    "A is (x_1 - x_2) z^T": Sequent(eq(A @ A, (APART @ APART) * (QUERY @ QUERY))),
    "the first step has the number 0": Sequent(eq(COUNT(0), 0)),
    "the next step has the next number": Sequent(eq(COUNT(K.term + 1), COUNT(K) + 1)),
}


def queried() -> list[Sequent]:
    """Return the fact that the query is not 0."""
    return [Sequent(gt(QUERY @ QUERY, 0))]


def bent_up() -> list[Sequent]:
    """Return the fact that phi lies above its tangents."""
    return [Sequent(ge(PHI(y) - PHI(x) + STEEP(x) * (y.term - x.term), 0))]


def rises() -> list[Sequent]:
    """Return the fact that p > 0."""
    return [Sequent(gt(LEAST, 0))]


def is_square() -> list[Sequent]:
    """Return the facts that phi(t) = t^2 and phi'(t) = 2 t."""
    return [Sequent(eq(PHI(x), x.term**2)), Sequent(eq(-STEEP(x), 2 * x.term))]


def critical() -> list[Sequent]:
    """Return the fact that every <a_u, x_1> is 0."""
    return [Sequent(eq(INNER(u) @ FIRST, 0))]


def below() -> list[Sequent]:
    """Return the fact that beta > 0."""
    return [Sequent(gt(LEVEL, 0))]


def _logarithmic(low: Term, high: Term, power: int) -> Said:
    """Return the bounds of x = exp(p m) - 1 after k >= 1 steps.

    They are x > 0, x >= c k/4, and x <= p C k exp(C/4).
    """
    grown, k = EXP(power * (A @ W(K.term + 1))) - 1, COUNT(K.term + 1)
    says = gt(grown, 0), ge(4 * grown, low * k), ge(power * high * k * EXP(high / 4), grown)
    return Said(tuple(map(Sequent, says)), FROM_ZERO)


def rate(slope: Term, x: Term) -> Term:
    """Return e ||A||^2 times a slope times -l'(h(x))."""
    return RATE * (A @ A) * slope * FALL(head(x))


def grows(over: object = 4, power: object = 1) -> Said | None:
    """Return the claim on exp(m) - 1."""
    low, high = rate(LEAST, FIRST), rate(MOST, MEAN)
    return _logarithmic(low, high, 1) if (over, power) == (4, 1) else None


def grows_by_half(over: object = 4, power: object = 1, times: object = 2) -> Said | None:
    """Return the claim on exp(2 m) - 1."""
    low, high = rate(2 * LEVEL, FIRST), rate(2 * LEVEL, MEAN)
    return _logarithmic(low, high, 2) if (over, power, times) == (4, 1, 2) else None

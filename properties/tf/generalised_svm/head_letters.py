"""The letters of proofs on descent under a head, on one input of two tokens x_1 and x_2.

The head is h(x) = sum_u b_u phi(<a_u, x>), and A is (x_1 - x_2) z^T, so that m = <A, W> is the lead
of x_1.
"""

from flint import fmpq

from attsvm.primitives.descent_letters import FALL, LOSS, RATE, M, W, t, x, y
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
BENT = {
    "phi' changes by at most c times as much as its argument": Sequent(
        ge(BEND**2 * (x.term - y.term) ** 2, (STEEP(x) - STEEP(y)) ** 2)
    ),
    "c is at least 0": Sequent(ge(BEND, 0)),
}
"""What c is: a bound of |phi''|."""


def gentle() -> list[Sequent]:
    """Return the facts that -1 <= l' < 0."""
    return [Sequent(gt(FALL(x), 0)), Sequent(ge(1, FALL(x)))]


def both() -> list[Sequent]:
    """Return the facts that h rises from each token towards the other."""
    ends = (FIRST, SECOND), (SECOND, FIRST)
    return [Sequent(gt(slope(one, other - one), 0)) for one, other in ends]


def highest(one: Term, other: Term) -> Term:
    """Return ln(beta/g - 1) + 4/27 e ||A||^2 beta for one token."""
    g, beta = slope(one, other - one), bending(FIRST - SECOND)
    return LOG(beta * INV(g) - 1) + fmpq(4, 27) * RATE * (A @ A) * beta


def stays(share: object = 1) -> Said | None:
    """Return the claim that a lead stays below that of the start, or below `highest`.

    It also says that beta > g > 0, so that the logarithm exists.
    """
    start, beta = A @ W(0), bending(FIRST - SECOND)
    ends = (1, FIRST, SECOND), (-1, SECOND, FIRST)
    says = [
        *(sequent.proposition for sequent in both()),
        *(gt(beta, slope(one, other - one)) for _, one, other in ends),
        *(ge(MAXIMUM(sign * start, highest(*at)), sign * MARGIN) for sign, *at in ends),
    ]
    return Said(tuple(map(Sequent, says)), {**SETTING, **BENT}) if share == 1 else None

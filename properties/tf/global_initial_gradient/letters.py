"""The letters of the linked proof on descent after a first step along the gradient.

W(0) is the point W_1 = W_0 + R U, where U is -grad L(W_0)/||grad L(W_0)||. V is W^mm, and 0 if no
matrix meets the constraints.
"""

from attsvm.primitives.descent_letters import (
    BEST,
    FALLS,
    GRADIENT,
    INPUT,
    LOSS,
    OWNER,
    RANGE,
    RIVAL,
    SETTING,
    M,
    V,
    W,
    X,
    direction,
    i,
    j,
    lead,
    margin,
    other,
    risk,
    second,
    t,
    x,
)
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    INV,
    LOG,
    NORM,
    VECTOR,
    Function,
    Letter,
    Term,
    as_term,
    derivative,
    least,
    same,
    substituted,
    total,
)

START, UNIT = (Function(name, (), VECTOR)() for name in ("W_0", "U"))
LENGTH = Function("R")()
STEEPEST = Function("b", (INPUT,))
"""The largest |l'| between the worst and the best score of an input."""
SLOPE = GRADIENT(START)
_rival = Letter("row", RIVAL)


def lowest(X: Term) -> Term:
    """Return the least margin of a matrix."""
    return least(margin(_rival.term, X), _rival)


def drop(j: Term) -> Term:
    """Return l(second) - l(best) for the input of a rival."""
    return LOSS(second(OWNER(j))) - LOSS(BEST(OWNER(j)))


def extent(j: Term) -> Term:
    """Return b_i G_i for the input of a rival."""
    return STEEPEST(OWNER(j)) * RANGE(OWNER(j))


LEAST_DROP = least(drop(_rival.term), _rival)
WHOLE = total(extent(_rival.term), _rival)
"""The sum of b_i G_i (T_i - 1), a sum over rivals."""
LEVEL = LOG(WHOLE * INV(LEAST_DROP))


def slope_at_start() -> Term:
    """Return the derivative of the risk at W_0 along M."""
    along = derivative(risk(START + M.term * t.term), t, FALLS)
    return substituted(along, {t: as_term(0)})


_MET = frozenset({ge(lowest(X.term), 1)})
OF_STEP = {
    "W_1 is W_0 + R U": Sequent(eq(W(0) @ M.term, START @ M.term + LENGTH * (UNIT @ M.term))),
    "the gradient at W_0 has the slope of the risk there": Sequent(
        eq(SLOPE @ M.term, slope_at_start())
    ),
    "no range is negative": Sequent(ge(RANGE(i), 0)),
    "no lead is above the range": Sequent(ge(RANGE(OWNER(j)), lead(j.term))),
    "no |l'| between the scores of an input is above b_i": Sequent(
        ge(STEEPEST(i), FALLS[LOSS](x)), frozenset({ge(x, BEST(i) - RANGE(i)), ge(BEST(i), x)})
    ),
    "V has margins of at least 1, if some matrix has": Sequent(ge(margin(j.term, V), 1), _MET),
    "no matrix of such margins is shorter": Sequent(ge(X.term @ X.term, V @ V), _MET),
    "rivals are the same or not": Sequent(eq(same(j, other) ** 2, same(j, other))),
}
AFTER_STEP = {**SETTING, **OF_STEP}


def long() -> list[Sequent]:
    """Return that grad L(W_0) is not 0, and that iota R is at least ln(Q/D) - m_0.

    iota is the least margin of U, m_0 that of W_0, Q the sum of the b_i G_i (T_i - 1), and D the
    least l(second) - l(best).
    """
    enough = ge(LENGTH * lowest(UNIT), LEVEL - lowest(START))
    return [Sequent(gt(NORM(SLOPE), 0)), Sequent(enough)]


def forward() -> list[Sequent]:
    """Return that R is at least 0."""
    return [Sequent(ge(LENGTH, 0))]


def converges(towards: str = "optimal") -> Said | None:
    """Return the claim that W(k)/||W(k)|| tends to V/||V||; None for another target."""
    claim = direction(towards)
    return claim and Said(claim.sequents, AFTER_STEP)

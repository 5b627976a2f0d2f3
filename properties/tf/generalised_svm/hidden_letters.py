"""The letters of the proof on a tight constraint of multiplier 0: one step of descent on w = W z.

The margins are w_1 and w_1 + w_2, and the scores 2, -1, -1. As z = (1, 0), a step moves the first
column of W, which is w, and nothing else.
"""

from attsvm.primitives.descent_letters import FALLS, HIGH, LOSS, LOW, RATE
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import EXP, INV, Function, Letter, Term, derivative, substituted

FIRST, SECOND = (Function(name)() for name in ("w_1", "w_2"))
AFTER, LATER = (Function(name)() for name in ("w'_1", "w'_2"))
_one, _two = Letter("one"), Letter("two")


def weights(one: Term, two: Term) -> tuple[Term, Term]:
    """Return the weights of both rivals over that of the first token."""
    return EXP(-one), EXP(-one - two)


def output(one: Term, two: Term) -> Term:
    """Return the attended score."""
    a, b = weights(one, two)
    return (2 - a - b) * INV(1 + a + b)


def _slope(by: Letter) -> Term:
    """Return the derivative of the loss at (w_1, w_2) by one of them."""
    along = derivative(LOSS(output(_one.term, _two.term)), by, FALLS)
    return substituted(along, {_one: FIRST, _two: SECOND})


SETTING = {
    "a step of size e moves w_1 against the slope of the loss": Sequent(
        eq(AFTER, FIRST - RATE * _slope(_one))
    ),
    "and w_2": Sequent(eq(LATER, SECOND - RATE * _slope(_two))),
    "the lowest score is -1": Sequent(eq(LOW, -1)),
    "the highest score is 2": Sequent(eq(HIGH, 2)),
}


def forward() -> list[Sequent]:
    """Return the fact that the step is positive."""
    return [Sequent(gt(RATE, 0))]


def lags(share: object = 1) -> Said | None:
    """Return the claims 0 < w'_1 - w_1 and w'_1 - w_1 <= w'_2 + exp(w'_2) - w_2 - exp(w_2)."""
    room = LATER + EXP(LATER) - SECOND - EXP(SECOND)
    says = gt(AFTER, FIRST), ge(room, AFTER - FIRST)
    return Said(tuple(map(Sequent, says)), SETTING) if share == 1 else None

"""The letters of proofs about the locally optimal choices of one input.

The choice of a rival r has the constraint matrices -A_r, towards the optimal token, and A_s - A_r,
towards another rival s. Its solution and its multipliers are 0 if no matrix meets its constraints.
"""

from attsvm.primitives.descent_letters import (
    GAMMA,
    OWNER,
    RIVAL,
    A,
    V,
    X,
    j,
    lead,
)
from attsvm.primitives.programme_letters import MULTIPLIERS
from attsvm.theory.proof.facts import Proposition, Sequent, eq, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    IS_ZERO,
    VECTOR,
    Function,
    Letter,
    Operand,
    Term,
    most,
    same,
    total,
)

r, s, other = (Letter(name, RIVAL) for name in ("r", "s", "third"))
SOLUTION = Function("W^mm", (RIVAL,), VECTOR)
TO_BEST, TO_RIVAL = Function("multiplier", (RIVAL,)), Function("multiplier", (RIVAL, RIVAL))
SOLVED, LOCAL = (Function(name, (RIVAL,)) for name in ("solvable", "locally optimal"))
BEST_SOLVED, BEST_LOCAL = (Function(name)() for name in ("solvable", "locally optimal"))
"""1 for a choice that has a solution, or is locally optimal, else 0; for a rival, and for the best
token."""
TOP = most(GAMMA(other), other)
SUPPORT = IS_ZERO(TOP - GAMMA(j)) * IS_ZERO(A(j) @ V - 1)
SUPPORTS = total(SUPPORT, j)
"""1 for a rival of the largest score that has margin 1 under W^mm, else 0; their number."""


def row(r: Operand, s: Operand) -> Term:
    """Return A_s - A_r."""
    return A(s) - A(r)


def short(margin: Term) -> Proposition:
    """Return that a margin is at least 1: |1 - m| + 1 - m is 0."""
    return eq(ABS(1 - margin) + 1 - margin, 0)


def meets(r: Operand, X: Term) -> Proposition:
    """Return that a matrix meets the constraints of the choice of a rival."""
    others = total((1 - same(r, s)) * short(row(r, s.term) @ X).term, s)
    return eq(short(-A(r) @ X).term + others, 0)


def few() -> list[Sequent]:
    """Return that of three rivals of one input two are the same."""
    owners = frozenset(eq(same(OWNER(one), OWNER(r)), 1) for one in (s, other))
    product = (1 - same(r, s)) * (1 - same(r, other)) * (1 - same(s, other))
    return [Sequent(eq(product, 0), owners)]


def behind() -> Proposition:
    """Return that all rivals but r score less than r."""
    gap, apart = GAMMA(r) - GAMMA(s), 1 - same(r, s)
    return eq(total(apart * (ABS(gap) - gap), s) + total(apart * IS_ZERO(gap), s), 0)


_solved, _local, _U = eq(SOLVED(r), 1), eq(LOCAL(r), 1), SOLUTION(r)
_ahead = total(ABS(lead(j.term)) - lead(j.term) + IS_ZERO(lead(j.term)), j)
BY_DEFINITION = {
    "a rival is locally optimal or not": Sequent(eq(LOCAL(r) * LOCAL(r), LOCAL(r))),
    "a locally optimal rival has a solution": Sequent(_solved, frozenset({_local})),
    "a solution beats the best token": Sequent(ge(-A(r) @ _U, 1), frozenset({_solved})),
    "a solution beats other rivals": Sequent(
        ge(row(r, s) @ _U, 1), frozenset({_solved, eq(same(r, s), 0)})
    ),
    "no rival is locally optimal if the best token has margin 1": Sequent(
        eq(LOCAL(r), 0), frozenset({ge(1, -A(r) @ _U), ge(lead(r.term), 0)})
    ),
    "none is if another rival of margin 1 scores no less": Sequent(
        eq(LOCAL(r), 0),
        frozenset({ge(1, row(r, s) @ _U), ge(GAMMA(s), GAMMA(r)), eq(same(r, s), 0)}),
    ),
    "else a rival with a solution is locally optimal": Sequent(
        _local, frozenset({_solved, gt(-A(r) @ _U, 1), behind()})
    ),
    "there is a solution if some matrix meets the constraints": Sequent(
        _solved, frozenset({meets(r.term, X.term)})
    ),
    "W^mm meets its constraints": Sequent(ge(A(j) @ V, 1), frozenset({eq(BEST_SOLVED, 1)})),
    "the best token is locally optimal only if it has a solution": Sequent(
        eq(BEST_SOLVED, 1), frozenset({eq(BEST_LOCAL, 1)})
    ),
    "it is locally optimal if it has a solution and scores more": Sequent(
        eq(BEST_LOCAL, 1), frozenset({eq(BEST_SOLVED, 1), eq(_ahead, 0)})
    ),
    **MULTIPLIERS,
    "no multiplier of a rival's solution is negative": Sequent(ge(TO_RIVAL(r, s), 0)),
    "nor is that towards the best token": Sequent(ge(TO_BEST(r), 0)),
    "a rival's solution is a sum by multipliers": Sequent(
        eq(
            _U @ X.term,
            total(TO_RIVAL(r, s) * (row(r, s) @ X.term), s) - TO_BEST(r) * (A(r) @ X.term),
        )
    ),
    "its multipliers are 0 unless the margin is 1": Sequent(
        eq(TO_RIVAL(r, s) * (row(r, s) @ _U - 1), 0)
    ),
    "so is that towards the best token": Sequent(eq(TO_BEST(r) * (A(r) @ _U + 1), 0)),
    "rivals are the same or not": Sequent(eq(same(r, s) ** 2, same(r, s))),
    "the same rivals have one matrix": Sequent(eq(same(r, s) * (row(r, s) @ X.term), 0)),
}


def alone(by: str = "second best") -> Said | None:
    """Return when the optimal choice alone is locally optimal; None for another condition.

    If it has a solution and a rival of the largest score is a support vector, it is, and no rival
    is. If it is, and no rival, there is such a support vector, unless there is no rival.
    """
    solved = frozenset({eq(BEST_SOLVED, 1)})
    only = frozenset({eq(BEST_LOCAL, 1), eq(total(LOCAL(r), r), 0), some(j)})
    claims = (
        Sequent(eq(BEST_LOCAL, 1), solved),
        Sequent(eq(LOCAL(r), 0), solved | {gt(SUPPORTS, 0)}),
        Sequent(eq(BEST_SOLVED, 1), frozenset({eq(BEST_LOCAL, 1)})),
        Sequent(gt(SUPPORTS, 0), only),
    )
    return Said(claims, BY_DEFINITION) if by == "second best" else None

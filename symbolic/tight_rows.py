"""Solutions of programmes of least norm: only tight rows restrict the points near a solution."""

from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, RECIPROCAL
from attsvm.theory.proof.rules import (
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, IS_ZERO, Letter, Term, least, most, substituted
from properties.mm._support.programme_letters import Programme
from symbolic.facts import product


def between(
    p: Programme, meets: Fact, reached: Fact, shift: Term, rows: Fact
) -> tuple[Term, Fact, Fact, Fact]:
    """Return a number t, that 0 < t <= 1/2, and that V + t (U - V) meets each row.

    A row that is not tight under V has the slack <D, V> - 1 > 0, and t is small beside all slacks.

    Args:
        p: the programme of V.
        meets: V meets each row.
        reached: U meets each row that is tight under V.
        shift: U - V.
        rows: there is a row.
    """
    j, row, D = p.j, Letter("row", p.j.sort), p.rows(p.j)
    slack = D @ p.solution - 1
    room = slack + IS_ZERO(slack)
    if_zero, if_loose, *_ = cite(INDICATOR, (), slack)
    yes, no = assume(gt(slack, 0)), assume(gt(slack, 0).denied())
    zero = decide(eq(slack, 0), meets, no)
    one = cut(if_zero, zero)
    goal = gt(room, 0)
    some_room = cases(decide(goal, yes, if_loose), decide(goal, meets, one), gt(slack, 0))
    low, high = least(substituted(room, {j: row.term}), row), most(-(p.rows(row) @ shift), row)
    some_low = bounds(at(some_room, {j: row}), "least", substituted(room, {j: row.term}), row, rows)
    whole = 2 * (low + high**2 + 1)
    unit, inverse = cite(RECIPROCAL, [decide(gt(whole, 0), some_low, square(high))], whole)
    t = low * INV(whole)
    part = decide(gt(t, 0), some_low, inverse)
    less = decide(ge(1, 2 * t), inverse, square(high), unit)
    down = decide(
        ge(high**2 + 1, -(D @ shift)), beyond("most", -(D @ shift), j), square(2 * high - 1)
    )
    goal = ge(p.at(p.solution + t * shift), 0)
    loose = decide(
        goal,
        *(beyond("least", room, j), if_loose, product(part, down), scale(unit, low)),
        *(some_low, part),
    )
    tight = decide(goal, part, reached, scale(one, D @ shift + slack), zero)
    return t, part, less, cases(loose, tight, gt(slack, 0))

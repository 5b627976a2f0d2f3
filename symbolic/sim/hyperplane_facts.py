"""Decisions of inputs with different optimal tokens differ, by linked facts.

On `sim/hyperplanes`, readings amended, sharp-1 and sharp-2. For D = x_opt,i - x_opt,h the margins
are <w_i, D> >= 1 and <w_h, -D> >= 1, if each optimal token is a rival of the other one.
"""

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import OWNER, QUERY, V, j, margin
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.programme_letters import APART, NORMAL, OFFSET, TURNED, any_input, h, i, k
from attsvm.theory.proof.facts import Fact, Proposition, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    assume,
    at,
    bounds,
    cases,
    cite,
    conclude,
    decide,
    scale,
    square,
)
from attsvm.theory.proof.terms import NORM, Over, Term, as_term
from properties.sim.hyperplanes import WHOLE


def _margins() -> tuple[Fact, Fact, Fact]:
    """Return that X^mm exists, <w_i, D> >= 1 and <w_h, -D> >= 1."""
    exists, _ = suppose(FEASIBLE)
    some, reached = suppose(WHOLE)
    own = Over(OWNER, i.term)
    lowest = bounds(at(exists, {j: k}), "least", margin(k.term, V), k, some, own)
    ahead = decide(ge(NORMAL(i) @ APART, 1), reached, lowest)
    return exists, ahead, at(ahead, {i: h, h: i})


@linked
def prove_apart() -> str:
    """Prove that ||w_i - w_h|| ||D|| >= 2."""
    exists, ahead, behind = _margins()
    between = NORMAL(i) - NORMAL(h)
    (within,) = cite(CAUCHY_SCHWARZ, (), between, APART)
    (_, one), (_, other) = cite(LENGTH, (), between), cite(LENGTH, (), APART)
    sequents = present(letters.far_apart(), "a claim").sequents
    parts = scale(one, NORM(APART) ** 2), scale(other, between @ between)
    conclude(exists, sequents[0])
    conclude(decide(sequents[1].proposition, within, ahead, behind, *parts), sequents[1])
    return "for any number of tokens, sub-sequences and axes"


Plane = tuple[Term, Term]
"""A vector w and a number c."""


def _not_along(
    one: Plane, other: Plane, D: Term, ahead: Fact, behind: Fact, goal: Proposition
) -> Fact:
    """Return that v is no positive multiple of u, for u = (w_i, c_i) and v = (w_h, c_h).

    Let |u|^2 |v|^2 <= <u, v>^2 and <u, v> >= 0. Then |v|^2 u = <u, v> v. Against D the left side is
    positive and the right side is not.

    Args:
        one: u.
        other: v.
        D: a vector.
        ahead: that <w_i, D> >= 1.
        behind: that <w_h, -D> >= 1.
        goal: that <u, v>^2 < |u|^2 |v|^2.
    """
    (w, c), (w_h, c_h) = one, other
    both, length = w @ w_h + c * c_h, w_h @ w_h + c_h * c_h
    yes, no, turned = assume(goal), assume(goal.denied()), assume(ge(both, 0))
    apart, beside = length * w - both * w_h, length * c - both * c_h
    (_, size_square), (span, _) = cite(LENGTH, (), w_h), cite(LENGTH, (), D)
    # |v|^2 is above 0, as <w_h, -D> >= 1
    (short,) = cite(CAUCHY_SCHWARZ, (), w_h, -D)
    back, _ = cite(LENGTH, (), -D)
    far = decide(gt(NORM(w_h), 0), short, behind, back)
    squares = [[square(x)] if x.parts else [] for x in (c_h, beside)]
    some = decide(gt(length, 0), size_square, far, *squares[0])
    # the part of |v|^2 u - <u, v> v in w has length 0
    _, part_square = cite(LENGTH, (), apart)
    nothing = decide(ge(0, NORM(apart)), part_square, some, no, *squares[1])
    (along,) = cite(CAUCHY_SCHWARZ, (), apart, D)
    wide = decide(ge(apart @ D, length), some, ahead, behind, turned)
    return cases(decide(goal, yes), decide(goal, along, span, nothing, wide, some), goal)


@linked
def prove_half_spaces() -> str:
    """Prove that (w_h, c_h) is no positive multiple of (w_i, c_i): the half-spaces differ."""
    exists, ahead, behind = _margins()
    first, last = present(letters.differ(), "a claim").sequents
    one, other = (NORMAL(i), OFFSET(i)), (NORMAL(h), OFFSET(h))
    conclude(exists, first)
    conclude(_not_along(one, other, APART, ahead, behind, last.proposition), last)
    return "for any number of tokens, sub-sequences and axes"


@linked
def prove_queries() -> str:
    """Prove that z_h is no positive multiple of z_i, in the same way, as <w, D> = <z, X^T D>."""
    exists, ahead, behind = _margins()
    claim = present(letters.differ(of="queries"), "a claim")
    (known,) = (setting(claim.setting, sentence) for sentence in claim.setting)
    ahead = decide(ge(QUERY(i) @ TURNED, 1), ahead, at(known, {any_input: i}))
    behind = decide(ge(QUERY(h) @ -TURNED, 1), behind, at(known, {any_input: h}))
    first, last = claim.sequents
    one, other = ((QUERY(x), as_term(0)) for x in (i, h))
    conclude(exists, first)
    conclude(_not_along(one, other, TURNED, ahead, behind, last.proposition), last)
    return "for any number of tokens, sub-sequences and axes"

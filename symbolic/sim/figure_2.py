"""Orthonormal tokens with one successor each: every step raises every margin, by linked facts.

Let q be the product of the queries of two problems, which is 0 or 1. If it is 1, both have the same
next word. So <A_r, A_j> = q (1 + <e_r, e_j>) for the words e_r and e_j of rivals, which is not
negative, and 2 if r = j.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    ASKED,
    EMBEDDING,
    FALL,
    GAMMA,
    NEXT,
    NUMBER,
    OWNER,
    SETTING,
    WORD_OF,
    A,
    M,
    i,
    j,
    other,
    peer,
    raised,
)
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import add_up, at, cite, conclude, cut, decide, one_of_sum, scale
from attsvm.theory.proof.terms import NORM, Letter, Term
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from properties.sim.figure_2 import ORTHONORMAL, SUCCESSOR
from symbolic.attention_facts import OWN, THEIRS, attends, moves, steepness
from symbolic.facts import against

THEIR = OWNER(other)
"""The problem of another rival."""
Q = EMBEDDING(ASKED(THEIR)) @ EMBEDDING(ASKED(OWN))


def pair(fact: Fact, one: Term, another: Term) -> Fact:
    """Return a fact about any two words, for the two given words."""
    v, w = sorted(fact.letters, key=lambda x: x.name)
    return at(fact, {v: one, w: another})


def apart(mine: Letter, theirs: Letter, unit: Fact, binary: Fact, alike: Fact, alone: Fact) -> Fact:
    """Return that q <e_n, e_t> = 0 for the next word n of a problem and the word t of a rival.

    Args:
        mine: the rival of the word t.
        theirs: a rival of the other problem.
        unit: embeddings have length 1.
        binary: q is 0 or 1.
        alike: q (1 - <e_n, e_m>) = 0 for the next words n and m of both problems.
        alone: <e_m, e_t> = 0 for the next word m of the problem of `mine`.
    """
    (letter,) = unit.letters
    n, m = (EMBEDDING(NEXT(OWNER(one))) for one in (theirs, mine))
    t, D = EMBEDDING(WORD_OF(mine)), n - m
    (up,), down = cite(CAUCHY_SCHWARZ, (), D, t), against(D, t)
    (_, long), (_, one) = cite(LENGTH, (), D), cite(LENGTH, (), t)
    units = [at(unit, {letter: w}) for w in (NEXT(OWNER(theirs)), NEXT(OWNER(mine)), WORD_OF(mine))]
    one = decide(eq(NORM(t) ** 2, 1), one, units[2])
    wide = decide(
        ge(2 - 2 * (n @ m), (D @ t) ** 2),
        *(up, down, scale(one, NORM(D) ** 2), long, *units[:2]),
    )
    wide = decide(ge(0, Q * (D @ t) ** 2), decide(ge(Q, 0), binary), wide, scale(alike, 2))
    return decide(eq(Q * (n @ t), 0), wide, scale(binary, (D @ t) ** 2), scale(alone, Q))


@linked
def prove() -> str:
    """Prove that the margin (e_a - e_t)^T X e_q grows, a the successor of q, at every step."""
    a = attends(setting(SETTING, "no score is above the best of its input"))
    step, bent = moves(a), steepness(a, SMOOTH_SLOPE, FALLING)
    unit, binary, products, alone, zero, best = suppose(ORTHONORMAL)
    (follows,) = suppose(SUCCESSOR)
    # -l'(u), s_j and u = s_o are positive, and so is p_j
    _, over = cite(RECIPROCAL, [a.input], NUMBER)
    falls = at(decide(gt(FALL(a.u(i, K)), 0), bent.at_output, bent.positive), {i: OWN})
    scores = add_up(scale(zero, a.s(j, K)), j, THEIRS)
    u = decide(eq(a.u(i, K), a.s_o(i, K)), a.mean, scale(best, a.s_o(i, K)), scores)
    weight = decide(gt(FALL(a.u(OWN, K)) * a.s(j, K), 0), falls, a.s_positive)
    weight = decide(
        gt(weight.proposition.term * (a.u(OWN, K) - GAMMA(j)), 0),
        *(weight, at(u, {i: OWN}), zero, at(a.s_o_positive, {i: OWN})),
    )
    pulls = decide(gt(step.p(j, K), 0), step.p_is, weight, over)
    # <A_r, A_j> is q (1 + <e_r, e_j>)
    q_binary = pair(binary, ASKED(THEIR), ASKED(OWN))
    words = pair(binary, WORD_OF(other), WORD_OF(j))
    (letter,) = unit.letters
    asked = [at(unit, {letter: f(k)}) for f in (ASKED, NEXT) for k in (THEIR, OWN)]
    alike = cut(at(follows, {i: THEIR, peer: OWN}), q_binary, *asked)
    mine = apart(j, other, unit, q_binary, alike, alone)
    theirs = apart(other, j, unit, q_binary, alike, at(alone, {j: other}))
    e_r, e_j = EMBEDDING(WORD_OF(other)), EMBEDDING(WORD_OF(j))
    whole = decide(
        eq(A(other) @ A(j), Q * (1 + e_r @ e_j)), products, alike, mine, theirs, degree=1
    )
    some_q, some_words = decide(ge(Q, 0), q_binary), decide(ge(e_r @ e_j, 0), words)
    aligned = decide(ge(A(other) @ A(j), 0), whole, some_q, some_words)
    each = decide(ge(step.p(other, K) * (A(other) @ A(j)), 0), at(pulls, {j: other}), aligned)
    own = at(one_of_sum(each, other), {other: j})
    units = [at(unit, {letter: w}) for w in (ASKED(OWN), WORD_OF(j))]
    square = at(whole, {other: j})
    square = decide(eq(A(j) @ A(j), 2), square, scale(units[0], 1 + e_j @ e_j), units[1])
    parts = at(step.descends, {M: A(j)}), at(step.grown, {M: A(j)})
    (sequent,) = present(raised(), "a claim").sequents
    more = scale(square, step.p(j, K))
    conclude(decide(sequent.proposition, *parts, step.rate, own, more, pulls), sequent)
    return "for any vocabulary, any sentences with one successor a token, any start and step"

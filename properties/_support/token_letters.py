"""The letters of proofs about all tokens of an input, and about any choice of tokens.

Token t of the input `OF(t)` has the key matrix x_t z^T, so that its logit at W is <x_t z^T, W>. A
choice alpha takes a token of each input.
"""

from attsvm.primitives.descent_letters import (
    BEST,
    GAMMA,
    INPUT,
    OPTIMAL,
    OUTER,
    OWNER,
    QUERY,
    RIVAL,
    V,
    X,
    i,
    j,
    lead,
    q,
    w,
    x,
)
from attsvm.primitives.descent_letters import TOKEN as TOKEN_OF_RIVAL
from attsvm.primitives.programme_letters import meets as all_met
from attsvm.theory.proof.facts import Proposition, Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    IS_ZERO,
    NORM,
    REAL,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    Term,
    most,
    same,
    total,
)

TOKEN = Sort("token", index=True)
t, u = Letter("t", TOKEN), Letter("u", TOKEN)
_rival = Letter("rival", RIVAL)
_one, _other = Letter("one", TOKEN), Letter("other", TOKEN)
OF = Function("input", (TOKEN,), INPUT)
"""The input of a token."""
KEY = Function("x z^T", (TOKEN,), VECTOR)

CHOICE = Sort("choice", index=True)
c = Letter("alpha", CHOICE)
OTHER = Function("other", (CHOICE, TOKEN))
"""1 for a token that the choice does not take, else 0."""
DIFFERENCE, ROW = (Function(name, (CHOICE, TOKEN), VECTOR) for name in ("x_alpha - x", "A"))
"""The token that the choice takes in the same input less this token; this times z^T."""
SOLUTION = Function("W^mm", (CHOICE,), VECTOR)
SPREAD = Function("w", (CHOICE, INPUT), VECTOR)
"""The w with <x_alpha - x, w> = 1 for the other tokens of an input."""

TAKEN, RIVAL_MARGIN = (Function(x, (CHOICE, RIVAL)) for x in ("taken", "margin of a rival"))
BEST_MARGIN = Function("margin of the best", (CHOICE, INPUT))
"""1 for a rival that the choice takes, else 0; margins of other tokens under W^mm(alpha)."""
SOLVED, LOCAL = (Function(x, (CHOICE,)) for x in ("solvable", "locally optimal"))
"""1 for a choice that has a solution, or is locally optimal, else 0."""

FIRST = Function("first input", (), INPUT)()
OWN_QUERY = Function("q_1", (), VECTOR)()
"""The q with <q, z> = 1 for the first query and <q, z> = 0 for the others."""
SEPARATOR, CUT = Function("w", (REAL,), VECTOR), Function("b", (REAL,))
"""w and b with <w, x> > b for the tokens that score above a level, and < b for the others."""


def logit(t: Term) -> Term:
    """Return the logit of a token at the matrix X."""
    return KEY(t) @ X.term


def attention(t: Term, own: Term) -> Term:
    """Return the attention to a token, by softmax over the tokens of its input `own`."""
    return EXP(logit(t)) * INV(total(EXP(logit(_other.term)), _other, Over(OF, own)))


def farthest(t: Term, own: Term) -> Term:
    """Return the largest ||x_t - x_u|| ||z|| for tokens u of an input `own`."""
    return most(NORM(KEY(t) - KEY(_other)), _other, Over(OF, own))


def widest(own: Term) -> Term:
    """Return the largest ||x_t - x_u|| ||z|| of two tokens of an input."""
    return most(farthest(_one.term, own), _one, Over(OF, own))


def needs_norm() -> Said:
    """Return the claim (1 + (T - 1) exp(-D ||X||)) sum_t s_t^2 <= 1 for every input and every X.

    D is the largest ||x_t - x_u|| ||z|| and s the attention of the input at X.
    """
    over = Over(OF, i.term)
    least = 1 + (total(1, t, over) - 1) * EXP(-widest(i.term) * NORM(X))
    squares = total(attention(t.term, i.term) ** 2, t, over)
    known = {"each input has a token": Sequent(gt(total(1, t, over), 0))}
    return Said((Sequent(ge(1, least * squares)),), known)


# independent queries and tokens


def affinely_independent() -> list[Sequent]:
    """Return that some w has <x_alpha - x, w> = 1 for all other tokens of an input."""
    return [Sequent(eq(DIFFERENCE(c, t) @ SPREAD(c, OF(t)), OTHER(c, t)))]


def meets(X: Term) -> Proposition:
    """Return that a matrix meets the constraints of a choice."""
    margin = ROW(c, _one) @ X
    return eq(total(OTHER(c, _one) * (ABS(1 - margin) + 1 - margin), _one), 0)


def all_solvable() -> Said:
    """Return the claim that for every choice W^mm(alpha) has margins of at least 1."""
    product = (DIFFERENCE(c, t) @ w.term) * (QUERY(OF(t)) @ q.term)
    known = {
        "a token is taken or not": Sequent(eq(OTHER(c, t) * OTHER(c, t), OTHER(c, t))),
        "A has the product <x_alpha - x, w> <z, q> with w q^T": Sequent(
            eq(ROW(c, t) @ OUTER(w, q), product)
        ),
        "W^mm(alpha) meets the constraints if some matrix does": Sequent(
            ge(OTHER(c, t) * (ROW(c, t) @ SOLUTION(c) - 1), 0), frozenset({meets(X.term)})
        ),
    }
    other = frozenset({gt(OTHER(c, t), 0)})
    return Said((Sequent(ge(ROW(c, t) @ SOLUTION(c), 1), other),), known)


# locally optimal choices


def everywhere() -> list[Sequent]:
    """Return that all tokens that a choice does not take have margin 1, if it has a solution."""
    solved, selects = eq(SOLVED(c), 1), gt(TAKEN(c, j), 0)
    return [
        Sequent(eq(BEST_MARGIN(c, OWNER(j)), 1), frozenset({solved, selects})),
        Sequent(eq(RIVAL_MARGIN(c, j), 1), frozenset({solved, selects.denied()})),
    ]


def unique_choice() -> Said:
    """Return the claim that a choice is locally optimal exactly if it is optimal.

    It is optimal if the rivals that it takes score as much as the best token of their input. Some
    facts say what locally optimal means, as far as the proof needs it.
    """
    local, solved, selects = eq(LOCAL(c), 1), eq(SOLVED(c), 1), gt(TAKEN(c, j), 0)
    lost = total(TAKEN(c, j) * lead(j.term), j)
    less = total(TAKEN(c, _rival) * lead(_rival.term), _rival, Over(OWNER, OWNER(j)))
    apart = lead(j.term)
    none, ahead = eq(total(TAKEN(c, j), j), 0), eq(total(ABS(apart) - apart + IS_ZERO(apart), j), 0)
    known = {
        "a rival is taken or not": Sequent(eq(TAKEN(c, j) * TAKEN(c, j), TAKEN(c, j))),
        "a locally optimal choice has a solution": Sequent(solved, frozenset({local})),
        "it is not if a best token of margin 1 at most scores no less": Sequent(
            eq(LOCAL(c), 0), frozenset({selects, ge(1, BEST_MARGIN(c, OWNER(j))), ge(less, 0)})
        ),
        "the solution without rivals is X^mm": Sequent(solved, frozenset({none, all_met(V)})),
        "with a solution and no rival it is locally optimal if rivals score less": Sequent(
            local, frozenset({none, solved, ahead})
        ),
    }
    optimal = eq(lost, 0)
    claims = Sequent(local, frozenset({optimal})), Sequent(optimal, frozenset({local}))
    return Said(claims, known)


# the first input


def two_scores() -> list[Sequent]:
    """Return that some rival of the first input has a lower score than its optimal token."""
    return [Sequent(gt(total(lead(j.term), j, Over(OWNER, FIRST)), 0))]


def own_query() -> list[Sequent]:
    """Return that some q has <q, z> = 1 for the first query, and <q, z> = 0 for the others."""
    return [
        Sequent(eq(OWN_QUERY @ QUERY(i), same(i, FIRST))),
        Sequent(eq(OWN_QUERY @ QUERY(FIRST), 1)),
    ]


def levels_apart() -> list[Sequent]:
    """Return that tokens of the first input above any level can be separated from the others."""
    mine, side = eq(same(OWNER(j), FIRST), 1), TOKEN_OF_RIVAL(j) @ SEPARATOR(x) - CUT(x)
    best = OPTIMAL(FIRST) @ SEPARATOR(x) - CUT(x)
    return [
        Sequent(gt(side, 0), frozenset({mine, gt(GAMMA(j), x)})),
        Sequent(gt(-side, 0), frozenset({mine, ge(x, GAMMA(j))})),
        Sequent(gt(best, 0), frozenset({gt(BEST(FIRST), x)})),
    ]

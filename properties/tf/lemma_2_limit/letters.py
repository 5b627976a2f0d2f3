"""The letters of linked proofs on the risk of a matrix of given norm.

Here rivals j are the tokens of lower score than the best one of their input, and o is any optimal
token. Logits are products with key matrices x z^T. A matrix separates if the largest logit of the
optimal tokens of each input is larger by at least 1 than those of all its rivals. M is the shortest
such matrix, and 0 if there is none. The statement's point is W(0).
"""

from attsvm.primitives.descent_letters import (
    BEST,
    GAMMA,
    INFIMUM,
    INPUT,
    LOSS,
    NUMBER,
    OWNER,
    RIVAL,
    W,
    X,
    i,
    j,
)
from attsvm.primitives.descent_letters import SETTING as OF_SCORES
from attsvm.theory.proof.facts import Proposition, Sequent, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    Term,
    least,
    most,
    total,
)

OPTIMAL = Sort("optimal token", index=True)
o = Letter("o", OPTIMAL)
OF = Function("input of an optimal token", (OPTIMAL,), INPUT)
BEST_KEY = Function("x_o z^T", (OPTIMAL,), VECTOR)
KEY = Function("x_j z^T", (RIVAL,), VECTOR)
M = Function("M", (), VECTOR)()
SIZE = Function("y")()
"""The number x of the bound from above."""
_one, _other, _tied = Letter("one", RIVAL), Letter("other", RIVAL), Letter("tied", OPTIMAL)


def ahead(j: Term, X: Term) -> Term:
    """Return the lead of the largest logit of an optimal token over that of a rival."""
    return most(BEST_KEY(o) @ X, o, Over(OF, OWNER(j))) - KEY(j) @ X


def separates(X: Term) -> Proposition:
    """Return that a matrix separates, if there is a rival."""
    return ge(least(ahead(_other.term, X), _other), 1)


def best_powers(i: Term, X: Term) -> Term:
    """Return the sum of the exponentials of logits of optimal tokens."""
    return total(EXP(BEST_KEY(_tied) @ X), _tied, Over(OF, i))


def whole(i: Term, X: Term) -> Term:
    """Return the sum of all exponentials of logits of an input."""
    return best_powers(i, X) + total(EXP(KEY(_one) @ X), _one, Over(OWNER, i))


def output(i: Term, X: Term) -> Term:
    """Return the score that an input attends to."""
    others = total(EXP(KEY(_one) @ X) * GAMMA(_one), _one, Over(OWNER, i))
    return INV(whole(i, X)) * (best_powers(i, X) * BEST(i) + others)


def excess(X: Term) -> Term:
    """Return L(X) - L_*."""
    return total(LOSS(output(i.term, X)), i) * INV(NUMBER) - INFIMUM


def optimal(i: Term) -> Term:
    """Return the number of optimal tokens of an input."""
    return total(1, _tied, Over(OF, i))


def lower(i: Term) -> Term:
    """Return the number of tokens of lower score of an input."""
    return total(1, _one, Over(OWNER, i))


def drop(i: Term, shortfall: Term) -> Term:
    """Return l(best - shortfall) - l(best) for an input."""
    return LOSS(BEST(i) - shortfall) - LOSS(BEST(i))


def shortfall_below(i: Term) -> Term:
    """Return (best - next)/(1 + k exp(x)) for an input that has rivals, and x = ||W||/||M||."""
    second = most(GAMMA(_one), _one, Over(OWNER, i))
    return (BEST(i) - second) * INV(1 + optimal(i) * EXP(NORM(W(0)) * INV(NORM(M))))


def shortfall_above(i: Term) -> Term:
    """Return r (best - least)/(r + exp(y)); it is 0 for an input without rivals."""
    worst = least(GAMMA(_one), _one, Over(OWNER, i))
    return lower(i) * (BEST(i) - worst) * INV(lower(i) + EXP(SIZE))


SCORES = (
    "there is an input",
    "no score is below the lowest",
    "no best score is below the lowest",
    "no best score is above the highest",
)
SETTING = {
    **{words: OF_SCORES[words] for words in SCORES},
    "each input has an optimal token": Sequent(gt(optimal(i.term), 0)),
    "rivals score less than the best": Sequent(gt(BEST(OWNER(j)), GAMMA(j))),
    "M separates, if a matrix does": Sequent(
        ge(ahead(j.term, M), 1), frozenset({separates(X.term)})
    ),
    "no matrix that separates is shorter": Sequent(
        ge(X.term @ X.term, M @ M), frozenset({separates(X.term)})
    ),
    "y is not negative": Sequent(ge(SIZE, 0)),
}
BELOW = ge(
    excess(W(0)),
    least(drop(OWNER(_other), shortfall_below(OWNER(_other))), _other) * INV(NUMBER),
)
ABOVE = ge(total(drop(i.term, shortfall_above(i.term)), i) * INV(NUMBER), excess(SIZE * M))


def separated() -> list[Sequent]:
    """Return the facts that there is a rival, and that M separates."""
    return [Sequent(some(j)), Sequent(ge(ahead(j.term, M), 1))]


def from_below(faster: int = 1, **_: object) -> Said | None:
    """Return the claim that there is a rival, and the bound of L(W) - L_* from below."""
    claims = some(j), BELOW
    return Said(tuple(map(Sequent, claims)), SETTING) if faster == 1 else None


def from_above(faster: int = 1, **_: object) -> Said | None:
    """Return the claim that there is a rival, that M separates, and the bound of L(y M) - L_*."""
    return Said((*separated(), Sequent(ABOVE)), SETTING) if faster == 1 else None


def approached(faster: int = 1, **_: object) -> Said | None:
    """Return both bounds; that from above if a matrix separates."""
    above = Sequent(ABOVE, frozenset({separates(X.term)}))
    claims = Sequent(some(j)), Sequent(BELOW), above
    return Said(claims, SETTING) if faster == 1 else None

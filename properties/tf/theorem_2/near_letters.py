"""The letters of the proof on points of a ball that are as good as the SVM point rho W^mm.

W(0) is the point W, and W(1) is rho W^mm. Rivals j belong to inputs of several tokens. Some score
has the least |l'| of an interval, and some the largest, as l' is continuous.
"""

from attsvm.primitives import programme_letters
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    INFIMUM,
    INPUT,
    LOW,
    NUMBER,
    OWNER,
    RIVAL,
    M,
    V,
    W,
    i,
    j,
    risk,
    second,
    x,
)
from attsvm.primitives.descent_letters import SETTING as OF_SCORES
from attsvm.primitives.loss_hypotheses import SMOOTH_LOSS
from attsvm.primitives.programme_letters import WEIGHT
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import INV, LOG, NORM, Function, Letter, Term, most, total

RHO, COST = Function("rho")(), Function("G")()
WORST, FLAT, STEEP = (Function(name, (INPUT,)) for name in ("worst", "flat", "steep"))
"""The lowest score of an input, and its scores at which -l' is least and largest."""
NEAR = Function("near the best", (INPUT,))
"""The score at which -l' is least between the best score of an input and G/m below it."""
POINT, BALL = W(0) - RHO * V, RHO**2 * (V @ V)
"""W - rho W^mm, and the square of the radius R."""
_rival = Letter("row", RIVAL)


def least_part(i: Term) -> Term:
    """Return m d: the least |l'| of an input times its least score gap."""
    return FALL(FLAT(i)) * (BEST(i) - second(i))


WHOLE = total(FALL(STEEP(OWNER(j))) * (BEST(OWNER(j)) - WORST(OWNER(j))), j)
"""sum_i M_i D_i (T_i - 1), a sum over rivals of the largest |l'| times the largest gap."""
GAMMA_OF_SCORES = most(WHOLE * INV(least_part(OWNER(_rival))), _rival)
_OWN = frozenset({ge(x, WORST(i)), ge(BEST(i), x)})
SCORES = (
    "there is an input",
    "fall is the negative slope of the loss",
    "no best score is above the highest",
    "no score is above the best of its input",
)
SETTING = {
    **{words: OF_SCORES[words] for words in SCORES},
    **programme_letters.MULTIPLIERS,
    "W(1) is rho W^mm": Sequent(eq(W(1) @ M.term, RHO * (V @ M.term))),
    "no score is below the worst of its input": Sequent(ge(GAMMA(j), WORST(OWNER(j)))),
    "nor is the best": Sequent(ge(BEST(i), WORST(i))),
    "no worst score is below the lowest": Sequent(ge(WORST(i), LOW)),
    "no |l'| between the scores of an input is less than at one score": Sequent(
        ge(FALL(x), FALL(FLAT(i))), _OWN
    ),
    "it is not below the worst": Sequent(ge(FLAT(i), WORST(i))),
    "it is not above the best": Sequent(ge(BEST(i), FLAT(i))),
    "none is more than at another score": Sequent(ge(FALL(STEEP(i)), FALL(x)), _OWN),
}


_CLOSE = BEST(i) - COST * INV(FALL(FLAT(i)))
_SHARE = WEIGHT(j) * INV(total(WEIGHT(j), j))
SHARPER = {
    **SETTING,
    "rho is positive": Sequent(gt(RHO, 0)),
    "G is n (L(rho W^mm) - L_*)": Sequent(eq(COST, NUMBER * (risk(W(1)) - INFIMUM))),
    "no |l'| within G/m below the best score is less than at one score": Sequent(
        ge(FALL(x), FALL(NEAR(i))), frozenset({ge(x, _CLOSE), ge(BEST(i), x)})
    ),
    "this score is not further below the best": Sequent(ge(NEAR(i), _CLOSE)),
    "it is not above the best one": Sequent(ge(BEST(i), NEAR(i))),
}


def weighted(j: Term) -> Term:
    """Return c_j = b_i (gamma_best - gamma_j) (1 - G/(m_i d_i)) for the input i of a rival."""
    own = OWNER(j)
    return FALL(NEAR(own)) * (BEST(own) - GAMMA(j)) * (1 - COST * INV(least_part(own)))


KAPPA = RHO + LOG(COST) - total(_SHARE * LOG(weighted(j.term) * INV(_SHARE)), j)
"""kappa; a rival of multiplier 0 adds 0."""


def cheap() -> list[Sequent]:
    """Return the fact that G is below m_i d_i for each input of several tokens."""
    return [Sequent(gt(least_part(OWNER(j)), COST))]


def closest(share: object = 1, power: int = 1, gaps: str = "own") -> Said | None:
    """Return the claim ||W/R - U||^2 <= 2 kappa/rho, and that U and kappa exist.

    It says that ||W - rho W^mm||^2 <= 2 kappa rho ||W^mm||^2, that ||W^mm|| > 0, and that G and all
    c_j are positive.
    """
    bound = 2 * KAPPA * RHO * (V @ V)
    texts = gt(NORM(V), 0), gt(COST, 0), gt(weighted(j.term), 0), ge(bound, POINT @ POINT)
    known = (share, power, gaps) == (1, 1, "own")
    return Said(tuple(map(Sequent, texts)), SHARPER, (SMOOTH_LOSS,)) if known else None


def large() -> list[Sequent]:
    """Return the fact that rho is at least ln(2 Gamma)."""
    return [Sequent(ge(RHO, LOG(2 * GAMMA_OF_SCORES)))]


def good() -> list[Sequent]:
    """Return the facts that ||W|| <= R and L(W) <= L(rho W^mm)."""
    return [Sequent(ge(BALL, W(0) @ W(0))), Sequent(ge(risk(W(1)), risk(W(0))))]


def close(share: object = 1, power: int = 1) -> Said | None:
    """Return the claim ||W/R - U||^2 <= 2 ln(2 Gamma)/rho, and that U and Gamma exist.

    It says that ||W - rho W^mm||^2 <= 2 ln(2 Gamma) rho ||W^mm||^2, that ||W^mm|| > 0, and that
    all m_i d_i are positive.
    """
    bound = 2 * LOG(2 * GAMMA_OF_SCORES) * RHO * (V @ V)
    says = gt(NORM(V), 0), gt(least_part(OWNER(j)), 0), ge(bound, POINT @ POINT)
    known = (share, power) == (1, 1)
    return Said(tuple(map(Sequent, says)), SETTING, (SMOOTH_LOSS,)) if known else None

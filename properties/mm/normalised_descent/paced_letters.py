"""The letters of the proof on normalised descent: those of descent, and steps of length s."""

from attsvm.primitives.descent_letters import COUNT, GRADIENT, RIVAL, SETTING, A, M, V, W, j, margin
from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import INV, LOG, NORM, Function, Letter, most, total

PACE = Function("s")()
"""The length of a step."""
_rival, _G = Letter("rival", RIVAL), GRADIENT(W(K))
LONGEST = most(NORM(A(_rival)), _rival)
"""B, the largest ||k_alpha - k_t||."""
_OF_STEPS = (
    "descent takes the step e along the negative gradient of the risk",
    "the step is positive",
)
PACED = {
    **{words: sequent for words, sequent in SETTING.items() if words not in _OF_STEPS},
    "a step has the length s, along the negative gradient of the risk": Sequent(
        eq(W(K.term + 1) @ M.term, W(K) @ M.term - PACE * (_G @ M.term) * INV(NORM(_G)))
    ),
    "s is positive": Sequent(gt(PACE, 0)),
    "the first step has the number 0": Sequent(eq(COUNT(0), 0)),
    "the next step has the next number": Sequent(eq(COUNT(K.term + 1), COUNT(K) + 1)),
}

RIVALS = total(1, j)
"""J, the number of rivals."""
_N = NORM(V)
DRIFT = LONGEST * _N * (_N * LOG(RIVALS) + PACE / 2)
"""B a (a ln J + s/2) with a = ||p*||."""


def close(towards: str = "optimal") -> Said | None:
    """Return the claims that p* exists and is not 0, and of the distance from its direction.

    For k >= 1 it is N - P <= s + B a (a ln J + s/2) (1 + ln k), with the norm N of the prompt and
    its component P along p*.
    """
    after, number = W(K.term + 1), COUNT(K.term + 1)
    apart = ge(PACE + DRIFT * (1 + LOG(number)), NORM(after) - (after @ V) * INV(_N))
    says = ge(margin(j.term, V), 1), gt(_N, 0), apart
    return Said(tuple(map(Sequent, says)), PACED) if towards == "optimal" else None


def advanced(share: object = 1, more: int = 0, pace: str = "normalised") -> Said | None:
    """Return the claims that p* exists, B > 0, and <p_k - p_0, p*> >= k s/B."""
    gain = ge((W(K) - W(0)) @ V, COUNT(K) * PACE * INV(LONGEST))
    says = ge(margin(j.term, V), 1), gt(LONGEST, 0), gain
    own = (share, more, pace) == (1, 0, "normalised")
    return Said(tuple(map(Sequent, says)), PACED) if own else None

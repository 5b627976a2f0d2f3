"""The letters of the linked proof that label margins shrink as attention leaves the choice alpha.

Rivals j are all tokens of input i but the selected one. Vectors are tokens times the label Y_i.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

from attsvm.primitives.descent_letters import INPUT, OWNER, RIVAL, M, i, j
from attsvm.theory.proof.facts import Sequent, eq, ge, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import NORM, VECTOR, Function, Over, Term, least, most, total

SELECTED, BEST = (Function(name, (INPUT,), VECTOR) for name in ("selected", "best"))
"""The selected token of an input, and a token with the largest label margin under the head."""
OTHER = Function("other", (RIVAL,), VECTOR)
SHARE, ATTENTION = (Function(name, (INPUT,)) for name in ("share", "attention"))
"""The weight w_i of an input, and its attention to the selected token."""
WEIGHT = Function("weight", (RIVAL,))
"""The attention to a rival."""
H, HEAD = (Function(name, (), VECTOR)() for name in ("h", "v(alpha)"))
"""Any head, and v(alpha), or 0 if there is none."""
GAMMA, LONGEST = Function("Gamma")(), Function("longest")()
"""Gamma, and the largest ||Z_beta|| of another choice; 0 if there is none."""
Z = total(SHARE(i) * SELECTED(i), i)
"""Z_alpha."""
MEAN = ATTENTION(i) * SELECTED(i) + total(WEIGHT(j) * OTHER(j), j, Over(OWNER, i.term))
"""The attended token Y_i x_i^p."""
OFF = total(WEIGHT(j), j, Over(OWNER, i.term))
MARGIN = least(H @ MEAN, i)


def exchanged(own: Term) -> Term:
    """Return Z_beta for the choice of all best tokens, but rival j in its input `own`."""
    return total(SHARE(i) * BEST(i), i) + SHARE(own) * (OTHER(j) - BEST(own))


SETTING = {
    "there is an input": Sequent(some(i)),
    "weights are at least 0": Sequent(ge(SHARE(i), 0)),
    "weights add up to 1": Sequent(eq(total(SHARE(i), i), 1)),
    "attention is at least 0": Sequent(ge(WEIGHT(j), 0)),
    "so is that to the selected token": Sequent(ge(ATTENTION(i), 0)),
    "attention adds up to 1": Sequent(eq(ATTENTION(i) + OFF, 1)),
    "weights are multipliers of v(alpha)": Sequent(eq(HEAD @ M.term, (HEAD @ HEAD) * (Z @ M.term))),
    "Gamma is 1/||v(alpha)||, or 0 if there is none": Sequent(
        eq(GAMMA * (GAMMA * NORM(HEAD) - 1), 0)
    ),
    "it is not below 0": Sequent(ge(GAMMA, 0)),
    "Z_alpha is 0 if there is no v(alpha)": Sequent(eq(Z @ M.term, 0), frozenset({ge(-GAMMA, 0)})),
    "no selected token has a larger margin than the best": Sequent(
        ge(H @ BEST(i), H @ SELECTED(i))
    ),
    "no other token has": Sequent(ge(H @ BEST(OWNER(j)), H @ OTHER(j))),
    "no Z_beta of another choice is longer than the longest": Sequent(
        ge(LONGEST, NORM(exchanged(OWNER(j))))
    ),
}


def bounded(share: object = 1, over: str = "largest") -> Said:
    """Return the claim that the margin is at most ||h|| (Gamma - nu max_i (1 - s_i,alpha_i)).

    nu is Gamma - longest.
    """
    part, off = Fraction(str(share)), most(OFF, i) if over == "largest" else total(OFF, i)
    lost = fmpq(part.numerator, part.denominator) * (GAMMA - LONGEST) * off
    return Said((Sequent(ge(NORM(H) * (GAMMA - lost), MARGIN)),), SETTING)

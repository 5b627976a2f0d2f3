"""Descent on W and descent on p are one trajectory after rescaling the step.

"... running gradient descent on p, or equivalently W ..." (abstract); the model is <X v, softmax(X
W p)>. Attention depends on (W, p) only through W p. Below, g is the gradient of the risk in W p. q
is a prompt that is itself trained, on keys X from q(0) = W p.

`literal-1` compares descent on W and on p, from one (W, p). The first moves W p along -||p||^2 g,
the second along -W W^T g. Tokens (1, 0), (0, 1), 0 of scores 1, 1, 0, with W = diag(1, 2) and p =
(1, 0), move along (e, 1) and along (e, 4). `literal-2` compares descent on W and on q. It fails at
p = 0, because only q moves there.

`amended-1` holds for every loss, as W_k = W_0 + (q_k - q_0) p^T / ||p||^2. At p = 0 neither moves,
as the step of q is rescaled to 0. For W that do not meet the condition of `amended-2` no factor
suffices, as `literal-1` shows. The proofs are in `symbolic.mm.w_p_equivalence`.
"""

import numpy as np

from attsvm.exact import rationals
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm.w_p_equivalence import conclusion, run_letters
from properties.mm.w_p_equivalence.models import (
    NO_PROMPT,
    SKEWED,
    Weighted,
    isotropically,
    larger,
    weighted,
)


def isotropic(case: Weighted) -> bool:
    """Return whether W W^T = c I for some c > 0, in rationals."""
    W = np.array(rationals(case.W), dtype=object)
    gram = W @ W.T
    c = gram[0, 0]
    return bool(c > 0 and (gram == np.diag([c] * len(W))).all())


FACTORS = {"c = 1": changed(factor=1), "c = 2": changed(factor=2)}
OTHER_FACTORS = {
    "the step is not rescaled": changed(by="one"),
    "rescaled by ||p||": changed(by="length"),
    "rescaled by 1.05 ||p||^2": changed(share="1.05"),
}

ISOTROPIC = Hypothesis(
    "W W^T is a multiple of I",
    isotropic,
    says="W W^T = c I for some c > 0",
    proposition=run_letters.isotropic,
)
ANYTHING = "tokens X, scores, weights W, a prompt p, a step and a differentiable loss be arbitrary"
"""The definition of a model, for the sentence of a reading."""

EQUIVALENCE = Statement(
    "mm/w-p-equivalence",
    source=SOURCE,
    place="Abstract",
    printed="running gradient descent on p, or equivalently W",
    variables=Records(Weighted, weighted(), larger, lets=ANYTHING),
    conclusion=conclusion.moves_alike,
    cost=6,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"equivalently": "that both move the logits alike"},
            constants={"trained": "p"},
            under=(),
            examples=(SKEWED,),
            siblings=FACTORS,
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="degenerate",
            read={"equivalently": "that both move the logits alike"},
            constants={"trained": "q"},
            under=(),
            variables=Records(Weighted, weighted(), lets=ANYTHING),
            examples=(NO_PROMPT,),
            siblings=FACTORS,
        ),
        "amended-1": Reading(
            "proved",
            constants={"trained": "q"},
            under=(),
            conclusion=conclusion.rescaled,
            examples=(SKEWED, NO_PROMPT),
            siblings=OTHER_FACTORS,
            proof="symbolic.mm.w_p_equivalence:prove",
        ),
        "amended-2": Reading(
            "proved",
            constants={"trained": "p"},
            under=(ISOTROPIC,),
            variables=Records(Weighted, isotropically(), lets=ANYTHING),
            conclusion=conclusion.rescaled,
            siblings={
                "any W": changed(
                    drop=[ISOTROPIC],
                    variables=Records(Weighted, weighted()),
                    examples=[SKEWED],
                ),
                **OTHER_FACTORS,
            },
            proof="symbolic.mm.w_p_equivalence:prove_fixed_weights",
            depends_on=("mm/w-p-equivalence:amended-1",),
        ),
    },
)

"""Optimal tokens, those of highest score, minimise the training risk.

"The optimal tokens for input X_i are those tokens with highest scores: alpha_i in argmax_t
gamma_it. Intuition: Optimal tokens {alpha_i} minimize (ERM)", the mean over inputs of l(Y_i v^T
X_i^T S(K_i p)), "for a decreasing loss l". gamma_it = Y_i v^T x_it are the scores, K_i = X_i W^T
the keys, p the prompt and S the softmax. L_* is the mean of the l(gamma_i,alpha_i).

No prompt has a risk below L_*, whatever the decreasing loss (`literal-1`). That only optimal tokens
minimise needs a strictly decreasing loss, and an input with two different scores. Under the hinge
max(0, 1 - u) all tokens of score 1 or more minimise (`literal-2`, `amended-1`).

More attention to the optimal tokens, even in every input, does not make a prompt better
(`literal-3`), as the rest may move to the worst token. For scores 8, 7, 0 the attention (1/4, 1/2,
1/4) is better than (1/3, 1/3, 1/3). More attention does help if the other tokens of an input share
one score (`amended-2`). The attended score is then the best one less (1 - s_alpha) times the gap.
"""

from collections.abc import Sequence

from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Defined,
    Hypothesis,
    Integer,
    Labels,
    Matrix,
    Near,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
)
from properties._support.risk_formulas import DECREASES, DECREASING, TWO_SCORES, family, scores
from properties.mm import SOURCE
from properties.mm.optimal_tokens.conclusion import above, attends_more, lower, not_below, one_rival


def example(
    scores: Sequence[int],
    keys: Sequence[Sequence[int]],
    p: Sequence[int],
    q: Sequence[int],
    loss: str = "correlation",
) -> dict[str, object]:
    """Return one input, its tokens the scores beside keys of dimension 1 or 2."""
    X = [[[score, *key] for score, key in zip(scores, keys, strict=True)]]
    d = len(X[0][0])
    W = [[0] * d] + [[int(r == c) for c in range(d)] for r in range(1, d)]
    v = [1] + [0] * (d - 1)
    return {"X": X, "Y": [1], "v": v, "W": W, "p": [0, *p], "q": [0, *q], "loss": loss}


APART = example([2, 1], [[1], [0]], [0], [1], "log-loss")
TIED = example([1, 1], [[1], [0]], [0], [1])
HINGED = example([2, 1], [[1], [0]], [0], [1], "hinge")
SHIFTED = example([8, 7, 0], [[0, 1], [1, 0], [0, 0]], [3, 0], [0, 1])
"""p attends to the second token nearly alone, q raises the first one over both others."""
ROOM = {"n": Integer(1, 2), "T": Integer(2, 4), "X": Tensor(("n", "T", "d"))}

MORE = Hypothesis(
    "q attends at least as much to the optimal tokens of each input as p", attends_more
)
ONE_RIVAL = Hypothesis("all other tokens of an input have the same score", one_rival)

TOKENS = Statement(
    "mm/optimal-tokens",
    source=SOURCE,
    place="Classification with Attention, Optimal Tokens",
    printed="The optimal tokens for input X_i are those tokens with highest scores: alpha_i in "
    "argmax_t gamma_it. Intuition: Optimal tokens {alpha_i} minimize (ERM)",
    variables={
        "n": Integer(1, 3),
        "T": Integer(1, 4),
        "d": Integer(1, 3),
        "X": Tensor(("n", "T", "d"), levels=3),
        "Y": Labels("n"),
        "v": Vector("d"),
        "W": Matrix("d", "d"),
        "p": Vector("d", (0, 2)),
        "q": Near("p", ("d",)),
        "loss": Choice(LOSSES),
        "gamma": Defined(scores),
    },
    conclusion=above,
    readings={
        "literal-1": Reading(
            "proved",
            read={"minimize": "that no prompt has less risk"},
            proof="symbolic.tf.lemma_2:prove_not_below",
            under=(DECREASES,),
            variables={"q": None},
            conclusion=not_below,
            examples=tuple({k: x for k, x in e.items() if k != "q"} for e in (TIED, APART)),
            siblings={
                "a loss that turns upwards": changed(
                    drop=[DECREASES],
                    variables=family("squared"),
                    examples=[{k: x for k, x in APART.items() if k != "q"} | {"loss": "squared"}],
                )
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"minimize": "that they alone minimise"},
            constants={"share": 0},
            under=(DECREASES, TWO_SCORES),
            variables={"q": None},
            examples=({k: x for k, x in HINGED.items() if k != "q"},),
            siblings={"a quarter of the way to the worst tokens": changed(share="1/4")},
        ),
        "literal-3": Reading(
            "refuted, certified",
            fairness="strained",
            read={"minimize": "that attention to them lowers the risk"},
            constants={"share": 1},
            under=(DECREASES, MORE),
            conclusion=lower,
            variables=ROOM,
            examples=(SHIFTED,),
            siblings={"at most 9/10 of the risk gap": changed(share="9/10")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.lemma_2:prove_by_prompt",
            constants={"share": 0},
            under=(DECREASING, TWO_SCORES),
            variables={"q": None},
            examples=({k: x for k, x in APART.items() if k != "q"},),
            siblings={"a quarter of the way to the worst tokens": changed(share="1/4")},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.mm.optimal_tokens:prove",
            constants={"share": 1},
            under=(DECREASES, MORE, ONE_RIVAL),
            conclusion=lower,
            variables={"n": Integer(1, 2), "X": Tensor(("n", "T", "d"), levels=2)},
            examples=(APART, TIED),
            siblings={
                "at most 999/1000 of the risk gap": changed(share="0.999"),
                "rivals of several scores": changed(
                    drop=[ONE_RIVAL], variables=ROOM, examples=[SHIFTED]
                ),
            },
        ),
    },
)

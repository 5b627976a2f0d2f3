"""A linear head: attention selects one token an input.

"So far: L(W) = (1/n) sum_i l(Y_i v^T X_i^T S(X_i W z_i)) => Attention selects 1-token alpha_i."
The slide names no start, no separability and no tie. What is near the least risk, and where descent
ends, are two readings of "selects".

`literal-1` falls where the risk is constant (tokens 1 and 0, head 0), where tokens have a twin, and
where minima are finite: tokens 1, 0 with queries 1 and -1 and scores 1, 0 have L(W) = (l(s) +
l(1-s))/2 with s = g(W), which for a convex loss is least at W = 0, where both inputs attend to both
tokens for ever. `literal-2` falls for tied tokens, between which the risk does not choose.

What survives is that a linear head selects *best* tokens: all attention beside them costs risk
(`sharp`, an equality for two tokens, as every other score can be at the distance d), so that one
token is selected where one is best. From a start that cannot lose its optimal tokens descent does
so (`amended-1`). With tied tokens a linear head may keep several of them for ever: tokens e_1, e_2
and 0 of scores 1, 1, 0 from zero keep the weights of the first two equal, by symmetry, and their
sum tends to 1. Whether one token is kept is a matter of ties and of separability, see
`tf/nonlinear-head-several`.
"""

import math
from typing import Any

import numpy as np
from flint import arb

from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.numbers import Matrix, subtract
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import ALLOWANCE, norm_diverges
from attsvm.losses import LOSSES as FLOAT_LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.hypotheses import (
    BASIN,
    FEASIBLE,
    UNIQUE,
    in_basin,
)
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import (
    ANY,
    FLOW,
    SHORT,
    by_gradient_flow,
    flattened,
    is_short,
    stepped,
    tends,
)
from attsvm.primitives.torch_objectives import not_selecting
from attsvm.theory import Reading, Slack, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Values
from attsvm.training import follow_w
from properties._support.hypothesis_violations import NO_QUERY, PASSED_OVER
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support import risk_formulas as risk

TWINS = cases.from_zero([[[1], [1], [0], [0]]], scores=[[1.0, 1.0, 0.0, 0.0]])
"""Every token has an equal one, so that none ever has more than half of the attention."""
MIRRORED = cases.from_zero([[[1, 0], [0, 1], [0, 0]]], scores=[[1.0, 1.0, 0.0]])
"""From zero the first two tokens keep equal weights, by symmetry."""
THREE = risk.example([[[1], [0], [-1]]], [[1]], [1], [[0]], loss="logistic")
"""Three tokens of different scores, and a loss that increases."""
PAIR = risk.example([[[1], [1], [0]]], [[1]], [1], [[4]])
"""Two equal best tokens share nearly all attention."""


@by_gradient_flow
def selects(case: Descent, which: str) -> Slack:
    """The logit of one token an input leaves all others behind: `some`, the `optimal`, the `worst`.

    What the least lead over the other tokens gains while the norm runs through a decade, over what
    the longest difference of tokens could gain; -1 where nothing moves.
    """
    data = case.data
    if data.T == 1:
        return Slack(math.inf, 0.0, "strict")
    moves = norm_diverges(data, case.start, FLOAT_LOSSES[case.loss])
    if not moves.value > 0.0:
        return moves
    spans = np.linalg.norm(data.X[:, :, None] - data.X[:, None], axis=3).max(axis=(1, 2))
    longest = float((spans * np.linalg.norm(data.Z, axis=1)).max())
    low = 10.0 * max(float(np.linalg.norm(case.start)), 10.0 / longest)
    path = follow_w(data, case.start, FLOAT_LOSSES[case.loss], [low, 10.0 * low])
    if path.W.shape[1] < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    logits = [np.einsum("ntd,de,ne->nt", data.X, W, data.Z) for W in path.W[0, 1:]]
    rows = np.arange(data.n)
    scored = {"some": logits[1], "optimal": data.gamma, "worst": -data.gamma}
    kept = np.where(data.present, scored[which], -math.inf).argmax(axis=1)
    leads = [values[rows, kept][:, None] - values for values in logits]
    gained = leads[1] - leads[0]
    gained[rows, kept] = math.inf
    gained[~data.present] = math.inf
    reach = longest * float(path.norms[0, 2] - path.norms[0, 1])
    return Slack(float(gained.min()) / reach, ALLOWANCE / 10.0, "strict")


def mirrored(data: ExactData, W: Matrix) -> bool:
    """Of one input: every token of best score keeps the weight of another one for ever.

    Tokens a and b of one score and of one logit at W do where <x_t, x_a - x_b> is one number m for
    all other tokens and ||x_a||^2 - ||x_b||^2 = 2 m, as a reflection of the tokens swaps them.
    """
    if len(data.X) != 1:
        return False
    X, gamma, tied = data.X[0], data.gamma[0], data.optimal[0]
    logits = [dot(x, [dot(row, data.Z[0]) for row in W]) for x in X]

    def swapped(a: int, b: int) -> bool:
        apart = subtract(X[a], X[b])
        seen = {2 * dot(x, apart) for t, x in enumerate(X) if t not in (a, b)}
        square = dot(X[a], X[a]) - dot(X[b], X[b])
        return gamma[a] == gamma[b] and logits[a] == logits[b] and seen <= {square}

    return all(any(swapped(a, b) for b in range(len(X)) if b != a) for a in tied)


def certified(case: Descent, which: str) -> arb | None:
    """1 where it is proved that such a token of each input is selected, -1 where it is not.

    It is not where the start is stationary, nor in an input whose tokens all have an equal one.
    From the basin nothing but best tokens is selected, and none of these where all are `mirrored`.
    """
    data, W = ExactData.of(case.data), rationals(case.start)
    several = [i for i, tokens in enumerate(data.X) if len(tokens) > 1]
    if not several:
        return arb("inf")
    if is_stationary_start(data, W, case.loss):
        return arb(-1)
    if any(all(data.X[i].count(x) > 1 for x in data.X[i]) for i in several):
        return arb(-1)
    if is_short(case) and in_basin(case, case.loss) and mirrored(data, W):
        return arb(-1)
    way = proved_limit(case.data, case.start, case.loss, case.step)
    if way is None or not way.certificate.settles or not set(several) <= set(way.inputs):
        return None
    chosen = [(data.gamma[i], t) for i, t in zip(way.inputs, way.certificate.selected, strict=True)]
    best, worst = (all(g[t] == end(g) for g, t in chosen) for end in (max, min))
    return arb(1 if {"some": True, "optimal": best, "worst": worst}[which] else -1)


SELECTS = tends(
    "$formula in every input",
    "s_k",
    "1",
    floats=selects,
    balls=certified,
    tensors=not_selecting,
    stand_in=FLOW,
    strict=True,
    symbols={"which": {"some": "one of its tokens", "optimal": "its optimal token"}},
    where="s_k is the attention of an input to $which at the iterate W_k from W_0",
)


@stated(
    "",
    r"$share \frac{1}{n} \sum_i [l(best_i - d_i (1 - s_i)) - l(best_i)] \le L(W) - L_*",
    {"of": {"one": "the largest weight", "best": "the attention to the tokens of best score"}},
    where="d_i is the least gap of input i to a lower score, and s_i is $of",
)
def rest(m: Namespace, v: Values, of: str, share: Number = 1) -> Comparison:
    deficits = []
    for tokens, z, gamma in zip(v.X, v.Z, v.gamma, strict=True):
        gaps, weights = m.max(gamma) - gamma, m.softmax(tokens @ (v.W @ z))
        tied = m.is_zero(gaps)
        least = m.min(gaps + tied * m.max(gaps))
        beside = m.sum((1 - tied) * weights) if of == "best" else 1 - m.max(weights)
        deficits.append(least * beside)
    return m.at_most(share * risk.mean_drop(m, v, deficits), risk.risk_gap(m, v))


PRINTED: dict[str, Any] = {
    "source": SOURCE,
    "place": "Can the theory account for MLP layers?",
    "printed": "L(W) = (1/n) sum_i l(Y_i v^T X_i^T S(X_i W z_i)) => Attention selects 1-token "
    "alpha_i",
}
WORST = {"the token of least score is selected": changed(which="worst")}

SELECTION = Statement(
    "tf/linear-head-one-token",
    rests_on=("tf/theorem-2", "tf/local-convergence"),
    **PRINTED,
    variables=stepped(Descent, cases.descents(), cases.started_right, steps=ANY),
    conclusion=SELECTS,
    cost=16,
    violating={
        UNIQUE: [MIRRORED],
        FEASIBLE: [cases.descent(NO_QUERY)],
        SLOPED_LOSS: [cases.FLAT],
        BASIN: [cases.descent(PASSED_OVER)],
        SHORT: [cases.descent(LEAPING)],
    },
    readings={
        "literal-1": Reading(
            "refuted, certified",
            constants={"which": "some"},
            under=(STRICT_LOSS,),
            variables=stepped(Descent, flattened(cases.descents()), cases.started_right, steps=ANY),
            examples=(cases.TIED, TWINS, cases.OPPOSED),
            siblings=WORST,
        ),
        "amended-1": Reading(
            "proved",
            constants={"which": "optimal"},
            under=(UNIQUE, FEASIBLE, SLOPED_LOSS, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            proof="symbolic.basins:prove_attention",
            siblings=WORST,
        ),
    },
)

RISK = Statement(
    "tf/linear-head-one-token",
    **PRINTED,
    variables=risk.VARIABLES,
    conclusion=rest,
    cost=4,
    readings={
        "literal-2": Reading(
            "refuted, certified",
            constants={"of": "one"},
            under=(risk.DECREASING, risk.SMOOTH),
            examples=(PAIR,),
            siblings={"a quarter of it": changed(share="0.25", examples=[{**PAIR, "W": [[8]]}])},
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.linear_head_one_token:prove",
            constants={"of": "best"},
            under=(risk.DECREASES,),
            tight=True,
            examples=(*risk.PUBLISHED, risk.ZERO_QUERY, risk.TWO_OPTIMAL, risk.FLAT, risk.TIED),
            siblings={
                "attention to one best token": changed(of="one", examples=[PAIR]),
                "an increasing loss": changed(
                    drop=[risk.DECREASES],
                    variables=risk.family("logistic"),
                    examples=[THREE],
                ),
            },
        ),
    },
)

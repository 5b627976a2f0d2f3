"""Descent on the printed loss: the direction of a step, and the growth of the norm."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from attsvm.limits import norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives import hypotheses as scores
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import rate_error
from attsvm.primitives.hypotheses import EQUAL_RIVALS, SEVERAL_TOKENS, starts_in_basin
from attsvm.primitives.steps import FLOW, LN_K, X_K, by_gradient_flow, norm, over, tends
from attsvm.theory import Hypothesis, Slack, changed, concludes, stated
from attsvm.theory.proof.linked import Said
from attsvm.theory.types import Comparison, Namespace
from properties._support.suppositions import IN_BASIN, SOLUTION, UNIQUE_OPTIMUM
from properties.sim import LOSS_NAMES, PRINTED, REPAIRED
from properties.sim._support import self_attention
from properties.sim._support.margins import step_along_solution
from properties.sim._support.self_attention import TIED, asking, descending


def pairs(case: Descent) -> bool:
    """Return whether no entry has more than two tokens."""
    return bool((case.data.present.sum(axis=1) <= 2).all())


def _lowered(sign: int = -1, loss: object = PRINTED) -> Said | None:
    """Return the claim in letters of the loss g(-u) = 1 - g(u): a step on g(-u) raises <X^T, X^mm>.

    Both losses have opposite gradients.
    """
    return letters.gain(strict=True) if (sign, loss) == (-1, PRINTED) else None


@concludes(_lowered)
@stated(
    "from any X every step of descent on the sum of $loss lowers <X^T, X^mm>: $formula",
    r"${sign}\langle X^{mm}, -\nabla L(X)^\top\rangle > 0",
    {**LOSS_NAMES, "sign": {1: "", -1: "-"}},
)
def lowers(m: Namespace, case: Descent, sign: int = -1) -> Comparison:
    added, _ = step_along_solution(m, case)
    return m.above(sign * added, 0)


@by_gradient_flow
def rate(case: Descent, share: Fraction = Fraction(1)) -> Slack:
    """Return the slack of "the norm grows like a share of ||X^low|| ln k"."""
    solved = exact_att_svm(turned(case).data)
    size = 0.0 if solved is None else float(arb(solved.square).sqrt())
    return norm_grows_like_log(case.data, case.W, LOSSES[case.loss], float(share) * size)


def proved_rate(case: Descent, share: Fraction = Fraction(1)) -> arb | None:
    """Return minus the distance of the share from the proved rate; None without a proof."""
    solved = exact_att_svm(turned(case).data)
    if solved is None:
        return arb(-1)  # there is no X^low
    if not solved.A:
        return None
    return rate_error(case.data, case.W, case.loss, solved.square, share, case.step)


def _rate(share: object = 1, loss: object = PRINTED) -> Said | None:
    """Return the claim on the rate of ||X^low||, in letters of the run `turned`."""
    return letters.rate(share) if loss == PRINTED else None


RATE = tends(
    "under descent on the sum of $loss over all entries $formula",
    over(norm(X_K), LN_K),
    r"$share \left\|X^{low}\right\|",
    floats=rate,
    balls=proved_rate,
    proposition=_rate,
    stand_in=FLOW,
    symbols=LOSS_NAMES,
    where="X^low is the max-margin solution of the tokens of lowest score",
)


LOWEST = Hypothesis(
    "tokens of lowest score are unique",
    lambda case: scores.unique_optimum(turned(case)),
    implies=(UNIQUE_OPTIMUM,),
    checked="fact(unique(data.opposed))",
)
NEAR = Hypothesis(
    "risk gap of the start below the threshold, for the tokens of lowest score",
    lambda case: starts_in_basin(turned(case)),
    says="some entry has two different scores, and the sum at the start exceeds its infimum by "
    "less than min [g(c) - g(b)] over such entries, with b the lowest and c the next higher score",
    implies=(SEVERAL_TOKENS, IN_BASIN),
)

LOW_EXISTS = Hypothesis(
    "X^low exists", lambda case: scores.feasible(turned(case)), implies=(SOLUTION,)
)
LOW = Hypothesis(
    "X^low exists and is not 0",
    lambda case: scores.exists(turned(case)),
    implies=(LOW_EXISTS, SEVERAL_TOKENS),
    checked="fact(low is not None and any(len(row) > 1 for row in data.scores))",
)
PAIRS = Hypothesis("no entry has more than two tokens", pairs, implies=(EQUAL_RIVALS,))


def turned(case: Descent) -> Descent:
    """Return the run with labels -b and loss g(-u): optimal and worst tokens change places."""
    inputs: Any = case.inputs
    return replace(case, inputs=replace(inputs, labels=-inputs.labels), loss=REPAIRED)


def _towards_low(
    towards: str = "worst", side: str = "X(k)^T", loss: object = PRINTED
) -> Said | None:
    """Return the claim that X(k)^T tends to X^low in direction, in letters of the run `turned`.

    They are those of the tokens of lowest score: scores are negated, and V is X^low. If no entry
    has more than two tokens, X^low is -X^mm, so that the claim is also that about -X^mm.
    """
    known = towards in ("worst", "opposite") and loss == PRINTED
    claim = letters.transposed(side=side) if known else None
    return replace(claim, under=(PAIRS,)) if claim and towards == "opposite" else claim


DIRECTION = replace(self_attention.DIRECTION, proposition=_towards_low)

THREE = descending([[[1, 0], [0, 1], [0, 0]]], [[[1], [0], [0]]], [[2], [1]], causal=False)
NEAR_LOW = replace(THREE, start=np.array([[-1.0, -1.0], [0.0, 0.0]]))
"""`THREE` started at X(0)^T = X^low, in the basin."""
OTHER_WAY = asking([[[0, -3], [4, -4]]], [[0, 1]])
"""`SENTENCE` of `sim/self-attention` with all tokens negated, which leaves the logits as they
are."""
THROWN = replace(
    descending(
        [[[1, -1], [-3, 1]]],
        [[[-1], [-1]]],
        [[1], [-1]],
        [[-0.5, 0.25], [-0.75, 0.5]],
        causal=False,
    ),
    step=128.0,
)
"""A start in the basin of the lowest tokens; the first step takes one entry to its best for
ever."""
STILL = descending([[[1, 1], [1, -1]]], [[[1, 0], [0, 0]]], causal=False)
"""All scores are tied; X^mm is that of the first token."""

DROPPED_HYPOTHESES = {
    "any start": changed(drop=[NEAR], examples=[OTHER_WAY]),
    "tied tokens of lowest score": changed(drop=[LOWEST], examples=[turned(TIED)]),
}

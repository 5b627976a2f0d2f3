"""Token selection and contextual sparsity: what may be left out, and what may not.

"... only a few tokens, which can be regarded as feature vectors, contribute to the gradient
computation for each update. Tokens that do not serve as support vectors have zero gradients and
can be safely disregarded during pretraining."

grad L(X) = sum_it c_it x_it z_i^T with c_it = g'(u_i) s_it (gamma_it - u_i)/m, u_i = sum_t s_it
gamma_it. `literal-1` takes "contribute" as c_it != 0: attention is positive at every X, so c_it
vanishes only where gamma_it = u_i, whatever the margin. `literal-2`: the update without these
tokens is the same. Both fall with tokens 1, 0, -1, scores 1, 0, -1, query 1 and X = 0: the margin
of -1 under X^mm = 1 is 2, its c is -1/12. (A run that starts without the tokens takes another path,
and one may be a support vector of another choice of tokens.)

"... have gradients that effectively amount to zero": `literal-4` takes it as a limit, the share of
these tokens, |c_it| over the sum of all, tends to 0 along training. As the loss of definition 3.6
increases, it falls too: the same run from X(0) = 0 ends at token -1, whose share tends to 1/2.
So it does with a decreasing loss (`amended-1`): tokens 4, 0, 3 with scores 1, 0, -3, X(0) = 0, end
at the token of score 0, of margin 4. `amended-2`: the share does tend to 0 with a decreasing loss
from a start that cannot lose its optimal tokens; `sharp-3`: like k^-(m - 1) for a token of margin
m under X^mm (proof in `gradient_shares`). So the sparsity is one of the limit; tokens just
beyond the margin fade as slowly as one likes.

`literal-3` takes "disregarded" as: X^mm is the same without them. True: their multipliers are 0.
`sharp-1`: leaving out any set J lowers ||X^mm||^2 by at most ||sum_J w_j A_j||^2, for the
multipliers w, unique or not, restricted to the other tokens have this dual value; so tight tokens
with w_j = 0 can go as well, and X^mm moves by at most ||sum_J w_j A_j|| (definition 3.8, sharp-1).
`sharp-2`: no more can go. Where the A_j are independent, with Gram matrix G, leaving out token j
lowers ||X^mm||^2 by at least w_j^2 / (G^-1)_jj, with 1/(G^-1)_jj the squared distance of A_j
from the span of the others: B = sum_k (G^-1)_kj A_k changes margin j alone, and <B, X^mm> = w_j,
so X^mm - t B meets the other constraints with a squared norm less by 2 t w_j - t^2 (G^-1)_jj.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import Run
from properties._support.hypothesis_violations import PASSED_OVER, TIED_CROWD
from properties.sim import SOURCE
from properties.sim._support.theorem_3_14 import PRINTED, REPAIRED, starts_in_basin
from properties.sim.token_sparsity import dropping
from properties.sim.token_sparsity import gradient_shares as shares
from properties.sim.token_sparsity.redundant_tokens import (
    Dropped,
    all_independent,
    all_support,
    all_support_larger,
    crowded,
    crowded_larger,
    crowded_runs,
    exists,
    has_idle,
    thinned,
    thinned_larger,
    unique,
)

PLACE: dict[str, Any] = {
    "source": SOURCE,
    "place": "Contributions, token selection and contextual sparsity",
    "cost": 2,
}
UNIQUE = {"optimal tokens are unique": unique}
IDLE = {"there is an X^mm, and some token is no support vector of it": has_idle}
EXISTS = {"there is an X^mm": exists}
THREE = AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, -1.0]])
BASIN = {"risk gap of the start below the threshold": starts_in_basin}
ALONG: dict[str, Any] = {
    "source": SOURCE,
    "place": "The remark after theorem 3.15",
    "cost": 10,
    "same_slack": False,
}
FROM_ZERO = Run(THREE, np.zeros((1, 1)))
FROM_BASIN = Run(THREE, np.full((1, 1), 8.0))
TWO_INPUTS = Run(
    AttentionData.of([[[1.0], [0.0]], [[2.0], [0.0]]], [[1.0], [1.0]], scores=[[1.0, 0.0]] * 2),
    np.zeros((1, 1)),
)
LAPSES = {
    "any start": sibling(drop=list(BASIN), data=crowded_runs(), examples=[PASSED_OVER]),
    "tied optimal tokens": sibling(drop=list(UNIQUE), examples=[TIED_CROWD]),
}
OTHER_TOKENS = {
    "support vectors": sibling(which="support"),
    "optimal tokens": sibling(which="optimal"),
}


def certify_coefficients(run: Run, which: str = "others") -> arb | None:
    """Minus the largest coefficient, as a ball."""
    return dropping.exact_coefficients(run, which)


@claim(
    "sim/token-sparsity:literal-1",
    **PLACE,
    statement="tokens that are no support vectors have zero gradients: dL/d(x_t^T X z) = 0 at "
    "every X",
    data=crowded_runs(),
    hypotheses={**UNIQUE, **IDLE},
    examples=[FROM_ZERO],
    certify=certify_coefficients,
    expected="refuted",
    siblings=OTHER_TOKENS,
)
def coefficients(run: Run, which: str = "others") -> Slack:
    """The coefficient of x_t z^T in the gradient of the loss of definition 3.6."""
    return dropping.coefficients(run, which)


def certify_updates(run: Run, which: str = "others") -> arb | None:
    """Minus the distance of the two gradients, as a ball."""
    return dropping.exact_updates(run, which)


@claim(
    "sim/token-sparsity:literal-2",
    **PLACE,
    statement="tokens that are no support vectors can be disregarded during pretraining: the "
    "gradient at every X is the same without them",
    data=crowded_runs(),
    hypotheses={**UNIQUE, **IDLE},
    examples=[FROM_ZERO],
    certify=certify_updates,
    expected="refuted",
    siblings=OTHER_TOKENS,
)
def updates(run: Run, which: str = "others") -> Slack:
    """The whole gradient, softmax taken anew over the tokens that stay."""
    return dropping.updates(run, which)


def certify_moved(data: AttentionData, which: str = "others") -> arb | None:
    """Minus the distance, exactly 0 where X^mm stays."""
    return dropping.exactly_moved(data, which)


@claim(
    "sim/token-sparsity:literal-3",
    **PLACE,
    statement="tokens that are no support vectors can be disregarded: X^mm is the same without "
    "them",
    data=crowded(),
    ensemble=crowded_larger,
    hypotheses={**UNIQUE, **IDLE},
    examples=[THREE],
    certify=certify_moved,
    expected="holds",
    siblings={
        "support vectors": sibling(which="support"),
        "the first support vector": sibling(which="first"),
    },
)
def same_solution(data: AttentionData, which: str = "others") -> Slack:
    """Of the programme, whatever becomes of the run."""
    return dropping.moved(data, which)


def certify_at_most(case: Dropped, share: float = 1.0) -> arb | None:
    """The slack, in rationals."""
    return dropping.exactly_at_most_lost(case, share)


@claim(
    "sim/token-sparsity:sharp-1",
    **PLACE,
    statement="leaving out any tokens J lowers ||X^mm||_F^2 by at most ||sum_J w_j A_j||_F^2, w "
    "any multipliers of X^mm, so that all tokens with multiplier 0 can go, tight ones included",
    data=thinned(),
    ensemble=thinned_larger,
    hypotheses={**UNIQUE, **EXISTS},
    certify=certify_at_most,
    expected="holds",
    depends_on=["sim/definition-3.8:sharp-1"],
    siblings={"95% of it": sibling(share=0.95), "nothing is lost": sibling(share=0.0)},
)
def at_most(case: Dropped, share: float = 1.0) -> Slack:
    """Attained where the A_j of J are orthogonal to the others."""
    return dropping.at_most_lost(case, share)


def certify_at_least(data: AttentionData, factor: float = 1.0, span: bool = True) -> arb | None:
    """The slack, in rationals."""
    return dropping.exactly_at_least_lost(data, factor, span)


@claim(
    "sim/token-sparsity:sharp-2",
    **PLACE,
    statement="where the A_j are independent, leaving out token j lowers ||X^mm||_F^2 by at least "
    "w_j^2 / (G^-1)_jj, the squared distance of A_j from the span of the others",
    data=all_support(),
    ensemble=all_support_larger,
    hypotheses={**UNIQUE, "there are constraints, all independent": all_independent},
    certify=certify_at_least,
    expected="holds",
    siblings={
        "1.05 times it": sibling(factor=1.05),
        "distance from 0": sibling(span=False),
    },
)
def at_least(data: AttentionData, factor: float = 1.0, span: bool = True) -> Slack:
    """Attained where the other multipliers stay positive."""
    return dropping.at_least_lost(data, factor, span)


def certify_printed_share(run: Run, which: str = "others") -> arb | None:
    """Whether the share tends to 0, where the direction of the run is proved."""
    return shares.certified_fading(run, PRINTED, which)


@claim(
    "sim/token-sparsity:literal-4",
    **ALONG,
    statement="along descent on g(b <f, h>) from any start the share in the gradient of the tokens "
    "that are no support vectors tends to 0",
    data=crowded_runs(),
    hypotheses={**UNIQUE, **IDLE},
    examples=[FROM_ZERO],
    certify=certify_printed_share,
    expected="refuted, certified",
    siblings={
        "support vectors": sibling(which="support", examples=[TWO_INPUTS]),
        "optimal tokens": sibling(which="optimal", examples=[TWO_INPUTS]),
    },
)
def fading(run: Run, which: str = "others") -> Slack:
    """With the loss as printed."""
    return shares.fades(run, PRINTED, which)


def certify_share(run: Run, which: str = "others") -> arb | None:
    """Whether the share tends to 0, where the direction of the run is proved."""
    return shares.certified_fading(run, REPAIRED, which)


@claim(
    "sim/token-sparsity:amended-1",
    **ALONG,
    statement="along descent on the decreasing loss g(-b <f, h>) from any start the share in the "
    "gradient of the tokens that are no support vectors tends to 0",
    data=crowded_runs(),
    hypotheses={**UNIQUE, **IDLE},
    examples=[PASSED_OVER],
    certify=certify_share,
    expected="refuted, certified",
    siblings={
        "support vectors": sibling(which="support", examples=[FROM_BASIN]),
        "optimal tokens": sibling(which="optimal", examples=[FROM_BASIN]),
    },
)
def fading_anywhere(run: Run, which: str = "others") -> Slack:
    """With a decreasing loss."""
    return shares.fades(run, REPAIRED, which)


@claim(
    "sim/token-sparsity:amended-2",
    **ALONG,
    statement="along descent on the decreasing loss with step at most 1/L_X, from a start whose "
    "risk gap is below min_i [l(second) - l(best)]/n, the share in the gradient of the tokens that "
    "are no support vectors tends to 0",
    data=shares.crowded_basin(),
    ensemble=shares.basin_larger,
    examples=[FROM_BASIN],
    hypotheses={**UNIQUE, **IDLE, **BASIN},
    certify=certify_share,
    expected="holds",
    siblings={**LAPSES, **OTHER_TOKENS},
)
def fading_in_basin(run: Run, which: str = "others") -> Slack:
    """With a decreasing loss, where the direction converges to X^mm."""
    return shares.fades(run, REPAIRED, which)


@claim(
    "sim/token-sparsity:sharp-3",
    **{**ALONG, "cost": 12},
    statement="from such a start the share of a token of margin m under X^mm falls like "
    "k^-(m - 1): log share / ln k -> -(m - 1)",
    data=shares.crowded_basin(),
    ensemble=shares.basin_larger,
    examples=[FROM_BASIN],
    hypotheses={**UNIQUE, **IDLE, **BASIN},
    certify=lambda run, share=1.0: shares.certified_exponent(run, REPAIRED, share),
    expected="holds",
    siblings={
        **LAPSES,
        "95% of the exponent": sibling(share=0.95),
        "105% of the exponent": sibling(share=1.05),
    },
)
def fading_rate(run: Run, share: float = 1.0) -> Slack:
    """How slowly tokens near the margin fade."""
    return shares.exponent(run, REPAIRED, share)

"""Token selection and contextual sparsity: what may be left out, and what may not.

"... only a few tokens, which can be regarded as feature vectors, contribute to the gradient
computation for each update. Tokens that do not serve as support vectors have zero gradients and
can be safely disregarded during pretraining."

grad L(X) = sum_it c_it x_it z_i^T with c_it = g'(u_i) s_it (gamma_it - u_i)/m, u_i = sum_t s_it
gamma_it. `literal-1` takes "contribute" as c_it != 0: attention is positive at every X, so c_it
vanishes only where gamma_it = u_i, whatever the margin. `literal-2`: the update without these
tokens is the same. Both fall with tokens 1, 0, -1, scores 1, 0, -1, query 1 and X = 0: the margin
of -1 under X^mm = 1 is 2, its c is -1/12. (How its share dies as X grows is a matter of rates and
not claimed here; a run that starts without the tokens takes another path, and one may be a
support vector of another choice of tokens.)

`literal-3` takes "disregarded" as: X^mm is the same without them. True: their multipliers are 0.
`sharp-1`: leaving out any set J lowers ||X^mm||^2 by at most ||sum_J w_j A_j||^2, for the
multipliers w restricted to the other tokens have this dual value; so tight tokens with w_j = 0 can
go as well, and X^mm moves by at most ||sum_J w_j A_j|| (definition 3.8, sharp-1).
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
from properties.runs import Run
from properties.sim import SOURCE, dropping
from properties.sim.crowds import (
    Dropped,
    all_independent,
    all_support,
    all_support_larger,
    crowded,
    crowded_larger,
    crowded_runs,
    has_idle,
    independent,
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
INDEPENDENT = {"there is an X^mm, with independent constraints on the margin": independent}
THREE = AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, -1.0]])
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
    examples=[Run(THREE, np.zeros((1, 1)))],
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
    examples=[Run(THREE, np.zeros((1, 1)))],
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
    statement="leaving out any tokens J lowers ||X^mm||_F^2 by at most ||sum_J w_j A_j||_F^2, so "
    "that all tokens with multiplier 0 can go, tight ones included",
    data=thinned(),
    ensemble=thinned_larger,
    hypotheses={**UNIQUE, **INDEPENDENT},
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

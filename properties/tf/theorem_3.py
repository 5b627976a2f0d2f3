"""Theorem 3: the regularisation path of (K, Q) converges to the solutions of Att-SVM*.

"Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and (Att-SVM) is feasible.
Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. Then lim_{R -> inf}
dist(K_R Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)."

The scaling is right: ||K Q^T||_* <= (||K||_F^2 + ||Q||_F^2) / 2 <= R, with equality for balanced
factors. `literal-1` takes K, Q in R^{d x d} as the talk introduces them, `literal-2` any inner
dimension, which the theorem leaves open. literal-1 falls as theorem 2 does: l(u) = -u^3 on tokens
(1, 0), 0 and (0, 1), 0 with one query, where both norms agree, and inputs of one token, where
C_* = 0. literal-2 falls for inner dimension 1 and any loss: inputs with tokens 0, (-1, 0), (0, -1)
and 0, (1, 0), (0, -1), queries (1, 0) and (0, 1), ask for W_11, W_21, -W_12, W_22 >= 1, so that
every feasible W has det W >= 2 while K Q^T has rank 1.

`amended`: K, Q in R^{d x d}, l' < 0 at the best scores and an input of two tokens; the proof stands
in `regularised`. The same holds for any inner dimension that some solution's rank does not exceed.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from attsvm.theory import Slack, claim, sibling
from properties._support.hypothesis_violations import TIED_APART
from properties.tf import SOURCE
from properties.tf._support.path_limits import certified_set
from properties.tf._support.regularisation_paths import (
    FLAT_PULLS,
    ONE_TOKEN,
    PUBLISHED,
    TURNING,
    Path,
    constrained,
    feasible,
    flat_paths,
    follows_set,
    paths,
    protocol,
    steep,
    turned,
    unique,
)

THEOREM: dict[str, Any] = {"source": SOURCE, "place": "Theorem 3", "cost": 12, "same_slack": False}
LISTED = {"optimal tokens are unique": unique, "Att-SVM is feasible": feasible}
OTHERS = {
    "K Q^T / (2 R)": sibling(share=0.5, examples=[PUBLISHED]),
    "solutions for the worst tokens": sibling(target="worst", examples=[PUBLISHED]),
    "the Frobenius solution": sibling(target="frobenius", examples=[TURNING]),
}


def certify(
    case: Path, target: str = "solutions", share: float = 1.0, inner: int | None = None
) -> arb | None:
    """Negative where limit points lie outside the target."""
    return certified_set(case, target, share, inner)


def certify_rank_one(
    case: Path, target: str = "solutions", share: float = 1.0, inner: int | None = 1
) -> arb | None:
    """The same with one column."""
    return certified_set(case, target, share, inner)


@claim(
    "tf/theorem-3:literal-1",
    **THEOREM,
    statement="dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for K, Q in R^{d x d}, for l strictly "
    "decreasing and smooth",
    data=flat_paths(),
    hypotheses=LISTED,
    examples=[FLAT_PULLS, ONE_TOKEN],
    certify=certify,
    expected="refuted",
    siblings=OTHERS,
)
def literal_1(
    case: Path, target: str = "solutions", share: float = 1.0, inner: int | None = None
) -> Slack:
    """With the listed hypotheses alone."""
    return follows_set(case, target, share, inner)


@claim(
    "tf/theorem-3:literal-2",
    **THEOREM,
    statement="dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for any inner dimension, one included",
    data=paths(turned()),
    hypotheses=LISTED,
    examples=[TURNING],
    certify=certify_rank_one,
    expected="refuted",
    siblings={name: s for name, s in OTHERS.items() if name != "the Frobenius solution"},
)
def literal_2(
    case: Path, target: str = "solutions", share: float = 1.0, inner: int | None = 1
) -> Slack:
    """With K and Q of one column."""
    return follows_set(case, target, share, inner)


@claim(
    "tf/theorem-3:amended",
    **THEOREM,
    statement="dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for K, Q in R^{d x d}, where l' < 0 at "
    "the best scores and some input has two tokens",
    data=paths(turned()),
    ensemble=protocol,
    hypotheses={
        **LISTED,
        "l' < 0 at the best scores": steep,
        "some input has two tokens": constrained,
    },
    examples=[PUBLISHED, TURNING],
    certify=certify,
    expected="holds",
    siblings={
        **OTHERS,
        "inner dimension 1": sibling(inner=1, examples=[TURNING]),
        "one token an input": sibling(drop=["some input has two tokens"], examples=[ONE_TOKEN]),
        "tied optimal tokens": sibling(
            drop=["optimal tokens are unique"], examples=[Path(TIED_APART.data, "log-loss")]
        ),
        "l' may vanish at best scores": sibling(
            drop=["l' < 0 at the best scores"], examples=[FLAT_PULLS]
        ),
    },
)
def amended(
    case: Path, target: str = "solutions", share: float = 1.0, inner: int | None = None
) -> Slack:
    """As found, by its rate."""
    return follows_set(case, target, share, inner)

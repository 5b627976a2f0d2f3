"""Lemma 2: the training risk lies strictly above its value at the optimal tokens.

"Suppose l is strictly decreasing and smooth. Then, training risk obeys L(W) > L_* :=
(1/n) sum_i l(Y_i v^T x_i,opt)."

L(W) = (1/n) sum_i l(<softmax(X_i W z_i), gamma_i>), with the scores gamma_it = Y_i v^T x_it of the
tokens x_it, the rows of X_i, for labels Y_i in {-1, 1}. opt is a token of largest score. Free
scores are the same with one more dimension: the score is a further coordinate, v picks it out, and
W and z_i are 0 there. The data have no absent tokens, of which the sentence does not speak.

Proof of amended: with best = max_t gamma_it, the score that input i attends to is best - delta_i
for delta_i = sum_t s_t (best - gamma_it) >= 0. Softmax is positive, so delta_i > 0 where two scores
differ, and l(best - delta_i) > l(best) there. Without two different scores every delta_i is 0 and
L(W) = L_* for every W: what is added is necessary as well. Smoothness is not needed, nor are labels
of size 1. Strict decrease is: a loss that is flat from 1 on does not tell scores above 1 apart.
"""

from collections.abc import Mapping
from typing import Any

from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Defined,
    Integer,
    Labels,
    Matrix,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
    definition,
)
from properties.tf import SOURCE

DECREASING, SMOOTH = "l is strictly decreasing", "l is smooth"
LABELS, TWO_SCORES = "labels are 1 or -1", "some input has two different scores"
LISTED = (DECREASING, SMOOTH, LABELS)


def example(X: Any, Z: Any, v: Any, W: Any, **others: Any) -> dict[str, Any]:
    """An instance; labels are 1 and the loss is log(1 + exp(-x)) unless others are given."""
    return {"X": X, "Z": Z, "Y": [1] * len(X), "v": v, "W": W, "loss": "log-loss", **others}


def joint_inputs(height: float, loss: str) -> dict[str, Any]:
    """Published, with heights 1 and 3/2: three inputs of two tokens."""
    X = [[[0, 0], [1, 1]], [[0, 0], [1, -1]], [[0, 0], [0.5, height]]]
    return example(X, [[1, 0]] * 3, [1, 1], [[1, 1], [1, 1]], Y=[1, -1, 1], loss=loss)


SMALLEST = example([[[0]]], [[0]], [0], [[0]])
TIED = example([[[1], [0]]], [[1]], [0], [[1]], loss="exponential")
ONE_INPUT = example(
    [[[-0.1, 1, 1], [1, 0, 0.9], [0, 0, 0.9]]], [[1, 0, 0]], [0, 0, 1], [[0, 0, 0]] * 3
)
"""Published: the third coordinate is the score, W acts on the first two."""
PUBLISHED = (ONE_INPUT, joint_inputs(1, "log-loss"), joint_inputs(1.5, "correlation"))
ZERO_QUERY = example([[[1], [0]]], [[0]], [1], [[0]])
ONE_KEY = example([[[1, 1], [1, 0]]], [[1, 0]], [0, 1], [[1, 0], [0, 0]])
"""Two tokens of different scores to which every W of the first coordinate attends alike."""
TWO_OPTIMAL = example(
    [[[1, 1], [0, 1], [0, 0]]], [[1, 0]], [0, 1], [[-4, 0], [0, 0]], loss="exponential"
)
BEYOND = example([[[3], [1]]], [[1]], [1], [[0]], loss="squared")
"""(1 - u)^2 is less at every u from 1 to the best score 3 than there."""
FLAT = example([[[2], [1]]], [[1]], [1], [[0]], loss="squared-hinge")
"""max(0, 1 - u)^2 is 0 at both scores."""


def scores(m: Any, v: Any) -> Any:
    """The scores Y_i v^T x_it."""
    return v.Y.reshape(-1, 1) * (v.X @ v.v)


def mean_drop(m: Any, v: Any, deficits: Any) -> Any:
    """The mean of l(best - deficit) - l(best) over the inputs."""
    drops = [
        v.loss.drop(m, m.max(gamma), deficit)
        for gamma, deficit in zip(v.gamma, deficits, strict=True)
    ]
    return m.sum(m.array(drops)) / v.n


@definition(r"\left(L(W) - L_*\right)")
def risk_gap(m: Any, v: Any) -> Any:
    """The mean over inputs of l(best - deficit) - l(best), where an optimal token adds exactly 0.

    The deficit of an input is sum_t s_t (best - gamma_t), with the weights s that attention gives.
    """
    inputs = zip(v.X, v.Z, v.gamma, strict=True)
    deficits = [
        m.dot(m.softmax(tokens @ (v.W @ z)), m.max(gamma) - gamma) for tokens, z, gamma in inputs
    ]
    return mean_drop(m, v, deficits)


@definition(r"\left(L^{{worst}} - L_*\right)")
def worst_gap(m: Any, v: Any) -> Any:
    """The mean over inputs of l(worst score) - l(best)."""
    return mean_drop(m, v, [m.oscillation(gamma) for gamma in v.gamma])


def above(m: Any, v: Any, share: Any) -> Any:
    """The risk is above that of the optimal tokens by a share of what the worst ones add."""
    return m.below(share * worst_gap(m, v), risk_gap(m, v))


def flag(m: Any, value: bool) -> Any:
    """That a property of the loss is there."""
    return m.equal(m.exact(int(value)), m.exact(1))


def family(*names: str) -> Mapping[str, Any]:
    """The variable of a loss from some of the family, in place of all."""
    return {"loss": Choice({name: LOSSES[name] for name in names})}


OTHERS = {
    "increasing loss": changed(
        drop=[DECREASING],
        variables=family("logistic"),
        examples=[{**published, "loss": "logistic"} for published in PUBLISHED],
    ),
    "above the risk at the worst tokens": changed(share=1, examples=PUBLISHED),
    "halfway to the worst tokens": changed(share="0.5"),
}

LEMMA = Statement(
    "tf/lemma-2",
    rests_on=("tf/softmax-range", "tf/definition-1"),
    source=SOURCE,
    place="Lemma 2",
    printed="Suppose l is strictly decreasing and smooth. Then, training risk obeys "
    "L(W) > L_* := (1/n) sum_i l(Y_i v^T x_i,opt)",
    variables={
        "n": Integer(1, 6),
        "T": Integer(1, 8),
        "d": Integer(1, 10),
        "X": Tensor(("n", "T", "d")),
        "Z": Matrix("n", "d"),
        "Y": Labels("n"),
        "v": Vector("d"),
        "W": Matrix("d", "d", (0, 4, 10)),
        "loss": Choice(LOSSES),
        "gamma": Defined(scores),
    },
    hypotheses={
        DECREASING: lambda m, v: flag(m, v.loss.strictly_decreasing),
        SMOOTH: lambda m, v: flag(m, v.loss.smooth),
        LABELS: lambda m, v: m.equal(m.square(v.Y), m.exact(1)),
        TWO_SCORES: lambda m, v: m.below(
            m.exact(0), m.max(m.array([m.oscillation(gamma) for gamma in v.gamma]))
        ),
    },
    conclusion=above,
    readings={
        "literal": Reading(
            "L(W) > L_* for every W and labels 1 or -1, for l strictly decreasing and smooth",
            expected="refuted",
            constants={"share": 0},
            under=LISTED,
            examples=(SMALLEST, TIED),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "L(W) > L_* for every W, for l strictly decreasing, smooth or not, where some input "
            "has two tokens of different scores",
            expected="proved",
            proof="symbolic.tf.lemma_2:prove",
            constants={"share": 0},
            under=(DECREASING, TWO_SCORES),
            examples=(*PUBLISHED, ZERO_QUERY, ONE_KEY, TWO_OPTIMAL),
            siblings={
                **OTHERS,
                "a loss that turns upwards": changed(
                    drop=[DECREASING], variables=family("squared"), examples=[BEYOND]
                ),
                "a loss that is flat from 1 on": changed(
                    drop=[DECREASING], variables=family("squared-hinge"), examples=[FLAT]
                ),
                "scores may all be tied": changed(drop=[TWO_SCORES], examples=[TIED]),
            },
        ),
    },
)

"""The risk of a linear head as a formula of scores and weights, and its instances.

Hypotheses on losses, scores, tokens and activations that several statements share.
"""

from collections.abc import Iterable, Mapping

from attsvm.primitives.losses import LOSSES, SLOPED
from attsvm.theory import (
    Choice,
    Defined,
    Hypothesis,
    Integer,
    Labels,
    Matrix,
    Tensor,
    Vector,
    definition,
)
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Values


def flag(m: Namespace, value: bool | Proposition) -> Comparison | Proposition:
    """Return the relation that a property of the loss is true."""
    if isinstance(value, Proposition):
        return value
    return m.equal(m.exact(int(value)), m.exact(1))


def family(*names: str) -> Mapping[str, Variable]:
    """Return the variable `loss` restricted to the named losses."""
    return {"loss": Choice({name: LOSSES[name] for name in names})}


ONE_SLOPED_LOSS = Choice({name: LOSSES[name] for name in SLOPED})
"""A loss whose slope is continuous and below 0, as a variable."""

DECREASING = Hypothesis(
    "l is strictly decreasing", lambda m, v: flag(m, v.loss.strictly_decreasing)
)
SMOOTH = Hypothesis("l is smooth", lambda m, v: flag(m, v.loss.smooth))
LABELS = Hypothesis("labels are 1 or -1", lambda m, v: m.equal(m.square(v.Y), m.exact(1)))
SEVERAL = Hypothesis("T >= 2", lambda m, v: m.at_least(m.exact(v.T), m.exact(2)))
CONVEX_PHI = Hypothesis("phi is convex", lambda m, v: flag(m, v.phi.convex))
SMOOTH_PHI = Hypothesis(
    "phi' is Lipschitz",
    lambda m, v: flag(m, v.phi.smooth),
    says="phi has a derivative, which is Lipschitz",
)
DECREASES = Hypothesis("l is decreasing, strictly or not", lambda m, v: flag(m, v.loss.decreasing))
TWO_SCORES = Hypothesis(
    "the scores of some input differ",
    lambda m, v: m.below(m.exact(0), m.max(m.array([m.oscillation(gamma) for gamma in v.gamma]))),
)


def example(X: Nested, Z: Nested, v: Nested, W: Nested, **others: object) -> dict[str, object]:
    """Return an instance by its values; labels are 1 and the loss is log-loss by default."""
    return {"X": X, "Z": Z, "Y": [1] * len(X), "v": v, "W": W, "loss": "log-loss", **others}


def joint_inputs(height: float, loss: str) -> dict[str, object]:
    """Return three inputs of two tokens, a head and a start; heights 1 and 3/2 are published."""
    X = [[[0, 0], [1, 1]], [[0, 0], [1, -1]], [[0, 0], [0.5, height]]]
    return example(X, [[1, 0]] * 3, [1, 1], [[1, 1], [1, 1]], Y=[1, -1, 1], loss=loss)


SMALLEST = example([[[0]]], [[0]], [0], [[0]])
TIED = example([[[1], [0]]], [[1]], [0], [[1]], loss="exponential")
ONE_INPUT = example(
    [[[-0.1, 1, 1], [1, 0, 0.9], [0, 0, 0.9]]], [[1, 0, 0]], [0, 0, 1], [[0, 0, 0]] * 3
)
"""Published: the third coordinate is the score, and W acts on the first two."""
PUBLISHED = (ONE_INPUT, joint_inputs(1, "log-loss"), joint_inputs(1.5, "correlation"))
ZERO_QUERY = example([[[1], [0]]], [[0]], [1], [[0]])
ONE_KEY = example([[[1, 1], [1, 0]]], [[1, 0]], [0, 1], [[1, 0], [0, 0]])
"""Two tokens of different scores between which no W of the first coordinate can choose."""
TWO_OPTIMAL = example(
    [[[1, 1], [0, 1], [0, 0]]], [[1, 0]], [0, 1], [[-4, 0], [0, 0]], loss="exponential"
)
BEYOND = example([[[3], [1]]], [[1]], [1], [[0]], loss="squared")
"""(1 - u)^2 is less at every score u from 1 to below 3 than at the best score 3."""
FLAT = example([[[2], [1]]], [[1]], [1], [[0]], loss="squared-hinge")
"""max(0, 1 - u)^2 is 0 at both scores."""


def scores(m: Namespace, v: Values) -> Numbers:
    """Return the scores Y_i v^T x_it."""
    return v.Y.reshape(-1, 1) * (v.X @ v.v)


def mean_drop(m: Namespace, v: Values, deficits: Iterable[Number]) -> Numbers:
    """Return the mean of l(best - deficit) - l(best) over the inputs."""
    drops = [
        v.loss.drop(m, m.max(gamma), deficit)
        for gamma, deficit in zip(v.gamma, deficits, strict=True)
    ]
    return m.sum(m.array(drops)) / v.n


@definition(r"\left(L(W) - L_*\right)")
def risk_gap(m: Namespace, v: Values) -> Numbers:
    """Return the mean of l(sum_t s_t gamma_t) - l(max_t gamma_t) for the loss l and attention s.

    Runs on the deficit sum_t s_t (best - gamma_t) of an input, to which an optimal token adds 0.
    """
    inputs = zip(v.X, v.Z, v.gamma, strict=True)
    deficits = [
        m.dot(m.softmax(tokens @ (v.W @ z)), m.max(gamma) - gamma) for tokens, z, gamma in inputs
    ]
    return mean_drop(m, v, deficits)


@definition(r"\left(L^{{worst}} - L_*\right)")
def worst_gap(m: Namespace, v: Values) -> Numbers:
    """Return the mean over inputs of l(worst score) - l(best)."""
    return mean_drop(m, v, [m.oscillation(gamma) for gamma in v.gamma])


VARIABLES = {
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
}
"""Any data with labels 1 and -1, a head, a matrix W and a loss."""

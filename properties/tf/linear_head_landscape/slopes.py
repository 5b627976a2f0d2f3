"""The slope of the risk along v q^T, for scores of labels and a linear head v."""

from collections.abc import Mapping

import numpy as np

from attsvm.primitives.losses import SLOPED as SLOPED_LOSSES
from attsvm.theory import Hypothesis, Labels, Meeting, Vector, definition, gradient
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties._support.risk_formulas import TWO_SCORES, VARIABLES, example, family, flag

POINT = {
    "q": Vector("d"),  # before Y: `SIDED` makes Y from q
    **VARIABLES,
    **family(*SLOPED_LOSSES, "cubic", "squared", "logistic"),
}
"""A point W of the risk of a linear head on a loss with a derivative, and a vector q."""
CUBIC = family("cubic")

AXES = example(
    [[[1, 0], [0, 1], [0, 0]], [[0, 2], [1, 1], [0, 0]]],
    [[1, 0], [0, 1]],
    [1, -1],
    [[0, 0], [0, 0]],
    Y=[1, -1],
    q=[1, -1],
)
"""Two inputs of opposite labels whose queries are orthogonal."""
SHARED = example([[[1], [0]], [[2], [-1]]], [[1], [2]], [1], [[0.5]], loss="logistic-loss", q=[0.5])
"""Two inputs of one label on a line."""
FLAT = example([[[1], [-1]]], [[1]], [1], [[0]], loss="cubic", q=[1])
"""-u^3 has no slope at the score 0 to which the input attends."""

SLOPED = Hypothesis(
    "l has a continuous slope below 0",
    lambda m, v: flag(m, v.loss.sloped),
    says="l has a derivative at every number, which is continuous and below 0",
)
SIDE = Hypothesis(
    "Y_i <z_i, q> > 0 for all i",
    lambda m, v: m.all_of(
        *(m.below(m.exact(0), y * m.dot(z, v.q)) for y, z in zip(v.Y, v.Z, strict=True))
    ),
)


def on_side(_: object, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return labels with Y_i <z_i, q> > 0 if <z_i, q> is not 0."""
    products = (known["Z"] * known["q"]).sum(axis=1)
    return np.where(products < 0, -1.0, 1.0)


SIDED = {"Y": Meeting(SIDE, Labels("n"), on_side)}
"""Labels that agree with q."""
FALLING = (SLOPED, TWO_SCORES, SIDE)
"""Hypotheses under which the risk falls along v q^T."""


@definition(r"\left\langle -\nabla L(W), v q^\top \right\rangle")
def fall(m: Namespace, v: Values) -> Number:
    """Return the mean of <-grad_r l(u_i), q> at r = 0, u_i the score of input i at W + v r^T.

    Its logits change by <x_it, v> <z_i, r>.
    """
    falls = []
    for tokens, z, gamma in zip(v.X, v.Z, v.gamma, strict=True):
        logits, values = tokens @ (v.W @ z), tokens @ v.v

        def risk(
            m: Namespace,
            r: Numbers,
            logits: Numbers = logits,
            values: Numbers = values,
            z: Numbers = z,
            gamma: Numbers = gamma,
        ) -> Number:
            s = m.softmax(logits + values * m.dot(r, z))
            return v.loss.value(m, m.dot(s, gamma))

        falls.append(-m.dot(gradient(m, risk, 0 * v.q), v.q))
    return m.sum(m.array(falls)) / v.n


@definition(r"D(W, q)")
def spread(m: Namespace, v: Values, about: str = "mean") -> Number:
    """Return the mean of -l'(u_i) Y_i <z_i, q> v^T C_i v, C_i the covariance of tokens at W.

    Tokens are weighed by attention, so that v^T C_i v is the variance of <x_it, v>. u_i is the
    score to which the input attends.
    """
    parts = []
    for tokens, z, gamma, y in zip(v.X, v.Z, v.gamma, v.Y, strict=True):
        s, values = m.softmax(tokens @ (v.W @ z)), tokens @ v.v
        apart = values - m.dot(s, values) if about == "mean" else values
        variance = m.dot(s, apart * apart)
        parts.append(v.loss.fall(m, m.dot(s, gamma)) * y * m.dot(z, v.q) * variance)
    return m.sum(m.array(parts)) / v.n


def falls(m: Namespace, v: Values) -> Comparison:
    """0 < <-grad L(W), v q^T>."""
    return m.below(m.exact(0), fall(m, v))


def is_spread(m: Namespace, v: Values, share: Number = 1, about: str = "mean") -> Relation:
    """<-grad L(W), v q^T> is the mean of -l' Y_i <z_i, q> v^T C_i v."""
    return m.equal(fall(m, v), share * spread(m, v, about))

"""Data sets with weights W and a decreasing loss: the instances of claims about the risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.strategies.data import attention_data, starts
from properties._support.published_data import joint_inputs, one_input, random_data

DECREASING = ["log-loss", "exponential", "correlation", "logistic-loss"]


@dataclass(frozen=True, slots=True)
class Weighted:
    """A data set, weights W and a decreasing loss by name."""

    data: AttentionData
    W: Array
    loss: str


@st.composite
def weighted(draw: st.DrawFn) -> Weighted:
    """Data of all small sizes, ties included, with weights from zero to large."""
    data = draw(attention_data())
    return Weighted(data, draw(starts(data.d, 0, 4)), draw(st.sampled_from(DECREASING)))


def protocol(generator: np.random.Generator) -> Weighted:
    """The Gaussian protocol of the talk at random sizes, weights of norms 0 to 30."""
    data = random_data(generator)
    W = generator.normal(size=(data.d, data.d)) * float(generator.choice([0.0, 1.0, 3.0]))
    return Weighted(data, W, str(generator.choice(DECREASING)))


def strictly_decreasing(case: Weighted) -> bool:
    """The loss is strictly decreasing and smooth."""
    return case.loss in DECREASING


def two_scores(case: Weighted) -> bool:
    """Some input has two tokens of different scores."""
    return any(len(set(row)) > 1 for row in ExactData.of(case.data).gamma)


SMALLEST = Weighted(
    AttentionData.of([[[0.0]]], [[0.0]], scores=[[0.0]]), np.zeros((1, 1)), "log-loss"
)
TIED = Weighted(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], y=[1.0], v=[0.0]), np.ones((1, 1)), "exponential"
)
PUBLISHED = [
    Weighted(one_input(), np.zeros((2, 2)), "log-loss"),
    Weighted(joint_inputs(), np.ones((2, 2)), "log-loss"),
    Weighted(joint_inputs(1.5), np.ones((2, 2)), "correlation"),
]
DEGENERATE = [
    Weighted(
        AttentionData.of([[[1.0], [0.0]]], [[0.0]], scores=[[1.0, 0.0]]),
        np.zeros((1, 1)),
        "log-loss",
    ),  # zero query
    Weighted(
        AttentionData.of([[[1.0], [1.0]]], [[1.0]], scores=[[1.0, 0.0]]),
        np.ones((1, 1)),
        "log-loss",
    ),  # one token twice, scored differently
    Weighted(
        AttentionData.of([[[1.0], [0.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0, 0.0]]),
        np.full((1, 1), -4.0),
        "exponential",
    ),  # two optimal tokens
]

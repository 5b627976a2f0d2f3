"""Sentences of the statement on the printed loss, and runs from them."""

from dataclasses import replace
from typing import Any

import numpy as np

from attsvm.primitives.descent import Descent
from properties.sim._support.self_attention import asking, descending
from properties.sim._support.training import REPAIRED


def turned(case: Descent) -> Descent:
    """The same with the labels -b and g(-u): optimal and worst tokens change places."""
    inputs: Any = case.inputs
    return replace(case, inputs=replace(inputs, labels=-inputs.labels), loss=REPAIRED)


THREE = descending([[[1, 0], [0, 1], [0, 0]]], [[[1], [0], [0]]], [[2], [1]], causal=False)
NEAR_LOW = replace(THREE, start=np.array([[-1.0, -1.0], [0.0, 0.0]]))
"""The same from X(0)^T = X^low, in the basin."""
OTHER_WAY = asking([[[0, -3], [4, -4]]], [[0, 1]])
"""`SENTENCE` of `sim/self-attention` with the signs of all tokens changed: logits stay."""
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
"""In the basin of the lowest tokens; the first step takes one entry to its best for ever."""
STILL = descending([[[1, 1], [1, -1]]], [[[1, 0], [0, 0]]], causal=False)
"""All scores are tied; X^mm is that of the first token."""

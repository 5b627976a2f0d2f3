"""Instances of theorem 3.14 for self-attention: short sequences."""

from dataclasses import replace

from properties.sim._support.self_attention import asking, descending

CAUSAL_LINE = asking([[[1], [2]]], [[0, 0]], causal=True)
TWO_SENTENCES = asking([[[-2, 3], [-3, -2]], [[2, -2], [3, 2]]], [[1, 0], [0, 1]], causal=True)
CAUSAL_LOG = asking([[[0, 0], [-2, -2]], [[-3, 1], [2, 2]]], [[1, 0], [1, 1]], causal=True)
"""Two sequences that refute the reading for the loss log(1 + exp(-u))."""
LEAPING = replace(
    descending(
        [[[1, 0], [0, 0], [0, 0]], [[-2, 1], [0, 0], [1, 0]]],
        [[[1, 0], [0, 0], [0, 0]], [[0, 0], [0, 0], [0, 1]]],
        [[1.0, -0.5], [0.0, 0.0]],
        [[2, 9], [0, 0]],
        causal=False,
    ),
    step=64.0,
)
"""A start in the basin; the first step takes the second entry to a worse token for ever."""

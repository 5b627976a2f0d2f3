"""Data of the published protocol, a head and a loss for tests of training."""

from dataclasses import replace

import numpy as np

from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS
from attsvm.prediction import relu_head
from properties._support.published_data import gaussian_protocol

OWN = replace(LOG_LOSS, name="mine")
"""The log-loss under a name that the compiled loops do not know."""

RELU = relu_head(np.random.default_rng(1).normal(size=(4, 5)), [1.0, -0.5, 2.0, 1.0])


def protocol(seed, n=3, T=4, d=5, masked=False):
    generator = np.random.default_rng(seed)
    data = gaussian_protocol(generator, n=n, T=T, d=d)
    if not masked:
        return data
    mask = generator.random((n, T)) < 0.7
    mask[:, -2:] = True
    return AttentionData(data.X, data.Z, y=data.y, v=data.v, mask=mask)

"""Gradient descent and normalised descent on W, (K, Q), p and (v, p); one call runs a whole batch.

Losses of this package with linear or ReLU heads run in compiled loops, data sets in parallel, in
coordinates whose size does not grow with d. A run is the same to the last bit in any batch and for
any number of threads. Losses and heads of your own run in numpy. On a named device all data sets
run as one batch of tensors. `follow` reaches any norm along the curve of gradient flow.
"""

from attsvm.training.batch import Batch, Trajectory, stack
from attsvm.training.flow import follow, follow_kq, follow_p, follow_w
from attsvm.training.steps import descend_kq, descend_p, descend_vp, descend_w

__all__ = [
    "Batch",
    "Trajectory",
    "descend_kq",
    "descend_p",
    "descend_vp",
    "descend_w",
    "follow",
    "follow_kq",
    "follow_p",
    "follow_w",
    "stack",
]

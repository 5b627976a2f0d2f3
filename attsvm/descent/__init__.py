"""Gradient descent and normalised descent on W, (K, Q) and p; one call runs a whole batch.

Losses of this package run in compiled loops, one data set after the other, in coordinates whose
size does not grow with d; a data set's trajectory is the same to the last bit in any batch and for
any number of threads. Other losses run in numpy.
"""

from attsvm.descent.batch import Batch, Trajectory, stack
from attsvm.descent.flow import follow, follow_w
from attsvm.descent.steps import descend_kq, descend_p, descend_w, normalised_descent_w

__all__ = [
    "Batch",
    "Trajectory",
    "descend_kq",
    "descend_p",
    "descend_w",
    "follow",
    "follow_w",
    "normalised_descent_w",
    "stack",
]

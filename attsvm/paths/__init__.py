"""Regularisation paths: the risk minimised over balls of growing radius, from several starts.

`path_w` minimises over ||W||_F <= R, `path_kq` over ||K||_F^2 + ||Q||_F^2 <= 2R, and `path_joint`
over ||v|| <= r and ||p|| <= R. Values are logarithms, and every figure of a result is recomputed
from its point in the log domain. The problems are not convex: the results are the best points
found, with a lower bound of the minimum.
"""

from attsvm.paths.frobenius import Minimum, path_w
from attsvm.paths.grades import Attempt
from attsvm.paths.joint import JointMinimum, path_joint
from attsvm.paths.nuclear import FactorMinimum, path_kq
from attsvm.paths.search import RegularisationPath

__all__ = [
    "Attempt",
    "FactorMinimum",
    "JointMinimum",
    "Minimum",
    "RegularisationPath",
    "path_joint",
    "path_kq",
    "path_w",
]

"""Paths of factors with an inner dimension, and a bound of the least rank of solutions."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb, fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData
from attsvm.exact.numbers import subtract
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.primitives.losses import LOSSES
from attsvm.primitives.steps import ZERO, tends
from attsvm.strategies import composite, sizes
from attsvm.theory import Hypothesis, Slack
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties._support.suppositions import NUCLEAR_SOLUTION
from properties.tf._support import path_certificates
from properties.tf._support import regularisation_paths as cases
from properties.tf._support.regularisation_paths import Path, single_entries


@dataclass(frozen=True, slots=True)
class Factored:
    """A path, and the inner dimension r of K and Q."""

    path: Path
    inner: int

    def __post_init__(self) -> None:
        if self.inner < 1:
            raise DataError("an inner dimension is below 1", value=self.inner)

    @property
    def data(self) -> AttentionData:
        """The data set of the path."""
        return self.path.data

    @property
    def loss(self) -> str:
        """The loss of the path."""
        return self.path.loss


def follows(case: Factored, target: str = "solutions", share: int | Fraction = 1) -> Slack:
    """Return the slack of `follows_set` for the path and its inner dimension."""
    return cases.follows_set(case.path, target, share, case.inner)


def certified(case: Factored, target: str = "solutions", share: int | Fraction = 1) -> arb | None:
    """Return the result of `certified_set` for the path and its inner dimension."""
    return path_certificates.certified_set(case.path, target, share, case.inner)


def known_rank(data: AttentionData) -> int | None:
    """Return an upper bound of the least rank of a solution of Att-SVM*; None without solution.

    It is 1 if W^mm has rank 1. It is also 1 if each constraint is on one entry, s_k W_ij >= b_k
    with s_k = 1 or -1, and no two are in one row or column. With u_i = sqrt(b_k), v_j = s_k
    sqrt(b_k), u v^T meets them, and ||u|| ||v|| = sum_k b_k <= sum_k s_k W_ij <= ||W||_* for every
    feasible W. Otherwise it is the smaller rank of the queries and of the differences of tokens.
    """
    svm = exact_att_svm(data)
    if svm is None or not svm.A:
        return None
    entries = {at for at, _ in single_entries(data)}
    apart = None not in entries and all(
        len(set(axis)) == len(entries) for axis in zip(*filter(None, entries), strict=True)
    )
    if svm.rank == 1 or apart:
        return 1
    exact = ExactData.of(data)
    inputs = zip(exact.X, exact.Z, exact.optimal, strict=True)
    several = [(X, z, best[0]) for X, z, best in inputs if len(X) > 1]
    differences = [subtract(X[best], x) for X, _, best in several for x in X]
    return min(fmpq_mat(rows).rank() for rows in (differences, [list(z) for _, z, _ in several]))


def low_rank(case: Factored) -> bool:
    """Return whether some solution provably has a rank of at most r; False if unknown."""
    least = known_rank(case.data)
    return least is not None and least <= case.inner


def first_input(case: Path) -> Path:
    """Return the path of the first input alone, whose W^mm has rank 1 or is 0."""
    data = case.data
    scores = np.where(data.present, data.gamma, 0.0)[:1]
    mask = None if data.mask is None else data.mask[:1]
    return replace(case, data=AttentionData(data.X[:1], data.Z[:1], scores=scores, mask=mask))


@composite
def factored(draw: st.DrawFn, *, known: bool = True) -> Factored:
    """Draw a path with an inner dimension of at most d, mostly at least `known_rank`."""
    alone = st.one_of(cases.paths().map(first_input), cases.of(entries()))
    path = draw(st.one_of(alone, cases.paths(cases.turned())))
    least = (known_rank(path.data) or 1) if known else 1
    return Factored(path, draw(st.integers(least, max(least, path.data.d))))


@composite
def entries(draw: st.DrawFn) -> AttentionData:
    """Draw inputs of two tokens that bound one entry of W each, no two in one row or column."""
    d = draw(sizes(1, 3))
    sizes_of = draw(st.permutations([1.0, -2.0, 0.5]))[:d]
    X = np.zeros((d, 2, d))
    X[:, 0] = np.diag(sizes_of)
    queries = np.eye(d)[draw(st.permutations(range(d)))]
    return AttentionData(X, queries, scores=np.tile([1.0, 0.0], (d, 1)))


def margins(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that the |(K Q^T)_ii| add up to at most `share` (||K||^2 + ||Q||^2)/2."""
    half = (m.sum(v.K * v.K) + m.sum(v.Q * v.Q)) / 2
    return m.at_most(m.sum(m.abs(m.sums(v.K * v.Q))), share * half)


OF_RANK = tends(
    "$formula for the inner dimension r as R tends to infinity, and for no r below the ranks of "
    "all solutions",
    path_certificates.NEAR,
    ZERO,
    floats=follows,
    balls=certified,
    symbols={"target": path_certificates.TARGETS},
    where=path_certificates.FACTORS,
)
THREE = Path(
    AttentionData.of(
        [
            [[0, 0, 0], [-1, 0, 0], [0, -4, 0], [0, 0, -4]],
            [[0, 0, 0], [4, 0, 0], [0, -1, 0], [0, 0, -4]],
            [[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, -1]],
        ],
        np.eye(3).tolist(),
        scores=[[1, 0, 0, 0]] * 3,
    ),
    "log-loss",
)
"""W_ii >= 1, and W_ij >= 1/4 or W_ij <= -1/4 for other entries: all solutions have rank 3."""
WIDE = replace(
    cases.TURNING,
    data=AttentionData(
        np.pad(cases.TURNING.data.X, ((0, 0), (0, 0), (0, 1))),
        np.pad(cases.TURNING.data.Z, ((0, 0), (0, 1))),
        scores=cases.TURNING.data.scores,
    ),
)
"""The constraints of `TURNING` on a 3 x 3 matrix: solutions have rank 2."""


def decreasing(case: Path) -> bool:
    """Return whether the loss is smooth and never increases."""
    return LOSSES[case.loss].smooth and LOSSES[case.loss].decreasing


DECREASING = Hypothesis(
    "l is smooth and decreasing",
    decreasing,
    says="the loss l is smooth and decreasing",
    checked="all_of(decreasing(loss), smooth(loss))",
)
LOW_RANK = Hypothesis(
    "some solution of Att-SVM* is known to have a rank of r at most",
    low_rank,
    says="some solution of Att-SVM* has a rank of at most r",
    implies=(SEVERAL_TOKENS, NUCLEAR_SOLUTION),
)

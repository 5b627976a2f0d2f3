"""Instances of definition 3.8: data sets with matrices, shares or a vector."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.numbers import Vector
from attsvm.primitives.att_svm import exact_constraints, flat
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.separable_data import preferring, separated, separated_larger

_ALIGNED = 1 / 4
"""Share of larger instances in which all constraint matrices are multiples of one."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """A data set and matrices (k, d, d)."""

    data: AttentionData
    points: Array


@composite
def pointed(draw: st.DrawFn, k: int = 1) -> Pointed:
    """Draw data and k matrices that meet all constraints; at times the last tokens are tied."""
    X, Z, chosen, points = draw(separated(k))
    scores = preferring(chosen, draw(arrays(*X.shape[:2])))
    if draw(sizes(0, 2)) == 2:
        scores[:, -1] = 1.0
    return Pointed(AttentionData(X, Z, scores=scores), points)


@composite
def anywhere(draw: st.DrawFn, k: int = 1) -> Pointed:
    """Draw data and k matrices that need not meet the constraints."""
    case = draw(pointed(k))
    return Pointed(case.data, draw(arrays(k, case.data.d, case.data.d)))


def pointed_larger(generator: np.random.Generator, k: int = 1) -> Pointed:
    """Return larger data with k matrices that meet all constraints."""
    X, Z, chosen, points = separated_larger(generator, k)
    scores = preferring(chosen, generator.integers(-8, 1, size=X.shape[:2]) / 4)
    return Pointed(AttentionData(X, Z, scores=scores), points)


@dataclass(frozen=True, slots=True)
class Shared:
    """A data set and a share (n, T) for each token."""

    data: AttentionData
    shares: Array

    def __post_init__(self) -> None:
        if self.shares.shape != self.data.X.shape[:2]:
            raise DataError("there is not one share for each token", value=self.shares.shape)


@composite
def shared(draw: st.DrawFn, *, signed: bool = False) -> Shared:
    """Draw data and shares, which are not negative unless `signed`."""
    data = draw(pointed()).data
    shares = draw(arrays(data.n, data.T))
    return Shared(data, shares if signed else np.abs(shares) + (shares == 0).all())


def shared_larger(generator: np.random.Generator) -> Shared:
    """Return larger data with shares."""
    data = pointed_larger(generator).data
    return Shared(data, generator.integers(0, 5, size=(data.n, data.T)) + 1.0)


@dataclass(frozen=True, slots=True)
class Classified:
    """A data set with labels and a head, and a vector u that should classify the queries."""

    data: AttentionData
    u: Array

    def __post_init__(self) -> None:
        if self.data.y is None or self.data.v is None or self.u.shape != (self.data.d,):
            raise DataError("labels, head and vector do not fit the data", value=self.u.shape)


def _classified(X: Array, Z: Array, y: Array, v: Array, u: Array, extra: Array) -> Classified:
    """Return data with y_i u^T z_i = 1 + extra_i, in which one token is best along v.

    First entries of the queries and of the best tokens are changed.
    """
    X, Z, v, u = X.copy(), Z.copy(), v.copy(), u.copy()
    u[0], v[0] = 1.0, v[0] or 1.0
    Z[:, 0] = y * (1.0 + extra) - Z[:, 1:] @ u[1:]
    best = (y[:, None] * (X @ v)).argmax(axis=1)
    X[np.arange(len(X)), best, 0] += y * np.sign(v[0])
    return Classified(AttentionData(X, Z, y=y, v=v), u)


def _aligned(c: Array, y: Array, v: Array, u: Array, extra: Array) -> Classified:
    """Return tokens c_it v and queries y_i (1 + extra_i) u, which attain bounds by ||u|| ||v||."""
    u, v, c = u.copy(), v.copy(), c.copy()
    u[0], v[0] = u[0] or 1.0, v[0] or 1.0
    c[np.arange(len(c)), (y[:, None] * c).argmax(axis=1)] += y
    Z = (y * (1.0 + extra))[:, None] * u
    return Classified(AttentionData(c[:, :, None] * v, Z, y=y, v=v), u)


@composite
def classified(draw: st.DrawFn) -> Classified:
    """Draw labels that u classifies by the queries with a margin, and unique optimal tokens."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 4)), draw(sizes(1, 3))
    y = np.where(draw(arrays(n)) < 0, -1.0, 1.0)
    X, Z, v, u = draw(arrays(n, T, d)), draw(arrays(n, d)), draw(arrays(d)), draw(arrays(d))
    return _classified(X, Z, y, v, u, np.maximum(draw(arrays(n)), 0.0))


@composite
def headed(draw: st.DrawFn) -> Classified:
    """Draw any labels, queries, head and vector; in every third case one input opposes another.

    The last input is then the first one with the query -z, so all its constraints are negated. By
    Farkas, X^mm fails to exist exactly if a sum of constraints with weights w >= 0, not all 0, is
    0. If optimal tokens are unique and z is not 0, constraints of a single input have no such sum.
    """
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 4)), draw(sizes(1, 3))
    y = np.where(draw(arrays(n)) < 0, -1.0, 1.0)
    X, Z, v, u = draw(arrays(n, T, d)), draw(arrays(n, d)), draw(arrays(d)), draw(arrays(d))
    if draw(sizes(0, 2)) == 2 and n > 1:
        y, X, Z = (np.concatenate([a[:-1], b]) for a, b in ((y, y[:1]), (X, X[:1]), (Z, -Z[:1])))
    return Classified(AttentionData(X, Z, y=y, v=v), u)


def classified_larger(generator: np.random.Generator) -> Classified:
    """Return up to 6 inputs of up to 6 tokens in R^6 or less; one case in four is aligned."""
    n, T, d = (int(generator.integers(1, 7)) for _ in range(3))

    def dyadic(*shape: int) -> Array:
        return np.asarray(generator.integers(-32, 33, size=shape) / 16)

    y = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    extra = np.maximum(dyadic(n), 0.0)
    if generator.random() < _ALIGNED:
        return _aligned(dyadic(n, T), y, dyadic(d), dyadic(d), extra)
    return _classified(dyadic(n, T, d), dyadic(n, d), y, dyadic(d), dyadic(d), extra)


def classifies(case: Classified) -> bool:
    """Return whether y_i u^T z_i > 0 for every input."""
    return all(q > 0 for q in classified_margins(case))


def classified_margins(case: Classified) -> Vector:
    """Return y_i u^T z_i, exactly."""
    u, y = rationals(case.u), present(case.data.y, "the labels y")
    pairs = zip(rationals(y), ExactData.of(case.data).Z, strict=True)
    return [y * dot(u, z) for y, z in pairs]


ONE_TOKEN = AttentionData.of([[[1.0]]], [[0.0]], scores=[[0.0]])
CANCELLING = Shared(
    AttentionData.of([[[1], [0], [-1]]], [[1]], scores=[[1, 0, -1]]), np.array([[0.0, 2.0, -1.0]])
)
TIED = Classified(
    AttentionData.of([[[1, 0], [0, 0]], [[0, 0], [1, 0]]], [[1, 0], [1, 0]], y=[1, 1], v=[0, 1]),
    np.array([1.0, 0.0]),
)
"""Both tokens of each input score 0, and the first ones ask for opposite margins."""


def meet(case: Pointed) -> bool:
    """Return whether all matrices meet the constraints of the optimal tokens."""
    exact = ExactData.of(case.data)
    A = exact_constraints(exact).values()
    return all(dot(a, flat(V)) >= 1 for V in rationals(case.points) for a in A)


def are_shares(case: Shared) -> bool:
    """Return whether no share is negative, and some constrained token has a share above 0."""
    exact = ExactData.of(case.data)
    constrained = [case.shares[token] for token in exact_constraints(exact)]
    return not (case.shares < 0).any() and any(constrained)

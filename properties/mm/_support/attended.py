"""Instances of assumption B and theorem 2: selections with a prompt and a head."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.exact import dot
from attsvm.exact.numbers import combine
from attsvm.strategies import arrays, composite, sizes
from properties.mm._support import best_nu
from properties.mm._support import max_margin as svm
from properties.mm._support.label_margins import others
from properties.mm._support.token_selections import Selection, select

PARALLEL = select([[[2.0], [1.0]]], [1], [0])

TANGENT = select([[[1, 0], [0, 0]], [[1, 1], [0, 0]]], [1, 1], [0, 0])
"""The second input has a tight margin under v(alpha) = (1, 0), and the multiplier 0."""


@dataclass(frozen=True, slots=True)
class Attended:
    """A selection with any prompt p and any head h."""

    chosen: Selection
    p: Array
    h: Array

    def __post_init__(self) -> None:
        d = self.chosen.X.shape[2]
        if not self.p.shape == self.h.shape == (d,):
            raise DataError("prompt or head does not fit the tokens", value=self.p.shape)


@dataclass(frozen=True, slots=True)
class Doubted(Attended):
    """The same with a constant nu > 0, which may be too large."""

    nu: float

    def __post_init__(self) -> None:
        Attended.__post_init__(self)
        if not (np.isfinite(self.nu) and self.nu > 0):
            raise DataError("nu is not positive or not finite", value=self.nu)


def mean_margin(case: Selection) -> tuple[Any, Any]:
    """Return Gamma^2 and the largest ||sum_i w_i Y_i x_i,beta_i||^2 over beta != alpha.

    The w are multipliers of sum 1: of v(alpha), or of the proof that v(alpha) does not exist, for
    which Gamma is 0. The second number is 0 if there is no other beta.
    """
    v = svm.v_programme(case)
    points = [combine(v.shares, svm.v_rows(other)) for other in others(case)]
    return v.margin_square, max([fmpq(0), *(dot(z, z) for z in points)])


@composite
def attended(draw: st.DrawFn, inputs: int = 2, aligned: bool = False) -> Attended:
    """Draw selections of tokens that are mostly the longer ones, with small prompts and heads.

    Another token is 1/2, 0 or -1/2 times the selected one, plus something small unless `aligned`.
    In every second case the head is v(alpha).
    """
    n, T, d = draw(sizes(1, inputs)), draw(sizes(1, 3)), draw(sizes(1, 3))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    alpha = draw(st.lists(st.integers(0, T - 1), min_size=n, max_size=n))
    best = draw(arrays(n, d)).copy()
    best[:, 0] = np.array(y) * (2.0 + np.abs(best[:, 0]))
    share = draw(st.sampled_from([0.5, 0.0, -0.5]))
    X = share * best[:, None] + (0.0 if aligned else draw(arrays(n, T, d)) / 8.0)
    X = np.broadcast_to(X, (n, T, d)).copy()
    X[np.arange(n), alpha] = best
    chosen = Selection(X, np.array(y), np.array(alpha), draw(st.just(np.eye(d)) | arrays(d, d)))
    v = svm.v_programme(chosen).vector
    h = draw(arrays(d))
    if v is not None and draw(st.booleans()):
        h = np.array([float(fmpq(x).p) / float(fmpq(x).q) for x in v])
    return Attended(chosen, draw(arrays(d)), h)


@composite
def doubted(draw: st.DrawFn) -> Doubted:
    """Draw selections similar to `attended`, with each other token moved along its own axis.

    The drawn kind changes the data:

    - "longer": the label margin of the last input is enlarged.
    - "tangent": the last input repeats the selected token of the first one, plus a vector
      orthogonal to it.
    - "level": all label margins are equal, and other tokens score little less than the selected.

    nu is 1, 1/8 or 4, or 63/64 or 65/64 of the best nu.
    """
    n = draw(sizes(1, 3))
    T = draw(sizes(1, 3)) if n < 3 else 2
    kind = draw(st.sampled_from(["as drawn", "level", "longer", "tangent", "level"]))
    d = max(1, n * (T - 1)) + (1 if kind == "level" else draw(sizes(1, 2)) - 1)
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    best = draw(arrays(n, d)).copy()
    best[:, 0] = np.array(y) * (2.0 + np.abs(best[:, 0]))
    if kind == "longer":
        best[-1, 0] += 4.0 * y[-1]
    if kind == "tangent":
        best[-1] = y[-1] * y[0] * best[0]
        best[-1, -1] += 1.0 if d > 1 else 0.0
        best[0, -1] = 0.0 if d > 1 else best[0, -1]
    if kind == "level":
        best[:, 0] = 2.0 * np.array(y)
        best[-1, 1:] = -y[-1] * np.array(y[:-1]) @ best[:-1, 1:]
    share = draw(st.sampled_from([0.5, -0.5, 0.0, 1.25]))
    X = share * best[:, None] + draw(arrays(n, T, d)) / (2.0 if kind == "level" else 8.0)
    if kind == "level":
        X[:, :, 0] = best[:, :1] - draw(st.sampled_from([0.25, 1.0])) * np.array(y)[:, None]
    for k in range(n * (T - 1)):
        X[k // (T - 1), 1 + k % (T - 1), d - 1 - k] += 0.5
    X[:, 0] = best
    chosen = Selection(X, np.array(y), np.zeros(n, dtype=np.int64), np.eye(d))
    v, nu = svm.v_programme(chosen).vector, draw(st.sampled_from([1.0, 0.125, 4.0]))
    largest = best_nu.best_nu(chosen) if v is not None and T > 1 else None
    if largest is not None:
        nu = draw(st.sampled_from([nu, 63 / 64 * float(largest), 65 / 64 * float(largest)]))
    h = draw(arrays(d))
    if v is not None and draw(st.booleans()):
        h = np.array([float(fmpq(x).p) / float(fmpq(x).q) for x in v])
    return Doubted(chosen, draw(arrays(d)), h, nu)

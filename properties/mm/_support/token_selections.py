"""Instances of the three programmes: inputs, labels, a key matrix and the tokens to select.

Strategies meet hypotheses by construction. Tokens are moved along one axis, exactly in binary. So a
drawn vector meets every constraint with a drawn margin of 1 or more.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Records
from properties._support.published_data import joint_inputs


@dataclass(frozen=True, slots=True)
class Selection:
    """Inputs X (n, T, d) with labels y, keys k = W x, and the token alpha_i of each input."""

    X: Array
    y: Array
    alpha: Array
    W: Array

    def __post_init__(self) -> None:
        n, T, d = self.X.shape
        fits = self.y.shape == self.alpha.shape == (n,) and self.W.shape == (d, d)
        fits = fits and self.y.dtype.kind == self.alpha.dtype.kind == "i"
        if not fits or not ((self.alpha >= 0) & (self.alpha < T)).all():
            raise DataError("the parts of a selection do not fit together", value=self.X.shape)
        if not (np.abs(self.y) == 1).all():
            raise DataError("a label is neither -1 nor 1", value=self.y.tolist())


@dataclass(frozen=True, slots=True)
class Rival:
    """A selection and any vector q: another prompt, or a head."""

    chosen: Selection
    q: Array

    def __post_init__(self) -> None:
        if self.q.shape != self.chosen.W.shape[:1]:
            raise DataError("the vector does not fit the tokens", value=self.q.shape)


SELECTED = (
    "tokens x_it, t = 1, ..., T, with keys k_it = W x_it, labels Y_i of 1 or -1, and selected "
    "tokens alpha_i be arbitrary"
)
WITH_Q = (
    "tokens x_it, t = 1, ..., T, with keys k_it = W x_it, labels Y_i of 1 or -1, selected tokens "
    "alpha_i, and a vector q be arbitrary"
)
"""Words that define a selection, and a selection with a vector, for a sentence after "Let"."""


def chosen(case: object) -> Selection:
    """Return the selection of an instance: itself, or its part `chosen`; also in torch."""
    return cast("Selection", getattr(case, "chosen", case))


def selecting(case: Selection, alpha: tuple[int, ...]) -> Selection:
    """Return the same inputs with other tokens selected, also for a batch in torch."""
    other = np.array(alpha, dtype=np.int64)
    if isinstance(case, Selection):
        return replace(case, alpha=other)
    return SimpleNamespace(**{**vars(case), "alpha": other})


def select(X: object, y: object, alpha: object, W: object = None) -> Selection:
    """Return a selection of nested lists; keys are the tokens unless W is given."""
    tokens = np.array(X, dtype=np.float64)
    keys = np.eye(tokens.shape[2]) if W is None else np.array(W, dtype=np.float64)
    return Selection(tokens, np.array(y, dtype=np.int64), np.array(alpha, dtype=np.int64), keys)


ONE_TOKEN = select([[[1.0]]], [1], [0])
SEPARATED = select([[[1.0], [0.0]]], [1], [0])
DUPLICATE = select([[[1.0], [1.0]]], [1], [0])
INSIDE = select([[[1.0], [2.0], [0.0]]], [1], [0])  # the selected token lies between the others
OPPOSED = select([[[1.0], [0.0]], [[1.0], [0.0]]], [1, -1], [0, 0])
RESCUED = select([[[1.0], [0.0]], [[2.0], [2.0]]], [1, 1], [0, 0])
"""The second input repeats its token and does not support v, so only the relaxed margin can be
met."""
PUBLISHED = [select(data.X, data.y, [1, 1, 1]) for data in map(joint_inputs, (1.0, 1.5))]
"""In the first one all inputs support v; in the second one the third input does not."""
ORTHOGONAL = select([[[1.0, 0.0], [0.0, 0.0]], [[2.0, 1.0], [2.0, 0.0]]], [1, 1], [0, 0])
"""The second input does not support v, and its constraint on p is orthogonal to the first one."""
TWICE = select([[[1.0], [0.0]], [[1.0], [0.0]]], [1, 1], [0, 0])
"""Two equal inputs: v(alpha) stays the same without either."""

NARROW = select([[[1.0, 0.0], [0.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]], [1, 1], [0, 0])
"""v(alpha) = p(alpha) = (1, 3): the margin 1/sqrt 10 is below half of the shortest token."""


def _signs(n: int) -> st.SearchStrategy[Array]:
    return arrays(n).map(lambda a: np.where(a < 0, -1, 1).astype(np.int64))


def _tokens(n: int, T: int) -> st.SearchStrategy[Array]:
    index = st.lists(st.integers(0, T - 1), min_size=n, max_size=n)
    return index.map(lambda a: np.array(a, dtype=np.int64))


@composite
def selections(draw: st.DrawFn) -> Selection:
    """Draw selections of all small sizes, separable or not."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 3)), draw(sizes(1, 3))
    W = draw(st.one_of(st.just(np.eye(d)), arrays(d, d)))
    return Selection(draw(arrays(n, T, d)), draw(_signs(n)), draw(_tokens(n, T)), W)


@composite
def rivals(draw: st.DrawFn, kind: str = "prompt", least: int = 1) -> Rival:
    """Draw selections for which both programmes have a solution, and a vector q.

    With u = W^T q and u_1 = 1 the first coordinate of a rival token sets its margin. With a head h
    of h_1 = 1 the first coordinate of the selected token sets its label margin. If the kind is
    `prompt`, q meets every constraint of the p-SVM; if `head`, every one of the v-SVM; if `any`, it
    is any vector. There are at least `least` inputs.
    """
    n, T, d = draw(sizes(least, 3)), draw(sizes(2, 3)), draw(sizes(1, 3))
    W = draw(st.one_of(st.just(np.eye(d)), arrays(d, d))).copy()
    q, h = draw(arrays(d)).copy(), draw(arrays(d)).copy()
    q[0] = h[0] = 1.0
    W[0, 0] = 1.0 - W[1:, 0] @ q[1:]
    u = q @ W
    y, alpha = draw(_signs(n)), draw(_tokens(n, T))
    best, gap = draw(arrays(n, d)).copy(), draw(arrays(n, T, d)).copy()
    best[:, 0] = y * (1.0 + np.maximum(draw(arrays(n)), 0.0)) - best[:, 1:] @ h[1:]
    gap[:, :, 0] = 1.0 + np.maximum(draw(arrays(n, T)), 0.0) - gap[:, :, 1:] @ u[1:]
    X = best[:, None] - gap
    X[np.arange(n), alpha] = best
    vector = {"prompt": q, "head": h, "any": draw(arrays(d)) if kind == "any" else q}[kind]
    return Rival(Selection(X, y, alpha, W), vector)


def separable() -> st.SearchStrategy[Selection]:
    """Return a strategy of selections for which both programmes have a solution."""
    return rivals().map(lambda r: r.chosen)


@composite
def relaxable(draw: st.DrawFn, duplicates: bool = False) -> Selection:
    """Draw a selection of several inputs, of which one is shifted so that its label margin grows.

    With `duplicates` some of its other tokens may repeat the selected one. Then the p-SVM has no
    solution, but the relaxed p-SVM may have one.
    """
    drawn = draw(rivals(least=2)).chosen
    i, X = draw(sizes(0, len(drawn.y) - 1)), drawn.X.copy()
    X[i, :, 0] += drawn.y[i] * draw(st.sampled_from([4.0, 1.0, 16.0, 0.0]))
    if duplicates and draw(st.booleans()):
        X[i, draw(sizes(0, X.shape[1] - 1))] = X[i, drawn.alpha[i]]
    return Selection(X, drawn.y, drawn.alpha, drawn.W)


@composite
def headed(draw: st.DrawFn) -> Rival:
    """Draw selections of the tokens that score best under a head q, possibly tied."""
    drawn = draw(selections())
    q = draw(arrays(drawn.X.shape[2]))
    return Rival(_best(drawn, q), q)


@composite
def one_sided(draw: st.DrawFn, labels: int = 1, lifts: tuple[float, ...] = (1.0, 0.5)) -> Rival:
    """Draw selections of the tokens that score best under the head W^T q, lifted above the others.

    The lift is along the first coordinate, on which the head is 1. With `labels` = 2 both labels
    may occur.
    """
    drawn = draw(selections())
    signs = drawn.y if labels == 2 else np.full_like(drawn.y, drawn.y[0])
    q, W = draw(arrays(drawn.X.shape[2])).copy(), drawn.W.copy()
    q[0] = 1.0
    W[0, 0] = 1.0 - W[1:, 0] @ q[1:]
    best = _best(Selection(drawn.X, signs, drawn.alpha, W), q @ W)
    X = best.X.copy()
    X[np.arange(len(signs)), best.alpha, 0] += signs * draw(st.sampled_from(lifts))
    return Rival(Selection(X, signs, best.alpha, W), q)


def _best(drawn: Selection, q: Array) -> Selection:
    scores = drawn.y[:, None] * (drawn.X @ q)
    return replace(drawn, alpha=scores.argmax(axis=1).astype(np.int64))


def gaussian(generator: np.random.Generator) -> Rival:
    """Return Gaussian tokens to 1/256, of sizes up to (5, 5, 6); q ranks the selected tokens first.

    Every fourth selection is arbitrary instead.
    """
    n, T, d = (int(generator.integers(low, top)) for low, top in ((1, 6), (2, 6), (1, 7)))
    X = np.round(256.0 * generator.normal(size=(n, T, d))) / 256
    q, h = (np.round(8.0 * generator.normal(size=d)) / 8 for _ in range(2))
    W = np.eye(d)
    if generator.random() < 0.5:
        W = np.round(8.0 * generator.normal(size=(d, d))) / 8
    scores = X @ (q @ W)
    alpha = scores.argmax(axis=1).astype(np.int64)
    if generator.random() < 0.25:
        alpha = generator.integers(0, T, size=n)
    scores.sort(axis=1)
    gap = float((scores[:, -1] - scores[:, -2]).min())
    y = np.where(X[np.arange(n), alpha] @ h < 0, -1, 1).astype(np.int64)
    scale = 2.0 ** np.ceil(-np.log2(gap)) if gap > 0 else 1.0
    return Rival(Selection(X, y, alpha, W), q * scale)


def larger(generator: np.random.Generator) -> Selection:
    """Return a selection of Gaussian tokens."""
    return gaussian(generator).chosen


def along(generator: np.random.Generator) -> Rival:
    """Return a selection whose keys differ along q, of sizes up to (5, 5, 6), with one label.

    W is arbitrary. The least lead under the head W^T q is then ||q|| times the margin of p(alpha),
    which is along q, so bounds of the norm by the lead are attained. Every fourth selection is
    Gaussian instead.
    """
    if generator.random() < 0.25:
        drawn = gaussian(generator)
        return Rival(replace(drawn.chosen, y=np.ones_like(drawn.chosen.y)), drawn.q)
    n, T, d = (int(generator.integers(low, top)) for low, top in ((1, 6), (2, 6), (1, 7)))
    W, gap = generator.integers(-8, 9, size=(d, d)) / 8, generator.integers(-8, 9, size=d) / 8
    y, alpha = np.full(n, generator.choice([-1, 1])), generator.integers(0, T, size=n)
    c = y[:, None] * generator.integers(1, 33, size=(n, T)) / 8
    c[np.arange(n), alpha] = 0.0
    best = generator.integers(-32, 33, size=(n, 1, d)) / 8
    return Rival(Selection(best - c[..., None] * gap, y, alpha, W), W @ gap)


ANY = Records(Selection, st.one_of(selections(), separable()), larger, lets=SELECTED)
"""Selections, separable or not."""

"""Descent in compiled loops; each data set is a lane, and 16 to 128 lanes run side by side."""

from collections.abc import Callable, Iterable

import numpy as np

from attsvm._types import Array
from attsvm.kernels import ensembles
from attsvm.kernels.lanes import Lanes
from attsvm.prediction import ReluHead
from attsvm.training.batch import Batch, each
from attsvm.training.layer import Layer, restored, split
from attsvm.training.rule import Rule

_CACHE = 1 << 19
"""Maximum number of bytes of the tokens of a group, so that they stay in the cache."""


def _groups(total: int, tokens: int, threads: int) -> list[Array]:
    """Return groups of data sets whose tokens fit the cache, about equally many for each thread."""
    width = int(np.clip(_CACHE // (8 * tokens), 16, 128))
    count = -(-total // width)
    count = -(-count // threads) * threads
    even = -(-total // (4 * count)) * 4  # whole vectors of 4 numbers
    return [np.arange(start, min(start + even, total)) for start in range(0, total, even)]


def _side_by_side(arrays: Iterable[Array]) -> Array:
    return np.ascontiguousarray(np.stack(list(arrays), axis=-1))


def _lanes(batch: Batch, members: Array, layers: list[Layer], rule: Rule) -> Lanes:
    """Return the lanes of the data sets `members`."""
    n, T = layers[0].base.shape
    count, width = len(members), layers[0].Z.shape[1]
    hidden, outer = np.empty((n, 0, T, count)), np.empty((0, count))
    if isinstance(rule.head, ReluHead):
        # one product per data set, so that its bits do not depend on the batch
        units = [np.matmul(batch.X[b], np.asarray(rule.head.hidden).T) for b in members]
        hidden = np.ascontiguousarray(np.stack(units).transpose(1, 3, 2, 0))
        outer = np.repeat(np.asarray(rule.head.outer)[:, None], count, axis=1)
    triangular = layers[0].V is not None  # if queries were shortened
    return Lanes(
        X=_side_by_side(layer.X for layer in layers),
        Z=_side_by_side(layer.Z for layer in layers),
        gamma=_side_by_side(layer.gamma for layer in layers),
        base=_side_by_side(layer.base for layer in layers),
        hidden=hidden,
        outer=outer,
        y=np.ones((n, count)) if batch.y is None else _side_by_side(batch.y[members]),
        reach=np.array([min(i + 1, width) if triangular else width for i in range(n)]),
        loss=rule.number,
        linear=rule.linear,
        step=np.ascontiguousarray(rule.step[members]),
        steps=rule.steps,
        normalised=rule.normalised,
        kept=rule.kept,
        goals=rule.goals,
    )


Begun = tuple[Array, Array, float]
"""The variables S of a data set, `fixed` and `constant`; see `ensembles.descend`."""


def _each_lane(
    batch: Batch,
    start: Array | None,
    rule: Rule,
    kind: int,
    begun: Callable[[int, Layer], Begun],
    ended: Callable[[int, Layer, Array], tuple[Array, ...]],
) -> list[Array]:
    """Return the results of `ended` on the iterates of every data set, and the steps, stacked.

    `start` (B, d, e) gives the constant part of the logits.
    """

    def layer(b: int) -> Layer:
        return Layer.of(batch, b, None if start is None else start[b], rule.linear)

    groups = _groups(len(batch.X), layer(0).X.size, rule.threads)

    def one(g: int) -> list[tuple[Array, ...]]:
        members = [(int(b), layer(int(b))) for b in groups[g]]
        lanes = _lanes(batch, groups[g], [s for _, s in members], rule)
        S, fixed, constant = zip(*(begun(b, s) for b, s in members), strict=True)
        state, chosen = _side_by_side(S), rule.steps_taken(len(members))
        out = np.full((rule.rows, *state.shape), np.nan)
        ensembles.descend(lanes, kind, state, _side_by_side(fixed), np.array(constant), chosen, out)
        return [
            (*ended(b, s, np.ascontiguousarray(out[..., a])), chosen[:, a])
            for a, (b, s) in enumerate(members)
        ]

    rows = [row for group in each(one, len(groups), rule.threads) for row in group]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def descend(batch: Batch, start: Array, rule: Rule) -> tuple[Array, Array]:
    """Return iterates (B, rows, d, e) of descent on W, and their steps (B, rows).

    The start (B, d, e) gives the constant part of the logits; the loops follow only the change.
    """

    def begun(b: int, s: Layer) -> Begun:
        return np.zeros(s.size), s.short(start[b]), float((start[b] ** 2).sum())

    def ended(b: int, s: Layer, out: Array) -> tuple[Array, ...]:
        return (s.long(out, start[b]),)

    W, chosen = _each_lane(batch, start, rule, ensembles.WEIGHTS, begun, ended)
    return W, chosen


def descend_factors(batch: Batch, K0: Array, Q0: Array, rule: Rule) -> tuple[Array, Array, Array]:
    """Return iterates K, Q (B, rows, d, r) of descent on the factors, and the steps (B, rows)."""

    def begun(b: int, s: Layer) -> Begun:
        (K, still_K), (Q, still_Q) = split(K0[b], s.U), split(Q0[b], s.V)
        fixed = np.concatenate([still_K.T @ still_K, still_Q.T @ still_Q])
        return np.concatenate([K, Q]), fixed, 0.0

    def ended(b: int, s: Layer, out: Array) -> tuple[Array, ...]:
        p = s.size[1]
        return restored(out[:, :p], K0[b], s.U), restored(out[:, p:], Q0[b], s.V)

    K, Q, chosen = _each_lane(batch, None, rule, ensembles.FACTORS, begun, ended)
    return K, Q, chosen


def descend_jointly(batch: Batch, v0: Array, start: Array, rule: Rule) -> tuple[Array, Array]:
    """Return iterates v (B, rows, d) and W (B, rows, d, e) of descent on both at once."""

    def begun(b: int, s: Layer) -> Begun:
        v = split(v0[b][:, None], s.U)[0].T
        return np.concatenate([np.zeros(s.size), v]), np.empty((0, 0)), 0.0

    def ended(b: int, s: Layer, out: Array) -> tuple[Array, ...]:
        q, head = s.size[0], v0[b][:, None]
        return restored(out[:, q, :, None], head, s.U)[..., 0], s.long(out[:, :q], start[b])

    v, W, _ = _each_lane(batch, start, rule, ensembles.JOINT, begun, ended)
    return v, W

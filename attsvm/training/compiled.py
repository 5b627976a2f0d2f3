"""Descent in compiled loops: data sets become lanes, a few dozen side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from attsvm._types import Array
from attsvm.heads import ReluHead
from attsvm.kernels import ensembles, joint
from attsvm.kernels.lanes import Lanes
from attsvm.training.batch import Batch, each
from attsvm.training.layer import Layer
from attsvm.training.rule import Rule

_CACHE = 1 << 19
"""Bytes of tokens that should stay near the processor."""


def _groups(total: int, tokens: int, threads: int) -> list[Array]:
    """Data sets split into lanes that fit the cache, as many groups as threads at least."""
    width = int(np.clip(_CACHE // (8 * tokens), 16, 128))
    count = -(-total // width)
    count = -(-count // threads) * threads
    even = -(-total // (4 * count)) * 4  # whole vectors of 4 numbers
    return [np.arange(start, min(start + even, total)) for start in range(0, total, even)]


def _side_by_side(arrays: Iterable[Array]) -> Array:
    return np.ascontiguousarray(np.stack(list(arrays), axis=-1))


def _lanes(batch: Batch, members: Array, layers: list[Layer], rule: Rule) -> Lanes:
    """The lanes of the data sets `members`."""
    n, T = layers[0].base.shape
    count, width = len(members), layers[0].Z.shape[1]
    hidden, outer = np.empty((n, 0, T, count)), np.empty((0, count))
    if isinstance(rule.head, ReluHead):
        # one product a data set, so that none depends on the others
        units = [np.matmul(batch.X[b], rule.head.hidden.T) for b in members]
        hidden = np.ascontiguousarray(np.stack(units).transpose(1, 3, 2, 0))
        outer = np.repeat(rule.head.outer[:, None], count, axis=1)
    triangular = layers[0].V is not None  # where queries were shortened
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


Member = tuple[int, Layer]
"""A data set of the batch by its number, and its layer."""


def _each_group(
    batch: Batch,
    start: Array | None,
    rule: Rule,
    run: Callable[[list[Member], Lanes], list[tuple[Array, ...]]],
) -> list[Array]:
    """What `run` returns for every data set, stacked; `start` (B, d, e) gives the fixed logits."""

    def layer(b: int) -> Layer:
        X, Z, base = batch.X[b], batch.Z[b], np.zeros(batch.gamma.shape[1:])
        if start is not None:
            base = np.matmul(X, np.matmul(start[b], Z[..., None]))[..., 0]
        mask = None if batch.mask is None else batch.mask[b]
        return Layer.of(X, Z, batch.gamma[b], mask, base, linear=rule.linear)

    groups = _groups(len(batch.X), layer(0).X.size, rule.threads)

    def one(g: int) -> list[tuple[Array, ...]]:
        layers = [layer(int(b)) for b in groups[g]]
        members = [(int(b), s) for b, s in zip(groups[g], layers, strict=True)]
        return run(members, _lanes(batch, groups[g], layers, rule))

    rows = [row for group in each(one, len(groups), rule.threads) for row in group]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def descend(batch: Batch, start: Array, rule: Rule) -> tuple[Array, Array]:
    """Iterates (B, rows, d, e) of descent on W, and the steps (B, rows) at which they were taken.

    The start (B, d, e) gives the logits that do not move; what is added to it is followed.
    """

    def run(members: list[Member], lanes: Lanes) -> list[tuple[Array, ...]]:
        (q, p), L = members[0][1].size, len(members)
        W, out = np.zeros((q, p, L)), np.full((rule.rows, q, p, L), np.nan)
        taken = rule.steps_taken(L)
        begun = _side_by_side(s.short(start[b]) for b, s in members)
        constant = np.array([(start[b] ** 2).sum() for b, _ in members])
        ensembles.descend(lanes, W, begun, constant, taken, out)
        return [
            (s.long(np.ascontiguousarray(out[..., a]), start[b]), taken[:, a])
            for a, (b, s) in enumerate(members)
        ]

    W, taken = _each_group(batch, start, rule, run)
    return W, taken


def descend_factors(batch: Batch, K0: Array, Q0: Array, rule: Rule) -> tuple[Array, Array, Array]:
    """Iterates K, Q (B, rows, d, r) of descent on the factors, and the steps (B, rows)."""

    def run(members: list[Member], lanes: Lanes) -> list[tuple[Array, ...]]:
        sides_K = [_shortened(K0[b], s.U) for b, s in members]
        sides_Q = [_shortened(Q0[b], s.V) for b, s in members]
        K, Q, p = _side_by_side(sides_K), _side_by_side(sides_Q), len(sides_K[0])
        rest_K, rest_Q = (
            _side_by_side(_left_out(start[b], k) for (b, _), k in zip(members, sides, strict=True))
            for start, sides in ((K0, sides_K), (Q0, sides_Q))
        )
        out = np.full((rule.rows, p + len(Q), K0.shape[2], len(members)), np.nan)
        taken = rule.steps_taken(len(members))
        ensembles.descend_factors(lanes, K, Q, rest_K, rest_Q, taken, out)
        return [
            (
                _restored(np.ascontiguousarray(out[:, :p, :, a]), K0[b], s.U),
                _restored(np.ascontiguousarray(out[:, p:, :, a]), Q0[b], s.V),
                taken[:, a],
            )
            for a, (b, s) in enumerate(members)
        ]

    K, Q, taken = _each_group(batch, None, rule, run)
    return K, Q, taken


def _shortened(side: Array, basis: Array | None) -> Array:
    return np.array(side) if basis is None else np.matmul(basis.T, side)


def _left_out(side: Array, short: Array) -> Array:
    """What the Gram matrix (r, r) of a factor lacks in its coordinates."""
    rest: Array = side.T @ side - short.T @ short
    return rest


def _restored(short: Array, start: Array, basis: Array | None) -> Array:
    """Factors (k, d, r) from their coordinates: what is orthogonal to all stays as it was."""
    if basis is None:
        return short
    result: Array = start + basis @ (short - _shortened(start, basis))
    return result


def descend_jointly(batch: Batch, v0: Array, start: Array, rule: Rule) -> tuple[Array, Array]:
    """Iterates v (B, rows, d) and W (B, rows, d, e) of descent on both at once."""

    def run(members: list[Member], lanes: Lanes) -> list[tuple[Array, ...]]:
        (q, p), L = members[0][1].size, len(members)
        v = _side_by_side(_shortened(v0[b][:, None], s.U)[:, 0] for b, s in members)
        W, out = np.zeros((q, p, L)), np.empty((rule.rows, q, p, L))
        out_v = np.empty((rule.rows, p, L))
        joint.descend_jointly(lanes, v, W, out_v, out)
        return [
            (
                _restored(np.ascontiguousarray(out_v[:, :, a, None]), v0[b][:, None], s.U)[..., 0],
                s.long(np.ascontiguousarray(out[..., a]), start[b]),
            )
            for a, (b, s) in enumerate(members)
        ]

    v, W = _each_group(batch, start, rule, run)
    return v, W

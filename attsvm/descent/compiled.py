"""Descent in compiled loops: data sets become lanes, a few dozen side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.descent.batch import Batch, each
from attsvm.descent.layer import Layer
from attsvm.descent.rule import Rule
from attsvm.heads import ReluHead
from attsvm.kernels import ensembles, joint

__all__ = ["descend", "descend_factors", "descend_jointly"]

_CACHE = 1 << 19
"""Bytes of tokens that should stay near the processor."""


def _groups(batch: Batch, layer: Callable[[int], Layer], threads: int) -> list[Array]:
    """Data sets split into lanes that fit the cache, as many groups as threads at least."""
    n, p, T = layer(0).X.shape
    total = len(batch.X)
    width = int(np.clip(_CACHE // (8 * n * p * T), 16, 128))
    count = -(-total // width)
    count = -(-count // threads) * threads
    even = -(-total // (4 * count)) * 4  # whole vectors of 4 numbers
    return [np.arange(start, min(start + even, total)) for start in range(0, total, even)]


def _lanes(arrays: Sequence[Array]) -> Array:
    return np.ascontiguousarray(np.stack(arrays, axis=-1))


@dataclass(frozen=True, slots=True)
class _Group:
    """Lanes of some data sets: the arrays that all loops take, see `attsvm.kernels.ensembles`."""

    layers: list[Layer]
    X: Array
    Z: Array
    gamma: Array
    base: Array
    hidden: Array
    outer: Array
    y: Array
    reach: Array
    step: Array

    @classmethod
    def of(cls, batch: Batch, members: Array, layers: list[Layer], rule: Rule) -> _Group:
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
        return cls(
            layers=layers,
            X=_lanes([layer.X for layer in layers]),
            Z=_lanes([layer.Z for layer in layers]),
            gamma=_lanes([layer.gamma for layer in layers]),
            base=_lanes([layer.base for layer in layers]),
            hidden=hidden,
            outer=outer,
            y=np.ones((n, count)) if batch.y is None else _lanes(list(batch.y[members])),
            reach=np.array([min(i + 1, width) if triangular else width for i in range(n)]),
            step=np.ascontiguousarray(rule.step[members]),
        )


def _each_group(
    batch: Batch,
    layer: Callable[[int], Layer],
    rule: Rule,
    run: Callable[[_Group, Array], list[tuple[Array, ...]]],
) -> list[list[Array]]:
    """What `run` returns for every data set, gathered over the groups."""
    groups = _groups(batch, layer, rule.threads)

    def one(g: int) -> list[tuple[Array, ...]]:
        members = groups[g]
        return run(_Group.of(batch, members, [layer(int(b)) for b in members], rule), members)

    rows = [row for group in each(one, len(groups), rule.threads) for row in group]
    return [list(column) for column in zip(*rows, strict=True)]


def descend(batch: Batch, start: Array, rule: Rule) -> tuple[Array, Array]:
    """Iterates (B, rows, d, e) of descent on W, and the steps (B, rows) at which they were taken.

    The start (B, d, e) gives the logits that do not move; what is added to it is followed.
    """
    masks, rows = batch.mask, rule.rows

    def layer(b: int) -> Layer:
        X, Z = batch.X[b], batch.Z[b]
        base = np.matmul(X, np.matmul(start[b], Z[..., None]))[..., 0]
        mask = None if masks is None else masks[b]
        return Layer.of(X, Z, batch.gamma[b], mask, base, linear=rule.linear)

    def run(group: _Group, members: Array) -> list[tuple[Array, ...]]:
        q, p = group.layers[0].size
        L = len(members)
        W, out = np.zeros((q, p, L)), np.full((rows, q, p, L), np.nan)
        taken = rule.steps_taken(L)
        begun = _lanes([s.short(start[b]) for s, b in zip(group.layers, members, strict=True)])
        constant = (start[members] ** 2).sum(axis=(1, 2))
        ensembles.descend(
            group.X, group.Z, group.gamma, group.base, group.hidden, group.outer, group.y,
            group.reach, W, begun, constant, rule.number, rule.linear, group.step, rule.steps,
            rule.normalised, rule.kept, rule.goals, taken, out,
        )  # fmt: skip
        return [
            (s.long(np.ascontiguousarray(out[..., a]), start[b]), taken[:, a])
            for a, (s, b) in enumerate(zip(group.layers, members, strict=True))
        ]

    W, taken = _each_group(batch, layer, rule, run)
    return np.stack(W), np.stack(taken)


def descend_factors(batch: Batch, K0: Array, Q0: Array, rule: Rule) -> tuple[Array, Array, Array]:
    """Iterates K, Q (B, rows, d, r) of descent on the factors, and the steps (B, rows)."""
    masks, rows, rank = batch.mask, rule.rows, K0.shape[2]
    none = np.zeros(batch.gamma.shape[1:])

    def layer(b: int) -> Layer:
        mask = None if masks is None else masks[b]
        return Layer.of(batch.X[b], batch.Z[b], batch.gamma[b], mask, none, linear=rule.linear)

    def run(group: _Group, members: Array) -> list[tuple[Array, ...]]:
        L = len(members)
        sides = [
            (_shortened(K0[b], s.U), _shortened(Q0[b], s.V))
            for s, b in zip(group.layers, members, strict=True)
        ]
        K, Q = _lanes([k for k, _ in sides]), _lanes([q for _, q in sides])
        p = len(K)
        rest_K = _lanes([_left_out(K0[b], k) for (k, _), b in zip(sides, members, strict=True)])
        rest_Q = _lanes([_left_out(Q0[b], q) for (_, q), b in zip(sides, members, strict=True)])
        out, taken = np.full((rows, p + len(Q), rank, L), np.nan), rule.steps_taken(L)
        ensembles.descend_factors(
            group.X, group.Z, group.gamma, group.base, group.hidden, group.outer, group.y,
            group.reach, K, Q, rest_K, rest_Q, rule.number, rule.linear, group.step, rule.steps,
            rule.normalised, rule.kept, rule.goals, taken, out,
        )  # fmt: skip
        return [
            (
                _restored(np.ascontiguousarray(out[:, :p, :, a]), K0[b], s.U),
                _restored(np.ascontiguousarray(out[:, p:, :, a]), Q0[b], s.V),
                taken[:, a],
            )
            for a, (s, b) in enumerate(zip(group.layers, members, strict=True))
        ]

    K, Q, taken = _each_group(batch, layer, rule, run)
    return np.stack(K), np.stack(Q), np.stack(taken)


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
    masks, rows = batch.mask, rule.rows

    def layer(b: int) -> Layer:
        X, Z = batch.X[b], batch.Z[b]
        base = np.matmul(X, np.matmul(start[b], Z[..., None]))[..., 0]
        return Layer.of(X, Z, batch.gamma[b], None if masks is None else masks[b], base)

    def run(group: _Group, members: Array) -> list[tuple[Array, ...]]:
        q, p = group.layers[0].size
        L = len(members)
        v = _lanes(
            [
                _shortened(v0[b][:, None], s.U)[:, 0]
                for s, b in zip(group.layers, members, strict=True)
            ]
        )
        W, out = np.zeros((q, p, L)), np.empty((rows, q, p, L))
        out_v = np.empty((rows, p, L))
        joint.descend_jointly(
            group.X, group.Z, group.base, group.y, v, W, rule.number, group.step, rule.steps,
            rule.normalised, rule.kept, out_v, out,
        )  # fmt: skip
        return [
            (
                _restored(np.ascontiguousarray(out_v[:, :, a, None]), v0[b][:, None], s.U)[..., 0],
                s.long(np.ascontiguousarray(out[..., a]), start[b]),
            )
            for a, (s, b) in enumerate(zip(group.layers, members, strict=True))
        ]

    v, W = _each_group(batch, layer, rule, run)
    return np.stack(v), np.stack(W)

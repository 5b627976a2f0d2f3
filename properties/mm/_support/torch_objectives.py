"""Differentiable guides of this source's claims, see `properties._support.torch_objectives`."""

from __future__ import annotations

from typing import Any

from properties._support.torch_objectives import (
    Tensor,
    at_most,
    distance,
    elsewhere,
    margin,
    norm,
    solution,
)


def parted(case: Any, other: str = "correlation", towards: str = "selected") -> Tensor:
    """How far two losses are from one direction: one of them selects the optimal tokens alone."""
    target = "optimal" if towards == "selected" else towards
    ways = [elsewhere(case, loss, target) for loss in (case.loss, other)]
    both = ways[0].minimum(ways[1]).clamp(min=0.0)
    return ways[0].maximum(ways[1]) - (both if towards == "selected" else 0.0)


def labelled_rows(case: Any) -> tuple[Tensor, Tensor]:
    """The rows y_i x_i,alpha (batch, n, d) of the v-SVM; all of them count."""
    n = case.X.shape[1]
    y = case.X.new_tensor(case.y)
    rows = case.X[:, range(n), case.alpha] * y[None, :, None]
    return rows, rows[..., 0] == rows[..., 0]


def _differences(case: Any) -> tuple[Tensor, Tensor]:
    """The rows k_i,alpha - k_it (batch, n T, d) of the p-SVM, and which of them count."""
    keys = case.X @ case.W.mT[:, None]
    n, T = keys.shape[1:3]
    kept = keys[:, range(n), case.alpha][:, :, None, :]
    counted = (keys[0, ..., 0] == keys[0, ..., 0]).clone()
    counted[range(n), case.alpha] = False
    rows = (kept - keys).flatten(1, 2)
    return rows, counted.flatten()[None].expand(len(rows), n * T)


def _exists(A: Tensor, counted: Tensor, share: float, above: bool) -> Tensor:
    """The distance of the hull from 0 less a share of the shortest row, negated where above."""
    shortest = norm(A).where(counted, norm(A).amax(-1, keepdim=True)).amin(-1)
    value = distance(A, counted) - share * shortest
    return -value if above else value


def v_exists(case: Any, share: float = 0.0, above: bool = True) -> Tensor:
    """v-SVM, literal."""
    return _exists(*labelled_rows(case), share, above)


def best_head(case: Any, share: float = 1.0, order: float = 2.0) -> Tensor:
    """v-SVM, sharp-1: the least margin of a head over a share of Gamma ||h||."""
    A, counted = labelled_rows(case.chosen)
    length = norm(case.q) if order == 2.0 else case.q.abs().amax(-1)
    return at_most(margin(A, counted, case.q), share * distance(A, counted) * length)


def p_exists(case: Any, share: float = 0.0, above: bool = True) -> Tensor:
    """p-SVM, literal."""
    return _exists(*_differences(getattr(case, "chosen", case)), share, above)


def projection(case: Any, share: float = 1.0) -> Tensor:
    """p-SVM, sharp-1: share ||q - p||^2 over ||q||^2 - ||p||^2."""
    p = solution(*_differences(case.chosen))
    return at_most(share * norm(case.q - p) ** 2, norm(case.q) ** 2 - norm(p) ** 2)


def lead(case: Any, share: float = 1.0) -> Tensor:
    """p-SVM, amended-2: share times the least lead in score over ||q|| / ||p||."""
    A, counted = _differences(case.chosen)
    n, T = case.chosen.X.shape[1:3]
    y = A.new_tensor(case.chosen.y)[:, None].expand(n, T).flatten()
    leads = margin(A * y[None, :, None], counted, case.q)
    return at_most(share * leads, distance(A, counted) * norm(case.q))

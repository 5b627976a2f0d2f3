"""Descent for any head, loss and array library: the same formulas on numpy arrays or tensors.

The compiled loops know the losses of this package, linear heads and ReLU heads. What they do not
know runs here, in numpy one data set at a time; and what is asked to run on a device runs here as
tensors, the whole batch at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attsvm.errors import DataError
from attsvm.heads import Head, ReluHead
from attsvm.losses import LOSSES, Loss
from attsvm.training.rule import Rule

State = tuple[Any, ...]
"""(W,), (K, Q) or (v, W), each with a leading batch axis."""


@dataclass(frozen=True, slots=True)
class Model:
    """What the risk is made of, with arrays of one library `xp` (numpy or torch).

    Attributes:
        xp: the library.
        X: tokens (B, n, T, d); zero where absent.
        Z: queries (B, n, e).
        gamma: scores (B, n, T), unless a head makes them.
        y: labels (B, n), where there is a head or v is trained.
        mask: tokens that are present, or None.
        loss: the loss.
        head: a nonlinear head, or None.
        linear: linear instead of softmax attention.
    """

    xp: Any
    X: Any
    Z: Any
    gamma: Any
    y: Any
    mask: Any
    loss: Loss
    head: Head | ReluHead | None
    linear: bool

    def masked(self) -> Model:
        """The same with absent tokens zero for linear attention, which knows no mask."""
        if not self.linear or self.mask is None:
            return self
        present = self.xp.where(self.mask, 1.0 + 0.0 * self.gamma, 0.0 * self.gamma)
        return replace(self, X=self.X * present[..., None], gamma=self.gamma * present, mask=None)


def slopes(xp: Any, loss: Loss, u: Any) -> tuple[Any, Any]:
    """Signs of l'(u) and logarithms of |l'(u)|, of any library for the losses of this package."""
    zero = 0.0 * u
    if xp is np or LOSSES.get(loss.name) is not loss:
        sign = zero + loss.direction if loss.direction else xp.sign(loss.slope(u))
        return sign, loss.log_slope(u)
    if loss.name == "log-loss":
        return zero - 1.0, -xp.logaddexp(zero, u)
    if loss.name == "exponential":
        return zero - 1.0, -u
    if loss.name == "correlation":
        return zero - 1.0, zero
    if loss.name == "squared":
        return xp.sign(u - 1.0), xp.log(2.0 * xp.abs(1.0 - u))
    tails = -xp.logaddexp(zero, u) - xp.logaddexp(zero, -u)
    return zero + (1.0 if loss.name == "logistic" else -1.0), tails


def _attention(model: Model, W: Any) -> tuple[Any, Any]:
    """Attention (B, n, T) and its logarithm; of linear attention the logits twice."""
    xp = model.xp
    logits = xp.einsum("bntd,bnd->bnt", model.X, xp.einsum("bde,bne->bnd", W, model.Z))
    if model.linear:
        return logits, logits
    if model.mask is not None:
        logits = xp.where(model.mask, logits, -xp.inf)
    shifted = logits - xp.amax(logits, -1)[..., None]
    s = xp.exp(shifted)
    total = s.sum(-1)[..., None]
    return s / total, shifted - xp.log(total)


def _ensure_finite(xp: Any, name: str, given: Any, shape: tuple[int, ...]) -> None:
    """Refuse what a head of one's own returns where it is no array of that shape, or not finite."""
    if tuple(xp.shape(given) if xp is np else given.shape) != tuple(shape):
        raise DataError(
            f"{name} returns an array of the wrong shape",
            value=tuple(np.shape(given)),
            remedy=f"For outputs {tuple(shape)} it must return that shape.",
        )
    if not bool(xp.isfinite(given).all()):
        raise DataError(
            f"{name} returns something that is not finite",
            value=given.reshape(-1).tolist()[:4],
            remedy="Give a head that is finite at every attention output, and smaller steps.",
        )


def _scores(model: Model, s: Any, v: Any = None) -> tuple[Any, Any]:
    """What the loss sees (B, n), and the scores of the head's gradient (B, n, T)."""
    xp = model.xp
    if v is not None:
        gamma = model.y[..., None] * xp.einsum("bntd,bd->bnt", model.X, v)
    elif model.head is None:
        gamma = model.gamma
    else:
        output = xp.einsum("bnt,bntd->bnd", s, model.X)
        value, slope = model.head.value(output), model.head.slope(output)
        _ensure_finite(xp, f"the head {model.head.name}", value, output.shape[:-1])
        _ensure_finite(xp, f"the slope of the head {model.head.name}", slope, output.shape)
        gamma = model.y[..., None] * xp.einsum("bntd,bnd->bnt", model.X, slope)
        return model.y * value, gamma
    return (s * gamma).sum(-1), gamma


def _largest(xp: Any, terms: Any) -> tuple[Any, Any]:
    """The largest of (B, ...), minus infinity kept, and the same with 0 in place of infinities."""
    top = terms.reshape(len(terms), -1)
    top = xp.amax(top, -1)
    return top, xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def _bracket(xp: Any, log_s: Any, gamma: Any) -> tuple[Any, Any]:
    """Signs and logarithms of gamma_t - <s, gamma>, as sums of s_u (gamma_t - gamma_u)."""
    difference = gamma[..., :, None] - gamma[..., None, :]
    inner = log_s[..., None, :] + xp.log(xp.abs(difference))
    top = xp.amax(inner, -1)
    top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    total = (xp.sign(difference) * xp.exp(inner - top[..., None])).sum(-1)
    return xp.sign(total), xp.log(xp.abs(total)) + top


def pull(model: Model, W: Any, v: Any = None) -> tuple[Any, Any]:
    """-grad L(W) = exp(log_scale) M as M (B, d, e) and log_scale (B,), at any norm of W.

    Where v (B, d) is given it is the head.
    """
    xp = model.xp
    n = model.X.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        s, log_s = _attention(model, W)
        u, gamma = _scores(model, s, v)
        sign, height = slopes(xp, model.loss, u)
        if (xp.isnan(height) & xp.isfinite(u)).any():
            raise DataError(
                f"the loss {model.loss.name} has a slope that is not a number",
                value=u.reshape(-1).tolist()[:4],
                remedy="Give a loss that is differentiable at the scores.",
            )
        if model.linear:
            scale, shift = _largest(xp, height)
            factor = -sign * xp.exp(height - shift[:, None]) / n
            weights = factor[..., None] * gamma
            moved = model.X
        else:
            take = np.take_along_axis if xp is np else xp.take_along_dim
            moved = model.X - take(model.X, log_s.argmax(-1)[..., None, None], 2)
            direction, size = _bracket(xp, log_s, gamma)
            size = size + log_s + height[..., None] - np.log(n)
            reach = xp.sqrt((moved**2).sum(-1) * (model.Z**2).sum(-1)[..., None])
            effect = size + xp.log(reach)
            scale, shift = _largest(xp, effect)
            still = ~xp.isfinite(effect)
            capped = xp.exp(xp.clip(size - shift[:, None, None], None, 700.0))
            weights = xp.where(still, xp.zeros_like(size), -sign[..., None] * direction * capped)
    matrix = xp.einsum("bnd,bne->bde", xp.einsum("bnt,bntd->bnd", weights, moved), model.Z)
    return matrix, scale


def joint_pull(model: Model, v: Any, W: Any) -> tuple[Any, Any, Any]:
    """-grad L(v, W) = exp(log_scale) (m, M) as m (B, d), M (B, d, e) and log_scale (B,)."""
    xp = model.xp
    s, _ = _attention(model, W)
    u, _ = _scores(model, s, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        sign, height = slopes(xp, model.loss, u)
    top, shift = _largest(xp, height)
    factor = -sign * xp.exp(height - shift[:, None]) * model.y / model.X.shape[1]
    in_v = xp.einsum("bn,bnd->bd", factor, xp.einsum("bnt,bntd->bnd", s, model.X))
    in_w, log_w = pull(model, W, v)
    both = xp.maximum(top, log_w)
    level = xp.where(xp.isfinite(both), both, xp.zeros_like(both))
    return (
        in_v * xp.exp(top - level)[:, None],
        in_w * xp.exp(log_w - level)[:, None, None],
        both,
    )


def _uphill(model: Model, kind: str, state: State) -> tuple[State, Any]:
    """Minus the gradients in every part of the state, their largest exponent taken out."""
    if kind == "joint":
        in_v, in_w, scale = joint_pull(model, *state)
        return (in_v, in_w), scale
    if kind == "W":
        in_w, scale = pull(model, *state)
        return (in_w,), scale
    K, Q = state
    xp = model.xp
    in_w, scale = pull(model, xp.einsum("bdr,ber->bde", K, Q))
    return (xp.einsum("bde,ber->bdr", in_w, Q), xp.einsum("bde,bdr->ber", in_w, K)), scale


def _wide(factor: Any, part: Any) -> Any:
    """Factors (B,) shaped to multiply a part of the state."""
    return factor.reshape(-1, *(1,) * (part.ndim - 1))


def descend(model: Model, kind: str, state: State, rule: Rule, step: Any) -> tuple[State, Any]:
    """Kept states, each part as (rows, B, ...), and the steps (rows, B) at which they were taken.

    `kind` is W, KQ or joint; `step` holds the step sizes (B,).
    """
    with np.errstate(over="ignore", invalid="ignore"):  # who called looks at what came out
        return _descend(model, kind, state, rule, step)


def _descend(model: Model, kind: str, state: State, rule: Rule, step: Any) -> tuple[State, Any]:
    xp, runs = model.xp, len(step)
    taken = rule.steps_taken(runs)
    rows = [[xp.zeros_like(part) + xp.nan for part in state] for _ in range(rule.rows)]
    passed = np.zeros(runs, dtype=np.int64)
    wanted = set() if len(rule.goals) else set(rule.kept.tolist())
    for k in range(rule.steps + 1):
        if k in wanted:
            rows[int(np.searchsorted(rule.kept, k))] = list(state)
        if len(rule.goals):
            _keep(model, kind, state, rule, k, passed, taken, rows)
            if passed.min() == len(rule.goals):
                break
        if k < rule.steps:
            parts, log_scale = _uphill(model, kind, state)
            square = sum((part.reshape(runs, -1) ** 2).sum(-1) for part in parts)
            still = (square == 0.0) | (log_scale == -xp.inf)
            if rule.normalised:
                scale = step / xp.sqrt(xp.where(still, xp.ones_like(square), square))
            else:
                scale = step * xp.exp(log_scale)
            scale = xp.where(still, xp.zeros_like(scale), scale)
            state = tuple(
                old + _wide(scale, part) * part for old, part in zip(state, parts, strict=True)
            )
    kept = tuple(xp.stack([row[i] for row in rows]) for i in range(len(state)))
    return kept, taken


def _keep(
    model: Model,
    kind: str,
    state: State,
    rule: Rule,
    k: int,
    passed: Any,
    taken: Any,
    rows: list[list[Any]],
) -> None:
    """Keep the runs whose norm of W passes their next goal."""
    xp = model.xp
    W = state[0] if kind == "W" else xp.einsum("bdr,ber->bde", *state)
    norms = ((W.reshape(len(W), -1) ** 2).sum(-1)).tolist()
    for b, square in enumerate(norms):
        while passed[b] < len(rule.goals) and square >= rule.goals[passed[b]] ** 2:
            taken[passed[b], b] = k
            for part, row in zip(state, rows[passed[b]], strict=True):
                row[b] = part[b]
            passed[b] += 1

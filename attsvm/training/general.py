"""Descent for any head, loss and array library: the same formulas on numpy arrays or tensors.

The compiled loops support the losses of this package, linear heads and ReLU heads. Other losses and
heads run here in numpy, one data set at a time. Runs on a device run here as tensors, the whole
batch at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from attsvm._types import Array, Floats, Tensor
from attsvm.errors import DataError
from attsvm.losses import LOSSES, Loss
from attsvm.prediction import Head, ReluHead
from attsvm.risk import log_domain_negative_gradient
from attsvm.training.batch import Batch
from attsvm.training.rule import Rule

State = tuple[Floats, ...]
"""(W,), (K, Q) or (v, W), each with a leading batch axis."""


@dataclass(frozen=True, slots=True)
class Model:
    """The parts of the risk, with arrays of one library `xp` (numpy or torch).

    Attributes:
        xp: the library.
        X: tokens (B, n, T, d); zero if absent.
        Z: queries (B, n, e).
        gamma: scores (B, n, T), unless a head computes them.
        y: labels (B, n), if there is a head or v is trained.
        mask: the mask of present tokens, or None.
        loss: the loss.
        head: a nonlinear head, or None.
        linear: whether attention is linear and not softmax.
    """

    xp: ModuleType
    X: Floats
    Z: Floats
    gamma: Floats
    y: Any
    mask: Floats | None
    loss: Loss
    head: Head | ReluHead | None
    linear: bool

    @classmethod
    def of(
        cls,
        xp: ModuleType,
        batch: Batch,
        rule: Rule,
        head: Head | ReluHead | None,
        sent: Callable[[Array], Floats] = np.asarray,
    ) -> Model:
        """Return the model of a batch, `sent` to `xp`; absent tokens are 0 for linear attention."""
        X, gamma, mask = batch.X, batch.gamma, batch.mask
        if rule.linear and mask is not None:
            X, gamma, mask = X * mask[..., None], gamma * mask, None
        y = None if batch.y is None else sent(batch.y)
        present = None if mask is None else sent(mask)
        arrays = sent(X), sent(batch.Z), sent(gamma)
        return cls(xp, *arrays, y, present, rule.loss, head, rule.linear)


def slopes(xp: ModuleType, loss: Loss, u: Floats) -> tuple[Floats, Floats]:
    """Return signs of l'(u) and logarithms of |l'(u)|.

    Losses of this package are computed by `xp`; other losses get numpy arrays.
    """
    zero = 0.0 * u
    if xp is np or LOSSES.get(loss.name) is not loss:
        array: Any = u  # a loss that a user wrote gets arrays of numpy only
        sign = zero + loss.direction if loss.direction else xp.sign(loss.slope(array))
        return sign, loss.log_slope(array)
    if loss.name == "log-loss":
        return zero - 1.0, -xp.logaddexp(zero, u)
    if loss.name == "exponential":
        return zero - 1.0, -u
    if loss.name == "correlation":
        return zero - 1.0, zero
    if loss.name == "squared":
        return xp.sign(u - 1.0), xp.log(2.0 * xp.abs(1.0 - u))
    if loss.name == "cubic":
        return zero - 1.0, math.log(3.0) + 2.0 * xp.log(xp.abs(u))
    tails = -xp.logaddexp(zero, u) - xp.logaddexp(zero, -u)
    return zero + (1.0 if loss.name == "logistic" else -1.0), tails


def _attention(model: Model, W: Floats) -> tuple[Floats, Floats]:
    """Return the softmax (B, n, T) and its logarithm; the logits twice if attention is linear."""
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


def _ensure_finite(xp: ModuleType, name: str, value: Floats, shape: tuple[int, ...]) -> None:
    """Raise unless a user's head returned a finite array of the right shape."""
    if tuple(xp.shape(value) if xp is np else value.shape) != tuple(shape):
        raise DataError(
            f"{name} returns an array of the wrong shape",
            value=tuple(np.shape(value)),
            remedy=f"For outputs {tuple(shape)} it must return that shape.",
        )
    if not bool(xp.isfinite(value).all()):
        raise DataError(
            f"{name} returns entries that are not finite",
            value=value.reshape(-1).tolist()[:4],
            remedy="Give a head that is finite at every attention output, and smaller steps.",
        )


def _scores(model: Model, s: Floats, v: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the arguments of the loss (B, n), and the scores gamma in its gradient (B, n, T).

    Raises:
        DataError: a head returned a wrong shape or entries that are not finite.
    """
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


def _largest(xp: ModuleType, terms: Floats) -> tuple[Floats, Floats]:
    """Return the largest term of each run (B,), and the same with 0 in place of infinities."""
    top = xp.amax(terms.reshape(len(terms), -1), -1)
    return top, xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def negative_gradient(model: Model, W: Floats, v: Floats | None = None) -> tuple[Floats, Floats]:
    """Return M (B, d, e) and log_scale (B,) with -grad L(W) = exp(log_scale) M, at any norm of W.

    If v (B, d) is given, it is the head.

    Raises:
        DataError: the loss has no slope at some score.
    """
    xp = model.xp
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
        if not model.linear:
            return log_domain_negative_gradient(model.X, model.Z, gamma, log_s, sign, height, xp)
        scale, shift = _largest(xp, height)
        factor = -sign * xp.exp(height - shift[:, None]) / model.X.shape[1]
    weights = factor[..., None] * gamma
    matrix = xp.einsum("bnd,bne->bde", xp.einsum("bnt,bntd->bnd", weights, model.X), model.Z)
    return matrix, scale


def joint_negative_gradient(model: Model, v: Floats, W: Floats) -> tuple[Floats, Floats, Floats]:
    """Return m (B, d), M (B, d, e), log_scale (B,) with -grad L(v, W) = exp(log_scale) (m, M)."""
    xp = model.xp
    s, _ = _attention(model, W)
    u, _ = _scores(model, s, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        sign, height = slopes(xp, model.loss, u)
    top, shift = _largest(xp, height)
    factor = -sign * xp.exp(height - shift[:, None]) * model.y / model.X.shape[1]
    in_v = xp.einsum("bn,bnd->bd", factor, xp.einsum("bnt,bntd->bnd", s, model.X))
    in_w, log_w = negative_gradient(model, W, v)
    both = xp.maximum(top, log_w)
    level = xp.where(xp.isfinite(both), both, xp.zeros_like(both))
    return (
        in_v * xp.exp(top - level)[:, None],
        in_w * xp.exp(log_w - level)[:, None, None],
        both,
    )


def _negative_gradients(model: Model, kind: str, state: State) -> tuple[State, Floats]:
    """Return parts M and log_scale such that minus the gradients are exp(log_scale) M."""
    if kind == "joint":
        in_v, in_w, scale = joint_negative_gradient(model, *state)
        return (in_v, in_w), scale
    if kind == "W":
        in_w, scale = negative_gradient(model, *state)
        return (in_w,), scale
    K, Q = state
    xp = model.xp
    in_w, scale = negative_gradient(model, xp.einsum("bdr,ber->bde", K, Q))
    return (xp.einsum("bde,ber->bdr", in_w, Q), xp.einsum("bde,bdr->ber", in_w, K)), scale


def _wide(factor: Floats, part: Floats) -> Floats:
    """Return factors (B,) reshaped to multiply a part of the state."""
    return factor.reshape(-1, *(1,) * (part.ndim - 1))


@np.errstate(over="ignore", invalid="ignore")  # the caller checks the result
def descend(model: Model, kind: str, state: State, rule: Rule, step: Floats) -> tuple[State, Array]:
    """Run descent; return the recorded states, by part (rows, B, ...), and their steps (rows, B).

    `kind` is W, KQ or joint; `step` has the step sizes (B,).
    """
    xp, runs = model.xp, len(step)
    chosen = rule.steps_taken(runs)
    rows = [[xp.zeros_like(part) + xp.nan for part in state] for _ in range(rule.rows)]
    passed = np.zeros(runs, dtype=np.int64)
    wanted = set() if len(rule.goals) else set(rule.kept.tolist())
    for k in range(rule.steps + 1):
        if k in wanted:
            rows[int(np.searchsorted(rule.kept, k))] = list(state)
        if len(rule.goals):
            _keep(model, kind, state, rule, k, passed, chosen, rows)
            if passed.min() == len(rule.goals):
                break
        if k < rule.steps:
            parts, log_scale = _negative_gradients(model, kind, state)
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
    return kept, chosen


def _keep(
    model: Model,
    kind: str,
    state: State,
    rule: Rule,
    k: int,
    passed: Array,
    passing_steps: Array,
    rows: list[list[Any]],
) -> None:
    """Record the runs whose norm of W has reached their next goals, and their steps."""
    xp = model.xp
    W = state[0] if kind == "W" else xp.einsum("bdr,ber->bde", *state)
    norms = ((W.reshape(len(W), -1) ** 2).sum(-1)).tolist()
    for b, square in enumerate(norms):
        while passed[b] < len(rule.goals) and square >= rule.goals[passed[b]] ** 2:
            passing_steps[passed[b], b] = k
            for part, row in zip(state, rows[passed[b]], strict=True):
                row[b] = part[b]
            passed[b] += 1


def _torch(device: str) -> ModuleType:
    """Return torch.

    Raises:
        DataError: torch is not installed, or the device does not exist or has no float64.
    """
    try:
        import torch
    except ImportError as error:
        raise DataError(
            "devices need torch, which is not installed",
            value=device,
            remedy="Install torch, or leave device out.",
        ) from error
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DataError(
            "there is no such device, or it has no float64",
            value=device,
            remedy="Leave device out to run on the processor.",
        ) from error
    return torch


def on_device(
    batch: Batch, kind: str, state: tuple[Array, ...], how: Rule
) -> tuple[tuple[Array, ...], Array]:
    """Run descent on a device; return recorded states (B, rows, ...) and steps (B, rows).

    Heads of your own get tensors there.

    Raises:
        DataError: there is no such device, or the loss is not implemented for tensors.
    """
    torch = _torch(str(how.device))
    if LOSSES.get(how.loss.name) is not how.loss:
        raise DataError(
            "a loss of your own runs only on the processor",
            value=how.loss.name,
            remedy=f"Leave device out, or use one of {', '.join(LOSSES)}.",
        )

    def sent(array: Array) -> Tensor:
        tensor: Tensor = torch.tensor(array, device=how.device)  # arrays may be read-only
        return tensor

    head = how.head
    if isinstance(head, ReluHead):
        head = replace(
            head, hidden=sent(np.asarray(head.hidden)), outer=sent(np.asarray(head.outer))
        )
    model = Model.of(torch, batch, how, head, sent)
    with torch.no_grad():
        kept, chosen = descend(
            model, kind, tuple(sent(part) for part in state), how, sent(how.step)
        )
    tensors: tuple[Any, ...] = kept
    return tuple(part.transpose(0, 1).cpu().numpy() for part in tensors), chosen.T

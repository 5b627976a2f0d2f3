"""Differentiable objectives in torch for a batch of instances; they guide the search only.

Instances have the form that the gradient searcher makes: records are namespaces, arrays are tensors
with a leading batch axis. The optimal token is held fixed, so that heights are differentiable
almost everywhere. torch is imported by the first call.
"""

import operator
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from attsvm._types import Array, Tensor
from attsvm.errors import DataError
from attsvm.kernels.batch import least_points
from attsvm.svm.programme import LARGEST, SMALLEST
from attsvm.theory.types import Values
from attsvm.training import descend_w
from attsvm.training.batch import Batch

_STEPS = 20
"""Number of steps of an unrolled descent."""

_RUN, _RUN_STEP = 1000, 0.1
"""Number of steps of a run without gradients, and the largest change of a logit in each step."""

_FIRST_STEP = 0.4
"""Largest change of a logit in the first step; the k-th step changes it 1 + k/2 times as much."""


def in_torch(values: object) -> bool:
    """Return whether the values are a tensor of torch."""
    return hasattr(values, "movedim")


def norm(values: Tensor, axes: int = 1) -> Tensor:
    """Return the Euclidean norm over the last axes, with gradient 0 at 0."""
    square = (values * values).flatten(-axes).sum(-1)
    positive = square > 0
    return square.where(positive, 1.0 + 0.0 * square).sqrt() * positive


def scores(data: Values) -> Tensor:
    """Return token scores (batch, n, T)."""
    if data.scores is not None:
        return data.scores
    return data.y[..., None] * (data.X * data.v[:, None, None, :]).sum(-1)


def present(data: Values) -> Tensor:
    """Return which tokens are present, (n, T) or (batch, n, T)."""
    mask = getattr(data, "mask", None)
    there = (data.X[0, ..., 0] == data.X[0, ..., 0]) | True
    if mask is None:
        return there
    return there & (mask if in_torch(mask) else there.new_tensor(mask))


def _best(gamma: Tensor, present: Tensor) -> Tensor:
    """Return the first optimal token of each input, as a one-hot mask (batch, n, T)."""
    top = gamma.detach().masked_fill(~present, -float("inf")).argmax(-1, keepdim=True)
    return (gamma.detach() != gamma.detach()).scatter(-1, top, True)


def constraints(data: Values, chosen: Array | None = None) -> tuple[Tensor, Tensor]:
    """Return the matrices (x_opt - x_t) z^T, flattened (batch, n T, d d), and which of them count.

    Other tokens may be chosen in place of the optimal ones.
    """
    there = present(data)
    best = _best(scores(data), there)
    if chosen is not None:
        best = best & False
        best[:, range(len(chosen)), chosen] = True
    kept = (data.X * best[..., None]).sum(2, keepdim=True)
    A = (kept - data.X)[..., None] * data.Z[:, :, None, None, :]
    return A.flatten(3).flatten(1, 2), (there & ~best).flatten(1)


def nearest(A: Tensor, counted: Tensor, bound: Tensor | None = None) -> Tensor:
    """Return shares s of the point sum_j s_j A_j nearest to 0 with sum_j s_j bound_j = 1.

    They have no gradient. They are multipliers of the least-norm programme <A_j, X> >= bound_j or,
    if it has no solution, a combination that cancels. Bounds are 1 by default. If the solver fails,
    all shares are equal; without constraints they are 0.
    """
    rows, there = A.detach().numpy(), counted.expand(A.shape[:2]).numpy()
    right = there.astype(float) if bound is None else bound.detach().numpy() * there
    result, _ = least_points(rows, there, right, LARGEST, SMALLEST)
    weights = np.maximum(result, 0.0)
    total, demanded = (np.sum(w * right, axis=1, keepdims=True) for w in (weights, there))
    good = np.isfinite(total) & (total > 0.0)
    equal = np.where(demanded > 0.0, there / np.where(demanded > 0.0, demanded, 1.0), 0.0)
    return A.new_tensor(np.where(good, weights / np.where(good, total, 1.0), equal))


def tight_multipliers(A: Tensor, bound: Tensor, active: Tensor) -> Tensor:
    """Return weights w, 0 unless active, with <A_j, sum_k w_k A_k> = bound_j for active rows."""
    import torch

    both = active[:, :, None] & active[:, None, :]
    gram = (A @ A.mT).where(both, torch.eye(A.shape[1], dtype=A.dtype))
    return torch.linalg.solve_ex(gram, bound * active)[0]


def distance(A: Tensor, counted: Tensor, shares: Tensor | None = None) -> Tensor:
    """Return the distance 1/||X^mm|| of 0 from the hull of the rows, for fixed shares.

    It is 1 without rows.
    """
    shares = nearest(A, counted) if shares is None else shares
    result = norm((shares[..., None] * A).sum(1))
    return result.where(counted.any(-1), 1.0 + 0.0 * result)


def solution(A: Tensor, counted: Tensor, shares: Tensor | None = None) -> Tensor:
    """Return the least-norm vector with <A_j, X> >= 1, flattened, for fixed shares."""
    shares = nearest(A, counted) if shares is None else shares
    point = (shares[..., None] * A).sum(1)
    return point / (point * point).sum(-1, keepdim=True).clamp(min=1e-300)


def margin(A: Tensor, counted: Tensor, W: Tensor) -> Tensor:
    """Return the least <A_j, W>; 0 without constraints."""
    margins = (A * W.flatten(1)[:, None, :]).sum(-1)
    least = margins.masked_fill(~counted, float("inf")).amin(-1)
    return least.where(counted.any(-1), 0.0 * W.flatten(1)[:, 0])


_SLOPES: dict[str, Callable[[Tensor], Tensor]] = {
    "logistic": lambda u: u.sigmoid() * (-u).sigmoid(),
    "logistic-loss": lambda u: -u.sigmoid() * (-u).sigmoid(),
    "log-loss": lambda u: -(-u).sigmoid(),
    "exponential": lambda u: -(-u).exp(),
    "correlation": lambda u: 0.0 * u - 1.0,
    "squared": lambda u: -2.0 * (1.0 - u),
    "cubic": lambda u: -3.0 * u * u,
}


def loss_slope(name: str, u: Tensor) -> Tensor:
    """Return l'(u) of a loss of `attsvm.losses`, by its name."""
    return _SLOPES[name](u)


def attended(data: Values, W: Tensor) -> tuple[Tensor, Tensor]:
    """Return attention (batch, n, T) under W, and the attended scores (batch, n)."""
    keys = (W[:, None] @ data.Z[..., None])[..., 0]
    logits = (data.X * keys[:, :, None, :]).sum(-1)
    s = logits.masked_fill(~present(data), -1e300).softmax(-1)
    return s, (s * scores(data)).sum(-1)


def negative_gradient(data: Values, W: Tensor, loss: str) -> Tensor:
    """Return -grad L(W) (batch, d, d)."""
    s, u = attended(data, W)
    c = -loss_slope(loss, u)[..., None] * s * (scores(data) - u[..., None]) / s.shape[1]
    moved = (c[..., None] * data.X).sum(2)
    return (moved[..., None] * data.Z[:, :, None, :]).sum(1)


def _matrix(case: Values) -> tuple[Values, Tensor]:
    """Return data and start; descent on a prompt becomes descent on the first column of W."""
    inputs = case.data if hasattr(case, "data") else case.inputs
    if hasattr(inputs, "Z"):
        return inputs, case.start
    zero = case.start.new_zeros(case.start.shape)  # not 0 * start: an infinite start would give NaN
    unit = zero.scatter(1, (zero[:, :1]).long(), 1.0)
    Z = unit[:, None, :].expand(-1, inputs.X.shape[1], -1)
    data = SimpleNamespace(X=inputs.X, Z=Z, scores=inputs.scores, mask=None)
    return data, case.start[..., None] * unit[:, None, :]


def _descended(data: Values, W: Tensor, loss: str, reach: Tensor) -> tuple[Tensor, float]:
    """Return W after a run of normalised descent, and the largest total change of a logit.

    If a run overflows, its W is NaN.
    """
    X, Z, gamma = (np.ascontiguousarray(a.numpy()) for a in (data.X, data.Z, scores(data)))
    mask = None if data.mask is None else np.broadcast_to(data.mask, gamma.shape)
    batch, start, step = Batch(X, Z, gamma, mask), W.numpy(), _RUN_STEP / reach.numpy()
    return W.new_tensor(_ends(batch, start, loss, step)), _RUN * _RUN_STEP


def _ends(batch: Batch, W: Array, loss: str, step: Array) -> Array:
    """Return W (batch, d, d) at the ends of runs, NaN for runs that overflow.

    One run that overflows stops the whole batch, so the batch is bisected.
    """
    try:
        run = descend_w(batch, W, loss, step=step, steps=_RUN, record=[_RUN], normalised=True)
    except DataError:
        if len(W) == 1:
            return np.full_like(W, np.nan)
        first, second = slice(None, len(W) // 2), slice(len(W) // 2, None)
        return np.concatenate(
            [
                _ends(batch.map(operator.itemgetter(half)), W[half], loss, step[half])
                for half in (first, second)
            ]
        )
    return np.asarray(run.W[:, -1])


def elsewhere(
    case: Values, loss: str | None = None, towards: str = "optimal", chosen: Array | None = None
) -> Tensor:
    """Return how far descent, unrolled for some steps, is from selecting the optimal tokens.

    The value is the logit lead of the best rival, divided by the distance that logits moved. It is
    negated if the claim says that descent goes elsewhere. Without gradients, many longer runs are
    made in parallel. Steps follow the normalised gradient, and so follow gradient flow quickly,
    whatever the step of the instance is.
    """
    data, W = _matrix(case)
    A, counted = constraints(data, chosen)
    reach = norm(A.detach()).amax(-1).clamp(min=1e-12)
    moved = 0.0
    if not W.requires_grad and not data.X.requires_grad:
        W, moved = _descended(data, W, loss or case.loss, reach)
    for k in range(_STEPS if moved == 0.0 else 0):
        step = negative_gradient(data, W, loss or case.loss)
        length = _FIRST_STEP * (1 + k / 2)
        W = W + (length / reach / norm(step, 2).clamp(min=1e-300))[:, None, None] * step
        moved += length
    lead = -margin(A, counted, W) / moved
    return lead if towards == "optimal" else -lead


def not_selecting(case: Values, loss: str | None = None, **_: object) -> Tensor:
    """Return `elsewhere`, for conclusions that hold if descent selects the optimal tokens."""
    return elsewhere(case, loss)


def descent_at_rest(case: Values, loss: str | None = None) -> Tensor:
    """Return minus the norm of the gradient at the start; at 0 the run never moves."""
    data, W = _matrix(case)
    return -norm(negative_gradient(data, W, loss or case.loss), 2)

"""Attention, losses and risks written in torch and differentiated by autograd, for comparison."""

import numpy as np

from tests.late import Late

torch = Late("torch")

LOSSES = {
    "logistic": lambda u: torch.sigmoid(u),
    "logistic-loss": lambda u: torch.sigmoid(-u),
    "log-loss": lambda u: torch.logaddexp(torch.zeros_like(u), -u),
    "exponential": lambda u: torch.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
    "cubic": lambda u: -(u**3),
}


def _logits(kind, X, Z, leaves):
    if kind == "logits":
        return leaves[0]
    if kind in ("p", "vp"):
        return torch.einsum("ntd,d->nt", X, leaves[-1])
    W = leaves[0] if kind == "W" else leaves[0] @ leaves[1].T
    return torch.einsum("ntd,de,ne->nt", X, W, Z)


def gradients(data, name, kind, *leaves, head=None, attention="softmax"):
    """Gradients of the risk in `leaves`: W, (K, Q), p, (v, p) or the logits, as `kind` says.

    `head`, if given, maps the tensor of outputs to scores.
    """
    leaves = [torch.tensor(a, requires_grad=True) for a in leaves]
    X, Z, gamma, present = (torch.tensor(a) for a in (data.X, data.Z, data.gamma, data.present))
    a = _logits(kind, X, Z, leaves)
    if attention == "softmax":
        s = torch.softmax(torch.where(present, a, -torch.inf), dim=1)
    else:
        s = torch.where(present, a, 0.0)
    if kind != "vp" and head is None:
        u = (s * gamma).sum(dim=1)
    else:
        output = torch.einsum("nt,ntd->nd", s, X)
        u = torch.tensor(data.y) * (output @ leaves[0] if kind == "vp" else head(output))
    value = LOSSES[name](u).mean()
    if not value.requires_grad:
        return [np.zeros(a.shape) for a in leaves]
    return [g.numpy() for g in torch.autograd.grad(value, leaves)]


def descend(data, name, kind, leaves, step, steps, **options):
    """All iterates of gradient descent, leaf by leaf."""
    rows = [list(leaves)]
    for _ in range(steps):
        slopes = gradients(data, name, kind, *rows[-1], **options)
        rows.append([a - step * g for a, g in zip(rows[-1], slopes, strict=True)])
    return [np.stack(column) for column in zip(*rows, strict=True)]

"""Pictures of instances in the plane: the tokens and, for runs of descent, the path of W z."""

import numpy as np

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.report.picture import Painter, Panel, Picture, Points
from attsvm.theory.types import Values
from attsvm.tokens import optimal_tokens
from attsvm.training import descend_w

_INPUTS, _TOKENS, _STEPS = 4, 12, 20_000
_AS_IT_IS = {"Descent", "Local"}
"""Records whose run is descent on W with the logits x_t^T W z_i of their data."""


def plane(claim: Claim, case: Values) -> Picture | None:
    """Return a picture of a data set of dimension at most 2, with the run on it if there is one."""
    data = case if isinstance(case, AttentionData) else getattr(case, "data", None)
    if not isinstance(data, AttentionData) or data.d > 2 or data.X.shape[1] > _TOKENS:
        return None
    best = optimal_tokens(data).ties
    run = _run(claim, case, data)
    panels = []
    shares = []
    for i in range(min(data.n, _INPUTS)):
        there = np.flatnonzero(data.present[i])
        filled = np.isin(there, best[i])
        path: Points = ()
        if run is not None:
            path = _points(run[:, i])
            shares.append(softmax(data.X[i, there] @ run[-1, i])[filled].sum())
        places = frozenset(np.flatnonzero(filled).tolist())
        panels.append(Panel(f"input {i + 1}", _points(data.X[i, there]), places, path))
    left = data.n - len(panels)
    says = "Tokens as circles, those of best score filled" + (f"; {left} more inputs" * (left > 0))
    if run is not None:
        attention = ", ".join(f"{share:.0%}" for share in shares)
        says += (
            f". The line is W(k) z, scaled to fit, over {_STEPS} steps of descent; its end is "
            "marked, and attention goes to the token that lies furthest in its direction. "
            f"Attention to the best tokens at that end: {attention}"
        )
    return Picture(tuple(panels), says + ".")


def _points(rows: Array) -> tuple[tuple[float, float], ...]:
    """Return rows of one or two entries as points of the plane."""
    wide = np.pad(rows, ((0, 0), (0, 2 - rows.shape[1])))
    return tuple((float(x), float(y)) for x, y in wide)


def _run(claim: Claim, case: Values, data: AttentionData) -> Array | None:
    """Return W(k) z_i (steps, n, d) along the run of the claim; None if it is no run on W."""
    loss = getattr(case, "loss", None)
    known = type(case).__name__ in _AS_IT_IS and "side" not in claim.formula.constants
    known = known and case.start.ndim < 3  # else K and Q are trained
    if not known or not isinstance(loss, str) or loss not in LOSSES:
        return None
    bound = risk_smoothness(data, LOSSES[loss])
    if not bound > 0.0:
        return None
    kept = np.unique(np.geomspace(1, _STEPS, 60).astype(int)).tolist()
    run = descend_w(data, case.W, loss, step=case.step / bound, steps=_STEPS, record=kept)
    directions: Array = np.einsum("kab,ib->kia", run.W[0], data.Z)
    return directions


PAINTER = Painter(plane)

"""Many runs of descent side by side: where a search of records looks for one that goes elsewhere.

Runs follow the normalised gradient in compiled loops, whatever step their instance has. After a
fixed number of steps the logits tell which tokens are about to be selected; that decides nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.attention import logits_of_w
from attsvm.losses import LOSSES
from attsvm.training import descend_w
from attsvm.training.batch import Batch

_STEPS, _STEP = 1000, 0.1
"""Steps of a run, and how far each moves the difference of two logits at most."""


def ended(data: Sequence[Any], starts: Sequence[Array], loss: str) -> Array:
    """The logits (B, n, T) after a run on each data set, all of one shape; -inf without a token."""
    X, Z, gamma, present = (
        np.stack([getattr(d, name) for d in data]) for name in ("X", "Z", "gamma", "present")
    )
    tokens = np.where(present[..., None], X, 0.0)
    reach = 2.0 * (np.linalg.norm(tokens, axis=3).max(2) * np.linalg.norm(Z, axis=2)).max(1)
    step = _STEP / np.maximum(reach, 1e-12)
    batch = Batch(X, Z, gamma, None if present.all() else present)
    run = descend_w(
        batch, np.stack(starts), loss, step=step, steps=_STEPS, record=[_STEPS], normalised=True
    )
    ends = (logits_of_w(x, z, W) for x, z, W in zip(X, Z, run.W[:, -1], strict=True))
    return np.where(present, np.stack(list(ends)), -np.inf)


def rival_lead(
    cases: Sequence[Any], loss: str | None = None, towards: str = "optimal", **_: Any
) -> Array:
    """The largest lead of a rival's logit over that of the token that descent is said to select.

    It is divided by how far a run moves logits at most, and 1 is added where some rival leads.
    Descent is said to select the optimal tokens, or those of least score where it goes towards the
    `worst` or the `opposite`. NaN for losses that are not followed.
    """
    height = np.full(len(cases), np.nan)
    alike: dict[Any, list[int]] = defaultdict(list)
    data = [case.data for case in cases]
    for k, case in enumerate(cases):
        alike[loss or case.loss, data[k].X.shape].append(k)
    for (name, _), some in alike.items():
        if name not in LOSSES:
            continue
        logits = ended([data[k] for k in some], [cases[k].W for k in some], name)
        sign = -1.0 if towards in ("worst", "opposite") else 1.0
        present, gamma = logits > -np.inf, np.stack([data[k].gamma for k in some])
        best = np.where(present, sign * gamma, -np.inf).argmax(2)[..., None]
        rivals = np.where(np.arange(gamma.shape[2]) == best, -np.inf, logits)
        lead = (rivals.max(2) - np.take_along_axis(logits, best, 2)[..., 0]).max(1)
        height[some] = np.where(lead >= 0.0, 1.0, 0.0) + lead / (_STEPS * _STEP)
    return height

"""The same programmes in cvxpy, one constraint at a time: slow, plain, for tests to trust."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.svm.programme import Programme

__all__ = ["ReferenceAnswer", "frobenius_reference"]


@dataclass(frozen=True, slots=True)
class ReferenceAnswer:
    """What the modelling library returned, with its own word for the status."""

    status: str
    W: Float[Array, "d d"] | None
    value: float


def frobenius_reference(programme: Programme) -> ReferenceAnswer:
    """Min ||W||_F subject to D_j^T W z_j >= 1, through cvxpy and Clarabel."""
    import cvxpy

    d = programme.D.shape[1]
    W = cvxpy.Variable((d, d))
    constraints = [D @ W @ z >= 1 for D, z in zip(programme.D, programme.Z, strict=True)]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(W)), constraints)
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    for settings in (tight, {}):  # where tight tolerances are out of reach, the usual ones
        try:
            problem.solve(solver=cvxpy.CLARABEL, **settings)
        except cvxpy.error.SolverError:
            continue
        break
    else:
        return ReferenceAnswer(status="failed", W=None, value=np.inf)
    if W.value is None:
        return ReferenceAnswer(status=str(problem.status), W=None, value=np.inf)
    return ReferenceAnswer(
        status=str(problem.status), W=np.asarray(W.value), value=float(np.linalg.norm(W.value))
    )

"""The constraints of the Att-SVM: one row per input and per token that should not be selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.tokens import target_tokens

__all__ = ["Programme", "att_svm_programme"]

SMALLEST = 1e-280
"""Least ||A_j||_F^2 of a constraint that is not zero: its inverse must stay far from overflow."""


@dataclass(frozen=True, slots=True)
class Programme:
    """min ||W|| subject to D_j^T W z_j >= 1 with D_j = x_target - x_t (tf, Att-SVM, Local-SVM).

    Attributes:
        D: token differences, one row a constraint.
        Z: the query of each constraint.
        input: which input a constraint belongs to.
        token: which token it keeps out.
        targets: the token that each input selects.
        shape: (n, T) of the data.
    """

    D: Float[Array, "m d"]
    Z: Float[Array, "m d"]
    input: Int[Array, " m"]
    token: Int[Array, " m"]
    targets: Int[Array, " n"]
    shape: tuple[int, int]

    @property
    def gram(self) -> Float[Array, "m m"]:
        """Inner products <A_j, A_k> of the constraint matrices A_j = D_j z_j^T."""
        gram: Array = (self.D @ self.D.T) * (self.Z @ self.Z.T)
        return gram

    def margins(self, W: Float[Array, "d d"]) -> Float[Array, " m"]:
        """Margins <A_j, W> = D_j^T W z_j."""
        margins: Array = np.einsum("md,md->m", self.D @ W, self.Z)
        return margins

    def combine(self, weights: Float[Array, " m"]) -> Float[Array, "d d"]:
        """The matrix sum_j weights_j A_j."""
        return (self.D * weights[:, None]).T @ self.Z

    def table(self, values: Array, fill: float) -> Float[Array, "n T"]:
        """One value a constraint laid out by input and token, `fill` elsewhere."""
        table = np.full(self.shape, fill)
        table[self.input, self.token] = values
        return table


def att_svm_programme(data: AttentionData, targets: object = None) -> Programme:
    """Constraints for selecting `targets`, by default the optimal tokens.

    Raises:
        TiedTokensError: no targets given and the optimal tokens are not unique.
        DataError: targets out of range; no input has two tokens, so nothing is constrained;
            entries so large or small that inner products overflow or underflow.
    """
    chosen = target_tokens(data, targets)
    keep = data.present.copy()
    keep[np.arange(data.n), chosen] = False
    rows, tokens = np.nonzero(keep)
    if rows.size == 0:
        raise DataError(
            "every input has a single token, so there is nothing to separate",
            value=f"T = {data.T}",
            remedy="Give at least one input with two tokens.",
        )
    with np.errstate(over="ignore"):
        D = data.X[rows, chosen[rows]] - data.X[rows, tokens]
    programme = Programme(
        D=D,
        Z=data.Z[rows],
        input=rows.astype(np.int64),
        token=tokens.astype(np.int64),
        targets=chosen,
        shape=(data.n, data.T),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        gram = programme.gram
    if not np.isfinite(gram).all():
        raise DataError(
            "inner products of the constraints overflow float64",
            value=float(np.abs(data.X).max()),
            remedy="Rescale the tokens or the queries.",
        )
    lost = (gram.diagonal() < SMALLEST) & programme.D.any(axis=1) & programme.Z.any(axis=1)
    if lost.any():
        raise DataError(
            "inner products of the constraints underflow float64",
            value=float(np.abs(programme.D[lost]).max()),
            remedy="Rescale the tokens or the queries.",
        )
    return programme

"""The numbers of pictures of training, as plain arrays: directions, weights, margins.

Iterates are stacked along leading axes: a matrix W has its last two axes, a prompt p its last one,
as in `attsvm.training.Trajectory.W`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.plots.table import Table
from attsvm.tokens import target_tokens


@dataclass(frozen=True, slots=True, eq=False)
class Heading:
    """The position of iterates relative to the ray of a direction.

    Attributes:
        norm: Euclidean (Frobenius) norms.
        cosine: cosines of the angle to the direction; NaN at zero iterates.
        gap: 1 - cosine, computed as half the squared distance of the unit vectors, without
            cancellation.
        residual: distances from the ray {c * direction : c >= 0}.
    """

    norm: Float[Array, "*b"]
    cosine: Float[Array, "*b"]
    gap: Float[Array, "*b"]
    residual: Float[Array, "*b"]

    def table(self, **keys: object) -> Table:
        """Return a table with one row per iterate, after columns that identify it."""
        columns = {"norm": self.norm, "cosine": self.cosine, "gap": self.gap}
        return Table.of(**keys, **columns, residual=self.residual)

    @classmethod
    def of(cls, table: Table, run: str = "run") -> Heading:
        """Return the headings in a table, one row for each run."""
        return cls(*table.stack(run, "norm", "cosine", "gap", "residual"))


def heading(iterates: Float[Array, " ..."], direction: Float[Array, "*p"]) -> Heading:
    """Return norms, cosines to a direction, and distances from its ray.

    Raises:
        DataError: the direction is zero or not finite, or does not have the shape of an iterate.
    """
    size = float(np.linalg.norm(direction))
    if not 0.0 < size < np.inf:
        raise DataError("a direction is a finite vector other than zero", value=size)
    if iterates.shape[iterates.ndim - direction.ndim :] != direction.shape:
        raise DataError(
            "iterates and direction differ in shape", value=(iterates.shape, direction.shape)
        )
    flat = iterates.reshape(*iterates.shape[: iterates.ndim - direction.ndim], -1)
    unit = direction.ravel() / size
    norm = np.sqrt((flat**2).sum(axis=-1))
    along = flat @ unit
    with np.errstate(invalid="ignore"):
        own = flat / norm[..., None]
    gap = 0.5 * ((own - unit) ** 2).sum(axis=-1)
    off = flat - np.maximum(along, 0.0)[..., None] * unit
    residual = np.sqrt((off**2).sum(axis=-1))
    return Heading(*map(np.asarray, (norm, 1.0 - gap, gap, residual)))


def projections(W: Float[Array, "*b d d"], Z: Float[Array, "m d"]) -> Float[Array, "m *b d"]:
    """Return the vectors W z, on which the logits depend, stacked over the rows z of Z."""
    return np.stack([W @ z for z in Z])


def _logits(data: AttentionData, X: Array, iterates: Array, prompts: bool) -> Array:
    if prompts and iterates.shape[-1] != data.d:
        raise DataError("prompts differ from tokens in size", value=iterates.shape)
    if not prompts and iterates.shape[-2:] != (data.d, data.d):
        raise DataError(
            "iterates are matrices of the tokens' dimension",
            value=f"shape {iterates.shape}",
            remedy="Give a prompt p as its trajectory with prompts=True.",
        )
    directions = iterates if prompts else np.einsum("...de,ne->...nd", iterates, data.Z)
    logits: Array = np.einsum("nte,...e->...nt" if prompts else "nte,...ne->...nt", X, directions)
    return logits


def token_weights(
    data: AttentionData, iterates: Float[Array, " ..."], *, prompts: bool = False
) -> Float[Array, "*b n T"]:
    """Return the softmax probabilities of every token under iterates W (or p, if `prompts`)."""
    logits = _logits(data, data.X, iterates, prompts)
    return softmax(logits, np.broadcast_to(data.present, logits.shape))


def effective_tokens(weights: Float[Array, "*b T"]) -> Float[Array, "*b"]:
    """Return the effective number of tokens: exp of the entropy, between 1 and T."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(weights > 0.0, weights * np.log(weights), 0.0)
    return np.asarray(np.exp(-terms.sum(axis=-1)))


def separation_margins(
    data: AttentionData,
    iterates: Float[Array, " ..."],
    targets: object = None,
    *,
    prompts: bool = False,
) -> Float[Array, "*b m"]:
    """Return (x_target - x_t)^T W z (or ^T p) of all inputs and present tokens t but the target.

    Raises:
        TiedTokensError, DataError: targets as in `att_svm`; iterates of another size.
    """
    chosen = target_tokens(data, targets)
    rows = np.arange(data.n)
    gaps = data.X[rows, chosen][:, None] - data.X
    counted = data.present.copy()
    counted[rows, chosen] = False
    return _logits(data, gaps, iterates, prompts)[..., counted]


def counts(
    values: Float[Array, "k m"], bins: int = 60
) -> tuple[Float[Array, " e"], Int[Array, "k b"]]:
    """Return histograms of all rows over shared bins: edges and counts.

    Raises:
        DataError: a value is not finite, or there are no values or no bins.
    """
    if bins < 1 or not np.isfinite(values).all() or values.size == 0:
        raise DataError("a histogram needs finite values and a bin", value=(values.shape, bins))
    edges = np.histogram_bin_edges(values, bins=bins)
    return edges, np.stack([np.histogram(row, bins=edges)[0] for row in values]).astype(np.int64)


def mean_and_error(
    values: Float[Array, "B k"],
) -> tuple[Float[Array, " k"], Float[Array, " k"], Int[Array, " k"]]:
    """Return means over the rows, their standard errors, and the number of finite entries.

    The error is the sample deviation over the root of the count; NaN below two entries.
    """
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / count
        spread = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        error = np.sqrt(spread / (count - 1) / count)
    return mean, np.where(count > 1, error, np.nan), count.astype(np.int64)

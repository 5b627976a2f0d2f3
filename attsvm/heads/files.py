"""Files of heads."""

import os
from pathlib import Path

import numpy as np

from attsvm._validate import ensure_array
from attsvm.attention import logits_of_w
from attsvm.data import HEAD_KEYS, AttentionData, read_arrays, without_padding
from attsvm.errors import DataError
from attsvm.heads.arrays import Arrays
from attsvm.heads.head import Head, head_of_arrays


def read_head(path: str | os.PathLike[str]) -> tuple[AttentionData, Head | None]:
    """Read a data file, which may also have the W of a head and the values that the head averages.

    If the file has no values, the head averages the tokens. If the file has neither scores nor
    labels, the data are those of the head: the tokens to which it attends most are optimal.

    Returns:
        The data, and the head if the file has W.

    Raises:
        FileError: as `AttentionData.load`.
        DataError: the arrays are not a data set, or W, values or logits are not finite or do not
            fit.
    """
    arrays = read_arrays(path, HEAD_KEYS)
    W, values = arrays.pop("W", None), arrays.pop("values", None)
    if W is None:
        if values is not None:
            raise DataError("the file has values but no W of a head", remedy="Give W as well.")
        return AttentionData(**arrays), None
    scored = bool({"y", "v", "scores"} & arrays.keys())
    data = AttentionData(
        **({} if scored else {"scores": np.zeros(arrays["X"].shape[:2])}), **arrays
    )
    W = ensure_array("W", W, ("d", "e"), {"d": data.d, "e": data.d})
    mask, sizes = data.present, {"n": data.n, "T": data.T}
    inputs = data.X if values is None else without_padding(values, data.mask)
    averaged = ensure_array("values", inputs, ("n", "T", "v"), sizes)
    with np.errstate(over="ignore", invalid="ignore"):
        logits = logits_of_w(data.X, data.Z, W)
    if not np.isfinite(logits[mask]).all():
        raise DataError(
            "logits X W z overflow float64",
            value=float(np.abs(W).max()),
            remedy="Rescale W, the tokens X or the queries Z.",
        )
    arrays_of_head = Arrays(data.X, data.Z[:, None], W, averaged, mask[:, None])
    head = head_of_arrays(f"W of {Path(path).name}", arrays_of_head)
    return data if scored else head.data, head

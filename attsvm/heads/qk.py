"""Heads of given queries, keys and values: arrays, tensors or files."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from attsvm._types import Array, Tensor
from attsvm.data import read_archive
from attsvm.errors import DataError, FileError
from attsvm.heads.arrays import Arrays
from attsvm.heads.head import Head, head_of_arrays
from attsvm.heads.table import Heads

_PARTS = ("q", "k", "v", "mask", "scale", "causal", "heads", "notes", "left_out")
"""Last words of the names of arrays: arguments of `capture_qk`, indices of heads, and notes."""

_WRITER = "capture(...).save"
"""The function that writes a file of heads."""

_LONGEST_HEADER = 1 << 24
"""Maximum number of bytes of the header of a safetensors file."""

_LARGEST = 1 << 32
"""Maximum size in bytes of a safetensors file."""

_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "BOOL": "|b1",
    "I64": "<i8",
    "U8": "|u1",
}


def capture_qk(
    q: object,
    k: object,
    v: object = None,
    *,
    scale: float | None = None,
    mask: npt.ArrayLike | None = None,
    causal: bool = False,
    name: str = "attention",
) -> Heads:
    """Return the heads of given queries, keys and values.

    Tokens are the keys, so that W is a multiple of the identity.

    Args:
        q: queries (L, e), (H, L, e) or (B, H, L, e), as arrays or tensors.
        k: keys, likewise; heads of queries may share them.
        v: values; the keys by default.
        scale: the factor of q^T k in the logits; 1 / sqrt(e) by default.
        mask: true if a query sees a token; it broadcasts to (B, H, L, S).
        causal: whether query i sees no token after token i.
        name: what the heads are called.

    Raises:
        DataError: shapes that do not fit, or no query sees a token.
    """
    Q, K = _numbers(f"q of {name}", q), _numbers(f"k of {name}", k)
    V = K if v is None else _numbers(f"v of {name}", v)
    (B, H, L, e), S = Q.shape, K.shape[2]
    fits = K.shape[0] == V.shape[0] == B and K.shape[3] == e and V.shape[1:3] == K.shape[1:3]
    if not fits or not e or not K.shape[1] or H % K.shape[1]:
        raise DataError(
            f"queries, keys and values of {name} do not fit",
            value=(Q.shape, K.shape, V.shape),
            remedy="Shapes are (sequence, head, token, feature); q and k have the same features.",
        )
    if scale is not None and not math.isfinite(scale):
        raise DataError("scale is not finite", value=scale)
    with np.errstate(over="ignore"):
        longest = [float(np.sqrt(np.square(a).sum(axis=-1)).max(initial=0.0)) for a in (Q, K)]
    if not math.isfinite(longest[0] * longest[1] * (1.0 if scale is None else abs(scale))):
        raise DataError("logits overflow float64", remedy="Rescale queries or keys.")
    seen = _seen(mask, (B, H, L, S))
    if causal:
        seen = seen & np.tri(L, S, dtype=np.bool_)
    W = np.eye(e) * (e**-0.5 if scale is None else scale)
    note = "tokens are the keys, so that W is a multiple of the identity"
    group = H // K.shape[1]
    return Heads(
        tuple(
            head_of_arrays(
                f"{name}, head {h}",
                Arrays(K[:, h // group], Q[:, h], W, V[:, h // group], seen[:, h]),
                (note,),
            )
            for h in range(H)
        )
    )


def _seen(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """Return the tokens (B, H, L, S) that queries see.

    Raises:
        DataError: entries that are neither truth values nor the integers 0 and 1, or another shape.
    """
    seen = np.asarray(True if mask is None else mask)
    if seen.dtype.kind not in "biu" or not np.isin(seen, (0, 1)).all():
        raise DataError(
            "the mask does not consist of truth values",
            value=str(seen.dtype),
            remedy="True if a query sees a token; of a mask that is added, give mask > -1e4.",
        )
    try:
        return np.broadcast_to(seen.astype(np.bool_), shape)
    except ValueError as error:
        raise DataError("the mask does not fit", value=(seen.shape, shape)) from error


def _numbers(name: str, value: object) -> Array:
    """Return numbers (B, H, T, e) of an array or a tensor.

    Raises:
        DataError: it is no array of numbers with 2 to 4 axes, or some are not finite.
    """
    if hasattr(value, "detach"):
        tensor: Tensor = value  # type: ignore[assignment]
        array = tensor.detach().cpu().double().numpy()
    else:
        array = np.asarray(value)
        if array.dtype.kind not in "fiu":
            raise DataError(f"{name} is not an array of numbers", value=str(array.dtype))
        array = array.astype(np.float64)
    if not 2 <= array.ndim <= 4:
        raise DataError(f"{name} has not 2 to 4 axes", value=array.shape)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(bad[0].tolist())
        raise DataError(
            f"{name} has entries that are not finite, {len(bad)} in all",
            value=f"{array[place]} at {place}",
            remedy="Give finite numbers; a mask hides tokens.",
        )
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def read_heads(path: str | os.PathLike[str]) -> Heads:
    """Read the heads of a file of queries and keys, `.npz` or `.safetensors`.

    The arrays of an attention are called NAME.q, NAME.k and, optionally, NAME.v, NAME.mask,
    NAME.scale and NAME.causal, as the arguments of `capture_qk`; or q, k and so on if there is one
    attention. NAME.heads has the indices of heads, if some were left out. NAME.notes and
    NAME.left_out are bytes of JSON: notes on each head, and on all heads. Nothing is unpickled.

    Raises:
        FileError: missing, damaged, foreign or oversized file, or unknown names.
        DataError: arrays that do not fit, or no query sees a token.
    """
    source = Path(path)
    if source.suffix == ".safetensors":
        arrays = _safetensors(source)
    else:
        arrays = read_archive(source, lambda names: _ensure_parts(names, source), _WRITER)
    every: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        layer, _, part = name.rpartition(".")
        every.setdefault(layer or source.stem, {})[part] = array
    heads: list[Head] = []
    left_out: list[str] = []
    for layer, parts in every.items():
        scale = parts.get("scale")
        causal = parts.get("causal")
        if any(
            a is not None and (a.size != 1 or a.dtype.kind not in "fiub") for a in (scale, causal)
        ):
            raise DataError(f"scale and causal of {layer} must be one number each")
        made = capture_qk(
            parts["q"],
            parts["k"],
            parts.get("v"),
            scale=None if scale is None else float(scale.ravel()[0]),
            mask=parts.get("mask"),
            causal=causal is not None and bool(causal.ravel()[0]),
            name=layer,
        )
        indices = parts.get("heads", np.arange(len(made))).ravel()
        if len(indices) != len(made) or indices.dtype.kind not in "iu":
            raise DataError(f"heads of {layer} must have {len(made)} indices", value=len(indices))
        numbers = indices.tolist()
        for number, head in zip(numbers, made, strict=True):
            texts = (*head.notes, *_texts(layer, parts.get("notes")))
            heads.append(replace(head, name=f"{layer}, head {number}", notes=texts))
        left_out.extend(_texts(layer, parts.get("left_out")))
    return Heads(tuple(heads), tuple(dict.fromkeys(left_out)))


def _texts(layer: str, array: Array | None) -> list[str]:
    """Return the notes of a layer.

    Raises:
        DataError: the array is not a list of printable texts in JSON.
    """
    if array is None:
        return []
    try:
        texts = json.loads(array.tobytes())
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(
        isinstance(text, str) and text.isprintable() for text in texts
    ):
        raise DataError(f"notes of {layer} are not a list of printable texts in JSON")
    return texts


def _ensure_parts(names: Sequence[str], source: Path) -> None:
    """Raise unless arrays are parts of attentions, each with q and k.

    Raises:
        FileError: an unknown or a missing array, or none at all.
    """
    unknown = [name for name in names if name.rpartition(".")[2] not in _PARTS]
    layers = {name.rpartition(".")[0] for name in names}
    missing = [
        f"{layer}.{part}".lstrip(".")
        for layer in sorted(layers)
        for part in ("q", "k")
        if f"{layer}.{part}".lstrip(".") not in names
    ]
    if unknown or missing or not names:
        raise FileError(
            f"{source} does not hold queries and keys"
            if missing or not names
            else f"{source} holds arrays that are not known",
            value=", ".join(unknown) or f"no {', '.join(missing) or 'array'}",
            remedy=f"Names of arrays end with one of {', '.join(_PARTS)}; q and k are needed. "
            f"{_WRITER}(FILE) writes such a file.",
        )


def _safetensors(source: Path) -> dict[str, Array]:
    """Return the arrays of a safetensors file.

    Raises:
        FileError: missing, damaged, foreign or oversized file, or unknown names.
    """
    try:
        if source.stat().st_size > _LARGEST:
            raise FileError(f"{source} has more than 4 GiB", remedy="Write fewer layers.")
        with source.open("rb") as file:
            header = _header(file)
            names = [name for name in header if name != "__metadata__"]
            _ensure_parts(names, source)
            content = file.read()
        return {name: _tensor(header[name], content) for name in names}
    except FileNotFoundError as error:
        raise FileError(f"there is no file {source}", remedy="Check the path.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(
            f"{source} is not a readable safetensors file ({error})",
            remedy=f"Write it with safetensors, or an .npz file with {_WRITER}.",
        ) from error


def _header(file: BinaryIO) -> Mapping[str, object]:
    """Read the header of a safetensors file, up to the first byte of its tensors.

    Raises:
        ValueError: it has no such header.
    """
    length = int.from_bytes(file.read(8), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"a header of {length} bytes")
    header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header


def _tensor(entry: object, content: bytes) -> Array:
    """Return a tensor of a safetensors file by its entry in the header.

    Raises:
        ValueError: the entry is not one, or the file ends early.
    """
    match entry:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(first), int(last)]}:
            whole = all(type(size) is int and size >= 0 for size in shape)
            if kind in _TYPES and whole and 0 <= first <= last <= len(content):
                dtype = np.dtype(_TYPES[kind])
                if last - first == math.prod(shape) * dtype.itemsize:
                    array: Array = np.frombuffer(content[first:last], dtype).reshape(shape)
                    if kind == "BF16":
                        return (array.astype(np.uint32) << 16).view(np.float32)
                    return array
    raise ValueError(f"an entry of the header is {entry!r:.80}")

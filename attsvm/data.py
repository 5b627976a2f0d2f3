"""AttentionData: the tokens, queries and labels (or token scores) that everything runs on."""

from __future__ import annotations

import ast
import math
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from attsvm._files import write_whole
from attsvm._types import Array, Bool, Float
from attsvm._validate import ensure_array, ensure_boolean, ensure_mask
from attsvm.errors import DataError, FileError, present

_KEYS = ("X", "Z", "y", "v", "scores", "mask")
HEAD_KEYS = (*_KEYS, "W", "values")
"""The arrays of a file that also has a head (`attsvm.heads.read_head`)."""

_WRITER = "AttentionData.save"
"""The function that writes a data file."""

_LARGEST = 1 << 32
"""Maximum size of the arrays of a file in bytes, as stored and as float64."""

_DENSE = 1 << 26
"""Size of the arrays in bytes that is accepted however small the file is."""

_PACKED = 100
"""Maximum number of bytes of the arrays per byte of the file, if they exceed `_DENSE`."""

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # encrypted, or of a later version of the format
)
"""Exceptions of zipfile for damaged or foreign archives."""

_LONGEST_HEADER = 10_000
_MOST_AXES = 32
_KINDS = re.compile(r"[<>=|]?(?:b1|[iu][1248]|f[248])")
_HEADER = {"descr", "fortran_order", "shape"}


@dataclass(frozen=True, slots=True)
class _Header:
    """The header of an array in a file."""

    dtype: np.dtype
    fortran: bool
    shape: tuple[int, ...]


def _header(file: IO[bytes]) -> _Header:
    """Read the header of an array in numpy's format, version 1 or 2, and nothing beyond it.

    Raises:
        ValueError: there is no header, or the array has entries other than real numbers or
            booleans.
    """
    magic = file.read(8)
    if magic not in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
        raise ValueError("it is not an array in numpy's format, version 1 or 2")
    width = 2 * magic[6]
    length = int.from_bytes(file.read(width), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"a header has {length} bytes")
    text = file.read(length)
    try:
        message = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("a header is not a dictionary of constants") from error
    if not isinstance(message, dict) or set(message) != _HEADER:
        raise ValueError(
            "a header must have the keys descr, fortran_order and shape, and no others"
        )
    descr, fortran, shape = message["descr"], message["fortran_order"], message["shape"]
    if not isinstance(descr, str) or not _KINDS.fullmatch(descr):
        raise ValueError(f"an array is of type {descr!r:.40}, not of real numbers or truth values")
    if not isinstance(fortran, bool) or not isinstance(shape, tuple) or len(shape) > _MOST_AXES:
        raise ValueError("a header has no valid fortran_order or no valid shape")
    if not all(type(size) is int and 0 <= size <= _LARGEST for size in shape):
        raise ValueError("a header states a shape with a negative or too large size")
    return _Header(np.dtype(descr), fortran, shape)


def _array(file: IO[bytes], size: int) -> Array:
    """Read an array that takes `size` bytes of a file, including its header.

    Raises:
        ValueError: as `_header`, or the size differs from the header's.
    """
    header = _header(file)
    entries = math.prod(header.shape)
    if entries * header.dtype.itemsize != size - file.tell():
        raise ValueError("an array has another size than its header states")
    content = file.read()
    if len(content) != entries * header.dtype.itemsize:
        raise ValueError("an array ends early")
    order: Literal["F", "C"] = "F" if header.fortran else "C"
    return np.frombuffer(content, header.dtype).reshape(header.shape, order=order)


def without_padding(value: object, mask: object) -> object:
    """Return the array with 0 at masked entries that are not finite.

    A value that is not a float array of the mask's first two axes is returned as it is.
    """
    try:
        array, present = np.asarray(value), np.asarray(mask)
    except (ValueError, TypeError):
        return value
    fits = present.dtype == np.bool_ and array.dtype.kind == "f" and present.ndim == 2
    if not fits or array.shape[:2] != present.shape:
        return value
    hidden = ~present.reshape(present.shape + (1,) * (array.ndim - 2)) & ~np.isfinite(array)
    return np.where(hidden, 0.0, array) if hidden.any() else value


@dataclass(frozen=True, slots=True, eq=False)
class AttentionData:
    """n inputs of T tokens in dimension d, with one query each, and scores of the tokens.

    Scores come either from labels `y` and a linear head `v` (then the score of token t of input i
    is y_i v^T x_it), or from `scores`. `mask` marks the present tokens if inputs have different
    lengths. Arrays are copied, float64 and read-only. If X is the result of `numpy.broadcast_to` of
    tokens (T, d) that all inputs share, they are kept once.

    Args:
        X: tokens.
        Z: queries.
        y: labels, each -1 or 1.
        v: linear prediction head.
        scores: token scores gamma, instead of y and v.
        mask: True if a token is present; by default all are. Padding may be NaN or infinite and is
            stored as 0.

    Raises:
        DataError: NaN or infinite entries, shapes or types that do not fit, an empty axis, labels
            other than -1 and 1, scores X v that overflow, both or neither of (y, v) and scores.
    """

    X: Float[Array, "n T d"]
    Z: Float[Array, "n d"]
    y: Float[Array, " n"] | None = None
    v: Float[Array, " d"] | None = None
    scores: Float[Array, "n T"] | None = None
    mask: Bool[Array, "n T"] | None = None

    def __repr__(self) -> str:
        scored = "scores" if self.y is None else "labels and a head"
        masked = "" if self.mask is None else ", masked"
        return f"AttentionData(n={self.n}, T={self.T}, d={self.d}, {scored}{masked})"

    def __post_init__(self) -> None:
        for name, array in _validated(self).items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(
        cls,
        X: npt.ArrayLike,
        Z: npt.ArrayLike,
        *,
        y: npt.ArrayLike | None = None,
        v: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        mask: npt.ArrayLike | None = None,
    ) -> AttentionData:
        """Return a data set from anything that numpy reads, such as lists of numbers.

        Raises:
            DataError: as the constructor.
        """
        return cls(X, Z, y, v, scores, mask)  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Number of inputs."""
        return int(self.X.shape[0])

    @property
    def T(self) -> int:
        """Number of tokens of the longest input."""
        return int(self.X.shape[1])

    @property
    def d(self) -> int:
        """Dimension of a token."""
        return int(self.X.shape[2])

    @property
    def gamma(self) -> Float[Array, "n T"]:
        """Token scores: y_i v^T x_it from labels and head, or the given `scores`."""
        if self.scores is not None:
            return self.scores
        y, v = present(self.y, "the labels y"), present(self.v, "the head v")
        scores: Array = y[:, None] * (self.X @ v)
        return scores

    @property
    def present(self) -> Bool[Array, "n T"]:
        """The mask; all true if none was given."""
        return np.ones(self.X.shape[:2], dtype=bool) if self.mask is None else self.mask

    def __eq__(self, other: object) -> bool:
        """Return whether all arrays are equal, entry for entry."""
        if not isinstance(other, AttentionData):
            return NotImplemented
        for name in _KEYS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if (mine is None) != (theirs is None):
                return False
            if mine is not None and not np.array_equal(mine, theirs):
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file: whole or not at all.

        Raises:
            FileError: the place cannot be written.
        """
        arrays = {k: a for k in _KEYS if (a := getattr(self, k)) is not None}
        write_whole(path, lambda file: np.savez(file, **arrays))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> AttentionData:
        """Read an `.npz` file with X, Z and (y, v) or scores, and optionally mask.

        Pickled content is never read.

        Raises:
            FileError: missing, truncated, foreign, pickled or oversized file, or unknown arrays.
            DataError: the arrays do not make a data set.
        """
        return cls(**read_arrays(path))


def _validated(data: AttentionData) -> dict[str, Array]:
    """Return the arrays of a data set as float64 copies.

    Raises:
        DataError: as `AttentionData`.
    """
    sizes: dict[str, int] = {}
    if data.mask is not None:  # check the mask before padding is read as data
        ensure_boolean("mask", data.mask)
    arrays = {
        "X": _tokens(data.X, data.mask, sizes),
        "Z": ensure_array("Z", data.Z, ("n", "d"), sizes),
    }
    if data.scores is not None and (data.y is not None or data.v is not None):
        raise DataError(
            "token scores were given together with labels or a head",
            remedy="Give scores alone, or y and v.",
        )
    if data.scores is not None:
        scores = without_padding(data.scores, data.mask)
        arrays["scores"] = ensure_array("scores", scores, ("n", "T"), sizes)
    elif data.y is not None and data.v is not None:
        arrays["y"] = ensure_array("y", data.y, ("n",), sizes)
        arrays["v"] = ensure_array("v", data.v, ("d",), sizes)
        wrong = np.flatnonzero(np.abs(arrays["y"]) != 1)
        if wrong.size:
            raise DataError(
                f"label y[{int(wrong[0])}] is neither -1 nor 1",
                value=float(arrays["y"][wrong[0]]),
                remedy="Recode the two classes as -1 and 1.",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(arrays["X"] @ arrays["v"]).all()
        if not finite:
            raise DataError(
                "token scores X v overflow float64",
                value=float(np.abs(arrays["X"]).max()),
                remedy="Rescale the tokens X or the head v.",
            )
    else:
        values = "y" if data.y is not None else "v" if data.v is not None else "neither"
        raise DataError(
            "the data have no scores: labels y and a head v are needed together",
            value=values,
            remedy="Give both, or token scores.",
        )
    if data.mask is not None:
        arrays["mask"] = ensure_mask("mask", data.mask, ("n", "T"), sizes)
    return arrays


def _tokens(X: object, mask: object, sizes: dict[str, int]) -> Array:
    """Return tokens as a float64 copy; those that all inputs share are copied once.

    Raises:
        DataError: as `AttentionData`.
    """
    axes = "n", "T", "d"
    if isinstance(X, np.ndarray) and X.ndim == 3 and X.size and X.strides[0] == 0 and len(X) > 1:
        shown = mask if mask is None else np.any(np.asarray(mask), axis=0, keepdims=True)
        once = without_padding(X[:1], shown)
        once = ensure_array("X", once, axes, {})
        sizes |= dict(zip(axes, X.shape, strict=True))
        return np.broadcast_to(once, X.shape)
    return ensure_array("X", without_padding(X, mask), axes, sizes)


def read_arrays(
    path: str | os.PathLike[str], keys: tuple[str, ...] = _KEYS
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an `.npz` file that has X and Z and no others than `keys`.

    Raises:
        FileError: as `AttentionData.load`.
    """
    return read_archive(path, lambda names: _ensure_names(names, Path(path), keys))


def read_archive(
    path: str | os.PathLike[str],
    ensure: Callable[[Sequence[str]], None],
    writer: str = _WRITER,
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an `.npz` file, without unpickling anything.

    Args:
        path: the file.
        ensure: raises an error if these names of arrays are not as they must be.
        writer: the function that writes such files.

    Raises:
        FileError: missing, truncated, foreign, pickled or oversized file.
    """
    source = Path(path)
    remedy = _remedy(writer)
    try:
        with zipfile.ZipFile(source) as archive:
            entries = _entries(archive, source, ensure, remedy)
            arrays = {}
            for name, entry in entries.items():
                with archive.open(entry) as file:
                    arrays[name] = _array(file, entry.file_size)
        if 8 * sum(array.size for array in arrays.values()) > _LARGEST:
            raise FileError(f"{source} takes more than 4 GiB as float64", remedy=remedy)
    except FileNotFoundError as error:
        raise FileError(f"there is no file {source}", remedy="Check the path.") from error
    except IsADirectoryError as error:
        raise FileError(f"{source} is a folder", remedy="Name a file.") from error
    except _UNREADABLE as error:
        raise FileError(
            f"{source} is not a readable .npz file ({type(error).__name__}: {error})",
            remedy=remedy,
        ) from error
    return arrays


def _remedy(writer: str = _WRITER) -> str:
    return f"Write it with {writer} or numpy.savez (plain numeric arrays)."


def _entries(
    archive: zipfile.ZipFile, source: Path, ensure: Callable[[Sequence[str]], None], remedy: str
) -> dict[str, zipfile.ZipInfo]:
    """Return the arrays of an archive by name, checked before any of them is unpacked.

    Raises:
        FileError: there is too much to unpack, a compression that numpy does not use, or a repeated
            name; and as `ensure`.
    """
    every = archive.infolist()
    size = sum(entry.file_size for entry in every)
    if size > _LARGEST:
        raise FileError(f"{source} unpacks to more than 4 GiB", value=size, remedy=remedy)
    if size > max(_DENSE, _PACKED * source.stat().st_size):
        raise FileError(
            f"{source} unpacks to more than {_PACKED} times its size",
            value=size,
            remedy=f"{remedy} Neither compresses.",
        )
    if any(entry.compress_type not in _PACKINGS for entry in every):
        raise FileError(f"{source} is packed as numpy never packs", remedy=remedy)
    names = [entry.filename.removesuffix(".npy") for entry in every]
    ensure(names)
    if len(set(names)) < len(names):
        raise FileError(f"{source} holds an array twice", value=", ".join(names), remedy=remedy)
    return dict(zip(names, every, strict=True))


def _ensure_names(names: Sequence[str], source: Path, keys: tuple[str, ...]) -> None:
    """Raise unless the names of arrays are among the keys, and X and Z are there.

    Raises:
        FileError: an unknown or a missing array.
    """
    unknown = sorted(set(names) - set(keys))
    if unknown:
        raise FileError(
            f"{source} holds arrays that are not known",
            value=", ".join(unknown),
            remedy=f"The names are {', '.join(keys)}."
            + (" A head is read by attsvm.heads.read_head." if "W" in unknown else "")
            + (
                " A file of heads is read by `attsvm heads`."
                if {"q", "k"} <= {name.rpartition(".")[2] for name in unknown}
                else ""
            ),
        )
    missing = [key for key in ("X", "Z") if key not in names]
    if missing:
        raise FileError(
            f"{source} lacks {' and '.join(missing)}", value=", ".join(names), remedy=_remedy()
        )

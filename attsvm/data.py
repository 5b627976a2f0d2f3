"""AttentionData: the tokens, queries and labels (or token scores) that everything runs on."""

from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from jaxtyping import Bool, Float

from attsvm._files import write_whole
from attsvm._types import Array
from attsvm._validate import ensure_array, ensure_boolean, ensure_mask
from attsvm.errors import DataError, FileError, present

_KEYS = ("X", "Z", "y", "v", "scores", "mask")
_LARGEST_FILE = 1 << 32
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    SyntaxError,
    EOFError,
    OSError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    RuntimeError,  # encrypted, or nested too deep
    MemoryError,
)
"""What zipfile and numpy raise on files that are damaged or foreign."""


def _without_padding(value: object, mask: object) -> object:
    """The array with 0 where the mask hides what is not finite; unchanged where they do not fit."""
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
    """n inputs of T tokens in dimension d, a query each, and what makes a token good.

    Either labels `y` and a linear head `v` (then the score of token t of input i is
    y_i v^T x_it), or the `scores` themselves. `mask` marks the tokens that are present, for
    inputs of different lengths. Arrays are copied, float64 and read-only.

    Args:
        X: tokens.
        Z: queries.
        y: labels, each -1 or 1.
        v: linear prediction head.
        scores: token scores gamma, instead of y and v.
        mask: True where a token is present; absent means all are. Padding may be NaN or infinite
            and is kept as 0.

    Raises:
        DataError: NaN or infinite entries, shapes or types that do not fit, an empty axis,
            labels other than -1 and 1, scores X v that overflow, both or neither of (y, v) and
            scores.
    """

    X: Float[Array, "n T d"]
    Z: Float[Array, "n d"]
    y: Float[Array, " n"] | None = None
    v: Float[Array, " d"] | None = None
    scores: Float[Array, "n T"] | None = None
    mask: Bool[Array, "n T"] | None = None

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        if self.mask is not None:  # before what it hides is taken for data
            ensure_boolean("mask", self.mask)
        arrays = {
            "X": ensure_array("X", _without_padding(self.X, self.mask), ("n", "T", "d"), sizes),
            "Z": ensure_array("Z", self.Z, ("n", "d"), sizes),
        }
        if self.scores is not None and (self.y is not None or self.v is not None):
            raise DataError(
                "token scores were given together with labels or a head",
                remedy="Give scores alone, or y and v.",
            )
        if self.scores is not None:
            scores = _without_padding(self.scores, self.mask)
            arrays["scores"] = ensure_array("scores", scores, ("n", "T"), sizes)
        elif self.y is not None and self.v is not None:
            arrays["y"] = ensure_array("y", self.y, ("n",), sizes)
            arrays["v"] = ensure_array("v", self.v, ("d",), sizes)
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
            given = "y" if self.y is not None else "v" if self.v is not None else "neither"
            raise DataError(
                "labels y and a head v say together which tokens are good",
                value=given,
                remedy="Give both, or token scores.",
            )
        if self.mask is not None:
            arrays["mask"] = ensure_mask("mask", self.mask, ("n", "T"), sizes)
        for name, array in arrays.items():
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
        """Make a data set from anything that numpy reads, lists of numbers say.

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
        """Token scores gamma_it = y_i v^T x_it, or as given (tf, definition 1)."""
        if self.scores is not None:
            return self.scores
        y, v = present(self.y, "the labels y"), present(self.v, "the head v")
        scores: Array = y[:, None] * (self.X @ v)
        return scores

    @property
    def present(self) -> Bool[Array, "n T"]:
        """The mask, all true where none was given."""
        return np.ones(self.X.shape[:2], dtype=bool) if self.mask is None else self.mask

    def __eq__(self, other: object) -> bool:
        """Equal when every array is equal, entry for entry."""
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
        source = Path(path)
        remedy = "Write it with AttentionData.save or numpy.savez (plain numeric arrays)."
        try:
            with zipfile.ZipFile(source) as archive:
                entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > _LARGEST_FILE:
                raise FileError(f"{source} unpacks to more than 4 GiB", value=size, remedy=remedy)
            if any(entry.compress_type not in _PACKINGS for entry in entries):
                raise FileError(f"{source} is packed as numpy never packs", remedy=remedy)
            with np.load(source, allow_pickle=False) as file:
                unknown = sorted(set(file.files) - set(_KEYS))
                if unknown:
                    raise FileError(
                        f"{source} holds arrays that are not known",
                        value=", ".join(unknown),
                        remedy=f"The names are {', '.join(_KEYS)}.",
                    )
                missing = [key for key in ("X", "Z") if key not in file.files]
                if missing:
                    raise FileError(
                        f"{source} lacks {' and '.join(missing)}",
                        value=", ".join(file.files),
                        remedy=remedy,
                    )
                arrays = {key: file[key] for key in file.files}
        except FileNotFoundError as error:
            raise FileError(f"there is no file {source}", remedy="Check the path.") from error
        except IsADirectoryError as error:
            raise FileError(f"{source} is a folder", remedy="Name a file.") from error
        except _UNREADABLE as error:
            raise FileError(
                f"{source} is not a readable .npz file ({type(error).__name__}: {error})",
                remedy=remedy,
            ) from error
        return cls(**arrays)

"""Checks of user input: arrays become finite float64, or an error names the problem."""

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm._words import counted
from attsvm.errors import DataError

_EXACT = 2.0**53
"""Upper bound below which float64 represents every integer."""


def _raw(name: str, value: object) -> Array:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:  # ragged lists
        raise DataError(
            f"{name} is not a rectangular array",
            value=value,
            remedy="Give all rows the same length; mark absent tokens with a mask.",
        ) from error
    return array


def ensure_array(
    name: str, value: object, axes: Sequence[str], sizes: dict[str, int] | None = None
) -> Array:
    """Return a copy of `value` as a finite float64 array with the named axes, all nonempty.

    Args:
        name: its name in error messages.
        value: anything that numpy can read.
        axes: one name per dimension.
        sizes: sizes already known by axis name; new ones are added to it.

    Raises:
        DataError: wrong type, number of dimensions or size, an empty axis, NaN or infinity, or an
            integer that float64 cannot represent.
    """
    array = _raw(name, value)
    if array.dtype.kind not in "iuf":
        raise DataError(
            f"{name} has entries that are not real numbers",
            value=f"dtype {array.dtype}",
            remedy="Convert it to float64 first.",
        )
    if array.ndim != len(axes):
        raise DataError(
            f"{name} must have {counted(len(axes), 'dimension')} ({', '.join(axes)})",
            value=f"shape {array.shape}",
            remedy="Reshape it, one axis per name.",
        )
    for axis, size in zip(axes, array.shape, strict=True):
        if size == 0:
            raise DataError(
                f"{name} is empty along {axis}",
                value=f"shape {array.shape}",
                remedy=f"Give at least one entry along {axis}.",
            )
        known = None if sizes is None else sizes.setdefault(axis, size)
        if known is not None and known != size:
            raise DataError(
                f"{name} has {axis} = {size} but the other arrays have {axis} = {known}",
                value=f"shape {array.shape}",
                remedy="Make the shapes agree.",
            )
    if array.dtype == np.float64:
        result = np.array(array, order="C")
    else:
        with np.errstate(over="ignore"):
            result = np.array(array, dtype=np.float64, order="C")
    if not np.isfinite(result).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise DataError(
            f"{name}[{', '.join(map(str, where))}] is not finite",
            value=float(result[where]),
            remedy="Remove or replace NaN and infinite entries.",
        )
    if array.dtype.kind in "iu":
        large = np.abs(result) >= _EXACT
        pairs = zip(array[large].tolist(), result[large].tolist(), strict=True)
        rounded = next((values for values, held in pairs if values != held), None)
        if rounded is not None:
            raise DataError(
                f"{name} has an integer that float64 does not hold",
                value=rounded,
                remedy="Convert it to float64 first, if rounding is acceptable.",
            )
    return result


def ensure_boolean(name: str, value: object) -> Array:
    """Return `value` as an array of booleans.

    Raises:
        DataError: an entry is not a boolean.
    """
    array = _raw(name, value)
    if array.dtype != np.bool_:
        raise DataError(
            f"{name} must be boolean",
            value=f"dtype {array.dtype}",
            remedy="Convert it with .astype(bool), True for a token that is present.",
        )
    return array


def ensure_mask(name: str, value: object, axes: Sequence[str], sizes: dict[str, int]) -> Array:
    """Return `value` as a bool array in which every row has a true entry.

    Raises:
        DataError: the dtype or shape is wrong, or an input has no token.
    """
    array = ensure_boolean(name, value)
    expected = tuple(sizes[axis] for axis in axes)
    if array.shape != expected:
        raise DataError(
            f"{name} must have shape {expected}",
            value=f"shape {array.shape}",
            remedy="Give one entry per token of X.",
        )
    empty = np.flatnonzero(~array.any(axis=-1))
    if empty.size:
        raise DataError(
            f"{name} leaves input {int(empty[0])} without any token",
            value=array[empty[0]].tolist(),
            remedy="Drop that input or keep one of its tokens.",
        )
    return array.copy()


def ensure_index(name: str, value: object, length: int, below: int) -> Array:
    """Return `value` as `length` integers in [0, below).

    Raises:
        DataError: not integers, a wrong count, or out of range.
    """
    array = _raw(name, value)
    if array.dtype.kind not in "iu" or array.shape != (length,):
        raise DataError(
            f"{name} must be {length} integers, one per input",
            value=value,
            remedy="Name one token index per input, separated by commas.",
        )
    wrong = np.flatnonzero((array < 0) | (array >= below))
    if wrong.size:
        raise DataError(
            f"{name}[{int(wrong[0])}] is not a token index",
            value=int(array[wrong[0]]),
            remedy=f"Indices run from 0 to {below - 1}.",
        )
    return array.astype(np.int64)


def ensure_count(name: str, value: object, least: int = 0) -> int:
    """Return `value` as an integer of at least `least`.

    Raises:
        DataError: the value is no integer (a boolean counts as none), or is below `least`.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise DataError(
            f"{name} is not an integer", value=value, remedy=f"Use {least} or a larger integer."
        )
    if value < least:
        kind = "negative" if least == 0 else f"below {least}"
        raise DataError(f"{name} is {kind}", value=int(value), remedy=f"Use {least} or more.")
    return int(value)

"""Calls of a claim's code on an instance, guarded so that the code cannot change the instance.

A refutation is valid only if hypotheses, conclusion and certificate all refer to one instance. The
arrays of the instance are therefore made read-only. To detect changes that bypass this, the encoded
instance is compared before and after each call.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import traceback
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Case, Json
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.arithmetic.entries import COPY_FIRST
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.instance import codec
from attsvm.theory.run.rehearsal import explained

_Answer = TypeVar("_Answer")

_PLAIN = (bool, int, float, str, type(None), Fraction, np.number, np.bool_)
"""Types of immutable values."""


def frozen(case: Case) -> Case:
    """Return the instance with read-only arrays that share no memory with writeable ones.

    Raises:
        ClaimError: the instance holds a list, a dictionary, a mutable dataclass, or a value of
            another type that instances do not support.
    """
    if isinstance(case, _PLAIN):
        return case
    if isinstance(case, np.ndarray):
        if case.flags.owndata and not case.flags.writeable:
            return case
        array = np.array(case, subok=True)  # a view would share memory that others can write
        array.setflags(write=False)
        return array
    if isinstance(case, tuple):
        items = tuple(map(frozen, case))
        return case if all(map(operator.is_, case, items)) else items
    if dataclasses.is_dataclass(case) and not isinstance(case, type):
        changed = {}
        for name in _fields(type(case)):
            value = getattr(case, name)
            made = frozen(value)
            if made is not value:
                changed[name] = made
        if changed:
            case = copy.copy(case)
            for name, made in changed.items():
                object.__setattr__(case, name, made)
        return case
    raise ClaimError(
        "an instance holds a value of an unsupported type",
        value=type(case).__name__,
        remedy="Use numbers, arrays, strings, tuples and frozen dataclasses of these.",
    )


@functools.lru_cache(maxsize=256)
def _fields(record: Any) -> tuple[str, ...]:
    """Return the names of a record's fields.

    Raises:
        ClaimError: the record is not frozen.
    """
    if not record.__dataclass_params__.frozen:
        raise ClaimError(
            "an instance holds a dataclass that is not frozen",
            value=record.__name__,
            remedy="Declare it @dataclass(frozen=True).",
        )
    return tuple(field.name for field in dataclasses.fields(record))


def ask(
    claim: str, what: str, function: Callable[..., _Answer], case: Case, **parameters: object
) -> _Answer:
    """Return the value of a claim's function on an instance.

    Error messages call the function `what`.

    Raises:
        ClaimError: the function does something forbidden, such as writing into the instance. The
            message names the claim, the line and the remedy. Other exceptions of the function pass
            through.
    """
    try:
        return function(case, **parameters)
    except Exception as problem:
        error = explained(f"{what} of {claim}", problem)
        if error is None:
            raise
        raise error from problem


def ensure_unchanged(claim: str, what: str, case: Case, document: Json) -> None:
    """Raise unless the instance still equals its encoded form.

    Raises:
        ClaimError: the instance has changed, so earlier answers refer to another instance.
    """
    try:
        same = codec.encode(case) == document
    except ClaimError:  # the function stored a value of an unsupported type
        same = False
    if not same:
        raise ClaimError(f"{what} of {claim} changed its instance", remedy=COPY_FIRST)


def agree(claim: str, one: Slack, other: Slack, *, exactly: bool) -> None:
    """Raise unless two evaluations of one instance returned the same slack.

    With `exactly`, value, error and ratio must be equal. Otherwise the intervals value +- error
    must overlap: a copy of an instance may lay out its arrays in another order.

    Raises:
        ClaimError: the slacks differ.
    """
    if exactly:
        same = (one.value, one.error, one.ratio) == (other.value, other.error, other.ratio)
    else:
        (low, high), (least, most) = one.range, other.range
        same = low <= most and least <= high
    if not same or one.kind != other.kind:
        raise ClaimError(
            f"the conclusion of {claim} returned two different slacks on one instance",
            value=f"{one.value!r} within {one.error!r}, then {other.value!r} within "
            f"{other.error!r}",
            remedy="It must depend on nothing but the instance: seed every random generator.",
        )


def describe(problem: BaseException) -> str:
    """Return an exception as one line; one that is not attsvm's gets its file, line and note."""
    if isinstance(problem, AttsvmError):
        return str(problem)
    last = traceback.extract_tb(problem.__traceback__)[-1]
    name = last.filename.replace("\\", "/").rsplit("/", 1)[-1]
    noted = "".join(f", {note}" for note in getattr(problem, "__notes__", ())[:1])
    return f"{type(problem).__name__}: {problem} ({name}:{last.lineno}){noted}"

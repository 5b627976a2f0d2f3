"""How a claim's code is asked about an instance: the instance is read-only and stays as it was.

A refutation rests on hypotheses, a conclusion and a certificate that all speak of one instance, so
none of them may change it. Its arrays are made read-only, and what gets around that is found by
comparing the instance, encoded, before and after.
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
"""Values that nobody can change."""


def frozen(case: Case) -> Any:
    """The instance with read-only arrays of its own; itself where it is so already.

    Raises:
        ClaimError: it holds a list, a dictionary, a dataclass that is not frozen, or another value
            that an instance may not be made of.
    """
    if isinstance(case, _PLAIN):
        return case
    if isinstance(case, np.ndarray):
        if case.flags.owndata and not case.flags.writeable:
            return case
        array = np.array(case, subok=True)  # a base that stays writeable elsewhere is left behind
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
        "an instance holds a value of this type",
        value=type(case).__name__,
        remedy="Use numbers, arrays, strings, tuples and frozen dataclasses of these.",
    )


@functools.lru_cache(maxsize=256)
def _fields(record: Any) -> tuple[str, ...]:
    """The names of a record's fields.

    Raises:
        ClaimError: the record is not frozen.
    """
    if not record.__dataclass_params__.frozen:
        raise ClaimError(
            "an instance is a dataclass that can be changed",
            value=record.__name__,
            remedy="Declare it @dataclass(frozen=True).",
        )
    return tuple(field.name for field in dataclasses.fields(record))


def ask(
    claim: str, what: str, function: Callable[..., _Answer], case: Case, **parameters: Any
) -> _Answer:
    """What a function of the claim of that id says of an instance; messages call it `what`.

    Raises:
        ClaimError: it does what no claim may, such as writing into the instance; the message names
            the claim, the line and the remedy. Whatever else the function raises.
    """
    try:
        return function(case, **parameters)
    except Exception as problem:
        told = explained(f"{what} of {claim}", problem)
        if told is None:
            raise
        raise told from problem


def ensure_unchanged(claim: str, what: str, case: Case, document: Json) -> None:
    """Nothing where the instance is still the encoded one.

    Raises:
        ClaimError: it is not, and so the answers to it speak of different instances.
    """
    try:
        same = codec.encode(case) == document
    except ClaimError:  # what was put into it is nothing that an instance may hold
        same = False
    if not same:
        raise ClaimError(f"{what} of {claim} changed its instance", remedy=COPY_FIRST)


def agree(claim: str, one: Slack, other: Slack, *, exactly: bool) -> None:
    """Nothing where two evaluations of one instance came to the same slack.

    Unless they must be equal exactly, as of a copy whose arrays may lie in memory in another order,
    they must be of one kind and equal within their errors.

    Raises:
        ClaimError: they differ.
    """
    if exactly:
        same = (one.value, one.error, one.ratio) == (other.value, other.error, other.ratio)
    else:
        (low, high), (least, most) = one.range, other.range
        same = low <= most and least <= high
    if not same or one.kind != other.kind:
        raise ClaimError(
            f"the conclusion of {claim} came to two different slacks on one instance",
            value=f"{one.value!r} within {one.error!r}, then {other.value!r} within "
            f"{other.error!r}",
            remedy="It must depend on nothing but the instance: seed every random generator.",
        )


def describe(problem: BaseException) -> str:
    """One line on what broke a check, with place and notes where it is not an error of our own."""
    if isinstance(problem, AttsvmError):
        return str(problem)
    last = traceback.extract_tb(problem.__traceback__)[-1]
    name = last.filename.replace("\\", "/").rsplit("/", 1)[-1]
    noted = "".join(f", {note}" for note in getattr(problem, "__notes__", ())[:1])
    return f"{type(problem).__name__}: {problem} ({name}:{last.lineno}){noted}"

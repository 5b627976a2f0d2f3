"""Checks of the arguments of variables; an error names the argument, its value and the remedy."""

import contextlib
import functools
import inspect
import keyword
from abc import ABCMeta
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import ParamSpec, TypeVar

import numpy as np

from attsvm.errors import ClaimError

_P = ParamSpec("_P")
_T = TypeVar("_T")

_LARGEST_POWER = 1000
"""Maximum absolute value of an exponent of a scale, so that floats hold the numbers."""

_LARGEST_INTEGER = 2**53
"""Maximum absolute value of an end of a range; floats hold all integers up to this one."""

_EXAMPLES = {
    "Vector": 'Vector("n")',
    "Labels": 'Labels("n")',
    "Matrix": 'Matrix("n", "k")',
    "Tensor": 'Tensor(("n", "k"))',
    "Real": "Real() or Real(least=0), and the hypothesis lambda m, v: m.at_most(v.x, 4) for an "
    "upper end",
    "Near": 'Near("x")',
    "Integer": "Integer(1, 9)",
    "Choice": 'Choice({"double": lambda m, x: 2 * x})',
    "Defined": "Defined(lambda m, v: m.sum(v.x))",
    "Mapped": 'Mapped(Vector("n"), by=lambda m, x: x * x, says="squares")',
}
_MEANT = {
    "a Real": "; for the interval from 0 to 4, write Real(least=0) and the hypothesis "
    "lambda m, v: m.at_most(v.x, 4)",
    "an array": '; an array with two axes is Matrix("n", "m"), one with three axes is Tensor(("n", '
    '"k", "d")), and a length is a variable of its own, such as n=Integer(3, 3)',
}
"""Remedies for likely misuses of `powers`: as an interval, or as lengths of an array."""


def _other(name: str, problem: str) -> ClaimError:
    """Return the error of a call whose arguments do not fit the signature."""
    example = _EXAMPLES.get(name, f'{name}("n")')
    return ClaimError(
        f"{name} was called with other arguments than it has: {problem}",
        remedy=f"Write for example {example}.",
    )


class Called(ABCMeta):
    """The class of variables: calls with arguments that do not fit raise errors of this package."""

    def __call__(cls, *arguments: object, **named: object) -> object:
        """Return an instance.

        Raises:
            ClaimError: the number or the names of the arguments do not fit.
        """
        try:
            return super().__call__(*arguments, **named)
        except TypeError as error:
            _, call, problem = str(error).partition("__init__() ")
            if not call:
                raise
            raise _other(cls.__name__, problem) from error


def called(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with errors of this package for arguments that do not fit it."""
    start = f"{function.__name__}() "

    @functools.wraps(function)
    def made(*arguments: _P.args, **named: _P.kwargs) -> _T:
        try:
            return function(*arguments, **named)
        except TypeError as error:
            if not str(error).startswith(start):
                raise
            raise _other(function.__name__, str(error).removeprefix(start)) from error

    return made


def is_integer(value: object) -> bool:
    """Return whether a value is an integer, which a truth value is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def ensure_powers(what: str, powers: object) -> None:
    """Raise unless these are exponents of scales; `what` is "a Real" or another variable.

    Raises:
        ClaimError: they are no tuple of moderate integers.
    """
    listed = isinstance(powers, tuple) and powers and all(map(is_integer, powers))
    if not listed:
        raise ClaimError(
            f"the powers of {what}, exponents of its scales, are no tuple of integers",
            value=repr(powers),
            remedy=f"Write powers=(0, 4) for the scales 1 and 16{_MEANT.get(what, '')}.",
        )
    if max(map(abs, powers)) > _LARGEST_POWER:  # type: ignore[call-overload]
        raise ClaimError(
            f"2 to the powers of {what} is too large or too small for floats",
            value=repr(powers),
            remedy=f"Give powers from -{_LARGEST_POWER} to {_LARGEST_POWER}.",
        )


def ensure_least(what: str, least: object) -> None:
    """Raise unless this is a lower end, or None; `what` is "a Real" or "an array".

    Raises:
        ClaimError: it is no integer that floats hold.
    """
    if least is not None and not (is_integer(least) and _is_held(least)):
        raise ClaimError(
            f"the least value of {what} is no integer of at most 2^53",
            value=repr(least),
            remedy="Give an integer, or leave it out and add a hypothesis such as "
            "lambda m, v: m.at_least(v.x, m.exact('0.5')).",
        )


def ensure_axes(names: object) -> None:
    """Raise unless these are names of the axes of an array.

    Raises:
        ClaimError: there is none, or one is no name.
    """
    if not isinstance(names, tuple) or not names:
        raise ClaimError(
            "the axes of an array are no tuple of names",
            value=repr(names),
            remedy='Write Vector("n"), Matrix("n", "k"), Tensor(("n", "k", "d")), or Real().',
        )
    for name in names:
        if isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name):
            continue
        remedy = 'Write "n" in its place.'
        if is_integer(name) and name >= 1:
            remedy = f'Write "n" in its place, and give its length as n=Integer({name}, {name}).'
        raise ClaimError("an axis of an array is no name", value=repr(name), remedy=remedy)


def ensure_entries(levels: object, among: object) -> None:
    """Raise unless `levels` counts different entries and `among` lists entries; both may be None.

    Raises:
        ClaimError: one of them is something else.
    """
    if levels is not None and not (is_integer(levels) and levels >= 1):  # type: ignore[operator]
        raise ClaimError(
            "the levels of an array, its number of different entries, are no positive integer",
            value=repr(levels),
            remedy="Write levels=2, or leave it out.",
        )
    listed = isinstance(among, tuple) and among and all(map(is_integer, among))
    if among is not None and not listed:
        raise ClaimError(
            "`among` of an array is no tuple of integers",
            value=repr(among),
            remedy="Write among=(1, -1), or leave it out.",
        )


def ensure_ends(low: object, high: object, **flags: object) -> None:
    """Raise unless these are the ends of a range of integers, and flags.

    Raises:
        ClaimError: an end is no integer, the range is empty, or a flag is no truth value.
    """
    for end in (low, high):
        if not (is_integer(end) or (end is None and end is high)):
            raise ClaimError(
                "an end of an Integer is no integer",
                value=repr(end),
                remedy="Write Integer(1, 9) for 1 to 9, or Integer(1) without an upper end.",
            )
        if end is not None and not _is_held(end):
            raise ClaimError(
                "an end of an Integer is larger than 2^53, beyond which floats miss integers",
                value=end,
                remedy="Move the range in the formula, as in 10**20 + v.k.",
            )
    if high is not None and high < low:  # type: ignore[operator]
        raise ClaimError(
            "the ends of an Integer are reversed: there is no integer from the first to the second",
            value=f"{low}, {high}",
            remedy=f"Write Integer({high}, {low}).",
        )
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise ClaimError(
                f"{name} of an Integer is neither True nor False",
                value=repr(flag),
                remedy="An Integer has two ends, such as Integer(1, 9).",
            )


def ensure_members(members: object) -> None:
    """Raise unless this is a dictionary of members by their names.

    Raises:
        ClaimError: it is empty or no dictionary, or a name is no string.
    """
    named = isinstance(members, Mapping) and members and all(type(n) is str for n in members)
    if not named:
        raise ClaimError(
            "the members of a Choice are no dictionary with names",
            value=repr(members),
            remedy=f"Write {_EXAMPLES['Choice']}.",
        )


def ensure_function(kind: str, by: object, names: str) -> None:
    """Raise unless this can be called with arguments of these names.

    Raises:
        ClaimError: it cannot.
    """
    if not callable(by):
        raise ClaimError(
            f"a {kind} is not given a function",
            value=repr(by),
            remedy=f"Write {_EXAMPLES.get(kind, 'by=lambda value, known: value')}.",
        )
    ensure_takes(f"the function of a {kind}", by, names)


signature = functools.lru_cache(maxsize=4096)(inspect.signature)
"""Cached `inspect.signature`; all readings and siblings of a statement use it."""


def ensure_takes(
    whose: str, function: Callable[..., object], names: str, *, more: bool = False
) -> None:
    """Raise unless the function accepts these arguments, and with `more` constants after them.

    Raises:
        ClaimError: it takes others, or m and v in the other order.
    """
    count = len(names.split(", "))
    takes = "a value that cannot be called"
    backwards = False
    if isinstance(function, FunctionType):  # the usual case; reading a signature is slow
        code = function.__code__
        backwards = names == "m, v" and code.co_varnames[:2] == ("v", "m")
        exact = code.co_argcount == count and not code.co_kwonlyargcount
        if not backwards and (exact or (more and code.co_argcount > count)):
            return
    with contextlib.suppress(TypeError, ValueError):  # not callable, or in C without a signature
        result = signature(function)
        takes = f"arguments {result}"
        values = [None] * count
        (result.bind_partial if more else result.bind)(*values)
        if not backwards:
            return
    if callable(function) and takes == "a value that cannot be called":
        return
    raise ClaimError(
        f"{whose} does not take ({names})",
        value=takes,
        remedy=f"Write it as a function of ({names}{', and of constants' if more else ''}).",
    )


def ensure_made_from(kind: str, of: object, domain: type) -> None:
    """Raise unless this is a variable.

    Raises:
        ClaimError: it is not.
    """
    if not isinstance(of, domain):
        raise ClaimError(
            f"a {kind} is not made from a variable",
            value=repr(of),
            remedy='Give a variable, such as Vector("n").',
        )


def ensure_other(name: object) -> None:
    """Raise unless this is text, as the name of the point that a `Near` is near to.

    Raises:
        ClaimError: it is no text.
    """
    if not isinstance(name, str):
        raise ClaimError(
            "the first argument of a Near is no name of a variable",
            value=repr(name),
            remedy='Write x=Vector("n"), y=Near("x").',
        )


def _is_held(value: object) -> bool:
    return bool(abs(value) <= _LARGEST_INTEGER)  # type: ignore[arg-type]

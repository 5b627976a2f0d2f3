"""Calls of a claim's code on an instance, and the rehearsal of its formulas before a check.

A refutation is valid only if hypotheses, conclusion and certificate all refer to one instance. The
arrays of the instance are therefore made read-only. To detect changes that bypass this, the encoded
instance is compared before and after each call.

The rehearsal runs the formulas of a claim once in floats and in balls. Each arithmetic rejects
mistakes that the other accepts, such as an `if` on a value. The rehearsal reports a mistake at
once, in one sentence and with its line.
"""

import contextlib
import copy
import dataclasses
import functools
import inspect
import linecache
import operator
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Case, Json
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.arithmetic import BALLS, FLOATS, Arithmetic
from attsvm.theory.arithmetic.entries import COPY_FIRST, READ_ONLY, Values
from attsvm.theory.arithmetic.heights import heights
from attsvm.theory.arithmetic.namespace import Namespace, returned
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, domains
from attsvm.theory.declaration.metering import TooLong, evaluate
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.variables import Defined
from attsvm.theory.instance import codec
from attsvm.theory.packs.code_bases import is_of_an_author

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
        error = explained(f"{what} of {claim}", problem, function)
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


def in_words(case: Case) -> str:
    """Return an instance as text; the module that writes it is imported here, on first use."""
    from attsvm.theory.instance import in_words

    return in_words.in_words(case, {})


def describe(problem: BaseException) -> str:
    """Return an exception as one line; one that is not attsvm's gets its file, line and note."""
    if isinstance(problem, AttsvmError):
        return str(problem)
    last = traceback.extract_tb(problem.__traceback__)[-1]
    name = last.filename.replace("\\", "/").rsplit("/", 1)[-1]
    noted = "".join(f", {note}" for note in getattr(problem, "__notes__", ())[:1])
    return f"{type(problem).__name__}: {problem} ({name}:{last.lineno}){noted}"


_TRIES = 32
"""Number of random instances on which a variable must stay unread to be reported as unused."""


def rehearse(id: str, formula: Formula, parameters: Mapping[str, object]) -> None:
    """Raise unless the formulas can be evaluated on an instance.

    Raises:
        ClaimError: one of them cannot; the message has its name, its line and the remedy.
    """
    lengths = {name: formula.variables[name] for name in formula.axes}
    shape = {name: max(a.low, min(a.drawn_to, 2)) for name, a in lengths.items()}  # type: ignore[attr-defined]
    _run(id, formula, parameters, np.random.default_rng(0), shape)
    _judge(id, formula, parameters, shape)


def _judge(
    id: str, formula: Formula, parameters: Mapping[str, object], shape: Mapping[str, int]
) -> None:
    """Evaluate the formulas in balls, on the instance that floats were tried on."""
    with contextlib.suppress(ZeroDivisionError), np.errstate(all="ignore"):  # floats divide by 0
        case = batches.instance_at(
            formula, batches.filled(formula, np.random.default_rng(0), shape, 1), 0
        )
        v = formula.exact(case)
        for name, condition in formula.hypotheses.items():
            with _explaining(f"hypothesis {name!r} of {id}", condition.holds, ZeroDivisionError):
                returned(evaluate(condition.holds, BALLS, v), "a formula")
        with _explaining(f"the conclusion of {id}", formula.conclusion, ZeroDivisionError):
            formula.relation(BALLS, v, parameters)


def unread(formula: Formula, parameters: Mapping[str, object]) -> list[str]:
    """Return the variables that neither hypotheses nor conclusion use.

    An array uses the lengths of its axes. The hypothesis that a variable lies in its domain does
    not count as a use.
    """
    generator = np.random.default_rng(0)
    left = [name for name in formula.variables if name not in formula.axes]
    own = domains(formula.variables)
    unguarded = replace(
        formula, hypotheses={k: h for k, h in formula.hypotheses.items() if k not in own}
    )
    for _ in range(_TRIES):
        shape = {n: int(formula.variables[n].fill(generator, {}, 1)) for n in formula.axes}
        with contextlib.suppress(Exception, TooLong):  # rehearsal and check report the error
            seen = _run("", unguarded, parameters, generator, shape)
            left = [name for name in left if name not in seen]
        if not left:
            break
    return left


def _run(
    id: str,
    formula: Formula,
    parameters: Mapping[str, object],
    generator: np.random.Generator,
    shape: Mapping[str, int],
) -> set[str]:
    """Evaluate the formulas on one random instance in floats; return the variables they read."""
    with np.errstate(all="ignore"):
        free = {n: x for n, x in formula.variables.items() if not isinstance(x, Defined)}
        raw = batches.filled(formula, generator, shape, 1)
        values = batches.floats(replace(formula, variables=free), raw, shape)
        v = _Watched(values)
        used: dict[str, set[str]] = {}  # for each defined variable, the variables in its definition
        for name, variable in formula.variables.items():
            if isinstance(variable, Defined):
                with _explaining(f"the variable {name} of {id}", variable.by):
                    v._put(name, evaluate(variable.by, FLOATS, v))
                used[name] = v._forget()
        for name, condition in formula.hypotheses.items():
            with _explaining(f"hypothesis {name!r} of {id}", condition.holds):
                heights(np, returned(evaluate(condition.holds, FLOATS, v), "a formula"))
        with _explaining(f"the conclusion of {id}", formula.conclusion):
            heights(np, formula.relation(FLOATS, v, parameters))
    seen = v._forget()
    for name in reversed(used):
        seen |= used[name] if name in seen else set()
    return seen


class _Watched(FrozenValues):
    """Values that record which of them are read."""

    def __init__(self, values: Values) -> None:
        super().__init__(**vars(values), _read=set())

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "__dict__":  # access to the whole dictionary reads every variable
            value["_read"].update(value)
        elif not name.startswith("_"):
            self._read.add(name)
        return value

    def _put(self, name: str, value: object) -> None:
        """Define one more variable."""
        super().__getattribute__("__dict__")[name] = value

    def _forget(self) -> set[str]:
        """Return the names read since the previous call."""
        read: set[str] = set(self._read)
        self._read.clear()
        return read


@contextlib.contextmanager
def _explaining(whose: str, function: object, *passing: type[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(error, passing):
            raise
        explanation = explained(whose, error, function)
        if explanation is not None:
            raise explanation from error
        if isinstance(error, ClaimError):
            raise ClaimError(
                f"{whose}{_line(error)} meets an error: {error.cause}",
                value=error.value,
                remedy=error.remedy,
            ) from error
        if isinstance(error, IndexError):
            raise ClaimError(
                f"{whose}{_line(error)} reads an entry that an array does not have: {error}",
                remedy="Limit the length, as by n=Integer(6) for x[5]; or x[-1].",
            ) from error
        # any other exception, such as an attribute that a value of v lacks
        if not isinstance(error, AttsvmError):
            raise ClaimError(
                f"{whose}{_line(error)} raised {type(error).__name__}: {error}",
                remedy="Use the functions of m, and + - * / @, on the values of v alone.",
            ) from error


def explained(whose: str, error: Exception, function: object = None) -> ClaimError | None:
    """Return an error that explains an author's mistake; None if it is no known mistake.

    The messages begin with `whose`, such as "the conclusion of mine/a:literal". If no line of the
    author raised the error, they name the first line of the function.
    """
    at = f"{whose}{_line(error) or _first_line(function)}"
    if isinstance(error, ClaimError):
        does = re.sub("^a (formula|conclusion|hypothesis) ", "", error.cause)
        if does == error.cause:
            return None  # the message names the function already
        return ClaimError(f"{at} {does}", value=error.value, remedy=error.remedy)
    if isinstance(error, TypeError) and "** or pow()" in str(error):
        return ClaimError(
            f"{at} raises a number to a power that is computed",
            remedy="Let the exponent be a variable such as k=Integer(1), or use m.sqrt or m.exp.",
        )
    call = _call(error) if isinstance(error, TypeError) else None
    if call is not None:
        text, name = call
        problem = str(error).rpartition("() ")[2]
        return ClaimError(f"{at} calls {text}: {problem}", remedy=usage(name))
    written = isinstance(error, ValueError) and "read-only" in str(error)
    if written or isinstance(error, FrozenInstanceError):
        return ClaimError(f"{at} {READ_ONLY}", remedy=COPY_FIRST)
    if isinstance(error, TypeError) and "callable" in str(error) and "method" in str(error):
        return ClaimError(
            f"{at} calls a function of another library: {error}",
            remedy="Use the functions of m, such as m.exp.",
        )
    if isinstance(error, AttributeError) and isinstance(error.obj, FrozenValues):
        return ClaimError(
            f"{at} uses a variable that the statement does not have",
            value=error.name,
            remedy=f"It has {', '.join(n for n in vars(error.obj) if n != '_read')}.",
        )
    if isinstance(error, AttributeError) and isinstance(error.obj, Arithmetic):
        from attsvm.theory.arithmetic.synonyms import remedy_for

        known = [name for name in dir(Arithmetic) if not name.startswith("_")]
        return ClaimError(
            f"{at} uses a function that the namespace m does not have",
            value=error.name,
            remedy=remedy_for(str(error.name), known),
        )
    return None


def _call(error: BaseException) -> tuple[str, str] | None:
    """Return the author's call of a function of m that raised the error, and the function's name.

    None if the author's code stands in several lines, calls something else, or is not known.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not is_of_an_author(Path(frame.filename)):
            continue
        if frame.lineno != frame.end_lineno or frame.line is None:
            return None
        raw = linecache.getline(frame.filename, frame.lineno or 0).encode()
        text = raw[frame.colno : frame.end_colno].decode(errors="replace")
        called = re.match(r"m\.(\w+)\(", text)
        known = called is not None and hasattr(Arithmetic, called[1])
        return (text, called[1]) if called is not None and known else None
    return None


def usage(name: str) -> str:
    """Return how to call a function of the namespace m, with the first line of its docstring."""
    function = getattr(Namespace, name, None) or getattr(Arithmetic, name)
    arguments = [*inspect.signature(function).parameters][1:]
    says = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"Write m.{name}({', '.join(arguments)}): {says}"


def _line(error: BaseException) -> str:
    """Return file and line of the author's code that raised the error or its cause."""
    files = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    theirs = [at for at in files if is_of_an_author(Path(at[0]))]
    if not theirs:
        return "" if error.__cause__ is None else _line(error.__cause__)
    return f" ({Path(theirs[-1][0]).name}, line {theirs[-1][1]})"


def _first_line(function: object) -> str:
    """Return file and first line of an author's function; "" if they are not known."""
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    if code is None or not is_of_an_author(Path(code.co_filename)):
        return ""
    return f" ({Path(code.co_filename).name}, line {code.co_firstlineno})"

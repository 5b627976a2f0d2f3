"""A rehearsal: run the formulas of a claim once in floats and in balls before its check begins.

Each arithmetic rejects mistakes that the other accepts, such as an `if` on a value. The rehearsal
reports a mistake at once, in one sentence and with its line.
"""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np

from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.arithmetic import BALLS, FLOATS, Arithmetic
from attsvm.theory.arithmetic.entries import COPY_FIRST, READ_ONLY, Values
from attsvm.theory.arithmetic.heights import heights
from attsvm.theory.arithmetic.relations import returned
from attsvm.theory.arithmetic.synonyms import remedy_for
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, domains
from attsvm.theory.declaration.metering import TooLong, evaluate
from attsvm.theory.declaration.variables import Defined
from attsvm.theory.packs.code_bases import is_installed

_ENGINE = Path(__file__).parents[2]

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
            with _explaining(f"hypothesis {name!r} of {id}", ZeroDivisionError):
                returned(evaluate(condition.holds, BALLS, v), "a formula")
        with _explaining(f"the conclusion of {id}", ZeroDivisionError):
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
                with _explaining(f"the variable {name} of {id}"):
                    v._put(name, evaluate(variable.by, FLOATS, v))
                used[name] = v._forget()
        for name, condition in formula.hypotheses.items():
            with _explaining(f"hypothesis {name!r} of {id}"):
                heights(np, returned(evaluate(condition.holds, FLOATS, v), "a formula"))
        with _explaining(f"the conclusion of {id}"):
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
def _explaining(whose: str, *passing: type[Exception]) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(error, passing):
            raise
        explanation = explained(whose, error)
        if explanation is not None:
            raise explanation from error
        if isinstance(error, ClaimError):
            raise ClaimError(
                f"{whose}{_line(error)} meets an error: {error.cause}",
                value=error.value,
                remedy=error.remedy,
            ) from error
        # any other exception, such as an attribute that a value of v lacks
        if not isinstance(error, AttsvmError):
            raise ClaimError(
                f"{whose}{_line(error)} raised {type(error).__name__}: {error}",
                remedy="Use the functions of m, and + - * / @, on the values of v alone.",
            ) from error


def explained(whose: str, error: Exception) -> ClaimError | None:
    """Return an error that explains an author's mistake; None if it is no known mistake.

    The messages begin with `whose`, such as "the conclusion of mine/a:literal".
    """
    at = f"{whose}{_line(error)}"
    if isinstance(error, ClaimError):
        does = re.sub("^a (formula|conclusion|hypothesis) ", "", error.cause)
        if does == error.cause:
            return None  # the message names the function already
        return ClaimError(f"{at} {does}", value=error.value, remedy=error.remedy)
    written = isinstance(error, ValueError) and "read-only" in str(error)
    if written or isinstance(error, FrozenInstanceError):
        return ClaimError(f"{at} {READ_ONLY}", remedy=COPY_FIRST)
    if isinstance(error, AttributeError) and isinstance(error.obj, FrozenValues):
        return ClaimError(
            f"{at} uses a variable that the statement does not have",
            value=error.name,
            remedy=f"It has {', '.join(n for n in vars(error.obj) if n != '_read')}.",
        )
    if isinstance(error, AttributeError) and isinstance(error.obj, Arithmetic):
        known = [name for name in dir(Arithmetic) if not name.startswith("_")]
        return ClaimError(
            f"{at} uses a function that the namespace m does not have",
            value=error.name,
            remedy=remedy_for(str(error.name), known),
        )
    return None


def _line(error: BaseException) -> str:
    """Return file and line of the author's code that raised the error or its cause."""
    files = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    theirs = [at for at in files if _is_of_an_author(Path(at[0]))]
    if not theirs:
        return "" if error.__cause__ is None else _line(error.__cause__)
    return f" ({Path(theirs[-1][0]).name}, line {theirs[-1][1]})"


def _is_of_an_author(file: Path) -> bool:
    """Return whether a file is neither the engine's nor a library's: then an author wrote it."""
    return file.is_file() and not file.is_relative_to(_ENGINE) and not is_installed(file.parent)

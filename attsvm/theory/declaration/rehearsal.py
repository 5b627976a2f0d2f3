"""A rehearsal: the formulas of a claim run once in floats and in balls before its check begins.

Floats refuse what the judge's rationals and balls would let through, such as an `if`, and the other
way round, so that a mistake is told at once, in one sentence and with its line.
"""

from __future__ import annotations

import contextlib
import re
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import attsvm
from attsvm.errors import AttsvmError, ClaimError
from attsvm.theory.arithmetic import BALLS, FLOATS, Arithmetic
from attsvm.theory.arithmetic.heights import heights
from attsvm.theory.arithmetic.relations import Relation, returned
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.variables import Defined

_NOT_THEIRS = (
    str(Path(attsvm.__file__).parent),
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
)
"""Where files lie that no author of a claim has written."""


def rehearse(id: str, formula: Formula, parameters: Mapping[str, Any]) -> None:
    """Nothing, where the formulas can be evaluated on an instance.

    Raises:
        ClaimError: one of them cannot, with its name, its line, and the remedy.
    """
    generator = np.random.default_rng(0)
    lengths = {name: formula.variables[name] for name in formula.axes}
    shape = {name: max(a.low, min(a.drawn_to, 2)) for name, a in lengths.items()}  # type: ignore[attr-defined]
    with np.errstate(all="ignore"):
        free = {n: x for n, x in formula.variables.items() if not isinstance(x, Defined)}
        plain, raw = replace(formula, variables=free), formula.filled(generator, shape, 1)
        case = plain.instance_at(raw, 0)
        for m, v in ((FLOATS, plain.floats(raw, shape)), (BALLS, plain.exact(case))):
            for name, variable in formula.variables.items():
                if isinstance(variable, Defined):
                    with _told(f"the variable {name} of {id}", formula, m):
                        setattr(v, name, variable.by(m, v))
            for name, condition in formula.hypotheses.items():
                with _told(f"hypothesis {name!r} of {id}", formula, m):
                    _compared(m, returned(condition(m, v), "a formula"))
            with _told(f"the conclusion of {id}", formula, m):
                _compared(m, formula.relation(m, v, parameters))


def _compared(m: Arithmetic, relation: Relation) -> None:
    """Nothing, where the sides of a relation can be compared."""
    if m is FLOATS:
        heights(np, relation)


@contextlib.contextmanager
def _told(whose: str, formula: Formula, m: Arithmetic) -> Iterator[None]:
    try:
        yield
    except ClaimError as error:
        does = re.sub("^a (formula|conclusion) ", "", error.cause)
        does = does if does != error.cause else f"meets an error: {does}"
        raise ClaimError(
            f"{whose}{_line(error)} {does}", value=error.value, remedy=error.remedy
        ) from error
    except AttsvmError:  # a value that this instance does not have
        return
    except AttributeError as error:
        if type(error.obj).__name__ != "SimpleNamespace":
            raise _raised(whose, error) from error
        raise ClaimError(
            f"{whose}{_line(error)} uses a variable that the statement does not have",
            value=error.name,
            remedy=f"It has {', '.join(formula.variables)}.",
        ) from error
    except Exception as error:
        if m is BALLS and isinstance(error, ZeroDivisionError):  # floats divide by 0
            return
        raise _raised(whose, error) from error


def _raised(whose: str, error: Exception) -> ClaimError:
    return ClaimError(
        f"{whose}{_line(error)} raised {type(error).__name__}: {error}",
        remedy="Use the functions of m, and + - * / @, on the values of v alone.",
    )


def _line(error: Exception) -> str:
    """Where the author's code was when it went wrong."""
    files = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    theirs = [at for at in files if not at[0].startswith(_NOT_THEIRS) and Path(at[0]).is_file()]
    return f" ({Path(theirs[-1][0]).name}, line {theirs[-1][1]})" if theirs else ""

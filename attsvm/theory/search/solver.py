"""The solver: z3 looks for a counterexample of a polynomial claim, one shape at a time.

A model is a proposal: its numbers are rounded to few binary digits, or taken as rationals, and the
judge decides. If z3 finds that a shape has no counterexample, the account says so with its version
and its assumptions. This does not count as a proof, and does not end a hunt.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import z3

from attsvm._types import Case
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.entries import Entries, Values
from attsvm.theory.arithmetic.namespace import returned
from attsvm.theory.arithmetic.polynomials import DegreeError, Polynomials, Unknown
from attsvm.theory.declaration.instances import FrozenValues, defined
from attsvm.theory.declaration.judge import violates_at_once
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.variables import Choice, Defined, Integer, Tensor, Variable
from attsvm.theory.search.squares import is_proved

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_LENGTHS, _SHAPES = 3, 4
"""Number of lengths of each axis that are tried, and maximum number of shapes."""

_WORK = 2_000_000
"""Maximum work for each shape in z3's own units, about one second. Unlike a time limit, it gives
the same answer on all machines."""

_MILLISECONDS = 2000
"""Time limit of z3 for each shape, for work that it does not count."""

_UNITS = (*(Fraction(1, 2**k) for k in (0, 1, 2, 4, 8, 16, 32)), None)
"""Units to which the numbers of a model are rounded; None for the model itself."""

Numbers = Fraction | np.ndarray
"""The value of a letter in a model: a number, or an array of them."""

ASSUMED = "if all quotients and roots are defined"


def solver(scout: Scout, generator: np.random.Generator) -> None:
    """Propose the models that z3 finds; its first turn asks about all shapes."""
    scout.idle = True
    if scout.wide or scout.once:
        return
    formula, parameters = scout.tally.part.formula, scout.tally.part.parameters
    version = f"z3 {z3.get_version_string()} (nlsat)"
    empty: list[str] = []
    proved: list[str] = []
    notes: list[str] = []
    for shape in _shapes(formula):
        scout.ensure_time()
        try:
            model = _solved(formula, parameters, shape)
        except DegreeError as reason:
            notes.append(f"{version} was not asked about {reason.cause}")
            break
        except Exception:  # no polynomial, or a formula that raises at a size beyond the drawn ones
            break
        where = ", ".join(f"{n} = {k}" for n, k in shape.items()) or "all values"
        if not model and is_proved(formula, parameters, shape):
            proved.append(where)
        if model is None:
            empty.append(where)
            continue
        for case in _cases(formula, model):
            if violates_at_once(formula, parameters, case, counts=False):
                scout.look(case, overdraw=True)
        if model and not notes:
            notes.append(f"{version} proposes irrational or huge numbers for {where}: unconfirmed")
    if empty:
        notes.append(f"decided by {version} for {'; '.join(empty)}, {ASSUMED}")
    if proved:
        notes.append(f"proved by sums of squares in rationals for {'; '.join(proved)}, {ASSUMED}")
    scout.tally.seen.solver_note = "; ".join(notes)


def _shapes(formula: Formula) -> Iterator[dict[str, int]]:
    """Yield small lengths of the axes, the smallest shapes first."""
    names = formula.axes
    lows = [int(formula.variables[name].ends[0] or 1) for name in names]
    offsets = itertools.product(range(_LENGTHS), repeat=len(names))
    ranked = sorted(offsets, key=lambda each: math.prod(k + 1 for k in each))
    shapes = (
        {name: low + k for name, low, k in zip(names, lows, each, strict=True)} for each in ranked
    )
    allowed = (one for one in shapes if all(_allows(formula.variables[n], one[n]) for n in names))
    yield from itertools.islice(allowed, _SHAPES)


def _allows(axis: Variable, length: int) -> bool:
    """Return whether a question allows this length of an axis."""
    closed = isinstance(axis, Integer) and axis.closed
    return not closed or length <= int(axis.ends[1] or length)


def _solved(
    formula: Formula, parameters: Mapping[str, object], shape: Mapping[str, int]
) -> dict[str, Numbers] | None:
    """Return a model as numbers by name, {} if z3 gave up, None if there is no counterexample."""
    m = Polynomials()
    v: Values = FrozenValues(**shape)
    known, limits = {}, []
    for name, variable in formula.variables.items():
        if name in shape or isinstance(variable, Defined):
            continue
        if isinstance(variable, Choice):
            raise ClaimError("a family has no polynomial condition")
        lengths = tuple(shape[axis] for axis in variable.axes)
        known[name] = m.letters(name, lengths, integer=isinstance(variable, Integer))
        if isinstance(variable, Tensor) and variable.among is not None:
            limits += [z3.Or(*(x.term == k for k in variable.among)) for x in known[name].ravel()]
    v = defined(formula.variables, m, FrozenValues(**shape, **known))
    problem = [
        m.condition(returned(evaluate(one.holds, m, v), "a hypothesis"))
        for one in formula.hypotheses.values()
    ]
    problem.append(z3.Not(m.condition(formula.relation(m, v, parameters))))
    real = not any(isinstance(x, Integer) for n, x in formula.variables.items() if n not in shape)
    solver = _TACTIC.solver() if real else z3.Solver()
    solver.set("rlimit", _WORK)
    solver.set("timeout", _MILLISECONDS)
    solver.add(*problem, *m.sides, *limits)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        return {}
    model = solver.model()
    return {name: _numbers(model, value) for name, value in known.items()}


_TACTIC = z3.Then(
    *("simplify", "purify-arith", "propagate-values", "solve-eqs", "elim-term-ite", "tseitin-cnf"),
    "qfnra-nlsat",
)


def _numbers(model: z3.ModelRef, value: Unknown | Entries) -> Numbers:
    """Return a number of a model, or an array of numbers, as fractions near to it."""
    if isinstance(value, Entries):
        plain = value.view(np.ndarray)
        return np.array([_numbers(model, x) for x in plain.ravel()], dtype=object).reshape(
            plain.shape
        )
    number = z3.simplify(model.eval(value.term, model_completion=True))
    if z3.is_algebraic_value(number):
        number = number.approx(20)
    return Fraction(number.as_fraction())


def _cases(formula: Formula, model: Mapping[str, Numbers]) -> Iterator[Case]:
    """Yield instances near a model, with more and more binary digits, and the model itself."""
    for unit in _UNITS if model else ():

        def near(x: Fraction, unit: Fraction | None = unit) -> Fraction:
            return x if unit is None else round(x / unit) * unit

        values = {
            name: np.frompyfunc(near, 1, 1)(value) if isinstance(value, np.ndarray) else near(value)
            for name, value in model.items()
        }
        try:
            yield formula.build(**{name: _plain(x) for name, x in values.items()})
        except ClaimError:  # a number is larger than all floats
            continue


def _plain(value: Numbers) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return int(value) if value.denominator == 1 else value

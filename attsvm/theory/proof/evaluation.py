"""Evaluation of facts of linked proofs in floats on a model; a false fact shows a fault.

A model gives values to the letters of a reading, such as those of a run of descent. A fact that is
false in a model shows a false hypothesis, a false lemma, a false setting or a fault of the core.
No proof depends on these evaluations: they test the core.

"In the end P(k)" cannot be refuted by finitely many steps. It counts as confirmed if P holds at
the last steps of the model, and as open otherwise.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from attsvm._types import Case
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import shape_of
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.proof.facts import Fact, K, Proof, Proposition
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INNER,
    INV,
    IS_ZERO,
    LOG,
    NORM,
    POSITIVE,
    REAL,
    SQRT,
    STEP,
    VECTOR,
    App,
    Atom,
    Binder,
    Bound,
    Function,
    Letter,
    Sort,
    Term,
)

Value: TypeAlias = Any
"""A value in a model: a number, a vector of numpy, or an element of an index set."""

_KNOWN: dict[Function, Callable[..., Value]] = {
    INV: lambda x: 1 / x if x else 0.0,
    EXP: np.exp,
    ABS: abs,
    LOG: math.log,
    IS_ZERO: lambda x: float(x == 0),
    SQRT: lambda x: math.sqrt(max(x, 0.0)),
    NORM: lambda v: math.sqrt(v @ v),
    INNER: lambda u, v: u @ v,
}
_BINDS: dict[str, Callable[..., Value]] = {
    "total": sum,
    "least": min,
    "most": max,
    "row": np.array,
    "spectral": lambda rows: np.linalg.norm(np.array(rows), 2),
}


@dataclass(frozen=True, slots=True)
class Model:
    """Values of the letters of a reading.

    Attributes:
        functions: the value of each function of the reading, and of names that lemmas made.
        sets: the elements of each index set.
        steps: the number of steps of its sequences.
        samples: values to try for letters of a sort: reals, positive numbers and vectors.
        letters: values to try for letters of a name, in place of those of the sort.
        tolerance: the rounding error of a term, relative to the sizes of its monomials.
    """

    functions: Mapping[Function | str, Callable[..., Value]]
    sets: Mapping[Sort, Sequence[Value]]
    steps: int
    samples: Mapping[Sort, Sequence[Value]]
    letters: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    tolerance: float = 1e-7


def instance_model(formula: Formula, case: Case) -> Model:
    """Return an instance of a formula over variables as a model of its letters.

    Raises:
        AttributeError: the instance is of another formula.
    """
    functions: dict[Function | str, Callable[..., Value]] = {}
    sets: dict[Sort, Sequence[Value]] = {}
    for name, size in shape_of(formula.variables, case).items():
        sort = Sort(name, index=True)
        sets[sort] = range(size)
        functions[Function("first", (), sort)] = lambda: 0
        functions[Function("position", (sort,))] = lambda place: place
    for name, one in formula.variables.items():
        if one.stored is None or isinstance(one, Integer):
            continue
        value = getattr(case, name)
        if isinstance(one, Choice):
            functions[Function(name, (REAL,))] = _loss(one.members[value])
        else:
            sorts = tuple(Sort(axis, index=True) for axis in one.axes)
            functions[Function(name, sorts)] = functools.partial(_entry, np.asarray(value, float))
    samples = [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]
    return Model(functions, sets, 2, {REAL: samples})


def _entry(array: Value, *at: int) -> float:
    return float(array[at])


def _loss(member: Value) -> Callable[[float], float]:
    def value(u: float) -> float:
        return float(arb(member.value(BALLS, BALLS.values(u))).mid())

    return value


@dataclass(slots=True)
class Tally:
    """Results of an evaluation.

    Attributes:
        confirmed: the facts that held at some values at which their assumptions hold.
        open: facts on the end that do not hold yet at the last steps.
        untried: facts whose assumptions held at no tried values.
        false: facts with values at which they are false.
    """

    confirmed: list[Fact] = field(default_factory=list)
    open: list[Fact] = field(default_factory=list)
    untried: list[Fact] = field(default_factory=list)
    false: list[tuple[Fact, dict[Letter, Value]]] = field(default_factory=list)


class _Values:
    """The values of terms in a model, for the names of one proof."""

    def __init__(self, model: Model, whole: Proof) -> None:
        self.model = model
        self.meanings = {f: (letters, term) for f, letters, term in whole.origins.values()}
        self.sums = {f for kind, (f, _, _) in whole.origins.items() if kind[0] == "sum"}
        self.picks = {f for kind, (f, _, _) in whole.origins.items() if kind[0] == "pick"}
        self.known: dict[object, Value] = {}

    def term(self, term: Term, values: Mapping[Atom, Value]) -> tuple[Value, Value]:
        """Return the value of a term, and the sum of the sizes of its monomials."""
        whole, size = 0.0, 0.0
        for monomial, coefficient in term.parts.items():
            product: Value = int(coefficient.p) / int(coefficient.q)
            for atom, exponent in monomial:
                product = product * self.atom(atom, values) ** exponent
            whole, size = whole + product, size + np.abs(product)
        return whole, size

    def element(self, term: Term, values: Mapping[Atom, Value], sort: Sort) -> Value:
        """Return the value of an argument: a number, a vector, a step or an element."""
        if sort.index:
            return self.atom(next(iter(term.atoms)), values)
        value = self.term(term, values)[0]
        return round(value) if sort == STEP else value

    def atom(self, atom: Atom, values: Mapping[Atom, Value]) -> Value:
        """Return the value of an atom.

        Raises:
            TypeError: the atom is of an unknown kind.
        """
        if isinstance(atom, Letter | Bound):
            return values[atom]
        if isinstance(atom, Binder):
            results = [
                self.term(atom.body, {**values, atom.index: e})[0] for e in self.run(atom, values)
            ]
            return _BINDS[atom.kind](results) if results else 0.0
        if not isinstance(atom, App):
            raise TypeError(atom)
        function = atom.function
        arguments = tuple(
            self.element(x, values, sort)
            for x, sort in zip(atom.inside, function.takes, strict=True)
        )
        return self.value(function, arguments)

    def run(self, atom: Binder, values: Mapping[Atom, Value]) -> Iterator[Value]:
        """Yield the elements that an index runs over."""
        for element in self.model.sets[atom.index.sort]:
            over = atom.over
            if over is None or self.value(over.owner, (element,)) == self.element(
                over.of, values, over.owner.gives
            ):
                yield element

    def value(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        """Return the value of a function; cached if all arguments are numbers."""
        key = None
        if all(isinstance(x, int | float | np.floating) for x in arguments):
            key = (function, arguments)
            if key in self.known:
                return self.known[key]
        result = self.computed(function, arguments)
        if key is not None:
            self.known[key] = result
        return result

    def computed(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        """Return the value of a function of the model, of the core, or of the proof."""
        inputs = self.model.functions
        for key in (function, function.name):
            if key in inputs and (key is function or function.mark):
                return inputs[key](*arguments)
        if function in _KNOWN:
            return _KNOWN[function](*arguments)
        if function not in self.meanings:
            return 1.0  # a proposition that only lemmas read, such as continuity: assumed true
        letters, term = self.meanings[function]
        values: dict[Atom, Value] = dict(zip(letters, arguments, strict=True))
        if function in self.sums:
            steps = range(arguments[-1])
            return float(sum(self.term(term, {**values, K: k})[0] for k in steps))
        if function in self.picks:
            (atom,) = (one for one in term.atoms if isinstance(one, Binder))
            best = min if atom.kind == "least" else max
            return best(
                self.run(atom, values),
                key=lambda e: self.term(atom.body, {**values, atom.index: e})[0],
            )
        return self.term(term, values)[0]

    def holds(self, proposition: Proposition, values: Mapping[Atom, Value]) -> bool:
        """Return whether a proposition holds up to rounding; NaN does not, and 0 is not above 0."""
        value, size = self.term(proposition.term, values)
        error = self.model.tolerance * size
        if proposition.relation == "==":
            return bool(abs(value) <= error)
        return bool(value >= -error) and (proposition.relation == ">=" or bool(size > 0))


def evaluated(whole: Proof, model: Model, tries: int = 24, seed: int = 0) -> Tally:
    """Return which facts of a proof hold in a model, at drawn values of their letters.

    Args:
        whole: the proof.
        model: the model.
        tries: maximum number of values of the letters that are tried for each fact.
        seed: the seed of the generator that draws the values.
    """
    generator, tally, values = np.random.default_rng(seed), Tally(), _Values(model, whole)
    last = range(model.steps - 3, model.steps - 1)
    for fact in whole.facts:
        text, seen, failed, late = fact.proposition, False, None, False
        for drawn in _draws(fact, model, tries, generator):
            if not all(_assumed(values, a, drawn) for a in fact.assumptions):
                continue
            seen = True
            if text.eventually:
                late = late or not all(values.holds(text, {**drawn, K: k}) for k in last)
            elif not values.holds(text, drawn):
                failed = dict(drawn)
                break
        if failed is not None:
            tally.false.append((fact, failed))  # type: ignore[arg-type]
        else:
            (tally.open if late else tally.confirmed if seen else tally.untried).append(fact)
    return tally


def _assumed(values: _Values, assumption: Proposition, drawn: Mapping[Atom, Value]) -> bool:
    """Return whether an assumption holds by more than rounding, or is an exact value >= 0."""
    value, size = values.term(assumption.term, drawn)
    if assumption.relation == "==":
        return bool(value == 0)
    return bool(
        value > values.model.tolerance * size or (value >= 0 and assumption.relation == ">=")
    )


def _draws(
    fact: Fact, model: Model, tries: int, generator: np.random.Generator
) -> Iterator[dict[Atom, Value]]:
    """Yield values of the letters of a fact: all of them if there are few."""
    letters = sorted(fact.letters, key=lambda letter: (letter.name, letter.sort.name))
    choices = [_choices(letter, model) for letter in letters]
    if math.prod(map(len, choices)) <= tries:
        for one in itertools.product(*choices):
            yield dict(zip(letters, one, strict=True))
        return
    for _ in range(tries):
        yield {x: c[int(generator.integers(len(c)))] for x, c in zip(letters, choices, strict=True)}


def _choices(letter: Letter, model: Model) -> Sequence[Value]:
    if letter.name in model.letters:
        return model.letters[letter.name]
    if letter.sort.index:
        return model.sets[letter.sort]
    if letter.sort == STEP:
        return range(model.steps - 1)
    return model.samples[letter.sort if letter.sort in (POSITIVE, VECTOR) else REAL]

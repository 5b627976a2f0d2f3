"""Evaluation of facts of linked proofs in floats on a model; a false fact shows a fault.

A model gives values to the letters of a reading, such as those of a run of descent. A fact that is
false in a model shows a false hypothesis, a false lemma, a false setting or a fault of the core.
No proof depends on these evaluations: they test the core.

"In the end P(k)" cannot be refuted by finitely many steps. It counts as confirmed if P holds at
the last steps of the model, and as open otherwise.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import mpmath
import numpy as np
from flint import arb
from scipy.optimize import nnls

from attsvm._types import Case
from attsvm.primitives.heads import Activation, bend_of, slope_of
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.derivatives import gradient
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import shape_of
from attsvm.theory.declaration.variables import Choice
from attsvm.theory.proof.arrays import LETTERS, falling, primitives
from attsvm.theory.proof.facts import Fact, K, Proof, Proposition
from attsvm.theory.proof.linked import values_of
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INNER,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    POSITIVE,
    REAL,
    SAME,
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
    after_first,
)

Value: TypeAlias = Any
"""A value in a model: a number, a vector of numpy, or an element of an index set."""

_NUMBER = (int, float, np.floating, mpmath.mpf)

_KNOWN: dict[Function, Callable[..., Value]] = {
    INV: lambda x: 1 / x if x else 0.0,
    EXP: lambda x: mpmath.exp(x) if isinstance(x, mpmath.mpf) else np.exp(x),
    ABS: abs,
    MAXIMUM: max,
    LOG: lambda x: math.log(x) if x > 0 else 0.0,
    IS_ZERO: lambda x: float(x == 0),
    SQRT: lambda x: math.sqrt(max(x, 0.0)),
    NORM: lambda v: math.sqrt(v @ v) if np.ndim(v) else 0.0,  # a sum of no vectors has no axis
    INNER: lambda u, v: u @ v if np.ndim(u) and np.ndim(v) else 0.0,
}
_OPAQUE = ("is continuous", " = -", "has a Lipschitz gradient")
"""Parts of the names of propositions that only lemmas read."""
_BINDS: dict[str, Callable[..., Value]] = {
    "total": sum,
    "least": min,
    "most": max,
    "row": np.array,
    "hull": lambda rows: _distance(np.array(rows)),
    "spectral": lambda rows: np.linalg.norm(np.array(rows, float), 2),
}


def nearest(rows: np.ndarray) -> np.ndarray:
    """Return weights >= 0 of sum 1 with which rows add up to the point nearest to 0."""
    whole = np.vstack([rows.T, np.ones(len(rows))])
    weights, _ = nnls(whole, np.append(np.zeros(rows.shape[1]), 1.0))
    return weights / weights.sum()


def _distance(rows: np.ndarray) -> float:
    distance = float(np.linalg.norm(nearest(rows) @ rows))
    return distance if distance > 1e-12 else 0.0  # 0 after rounding, of which 1/0 is 0


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
        floor: the absolute rounding error of a term, such as of one that is 0.
        strict: whether a number that is said to be above 0 has to be so by more than rounding.
    """

    functions: Mapping[Function | str, Callable[..., Value]]
    sets: Mapping[Sort, Sequence[Value]]
    steps: int
    samples: Mapping[Sort, Sequence[Value]]
    letters: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    tolerance: float = 1e-7
    floor: float = 0.0
    strict: bool = False


def instance_model(formula: Formula, case: Case, number: Callable[[float], Value] = float) -> Model:
    """Return an instance of a formula over variables as a model of its letters.

    Args:
        formula: the formula.
        case: the instance.
        number: what a number of the instance becomes, such as one of more digits.

    Raises:
        AttributeError: the instance is of another formula.
    """
    # a difference of equal floats may be off by rounding
    functions: dict[Function | str, Callable[..., Value]] = {
        IS_ZERO: lambda x: float(abs(x) < 1e-12)
    }
    sets: dict[Sort, Sequence[Value]] = {}
    for name, size in shape_of(formula.variables, case).items():
        sort = Sort(name, index=True)
        sets[sort] = range(size)
        functions[Function("first", (), sort)] = lambda: 0
        functions[Function("position", (sort,))] = lambda place: place
        others, after = after_first(sort)
        sets[others], functions[after] = range(1, size), lambda place: place
    for name, one in formula.variables.items():
        if one.stored is None or name in shape_of(formula.variables, case):
            continue
        value = getattr(case, name)
        if isinstance(one, Choice):
            functions[Function(name, (REAL,))] = _loss(one.members[value])
            functions[falling(name)] = _fall(one.members[value])
            if isinstance(one.members[value], Activation):
                functions[slope_of(name)] = slope = _slope(one.members[value])
                functions[falling(name)] = lambda t, slope=slope: -slope(t)  # also at a kink
                (bend,), member = bend_of(name).atoms, one.members[value]
                functions[bend.function] = lambda member=member: _number(member.bend(BALLS))
        else:
            sorts = tuple(Sort(axis, index=True) for axis in one.axes)
            functions[Function(name, sorts)] = functools.partial(
                _entry, number, np.asarray(value, float)
            )
    with primitives() as used:
        formula.relation(LETTERS, values_of(formula), {})
        functions |= _primitives(dict(used))
    samples = [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]
    return Model(functions, sets, 2, {REAL: samples}, floor=1e-12)


def stretched(matrix: np.ndarray) -> dict[Function | str, Callable[..., Value]]:
    """Return the vector of length 1 that a matrix stretches most, under its name in proofs."""
    top = np.linalg.svd(matrix)[2][0]
    return {"top": lambda k: float(top[k])}


def _primitives(used: Mapping[Any, Any]) -> dict[Function | str, Callable[..., Value]]:
    """Return the values of primitives, and numbers that attain their largest heights."""
    functions: dict[Function | str, Callable[..., Value]] = {}
    for (function, _), one in used.items():
        functions[function] = functools.partial(_ball, one)
        if one.largest is not None:
            names = [*inspect.signature(one.largest).parameters][1 + len(function.takes) :]
            for place, name in enumerate(names):
                functions[Function(f"{name} of {function.name}", function.takes)] = (
                    lambda *x, place=place, one=one: best_of(one, x)[place]
                )
    return functions


def _ball(one: Value, *numbers: float) -> float:
    return float(arb(one.balls(*map(BALLS.values, numbers))).mid())


def best_of(one: Value, numbers: Sequence[float]) -> Sequence[float]:
    """Return numbers from 0 to 1 at which the height of a primitive is largest, by finer grids."""
    count = len(inspect.signature(one.largest).parameters) - 1 - len(numbers)
    low, high = np.zeros(count), np.ones(count)
    for _ in range(12):
        axes = [np.linspace(a, b, 21) for a, b in zip(low, high, strict=True)]
        grid = np.meshgrid(*axes, indexing="ij")
        at = int(np.argmax(one.largest(None, *numbers, *grid)))
        best = np.array([x.ravel()[at] for x in grid])
        step = (high - low) / 10
        low, high = np.maximum(best - step, 0), np.minimum(best + step, 1)
    return best


def _entry(number: Callable[[float], Value], array: Value, *at: int) -> Value:
    return number(float(array[at]))


def _loss(member: Value) -> Callable[[float], float]:
    def value(u: float) -> float:
        return float(arb(member.value(BALLS, BALLS.values(u))).mid())

    return value


def _number(ball: Value) -> float:
    return float(arb(ball).mid())


def _slope(member: Activation) -> Callable[[float], float]:
    def value(t: float) -> float:
        return float(arb(member.slope(BALLS, BALLS.values(t))).mid())

    return value


def _fall(member: Value) -> Callable[[float], float]:
    def value(u: float) -> float:
        slope = gradient(BALLS, lambda m, x: member.value(m, x[0]), BALLS.values([u]))[0]
        return -float(arb(slope).mid())

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


def _plain(value: Value) -> Value:
    """Return a number of more digits as a float, which functions of a model take."""
    return float(value) if isinstance(value, mpmath.mpf) else value


class _Values:
    """The values of terms in a model, for the names of one proof."""

    def __init__(self, model: Model, whole: Proof) -> None:
        self.model = model
        self.meanings = {f: (letters, term) for f, letters, term in whole.origins.values()}
        self.sums = {f for kind, (f, _, _) in whole.origins.items() if kind[0] == "sum"}
        self.picks = {f for kind, (f, _, _) in whole.origins.items() if kind[0] == "pick"}
        self.known: dict[object, Value] = {}
        self.parts: dict[Term, list[tuple[float, list[tuple[Atom, int]]]]] = {}
        self.free: dict[Binder, tuple[Letter | Bound, ...]] = {}

    def term(self, term: Term, values: Mapping[Atom, Value]) -> tuple[Value, Value]:
        """Return the value of a term, and the sum of the sizes of its monomials."""
        whole: Value = 0
        size: Value = 0
        parts = self.parts.get(term)
        if parts is None:
            # an integer times a rational is a rational, so that a model of rationals is exact
            parts = self.parts[term] = [
                (int(c.p) if c.q == 1 else int(c.p) / int(c.q), list(m))
                for m, c in term.parts.items()
            ]
        for coefficient, monomial in parts:
            product: Value = coefficient
            for atom, exponent in monomial:
                value = self.atom(atom, values)
                product = product * (value if exponent == 1 else value**exponent)
            whole, size = whole + product, size + abs(product)
        return whole, size

    def element(self, term: Term, values: Mapping[Atom, Value], sort: Sort) -> Value:
        """Return the value of an argument: a number, a vector, a step or an element."""
        if sort.index:
            return self.atom(next(iter(term.atoms)), values)
        value = self.term(term, values)[0]
        return round(value) if sort == STEP else value

    def atom(self, atom: Atom, values: Mapping[Atom, Value]) -> Value:
        """Return the value of an atom; that of a sum or extreme of numbers is computed once.

        Raises:
            TypeError: the atom is of an unknown kind.
        """
        if isinstance(atom, Letter | Bound):
            return values[atom]
        if isinstance(atom, Binder):
            free = self.free.get(atom)
            if free is None:
                free = self.free[atom] = (*atom.letters, *atom.loose)
            at = tuple(values[x] for x in free)
            return self.once((atom, at), at, lambda: self.bound(atom, values))
        if not isinstance(atom, App):
            raise TypeError(atom)
        function = atom.function
        arguments = tuple(
            self.element(x, values, sort)
            for x, sort in zip(atom.inside, function.takes, strict=True)
        )
        return self.value(function, arguments)

    def bound(self, atom: Binder, values: Mapping[Atom, Value]) -> Value:
        """Return the value of a sum or an extreme; 0 over no elements."""
        results = [
            self.term(atom.body, {**values, atom.index: e})[0] for e in self.run(atom, values)
        ]
        return _BINDS[atom.kind](results) if results else 0.0

    def run(self, atom: Binder, values: Mapping[Atom, Value]) -> Iterator[Value]:
        """Yield the elements that an index runs over."""
        for element in self.model.sets[atom.index.sort]:
            over = atom.over
            if over is None or self.value(over.owner, (element,)) == self.element(
                over.of, values, over.owner.gives
            ):
                yield element

    def value(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        """Return the value of a function, which is computed once for numbers."""
        key = (function, arguments)
        return self.once(key, arguments, lambda: self.computed(function, arguments))

    def once(self, key: object, at: tuple[Value, ...], made: Callable[[], Value]) -> Value:
        """Return what `made` returns; the known result if all of `at` are numbers."""
        for x in at:
            if not isinstance(x, _NUMBER):
                return made()
        if key not in self.known:
            self.known[key] = made()
        return self.known[key]

    def computed(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        """Return the value of a function of the model, of the core, or of the proof."""
        inputs = self.model.functions
        for key in (function, function.name):
            if key in inputs and (key is function or function.mark):
                return inputs[key](*map(_plain, arguments))
        if function in _KNOWN:
            return _KNOWN[function](*arguments)
        if function.name == SAME:
            return float(arguments[0] == arguments[1])
        if function not in self.meanings:
            # a proposition that only lemmas read is assumed true; any other letter needs a value
            if not any(words in function.name for words in _OPAQUE):
                raise LookupError(f"the model has no value of {function.name}")
            return 1.0
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
        """Return whether a proposition holds up to rounding; NaN does not, and 0 is not above 0.

        A difference that is 0 after rounding counts as above 0, but not in a strict model.
        """
        value, size = self.term(proposition.term, values)
        error = self.model.tolerance * size + self.model.floor
        if proposition.relation == "==":
            return bool(abs(value) <= error)
        if proposition.relation == ">" and self.model.strict:
            return bool(value > error)
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
        value > values.model.tolerance * size + values.model.floor
        or (value >= 0 and assumption.relation == ">=")
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

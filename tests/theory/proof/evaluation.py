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
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
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
from attsvm.theory.proof.lemmas import SETTLED
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
    return distance if distance > 1e-12 else 0.0  # 0 after rounding: its reciprocal is 0


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
    if id(formula) not in _PRIMITIVES:  # a formula has no hash; it is kept, and so is its identity
        _PRIMITIVES[id(formula)] = formula, _primitives(formula)
    functions |= _PRIMITIVES[id(formula)][1]
    samples = [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]
    return Model(functions, sets, 2, {REAL: samples}, floor=1e-12)


def stretched(matrix: np.ndarray) -> dict[Function | str, Callable[..., Value]]:
    """Return the vector of length 1 that a matrix stretches most, under its name in proofs."""
    top = np.linalg.svd(matrix)[2][0]
    return {"top": lambda k: float(top[k])}


_PRIMITIVES: dict[int, tuple[Formula, Mapping[Function | str, Callable[..., Value]]]] = {}


def _primitives(formula: Formula) -> dict[Function | str, Callable[..., Value]]:
    """Return the values of the primitives of a formula, and where their heights are largest."""
    functions: dict[Function | str, Callable[..., Value]] = {}
    with primitives() as used:
        formula.relation(LETTERS, values_of(formula), {})
        known = dict(used)
    for (function, _), one in known.items():
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


ROOTS = SimpleNamespace(sqrt=np.sqrt)
"""The arithmetic in which heights of primitives are evaluated on arrays of floats."""


def best_of(one: Value, numbers: Sequence[float]) -> Sequence[float]:
    """Return numbers from 0 to 1 at which the height of a primitive is largest, by finer grids."""
    count = len(inspect.signature(one.largest).parameters) - 1 - len(numbers)
    low, high = np.zeros(count), np.ones(count)
    for _ in range(12):
        axes = [np.linspace(a, b, 21) for a, b in zip(low, high, strict=True)]
        grid = np.meshgrid(*axes, indexing="ij")
        at = int(np.argmax(one.largest(ROOTS, *numbers, *grid)))
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
        confirmed: the facts that held at some values at which their assumptions hold; a fact on
            the end held at the last steps at all of these values.
        open: facts on the end that do not hold yet at the last steps.
        reached: those open facts that hold at the last steps at other values, at which they do not
            hold at one of the first two steps.
        untried: facts whose assumptions held at no tried values.
        false: facts with values at which they are false.
    """

    confirmed: list[Fact] = field(default_factory=list)
    open: list[Fact] = field(default_factory=list)
    reached: list[Fact] = field(default_factory=list)
    untried: list[Fact] = field(default_factory=list)
    false: list[tuple[Fact, dict[Letter, Value]]] = field(default_factory=list)


Values: TypeAlias = dict[int, Value]
"""Values of letters and bound indices, by their places."""
Compiled: TypeAlias = Callable[[Values], Value]


class _Values:
    """Terms as functions of the values of their letters, in a model, for the names of one proof.

    The value of an atom is computed once for the same values of its letters.
    """

    def __init__(self, model: Model, whole: Proof) -> None:
        self.model = model
        self.meanings = dict(whole.origins.values())
        self.sums = {f for kind, (f, _) in whole.origins.items() if kind[0] == "sum"}
        self.picks = {f for kind, (f, _) in whole.origins.items() if kind[0] == "pick"}
        self.bounds = dict(_settled(whole))
        self.places: dict[Atom, int] = {}
        self.terms: dict[Term, Compiled] = {}
        self.atoms: dict[Atom, Compiled] = {}
        self.parts: dict[Term, list[tuple[float, list[tuple[Compiled, int]]]]] = {}
        self.kept: list[Value] = []

    def at(self, values: Mapping[Letter, Value]) -> Values:
        """Return the values of letters by their places."""
        return {self.place(x): value for x, value in values.items()}

    def place(self, atom: Atom) -> int:
        """Return the place of a letter or of a bound index."""
        return self.places.setdefault(atom, len(self.places))

    def sized(self, term: Term, values: Values) -> tuple[Value, Value]:
        """Return the value of a term, and the sum of the sizes of its monomials."""
        whole: Value = 0
        size: Value = 0
        for coefficient, factors in self.split(term):
            product: Value = coefficient
            for factor, exponent in factors:
                product = product * (
                    factor(values) if exponent == 1 else factor(values) ** exponent
                )
            whole, size = whole + product, size + abs(product)
        return whole, size

    def split(self, term: Term) -> list[tuple[float, list[tuple[Compiled, int]]]]:
        """Return the monomials of a term, each as a coefficient and factors with exponents."""
        parts = self.parts.get(term)
        if parts is None:
            # an integer times a rational is a rational, so that a model of rationals is exact
            parts = self.parts[term] = [
                (int(c.p) if c.q == 1 else int(c.p) / int(c.q), [(self.atom(a), e) for a, e in m])
                for m, c in term.parts.items()
            ]
        return parts

    def term(self, term: Term) -> Compiled:
        """Return the function that computes a term."""
        known = self.terms.get(term)
        if known is not None:
            return known
        (single,) = term.atoms if len(term.atoms) == 1 else (None,)
        if single is not None and term == single.term:
            made = self.atom(single)
        else:
            made = functools.partial(_summed, self.split(term))
        self.terms[term] = made
        return made

    def argument(self, term: Term, sort: Sort) -> Compiled:
        """Return the function that computes an argument: a number, vector, step or element."""
        value = self.term(term)
        return (lambda values: round(value(values))) if sort == STEP else value

    def atom(self, atom: Atom) -> Compiled:
        """Return the function that computes an atom.

        Raises:
            TypeError: the atom is of an unknown kind.
        """
        if atom in self.atoms:
            return self.atoms[atom]
        if isinstance(atom, Letter | Bound):
            made: Compiled = operator.itemgetter(self.place(atom))
        elif isinstance(atom, Binder):
            made = self.once(atom, self.bound(atom))
        elif isinstance(atom, App):
            pairs = zip(atom.inside, atom.function.takes, strict=True)
            arguments = [self.argument(x, sort) for x, sort in pairs]
            made = self.once(atom, self.applied(atom.function, arguments))
        else:
            raise TypeError(atom)
        self.atoms[atom] = made
        return made

    def applied(self, function: Function, arguments: Sequence[Compiled]) -> Compiled:
        """Return the function that computes the value at arguments."""
        value = self.function(function)
        if len(arguments) == 1:
            (only,) = arguments
            return lambda values: value(only(values))
        return lambda values: value(*[x(values) for x in arguments])

    def once(self, atom: Atom, made: Compiled) -> Compiled:
        """Return the function that computes an atom once for the same values of its letters."""
        free = [(self.place(x), x.sort == VECTOR) for x in (*atom.letters, *atom.loose)]
        known: dict[object, Value] = {}

        def value(values: Values) -> Value:
            # vectors are kept, so that no two have one identity
            at = tuple([id(values[x]) if vector else values[x] for x, vector in free])
            if at not in known:
                known[at] = made(values)
            return known[at]

        return value

    def bound(self, atom: Binder) -> Compiled:
        """Return the function that computes a sum or an extreme; 0 over no elements."""
        body, run, combined = self.term(atom.body), self.run(atom), _BINDS[atom.kind]

        def value(values: Values) -> Value:
            results = [body(values) for _ in run(values)]
            return combined(results) if results else 0.0

        return value

    def run(self, atom: Binder) -> Callable[[Values], Iterator[Value]]:
        """Return a function that yields the elements of an index, and sets it to each of them."""
        place, elements, over = self.place(atom.index), self.model.sets[atom.index.sort], atom.over
        owner = None if over is None else self.function(over.owner)
        of = None if over is None else self.term(over.of)

        def run(values: Values) -> Iterator[Value]:
            wanted = None if of is None else of(values)
            for element in elements:
                if owner is None or owner(element) == wanted:
                    values[place] = element
                    yield element

        return run

    def function(self, function: Function) -> Callable[..., Value]:
        """Return a function of the model, of the core, or of the proof."""
        inputs = self.model.functions
        for key in (function, function.name):
            if key in inputs and (key is function or function.mark):
                return _of_floats(inputs[key])
        if function in _KNOWN:
            return _KNOWN[function]
        if function in self.bounds:
            return self.largest(self.bounds[function])
        if function.name == SAME:
            return lambda one, other: float(one == other)
        if function in self.meanings:
            return self.meant(function)
        # a proposition that only lemmas read is assumed true; any other letter needs a value
        if not any(words in function.name for words in _OPAQUE):
            raise LookupError(f"the model has no value of {function.name}")
        return lambda *_: 1.0

    def largest(self, sequence: Term) -> Callable[..., Value]:
        """Return the largest value of a sequence of the model, as a function of its letters."""
        letters = sorted(sequence.letters - {K}, key=repr)
        value, places, step = self.term(sequence), [*map(self.place, letters)], self.place(K)

        def most(*arguments: Value) -> Value:
            at = dict(zip(places, arguments, strict=True))
            return max(value({**at, step: k}) for k in range(self.model.steps - 1))

        return most

    def meant(self, function: Function) -> Callable[..., Value]:
        """Return a function that a proof defines, by its meaning, increments, or an extreme."""
        letters, term = self.meanings[function]
        places = [self.place(x) for x in letters]

        def inside(arguments: Sequence[Value]) -> Values:
            self.kept += (x for x in arguments if isinstance(x, np.ndarray))
            return dict(zip(places, arguments, strict=True))

        if function in self.picks:
            (atom,) = (one for one in term.atoms if isinstance(one, Binder))
            best = min if atom.kind == "least" else max
            body, run = self.term(atom.body), self.run(atom)

            def picked(*arguments: Value) -> Value:
                values = inside(arguments)
                return best(
                    [(body(values), element) for element in run(values)], key=operator.itemgetter(0)
                )[1]

            return picked
        value = self.term(term)
        if function in self.sums:
            step = self.place(K)
            return lambda *x: float(sum(value({**inside(x), step: k}) for k in range(x[-1])))
        return lambda *x: value(inside(x))

    def holds(self, proposition: Proposition, values: Values) -> bool:
        """Return whether a proposition holds up to rounding; NaN does not, and 0 is not above 0.

        Nor does infinity. A difference that is 0 after rounding counts as above 0, but not in a
        strict model.
        """
        value, size = self.sized(proposition.term, values)
        error = self.model.tolerance * size + self.model.floor
        if not error < math.inf:
            return False
        if proposition.relation == "==":
            return bool(abs(value) <= error)
        if proposition.relation == ">" and self.model.strict:
            return bool(value > error)
        return bool(value >= -error) and (proposition.relation == ">=" or bool(size > 0))


def _settled(whole: Proof) -> Iterator[tuple[Function, Term]]:
    """Yield the bounds that the lemma on settled sequences names, each with its sequence."""
    for rule, arguments, _ in whole.calls.values():
        if rule == "cite" and arguments[0] is SETTLED:
            *_, name, sequence = arguments
            yield whole.names[name], sequence  # type: ignore[index, misc]


def _summed(parts: list[tuple[float, list[tuple[Compiled, int]]]], values: Values) -> Value:
    whole: Value = 0
    for coefficient, factors in parts:
        product: Value = coefficient
        for factor, exponent in factors:
            value = factor(values)
            product = product * (value if exponent == 1 else value**exponent)
        whole = whole + product
    return whole


def _of_floats(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function whose numbers of more digits become floats, which models take."""
    return lambda *x: function(*[float(v) if isinstance(v, mpmath.mpf) else v for v in x])


def evaluated(
    whole: Proof,
    model: Model,
    tries: int = 24,
    seed: int = 0,
    facts: Iterable[Fact] | None = None,
) -> Tally:
    """Return which facts of a proof hold in a model, at drawn values of their letters.

    Args:
        whole: the proof.
        model: the model.
        tries: maximum number of values of the letters that are tried for each fact.
        seed: the seed of the generator that draws the values.
        facts: the facts that are evaluated; all facts of the proof unless given.
    """
    generator, tally, values = np.random.default_rng(seed), Tally(), _Values(model, whole)
    last = (model.steps - 3, model.steps - 2)
    for fact in whole.facts if facts is None else facts:
        text, seen, failed, late, there = fact.proposition, False, None, False, False
        for drawn in _draws(fact, model, tries, generator):
            at = values.at(drawn)
            if not all(_assumed(values, a, at) for a in fact.assumptions):
                continue
            seen = True
            if text.eventually:
                held = [values.holds(text, {**at, **values.at({K: k})}) for k in (0, 1, *last)]
                late = late or not all(held[2:])
                there = there or (all(held[2:]) and not all(held))
            elif not values.holds(text, at):
                failed = drawn
                break
        if failed is not None:
            tally.false.append((fact, failed))
        else:
            (tally.open if late else tally.confirmed if seen else tally.untried).append(fact)
        if late and there:
            tally.reached.append(fact)
    return tally


def _assumed(values: _Values, assumption: Proposition, at: Values) -> bool:
    """Return whether an assumption holds by more than rounding, or is an exact value >= 0."""
    value, size = values.sized(assumption.term, at)
    if assumption.relation == "==":
        return bool(value == 0)
    return bool(
        value > values.model.tolerance * size + values.model.floor
        or (value >= 0 and assumption.relation == ">=")
    )


def _draws(
    fact: Fact, model: Model, tries: int, generator: np.random.Generator
) -> Iterator[dict[Letter, Value]]:
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

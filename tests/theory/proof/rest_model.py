"""Data of a run as a model of the letters of `properties/tf/benign_landscape/rest_letters`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, ctx

from attsvm._types import Array
from attsvm.exact import ExactData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import GRADIENT
from attsvm.theory import OPEN
from properties.tf.benign_landscape import instances, parts
from properties.tf.benign_landscape import rest_letters as letters
from properties.tf.benign_landscape.stationary_points import settled
from tests.theory.proof.descent_model import model_of
from tests.theory.proof.evaluation import Model

_CLOSE, _BITS = 1e-9, 192
"""Largest number that counts as 0; number of bits for roots and points of rest."""


def _number(value: object) -> float:
    return float(arb(value).mid())


CASES = (
    *(instances.FINITE, instances.LEVEL, instances.BYSTANDER, instances.FALLING),
    Descent.of(
        [[[1, 0, 0], [0, 0, 0], [-2, 0, 0]]], [[1, 0, 0]], np.zeros((3, 3)), scores=[[-1, 4, 0]]
    ),
    Descent.of(
        [[[0, 0], [1, 0], [3, 0]], [[1, 0], [1, 0], [0, 1]]],
        [[1, 0], [1, 2]],
        np.array([[0.5, -1.0], [1.0, 0.25]]),
        scores=[[2, -1, 3], [1, -1, 0]],
    ),
)
"""Data with parts that rest in each way and for each sign of b, equal tokens, or no rest."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an input in floats, with the numbers that its kind needs."""

    tokens: Array
    scores: Array
    counts: Array
    one_score: bool
    b: Array | None
    places: Array | None
    roots: list[tuple[float, float]]

    @classmethod
    def of(cls, part: parts.Part) -> _Part:
        """Return a part, the scores at which it rests on a line, and ln y for each of them."""
        tokens = np.array([[_number(x) for x in row] for row in part.tokens])
        relations, places = parts.dependencies(part.tokens), parts.along_line(part.tokens)
        found = [] if places is None or len(set(part.scores)) == 1 else _roots(part, places)
        return cls(
            tokens,
            np.array([_number(x) for x in part.scores]),
            np.array(part.counts, dtype=float),
            len(set(part.scores)) == 1,
            _scaled([_number(x) for x in relations[0]]) if len(relations) == 1 else None,
            None if places is None else np.array(places, dtype=float),
            found,
        )

    def balance(self, sign: int, x: float) -> bool:
        """Return whether b, or -b, has the signs of the scores minus x, and h(x) is 0."""
        if self.b is None or (sign * self.b * (self.scores - x) <= 0).any():
            return False
        b = sign * self.b
        return abs(float(b @ np.log(b / (self.counts * (self.scores - x))))) < _CLOSE

    def way(self, x: float) -> int:
        """Return the number of the first way in which the part rests at x, or -1."""
        ways = (
            bool(np.abs(self.scores - x).max() < _CLOSE),
            self.balance(1, x),
            self.balance(-1, x),
            any(abs(score - x) < _CLOSE for score, _ in self.roots),
        )
        return ways.index(True) if any(ways) else -1

    def root(self, x: float) -> float:
        """Return ln y at the score nearest to x, or 0."""
        near = sorted(self.roots, key=lambda root: abs(root[0] - x))
        return near[0][1] if near else 0.0


def _scaled(b: list[float]) -> Array:
    """Return a dependency with entries of at most 64, so that h has small rounding errors."""
    return np.array(b) / max(1.0, np.abs(b).max() / 64)


def _roots(part: parts.Part, places: list[int]) -> list[tuple[float, float]]:
    with ctx.workprec(_BITS):
        rests, _ = parts.on_line(part, places)
    last = places.index(max(places))
    return [(_number(rest.score), _number(rest.logits[last]) / max(places)) for rest in rests]


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The different tokens of all inputs, and their parts.

    Attributes:
        equal: the different token of each token, by input and place.
        part_of: the part of each different token, with its place there.
        parts: the parts, by input and place.
    """

    equal: dict[tuple[int, int], tuple[int, int]]
    part_of: dict[tuple[int, int], tuple[tuple[int, int], int]]
    parts: dict[tuple[int, int], _Part]

    @classmethod
    def of(cls, exact: ExactData) -> _Tokens:
        """Return the tokens of data."""
        result = cls({}, {}, {})
        for i, (tokens, gamma) in enumerate(zip(exact.X, exact.gamma, strict=True)):
            whole = parts.merged(tokens, gamma)
            for k, x in enumerate(tokens):
                result.equal[i, k] = i, whole.tokens.index(x)
            for p, part in enumerate(parts.split(whole)):
                result.parts[i, p] = _Part.of(part)
                for place, x in enumerate(part.tokens):
                    result.part_of[i, whole.tokens.index(x)] = (i, p), place
        return result


def model_of_rest(case: Descent, steps: int = 2) -> Model:
    """Return the model of the parts of all inputs of a run, of levels, and of a point of rest."""
    exact = ExactData.of(case.data)
    whole, data, d = _Tokens.of(exact), case.data, case.data.d
    run = model_of(case, steps=steps)
    elements = sorted(whole.part_of)

    def numbers(name: str) -> Any:
        return lambda t: float(getattr(whole.parts[whole.part_of[t][0]], name)[whole.part_of[t][1]])

    def x_of(t: tuple[int, int]) -> Array:
        part, place = whole.part_of[t]
        return whole.parts[part].tokens[place]

    def gradient(X: Array) -> Array:
        value = np.asarray(run.functions[GRADIENT](X))
        return value if np.linalg.norm(value) > _CLOSE else 0 * value

    def b(t: tuple[int, int]) -> float:
        part, place = whole.part_of[t]
        return 0.0 if whole.parts[part].b is None else float(whole.parts[part].b[place])

    def place(t: tuple[int, int]) -> float:
        part, place = whole.part_of[t]
        return 0.0 if whole.parts[part].places is None else float(whole.parts[part].places[place])

    def of_part(P: tuple[int, int]) -> list[int]:
        return [elements.index(t) for t in elements if whole.part_of[t][0] == P]

    def factor(c: Array, P: tuple[int, int]) -> float:
        own = whole.parts[P].b
        return 0.0 if own is None else float(c[of_part(P)] @ own / (own @ own))

    def base(P: tuple[int, int]) -> Array:
        part = whole.parts[P]
        return part.tokens[0 if part.places is None else int(part.places.argmin())]

    def axis(P: tuple[int, int]) -> Array:
        part = whole.parts[P]
        if part.places is None:
            return np.zeros(d)
        return (part.tokens[int(part.places.argmax())] - base(P)) / part.places.max()

    levels = [*_levels(case)]
    found = settled(case)
    still = np.asarray(case.W, dtype=float).ravel()
    if found is not None and found is not OPEN:
        still = np.array([_number(x) for row in found[0] for x in row])

    def way(number: int) -> Any:
        return lambda P, x: float(whole.parts[P].way(x) == number)

    functions: dict[Any, Any] = {
        **run.functions,
        GRADIENT: gradient,
        letters.EQUAL: whole.equal.__getitem__,
        letters.PART_OF: lambda t: whole.part_of[t][0],
        letters.INPUT_OF: lambda P: P[0],
        letters.SCORE: lambda token: float(data.gamma[token]),
        letters.GAMMA: numbers("scores"),
        letters.X_OF: x_of,
        letters.KEY: lambda t: np.outer(x_of(t), data.Z[t[0]]).ravel(),
        letters.UNIT: lambda t: np.eye(len(elements))[elements.index(t)],
        letters.IMAGE: lambda M, i: np.asarray(M).reshape(d, d) @ data.Z[i],
        letters.FLAT: lambda P: float(whole.parts[P].one_score),
        letters.ONE: lambda P: float(whole.parts[P].b is not None),
        letters.LINE: lambda P: float(whole.parts[P].places is not None),
        letters.ONLY: lambda P: float(whole.parts[P].scores[0]),
        letters.B: b,
        letters.FACTOR: factor,
        letters.PLACE: place,
        letters.BASE: base,
        letters.AXIS: axis,
        letters.RESTS: lambda P, x: float(whole.parts[P].way(x) >= 0),
        **{function: way(number) for number, function in enumerate(letters.WAYS)},
        letters.ROOT: lambda P, x: whole.parts[P].root(x),
        letters.LEVEL: levels.__getitem__,
    }
    (atom,) = letters.STILL.atoms
    functions[atom.function] = lambda: still  # type: ignore[attr-defined]
    fitted = _fitted(whole, functions, d)
    functions["W*"] = lambda: fitted
    generator = np.random.default_rng(0)
    samples = {
        **run.letters,
        "X": [still, np.asarray(case.W, dtype=float).ravel()],
        "M": [*generator.normal(size=(2, d * d))],
        "c": [*_dependencies(exact, whole, elements), generator.normal(size=len(elements))],
        "x": [*levels, *(float(x) for x in data.gamma[data.present]), 0.375],
        "s": [s for part in whole.parts.values() for _, s in part.roots] + [0.0, 0.5],
    }
    sets = {
        **run.sets,
        letters.TOKEN: sorted(whole.equal),
        letters.DISTINCT: elements,
        letters.PART: sorted(whole.parts),
    }
    return replace(run, functions=functions, sets=sets, letters=samples, floor=_CLOSE)


def _levels(case: Descent) -> Iterator[float]:
    """Yield a score at which all parts of each input rest, or 0."""
    exact = ExactData.of(case.data)
    for tokens, gamma in zip(exact.X, exact.gamma, strict=True):
        with ctx.workprec(_BITS):
            rests = parts.common(parts.split(parts.merged(tokens, gamma)))
        yield 0.0 if rests is None or rests is OPEN else _number(rests[0].score)


def _dependencies(exact: ExactData, whole: _Tokens, elements: list[Any]) -> Iterator[Array]:
    """Yield 0, minus each basis dependency of each input, and a sum of all of these."""
    result = np.zeros(len(elements))
    yield result.copy()
    for i, (tokens, gamma) in enumerate(zip(exact.X, exact.gamma, strict=True)):
        for relation in parts.dependencies(parts.merged(tokens, gamma).tokens):
            one = np.zeros(len(elements))
            one[[elements.index(t) for t in elements if t[0] == i]] = [_number(x) for x in relation]
            result += 2 * one
            yield -one
    yield result


def _fitted(whole: _Tokens, functions: dict[Any, Any], d: int) -> Array:
    """Return the matrix of least squares for the logits with which parts rest at levels."""
    rows, values = [], []
    for i in sorted({t[0] for t in whole.part_of}):
        own = [t for t in sorted(whole.part_of) if t[0] == i]
        keys = np.array([functions[letters.KEY](t) for t in own])
        logits = np.array([_logit(whole, functions, t) for t in own])
        rows += [*(len(own) * keys - keys.sum(axis=0))]
        values += [*(len(own) * logits - logits.sum())]
    return np.asarray(np.linalg.lstsq(np.array(rows).reshape(-1, d * d), np.array(values), None)[0])


def _logit(whole: _Tokens, functions: dict[Any, Any], t: tuple[int, int]) -> float:
    P, place = whole.part_of[t]
    part, x = whole.parts[P], functions[letters.LEVEL](t[0])
    way = part.way(x)
    if way in (1, 2):
        sign = 1 if way == 1 else -1
        return math.log(sign * part.b[place] / (part.counts[place] * (part.scores[place] - x)))  # type: ignore[index]
    return functions[letters.PLACE](t) * part.root(x) if way == 3 else 0.0

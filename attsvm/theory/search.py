"""The searchers: explicit instances, the seeded ensemble, Hypothesis, and a climb on the slack.

A find is made smaller without losing its confirmation. All randomness comes from one seed.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable, UnsatisfiedAssumption

from attsvm.errors import ClaimError, DataError, FileError
from attsvm.theory import codec

if TYPE_CHECKING:
    from attsvm.theory.check import Refuted, Tally
    from attsvm.theory.profiles import Profile

__all__ = ["DRAWN", "run", "simplify"]

DRAWN = "Hypothesis"
"""What the searcher is called that draws from the claim's strategy."""


def run(tally: Tally, budget: Profile, seed: int, *, explicit: bool) -> Refuted | None:
    """Search a refutation of the tally's part with every searcher in turn."""
    found: Refuted | None = None
    if explicit:
        for case in tally.part.examples:
            found = tally.examine(case, "explicit instance")[1]
            if found:
                return found
    generator = np.random.default_rng(seed)
    if tally.claim.ensemble is not None:
        for _ in range(budget.ensemble):
            case = tally.claim.ensemble(generator)
            found = tally.examine(case, "seeded ensemble")[1]
            if found:
                return simplify(tally, found, budget.simplify)
    found = _draw(tally, budget, seed)
    if found:
        return simplify(tally, found, budget.simplify)
    case = _climb(tally, budget.climb, generator)
    if case is not None:
        found = tally.examine(case, "slack-guided climb")[1]
        if found:
            return simplify(tally, found, budget.simplify)
    tally.audit_tightest()
    return None


class _FoundError(Exception):
    """Tells Hypothesis that an instance refutes, so that it shrinks it."""


class _Broken(BaseException):
    """Carries what a claim raised past Hypothesis, which would go on to shrink it."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem


@contextlib.contextmanager
def _same_pool() -> Iterator[None]:
    """Keep Hypothesis from drawing constants of the modules that happen to be loaded.

    It mixes literals of local source files into what it draws, so the same seed would give other
    instances in a process that has imported other modules.
    """
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    original = providers._get_local_constants
    empty = Constants()
    providers._get_local_constants = lambda: empty
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        providers._get_local_constants = original
        providers.CONSTANTS_CACHE.cache.clear()


def _draw(tally: Tally, budget: Profile, seed: int) -> Refuted | None:
    """Let Hypothesis draw and shrink; only confirmed refutations count as failures."""
    last: list[Refuted] = []
    seen: dict[str, tuple[bool, Refuted | None]] = {}
    spent = 0

    def examine(case: Any) -> tuple[bool, Refuted | None]:
        try:
            return tally.examine(case, DRAWN)
        except UnsatisfiedAssumption as problem:
            cause = f"{tally.claim.id} assumes or rejects where it evaluates an instance"
            remedy = "Name a hypothesis, or filter in the strategy."
            raise _Broken(ClaimError(cause, value=str(problem), remedy=remedy)) from problem
        except (Exception, SystemExit) as problem:
            raise _Broken(problem) from problem

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=budget.examples,
        database=None,
        deadline=None,
        derandomize=False,
        verbosity=Verbosity.quiet,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(tally.part.data)
    def body(case: Any) -> None:
        nonlocal spent
        key = ""
        if not tally.counting:  # shrinking: remember answers, stop exploring after the budget
            key = json.dumps(codec.encode(case), sort_keys=True)
            if key not in seen and spent >= budget.simplify:
                return
            spent += 1
        if key in seen:
            accepted, found = seen[key]
        else:
            accepted, found = examine(case)
        if key:
            seen[key] = accepted, found
        if found:
            if tally.counting:
                tally.counting = False
                seen[json.dumps(codec.encode(case), sort_keys=True)] = True, found
            last.append(found)
            raise _FoundError
        if not accepted:
            hypothesis.reject()
        if tally.counting and tally.best is not None and tally.best[1] is case:
            height = tally.best[0]
            if math.isfinite(height):
                hypothesis.target(height)

    try:
        with _same_pool():
            body()
    except _FoundError:
        return last[-1]
    except _Broken as stop:
        raise stop.problem from None
    except Unsatisfiable:
        return None
    return None


def _leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Paths of all float entries of an encoded instance with the key that holds each."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from _leaves(item, (*path, k))
    elif isinstance(document, dict):
        if set(document) == {"float"}:
            yield (*path, "float"), document["float"]
        elif set(document) == {"float64", "values"}:
            for k, text in enumerate(document["values"]):
                yield (*path, "values", k), text
        else:
            for key in sorted(document):
                yield from _leaves(document[key], (*path, key))


def _replaced(document: Any, path: tuple[Any, ...], text: str) -> Any:
    """A copy of the document with one entry changed."""
    if not path:
        return text
    head, *rest = path
    changed: Any = dict(document) if isinstance(document, dict) else list(document)
    changed[head] = _replaced(document[head], tuple(rest), text)
    return changed


def _rebuilt(tally: Tally, document: Any) -> Any | None:
    """The instance of a changed document, or None where its type refuses it."""
    try:
        return codec.decode(document, tally.claim.instance_type)
    except (DataError, FileError):
        return None


def _climb(tally: Tally, steps: int, generator: np.random.Generator) -> Any | None:
    """Move single entries of the tightest instance by powers of two while that brings it closer.

    Returns the closest instance, or None where nothing was found to start from or gained.
    """
    if tally.best is None or not math.isfinite(tally.best[0]):
        return None
    height, case, _ = tally.best
    start = height
    document = codec.encode(case)
    paths = [path for path, _ in _leaves(document) if math.isfinite(_value_at(document, path))]
    if not paths:
        return None
    for _ in range(steps):
        trial = document
        for _ in range(int(generator.integers(1, 3))):
            path = paths[int(generator.integers(len(paths)))]
            value = _value_at(trial, path)
            power = int(generator.integers(-10, 2)) + math.floor(math.log2(max(1.0, abs(value))))
            moved = value + float(generator.choice([-1.0, 1.0])) * 2.0 ** min(power, 1023)
            if math.isfinite(moved):
                trial = _replaced(trial, path, codec.encode(moved)["float"])
        candidate = _rebuilt(tally, trial)
        if candidate is None:
            continue
        reached = tally.height(candidate)
        if reached is not None and reached > height:
            height, case, document = reached, candidate, trial
    return case if height > start else None


def _value_at(document: Any, path: tuple[Any, ...]) -> float:
    for key in path:
        document = document[key]
    return float(codec.decode({"float": document}, None))


def simplify(tally: Tally, found: Refuted, budget: int) -> Refuted:
    """Make the instance of a find smaller and simpler while its refutation stands.

    Indices are left out of its arrays, entries become 0, integers, halves and so on.
    """
    tally.counting = False
    spent = 0

    def stands(trial: Any) -> bool:
        nonlocal found, spent
        candidate = None if trial == found.instance else _rebuilt(tally, trial)
        if candidate is None or spent >= budget:
            return False
        spent += 1
        try:
            again = tally.examine(candidate, found.found_by)[1]
        except ClaimError:  # the check itself is at fault
            raise
        except Exception:  # the change led to where the claim says nothing
            return False
        found = again or found
        return again is not None

    improved = True
    while improved and spent < budget:
        improved = False
        while any(stands(trial) for trial in _shorter(found.instance)):
            improved = True
        for path, _ in list(_leaves(found.instance)):
            trials = (
                _replaced(found.instance, path, codec.encode(simpler)["float"])
                for simpler in _simpler(_value_at(found.instance, path))
            )
            improved |= any(stands(trial) for trial in trials)
    return found


def _shorter(document: Any) -> Iterator[Any]:
    """The document with one index left out of all axes of one length, the longest first."""
    lengths = {size for shape in _shapes(document) for size in shape if size > 1}
    for length in sorted(lengths, reverse=True):
        for index in range(length):
            yield _without(document, length, index)


def _array_key(document: dict[str, Any]) -> str | None:
    """The key that holds the shape where the document is that of an array."""
    keys = set(document) - {"values"}
    if "values" in document and len(keys) == 1 and keys <= {"float64", "int64", "bool"}:
        return keys.pop()
    return None


def _shapes(document: Any) -> Iterator[list[int]]:
    """The shapes of all arrays of an encoded instance."""
    if isinstance(document, list):
        for item in document:
            yield from _shapes(item)
    elif isinstance(document, dict):
        key = _array_key(document)
        if key is not None:
            yield document[key]
        else:
            yield from _shapes(list(document.values()))


def _without(document: Any, length: int, index: int) -> Any:
    """A copy that lacks one index of every axis of that length."""
    if isinstance(document, list):
        return [_without(item, length, index) for item in document]
    if not isinstance(document, dict):
        return document
    key = _array_key(document)
    if key is None:
        return {name: _without(item, length, index) for name, item in document.items()}
    values = np.array(document["values"], dtype=object).reshape(document[key])
    for axis in [k for k, size in enumerate(document[key]) if size == length]:
        values = np.delete(values, index, axis)
    return {key: list(values.shape), "values": values.ravel().tolist()}


def _simpler(value: float) -> Iterator[float]:
    """Simpler values than this one, the simplest first."""
    if not math.isfinite(value) or value == 0.0:
        return
    yield 0.0
    exact = Fraction(value)
    for bits in (0, 1, 2, 3, 5, 8, 13):
        if exact.denominator > 1 << bits:
            yield round(value * 2**bits) / 2**bits

"""Instances per second of screening, beside Hypothesis and code written by hand.

For each claim there are two rows. `batch`: the formula on 4096 instances of one size, hypotheses
and fitted bounds included. `turn`: a whole turn of the searcher, which also draws, moves and judges
instances of all sizes. Alternatives: Hypothesis draws an instance and evaluates the conclusion;
the conclusion written by hand for numpy instance by instance, and for a torch batch. Seconds are
processor time. The conclusions by hand are compared with ours on the same instances first.
"""

import contextlib
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import hypothesis
import numpy as np
import torch
from hypothesis import HealthCheck, Phase

from attsvm.theory import Claim, load_packs
from attsvm.theory.declaration import batches
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.search.turn import Turn, take
from benchmarks.timers.timing import Timer, Way

torch.set_num_threads(1)
BATCH, LOOPED = 4096, 256
"""Number of instances in a batch, and number of them that a loop evaluates."""

SECONDS = 2.0
"""Processor seconds of the measurement of turns, and of Hypothesis."""


Sides = tuple[Any, Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A claim whose conclusion is a closed form.

    Attributes:
        claim: its id.
        shape: sizes of the instances by axis.
        sides: returns left and right side, written by hand for numpy or torch, from the module and
            the variables (batch, ...).
    """

    claim: str
    shape: Mapping[str, int]
    sides: Callable[[Any, Values], Sides]

    @property
    def sizes(self) -> str:
        """Return the shape in words."""
        return ", ".join(f"{name} = {size}" for name, size in self.shape.items())


def _norm(xp: Any, x: Any) -> Any:
    return xp.sqrt(xp.sum(x * x, -1))


def _attention(xp: Any, A: Any, x: Any) -> Any:
    logits = xp.einsum("...nd,...d->...n", A, x)
    powers = xp.exp(logits - xp.amax(logits, -1)[..., None])
    return powers / xp.sum(powers, -1)[..., None]


def _slope(xp: Any, x: Any) -> Any:
    e = xp.exp(-xp.abs(x))
    return e / ((1 + e) * (1 + e))


def _lemma_12(xp: Any, v: Values) -> Sides:
    left = xp.abs(_slope(xp, v["x"]) - _slope(xp, v["y"]))
    return left, xp.abs(v["x"] - v["y"]) / (6 * math.sqrt(3))


def _gradient(xp: Any, v: Values, x: Any) -> Any:
    f, h, b = _attention(xp, v["A"], x), v["h"], v["b"]
    mean = xp.sum(f * h, -1)
    along = xp.einsum("...nd,...n->...d", v["A"], f * (h - mean[..., None]))
    return (b * _slope(xp, b * mean))[..., None] * along


def _lemma_13(xp: Any, v: Values) -> Sides:
    left = _norm(xp, _gradient(xp, v, v["x"]) - _gradient(xp, v, v["y"]))
    n, R = v["A"].shape[-2], v["R"]
    return left, 3 * n**3 * R**7 * xp.exp(13 * R * R) * _norm(xp, v["x"] - v["y"])


def _stability(xp: Any, v: Values) -> Sides:
    h, b = v["h"], v["b"]

    def loss(x: Any) -> Any:
        return (xp.sum(_attention(xp, v["A"], x) * h, -1) - b) ** 2

    size = _norm(xp, h)
    bound = xp.linalg.svd(v["A"], False)[1][..., 0] * size * (size + xp.abs(b))
    return xp.abs(loss(v["x"]) - loss(v["y"])), bound * _norm(xp, v["x"] - v["y"])


def _bound_4(xp: Any, v: Values) -> Sides:
    A = v["A"]
    left = _norm(xp, _attention(xp, A, v["x"]) - _attention(xp, A, v["y"]))
    apart = _norm(xp, A[..., :, None, :] - A[..., None, :, :])
    spread = xp.amax(apart, (-2, -1)) / math.sqrt(2)
    return left, spread / 2 * _norm(xp, v["x"] - v["y"])


CASES = (
    Case("sim/lemma-3.12:sharp", {}, _lemma_12),
    Case("sim/lemma-3.13:amended", {"n": 2, "D": 1}, _lemma_13),
    Case("sim/lemma-3.13:amended", {"n": 4, "D": 3}, _lemma_13),
    Case("sim/stability-l2:sharp-1", {"n": 2, "D": 2}, _stability),
    Case("sim/stability-l2:sharp-1", {"n": 4, "D": 3}, _stability),
    Case("sim/basic-4:sharp", {"n": 2, "D": 2}, _bound_4),
    Case("sim/basic-4:sharp", {"n": 4, "D": 3}, _bound_4),
)


def heights(xp: Any, case: Case, values: Values) -> Any:
    """Return the ratio of left and right side."""
    left, right = case.sides(xp, values)
    return left / right


def _turns(claim: Claim) -> float:
    """Return the processor seconds per instance of whole turns of screening."""
    number, screened, started = 0, 0, 0.0
    while number == 0 or time.process_time() - started < SECONDS:
        gain = take(claim, Turn(claim.id, "", "screen", number, 0, 96))
        if gain.error or gain.found:
            sys.exit(
                f"{claim.id} should be true, but screening ended with: {gain.error or 'refuted'}"
            )
        if number == 0:  # loads and compiles
            started, gain.screened = time.process_time(), 0
        screened, number = screened + gain.screened, number + 1
    return (time.process_time() - started) / screened


class _Over(BaseException):
    """The time is over; Hypothesis does not catch this."""


def _drawn(claim: Claim) -> float:
    """Return the processor seconds per instance if Hypothesis draws it for the conclusion."""
    started, seen = time.process_time(), 0

    @hypothesis.seed(0)
    @hypothesis.settings(
        max_examples=10**6,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(claim.data)
    def look(case: Any) -> None:
        nonlocal seen
        if time.process_time() - started > SECONDS:
            raise _Over
        if all(h.holds(case) for h in claim.hypotheses):
            claim.conclusion(case)
            seen += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(_Over):
            look()
    return (time.process_time() - started) / seen


def _closed_form(case: Case, claim: Claim) -> Iterator[Timer]:
    """Yield the rows of a claim whose conclusion is a closed form."""
    formula, parameters = claim.formula, claim.part("").parameters
    raw = batches.filled(formula, np.random.default_rng(0), case.shape, BATCH)
    fitted, result = batches.fit_screened(formula, raw, case.shape, BATCH, parameters)
    rows = {name: np.ascontiguousarray(np.moveaxis(x, -1, 0)) for name, x in fitted.items()}
    by_hand = heights(np, case, rows)
    usable = np.isfinite(result) & np.isfinite(by_hand)
    alike = np.isclose(
        result[usable], by_hand[usable], 1e-6, 1e-9
    )  # code by hand cancels at close points
    if usable.sum() < BATCH // 4 or alike.mean() < 0.9:
        sys.exit(f"{case.claim}: the conclusion written by hand differs from ours")
    singles = [{name: x[k] for name, x in rows.items()} for k in range(LOOPED)]
    tensors = {name: torch.tensor(x) for name, x in rows.items()}
    ways = {
        "Hypothesis": Way(lambda _: _drawn(claim), runs=1, took=lambda each: BATCH * each),
        "numpy": Way(lambda _: [heights(np, case, v) for v in singles], LOOPED / BATCH),
        "torch": Way(lambda _: heights(torch, case, tensors)),
    }
    ours = Way(lambda _: batches.fit_screened(formula, raw, case.shape, BATCH, parameters))
    common: dict[str, Any] = {"clock": time.process_time, "work": BATCH}
    name, shape = f"{case.claim}, batch", case.sizes
    yield Timer(name, shape, lambda: [None], ours, ways, **common)
    turn = Way(lambda _: _turns(claim), runs=1, took=lambda each: BATCH * each)
    yield Timer(f"{case.claim}, turn", "all", lambda: [None], turn, **common)


def screening() -> Iterator[Timer]:
    """Yield the rows of all cases."""
    packs = load_packs()
    with np.errstate(all="ignore"):
        for case in CASES:
            (claim,) = find_claims(packs, [case.claim])
            yield from _closed_form(case, claim)

"""The judge of formulas: decides an instance in balls, exact zeros by surds and fingerprints."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flint import arb, ctx, fmpq

from attsvm._types import Case
from attsvm.theory.arithmetic import BALLS, ENCLOSURES, TAILS, Balls, Entries, entries
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.arithmetic.relations import All, AnyOf, Comparison, Relation, returned
from attsvm.theory.arithmetic.traces import TRACES, Trace, Untraceable
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.slack import Slack

PRECISIONS = (64, 128, 256, 512, 1024, 2048)
"""Working precisions in bits, tried in turn until the sign of the slack is decided."""

_FURTHER = (8192, 65536, 2**18)
"""Tried if the sides of a formula have different fingerprints, so that they may differ.

Attention that leaves a token behind by a logit of 20,000 gives it less than 2^-28000. Bits beyond
the first of these are for such sides alone: logarithms and spectral norms that are equal may have
different fingerprints as well, and each takes up to a second at so many bits.
"""

_TINY = 5e-324
"""A slack that is too small or too large for a float keeps its sign and is a float."""

_SMALL = 1e-9
"""Radius of sides, relative to a large slack, with which their middles say where to look."""

_TRACED = 128
"""The precision from which on fingerprints are asked, before more bits are spent."""

KINDS: Mapping[str, Literal["inequality", "strict", "equality"]] = {
    "at most": "inequality",
    "below": "strict",
    "equal": "equality",
}
"""The kind of slack of each comparison."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the judge says of one instance.

    Attributes:
        holds: True, False, or None where neither was proved.
        slack: the right side minus the left, or minus the residual, as a rational or ball.
        ratio: a lower bound of left over right side, where both are positive.
        kind: that of the comparison.
        method: how it was decided.
    """

    holds: bool | None
    slack: fmpq | arb
    ratio: float | None
    kind: str
    method: str

    @property
    def as_slack(self) -> Slack:
        """The slack in floats, its radius rounded up."""
        if self.holds is None:
            return Slack.unknown(self.method)
        value, error = _float(self.slack)
        if math.isnan(value):  # another entry has no value: the sign is known, the size is not
            value, error = 0.0, 0.0
        kind = KINDS[self.kind]
        if kind == "equality":
            return Slack(0.0 if self.holds else min(value, -_TINY), 0.0, kind)
        if self.holds:
            value = max(value, _TINY if kind == "strict" else 0.0)
        else:
            value = min(value, 0.0 if kind == "strict" else -_TINY)
        # the sign is known; beyond the floats the value is infinite, and only its sign is said
        error = 0.0 if math.isinf(value) else min(error, abs(value) / 2)
        return Slack(value, error, kind, self.ratio)


def judge(formula: Formula, parameters: Mapping[str, object], case: Case) -> Judgement:
    """Decide the conclusion on one instance from its exact values."""
    try:
        return _judged(formula, parameters, case)
    except ZeroDivisionError:
        said = "the conclusion divides by 0: exclude that by a hypothesis, or multiply both sides"
        return Judgement(None, arb("nan"), None, "at most", said)


def violates_at_once(
    formula: Formula, parameters: Mapping[str, object], case: Case, *, counts: bool
) -> bool | None:
    """Return whether an instance meets all hypotheses and fails the conclusion.

    The formulas are evaluated once: in rationals as far as they go, or in balls if the formula
    `counts` with its integers, as rationals may be too long then. None if that leaves it open.
    """
    m = ENCLOSURES if counts else BALLS
    with ctx.workprec(_TRACED):
        values = formula.enclosed(case) if counts else formula.exact(case)
        met = True
        for condition in formula.hypotheses.values():
            answer = _decided(returned(condition.holds(m, values), "a hypothesis"))
            if answer is False:
                return False
            met = met and answer is True
        holds = _decided(formula.relation(m, values, parameters))
    if holds:
        return False
    return True if met and holds is False else None


def glance(formula: Formula, parameters: Mapping[str, object], case: Case) -> float:
    """How close a record comes to violation in one evaluation: 1 or more where it looks violated.

    What is measured is evaluated in floats. A formula is evaluated in balls, of which the middle
    counts once they are small. This says where to look and decides nothing.
    """
    if formula.measured is not None:
        found = formula.measured.floats(case, **{**formula.constants, **parameters})
        return found.height if found.kind != "unknown" else math.nan
    for bits in PRECISIONS[1::2]:
        with ctx.workprec(bits):
            relation = formula.relation(BALLS, formula.exact(case), parameters)
            kind, slack, ratio = _measured(relation)
            value = _float(slack)[0]
            sure = _radius(relation) <= _SMALL * max(abs(value), 1.0)
        answer = _decided(relation)
        if sure or answer is not None:
            height = Slack(value, 0.0, KINDS[kind], ratio).height
            return height if answer is not False else max(height, TOUCHED)
    return math.nan


def _judged(formula: Formula, parameters: Mapping[str, object], case: Case) -> Judgement:
    relation: Any = None
    traced: Any = None
    for bits, m, values in _attempts(formula, case, _FURTHER):
        if bits in _FURTHER and not (traced is not None and _differ(traced) and _finite(relation)):
            break
        if bits in _FURTHER[1:] and not _steep(traced):
            break
        with ctx.workprec(bits):
            relation = formula.relation(m, values(case), parameters)
            kind, slack, ratio = _measured(relation)
            answer = _decided(relation)
        if answer is not None:
            exact = isinstance(slack, fmpq)
            method = "rationals" if exact else f"ball arithmetic at {bits} bits"
            return Judgement(answer, slack, ratio, kind, method)
        if _asks_fingerprints(m, bits, traced):
            with contextlib.suppress(Untraceable), ctx.workprec(bits):
                traced = formula.relation(TRACES, formula.traced(case), parameters)
                known = _known(traced)
                answer = _decided(known)
                if answer is not None:
                    kind, slack, _ = _measured(known)
                    return Judgement(answer, slack, ratio, kind, "roots of rationals, exactly")
        if traced is not None and _traced(traced, relation):
            return Judgement(True, fmpq(0), ratio, kind, "both sides are one expression")
        tried = bits
    said = (
        f"sign open at {tried} bits: the sides may be equal, but are not known as one expression "
        "(logarithms and sums of roots can hide that: compare exponentials or squares)"
    )
    if not _finite(relation):
        said = (
            f"a side of the conclusion is no finite number at {tried} bits (a logarithm or a root "
            "is undefined, something divides by 0, or a number is too large): exclude that by a "
            "hypothesis"
        )
    return Judgement(None, slack, ratio, kind, said)


def _attempts(
    formula: Formula, case: Case, further: Sequence[int] = ()
) -> Iterator[tuple[int, Balls, Callable[[Any], Any]]]:
    """Precisions, an arithmetic, and what gives it the values of an instance, to try in turn.

    Where an integer lies beyond those that are drawn, such as the number of steps of a long run,
    rationals may have more digits than fit into any memory: there they come last.
    """
    if formula.counts_beyond(case):
        yield from ((bits, ENCLOSURES, formula.enclosed) for bits in PRECISIONS)
    yield from ((bits, BALLS, formula.exact) for bits in (*PRECISIONS, *further[:1]))
    yield from ((bits, TAILS, formula.exact) for bits in further[1:])
    yield from ((bits, BALLS, formula.exact) for bits in further[1:2])


def _asks_fingerprints(m: Balls, bits: int, traced: Any) -> bool:
    """Whether fingerprints are asked for at a precision.

    They are the same at each, so once will do, but for roots that more bits show to cancel.
    """
    if m is not BALLS or not _TRACED <= bits <= _FURTHER[0]:
        return False
    return traced is None or bits >= PRECISIONS[-1]


_SIGNS = {"at most": "<=", "below": "<", "equal": "="}


def sides(formula: Formula, parameters: Mapping[str, object], case: Case) -> str:
    """The comparison that counts on an instance, with the values of its sides to six digits."""
    with ctx.workprec(_TRACED):
        relation: Any = formula.relation(BALLS, formula.exact(case), parameters)
        while isinstance(relation, All | AnyOf):
            choose = min if isinstance(relation, All) else max
            relation = choose(_counting(relation), key=lambda part: _float(_measured(part)[1])[0])
        if isinstance(relation.right - relation.left, Entries):
            worst = max(_gaps(relation), key=lambda gap: abs(_float(gap)[0]))
            return f"0 = {_digits(-worst)} of one entry of the left side minus the right"
        return f"{_digits(relation.left)} {_SIGNS[relation.kind]} {_digits(relation.right)}"


def _digits(value: int | fmpq | arb) -> str:
    text = str(value)
    if isinstance(value, int | fmpq) and len(text) <= 12:
        return text
    return str(arb(value).str(6, radius=False))


def meets(condition: Any, formula: Formula, case: Case) -> bool:
    """Whether an instance is proved to meet a hypothesis.

    What stays open counts as not met, and so does a hypothesis that divides by 0.
    """
    try:
        return _met(condition, formula, case) is True
    except ZeroDivisionError:
        return False


def misses_one(formula: Formula, case: Case) -> bool:
    """Return whether an instance is proved to miss some hypothesis; one that stays open is none."""
    for hypothesis in formula.hypotheses.values():
        with contextlib.suppress(ZeroDivisionError):
            if _met(hypothesis.holds, formula, case) is False:
                return True
    return False


def _met(condition: Any, formula: Formula, case: Case) -> bool | None:
    """Return whether an instance meets a hypothesis; None if that stays open."""
    traced: Any = None
    for bits, m, values in _attempts(formula, case):
        with ctx.workprec(bits):
            relation = returned(evaluate(condition, m, values(case)), "a hypothesis")
            answer = _decided(relation)
        if answer is not None:
            return answer
        if _asks_fingerprints(m, bits, traced):
            with contextlib.suppress(Untraceable), ctx.workprec(bits):
                traced = evaluate(condition, TRACES, formula.traced(case))
        if traced is not None and _traced(traced, relation):
            return True
    return None


def _known(relation: Relation) -> Any:
    """A relation of traces as one of rationals and balls, no number where a residue decided."""
    if isinstance(relation, All | AnyOf):
        return type(relation)(tuple(_known(part) for part in relation.parts))
    gaps = [right - left for left, right in _sides(relation)]
    balls = [gap.ball if gap.sure else arb("nan") for gap in gaps]
    return Comparison(relation.kind, fmpq(0), balls[0] if len(balls) == 1 else entries(balls))


def _traced(relation: Relation, balls: Any) -> bool:
    """Whether fingerprints or balls say that a relation holds; False says nothing.

    The relation of balls, which may be of more bits than that of traces, is of the same form.
    """
    if isinstance(relation, All | AnyOf):
        if type(balls) is not type(relation) or len(balls.parts) != len(relation.parts):
            return False  # a formula that is another one for traces
        parts = [_traced(*both) for both in zip(relation.parts, balls.parts, strict=True)]
        return all(parts) if isinstance(relation, All) else any(parts)
    if isinstance(balls, All | AnyOf):
        return False
    if relation.kind == balls.kind and _decided(balls):
        return True
    for left, right in _sides(relation):
        if relation.kind == "below":
            if not (right - left).ball > 0:
                return False
        elif not left.same(right) and (relation.kind == "equal" or not (right - left).ball >= 0):
            return False
    return True


def _differ(relation: Relation) -> bool:
    """Whether fingerprints of some two sides differ."""
    if isinstance(relation, All | AnyOf):
        return any(map(_differ, relation.parts))
    return any(not left.same(right) for left, right in _sides(relation))


def _steep(relation: Relation) -> bool:
    """Return whether sides that differ may differ by so little that 8192 bits do not show it."""
    if isinstance(relation, All | AnyOf):
        return any(map(_steep, relation.parts))
    return any(trace.steep for pair in _sides(relation) for trace in pair)


def _sides(relation: Comparison) -> list[tuple[Trace, Trace]]:
    """Both sides, entry by entry; an array may be compared with one number."""
    columns = [
        list(side.ravel()) if isinstance(side, Entries) else [side]
        for side in (relation.left, relation.right)
    ]
    length = max(len(column) for column in columns)
    left, right = (column * (length // len(column)) for column in columns)
    return [(_trace(a), _trace(b)) for a, b in zip(left, right, strict=True)]


def _trace(value: Any) -> Trace:
    """A number of the arithmetic of traces; formulas may return integers."""
    return value if isinstance(value, Trace) else TRACES.exact(value)


def _decided(relation: Relation) -> bool | None:
    """Whether a relation of rationals and balls holds, None where it is open."""
    if isinstance(relation, All | AnyOf):
        parts = [_decided(part) for part in relation.parts]
        absorbing = isinstance(relation, AnyOf)
        if any(part is absorbing for part in parts):
            return absorbing
        return None if any(part is None for part in parts) else not absorbing
    if relation.kind == "equal":
        signs = {_equal(gap) for gap in _gaps(relation)}
        return False if False in signs else None if None in signs else True
    gap = _gaps(relation)[0]
    if relation.kind == "below":
        return True if gap > 0 else False if gap <= 0 else None
    return True if gap >= 0 else False if gap < 0 else None


def _equal(gap: Any) -> bool | None:
    if gap == 0 and (not isinstance(gap, arb) or gap.is_zero()):
        return True
    return False if gap > 0 or gap < 0 else None


def _gaps(relation: Comparison) -> list[Any]:
    """Right minus left, entry by entry."""
    moved = relation.right - relation.left
    return list(moved.ravel()) if isinstance(moved, Entries) else [moved]


def _finite(relation: Relation) -> bool:
    """Whether all numbers that are compared are finite, as no undefined one is."""
    if isinstance(relation, All | AnyOf):
        return all(_finite(part) for part in relation.parts)
    return all(not isinstance(gap, arb) or gap.is_finite() for gap in _gaps(relation))


def _radius(relation: Relation) -> float:
    """The largest radius of a slack."""
    if isinstance(relation, All | AnyOf):
        return max(_radius(part) for part in relation.parts)
    return max((_float(gap)[1] for gap in _gaps(relation)), default=0.0)


def _counting(relation: All | AnyOf) -> list[Relation]:
    """The parts that say whether the whole holds: those that decide it, all where none does."""
    answers = [_decided(part) for part in relation.parts]
    absorbing = isinstance(relation, AnyOf)
    chosen = [p for p, a in zip(relation.parts, answers, strict=True) if a is absorbing]
    return chosen or list(relation.parts)


def _measured(relation: Relation) -> tuple[str, Any, float | None]:
    """Kind, slack and ratio of a relation; of several comparisons those of the one that counts."""
    if isinstance(relation, All | AnyOf):
        parts = [_measured(part) for part in _counting(relation)]
        choose = min if isinstance(relation, All) else max
        return choose(parts, key=lambda part: _float(part[1])[0])
    if relation.kind == "equal":
        worst: Any = fmpq(0)
        for gap in _gaps(relation):
            size = abs(gap)
            exact = isinstance(size, fmpq) and isinstance(worst, fmpq)
            worst = max(size, worst) if exact else arb(size).max(arb(worst))
        return "equal", -worst, None
    sides: tuple[Any, Any] = relation.left, relation.right
    (left, right), ratio = sides, None
    if right > 0 and not left < 0:  # a ball about 0 counts as 0
        middle, radius = _float(arb(left) / arb(right))
        ratio = max(0.0, middle - radius)
    return relation.kind, _gaps(relation)[0], ratio


def _float(value: Any) -> tuple[float, float]:
    """The middle of a ball and its radius as floats; infinite where they do not fit."""
    ball = arb(value)
    if not ball.is_finite():
        return math.nan, math.inf
    return float(ball.mid()), float(ball.rad().upper()) * (1 + 1e-9)

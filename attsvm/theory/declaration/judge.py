"""The judge of formulas: it decides an instance in balls, and equality by fingerprints.

Truth is decided from exact values in this order:

1. The formula is evaluated in rationals, and in balls at growing precision. A relation is true or
   false only if all numbers in the balls make it so. If the balls overlap, the sign is open.
2. Balls never prove that two irrational sides are equal. Therefore the sides also get fingerprints
   and exact forms of roots (`attsvm.theory.arithmetic.traces`). Equal fingerprints prove equality
   up to a negligible probability.
3. Different fingerprints never refute: one number may be written in two ways, such as log 4 and
   2 log 2. They only say that more bits may help.
4. Exact forms of exponentials, logarithms and roots (`attsvm.theory.arithmetic.exponentials`), and
   separation bounds of algebraic numbers, prove that a gap is 0, which may refute a strict
   inequality. A relation that still is open stays undecided.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flint import arb, ctx, fmpq

from attsvm._types import Case
from attsvm.theory.arithmetic import BALLS, ENCLOSURES, TAILS, Balls, Entries, entries
from attsvm.theory.arithmetic.balls import Doubts
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Relation, Unequal, returned
from attsvm.theory.arithmetic.traces import TRACES, Trace, Untraceable
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.metering import evaluate, may_be_untraceable
from attsvm.theory.declaration.slack import Slack

if TYPE_CHECKING:
    from attsvm.theory.arithmetic.exponentials import Exact as ExactForm
    from attsvm.theory.arithmetic.exponentials import Exponentials

PRECISIONS = (64, 128, 256, 512, 1024, 2048)
"""Working precisions in bits, tried in order until the sign of the slack is decided."""

_FURTHER = (8192, 65536, 2**18)
"""Further precisions in bits, tried only if the two sides have different fingerprints.

Attention gives a token less than 2^-28000 if its logit is 20,000 below the best one. Precisions
beyond the first are for such steep exponentials alone (`_steep`). Logarithms and spectral norms may
be equal although their fingerprints differ, and each takes up to a second at so many bits.
"""

_TINY = 5e-324
"""Least positive float: a slack that is too small for a float keeps its sign as this value."""

_SMALL = 1e-9
"""Maximum radius of a slack, relative to the larger of 1 and the slack, for use in `glance`."""

_FORMED = (512, 2048)
"""Precisions in bits at which exact forms are computed, each with the full budget of work.

A form costs as much as several evaluations in balls. If the sides differ, as in saturated
attention, balls of 512 bits mostly show it, and no form is needed.
"""

_TRACED = 128
"""Least precision in bits at which fingerprints are computed; fewer bits may decide alone."""

Exact = int | fmpq | arb
"""A number of the judge: an integer, a rational or a ball."""

KINDS: Mapping[str, Literal["inequality", "strict", "equality"]] = {
    "at most": "inequality",
    "below": "strict",
    "equal": "equality",
}
"""Kind of slack of each comparison."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's decision on one instance.

    Attributes:
        holds: True, False, or None if neither was proved.
        slack: the right side minus the left, or minus the residual, as a rational or ball.
        ratio: a lower bound of left over right side, if both are positive.
        kind: the kind of the comparison.
        method: the method that decided.
    """

    holds: bool | None
    slack: Exact
    ratio: float | None
    kind: str
    method: str

    @property
    def as_slack(self) -> Slack:
        """The slack in floats, its radius rounded up."""
        if self.holds is None:
            return Slack.unknown(self.method)
        value, error = middle_and_radius(self.slack)
        if math.isnan(value):  # another entry is undefined: the sign is known, the size is not
            value, error = 0.0, 0.0
        # The sign was decided on exact values. The float must not lose it: a slack of 10^-400
        # would be 0 in floats, and a violation would look like an equality.
        kind = KINDS[self.kind]
        if kind == "equality":
            return Slack(0.0 if self.holds else min(value, -_TINY), 0.0, kind)
        if self.holds:
            value = max(value, _TINY if kind == "strict" else 0.0)
        else:
            value = min(value, 0.0 if kind == "strict" else -_TINY)
        # |value - true slack| <= error must leave no doubt of the sign, so the error stays below
        # |value|. A value beyond floats is infinite; its error is meaningless.
        error = 0.0 if math.isinf(value) else min(error, abs(value) / 2)
        return Slack(value, error, kind, self.ratio)


def judge(formula: Formula, parameters: Mapping[str, object], case: Case) -> Judgement:
    """Return the decision on the conclusion on one instance, from its exact values."""
    try:
        return _judged(formula, parameters, case)
    except ZeroDivisionError:
        text = "the conclusion divides by 0: exclude that by a hypothesis, or multiply both sides"
        return Judgement(None, arb("nan"), None, "at most", text)


def slack_of(formula: Formula, case: Case, **parameters: object) -> Slack:
    """Return the slack of a formula on an instance, as the judge decides it."""
    return judge(formula, parameters, case).as_slack


def violates_at_once(
    formula: Formula, parameters: Mapping[str, object], case: Case, *, counts: bool
) -> bool | None:
    """Return whether an instance meets all hypotheses and fails the conclusion.

    The formulas are evaluated in rationals and balls. If the formula `counts` with its integers,
    balls alone are used, as rationals may be too long. If few bits leave the instance open, as for
    the remainder of a large power, more bits follow. The result is None if it stays open.
    """
    if not counts:
        with ctx.workprec(_TRACED):
            return _violates(formula, parameters, case, BALLS, formula.exact)
    answer = None
    for bits in (_TRACED, _FURTHER[0]):
        with ctx.workprec(bits):
            answer = _violates(formula, parameters, case, ENCLOSURES, formula.enclosed)
        if answer is not None:
            break
    return answer


def _violates(
    formula: Formula,
    parameters: Mapping[str, object],
    case: Case,
    m: Balls,
    values_of: Callable[[Case], Values],
) -> bool | None:
    """Return the answer of `violates_at_once` in one arithmetic."""
    doubts = Doubts.count
    values = values_of(case)
    met = True
    for condition in formula.hypotheses.values():
        answer = decided(returned(evaluate(condition.holds, m, values), "a hypothesis"))
        if answer is False:
            return False
        met = met and answer is True
    holds = decided(formula.relation(m, values, parameters))
    if holds:
        return False
    return True if met and holds is False and doubts == Doubts.count else None


def glance(formula: Formula, parameters: Mapping[str, object], case: Case) -> float:
    """Return how close an instance comes to violation; above 1 if it looks violated.

    A measured conclusion is evaluated in floats. A formula is evaluated in balls, until they are
    small enough for their middles to count. The result guides a search and decides nothing.
    """
    if formula.measured is not None:
        result = formula.measured.floats(case, **{**formula.constants, **parameters})
        return result.height if result.kind != "unknown" else math.nan
    counts = formula.counts_beyond(case)
    m, values = (ENCLOSURES, formula.enclosed) if counts else (BALLS, formula.exact)
    for bits in PRECISIONS[1::2]:
        with ctx.workprec(bits):
            relation = formula.relation(m, values(case), parameters)
            kind, slack, ratio = _measured(relation)
            value = middle_and_radius(slack)[0]
            sure = _radius(relation) <= _SMALL * max(value, 1.0)  # a clear violation has an answer
        answer = decided(relation)
        if sure or answer is not None:
            height = Slack(value, 0.0, KINDS[kind], ratio).height
            return height if answer is not False else max(TOUCHED, height)  # a height may be NaN
    return math.nan


def _judged(formula: Formula, parameters: Mapping[str, object], case: Case) -> Judgement:
    relation: Any = None
    traced: Relation | None = None
    limits: set[str] = set()
    for bits, m, values in _attempts(formula, case, _FURTHER):
        # More bits cannot separate equal sides, nor give an undefined side a value. Only different
        # fingerprints are a reason to go on.
        if bits in _FURTHER and not (traced is not None and _differ(traced) and _finite(relation)):
            break
        # Without steep exponentials, two different sides of this length differ at 8192 bits.
        # Fingerprints of equal logarithms may differ, which would cost seconds for nothing.
        if bits in _FURTHER[1:] and (traced is None or not _steep(traced)):
            break
        doubts = Doubts.count
        with ctx.workprec(bits):
            relation = formula.relation(m, values(case), parameters)
            kind, slack, ratio = _measured(relation)
            answer = decided(relation)
        if answer or (answer is False and doubts == Doubts.count):
            exact = isinstance(slack, fmpq)
            method = "rationals" if exact else f"ball arithmetic at {bits} bits"
            return Judgement(answer, slack, ratio, kind, method)
        if _asks_fingerprints(m, bits, traced):
            doubts = Doubts.count
            with may_be_untraceable(limits), ctx.workprec(bits):
                traced = formula.relation(TRACES, formula.known(TRACES, case), parameters)
                # Roots that cancel, as sqrt(8) - 2 sqrt(2), are rational in the exact part of a
                # trace, though their balls always contain 0. This part may refute; fingerprints,
                # which `_traced` uses below, may only confirm.
                known = proved_part(traced)
                answer = decided(known)
                if answer or (answer is False and doubts == Doubts.count):
                    kind, slack, _ = _measured(known)
                    return Judgement(answer, slack, ratio, kind, "roots of rationals, exactly")
        # balls are open and fingerprints agree, so the deciding sides are equal: the slack is 0
        if traced is not None and _traced(traced, relation):
            return Judgement(True, fmpq(0), ratio, kind, "both sides are one expression")
        if m is BALLS and bits in _FORMED:
            doubts = Doubts.count
            exactly = _settled(
                lambda forms: formula.relation(forms, formula.known(forms, case), parameters), bits
            )
            answer = None if exactly is None else decided(exactly)
            if exactly is not None and (answer or (answer is False and doubts == Doubts.count)):
                kind, slack, _ = _measured(exactly)
                return Judgement(answer, slack, ratio, kind, "exponentials and roots, exactly")
        tried = bits
    text = (
        f"sign undecided at {tried} bits: the sides may be equal, but are not known as one "
        "expression (exponentials of irrational numbers and sums of many roots can hide that)"
    )
    if decided(relation) is False:  # by an evaluation with doubts
        text = f"a root or x ln(x) may be undefined, as its argument may be below 0 at {tried} bits"
    if not _finite(relation):
        text = (
            f"a side of the conclusion is no finite number at {tried} bits (a logarithm or a root "
            "is undefined, something divides by 0, or a number is too large): exclude that by a "
            "hypothesis"
        )
    return Judgement(None, slack, ratio, kind, "; ".join([text, *limits]))


def _attempts(
    formula: Formula, case: Case, further: Sequence[int] = ()
) -> Iterator[tuple[int, Balls, Callable[[Case], Values]]]:
    """Yield precisions, arithmetics, and functions that give the values, in the order of trial.

    If an integer exceeds the drawn ones, such as the steps of a long run, rationals may have
    more digits than fit into memory. Then balls are tried first.

    At the highest precisions, exponentials of few bits (`TAILS`) come first, because exponentials
    of all bits take up to a second each.
    """
    if formula.counts_beyond(case):
        yield from ((bits, ENCLOSURES, formula.enclosed) for bits in PRECISIONS)
    yield from ((bits, BALLS, formula.exact) for bits in (*PRECISIONS, *further[:1]))
    yield from ((bits, TAILS, formula.exact) for bits in further[1:])
    yield from ((bits, BALLS, formula.exact) for bits in further[1:2])


def _asks_fingerprints(m: Balls, bits: int, traced: Relation | None) -> bool:
    """Return whether to compute fingerprints at a precision.

    Fingerprints do not depend on the precision, so that one computation is enough. They are
    computed again at high precision, since more bits may show that roots cancel.
    """
    if m is not BALLS or not _TRACED <= bits <= _FURTHER[0]:
        return False
    return traced is None or bits >= PRECISIONS[-1]


_SIGNS = {"at most": "<=", "below": "<", "equal": "="}


def sides(formula: Formula, parameters: Mapping[str, object], case: Case) -> str:
    """Return the deciding comparison on an instance, with its sides to six digits."""
    counts = formula.counts_beyond(case)
    m, values = (ENCLOSURES, formula.enclosed) if counts else (BALLS, formula.exact)
    with ctx.workprec(_TRACED):
        relation: Any = formula.relation(m, values(case), parameters)
        # of a conjunction the part with the least slack decides, of a disjunction the largest
        while isinstance(relation, All | AnyOf):
            if isinstance(relation, Unequal):  # both parts compare the same two sides
                return "left side - right side != 0"
            choose = min if isinstance(relation, All) else max
            relation = choose(
                _counting(relation), key=lambda part: middle_and_radius(_measured(part)[1])[0]
            )
        if isinstance(relation.right - relation.left, Entries):
            worst = max(
                _gaps(relation),
                key=lambda gap: (is_zero(gap) is False, abs(middle_and_radius(gap)[0])),
            )
            return f"{_digits(-worst)} = 0 (an entry of left side - right side)"
        return f"{_digits(relation.left)} {_SIGNS[relation.kind]} {_digits(relation.right)}"


def _digits(value: int | fmpq | arb) -> str:
    text = str(value)
    if isinstance(value, int | fmpq) and len(text) <= 12:
        return text
    digits = str(arb(value).str(6, radius=False))
    return "0" if digits.startswith("0e") else digits  # a ball about 0


def meets(condition: Callable[..., object], formula: Formula, case: Case) -> bool:
    """Return whether an instance is proved to meet a hypothesis.

    A hypothesis that stays open, or divides by 0, counts as not met. Therefore a refutation never
    depends on a doubtful hypothesis.
    """
    try:
        return _met(condition, formula, case) is True
    except ZeroDivisionError:
        return False


def misses(condition: Callable[..., object], formula: Formula, case: Case) -> bool:
    """Return whether an instance is proved to miss a hypothesis; an open one does not count."""
    try:
        return _met(condition, formula, case) is False
    except ZeroDivisionError:
        return False


def misses_one(formula: Formula, case: Case) -> bool:
    """Return whether an instance is proved to miss a hypothesis of a formula."""
    return any(misses(one.holds, formula, case) for one in formula.hypotheses.values())


def _met(condition: Callable[..., object], formula: Formula, case: Case) -> bool | None:
    """Return whether an instance meets a hypothesis; None if that stays open."""
    traced: Relation | None = None
    for bits, m, values in _attempts(formula, case):
        doubts = Doubts.count
        with ctx.workprec(bits):
            relation = returned(evaluate(condition, m, values(case)), "a hypothesis")
            answer = decided(relation)
        if answer is False or (answer and doubts == Doubts.count):
            return answer
        if _asks_fingerprints(m, bits, traced):
            with contextlib.suppress(Untraceable), ctx.workprec(bits):
                result = evaluate(condition, TRACES, formula.known(TRACES, case))
                traced = returned(result, "a hypothesis")
        if traced is not None and _traced(traced, relation):
            return True
        if m is BALLS and bits in _FORMED:
            doubts = Doubts.count
            exactly = _settled(
                lambda forms: returned(
                    evaluate(condition, forms, formula.known(forms, case)), "a hypothesis"
                ),
                bits,
            )
            answer = None if exactly is None else decided(exactly)
            if answer is False or (answer and doubts == Doubts.count):
                return answer
    return None


def _settled(evaluated: Callable[[Exponentials], Relation], bits: int) -> Relation | None:
    """Return a relation of balls in which each gap that exact forms prove to be 0 is 0.

    None if neither ball nor form decides a branch of the formula.
    """
    from attsvm.theory.arithmetic.exponentials import Exponentials

    with contextlib.suppress(Untraceable), ctx.workprec(bits):
        return _gaps_settled(evaluated(Exponentials()))
    return None


def _gaps_settled(relation: Relation) -> Relation:
    from attsvm.theory.arithmetic.exponentials import Exact as ExactForm

    if isinstance(relation, All | AnyOf):
        return type(relation)(tuple(_gaps_settled(part) for part in relation.parts))
    gaps: Sequence[Exact | ExactForm] = _gaps(relation)
    balls = [gap.settled() if isinstance(gap, ExactForm) else gap for gap in gaps]
    return Comparison(relation.kind, fmpq(0), balls[0] if len(balls) == 1 else entries(balls))


def proved_part(relation: Relation) -> Relation:
    """Return a relation of traces as a relation of balls, for `decided`.

    A gap that rests on a fingerprint becomes NaN, which decides nothing. Thus only gaps whose
    value is proved can refute.
    """
    if isinstance(relation, All | AnyOf):
        return type(relation)(tuple(proved_part(part) for part in relation.parts))
    gaps = [right - left for left, right in _sides(relation)]
    # a trace is sure if no step to its ball used a residue, which could agree by chance
    balls = [gap.ball if gap.sure else arb("nan") for gap in gaps]
    return Comparison(relation.kind, fmpq(0), balls[0] if len(balls) == 1 else entries(balls))


def _traced(relation: Relation, balls: Relation) -> bool:
    """Return whether fingerprints or balls show that a relation is true; False shows nothing.

    Equal fingerprints prove equality. Different ones never refute it, because one number may be
    written as two expressions. `balls` is the same relation in balls, perhaps of more bits.
    """
    if isinstance(relation, All | AnyOf):
        if type(balls) is not type(relation) or len(balls.parts) != len(relation.parts):
            return False  # the formula took another branch on traces
        parts = [_traced(*both) for both in zip(relation.parts, balls.parts, strict=True)]
        return all(parts) if isinstance(relation, All) else any(parts)
    if isinstance(balls, All | AnyOf):
        return False
    if relation.kind == balls.kind and decided(balls):
        return True
    for left, right in _sides(relation):
        if relation.kind == "below":  # equal sides violate it, so only a ball can confirm
            if not (right - left).ball > 0:
                return False
        elif not left.same(right) and (relation.kind == "equal" or not (right - left).ball >= 0):
            return False
    return True


def _differ(relation: Relation) -> bool:
    """Return whether the fingerprints of two sides differ anywhere."""
    if isinstance(relation, All | AnyOf):
        return any(map(_differ, relation.parts))
    return any(not left.same(right) for left, right in _sides(relation))


def _steep(relation: Relation) -> bool:
    """Return whether a side has steep exponentials, so that 8192 bits may not show a difference."""
    if isinstance(relation, All | AnyOf):
        return any(map(_steep, relation.parts))
    return any(trace.steep for pair in _sides(relation) for trace in pair)


def _sides(relation: Comparison) -> list[tuple[Trace, Trace]]:
    """Return pairs of both sides, entry by entry; an array may be compared with one number."""
    columns = [
        list(side.ravel()) if isinstance(side, Entries) else [side]
        for side in (relation.left, relation.right)
    ]
    length = max(len(column) for column in columns)
    left, right = (column * (length // len(column)) for column in columns)
    return [(_trace(a), _trace(b)) for a, b in zip(left, right, strict=True)]


def _trace(value: object) -> Trace:
    """Return a value as a trace; formulas may return integers."""
    return value if isinstance(value, Trace) else TRACES.exact(value)


def decided(relation: Relation) -> bool | None:
    """Return whether a relation of rationals and balls is true, None if it is open.

    A conjunction is false if one part is false, and a disjunction is true if one part is true,
    even if other parts are open. A comparison of balls is true only for all their numbers.
    """
    if isinstance(relation, All | AnyOf):
        parts = [decided(part) for part in relation.parts]
        absorbing = isinstance(relation, AnyOf)
        if any(part is absorbing for part in parts):
            return absorbing
        return None if any(part is None for part in parts) else not absorbing
    if relation.kind == "equal":
        signs = {is_zero(gap) for gap in _gaps(relation)}
        return False if False in signs else None if None in signs else True
    gap = _gaps(relation)[0]
    # Flint compares balls by all their numbers: `gap > 0` is False for a ball that contains 0, and
    # for NaN. So neither answer follows from the failure of the other, and both are tested.
    if relation.kind == "below":
        return True if gap > 0 else False if gap <= 0 else None
    return True if gap >= 0 else False if gap < 0 else None


def is_zero(gap: Exact) -> bool | None:
    """Return whether a number or a ball is 0, None if undecided."""
    if gap == 0 and (not isinstance(gap, arb) or gap.is_zero()):  # a ball of radius 0 about 0
        return True
    return False if gap > 0 or gap < 0 else None


def _gaps(relation: Comparison) -> list[Exact]:
    """Return right minus left, entry by entry."""
    moved = relation.right - relation.left
    return list(moved.ravel()) if isinstance(moved, Entries) else [moved]


def _finite(relation: Relation) -> bool:
    """Return whether all compared numbers are finite; undefined numbers are not."""
    if isinstance(relation, All | AnyOf):
        return all(_finite(part) for part in relation.parts)
    return all(not isinstance(gap, arb) or gap.is_finite() for gap in _gaps(relation))


def _radius(relation: Relation) -> float:
    """Return the largest radius of the slacks of a relation."""
    if isinstance(relation, All | AnyOf):
        return max(_radius(part) for part in relation.parts)
    return max((middle_and_radius(gap)[1] for gap in _gaps(relation)), default=0.0)


def _counting(relation: All | AnyOf) -> list[Relation]:
    """Return the parts that decide the whole relation; all parts if none decides it alone."""
    answers = [decided(part) for part in relation.parts]
    absorbing = isinstance(relation, AnyOf)
    chosen = [p for p, a in zip(relation.parts, answers, strict=True) if a is absorbing]
    return chosen or list(relation.parts)


def _measured(relation: Relation) -> tuple[str, Exact, float | None]:
    """Return kind, slack and ratio of a relation, or of the comparison in it that decides.

    The deciding comparison has the smallest slack in a conjunction, the largest in a disjunction.
    """
    if isinstance(relation, All | AnyOf):
        parts = [_measured(part) for part in _counting(relation)]
        choose = min if isinstance(relation, All) else max
        return choose(parts, key=lambda part: middle_and_radius(part[1])[0])
    if relation.kind == "equal":
        worst: fmpq | arb = fmpq(0)
        for gap in _gaps(relation):
            size: Any = abs(gap)
            exact = isinstance(size, fmpq) and isinstance(worst, fmpq)
            worst = max(size, worst) if exact else arb(size).max(arb(worst))
        return "equal", -worst, None
    sides: tuple[Any, Any] = relation.left, relation.right
    (left, right), ratio = sides, None
    if right > 0 and not left < 0:  # a left side whose ball contains 0 counts as 0
        middle, radius = middle_and_radius(arb(left) / arb(right))
        ratio = max(0.0, middle - radius)  # the lower end, so that no tightness is invented
    return relation.kind, _gaps(relation)[0], ratio


def middle_and_radius(value: Exact) -> tuple[float, float]:
    """Return the middle and the radius of a ball as floats; NaN and infinity if not finite."""
    ball = arb(value)
    if not ball.is_finite():
        return math.nan, math.inf
    # the factor covers the conversion of the radius to a float, which rounds to nearest
    return float(ball.mid()), float(ball.rad().upper()) * (1 + 1e-9)

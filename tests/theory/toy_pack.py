"""Toy claims with known verdicts, one for every way in which a check can end.

Every conclusion is a slack computed from small exact numbers; a sibling subtracts `shift`.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
import typing
from dataclasses import dataclass
from typing import Any

import hypothesis
import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.theory import (
    Hypothesis,
    Measured,
    Reading,
    Real,
    Records,
    Slack,
    Statement,
    changed,
    ensure_true,
)
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.terms import Function

SMALL = st.integers(-1000, 1000).map(lambda k: k / 8)
SHIFTED = {"shift 100": changed(shift=100.0), "shift 1000": changed(shift=1000.0)}


def listed(hypotheses: Any) -> dict[str, Hypothesis]:
    """Hypotheses by name, from hypotheses or from predicates by name; none from None."""
    if isinstance(hypotheses, tuple):
        return {one.name: one for one in hypotheses}
    return {name: Hypothesis(name, holds) for name, holds in (hypotheses or {}).items()}


def build(
    name: str,
    conclusion: Any,
    certify: Any = None,
    *,
    expected: str = "holds",
    data: Any = SMALL,
    siblings: Any = SHIFTED,
    hypotheses: Any = None,
    violating: Any = None,
    rerun: Any = None,
    ensemble: Any = None,
    examples: Any = (),
    stand_in: str = "",
    strict: bool = False,
    **rest: Any,
) -> Any:
    """The claim toy/NAME:literal, about records of the type of the conclusion's first argument."""
    first = next(iter(inspect.signature(conclusion).parameters))
    kind = typing.get_type_hints(conclusion).get(first, float)
    named = listed(hypotheses)
    made = Statement(
        f"toy/{name}",
        source="toys",
        place="here",
        printed=name.replace("-", " "),
        variables=Records(kind, data, ensemble),
        conclusion=Measured(
            name,
            conclusion,
            _also(certify),
            _also(rerun),
            stand_in=stand_in,
            strict=strict,
        ),
        readings={
            "literal": Reading(
                expected,
                siblings=siblings,
                examples=tuple(examples),
                **rest,
            )
        },
        hypotheses=tuple(named.values()),
        violating={named[name]: found for name, found in (violating or {}).items()},
    )
    return made.claim("literal")


def stated(
    name: str, variables: Any, conclusion: Any, hypotheses: Any = None, **reading: Any
) -> Any:
    """The claim toy/NAME:literal about the given variables."""
    made = Statement(
        f"toy/{name}",
        source="toys",
        place="here",
        printed="a toy",
        variables=variables,
        conclusion=conclusion,
        readings={"literal": Reading(**{"expected": "holds", **reading})},
        hypotheses=tuple(listed(hypotheses).values()),
    )
    return made.claim("literal")


def _also(function: Any) -> Any:
    """The function with the parameter `shift` that all forms of a conclusion must take."""
    if function is None or len(inspect.signature(function).parameters) > 1:
        return function
    return lambda x, shift=0.0: function(x)


def square(x: float, shift: float = 0.0) -> Slack:
    return Slack(x * x - shift, 1e-9)


def square_ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


def below_five(x: float, shift: float = 0.0) -> Slack:
    return Slack.at_most(x + shift, 5.0, 0.0)


def below_five_ball(x: float, shift: float = 0.0) -> arb:
    return arb(5 - rational(x) - rational(shift))


def constant(value: float, error: float, kind: str = "inequality") -> Any:
    """A conclusion with this slack for every instance; its siblings are false."""

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(-shift, 0.0) if shift else Slack(value, error, kind)

    return conclusion


def says(ball: Any) -> Any:
    """A certificate that returns this ball for the reading; its siblings are false."""

    def certify(x: float, shift: float = 0.0) -> Any:
        return arb(-rational(shift)) if shift else ball

    return certify


def recording(seen: list[float], **rest: Any) -> Any:
    """The claim `true`, which also appends every instance that it evaluates to `seen`."""

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        seen.append(x)
        return square(x, shift)

    return build("recording", conclusion, square_ball, **rest)


toy = functools.partial(build, cost=6)
"""With cost 6 a check draws 12 instances and makes up 25, enough for claims of one number."""
true = toy("true", square, square_ball)
false = toy("false", below_five, below_five_ball, expected="refuted")


def blunt_slack(x: float, shift: float = 0.0) -> Slack:
    return Slack(1.0, 0.0)


blunt = toy("blunt", blunt_slack, lambda x, shift=0.0: arb(1))
vacuous = toy(
    "vacuous", square, square_ball, hypotheses={"x above itself": lambda x: x > x}, cost=12
)


def broken(x: float, shift: float = 0.0) -> Slack:
    if x > 50.0:
        raise ArithmeticError("no value above 50")
    return square(x, shift)


raises = toy("raises", broken, square_ball)


def leaves(x: float, shift: float = 0.0) -> Slack:
    sys.exit(0)


exits = toy("exits", leaves, square_ball)


def assumes(x: float, shift: float = 0.0) -> Slack:
    hypothesis.assume(False)
    return Slack(-1.0, 0.0)


assuming = toy("assuming", assumes, says(arb(-1)))
odd_hypothesis = toy(
    "odd-hypothesis", square, square_ball, hypotheses={"numpy": lambda x: np.float64(x) < 9}
)
odd_certificate = toy("odd-certificate", constant(-1.0, 0.0), says(-1.0))
rounding = toy("rounding", constant(-1e-17, 1e-15), says(arb(0)))
rounding_open = toy(
    "rounding-open", constant(-1e-17, 1e-15), says(None), expected="undecided, numeric"
)
nan_slack = toy("nan-slack", constant(math.nan, 0.0), says(arb(1)))
nan_error = toy("nan-error", constant(1.0, math.nan), says(arb(1)))
negative_error = toy("negative-error", constant(1.0, -1.0), says(arb(1)))


def number(x: float, shift: float = 0.0) -> Any:
    return 1.0


no_slack = toy("no-slack", number, says(arb(1)))
endless = toy("endless", constant(1.0, math.inf), says(arb(1)))
endless_open = toy("endless-open", constant(1.0, math.inf), says(None), expected="undecided")
tie = toy("tie", constant(0.0, 0.0, "strict"), says(arb(0)), expected="refuted", strict=True)
tie_open = toy(
    "tie-open", constant(0.0, 0.0, "strict"), says(None), expected="undecided", strict=True
)
audited_away = toy("audited-away", constant(1.0, 1e-9), says(arb(-1)), expected="refuted")
audited_near = toy("audited-near", constant(1.0, 1e-9), says(arb(2)))
overruled = toy("overruled", constant(-1.0, 1e-9), says(arb(1)), expected="undecided")


def too_short(x: float, shift: float = 0.0) -> Slack:
    return Slack(-shift, 0.0) if shift else Slack.unknown("the run was too short")


short = toy("short", too_short, says(None), expected="undecided")


def identity(x: float, shift: float = 0.0) -> Slack:
    return Slack.equal((x + 1) ** 2 - (x * x + 2 * x + 1) + shift, 1e-9)


def identity_ball(x: float, shift: float = 0.0) -> arb:
    return arb(-abs(rational(shift)))


equality = toy("equality", identity, identity_ball)


def same_square(x: float, shift: float = 0.0) -> Slack:
    return Slack.equal(x * x - x + shift, 1e-9)


def same_square_ball(x: float, shift: float = 0.0) -> arb:
    return arb(-abs(rational(x) ** 2 - rational(x) + rational(shift)))


unequal = toy("unequal", same_square, same_square_ball, expected="refuted")


def run(x: float, shift: float = 0.0) -> Slack:
    return Slack(3.0 - abs(x) - shift, 0.5)


numeric = toy("numeric", run, rerun=run, expected="refuted, numeric")
PROOF: dict[str, Any] = {"certify": square_ball}
ABOVE = {f"x^2 >= {k}": changed(shift=k) for k in (100, 1000)}
proved = stated(
    "proved",
    {"x": Real()},
    lambda m, v, shift=0: m.at_most(shift, v.x * v.x),
    expected="proved",
    proof="toy_pack:prove_by_facts",
    siblings=ABOVE,
)
prose = toy("prose", square, proof="toy_pack:prove", **PROOF)
overstated = toy("overstated", square, square_ball, expected="proved", proof="toy_pack:prove")
mislabelled = stated(
    "mislabelled",
    {"x": Real()},
    lambda m, v, shift=0: m.at_most(shift, v.x * v.x),
    expected="proved",
    proof="toy_pack:prove_by_label",
    siblings=ABOVE,
)
proof_raises = toy("proof-raises", square, proof="toy_pack:fail", **PROOF)
proof_empty = toy("proof-empty", square, proof="toy_pack:shrug", **PROOF)
proof_missing = toy("proof-missing", square, proof="toy_pack:nowhere", **PROOF)
proof_contradicted = toy(
    "proof-contradicted", below_five, below_five_ball, expected="proved", proof="toy_pack:prove"
)


@linked
def prove_by_facts() -> str:
    from attsvm.theory.proof import rules  # it imports scipy, which listing claims does not need

    (sequent,) = conclusion_of(proved.formula).sequents
    square_of_x = rules.square(Function("x")())
    rules.conclude(rules.decide(sequent.proposition, square_of_x), sequent)
    return "x^2 >= 0 for real x"


def prove() -> str:
    ensure_true(True, "a step")
    return "x^2 >= 0 for real x"


def prove_by_label() -> str:
    return prove()


prove_by_label.linked = True  # type: ignore[attr-defined]


def fail() -> str:
    raise ArithmeticError("the remainder is not zero")


def shrug() -> str:
    return ""


thin = toy(
    "thin",
    square,
    square_ball,
    data=st.integers(1000, 2000).map(float),
    hypotheses={"x below 1000": lambda x: x < 1000},
    examples=[0.0],
)


def pole(x: float, shift: float = 0.0) -> Slack:
    return Slack(1.0 / (1.0 - shift), 0.0)


sibling_breaks = toy(
    "sibling-breaks",
    pole,
    lambda x, shift=0.0: arb(1),
    siblings={"shift 1": changed(shift=1.0), "shift 2": changed(shift=2.0)},
)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the plane."""

    at: Any


CENTRE = (37.25, -21.75)


def away(p: Point, shift: float = 0.0) -> Slack:
    return Slack(float(((p.at - CENTRE) ** 2).sum()) - 0.25 - shift, 1e-9)


def away_ball(p: Point, shift: float = 0.0) -> arb:
    gaps = [rational(float(a)) - rational(c) for a, c in zip(p.at, CENTRE, strict=True)]
    return arb(sum(g * g for g in gaps) - rational(0.25) - rational(shift))


def around(quarters: int, generator: np.random.Generator) -> Point:
    """A random point at most this number of quarters from the centre along each axis."""
    return Point(CENTRE + generator.integers(-quarters, quarters + 1, size=2) / 4)


rare, rarer = (
    build(
        name,
        away,
        away_ball,
        data=st.tuples(*[st.integers(-8, 8)] * 2).map(lambda p: Point(np.array(p, dtype=float))),
        ensemble=functools.partial(around, quarters),
        expected="refuted",
        siblings={"a disc": changed(shift=2000.0), "a large disc": changed(shift=4000.0)},
    )
    for name, quarters in (("rare", 2), ("rarer", 20))
)


@dataclass(frozen=True, slots=True)
class Positive:
    """A positive number; the type refuses other numbers."""

    x: float

    def __post_init__(self) -> None:
        if not self.x > 0.0:
            raise ValueError(f"{self.x} is not positive")


def positive(p: Positive, shift: float = 0.0) -> Slack:
    return Slack(p.x - shift, 0.0)


def positive_ball(p: Positive, shift: float = 0.0) -> arb:
    return arb(rational(p.x) - rational(shift))


guarded = build(
    "guarded",
    positive,
    positive_ball,
    data=st.integers(1, 1000).map(lambda k: Positive(k / 8)),
    hypotheses={"x is at most 100": lambda p: p.x <= 100.0},
)


def receding(x: float, shift: float = 0.0) -> Slack:
    return Slack(1.0 / (1.0 + abs(x)) - shift, 1e-9, "strict")


def receding_ball(x: float, shift: float = 0.0) -> arb:
    return arb(1) / arb(1 + abs(rational(x))) - arb(rational(shift))


outward = toy(
    "outward",
    receding,
    receding_ball,
    data=st.floats(allow_nan=False, allow_infinity=False),
    examples=[1e308],
)


def inside(x: float, shift: float = 0.0) -> Slack:
    return Slack.at_most(abs(x) + shift, 1.0, 1e-9)


def inside_ball(x: float, shift: float = 0.0) -> arb:
    return arb(1 - abs(rational(x)) - rational(shift))


sampled = toy(
    "sampled",
    inside,
    inside_ball,
    data=st.just(0.0),
    ensemble=lambda generator: float(generator.normal()),
    expected="refuted",
)

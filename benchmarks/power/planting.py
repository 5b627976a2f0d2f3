"""Planting: a false claim is made from a true one by a small mistake."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from flint import arb, ctx

from attsvm.exact.numbers import Matrix
from attsvm.theory import Expected, Hypothesis, Reading, Slack, Statement, changed
from attsvm.theory.arithmetic.namespace import All, Comparison
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.conclusions import Measured
from attsvm.theory.declaration.formula import TIGHTENED
from attsvm.theory.declaration.records import RecordFormula

KINDS = (
    *("constant", "sign", "hypothesis", "norm", "index", "role", "strict", "size"),
    *("integer", "far", "late", "loss", "needle", "jump", "relation"),
)
"""Kinds of mistakes in a planted claim, in this order:

- constant, sign, hypothesis: a wrong constant, a reversed inequality, a dropped hypothesis.
- norm: another norm or mean.
- index: an index that is off by one, or the index of another object.
- role: swapped roles (query and key, norm and margin).
- strict: < for <=.
- size: true for the sizes and integers that are drawn, but not for all.
- integer: false at a coincidence of integers.
- far, late: false only at a large norm, or only late in a run.
- loss, needle: false for some loss or step, or in a small region.
- jump: false at a discontinuity.
- relation: false at an exact relation between numbers of several variables.
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """A false claim with the reason why it is false; the reason is shown to no searcher.

    Attributes:
        claim: the false claim.
        kind: the kind of mistake.
        family: the statement that the claim falsifies.
        why: why it is false.
        witness: the variables of a counterexample, if one is known; shown to no searcher.
        source: the place of the true statement, if outside the sources.
    """

    claim: Claim
    kind: str
    family: str
    why: str
    witness: Mapping[str, Any] | None = None
    source: str = ""


PLANTED: dict[str, Planted] = {}
"""All planted claims, by id."""

Certificate = Callable[..., Any]


def ensure(true: bool, fault: str) -> None:
    """Raise an error with the text `fault` unless a condition is true.

    Raises:
        ValueError: the condition is false.
    """
    if not true:
        raise ValueError(fault)


def kind_of(mistake: str) -> tuple[str, str]:
    """Return the kind of a mistake, and its name."""
    kind, name = mistake.split()
    ensure(kind in KINDS, f"{kind} is not a kind of mistake")
    return kind, name


def plant(
    base: Claim,
    mistake: str,
    *,
    statement: str,
    why: str,
    family: str | None = None,
    conclusion: Callable[..., Any] | Measured | None = None,
    data: Any = None,
    ensemble: Any = "base",
    drop: Iterable[Hypothesis | str] = (),
    hypotheses: Mapping[str, Callable[..., Any]] | None = None,
    cost: int | None = None,
    **constants: Any,
) -> Claim:
    """Return a false claim made from a true one, and add it to `PLANTED`.

    Strategy, ensemble, hypotheses and conclusion are those of the base unless given. Examples,
    siblings and the proof are left out.

    Args:
        base: the true claim, or a variant of it.
        mistake: its kind, and a name that distinguishes it from other mistakes of this kind.
        statement: the false sentence.
        why: why it is false.
        family: the statement that the claim falsifies; None for the statement of the base.
        conclusion: another formula, or another measured conclusion.
        data: another strategy of records, if that of the base never violates a dropped hypothesis.
        ensemble: another ensemble, or None for no ensemble.
        drop: hypotheses, or their names, that are left out.
        hypotheses: further hypotheses by name.
        cost: divisor of the budgets; None for that of the base.
        **constants: constants of the conclusion.
    """
    spoilt = family or base.statement_id
    kind, name = kind_of(mistake)
    id = f"planted/{spoilt.replace('/', '-')}-{kind}-{name}:literal"
    dropped = {getattr(one, "name", one) for one in drop}
    missing = dropped - {h.name for h in base.hypotheses}
    ensure(not missing, f"{id} drops {missing}, which the base lacks")
    ensure(id not in PLANTED, f"{id} is planted twice")
    place = base.place if family is None else family
    claim = _spoilt(base, id, place, statement, conclusion, dropped, hypotheses or {}, constants)
    if data is not None or ensemble != "base":
        claim = _redrawn(claim, data, ensemble)
    if cost is not None:
        claim = replace(claim, cost=cost)
    PLANTED[id] = Planted(claim, kind, spoilt, why)
    return claim


def _spoilt(
    base: Claim,
    id: str,
    place: str,
    statement: str,
    conclusion: Callable[..., Any] | Measured | None,
    dropped: set[str],
    hypotheses: Mapping[str, Callable[..., Any]],
    parameters: Mapping[str, Any],
) -> Claim:
    """Return the false claim, built from the formula of its base."""
    formula = base.formula
    written = conclusion or formula.conclusion
    named = {*replace(formula, conclusion=written).named_constants, TIGHTENED}
    values = {**formula.constants, **parameters}
    kept = {name: h for name, h in formula.hypotheses.items() if name not in dropped}
    kept |= {name: Hypothesis(name, holds) for name, holds in hypotheses.items()}
    quantified: Any = formula.variables
    if isinstance(formula, RecordFormula):
        quantified = formula.records
    some = quantified if formula.variables == {} else dict(list(formula.variables.items())[:1])
    reading = Reading(
        "holds",  # a refuted reading would need siblings that differ; none is checked here
        constants={name: value for name, value in values.items() if name in named},
        siblings={"none is checked": changed(variables=some)},
        cost=base.cost,
        says=statement,
    )
    made = Statement(
        id.removesuffix(":literal"),
        source="planted",
        place=place,
        printed=base.printed,
        variables=quantified,
        conclusion=written,
        readings={"literal": reading},
        hypotheses=tuple(kept.values()),
    )
    claim, refuted = made.claim("literal"), Expected.parse("refuted")
    return replace(claim, siblings=(), expected=refuted, file=base.file, line=base.line)


def _redrawn(claim: Claim, data: Any, ensemble: Any) -> Claim:
    """Return the claim with records of another strategy, or another ensemble."""
    formula = claim.formula
    if not isinstance(formula, RecordFormula):
        raise TypeError(f"{claim.id} draws no records")
    drawn = claim.data if data is None else data
    larger = claim.ensemble if ensemble == "base" else ensemble
    records = replace(formula.records, drawn=drawn, ensemble=larger)
    return replace(claim, data=drawn, ensemble=larger, formula=replace(formula, records=records))


def strictly(base: Claim) -> Callable[..., Any]:
    """Return the conclusion of a claim with < in place of <=."""
    formula = base.formula

    @functools.wraps(formula.conclusion, updated=())
    def written(m: Any, v: Any, **constants: Any) -> Any:
        return _strict(formula.conclusion(m, v, **constants))

    return written


def _strict(relation: Any) -> Any:
    """Return the relation with < in place of every <=.

    Raises:
        TypeError: a part of it is no inequality.
    """
    if isinstance(relation, All):
        return All(tuple(_strict(part) for part in relation.parts))
    if not isinstance(relation, Comparison) or relation.kind == "equal":
        raise TypeError("only an inequality can be made strict")
    return replace(relation, kind="below")


def flipped(base: Claim) -> dict[str, Any]:
    """Return the argument `conclusion` of `plant`: that of the base with >= in place of <=."""
    formula = base.formula

    @functools.wraps(formula.conclusion, updated=())
    def written(m: Any, v: Any, **constants: Any) -> Any:
        relation = formula.conclusion(m, v, **constants)
        if not isinstance(relation, Comparison):
            raise TypeError("only a comparison can be reversed")
        return replace(relation, left=relation.right, right=relation.left)

    return {"conclusion": written}


def in_balls(certify: Certificate, kind: Literal["inequality", "strict", "equality"]) -> Measured:
    """Return a conclusion measured only by its certificate; its floats are its balls at 96 bits."""

    @functools.wraps(certify)
    def rounded(case: Any, **constants: Any) -> Slack:
        with ctx.workprec(96):
            result = certify(case, **constants)
            if result is None:
                return Slack.unknown("the certificate decides nothing for this instance")
            ball = arb(result)
            if not ball.is_finite():
                return Slack(math.inf, 0.0, "inequality" if kind == "equality" else kind)
            middle, radius = float(ball.mid()), float(ball.rad())
        error = radius + 2.0**-50 * abs(middle)
        if kind == "equality":
            return Slack.equal(middle, error)
        return Slack(middle, error, kind)

    return Measured("see the statement", rounded, certify, strict=kind == "strict")


def floats(matrix: Matrix) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the nearest floats of a matrix of rationals."""
    return np.array([[float(arb(x)) for x in row] for row in matrix])

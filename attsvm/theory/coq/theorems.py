"""Theorems for Coq, written from the one formula of a reading.

A statement quantifies over all sizes and values. A refutation is about one stored instance: it
says that the instance meets each hypothesis and violates the conclusion. Both come from the
formula that the engine runs, so that another formula is another theorem.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attsvm._types import Case, JsonObject
from attsvm.errors import ClaimError, NotExpressible
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import (
    All,
    AnyOf,
    Comparison,
    Namespace,
    Proposition,
    Relation,
    returned,
)
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.coq.arrays import GENERAL, Array, Arrays, Extent
from attsvm.theory.coq.records import Part, parts_of
from attsvm.theory.coq.terms import PRODUCT, Length, Terms
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import FrozenValues, defined, numbers
from attsvm.theory.declaration.variables import Choice, Defined, Integer, axes_of
from attsvm.theory.report.verifier import answers_of

SIGNS = {"at most": "<=", "below": "<", "equal": "="}
_TAKEN = re.compile(
    r"i\d+|t\d+|at_\w+|share|exp|ln|sqrt|Rabs|Rmax|Rmin|INR|is_zero|logistic|logistic_slope"
    r"|total|most|least|norm|times|diameter|spread|oscillation|softmax|fun|forall|exists"
)
"""Names that a letter must not have: bound indices, definitions, and functions of Coq."""

_OPPOSITE = {"at most": "<", "below": "<="}


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem without its proof.

    Attributes:
        name: its name in Coq.
        definitions: the definitions of real numbers that its text uses, by name, in order.
        says: the proposition.
        records: other definitions that its text uses.
        tactics: a tactic for each part of the conjunction; empty for a statement for all sizes.
    """

    name: str
    definitions: tuple[tuple[str, str], ...]
    says: str
    records: tuple[str, ...] = ()
    tactics: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The proposition as a definition, after the definitions that it uses."""
        return "\n".join([*self.terms, f"Definition {self.name} : Prop :=\n  {self.says}.", ""])

    @property
    def terms(self) -> list[str]:
        """The definitions that its text uses."""
        numbers = [f"Definition {name} : R := {text}." for name, text in self.definitions]
        return [*self.records, *numbers]

    @property
    def decided(self) -> str:
        """A module in which the tactic of Decide.v proves the proposition about numbers."""
        names = ", ".join(name for name, _ in reversed(self.definitions))  # later ones first
        steps = [f"unfold {names}."] if names else []
        steps += [f"split; [solve [{tactic}] |]." for tactic in self.tactics[:-1]]
        steps += [f"solve [{self.tactics[-1]}]."]
        return "\n".join(
            [
                f"Module {self.name}.",
                *self.terms,
                f"Theorem holds :\n  {self.says}.",
                "Proof.",
                *(f"  {step}" for step in steps),
                "Qed.",
                f"End {self.name}.",
                "",
            ]
        )


def coq_name(claim_id: str) -> str:
    """Return the name of a claim in Coq."""
    return re.sub(r"\W", "_", claim_id)


# statements for all sizes


def statement(claim: Claim) -> Theorem:
    """Return the theorem that a reading is true for all sizes and values.

    Raises:
        NotExpressible: a part of the formula has no Coq term.
    """
    return _statement(claim, coq_name(claim.id), share=False)


def tightness(claim: Claim) -> Theorem:
    """Return the theorem that the reading fails with any share below 1 of its right side.

    Raises:
        NotExpressible: a part of the formula has no Coq term, or it is no inequality.
    """
    return _statement(claim, f"{coq_name(claim.id)}_tight", share=True)


def _condition(hypothesis: Hypothesis, m: Namespace, v: Values) -> Relation | Proposition:
    """Return the condition of a hypothesis; a `Proposition` can be stated by Coq alone."""
    result = hypothesis.holds(m, v)
    return result if isinstance(result, Proposition) else returned(result, "a hypothesis")


def _statement(claim: Claim, name: str, *, share: bool) -> Theorem:
    formula = _formula(claim)
    if share and any(isinstance(v, Choice) for v in formula.variables.values()):
        raise NotExpressible("the tightness of a claim about a family: Coq would take any member")
    m = Arrays()
    values, bound, lengths = _letters(formula, m)
    conditions = [
        *lengths,
        *(_proposition(_condition(h, m, values)) for h in formula.hypotheses.values()),
    ]
    relation = formula.relation(m, values, {})
    letters = " ".join(bound)
    if not share:
        text = " ->\n  ".join([*conditions, _proposition(relation)])
        return Theorem(name, (), f"forall {letters},\n  {text}" if bound else text)
    if not isinstance(relation, Comparison) or relation.kind == "equal":
        raise NotExpressible("the tightness of a conclusion that is no inequality")
    right: Any = relation.right
    conditions.append(
        f"share * {m.exact(right).within(PRODUCT + 1)} {_OPPOSITE[relation.kind]} "
        f"{_text(relation.left)}"
    )
    met = " /\\\n  ".join(conditions)
    return Theorem(name, (), f"forall share : R, share < 1 -> exists {letters},\n  {met}")


def _letters(formula: Formula, m: Arrays) -> tuple[Values, list[str], list[str]]:
    """Return the values, the bound letters with their types, and the conditions on lengths."""
    axes = axes_of(formula.variables)
    known: JsonObject = {}
    bound, lengths = [], []
    for name, variable in formula.variables.items():
        if _TAKEN.fullmatch(name):
            raise NotExpressible(f"the letter {name}, which has a meaning in Coq")
        if name in axes:
            known[name] = Extent(m, name)
            bound.append(f"({name} : nat)")
            lengths.append(f"({variable.ends[0] or 0} <= {name})%nat")
        elif isinstance(variable, Choice):
            known[name] = _arbitrary(variable, name)
            bound.append(f"({name} : R -> R)")
        elif isinstance(variable, Integer):
            raise NotExpressible(f"the integer {name}, which is no length of an axis")
        elif variable.stored is not None and not isinstance(variable, Defined):
            known[name] = m.letter(name, variable.axes)
            bound.append(f"({name} : {'nat -> ' * len(variable.axes)}R)")
    return defined(formula.variables, m, FrozenValues(**known)), bound, lengths


def _arbitrary(variable: Choice, name: str) -> Any:
    """Return the member of a family of functions that stands for any function.

    Raises:
        NotExpressible: the family has no such member.
    """
    (kind, *others) = {type(member) for member in variable.members.values()}
    if others or not hasattr(kind, "arbitrary"):
        raise NotExpressible(f"the variable {name}, a member of a family without a general member")
    return kind.arbitrary(name)


def _proposition(relation: Relation | Proposition) -> str:
    """Return a relation of arrays of any size as a proposition.

    Raises:
        NotExpressible: Coq cannot state it, or it depends on the general index of a loop.
    """
    if isinstance(relation, Proposition):
        if not relation.text:
            raise NotExpressible("a property of a function that has no Coq text")
        return f"({relation.text})"
    if isinstance(relation, All | AnyOf):
        sign = " /\\ " if isinstance(relation, All) else " \\/ "
        return f"({sign.join(map(_proposition, relation.parts))})"
    left, right = relation.left, relation.right
    if any(GENERAL in getattr(side, "text", "") for side in (left, right)):
        raise NotExpressible("one entry of a loop over an axis of any length")
    if relation.kind == "equal" and (isinstance(left, Array) or isinstance(right, Array)):
        apart: Array = left - right
        m = apart.m
        at = [m.index() for _ in apart.axes]
        inside = [f"({i} < {axis})%nat -> " for i, axis in zip(at, apart.axes, strict=True)]
        sides = (m.entry_of(side, apart.axes, tuple(at)).text for side in (left, right))
        return f"(forall {' '.join(at)} : nat, {''.join(inside)}{' = '.join(sides)})"
    return f"{_text(left)} {SIGNS[relation.kind]} {_text(right)}"


def _text(number: Any) -> str:
    if isinstance(number, int):
        return str(number) if number >= 0 else f"(- {-number})"
    return str(number.text)


# refutations by one instance


def refutation(claim: Claim, case: Case) -> Theorem:
    """Return the theorem that an instance meets all hypotheses and violates the conclusion.

    Raises:
        NotExpressible: a part of the formula has no Coq term, or Python decided it.
    """
    name = f"{coq_name(claim.id)}_refuted"
    if not getattr(claim.formula.instance, "BUILT", False):
        program = Programs()
        answers = answers_of(claim, case, program)
        records, parts = parts_of(program.lines, answers, sorted(program.sources))
        return _joint(name, (), parts, tuple(f"Definition {n} {t}." for n, t in records.items()))
    formula, m = _formula(claim), Terms()
    values = _instance(formula, m, case)
    parts = [_hypothesis(_condition(h, m, values)) for h in formula.hypotheses.values()]
    parts.append(Part(_violated(formula.relation(m, values, {})), "decide_numbers"))
    return _joint(name, tuple(m.definitions.items()), parts)


def _joint(
    name: str,
    definitions: tuple[tuple[str, str], ...],
    parts: Sequence[Part],
    records: tuple[str, ...] = (),
) -> Theorem:
    """Return the theorem that all parts are true."""
    says = " /\\\n  ".join(part.says for part in parts)
    return Theorem(name, definitions, says, records, tuple(part.tactic for part in parts))


def _hypothesis(relation: Relation | Proposition) -> Part:
    """Return a part of a theorem: a hypothesis is true."""
    if isinstance(relation, Proposition):
        _, (part,) = parts_of({}, {"": relation.text}, [relation.source])
        return part
    return Part(_met(relation), "decide_numbers")


def _instance(formula: Formula, m: Terms, case: Case) -> Values:
    known = numbers(formula.variables, case, m._literal, Length)
    for name, variable in formula.variables.items():
        if isinstance(variable, Choice) and hasattr(known[name], "known"):
            known[name] = known[name].known(getattr(case, name))
    return defined(formula.variables, m, FrozenValues(**known))


def _met(relation: Relation) -> str:
    """Return the proposition that a relation of terms is true."""
    if isinstance(relation, All | AnyOf):
        sign = " /\\ " if isinstance(relation, All) else " \\/ "
        return f"({sign.join(map(_met, relation.parts))})"
    return _joined([f"{a} {SIGNS[relation.kind]} {b}" for a, b in _sides(relation)], " /\\ ")


def _violated(relation: Relation) -> str:
    """Return the proposition that a relation of terms is false."""
    if isinstance(relation, All | AnyOf):
        sign = " \\/ " if isinstance(relation, All) else " /\\ "
        return f"({sign.join(map(_violated, relation.parts))})"
    if relation.kind == "equal":
        return _joined([f"{a} <> {b}" for a, b in _sides(relation)], " \\/ ")
    return _joined([f"{b} {_OPPOSITE[relation.kind]} {a}" for a, b in _sides(relation)], " /\\ ")


def _joined(parts: list[str], sign: str) -> str:
    return parts[0] if len(parts) == 1 else f"({sign.join(parts)})"


def _sides(relation: Comparison) -> Iterator[tuple[str, str]]:
    """Yield both sides of a comparison, of arrays entry by entry.

    Raises:
        NotExpressible: neither side depends on the instance, as Python has decided the relation.
    """
    sides = (np.array(side, dtype=object) for side in (relation.left, relation.right))
    for a, b in zip(*(side.ravel() for side in np.broadcast_arrays(*sides)), strict=True):
        # Python has computed both sides, so Coq would only check a comparison of two numerals
        if not any(isinstance(x, Length) or getattr(x, "depends", False) for x in (a, b)):
            raise NotExpressible("a condition that Python decides, such as a property of a loss")
        yield _text(a), _text(b)


def _formula(claim: Claim) -> Formula:
    """Return the formula over variables of a claim.

    Raises:
        NotExpressible: the claim is about records, runs or measurements.
    """
    formula = claim.formula
    if formula.measured is not None or not getattr(formula.instance, "BUILT", False):
        raise NotExpressible("a claim about a record or a run")
    return formula


def expressible(write: Callable[..., Theorem], *arguments: object) -> tuple[Theorem | None, str]:
    """Return a theorem, or None and the reason why there is none."""
    try:
        return write(*arguments), ""
    except NotExpressible as error:
        return None, error.cause
    except ClaimError as error:
        return None, str(error)
    except (TypeError, AttributeError) as error:  # an operation that terms of any size lack
        return None, f"an operation that Coq terms lack: {error}"

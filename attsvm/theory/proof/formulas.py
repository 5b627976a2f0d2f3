"""Conclusions and hypotheses of readings, as the propositions that proofs end with and start from.

The formula of a reading over variables is evaluated on letters, for arrays of any size. So its
proof ends with the very formula that is checked on numbers, and takes hypotheses from theirs. A
conclusion about runs has no such formula; it is declared with its propositions, see `Measured`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attsvm.errors import ProofError
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison
from attsvm.theory.arithmetic.namespace import Proposition as Property
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import FrozenValues, defined
from attsvm.theory.declaration.variables import Choice, Defined, Integer, axes_of
from attsvm.theory.proof.arrays import (
    LETTERS,
    Length,
    first_of,
    number,
    position,
    variable,
    whole_loops,
)
from attsvm.theory.proof.facts import Sequent, eq, ge, gt, some
from attsvm.theory.proof.terms import Letter, Sort


@dataclass(frozen=True, slots=True)
class Said:
    """The conclusion of a reading.

    Attributes:
        sequents: the parts of the conclusion; a proof must show all of them.
        setting: facts that follow from the meaning of the letters, each with a sentence.
    """

    sequents: tuple[Sequent, ...]
    setting: Mapping[str, Sequent] = field(default_factory=dict, hash=False)


def values_of(formula: Formula) -> Values:
    """Return letters for the variables of a formula: functions of which nothing is known.

    Raises:
        ProofError: a variable is an integer that is no length, or a member of a family without a
            general member.
    """
    known: dict[str, Any] = {}
    lengths = axes_of(formula.variables)
    for name, one in formula.variables.items():
        if name in lengths:
            known[name] = Length((Sort(name, index=True),))
        elif isinstance(one, Choice):
            (kind,) = {type(member) for member in one.members.values()}
            if not hasattr(kind, "arbitrary"):
                raise ProofError("a family has no general member", value=name)
            known[name] = kind.arbitrary(name)
        elif isinstance(one, Integer):
            raise ProofError("an integer is no length of an axis", value=name)
        elif not isinstance(one, Defined):
            known[name] = variable(name, one.axes)
    return defined(formula.variables, LETTERS, FrozenValues(**known))


def propositions(relation: object, *, every: bool = False) -> Iterator[Sequent]:
    """Yield what a relation says: its comparisons, entry by entry, or the sequents of a property.

    A disjunction says its last part under the denials of the others. A conjunction of what a loop
    makes says it of every index.

    Args:
        relation: a relation, or a property of a function.
        every: whether the relation is a part of a conjunction.

    Raises:
        ProofError: a relation has no such form, or depends on the general index of a loop.
    """
    if isinstance(relation, All):
        for part in relation.parts:
            yield from propositions(part, every=True)
    elif isinstance(relation, AnyOf):
        *others, last = (one for part in relation.parts for one in propositions(part))
        if len(others) + 1 != len(relation.parts):
            raise ProofError("a part of a disjunction says several things", value=repr(relation))
        yield Sequent(last.proposition, frozenset(one.proposition.denied() for one in others))
    elif isinstance(relation, Property) and relation.sequents is not None:
        yield from relation.sequents()
    elif isinstance(relation, Comparison):
        says = {"at most": ge, "below": gt, "equal": eq}[relation.kind]
        apart = number(relation.right) - relation.left
        count = itertools.count()  # no two indices have one letter, also along one axis
        places = (
            tuple(Letter(f"{sort.name}{next(count) or ''}", sort).term for sort in axis)
            for axis in apart.axes
        )
        text = says(apart.entry(*places), 0)
        general = {x: Letter(f"each {x.name}", x.sort).term for x in text.letters if x.number}
        if general and not every:
            raise ProofError("a relation depends on the index of a loop", value=repr(text))
        yield Sequent(text.at(general))
    else:
        raise ProofError("a relation is no list of propositions", value=repr(relation))


def hypothesis_of(formula: Formula, hypothesis: Hypothesis) -> list[Sequent]:
    """Return what a hypothesis says in the letters of a formula over variables."""
    values = values_of(formula)
    with whole_loops():
        return [*propositions(hypothesis.holds(LETTERS, values))]


def conclusion_of(formula: Formula) -> Said:
    """Return what a formula concludes, in letters with the names of its variables.

    Raises:
        ProofError: the conclusion has no propositions.
    """
    if formula.measured is not None:
        says = formula.measured.proposition
        result = None if says is None else says(**formula.known_constants)
        if not isinstance(result, Said):
            raise ProofError("a conclusion has no propositions", value=formula.measured.says)
        return result
    values = values_of(formula)
    with whole_loops():
        sequents = tuple(propositions(formula.relation(LETTERS, values, {})))
    lengths: dict[str, Sequent] = {}
    for name in axes_of(formula.variables):
        if (formula.variables[name].ends[0] or 0) > 0:
            sort = Sort(name, index=True)
            lengths[f"there is an index of the axis {name}"] = Sequent(some(Letter(name, sort)))
            first = Sequent(eq(position(first_of(sort), sort), 0))
            lengths[f"the first index of the axis {name} has the position 0"] = first
    return Said(sequents, lengths)

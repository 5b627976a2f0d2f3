"""Conclusions of readings, and the meanings of their letters, as propositions of linked proofs.

The formula of a reading over variables is evaluated on letters. So its proof ends with the same
formula that is checked on numbers. A conclusion about runs has no such formula; its author declares
its propositions, see `Measured`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from flint import fmpq

from attsvm.errors import ProofError
from attsvm.theory.arithmetic.base import Arithmetic, elementary
from attsvm.theory.arithmetic.entries import Number, Numbers
from attsvm.theory.arithmetic.namespace import All, Comparison, Relation
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof.facts import Proposition, Sequent, eq, ge, gt
from attsvm.theory.proof.terms import ABS, EXP, REAL, SQRT, Function, Letter, Term, as_term

LOG, MAXIMUM = Function("log", (REAL,)), Function("max", (REAL, REAL))


@dataclass(frozen=True, slots=True)
class Said:
    """The conclusion of a reading.

    Attributes:
        sequents: the parts of the conclusion; a proof must show all of them.
        setting: facts that follow from the meaning of the letters, each with a sentence.
    """

    sequents: tuple[Sequent, ...]
    setting: Mapping[str, Sequent] = field(default_factory=dict, hash=False)


class Letters(Arithmetic[Term]):
    """Terms of linked proofs, also in arrays of fixed sizes."""

    name = "letters"
    numbers = Term

    exp = elementary(EXP)
    log = elementary(LOG)
    sqrt = elementary(SQRT)
    abs = elementary(ABS)
    is_zero = elementary(Function("is zero", (REAL,)))

    def _rational(self, value: Fraction) -> Term:
        return as_term(fmpq(value.numerator, value.denominator))

    def maximum(self, x: Number, y: Number) -> Term:
        """Return the larger number, as a function of both."""
        return MAXIMUM(as_term(x), as_term(y))

    def spectral(self, A: Numbers) -> Term:
        """Refuse a spectral norm, which terms do not have.

        Raises:
            ProofError: always.
        """
        raise ProofError("a spectral norm is no term", value=repr(A))


LETTERS = Letters()
"""The arithmetic of terms; it has no state."""


def propositions(relation: Relation) -> list[Proposition]:
    """Return the comparisons of a relation as propositions; the relation says all of them.

    Raises:
        ProofError: the relation says only that one of several comparisons is true.
    """
    if isinstance(relation, Comparison):
        says = {"at most": ge, "below": gt, "equal": eq}[relation.kind]
        return [says(as_term(relation.right), as_term(relation.left))]
    if isinstance(relation, All):
        return [one for part in relation.parts for one in propositions(part)]
    raise ProofError("a disjunction is no list of propositions", value=repr(relation))


def conclusion_of(formula: Formula, variables: Mapping[str, Any] | None = None) -> Said:
    """Return what a formula concludes, in letters with the names of its variables.

    Args:
        formula: the formula of a reading.
        variables: other terms, or arrays of terms, for the variables.

    Raises:
        ProofError: the conclusion has no propositions.
    """
    if formula.measured is not None:
        says = formula.measured.proposition
        result = None if says is None else says(**formula.known_constants)
        if not isinstance(result, Said):
            raise ProofError("a conclusion has no propositions", value=formula.measured.says)
        return result
    values = variables or {name: Letter(name).term for name in formula.variables}
    relation = formula.relation(LETTERS, SimpleNamespace(**values), {})
    return Said(tuple(map(Sequent, propositions(relation))))

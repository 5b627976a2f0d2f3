"""A token half-way between the optimal tokens of two inputs is below no more than one of them."""

from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import decide
from properties.tf.unlike_svm_several import FIRST, SEVERAL
from symbolic.facts import end, formula_of


@linked
def prove() -> str:
    """Prove that a token half-way between two others is not below both."""
    formula = formula_of(SEVERAL, "literal")
    (first,) = suppose(FIRST, formula)
    (goal,) = conclusion_of(formula).sequents
    end(SEVERAL, "literal", by=[decide(goal.proposition, first)])
    return "<o - (o + q)/2, u> = <o - q, u>/2, for any D"

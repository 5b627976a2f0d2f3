"""The mean of two feasible matrices is feasible, and shorter than the longer one."""

from attsvm.theory.proof.facts import Fact, ge
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import beyond, bounds, conclude, decide
from properties.tf.unique_solution import DIFFER, MET, NO_LONGER, SOLUTION
from symbolic.facts import end, formula_of, index, letters_in, some_of

j, k = index("j", "J"), index("k", "D")


@linked
def prove() -> str:
    """Prove that the mean meets the constraints, and is shorter."""
    reading = "literal"
    v, formula = letters_in(SOLUTION, reading), formula_of(SOLUTION, reading)
    met, (no_longer,), (differ,) = (suppose(x, formula) for x in (MET, NO_LONGER, DIFFER))
    ends: list[Fact] = []
    products = []
    for point, least in zip((v.u, v.w), met, strict=True):
        product = (v.K @ point).entry((j.term,))
        products.append(product)
        ends.append(decide(ge(product, 1), least, beyond("least", product, j)))
    mean = (products[0] + products[1]) / 2
    feasible = decide(ge(mean, 1), *ends)
    feasible = bounds(feasible, "least", mean, j, some_of(SOLUTION, reading, "J"))
    _, goal = conclusion_of(formula).sequents
    end(SOLUTION, reading, by=[feasible, decide(goal.proposition, no_longer, differ)])
    return "||(u + w)/2||^2 = (||u||^2 + ||w||^2)/2 - ||u - w||^2/4, for any constraints"


@linked
def prove_exact() -> str:
    """Prove ||(u + w)/2||^2 + ||u - w||^2/4 <= ||u||^2 for the longer matrix u."""
    (no_longer,) = suppose(NO_LONGER, formula_of(SOLUTION, "sharp"))
    (goal,) = conclusion_of(formula_of(SOLUTION, "sharp")).sequents
    conclude(decide(goal.proposition, no_longer), goal)
    return "||(u + w)/2||^2 = (||u||^2 + ||w||^2)/2 - ||u - w||^2/4"

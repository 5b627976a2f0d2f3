"""The logistic function is 1/4-Lipschitz: sup g' = 1/4."""

import sympy as sp
from flint import fmpq

from attsvm.errors import present
from attsvm.losses import slope_kernel
from attsvm.theory import ensure_equal
from attsvm.theory.declaration.proof import cancelled
from attsvm.theory.proof.arrays import LETTERS, number, variable
from attsvm.theory.proof.facts import Fact, ge, gt, note
from attsvm.theory.proof.lemmas import EXPONENTIAL, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import cite, conclude, decide, scale, square
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, as_term, derivative
from properties.sim.logistic_lipschitz import STEP
from symbolic.facts import change_at_most
from symbolic.mean_value import ensure_no_less
from symbolic.sim.lemma_3_12 import derivatives, u


def ensure_reached() -> None:
    """Prove that the code's g' is the derivative of g, and that no constant below 1/4 holds."""
    _, first = derivatives(1)
    slope = slope_kernel(u)  # by the code, at e^-|x|, that is u or 1/u
    ensure_equal(slope_kernel(1 / u), slope, "the code's g' is even", normal=cancelled)
    ensure_equal(slope, first, "the code's g' is the derivative of g", normal=cancelled)
    x = sp.Symbol("x", positive=True)
    steepest = sp.limit((1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(x))) / (2 * x), x, 0)
    reached = "the quotients of g between x and -x tend to 1/4 as x tends to 0"
    ensure_equal(steepest, sp.Rational(1, 4), reached)
    ensure_no_less(reached, 1 / (1 + sp.exp(-x)))


def change(a: Term, b: Term) -> Fact:
    """Return that |g(a) - g(b)| <= |a - b|/4."""
    x = Letter("argument")
    e, g = EXP(-x.term), INV(1 + EXP(-x.term))
    function, quarter = number(LETTERS.logistic(number(x))).term, as_term(fmpq(1, 4))
    slope = derivative(function, x, {})
    power, _ = cite(EXPONENTIAL, (), -x.term)
    one, _ = cite(RECIPROCAL, [decide(gt(1 + e, 0), power)], 1 + e)
    above = decide(ge(quarter, slope), scale(one, g), square(g - fmpq(1, 2)))
    below = decide(ge(quarter, -slope), power, square(g))
    note("g' = g (1 - g) is at most 1/4", above)
    return change_at_most(function, x, a, b, (above, below))


@linked
def prove() -> str:
    """Prove |g(x) - g(y)| <= |x - y|/4 by g' = g (1 - g), and so the printed bound."""
    ensure_reached()
    a, b = (variable(name, ()).term for name in "xy")
    fact = change(a, b)
    (sharp,), (printed,) = (
        conclusion_of(present(STEP.claim(name).formula, "the formula of a reading")).sequents
        for name in ("sharp", "literal")
    )
    conclude(fact, sharp)
    size, _ = cite(SIZE, (), a - b)
    conclude(decide(printed.proposition, fact, size), printed)
    return "1/4 - g' = (g - 1/2)^2, so g is 1/4-Lipschitz, and no less"

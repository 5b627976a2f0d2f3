"""The losses exp(-u) and log(1 + exp(-u)) meet assumption A."""

from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import LOGARITHM, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, INV, LOG
from properties.mm.assumption_a import INSIDE, LOSSES, ORDERED
from symbolic.facts import formula_of, letters_in, power, powers_rise, tangent
from symbolic.sim.logistic_lipschitz import change


@linked
def prove_power() -> str:
    """Prove that exp(-u) falls, and that its slope changes by exp(R) at most."""
    reading = "literal-1"
    v, formula = letters_in(LOSSES, reading), formula_of(LOSSES, reading)
    x, y, R = v.x.term, v.y.term, v.R.term
    (order,) = suppose(ORDERED, formula)
    inside, _ = suppose(INSIDE, formula)
    falls, steep, small = conclusion_of(formula).sequents
    conclude(decide(falls.proposition, tangent(-x, -y), power(-y), order), falls)
    low = decide(ge(R, -x), inside, *cite(SIZE, (), x))
    most = powers_rise(-x, R, low)
    conclude(decide(steep.proposition, tangent(-y, -x), most, order), steep)
    conclude(decide(small.proposition, most), small)
    return "exp(-x) - exp(-y) <= exp(-x) (y - x) <= exp(R) (y - x)"


@linked
def prove_log() -> str:
    """Prove that log(1 + exp(-u)) falls, and that its slope changes by 1/4 at most."""
    reading = "literal-2"
    v, formula = letters_in(LOSSES, reading), formula_of(LOSSES, reading)
    x, y = v.x.term, v.y.term
    (order,) = suppose(ORDERED, formula)
    falls, steep, small = conclusion_of(formula).sequents
    high, low = 1 + EXP(-x), 1 + EXP(-y)
    positive = [decide(gt(z, 0), power(-t)) for z, t in ((high, x), (low, y))]
    whole = [cite(LOGARITHM, [fact], z)[0] for fact, z in zip(positive, (high, low), strict=True)]
    more = decide(gt(EXP(-x) - EXP(-y), 0), tangent(-x, -y), power(-y), order)
    line = tangent(LOG(low), LOG(high))
    apart = LOG(high) - LOG(low)
    rise = decide(gt(high * apart, 0), line, *whole, scale(whole[0], apart), more)
    conclude(decide(falls.proposition, rise, positive[0]), falls)
    conclude(decide(steep.proposition, change(-x, -y)), steep)
    one = 1 + EXP(x)
    unit, sign = cite(RECIPROCAL, [decide(gt(one, 0), power(x))], one)
    part = decide(gt(EXP(x) * INV(one), 0), sign, power(x))
    conclude(decide(small.proposition, unit, part), small)
    return "the slope -g(-u) lies between -1 and 0, and g is 1/4-Lipschitz"

"""The logistic loss beside exp(-x): margins of a pair whose risk is no larger than another one's.

With x = exp(-min w), 1 + exp(-min u) = exp(log(1 + exp(-min u))) <= exp(n log(1 + x)) <= exp(n x).
"""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL, EXPONENTIAL_OF_SUM, LOGARITHM, RECIPROCAL
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    decide,
    inside,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import EXP, INV, LOG, Letter, Term, least, total
from properties.mm.logistic_joint_path import BETTER, LARGE, PATH
from symbolic.facts import (
    end,
    exponents_rise,
    formula_of,
    index,
    letters_in,
    power,
    powers_rise,
    product,
    some_of,
)

i = index("i", "n")


def loss(u: Term) -> Term:
    """Return log(1 + exp(-u))."""
    return LOG(1 + EXP(-u))


def above_zero(u: Term) -> Fact:
    """Return that 1 + exp(-u) > 0."""
    return decide(gt(1 + EXP(-u), 0), power(-u))


def exponential(u: Term) -> Fact:
    """Return that exp(log(1 + exp(-u))) = 1 + exp(-u)."""
    return cite(LOGARITHM, [above_zero(u)], 1 + EXP(-u))[0]


def below(u: Term) -> Fact:
    """Return that log(1 + exp(-u)) <= exp(-u)."""
    return decide(ge(EXP(-u), loss(u)), exponential(u), cite(EXPONENTIAL, (), loss(u))[1])


def above(u: Term) -> Fact:
    """Return that log(1 + exp(-u)) >= exp(-u)/(1 + exp(-u))."""
    unit, _ = cite(RECIPROCAL, [above_zero(u)], 1 + EXP(-u))
    inverse = INV(1 + EXP(-u))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), loss(u), -loss(u))
    line = cite(EXPONENTIAL, (), -loss(u))[1]
    return decide(
        ge(loss(u), EXP(-u) * inverse),
        *(line, scale(law, inverse), scale(exponential(u), inverse * EXP(-loss(u)))),
        *(scale(unit, EXP(-loss(u))), unit),
    )


def order_of(reading: str) -> tuple[Term, Term, Fact]:
    """Return n log(1 + exp(-min w)) and log(1 + exp(-min u)), and that the first is no less."""
    v, some = letters_in(PATH, reading), some_of(PATH, reading, "n")
    u, w = (x.entry((i.term,)) for x in (v.u, v.w))
    (better,) = suppose(BETTER, formula_of(PATH, reading))
    n = total(1, i)
    unit, _ = cite(RECIPROCAL, [some], n)
    sums = total(loss(w), i), total(loss(u), i)
    whole = decide(ge(*sums), some, better, *(scale(unit, x) for x in sums))
    lowest, is_lowest = attained("lowest", least(u, i), some)
    at_lowest = v.u.entry((lowest(),))
    hole = Letter("hole")
    same = inside(is_lowest, at_lowest, least(u, i), loss(hole.term), hole)
    inverse = cite(RECIPROCAL, [above_zero(u)], 1 + EXP(-u))[1]
    positive = decide(ge(loss(u), 0), above(u), power(-u), inverse)
    one = at(one_of_sum(positive, i), {i: lowest()})
    worst = least(w, i)
    rises = powers_rise(-w, -worst, decide(ge(-worst, -w), beyond("least", w, i)))
    known = exponential(w), exponential(worst)
    powers = decide(ge(EXP(loss(worst)), EXP(loss(w))), rises, *known)
    more = exponents_rise(loss(w), loss(worst), powers)
    first, second = n * loss(worst), loss(least(u, i))
    return first, second, decide(ge(first, second), whole, one, same, add_up(more, i))


def bound_of(reading: str) -> tuple[Term, Fact]:
    """Return n log(1 + x), and that its exponential is at least 1 + exp(-min u)."""
    first, second, order = order_of(reading)
    u = letters_in(PATH, reading).u.entry((i.term,))
    known = exponential(least(u, i))
    right = 1 + EXP(-least(u, i))
    return first, decide(ge(EXP(first), right), powers_rise(second, first, order), known)


@linked
def prove() -> str:
    """Prove that exp(-min u) <= (1 + exp(-min w))^n - 1."""
    _, exact = bound_of("sharp")
    end(PATH, "sharp", by=[exact])
    return "one input has at least 1/n of the risk, and none has more than that of min w"


@linked
def prove_doubled() -> str:
    """Prove that exp(-min u) <= 2 n exp(-min w), if the right side is at most 1."""
    first, fact = bound_of("amended-1")
    v, some = letters_in(PATH, "amended-1"), some_of(PATH, "amended-1", "n")
    u, w = (x.entry((i.term,)) for x in (v.u, v.w))
    (large,) = suppose(LARGE, formula_of(PATH, "amended-1"))
    n, x = total(1, i), EXP(-least(w, i))
    s = n * x
    linear = product(decide(ge(n, 0), some), below(least(w, i)))
    steeper = powers_rise(first, s, linear)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), s, -s)
    positive = product(decide(ge(n, 0), some), power(-least(w, i)))
    half = decide(ge(1, 2 * s), large)
    doubled = decide(
        ge(1 + 2 * s, EXP(s)),
        *(power(s), cite(EXPONENTIAL, (), -s)[1], law, product(positive, half), half),
    )
    end(PATH, "amended-1", by=[decide(ge(2 * s, EXP(-least(u, i))), fact, steeper, doubled)])
    return "risks of the logistic loss bound the least margin as those of exp(-x), up to ln 2"


@linked
def prove_close() -> str:
    """Prove that the risk is at most the mean of exp(-u_i), and at least a part of it."""
    v, some = letters_in(PATH, "amended-2"), some_of(PATH, "amended-2", "n")
    u = v.u.entry((i.term,))
    _, inverse = cite(RECIPROCAL, [some], total(1, i))
    top = least(u, i)
    rises = powers_rise(-u, -top, decide(ge(-top, -u), beyond("least", u, i)))
    (unit, positive), (top_unit, top_positive) = (
        cite(RECIPROCAL, [above_zero(one)], 1 + EXP(-one)) for one in (u, top)
    )
    own, shared = INV(1 + EXP(-u)), INV(1 + EXP(-top))
    spare = product(positive, top_positive, rises)
    least_ = decide(
        ge(loss(u), EXP(-u) * shared),
        *(above(u), power(-u), spare, scale(unit, shared), scale(top_unit, own)),
    )
    parts = (add_up(least_, i), add_up(below(u), i))
    end(PATH, "amended-2", by=[product(part, inverse) for part in parts])
    return "y/(1 + y) <= log(1 + y) <= y for y = exp(-u_i)"

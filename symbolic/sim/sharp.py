"""The sharp bounds of softmax attention and of its entries, by the diameter of the tokens.

`symbolic.softmax_change` bounds means by osc(h) D/4, D = diam(A) ||x - y|| = sqrt 2 spread(A)
||x - y||. With h = f(x) - f(y) this is ||f(x) - f(y)||^2, and osc(h) <= sqrt 2 ||h||.
"""

from typing import Any

import sympy as sp

from attsvm.theory import Statement, ensure_equal
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL, ROOT, SIZE
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import add_up, at, bounds, cite, decide, one_of_sum, scale, square
from attsvm.theory.proof.terms import ABS, INV, SQRT, Letter, Term, as_term, most, total
from properties.sim import basic_4, basic_5, basic_6
from properties.sim._support.bounds import entry_constant
from properties.sim.basic_5 import conclusion
from symbolic.facts import end, length, letters_in, product, some_of
from symbolic.mean_value import SOFTMAX, ensure_no_less
from symbolic.sim import basic_4 as steps
from symbolic.softmax_change import Way, at_r, mean_change, path, r, t, weight_change

ROOT_2 = SQRT(as_term(2))


def way_of(statement: Statement, reading: str) -> Way:
    """Return the way from y to x in the letters of a reading."""
    return path(letters_in(statement, reading), some_of(statement, reading, "n"))


def root_of_2() -> tuple[Fact, Fact]:
    """Return that sqrt 2 is at least 0, and that its square is 2."""
    above, whole = cite(ROOT, [decide(ge(2, 0))], as_term(2))
    return above, whole


def unit_of_root() -> tuple[Fact, Fact, Fact]:
    """Return that sqrt 2 is at least 0, that its square is 2, and that it has an inverse."""
    above, whole = root_of_2()
    unit, _ = cite(RECIPROCAL, [decide(gt(ROOT_2, 0), above, whole)], ROOT_2)
    return above, whole, unit


def apart_by(u: Term, root_above: Fact, whole: Fact, t: Letter = t, r: Letter = r) -> Fact:
    """Return that u_t - u_r <= sqrt 2 ||u||.

    The parts (|u| + u)/2 and (|u| - u)/2 have squares that add up to u^2.
    """
    size, size_square = cite(SIZE, (), u)
    up, down = (ABS(u) + u) / 2, at_r((ABS(u) - u) / 2, t, r)
    ups, downs = one_of_sum(square(up), t), one_of_sum(square(down), r)
    norm, norm_square = length(u, t)
    N = norm.proposition.term
    large = product(root_above, norm)
    both = decide(
        ge((ROOT_2 * N) ** 2, (up + down) ** 2),
        *(ups, downs, norm_square, add_up(size_square, t), square(up - down), scale(whole, N**2)),
    )
    both = decide(ge(ROOT_2 * N, up + down), large, both)
    above, below = (decide(ge(ABS(u), x), size, size_square) for x in (u, -u))
    return decide(ge(ROOT_2 * N, u - at_r(u, t, r)), both, above, at(below, {t: r}))


def oscillation(each: Fact, u: Term, some: Fact, t: Letter = t, r: Letter = r) -> Fact:
    """Return a bound of max u - min u from that of all differences."""
    return bounds(bounds(each, "most", u, t, some), "least", at_r(u, t, r), r, some)


def ensure_attained(conclusion: Any, *constants: object, **more: object) -> None:
    """Prove that no smaller constant will do: difference quotients of two tokens tend to it."""
    quotients = "the difference quotients of two tokens tend to the constant"
    ensure_equal(steps.limit_ratio(conclusion, *constants, **more), 1, quotients)
    ensure_no_less(quotients, SOFTMAX)


@linked
def prove_fourth() -> str:
    """Prove ||f(x) - f(y)|| <= spread(A)/2 ||x - y||, which is the sixth bound in one norm, too."""
    steps.ensure_attained()
    w = way_of(basic_4.BOUND, "sharp")
    u, root = w.end_x - w.end_y, unit_of_root()
    change, spread = mean_change(w, u), oscillation(apart_by(u, *root[:2]), u, w.some)
    norm, norm_square = length(u, t)
    N, whole = norm.proposition.term, total(u**2, t)
    size, size_square = cite(SIZE, (), whole)
    short = decide(
        ge(ROOT_2 * N * w.span / 4, N**2),
        *(change, size, size_square, norm_square, product(spread, w.positive)),
    )
    root_above, root_square, unit = root
    half = decide(eq(ROOT_2, 2 * INV(ROOT_2)), scale(unit, ROOT_2), scale(root_square, INV(ROOT_2)))
    fact = decide(
        ge(INV(ROOT_2) * w.span / 2, N), short, product(root_above, w.positive), scale(half, w.span)
    )
    end(basic_4.BOUND, "sharp", by=[fact])
    end(basic_6.BOUND, "sharp-2", by=[fact])
    return "||Df[s]|| <= (max s - min s)/sqrt 8 for every n, so spread(A)/2"


@linked
def prove_fifth() -> str:
    """Prove |<f(x), h> - <f(y), h>| <= sqrt(2)/4 osc(h) spread(A) ||x - y||."""
    h_1, b = entries([sp.Integer(1), sp.Integer(0)]), sp.Symbol("b", real=True)
    ensure_attained(conclusion.sharp, h=h_1, b=b)
    w = way_of(basic_5.BOUND, "sharp")
    h = letters_in(basic_5.BOUND, "sharp").h.entry((t.term,))
    fact = mean_change(w, h)
    *_, unit = unit_of_root()
    bound = fact.proposition.term + ABS(total((w.end_x - w.end_y) * h, t))
    goal = ge(ROOT_2 * INV(ROOT_2) * bound, ABS(total((w.end_x - w.end_y) * h, t)))
    end(basic_5.BOUND, "sharp", by=[decide(goal, fact, scale(unit, bound))])
    return "|Cov(s, h)| <= (max s - min s)(max h - min h)/4 for every n: sqrt(2)/4 osc(h) spread(A)"


@linked
def prove_entries() -> str:
    """Prove that no weight moves by more than sqrt(2)/4 spread(A) ||x - y||."""
    ensure_attained(basic_6.sharp, "spectral", entry_constant)
    w = way_of(basic_6.BOUND, "sharp-1")
    fact = weight_change(w)
    entry = at_r(w.end_x - w.end_y)
    largest = bounds(fact, "most", ABS(entry), r, w.some)
    *_, unit = unit_of_root()
    bound = largest.proposition.term + most(ABS(entry), r)
    goal = ge(ROOT_2 * INV(ROOT_2) * bound, most(ABS(entry), r))
    end(basic_6.BOUND, "sharp-1", by=[decide(goal, largest, scale(unit, bound))])
    return "entries of Df[s] are at most (max s - min s)/4, so sqrt(2)/4 spread(A)"

"""The best constant of lemma 3.13 for l(u) = log(1 + exp(-u)) in place of g, in closed form.

Let c = tanh(-u/2), so that -l' = (1+c)/2 and l'' = (1-c^2)/4 with c in (-1, 1).
With D = |b| osc(h) and y = D (1-a^2)/4 the bound (*) of `symbolic.sim.lemma_3_13` is the maximum
over a in [0, 1] of

    y (a (1+c) + y (1-c^2)/2) = ((a + y)^2 - (a - y c)^2)/2

and c may be anything in (-1, 1), by adding a number to h. Its supremum is

    K(D) = D/(3 sqrt 3) for D <= 2 sqrt 3,   (D/4 + 1/D)^2/2 beyond.

- D > 2 sqrt 3. At most (a + y)^2/2, and a + y = D/4 + 1/D - (D/4)(a - 2/D)^2. Equality at a = 2/D
  and c = a/y = 8/(D^2 - 4) < 1.
- D <= 2 sqrt 3. Where a >= y the left side grows with c to 2 a y = D a (1-a^2)/2 <= D/(3 sqrt 3).
  Where a < y it is at most (a + y)^2/2. There a is below the a* with a* = y*; since y <= a at
  a = 2/D, a* <= 2/D, and a + y grows up to a = 2/D: (a + y)^2/2 <= (2 a*)^2/2 = 2 a* y*, at most
  D/(3 sqrt 3) again. Two tokens with a = 1/sqrt 3 come as near as one likes when b <f, h> is very
  negative; it is not attained.
"""

from __future__ import annotations

import sympy as sp

from attsvm.lipschitz import log_loss_below, log_loss_beyond
from attsvm.theory import ensure_equal
from symbolic.sim.lemma_3_13 import a, bound, c, prove_bound

D = sp.Symbol("D", positive=True)
y = D * (1 - a**2) / 4


def prove() -> str:
    """Prove the closed form, the code's two formulas run on symbols."""
    prove_bound()
    e = sp.Symbol("e", positive=True)  # exp(u), so that d/du = e d/de
    slope = e * sp.diff(sp.log(1 + 1 / e), e)
    found, level = [-slope, e * sp.diff(slope, e)], (1 - e) / (1 + e)
    closed = [(1 + level) / 2, (1 - level**2) / 4]
    ensure_equal(found, closed, "-l' = (1+c)/2 and l'' = (1-c^2)/4", normal=sp.cancel)
    height = bound(D * (1 + c) / 2, D**2 * (1 - c**2) / 4)
    squares = ((a + y) ** 2 - (a - y * c) ** 2) / 2
    ensure_equal(height, squares, "the bound (*) is ((a + y)^2 - (a - y c)^2)/2")
    parabola = D / 4 + 1 / D - D / 4 * (a - 2 / D) ** 2
    ensure_equal(a + y, parabola, "a + y is largest at a = 2/D")
    beyond = ((a + y) ** 2 / 2).subs(a, 2 / D)
    ensure_equal(log_loss_beyond(D), beyond, "the code's formula for D > 2 sqrt 3")
    at_top = y.subs(a, 2 / D)
    level = 8 / (D**2 - 4)
    ensure_equal(2 / D / at_top, level, "c = a/y is 8/(D^2 - 4) at a = 2/D", normal=sp.cancel)
    excess = (D**2 - 12) / (4 * D)
    ensure_equal(
        at_top - 2 / D, excess, "y <= a at a = 2/D exactly for D^2 <= 12", normal=sp.cancel
    )
    # D a (1-a^2)/2 rises up to a = 1/sqrt 3 and falls from there on
    free = D * a * (1 - a**2) / 2
    slope = D * (1 - 3 * a**2) / 2
    ensure_equal(sp.diff(free, a), slope, "D a (1-a^2)/2 is largest at a = 1/sqrt 3")
    top, below = free.subs(a, 1 / sp.sqrt(3)), log_loss_below(D, sp.sqrt)
    ensure_equal(top, below, "the code's formula for D <= 2 sqrt 3", normal=sp.simplify)
    edge = 2 * sp.sqrt(3)
    sides = log_loss_beyond(edge), log_loss_below(edge, sp.sqrt)
    ensure_equal(*sides, "both formulas agree at D = 2 sqrt 3", normal=sp.simplify)
    return "D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2: the supremum for every n"

"""The best constant of lemma 3.13 for l(u) = log(1 + exp(-u)) in place of g, in closed form.

Let c = tanh(-u/2), so that -l' = (1+c)/2 and l'' = (1-c^2)/4 with c in (-1, 1) (`level_residuals`).
With D = |b| osc(h) and y = D (1-a^2)/4 the bound (*) of `symbolic.sim.lemma_3_13` is the maximum
over a in [0, 1] of

    y (a (1+c) + y (1-c^2)/2) = ((a + y)^2 - (a - y c)^2)/2                    (`square_residual`)

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

from typing import Any

import sympy as sp

from attsvm.lipschitz import log_loss_below, log_loss_beyond
from symbolic.sim.lemma_3_13 import a, bound, c, prove_bound

__all__ = ["level_residuals", "prove", "square_residual"]

D = sp.Symbol("D", positive=True)
y = D * (1 - a**2) / 4


def level_residuals() -> list[Any]:
    """-l' - (1+c)/2 and l'' - (1-c^2)/4 for c = (1-e)/(1+e), e = exp(u)."""
    e = sp.Symbol("e", positive=True)
    level = (1 - e) / (1 + e)
    slope = e * sp.diff(sp.log(1 + 1 / e), e)  # d/du = e d/de
    curvature = e * sp.diff(slope, e)
    return [sp.cancel(-slope - (1 + level) / 2), sp.cancel(curvature - (1 - level**2) / 4)]


def square_residual() -> Any:
    """The bound at a and c minus ((a + y)^2 - (a - y c)^2)/2."""
    height = bound(D * (1 + c) / 2, D**2 * (1 - c**2) / 4)
    return sp.expand(height - ((a + y) ** 2 - (a - y * c) ** 2) / 2)


def prove() -> str:
    """Prove the closed form, the code's two formulas run on symbols.

    Raises:
        AssertionError: an identity or an inequality between numbers fails.
    """
    prove_bound()
    assert level_residuals() == [0, 0]
    assert square_residual() == 0
    assert sp.expand(a + y - (D / 4 + 1 / D - D / 4 * (a - 2 / D) ** 2)) == 0
    assert sp.expand(log_loss_beyond(D) - ((a + y) ** 2 / 2).subs(a, 2 / D)) == 0
    at_top = y.subs(a, 2 / D)
    assert sp.cancel(2 / D / at_top - 8 / (D**2 - 4)) == 0
    assert sp.cancel(at_top - 2 / D - (D**2 - 12) / (4 * D)) == 0  # y <= a there for D^2 <= 12
    # D a (1-a^2)/2 rises up to a = 1/sqrt 3 and falls from there on
    free = D * a * (1 - a**2) / 2
    assert sp.expand(sp.diff(free, a) - D * (1 - 3 * a**2) / 2) == 0
    assert sp.simplify(free.subs(a, 1 / sp.sqrt(3)) - log_loss_below(D, sp.sqrt)) == 0
    edge = 2 * sp.sqrt(3)
    assert sp.simplify(log_loss_beyond(edge) - log_loss_below(edge, sp.sqrt)) == 0
    return "D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2: the supremum for every n"

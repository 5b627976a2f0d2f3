"""Gradient descent with step 1/L from x: f(x_N) - min f <= L x^2 / (4 N + 2), and no better.

The worst functions are parabolas that go on as straight lines, f(x) = L x^2/2 up to |x| = s and
L s |x| - L s^2/2 beyond: for s = |x| / (2 N + 1) the bound is attained. The claims are about these.
"""

from typing import Any

from attsvm.theory import Integer, Reading, Real, Statement, changed, definition


@definition(r"\mathrm{{clip}}({x})", "clip({x})")
def clip(m: Any, x: Any, s: Any) -> Any:
    """The slope f'(x)/L."""
    return m.maximum(-s, m.minimum(s, x))


@definition(r"f({x})", "f({x})")
def f(m: Any, x: Any, s: Any, L: Any) -> Any:
    """The parabola that goes on as straight lines."""
    return L * clip(m, x, s) * (x - clip(m, x, s) / 2)


@definition("x_N", "x_N")
def descended(m: Any, x: Any, s: Any, step: Any, N: int) -> Any:
    """Where N steps x - step f'(x)/L lead from x."""
    for _ in range(N):
        x = x - step * clip(m, x, s)
    return x


FUNCTION: dict[str, Any] = {"L": Real((0, 3), least=0), "s": Real((0, -3), least=0)}
RUN: dict[str, Any] = {**FUNCTION, "x": Real((0, 3)), "N": Integer(1, 5)}
SOURCE = "Gradient descent on smooth convex functions"

RATE = Statement(
    "descent/rate", source=SOURCE, place="Claim 1",
    printed="f(x_N) - min f <= L x^2 / (4 N + 3)",
    variables=RUN,
    conclusion=lambda m, v, more: m.at_most(
        f(m, descended(m, v.x, v.s, 1, v.N), v.s, v.L), v.L * m.square(v.x) / (4 * v.N + more)),
    readings={
        "literal": Reading("f(x_N) <= L x^2 / (4 N + 3)", "refuted", constants={"more": 3},
            siblings={"4 N + 4": changed(more=4)}),
        "sharp": Reading("f(x_N) <= L x^2 / (4 N + 2), and no less", "holds",
            constants={"more": 2}, tight=True),
    },
)  # fmt: skip

DISTANCE = Statement(
    "descent/distance", source=SOURCE, place="Claim 2",
    printed="|x_N| <= |x| for steps h/L with 0 <= h <= 2",
    variables={**RUN, "h": Real()},
    hypotheses={"h >= 0": lambda m, v: m.at_least(v.h, m.exact(0)),
                "h <= 2": lambda m, v: m.at_most(v.h, m.exact(2))},
    conclusion=lambda m, v: m.at_most(m.abs(descended(m, v.x, v.s, v.h, v.N)), m.abs(v.x)),
    readings={"literal": Reading("no N steps lead away from 0", "holds", tight=True)},
)  # fmt: skip

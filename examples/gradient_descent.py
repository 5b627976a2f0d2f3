"""Gradient descent with step 1/L from x: f(x_N) - min f <= L x^2 / (4 N + 2), and no better.

f is convex and L-smooth, with its minimum at 0. Its slope rises at n rates up to L; each f is a
limit of these. The f of rate L between -s and s = |x|/(2 N + 1), else of rate 0, attains the bound.
"""

from typing import Any

from attsvm.theory import Hypothesis, Integer, Reading, Real, Statement, Vector, changed, definition
from attsvm.theory.types import Namespace, Values


def pieces(m: Namespace, x: Any, v: Values) -> Any:
    """Yield for each piece its rate over L, and its points nearest to x and to 0."""
    low = v.start
    for gap, rate in zip(v.gaps, v.rates, strict=True):
        high = low + m.abs(gap)
        near, start = (m.maximum(low, m.minimum(y, high)) for y in (x, 0 * x))
        yield m.minimum(m.exact(1), m.abs(rate)), near, start
        low = high


@definition(r"f({x})")
def f(m: Namespace, x: Any, v: Values) -> Any:
    """Return the value of f at x, the integral of its slope from 0."""
    return v.L * sum(r * (p * (x - p / 2) - q * (x - q / 2)) for r, p, q in pieces(m, x, v))


@definition("x_N")
def descended(m: Namespace, x: Any, v: Values, step: Any) -> Any:
    """Return the point after N steps x - step f'(x)/L from x."""
    for _ in range(v.N):
        x = x - step * sum(r * (p - q) for r, p, q in pieces(m, x, v))
    return x


SLOPE: dict[str, Any] = {"start": Real(), "gaps": Vector("n"), "rates": Vector("n")}
RUN: dict[str, Any] = {**SLOPE, "x": Real((0, 3)), "N": Integer(1, 5)}
SOURCE = "Gradient descent on smooth convex functions of a real variable"

RATE = Statement(
    "descent/rate", source=SOURCE, place="Claim 1", printed="f(x_N) - min f <= L x^2 / (4 N + 3)",
    variables={"n": Integer(1, 3), **RUN, "L": Real((0, 3), least=0)},
    conclusion=lambda m, v, more: m.at_most(
        f(m, descended(m, v.x, v, 1), v), v.L * m.square(v.x) / (4 * v.N + more)),
    readings={
        "literal": Reading("refuted", constants={"more": 3}, siblings={"4 N + 4": changed(more=4)}),
        "sharp": Reading("holds", constants={"more": 2}, tight=True),
    },
)  # fmt: skip

DISTANCE = Statement(
    "descent/distance", source=SOURCE, place="Claim 2",
    printed="|x_N| <= |x| for steps h/L with 0 <= h <= 2",
    variables={"n": Integer(1, 3), **RUN, "h": Real()},
    hypotheses=(Hypothesis("h >= 0", lambda m, v: m.at_least(v.h, m.exact(0))),
                Hypothesis("h <= 2", lambda m, v: m.at_most(v.h, m.exact(2)))),
    conclusion=lambda m, v: m.at_most(m.abs(descended(m, v.x, v, v.h)), m.abs(v.x)),
    readings={"literal": Reading("holds", tight=True)},
)  # fmt: skip

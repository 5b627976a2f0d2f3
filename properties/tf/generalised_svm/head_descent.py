"""Descent under a head h on one input of two tokens, which moves one number: the lead of a token.

With A = (x_1 - x_2) z^T, m = <A, W> and attention s_1 = 1/(1 + exp(-m)), a step of size e adds to m

    e ||A||^2 (-l'(h(o))) <h'(o), x_1 - x_2> s_1 s_2,     o = s_1 x_1 + s_2 x_2,

and W(k) - W(0) is a multiple of A. The label is part of h.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.exact import dot, rationals
from attsvm.losses import CUBIC, LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.gradients import loss_slope
from attsvm.primitives.heads import ACTIVATIONS, bending, derivative_along, head
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.programs import Programs, exact_value, literal
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Relation
from properties.tf._support.descent_steps import logarithmic
from properties.tf.generalised_svm import head_letters, hidden_letters

SIZES_OF_STEPS = (1.0, 0.125, 16.0, 64.0)
CONVEX_ONES = ("relu", "square", "softplus")
ONE_INPUT = (
    "one input have two tokens x_1 and x_2, a query z and a head h(x) = sum_k b_k phi(<a_k, x>), "
    "and descent run from any start with any constant step"
)
"""Words that define steps on one input, for the sentence of a reading."""


@dataclass(frozen=True, slots=True)
class HeadSteps:
    """Tokens X (2, d), a query, a head, a loss, a start of m, a step size and a number of steps."""

    X: Array
    z: Array
    A: Array
    b: Array
    phi: str
    loss: str
    start: float
    size: float
    count: int

    def __post_init__(self) -> None:
        d = self.z.size
        fits = (self.X.shape, self.A.shape) == ((2, d), (self.b.size, d)) and d > 0
        if not fits or self.phi not in ACTIVATIONS or not 1 <= self.count <= 3:
            raise DataError("the parts of an instance do not fit together", value=self.X.shape)


def of(m: Namespace, case: HeadSteps) -> SimpleNamespace:
    """Return the head and tokens in one arithmetic, with D = x_1 - x_2 and `square` = ||A||^2."""
    X = m.values(case.X)
    D, z = X[0] - X[1], m.values(case.z)
    return SimpleNamespace(
        phi=ACTIVATIONS[case.phi],
        A=m.values(case.A),
        b=m.values(case.b),
        X=X,
        D=D,
        square=m.dot(D, D) * m.dot(z, z),
        mean=(X[0] + X[1]) / 2,
    )


def lead(m: Namespace, case: HeadSteps) -> Numbers:
    """Return the lead m of the first token after the steps."""
    v, at = of(m, case), m.values(case.start)
    for _ in range(case.count):
        first, second = m.logistic(at), m.logistic(-at)
        output = first * v.X[0] + second * v.X[1]
        down = -loss_slope(m, case.loss, head(m, v, output))
        gain = derivative_along(m, v, output, v.D) * first * second
        at = at + m.values(case.size) * v.square * down * gain
    return at


def unit_slopes(m: Namespace, case: HeadSteps) -> list[tuple[Number, Number]]:
    """Return the slope of each unit along x_1 - x_2, at the tokens' mean and at the first token."""
    v = of(m, case)
    along = v.A @ v.D
    ends = (v.A @ v.mean, v.A @ v.X[0])
    slopes = [[b * v.phi.slope(m, t[k]) * along[k] for t in ends] for k, b in enumerate(v.b)]
    return [(mean, first) for mean, first in slopes]


def steepness(m: Namespace, case: HeadSteps) -> tuple[Number, Number]:
    """Return -l' at h(x_1) and at the mean of the tokens."""
    v = of(m, case)
    first, mean = (-loss_slope(m, case.loss, head(m, v, x)) for x in (v.X[0], v.mean))
    return first, mean


UNITS = (
    "A = (x_1 - x_2) z^T, and p and P are the sums over k of the lesser and of the larger b_k "
    "phi'(t) <a_k, x_1 - x_2> at t = <a_k, (x_1 + x_2)/2> and t = <a_k, x_1>"
)


def _moves(m: Programs, case: HeadSteps, **constants: object) -> Relation:
    """Return the claim of `moves` for the checker, with the values that its hypotheses need."""
    m.lines["step"], m.lines["phi"] = literal(exact_value(case.size)), repr(case.phi)
    m.lines["loss"] = repr(case.loss)
    return run_programs.computed(m, case, ("X", "z", "A", "b"), moves, **constants)


@stated(
    "some logit moves in the first steps, that is $formula",
    "|m - m_0| > $least",
    where="m and m_0 are the lead of the first token after and before these steps",
    checked=_moves,
)
def moves(m: Namespace, case: HeadSteps, least: Number = 0) -> Comparison:
    return m.above(m.abs(lead(m, case) - m.values(case.start)), m.exact(least))


@concludes(head_letters.grows)
@stated(
    "",
    r"0 < \exp(m) - 1 \text{ and } \frac{c k}{$over} \le \exp(m) - 1 \le C k "
    r"\exp\left($power \frac{C}{4}\right)",
    where="m is the lead of x_1 after k steps of size e, c = -e ||A||^2 p l'(h(x_1)), C = -e "
    f"||A||^2 P l'(h((x_1 + x_2)/2)), {UNITS}",
)
def grows(m: Namespace, case: HeadSteps, over: Number = 4, power: Number = 1) -> Relation:
    """c = e ||A||^2 p (-l'(h(x_1))) and C = e ||A||^2 P (-l'(h(mean))).

    p and P are the sums over the units of the smaller and of the larger slope at the mean and at
    x_1.
    """
    v, ends = of(m, case), unit_slopes(m, case)
    low = sum((m.minimum(*pair) for pair in ends), m.exact(0))
    high = sum((m.maximum(*pair) for pair in ends), m.exact(0))
    first, mean = steepness(m, case)
    least, most = (m.values(case.size) * v.square * x for x in (low * first, high * mean))
    return logarithmic(m, m.expm1(lead(m, case)), case.count, least, most, over, power)


@concludes(head_letters.grows_by_half)
@stated(
    "",
    r"0 < \exp($times m) - 1 \text{ and } \frac{c k}{$over} \le \exp($times m) - 1 \le 2 C k "
    r"\exp\left($power \frac{C}{4}\right)",
    where="m is the lead of x_1 after k steps of size e, A = (x_1 - x_2) z^T, h = sum_k b_k <a_k, "
    "x>^2, beta = -sum_k b_k <a_k, x_2>^2, c = -2 e ||A||^2 beta l'(h(x_1)), and C = -2 e ||A||^2 "
    "beta l'(h((x_1 + x_2)/2))",
)
def grows_by_half(
    m: Namespace, case: HeadSteps, over: Number = 4, power: Number = 1, times: int = 2
) -> Relation:
    """c and C are 2 e ||A||^2 beta times -l' at h(x_1) and at h(mean).

    Here beta = -sum_k b_k <a_k, x_2>^2.
    """
    v = of(m, case)
    beta = -m.dot(v.b, m.array([m.square(t) for t in v.A @ v.X[1]]))
    first, mean = steepness(m, case)
    least, most = (2 * m.values(case.size) * v.square * beta * x for x in (first, mean))
    grown = m.expm1(times * lead(m, case))
    return logarithmic(m, grown, case.count, least, most, over, power, times=2)


@concludes(head_letters.stays)
@stated(
    "$formula for each token",
    r"m' \le \max\left(m, \ln\left(\frac{\beta}{g} - 1\right) + $share \frac{4}{27} e "
    r"\|A\|^2 \beta\right)",
    where="m and m' are the lead of the token before and after the steps of size e, A = (x_1 - "
    "x_2) z^T, g is the derivative of h at the token towards the other, and beta = c sum_k |b_k| "
    "<a_k, x_1 - x_2>^2",
)
def stays(m: Namespace, case: HeadSteps, share: Number = 1) -> Relation:
    """g is the derivative of h at the token towards the other one."""
    v, before, after = of(m, case), m.values(case.start), lead(m, case)
    if v.phi.bend is None:
        return m.below(m.exact(0), m.exact(0))  # there is no c, so no bound
    beta = bending(m, v, v.D, v.D)
    room = share * 4 * m.values(case.size) * v.square * beta / 27
    parts = []
    for sign, x in ((1, v.X[0]), (-1, v.X[1])):
        if not rises_to_other(case, sign):
            return m.below(m.exact(0), m.exact(0))  # there is no bound
        g = derivative_along(m, v, x, -sign * v.D)
        bound = m.maximum(sign * before, m.log(beta / g - 1) + room)
        parts.append(m.at_most(sign * after, bound))
    return m.all_of(*parts)


def rises_to_other(case: HeadSteps, sign: int) -> bool:
    """Return whether the head rises from the first token (sign 1) or second (-1) to the other."""
    v = of(BALLS, case)
    slope: Any = derivative_along(BALLS, v, v.X[0 if sign == 1 else 1], -sign * v.D)
    return bool(slope > 0)


def rises_from_both(case: HeadSteps) -> bool:
    """Return whether the head rises from each token towards the other one."""
    return rises_to_other(case, 1) and rises_to_other(case, -1)


def gentle(case: HeadSteps) -> bool:
    """Return whether -1 <= l' < 0."""
    return case.loss in SLOPED and LOSSES[case.loss].lipschitz <= 1.0


def rising(case: HeadSteps) -> bool:
    """Return whether P of `UNITS` is positive."""
    ends = unit_slopes(BALLS, case)
    return bool(sum((BALLS.minimum(*pair) for pair in ends), BALLS.exact(0)) > 0)


def critical(case: HeadSteps) -> bool:
    """Return whether every <a_k, x_1> is 0."""
    x = rationals(case.X)[0]
    return all(dot(a, x) == 0 for a in rationals(case.A))


def best_by_far(case: HeadSteps) -> bool:
    """Return whether beta of `grows_by_half` is positive."""
    x = rationals(case.X)[1]
    pairs = zip(rationals(case.b), rationals(case.A), strict=True)
    return bool(sum(b * dot(a, x) * dot(a, x) for b, a in pairs) < 0)


@composite
def steps(
    draw: st.DrawFn, *, critical: bool = False, both: bool = False, nonlinear: bool = False
) -> HeadSteps:
    """Draw steps under any head, mostly one whose units rise towards x_1, from zero.

    - `critical`: every <a_k, x_1> is 0 and units are squares.
    - `both`: activations are smooth, x_2 lies opposite to x_1, units come in pairs a, -a of b < 0,
      and the start is any.
    - `nonlinear`: activations are not linear, losses may be flat at a point, and the start is any.
    """
    d, K = draw(sizes(1, 2)), draw(sizes(1, 3))
    X, z, A, b = draw(arrays(2, d)), draw(arrays(d)), draw(arrays(K, d)), draw(arrays(K))
    phi = draw(st.sampled_from(("logistic" if nonlinear else "identity", *CONVEX_ONES)))
    if critical:
        phi, b = "square", -np.abs(b)
        X[0, :1], A[:, 1:] = 0.0, 0.0
    elif both:
        phi = draw(st.sampled_from(("square", "softplus", "logistic")))
        X[1] = -draw(st.sampled_from([1.0, 0.5, 2.0])) * X[0]
        A, b = np.concatenate([A, -A]), np.tile(-np.abs(b), 2)
    else:
        toward = np.where(A @ (X[0] - X[1]) < 0.0, -1.0, 1.0)
        b = draw(st.sampled_from([np.abs(b) * toward, b]))
    start = float(draw(arrays(1))[0]) if both or nonlinear else 0.0
    losses = (*SLOPED, CUBIC.name) if nonlinear else SLOPED
    loss, size = draw(st.sampled_from(losses)), draw(st.sampled_from(SIZES_OF_STEPS))
    return HeadSteps(X, z, A, b, phi, loss, start, size, draw(st.integers(1, 3)))


def example(
    X: Nested,
    a: Nested,
    b: Nested,
    phi: str,
    loss: str = "log-loss",
    size: float = 1.0,
    **other: Any,
) -> HeadSteps:
    """Return one step from zero on tokens and units of one dimension, with query 1 by default."""
    tokens, units = np.array(X, dtype=float)[:, None], np.array(a, dtype=float)[:, None]
    whole = {"z": [1.0], "start": 0.0, "count": 1, **other}
    z, outer = np.array(whole.pop("z"), dtype=float), np.array(b, dtype=float)
    return HeadSteps(tokens, z, units, outer, phi, loss, size=size, **whole)


ALONE = example([1, 0], [1], [1], "relu")
FAR = example([1, 0], [1], [1], "relu", size=16, z=[4])
BACK = example([1, 0], [1], [1], "relu", size=-1)
BENT = example([0, -16], [1], [1], "identity", "logistic-loss")
STARTED = example([1, 0], [1], [1], "relu", start=1.0)
UNSEEN = example([1, 0], [1], [1], "relu", z=[0])
FALLING = example([1, 0], [1], [-1], "relu")
BUMP = example([4, -12], [1], [1], "logistic", "correlation", 1 / 64, count=3)
"""The slope is largest between the mean of the tokens and the first one."""
DEAD = example([1, -3], [1], [1], "relu")
"""The first token is best, and h is flat around the mean of both."""
SQUARE = example([0, 1], [1], [-1], "square")
SHORT = example([0, 1], [1], [-1], "square", size=0.125)
WIDE = example([0, 1], [1], [-1], "square", size=64, z=[4])
BACK_SQUARE = example([0, 1], [1], [-1], "square", size=-1)
BENT_SQUARE = example([0, 8], [1], [-1], "square", "logistic-loss", 0.125)
STARTED_SQUARE = example([0, 1], [1], [-1], "square", start=1.0)
UNSEEN_SQUARE = example([0, 1], [1], [-1], "square", z=[0])
ASIDE = example([1, 3], [1], [-1], "square", "correlation", 1 / 128)
RISEN = example([0, 1], [1], [1], "square")
SOFT = example([0, 8], [1], [-1], "softplus", "correlation", 1 / 1024)
PAIR = example([1, -1], [1], [-1], "square", start=-0.5, size=16)
"""h(x) = -x^2; the step leaps over the best mixture."""
CONVEX_PAIR = example([1, -1], [1], [1], "square")
KINKED_PAIR = example([1, -1], [1, -1], [-1, -1], "relu")
"""h(x) = -|x|."""
STEEP = example([4, -4], [1], [-1], "square", "exponential", start=-4.0)
BACK_PAIR = example([1, -1], [1], [-1], "square", start=-0.5, size=-16)
QUERY = Hypothesis(
    "the query is not 0", lambda case: bool(case.z.any()), proposition=head_letters.queried
)
BENT_UP = Hypothesis(
    "phi is a convex function",
    lambda case: ACTIVATIONS[case.phi].convex,
    proposition=head_letters.bent_up,
)
OF_SQUARES = Hypothesis(
    "phi is the square", lambda case: case.phi == "square", proposition=head_letters.is_square
)
RISES = Hypothesis("p > 0", rising, proposition=head_letters.rises)
CRITICAL = Hypothesis("every <a_k, x_1> is 0", critical, proposition=head_letters.critical)
BELOW = Hypothesis("beta > 0", best_by_far, proposition=head_letters.below)
BOTH = Hypothesis(
    "the head rises from each token towards the other",
    rises_from_both,
    proposition=head_letters.both,
)
BOUNDED_CURVATURE = Hypothesis(
    "|phi''| <= c for some c",
    lambda case: ACTIVATIONS[case.phi].smooth,
    says="phi has a second derivative with |phi''| <= c for some c",
    proposition=head_letters.curvature,
)
GENTLE = Hypothesis(
    "-1 <= l' < 0",
    gentle,
    says="the loss l has -1 <= l' < 0",
    proposition=head_letters.gentle,
)
NONLINEAR = Hypothesis(
    "phi is not linear", lambda case: case.phi != "identity", checked="fact(phi != 'identity')"
)
FORWARD = Hypothesis(
    "the step is positive",
    lambda case: case.size > 0,
    proposition=hidden_letters.forward,
    checked="fact(step > 0)",
)

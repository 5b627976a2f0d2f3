"""First steps of descent: gradients that favour the optimal tokens, and long steps along them."""

import functools
from dataclasses import dataclass

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, norm, rational, rationals
from attsvm.exact.attention import gradient
from attsvm.exact.descent import threshold
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import Matrix, subtract
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_constraints, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import max_margin, or_more_bits, reaches
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import TARGET, W_K, Stepped, converges_in_direction, solutions
from attsvm.risk import normalised_gradient
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.strategies.data import attention_data, ragged
from attsvm.theory import Slack
from properties.tf.global_initial_gradient import letters


@dataclass(frozen=True, slots=True)
class Step(Stepped):
    """A data set, a point W_0, a decreasing loss by name, and the length R of the first step."""

    data: AttentionData
    start: Array
    loss: str
    length: float


def steepest(case: Step) -> Matrix | None:
    """Return -grad L(W_0) / ||grad L(W_0)|| in balls; None if the gradient may be zero."""
    G = gradient(ExactData.of(case.data), rationals(case.start), case.loss)
    size = norm(flat(G))
    return [[-g / size for g in row] for row in G] if size > 0 else None


def separation(case: Step) -> arb | None:
    """Return the least margin of the optimal tokens under -grad L(W_0)/||grad L(W_0)||, or None."""
    unit, pairs = steepest(case), exact_constraints(ExactData.of(case.data)).values()
    if unit is None or not pairs:
        return None
    return arb(functools.reduce(arb.min, (dot(A, flat(unit)) for A in pairs)))


def separates(case: Step) -> bool:
    """Return whether (x_opt - x_t)^T (-grad L(W_0)) z is provably above 0 for every rival t."""
    margin = separation(case)
    return margin is not None and bool(margin > 0)


def correlates(case: Step, solution: Matrix | None) -> bool:
    """Return whether <-grad L(W_0), W^mm> is provably above 0."""
    unit = steepest(case)
    if unit is None or solution is None:
        return False
    return bool(arb(dot(flat(unit), flat(solution))) > 0)


def is_long(case: Step) -> bool:
    """Return whether R >= (ln(sum_i b_i G_i (T_i - 1) / min_i drop_i) - m_0) / iota, provably.

    iota is `separation`, and m_0 the least margin of the optimal tokens at W_0. For input i, G_i is
    the largest score gap, b_i the largest |l'| between its worst and its best score, and drop_i =
    l(second score) - l(best score).
    """
    exact, iota = ExactData.of(case.data), separation(case)
    bound = threshold(exact, case.loss)
    if iota is None or bound is None:
        return False
    weight = arb(0)
    for gamma in exact.gamma:
        gap = max(gamma) - min(gamma)
        # |l'| of the losses here is largest at an end, but for two whose |l'| is largest at 0
        ends = [abs(loss_slope(case.loss, g)) for g in (min(gamma), max(gamma))]
        peak = case.loss in ("logistic", "logistic-loss") and min(gamma) <= 0 <= max(gamma)
        steep = arb(1) / 4 if peak else functools.reduce(arb.max, ends)
        weight += steep * gap * (len(gamma) - 1)
    nearest = min(dot(A, flat(rationals(case.start))) for A in exact_constraints(exact).values())
    needed = (weight / (bound * len(exact.gamma))).log() - nearest
    return bool(rational(case.length) * iota >= needed)


def exactly_stepped(case: Step) -> Matrix | None:
    """Return W_1 = W_0 - R grad L(W_0)/||grad L(W_0)|| in balls; None if this may be 0/0."""
    unit, start = steepest(case), rationals(case.start)
    if unit is None:
        return None
    R = rational(case.length)
    return [
        [w + R * u for w, u in zip(*rows, strict=True)] for rows in zip(start, unit, strict=True)
    ]


def stepped(case: Step) -> Array | None:
    """Return W_1 in floats; None if the gradient is zero."""
    data = case.data
    slope = normalised_gradient(
        data.X, data.Z, data.gamma, case.start, LOSSES[case.loss], data.mask
    )
    size = float(np.linalg.norm(slope.matrix))
    return case.start + case.length * slope.matrix / size if size > 0.0 else None


def reaches_after(case: Step, towards: str = "optimal") -> Slack:
    """Return the slack of "descent from W_1 converges in direction to the target"."""
    first = stepped(case)
    if first is None:
        return Slack.unknown("the gradient vanishes")
    return reaches(Descent(case.data, first, case.loss, step=case.step), towards)


def decided_after(case: Step, towards: str = "optimal") -> arb | None:
    """Return 1 if descent from the enclosed W_1 provably reaches the target, negative if not.

    None if the gradient at W_0 may be zero.
    """
    first, limit = exactly_stepped(case), max_margin(case.data, towards)
    if first is None:
        return None
    if towards == "optimal" and limit is not None and never_rises(case, limit):
        return arb(-1)
    return or_more_bits(certified_direction(case.data, first, case.loss, limit, case.step))


def never_rises(case: Step, target: Matrix) -> bool:
    """Return whether the target has an entry above 0 that starts at 0 and that no step raises.

    This is decided for one input whose tokens that are not optimal share a score. There -grad L is
    a nonnegative combination of the (x - y) z^T, with x optimal and y not.
    """
    exact = ExactData.of(case.data)
    if len(exact.X) > 1 or case.start.any():
        return False
    (tokens,), (z,), (best,), (gamma,) = exact.X, exact.Z, exact.optimal, exact.gamma
    rest = [t for t in range(len(tokens)) if t not in best]
    if len({gamma[t] for t in rest}) != 1:
        return False
    pairs = [subtract(tokens[t], tokens[u]) for t in best for u in rest]
    return any(
        target[r][c] > 0 and all(D[r] * z[c] <= 0 for D in pairs)
        for r, c in np.ndindex(case.start.shape)
    )


AFTER_STEP = converges_in_direction(
    "",
    W_K,
    TARGET,
    floats=reaches_after,
    balls=decided_after,
    proposition=letters.converges,
    symbols=solutions("W"),
    where="W_k are the iterates from W_1 = W_0 - R grad L(W_0)/||grad L(W_0)||, m_0 is the least "
    "margin of W_0 and iota that of -grad L(W_0)/||grad L(W_0)||, of either sign, T_i is the "
    "number of tokens of input i, G_i is the gap from its best score to its worst, b_i is the "
    "largest |l'| between these, drop_i is l of its next lower score less l of its best one, and "
    "W^mm is the max-margin solution of the optimal tokens",
)


@composite
def steps(draw: st.DrawFn, lengths: tuple[float, ...]) -> Step:
    """Draw a step on small data, started at zero, near it or at worse tokens."""
    data = draw(ragged(attention_data(n=(1, 2), T=(2, 3), d=(2, 3))))
    start = draw(starts_about(data, 0)) if draw(st.booleans()) else np.zeros((data.d, data.d))
    return Step(data, start, draw(st.sampled_from(SLOPED)), draw(st.sampled_from(lengths)))


@composite
def favoured(draw: st.DrawFn, lengths: tuple[float, ...]) -> Step:
    """Draw a step on data whose first gradient mostly separates: rivals on separate axes.

    Input i has the optimal token x_i, and rivals x_i minus an axis, minus a little noise. The start
    is zero, near it or at worse tokens.
    """
    n, T = draw(sizes(1, 2)), draw(sizes(2, 3))
    d = n * (T - 1)
    own, noise = draw(arrays(n, 1, d)), draw(arrays(n, T - 1, d)) / 16.0
    axes = _on_axes(own, noise, draw(arrays(n, T)) / 2.0, draw(arrays(n)))
    data = draw(ragged(st.just(axes)))
    start = draw(starts_about(data, -2)) if draw(st.booleans()) else np.zeros((d, d))
    return Step(data, start, draw(st.sampled_from(SLOPED)), draw(st.sampled_from(lengths)))


def favoured_larger(generator: np.random.Generator) -> Step:
    """Return a step on such data with two or three inputs of up to four tokens, from zero."""
    n, T = int(generator.integers(2, 4)), int(generator.integers(2, 5))
    d = n * (T - 1)
    own = generator.integers(-32, 33, size=(n, 1, d)) / 16
    noise = generator.integers(-8, 9, size=(n, T - 1, d)) / 128
    scores, lead = (generator.integers(-16, 17, size=shape) / 16 for shape in ((n, T), n))
    data = _on_axes(own, noise, scores, lead)
    return Step(data, np.zeros((d, d)), str(generator.choice(SLOPED)), 64.0)


def _on_axes(own: Array, noise: Array, scores: Array, lead: Array) -> AttentionData:
    """Return data whose first tokens are `own`, with score 1 + |lead|.

    The other tokens are `own` minus an axis and noise, with score -|score|.
    """
    n, rivals, d = noise.shape
    X = np.repeat(own, rivals + 1, axis=1)
    X[:, 1:] -= np.eye(d).reshape(n, rivals, d) + noise
    scores = -np.abs(scores)
    scores[:, 0] = 1.0 + np.abs(lead)
    return AttentionData(X, np.repeat(np.eye(1, d), n, axis=0), scores=scores)

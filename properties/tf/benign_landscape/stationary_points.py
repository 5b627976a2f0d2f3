"""Stationary points and minima of the risk: at a given point, and whether there are any.

A point is decided in balls by its gradient, and then by its curvature. Existence is decided if the
parts of all inputs are known. If queries are independent, each input moves alone, and rests if its
parts (`parts.py`) rest at one score.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm._witness import Plain, floats, proposed
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, norm, rational, rationals, risk_gap, softmax
from attsvm.exact.attention import logits
from attsvm.exact.losses import loss_curvature, loss_slope
from attsvm.exact.minima import is_positive_definite
from attsvm.exact.numbers import Matrix, Vector, combine, subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives.att_svm import exact_constraints
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import OPEN, Hypothesis, Measured, Records, Slack
from attsvm.theory.arithmetic import BALLS
from properties._support import token_letters as letters
from properties.tf.benign_landscape import instances, parts, rest_letters
from properties.tf.benign_landscape.parts import dependencies

_NEAR = fmpq(1, 2**24)
"""Maximum norm of the gradient at a point of rest, relative to its terms: W is rounded to
floats."""

_MORE = 96
"""Number of bits by which the precision of points of rest exceeds that of their judgement."""
KINDS = ("few", "line", "lines", "equal")


# at a point

DOWN = "direction in which the risk bends least"
"""The proposal that `descends` asks for at a stationary point."""


def descends(case: Descent) -> arb | None:
    """Return a positive number if the risk falls from the point, a negative one at a minimum.

    - The norm of the gradient, if it is not 0.
    - Minus a negative curvature, if the gradient is exactly 0.
    - -1 if the Hessian on the span of the (x_o - x_t) z^T is positive definite; the risk is
      constant outside of this span. Also -1 if the risk is constant everywhere.
    - None if this is not decided.
    """
    slope = negative_gradient(BALLS, case.data, case.start, case.loss).matrix.ravel()
    if any(entry != 0 for entry in slope):
        return sum((arb(x) * x for x in slope), arb(0)).sqrt()
    if not all(arb(x).is_exact() for x in slope):
        return None
    H = hessian(case)
    if not H:
        return arb(-1)

    def find() -> Plain:
        values = np.array([[float(arb(x).mid()) for x in row] for row in H])
        return np.linalg.eigh(values)[1][:, 0].tolist()

    vector = [rational(x) for x in floats(proposed(DOWN, find), len(H))]
    least = dot(vector, [dot(row, vector) for row in H])
    if least < 0:
        return -arb(least)
    return arb(-1) if is_positive_definite(H) else None


def rounded(decided: Callable[..., arb | None]) -> Callable[..., Slack]:
    """Return a function for floats that reports the decision of balls, or unknown without one."""

    @functools.wraps(decided)
    def in_floats(case: Descent, **constants: object) -> Slack:
        ball = decided(case, **constants)
        if ball is None or not ball.is_finite():
            return Slack.unknown("neither slope nor curvature is decided")
        return Slack.below(0.0, float(ball.mid()), float(ball.rad()))

    return in_floats


def hessian(case: Descent) -> Matrix:
    """Return the second derivatives of the risk along independent (x_o - x_t) z^T.

    Inputs whose tokens all score the same are left out.
    """
    exact, W = ExactData.of(case.data), rationals(case.start)
    unequal = [len(set(gamma)) > 1 for gamma in exact.gamma]
    rows = [A for (i, _), A in exact_constraints(exact).items() if unequal[i]]
    basis: list[Vector] = []
    for row in rows:
        if fmpq_mat([*basis, row]).rank() > len(basis):
            basis.append(row)
    total: Matrix = [[arb(0)] * len(basis) for _ in basis]
    for tokens, z, gamma, counted in zip(exact.X, exact.Z, exact.gamma, unequal, strict=True):
        if not counted:
            continue
        values = logits(tokens, W, z)
        even: Vector = [fmpq(1, len(gamma))] * len(gamma)
        weights = even if len(set(values)) == 1 else softmax(values)
        u = dot(weights, gamma)
        c = [s * (g - u) for s, g in zip(weights, gamma, strict=True)]
        d = len(z)
        moved = [logits(tokens, [B[k : k + d] for k in range(0, d * d, d)], z) for B in basis]
        means, slopes = ([dot(part, a) for a in moved] for part in (weights, c))
        first, second = loss_slope(case.loss, u), loss_curvature(case.loss, u)
        for k, a in enumerate(moved):
            for j, b in enumerate(moved):
                bent = dot(c, [x * y for x, y in zip(a, b, strict=True)])
                bent = bent - slopes[k] * means[j] - slopes[j] * means[k]
                total[k][j] += (second * slopes[k] * slopes[j] + first * bent) / len(exact.X)
    return total


# whether there are any


def levels_apart(case: Descent) -> bool:
    """Return whether the first input's tokens above and below any score level are separable."""
    exact = ExactData.of(case.data)
    tokens, gamma = exact.X[0], exact.gamma[0]
    for level in sorted(set(gamma))[1:]:
        above = [x for x, g in zip(tokens, gamma, strict=True) if g >= level]
        below = [x for x, g in zip(tokens, gamma, strict=True) if g < level]
        gaps = [subtract(a, b) for a in above for b in below]
        one: Matrix = [[fmpq(1)]] * len(gaps)
        if solve_exactly(ExactProgramme.of_rows(gaps, one)).status != "solved":
            return False
    return True


def prompt(tokens: Matrix, levels: Vector) -> Vector:
    """Return p with <x_t, p> = logit t + a constant, for a maximal set of independent tokens."""
    rows: Matrix = []
    values: Vector = []
    for x, logit in zip(tokens, levels, strict=True):
        row = subtract(x, tokens[0])
        if fmpq_mat([*rows, row]).rank() > len(rows):
            rows.append(row)
            values.append(logit - levels[0])
    if not rows:
        return [fmpq(0)] * len(tokens[0])
    D = fmpq_mat(rows)
    weights = (D * D.transpose()).solve(fmpq_mat([[value] for value in values]))
    return combine([weights[k, 0] for k in range(len(rows))], rows)


def settled(case: Descent, largest: bool = False) -> Any:
    """Return a W at which the parts of each input rest at one score, and the room for its logits.

    With `largest` the scores are local maxima, and stay so for changes of logits within the room.
    None if there is no such W. OPEN if that is not decided, or if queries are dependent.
    """
    exact = ExactData.of(case.data)
    Z, prompts, rooms, undecided = fmpq_mat(exact.Z), [], [1.0], False
    for tokens, gamma in zip(exact.X, exact.gamma, strict=True):
        pieces = parts.split(parts.merged(tokens, gamma))
        with ctx.workprec(ctx.prec + _MORE):
            rests = parts.common(pieces, largest)
        if rests is None:
            return None
        undecided |= rests is OPEN
        if not undecided:
            rows = [x for part in pieces for x in part.tokens]
            prompts.append(prompt(rows, [logit for rest in rests for logit in rest.logits]))
            rooms += [rest.room / 2 for rest in rests]
    if undecided or Z.rank() < len(exact.Z):
        return OPEN
    W = fmpq_mat(prompts).transpose() * (Z * Z.transpose()).inv() * Z
    return np.array(W.tolist(), dtype=object), min(rooms)


def stationary_exactly_where_at_rest(case: Descent) -> arb:
    """Return a positive number if the run agrees: there are stationary points if parts rest.

    If parts rest at one u, the gradient at the resulting W is compared with its terms. If not, the
    number is the norm of the gradient at the start.
    """
    rest = settled(case)
    if rest is OPEN:
        return OPEN
    return _away(case) if rest is None else _at_rest(case, rest[0])


def least_exactly_where_largest(case: Descent, largest: bool = True) -> Any:
    """Return a positive number if the run agrees: there are minima exactly if rests are largest.

    Rests are largest if they are local maxima of scores. If so, the number combines the gradient at
    that W with the risk along the way to the start, which must not be lower. If not, it is that of
    `descends` at the start.
    """
    rest = settled(case, largest)
    if rest is OPEN:
        return OPEN
    if rest is None:
        return descends(case)
    W, room = rest
    exact, move = ExactData.of(case.data), np.array(rationals(case.start), dtype=object) - W
    moved = [logits(tokens, move.tolist(), z) for tokens, z in zip(exact.X, exact.Z, strict=True)]
    share = rational(room) / max(rational(room), *(max(row) - min(row) for row in moved))
    at_rest, there = (risk_gap(exact, rationals(end), case.loss) for end in (W, W + share * move))
    return arb.min(_at_rest(case, W), there - at_rest + _NEAR / 2**16)


def _away(case: Descent) -> Any:
    """Return ||grad L|| at the start, -1 if it is exactly 0, OPEN if undecided."""
    slope = negative_gradient(BALLS, case.data, case.start, case.loss).matrix
    if all(arb(x) == 0 for x in slope.ravel()):
        return arb(-1)
    length = arb(BALLS.norm(slope))
    return length if length > 0 else OPEN


def _at_rest(case: Descent, W: Array) -> arb:
    """Return `_NEAR` minus the norm of the gradient at W relative to its terms."""
    slope = negative_gradient(BALLS, case.data, W, case.loss)
    if all(arb(x) == 0 for x in slope.matrix.ravel()):
        return arb(_NEAR)
    exact, terms = ExactData.of(case.data), arb(0)
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        s = softmax(logits(tokens, rationals(W), z))
        u = dot(s, gamma)
        rows = zip(s, gamma, tokens, strict=True)
        sizes_of = (w * abs(g - u) * norm(subtract(x, tokens[0])) for w, g, x in rows)
        moved = sum(sizes_of, arb(0))
        terms += abs(loss_slope(case.loss, u)) * moved * norm(z) / len(exact.X)
    return arb(_NEAR) - norm([arb(x) for x in slope.matrix.ravel()]) / terms


def parts_known(case: Descent) -> bool:
    """Return whether all parts have the same score, or one dependency, or are on a line."""
    exact = ExactData.of(case.data)
    return all(
        parts.is_known(part)
        for tokens, gamma in zip(exact.X, exact.gamma, strict=True)
        for part in parts.split(parts.merged(tokens, gamma))
    )


@composite
def inputs(draw: st.DrawFn) -> Descent:
    """Draw a run on one or two inputs: few tokens, tokens on a line or two, or some of them equal.

    Scores are drawn, or set apart by a dependency, or such that uniform attention is at rest.
    """
    d, kind = draw(sizes(1, 3)), draw(st.sampled_from(KINDS))
    n = draw(sizes(1, min(d, 2)))
    T = draw(sizes(4, 6) if kind == "lines" else sizes(3, 5) if kind == "line" else sizes(2, d + 2))
    places = np.array([draw(st.permutations(range(-3, 4))) for _ in range(n)])[:, :T, None]
    if kind == "lines":  # the first three tokens, and the others
        d, axes = 3, np.where(np.arange(T) < 3, 0, 1)
        X = places * np.eye(3)[axes] + np.eye(3)[2] * axes[:, None]
    elif kind == "line":
        X = draw(arrays(n, 1, d)) + places * draw(arrays(n, 1, d))
    else:
        X = draw(arrays(n, T, d)).copy()
        X[:, T if kind == "few" else draw(sizes(1, T - 1)) :] = X[:, :1]
    scores = draw(arrays(n, T)).copy()
    for tokens, row in zip(X, scores, strict=True):
        how = draw(st.sampled_from(["drawn", "apart", "at rest"]))
        relations = np.array([[float(x) for x in b] for b in dependencies(rationals(tokens))])
        if len(relations) and how == "apart":
            row[:] = np.sign(relations[0]) * (np.abs(row) + 0.25)
        if len(relations) and how == "at rest":
            row[:] = draw(arrays(len(relations))) @ relations + row[0]
    start = draw(st.just(np.zeros((d, d))) | arrays(d, d))
    data = AttentionData(X, draw(arrays(n, d)), scores=scores)
    return Descent(data, start, draw(st.sampled_from(SLOPED)))


PARTS = (
    "parts are the least into which the m_t equal tokens of an input, taken as one with their "
    "mean score, fall such that each affine dependency is a sum of dependencies within parts; a "
    "part rests at u if u is its only score, or sum_t b_t ln(b_t/(m_t (gamma_t - u))) = 0 for its "
    "only dependency b or -b, with scores above u for b_t > 0 and below u for b_t < 0, or u is "
    "the mean of its scores with weights m_t y^(k_t) for tokens x + k_t v and y > 0 with sum_{s < "
    "t} m_s m_t (k_t - k_s) (gamma_t - gamma_s) y^(k_s + k_t) = 0"
)
MINIMUM = Measured(
    "W is no local minimum of L, as $formula",
    rounded(descends),
    descends,
    strict=True,
    notation=r"\left\|\nabla L(W)\right\| > 0 \text{ or } \lambda_{\min}(\nabla^2 L(W)) < 0",
)
EXISTENCE = Measured(
    "$formula exactly if in each input all parts rest at one score",
    rounded(stationary_exactly_where_at_rest),
    stationary_exactly_where_at_rest,
    strict=True,
    notation=r"\nabla L(W) = 0 \text{ for some } W",
    where=PARTS,
    proposition=rest_letters.existence,
)
LEAST = Measured(
    "$formula exactly if in each input all parts rest at one score, $largest of theirs",
    rounded(least_exactly_where_largest),
    least_exactly_where_largest,
    strict=True,
    notation=r"L \text{ has a local minimum}",
    where=PARTS,
    symbols={"largest": {True: "a local maximum", False: "one"}},
)


APART = Hypothesis(
    "tokens that score above any level can be separated from those below",
    levels_apart,
    says="tokens of the first input that score above any level can be separated from those below",
    proposition=letters.levels_apart,
)
KNOWN = Hypothesis(
    "parts of each input have the same score each, or one affine dependency, or are on a line",
    parts_known,
    proposition=rest_letters.known,
)

INPUTS = Records(Descent, st.one_of(inputs(), instances.points()), fixed=("step",))

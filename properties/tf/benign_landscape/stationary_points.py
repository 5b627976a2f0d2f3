"""Where the risk has stationary points, if every input has one affine dependency at most.

Let b be the dependency of an input, sum_t b_t = 0 and sum_t b_t x_t = 0, and let all tokens with
b_t > 0 score above all with b_t < 0. Between these scores

    h(u) = sum_t b_t ln(b_t / (gamma_t - u))

rises from -inf to inf. At its root the weights s_t in proportion to b_t / (gamma_t - u) are those
of a softmax of some logits <x_t, p>, have the score u, and s_t (gamma_t - u) is in proportion to
b_t.
"""

from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rational
from attsvm.exact.numbers import Matrix, Vector, combine, subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import OPEN
from attsvm.theory.arithmetic import BALLS
from properties.tf._support.descent_instances import Descent

_NEAR = fmpq(1, 2**24)
"""Share of what its terms add up to that the gradient may keep, as W is rounded to floats."""

_HALVINGS = 40
"""How far about a score whose sign is not seen others are looked for, in halvings."""


def dependencies(tokens: Matrix) -> list[Vector]:
    """Independent b with sum_t b_t = 0 and sum_t b_t x_t = 0, as many as there are."""
    rows = fmpq_mat([[*x, fmpq(1)] for x in tokens]).transpose()
    basis, nullity = rows.numer_denom()[0].nullspace()
    return [[fmpq(basis[t, k]) for t in range(len(tokens))] for k in range(nullity)]


def apart(b: Vector, gamma: Vector) -> Vector | None:
    """The one of b and -b whose positive entries score above its negative ones, if one does."""
    for signed in (b, [-entry for entry in b]):
        above = [g for entry, g in zip(signed, gamma, strict=True) if entry > 0]
        below = [g for entry, g in zip(signed, gamma, strict=True) if entry < 0]
        if min(above) > max(below):
            return signed
    return None


def levels_apart(case: Descent) -> bool:
    """Tokens of the first input that score above any level can be separated from those below."""
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


def share(m: Any, b: Any, gamma: Any, u: Any) -> Any:
    """What a token adds to h(u)."""
    return b * m.log(b / (gamma - u))


def balance(b: Vector, gamma: Vector, u: fmpq) -> Any:
    """h(u), over the tokens that take part in the dependency."""
    parts = [share(BALLS, arb(x), g, u) for x, g in zip(b, gamma, strict=True) if x != 0]
    return sum(parts, arb(0))


def bracket(b: Vector, gamma: Vector) -> tuple[fmpq, fmpq] | None:
    """Two scores, as near as balls can tell, with h below 0 at the first and above 0 at the other.

    None where the precision is too low to find one of them.
    """
    low = max(g for x, g in zip(b, gamma, strict=True) if x < 0)
    high = min(g for x, g in zip(b, gamma, strict=True) if x > 0)
    width = high - low
    while True:
        middle = (low + high) / 2
        value = balance(b, gamma, middle)
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:  # so near that the sign is not seen, or at the root
            break
    for k in reversed(range(2, _HALVINGS)):
        ends = middle - width / 2**k, middle + width / 2**k
        if balance(b, gamma, ends[0]) < 0 and balance(b, gamma, ends[1]) > 0:
            return ends
    return None


def logits_there(b: Vector, gamma: Vector, u: fmpq) -> list[float]:
    """ln(b_t / (gamma_t - u)); 0 for tokens that take no part in the dependency."""
    ratios = (x / (g - u) if x != 0 else fmpq(1) for x, g in zip(b, gamma, strict=True))
    return [float(arb(ratio).log().mid()) for ratio in ratios]


def prompt(tokens: Matrix, b: Vector, logits: list[float]) -> Vector | None:
    """The p with <x_t, p> = logit t + a constant, at all tokens but one that takes part in b.

    None where these are not affinely independent, as they are where b is the one dependency.
    """
    left_out = next(t for t, x in enumerate(b) if x != 0)
    first, *others = [t for t in range(len(tokens)) if t != left_out]
    rows = [subtract(tokens[t], tokens[first]) for t in others]
    if not rows:
        return [fmpq(0)] * len(tokens[0])
    if fmpq_mat(rows).rank() < len(rows):
        return None
    values = [rational(logits[t] - logits[first]) for t in others]
    D = fmpq_mat(rows)
    weights = (D * D.transpose()).solve(fmpq_mat([[value] for value in values]))
    return combine([weights[k, 0] for k in range(len(rows))], rows)


def exists_exactly_where_apart(case: Descent) -> Any:
    """Above 0 where the risk has a stationary point exactly where `apart` says so of all inputs.

    Where it says so of all, h is seen to change its sign, and what the gradient keeps at the W that
    the root gives is compared with its terms. Where not, it is the gradient at the start.
    """
    exact = ExactData.of(case.data)
    Z, prompts = fmpq_mat(exact.Z), [[fmpq(0)] * len(z) for z in exact.Z]
    signed: dict[int, Vector] = {}
    for i, (tokens, gamma) in enumerate(zip(exact.X, exact.gamma, strict=True)):
        if len(set(gamma)) > 1:
            found = dependencies(tokens)
            b = apart(found[0], gamma) if found else None
            if b is None:
                return _away(case)
            signed[i] = b
    for i, b in signed.items():
        ends = bracket(b, exact.gamma[i])
        if ends is None:
            return OPEN
        logits = logits_there(b, exact.gamma[i], sum(ends, fmpq(0)) / 2)
        p = prompt(exact.X[i], b, logits)
        if p is None:
            return None
        prompts[i] = p
    if Z.rank() < len(exact.Z):
        return None
    W = fmpq_mat(prompts).transpose() * (Z * Z.transpose()).inv() * Z
    return _at_rest(case, np.array([[float(x) for x in row] for row in W.tolist()]))


def _away(case: Descent) -> Any:
    """||grad L|| at the start, -1 where it is exactly 0."""
    slope = negative_gradient(BALLS, case.data, case.start, case.loss).matrix
    if all(arb(x) == 0 for x in slope.ravel()):
        return arb(-1)
    length = arb(BALLS.norm(slope))
    return length if length > 0 else OPEN


def _at_rest(case: Descent, W: Array) -> Any:
    """By how much the share of its terms' sizes that the gradient at W keeps is below `_NEAR`."""
    slope = negative_gradient(BALLS, case.data, W, case.loss)
    if all(arb(x) == 0 for x in slope.matrix.ravel()):
        return arb(_NEAR)
    terms = [abs(arb(part.factor)) * sum(abs(x) for x in part.matrix) for part in slope.parts]
    return arb(_NEAR) - BALLS.norm(slope.matrix) / sum(terms, arb(0))


def one_whole(case: Descent) -> bool:
    """Tokens of each input have one affine dependency at most, and all take part in it."""
    found = [dependencies(tokens) for tokens in ExactData.of(case.data).X]
    return all(len(basis) <= 1 and all(x != 0 for b in basis for x in b) for basis in found)


@composite
def inputs(draw: st.DrawFn) -> Descent:
    """One or two inputs of few tokens; scores drawn, or set apart by the dependency, or at rest."""
    n, d = draw(sizes(1, 2)), draw(sizes(1, 3))
    T = draw(sizes(2, d + 2))
    X, Z, drawn = draw(arrays(n, T, d)), draw(arrays(n, d)), draw(arrays(n, T))
    scores = drawn.copy()
    start = np.zeros((d, d)) if draw(st.booleans()) else draw(arrays(d, d))
    for i, tokens in enumerate(ExactData.of(AttentionData.of(X, Z, scores=scores)).X):
        how, found = draw(st.sampled_from(["drawn", "apart", "at rest"])), dependencies(tokens)
        if found and how != "drawn":
            b = np.array([float(x) for x in found[0]])
            scores[i] = b if how == "at rest" else np.sign(b) * (np.abs(drawn[i]) + 0.25)
    return Descent(AttentionData(X, Z, scores=scores), start, draw(st.sampled_from(SLOPED)))

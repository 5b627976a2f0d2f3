"""Aligned inputs: a gradient step on one input lowers no margin of another input.

With A_it = (x_opt - x_t) z_i^T, inputs are aligned if <A_it, A_ju> >= 0 for all rivals t, u of any
two inputs i != j. A single input is aligned. So are inputs with orthogonal queries.

Theorem. Suppose that optimal tokens are unique, the Att-SVM is feasible, some input has two tokens,
l' < 0, and the inputs are aligned. Suppose that every input's attended score u_i(0) lies above its
second-best score. Then descent with a step of at most 1/L, L = mean L_i with L_i the smoothness of
l(u_i) in W, has ||W_k|| -> infinity and W_k / ||W_k|| -> W^mm / ||W^mm||. The reason is that no
attended score ever falls, so that descent reaches the basin of `attsvm.exact.descent.basin`. If
rivals have equal scores, the same holds for longer steps. Both are proved in
`symbolic.aligned_inputs`.

Let g_i be the gap of the two best scores and delta_i the spread of the rivals' scores. Then u_i(0)
>= gamma_opt - (1 - s_i)(g_i + delta_i). This is above the second-best score if delta_i < g_i s_i /
(1 - s_i): for equal rivals from any start.
"""

import operator
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, descent, rational, rationals, softmax
from attsvm.exact.attention import logits
from attsvm.exact.numbers import Vector
from attsvm.primitives import descent_letters as letters
from attsvm.strategies import arrays, sizes
from attsvm.theory import Hypothesis


def inputs_aligned(data: AttentionData) -> bool:
    """Return whether <A_it, A_ju> >= 0 for all rivals t, u of any two inputs."""
    return descent.inputs_aligned(ExactData.of(data))


INPUTS_ALIGNED = Hypothesis(
    "inputs are aligned",
    lambda case: inputs_aligned(case.data),
    says="<A_it, A_ju> >= 0 for all rivals t, u of any two inputs i, j and A_it = (x_opt - x_t) "
    "z_i^T",
    proposition=letters.aligned,
)


def levels(gamma: Vector) -> tuple[int, Vector]:
    """Return the first optimal token of an input and the scores of its rivals."""
    best = gamma.index(max(gamma))
    return best, [g for t, g in enumerate(gamma) if t != best]


def spread_within(data: AttentionData, start: Array, factor: float, *, strict: bool = True) -> bool:
    """Return whether delta_i (1 - s_i) < factor g_i s_i is proved for each input with two tokens.

    Args:
        data: the inputs.
        start: a matrix W; s_i is the attention to the best token of input i under W.
        factor: the factor in the inequality.
        strict: whether equality is refused.
    """
    less = operator.lt if strict else operator.le
    exact, W = ExactData.of(data), rationals(start)
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        best, rivals = levels(gamma)
        if not rivals:
            continue
        s = softmax(logits(tokens, W, z))
        lost = sum((weight for t, weight in enumerate(s) if t != best), arb(0))
        bound = rational(factor) * (gamma[best] - max(rivals)) * s[best]
        if not less((max(rivals) - min(rivals)) * lost, bound):
            return False
    return True


def above_second_best(data: AttentionData, start: Array, factor: Fraction = Fraction(1)) -> bool:
    """Return whether each input with two tokens attends to more than its second-best score.

    With factor c, c s_i g_i has to exceed sum_t s_it (second - gamma_it) over the rivals t, where
    g_i is the gap of the two best scores and s the attention under `start`. This has to be proved.
    """
    exact, W = ExactData.of(data), rationals(start)
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        best, rivals = levels(gamma)
        if not rivals:
            continue
        s, second = softmax(logits(tokens, W, z)), max(rivals)
        cost = sum((s[t] * (second - g) for t, g in enumerate(gamma) if t != best), arb(0))
        if not cost < rational(factor) * s[best] * (gamma[best] - second):
            return False
    return True


@composite
def together(draw: st.DrawFn, spreads: Sequence[float] = (0.0,)) -> AttentionData:
    """Draw data that are mostly aligned: orthogonal queries, or token differences in one direction.

    The rivals' scores differ by at most about one of the spreads. Differences and queries are of
    one order of magnitude, so that descent can be followed to large norms.
    """
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 3)), draw(sizes(1, 3))
    X, D, Z = draw(arrays(n, 1, d)), draw(arrays(n, T, d)), draw(arrays(n, d))
    spread, best = draw(st.sampled_from(list(spreads))), draw(sizes(0, T - 1))
    return _built(X, D, Z, best, draw(arrays(n)), draw(arrays(n, T)), spread, draw(st.booleans()))


def together_larger(generator: np.random.Generator, *spreads: float) -> AttentionData:
    """Return larger data of the kind of `together`: up to four inputs of five tokens in R^5."""
    n, T, d = (int(generator.integers(2, top + 1)) for top in (4, 5, 5))

    def dyadic(*shape: int) -> Array:
        return generator.integers(-64, 65, size=shape) / 16

    best, spread = int(generator.integers(T)), float(generator.choice(spreads or (0.0,)))
    parts = dyadic(n, 1, d), dyadic(n, T, d), dyadic(n, d), best, dyadic(n), dyadic(n, T)
    return _built(*parts, spread, bool(generator.random() < 0.5))


def _built(
    X: Array, D: Array, Z: Array, best: int, lead: Array, noise: Array, spread: float, apart: bool
) -> AttentionData:
    """Return data with tokens X - D, where D is changed such that the data are mostly aligned.

    The differences of the optimal token to its rivals get first entries of at least 1. With `apart`
    queries are orthogonal; otherwise queries and differences have no negative entry.
    """
    n, d = Z.shape
    if apart and n <= d:
        D, Z = D / 4.0, np.eye(n, d)
    else:
        D, Z = np.abs(D) / 4.0, np.abs(Z) / 4.0 + np.eye(1, d)
    D[..., 0] = 1.0 + np.abs(D[..., 0])
    D[:, best] = 0.0
    scores = spread * noise / 8.0
    scores[:, best] = scores.max(axis=1) + 1.0 + np.abs(lead)
    return AttentionData(X - D, Z, scores=scores)

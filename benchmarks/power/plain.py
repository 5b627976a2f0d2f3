"""Mistakes in the plain mathematics of attention and of its SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.exact import ExactData, norm, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.numbers import dot, product, subtract, transpose
from attsvm.strategies import arrays, sizes
from attsvm.theory import Slack
from benchmarks.power.planting import by_balls, plant
from properties.programmes import OPEN, exactly, flat, optimum, solve
from properties.pulls import pulls, pushes
from properties.tf import all_support_no_stationary as stationary
from properties.tf import svm_rank
from properties.tf.descents import Descent, descents

EPS = float(np.finfo(np.float64).eps)
ANY = svm_rank.literal_1
"""Lends its form; nothing of it is kept."""
NOTHING_LISTED: dict[str, Any] = {"ensemble": None, "drop": [h.name for h in ANY.hypotheses]}


@dataclass(frozen=True, slots=True)
class Logits:
    """Two vectors of logits."""

    a: Array
    b: Array


@st.composite
def logits(draw: st.DrawFn) -> Logits:
    """Near and far apart."""
    T = draw(sizes(1, 4))
    a, step = draw(arrays(T)), draw(arrays(T))
    return Logits(a, a + step * 2.0 ** draw(st.sampled_from([0, -3, -6])))


def _spread(case: Logits, share: float, order: int) -> Slack:
    """||s(a) - s(b)|| of that order <= share ||a - b||_2."""
    change = softmax(case.a) - softmax(case.b)
    left = float(np.linalg.norm(change, order))
    right = share * float(np.linalg.norm(case.a - case.b))
    size = float(np.abs(case.a).max() + np.abs(case.b).max())
    return Slack.at_most(left, right, 32 * EPS * len(case.a) * (1.0 + size) + 1e-14 * right)


def _spread_ball(case: Logits, share: float, order: int) -> arb:
    a, b = rationals(case.a), rationals(case.b)
    step = subtract(a, b)
    far = arb(rational(share)) * norm(step)
    if len(set(step)) == 1:  # attention does not change
        return far if any(x != 0 for x in step) else arb(0)
    change = [arb(x) for x in subtract(exact_softmax(a), exact_softmax(b))]
    return far - (norm(change) if order == 2 else sum((abs(x) for x in change), arb(0)))


def _by_length(case: Logits, share: float = 0.475) -> Slack:
    return _spread(case, share, 2)


def _by_sum(case: Logits, share: float = 0.5) -> Slack:
    return _spread(case, share, 1)


softmax_constant = plant(
    ANY,
    "constant",
    "lipschitz",
    family="plain/softmax",
    statement="||s(a) - s(b)||_2 <= 0.475 ||a - b||_2 for the softmax s",
    why="1/2 is the least constant, approached by two tokens near equal logits",
    data=logits(),
    conclusion=_by_length,
    certify=lambda case: _spread_ball(case, 0.475, 2),
    **NOTHING_LISTED,
)
softmax_norm = plant(
    ANY,
    "norm",
    "lipschitz",
    family="plain/softmax",
    statement="||s(a) - s(b)||_1 <= ||a - b||_2 / 2 for the softmax s",
    why="1/2 is for one norm on both sides; here the least constant is 1/sqrt 2",
    data=logits(),
    conclusion=_by_sum,
    certify=lambda case: _spread_ball(case, 0.5, 1),
    **NOTHING_LISTED,
)


def _several(case: Logits) -> bool:
    return len(case.a) > 1


def _above_mean(case: Logits) -> arb:
    """The largest attention less 1/T."""
    a = rationals(case.a)
    if len(set(a)) == 1:
        return arb(0)
    return max(exact_softmax(a), key=arb.mid) - arb(1) / len(a)


def _log_sum(case: Logits) -> arb:
    """Max a + ln(T - 1) less ln sum exp a."""
    a = rationals(case.a)
    top = max(a)
    if len(a) == 2:
        return -(1 + (-arb(abs(a[0] - a[1]))).exp()).log()
    return arb(len(a) - 1).log() - sum(((arb(x) - top).exp() for x in a), arb(0)).log()


mean_strict = plant(
    ANY,
    "strict",
    "uniform",
    family="plain/softmax",
    statement="some one of T >= 2 tokens gets more attention than 1/T",
    why="none does where all logits are equal",
    data=logits(),
    hypotheses={"two tokens at least": _several},
    **NOTHING_LISTED,
    **by_balls(_above_mean, Logits, "strict"),
)
log_sum_index = plant(
    ANY,
    "index",
    "others",
    family="plain/softmax",
    statement="ln sum_t exp a_t <= max a + ln(T - 1) for T >= 2",
    why="ln T: all terms may be as large as the largest",
    data=logits().filter(_several),
    hypotheses={"two tokens at least": _several},
    **NOTHING_LISTED,
    **by_balls(_log_sum, Logits, "inequality"),
)


@dataclass(frozen=True, slots=True)
class Three:
    """Matrices A, X and B of one size."""

    A: Array
    X: Array
    B: Array


@st.composite
def matrices(draw: st.DrawFn) -> Three:
    """Square matrices of all small sizes."""
    d = draw(sizes(1, 3))
    return Three(draw(arrays(d, d)), draw(arrays(d, d)), draw(arrays(d, d)))


def _tensor(case: Three) -> arb:
    """Minus the largest entry of A X B^T - A^T X B^T."""
    A, X, B = (rationals(M) for M in (case.A, case.X, case.B))
    left, right = (product(product(M, X), transpose(B)) for M in (A, transpose(A)))
    return arb(-max(abs(x) for x in subtract(flat(left), flat(right))))


tensor_role = plant(
    ANY,
    "role",
    "tensor-trick",
    family="plain/tensor-trick",
    statement="(A kron B) vec(X) = vec(A^T X B^T), vec by rows",
    why="vec(A X B^T): A must not be transposed",
    data=matrices(),
    **NOTHING_LISTED,
    **by_balls(_tensor, Three, "equality"),
)


def _transposed_gradient(case: Descent) -> Slack:
    """-grad L against its transpose."""
    found = pulls(case.data, case.start, case.loss)
    if not np.isfinite(found.lost):
        return OPEN
    return Slack.equal(float(np.abs(found.descent - found.descent.T).max()), 4 * found.lost)


def _transposed_gradient_ball(case: Descent) -> arb:
    parts, d = pushes(ExactData.of(case.data), rationals(case.start), case.loss), case.data.d
    worst = arb(0)
    for r in range(d):
        for c in range(r):
            gaps = [(p.factor, p.matrix[r * d + c] - p.matrix[c * d + r]) for p in parts]
            if any(gap != 0 for _, gap in gaps):
                worst = worst.max(abs(sum((f * gap for f, gap in gaps), arb(0))))
    return -worst


gradient_role = plant(
    stationary.sharp,
    "role",
    "gradient",
    family="plain/gradient",
    statement="grad L(W) = sum_it c_it z_i x_it^T, W acting as x^T W z",
    why="x_it z_i^T: query and key are swapped",
    drop=[h.name for h in stationary.sharp.hypotheses],
    data=descents(),
    conclusion=_transposed_gradient,
    certify=_transposed_gradient_ball,
)

SVM = svm_rank.literal_1


def _by_multipliers(data: AttentionData) -> arb:
    """Minus | ||W^mm|| - sum lambda |."""
    found = exactly(data)
    assert found is not None
    total = sum(found.duals.values(), fmpq(0))
    return arb(0) if total * total == found.square else -abs(arb(found.square).sqrt() - total)


def _least(data: AttentionData, share: float, most: bool) -> Slack:
    found = solve(data, optimum(data))
    if found is None or found.answer is None:
        return OPEN
    size, reach = float(np.linalg.norm(found.W)), 1.0 / found.answer.programme.norms
    error = found.error + 1e-13 * (size + float(reach.max()))
    bound = share * float(reach.max())
    return Slack.at_most(size, bound, error) if most else Slack.at_most(bound, size, error)


def _at_least_longest(data: AttentionData) -> Slack:
    """||W^mm|| >= 1.05 max 1/||A_j||."""
    return _least(data, 1.05, False)


def _at_most_longest(data: AttentionData) -> Slack:
    """||W^mm|| <= max 1/||A_j||."""
    return _least(data, 1.0, True)


def _longest_ball(data: AttentionData, share: float) -> arb:
    """||W^mm|| less a share of max 1/||A_j||."""
    found = exactly(data)
    assert found is not None
    reach = max(1 / dot(A, A) for A in found.A.values())
    if rational(share) ** 2 * reach == found.square:
        return arb(0)
    return arb(found.square).sqrt() - arb(rational(share)) * arb(reach).sqrt()


multipliers_norm = plant(
    SVM,
    "norm",
    "not-squared",
    family="plain/att-svm",
    statement="||W^mm||_F is the sum of its multipliers",
    why="its square is",
    **by_balls(_by_multipliers, AttentionData, "equality"),
)
longest_constant = plant(
    SVM,
    "constant",
    "five-percent",
    family="plain/att-svm",
    statement="||W^mm||_F >= 1.05 max_j 1/||A_j||",
    why="equal to 1/||A|| for one constraint",
    conclusion=_at_least_longest,
    certify=lambda data: _longest_ball(data, 1.05),
)
longest_sign = plant(
    SVM,
    "sign",
    "at-most",
    family="plain/att-svm",
    statement="||W^mm||_F <= max_j 1/||A_j||",
    why="this is the least it can be: constraints that pull apart ask for more",
    conclusion=_at_most_longest,
    certify=lambda data: -_longest_ball(data, 1.0),
)

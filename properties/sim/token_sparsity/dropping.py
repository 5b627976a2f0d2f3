"""Leaving tokens out of the Att-SVM: the slack in floats with its rounding, and in rationals."""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from attsvm._types import Array
from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, dot, norm, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.attention import logistic_slope, logits
from attsvm.exact.numbers import Vector, combine, subtract
from attsvm.losses import LOSSES
from attsvm.risk import logit_gradient
from attsvm.theory import Slack
from properties._support.descent_runs import Run
from properties._support.programmes import (
    EPS,
    OPEN,
    Exact,
    Solution,
    Token,
    exactly,
    first_optimal,
    flat,
    optimum,
    solve,
    without,
)
from properties.sim.token_sparsity.redundant_tokens import Dropped

# the gradient of L of definition 3.6, averaged over inputs


def coefficients(run: Run, which: str) -> Slack:
    """The largest |dL/d logit| of the tokens chosen, against zero."""
    chosen = named(run.data, which)
    if chosen is None:
        return OPEN
    gradient, error = _logit_gradient(run.data, run.start)
    return Slack.equal(float(np.abs(gradient[chosen]).max(initial=0.0)), error)


def exact_coefficients(run: Run, which: str) -> arb | None:
    """Minus the largest coefficient, as a ball; exactly 0 where no token is chosen."""
    chosen = exactly_named(run.data, which)
    if chosen is None:
        return None
    gradient = _exact_logit_gradient(run.data, run.start)
    return -max((abs(gradient[token]) for token in chosen), key=arb.mid, default=arb(0))


def updates(run: Run, which: str) -> Slack:
    """The distance of the gradients at the start with and without the tokens chosen."""
    chosen = named(run.data, which)
    if chosen is None:
        return OPEN
    total, error = np.zeros((run.data.d, run.data.d)), 0.0
    for data, sign in ((run.data, 1.0), (without(run.data, chosen), -1.0)):
        gradient, lost = _logit_gradient(data, run.start)
        total += sign * np.einsum("nt,ntc,ne->ce", gradient, data.X, data.Z)
        sizes_ = np.linalg.norm(data.X, axis=2) * np.linalg.norm(data.Z, axis=1)[:, None]
        error += 2 * lost * float(sizes_.sum())
    return Slack.equal(float(np.linalg.norm(total)), error)


def exact_updates(run: Run, which: str) -> arb | None:
    """Minus the same distance as a ball; exactly 0 where no token is chosen."""
    chosen = exactly_named(run.data, which)
    if chosen is None:
        return None
    if not chosen:
        return arb(0)
    gradients = []
    for data in (run.data, without(run.data, _mask(run.data, chosen))):
        c = _exact_logit_gradient(data, run.start)
        gradients.append(_pulled_back(ExactData.of(data), c))
    return -norm(subtract(*gradients))


def _pulled_back(exact: ExactData, c: dict[Token, arb]) -> Vector:
    """sum_it c_it x_it z_i^T, row by row."""
    rows = [
        [a * e for a in x for e in z]
        for tokens, z in zip(exact.X, exact.Z, strict=True)
        for x in tokens
    ]
    return combine(list(c.values()), rows)


def _logit_gradient(data: AttentionData, X: Array) -> tuple[Array, float]:
    """dL/d logit of every token, and a bound of its rounding."""
    a = logits_of_w(data.X, data.Z, X)
    gradient = logit_gradient(a, data.gamma, LOSSES["logistic"], data.mask)
    longest = np.linalg.norm(data.X, axis=2).max() * np.linalg.norm(data.Z, axis=1).max()
    relative = 16 * EPS * (data.T + (data.d + 1) ** 2 * (1 + longest * np.linalg.norm(X)))
    G = float(np.abs(data.gamma).max())
    return gradient, float(relative * G * (1 + G))


def _exact_logit_gradient(data: AttentionData, X: Array) -> dict[Token, arb]:
    """The same from balls, (1/n) g'(u) s_t sum_k s_k (gamma_t - gamma_k)."""
    exact, W = ExactData.of(data), rationals(X)
    gradient: dict[Token, arb] = {}
    inputs = zip(exact.X, exact.Z, exact.gamma, exact.kept, strict=True)
    for i, (tokens, z, gamma, kept) in enumerate(inputs):
        s = exact_softmax(logits(tokens, W, z))
        slope = logistic_slope(dot(s, gamma)) / len(exact.X)
        for t, weight, score in zip(kept, s, gamma, strict=True):
            gradient[i, t] = slope * weight * dot(s, [score - g for g in gamma])
    return gradient


# the tokens chosen


def named(data: AttentionData, which: str) -> Array | None:
    """Support tokens, the first of them, the optimal ones or the others, margins read to 1e-7."""
    best = optimum(data)
    found = solve(data, best)
    if found is None or best is None:
        return None
    optimal, support = np.zeros((2, data.n, data.T), dtype=np.bool_)
    optimal[np.arange(data.n), best] = True
    for i, tokens in enumerate(found.answer.support if found.answer else ()):
        support[i, list(tokens)] = True
    others: Array = data.present & ~support & ~optimal
    if which == "first":
        first = np.zeros_like(support)
        first.flat[int(support.argmax())] = support.any()
        return first
    return {"support": support, "optimal": optimal, "others": others}[which]


def exactly_named(data: AttentionData, which: str) -> list[Token] | None:
    """The same by exact margins."""
    found = exactly(data)
    if found is None:
        return None
    if which == "optimal":
        exact = ExactData.of(data)
        return [(i, exact.kept[i][row]) for i, row in enumerate(first_optimal(exact))]
    tokens = [t for t, m in found.margins.items() if (m == 1) == (which != "others")]
    return tokens[:1] if which == "first" else tokens


def _mask(data: AttentionData, tokens: list[Token]) -> Array:
    mask = np.zeros((data.n, data.T), dtype=np.bool_)
    for token in tokens:
        mask[token] = True
    return mask


def _exactly_without(data: AttentionData, tokens: list[Token]) -> Exact:
    """The exact X^mm of the data without these tokens, which exists where that of all does."""
    rest = exactly(without(data, _mask(data, tokens)))
    return present(rest, "the exact X^mm without the dropped tokens")


# the programme


def moved(data: AttentionData, which: str) -> Slack:
    """How far X^mm moves when the tokens chosen are left out."""
    chosen, best = named(data, which), optimum(data)
    if chosen is None:
        return OPEN
    whole, rest = solve(data, best), solve(without(data, chosen), best)
    if whole is None or rest is None:
        return OPEN
    error = whole.error + rest.error + 8 * EPS * float(np.linalg.norm(whole.W))
    return Slack.equal(float(np.linalg.norm(whole.W - rest.W)), error)


def exactly_moved(data: AttentionData, which: str) -> arb | None:
    """Minus the same distance; exactly 0 where X^mm stays."""
    whole, chosen = exactly(data), exactly_named(data, which)
    if whole is None or chosen is None:
        return None
    rest = _exactly_without(data, chosen)
    apart = subtract(flat(whole.W), flat(rest.W))
    return -norm(apart) if any(x != 0 for x in apart) else arb(0)


def at_most_lost(case: Dropped, share: float) -> Slack:
    """||X^mm||^2 less that without the tokens, against share ||sum_J w_j A_j||^2.

    Multipliers need not be unique; those of the exact solution are taken.
    """
    best = optimum(case.data)
    if best is None:
        return OPEN
    dropped = case.dropped.copy()
    dropped[np.arange(len(best)), best] = False
    whole, rest = solve(case.data, best), solve(without(case.data, dropped), best)
    duals = exactly(case.data)
    if whole is None or rest is None or whole.answer is None or duals is None:
        return OPEN
    programme = whole.answer.programme
    tokens = zip(programme.input.tolist(), programme.token.tolist(), strict=True)
    weights = np.array([float(arb(duals.duals[token])) for token in tokens])
    J = dropped[programme.input, programme.token]
    size = float(np.linalg.norm(programme.combine(np.where(J, weights, 0.0))))
    e = 8 * EPS * (len(J) + 8) * float(weights @ programme.norms)
    error = share * e * (2 * size + e) + whole.high - whole.low + rest.high - rest.low
    error += 16 * EPS * (whole.high + share * size**2)
    return Slack.at_most(whole.square - rest.square, share * size**2, error)


def _weight_error(found: Solution) -> float:
    """Bound of ||w - exact w||: constraints that may be tight are independent, or infinite."""
    a = present(found.answer, "the answer of the SVM in floats")
    p = a.programme
    reach = p.norms * (found.error + 8 * EPS * (a.W.shape[0] + 4) * float(np.linalg.norm(a.W)))
    tight = (a.reached <= 1 + reach) | (a.weights > 0)
    block = p.gram[np.ix_(tight, tight)]
    least = float(np.linalg.eigvalsh(block)[0]) - 8 * EPS * len(block) ** 2 * float(block.trace())
    if not least > 0.0:
        return math.inf
    rounding = EPS * (len(a.weights) + 8) * float(a.weights @ p.norms)
    return (found.error + rounding) / math.sqrt(least)


def exactly_at_most_lost(case: Dropped, share: float) -> arb | None:
    """The same in rationals."""
    whole = exactly(case.data)
    if whole is None:
        return None
    J = [token for token in whole.A if case.dropped[token]]
    rest = _exactly_without(case.data, J)
    sum_J = combine([whole.duals[t] for t in J], [whole.A[t] for t in J]) if J else []
    return arb(rational(share) * dot(sum_J, sum_J) - (whole.square - rest.square))


def at_least_lost(data: AttentionData, factor: float, span: bool) -> Slack:
    """The least over tokens of what ||X^mm||^2 loses, less factor w_j^2 dist_j^2.

    dist_j is the distance of A_j from the span of the others, 1/(G^-1)_jj squared, or from 0.
    """
    best = optimum(data)
    whole = solve(data, best)
    if whole is None or whole.answer is None:
        return OPEN
    p, w, e = whole.answer.programme, whole.answer.weights, _weight_error(whole)
    condition = float(np.linalg.cond(p.gram))
    relative = 64 * EPS * len(w) ** 2 * condition**2
    if not math.isfinite(e) or not relative < 1e-2:
        return OPEN
    inverse = np.linalg.inv(p.gram)
    slacks = []
    for j, weight in enumerate(w):
        rest = solve(without(data, _mask(data, [(int(p.input[j]), int(p.token[j]))])), best)
        if rest is None:
            return OPEN
        square = 1 / float(inverse[j, j]) if span else float(p.norms[j]) ** 2
        error = factor * square * (e * (2 * float(weight) + e) + 2 * relative * float(weight) ** 2)
        error += whole.high - whole.low + rest.high - rest.low + 16 * EPS * whole.high
        left, right = factor * float(weight) ** 2 * square, whole.square - rest.square
        ratio = left / right if right > 1e4 * error else None
        slacks.append(Slack(right - left, error, ratio=ratio))
    return min(slacks, key=lambda slack: slack.value)


def exactly_at_least_lost(data: AttentionData, factor: float, span: bool) -> arb | None:
    """The same in rationals."""
    whole = exactly(data)
    if whole is None or not whole.A:
        return None
    gram = whole.gram(list(whole.A))
    inverse = gram.inv()
    slacks = []
    for j, (token, w) in enumerate(whole.duals.items()):
        rest = _exactly_without(data, [token])
        square = 1 / inverse[j, j] if span else gram[j, j]
        slacks.append(whole.square - rest.square - rational(factor) * w * w * square)
    return arb(min(slacks))

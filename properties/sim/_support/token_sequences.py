"""Sentences of a language as instances of figures 1 and 2, with X_soft decided exactly.

A run is a language (any that can say the sentences), the sentences, a start X(0), and which tokens
a problem chooses among: those of the sub-sequence or the whole vocabulary. X_soft is that of
definition 4.1 with C = 10 and a slack for each constraint, for the first optimal token. Printed is
a slack that the queries of a sentence share: the same for sentences of two words, which have one.

All minimisers of f_C(X) = ||X|| + C sum_j max(0, 1 - <A_j, X>) lie on one ray. So the minimisers
are not on the ray of a matrix X* if some rational W has f_C(W) < min_t f_C(t X*), a minimum over t
= 0 and the t = 1/<A_j, X*>. Floats propose W, and the inequality is checked in rationals. They are
on the ray of X* if X* is on the ray of X^mm and C ||X^mm|| > max lambda: X_soft is X^mm then.

If problems with one query have different next tokens, no X separates, and general convergence
results do not apply. `outvoted` decides such problems for embeddings with E E^T = I and the whole
vocabulary. The column w of X that a query reads evolves by itself, its logits being the coordinates
w_t. With n_t problems that ask for t, -dL/dw_t for t != a is -s_t kappa_t / n, kappa_t = sum_u n_u
g'(s_u) s_u - n_t g'(s_t), and as these sum to 0 that for w_a is their sum turned round. On the set
s_a >= p, g' decreasing on [0, 1], kappa_t >= n_a g'(1) p - n_t / 4. If this is above 0 for all t !=
a, all margins m_t = w_a - w_t grow, and the set is never left. The growth of m_t is bounded below
as long as m_t is bounded. So m_t tends to infinity, and kappa_t to n_a g'(1) - n_t g'(0) > 0. A
step adds to m_t - m_r a positive multiple of kappa_t exp(-m_t) - kappa_r exp(-m_r). So these
differences are bounded, and m_t = ln k + O(1). The sum of the w_t and the part orthogonal to all
tokens do not change. So X(k) = X* ln k + O(1), where X* is the least matrix with margins 1 for the
most frequent successors. None of this asks for a short step.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from flint import arb, fmpq

from attsvm._witness import Plain, floats, proposed
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rationals, separate, softmax
from attsvm.exact.descent import descend
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import Vector
from attsvm.exact.traps import is_stationary_start
from attsvm.language import next_tokens
from attsvm.losses import LOGISTIC_LOSS
from attsvm.primitives.att_svm import ExactAttSVM, att_svm, exact_att_svm, exact_constraints, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.limit_certificates import agreement, short_step
from attsvm.theory.types import Namespace, Numbers
from properties.sim._support.telling_sentences import C, sentences_of, soft

STEPS = (0, 1, 4, 16, 64)


SOFT = "soft-margin solution"
"""The proposal that `on_soft_ray` asks for."""


def limit(case: Descent) -> Vector | None:
    """Return X*, flat, with X(k) = (1 + o(1)) X* ln k, if that is proved."""
    proved = proved_limit(case.data, case.start, case.loss, case.step)
    if proved is not None and proved.limit is not None:
        return flat(proved.limit.W)
    return outvoted(case) if case.loss == LOGISTIC_LOSS.name else None


def outvoted(case: Descent) -> Vector | None:
    """Return X* in rationals if one successor of each query outvotes its rivals, else None."""
    E, data = sentences_of(case).embeddings, ExactData.of(case.data)
    if not sentences_of(case).whole or not np.array_equal(E @ E.T, np.eye(len(E))):
        return None
    asked = sentences_of(case).sentences[:, :-1].reshape(-1)
    votes = Counter(
        zip(asked.tolist(), next_tokens(sentences_of(case).sentences).tolist(), strict=True)
    )
    winner = {q: max(range(len(E)), key=lambda t: votes[q, t]) for q in asked.tolist()}
    W, step = rationals(case.start), short_step(case.data, "logistic-loss", case.step)
    for steps, before in zip(STEPS, (0, *STEPS), strict=False):
        W = descend(data, W, "logistic-loss", step, steps - before)
        if all(_decided(data, W, case, votes, q, a) for q, a in winner.items()):
            chosen = separate(data, [winner[q] for q in asked.tolist()])
            return None if chosen is None or chosen.status != "solved" else flat(chosen.W)
    return None


def _decided(
    data: ExactData,
    W: list[Vector],
    case: Descent,
    votes: Counter[tuple[int, int]],
    q: int,
    a: int,
) -> bool:
    """Return whether kappa_t > 0 for all t != a if a has at least its attention under W."""
    E = rationals(sentences_of(case).embeddings)
    s = softmax([dot(e, [dot(row, E[q]) for row in W]) for e in E])
    least = votes[q, a] * -loss_slope("logistic-loss", fmpq(1)) * s[a]
    others = [votes[q, t] for t in range(len(E)) if t != a]
    return all(bool(least - arb(n) / 4 > 0) for n in others)


def on_soft_ray(data: AttentionData, X: Vector) -> arb | None:
    """Return 1 if flat X is provably on X_soft's ray, a negative number if not, or None."""
    A = list(exact_constraints(ExactData.of(data)).values())
    gap = _least_on_ray(A, X) - _least_known(data, A)
    if gap > 0:
        return arb(-gap)
    hard = exact_att_svm(data)
    if hard is None or not hard.A or not _dear(hard):
        return None
    side = len(data.Z[0])
    matrix = [list(X[i : i + side]) for i in range(0, len(X), side)]
    return agreement(hard.W, matrix)


def _least_on_ray(A: list[Vector], X: Vector) -> arb:
    """Return the minimum of f_C over the ray of X."""
    margins = [dot(a, X) for a in A]
    size, least = arb(dot(X, X)).sqrt(), arb(C * len(A))
    for m in margins:
        if m > 0:
            slack = sum((max(fmpq(0), 1 - other / m) for other in margins), fmpq(0))
            least = least.min(size / arb(m) + C * slack)
    return least


def _least_known(data: AttentionData, A: list[Vector]) -> arb:
    """Return f_C at 0 or at the solution that floats propose, whichever is less."""

    def find() -> Plain:
        answer = soft(data)
        return None if answer is None else answer.W.tolist()

    zero, proposal = arb(C * len(A)), proposed(SOFT, find)
    if proposal is None:
        return zero
    W = flat(rationals(np.array(floats(proposal, data.d, data.d))))
    slack = sum((max(fmpq(0), 1 - dot(a, W)) for a in A), fmpq(0))
    return zero.min(arb(dot(W, W)).sqrt() + C * slack)


def moves_soft(case: Descent) -> bool:
    """Return whether X_soft != 0: slope C ||sum_j A_j|| > 1 at 0 (`sim/definition-4.1:sharp`)."""
    S = summed(case.data)
    return bool(C * C * dot(S, S) > 1)


def summed(data: AttentionData) -> Vector:
    """Return the sum of all A_j, flat."""
    A = exact_constraints(ExactData.of(data)).values()
    return [sum(column, fmpq(0)) for column in zip(*A, strict=True)]


def from_zero(case: Descent) -> bool:
    """Return whether X(0) = 0."""
    return not case.start.any()


def stays_at_zero(case: Descent) -> bool:
    """Return whether X(0) = 0 is stationary, so that X(k) never has a direction."""
    return from_zero(case) and is_stationary_start(ExactData.of(case.data), rationals(case.start))


def enough(case: Descent) -> bool:
    """Return whether C ||X^mm|| > max lambda, so that X_soft is X^mm alone."""
    hard = exact_att_svm(case.data)
    return hard is not None and bool(hard.A) and _dear(hard)


def _dear(hard: ExactAttSVM) -> bool:
    """Return whether C ||X^mm|| > max lambda."""
    return bool(C * C * hard.square > max(hard.duals.values()) ** 2)


def known_soft(m: Namespace, case: Descent) -> Numbers:
    """Return X_soft row by row in the arithmetic m; NaN if it is not known to be X^mm."""
    svm = att_svm(m, case.data)
    return svm.vector if enough(case) else m.values([arb("nan")] * case.data.d**2)

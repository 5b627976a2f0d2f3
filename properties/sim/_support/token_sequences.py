"""Sentences of a language as instances of figures 1 and 2, with X_soft decided exactly.

A run is a language that can say the sentences, the sentences, a start X(0), and the choices of a
problem. It chooses among the tokens of the sub-sequence or among the whole vocabulary. X_soft is
that of definition 4.1 with C = 10 and a slack for each constraint, for the first optimal token. In
print the queries of a sentence share a slack; for sentences of two words, which have one query,
this is the same.

All minimisers of f_C(X) = ||X|| + C sum_j max(0, 1 - <A_j, X>) lie on one ray. This ray is not that
of a matrix X* if some rational W has f_C(W) < min_t f_C(t X*); the minimum is at t = 0 or at some t
= 1/<A_j, X*>. Floats propose W, and the inequality is checked in rationals. The ray is that of X*
if X* is a positive multiple of X^mm and C ||X^mm|| > max lambda, because then X_soft is X^mm.

If problems with one query have different next tokens, no X separates. For orthonormal embeddings
and the whole vocabulary, `outvoted` then decides the limit: docs/proofs/frequent_successors.md.
"""

from collections import Counter

import numpy as np
from flint import arb, fmpq

from attsvm._witness import Plain, floats, proposed
from attsvm.data import AttentionData
from attsvm.exact import ExactAnswer, ExactData, dot, rationals, separate, softmax
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
from attsvm.theory.arithmetic.programs import nested
from attsvm.theory.types import Namespace, Numbers
from properties.sim._support.telling_sentences import C, sentences_of, soft

STEPS = (0, 1, 4, 16, 64)


SOFT = "soft-margin solution"
"""The proposal that `on_soft_ray` asks for."""


def limit(case: Descent) -> Vector | None:
    """Return X*, flat, if X(k) = (1 + o(1)) X* ln k is proved; else None."""
    proved = proved_limit(case.data, case.start, case.loss, case.step)
    if proved is not None and proved.limit is not None:
        return flat(proved.limit.W)
    settled = outvoted(case)
    return None if settled is None else flat(settled[1].W)


def outvoted(case: Descent) -> tuple[int, ExactAnswer] | None:
    """Return (a number of steps, X*), or None if nothing is proved.

    After these steps the condition of docs/proofs/frequent_successors.md is met: one successor of
    each query wins against the other tokens. X* gives these successors margins of 1.
    """
    E, data = sentences_of(case).embeddings, ExactData.of(case.data)
    orthonormal = sentences_of(case).whole and np.array_equal(E @ E.T, np.eye(len(E)))
    if case.loss != LOGISTIC_LOSS.name or not orthonormal:
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
            return None if chosen is None or chosen.status != "solved" else (steps, chosen)
    return None


def _decided(
    data: ExactData,
    W: list[Vector],
    case: Descent,
    votes: Counter[tuple[int, int]],
    q: int,
    a: int,
) -> bool:
    """Return whether the lower bound of kappa_t is above 0 for all t != a, with p = s_a under W."""
    E = rationals(sentences_of(case).embeddings)
    s = softmax([dot(e, [dot(row, E[q]) for row in W]) for e in E])
    least = votes[q, a] * -loss_slope("logistic-loss", fmpq(1)) * s[a]
    others = [votes[q, t] for t in range(len(E)) if t != a]
    return all(bool(least - arb(n) / 4 > 0) for n in others)


def on_soft_ray(data: AttentionData, X: Vector) -> arb | None:
    """Return 1 if X is provably on the ray of X_soft, a negative number if provably not, or None.

    X is flat.
    """
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
    """Return the minimum of f_C over the ray of X, at 0 or at some 1/<A_j, X>."""
    margins = [dot(a, X) for a in A]
    size, least = arb(dot(X, X)).sqrt(), arb(C * len(A))
    for m in margins:
        if m > 0:
            slack = sum((max(fmpq(0), 1 - other / m) for other in margins), fmpq(0))
            least = least.min(size / arb(m) + C * slack)
    return least


def known(data: AttentionData) -> str:
    """Return 0 or the solution that floats propose, flat and as an expression of the checker."""
    answer = soft(data)
    W = np.zeros((data.d, data.d)) if answer is None else answer.W
    return nested([round(x * 2**20) / 2**20 for x in W.ravel().tolist()])


def _least_known(data: AttentionData, A: list[Vector]) -> arb:
    """Return f_C at 0 or at the solution that floats propose, whichever is smaller."""

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
    """Return whether X_soft != 0, that is, C ||sum_j A_j|| > 1 (`sim/definition-4.1:sharp`)."""
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
    """Return whether slack costs more than margins: C ||X^mm|| > max lambda."""
    return bool(C * C * hard.square > max(hard.duals.values()) ** 2)


def known_soft(m: Namespace, case: Descent) -> Numbers:
    """Return X_soft row by row in the arithmetic m; NaN if it is not known to be X^mm."""
    svm = att_svm(m, case.data)
    return svm.vector if enough(case) else m.values([arb("nan")] * case.data.d**2)

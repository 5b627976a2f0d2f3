"""Proofs about where descent goes for ever: flights from a direction, traps, stationary starts."""

from __future__ import annotations

from flint import arb, fmpq

from attsvm.exact.attention import logits, loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, subtract

__all__ = ["is_stationary_start", "moves_along_margins", "trapped_at"]


def moves_along_margins(data: ExactData) -> bool:
    """Whether the covariance of scores with any margins of at least 1 is positive everywhere.

    True where optimal tokens are unique, some input has two tokens, and in each input all rivals
    of the optimal token have one score. Then for every X and every M whose margins are at least
    1, <grad L(X), M> has the opposite sign of l' taken as decreasing: descent on a decreasing
    loss climbs along M, on an increasing one it falls.
    """
    return (
        data.unique
        and any(len(g) > 1 for g in data.gamma)
        and all(len({g for g in gamma if g != max(gamma)}) <= 1 for gamma in data.gamma)
    )


def is_stationary_start(data: ExactData, W: Matrix) -> bool:
    """Whether the gradient at W is exactly zero, for any loss; then descent stays at W for ever.

    Decided where the logits of each input are all equal (W = 0, say), so that attention is
    uniform and rational: inputs of the same mean score share one factor l', and within such a
    group the pulls must cancel. Inputs without two different scores never pull.
    """
    groups: dict[tuple[int, int], list[Matrix]] = {}
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        if len(set(gamma)) == 1:
            continue
        if len(set(logits(tokens, W, z))) != 1:
            return False
        mean = sum(gamma, fmpq(0)) / len(gamma)
        pull = [
            sum(((g - mean) * x[r] for g, x in zip(gamma, tokens, strict=True)), fmpq(0))
            / len(gamma)
            for r in range(len(tokens[0]))
        ]
        key = (int(mean.p), int(mean.q))
        groups.setdefault(key, []).append([[a * b for b in z] for a in pull])
    return all(
        sum((m[r][c] for m in matrices), fmpq(0)) == 0
        for matrices in groups.values()
        for r in range(len(matrices[0]))
        for c in range(len(matrices[0][0]))
    )


def trapped_at(data: ExactData, W: Matrix, loss: str) -> list[int] | None:
    """The tokens that the inputs keep selecting under descent from W, with any step, if proved.

    Let a_i be the token of largest logit of input i at W, m_it > 0 its margins over the others
    and m_0 the least of them. Consider the set where m_0 >= m_0(W) and every m_it - m_0 >=
    m_it(W) - m_0(W). If on all of it the increments of m_0 and of every m_it - m_0 under a step
    of descent on a decreasing loss are nonnegative, descent never leaves it and each a_i keeps
    the largest logit for ever. Divided by exp(-m_0) the increments are polynomials in the ratios
    exp(-(m_it - m_0)), the slopes |l'| and the weights of the a_i, all enclosed by balls over the
    whole set. W may itself be an enclosure. None where this proves nothing.
    """
    places = range(len(data.X))
    values = [logits(data.X[i], W, data.Z[i]) for i in places]
    chosen = [_largest(v) for v in values]
    pairs = [(i, t) for i in places for t in range(len(values[i])) if t != chosen[i]]
    margin = {(i, t): arb(values[i][chosen[i]] - values[i][t]) for i, t in pairs}
    if not pairs or not all(m > 0 for m in margin.values()):
        return None
    least = min(pairs, key=lambda pair: margin[pair].mid())
    gap = {(i, t): subtract(data.X[i][chosen[i]], data.X[i][t]) for i, t in pairs}
    lead = {(i, t): data.gamma[i][chosen[i]] - data.gamma[i][t] for i, t in pairs}
    ratio = {p: arb(1) if p == least else _unit(margin[p] - margin[least]) for p in pairs}
    mass = _unit(margin[least])
    rivals = [[t for j, t in pairs if j == i] for i in places]
    share = [1 / (1 + mass * sum((ratio[i, t] for t in rivals[i]), arb(0))) for i in places]
    factor = []
    for i in places:
        missing = sum((mass * ratio[i, t] * share[i] * lead[i, t] for t in rivals[i]), arb(0))
        slope = -loss_slope(loss, arb(data.gamma[i][chosen[i]]) - missing)
        factor.append(slope * share[i])

    def inner(p: tuple[int, int], q: tuple[int, int]) -> fmpq:
        product: fmpq = dot(gap[p], gap[q]) * dot(data.Z[p[0]], data.Z[q[0]])
        return product

    def increment(pull: dict[tuple[int, int], fmpq]) -> arb:
        total = arb(0)
        for i in places:
            terms = [(ratio[i, t], lead[i, t], pull[i, t]) for t in rivals[i]]
            first = sum((r * s * g for r, s, g in terms), arb(0))
            scores = sum((r * s for r, s, _ in terms), arb(0))
            pulls = sum((r * g for r, _, g in terms), arb(0))
            total += factor[i] * (first - mass * share[i] * scores * pulls)
        return total

    base = {p: inner(p, least) for p in pairs}
    if not increment(base) > 0:
        return None
    for q in pairs:
        if q != least and not increment({p: inner(p, q) - base[p] for p in pairs}) >= 0:
            return None
    return chosen


def _largest(values: Vector) -> int:
    return max(range(len(values)), key=lambda t: arb(values[t]).mid())


def _unit(margin: arb) -> arb:
    """The interval [0, exp(-margin)], for the least value of the margin's ball."""
    return arb(0).union((-margin.lower()).exp())

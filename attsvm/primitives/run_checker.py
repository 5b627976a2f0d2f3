"""Descent for the checker of `theory.record.checker`: what is proved of a run for all time.

Verifiers of statements about runs print this file after `data_checker`. Data, programmes and starts
are exact; iterates of descent are enclosed. That a run keeps the tokens of a trap or of a basin is
a theorem (docs/proofs/traps.md, symbolic/basins.py); its conditions are checked here.
"""

import functools
from collections.abc import Mapping, Sequence
from fractions import Fraction as Q

from attsvm.primitives.data_checker import (
    LOSSES,
    SLOPED,
    Data,
    Matrix,
    Vector,
    flat,
    inner,
    least,
    minus,
    rows,
    sizes,
    unique,
)
from attsvm.theory.record.checker import (
    Answer,
    Real,
    Undefined,
    all_of,
    below,
    dot,
    exp,
    fact,
    minimum,
    real,
    softmax,
    spectral,
    sqrt,
)

Pair = tuple[int, int]
"""An input and a token."""

# descent W - step grad L(W), where L(W) is the mean of l(sum_t s_t score_t), s the softmax of the
# logits x_t^T W z


def logits(data: Data, W: Sequence[Sequence[Real]]) -> list[list[Real]]:
    """Return the logits of each input."""
    queries = [[dot(row, z) for row in W] for z in data.Z]
    return [[dot(x, q) for x in X] for X, q in zip(data.X, queries, strict=True)]


def plus(A: Sequence[Sequence[Real]], B: Sequence[Sequence[Real]]) -> list[list[Real]]:
    """Return the sum of two matrices."""
    return [[a + b for a, b in zip(*both, strict=True)] for both in zip(A, B, strict=True)]


def gradient(data: Data, W: Sequence[Sequence[Real]], loss: str) -> list[list[Real]]:
    """Return sum_i l'(u_i)/n sum_t s_t (score_t - u_i) x_t z^T.

    Inputs of one exact u are added before they are multiplied by l'(u), so that they may cancel.
    """
    total: dict[tuple[Q, Q, int], list[list[Real]]] = {}
    for k, (X, z, scores) in enumerate(zip(data.X, data.Z, data.scores, strict=True)):
        s = softmax(logits(Data([X], [z], [scores]), W)[0])
        u = dot(s, scores)
        key = (u.low, u.high, -1 if u.low == u.high else k)
        weights = [a * (g - u) for a, g in zip(s, scores, strict=True)]
        moved = [dot(weights, c) for c in zip(*X, strict=True)]
        own = [[a * b for b in z] for a in moved]
        total[key] = plus(total[key], own) if key in total else own
    parts = []
    for (low, high, _), M in total.items():
        slope = LOSSES[loss][1](Real(low, high)) / data.n
        parts.append([[slope * x for x in row] for row in M])
    return functools.reduce(plus, parts)


def is_stationary(data: Data, start: Matrix, loss: str) -> bool:
    """Return whether the gradient at the start is exactly 0, so that descent stays there."""
    moving, W = data.moving, [[real(x) for x in row] for row in start]
    return not moving.X or all(x.low == x.high == 0 for x in flat(gradient(moving, W, loss)))


def descend(data: Data, start: Matrix, loss: str, step: Q, steps: int) -> list[list[Real]]:
    """Return an enclosure of the iterate after some steps."""
    W = [[real(x) for x in row] for row in start]
    for _ in range(steps):
        G = gradient(data, W, loss)
        W = [[w - step * g for w, g in zip(*both, strict=True)] for both in zip(W, G, strict=True)]
    return W


def smoothness(data: Data, loss: str) -> Real:
    """Return a Lipschitz constant of the gradient of L.

    It is the mean of ||z||^2 ||X - mean||^2 (D sup|l'| / (3 sqrt 3) + D^2 sup|l''| / 8), where D is
    the range of the scores of an input.
    """
    total = Real(0)
    for X, z, scores in zip(data.X, data.Z, data.scores, strict=True):
        mean = [sum(c, Q(0)) / len(X) for c in zip(*X, strict=True)]
        reach = spectral([[real(a) for a in minus(x, mean)] for x in X])
        slope, bend = sizes(loss, min(scores), max(scores))
        D = max(scores) - min(scores)
        total += inner(z, z) * (reach * reach) * (D * slope / (3 * sqrt(3)) + D * D * bend / 8)
    return total / data.n


def in_basin(data: Data, W: Sequence[Sequence[Real]], loss: str) -> bool:
    """Return whether the risk at W is provably so low that no optimal token is ever lost.

    It is if L(W) is above the mean of l(best score) by less than the least l(second) - l(best) over
    n, l' < 0, optimal tokens are unique and separable. Then descent with a step of at most
    1/smoothness converges in direction to the max-margin solution of the optimal tokens.
    """
    value, n = LOSSES[loss][0], data.n
    gap, room = Real(0), []
    for s, scores in zip(map(softmax, logits(data, W)), data.scores, strict=True):
        best, second = sorted(set(scores))[:-3:-1]
        gap += (value(dot(s, scores)) - value(real(best))) / n
        room.append((value(real(second)) - value(real(best))) / n)
    return loss in SLOPED and unique(data) and gap.high < minimum(*room).low


def trap(data: Data, W: Sequence[Sequence[Real]], loss: str) -> tuple[list[int], bool] | None:
    """Return the tokens of largest logit if descent from W provably keeps them, else None.

    Steps may have any size. The second result is whether the direction provably converges to the
    max-margin solution of these tokens. Let m_0 be the least margin m_j of a group. Take the set of
    matrices for which m_0 and all m_j - m_0 are at least what they are at W. Balls show that no
    step within this set lowers m_0 or m_j - m_0, so that descent never leaves it.
    """
    values = logits(data, W)
    chosen = [[x.low for x in v].index(max(x.low for x in v)) for v in values]
    pairs = [(i, t) for i, v in enumerate(values) for t in range(len(v)) if t != chosen[i]]
    margin = {(i, t): values[i][chosen[i]] - values[i][t] for i, t in pairs}
    if min((m.low for m in margin.values()), default=Q(0)) <= 0:
        return None
    A = dict(zip(pairs, rows(data, chosen), strict=True))
    lead = {(i, t): data.scores[i][chosen[i]] - data.scores[i][t] for i, t in pairs}
    settles = True
    for group in groups(pairs, A):
        first = min(group, key=lambda p: margin[p].low)
        mass = Real(0, exp(-margin[first]).high)
        ratio = {p: Real(0, exp(margin[first] - margin[p]).high) for p in group}
        ratio[first] = Real(1)

        base = {p: inner(A[p], A[first]) for p in group}
        inputs = sorted({i for i, _ in group})
        factor = {}
        for i in inputs:
            own, best = [p for p in group if p[0] == i], data.scores[i][chosen[i]]
            share = 1 / (1 + mass * sum((ratio[p] for p in own), Real(0)))
            missing = sum((mass * ratio[p] * share * lead[p] for p in own), Real(0))
            factor[i] = own, share, -LOSSES[loss][1](best - missing) * share
        rise = functools.partial(growth_along, factor, ratio, lead, mass)
        if rise(base).low <= 0:
            return None
        settles &= all(LOSSES[loss][1](real(data.scores[i][chosen[i]])).high < 0 for i in inputs)
        for q in group:
            change = {p: inner(A[p], A[q]) - base[p] for p in group}
            growth = rise(change)
            if q != first and growth.low < 0:
                return None
            settles &= q == first or lead[q] >= 0 or growth.low > 0
    return chosen, settles


def growth_along(
    factor: Mapping[int, tuple[Sequence[Pair], Real, Real]],
    ratio: Mapping[Pair, Real],
    lead: Mapping[Pair, Q],
    mass: Real,
    f: Mapping[Pair, Q],
) -> Real:
    """Return the increase of a margin along minus the gradient, by its inner products f."""
    total = Real(0)
    for own, share, pace in factor.values():
        first = sum((ratio[p] * (lead[p] * f[p]) for p in own), Real(0))
        scores = sum((ratio[p] * lead[p] for p in own), Real(0))
        moved = sum((ratio[p] * f[p] for p in own), Real(0))
        total += pace * (first - mass * share * scores * moved)
    return total


def groups(pairs: Sequence[Pair], A: Mapping[Pair, list[Q]]) -> list[list[Pair]]:
    """Return the pairs of input and token in groups; no group changes the margins of another."""
    parts: list[list[Pair]] = []
    for pair in pairs:
        met = [g for g in parts if any(p[0] == pair[0] or inner(A[p], A[pair]) for p in g)]
        parts = [g for g in parts if g not in met] + [[p for g in met for p in g] + [pair]]
    return parts


# answers about runs of descent


def ends_along(
    data: Data, start: Matrix, loss: str, step: Q, steps: int, multipliers: Vector
) -> list[Q]:
    """Return a matrix to which descent converges in direction, or the start if it stays there.

    After some steps the iterate is in a trap or a basin. The direction is then that of the
    max-margin solution for the tokens that are kept, which the multipliers prove.

    Raises:
        Undefined: neither trap nor basin is proved, or the direction may not converge.
    """
    if is_stationary(data, start, loss):
        return flat(start)
    selected, settles = kept(data.moving, start, loss, step, steps)
    result = least(rows(data.moving, selected), multipliers, len(flat(start)))
    if result is None or not settles:
        raise Undefined("the direction is not known")
    return result


def kept(data: Data, start: Matrix, loss: str, step: Q, steps: int) -> tuple[list[int], bool]:
    """Return the tokens that descent keeps after `steps` steps, and if its direction settles.

    Raises:
        Undefined: neither trap nor basin is proved.
    """
    if loss == "logistic":
        data, loss = data.opposed, "logistic-loss"
    W = descend(data, start, loss, step, steps)
    if (step * smoothness(data, loss)).high <= 1 and in_basin(data, W, loss):
        return data.optimal, True
    result = trap(data, W, loss)
    if result is None:
        raise Undefined("neither trap nor basin is proved")
    return result


def diverges(data: Data, start: Matrix, loss: str) -> Answer:
    """Return whether the norm of descent tends to infinity, decided only if it never moves.

    Raises:
        Undefined: the run moves.
    """
    if is_stationary(data, start, loss):
        return fact(False)
    raise Undefined("the run moves")


def factors_converge(K: Matrix, Q: Matrix) -> Answer:
    """Return whether descent on K and Q has a limit direction, decided only from K = Q = 0.

    The gradients of L(K Q^T) are G Q and G^T K, so that descent stays there: it has none.

    Raises:
        Undefined: the run moves.
    """
    if not any(flat(K)) and not any(flat(Q)):
        return fact(False)
    raise Undefined("the run moves")


def rises(data: Data, start: Matrix, loss: str, A: Matrix, sign: int = 1) -> Answer:
    """Return whether sign <-grad L, a> > 0 at the start for all rows a."""
    G = flat(gradient(data, [[real(x) for x in row] for row in start], loss))
    return all_of(fact(True), *(below(sign * dot(G, a), 0) for a in A))


def favours(data: Data, start: Matrix, loss: str, A: Matrix) -> Answer:
    """Return whether there are rows, and <-grad L, a> > 0 for all of them as in `rises`."""
    return all_of(fact(bool(A)), rises(data, start, loss, A))

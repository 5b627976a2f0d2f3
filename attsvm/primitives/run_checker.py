"""Descent for the checker of `theory.record.checker`: what is proved of a run for all time.

A verifier prints what it needs of this file after `data_checker`. Data, programmes and starts are
exact; iterates of descent are enclosed. That a run keeps the tokens of a trap or of a basin is a
theorem (docs/proofs/traps.md, symbolic/basins.py); its conditions are checked here.
"""

from collections.abc import Callable, Iterable, Sequence
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
    matrix,
    minus,
    outer,
    rows,
    sizes,
    unique,
)
from attsvm.theory.record.checker import (
    Real,
    Undefined,
    dot,
    exp,
    minimum,
    real,
    reals,
    softmax,
    spectral,
    sqrt,
)

Reals = Sequence[Sequence[Real]]
Pair = tuple[int, int]  # an input and a token
Selection = tuple[list[int], dict[Pair, list[Q]], dict[Pair, Q], dict[Pair, Real]]
Proof = Callable[[Data, Reals, str, Q], list[int]]  # returns the tokens that are kept

# descent W - step grad L(W), where L(W) is the mean of l(sum_t s_t score_t), s the softmax of the
# logits x_t^T W z


def logits(X: Matrix, z: Vector, W: Reals) -> list[Real]:
    """Return the logits of an input."""
    query = [dot(row, z) for row in W]
    return [dot(x, query) for x in X]


def total(terms: Iterable[Real]) -> Real:
    """Return the sum of some numbers."""
    return sum(terms, Real(0))


def gradient(data: Data, W: Reals, loss: str) -> list[Real]:
    """Return sum_i l'(u_i)/n sum_t s_t (score_t - u_i) x_t z^T, entry by entry.

    Inputs of one exact u are added before they are multiplied by l'(u), so that they may cancel.
    """
    parts: dict[tuple[Q, Q, int], list[list[Real]]] = {}
    for k, (X, z, scores) in enumerate(zip(data.X, data.Z, data.scores, strict=True)):
        s = softmax(logits(X, z, W))
        u = dot(s, scores)
        weights = [a * (g - u) for a, g in zip(s, scores, strict=True)]
        moved = outer([dot(weights, c) for c in zip(*X, strict=True)], z)
        parts.setdefault((u.low, u.high, k if u.low < u.high else -1), []).append(moved)
    result = [Real(0) for row in W for _ in row]
    for (low, high, _), moves in parts.items():
        slope = LOSSES[loss][1](Real(low, high)) / data.n
        added = [slope * total(c) for c in zip(*moves, strict=True)]
        result = [a + b for a, b in zip(result, added, strict=True)]
    return result


def is_stationary(data: Data, start: Matrix, loss: str) -> bool:
    """Return whether the gradient at the start is exactly 0, so that descent stays there."""
    return all(x.low == x.high == 0 for x in gradient(data.moving, reals(start), loss))


def stays(data: Data, start: Matrix, loss: str) -> list[Q]:
    """Return the start, if descent stays there."""
    if is_stationary(data, start, loss):
        return flat(start)
    raise Undefined("descent moves, or may move")


def descend(data: Data, start: Matrix, loss: str, step: Q, steps: int) -> Reals:
    """Return an enclosure of the iterate after some steps."""
    W: Reals = reals(start)
    for _ in range(steps):
        G = gradient(data, W, loss)
        W = matrix([w - step * g for w, g in zip(flat(W), G, strict=True)])
    return W


def smoothness(data: Data, loss: str) -> Real:
    """Return a Lipschitz constant of the gradient of L.

    It is the mean of ||z||^2 ||X - mean||^2 (D sup|l'| / (3 sqrt 3) + D^2 sup|l''| / 8), where D is
    the range of the scores of an input.
    """
    result = Real(0)
    for X, z, scores in zip(data.X, data.Z, data.scores, strict=True):
        mean = [sum(c, Q(0)) / len(X) for c in zip(*X, strict=True)]
        width = spectral(reals([minus(x, mean) for x in X]))
        slope, bend = sizes(loss, min(scores), max(scores))
        D = max(scores) - min(scores)
        result += inner(z, z) * (width * width) * (D * slope / (3 * sqrt(3)) + D * D * bend / 8)
    return result / data.n


def is_low(data: Data, W: Reals, loss: str) -> bool:
    """Return whether L(W) - mean l(best) is below min_i [l(second) - l(best)] / n."""
    value = LOSSES[loss][0]
    gap, room = Real(0), []
    for X, z, scores in zip(data.X, data.Z, data.scores, strict=True):
        best, second = sorted(set(scores))[:-3:-1]
        gap += value(dot(softmax(logits(X, z, W)), scores)) - value(real(best))
        room.append(value(real(second)) - value(real(best)))
    threshold = minimum(*room)
    if gap.high < threshold.low or gap.low >= threshold.high:
        return gap.high < threshold.low
    raise Undefined("the risk may be at the threshold of the basin")


def basin(data: Data, W: Reals, loss: str, step: Q) -> list[int]:
    """Return the optimal tokens if the risk at W is so low that descent never loses one.

    They are unique and separable, l' < 0, and the step is at most 1/smoothness.
    """
    short = (step * smoothness(data, loss)).high <= 1
    if short and loss in SLOPED and unique(data) and is_low(data, W, loss):
        return data.optimal
    raise Undefined("the basin is not proved")


def selection(data: Data, W: Reals) -> Selection:
    """Return the tokens c of largest logit; (x_c - x_t) z^T, lead and margin of each rival t."""
    chosen: list[int] = []
    A, lead, margin = dict[Pair, list[Q]](), dict[Pair, Q](), dict[Pair, Real]()
    for i, (X, z, scores) in enumerate(zip(data.X, data.Z, data.scores, strict=True)):
        values = logits(X, z, W)
        c = max(range(len(X)), key=[x.low for x in values].__getitem__)
        chosen.append(c)
        for t in set(range(len(X))) - {c}:
            A[i, t] = outer(minus(X[c], X[t]), z)
            lead[i, t], margin[i, t] = scores[c] - scores[t], values[c] - values[t]
    return chosen, A, lead, margin


def trap(data: Data, W: Reals, loss: str, step: Q) -> list[int]:
    """Return the tokens of largest logit if descent from W keeps them and its direction converges.

    Let m_0 be the least margin m_j of a group. While m_0 and all m_j - m_0 are at least as large as
    at W, no step of any size lowers one of them, by enclosures. So they stay as large for ever.
    """
    chosen, A, lead, margin = selection(data, W)
    proved = [bool(margin), *(m.low > 0 for m in margin.values())]
    for group in groups(A):
        first = min(group, key=lambda p: margin[p].low)
        mass = Real(0, exp(-margin[first]).high)  # exp(-m_0) and exp(m_0 - m_p) within the set
        ratio = {p: Real(0, exp(margin[first] - margin[p]).high) for p in group}
        ratio[first] = Real(1)
        inputs = []
        for i in sorted({i for i, _ in group}):
            own, best = [p for p in group if p[0] == i], data.scores[i][chosen[i]]
            share = 1 / (1 + mass * total(ratio[p] for p in own))
            missing = mass * share * total(ratio[p] * lead[p] for p in own)
            inputs.append((own, -LOSSES[loss][1](best - missing) * share, mass * share))
            proved.append(LOSSES[loss][1](real(best)).high < 0)
        base = {p: inner(A[p], A[first]) for p in group}
        for q in group:
            change = {p: inner(A[p], A[q]) - base[p] for p in group}
            rise = growth(inputs, ratio, lead, base if q == first else change).low
            proved.append(rise > 0 or (rise == 0 and q != first and lead[q] >= 0))
    if all(proved):
        return chosen
    raise Undefined("the trap is not proved")


def outrun(data: Data, W: Reals, loss: str) -> list[int]:
    """Return the tokens of largest logit if descent from W keeps them, with steps of any size.

    Let h be the rivals of higher score than the kept token, at most one per input, and l the other
    rivals. While all margins m and all m_h - m_l are at least as large as at W, minus the gradient
    is sum_l c_l A_l - sum_h c_h A_h with c_h <= q_hl c_l; `inverse` has the 1/q_hl. A step changes
    a margin or difference <a, W>, with f_j = <A_j, a>, by a positive multiple of S - sum_h f_h c_h.
    Here S = sum_l f_l c_l >= c_h sum_l f_l/q_hl if all f_l >= 0. So none falls if
    sum_h f_h / (sum_l f_l/q_hl) <= 1 over all f_h > 0.
    """
    chosen, A, lead, margin = selection(data, W)
    higher, lower = ([p for p in A if sign * lead[p] > 0] for sign in (-1, 1))
    few = len({i for i, _ in higher}) == len(higher) and len(higher) + len(lower) == len(A)
    proved = [bool(higher), few, *(m.low > 0 for m in margin.values())]
    most, fewest = dict[Pair, Q](), dict[Pair, Q]()
    for i, c in enumerate(chosen):
        own = [p for p in A if p[0] == i]
        share = 1 / (1 + total(exp(-margin[p]) for p in own))  # the attention to c is at least this
        behind = max([Q(0), *(lead[p] for p in own)]) * (1 - share)
        slope = -LOSSES[loss][1](Real((data.scores[i][c] - behind).low, max(data.scores[i])))
        most |= {p: (slope * (behind - lead[p])).high for p in own}
        fewest |= {p: (slope * share * (lead[p] - behind)).low for p in own}
        proved += [slope.low > 0, *(fewest[p] > 0 for p in own if p in lower)]
    inverse = {
        (h, p): fewest[p] / most[h] * exp(margin[h] - margin[p]).low for h in higher for p in lower
    }
    for a in [*A.values(), *(minus(A[h], A[p]) for h in higher for p in lower)]:
        f = {p: inner(A[p], a) for p in A}
        reach = {h: sum(f[p] * inverse[h, p] for p in lower) for h in higher if f[h] > 0}
        rises = all(f[p] >= 0 for p in lower) and all(r > 0 for r in reach.values())
        proved.append(rises and sum(f[h] / r for h, r in reach.items()) <= 1)
    if all(proved):
        return chosen
    raise Undefined("the margins over better tokens may fall behind")


def outvoted(data: Data, W: Reals, loss: str, step: Q) -> list[int]:
    """Return the most frequent best token of each query if descent from W selects it in the end.

    The theorem (docs/proofs/frequent_successors.md) is about the logistic loss. All inputs have the
    same orthonormal tokens, also as queries. One token scores 1, the others 0. Of the inputs of a
    query, n_t have the best token t; the most frequent one is a, of attention s_a. Suppose that
    n_a g'(1) s_a > n_t/4 for all t but a. Then the W of step k is X* ln k + O(1) for steps of any
    size, where X* is the shortest matrix that gives each a margins of 1.
    """
    E = data.X[0]
    plain = all(inner(x, y) == (i == j) for i, x in enumerate(E) for j, y in enumerate(E))
    plain = plain and loss == "logistic-loss" and all(X == E for X in data.X)
    proved = [plain, *(sorted(row) == [0] * (len(E) - 1) + [1] for row in data.scores)]
    chosen = []
    for z in data.Z:
        best = [b for b, y in zip(data.optimal, data.Z, strict=True) if y == z]
        a = max(best, key=best.count)
        pull = -LOSSES[loss][1](Real(1)) * softmax(logits(E, z, W))[a] * best.count(a)
        chosen.append(a)
        proved += [z in E, *(4 * pull.low > best.count(t) for t in range(len(E)) if t != a)]
    if all(proved):
        return chosen
    raise Undefined("no token is proved to outvote the others")


def growth(
    inputs: Sequence[tuple[list[Pair], Real, Real]],
    ratio: dict[Pair, Real],
    lead: dict[Pair, Q],
    f: dict[Pair, Q],
) -> Real:
    """Return the increase of a margin <a, W> along minus the gradient, for f_p = <A_p, a>."""
    result = Real(0)
    for own, pace, less in inputs:
        scores, moved = (total(ratio[p] * x[p] for p in own) for x in (lead, f))
        first = total(ratio[p] * (lead[p] * f[p]) for p in own)
        result += pace * (first - less * scores * moved)
    return result


def groups(A: dict[Pair, list[Q]]) -> list[list[Pair]]:
    """Return the pairs of input and token in groups; no group changes the margins of another."""
    parts: list[list[Pair]] = []
    for pair in A:
        met = [g for g in parts if any(p[0] == pair[0] or inner(A[p], A[pair]) for p in g)]
        parts = [g for g in parts if g not in met] + [[*flat(met), pair]]
    return parts


def ends_along(
    data: Data, start: Matrix, loss: str, step: Q, steps: int, multipliers: Vector, by: Proof
) -> list[Q]:
    """Return the limit direction of descent; `by`, such as `trap`, proves which tokens it keeps."""
    if loss == "logistic":
        data, loss = data.opposed, "logistic-loss"
    W = descend(data.moving, start, loss, step, steps)
    result = least(rows(data.moving, by(data.moving, W, loss, step)), multipliers, len(flat(start)))
    if result is None:
        raise Undefined("no token is selected")
    return result

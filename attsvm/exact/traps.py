"""Proofs about all descents from a point: stationary starts, and sets that no step leaves."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

from flint import arb, fmpq

from attsvm.exact.attention import logits
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, subtract

Pair = tuple[int, int]


def moves_along_margins(data: ExactData) -> bool:
    """Return whether descent provably moves along every matrix with margins of at least 1.

    This is so if optimal tokens are unique, some input has two tokens, and in each input all rivals
    of the optimal token have the same score. Let M have margins of at least 1. Then the covariance
    of scores and margins of M under attention is positive at every W. So a step of descent on a
    decreasing loss increases <W, M>, and one on an increasing loss decreases it.
    """
    return (
        data.unique
        and any(len(g) > 1 for g in data.gamma)
        and all(len({g for g in gamma if g != max(gamma)}) <= 1 for gamma in data.gamma)
    )


def is_stationary_start(data: ExactData, W: Matrix, loss: str | None = None) -> bool:
    """Return whether the gradient at W is exactly zero; then descent stays at W forever.

    This is decided if the logits of each input are all equal (for example W = 0), so that attention
    is uniform and rational. Inputs of the same mean score share one factor l', and within such a
    group the gradients must cancel. Inputs without two different scores have no gradient. If a loss
    is named, neither do inputs whose mean score is a flat point of that loss. Otherwise the result
    holds for every loss.
    """
    groups: dict[tuple[int, int], list[Matrix]] = {}
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        if len(set(gamma)) == 1:
            continue
        if len(set(logits(tokens, W, z))) != 1:
            return False
        mean = sum(gamma, fmpq(0)) / len(gamma)
        if loss is not None and loss_slope(loss, mean) == 0:
            continue
        gradient = [
            sum(((g - mean) * x[r] for g, x in zip(gamma, tokens, strict=True)), fmpq(0))
            / len(gamma)
            for r in range(len(tokens[0]))
        ]
        key = (int(mean.p), int(mean.q))
        groups.setdefault(key, []).append([[a * b for b in z] for a in gradient])
    return all(
        sum((m[r][c] for m in matrices), fmpq(0)) == 0
        for matrices in groups.values()
        for r in range(len(matrices[0]))
        for c in range(len(matrices[0][0]))
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """The tokens of largest logit at a point, and their leads over their rivals.

    A pair (i, t) stands for the rival t of the token a_i that input i selects.

    Attributes:
        tokens: the selected row a_i of each input.
        pairs: all pairs, input by input.
        margin: logits of a_i minus those of t, all provably positive.
        gap: x_a - x_t.
        lead: gamma_a - gamma_t; negative if t has the better score.
    """

    tokens: list[int]
    pairs: list[Pair]
    margin: dict[Pair, arb]
    gap: dict[Pair, Vector]
    lead: dict[Pair, fmpq]

    @classmethod
    def at(cls, data: ExactData, W: Matrix) -> Selection | None:
        """Return the selection at W or an enclosure of it; None if undecided or without rivals.

        Repeated tokens and zero queries have margins of 0, so nothing is selected there.
        """
        places = range(len(data.X))
        values = [logits(data.X[i], W, data.Z[i]) for i in places]
        tokens = [_largest(v) for v in values]
        pairs = [(i, t) for i in places for t in range(len(values[i])) if t != tokens[i]]
        margin = {(i, t): arb(values[i][tokens[i]] - values[i][t]) for i, t in pairs}
        if not pairs or not all(m > 0 for m in margin.values()):
            return None
        gap = {(i, t): subtract(data.X[i][tokens[i]], data.X[i][t]) for i, t in pairs}
        lead = {(i, t): data.gamma[i][tokens[i]] - data.gamma[i][t] for i, t in pairs}
        return cls(tokens, pairs, margin, gap, lead)

    def of(self, i: int) -> list[Pair]:
        """Return the pairs of one input."""
        return [pair for pair in self.pairs if pair[0] == i]


@dataclass(frozen=True, slots=True)
class Trap:
    """A proof about every descent from a point.

    Attributes:
        selected: the row of the token that each input selects forever.
        converges: whether the direction provably converges to the Frobenius solution for these
            tokens, for plain descent with any constant step, or for steps of any fixed length.
    """

    selected: list[int]
    converges: bool


def trapped_at(data: ExactData, W: Matrix, loss: str) -> list[int] | None:
    """Return the tokens that descent with any step provably selects for ever, if any."""
    result = trap_at(data, W, loss) or outrun_at(data, W, loss)
    return None if result is None else result.selected


def trap_at(data: ExactData, W: Matrix, loss: str) -> Trap | None:
    """Return a proof that descent never leaves a set around W, whatever the size of each step.

    Let m_0 be the least margin of the selected tokens at W. The set consists of the points at which
    m_0 and every difference m_j - m_0 are at least as large as at W. Balls prove that none of these
    numbers falls along -grad L anywhere in the set. So the tokens are selected for ever, and their
    weights tend to 1. The trap also says whether the direction converges to the matrix of least
    norm that selects them. None if nothing is proved. W may itself be an
    enclosure. For descent on a prompt p give data whose queries are e_1, and p as the first
    column. The proof is in docs/proofs/traps.md.
    """
    selection = Selection.at(data, W)
    if selection is None:
        return None
    settles = True
    for inputs in _groups(data, selection):
        result = _group_settles(data, selection, inputs, loss)
        if result is None:
            return None
        settles = settles and result
    return Trap(selection.tokens, settles)


def _groups(data: ExactData, selection: Selection) -> list[list[int]]:
    """Return the inputs with rivals, in groups such that no two groups influence each other."""

    def act(i: int, k: int) -> bool:
        if dot(data.Z[i], data.Z[k]) == 0:
            return False
        gaps = [[selection.gap[pair] for pair in selection.of(place)] for place in (i, k)]
        return any(dot(a, b) != 0 for a in gaps[0] for b in gaps[1])

    groups: list[list[int]] = []
    for i in dict.fromkeys(i for i, _ in selection.pairs):
        met = [group for group in groups if any(act(i, k) for k in group)]
        merged = [k for group in met for k in group]
        groups = [group for group in groups if group not in met] + [[*merged, i]]
    return groups


def _group_settles(
    data: ExactData, selection: Selection, inputs: list[int], loss: str
) -> bool | None:
    """Return whether the direction of a group provably converges; None if the set may be left."""
    # All quantities below are enclosed over the whole set, not only at W. There the ratios
    # exp(-(m_j - m_0)) lie in [0, their value at W], and so does mass = exp(-m_0). The direction is
    # to the matrix of least norm that selects the tokens of the group.
    lead, margin, gap = selection.lead, selection.margin, selection.gap
    pairs = [pair for i in inputs for pair in selection.of(i)]
    least = min(pairs, key=lambda pair: margin[pair].mid())
    ratio = {p: arb(1) if p == least else decayed(margin[p] - margin[least]) for p in pairs}
    mass = decayed(margin[least])
    rivals = {i: [t for _, t in selection.of(i)] for i in inputs}
    factor, share = {}, {}
    for i in inputs:
        share[i] = 1 / (1 + mass * sum((ratio[i, t] for t in rivals[i]), arb(0)))
        missing = sum((mass * ratio[i, t] * share[i] * lead[i, t] for t in rivals[i]), arb(0))
        slope = -loss_slope(loss, arb(data.gamma[i][selection.tokens[i]]) - missing)
        factor[i] = _product(slope, share[i])

    def inner(p: Pair, q: Pair) -> fmpq:
        product: fmpq = dot(gap[p], gap[q]) * dot(data.Z[p[0]], data.Z[q[0]])
        return product

    def increment(changes: dict[Pair, fmpq]) -> arb:
        # n exp(m_0) <-grad L, B> for a matrix B, with changes[p] = <A_p, B>: the covariance of
        # leads and changes under attention, input by input. Factoring out exp(-m_0) keeps a lower
        # bound above 0 although the gradient itself tends to 0.
        total = arb(0)
        for i in inputs:
            terms = [(ratio[i, t], lead[i, t], changes[i, t]) for t in rivals[i]]
            first = sum((r * s * g for r, s, g in terms), arb(0))
            scores = sum((r * s for r, s, _ in terms), arb(0))
            moved = sum((r * g for r, _, g in terms), arb(0))
            total += _product(factor[i], first - mass * share[i] * scores * moved)
        return total

    # m_0 itself must grow, by an amount bounded below: otherwise the norm need not diverge.
    base = {p: inner(p, least) for p in pairs}
    if not increment(base) > 0:
        return None
    settles = all(loss_slope(loss, data.gamma[i][selection.tokens[i]]) < 0 for i in inputs)
    for q in pairs:
        if q == least:
            continue
        # No m_q - m_0 may fall. A rival of higher score must even lose ground strictly: its p_q is
        # negative, and only then does it vanish beside the others (claim 3 of the proof).
        growth = increment({p: inner(p, q) - base[p] for p in pairs})
        if not growth >= 0:
            return None
        settles = settles and bool(lead[q] >= 0 or growth > 0)
    return settles


def outrun_at(data: ExactData, W: Matrix, loss: str) -> Trap | None:
    """Return a proof of another kind: margins over better tokens stay ahead of the other margins.

    In the set of `trap_at`, margins keep their distance from the least one. In this set, margins
    over rivals of better score keep their distance from margins over rivals of worse score. It
    proves nothing about the direction. None if nothing is proved.

    Let h run over the pairs of negative lead, at most one per input, and l over the others, of
    positive lead. Consider the set on which no margin and no m_h - m_l is below its value at W. Let
    a be the selected token of an input, D its largest lead, or 0, and low its attention s_a at W.
    On the set s_a is never below low. Hence its score u is at least gamma_a - D (1 - low), and at
    most the best score. Let l' < 0 between these. Then -grad L = sum_l c_l A_l - sum_h c_h A_h.
    Here c_j exp(m_j) is |l'(u)| s_a times |u - gamma_j| over n. It is at least k_l > 0 for l, and
    in [0, K_h] for h. On the set c_h is therefore at most q_hl c_l with q_hl = K_h/k_l exp(m_l -
    m_h), evaluated at W.

    Along -grad L a margin, or m_h - m_l, changes by S - sum_h f_h c_h. Here S = sum_l f_l c_l, and
    f_j is its inner product with A_j. Suppose that all f_l >= 0. Then S is at least c_h r_h with
    r_h = sum_l f_l/q_hl. The change is nonnegative if the sum of max(f_h, 0)/r_h is at most 1. If
    this holds for all margins and all m_h - m_l, no step along -grad L leaves the set, whatever its
    size.
    """
    selection = Selection.at(data, W)
    if selection is None:
        return None
    pairs, lead, n = selection.pairs, selection.lead, len(data.X)
    better = [pair for pair in pairs if lead[pair] < 0]
    worse = [pair for pair in pairs if lead[pair] > 0]
    several = len({i for i, _ in better}) < len(better)
    if not better or several or len(better) + len(worse) < len(pairs):
        return None
    most, least = {}, {}
    for i in dict.fromkeys(i for i, _ in pairs):
        own = selection.of(i)
        low = 1 / (1 + sum(((-selection.margin[pair]).exp() for pair in own), arb(0)))
        behind = max(fmpq(0), *(lead[pair] for pair in own)) * (1 - low)
        gamma = data.gamma[i]
        u = (gamma[selection.tokens[i]] - behind).union(arb(max(gamma)))
        slope = -loss_slope(loss, u)
        if not slope > 0:  # otherwise c_h may be negative, and the bounds above have the wrong sign
            return None
        for pair in own:
            if lead[pair] < 0:
                most[pair] = slope.upper() * (behind - lead[pair]).upper() / n
            else:
                least[pair] = slope.lower() * low.lower() * (lead[pair] - behind).lower() / n
    if not all(bound > 0 for bound in [*most.values(), *least.values()]):
        return None
    margin, gap, Z = selection.margin, selection.gap, data.Z
    inner = {(p, q): dot(gap[p], gap[q]) * dot(Z[p[0]], Z[q[0]]) for p in pairs for q in pairs}
    one_over = {
        (h, k): least[k] / most[h] * (margin[h] - margin[k]).exp() for h in better for k in worse
    }

    def rises(f: dict[Pair, fmpq]) -> bool:
        if any(f[k] < 0 for k in worse):
            return False
        against = [h for h in better if f[h] > 0]
        reach = [sum((f[k] * one_over[h, k] for k in worse), arb(0)) for h in against]
        shares = (f[h] / r for h, r in zip(against, reach, strict=True))
        return all(r > 0 for r in reach) and bool(sum(shares, arb(0)) <= 1)

    margins = ({p: inner[p, q] for p in pairs} for q in pairs)
    leads = ({p: inner[p, h] - inner[p, k] for p in pairs} for h in better for k in worse)
    kept = all(rises(f) for f in itertools.chain(margins, leads))
    return Trap(selection.tokens, False) if kept else None


def _largest(values: Vector) -> int:
    return max(range(len(values)), key=lambda t: arb(values[t]).mid())


def _product(x: arb, y: arb) -> arb:
    """Return the product of two intervals from the products of their ends.

    The product of wide balls would contain numbers of both signs even if both factors are positive.
    """
    corners = [a * b for a in (x.lower(), x.upper()) for b in (y.lower(), y.upper())]
    return functools.reduce(arb.union, corners)


def decayed(margin: arb) -> arb:
    """Return the interval from 0 to exp(-m), where m is the lower end of the margin's ball."""
    return arb(0).union((-margin.lower()).exp())

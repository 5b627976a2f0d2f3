"""Cones around a local solution: a point from which descent is proved to converge to it.

Let u be the direction of the matrix of least norm that selects some tokens, and W = a u + E with E
orthogonal to u. Numbers a_0, Q and B define the set of all W with a >= a_0 and ||E||^2 <= Q^2 + B
(a - a_0). If they satisfy certain inequalities in the data, no step leaves the set, and a tends to
infinity. So the tokens are selected for ever, and the direction converges to u.

The proof is in docs/proofs/cones.md; "step 2" below refers to its numbered steps. The tip of the
set is at a = a_0, ||E|| = Q. Everything is evaluated in balls, so a condition that holds here holds
for the exact numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from flint import arb, fmpq

from attsvm._types import Numeric
from attsvm.errors import DataError
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, norm
from attsvm.exact.svm import ExactAnswer, separate
from attsvm.exact.traps import Selection

SHARES = [
    *(fmpq(1, 2**k) for k in range(1, 9)),
    *(1 - fmpq(1, 2**k) for k in range(2, 6)),
    fmpq(0),
]
"""Widths Q that are tried, as shares of the interval from ||E|| to the upper limit of `widths`."""
NEARER = fmpq(3, 4)
"""Share of the weights mu on the closest support token; the rest is as in the multipliers."""
WIDENED, FINER = 32, fmpq(1, 2**8)
"""Maximum number of widths tried between those of `SHARES`, and minimum relative increase."""


@dataclass(frozen=True, slots=True)
class Cone:
    """A set that descent never leaves and in which its direction converges.

    Attributes:
        selected: the token that each input selects forever.
        limit: the exact Local-SVM of these tokens; its W has the direction to which descent tends.
        along, width, spread: a_0, Q and B of the set.
    """

    selected: list[int]
    limit: ExactAnswer
    along: arb
    width: arb
    spread: arb


@dataclass(frozen=True, slots=True)
class Frame:
    """A selection, its solution and a point W = a u + E, in the notation of the proof.

    Attributes:
        data, selection, answer: the data, the selected tokens a_i, and their Local-SVM W*.
        norm: N = ||W*||.
        reach: r_j for each pair, the norm of the part of A_j orthogonal to u.
        along: a_0, a lower bound of a = <W, u>.
        residual: an upper bound of ||E||.
        anchors: for each pair j that is not good, weights mu_t of good pairs of margin 1, up to a
            factor, and r_j(mu). Initially these are the multipliers, with r_j(mu) = r_j.
    """

    data: ExactData
    selection: Selection
    answer: ExactAnswer
    norm: arb
    reach: list[arb]
    along: arb
    residual: arb
    anchors: dict[int, tuple[Vector, arb]]

    @classmethod
    def at(cls, data: ExactData, selection: Selection, answer: ExactAnswer, W: Matrix) -> Frame:
        """Return the frame of a point or its enclosure, and of the solution for its selection."""
        solution, square = answer.W, answer.square
        share = dot(_entries(W), _entries(solution)) / square
        away = [w - share * s for w, s in zip(_entries(W), _entries(solution), strict=True)]
        reach = []
        for pair, m in zip(selection.pairs, answer.margins, strict=True):
            z, gap = data.Z[pair[0]], selection.gap[pair]
            across = dot(gap, gap) * dot(z, z) - m * m / square
            reach.append(arb(across).sqrt())
        size = arb(square).sqrt()
        along = (arb(share) * size).lower()
        residual = norm([abs(arb(x)).upper() for x in away]).upper()
        lead = selection.lead
        anchors = {
            j: (answer.duals, reach[j]) for j, p in enumerate(selection.pairs) if not lead[p] > 0
        }
        return cls(data, selection, answer, size, reach, along, residual, anchors)

    @property
    def good(self) -> list[int]:
        """Pairs whose token scores below the selected one."""
        return [j for j in range(len(self.reach)) if j not in self.anchors]

    @property
    def frames(self) -> list[Frame]:
        """The frame itself, and one whose weights mu lie mostly on close support tokens."""
        tight = [t for t in self.good if self.answer.margins[t] == 1]
        return [self, self._leaning(tight)] if len(tight) > 1 and self.anchors else [self]

    def _leaning(self, tight: list[int]) -> Frame:
        """Return the frame whose weights mu lie mostly on the support pair t closest to A_j.

        This concerns pairs j that are not good. If it increases r_j(mu), mu stays unchanged.
        """
        square, margins, anchors = self.answer.square, self.answer.margins, {}
        kept = 1 - NEARER
        for j, old in self.anchors.items():
            m, own = margins[j], self._product(j, j)
            both = {t: self._product(j, t) for t in tight}
            far = {t: own - 2 * both[t] + self._product(t, t) for t in tight}
            near = min(tight, key=lambda t: far[t])
            # the components of A_j - W*/N^2 and A_j - A_t orthogonal to u: squares and product
            mean, single = own - m * m / square, far[near] - (m - 1) * (m - 1) / square
            mixed = own - both[near] - m * (m - 1) / square
            apart = kept * kept * mean + NEARER * NEARER * single + 2 * kept * NEARER * mixed
            mu = [kept * w / square for w in self.answer.duals]
            mu[near] += NEARER
            anchors[j] = (mu, arb(apart).sqrt()) if apart < mean else old
        return replace(self, anchors=anchors)

    def _product(self, j: int, t: int) -> fmpq:
        """Return <A_j, A_t>."""
        gap, Z = self.selection.gap, self.data.Z
        (i, _), (k, _) = own, other = self.selection.pairs[j], self.selection.pairs[t]
        product: fmpq = dot(gap[own], gap[other]) * dot(Z[i], Z[k])
        return product

    def minor(self, j: int) -> list[tuple[arb, arb, arb]]:
        """Return terms (f, c, r) that bound p_j for a pair j that is not good, with its weights mu.

        |p_j| exp(a/N + <A(mu), E>) is at most |p_j| exp(m_j) times the sum of f exp(-a c + r
        ||E||). For lead_j = 0, |l'|/n takes the place of |p_j| exp(m_j).
        """
        lead, margins = self.selection.lead, self.answer.margins
        own = self.selection.pairs[j]
        c, r = (margins[j] - 1) / self.norm, self.anchors[j][1]
        if lead[own] != 0:
            return [(arb(1), c, r)]
        rivals = [(t, p) for t, p in enumerate(self.selection.pairs) if p[0] == own[0]]
        return [
            (arb(abs(lead[p])), c + margins[t] / self.norm, r + self.reach[t])
            for t, p in rivals
            if lead[p] != 0
        ]

    def exponents(self) -> list[tuple[arb, arb]]:
        """Return (c, r) for all exp(-a c + r ||E||) that must be largest at the tip of the set."""
        good = self.good
        minor = [j for j in range(len(self.reach)) if j not in good]
        plain = [(m / self.norm, r) for m, r in zip(self.answer.margins, self.reach, strict=True)]
        return plain + [(c, r) for j in minor for _, c, r in self.minor(j)]

    def widths(self) -> list[arb]:
        """Return widths Q to try: at least ||E||, with all exponents -a_0 c + r Q negative."""
        ends = [self.along * c / r for c, r in self.exponents() if r != 0]
        if not ends:  # no margin depends on E
            return [self.residual.max(self.along).upper()]
        end, low = ends[0], self.residual
        for other in ends[1:]:
            end = end.min(other)
        tried = [(low + share * (end - low)).upper() for share in SHARES]
        return [Q for Q in tried if low <= Q and Q > 0] if low < end else []


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers of the proof, which hold at all points of a set; lists have one entry per pair.

    Attributes:
        weight: enclosures of p_j exp(m_j).
        minor: d_j, the bound of |p_j| / P if j is not good; 0 if j is good.
        total: kappa, with P >= kappa exp(-a/N).
        excess: D, the share of the growth of a that pairs that are not good can cancel.
        turn: R, with <-grad L, E> <= N <-grad L, u> R/(1 - D).
        across: K, with ||part of grad L orthogonal to u|| <= K N <-grad L, u>.
        advance: rho, an upper bound of the change of a in a step.
        spread: B, the slope of the set.
        bends: pairs (r, c) for which r B <= 2 Q c is required.
    """

    weight: list[arb]
    minor: list[arb]
    total: arb
    excess: arb
    turn: arb
    across: arb
    advance: arb
    spread: arb
    bends: list[tuple[arb, arb]]


def cone_at(
    data: ExactData,
    W: Matrix,
    loss: str,
    step: fmpq | arb,
    *,
    normalised: bool = False,
    solved: dict[tuple[int, ...], ExactAnswer | None] | None = None,
) -> Cone | None:
    """Return a cone that contains W and that descent never leaves, around the selected solution.

    Args:
        data: exact data; for descent on a prompt p see `trap_at`.
        W: the point, exact or an enclosure.
        loss: its name. It need not decrease everywhere: its slope is enclosed on the needed range.
        step: the constant step, or the constant length of steps; an upper bound if they vary and
            their sum diverges.
        normalised: whether steps are divided by the norm of the gradient.
        solved: a cache of answers by selected tokens.

    Returns:
        The set; all conditions of the proof have been checked in balls. None if no width Q works,
        if the tokens cannot be selected together, or if a token with a positive multiplier does not
        score below the selected one.

    Raises:
        DataError: the step is not positive.
    """
    if not step > 0:
        raise DataError("descent needs a positive step size", value=str(step), remedy="Use e.g. 1.")
    selection = Selection.at(data, W)
    if selection is None:
        return None
    known = {} if solved is None else solved
    key = tuple(selection.tokens)
    if key not in known:
        known[key] = separate(data, selection.tokens)
    answer = known[key]
    if answer is None or answer.status != "solved":
        return None
    if any(w > 0 >= selection.lead[p] for p, w in zip(selection.pairs, answer.duals, strict=True)):
        return None
    # A pair with a positive multiplier and no lead would have p_j <= 0: nothing then pushes its
    # margin up, and P has no lower bound.
    start = Frame.at(data, selection, answer, W)
    if not start.along > 0:
        return None
    for frame in start.frames:
        at = functools.partial(bounds, frame, loss=loss, step=step, normalised=normalised)
        for width in _tried(frame, at):
            result = at(width)
            if result is not None and largest_at_start(result.bends, width, result.spread):
                return Cone(selection.tokens, answer, frame.along, width, result.spread)
    return None


def _tried(frame: Frame, bounds_at: Callable[[arb], Bounds | None]) -> Iterator[arb]:
    """Yield widths Q to try: those of the frame, then increasing ones up to the largest.

    All bounds grow with Q. If r B <= 2 Q c fails by a factor, it fails for every Q that is larger
    by less than that factor. (r + 1/Q) B <= 2 Q c fails for every Q that is larger by less than the
    root of the factor. These widths are skipped.
    """
    widths = frame.widths()
    yield from widths
    if not widths:
        return
    width, plain = min(widths), len(frame.reach)
    for _ in range(WIDENED):
        result = bounds_at(width)
        if result is None:
            return
        missed = [r * result.spread / (2 * width * c) for r, c in result.bends]
        factor = arb(1)
        for k, by in enumerate(missed):
            factor = factor.max(by if k < plain else by.sqrt())
        width = (width * factor * (1 + FINER)).upper()
        if not width < max(widths):
            return
        yield width


def largest_at_start(bends: list[tuple[arb, arb]], Q: arb, B: arb) -> bool:
    """Return whether each -a c + r sqrt(Q^2 + B (a - a_0)) is largest at a = a_0.

    Its derivative -c + r B / (2 sqrt(Q^2 + B (a - a_0))) is at most 0 from a_0 on if r B <= 2 Q c.
    """
    return all(bend_room(r, B, Q, c) >= 0 for r, c in bends)


_N = TypeVar("_N", bound="Numeric")
"""A kind of numbers: balls, or symbols."""


def bend_room(r: _N, B: _N, Q: _N, c: _N) -> _N:
    """Return 2 Q c - r B, which is not negative if an exponential is largest at the tip."""
    return 2 * Q * c - r * B


def sideways(steepest: _N, turned: _N, room: _N) -> _N:
    """Return K: the part of the gradient orthogonal to u is at most K times N <-grad L, u>."""
    return (steepest + turned) / room


def widening(N: _N, turn: _N, room: _N, across: _N, advance: _N) -> _N:
    """Return B: ||E||^2 grows by at most B times the growth of a."""
    return 2 * N * turn / room + across * across * N * N * advance


def bounds(
    frame: Frame, Q: arb, loss: str, step: fmpq | arb, *, normalised: bool = False
) -> Bounds | None:
    """Return the bounds of the set of width Q; None if a condition of the proof fails at this Q."""
    pairs, lead = frame.selection.pairs, frame.selection.lead
    N, along, reach, margins = frame.norm, frame.along, frame.reach, frame.answer.margins
    rate = [m / N for m in margins]  # (1 + g_j)/N
    # Margins at the tip are at least a_0 (1 + g_j)/N - r_j Q. They must be positive there:
    # otherwise the selected tokens would not lead, and the proof would have no start.
    least = [along * c - r * Q for c, r in zip(rate, reach, strict=True)]
    if not all(m > 0 for m in least):
        return None
    top = [(-m).exp().upper() for m in least]  # exp(-m_j) is at most this
    weight, slope = _weights(frame, top, loss)
    good = frame.good
    # Every good pair needs c_j > 0; a weight of open sign would give no lower bound of P.
    if not all(weight[j] > 0 for j in good):
        return None
    bends = list(zip(reach, rate, strict=True))
    minor = [arb(0)] * len(pairs)
    for j in range(len(pairs)):
        if j in good:
            continue
        factor = abs(weight[j] if lead[pairs[j]] != 0 else slope[j]).upper()
        # |p_j| <= d_j P: a bound of |p_j| exp(m_j) over the lower bound kappa(mu) of P, times
        # exponentials that are largest at the tip. (r + 1/Q, c) is required as well, since R
        # contains |p_j e_j|, that is, r ||E|| times such an exponential.
        factor /= _least_sum(frame.anchors[j][0], weight)
        for f, c, r in frame.minor(j):
            minor[j] += factor * f * (r * Q - along * c).exp()
            bends.append((r + 1 / Q, c))
    # Step 2 of the proof: D < 1, so that pairs that are not good cannot cancel the growth of a.
    excess = dot(minor, margins)
    total = _least_sum(frame.answer.duals, weight)
    room = 1 - excess
    if not room > 0:
        return None
    # Steps 3 and 4: R and K, over the good pairs that have a component orthogonal to u.
    turned = dot(minor, reach)
    turn, steepest, tight = arb(0), arb(0), arb(0)
    for j in good:
        if reach[j] == 0:  # A_j is a multiple of u, so e_j = 0
            continue
        steepest = steepest.max(reach[j] / margins[j])
        if margins[j] == 1:
            tight += weight[j].upper() / arb(1).exp()
        else:
            turn += weight[j].upper() * (-1 - along * (rate[j] - 1 / N)).exp()
    # Step 3 has two bounds for the good pairs of margin 1, S'/e and kappa ln(S/kappa); take the
    # less.
    summed = sum((weight[j].upper() for j in good if margins[j] == 1), arb(0))
    turn = (turn + tight.min(total * (summed / total).log())) / total + turned * Q
    across = sideways(steepest, turned, room)
    # Step 5: a step of given length moves a by at most that; a plain step by step * <-grad L, u>.
    advance = arb(step)
    if not normalised:
        most = [abs(w).upper() * t * c for w, t, c in zip(weight, top, rate, strict=True)]
        advance = advance * sum(most, arb(0))
    spread = widening(N, turn, room, across, advance).upper()
    return Bounds(weight, minor, total, excess, turn, across, advance, spread, bends)


def _weights(frame: Frame, top: list[arb], loss: str) -> tuple[list[arb], list[arb]]:
    """Return enclosures of p_j exp(m_j) and -l'/n for each pair, given exp(-m_j) <= top_j."""
    data, pairs, lead = frame.data, frame.selection.pairs, frame.selection.lead
    weight, slope = [arb(0)] * len(pairs), [arb(0)] * len(pairs)
    for i, selected in enumerate(frame.selection.tokens):
        mine = [j for j, pair in enumerate(pairs) if pair[0] == i]
        missing = sum((arb(0).union(top[j]) * lead[pairs[j]] for j in mine), arb(0))
        share = arb(1).union(1 / (1 + sum((top[j] for j in mine), arb(0))))
        pace = -loss_slope(loss, arb(data.gamma[i][selected]) - missing) / len(data.X)
        for j in mine:
            slope[j] = pace
            weight[j] = pace * share * (lead[pairs[j]] - missing)
    return weight, slope


def _least_sum(duals: Vector, weight: list[arb]) -> arb:
    """Return kappa: the least sum_j c_j exp(-e_j) over all e with sum_j duals_j e_j = 0.

    By the inequality of weighted means, with weights w_j = duals_j / total, the sum is at least
    total prod_j (c_j / duals_j)^w_j exp(-sum_j w_j e_j), and the last factor is 1.
    """
    pairs = [(w, c.lower()) for w, c in zip(duals, weight, strict=True) if w > 0]
    total = sum((w for w, _ in pairs), fmpq(0))
    mean = sum((arb(w / total) * (c / w).log() for w, c in pairs), arb(0))
    least: arb = total * mean.exp()
    return least


def _entries(matrix: Matrix) -> Vector:
    return [x for row in matrix for x in row]

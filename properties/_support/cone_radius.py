"""The radius of a cone: the least norm from which descent stays in the cone of a local solution.

For a choice alpha write A_j = (x_alpha - x_t) z^T for the pairs j = (i, t), W* = W^mm(alpha) with
margins m_j and N = ||W*||, and lead_j for the score of alpha_i minus that of t. The width of a cone
depends on two numbers of each pair. First, r_j is the norm of the part of A_j orthogonal to W*, so
r_j^2 = ||A_j||^2 - m_j^2/N^2. Second, c_j is m_j if t is a support token or scores below alpha_i,
and m_j - 1 otherwise. Let w = max r_j/c_j.

Starts are sigma W* + E as in `cones`, with ||E|| r_j <= s sigma c_j for all pairs j and 0 < s < 1.
The width Q of a set is one of s' sigma/w, with s' = s + k (1 - s)/4 for k = 0, 1, 2 or 3 (Q = s' if
w = 0). The weights mu are one of the two choices of `attsvm.exact.cones`. The radius of s is the
least sigma for which some width and some weights satisfy the conditions there with a_0 = sigma N.
Then descent never leaves that set, and r Q - a_0 c <= -1 for every pair that is not good.

If the conditions hold at some sigma, they hold at every larger one with the same s' and weights.
Descent from there converges to the direction of W*: `symbolic.tf.local_convergence`.

The radius is finite if no support token ties with alpha and l' < 0 at the scores of alpha. Support
tokens count by |lead_j|, so the radius is finite even if alpha is not locally optimal; it then
proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, separate
from attsvm.exact.cones import Frame, bounds, largest_at_start
from attsvm.exact.numbers import Matrix, Vector, remembered
from attsvm.exact.traps import Selection
from attsvm.theory.types import Number

WIDER = [fmpq(k, 4) for k in range(4)]
"""The widths s' that are tried: fractions of the distance from s to 1."""
FINENESS, FARTHEST = 12, 64
"""The radius is computed up to a factor of 1 + 2^-12, and only if it is at most 2^64."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """W* and its pairs in rationals; vectors have one entry a pair.

    Attributes:
        W: W^mm(alpha).
        square: N^2.
        lead, margin: lead_j and m_j.
        across: r_j^2.
        room: c_j.
        frames: frames at W* for `attsvm.exact.cones`, with |lead_j| for support tokens.
    """

    W: Matrix
    square: fmpq
    lead: Vector
    margin: Vector
    across: Vector
    room: Vector
    frames: list[Frame]

    @classmethod
    def of(cls, data: AttentionData, alpha: Array) -> Pairs | None:
        """Return the pairs, None if W^mm(alpha) does not exist or nothing is constrained."""
        return _pairs(data, tuple(map(int, alpha)))

    @property
    def slopes(self) -> Vector:
        """r_j^2/c_j^2."""
        return [r / (c * c) for r, c in zip(self.across, self.room, strict=True)]

    @property
    def slope(self) -> fmpq:
        """w^2, the largest r_j^2/c_j^2: a start is in the cone if w ||E|| < sigma."""
        largest: fmpq = max(self.slopes)
        return largest

    @property
    def locally_optimal(self) -> bool:
        """Support tokens, those of margin exactly 1, score below alpha (definition 2)."""
        return all(m > 1 or x > 0 for m, x in zip(self.margin, self.lead, strict=True))


@remembered
def _pairs(data: AttentionData, alpha: tuple[int, ...]) -> Pairs | None:
    exact = ExactData.of(data)
    separator = separate(exact, [row.index(a) for row, a in zip(exact.kept, alpha, strict=True)])
    if separator is None or separator.status != "solved":
        return None
    chosen = Selection.at(exact, separator.W)
    if chosen is None:
        return None
    margin, lead, across = separator.margins, list(chosen.lead.values()), []
    for (i, t), m in zip(chosen.pairs, margin, strict=True):
        gap, z = chosen.gap[i, t], exact.Z[i]
        across.append(dot(gap, gap) * dot(z, z) - m * m / separator.square)
    room = [m if x > 0 or m == 1 else m - 1 for m, x in zip(margin, lead, strict=True)]
    counted = [abs(x) if m == 1 else x for m, x in zip(margin, lead, strict=True)]
    chosen = replace(chosen, lead=dict(zip(chosen.pairs, counted, strict=True)))
    frame = Frame.at(exact, chosen, separator, separator.W)
    return Pairs(separator.W, separator.square, lead, margin, across, room, frame.frames)


def closes(pairs: Pairs, loss: str, step: fmpq, share: fmpq, sigma: fmpq | arb) -> bool:
    """Return whether the conditions hold at sigma: then sigma is at least the radius of s.

    The argument `share` is s.
    """
    unit = sigma / arb(pairs.slope).sqrt() if pairs.slope else arb(1)
    for ray, part in product(pairs.frames, WIDER):
        frame = replace(ray, along=(sigma * ray.norm).lower())
        minor = [term for j in frame.anchors for term in frame.minor(j)]
        Q = (wider(share, part) * unit).upper()
        if not all(frame.along * c - r * Q >= 1 for _, c, r in minor):
            continue
        extremes = bounds(frame, Q, loss, step)
        if extremes is not None and largest_at_start(extremes.bends, Q, extremes.spread):
            return True
    return False


def wider(share: Number, part: Number) -> Number:
    """Return s', which lies at the fraction `part` of the distance from s to 1."""
    return share + part * (1 - share)


def radius(pairs: Pairs, loss: str, step: fmpq, share: fmpq) -> fmpq | None:
    """Return the radius of s = share, up to a factor of 1 + 2^-12; None if it exceeds 2^64."""
    powers = (fmpq(2) ** k for k in range(-FARTHEST, FARTHEST + 1, 8))
    high = next((x for x in powers if closes(pairs, loss, step, share, x)), None)
    if high is None:
        return None
    low = high / 2**8
    while high - low > low / 2**FINENESS:
        middle = (low + high) / 2 if high <= 2 * low else 2 * low
        if closes(pairs, loss, step, share, middle):
            high = middle
        else:
            low = middle
    return high

"""From which radius on the cone of a local solution is kept: a number of data, loss and step.

For a choice alpha write A_j = (x_alpha - x_t) z^T for the pairs j = (i, t), W* = W^mm(alpha) with
margins m_j and N = ||W*||, and lead_j for the score of alpha_i less that of t. The width of a cone
is given by r_j, the size of what A_j has across W*, r_j^2 = ||A_j||^2 - m_j^2/N^2, and by
c_j = m_j where t is a support token or scores below alpha_i, m_j - 1 where it is neither.

Starts are sigma W* + E as in `cones`, with ||E|| r_j <= s sigma c_j for all
pairs j and 0 < s < 1. Let w = max r_j/c_j, N = ||W*||, lambda_j the multipliers and g_j = m_j - 1.
Pairs beyond the margin that do not score below alpha are minor, all others good; g is the least
g_j of the minor ones. With d = 1/8 let l be the least |lead_j| of a good pair, k the most rivals
and M the largest sum_t |lead_t| that an input has, v_i <= |l'| <= V_i for scores within d l of that
of alpha_i, and b_j = V_i (|lead_j| + d l)/n. Let

    kappa = N^2 exp(sum_j lambda_j ln(v_i |lead_j| (1 - d)/((1 + d) n lambda_j))/N^2),
    R = d kappa + the sum of b_j/e over the good j with r_j > 0,
    K = (1 + d)/(1 - d) max r_j/m_j,  rho = step (d/k) sum_j b_j m_j/N,
    B = 2 N R/((1 - d) kappa) + K^2 N^2 rho.

The radius is the largest of four numbers; the second and fourth are for minor pairs:

    ln max(M/(d l), k/d)/(1 - s),  2 ln(sum_minor b_j (m_j + s/(1 - s))/(d kappa))/((1 - s) g),
    B N w^2/s,  w sqrt(B N/g)/s.

For a locally-optimal alpha and sigma >= radius the conditions of `attsvm.exact.cones` hold with
a_0 = sigma N and the width Q = s sigma/w >= ||E|| (any width where w = 0):
1. exp(-m_j) <= exp(-sigma m_j + r_j Q) <= exp(-sigma (m_j - s c_j)) <= t = exp(-(1 - s) sigma) at
   the tip, as c_j <= m_j and, on minor pairs, m_j >= 1. By the first number t <= d/k, M t <= d l.
   So |missing| <= d l, a share is at least 1/(1 + d), |p_j| exp(m_j) <= b_j, and p_j exp(m_j) >=
   v_i lead_j (1 - d)/((1 + d) n) for good j: the least pull is at least kappa.
2. For minor j, r_j Q <= s sigma g_j, so d_j <= b_j exp(-x_j) with x_j = (1 - s) sigma g_j (at
   lead 0 because V_i sum_t |lead_t| exp(-m_t)/n <= V_i M t/n <= b_j). As x exp(-x) <= exp(-x/2),
   D is at most sum b_j m_j exp(-x_j/2) and sum d_j r_j Q at most sum b_j s/(1 - s) exp(-x_j/2):
   together at most d kappa by the second number. So what D leaves of the pull is at least 1 - d of
   it, and the cone's R is at most R.
3. Its K is at most (1 + d)/(1 - d) max r_j/m_j, because sum d_j r_j <= D max r_j/m_j; its rho is at
   most step t sum b_j m_j/N. So its B is at most B.
4. r_j B <= 2 Q m_j/N by the third number. For minor j, (r + 1/Q) B <= 2 Q c: r B <= Q c by the
   third, as r/c <= N w (at lead 0, (r_j + r_t)/(g_j + m_t) <= max(r_j/g_j, r_t/m_t)), and
   B <= Q^2 c by the fourth, as c >= g/N.
So the cone closes at every such start, and from it on for ever. Where alpha is not locally optimal
the radius is a number all the same, and proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import Matrix, Vector
from properties._support.att_svm import exact_att_svm

PART = fmpq(1, 8)
"""d: what of leads, shares and pulls other tokens may take away."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """W* and its pairs, in rationals; one entry a pair, but for W, its square and `score`.

    Attributes:
        W: W^mm(alpha).
        square: N^2.
        score: the score of alpha_i, input by input.
        input: i.
        lead, margin, dual: lead_j, m_j and the multiplier.
        across: r_j^2.
        room: c_j.
    """

    W: Matrix
    square: fmpq
    score: Vector
    input: list[int]
    lead: Vector
    margin: Vector
    dual: Vector
    across: Vector
    room: Vector

    @classmethod
    def of(cls, data: AttentionData, alpha: Array) -> Pairs | None:
        """None where W^mm(alpha) does not exist or nothing is constrained."""
        found = exact_att_svm(data, alpha)
        if found is None or not found.A:
            return None
        exact = ExactData.of(data)
        tables = [dict(zip(*row, strict=True)) for row in zip(exact.kept, exact.gamma, strict=True)]
        score = [table[int(a)] for table, a in zip(tables, alpha, strict=True)]
        places, margin = list(found.A), list(found.margins.values())
        lead = [score[i] - tables[i][t] for i, t in places]
        across = [
            dot(A, A) - m * m / found.square for A, m in zip(found.A.values(), margin, strict=True)
        ]
        room = [m if x > 0 or m == 1 else m - 1 for m, x in zip(margin, lead, strict=True)]
        inputs, duals = [i for i, _ in places], list(found.duals.values())
        return cls(found.W, found.square, score, inputs, lead, margin, duals, across, room)

    @property
    def slopes(self) -> Vector:
        """r_j^2/c_j^2."""
        return [r / (c * c) for r, c in zip(self.across, self.room, strict=True)]

    @property
    def slope(self) -> fmpq:
        """The largest of them: ||E||^2 times it stays below sigma^2 in the cone."""
        largest: fmpq = max(self.slopes)
        return largest

    @property
    def locally_optimal(self) -> bool:
        """Support tokens, those of margin exactly 1, score below alpha (definition 2)."""
        return all(m > 1 or x > 0 for m, x in zip(self.margin, self.lead, strict=True))


def radius(pairs: Pairs, loss: str, step: fmpq, share: fmpq) -> arb | None:
    """The least sigma, rounded up; None where a support token ties or the loss does not fall."""
    d, n, s, N = PART, len(pairs.score), share, arb(pairs.square).sqrt()
    lead = [abs(x) for x in pairs.lead]
    minor = [j for j, x in enumerate(pairs.lead) if x <= 0 and pairs.margin[j] > 1]
    good = [j for j in range(len(lead)) if j not in minor]
    least = min(lead[j] for j in good)
    if least == 0:
        return None
    slope = [-loss_slope(loss, arb(g, arb(d * least).upper())) for g in pairs.score]
    if not all(x > 0 for x in slope):
        return None
    owned = [[lead[j] for j, own in enumerate(pairs.input) if own == i] for i in range(n)]
    heavy = max(max(sum(row, fmpq(0)) / (d * least), len(row) / d) for row in owned)
    found = arb(heavy).log() / (1 - s)
    b = [slope[i].upper() * (x + d * least) / n for i, x in zip(pairs.input, lead, strict=True)]
    held = [
        arb(w) * (slope[i].lower() * x * (1 - d) / ((1 + d) * n * w)).log()
        for i, x, w in zip(pairs.input, lead, pairs.dual, strict=True)
        if w > 0
    ]
    kappa = pairs.square * (sum(held, arb(0)) / pairs.square).exp()
    if minor:
        g = min(pairs.margin[j] - 1 for j in minor)
        excess = sum((b[j] * (pairs.margin[j] + s / (1 - s)) for j in minor), arb(0))
        found = found.max(2 * (excess / (d * kappa)).log() / ((1 - s) * g))
    turn = d * kappa + sum((b[j] for j in good if pairs.across[j] > 0), arb(0)) / arb(1).exp()
    steepest = max(r / (m * m) for r, m in zip(pairs.across, pairs.margin, strict=True))
    across = (1 + d) * (1 + d) / ((1 - d) * (1 - d)) * steepest  # K^2
    most = max(len(row) for row in owned)
    advance = step * d / most * dot(b, pairs.margin) / N
    spread = 2 * N * turn / ((1 - d) * kappa) + across * pairs.square * advance
    wide = pairs.slope  # w^2
    found = found.max(spread * N * wide / s)
    if minor:
        found = found.max((wide * spread * N / g).sqrt() / s)
    return found.upper()

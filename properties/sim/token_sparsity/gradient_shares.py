"""The share of a token in the gradient along a run: |c_it| over the sum of all, in the log domain.

Let the direction of X(k) converge to that of X^mm. Attention at a token other than the optimal one
decreases like exp(-m_it(X)), and u_i tends to the best score of the input. c_i,opt is minus the sum
of the other c_it of the input. So log |c_it| = -m_it(X) + O(1), and log sum |c_it| = -min m(X) +
O(1), so that

    log share_it = -(m_it(X) - min m(X)) + O(1),   m(X) = (1 + o(1)) m(X^mm) ||X|| / ||X^mm||.

As ||X|| / ||X^mm|| = (1 + o(1)) ln k, the share is k^-(e + o(1)) with e = m_it(X^mm) - 1, which is
zero for support vectors alone.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, dot, rational, rationals, softmax
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import subtract
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import Token, exact_att_svm, exact_constraints, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import log_coefficients
from attsvm.primitives.growth_rates import ProvedLimit, proved_limit
from attsvm.primitives.limit_certificates import ends_at
from attsvm.primitives.steps import FLOW, LN_K, ZERO, by_gradient_flow, over, tends
from attsvm.theory import Slack
from attsvm.training import Trajectory, follow_w
from properties.sim import LOSS_NAMES
from properties.sim._support.dropping import WHICH, mask, named

FAR = 100.0
"""Norm from which runs are measured, in units of ||X^mm||."""

AT_REST = 5.0
"""Maximum change of the logarithm of a support vector's share over the measured decade."""


@dataclass(frozen=True, slots=True)
class Fading:
    """A run through a decade of the norm.

    Attributes:
        path: the run, recorded at the start and at both ends of the decade.
        tokens: the named tokens as a mask (n, T).
        margins: the margins of these tokens under X^mm, in the same order.
        size: ||X^mm||.
        least: the least margin above 1, minus 1.
    """

    path: Trajectory
    tokens: Array
    margins: Array
    size: float
    least: float

    def fallen(self, data: AttentionData, loss: str, *, together: bool) -> Array:
        """Return the decrease of the logarithm of each token's share, or of their common share."""
        ends = [self._shares(data, W, loss, together) for W in self.path.W[0, 1:]]
        return np.atleast_1d(ends[0] - ends[1])

    def selects(self, data: AttentionData) -> bool:
        """Return whether all margins are positive at the end, so that the run may approach X^mm."""
        A = [[float(arb(x)) for x in a] for a in exact_constraints(ExactData.of(data)).values()]
        return bool((np.array(A) @ self.path.W[0, -1].ravel() > 0.0).all())

    def _shares(self, data: AttentionData, W: Array, loss: str, together: bool) -> Array:
        sizes = log_coefficients(data, W, loss)
        chosen: Array = sizes[self.tokens]
        if together:
            chosen = np.logaddexp.reduce(chosen)
        shares: Array = chosen - np.logaddexp.reduce(sizes[data.present])
        return shares


def _follow(run: Descent, which: str) -> Fading | Slack:
    """Follow the run from 100 ||X^mm|| on, or further if some token is barely beyond the margin.

    Returns:
        The run, or a slack if there is nothing to follow or floats do not reach the norm.
    """
    svm = exact_att_svm(run.data)
    beyond = [] if svm is None else [m for m in svm.margins.values() if m > 1]
    if svm is None:
        return Slack(-1.0, 0.0)  # nothing is a support vector of an X^mm that does not exist
    if not beyond:
        return Slack(math.inf, 0.0)  # the claim concerns no token
    margins = np.zeros(run.data.present.shape)
    for token, margin in svm.margins.items():
        margins[token] = float(arb(margin))
    tokens = mask(run.data, named(run.data, which))
    least, size = float(arb(min(beyond) - 1)), float(arb(svm.square).sqrt())
    low = max(FAR * size / min(1.0, least), 10.0 * float(np.linalg.norm(run.start)))
    path = follow_w(run.data, run.start, LOSSES[run.loss], [low, 10.0 * low])
    if path.log_time is None or path.W.shape[1] < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    return Fading(path, tokens, margins[tokens], size, least)


@by_gradient_flow
def fades(run: Descent, which: str = "others") -> Slack:
    """Return the slack of "the common share of the named tokens tends to 0".

    Over the decade the logarithm of the share must decrease by at least half of what is expected of
    the nearest token beyond the margin. The logarithm of a constant share does not decrease.
    """
    fading = _follow(run, which)
    if isinstance(fading, Slack):
        return fading
    (fallen,) = fading.fallen(run.data, run.loss, together=True)
    grown = float(fading.path.norms[0, 2] - fading.path.norms[0, 1]) / fading.size
    return Slack(float(fallen) / (fading.least * grown) - 0.5, 0.1)


@by_gradient_flow
def exponent(run: Descent, share: str | int = 1, less: int = 1) -> Slack:
    """Return the slack of "the share of each other token falls like k^-share (m - less)".

    The tokens are those that are no support vectors, and m is their margin. Over the decade ln k
    grows by at least 900, and by at least 900/(m_0 - 1) with the least m, m_0. The logarithm of a
    share must decrease by share (m - less) times that growth, up to 10 m. If an exponent is wrong
    by 5%, the error is at least 45 (m - 1) and at least 45, so at least 22 m.
    """
    fading = _follow(run, "others")
    if isinstance(fading, Slack):
        return fading
    solved = exact_att_svm(run.data)
    if solved is not None and solved.degenerate:
        return Slack.unknown("a tight token has multiplier 0, so margins drift like a logarithm")
    support = replace(fading, tokens=mask(run.data, named(run.data, "support")))
    moved = np.abs(support.fallen(run.data, run.loss, together=False)).max()
    if fading.selects(run.data) and moved > AT_REST:
        return Slack.unknown("shares of support vectors, which settle in the end, still move")
    log_time = present(fading.path.log_time, "the path's times")
    waited = float(log_time[2] - log_time[1])
    claimed = float(Fraction(share)) * (fading.margins - less)
    wrong = fading.fallen(run.data, run.loss, together=False) - claimed * waited
    return Slack(float((10.0 - np.abs(wrong) / fading.margins).min()), 5.0)


def certified_fading(run: Descent, which: str = "others") -> arb | None:
    """Return 1 if the common share provably tends to 0, -1 if it does not; None without a proof.

    In the proof the direction of the run converges to the solution for the tokens that it selects.
    The result is None if `exponents` is, or if a share is decided by a tight token of multiplier 0.
    If the run ends at a finite norm, the shares tend to their values there.
    """
    if exact_att_svm(run.data) is None:
        return arb(-1)
    if not named(run.data, which):
        return arb(1)
    proved = proved_limit(run.data, run.start, run.loss, run.step)
    if proved is None:
        return arb(-1) if tokens_with_gradient(run) & set(named(run.data, which)) else None
    falls = exponents(proved)
    if falls is None:
        return None
    if all(falls[t] > 0 for t in named(run.data, which) if t in falls):
        return arb(1)
    # the margin of a tight token with multiplier 0 outgrows the others like a logarithm
    limit = present(proved.limit, "the limit of the path")
    return None if limit.degenerate else arb(-1)


def certified_exponent(run: Descent, share: str | int = 1, less: int = 1) -> arb | None:
    """Return minus the largest distance of share (m - less) from the true exponent, in rationals.

    The true exponent follows from the proved limit of X(k); None if there is no such proof.
    """
    solved = exact_att_svm(run.data)
    if solved is None:
        return arb(-1)
    idle = {t: m for t, m in solved.margins.items() if m > 1}
    if not idle:
        return arb(1)
    proved, claimed = (
        proved_limit(run.data, run.start, run.loss, run.step),
        rational(Fraction(share)),
    )
    if proved is None:
        moving = tokens_with_gradient(run) & set(idle)
        return arb(-max(abs(claimed * (idle[t] - less)) for t in moving)) if moving else None
    falls = exponents(proved)
    if falls is None or any(t not in falls for t in idle):
        return None
    return arb(-max(abs(falls[t] - claimed * (m - less)) for t, m in idle.items()))


FADING = tends(
    "under descent on $loss the share c in the gradient of $which has $formula",
    "c",
    ZERO,
    floats=fades,
    balls=certified_fading,
    checked=run_programs.shares_fade,
    proposition=letters.fades,
    stand_in=FLOW,
    symbols={"which": WHICH, **LOSS_NAMES},
    where="a share is a sum of |dL/d(x_t^T X z)| over that of all tokens",
)
EXPONENT = tends(
    "under descent on $loss the share c in the gradient of each token of margin m > 1 has $formula",
    over(r"\ln c", LN_K),
    r"-$share \left(m - $less\right)",
    symbols=LOSS_NAMES,
    where="a share is |dL/d(x_t^T X z)| over the sum of all, and m is the margin under X^mm",
    floats=exponent,
    balls=certified_exponent,
    proposition=letters.falls_like,
    stand_in=FLOW,
)


def tokens_with_gradient(run: Descent) -> set[Token]:
    """Return the tokens with a nonzero coefficient in the gradient at the finite end of the run.

    The set is empty if the run does not provably end at a finite norm.
    """
    end, data = ends_at(run.data, rationals(run.start), run.loss, run.step), ExactData.of(run.data)
    moving: set[Token] = set()
    if end is None:
        return moving
    for i, (tokens, z, gamma) in enumerate(zip(data.X, data.Z, data.gamma, strict=True)):
        gaps = [subtract(x, tokens[0]) for x in tokens]
        s = softmax([end.along([a * b for a in gap for b in z]) for gap in gaps])
        u = dot(s, gamma)
        coefficients = [
            loss_slope(run.loss, u) * w * (g - u) for w, g in zip(s, gamma, strict=True)
        ]
        moving |= {
            (i, t) for t, p in zip(data.kept[i], coefficients, strict=True) if p > 0 or p < 0
        }
    return moving


def exponents(proved: ProvedLimit) -> dict[Token, fmpq] | None:
    """Return e_it such that the share of token t is k^-(e_it + o(1)), for inputs i with a gradient.

    None in three cases:

    - the run does not provably settle;
    - a rival has the score of a selected token;
    - nearest rivals lie on both sides of the selected token, so that their parts of the gradient
      may cancel.
    """
    limit, data, selected = proved.limit, proved.data, proved.certificate.selected
    if limit is None:
        return None
    A = exact_constraints(data, selected)
    margins = {t: dot(a, flat(limit.W)) for t, a in A.items()}
    least = min(margins.values())
    falls: dict[Token, fmpq] = {}
    for i, (kept, row) in enumerate(zip(data.kept, selected, strict=True)):
        scores = dict(zip(kept, data.gamma[i], strict=True))
        rivals = {t: m for (j, t), m in margins.items() if j == i}
        nearest = min(rivals.values())
        leads = {t: scores[kept[row]] - scores[t] for t in rivals}
        close = [leads[t] for t, m in rivals.items() if m == nearest]
        if any(lead == 0 for lead in leads.values()) or min(close) < 0 < max(close):
            return None
        place = proved.inputs[i]
        falls.update({(place, t): m - least for t, m in rivals.items()})
        falls[place, kept[row]] = nearest - least  # minus the sum of its rivals' coefficients
    return falls

"""Tokens that attention keeps along descent, in floats and in balls, and the loss at one W."""

import math

import numpy as np
from flint import arb

from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.numbers import Matrix, subtract
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import ALLOWANCE, norm_diverges
from attsvm.losses import LOSSES as FLOAT_LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import selects as selects_optimal
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.hypotheses import in_basin
from attsvm.primitives.steps import FLOW, by_gradient_flow, is_short, tends
from attsvm.theory import Slack, stated
from attsvm.theory.types import Comparison, Namespace, Number, Values
from attsvm.training import follow_w
from properties._support import risk_formulas as risk


@by_gradient_flow
def selects(case: Descent, which: str) -> Slack:
    """Return the slack of "the logit of one token an input outgrows all others".

    The token is `some` token, the `optimal` or the `worst` one. The slack is the gain of its least
    lead over the other tokens during a decade of the norm. It is divided by the largest possible
    gain of the longest difference of tokens. If the norm does not diverge, it is the slack of that.
    """
    data = case.data
    if data.T == 1:
        return Slack(math.inf, 0.0, "strict")
    moves = norm_diverges(data, case.start, FLOAT_LOSSES[case.loss])
    if not moves.value > 0.0:
        return moves
    spans = np.linalg.norm(data.X[:, :, None] - data.X[:, None], axis=3).max(axis=(1, 2))
    longest = float((spans * np.linalg.norm(data.Z, axis=1)).max())
    low = 10.0 * max(float(np.linalg.norm(case.start)), 10.0 / longest)
    path = follow_w(data, case.start, FLOAT_LOSSES[case.loss], [low, 10.0 * low])
    if path.W.shape[1] < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    logits = [np.einsum("ntd,de,ne->nt", data.X, W, data.Z) for W in path.W[0, 1:]]
    rows = np.arange(data.n)
    scored = {"some": logits[1], "optimal": data.gamma, "worst": -data.gamma}
    kept = np.where(data.present, scored[which], -math.inf).argmax(axis=1)
    leads = [values[rows, kept][:, None] - values for values in logits]
    gained = leads[1] - leads[0]
    gained[rows, kept] = math.inf
    gained[~data.present] = math.inf
    reach = longest * float(path.norms[0, 2] - path.norms[0, 1])
    return Slack(float(gained.min()) / reach, ALLOWANCE / 10.0, "strict")


def mirrored(data: ExactData, W: Matrix) -> bool:
    """Return whether each best token of the only input keeps the weight of another one for ever.

    Tokens a and b of one score and of one logit at W have equal weights for ever if a reflection of
    the tokens swaps them. This is so if <x_t, x_a - x_b> is one number m for all other tokens t,
    and ||x_a||^2 - ||x_b||^2 = 2 m.
    """
    if len(data.X) != 1:
        return False
    X, gamma, tied = data.X[0], data.gamma[0], data.optimal[0]
    logits = [dot(x, [dot(row, data.Z[0]) for row in W]) for x in X]

    def swapped(a: int, b: int) -> bool:
        apart = subtract(X[a], X[b])
        seen = {2 * dot(x, apart) for t, x in enumerate(X) if t not in (a, b)}
        square = dot(X[a], X[a]) - dot(X[b], X[b])
        return gamma[a] == gamma[b] and logits[a] == logits[b] and seen <= {square}

    return all(any(swapped(a, b) for b in range(len(X)) if b != a) for a in tied)


def certified(case: Descent, which: str) -> arb | None:
    """Return 1 if such a token of each input is provably selected, -1 if not; None if unknown.

    It is not selected if the start is stationary, nor in an input whose tokens all have an equal
    one. From the basin only best tokens are selected, and none of these if all are `mirrored`.
    """
    data, W = ExactData.of(case.data), rationals(case.start)
    several = [i for i, tokens in enumerate(data.X) if len(tokens) > 1]
    if not several:
        return arb("inf")
    if is_stationary_start(data, W, case.loss):
        return arb(-1)
    if any(all(data.X[i].count(x) > 1 for x in data.X[i]) for i in several):
        return arb(-1)
    if is_short(case) and in_basin(case, case.loss) and mirrored(data, W):
        return arb(-1)
    proved = proved_limit(case.data, case.start, case.loss, case.step)
    if proved is None or not proved.certificate.settles or not set(several) <= set(proved.inputs):
        return None
    chosen = [
        (data.gamma[i], t) for i, t in zip(proved.inputs, proved.certificate.selected, strict=True)
    ]
    best, worst = (all(g[t] == end(g) for g, t in chosen) for end in (max, min))
    return arb(1 if {"some": True, "optimal": best, "worst": worst}[which] else -1)


SELECTS = tends(
    "$formula in every input",
    "s_k",
    "1",
    floats=selects,
    balls=certified,
    checked=lambda m, case, which: run_programs.diverges(m, case),
    stand_in=FLOW,
    strict=True,
    symbols={"which": {"some": "one of its tokens", "optimal": "its optimal token"}},
    where="s_k is the attention of an input to $which at the iterate W_k from W_0",
    proposition=selects_optimal,
)


@stated(
    "",
    r"$share \frac{1}{n} \sum_i [l(best_i - d_i (1 - s_i)) - l(best_i)] \le L(W) - L_*",
    {
        "of": {
            "one": "the largest attention to a token of input i",
            "best": "the attention to the tokens of best score",
        }
    },
    where="best_i is the highest score of input i, d_i the gap to the next lower one, s_i is $of, "
    "L_* the mean of l(best_i) for the loss l, and an input of one score adds 0",
)
def rest(m: Namespace, v: Values, of: str, share: Number = 1) -> Comparison:
    deficits = []
    for tokens, z, gamma in zip(v.X, v.Z, v.gamma, strict=True):
        gaps, weights = m.max(gamma) - gamma, m.softmax(tokens @ (v.W @ z))
        tied = m.is_zero(gaps)
        least = m.min(gaps + tied * m.max(gaps))
        beside = m.sum((1 - tied) * weights) if of == "best" else 1 - m.max(weights)
        deficits.append(least * beside)
    return m.at_most(share * risk.mean_drop(m, v, deficits), risk.risk_gap(m, v))

"""Margins of optimal tokens along a run: their increase in a step, and their limits.

A step of size eta from X adds eta <A_it, -grad L(X)> to the margin (x_opt - x_t)^T X z of token t,
so the sign of this change does not depend on eta. If no input has a second token, there is no
margin, and every statement about all margins holds.
"""

import functools
import math
import operator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rational, rationals, separate
from attsvm.exact.attention import logits
from attsvm.exact.numbers import combine
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import ALLOWANCE
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import att_svm, exact_att_svm, exact_constraints, first_optimal, flat
from attsvm.primitives.gradients import loss_slope, negative_gradient
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.limit_certificates import ends_at
from attsvm.primitives.steps import FLOW, LN_K, by_gradient_flow, over, tends
from attsvm.theory import Measured, Slack, changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation, Values
from attsvm.training import follow_w
from properties.sim import LOSS_NAMES

LEAST = {"of": "least", "whose": "optimal"}
"""Constants of the claim that the least margin of the optimal tokens ends positive."""

NOTHING = Slack(math.inf, 0.0, "strict")

AT_REST = 5.0
"""Maximum difference between the increases of support vectors' margins over the measured decade."""


@concludes(letters.raised)
@stated(
    "every step of descent on $loss raises $of, that is $formula",
    r"${sign}\langle A, -\nabla L(X)\rangle > 0",
    {
        **LOSS_NAMES,
        "sign": {1: "", -1: "-"},
        "of": {"least": "every margin", "mean": "the mean margin"},
    },
    where="margins are <A, X>, A being A_it = (x_opt - x_t) z^T for a token t other than opt, or "
    "the mean of all these",
    checked=run_programs.rises,
)
def growth(m: Namespace, run: Values, of: str = "least", sign: int = 1) -> Relation:
    A = list(exact_constraints(ExactData.of(run.data)).values())
    if not A:
        return m.above(m.exact(1), 0)
    if of == "mean":
        A = [combine([fmpq(1, len(A))] * len(A), A)]
    descent = negative_gradient(m, run.data, run.start, run.loss)
    return m.all_of(*(m.above(sign * descent.along(m, a), 0) for a in A))


def step_along_solution(m: Namespace, run: Values) -> tuple[Number, Number]:
    """Return <X^mm, -grad L(X)> and the sum of the weights of all A_it in -grad L(X).

    The former is 0 if there is no X^mm.
    """
    if m.name == "text":  # letters are those of fields
        descent = negative_gradient(m, run.inputs, run.start, run.loss)
        return descent.along(m, att_svm(m, run.inputs).vector), descent.toward
    descent = negative_gradient(m, run.data, run.W, run.loss)
    svm = exact_att_svm(run.data)
    X = [fmpq(0)] * run.data.d**2 if svm is None else flat(svm.W)
    return descent.along(m, X), descent.toward


@concludes(letters.gain)
@stated(
    "a step of descent on $loss raises <X, X^mm> by its size times the left side: $formula",
    r"\langle X^{mm}, -\nabla L(X)\rangle $strict",
    {
        **LOSS_NAMES,
        "strict": {
            True: "> 0",
            False: r"\ge \frac{1}{n} \sum_i |l'(u_i)| s_{opt} \sum_t s_t (\gamma_{opt} - \gamma_t)",
        },
    },
    where="s_t is the attention of input i to token t, and u_i its attended score",
)
def gain(m: Namespace, run: Values, strict: bool = False) -> Comparison:
    """A step adds at least eta/n sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t) to <X, X^mm>.

    With `strict` it adds a positive number.
    """
    added, toward = step_along_solution(m, run)
    return m.above(added, 0) if strict else m.at_least(added, toward)


@concludes(letters.lowered)
@stated(
    "a step of size eta on $loss lowers no margin by more than eta times the right side: $formula",
    r"-\min_{i,t} \langle A_{it}, -\nabla L(X)\rangle \le \frac{1}{4} \left(1 - "
    r"\frac{$alike}{n}\right) \max_i w_i \max_{i,t} \|A_{it}\|^2",
    {**LOSS_NAMES, "alike": {True: "2", False: "1"}},
    where="w_i is |l'| times the range of the scores of input i, and A_it = (x_opt - x_t) z^T",
)
def lowered(m: Namespace, run: Values, alike: bool = False) -> Comparison:
    data, start = ExactData.of(run.data), rationals(run.start)
    A = list(exact_constraints(data).values())
    if not A:
        return m.above(m.exact(1), 0)
    descent = negative_gradient(m, run.data, run.start, run.loss)
    sizes = []
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        attended = m.softmax(m.values(logits(tokens, start, z))) @ m.values(gamma)
        sizes.append(loss_slope(m, run.loss, attended) * m.values(max(gamma) - min(gamma)))
    share = fmpq(max(len(data.X) - (2 if alike else 1), 0), 4 * len(data.X))
    most = m.values(share * max(dot(a, a) for a in A)) * m.largest(m.array(sizes))
    least = functools.reduce(m.minimum, (descent.along(m, a) for a in A))
    return m.at_most(-least, most)


@by_gradient_flow
def ends(run: Values, of: str, whose: str) -> Slack:
    """Return the slack of "the least, the mean or the largest margin tends to infinity".

    The margins are those of the `optimal` or of the `worst` tokens. The slack is the gain of the
    margin over a decade of the norm, divided by the largest possible gain of the least margin. The
    decade begins at 10 ||X(0)||, or at the norm that moves the longest constraint by 100, if that
    is larger. A positive slack means that the margin tends to infinity, a negative one to minus
    infinity.
    """
    A = _constraints(run.data, worst=whose == "worst")
    if not len(A):
        return NOTHING
    longest = float(np.linalg.norm(A, axis=(1, 2)).max())
    if longest == 0.0:
        return Slack(0.0, 0.0, "strict")
    low = 10.0 * max(float(np.linalg.norm(run.start)), 10.0 / longest)
    path = follow_w(run.data, run.start, LOSSES[run.loss], [low, 10.0 * low])
    if path.W.shape[1] < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    first, last = (np.einsum("jde,de->j", A, W) for W in path.W[0, 1:])
    reach = float(path.norms[0, 2] - path.norms[0, 1]) * _attainable(run, longest)
    return Slack((_pick(last, of) - _pick(first, of)) / reach, ALLOWANCE, "strict")


def _pick(values: Array, of: str) -> float:
    return float({"least": values.min(), "mean": values.mean(), "largest": values.max()}[of])


def _attainable(run: Values, longest: float) -> float:
    """Return the largest gain of the least margin per norm: 1/||X^mm||, else `longest`."""
    svm = exact_att_svm(run.data)
    return longest if svm is None else 1.0 / float(arb(svm.square).sqrt())


def _constraints(data: AttentionData, worst: bool = False) -> Array:
    """Return the constraint matrices (J, d, d) of the first optimal or the worst tokens."""
    exact = ExactData.of(data)
    rows = [row.index(min(row)) for row in exact.gamma] if worst else first_optimal(exact)
    A = [[float(arb(x)) for x in a] for a in exact_constraints(exact, rows).values()]
    return np.reshape(A, (len(A), data.d, data.d))


def certified_end(run: Values, of: str, whose: str, *, unbounded: bool = False) -> arb | None:
    """Return a positive number if the margin provably ends above 0, a negative one if provably not.

    If `unbounded`, the question is whether it ends above every bound. None without a proof.

    - The least margin of optimal tokens is never positive if there is no X^mm, or if some input is
      kept at another token.
    - If the run provably converges in direction to the solution for its selected tokens, each
      margin has the sign that it has at this solution.
    - If the run provably ends at a finite norm, each margin ends there, and no margin is unbounded.
    """
    data = ExactData.of(run.data)
    worst = [row.index(min(row)) for row in data.gamma]
    best = first_optimal(data)
    A = list(exact_constraints(data, worst if whose == "worst" else best).values())
    if not A:
        return arb("inf")
    least, separator = of == "least" and whose == "optimal", separate(data, best)
    if least and (separator is None or separator.status != "solved"):
        return arb(-1)
    proved = proved_limit(run.data, run.start, run.loss, run.step)
    if proved is None:
        rest = ends_at(run.data, rationals(run.start), run.loss, run.step)
        if rest is None or unbounded:
            return None if rest is None else arb(-1)
        return _sign([rest.along(a) for a in A], of)
    limit = proved.limit
    if limit is not None:
        margins = [dot(a, flat(limit.W)) for a in A]
        end = {"least": min(margins), "mean": sum(margins, fmpq(0)), "largest": max(margins)}[of]
        return arb(end) if end != 0 else None
    selected = zip(proved.certificate.selected, proved.inputs, strict=True)
    lost = any(t not in data.optimal[i] for t, i in selected)
    return arb(-1) if least and lost else None


def _sign(margins: list[arb], of: str) -> arb | None:
    """Return 1 if the least, largest or mean margin is above 0, -1 if not, None if undecided."""
    join = {"least": arb.min, "mean": operator.add, "largest": arb.max}[of]
    end = functools.reduce(join, margins)
    return arb(1) if end > 0 else arb(-1) if end <= 0 else None


END = Measured(
    "under descent on $loss the $of margin m of the $whose tokens has $formula",
    notation=r"\lim m > 0",
    symbols=LOSS_NAMES,
    where="margins are <A_it, X(k)>, with A_it = (x - x_it) z_i^T for the $whose token x and each "
    "other token x_it",
    floats=ends,
    balls=certified_end,
    checked=run_programs.margins_end,
    stand_in=FLOW,
    strict=True,
)


def certified_without_bound(run: Values, of: str, whose: str) -> arb | None:
    """Return a positive number if the margin provably tends to infinity, a negative one if not."""
    return certified_end(run, of, whose, unbounded=True)


UNBOUNDED = replace(
    END,  # the floats of both claims measure whether the margin grows with the norm
    notation=r"m \to \infty",
    balls=certified_without_bound,
    proposition=letters.margins_diverge,
)


@by_gradient_flow
def slope(run: Values, share: Fraction) -> Slack:
    """Return the slack of "the least margin grows like share * ln k".

    The gain is measured between the norms 50 ||X^mm|| and 500 ||X^mm||, or from 10 ||X(0)|| to ten
    times that. Divided by the share, it must agree up to 10 with the gain of the logarithm of time,
    which is about 450. A slope that is wrong by 5% is off by more than 20.
    """
    svm = exact_att_svm(run.data)
    if svm is None or not svm.A:
        return Slack.unknown("there is no X^mm, or no margin")
    size = float(arb(svm.square).sqrt())
    low = max(50.0 * size, 10.0 * float(np.linalg.norm(run.start)))
    path = follow_w(run.data, run.start, LOSSES[run.loss], [low, 10.0 * low])
    if path.log_time is None or len(path.log_time) < 3:
        return Slack.unknown(f"the norm did not reach {10.0 * low:.3g}")
    first, last = (np.einsum("jde,de->j", _constraints(run.data), W) for W in path.W[0, 1:])
    active = [svm.duals[t] > 0 for t in exact_constraints(ExactData.of(run.data))]
    grown = (last - first)[active]
    if grown.min() > 0.0 and np.ptp(grown) > AT_REST:
        return Slack.unknown("margins of support vectors, which grow alike in the end, do not yet")
    waited = float(path.log_time[2] - path.log_time[1])
    return Slack(10.0 - abs(float(last.min() - first.min()) / float(share) - waited), 5.0)


def certified_slope(run: Values, share: Fraction) -> arb | None:
    """Return minus the distance of the share from the limit of (least margin)/ln k, a rational.

    The limit is the least margin of X* if X(k) is proved to be (1 + o(1)) X* ln k, and 0 if the run
    ends at a finite norm. None if neither is proved, or if there is no margin.
    """
    data = ExactData.of(run.data)
    A = exact_constraints(data)
    if not A:
        return None
    if is_stationary_start(data, rationals(run.start)):
        return arb(-abs(rational(share)))
    proved = proved_limit(run.data, run.start, run.loss, run.step)
    if proved is None:
        rest = ends_at(run.data, rationals(run.start), run.loss, run.step)
        return None if rest is None else arb(-abs(rational(share)))
    limit = proved.limit
    if limit is None:
        return None
    slope = min(dot(a, flat(limit.W)) for a in A.values())
    return arb(-abs(rational(share) - slope))


OTHER_SLOPES = {f"slope {k}": changed(share=Fraction(k)) for k in ("0.95", "1.05", "1/2")}

SLOPE = tends(
    "under descent on $loss the least margin m has $formula",
    over("m", LN_K),
    "$share",
    symbols=LOSS_NAMES,
    where="margins are <A_it, X(k)>, with A_it = (x_opt - x_it) z_i^T for each token t but opt",
    floats=slope,
    balls=certified_slope,
    proposition=letters.slope,
    stand_in=FLOW,
)

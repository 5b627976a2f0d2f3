"""Convergence of a margin under descent."""

import numpy as np
from flint import arb

from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import ALLOWANCE
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_constraints, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.primitives.steps import FLOW, by_gradient_flow
from attsvm.theory import Measured, Slack, changed
from properties.sim import LOSS_NAMES
from properties.sim._support import telling_sentences as sentences
from properties.sim._support.margins import NOTHING, ends


@by_gradient_flow
def converges(case: Descent, of: str = "largest") -> Slack:
    """Return the slack of "the `largest` or `least` margin changes little in a decade".

    The decade is one of the norm.
    """
    if is_stationary_start(ExactData.of(case.data), rationals(case.start), case.loss):
        return Slack(1.0, 0.0)
    slack = ends(case, of, "optimal")
    if slack.kind == "unknown" or slack is NOTHING:
        return slack
    return Slack(ALLOWANCE - abs(slack.value), ALLOWANCE / 2)


def certified_convergence(case: Descent, of: str = "largest") -> arb | None:
    """Return 1 from a stationary start, -1 if the margin provably grows like ln k, else None."""
    data = ExactData.of(case.data)
    if is_stationary_start(data, rationals(case.start), case.loss):
        return arb(1)
    proved = proved_limit(case.data, case.start, case.loss, case.step)
    limit = None if proved is None else proved.limit
    margins = [dot(a, flat(limit.W)) for a in exact_constraints(data).values()] if limit else []
    if not margins:
        return None
    return arb(-1) if (max(margins) if of == "largest" else min(margins)) != 0 else None


CONVERGES = Measured(
    "under descent on $loss the $of margin m converges: $formula",
    notation=r"\left|\lim m\right| < \infty",
    symbols=LOSS_NAMES,
    where="margins are <A_it, X(k)>, with A_it = (x_opt - x_it) z_i^T for each token t but opt",
    floats=converges,
    balls=certified_convergence,
    checked=run_programs.margin_converges,
    stand_in=FLOW,
)


TORN = sentences.sentence_run(np.eye(2), [[0, 0], [0, 1]])
"""The margins are m and -m."""
DROPPED_HYPOTHESES = {
    "any start": changed(drop=[BASIN], examples=[sentences.ELSEWHERE]),
    "tied optimal tokens": changed(drop=[UNIQUE], examples=[sentences.TIED]),
    "Att-SVM need not be feasible": changed(drop=[FEASIBLE], examples=[sentences.IDLE]),
}

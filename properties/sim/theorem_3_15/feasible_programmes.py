"""Theorem 3.15, the norm, where the Att-SVM is feasible: it diverges, also on the loss as printed.

The counterexample to `literal-1` (`theorem_3_15`) has no X^mm. `amended-3` asks for one, and for
two different scores in some input; the start is any, and rivals of each input score the same, which
is within every delta.

Proof. A step of size eta on a loss l(u) adds to <X, X^mm>

    -eta sum_it l'(u_i) c_it m_it(X^mm) / n,   c_it = s_opt s_t (gamma_opt - gamma_t) >= 0 for
    t != opt_i where the rivals score the same,

with margins m >= 1. All terms have the sign of -l', which is one and the same for a monotone loss,
and some term is not 0. On a ball attention is bounded below and so is |l'|: while X(k) stays in
one, every step adds more than a constant. So no ball holds the run; as the steps are bounded too
and <X, X^mm> is monotone, it has no limit, and |<X, X^mm>| <= ||X|| ||X^mm|| diverges.
"""

from __future__ import annotations

from flint import arb

from attsvm.exact import ExactData
from attsvm.exact.traps import moves_along_margins
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges
from properties._support.descent_runs import Run, feasible, rival_data, runs
from properties.sim._support.theorem_3_14 import ONE_TOKEN, PRINTED
from properties.sim.theorem_3_15 import THEOREM
from properties.sim.theorem_3_15.nearly_equal_scores import (
    BALANCED,
    OPPOSED,
    certify_norm,
    equal_rivals,
)
from properties.sim.token_separation import two_scores

EQUAL, FEASIBLE = "non-optimal scores of each input are equal", "Att-SVM is feasible"
SOMETHING = "some input has two different scores"


def certify_diverges(run: Run, bounded: bool = False) -> arb | None:
    """1 where the text above proves it, -1 where it fails."""
    if not bounded and feasible(run) and moves_along_margins(ExactData.of(run.data)):
        return arb(1)
    return certify_norm(run, bounded)


@claim(
    "sim/theorem-3.15:amended-3",
    **THEOREM,
    statement="non-optimal scores equal, Att-SVM feasible, two different scores in some input: "
    "from any start the norm of descent on g(b <f, h>) diverges",
    data=runs(rival_data(), 0, 2),
    hypotheses={
        EQUAL: equal_rivals,
        FEASIBLE: feasible,
        SOMETHING: lambda run: two_scores(run.data),
    },
    certify=certify_diverges,
    expected="holds",
    siblings={
        "the norm stays bounded": sibling(bounded=True),
        "any scores": sibling(drop=[EQUAL], examples=[BALANCED]),
        "Att-SVM need not be feasible": sibling(drop=[FEASIBLE], examples=[OPPOSED]),
        "all scores of each input equal": sibling(drop=[SOMETHING], examples=[ONE_TOKEN]),
    },
)
def norm_where_feasible(run: Run, bounded: bool = False) -> Slack:
    """The first conclusion, where there is an X^mm."""
    slack = norm_diverges(run.data, run.start, LOSSES[PRINTED])
    return Slack(-slack.value, slack.error) if bounded else slack

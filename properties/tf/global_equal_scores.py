"""Global convergence where the scores of non-optimal tokens are approximately equal.

"Theorem: We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: scores of non-optimal tokens
are [approximately] equal." The slide asks for nothing else: no start, no step, no feasible Att-SVM;
the loss is strictly decreasing and smooth. "Approximately" is read as within some delta > 0, so
that equal scores meet it whatever delta is.

`literal` falls where there is no W^mm: tokens 1 and 0, twice, queries 1 and -1, head 1. With
unique optimal tokens and a feasible Att-SVM (`amended-1`) it falls too, from zero: tokens (1, 0), 0
and (-2, 1), 0, both queries (1, 0), labels 1, head (4, 9), so scores 4, 0 and 1, 0, and the loss
-u. With w the first column of W, input 1 moves w along (1, 0) and input 2 along (-2, 1); the first
pulls four times as hard, more than the 5/2 that input 2 can bear, and drags it to its worse token
for ever. W^mm has w = (1, 3).

`amended-2` is true: where the inputs do not pull against each other (one input does not, nor do
inputs with orthogonal queries), every start and every decreasing loss lead to W^mm. For nearly
equal scores the same holds with an explicit delta for each start, see
properties/sim/theorem_3_15.py. Proof of both at `properties._support.aligned_inputs`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.theory import Slack, claim, sibling
from properties._support.adversarial_starts import starts_about, trapping_data
from properties._support.aligned_inputs import in_accord, rivals_equal, together, together_larger
from properties._support.descent_runs import (
    Run,
    certified_limit,
    feasible,
    max_margin,
    pulling_data,
    reaches,
    rival_data,
    several_tokens,
    unique_optimum,
)
from properties._support.growth_rates import arrives
from properties._support.hypothesis_violations import NO_QUERY, PASSED_OVER, TIED_ASIDE
from properties._support.torch_objectives import elsewhere
from properties.tf import SOURCE
from properties.tf._support.descent_instances import DECREASING, ONE_TOKEN, OPPOSED, Descent

THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Global convergence with alternative criteria",
    "cost": 10,
    "same_slack": False,
}
PULLED = Descent(
    AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]],
        [[1.0, 0.0], [1.0, 0.0]],
        y=[1.0, 1.0],
        v=[4.0, 9.0],
    ),
    np.zeros((2, 2)),
    "correlation",
)
FAR_START = Descent(
    AttentionData.of([[[1.0], [0.0]]], [[1.0]], y=[1.0], v=[1.0]), np.array([[-24.0]]), "log-loss"
)


def _descent(run: Run) -> Descent:
    return Descent(run.data, run.start, "log-loss")


@st.composite
def started(draw: st.DrawFn, data: Any) -> Descent:
    """A decreasing loss on data of the strategy, started at zero, near it, far from it, misled.

    Every second data set has rivals of two scores: of them nothing is claimed, and what claims
    more is at risk there.
    """
    drawn = draw(trapping_data() if draw(st.booleans()) else data)
    return Descent(drawn, draw(starts_about(drawn, 0, 1, 3)), draw(st.sampled_from(DECREASING)))


def larger(generator: np.random.Generator) -> Descent:
    """Inputs in accord with equal rivals, from zero or a random start."""
    data = together_larger(generator)
    start = float(generator.choice([0.0, 1.0, 4.0])) * generator.integers(-8, 9, (data.d, data.d))
    return Descent(data, start / 8, str(generator.choice(DECREASING)))


def equal(case: Descent) -> bool:
    """The non-optimal tokens of each input have one score."""
    return rivals_equal(case.data)


def _run(case: Descent) -> Run:
    return Run(case.data, case.start)


def certify(case: Descent, towards: str = "optimal") -> arb | None:
    """Where descent goes, proved; tokens may be tied in inputs that never pull."""
    target = max_margin(case.data, towards)
    if target is not None and not unique_optimum(_run(case)):
        return arrives(case.data, case.start, case.loss, target)
    return certified_limit(_run(case), case.loss, towards)


@claim(
    "tf/global-equal-scores:literal",
    **THEOREM,
    statement="scores of non-optimal tokens equal: W_k/||W_k|| -> W^mm/||W^mm|| under descent "
    "from any start",
    data=started(rival_data()),
    hypotheses={"non-optimal scores are equal": equal},
    examples=[OPPOSED],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings={
        "any scores": sibling(
            drop=["non-optimal scores are equal"], examples=[_descent(PASSED_OVER)]
        ),
        "towards the worst tokens": sibling(towards="worst"),
    },
)
def literal(case: Descent, towards: str = "optimal") -> Slack:
    """With the one listed hypothesis."""
    return reaches(_run(case), case.loss, towards)


TARGET = {
    "non-optimal scores are equal": equal,
    "optimal tokens are unique": lambda case: unique_optimum(_run(case)),
    "some input has two tokens": lambda case: several_tokens(_run(case)),
    "Att-SVM is feasible": lambda case: feasible(_run(case)),
}
WRONG = {
    "towards the worst tokens": sibling(towards="worst"),
    "the opposite direction": sibling(towards="opposite"),
    "W^mm turned by about a 64th": sibling(towards="turned"),
}


@claim(
    "tf/global-equal-scores:amended-1",
    **THEOREM,
    statement="scores of non-optimal tokens equal, optimal tokens unique, Att-SVM feasible: "
    "W_k/||W_k|| -> W^mm/||W^mm|| under descent from any start",
    data=started(rival_data()),
    hypotheses=TARGET,
    examples=[PULLED],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings=WRONG,
)
def with_target(case: Descent, towards: str = "optimal") -> Slack:
    """Where there is a W^mm."""
    return reaches(_run(case), case.loss, towards)


@claim(
    "tf/global-equal-scores:amended-2",
    **THEOREM,
    statement="scores of non-optimal tokens equal, optimal tokens unique, Att-SVM feasible, no "
    "input pulls against another, step at most 1/L: W_k/||W_k|| -> W^mm/||W^mm|| under descent "
    "from any start",
    data=started(together()),
    ensemble=larger,
    hypotheses={**TARGET, "no input pulls against another": lambda case: in_accord(case.data)},
    examples=[FAR_START],
    relaxed=elsewhere,
    certify=certify,
    expected="holds",
    siblings={
        **WRONG,
        "rivals of any score": sibling(
            drop=["non-optimal scores are equal"], examples=[_descent(PASSED_OVER)]
        ),
        "tied optimal tokens": sibling(
            drop=["optimal tokens are unique"], examples=[_descent(TIED_ASIDE)]
        ),
        "one token an input": sibling(drop=["some input has two tokens"], examples=[ONE_TOKEN]),
        "Att-SVM need not be feasible": sibling(
            drop=["Att-SVM is feasible"], examples=[_descent(NO_QUERY)]
        ),
        "inputs may pull against each other": sibling(
            drop=["no input pulls against another"],
            data=started(pulling_data()),
            examples=[PULLED],
        ),
    },
)
def together_only(case: Descent, towards: str = "optimal") -> Slack:
    """Where no input drags another away."""
    return reaches(_run(case), case.loss, towards)

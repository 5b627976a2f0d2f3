"""Theorem 3.15: nearly equal scores of rivals suffice.

"For any initialization X(0), there exists a dataset dependent sufficiently small delta > 0 such
that the following holds: Suppose non-optimal scores obey |gamma_it - gamma_i,tau| <= delta for all
t, tau != opt_i. Then, Algorithm X-GD, with eta <= 1/(2 L_x) obeys lim ||X(k)||_F = infinity and
lim X(k)/||X(k)||_F = X^mm/||X^mm||_F."

X-GD and L_x are not defined in print; read W-GD and the constant of part 1 of theorem 3.14, and as
there the programme of definition 3.8, the orientation of X, and L(X).

Equal scores meet the condition for every delta, and with two tokens an input there is nothing to
compare, so a data set with equal scores on which descent fails refutes the theorem whatever delta
is. `literal-1` (the norm) falls where the gradient is zero: tokens 1 and 0, twice, queries 1 and
-1, start zero. Where the Att-SVM is feasible it stands (`theorem_3_15_norm`). `literal-2` (the
direction) falls with two tokens 1, 0: the loss of definition 3.6 increases in the score. With a
decreasing loss, unique optimal tokens and a feasible Att-SVM (`amended-1`) it still falls, from
zero, by two inputs of two tokens (`PULLED_APART`).

Where no input loses its optimal token, no delta is needed: `amended-2` starts in the basin, with
any scores. `sharp` has inputs that do not pull against each other, a single input for instance.
There the theorem is true, for every start, with delta_i = g_i s_i / (1 - s_i), where g_i is the gap
of the two best scores and s_i the start's attention to the optimal token (s_i = 1/T at zero).
Proof at `properties._support.aligned_inputs`. No constant above 1 would do: let the second-best
token carry little attention at the start, and be so far away that its logit outruns all others.
With delta = c g s/(1 - s), c > 1, the attended score lies below the second-best one, which
therefore gains, and for ever (`OUTRUN`: tokens -1, 64, 0, c < 3/2).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges
from properties._support.adversarial_starts import trapping_data
from properties._support.aligned_inputs import together
from properties._support.descent_runs import (
    LOCAL_TRAP,
    Run,
    feasible,
    pulling_data,
    reaches,
    rival_data,
    runs,
    several_tokens,
    tight_data,
    towards_solution,
    unique_optimum,
)
from properties._support.torch_objectives import descent_at_rest, elsewhere
from properties.sim import SOURCE
from properties.sim._support.theorem_3_14 import (
    OTHER_DIRECTIONS,
    PRINTED,
    PULLED_APART,
    REPAIRED,
    THREE_SCORES,
    TWO_TOKENS,
    UNEVEN_SCORES,
    decided,
    decided_patiently,
    starts_in_basin,
)
from properties.sim.theorem_3_15.nearly_equal_scores import (
    BALANCED,
    OPPOSED,
    OUTRUN,
    SPREADS,
    accord,
    certify_norm,
    equal_rivals,
    larger,
    level_data,
    within,
)

certify_printed = partial(decided, loss=PRINTED)
certify_repaired = partial(decided, loss=REPAIRED)
certify_patiently = partial(decided_patiently, loss=REPAIRED)
THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Theorem 3.15",
    "cost": 10,
    "same_slack": False,
}


@claim(
    "sim/theorem-3.15:literal-1",
    **THEOREM,
    statement="non-optimal scores equal, so within every delta > 0: from any start the norm of "
    "descent on g(b <f, h>) diverges",
    data=runs(level_data(), 0, 2),
    hypotheses={"non-optimal scores of each input are equal": equal_rivals},
    examples=[OPPOSED],
    relaxed=partial(descent_at_rest, loss=PRINTED),
    certify=lambda run, bounded=False, loss=PRINTED: certify_norm(run, bounded),  # for every loss
    expected="refuted",
    siblings={
        "any scores": sibling(
            drop=["non-optimal scores of each input are equal"], examples=[BALANCED]
        ),
        "the norm stays bounded": sibling(bounded=True),
        "on the decreasing loss": sibling(loss=REPAIRED),
    },
)
def norm(run: Run, bounded: bool = False, loss: str = PRINTED) -> Slack:
    """The first conclusion."""
    slack = norm_diverges(run.data, run.start, LOSSES[loss])
    return Slack(-slack.value, slack.error) if bounded else slack


@claim(
    "sim/theorem-3.15:literal-2",
    **THEOREM,
    statement="non-optimal scores equal, so within every delta > 0: from any start descent on "
    "g(b <f, h>) converges in direction to X^mm",
    data=runs(level_data(), 0, 2),
    hypotheses={"non-optimal scores of each input are equal": equal_rivals},
    examples=[TWO_TOKENS],
    relaxed=partial(elsewhere, loss=PRINTED),
    certify=certify_printed,
    expected="refuted",
    siblings={
        "any scores": sibling(
            drop=["non-optimal scores of each input are equal"], examples=[THREE_SCORES]
        ),
        "direction of the worst tokens": sibling(towards="worst"),
        "opposite direction": sibling(towards="opposite"),
    },
)
def direction(run: Run, towards: str = "optimal") -> Slack:
    """The second conclusion."""
    return reaches(run, PRINTED, towards)


REPAIR = {
    "optimal tokens are unique": unique_optimum,
    "some input has two tokens": several_tokens,
    "Att-SVM is feasible": feasible,
}


@claim(
    "sim/theorem-3.15:amended-1",
    **THEOREM,
    statement="non-optimal scores equal, optimal tokens unique, Att-SVM feasible: descent on the "
    "decreasing loss g(-b <f, h>) from any start converges in direction to X^mm",
    data=runs(rival_data(), 0, 2),
    hypotheses={"non-optimal scores of each input are equal": equal_rivals, **REPAIR},
    examples=[PULLED_APART],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="refuted",
    siblings=OTHER_DIRECTIONS,
)
def decreasing(run: Run, towards: str = "optimal") -> Slack:
    """With a decreasing loss and a target that exists."""
    return reaches(run, REPAIRED, towards)


@claim(
    "sim/theorem-3.15:amended-2",
    **THEOREM,
    statement="whatever the scores of rivals, with unique optimal tokens, a feasible Att-SVM and "
    "a risk gap of the start below min_i [l(second) - l(best)]/n: descent on the decreasing loss "
    "with step at most 1/L_X has a diverging norm and converges in direction to X^mm",
    data=runs(tight_data(), 0, 1),
    ensemble=towards_solution,
    hypotheses={**REPAIR, "risk gap of the start below the threshold": starts_in_basin},
    examples=[UNEVEN_SCORES],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_repaired,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "any start": sibling(
            drop=["risk gap of the start below the threshold"],
            data=runs(pulling_data(), 0),
            examples=[LOCAL_TRAP],
        ),
    },
)
def from_basin(run: Run, towards: str = "optimal") -> Slack:
    """Without any delta, from a start that cannot lose its optimal tokens."""
    return _both(run, towards)


@claim(
    "sim/theorem-3.15:sharp",
    **THEOREM,
    statement="inputs that do not pull against each other, optimal tokens unique, Att-SVM "
    "feasible, rivals' scores within delta_i = g_i s_i/(1 - s_i): descent on the decreasing loss "
    "with step at most 1/L_X from any start has a diverging norm and converges in direction to "
    "X^mm",
    data=runs(st.one_of(together(SPREADS), trapping_data()), 0, 1, 3),
    ensemble=larger,
    hypotheses={
        **REPAIR,
        "no input pulls against another": accord,
        "rivals' scores within 3/2 delta": lambda run: within(run, 1.5),
        "rivals' scores within delta": within,
    },
    examples=[TWO_TOKENS],
    relaxed=partial(elsewhere, loss=REPAIRED),
    certify=certify_patiently,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "within 3/2 delta": sibling(drop=["rivals' scores within delta"], examples=[OUTRUN]),
        "inputs may pull against each other": sibling(
            drop=["no input pulls against another"], data=runs(pulling_data(), 0)
        ),
    },
)
def in_agreement(run: Run, towards: str = "optimal") -> Slack:
    """With an explicit delta for every start."""
    return _both(run, towards)


def _both(run: Run, towards: str) -> Slack:
    """The direction converges and the norm diverges."""
    slacks = [
        reaches(run, REPAIRED, towards),
        norm_diverges(run.data, run.start, LOSSES[REPAIRED]),
    ]
    return min(slacks, key=lambda slack: (not slack.violated, slack.value - slack.error))

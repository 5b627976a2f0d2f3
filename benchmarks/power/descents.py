"""Planted mistakes in tf's criteria for global convergence, and in its cones."""

from dataclasses import replace
from typing import Any

from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm.exact import rationals
from attsvm.exact.numbers import ExactData, Matrix, dot, transpose
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives.aligned_inputs import levels, together
from attsvm.primitives.att_svm import exact_att_svm, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import or_more_bits
from attsvm.primitives.hypotheses import EQUAL_RIVALS
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.strategies.data import starts
from attsvm.theory import Measured, Slack
from benchmarks.power.planting import floats, plant
from benchmarks.power.targets import Target, one_short, towards, transposed
from properties._support.cones import Local
from properties.sim.theorem_3_15.nearly_equal_scores import SPREADS
from properties.tf import global_equal_scores, global_initial_gradient
from properties.tf import local_convergence as local
from properties.tf.global_initial_gradient.first_steps import Step, exactly_stepped, stepped

ALIGNED = global_equal_scores.THEOREM.claim("amended-2")
LONG = global_initial_gradient.THEOREM.claim("amended")


def _spread_below_lead(case: Descent) -> bool:
    """Return whether the rivals' scores differ by less than the best score leads."""
    split = [levels(gamma) for gamma in ExactData.of(case.data).gamma]
    rows = zip(ExactData.of(case.data).gamma, split, strict=True)
    return all(
        max(rivals) - min(rivals) < gamma[best] - max(rivals)
        for gamma, (best, rivals) in rows
        if rivals
    )


uneven_accord = plant(
    ALIGNED,
    "hypothesis equal-scores",
    statement="scores of non-optimal tokens differ by less than the optimal one leads, Att-SVM "
    "feasible, inputs aligned: W_k/||W_k|| -> W^mm/||W^mm|| from any start",
    why="started at its second-best token an input stays there, pushed on by a worse one",
    drop=[EQUAL_RIVALS],
    data=global_equal_scores.started(together(SPREADS)),
    ensemble=None,
    hypotheses={"they differ by less than the lead": _spread_below_lead},
)
swapped_accord = plant(
    ALIGNED,
    "role transposed",
    statement="scores of non-optimal tokens equal, inputs aligned: W_k/||W_k|| "
    "tends to the direction of the transpose of W^mm",
    why="query and key are swapped",
    **towards(lambda case: transposed(case.data)),
)


def _stepped_towards(make: Target) -> Measured:
    """Return the conclusion that descent after a first step tends to the target."""

    def conclusion(case: Step) -> Slack:
        first, target = stepped(case), make(case.data)
        if first is None or target is None:
            return Slack.unknown("no gradient or no target")
        return direction_converges(case.data, first, LOSSES[case.loss], floats(target))

    def certify(case: Step) -> arb | None:
        first, target = exactly_stepped(case), make(case.data)
        if first is None or target is None:
            return None
        return or_more_bits(certified_direction(case.data, first, case.loss, target, case.step))

    return Measured("see the statement", floats=conclusion, balls=certify)


swapped_step = plant(
    LONG,
    "role transposed",
    statement="after a long first step along a gradient that separates, W_k/||W_k|| tends to the "
    "direction of the transpose of W^mm",
    why="query and key are swapped",
    conclusion=_stepped_towards(transposed),
)
short_step_index = plant(
    LONG,
    "index last-token",
    statement="after a long first step along a gradient that separates, W_k/||W_k|| tends to the "
    "direction of the W^mm of all tokens but the last",
    why="the last token may hold W^mm",
    conclusion=_stepped_towards(one_short),
)

CONE = local.THEOREM.claim("sharp")


def _swapped_local(case: Local) -> Matrix | None:
    result = exact_att_svm(case.data, case.alpha)
    return transpose(result.W) if result is not None and result.A else None


def _is_longer(case: Local) -> bool:
    """Return whether ||W_0|| >= 8 ||W^mm(alpha)||."""
    result, W0 = exact_att_svm(case.data, case.alpha), flat(rationals(case.start))
    return result is not None and bool(dot(W0, W0) >= 64 * result.square)


def _in_cone(case: Local, factor: fmpq, full: bool) -> bool:
    """Return whether ||E|| r_j < factor sigma c_j for all pairs j; c_j is m_j for all if `full`."""
    result, data = exact_att_svm(case.data, case.alpha), ExactData.of(case.data)
    if result is None or not result.A:
        return False
    W0, square = flat(rationals(case.start)), result.square
    sigma = dot(W0, flat(result.W)) / square
    away = dot(W0, W0) - sigma * sigma * square
    for (i, t), A in result.A.items():
        scores = dict(zip(data.kept[i], data.gamma[i], strict=True))
        m, lead = result.margins[i, t], scores[int(case.alpha[i])] - scores[t]
        c = factor * (m if full or lead > 0 or m == 1 else m - 1)
        if not away * (dot(A, A) - m * m / square) < c * c * sigma * sigma:
            return False
    return bool(sigma > 0)


def _moved(case: Local) -> st.SearchStrategy[Local]:
    d = case.data.d
    return starts(d, 0, -2, 2, 4).map(lambda a: replace(case, start=case.start + a))


LOCAL: dict[str, Any] = {
    "drop": [h.name for h in CONE.hypotheses if h is not local.OPTIMAL],
    "data": CONE.data.flatmap(_moved),
    "ensemble": None,
}
LONGER = {"||W_0|| >= 8 ||W^mm(alpha)||": _is_longer}
swapped_cone = plant(
    CONE,
    "role transposed",
    statement="in the cone of a locally-optimal direction W_k/||W_k|| tends to the direction of "
    "the transpose of W^mm(alpha)",
    why="query and key are swapped",
    **towards(_swapped_local),
)
wider_cone = plant(
    CONE,
    "constant width",
    statement="alpha locally optimal, ||E|| r_j < 1.05 sigma c_j, ||W_0|| >= 8 ||W^mm(alpha)||: "
    "W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)||",
    why="no factor above 1 will do: a better token at (-22, 1) is reached from (R, 22 R - 1)",
    hypotheses={
        "||E|| r_j < 1.05 sigma c_j": lambda case: _in_cone(case, fmpq(21, 20), False),
        **LONGER,
    },
    **LOCAL,
)
full_cone = plant(
    CONE,
    "index margin-less-one",
    statement="alpha locally optimal, ||E|| r_j < sigma m_j for all pairs j, ||W_0|| >= 8 "
    "||W^mm(alpha)||: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)||",
    why="m_j - 1 for tokens that score higher: their margin must stay above that of the others",
    hypotheses={
        "||E|| r_j < sigma m_j": lambda case: _in_cone(case, fmpq(1), True),
        **LONGER,
    },
    **LOCAL,
)

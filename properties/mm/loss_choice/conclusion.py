"""Conclusions about limits and gradients of two losses from one start."""

from dataclasses import replace
from typing import Any

from flint import arb

from attsvm.errors import NotExpressible
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import basin, direction
from attsvm.primitives.hypotheses import BASIN, SEVERAL_TOKENS
from attsvm.primitives.steps import FLOW, TARGET, along, tends
from attsvm.theory import OPEN, Hypothesis, Measured, concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.proof.linked import Said
from attsvm.theory.types import Namespace, Number, Numbers, Relation
from properties._support.suppositions import IN_BASIN
from properties.mm._support.prompt_descent import prompt_gradient
from properties.mm._support.prompt_limits import P_K, PROMPTS, Q_K, certified, one_limit
from properties.mm.loss_choice.gradient_letters import parallel


def certified_one_limit(
    case: Descent, other: str = "correlation", towards: str = "selected"
) -> arb | None:
    """Return 1 if both runs are proved to reach the target, -1 if one is proved not to.

    For the selected tokens, -1 if one run is proved to reach p(alpha) of the optimal tokens and the
    other one not to.
    """
    target = "optimal" if towards == "selected" else towards
    runs = (replace(case, loss=loss) for loss in (case.loss, other))
    balls = [certified(run, target) for run in runs]
    reached, missed = [ball > 0 for ball in balls], [ball < 0 for ball in balls]
    if all(reached):
        return arb(1)
    if any(missed) and (towards != "selected" or any(reached)):
        return arb(-1)
    return None if all(missed) else OPEN


def either(other: str = "correlation", towards: str = "selected") -> Said | None:
    """Return the claim on directions in the letters of a run, which stand for either run."""
    return direction(towards) if other == "correlation" else None


def _one_limit(
    m: Programs, case: Descent, other: str = "correlation", towards: str = "optimal"
) -> Proposition:
    """Return the claim of `SELECTED_LIMIT` for the checker.

    Raises:
        NotExpressible: the target is another one, or a limit is not proved.
    """
    if towards != "selected":
        raise NotExpressible(f"the direction {towards} of two runs")
    return run_programs.with_loss(m, case, other)


def limit(target: str) -> Measured:
    """Return the conclusion "both directions tend to one"; `target` says what its letters mean."""
    return tends(
        "",
        f"{along(P_K)}, {along(Q_K)}",
        along(TARGET),
        floats=one_limit,
        balls=certified_one_limit,
        checked=_one_limit,
        stand_in=FLOW,
        proposition=either,
        symbols={**PROMPTS, "other": {"correlation": "-x"}},
        where="p(k) are the iterates from p(0) on the loss l, q(k) those from p(0) on $other with "
        f"the same multiple of one over its own Lipschitz constant as a step, {target}",
    )


ONE_LIMIT = limit("and p(alpha) is the max-margin solution of the optimal tokens")
SELECTED_LIMIT = limit(
    "beta are the tokens that the former select, and p(beta) is their max-margin solution"
)


def gradients(m: Namespace, case: Descent, other: str) -> tuple[Numbers, Numbers]:
    """Return the gradients at the start of the risks of the case's loss and of the other one."""
    inputs: Any = case.inputs
    keys, scores, p = m.values(inputs.X), m.values(inputs.scores), m.values(case.start)
    a, b = (prompt_gradient(m, keys, scores, p, loss) for loss in (case.loss, other))
    return a, b


@run_programs.traces
@stated(
    "",
    r"\|a\|^2 \|b\|^2 - \langle a, b\rangle^2 > $sine \text{ or } \langle a, b\rangle < 0",
    {"sine": {0: "0", "0.25": r"0.25^2 \|a\|^2 \|b\|^2", "0.5": r"0.5^2 \|a\|^2 \|b\|^2"}},
    where="a and b are the gradients of the risks of l and of -x at any start p(0)",
)
def differ(m: Namespace, case: Descent, sine: Number = 0) -> Relation:
    a, b = gradients(m, case, "correlation")
    sizes = (a @ a) * (b @ b)
    across = sizes - m.square(a @ b)
    return m.any_of(m.above(across, m.square(sine) * sizes), m.below(a @ b, m.exact(0)))


@concludes(parallel)
@stated(
    "$formula at every p",
    "$length",
    {
        "other": {"correlation": "-x"},
        "length": {
            "any": r"a = c b \text{ for some } c > 0\text{, or } a = b = 0",
            "same": "a = b",
        },
    },
    where="a and b are the gradients of the risks of l and of $other",
)
def agree(m: Namespace, case: Descent, other: str = "correlation", length: str = "any") -> Relation:
    a, b = gradients(m, case, other)
    if length == "same":
        return m.equal(a, b)
    along = m.all_of(m.equal((b @ b) * a, (a @ b) * b), m.above(a @ b, m.exact(0)))
    return m.any_of(along, m.all_of(m.equal(a, 0 * a), m.equal(b, 0 * b)))


IN_BOTH = Hypothesis(
    "risk gaps of the start on l and on -x below their thresholds",
    lambda case: BASIN.holds(case) and BASIN.holds(replace(case, loss="correlation")),
    says=f"{BASIN.says}, and its risk on the loss -x is above the infimum by less than min_i "
    "[b_i - c_i]/n",
    implies=(SEVERAL_TOKENS, IN_BASIN),
    proposition=basin,
)
"""Its proposition is about either run, as is that of the conclusion `ONE_LIMIT`."""

"""The cosine of X(k) with X_soft: its limit, and its change in a step."""

import numpy as np
from flint import arb

from attsvm.errors import NotExpressible
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.limit_certificates import agreement, short_step
from attsvm.primitives.steps import FLOW, by_gradient_flow, tends
from attsvm.theory import Slack, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.sim import LOSS_NAMES
from properties.sim._support import token_sequences
from properties.sim._support.telling_sentences import C, soft


@by_gradient_flow
def ends(case: Descent, towards: str) -> Slack:
    """Return the slack of "the direction of X(k) tends to that of the target", by its rate."""
    solution = soft(case.data)
    if solution is None:
        return Slack.unknown("floats came to no solution")
    mean = solution.programme.combine(np.ones(len(solution.programme.D)))
    target = {"soft": solution.W, "mean": mean}[towards]
    if not target.any():
        return Slack.unknown("the target is zero")
    return direction_converges(case.data, case.start, LOSSES[case.loss], target)


def certified_end(case: Descent, towards: str) -> arb | None:
    """Return 1 if the cosine provably tends to 1, a negative number if provably not, else None."""
    if token_sequences.stays_at_zero(case):
        return arb(-1)
    X = token_sequences.limit(case)
    if X is None:
        return None
    if towards == "mean":
        M = token_sequences.summed(case.data)
        return agreement([M], [X]) if any(M) else arb(-1)
    return token_sequences.on_soft_ray(case.data, X if towards == "soft" else [-x for x in X])


def _on_soft_ray(m: Programs, case: Descent, towards: str) -> Proposition:
    """Return that the limit can be on the ray of X_soft, for the checker.

    Its multiples then reach a loss as low as that of any known matrix.

    Raises:
        NotExpressible: the target is another one, or the limit is not proved.
    """
    if towards != "soft":
        raise NotExpressible(f"the target {towards}")
    run_programs.write(m, case)
    if (settled := token_sequences.outvoted(case)) is not None:
        steps, end = settled
        m.lines["limit"] = (
            f"ends_along(data, start, loss, step, {steps}, {nested(list(end.duals))}, outvoted)"
        )
    else:
        m.lines["limit"] = run_programs.limit(case, moving=True)
    m.lines["A"], m.lines["known"] = "rows(data, data.optimal)", token_sequences.known(case.data)
    text = f"at_most(soft_loss_along(A, limit, {C}), soft_loss(A, known, {C}))"
    return Proposition(text, run_programs.CHECKER)


def _rises(m: Programs, case: Descent, **constants: object) -> Relation:
    """Return the claim of `rises` for the checker, in which X_soft is X^mm.

    Raises:
        NotExpressible: X_soft is not known to be X^mm.
    """
    if not token_sequences.enough(case):
        raise NotExpressible("an X_soft that is not X^mm")
    result = run_programs.traced(m, case, rises, **constants)
    m.lines["target"] = (
        m.lines["target"].replace("least(", "soft_solution(").replace(", size)", f", size, {C})")
    )
    return result


COSINE = tends(
    "descent on $loss has $formula",
    r"\cos(X(k), $towards)",
    "1",
    symbols={**LOSS_NAMES, "towards": {"soft": "X_{soft}", "mean": r"\sum_j A_j"}},
    where="X_soft minimises ||X|| + 10 sum_j max(0, 1 - <A_j, X>), with A_j = (x_opt - x_t) z^T "
    "for each token t but opt",
    floats=ends,
    balls=certified_end,
    checked=_on_soft_ray,
    stand_in=FLOW,
)


def length(m: Namespace, x: Numbers) -> Number:
    """Return the norm of a vector; for one entry the absolute value, so that cosines are +-1."""
    return m.abs(x[0]) if len(x) == 1 else m.norm(x)


@stated(
    "a step of descent on $loss has $formula",
    "$sign",
    {
        **LOSS_NAMES,
        "sign": {
            1: r"\cos(X, X_{soft}) \le \cos(X_+, X_{soft})",
            -1: r"\cos(X_+, X_{soft}) \le \cos(X, X_{soft})",
        },
    },
    where="X_+ is X after the step, X_soft minimises ||X|| + 10 sum_j max(0, 1 - <A_j, X>), and "
    "A_j = (x_opt - x_t) z^T for each token t but opt",
    checked=_rises,
)
def rises(m: Namespace, case: Descent, sign: int = 1) -> Comparison:
    M, X = token_sequences.known_soft(m, case), m.vec(m.values(case.start))
    step = m.values(short_step(case.data, case.loss, case.step))
    moved = X + step * m.vec(negative_gradient(m, case.data, case.start, case.loss).matrix)
    cosines = [(Y @ M) / (length(m, Y) * length(m, M)) for Y in (X, moved)]
    return m.at_most(*cosines[::sign])

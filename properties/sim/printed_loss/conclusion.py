"""Descent on the printed loss: which way a step goes, and how the norm grows."""

from fractions import Fraction

from flint import arb

from attsvm.limits import norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import rate_error
from attsvm.primitives.steps import FLOW, LN_K, X_K, by_gradient_flow, norm, over, tends
from attsvm.theory import Slack, stated
from attsvm.theory.types import Comparison, Namespace
from properties.sim import LOSS_NAMES
from properties.sim._support.margins import step_along_solution
from properties.sim.printed_loss.instances import turned


def pairs(case: Descent) -> bool:
    """No entry has more than two tokens."""
    return bool((case.data.present.sum(axis=1) <= 2).all())


@stated(
    "from any X every step of descent on the sum of $loss lowers <X^T, X^mm>: $formula",
    r"${sign}\langle X^{mm}, -\nabla L(X)^\top\rangle > 0",
    {**LOSS_NAMES, "sign": {1: "", -1: "-"}},
)
def lowers(m: Namespace, case: Descent, sign: int = -1) -> Comparison:
    added, _ = step_along_solution(m, case)
    return m.above(sign * added, 0)


@by_gradient_flow
def rate(case: Descent, share: Fraction = Fraction(1)) -> Slack:
    """The norm grows like a share of ||X^low|| ln k."""
    solved = exact_att_svm(turned(case).data)
    size = 0.0 if solved is None else float(arb(solved.square).sqrt())
    return norm_grows_like_log(case.data, case.W, LOSSES[case.loss], float(share) * size)


def proved_rate(case: Descent, share: Fraction = Fraction(1)) -> arb | None:
    """How far the share is from the rate that is proved, negated."""
    solved = exact_att_svm(turned(case).data)
    if solved is None:
        return arb(-1)  # there is no X^low
    if not solved.A:
        return None
    return rate_error(case.data, case.W, case.loss, solved.square, share, case.step)


RATE = tends(
    "under descent on the sum of $loss over all entries $formula",
    over(norm(X_K), LN_K),
    r"$share \left\|X^{low}\right\|",
    floats=rate,
    balls=proved_rate,
    stand_in=FLOW,
    symbols=LOSS_NAMES,
    where="X^low is the max-margin solution of the tokens of lowest score",
)

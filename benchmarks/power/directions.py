"""Planted mistakes in sim's results on directions and margins in the limit."""

from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from attsvm.exact import rationals, softmax
from attsvm.exact.attention import logits
from attsvm.exact.numbers import ExactData
from attsvm.primitives.aligned_inputs import levels
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs
from attsvm.primitives.hypotheses import BASIN, EQUAL_RIVALS
from attsvm.strategies.data import separable_data
from attsvm.theory import Measured, Slack
from benchmarks.power.planting import flipped, plant
from benchmarks.power.targets import Target, below_whole_threshold, one_short, towards, transposed
from properties.sim import REPAIRED, theorem_3_15
from properties.sim import theorem_3_14_part_1 as part_1
from properties.sim import theorem_3_14_part_2 as part_2
from properties.sim._support import margins
from properties.sim.token_separation import SEPARATION


def _of_run(make: Target) -> dict[str, Any]:
    return towards(lambda run: make(run.data))


def _in_wide_basin(run: Descent) -> bool:
    return below_whole_threshold(run.data, run.start, REPAIRED, fmpq(1))


whole_threshold = plant(
    part_1.THEOREM.claim("amended-2"),
    "hypothesis one-nth",
    statement="Att-SVM feasible, risk gap of the start below min_i [l(second) - "
    "l(best)]: descent on the decreasing loss with step at most 1/L_X converges to X^mm",
    why="the factor 1/n is missing: one input of two at its second-best token stays below",
    drop=[BASIN],
    hypotheses={"risk gap below min_i [l(second) - l(best)]": _in_wide_basin},
)
uneven_rivals = plant(
    part_2.THEOREM.claim("amended-2"),
    "hypothesis equal-scores",
    statement="a single input, Att-SVM feasible: descent on the decreasing loss with step at most "
    "1/L_X from any start converges in direction to X^mm",
    why="tokens of any scores can trap a run at the second-best one",
    drop=[EQUAL_RIVALS],
    data=runs(separable_data(n=(1, 1)), 0, 2),
    ensemble=None,
)
swapped_single = plant(
    part_2.THEOREM.claim("amended-2"),
    "role transposed",
    statement="a single input with equal scores of rivals: descent on the decreasing loss "
    "converges in direction to the transpose of X^mm",
    why="z (x_opt - x_t)^T for (x_opt - x_t) z^T: query and key are swapped",
    **_of_run(transposed),
)
short_single = plant(
    part_2.THEOREM.claim("amended-2"),
    "index last-token",
    statement="a single input with equal scores of rivals: descent on the decreasing loss "
    "converges in direction to the X^mm of all tokens but the last",
    why="the last token may hold X^mm",
    **_of_run(one_short),
)


def _wide_spread(run: Descent) -> bool:
    """Return whether balls prove that the rivals' scores differ by less than g_i / (1 - s_i)."""
    exact, W = ExactData.of(run.data), rationals(run.start)
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        best, rivals = levels(gamma)
        if not rivals:
            continue
        s = softmax(logits(tokens, W, z))
        lost = sum((weight for t, weight in enumerate(s) if t != best), arb(0))
        if not (max(rivals) - min(rivals)) * lost < gamma[best] - max(rivals):
            return False
    return True


wide_delta = plant(
    theorem_3_15.THEOREM.claim("sharp"),
    "constant attention",
    statement="aligned inputs, rivals' scores within delta_i = "
    "g_i/(1 - s_i): the norm of descent diverges and its direction converges to X^mm",
    why="the factor s_i is lost: a second-best token far away outruns the others",
    drop=["rivals' scores less than delta apart"],
    hypotheses={"rivals' scores within g/(1 - s)": _wide_spread},
)
short_basin = plant(
    theorem_3_15.THEOREM.claim("amended-2"),
    "index last-token",
    statement="from a start in the basin descent on the decreasing loss converges in direction to "
    "the X^mm of all tokens but the last",
    why="the last token may hold X^mm",
    **_of_run(one_short),
)


def _two_percent_more(m: Any, run: Descent) -> Any:
    added, toward = margins.step_along_solution(m, run)
    return m.at_least(added, m.exact("1.02") * toward)


GAIN, RAISED, SLOPED = (SEPARATION.claim(name) for name in ("sharp-1", "amended-3", "sharp-2"))
gain_constant = plant(
    GAIN,
    "constant two-percent",
    statement="a step of size eta raises <X, X^mm> by at least 1.02 eta (1/n) sum_i |l'| s_opt "
    "sum_t s_t (gamma_opt - gamma_t)",
    why="equal where all tokens are support vectors",
    conclusion=_two_percent_more,
)
gain_sign = plant(
    GAIN,
    "sign at-most",
    statement="a step of size eta raises <X, X^mm> by at most eta (1/n) sum_i |l'| s_opt sum_t "
    "s_t (gamma_opt - gamma_t)",
    why="tokens beyond the margin, with equal scores of rivals, add more",
    **flipped(GAIN),
)


def _mean_grows(m: Any, run: Descent) -> Any:
    """Return the conclusion for the plain mean margin, not the mean weighted by multipliers."""
    return margins.growth(m, run, "mean")


mean_norm = plant(
    RAISED,
    "norm plain-mean",
    statement="assumption 3.10, Att-SVM feasible: every step of descent on the decreasing loss "
    "raises the mean margin",
    why="only the mean weighted by the multipliers grows: opposed inputs lower the other",
    conclusion=_mean_grows,
)


def _slope_of_norm(run: Descent) -> Slack:
    """Return the slack of "the least margin over ln k tends to ||X^mm||"."""
    result = exact_att_svm(run.data)
    if result is None or not result.A:
        return Slack.unknown("there is no X^mm, or no margin")
    return margins.slope(run, Fraction(float(arb(result.square).sqrt())))


def _slope_of_norm_ball(run: Descent) -> arb | None:
    result, ball = exact_att_svm(run.data), margins.certified_slope(run, Fraction(1))
    if result is None or ball is None or not ball >= 0:  # the slope 1 is not proved
        return None
    return arb(1) if result.square == 1 else -abs(arb(result.square).sqrt() - 1)


slope_norm = plant(
    SLOPED,
    "norm slope",
    statement="from such a start the least margin divided by ln k tends to ||X^mm||",
    why="the norm does; the least margin is the norm over ||X^mm||",
    conclusion=Measured("see the statement", floats=_slope_of_norm, balls=_slope_of_norm_ball),
)

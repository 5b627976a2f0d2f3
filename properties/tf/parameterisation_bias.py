"""Summary: W is biased to the Frobenius solution, (K, Q) to the nuclear one.

"Parameterization matters: W -> min Frob_norm, (K, Q) -> min Nuclear_norm bias." Read of gradient
descent, as the talk's pictures do; of regularisation paths it is theorems 2 and 3. The protocol of
100 data sets is drawn, not judged: `attsvm reproduce tf/parameterisation-bias`.

Descent on W may go to a local direction, be it from zero: tokens 4, 0, 3 of scores 1, 0, -3 and
query 1 (literal-1). Descent on (K, Q) goes nowhere from K = Q = 0, and for K = 1, Q = -1 on tokens
1, 0 and query 1 it keeps K = -Q, so that W is never above 0, where both solutions are 1
(literal-2). From the basin,
where the risk gap is below min_i [l(second) - l(best)] / n, descent on W keeps the bias
(amended).

The parameterisation does not matter to the solution where W^mm has rank 1, as for one input of two
tokens: every feasible V has ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_*, with equality for V =
W^mm alone (literal-3; `tf/svm-rank:amended`, proved in `symbolic.tf.svm_rank`). That descent on
(K, Q) favours the nuclear solution on other data is seen in the pictures and proved of the
regularisation path alone (`tf/theorem-3`).
"""

from __future__ import annotations

from typing import Any

from attsvm.data import AttentionData
from attsvm.strategies.data import separable_data
from attsvm.theory import Reading, Records, Statement, changed
from properties._support.att_svm import exact_att_svm
from properties._support.descent_runs import LEAPING
from properties._support.hypotheses import exists, in_basin, sloped, unique_optimum
from properties._support.hypothesis_violations import PASSED_OVER, TIED_APART
from properties._support.steps import SHORT, is_short, stepped
from properties.sim._support.training import PULLED_APART
from properties.sim.kq_bias import NOWHERE, OPPOSED
from properties.sim.kq_bias import factor_descent as factors
from properties.sim.kq_bias.factor_descent import Factors
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support.descent_instances import Descent

EXISTS, FALLING = "W^mm exists and is not 0", "l' < 0 everywhere"
UNIQUE, BASIN = "optimal tokens are unique", "risk gap of the start below the threshold"
ONE = "one input of two tokens"
WORST = {"the solution for the worst tokens": changed(towards="worst")}


def rank_above(m: Any, data: AttentionData, least: Any) -> Any:
    """The rank of W^mm is above a bound."""
    solved = exact_att_svm(data)
    return m.below(least, m.exact(0 if solved is None else solved.rank))


BIAS = Statement(
    "tf/parameterisation-bias",
    rests_on=(
        "tf/theorem-2",
        "tf/theorem-3",
    ),
    source=SOURCE,
    place="Summary",
    printed="Parameterization matters: W -> min Frob_norm, (K, Q) -> min Nuclear_norm bias",
    variables=stepped(Descent, cases.descents(), cases.started_right),
    hypotheses={
        EXISTS: exists,
        FALLING: sloped,
        UNIQUE: unique_optimum,
        BASIN: lambda case: in_basin(case, case.loss),
        ONE: factors.one_pair,
        SHORT: is_short,
    },
    conclusion=cases.DIRECTION,
    cost=12,
    violating={
        EXISTS: [cases.from_zero([[[1], [1]]], scores=[[1.0, 0.0]])],
        FALLING: [cases.FLAT],
        UNIQUE: [cases.descent(TIED_APART)],
        BASIN: [cases.descent(PULLED_APART, "correlation")],
        SHORT: [cases.descent(LEAPING)],
    },
    readings={
        "literal-1": Reading(
            "descent on W converges in direction to the Frobenius solution, where there is one and "
            "l' < 0",
            expected="refuted",
            under=(EXISTS, FALLING, UNIQUE),
            examples=(cases.descent(PASSED_OVER), cases.TRAP),
            siblings=WORST,
        ),
        "literal-2": Reading(
            "descent on (K, Q) takes K Q^T in direction to the nuclear solution of one input of "
            "two tokens, W^mm",
            expected="refuted",
            constants={"loss": "log-loss"},
            under=(UNIQUE, ONE),
            variables=Records(Factors, factors.starting(factors.pair_data())),
            conclusion=factors.FACTORED,
            examples=(NOWHERE, OPPOSED),
            siblings=WORST,
        ),
        "literal-3": Reading(
            "the parameterisation matters on all data with a solution: W^mm is no nuclear "
            "solution, for which its rank has to be above 1",
            expected="refuted, certified",
            constants={"least": 1},
            under=(EXISTS, UNIQUE),
            variables=Records(AttentionData, separable_data()),
            conclusion=rank_above,
            examples=(cases.from_zero([[[1], [0]]], scores=[[1.0, 0.0]]).data,),
            siblings={"rank above 2": changed(least=2)},
        ),
        "amended": Reading(
            "W^mm exists and is not 0, l' < 0, optimal tokens unique, step at most 1/L, start with "
            "a risk gap below min_i [l(second) - l(best)]/n: descent on W converges in direction "
            "to W^mm",
            expected="proved",
            proof="symbolic.basins:prove",
            under=(EXISTS, FALLING, UNIQUE, BASIN, SHORT),
            siblings=WORST,
        ),
    },
)

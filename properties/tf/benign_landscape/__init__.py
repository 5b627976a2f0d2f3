"""A benign landscape: when the Att-SVM is feasible, and the risk has no stationary point.

"Importantly, we show that over-parameterization catalyzes global convergence by ensuring the
feasibility of the SVM problem and by guaranteeing a benign optimization landscape devoid of
stationary points" (abstract). Over-parameterised is not defined. We read d >= n T, a dimension for
each token.

Neither part holds for all such data of a linear head. Equal inputs of opposite queries leave no
W^mm (`FACING`). Two inputs of opposite labels that share their first token, which is the query,
have the gradient 0 at W = 0 (`SHARED_TOKEN`). With a linear head independent queries are enough
(`tf/linear-head-landscape`). The other readings are about scores of any values, as if values were
other tokens than keys; then tokens 1, 0, -2 with scores 1, -4, 0 rest at W = 0 for every loss.

From d >= max(n, T - 1) on, almost all data have independent queries and affinely independent
tokens. Then every Local-SVM has a solution (`amended-1`), because some M gives each rival the
margin 1. For the landscape one input is enough (`amended-2`), if its query is no combination of the
others'. At a stationary W its tokens satisfy sum_t c_t x_t = 0 and sum_t c_t = 0 with c_t = s_t
(gamma_t - u), so the hulls of the tokens that score above u and of those below meet. There is no
such W if these hulls are apart at every level u, as they are for affinely independent tokens, and
for scores that rise along some direction. If all tokens have one affine dependency, this is also
necessary (`sharp-2`). Nor does the order of scores decide: tokens 0, -1, -6, -8 have stationary
points with scores 10, -14, 9, -5 (`FINITE`), and none with 100, -6, -4, -5 (`FALLING`). More is in
docs/proofs/benign_landscape.md.
"""

from attsvm.primitives.hypotheses import LINEAR_HEAD
from attsvm.primitives.loss_hypotheses import FALLING_LOSS, SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.query_hypotheses import LARGE, QUERIES
from attsvm.theory import Reading, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf.benign_landscape import instances, stationary_points
from properties.tf.benign_landscape.instances import AFFINE, FEW, OWN, SCORES, SEPARABLE
from properties.tf.benign_landscape.stationary_points import APART, KNOWN

PRINTED = (
    "over-parameterization catalyzes global convergence by ensuring the feasibility of the SVM "
    "problem and by guaranteeing a benign optimization landscape devoid of stationary points"
)

FEASIBILITY = Statement(
    "tf/benign-landscape",
    rests_on=("tf/all-support-no-stationary", "tf/overparameterisation"),
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=instances.DATA,
    conclusion=instances.solvable,
    cost=2,
    violating={QUERIES: [instances.TWICE], AFFINE: [instances.EQUAL]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="strained",
            read={"over-parameterization": "a dimension for each token, d >= n T"},
            under=(LINEAR_HEAD, LARGE),
            examples=(instances.FACING,),
            siblings={"d < n T": changed(drop=[LARGE], examples=[instances.TWICE])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.independent_inputs:prove_feasible",
            under=(QUERIES, AFFINE),
        ),
    },
)

LANDSCAPE = Statement(
    "tf/benign-landscape",
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=instances.POINTS,
    conclusion=cases.not_stationary,
    cost=3,
    violating={
        FALLING_LOSS: [cases.FLAT],
        SLOPED_LOSS: [cases.FLAT],
        SCORES: [cases.TIED],
        OWN: [instances.BESIDE, cases.OPPOSED],
        APART: [instances.REST],
        FEW: [instances.FINITE],
        SEPARABLE: [instances.WITHIN],
        QUERIES: [cases.OPPOSED],
        KNOWN: [instances.PEAK],
    },
    readings={
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"over-parameterization": "a dimension for each token, d >= n T"},
            under=(LINEAR_HEAD, LARGE, STRICT_LOSS),
            variables=instances.HEADED,
            examples=(instances.SHARED_TOKEN,),
            siblings={"d < n T": changed(drop=[LARGE], examples=[cases.OPPOSED])},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.independent_inputs:prove_no_stationary_point",
            under=(FALLING_LOSS, SCORES, OWN, APART),
            examples=(instances.IN_ORDER, instances.IN_TURN),
        ),
        "sharp-1": Reading(
            "holds",
            strength="better",
            proof="symbolic.tf.benign_landscape:prove_no_minimum",
            under=(SLOPED_LOSS, SCORES, OWN, FEW, SEPARABLE),
            conclusion=stationary_points.MINIMUM,
            examples=(instances.REST,),
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.tf.where_stationary:prove",
            under=(FALLING_LOSS, QUERIES, KNOWN),
            variables=stationary_points.INPUTS,
            conclusion=stationary_points.EXISTENCE,
            examples=(
                instances.REST,
                instances.WITHIN,
                cases.TIED,
                instances.BYSTANDER,
                instances.LEVEL,
                instances.FINITE,
                instances.FALLING,
            ),
        ),
        "sharp-3": Reading(
            "holds",
            strength="exact",
            proof="symbolic.tf.parts_at_rest:prove_where_least",
            under=(FALLING_LOSS, QUERIES, KNOWN),
            variables=stationary_points.INPUTS,
            conclusion=stationary_points.LEAST,
            examples=(
                instances.REST,
                instances.WITHIN,
                cases.TIED,
                instances.LEVEL,
                instances.FINITE,
                instances.FALLING,
            ),
            siblings={
                "all parts rest at one score, of any kind": changed(
                    largest=False, examples=[instances.REST_ELSEWHERE]
                )
            },
        ),
    },
)

"""The landscape of the talk's own scores, those of labels and a linear head.

"Importantly, we show that over-parameterization catalyzes global convergence by ensuring the
feasibility of the SVM problem and by guaranteeing a benign optimization landscape devoid of
stationary points" (abstract). With scores gamma_it = Y_i <v, x_it> both are true if the queries are
independent, for any tokens (`amended-2`, `amended-3`). There is no literal reading, as the abstract
says nothing of l' < 0, of two different scores and of unique optimal tokens.

Let some q have Y_i <z_i, q> > 0 for all i; independent queries have one. Along W = v q^T the
margins are Y_i <z_i, q> (gamma_i,opt - gamma_it), so W separates unique optimal tokens. At every W

    <-grad L(W), v q^T> = (1/n) sum_i |l'(u_i)| Y_i <z_i, q> v^T C_i v,

with C_i the covariance of the tokens by attention (`sharp-1`). If two scores of some input differ
and l' < 0 this is positive (`amended`): no W is stationary. It has a least value above 0 on every
ball, so ||W_k|| tends to infinity from any start, with any step (`sharp-2`).

The condition on q is also necessary (`sharp-3`). If there is none, some lambda_i >= 0, not all 0,
have sum_i lambda_i Y_i z_i = 0. Tokens sqrt(lambda_i) (2 Y_i, s_i), sqrt(lambda_i) (Y_i, -2 s_i)
and sqrt(lambda_i) (-3 Y_i, 0), with s_i the sign of <z_i, b> and v = (1, 0), have C_i v = lambda_i
(14/3, 0) and u_i = 0 at W = 0. So W = 0 is stationary, and W = (0, 1) b^T separates. Inputs of
opposite labels that share their query do this (`SHARED_TOKEN`). Data with an Att-SVM and a
stationary point need d >= 2, n >= 2 and T >= 3: docs/proofs/linear_head_landscape.md.
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import LINEAR_HEAD, TWO_SCORES, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS
from attsvm.primitives.query_hypotheses import ONE_SIDE, QUERIES
from attsvm.primitives.steps import ANY, stepped
from attsvm.theory import Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf.linear_head_landscape import instances, slopes

PRINTED = (
    "over-parameterization catalyzes global convergence by ensuring the feasibility of the SVM "
    "problem and by guaranteeing a benign optimization landscape devoid of stationary points"
)
READ = {"over-parameterization": "that the queries are linearly independent"}
OPPOSED = {**slopes.AXES, "Z": [[1, 0], [1, 0]], "q": [-1, 0]}
"""Inputs of opposite labels that share their query: no q has Y_i <z_i, q> > 0 for both."""

SLOPE = Statement(
    "tf/linear-head-landscape",
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=slopes.POINT,
    conclusion=slopes.falls,
    readings={
        "amended": Reading(
            "proved",
            proof="symbolic.tf.linear_head_landscape:prove",
            under=slopes.FALLING,
            variables=slopes.SIDED,
            examples=(slopes.AXES, slopes.SHARED),
            siblings={
                "a loss that is flat somewhere": changed(
                    drop=[slopes.SLOPED],
                    variables=slopes.CUBIC,
                    examples=[slopes.FLAT],
                ),
                "queries on two sides": changed(drop=[slopes.SIDE], examples=[OPPOSED]),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.tf.linear_head_landscape:prove_slope",
            strength="exact",
            under=(),
            conclusion=slopes.is_spread,
            examples=(slopes.AXES, OPPOSED),
            siblings={
                "95% of it": changed(share="0.95", examples=[slopes.AXES]),
                "second moments in place of variances": changed(
                    about="zero", examples=[slopes.AXES]
                ),
            },
        ),
    },
)

LANDSCAPE = Statement(
    "tf/linear-head-landscape",
    rests_on=("tf/benign-landscape", "tf/all-support-no-stationary"),
    source=SOURCE,
    place="Abstract",
    printed=PRINTED,
    variables=Records(Descent, instances.runs(), fixed=("step",)),
    conclusion=cases.not_stationary,
    cost=3,
    violating={
        LINEAR_HEAD: [instances.ANY_SCORES, instances.WITHIN],
        QUERIES: [cases.SHARED_TOKEN, cases.OPPOSED],
        ONE_SIDE: [cases.SHARED_TOKEN, cases.OPPOSED],
        UNIQUE: [instances.TIED],
        SLOPED_LOSS: [cases.FLAT, cases.wide(cases.FLAT, 2)],
        TWO_SCORES: [cases.TIED, cases.wide(cases.TIED, 2)],
        instances.PLANE: [instances.OPPOSED_LINE],
        instances.QUERIED: [instances.NO_QUERY],
    },
    readings={
        "amended-2": Reading(
            "proved",
            read=READ,
            proof="symbolic.tf.all_support_no_stationary:prove_solvable",
            under=(LINEAR_HEAD, QUERIES, UNIQUE),
            conclusion=instances.solvable,
            examples=(instances.FREE_ASIDE, cases.TRAP),
        ),
        "amended-3": Reading(
            "proved",
            read=READ,
            proof="symbolic.tf.all_support_no_stationary:prove_linear",
            depends_on=("tf/linear-head-landscape:amended",),
            under=(LINEAR_HEAD, QUERIES, SLOPED_LOSS, TWO_SCORES),
            examples=(cases.TRAP, instances.FREE_ASIDE),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.divergence_facts:prove_one_side",
            strength="better",
            under=(LINEAR_HEAD, ONE_SIDE, SLOPED_LOSS, TWO_SCORES),
            variables=stepped(Descent, instances.runs(), steps=ANY),
            conclusion=cases.DIVERGES,
            examples=(cases.TRAP, cases.OBTUSE, cases.OWN_TOKEN),
            cost=8,
        ),
        "sharp-3": Reading(
            "proved",
            proof="symbolic.tf.one_side:prove",
            strength="exact",
            depends_on=("tf/linear-head-landscape:amended",),
            under=(LINEAR_HEAD, SLOPED_LOSS, TWO_SCORES, instances.PLANE, instances.QUERIED),
            conclusion=instances.exactly,
            examples=(cases.SHARED_TOKEN, instances.OPPOSED_PLANE, cases.TRAP),
            siblings={
                "no such tokens": changed(other=False, examples=[instances.UNLIKE]),
                "independent queries in place of q": changed(
                    by="independent", examples=[instances.ALIKE]
                ),
            },
        ),
    },
)

"""Token selection and contextual sparsity: the tokens that may be left out, and those that may not.

After theorem 3.15 the paper says that tokens that are no support vectors "have gradients that
effectively amount to zero".

With attention s_i, scores gamma_it and u_i = sum_t s_it gamma_it the gradient is grad L(X) = sum_it
c_it x_it z_i^T, where c_it = g'(u_i) s_it (gamma_it - u_i)/n. X^mm = sum_j w_j A_j with multipliers
w_j >= 0, where A_j = (x_opt - x_t) z_i^T for each token that is not optimal. A token is a support
vector of X^mm if its margin (x_opt - x_t)^T X^mm z_i is 1, as assumption 3.10 says; optimal tokens
count as support vectors. These are defined only if X^mm exists, so all readings suppose it.

Attention is positive at every X, so c_it vanishes only if gamma_it = u_i, whatever the margin.
`literal-1` and `literal-2` fall at `FROM_ZERO`: the token -1 has margin 2. A run that starts
without the tokens follows another path, and a token may be a support vector of another choice of
tokens. `literal-4` and later readings read "effectively" as a limit of the share of |c_it| in the
sum of all. As the loss of definition 3.6 increases, the same run from X(0) = 0 ends at token -1,
whose share tends to 1/2. With a decreasing loss (`amended-1`), tokens 4, 0, 3 with scores 1, 0, -3
and X(0) = 0, the run ends at the token of score 0, of margin 4. From a start in the basin the share
does tend to 0. So gradients are sparse in the limit only, and tokens
just beyond the margin fade as slowly as one likes.

With steps of 1024/L_X `amended-2` and `sharp-3` fail (`LEAPING`). `literal-3` is proved in
`symbolic/sim/tokens_left_out.py`, `sharp-1` and `sharp-2` in `symbolic/sim/programme_facts.py`.
"""

from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.primitives.steps import SHORT
from attsvm.theory import Reading, Statement, changed
from attsvm.theory.declaration.siblings import Changed
from properties.sim import PRINTED, REPAIRED, SOURCE
from properties.sim._support import dropping
from properties.sim.token_sparsity import gradient_shares as shares
from properties.sim.token_sparsity import instances
from properties.sim.token_sparsity.instances import DROPPED_HYPOTHESES


def other_tokens(*runs: Descent) -> dict[str, Changed]:
    """Return siblings that claim the same about support vectors, or about optimal tokens."""
    return {
        "support vectors": changed(which="support", examples=runs),
        "optimal tokens": changed(which="optimal", examples=runs),
    }


SPARSITY = Statement(
    "sim/token-sparsity",
    rests_on=("sim/definition-3.8", "sim/theorem-3.14-part-1", "sim/theorem-3.14-part-2"),
    source=SOURCE,
    place="Contributions, token selection and contextual sparsity, and the remark after theorem "
    "3.15",
    printed="... only a few tokens, which can be regarded as feature vectors, contribute to the "
    "gradient computation for each update. Tokens that do not serve as support vectors have zero "
    "gradients and can be safely disregarded during pretraining",
    variables=instances.ANYWHERE,
    conclusion=dropping.coefficients,
    cost=2,
    violating=instances.OUTSIDE,
    readings={
        "literal-1": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            under=(FEASIBLE,),
            examples=(instances.FROM_ZERO,),
            siblings=other_tokens(),
        ),
        "literal-2": Reading(
            "refuted",
            fixed={"loss": PRINTED},
            under=(FEASIBLE,),
            conclusion=dropping.same_gradient,
            examples=(instances.FROM_ZERO,),
            siblings=other_tokens(),
        ),
        "literal-3": Reading(
            "proved",
            proof="symbolic.sim.tokens_left_out:prove_others",
            under=(FEASIBLE,),
            variables=instances.PROGRAMMES,
            conclusion=dropping.same_solution,
            examples=(instances.THREE, instances.TIED),
            siblings={
                "support vectors": changed(which="support"),
                "the first support vector": changed(which="first"),
            },
        ),
        "literal-4": Reading(
            "refuted, certified",
            fixed={"loss": PRINTED},
            under=(FEASIBLE,),
            conclusion=shares.FADING,
            cost=10,
            examples=(instances.FROM_ZERO,),
            siblings=other_tokens(instances.TWO_INPUTS),
        ),
        "amended-1": Reading(
            "refuted, certified",
            fixed={"loss": REPAIRED},
            under=(FEASIBLE,),
            conclusion=shares.FADING,
            cost=10,
            examples=(instances.MISLED,),
            siblings=other_tokens(instances.FROM_BASIN),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.gradient_shares:prove_fading",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=instances.IN_BASIN,
            conclusion=shares.FADING,
            cost=10,
            examples=(instances.FROM_BASIN,),
            siblings={**DROPPED_HYPOTHESES, **other_tokens()},
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.programme_facts:prove_at_most_lost",
            under=(FEASIBLE,),
            variables=instances.WITH_DROPPED,
            conclusion=dropping.at_most_lost,
            examples=instances.THINNED,
            tight=True,
            depends_on=("sim/definition-3.8:sharp-1",),
        ),
        "sharp-2": Reading(
            "proved",
            strength="least",
            proof="symbolic.sim.programme_facts:prove_at_least_lost",
            under=(FEASIBLE,),
            variables=instances.OF_SUPPORT,
            conclusion=dropping.at_least_lost,
            examples=instances.ALL_SUPPORT,
            siblings={
                "1.05 times the left side": changed(factor="1.05"),
                "1.001 times the left side": changed(factor="1.001"),
                "distance from 0": changed(of="zero"),
            },
        ),
        "sharp-3": Reading(
            "proved",
            strength="exact",
            proof="symbolic.sim.gradient_shares:prove_shares",
            fixed={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=instances.IN_BASIN,
            conclusion=shares.EXPONENT,
            cost=12,
            examples=(instances.FROM_BASIN,),
            siblings={
                **DROPPED_HYPOTHESES,
                "95% of the exponent": changed(share="0.95"),
                "105% of the exponent": changed(share="1.05"),
            },
        ),
    },
)

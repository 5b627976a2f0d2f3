"""The rank of the Att-SVM solutions, Frobenius and nuclear norm, against n, T and d.

"Low-rank factorization and nuclear norm ... (K, Q) in S(X Q K^T X^T) X V is factorization of W =
QK^T." So the nuclear norm makes (K, Q) low-rank. literal-1 reads this as a bound by the sizes: W^mm
= sum_i e_i z_i^T, e_i being the weighted differences. Only those with a positive multiplier count
(sharp). literal-2 compares the norms on the same data. It fails for three inputs in the plane and
mirrored pairs (u, +-8), (v, +-8): u^T W v >= 1 holds for the Frobenius solution W alone. In amended
||W'||_* >= ||W'||_F >= ||W^mm||_F = ||W^mm||_* for feasible W'.
"""

from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import FEASIBLE, LINEAR_HEAD
from attsvm.primitives.steps import headed
from attsvm.strategies.data import attention_data, ragged, separable_data
from attsvm.theory import Reading, Records, Statement, changed
from properties._support.published_data import one_input
from properties.tf import SOURCE
from properties.tf._support.regularisation_paths import TURNED_BY_LABELS
from properties.tf.svm_rank.rank_estimates import (
    MIRRORED,
    NUCLEAR,
    RANK_ONE,
    by_carriers,
    by_size,
    protocol,
)

ONE_TOKEN = AttentionData.of([[[1]]], [[1]], scores=[[0]])


LESS = {
    "a smaller rank": changed(less=1),
    "a rank of at most 1": changed(most=1, examples=[TURNED_BY_LABELS.data]),
}
RANK = Statement(
    "tf/svm-rank",
    source=SOURCE,
    place="Connections to Core ML 3, SVM for (K,Q)-ERM",
    printed="Low-rank factorization and nuclear norm ... (K, Q) in S(X Q K^T X^T) X V is "
    "factorization of W = QK^T",
    variables=Records(AttentionData, ragged(separable_data()), protocol),
    conclusion=by_size,
    violating={
        FEASIBLE: Records(AttentionData, attention_data()),
        RANK_ONE: [MIRRORED],
    },
    readings={
        "literal-1": Reading(
            "proved",
            read={"Low-rank": "of a rank bounded by the sizes"},
            proof="symbolic.tf.svm_rank:prove_by_size",
            under=(FEASIBLE,),
            tight=True,
            examples=(one_input(), ONE_TOKEN),
            siblings={
                "one less on the right side": changed(less=1),
                "a rank of at most 1": changed(most=1),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.svm_rank:prove",
            under=(FEASIBLE,),
            conclusion=by_carriers,
            tight=True,
            examples=(one_input(),),
            siblings={"one less on the right side": changed(less=1)},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"Low-rank": "of no larger rank than the Frobenius solution"},
            under=(LINEAR_HEAD, FEASIBLE),
            variables=Records(AttentionData, headed(ragged(separable_data())), protocol),
            conclusion=NUCLEAR,
            examples=(MIRRORED, ONE_TOKEN),
            siblings=LESS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.svm_rank:prove_rank_one",
            under=(RANK_ONE,),
            conclusion=NUCLEAR,
            examples=(one_input(),),
            siblings={"rank 0": changed(less=1)},
        ),
    },
)

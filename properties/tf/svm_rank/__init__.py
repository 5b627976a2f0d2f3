"""The rank of the Att-SVM solutions, Frobenius and nuclear norm, against n, T and d.

"Low-rank factorization and nuclear norm ... (K, Q) in S(X Q K^T X^T) X V is factorization of W =
QK^T." So the nuclear norm makes (K, Q) low-rank. literal-1 reads this as a bound by the sizes: W^mm
= sum_i e_i z_i^T, e_i being the weighted differences. Only those with a positive multiplier count
(sharp). literal-2 compares the norms on the same data. It fails for three inputs in the plane and
mirrored pairs (u, +-8), (v, +-8): u^T W v >= 1 holds for the Frobenius solution W alone. In amended
||W'||_* >= ||W'||_F >= ||W^mm||_F = ||W^mm||_* for feasible W'.
"""

from flint import fmpq_mat

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.numbers import subtract
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.hypotheses import FEASIBLE, LINEAR_HEAD
from attsvm.primitives.steps import headed
from attsvm.strategies.data import attention_data, ragged, separable_data
from attsvm.theory import Hypothesis, Measured, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace
from properties._support.published_data import one_input
from properties.tf import SOURCE
from properties.tf._support.regularisation_paths import TURNED_BY_LABELS
from properties.tf.svm_rank.rank_estimates import MIRRORED, certified, compare, protocol, written

ONE_TOKEN = AttentionData.of([[[1]]], [[1]], scores=[[0]])


def rank_one(data: AttentionData) -> bool:
    """Return whether the Frobenius solution has rank 1."""
    svm = exact_att_svm(data)
    return svm is not None and svm.rank == 1


@stated(
    "",
    r"\mathrm{rank} W^{mm} \le $most - $less",
    {"most": {None: r"\min(n, d)", 2: r"\min(n, d, 2)", 1: r"\min(n, d, 1)"}},
)
def by_size(
    m: Namespace, data: AttentionData, less: int = 0, most: int | None = None
) -> Comparison:
    sizes = [data.n, data.d] if most is None else [data.n, data.d, most]
    return at_most(m, data, min(sizes) - less)


@stated(
    "",
    r"\mathrm{rank} W^{mm} \le r - $less",
    where="r is the lesser rank of the queries z_i and of the differences x_opt - x_t, of tokens "
    "of positive multiplier alone",
)
def by_carriers(m: Namespace, data: AttentionData, less: int = 0) -> Comparison:
    solved, exact = exact_att_svm(data), ExactData.of(data)
    if solved is None or not solved.A:
        return at_most(m, data, 0)
    rows = [
        (subtract(tokens[best[0]], token), z)
        for tokens, z, best in zip(exact.X, exact.Z, exact.optimal, strict=True)
        for t, token in enumerate(tokens)
        if t != best[0]
    ]
    used = [row for row, dual in zip(rows, solved.duals.values(), strict=True) if dual != 0]
    ranks = [fmpq_mat([list(row) for row in side]).rank() for side in zip(*used, strict=True)]
    return at_most(m, data, min(ranks) - less)


def at_most(m: Namespace, data: AttentionData, bound: int) -> Comparison:
    """Return that the rank of W^mm, which is 0 if nothing is constrained, is at most a bound."""
    solved = exact_att_svm(data)
    if solved is None:
        return m.below(m.exact(0), m.exact(0))  # there is no W^mm
    return m.at_most(m.exact(solved.rank), m.exact(bound))


NUCLEAR = Measured(
    "some nuclear-norm solution W_* has $formula",
    notation=r"\mathrm{rank} W_* \le $most - $less",
    symbols={
        "most": {
            None: r"\mathrm{rank} W^{mm}",
            1: r"\min\left(1, \mathrm{rank} W^{mm}\right)",
        }
    },
    floats=compare,
    balls=certified,
    checked=written,
)

RANK_ONE = Hypothesis("the Frobenius solution has rank 1", rank_one)

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
            "holds",
            read={"Low-rank": "of a rank bounded by the sizes"},
            proof="symbolic.tf.svm_rank:prove",
            under=(FEASIBLE,),
            tight=True,
            examples=(one_input(), ONE_TOKEN),
            siblings={
                "one less on the right side": changed(less=1),
                "a rank of at most 1": changed(most=1),
            },
        ),
        "sharp": Reading(
            "holds",
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
            "holds",
            proof="symbolic.tf.svm_rank:prove_rank_one",
            under=(RANK_ONE,),
            conclusion=NUCLEAR,
            examples=(one_input(),),
            siblings={"rank 0": changed(less=1)},
        ),
    },
)

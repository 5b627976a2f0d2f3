"""For the authors: the order of the paper's statements, and errata of those that do not stand."""

from __future__ import annotations

from attsvm.theory.report.errata import Source
from properties.sim.errata.constants import CONSTANTS
from properties.sim.errata.formulas import FORMULAS
from properties.sim.errata.training import TRAINING

SIM = Source(
    "sim",
    order=(
        "sim/attention-shape",
        "sim/fixed-head",
        "sim/l2-objective",
        "sim/kq-bias",
        "sim/loss-assumptions",
        "sim/token-sparsity",
        "sim/token-separation",
        "sim/stability-logistic",
        "sim/stability-l2",
        "sim/tensor-trick",
        "sim/definition-3.3",
        "sim/definition-3.6",
        "sim/printed-loss",
        "sim/definition-3.8",
        "sim/orientation",
        "sim/lemma-3.11",
        "sim/lemma-3.12",
        "sim/lemma-3.13",
        "sim/lemma-3.13-hessian",
        "sim/lemma-3.13-l2",
        "sim/lemma-3.13-log-loss",
        "sim/theorem-3.14-part-1",
        "sim/theorem-3.14-part-2",
        "sim/self-attention",
        "sim/theorem-3.15",
        *(f"sim/basic-{k}" for k in range(1, 8)),
        "sim/logistic-lipschitz",
        "sim/often-unsolvable",
        "sim/definition-4.1",
        "sim/figure-1",
        "sim/figure-2",
    ),
    errata=(*FORMULAS, *CONSTANTS, *TRAINING),
    names={
        "AttentionData.X": "tokens",
        "AttentionData.Z": "queries",
        "AttentionData.y": "labels",
        "AttentionData.v": "head",
        "Run.start": "X(0)",
        "Queried.sequence": "sequence of each query",
        "SelfAttention.tokens": "sequences",
        "SelfAttention.start": "X(0)",
        "Soft.move": "V",
        "Soft.keep": "rival X^mm + V|rival V",
        "Trained.start": "X(0)",
        "Spoken.sentences": "sentences by index",
        "Spoken.start": "X(0)",
        "Spoken.whole": "tokens: the vocabulary|tokens: those said so far",
    },
    notes=(
        "The main text prints informal versions (3.12 of lemma F.4, 3.13 of F.9, 3.14 of theorem "
        "G.4, 3.15 of theorem G.5), and the copy at hand has no appendix: these errata judge the "
        "main text alone, and a condition that they miss may be stated there.",
        "Not defined in the main text either: L(X) of definition 3.7 from L_{l0,j0,i0} (sum or "
        "mean, over which indices; over all i0 each row of attention has d heads that compete; the "
        "readings take the mean over inputs with one head each); L_X, L_x and X-GD in theorems "
        "3.14 and 3.15 (read: a Lipschitz constant of the gradient, and W-GD); W^mm and z_i in "
        "assumption 3.10 (read: X^mm, and the query of input i). Bound seven of section 3.3 has "
        "lost its norm and a transpose.",
    ),
    notation={
        "g": "The logistic function 1 / (1 + exp(-x)).",
        "l": "A decreasing loss of the score, such as g(-u) or log(1 + exp(-u)).",
        "/n, n inputs": "In thresholds n counts inputs, the problems of one query each; in sizes n "
        "is the length of a sentence, as in the paper.",
        "W": "K Q^T, for K and Q of shape d x d; the paper prints QK^T.",
        "L_X": "A Lipschitz constant of the gradient of the risk.",
        "A_j": "(x_opt - x_t) z^T, one a constraint of Att-SVM; A_{l0,j0} is a block of A1 kron "
        "A2.",
        "X^mm": "The solution of Att-SVM of least Frobenius norm.",
        "E_21": "The matrix with a 1 in row 2, column 1, and 0 elsewhere.",
        "basin": "The starts whose risk gap is below the threshold: no optimal token is lost.",
    },
)

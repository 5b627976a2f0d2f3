"""For the authors: the order of the paper's statements, and errata of those that do not stand."""

from attsvm.theory.report.errata import Source
from properties._support.errata import placed
from properties._support.pictures import plane
from properties.sim.errata.claims import CLAIMS
from properties.sim.errata.constants import CONSTANTS
from properties.sim.errata.misprints import MISPRINTS
from properties.sim.errata.tokens import TOKENS

SIM = Source(
    "sim",
    order=placed(
        "sim",
        "attention-shape fixed-head l2-objective kq-bias loss-assumptions token-sparsity "
        "few-support-tokens token-separation hyperplanes stability-logistic stability-l2 "
        "tensor-trick definition-3.3 definition-3.6 printed-loss definition-3.8 "
        "large-dimension orientation lemma-3.11 lemma-3.12 lemma-3.13 lemma-3.13-hessian "
        "lemma-3.13-l2 lemma-3.13-log-loss theorem-3.14-part-1 theorem-3.14-part-2 "
        "self-attention theorem-3.15 low-score-tokens basic-1 basic-2 basic-3 basic-4 basic-5 "
        "basic-6 basic-7 logistic-lipschitz often-unsolvable definition-4.1 figure-1 figure-2",
    ),
    picture=plane,
    errata=(*CLAIMS, *TOKENS, *CONSTANTS, *MISPRINTS),
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
        "Default.run": "number of the run",
        "Default.whole": "tokens: the vocabulary|tokens: those said so far",
        "Signs.seed": "seed of samples",
        "RandomSentences.follow": "weights of successors",
        "TokenSequences.sentences": "sentences by index",
        "TokenSequences.start": "X(0)",
        "TokenSequences.whole": "tokens: the vocabulary|tokens: those said so far",
    },
    notes=(
        "The main text prints informal versions: lemma 3.12 of F.4, lemma 3.13 of F.9, theorem "
        "3.14 of G.4, theorem 3.15 of G.5. The copy at hand has no appendix: the main text alone "
        "is judged, and a missed condition may stand in the formal version. The copy lacks "
        "the formula of definition 3.8, the minus signs of section 3.3, and in its bound seven a "
        "norm and a transpose.",
    ),
    notation={
        "g": "The logistic function 1 / (1 + exp(-x)).",
        "printed loss": "g(b <f, h>) of definition 3.6, which increases in the score.",
        "decreasing loss": "g(-b <f, h>), which falls with the score; of other losses see the "
        "assumptions on the loss.",
        "basin": "The starts whose risk gap is below min_i [l(second score) - l(best score)]/n "
        'over inputs of two tokens or more. "From the basin" supposes a decreasing loss, unique '
        "optimal tokens, a feasible Att-SVM, an input of two tokens and steps of at most 1/L_X; "
        "then no optimal token is lost.",
        "risk gap": "The risk minus its infimum.",
        "logits": "x_t^T X z wherever training is judged, as in Att-SVM; see orientation.",
        "n": "The length of a sentence, as in the paper; of inputs and in thresholds /n their "
        "number, with one query each.",
        "W": "K Q^T, for K and Q of shape d x d; the paper prints QK^T.",
        "L_X": "A Lipschitz constant of the risk's gradient over all X, also for L_x; the main "
        "text defines neither.",
        "X-GD, W^mm, z_i, T, B": "Not defined in the main text. Read: W-GD (theorem 3.15), X^mm "
        "and the query of input i (assumption 3.10), n and the label (definition 3.9).",
        "L(X)": "Of definition 3.7, not defined from L_{l0,j0,i0}. Read: the mean over inputs of "
        "one head each.",
        "A_j": "(x_opt - x_t) z^T, one a constraint of Att-SVM; A_{l0,j0} is a block of A1 kron "
        "A2.",
        "X^mm": "The solution of Att-SVM of least Frobenius norm.",
        "rival": "A token other than its input's optimal one, the first where several are.",
        "support vector": "A rival whose margin is 1 under X^mm.",
        "entry": "Of self-attention: a position and a column of a sequence with a label not 0.",
        "aligned": "Inputs (or entries of self-attention) with <A_j, A_k> >= 0 for all constraints "
        "j, k of different ones.",
        "E_21": "A 1 in row 2, column 1; else 0.",
    },
)

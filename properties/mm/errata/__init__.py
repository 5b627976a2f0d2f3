"""For the authors of the talk: the order of its statements, and errata of those that fall."""

from attsvm.theory.report.errata import Source
from properties._support.errata import placed
from properties._support.pictures import plane
from properties.mm.errata.claims import CLAIMS
from properties.mm.errata.conditions import CONDITIONS

MM = Source(
    "mm",
    order=placed(
        "mm",
        "optimal-tokens p-svm v-svm joint-svm theorem-1-norm theorem-1-direction loss-choice "
        "normalised-descent assumption-b theorem-2 w-p-equivalence general-data "
        "nonlinear-head-path",
    ),
    picture=plane,
    errata=(*CLAIMS, *CONDITIONS),
    names={"Descent.start": "p(0)", "Paced.start": "p(0)"},
    notes=(
        "Judged are the slides and the abstract of the paper (NeurIPS 2023), word for word. The "
        "slides state two theorems without their conditions on the start, the step and the tokens; "
        "a condition that is missed here may stand in the paper.",
        "Slips of the slides that change nothing: attention is S(X Q K^T Z^T) X V, while K Q^T is "
        "what W replaces; keys are K_i = X_i W^T, while the abstract has softmax(X W p); theorem I "
        "descends on p alone, and writes v(k) for the fixed v.",
    ),
    notation={
        "X, W, keys, alpha": "Tokens x_it, a list an input; the fixed weights; keys K_i = X_i W^T "
        "as on the slides; the selected tokens, counted from 0. Where keys are given they alone "
        "matter. In w-p-equivalence logits are X W p.",
        "y, v, scores": "Labels Y_i and the head v, or the scores gamma_it = Y_i v^T x_it.",
        "loss": "correlation: -u; log-loss: log(1 + exp(-u)); exponential: exp(-u); hinge: max(0, "
        "1 - u). Readings write x for u.",
        "A, b, phi, h, q": "A head h_i(x) = sum_k b_ik phi(<a_k, x>), a_k the rows of A. In "
        "theorem-2 h is a head v; in optimal-tokens q is a second prompt, in p-svm W^T q the head.",
        "l' < 0": "The slope of the loss is negative everywhere; under assumption A it may be 0 at "
        "a point.",
        "best, second, L_*": "The highest score of an input, the next lower one, and the risk "
        "(1/n) sum_i l(best).",
        "locally optimal": "p(alpha) exists, and other tokens of margin 1 under it score less than "
        "alpha.",
        "Gamma": "1/||v(alpha)||, the largest label margin of a head of norm 1 on the selected "
        "tokens.",
        "basin": "The starts p(0) with L(p(0)) - L_* < min_i [l(second) - l(best)]/n, over inputs "
        'with two different scores. "From the basin" supposes l\' < 0, unique optimal tokens '
        "alpha, a p(alpha) that exists and is not 0, and steps of at most 1/L.",
        "L, 1/L": 'The risk; in steps of at most 1/L, "proper" ones, a Lipschitz constant of '
        "grad_p L.",
    },
)

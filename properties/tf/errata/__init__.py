"""For the authors of the talk: the order of its statements, and errata of those that fall."""

from attsvm.theory.report.errata import Source
from properties._support.errata import placed
from properties._support.pictures import plane
from properties.tf.errata.claims import CLAIMS
from properties.tf.errata.conditions import CONDITIONS

TF = Source(
    "tf",
    order=placed(
        "tf",
        "few-tokens softmax-range convex-combination svm-rank definition-1 lemma-2 "
        "lemma-2-limit theorem-2 theorem-3 definition-2 local-convergence "
        "all-support-no-stationary all-support-divergence all-local-unique "
        "overparameterisation global-conjecture global-equal-scores global-initial-gradient "
        "linear-head-one-token nonlinear-head-several generalised-svm parameterisation-bias "
        "vanishing-regularisation benign-landscape",
    ),
    picture=plane,
    errata=(*CLAIMS, *CONDITIONS),
    names={"Descent.start": "W_0", "Local.start": "W_0", "Step.start": "W_0", "Step.size": "step"},
    notes=(
        "Judged are the slides and the two abstracts that go with them, word for word. The slides "
        'call their main results "simplified" and refer to the papers (arXiv 2308.16898, NeurIPS '
        "2023) for cones, conditions and the global conjecture: a condition that is missed here "
        "may stand there. The global conjecture is named on a slide and not printed: "
        "its literal readings are what the slide suggests, and their fall says nothing of the "
        'conjecture in the paper. "Observation", "explains", "approximately equal" and "no '
        'rigorous theory yet" are repeated where they are printed.',
        "Slips of the slides that change nothing: f(X) has S(X Q K^T X^T) on one slide and S(X K "
        "Q^T x_1) on the next, and W is called QK^T under connections and KQ^T elsewhere; the sum "
        "in the softmax uses the letter t of the entry; the Att-SVM of the slide on global "
        "convergence has x_(i alpha_i) for x_(i opt_i); definition 2 uses the sets T_i, and an "
        "index t, without saying what they are; the complement of O_i is written T - O_i; W_fin "
        "of one slide is W_cor on the next.",
    ),
    notation={
        "X, Z, W, alpha": "Tokens x_it, a list an input; queries z_i; the attention weights; the "
        "chosen tokens, counted from 0. The logit of a token is x_it^T W z_i.",
        "y, v, scores": "Labels Y_i and the head v, or the scores gamma_it = Y_i v^T x_it where "
        "labels and head that have them can be chosen.",
        "loss": "correlation: -u; log-loss: log(1 + exp(-u)); exponential: exp(-u); hinge: max(0, "
        "1 - u); cubic: -u^3, strictly decreasing with slope 0 at u = 0.",
        "A, b, phi, kept": "A head h(x) = sum_k b_k phi(<a_k, x>), a_k the rows of A; in "
        "generalised-svm h(x) = b <a, x>^2, and the tokens that are kept.",
        "w, a": "Attention in definition-1 is in proportion to w_t^2; in nonlinear-head-several it "
        "is S(a).",
        "length, share": "The first step R and the s of repairs; as printed they do not enter.",
        "l' < 0": "The slope of the loss is negative everywhere, or at the scores that are named. "
        "A strictly decreasing loss may have slope 0 at a point.",
        "best, second, L_*": "The highest score of an input, the next lower one, and the risk "
        "(1/n) sum_i l(best).",
        "W^mm, W^mm(alpha)": "The solutions of the Att-SVM and of the Local-SVM of alpha.",
        "locally optimal": "W^mm(alpha) exists, and each other token of margin 1 under it scores "
        "less than that of alpha: definition 2, with t over the support indices.",
        "support vector": "A token on the margin: (x_opt - x_t)^T W^mm z = 1, whether it has a "
        "multiplier or not.",
        "basin": "The starts W_0 with L(W_0) - L_* < min_i [l(second) - l(best)]/n, over inputs "
        'with two different scores. "From the basin" supposes l\' < 0, unique optimal tokens, a '
        "feasible Att-SVM, an input of two tokens and steps of at most 1/L; then no optimal token "
        "is lost.",
        "L, 1/L": "The risk. In a step of at most 1/L it is a Lipschitz constant of the risk's "
        "gradient; the slides name no step eta.",
    },
)

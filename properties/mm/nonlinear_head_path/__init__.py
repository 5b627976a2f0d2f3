"""The regularisation path of a prompt is max-margin for some nonlinear heads.

"We also provide a broader regularization path analysis that establishes the margin maximizing
nature of attention even for nonlinear prediction heads." (abstract; the talk has no theorem on it.)

The path is p_R = argmin L(p) over ||p|| <= R. p(alpha) is the least prompt that separates the
selected tokens alpha_i, which are numbered 1 here. For a head with one hidden layer h_i(x) = sum_k
b_ik phi(<a_k, x>) is Y_i times the head, with b_ik = Y_i b_k. q_i is the attention of input i to
other tokens than the first. If p_R/R tends to p(alpha)/||p(alpha)||, all margins along the path
tend to infinity and L(p_R) to L_*, the risk at the tokens alpha. So no prompt may have a risk below
L_*. `literal-1` falls for h(x) = -x^2 and tokens 1, -2: p = 0 is better than both tokens, and (ln
2)/3, whose output is 0, is the best prompt for every R >= (ln 2)/3. A single best token in each
input does not suffice either. If h leaves its best token with slope 0, L - L_* falls like the
square of q (`literal-2`). Then inputs with and without such a token share the ball in another
proportion, as for l(u) = -u^3 in `tf/theorem-2`.

The analysis needs L - L_* to be of the order of q. Then -ln(L - L_*) is the least margin up to a
constant, as for linear heads, and the path is that of the p-SVM. L - L_* is of this order for
convex h_i with a single best token, as h_i then falls from it towards every other token. The same
is true of concave h_i that fall towards every other token (`amended-2`). A convex head, such as
ReLU with b_k >= 0, has convex h_i for the label 1 and concave ones for -1. The bounds of
`amended-2` are evaluated; the limit follows from them as in `tf/theorem-2`. Of other heads nothing
is shown but these two counterexamples.
"""

from attsvm.primitives.heads import ACTIVATIONS
from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Defined,
    Integer,
    Matrix,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
)
from properties._support.risk_formulas import (
    CONVEX_PHI,
    DECREASES,
    ONE_SLOPED_LOSS,
    SEVERAL,
    family,
)
from properties.mm import SOURCE
from properties.mm.nonlinear_head_path import conclusion, instances
from properties.mm.nonlinear_head_path.conclusion import BEST, RISING, SIGN, STEEP

DECREASING = {name: loss for name, loss in LOSSES.items() if loss.decreasing}

PATH = Statement(
    "mm/nonlinear-head-path",
    rests_on=("mm/optimal-tokens", "mm/p-svm"),
    source=SOURCE,
    place="Abstract",
    printed="a broader regularization path analysis that establishes the margin maximizing nature "
    "of attention even for nonlinear prediction heads",
    variables={
        "n": Integer(1, 2),
        "T": Integer(1, 4),
        "d": Integer(1, 3),
        "K": Integer(1, 2),
        "X": Tensor(("n", "T", "d")),
        "W": Matrix("d", "d"),
        "p": Vector("d", (0, 2)),
        "A": Matrix("K", "d"),
        "b": Matrix("n", "K"),
        "phi": Choice(ACTIVATIONS),
        "loss": ONE_SLOPED_LOSS,
        "s": Defined(lambda m, v: m.array([m.softmax(X @ (v.W.T @ v.p)) for X in v.X])),
    },
    conclusion=conclusion.no_better,
    cost=4,
    violating={SEVERAL: [instances.ONE_TOKEN]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            under=(BEST,),
            variables={"loss": Choice(DECREASING)},
            examples=(instances.INSIDE,),
            siblings={
                "n (L(p) - L_*) >= sum_i [l(h_i - d_i q_i/2) - l(h_i)]": changed(share="0.5")
            },
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"regularization path analysis": "the analysis of linear heads"},
            constants={"share": 1},
            under=(BEST,),
            variables={"loss": Choice(DECREASING)},
            examples=(instances.LEVEL,),
            siblings={"2 d_i in place of d_i": changed(share=2, examples=[instances.ONE_SIDED])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.mm.no_better_prompt:prove",
            under=(CONVEX_PHI, RISING, BEST, DECREASES),
            variables={"loss": Choice(LOSSES)},
            examples=(
                instances.ONE_SIDED,
                instances.BOTH_LABELS,
                instances.ONE_TOKEN,
                instances.TIED,
            ),
            siblings={
                "n (L(p) - L_*) >= sum_i [l(h_i - 2 d_i q_i) - l(h_i)]": changed(
                    share=2, examples=[instances.ONE_SIDED]
                ),
                "b_k of any sign": changed(drop=[RISING], examples=[instances.INSIDE]),
                "phi need not be convex": changed(drop=[CONVEX_PHI], examples=[instances.BENT]),
                "a loss that turns upwards": changed(
                    drop=[DECREASES], variables=family("squared"), examples=[instances.TURNING]
                ),
            },
        ),
        "amended-2": Reading(
            "holds",
            proof="symbolic.mm.nonlinear_head_path:prove_path",
            under=(CONVEX_PHI, SIGN, STEEP, SEVERAL),
            conclusion=conclusion.between,
            examples=(instances.ONE_SIDED, instances.BOTH_LABELS, instances.BOTH_BENT),
            siblings={
                "1.05 d in place of d": changed(low="1.05"),
                "0.95 D in place of D": changed(high="0.95"),
                "b_k of any sign": changed(drop=[SIGN], examples=[instances.SADDLE]),
                "phi need not be convex": changed(drop=[CONVEX_PHI], examples=[instances.SIGMOID]),
                "another token may be as good": changed(drop=[STEEP], examples=[instances.TIED]),
            },
        ),
    },
)

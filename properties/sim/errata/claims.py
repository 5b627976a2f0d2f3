"""Errata that turn a theorem or a claim of the text round."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata as made
from properties.sim import (
    definition_3_6,
    definition_3_8,
    figure_1,
    figure_2,
    fixed_head,
    kq_bias,
    loss_assumptions,
    often_unsolvable,
    orientation,
    printed_loss,
    self_attention,
    stability_l2,
    stability_logistic,
    theorem_3_14_part_1,
    theorem_3_14_part_2,
    theorem_3_15,
    token_separation,
    token_sparsity,
)

erratum = partial(made.erratum, weight=Weight.CLAIM)

RUNS = 5
RISING, COSINES, MEANS = (5, 2), (0.85, 0.81), (0.82, 0.83)
"""`attsvm reproduce sim/figure-1`, seed 0, tokens of the sub-sequence and of the vocabulary: runs
whose cosine rises at all recorded steps, its final mean, and that of the mean difference."""

POSITIVE, PRINTED = ("264 of 286", "3517 of 3800"), (45, 179)
"""`attsvm reproduce sim/figure-2`, seed 0."""

CROSSED = float(stability_logistic.LOWER), float(stability_logistic.UPPER)
CROSSED_L2 = float(stability_l2.LOWER), float(stability_l2.UPPER)

CLAIMS = (
    erratum(
        definition_3_6.DEFINITION,
        fell="the sign of the printed loss",
        gist="The printed loss increases in the score, so that descent leaves the optimal "
        "tokens. This sign alone refutes theorem 3.14, the direction in theorem 3.15, token "
        "separation and both figures.",
        printed="L = g(b <f, h>) is minimised; optimal tokens have the highest score (definition "
        "3.9).",
        fails="The expected score b <f, h> falls: with scores 1, 0 attention leaves the first "
        "token. With a decreasing loss it rises, but the weight of the optimal tokens may fall, "
        "to the good of the second best.",
        repair="Take a decreasing loss. Along its negative gradient the expected score does not "
        "fall, nor does the weight of the optimal tokens where all rivals score the same.",
        stands=("amended-2", "amended-3"),
    ),
    erratum(
        theorem_3_14_part_1.THEOREM,
        gist="Convergence under part 1 of assumption 3.10 is false, with a decreasing loss too; "
        "from the basin it is proved.",
        printed="If all tokens are support vectors, W-GD with eta <= 1/L_X from any X(0) has "
        "X(k)/||X(k)||_F -> X^mm/||X^mm||_F.",
        fails="With the printed loss <X, X^mm> falls at every step. With a decreasing one and "
        "X(0) = 0 an input of a larger score gap drags another one to its worse token for ever "
        "(amended-1), and a single input may end at its second-best token (amended-3). One token "
        "an input gives X^mm = 0, which has no direction.",
        repair="Start in the basin; then neither part of assumption 3.10 is needed. With a "
        "decreasing loss and a single input of two or three tokens, the best one unique and the "
        "second best a support vector, any start will do; four tokens are the least that fail.",
        stands=("amended-2", "sharp"),
        telling={"literal": 0, "amended-1": 1, "amended-3": 1},
    ),
    erratum(
        theorem_3_14_part_2.THEOREM,
        gist="Convergence under part 2 of assumption 3.10 is false too; with a decreasing loss "
        "it is proved from the basin, and for a single input.",
        printed="If all rivals of an optimal token score the same, W-GD with eta <= 1/L_X from "
        "any X(0) has X(k)/||X(k)||_F -> X^mm/||X^mm||_F.",
        fails="With the printed loss <X, X^mm> falls at every step. With a decreasing one and "
        "X(0) = 0 an input of a larger score gap drags another one to its worse token for ever "
        "(amended-1). Nor does anything ask for a feasible Att-SVM, without which there is no "
        "X^mm.",
        repair="With a decreasing loss, a feasible Att-SVM and an input of two tokens, a single "
        "input may start anywhere. Several start in the basin, where equal scores are not "
        "needed; or from zero, if they are two of two tokens with the same two scores. Three such "
        "inputs may fail from zero, and so may two of three tokens.",
        stands=("amended-2", "amended-3", "amended-4"),
        telling={"literal": 0, "amended-1": 1},
    ),
    erratum(
        self_attention.THEOREM,
        gist="Theorem 3.14 is false on the paper's own data too: self-attention, causal or not, "
        "with every token a query.",
        printed="Under assumption 3.10 W-GD from any X(0) has X(k)/||X(k)||_F -> "
        "X^mm/||X^mm||_F (theorem 3.14). Read: with the loss summed over sequences, positions and "
        "columns of the values.",
        fails="With the printed loss X(k) runs to -infinity for the sequence 1, 2. With a "
        "decreasing one, identity values, one-hot labels and X(0) = 0 a position is dragged to its "
        "worse token, for X(k) and for its transpose, though both parts of assumption 3.10 hold: "
        "in one sequence of two tokens, or in two causal ones.",
        repair="With a decreasing loss and a feasible Att-SVM of all entries X(k)^T has the "
        "direction of X^mm from the basin; and, where rivals score the same, from any start if "
        "entries are aligned, as in one sequence of orthogonal tokens.",
        stands=("amended-3", "amended-4"),
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        printed_loss.LOSS,
        gist="Descent on the loss as printed converges, from its own basin, to the max-margin "
        "solution of the tokens of lowest score.",
        printed='"gradient descent converges to the optimal solution for SVM" (abstract), on '
        "L = g(b <f, h>) with the increasing g of definition 3.5.",
        fails="g(b <f, h>) is the decreasing loss g(-u) for the labels -b. Under assumption 3.10 "
        "every step lowers the inner product with X^mm, from every start. Nor is -X^mm the limit: "
        "with three tokens the middle one is a rival of the worst as well as of the best.",
        repair="X(k)^T has the direction of the solution X^low for the tokens of lowest score, and "
        "a norm like ||X^low|| ln k, from the basin of these tokens. It is that of -X^mm where "
        "entries have two tokens. For X^mm take g(-b <f, h>) or log(1 + exp(-b <f, h>)).",
        stands=("amended-3", "amended-4", "amended-5", "sharp"),
        telling={"literal": 0},
    ),
    erratum(
        loss_assumptions.THEOREM,
        gist="What the loss has to meet is not said; a negative, continuous slope is "
        "enough for one input, and the sign is needed.",
        printed='"we relax their assumption of the loss function\'s derivative and Lipschitz" '
        "(section 2; likewise the abstract).",
        fails="Without a sign of l' theorem 3.14 fails by the printed loss. A strictly decreasing "
        "loss is not enough: -u^3 has slope 0 at the score 0, where X(0) = 0 stays for ever. Both "
        "need no more than one input of two tokens.",
        repair="Ask for l' < 0 and l' continuous between the lowest and the highest score, with "
        "several inputs l'' too, and a start in the basin. The loss may be unbounded, not convex, "
        "and not Lipschitz: -u, g(-u), exp(-u).",
        stands=("amended-1", "amended-2"),
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        theorem_3_15.THEOREM,
        gist="No delta is small enough, as two tokens an input leave nothing to compare. An "
        "explicit one does where inputs are aligned; from the basin none is needed.",
        printed="For every X(0) there is delta > 0 such that |gamma_it - gamma_i,tau| <= delta "
        "for all rivals implies of X-GD with eta <= 1/(2 L_x) that ||X(k)||_F diverges and "
        "X(k)/||X(k)||_F -> X^mm/||X^mm||_F.",
        fails="Norm: two inputs of opposite queries have gradient 0 at X(0) = 0, and no X^mm. "
        "Direction: the printed loss rises with the score, so that descent leaves the optimal "
        "tokens. With a decreasing one, unique optimal tokens, a feasible Att-SVM and X(0) = 0 an "
        "input of a larger score gap drags another one to its worse token for ever (amended-1).",
        repair="(a) With a decreasing loss, a feasible Att-SVM, an input of two tokens, aligned "
        "inputs and steps of at most 1/L, L the mean of the inputs' constants, "
        "delta_i below g_i s_i / (1 - s_i - s'_i) will do from any start, g_i the gap of the two "
        "best scores and s_i, s'_i the start's attention to these; 17/16 of it will not. (b) From "
        "the basin no delta is needed. (c) The norm diverges, with the printed loss too, where "
        "Att-SVM is feasible, rivals score the same and two scores of an input differ.",
        stands=("sharp-2", "amended-2", "amended-3"),
        telling={"literal-1": 0, "literal-2": 0, "amended-1": 0},
    ),
    erratum(
        definition_3_8.DEFINITION,
        gist="Att-SVM may be infeasible; then there is no X^mm to converge to.",
        printed="The formula is missing in the copy at hand. Read from assumption 3.10 and "
        "definition 4.1: X^mm is the least ||X||_F with (x_opt - x_t)^T X z >= 1 for all t other "
        "than opt.",
        fails="The constraints may contradict each other, also where optimal tokens are unique "
        "(section 4 mentions it): one query with opposite labels asks X >= 1 and -X >= 1.",
        repair="State feasibility; where optimal tokens are unique some u with y_i u^T z_i > 0 for "
        "every i is enough. A feasible programme is convex and its X^mm unique.",
        stands=("amended", "literal-1", "sharp-1"),
        telling={"literal-2": 1},
    ),
    erratum(
        often_unsolvable.OFTEN,
        gist="X^mm often does not exist, but not because tokens cannot be separated: a query asks "
        "for two different next tokens, which no dimension helps.",
        printed='The vanilla formulation of X^mm "is often unsolvable due to the non-existence of '
        'linear separability of tokens" (section 4).',
        fails="Often it is, but not for that reason. Of the orthonormal tokens a and b each can be "
        'separated from the other, yet the sentences "a a" and "a b" ask of the query a for a '
        "before b and for b before a.",
        repair="Where the embeddings are independent, as from d = 20 on for 20 Gaussian tokens, "
        "there is no X^mm exactly where some query asks for tokens in a circle: over the whole "
        "vocabulary, where two optimal tokens of it differ. For sentences of two words the "
        "probability has a closed form; in lower dimension separability fails besides.",
        stands=("literal-1", "literal-3", "amended-1", "amended-2", "sharp"),
    ),
    erratum(
        orientation.MARGINS,
        orientation.TRAINING,
        fell="the orientation of print",
        gist="The X that is trained is the transpose of the X of Att-SVM; their cosine may be 0 "
        "for ever.",
        printed="Logits are a_j^T X a_t in definition 3.3, the query on the left; margins are "
        "(a_opt - a_t)^T X a_i in definition 4.1 and assumption 3.10, the query on the right. "
        "Section 4 compares X(k) with X^mm.",
        fails="With tokens (1, 1), (1, 0), query (1, 0) and X(0) = 0 the programme has X^mm = "
        "E_21, while every X(k) is a multiple of E_12, with a decreasing loss too.",
        repair="Transpose one of them, as in (a_opt - a_t)^T X^T a_i. Then margins are "
        "differences of logits, and the repaired theorem 3.14 applies.",
        stands=("amended-1", "amended-3"),
        telling={"amended-2": 0},
    ),
    erratum(
        kq_bias.BIAS,
        gist="With K and Q trained, QK^T need not converge to the Frobenius solution, not even "
        "from the basin; with W trained it does there (proved).",
        printed='"W = QK^T trained by gradient descent in the language modeling pretraining '
        'converge to the solution of SVM with the Frobenius norm objective" (section 1; also 2 '
        "and 5).",
        fails="With the printed loss W runs away, and from K = Q = 0 nothing moves. With a "
        "decreasing one trained K and Q fail in the basin too: on the instance of amended-1, "
        "whose risk is the same for W and W^T, K = Q stays so and W positive semidefinite, which "
        "X^mm is not.",
        repair="Train W itself, from the basin. With a decreasing loss K and Q reach the solution "
        "for one input of two tokens of different scores, with any constant step, where "
        "K^T D / ||D|| + Q^T z / ||z|| is not 0 for D = x_opt - x_t.",
        stands=("amended-2", "amended-3"),
        telling={"literal-1": 0, "literal-2": 0, "amended-1": 2},
    ),
    erratum(
        token_separation.SEPARATION,
        gist="Margins need not grow, nor end positive, with a decreasing loss either; from the "
        "basin they end so (proved).",
        printed='"all tokens are gradually separated during the training process". Read: the '
        "margins (x_opt - x_t)^T X z grow and end positive.",
        fails="With the printed loss the margin of tokens 1 and 0 falls for ever. With a "
        "decreasing one a single input, pushed away from its worst token, settles at the second "
        "best, and both margins fall.",
        repair="With a decreasing loss, a feasible Att-SVM, either part of assumption 3.10 and "
        "two different scores in some input, <X, X^mm>, the margins weighted by their "
        "multipliers, grows at every step from every start. From the basin every margin ends "
        "above every bound, the least one like ln k.",
        stands=("amended-3", "amended-4", "sharp-2"),
        telling={"literal-1": 0, "literal-2": 0, "literal-3": 0},
    ),
    erratum(
        token_sparsity.SPARSITY,
        gist="Tokens that are no support vectors have gradients other than 0. Att-SVM can do "
        "without them; in training they fade from the basin only.",
        printed='Tokens that are no support vectors "have zero gradients and can be safely '
        'disregarded during pretraining"; their gradients "effectively amount to zero".',
        fails="A token's coefficient in the gradient is 0 only where its score is the attended "
        "one, whatever its margin, and without it the gradient is another. Nor does its share "
        "vanish along training: the printed loss ends at the worst token, a decreasing one may "
        "settle at a token that is no support vector.",
        repair="X^mm is the same without these tokens. From the basin the share of a token of "
        "margin m > 1 falls like k^-(m - 1), just beyond the margin as slowly as one likes.",
        stands=("literal-3", "amended-2", "sharp-3"),
        telling={"literal-1": 0, "literal-2": 0, "literal-4": 0},
    ),
    erratum(
        stability_logistic.STABILITY,
        gist="On the same data softmax attention need not be more stable than linear attention. "
        "Over data of given norms its loss is, its gradient only for large |b| ||h||.",
        printed='Softmax attention is "more stable than linear attention" by the Lipschitz '
        "constants of the losses; none of linear attention is given.",
        fails="Where A^T h = 0 linear attention does not depend on x, so that on the same data "
        "it is false for the loss and for its gradient. Over all data with ||A|| <= R and ||h|| "
        "<= H it is true for the loss, but false for the gradient where |b| H is small: linear "
        "attention has b^2 R^2 H^2 / (6 sqrt 3), of second order in b.",
        repair="Compare over data of given norms. For the loss softmax attention has |b| R H / "
        "8, half of linear attention's |b| R H / 4, and both are attained. For the gradient it "
        f"holds for |b| H >= {CROSSED[1]:.4f} and fails for 0 < |b| H < {CROSSED[0]:.4f}.",
        stands=("literal-3", "sharp", "sharp-2", "sharp-3", "amended-2"),
    ),
    erratum(
        stability_l2.STABILITY,
        gist="With the l2 loss, too, softmax attention need not be more stable on the same "
        "data. Over data of given norms its loss is, its gradient only for "
        "small |b| / ||h||.",
        printed='Softmax attention is "more stable than linear attention" by the Lipschitz '
        "constants of the losses, with the l2 loss as well.",
        fails="Where A^T h = 0 linear attention does not depend on x, so that on the same data it "
        "is false for the loss and for its gradient, whatever |b|, ||h|| and R. Over data of "
        "given norms it is true for the loss, but false for the gradient with large labels: "
        "linear attention's 2 ||A||^2 ||h||^2 does not depend on b.",
        repair="Where ||h|| <= H and ||A||, ||A x|| <= R, R >= 4, the loss of softmax attention "
        "has at most ||A|| H (R H + |b|), half of linear attention's constant, and comes near "
        f"that as |b|/H grows. For the gradient it holds for |b| <= {CROSSED_L2[0]:.3f} H and "
        f"fails for |b| > {CROSSED_L2[1]:.3f} H.",
        stands=("amended-1", "amended-2", "literal-3", "sharp-1", "sharp-2", "sharp-3"),
    ),
    erratum(
        fixed_head.HEAD,
        gist="The head cannot be ignored: it decides which tokens are optimal.",
        printed='"H is a fixed linear prediction head that does not impact our analysis, we will '
        'ignore that".',
        fails="With values 1 and 0, H = -1 makes the second token optimal and reverses the "
        "gradient; a head that swaps two values does the same. Nor do sizes fit without it: "
        "Att(X) has n x d entries, the labels n x V.",
        repair="Absorb the head: with Y H for the value matrix Y all that is said of h(y) holds "
        "for h = A_3 (Y H) e_v. It may be ignored in column v where H e_v = c e_v with c > 0.",
        stands=("amended-1", "amended-2"),
        telling={"literal-2": 0},
    ),
    erratum(
        figure_1.FIGURE,
        gist="The cosine to X_soft need not grow, nor tend to 1, with a decreasing loss either; "
        "from the basin and for large C it tends to 1 (proved).",
        printed='"to validate the Theorem 3.15", the cosine of X(k) with X_soft at C = 10: "this '
        'observation still complies with our Theorem 3.15". Read: it grows, and tends to 1.',
        fails="With the printed loss X(k) may leave the direction of X_soft for ever. With a "
        "decreasing one and X(0) = 0 it need not reach it: where a token has several successors "
        "X(k) selects the most frequent one, while the slacks count the others too. Nor does "
        f"every step raise the cosine. Reproduced ({RUNS} runs, decreasing loss), it rises at "
        f"every recorded step in {RISING[0]} and {RISING[1]} runs (tokens of the sub-sequence, of "
        f"the vocabulary) and ends at {COSINES[0]} and {COSINES[1]}; the mean difference, which "
        f"no training enters, has {MEANS[0]} and {MEANS[1]}.",
        repair="From the basin and for C ||X^mm|| > max lambda, where X_soft is X^mm (definition "
        "4.1), the cosine tends to 1.",
        stands=("amended-3",),
    ),
    erratum(
        figure_2.FIGURE,
        gist="Margins need not end positive, with a decreasing loss from X(0) = 0 either; with "
        "one successor a token they grow.",
        printed='"the margin generally becomes larger and eventually converges to ... positive '
        'values". Read: all margins end positive; every step raises their mean; they have finite '
        "limits.",
        fails="With the printed loss margins fall for ever. With a decreasing one and X(0) = 0 "
        "two problems have the margins m and -m where a token a has the successors a and b "
        f"equally often. Reproduced ({RUNS} runs, decreasing loss), {POSITIVE[0]} and "
        f"{POSITIVE[1]} margins (sub-sequence, vocabulary) are positive after 10,000 steps; with "
        f"the printed loss {PRINTED[0]} and {PRINTED[1]}. Nor do margins converge.",
        repair="With one successor of each token, orthonormal tokens, the whole vocabulary and a "
        "decreasing loss every step raises every margin. From the basin all margins end above "
        "every bound, the least one like ln k.",
        stands=("amended-2", "amended-3", "sharp"),
        telling={"literal-1": 0, "literal-2": 0, "amended-1": 0},
    ),
)

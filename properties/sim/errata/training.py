"""Errata of what is said about training, and of the experiments."""

from __future__ import annotations

from properties.sim import (
    figure_1,
    figure_2,
    kq_bias,
    loss_assumptions,
    often_unsolvable,
    printed_loss,
    self_attention,
    theorem_3_14_part_1,
    theorem_3_14_part_2,
    theorem_3_15,
    token_separation,
    token_sparsity,
)
from properties.sim.errata.made import erratum

THRESHOLD = "min_i [l(second score) - l(best score)] over the number of inputs"
LOSS = (
    "The loss of definition 3.6, g(b <f, h>), increases in the score, so that descent lowers "
    "<X, X^mm> at every step"
)
ORIENTED = " Logits are x_t^T X z here: see orientation."
INFORMAL = '("Informal version of Theorem {}", which the copy at hand lacks.)'
PULLED = (
    "from X(0) = 0, two inputs of two tokens, one of which is dragged to its worse token for ever"
)

RUNS = 5
RISING, COSINES, MEANS = (5, 2), (0.85, 0.81), (0.82, 0.83)
"""`attsvm reproduce sim/figure-1`, seed 0, tokens of the sub-sequence and of the vocabulary: runs
whose cosine rises at all recorded steps, its final mean, and that of the mean difference."""

POSITIVE, PRINTED = ("264 of 286", "3517 of 3800"), (45, 179)
"""`attsvm reproduce sim/figure-2`, seed 0."""

TRAINING = (
    erratum(
        kq_bias.BIAS,
        printed='"W = QK^T trained by gradient descent in the language modeling pretraining '
        'converge to the solution of SVM with the Frobenius norm objective" (section 1; also '
        "sections 2 and 5).",
        fails="With the loss of definition 3.6 W runs away from the solution (see theorem 3.14), "
        "and from K = Q = 0 nothing moves. With a decreasing loss W itself converges from a start "
        "that cannot lose its optimal tokens, but with K and Q trained it need not even there: on "
        "the data of the third instance, whose risk is the same for W and W^T, K = Q stays so and "
        "W positive semidefinite, which X^mm is not; and from K = 1, Q = -1 on tokens 1, 0 it "
        "stays negative while X^mm = 1. (Here W = K Q^T, for K and Q of shape d x d.)",
        repair="Say that W itself is trained, on a decreasing loss, with steps of at most 1/L, "
        f"from a start whose risk exceeds the infimum by less than {THRESHOLD}. For trained K and "
        "Q the limit is the Frobenius solution where there is one input of two tokens, steps are "
        "at most 8 / (sup |l'| (gamma_opt - gamma_t) ||D|| ||z||) and K^T D / ||D|| + Q^T z / "
        f"||z|| is not 0, with D = x_opt - x_t.{ORIENTED}",
        stands=("amended-2", "amended-3"),
        telling={"amended-1": 2},
    ),
    erratum(
        loss_assumptions.THEOREM,
        printed='"we relax their assumption of the loss function\'s derivative and Lipschitz" '
        "(section 2; likewise the abstract).",
        fails="What is asked of the loss in its place is not said. Without a sign of l' theorem "
        "3.14 fails by the loss of definition 3.6 itself. A strictly decreasing loss is not enough "
        "either: -u^3 has the slope 0 at the score 0, where X(0) = 0 stays for ever. Both need no "
        "more than one input of two tokens.",
        repair="Ask for l' < 0 and l' Lipschitz between the lowest and the highest score of the "
        "tokens: attention returns no other score. Nothing else is needed: l may be unbounded, "
        "not convex, and not Lipschitz, such as -u, g(-u) and exp(-u).",
        stands=("amended-1", "amended-2"),
    ),
    erratum(
        theorem_3_14_part_1.THEOREM,
        printed="Under part 1 of assumption 3.10 (all tokens are support vectors), W-GD with eta "
        f"<= 1/L_X from any X(0) has X(k)/||X(k)||_F -> X^mm/||X^mm||_F. {INFORMAL.format('G.4')}",
        fails=f"{LOSS}, and X(k) leaves the optimal tokens. With the decreasing loss g(-b <f, h>) "
        f"the theorem still fails: {PULLED}, and so does a single input, of tokens (1, 0), (0, 3), "
        "(0, 1), (0, 0), query (1, 0), scores 2, 1, 0, -2 and X^mm = diag(1, 0), whose attention "
        "settles on the second token. (One token an input is not excluded either: X^mm = 0 has no "
        "direction.)",
        repair="Take a decreasing loss l, ask for some input of two tokens, and for a start whose "
        f"risk exceeds the infimum by less than {THRESHOLD}: no optimal token can be lost from it. "
        f"Neither part of assumption 3.10 is needed then: see theorem 3.15, (b).{ORIENTED}",
        stands=("amended-2",),
        telling={"literal": 0, "amended-1": 1, "amended-3": 1},
    ),
    erratum(
        theorem_3_14_part_2.THEOREM,
        printed="Under part 2 of assumption 3.10 (all rivals of an optimal token score the same), "
        "W-GD with eta <= 1/L_X from any X(0) has X(k)/||X(k)||_F -> X^mm/||X^mm||_F. "
        f"{INFORMAL.format('G.4')}",
        fails=f"{LOSS}. Nothing asks for a feasible Att-SVM. With the decreasing loss, feasibility "
        f"and an input of two tokens the theorem still fails: {PULLED}.",
        repair="With a decreasing loss l, a feasible Att-SVM and some input of two tokens it holds "
        "for a single input from any start, and for several inputs from every start whose risk "
        f"exceeds the infimum by less than {THRESHOLD}; equal scores are not needed there: see "
        f"theorem 3.15, (b).{ORIENTED}",
        stands=("amended-2", "amended-3"),
        telling={"literal": 0, "amended-1": 1},
    ),
    erratum(
        self_attention.THEOREM,
        printed="Theorem 3.14 on the paper's own data: self-attention over sequences, every token "
        "a query, the loss summed over sequences, positions and columns of the values, attention "
        "over all tokens (definition 3.3) or causal.",
        fails=f"{LOSS}: for the sequence 0, 1 X(k) runs to -infinity. With the decreasing loss "
        "g(-b <f, h>), identity values, one-hot labels and X(0) = 0 the theorem still fails, for "
        "X(k) and for its transpose, though both parts of assumption 3.10 hold: for one sequence "
        "of two tokens, or two causal ones, where one position is dragged to its worse token.",
        repair="With a decreasing loss and a feasible Att-SVM of all entries X(k)^T has the "
        "direction of X^mm from every start where the sum L exceeds its infimum by less than "
        "l(second score) - l(best score) of each entry; and, where rivals score the same, from any "
        "start if no entry pulls against another, as in one sequence of orthogonal tokens.",
        stands=("amended-3", "amended-4"),
    ),
    erratum(
        printed_loss.LOSS,
        printed='"we demonstrate that gradient descent converges to the optimal solution for SVM" '
        "(abstract), on L = g(b <f, h>) of definition 3.6 with the increasing g of definition 3.5.",
        fails="g(b <f, h>) is the decreasing loss g(-u) for the labels -b, so that descent seeks "
        "the tokens of lowest score. Under assumption 3.10 every step lowers the inner product "
        "with X^mm, from every start. Nor is -X^mm the limit: with three tokens the middle one is "
        "a rival of the worst as well as of the best.",
        repair="With the loss as printed the limit is that of the tokens of lowest score: from "
        "every start where L exceeds its infimum by less than g(second lowest) - g(lowest) of each "
        "entry, X(k)^T has the direction of their max-margin solution X^low, "
        "and the norm grows like that of X^low times ln k. It is that of -X^mm where entries have "
        "two tokens. For X^mm take a decreasing loss, g(-b <f, h>) or log(1 + exp(-b <f, h>)).",
        stands=("amended-3", "amended-4", "amended-5", "sharp"),
    ),
    erratum(
        theorem_3_15.THEOREM,
        printed="For every X(0) there is delta > 0 such that |gamma_it - gamma_i,tau| <= delta for "
        "all rivals implies of X-GD with eta <= 1/(2 L_x) that ||X(k)||_F diverges and "
        f"X(k)/||X(k)||_F -> X^mm/||X^mm||_F. {INFORMAL.format('G.5')}",
        fails="Two tokens an input leave nothing to compare, so that they meet the condition for "
        "every delta. Norm: two such inputs with opposite queries have gradient 0 at X(0) = 0, and "
        f"no X^mm. Direction: {LOSS[0].lower()}{LOSS[1:]}. With a decreasing loss, unique optimal "
        f"tokens and a feasible Att-SVM the direction still fails: {PULLED}.",
        repair="With a decreasing loss, unique optimal tokens, a feasible Att-SVM and some input "
        "of two tokens (for the norm two different scores and feasibility are enough, with the "
        "loss as printed and from any start, where the rivals of each input score the same): (a) "
        "where no input pulls against another, as for a single input, any start will do "
        "with delta_i = g_i s_i / (1 - s_i - s'_i), g_i the gap of the two best scores and s_i, "
        "s'_i the start's attention to these; 17/16 of it will not. (b) From a start whose "
        f"risk exceeds the infimum by less than {THRESHOLD}, no delta is needed.{ORIENTED}",
        stands=("sharp-2", "amended-2", "amended-3"),
        telling={"literal-1": 0, "literal-2": 0, "amended-1": 0},
    ),
    erratum(
        token_separation.SEPARATION,
        printed='"all tokens are gradually separated during the training process". Read: the '
        "margins (x_opt - x_t)^T X z grow and end positive.",
        fails="The loss of definition 3.6, g(b <f, h>), increases in the score, so that descent "
        "runs away from the optimal tokens: with tokens 1 and 0 the one margin falls for ever. "
        "With the decreasing loss g(-b <f, h>) a single input still suffices: pushed away from its "
        "worst token, the run settles at the second best one, and both margins fall.",
        repair="With a decreasing loss and a feasible Att-SVM, under either part of assumption "
        "3.10 and with two different scores in some input, <X, X^mm> grows at every step from "
        "every start: the sum of the margins weighted by the multipliers of X^mm. From a start "
        f"whose risk exceeds the infimum by less than {THRESHOLD}, with steps of at most 1/L_X and "
        "unique optimal tokens, every margin ends above every bound, the least one like ln k.",
        stands=("amended-3", "amended-4", "sharp-2"),
        telling={"literal-1": 0, "literal-2": 0, "literal-3": 0},
    ),
    erratum(
        token_sparsity.SPARSITY,
        printed='Tokens that are no support vectors "have zero gradients and can be safely '
        'disregarded during pretraining"; their gradients "effectively amount to zero".',
        fails="Attention is positive at every X, so that the coefficient of a token in the "
        "gradient is zero only where its score is the attended one, whatever its margin, and the "
        "gradient without it is another. Nor does its share vanish along training: with the "
        "printed loss the run ends at the worst token, and with a decreasing loss it may settle at "
        "a token that is no support vector.",
        repair="For the programme it is true: X^mm is the same without these tokens. For training: "
        "with a decreasing loss and a start whose risk exceeds the infimum by less than "
        f"{THRESHOLD}, the share of a token of margin m > 1 falls like k^-(m - 1); tokens just "
        "beyond the margin fade as slowly as one likes.",
        stands=("literal-3", "amended-2", "sharp-3"),
        telling={"literal-1": 0, "literal-2": 0, "literal-4": 0},
    ),
    erratum(
        often_unsolvable.FREQUENCY,
        often_unsolvable.REASON,
        often_unsolvable.EXACT,
        printed='The vanilla formulation of X^mm "is often unsolvable due to the non-existence of '
        'linear separability of tokens" (section 4).',
        fails="Often it is, but not for that reason. Of the orthonormal tokens a and b each can be "
        'separated from the other, yet the sentences "a a" and "a b" ask of the query a for a '
        "before b and for b before a.",
        repair="Where the embeddings are independent, as from d = 20 on for 20 Gaussian tokens, "
        "there is no X^mm exactly where some query asks for tokens in a circle: over the whole "
        "vocabulary, where it asks for two different next tokens. Then no dimension helps, only "
        "fewer sentences. For sentences of two words the probability has a closed form; in lower "
        "dimension separability fails besides.",
        stands=("literal-1", "amended-1", "amended-2", "sharp"),
    ),
    erratum(
        figure_1.FIGURE,
        printed='Figure 1, "to validate the Theorem 3.15": training on a causal language, the '
        'cosine of X(k) with X_soft, C = 10; "this observation still complies with our Theorem '
        '3.15". Read: the cosine grows, and tends to 1.',
        fails="With the loss of definition 3.6 X(k) may leave the direction of X_soft for ever. "
        "With a decreasing loss and X(0) = 0 the cosine need not tend to 1: where a token has "
        "several successors X(k) selects the most frequent one, while the slacks of X_soft count "
        "the others as well. Nor does every step raise the cosine. On the default reproduced "
        f"({RUNS} runs, decreasing loss) it rises at every recorded step in {RISING[0]} and "
        f"{RISING[1]} runs (tokens of the sub-sequence, of the vocabulary), and ends at "
        f"{COSINES[0]} and {COSINES[1]}; the mean difference, which no training enters, has "
        f"{MEANS[0]} and {MEANS[1]}.",
        repair="With a decreasing loss, unique optimal tokens, a feasible Att-SVM, C ||X^mm|| >= "
        "max lambda (definition 4.1), steps of at most 1/L_X and a start whose risk exceeds the "
        f"infimum by less than {THRESHOLD}, the cosine tends to 1.",
        stands=("amended-3",),
    ),
    erratum(
        figure_2.FIGURE,
        printed='Figure 2: "The initial margin is near 0 ... as training proceeds, the margin '
        'generally becomes larger and eventually converges to ... positive values". Read: all '
        "margins end positive; every step raises their mean; they have a finite limit.",
        fails="With the loss of definition 3.6 margins fall for ever. With a decreasing loss and "
        "X(0) = 0 they need not end positive either: where a token a has the successors a and b "
        f"equally often, two problems have the margins m and -m. On the default reproduced ({RUNS} "
        f"runs, decreasing loss) most do: {POSITIVE[0]} and {POSITIVE[1]} margins (tokens of the "
        "sub-sequence, of the vocabulary) are positive after 10,000 steps; with the loss as "
        f"printed {PRINTED[0]} and {PRINTED[1]}. Nor do they converge: they grow like ln k.",
        repair="Ask for one successor of each token: with orthonormal tokens, the whole vocabulary "
        "and X(0) = 0 every step of a decreasing loss raises every margin. With unique optimal "
        "tokens, a feasible Att-SVM, steps of at most 1/L_X and a start whose risk exceeds the "
        f"infimum by less than {THRESHOLD}, all margins end above every bound, the least one like "
        "ln k.",
        stands=("amended-2", "amended-3", "sharp"),
        telling={"literal-1": 0, "literal-2": 0, "amended-1": 0},
    ),
)

"""Errata of conditions that theorems and definitions of the talk need."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata
from properties.tf import (
    all_local_unique,
    all_support_divergence,
    all_support_no_stationary,
    convex_combination,
    definition_1,
    definition_2,
    lemma_2,
    lemma_2_limit,
    softmax_range,
    theorem_2,
    theorem_3,
    vanishing_regularisation,
)

erratum = partial(errata.erratum, weight=Weight.CONSTANT)

CONDITIONS = (
    erratum(
        theorem_2.PATH,
        theorem_2.RATE,
        fell="the printed claim, for want of a condition",
        gist="The regularisation path needs l' < 0 at the best scores, and an input of two tokens.",
        fails="A strictly decreasing smooth loss may have slope 0 at a best score. With l(u) = "
        "-u^3 and best scores 1 and 0 the second input counts less than it should, and the limit "
        "is (3, 1)/sqrt 10 instead of (1, 1)/sqrt 2. With one token an input W^mm = 0 has no "
        "direction.",
        repair="Add both conditions. There is a rate too: where l' < 0 and continuous, every W in "
        "the ball of radius R that is as good as the point R W^mm / ||W^mm|| is within sqrt(2 "
        "kappa ||W^mm|| / R) of its direction after division by R, with an explicit kappa that "
        "stays bounded.",
        stands=("amended-1", "amended-2", "sharp"),
        telling={"literal": 0},
    ),
    erratum(
        theorem_3.THEOREM,
        fell="the printed claim, for want of a condition",
        gist="The regularisation path of (K, Q) needs l' < 0 at the best scores, an input of two "
        "tokens, and an inner dimension that the nuclear solution fits in.",
        fails="With l(u) = -u^3, whose slope is 0 at the best score 0, the limit is another one; "
        "max(0, 1 - u)^2 with best scores above 1 has minimisers that stay where they are; with "
        "one token an input W^mm = 0 has no direction. The slides have d x d matrices K and "
        "Q; with inner dimension 1, all K Q^T have rank 1, and there may be no feasible one, as on "
        "the instance of literal-2, where every feasible W has det W >= 2.",
        telling={"literal-1": 0},
    ),
    erratum(
        vanishing_regularisation.ABSTRACT,
        fell="the printed claim, for want of a condition",
        gist="The limits of vanishing regularisation need what those of theorems 2 and 3 do: "
        "unique optimal tokens, a feasible Att-SVM, l' < 0 at the best scores, an input of two "
        "tokens.",
        fails="The abstract lists no hypothesis. A minimiser with a ridge penalty is a point of "
        "the regularisation path of theorem 2 or 3, so that l(u) = -u^3, of slope 0 at the best "
        "score 0, refutes both. With one token an input W_lambda = 0.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        all_support_no_stationary.THEOREM,
        fell="the printed claim, for want of a condition",
        gist="No stationary points: some input must have two different scores, and l' < 0.",
        fails="With head 0, or one token an input, the gradient is 0 everywhere, while all tokens "
        "are support vectors. With l(u) = -u^3, strictly decreasing and smooth, it is 0 at W = 0 "
        "for tokens 1, -1 of scores 1, -1.",
        telling={"literal": 1},
    ),
    erratum(
        all_support_divergence.THEOREM,
        fell="the printed claim, for want of a condition",
        gist="Divergence of the norm: some input must have two different scores, and l' < 0.",
        fails="Where all scores tie, as with head 0, descent never moves. Nor does it from W_0 = 0 "
        "for l(u) = -u^3 and tokens 1, -1 of scores 1, -1.",
        repair="Ask for l' < 0, continuous, and an input with two different scores; then every "
        "start and every constant step will do. From the basin ||W_k|| / ln k tends to ||W^mm||, "
        "whether all tokens are support vectors or not.",
        telling={"literal": 0},
    ),
    erratum(
        all_local_unique.LEMMA,
        fell="the printed claim, for want of a condition",
        gist="Optimal tokens must be unique, and the Att-SVM feasible.",
        fails="Two tokens of one score: both choices are optimal, and definition 2 with its strict "
        "inequality leaves none. Query 0: no choice is feasible. (Support vectors of the Att-SVM "
        "alone are not enough: two inputs of tokens (1, 0), 0 and (-2, 1), 0 with one query.)",
        telling={"literal-1": 1},
    ),
    erratum(
        definition_2.DEFINITION,
        fell="the printed claim, for want of a condition",
        gist="The optimal tokens are a locally-optimal direction only where they are unique and "
        "the Att-SVM is feasible.",
        fails="The definition asserts nothing of them; that they are one is what the lemma on all "
        "Local-SVMs takes for granted. For which t the inequality is meant is not said: all others "
        "(literal-1) or the support indices (literal-2). Both fall for tied scores, and for query "
        "0.",
        telling={"literal-1": 0, "literal-2": 1},
    ),
    erratum(
        definition_1.DEFINITION,
        fell="the printed claim, for want of a condition",
        gist='"The" optimal token need not be one, and for a loss that is flat somewhere W need '
        "not maximise the inner sum.",
        fails="Two tokens of the best score are both optimal. The hinge loss is decreasing, not "
        "strictly, and 0 at the scores 2 and 1, so that all weight on the worse token has least "
        "loss too; for a strictly decreasing loss, as the slide of the risk has it, the sentence "
        "stands (amended).",
        telling={"literal-1": 0, "literal-3": 0},
    ),
    erratum(
        lemma_2.LEMMA,
        fell="the printed claim, for want of a condition",
        gist="L(W) > L_* needs an input with two different scores.",
        fails="With one token an input, or where all scores of each input tie, L(W) = L_* at "
        "every W.",
        telling={"literal": 1},
    ),
    erratum(
        lemma_2_limit.LIMIT,
        fell="the printed claim, for want of a condition",
        gist="L_* is approached only where the Att-SVM of optimal tokens is feasible; with tied "
        "scores alone it is attained.",
        fails='"If softmax selects optimal tokens" is read as how L_* is approached; no W need do '
        "so: for query 0 attention stays uniform. With one token an input L = L_* at W = 0.",
        repair="Let some input have two different scores. L_* is the infimum exactly where some W "
        "separates an optimal token of each input from those that score less, and is approached "
        "only as ||W|| tends to infinity; where l' < 0 at the best scores, L - L_* is at best of "
        "the order exp(-||W|| / ||W^mm||), with explicit bounds on both sides.",
        stands=("amended", "sharp-1", "sharp-2"),
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        convex_combination.COMBINATION,
        fell="the printed claim, for want of a condition",
        gist='"If and only if t = k" and "||W|| tends to infinity" need an x_k that is a vertex of '
        "the hull and no other token.",
        fails="Attention may put out x_k otherwise: tokens 0, 1, -1 give 0 at W = 0, and two equal "
        "tokens do at every W. The output is in the convex hull, as printed (literal-1).",
        stands=("literal-1", "amended"),
        telling={"literal-2": 0, "literal-3": 0},
    ),
    erratum(
        softmax_range.RANGE,
        fell="the printed claim, for want of a condition",
        gist="S(v)_t < 1 needs two tokens, and a large norm is needed for saturation, not enough.",
        fails="One token has S(v) = 1 at every v. Along r (1, 1) the norm grows and nothing "
        "saturates: what counts is the lead of an entry over the others.",
        stands=("amended-1", "amended-2"),
        telling={"literal-2": 0},
    ),
)

"""Errata of sizes, definitions and formulas, and of what may be left out."""

from __future__ import annotations

from properties.sim import (
    attention_shape,
    definition_3_3,
    definition_3_6,
    definition_3_8,
    definition_4_1,
    fixed_head,
    l2_objective,
    lemma_3_11,
    orientation,
)
from properties.sim.errata.made import erratum

FORMULAS = (
    erratum(
        attention_shape.SHAPE,
        printed="D(X) := diag(exp(A1 X A2^T) 1_n) in R^{d x d} for A1, A2 in R^{n x d} (section "
        "1), and x, y in R^d with ||A_{l0,j0} x|| (lemma 3.13).",
        fails="exp(A1 X A2^T) has n rows, so that D(X) is n x n and the formula fits only where n "
        "= d. And the block A_{l0,j0} has d^2 columns (definition 3.1), which fits x in R^d only "
        "for d = 1.",
        repair="D(X) in R^{n x n}, and x, y in R^{d^2}. Then all sizes fit, for all n and d.",
        stands=("amended-1", "amended-2"),
    ),
    erratum(
        fixed_head.HEAD,
        printed='"H is a fixed linear prediction head that does not impact our analysis, we will '
        'ignore that".',
        fails="The head decides which tokens are optimal. With values 1 and 0 and H = -1 the "
        "second token is optimal, without H the first, and the gradients are opposite; a head that "
        "swaps two values does the same. Nor do the sizes fit without it: Att(X) has n x d "
        "entries, the labels have n x V.",
        repair="Absorb the head instead of ignoring it: with Y H in place of the value matrix Y "
        "all that is said of h(y) holds for h = A_3 (Y H) e_v. It may be ignored in column v where "
        "H e_v = c e_v with c > 0.",
        stands=("amended-1", "amended-2"),
        telling={"literal-2": 0},
    ),
    erratum(
        l2_objective.OBJECTIVE,
        printed="min_X ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||^2 is rewritten as min_x ||max(D(x)^-1 "
        "exp(A x)) A3 Y - B||^2, where A = A1 kron A2 and x = vec(X).",
        fails="Presumably max is a misprint of mat; with the largest entry the functions differ. "
        "D(x) is not defined, and D(X) of section 1 does not fit: exp(A x) has n^2 entries, D(X) "
        "has n rows. (B is n x V there, and the attention n x d: they fit where V = d.)",
        repair="||mat(D(x)^-1 exp(A x)) A3 Y - B||^2 with D(x) = D(X) kron I_n: then the matrices "
        "within the two norms are equal.",
        stands=("amended",),
    ),
    erratum(
        definition_3_3.DEFINITION,
        printed="The attention is formulated as <f(x)_{l0,j0}, h(y)_{l0,i0}>, where h(y)_{l0,i0} = "
        "A_{l0,3} y_{i0}.",
        fails="This is entry (j0, i0) of D(X)^-1 exp(A1 X A2^T) A3 Y, the attention of the squared "
        "objective. The formula that introduces attention, Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A2 "
        "Y, has A2 for A3, and the data set of section 1 has no A3.",
        repair="Say that A3 = A2, or write A3 in Att(X, Y). (f is a probability vector, as meant.)",
        stands=("amended", "literal-1", "literal-2"),
    ),
    erratum(
        definition_3_6.DEFINITION,
        printed="L = g(b <f, h>) with g(x) = 1 / (1 + exp(-x)) is minimised; optimal tokens have "
        "the highest score (definition 3.9).",
        fails="g increases, so that descent lowers the expected score b <f, h>: with tokens 1, 0 "
        "and scores 1, 0 attention leaves the first one. With a decreasing loss the expected score "
        "rises, but the weight of the optimal tokens need not: it may go to the second best. (In "
        "definition 3.9 T and the factor B are not introduced; read: n, and the label b.)",
        repair="Take a decreasing loss, g(-b <f, h>) or log(1 + exp(-b <f, h>)). Along its "
        "negative gradient the expected score does not fall, nor does the weight of the optimal "
        "tokens where all rivals score the same.",
        stands=("amended-2", "amended-3"),
    ),
    erratum(
        definition_3_8.DEFINITION,
        printed='"we defined the Att-SVM as the following:"; the formula is missing in the copy at '
        "hand. X^mm is read from assumption 3.10 and definition 4.1: the least ||X||_F with (x_opt "
        "- x_t)^T X z >= 1 for all t other than opt.",
        fails="The constraints can contradict each other, also where optimal tokens are unique "
        "(section 4 mentions this); there is no X^mm then, and nothing that X(k) could converge to "
        "in theorems 3.14 and 3.15. Two inputs with one query and opposite labels suffice: X >= 1 "
        "and -X >= 1.",
        repair="State feasibility as a hypothesis. It is enough that some u has the sign of the "
        "label on every query, y_i u^T z_i > 0; then ||X^mm||_F <= ||u|| ||v|| / min over i and t "
        "!= opt_i of (gamma_opt - gamma_t) y_i u^T z_i, which is attained. Where it is feasible "
        "the programme is convex and X^mm is unique.",
        stands=("amended", "literal-1", "sharp-1"),
        telling={"literal-2": 1},
    ),
    erratum(
        orientation.MARGINS,
        orientation.TRAINING,
        printed="Logits are A_{l0,j0} vec(X) in definition 3.3, that is a_j^T X a_t, the query "
        "left of X. Definition 4.1 asks for (a_opt - a_t)^T X a_i >= 1 - xi, the query right of X, "
        "as assumption 3.10 does. Section 4 compares X(k) with X^mm. (a_j: rows of A_{l0,1}.)",
        fails="So the X that is trained is the transpose of the X of the programme. With tokens "
        "(1, 1), (1, 0), query (1, 0) and X(0) = 0 the programme has X^mm = E_21, a 1 in row 2 and "
        "column 1, while every X(k) is a multiple of E_12, also on a decreasing loss: their cosine "
        "is 0 for ever.",
        repair="Transpose one of the two, for instance (a_opt - a_t)^T X^T a_i in definition 4.1 "
        "and assumption 3.10. Then the margins are differences of logits, and the repaired theorem "
        "3.14 converges to X^mm.",
        stands=("amended-1", "amended-3"),
        telling={"amended-2": 0},
    ),
    erratum(
        lemma_3_11.LEMMA,
        printed="dL/dx_i = g(d) (1 - g(d)) b (<f o A_i, h> - <f, h> <f, A_i>), where d = <f, h>; "
        'steps 2 and 3 of section 3.4 repeat it. ("Formal version of Lemma F.2".)',
        fails="The loss is L = g(b d), so that the chain rule has g' at b d, not at d. As g' is "
        "even, the formula is right for labels b in {-1, 0, 1}, and for other b in general not.",
        repair="dL/dx_i = g(b d) (1 - g(b d)) b (<f o A_i, h> - <f, h> <f, A_i>): an identity for "
        "every real b and every n. Or say that labels lie in {-1, 0, 1}.",
        stands=("amended-2", "amended-1"),
    ),
    erratum(
        definition_4_1.DEFINITION,
        printed="X_soft = arg min ||X||_F + C sum of slacks xi_{l0,t}, which the queries i of a "
        'sequence share; "we empirically find using a large penalty term C = 10 still works well". '
        "Read: X^mm minimises at C = 10 on separable data. (Of the authors' own data nothing is "
        "said here. The readings of figure 1 use one slack a constraint, the reproduced figures "
        "share it.)",
        fails="Which C is large depends on the scale of the data: with tokens 1/16 and 0 and query "
        "1 the objective is 10 at V = 0 and 16 at X^mm. And as the norm is not squared, the "
        "minimiser need not be unique: for one constraint and C = 1 all of [0, 1] minimises. Both "
        "hold for either form of the slack, as each sequence has one query here.",
        repair="On separable data X^mm minimises for every C >= max lambda / ||X^mm||, lambda any "
        "multipliers of the hard programme, summed over the queries that share a slack (the sum is "
        "needed: tokens e_1, e_2, C = 1/2 above). With one slack a constraint 0 minimises for "
        "every C <= 1 / ||sum_j A_j||, A_j = (x_opt - x_t) z^T, and alone below. The first is the "
        "least for one constraint, the second the largest for any. Name C relative to the first "
        "one, and index the slack.",
        stands=("amended", "amended-3", "sharp"),
        telling={"literal-1": 0, "literal-2": 0, "literal-3": 0, "amended-2": 0},
    ),
)

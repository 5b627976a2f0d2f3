"""Errata that turn a theorem or a claim of the talk round."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata
from properties.tf import (
    benign_landscape,
    few_tokens,
    generalised_svm,
    global_conjecture,
    global_equal_scores,
    global_initial_gradient,
    linear_head_one_token,
    local_convergence,
    nonlinear_head_several,
    overparameterisation,
    parameterisation_bias,
    svm_rank,
)

erratum = partial(errata.erratum, weight=Weight.CLAIM)

CLAIMS = (
    erratum(
        global_equal_scores.THEOREM,
        gist="Equal scores of the other tokens do not give global convergence, even where the "
        "Att-SVM is feasible: gradients of inputs may be opposed.",
        fails="The slide asks for approximately equal scores; exactly equal ones are not enough. "
        "Two inputs with opposite queries have no Att-SVM, so that there is no direction to "
        "converge to. Where it is feasible an input of a larger score gap may drag another one "
        "to its worse token for ever (amended-1), although each input has two tokens.",
        telling={"literal": 0},
    ),
    erratum(
        global_initial_gradient.THEOREM,
        gist="Three readings of a favourable initial gradient do not give global convergence, one "
        "of them with equal scores of the other tokens; a long first step does.",
        fails='The slide does not define "favorable". It is read as: the first step ranks the '
        "optimal tokens first (literal-1), the same with equal scores of the others, which is both "
        "criteria of the slide at once (literal-2), and the first step goes along W^mm "
        "(literal-3). From W_0 = 0 descent on the loss -u turns away later.",
        repair="Let optimal tokens be unique, l' < 0, and -grad L(W_0) rank them first. From W_0 - "
        "R grad L(W_0) / ||grad L(W_0)||, R at least an explicit length, descent with steps of at "
        "most 1/L converges in direction to W^mm.",
        telling={"literal-3": 0},
    ),
    erratum(
        global_conjecture.CONJECTURE,
        gist="Global convergence from every start is false for d >= n T, from W_0 = 0 as well. "
        "Where all tokens are support vectors of all Local-SVMs it is true, by proof, for scores "
        "that differ and steps of at most 1/L if queries are orthogonal or tokens few; two inputs "
        "of one query, of two and four tokens, refute it.",
        fails="The slide does not print the conjecture. Data may stay in a few of many dimensions: "
        "with tokens 1, 0, -2 on an axis of R^3 descent runs from zero to the token -2. With all "
        "tokens on the margins of all Local-SVMs it falls for tied scores (literal-2), and with "
        "scores that differ for two inputs of two and four tokens, which move each other's "
        "margins: the first keeps its worse token, from zero (amended-2).",
        repair="All Local-SVMs have solutions, in which all tokens are support vectors; queries "
        "are orthogonal, or there is one input; scores of an input differ, l' < 0, steps are at "
        "most 1/L (sharp-2). The same with any queries, if one input has at most three tokens and "
        "the others at most two (sharp-3). Or, in place of all but scores, l' and steps: the (x_t "
        "- x_s) z^T of all inputs are independent, and in each choice but the best all better "
        "tokens are support vectors, one with a positive multiplier (sharp).",
        telling={"literal-1": 1, "literal-2": 0, "amended-1": 0, "amended-2": 0},
    ),
    erratum(
        local_convergence.THEOREM,
        gist="Local convergence is false in the cone of all W_0 that select alpha, however large "
        "||W_0|| is; in a narrower cone it is true, by proof.",
        fails='The slide does not define the cone and is headed "simplified". In the cone of all '
        "W_0 whose largest logits are those of alpha no norm is large enough: W_0 z = (R, 2R - 1) "
        "is close to its rim at every R, and does not reach W^mm(alpha) for R = 2^10 and 2^20.",
        repair="Write W_0 = sigma W^mm(alpha) + E. If every rival j of alpha has ||E|| r_j <= s "
        "sigma c_j with an s < 1, r_j and c_j numbers of the data, and sigma is at least an "
        "explicit radius, descent with any constant step converges: so there are an angle and a "
        "norm. A cone 17/16 as wide falls, and so do four fifths of the radius.",
        telling={"literal-1": 0},
    ),
    erratum(
        benign_landscape.FEASIBILITY,
        benign_landscape.LANDSCAPE,
        gist="More dimensions than tokens give neither a feasible Att-SVM nor a landscape without "
        "stationary points; independent queries and affinely independent tokens give both, if "
        "two scores of an input differ and l' < 0.",
        fails="Over-parameterization is read as d >= n T, a dimension for each token. Equal tokens "
        "are not separated in any dimension, and tokens 1, 0, -2 on an axis of R^3 with scores 1, "
        "-4, 0 are at rest at W = 0. With two affine dependencies there may be a strict minimum: "
        "tokens 0, -1, -6, -8 on a line with scores 10, -14, 9, -5, at W = 0.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        overparameterisation.PROBABILITY,
        gist="That all tokens become support vectors as d grows depends on the law of the data; "
        "for Gaussian tokens with orthogonal queries, and for tokens and queries on a sphere, it "
        "is proved, with explicit probabilities.",
        fails="No law is named, and the statement is explained by a figure. Under a law of tokens "
        "2, 1, 0 along one axis the third one is a support vector in no dimension.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        linear_head_one_token.SELECTION,
        linear_head_one_token.RISK,
        gist="A linear head need not select one token: attention may stay uniform, stay between "
        "tied tokens, or rest where the gradients of two inputs cancel.",
        fails="With head 0 nothing moves; with two tokens of best score least risk is reached by "
        "attention to both; two inputs with opposite queries and a convex loss have least risk "
        "at W = 0.",
        repair="What is near the least risk attends to best tokens, all of them together: the risk "
        "gap is at least (1/n) sum_i [l(best - d (1 - s)) - l(best)], s the attention to them and "
        "d the gap to the next score. To one token an input from the basin.",
        telling={"literal-1": 2, "literal-2": 0},
    ),
    erratum(
        nonlinear_head_several.STATEMENT,
        gist="It is not nonlinearity that selects several tokens, but how Y h bends: a ReLU head "
        "may select one, and a linear one may share attention among tied tokens.",
        fails="Tokens of one score share attention under a linear head as well. With h(x) = max(x, "
        "0), which is convex, no mixture of the tokens 1 and 0 is better than the first.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        generalised_svm.STATEMENT,
        gist="W_GD = W_fin + W_svm fails at 99% correlation where descent rests, and Gen-SVM may "
        "have no solution for the tokens that are supposed to be kept.",
        fails='The slides call it a claim with "no rigorous theory yet". For W_fin they refer to '
        "the paper; read is the least matrix with the logit differences of W_GD between kept "
        "tokens. For h(x) = -x_1^2 and a W_0 that moves no logit descent is at rest, and both "
        "parts are 0; so it is from 0 where a ReLU head is flat at the mean. No W keeps the "
        "tokens 1 and -1 without the token 0 between them. In the "
        "published experiment fewer than half of all runs at d = 10 come above 99%, those counted "
        "that the public code draws anew.",
        repair="With all tokens kept and W_0 = 0 one has W = W_fin exactly. If V = W - W_fin gives "
        "all margins at least mu > 0, Gen-SVM has a solution, and the squared correlation of W "
        "with W_fin + c W_svm, c the best, is at least (||W_fin||^2 + mu^2 ||W_svm||^2) / "
        "||W||^2. Two tokens an input and orthogonal (x_1 - x_2) z_i^T keep W - ln k W_svm "
        "bounded; a tight constraint of multiplier 0 may leave it unbounded for any factor.",
        telling={"literal-1": 0, "literal-2": 0, "literal-4": 0},
    ),
    erratum(
        parameterisation_bias.BIAS,
        gist="Descent on W need not lead to the Frobenius solution, nor descent on (K, Q) to the "
        "nuclear one, and both may be the same; from the basin W has the direction of the "
        "Frobenius solution.",
        fails="From W_0 = 0 tokens 4, 0, 3 of scores 1, 0, -3 do not take W in the direction of "
        "W^mm = 1. From K = Q = 0 nothing moves. For one input of two tokens both solutions are "
        "one, as wherever W^mm has rank 1. Where else descent on (K, Q) leads is counted "
        "(literal-4, sharp-2), and proved on one data set (sharp).",
        repair="From the basin descent on W converges in direction to W^mm.",
        telling={"literal-1": 0, "literal-2": 0, "literal-3": 0},
    ),
    erratum(
        few_tokens.OBSERVATION,
        gist="Neither the norm nor the number of tokens is monotone along descent; few tokens need "
        "a large norm at every W, and one is left from the basin.",
        fails="The slide says it of runs that it shows. As a law of each step it falls: from a "
        "start that selects the worse of two tokens the norm shrinks, and the other one comes in. "
        "From W_0 = 0 a long step may go too far, and the next one back.",
        repair="At every W the effective number 1 / sum_t s_t^2 of tokens is at least 1 + (T - 1) "
        "exp(-D ||W||), D the largest ||x_t - x_u|| ||z||. From the basin ||W_k|| tends to "
        "infinity, and each input's attention to its optimal token tends to 1.",
    ),
    erratum(
        svm_rank.RANK,
        gist="A solution of least nuclear norm may have a larger rank than that of least "
        "Frobenius norm.",
        fails="The slide names low rank as a theme and prints no bound. That the Frobenius "
        "solution has rank at most min(n, d) stands (literal-1). Read as a comparison on the same "
        "data it falls for six inputs in R^3, with Frobenius rank 2 and nuclear rank 3.",
    ),
)

"""Errata of constants, of formulas, and of conditions that bounds need."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata as made
from properties.sim import (
    basic_1,
    basic_3,
    basic_5,
    definition_4_1,
    lemma_3_11,
    lemma_3_13,
    lemma_3_13_hessian,
)

erratum = partial(made.erratum, weight=Weight.CONSTANT)

CONSTANTS = (
    erratum(
        lemma_3_13.LEMMA,
        fell="the printed constant, for want of a bound on b and h",
        gist="Nothing bounds b or h, so that no constant in n and R will do; with |b|, ||h|| <= R "
        "the printed one holds, and a far smaller one is best.",
        printed="|grad L(x) - grad L(x^)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^|| for R >= 4 and ||A "
        "x||, ||A y||, ||A|| <= R. Read: x, y in R^(d^2), L of definition 3.6.",
        fails="The gradient at <f, h> = 0 is proportional to b, which nothing bounds. The constant "
        "itself is generous: at n = 2 and R = 4 it is broken only where |b| (max h - min h) "
        "exceeds 2.09 * 10^48.",
        repair="Add |b| <= R and ||h|| <= R; then the printed constant holds. Without domain, n "
        "and exponential: ||A||^2 K(D), D = |b| (max h - min h), K(D) the maximum over a, c in "
        "[0, 1] of D (1 - c^2) (1 - a^2) (a + D c (1 - a^2)/4) / 8. It is attained.",
        stands=("amended", "sharp"),
        telling={"literal": 1},
    ),
    erratum(
        lemma_3_13_hessian.LEMMA,
        fell="the printed constant, for want of a bound on b and h",
        gist="Nor does a constant in n and R bound the Hessian, as nothing bounds b or h; with "
        "|b|, ||h|| <= R the printed one does, and a far smaller one is best.",
        printed="The constant 3 n^3 R^7 exp(13 R^2) of lemma 3.13, read as a bound of the operator "
        "norm of the Hessian; on the convex domain ||A x|| <= R that says the same.",
        fails="Nothing bounds b: L bends like b^2 where b <f, h> is of order 1.",
        repair="Add |b| <= R and ||h|| <= R, or take ||A||^2 K(D), D = |b| (max h - min h), K(D) "
        "the maximum over a, c in [0, 1] of D (1 - c^2) (1 - a^2) (a + D c (1 - a^2)/4) / 8, which "
        "bounds the Hessian everywhere and is attained.",
        stands=("amended", "sharp"),
        telling={"literal": 1},
    ),
    erratum(
        lemma_3_11.LEMMA,
        fell="the printed formula",
        gist="g' belongs at b <f, h>, not at <f, h>; for labels in {-1, 0, 1} both are the same.",
        printed="dL/dx_i = g(d) (1 - g(d)) b (<f o A_i, h> - <f, h> <f, A_i>), where d = <f, h>; "
        'steps 2 and 3 of section 3.4 repeat it. ("Formal version of Lemma F.2".)',
        fails="The loss is g(b d), so that the chain rule has g' at b d. As g' is even, the "
        "formula is right for labels in {-1, 0, 1}, for others in general not.",
        repair="Write g(b d) (1 - g(b d)): an identity for every real b and every n. Or say that "
        "labels lie in {-1, 0, 1}.",
        stands=("amended-2", "amended-1"),
    ),
    erratum(
        definition_4_1.DEFINITION,
        gist="Which C is large depends on the scale of the data, and X_soft need not be unique.",
        printed="X_soft = arg min ||X||_F + C sum of slacks xi_{l0,t}, which the queries i of a "
        'sequence share; "a large penalty term C = 10 still works well". Read: X^mm minimises at '
        "C = 10 on separable data, whatever they are.",
        fails="With tokens 1/16 and 0 and query 1 the objective is 10 at V = 0 and 16 at X^mm. "
        "As the norm is not squared, minimisers need not be unique: for one constraint and C = 1 "
        "all of [0, 1] minimises.",
        repair="On separable data X^mm minimises for every C >= max lambda / ||X^mm||, lambda "
        "any multipliers of the hard programme, summed over the queries that share a slack "
        "(instance of amended-2); for one constraint that is the least. Name C relative to it, and "
        "index the slack. With one slack a constraint 0 minimises for every C <= 1 / ||sum_j "
        "A_j||.",
        stands=("amended", "amended-3", "sharp"),
        telling={"literal-1": 0, "literal-2": 0, "literal-3": 0, "amended-2": 0},
    ),
    erratum(
        basic_1.BOUND,
        fell="one step of the proof of lemma 3.13",
        gist="The bound needs R >= 1, and exp(R) does for exp(R^2).",
        printed="||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||, with no condition in the main "
        "text.",
        fails="With ||A x||, ||A y||, ||A|| <= R alone it fails for small R; with R >= 4 as well, "
        "as in lemma 3.13, it holds.",
        repair="State the conditions, and R >= 1. The best constant there is ||A|| exp(R). If "
        "||x||, ||y||, ||A|| <= R is meant, R exp(R^2) is right for every R, and the best.",
        stands=("amended", "literal-1", "sharp-1", "sharp-2"),
    ),
    erratum(
        basic_3.BOUND,
        fell="one step of the proof of lemma 3.13",
        gist="The right side needs the indices of the left.",
        printed="|alpha(x)_{l0,j0}^-1 - alpha(y)_{l0,j0}^-1| <= beta^-2 |alpha(x) - alpha(y)|, "
        "with no indices on the right and beta not defined.",
        fails="If alpha on the right sums over all n^2 rows, one block may gain what another one "
        "loses: the right side is 0 and the left is not.",
        repair="Keep the indices and say 0 < beta <= alpha(x), alpha(y). Where ||A x||, ||A y|| <= "
        "R one may take beta = n exp(-R / sqrt n); beta^-2 = exp(2 R / sqrt n) / n^2 is then the "
        "best factor.",
        stands=("literal-1", "sharp-1", "sharp-2"),
    ),
    erratum(
        basic_5.BOUND,
        fell="one step of the proof of lemma 3.13",
        gist="c is not defined, and nothing bounds h.",
        printed="||c(x, z) - c(y, z)|| <= R^2 beta^-2 n exp(3 R^2) ||x - y||; c and beta are not "
        "defined. Read: c = <f, h> - b, with the indices of the loss, on the domain of lemma 3.13.",
        fails="No condition in the main text bounds the values h. (Had c = f - z been meant, "
        "it would hold for R >= 4, as in lemma 3.13, and fall where R^2 < 1.)",
        repair="Define c, and add ||h|| <= R^2, as ||A_3|| <= R and ||z|| <= R would give. On the "
        "whole space the best constant is sqrt(2)/4 (max h - min h) spread(A), spread(A) = max "
        "||A_i - A_j|| / sqrt 2 <= ||A||. (For c = f - z, R >= 1 is enough.)",
        stands=("amended", "sharp", "amended-2", "literal-3"),
    ),
)

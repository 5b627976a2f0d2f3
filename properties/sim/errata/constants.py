"""Errata of Lipschitz constants."""

from __future__ import annotations

from attsvm.theory.errata import Erratum

NEITHER = "No condition bounds the label b or the head h"
BOTH = "Add |b| <= R and ||h|| <= R; then the printed constant holds."

CONSTANTS = (
    Erratum(
        "sim/stability-logistic",
        printed="Computing the Lipschitz constants of the losses shows that softmax attention is "
        '"more stable than linear attention". No constant of linear attention is given.',
        fails="On the same data it is false, for the loss and for its gradient: where A^T h = 0 "
        "linear attention does not depend on x at all. Over all data with ||A|| <= R and ||h|| "
        "<= H it is true for the loss, but false for the gradient where |b| H is small: linear "
        "attention has b^2 R^2 H^2 / (6 sqrt 3), of second order in b, softmax attention a "
        "constant of first order.",
        repair="State the comparison over data of given norms. For the loss softmax attention has "
        "|b| R H / 8, half of linear attention's |b| R H / 4, and both are attained. For the "
        "gradient it holds for |b| H >= 0.7228 and fails for 0 < |b| H < 0.7226. On the same data "
        "it holds for the loss where ||A^T h|| >= (max h - min h) diam(A) / 4, diam(A) the largest "
        "distance of two rows.",
        falls=tuple(f"sim/stability-logistic:literal-{k}" for k in (1, 2, 4)),
        stands=(
            "sim/stability-logistic:literal-3",
            *("sim/stability-logistic:sharp", "sim/stability-logistic:sharp-2"),
            *("sim/stability-logistic:sharp-3", "sim/stability-logistic:amended-2"),
        ),
    ),
    Erratum(
        "sim/stability-l2",
        printed="The comparison of softmax with linear attention includes the l2 loss; no constant "
        "is given for either.",
        fails="On the same data it is false, for the loss and for its gradient, whatever |b|, "
        "||h|| and R: where A^T h = 0 linear attention does not depend on x at all. Over all data "
        "of given norms it is true for the loss, but false for the gradient with large labels: "
        "the constant of linear attention, 2 ||A||^2 H^2 with H = ||h||, does not know b.",
        repair="State the comparison over data of given norms. Where ||A||, ||A x|| <= R, R >= 4, "
        "the loss of softmax attention has ||A|| H (R H + |b|), half of linear attention's "
        "constant. For the gradient it holds for |b| <= 3.532 H and fails for |b| > 3.533 H.",
        falls=tuple(f"sim/stability-l2:literal-{k}" for k in (1, 2, 4)),
        stands=(
            "sim/stability-l2:literal-3",
            *(f"sim/stability-l2:sharp-{k}" for k in (1, 2, 3)),
        ),
    ),
    Erratum(
        "sim/lemma-3.13",
        printed="|grad L(x) - grad L(x^)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^|| for R >= 4 and "
        "||A x||, ||A y||, ||A|| <= R.",
        fails="No condition bounds the label b or the head h, while the gradient at <f, h> = 0 is "
        "proportional to b; no constant in n and R alone can do. The constant itself is "
        "generous: at R = 4 it takes a label near 10^97 to break it. (Read: x, y in R^(d^2), as A "
        "has d^2 columns, and L from definition 3.6.)",
        repair="Add |b| <= R and ||h|| <= R; then the printed constant holds. Without any domain, "
        "without n and without an exponential: ||A||^2 K(D), D = |b| (max h - min h), with K(D) "
        "the maximum over a, c in [0, 1] of D (1 - c^2) (1 - a^2) (a + D c (1 - a^2)/4) / 8. It "
        "is attained.",
        falls=("sim/lemma-3.13:literal",),
        stands=("sim/lemma-3.13:amended", "sim/lemma-3.13:sharp"),
    ),
    Erratum(
        "sim/lemma-3.13-hessian",
        printed="Lemma 3.13 once more: its domain is convex, so that the bound is one on ||Hess "
        "L(x)|| where ||A x||, ||A|| <= R.",
        fails=f"{NEITHER}; where b <f, h> is about 1 the Hessian grows like b^2.",
        repair=f"{BOTH} For every x, ||Hess L(x)|| <= ||A||^2 K(|b| (max h - min h)) with K as in "
        "lemma 3.13; it is attained.",
        falls=("sim/lemma-3.13-hessian:literal",),
        stands=("sim/lemma-3.13-hessian:amended", "sim/lemma-3.13-hessian:sharp"),
    ),
    Erratum(
        "sim/lemma-3.13-l2",
        printed="Section 1 speaks of Lipschitz constants of the l2 loss as well and names none. "
        "Read: lemma 3.13 for (<f, h> - b)^2.",
        fails="Here too no condition bounds the label b or the head h.",
        repair=f"{BOTH} On the whole space the best function of w = max h - min h and r = max "
        "|h - b| is ||A||^2 w^2 k(r/w - 1/2), k(x) the maximum over a in [0, 1] of (1 - a^2) (x a "
        "+ (1 - 3 a^2)/4).",
        falls=("sim/lemma-3.13-l2:literal",),
        stands=("sim/lemma-3.13-l2:amended", "sim/lemma-3.13-l2:sharp"),
    ),
    Erratum(
        "sim/lemma-3.13-log-loss",
        printed="Section 1 trains with a logistic loss, lemma 3.13 is about the logistic function. "
        "Read: lemma 3.13 for log(1 + exp(-b <f, h>)).",
        fails=f"{NEITHER}, and where <f, h> = 0 the gradient is proportional to b.",
        repair=f"{BOTH} On the whole space ||A||^2 K(D) with D = |b| (max h - min h), K(D) = "
        "D / (3 sqrt 3) up to D = 2 sqrt 3 and (D/4 + 1/D)^2 / 2 beyond; no smaller K will do.",
        falls=("sim/lemma-3.13-log-loss:literal",),
        stands=("sim/lemma-3.13-log-loss:amended", "sim/lemma-3.13-log-loss:sharp"),
    ),
    Erratum(
        "sim/basic-1",
        printed="||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||; section 3.3 states no condition. "
        "(The minus signs of its seven bounds are lost in the copy at hand.)",
        fails="With ||A x||, ||A y||, ||A|| <= R alone it fails for small R. With R >= 4 as well, "
        "as in lemma 3.13, it holds.",
        repair="State the conditions, and R >= 1. The best constant there is ||A|| exp(R). If "
        "||x||, ||y||, ||A|| <= R is meant, R exp(R^2) is right for every R, and the best.",
        falls=("sim/basic-1:literal-2",),
        stands=(
            "sim/basic-1:amended",
            "sim/basic-1:literal-1",
            "sim/basic-1:sharp-1",
            "sim/basic-1:sharp-2",
        ),
    ),
    Erratum(
        "sim/basic-3",
        printed="|alpha(x)_{l0,j0}^-1 - alpha(y)_{l0,j0}^-1| <= beta^-2 |alpha(x) - alpha(y)|, "
        "with no indices on the right and beta not defined.",
        fails="If alpha on the right sums over all n^2 rows, one block may gain what another one "
        "loses: the right side is 0 and the left is not.",
        repair="Keep the indices and say 0 < beta <= alpha(x), alpha(y). Where ||A x||, ||A y|| <= "
        "R, one may take beta = n exp(-R / sqrt n), and beta^-2 = exp(2 R / sqrt n) / n^2 is the "
        "best factor.",
        falls=("sim/basic-3:literal-2",),
        stands=("sim/basic-3:literal-1", "sim/basic-3:sharp-1", "sim/basic-3:sharp-2"),
    ),
    Erratum(
        "sim/basic-5",
        printed="||c(x, z) - c(y, z)|| <= R^2 beta^-2 n exp(3 R^2) ||x - y||; c and beta are not "
        "defined. Read: c = <f, h> - b, with the indices of the loss, on the domain of lemma 3.13.",
        fails="No condition bounds the values h.",
        repair="Define c, and add ||h|| <= R^2, as ||A_3|| <= R and ||z|| <= R would give. On the "
        "whole space the best constant is sqrt(2)/4 (max h - min h) spread(A), where spread(A) = "
        "max ||A_i - A_j|| / sqrt 2 <= ||A||. (Had c = f - z been meant, it holds as printed.)",
        falls=("sim/basic-5:literal-1",),
        stands=("sim/basic-5:amended", "sim/basic-5:sharp", "sim/basic-5:literal-2"),
    ),
)

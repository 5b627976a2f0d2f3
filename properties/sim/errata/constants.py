"""Errata of Lipschitz constants."""

from __future__ import annotations

import math

from attsvm.lipschitz import log_published_gradient_constant, softmax_gradient_constant
from properties.sim import (
    basic_1,
    basic_3,
    basic_5,
    lemma_3_13,
    lemma_3_13_hessian,
    stability_l2,
    stability_logistic,
)
from properties.sim.errata.made import erratum


def breaking_size(n: int, R: float) -> float:
    """The |b| (max h - min h) from which on a gradient may break the printed bound of lemma 3.13.

    There R^2 K passes the constant; two tokens about x = 0 attain K within the domain.
    """
    log = log_published_gradient_constant(n, R)
    low, high = 1.0, 2.0**500
    for _ in range(30):  # to a millionth, of which two digits are printed
        middle = math.sqrt(low) * math.sqrt(high)
        below = math.log(softmax_gradient_constant(middle) * R**2) < log
        low, high = (middle, high) if below else (low, middle)
    return high


def power_of_ten(x: float) -> str:
    """A large number to two digits."""
    return f"{x:.1e}".replace("e+", " * 10^")


CONSTANTS = (
    erratum(
        stability_logistic.STABILITY,
        printed="Computing the Lipschitz constants of the losses shows that softmax attention is "
        '"more stable than linear attention". No constant of linear attention is given.',
        fails="On the same data it is false, for the loss and for its gradient: where A^T h = 0 "
        "linear attention does not depend on x at all. Over all data with ||A|| <= R and ||h|| <= "
        "H it is true for the loss, but false for the gradient where |b| H is small: linear "
        "attention has b^2 R^2 H^2 / (6 sqrt 3), of second order in b, softmax attention a "
        "constant of first order.",
        repair="State the comparison over data of given norms. For the loss softmax attention has "
        "|b| R H / 8, half of linear attention's |b| R H / 4, and both are attained. For the "
        f"gradient it holds for |b| H >= {float(stability_logistic.UPPER):.4f} and fails for 0 < "
        f"|b| H < {float(stability_logistic.LOWER):.4f}. On the same data it holds for the loss "
        "where ||A^T h|| >= (max h - min h) diam(A) / 4, diam(A) the largest distance of two rows.",
        stands=("literal-3", "sharp", "sharp-2", "sharp-3", "amended-2"),
    ),
    erratum(
        stability_l2.STABILITY,
        printed="The comparison of softmax with linear attention includes the l2 loss; no constant "
        "is given for either.",
        fails="On the same data it is false, for the loss and for its gradient, whatever |b|, "
        "||h|| and R: where A^T h = 0 linear attention does not depend on x at all. Over all data "
        "of given norms it is true for the loss, but false for the gradient with large labels: the "
        "constant of linear attention, 2 ||A||^2 H^2 with H = ||h||, does not know b.",
        repair="State the comparison over data of given norms. Where ||A||, ||A x|| <= R, R >= 4, "
        "the loss of softmax attention has at most ||A|| H (R H + |b|), half of linear attention's "
        "constant, and comes near that as |b|/H grows. For the gradient it holds for |b| <= "
        f"{float(stability_l2.LOWER):.3f} H and fails for |b| > {float(stability_l2.UPPER):.3f} H.",
        stands=("amended-1", "amended-2", "literal-3", "sharp-1", "sharp-2", "sharp-3"),
    ),
    erratum(
        lemma_3_13.LEMMA,
        printed="|grad L(x) - grad L(x^)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^|| for R >= 4 and ||A "
        'x||, ||A y||, ||A|| <= R. ("Informal version of F.9", which the copy at hand lacks.)',
        fails="No condition in the main text bounds the label b or the head h, while the gradient "
        "at <f, h> = 0 is proportional to b; no constant in n and R alone can do. The constant "
        "itself is generous: at n = 2 and R = 4 it is broken only where |b| (max h - min h) "
        f"exceeds {power_of_ten(breaking_size(2, 4.0))}. (Read: x, y in R^(d^2), as A has d^2 "
        "columns, and L from definition 3.6.)",
        repair="Add |b| <= R and ||h|| <= R; then the printed constant holds. Without any domain, "
        "without n and without an exponential: ||A||^2 K(D), D = |b| (max h - min h), with K(D) "
        "the maximum over a, c in [0, 1] of D (1 - c^2) (1 - a^2) (a + D c (1 - a^2)/4) / 8. It is "
        "attained.",
        stands=("amended", "sharp"),
        telling={"literal": 1},
    ),
    erratum(
        lemma_3_13_hessian.LEMMA,
        printed="The constant of lemma 3.13, 3 n^3 R^7 exp(13 R^2) for R >= 4 and ||A x||, ||A|| "
        "<= R. Read: as a bound of the operator norm of the Hessian, which on this convex domain "
        "says the same as the lemma.",
        fails="As the lemma does, as nothing bounds the label b: L bends like b^2 where b <f, h> "
        "is of order 1.",
        repair="Add |b| <= R and ||h|| <= R, or take ||A||^2 K(D) as in lemma 3.13, which bounds "
        "the Hessian everywhere and is attained.",
        stands=("amended", "sharp"),
        telling={"literal": 1},
    ),
    erratum(
        basic_1.BOUND,
        printed="||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||; section 3.3 states no condition "
        "in the main text. (The minus signs of its seven bounds are lost in the copy at hand.)",
        fails="With ||A x||, ||A y||, ||A|| <= R alone it fails for small R. With R >= 4 as well, "
        "as in lemma 3.13, it holds.",
        repair="State the conditions, and R >= 1. The best constant there is ||A|| exp(R). If "
        "||x||, ||y||, ||A|| <= R is meant, R exp(R^2) is right for every R, and the best.",
        stands=("amended", "literal-1", "sharp-1", "sharp-2"),
    ),
    erratum(
        basic_3.BOUND,
        printed="|alpha(x)_{l0,j0}^-1 - alpha(y)_{l0,j0}^-1| <= beta^-2 |alpha(x) - alpha(y)|, "
        "with no indices on the right and beta not defined in the main text.",
        fails="If alpha on the right sums over all n^2 rows, one block may gain what another one "
        "loses: the right side is 0 and the left is not.",
        repair="Keep the indices and say 0 < beta <= alpha(x), alpha(y). Where ||A x||, ||A y|| <= "
        "R, one may take beta = n exp(-R / sqrt n), and beta^-2 = exp(2 R / sqrt n) / n^2 is the "
        "best factor.",
        stands=("literal-1", "sharp-1", "sharp-2"),
    ),
    erratum(
        basic_5.BOUND,
        printed="||c(x, z) - c(y, z)|| <= R^2 beta^-2 n exp(3 R^2) ||x - y||; c and beta are not "
        "defined in the main text. Read: c = <f, h> - b, with the indices of the loss, on the "
        "domain of lemma 3.13.",
        fails="No condition in the main text bounds the values h.",
        repair="Define c, and add ||h|| <= R^2, as ||A_3|| <= R and ||z|| <= R would give. On the "
        "whole space the best constant is sqrt(2)/4 (max h - min h) spread(A), where spread(A) = "
        "max ||A_i - A_j|| / sqrt 2 <= ||A||. (Had c = f - z been meant, it holds as printed.)",
        stands=("amended", "sharp", "literal-2"),
    ),
)

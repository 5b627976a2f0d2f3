"""Errata of the introduction: sizes, forms and what may be left out."""

from __future__ import annotations

from properties.sim import (
    attention_shape,
    fixed_head,
    l2_objective,
)
from properties.sim.errata.made import erratum

INTRODUCTION = (
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
)

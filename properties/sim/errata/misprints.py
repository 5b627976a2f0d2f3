"""Errata of misprints: sizes that do not fit, a letter for another one."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata as made
from properties.sim import attention_shape, definition_3_3, l2_objective

erratum = partial(made.erratum, weight=Weight.MISPRINT)

MISPRINTS = (
    erratum(
        attention_shape.SHAPE,
        fell="a misprint",
        gist="D(X) is n x n, not d x d, and x has d^2 entries, not d.",
        printed="D(X) := diag(exp(A1 X A2^T) 1_n) in R^{d x d} for A1, A2 in R^{n x d} (section "
        "1); x, y in R^d with ||A_{l0,j0} x|| (lemma 3.13).",
        fails="exp(A1 X A2^T) has n rows, so that D(X) fits only where n = d; the block A_{l0,j0} "
        "has d^2 columns (definition 3.1), which fits x only for d = 1.",
        repair="D(X) in R^{n x n}, and x, y in R^{d^2}: then all sizes fit.",
        stands=("amended-1", "amended-2"),
    ),
    erratum(
        l2_objective.OBJECTIVE,
        fell="a misprint",
        gist="max stands for mat, and D(x) is not defined.",
        printed="min_X ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||^2 is rewritten as min_x ||max(D(x)^-1 "
        "exp(A x)) A3 Y - B||^2, where A = A1 kron A2 and x = vec(X).",
        fails="With the largest entry in place of the matrix the functions differ. D(X) does not "
        "fit for D(x): exp(A x) has n^2 entries, D(X) n rows. (B is n x V, the attention n x d.)",
        repair="||mat(D(x)^-1 exp(A x)) A3 Y - B||^2 with D(x) = D(X) kron I_n: then the matrices "
        "within the two norms are equal.",
        stands=("amended",),
    ),
    erratum(
        definition_3_3.DEFINITION,
        fell="a misprint",
        gist="Att(X, Y) has A2 Y where the attention of the objective has A3 Y.",
        printed="The attention is <f(x)_{l0,j0}, h(y)_{l0,i0}>, where h(y)_{l0,i0} = A_{l0,3} "
        "y_{i0}.",
        fails="This is entry (j0, i0) of D(X)^-1 exp(A1 X A2^T) A3 Y. The formula that introduces "
        "attention has A2 Y for A3 Y, and the data set of section 1 has no A3.",
        repair="Say that A3 = A2, or write A3 in Att(X, Y). (f is a probability vector, as meant.)",
        stands=("amended", "literal-1", "literal-2"),
    ),
)

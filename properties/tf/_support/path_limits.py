"""Exact limits of regularisation paths, held against what a theorem names.

Proof of the limits. Let l(best - x) - l(best) lie between b x^k and a x^k near x = 0 for input i,
k = k_i its order: 1 where l' < 0 at the best score. With unique optimal tokens and least margin m_i
the deficit of input i is exp(-m_i) up to constant factors, so -log(L(W) - L_*) = min_i k_i m_i +
O(1) for all W whose m_i are positive. A minimiser over the ball of norm R has at least the
min_i k_i m_i of R V / ||V||, V of least norm with m_i >= 1/k_i, up to O(1), so W_R / R has it up to
O(1/R): every limit point W of norm at most 1 has min_i k_i m_i >= 1/||V|| and is a solution divided
by its norm. For the Frobenius norm that is V / ||V||, for the nuclear norm a set. All k_i = 1 gives
W^mm and Att-SVM*; where no input has two tokens V = 0 and there is no direction. An input whose
tokens all have one score has no deficit, so that it constrains no minimiser and is left out.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm.errors import SolverError, present
from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.numbers import subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, solve_exactly
from attsvm.theory import Measured
from properties._support.att_svm import exact_att_svm
from properties._support.descent_runs import max_margin
from properties._support.hypotheses import feasible, several_tokens
from properties.tf._support.regularisation_paths import (
    Path,
    follows,
    follows_set,
    nuclear,
    orders,
    steep,
)
from properties.tf._support.solution_ranks import beyond_rank


def limit_of(case: Path) -> ExactAnswer | None:
    """The programme with margins of at least 1 / k_i; None where nothing is constrained.

    Inputs whose tokens all have one score are left out; other ties are not decided.
    """
    exact = ExactData.of(case.data)
    D, Z, bound = [], [], []
    inputs = zip(exact.X, exact.Z, exact.optimal, orders(case, exact), strict=True)
    for tokens, z, best, order in inputs:
        if len(best) == len(tokens):
            continue
        for t, x in enumerate(tokens):
            if t != best[0]:
                D.append(subtract(tokens[best[0]], x))
                Z.append(z)
                bound.append(fmpq(1, order))
    return solve_exactly(ExactProgramme.of_rows(D, Z, bound)) if D else None


def certified_direction(case: Path, towards: str = "optimal") -> arb | None:
    """Minus the squared sine of the angle of target and V; None where it is 0.

    A right target is not for the proof to confirm: there the path that was found has to stand.
    """
    exact = ExactData.of(case.data)
    if any(1 < len(best) < len(x) for best, x in zip(exact.optimal, exact.X, strict=True)):
        return None
    limit, target = limit_of(case), max_margin(case.data, towards)
    if limit is None or target is None:
        return arb(-1)  # no direction, or nothing to converge to
    a, b = ([x for row in M for x in row] for M in (limit.W, target))
    inner, sizes = dot(a, b), dot(a, a) * dot(b, b)
    if sizes == 0 or inner <= 0:
        return arb(-1)
    return None if inner * inner == sizes else arb(inner * inner / sizes - 1)


def certified_set(
    case: Path,
    target: str = "solutions",
    share: int | Fraction = 1,
    inner: int | None = None,
) -> arb | None:
    """Negative where limit points lie outside the target; None where that is not shown.

    Limit points M have ||M||_* = 1 and margins of at least 1/C_*. A target scaled by `share` is at
    least |1 - share| / sqrt d away; worst tokens ask for opposite margins; W^mm over its nuclear
    norm is none where a feasible matrix is shorter. With fewer inner dimensions than d M has no
    larger rank, whatever the loss: none is near where every solution has a larger one, seen by its
    singular values (`solution_ranks`), or by a 2 x 2 minor of forced signs. With orders other than
    1 only data of parallel queries are decided: there both norms agree.
    """
    if not several_tokens(case) or not feasible(case) or target == "worst":
        return arb(-1)
    if not ExactData.of(case.data).unique:
        return _of_parallel(case) if share == 1 and inner is None else None
    if share != 1:
        return -abs(1 - arb(rational(share))) / arb(case.data.d).sqrt()
    if inner is not None and inner < case.data.d:
        return _ranks_are_above(case, inner)
    if not steep(case):
        return _of_parallel(case)
    return _frobenius_is_long(case) if target == "frobenius" else None


def _of_parallel(case: Path) -> arb | None:
    """`certified_direction` where all queries are parallel."""
    parallel = fmpq_mat(ExactData.of(case.data).Z).rank() == 1
    return certified_direction(case, "optimal") if parallel else None


def _ranks_are_above(case: Path, inner: int) -> arb | None:
    """Minus how far all solutions over C_* are from the matrices of that rank, or -1 by signs."""
    try:
        least = beyond_rank(nuclear(case.data), inner)
    except SolverError:
        least = None
    if least is not None:
        return -least
    return arb(-1) if inner == 1 and _turns(case) else None


def _turns(case: Path) -> bool:
    """Whether constraints on single entries make a 2 x 2 minor of every feasible W nonzero."""
    exact, signs = ExactData.of(case.data), dict[tuple[int, int], int]()
    for tokens, z, best in zip(exact.X, exact.Z, exact.optimal, strict=True):
        for x in tokens:
            D = subtract(tokens[best[0]], x)
            rows, columns = ([k for k, e in enumerate(v) if e != 0] for v in (D, z))
            if len(rows) == len(columns) == 1:
                signs[rows[0], columns[0]] = 1 if D[rows[0]] * z[columns[0]] > 0 else -1
    return any(
        signs.get((a, b), 0) * signs.get((c, d), 0) * signs.get((a, d), 0) * signs.get((c, b), 0)
        < 0
        for a in range(case.data.d)
        for c in range(a)
        for b in range(case.data.d)
        for d in range(b)
    )


def _frobenius_is_long(case: Path) -> arb | None:
    """Minus what ||W^mm||_* surely exceeds C_* by, relative to it; None where that is not shown.

    ||W||_* >= <Y, W> / ||Y||_op, and ||Y||_op^2 is at most the largest row sum of |Y^T Y|.
    """
    solved = present(exact_att_svm(case.data), "the answer of the SVM")
    W = np.array([[float(arb(x)) for x in row] for row in solved.W])
    U, _, Vt = np.linalg.svd(W)
    Y = rationals(U @ Vt)
    columns = list(zip(*Y, strict=True))
    rows = [sum((abs(dot(list(a), list(b))) for b in columns), fmpq(0)) for a in columns]
    inner = sum((dot(a, b) for a, b in zip(Y, solved.W, strict=True)), fmpq(0))
    least = arb(inner) / arb(max(rows)).sqrt()
    try:
        excess: arb = least / arb(nuclear(case.data).bracket[1]) - 1
    except SolverError:
        return None
    return -excess if excess > 0 else None


DIRECTION = Measured(
    "W_R / R tends to the direction of W^mm", floats=follows, balls=certified_direction
)
SET = Measured(
    "dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0", floats=follows_set, balls=certified_set
)

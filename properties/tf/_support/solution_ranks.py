"""Distances of the solutions of Att-SVM* from matrices of small rank, proved by multipliers.

Let multipliers w_j >= 0 be scaled so that S = sum_j w_j A_j has ||S||_op <= 1, A_j = D_j z_j^T. Let
||V||_* <= C for some feasible V, and delta = C - sum_j w_j, which is 0 at the optimum. Every
solution W is S H up to an error of norm e = (2 C delta)^(1/2), with H = (W^T W)^(1/2). The entries
of H satisfy linear equations up to known errors, which enclose all solutions at once. The numbered
steps are in docs/proofs/ranks_of_solutions.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from attsvm._types import Array
from attsvm._witness import Plain, floats, proposed
from attsvm.data import AttentionData
from attsvm.exact import ExactData, norm, rationals
from attsvm.exact.numbers import (
    Matrix,
    Vector,
    eigenvalues,
    exact_mid,
    product,
    spectral_norm,
    transpose,
)
from attsvm.exact.optimality import norm_bracket
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import selecting
from attsvm.primitives.att_svm import first_optimal

if TYPE_CHECKING:
    from attsvm.svm.nuclear import NuclearAnswer

NUCLEAR = "nuclear-norm solution, and its multipliers"
"""The proposal that `nuclear_proposal` asks for."""

INVERSE_BITS, RIDGE = 512, 200
"""Precision in bits of the left inverse, and the exponent of its relative error 2^-RIDGE."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A matrix and multipliers near a nuclear-norm solution; nothing is supposed of them.

    Attributes:
        programme: the constraints.
        W: the matrix.
        weights: the multipliers; negative ones count as 0.
    """

    programme: ExactProgramme
    W: Matrix
    weights: Vector

    @classmethod
    def of(cls, programme: ExactProgramme, W: Array, weights: Array) -> Proposal:
        """Return the exact values of a proposal in floats."""
        return cls(programme, rationals(W), rationals(np.maximum(weights, 0.0)))


def nuclear_proposal(
    data: AttentionData, solve: Callable[[], NuclearAnswer | None]
) -> Proposal | None:
    """Return a nuclear-norm solution for the first optimal tokens, by floats or from a witness.

    None if nothing is constrained, or the solver finds none.

    Raises:
        FileError: a witness does not fit.
    """

    def find() -> Plain:
        answer = solve()
        return None if answer is None else [answer.W.tolist(), answer.weights.tolist()]

    exact = ExactData.of(data)
    programme = selecting(exact, first_optimal(exact))
    plain = None if programme is None else proposed(NUCLEAR, find)
    if programme is None or plain is None:
        return None
    W, weights = plain if isinstance(plain, list) and len(plain) == 2 else (None, None)
    return Proposal.of(
        programme,
        np.array(floats(W, data.d, data.d)),
        np.array(floats(weights, len(programme.bound))),
    )


def beyond_rank(answer: Proposal, rank: int) -> arb | None:
    """Return a lower bound of s_(rank+1)(W) / ||W||_* for all solutions W; None if not > 0."""
    _, most = norm_bracket(answer.programme, answer.W, answer.weights, "nuc")
    near = _near_solutions(answer.programme, answer.weights, most)
    if near is None or rank >= len(near[0]):
        return None
    H = near[0]
    values = eigenvalues([[exact_mid(x) for x in row] for row in H])
    ordered = sorted((x for x, count in values for _ in range(count)), key=lambda x: -x.mid())
    away = norm([x.rad() for row in H for x in row])
    least = ((ordered[rank] - away).lower() / most).lower()
    return least if least > 0 else None


def diameter(programme: ExactProgramme, weights: Vector, most: arb) -> arb | None:
    """Return an upper bound of the distance of any two feasible matrices of norm at most `most`.

    The norm is the nuclear one. Each matrix is S H up to e, with H in the enclosure. So two of them
    differ by at most twice the radius of the enclosure plus 2 e.

    Args:
        programme: inequalities of bound 1.
        weights: any multipliers; the bound is small for nearly optimal ones.
        most: at least the least nuclear norm.

    Returns:
        The bound, None without one.
    """
    near = _near_solutions(programme, weights, most)
    if near is None:
        return None
    H, error = near
    apart: arb = 2 * (norm([x.rad() for row in H for x in row]) + error)
    return apart.upper()


def _near_solutions(
    programme: ExactProgramme, weights: Vector, most: arb
) -> tuple[Matrix, arb] | None:
    """Return the enclosure of H, and e, for all feasible W with ||W||_* <= most.

    Here `most` is at least C_*. None if the multipliers are all 0 or the enclosure is not finite.
    """
    S, size = programme.matrix(weights), arb(0)
    if any(x != 0 for row in S for x in row) and most.is_finite():
        size = spectral_norm(S)
    if not size > 0:
        return None
    size, most = size.upper(), most.upper()
    scaled, shares = [[x / size for x in row] for row in S], [w / size for w in weights]
    delta = (most - sum(shares, arb(0))).upper().max(arb(0))
    error = (2 * most * delta).sqrt().upper()
    H = enclosure(programme, scaled, shares, most)
    return (H, error) if all(x.is_finite() for row in H for x in row) else None


def enclosure(programme: ExactProgramme, S: Matrix, weights: Vector, most: arb) -> Matrix:
    """Return balls for the entries of (W^T W)^(1/2), for any solution W, by steps 1 to 5."""
    d = len(S[0])
    delta = (most - sum(weights, arb(0))).upper().max(arb(0))
    error = (2 * most * delta).sqrt().upper()
    St = transpose(S)
    gap = [[int(a == b) - x for b, x in enumerate(row)] for a, row in enumerate(product(St, S))]
    places = [(a, b) for a in range(d) for b in range(a, d)]
    rows, values = [], []
    D = [[fmpq(x, programme.unit_left) for x in row] for row in programme.D.tolist()]
    Z = [[fmpq(x, programme.unit_right) for x in row] for row in programme.Z.tolist()]
    for left, z, w, bound in zip(D, Z, weights, programme.bound, strict=True):
        if not w > 0:
            continue
        turned = [sum((x * y for x, y in zip(row, left, strict=True)), arb(0)) for row in St]
        rows.append([turned[a] * z[b] + (turned[b] * z[a] if a != b else 0) for a, b in places])
        off = error * norm(left) * norm(z)
        values.append((bound - off).union(bound + delta / w + off))
    for a in range(d):
        for b in range(d):  # entry (a, b) of H G is sum_c H_ac G_cb
            row = [arb(0)] * len(places)
            for c in range(d):
                row[places.index((min(a, c), max(a, c)))] += gap[c][b]
            rows.append(row)
            values.append(arb(0, error))
    R = arb_mat(rows)
    L = _left_inverse(R, values)
    left_over = L * R
    known = L * arb_mat([[y] for y in values])
    ball, entries = arb(0, most), {}
    for k, place in enumerate(places):
        rest = sum((abs(int(k == m) - left_over[k, m]) for m in range(len(places))), arb(0))
        entries[place] = known[k, 0] + rest * ball
    return [[entries[min(a, b), max(a, b)] for b in range(d)] for a in range(d)]


def _left_inverse(R: arb_mat, values: Vector) -> arb_mat:
    """Return an approximate pseudo-inverse of R, with rows weighted by the precision of `values`.

    It is (N + r I)^-1 R^T D^2 in rationals, with N = R^T D^2 R for the weights D. The number r is
    so small that it matters only if N is nearly singular.
    """
    radii = [arb(y.rad()) for y in values]
    widest = functools.reduce(arb.max, radii)
    with ctx.workprec(INVERSE_BITS):
        floor = (widest * arb("1e-12")).max(arb(2) ** -60)
        weights = [(1 / (r.max(floor) * r.max(floor))).mid() for r in radii]
        middle = R.mid()
        left = arb_mat(
            [[middle[k, m] * w for k, w in enumerate(weights)] for m in range(R.ncols())]
        )
        N = left * middle
        ridge = sum((N[k, k] for k in range(N.nrows())), arb(0)) * arb(2) ** -RIDGE
        regular = [
            [N[j, k] + (ridge if j == k else 0) for k in range(N.nrows())] for j in range(N.nrows())
        ]
        try:
            return arb_mat(regular).solve(left, algorithm="approx").mid()
        except ZeroDivisionError:
            return arb_mat(R.ncols(), R.nrows())

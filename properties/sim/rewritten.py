"""The two forms of the l2 objective: with matrices, and with A1 kron A2 and vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.attention import vec
from attsvm.exact import rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.numbers import Matrix, dot, subtract, transpose
from attsvm.theory import Slack
from properties.sim.attentions import (
    EPS,
    Attention,
    Regression,
    attention,
    exact_attention,
    exact_values,
    rounding,
)

__all__ = ["divisor_and_entries", "exact_objectives", "forms", "objectives"]


def mat(x: Array, read: str) -> Array | float:
    """The matrix with the entries of x row by row, or column by column; or the largest entry."""
    n = math.isqrt(x.size)
    if read == "max":
        return float(x.max())
    return x.reshape(n, n) if read == "rows" else x.reshape(n, n).T


def rewritten(case: Attention, read: str, divided: str) -> Array:
    """mat(D(x)^-1 exp(A x)) A3 Y, by the whole Kronecker product; numbers and symbols alike."""
    logits = np.kron(case.A1, case.A2) @ vec(case.X)
    parts = len(case.A1) if divided == "rows" else 1  # as a whole: D(x) = <exp(A x), 1> I
    blocks = logits.reshape(parts, -1)
    top = blocks.max(axis=1, keepdims=True)
    sums = top + np.log(np.exp(blocks - top).sum(axis=1, keepdims=True))
    weights = mat(np.exp(logits - np.repeat(sums.ravel(), blocks.shape[1])), read)
    values: Array = case.A3 @ case.Y
    return weights * values if isinstance(weights, float) else weights @ values


def forms(case: Attention, read: str, divided: str) -> tuple[Array, Array]:
    """The matrices that the two objectives compare with B; numbers and symbols alike."""
    return attention(case, case.A3), rewritten(case, read, divided)


def objectives(case: Regression, read: str, divided: str) -> Slack:
    """The difference of the two objectives, in the Frobenius norm."""
    left, right = (matrix - case.B for matrix in forms(case.attention, read, divided))
    reach = float((np.abs(case.attention.A3) @ np.abs(case.attention.Y)).max())
    size = reach * len(case.B) + float(np.abs(case.B).max())
    error = 16 * (rounding(case.attention) + EPS * case.B.size) * size**2 * case.B.size
    return Slack.equal(float((left**2).sum() - (right**2).sum()), error + 1e-300)


def exact_objectives(case: Regression, read: str, divided: str) -> arb:
    """Minus the difference, the second objective from the logits of the Kronecker product."""
    a = case.attention
    A1, A2, x = rationals(a.A1), rationals(a.A2), [v for row in rationals(a.X) for v in row]
    kron = [[p * q for p in row for q in other] for row in A1 for other in A2]
    logits, n = [dot(row, x) for row in kron], len(A1)
    rows: Matrix = [exact_softmax(logits[j * n : (j + 1) * n]) for j in range(n)]
    if divided == "whole":
        flat = exact_softmax(logits)
        rows = [flat[j * n : (j + 1) * n] for j in range(n)]
    if read == "max":
        top = arb(0)
        for p in (p for row in rows for p in row):
            top = top.max(p)
        rows = [[top if j == t else fmpq(0) for t in range(n)] for j in range(n)]
    weights: Matrix = transpose(rows) if read == "columns" else rows
    B = rationals(case.B)
    left = square(exact_values(exact_attention(a), a.A3, a.Y), B)
    return -abs(arb(left - square(exact_values(weights, a.A3, a.Y), B)))


def square(M: Matrix, B: Matrix) -> Any:
    """||M - B||_F^2."""
    return sum((dot(r, r) for r in map(subtract, M, B)), arb(0))


def divisor_and_entries(case: Regression, divisor: str) -> tuple[int, int]:
    """Columns of the matrix D(x) and the entries of exp(A x) that it has to divide."""
    a = case.attention
    with np.errstate(over="ignore"):
        D = np.diag(np.exp(a.A1 @ a.X @ a.A2.T) @ np.ones(len(a.A2)))
    stated = {"formula": D, "printed": np.eye(a.X.shape[0]), "kron": np.kron(D, a.X)}
    return stated[divisor].shape[1], (np.kron(a.A1, a.A2) @ vec(a.X)).size

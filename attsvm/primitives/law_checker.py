"""Probabilities and nuclear norms for the checker of `theory.record.checker`.

A verifier prints what it needs of this file after `claim_checker`. Probabilities are exact.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction as Q
from math import comb, isqrt

from attsvm.primitives.claim_checker import all_tight, predictions, rank, transposed
from attsvm.primitives.data_checker import Matrix, Vector, inner, least, matrix, minus, rows
from attsvm.theory.record.checker import Real, Undefined, dot, reals, spectral, sqrt

# probabilities


def equal_scores_chance(n: int, T: int, d: int) -> Q:
    """Return the probability that in each input one token is best and all others score the same.

    Each of the n inputs has T tokens, whose scores are independent sums of d fair signs.
    """
    result, above = 0, 0
    for k in range(d, -1, -1):  # rivals have k plus signs, and the best token has more
        result += T * comb(d, k) ** (T - 1) * above
        above += comb(d, k)
    return Q(result, 2 ** (d * T)) ** n if T > 1 else Q(1)


def spoken(follow: Sequence[Sequence[int]], n: int) -> list[tuple[list[int], Q]]:
    """Return all sentences of n tokens and their probabilities, if the first token is uniform."""
    texts = [([k], Q(1, len(follow))) for k in range(len(follow))]
    for _ in range(n - 1):
        texts = [
            ([*text, k], chance * Q(weight, sum(follow[text[-1]])))
            for text, chance in texts
            for k, weight in enumerate(follow[text[-1]])
            if weight
        ]
    return texts


def support_chance(
    follow: Sequence[Sequence[int]], m: int, n: int, multipliers: Sequence[Vector]
) -> Q:
    """Return the probability that all tokens support the solution of m random sentences.

    Attention is over all tokens, which are orthonormal. `multipliers` has, for each choice of m
    sentences, the multipliers that prove its solution, or that there is none.
    """
    V, result = len(follow), Q(0)
    E = [[Q(a == b) for b in range(V)] for a in range(V)]
    choices = itertools.product(spoken(follow, n), repeat=m)
    for chosen, weights in zip(choices, multipliers, strict=True):
        data, chance = predictions(E, [text for text, _ in chosen], True), Q(1)
        for _, share in chosen:
            chance *= share
        if all_tight(data, least(rows(data, data.optimal), weights, V * V)):
            result += chance
    return result


# nuclear norms


def inverted(M: Matrix) -> list[list[Q]]:
    """Return the inverse of a matrix, by elimination; raise ZeroDivisionError if it is singular."""
    n = len(M)
    rest = [[*map(Q, row), *(Q(i == j) for j in range(n))] for i, row in enumerate(M)]
    for k in range(n):
        p = next((i for i in range(k, n) if rest[i][k]), k)
        rest[k], rest[p] = rest[p], rest[k]
        rest[k] = [x / rest[k][k] for x in rest[k]]
        for i in set(range(n)) - {k}:
            rest[i] = minus(rest[i], [rest[i][k] * x for x in rest[k]])
    return [row[n:] for row in rest]


def determinant(M: Sequence[Sequence[Real]]) -> Real:
    """Return the determinant, by expansion along the first row."""
    if not M:
        return Real(1)
    minors = ([[*row[:k], *row[k + 1 :]] for row in M[1:]] for k in range(len(M)))
    products = [x * determinant(part) for x, part in zip(M[0], minors, strict=True)]
    return sum((x * (-1) ** k for k, x in enumerate(products)), Real(0))


def nuclear_rank(A: Matrix, V: Vector, root: Matrix, multipliers: Vector) -> int:
    """Return d if all d x d W of least nuclear norm with <a, W> >= 1 for all rows a have rank d.

    Let S = sum_j w_j a_j have spectral norm 1. Let C bound the nuclear norm of a matrix V with
    margins of at least 1, and gap = C - sum_j w_j. Then ||W - S H|| <= sqrt(2 C gap) for
    H = (W^T W)^(1/2), and <a_j, W> <= 1 + gap/w_j (docs/proofs/ranks_of_solutions.md). These
    equations enclose H. C is (|V B^-1|^2 + |B|^2)/2 for any matrix B, here `root`.
    """
    d = isqrt(len(V))
    size = spectral(reals(matrix([inner(multipliers, c) for c in transposed(A)]))).high
    shares = [w / size for w in multipliers]
    S = transposed(matrix([inner(shares, c) for c in transposed(A)]))
    turned = [[inner(row, c) for c in transposed(inverted(root))] for row in matrix(V)]
    entries = [x for part in (turned, root) for row in part for x in row]
    most = inner(entries, entries) / 2 / min(inner(a, V) for a in A)
    gap = most - sum(shares)
    error = sqrt(2 * most * gap)
    places = [(a, b) for a in range(d) for b in range(a + 1)]
    equations: list[list[Q]] = []
    values: list[Real] = []
    for a, w in zip(A, shares, strict=True):
        T = [[inner(row, c) for c in transposed(matrix(a))] for row in S]
        row = [T[i][j] + (T[j][i] if i != j else 0) for i, j in places]
        if w > 0 and rank([*equations, row]) > len(equations):
            off = (error * sqrt(inner(a, a))).high
            equations.append(row)
            values.append(Real(1 - off, 1 + gap / w + off))
    if min(multipliers) < 0 or min(inner(a, V) for a in A) <= 0 or len(equations) < len(places):
        raise Undefined("the multipliers or the matrix prove nothing")
    known = dict(zip(places, (dot(row, values) for row in inverted(equations)), strict=True))
    H = [[known[max(i, j), min(i, j)] for j in range(d)] for i in range(d)]
    if determinant(H).low > 0:
        return d
    raise Undefined("a solution may have a smaller rank")

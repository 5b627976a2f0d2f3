"""Losses, data and max-margin programmes for the checker of `theory.record.checker`.

Verifiers of statements about data and runs print this file after the checker, so that it uses
nothing but the standard library. It has no code in common with `attsvm.exact`, which the engine
uses. All values are exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction as Q
from math import isqrt
from typing import TypeVar

from attsvm.theory.record.checker import Answer, Real, Undefined, equal, exp, fact, log, sqrt

T = TypeVar("T")
Vector = Sequence[Q]
Matrix = Sequence[Vector]

# losses l(u): value and slope, and bounds of |l'| and |l''| on scores from a to b


def bell(u: Real) -> Real:
    """Return g(u) (1 - g(u)) of the logistic function g, as 1 / (2 + e^u + e^-u)."""
    return 1 / (2 + exp(u) + exp(-u))


LOSSES: dict[str, tuple[Callable[[Real], Real], Callable[[Real], Real]]] = {
    "log-loss": (lambda u: log(1 + exp(-u)), lambda u: -1 / (1 + exp(u))),
    "exponential": (lambda u: exp(-u), lambda u: -exp(-u)),
    "correlation": (lambda u: -u, lambda u: Real(-1)),
    "logistic-loss": (lambda u: 1 / (1 + exp(u)), lambda u: -bell(u)),
    "cubic": (lambda u: -u * u * u, lambda u: -3 * (u * u)),
    "squared": (lambda u: (1 - u) * (1 - u), lambda u: 2 * (u - 1)),
    "logistic": (lambda u: 1 / (1 + exp(-u)), bell),
}

SLOPED = ("log-loss", "exponential", "correlation", "logistic-loss")
"""Their slopes, above, are continuous and negative everywhere."""

STEEP_EVERYWHERE = (*SLOPED, "cubic", "kinked")
"""They decrease strictly: -3 u^2 is 0 at one point only; "kinked" is max(-u, -2u)."""

FLAT_SOMEWHERE = ("hinge", "squared-hinge")
"""max(0, 1 - u) and its square decrease up to 1 and are 0 from there on."""


def strictly_decreasing(loss: str) -> Answer:
    """Return whether l(u) < l(t) for all u > t."""
    return fact(loss in STEEP_EVERYWHERE)


def decreasing(loss: str) -> Answer:
    """Return whether l(u) <= l(t) for all u > t."""
    return fact(loss in (*STEEP_EVERYWHERE, *FLAT_SOMEWHERE))


def smooth(loss: str) -> Answer:
    """Return whether l has a continuous derivative; the square of the hinge has one."""
    return fact(loss in LOSSES or loss == "squared-hinge")


def sloped(loss: str) -> Answer:
    """Return whether l' is continuous and below 0 everywhere."""
    return fact(loss in SLOPED)


def sizes(loss: str, a: Q, b: Q) -> tuple[Real, Real]:
    """Return bounds of |l'| and |l''| on scores from a to b."""
    if loss in ("logistic", "logistic-loss"):
        return Real(Q(1, 4)), 1 / (6 * sqrt(3))
    if loss == "exponential":
        return exp(-a), exp(-a)
    reach = max(abs(a), abs(b))
    known = {
        "log-loss": (Q(1), Q(1, 4)),
        "correlation": (Q(1), Q(0)),
        "squared": (2 * max(abs(a - 1), abs(b - 1)), Q(2)),
        "cubic": (3 * reach * reach, 6 * reach),
    }
    slope, bend = known[loss]
    return Real(slope), Real(bend)


# data


class Data:
    """Inputs, each with tokens, a query, and a score of each token; n of them share the mean."""

    def __init__(self, X: Sequence[Matrix], Z: Matrix, scores: Matrix, n: int = 0) -> None:
        self.X, self.Z, self.scores, self.n = X, Z, scores, n or len(X)
        self.best = [[t for t, g in enumerate(row) if g == max(row)] for row in scores]
        self.optimal = [tied[0] for tied in self.best]
        self.worst = [row.index(min(row)) for row in scores]

    @property
    def moving(self) -> Data:
        """The inputs with two different scores: the others have no gradient."""
        kept = [i for i, row in enumerate(self.scores) if len(set(row)) > 1]
        X, Z = [self.X[i] for i in kept], [self.Z[i] for i in kept]
        return Data(X, Z, [self.scores[i] for i in kept], self.n)

    @property
    def opposed(self) -> Data:
        """The data with the opposite scores: descent on l(u) is that on l(-u) for these."""
        return Data(self.X, self.Z, [[-g for g in row] for row in self.scores], self.n)


def labelled(X: Sequence[Matrix], Z: Matrix, y: Vector, v: Vector) -> Data:
    """Return inputs with the scores y_i <v, x_it>."""
    return Data(X, Z, [[b * inner(v, x) for x in rows] for rows, b in zip(X, y, strict=True)])


def prompted(keys: Sequence[Matrix], scores: Matrix) -> Data:
    """Return the inputs of descent on a prompt p: the query e_1, so that p is the first column."""
    return Data(keys, [[Q(k == 0) for k in range(len(keys[0][0]))] for _ in keys], scores)


def transposed(X: Matrix) -> list[list[Q]]:
    """Return the transpose: the logits a_j^T X a_t are those of W = X^T."""
    return [list(c) for c in zip(*X, strict=True)]


def column(p: Vector) -> list[list[Q]]:
    """Return the square matrix with the first column p, and 0 elsewhere."""
    return [[x, *([Q(0)] * (len(p) - 1))] for x in p]


def self_attention(
    tokens: Sequence[Matrix], values: Matrix, labels: Sequence[Matrix], causal: bool
) -> Data:
    """Return an input for each label b other than 0, with query x_j and scores b <x_t, y_k>."""
    X, Z, scores = [], [], []
    for sequence, rows in zip(tokens, labels, strict=True):
        for j, row in enumerate(rows):
            for b, y in zip(row, zip(*values, strict=True), strict=True):
                seen = sequence[: j + 1] if causal else sequence
                if b:
                    X.append(seen)
                    Z.append(sequence[j])
                    scores.append([b * inner(x, y) for x in seen])
    return Data(X, Z, scores)


def predictions(E: Matrix, sentences: Sequence[Sequence[int]], whole: bool) -> Data:
    """Return an input for each token with a next one, by embeddings E.

    It is the query. The tokens are the whole vocabulary, or those of the sentence up to it. Scores
    are inner products with the next token.
    """
    X, Z, scores = [], [], []
    for sentence in sentences:
        for j in range(len(sentence) - 1):
            seen = E if whole else [E[k] for k in sentence[: j + 1]]
            X.append(seen)
            Z.append(E[sentence[j]])
            scores.append([inner(x, E[sentence[j + 1]]) for x in seen])
    return Data(X, Z, scores)


def inner(x: Vector, y: Vector) -> Q:
    """Return the inner product of rational vectors."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Q(0))


def minus(x: Vector, y: Vector) -> list[Q]:
    """Return the difference of two vectors."""
    return [a - b for a, b in zip(x, y, strict=True)]


def flat(W: Sequence[Sequence[T]]) -> list[T]:
    """Return the entries of a matrix, row by row."""
    return [x for row in W for x in row]


# max-margin programmes


def rows(data: Data, chosen: Sequence[int]) -> list[list[Q]]:
    """Return (x_chosen - x_t) z^T, entry by entry, for every other token t of each input."""
    return [
        [a * b for a in minus(X[c], x) for b in z]
        for X, z, c in zip(data.X, data.Z, chosen, strict=True)
        for t, x in enumerate(X)
        if t != c
    ]


def least(A: Matrix, multipliers: Vector, size: int) -> list[Q] | None:
    """Return the shortest w with <a, w> >= 1 for all rows a; None if there is no such w.

    Let w be the sum of multipliers times rows, and all multipliers be at least 0. If w = 0 and some
    multiplier is positive, there is no solution: it would have a positive inner product with 0. If
    w meets all rows, and those of positive multiplier with equality, it is the shortest: each other
    solution u has <w, u> >= sum of multipliers = <w, w>.
    """
    w = [Q(0)] * size
    for multiplier, row in zip(multipliers, A, strict=True):
        w = [x + multiplier * a for x, a in zip(w, row, strict=True)]
    if min(multipliers, default=Q(0)) < 0:
        raise Undefined("a multiplier is negative")
    if not any(w) and any(multipliers):
        return None
    margins = [inner(a, w) for a in A]
    if all(g >= 1 and (g == 1 or not m) for g, m in zip(margins, multipliers, strict=True)):
        return w
    raise Undefined("the multipliers do not belong to the rows")


def unique(data: Data) -> bool:
    """Return whether each input has one token of highest score."""
    return all(len(tied) == 1 for tied in data.best)


def rivals_equal(data: Data) -> bool:
    """Return whether all tokens of an input but its first optimal one have one score."""
    others = ([*row[:b], *row[b + 1 :]] for row, b in zip(data.scores, data.optimal, strict=True))
    return all(len(set(row)) <= 1 for row in others)


def all_tight(data: Data, target: Vector | None) -> bool:
    """Return whether all tokens but the optimal ones have margin 1 under the solution."""
    return target is not None and all(inner(a, target) == 1 for a in rows(data, data.optimal))


def matrix(w: Vector) -> list[Vector]:
    """Return the square matrix with these entries, row by row."""
    d = isqrt(len(w))
    return [w[k : k + d] for k in range(0, len(w), d)]


def along(w: Vector, target: Vector | None) -> Answer:
    """Return whether w is a positive multiple of the target; the slack is cos^2 - 1, or -1."""
    if target is None:
        return fact(False)
    square = inner(w, w) * inner(target, target)
    cosine = inner(w, target)
    if not square or cosine <= 0:
        return fact(False)
    return equal(cosine * cosine / square, 1)


def mean(A: Matrix) -> list[Q]:
    """Return the mean of some rows."""
    return [sum(column, Q(0)) / len(A) for column in zip(*A, strict=True)]


def rank(M: Matrix) -> int:
    """Return the rank of a matrix, by elimination."""
    rest, count = [list(row) for row in M], 0
    while rest:
        pivot = rest.pop()
        k = next((k for k, x in enumerate(pivot) if x), None)
        if k is not None:
            count += 1
            rest = [minus(row, [row[k] * Q(x) / pivot[k] for x in pivot]) for row in rest]
    return count


def linear_scores(data: Data) -> bool:
    """Return whether labels y of 1 and -1 and some v have y_i <v, x_t> = score_t for all tokens.

    That is, whether the column of the y_i score_t is a combination of the columns of the tokens.
    """
    tokens = [x for X in data.X for x in X]
    return any(
        rank([[*x, s] for x, s in zip(tokens, flat(signed), strict=True)]) == rank(tokens)
        for y in itertools.product((1, -1), repeat=len(data.X))
        for signed in [[[b * s for s in row] for b, row in zip(y, data.scores, strict=True)]]
    )


def optima_differ(data: Data) -> bool:
    """Return whether the optimal tokens of inputs of several tokens are all different."""
    best = [X[c] for X, c in zip(data.X, data.optimal, strict=True) if len(X) > 1]
    return all(x not in best[:k] for k, x in enumerate(best))


def decisions_differ(data: Data, target: Vector, turned: bool) -> bool:
    """Return whether the decisions (w, c) of different optimal tokens are no multiples.

    w is the solution times the query, and c is halfway between the optimal token and the nearest
    other one in <w, x>. With `turned`, negative multiples count as different.
    """
    made = []
    for X, z, best in zip(data.X, data.Z, data.optimal, strict=True):
        w = [inner(row, z) for row in matrix(target)]
        leads = [inner(w, minus(X[best], x)) for t, x in enumerate(X) if t != best]
        if leads:
            made.append(([*w, inner(w, X[best]) - Q(min(leads)) / 2], X[best]))
    for k, (u, x) in enumerate(made):
        for v, y in made[:k]:
            parallel = inner(u, u) * inner(v, v) == inner(u, v) ** 2
            if x != y and parallel and not (turned and inner(u, v) < 0):
                return False
    return True


def head_rows(X: Sequence[Matrix], y: Vector, alpha: Sequence[int]) -> list[list[Q]]:
    """Return the rows y_i x_alpha of the v-SVM."""
    return [[b * x for x in tokens[a]] for tokens, b, a in zip(X, y, alpha, strict=True)]


def prompt_rows(X: Sequence[Matrix], W: Matrix, alpha: Sequence[int]) -> list[list[Q]]:
    """Return the rows W (x_alpha - x_t) of the p-SVM, for every other token t of each input."""
    gaps = [
        minus(tokens[a], x)
        for tokens, a in zip(X, alpha, strict=True)
        for t, x in enumerate(tokens)
        if t != a
    ]
    return [[inner(row, gap) for row in W] for gap in gaps]


def one_hot(labels: Sequence[Matrix]) -> bool:
    """Return whether each row has a single 1, and 0 elsewhere."""
    return all(sorted(row) == [0] * (len(row) - 1) + [1] for part in labels for row in part)


def is_identity(M: Matrix) -> bool:
    """Return whether a matrix is the identity."""
    return all(x == (i == j) for i, row in enumerate(M) for j, x in enumerate(row))


def has_direction(target: Vector | None) -> bool:
    """Return whether there is a solution, and it is not 0."""
    return target is not None and any(target)

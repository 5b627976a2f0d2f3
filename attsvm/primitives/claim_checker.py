"""Words of single statements for the checker of `theory.record.checker`.

They form data from other instances, and say what hypotheses and conclusions are about. A verifier
prints those that its statement uses, after the functions of `data_checker` and `run_checker`.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction as Q

from attsvm.primitives.data_checker import (
    LOSSES,
    SLOPED,
    Data,
    Matrix,
    Vector,
    flat,
    inner,
    least,
    matrix,
    minus,
    rows,
)
from attsvm.primitives.run_checker import gradient, is_low, is_stationary
from attsvm.theory.record.checker import Answer, Undefined, all_of, below, dot, fact, reals

# losses, by their names

STEEP_EVERYWHERE = (*SLOPED, "cubic", "kinked")
"""Losses that decrease strictly: -u^3 has slope 0 at one point only; "kinked" is max(-u, -2u)."""

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


# data


def transposed(X: Matrix) -> list[list[Q]]:
    """Return the transpose: the logits a_j^T X a_t are those of W = X^T."""
    return [list(c) for c in zip(*X, strict=True)]


def labelled(X: Sequence[Matrix], Z: Matrix, y: Vector, v: Vector) -> Data:
    """Return inputs with the scores y_i <v, x_it>."""
    return Data(X, Z, [[b * inner(v, x) for x in rows] for rows, b in zip(X, y, strict=True)])


def prompted(keys: Sequence[Matrix], scores: Matrix) -> Data:
    """Return the inputs of descent on a prompt p: the query e_1, so that p is the first column."""
    return Data(keys, [[Q(k == 0) for k in range(len(keys[0][0]))] for _ in keys], scores)


def product(A: Matrix, B: Matrix) -> list[list[Q]]:
    """Return A B^T."""
    return [[inner(a, b) for b in B] for a in A]


def column(p: Vector) -> list[list[Q]]:
    """Return the square matrix with the first column p, and 0 elsewhere."""
    return [[x, *([Q(0)] * (len(p) - 1))] for x in p]


def self_attention(
    tokens: Sequence[Matrix], values: Matrix, labels: Sequence[Matrix], causal: bool
) -> Data:
    """Return an input for each label b other than 0, with query x_j and scores b <x_t, y_k>."""
    X, Z, scores = [], [], []
    for sequence, about in zip(tokens, labels, strict=True):
        for j, row in enumerate(about):
            for b, y in zip(row, zip(*values, strict=True), strict=True):
                seen = sequence[: j + 1] if causal else sequence
                if b:
                    X.append(seen)
                    Z.append(sequence[j])
                    scores.append([b * inner(x, y) for x in seen])
    return Data(X, Z, scores)


def predictions(E: Matrix, sentences: Sequence[Sequence[int]], whole: bool) -> Data:
    """Return an input for each token with a next one, by embeddings E.

    That token is the query. The tokens are the whole vocabulary, or those of the sentence up to it.
    Scores are inner products with the next token.
    """
    X, Z, scores = [], [], []
    for sentence in sentences:
        for j in range(len(sentence) - 1):
            seen = E if whole else [E[k] for k in sentence[: j + 1]]
            X.append(seen)
            Z.append(E[sentence[j]])
            scores.append([inner(x, E[sentence[j + 1]]) for x in seen])
    return Data(X, Z, scores)


# conditions


def rivals_equal(data: Data) -> bool:
    """Return whether all tokens of an input but its first optimal one have the same score."""
    others = ([*row[:b], *row[b + 1 :]] for row, b in zip(data.scores, data.optimal, strict=True))
    return all(len(set(row)) <= 1 for row in others)


def all_tight(data: Data, target: Vector | None) -> bool:
    """Return whether all tokens but the optimal ones have margin 1 under the solution."""
    return target is not None and all(inner(a, target) == 1 for a in rows(data, data.optimal))


def margins_of(data: Data, chosen: Sequence[int], w: Vector) -> list[Q]:
    """Return the margins under w of the chosen tokens over all others of their inputs."""
    return [inner(a, w) for a in rows(data, chosen)]


def leads(data: Data, chosen: Sequence[int]) -> list[Q]:
    """Return how much more the chosen token scores than each other token of its input."""
    inputs = zip(data.scores, chosen, strict=True)
    return [row[c] - g for row, c in inputs for t, g in enumerate(row) if t != c]


def locally_optimal(data: Data, chosen: Sequence[int], w: Vector | None) -> bool:
    """Return whether the Local-SVM has a solution w, and chosen tokens score above support vectors.

    The support vectors are the other tokens of margin 1.
    """
    if w is None:
        return False
    pairs = zip(leads(data, chosen), margins_of(data, chosen, w), strict=True)
    return all(lead > 0 or margin > 1 for lead, margin in pairs)


def local_svms(
    data: Data, multipliers: Sequence[Vector]
) -> list[tuple[tuple[int, ...], list[Q] | None]]:
    """Return each choice of one token an input with the solution of its Local-SVM, or None."""
    choices = itertools.product(*(range(len(X)) for X in data.X))
    size = len(data.Z[0]) * len(data.X[0][0])
    return [
        (chosen, least(rows(data, chosen), weights, size))
        for chosen, weights in zip(choices, multipliers, strict=True)
    ]


def is_optimal(data: Data, chosen: Sequence[int]) -> bool:
    """Return whether no token scores more than the chosen one of its input."""
    return all(lead >= 0 for lead in leads(data, chosen))


def without_least(data: Data) -> Data:
    """Return the data without the tokens of least score of inputs whose scores differ."""
    kept = [[t for t, g in enumerate(row) if g > min(row) or g == max(row)] for row in data.scores]
    X = [[X[t] for t in stay] for X, stay in zip(data.X, kept, strict=True)]
    return Data(X, data.Z, [[s[t] for t in k] for s, k in zip(data.scores, kept, strict=True)])


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


def summed(A: Matrix, size: int) -> list[Q]:
    """Return the sum of rows, and 0 of this size if there are none."""
    return [sum(c, Q(0)) for c in zip([Q(0)] * size, *A, strict=True)]


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


def one_hot(labels: Sequence[Matrix]) -> bool:
    """Return whether each row has a single 1, and 0 elsewhere."""
    return all(sorted(row) == [0] * (len(row) - 1) + [1] for part in labels for row in part)


def is_identity(M: Matrix) -> bool:
    """Return whether a matrix is the identity."""
    return all(x == (i == j) for i, row in enumerate(M) for j, x in enumerate(row))


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


def mean(A: Matrix) -> list[Q]:
    """Return the mean of some rows."""
    return [sum(c, Q(0)) / len(A) for c in zip(*A, strict=True)]


# descent


def diverges(data: Data, start: Matrix, loss: str) -> Answer:
    """Return whether the norm of descent tends to infinity, decided only if it never moves.

    Raises:
        Undefined: the run moves.
    """
    if is_stationary(data, start, loss):
        return fact(False)
    raise Undefined("the run moves")


def factors_converge(K: Matrix, Q: Matrix) -> Answer:
    """Return whether descent on K and Q has a limit direction, decided only from K = Q = 0.

    The gradients of L(K Q^T) are G Q and G^T K, so that descent stays there: it has none.

    Raises:
        Undefined: the run moves.
    """
    if not any(flat(K)) and not any(flat(Q)):
        return fact(False)
    raise Undefined("the run moves")


def starts_low(data: Data, start: Matrix, loss: str) -> bool:
    """Return whether two scores differ, and the risk of the start is low as in the basin."""
    return bool(data.moving.X) and is_low(data.moving, reals(start), loss)


def rises(data: Data, start: Matrix, loss: str, A: Matrix, sign: int = 1) -> Answer:
    """Return whether sign <-grad L, a> > 0 at the start for all rows a."""
    G = gradient(data, reals(start), loss)
    return all_of(fact(True), *(below(sign * dot(G, a), 0) for a in A))


def favours(data: Data, start: Matrix, loss: str, A: Matrix) -> Answer:
    """Return whether there are rows, and <-grad L, a> > 0 for all of them as in `rises`."""
    return all_of(fact(bool(A)), rises(data, start, loss, A))

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
    unique,
)
from attsvm.primitives.run_checker import (
    Reals,
    descend,
    gradient,
    is_low,
    is_stationary,
    logits,
    outrun,
)
from attsvm.theory.record.checker import (
    Answer,
    Real,
    Undefined,
    all_of,
    at_most,
    below,
    dot,
    equal,
    exp,
    fact,
    minimum,
    real,
    reals,
    softmax,
    sqrt,
)

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


def shortest(
    A: Matrix, bounds: Vector, multipliers: Vector, size: int, equalities: Sequence[int] = ()
) -> list[Q] | None:
    """Return the shortest w with <a, w> >= b for rows a and bounds b; None if there is none.

    The rows whose numbers are in `equalities` need <a, w> = b. Let w = sum_j m_j a_j with the
    multipliers m_j, which are at least 0 for inequalities. If w = 0 and sum_j m_j b_j > 0, no
    vector u meets all constraints: 0 = <w, u> would be at least sum_j m_j b_j. If w meets all
    constraints, with equality if m_j is not 0, then <w, u> >= <w, w> for every u that meets them.
    So w is the shortest.
    """
    w = [Q(0)] * size
    for multiplier, row in zip(multipliers, A, strict=True):
        w = [x + multiplier * a for x, a in zip(w, row, strict=True)]
    if any(m < 0 for k, m in enumerate(multipliers) if k not in equalities):
        raise Undefined("a multiplier is negative")
    if not any(w) and inner(multipliers, bounds) > 0:
        return None
    for k, (row, b, m) in enumerate(zip(A, bounds, multipliers, strict=True)):
        gap = inner(row, w) - b
        if gap and (gap < 0 or m or k in equalities):
            raise Undefined("the multipliers do not belong to the rows")
    return w


def tight_bounds(A: Matrix, w: Vector | None, each: int) -> list[Q]:
    """Return 1 for rows of margin 1 under w, else 0; each number is repeated `each` times."""
    return [Q(w is not None and inner(a, w) == 1) for a in A for _ in range(each)]


def essential(A: Matrix, w: Vector | None, others: Sequence[Vector], each: int) -> list[Q]:
    """Return 1 for rows without which the shortest vector of margins 1 is not w, else 0.

    Each number is repeated `each` times. For each row, `others` has the multipliers of the rest.
    """
    size = len(A[0])
    rests = [least([*A[:k], *A[k + 1 :]], weights, size) for k, weights in enumerate(others)]
    return [Q(rest != w) for rest in rests for _ in range(each)]


def idle(A: Matrix, w: Vector, multipliers: Vector, tilts: Sequence[Vector]) -> list[bool]:
    """Return for each row whether its multiplier is 0 in all dual solutions, w being the solution.

    If the given multiplier is positive, the answer is no. If it is 0, the vector u of the row in
    `tilts` proves that the answer is yes. It needs <u, w> = 0, and <u, a> >= 0 for all rows a of
    margin 1. If the row itself has margin 1, it also needs <u, row> >= 1.

    Raises:
        Undefined: neither is proved.
    """
    made = [inner(multipliers, c) for c in zip(*A, strict=True)]
    tight = [row for row in A if inner(row, w) == 1]
    if made != [*w] or min(multipliers) < 0:
        raise Undefined("the multipliers do not belong to the rows")
    for row, m, u in zip(A, multipliers, tilts, strict=True):
        leaves = not inner(u, w) and all(inner(u, a) >= 0 for a in tight)
        if not m and not (leaves and (inner(row, w) > 1 or inner(u, row) >= 1)):
            raise Undefined("a multiplier may be positive")
    return [not m for m in multipliers]


def keeps_idle_last(A: Matrix, rests: Sequence[bool], q: Vector) -> bool:
    """Return whether <a, q> >= 1 for all rows a, or q breaks the hypothesis.

    The hypothesis is <a, q> >= 0 for the rows of inputs with a true flag in `rests`, and <a, q> >=
    1 for the others. All inputs have equally many rows.
    """
    flags = [flag for flag in rests for _ in range(len(A) // len(rests))]
    margins = [inner(a, q) for a in A]
    met = all(g >= (0 if flag else 1) for g, flag in zip(margins, flags, strict=True))
    return not met or min(margins) >= 1


def other_choices(X: Sequence[Matrix], alpha: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all choices of one token per input, except alpha."""
    return [b for b in itertools.product(*(range(len(x)) for x in X)) if b != tuple(alpha)]


def with_prompts(
    X: Sequence[Matrix], W: Matrix, choices: Sequence[Sequence[int]], multipliers: Sequence[Vector]
) -> list[Sequence[int]]:
    """Return the choices whose p-SVM has a solution; `multipliers` decide each choice."""
    pairs = zip(choices, multipliers, strict=True)
    return [b for b, m in pairs if least(prompt_rows(X, W, b), m, len(W)) is not None]


def has_positive_nu(
    X: Sequence[Matrix],
    y: Vector,
    v: Vector | None,
    multipliers: Vector,
    others: Sequence[Sequence[int]],
) -> bool:
    """Return whether 1/||v|| > max ||sum_i w_i y_i x_i,beta_i|| over other choices beta.

    The w are the multipliers of v, divided by their sum.
    """
    if v is None:
        return False
    sums = [[inner(multipliers, c) for c in zip(*head_rows(X, y, b), strict=True)] for b in others]
    return all(inner(s, s) * inner(v, v) < sum(multipliers) ** 2 for s in sums)


def with_best_prompt(X: Sequence[Matrix], y: Vector, W: Matrix, a: int, p: Vector) -> Answer:
    """Return whether (1 - s) (|x|^2 u - <x, u> x) = 0 for one input of two tokens.

    Here x is y times token a, and u is y times the other token. The best prompt of the norm of p is
    parallel to the difference of the keys; s is its attention to token a.
    """
    x, u = ([y[0] * c for c in X[0][t]] for t in (a, 1 - a))
    (row,) = prompt_rows(X, W, [a])
    rest = 1 / (1 + exp(sqrt(inner(p, p)) * sqrt(inner(row, row))))
    across = [inner(x, x) * d - inner(x, u) * c for c, d in zip(x, u, strict=True)]
    return equal([rest * c for c in across], [0] * len(x))


def longest_along(
    X: Sequence[Matrix], y: Vector, v: Vector, choices: Sequence[Sequence[int]]
) -> bool:
    """Return whether |s|^2 |v|^2 <= (sum_i max_t y_i <v, x_it>)^2 for each choice.

    s is the sum of the chosen tokens, each times y_i.
    """
    best = sum(max(b * inner(v, x) for x in tokens) for tokens, b in zip(X, y, strict=True))
    sums = [summed(head_rows(X, y, b), len(v)) for b in choices]
    return all(inner(s, s) * inner(v, v) <= best**2 for s in sums)


def low_risk(
    X: Sequence[Matrix],
    y: Vector,
    alpha: Sequence[int],
    q: Vector,
    choices: Sequence[Sequence[int]],
) -> Answer:
    """Return whether exp(-|q| |s|/n) is at most the risk of the head q for each choice of tokens.

    s is the sum of the tokens alpha, each times y_i. The risk is the mean of exp(-y_i <q, x_i>).
    """
    s, n = summed(head_rows(X, y, alpha), len(q)), len(y)
    bound = exp(-(sqrt(inner(s, s)) * sqrt(inner(q, q)) / n))
    made = [[inner(row, q) for row in head_rows(X, y, b)] for b in choices]
    return all_of(
        fact(True), *(at_most(bound, sum((exp(-c) for c in u), Real(0)) / n) for u in made)
    )


# kept tokens


def kept_rows(
    X: Sequence[Matrix], Z: Matrix, kept: Matrix, only: bool = False
) -> tuple[list[list[Q]], list[int]]:
    """Return (x_first - x_t) z^T for all tokens but the first kept one, and the rows of kept t.

    With `only`, tokens that are not kept are left out.
    """
    A: list[list[Q]] = []
    same: list[int] = []
    for tokens, z, flags in zip(X, Z, kept, strict=True):
        first = next(t for t, flag in enumerate(flags) if flag)
        for t, x in enumerate(tokens):
            if t != first and (flags[t] or not only):
                same += [len(A)] if flags[t] else []
                A.append([a * b for a in minus(tokens[first], x) for b in z])
    return A, same


def generalised(
    X: Sequence[Matrix], Z: Matrix, kept: Matrix, multipliers: Vector
) -> list[Q] | None:
    """Return the shortest W with equal logits of kept tokens, larger by 1 than those of others."""
    A, same = kept_rows(X, Z, kept)
    bounds = [Q(k not in same) for k in range(len(A))]
    return shortest(A, bounds, multipliers, len(Z[0]) ** 2, same)


def with_its_logits(
    X: Sequence[Matrix], Z: Matrix, kept: Matrix, w: Vector, multipliers: Vector
) -> list[Q] | None:
    """Return the shortest matrix with the logit differences of w within kept tokens."""
    A, same = kept_rows(X, Z, kept, True)
    return shortest(A, [inner(a, w) for a in A], multipliers, len(w), same)


def explained(w: Vector, fin: Vector, svm: Vector | None) -> Q:
    """Return |P|^2, P the projection of w to fin + c svm, c >= 0; fin is orthogonal to w - fin."""
    rest = inner(minus(w, fin), svm) if svm else Q(0)
    return inner(fin, fin) + (max(rest, Q(0)) ** 2 / inner(svm, svm) if svm and any(svm) else 0)


def is_at_rest(X: Sequence[Matrix], Z: Matrix, W: Matrix, a: Vector, b: Vector) -> bool:
    """Return whether the risk of heads b_i <a, x>^2 has the gradient 0 at W, input by input.

    Either nothing depends on W, or all tokens have one weight and their mean is at the minimum.
    """
    for tokens, z, sign in zip(X, Z, b, strict=True):
        scores, query = [inner(a, x) for x in tokens], [inner(row, z) for row in W]
        even = len({inner(x, query) for x in tokens}) == 1 and not sum(scores)
        if sign and any(z) and len(set(scores)) > 1 and not even:
            return False
    return True


# risk and separation


def separates(data: Data, multipliers: Sequence[Vector]) -> list[list[Q] | None]:
    """Return the shortest W of margins 1 over lower tokens for each choice of optimal tokens."""
    tied = [[t for t, g in enumerate(row) if g == max(row)] for row in data.scores]
    made = []
    for chosen, weights in zip(itertools.product(*tied), multipliers, strict=True):
        A = [
            [a * b for a in minus(X[c], x) for b in z]
            for X, z, row, c in zip(data.X, data.Z, data.scores, chosen, strict=True)
            for x, g in zip(X, row, strict=True)
            if g < max(row)
        ]
        made.append(least(A, weights, len(data.Z[0]) ** 2))
    return made


def risk_gap(data: Data, W: Matrix, loss: str) -> Real:
    """Return L(W) - L_*, where L_* is the mean of l(best score)."""
    value, result = LOSSES[loss][0], Real(0)
    for X, z, scores in zip(data.moving.X, data.moving.Z, data.moving.scores, strict=True):
        u = dot(softmax(logits(X, z, reals(W))), scores)
        result += value(u) - value(real(max(scores)))
    return result / data.n


def soft_loss(A: Matrix, w: Vector, C: Q) -> Real:
    """Return |w| + C sum_j max(0, 1 - <a_j, w>)."""
    return sqrt(inner(w, w)) + C * sum((max(Q(0), 1 - inner(a, w)) for a in A), Q(0))


def soft_loss_along(A: Matrix, w: Vector, C: Q) -> Real:
    """Return the least soft loss of c w over c >= 0; it is at c = 0 or some c = 1/<a_j, w>."""
    margins = [inner(a, w) for a in A]
    ends = [[x / g for x in w] for g in margins if g > 0]
    return minimum(*(soft_loss(A, end, C) for end in [[Q(0)] * len(w), *ends]))


def soft_solution(A: Matrix, multipliers: Vector, size: int, C: Q) -> list[Q]:
    """Return the solution of margins 1, if no matrix has a lower soft loss.

    The condition is that C times its norm is above all multipliers.
    """
    w = least(A, multipliers, size)
    if w and C * C * inner(w, w) > max(multipliers) ** 2:
        return w
    raise Undefined("slack may cost less than margins")


def mean(A: Matrix) -> list[Q]:
    """Return the mean of some rows."""
    return [sum(c, Q(0)) / len(A) for c in zip(*A, strict=True)]


# descent


def path_limit(data: Data, loss: str, multipliers: Vector, factors: bool) -> list[Q] | None:
    """Return the direction of minimisers of the risk over balls as their radius grows.

    By docs/proofs/regularisation_paths.md it is the direction of the shortest matrix with margins
    of at least 1/k_i in input i. Here l(best - x) - l(best) is of the order x^k_i at the best score
    of input i. The direction is the same for minimisers with a penalty that tends to 0. For
    products of `factors` it is also the same if all queries are parallel.
    """
    moving = data.moving
    known = loss in SLOPED or loss == "cubic"
    if not known or not unique(moving) or (factors and rank(data.Z) > 1):
        raise Undefined("the limit of the path is not known")
    orders = [3 if loss == "cubic" and max(row) == 0 else 1 for row in moving.scores]
    bounds = [Q(1, k) for k, row in zip(orders, moving.scores, strict=True) for _ in row[1:]]
    return shortest(rows(moving, moving.optimal), bounds, multipliers, len(data.Z[0]) ** 2)


def paced(data: Data, start: Matrix, loss: str, length: Q, steps: int) -> Reals:
    """Return an enclosure of the iterate after some steps of one length along minus the gradient.

    The gradient at each of these steps has to be other than 0.
    """
    W: Reals = reals(start)
    for _ in range(steps):
        G = gradient(data.moving, W, loss)
        rate = length / sqrt(dot(G, G))
        W = matrix([w - rate * g for w, g in zip(flat(W), G, strict=True)])
    return W


def both_or_none(one: Answer, other: Answer) -> Answer:
    """Return whether two conditions are both true or both false.

    Raises:
        Undefined: one of them is undecided.
    """
    if one.truth is None or other.truth is None:
        raise Undefined("a condition is undecided")
    return fact(one.truth == other.truth)


def selected(data: Data, w: Vector) -> list[int]:
    """Return the token of largest logit of each input as the norm along w tends to infinity."""
    result = []
    for X, z in zip(data.X, data.Z, strict=True):
        query = [inner(row, z) for row in matrix(w)]
        values = [inner(x, query) for x in X]
        if values.count(max(values)) > 1:
            raise Undefined("two tokens of one input have the largest logit")
        result.append(values.index(max(values)))
    return result


def ends_no_lower(data: Data, w: Vector, rest: Data, u: Vector) -> bool:
    """Return whether no input ends at a lower score along u in `rest` than along w in `data`.

    An input ends at the score of its token of largest logit, or at its only score.
    """
    before, after = (
        [
            row[0] if len(set(row)) == 1 else row[selected(Data([X], [z], [row]), w)[0]]
            for X, z, row in zip(part.X, part.Z, part.scores, strict=True)
        ]
        for part, w in ((data, w), (rest, u))
    )
    return all(a <= b for a, b in zip(before, after, strict=True))


def others(data: Data, target: Vector | None) -> list[tuple[int, int]]:
    """Return the tokens whose margin under the solution is above 1, as pairs (input, token)."""
    pairs = [(i, t) for i, X in enumerate(data.X) for t in range(len(X)) if t != data.optimal[i]]
    margins = margins_of(data, data.optimal, target) if target else []
    return [pair for pair, g in zip(pairs, margins, strict=True) if g > 1]


def lasting(data: Data, w: Vector, multipliers: Vector) -> list[tuple[int, int]]:
    """Return the tokens whose share of the gradient does not tend to 0 as descent goes along w.

    w is the max-margin solution of the tokens that descent selects. Suppose that all multipliers of
    tokens of margin 1 are positive. Then a token of margin m that is not selected has the share
    exp(-(m - 1) |W|/|w|), up to constant factors. The share of a selected token is of the size of
    the largest one among its rivals, unless parts of these cancel.
    """
    chosen = selected(data, w)
    margins = margins_of(data, chosen, w)
    if len(data.moving.X) < len(data.X) or any(
        g == 1 and m <= 0 for g, m in zip(margins, multipliers, strict=True)
    ):
        raise Undefined("an input has no gradient, or a tight token has the multiplier 0")
    result, left = [], [*zip(leads(data, chosen), margins, strict=True)]
    for i, (row, c) in enumerate(zip(data.scores, chosen, strict=True)):
        own, left = left[: len(row) - 1], left[len(row) - 1 :]
        close = [lead for lead, g in own if g == min(g for _, g in own)]
        if any(not lead for lead, _ in own) or min(close) < 0 < max(close):
            raise Undefined("parts of a gradient may cancel")
        rivals = [t for t in range(len(row)) if t != c]
        result += [(i, t) for t, (_, g) in zip(rivals, own, strict=True) if g == 1]
        result += [(i, c)] if min(g for _, g in own) == 1 else []
    return result


def diverges(data: Data, start: Matrix, loss: str) -> Answer:
    """Return whether the norm of descent tends to infinity, decided only if it never moves.

    Raises:
        Undefined: the run moves.
    """
    if is_stationary(data, start, loss):
        return fact(False)
    raise Undefined("the run moves")


def some_start_reaches(data: Data, loss: str, target: Vector) -> Answer:
    """Return that no start leads descent to the direction of the solution, as a false answer.

    Suppose that l' < 0, and that inputs with two scores have one optimal token and rivals of one
    score. Suppose that the solution is not in the span S of their rows. Then W(k) - W(0) lies in S,
    and its inner product with the solution grows beyond all bounds. So all limits of the direction
    lie in S.

    Raises:
        Undefined: this does not apply.
    """
    moving = data.moving
    A = rows(moving, moving.optimal)
    simple = loss in SLOPED and unique(moving) and rivals_equal(moving)
    if A and simple and rank([*A, target]) > rank(A):
        return fact(False)
    raise Undefined("a start may lead there")


def turns_to(data: Data, start: Matrix, loss: str, step: Q, steps: int, target: Vector) -> Answer:
    """Return a false answer if descent cannot converge to the direction of the target.

    From some step on descent keeps the largest logits of some tokens (`outrun`). So these tokens
    have no negative margin under any limit direction, but they have one under the target.

    Raises:
        Undefined: these tokens have no negative margin under the target.
    """
    W = descend(data.moving, start, loss, step, steps)
    if min(margins_of(data.moving, outrun(data.moving, W, loss), target)) < 0:
        return fact(False)
    raise Undefined("the tokens that descent keeps may be those of the target")


def factors_converge(K: Matrix, Q: Matrix) -> Answer:
    """Return whether descent on K and Q has a limit direction, decided only from K = Q = 0.

    The gradients of L(K Q^T) are G Q and G^T K, so that descent stays there: it has none.

    Raises:
        Undefined: the run moves.
    """
    if not any(flat(K)) and not any(flat(Q)):
        return fact(False)
    raise Undefined("the run moves")


def factors_reach(data: Data, K: Matrix, other: Matrix, target: Vector) -> Answer:
    """Return whether K Q^T, Q the other factor, tends to the direction of the solution.

    That is decided only if K Q^T stays semidefinite. Suppose that inputs have at most two tokens,
    and that transposing all (x_1 - x_2) z^T permutes them, scores included. Then L(W) = L(W^T).
    From K = Q the gradient stays symmetric, so that K = Q and K Q^T is positive semidefinite for
    ever. From K = -Q it stays negative semidefinite. The answer is no if the solution, times -1 in
    the second case, is not symmetric, or has a negative diagonal entry or 2 x 2 minor.

    Raises:
        Undefined: this does not apply.
    """
    same, opposite = flat(K) == flat(other), flat(K) == [-x for x in flat(other)]
    sign = 1 if same else -1
    gaps = [(matrix(a), row) for a, row in zip(first_gaps(data), data.scores, strict=True)]
    turned = [(transposed(A), row) for A, row in gaps]
    T = [[sign * x for x in row] for row in matrix(target)]
    minors = (T[i][i] * T[j][j] - T[i][j] ** 2 for i in range(len(T)) for j in range(i))
    outside = transposed(T) != T or min([*(T[i][i] for i in range(len(T))), *minors]) < 0
    small = all(len(X) <= 2 for X in data.X)
    if (
        (same or opposite)
        and small
        and sorted(map(repr, gaps)) == sorted(map(repr, turned))
        and outside
    ):
        return fact(False)
    raise Undefined("the direction of the factors is not known")


def first_gaps(data: Data) -> list[list[Q]]:
    """Return the first minus the last token of each input, times its query."""
    pairs = zip(data.X, data.Z, strict=True)
    return [[Q(a * b) for a in minus(X[0], X[-1]) for b in z] for X, z in pairs]


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

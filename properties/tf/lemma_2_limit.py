"""After lemma 2: the optimal loss is approached, and only where the norm tends to infinity.

"Question: Can we ever achieve the optimal loss L_*? Answer: Yes, if softmax selects optimal tokens.
But we have to let ||W||_F -> infinity." L is the training risk and L_* its value at the optimal
tokens, those of the best score of their input; x_it are its tokens, z_i its query.

Yes needs a W that separates: (x_i,o - x_it)^T W z_i > 0 for all tokens t of input i with a lower
score, and for one of its optimal tokens o. The query 0 admits none (literal-1, where "if softmax
selects" is read as the way to L_*, not as a condition on the data). The norm is needed only where
two scores of an input differ (literal-2, as in lemma 2).

Let M be the least-norm W for which these are at least 1, over all choices of o among tied optimal
tokens, N = ||M||_F and x = ||W||_F / N, or x = 0 where none separates. No W of that norm has all
of them above x. So in some input a token t of lower score has an odd of at least exp(-x) against
each of its k optimal tokens: these lack a weight of at least 1 / (1 + k exp(x)), and the score that
is attended to lacks as much of the gap from the best to the next score (`sharp-1`). Without
separation the risk gap is therefore at least min_i [l(best - next / (1 + k)) - l(best)] / n at
every W. Conversely at W = x M each of the r tokens of lower score has an odd of at most exp(-x), so
the weight off the optimal tokens is at most r / (r + exp(x)) (`sharp-2`). Both bounds tend to 0
with exp(-x): the risk gap along W^mm, and at the best W of its norm, is exp(-||W|| / ||W^mm||) up
to constant factors where l' < 0 at the best scores. Both are attained by one input of two tokens.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.numbers import subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, solve_exactly
from attsvm.primitives.hypotheses import TWO_SCORES, two_scores
from attsvm.primitives.loss_hypotheses import STRICT_LOSS, STRICTLY_DECREASING
from attsvm.primitives.losses import LOSSES
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import ragged
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Relation
from properties.tf import SOURCE
from properties.tf._support.regularisation_paths import SEPARABLE

STRICT = tuple(name for name, loss in LOSSES.items() if loss.strictly_decreasing)


@dataclass(frozen=True, slots=True)
class Point:
    """A data set, a loss by its name, and a matrix W."""

    data: AttentionData
    loss: str
    W: Array


@composite
def anywhere(draw: st.DrawFn) -> AttentionData:
    """Tokens and queries anywhere, with scores of few values: often nothing separates."""
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 3)), draw(sizes(1, 2))
    scores = np.round(draw(arrays(n, T)))
    return AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=scores)


@composite
def points(draw: st.DrawFn) -> Point:
    """Points of any data, along M, or anywhere, at several norms."""
    data = draw(st.one_of(SEPARABLE, ragged(anywhere()), ragged(anywhere())))
    W, answer = draw(arrays(data.d, data.d)), separation(data)
    if answer is not None and draw(st.booleans()):
        W = np.array([[float(x.p) / float(x.q) for x in row] for row in answer.W])
    return Point(data, draw(st.sampled_from(STRICT)), W * draw(st.sampled_from([1.0, 4.0, 0.0])))


def point(X: Nested, Z: Nested, scores: Nested, W: Nested, loss: str = "log-loss") -> Point:
    """A point by nested lists."""
    tokens, queries, gamma, matrix = (np.array(part, dtype=float) for part in (X, Z, scores, W))
    return Point(AttentionData(tokens, queries, scores=gamma), loss, matrix)


ONE_TOKEN = point([[[1]]], [[1]], [[0]], [[1]])
ZERO_QUERY = point([[[1], [0]]], [[0]], [[1, 0]], [[1]])
PAIR = point([[[1], [0]]], [[1]], [[1, 0]], [[3]])
SPREAD = point([[[1], [0], [-1]]], [[1]], [[1, 0, -1]], [[1]])
BOTH_TIED = point([[[1], [2], [0]]], [[1]], [[1, 1, 0]], [[3]], "cubic")
OPPOSED = point([[[1], [0]], [[1], [0]]], [[1], [1]], [[1, 0], [0, 1]], [[0]], "correlation")
PUBLISHED = point(
    [[[-0.1, 1], [1, 0], [0, 0]]], [[1, 0]], [[1, 0.9, 0.9]], [[0, 0], [2, 0]], "exponential"
)


def separation(data: AttentionData) -> ExactAnswer | None:
    """M, the least matrix that separates for some choice of optimal tokens; None without any."""
    exact = ExactData.of(data)
    found = []
    for chosen in itertools.product(*exact.optimal):
        D, Z = [], []
        for tokens, z, tied, best in zip(exact.X, exact.Z, exact.optimal, chosen, strict=True):
            lower = [x for t, x in enumerate(tokens) if t not in tied]
            D += [subtract(tokens[best], x) for x in lower]
            Z += [z] * len(lower)
        answer = solve_exactly(ExactProgramme.of_rows(D, Z)) if D else None
        if answer is not None and answer.status == "solved":
            found.append(answer)
    return min(found, key=lambda answer: answer.square, default=None)


def separable(case: Point) -> bool:
    """Some W separates, and something is to be separated."""
    return separation(case.data) is not None


def decreasing(case: Point) -> bool:
    """The loss is strictly decreasing."""
    return LOSSES[case.loss].strictly_decreasing


def risk_gap(m: Namespace, case: Point, W: Numbers) -> Numbers:
    """L(W) - L_*, without cancellation."""
    exact, total = ExactData.of(case.data), m.exact(0)
    for tokens, z, scores in zip(exact.X, exact.Z, exact.gamma, strict=True):
        if len(set(scores)) == 1:
            continue  # it adds exactly 0
        gamma = m.values(scores)
        best = m.max(gamma)
        deficit = m.dot(m.softmax(m.values(tokens) @ (W @ m.values(z))), best - gamma)
        total = total + LOSSES[case.loss].drop(m, best, deficit)
    return total / len(exact.gamma)


def drops(m: Namespace, case: Point, least: bool, x: Number) -> list[Any]:
    """What the loss of each input of two scores grows by, at the least or at the most."""
    found = []
    for scores in ExactData.of(case.data).gamma:
        best, lower = max(scores), [g for g in scores if g < max(scores)]
        if lower:
            k, r = len(scores) - len(lower), len(lower)
            gap = best - (max(lower) if least else min(lower))
            deficit = m.values(gap) * (1 / (1 + k * m.exp(x)) if least else r / (r + m.exp(x)))
            found.append(LOSSES[case.loss].drop(m, m.values(best), deficit))
    return found


def exponent(m: Namespace, case: Point, answer: ExactAnswer | None) -> Number:
    """X = ||W|| / N, 0 where nothing separates."""
    square = m.sum(m.square(m.values(case.W)))
    return m.exact(0) if answer is None else m.sqrt(square / m.values(answer.square))


SEPARATOR = (
    "M is the least matrix that separates an optimal token of each input from those of lower score "
    "by margins of at least 1"
)
LEAST = (
    "i runs over the inputs of different scores, k_i and r_i are the numbers of tokens of best and "
    "of lower score, best_i, next_i, and least_i are the best, next, and worst score, and "
    f"{SEPARATOR}"
)


@stated(
    "",
    r"\frac{1}{n} \min_i \left[l\left(best_i - \frac{best_i - next_i}{1 + k_i "
    r"\exp($faster)}\right) - l(best_i)\right] \le L(W) - L_*",
    {"faster": {1: "x", 2: "x/2"}},
    where=f"{LEAST}, and x = ||W||/||M||, or x = 0 if there is none",
)
def from_below(m: Namespace, case: Point, faster: Number = 1) -> Comparison:
    x = exponent(m, case, separation(case.data)) / faster
    parts = drops(m, case, True, x)
    if not parts:
        return m.below(m.exact(0), m.exact(0))  # no two scores differ: L(W) = L_*
    return m.at_most(m.min(m.array(parts)) / case.data.n, risk_gap(m, case, m.values(case.W)))


@stated(
    "$formula for every x >= 0",
    r"L(x M) - L_* \le \frac{1}{n} \sum_i \left[l\left(best_i - \frac{r_i (best_i - "
    r"least_i)}{r_i + \exp($faster x)}\right) - l(best_i)\right]",
    where=LEAST,
)
def from_above(m: Namespace, case: Point, faster: Number = 1) -> Comparison:
    answer = separation(case.data)
    if answer is None:
        return m.below(m.exact(0), m.exact(0))  # nothing separates, or no two scores differ
    x = m.largest(m.values(case.W))
    parts = m.array(drops(m, case, False, faster * x))
    return m.at_most(risk_gap(m, case, x * m.values(answer.W)), m.sum(parts) / case.data.n)


@stated(
    "$formula; and if some W separates, then for every y >= 0 L(y M) - L_* <= 1/n sum_i [l(best_i "
    "- r_i (best_i - least_i)/(r_i + exp(${faster}y))) - l(best_i)]",
    r"\frac{1}{n} \min_i \left[l\left(best_i - \frac{best_i - next_i}{1 + k_i "
    r"\exp(x)}\right) - l(best_i)\right] \le L(W) - L_*",
    {"faster": {1: "", 2: "2 "}},
    where=f"{LEAST}, and ${{faster}}x = ||W||/||M||, or x = 0 if there is none",
)
def approached(m: Namespace, case: Point, faster: Number = 1) -> Relation:
    below = from_below(m, case, faster)
    return m.all_of(below, from_above(m, case, faster)) if separable(case) else below


@stated(
    "some W separates or no two scores differ, that is $formula",
    r"\frac{1}{\|M\|} > $share \max_{i,t,j} |x_{itj}|",
    where=SEPARATOR,
)
def reached(m: Namespace, case: Point, share: Number = 0) -> Comparison:
    answer = separation(case.data)
    if answer is None and two_scores(case):
        return m.below(m.exact(0), m.exact(0))  # L - L_* is above a constant at every W
    margin = m.exact(1) if answer is None else 1 / m.sqrt(m.values(answer.square))
    return m.below(share * m.largest(m.values(case.data.X)), margin)


@stated("$formula for every W", "L(W) - L_* > $share (L_{worst} - L_*)")
def above(m: Namespace, case: Point, share: Number = 0) -> Comparison:
    worst = m.exact(0)
    for scores in ExactData.of(case.data).gamma:
        best = m.values(max(scores))
        worst = worst + LOSSES[case.loss].drop(m, best, best - m.values(min(scores)))
    return m.below(share * worst / case.data.n, risk_gap(m, case, m.values(case.W)))


PROOF = "symbolic.tf.lemma_2_limit:prove"

SEPARATED = Hypothesis("some W separates", separable)

LIMIT = Statement(
    "tf/lemma-2-limit",
    rests_on=("tf/lemma-2",),
    source=SOURCE,
    place="Intuition, after lemma 2",
    printed="Can we ever achieve the optimal loss L_*? Yes, if softmax selects optimal tokens. "
    "But we have to let ||W||_F -> infinity",
    variables=Records(Point, points()),
    conclusion=approached,
    cost=3,
    violating={
        STRICTLY_DECREASING: [replace(SPREAD, loss="logistic")],
        TWO_SCORES: [ONE_TOKEN],
        SEPARATED: [ZERO_QUERY],
    },
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"if softmax selects optimal tokens": "how, not where, L_* is achieved"},
            under=(STRICT_LOSS,),
            conclusion=reached,
            examples=(ZERO_QUERY, OPPOSED),
            siblings={"by a margin above a thousandth of a token": changed(share="1/1000")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            under=(STRICT_LOSS,),
            conclusion=above,
            examples=(ONE_TOKEN,),
            siblings={"a quarter of the way to the worst tokens": changed(share="1/4")},
        ),
        "amended": Reading(
            "proved",
            proof=PROOF,
            under=(STRICTLY_DECREASING, TWO_SCORES),
            examples=(PAIR, ZERO_QUERY, OPPOSED, BOTH_TIED, PUBLISHED),
            siblings={"twice the exponent": changed(faster=2, examples=[PAIR])},
        ),
        "sharp-1": Reading(
            "proved",
            proof=PROOF,
            under=(STRICTLY_DECREASING, TWO_SCORES),
            conclusion=from_below,
            tight=True,
            examples=(PAIR, ZERO_QUERY, OPPOSED, BOTH_TIED),
            siblings={"1/2 of the exponent": changed(faster=2, examples=[PAIR])},
        ),
        "sharp-2": Reading(
            "proved",
            proof=PROOF,
            under=(STRICTLY_DECREASING, SEPARATED),
            conclusion=from_above,
            tight=True,
            examples=(PAIR, SPREAD, BOTH_TIED, PUBLISHED),
            siblings={"twice the exponent": changed(faster=2, examples=[PAIR])},
        ),
    },
)

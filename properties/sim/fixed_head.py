"""A fixed prediction head does not affect the analysis.

The objective is logistic(Att(X) H, B) with H in R^{d x V}, B in R^{n x V}; below it is one entry of
it, g(b (f^T M H)_v) with f = softmax(A x), values M = A_3 Y and v = 0. To ignore H leaves Att(X)
itself: column v of M scores the tokens in place of column v of M H.

With one value 1, one value 0, d = V = 1 and H = -1 the second token is optimal with the head and
the first without it; with keys 1, 0 and x = 0 the gradients are opposite, so that for query 1 the
programme has X^mm = -1 and +1. A permutation of two values does the same, so that no positivity of
H helps. literal-3: Att(X) is n x d and B is n x V. amended-1: the head can be absorbed, not
ignored, and every statement about h(y) holds with h = A_3 (Y H) e_v in its place. amended-2: all
scores are multiplied by c.

The proofs in `symbolic.sim.fixed_head` run the formulas on symbols for small sizes; for all sizes,
(f^T M) H = f^T (M H) and M (c e_v) = c M e_v.
"""

from itertools import combinations
from typing import Any

import numpy as np

from attsvm.theory import (
    Hypothesis,
    Integer,
    Matrix,
    Meeting,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    gradient,
    stated,
)
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim import SOURCE
from properties.sim._support import entry_loss


def score(m: Namespace, v: Values, x: Numbers) -> Numbers:
    """The score b (f^T M) H e_v, with the head after attention."""
    return v.b * ((m.softmax(v.A @ x) @ v.M) @ v.H)[0]


def taken_values(m: Namespace, v: Values, taken: str) -> Numbers:
    """M H e_v, the same with the mean column of H, or M e_v without the head."""
    if taken == "ignored":
        return v.M[:, 0]
    return v.M @ (v.H[:, 0] if taken == "column" else m.sums(v.H) / v.V)


def closed_gradient(m: Namespace, v: Values, taken: str) -> Numbers:
    """The gradient of lemma 3.11 with these values."""
    return entry_loss.gradient(m, v.A, v.x, taken_values(m, v, taken), v.b)


@stated(
    "",
    r"\langle \nabla L(x), \nabla L'(x) \rangle \ge $least",
    {
        "positive": {True: "|H|", False: "H"},
        "least": {0: "0", "0.5": r"0.5 \|\nabla L'(x)\|^2"},
    },
    where="L(x) = g(b f^T M $positive e_v) with a head H, and L'(x) = g(b f^T M e_v) without",
)
def same_way(m: Namespace, v: Values, least: Number = 0, positive: bool = False) -> Comparison:
    """<gradient with head, gradient without> is at least a share of ||gradient without||^2."""
    values = v.M @ (m.abs(v.H) if positive else v.H)[:, 0]
    mine = entry_loss.gradient(m, v.A, v.x, values, v.b)
    other = closed_gradient(m, v, "ignored")
    return m.at_least(m.dot(mine, other), least * m.dot(other, other))


def scores(m: Namespace, v: Values, taken: str) -> Numbers:
    """The scores of the tokens: b times their values."""
    return v.b * taken_values(m, v, taken)


@stated(
    "$each token t of the largest b (M $positive e_v)_t has $formula",
    r"b (M e_v)_t \ge $rank",
    {
        "each": {True: "every", False: "some"},
        "positive": {True: "|H|", False: "H"},
        "rank": {1: r"\max_k b (M e_v)_k", 2: r"\text{the second largest } b (M e_v)_k"},
    },
)
def still_optimal(
    m: Namespace, v: Values, positive: bool = False, rank: int = 1, each: bool = False
) -> Relation:
    mine = v.b * (v.M @ m.abs(v.H)[:, 0]) if positive else scores(m, v, "column")
    other = scores(m, v, "ignored")
    pairs = [m.minimum(g, k) for g, k in combinations(other, 2)]  # the largest is second best
    level = m.max(m.array(pairs) if rank == 2 and pairs else other)
    best = m.max(mine)
    kept = [(s, m.at_least(g, level)) for s, g in zip(mine, other, strict=True)]
    if each:
        return m.all_of(*(m.any_of(m.below(s, best), among) for s, among in kept))
    return m.any_of(*(m.all_of(m.equal(s, best), among) for s, among in kept))


@stated(
    "a row of $of is as long as a row of B, that is $formula",
    symbols={"of": {"values": "Att(X)", "tokens": "the logits", "keys": "A"}},
)
def same_size(m: Namespace, v: Values, of: str = "values") -> Comparison:
    """A row of Att(X), of the logits, or x is as long as a row of B."""
    sizes = {"values": v.d, "tokens": v.n, "keys": v.D}
    return m.equal(m.exact(1) * sizes[of], m.exact(1) * v.V)


@stated(
    "$formula for h = $taken",
    symbols={
        "taken": {"column": "M H e_v", "mean": "M times the mean column of H", "ignored": "M e_v"}
    },
)
def absorbed(m: Namespace, v: Values, taken: str = "column") -> Comparison:
    """The gradient with a head is the closed form of lemma 3.11 with values of its own."""
    true = gradient(m, lambda m, x: m.logistic(score(m, v, x)), v.x)
    return m.equal(true, closed_gradient(m, v, taken))


def multiple(H: Any, known: Any) -> Any:
    """The head with a multiple of e_0 as its column 0."""
    first = np.zeros_like(H)
    first[0] = H[0]
    return np.concatenate([first[:, :1], H[:, 1:]], axis=1)


def raised(H: Any, known: Any) -> Any:
    """The head with a positive entry in its first place."""
    H = H.copy()
    H[0, 0] = np.where(H[0, 0] == 0.0, 0.5, np.abs(H[0, 0]))
    return H


POINT = {"x": [0], "b": 1}
COLUMN, EYE = [[1], [0]], [[1, 0], [0, 1]]
FLIPPED = {"A": COLUMN, "M": COLUMN, "H": [[-1]], **POINT}
SWAPPED = {"A": COLUMN, "M": EYE, "H": [[0, 1], [1, 0]], **POINT}
"""Two tokens whose values change places behind the head."""
WIDE = {"A": [[1]], "M": [[1]], "H": [[1, 1]], **POINT}
POSITIVE_HEADS = changed(positive=True, examples=[SWAPPED])


MULTIPLE = Hypothesis(
    "H e_v is a multiple of e_v", lambda m, v: m.equal(v.H[1:, 0], 0 * v.H[1:, 0])
)
POSITIVE = Hypothesis(
    "the factor of e_v in H e_v is positive", lambda m, v: m.above(v.H[0, 0], m.exact(0))
)

HEAD = Statement(
    "sim/fixed-head",
    rests_on=("sim/definition-3.3",),
    source=SOURCE,
    place="Section 1, prediction head",
    printed="As H is a fixed linear prediction head that does not impact our analysis, we will "
    "ignore that in the theoretical analysis of our paper.",
    variables={
        "n": Integer(1, 4, beyond=True),
        "D": Integer(1, 3, beyond=True),
        "d": Integer(1, 3, beyond=True),
        "V": Integer(1, 3, beyond=True),
        "A": Matrix("n", "D"),
        "x": Vector("D"),
        "M": Matrix("n", "d"),
        "H": Matrix("d", "V"),
        "b": Real((0, 1, -1)),
    },
    hypotheses=(
        MULTIPLE,
        POSITIVE,
    ),
    conclusion=still_optimal,
    readings={
        "literal-1": Reading(
            "refuted",
            read={"does not impact our analysis": "that descent goes no other way"},
            under=(),
            conclusion=same_way,
            examples=(FLIPPED,),
            siblings={
                "heads of positive entries": POSITIVE_HEADS,
                "at least half of it": changed(least="0.5", examples=[SWAPPED]),
            },
        ),
        "literal-2": Reading(
            "refuted",
            read={"does not impact our analysis": "that optimal tokens stay so"},
            under=(),
            examples=(FLIPPED,),
            siblings={
                "heads of positive entries": POSITIVE_HEADS,
                "they are among the two best": changed(rank=2),
            },
        ),
        "literal-3": Reading(
            "refuted",
            read={"we will ignore that": "that Att(X) takes the place of Att(X) H"},
            under=(),
            variables=dict.fromkeys(("A", "x", "M", "H", "b")),
            conclusion=same_size,
            examples=({"n": 1, "D": 1, "d": 1, "V": 2},),
            siblings={"A_{j0} x has": changed(of="tokens"), "x has": changed(of="keys")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.fixed_head:prove",
            depends_on=("sim/lemma-3.11:amended-2",),
            under=(),
            conclusion=absorbed,
            examples=(FLIPPED, SWAPPED, WIDE),
            siblings={
                "the head left out": changed(taken="ignored"),
                "the mean column of Y H": changed(taken="mean"),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.fixed_head:prove_multiple",
            constants={"each": True},
            variables={
                **dict.fromkeys(("D", "A", "x")),
                "H": Meeting(POSITIVE, Meeting(MULTIPLE, Matrix("d", "V"), multiple), raised),
            },
            examples=({"M": COLUMN, "H": [[1]], "b": 1},),
        ),
    },
)

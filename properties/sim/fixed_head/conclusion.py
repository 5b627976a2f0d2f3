"""Effects of a head behind attention on scores, gradients and sizes."""

from itertools import combinations

from attsvm.theory import gradient, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim._support import entry_loss


def score(m: Namespace, v: Values, x: Numbers) -> Numbers:
    """Return the score b (f^T M) H e_v, with the head after attention."""
    return v.b * ((m.softmax(v.A @ x) @ v.M) @ v.H)[0]


def values_of(m: Namespace, v: Values, head: str) -> Numbers:
    """Return M H e_v, M times the mean column of H, or M e_v if the head is ignored."""
    if head == "ignored":
        return v.M[:, 0]
    return v.M @ (v.H[:, 0] if head == "column" else m.sums(v.H) / v.V)


def closed_gradient(m: Namespace, v: Values, head: str) -> Numbers:
    """Return the gradient by lemma 3.11, with the values of `values_of`."""
    return entry_loss.gradient(m, v.A, v.x, values_of(m, v, head), v.b)


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


def scores(m: Namespace, v: Values, head: str) -> Numbers:
    """Return the scores of the tokens: b times their values."""
    return v.b * values_of(m, v, head)


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
    # the largest of these is the second-best score
    pairs = [m.minimum(g, k) for g, k in combinations(other, 2)] if rank == 2 else []
    level = m.max(m.array(pairs) if pairs else other)
    best = m.max(mine)
    if each:
        gaps = zip(m.is_zero(best - mine), other - level, strict=True)
        return m.all_of(*(m.at_least(among * gap, m.exact(0)) for among, gap in gaps))
    kept = [(s, m.at_least(g, level)) for s, g in zip(mine, other, strict=True)]
    return m.any_of(*(m.all_of(m.equal(s, best), among) for s, among in kept))


@stated(
    "a row of $of is as long as a row of B, that is $formula",
    symbols={"of": {"values": "Att(X)", "tokens": "the logits", "keys": "A"}},
)
def same_size(m: Namespace, v: Values, of: str = "values") -> Comparison:
    """A row of Att(X), of the logits or of A is as long as a row of B."""
    sizes = {"values": v.d, "tokens": v.n, "keys": v.D}
    return m.equal(m.exact(1) * sizes[of], m.exact(1) * v.V)


@stated(
    "$formula for h = $head",
    symbols={
        "head": {"column": "M H e_v", "mean": "M times the mean column of H", "ignored": "M e_v"}
    },
)
def absorbed(m: Namespace, v: Values, head: str = "column") -> Comparison:
    """The gradient with a head is the closed form of lemma 3.11 with other values h."""
    true = gradient(m, lambda m, x: m.logistic(score(m, v, x)), v.x)
    return m.equal(true, closed_gradient(m, v, head))

"""Formulas on the gains of a head from mixtures of tokens."""

from attsvm.primitives.heads import bending, change, derivative_along, head
from attsvm.theory import stated
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Relation, Values


def output(m: Namespace, v: Values) -> Numbers:
    """Return the attention output, the mean of the tokens with the weights s."""
    return v.s @ v.X


def moved(m: Namespace, v: Values) -> Numbers:
    """Return the attention output minus x_1."""
    return v.s @ (v.X - v.X[0])


def best(m: Namespace, v: Values) -> Number:
    """Return the largest value of h at a token."""
    return m.max(m.array([head(m, v, x) for x in v.X]))


HEAD = "h(x) = sum_k b_k phi(<a_k, x>) and x^att = X^T s"


@stated(
    "",
    r"h(x^{att}) $strict \max_t h(x_t)",
    {"strict": {True: "<", False: r"\le"}},
    where=HEAD,
)
def mixed(m: Namespace, v: Values, strict: bool = False) -> Comparison:
    compare = m.below if strict else m.at_most
    return compare(head(m, v, output(m, v)), best(m, v))


@stated(
    "some x between x_1 and x_2 has $formula",
    r"h(x) > \max_t h(x_t) $lead",
    {"lead": {0: "", 1: "+ |h(x_2) - h(x_1)|"}},
    where=HEAD,
)
def between(m: Namespace, v: Values, lead: Number = 0) -> Comparison:
    """On a line a ReLU head is linear between the points at which some <a_k, x> is 0.

    So its best point is an end or one of these.
    """
    first, along = v.X[0], v.X[1] - v.X[0]
    values = []
    for a in v.A:
        fall = a @ along
        share = -(a @ first) / (fall + m.is_zero(fall))
        share = m.minimum(m.maximum(share, m.exact(0)), m.exact(1))
        values.append(head(m, v, first + share * along))
    more = lead * m.abs(head(m, v, v.X[1]) - head(m, v, first))
    return m.above(m.max(m.array(values)), best(m, v) + more)


@stated(
    "",
    r"h(x^{att}) - h(x_1) \le $share (1 - s_1) \max_t \langle h'(x_1), x_t - x_1\rangle",
    where=HEAD,
)
def below_tangent(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    slopes = m.array(
        [derivative_along(m, v, v.X[0], x - v.X[0]) for x in v.X]
    )  # the first one is 0
    gain = change(m, v, v.X[0], moved(m, v))
    return m.at_most(gain, share * (1 - v.s[0]) * m.max(slopes))


OF_OTHER = f"{HEAD}, D = x_t - x_1, and c is the Lipschitz constant of phi'"


@stated(
    "$formula for every t > 1",
    r"e \langle h'(x_1), D\rangle - [h(x_1 + e D) - h(x_1)] \le $share \frac{\beta e^2}{2}",
    where=f"{OF_OTHER}, e = s_t, and beta = c sum_k |b_k| <a_k, D>^2",
)
def gains(m: Namespace, v: Values, share: Number = 1) -> Relation:
    parts = []
    for token, e in zip(v.X[1:], v.s[1:], strict=True):
        along = token - v.X[0]
        gain = change(m, v, v.X[0], e * along)
        bend = bending(m, v, along, along) * m.square(e) / 2
        parts.append(m.at_most(e * derivative_along(m, v, v.X[0], along) - gain, share * bend))
    return m.all_of(*parts)


@stated(
    "$formula for every t > 1",
    r"\langle h'(x_1), D\rangle - \langle h'(x^{att}), D\rangle \le $share c \sum_k |b_k| "
    r"|\langle a_k, o\rangle| |\langle a_k, D\rangle|",
    where=f"{OF_OTHER}, and o = x^att - x_1",
)
def returns(m: Namespace, v: Values, share: Number = 1) -> Relation:
    o, parts = moved(m, v), []
    for token in v.X[1:]:
        along = token - v.X[0]
        lost = derivative_along(m, v, v.X[0], along) - derivative_along(m, v, v.X[0] + o, along)
        parts.append(m.at_most(lost, share * bending(m, v, along, o)))
    return m.all_of(*parts)


def mean_of_some(m: Namespace, v: Values) -> Numbers:
    """Return the mean x of tokens with weights proportional to max(w_t, 0); x_1 if all are 0."""
    weights = m.array([m.maximum(w, m.exact(0)) for w in v.w])
    total = m.sum(weights)
    return v.X[0] + weights @ (v.X - v.X[0]) / (total + m.is_zero(total))


@stated(
    "for g_t = $slope and every t $formula",
    r"h(x^{att}) - h(x) \le \sum_t s_t g_t \text{ and } $share \frac{e \max(0, g_t)}{2} \le h((1 - "
    r"e) x + e x_t) - h(x)",
    {"slope": {"x": "<h'(x), x_t - x>", "x_1": "<h'(x_1), x_t - x>"}},
    where=f"{HEAD}, x is the mean of tokens of weights in proportion to max(w_t, 0), e = min(1, "
    "max(0, g_t)/beta_t), beta_t = c sum_k |b_k| <a_k, x_t - x>^2, and c is the Lipschitz constant "
    "of phi'",
)
def exactly_best(m: Namespace, v: Values, share: Number = 1, slope: str = "x") -> Relation:
    """At (1 - e) x + e x_t with e = min(1, g_t/beta_t), h is at least h(x) + e g_t/2."""
    x = mean_of_some(m, v)
    at = x if slope == "x" else v.X[0]
    slopes = m.array([derivative_along(m, v, at, token - x) for token in v.X])
    parts = [m.at_most(change(m, v, x, v.s @ (v.X - x)), m.dot(v.s, slopes))]
    for token, slope_there in zip(v.X, slopes, strict=True):
        along, g = token - x, m.maximum(slope_there, m.exact(0))
        beta = bending(m, v, along, along)
        e = m.minimum(g / (beta + m.is_zero(beta)), m.exact(1))
        parts.append(m.at_most(share * e * g / 2, change(m, v, x, e * along)))
    return m.all_of(*parts)


def example(
    X: Nested, A: Nested, b: Nested, phi: str, a: Nested | None = None
) -> dict[str, object]:
    """Return tokens X, a head, and logits, which are 0 by default."""
    return {"X": X, "A": A, "b": b, "phi": phi, "a": [0] * len(X) if a is None else a}


TIED = example([[1], [0]], [[0]], [1], "identity")
BENT_UP = example([[1], [0]], [[1]], [1], "relu")
APART = example([[1], [-1]], [[1]], [-1], "square")
"""h(x) = -x^2: the mean of both tokens is the best point."""
THREE = {
    **example([[2, -1], [-1, 2], [-1, -1], [0, 0]], [[1, 0], [0, 1]], [-1, -1], "square"),
    "w": [1, 1, 1, 0],
}
"""h(x) = -|x|^2: the mean of the corners of a triangle is best, as is the token 0 alone."""
LOW = example([[0], [1]], [[1], [0]], [1, 0], "square")

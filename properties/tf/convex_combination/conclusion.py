"""Formulas that relate the output of attention to the convex hull of the tokens."""

from attsvm.theory import stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values


def weights(m: Namespace, v: Values) -> Numbers:
    """Return the attention weights s = S(X W z)."""
    return m.softmax(v.X @ (v.W @ v.z))


def output(m: Namespace, v: Values) -> Numbers:
    """Return x^att = X^T s."""
    return v.X.T @ weights(m, v)


OUTPUT = "s = softmax(X W z) and x^att = X^T s"


@stated("x^att is in the convex hull of the tokens, that is, for every u, $formula", where=OUTPUT)
def within(m: Namespace, v: Values) -> Comparison:
    """<u, x^att> minus the least <u, x_t> is at most the largest minus the least."""
    along = v.X @ v.u
    return m.at_most(m.dot(v.u, output(m, v)) - m.min(along), m.oscillation(along))


def inside(m: Namespace, v: Values, share: Number) -> Comparison:
    """Return that <u, x^att> is below the largest <u, x_t> by more than a share of their spread."""
    along = v.X @ v.u
    short = m.dot(weights(m, v), m.max(along) - along)
    return m.below(share * m.oscillation(along), short)


@stated("$formula", "s = (1, 0, ..., 0)", where=OUTPUT)
def selected(m: Namespace, v: Values) -> Comparison:
    return m.equal(weights(m, v), m.array([m.exact(int(t == 0)) for t in range(v.T)]))


@stated("x^att is x_1 at no W, that is $formula", where=OUTPUT)
def missed(m: Namespace, v: Values, least: Number) -> Comparison:
    """||x^att - x_1|| exceeds a bound."""
    return m.below(least, m.norm(output(m, v) - v.X[0]))


def differences(m: Namespace, v: Values) -> Numbers:
    """Return the <u, x_1 - x_t> for t > 1."""
    along = v.X @ v.u
    return along[0] - along[1:]


def exposed(m: Namespace, v: Values) -> Comparison:
    """Return that <u, x_1> is above all other <u, x_t>, if there are any."""
    return m.below(m.exact(-1) if v.T == 1 else -m.min(differences(m, v)), m.exact(0))


@stated(
    "",
    r"0 < \langle u, x_1 - x^{att}\rangle \text{ and } (1 - s_1) \min_t \langle u, x_1 - "
    r"x_t\rangle \le $share \langle u, x_1 - x^{att}\rangle \text{ and } \langle u, x_1 - "
    r"x^{att}\rangle \le $share (1 - s_1) \max_t \langle u, x_1 - x_t\rangle",
    where=f"{OUTPUT}, and t > 1",
)
def short_of(m: Namespace, v: Values, share: Number) -> Relation:
    """<u, x_1 - x^att> is positive, between the least and the largest (1 - s_1) <u, x_1 - x_t>."""
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # x^att = x_1
    s, others = weights(m, v), differences(m, v)
    short, rest = m.dot(s[1:], others), m.sum(s[1:])
    return m.all_of(
        m.below(m.exact(0), short),
        m.at_most(rest * m.min(others), share * short),
        m.at_most(short, share * rest * m.max(others)),
    )


@stated(
    "",
    r"(T - 1) \exp(-D \|W\|) \le \frac{1 - s_1}{s_1}",
    where=f"{OUTPUT}, and D = ||x_1 - mean of the other x_t|| ||z||",
)
def far(m: Namespace, v: Values) -> Comparison:
    """(T - 1) exp(-||x_1 - mean of x_t|| ||z|| ||W||) <= (1 - s_1) / s_1, the mean over t > 1."""
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # s_1 = 1
    s, apart = weights(m, v), v.X[0] - m.sums(v.X[1:].T) / (v.T - 1)
    D = m.sqrt(m.sum(m.square(apart)) * m.sum(m.square(v.z)) * m.sum(m.square(v.W)))
    return m.at_most((v.T - 1) * m.exp(-D), m.sum(s[1:]) / s[0])

"""Conclusions about the risk of a prompt beside that of the optimal tokens."""

from attsvm.theory import definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties._support.risk_formulas import mean_drop, worst_gap


def attention(m: Namespace, v: Values, prompt: Numbers) -> list[Numbers]:
    """Return S(K_i p) of each input."""
    return [m.softmax(tokens @ (v.W.T @ prompt)) for tokens in v.X]


@definition(r"\left(L(v, {p}) - L_*\right)")
def risk_gap(m: Namespace, v: Values, p: Numbers) -> Numbers:
    """Return the mean of l(sum_t s_t gamma_t) - l(max_t gamma_t), s the attention of the prompt."""
    inputs = zip(attention(m, v, p), v.gamma, strict=True)
    return mean_drop(m, v, [m.dot(s, m.max(gamma) - gamma) for s, gamma in inputs])


def not_below(m: Namespace, v: Values) -> Comparison:
    """Return that no prompt has a risk below that of the optimal tokens."""
    return m.at_least(risk_gap(m, v, v.p), m.exact(0))


def above(m: Namespace, v: Values, share: Number) -> Comparison:
    """Return that the excess risk is above a share of its largest possible value."""
    return m.below(share * worst_gap(m, v), risk_gap(m, v, v.p))


def lower(m: Namespace, v: Values, share: Number) -> Comparison:
    """Return that the excess risk of q is at most a share of the excess risk of p."""
    return m.at_most(risk_gap(m, v, v.q), share * risk_gap(m, v, v.p))


def attends_more(m: Namespace, v: Values) -> Relation:
    """Return that the weight off the optimal tokens is at q at most what it is at p, in each input."""  # noqa: E501
    pairs = zip(attention(m, v, v.q), attention(m, v, v.p), v.gamma, strict=True)
    off = [(q, p, 1 - m.is_zero(m.max(gamma) - gamma)) for q, p, gamma in pairs]
    return m.all_of(*(m.at_most(m.dot(q, others), m.dot(p, others)) for q, p, others in off))


def one_rival(m: Namespace, v: Values) -> Relation:
    """Return that each score is the best or the worst of its input."""
    return m.all_of(
        *(m.equal((m.max(gamma) - gamma) * (gamma - m.min(gamma)), 0 * gamma) for gamma in v.gamma)
    )

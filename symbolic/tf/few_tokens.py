"""A bound of the number of attended tokens by ||W||: attention to few tokens needs a large norm."""

from attsvm.primitives.descent_letters import X, i
from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, EXPONENTIAL_OF_SUM, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting
from attsvm.theory.proof.rules import add_up, at, beyond, cite, conclude, decide, one_of_sum, scale
from attsvm.theory.proof.terms import EXP, INV, NORM, Over, total
from properties._support.token_letters import (
    KEY,
    OF,
    attention,
    farthest,
    logit,
    needs_norm,
    t,
    u,
    widest,
)
from symbolic.facts import power, powers_rise, product


@linked
def prove() -> str:
    """Prove that s_t (1 + (T - 1) exp(-D ||X||)) <= 1 for each token, and add up s_t times this.

    1/s_t is the sum over all tokens u of the input of exp(logit_u - logit_t). That of t is 1, and
    the others are at least exp(-D ||X||).
    """
    claim = needs_norm()
    ((goal,), some) = claim.sequents, setting(claim.setting, *claim.setting)
    own, over, size = OF(t), Over(OF, OF(t)), NORM(X)
    (close,), (length, _) = cite(CAUCHY_SCHWARZ, (), KEY(t) - KEY(u), X.term), cite(LENGTH, (), X)
    lead, distance = logit(u.term) - logit(t.term), NORM(KEY(t) - KEY(u))
    outer, wide = farthest(t.term, OF(u)), farthest(t.term, own)
    order = decide(ge(lead, -outer * size), close, beyond("most", distance, u, OF), length)
    each = at(one_of_sum(powers_rise(-outer * size, lead, order), u, OF), {u: t})
    order = decide(ge(-wide * size, -widest(own) * size), beyond("most", wide, t, OF), length)
    rise = powers_rise(-widest(own) * size, -wide * size, order)
    count = at(one_of_sum(decide(ge(1, 0)), u, OF), {u: t})
    ratios, least = (
        total(EXP(lead), u, over),
        1 + (total(1, u, over) - 1) * EXP(-widest(own) * size),
    )
    odds = decide(ge(ratios, least), each, count, rise)
    # s_t is 1 over the sum of ratios
    whole = total(EXP(logit(t.term)), t, Over(OF, i.term))
    positive = add_up(power(logit(t.term)), t, Over(OF, i.term), some)
    unit, inverse = (at(fact, {i: own}) for fact in cite(RECIPROCAL, [positive], whole))
    s, over_sum = attention(t.term, own), INV(total(EXP(logit(u.term)), u, over))
    weight = decide(gt(s, 0), power(logit(t.term)), inverse)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), lead, logit(t.term))
    bound = decide(ge(1, s * least), scale(add_up(law, u, over), over_sum), unit, weight, odds)
    parts = add_up(product(weight, bound), t, Over(OF, i.term))
    unit, _ = cite(RECIPROCAL, [positive], whole)
    conclude(decide(goal.proposition, parts, unit), goal)
    return "for any T, d, W and attention"

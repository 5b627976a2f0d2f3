"""<f, h> lies between the lowest and the highest score, for any number of tokens."""

from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import add_up, beyond, decide, scale
from attsvm.theory.proof.terms import least, most, total
from properties.sim.loss_assumptions import RANGE
from symbolic.facts import end, index, letters_in, product, softmax, some_of

t = index("t", "n")


@linked
def prove() -> str:
    """Prove that <f, h> - low and high - <f, h> are sums of terms >= 0, as f > 0 has sum 1."""
    v = letters_in(RANGE, "amended-3")
    h = v.h.entry((t.term,))
    weights = softmax(v.s.entry((t.term,)), t, some_of(RANGE, "amended-3", "n"))
    one, u = weights.one(t), total(weights.weight * h, t)
    low, high = least(h, t), most(h, t)
    above = add_up(product(weights.positive, beyond("least", h, t)), t)
    below = add_up(product(weights.positive, beyond("most", h, t)), t)
    facts = (
        decide(ge(high - low, u - low), below, scale(one, high)),
        decide(ge(u - low, 0), above, scale(one, low)),
    )
    end(RANGE, "amended-3", by=facts)
    return "for any number of tokens"

"""Self-attention in keys, queries and values, and in K, Q and V: both are one triple sum."""

from attsvm.theory.proof.facts import Fact, eq
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import add_up, conclude, decide, exchange, inside, scale
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, total
from properties.tf.self_attention_layer import LAYER
from symbolic.facts import formula_of, index, letters_in

j, t = index("T", "T"), index("t", "T")
r, b, c, e = index("r", "d"), index("b", "d"), index("c", "d"), index("d1", "d")
HOLE = Letter("hole")


def powers(own: Term, theirs: Term, same: Fact, values: Term) -> list[Fact]:
    """Return facts by which equal logits over t give the same sum of values by attention."""
    power = inside(same, own, theirs, EXP(HOLE.term), HOLE)
    whole, their_whole = total(EXP(own), t), total(EXP(theirs), t)
    inverse = inside(add_up(power, t), whole, their_whole, INV(HOLE.term), HOLE)
    return [
        scale(add_up(scale(power, values), t), INV(whole)),
        scale(inverse, total(EXP(theirs) * values, t)),
    ]


@linked
def prove() -> str:
    """Prove that both outputs agree, entry by entry."""
    formula = formula_of(LAYER, "literal")
    v, J, T = letters_in(LAYER, "literal"), (j.term,), (t.term,)
    own = ((v.X @ v.Q) @ (v.X @ v.K).T).entry(J, T)
    theirs = (v.X @ (v.Q @ v.K.T) @ v.X.T).entry(J, T)
    query = (v.X @ v.Q).entry(J, (r.term,))
    body = query * v.K.entry((b.term,), (r.term,)) * v.X.entry(T, (b.term,))
    inner = (
        v.X.entry(J, (c.term,)) * v.Q.entry((c.term,), (r.term,)) * v.K.entry((b.term,), (r.term,))
    )
    turned = add_up(scale(exchange(inner, c, r), v.X.entry(T, (b.term,))), b)
    same = decide(eq(own, theirs), exchange(body, r, b), turned)
    value = v.X.entry(T, (c.term,)) * v.V.entry((c.term,), (e.term,))
    facts = powers(own, theirs, same, total(value, c))
    facts.append(scale(exchange(EXP(theirs) * value, c, t), INV(total(EXP(theirs), t))))
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, *facts), goal)
    return "matrix products are associative, for any T and d"

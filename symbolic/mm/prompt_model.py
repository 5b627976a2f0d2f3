"""The output of attention for a prompt, in Q and K and in the keys X W^T with W = K Q^T."""

from attsvm.theory.proof.facts import eq
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import add_up, conclude, decide, exchange, scale
from attsvm.theory.proof.terms import EXP, INV, total
from properties.mm.prompt_model import MODEL
from symbolic.facts import formula_of, index, letters_in
from symbolic.tf.self_attention_layer import b, c, powers, t

r = index("r", "r")


@linked
def prove() -> str:
    """Prove that both outputs agree."""
    formula = formula_of(MODEL, "literal")
    v, T = letters_in(MODEL, "literal"), (t.term,)
    own = (v.X @ v.Q @ v.K.T @ v.p).entry(T)
    theirs = (v.X @ (v.K @ v.Q.T).T @ v.p).entry(T)
    key, query = v.K.entry((b.term,), (r.term,)), v.Q.entry((c.term,), (r.term,))
    turned = exchange(v.X.entry(T, (c.term,)) * query * key, c, r)
    same = decide(eq(own, theirs), add_up(scale(turned, v.p.entry((b.term,))), b))
    value = v.X.entry(T, (c.term,)) * v.v.entry((c.term,))
    facts = powers(own, theirs, same, total(value, c))
    facts.append(scale(exchange(EXP(theirs) * value, c, t), INV(total(EXP(theirs), t))))
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, *facts), goal)
    return "W^T = Q K^T, for any T, d and r"

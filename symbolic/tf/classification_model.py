"""The first output of self-attention with one value head, in the notation of columns."""

from attsvm.theory.proof.facts import eq
from attsvm.theory.proof.linked import conclusion_of, linked, setting
from attsvm.theory.proof.rules import add_up, at, conclude, decide, exchange, scale
from attsvm.theory.proof.terms import EXP, INV, total
from properties.tf.classification_model import MODEL
from symbolic.facts import formula_of, letters_in
from symbolic.tf.self_attention_layer import b, c, j, powers, r, t
from symbolic.tf.softmax_range import FIRST


@linked
def prove() -> str:
    """Prove that both models agree: for the output of any token j, and so for the first one."""
    formula = formula_of(MODEL, "literal")
    v, J, T = letters_in(MODEL, "literal"), (j.term,), (t.term,)
    axis = setting(
        conclusion_of(formula).setting, "the first index of the axis T has the position 0"
    )
    own = (v.X @ v.Q @ v.K.T @ v.X.T).entry(J, T)
    query = v.Q.entry((c.term,), (r.term,)) * v.X.entry(J, (c.term,))
    key, token = v.K.entry((b.term,), (r.term,)), v.X.entry(T, (b.term,))
    theirs = total(
        token * total(total(key * v.Q.entry((c.term,), (r.term,)), r) * v.X.entry(J, (c.term,)), c),
        b,
    )
    same = decide(eq(own, theirs), add_up(scale(exchange(query * key, c, r), token), b))
    value = v.X.entry(T, (c.term,)) * v.v.entry((c.term,))
    facts = powers(own, theirs, same, total(value, c))
    facts.append(scale(exchange(EXP(theirs) * value, c, t), INV(total(EXP(theirs), t))))
    left = total(EXP(own) * total(value, c), t) * INV(total(EXP(own), t))
    right = total(total(EXP(theirs) * value, t), c) * INV(total(EXP(theirs), t))
    first = at(decide(eq(left, right), *facts), {j: FIRST}, axis)
    (goal,) = conclusion_of(formula).sequents
    conclude(decide(goal.proposition, first), goal)
    return "x_j^T Q K^T x_t = x_t^T K Q^T x_j, for any T and d"

"""The rewritten l2 objective: mat((D kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y is the attention.

Entry (j, t) of both is exp of a double sum over the entries of X, over the sum of row j. The sums
over X are taken in two orders. A row of D kron I_n has one entry other than 0.
"""

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import eq, note
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import add_up, conclude, decide, inside, picked, scale
from attsvm.theory.proof.terms import EXP, INV, Letter, as_term, same, total
from properties.sim._support.attention import block_logits
from properties.sim.l2_objective import OBJECTIVE
from symbolic.facts import formula_of, index, letters_in
from symbolic.sim.tensor_trick import turned

j, t, s = index("j", "n"), index("t", "n"), index("s", "n")
r, c, e = index("r", "d"), index("c", "d"), index("e", "d")
HOLE = Letter("hole")


@linked
def prove() -> str:
    """Prove that the matrices inside both objectives are equal, and so their squared norms."""
    v = letters_in(OBJECTIVE, "amended")
    J, T = (j.term,), (t.term,)
    logit = (v.A1 @ v.X @ v.A2.T).entry(J, T)
    other = number(block_logits(LETTERS, v.n, v.A1, v.A2, v.X)).entry(J, T)
    trick = decide(eq(other, logit), turned(v, j, t, r, c))
    power = inside(trick, other, logit, EXP(HOLE.term), HOLE)
    # row (j, t) of D kron I_n has the sum of row j at (j, t), and 0 elsewhere
    ones = []
    for place in (j, t):
        count = total(same(s, place), s)
        one = picked(as_term(1), s, place)
        ones.append(inside(one, count, as_term(1), INV(HOLE.term), HOLE))
    over = INV(total(EXP(logit), t))
    rows, columns = (INV(total(same(s, place), s)) for place in (j, t))
    weights = decide(
        eq(over * rows * columns * EXP(other), over * EXP(logit)),
        *(scale(power, over * rows * columns), scale(ones[0], over * columns * EXP(logit))),
        scale(ones[1], over * EXP(logit)),
        degree=1,
    )
    weights = note("both have the same attention of token j to token t", weights)
    value, Y = v.A3.entry(T, (c.term,)), v.Y.entry((c.term,), (e.term,))
    outputs = add_up(scale(add_up(scale(weights, value), t), Y), c)
    left = total(Y * total(over * EXP(logit) * value, t), c) - v.B.entry(J, (e.term,))
    right = outputs.proposition.term + left
    squares = add_up(add_up(scale(outputs, left + right), e), j)
    (conclusion,) = conclusion_of(formula_of(OBJECTIVE, "amended")).sequents
    conclude(decide(conclusion.proposition, squares), conclusion)
    return (
        "mat((D(X) kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y = D(X)^-1 exp(A1 X A2^T) A3 Y, for "
        "any n and d"
    )

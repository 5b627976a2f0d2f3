"""Linear attention that divides by the sum of its logits has no Lipschitz constant.

A factor c > 0 of x and y changes neither loss, but brings the points together.
"""

from attsvm.theory.proof.facts import eq, ge, gt, note
from attsvm.theory.proof.lemmas import RECIPROCAL, SIZE
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import cite, conclude, decide, inside, scale
from attsvm.theory.proof.terms import ABS, EXP, INV, Letter, total
from properties.sim.normalised_linear import LINEAR
from properties.sim.normalised_linear.conclusion import MOVES
from symbolic.facts import formula_of, index, length, letters_in, product, root_at_most

t, k = index("t", "n"), index("k", "D")


@linked
def prove_unbounded() -> str:
    """Prove that M changes by more than |C| ||c x - c y|| from c y to c x.

    With D = ||x - y|| and N = |C| D + 1 the change is c N, as it is from y to x, and c N > |C| c D.
    """
    v, formula = letters_in(LINEAR, "amended"), formula_of(LINEAR, "amended")
    (sequent,) = conclusion_of(formula).sequents
    (moves,) = suppose(MOVES, formula)
    distance, distance_square = length((v.x - v.y).entry((k.term,)), k)
    size, _ = cite(SIZE, (), v.C.term)
    D, C, change, c = distance.proposition.term, ABS(v.C.term), moves.proposition.term, v.c.term
    N = C * D + 1
    unit, inverse = cite(RECIPROCAL, [decide(gt(N, 0), size, distance)], N)
    one, _ = cite(RECIPROCAL, [moves], change)
    factor = note("c is above 0", decide(gt(c, 0), moves, inverse))
    hole, same, losses = Letter("hole"), [], []
    for point in (v.x, v.y):
        logits = (v.A @ point).entry((t.term,))
        score, divisor = total(logits * v.h.entry((t.term,)), t), total(logits, t)
        b = v.b.term
        near, far = -b * (c * score) * INV(c * divisor), -b * score * INV(divisor)
        equal = decide(eq(near, far), scale(unit, far * change * INV(change)), scale(one, far))
        loss = INV(1 + EXP(hole.term))
        same.append(inside(equal, near, far, loss, hole))
        losses.append([INV(1 + EXP(logit)) for logit in (near, far)])
    near, far = (losses[0][place] - losses[1][place] for place in (0, 1))
    equal = inside(decide(eq(near, far), *same), near, far, ABS(hole.term), hole)
    note("|M(c x) - M(c y)| = |M(x) - M(y)|", equal)
    apart = (v.c * v.x - v.c * v.y).entry((k.term,))
    square = decide(ge((c * D) ** 2, total(apart**2, k)), scale(distance_square, c**2))
    nearer = root_at_most(product(factor, distance), length(apart, k), square)
    conclude(decide(sequent.proposition, equal, size, nearer, scale(unit, change), factor), sequent)
    return "M(c x) = M(x) for c > 0, so M has no Lipschitz constant where it is not constant"

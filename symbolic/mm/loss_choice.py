"""The gradient for one input: that of a loss l is |l'(u)| times that of the loss -x.

u is the attended score.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import FALL, HIGH, NUMBER, SETTING, M, W, i, output, peer, x
from attsvm.primitives.hypotheses import ONE_INPUT
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    by_definition,
    cut,
    decide,
    picked,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, Term, substituted, total
from properties.mm.loss_choice.gradient_letters import a, b, parallel, steepness
from symbolic.attention_facts import attends, gradient
from symbolic.facts import conclude_each


@linked
def prove() -> str:
    """Prove that a = |l'(u)| b for the gradients a of l and b of -x, for any number of tokens."""
    claim = present(parallel(), "a claim")
    (one,), (falling,) = suppose(ONE_INPUT), suppose(NEGATIVE_SLOPE)
    run = attends(setting(SETTING, "no score is above the best of its input"))
    *_, sentence = claim.setting
    of_b = setting(claim.setting, sentence)
    u, fall = run.u(i, K), FALL(output(i.term, W(K)))

    def alone(body: Term) -> Fact:
        """Return that the mean of a term over inputs is the term, as there is no other input."""
        other = substituted(body, {i: peer.term})
        same = add_up(scale(at(one, {i: peer, peer: i}), other), peer)
        summed = decide(eq(total(other, peer), body), same, picked(other, peer, i))
        return scale(summed, INV(NUMBER))

    slope = scale(
        decide(eq(b @ M.term, -steepness() * INV(NUMBER)), of_b, alone(steepness())), fall
    )
    of_l = alone(fall * steepness())
    along = decide(eq(a @ M.term, fall * (b @ M.term)), gradient(), of_l, slope)
    along = by_definition(eq(a @ M.term, FALL(u) * (b @ M.term)), [run.means[0]], along)
    highest = decide(ge(HIGH, u), run.below_best, run.best_high)
    positive = cut(at(falling, {x: u}), run.above_lowest, highest)
    with_a, with_b = (at(along, {M: v}) for v in (a, b))
    goals = [sequent.proposition for sequent in claim.sequents]
    parallel_ = decide(goals[0], scale(along, b @ b), scale(with_b, b @ M.term), run.input)
    some = assume(gt(a @ a + b @ b, 0))
    some = decide(gt(FALL(u) * (a @ a + b @ b), 0), some, positive)
    gain = decide(gt((FALL(u) ** 2 + 1) * (a @ b), 0), some, scale(with_a, FALL(u)), with_b)
    ahead = decide(goals[1], gain, square(FALL(u)), run.input)
    conclude_each(claim, parallel_, ahead)
    return "for every loss with l' < 0, any T and d, at every p"

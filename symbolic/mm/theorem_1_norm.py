"""||p(k)|| tends to infinity if scores are linear in the keys: <p, q> grows by a variance."""

from attsvm.primitives.descent_letters import HEAD
from attsvm.primitives.hypotheses import TWO_SCORES
from attsvm.theory.proof.linked import linked, suppose
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from properties.mm._support.prompt_instances import ONE_HEAD
from symbolic.divergence_facts import along_leads, end, in_ball


@linked
def prove_linear() -> str:
    """Prove that ||p(k)|| tends to infinity from any start and with any step."""
    ball = in_ball(SMOOTH_SLOPE, FALLING, suppose(TWO_SCORES))
    end(along_leads(ball, HEAD, *suppose(ONE_HEAD)))
    return "for every loss with continuous l' < 0, any tokens, start and step"

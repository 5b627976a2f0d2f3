"""A tight constraint of multiplier 0: its margin exceeds the other one by any bound.

On `tf/generalised-svm:sharp-2`: w_1 rises by 1 + exp(w_2) times as much as w_2, and x + exp(x) is
convex with the derivative 1 + exp(x). So w_1 - w_2 - exp(w_2) never rises. Both w_1 and w_2 rise.
If both converged, the step of w_1 would tend to a positive number, which is impossible. So w_2, and
W - c W_svm for every c, are unbounded. The formula does not include this limit.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import FALL, HIGH, LOW, RATE, x
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE
from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import at, cite, conclude, cut, decide, scale
from attsvm.theory.proof.terms import EXP, INV
from properties.tf.generalised_svm import FORWARD
from properties.tf.generalised_svm import hidden_letters as letters
from properties.tf.generalised_svm.hidden_letters import AFTER, FIRST, LATER, SECOND, SETTING
from symbolic.facts import power, tangent


@linked
def prove() -> str:
    """Prove that w_1 rises, by at most as much as w_2 + exp(w_2) does."""
    first, second, low, high = (setting(SETTING, words) for words in SETTING)
    (falling,), (forward,) = suppose(NEGATIVE_SLOPE), suppose(FORWARD)
    a, b = letters.weights(FIRST, SECOND)
    u, over = letters.output(FIRST, SECOND), INV(1 + a + b)
    powers = power(-FIRST), power(-FIRST - SECOND)
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + a + b, 0), *powers)], 1 + a + b)
    # the attended score is between -1 and 2, so that -l' is positive there
    above = decide(ge(u, LOW), low, inverse, unit)
    both = decide(gt((a + b) * over, 0), *powers, inverse)
    falls = cut(at(falling, {x: u}), above, decide(ge(HIGH, u), high, both, unit))
    # w_1 rises by 3 e |l'| s_1 (s_2 + s_3)
    pull = decide(gt(RATE * FALL(u), 0), forward, falls)
    pull = decide(gt(RATE * FALL(u) * over, 0), pull, inverse)
    pull = decide(gt(RATE * FALL(u) * over * (a + b) * over, 0), pull, both)
    turned = scale(unit, RATE * FALL(u) * over * (a + b))
    rises = decide(gt(AFTER, FIRST), first, pull, turned, degree=1)
    # that is 1 + exp(w_2) times as much as w_2 rises
    (law,) = cite(EXPONENTIAL_OF_SUM, (), SECOND, -FIRST - SECOND)
    ratio = RATE * FALL(u) * (over + (2 - a - b) * over**2)
    claim = present(letters.lags(), "a claim").sequents
    room = decide(
        claim[1].proposition,
        *(first, scale(second, 1 + EXP(SECOND)), scale(law, ratio), tangent(LATER, SECOND)),
    )
    for fact, sequent in zip((rises, room), claim, strict=True):
        conclude(fact, sequent)
    return "for every loss with continuous l' < 0, every start and step"
